"""Live objects of every kind that TensorFlow users have, made afresh by each call.

TensorFlow is imported inside, so that collecting the tests does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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


def containers() -> Any:
    import tensorflow as tf

    shared = tf.Variable(1.0, name="shared")
    module = tf.Module()
    module.list = [tf.Variable(1), 2, [shared]]
    module.dict = {"a/b.c": tf.Variable([1.0, 2.0]), "empty": {}}
    module.tuple = (shared, "no trackable")
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
    generator = tf.random.Generator.from_seed(1)
    return tf.train.Checkpoint(table=table, generator=generator)


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
    keras2_with_legacy_adam,
    v1_optimizer,
    containers,
    root_with_attached_keywords,
    values_that_are_no_variables,
    strange_dtypes_and_shapes,
)
