"""The graph of an open checkpoint, which remains available for reading values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ckpt_viz.errors import CkptVizError, NoSuchTensorError, SourceError
from ckpt_viz.files.saved.location import Location
from ckpt_viz.files.saved.writers import Writer
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.storage.files import join, list_directory, split
from ckpt_viz.graphs.nodes.keys import parse_checkpoint_key
from ckpt_viz.graphs.nodes.nodes import Fault, Fingerprint, Node, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Format, Origin, Provenance

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


def graph_at(
    location: Location,
    stored: OpenCheckpoint,
    nodes: tuple[Node, ...],
    form: Format,
    notes: Iterable[str] = (),
    *,
    writer: Writer,
) -> Graph:
    """Return the graph of a checkpoint; `notes` are sentences besides that on its path."""
    sentences = (location.resolved, *notes)
    return Graph(
        nodes,
        title=location.saved_model or location.prefix,
        origin=Origin.SAVED,
        provenance=Provenance(
            location.given,
            location.prefix,
            form,
            "; ".join(filter(None, sentences)),
            location.kept,
            *writer,
        ),
        _access=_SavedAccess(location, stored),
    )


def with_faults(graph: Graph, faults: Mapping[str, Fault]) -> Graph:
    """Return the graph of a checkpoint that knows which of its tensors are damaged, by key."""
    if not faults:  # such as the graph of a snapshot, which has no bytes to damage
        return graph
    access = graph._access
    assert isinstance(access, _SavedAccess)
    return replace(graph, _access=replace(access, faults=faults))


def faulty(tensors: Mapping[str, Stored], faults: Mapping[str, Fault]) -> Mapping[str, Stored]:
    """Return tensors with the knowledge which of them are damaged, by key."""
    return {key: stored._replace(fault=faults.get(key)) for key, stored in tensors.items()}


def names_beginning(beginning: str) -> tuple[str, ...]:
    """Return the paths in a directory with this beginning; none if it cannot be listed."""
    directory, name = split(beginning)
    with suppress(CkptVizError):
        names = list_directory(directory or ".")
        return tuple(join(directory, other) for other in names if other.startswith(name))
    return ()


class OpenCheckpoint(Protocol):
    """An open checkpoint, of any format."""

    @property
    def entries(self) -> Mapping[str, Any]:
        """The index's description of each tensor, by key."""

    def read(self, key: str, /) -> Array:
        """Return the value of a tensor."""

    def why_unreadable(self, key: str, /) -> str | None:
        """Return why a tensor cannot be read, None if it may be readable; read nothing."""

    def fingerprint(self, key: str, /) -> Fingerprint | None:
        """Return layout and checksums of a tensor, None if there are none."""


@dataclass(frozen=True)
class _SavedAccess(Access):
    """The open checkpoint behind a graph."""

    location: Location
    stored_in: OpenCheckpoint
    faults: Mapping[str, Fault] = field(default_factory=dict)

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        raise SourceError(f"{self.location.prefix}: a saved checkpoint has no live objects")

    def value(self, checkpoint_key: str) -> Array:
        if checkpoint_key in self.stored_in.entries:
            return self.stored_in.read(checkpoint_key)
        # Several tensors may store an attribute: `.../table-keys`, `.../table-values`.
        is_attribute = parse_checkpoint_key(checkpoint_key) is not None
        keys = self.tensor_keys(checkpoint_key) if is_attribute else ()
        if len(keys) == 1:
            return self.stored_in.read(keys[0])
        places = f"is stored as {' and '.join(keys[:3])}" if keys else "there is none"
        raise NoSuchTensorError(
            f"{self.location.prefix}: expected one tensor {checkpoint_key!r}, {places}"
        )

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        if isinstance(self.stored_in, Bundle):
            elements = self.stored_in.first_elements(checkpoint_key, count)
            if elements is not None:
                return elements
        return super().beginning(checkpoint_key, count)

    def stored(self, checkpoint_key: str) -> Stored | None:
        entry = self.stored_in.entries.get(checkpoint_key)
        if entry is None:
            return None
        error = self.stored_in.why_unreadable(checkpoint_key)
        return Stored(entry.dtype, entry.shape, error, self.faults.get(checkpoint_key))

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        if checkpoint_key not in self.stored_in.entries:
            return None
        return self.stored_in.fingerprint(checkpoint_key)

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        if isinstance(self.stored_in, Bundle):
            return self.stored_in.matching(checkpoint_key)
        return super().tensor_keys(checkpoint_key)
