"""A hostile file may have thousands of tensors in the same bytes: none is copied."""

from __future__ import annotations

from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.stored_ranges import Claims, stored_ranges
from ckpt_viz.graphs.edits.edited_access import first_graph
from ckpt_viz.graphs.edits.union import first_graphs
from ckpt_viz.graphs.object_graph.graph import Graph


def assert_own_bytes(graph: Graph) -> None:
    """Raise FormatError if tensors of a file share bytes: a small file would make a huge copy."""
    for _, first in first_graphs(graph):
        if first is not graph and first_graph(first) is not first:
            assert_own_bytes(first)
        _assert_own(first)


def _assert_own(graph: Graph) -> None:
    stored, claims = graph.stored_in, Claims()
    for key, entry in stored.entries.items() if isinstance(stored, Bundle) else ():
        is_copied = entry.shape is not None and entry.dtype not in ("variant", "resource")
        if is_copied and stored.why_unreadable(key) is None:
            claims.add(stored_ranges(stored, key))
