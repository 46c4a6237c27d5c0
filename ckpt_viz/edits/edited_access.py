"""The values of an edited graph: each is read from the source when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckpt_viz.errors import NoSuchTensorError, SourceError
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keys import checkpoint_key, parse_checkpoint_key
from ckpt_viz.object_graph.nodes import Fingerprint, Stored

if TYPE_CHECKING:
    from ckpt_viz.formats.tensors import Array


@dataclass(frozen=True)
class EditedAccess:
    """Access to the values of a source by the keys of an edited graph.

    `old_paths` has the key of an object in the source by its key after the edits. An object that
    an edit has added has none there.
    """

    source_graph: Graph
    old_paths: Mapping[str, str]

    @classmethod
    def of(cls, graph: Graph, old_paths: Mapping[str, str]) -> EditedAccess:
        """Return access by the keys that objects have in a graph, which may be edited itself.

        After many edits a value is still one step away.
        """
        access = graph._access
        if not isinstance(access, cls):
            return cls(graph, old_paths)
        known = access.old_paths
        paths = {new: known[old] for new, old in old_paths.items() if old in known}
        return cls(access.source_graph, paths)

    def object(self, node_id: int) -> object | None:
        """Return None: a program may no longer have this object."""
        return None

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Raise SourceError: there is no object."""
        raise SourceError(f"{graph.title}: an edited graph has no live objects")

    def value(self, key: str) -> Array:
        """Return the value of a tensor."""
        return self.source_graph.read(self._old(key))

    def beginning(self, key: str, count: int) -> Array:
        """Return the first elements of a tensor."""
        return self.source_graph.beginning(self._old(key), count)

    def stored(self, key: str) -> Stored | None:
        """Return dtype and shape of a tensor."""
        old = self._old_or_none(key)
        return None if old is None else self.source_graph.stored(old)

    def fingerprint(self, key: str) -> Fingerprint | None:
        """Return layout and checksums of a tensor."""
        old = self._old_or_none(key)
        return None if old is None else self.source_graph.fingerprint(old)

    def tensor_keys(self, key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""
        old, parsed = self._old_or_none(key), parse_checkpoint_key(key)
        if old is None or parsed is None:
            return ()
        stored = map(parse_checkpoint_key, self.source_graph.tensor_keys(old))
        return tuple(checkpoint_key(parsed.object_key, part.attribute) for part in stored if part)

    def _old(self, key: str) -> str:
        old = self._old_or_none(key)
        if old is None:
            raise NoSuchTensorError(f"{self.source_graph.title}: no tensor {key!r} after the edits")
        return old

    def _old_or_none(self, key: str) -> str | None:
        parsed = parse_checkpoint_key(key)
        if parsed is None or parsed.object_key not in self.old_paths:
            return None
        return checkpoint_key(self.old_paths[parsed.object_key], parsed.attribute)
