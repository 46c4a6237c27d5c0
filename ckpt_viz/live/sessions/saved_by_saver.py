"""What a Saver saves: read from the operations of its graph, or from its list of variables."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.formats.arrays.slices import parse_slice_spec
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import Slice
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers

# The number of inputs of the save operations before the tensors: the file's name, the tensors'
# names and, except for Save, the slices.
_SAVE_OPS = {"Save": 2, "SaveSlices": 3, "SaveV2": 3}


ASSIGN_OPS = ("Assign", "AssignVariableOp")


RESHAPE = "Reshape"


COPIES = ("Identity", "ReadVariableOp", "Enter")


@dataclass(slots=True)
class Saved:
    """The values under one name: one value, or its parts. `shape` is the whole value's."""

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    slices: list[Slice] = field(default_factory=list)
    variables: list[Any] = field(default_factory=list)
    error: str | None = None


def operation_name(variable: Any) -> str | None:
    """Return the name of a variable's operation; None for an eager one, which has none."""
    operation = getattr(variable, "op", None) if getattr(variable, "_in_graph_mode", True) else None
    return operation.name if operation is not None else None


def saved_by_graph(saver: Any) -> dict[str, Saved]:
    """Return by name what a Saver saves whose operations are in a graph."""
    name = tf_savers.save_tensor_name(saver)
    if name is None:  # Saver(allow_empty=True)
        return {}
    graph = graph_of(saver)
    try:
        operation = graph.as_graph_element(name).op
    except (KeyError, ValueError) as error:
        raise SourceError(
            f"found no operation for {name!r} in the default graph, expected the Saver's; "
            "call this inside `with graph.as_default():` of the graph that it was made for"
        ) from error
    variables = {
        variable.op.name: variable for variable, _ in variables_by_collection(graph)
    } | _by_operation(listed(saver))
    saved: dict[str, Saved] = {}
    for save in operations(operation, _SAVE_OPS):
        for tensor_name, spec, tensor in _saved_tensors(save):
            _add_tensor(saved.setdefault(tensor_name, Saved()), spec, tensor, variables)
    return saved


def graph_of(saver: Any) -> Any:
    """Return the graph of the variables that a Saver lists; the default graph if it lists none."""
    for item in listed(saver):
        graph = getattr(item, "graph", None) or getattr(getattr(item, "op", None), "graph", None)
        if graph is not None:
            return graph
    return tf_private.default_graph()


def listed(saver: Any) -> list[Any]:
    """Return the variables that a Saver was given; none for one made from a MetaGraph."""
    given = tf_savers.given_variables(saver) or ()
    items = tf_savers.flatten(given.values() if isinstance(given, Mapping) else given)
    return [part for item in items for part in _parts(item)]


def _parts(item: Any) -> list[Any]:
    return list(item) if tf_savers.is_partitioned_variable(item) else [item]


def operations(start: Any, types: Container[str]) -> Iterator[Any]:
    """Yield the operations of these types that evaluating `start` always runs."""
    seen = {start}
    stack = [start]
    while stack:
        operation = stack.pop()
        if operation.type in types:
            yield operation
            continue
        for other in (*operation.control_inputs, *(tensor.op for tensor in operation.inputs)):
            if other not in seen:
                seen.add(other)
                stack.append(other)


def _saved_tensors(save: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield name, slice specification and tensor of each value that an operation writes."""
    first = _SAVE_OPS[save.type]
    inputs = list(save.inputs)
    tensors = inputs[first:]
    names = tf_private.constant_value(inputs[1])
    specs = tf_private.constant_value(inputs[2]) if first == 3 else [b""] * len(tensors)
    if names is None or specs is None:
        raise SourceError(
            f"the Saver's operation {save.name} computes the names that it saves by, expected "
            "constants; only running it would tell them"
        )
    for name, spec, tensor in zip(names, specs, tensors, strict=True):
        yield name.decode(), spec.decode(), tensor


def _add_tensor(saved: Saved, spec: str, tensor: Any, variables: Mapping[str, Any]) -> None:
    operation = tensor.op
    while operation.type in COPIES:
        operation = operation.inputs[0].op
    variable = variables.get(operation.name)
    if variable is not None:
        saved.variables.append(variable)
    saved.dtype = tf_private.base_dtype_name(tensor.dtype)
    saved.shape = tf_private.full_shape(tensor.shape)
    if spec:
        saved.shape, start, shape = parse_slice_spec(spec)
        saved.slices.append(Slice(start, shape, operation.name))


def variables_by_collection(graph: Any) -> Iterator[tuple[Any, str]]:
    """Yield the variables in the collections of a graph, with the names of these."""
    for key in graph.get_all_collection_keys():
        if isinstance(key, str):
            for item in graph.get_collection(key):
                if tf_private.is_variable(item) and operation_name(item) is not None:
                    yield item, key


def _by_operation(items: list[Any]) -> dict[str, Any]:
    named = ((operation_name(item), item) for item in items if tf_private.is_variable(item))
    return {name: item for name, item in named if name is not None}


def saved_by_list(listed: Any) -> dict[str, Saved]:
    """Return by name what a Saver saves of what it was given: a list or a dict."""
    if isinstance(listed, Mapping):
        named = dict(listed)
        others = {name: item for name, item in named.items() if not _is_known(item, (list, tuple))}
        named = {
            name if has_the_name(item) else name + VARIABLE_VALUE: item
            for name, item in named.items()
            if name not in others
        }
    else:
        items = tf_savers.flatten(listed)
        others = {str(getattr(item, "name", "")): item for item in items if not _is_known(item)}
        try:
            named = tf_savers.names_to_save([item for item in items if _is_known(item)])
        except (TypeError, ValueError) as error:
            raise SourceError(f"this Saver cannot save: {error}") from error
        # For distributed variables TensorFlow makes SaveableObjects, which know no shapes.
        known = _by_operation(items)
        named = {name: known.get(name, item) for name, item in named.items()}
    saved: dict[str, Saved] = {}
    for name, item in named.items():
        saved.update(of_item(name, item))
    for name, item in others.items():
        kind = type(item).__name__
        unknown = f"only code of {kind} itself knows what it saves; expected a variable"
        saved.setdefault(name, Saved(variables=[item], error=unknown))
    return saved


def has_the_name(item: Any) -> bool:
    """Return whether a name in a dict is the item's own; Keras 3's variables append to it."""
    return tf_private.is_tf_variable(item) or not tf_private.is_variable(item)


def _is_known(item: Any, also: tuple[type, ...] = ()) -> bool:
    return (
        tf_private.is_variable(item)
        or tf_savers.is_partitioned_variable(item)
        or tf_savers.is_saveable_object(item)
        or isinstance(item, also)
    )


def of_item(name: str, item: Any) -> dict[str, Saved]:
    """Return by name what a Saver saves of an item of its list."""
    if tf_savers.is_saveable_object(item):
        return {spec.name: _of_spec(spec) for spec in item.specs}
    partitions = list(item) if not tf_private.is_variable(item) else []
    if not partitions:
        return {name: _of_variable(item)}
    whole = Saved(variables=partitions, dtype=tf_private.base_dtype_name(partitions[0].dtype))
    for partition in partitions:
        info = tf_savers.save_slice_info(partition)
        if info is None:
            raise SourceError(f"this Saver cannot save: {name}: found a variable without a slice")
        whole.shape = tuple(info.full_shape)
        start, shape = tuple(info.var_offset), tuple(info.var_shape)
        whole.slices.append(Slice(start, shape, operation_name(partition) or ""))
    return {name: whole}


def _of_variable(variable: Any) -> Saved:
    return Saved(
        dtype=tf_private.base_dtype_name(variable.dtype),
        shape=tf_private.full_shape(variable.shape),
        variables=[variable],
    )


def _of_spec(spec: Any) -> Saved:
    tensor = tf_savers.spec_tensor(spec)
    return Saved(
        dtype=tf_private.base_dtype_name(spec.dtype) if spec.dtype is not None else None,
        shape=tf_private.full_shape(tensor.shape) if tensor is not None else None,
    )
