"""Write small checkpoints of every optimizer that the installed TensorFlow and Keras have.

Beside this script is one directory for each pair of versions that it was run with:

- `tf2.12`: TensorFlow 2.12.1, which holds Keras 2.12; the oldest that runs on Python 3.11
- `tf2.15`: TensorFlow 2.15.1, which holds Keras 2.15, including its legacy optimizers
- `keras3.3`: Keras 3.3.3 on TensorFlow 2.16.2
- `keras3.9`: Keras 3.9.2 on TensorFlow 2.18.1

To write one again, in an environment of its own:

    python -m venv old
    old/bin/pip install tensorflow-cpu==2.16.2 keras==3.3.3
    old/bin/python tests/data/old_versions/write.py keras3.3

Every checkpoint `P` is that of a model with one optimizer. `truth.json` maps the name of each
checkpoint to the checkpoint keys of its slots, each with the slot's name and the key of its
variable. It uses no names: every variable is saved with a unique number. The optimizer's Python
lists say which number is whose slot, and the file says which key holds the number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

EMA = {"_model_variables_moving_average": "average"}
ACCUMULATED = {"_accumulated_gradients": "gradient_accumulator"}

# A new optimizer, and which of its lists hold which slots; None where `get_slot` tells.
Made = tuple[Any, Mapping[str, str] | None]


def is_keras_3() -> bool:
    import keras

    return bool(keras.__version__.startswith("3."))


def optimizers() -> dict[str, Made]:
    """Return an optimizer of each kind by name."""
    return {**keras_3(), **both(3)} if is_keras_3() else {**keras_2(), **both(2)}


def both(keras_version: int) -> dict[str, Made]:
    """Return the optimizers that Keras 2 and 3 have under the same names."""
    import keras

    opt = keras.optimizers
    first, second, hat, norm = {
        2: ("m", "v", "vhat", "u"),
        3: ("momentum", "velocity", "velocity_hat", "norm"),
    }[keras_version]
    adam = {"_momentums": first, "_velocities": second}
    return {
        "adam": (opt.Adam(0.1), adam),
        "amsgrad": (opt.Adam(0.1, amsgrad=True), {**adam, "_velocity_hats": hat}),
        "adamw_schedule": (opt.AdamW(schedule()), adam),
        "adamax": (opt.Adamax(0.1), {"_m": first, "_u": norm}),
        "nadam_ema": (opt.Nadam(0.1, use_ema=True), {**adam, **EMA}),
        "adagrad": (opt.Adagrad(0.1), {"_accumulators": "accumulator"}),
        "adadelta": (
            opt.Adadelta(0.1),
            {
                "_accumulated_grads": "accumulated_grad",
                "_accumulated_delta_vars": "accumulated_delta_var",
            },
        ),
        "rmsprop": (
            opt.RMSprop(0.1, momentum=0.9, centered=True),
            {
                "_velocities": "velocity",
                "_momentums": "momentum",
                "_average_gradients": "average_gradient",
            },
        ),
        "ftrl": (opt.Ftrl(0.1), {"_accumulators": "accumulator", "_linears": "linear"}),
        "adafactor": (opt.Adafactor(0.1), {"_r": "r", "_c": "c", "_v": second}),
        "sgd_momentum": (opt.SGD(0.1, momentum=0.9), {"momentums": first}),
    }


def keras_3() -> dict[str, Made]:
    """Return the optimizers that only Keras 3 has, or has otherwise."""
    import keras

    opt = keras.optimizers
    adam = {"_momentums": "momentum", "_velocities": "velocity"}
    factors = {"_r": "r", "_c": "c", "_v": "velocity"}
    more = {"use_ema": True, "gradient_accumulation_steps": 2}
    found: dict[str, Made] = {
        "sgd": (opt.SGD(0.1), {}),
        "lion": (opt.Lion(0.1), {"_momentums": "momentum"}),
        "adamw_all": (opt.AdamW(0.1, **more), {**adam, **EMA, **ACCUMULATED}),
        "adafactor_all": (opt.Adafactor(0.1, **more), {**factors, **EMA, **ACCUMULATED}),
        "loss_scale": (opt.LossScaleOptimizer(opt.Adam(0.1)), adam),
    }
    return {**found, "lamb": (opt.Lamb(0.1), adam)} if hasattr(opt, "Lamb") else found


def keras_2() -> dict[str, Made]:
    """Return the optimizers that only Keras 2 has, or has otherwise, and two of TensorFlow 1."""
    import keras
    import tensorflow as tf

    opt, legacy, v1 = keras.optimizers, keras.optimizers.legacy, tf.compat.v1.train
    wrap = keras.mixed_precision.LossScaleOptimizer
    found: dict[str, Made] = {
        "sgd": (opt.SGD(0.1), {"momentums": "m"}),
        "loss_scale": (wrap(opt.Adam(0.1)), {"_momentums": "m", "_velocities": "v"}),
        "legacy_sgd": (legacy.SGD(0.1), None),
        "legacy_sgd_schedule": (legacy.SGD(schedule()), None),
        "legacy_amsgrad": (legacy.Adam(0.1, amsgrad=True), None),
        "legacy_adamax": (legacy.Adamax(0.1), None),
        "legacy_nadam": (legacy.Nadam(0.1), None),
        "legacy_adagrad": (legacy.Adagrad(0.1), None),
        "legacy_adadelta": (legacy.Adadelta(0.1), None),
        "legacy_rmsprop": (legacy.RMSprop(0.1, momentum=0.9, centered=True), None),
        "legacy_ftrl": (legacy.Ftrl(0.1), None),
        "legacy_loss_scale": (wrap(legacy.Adam(0.1)), None),
        "v1_adam": (v1.AdamOptimizer(0.1), None),
        "v1_ftrl": (v1.FtrlOptimizer(0.1), None),
    }
    has_lion = hasattr(opt, "Lion")  # since 2.13
    return {**found, "lion": (opt.Lion(0.1), {"momentums": "m"})} if has_lion else found


def schedule() -> Any:
    """Return a learning rate that is no variable, so that none is saved."""
    import keras

    return keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)


def subclassed() -> Any:
    """Return a model of layers of equal shapes, one of them frozen.

    It is called without `build`; Keras 3 leaves the layers' names out of the full names then.
    """
    import keras
    import tensorflow as tf

    class Subclassed(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.frozen, self.last = (keras.layers.Dense(2) for _ in range(3))
            self.frozen.trainable = False

        def call(self, x: Any) -> Any:
            return self.last(self.frozen(self.first(x)))

    model = Subclassed()
    model(tf.zeros((1, 2)))
    return model


def functional() -> Any:
    """Return a model whose variables have full names of their own."""
    import keras

    inputs = keras.Input((2,))
    return keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(2)(inputs)))


def slots(made: Made, variables: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the slot variable and the variable of each slot."""
    optimizer, lists = made
    if lists is None:
        for name in optimizer.get_slot_names():
            for variable in variables:
                yield name, optimizer.get_slot(variable, name), variable
        return
    inner: Any = getattr(optimizer, "inner_optimizer", optimizer)
    indices = inner._trainable_variables_indices if is_keras_3() else inner._index_dict
    for attribute, name in lists.items():
        for variable in variables:
            yield name, getattr(inner, attribute)[indices[inner._var_key(variable)]], variable


def write(prefix: Path, make_model: Callable[[], Any], made: Made) -> dict[str, list[str]]:
    """Write a checkpoint and return its slots, by their keys."""
    import tensorflow as tf

    model, optimizer = make_model(), made[0]
    variables = model.trainable_variables
    optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    found = list(slots(made, variables))
    numbers: dict[int, int] = {}
    tracked = tf.train.TrackableView(checkpoint).descendants()
    for trackable in [*tracked, *(v for slot in found for v in slot[1:])]:
        variable = resource(trackable)
        if isinstance(variable, tf.Variable) and id(variable) not in numbers:
            numbers[id(variable)] = len(numbers) + 1
            variable.assign(tf.cast(tf.fill(variable.shape, len(numbers)), variable.dtype))
    reader = tf.train.load_checkpoint(checkpoint.write(str(prefix)))
    keys = {
        int(reader.get_tensor(key).flat[0]): key
        for key in reader.get_variable_to_shape_map()
        if key != "_CHECKPOINTABLE_OBJECT_GRAPH"
    }
    return {
        keys[numbers[id(resource(slot))]]: [slot_name, keys[numbers[id(resource(variable))]]]
        for slot_name, slot, variable in found
    }


def resource(variable: Any) -> Any:
    """Return the `tf.Variable` of a Keras 3 variable, else the object itself."""
    return getattr(variable, "value", variable) if is_keras_3() else variable


def main() -> None:
    import tensorflow as tf

    if not is_keras_3():
        sys.modules["keras"] = tf.keras  # the module of Keras 2.12 lacks optimizers that this has
    """Write a checkpoint for each optimizer, and one for some on a functional model."""
    directory = HERE / sys.argv[1]
    directory.mkdir(exist_ok=True)
    truth = {name: write(directory / name, subclassed, made) for name, made in optimizers().items()}
    for name in ("adam", "adafactor"):
        prefix = directory / f"{name}_functional"
        truth[prefix.name] = write(prefix, functional, optimizers()[name])
    (directory / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
