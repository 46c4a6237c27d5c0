"""The keys of objects, as TensorFlow spells them."""

from __future__ import annotations

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.edits.as_checkpoint import assert_short_keys, object_paths
from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import ROOT, SlotVariable
from ckpt_viz.graphs.object_graph.graph import Graph


class ObjectKeys:
    """The keys of objects, as TensorFlow spells them: by the shortest path."""

    def __init__(self, graph: Graph) -> None:
        assert_short_keys(graph)
        self._graph, self._paths = graph, object_paths(graph)
        self._slots = {
            slot.slot_variable: (slot, optimizer)
            for optimizer, node in enumerate(graph.nodes)
            for slot in node.slot_variables
        }

    def of(self, node_id: int) -> str:
        """Return the key of an object that the root reaches."""
        is_declared = node_id in self._slots and not self._graph.edges_to[node_id]
        if is_declared and node_id != ROOT:
            return self.of_slot(*self._slots[node_id])
        return self._path(node_id)

    def of_slot(self, slot: SlotVariable, optimizer: int) -> str:
        """Return the key of a declared slot variable."""
        return keys.slot_key(self._path(slot.variable), self._path(optimizer), slot.slot_name)

    def below(self, node_id: int, local_name: str) -> str:
        """Return the key of a new child of an object."""
        step = keys.escape_local_name(local_name)
        return step if node_id == ROOT else f"{self._path(node_id)}/{step}"

    def _path(self, node_id: int) -> str:
        if node_id not in self._paths:
            raise UnsupportedError(
                f"{self._graph.title}: the root does not reach node {node_id}, expected one "
                "that a restore reaches"
            )
        return self._paths[node_id]
