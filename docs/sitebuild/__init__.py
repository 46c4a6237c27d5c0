"""An extension of Sphinx: what the site of ckpt-viz adds to it."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from sitebuild import errors_page, policy, reference


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the parts of the site to a build."""
    app.add_directive("open-page", errors_page.OpenPage)
    app.add_directive("paste-box", errors_page.PasteBox)
    app.connect("source-read", errors_page.add_entries)
    app.connect("html-page-context", errors_page.add_script)
    app.connect("html-page-context", policy.add_scripts)
    # Before napoleon, which has the priority 500.
    app.connect("autodoc-process-docstring", reference.keep_first_line, priority=400)
    app.connect("build-finished", policy.forbid_third_parties)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
