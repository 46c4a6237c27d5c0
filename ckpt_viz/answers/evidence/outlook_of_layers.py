"""What a layer will make of waiting values once it is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.unbuilt import Misfit, Outlook
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Role
from ckpt_viz.ground.text import shape_words
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.building import (
    Plan,
    Shape,
    is_trained,
    parts_of,
    plan_of,
    variable_dtype_of,
)


class _Pair(NamedTuple):
    """A saved node and its counterpart, which exists now or later.

    `obj` is the live id of a counterpart that exists. `is_sure` says that Keras alone decides what
    is built above it, `is_trained` that nothing above it is frozen.
    """

    node: int
    counterpart: object
    obj: int | None
    is_sure: bool = True
    is_trained: bool = True


class FutureComparison:
    """Compares the future content of an object with the values saved below its node."""

    def __init__(self, case: Case, future: Outlook) -> None:
        self._case, self._future = case, future
        self._seen: set[int] = set()
        self._optimizers: list[tuple[int, int]] = []

    def look(self, node: int, obj: int) -> list[tuple[int, int]]:
        """Examine an object and all below it; return the optimizers without examining them."""
        stack = [_Pair(node, self._case.live_side.object(obj), obj)]
        while stack:
            pair = stack.pop()
            if pair.node in self._seen:
                continue
            self._seen.add(pair.node)
            if self._case.trace.bound.get(pair.node, pair.obj) != pair.obj:
                self._future.doubt(f"{self._name(pair.node)} goes into another object")
            elif pair.obj is not None and facts.is_optimizer(pair.counterpart):
                self._optimizers.append((pair.node, pair.obj))
            elif pair.obj is not None and self._case.live.nodes[pair.obj].attributes:
                self._look_at_variable(pair)
            else:
                stack.extend(reversed(list(self._below(pair))))
        return self._optimizers

    def _look_at_variable(self, pair: _Pair) -> None:
        if pair.is_trained and getattr(pair.counterpart, "trainable", False):
            self._future.trained.append(pair.node)

    def _below(self, pair: _Pair) -> Iterator[_Pair]:
        """Examine the future content of one object; yield the parts that it will hold."""
        is_there = pair.obj is not None and not facts.is_unbuilt(pair.counterpart)
        plan = Plan.nothing() if is_there else plan_of(pair.counterpart)
        known = plan or Plan.nothing()
        is_sure = pair.is_sure and plan is not None
        below = pair._replace(
            is_sure=is_sure, is_trained=pair.is_trained and is_trained(pair.counterpart)
        )
        if plan is None and self._is_unknown(pair):
            self._leave_open(f"only build() decides what {type(pair.counterpart).__name__} makes")
        elif plan is None:
            self._future.is_by_code = True
            if pair.obj is None:
                known = Plan.of(parts_of(pair.counterpart))
        self._look_at_new(below, known)
        there = self._children_there(pair.obj)
        parts: dict[str, tuple[object, int | None]] = {
            name: (part, there.get(name)) for name, part in known.parts.items()
        }
        for name, known_id in there.items():
            parts.setdefault(name, (self._case.live_side.object(known_id), known_id))
        missing = self._missing(pair.node, {*parts, *(new.name for new in known.variables)})
        for name, (part, obj) in parts.items():
            child = self._case.saved_side.child(pair.node, name)
            if child is not None:
                yield below._replace(node=child, counterpart=part, obj=obj)
            elif self._has_variables(part, obj) is not False:
                self._future.trained.append(None)
                called = self._called(pair.node, name, obj)
                instead = f", only {self._own_name(missing[0])!r}" if missing else ""
                self._say(is_sure, f"{self._name(pair.node)} has no saved {called!r}{instead}")
        for place, gone in enumerate(missing):
            if known.owns.match(gone.local_name):
                nodes = tuple(self._case.saved.tree.below(gone.node_id))
                name, layer = self._name(gone.node_id), type(pair.counterpart).__name__
                self._misfit(nodes, f"{layer} has no place for {name}")
            elif not place:
                name = self._own_name(gone)
                self._leave_open(f"{name!r} of {self._name(pair.node)} does not exist yet")

    def _is_unknown(self, pair: _Pair) -> bool:
        """Return whether even a layer's own sublayers do not show what it will have.

        Keras 3 has its own way to build the layers of a layer that is not in the graph yet.
        """
        is_trap = pair.obj is None and facts.builds_only_when_called(pair.counterpart)
        return is_trap or facts.is_layer_of_keras(pair.counterpart)

    def _look_at_new(self, pair: _Pair, plan: Plan) -> None:
        """Compare the variables that an object will have with the saved variables."""
        for new in plan.variables:
            child = self._case.saved_side.child(pair.node, new.name)
            saved = self._case.saved.nodes[child].attributes if child is not None else ()
            if child is None or not saved:
                is_sure = pair.is_sure or pair.node in self._case.saved_side.valued
                self._say(is_sure, f"the checkpoint lacks {self._child(pair.node, new.name)}")
                if pair.is_trained and new.is_trained:
                    self._future.trained.append(None)
                continue
            self._seen.add(child)
            differs = _differs(new.shape, variable_dtype_of(pair.counterpart), saved[0])
            if differs:
                self._misfit((child,), f"{self._name(child)} was saved {differs}")
                continue
            self._future.placed.add(child)
            if pair.is_trained and new.is_trained:
                self._future.trained.append(child)

    def _children_there(self, obj: int | None) -> dict[str, int]:
        if obj is None:
            return {}
        nodes = self._case.live.nodes
        return {
            child.local_name: child.node_id
            for child in nodes[obj].children
            if nodes[child.node_id].role is not Role.BOOKKEEPING
        }

    def _missing(self, node: int, known: Iterable[str]) -> list[Child]:
        """Return the saved children with values that have no known object."""
        names, case = set(known), self._case
        others = [child for child in case.saved.nodes[node].children if child.local_name in names]
        elsewhere = {child.node_id for child in others}
        return [
            child
            for child in case.saved.nodes[node].children
            if child.node_id not in elsewhere
            and child.node_id not in self._seen
            and child.node_id not in case.trace.bound
            and child.node_id in case.saved_side.valued
        ]

    def _has_variables(self, part: object, obj: int | None) -> bool | None:
        """Return whether something will make variables; None if that is unknown."""
        if obj is None:
            return _will_have_variables(part)
        answers: set[bool | None] = set()
        for below in self._case.live.tree.below(obj):
            held = self._case.live_side.object(below)
            if facts.is_unbuilt(held) and not facts.is_optimizer(held):
                answers.add(_will_have_variables(held))
        return True if True in answers else None if None in answers else False

    def _say(self, is_sure: bool, why: str) -> None:
        if is_sure:
            self._misfit((), why)
        else:
            self._future.doubt(why)

    def _misfit(self, nodes: tuple[int, ...], why: str) -> None:
        self._future.misfits.append(Misfit(nodes, why))

    def _leave_open(self, why: str) -> None:
        """Note what is unknown before the object is built."""
        self._future.doubts.append(why)

    def _name(self, node: int) -> str:
        return self._case.saved_side.place(node)

    def _own_name(self, child: Child) -> str:
        return self._case.saved.names.name(child.node_id)

    def _called(self, node: int, local_name: str, obj: int | None) -> str:
        """Return what people call a part of the program that a saved node lacks."""
        if obj is None:
            return local_name
        name = self._case.live.names.name(obj)
        return self._case.saved.names.name_beside(node, name, local_name)

    def _child(self, node: int, local_name: str) -> str:
        return self._case.saved_side.graph.names.child_place(node, local_name)


def _will_have_variables(part: object) -> bool | None:
    plan = plan_of(part)
    if plan is None:
        return None
    parts = {_will_have_variables(part) for part in plan.parts.values()}
    return True if plan.variables or True in parts else None if None in parts else False


def _differs(shape: Shape | None, dtype: str | None, saved: Attribute) -> str:
    """Return how a weight was saved if the new weight will differ; "" if not, or unknown."""
    if shape is None:  # normalizing layers; some have a dtype of their own
        return ""
    if saved.shape is not None and not _agree(shape, saved.shape):
        return f"with the shape {shape_words(saved.shape)}, and will have {shape_words(shape)}"
    if dtype is not None and saved.dtype is not None and dtype != saved.dtype:
        return f"as {saved.dtype}, and will be {dtype}"
    return ""


def _agree(new: Shape, saved: Sequence[int]) -> bool:
    return len(new) == len(saved) and all(a in (None, b) for a, b in zip(new, saved, strict=True))
