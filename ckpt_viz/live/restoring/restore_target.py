"""A live object as the target of a restore: its side of the matching, and the assert's objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import SAVE_COUNTER
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.objects.live_source import graph_of_walk, tracked, view_of
from ckpt_viz.live.objects.walk import Walk
from ckpt_viz.live.restoring.restore_side import TensorFlowSide
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.trace import Cause, Failure

RESTORE, READ = "restore", "read"


@dataclass(frozen=True)
class RestoreTarget:
    """A live object as the target of a restore by `method`.

    `listed` are all objects that a restore walks through, by id and in its order. `valued` are
    those for which its asserts expect a value, without slot variables if it skips them. `valuing`
    is what checking them raises, `listing` what the asserts' walk raises. `listing_all` is what the
    walk of a name-based restore raises, which skips nothing. `wraps_not_found` says that the call
    rewords "not found".
    """

    graph: Graph
    side: TensorFlowSide
    method: str
    listed: tuple[int, ...]
    valued: tuple[int, ...]
    valuing: Failure | None
    listing: Failure | None
    listing_all: Failure | None
    wraps_not_found: bool
    takes_path_objects: bool = True


def where_it_goes(source: Any, method: str | None, options: Any) -> tuple[Any, str | None]:
    """Return the target of a call with these options, and the method.

    An asynchronous call restores its own Checkpoint, whether it is a restore or a read.
    """
    checkpoint = tf_private.without_manager(source)
    if not tf_restore.is_asynchronous(checkpoint, options):
        return source, method
    if not tf_private.is_checkpoint(checkpoint):
        return source, RESTORE
    if not hasattr(type(checkpoint), READ):  # the one of TensorFlow 1 has no options
        return source, method
    return tf_restore.asynchronous_checkpoint(checkpoint), RESTORE


def reads(source: Any) -> bool:
    """Return whether a target has a method `read`: a Checkpoint of TensorFlow 1 has none."""
    checkpoint = tf_private.without_manager(source)
    return not tf_private.is_checkpoint(checkpoint) or hasattr(type(checkpoint), READ)


def restoring_into(source: Any, method: str | None, *, skips_slots: bool) -> RestoreTarget:
    """Return the target of a restore; do not change the objects.

    Raises SourceError for an object that TensorFlow cannot track, or a method it lacks.
    """
    given, source = source, tracked(source)
    checkpoint = tf_private.without_manager(source)
    is_checkpoint = tf_private.is_checkpoint(checkpoint)
    chosen = method or (RESTORE if is_checkpoint and source is given else READ)
    if chosen not in (RESTORE, READ):
        raise SourceError(f"found method {method!r}, expected 'restore' or 'read'")
    is_v1 = is_checkpoint and not hasattr(type(checkpoint), READ)
    if is_v1 and chosen == READ:
        raise SourceError("a tf.compat.v1.train.Checkpoint has no read(); expected 'restore'")
    view = view_of(source)
    attached = view.attached_dependencies or ()
    if not is_checkpoint:
        _refuse_false_root(view.root)
    walk = Walk(view)
    nodes = walk.run()
    if is_checkpoint:
        counter = checkpoint._save_counter
    else:  # as Checkpoint(root=source) would find it
        counter = walk.shadows.lookup(view.root, SAVE_COUNTER)
    creates = chosen == RESTORE and counter is None
    side = TensorFlowSide(
        walk,
        attached_count=len(attached),
        makes_counter=creates,
        attaches_counter=not is_checkpoint or view.root is not checkpoint,
        counter_holder=walk.ids.get(id(checkpoint)) if is_checkpoint else None,
        is_eager=tf_restore.is_eager(),
    )
    valued, valuing = _valued(walk, side, skips_slots=skips_slots)
    return RestoreTarget(
        graph=graph_of_walk(given, walk, nodes),
        side=side,
        method=chosen,
        listed=tuple(range(len(walk.objects))),
        valued=valued,
        valuing=valuing,
        listing=_listing(walk, skips_slots=skips_slots),
        listing_all=_listing(walk, skips_slots=False),
        wraps_not_found=chosen == RESTORE and not is_v1,
        takes_path_objects=not is_v1,
    )


def _refuse_false_root(root: Any) -> None:
    """Raise if `Checkpoint(root=root)` ignores the root: it tests `if root` (checkpoint.py)."""
    fault = f"found a {type(root).__name__}"
    advice = "check tf.train.Checkpoint(name=object), which saves it under a name"
    try:
        is_true = bool(root)
    except Exception as error:  # the object's own code, or a variable of several elements
        raise SourceError(
            f"{fault} whose bool() raises {type(error).__name__}, and "
            f"tf.train.Checkpoint(root=object) calls it: {advice}"
        ) from error
    if not is_true:
        raise SourceError(
            f"{fault} that is false, since it is empty or zero; tf.train.Checkpoint(root=object) "
            f"leaves a false root out and restores nothing: {advice}"
        )


def _valued(
    walk: Walk, side: TensorFlowSide, *, skips_slots: bool
) -> tuple[tuple[int, ...], Failure | None]:
    """Return the objects for which a restore's asserts expect a value, and what checking raises.

    The asserts hold the objects weakly. Objects without another holder are gone when they look,
    except the last one listed.
    """
    valued: list[int] = []
    failure: Failure | None = None
    last = len(walk.objects) - 1
    for obj_id in range(len(walk.children) if skips_slots else len(walk.objects)):
        obj = walk.objects[obj_id]
        if obj_id in walk.momentary and obj_id != last:
            continue
        is_empty = obj_id < len(walk.children) and not walk.children[obj_id]
        if is_empty and tf_private.is_data_structure(obj):
            continue
        try:
            if side.has_value(obj):
                valued.append(obj_id)
        except Exception as error:  # the object's own code
            failure = failure or Failure(Cause.CODE, type(error).__name__, str(error))
    return tuple(valued), failure


def _listing(walk: Walk, *, skips_slots: bool) -> Failure | None:
    refusals = list(walk.refusals.values())
    if not skips_slots:
        refusals += filter(None, (walk.slot_refusal, _refused_slot(walk)))
    if not refusals:
        return None
    return Failure(Cause.CHILDREN, type(refusals[0]).__name__, str(refusals[0]))


def _refused_slot(walk: Walk) -> Exception | None:
    """Return what listing raises for a slot variable that has children (checkpoint/util.py)."""
    for slot in walk.objects[len(walk.children) :]:
        if walk.shadows.children(slot):
            return NotImplementedError(
                "Currently only variables with no dependencies can be saved as slot variables. "
                "File a feature request if this limitation bothers you."
            )
    return None
