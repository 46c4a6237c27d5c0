"""Comparisons as text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import ckpt_viz as cv
from ckpt_viz import ObjectGraph, Origin
from ckpt_viz.object_graph.groups import groups
from ckpt_viz.object_graph.overlay import (
    Comparison,
    Mark,
    Overlay,
    Problem,
    Severity,
    State,
    Verdict,
)
from ckpt_viz.object_graph.remedy import Advice, Code
from ckpt_viz.render.plan import render_plan
from ckpt_viz.render.plan_json import plan_json
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


_SAVED_ONLY = Mark(State.SAVED_ONLY)


def test_what_matches_is_counted_by_children_of_the_root() -> None:
    assert render_plan(_check({3: Mark(State.SHAPE, "8×10 ≠ 8×12")})).splitlines() == [
        "ckpt-1 → Checkpoint",
        "  ≠ shape differs         model.dense.kernel  8×10 ≠ 8×12",
        "  ✓ matched               model  2 other values",
        "  ✓ matched               step  1 value",
        "  ✓ matched               old  2 values",
        "assert_consumed() would fail",
    ]


def test_all_that_matches_is_one_line() -> None:
    assert render_plan(_check({})).splitlines()[1:] == [
        "  ✓ matched               (root)  6 values",
        "assert_consumed() would pass",
    ]


def test_whole_subtree_that_is_missing_is_one_line() -> None:
    lines = render_plan(_check({6: _SAVED_ONLY, 7: _SAVED_ONLY, 8: _SAVED_ONLY})).splitlines()
    assert lines[1] == "  \N{MINUS SIGN} not used by program   old  and 2 nodes below, 2 values"


def test_values_that_are_missing_below_what_is_there_are_one_line() -> None:
    live_only = Mark(State.LIVE_ONLY)
    lines = render_plan(_check({3: live_only, 10: live_only})).splitlines()
    assert lines[1] == "  + not in checkpoint     model.dense  2 nodes below, 2 values"


def test_slots_of_an_optimizer_are_one_line() -> None:
    adam = keras3_adam()
    overlay = _check({9: _SAVED_ONLY, 10: _SAVED_ONLY}, of=adam)
    assert render_plan(overlay).splitlines()[1:3] == [
        "  \N{MINUS SIGN} not used by program   optimizer  2 slot variables",
        "  ✓ matched               optimizer  1 other value",
    ]
    assert render_plan(_check({9: _SAVED_ONLY}, of=adam)).splitlines()[1] == (
        "  \N{MINUS SIGN} not used by program   momentum of layer.v7  "
        "at (root).optimizer._variables.1"
    )


def test_missing_optimizer_is_one_line_with_its_slots() -> None:
    missing = dict.fromkeys((1, 3, 4, 5, 6, 9, 10), _SAVED_ONLY)
    overlay = _check(missing, of=keras3_adam())
    group, *_ = groups(overlay.graph, overlay.marks)
    assert (group.top, set(group.members)) == (1, set(missing))
    assert "optimizer  and 6 nodes below, 3 values" in render_plan(overlay)


def test_problems_of_a_check_come_first_with_why_and_remedy() -> None:
    problem = Problem(
        Severity.FAIL,
        "inserted",
        (3,),
        "(root).model.0",
        "(root).model.1",
        "A layer came in between.",
        Advice("Name the layers."),
    )
    assert render_plan(_check({3: _SAVED_ONLY}, (problem,))).splitlines()[1:4] == [
        "  ✗ fails, inserted  saved as (root).model.0  in the program (root).model.1",
        "      A layer came in between.",
        "      Name the layers.",
    ]


def test_long_text_is_cut_and_says_how_much_is_missing() -> None:
    names = (first + second for first in "abcdefghij" for second in "abcdefghij")
    wide = graph({0: {n: i for i, n in enumerate(names, 1)}}, variables=tuple(range(1, 101)))
    overlay = _check({i: Mark(State.SHAPE, "x") for i in range(1, 101)}, of=wide)
    lines = render_plan(overlay, max_lines=10).splitlines()
    assert len(lines) == 10
    assert lines[-2:] == ["… 93 more rows", "assert_consumed() would fail"]
    assert len(render_plan(overlay, max_lines=None).splitlines()) == 102


def test_many_children_that_match_are_summed_up() -> None:
    wide = graph({0: {str(i): i + 1 for i in range(100)}}, variables=tuple(range(1, 101)))
    lines = render_plan(_check({1: Mark(State.SHAPE, "x")}, of=wide)).splitlines()
    assert len(lines) == 14
    assert lines[-2] == "  ✓ matched               89 values in 89 other children of the root"


def test_colours_are_only_printed_on_request() -> None:
    overlay = _check({3: Mark(State.SHAPE, "x")})
    assert "\x1b" not in render_plan(overlay)
    colored = render_plan(overlay, color=True)
    assert "\x1b[33m≠ shape differs       \x1b[0m" in colored
    assert colored.endswith("\x1b[31massert_consumed() would fail\x1b[0m")
    assert _without_colors(colored) == render_plan(overlay)


def _without_colors(text: str) -> str:
    for code in ("31", "32", "33", "36", "2", "0"):
        text = text.replace(f"\x1b[{code}m", "")
    return text


def test_names_neither_break_lines_nor_move_the_cursor() -> None:
    hostile = "\n\x1b[2J\u202e"
    problem = Problem(Severity.FAIL, hostile, (3,), hostile, "x" * 9999, hostile, Code(hostile))
    overlay = _check(
        {3: Mark(State.WARNED, hostile, hostile)}, (problem,), of=named(_MODEL, hostile)
    )
    for line in render_plan(overlay, notes=[hostile]).split("\n"):
        assert line.isprintable()
        assert len(line) < 4500


def test_every_state_and_severity_has_a_sign() -> None:
    overlay = _check({i: Mark(state) for i, state in enumerate(State)}, of=_wide(len(State)))
    lines = render_plan(overlay, max_lines=None).splitlines()
    assert [re.split(r"\s{2,}", line.strip())[0] for line in lines[1:-1]] == [
        "+ not in checkpoint",
        "\N{MINUS SIGN} not used by program",
        "… waiting for variable",
        "≠ shape differs",
        "≠ dtype differs",
        "✗ fails",
        "! restored, but…",
        "\N{MINUS SIGN} only in a",
        "+ only in b",
        "≠ role differs",
        "Δ value differs",
        "↷ moved",
        "✓ matched",
    ]
    problems = tuple(Problem(one, "kind", (), None, None, "Why.") for one in Severity)
    lines = render_plan(_check({}, problems)).splitlines()
    assert [line.strip() for line in lines if line.endswith("kind")] == [
        "✗ error, kind",
        "✗ fails, kind",
        "… deferred, kind",
        "! warning, kind",
        "i note, kind",
    ]


def _wide(count: int) -> ObjectGraph:
    return graph({0: {str(i): i for i in range(1, count)}}, variables=tuple(range(1, count)))


def test_json_has_what_calls_for_a_look_and_counts_the_rest() -> None:
    code = "restored = tf.train.Checkpoint()"
    problem = Problem(Severity.ERROR, "shape", (3,), "(root).a", None, "Why.", Code(code))
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
                "remedy": f"Call {code}, where live is the checked object and path is the "
                "checkpoint's path.",
                "remedy_kind": "code",
                "code": "restored = tf.train.Checkpoint()",
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
    (line,) = [one for one in str(cv.diff(a, b).details).splitlines() if "dtype differs" in one]
    assert "model.deep.layer.kernel  at (root).optimizer._variables.0" in line
