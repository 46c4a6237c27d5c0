"""What an optimizer will make of saved states once it is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.outlook_of_layers import FutureComparison
from ckpt_viz.answers.evidence.unbuilt import Misfit, Outlook
from ckpt_viz.graphs.slots.keras_optimizers import TRAINABLE, VARIABLES
from ckpt_viz.graphs.slots.optimizer_table import SLOT_NAMES, Generation
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.building import OptimizerPlan, optimizer_plan_of

_DECLARING = (Generation.TENSORFLOW_1, Generation.LEGACY)
_MAX_DEPTH, _MAX_PARTS = 2, 50  # of the parts of a program that an optimizer may be built for


def look_at_optimizer(case: Case, node: int, obj: int, future: Outlook) -> None:
    """Compare the variables that an optimizer will have with those of the saved optimizer."""
    optimizer = case.live_side.object(obj)
    plan = optimizer_plan_of(optimizer)
    if plan is None:
        future.doubts.append(f"only build() decides what {type(optimizer).__name__} makes")
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
            look_at_optimizer(case, inner, inner_obj, future)
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
            yield Outlook(trained=[saved_of.get(ids.get(id(one), -1)) for one in known])
            continue
        future = Outlook()
        FutureComparison(case, future).look(case.trace.holders[obj][0], obj)
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
