"""The copied values of one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.files.values.held import HeldAccess, HeldTensor, shape_of
from ckpt_viz.files.values.report import Left
from ckpt_viz.graphs.nodes.keys import checkpoint_key
from ckpt_viz.graphs.nodes.nodes import Attribute, Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.live.state.holding import HeldState, SaverFiles, has_value
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state


@dataclass(frozen=True)
class Taken:
    """The copied values of one moment.

    `nodes` are those that `Checkpoint.write` would have saved, the first `tracked` ones, and those
    of variables that TensorFlow does not follow. `object_keys` are the beginnings of their keys.
    `objects` returns the live object of a node, if it still exists. `states` holds the values by
    node id, `files` what registered savers wrote, `skipped` the reason why a node's state is not
    held, `lost` the nodes without which a file lacks trained values.
    """

    title: str
    nodes: tuple[Node, ...]
    tracked: int
    lost: tuple[int, ...]
    object_keys: tuple[str, ...]
    objects: tuple[Callable[[], object | None], ...]
    momentary: frozenset[int]
    states: Mapping[int, HeldState]
    files: tuple[SaverFiles, ...]
    skipped: Mapping[int, str]
    nbytes: int

    @cached_property
    def graph(self) -> Graph:
        """The object graph at that time, whose values are read from memory."""
        tensors: dict[str, list[HeldTensor]] = {}
        nodes = [without_untracked(self.tracked, node) for node in self.nodes[: self.tracked]]
        for node_id, state in self.states.items():
            if not has_value(state) or node_id >= self.tracked:
                continue
            for part in state.parts:
                key = checkpoint_key(self.object_keys[node_id], part.name)
                tensors.setdefault(key, []).append(part)
            if not state.is_plain:
                attributes = _described(nodes[node_id].attributes, state, self.object_keys[node_id])
                nodes[node_id] = nodes[node_id]._replace(attributes=attributes)
        access = HeldAccess(self.title, tensors)
        return Graph(assign_roles(tuple(nodes)), self.title, Origin.SAVED, _access=access)

    @cached_property
    def _with_untracked(self) -> Graph:
        return Graph(self.nodes, self.title, Origin.SAVED)

    def name(self, node_id: int) -> str:
        """Return the name of a node, also of one that TensorFlow does not follow."""
        return (self.graph if node_id < self.tracked else self._with_untracked).name(node_id)

    @cached_property
    def left(self) -> tuple[Left, ...]:
        """What the snapshot does not hold, with the reasons."""
        return tuple(Left(self.name(node), why) for node, why in self.skipped.items())

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The names of what has trained values that neither a file nor the graph gets."""
        return tuple(map(self.name, self.lost))

    @property
    def missing(self) -> tuple[Left, ...]:
        """What the graph lacks of the values that `Checkpoint.write` would have written."""
        lacks = (node < self.tracked for node in self.skipped)
        pairs = zip(self.left, lacks, strict=True)
        return tuple(value for value, is_missing in pairs if is_missing)

    @cached_property
    def untracked(self) -> tuple[str, ...]:
        """The names of objects whose values are held, although TensorFlow does not follow them."""
        held = {*self.states, *(node for files in self.files for node in files.names)}
        return tuple(self.name(node) for node in sorted(held) if node >= self.tracked)


def without_untracked(tracked: int, node: Node) -> Node:
    """Return a node without the children and slots that TensorFlow does not follow."""
    children = tuple(child for child in node.children if child.node_id < tracked)
    slots = tuple(slot for slot in node.slot_variables if slot.slot_variable < tracked)
    if (len(children), len(slots)) == (len(node.children), len(node.slot_variables)):
        return node
    return node._replace(children=children, slot_variables=slots)


def _described(
    attributes: Sequence[Attribute], state: HeldState, object_key: str
) -> tuple[Attribute, ...]:
    """Return the attributes with what is known now that the object's code has run."""
    if len(attributes) != 1 or not attributes[0].name:
        names = dict.fromkeys(part.name for part in state.parts)
        attributes = [Attribute(n, "", checkpoint_key(object_key, n)) for n in names]
    described = []
    for attribute in attributes:
        parts = [part for part in state.parts if part.name == attribute.name]
        own = parts or [part for part in state.parts if part.name.startswith(attribute.name)]
        nbytes = sum(tf_state.nbytes_of(part.value) for part in own)
        if parts:
            described.append(
                attribute._replace(dtype=parts[0].dtype, shape=shape_of(parts), nbytes=nbytes)
            )
        else:
            described.append(attribute._replace(nbytes=nbytes))
    return tuple(described)
