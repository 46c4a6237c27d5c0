"""Which problems of a comparison are one cause, and what a cause tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.object_graph.causes import causes
from ckpt_viz.object_graph.overlay import Explanation, Mark, Problem, Severity, State
from ckpt_viz.object_graph.side_names import SideNames
from tests.support.graphs import graph
from tests.support.payload_fixtures import placed

TITLES = {"shape": "Shape differs", "unresolved": "Not in the program", "note": "Note"}


def _problem(kind: str, *nodes: int, saved: str | None = None, live: str | None = None) -> Problem:
    return Problem(Severity.FAIL, kind, nodes, saved, live, f"{kind} of {nodes}.")


def _causes(
    of: ObjectGraph, *problems: Problem, marked: Mapping[int, State] | None = None
) -> tuple[Explanation, ...]:
    states = marked or {}
    marks = [Mark(states.get(i, State.MATCHED)) for i in range(len(of.nodes))]
    names = SideNames.of_one(of)
    return causes(of, marks, placed(problems, names), TITLES, names)


# root ─┬─ a ─┬─ kernel
#       │     └─ bias
#       ├─ b ── kernel
#       ├─ step
#       └─ counter
def _layers() -> ObjectGraph:
    return graph(
        {
            0: {"a": 1, "b": 2, "step": 3, "counter": 4},
            1: {"kernel": 5, "bias": 6},
            2: {"kernel": 7},
        },
        (3, 4, 5, 6, 7),
    )


# root ─┬─ model ── kernel, with slot m
#       └─ optimizer ── learning_rate
def _trained() -> ObjectGraph:
    return graph(
        {0: {"model": 1, "optimizer": 2}, 1: {"kernel": 3}, 2: {"learning_rate": 4}},
        (3, 4, 5),
        {2: (("m", 3, 5),)},
    )


def test_problems_of_one_kind_in_one_layer_are_one_cause() -> None:
    found = _causes(
        _layers(),
        _problem("shape", 5, saved="(root).a.kernel", live="(root).a.kernel"),
        _problem("shape", 7, saved="(root).b.kernel", live="(root).b.kernel"),
        _problem("shape", 6, saved="(root).a.bias", live="(root).a.bias"),
    )
    assert found == (
        Explanation("Shape differs", "a", "shape of (5,).", 2, (0, 2)),
        Explanation("Shape differs", "b.kernel", "shape of (7,).", 1, (1,)),
    )


def test_problems_of_two_kinds_or_at_the_root_are_causes_of_their_own() -> None:
    kinds = _causes(_layers(), _problem("shape", 5), _problem("unresolved", 6))
    assert [cause.problems for cause in kinds] == [(0,), (1,)]
    at_root = _causes(_layers(), _problem("shape", 3), _problem("shape", 4))
    assert [cause.problems for cause in at_root] == [(0,), (1,)]


def test_problems_in_a_subtree_of_one_side_are_one_cause() -> None:
    of = graph(
        {0: {"old": 1}, 1: {"a": 2, "b": 3}, 2: {"kernel": 4}, 3: {"kernel": 5}},
        (4, 5),
    )
    marked = dict.fromkeys(range(1, 6), State.SAVED_ONLY)
    problems = (_problem("unresolved", 2, 4), _problem("unresolved", 3, 5))
    assert _causes(of, *problems, marked=marked) == (
        Explanation("Not in the program", "old", "unresolved of (2, 4).", 2, (0, 1)),
    )


def test_a_slot_variable_belongs_to_the_cause_of_its_variable() -> None:
    found = _causes(
        _trained(), _problem("note", 5), _problem("shape", 3, live="(root).model.kernel")
    )
    assert [(cause.title, cause.problems) for cause in found] == [("Note", (0, 1))]


def test_all_other_problems_of_an_optimizer_are_one_cause() -> None:
    found = _causes(
        _trained(), _problem("unresolved", 2, 4), _problem("shape", 5), _problem("note", 2)
    )
    assert found == (
        Explanation("Not in the program", "optimizer", "unresolved of (2, 4).", 2, (0, 1, 2)),
    )


def test_slot_variables_of_several_variables_belong_to_the_optimizer() -> None:
    of = graph(
        {0: {"model": 1, "optimizer": 2}, 1: {"kernel": 3, "bias": 4}},
        (3, 4, 5, 6),
        {2: (("m", 3, 5), ("m", 4, 6))},
    )
    found = _causes(of, _problem("shape", 3, 4), _problem("note", 5, 6))
    assert [(cause.place, cause.problems) for cause in found] == [("", (0,)), ("", (1,))]


def test_a_note_does_not_add_to_the_count_of_a_failure() -> None:
    note = replace(_problem("note", 4), severity=Severity.INFO)
    found = _causes(_trained(), _problem("unresolved", 5), note)
    assert [(cause.count, cause.problems) for cause in found] == [(1, (0, 1))]


def test_what_has_moved_counts_once() -> None:
    was, now = (graph({0: {name: 1, "step": 2}}, (1, 2)) for name in ("old", "new"))
    assert [cause.count for cause in cv.diff(was, now).overlay.causes] == [1]


def test_a_problem_of_the_whole_comparison_is_a_cause() -> None:
    found = _causes(_layers(), _problem("note"), _problem("note"))
    assert [(cause.place, cause.count, cause.problems) for cause in found] == [
        ("", 0, (0,)),
        ("", 0, (1,)),
    ]


def test_a_layer_is_named_as_people_name_it() -> None:
    plain = graph({0: {"model": 1}, 1: {"_operations": 2}, 2: {"7": 3}, 3: {"_kernel": 4}}, (4,))
    layers = replace(
        plain,
        nodes=tuple(
            node._replace(own_name="predictions") if node_id == 3 else node
            for node_id, node in enumerate(plain.nodes)
        ),
    )
    name = "(root).model._operations.7._kernel"
    (found,) = _causes(layers, _problem("shape", 4, saved=name, live=name))
    assert found.place == "model.predictions.v4"  # the full name of the variable
