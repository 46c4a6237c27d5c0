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


# 0 for the dark text of a light ground, 1 for the light text of a dark one: its green decides.
_IS_DARK = "clamp(0, (g - 0.45) * 999, 1)"


def style_of_colours(css_class: str, names: Iterable[str]) -> str:
    """Return CSS that gives a picture in a notebook these colours, light or dark as its ground.

    The variables are `--ckpt-viz-` and a name. Without a script, the text's colour tells what the
    ground is, since every host has texts that are legible there. So a part with a variable may
    have another `color` only if it has no other variable: `-webkit-text-fill-color` is free. A
    browser of before 2024 has the light colours, or the dark ones if JupyterLab tells.
    """
    light, dark, either = (
        " ".join(f"--ckpt-viz-{name}: {colour(name)};" for name in names)
        for colour in (LIGHT.__getitem__, DARK.__getitem__, _colour_of_ground)
    )
    return f"""
.{css_class} {{ {light} }}
:where([data-jp-theme-light="false"]) .{css_class} {{ {dark} }}
@supports (color: color(from currentColor srgb r g b)) {{ .{css_class} {{ {either} }} }}
"""


def _colour_of_ground(name: str) -> str:
    parts = (
        f"calc({light:.4f} + {dark - light:.4f} * {_IS_DARK})"
        for light, dark in zip(_parts(LIGHT[name]), _parts(DARK[name]), strict=True)
    )
    return f"color(from currentColor srgb {' '.join(parts)})"


def _parts(colour: str) -> list[float]:
    """Return red, green and blue of `#rgb` or `#rrggbb`, from 0 to 1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return [part / 255 for part in bytes.fromhex(digits)]
