"""Whether a save loses a trained value with an attribute that TensorFlow does not follow.

A weight is a variable that training changes or inference reads, such as a moving average. Metrics,
sources of random numbers and counters hold no weights: training and inference go on without their
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.untracked import KERAS_3_PARTS, Missed, unknown_values
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import Shadows


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
        (facts.is_unbuilt_layer(trackable) and attribute not in KERAS_3_PARTS)
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
