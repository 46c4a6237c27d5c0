"""Whose state each variable of an optimizer is, in files that say it by names or by order alone.

Keras writes the variables of an optimizer in the order in which the optimizer makes them: counters
and rates, then slots. A group of slots is made variable by variable, what an option adds is made
for all variables at once (`optimizer_table.groups_of`). In `.h5` files the names tell more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, groupby
from operator import attrgetter
from typing import NamedTuple

from ckpt_viz.object_graph.keras_3_slots import only_places
from ckpt_viz.object_graph.nodes import Slot, SlotRule
from ckpt_viz.object_graph.optimizer_table import (
    ROWS,
    Generation,
    OptimizerRow,
    groups_of,
    slot_names_of,
)

Shape = tuple[int, ...]
_MOST_SCALARS = 4  # counters and rates before the slots
_UNNAMED = "state"
_MOST_SLOTS = 6  # of one variable
_MOST_SPLITS = 8  # parts of a name that may be the variable's
_GENERATIONS = (Generation.KERAS_3, Generation.KERAS_2, Generation.LEGACY)
_SLOT_NAMES = frozenset().union(*map(slot_names_of, _GENERATIONS))

_NEVER_TRAINED = (
    "moving_",
    "renorm_",
    "seed_generator_state",
    "vector_u",
    "count",
    "mean",
    "variance",
)


class Trained(NamedTuple):
    """A variable that an optimizer may train; `name` is the variable's name in the file, or ""."""

    node: int
    name: str
    shape: Shape


class OwnVariable(NamedTuple):
    """A variable of an optimizer; `name` is its name in the file, or ""."""

    node: int
    name: str
    shape: Shape


class _StateOf(NamedTuple):
    slot_name: str
    trained: int


def is_unnamed(slot_name: str) -> bool:
    """Return whether a slot has a number for a name, because the file does not tell its class."""
    return slot_name.startswith(_UNNAMED)


def is_trained(name: str) -> bool:
    """Return whether an optimizer may train a layer's variable of this name."""
    return not name.startswith(_NEVER_TRAINED)


def rows_of(
    class_name: str | None, generations: Sequence[Generation] = _GENERATIONS
) -> tuple[OptimizerRow, ...]:
    """Return the rows of an optimizer's class or default name.

    >>> [row.generation.value for row in rows_of("adam_1")]
    ['Keras 3', 'Keras 2.11+', 'legacy Keras']
    """
    words = (class_name or "").lower().rstrip("0123456789").rstrip("_")
    return tuple(row for row in ROWS if row.generation in generations and row.name.lower() == words)


def slots_of(
    optimizer: int,
    states: Sequence[OwnVariable],
    trained: Sequence[Trained],
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None = None,
    *,
    is_ordered: bool = True,
) -> dict[int, Slot]:
    """Return the slots among an optimizer's variables by node id.

    Args:
        optimizer: The optimizer's node.
        states: Its variables, in their order.
        trained: The variables of the model that it may train, in their order.
        rows: What its class may be.
        options: The options that it has, None if the file does not tell.
        is_ordered: Whether the model has its variables in the same order.
    """
    slots = dict(_by_name(optimizer, states, trained))
    if slots:
        return slots
    if is_ordered:
        return dict(_by_order(optimizer, states, trained, rows, options))
    return dict(_by_shape(optimizer, states, trained))


# --- by names


def _by_name(
    optimizer: int, states: Sequence[OwnVariable], trained: Sequence[Trained]
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots whose names contain the name of a variable of the same shape."""
    named = {variable.name: variable for variable in trained if variable.name}
    flat = {name.replace("/", "_"): variable for name, variable in named.items()}
    for state in states:
        for slot_name, name in _readings(state.name):
            variable = named.get(name) or flat.get(name)
            if variable is not None and variable.shape == state.shape:
                yield state.node, Slot(slot_name, variable.node, optimizer, SlotRule.FULL_NAME)
                break


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """Yield the slot and the variable that a name may mean, the longest name of a variable first.

    >>> list(_readings("Adam/m/hidden/kernel"))[:2]
    [('Adam', 'm/hidden/kernel'), ('m', 'hidden/kernel')]
    >>> list(_readings("training/Adam/hidden/kernel/m"))[-3]
    ('m', 'Adam/hidden/kernel')
    >>> list(_readings("adam/hidden_kernel_momentum"))[-1]
    ('momentum', 'hidden_kernel')
    """
    parts = name.split("/")
    for start in range(1, min(len(parts), _MOST_SPLITS)):  # Keras 2.11+
        yield parts[start - 1], "/".join(parts[start:])
    slot_name = parts[-1].rpartition("_")[0] if parts[-1][-1:].isdecimal() else parts[-1]
    for start in range(min(len(parts) - 1, _MOST_SPLITS)):  # legacy
        yield slot_name or parts[-1], "/".join(parts[start:-1])
    for known in _SLOT_NAMES:  # Keras 3
        if parts[-1].endswith(f"_{known}"):
            yield known, parts[-1].removesuffix(f"_{known}")


# --- by shape


def _by_shape(
    optimizer: int, states: Sequence[OwnVariable], trained: Sequence[Trained]
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots that have the shape of one variable alone, if all follow one another."""
    by_shape: dict[Shape, list[Trained]] = {}
    for variable in trained:
        by_shape.setdefault(variable.shape, []).append(variable)
    for shape, run in groupby(states, attrgetter("shape")):
        alike = by_shape.pop(shape, [])
        if shape and len(alike) == 1:
            for number, state in enumerate(run):
                name = _unknown(number)
                yield state.node, Slot(name, alike[0].node, optimizer, SlotRule.ORDER)


# --- by order


def _by_order(
    optimizer: int,
    states: Sequence[OwnVariable],
    trained: Sequence[Trained],
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None,
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots if every order that the shapes permit leads to the same variables."""
    if not trained or not all(row.is_plain for row in rows):
        return
    scalars = next((i for i, state in enumerate(states) if state.shape), len(states))
    own = max((len(row.own) for row in rows), default=0)  # come last, as scalars
    if own and not any(state.shape for state in states[-own:]):
        states = states[:-own]
    # Keras before 2.1 sorts the variables that it trains by their names.
    orders = {tuple(range(len(trained))), tuple(_by_file_name(trained))}
    for start in range(min(scalars, _MOST_SCALARS), -1, -1):
        rest = states[start:]
        placings = chain.from_iterable(
            _placings(rest, trained, order, rows, options) for order in sorted(orders)
        )
        places = _agreed(placings) or _of_some(rest, trained, rows, options)
        if places:
            for state, place in zip(rest, places, strict=True):
                if place is not None:
                    node = trained[place.trained].node
                    yield state.node, Slot(place.slot_name, node, optimizer, SlotRule.ORDER)
            return


def _by_file_name(trained: Sequence[Trained]) -> list[int]:
    return sorted(range(len(trained)), key=lambda at: trained[at].name)


def _placings(
    states: Sequence[OwnVariable],
    trained: Sequence[Trained],
    order: Sequence[int],
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None,
) -> Iterator[list[_StateOf]]:
    """Yield the possible orders of slots that have the shapes of these variables."""
    count, remainder = divmod(len(states), len(trained))
    if remainder or not 0 < count <= _MOST_SLOTS:
        return
    for layout in sorted(_known_layouts(rows, options, count) or _unknown_layouts(count)):
        places = [_StateOf(name, at) for group in layout for at in order for name in group]
        if all(
            state.shape == trained[place.trained].shape
            for state, place in zip(states, places, strict=True)
        ):
            yield places


_Layout = tuple[tuple[str, ...], ...]
"""The names of slots that are made together, group by group."""


def _known_layouts(
    rows: Sequence[OptimizerRow], options: frozenset[str] | None, count: int
) -> set[_Layout]:
    """Return the layouts with so many slots of one variable that the options permit.

    If the file does not tell the options, those that every class has are less likely.
    """
    layouts: dict[_Layout, int] = {}
    for row in rows:
        own = {slot.option for slot in row.slots}
        known = sorted(row.options)
        subsets = chain.from_iterable(combinations(known, size) for size in range(len(known) + 1))
        for subset in subsets if options is None else [_given(row, options)]:
            layout = _layout(row, subset)
            if sum(map(len, layout)) == count:
                general = len(set(subset) - own)
                layouts[layout] = min(general, layouts.get(layout, general))
    least = min(layouts.values(), default=0)
    return {layout for layout, general in layouts.items() if general == least}


def _layout(row: OptimizerRow, options: Sequence[str]) -> _Layout:
    groups = [tuple(slot.name for slot in group) for group in groups_of(row, options)]
    if row.generation is Generation.LEGACY:  # made slot by slot
        groups = [(name,) for group in groups for name in group]
    return tuple(groups)


def _given(row: OptimizerRow, options: frozenset[str]) -> tuple[str, ...]:
    """Return the options of a class that its configuration turns on; attributes may have a `_`."""
    return tuple(sorted(option for option in row.options if option.lstrip("_") in options))


def _unknown_layouts(count: int) -> set[_Layout]:
    names = tuple(map(_unknown, range(count)))
    return {
        (names,),
        tuple((name,) for name in names),
        *({(names[:-1], names[-1:])} if count > 1 else ()),
    }


def _unknown(number: int) -> str:
    return f"{_UNNAMED}_{number}"


def _agreed(placings: Iterator[list[_StateOf]]) -> list[_StateOf | None]:
    """Return for each state the place that all orders agree on; other names become "state"."""
    agreed: list[_StateOf | None] = []
    for places in placings:
        agreed = agreed or list(places)
        for i, (first, other) in enumerate(zip(agreed, places, strict=True)):
            if first is not None and first != other:
                is_same = first.trained == other.trained
                agreed[i] = _StateOf(_UNNAMED, first.trained) if is_same else None
    return agreed


def _of_some(
    states: Sequence[OwnVariable],
    trained: Sequence[Trained],
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None,
) -> list[_StateOf | None]:
    """Return places if only some variables have slots: the file does not tell which are frozen."""
    for count in range(1, _MOST_SLOTS + 1):
        runs = [states[i : i + count] for i in range(0, len(states), count)]
        if len(states) % count or any(len({state.shape for state in run}) > 1 for run in runs):
            continue
        firsts = [run[0].shape for run in runs]
        placed = dict(_embedded(firsts, [variable.shape for variable in trained]))
        if placed:
            names = _names_of_one_group(rows, options, count)
            return [
                _StateOf(names[i % count], placed[i // count]) if i // count in placed else None
                for i in range(len(states))
            ]
    return []


def _names_of_one_group(
    rows: Sequence[OptimizerRow], options: frozenset[str] | None, count: int
) -> tuple[str, ...]:
    """Return the names of slots that are made variable by variable."""
    groups = [layout[0] for layout in _known_layouts(rows, options, count) if len(layout) == 1]
    return groups[0] if len(groups) == 1 else tuple(map(_unknown, range(count)))


def _embedded(shapes: Sequence[Shape], among: Sequence[Shape]) -> Iterator[tuple[int, int]]:
    """Yield the places of shapes among others, if their order permits one place alone."""
    yield from only_places(
        range(len(shapes)), len(among), lambda number, at: shapes[number] == among[at]
    )
