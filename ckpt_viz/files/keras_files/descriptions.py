"""Which group of a weights file each part of a configuration describes.

Keras' paths come from attributes and classes, not from the names of layers: in a list of layers,
`dense_1` is the second Dense. Source: keras/src/saving/saving_lib.py, `_save_container_state`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ckpt_viz.files.keras_files.drafts import class_of
from ckpt_viz.files.keras_files.facts import Json, config_of
from ckpt_viz.graphs.nodes.keras_variables import path_component

_DEEPEST = 64  # groups; a file may nest its configuration deeper
_MAX_CLASS = 200  # characters


def descriptions(entry: Json, groups: Collection[str]) -> dict[str, Json]:
    """Return what a configuration says of the groups of a weights file, by path.

    The layers of a model are in the model's order.
    """
    described: dict[str, Json] = {}
    queue: deque[tuple[str, Json, int]] = deque([("", entry, 0)])
    while queue:
        path, words, depth = queue.popleft()
        if path in groups and path not in described and depth < _DEEPEST:
            described[path] = words
            queue.extend((inner, below, depth + 1) for inner, below in _below(path, words))
    return described


def layer_paths(entry: Json) -> Iterator[str]:
    """Yield the paths of the groups that Keras 3 gives to the layers of a model, inner ones too."""
    queue: deque[tuple[str, Json, int]] = deque([("", entry, 0)])
    while queue:
        path, words, depth = queue.popleft()
        for inner, below in _below(path, words) if depth < _DEEPEST else ():
            if inner.startswith(_joined(path, "layers/")):
                yield inner
                queue.append((inner, below, depth + 1))


def _below(path: str, entry: Json) -> Iterator[tuple[str, Json]]:
    config = config_of(entry)
    for name, value in config.items():
        if isinstance(value, list):
            objects = [item for item in value if _is_object(item)]
            if name == "layers":
                objects = _without_inputs(entry, objects)
            yield from _numbered(_joined(path, name), objects)
        elif _is_object(value):
            yield _joined(path, name), value
            if name == "layer":  # what `Bidirectional` calls forward_layer
                yield _joined(path, "forward_layer"), value
                yield _joined(path, "backward_layer"), config.get("backward_layer") or value
    cell = _cell_of(entry)
    if cell is not None:
        yield _joined(path, "cell"), cell


def _without_inputs(entry: Json, layers: list[Json]) -> list[Json]:
    """Return the layers that Keras lists: those of a Sequential model begin after its input."""
    if class_of(entry) != "Sequential":
        return layers
    return [layer for layer in layers if class_of(layer) != "InputLayer"]


def _numbered(path: str, objects: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    counts: Counter[str] = Counter()
    for item in objects:
        name = path_component((class_of(item) or "")[:_MAX_CLASS])
        number = counts[name]
        counts[name] += 1
        yield _joined(path, f"{name}_{number}" if number else name), item


def _cell_of(entry: Json) -> Json | None:
    """Return the cell of a recurrent layer that has it inside, and does not describe it."""
    name, config = class_of(entry), config_of(entry)
    if name not in ("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"):
        return None
    shown = {key: value for key, value in config.items() if key in ("use_bias", "units")}
    return {"class_name": f"{name}Cell", "config": shown}


def named_layers(entry: Json) -> dict[str, Json]:
    """Return what a configuration says of the layers in a model and in its inner models, by name.

    Names of several layers are left out.
    """
    by_name: dict[str, Json | None] = {}
    stack: list[tuple[Json, int]] = [(entry, 0)]
    while stack:
        words, depth = stack.pop()
        layers = config_of(words).get("layers")
        for layer in layers if isinstance(layers, list) and depth < _DEEPEST else []:
            if _is_object(layer):
                name = config_of(layer).get("name", layer.get("name"))
                if isinstance(name, str):
                    by_name[name] = None if name in by_name else layer
                stack.append((layer, depth + 1))
    return {name: layer for name, layer in by_name.items() if layer is not None}


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("class_name"), str)
