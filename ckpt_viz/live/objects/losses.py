"""What a save leaves out, and whether it loses a trained value with it.

A weight is a variable that training changes or inference reads, such as a moving average. Metrics,
sources of random numbers and counters hold no weights: training and inference go on without their
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.graphs.nodes.nodes import NotSaved
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.code_reading import is_set_by_libraries
from ckpt_viz.live.objects.composed_variables import Known
from ckpt_viz.live.objects.untracked import Missed, unknown_values, unsaved_in
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.packages import KERAS, has_class
from ckpt_viz.live.tensorflow_names.shadows import Shadows


def find_not_saved(objects: Sequence[Any], shadows: Shadows) -> dict[int, tuple[NotSaved, ...]]:
    """Return, by node id, the attributes that hold values without a node.

    Checks the objects' own attributes, the containers in them, and one object deep into values that
    TensorFlow cannot track; runs no property. Keras' own state in such an object counts as a
    container. `objects` are those of the graph, by node id; `shadows` ask
    others for their children. Each value is reported once, by the first attribute that holds it.
    """
    known = Known(objects)
    by_owner: dict[int, list[NotSaved]] = {}
    unsaved = unsaved_in(
        objects, known, shadows, passes_over=facts.is_record_of_calls, opens_state=True
    )
    for owner, attribute, value, missed in unsaved:
        lost = loses_a_weight(objects[owner], attribute, missed, known.ids, shadows)
        if not lost and _is_own_of_keras(objects[owner], attribute):
            continue  # what Keras keeps for itself, such as the metric of the loss
        variables = {
            id(variable)
            for candidate in missed
            for variable in unknown_values(candidate.trackable, known.ids, shadows)
        }
        kind = type(value).__name__
        note = NotSaved(attribute, kind, len(missed), lost, len(variables))
        by_owner.setdefault(owner, []).append(note)
    return {owner: tuple(notes) for owner, notes in by_owner.items()}


def _is_own_of_keras(obj: Any, attribute: str) -> bool:
    """Return whether Keras keeps something for itself: a model of Keras 2 has no underscore."""
    is_own = attribute.startswith("_") or has_class(obj, ("Model",), KERAS)
    return is_own and is_set_by_libraries(obj, attribute)


def loses_a_weight(
    owner: Any, attribute: str, missed: Sequence[Missed], known: set[int], shadows: Shadows
) -> bool:
    """Return whether a weight is lost with what an attribute of `owner` holds.

    `known` has the ids of objects that are in the graph; `shadows` ask the others for children.
    """
    if facts.is_kept_by_keras(owner, attribute):
        return False
    return any(
        # Keras alone still lists an unbuilt layer that another one replaced.
        (facts.is_unbuilt_layer(trackable) and attribute not in facts.KERAS_3_PARTS)
        or any(
            map(
                _is_weight,
                unknown_values(trackable, known, shadows, without=facts.has_no_weights),
            )
        )
        for trackable, holder in missed
        if not facts.has_no_weights(holder)
    )


def _is_weight(value: Any) -> bool:
    """Return whether a value is a weight: whatever is no counter."""
    try:
        is_whole = tf_private.base_dtype_name(value.dtype).startswith(("int", "uint"))
        return not (is_whole and tuple(value.shape) == () and not value.trainable)
    except Exception:  # a broken container, a variable of unknown shape or of a user's class
        return True
