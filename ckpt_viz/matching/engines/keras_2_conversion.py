"""What Keras 2 does to the saved values of a layer of `.h5` before it assigns them, by shapes.

This goes the way of `preprocess_weights_for_loading` and `_convert_rnn_weights`
(tf_keras/src/saving/legacy/hdf5_format.py). It tells which values change, and not how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Stored

Shape = tuple[int, ...]

BIDIRECTIONAL, TIME_DISTRIBUTED = "Bidirectional", "TimeDistributed"
MODELS = ("Model", "Sequential", "Functional")
CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")
_OF_THEANO = (3, 2, 0, 1)  # the axes of a kernel that another backend saved
# How many values Keras 1 saved of a layer: Keras 2 joins them.
_IN_PIECES = {"GRU": 9, "LSTM": 12, "ConvLSTM2D": 12}
_GATES_OF_LSTM, _GATES_OF_GRU = 4, 3
_WITH_BIAS = 3  # values of a recurrent layer: kernel, recurrent kernel, bias


class ValueToLoad(NamedTuple):
    """A value on its way from the file to a variable. Keras changes its elements if converted."""

    key: str
    stored: Stored
    is_converted: bool = False

    @property
    def shape(self) -> Shape:
        """Its shape; `.h5` has one for each value."""
        return self.stored.shape or ()

    def in_shape(self, shape: Shape) -> ValueToLoad:
        """Return the value after a conversion."""
        return ValueToLoad(self.key, self.stored._replace(shape=shape), is_converted=True)


@dataclass(frozen=True, slots=True)
class LayerToLoad:
    """What the loader of Keras 2 asks of a layer that gets saved values.

    `parts` are the two layers of a Bidirectional, the one of a TimeDistributed, and the layers of a
    model. `trainable` and `others` count the variables. `kernel_shape` is the shape of the first
    variable of a convolution, and None without one. `has_own` tells that it has variables beside
    those of its parts.
    """

    class_name: str
    trainable: int = 0
    others: int = 0
    parts: tuple[LayerToLoad, ...] = ()
    has_own: bool = False
    kernel_shape: Shape | None = None
    resets_after: bool = False
    has_channels_first: bool = False


class ConversionError(Exception):
    """Keras raises an error of this class, with this text, while it converts."""

    def __init__(self, raises: str, text: str) -> None:
        super().__init__(text)
        self.raises, self.text = raises, text


class DeferredError(Exception):
    """Only a load shows what the conversion makes of the values, or if it raises."""


def converted(
    layer: LayerToLoad, values: Sequence[ValueToLoad], *, is_of_keras_1: bool
) -> list[ValueToLoad]:
    """Return the values that Keras assigns; raises ConversionError or DeferredError."""
    values, name = list(values), layer.class_name
    if name == BIDIRECTIONAL:
        half = len(values) // 2
        values = [
            value
            for part, own in zip(layer.parts, (values[:half], values[half:]), strict=True)
            for value in converted(part, own, is_of_keras_1=is_of_keras_1)
        ]
    elif name == TIME_DISTRIBUTED:
        values = converted(layer.parts[0], values, is_of_keras_1=is_of_keras_1)
    elif name in MODELS:
        values = _of_model(layer, values, is_of_keras_1=is_of_keras_1)
    if is_of_keras_1 and _changes_since_keras_1(layer, len(values)):
        raise DeferredError
    if name in CONVOLUTIONS:
        values = _of_convolution(layer, values)
    if name in ("LSTM", "CuDNNLSTM") and len(values) == _WITH_BIAS:
        return _of_lstm(name, values)
    if name in ("GRU", "CuDNNGRU") and len(values) == _WITH_BIAS:
        return _of_gru(layer, values)
    return values


def _of_model(
    layer: LayerToLoad, values: Sequence[ValueToLoad], *, is_of_keras_1: bool
) -> list[ValueToLoad]:
    """Convert the values of each layer of a model; what no layer takes is left out."""
    if layer.has_own:  # Keras gives these variables their own values
        raise DeferredError
    trainable, others = values[: layer.trainable], values[layer.trainable :]
    new_trainable, new_others = [], []
    for part in layer.parts:
        if part.trainable or part.others:
            own = [*trainable[: part.trainable], *others[: part.others]]
            made = converted(part, own, is_of_keras_1=is_of_keras_1)
            new_trainable += made[: part.trainable]
            new_others += made[part.trainable :]
            trainable, others = trainable[part.trainable :], others[part.others :]
    return new_trainable + new_others


def _changes_since_keras_1(layer: LayerToLoad, count: int) -> bool:
    """Return whether Keras converts what Keras 1 saved, or a file without a version."""
    if layer.class_name in ("Conv2D", "Conv3D"):
        return layer.has_channels_first
    is_convolution = layer.class_name in ("Conv1D", "Conv2DTranspose")
    return is_convolution or _IN_PIECES.get(layer.class_name) == count


def _of_convolution(layer: LayerToLoad, values: list[ValueToLoad]) -> list[ValueToLoad]:
    """Transpose kernels whose shape differs."""
    if layer.kernel_shape is None or not values:
        raise ConversionError("IndexError", "list index out of range")
    if layer.kernel_shape == values[0].shape:
        return values
    kernels = 2 if layer.class_name == "ConvLSTM2D" else 1
    for place in range(kernels):
        if place >= len(values):
            raise ConversionError("IndexError", "list index out of range")
        shape = values[place].shape
        if len(shape) != len(_OF_THEANO):
            raise ConversionError("ValueError", "axes don't match array")
        values[place] = values[place].in_shape(tuple(shape[axis] for axis in _OF_THEANO))
    return values


def _of_lstm(name: str, values: Sequence[ValueToLoad]) -> list[ValueToLoad]:
    units = _units(values)
    biases: dict[str, Shape] = {
        "CuDNNLSTM": (2 * units * _GATES_OF_LSTM,),
        "LSTM": (units * _GATES_OF_LSTM,),
    }
    return _in_form(values, _form(values, biases), name, biases, _GATES_OF_LSTM)


def _of_gru(layer: LayerToLoad, values: Sequence[ValueToLoad]) -> list[ValueToLoad]:
    units = _units(values)
    after, before = "GRU(reset_after=True)", "GRU(reset_after=False)"
    biases: dict[str, Shape] = {
        "CuDNNGRU": (2 * units * _GATES_OF_GRU,),
        after: (2, units * _GATES_OF_GRU),
        before: (units * _GATES_OF_GRU,),
    }
    source, target = _form(values, biases), layer.class_name
    if target != "CuDNNGRU":
        target = after if layer.resets_after else before
    if source != target and before in (source, target):
        raise ConversionError("ValueError", f"{source} is not compatible with {target}")
    return _in_form(values, source, target, biases, _GATES_OF_GRU)


def _units(values: Sequence[ValueToLoad]) -> int:
    if not values[1].shape:
        raise ConversionError("IndexError", "tuple index out of range")
    return values[1].shape[0]


def _form(values: Sequence[ValueToLoad], biases: dict[str, Shape]) -> str:
    """Return the form in which the values are saved, by the shape of the bias."""
    shape = values[2].shape
    form = next((form for form, expected in biases.items() if expected == shape), None)
    if form is None:
        raise ConversionError("ValueError", f"Invalid bias shape: {shape}")
    return form


def _in_form(
    values: Sequence[ValueToLoad], source: str, target: str, biases: dict[str, Shape], gates: int
) -> list[ValueToLoad]:
    """Return the values in the form of the layer: cuDNN's, or the other one."""
    if source == target:
        return list(values)
    kernel, recurrent, bias = values
    if any(len(v.shape) != 2 or v.shape[1] % gates for v in (kernel, recurrent)):
        raise DeferredError
    units, columns = recurrent.shape
    return [
        kernel.in_shape(kernel.shape),
        recurrent.in_shape((columns // gates, units * gates)),
        bias.in_shape(biases[target]),
    ]
