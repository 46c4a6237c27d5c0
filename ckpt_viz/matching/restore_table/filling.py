"""Fills the table of a restore: the steps of the checked call, and the mapping of the fix.

The five kinds of restore differ in their steps alone; nothing here asks which of them it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes.exported import exported_lists
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.items import are_of_other_layers
from ckpt_viz.matching.correspondence.pairs import Evidence, Pair, is_guess
from ckpt_viz.matching.engines.trace import Cause, Failure, Step
from ckpt_viz.matching.name_rules.scope_tree import full_name
from ckpt_viz.matching.restore_table.fixed_values import FixedValues
from ckpt_viz.matching.restore_table.rows import (
    Destination,
    RestoreRow,
    RestoreTable,
    ValueCell,
    Why,
)

_WHY = {
    Cause.SHAPE: Why.SHAPE,
    Cause.DTYPE: Why.DTYPE,
    Cause.UNREADABLE: Why.DAMAGED,
    Cause.DAMAGED: Why.DAMAGED,
    Cause.KEY_MISSING: Why.ABSENT,
}
_HERE = ValueCell(Destination.HERE)


@dataclass(frozen=True)
class CheckedCall:
    """What the checked call does: the steps that assign a value or fail, in order, and what waits.

    `unknown` are the live objects whose own code decides, and `unreached` those that the call looks
    at only after the error that it raises. `late` is what it would do with these if it went on, as
    far as that is known. `reshaped` are those that take a value of another shape, without an error:
    a variable of a TensorFlow 1 graph then has a wrong shape.
    """

    assigned: Sequence[Step]
    waiting: Set[int] = frozenset()
    unknown: Set[int] = frozenset()
    unreached: Set[int] = frozenset()
    late: Sequence[Step] = ()
    reshaped: Set[int] = frozenset()

    @cached_property
    def _until_error(self) -> int:
        """The number of assignments before the call raises."""
        raising = (place for place, step in enumerate(self.assigned) if step.raises)
        return next(raising, len(self.assigned))

    @cached_property
    def object_of(self) -> Mapping[int, int]:
        """The object that gets each saved value that the call restores; of several the first."""
        return _objects(self.assigned[: self._until_error])

    @cached_property
    def source_of(self) -> Mapping[int, int]:
        """The saved node whose value each object gets."""
        done = [step for step in self.assigned[: self._until_error] if step.failure is None]
        return {s.obj: s.node for s in done if s.node is not None and s.obj is not None}

    @cached_property
    def late_object_of(self) -> Mapping[int, int]:
        """The object that would get each saved value, if the call had not raised before."""
        return _objects([*self.assigned[self._until_error :], *self.late])

    @cached_property
    def late_failures(self) -> Mapping[int, Failure]:
        """Why objects would get no value, if the call went on after its error."""
        late = ((a.obj, a.failure) for a in self.late)
        return {o: failure for o, failure in late if o is not None and failure is not None}

    @cached_property
    def failures(self) -> Mapping[tuple[str, int], Failure]:
        """The first failure of each saved node and of each live object."""
        failures: dict[tuple[str, int], Failure] = {}
        for step in self.assigned:
            if step.failure is not None and step.node is not None:
                failures.setdefault(("saved", step.node), step.failure)
            if step.failure is not None and step.obj is not None:
                failures.setdefault(("live", step.obj), step.failure)
        return failures


def _objects(steps: Sequence[Step]) -> Mapping[int, int]:
    """Return the object that gets each saved value; of several the first."""
    done = [step for step in reversed(steps) if step.failure is None]
    return {s.node: s.obj for s in done if s.node is not None and s.obj is not None}


def table_of(saved: Graph | None, live: Graph, call: CheckedCall, fix: FixedValues) -> RestoreTable:
    """Return the table: each saved value and each value of the program in exactly one row."""
    return RestoreTable(saved, live, tuple(_Filling(saved, live, call, fix).rows()))


@dataclass(frozen=True)
class _Filling:
    saved: Graph | None
    live: Graph
    call: CheckedCall
    fix: FixedValues

    def rows(self) -> Iterator[RestoreRow]:
        second = self.live.second_places
        taken = {*second}
        for node in self._valued(self.saved):
            obj = self._counterparts.get(node)
            if obj is not None:
                taken.add(second.get(obj, obj))
            yield RestoreRow(node, obj, self._plain(node, obj), self._fixed(node))
        for obj in self._valued(self.live):
            if obj not in taken:
                yield RestoreRow(None, obj, self._plain_of_live(obj), self._fixed_of_live(obj))

    @staticmethod
    def _valued(graph: Graph | None) -> Iterator[int]:
        if graph is not None:
            yield from (n for n in graph.tree.preorder() if has_value(graph.nodes[n]))

    @cached_property
    def _counterparts(self) -> Mapping[int, int]:
        """The object of each saved value's row: one for each, and no object twice.

        What the fix pairs comes first, and what it leaves out next. The call decides the rest, but
        for values of other layers.
        """
        size, by_node, taken = len(self.live.nodes), dict[int, int](), set[int]()
        every = *self.fix.sure, *self.fix.others
        paired = ((p.node, p.obj) for p in every if not is_guess(p))
        guessed = ((p.node, p.obj) for p in every if is_guess(p))
        for node, obj in (*paired, *self.call.object_of.items(), *guessed):
            is_row = obj < size and has_value(self.live.nodes[obj])
            if not is_row or self.saved is None or node in by_node or obj in taken:
                continue
            if not are_of_other_layers(self.saved, node, self.live, obj):
                by_node[node] = obj
                taken.add(obj)
        return by_node

    def _plain(self, node: int, obj: int | None) -> ValueCell:
        target = self.call.object_of.get(node)
        if target is not None:
            is_tied = self.call.source_of.get(target) != node  # another value of it came last
            return ValueCell(Destination.INTO, other=target) if is_tied else self._in(target, obj)
        if node in self.call.waiting:
            return ValueCell(Destination.WAITS)
        if obj is not None and obj in self.call.unknown:
            return ValueCell(Destination.UNKNOWN)
        failure, would = self._failure(node, obj), self._after_error(node, obj)
        if failure is not None:
            return _failed(Destination.STAYS, failure, would)
        return ValueCell(Destination.STAYS, self._why_not(node, obj), would=would)

    def _in(self, target: int, obj: int | None) -> ValueCell:
        """Return that a value gets into an object: its own, a new one, or that of another row."""
        if target == obj and obj in self.call.reshaped:
            return ValueCell(Destination.RESHAPES, Why.SHAPE)
        if target == obj or target >= len(self.live.nodes):
            return _HERE
        return ValueCell(Destination.INTO, other=target)

    def _after_error(self, node: int, obj: int | None) -> ValueCell | None:
        """Return what the call would do with a value if its error did not end it."""
        late = self.call.late_object_of.get(node)
        if late is not None:
            return self._in(late, obj)
        failure = None if obj is None else self.call.late_failures.get(obj)
        if failure is None or ("saved", node) in self.call.failures:  # refused elsewhere
            return None
        if failure.cause is Cause.KEY_MISSING:
            return ValueCell(Destination.STAYS, Why.NOT_REACHED)
        return _failed(Destination.STAYS, failure)

    def _failure(self, node: int, obj: int | None) -> Failure | None:
        """Return why the call fails for a value; no missing name does if its object is there."""
        failure = self.call.failures.get(("saved", node))
        if failure is None and obj is not None:
            failure = self.call.failures.get(("live", obj))
        is_by_name = failure is not None and failure.cause is Cause.KEY_MISSING
        return None if is_by_name and obj is not None else failure

    def _why_not(self, node: int, obj: int | None) -> Why:
        if node in self.call.late_object_of or obj in self.call.unreached:
            return Why.AFTER_ERROR
        if obj is None:
            return self._absent(node)
        return Why.OCCUPIED if obj in self.call.source_of else Why.NOT_REACHED

    def _plain_of_live(self, obj: int) -> ValueCell:
        source = self.call.source_of.get(obj)
        if source is not None:
            return ValueCell(Destination.INTO, other=source)
        if obj in self.call.unknown:
            return ValueCell(Destination.UNKNOWN)
        failure = self.call.failures.get(("live", obj))
        if failure is None or failure.cause is Cause.KEY_MISSING:
            return ValueCell(Destination.KEEPS, self._why_kept(obj))
        return _failed(Destination.KEEPS, failure)

    def _why_kept(self, obj: int) -> Why:
        """Return why a value alone keeps its own: it may also be that of a part that is a guess."""
        is_rival = self._look(self.live.tree.parents[obj]) in self._guessed_looks
        return Why.GUESS if is_rival else Why.ABSENT

    @cached_property
    def _guessed_looks(self) -> Set[object]:
        parents, every = self.live.tree.parents, (*self.fix.sure, *self.fix.others)
        guesses = (p.obj for p in every if is_guess(p) and p.obj < len(self.live.nodes))
        return {self._look(parents[obj]) for obj in guesses if self.live.nodes[obj].slot is None}

    def _look(self, part: int) -> object:
        """Return the dtypes and shapes of the values in a part of the program, by their names."""
        nodes = self.live.nodes
        return tuple((n, values_of(nodes[c])) for n, c in nodes[part].children) if part > 0 else ()

    @cached_property
    def _sure(self) -> Mapping[int, Pair]:
        return {pair.node: pair for pair in reversed(self.fix.sure)}

    @cached_property
    def _left_out(self) -> Mapping[int, Pair]:
        return {pair.node: pair for pair in reversed(self.fix.others)}

    def _fixed(self, node: int) -> ValueCell | None:
        if not self.fix.is_there:
            return None
        pair = self._sure.get(node)
        if pair is not None:
            is_part = node in self.fix.in_part
            return ValueCell(Destination.HERE, certainty=pair.certainty, is_part=is_part)
        if node in self.fix.waiting:
            return ValueCell(Destination.WAITS)
        pair = self._left_out.get(node)
        if pair is None and self._gets_other_meaning(node):
            obj = self.call.object_of[node]
            return ValueCell(Destination.STAYS, Why.OTHER_MEANING, obj)
        other = None if pair is None else pair.obj
        return ValueCell(Destination.STAYS, self._why_left_out(node, pair), other)

    def _gets_other_meaning(self, node: int) -> bool:
        """Return whether the call gives a slot to one of the same variable that means another."""
        assert self.saved is not None
        was, nodes = self.saved.nodes[node].slot, self.live.nodes
        obj = self.call.object_of.get(node, len(nodes))
        now = nodes[obj].slot if obj < len(nodes) else None
        if was is None or now is None or node in self.fix.damaged or obj in self._paired_objects:
            return False
        own = self._sure.get(was.variable)
        return own is not None and own.obj == now.variable

    @cached_property
    def _paired_objects(self) -> Set[int]:
        return {pair.obj for pair in (*self.fix.sure, *self.fix.others)}

    def _why_left_out(self, node: int, pair: Pair | None) -> Why:
        if node in self.fix.damaged:
            return Why.DAMAGED
        if node in self.fix.unbuilt:
            return self._why_unbuilt(node)
        if pair is None:
            return Why.OCCUPIED if self._is_occupied(node) else self._absent(node)
        if pair.evidence is Evidence.OTHER_STATE:
            return Why.OTHER_MEANING
        if node in self.fix.misfits:
            return self._difference(pair)
        return Why.GUESS if is_guess(pair) else Why.NO_CODE

    def _why_unbuilt(self, node: int) -> Why:
        """Return why a state has no place: its variable may have another shape now, and so has it.

        What its optimizer makes later has the shape and the dtype of the variable.
        """
        assert self.saved is not None
        slot = self.saved.nodes[node].slot
        variable = None if slot is None else self._left_out.get(slot.variable)
        if variable is None or variable.node not in self.fix.misfits:
            return Why.NOT_BUILT
        return self._difference(variable)

    def _is_occupied(self, node: int) -> bool:
        """Return whether the program takes another saved value of this name, or of this slot."""
        assert self.saved is not None
        slot = self.saved.nodes[node].slot
        if slot is not None and (slot.variable, slot.name) in self._restored_slots:
            return True
        if self._restored_exports and full_name(self.saved.nodes[node]) in self._restored_exports:
            return True
        return self.saved.names.place_or_state(node) in self._filled_names

    @cached_property
    def _restored_exports(self) -> Set[str]:
        """The full names of what the fix restores from Keras' `export()`, which has each twice."""
        assert self.saved is not None
        nodes = self._sure if exported_lists(self.saved.nodes) else ()
        return {full_name(self.saved.nodes[node]) for node in nodes} - {""}

    @cached_property
    def _restored_slots(self) -> Set[tuple[int, str]]:
        """The slots that the fix restores: a file of Keras may have one twice, for its wrapper."""
        assert self.saved is not None
        slots = (self.saved.nodes[node].slot for node in self._sure)
        return {(slot.variable, slot.name) for slot in slots if slot is not None}

    @cached_property
    def _filled_names(self) -> Set[str]:
        objects = (obj for obj in self._filled if obj < len(self.live.nodes))
        return frozenset(map(self.live.names.place_or_state, objects))

    def _absent(self, node: int) -> Why:
        return Why.NOT_TRACKED if node in self._not_tracked else Why.ABSENT

    @cached_property
    def _not_tracked(self) -> frozenset[int]:
        """The saved values of an optimizer's list that the program holds where none leads to."""
        is_lost = any(a.is_lost for node in self.live.nodes for a in node.not_saved)
        if self.saved is None or not is_lost:
            return frozenset()
        return frozenset(self.saved.hanging.variables)

    def _difference(self, pair: Pair) -> Why:
        assert self.saved is not None
        was, now = self.saved.nodes[pair.node].attributes, self.live.nodes[pair.obj].attributes
        have_shapes = [a.shape for a in was] == [a.shape for a in now]
        return Why.DTYPE if have_shapes else Why.SHAPE

    @cached_property
    def _filled(self) -> Mapping[int, Pair]:
        return {pair.obj: pair for pair in self.fix.sure}

    def _fixed_of_live(self, obj: int) -> ValueCell | None:
        if not self.fix.is_there:
            return None
        shared = self._filled.get(obj)  # the value belongs to another row, too
        if shared is not None:
            return ValueCell(Destination.HERE, certainty=shared.certainty)
        return ValueCell(Destination.KEEPS, self._why_kept(obj))


def _failed(place: Destination, failure: Failure, would: ValueCell | None = None) -> ValueCell:
    why = _WHY.get(failure.cause, Why.FAILURE)
    return ValueCell(place, why, would=would, error=failure.type if why is Why.FAILURE else "")
