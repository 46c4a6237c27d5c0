"""The private TensorFlow names that read and assign values in a session of a TensorFlow 1 graph.

As in `tensorflow_private`, functions look them up, each behind its guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ckpt_viz.live.tensorflow_names.tensorflow_private import (
    base_dtype_name,
    is_tf_variable,
    private,
    text_of,
)
from ckpt_viz.live.tensorflow_names.tensorflow_restore import is_distributed
from ckpt_viz.live.tensorflow_names.tensorflow_savers import (
    is_partitioned_variable,
    is_saveable_object,
)
from ckpt_viz.live.tensorflow_names.tensorflow_state import saveables_of

_ASSIGNS = ("Assign", "AssignVariableOp")
_OPAQUE = ("variant", "resource")
_ADDED = "_ckpt_viz_snapshot_operations"
_SCOPE = "ckpt_viz_snapshot"


class Leaf(NamedTuple):
    """A tensor in a graph: its name, what reads it, and what assigns it.

    `run` assigns what is fed for `feed`; leaves with the same `run` are assigned together.
    """

    name: str
    read: Any
    feed: Any
    run: Any
    variable: Any = None


class FinalizedError(Exception):
    """Operations are needed, and the graph is finalized."""


def plain_session(session: Any) -> Any:
    """Return the `tf.compat.v1.Session` in a MonitoredSession, past its hooks."""
    inner = getattr(session, "_tf_sess", None)
    return inner() if callable(inner) else session


def default_session() -> Any:
    """Return the default session; None if there is none."""
    return private("framework.ops", "get_default_session")()


def is_session(obj: object) -> bool:
    """Return whether an object can run the operations of a graph."""
    return hasattr(obj, "run") and hasattr(obj, "graph")


def is_graph(obj: object) -> bool:
    """Return whether an object is a `tf.Graph`."""
    return isinstance(obj, private("framework.ops", "Graph"))


def variables_of_graph(graph: Any) -> list[Any]:
    """Return the global and local variables of a graph, and what else a Saver would save."""
    keys = private("framework.ops", "GraphKeys")
    names = (keys.GLOBAL_VARIABLES, keys.LOCAL_VARIABLES, keys.SAVEABLE_OBJECTS)
    items = [item for name in names for item in graph.get_collection(name)]
    return list({id(item): item for item in items}.values())


def components(item: Any) -> list[Any]:
    """Return the variables that an item consists of: partitions, shards, replicas, or itself."""
    if is_partitioned_variable(item):
        return [inner for part in item for inner in components(part)]
    parts = getattr(item, "variables", None) if hasattr(type(item), "_saving_variable") else None
    if isinstance(parts, (list, tuple)):
        return [inner for part in parts for inner in components(part)]
    if is_distributed(item):
        return [inner for part in item.values for inner in components(part)]
    value = getattr(item, "_value", None)  # of Keras 3
    return components(value) if is_tf_variable(value) else [item]


def leaf_of_variable(variable: Any) -> Leaf:
    """Return how to read and assign a variable by the operations that it has."""
    initializer = variable.initializer
    name, read = variable.op.name, variable._as_graph_element()
    if initializer is None or initializer.type not in _ASSIGNS:
        return Leaf(name, read, None, None, variable)
    return Leaf(name, read, initializer.inputs[1], initializer, variable)


def takes(leaf: Leaf, value: Any) -> bool:
    """Return whether a leaf's `run` assigns a value of this shape."""
    feed = leaf.feed
    return (
        feed is not None
        and bool(feed.graph.is_feedable(feed))
        and bool(feed.shape.is_compatible_with(value.shape))
        and base_dtype_name(feed.dtype) == base_dtype_name(leaf.read.dtype)
    )


def with_own_assignment(leaf: Leaf, graph: Any) -> Leaf:
    """Return a leaf with an assignment for any shape, which is added to the graph once."""

    def make() -> tuple[Any, Any]:
        feed = _placeholder(leaf.read.dtype)
        variable = leaf.variable
        if hasattr(variable, "handle"):
            operations = "ops.gen_resource_variable_ops"
            return feed, private(operations, "assign_variable_op")(variable.handle, feed)
        assign = private("ops.state_ops", "assign")(variable, feed, validate_shape=False)
        return feed, assign.op

    feed, run = _added(graph, leaf.variable, make)
    return leaf._replace(feed=feed, run=run)


def leaves_of_object(name: str, obj: Any, graph: Any) -> list[Leaf]:
    """Return how to read and assign another object; its operations are added to the graph once."""

    def make() -> list[Leaf]:
        saveables = [obj] if is_saveable_object(obj) else saveables_of(obj, f"{name}/.ATTRIBUTES/")
        leaves = []
        for saveable in saveables:
            specs = list(saveable.specs)
            if any(base_dtype_name(spec.dtype) in _OPAQUE for spec in specs):
                kind = base_dtype_name(specs[0].dtype)
                raise TypeError(f"a session cannot give out values of dtype {kind}")
            feeds = [_placeholder(spec.dtype) for spec in specs]
            restored = saveable.restore(feeds, None)
            run = private("ops.control_flow_ops", "group")(restored)
            leaves += [
                Leaf(text_of(spec.name), spec.tensor, feed, run)
                for spec, feed in zip(specs, feeds, strict=True)
            ]
        return leaves

    leaves: list[Leaf] = _added(graph, obj, make)
    return leaves


def _placeholder(dtype: Any) -> Any:
    return private("ops.array_ops", "placeholder")(dtype.base_dtype)


def _added(graph: Any, obj: Any, make: Any) -> Any:
    """Return what was added to the graph for an object; add it if it is not there yet.

    The graph itself remembers it, so that both are freed together.
    """
    added: dict[int, tuple[Any, Any]] = getattr(graph, _ADDED, {})
    if id(obj) not in added:
        if graph.finalized:
            raise FinalizedError
        setattr(graph, _ADDED, added)
        with graph.as_default(), graph.name_scope(_SCOPE), graph.control_dependencies(None):
            added[id(obj)] = (obj, make())
    return added[id(obj)][1]


def read_all(session: Any, leaves: Sequence[Leaf]) -> list[Any]:
    """Return the values of leaves, as NumPy arrays of their own."""
    import numpy as np

    return [
        np.array(value, object if isinstance(value, bytes) else None)
        for value in session.run([leaf.read for leaf in leaves])
    ]


def uninitialized(session: Any, leaves: Sequence[Leaf]) -> list[str]:
    """Return the names of leaves that have no value in a session."""
    names = []
    for leaf in leaves:
        try:
            session.run(leaf.read.op)
        except private("framework.errors_impl", "FailedPreconditionError"):
            names.append(leaf.name)
    return names


def uninitialized_error() -> Any:
    """Return the class of the error for a variable without a value."""
    return private("framework.errors_impl", "FailedPreconditionError")


def assign_all(session: Any, values: Sequence[tuple[Leaf, Any]]) -> None:
    """Assign values, in as few runs as possible."""
    for fed, runs in _rounds(values):
        session.run(runs, fed)


def groups(values: Sequence[tuple[Leaf, Any]]) -> list[list[tuple[Leaf, Any]]]:
    """Return the values that can only be assigned together: those of leaves with the same `run`."""
    together: dict[int, list[tuple[Leaf, Any]]] = {}
    for leaf, value in values:
        together.setdefault(id(leaf.run), []).append((leaf, value))
    return list(together.values())


def _rounds(values: Sequence[tuple[Leaf, Any]]) -> Iterator[tuple[dict[Any, Any], list[Any]]]:
    """Yield what to feed and what to run.

    Initializers may share their initial value. One run can feed it only once.
    """
    rounds: list[tuple[dict[int, tuple[Any, Any]], list[Any]]] = []
    for group in groups(values):
        feeds = {id(leaf.feed): (leaf.feed, value) for leaf, value in group}
        place = next((earlier for earlier in rounds if not earlier[0].keys() & feeds.keys()), None)
        if place is None:
            place = ({}, [])
            rounds.append(place)
        place[0].update(feeds)
        place[1].append(group[0][0].run)
    for fed, runs in rounds:
        # By name: tensors of a graph are hashable only with TensorFlow 1's behaviour.
        yield {tensor.name: value for tensor, value in fed.values()}, runs
