"""Sequences of the object graph: children with consecutive numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ckpt_viz.graphs.nodes.nodes import Child

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
