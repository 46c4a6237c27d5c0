"""The fix of a check, as the kernel answers the explorer: its code, the restore, and the undo."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter import answers, restoring
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from tests.support.programs import ckpt, module, saved, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def layer(width: int) -> Any:
    return module(w=var(np.random.rand(3, width)), b=var(np.random.rand(width)))


def asked(shown: Shown, **more: Any) -> dict[str, Any]:
    found, buffers = answer(shown, {"ask": "fix", **more})
    json.dumps(found)
    assert buffers == []
    fix: dict[str, Any] = found["fix"]
    return fix


def values_of(live: Any) -> dict[str, Any]:
    """Return a copy of every value of a program, by name, as NumPy reads it."""
    graph = cv.graph(live)
    return {
        graph.name(node): np.asarray(graph.object(node))
        for node in range(len(graph.nodes))
        if graph.nodes[node].attributes
    }


def assert_same_values(live: Any, before: dict[str, Any]) -> None:
    now = values_of(live)
    assert now.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(now[name], value)


def test_a_restore_puts_each_value_into_its_new_place_and_undo_puts_it_back(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, net=module(l1=layer(2), head=layer(5)), gone=var(3))
    live = ckpt(net=module(dense=layer(2), head=layer(5), new=layer(7)))
    before, file, shown = values_of(live), cv.graph(path), show_of(live, path)
    done, _ = answer(shown, {"ask": "restore"})
    assert done == {"text": "Restored 4 of 6 values. 2 keep their own."}
    np.testing.assert_array_equal(live.net.dense.w, file.read("(root).net.l1.w"))
    np.testing.assert_array_equal(live.net.head.b, file.read("(root).net.head.b"))
    np.testing.assert_array_equal(live.net.new.w, before["(root).net.new.w"])
    undone, _ = answer(shown, {"ask": "undo"})
    assert undone == {"text": "Put back the values from before the restore."}
    assert_same_values(live, before)
    again, _ = answer(shown, {"ask": "undo"})
    assert again == {"error": "The kernel holds no values from before a restore."}


@pytest.mark.parametrize("change", ["program", "file"])
def test_a_restore_of_what_has_changed_since_the_check_changes_nothing(
    change: str, tmp_path: Path
) -> None:
    path = written(tmp_path, net=module(l1=layer(2)))
    live = ckpt(net=module(dense=layer(2)))
    shown = show_of(live, path)
    if change == "program":
        live.net.more = layer(4)
    else:
        ckpt(net=module(other=layer(9))).write(path)
    before = values_of(live)
    done, _ = answer(shown, {"ask": "restore"})
    since = "has changed since this check: net.more.b and net.more.w are new."
    if change == "file":
        since = "or the file has changed since this check."
    assert done == {"error": f"The program {since} {restoring.RUN_AGAIN}"}
    assert_same_values(live, before)


def test_a_restore_after_a_training_and_a_save_asks_and_then_does_what_the_table_shows(
    tmp_path: Path,
) -> None:
    """It undoes the training, and the next save would replace the file of the last one."""
    path = written(tmp_path, net=module(l1=layer(2)))
    live = ckpt(net=module(dense=layer(2), head=layer(5)))
    shown = show_of(live, path)
    live.net.dense.w.assign_add(live.net.dense.w)
    live.save(str(tmp_path / "later"))  # which makes a counter
    before = values_of(live)
    refused, _ = answer(shown, {"ask": "restore"})
    assert refused == {
        "error": "The program was restored, trained or saved since this check: save_counter 0 → 1. "
        "Press again to put the saved values in place of its own."
    }
    assert_same_values(live, before)
    for _ in range(2):  # what the button itself does is no training
        done, _ = answer(shown, {"ask": "restore"})
        assert done == {"text": "Restored 2 of 5 values. 3 keep their own."}
        np.testing.assert_array_equal(live.net.dense.w, cv.graph(path).read("(root).net.l1.w"))
        answer(shown, {"ask": "undo"})
        assert_same_values(live, before)


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_restore_and_its_undo_ask_after_steps_of_an_optimizer(
    library: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)

    def model(units: int) -> Any:
        made = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(units)])
        made.build((None, 3))
        made.compile("adam", "mse")
        made.optimizer.build(made.trainable_variables)
        return made

    live = model(5)
    shown = show_of(ckpt(model=live), ckpt(model=model(4)).save(str(tmp_path / "ckpt")))
    live.fit(np.ones((4, 3)), np.ones((4, 5)), verbose=0)
    refused, _ = answer(shown, {"ask": "restore"})
    assert "0 → 1" in refused["error"] and "iteration" in refused["error"]
    done, _ = answer(shown, {"ask": "restore"})
    assert done["text"].startswith("Restored ")

    live.fit(np.ones((4, 3)), np.ones((4, 5)), verbose=0)
    trained = live.get_weights()
    refused, _ = answer(shown, {"ask": "undo"})
    assert "trained or saved since the restore" in refused["error"] and "0 → 1" in refused["error"]
    assert all(map(np.array_equal, live.get_weights(), trained))
    undone, _ = answer(shown, {"ask": "undo"})
    assert undone["text"].startswith("Put back the values from before the restore.")
    assert not all(map(np.array_equal, live.get_weights(), trained))


def test_a_restore_takes_the_ticked_guesses(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    live = ckpt(items=[layer(3), layer(3), layer(3)])
    shown = show_of(live, path)
    assert shown.overlay is not None
    assert [guess.values for guess in shown.overlay.table.guessed] == [2, 2]
    done, _ = answer(shown, {"ask": "restore", "guesses": [1]})
    assert done == {"text": "Restored 2 of 6 values. 4 keep their own."}
    np.testing.assert_array_equal(live.items[1].w, cv.graph(path).read("(root).blocks.1.w"))


def test_the_fix_takes_the_guesses_of_these_places(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    shown = show_of(ckpt(items=[layer(3), layer(3), layer(3)]), path)
    assert shown.overlay is not None
    assert shown.overlay.guesses == ["blocks.0", "blocks.1"]
    assert [guess.question for guess in shown.overlay.table.guessed] == [
        "Does blocks.0 belong to items.0?",
        "Does blocks.1 belong to items.1?",
    ]
    assert asked(shown, guesses=[1])["short"].endswith(".fix(guesses=['blocks.1']).apply()")
    assert len(shown.fix.pairs) == 2
    asked(shown, guesses=[0, 1])
    assert len(shown.fix.pairs) == 4
    assert asked(shown)["short"].endswith(".fix().apply()") and not shown.fix.pairs


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
    fix = asked(shown)
    assert shown.fix.pairs
    assert all(line.isprintable() for line in fix["code"].split("\n"))
    exec(fix["code"], {"ckpt": live})
    np.testing.assert_array_equal(live.net.b.w, cv.graph(path).read("(root).other.w"))


def test_code_has_the_programs_variable_and_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    live = ckpt(net=module(dense=layer(2)))
    shown = show_of(live, path)
    fix = asked(shown)
    assert fix["source"] is None
    assert "net=tf.train.Checkpoint(l1=ckpt.net.dense)" in fix["code"]
    assert f"restore({path!r})" in fix["code"]

    fix = asked(shown, source="trainer")
    assert fix["source"] == "trainer" and "l1=trainer.net.dense" in fix["code"]

    names = {"_": live, "In": [], "other": 3, "class": live, "checkpoint": live}
    for room in (answers, restoring):
        monkeypatch.setattr(room, "kernel_shell", lambda: SimpleNamespace(user_ns=names))
    fix = asked(shown)
    assert fix["source"] == "checkpoint" and "l1=checkpoint.net.dense" in fix["code"]
    short = f"import ckpt_viz as cv\n\ncv.check(checkpoint, {path!r}).fix().apply()"
    assert fix["short"] == short
    names["verdict"] = shown.check
    assert asked(shown)["short"] == "verdict.fix().apply()"
    exec(short, {"checkpoint": live})
    np.testing.assert_array_equal(live.net.dense.w, cv.graph(path).read("(root).net.l1.w"))


def test_a_refresh_shows_the_fixed_restore_as_long_as_the_program_has_its_values(
    tmp_path: Path,
) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)))
    live = ckpt(net=module(dense=layer(2), head=layer(5)))
    shown = show_of(live, path)
    code = asked(shown)["code"]
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


def test_what_has_no_fix_is_answered_in_a_sentence(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    for shown, words in (
        (show_of(path), "only the check of a restore has a fix"),
        (show_of(path, path), "only the check of a restore has a fix"),
        (show_of(cv.check(path, path)), "a fix needs live objects"),
        (show_of(ckpt(), str(tmp_path / "nowhere")), "a fix needs a checkpoint"),
    ):
        for ask in ("fix", "restore"):
            found, buffers = answer(shown, {"ask": ask})
            assert words in found["error"] and buffers == []
