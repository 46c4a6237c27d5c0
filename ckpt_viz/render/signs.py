"""The states of a comparison in signs and words, and every sign for streams that lack it."""

from __future__ import annotations

import sys
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

# What stands for a sign where a stream's encoding lacks it: terminals in latin-1 or cp1252,
# Windows' default.
ASCII: Mapping[str, str] = {
    "✓": "=",
    "✗": "x",
    "≠": "!=",
    "\N{MINUS SIGN}": "-",
    "Δ": "~",
    "↷": ">",
    "→": "->",
    "…": "...",
    "×": "x",
    "├": "|",
    "│": "|",
    "└": "`",
    "─": "-",
}


def shown_in(encoding: str | None, words: str) -> str:
    r"""Return a text as an encoding can have it: other signs, and names escaped.

    >>> print(shown_in("cp1252", "└─ ü → ж 2×3"))
    `- ü -> \u0436 2×3
    >>> print(shown_in("ascii", "└─ ü → ж 2×3"))
    `- \xfc -> \u0436 2x3
    """
    encoding = encoding or "utf-8"
    if _has(encoding, words):
        return words
    stand_ins = {
        ord(c): ASCII.get(c) or c.encode("unicode_escape").decode()
        for c in set(words)
        if not _has(encoding, c)
    }
    return words.translate(stand_ins)


def shown_on_stdout(words: str) -> str:
    """Return a text that `print` can print, whatever standard output is."""
    encoding = getattr(sys.stdout, "encoding", None)
    return shown_in(encoding if isinstance(encoding, str) else None, words)


def _has(encoding: str, words: str) -> bool:
    try:
        words.encode(encoding)
    except LookupError:  # no encoding of Python's: whoever set it knows what it takes
        return words.isascii()
    except UnicodeError:
        return False
    return True
