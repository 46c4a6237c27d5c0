"""A live `tf.compat.v1.train.Saver` as nodes: what its `save` would write now.

For a Saver of a graph, the operations with which it saves give the answer. They are exact even if
its list of variables has changed. For an eager Saver, or one that is not built yet, the list gives
the answer. This module adds and runs no operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.live.sessions.saved_by_saver import (
    ASSIGN_OPS,
    COPIES,
    RESHAPE,
    Saved,
    graph_of,
    has_the_name,
    listed,
    of_item,
    operation_name,
    operations,
    saved_by_graph,
    saved_by_list,
    variables_by_collection,
)
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers

_TRAINABLE = "trainable_variables"


def read_saver(saver: Any) -> tuple[tuple[Node, ...], tuple[object | None, ...]]:
    """Return the nodes that this Saver would save, and by node id the live variables.

    A scope has no variable; partitions have the list of their variables. Raises SourceError for a
    Saver that cannot save.
    """
    return _nodes_of(_saved(saver))


def nodes_of_variables(
    variables: Mapping[str, Any],
) -> tuple[tuple[Node, ...], tuple[object | None, ...]]:
    """Return the same for variables, or lists of partitions, by name."""
    saved: dict[str, Saved] = {}
    for name, item in variables.items():
        saved.update(of_item(name, item))
    return _nodes_of(saved)


class SaversVariable(NamedTuple):
    """A variable that a Saver restores, or a partition of one.

    `name` is its own name, which the Saver may not use. `place` is the expression for it where
    `variables` is what the code of `ListInCode` makes; "" if it is not in there. `key` is its key
    there, None for another place. `is_by_name` says that a dict can give it any name in a file.
    """

    name: str
    place: str = ""
    key: str | None = None
    is_by_name: bool = True


class ListInCode(NamedTuple):
    """A Saver's own list or dict: the code for it, and its keys if it is a dict there.

    In the code, `{}` is the Saver.
    """

    code: str
    keys: frozenset[str] | None = None


def list_in_code(saver: Any) -> ListInCode | None:
    """Return the code for a Saver's own list or dict; None if it has none.

    A list of variables becomes a dict by their own names, if these are unique.
    """
    given = tf_savers.given_variables(saver)
    if not given:
        return None
    if isinstance(given, Mapping):
        return ListInCode("{}._var_list", frozenset(given))
    names = [_own_name(item) for item in given if tf_private.is_variable(item)]
    if len({*names}) < len(given):
        return ListInCode("{}._var_list")
    return ListInCode("{{v.name.partition(':')[0]: v for v in {}._var_list}}", frozenset(names))


def variables_of(graph: Graph, saver: Any) -> dict[int, tuple[SaversVariable, ...]]:
    """Return, by node, the variables of a Saver; the partitions of one are in their order.

    `graph` is what `read_live` returns. What is no variable is left out.
    """
    listed = list_in_code(saver)
    is_by_key = listed is not None and listed.keys is not None
    is_dict = isinstance(tf_savers.given_variables(saver), Mapping)
    places = {id(item): (key, place) for item, key, place in _placed(saver, "variables")}

    def described(variable: Any) -> SaversVariable:
        name, (key, place) = _own_name(variable), places.get(id(variable), (None, ""))
        if is_by_key and not is_dict and place:
            key, place = name, f"variables[{quoted(name)}]"
        known = key if is_by_key and isinstance(key, str) else None
        return SaversVariable(name, place, known, tf_private.is_tf_variable(variable))

    variables: dict[int, tuple[SaversVariable, ...]] = {}
    for node_id, node in enumerate(graph.nodes):
        obj: Any = graph.object(node_id)
        parts = obj if isinstance(obj, list) else [obj]
        if obj is None or not all(tf_private.is_variable(part) for part in parts):
            continue
        named = {_own_name(part): described(part) for part in parts}
        if isinstance(obj, list):
            in_order = [part.variable for part in node.attributes[0].slices]
            if {*in_order} == named.keys():
                variables[node_id] = tuple(named[name] for name in in_order)
        else:
            variables[node_id] = tuple(named.values())
    return variables


def _own_name(variable: Any) -> str:
    name = operation_name(variable)
    return str(getattr(variable, "name", "")).partition(":")[0] if name is None else name


def places_in(saver: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield what is in a Saver's own list or dict, which is called `name`, with its expression."""
    return ((item, place) for item, _, place in _placed(saver, name))


def _placed(saver: Any, name: str) -> Iterator[tuple[Any, object, str]]:
    """Yield what is in a Saver's own list or dict, its key there, and its expression."""
    given = tf_savers.given_variables(saver) or ()
    for key, item in given.items() if isinstance(given, Mapping) else enumerate(given):
        expression = f"{name}[{quoted(key) if isinstance(key, str) else key}]"
        yield item, key, expression
        if isinstance(item, list) or tf_savers.is_partitioned_variable(item):
            for number, part in enumerate(item):
                yield part, None, f"list({expression})[{number}]"


class GraphOfSaver(NamedTuple):
    """The graph of a Saver's variables: the names of its global variables, and its state now."""

    in_global: frozenset[str]
    is_default: bool
    is_finalized: bool


def graph_of_saver(saver: Any) -> GraphOfSaver | None:
    """Return what code can find in the graph of a Saver; None if its variables are eager."""
    items = tf_savers.flatten(listed(saver))
    graph = next((item.graph for item in items if is_of_graph(item)), None)
    if graph is None and tf_savers.is_built(saver):
        graph = tf_private.default_graph()  # of a MetaGraph
    if graph is None:
        return None
    every = variables_by_collection(graph)
    return GraphOfSaver(
        frozenset(variable.op.name for variable, key in every if key == "variables"),
        tf_private.default_graph() is graph and not tf_restore.is_eager(),
        bool(graph.finalized),
    )


class Assignment(NamedTuple):
    """What a Saver does with a value first, and with a value of another shape."""

    reshapes: bool
    refuses: bool


def assignments(saver: Any) -> dict[str, Assignment]:
    """Return, by name, how the operations of a built Saver assign the values that they read."""
    try:
        start = graph_of(saver).as_graph_element(tf_savers.restore_operation_name(saver))
    except (KeyError, ValueError):
        return {}
    by_name = {}
    for operation in operations(start, ASSIGN_OPS):
        source, reshapes = operation.inputs[1], False
        while source.op.type in (*COPIES, RESHAPE):
            reshapes = reshapes or source.op.type == RESHAPE
            source = source.op.inputs[0]
        names = tf_private.constant_value(source.op.inputs[1]) if _is_read(source) else None
        if names is not None:
            refuses = operation.type == "Assign" and operation.get_attr("validate_shape")
            by_name[names[source.value_index].decode()] = Assignment(reshapes, refuses)
    return by_name


def _is_read(tensor: Any) -> bool:
    return bool(tensor.op.type == "RestoreV2")


def names_in_slices(saver: Any) -> frozenset[str]:
    """Return the names that a Saver reads by slices, even if a slice is the whole value."""
    return frozenset(name for name, saved in _saved(saver).items() if saved.slices)


def taken_variables(saver: Any) -> Any:
    """Return the list or dict from which a Saver would be built now."""
    given = tf_savers.given_variables(saver)
    return given if given is not None else tf_savers.all_saveable_objects()


def is_of_graph(variable: Any) -> bool:
    """Return whether a variable was made in a TensorFlow 1 graph."""
    return tf_private.is_tf_variable(variable) and operation_name(variable) is not None


def number_of_nameless(saver: Any) -> int:
    """Return how many variables of a Saver's list share a name: those of Keras 3."""
    if tf_savers.is_built(saver) or isinstance(taken_variables(saver), Mapping):
        return 0
    return sum(not has_the_name(item) for item in tf_savers.flatten(taken_variables(saver)))


def _nodes_of(
    saved: Mapping[str, Saved],
) -> tuple[tuple[Node, ...], tuple[object | None, ...]]:
    collections = _collections(saved)
    nodes = scope_nodes(_named(name, entry, collections) for name, entry in saved.items())
    return nodes, tuple(_object(node, saved) for node in nodes)


def _saved(saver: Any) -> dict[str, Saved]:
    if tf_savers.is_built(saver):
        return saved_by_graph(saver)
    return saved_by_list(taken_variables(saver))


def _named(name: str, saved: Saved, collections: Mapping[int, set[str]]) -> NamedVariable:
    nbytes = None
    if saved.dtype is not None and saved.shape is not None:
        nbytes = tf_private.stored_bytes(saved.dtype, saved.shape)
    keys = {key for variable in saved.variables for key in collections.get(id(variable), ())}
    trainable = {bool(v.trainable) for v in saved.variables if hasattr(v, "trainable")}
    return NamedVariable(
        value=named_value(
            name,
            saved.dtype,
            saved.shape,
            nbytes,
            slices=tuple(sorted(saved.slices, key=lambda part: part.start)),
            error=saved.error,
        ),
        trainable=_TRAINABLE in keys or True in trainable if trainable else None,
        collections=tuple(sorted(keys)),
        type_name=type(saved.variables[0]).__name__ if saved.variables else None,
    )


def _object(node: Node, saved: Mapping[str, Saved]) -> object | None:
    if not node.attributes:
        return None
    variables = saved[node.attributes[0].full_name].variables
    return variables[0] if len(variables) == 1 else variables or None


# --- a Saver of a graph


def _collections(saved: Mapping[str, Saved]) -> dict[int, set[str]]:
    """Return, by the id of each variable, the graph's collections that contain it."""
    graphs = {
        id(variable.graph): variable.graph
        for entry in saved.values()
        for variable in entry.variables
        if operation_name(variable) is not None
    }
    collections: dict[int, set[str]] = {}
    for graph in graphs.values():
        for variable, key in variables_by_collection(graph):
            collections.setdefault(id(variable), set()).add(key)
    return collections


# --- an eager Saver, or one that is not built yet
