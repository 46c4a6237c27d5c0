"""What a fix does, in a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.restore_fix.left_out import LeftOut
from ckpt_viz.text import count, listed, printable


@dataclass(frozen=True)
class Summary:
    """The parts of the text.

    Attributes:
        title: What is restored, and into what.
        restored: How many values the fix restores.
        accepted: How many of them were guesses.
        how: The call or the form of the code.
        is_counted: Whether the `save_counter` is one of them.
        converted: By what happens to values that change their form, the names of their objects.
        guessed_parts: The names of the saved parts that hold guesses.
        following: What to do next, a sentence each.
    """

    title: str
    restored: int
    accepted: int
    how: str
    is_counted: bool
    converted: Mapping[str, Sequence[str]]
    left: LeftOut
    guessed_parts: Sequence[str]
    following: Sequence[str]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        yield printable(self.title)
        yield f"  {self._first()}"
        if self.is_counted:
            yield "  save_counter is restored, so save() counts on from this checkpoint"
        for words, names in self.converted.items():
            yield f"  {count(len(names), 'value')} {words}: {printable(listed([*names]))}"
        yield from (f"  {printable(line)}" for line in self._left_out())
        yield from self.following

    def headline(self) -> str:
        """Return the text in one line."""
        left = count(len(self.left.guesses), "guess", "guesses")
        more = f", {left} left out" if self.left.guesses else ""
        return f"{printable(self.title)}: {count(self.restored, 'value')} restored{more}"

    def _first(self) -> str:
        if not self.restored:
            return "restores nothing: no value has a sure place"
        taken = f", {self.accepted} of them accepted guesses" if self.accepted else ""
        return f"restores {count(self.restored, 'value')} {self.how}{taken}"

    def _left_out(self) -> Iterator[str]:
        left = self.left
        for reason, values in left.values.items():
            every = list(dict.fromkeys(value.part for value in values))
            yield f"{count(len(values), 'value')} {reason.words} {listed(every)}"
        if left.untracked:
            number = count(len(left.untracked), "attribute")
            yield f"{number} left out; TensorFlow does not track {listed([*left.untracked])}"
        if left.guesses:
            number = count(len(left.guesses), "value")
            parts = listed([*self.guessed_parts])
            why = "because only order or shape suggests their places"
            yield f"{number} left out as guesses, {why}: {parts}"
