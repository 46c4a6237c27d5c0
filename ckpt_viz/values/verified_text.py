"""What a test of stored bytes has found, as text for a terminal and as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ckpt_viz.formats.lost_files import lost_files
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.render.signs import SEVERITIES
from ckpt_viz.render.text import printable, shortened
from ckpt_viz.text import count, listed, size_words
from ckpt_viz.values.verifying import Verification

VERSION = 1
_MOST_NAMES = 6
_DAMAGED, _UNTESTED = SEVERITIES[Severity.ERROR], SEVERITIES[Severity.INFO]


def render_verification(graph: Graph, found: Verification, max_lines: int | None = None) -> str:
    """Return lines for each damaged or untested tensor, with the reason below; then a summary.

    All tensors of a missing or cut data file are one finding. After `max_lines` of these, a line
    counts the ones left out.
    """
    lines = list(_lines(graph, found))
    cut = lines[max_lines:] if max_lines is not None else []
    shown = lines[:max_lines] if cut else lines
    more = [f"… cut after {max_lines} lines, {len(cut)} more"] if cut else []
    return "\n".join([shortened(graph.title), *shown, *more, summary(found)])


def _lines(graph: Graph, found: Verification) -> Iterator[str]:
    lost = lost_files(graph.stored_in)
    told = {key for one in lost for key in one.keys}
    for files in lost:
        keys = {*files.keys, ""}
        damaged = [one for one in found if one.key in keys]
        if damaged:
            yield f"  {_DAMAGED.glyph} damaged  {printable(files.why)}"
            yield f"      {files.remedy} Until then, reading these raises {files.raises}."
        names = [shortened(one.name or one.key) for one in damaged if one.key]
        if names:
            yield f"      {listed(names, most=_MOST_NAMES)}"
    for one in found:
        if one.key and one.key not in told:
            yield f"  {_DAMAGED.glyph} damaged  {shortened(one.name or one.key)}"
            yield f"      {printable(one.why)}"
    for left in found.untested:
        yield f"  {_UNTESTED.glyph} not tested  {shortened(left.name or left.key)}"
        yield f"      {printable(left.why)}"


def summary(found: Verification) -> str:
    """Return how many of the values match their checksums."""
    tested = f"{count(found.tensors, 'value')}, {size_words(found.nbytes)} read"
    untested = f"; {len(found.untested)} not tested" if found.untested else ""
    if found:
        return f"{tested}: {len(found)} damaged{untested}"
    return f"{tested}: all match their checksums{untested}"


def verification_json(graph: Graph, found: Verification) -> dict[str, Any]:
    """Return the result as dicts, lists, strings and numbers."""
    return {
        "version": VERSION,
        "title": graph.title,
        "lost_files": [one.to_json() for one in lost_files(graph.stored_in)],
        "damaged": [
            {"key": one.key, "name": one.name, "why": one.why, "raises": one.raises}
            for one in found
        ],
        "untested": [one._asdict() for one in found.untested],
        "tensors": found.tensors,
        "bytes": found.nbytes,
    }
