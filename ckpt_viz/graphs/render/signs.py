"""The states of a comparison as signs and words, and the signs of ASCII for all others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.overlay.overlay import Comparison, Severity, State


class Sign(NamedTuple):
    """A character, the word for it, and its look: quiet, ring, hollow or loud."""

    glyph: str
    word: str
    look: str


# signs.json has them for Python and TypeScript.
_SIGNS: dict[str, Any] = json.loads(Path(__file__).with_name("signs.json").read_text("utf-8"))


def _sign(entry: Mapping[str, str]) -> Sign:
    # A space, so that a column of glyphs stays straight.
    return Sign(entry["glyph"] or " ", entry["word"], entry["look"])


STATES: Mapping[State, Sign] = {state: _sign(_SIGNS["states"][state.value]) for state in State}
SEVERITIES: Mapping[Severity, Sign] = {
    severity: _sign(_SIGNS["severities"][severity.value]) for severity in Severity
}
CELLS: Mapping[CellSign, Sign] = {cell: _sign(_SIGNS["cells"][cell.value]) for cell in CellSign}
# The side of a node's partner: for a node of the live side, and for one of the saved side.
SIDES: Mapping[Comparison, tuple[str, str]] = {
    comparison: (sides["saved"], sides["live"])
    for comparison in Comparison
    for sides in [_SIGNS["sides"][comparison.value]]
}

# The substitutes for signs that a stream's encoding lacks: terminals in latin-1 or cp1252, Windows'
# default.
ASCII: Mapping[str, str] = _SIGNS["ascii"]
