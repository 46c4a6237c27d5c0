"""Checkpoints of the V2 format: an index and data shards, alone or inside a SavedModel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ckpt_viz.errors import CkptVizError, FormatError
from ckpt_viz.files.saved.location import INDEX, Files, FormatReader, Location
from ckpt_viz.files.saved.object_based import OBJECT_GRAPH_KEY, read_object_based
from ckpt_viz.files.saved.saved_access import graph_at, names_beginning
from ckpt_viz.files.saved.writers import of_checkpoint, of_saved_model
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.formats.bundles.bundle_index import holds_header
from ckpt_viz.formats.bundles.saved_model import SavedObject, read_saved_model
from ckpt_viz.formats.storage.files import is_readable_file, open_file
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.graphs.slots.roles import assign_roles


def _is_at(prefix: str) -> bool:
    return is_readable_file(prefix + INDEX)


def _files_of(location: Location) -> Files:
    index = location.index or location.prefix + INDEX
    return Files(index, names_beginning(f"{location.prefix}.data-"))


def _read(location: Location, meta: str | None) -> Graph:
    bundle = open_bundle(location.prefix, location.index)
    if OBJECT_GRAPH_KEY not in bundle.entries:
        from ckpt_viz.files.saved.name_based import read_name_based
        from ckpt_viz.files.saved.variable_facts import facts_of

        facts, notes = facts_of(location, meta)
        nodes = read_name_based(bundle, facts, place=location.prefix)
        writer = of_checkpoint(location.meta, is_by_names=True)
        return graph_at(location, bundle, nodes, Format.NAME_BASED, notes, writer=writer)
    nodes = read_object_based(bundle)
    if location.saved_model is None:
        writer = of_checkpoint(location.meta, is_by_names=False)
        roles = assign_roles(nodes)
        return graph_at(location, bundle, roles, Format.OBJECT_BASED, writer=writer)
    objects: tuple[SavedObject, ...] = ()
    try:
        objects = read_saved_model(location.saved_model)
        nodes, calls, notes = _typed(nodes, objects)
    except CkptVizError as error:
        calls, notes = (), (f"without types: {error}",)
    writer = of_saved_model(location.saved_model, objects)
    roles = assign_roles(nodes)
    graph = graph_at(location, bundle, roles, Format.SAVED_MODEL, notes, writer=writer)
    return replace(graph, calls=calls)


def _typed(
    nodes: tuple[Node, ...], objects: Sequence[SavedObject]
) -> tuple[tuple[Node, ...], tuple[Call, ...], tuple[str, ...]]:
    """Return the nodes with the SavedModel's types, and calls; else unchanged, with the reason."""
    from ckpt_viz.files.saved.typed import are_of_one_graph, with_types

    if not objects or not are_of_one_graph(nodes, objects):
        why = "without types: saved_model.pb does not describe the objects of this graph"
        return nodes, (), (why,)
    return *with_types(nodes, objects), ()


def _in_file(path: str) -> Location | None:
    """Return the checkpoint of an index that has lost its suffix; its shards may be missing."""
    with open_file(path) as file:
        try:
            holds_header(file)
        except FormatError:
            return None
    resolved = (
        f"{path} is the index of a checkpoint, whatever its name; to restore it, rename it to "
        f"{path}{INDEX}, and its shards alike"
    )
    return Location(path, path, V2, resolved=resolved, index=path)


V2 = FormatReader("V2", _is_at, holds_header, _in_file, _files_of, _read)
