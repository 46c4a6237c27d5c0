"""What a program's own objects tell about themselves: built or not, of which optimizer, where.

Asks attributes and Keras' own properties; changes nothing. None of it decides a verdict.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live.untouched import instance_dict

_KERAS = ("keras", "tf_keras")
_OPTIMIZERS = {"Optimizer", "OptimizerV2", "BaseOptimizer", "_BaseOptimizer"}
_OWN_STATE = {"Metric", "SeedGenerator", "RandomGenerator", "LossesContainer", "MetricsContainer"}
_OWN_ATTRIBUTES = {
    "inputs",
    "outputs",
    "_steps_per_execution",
    "_train_counter",
    "_test_counter",
    "_predict_counter",
}


class Generation(str, Enum):
    """How an optimizer keeps its state, in words."""

    TENSORFLOW_1 = "a TensorFlow 1 optimizer, with slot variables"
    LEGACY = "a legacy Keras optimizer, with slot variables"
    KERAS_2 = "a Keras 2.11+ optimizer, with lists of variables"
    KERAS_3 = "a Keras 3 optimizer, with lists of variables"


def generation(obj: object) -> Generation | None:
    """Return how an optimizer keeps its state; None for what is none."""
    if not is_optimizer(obj):
        return None
    bases = {(base.__name__, _package(base)) for base in type(obj).__mro__}
    if ("BaseOptimizer", "keras") in bases:
        return Generation.KERAS_3
    if any(name == "OptimizerV2" for name, _ in bases):
        return Generation.LEGACY
    if any(package in _KERAS for _, package in bases):
        return Generation.KERAS_2
    return Generation.TENSORFLOW_1


def is_optimizer(obj: object) -> bool:
    """Return whether an object is an optimizer of TensorFlow or Keras."""
    return any(
        base.__name__ in _OPTIMIZERS and _package(base) in ("tensorflow", *_KERAS)
        for base in type(obj).__mro__
    )


def slots_of(optimizer: object) -> dict[int, str]:
    """Return the names of an optimizer's slot variables, by the variables' identity.

    TensorFlow 1 keeps them by name and then by variable, Keras before 2.11 the other way round.
    """
    found = {}
    for outer, variables in (instance_dict(optimizer).get("_slots") or {}).items():
        for inner, slot in variables.items():
            of_tensorflow_1 = generation(optimizer) is Generation.TENSORFLOW_1
            found[id(slot)] = str(outer if of_tensorflow_1 else inner)
    return found


def is_unbuilt(obj: object) -> bool:
    """Return whether a Keras layer or an optimizer has not made its variables yet."""
    own = instance_dict(obj)
    found = generation(obj)
    if found is Generation.TENSORFLOW_1:
        return not own.get("_slots") and not own.get("_non_slot_dict")
    if found is Generation.LEGACY:
        return not own.get("_hypers_created")
    if found is Generation.KERAS_2:
        wrapped = own.get("_optimizer")  # of one that scales the loss
        if wrapped is not None:
            return is_unbuilt(wrapped)
        return not own.get("_built") and not own.get("_index_dict")
    return _is_of_keras(obj) and not own.get("built", own.get("_built", True))


def builds_only_when_called(obj: object) -> bool:
    """Return whether a Keras 3 layer makes sublayers' variables without a `build` of its own.

    Keras calls such a layer symbolically to build it, where a waiting restore cannot be carried
    out; the error is swallowed (keras/src/layers/layer.py, `_maybe_build`).
    """
    if not any(base.__module__ == "keras.src.layers.layer" for base in type(obj).__mro__):
        return False
    build = getattr(type(obj), "build", None)
    return getattr(build, "__module__", "").startswith("keras.") and _package(type(obj)) != "keras"


def is_layer_of_keras(obj: object) -> bool:
    """Return whether an object is of one of Keras' own classes of layers and models."""
    return _package(type(obj)) in _KERAS and not is_optimizer(obj)


def untracked_weights(obj: Any, known: set[int]) -> list[str]:
    """Return the names of a Keras model's weights that are not among the known objects."""
    if not any(base.__name__ == "Layer" and _package(base) in _KERAS for base in type(obj).__mro__):
        return []
    try:
        weights = obj.weights
    except Exception:  # a model that is not built may refuse, and the user's own may do anything
        return []
    return [str(getattr(w, "path", w.name)) for w in weights if id(w) not in known]


def is_kept_by_keras(obj: object, attribute: str) -> bool:
    """Return whether an attribute is what Keras counts by: metrics, seeds, its own steps.

    None of it belongs to a model's weights, and Keras resets most of it itself.
    """
    if attribute in _OWN_ATTRIBUTES:
        return _is_of_keras(obj)
    value = type(instance_dict(obj).get(attribute))
    return any(base.__name__ in _OWN_STATE and _package(base) in _KERAS for base in value.__mro__)


def takes_values_by_own_code(obj: object) -> bool:
    """Return whether only code of the object's class knows what a restore makes of its values."""
    if obj is None or tf_private.is_variable(obj):
        return False
    return _package(type(obj)) not in ("tensorflow", *_KERAS)


def is_iterator(obj: object) -> bool:
    """Return whether an object is an iterator of a tf.data.Dataset."""
    return obj is not None and tf_private.legacy_attribute_name(obj) == "ITERATOR"


def _is_of_keras(obj: object) -> bool:
    return any(_package(base) in _KERAS for base in type(obj).__mro__)


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]
