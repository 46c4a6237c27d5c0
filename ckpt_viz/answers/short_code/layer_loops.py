"""Loops over the layers of a model in code: a class or a few names tell which layers these are.

Each loop makes exactly its items: what the layers have now decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.answers.short_code.loops import (
    KeyedExpression,
    Loop,
    clause_over,
    f_string,
    without,
)
from ckpt_viz.answers.short_code.names_in_runs import filled, in_list, list_of
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.live.objects.layer_lists import LayerList

_FEWEST = 8  # items of a loop
_MOST_LEFT_OUT = 8  # layers
_WIDTH = 72  # of a list of attributes
_LAYER, _ATTRIBUTE = "\0", "\1"  # marks for names in a text


def loops_of_layers(
    items: Iterable[KeyedExpression], lists: Sequence[LayerList]
) -> tuple[list[Loop], list[KeyedExpression]]:
    """Return loops over layers, and the items that are in none of them."""
    groups: dict[tuple[str, ...], list[_Value]] = defaultdict(list)
    others, made = list[KeyedExpression](), list[Loop]()
    for item in items:
        value = _value_of(item, lists)
        if value is None:
            others.append(item)
        else:
            groups[value.form].append(value)
    for group in groups.values():
        loop = _Group(group[0].layers, group).loop() if len(group) >= _FEWEST else None
        if loop is None:
            others += [value.item for value in group]
        else:
            made.append(loop)
    return made, others


class _Value(NamedTuple):
    """An item whose expression is an attribute of a layer in a list."""

    item: KeyedExpression
    layers: LayerList
    place: int
    attribute: str

    @property
    def components(self) -> list[str]:
        """The components of the text."""
        return self.item.text.split("/")

    @property
    def marked(self) -> list[str]:
        """The components with marks for the names of the layer and the attribute."""
        name = self.layers.names[self.place] or _LAYER
        marked = (without(part, name, _LAYER) for part in self.components)
        return [without(part, self.attribute, _ATTRIBUTE) for part in marked]

    @property
    def form(self) -> tuple[str, ...]:
        """What the items of one loop have in common: the class, and all but numbers of groups."""
        parts = (part.rstrip("0123456789").rstrip("_") for part in self.marked)
        return self.layers.model, self.layers.classes[self.place], *parts


def _value_of(item: KeyedExpression, lists: Sequence[LayerList]) -> _Value | None:
    layer, _, attribute = item.expression.rpartition(".")
    if not item.is_plain or not attribute.isidentifier():
        return None
    places = ((every, every.places.get(layer)) for every in lists)
    return next(
        (_Value(item, e, place, attribute) for e, place in places if place is not None), None
    )


@dataclass(frozen=True)
class _Group:
    """Items of one form; what differs in their texts by layer, and by attribute."""

    layers: LayerList
    values: Sequence[_Value]
    _groups: list[Sequence[str]] = field(default_factory=list)
    _parts: list[Sequence[str]] = field(default_factory=list)

    @cached_property
    def _wanted(self) -> frozenset[tuple[int, str]]:
        return frozenset((value.place, value.attribute) for value in self.values)

    @cached_property
    def _places(self) -> Sequence[int]:
        return sorted({value.place for value in self.values})

    @cached_property
    def _attributes(self) -> Sequence[str]:
        return [*dict.fromkeys(value.attribute for value in self.values)]

    def loop(self) -> Loop | None:
        """Return the loop; None if no short condition tells which layers it goes through."""
        components = [value.components for value in self.values]
        if len(self._wanted) < len(self.values) or len({*map(len, components)}) > 1:
            return None
        columns = zip(*components, strict=True), zip(*(v.marked for v in self.values), strict=True)
        text = [self._component(*both) for both in zip(*columns, strict=True)]
        chosen = self._condition()
        if chosen is None or None in text or max(len(self._groups), len(self._parts)) > 1:
            return None
        key = "/".join(part for part in text if part is not None).replace(_LAYER, "{layer.name}")
        name, *others = self._attributes
        expression = "getattr(layer, name)" if others else f"layer.{name}"
        key = f_string(key.replace(_ATTRIBUTE, "{name}" if others else name))
        return Loop([v.item for v in self.values], expression, key, (*self._clause(*chosen),))

    def _component(self, values: Sequence[str], marked: Sequence[str]) -> str | None:
        """Return a component of the texts as the inside of an f-string, if names tell it."""
        if len({*marked}) == 1:
            return marked[0]
        of_layers = dict(zip((v.place for v in self.values), values, strict=True))
        if all(of_layers[v.place] == text for v, text in zip(self.values, values, strict=True)):
            self._groups.append([of_layers[place] for place in self._places])
            return "{group}"
        of_names = dict(zip((v.attribute for v in self.values), values, strict=True))
        if all(of_names[v.attribute] == text for v, text in zip(self.values, values, strict=True)):
            self._parts.append([of_names[name] for name in self._attributes])
            return "{part}" if self._parts[0] == [*map(str, range(len(of_names)))] else None
        return None

    def _clause(self, condition: str, is_in_part: bool) -> Iterator[tuple[str, ...]]:
        """Yield the parts of `for … in …`."""
        if self._groups:
            layers = filled(
                [f"[layer for layer in {self.layers.code}"], [f"if {condition}"], closing="]"
            )
            yield clause_over(["layer", "group"], [layers, in_list(self._groups[0])])
        else:
            yield (f"for layer in {self.layers.code}",)
            yield (f"if {condition}",)
        names = [*map(quoted, self._attributes)]
        if self._parts:
            yield clause_over(["part", "name"], [list_of(names, "enumerate([", "])", width=_WIDTH)])
        elif len(names) > 1:
            yield clause_over(["name"], [list_of(names, width=_WIDTH)])
        if is_in_part:
            name = "name" if len(names) > 1 else names[0]
            yield (f"if getattr(layer, {name}, None) is not None",)

    def _condition(self) -> tuple[str, bool] | None:
        """Return a condition for the layers, and whether some of these lack an attribute."""
        layers = self.layers
        own = layers.classes[self._places[0]]
        of_class = [place for place, name in enumerate(layers.classes) if name == own]
        others = sorted({*of_class}.difference(self._places))
        left = [*dict.fromkeys(layers.names[place] or "" for place in others)]
        stay = [place for place in of_class if layers.names[place] not in left]
        made = {(place, name) for place in stay for name in self._attributes}
        is_in_part = made != self._wanted
        made = {value for value in made if value in self._wanted or layers.may_have(*value)}
        if made != self._wanted or len(left) > _MOST_LEFT_OUT:
            return None
        is_other = f" and layer.name not in [{', '.join(map(quoted, left))}]" if left else ""
        return f"type(layer).__name__ == {quoted(own)}{is_other}", is_in_part
