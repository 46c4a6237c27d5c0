"""Every optimizer of Keras 3, Keras 2 and TensorFlow 1, built on models of many shapes.

The truth about slots comes from Python here: from the optimizers' own lists and `get_slot`. Every
variable then gets a unique value, so that a test can recognise it in a file by its value, whatever
its name there.

Functions import TensorFlow, so that collecting the tests does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SlotTruth = tuple[str, Any, Any]  # slot name, slot variable, variable


@dataclass(frozen=True)
class Marked:
    """A checkpoint in which every variable is filled with a number of its own.

    `slots` maps the number in a slot variable to the slot's name and the number in its variable.
    """

    checkpoint: Any
    slots: Mapping[float, tuple[str, float]]


def mark(checkpoint: Any, truth: Sequence[SlotTruth]) -> Marked:
    """Fill all variables of a checkpoint with numbers; return it, with its slots by number."""
    import tensorflow as tf

    numbers: dict[int, float] = {}
    for variable in _variables(checkpoint, truth):
        numbers[id(variable)] = float(len(numbers) + 1)
        value = tf.cast(tf.fill(variable.shape, len(numbers)), variable.dtype)
        variable.assign(value)
    return Marked(
        checkpoint,
        {
            numbers[id(_resource(slot))]: (name, numbers[id(_resource(variable))])
            for name, slot, variable in truth
        },
    )


def _variables(checkpoint: Any, truth: Sequence[SlotTruth]) -> Iterator[Any]:
    """Yield each `tf.Variable` of a checkpoint once, also those that only optimizers know."""
    import tensorflow as tf

    tracked = tf.train.TrackableView(checkpoint).descendants()
    named = [v for _, slot, variable in truth for v in (slot, variable)]
    seen = set()
    for found in map(_resource, [*tracked, *named]):
        if isinstance(found, tf.Variable) and id(found) not in seen:
            seen.add(id(found))
            yield found


def _resource(variable: Any) -> Any:
    """Return the `tf.Variable` of a Keras 3 variable; everything else as it is."""
    is_keras = type(variable).__module__.startswith("keras.")
    return getattr(variable, "value", variable) if is_keras else variable


# Keras 3 -------------------------------------------------------------------------------

# Where Keras 3 optimizers keep their slots. The names are those of the design: the suffixes
# of the full names, and letters for the factors of Adafactor, which have no suffix.
EMA = {"_model_variables_moving_average": "average"}
ACCUMULATED = {"_accumulated_gradients": "gradient_accumulator"}
_MOMENTUM = {"_momentums": "momentum"}
_ADAM = {"_momentums": "momentum", "_velocities": "velocity"}
# These two keep their slots alike in Keras 2.
_ADADELTA = {
    "_accumulated_grads": "accumulated_grad",
    "_accumulated_delta_vars": "accumulated_delta_var",
}
_CENTERED = {
    "_velocities": "velocity",
    "_momentums": "momentum",
    "_average_gradients": "average_gradient",
}


@dataclass(frozen=True)
class Kind:
    """A kind of optimizer: how to make it, and the attributes that hold its slots, by name."""

    name: str
    make: Callable[[], Any]
    lists: Mapping[str, str]

    def __str__(self) -> str:
        return self.name


def _keras_3_kind(name: str, lists: Mapping[str, str], class_name: str = "", **kwargs: Any) -> Kind:
    def make() -> Any:
        import keras

        return getattr(keras.optimizers, class_name or name)(**{"learning_rate": 0.1, **kwargs})

    return Kind(name, make, lists)


def _with_schedule() -> Any:
    import keras

    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    return keras.optimizers.Adam(schedule)


KERAS_3 = (
    _keras_3_kind("SGD", {}),
    _keras_3_kind("SGD momentum", {"momentums": "momentum"}, "SGD", momentum=0.9, nesterov=True),
    _keras_3_kind("Adam", _ADAM),
    _keras_3_kind("AMSGrad", {**_ADAM, "_velocity_hats": "velocity_hat"}, "Adam", amsgrad=True),
    _keras_3_kind("AdamW", _ADAM),
    _keras_3_kind("Adamax", {"_m": "momentum", "_u": "norm"}),
    _keras_3_kind("Nadam", _ADAM),
    _keras_3_kind("Adagrad", {"_accumulators": "accumulator"}),
    _keras_3_kind("Adadelta", _ADADELTA),
    _keras_3_kind("RMSprop", {"_velocities": "velocity"}),
    _keras_3_kind("RMSprop centered", _CENTERED, "RMSprop", momentum=0.9, centered=True),
    _keras_3_kind("Ftrl", {"_accumulators": "accumulator", "_linears": "linear"}),
    _keras_3_kind("Lion", _MOMENTUM),
    _keras_3_kind("Lamb", _ADAM),
    _keras_3_kind("Adafactor", {"_r": "r", "_c": "c", "_v": "velocity"}),
    _keras_3_kind("Muon", {"momentums": "momentum", "adam_velocities": "velocity"}),
    _keras_3_kind("ScheduleFreeAdamW", _ADAM),
    Kind("Adam with schedule", _with_schedule, _ADAM),
    _keras_3_kind(
        "Adam with all", {**_ADAM, **EMA, **ACCUMULATED}, "Adam",
        use_ema=True, gradient_accumulation_steps=2,
    ),
    _keras_3_kind(
        "Adafactor with all", {"_r": "r", "_c": "c", "_v": "velocity", **EMA, **ACCUMULATED},
        "Adafactor", use_ema=True, gradient_accumulation_steps=2,
    ),
    _keras_3_kind(
        "Muon with all",
        {"momentums": "momentum", "adam_velocities": "velocity", **EMA, **ACCUMULATED},
        "Muon", use_ema=True, gradient_accumulation_steps=2, exclude_layers=["second"],
    ),
    _keras_3_kind("SGD with EMA alone", EMA, "SGD", use_ema=True),
)  # fmt: skip


def keras_3_slots(optimizer: Any, lists: Mapping[str, str]) -> list[SlotTruth]:
    """Return the slots of a built optimizer, which may be wrapped, from its own lists."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    return [
        (name, slot, inner._trainable_variables[index])
        for attribute, name in lists.items()
        for index, slot in enumerate(getattr(inner, attribute))
        if slot is not None
    ]


def keras_3_models() -> dict[str, Callable[[], Any]]:
    """Return makers of models by what is special about them."""
    import keras
    import tensorflow as tf

    layers = keras.layers

    def functional() -> Any:
        inputs = keras.Input((3,))
        x = layers.BatchNormalization()(layers.Dense(3, name="first_of")(inputs))
        x = layers.Dense(3)(layers.Dropout(0.5)(x))
        return keras.Model(inputs, layers.Dense(3, name="second")(x))

    def sequential() -> Any:
        return keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(3)])

    class Subclassed(keras.Model):  # type: ignore[misc]
        """Called without `build`: Keras leaves the layers' names out of the full names."""

        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.embed = layers.Embedding(3, 3)
            self.first = layers.Dense(3)
            self.second = layers.Dense(3, name="second")
            self.third = layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.third(self.second(self.first(self.embed(x))))

    def subclassed() -> Any:
        model = Subclassed()
        model(tf.zeros((1, 2), tf.int32))
        return model

    def frozen() -> Any:
        model = subclassed()
        model.second.trainable = False
        return model

    def frozen_functional() -> Any:
        model = functional()
        model.layers[1].trainable = False
        return model

    def shared() -> Any:
        dense, inputs = layers.Dense(3), keras.Input((3,))
        return keras.Model(inputs, layers.Dense(3)(dense(dense(inputs))))

    def nested() -> Any:
        inner = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(3)])
        other = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(3)])
        return keras.Sequential([keras.Input((3,)), inner, other, layers.Dense(3)])

    def nested_with_equal_names() -> Any:
        def part(name: str) -> Any:
            return keras.Sequential([keras.Input((3,)), layers.Dense(3, name="fc")], name=name)

        inputs = keras.Input((3,))
        return keras.Model(inputs, part("b")(part("a")(inputs)))

    def equal_names_everywhere() -> Any:
        class Same(keras.Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.a = layers.Dense(3, name="same")
                self.b = layers.Dense(3, name="same", use_bias=False)
                self.c = layers.Dense(3, name="same")

            def call(self, x: Any) -> Any:
                return self.c(self.b(self.a(x)))

        model = Same()
        model(tf.zeros((1, 3)))
        return model

    def kernels_of_all_ranks() -> Any:
        inputs = keras.Input((8, 8, 2))
        x = layers.Conv2D(2, 3)(layers.Conv2D(2, 3)(inputs))
        x = layers.SeparableConv2D(2, 3)(layers.LayerNormalization()(x))
        return keras.Model(inputs, layers.Dense(1)(layers.Flatten()(x)))

    def recurrent_with_names_like_suffixes() -> Any:
        inputs = keras.Input((4,))
        x = layers.GRU(2, name="momentum")(layers.Embedding(5, 3, name="accumulator")(inputs))
        x = layers.Dense(2, name="velocity_average")(x)
        return keras.Model(inputs, layers.Dense(2, name="velocity")(x))

    def float8() -> Any:
        """Return a model with variables that optimizers make no slots for."""
        inputs = keras.Input((3,))
        policy = "float8_from_float32"
        x = layers.Dense(3, dtype=policy)(layers.Dense(3, dtype=policy)(inputs))
        return keras.Model(inputs, layers.Dense(3)(x))

    makers = (
        functional, sequential, subclassed, frozen, frozen_functional, shared, nested,
        nested_with_equal_names, equal_names_everywhere, kernels_of_all_ranks,
        recurrent_with_names_like_suffixes, float8,
    )  # fmt: skip
    return {make.__name__: make for make in makers}


# Keras 2 -------------------------------------------------------------------------------

_KERAS_2_ADAM = {"_momentums": "m", "_velocities": "v"}


def _keras_2_kind(name: str, lists: Mapping[str, str], class_name: str = "", **kwargs: Any) -> Kind:
    def make() -> Any:
        import tf_keras

        return getattr(tf_keras.optimizers, class_name or name)(**{"learning_rate": 0.1, **kwargs})

    return Kind(name, make, lists)


KERAS_2 = (
    _keras_2_kind("SGD", {"momentums": "m"}),  # made, if not used, without a momentum too
    _keras_2_kind("Adam", _KERAS_2_ADAM),
    _keras_2_kind(
        "Adam amsgrad", {**_KERAS_2_ADAM, "_velocity_hats": "vhat"}, "Adam", amsgrad=True
    ),
    _keras_2_kind("AdamW", _KERAS_2_ADAM),
    _keras_2_kind("Adamax", {"_m": "m", "_u": "u"}),
    _keras_2_kind("Nadam", _KERAS_2_ADAM),
    _keras_2_kind("Adagrad", {"_accumulators": "accumulator"}),
    _keras_2_kind("Adadelta", _ADADELTA),
    _keras_2_kind("RMSprop centered", _CENTERED, "RMSprop", momentum=0.9, centered=True),
    _keras_2_kind("Ftrl", {"_accumulators": "accumulator", "_linears": "linear"}),
    _keras_2_kind("Lion", {"momentums": "m"}),
    _keras_2_kind("Adafactor", {"_r": "r", "_c": "c", "_v": "v"}),
    _keras_2_kind("Adam with EMA", {**_KERAS_2_ADAM, **EMA}, "Adam", use_ema=True),
)


def keras_2_slots(
    optimizer: Any, lists: Mapping[str, str], variables: Sequence[Any]
) -> list[SlotTruth]:
    """Return the slots of a new Keras 2 optimizer from its lists."""
    return [
        (name, getattr(optimizer, attribute)[optimizer._index_dict[optimizer._var_key(v)]], v)
        for attribute, name in lists.items()
        for v in variables
    ]


def keras_2_legacy() -> dict[str, Any]:
    """Return one optimizer of each class from before TensorFlow 2.11."""
    import tf_keras

    legacy = tf_keras.optimizers.legacy
    return {
        "SGD": legacy.SGD(0.1),
        "SGD with schedule": legacy.SGD(
            tf_keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
        ),
        "SGD momentum": legacy.SGD(0.1, momentum=0.9),
        "Adam": legacy.Adam(),
        "Adam amsgrad": legacy.Adam(amsgrad=True),
        "Adamax": legacy.Adamax(),
        "Nadam": legacy.Nadam(),
        "Adagrad": legacy.Adagrad(),
        "Adadelta": legacy.Adadelta(),
        "RMSprop": legacy.RMSprop(momentum=0.9, centered=True),
        "Ftrl": legacy.Ftrl(),
    }


def keras_2_models() -> dict[str, Callable[[], Any]]:
    """Return makers of Keras 2 models by what is special about them."""
    import tensorflow as tf
    import tf_keras

    layers = tf_keras.layers

    def functional() -> Any:
        inputs = tf_keras.Input((3,))
        x = layers.BatchNormalization()(layers.Dense(3)(inputs))
        return tf_keras.Model(inputs, layers.Dense(3)(layers.Dense(3, trainable=False)(x)))

    class Subclassed(tf_keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = layers.Embedding(3, 3)
            self.blocks = [layers.Dense(3), layers.Dense(3)]

        def call(self, x: Any) -> Any:
            return self.blocks[1](self.blocks[0](self.embed(x)))

    def subclassed() -> Any:
        model = Subclassed()
        model(tf.zeros((1, 2), tf.int32))
        return model

    def nested() -> Any:
        inner = tf_keras.Sequential([layers.Dense(3, input_shape=(3,), name="m")], name="v")
        return tf_keras.Sequential(
            [inner, layers.Dense(3), layers.Reshape((3, 1)), layers.Conv1D(2, 1)]
        )

    def named_like_slots() -> Any:
        class M(tf_keras.Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__(name="m")
                self.dense = layers.Dense(3, name="v")

            def call(self, x: Any) -> Any:
                return self.dense(x)

        model = M()
        model(tf.zeros((1, 3)))
        return model

    return {make.__name__: make for make in (functional, subclassed, nested, named_like_slots)}


# TensorFlow 1 --------------------------------------------------------------------------


def tensorflow_1() -> dict[str, Any]:
    """Return one optimizer of each class of `tf.compat.v1.train` that runs eagerly."""
    import tensorflow as tf

    v1 = tf.compat.v1.train
    step = tf.Variable(0, dtype=tf.int64, name="global_step")
    return {
        "GradientDescent": v1.GradientDescentOptimizer(0.1),
        "ProximalGradientDescent": v1.ProximalGradientDescentOptimizer(0.1),
        "Momentum": v1.MomentumOptimizer(0.1, 0.9),
        "Adam": v1.AdamOptimizer(0.1),
        "RMSProp": v1.RMSPropOptimizer(0.1, momentum=0.9, centered=True),
        "Adagrad": v1.AdagradOptimizer(0.1),
        "AdagradDA": v1.AdagradDAOptimizer(0.1, step),
        "Adadelta": v1.AdadeltaOptimizer(0.1),
        "Ftrl": v1.FtrlOptimizer(0.1),
        "ProximalAdagrad": v1.ProximalAdagradOptimizer(0.1),
    }


def declared_slots(optimizer: Any, variables: Sequence[Any]) -> list[SlotTruth]:
    """Return the slots of an optimizer that answers `get_slot`."""
    return [
        (name, optimizer.get_slot(variable, name), variable)
        for name in optimizer.get_slot_names()
        for variable in variables
    ]
