"""A comparison as data for JSON: see docs/plan_json.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ckpt_viz.graphs.overlay.overlay import QUIET, Overlay, Problem, State
from ckpt_viz.ground.wording import Wording

VERSION = 1


def plan_json(overlay: Overlay, *, notes: Iterable[str] = ()) -> dict[str, Any]:
    """Return the comparison as dicts, lists, strings and numbers.

    `notes` are sentences about its sources; those of the comparison follow. Matching nodes are only
    counted.
    """
    counts = Counter(mark.state for mark in overlay.marks)
    return {
        "version": VERSION,
        "comparison": overlay.comparison.value,
        "title": overlay.graph.title,
        "notes": [*notes, *overlay.notes],
        "headline": overlay.headline,
        "passes": overlay.passes,
        "verdicts": [
            {"name": verdict.name, "passes": verdict.passes} for verdict in overlay.verdicts
        ],
        "counts": {state.value: counts[state] for state in State if counts[state]},
        "problems": [_problem(problem, overlay.wording) for problem in overlay.problems],
        "nodes": [
            _node(overlay, node_id)
            for node_id, mark in enumerate(overlay.marks)
            if mark.state not in QUIET
        ],
    }


def _problem(problem: Problem, wording: Wording) -> dict[str, Any]:
    return {
        "severity": problem.severity.value,
        "kind": problem.kind,
        "saved": problem.saved,
        "live": problem.live,
        "why": problem.why,
        "remedy": problem.to_do(wording),
        "remedy_kind": None if problem.remedy is None else problem.remedy.kind,
        "nodes": list(problem.nodes),
        "lead": problem.lead,
    }


def _node(overlay: Overlay, node_id: int) -> dict[str, Any]:
    mark = overlay.marks[node_id]
    return {
        "id": node_id,
        "name": overlay.names.readable_name(node_id),
        "role": overlay.graph.nodes[node_id].role.value,
        "state": mark.state.value,
        "detail": mark.detail,
        "partner": mark.partner,
        "goes_to": mark.goes_to,
    }
