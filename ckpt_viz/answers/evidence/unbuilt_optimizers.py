"""The saved states of optimizers that the program has not built yet, and who may pass them on.

TensorFlow keeps such values, and gives them to an optimizer of Keras when it is built: by their
places in its lists, whatever variables it then trains. So a fix lets an optimizer take part in a
restore only if these places are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ckpt_viz.files.keras_files.state import is_unnamed
from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.keras_optimizers import generation_of
from ckpt_viz.graphs.slots.optimizer_table import Generation, row_of
from ckpt_viz.live.objects.building import optimizer_plan_of
from ckpt_viz.live.objects.facts import generation, is_optimizer, is_unbuilt, trainable_variables_of
from ckpt_viz.matching.correspondence.optimizer_classes import OptimizerSlots, shared_slots
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping

_BY_VARIABLE = (Generation.TENSORFLOW_1, Generation.LEGACY)  # they keep no lists


@dataclass(frozen=True)
class UnbuiltOptimizers:
    """The optimizers of a program that are not built, and what a checkpoint has for them."""

    mapping: ValueMapping

    @cached_property
    def live(self) -> Sequence[int]:
        """The optimizers of the program that have not made their states yet."""
        graph = self.mapping.live
        if graph.origin is not Origin.LIVE:
            return ()
        objects = ((obj, graph.object(obj)) for obj in range(len(graph.nodes)))
        return [obj for obj, held in objects if is_optimizer(held) and is_unbuilt(held)]

    @cached_property
    def states(self) -> Mapping[int, int]:
        """By saved state without a place now, the unbuilt optimizer that may take it later."""
        return dict(self._states()) if self.live else {}

    def _states(self) -> Iterator[tuple[int, int]]:
        saved, unbuilt = self.mapping.saved, {*self.live}
        unused, known = {*self.mapping.unused}, self._counterparts
        of_saved = {node: pair.obj for node, pair in self.mapping.parts.items()}
        free = [obj for obj in self.live if obj not in of_saved.values()]
        for node, owner in states_of(saved):
            slot = saved.nodes[node].slot
            if node not in unused or not has_value(saved.nodes[node]):
                continue
            if slot is not None and slot.variable not in known:
                continue  # no optimizer will train it
            obj = of_saved.get(owner) if owner is not None else None
            if obj is None and free:
                obj = free[0]
            is_made_by_build = slot is not None or not (
                owner is not None and saved.nodes[owner].slot_variables
            )
            if obj not in unbuilt or not (is_made_by_build or self._is_by_variable(obj)):
                continue
            is_numbered = slot is None or is_unnamed(slot.name)
            never = self._is_numbered_otherwise if is_numbered else self._is_of_other_class
            if not (saved.is_of_keras and owner is not None and never(node, owner, obj)):
                yield node, obj

    def _is_of_other_class(self, node: int, owner: int, obj: int) -> bool:
        """Return whether this optimizer will make no state of the same meaning."""
        saved, slot = self.mapping.saved, self.mapping.saved.nodes[node].slot
        plan = optimizer_plan_of(self.mapping.live.object(obj))
        if slot is None or plan is None or plan.inner is not None:
            return False
        kept_in = {name for group in plan.slots for name in group}
        live, row = self.mapping.live, row_of(*_class_of(self.mapping.live.object(obj)))
        made = [s.name for s in (() if row is None else row.slots) if {s.name, s.kept_in} & kept_in]
        names = {slot_name for of, slot_name, _ in self._slots if of == owner}
        shared = shared_slots(OptimizerSlots(saved, owner, names), OptimizerSlots(live, obj, made))
        return shared.is_other or slot.name not in shared.names

    def _is_numbered_otherwise(self, node: int, owner: int, obj: int) -> bool:
        """Return whether a number in Keras' file is that of another state in this optimizer."""
        saved, slot = self.mapping.saved, self.mapping.saved.nodes[node].slot
        was, now = (_named(g, n) for g, n in ((saved, owner), (self.mapping.live, obj)))
        if not now <= was or (was != now and not self._is_by_variable(obj)):
            return True
        plan = optimizer_plan_of(self.mapping.live.object(obj))
        if plan is None or plan.inner is not None or slot is None:
            return False
        same = [1 for of, _, variable in self._slots if (of, variable) == (owner, slot.variable)]
        return len(same) != sum(map(len, plan.slots))

    @cached_property
    def _slots(self) -> frozenset[tuple[int | None, str, int]]:
        """The saved slots: their optimizer, their name and their variable."""
        nodes = self.mapping.saved.nodes
        slots = ((owner, nodes[node].slot) for node, owner in states_of(self.mapping.saved))
        return frozenset((owner, s.name, s.variable) for owner, s in slots if s is not None)

    @cached_property
    def misfits(self) -> frozenset[int]:
        """The states of variables that have a different shape or dtype now: these will, too."""
        variables = {pair.node for pair in self.mapping.misfits}
        slots = ((node, self.mapping.saved.nodes[node].slot) for node in self.states)
        return frozenset(n for n, slot in slots if slot is not None and slot.variable in variables)

    @cached_property
    def aside(self) -> frozenset[int]:
        """The saved optimizers whose states would get into wrong places when theirs is built."""
        if not self.states:
            return frozenset()
        owners = {owner for node, owner in states_of(self.mapping.saved) if node in self.states}
        pairs = ((node, pair.obj) for node, pair in self.mapping.parts.items() if node in owners)
        unbuilt = {*self.live}
        return frozenset(n for n, obj in pairs if obj in unbuilt and not self._is_alike(n, obj))

    def _is_alike(self, node: int, obj: int) -> bool:
        """Return whether an optimizer takes each state as what it was, as far as this is known."""
        saved, held = self.mapping.saved.nodes[node], self.mapping.live.object(obj)
        was, now = generation_of(saved), generation(held)
        if was is not None and was is not now:
            return False
        if self._is_by_variable(obj):
            return True
        plan, lists = optimizer_plan_of(held), [*self._lists(node)]
        if plan is not None and plan.inner is None:
            made = {name for group in plan.slots for name in group}
            if {name for name, _ in lists} != made:
                return False
        return all(self._are_trained(variables) for _, variables in lists)

    def _is_by_variable(self, obj: int) -> bool:
        return generation(self.mapping.live.object(obj)) in _BY_VARIABLE

    def _lists(self, node: int) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield the lists of a saved optimizer by name, each with the variables of its slots.

        The list of all its variables is none of them.
        """
        saved = self.mapping.saved.nodes
        for child in saved[node].children:
            items = [each for each in saved[child.node_id].children if each.local_name.isdecimal()]
            items.sort(key=lambda item: int(item.local_name))
            slots = [saved[item.node_id].slot for item in items]
            if slots and None not in slots:
                yield child.local_name, [slot.variable for slot in slots if slot is not None]

    @cached_property
    def _counterparts(self) -> Mapping[int, int]:
        """The variable that each saved one has become, whatever its shape."""
        every = *self.mapping.misfits, *self.mapping.pairs
        return {pair.node: pair.obj for pair in reversed(every)}

    def _are_trained(self, variables: Sequence[int]) -> bool:
        """Return whether the program may train these variables first, in this order."""
        live, known = self.mapping.live, self._counterparts
        now = [known.get(variable) for variable in variables]
        while now and now[-1] is None:
            now.pop()  # states at the end of a list are of no other's
        objects = [None if obj is None else live.object(obj) for obj in now]
        return self.trained is None or _starts_with(self.trained, objects)

    @cached_property
    def trained(self) -> Sequence[Sequence[Any]] | None:
        """What the outermost models of the program train, in their order; None if unknown."""
        live, inside, every = self.mapping.live, set[int](), list[Sequence[Any]]()
        for obj in live.tree.preorder():
            held = live.object(obj)
            if live.tree.parents[obj] in inside or is_optimizer(held):
                inside.add(obj)
                continue
            variables = trainable_variables_of(held)
            if variables is not None:
                inside.add(obj)
                if is_unbuilt(held):
                    return None
                every.append(variables)
        return every or None


def _class_of(optimizer: object) -> tuple[Generation | None, str]:
    return generation(optimizer), type(optimizer).__name__


def _named(graph: Graph, optimizer: int) -> set[str]:
    """Return the names of an optimizer's counters and rates, as Keras' file has them."""
    names = (child.local_name for child in graph.nodes[optimizer].children)
    return {name for name in names if not name.isdecimal()}


def _starts_with(models: Sequence[Sequence[Any]], variables: Sequence[Any]) -> bool:
    """Return whether variables are those of some models, one model after the other."""
    if not variables:
        return True
    return any(
        _are_same(model[: len(variables)], variables[: len(model)])
        and (
            len(variables) <= len(model)
            or _starts_with([*models[:n], *models[n + 1 :]], variables[len(model) :])
        )
        for n, model in enumerate(models)
        if model
    )


def _are_same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(one_side is other for one_side, other in zip(some, others, strict=True))


def states_of(graph: Graph) -> Iterator[tuple[int, int | None]]:
    """Yield the values of optimizers and their slot variables, each with its optimizer."""
    nearest: dict[int, int] = {}  # the optimizer that each part is or is in
    for node in graph.tree.preorder():
        slot, owner = graph.nodes[node].slot, nearest.get(graph.tree.parents[node])
        if graph.nodes[node].role is Role.OPTIMIZER:
            nearest[node] = node
        elif owner is not None:
            nearest[node] = owner
        if slot is not None:
            yield node, slot.optimizer if slot.optimizer is not None else owner
        elif owner is not None:
            yield node, owner
