"""The laws that are known to be broken, by journey: `known_breaks.txt`.

A break that is not in the file fails its test, and so does one in the file that no longer happens:
who fixes it removes its lines. `python -m tests.journeys --write-known` writes the file again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("known_breaks.txt")
_INDENT = "  "

Known = tuple[str, str, str]  # the law, the kind of break, and the journey


@cache
def known() -> frozenset[Known]:
    """Return all known breaks."""
    return frozenset(_read(PATH.read_text("utf-8").splitlines()))


def known_of(law: str, journey: str) -> set[str]:
    """Return the kinds of breaks of a law that are known of a journey."""
    return {kind for of_law, kind, of_journey in known() if (of_law, of_journey) == (law, journey)}


def _read(lines: Iterable[str]) -> Iterator[Known]:
    law = kind = ""
    for line in lines:
        if line.startswith(_INDENT):
            yield law, kind, line.strip()
        elif line and not line.startswith("#"):
            law, _, kind = line.partition(": ")


def written(breaks: Iterable[Known]) -> str:
    """Return the text of the file."""
    text, last = ["# The laws that journeys break today: the law, how, and the journeys."], ("", "")
    for law, kind, journey in sorted(breaks):
        if (law, kind) != last:
            text += ["", f"{law}: {kind}"]
            last = law, kind
        text.append(f"{_INDENT}{journey}")
    return "\n".join(text) + "\n"
