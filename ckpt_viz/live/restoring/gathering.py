"""What an object would read from a checkpoint: keys, dtypes and shapes, by its class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ckpt_viz.formats.arrays.slices import parse_slice_spec
from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import Node, Stored
from ckpt_viz.live.restoring.iterators import Reading, is_iterator, refused_state
from ckpt_viz.live.restoring.restore_failures import failure_of, refusal_of_dtype
from ckpt_viz.live.restoring.tables import table_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.trace import Cause, Failure, Gathered, Intake, Read, Refusal


def kind_of_variable(obj: Any) -> str | None:
    """Return the serializer of a variable that reads only its value; None for other objects."""
    serializer = getattr(type(obj), "_serialize_to_tensors", None)
    kind = tf_restore.variable_serializers().get(serializer)
    if kind is not None and tf_private.serializes_itself(obj):
        return kind
    is_keras = getattr(serializer, "__module__", "").startswith("keras.src.backend.tensorflow")
    return "keras" if is_keras and tf_private.is_variable(obj) else None


def variable_reads(
    node: Node, variable: object, dtype: str, shape: tuple[int | None, ...] | None
) -> Gathered:
    """Return what a variable reads: only its value."""
    key = node.attributes[0].checkpoint_key
    try:
        name = tf_restore.saveable_name(key, None)
    except ValueError as error:
        raise Refusal(failure_of(Cause.CODE, error)) from error
    read = Read(name + keys.VARIABLE_VALUE, dtype, shape)
    return Gathered(Intake.TENSORS, (read,), name, targets=((name, variable),))


def gathered_by_attributes(obj: Any, node: Node) -> Gathered:
    """Return what an object reads under the names of the saved attributes."""
    read, unused = tf_restore.keys_of_saveables(obj, node.attributes)
    if not read:
        return Gathered(Intake.UNUSED, unused=unused)
    reads = tuple(Read(key, None) for key in read)
    return Gathered(Intake.TENSORS, reads, min(read), unused)


def gathered_by_saveables(obj: Any, node: Node, reading: Reading | None) -> Gathered:
    """Return what an object reads, from its own code."""
    saveables = tf_restore.saveables(obj, node.attributes)
    is_a_variable = tf_private.is_variable(obj)
    shape = tf_private.partial_shape(obj.shape) if is_a_variable else None
    reads = tuple(
        Read(
            key,
            dtype,
            None if part else shape,
            parse_slice_spec(part)[0] if part else None,
        )
        for key, part, dtype in saveables.specs
    )
    if not reads:
        return Gathered(Intake.UNUSED, unused=saveables.unused)
    return Gathered(
        Intake.TENSORS,
        reads,
        saveables.name,
        saveables.unused,
        refuses=_refusal_by(obj, reads[0].key, reading),
        targets=saveables.targets,
    )


def _refusal_by(
    obj: Any, key: str, reading: Reading | None
) -> Callable[[Sequence[Stored]], Failure | None] | None:
    """Return what decides whether the object takes tensors, if not only their shapes do."""
    if reading is not None and is_iterator(obj):
        return lambda stored: refused_state(obj, key, reading)
    if tf_restore.restores_nothing(obj):
        return lambda stored: Failure(Cause.CODE, "NotImplementedError", "")
    table = table_of(obj)
    if table is not None:
        return table.refuses
    if not tf_private.is_variable(obj):
        return None
    refuses = refusal_of_dtype(obj)
    if refuses is not None:
        return lambda stored: refuses(stored[0])
    value = getattr(obj, "_value", None)  # a Keras 3 variable assigns to this attribute
    active, own = tf_restore.active_strategy(), tf_restore.strategy_of(value)
    if active is None or own is None or active is own:
        return None
    message = f"Mixing different tf.distribute.Strategy objects: {active} is not {own}"
    failure = Failure(Cause.SCOPE, "RuntimeError", message)
    return lambda stored: failure
