"""What happened to optimizers: another class, other variables, another order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.files.keras_files.state import is_unnamed
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.keras_optimizers import trained_variables
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.changes.deeds import Act, Deed
from ckpt_viz.matching.correspondence.optimizer_classes import OptimizerSlots, shared_slots
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.name_rules.migrations import local_name

OTHER_VERSION = "is of another version of Keras"
# Slots that an optimizer keeps if a person sets use_ema or amsgrad.
_OF_SETTING = {
    "average": "averages the variables",
    **dict.fromkeys(("velocity_hat", "v_hat", "vhat"), "uses amsgrad"),
}
OTHER_ORDER = "trains its variables in another order"
ALSO_TRAINS = "also trains"  # of variables that it did not train
NEWLY_TRAINS = "is new and trains"  # of a new optimizer that got variables of another one


@dataclass(frozen=True)
class OptimizerChange:
    """An optimizer that has become another one, with all of its state."""

    nodes: tuple[int, ...]
    objects: tuple[int, ...]
    deed: Deed


class _Difference(NamedTuple):
    """A difference, as what follows "the optimizer", and the live variables in it.

    `optimizer` is the one that differs, if it is another one than that with these states.
    """

    clause: str
    variables: tuple[int, ...] = ()
    optimizer: int | None = None


@dataclass(frozen=True)
class States:
    """The optimizers of a graph, with the state that they keep."""

    graph: Graph

    def outer(self, paired: Container[int]) -> Iterator[int]:
        """Yield the paired optimizers that are no part of another one of these."""
        inside: set[int] = set()
        for node in self.graph.tree.preorder():
            if self.graph.tree.parents[node] in inside:
                inside.add(node)
            elif node in paired and self.graph.nodes[node].role is Role.OPTIMIZER:
                inside.add(node)
                yield node

    def slots_within(self, top: int) -> list[int]:
        """Return the slot variables of the optimizers that a part is or holds."""
        if not self._slots:
            return []
        return [slot for node in self.graph.tree.below(top) for slot in self._slots.get(node, ())]

    @cached_property
    def _slots(self) -> Mapping[int, Sequence[int]]:
        return walks.slots_by_optimizer(self.graph.nodes)


def changed_optimizers(mapping: ValueMapping, saved: States, live: States) -> list[OptimizerChange]:
    """Return the optimizers that keep other state, or state for other variables.

    An optimizer that only follows its model has not changed.
    """
    changes = []
    for node in saved.outer(mapping.parts):
        pair = mapping.parts[node]
        if not _is_built(mapping.live, pair.obj):
            continue
        slots = saved.slots_within(node), live.slots_within(pair.obj)
        if _is_of_unknown_class(mapping, slots[0]):
            continue
        differences = [*_differences(mapping, node, pair.obj, slots)]
        if not differences:
            within = {*mapping.saved.tree.below(node)}, {*mapping.live.tree.below(pair.obj)}
            nameless = [*_nameless(mapping.saved, within[0])]
            differences += _other_variables(mapping, *slots, has_nameless=bool(nameless))
            if nameless and not differences:
                states = {*nameless, *slots[0]}, {*slots[1]}
                differences += _other_number(mapping, *within, *states)
            differences += _other_state(mapping, *within)
            if not differences and _goes_by_order(mapping.saved, node):
                differences += _other_order(mapping, *slots)
        if differences:
            nodes, objects = (node, *slots[0]), (pair.obj, *slots[1])
            clause, variables, other = differences[0]
            named = (pair.obj if other is None else other, *variables)
            deed = Deed(Act.OPTIMIZER, (node,), named, (clause,))
            changes.append(OptimizerChange(nodes, objects, deed))
    return changes


def _is_built(graph: Graph, optimizer: int) -> bool:
    """Return whether an object is an optimizer with values; one without may still make them."""
    is_optimizer = graph.nodes[optimizer].role is Role.OPTIMIZER
    return is_optimizer and any(has_value(graph.nodes[n]) for n in graph.tree.below(optimizer))


def _differences(
    mapping: ValueMapping, node: int, obj: int, slots: tuple[list[int], list[int]]
) -> Iterator[_Difference]:
    """Yield how an optimizer differs as a whole from what it was."""
    saved, live = mapping.saved, mapping.live
    was, now = slot_names(saved, slots[0]), slot_names(live, slots[1])
    if now and not was and not trained_variables(saved.nodes, node):
        return  # it was saved before it was built, or never keeps any
    sides = OptimizerSlots(saved, node, was), OptimizerSlots(live, obj, now)
    shared = shared_slots(*sides)
    # The states of another class go nowhere, though some may mean the same.
    names = {} if shared.is_other else shared.names
    is_renamed = was.keys() != now.keys()
    if any(map(is_unnamed, was)):
        names, is_renamed = _names_of_numbered(mapping, slots[0]), False
    kept = set(names.values())
    new = [name for name in now if name not in kept]
    left = [name for name in was if name not in names]
    if new:
        yield _Difference(f"{_in_words(new)} now")
    elif left and was.keys() != now.keys():
        yield _Difference(f"no longer {_in_words(left)}")
    elif is_renamed or sides[0].generation is not sides[1].generation:
        yield _Difference(OTHER_VERSION)


def _in_words(slots: Sequence[str]) -> str:
    """Return what an optimizer with these slots does, by the setting that makes it keep them.

    >>> _in_words(["average"]), _in_words(["momentum", "v_hat"])
    ('averages the variables', 'keeps momentum and v_hat')
    """
    settings = [*dict.fromkeys(map(_OF_SETTING.get, slots))]
    known = [setting for setting in settings if setting is not None]
    return listed(known) if len(known) == len(settings) else f"keeps {listed(slots)}"


def _is_of_unknown_class(mapping: ValueMapping, slots: Sequence[int]) -> bool:
    """Return whether the file numbers an optimizer's slots, and no pair tells what they are."""
    are_numbered = any(map(is_unnamed, slot_names(mapping.saved, slots)))
    return are_numbered and not _names_of_numbered(mapping, slots)


def _names_of_numbered(mapping: ValueMapping, slots: Iterable[int]) -> dict[str, str]:
    """Return the live names of slots that have numbers in the file, as far as pairs tell them."""
    objects = {
        pair.node: pair.obj for pair in mapping.pairs if pair.certainty is not Certainty.GUESS
    }
    pairs = ((mapping.saved.nodes[node].slot, objects.get(node)) for node in slots)
    both = ((was, mapping.live.nodes[obj].slot) for was, obj in pairs if obj is not None)
    return {was.name: now.name for was, now in both if was is not None and now is not None}


def slot_names(graph: Graph, nodes: Iterable[int]) -> dict[str, None]:
    """Return the names of slots among nodes, in the order in which the optimizer keeps them."""
    names = (slot.name for node in sorted(nodes) if (slot := graph.nodes[node].slot) is not None)
    return dict.fromkeys(names)


def _nameless(graph: Graph, within: Iterable[int]) -> Iterator[int]:
    """Yield the states of an optimizer whose variables the file does not tell."""
    for node in {*within}.difference(graph.hanging.variables):
        is_state = graph.nodes[node].slot is None and has_value(graph.nodes[node])
        if is_state and INDEX.fullmatch(graph.tree.labels[node]):
            yield node


def _other_variables(
    mapping: ValueMapping, was: list[int], now: list[int], *, has_nameless: bool
) -> Iterator[_Difference]:
    """Yield whether it trains other variables, among those that both sides have.

    An optimizer without saved slots may have trained any. One with nameless states may have trained
    those that seem to be new.
    """
    if not was:
        return
    fitting = {pair.node: pair.obj for pair in mapping.pairs}
    common = set(fitting.values())
    before = {fitting.get(_variable(mapping.saved, slot)) for slot in was}
    after = {_variable(mapping.live, slot) for slot in now}
    if no_more := (before & common) - after:
        other = _new_trainer(mapping, no_more)
        clause = "no longer trains" if other is None else NEWLY_TRAINS
        yield _Difference(clause, _holders(mapping.live, no_more, after), other)
    if not has_nameless and (newly := (after & common) - before):
        yield _Difference(ALSO_TRAINS, _holders(mapping.live, newly, before))


def _new_trainer(mapping: ValueMapping, variables: Set[int | None]) -> int | None:
    """Return the new optimizer that alone keeps states for all these live variables."""
    paired = {pair.obj for pair in mapping.parts.values()}
    slots = (node.slot for node in mapping.live.nodes if node.slot is not None)
    trained: dict[int, set[int]] = defaultdict(set)
    for slot in slots:
        if slot.optimizer is not None and slot.optimizer not in paired:
            trained[slot.optimizer].add(slot.variable)
    trainers = [optimizer for optimizer, own in trained.items() if variables <= own]
    return trainers[0] if len(trainers) == 1 else None


def _other_number(
    mapping: ValueMapping, inner: set[int], live_inner: set[int], was: set[int], now: set[int]
) -> Iterator[_Difference]:
    """Yield whether it trains more variables of the same model or fewer, if nothing tells which.

    `was` and `now` are the states of an optimizer in Keras' file and in the program.
    """
    each, more = len(slot_names(mapping.live, now)), len(now) - len(was)
    alone = {*mapping.unused} - inner - was, {*mapping.missing} - live_inner - now
    if mapping.saved.is_of_keras and not any(alone) and each and more and not more % each:
        way = "more" if more > 0 else "fewer"
        yield _Difference(f"trains {count(abs(more) // each, f'{way} variable')}")


def _goes_by_order(graph: Graph, optimizer: int) -> bool:
    """Return whether an optimizer's states have numbers, in the order of its variables.

    Variables that it alone leads to are in that order, too.
    """
    is_listed = graph.is_of_keras or bool(trained_variables(graph.nodes, optimizer))
    return is_listed and not graph.hanging.variables


def _other_order(mapping: ValueMapping, was: list[int], now: list[int]) -> Iterator[_Difference]:
    """Yield whether an optimizer has the same variables in another order."""
    objects = {node: pair.obj for node, pair in mapping.parts.items()}
    before = [objects.get(_variable(mapping.saved, slot)) for slot in sorted(was)]
    after = [_variable(mapping.live, slot) for slot in sorted(now)]
    shared = {*before} & {*after}
    orders = ([*dict.fromkeys(filter(shared.__contains__, side))] for side in (before, after))
    if next(orders) != next(orders):
        yield _Difference(OTHER_ORDER)


def _holders(
    live: Graph, variables: Iterable[int | None], others: Iterable[int | None]
) -> tuple[int, ...]:
    """Return variables, a layer in place of its variables if it has no others."""
    parents = live.tree.parents
    shared = {parents[node] for node in others if node is not None}
    known = (node for node in variables if node is not None)
    return tuple(sorted({node if parents[node] in shared else parents[node] for node in known}))


def _variable(graph: Graph, node: int) -> int:
    slot = graph.nodes[node].slot
    return ROOT if slot is None else slot.variable


def _other_state(
    mapping: ValueMapping, inner: set[int], live_inner: set[int]
) -> Iterator[_Difference]:
    """Yield whether one side alone has counters or other state of its own."""
    own = (
        _alone(mapping.saved, inner, mapping.unused),
        _alone(mapping.live, live_inner, mapping.missing),
    )
    # A schedule has no variable in Keras 3, and another one in Keras 2.
    rate, of_schedule = "learning_rate", "current_learning_rate"
    verbs = ("has a", "has no", "no longer keeps"), ("has no", "has a", "also keeps")
    for names, (has_with_rate, has_with_other, keeps) in zip(own, verbs, strict=True):
        for name, has in ((rate, has_with_rate), (of_schedule, has_with_other)):
            if name in names:
                yield _Difference(f"{has} learning-rate schedule now")
        if others := [name for name in names if name not in (rate, of_schedule)]:
            yield _Difference(f"{keeps} {listed(others)}")


def _alone(graph: Graph, within: set[int], alone: Iterable[int]) -> list[str]:
    """Return the names of an optimizer's own values, those in lists left out, of one side alone."""
    return [
        local_name(graph.tree.labels[node])
        for node in alone
        if node in within
        and graph.nodes[node].slot is None
        and has_value(graph.nodes[node])
        and not INDEX.fullmatch(graph.tree.labels[node])
    ]
