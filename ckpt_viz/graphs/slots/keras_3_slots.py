"""Slots of Keras 3 optimizers, recognised by parallel lists, full names, order and position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ckpt_viz.graphs.nodes.nodes import Child, Node, Slot, SlotRule
from ckpt_viz.graphs.slots.keras_optimizers import (
    FACTORED,
    FACTORS,
    KerasOptimizer,
    Shape,
    factor_shapes,
    full_name_of,
    is_adafactor,
    shape_of,
)
from ckpt_viz.graphs.slots.optimizer_table import SLOT_NAMES

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")
_SUFFIXES = frozenset(SLOT_NAMES.values())
# A name is cut in few places only, so that hostile names take no more than linear time.
_MAX_WORDS = 4  # of `dense_kernel_a_suffix_of_words`


@dataclass(frozen=True, slots=True)
class _Entry:
    """A variable of a Keras 3 optimizer whose full name ends in `{stem}_{suffix}`."""

    node_id: int
    stem: str
    suffix: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class _Trained:
    """A variable that a Keras 3 optimizer trains; `stem` is its full name without slashes."""

    node_id: int
    stem: str
    name: str
    shape: Shape


def keras_3_slots(
    nodes: Sequence[Node], optimizer: KerasOptimizer, trainable: Sequence[Child]
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots of an optimizer by their node ids; `trainable` are the model's variables.

    The rules go from the surest to the least sure; a rule skips what an earlier one found.
    """
    trained = [_trained(nodes, child.node_id) for child in trainable]
    places = {child.local_name: place for place, child in enumerate(trainable)}
    slots = dict(_by_list_index(nodes, optimizer, trained, places))
    entries = _entries(nodes, optimizer, trained, slots)
    for resolve in (_by_name_and_order, _by_sibling, _by_position):
        for node_id, slot in resolve(optimizer, entries, trained, slots):
            slots.setdefault(node_id, slot)
    for node_id, (name, place, rule) in slots.items():
        yield node_id, Slot(name, trained[place].node_id, optimizer.node_id, rule)


_SlotPlace = tuple[str, int, SlotRule]  # slot name, place among the trained variables, rule


def _trained(nodes: Sequence[Node], node_id: int) -> _Trained:
    full_name, shape = full_name_of(nodes, node_id), shape_of(nodes, node_id)
    return _Trained(node_id, full_name.replace("/", "_"), full_name.rpartition("/")[2], shape)


def _by_list_index(
    nodes: Sequence[Node],
    optimizer: KerasOptimizer,
    trained: Sequence[_Trained],
    places: Mapping[str, int],
) -> Iterator[tuple[int, _SlotPlace]]:
    """Yield the slots in lists that run parallel to the list of the model's variables.

    A list with a name that Keras does not use holds slots only if shapes agree and the items are in
    the optimizer's `_variables`. Keras' own lists may hold more: Adafactor's factors of vectors, if
    the optimizer was built inside a loss scale wrapper.
    """
    own, foreign = set(optimizer.own), {variable.node_id for variable in trained}
    for list_name, items in optimizer.lists.items():
        name = SLOT_NAMES.get(list_name)
        for child in items:
            place = places.get(child.local_name)
            if place is None or child.node_id in foreign:
                continue
            if name is not None:
                yield child.node_id, (name, place, SlotRule.LIST_INDEX)
            elif child.node_id in own and shape_of(nodes, child.node_id) == trained[place].shape:
                guess = list_name.strip("_").removesuffix("s")
                yield child.node_id, (guess, place, SlotRule.LIST_INDEX)


def _entries(
    nodes: Sequence[Node],
    optimizer: KerasOptimizer,
    trained: Sequence[_Trained],
    slots: Mapping[int, _SlotPlace],
) -> list[_Entry]:
    """Return the optimizer's own variables in their order, with their names taken apart.

    Keras names a slot `{optimizer}/{path of the variable, slashes replaced}_{suffix}`, and some
    only `{optimizer}/{suffix}`. The suffixes of lists whose indices gave no answer are known. Any
    other suffix is the part after the name of one of the variables.
    """
    silent = {
        SLOT_NAMES[name]
        for name, items in optimizer.lists.items()
        if name in SLOT_NAMES
        and name not in FACTORS
        and not any(child.node_id in slots for child in items)
    }
    known = sorted(silent, key=len, reverse=True)  # one can be the end of another
    stems = set() if is_adafactor(optimizer) else {variable.stem for variable in trained}
    entries = []
    for node_id in optimizer.own:
        base = full_name_of(nodes, node_id).rpartition("/")[2]
        suffixes = [slots[node_id][0]] if node_id in slots else known
        stem, suffix = _cut(base, suffixes, stems)
        entries.append(_Entry(node_id, stem, suffix, shape_of(nodes, node_id)))
    return entries


def _cut(base: str, suffixes: Sequence[str], stems: Collection[str]) -> tuple[str, str]:
    """Return stem and suffix of a slot's name; no suffix if neither is known.

    >>> _cut("model_dense_kernel_momentum", ["momentum"], set())
    ('model_dense_kernel', 'momentum')
    >>> _cut("accumulator", ["accumulator"], set())
    ('', 'accumulator')
    >>> _cut("dense_kernel_my_state", ["momentum"], {"dense_kernel"})
    ('dense_kernel', 'my_state')
    """
    if base in suffixes:
        return "", base
    for suffix in suffixes:
        if base.endswith("_" + suffix):
            return base[: -len(suffix) - 1], suffix
    stem = base
    for _ in range(_MAX_WORDS):
        stem = stem.rpartition("_")[0]
        if stem and stem in stems:
            return stem, base[len(stem) + 1 :]
    return base, ""


def _by_name_and_order(
    optimizer: KerasOptimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    slots: Mapping[int, _SlotPlace],
) -> Iterator[tuple[int, _SlotPlace]]:
    """Yield the slots for which names, shapes and order leave one variable each.

    Keras makes the slots of one suffix in the order of the variables. The rule fits them into that
    order from the front and from the back. If both ways lead to the same variable, no other is
    possible. Equal full names are common: the full names of a subclassed model's variables lack the
    layers' names. A suffix that Keras does not use counts only after a full name that no two
    variables share.
    """
    by_stem = _unique((variable.stem, place) for place, variable in enumerate(trained))

    def fits(entry: _Entry, place: int) -> bool:
        named, variable = by_stem.get(entry.stem), trained[place]
        return entry.shape == variable.shape and (
            _ends_in(entry.stem, variable.name) if named is None else place == named
        )

    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        if entry.node_id in slots or not entry.suffix:
            continue
        if entry.suffix in _SUFFIXES:
            groups.setdefault(entry.suffix, []).append(entry)
        elif entry.stem in by_stem and fits(entry, by_stem[entry.stem]):
            yield entry.node_id, (entry.suffix, by_stem[entry.stem], SlotRule.FULL_NAME)
    for suffix, group in groups.items():
        for entry, place in only_places(group, len(trained), fits):
            named = by_stem.get(entry.stem) == place
            rule = SlotRule.FULL_NAME if named else SlotRule.ORDER
            yield entry.node_id, (suffix, place, rule)


def only_places(
    items: Sequence[_T],
    count: int,
    fits: Callable[[_T, int], bool],
    size: Callable[[_T], int] = lambda item: 1,
) -> Iterator[tuple[_T, int]]:
    """Yield the items that have only one possible place if all keep their order.

    An item takes as many places as its `size`; its place is the first of them.

    >>> list(only_places("bd", 4, lambda item, place: item == "abcd"[place]))
    [('b', 1), ('d', 3)]
    >>> list(only_places("bd", 4, lambda item, place: item == "bbbd"[place]))
    [('d', 3)]
    >>> list(only_places(["ab", "a"], 3, lambda item, place: "aba".startswith(item, place), len))
    [('ab', 0), ('a', 2)]
    """
    first, last, start, end = list[int](), list[int](), 0, count
    for item in items:
        place = next((p for p in range(start, count) if fits(item, p)), None)
        if place is None:
            return
        first.append(place)
        start = place + size(item)
    for item in reversed(items):
        end = next((p for p in range(end - size(item), -1, -1) if fits(item, p)), 0)
        last.append(end)
    for item, place, other in zip(items, first, reversed(last), strict=True):
        if place == other:
            yield item, place


def _ends_in(stem: str, name: str) -> bool:
    """Return whether the last word of a variable's full name ends the stem.

    A stem without words proves nothing. A plain `tf.Variable` has a `_0` after its stem.
    """
    return not stem or any(
        stem == ending or (stem.endswith(ending) and stem[-len(ending) - 1] == "_")
        for ending in (name, f"{name}_0")
    )


def _by_sibling(
    optimizer: KerasOptimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    slots: Mapping[int, _SlotPlace],
) -> Iterator[tuple[int, _SlotPlace]]:
    """Yield the slots that share the stem of a slot already found.

    Muon makes velocities for some variables only. A suffix that every variable has shows which
    variable a stem means.
    """
    counts = Counter(name for name, _, _ in slots.values())
    named = {
        (entry.stem, slots[entry.node_id][1])
        for entry in entries
        if entry.node_id in slots and counts[slots[entry.node_id][0]] == len(trained)
    }
    places = _unique(named)
    taken = {(name, place) for name, place, _ in slots.values()}
    for entry in entries:
        place = places.get(entry.stem)
        if (
            place is not None
            and entry.suffix
            and entry.node_id not in slots
            and entry.shape == trained[place].shape
            and (entry.suffix, place) not in taken
        ):
            taken.add((entry.suffix, place))
            yield entry.node_id, (entry.suffix, place, SlotRule.ORDER)


def _by_position(
    optimizer: KerasOptimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    slots: Mapping[int, _SlotPlace],
) -> Iterator[tuple[int, _SlotPlace]]:
    """Yield the factors of Adafactor, whose names hold only the last word of the variable's name.

    They come in pairs, in the order of the variables, with the shapes of rows and columns. Each
    pair comes before its moment, if it has one.
    """
    rest = [at for at, entry in enumerate(entries) if entry.node_id not in slots]
    rows, columns = rest[::2], rest[1::2]
    if not is_adafactor(optimizer) or columns != [row + 1 for row in rows]:
        return

    def moment_of(row: int) -> int | None:
        slot = slots.get(entries[row + 2].node_id) if row + 2 < len(entries) else None
        return slot[1] if slot is not None and slot[0] == SLOT_NAMES[FACTORED] else None

    def fits(row: int, place: int) -> bool:
        first, second, variable = entries[row], entries[row + 1], trained[place]
        return (
            moment_of(row) in (None, place)
            and first.stem == second.stem == variable.name
            and variable.shape is not None
            and (first.shape, second.shape) == factor_shapes(variable.shape)
        )

    for row, place in only_places(rows, len(trained), fits):
        rule = SlotRule.ORDER if moment_of(row) is None else SlotRule.POSITION
        yield entries[row].node_id, ("r", place, rule)
        yield entries[row + 1].node_id, ("c", place, rule)


def _unique(pairs: Iterable[tuple[_K, int]]) -> dict[_K, int]:
    """Return the pairs whose key occurs once."""
    values: dict[_K, int] = {}
    several: set[_K] = set()
    for key, value in pairs:
        if key in values:
            several.add(key)
        values[key] = value
    return {key: value for key, value in values.items() if key not in several}
