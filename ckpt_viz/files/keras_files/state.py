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

from ckpt_viz.files.keras_files.orders import TrainingOrder
from ckpt_viz.files.keras_files.training_order import (
    Shape,
    Trained,
)
from ckpt_viz.graphs.nodes.nodes import Slot, SlotRule
from ckpt_viz.graphs.slots.optimizer_table import (
    ROWS,
    Generation,
    OptimizerRow,
    groups_of,
    slot_names_of,
)

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


class OwnVariable(NamedTuple):
    """A variable of an optimizer; `name` is its name in the file, or ""."""

    node: int
    name: str
    shape: Shape


class Slots(NamedTuple):
    """The slots among an optimizer's variables by node id, and the variables that may be several.

    The first variables of `unsettled` have an owner, but the file does not tell which.
    """

    by_node: dict[int, Slot]
    unsettled: Sequence[int] = ()


class _StateOf(NamedTuple):
    slot_name: str
    trained: Trained | None


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
    >>> [row.name for row in rows_of("adam_w")]
    ['AdamW', 'AdamW']
    """
    words = (class_name or "").lower().rstrip("0123456789").replace("_", "")
    return tuple(row for row in ROWS if row.generation in generations and row.name.lower() == words)


def slots_of(
    optimizer: int,
    states: Sequence[OwnVariable],
    order: TrainingOrder,
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None = None,
) -> Slots:
    """Return the slots among an optimizer's variables.

    Args:
        optimizer: The optimizer's node.
        states: Its variables, in their order.
        order: The variables of the model that it may train.
        rows: What its class may be.
        options: The options that it has, None if the file does not tell.
    """
    trained = [*order.variables()]
    by_name = dict(_by_name(optimizer, states, trained))
    if by_name or not trained:
        return Slots(by_name)
    is_plain = all(row.is_plain for row in rows)
    placed = _by_order(states, len(trained), order, rows, options) if is_plain else {}
    slots = {
        node: Slot(place.slot_name, place.trained.node, optimizer, SlotRule.ORDER)
        for node, place in placed.items()
        if place is not None and place.trained is not None
    }
    if not slots and not order.is_known:
        slots = dict(_by_shape(optimizer, states, trained))
    return Slots(slots, [node for node in placed if node not in slots])


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
    states: Sequence[OwnVariable],
    number: int,
    order: TrainingOrder,
    rows: Sequence[OptimizerRow],
    options: frozenset[str] | None,
) -> dict[int, _StateOf | None]:
    """Return for each state the place that all orders agree on; nothing if no order fits."""
    scalars = next((i for i, state in enumerate(states) if state.shape), len(states))
    own = max((len(row.own) for row in rows), default=0)  # come last, as scalars
    if own and not any(state.shape for state in states[-own:]):
        states = states[:-own]
    for start in range(min(scalars, _MOST_SCALARS), -1, -1):
        rest = states[start:]
        every, remainder = divmod(len(rest), number)
        whole = [] if remainder else [(every, False)]
        # If only some variables have slots, the file does not tell which are frozen.
        some = [(n, True) for n in range(every + 1, _MOST_SLOTS + 1) if not len(rest) % n]
        for count, skips in (*whole, *some):
            layouts = _known_layouts(rows, options, count)
            if not layouts and skips and rows:
                continue
            layouts = layouts or [_unknown_layouts(count)]
            places = _agreed(_placings(rest, count, order, layouts, skips=skips))
            if any(place and (place.trained or not skips) for place in places):
                return {state.node: place for state, place in zip(rest, places, strict=True)}
    return {}


def _placings(
    states: Sequence[OwnVariable],
    count: int,
    order: TrainingOrder,
    layouts: Sequence[set[_Layout]],
    *,
    skips: bool,
) -> Sequence[list[_StateOf]]:
    """Return the possible places of these variables if each trained one has so many slots.

    The first set of layouts counts that permits any.
    """
    placings = ([*_of_layouts(sorted(among), states, count, order, skips)] for among in layouts)
    return next(filter(None, placings), [])


def _of_layouts(
    layouts: Sequence[_Layout],
    states: Sequence[OwnVariable],
    count: int,
    order: TrainingOrder,
    skips: bool,
) -> Iterator[list[_StateOf]]:
    number = len(states) // count if 0 < count <= _MOST_SLOTS else 0
    for layout in layouts if number else ():
        named = [(name, at) for group in layout for at in range(number) for name in group]
        shapes: dict[int, Shape] = {}
        if all(
            shapes.setdefault(at, state.shape) == state.shape
            for (_, at), state in zip(named, states, strict=True)
        ):
            for variables in order.of_shapes([shapes[at] for at in range(number)], skips=skips):
                yield [_StateOf(name, variables[at]) for name, at in named]


_Layout = tuple[tuple[str, ...], ...]
"""The names of slots that are made together, group by group."""


def _known_layouts(
    rows: Sequence[OptimizerRow], options: frozenset[str] | None, count: int
) -> list[set[_Layout]]:
    """Return the layouts with so many slots of one variable that the options permit.

    If the file does not tell the options, those that every class has are less likely: a layout with
    fewer of them comes in an earlier set.
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
    ranks = sorted(set(layouts.values()))
    return [{layout for layout, general in layouts.items() if general == rank} for rank in ranks]


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
        *({(names[:-1], names[-1:]), (names[:1], names[1:])} if count > 1 else ()),
    }


def _unknown(number: int) -> str:
    return f"{_UNNAMED}_{number}"


def _agreed(placings: Sequence[list[_StateOf]]) -> list[_StateOf | None]:
    """Return for each state the place that all orders agree on; other names become "state"."""
    agreed: list[_StateOf | None] = []
    for places in placings:
        agreed = agreed or list(places)
        for i, (first, other) in enumerate(zip(agreed, places, strict=True)):
            if first is not None and first != other:
                is_same = first.trained == other.trained
                agreed[i] = _StateOf(_UNNAMED, first.trained) if is_same else None
    return agreed
