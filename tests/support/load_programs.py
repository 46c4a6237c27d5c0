"""Programs whose models Keras 3 saves: classes of their own, and parts of Keras of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# A model, and what `custom_objects` needs for it.
Program = Callable[[Any], tuple[Any, dict[str, Any]]]


def _sequential(k: Any, *layers: Any, width: int = 4) -> Any:
    return k.Sequential([k.Input((width,)), *layers])


def _subclassed(k: Any) -> tuple[Any, dict[str, Any]]:
    base: Any = k.Model

    class Sub(base):  # type: ignore[misc]
        def __init__(self, units: int, **rest: Any) -> None:
            super().__init__(**rest)
            self.units, self.dense = units, k.layers.Dense(units)

        def call(self, x: Any) -> Any:
            return self.dense(x)

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "units": self.units}

    model = Sub(3)
    model(np.ones((1, 4)))
    model.compile("adam", "mse")
    return model, {"Sub": Sub}


def _without_keywords(k: Any) -> tuple[Any, dict[str, Any]]:
    base: Any = k.Model

    class Bare(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = k.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    model = Bare()
    model(np.ones((1, 4)))
    return model, {"Bare": Bare}


def _functional(k: Any) -> tuple[Any, dict[str, Any]]:
    base: Any = k.Model

    class Func(base):  # type: ignore[misc]
        def __init__(self, units: int = 2, **rest: Any) -> None:
            given = k.Input((4,))
            super().__init__(given, k.layers.Dense(units)(given), **rest)

    return Func(), {"Func": Func}


def _config_that_lacks(k: Any) -> tuple[Any, dict[str, Any]]:
    base: Any = k.layers.Layer

    class Lacks(base):  # type: ignore[misc]
        def __init__(self, a: int, b: int) -> None:
            super().__init__()

        def call(self, x: Any) -> Any:
            return x

        def get_config(self) -> dict[str, Any]:
            return {"a": 1}

    return _sequential(k, Lacks(1, 2)), {"Lacks": Lacks}


def _metric(k: Any) -> tuple[Any, dict[str, Any]]:
    base: Any = k.metrics.Metric

    class Met(base):  # type: ignore[misc]
        def __init__(self, name: str = "met") -> None:
            super().__init__(name=name)

        def update_state(self, *_: Any, **__: Any) -> None:
            pass

        def result(self) -> float:
            return 0.0

    model = _sequential(k, k.layers.Dense(2))
    model.compile("sgd", loss=k.losses.Huber(delta=0.2), metrics=[Met()])
    return model, {"Met": Met}


def _activation(k: Any) -> tuple[Any, dict[str, Any]]:
    def act(x: Any) -> Any:
        return x

    layers = k.layers.Dense(2, activation=act), k.layers.Lambda(act)
    return _sequential(k, *layers), {"act": act}


def _operations(k: Any) -> tuple[Any, dict[str, Any]]:
    given = k.Input((4,))
    return k.Model(given, k.ops.relu(k.layers.Dense(3)(given)) + 1.0), {}


def _attention(k: Any) -> tuple[Any, dict[str, Any]]:
    given = k.Input((8,), dtype="int32")
    words = k.layers.Embedding(10, 4, mask_zero=True)(given)
    seen = k.layers.MultiHeadAttention(2, 2)(words, words)
    joined = k.layers.Add()([words, seen])
    return k.Model(given, k.layers.GlobalAveragePooling1D()(joined)), {}


def _mixed(k: Any) -> tuple[Any, dict[str, Any]]:
    model = _sequential(k, k.layers.Dense(2, dtype="mixed_float16"))
    schedule = k.optimizers.schedules.CosineDecay(0.1, 10)
    loss = k.losses.BinaryCrossentropy(from_logits=True)
    model.compile(k.optimizers.AdamW(schedule), loss, metrics=["accuracy", k.metrics.AUC()])
    return model, {}


def _quantized(k: Any) -> tuple[Any, dict[str, Any]]:
    model = _sequential(k, k.layers.Dense(4))
    model.quantize("int8")
    return model, {}


def _preprocessing(k: Any) -> tuple[Any, dict[str, Any]]:
    normal = k.layers.Normalization()
    normal.adapt(np.ones((3, 4)))
    spectral = k.layers.SpectralNormalization(k.layers.Dense(2))
    return _sequential(k, normal, k.layers.Rescaling(0.5), spectral), {}


PROGRAMS: dict[str, Program] = {
    "subclassed": _subclassed,
    "without keywords": _without_keywords,
    "functional": _functional,
    "configuration that lacks an argument": _config_that_lacks,
    "metric": _metric,
    "activation": _activation,
    "operations": _operations,
    "attention": _attention,
    "mixed precision": _mixed,
    "quantized": _quantized,
    "preprocessing": _preprocessing,
}
