"""A dict from names in a file to variables, as code: one line for all names that changed alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.ground.expressions import quoted
from ckpt_viz.matching.name_rules.names import spelled

_FEWEST = 3  # names of a comprehension
_MOST = 20  # comprehensions


class NamedPlace(NamedTuple):
    """The name of a tensor in the file, and the expression for its variable.

    `key` is the variable's key in the dict `variables`; None for any other expression.
    """

    name: str
    expression: str
    key: str | None = None


@dataclass(frozen=True)
class _Change:
    """How keys become names in the file: another scope, another spelling, something at the end."""

    old: str
    new: str
    spelling: tuple[tuple[str, str], ...]
    end: str

    def apply(self, key: str) -> str:
        name = key[len(self.new) :] if self.new else key
        for now, was in self.spelling:
            name = name.replace(now, was)
        return f"{self.old}{name}{self.end}"

    def __str__(self) -> str:
        name = f"name[{len(self.new)}:]" if self.new else "name"
        for now, was in self.spelling:
            name = f"{name}.replace({quoted(now)}, {quoted(was)})"
        around = [[quoted(text)] if text else [] for text in (self.old, self.end)]
        return " + ".join([*around[0], name, *around[1]])


def dict_in_code(places: Iterable[NamedPlace], keys: Iterable[str]) -> list[str]:
    """Return the lines of a dict from names to variables; `keys` are all that `variables` has.

    >>> places = [NamedPlace(f"a/{n}", f"variables['b/{n}']", f"b/{n}") for n in "xyz"]
    >>> dict_in_code(places, ["b/x", "b/y", "b/z", "c"])
    ["{'a/' + name[2:]: v for name, v in variables.items() if name.startswith('b/')}"]
    >>> dict_in_code(places[:1], ["b/x", "b/y"])
    ["{'a/x': variables['b/x']}"]
    """
    groups: dict[object, list[tuple[NamedPlace, _Change]]] = {}
    singles: list[NamedPlace] = []
    for place in places:
        change = None if place.key is None else _change(place.name, place.key)
        if change is None:
            singles.append(place)
        else:
            of_kind = change.old, change.new, change.end
            groups.setdefault(of_kind, []).append((place, change))
    every, comprehensions = frozenset(keys), list[str]()
    for number, group in enumerate(sorted(groups.values(), key=len, reverse=True)):
        is_tried = number < _MOST and len(group) >= _FEWEST
        text = _comprehension(group, every) if is_tried else ""
        comprehensions += [text] if text else []
        singles += [] if text else [place for place, _ in group]
    items = [f"{quoted(place.name)}: {place.expression}" for place in singles]
    if len(items) + len(comprehensions) == 1:
        return [f"{{{(*items, *comprehensions)[0]}}}"]
    lines = [*(f"**{{{text}}}" for text in comprehensions), *items]
    return ["{", *(f"    {line}," for line in lines), "}"]


def _comprehension(group: Sequence[tuple[NamedPlace, _Change]], every: frozenset[str]) -> str:
    """Return what makes exactly these items; "" if nothing short does."""
    change = _common([change for _, change in group])
    wanted = {place.key or "": place.name for place, _ in group}
    if change is None or any(change.apply(key) != name for key, name in wanted.items()):
        return ""
    first = next(iter(wanted)).partition("/")[0] + "/"
    for start in (change.new, "") if change.new else ("", first):
        if {key for key in every if key.startswith(start)} == wanted.keys():
            condition = f" if name.startswith({quoted(start)})" if start else ""
            return f"{change}: v for name, v in variables.items(){condition}"
    return ""


def _common(changes: Sequence[_Change]) -> _Change | None:
    """Return the change with the spellings of all; None if they contradict each other."""
    spelling: dict[str, str] = {}
    for change in changes:
        for now, was in change.spelling:
            if spelling.setdefault(now, was) != was:
                return None
    first = changes[0]
    return _Change(first.old, first.new, (*spelling.items(),), first.end)


def _change(name: str, key: str) -> _Change | None:
    """Return how a key becomes a name; None if the two have no end in common."""
    old, new, end, spelling = name.split("/"), key.split("/"), list[str](), dict[str, str]()
    while old and not _are_alike(old[-1], new[-1]) and len(end) < 2:
        end.insert(0, old.pop())
    if not old:
        return None
    while old and new and _are_alike(old[-1], new[-1]):
        was, now = old.pop(), new.pop()
        if was != now:
            spelling[f"/{now}"] = f"/{was}"
    return _Change(_scope(old), _scope(new), (*spelling.items(),), "".join(f"/{e}" for e in end))


def _scope(parts: Sequence[str]) -> str:
    return "".join(f"{part}/" for part in parts)


def _are_alike(was: str, now: str) -> bool:
    return was == now or spelled(was) == spelled(now)
