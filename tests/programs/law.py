"""Laws of random programs: how each is drawn, tried, shrunk and printed.

A law draws an example from one `Random`, which its seed and number determine. An example is plain
data: records, tuples and mappings. If it breaks the law, smaller ones are tried while they still
break it in the same way. The failure shows the smallest one as code, then what differs.
"""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

import pytest

T = TypeVar("T")

_MOST_DRAWS = 20  # for each example that is tried
_MOST_SMALLER = 200  # examples that shrinking tries
_LINES = 36  # of a failure: one screen
_LINE = 120


class UnfitError(Exception):
    """A library refuses the program, or a law claims nothing about it."""


@dataclass(frozen=True)
class Law(Generic[T]):
    """A claim about each example that `draw` can return.

    `judge` raises an error if the claim is wrong. It gets a directory for files, and may return
    words for what came out, which are counted. `shown` adds what the example becomes, in words.
    """

    claim: str
    draw: Callable[[Random], T]
    judge: Callable[[T, Path], Sequence[str] | None]
    shown: Callable[[T], str] = lambda example: ""

    def tried(self, seed: object, wanted: int) -> Iterator[Sequence[str] | Failure]:
        """Try as many examples as are wanted; yield what came out of each, or its failure."""
        found = 0
        for number in range(wanted * _MOST_DRAWS):
            if found == wanted:
                return
            example = self.draw(Random(f"{self.claim} {seed} {number}"))
            try:
                yield self._outcome(example) or ()
            except UnfitError:
                continue
            except Exception as error:
                yield Failure(self, example, error, f"number {number} of seed {seed}")
            found += 1
        assert found == wanted, f"{self.claim}: only {found} examples of {wanted} are fit"

    def hold(self, seed: object, wanted: int) -> Counter[str]:
        """Assert that it holds for as many examples as are wanted; count what came out."""
        __tracebackhide__ = True
        counts = Counter[str]()
        for outcome in self.tried(seed, wanted):
            if isinstance(outcome, Failure):
                pytest.fail(str(outcome), pytrace=False)
            counts.update(outcome)
        return counts

    def hold_for(self, example: T) -> Sequence[str]:
        """Assert that it holds for one example; return what came out."""
        __tracebackhide__ = True
        try:
            return self._outcome(example) or ()
        except Exception as error:
            failure = Failure(self, example, error, "a given example")
        pytest.fail(str(failure), pytrace=False)  # outside of the except, so that it is alone

    def _outcome(self, example: T) -> Sequence[str] | None:
        with tempfile.TemporaryDirectory() as directory:
            return self.judge(example, Path(directory))

    def shrunk(self, example: T, error: Exception) -> tuple[T, Exception, int]:
        """Return the smallest example that breaks it in the same way, and how many were tried."""
        way, seen, start = _way(error), {repr(example)}, 0
        candidates = smaller(example)
        while start < len(candidates) and len(seen) <= _MOST_SMALLER:
            candidate = candidates[start]
            start += 1
            if repr(candidate) in seen:
                continue
            seen.add(repr(candidate))
            try:
                self._outcome(candidate)
            except UnfitError:
                continue
            except Exception as other:
                if _way(other) == way:
                    example, error = candidate, other
                    # Go on where it was: what did not help before is tried again at the end.
                    candidates = smaller(example)
                    candidates, start = candidates[start - 1 :] + candidates[: start - 1], 0
        return example, error, len(seen) - 1


@dataclass(frozen=True)
class Failure:
    """An example for which a law does not hold; as text, the smallest one and what differs."""

    law: Law[Any]
    example: Any
    error: Exception
    origin: str

    def __str__(self) -> str:
        example, error, tries = self.law.shrunk(self.example, self.error)
        program = [f"Broken: {self.law.claim}", "", *code_of(example).splitlines()]
        program += self.law.shown(example).splitlines()
        last = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{type(error).__name__} at {last.filename}:{last.lineno}: {last.line}"
        origin = f"This is what is left of {self.origin} after {tries} tries."
        left = max(_LINES - len(program) - 4, 8)
        differs = _cut(str(error).splitlines(), left)
        return "\n".join([*_cut(program, _LINES - 8), "", *differs, at, origin])


def _cut(lines: list[str], most: int) -> list[str]:
    lines = [line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines]
    return lines if len(lines) <= most else [*lines[:most], f"… {len(lines) - most} more lines"]


def _way(error: Exception) -> object:
    """Return the class of an error and where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return type(error), last.filename, last.lineno


# --- smaller examples


def smaller(value: Any) -> list[Any]:
    """Return examples with less in them, first those that lack what is at the top.

    An item that is in several places goes everywhere at once, or in one place. A field gets its
    default. In place of a record that holds records of its kind are these.
    """
    items = [*_items(value)]
    counts = Counter(map(repr, items))
    several = {repr(item): item for item in items if counts[repr(item)] > 1}
    everywhere = [
        (_EVERYWHERE + depth, _replaced(value, code, by))
        for code, item in several.items()
        for depth, by in _smaller((item,), 0)
    ]
    found = sorted([*_smaller(value, 0), *everywhere], key=lambda one: one[0])
    return [candidate for _, candidate in found]


_EVERYWHERE = 0.25
_RARELY = 5  # levels: what hardly ever helps comes last


def _smaller(value: Any, depth: float) -> Iterator[tuple[float, Any]]:
    """Yield each with the depth at which something is missing."""
    if is_tuple(value):
        size = len(value)
        is_late = _RARELY * (not any(map(_parts, value)))
        while size:
            for start in range(0, len(value), size):
                yield depth + is_late, value[:start] + value[start + size :]
            size //= 2
        for place, item in enumerate(value):
            for inner in _parts(item).values():
                if is_tuple(inner) and inner and type(inner[0]) is type(item):
                    yield depth, value[:place] + inner + value[place + 1 :]
    if isinstance(value, Mapping):
        for key in value:
            yield depth + _RARELY, {other: value[other] for other in value if other != key}
    for name, default in defaults_of(value).items():
        if default is not MISSING and _parts(value)[name] != default:
            yield depth + 0.5, _with(value, name, default)
    for name, part in _parts(value).items():
        for further, less in _smaller(part, depth + is_tuple(value)):
            yield further, _with(value, name, less)


def is_tuple(value: Any) -> bool:
    """Return whether a value is a tuple of items, and no record."""
    return type(value) is tuple


def defaults_of(value: Any) -> dict[str, Any]:
    """Return the fields of a record, each with its default; no other value has any."""
    if is_dataclass(value):
        return {
            one.name: one.default if one.default_factory is MISSING else one.default_factory()
            for one in fields(value)
            if one.init
        }
    names = getattr(value, "_fields", ()) if isinstance(value, tuple) else ()
    return {name: value._field_defaults.get(name, MISSING) for name in names}


def _parts(value: Any) -> dict[Any, Any]:
    if is_tuple(value):
        return dict(enumerate(value))
    if isinstance(value, Mapping):
        return dict(value)
    return {name: getattr(value, name) for name in defaults_of(value)}


def _with(value: Any, name: Any, part: Any) -> Any:
    if is_tuple(value):
        return (*value[:name], part, *value[name + 1 :])
    if isinstance(value, Mapping):
        return {**value, name: part}
    return replace(value, **{name: part}) if is_dataclass(value) else value._replace(**{name: part})  # type: ignore[type-var]


def _items(value: Any) -> Iterator[Any]:
    """Yield all records in tuples, at all depths."""
    for part in _parts(value).values():
        if is_tuple(value) and defaults_of(part):
            yield part
        yield from _items(part)


def _replaced(value: Any, code: str, by: tuple[Any, ...]) -> Any:
    """Return a value with others in place of the items that have this code."""
    if is_tuple(value):
        some = [by if repr(one) == code else (_replaced(one, code, by),) for one in value]
        return tuple(one for ones in some for one in ones)
    for name, part in _parts(value).items():
        if (new := _replaced(part, code, by)) is not part:
            value = _with(value, name, new)
    return value


# --- as code


def code_of(value: Any, indent: int = 0, taken: int = 0) -> str:
    """Return code that makes a value, in lines of at most about 120 characters."""
    if is_tuple(value):
        start, end = "(", ",)" if len(value) == 1 else ")"
    elif isinstance(value, Mapping):
        start, end = "{", "}"
    elif defaults_of(value):
        start, end = f"{type(value).__name__}(", ")"
    else:
        return repr(value)
    defaults, keyword, items = defaults_of(value), False, []
    for name, part in _parts(value).items():
        keyword = keyword or defaults.get(name, MISSING) is not MISSING
        if part is not value and not (name in defaults and part == defaults[name]):
            label = f"{name!r}: " if isinstance(value, Mapping) else f"{name}=" if keyword else ""
            items.append((label if defaults or isinstance(value, Mapping) else "", part))
    line = start + ", ".join(label + _flat(part) for label, part in items) + end
    if len(line) + indent + taken <= _LINE or not items:
        return line
    space = " " * (indent + 4)
    body = [f"{space}{label}{code_of(part, indent + 4, len(label) + 1)}," for label, part in items]
    return "\n".join([start, *body, f"{' ' * indent}{end.lstrip(',')}"])


def _flat(value: Any) -> str:
    text = code_of(value)
    return " ".join(line.strip() for line in text.splitlines())
