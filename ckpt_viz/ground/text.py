"""Numbers, shapes and untrusted names as words in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_MOST_LISTED = 3
_WORD = re.compile(r"[./_ ]")  # what is between the words of a name
CUT = "…"  # in the place of what is too long to print
MOST_READABLE = 1000  # characters: longer than any name that a person has given
_MOST_PERCENT = 1_000_000  # a larger number tells nothing more
_UNITS = ("kB", "MB", "GB", "TB", "PB")


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "value"), count(3000, "value"), count(2, "entry", "entries")
    ('1 value', '3,000 values', '2 entries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def first_clause(message: str) -> str:
    """Return a message up to its first semicolon, such as without its next step.

    >>> first_clause("ckpt-1.index: no such file; copy it again")
    'ckpt-1.index: no such file'
    """
    return message.partition("; ")[0]


def readable(name: str) -> str:
    """Return a name, or its beginning if it is too long to read."""
    return name if len(name) <= MOST_READABLE else f"{name[:MOST_READABLE]}{CUT}"


def end_of(name: str, most: int) -> str:
    """Return a name, or the end of a long one, which tells more than its beginning.

    The end begins with a whole word, but for a word that is a large part of it.

    >>> end_of("model.dense.kernel", 18), end_of("model.dense.kernel", 15)
    ('model.dense.kernel', '…dense.kernel')
    >>> end_of("model.normalization", 10)
    '…alization'
    """
    if len(name) <= most:
        return name
    end = name[len(CUT) - most :]
    words = _WORD.search(name, len(name) - len(end) - 1)
    is_near = words is not None and words.end() - (len(name) - len(end)) <= len(end) // 3
    return f"{CUT}{name[words.end() :] if words is not None and is_near else end}"


def size_words(nbytes: int) -> str:
    """Return a number of bytes for people.

    >>> size_words(1), size_words(999), size_words(1500), size_words(2_340_000_000)
    ('1 byte', '999 bytes', '1.5 kB', '2.3 GB')
    """
    if nbytes < 1000:
        return count(nbytes, "byte")
    sizes = [(nbytes / 1000**power, unit) for power, unit in enumerate(_UNITS, 1)]
    size, unit = next((pair for pair in sizes if pair[0] < 999.95), sizes[-1])
    return f"{size:.1f} {unit}"


def listed(names: Sequence[str], *, most: int = _MOST_LISTED) -> str:
    """Return names as a list in words; if there are many, only the first.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    >>> listed(["a", "b", "c", "d"])
    'a, b and 2 more'
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def listed_by(name: Callable[[_Item], str], items: Sequence[_Item]) -> str:
    """Return the names of things as a list in words; asks only for those that it shows.

    >>> listed_by(str, [1, 2, 3, 4])
    '1, 2 and 2 more'
    """
    return listed([*map(name, items[:_MOST_LISTED]), *([""] * (len(items) - _MOST_LISTED))])


def shape_words(shape: Sequence[int | None] | None, *, unknown: str = "") -> str:
    """Return a shape for people; of an unknown size "?", of an unknown rank `unknown`.

    >>> shape_words((5, 3)), shape_words((None, 3)), shape_words(())
    ('5×3', '?×3', 'scalar')
    >>> shape_words(None), shape_words(None, unknown="unknown")
    ('', 'unknown')
    """
    if shape is None:
        return unknown
    return "×".join("?" if size is None else str(size) for size in shape) or "scalar"


def printable(name: str) -> str:
    r"""Return an untrusted name as text that moves no cursor and starts no line.

    >>> print(printable("a\nb\x1b[31m"))
    a\nb\x1b[31m
    """
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def printable_lines(text: str) -> str:
    """Return a text of several lines that moves a cursor only by its line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def sendable(data: Any) -> Any:
    r"""Return JSON data whose texts UTF-8 can encode: Python's may have lone surrogates.

    Names of files that are not in UTF-8 have such surrogates.

    >>> print(sendable({"error": ["no file a\udcff"]}))
    {'error': ['no file a\\udcff']}
    """
    if isinstance(data, str):
        return data if data.isascii() else data.encode("utf-8", "backslashreplace").decode()
    if isinstance(data, dict):
        return {sendable(key): sendable(value) for key, value in data.items()}
    return [sendable(part) for part in data] if isinstance(data, (list, tuple)) else data


def left_out_words(number: int, *, all_of_them: bool) -> str:
    """Return what a change leaves out, or what it is if it leaves out all that changed.

    >>> left_out_words(2, all_of_them=True), left_out_words(0, all_of_them=False)
    ('2 elements changed to or from NaN or infinity', '')
    >>> left_out_words(1, all_of_them=False)
    'without 1 element that was or is NaN or infinite'
    """
    if not number:
        return ""
    if all_of_them:
        return f"{count(number, 'element')} changed to or from NaN or infinity"
    verb = "was or is" if number == 1 else "were or are"
    return f"without {count(number, 'element')} that {verb} NaN or infinite"


def percent(share: float | None) -> str:
    """Return a share in few letters; only the whole is 100 %.

    >>> percent(0.813), percent(0.0291), percent(0.00042), percent(12.3), percent(None)
    ('81 %', '2.9 %', '0.042 %', '1,230 %', '')
    >>> percent(1.0), percent(0.99999), percent(7e9)
    ('100 %', '99.9 %', 'over 1,000,000 %')
    """
    if share is None:
        return ""
    if not math.isfinite(share):
        return "from 0"
    number = 100 * share
    if 99 < number < 100:
        return f"{math.floor(10 * number) / 10:.3g} %"
    if number > _MOST_PERCENT:
        return f"over {_MOST_PERCENT:,} %"
    return f"{number:,.0f} %" if number >= 10 else f"{number:.2g} %"
