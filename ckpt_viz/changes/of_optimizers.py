"""What happened to optimizers: another class, other variables, another order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ckpt_viz.mapping.migrations import local_name, renamed_slots
from ckpt_viz.mapping.value_mapping import ValueMapping
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Role, has_value
from ckpt_viz.text import listed


@dataclass(frozen=True)
class OptimizerChange:
    """An optimizer that has become another one, with all of its state.

    `words` says what differs.
    """

    nodes: tuple[int, ...]
    objects: tuple[int, ...]
    words: tuple[str, ...]


def changed_optimizers(mapping: ValueMapping) -> list[OptimizerChange]:
    """Return the optimizers that keep other state, or state for other variables.

    An optimizer that only follows its model has not changed.
    """
    found = []
    for node in optimizers(mapping.saved):
        pair = mapping.parts.get(node)
        if pair is None or mapping.live.nodes[pair.obj].role is not Role.OPTIMIZER:
            continue
        words = tuple(_differences(mapping, node, pair.obj))
        if words:
            found.append(
                OptimizerChange(
                    (node, *states_within(mapping.saved, node)),
                    (pair.obj, *states_within(mapping.live, pair.obj)),
                    words,
                )
            )
    return found


def optimizers(graph: Graph) -> Iterator[int]:
    """Yield the optimizers that are no part of another one."""
    inside: set[int] = set()
    for node in graph.tree.preorder():
        above = graph.tree.parents[node]
        if above in inside:
            inside.add(node)
        elif graph.nodes[node].role is Role.OPTIMIZER:
            inside.add(node)
            yield node


def _within(graph: Graph, optimizer: int) -> set[int]:
    """Return an optimizer and all that it holds, optimizers in it included."""
    found, stack = {optimizer}, [optimizer]
    while stack:
        for child in graph.tree.children[stack.pop()]:
            if child not in found:
                found.add(child)
                stack.append(child)
    return found


def states_within(graph: Graph, top: int) -> list[int]:
    """Return the slot variables of the optimizers that a part is or holds."""
    within = _within(graph, top)
    return [
        node_id
        for node_id, node in enumerate(graph.nodes)
        if node.slot is not None and node.slot.optimizer in within
    ]


def _differences(mapping: ValueMapping, node: int, obj: int) -> Iterator[str]:
    """Yield in few words how an optimizer differs from what it was."""
    saved, live = mapping.saved, mapping.live
    slots = states_within(saved, node), states_within(live, obj)
    was, now = _slot_names(saved, slots[0]), _slot_names(live, slots[1])
    are_all_known = len(renamed_slots(sorted(was), sorted(now))) == len(was) == len(now)
    if slots[0] and slots[1] and not are_all_known:
        yield f"it keeps {_named(now)}, and {_named(was)} were saved"
        return
    if slots[1] and not slots[0] and not _trained(saved, node):
        return  # it was saved before it was built, or never keeps any
    if bool(slots[0]) != bool(slots[1]):
        kept = f"it keeps {_named(now)}" if now else "it keeps no slot variables"
        yield f"{kept}, and {_named(was) if was else 'none'} were saved"
        return
    if was != now or _way(saved, node) != _way(live, obj):
        yield "another version of Keras keeps its state in another way"
        return
    yield from _other_variables(mapping, *slots)
    yield from _other_state(mapping, node, obj)


def _slot_names(graph: Graph, slots: list[int]) -> set[str]:
    return {slot.name for node in slots if (slot := graph.nodes[node].slot) is not None}


def _named(names: set[str]) -> str:
    return listed([f"{name!r}" for name in sorted(names)])


def _way(graph: Graph, optimizer: int) -> tuple[bool, bool]:
    """Return how an optimizer keeps its state: in which lists, and whether by slot variables."""
    names = {child.local_name for child in graph.nodes[optimizer].children}
    return "_trainable_variables" in names, bool(graph.nodes[optimizer].slot_variables)


def _trained(graph: Graph, optimizer: int) -> bool:
    """Return whether an optimizer lists the variables that it was built for, as Keras 3 does."""
    children = graph.nodes[optimizer].children
    lists = [c.node_id for c in children if c.local_name == "_trainable_variables"]
    return any(graph.nodes[one].children for one in lists)


def _other_variables(mapping: ValueMapping, was: list[int], now: list[int]) -> Iterator[str]:
    """Yield whether it trains other variables, among those that both sides have."""
    fitting = {pair.node: pair.obj for pair in mapping.pairs}
    before = {_variable(mapping.saved, slot) for slot in was}
    after = {_variable(mapping.live, slot) for slot in now}
    both = set(fitting.values())
    no_more = sum(one in fitting and fitting[one] not in after for one in before)
    newly = sum(one in both and one not in {fitting.get(b) for b in before} for one in after)
    if no_more:
        yield f"it has no state any more for {no_more} of the saved variables"
    if newly:
        yield f"it has state for {newly} variables that were not trained"


def _variable(graph: Graph, node: int) -> int:
    slot = graph.nodes[node].slot
    return ROOT if slot is None else slot.variable


def _other_state(mapping: ValueMapping, node: int, obj: int) -> Iterator[str]:
    """Yield whether one side alone has counters or other state of its own."""
    own = (
        _alone(mapping.saved, _within(mapping.saved, node), mapping.unused),
        _alone(mapping.live, _within(mapping.live, obj), mapping.missing),
    )
    for names, says in zip(own, ("it has no place for {}", "it adds {}"), strict=True):
        if "learning_rate" in names:
            is_schedule = names is own[0]
            yield f"its learning rate {'is' if is_schedule else 'was'} a schedule"
            names.remove("learning_rate")
        if names:
            yield says.format(listed([repr(name) for name in names]))


def _alone(graph: Graph, within: set[int], alone: Iterable[int]) -> list[str]:
    """Return the names of an optimizer's own values that only one side has."""
    return [
        local_name(graph.tree.labels[one])
        for one in alone
        if one in within and graph.nodes[one].slot is None and has_value(graph.nodes[one])
    ]
