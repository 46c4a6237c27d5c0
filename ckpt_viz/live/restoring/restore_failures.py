"""What TensorFlow raises when an object does not accept the value to restore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.trace import Cause, Failure, Refusal


def refusal_of_dtype(obj: Any) -> Callable[[Stored], Failure | None] | None:
    """Return what raises when a distributed variable converts a value; None for others."""
    if not tf_restore.is_distributed(obj):
        return None
    if tf_restore.sums_on_read(obj):  # divides among its replicas, then casts
        return lambda stored: _indivisible(stored.dtype or "")
    dtype = tf_private.base_dtype_name(obj.dtype)
    return lambda stored: _inconvertible(stored.dtype or "", dtype)


def refusal_of_new_counter(dtype: str) -> Callable[[Stored], Failure | None] | None:
    """Return what raises when a counter that the restore makes converts a value; None for none."""
    if not tf_restore.makes_distributed_variables():
        return None
    return lambda stored: _inconvertible(stored.dtype or "", dtype)


def _indivisible(dtype: str) -> Failure | None:
    if dtype not in ("string", "bool"):
        return None
    message = f"`x` and `y` must have the same dtype, got tf.{dtype} != tf.int32."
    return Failure(Cause.DTYPE, "TypeError", message, actual=dtype, expected="a number")


def _inconvertible(dtype: str, wanted: str) -> Failure | None:
    if dtype == wanted:
        return None
    message = f"Tensor conversion requested dtype {wanted} for Tensor with dtype {dtype}"
    return Failure(Cause.DTYPE, "ValueError", message, actual=dtype, expected=wanted)


def refuse_another_scope(optimizer: Any, variable: Any) -> None:
    """Raise as a Keras optimizer before 2.11 does if it may not make a slot variable."""
    strategy = tf_restore.active_strategy() or optimizer._distribution_strategy
    if tf_restore.strategy_of(variable) is not strategy:
        raise Refusal(
            Failure(
                Cause.SCOPE,
                "ValueError",
                "Trying to create optimizer slot variable under the scope for "
                f"tf.distribute.Strategy ({strategy or 'the default'}), which is different from "
                f"the scope used for the original variable ({variable.name}). Make sure the slot "
                "variables are created under the same strategy scope. This may happen if you're "
                "restoring from a checkpoint outside the scope.",
            )
        )


def optimizer_too_new(class_name: str) -> Failure:
    """Return what a Keras optimizer raises that does not know declared slot variables."""
    return Failure(
        Cause.SLOT_HOOK,
        "ValueError",
        "You are trying to restore a checkpoint from a legacy TF-Keras optimizer into a v2.11+ "
        "Optimizer, which can cause errors. Please update the optimizer referenced in your code "
        "to be an instance of `tf.keras.optimizers.legacy.Optimizer`, e.g.: "
        f"`tf.keras.optimizers.legacy.{class_name}`.",
    )


def failure_of(cause: Cause, error: Exception) -> Failure:
    """Return an exception as a failure of the trace."""
    return Failure(cause, type(error).__name__, str(error))
