"""The names of the variables that Keras saves of a layer only by their numbers.

`vars/0` of a dense layer is its kernel. Keras lists the variables of a layer in the order in which
the layer makes them, those to train first (`Layer.save_own_variables`). So the kind of a layer and
its options tell the names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

# For each variable, in the order of its number, the option that makes it: "" for one that the layer
# always has. Variables of one option are made together.
_Row = tuple[tuple[str, str], ...]

_CELL = "cell"  # the attribute of a recurrent layer, of which the path may not tell the class
_KERNEL_AND_BIAS: _Row = (("kernel", ""), ("bias", "use_bias"))
_SEPARABLE: _Row = (("depthwise_kernel", ""), ("pointwise_kernel", ""), ("bias", "use_bias"))
_RECURRENT: _Row = (("kernel", ""), ("recurrent_kernel", ""), ("bias", "use_bias"))
_SCALED: _Row = (("gamma", "scale"), ("beta", "center"))
_BATCH: _Row = (
    *_SCALED,
    ("moving_mean", ""),
    ("moving_variance", ""),
    *((name, "renorm") for name in ("moving_stddev", "renorm_mean", "renorm_stddev")),
)

_ROWS: Mapping[str, _Row] = {
    "dense": _KERNEL_AND_BIAS,
    "einsum_dense": (("kernel", ""), ("bias", "bias_axes")),
    "embedding": (("embeddings", ""),),
    "reversible_embedding": (("embeddings", ""), ("reverse_embeddings", "untied")),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _KERNEL_AND_BIAS),
    **dict.fromkeys(("conv1d_transpose", "conv2d_transpose", "conv3d_transpose"), _KERNEL_AND_BIAS),
    # Keras 2 calls the kernel `depthwise_kernel`, but both write the same file.
    **dict.fromkeys(("depthwise_conv1d", "depthwise_conv2d"), _KERNEL_AND_BIAS),
    **dict.fromkeys(("separable_conv1d", "separable_conv2d"), _SEPARABLE),
    **dict.fromkeys(("locally_connected1d", "locally_connected2d"), _KERNEL_AND_BIAS),
    **dict.fromkeys(("lstm_cell", "gru_cell", "simple_rnn_cell", "conv_lstm_cell"), _RECURRENT),
    _CELL: _RECURRENT,
    **dict.fromkeys(("cu_dnnlstm", "cu_dnngru"), _RECURRENT),
    **dict.fromkeys(("batch_normalization", "sync_batch_normalization"), _BATCH),
    "layer_normalization": _SCALED,
    "group_normalization": _SCALED,
    "rms_normalization": (("scale", ""),),
    "spectral_normalization": (("kernel", ""), ("vector_u", "")),
    "normalization": tuple((name, "adapts") for name in ("mean", "variance", "count")),
    "attention": (("scale", "use_scale"), ("concat_score_weight", "concat")),
    "additive_attention": (("scale", "use_scale"),),
    "p_re_lu": (("alpha", ""),),
    "stft_spectrogram": (("real_kernel", "real"), ("imag_kernel", "imag")),
    "random_fourier_features": (("kernel_scale", ""), ("unscaled_kernel", ""), ("bias", "")),
    "discretization": (("summary", "summarizes"),),
}
_WITH_CELLS = frozenset({"lstm", "gru", "simple_rnn", "conv_lstm1d", "conv_lstm2d", "conv_lstm3d"})
# By its attribute, what Keras calls a part of an attention, in the order of the calls.
_OF_ATTENTION = {
    "query_dense": "query",
    "key_dense": "key",
    "value_dense": "value",
    "gate_dense": "gate",
    "output_dense": "attention_output",
}
_ATTENTION = "MultiHeadAttention"
_EVERY_ATTENTION = ("query_dense", "key_dense", "value_dense", "output_dense")
_PARTS_OF_ATTENTION = frozenset(_OF_ATTENTION.values())
# The parts of a Bidirectional: it first makes and calls the layer that it wraps.
_DIRECTIONS = ("forward_layer", "backward_layer")
_ATTENTIONS = frozenset(
    {"multi_head_attention", "group_query_attention", "grouped_query_attention"}
)


_NAMES = frozenset(name for row in _ROWS.values() for name, _ in row)


def variable_names(
    kind: str, config: Mapping[str, Any] | None, count: int
) -> tuple[str, ...] | None:
    """Return the names of a layer's own variables, in the order of their numbers.

    Args:
        kind: The class of the layer, or Keras' path component for the class: `Conv2D`, `conv2d`.
        config: The configuration of the layer. Without one, only the count tells the options.
        count: How many variables there are.

    None if the kind is unknown, or if the layer has other variables than its kind explains: those
    of quantized layers, for example. None also if two combinations of options have this count.

    >>> variable_names("Dense", {"use_bias": False}, 1), variable_names("dense", None, 2)
    (('kernel',), ('kernel', 'bias'))
    >>> variable_names("layer_normalization", None, 1)
    """
    kind = path_component(kind)
    row = _ROWS.get(kind)
    if row is None:
        return None
    if config is not None:
        possible = {_names(row, _options(kind, config))}
    else:
        possible = {_names(row, options) for options in _combinations(row)}
    matches = [names for names in possible if len(names) == count]
    return matches[0] if len(matches) == 1 else None


def is_of_every_layer(name: str) -> bool:
    """Return whether layers of Keras call a variable so, which says nothing without the layer.

    >>> is_of_every_layer("kernel"), is_of_every_layer("ema")
    (True, False)
    """
    return name in _NAMES


def is_of_keras(class_name: str) -> bool:
    """Return whether a layer of Keras has this class, and so names of Keras for its values.

    >>> is_of_keras("BatchNormalization"), is_of_keras("MyNorm")
    (True, False)
    """
    return path_component(class_name) in _ROWS


def is_automatic(name: str, class_name: str | None) -> bool:
    """Return whether Keras made the name of a layer: of its class, with the number of the object.

    Such a number depends on what the program has made before, so it says nothing of the layer.

    >>> is_automatic("dense_7", "Dense"), is_automatic("head", "Dense"), is_automatic("dense", None)
    (True, False, True)
    """
    kind = kind_at([name])
    return kind == path_component(class_name) if class_name else kind in _ROWS


def names_in_optimizer(values: Sequence[tuple[str | None, tuple[int, ...] | None]]) -> list[str]:
    """Return the names of an optimizer's variables, from their dtypes and shapes.

    They begin with a counter and, unless a schedule gives it, the rate. The others have numbers.

    >>> names_in_optimizer([("int64", ()), ("float32", ()), ("float32", (3,))])
    ['iteration', 'learning_rate', '2']
    """
    names = [str(number) for number in range(len(values))]
    if values and values[0][1] == () and "int" in str(values[0][0]):
        names[0] = "iteration"
        if len(values) > 1 and values[1][1] == () and "float" in str(values[1][0]):
            names[1] = "learning_rate"
    return names


def path_component(class_name: str) -> str:
    """Return how Keras calls an object of a class in a path (`naming.to_snake_case`).

    >>> path_component("Conv2DTranspose"), path_component("LSTMCell"), path_component("dense")
    ('conv2d_transpose', 'lstm_cell', 'dense')
    """
    name = re.sub(r"\W+", "", class_name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def part_name(label: str, class_of_owner: str) -> str | None:
    """Return what Keras calls a part of its own layer, whatever a file calls it; None for others.

    >>> part_name("_query_dense", "MultiHeadAttention"), part_name("lstm_cell_1", "LSTM")
    ('query', 'cell')
    >>> part_name("query_dense", "MyAttention")
    """
    bare = label.lstrip("_")
    if bare not in _OF_ATTENTION and _CELL not in bare:
        return None  # most are not
    owner = path_component(class_of_owner)
    if owner in _ATTENTIONS:
        return _OF_ATTENTION.get(bare)
    is_cell = owner in _WITH_CELLS and re.fullmatch(r"(\w+_)?cell(_\d+)?", bare)
    return _CELL if is_cell else None


def class_by_parts(labels: Collection[str]) -> str:
    """Return the class of a layer of which a file tells only its parts; "" for any other.

    >>> class_by_parts(["query_dense", "key_dense", "value_dense", "output_dense", "softmax"])
    'MultiHeadAttention'
    """
    bare = {label.lstrip("_") for label in labels}
    return _ATTENTION if bare.issuperset(_EVERY_ATTENTION) else ""


def is_part_of_attention(label: str) -> bool:
    """Return whether a local name is that of a layer in Keras' attention, private or not.

    >>> is_part_of_attention("_query_dense"), is_part_of_attention("_tracker")
    (True, False)
    """
    return label.lstrip("_") in _OF_ATTENTION


def order_of_parts(names: Sequence[str], class_of_owner: str | None) -> Sequence[int]:
    """Return the order of the parts of these names: that of the calls, if known.

    The two directions of a Bidirectional have names of their own, whatever a file tells of its
    class.

    >>> order_of_parts(["key", "attention_output", "query"], "MultiHeadAttention")
    [2, 0, 1]
    >>> order_of_parts(["backward_layer", "forward_layer"], None)
    [1, 0]
    """
    in_order: tuple[str, ...] = ()
    if all(name in names for name in _DIRECTIONS):
        in_order = _DIRECTIONS
    elif class_of_owner is not None and not _PARTS_OF_ATTENTION.isdisjoint(names):
        is_attention = path_component(class_of_owner) in _ATTENTIONS
        in_order = tuple(_OF_ATTENTION.values()) if is_attention else ()
    if not in_order:
        return range(len(names))
    known = {name: place for place, name in enumerate(in_order)}
    return sorted(range(len(names)), key=lambda place: known.get(names[place], len(known)))


def kind_at(path: Sequence[str]) -> str:
    """Return the kind of the layer at Keras' inner path, as far as the path tells it.

    Only items of lists and dicts have their class in the path. The attributes of Keras' own layers
    have fixed kinds. The attribute of a user's class may have any kind, whatever its name.

    >>> kind_at(["layers", "dense_3"]), kind_at(["layers", "lstm", "cell"])
    ('dense', 'lstm_cell')
    >>> kind_at(["layers", "bidirectional", "forward_layer", "cell"])
    'cell'
    """
    kind = re.sub(r"_\d+$", "", path[-1]) if path else ""
    owner = re.sub(r"_\d+$", "", path[-2]) if len(path) > 1 else ""
    if kind == _CELL and owner in _WITH_CELLS:
        return "conv_lstm_cell" if owner.startswith("conv") else f"{owner}_cell"
    if kind.lstrip("_") in _OF_ATTENTION and owner in _ATTENTIONS:
        return "einsum_dense"
    return kind


def _names(row: _Row, options: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, option in row if not option or options[option])


def _combinations(row: _Row) -> Iterator[dict[str, bool]]:
    options = sorted({option for _, option in row if option})
    for choice in product((False, True), repeat=len(options)):
        yield dict(zip(options, choice, strict=True))


def _options(kind: str, config: Mapping[str, Any]) -> dict[str, bool]:
    """Return which options a configuration has; what it lacks has Keras' default."""
    is_rms = bool(config.get("rms_scaling"))
    mode = config.get("mode")
    return {
        "use_bias": bool(config.get("use_bias", True)),
        "bias_axes": config.get("bias_axes") is not None,
        "untied": not config.get("tie_weights", True),
        "scale": bool(config.get("scale", True)) or is_rms,
        "center": bool(config.get("center", True)) and not is_rms,
        "renorm": bool(config.get("renorm")),
        "adapts": config.get("mean") is None,
        "use_scale": bool(config.get("use_scale", kind == "additive_attention")),
        "concat": config.get("score_mode") == "concat",
        "real": mode != "imag",
        "imag": mode != "real",
        "summarizes": config.get("bin_boundaries") is None,
    }
