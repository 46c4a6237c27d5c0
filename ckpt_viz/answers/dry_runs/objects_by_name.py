"""An object-based checkpoint as a Saver reads it: its tensors have names."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ckpt_viz.graphs.nodes.keys import parse_checkpoint_key
from ckpt_viz.graphs.nodes.nodes import Attribute, Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.graphs.slots.scopes import NamedVariable, scope_nodes

_OF_KEYS = "/.ATTRIBUTES/"


def as_named(saved: Graph, live: Graph) -> Graph:
    """Return the tensors of an object-based checkpoint in the scopes of their names.

    A tensor has its full name, or the path in its key if it has none, or not for itself. A Saver
    may also name tensors by their keys; then these are the names.
    """
    every = [(node, value) for node in saved.nodes for value in node.attributes]
    names = (value.full_name for node in live.nodes for value in node.attributes)
    are_keys = any(_OF_KEYS in name for name in names)
    counts = Counter(value.full_name for _, value in every)
    nodes = scope_nodes(
        _variable(node, value, value.checkpoint_key if are_keys else _name(value, counts))
        for node, value in every
    )
    assert saved.provenance is not None
    provenance = replace(saved.provenance, format=Format.NAME_BASED)
    return Graph(nodes, saved.title, saved.origin, provenance, _access=saved._access)


def _variable(node: Node, value: Attribute, name: str) -> NamedVariable:
    return NamedVariable(value._replace(full_name=name), node.trainable, type_name=node.type_name)


def _name(value: Attribute, counts: Counter[str]) -> str:
    if value.full_name and counts[value.full_name] == 1:
        return value.full_name
    key = parse_checkpoint_key(value.checkpoint_key)
    return value.checkpoint_key if key is None else key.object_key
