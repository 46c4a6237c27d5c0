"""The states of a comparison in signs and words, the same wherever one is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ckpt_viz.object_graph.overlay import Comparison, Severity, State


class Sign(NamedTuple):
    """A character, and the word that it stands for."""

    glyph: str
    word: str


# As in labextension/src/signs.ts.
STATES: Mapping[State, Sign] = {
    State.PLAIN: Sign(" ", "without value"),
    State.MATCHED: Sign("✓", "matched"),
    State.LIVE_ONLY: Sign("+", "not in checkpoint"),
    State.SAVED_ONLY: Sign("\N{MINUS SIGN}", "not used by program"),
    State.DEFERRED: Sign("…", "waiting for variable"),
    State.SHAPE: Sign("≠", "shape differs"),
    State.DTYPE: Sign("≠", "dtype differs"),
    State.FAILED: Sign("✗", "fails"),
    State.WARNED: Sign("!", "restored, but…"),
    State.ONLY_A: Sign("\N{MINUS SIGN}", "only in a"),
    State.ONLY_B: Sign("+", "only in b"),
    State.ROLE: Sign("≠", "role differs"),
    State.VALUE: Sign("Δ", "value differs"),
    State.MOVED: Sign("↷", "moved"),
}
SEVERITIES: Mapping[Severity, Sign] = {
    Severity.ERROR: Sign("✗", "error"),
    Severity.FAIL: Sign("✗", "fails"),
    Severity.DEFERRED: Sign("…", "deferred"),
    Severity.WARNING: Sign("!", "warning"),
    Severity.INFO: Sign("i", "note"),
}
# Where the partner of a node is: of one of the live side, of one of the saved side.
SIDES = {Comparison.CHECK: ("saved as", "in the program"), Comparison.DIFF: ("in a", "in b")}
QUIET = frozenset({State.PLAIN, State.MATCHED})  # nothing calls for a look
