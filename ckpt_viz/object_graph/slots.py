"""Slots: which variable of an optimizer belongs to which variable of the model.

TensorFlow 1 and Keras 2 optimizers declare it in the graph. Newer ones do not: Keras 3 and
the new optimizers of Keras 2 hold their slot variables in lists, and what belongs together
shows in the lists, the full names, the order and the shapes. Every rule here demands that
these leave one answer; what has two stays an ordinary variable. `docs/object_graph.md`
describes the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ckpt_viz.object_graph.nodes import Child, Node, Slot, SlotRule, is_variable

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")
_Shape = tuple[int, ...] | None

# The lists in which Keras 3 optimizers keep slot variables, and the suffix that Keras gives
# the full names of the variables in them (keras/src/optimizers).
_SLOT_NAMES = {
    "_accumulated_delta_vars": "accumulated_delta_var",
    "_accumulated_gradients": "gradient_accumulator",
    "_accumulated_grads": "accumulated_grad",
    "_accumulators": "accumulator",
    "_average_gradients": "average_gradient",
    "_c": "c",
    "_linears": "linear",
    "_m": "momentum",
    "_model_variables_moving_average": "average",
    "_momentums": "momentum",
    "_r": "r",
    "_u": "norm",
    "_v": "velocity",
    "_velocities": "velocity",
    "_velocity_hats": "velocity_hat",
    "adam_momentums": "momentum",
    "adam_velocities": "velocity",
    "momentums": "momentum",
}
_SUFFIXES = frozenset(_SLOT_NAMES.values())
# Adafactor's lists: row and column factors of a second moment, and the moment itself.
_FACTORS = ("_r", "_c")
_FACTORED = "_v"

# What the new optimizers of Keras 2 call their slots, in front of the variable's full name.
_KERAS_2_SLOT_NAMES = frozenset(
    {
        "accumulated_delta_var",
        "accumulated_grad",
        "accumulator",
        "average",
        "average_gradient",
        "c",
        "linear",
        "m",
        "momentum",
        "r",
        "u",
        "v",
        "velocity",
        "vhat",
    }
)
# Names are cut at so few places only, so that hostile ones cost no more than their length.
_MAX_SCOPES = 3  # of `scope/Adam/m/dense/kernel`
_MAX_WORDS = 4  # of `dense_kernel_a_suffix_of_words`


@dataclass(frozen=True, slots=True)
class _Optimizer:
    """What a Keras optimizer tracks.

    `own` are the variables of `_variables` that may be slots: neither the model's nor
    tracked under a name of their own, as rates and counters are. `trainable` are the model's
    variables in the optimizer's order; None where it does not track them, as in Keras 2.
    """

    node_id: int
    own: tuple[int, ...]
    trainable: tuple[Child, ...] | None
    lists: Mapping[str, tuple[Child, ...]]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A variable of a Keras 3 optimizer whose full name ends in `{stem}_{suffix}`."""

    node_id: int
    stem: str
    suffix: str
    shape: _Shape


@dataclass(frozen=True, slots=True)
class _Trained:
    """A variable that a Keras 3 optimizer trains; `stem` is its full name without slashes."""

    node_id: int
    stem: str
    name: str
    shape: _Shape


def find_slots(nodes: Sequence[Node]) -> dict[int, Slot]:
    """Return the slot of every slot variable by its node id; what the graph declares wins."""
    slots = _declared(nodes)
    optimizers = tuple(_keras_optimizers(nodes))
    for optimizer in optimizers:
        if optimizer.trainable is not None:
            for node_id, slot in _keras_3_slots(nodes, optimizer, optimizer.trainable):
                slots.setdefault(node_id, slot)
    keras_2 = [optimizer for optimizer in optimizers if optimizer.trainable is None]
    if keras_2:
        variables = _other_variables(nodes, slots, optimizers)
        for optimizer in keras_2:
            for node_id, slot in _keras_2_slots(nodes, optimizer, variables):
                slots.setdefault(node_id, slot)
    return slots


def is_keras_optimizer(nodes: Sequence[Node], node: Node) -> bool:
    """Return whether this is an optimizer of Keras 3, or a new one of Keras 2 (2.11 on).

    Such an optimizer tracks its `_variables`, and its iterations are the first of them.
    """
    for child in node.children:
        if child.local_name == "_variables":
            first = nodes[child.node_id].children[:1]
            return any(
                c.local_name in ("_iterations", "iterations") and c.node_id == first[0].node_id
                for c in node.children
                if first
            )
    return False


def _declared(nodes: Sequence[Node]) -> dict[int, Slot]:
    slots: dict[int, Slot] = {}
    for optimizer, node in enumerate(nodes):
        for slot in node.slot_variables:
            if is_variable(nodes[slot.slot_variable].attributes):
                slots.setdefault(
                    slot.slot_variable,
                    Slot(slot.slot_name, slot.variable, optimizer, SlotRule.DECLARED),
                )
    return slots


def _keras_optimizers(nodes: Sequence[Node]) -> Iterator[_Optimizer]:
    # A list belongs to one optimizer: reading it again for each of many would be quadratic.
    taken: set[int] = set()
    for node_id, node in enumerate(nodes):
        if not is_keras_optimizer(nodes, node):
            continue
        lists: dict[str, tuple[Child, ...]] = {}
        for child in node.children:
            held = nodes[child.node_id]
            if child.node_id not in taken and not held.attributes:
                taken.add(child.node_id)
                lists[child.local_name] = tuple(
                    item
                    for item in held.children
                    if item.local_name.isdecimal() and is_variable(nodes[item.node_id].attributes)
                )
        variables, trainable = lists.pop("_variables", ()), lists.pop("_trainable_variables", None)
        foreign = {child.node_id for child in (*node.children, *(trainable or ()))}
        own = tuple(c.node_id for c in variables if c.node_id not in foreign)
        yield _Optimizer(node_id, own, trainable, lists)


# Keras 3 -------------------------------------------------------------------------------


def _keras_3_slots(
    nodes: Sequence[Node], optimizer: _Optimizer, trainable: Sequence[Child]
) -> Iterator[tuple[int, Slot]]:
    trained = [_trained(nodes, child.node_id) for child in trainable]
    places = {child.local_name: place for place, child in enumerate(trainable)}
    found = dict(_by_list_index(nodes, optimizer, trained, places))
    entries = _entries(nodes, optimizer, trained, found)
    for resolve in (_by_name_and_order, _by_sibling, _by_position):
        for node_id, slot in resolve(optimizer, entries, trained, found):
            found.setdefault(node_id, slot)
    for node_id, (name, place, rule) in found.items():
        yield node_id, Slot(name, trained[place].node_id, optimizer.node_id, rule)


_Found = tuple[str, int, SlotRule]  # slot name, place among the trained variables, rule


def _trained(nodes: Sequence[Node], node_id: int) -> _Trained:
    full_name, shape = _full_name(nodes, node_id), _shape(nodes, node_id)
    return _Trained(node_id, full_name.replace("/", "_"), full_name.rpartition("/")[2], shape)


def _by_list_index(
    nodes: Sequence[Node],
    optimizer: _Optimizer,
    trained: Sequence[_Trained],
    places: Mapping[str, int],
) -> Iterator[tuple[int, _Found]]:
    """Yield the slots in lists that run parallel to the list of the model's variables.

    A list of a name that Keras does not use holds slots only where shapes agree and the
    items are `_variables` of the optimizer. Keras' own lists hold more: Adafactor's factors
    of vectors, when it was built inside a loss scale wrapper.
    """
    own, foreign = set(optimizer.own), {variable.node_id for variable in trained}
    for list_name, items in optimizer.lists.items():
        name = _SLOT_NAMES.get(list_name)
        for child in items:
            place = places.get(child.local_name)
            if place is None or child.node_id in foreign:
                continue
            if name is not None:
                yield child.node_id, (name, place, SlotRule.LIST_INDEX)
            elif child.node_id in own and _shape(nodes, child.node_id) == trained[place].shape:
                guess = list_name.strip("_").removesuffix("s")
                yield child.node_id, (guess, place, SlotRule.LIST_INDEX)


def _entries(
    nodes: Sequence[Node],
    optimizer: _Optimizer,
    trained: Sequence[_Trained],
    found: Mapping[int, _Found],
) -> list[_Entry]:
    """Return the optimizer's own variables in their order, names taken apart.

    Keras names a slot `{optimizer}/{path of the variable, slashes replaced}_{suffix}`, and
    some only `{optimizer}/{suffix}`. The suffix of a list that told nothing by its indices is
    known; another suffix is what follows the name of one of the variables.
    """
    silent = {
        _SLOT_NAMES[name]
        for name, items in optimizer.lists.items()
        if name in _SLOT_NAMES
        and name not in _FACTORS
        and not any(child.node_id in found for child in items)
    }
    known = sorted(silent, key=len, reverse=True)  # one can be the end of another
    stems = set() if _is_adafactor(optimizer) else {variable.stem for variable in trained}
    entries = []
    for node_id in optimizer.own:
        base = _full_name(nodes, node_id).rpartition("/")[2]
        suffixes = [found[node_id][0]] if node_id in found else known
        stem, suffix = _cut(base, suffixes, stems)
        entries.append(_Entry(node_id, stem, suffix, _shape(nodes, node_id)))
    return entries


def _cut(base: str, suffixes: Sequence[str], stems: Collection[str]) -> tuple[str, str]:
    """Return stem and suffix of a slot's name; no suffix where neither is known.

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
    optimizer: _Optimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    found: Mapping[int, _Found],
) -> Iterator[tuple[int, _Found]]:
    """Yield the slots whose names, shapes and order leave one variable each.

    Keras makes the slots of one suffix in the order of the variables. So they fit into that
    order from the front and from the back, and where both ways lead to the same variable no
    other is possible. Equal full names are common: Keras leaves the layers' names out of the
    full names of a subclassed model's variables. A suffix that Keras does not use counts
    only after a full name that no two variables share.
    """
    by_stem = _unique((variable.stem, place) for place, variable in enumerate(trained))

    def fits(entry: _Entry, place: int) -> bool:
        named, variable = by_stem.get(entry.stem), trained[place]
        return entry.shape == variable.shape and (
            _ends_in(entry.stem, variable.name) if named is None else place == named
        )

    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        if entry.node_id in found or not entry.suffix:
            continue
        if entry.suffix in _SUFFIXES:
            groups.setdefault(entry.suffix, []).append(entry)
        elif entry.stem in by_stem and fits(entry, by_stem[entry.stem]):
            yield entry.node_id, (entry.suffix, by_stem[entry.stem], SlotRule.FULL_NAME)
    for suffix, group in groups.items():
        for entry, place in _only_places(group, len(trained), fits):
            named = by_stem.get(entry.stem) == place
            rule = SlotRule.FULL_NAME if named else SlotRule.ORDER
            yield entry.node_id, (suffix, place, rule)


def _only_places(
    items: Sequence[_T], count: int, fits: Callable[[_T, int], bool]
) -> Iterator[tuple[_T, int]]:
    """Yield the items that have one place among so many if all keep their order.

    >>> list(_only_places("bd", 4, lambda item, place: item == "abcd"[place]))
    [('b', 1), ('d', 3)]
    >>> list(_only_places("bd", 4, lambda item, place: item == "bbbd"[place]))
    [('d', 3)]
    """
    first = _first_fit(items, range(count), fits)
    last = _first_fit(items[::-1], range(count)[::-1], fits)
    if first is not None and last is not None:
        for item, one, other in zip(items, first, reversed(last), strict=True):
            if one == other:
                yield item, one


def _first_fit(
    items: Sequence[_T], places: range, fits: Callable[[_T, int], bool]
) -> list[int] | None:
    """Return for each item the first place after the last item's that it fits; None if none."""
    found: list[int] = []
    remaining = iter(places)
    for item in items:
        place = next((place for place in remaining if fits(item, place)), None)
        if place is None:
            return None
        found.append(place)
    return found


def _ends_in(stem: str, name: str) -> bool:
    """Return whether the last word of a variable's full name ends the stem.

    A stem without words says nothing; that of a plain `tf.Variable` has a `_0` behind it.
    """
    return not stem or any(
        stem == ending or (stem.endswith(ending) and stem[-len(ending) - 1] == "_")
        for ending in (name, f"{name}_0")
    )


def _by_sibling(
    optimizer: _Optimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    found: Mapping[int, _Found],
) -> Iterator[tuple[int, _Found]]:
    """Yield the slots that share the stem of a slot already found.

    Muon makes velocities for some variables only. A suffix that every variable has tells
    which variable a stem means.
    """
    counts = Counter(name for name, _, _ in found.values())
    named = {
        (entry.stem, found[entry.node_id][1])
        for entry in entries
        if entry.node_id in found and counts[found[entry.node_id][0]] == len(trained)
    }
    places = _unique(named)
    taken = {(name, place) for name, place, _ in found.values()}
    for entry in entries:
        place = places.get(entry.stem)
        if (
            place is not None
            and entry.suffix
            and entry.node_id not in found
            and entry.shape == trained[place].shape
            and (entry.suffix, place) not in taken
        ):
            taken.add((entry.suffix, place))
            yield entry.node_id, (entry.suffix, place, SlotRule.ORDER)


def _by_position(
    optimizer: _Optimizer,
    entries: Sequence[_Entry],
    trained: Sequence[_Trained],
    found: Mapping[int, _Found],
) -> Iterator[tuple[int, _Found]]:
    """Yield the factors of Adafactor, which have nothing but the last word of the variable's name.

    They come in pairs, in the order of the variables, with the shapes of rows and columns.
    Each pair stands before the moment that it is the factors of, if there is one.
    """
    rest = [at for at, entry in enumerate(entries) if entry.node_id not in found]
    rows, columns = rest[::2], rest[1::2]
    if not _is_adafactor(optimizer) or columns != [row + 1 for row in rows]:
        return

    def moment_of(row: int) -> int | None:
        slot = found.get(entries[row + 2].node_id) if row + 2 < len(entries) else None
        return slot[1] if slot is not None and slot[0] == _SLOT_NAMES[_FACTORED] else None

    def fits(row: int, place: int) -> bool:
        one, other, variable = entries[row], entries[row + 1], trained[place]
        return (
            moment_of(row) in (None, place)
            and one.stem == other.stem == variable.name
            and variable.shape is not None
            and (one.shape, other.shape) == _factor_shapes(variable.shape)
        )

    for row, place in _only_places(rows, len(trained), fits):
        rule = SlotRule.ORDER if moment_of(row) is None else SlotRule.POSITION
        yield entries[row].node_id, ("r", place, rule)
        yield entries[row + 1].node_id, ("c", place, rule)


def _factor_shapes(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of Adafactor's row and column factors; vectors are not factored.

    >>> _factor_shapes((5, 3, 2))
    ((5, 3), (5, 2))
    >>> _factor_shapes((3,))
    ((), ())
    """
    return (shape[:-1], (*shape[:-2], shape[-1])) if len(shape) > 1 else ((), ())


def _is_adafactor(optimizer: _Optimizer) -> bool:
    return all(name in optimizer.lists for name in (*_FACTORS, _FACTORED))


# Keras 2 -------------------------------------------------------------------------------


# The variables by full name and shape; None where several share both.
_Variables = Mapping[tuple[str, _Shape], int | None]


def _other_variables(
    nodes: Sequence[Node], slots: Mapping[int, Slot], optimizers: Sequence[_Optimizer]
) -> _Variables:
    """Return all variables of the graph but those of optimizers."""
    owned = set(slots)
    for optimizer in optimizers:
        owned.update(child.node_id for child in nodes[optimizer.node_id].children)
        owned.update(optimizer.own)
        if optimizer.trainable is None:
            owned.update(c.node_id for items in optimizer.lists.values() for c in items)
    by_name: dict[tuple[str, _Shape], int | None] = {}
    for node_id, node in enumerate(nodes):
        if node_id not in owned and is_variable(node.attributes):
            key = (node.attributes[0].full_name, node.attributes[0].shape)
            by_name[key] = None if key in by_name else node_id
    return by_name


def _keras_2_slots(
    nodes: Sequence[Node], optimizer: _Optimizer, variables: _Variables
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots of a new optimizer of Keras 2, which are named after their variable.

    Adafactor's factors have other shapes than their variable, and those of a vector are in
    no list but their own: they go with the moment at the same index.
    """
    factors = {name: optimizer.lists[name] for name in _FACTORS if _is_adafactor(optimizer)}
    listed = {
        child.node_id
        for name, items in optimizer.lists.items()
        if name not in factors
        for child in items
    }
    elsewhere = {child.node_id for items in factors.values() for child in items}
    found: dict[int, int] = {}
    for node_id in sorted(listed.union(optimizer.own) - elsewhere):
        slot = _named_slot(nodes, node_id, variables, is_listed=node_id in listed)
        if slot is not None:
            name, found[node_id] = slot
            yield node_id, Slot(name, found[node_id], optimizer.node_id, SlotRule.FULL_NAME)
    if factors:
        moments = {child.local_name: child.node_id for child in optimizer.lists[_FACTORED]}
        for list_name, items in factors.items():
            for child in items:
                variable = found.get(moments.get(child.local_name, -1))
                if variable is not None and _is_factor(nodes, child.node_id, variable):
                    name = _SLOT_NAMES[list_name]
                    factor = Slot(name, variable, optimizer.node_id, SlotRule.FULL_NAME)
                    yield child.node_id, factor


def _named_slot(
    nodes: Sequence[Node], node_id: int, variables: _Variables, *, is_listed: bool
) -> tuple[str, int] | None:
    """Return slot name and variable of a slot called `{optimizer}/{slot}/{full name}`.

    The optimizer's name is missing where it was built outside its name scope. A slot name
    that Keras does not use counts only in a list, where no counters are.
    """
    shape, rest = _shape(nodes, node_id), _full_name(nodes, node_id)
    readings: dict[str, int | None] = {}
    for _ in range(_MAX_SCOPES):
        name, slash, rest = rest.partition("/")
        if slash and (rest, shape) in variables:
            # Two readings with one slot name cannot both be right.
            readings[name] = None if name in readings else variables[rest, shape]
    known = {name: v for name, v in readings.items() if name in _KERAS_2_SLOT_NAMES}
    choices = known or (readings if is_listed else {})
    for name, variable in choices.items():
        if len(choices) == 1 and variable is not None:
            return name, variable
    return None


def _is_factor(nodes: Sequence[Node], factor: int, variable: int) -> bool:
    full_name, shape = _full_name(nodes, factor), _shape(nodes, variable)
    scope = full_name.removesuffix(_full_name(nodes, variable))
    return (
        scope != full_name
        and scope.endswith("/")
        and shape is not None
        and _shape(nodes, factor) in _factor_shapes(shape)
    )


def _full_name(nodes: Sequence[Node], variable: int) -> str:
    return nodes[variable].attributes[0].full_name


def _shape(nodes: Sequence[Node], variable: int) -> _Shape:
    return nodes[variable].attributes[0].shape


def _unique(pairs: Iterable[tuple[_K, int]]) -> dict[_K, int]:
    """Return the pairs whose key occurs once."""
    values: dict[_K, int] = {}
    several: set[_K] = set()
    for key, value in pairs:
        if key in values:
            several.add(key)
        values[key] = value
    return {key: value for key, value in values.items() if key not in several}
