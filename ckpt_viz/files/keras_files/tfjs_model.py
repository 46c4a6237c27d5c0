"""TensorFlow.js' layers models: `model.json` lists the weights, and shards hold their bytes.

A group of weights is in the shards of its `paths`, one after the other, as if they were one file.
A weight may be quantized: then its bytes are small integers with a scale and a minimum, or float16.
Source: tfjs-core/src/io/types.ts and io_utils.ts, tfjs-converter/python/tensorflowjs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import FormatError, NoSuchTensorError, UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.files.keras_files.descriptions import layer_paths
from ckpt_viz.files.keras_files.legacy_layout import MODEL_WEIGHTS
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES
from ckpt_viz.formats.storage.files import file_size, join, open_file, split

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array
    from ckpt_viz.formats.bundles.lost_files import LostFiles

MANIFEST = "weightsManifest"
_TOPOLOGY = "modelTopology"
_MOST_JSON = 64 << 20
_MOST_WEIGHTS = 100_000
_MOST_SHARDS = 10_000
_MOST_RANK = 32
_MOST_ELEMENTS = 1 << 48
_OF_KERAS_3 = re.compile(r"(.+/)?vars/[0-9]{1,9}", re.DOTALL)
_INTEGERS = ("uint8", "uint16")


@dataclass(frozen=True, slots=True)
class QuantizedBy:
    """How the bytes of a weight become its values."""

    dtype: str
    scale: float = 1.0
    minimum: float = 0.0


@dataclass(frozen=True, slots=True)
class TfjsWeight:
    """A weight: what its values are, and the range of its bytes in the shards of its group."""

    dtype: str | None
    shape: tuple[int, ...]
    size: int
    group: int
    start: int
    stored_size: int
    quantized_by: QuantizedBy | None = None
    fault: str | None = None


class TfjsModel:
    """An open layers model, in the arrangement of the `.h5` file or the `.weights.h5` of its Keras.

    `topology` is what the file says of the model; `is_of_keras_3` tells that weights have the paths
    of Keras 3.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        content = model_json(path)
        self.topology = _mapping(content.get(_TOPOLOGY))
        self.generated_by = _text(content.get("generatedBy"))
        self.converted_by = _text(content.get("convertedBy"))
        if "node" in self.topology or content.get("format") == "graph-model":
            raise UnsupportedError(
                f"{path}: a graph model of TensorFlow.js, expected a layers model; its weights "
                "have the names of operations, and no layers: load it with tf.loadGraphModel"
            )
        self._shards = list(_shards(path, content.get(MANIFEST)))
        self._sizes = [[file_size(shard) for shard in shards] for shards in self._shards]
        weights = dict(self._weights(content[MANIFEST]))
        self.is_of_keras_3 = bool(weights) and all(map(_OF_KERAS_3.fullmatch, weights))
        layers = _layers_of(self.config)
        # Layers without weights are listed, too, as Keras does in `.h5`.
        self._listed: dict[str, list[str]] = {layer: [] for layer in _top_layers(self.config)}
        self._entries: dict[str, TfjsWeight] = {}
        for name, weight in weights.items():
            key = name
            if not self.is_of_keras_3:
                parts = name.split("/")
                layer = next((layers[part] for part in parts[:-1] if part in layers), parts[0])
                self._listed.setdefault(layer, []).append(name)
                key = f"{MODEL_WEIGHTS}/{layer}/{name}"
            self._entries[key] = weight

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of the model; JavaScript saves it without a frame."""
        framed = self.topology.get("model_config")
        return self.topology if framed is None else _mapping(framed)

    @property
    def keras_version(self) -> str:
        """The version of Keras, or of TensorFlow.js as `tfjs-layers 4.22.0`; "" without one."""
        return _text(self.topology.get("keras_version"))

    @property
    def shards(self) -> tuple[str, ...]:
        """The paths of all shards."""
        return tuple(shard for shards in self._shards for shard in shards)

    def lost_files(self) -> tuple[LostFiles, ...]:
        """Return which shards are missing."""
        every = zip(self._shards, self._sizes, strict=True)
        missing = [
            shard
            for shards, sizes in every
            for shard, size in zip(shards, sizes, strict=True)
            if size is None
        ]
        if not missing:
            return ()
        from ckpt_viz.formats.bundles.lost_files import (
            missing_shards,  # a whole model needs none of it
        )

        lost = [key for key in self._entries if self.why_unreadable(key) is not None]
        return (missing_shards(missing, lost, len(self._entries) - len(lost)),)

    # --- as an open file of Keras

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the file would have in HDF5."""
        if not self.is_of_keras_3:
            return ("", MODEL_WEIGHTS, *(f"{MODEL_WEIGHTS}/{layer}" for layer in self._listed))
        groups = {"": None}
        layers = (f"{path}/vars/" for path in layer_paths(self.config))
        for key in (*layers, *self._entries):
            parts = key.split("/")[:-1]
            groups |= {"/".join(parts[:depth]): None for depth in range(1, len(parts) + 1)}
        return tuple(groups)

    @property
    def entries(self) -> Mapping[str, TfjsWeight]:
        """The weights by key: the path that they have in the file of Keras."""
        return self._entries

    def text(self, group: str, name: str, /) -> str | None:
        """Return an attribute of a group: the root has the configuration and the version."""
        if group:
            return None
        known = {"model_config": json.dumps(dict(self.config)), "keras_version": self.keras_version}
        return known.get(name)

    def texts(self, group: str, name: str, /) -> list[str] | None:
        """Return the layers in the file, or the weights of a layer."""
        if self.is_of_keras_3:
            return None
        if (group, name) == (MODEL_WEIGHTS, "layer_names"):
            return [*self._listed]
        return self._listed.get(group.removeprefix(f"{MODEL_WEIGHTS}/"))

    def why_unreadable(self, key: str, /) -> str | None:
        """Return why a weight cannot be read, None if it may be readable."""
        weight = self._weight(key)
        if weight.fault is not None:
            return weight.fault
        end = weight.start + weight.stored_size
        for shard, size in zip(self._shards[weight.group], self._sizes[weight.group], strict=True):
            if size is None:
                return f"{shard}: no such file, expected a shard; copy it beside {self.path}"
            if end <= size:
                return None
            end -= size
        return f"its shards have {end} bytes less than {self.path} tells; copy them again"

    def fingerprint(self, key: str, /) -> None:
        """Return None: this format has no checksum for a value."""

    def read(self, key: str, /) -> Array:
        """Return the values of a weight; a quantized one has those that TensorFlow.js computes."""
        import numpy as np

        fault = self.why_unreadable(key)
        if fault is not None:
            raise FormatError(f"{self.path}: {key!r:.300}: {fault}")
        weight = self._weight(key)
        data = b"".join(self._pieces(weight))
        stored = weight.quantized_by.dtype if weight.quantized_by else weight.dtype
        values = np.frombuffer(data, np.dtype(stored).newbyteorder("<")).reshape(weight.shape)
        if weight.quantized_by is not None:
            by = weight.quantized_by
            if by.dtype in _INTEGERS:
                values = values * np.float64(by.scale) + np.float64(by.minimum)
                values = np.round(values) if weight.dtype == "int32" else values
            values = values.astype(weight.dtype)
        values.flags.writeable = False
        return values

    def _pieces(self, weight: TfjsWeight) -> Iterator[bytes]:
        start, left = weight.start, weight.stored_size
        for shard, size in zip(self._shards[weight.group], self._sizes[weight.group], strict=True):
            if size is not None and start < size and left:
                with open_file(shard) as file:
                    count = min(left, size - start)
                    yield file.read(start, count)
                start, left = 0, left - count
            else:
                start -= size or 0

    def _weight(self, key: str) -> TfjsWeight:
        if key not in self._entries:
            raise NoSuchTensorError(f"{self.path}: there is no weight {key!r:.300}")
        return self._entries[key]

    def _weights(self, manifest: Sequence[Any]) -> Iterator[tuple[str, TfjsWeight]]:
        names: set[str] = set()
        for group, part in enumerate(manifest):
            start, fault = 0, None
            for weight in _list(_mapping(part).get("weights")):
                name = _text(_mapping(weight).get("name"))
                if not name or name in names or len(names) >= _MOST_WEIGHTS:
                    raise FormatError(
                        f"{self.path}: found the name {name!r:.300} of a weight, expected at most "
                        f"{_MOST_WEIGHTS} different names"
                    )
                names.add(name)
                described = _described(weight, group, start, fault)
                yield name, described
                start, fault = start + described.stored_size, described.fault


def model_json(path: str) -> Mapping[str, Any]:
    """Return the content of a `model.json`; raises as `mapping_in`."""
    with open_file(path) as file:
        if file.size > _MOST_JSON:
            raise UnsupportedError(f"{path}: has {file.size} bytes, expected at most {_MOST_JSON}")
        return mapping_in(path, file.read(0, file.size))


def lists_weights(path: str) -> bool:
    """Return whether a file is JSON that lists weights of TensorFlow.js; raises CkptVizError."""
    with open_file(path) as file:
        if file.size > _MOST_JSON or file.read(0, min(file.size, 1)) != b"{":
            return False
        data = file.read(0, file.size)
    return f'"{MANIFEST}"'.encode() in data and MANIFEST in mapping_in(path, data)


def _shards(path: str, manifest: Any) -> Iterator[list[str]]:
    """Yield the paths of the shards of each group of weights."""
    if not isinstance(manifest, list):
        raise FormatError(f"{path}: found no list {MANIFEST}, expected the weights")
    left = _MOST_SHARDS
    for part in manifest:
        names = [_text(name).removeprefix("./") for name in _list(_mapping(part).get("paths"))]
        left -= len(names) + 1
        for name in names:
            if not name or split(name)[0] or "\\" in name or name in (".", "..") or left < 0:
                raise FormatError(
                    f"{path}: found {name!r:.300} as a shard, expected a file in the same directory"
                )
        yield [join(split(path)[0], name) for name in names]


def _described(words: Mapping[str, Any], group: int, start: int, fault: str | None) -> TfjsWeight:
    """Return what the list says of a weight that begins at a byte of its group."""
    dtype, sizes = _text(words.get("dtype")), _list(words.get("shape"))
    is_shape = (
        sizes == words.get("shape")
        and len(sizes) <= _MOST_RANK
        and all(type(size) is int and 0 <= size < 1 << 40 for size in sizes)
    )
    shape = tuple(sizes) if is_shape else ()
    quantized_by = _quantized(words.get("quantization"))
    width = ELEMENT_BYTES.get(dtype)
    stored = width if quantized_by is None else ELEMENT_BYTES.get(quantized_by.dtype)
    is_shape = is_shape and math.prod(sizes) < _MOST_ELEMENTS
    if not is_shape or width is None or stored is None:
        what = f"the dtype {dtype!r:.50}" if is_shape else "a shape that is none"
        fault = fault or f"it has {what}, which is not read here"
        return TfjsWeight(None, shape if is_shape else (), 0, group, start, 0, fault=fault)
    if fault is not None:
        fault = "it comes after a weight whose size is unknown"
    count = math.prod(shape)
    size, stored_size = count * width, count * stored
    return TfjsWeight(dtype, shape, size, group, start, stored_size, quantized_by, fault)


def _quantized(words: Any) -> QuantizedBy | None:
    if not isinstance(words, Mapping):
        return None
    dtype = _text(words.get("dtype"))
    numbers = [words.get(name, default) for name, default in (("scale", 1.0), ("min", 0.0))]
    if dtype not in (*_INTEGERS, "float16") or not all(
        isinstance(number, (int, float)) for number in numbers
    ):
        return QuantizedBy("unknown")
    return QuantizedBy(dtype, *map(float, numbers))


# --- the configuration


def _top_layers(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the layers of a model, in its order."""
    return [name for entry in _layer_entries(config) if (name := _name_of(entry))]


def _layers_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the layer of the model by the name of each layer in it, also of inner models."""
    known: dict[str, str] = {}
    for entry in _layer_entries(config):
        top = _name_of(entry)
        waiting = [entry]
        while waiting:
            inner = waiting.pop()
            if _name_of(inner):
                known.setdefault(_name_of(inner), top)
            waiting += _layer_entries(inner)
    return known


def _layer_entries(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    config = entry.get("config")
    layers = config if isinstance(config, list) else _mapping(config).get("layers")
    return [layer for layer in _list(layers) if isinstance(layer, Mapping)]


def _name_of(entry: Mapping[str, Any]) -> str:
    return _text(_mapping(entry.get("config")).get("name")) or _text(entry.get("name"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
