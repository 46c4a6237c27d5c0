"""A node by both of its names: what people call it, then TensorFlow's name if it is another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ckpt_viz.graphs.nodes.names import slot_of
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME, without_root
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.text import shortened


class NamesOfSides(Protocol):
    """The names of the nodes of a graph or of a comparison."""

    def place(self, node_id: int) -> str:
        """Return the path of a node in the names that people give."""

    def readable_name(self, node_id: int) -> str:
        """Return TensorFlow's name of a node, or its end."""


def both_names(names: NamesOfSides, graph: Graph, node_id: int) -> Iterator[str]:
    """Yield what people call a node, of a slot variable whose slot it is, then TensorFlow's."""
    if node_id == ROOT:
        yield ROOT_NAME
        return
    slot = graph.nodes[node_id].slot
    own = names.place(node_id) if slot is None else slot_of(slot.name, names.place(slot.variable))
    yield shortened(own)
    name = names.readable_name(node_id)
    if without_root(name) != own:
        yield f"at {shortened(name)}"
