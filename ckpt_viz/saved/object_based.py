"""Saved checkpoints as object graphs, read without TensorFlow."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any

from ckpt_viz.errors import CheckpointNotFoundError, FormatError, UnsupportedError
from ckpt_viz.formats.bundle import Bundle, open_bundle
from ckpt_viz.formats.protos import TrackableObjectGraph, parse
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.nodes import Attribute, Child, Node, Role, SlotVariable, is_variable

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_INDEX = ".index"


def read_checkpoint(path: str | os.PathLike[str]) -> Graph:
    """Return the object graph of the checkpoint with this prefix, `ckpts/ckpt-3` say.

    Roles are those that a node alone tells: VARIABLE or OBJECT. Reads the index and the object
    graph, no other tensor. Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    prefix = os.fspath(path)
    if not os.path.isfile(prefix + _INDEX):
        raise CheckpointNotFoundError(_not_found(prefix))
    bundle = open_bundle(prefix)
    return Graph(tuple(_nodes(bundle)), title=prefix, origin=Origin.SAVED)


def _nodes(bundle: Bundle) -> Iterable[Node]:
    if OBJECT_GRAPH_KEY not in bundle.entries:
        raise UnsupportedError(
            f"{bundle.prefix}: no object graph inside: this is a name-based checkpoint "
            f"(tf.compat.v1.train.Saver) of {len(bundle.entries)} tensors; this version reads "
            "object-based ones, as tf.train.Checkpoint writes them"
        )
    place = f"{bundle.prefix}: {OBJECT_GRAPH_KEY}"
    proto = parse(TrackableObjectGraph, bundle.read_string_scalar(OBJECT_GRAPH_KEY), place)
    if not proto.nodes:
        raise FormatError(f"{place}: found no nodes, expected at least the root")
    count = len(proto.nodes)
    for node_id, node in enumerate(proto.nodes):
        children = tuple([Child(c.local_name, c.node_id) for c in node.children])
        slots = tuple(map(_slot_variable, node.slot_variables))
        attributes = tuple([_attribute(bundle, a) for a in node.attributes])
        _check_references(f"{place}: node {node_id}", children, slots, count)
        yield Node(
            children=children,
            attributes=attributes,
            slot_variables=slots,
            registered_saver=(
                node.registered_saver.name if node.HasField("registered_saver") else None
            ),
            role=Role.VARIABLE if is_variable(attributes) else Role.OBJECT,
        )


def _slot_variable(proto: Any) -> SlotVariable:
    return SlotVariable(
        proto.slot_name, proto.original_variable_node_id, proto.slot_variable_node_id
    )


def _check_references(
    place: str, children: Iterable[Child], slots: Iterable[SlotVariable], count: int
) -> None:
    """Raise FormatError where a node refers to one that is not there."""
    for child in children:
        if not 0 <= child.node_id < count:
            raise _no_such_node(f"{place}, child {child.local_name!r}", child.node_id, count)
    for slot in slots:
        for node_id in (slot.variable, slot.slot_variable):
            if not 0 <= node_id < count:
                raise _no_such_node(f"{place}, slot {slot.slot_name!r}", node_id, count)


def _no_such_node(place: str, node_id: int, count: int) -> FormatError:
    return FormatError(f"{place}: found node id {node_id}, expected 0 to {count - 1}")


def _attribute(bundle: Bundle, proto: Any) -> Attribute:
    key: str = proto.checkpoint_key
    entries = bundle.matching(key)
    if len(entries) == 1:
        (entry,) = entries
        return Attribute(proto.name, proto.full_name, key, entry.dtype, entry.shape, entry.size)
    nbytes = sum(entry.size for entry in entries) if entries else None
    return Attribute(proto.name, proto.full_name, key, nbytes=nbytes)


def _not_found(path: str) -> str:
    """Return a sentence that says what stands at the path, and which prefix was likely meant."""
    if path.endswith(_INDEX) and os.path.isfile(path):
        return f"{path}: this is a checkpoint's index; expected its prefix, {path[: -len(_INDEX)]}"
    if os.path.isdir(path):
        prefixes = _prefixes_in(path)
        if not prefixes:
            return (
                f"{path}: a directory without a checkpoint; expected a prefix such as ckpts/ckpt-1"
            )
        return (
            f"{path}: a directory; expected the prefix of a checkpoint in it: {_listed(prefixes)}"
        )
    directory = os.path.dirname(path) or "."
    prefix = path.rpartition(".data-")[0]
    if prefix and os.path.isfile(prefix + _INDEX):
        return f"{path}: this is a shard of a checkpoint; expected its prefix, {prefix}"
    if os.path.isfile(path):
        return (
            f"{path}: a file, but not a checkpoint; expected a prefix with {path}{_INDEX} beside it"
        )
    if not os.path.isdir(directory):
        return f"{path}: no such checkpoint, and no directory {directory}"
    prefixes = _prefixes_in(directory)
    close = difflib.get_close_matches(path, prefixes, n=3, cutoff=0.6) or prefixes
    hint = f"; did you mean {_listed(close)}?" if close else ""
    return f"{path}: no such checkpoint; expected a file {path}{_INDEX}{hint}"


def _prefixes_in(directory: str) -> list[str]:
    return sorted(
        os.path.join(directory, name[: -len(_INDEX)])
        for name in os.listdir(directory)
        if name.endswith(_INDEX) and len(name) > len(_INDEX)
    )


def _listed(prefixes: list[str]) -> str:
    shown = " or ".join(prefixes[:3])
    return shown if len(prefixes) <= 3 else f"{shown} ({len(prefixes) - 3} more)"
