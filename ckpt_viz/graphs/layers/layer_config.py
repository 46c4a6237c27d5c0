"""What the configuration of a layer says, in few words: its units, its activation, its rate.

Live layers and files have configurations in the same form: that of Keras' `get_config`, in which
objects are dicts with a `class_name`. A file's is hostile: all of it may have any type and length.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ckpt_viz.graphs.nodes.nodes import Fact, Sizes

_MAX_FACTS = 12
_MAX_LENGTH = 60  # characters of a name or a value
_MAX_ITEMS = 8  # of a tuple
_MAX_SHAPES = 64  # of a layer
_MAX_RANK = 32
_TUPLES = ("__tuple__", "TensorShape")  # lists in a dict, as Keras writes them

# The most telling first; the rest keeps the order of the configuration.
_FIRST = (
    *("units", "filters", "kernel_size", "pool_size", "strides", "dilation_rate", "groups"),
    *("activation", "rate", "padding", "input_dim", "output_dim", "num_heads", "key_dim"),
    *("return_sequences", "bidirectional", "target_shape", "axis", "max_tokens"),
)
_LAST = ("initializer", "regularizer", "constraint")  # ends of names
# What says nothing of a layer that its name, its shapes and its variables do not say better, and
# what may be large.
UNTOLD = frozenset(
    {
        *("name", "trainable", "dtype", "dtype_policy", "autocast", "build_config", "data_format"),
        *("batch_input_shape", "batch_shape", "input_shape", "shape", "batch_size", "input_tensor"),
        *("sparse", "ragged", "type_spec", "seed", "implementation", "time_major", "use_cudnn"),
        *("vocabulary", "vocabulary_size", "idf_weights", "mean", "variance", "weights"),
        *("layers", "inputs", "outputs", "input_layers", "output_layers", "function", "encoding"),
        *("zero_output_for_mask", "synchronized", "quantization_config", "has_input_vocabulary"),
        *("rank", "cell", "backward_layer", "fused", "renorm_momentum", "renorm_clipping"),
        *("pool_mode", "pool_function", "vocabulary_dtype", "oov_method", "oov_token"),
        *("flash_attention", "lora_alpha", "attention_axes", "input_length", "optional"),
        "virtual_batch_size",
    }
)
# What most layers say: only other values tell.
_USUAL: Mapping[str, tuple[object, ...]] = {
    **dict.fromkeys(("use_bias", "center", "scale", "unit_forget_bias", "reset_after"), (True,)),
    **dict.fromkeys(("groups", "depth_multiplier", "num_oov_indices"), (1,)),
    **dict.fromkeys(("dropout", "recurrent_dropout", "offset", "threshold"), (0,)),
    "negative_slope": (0,),
    "padding": ("valid",),
    "momentum": (0.99,),
    "epsilon": (0.001,),
    "axis": (-1,),
    "recurrent_activation": ("sigmoid",),
    "merge_mode": ("concat",),
    "interpolation": ("nearest",),
    "score_mode": ("dot",),
    "standardize": ("lower_and_strip_punctuation",),
    "split": ("whitespace",),
    **dict.fromkeys(("bias_initializer", "beta_initializer"), ("Zeros",)),
    **dict.fromkeys(("gamma_initializer", "moving_variance_initializer"), ("Ones",)),
    "moving_mean_initializer": ("Zeros",),
    **dict.fromkeys(("kernel_initializer", "depthwise_initializer"), ("GlorotUniform",)),
    "pointwise_initializer": ("GlorotUniform",),
    "embeddings_initializer": ("RandomUniform", "uniform"),
    "recurrent_initializer": ("Orthogonal", "OrthogonalInitializer"),
}
_PLACES = ("axis", "axes", "dims")  # all other tuples of numbers are sizes
_STEPS = ("strides", "dilation_rate")


def stated_facts(config: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return the facts of a configuration, the most telling first.

    >>> for fact in stated_facts(
    ...     {
    ...         "name": "conv",
    ...         "kernel_initializer": {"class_name": "HeNormal", "config": {}},
    ...         "activation": "relu",
    ...         "kernel_size": [3, 3],
    ...         "strides": [1, 1],
    ...         "filters": 32,
    ...     }
    ... ):
    ...     print(*fact)
    filters 32
    kernel_size 3×3
    activation relu
    kernel_initializer HeNormal
    """
    named = ((name, _plain(value)) for name, value in config.items() if name not in UNTOLD)
    facts = [
        Fact(name[:_MAX_LENGTH], words)
        for name, value in named
        if not _is_usual(name, value) and (words := _words(name, value))
    ]
    return tuple(sorted(facts, key=_rank)[:_MAX_FACTS])


def dtype_of(config: Mapping[str, Any]) -> str | None:
    """Return the name of the dtype, or of the policy, that a configuration has."""
    dtype = config.get("dtype", config.get("dtype_policy"))
    if isinstance(dtype, Mapping):
        policy = dtype.get("config")
        dtype = policy.get("name") if isinstance(policy, Mapping) else None
    return dtype[:_MAX_LENGTH] if isinstance(dtype, str) else None


def with_dtypes(
    facts: Mapping[int, tuple[Fact, ...]], dtypes: Mapping[int, str | None]
) -> dict[int, tuple[Fact, ...]]:
    """Return the facts of layers, with the dtype of those that differ from most of their graph.

    >>> fact = (Fact("units", "2"),)
    >>> with_dtypes({1: fact, 2: fact, 3: ()}, {1: "float32", 2: "float32", 3: "float16"})[3]
    (Fact(name='dtype', value='float16'),)
    """
    counts = Counter(dtype for dtype in dtypes.values() if dtype is not None)
    if len(counts) < 2:
        return dict(facts)
    usual = counts.most_common(1)[0][0]
    return {
        node_id: (*of_node[: _MAX_FACTS - 1], Fact("dtype", dtype))
        if (dtype := dtypes.get(node_id)) not in (None, usual)
        else of_node
        for node_id, of_node in facts.items()
    }


def shapes_in(value: Any) -> Iterator[Sizes]:
    """Yield the shapes in a configuration, which may be in lists and dicts.

    >>> list(shapes_in([[None, 4], {"class_name": "TensorShape", "items": [None, 8]}]))
    [(None, 4), (None, 8)]
    """
    stack, count = [value], 0
    while stack and count < _MAX_SHAPES:
        item = stack.pop()
        if isinstance(item, Mapping):
            is_tuple = item.get("class_name") in _TUPLES
            stack += [item.get("items")] if is_tuple else reversed(list(item.values()))
        elif isinstance(item, list):
            if item and all(map(_is_size, item)):
                count += 1
                yield tuple(item[:_MAX_RANK])
            else:
                stack += reversed(item)


def _is_size(item: Any) -> bool:
    return item is None or (type(item) is int and 0 <= item < 1 << 63)


def _rank(fact: Fact) -> tuple[int, bool]:
    place = _FIRST.index(fact.name) if fact.name in _FIRST else len(_FIRST)
    return place, fact.name.endswith(_LAST)


def _plain(value: Any) -> Any:
    """Return a value with the names of classes in place of Keras' objects."""
    if isinstance(value, Mapping):
        class_name = value.get("class_name")
        if class_name in _TUPLES:
            return value.get("items")
        is_function = class_name == "function"  # Keras 3 has its name as the configuration
        return value.get("config") if is_function else class_name
    return value


def _is_usual(name: str, value: Any) -> bool:
    if value is None or (value is False and True not in _USUAL.get(name, ())):
        return True
    if isinstance(value, list | tuple) and name in _STEPS:
        return all(size == 1 for size in value)
    if name in _STEPS:
        return bool(value == 1)
    if isinstance(value, list | tuple) and len(value) == 1:
        if name == "axis":  # Keras 2 has this in place of the usual -1 once a layer is built
            return True
        value = value[0]
    items = _USUAL.get(name, ())
    return any(type(value) in (type(item), float) and value == item for item in items)


def _words(name: str, value: Any, depth: int = 0) -> str | None:
    """Return a value as text; None for one that is too long, or of no simple type."""
    if isinstance(value, list | tuple):
        if not 0 < len(value) <= _MAX_ITEMS or depth > 1:
            return None
        parts = [_words(name, _plain(item), depth + 1) for item in value]
        if None in parts:
            return None
        are_sizes = all(type(item) is int and item > 0 for item in value)
        mark = "×" if are_sizes and name not in _PLACES and len(value) > 1 else ", "
        joined = mark.join(map(str, parts))
        nested = any(isinstance(item, list | tuple) for item in value)
        text = ", ".join(f"({part})" for part in parts) if nested else joined
    elif isinstance(value, str | bool | int):
        text = str(value)
    elif isinstance(value, float):
        text = f"{value + 0.0:.6g}" if math.isfinite(value) else str(value)
    else:
        return None
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
