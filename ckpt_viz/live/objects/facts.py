"""Facts from a program's own objects: whether they are built, which optimizer they are, where.

Reads attributes and Keras' own properties; changes nothing. No verdict depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from ckpt_viz.graphs.slots.optimizer_table import Generation
from ckpt_viz.live.objects.composed_variables import Known
from ckpt_viz.live.objects.containers import is_container, items_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.packages import (
    KERAS,
    TENSORFLOW_AND_KERAS,
    has_class,
    package_of,
)
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_OPTIMIZERS = {"Optimizer", "OptimizerV2", "BaseOptimizer", "_BaseOptimizer"}
_OWN_STATE = {"Metric", "SeedGenerator", "RandomGenerator", "LossesContainer", "MetricsContainer"}
KERAS_3_PARTS = ("_tracker", "_layers")  # where a layer lists all its parts
_INNER_OPTIMIZERS = ("inner_optimizer", "_inner_optimizers")  # of Keras 3
_OWN_ATTRIBUTES = {
    "inputs",
    "outputs",
    "_steps_per_execution",
    "_train_counter",
    "_test_counter",
    "_predict_counter",
    "_compile_config",
}
# Where Keras 3 keeps its lists of all parts a second time, and what it knows of calls.
_OF_CALLS = {"_tracker", "_inbound_nodes", "_outbound_nodes", "_nodes_by_depth", "_call_signature"}
# The calls of a layer, with the layers that are called next: those of another model, too.
_CALLS = frozenset(
    f"_{side}_nodes{end}" for side in ("inbound", "outbound") for end in ("", "_value")
)
# The variables from which `finalize_state` computes a layer's working values, when it is adapted
# or built. For each: the class, and the attribute of these values.
FINALIZED = {
    "adapt_mean": ("Normalization", "mean"),
    "adapt_variance": ("Normalization", "variance"),
    "idf_weights": ("IndexLookup", "idf_weights_const"),
    "summary": ("Discretization", "bin_boundaries"),
}
_COUNTS = ("token_counts", "token_document_counts", "num_documents")


def is_layer(obj: object) -> bool:
    """Return whether an object is a layer of Keras, judged by the names of its classes."""
    return has_class(obj, ("Layer",), KERAS)


def generation(obj: object) -> Generation | None:
    """Return how an optimizer keeps its state; None if the object is not an optimizer."""
    if not is_optimizer(obj):
        return None
    bases = {(base.__name__, package_of(base)) for base in type(obj).__mro__}
    if ("BaseOptimizer", "keras") in bases:
        return Generation.KERAS_3
    if any(name == "OptimizerV2" for name, _ in bases):
        return Generation.LEGACY
    if any(package in KERAS for _, package in bases):
        return Generation.KERAS_2
    return Generation.TENSORFLOW_1


def is_optimizer(obj: object) -> bool:
    """Return whether an object is an optimizer of TensorFlow or Keras."""
    return has_class(obj, _OPTIMIZERS, TENSORFLOW_AND_KERAS)


def has_inner_optimizers(obj: object) -> bool:
    """Return whether a Keras 3 optimizer delegates the steps to others with their own rates."""
    return any(name in instance_dict(obj) for name in _INNER_OPTIMIZERS)


def slots_of(optimizer: object) -> dict[int, str]:
    """Return the names of an optimizer's slot variables, by the variables' identity.

    TensorFlow 1 keeps them by name and then by variable, Keras before 2.11 the reverse.
    """
    names = {}
    for outer, variables in (instance_dict(optimizer).get("_slots") or {}).copy().items():
        for inner, slot in variables.copy().items():
            of_tensorflow_1 = generation(optimizer) is Generation.TENSORFLOW_1
            names[id(slot)] = str(outer if of_tensorflow_1 else inner)
    return names


def is_unbuilt(obj: object) -> bool:
    """Return whether a Keras layer or an optimizer has not made its variables yet."""
    own = instance_dict(obj)
    own_generation = generation(obj)
    if own_generation is Generation.TENSORFLOW_1:
        return not own.get("_slots") and not own.get("_non_slot_dict")
    if own_generation is Generation.LEGACY:
        return not own.get("_hypers_created")
    if own_generation is Generation.KERAS_2:
        wrapped = own.get("_optimizer")  # in a loss scale wrapper
        if wrapped is not None:
            return is_unbuilt(wrapped)
        return not own.get("_built") and not own.get("_index_dict")
    return is_of_keras(obj) and not own.get("built", own.get("_built", True))


def is_of_keras_3(obj: object) -> bool:
    """Return whether an object's class is or derives from Keras 3's `Layer`."""
    return any(base.__module__ == "keras.src.layers.layer" for base in type(obj).__mro__)


def builds_only_when_called(obj: object) -> bool:
    """Return whether a Keras 3 layer makes sublayers' variables without its own `build`.

    Keras builds such a layer by a symbolic call, in which a waiting restore fails. Keras swallows
    the error (keras/src/layers/layer.py, `_maybe_build`).
    """
    if not is_of_keras_3(obj):
        return False
    has_none = getattr(getattr(type(obj), "build", None), "_is_default", False)
    return has_none and package_of(type(obj)) != "keras"


def is_built_by_a_step(optimizer: object) -> bool:
    """Return whether an optimizer has no `build` and makes its variables in its first step."""
    return not hasattr(type(optimizer), "build")


def tracks_when_built(obj: object) -> bool:
    """Return whether an object is a Keras 3 Sequential that is not built yet.

    When built, it tracks its layers through the functional model that it makes of them.
    """
    is_without = instance_dict(obj).get("_functional", obj) is None
    return is_without and has_class(obj, ("Sequential",), ("keras",))


def is_layer_of_keras(obj: object) -> bool:
    """Return whether an object is of one of Keras' own classes of layers and models."""
    return package_of(type(obj)) in KERAS and not is_optimizer(obj)


def is_state_of_keras(obj: object) -> bool:
    """Return whether an object is Keras' internal state: a metric, a seed."""
    return has_class(obj, _OWN_STATE, KERAS)


def has_no_weights(obj: object) -> bool:
    """Return whether an object's variables are no weights: a metric, a source of random numbers."""
    return is_state_of_keras(obj) or has_class(obj, ("Generator",), ("tensorflow",))


def is_unbuilt_layer(obj: object) -> bool:
    """Return whether an object is a Keras layer that will make its weights later."""
    return generation(obj) is None and not is_state_of_keras(obj) and is_unbuilt(obj)


def untracked_weights(layer: Any, known: Known) -> list[str]:
    """Return the names of a Keras model's weights that are not among the known objects."""
    missing = [weight for weight in weights_of(layer) if not known.has(weight)]
    return [str(getattr(w, "path", None) or getattr(w, "name", "")) for w in missing]


def weights_of(layer: Any) -> list[Any]:
    """Return the variables among the weights of a Keras layer.

    A lookup layer of Keras 2 lists its vocabulary as a weight, but it is not a variable.
    """
    return [weight for weight in _listed(layer, "weights") or () if tf_private.is_variable(weight)]


def holds_weights(value: Any) -> bool:
    """Return whether a value is a layer with weights, or holds one in lists, dicts and the like."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        stack += items_of(item) or ()
        if is_of_keras(item) and not has_no_weights(item) and weights_of(item):
            return True
    return False


def trainable_variables_of(layer: Any) -> list[Any] | None:
    """Return the variables of a Keras layer that its training changes, in Keras' order.

    None if the object is not a layer, or if it refuses.
    """
    return _listed(layer, "trainable_variables") if is_of_keras(layer) else None


def variables_of(layer: Any) -> list[Any]:
    """Return all variables of a Keras layer in its own order, as `layer.variables` does."""
    return _listed(layer, "variables") or []


def _listed(layer: Any, name: str) -> list[Any] | None:
    try:
        return list(getattr(layer, name))
    except Exception:  # a model that is not built may refuse, and user code may do anything
        return None


def state_variables_of(layer: Any) -> list[Any]:
    """Return all variables of a Keras layer, and those of its metrics.

    A lookup layer of Keras 2 lists a vocabulary, which is not a variable.
    """
    variables = variables_of(layer)
    try:
        if hasattr(type(layer), "metrics_variables"):  # Keras 3's models
            variables += layer.metrics_variables
        elif hasattr(type(layer), "compile"):
            variables += [variable for metric in layer.metrics for variable in metric.variables]
    except Exception:  # as above
        pass
    return variables


def is_record_of_calls(obj: object, attribute: str, _: object) -> bool:
    """Return whether Keras keeps the calls of a layer in an attribute."""
    cls: Any = type(obj)
    return attribute in _CALLS and (_kind(cls) or "") in _KERAS_KINDS


def is_of_no_interest(obj: object, attribute: str, value: object) -> bool:
    """Return whether an attribute leads to no variables but those of `state_variables_of`.

    In a Keras layer these are Keras' own objects, such as metrics and initializers. In one of
    Keras' own classes, they are all private attributes that hold more than a variable: a program
    gives public names to what it adds. A checkpoint's private attributes lead to its children.
    """
    cls, of_value = cast("Any", type(obj)), cast("Any", type(value))
    private, public, of_calls = _passed_over(cls, of_value)
    if attribute[:1] != "_":
        return public
    return private or (of_calls and attribute in _OF_CALLS)


@lru_cache(maxsize=4096)
def _passed_over(cls: Any, of_value: Any) -> tuple[bool, bool, bool]:
    """Return which attributes with a class of value are of no interest in objects of a class.

    These are the private ones, the public ones, and those that Keras keeps of calls.
    """
    kind = _kind(cls)
    if kind == "checkpoint":
        return True, False, False
    if kind is None or hasattr(of_value, "_trackable_children"):
        return False, False, False
    is_own = _kind(of_value) == "keras" and not is_container(of_value)
    return is_own or kind == "keras", is_own, True


_KERAS_KINDS = frozenset({"keras", "of keras"})


@lru_cache(maxsize=1024)
def _kind(cls: Any) -> str | None:
    """Return whether a class is Keras' own, derives from one, or is that of a checkpoint."""
    if package_of(cls) in KERAS:
        return "keras"
    if any(package_of(base) in KERAS for base in cls.__mro__):
        return "of keras"
    is_checkpoint = cls.__name__.startswith("Checkpoint") and package_of(cls) == "tensorflow"
    return "checkpoint" if is_checkpoint else None


def has_listed_variables(obj: object) -> bool:
    """Return whether `state_variables_of` may know variables of an object: a Keras layer."""
    cls: Any = type(obj)
    return _kind(cls) in _KERAS_KINDS and hasattr(cls, "variables")


def is_kept_by_keras(obj: object, attribute: str) -> bool:
    """Return whether an attribute is internal to Keras.

    Its counters and steps are not part of a model's weights, and Keras resets most of them itself.
    A Sequential tracks its layers when it is built. A Bidirectional runs two copies of the layer
    that it is given.
    """
    if attribute in _OWN_ATTRIBUTES:
        return is_of_keras(obj)
    if attribute in KERAS_3_PARTS and tracks_when_built(obj):
        return True
    return attribute == "layer" and has_class(obj, ("Bidirectional",), KERAS)


def is_state_between_calls(obj: object, attribute: str) -> bool:
    """Return whether a stateful RNN of Keras 2 continues with this attribute in its next call."""
    return attribute == "_states" and has_class(obj, ("RNN",), KERAS)


# --- layers that are adapted to data


def is_stale(layer: object, variable: str, restored: Any) -> bool:
    """Return whether a layer computes with values other than those restored into its variable.

    False if either cannot be read.
    """
    import numpy as np

    cls, in_use = FINALIZED[variable]
    own = instance_dict(layer)
    if restored is None or in_use not in own or not has_class(layer, (cls,), KERAS):
        return False
    try:
        if in_use == "bin_boundaries" and own[in_use]:
            in_use = variable  # equal summaries give equal boundaries
        value = tf_private.value_of(own[in_use])
        return not np.array_equal(
            value.ravel(), np.asarray(restored, value.dtype).ravel(), equal_nan=True
        )
    except Exception:  # a layer that was built in a graph has only symbols
        return False


def lacks(layer: object) -> str | None:
    """Return what a layer needs before a call and no checkpoint holds; None for nothing."""
    own = instance_dict(layer)
    if _is_lookup(layer):
        return "vocabulary" if is_without_vocabulary(own) else None
    if own.get("bin_boundaries", layer) is None and has_class(layer, ("Discretization",), KERAS):
        return "list of boundaries"
    return None


def is_without_vocabulary(own: Mapping[str, Any]) -> bool:
    """Return whether a lookup layer with these attributes has no vocabulary yet."""
    initializer = instance_dict(own.get("lookup_table")).get("_initializer")
    return type(initializer).__name__ == "NullInitializer"


def is_embedding(obj: object) -> bool:
    """Return whether an object is an embedding of Keras, which has one row for each index."""
    return has_class(obj, ("Embedding",), KERAS)


def rows_of(embedding: object) -> int | None:
    """Return the number of an embedding's rows; None if unknown."""
    rows = instance_dict(embedding).get("input_dim")
    return rows if type(rows) is int else None


def is_count(holder: object, attribute: str) -> bool:
    """Return whether an attribute is a counter of a lookup layer during its adaptation.

    A layer with a given vocabulary has no counters; in other layers they are empty afterwards.
    """
    return attribute in _COUNTS and _is_lookup(holder)


def _is_lookup(obj: object) -> bool:
    return has_class(obj, ("IndexLookup",), KERAS)


# --- the object's own code


def takes_values_by_own_code(obj: object) -> bool:
    """Return whether only the code of an object's class knows what it does with restored values."""
    if obj is None or tf_private.is_variable(obj):
        return False
    return package_of(type(obj)) not in TENSORFLOW_AND_KERAS


def is_of_keras(obj: object) -> bool:
    """Return whether an object's class is a Keras class or derives from one."""
    return any(package_of(base) in KERAS for base in type(obj).__mro__)
