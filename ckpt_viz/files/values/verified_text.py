"""What a test of stored bytes has found, as text for a terminal and as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckpt_viz.files.values.verifying import Damaged, Untested, Verification, nodes_by_key
from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.render.signs import SEVERITIES
from ckpt_viz.graphs.render.text import printable, shortened
from ckpt_viz.ground.text import count, listed, size_words

VERSION = 1
_MOST_NAMES = 6
_DAMAGED, _UNTESTED = SEVERITIES[Severity.ERROR], SEVERITIES[Severity.INFO]


def render_verification(
    graph: Graph, verification: Verification, max_lines: int | None = None
) -> str:
    """Return lines for each damaged or untested tensor, with the reason below; then a summary.

    All tensors of a missing or cut data file are one finding. After `max_lines` of these, a line
    counts the ones left out.
    """
    lines = list(_lines(graph, verification))
    cut = lines[max_lines:] if max_lines is not None else []
    shown = lines[:max_lines] if cut else lines
    more = [f"… cut after {max_lines} lines, {len(cut)} more"] if cut else []
    return "\n".join([shortened(graph.title), *shown, *more, summary(verification)])


def _lines(graph: Graph, verification: Verification) -> Iterator[str]:
    nodes = nodes_by_key(graph)

    def named(tensor: Damaged | Untested) -> str:
        node_id = nodes.get(tensor.key)
        return shortened(tensor.key if node_id is None else graph.names.place_or_state(node_id))

    lost = lost_files(graph.stored_in)
    lost_keys = {key for files in lost for key in files.keys}
    for files in lost:
        keys = {*files.keys, *([""] if files.holds_unknown else [])}
        damaged = [tensor for tensor in verification if tensor.key in keys]
        if damaged:
            yield f"  {_DAMAGED.glyph} damaged  {printable(files.why)}"
            yield f"      {files.remedy} Until then, reading these raises {files.raises}."
        names = [named(tensor) for tensor in damaged if tensor.key]
        if names:
            yield f"      {listed(names, most=_MOST_NAMES)}"
    for tensor in verification:
        if tensor.key and tensor.key not in lost_keys:
            yield f"  {_DAMAGED.glyph} damaged  {named(tensor)}"
            yield f"      {printable(tensor.why)}"
        elif not tensor.key and not any(files.holds_unknown for files in lost):
            yield f"  {_DAMAGED.glyph} damaged  {printable(tensor.why)}"
    for left in verification.untested:
        yield f"  {_UNTESTED.glyph} not tested  {named(left) if left.key else printable(left.why)}"
        if left.key:
            yield f"      {printable(left.why)}"


def summary(verification: Verification) -> str:
    """Return how many of the values match their checksums."""
    tested = f"{count(verification.tensors, 'value')}, {size_words(verification.nbytes)} read"
    untested = f"; {len(verification.untested)} not tested" if verification.untested else ""
    if verification:
        return f"{tested}: {len(verification)} damaged{untested}"
    return f"{tested}: all match their checksums{untested}"


def verification_json(graph: Graph, verification: Verification) -> dict[str, Any]:
    """Return the result as dicts, lists, strings and numbers."""
    return {
        "version": VERSION,
        "title": graph.title,
        "lost_files": [files.to_json() for files in lost_files(graph.stored_in)],
        "damaged": [
            {"key": tensor.key, "name": tensor.name, "why": tensor.why, "raises": tensor.raises}
            for tensor in verification
        ],
        "untested": [tensor._asdict() for tensor in verification.untested],
        "tensors": verification.tensors,
        "bytes": verification.nbytes,
    }
