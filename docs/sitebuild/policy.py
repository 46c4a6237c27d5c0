"""The content security policy of every page: nothing comes from a third party."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_WIDGET = Path(__file__).parents[2] / "ckpt_viz" / "static"
# Of a script in the page, its attributes and its text.
_SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
_IS_CODE = re.compile(r'\bsrc=|type="(?!text/javascript|module)')
_BEGINNING = '<meta charset="utf-8"'


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the script of explorers to the pages that have one."""
    if doctree is not None and 'class="stored-explorer"' in context.get("body", ""):
        app.add_js_file("site.js", type="module")


def forbid_third_parties(app: Sphinx, error: Exception | None) -> None:
    """Give every built page its policy, and the site what explorers load."""
    if error is not None or app.builder.format != "html":
        return
    place = Path(app.outdir)
    for name in ("widget.css", "graphviz.js"):
        shutil.copyfile(_WIDGET / name, place / "_static" / name)
    for name in ("docs", "notebooks", "benchmarks", "labextension", "."):
        pages = (place / name).glob("*.html" if name == "." else "**/*.html")
        for path in sorted(pages):
            if path != place / "index.html":  # the page in which one drops a checkpoint has its own
                path.write_text(_with_policy(path.read_text("utf-8")), "utf-8")


def _with_policy(page: str) -> str:
    hashes = sorted(
        {_hash(text) for attributes, text in _SCRIPT.findall(page) if _is_inline(attributes)}
    )
    policy = "; ".join(
        (
            "default-src 'none'",
            # Graphviz is compiled, and runs in a worker that the page makes of its text.
            " ".join(("script-src 'self' 'wasm-unsafe-eval'", *hashes)),
            "worker-src blob:",
            "style-src 'self' 'unsafe-inline'",  # of static pictures and of Furo
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",  # the search
        )
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    return page.replace(_BEGINNING, f"{meta}{_BEGINNING}", 1)


def _is_inline(attributes: str) -> bool:
    return not _IS_CODE.search(attributes)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
