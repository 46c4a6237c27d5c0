"""A file of Keras as a graph of objects: for a restore by names, and to be edited and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from ckpt_viz.errors import NoSuchTensorError, SourceError, UnsupportedError
from ckpt_viz.graphs.nodes.keys import checkpoint_key, escape_local_name
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Layout

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_MOST_CHARACTERS = 50_000_000  # in the keys of all objects; half a million have as many


@dataclass(frozen=True)
class _AsCheckpoint(Access):
    """Access to the values of Keras' file by the keys that TensorFlow would give them."""

    layout: ClassVar[Layout] = Layout.OBJECTS
    is_edited: ClassVar[bool] = True  # no checkpoint has these keys
    graph: Graph
    old_keys: Mapping[str, str] = field(repr=False)

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Raise SourceError: there is no object."""
        raise SourceError(f"{graph.title}: a file has no live objects")

    def value(self, key: str) -> Array:
        """Return the value of a tensor."""
        return self.graph.read(self._old(key))

    def beginning(self, key: str, count: int) -> Array:
        """Return the first elements of a tensor."""
        return self.graph.beginning(self._old(key), count)

    def stored(self, key: str) -> Stored | None:
        """Return dtype and shape of a tensor."""
        old = self.old_keys.get(key)
        return None if old is None else self.graph.stored(old)

    def tensor_keys(self, key: str) -> tuple[str, ...]:
        """Return the key of the only tensor that stores an attribute."""
        return (key,) if key in self.old_keys else ()

    def _old(self, key: str) -> str:
        if key not in self.old_keys:
            raise NoSuchTensorError(f"{self.graph.title}: there is no tensor {key!r}")
        return self.old_keys[key]


def as_checkpoint(graph: Graph) -> Graph:
    """Return the graph of Keras' file with the keys of a checkpoint; any other graph unchanged."""
    if not graph.is_of_keras:
        return graph
    assert_short_keys(graph)
    nodes, old_keys = [*graph.nodes], dict[str, str]()
    for node_id, path in object_paths(graph).items():
        nodes[node_id] = _with_keys(nodes[node_id], path, old_keys)
    return replace(graph, nodes=tuple(nodes), _access=_AsCheckpoint(graph, old_keys))


def object_paths(graph: Graph) -> dict[int, str]:
    """Return the key of each object that the root reaches: the shortest path to it."""
    paths = {ROOT: ""}
    for node_id, (parent, own) in graph.first_edges.items():
        paths[node_id] = f"{paths[parent]}/{escape_local_name(own)}".removeprefix("/")
    return paths


def as_objects(graph: Graph) -> Graph:
    """Return the graph of Keras' file as one of objects; the keys remain paths of data sets.

    TensorFlow would restore such a graph by names, not in Keras' order.
    """
    keys = (attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes)
    return replace(graph, _access=_AsCheckpoint(graph, {key: key for key in keys}))


def file_of_keras(graph: Graph) -> Graph:
    """Return the graph of Keras' file that `as_objects` was given."""
    access = graph._access
    assert isinstance(access, _AsCheckpoint)
    return access.graph


def assert_short_keys(graph: Graph) -> None:
    """Raise UnsupportedError if the keys of all objects have more characters than memory is for."""
    parents, labels = graph.tree.parents, graph.tree.labels
    lengths = [0] * len(graph.nodes)
    for node in graph.tree.preorder():
        if node != ROOT:
            lengths[node] = lengths[parents[node]] + 1 + len(labels[node])
    if sum(lengths) > _MOST_CHARACTERS:
        raise UnsupportedError(
            f"{graph.title}: found keys of {sum(lengths):,} characters, expected at most "
            f"{_MOST_CHARACTERS:,} to write"
        )


def _with_keys(node: Node, path: str, old_keys: dict[str, str]) -> Node:
    """Return a node with the keys of a checkpoint; note which key each replaces."""
    attributes = []
    for attribute in node.attributes:
        key = checkpoint_key(path, attribute.name)
        old_keys[key] = attribute.checkpoint_key
        attributes.append(attribute._replace(checkpoint_key=key))
    return node._replace(attributes=tuple(attributes))
