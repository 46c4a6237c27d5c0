"""What changed most between two graphs, in a sentence. This module needs no NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ckpt_viz.answers.graph_diff.diff_parts import DiffParts
from ckpt_viz.answers.timeline.cells import Cell
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.ground.text import count, end_of, percent, printable

if TYPE_CHECKING:
    from ckpt_viz.graphs.search.measures import Measures

_MOST_NAME = 60  # characters


class NodeChange(NamedTuple):
    """How the values of a node that both graphs have differ.

    `before` is their norm in a, and `moved` that of the difference: infinite if an element changed
    to or from NaN or infinity. `nan` and `inf` count the elements in b, if any of them differs.
    """

    before: float
    moved: float
    nan: int = 0
    inf: int = 0


def changes_in(measures: Measures) -> dict[int, NodeChange]:
    """Return the changes that a reading of all values has measured, by node."""
    names = ("before", "moved", "changed", "nan", "inf")
    rows = zip(*(measures.columns[name].tolist() for name in names), strict=True)
    return {
        node: NodeChange(before, moved, *(int(bad) if changed else 0 for bad in (nan, inf)))
        for node, (before, moved, changed, nan, inf) in enumerate(rows)
        if not math.isnan(moved)
    }


def node_change(cells: Sequence[tuple[Cell, Cell]]) -> NodeChange | None:
    """Return the change of a node by the cells of its tensors in a and b; None without numbers."""
    numbers = [
        (before.values, after, after.values)
        for before, after in cells
        if after.l2 is not None and before.values is not None and before.values.lengths is None
    ]
    if not numbers:
        return None
    differs = any(after.changed for _, after, _ in numbers)
    in_b = [row for _, _, row in numbers if row is not None and differs]
    return NodeChange(
        math.hypot(*(row.l2 or 0.0 for row, _, _ in numbers)),
        math.hypot(*(math.inf if after.left_out else after.l2 or 0.0 for _, after, _ in numbers)),
        sum(row.nan or 0 for row in in_b),
        sum(row.inf or 0 for row in in_b),
    )


@dataclass(frozen=True)
class ChangeSentence:
    """What changed most, at most 20 words; and the node with the first NaN or infinity, if any."""

    words: str
    worst: int | None


def with_changes(
    table: ComparisonTable, overlay: Overlay, changes: Mapping[int, NodeChange]
) -> ComparisonTable:
    """Return the table of a diff with what changed most, once values were read."""
    sentence = change_sentence(overlay, changes)
    if sentence is None:
        return table
    verdict = table.verdict or table.sentence
    return replace(table, sentence=sentence.words, verdict=verdict, worst=sentence.worst)


def change_sentence(overlay: Overlay, changes: Mapping[int, NodeChange]) -> ChangeSentence | None:
    """Return what changed most, NaN and infinity first; None if no parameter changed.

    Args:
        overlay: The diff.
        changes: By node of the merged graph, how the values differ that were read.
    """
    parts = DiffParts(overlay)
    order = [node for node in parts.of_nodes if node in changes]
    bad = [node for node in order if changes[node].nan]
    kind = "NaN", "NaNs"
    if not bad:
        bad = [node for node in order if changes[node].inf]
        kind = "infinite element", "infinite elements"
    clauses = [*_bad(parts, changes, bad, kind), *_most(parts, changes)]
    if not clauses:
        return None
    return ChangeSentence(" ".join(clauses), bad[0] if bad else None)


def _bad(
    parts: DiffParts,
    changes: Mapping[int, NodeChange],
    bad: Sequence[int],
    kind: tuple[str, str],
) -> Iterator[str]:
    if not bad:
        return
    name, more = _name(parts, parts.overlay.layers.shown_in[bad[0]]), len(bad) - 1
    if more:
        yield f"{name} and {count(more, 'more value')} have {kind[1]} in b."
    else:
        number = changes[bad[0]].nan or changes[bad[0]].inf
        yield f"{name} has {count(number, *kind)} in b."


def _most(parts: DiffParts, changes: Mapping[int, NodeChange]) -> Iterator[str]:
    """Yield by how much the part changed whose parameters changed most; NaN has its own clause."""
    graph = parts.overlay.graph
    elements = graph.parameters
    by_part: dict[int, list[NodeChange]] = {}
    for node, part in parts.of_nodes.items():
        if node in changes and elements[node]:
            by_part.setdefault(part, []).append(changes[node])
    shares: dict[int, float] = {}
    for part, of_part in by_part.items():
        before, moved = (math.hypot(*numbers) for numbers in [*zip(*of_part, strict=True)][:2])
        if 0 < moved < math.inf:
            shares[part] = moved / before if before else math.inf
    if shares:
        most = max(shares, key=lambda part: shares[part])
        changed = "changed most" if len(shares) > 1 else "changed"
        by = "by " if math.isfinite(shares[most]) else ""
        yield f"{_name(parts, most)} {changed}: {by}{percent(shares[most])}."


def _name(parts: DiffParts, row: int) -> str:
    place = parts.place(row, parts.overlay.layers.title(row))
    return end_of(printable(place), _MOST_NAME)
