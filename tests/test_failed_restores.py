"""`%load_ext ckpt_viz`: what appears below the traceback of a restore that failed."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.failed_restores import call_of
from tests.support.load_recipes import RECIPES, customs, write_file
from tests.support.programs import ckpt, keras_2, module, save_by_name, saved, var
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str, dict[str, Any]], str]]:
    """Run a cell of IPython in a terminal that has the extension; return what it prints."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "ckpt_viz")

    def run(cell: str, names: dict[str, Any]) -> str:
        shell.user_ns.update(names)
        capsys.readouterr()
        shell.run_cell(cell)
        return capsys.readouterr().out

    yield run
    shell.run_line_magic("unload_ext", "ckpt_viz")
    InteractiveShell.clear_instance()


def test_a_failed_assert_shows_the_check_and_its_fix(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=var([1.0, 2.0])))
    live = ckpt(net=module(dense=var([0.0, 0.0])))
    out = run("live.restore(path).assert_consumed()", {"live": live, "path": path})
    assert "AssertionError" in out
    after = out.partition("AssertionError")[2]
    assert "l1 seems to be dense now." in after
    assert "net=tf.train.Checkpoint(l1=live.net.dense)" in after


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("mine.restore(path).assert_consumed()", "mine"),
        ("trainer.mine.restore(path).assert_consumed()", "trainer.mine"),
        ("unnamed().restore(path).assert_consumed()", "ckpt_2"),
    ],
)
def test_code_below_a_traceback_changes_no_other_object(
    cell: str, name: str, run: Any, tmp_path: Path
) -> None:
    """A checkpoint from before is still called `ckpt`, and `path` is that of another file."""
    path = saved(tmp_path, net=module(l1=var([1.0, 2.0])))
    mine, other = (ckpt(net=module(dense=var([0.0, 0.0]))) for _ in range(2))
    trainer = SimpleNamespace(mine=mine)
    calls = {"mine": {"mine": mine}, "trainer.mine": {"trainer": trainer}}
    names = calls.get(name, {"unnamed": lambda: mine}) | {"ckpt": other, "path": path}
    after = run(cell, names).rpartition("This restores every value that has a place")[2]
    note, _, code = after.partition(":\n\n")
    is_known = name != "ckpt_2"
    assert note == f" (`{name}` is {'yours' if is_known else 'the object of this call'})"
    error = run(code, {"path": "another/file"})
    assert "NameError" in error or is_known
    assert list(other.net.dense.numpy()) == [0.0, 0.0]
    assert list(mine.net.dense.numpy()) == ([1.0, 2.0] if is_known else [0.0, 0.0])


@pytest.mark.parametrize("is_named", [True, False])
def test_the_calls_below_a_traceback_are_of_the_object_that_failed(
    is_named: bool, run: Any, tmp_path: Path
) -> None:
    """A `check` of another object, from before, is in the notebook."""
    path = saved(tmp_path, net=module(l1=var([1.0, 2.0]), w=var([3.0])))
    mine, other = (ckpt(net=module(dense=var([0.0, 0.0]), w=var([0.0] * 3))) for _ in range(2))
    names = {"mine": mine} if is_named else {"made": lambda: mine}
    names |= {"ckpt": other, "path": path, "cv": cv, "check": cv.check(other, path)}
    out = run(f"{'mine' if is_named else 'made()'}.restore(path)", names)
    calls = [line.partition(" restores ")[0] for line in out.splitlines() if ".apply()" in line]
    calls += [line.partition(" tells")[0] for line in out.splitlines() if "details" in line]
    assert len(calls) == 2 and not any("check." in call.replace("cv.check(", "") for call in calls)
    for call in calls:
        assert ("NameError" in run(call, {})) is not is_named
    assert ("`ckpt_2` is the object of this call.\n" in out) is not is_named
    assert list(other.net.dense.numpy()) == [0.0, 0.0]
    assert list(mine.net.dense.numpy()) == ([1.0, 2.0] if is_named else [0.0, 0.0])


def test_a_failed_assert_of_a_checkpoint_beside_its_root_shows_its_fix(
    run: Any, tmp_path: Path
) -> None:
    """Its status knows the root alone."""

    def made(part: str, value: float) -> Any:
        return ckpt(module(**{part: module(w=var([value]))}), step=var(value))

    path = str(made("net", 1.0).save(str(tmp_path / "ckpt")))
    mine = made("other", 0.0)
    names = {"mine": mine, "ckpt": made("other", 0.0), "path": path}
    after = run("mine.restore(path).assert_consumed()", names)
    code = after.rpartition("(`mine` is yours):\n\n")[2]
    run(code, {"path": "another/file"})
    assert list(mine.root.other.w.numpy()) == [1.0] and int(mine.save_counter) == 1
    assert list(names["ckpt"].root.other.w.numpy()) == [0.0]


def test_the_hint_names_no_other_object(run: Any, tmp_path: Path) -> None:
    names = _status_of_own_code(tmp_path, _sleep)
    held = [names.pop("live"), names.pop("status")]
    out = run("held[1].assert_consumed()", {"held": held, "ckpt": ckpt(a=var(0.0))})
    assert f"check = ckpt_viz.check(ckpt_2, {str(tmp_path / 'own')!r})" in out


def test_code_of_a_saver_names_the_session_of_its_call(run: Any, tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", {"old/w": [1.0, 2.0], "old/b": [3.0, 4.0, 5.0]})
    cell = """
with tf.Graph().as_default(), tf.compat.v1.Session() as mine:
    for name, size in (("w", 2), ("b", 3)):
        tf.compat.v1.get_variable(f"new/{name}", [size])
    tf.compat.v1.train.Saver().restore(mine, path)
"""
    out = run(cell, {"tf": tf, "path": path, "session": "another"})
    assert "(`mine` is yours):\n\nsession = mine\n" in out


def test_a_restore_that_raises_shows_them_too(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(w=var([1.0, 2.0])))
    live = ckpt(net=module(w=var([0.0, 0.0, 0.0])))
    out = run("live.restore(path)", {"live": live, "path": path})
    assert "restore() raises ValueError" in out


def test_a_saver_that_raises_shows_its_fix(run: Any, tmp_path: Path) -> None:
    """The cell has left its graph when the check runs."""
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", {"old/w": [1.0, 2.0], "old/b": [3.0, 4.0, 5.0]})
    cell = """
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    for name, size in (("w", 2), ("b", 3)):
        tf.compat.v1.get_variable(f"new/{name}", [size])
    saver = tf.compat.v1.train.Saver()
    saver.restore(session, path)
"""
    after = run(cell, {"tf": tf, "path": path}).rpartition("NotFoundError")[2]
    assert "1 value" not in after and "(`session` is yours)" in after
    code = after.partition("is yours):")[2]
    assert "    'old/w': variables['new/w'],\n" in code
    compile(code, "code", "exec")


@pytest.mark.parametrize("values", ["'new/'", "tf.compat.v1.global_variables()[0]"])
def test_a_map_that_raises_shows_its_check(values: str, run: Any, tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", {"old/w": [1.0, 2.0]})
    key = "'old/'" if "/'" in values else "'old/v'"
    cell = f"""
with tf.Graph().as_default():
    tf.compat.v1.get_variable("new/v", [2])
    tf.compat.v1.train.init_from_checkpoint(path, {{{key}: {values}}})
"""
    after = run(cell, {"tf": tf, "path": path}).rpartition("is not found in")[2]
    assert "The map says 'old/v'" in after or "has no 'old/v'" in after or "old/w" in after
    assert "init_from_checkpoint() raises ValueError" in after
    assert "other graph" not in after and "as_default" not in after


def test_unrestored_values_of_a_deleted_status_get_a_hint_once(run: Any, tmp_path: Path) -> None:
    logging.getLogger("tensorflow").setLevel("WARNING")  # its default
    path = saved(tmp_path, net=module(a=var(1.0), b=var(2.0)))
    names = {"make": lambda: ckpt(net=module(a=var(0.0))), "path": path}
    assert run("live = make()\nstatus = live.restore(path)", names) == ""
    out = run("del live, status\nimport gc\nfound = gc.collect()", {})
    assert out.count("ckpt_viz: a restore left values of the checkpoint unused") == 1
    assert run("one = 1", {}) == ""


def test_other_errors_and_healthy_restores_show_nothing(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(w=var(1.0)))
    live = ckpt(net=module(w=var(0.0)))
    assert run("status = live.restore(path).assert_consumed()", {"live": live, "path": path}) == ""
    out = run("def restore(self, save_path): 1 / 0\nrestore(1, 2)", {})
    assert "ZeroDivisionError" in out and "would" not in out


def test_load_weights_of_tf_keras_is_a_restore(tmp_path: Path) -> None:
    keras = keras_2()

    def model(units: int) -> Any:
        return keras.Sequential([keras.layers.Dense(units, input_shape=(3,), name="fc")])

    path = str(tmp_path / "weights")
    model(2).save_weights(path)
    with pytest.raises(ValueError, match=r".") as raised:
        model(4).load_weights(path)
    call = call_of(raised.value)
    assert call is not None
    check = call.check()
    assert check.raises is not None and check.raises.type == "ValueError"


@pytest.mark.parametrize("suffix", [".weights.h5", ".keras", ".h5"])
def test_below_a_failed_load_of_a_file_of_keras_is_its_check(
    run: Any, suffix: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip("keras")

    def model(units: int) -> Any:
        layers = keras.layers
        names = [layers.Dense(3, name="body"), layers.Dense(units, name="head")]
        return keras.Sequential([keras.Input((3,)), *names])

    path = tmp_path / f"x{suffix}"
    (model(2).save_weights if suffix == ".weights.h5" else model(2).save)(path)
    out = run("live.load_weights(path)", {"live": model(4), "path": path})
    assert "The head is larger: 2 → 4." in out
    assert "load_weights() raises ValueError, after 2 values." in out
    assert "This restores every value that has a place" in out
    fitting = "live.load_weights(path, skip_mismatch=True)"
    assert "would" not in run(fitting, {"live": model(4), "path": path})


def test_below_a_checkpoint_that_keras_3_does_not_load_is_the_fix(run: Any, tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    tf_keras = keras_2()

    def model(k: Any) -> Any:
        return k.Sequential([k.Input((3,)), k.layers.Dense(2, name="head")])

    path = str(tmp_path / "weights")
    model(tf_keras).save_weights(path)
    live = model(keras)
    out = run("live.load_weights(path)", {"live": live, "path": path})
    assert "File format not supported" in out
    assert "This restores every value that has a place" in out


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("call", ["keras.saving", "keras.models", "tf.keras.models", "tf_keras"])
def test_below_a_failed_load_of_a_model_is_its_check(
    run: Any, call: str, suffix: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = keras_2() if call == "tf_keras" else pytest.importorskip("keras")
    function = f"{call}.models.load_model" if call == "tf_keras" else f"{call}.load_model"
    path = write_file(RECIPES["an argument"], keras, suffix, tmp_path / "x")
    names = {"tf": tf, call.partition(".")[0]: keras} if "tf." not in call else {"tf": tf}
    after = run(f"{function}(path)", names | {"path": path}).rpartition("Exception encountered")[2]
    assert "Dense of" in after and "does not take `bogus`" in after
    assert "This builds the model:" in after and "without(" in after
    sound = write_file(RECIPES["sound"], keras, suffix, tmp_path / "y")
    assert "does not take" not in run(f"model = {function}(path)", {"path": sound})


def test_below_a_failed_load_the_check_has_its_options(run: Any, tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    recipe = RECIPES["program's own"]
    path = write_file(recipe, keras, ".keras", tmp_path / "x")
    own = {"Plain": customs(keras)["Plain"]}
    cell = "keras.models.load_model(path, custom_objects=own, compile=False)"
    out = run(cell, {"keras": keras, "path": path, "own": own})
    assert "does not know Closed" in out and "does not know Plain" not in out
    assert "does not know own_loss" not in out


@pytest.mark.parametrize("kind", ["checkpoint", "saved_model"])
def test_below_a_model_in_a_format_of_tensorflow_is_the_way_that_works(
    run: Any, kind: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras, path = pytest.importorskip("keras"), str(tmp_path / kind)
    if kind == "saved_model":
        tf.saved_model.save(module(w=var(1.0)), path)
    else:
        path = saved(tmp_path, net=module(w=var(1.0)))
    out = run("keras.models.load_model(path)", {"keras": keras, "path": path})
    assert "File format not supported" in out
    assert "Build the model by code, then run ckpt_viz.check(model, path).fix().apply()" in out


def test_without_a_restore_there_is_no_check() -> None:
    try:
        cv.graph("no/such/path")
    except cv.CheckpointNotFoundError as error:
        assert call_of(error) is None


def _status_of_own_code(directory: Path, act: Callable[[], object]) -> dict[str, Any]:
    """Return a checkpoint and its status; a part of it acts by its own code from now on."""
    import tensorflow as tf

    acts: list[bool] = []

    class Own(tf.__internal__.tracking.AutoTrackable):  # type: ignore[misc]
        def _serialize_to_tensors(self) -> dict[str, Any]:
            if acts:
                act()
            return {"x": tf.constant(1.0)}

        def _restore_from_tensors(self, restored: Any) -> Any:
            return tf.no_op()

    path = ckpt(own=Own(), a=var(1.0)).write(str(directory / "own"))
    live = ckpt(own=Own(), b=var(0.0))
    names = {"live": live, "status": live.read(path)}
    acts.append(True)
    return names


_SLEPT: list[str] = []


def _sleep() -> None:
    time.sleep(60)
    _SLEPT.append("to the end")


_ACTS: dict[str, tuple[Callable[[], object], str]] = {
    "sleeps": (_sleep, "take long and were stopped"),
    "is interrupted": (lambda: signal.raise_signal(signal.SIGINT), "you have stopped the check"),
    "exits": (sys.exit, "ended with a SystemExit"),
    "is at fault": (lambda: exec("raise BaseException"), "ended with a BaseException"),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.parametrize("name", _ACTS)
def test_a_check_that_does_not_end_says_what_to_call(name: str, run: Any, tmp_path: Path) -> None:
    act, why = _ACTS[name]
    names = _status_of_own_code(tmp_path, act)
    out = run("status.assert_consumed()", names)
    assert _SLEPT == []
    assert "AssertionError" in out and "Traceback" in out.partition("ckpt_viz: ")[0]
    after = out.partition("ckpt_viz: ")[2]
    assert why in after
    assert f"check = ckpt_viz.check(live, {str(tmp_path / 'own')!r})" in after
    assert "Error in callback" not in out


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_a_timer_of_the_user_runs_on_after_a_check(run: Any, tmp_path: Path) -> None:
    def handler(number: int, frame: object) -> None:
        raise AssertionError("rings after an hour")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 3600, 7)
        names = _status_of_own_code(tmp_path, _sleep)
        assert "take long" in run("status.assert_consumed()", names)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left < 3600 and interval == 7
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_outside_of_the_main_thread_a_hint_takes_the_place_of_the_check(
    run: Any, tmp_path: Path
) -> None:
    names = _status_of_own_code(tmp_path, _sleep)
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(run("status.assert_consumed()", names)))
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert "no time limit in this thread" in said[0] and "ckpt_viz.check(live, " in said[0]
