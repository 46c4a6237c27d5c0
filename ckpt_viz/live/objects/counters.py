"""The counters of a program: how often it was saved, and how many steps its optimizers took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.matching.name_rules.migrations import local_name

_ITERATIONS = "iterations"


def counters_of(live: Graph) -> Mapping[str, int]:
    """Return the counters of a live graph by their names, but for those that only a session has."""
    nodes = live.nodes
    counters = {
        child.node_id
        for node in nodes
        if node.role is Role.OPTIMIZER
        for child in node.children
        if local_name(child.local_name) == _ITERATIONS and has_value(nodes[child.node_id])
    }
    if live.save_counter is not None:
        counters.add(live.save_counter)
    numbers = ((live.names.place(node), number_of(live.object(node))) for node in sorted(counters))
    return {name: number for name, number in numbers if number is not None}


def number_of(value: Any) -> int | None:
    """Return a whole number, or that of a variable; None if only a session has it, or for none."""
    if value is None:
        return None
    try:
        return int(tf_private.value_of(value) if tf_private.is_variable(value) else value)
    except (UnsupportedError, TypeError, ValueError):
        return None
