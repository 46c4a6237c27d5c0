"""The page of error messages: its entries from errors.json, and the box to paste a message into.

errors.json is the one table of these texts. `labextension/src/errors/` finds them in what a reader
pastes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_TABLE = Path(__file__).parents[1] / "errors.json"
_PAGE = "docs/errors"
_ENTRIES = "<!-- entries -->"  # of errors.md, in whose place the entries come
_ID = "error-"
_BOX = """
<form class="paste-box" action="{page}">
<label for="pasted">Paste an error message</label>
<textarea id="pasted" rows="{rows}" spellcheck="false" autocomplete="off" autocapitalize="off"
  placeholder="ValueError: Received incompatible tensor with shape …"></textarea>
<p class="hint">A whole traceback is fine. It stays in this page: nothing is sent.
<button>Explain</button></p>
<div aria-live="polite">
<p class="fits" hidden>What it means:</p>
<div class="answers"></div>
<div class="fits-none" hidden>
<p><strong>This page does not know the text.</strong> Let ckpt-viz look at the failure itself.
Run this in a cell below the one that failed:</p>
<pre>%load_ext ckpt_viz</pre>
<p>It shows what the restore did, and why it failed. If the call is none of a restore or a load, it
shows nothing. Outside of a notebook, call <code>print(cv.check(ckpt, path))</code>.</p>
</div>
</div>
</form>
"""

_OPEN_PAGE = """
<p class="open-page"><a href="../index.html">Open a checkpoint in your browser</a>
without an installation. Nothing is sent.
Or <a href="../try/index.html">try ckpt-viz in JupyterLab</a>, which runs in your browser, too.</p>
"""


class OpenPage(SphinxDirective):
    """Links to the page in which one drops a checkpoint, and to JupyterLab beside it.

    Neither is a page of Sphinx.
    """

    def run(self) -> list[nodes.Node]:
        """Return the links."""
        return [nodes.raw("", _OPEN_PAGE, format="html")]


class PasteBox(SphinxDirective):
    """A box that finds the errors in a pasted text, on this page or on that of all errors."""

    def run(self) -> list[nodes.Node]:
        """Return the box."""
        is_here = self.env.docname == _PAGE
        box = _BOX.format(page="errors.html", rows=8 if is_here else 3)
        known = f'<script type="application/json" id="known-errors">{_known()}</script>\n'
        return [nodes.raw("", box + known * is_here, format="html")]


def add_entries(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the entries of the table into the Markdown of the page."""
    if page == _PAGE:
        app.env.note_dependency(str(_TABLE))
        source[0] = source[0].replace(_ENTRIES, "\n".join(_markdown()))


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script of the box to the pages that have one."""
    if 'class="paste-box"' in context.get("body", ""):
        app.add_js_file("errors.js", loading_method="defer")


def _known() -> str:
    """Return what the box needs of the table, so that no text ends its element."""
    errors = [
        {"id": f"{_ID}{entry['id']}", "texts": entry["texts"], "wraps": entry.get("wraps", False)}
        for entry in _table()["errors"]
    ]
    return json.dumps(errors).replace("<", "\\u003c")


def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))
    return table


def _markdown() -> Iterator[str]:
    table = _table()
    for group, title in table["groups"].items():
        yield f"\n## {title}\n"
        for entry in table["errors"]:
            if entry["group"] == group:
                yield from _entry(entry, table["checks"][entry["check"]])


def _entry(entry: dict[str, Any], check: list[str]) -> Iterator[str]:
    yield f"\n({_ID}{entry['id']})=\n### {entry['title']}\n"
    yield f"**Cause.** {entry['cause']}\n\n**Check.**\n"
    yield _code(check)
    yield f"**Fix.** {entry['fix']}\n"
    if "code" in entry:
        yield _code(entry["code"])
    pages = (f"[{link.partition('.')[0].replace('_', ' ')}]({link})" for link in entry["more"])
    yield f"More: {', '.join(pages)}.\n\nThe message contains one of these:\n"
    for text in entry["texts"]:
        yield f"- `` {text.replace('{}', '…')} ``"
    yield ""


def _code(lines: list[str]) -> str:
    return "\n".join(("```python", *lines, "```", ""))
