"""What a live object is to a restore: its side of the matching, and what the asserts look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live import tensorflow_restore as tf_restore
from ckpt_viz.live.restore_side import TensorFlowSide
from ckpt_viz.live.source import graph_of_walk, view_of
from ckpt_viz.live.untouched import untouched
from ckpt_viz.live.walk import Walk
from ckpt_viz.matching.engine import SAVE_COUNTER
from ckpt_viz.matching.trace import Cause, Failure
from ckpt_viz.object_graph.graph import Graph

RESTORE, READ = "restore", "read"


@dataclass(frozen=True)
class Target:
    """A live object that a checkpoint would be restored into by `method`.

    `listed` are the objects that every assert walks through, by id and in its order; `valued`
    those among them that it expects a value for. `listing` is what that walk raises.
    `wraps_not_found` says that the call is one that words "not found" anew, `attaches_counter`
    that a `save_counter` hangs off the checkpoint, not off its root.
    """

    graph: Graph
    side: TensorFlowSide
    method: str
    listed: tuple[int, ...]
    valued: tuple[int, ...]
    listing: Failure | None
    wraps_not_found: bool
    attaches_counter: bool


@contextmanager
def restoring_into(source: Any, method: str | None, *, skips_slots: bool) -> Iterator[Target]:
    """Give the target of a restore; afterwards the objects are what they were.

    Raises SourceError for an object that TensorFlow cannot track, or a method it lacks.
    """
    checkpoint = source.checkpoint if tf_private.is_checkpoint_manager(source) else source
    is_checkpoint = tf_private.is_checkpoint(checkpoint)
    chosen = method or (RESTORE if is_checkpoint else READ)
    if chosen not in (RESTORE, READ):
        raise SourceError(f"found method {method!r}, expected 'restore' or 'read'")
    is_v1 = is_checkpoint and not hasattr(type(checkpoint), READ)
    if is_v1 and chosen == READ:
        raise SourceError("a tf.compat.v1.train.Checkpoint has no read(); expected 'restore'")
    view = view_of(source)
    attached = view.attached_dependencies or ()
    with untouched() as memory:
        walk = Walk(view, memory)
        nodes = walk.run()
        if is_checkpoint:
            counter = checkpoint._save_counter
        else:  # as Checkpoint(root=source) would find it
            counter = view.root._lookup_dependency(SAVE_COUNTER)
        creates = chosen == RESTORE and counter is None
        yield Target(
            graph=graph_of_walk(source, walk, nodes),
            side=TensorFlowSide(
                walk,
                attached_count=len(attached),
                makes_counter=creates,
                is_eager=tf_restore.is_eager(),
            ),
            method=chosen,
            listed=tuple(_listed(walk, skips_slots=skips_slots)),
            valued=tuple(_valued(walk, skips_slots=skips_slots)),
            listing=_listing(walk, skips_slots=skips_slots),
            wraps_not_found=chosen == RESTORE and not is_v1,
            attaches_counter=not is_checkpoint or view.root is not checkpoint,
        )


def _listed(walk: Walk, *, skips_slots: bool) -> range:
    return range(len(walk.children) if skips_slots else len(walk.objects))


def _valued(walk: Walk, *, skips_slots: bool) -> Iterator[int]:
    """Yield the objects that a restore's asserts expect a value for."""
    for obj in _listed(walk, skips_slots=skips_slots):
        it = walk.objects[obj]
        is_empty = obj < len(walk.children) and not walk.children[obj]
        if is_empty and tf_private.is_data_structure(it):
            continue
        if tf_private.is_variable(it) or tf_restore.has_saveables(it):
            yield obj


def _listing(walk: Walk, *, skips_slots: bool) -> Failure | None:
    refusals = list(walk.refusals.values())
    if not skips_slots and walk.slot_refusal is not None:
        refusals.append(walk.slot_refusal)
    if not refusals:
        return None
    return Failure(Cause.CHILDREN, type(refusals[0]).__name__, str(refusals[0]))
