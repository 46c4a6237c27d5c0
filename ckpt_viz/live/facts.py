"""What a program's own objects tell about themselves: built or not, of which optimizer, where.

Asks attributes and Keras' own properties; changes nothing. None of it decides a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live.untouched import instance_dict
from ckpt_viz.object_graph.nodes import Stored

_KERAS = ("keras", "tf_keras")


def is_unbuilt(obj: object) -> bool:
    """Return whether a Keras layer or optimizer has not made its variables yet."""
    if not _is_of_keras(obj):
        return False
    own = instance_dict(obj)
    if "built" in own or "_built" in own:
        return not own.get("built", own.get("_built"))
    if "_hypers_created" in own:  # Keras' optimizers of before 2.11
        return not own["_hypers_created"]
    return False


def builds_only_when_called(obj: object) -> bool:
    """Return whether a Keras 3 layer makes sublayers' variables without a `build` of its own.

    Keras calls such a layer symbolically to build it, where a waiting restore cannot be carried
    out; the error is swallowed (keras/src/layers/layer.py, `_maybe_build`).
    """
    bases = [base for base in type(obj).__mro__ if _package(base) == "keras"]
    if not any(base.__name__ == "Layer" for base in bases):
        return False
    build = getattr(type(obj), "build", None)
    return getattr(build, "__module__", "").startswith("keras.") and _package(type(obj)) != "keras"


def is_optimizer(obj: object) -> bool:
    """Return whether an object is an optimizer of TensorFlow or Keras."""
    names = {base.__name__ for base in type(obj).__mro__}
    return bool(names & {"Optimizer", "OptimizerV2", "BaseOptimizer", "_BaseOptimizer"})


def generation(obj: object) -> str:
    """Return in words how an optimizer keeps its state, "" for what is none."""
    if not is_optimizer(obj):
        return ""
    names = {(base.__name__, _package(base)) for base in type(obj).__mro__}
    if ("BaseOptimizer", "keras") in names:
        return "a Keras 3 optimizer, with lists of variables"
    if any(name == "OptimizerV2" for name, _ in names):
        return "a legacy Keras optimizer, with slot variables"
    if any(package in _KERAS for _, package in names):
        return "a Keras 2.11+ optimizer, with lists of variables"
    return "a TensorFlow 1 optimizer, with slot variables"


def untracked_weights(obj: Any, known: set[int]) -> list[str]:
    """Return the names of a Keras model's weights that are not among the known objects."""
    if not any(base.__name__ == "Layer" and _package(base) in _KERAS for base in type(obj).__mro__):
        return []
    try:
        weights = obj.weights
    except Exception:  # a model that is not built may refuse, and the user's own may do anything
        return []
    return [str(getattr(w, "path", w.name)) for w in weights if id(w) not in known]


def is_distributed(obj: object) -> bool:
    """Return whether the object is a variable that a distribution strategy made."""
    return (
        tf_private.is_variable(obj)
        and hasattr(obj, "_distribute_strategy")
        and bool(getattr(obj, "_distribute_strategy", None))
    )


def _is_of_keras(obj: object) -> bool:
    return any(_package(base) in _KERAS for base in type(obj).__mro__)


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def takes_values_by_own_code(obj: object) -> bool:
    """Return whether only code of the object's class knows what a restore makes of its values."""
    if obj is None or tf_private.is_variable(obj):
        return False
    return _package(type(obj)) not in ("tensorflow", *_KERAS)


def aborts(table: object, stored: Sequence[Stored | None]) -> str:
    """Return why restoring a hash table would abort the process; "" if it would not."""
    return ""
