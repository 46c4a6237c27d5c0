"""Comparisons as text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import ckpt_viz as cv
from ckpt_viz import ObjectGraph, Origin
from ckpt_viz.graphs.overlay.groups import groups
from ckpt_viz.graphs.overlay.overlay import (
    Comparison,
    Mark,
    Overlay,
    Problem,
    Severity,
    State,
    Verdict,
)
from ckpt_viz.graphs.overlay.remedy import Advice
from ckpt_viz.graphs.render.details import Details
from ckpt_viz.graphs.render.plan_json import plan_json
from tests.support.graphs import graph, keras3_adam, named
from tests.support.payload_fixtures import empty_table

# root ─┬─ model ─┬─ dense ─┬─ kernel
#       │         │         └─ bias
#       │         └─ out ─── kernel
#       ├─ step
#       └─ old ─┬─ kernel        nodes 7 and 8: the checkpoint's alone
#               └─ bias
_MODEL = graph(
    {
        0: {"model": 1, "step": 9, "old": 6},
        1: {"dense": 2, "out": 4},
        2: {"kernel": 3, "bias": 10},
        4: {"kernel": 5},
        6: {"kernel": 7, "bias": 8},
    },
    variables=(3, 5, 7, 8, 9, 10),
    title="ckpt-1 → Checkpoint",
)


def _check(
    marked: Mapping[int, Mark],
    problems: tuple[Problem, ...] = (),
    *,
    of: ObjectGraph = _MODEL,
) -> Overlay:
    marks = [marked.get(i, Mark(State.MATCHED)) for i in range(len(of.nodes))]
    verdict = Verdict("assert_consumed()", not marked)
    said = "assert_consumed() would fail" if marked else "assert_consumed() would pass"
    base_size = 6 if of is _MODEL else len(of.nodes)
    return Overlay(Comparison.CHECK, of, base_size, marks, problems, (verdict,), said, empty_table)


def _lines(overlay: Overlay, max_lines: int | None = 40) -> list[str]:
    return Details(overlay).to_text(max_lines).splitlines()


def test_an_optimizer_without_its_counterpart_is_one_difference_with_its_slots() -> None:
    missing = dict.fromkeys((1, 3, 4, 5, 6, 9, 10), Mark(State.SAVED_ONLY))
    overlay = _check(missing, of=keras3_adam())
    group, *_ = groups(overlay.graph, overlay.marks)
    assert (group.top, set(group.members)) == (1, set(missing))


def test_each_problem_has_its_reason_and_its_remedy() -> None:
    problem = Problem(
        Severity.FAIL,
        "inserted",
        (3,),
        "(root).model.0",
        "(root).model.1",
        "A layer came in between.",
        Advice("Name the layers."),
    )
    assert _lines(_check({}, (problem,))) == [
        "ckpt-1 → Checkpoint",
        "  ✗ fails, inserted  saved as (root).model.0  in the program (root).model.1",
        "      A layer came in between.",
        "      Name the layers.",
        "assert_consumed() would pass",
    ]


def test_long_text_is_cut_and_says_how_much_is_missing() -> None:
    whys = (first + second for first in "abcdefghij" for second in "abcdefghij")
    problems = tuple(Problem(Severity.INFO, why, (), None, None, why) for why in whys)
    lines = _lines(_check({}, problems), 10)
    assert len(lines) == 10
    assert lines[-2:] == ["… 193 more lines", "assert_consumed() would pass"]
    assert len(_lines(_check({}, problems), None)) == 202


def test_colours_are_only_printed_on_request() -> None:
    problem = Problem(Severity.WARNING, "shape", (), None, None, "Why.")
    details = Details(_check({}, (problem,)))
    assert "\x1b" not in details.to_text()
    colored = details.to_text(color=True)
    assert "\x1b[33m! warning, shape\x1b[0m" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == details.to_text()


def test_names_neither_break_lines_nor_move_the_cursor() -> None:
    hostile = "\n\x1b[2J\u202e"
    problem = Problem(Severity.FAIL, hostile, (3,), hostile, "x" * 9999, hostile, Advice(hostile))
    overlay = _check({}, (problem,), of=named(_MODEL, hostile))
    for line in Details(overlay, [hostile]).to_text().split("\n"):
        assert line.isprintable()
        assert len(line) < 4500


def test_every_severity_has_a_sign() -> None:
    problems = tuple(Problem(one, "kind", (), None, None, "Why.") for one in Severity)
    assert [line.strip() for line in _lines(_check({}, problems)) if line.endswith("kind")] == [
        "✗ error, kind",
        "✗ fails, kind",
        "… deferred, kind",
        "! warning, kind",
        "i note, kind",
    ]


def test_json_has_what_calls_for_a_look_and_counts_the_rest() -> None:
    problem = Problem(Severity.ERROR, "shape", (3,), "(root).a", None, "Why.", Advice("Call it."))
    marked = {3: Mark(State.SHAPE, "8 ≠ 9", "(root).a"), 0: Mark(State.PLAIN)}
    assert plan_json(_check(marked, (problem,)), notes=["a note"]) == {
        "version": 1,
        "comparison": "check",
        "title": "ckpt-1 → Checkpoint",
        "notes": ["a note"],
        "headline": "assert_consumed() would fail",
        "passes": False,
        "verdicts": [{"name": "assert_consumed()", "passes": False}],
        "counts": {"plain": 1, "matched": 9, "shape": 1},
        "problems": [
            {
                "severity": "error",
                "kind": "shape",
                "saved": "(root).a",
                "live": None,
                "why": "Why.",
                "remedy": "Call it.",
                "remedy_kind": "advice",
                "nodes": [3],
                "lead": None,
            }
        ],
        "nodes": [
            {
                "id": 3,
                "name": "(root).model.dense.kernel",
                "role": "variable",
                "state": "shape",
                "detail": "8 ≠ 9",
                "partner": "(root).a",
                "goes_to": None,
            }
        ],
    }


def test_json_of_hostile_names_is_json() -> None:
    a, b = (named(of, "\n\udc80</script>") for of in (keras3_adam(), graph({0: {"x": 1}})))
    found = cv.diff(a, b)
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_a_variable_that_an_optimizer_lists_shows_its_place_in_the_model() -> None:
    a = graph(
        {
            0: {"optimizer": 1, "model": 2},
            1: {"_variables": 3},
            2: {"deep": 4},
            4: {"layer": 5},
            3: {"0": 6},
            5: {"kernel": 6},
        },
        variables=(6,),
    )
    (value,) = a.nodes[6].attributes
    nodes = list(a.nodes)
    nodes[6] = a.nodes[6]._replace(attributes=(value._replace(dtype="int64"),))
    b = ObjectGraph(tuple(nodes), "other", Origin.SAVED)
    line = str(cv.diff(a, b).details).splitlines()[1]
    assert line == "  ≠ dtype differs  model.deep.layer.kernel  at (root).optimizer._variables.0"
