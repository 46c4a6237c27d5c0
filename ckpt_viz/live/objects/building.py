"""What a layer or an optimizer of Keras will have once built, found without building it.

Reads the attributes in which Keras' own classes keep their arguments; builds and changes nothing.
The answer is `None` for other classes, and for those that are not in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ckpt_viz.graphs.slots.optimizer_table import Generation, OptimizerRow, groups_of, row_of
from ckpt_viz.live.objects.containers import items_of
from ckpt_viz.live.objects.facts import generation, is_layer_of_keras, is_of_keras, is_of_keras_3
from ckpt_viz.live.tensorflow_names.packages import TENSORFLOW_AND_KERAS, package_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict, trackable_attributes

Shape = tuple[int | None, ...]
_EVERY_NAME = re.compile("")
_NO_NAME = re.compile("(?!)")


class NewVariable(NamedTuple):
    """A variable that will be made; the inputs decide the dimensions that are None."""

    name: str
    shape: Shape | None = None
    is_trained: bool = True


@dataclass(frozen=True)
class Plan:
    """What an object will hold once it is built, by local name.

    `parts` are other objects, or the plans of objects that do not exist yet. The object will
    have no other names that `owns` matches.
    """

    variables: tuple[NewVariable, ...] = ()
    parts: Mapping[str, object] = field(default_factory=dict)
    owns: re.Pattern[str] = _EVERY_NAME

    @staticmethod
    def nothing() -> Plan:
        """Return the plan of an object that makes nothing that we know of."""
        return Plan.of({})

    @staticmethod
    def of(parts: Mapping[str, object]) -> Plan:
        """Return the plan of an object with these parts, which may get others."""
        return Plan(parts=parts, owns=_NO_NAME)


def plan_of(obj: object) -> Plan | None:
    """Return what a layer of one of Keras' own classes will hold; None if unknown."""
    if isinstance(obj, Plan):
        return obj
    own = instance_dict(obj)
    if not is_layer_of_keras(obj) or _is_quantized(own):
        return None
    name = type(obj).__name__
    if name in WITHOUT_WEIGHTS:
        return Plan()
    make = _PLANS.get(name)
    try:
        return make(obj, own) if make is not None else None
    except (KeyError, TypeError):  # another version of Keras names its attributes differently
        return None


def variable_dtype_of(layer: object) -> str | None:
    """Return the dtype in which a layer of Keras will make its weights; None if unknown."""
    own = instance_dict(layer)
    policy = own.get("_dtype_policy", own.get("dtype_policy"))
    dtype = getattr(policy, "variable_dtype", None)
    return dtype if isinstance(dtype, str) else None


def parts_of(layer: object) -> dict[str, object]:
    """Return the layers among the attributes of a layer that is not in a graph yet."""
    return {
        name: value for name, value in trackable_attributes(layer).items() if is_of_keras(value)
    }


def is_trained(layer: object) -> bool:
    """Return whether a layer is not frozen itself; its holder does not count."""
    return bool(instance_dict(layer).get("_trainable", True))


def _is_quantized(own: Mapping[str, Any]) -> bool:
    policy = type(own.get("_dtype_policy")).__name__
    return bool(own.get("lora_rank")) or policy.startswith("Quantized")


def _variables(layer: object, *made: NewVariable | None) -> Plan:
    """Return a plan of these variables, under the class's own names for them.

    Keras 3 keeps as `_kernel` the variable that a property of the class returns as `kernel`.
    """

    def local_name(name: str) -> str:
        return f"_{name}" if isinstance(getattr(type(layer), name, None), property) else name

    return Plan(tuple(new._replace(name=local_name(new.name)) for new in made if new is not None))


def _if(condition: object, name: str, *shape: int | None) -> NewVariable | None:
    return NewVariable(name, shape or None) if condition else None


def _dense(layer: object, own: Mapping[str, Any]) -> Plan:
    units = own["units"]
    kernel = NewVariable("kernel", (None, units))
    return _variables(layer, kernel, _if(own["use_bias"], "bias", units))


def _embedding(layer: object, own: Mapping[str, Any]) -> Plan:
    return _variables(layer, NewVariable("embeddings", (own["input_dim"], own["output_dim"])))


def _conv(layer: object, own: Mapping[str, Any]) -> Plan:
    filters = own["filters"]
    kernel = NewVariable("kernel", (*own["kernel_size"], None, filters))
    return _variables(layer, kernel, _if(own["use_bias"], "bias", filters))


def _conv_transpose(layer: object, own: Mapping[str, Any]) -> Plan:
    filters = own["filters"]
    kernel = NewVariable("kernel", (*own["kernel_size"], filters, None))
    return _variables(layer, kernel, _if(own["use_bias"], "bias", filters))


def _depthwise_conv(layer: object, own: Mapping[str, Any]) -> Plan:
    name = "kernel" if is_of_keras_3(layer) else "depthwise_kernel"
    kernel = NewVariable(name, (*own["kernel_size"], None, own["depth_multiplier"]))
    return _variables(layer, kernel, _if(own["use_bias"], "bias", None))


def _separable_conv(layer: object, own: Mapping[str, Any]) -> Plan:
    size, filters = tuple(own["kernel_size"]), own["filters"]
    depthwise = NewVariable("depthwise_kernel", (*size, None, own["depth_multiplier"]))
    pointwise = NewVariable("pointwise_kernel", (*(1 for _ in size), None, filters))
    return _variables(layer, depthwise, pointwise, _if(own["use_bias"], "bias", filters))


def _normalization(layer: object, own: Mapping[str, Any]) -> Plan:
    return _variables(layer, _if(own["scale"], "gamma"), _if(own["center"], "beta"))


def _batch_normalization(layer: object, own: Mapping[str, Any]) -> Plan | None:
    if own.get("renorm"):
        return None
    moving = [NewVariable(f"moving_{name}", is_trained=False) for name in ("mean", "variance")]
    return _variables(layer, _if(own["scale"], "gamma"), _if(own["center"], "beta"), *moving)


def _adapted(layer: object, own: Mapping[str, Any]) -> Plan | None:
    if own["input_mean"] is not None or not is_of_keras_3(layer):
        return None
    names = ("adapt_mean", "adapt_variance", "count")
    return Plan(tuple(NewVariable(name, is_trained=False) for name in names))


def _prelu(layer: object, own: Mapping[str, Any]) -> Plan:
    return _variables(layer, NewVariable("alpha"))


def _cell(gates: int) -> Callable[[object, Mapping[str, Any]], Plan]:
    def plan(layer: object, own: Mapping[str, Any]) -> Plan:
        units = own["units"]
        width = gates * units
        biases = (2, width) if own.get("reset_after") else (width,)
        return _variables(
            layer,
            NewVariable("kernel", (None, width)),
            NewVariable("recurrent_kernel", (units, width)),
            _if(own["use_bias"], "bias", *biases),
        )

    return plan


def _recurrent(layer: object, own: Mapping[str, Any]) -> Plan | None:
    if own["stateful"] if is_of_keras_3(layer) else own["_stateful"]:  # Keras 3 tracks its states
        return None
    return Plan(parts={"cell": own["cell"]})


def _bidirectional(layer: object, own: Mapping[str, Any]) -> Plan:
    return Plan(parts={name: own[name] for name in ("forward_layer", "backward_layer")})


def _wrapper(layer: object, own: Mapping[str, Any]) -> Plan:
    return Plan(parts={"layer": own["layer"]})


def _sequential(layer: object, own: Mapping[str, Any]) -> Plan | None:
    """Return what a Sequential without an Input will have: Keras 3 puts one before the layers."""
    held = own["_layers"] if is_of_keras_3(layer) else own["_self_tracked_trackables"]
    layers = [item for item in items_of(held) or () if type(item).__name__ != "InputLayer"]
    if not is_of_keras_3(layer):
        parts: dict[str, object] = {f"layer-{place}": item for place, item in enumerate(layers)}
        return Plan(parts=parts, owns=re.compile(r"layer(_with_weights)?-\d+$"))
    operations = {str(place): part for place, part in enumerate((Plan(), *layers))}
    functional = Plan(parts={"_operations": Plan(parts=operations)}, owns=_NO_NAME)
    return Plan(parts={"_functional": functional}, owns=_NO_NAME)


_PLANS: Mapping[str, Callable[[object, Mapping[str, Any]], Plan | None]] = {
    "Dense": _dense,
    "Embedding": _embedding,
    **{f"Conv{n}D": _conv for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": _conv_transpose for n in (1, 2, 3)},
    **{f"DepthwiseConv{n}D": _depthwise_conv for n in (1, 2)},
    **{f"SeparableConv{n}D": _separable_conv for n in (1, 2)},
    "LayerNormalization": _normalization,
    "GroupNormalization": _normalization,
    "BatchNormalization": _batch_normalization,
    "Normalization": _adapted,
    "PReLU": _prelu,
    "SimpleRNNCell": _cell(1),
    "GRUCell": _cell(3),
    "LSTMCell": _cell(4),
    **dict.fromkeys(("SimpleRNN", "GRU", "LSTM"), _recurrent),
    "Bidirectional": _bidirectional,
    "TimeDistributed": _wrapper,
    "Sequential": _sequential,
}
# Keras layers that never have a variable in a checkpoint.
WITHOUT_WEIGHTS = frozenset(
    {
        *("Activation", "ELU", "LeakyReLU", "ReLU", "Softmax", "ThresholdedReLU"),
        *("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"),
        *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise"),
        *("Flatten", "Identity", "InputLayer", "Masking", "Permute", "RepeatVector", "Reshape"),
        *("Rescaling", "UnitNormalization"),
        *(f"SpatialDropout{n}D" for n in (1, 2, 3)),
        *(f"{kind}{n}D" for n in (1, 2, 3) for kind in ("Cropping", "UpSampling", "ZeroPadding")),
        *(
            f"{width}{kind}Pooling{n}D"
            for n in (1, 2, 3)
            for width in ("", "Global")
            for kind in ("Average", "Max")
        ),
    }
)


# --- optimizers


@dataclass(frozen=True)
class OptimizerPlan:
    """What an optimizer will have once it is built.

    `slots` holds the names of an optimizer's lists, or else of its slots, in the order of their
    creation. Those of one group are made together, for one variable after the other. `own` holds
    the local names of its further variables, `listed` those of them that follow the slots in its
    list of variables. `inner` is the optimizer that it wraps.
    """

    slots: tuple[tuple[str, ...], ...] = ()
    own: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    inner: str | None = None


def optimizer_plan_of(optimizer: object) -> OptimizerPlan | None:
    """Return what an optimizer of the libraries' own classes will have; None if unknown."""
    own, name = instance_dict(optimizer), type(optimizer).__name__
    if package_of(type(optimizer)) not in TENSORFLOW_AND_KERAS:
        return None
    kept = generation(optimizer)
    if kept is Generation.KERAS_3 and name == "LossScaleOptimizer":
        made = ("step_counter", "dynamic_scale")
        return OptimizerPlan(own=made, listed=made, inner="inner_optimizer")
    row = row_of(kept, name)
    return None if row is None or not row.is_plain else _plan_by(row, own)


def _plan_by(row: OptimizerRow, own: Mapping[str, Any]) -> OptimizerPlan:
    groups = groups_of(row, [option for option in row.options if own.get(option)])
    slots = tuple(tuple(slot.kept_in or slot.name for slot in group) for group in groups)
    # A computed rate is not a variable.
    numbers = [hyper for hyper, value in own.get("_hyper", {}).items() if not callable(value)]
    counter = ("iter",) if row.generation is Generation.LEGACY else ()
    listed = row.own if row.generation is Generation.KERAS_3 else ()
    return OptimizerPlan(slots, (*counter, *numbers, *row.own), listed)
