"""Several checkpoints as one graph, to take parts from: each has a number below the root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ckpt_viz.errors import NoSuchTensorError, SourceError
from ckpt_viz.graphs.edits.as_checkpoint import as_checkpoint
from ckpt_viz.graphs.edits.edited_access import first_graph
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import Child, Fingerprint, Node, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.ground.text import listed

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


@dataclass(frozen=True)
class UnionAccess(Access):
    """Access to the values of several graphs: the keys of each begin with its number.

    `tops` has the nodes that the roots of the graphs are.
    """

    is_edited: ClassVar[bool] = True
    graphs: Sequence[Graph]
    tops: Sequence[int]
    by_names: bool

    def source_of(self, key: str) -> tuple[Graph, str]:
        """Return the graph that has a tensor, and its key there. Raises NoSuchTensorError."""
        number, _, own = key.partition("/")
        if not (number.isdecimal() and int(number) < len(self.graphs)):
            raise NoSuchTensorError(f"{key!r}: expected the number of a checkpoint, and a key")
        return self.graphs[int(number)], own

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Raise SourceError: there is no object."""
        raise SourceError(f"{graph.title}: checkpoints have no live objects")

    def value(self, key: str) -> Array:
        """Return the value of a tensor."""
        graph, own = self.source_of(key)
        return graph.read(own)

    def beginning(self, key: str, count: int) -> Array:
        """Return the first elements of a tensor."""
        graph, own = self.source_of(key)
        return graph.beginning(own, count)

    def stored(self, key: str) -> Stored | None:
        """Return dtype and shape of a tensor."""
        graph, own = self.source_of(key)
        return graph.stored(own)

    def fingerprint(self, key: str) -> Fingerprint | None:
        """Return layout and checksums of a tensor."""
        graph, own = self.source_of(key)
        return graph.fingerprint(own)

    def tensor_keys(self, key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""
        graph, own = self.source_of(key)
        before = key.removesuffix(own)
        return tuple(f"{before}{stored}" for stored in graph.tensor_keys(own))


def united(graphs: Sequence[Graph]) -> Graph:
    """Return a graph of all nodes of some checkpoints, to edit; it is not one to write itself."""
    graphs = [*map(as_checkpoint, graphs)]
    tops: list[int] = []
    nodes, calls = [Node()], list[Call]()
    for number, graph in enumerate(graphs):
        first = len(nodes)
        tops.append(first)
        nodes += [_shifted(node, first, f"{number}/") for node in graph.nodes]
        calls += [Call(call.producer + first, call.consumer + first) for call in graph.calls]
    nodes[0] = Node(tuple(Child(str(number), top) for number, top in enumerate(tops)))
    return Graph(
        assign_roles(nodes),
        listed([graph.title for graph in graphs]),
        Origin.SAVED,
        calls=tuple(calls),
        _access=UnionAccess(graphs, tops, graphs[0].is_name_based),
    )


def _shifted(node: Node, first: int, before: str) -> Node:
    """Return a node with other ids, and with keys that have the number of their checkpoint."""
    return node._replace(
        children=tuple([Child(c.local_name, c.node_id + first) for c in node.children]),
        attributes=tuple(
            [a._replace(checkpoint_key=f"{before}{a.checkpoint_key}") for a in node.attributes]
        ),
        slot_variables=tuple(
            [
                replace(
                    slot,
                    variable=slot.variable + first,
                    slot_variable=slot.slot_variable + first,
                )
                for slot in node.slot_variables
            ]
        ),
        slot=None,
        waits=None,
    )


def first_graphs(graph: Graph) -> Iterator[tuple[int, Graph]]:
    """Yield the graphs before all edits, each with the node that its root was to the first edit."""
    first = first_graph(graph)
    if isinstance(first._access, UnionAccess):
        yield from zip(first._access.tops, first._access.graphs, strict=True)
    else:
        yield 0, first


def source_of(graph: Graph, key: str) -> tuple[Graph, str]:
    """Return the graph that has a tensor of some united ones, and its key; else the same ones."""
    access = graph._access
    return access.source_of(key) if isinstance(access, UnionAccess) else (graph, key)


def stored_keys(graph: Graph) -> set[str]:
    """Return the keys of all tensors in the file of a graph; of united ones, with their numbers."""
    access = graph._access
    if isinstance(access, UnionAccess):
        known = enumerate(map(stored_keys, access.graphs))
        return {f"{number}/{key}" for number, keys in known for key in keys}
    return set() if graph.stored_in is None else {*graph.stored_in.entries}
