"""Edits of values: another dtype, or an array in the place of what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ckpt_viz.errors import EditError
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, is_float, tensor_bytes
from ckpt_viz.graphs.edits.as_checkpoint import as_checkpoint
from ckpt_viz.graphs.edits.draft import edited_title
from ckpt_viz.graphs.edits.edited_access import EditedAccess, NewValue, new_values_of
from ckpt_viz.graphs.edits.edits import called, node_of
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.text import shape_words


def cast(graph: Graph, nodes: Iterable[int], dtype: str) -> Graph:
    """Return a graph in which the floats of some parts have another dtype.

    A node with a value is to be one of floats; of a part without its own, the floats below it are
    cast, but no slot variables.
    """
    if not is_float(dtype):
        floats = ", ".join(name for name in ELEMENT_BYTES if is_float(name))
        raise EditError(f"{graph.title}: found the dtype {dtype!r}, expected one of {floats}")
    graph = as_checkpoint(graph)
    values: dict[str, NewValue] = {}
    known = new_values_of(graph)
    for top in nodes:
        for node in _floats_of(graph, top, dtype):
            attribute = graph.nodes[node].attributes[0]
            key = attribute.checkpoint_key
            new = known.get(key, NewValue(attribute.dtype or dtype, attribute.shape))
            values[key] = new.cast(dtype, _place(graph, node))
    return replaced(graph, values)


def _floats_of(graph: Graph, top: int, dtype: str) -> Sequence[int]:
    """Return the variables of floats that a part means; raise EditError without any."""
    if graph.nodes[top].attributes:
        floats = [top] if _is_of_floats(graph, top) else []
    else:
        below = graph.tree.below(top)
        floats = [n for n in below if _is_of_floats(graph, n) and graph.nodes[n].slot is None]
    if not floats:
        held = {attribute.dtype or "another value" for attribute in graph.nodes[top].attributes}
        raise EditError(
            f"{_place(graph, top)}: found {', '.join(sorted(held)) or 'no floats'}, expected "
            f"variables of floats to cast to {dtype}; choose them, as with dtype:float32"
        )
    return floats


def _is_of_floats(graph: Graph, node: int) -> bool:
    attributes = graph.nodes[node].attributes
    return (
        len(attributes) == 1
        and is_float(attributes[0].dtype)
        and _is_one_tensor(graph, node, attributes[0])
    )


def with_values(graph: Graph, arrays: Mapping[str, Any]) -> Graph:
    """Return a graph with arrays in the place of the values of some variables.

    An array may have another shape. Its dtype becomes that of the variable, if both are floats.
    """
    import numpy as np

    graph = as_checkpoint(graph)
    values: dict[str, NewValue] = {}
    for part, given in arrays.items():
        node = node_of(graph, part)
        place = _place(graph, node)
        attributes = graph.nodes[node].attributes
        if len(attributes) != 1 or not _is_one_tensor(graph, node, attributes[0]):
            raise EditError(
                f"{graph.title}: {called(graph, part)} holds {len(attributes)} values, expected a "
                "variable, which has one"
            )
        dtype = attributes[0].dtype
        array = np.array(given, object if dtype == "string" else None)  # a copy of the caller's
        values[attributes[0].checkpoint_key] = _given(array, dtype, place)
    return replaced(graph, values)


def _given(array: Any, dtype: str | None, place: str) -> NewValue:
    """Return a caller's array as the value of a variable of some dtype."""
    from ckpt_viz.formats.arrays.tensors import cast, frozen, numpy_dtype

    numpys = None if dtype is None else numpy_dtype(dtype)
    if dtype is None or numpys is None:
        raise EditError(f"{place}: is a {dtype}, which has no value in NumPy")
    if dtype == "string":
        if not all(isinstance(item, bytes) for item in array.reshape(-1)):
            raise EditError(f"{place}: found an array without bytes, expected bytes: a string")
        return NewValue(dtype, array.shape, frozen(array))
    if is_float(dtype) and is_float(array.dtype.name):
        array = cast(array, dtype, place)
    if array.dtype != numpys:
        raise EditError(
            f"{place}: found {array.dtype.name} {shape_words(array.shape)}, expected {dtype}"
        )
    return NewValue(dtype, array.shape, frozen(array))


def replaced(graph: Graph, values: Mapping[str, NewValue]) -> Graph:
    """Return a graph with new values under some of its keys."""
    nodes = tuple(
        node._replace(attributes=tuple(_attribute(a, values) for a in node.attributes))
        if any(a.checkpoint_key in values for a in node.attributes)
        else node
        for node in graph.nodes
    )
    return replace(
        graph,
        nodes=nodes,
        title=edited_title(graph),
        origin=Origin.SAVED,
        provenance=None,
        _access=EditedAccess.over(graph, values),
    )


def _attribute(attribute: Attribute, values: Mapping[str, NewValue]) -> Attribute:
    new = values.get(attribute.checkpoint_key)
    if new is None:
        return attribute
    nbytes = None if new.shape is None else tensor_bytes(new.dtype, new.shape)
    return attribute._replace(dtype=new.dtype, shape=new.shape, nbytes=nbytes, slices=())


def _is_one_tensor(graph: Graph, node: int, attribute: Attribute) -> bool:
    """Return whether a value is one tensor, whose key TensorFlow's own code has chosen."""
    of_code = graph.nodes[node].registered_saver is not None
    return not of_code and graph.tensor_keys(attribute.checkpoint_key) in (
        (),  # of a part that an edit has inserted
        (attribute.checkpoint_key,),
    )


def _place(graph: Graph, node: int) -> str:
    return f"{graph.title}: {called(graph, node)}"
