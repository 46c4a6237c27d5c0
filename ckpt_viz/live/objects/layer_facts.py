"""What live layers say of themselves: how they were made, and the shapes that they pass on.

Reads attributes that the objects hold, and runs no code of theirs, not even `get_config`: that of
Keras reads vocabularies from tables, and that of a user may do anything. In its place come the
attributes with the names of the constructor's parameters: most classes keep their arguments there.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from ckpt_viz.graphs.layers.layer_config import UNTOLD, stated_facts, with_dtypes
from ckpt_viz.graphs.nodes.nodes import Fact, LayerFacts, Sizes
from ckpt_viz.live.objects.containers import items_of
from ckpt_viz.live.objects.facts import is_layer
from ckpt_viz.live.objects.keras_calls import records_of, tensors_in, tensors_made, tensors_taken
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.packages import KERAS, is_of_library, package_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_Config = tuple[tuple[str, Any], ...]
_CONTAINERS = (list, tuple)
_PLAIN = frozenset({bool, float, int, str})
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_NO_FACTS = LayerFacts()
_MAX_ITEMS = 8
_MAX_TENSORS = 64  # of a layer; `Concatenate` may take many
_MAX_DEPTH = 4  # of lists of shapes
_SIZES = (int, type(None))
_MAX_CALLS = 100  # of a layer


def layer_facts_of(objects: Sequence[object]) -> dict[int, LayerFacts]:
    """Return what is known of the layers, and of a program's own objects, by node id."""
    kinds = {type(obj): obj for obj in objects}
    with_facts = {cls for cls in kinds if _has_facts(cls)}
    layers = {cls for cls in with_facts if is_layer(kinds[cls])}
    configs = {i: _config(obj) for i, obj in enumerate(objects) if type(obj) in with_facts}
    dtypes = {i: _dtype(objects[i]) for i in configs}
    stated = with_dtypes({i: _stated(config) for i, config in configs.items()}, dtypes)
    shapes = {i: _shapes(objects[i]) for i in configs if type(objects[i]) in layers}
    facts = {i: LayerFacts(stated[i], *shapes.get(i, (None, None))) for i in configs}
    return {i: of_layer for i, of_layer in facts.items() if of_layer != _NO_FACTS}


@lru_cache(maxsize=4096)
def _stated(config: _Config) -> tuple[Fact, ...]:
    return stated_facts(dict(config))


def _has_facts(cls: type) -> bool:
    """Return whether objects of a class may have facts: layers, and classes of the program's."""
    is_library = is_of_library(cls)
    return not is_library or any(_is_layer_itself(base) for base in cls.__mro__)


def _is_layer_itself(cls: type) -> bool:
    return cls.__name__ == "Layer" and package_of(cls) in KERAS


def _config(obj: object) -> _Config:
    """Return the configuration of an object, as far as its own attributes tell."""
    own = instance_dict(obj)
    cell = instance_dict(own["cell"]) if "cell" in own else {}  # a recurrent layer's arguments
    config = []
    cls: Any = type(obj)
    for name, private in _parameters(cls):
        held = own.get(name)
        if held is None:
            held = own.get(private)
        if held is None and cell:
            held = cell.get(name, cell.get(private))
        value = held if type(held) in _PLAIN else _plain(held)
        if value is not None:
            config.append((name, value))
    return tuple(config)


def _dtype(obj: object) -> str | None:
    policy = instance_dict(obj).get("_dtype_policy")
    name = instance_dict(policy).get("_name") if policy is not None else None
    return name if type(name) is str else None


@lru_cache(maxsize=4096)
def _parameters(cls: type) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a class' constructors, and the private attributes for them.

    Those of the classes above follow: a subclass may pass on all that it gets.
    """
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if _is_layer_itself(base):
            break
        constructor = vars(base).get("__init__")
        for _ in range(10):  # decorators
            constructor = getattr(constructor, "__dict__", {}).get("__wrapped__", constructor)
        code = getattr(constructor, "__code__", None)
        if isinstance(constructor, types.FunctionType) and isinstance(code, types.CodeType):
            count = code.co_argcount + code.co_kwonlyargcount
            names |= dict.fromkeys(code.co_varnames[1:count])
    return tuple((name, f"_{name}") for name in names if name not in UNTOLD)


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as a hashable configuration has it; None for one that is no simple value."""
    cls: Any = type(value)
    if cls in _PLAIN:
        return value
    kind = _kind(cls)
    if kind == "function":
        return "lambda" if value.__name__ == "<lambda>" else value.__name__
    if kind == "container":
        items = None if depth > 1 else items_of(value)
        if items is None or len(items) > _MAX_ITEMS:
            return None
        plain = tuple(_plain(item, depth + 1) for item in items)
        return None if None in plain else plain
    if kind == "number":
        return _plain(value.item(), depth) if value.shape == () else None
    return cls.__name__ if kind == "object" else None


@lru_cache(maxsize=4096)
def _kind(cls: Any) -> str | None:
    """Return what a value of a class is in a configuration, None for nothing."""
    if cls in _FUNCTIONS:
        return "function"
    if issubclass(cls, (*_CONTAINERS, tf_private.data_structure())):
        return "container"
    if package_of(cls) == "numpy" and hasattr(cls, "item"):
        return "number"
    return "object" if package_of(cls) in KERAS else None


# --- shapes


def _shapes(
    layer: object,
) -> tuple[tuple[Sizes, ...] | None, tuple[Sizes, ...] | None]:
    """Return the shapes of what a layer takes and of what it makes, over all its calls."""
    own = instance_dict(layer)
    try:
        records = records_of(layer)[:_MAX_CALLS]
        gets = _joined(map(_sizes, map(tensors_taken, records)))
        gives = _joined(map(_sizes, map(tensors_made, records)))
        if not records:
            graph = instance_dict(own.get("_functional")) or own  # that of a Sequential of Keras 3
            gets = _sizes(tensors_in(graph.get("_inputs", graph.get("inputs"))))
            gives = _sizes(tensors_in(graph.get("_outputs", graph.get("outputs"))))
            gets = gets or _built_with(own)
        return gets, gives
    except Exception:  # these are not Keras' own records, or a thread is changing them
        return None, None


def _sizes(tensors: Iterable[Any]) -> tuple[Sizes, ...] | None:
    """Return the sizes of symbolic tensors without the batch; None if one has none."""
    sizes: list[Sizes] = []
    for tensor in tensors:
        own = instance_dict(tensor)
        shape = own.get("_shape", getattr(own.get("_type_spec"), "shape", None))
        if shape is None or len(sizes) == _MAX_TENSORS:
            return None
        dims = shape if type(shape) is tuple else tf_private.partial_shape(shape)
        if dims is None:
            return None
        sizes.append(dims[1:])
    return tuple(sizes) or None


def _joined(calls: Iterable[tuple[Sizes, ...] | None]) -> tuple[Sizes, ...] | None:
    """Return the sizes that all calls share, with None where they differ.

    None if the calls differ in the number of tensors, or of their sizes.
    """
    joined: tuple[Sizes, ...] | None = None
    for sizes in calls:
        if sizes is None:
            return None
        if joined is None or joined == sizes:
            joined = sizes
            continue
        if list(map(len, joined)) != list(map(len, sizes)):
            return None
        joined = tuple(
            tuple(a if a == b else None for a, b in zip(*pair, strict=True))
            for pair in zip(joined, sizes, strict=True)
        )
    return joined


def _built_with(own: Mapping[str, Any]) -> tuple[Sizes, ...] | None:
    """Return the sizes of the tensors for which a layer was built."""
    shapes = _shapes_in(own.get("_build_shapes_dict") or own.get("_build_input_shape"))
    return tuple(dims[1:] for dims in islice(shapes, _MAX_TENSORS)) or None


def _shapes_in(held: Any, depth: int = 0) -> Iterator[Sizes]:
    """Yield the shapes in lists, dicts and the like; a shape itself may be a list."""
    if hasattr(type(held), "as_list"):
        dims = tf_private.partial_shape(held)
        if dims:
            yield dims
        return
    items = items_of(held) if depth < _MAX_DEPTH else None
    if items and isinstance(held, _CONTAINERS) and all(type(size) in _SIZES for size in items):
        yield tuple(items)
        return
    for item in items or ():
        yield from _shapes_in(item, depth + 1)
