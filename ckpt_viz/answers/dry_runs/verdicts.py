"""What the asserts of a restore's status would raise, computed from the trace.

Follows `CheckpointLoadStatus` and `NameBasedSaverStatus` in
tensorflow/python/checkpoint/checkpoint.py, in their order. TensorFlow names the first object that
fails, or the first ten; these name all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.nodes.walks import reached
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Failure, Trace

NO_CHECKPOINT = "No checkpoint specified (save_path=None); nothing is being restored."


@dataclass(frozen=True)
class Raised:
    """An exception, by the name of its class and its text."""

    type: str
    message: str


@dataclass(frozen=True)
class Verdicts:
    """What `restore` and the three asserts raise; None for each that passes.

    `unresolved` are saved nodes, `unmatched` live objects, by id.
    """

    restore: Raised | None = None
    consumed: Raised | None = None
    existing: Raised | None = None
    nontrivial: Raised | None = None
    unresolved: tuple[int, ...] = ()
    unmatched: tuple[int, ...] = ()


def object_based(
    saved: Graph,
    trace: Trace,
    valued: Sequence[int],
    live_name: Callable[[int], str],
    *,
    skips_slots: bool = False,
    stale: Sequence[int] = (),
    forgotten: Collection[int] = (),
    listing: Failure | None = None,
    valuing: Failure | None = None,
) -> Verdicts:
    """Return the verdicts on an object-based checkpoint.

    The code of live objects may raise in the asserts: `listing` while it lists all of them,
    `valuing` while it checks which have a value. `stale` are bound nodes whose object was never
    visited, which only a real restore can leave. `forgotten` are bound objects that TensorFlow does
    not hold.
    """
    saved_name, raised = partial(readable_name, saved), trace.raised
    held = {node: obj for node, obj in trace.bound.items() if obj not in forgotten}
    taken = set(held.values())
    unmatched = tuple(obj for obj in dict.fromkeys(valued) if obj not in taken)
    skipped = (
        {slot.slot_variable for node in saved.nodes for slot in node.slot_variables}
        if skips_slots
        else set()
    )
    unresolved = tuple(
        node_id
        for node_id, node in enumerate(saved.nodes)
        if node.attributes and node_id not in held and node_id not in skipped
    )
    if raised is not None:
        error = Raised(raised.type, raised.message)
        return Verdicts(error, error, error, error, unresolved, unmatched)
    existing = _existing(stale, unmatched, listing or valuing, saved_name, live_name)
    return Verdicts(
        consumed=existing or _consumed(saved, trace, unresolved, skips_slots=skips_slots),
        existing=existing,
        nontrivial=_nontrivial(len(held), unmatched, listing, valuing, live_name),
        unresolved=unresolved,
        unmatched=unmatched,
    )


def _existing(
    stale: Sequence[int],
    unmatched: Sequence[int],
    listing: Failure | None,
    saved_name: Callable[[int], str],
    live_name: Callable[[int], str],
) -> Raised | None:
    if stale:
        names = ", ".join(map(saved_name, stale))
        return _failed(f"Object not assigned a value from checkpoint: {names}")
    if listing is not None:
        return Raised(listing.type, listing.message)
    if unmatched:
        return _failed(
            f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, "
            "likely due to changes in the Python program: " + ", ".join(map(live_name, unmatched))
        )
    return None


def _consumed(
    saved: Graph, trace: Trace, unresolved: Sequence[int], *, skips_slots: bool
) -> Raised | None:
    saved_name = partial(readable_name, saved)
    if unresolved:
        names = ", ".join(map(saved_name, unresolved))
        return _failed_naming(
            saved,
            unresolved[0],
            f"Unresolved object{'s' if len(unresolved) > 1 else ''} in checkpoint: {names}",
        )
    if trace.slots_left and not skips_slots:
        names = ", ".join(map(saved_name, trace.slots_left))
        return _failed(f"Unresolved slot restorations: {names}")
    if trace.unused_attributes:
        lines = "".join(
            f"\n{saved_name(node)}: {list(names)}"
            for node, names in trace.unused_attributes.items()
        )
        return _failed_naming(
            saved,
            next(iter(trace.unused_attributes)),
            "Unused attributes in these objects (the attributes exist in the checkpoint but were "
            f"not restored):{lines}",
        )
    return None


def _failed_naming(saved: Graph, first: int, message: str) -> Raised:
    """Return what an assert raises that names saved nodes; TensorFlow's text begins with `first`.

    TensorFlow names slots in the order of the file, each after its optimizer and its variable. In a
    damaged file slots may have no name then, nor may the node (`ObjectGraphProtoPrettyPrinter`).
    """
    nodes = saved.nodes
    named = reached([ROOT], lambda node: [child.node_id for child in nodes[node].children])
    nameless = None
    for optimizer, node in enumerate(saved.nodes):
        for slot in node.slot_variables:
            if nameless is None:
                nameless = next((n for n in (optimizer, slot.variable) if n not in named), None)
            named.add(slot.slot_variable)
    if nameless is None and first not in named:
        nameless = first
    if nameless is None:
        return _failed(message)
    return Raised("KeyError", f"TensorFlow has no name for node {nameless}. {message}")


def _nontrivial(
    held: int,
    unmatched: Sequence[int],
    listing: Failure | None,
    valuing: Failure | None,
    live_name: Callable[[int], str],
) -> Raised | None:
    if listing is not None:
        return Raised(listing.type, listing.message)
    if held > 1:
        return None
    if valuing is not None:
        return Raised(valuing.type, valuing.message)
    if not unmatched:
        return _failed("Nothing to load. No dependencies have been added to the root yet.")
    return _failed(
        "Nothing except the root object matched a checkpointed value. Typically this means that "
        "the checkpoint does not match the Python program. The following objects have no "
        "matching checkpointed value: " + ", ".join(map(live_name, unmatched))
    )


def name_based(
    trace: NameTrace, live_name: Callable[[int], str], listing: Failure | None = None
) -> Verdicts:
    """Return the verdicts on a name-based checkpoint, for which the three asserts are the same.

    `listing` is as for objects.
    """
    unused, not_restored, raised = trace.unused, trace.not_restored, trace.raised
    unmatched = (*unused, *(obj for obj in not_restored if obj not in unused))
    failed: Raised | None = None
    if raised is not None:
        failed = Raised(raised.type, raised.message)
        return Verdicts(failed, failed, failed, failed, (), unmatched)
    if unused:
        lines = "".join(f"\n    {live_name(obj)}: {list(n)}" for obj, n in unused.items())
        failed = _failed(f"Some objects had attributes which were not restored: {lines}")
    elif listing is not None:
        failed = Raised(listing.type, listing.message)
    elif not_restored:
        failed = _failed("Object not restored: " + ", ".join(map(live_name, not_restored)))
    return Verdicts(None, failed, failed, failed, (), unmatched)


def without_checkpoint() -> Verdicts:
    """Return the verdicts on `restore(None)`: it passes, and every assert fails."""
    failed = _failed(NO_CHECKPOINT)
    return Verdicts(None, failed, failed, failed)


def _failed(message: str) -> Raised:
    return Raised("AssertionError", message)
