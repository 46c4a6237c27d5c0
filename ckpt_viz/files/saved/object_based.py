"""Object-based checkpoints, as `tf.train.Checkpoint` writes them, as nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import intern
from typing import Any

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.arrays.protos import TrackableObjectGraph, parse
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import (
    ROOT,
    Attribute,
    Child,
    Node,
    Role,
    Slice,
    SlotVariable,
    is_variable,
)
from ckpt_viz.graphs.nodes.walks import with_value_below

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_OTHER_COPY = "the index is damaged: copy the checkpoint again, or save it again"


def read_object_based(bundle: Bundle) -> tuple[Node, ...]:
    """Return the nodes of the object graph in a bundle; read no other tensor.

    Roles are those that a node alone shows: VARIABLE or OBJECT. Values in a missing or too short
    shard are marked. If the object graph itself is in such a shard, the nodes come from the keys,
    and the root reports what is missing. Raises FormatError.
    """
    attribute = _attribute_maker(bundle)
    missing = bundle.why_unreadable(OBJECT_GRAPH_KEY)
    if missing is None:
        place = f"{bundle.prefix}: {OBJECT_GRAPH_KEY}"
        return nodes_of_graph(bundle.read_string_scalar(OBJECT_GRAPH_KEY), place, attribute)
    from ckpt_viz.files.saved.from_keys import nodes_from_keys

    keys = (key for key in bundle.entries if key != OBJECT_GRAPH_KEY)
    try:
        nodes = list(nodes_from_keys(keys, lambda name, key: attribute(name, "", key)))
    except UnsupportedError as error:
        raise UnsupportedError(f"{bundle.index}: {error}") from error
    nodes[ROOT] = nodes[ROOT]._replace(
        error=f"the object graph is missing: {missing}; the tree here comes from the checkpoint "
        "keys: it has every value, but no shared or empty objects",
    )
    return tuple(nodes)


def nodes_of_graph(
    encoded: bytes, place: str, attribute: Callable[[str, str, str], Attribute]
) -> tuple[Node, ...]:
    """Return the nodes of an encoded TrackableObjectGraph.

    `attribute` makes an attribute from its name, full name and key; `place` names the graph in
    errors. Raises FormatError.
    """
    nodes: list[Node] = []
    waiting: list[bool] = []
    for node, waits in _nodes(encoded, place, attribute):
        nodes.append(node)
        waiting.append(waits)
    valued = with_value_below(nodes)
    for node_id, waits in enumerate(waiting):
        if waits != (node_id in valued):
            nodes[node_id] = nodes[node_id]._replace(waits=waits)
    return tuple(nodes)


def _nodes(
    encoded: bytes, place: str, attribute: Callable[[str, str, str], Attribute]
) -> Iterator[tuple[Node, bool]]:
    """Yield each node, and whether a restore keeps it until an object for it exists."""
    proto = parse(TrackableObjectGraph, encoded, place)
    if not proto.nodes:
        raise FormatError(f"{place}: found no nodes, expected at least the root")
    count = len(proto.nodes)
    for node_id, node in enumerate(proto.nodes):
        # Slices, because protobuf ends each loop over a field with an exception. Local names
        # repeat: one copy of each is enough.
        children = tuple([Child(intern(c.local_name), c.node_id) for c in node.children[:]])
        slots = tuple([_slot_variable(s) for s in node.slot_variables[:]])
        attributes = tuple(
            [attribute(intern(a.name), a.full_name, a.checkpoint_key) for a in node.attributes[:]]
        )
        for name, to in children:
            if not 0 <= to < count:
                raise _no_node(to, count, f"{place}: node {node_id}, child {brief(name)}")
        for slot in slots:
            for to in (slot.variable, slot.slot_variable):
                if not 0 <= to < count:
                    where = f"{place}: node {node_id}, slot {brief(slot.slot_name)}"
                    raise _no_node(to, count, where)
        saver = node.registered_saver.name if node.HasField("registered_saver") else None
        role = Role.VARIABLE if is_variable(attributes) else Role.OBJECT
        # As in tensorflow/python/checkpoint/restore.py. Older files lack the field.
        waits = bool(children or attributes or slots or saver is not None)
        if node.HasField("has_checkpoint_values"):
            waits = node.has_checkpoint_values.value
        yield Node(children, attributes, slots, saver, role), waits


def _no_node(node_id: int, count: int, where: str) -> FormatError:
    return FormatError(f"{where}: found node id {node_id}, expected 0 to {count - 1}")


def _slot_variable(proto: Any) -> SlotVariable:
    return SlotVariable(
        proto.slot_name, proto.original_variable_node_id, proto.slot_variable_node_id
    )


def _attribute_maker(bundle: Bundle) -> Callable[[str, str, str], Attribute]:
    """Return a function from an attribute's name, full name and key to the attribute."""
    # Attributes of many tensors or slices: a forged graph may repeat a name many times.
    seen: dict[str, Attribute] = {}

    def attribute(name: str, full_name: str, key: str) -> Attribute:
        entry = bundle.entries.get(key)
        if entry is not None and not entry.slices:
            error = bundle.why_absent(entry)
            return Attribute(name, full_name, key, entry.dtype, entry.shape, entry.size, (), error)
        if key not in seen:
            seen[key] = _of_tensors(bundle, name, key)
        return seen[key]._replace(name=name, full_name=full_name)

    return attribute


def _of_tensors(bundle: Bundle, name: str, key: str) -> Attribute:
    """Return an attribute in slices, or of other tensors than one of its key."""
    keys = bundle.matching(key)
    errors = [bundle.why_unreadable(k) for k in keys]
    if not keys and name == VARIABLE_VALUE:  # other objects may skip what they would save
        errors = [f"{bundle.index}: lacks the entry {brief(key)}; {_OTHER_COPY}"]
    nbytes = sum(bundle.entries[k].size for k in keys) if keys else None
    made = Attribute(name, "", key, nbytes=nbytes, error=next(filter(None, errors), None))
    if len(keys) != 1:
        return made
    entry = bundle.entries[keys[0]]
    slices = tuple([Slice(part.start, part.shape) for part in entry.slices])
    return made._replace(dtype=entry.dtype, shape=entry.shape, slices=slices)
