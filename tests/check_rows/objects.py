"""Live objects for the rows; each call creates new ones.

Functions import TensorFlow, so that collecting the tests does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.programs import ckpt, keras_2, module, var, with_children


def v1_ckpt(**children: Any) -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.Checkpoint(**children)


class NotTracked:
    """Holds an object where TensorFlow does not look."""

    def __init__(self, held: Any) -> None:
        self.held = held


def special(**members: Any) -> Callable[..., Any]:
    """Return what makes trackable objects with these members of their class.

    Their `ready` is set when they have their children, so that members can behave till then.
    """
    import tensorflow as tf

    made = type("Special", (tf.__internal__.tracking.AutoTrackable,), {"ready": False, **members})

    def make(**children: Any) -> Any:
        found = with_children(made(), **children)
        object.__setattr__(found, "ready", "__getattr__" not in members)
        return found

    return make


def answering_with_errors() -> Callable[..., Any]:
    """Return what makes objects that, once `ready`, raise for every missing attribute."""

    def getattr_(self: Any, name: str) -> Any:
        raise (RuntimeError if self.ready else AttributeError)(name)

    return special(__getattr__=getattr_)


def state_of_python(text: str = "state") -> Any:
    """Return a PythonState that keeps, as `restored`, what it gets back."""
    import tensorflow as tf

    class State(tf.train.experimental.PythonState):  # type: ignore[misc]
        restored: str | None = None

        def serialize(self) -> str:
            return text

        def deserialize(self, string: str) -> None:
            self.restored = string

    return State()


def serializing(**values: Any) -> Any:
    """Return an object that saves these tensors and keeps, as `restored`, what it gets back."""
    import tensorflow as tf

    return special(
        restored=None,
        _serialize_to_tensors=lambda self: {k: tf.constant(v) for k, v in values.items()},
        _restore_from_tensors=lambda self, tensors: object.__setattr__(self, "restored", tensors),
    )()


def unlistable() -> Callable[..., Any]:
    """Return what makes objects that raise where they are asked for their children."""

    def children(self: Any, save_type: str = "checkpoint", **kwargs: Any) -> Any:
        raise RuntimeError("no list for you")

    return special(_trackable_children=children)


def with_saveables(**values: Any) -> Any:
    """Return an object that saves in the way from before `_serialize_to_tensors`."""
    import tensorflow as tf
    from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

    class Saveable(SaveableObject):  # type: ignore[misc]
        def __init__(self, value: Any, name: str) -> None:
            super().__init__(value, [SaveSpec(value, "", name)], name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return tf.no_op()

    def factory(value: Any) -> Callable[..., Any]:
        return lambda name: Saveable(tf.constant(value), name)

    return special(
        _gather_saveables_for_checkpoint=lambda self: {k: factory(v) for k, v in values.items()}
    )()


_classes: dict[str, Any] = {}


def registered(name: str, strict: bool = True) -> Any:
    """Return the class, registered once, of objects with a saver of their own.

    They are `restored` when it has run.
    """
    import tensorflow as tf
    from tensorflow.python.saved_model import registration

    if name not in _classes:
        made = type(name, (tf.Module,), {"restored": None})

        def restore(trackables: Mapping[str, Any], merged_prefix: Any) -> None:
            for one in trackables.values():
                one.restored = True

        registration.register_checkpoint_saver(
            package="check_table",
            name=name,
            predicate=lambda obj: isinstance(obj, made),
            save_fn=lambda trackables, file_prefix: [],
            restore_fn=restore,
            strict_predicate_restore=strict,
        )
        _classes[name] = made
    return _classes[name]


def mutable_table() -> Any:
    import tensorflow as tf

    return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)


def dense_table() -> Any:
    import tensorflow as tf

    return tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "deleted")


def iterator() -> Any:
    import tensorflow as tf

    return iter(tf.data.Dataset.range(10))


def generator() -> Any:
    import tensorflow as tf

    return tf.random.Generator.from_seed(1)


def static_table() -> Any:
    import tensorflow as tf

    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)


def filled_table(entries: int, *value_shape: int) -> Any:
    """Return a MutableHashTable with so many entries."""
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(
        tf.int64, tf.int64, tf.zeros(value_shape, tf.int64)
    )
    if entries:
        table.insert(
            tf.range(1, entries + 1, dtype=tf.int64), tf.ones((entries, *value_shape), tf.int64)
        )
    return table


def dense_table_of(*value_shape: int, key_shape: Sequence[int] = ()) -> Any:
    """Return an empty DenseHashTable."""
    import tensorflow as tf

    return tf.lookup.experimental.DenseHashTable(
        tf.int64,
        tf.int64,
        default_value=tf.zeros(value_shape, tf.int64),
        empty_key=tf.zeros(key_shape, tf.int64) - 1,
        deleted_key=tf.zeros(key_shape, tf.int64) - 2,
    )


def devices() -> list[str]:
    """Return the logical CPUs that there are: one, unless the process asked for more."""
    import tensorflow as tf

    return [f"CPU:{index}" for index in range(len(tf.config.list_logical_devices("CPU")))]


def mirrored(value: Any = 1.0, **options: Any) -> Any:
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(devices()).scope():
        return tf.Variable(value, **options)


def on_read(value: Any = 1.0, aggregation: str = "SUM") -> Any:
    import tensorflow as tf

    return mirrored(
        value,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation[aggregation],
    )


def sharded(*rows_of_parts: int, columns: int = 2) -> Any:
    import tensorflow as tf
    from tensorflow.python.distribute.sharded_variable import ShardedVariable

    parts = [
        tf.Variable(tf.ones([rows, columns]), name=f"sharded/part_{place}")
        for place, rows in enumerate(rows_of_parts)
    ]
    return ShardedVariable(parts, name="sharded")


def central(value: Any = 1.0) -> Any:
    """Return a variable of a strategy that keeps them on one device."""
    import tensorflow as tf

    with tf.distribute.experimental.CentralStorageStrategy(devices()).scope():
        return tf.Variable(value)


def dtensor(value: Any = 1.0, as_bf16: bool = False) -> Any:
    import tensorflow as tf

    layouts = tf.experimental.dtensor
    mesh = layouts.create_mesh([("batch", 1)], devices=["CPU:0"])
    layout = layouts.Layout.replicated(mesh, rank=0)
    made = layouts.DVariable(layouts.copy_to_mesh(tf.constant(value), layout))
    made.save_as_bf16 = as_bf16
    return made


def v1_momentum() -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)


def scaled(optimizer: Any) -> Any:
    return keras_2().mixed_precision.LossScaleOptimizer(optimizer)


def applied(optimizer: Any, *variables: Any) -> Any:
    """Return the optimizer after a step."""
    import tensorflow as tf

    optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])
    return optimizer


def training(optimizer: Any, *, steps: bool = True, shapes: Sequence[int] = (2, 3)) -> Any:
    """Return a checkpoint of a model and an optimizer, with or without its slots."""
    import tensorflow as tf

    variables = [tf.Variable(tf.ones([size])) for size in shapes]
    if steps:
        applied(optimizer, *variables)
    return ckpt(model=module(vs=variables), optimizer=optimizer)


def with_optimizer(optimizer: Any, variable: Any) -> Any:
    return ckpt(v=variable, optimizer=applied(optimizer, variable))


def tracking_its_slot() -> Any:
    variable = var([1.0])
    optimizer = applied(v1_momentum(), variable)
    return ckpt(v=variable, optimizer=optimizer, again=optimizer.get_slot(variable, "momentum"))


def named_v(value: Any = 0.0) -> Any:
    return var(value, name="v")


def counted(checkpoint: Any) -> Any:
    """Return the checkpoint after it was asked for its counter, which makes one."""
    assert checkpoint.save_counter is not None
    return checkpoint


def holding_a_poisoned_list(items: list[Any]) -> Any:
    """Return a module whose list lacks an item that it had: TensorFlow refuses to follow it."""
    holder = module(items=items)
    del holder.items[0]
    return holder


def sequential(keras: Any, *sizes: int, built: bool = True) -> Any:
    layers = [keras.layers.Dense(size) for size in sizes]
    model = keras.Sequential(layers)
    if built:
        model.build((None, 3))
    return model
