"""The colours of the explorer, for pictures: palette.json has them for Python and TypeScript."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_PALETTE: dict[str, Any] = json.loads(Path(__file__).with_name("palette.json").read_text("utf-8"))

LIGHT: Mapping[str, str] = _PALETTE["light"]
DARK: Mapping[str, str] = _PALETTE["dark"]
# Colours of Graphviz's pictures that differ from the explorer's
DOT: Mapping[str, str] = _PALETTE["dot"]


def style_of_colours(css_class: str, names: Iterable[str]) -> str:
    """Return CSS that gives a picture in a notebook these colours, light or dark as its host.

    The variables are `--ckpt-viz-` and a name.
    """
    light, dark = (
        " ".join(f"--ckpt-viz-{name}: {table[name]};" for name in names) for table in (LIGHT, DARK)
    )
    return f"""
.{css_class} {{ {light} }}
[data-jp-theme-light="false"] .{css_class} {{ {dark} }}
@media (prefers-color-scheme: dark) {{
  :root:not(:has([data-jp-theme-light])) .{css_class} {{ {dark} }} }}
"""
