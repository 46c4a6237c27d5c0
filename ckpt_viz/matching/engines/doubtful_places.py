"""What speaks against the places in which Keras looks for the values of objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.matching.engines.keras_sides import (
    LiveWeights,
    SavedWeights,
    joined,
)

_NUMBER = re.compile(r"_\d+$")


class ObjectPath(NamedTuple):
    """The path of an object, the object that leads to it, and its component in a list."""

    path: str
    holder: int | None = None
    component: str = ""

    def to(self, name: str, component: str = "") -> ObjectPath:
        """Return the way to an item of a list, if this one leads to the list."""
        return ObjectPath(joined(self.path, name), self.holder, component)


class Doubts:
    """What speaks against the places in which Keras looks for the values of objects."""

    def __init__(
        self, live: LiveWeights, saved: SavedWeights, ways: Mapping[int, ObjectPath]
    ) -> None:
        self.live, self.saved, self.ways = live, saved, ways
        named = [saveable for saveable in live.saveables if saveable.loading is not None]
        self._names = {*saved.names.values()}, {saveable.name or "" for saveable in named}
        valued = (
            [path for path, entries in saved.variables.items() if any(entries.values())],
            [way.path for number, way in ways.items() if live.saveables[number].own],
        )
        self._counts = tuple(map(_siblings_with_values, valued))

    def by_order(self) -> Iterator[int]:
        """Yield items whose names tell nothing, if the file has another number in their list."""
        for number, way in self.ways.items():
            siblings = way.path.rpartition("/")[0], way.component
            counts = self._counts[0][siblings], self._counts[1][siblings]
            name, now = self.saved.names.get(way.path, ""), self.live.saveables[number].name or ""
            is_named = name and not is_automatic(name, self.live.saveables[number].class_name)
            is_named = is_named and (name == now or self.has_another_name(number))
            is_item = bool(way.component) and way.path in self.saved.groups
            if is_item and not is_named and 0 < counts[0] != counts[1]:
                yield number

    def below(self, roots: Collection[int]) -> set[int]:
        """Return objects and what is in them: the outermost name decides for all of it.

        All objects of a class have equal names inside, such as `key` in each attention.
        """
        inside: set[int] = set()
        for number, way in self.ways.items():  # holders first
            if number in roots or way.holder in inside:
                inside.add(number)
        return inside

    def has_another_name(self, number: int) -> bool:
        """Return whether the name of an object, or that of its path, is in another place."""
        way, saveable = self.ways[number], self.live.saveables[number]
        names = self.saved.names.get(way.path, ""), saveable.name or ""
        return way.holder is not None and are_of_others(names, saveable.class_name, self._names)


def are_of_others(
    names: tuple[str, str], class_name: str, every: tuple[Collection[str], Collection[str]]
) -> bool:
    """Return whether a saved and a live name differ, and one of them is also on the other side.

    `every` has all names of both sides. A name that Keras made of the class proves nothing.

    >>> are_of_others(("a", "b"), "Dense", ({"a", "b"}, {"b", "c"}))
    True
    >>> are_of_others(("dense", "dense_1"), "Dense", ({"dense"}, {"dense", "dense_1"}))
    False
    """
    if "" in names or names[0] == names[1]:
        return False
    return any(
        name in others and not is_automatic(name, class_name)
        for name, others in zip(names, reversed(every), strict=True)
    )


def without_number(name: str) -> str:
    """Return the class that Keras calls an item of a list by, without the number in its list.

    >>> without_number("dense"), without_number("conv2d_12")
    ('dense', 'conv2d')
    """
    return _NUMBER.sub("", name)


def _siblings_with_values(paths: Iterable[str]) -> Counter[tuple[str, str]]:
    """Count the items of lists that hold values, by the path of the list and their component.

    >>> dict(_siblings_with_values(["layers/dense/inner", "layers/dense_1"]))
    {('layers/dense', 'inner'): 1, ('layers', 'dense'): 2, ('', 'layers'): 1}
    """
    known: set[str] = set()
    siblings = Counter[tuple[str, str]]()
    for path in paths:
        while path and path not in known:
            known.add(path)
            holder, _, name = path.rpartition("/")
            siblings[holder, without_number(name)] += 1
            path = holder
    return siblings
