"""The parameters of a graph: the elements of the variables that belong to a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import prod

from ckpt_viz.graphs.nodes.exported import copies_in_export
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.nodes.tree import Tree

_POWERS = re.compile(r"beta[12]_power(_\d+)?")  # of TensorFlow 1's Adam: they count its steps
_METRICS = "keras_api"  # where Keras 2 saves metrics: all else below it has a better place
_METRICS_OF_FILE = "metrics"  # where a file of tf_keras has those of a model


def parameters_of(nodes: Sequence[Node], tree: Tree, is_state: Sequence[int]) -> list[int]:
    """Return by node the number of its own parameters.

    The state of optimizers has none, nor have slots, counters of steps, and what metrics count;
    `is_state` is what `are_of_optimizers` returns. The variables of metrics are those with no
    better place than below `keras_api`, or below `metrics` in a file of tf_keras, unless a
    SavedModel says that they are trainable. A file of Keras' `export()` has each variable twice,
    and counts it once.
    """
    elements = [0] * len(nodes)
    copies = copies_in_export(nodes)
    is_metric = bytearray(len(nodes))
    for node_id in tree.preorder():
        node, parent, label = nodes[node_id], tree.parents[node_id], tree.labels[node_id]
        if node_id != ROOT:
            is_list = node.role is Role.CONTAINER and nodes[parent].role is Role.LAYER
            is_own = label == _METRICS or (is_list and label == _METRICS_OF_FILE)
            is_metric[node_id] = is_metric[parent] or is_own
        if node.role is not Role.VARIABLE or is_state[node_id] or node_id in copies:
            continue
        is_power = _POWERS.fullmatch(label) is not None and _elements(node) == 1
        is_counter = is_power or all(counts(a.shape, a.dtype) for a in node.attributes)
        if not is_counter and (node.trainable or not is_metric[node_id]):
            elements[node_id] = _elements(node)
    return elements


def are_of_optimizers(nodes: Sequence[Node], tree: Tree, hanging: Collection[int]) -> Sequence[int]:
    """Return by node 1 if it is an optimizer or part of its state, else 0.

    That is what is below it in the tree, but for `hanging` ones: variables of a model that nothing
    else holds.
    """
    are_state, hanging = bytearray(len(nodes)), {*hanging}
    for node_id in tree.preorder():
        is_below = node_id != ROOT and are_state[tree.parents[node_id]]
        is_state = is_below or nodes[node_id].role is Role.OPTIMIZER
        are_state[node_id] = is_state and node_id not in hanging
    return are_state


def counts(shape: Sequence[int] | None, dtype: str | None) -> bool:
    """Return whether a value is an integer scalar, which counts steps, epochs or checkpoints.

    >>> counts((), "int64"), counts((), "uint8"), counts((), "float32"), counts((3,), "int64")
    (True, True, False, False)
    """
    return shape is not None and not shape and (dtype or "").startswith(("int", "uint"))


def other_elements(
    base: Sequence[Node], other: Sequence[Node], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Return how many elements the counterparts of nodes of `base` have, where the number differs.

    `pairs` has the node of `base` for nodes of `other`.
    """
    counts = (
        (base_id, _elements(other[other_id]), _elements(base[base_id]))
        for other_id, base_id in pairs.items()
        if base_id < len(base)
    )
    return {base_id: saved for base_id, saved, own in counts if saved != own}


def _elements(node: Node) -> int:
    return sum(prod(a.shape) for a in node.attributes if a.shape is not None)
