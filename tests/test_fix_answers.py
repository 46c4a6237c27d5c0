"""The fix of a check, as the kernel answers the explorer: nodes to draw, a sentence, and code."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.jupyter import answers
from ckpt_viz.jupyter.answers import answer
from ckpt_viz.jupyter.shown import Shown, show_of
from ckpt_viz.render import payload
from tests.support.programs import ckpt, module, saved, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Named = tuple[str, str, str]


def layer(width: int) -> Any:
    return module(w=var(np.random.rand(3, width)), b=var(np.random.rand(width)))


def asked(shown: Shown, **more: Any) -> tuple[dict[str, Any], list[list[int]]]:
    found, buffers = answer(shown, {"ask": "fix", **more})
    json.dumps(found)
    columns = [list(array("i", buffer)) for buffer in buffers]
    return found["fix"], columns


def named(shown: Shown, column: list[int]) -> list[Named]:
    """Return the pairs of a column by TensorFlow's names on both sides, with their certainty."""
    certainties = list(Certainty)
    rows = [column[start : start + 4] for start in range(0, len(column), 4)]
    return [
        (saved_name(shown, a), shown.graph.name(b), certainties[c].value) for a, b, c, _ in rows
    ]


def saved_name(shown: Shown, node: int) -> str:
    """Return TensorFlow's name in the checkpoint of a node of the shown graph."""
    assert shown.overlay is not None
    names = shown.overlay.names
    return names.other.name(names.in_other[node])


def test_a_renamed_layer_goes_to_its_new_name(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)), gone=var(3))
    live = ckpt(net=module(dense=layer(2), head=layer(5), new=layer(7)))
    shown = show_of(live, path)
    fix, (pairs, misfits, kept, unused, _) = asked(shown)
    assert named(shown, pairs) == [
        ("(root).net.l1", "(root).net.dense", "likely"),
        ("(root).net.l1.w", "(root).net.dense.w", "likely"),
        ("(root).net.l1.b", "(root).net.dense.b", "likely"),
    ]
    assert misfits == []
    assert fix["changes"] == [
        "The saved 'l1' seems to be called 'dense' now.",
        "The program no longer has gone.",
        "The program has added net.new.",
    ]
    assert fix["restored"] == 5
    assert {*map(shown.graph.name, kept)} == {"(root).net.new.w", "(root).net.new.b"}
    assert [*map(shown.graph.name, unused)] == ["(root).gone"]
    # A pair is one node of the shown graph; what only the file has is behind the program's nodes.
    size = len(cv.graph(live).nodes)
    assert pairs[::4] == pairs[1::4]
    assert all(node >= size for node in unused)
    assert all(node < size for node in [*pairs, *kept])


def test_counts_and_names_are_those_of_the_fix(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)), gone=var(3))
    live = ckpt(net=module(inner=module(dense=layer(2), head=layer(6))))
    check = cv.check(live, path)
    fix, shown = check.fix(), show_of(check)
    found, (_, misfits, kept, unused, _) = asked(shown)
    assert found["restored"] == len(fix.pairs) == 3
    assert [shown.graph.name(node) for node in kept] == list(fix.missing)
    assert len(unused) == len(fix.unused)
    assert {(a, b) for a, b, _ in named(shown, misfits)} == {
        ("(root).net.head.w", "(root).net.inner.head.w"),
        ("(root).net.head.b", "(root).net.inner.head.b"),
    }


def test_a_wrapped_layer_gets_its_values_on_its_new_level(tmp_path: Path) -> None:
    path = saved(tmp_path, l1=layer(2), head=layer(5))
    live = ckpt(l1=module(inner=layer(2)), head=layer(5))
    shown = show_of(live, path)
    fix, (pairs, *_) = asked(shown)
    places = {a: b for a, b, _ in named(shown, pairs)}
    assert places["(root).l1.w"] == "(root).l1.inner.w"
    assert places["(root).l1"] == "(root).l1.inner"  # the file's layer is the inner one now
    exec(fix["code"], {"ckpt": live})
    np.testing.assert_array_equal(live.l1.inner.w, cv.graph(path).read("(root).l1.w"))


def test_values_that_go_to_the_object_of_another_name(tmp_path: Path) -> None:
    path = saved(tmp_path, layers=[layer(2), layer(3), layer(4)])
    shown = show_of(ckpt(layers=[layer(9), layer(2), layer(3), layer(4)]), path)
    _, (pairs, _, kept, unused, _) = asked(shown)
    places = {a: b for a, b, _ in named(shown, pairs)}
    # Restore pairs 0 with 0; the fix knows that it is 1 now.
    assert places["(root).layers.0.w"] == "(root).layers.1.w"
    assert {*map(shown.graph.name, kept)} == {"(root).layers.0.w", "(root).layers.0.b"}
    assert unused == []


def test_without_a_fix_the_guesses_are_drawn_and_nothing_is_restored(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    shown = show_of(ckpt(items=[layer(3), layer(3), layer(3)]), path)
    fix, (pairs, _, kept, unused, guessed) = asked(shown)
    assert fix["restored"] == 0
    certainties = [certainty for *_, certainty in named(shown, pairs)]
    assert certainties.count("likely") == 1  # the list
    assert set(certainties) == {"guess", "likely"}
    assert (len(kept), len(unused)) == (6, 4)
    assert [saved_name(shown, node) for node in guessed] == ["(root).blocks.0", "(root).blocks.1"]


def test_the_fix_takes_the_guesses_of_these_places(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    shown = show_of(ckpt(items=[layer(3), layer(3), layer(3)]), path)
    assert shown.overlay is not None
    assert [(one.saved, one.live) for one in shown.overlay.guesses] == [
        ("blocks.0", "items.0"),
        ("blocks.1", "items.1"),
    ]
    assert asked(shown, guesses=[1])[0]["restored"] == 2
    assert asked(shown, guesses=[0, 1])[0]["restored"] == 4
    assert len(shown.fix.pairs) == 4
    assert asked(shown)[0]["restored"] == 0


@pytest.mark.parametrize("guesses", [2, [2], [-1], [True], ["blocks.0"], None, {}])
def test_other_places_of_guesses_are_refused(guesses: Any, tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    shown = show_of(ckpt(items=[layer(3), layer(3), layer(3)]), path)
    found, _ = answer(shown, {"ask": "fix", "guesses": guesses})
    assert found["error"].endswith("expected places of guesses, below 2")


def test_a_check_without_a_finding_about_guesses_has_none(tmp_path: Path) -> None:
    overlay = show_of(ckpt(v=var(1)), written(tmp_path, v=var(2))).overlay
    assert overlay is not None and not overlay.guesses


def test_code_of_hostile_names_stays_code(tmp_path: Path) -> None:
    hostile = "'); raise SystemExit('ran') #\n\"\"\"\u202e\0</script>"
    path = written(tmp_path, **{hostile: layer(3), "other": layer(5)})
    live = ckpt(net=module(a=layer(3), b=layer(5)))
    shown = show_of(live, path)
    fix, (pairs, *_) = asked(shown)
    assert len(pairs) > 0
    assert all(line.isprintable() for line in fix["code"].split("\n"))
    exec(fix["code"], {"ckpt": live})
    np.testing.assert_array_equal(live.net.b.w, cv.graph(path).read("(root).other.w"))


def test_code_has_the_programs_variable_and_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    live = ckpt(net=module(dense=layer(2)))
    shown = show_of(live, path)
    fix, _ = asked(shown)
    assert fix["source"] is None
    assert "net=tf.train.Checkpoint(l1=ckpt.net.dense)" in fix["code"]
    assert f"restore({path!r})" in fix["code"]

    fix, _ = asked(shown, source="trainer")
    assert fix["source"] == "trainer" and "l1=trainer.net.dense" in fix["code"]

    names = {"_": live, "In": [], "other": 3, "class": live, "checkpoint": live}
    monkeypatch.setattr(answers, "kernel_shell", lambda: SimpleNamespace(user_ns=names))
    fix, _ = asked(shown)
    assert fix["source"] == "checkpoint" and "l1=checkpoint.net.dense" in fix["code"]


@pytest.mark.parametrize("problem", [-1, 10**9, "0", None, True])
def test_code_of_other_problems_is_refused(problem: Any, tmp_path: Path) -> None:
    shown = show_of(ckpt(net=layer(2)), saved(tmp_path, net=layer(2)))
    error = answer(shown, {"ask": "code", "problem": problem})[0]["error"]
    assert "expected one whose remedy has code" in error


def test_a_fix_knows_when_its_values_are_in_the_program(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)))
    live = ckpt(net=module(dense=layer(2), head=layer(5)))
    shown = show_of(live, path)
    fix, _ = asked(shown)
    assert not fix["is_applied"]
    exec(fix["code"], {"ckpt": live})
    assert asked(show_of(live, path))[0]["is_applied"]
    live.net.dense.b.assign_add([0.0, 1e-6])
    assert not asked(show_of(live, path))[0]["is_applied"]


def test_a_refresh_shows_the_fixed_restore_as_long_as_the_program_has_its_values(
    tmp_path: Path,
) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)))
    live = ckpt(net=module(dense=layer(2), head=layer(5)))
    shown = show_of(live, path)
    code = asked(shown)[0]["code"]
    assert _passes(shown.again()) is _passes(shown) is False
    exec(code, {"ckpt": live})
    assert not _passes(show_of(live, path).again())  # nobody has asked for the fix
    fixed = shown.again()
    for again in (fixed, fixed.again()):
        assert _passes(again) and again.graph.title.endswith(", fixed")
    live.net.dense.b.assign_add([0.0, 1e-6])
    assert not _passes(fixed.again())


def _passes(shown: Shown) -> bool:
    assert shown.overlay is not None
    return shown.overlay.passes


def test_what_is_not_in_the_graph_has_the_place_of_its_object(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)), gone=var(3))
    live = ckpt(net=module(dense=layer(2)))
    check = cv.check(live, path)
    places = check.fix().places({})  # as if the picture had the program alone
    assert places.restored == 3
    assert (places.unused, places.unused_count) == ((), 1)
    assert places.pairs and all(pair.saved == pair.live for pair in places.pairs)
    names = {check.live.name(pair.live) for pair in places.pairs}
    assert {"(root).net.dense.w", "(root).net.dense.b"} <= names


def test_the_check_of_the_fixed_restore_is_a_payload(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    live = ckpt(net=module(dense=layer(2)))
    shown = show_of(live, path)
    _, (encoded,) = answer(shown, {"ask": "fixed-check"})
    overlay = cv.check(live, path).fix().check.overlay
    assert overlay.passes
    assert encoded == payload.encode(overlay.graph, overlay)


def test_what_has_no_fix_is_answered_in_a_sentence(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    for shown, words in (
        (show_of(path), "only the check of a restore has a fix"),
        (show_of(path, path), "only the check of a restore has a fix"),
        (show_of(cv.check(path, path)), "a fix needs live objects"),
        (show_of(ckpt(), str(tmp_path / "nowhere")), "a fix needs a checkpoint"),
    ):
        for ask in ("fix", "fixed-check"):
            found, buffers = answer(shown, {"ask": ask})
            assert words in found["error"] and buffers == []
