"""Any saved checkpoint as an object graph: finds it, reads it, and keeps it at hand for values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ckpt_viz.errors import CkptVizError, NoSuchTensorError, SourceError
from ckpt_viz.formats.bundle import Bundle, open_bundle
from ckpt_viz.formats.files import join
from ckpt_viz.formats.meta_graph import MetaGraph, open_meta_graph, open_saved_models_meta_graph
from ckpt_viz.formats.saved_model import SAVED_MODEL, read_saved_model
from ckpt_viz.formats.saver_v1 import SaverV1, open_saver_v1
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.object_graph.graph import Format, Graph, Origin, Provenance
from ckpt_viz.object_graph.keys import parse_checkpoint_key
from ckpt_viz.object_graph.nodes import ROOT, Fingerprint, Node, Stored
from ckpt_viz.object_graph.roles import assign_roles
from ckpt_viz.saved.locate import Location, locate
from ckpt_viz.saved.name_based import read_name_based
from ckpt_viz.saved.object_based import OBJECT_GRAPH_KEY, read_object_based
from ckpt_viz.saved.typed import are_of_one_graph, with_types

if TYPE_CHECKING:
    from ckpt_viz.formats.tensors import Array


def read_saved(path: str | os.PathLike[str], meta: str | os.PathLike[str] | None = None) -> Graph:
    """Return the object graph of the checkpoint that a path leads to (see `locate`).

    `meta` is the `.meta` file of a name-based checkpoint, where it lies elsewhere. Reads the
    index and the object graph, and what a SavedModel or MetaGraph tells of the objects; no
    other tensor. Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    return gc_paused(lambda: _read(locate(os.fspath(path)), meta))


def _read(location: Location, meta: str | os.PathLike[str] | None) -> Graph:
    stored = open_saver_v1(location.prefix) if location.is_v1 else open_bundle(location.prefix)
    notes = [location.resolved] if location.resolved else []
    if isinstance(stored, Bundle) and OBJECT_GRAPH_KEY in stored.entries:
        form, nodes = Format.OBJECT_BASED, read_object_based(stored)
        if location.saved_model is not None:
            form, nodes = Format.SAVED_MODEL, _typed(nodes, location.saved_model, notes)
        nodes = assign_roles(nodes)
    else:
        form = Format.NAME_BASED_V1 if location.is_v1 else Format.NAME_BASED
        told = (
            open_meta_graph(os.fspath(meta)) if meta is not None else _found_meta(location, notes)
        )
        nodes = read_name_based(stored, told, place=location.prefix)
        if isinstance(stored, SaverV1) and stored.missing:
            nodes = (nodes[ROOT]._replace(error=_missing(stored)), *nodes[1:])
    return Graph(
        nodes,
        title=location.saved_model or location.prefix,
        origin=Origin.SAVED,
        provenance=Provenance(
            location.given, location.prefix, form, "; ".join(notes), location.kept
        ),
        _access=_SavedAccess(location, stored),
    )


def _missing(stored: SaverV1) -> str:
    count = len(stored.missing)
    return (
        f"{count} shard{'s are' if count > 1 else ' is'} missing, {stored.missing[0]} first; the "
        "variables in them are not shown"
    )


def _typed(nodes: tuple[Node, ...], directory: str, notes: list[str]) -> tuple[Node, ...]:
    """Return the nodes with the SavedModel's types; as they are where it tells none."""
    try:
        objects = read_saved_model(directory)
    except CkptVizError as error:
        notes.append(f"without types: {error}")
        return nodes
    if not objects or not are_of_one_graph(nodes, objects):
        notes.append("without types: saved_model.pb does not describe the objects of this graph")
        return nodes
    return with_types(nodes, objects)


def _found_meta(location: Location, notes: list[str]) -> MetaGraph | None:
    """Return the MetaGraph that lies beside a checkpoint; without it, it can be seen as well."""
    try:
        if location.saved_model is not None:
            return open_saved_models_meta_graph(join(location.saved_model, SAVED_MODEL))
        return open_meta_graph(location.meta) if location.meta is not None else None
    except (CkptVizError, FileNotFoundError) as error:
        notes.append(f"without what the MetaGraph tells: {error}")
        return None


class _Stored(Protocol):
    """An open checkpoint: a bundle or a V1 file."""

    @property
    def entries(self) -> Mapping[str, Any]: ...
    def read(self, key: str, /) -> Array: ...
    def why_unreadable(self, key: str, /) -> str | None: ...
    def fingerprint(self, key: str, /) -> Fingerprint | None: ...


@dataclass(frozen=True)
class _SavedAccess:
    """The open checkpoint behind a graph."""

    location: Location
    stored_in: _Stored

    def object(self, node_id: int) -> object | None:
        return None

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        raise SourceError(
            f"{self.location.prefix}: a saved checkpoint has no live objects to get hold of"
        )

    def value(self, checkpoint_key: str) -> Array:
        entries = self.stored_in.entries
        if checkpoint_key in entries:
            return self.stored_in.read(checkpoint_key)
        # An attribute may be stored as several tensors: `.../table-keys`, `.../table-values`.
        is_attribute = parse_checkpoint_key(checkpoint_key) is not None
        keys = [key for key in entries if is_attribute and key.startswith(checkpoint_key)]
        if len(keys) == 1:
            return self.stored_in.read(keys[0])
        found = f"is stored as {' and '.join(keys[:3])}" if keys else "there is none"
        raise NoSuchTensorError(
            f"{self.location.prefix}: expected one tensor {checkpoint_key!r}, {found}"
        )

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        if isinstance(self.stored_in, Bundle):
            found = self.stored_in.first_elements(checkpoint_key, count)
            if found is not None:
                return found
        return self.value(checkpoint_key).reshape(-1)[:count]

    def stored(self, checkpoint_key: str) -> Stored | None:
        entry = self.stored_in.entries.get(checkpoint_key)
        if entry is None:
            return None
        return Stored(entry.dtype, entry.shape, self.stored_in.why_unreadable(checkpoint_key))

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        if checkpoint_key not in self.stored_in.entries:
            return None
        return self.stored_in.fingerprint(checkpoint_key)

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        if isinstance(self.stored_in, Bundle):
            return self.stored_in.matching(checkpoint_key)
        return (checkpoint_key,)
