"""What is known of a waiting restore before its object is built.

A waiting saved value is restored when its holder gets a variable of that local name. If its shape
differs, the restore fails then. Attributes of Keras' own classes tell which variables they will
have. What the program's own code creates is unknown before it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.unbuilt import Misfit, Outlook
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Role
from ckpt_viz.graphs.slots.keras_optimizers import TRAINABLE, VARIABLES
from ckpt_viz.graphs.slots.optimizer_table import SLOT_NAMES, Generation
from ckpt_viz.ground.text import shape_words
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.building import (
    OptimizerPlan,
    Plan,
    Shape,
    is_trained,
    optimizer_plan_of,
    parts_of,
    plan_of,
    variable_dtype_of,
)

_DECLARING = (Generation.TENSORFLOW_1, Generation.LEGACY)
_MAX_DEPTH, _MAX_PARTS = 2, 50  # of the parts of a program that an optimizer may be built for


def outlook(case: Case, obj: int) -> Outlook:
    """Return what is known of an unbuilt layer or optimizer of the program."""
    future = Outlook()
    nodes = case.trace.holders.get(obj, ())
    if len(nodes) != 1:
        future.doubt("several saved objects share it" if nodes else "it was not saved")
        return future
    optimizers = [(nodes[0], obj)]
    if not facts.is_optimizer(case.live_side.object(obj)):
        optimizers = _FutureComparison(case, future).look(nodes[0], obj)
    for node, optimizer in optimizers:
        if facts.is_unbuilt(case.live_side.object(optimizer)):
            _look_at_optimizer(case, node, optimizer, future)
    return future


# --- layers


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


class _FutureComparison:
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
            self._leave_open(f"only build() decides what {_class(pair.counterpart)} makes")
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
                self._misfit(
                    tuple(self._case.saved.tree.below(gone.node_id)),
                    f"{_class(pair.counterpart)} has no place for {self._name(gone.node_id)}",
                )
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


def _class(obj: object) -> str:
    return type(obj).__name__


# --- optimizers


def _look_at_optimizer(case: Case, node: int, obj: int, future: Outlook) -> None:
    """Compare the variables that an optimizer will have with those of the saved optimizer."""
    optimizer = case.live_side.object(obj)
    plan = optimizer_plan_of(optimizer)
    if plan is None:
        future.doubts.append(f"only build() decides what {_class(optimizer)} makes")
        return
    before = len(future.misfits) + len(future.doubts)
    if plan.inner is not None:
        inner, inner_obj = (
            case.saved_side.child(node, plan.inner),
            case.live_side.child(obj, plan.inner),
        )
        if inner is None or inner_obj is None:
            future.doubt(f"{case.saved_side.place(node)} wraps no optimizer")
        else:
            _look_at_optimizer(case, inner, inner_obj, future)
    is_declaring = facts.generation(optimizer) in _DECLARING
    saved = _declared(case, node) if is_declaring else _lists(case, node, plan)
    made = [name for group in plan.slots for name in group]
    state = case.saved_side.state_of(node)
    left = _without_place(case, node, obj, plan, made)
    misfit, doubt = left or _lacking(case, node, plan), ""
    if not misfit and (made or saved):
        misfit, doubt = _trained_otherwise(case, node, saved, optimizer)
    lacks, more = saved.keys() - set(made), set(made) - saved.keys()
    if not misfit and not doubt and (lacks or more):
        slots = f"the checkpoint has {_slots(saved)}, the optimizer {_names(made) or 'none'}"
        # With declarations, a restore creates slots of other names. A list's slot takes the value
        # at its index.
        is_sure = bool(more) if is_declaring else len(made) != len(saved)
        misfit, doubt = (slots, "") if is_sure else ("", slots)
    is_placed = is_declaring or _is_in_order(case, node, obj, plan, saved)
    if not is_placed and not misfit and not doubt:
        doubt = f"the variables of {case.saved_side.place(node)} are in another order"
    if not misfit and not doubt:
        doubt = _of_other_shapes(case, state)
    is_more_alone = bool(misfit and more and not lacks and not left and is_placed)
    if misfit:
        unbound = tuple(sorted(state.difference(case.trace.bound)))
        future.misfits.append(Misfit(() if is_more_alone else unbound, misfit))
    elif doubt:
        future.doubt(doubt)
    if is_more_alone or len(future.misfits) + len(future.doubts) == before:
        future.placed.update(
            state_node for state_node in state if case.saved.nodes[state_node].attributes
        )


def _of_other_shapes(case: Case, state: Iterable[int]) -> str:
    """Return how many states are of variables that have another shape now; "" for none."""
    others = {pair.node: pair.obj for pair in case.run.mapping.misfits}
    slots = ((node, case.saved.nodes[node].slot) for node in state)
    variables = [s.variable for n, s in slots if s is not None and s.variable in others]
    if not variables:
        return ""
    shapes = [[a.shape for a in case.saved.nodes[node].attributes] for node in variables]
    now = [[a.shape for a in case.live.nodes[others[node]].attributes] for node in variables]
    what = "variables of another dtype" if shapes == now else "variables of another shape"
    return f"{len(variables)} {'is' if len(variables) == 1 else 'are'} for {what} now"


def _slots(names: Iterable[str]) -> str:
    quoted = _names(names)
    return f"slots {quoted}" if quoted else "no slots"


def _names(names: Iterable[str]) -> str:
    return ", ".join(repr(SLOT_NAMES.get(name, name)) for name in sorted(names))


def _declared(case: Case, node: int) -> dict[str, list[int]]:
    """Return the variables of an optimizer's declared slots, by the slot's name."""
    variables: dict[str, list[int]] = {}
    for slot in case.saved.nodes[node].slot_variables:
        variables.setdefault(slot.slot_name, []).append(slot.variable)
    return variables


def _lists(case: Case, node: int, plan: OptimizerPlan) -> dict[str, list[int]]:
    """Return the items of the lists that hold a saved optimizer's slots, by the lists' names."""
    aside = {VARIABLES, TRAINABLE, plan.inner}
    return {
        child.local_name: _items(case, child.node_id)
        for child in case.saved.nodes[node].children
        if child.local_name not in aside
        and not case.saved.nodes[child.node_id].attributes
        and child.node_id in case.saved_side.valued
    }


def _items(case: Case, node: int | None) -> list[int]:
    """Return the items of a saved list in order."""
    if node is None:
        return []
    numbered = [c for c in case.saved.nodes[node].children if c.local_name.isdecimal()]
    return [c.node_id for c in sorted(numbered, key=lambda c: int(c.local_name))]


def _without_place(
    case: Case, node: int, obj: int, plan: OptimizerPlan, slots: Iterable[str]
) -> str:
    """Return what was saved that an optimizer will have no place for; "" if nothing."""
    there = {child.local_name for child in case.live.nodes[obj].children}
    known = {*there, *plan.own, *slots, VARIABLES, TRAINABLE}
    is_declaring = facts.generation(case.live_side.object(obj)) in _DECLARING
    for child in case.saved.nodes[node].children:
        may_be_slots = not is_declaring and not case.saved.nodes[child.node_id].attributes
        is_left = child.node_id in case.saved_side.waiting and child.local_name not in known
        if is_left and not may_be_slots:
            return f"the optimizer has no place for {case.saved_side.place(child.node_id)}"
    return ""


def _lacking(case: Case, node: int, plan: OptimizerPlan) -> str:
    """Return which variable other than a slot was not saved; "" if all were."""
    for name in plan.own:
        made = case.saved_side.child(node, name)
        if made is None or not case.saved.nodes[made].attributes:
            return f"the checkpoint lacks {case.saved_side.graph.names.child_place(node, name)}"
    return ""


def _trained_otherwise(
    case: Case, node: int, slots: Mapping[str, Sequence[int]], optimizer: object
) -> tuple[str, str]:
    """Compare the variables that a saved optimizer has slots for with the trained variables.

    Return what will not fit, and what may not fit.
    """
    parts = list(_trained_parts(case))
    listed = _items(case, case.saved_side.child(node, TRAINABLE))
    trained = {variable for part in parts for variable in part.trained}
    if facts.generation(optimizer) in _DECLARING:  # the restore makes all saved slots
        variables = sorted({variable for items in slots.values() for variable in items})
        fits = trained <= set(variables) or set(variables) in [set(p.trained) for p in parts]
    elif listed:
        variables, fits = listed, any(listed == part.trained for part in parts)
    else:
        items = next(iter(slots.values()), ())
        variables = sorted(_variables_of(case, items))
        fits = any(_are_for(case, items, part.trained) for part in parts)
    if fits or (parts[1:] and set(variables) == trained):  # of several models, in any order
        return "", ""
    known = case.trace.bound.keys() | {variable for part in parts for variable in part.placed}
    frozen = [variable for variable in variables if variable in known and variable not in trained]
    name = case.saved_side.place(node)
    if frozen:
        no_longer = case.saved_side.place(frozen[0])
        return f"{name} has slots for {no_longer}, which is not trainable now", ""
    return "", f"{name} was saved for other variables"


def _variables_of(case: Case, slots: Iterable[int]) -> set[int]:
    """Return the variables that slots are for, as far as the slots' names show it."""
    slot_facts = (case.saved.nodes[node].slot for node in slots)
    return {slot.variable for slot in slot_facts if slot is not None}


def _are_for(case: Case, slots: Sequence[int], variables: Sequence[int | None]) -> bool:
    """Return whether slots are for exactly these variables, judged by names and shapes."""
    if len(slots) != len(variables):
        return False
    for node, variable in zip(slots, variables, strict=True):
        slot = case.saved.nodes[node].slot
        if variable is None or (slot is not None and slot.variable != variable):
            return False
        if _shape(case, node) != _shape(case, variable):
            return False
    return True


def _shape(case: Case, node: int) -> tuple[int, ...] | None:
    attributes = case.saved.nodes[node].attributes
    return attributes[0].shape if attributes else None


def _trained_parts(case: Case) -> Iterator[Outlook]:
    """Yield what is known of each part of a program that may be trained alone."""
    ids = {id(case.live_side.object(obj)): obj for obj in range(len(case.live.nodes))}
    mapping = case.run.mapping
    saved_of: dict[int, int | None] = {p.obj: p.node for p in (*mapping.misfits, *mapping.pairs)}
    saved_of |= {obj: nodes[0] for obj, nodes in case.trace.holders.items()}
    for obj in _parts(case):
        part = case.live_side.object(obj)
        known = facts.trainable_variables_of(part) if not facts.is_unbuilt(part) else None
        if known is not None:
            yield Outlook(trained=[saved_of.get(ids.get(id(each), -1)) for each in known])
            continue
        future = Outlook()
        _FutureComparison(case, future).look(case.trace.holders[obj][0], obj)
        yield future


def _parts(case: Case) -> list[int]:
    """Return the root and the objects near it that an optimizer may be built for."""
    parts, level = [], [0]
    for _ in range(_MAX_DEPTH + 1):
        level = [
            obj
            for obj in level
            if obj in case.trace.holders
            and not case.live.nodes[obj].attributes
            and not facts.is_optimizer(case.live_side.object(obj))
        ]
        parts += level
        level = [child for obj in level for child in case.live.tree.children[obj]]
    return parts[:_MAX_PARTS]


def _is_in_order(
    case: Case, node: int, obj: int, plan: OptimizerPlan, slots: Mapping[str, Sequence[int]]
) -> bool:
    """Return whether a saved optimizer lists its variables in the order of the new optimizer."""
    lists = case.live_side.child(obj, VARIABLES)
    number = len(case.live.nodes[lists].children) if lists is not None else 0
    groups = list(takewhile(lambda group: all(name in slots for name in group), plan.slots))
    made: list[int | None] = []
    for columns in ([slots[name] for name in group] for group in groups):
        if len({len(column) for column in columns}) != 1:
            return False
        made += [slot for row in zip(*columns, strict=True) for slot in row]
    made += [case.saved_side.child(node, name) for name in plan.listed]
    return _items(case, case.saved_side.child(node, VARIABLES))[number:] == made
