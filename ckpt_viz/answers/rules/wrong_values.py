"""Values that a restore loses, although every assert passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ckpt_viz.answers.dry_runs.failures import IMPORT_SAVER, make_as_saved
from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.dry_runs.other_shapes import other_shapes
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.sides import is_optimizer
from ckpt_viz.graphs.nodes.nodes import Node, has_value
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action


def value_lost(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved values that lose their variable to another value."""
    for node, obj, _ in case.trace.joining(Action.REPEAT):
        is_explained = node in explained.nodes or obj in explained.objects
        if is_explained or not has_value(case.saved.nodes[node]):
            continue
        kept = next((n for n in case.trace.holders[obj] if n != node), None)
        if kept is None or _same_bytes(case, kept, node):
            continue
        if _is_gone(case, node) is not _is_gone(case, kept):
            continue  # an index led a value to the object of another
        parts = case.run.mapping.parts
        if len({parts[n].obj for n in (kept, node) if n in parts}) > 1:
            continue  # each has an object of its own, and an index led to the other one
        is_kept = has_value(case.saved.nodes[kept])
        yield case.run.finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            f"Two saved objects share this one object: {case.saved_side.place(kept)} "
            f"{'is restored' if is_kept else 'comes first and has no value'}, and the value of "
            f"{case.saved_side.place(node)} is lost.",
            "Give the program two objects, as when it was saved.",
            nodes=(node, kept),
            objects=(obj,),
        )


def _is_gone(case: Case, node: int) -> bool:
    """Return whether the program no longer has the saved object."""
    return node not in case.placement.counterparts


def _same_bytes(case: Case, left: int, right: int) -> bool:
    a, b = (_fingerprints(case, node) for node in (left, right))
    return a == b and None not in a


def _fingerprints(case: Case, node: int) -> list[object]:
    attributes = case.saved.nodes[node].attributes
    return [case.saved.fingerprint(attribute.checkpoint_key) for attribute in attributes]


def never_restored(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find live values that are bound to a saved object without a value."""
    repeated = case.trace.joining(Action.REPEAT)
    lost = {obj for node, obj, _ in repeated if has_value(case.saved.nodes[node])}
    for node, obj, _ in case.trace.joining(Action.VALUELESS):
        live = case.live_side.node(obj)
        if live is None or not _surely_has_value(live):
            continue
        if is_optimizer(live) or obj in lost:
            continue
        yield case.run.finding(
            Severity.WARNING,
            Kind.NEVER_RESTORED,
            "The checkpoint has an object without a value here, so the program's value stays "
            "unchanged, and no assert fails.",
            "Give the two objects different local names, or restore into an object of the "
            "saved class.",
            nodes=(node,),
            objects=(obj,),
        )


def tensor_ignored(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find stored tensors that the object does not read."""
    failed = {step.node for step in case.trace.steps_of(Action.FAIL)}
    for node, obj, step in case.trace.joining(Action.GATHER):
        attributes = case.saved.nodes[node].attributes
        reads_all = tuple([a.checkpoint_key for a in attributes]) == step.names
        is_left_to_saver = bool(step.name)
        if reads_all or is_left_to_saver or node in failed:
            continue
        unused = set(case.trace.unused_attributes.get(node, ()))
        ignored = [
            attribute.name
            for attribute in attributes
            if attribute.name not in unused and not _is_read(attribute.checkpoint_key, step.names)
            if attribute.name not in _known_to_file(case, obj)
        ]
        if ignored:
            yield case.run.finding(
                Severity.WARNING,
                Kind.TENSOR_IGNORED,
                f"The object reads {len(step.names)} of the saved tensors and leaves "
                f"{listed(ignored)} unread, and no assert fails.",
                "Restore into an object of the saved class.",
                nodes=(node,),
                objects=(obj,),
            )


def _known_to_file(case: Case, obj: int) -> frozenset[str]:
    """Return the attributes that a file in place of the program has at an object.

    The object's own code is unknown. Such code, of a table for example, reads what it would save.
    """
    nodes = case.live.nodes
    if case.live.origin is Origin.LIVE or obj >= len(nodes):
        return frozenset()
    return frozenset(attribute.name for attribute in nodes[obj].attributes)


def _is_read(key: str, keys: Iterable[str]) -> bool:
    # One attribute may hold several tensors: `.../table` for `.../table-keys`.
    return any(read.startswith(key) for read in keys)


def saver_unknown(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find objects whose registered saver does not run here."""
    for node, obj, step in case.trace.joining(Action.SKIP_SAVER):
        yield case.run.finding(
            Severity.WARNING,
            Kind.SAVER_UNKNOWN,
            f"The program lacks the registered saver {step.name!r}, or the saver refuses this "
            "object, which stays unchanged; no assert fails.",
            IMPORT_SAVER,
            nodes=(node,),
            objects=(obj,),
        )


def reshaped(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find variables of a TensorFlow 1 graph that take a value of another shape."""
    for taken in other_shapes(case.run.outcome):
        yield case.run.finding(
            Severity.WARNING,
            Kind.SHAPE,
            f"The saved value has shape {taken.saved}, the program's variable {taken.live}; the "
            "graph takes it without an error and keeps the wrong shape.",
            make_as_saved(case.run, "shape"),
            nodes=(taken.node,),
            objects=(taken.obj,),
        )


def _surely_has_value(node: Node) -> bool:
    """Return whether a live node surely has a value, not only custom code that may give a value."""
    return bool(node.registered_saver) or any(attribute.name for attribute in node.attributes)
