"""Values that go wrong while every assert passes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ckpt_viz.live import facts
from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, count
from ckpt_viz.restore_check.finding import Finding, Kind

_UNIQUIFIER = re.compile(r"_\d+(?=/|$)")
_INDEX_LISTS = ("_trainable_variables", "_variables", "_trainable_variables_indices")


def value_lost(case: Case) -> Iterator[Finding]:
    """Find saved values of which another one goes into the same variable."""
    for step in case.steps(Action.REPEAT):
        assert step.node is not None and step.obj is not None
        if not _has_value(case.saved.nodes[step.node]):
            continue
        kept = _restored_holder(case, step)
        if kept is None or _same_bytes(case, kept, step.node):
            continue
        yield case.finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            f"Two saved values belong to this one object: that of {case.saved.name(kept)} is "
            f"restored, that of {case.saved.name(step.node)} is not.",
            "Give the program two objects, as it had when it was saved.",
            nodes=(step.node, kept),
            objects=(step.obj,),
        )


def _restored_holder(case: Case, step: Step) -> int | None:
    assert step.obj is not None
    first = case.holders.get(step.obj, ())
    return next((node for node in first if node != step.node), None)


def _same_bytes(case: Case, left: int, right: int) -> bool:
    a, b = (_fingerprints(case, node) for node in (left, right))
    return a == b and None not in a


def _fingerprints(case: Case, node: int) -> list[object]:
    stored = [case.saved.stored(a.checkpoint_key) for a in case.saved.nodes[node].attributes]
    return [one.fingerprint if one is not None else None for one in stored]


def never_restored(case: Case) -> Iterator[Finding]:
    """Find live values that are bound to a saved object without a value."""
    for step in case.steps(Action.VALUELESS):
        assert step.node is not None and step.obj is not None
        live = case.live_node(step.obj)
        others = [node for node in case.holders.get(step.obj, ()) if node in case.restored]
        if live is not None and _has_value(live) and not others:
            yield case.finding(
                Severity.WARNING,
                Kind.NEVER_RESTORED,
                "The checkpoint has an object without a value in this place, so the program's "
                "value stays what it is, and every assert passes.",
                "Give the two different local names, or restore into an object of the saved class.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def tensor_ignored(case: Case) -> Iterator[Finding]:
    """Find stored tensors that the object does not ask for."""
    for step in case.steps(Action.GATHER):
        assert step.node is not None and step.obj is not None
        node = case.saved.nodes[step.node]
        unused = set(case.trace.unused_attributes.get(step.node, ()))
        ignored = [
            attribute.name
            for attribute in node.attributes
            if attribute.name not in unused and not _is_read(attribute.checkpoint_key, step.names)
        ]
        if ignored:
            yield case.finding(
                Severity.WARNING,
                Kind.TENSOR_IGNORED,
                f"The object reads {count(len(step.names), 'tensor')} of those that were saved "
                f"and leaves {', '.join(ignored)} unread; no assert tells.",
                "Restore into an object of the class that was saved.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def _is_read(key: str, keys: Iterable[str]) -> bool:
    # One attribute may stand for several tensors: `.../table` for `.../table-keys`.
    return any(read.startswith(key) for read in keys)


def saver_unknown(case: Case) -> Iterator[Finding]:
    """Find objects whose registered saver does not run here."""
    for step in case.steps(Action.SKIP_SAVER):
        assert step.node is not None and step.obj is not None
        yield case.finding(
            Severity.WARNING,
            Kind.SAVER_UNKNOWN,
            f"It was saved by the registered saver {step.name!r}, which this program does not "
            "have or which does not take this object; it is left as it is, and every assert "
            "passes.",
            "Import the module that registers the saver before restoring.",
            nodes=(step.node,),
            objects=(step.obj,),
        )


def inconsistent(case: Case) -> Iterator[Finding]:
    """Find saved objects with several paths that lead to different live objects.

    The first path decides; through the index of a Keras 3 optimizer's list it is often another
    variable's.
    """
    told: set[tuple[int, int]] = set()
    by_index: dict[int, list[tuple[int, int, int]]] = {}
    for step in case.steps(Action.KEEP):
        assert step.node is not None and step.parent is not None
        parent, first = case.bound.get(step.parent), case.bound.get(step.node)
        if parent is None or first is None:
            continue
        other = case.live_child(parent, step.name)
        if other is None or other == first or (step.node, other) in told:
            continue
        told.add((step.node, other))
        if not _matters(case, other):
            continue
        optimizer = _optimizer_of(case, case.binding.get(step.node)) or _optimizer_of(case, step)
        if optimizer is not None:
            by_index.setdefault(optimizer, []).append((step.node, first, other))
        else:
            yield _untied(case, step.node, first, other)
    for optimizer, pairs in by_index.items():
        yield _cross_wired(case, optimizer, pairs)


def _untied(case: Case, node: int, first: int, other: int) -> Finding:
    return case.finding(
        Severity.WARNING,
        Kind.UNTIED,
        f"One saved object stands for two of the program, {case.run.live_name(first)} and "
        f"{case.run.live_name(other)}; only the first one gets its values.",
        "Share the object in the program, as it was when it was saved, or set the other after "
        "restoring.",
        nodes=(node,),
        objects=(first, other),
    )


def _cross_wired(case: Case, optimizer: int, pairs: list[tuple[int, int, int]]) -> Finding:
    node, first, other = pairs[0]
    nodes = dict.fromkeys(node for node, _, _ in pairs)
    return case.finding(
        Severity.WARNING,
        Kind.CROSS_WIRED,
        f"By their index in the lists of {case.saved.name(optimizer)}, "
        f"{count(len(nodes), 'saved value')} belong to other variables than by their path in the "
        f"model: {case.saved.name(node)} goes into {case.run.live_name(first)}, and not into "
        f"{case.run.live_name(other)}.",
        "Build the optimizer with the same trainable variables in the same order as when it was "
        "saved, or restore model and optimizer from checkpoints of their own.",
        nodes=nodes,
        objects=dict.fromkeys(obj for _, *both in pairs for obj in both),
    )


def _optimizer_of(case: Case, step: Step | None) -> int | None:
    """Return the saved optimizer of which the step's parent is a list of variables."""
    if step is None or step.parent is None or not step.name.isdecimal():
        return None
    for parent, name in case.saved.edges_to[step.parent]:
        if name in _INDEX_LISTS and case.saved.nodes[parent].role is Role.OPTIMIZER:
            return parent
    return None


def _matters(case: Case, obj: int) -> bool:
    """Return whether an object has a value itself; below it every path is looked at anyway."""
    node = case.live_node(obj)
    return node is not None and _has_value(node)


def swapped(case: Case) -> Iterator[Finding]:
    """Find variables that get each other's values, as their full names tell.

    Names prove it only where they change places among themselves: a saved `b` that goes into
    the variable `a` is a renaming, unless a saved `a` goes into the variable `b`. Numbers that
    Keras makes names unique by are no evidence.
    """
    goes_to = _names_by_names(case)
    for name, (node, obj, live_name) in goes_to.items():
        circle = [name]
        while live_name in goes_to and live_name not in circle and len(circle) <= 1000:
            circle.append(live_name)
            live_name = goes_to[live_name][2]
        if len(circle) > 1 and live_name == name:
            yield case.finding(
                Severity.WARNING,
                Kind.SWAPPED,
                f"The value that was saved from {name!r} goes into {goes_to[name][2]!r}, and in "
                "turn: by position they belong together, by name they have changed places.",
                "Put them in the order in which they were saved.",
                nodes=(node,),
                objects=(obj,),
            )
    yield from _swapped_slots(case)


def _names_by_names(case: Case) -> dict[str, tuple[int, int, str]]:
    """Return, by saved full name: node, object and the object's full name, where they differ."""
    pairs = []
    for node in case.restored:
        obj = case.bound[node]
        live = case.live_node(obj)
        if live is None or live.slot is not None or case.saved.nodes[node].slot is not None:
            continue
        saved_name, live_name = _full_name(case.saved.nodes[node]), _full_name(live)
        if saved_name and live_name:
            pairs.append((saved_name, live_name, node, obj))
    saved_count = Counter(saved for saved, *_ in pairs)
    live_count = Counter(live for _, live, *_ in pairs)
    return {
        saved: (node, obj, live)
        for saved, live, node, obj in sorted(pairs)
        if saved != live and saved_count[saved] == 1 and live_count[live] == 1
    }


def _full_name(node: Node) -> str:
    if len(node.attributes) != 1:
        return ""
    return _UNIQUIFIER.sub("", node.attributes[0].full_name)


def _swapped_slots(case: Case) -> Iterator[Finding]:
    for node in sorted(case.restored):
        obj = case.bound[node]
        live, saved = case.live_node(obj), case.saved.nodes[node]
        if live is None or live.slot is None or saved.slot is None:
            continue
        its_variable = case.bound.get(saved.slot.variable)
        if saved.slot.name != live.slot.name:
            yield case.finding(
                Severity.WARNING,
                Kind.SWAPPED,
                f"The saved state {saved.slot.name!r} goes into the state {live.slot.name!r}: the "
                "optimizers keep their state in another order.",
                "Restore with the version of Keras and the optimizer that saved it.",
                nodes=(node,),
                objects=(obj,),
            )
        elif its_variable is not None and its_variable != live.slot.variable:
            yield case.finding(
                Severity.WARNING,
                Kind.CROSS_WIRED,
                f"The saved state {saved.slot.name!r} of {case.saved.name(saved.slot.variable)} "
                f"goes by its index into that of {case.live.name(live.slot.variable)}.",
                "Build the optimizer with the same trainable variables in the same order as when "
                "it was saved.",
                nodes=(node,),
                objects=(obj,),
            )


def unknowable(case: Case) -> Iterator[Finding]:
    """Find values that code of the object's own takes in."""
    for step in case.steps(Action.RESTORE):
        if step.node is None or step.obj is None or not case.is_live_node(step.obj):
            continue
        if facts.takes_values_by_own_code(case.live.object(step.obj)):
            yield case.finding(
                Severity.INFO,
                Kind.UNKNOWABLE,
                "Code of its own class takes the saved value in; only running it shows whether "
                "it can.",
                "Try it on a copy of the object.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def overwritten(case: Case) -> Iterator[Finding]:
    """Find hyperparameters that were set to something else than what was saved."""
    for node in sorted(case.restored):
        obj = case.bound[node]
        live = case.live_node(obj)
        step = case.binding.get(node)
        if live is None or step is None or step.name.strip("_") != "learning_rate":
            continue
        values = _scalars(case, node, obj)
        if values is not None and values[0] != values[1]:
            yield case.finding(
                Severity.INFO,
                Kind.OVERWRITTEN,
                f"The program's {step.name.strip('_')} is {values[1]:.7g}; the restore sets it "
                f"to {values[0]:.7g}, as it was saved.",
                "Set it again after restoring, if that is not meant.",
                nodes=(node,),
                objects=(obj,),
            )


def _scalars(case: Case, node: int, obj: int) -> tuple[float, float] | None:
    """Return the saved and the live value of a scalar; None where one cannot be read."""
    saved, live = case.saved.nodes[node].attributes, case.live.nodes[obj].attributes
    if len(saved) != 1 or len(live) != 1 or saved[0].shape != () or live[0].shape != ():
        return None
    try:
        return (
            float(case.saved.read(saved[0].checkpoint_key)),
            float(case.live.read(live[0].checkpoint_key)),
        )
    except Exception:  # unreadable here is told where it is the matter
        return None


def _has_value(node: Node) -> bool:
    return bool(node.attributes or node.registered_saver)
