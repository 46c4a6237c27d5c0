"""Configurations of Keras' own classes, sound ones and ones with a fault."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.support.amounts import amount

KINDS = (
    *("layers", "optimizers", "losses", "metrics", "initializers", "regularizers"),
    *("constraints", "schedules"),
)
Json = dict[str, Any]


def sound_configs(keras: Any, kind: str) -> Iterator[tuple[str, Json]]:
    """Yield the configuration of an object of each class that needs no further packages."""
    module = keras.optimizers.schedules if kind == "schedules" else getattr(keras, kind)
    classes = {cls: name for name, cls in sorted(vars(module).items()) if inspect.isclass(cls)}
    for cls, name in classes.items():
        made = _made(keras, cls, name)
        words = None if made is None else _serialized(keras, made)
        if isinstance(words, dict) and isinstance(words.get("config"), dict):
            yield name, words


def faulty_configs(words: Json) -> Iterator[tuple[str, Json]]:
    """Yield changes of a configuration, most of which Keras refuses."""
    yield "sound", deepcopy(words)
    yield "an argument", _with(words, bogus=1)
    yield "three arguments", _with(words, lr=1, decay=0.0, rank=2)
    names = list(words["config"])
    for name in names[: amount(1, len(names))]:
        changed = deepcopy(words)
        del changed["config"][name]
        yield f"without {name}", changed
    for name, part in words["config"].items():
        if isinstance(part, dict) and part.get("class_name", "function") != "function":
            unknown = {"class_name": "Own", "module": None, "registered_name": "pkg>Own"}
            yield f"unknown class of {name}", _with(words, **{name: {**part, **unknown}})
            yield f"argument of {name}", _with(words, **{name: {**part, "config": {"bogus": 1}}})
        if name.endswith("activation"):
            yield f"unknown {name}", _with(words, **{name: "nonesuch"})


def _with(words: Json, **more: Any) -> Json:
    changed = deepcopy(words)
    changed["config"].update(more)
    return changed


def _made(keras: Any, cls: Any, name: str) -> Any:
    parameters = [*inspect.signature(cls.__init__).parameters.values()][1:]
    required = [p.name for p in parameters if p.default is p.empty and p.kind in (1, 3)]
    arguments = _arguments(keras, name)
    try:
        return cls(**{name: arguments[name] for name in required if name in arguments})
    except Exception:  # abstract classes, and those that need SciPy or JAX
        return None


def _serialized(keras: Any, made: Any) -> Any:
    try:
        words = keras.saving.serialize_keras_object(made)
    except (NotImplementedError, TypeError):
        return None
    return json.loads(json.dumps(words, default=lambda value: getattr(value, "item", str)()))


def _arguments(keras: Any, name: str) -> Json:
    """Return a value for each parameter that some class of Keras requires."""
    layers = keras.layers
    wrapped = layers.LSTM(2) if name == "Bidirectional" else layers.Dense(2)
    ones = "units filters output_dim n axes num_heads key_dim head_dim num_query_heads scale"
    ones += " num_key_value_heads output_shape num_bins num_tokens height width cropping size seed"
    ones += " num_classes learning_rate initial_learning_rate decay_steps first_decay_steps value"
    ones += " mean pool_size output_size input_dim max_number num_projections"
    halves = "rate stddev factor height_factor width_factor specificity sensitivity precision"
    halves += " recall decay_rate"
    return {
        **dict.fromkeys(ones.split(), 1),
        **dict.fromkeys(halves.split(), 0.5),
        **{"kernel_size": 2, "target_shape": [4], "dims": [1], "equation": "ab,bc->ac"},
        **{"function": keras.activations.relu, "activation": "relu", "thresholds": [0.5]},
        **{"target_class_ids": [0], "boundaries": [1], "values": [0.1, 0.2], "name": "x"},
        **{"fn": keras.losses.mean_squared_error, "inner_optimizer": keras.optimizers.SGD()},
        **{"layer": wrapped, "cell": layers.LSTMCell(2), "cells": [layers.LSTMCell(2)]},
        **{"dtype": "float32", "value_range": [0, 255], "layers": [], "mode": "fan_in"},
    }
