"""Numbers and shapes in words, for every sentence that has some."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "value"), count(3, "value"), count(2, "entry", "entries")
    ('1 value', '3 values', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def shape_words(shape: tuple[int, ...] | None) -> str:
    """Return a shape for people.

    >>> shape_words((5, 3)), shape_words(()), shape_words(None)
    ('5×3', 'scalar', '')
    """
    if shape is None:
        return ""
    return "×".join(map(str, shape)) if shape else "scalar"
