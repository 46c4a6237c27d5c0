"""Objects in the place of classes and functions that Keras does not have, for the child alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
LAYER_KEYS = {"layers", "layer", "forward_layer", "backward_layer", "cell", "cells", "root"}
_PARAMETER = {"VAR_POSITIONAL": "*{}", "VAR_KEYWORD": "**{}"}


def identity(value: Any = None, *_args: Any, **_kwargs: Any) -> Any:
    """Return the first argument: the placeholder of every function."""
    return value


class Placeholders:
    """Makes placeholders for a library; those of layers have the outputs that the file tells."""

    def __init__(self, keras: Any, model: Any) -> None:
        self._keras = keras
        self._outputs = dict(_outputs_in(model))
        self.has_untold_outputs = False
        self.not_run: dict[str, None] = {}
        """The classes of the program whose `from_config` would have run."""

    def unknown(self, name: str, key: str, config: Any) -> Any:
        """Return the placeholder of an unknown name; `key` is where the configuration has it."""
        keras, name = self._keras, re.sub(r"\W", "_", name)
        own = {"from_config": classmethod(lambda cls, _config: cls())}
        if key in LAYER_KEYS:
            if isinstance(config, dict) and {"layers", "input_layers"} <= config.keys():
                return type(name, (_functional(keras),), {})
            base = keras.Model if key == "root" else keras.layers.Layer
            return type(name, (base,), {**self._of_layer(), **_of_any_layer(base)})
        if key in ("optimizer", "optimizer_config"):
            return type(name, (keras.optimizers.SGD,), own)
        if key == "dtype":
            policy = getattr(keras, "DTypePolicy", None) or keras.mixed_precision.Policy
            return type(
                name, (policy,), {"from_config": classmethod(lambda cls, _: cls("float32"))}
            )
        if key.endswith("initializer"):
            return type(name, (keras.initializers.Zeros,), own)
        if isinstance(config, dict) and "loss" in key:
            return type(name, (keras.losses.MeanSquaredError,), own)
        if isinstance(config, dict) and "metric" in key:
            return type(name, (keras.metrics.Mean,), own)
        return identity

    def of_program(self, description: Json) -> Any:
        """Return the placeholder of what the program has, from its description."""
        if description.get("function"):
            return identity
        base: Any = object
        if "module" in description:
            base = import_module(description["module"])
            for part in description["name"].split("."):
                base = getattr(base, part)
            if base is _functional(self._keras):  # what Keras makes of a Model given layers
                base = self._keras.Model
        bases = description.get("bases", [])
        is_layer = isinstance(base, type) and issubclass(base, self._keras.layers.Layer)
        for number, described in enumerate(reversed(bases)):
            members = self._of_layer() if is_layer and not number else {}
            base = self._made(base, described, members)
        return base

    def _made(self, base: Any, described: Json, members: Json) -> type:
        """Return a class with a constructor like the program's, and nothing else of it."""
        name = described["name"]

        def bare(cls: Any, *_args: Any, **_more: Any) -> Any:
            self.not_run[name] = None
            made = cls.__new__(cls)
            base.__init__(made)
            return made

        if described["has_from_config"]:
            members["from_config"] = classmethod(bare)
        elif base is object:
            members["from_config"] = classmethod(lambda cls, config: cls(**config))
        made = type(name.rpartition(".")[2], (base,), {**members, "__qualname__": name})
        if described["has_init"]:
            made.__init__ = _constructor(  # type: ignore[misc]
                made, name, described["parameters"]
            )
        return made

    def _of_layer(self) -> Json:
        keras, placeholders = self._keras, self

        def compute_output_spec(self: Any, *args: Any, **_kwargs: Any) -> Any:
            outputs = placeholders._outputs.get(self.name, [])
            if not outputs:
                placeholders.has_untold_outputs = True
                shape, dtype = getattr(args[0], "shape", ()), getattr(args[0], "dtype", None)
                return keras.KerasTensor(shape, dtype=dtype)
            made = [keras.KerasTensor(shape, dtype=dtype) for shape, dtype in outputs]
            return made if made[1:] else made[0]

        def call(self: Any, inputs: Any = None, *_args: Any, **_kwargs: Any) -> Any:
            placeholders.has_untold_outputs = True
            return inputs

        members: Json = {"call": call, "build": lambda self, *_shapes: None}
        members["build_from_config"] = lambda self, _config: None
        if hasattr(keras, "KerasTensor"):
            members["compute_output_spec"] = compute_output_spec
        return members


def _of_any_layer(base: Any) -> Json:
    """Return the members of a layer that takes every configuration."""

    def init(self: Any, config: Any) -> None:
        config = config if isinstance(config, dict) else {}
        name = config.get("name")
        base.__init__(self, name=name if isinstance(name, str) else None)
        self.state_size = self.output_size = config.get("units", 1)

    return {
        "__init__": init,
        "from_config": classmethod(lambda cls, config, **_more: cls(config)),
        "compile_from_config": lambda self, _config: None,
    }


def _functional(keras: Any) -> type:
    given = keras.Input((1,), name="i")
    return type(keras.Model(given, given))


def _constructor(cls: type, name: str, parameters: list[tuple[str, str, bool]]) -> Any:
    """Return a constructor that takes what the program's takes, and passes on what it may."""
    texts, passed = ["self"], []
    for parameter, kind, has_default in parameters:
        if kind == "KEYWORD_ONLY" and not any(text.startswith("*") for text in texts):
            texts.append("*")
        text = _PARAMETER.get(kind, "{}").format(parameter)
        texts.append(f"{text}=None" if has_default else text)
        if kind == "VAR_KEYWORD":
            passed.append(text)
        elif parameter == "name":
            passed.append("name=name")
    code = f"def __init__({', '.join(texts)}): super(_cls, self).__init__({', '.join(passed)})"
    names: Json = {"_cls": cls}
    exec(code, names)  # of a signature, whose names Python has checked
    names["__init__"].__qualname__ = f"{name}.__init__"
    return names["__init__"]


def _outputs_in(item: Any) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """Yield the layers whose outputs a configuration of Keras 3 tells, with shapes and dtypes.

    A layer that takes a tensor tells its shape, and of which layer it is the output. In a
    Sequential, the shape for which the next layer was built is the output of a layer.
    """
    shapes: dict[str, dict[int, tuple[Any, Any]]] = {}
    for part in every_part(item):
        if isinstance(part, list):
            for layer, following in pairwise(part):
                name, shape = _name_of(layer), _built_for(following)
                if name and shape:
                    shapes.setdefault(name, {}).setdefault(0, (shape, None))
        if not isinstance(part, dict):
            continue
        config = part.get("config")
        if part.get("class_name") == "__keras_tensor__" and isinstance(config, Mapping):
            shape = config.get("shape")
            match config.get("keras_history"):
                case [str(name), int(), int(index)] if isinstance(shape, list):
                    shapes.setdefault(name, {})[index] = (shape, config.get("dtype"))
    for name, by_index in shapes.items():
        if [*sorted(by_index)] == [*range(len(by_index))]:
            yield name, [by_index[index] for index in sorted(by_index)]


def every_part(item: Any) -> Iterator[Any]:
    """Yield a configuration and all that is in it."""
    stack = [item]
    while stack:
        part = stack.pop()
        if isinstance(part, (dict, list)):
            stack += part.values() if isinstance(part, dict) else part
        yield part


def _name_of(layer: Any) -> str:
    config = layer.get("config") if isinstance(layer, dict) else None
    name = config.get("name") if isinstance(config, dict) else None
    return name if isinstance(name, str) and not layer.get("inbound_nodes") else ""


def _built_for(layer: Any) -> Any:
    built = layer.get("build_config") if isinstance(layer, dict) else None
    shape = built.get("input_shape") if isinstance(built, dict) else None
    is_shape = isinstance(shape, list) and all(isinstance(n, (int, type(None))) for n in shape)
    return shape if is_shape and not layer.get("inbound_nodes") else None
