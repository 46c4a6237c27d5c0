"""The settings of Sphinx: the repository's Markdown and notebooks as pages of the site.

The pages have the paths of their sources, so a relative link leads to the same page on GitHub and
in the site. docs/maintaining.md tells how to build them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from ckpt_viz.graphs.render.palette import DARK, LIGHT  # noqa: E402

project = "ckpt-viz"
html_title = "ckpt-viz"
language = "en"
smartquotes = False  # texts of errors are quoted as they are
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sitebuild"]
root_doc = "docs/index"
include_patterns = [
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"),
    *("benchmarks/README.md", "labextension/src/README.md"),
    *("docs/**", "notebooks/**"),
]
exclude_patterns = [
    *("docs/static", "docs/sitebuild", "**/.ipynb_checkpoints"),
    *("build", "labextension/[!s]*", "tests", "ckpt_viz", ".*"),  # so that Sphinx walks none
]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, and those that are not public

default_role = "code"  # of docstrings, which have code in single backquotes
autodoc_class_signature = "separated"  # ckpt_viz makes the objects, and users do not
autodoc_member_order = "bysource"
napoleon_use_ivar = True

myst_heading_anchors = 4  # GitHub's anchors
myst_links_external_new_tab = False
nb_execution_mode = "off"  # sitebuild/executed.py runs the notebooks that hold no outputs
nb_custom_formats = {".ipynb": ["sitebuild.explorers.notebook_of", {}, False]}
nb_mime_priority_overrides = [("html", "image/svg+xml", 5)]

html_theme = "furo"
html_static_path = ["static", "../labextension/lib/site"]
html_css_files = ["widget.css", "site.css"]
html_favicon = "static/icon.svg"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_scaled_image_link = False
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _colours(table: dict[str, str]) -> dict[str, str]:
    """Return Furo's colours from those of the explorer."""
    return {
        "color-foreground-primary": table["fore"],
        "color-foreground-secondary": table["faint"],
        "color-foreground-muted": table["faint"],
        "color-background-primary": table["back"],
        "color-background-secondary": table["back-raised"],
        "color-background-border": table["line"],
        "color-brand-primary": table["accent"],
        "color-brand-content": table["variable"],
        "color-brand-visited": table["variable"],
        "color-alarm": table["alarm"],
        "color-match": table["match"],
        "font-stack": 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif',
        "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
    }


html_theme_options = {
    "light_css_variables": _colours(dict(LIGHT)),
    "dark_css_variables": _colours(dict(DARK)),
    "navigation_with_keys": False,
}

linkcheck_anchors = False  # GitHub makes the anchors of its pages by scripts
linkcheck_timeout = 30
linkcheck_retries = 3
