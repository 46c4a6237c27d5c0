"""Texts in the characters of a stream: other signs for those that its encoding lacks."""

from __future__ import annotations

import sys


def shown_in(encoding: str | None, words: str) -> str:
    r"""Return a text in the characters of an encoding: with other signs, and escaped names.

    >>> print(shown_in("cp1252", "└─ ü → ж 2×3"))
    `- ü -> \u0436 2×3
    >>> print(shown_in("ascii", "└─ ü → ж 2×3"))
    `- \xfc -> \u0436 2x3
    """
    encoding = encoding or "utf-8"
    if _has(encoding, words):
        return words
    from ckpt_viz.graphs.render.signs import ASCII  # here, because few terminals need it

    substitutes = {
        ord(c): ASCII.get(c) or c.encode("unicode_escape").decode()
        for c in set(words)
        if not _has(encoding, c)
    }
    return words.translate(substitutes)


def shown_on_stdout(words: str) -> str:
    """Return a text that `print` can print to any standard output."""
    encoding = getattr(sys.stdout, "encoding", None)
    return shown_in(encoding if isinstance(encoding, str) else None, words)


def _has(encoding: str, words: str) -> bool:
    try:
        words.encode(encoding)
    except LookupError:  # not a Python encoding: the user who set it knows what it accepts
        return words.isascii()
    except UnicodeError:
        return False
    return True
