"""An object graph as data for JSON: see docs/graph_json.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.nodes.nodes import Attribute, Node
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Provenance

VERSION = 1


def graph_json(graph: Graph) -> dict[str, Any]:
    """Return the graph as dicts, lists, strings and numbers, linear in its size.

    A node has no path, because the paths in a chain together grow with the square of its length. It
    has its `parent` and `label` in the outline, from which a path can be built.
    """
    parameters = graph.parameters_by_training
    return {
        "version": VERSION,
        "title": graph.title,
        "origin": graph.origin.value,
        "provenance": _provenance(graph.provenance),
        "lost_files": [files.to_json() for files in lost_files(graph.stored_in)],
        "parameters": {training.value: number for training, number in parameters.items()} or None,
        "nodes": [_node(graph, node_id) for node_id in range(len(graph.nodes))],
        "calls": [{"producer": call.producer, "consumer": call.consumer} for call in graph.calls],
    }


def _provenance(provenance: Provenance | None) -> dict[str, Any] | None:
    if provenance is None:
        return None
    return {
        "given": provenance.given,
        "prefix": provenance.prefix,
        "format": provenance.format.value,
        "resolved": provenance.resolved,
        "written_by": provenance.written_by,
        "opened_by": provenance.opened_by,
        "kept": [
            {
                "prefix": kept.prefix,
                "saved_at": kept.saved_at.isoformat() if kept.saved_at is not None else None,
                "exists": kept.exists,
                "named": kept.is_named,
                "latest": kept.is_latest,
            }
            for kept in provenance.kept
        ],
    }


def _node(graph: Graph, node_id: int) -> dict[str, Any]:
    node, tree, training = graph.nodes[node_id], graph.tree, graph.trainings[node_id]
    parent = tree.parents[node_id]
    fields: dict[str, Any] = {
        "id": node_id,
        "name": readable_name(graph, node_id),
        "parent": None if parent == NOWHERE else parent,
        "label": tree.labels[node_id],
        "role": node.role.value,
    }
    return fields | _filled(
        type_name=node.type_name,
        own_name=node.own_name,
        held_as=node.held_as,
        children=[{"local_name": c.local_name, "node_id": c.node_id} for c in node.children],
        attributes=list(map(_attribute, node.attributes)),
        slot=_slot(node),
        slot_variables=list(map(asdict, node.slot_variables)),
        registered_saver=node.registered_saver,
        config=node.config,
        trainable=node.trainable,
        is_frozen=node.is_frozen or None,
        training=None if training is None else training.value,
        **_facts(node),
        collections=list(node.collections),
        not_saved=list(map(asdict, node.not_saved)),
        error=node.error,
        waits=node.waits,
    )


def _facts(node: Node) -> dict[str, Any]:
    if node.facts is None:
        return {}
    stated, gets, gives = node.facts
    return {
        "facts": [fact._asdict() for fact in stated],
        "gets": None if gets is None else list(map(list, gets)),
        "gives": None if gives is None else list(map(list, gives)),
    }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": attribute.name,
        "full_name": attribute.full_name,
        "checkpoint_key": attribute.checkpoint_key,
        "dtype": attribute.dtype,
        "shape": None if attribute.shape is None else list(attribute.shape),
        "nbytes": attribute.nbytes,
    }
    return fields | _filled(
        slices=[
            {"start": list(extent.start), "shape": list(extent.shape), "variable": extent.variable}
            for extent in attribute.slices
        ],
        error=attribute.error,
    )


def _slot(node: Node) -> dict[str, Any] | None:
    if node.slot is None:
        return None
    return {
        "name": node.slot.name,
        "variable": node.slot.variable,
        "optimizer": node.slot.optimizer,
        "rule": node.slot.rule.value,
    }


def _filled(**values: Any) -> dict[str, Any]:
    """Return the entries that are neither None nor an empty list."""
    return {name: value for name, value in values.items() if value is not None and value != []}
