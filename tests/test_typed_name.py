"""What a person types in place of a name means one edit, or has a sentence with the reason."""

from __future__ import annotations

import pytest

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.graphs.edits.typed_name import edit_of_typed, free_name
from tests.support.graphs import graph


def _program() -> ObjectGraph:
    return graph(
        {
            0: {"net": 1, "step": 2},
            1: {"a": 3, "b": 4, "blocks": 5, "table": 6},
            3: {"w": 9},
            5: {"0": 7, "1": 8},
            6: {"a key": 10, "b": 11},
        },
        (2, 4, 7, 8, 9, 10, 11),
        title="ckpt",
    )


@pytest.mark.parametrize(
    ("part", "typed", "text"),
    [
        ("net.a", "c", "Rename net.a to c"),
        ("net.a", " c ", "Rename net.a to c"),
        ("net.a", "größe", "Rename net.a to größe"),
        ("net.a", "", "Remove net.a"),
        ("net.blocks.1", "  ", "Remove net.blocks.1"),
        ("step", "net.step", "Move step to net.step"),
        ("step", "blocks.1", "Move step to net.blocks.1"),  # people's shortest name of the list
        ("net.a", "b", "Exchange net.a and net.b"),
        ("net.blocks.0", "1", "Move net.blocks.0 to net.blocks.1"),
        ("net.table.b", "another key", "Rename net.table.b to another key"),  # a dictionary
        ("net.a", "was-saved", "Rename net.a to was-saved"),
    ],
)
def test_a_typed_name_means_an_edit(part: str, typed: str, text: str) -> None:
    program = _program()
    edit = edit_of_typed(program, program.node_id(part), typed, saved_in=_saved)
    assert edit.text(program) == text
    edit.applied(program)


@pytest.mark.parametrize(
    ("part", "was", "typed", "text"),
    [
        ("net.a.w", "a.w", "a.kernel", "Rename net.a.w to kernel"),
        ("net.a.w", "a.w", "c.w", "Rename net.a to c"),
        ("net.a.w", "net.a.w", "model.a.w", "Rename net to model"),
        ("net.a.w", "a.w", "table.w", "Move net.a.w to net.table.w"),
        ("net.a.w", "a.w", "kernel", "Rename net.a.w to kernel"),
        ("net.a.w", "a.w", "was-saved", "Rename net.a to was-saved"),  # saved beside net.a
        ("net.a.w", "a.w", "weight", "Rename net.a.w to weight"),
        ("net.a.w", "w", "lm_head", "Rename net.a.w to lm_head"),
        ("net.a.w", "a.w", "", "Remove net.a"),  # it holds nothing else
        ("net.a.w", "w", "", "Remove net.a.w"),
        ("net.b", "net.b", "", "Remove net.b"),
        ("net.a.w", "other", "x", "Rename net.a.w to x"),
        ("net.a", "a", "net.c", "Rename net.a to c"),
    ],
)
def test_a_typed_path_means_what_differs(part: str, was: str, typed: str, text: str) -> None:
    program = _program()
    edit = edit_of_typed(program, program.node_id(part), typed, was, _saved)
    assert edit.text(program) == text
    edit.applied(program)


def _saved(holder: int) -> set[str]:
    """Return the names that the checkpoint has in place of the children of `net` and `net.a`."""
    return {1: {"was-saved", "lm_head", "weight"}, 3: {"weight"}}.get(holder, set())


@pytest.mark.parametrize(
    ("part", "typed", "sentence"),
    [
        (
            "net.a",
            "lm head",
            "found 'lm head' as the new name of net.a, expected letters, digits and _, with no "
            "digit first; did you mean lm_head?",
        ),
        ("net.a", "lm-head", "digits and _, with no digit first; did you mean lm_head?"),
        ("net.a", "2nd", "found '2nd' as the new name of net.a"),
        ("net.a", "class", "found 'class' as the new name"),
        ("net.a", "a\u202eb", r"found 'a\u202eb' as the new name"),
        ("net.a", "<b>", "found '<b>' as the new name of net.a, expected letters"),
        ("net.a", ".x", "found '.x'"),
        ("net.a", "net.", "found 'net.'"),
        (
            "net.blocks.0",
            "head",
            "found 'head' for net.blocks.0, expected a place in a list, 0 to 1. A restore "
            "finds items of lists by place, not by name.",
        ),
        ("net.blocks.0", "9", "expected a place in a list, 0 to 1"),
        ("net.blocks.0", "٣", "expected a place in a list, 0 to 1"),
        ("net.a", "nat.c", "expected the name of one node, found 'nat'; did you mean net?"),
        ("net.a", "net.a.w.x", "a part cannot hold itself"),
        ("(root)", "net", "the root"),
        ("(root)", "", "the root"),
    ],
)
def test_what_cannot_be_a_name_has_a_reason(part: str, typed: str, sentence: str) -> None:
    program = _program()
    node = 0 if part == "(root)" else program.node_id(part)
    with pytest.raises(cv.CkptVizError) as raised:
        edit_of_typed(program, node, typed, saved_in=_saved).applied(program)
    assert sentence in str(raised.value)


def test_a_new_part_has_a_name_that_no_other_has() -> None:
    program = graph({0: {"a": 1, "a_2": 2, "blocks": 3}, 3: {"0": 4}}, (1, 2, 4), title="ckpt")
    names = [free_name(program, program.node_id(part)) for part in ("a", "a_2", "blocks.0")]
    assert names == ["a_3", "a_2_2", "1"]
