"""Sequences of the object graph, and what distinguishes their items: values and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ckpt_viz.correspondence.full_names import FullNames
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Child, SlotRule

INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")


def sequences(children: Iterable[Child]) -> dict[str, list[int]]:
    """Return the children with consecutive numbers, by the text before the number."""
    numbered: dict[str, dict[int, int]] = {}
    for child in children:
        match = INDEX.fullmatch(child.local_name)
        if match is not None:
            numbered.setdefault(match[1], {})[int(match[2])] = child.node_id
    return {
        prefix: [items[i] for i in range(len(items))]
        for prefix, items in numbered.items()
        if max(items) == len(items) - 1
    }


def names_of_states(graph: Graph, names: FullNames) -> Mapping[int, Sequence[str]]:
    """Return, by variable, the names of its slot variables.

    Keras 3 names them after the variable's path, which the variable's own name may lack.
    """
    by_variable: dict[int, list[str]] = {}
    for node in graph.nodes:
        if node.slot is not None and node.slot.rule is SlotRule.LIST_INDEX:
            name = names.plain_state(node.attributes[0].full_name)
            by_variable.setdefault(node.slot.variable, []).append(name)
    return by_variable
