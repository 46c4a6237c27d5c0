"""Live objects of every kind that TensorFlow users have; each call creates new ones.

Functions import TensorFlow, so that collecting the tests does not wait for it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


def guide_loop() -> Any:
    """Return the checkpoint of TensorFlow's guide after two training steps."""
    import tensorflow as tf

    class Net(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.l1 = tf.keras.layers.Dense(5)

        def call(self, x: Any) -> Any:
            return self.l1(x)

    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    data = tf.data.Dataset.from_tensor_slices(tf.range(10.0)[:, None]).repeat().batch(2)
    iterator = iter(data)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(next(iterator)))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net, iterator=iterator)


def keras3_functional_with_sgd_momentum() -> Any:
    import tensorflow as tf

    inputs = tf.keras.Input((3,))
    x = tf.keras.layers.BatchNormalization()(tf.keras.layers.Dense(4)(inputs))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(tf.keras.layers.Dropout(0.5)(x)))
    model.compile("sgd", "mse")
    model.optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    model.optimizer.build(model.trainable_variables)
    return tf.train.Checkpoint(model)


def keras2_with_legacy_adam() -> Any:
    import tensorflow as tf
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(3,))])
    optimizer = tf_keras.optimizers.legacy.Adam()
    variables = model.trainable_variables
    optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])
    return tf.train.Checkpoint(model=model, optimizer=optimizer)


def v1_optimizer() -> Any:
    import tensorflow as tf

    model = tf.Module()
    model.a, model.b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    optimizer = tf.compat.v1.train.AdamOptimizer()
    optimizer.apply_gradients([(tf.ones_like(v), v) for v in (model.a, model.b)])
    return tf.train.Checkpoint(model=model, optimizer=optimizer)


class Pair(NamedTuple):
    first: Any
    second: Any


def containers() -> Any:
    import tensorflow as tf

    shared = tf.Variable(1.0, name="shared")
    module = tf.Module()
    module.list = [tf.Variable(1), 2, [shared]]
    module.dict = {"a/b.c": tf.Variable([1.0, 2.0]), "empty": {}}
    module.tuple = (shared, "no trackable")
    module.named = Pair(tf.Variable(7), [tf.Variable(8)])
    module.gaps = [1, tf.Variable(9), None, "text", {"deep": (tf.Variable(10),)}]
    module.ordered = OrderedDict(z=tf.Variable(11), a=tf.Variable(12))
    setattr(module, "no identifier / 1.0", tf.Variable(13))
    module.self = module
    return tf.train.Checkpoint(module=module, shared=shared)


def root_with_attached_keywords() -> Any:
    import tensorflow as tf

    root = tf.Module()
    root.v = tf.Variable(1.0)
    return tf.train.Checkpoint(root, step=tf.Variable(1), again=root.v)


def values_that_are_no_variables() -> Any:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    initializer = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    dataset = tf.data.Dataset.range(10).shuffle(3)
    return tf.train.Checkpoint(
        table=table,
        dense=dense,
        static=tf.lookup.StaticHashTable(initializer, 0),
        generator=tf.random.Generator.from_seed(1),
        iterator=iter(dataset),
    )


def python_state() -> Any:
    import tensorflow as tf

    class Text(tf.train.experimental.PythonState):  # type: ignore[misc]
        def serialize(self) -> str:
            return "state"

        def deserialize(self, string: str) -> None:
            raise AssertionError("looking must not load")

    return tf.train.Checkpoint(state=Text(), v=tf.Variable(1))


def objects_that_serialize_themselves() -> Any:
    import tensorflow as tf
    from tensorflow.python.trackable.base import Trackable

    class Halves(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.inner = tf.Variable(3.0)

        def _serialize_to_tensors(self) -> dict[str, Any]:
            self.calls += 1
            return {"low/er": tf.constant(1.0), "upper": tf.constant([2.0])}

    class Legacy(Trackable):  # type: ignore[misc]
        def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
            return {"VALUE": lambda name: _constant_saveable(name)}

    return tf.train.Checkpoint(halves=Halves(), legacy=Legacy())


def objects_that_list_what_they_wrap() -> Any:
    """Return wrappers that ask what they wrap, hold resources, and keep attributes in slots."""
    import tensorflow as tf
    import tf_keras

    class Wrapper(tf.Module):  # type: ignore[misc]
        __slots__ = ("slot",)

        def __init__(self, inner: Any) -> None:
            self.__dict__.update(inner=inner, listed=0)  # as no tracked attribute
            object.__setattr__(self, "slot", inner)

        def __del__(self) -> None:
            self.inner.__dict__["freed"] = True

        def _trackable_children(self, *args: Any, **kwargs: Any) -> Any:
            self.__dict__["listed"] += 1
            assert self.slot._trackable_children(*args, **kwargs).keys() == (
                self.inner._trackable_children(*args, **kwargs).keys()
            )
            return {**self.inner._trackable_children(*args, **kwargs), "it": self.inner}

        def _lookup_dependency(self, name: str, cached: Any = None) -> Any:
            return self.inner if name == "it" else self.inner._lookup_dependency(name, cached)

    built = tf_keras.optimizers.Adam()
    built.build([tf.Variable([1.0, 2.0])])
    return tf.train.Checkpoint(
        optimizer=Wrapper(built), bare=Wrapper(tf.Module()), twice=Wrapper(Wrapper(tf.Module()))
    )


def _constant_saveable(name: str) -> Any:
    import tensorflow as tf
    from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

    class Constant(SaveableObject):  # type: ignore[misc]
        def __init__(self) -> None:
            value = tf.constant([1, 2])
            super().__init__(value, [SaveSpec(value, "", name)], name)

    return Constant()


def registered_saver() -> Any:
    import tensorflow as tf

    return tf.train.Checkpoint(registered=_registered_class()(), v=tf.Variable(1))


@cache
def _registered_class() -> Any:
    import tensorflow as tf
    from tensorflow.python.saved_model import registration

    class Registered(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.part = tf.Variable(1)

    registration.register_checkpoint_saver(
        package="ckpt_viz_tests",
        name="saver",
        predicate=lambda obj: isinstance(obj, Registered),
        save_fn=lambda trackables, file_prefix: [],
        restore_fn=lambda *args, **kwargs: None,
    )
    return Registered


def distributed_variables() -> Any:
    import tensorflow as tf
    from tensorflow.python.distribute.sharded_variable import ShardedVariable

    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        mirrored = tf.Variable([1.0, 2.0], name="mirrored")
        on_read = tf.Variable(
            3.0,
            name="on_read",
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    parts = [tf.Variable([[1.0, 2.0]]), tf.Variable([[3.0, 4.0], [5.0, 6.0]])]
    return tf.train.Checkpoint(
        mirrored=mirrored, on_read=on_read, sharded=ShardedVariable(parts, name="sharded")
    )


def module_with_functions() -> Any:
    import tensorflow as tf

    class Counter(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="counter")
            self.count = tf.Variable(0)
            self.limits = (tf.constant(1), tf.Variable(2))

        @tf.function  # type: ignore[untyped-decorator]
        def __call__(self) -> Any:
            return self.count.assign_add(1)

    module = Counter()
    module()
    return module


def v1_checkpoint() -> Any:
    import tensorflow as tf

    checkpoint = tf.compat.v1.train.Checkpoint(v=tf.Variable(1), module=module_with_functions())
    assert checkpoint.save_counter is not None  # from now on it is part of the graph
    return checkpoint


def manager() -> Any:
    import tempfile

    import tensorflow as tf

    root = tf.Module()
    root.v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(root, step=tf.Variable(1))
    return tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)


def status_of_a_restore() -> Any:
    import tempfile

    import tensorflow as tf

    prefix = tf.train.Checkpoint(v=tf.Variable(1), late=tf.Variable(2)).save(
        tempfile.mkdtemp() + "/ckpt"
    )
    target = tf.train.Checkpoint(v=tf.Variable(0))
    status = target.restore(prefix)  # `late` waits, deferred
    status.expect_partial()
    status.keeps = target
    return status


def keras2_subclassed_with_optimizer() -> Any:
    import tensorflow as tf
    import tf_keras

    class Net(tf_keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [tf_keras.layers.Dense(2), tf_keras.layers.Dense(2)]
            self.by_name = {"out": tf_keras.layers.Dense(1)}

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.by_name["out"](x)

    model = Net()
    model.compile(tf_keras.optimizers.Adam(), "mse", metrics=["mae"])
    model.fit(tf.ones([4, 3]), tf.ones([4, 1]), verbose=0)
    return model


def keras2_optimizer_before_and_after_its_first_look() -> Any:
    import tensorflow as tf
    import tf_keras

    variable = tf.Variable([1.0, 2.0])
    optimizer = tf_keras.optimizers.Adam()
    checkpoint = tf.train.Checkpoint(v=variable, optimizer=optimizer)
    import ckpt_viz

    ckpt_viz.graph(checkpoint)  # must not freeze the children that tf_keras lists now
    optimizer.build([variable])
    return checkpoint


def keras3_model_with_lists_and_seeds() -> Any:
    import tensorflow as tf

    class Net(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)]
            self.pair = (tf.keras.layers.Dense(2), tf.keras.layers.Dropout(0.5))
            self.out = tf.keras.layers.LSTM(2)

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.out(self.pair[1](self.pair[0](x))[:, None])

    model = Net()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(tf.ones([4, 3]), tf.ones([4, 2]), verbose=0)
    return tf.train.Checkpoint(model=model)


def keras3_optimizers() -> Any:
    import tensorflow as tf

    optimizers = tf.keras.optimizers
    makers: list[Callable[[], Any]] = [
        lambda: optimizers.RMSprop(momentum=0.9, centered=True),
        lambda: optimizers.Adafactor(),
        lambda: optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)),
        lambda: optimizers.SGD(use_ema=True, ema_momentum=0.9),
    ]
    checkpoint = tf.train.Checkpoint()
    for index, make in enumerate(makers):
        variables = [tf.Variable(tf.ones([3, 2])), tf.Variable([1.0, 2.0])]
        optimizer = make()
        optimizer.build(variables)
        setattr(checkpoint, f"pair{index}", tf.train.Checkpoint(vs=variables, opt=optimizer))
    return checkpoint


def keras3_functional_model_alone() -> Any:
    import tensorflow as tf

    inputs = tf.keras.Input((3,))
    shared = tf.keras.layers.Dense(3, name="shared")
    inner = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(3)])
    model = tf.keras.Model(inputs, shared(inner(shared(inputs))))
    model.compile("adam", "mse")
    return model


def keras3_optimizer_alone() -> Any:
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam()
    optimizer.build([tf.Variable([1.0, 2.0])])
    return optimizer


def unbuilt_models() -> Any:
    import tensorflow as tf
    import tf_keras

    return tf.train.Checkpoint(
        keras=tf.keras.Sequential([tf.keras.layers.Dense(2)]),
        tf_keras=tf_keras.Sequential([tf_keras.layers.Dense(2)]),
        optimizer=tf.keras.optimizers.SGD(),
        layer=tf.keras.layers.Dense(2),
    )


def keras2_layer_alone() -> Any:
    import tf_keras

    layer = tf_keras.layers.LSTM(2)
    layer.build((None, 3, 4))
    return layer


def loss_scaled_optimizers() -> Any:
    import tensorflow as tf
    import tf_keras

    variables = [tf.Variable(tf.ones([3, 2])), tf.Variable([1.0, 2.0])]
    keras3 = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam())
    keras2 = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.Adam())
    for optimizer in (keras3, keras2):
        optimizer.build(variables)
    return tf.train.Checkpoint(keras3=keras3, keras2=keras2, variables=variables)


def loaded_saved_model() -> Any:
    import tempfile

    import tensorflow as tf

    directory = tempfile.mkdtemp()
    tf.saved_model.save(module_with_functions(), directory)
    return tf.saved_model.load(directory)


def untracked_attributes() -> Any:
    import tensorflow as tf

    module = tf.Module()
    module.tracked = [tf.Variable(0)]
    module.by_default = defaultdict(list, {"a": [tf.Variable(1)]})
    module.queue = deque([tf.Variable(2), tf.Variable(3)])
    module.unique = {tf.Variable(4).ref()}
    module.special = type("SpecialList", (list,), {})([tf.Variable(5)])
    module.shared = {1: "no trackable"}
    return module


def restored_and_waiting() -> Any:
    """Return a checkpoint whose model still waits for the values of layers not built yet."""
    import tempfile

    import tensorflow as tf

    prefix = tf.train.Checkpoint(net=tf.train.Checkpoint(v=tf.Variable(1))).save(
        tempfile.mkdtemp() + "/ckpt"
    )
    checkpoint = tf.train.Checkpoint(net=tf.train.Checkpoint(w=tf.Variable(0)))
    checkpoint.restore(prefix).expect_partial()
    return checkpoint


def strange_dtypes_and_shapes() -> Any:
    import tensorflow as tf

    return tf.train.Checkpoint(
        bf16=tf.Variable(tf.zeros([2, 3], tf.bfloat16)),
        text=tf.Variable(["a", "bc"]),
        flag=tf.Variable([[True]]),
        complex=tf.Variable(tf.zeros([1], tf.complex64)),
        empty=tf.Variable(tf.zeros([0, 4])),
    )


KINDS: tuple[Callable[[], Any], ...] = (
    guide_loop,
    keras3_functional_with_sgd_momentum,
    keras3_model_with_lists_and_seeds,
    keras3_optimizers,
    keras3_functional_model_alone,
    keras3_optimizer_alone,
    loss_scaled_optimizers,
    unbuilt_models,
    keras2_layer_alone,
    keras2_with_legacy_adam,
    keras2_subclassed_with_optimizer,
    keras2_optimizer_before_and_after_its_first_look,
    v1_optimizer,
    v1_checkpoint,
    containers,
    root_with_attached_keywords,
    module_with_functions,
    loaded_saved_model,
    manager,
    status_of_a_restore,
    restored_and_waiting,
    values_that_are_no_variables,
    python_state,
    objects_that_serialize_themselves,
    objects_that_list_what_they_wrap,
    registered_saver,
    distributed_variables,
    untracked_attributes,
    strange_dtypes_and_shapes,
)
