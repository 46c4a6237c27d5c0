"""Nodes of a SavedModel's checkpoint, with the types from the SavedModel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_viz.files.keras_files.facts import with_facts
from ckpt_viz.formats.bundles.saved_model import SavedObject
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import Node, Role

# TensorFlow's and Keras' words for kinds of objects, with the class if a kind has only one
# (saved_model/load.py, tf_keras/src/saving/legacy/saved_model/constants.py).
_LAYERS = "_tf_keras_"  # layer, network, model, metric, ...: all are layers in Keras 2
_OPTIMIZERS = {"optimizer": "OptimizerV2", "experimentalOptimizer": "Optimizer"}
_CONTAINERS = {
    "trackable_list_wrapper": "ListWrapper",
    "trackable_dict_wrapper": "_DictWrapper",
    "trackable_tuple_wrapper": "_TupleWrapper",
}


def are_of_one_graph(nodes: Sequence[Node], objects: Sequence[SavedObject]) -> bool:
    """Return whether a SavedModel's objects are the nodes of this checkpoint, id by id.

    It may have more: older versions (2.4 for one) add the functions after saving the variables.
    """
    count = len(nodes)
    return len(objects) >= count and all(
        [(child.local_name, child.node_id) for child in node.children]
        == [child for child in obj.children if child[1] < count]
        for node, obj in zip(nodes, objects[:count], strict=True)
    )


def with_types(
    nodes: Sequence[Node], objects: Sequence[SavedObject]
) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
    """Return the nodes with role, class, configuration and facts from the SavedModel, and calls."""
    typed = tuple(map(_with_type, nodes, objects[: len(nodes)]))
    layers = (i for i, node in enumerate(typed) if node.role is Role.LAYER)
    return with_facts(typed, {i: objects[i].described for i in layers})


def _with_type(node: Node, obj: SavedObject) -> Node:
    role, class_name = node.role, obj.class_name
    if obj.identifier.startswith(_LAYERS):
        role = Role.LAYER
    elif obj.identifier in _OPTIMIZERS:
        role, class_name = Role.OPTIMIZER, class_name or _OPTIMIZERS[obj.identifier]
    elif obj.identifier in _CONTAINERS:
        role, class_name = Role.CONTAINER, class_name or _CONTAINERS[obj.identifier]
    return node._replace(
        role=role,
        type_name=class_name,
        config=obj.config,
        trainable=obj.trainable,
        own_name=_own_name(obj.described) if role is Role.LAYER else None,
    )


def _own_name(described: Mapping[str, Any]) -> str | None:
    """Return the name of a layer in what Keras wrote of it."""
    config = described.get("config")
    name = config.get("name") if isinstance(config, Mapping) else None
    return name if isinstance(name, str) else None
