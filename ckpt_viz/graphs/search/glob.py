"""Globs, matched in one pass over any text.

One integer holds all places in the glob that a text can have reached, as bits. So there is no
backtracking. A text can come in parts: a path continues where its parent's path ends.
labextension/src/search/glob.ts is the same in the front end.
"""

from __future__ import annotations

import re


class Glob:
    """`*` matches anything but the separator, `**` anything; `**` with a separator may be empty."""

    def __init__(self, glob: str, separator: str) -> None:
        self._separator = separator
        self._known: dict[tuple[int, str], int] = {}  # computes each step once
        self._moves: dict[str, int] = {}  # by character, the places from which it leads on
        self._anything = self._any_but_separator = 0  # places at which characters may remain
        self._skips = self._skips_two = 0  # places that lead on without a character
        place = 1
        gap = rf"(?:\*\*{re.escape(separator)})+" if separator else r"\*+"
        for part in re.findall(rf"{gap}|\*+|.", glob, re.DOTALL):
            if part.startswith("**") and separator and part.endswith(separator):
                self._skips |= place
                self._skips_two |= place
                place <<= 1
                self._anything |= place
                part = separator
            elif part == "*":
                self._any_but_separator |= place
                self._skips |= place
            elif part.startswith("**"):
                self._anything |= place
                self._skips |= place
            if not part.startswith("*"):
                self._moves[part] = self._moves.get(part, 0) | place
            place <<= 1
        self._end = place
        self.start = self._with_skips(1)

    def run(self, state: int, text: str) -> int:
        """Return the state that a text reaches."""
        known = self._known
        for character in text:
            after = known.get((state, character))
            if after is None:
                after = known[state, character] = self._after(state, character)
            state = after
        return state

    def accepts(self, state: int) -> bool:
        """Return whether the text that led to a state matches."""
        return state & self._end != 0

    def fits(self, text: str) -> bool:
        """Return whether the glob matches the whole text."""
        return self.accepts(self.run(self.start, text))

    def _after(self, state: int, character: str) -> int:
        stays = self._anything
        if character != self._separator:
            stays |= self._any_but_separator
        moved = (state & self._moves.get(character, 0)) << 1
        return self._with_skips(moved | (state & stays))

    def _with_skips(self, state: int) -> int:
        state |= (state & self._skips_two) << 2
        return state | (state & self._skips) << 1
