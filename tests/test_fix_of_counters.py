"""After a fix a program counts its saves, its steps and its checkpoints on, as after a restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_fix.applying import NotAppliedError
from tests.support.programs import COUNTER, ckpt, keras_2, keras_3, module, save_by_name, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
SAVES = 3


def program(part: str = "net", **parts: Any) -> Any:
    layer = module(w=var(np.zeros((2, 3), np.float32)), b=var([0.0, 0.0, 0.0]))
    return ckpt(**{part: layer}, step=var(0), **parts)


def tied(**others: Any) -> Any:
    """A program in which two parts share a variable."""
    shared = var([1.0])
    return ckpt(net=module(a=shared, b=shared, **others), step=var(0))


def untied(**others: Any) -> Any:
    """The program with a variable for each: a checkpoint gives a value to one of them alone."""
    return ckpt(net=module(a=var([0.0]), b=var([0.0]), **others), step=var(0))


def of_root(part: str) -> Any:
    """A checkpoint beside its root, which does not know the checkpoint's counter."""
    return ckpt(module(**{part: program().net}), step=var(0))


def saved_often(was: Any, at: Path) -> str:
    for _ in range(SAVES):
        was.step.assign_add(1)
        path = was.save(str(at / "ckpt"))
    return str(path)


def by_apply(fix: Any, _live: Any, _at: Path) -> None:
    fix.apply()


def by_code(fix: Any, live: Any, _at: Path) -> None:
    exec(fix.code, {"ckpt": live, "path": fix.prefix})


def by_file(fix: Any, live: Any, at: Path) -> None:
    checkpoint = getattr(live, "checkpoint", live)
    checkpoint.restore(fix.write(at / "fixed")).expect_partial()


WAYS = pytest.mark.parametrize("way", [by_apply, by_code, by_file])
_PROGRAMS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "plain": (program, program),
    "renamed": (program, lambda: program("other")),
    "beside its root": (lambda: of_root("net"), lambda: of_root("other")),
    "assigned": (tied, untied),
}


@WAYS
@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("is_managed", [False, True])
def test_the_next_save_after_a_fix_replaces_no_file(
    name: str, way: Callable[..., None], is_managed: bool, tmp_path: Path
) -> None:
    import tensorflow as tf

    make_saved, make_live = _PROGRAMS[name]
    path = saved_often(make_saved(), tmp_path)
    plain, live = make_live(), make_live()
    plain.restore(path).expect_partial()
    assert int(plain.save_counter) == SAVES
    manager = tf.train.CheckpointManager(live, str(tmp_path), None)
    checked = manager if is_managed else live
    before = {file.name for file in tmp_path.iterdir()}
    fix = cv.check(checked, path).fix()
    assert fix.pairs[COUNTER] == "(root).save_counter"
    assert ("by assigning each of them" in f"{fix}") == (name == "assigned")
    assert "save_counter is restored, so save() counts on from this checkpoint" in f"{fix}"
    way(fix, checked, tmp_path)
    assert int(live.save_counter) == SAVES
    assert manager.save().endswith(f"ckpt-{SAVES + 1}")
    assert before <= {file.name for file in tmp_path.iterdir()}


def test_a_second_fix_knows_the_counter_that_a_plain_restore_sets(tmp_path: Path) -> None:
    path, live = saved_often(program(), tmp_path), program("other")
    fix = cv.check(live, path).fix().apply()
    again = cv.check(live, path).fix()
    assert fix.is_applied and again.is_applied
    assert again.pairs == fix.pairs and "another name" not in f"{again}{again.code}"


def test_a_fix_after_a_failed_restore_counts_on(tmp_path: Path) -> None:
    path = saved_often(program(), tmp_path)
    live = ckpt(net=module(w=var(np.zeros((2, 4), np.float32)), b=program().net.b), step=var(0))
    with pytest.raises(ValueError, match="incompatible"):
        live.restore(path)
    fix = cv.check(live, path).fix()
    assert "another name" not in f"{fix}{fix.code}"
    fix.apply()
    assert (int(live.save_counter), int(live.step)) == (SAVES, SAVES)


def test_a_fix_that_fails_makes_no_counter(tmp_path: Path) -> None:
    path, live = saved_often(of_root("net"), tmp_path), of_root("other")
    fix = cv.check(live, path).fix()
    (tmp_path / f"ckpt-{SAVES}.data-00000-of-00001").write_bytes(b"")
    with pytest.raises(NotAppliedError):
        fix.apply()
    attached = [part.name for part in live._saver._graph_view.attached_dependencies]
    assert live._save_counter is None and attached == ["root", "step"]


def test_a_check_makes_no_counter(tmp_path: Path) -> None:
    path, live = saved_often(program(), tmp_path), program("other")
    fix = cv.check(live, path).fix()
    told = fix.pairs, fix.code, fix.is_applied, fix.table.rows, f"{fix}"
    assert told and live._save_counter is None


def test_code_for_the_program_of_a_file_sets_its_counter(tmp_path: Path) -> None:
    path = saved_often(program(), tmp_path)
    fix = cv.check(program("other").save(str(tmp_path / "own")), path).fix()
    by_code, by_file = program("other"), program("other")
    exec(fix.code, {"ckpt": by_code, "path": path})
    by_file.restore(fix.write(tmp_path / "fixed")).assert_consumed()
    assert int(by_code.save_counter) == int(by_file.save_counter) == SAVES


def test_a_file_without_a_counter_lets_the_program_keep_its_own(tmp_path: Path) -> None:
    path = program().write(str(tmp_path / "written"))
    live = program("other")
    assert "save_counter" not in cv.check(live, path).fix().code
    live.save(str(tmp_path / "own"))
    fix = cv.check(live, path).fix().apply()
    assert int(live.save_counter) == 1 and "(root).save_counter" in fix.missing
    assert "the checkpoint has none for" in f"{fix}" and "save_counter" in f"{fix}"


def test_a_model_without_a_checkpoint_counts_no_saves(tmp_path: Path) -> None:
    path = saved_often(ckpt(w=var([1.0]), step=var(0)), tmp_path)
    live = module(other=var([0.0]), step=var(0))
    fix = cv.check(live, path).fix()
    assert COUNTER not in fix.pairs and "save_counter" not in fix.code


def test_a_file_of_names_sets_no_counter(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model", {"net/w": np.ones((2, 3), np.float32)})
    live = program()
    live.save(str(tmp_path / "own"))
    fix = cv.check(live, path).fix(guesses=True).apply()
    assert int(live.save_counter) == 1 and "save_counter" not in fix.code


@KERAS
@WAYS
def test_a_keras_program_trains_and_saves_on(
    keras: Any, way: Callable[..., None], tmp_path: Path
) -> None:
    import tensorflow as tf

    def made(name: str) -> tuple[Any, Any]:
        layers = keras().layers
        model = keras().Sequential([layers.Input((2,)), layers.Dense(2, name=name)])
        optimizer = keras().optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return model, ckpt(**{name: model}, optimizer=optimizer, step=var(0))

    def train(checkpoint: Any, variables: Sequence[Any]) -> None:
        gradients = [tf.ones_like(tf.convert_to_tensor(variable)) for variable in variables]
        checkpoint.optimizer.apply_gradients(zip(gradients, variables, strict=True))

    model, was = made("before")
    for _ in range(SAVES):
        train(was, model.trainable_variables)
        path = was.save(str(tmp_path / "ckpt"))
    model, live = made("now")
    way(cv.check(live, path).fix(), live, tmp_path)
    assert (int(live.save_counter), int(live.optimizer.iterations)) == (SAVES, SAVES)
    train(live, model.trainable_variables)
    assert live.save(str(tmp_path / "ckpt")).endswith(f"ckpt-{SAVES + 1}")
    assert int(live.optimizer.iterations) == SAVES + 1


def test_the_fix_of_a_right_restore_lets_an_unbuilt_optimizer_count_on(tmp_path: Path) -> None:
    """TensorFlow makes its slot variables, and its counter takes the value that waits for it."""
    keras = keras_2()

    def made() -> Any:
        model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
        return ckpt(model=model, optimizer=keras.optimizers.legacy.Adam())

    was, live = made(), made()
    variables = was.model.trainable_variables
    was.optimizer.apply_gradients([(0 * variable + 1, variable) for variable in variables])
    fix = cv.check(live, was.save(str(tmp_path / "ckpt"))).fix()
    assert fix.code.startswith("status = ckpt.restore(path)\n")
    fix.apply()
    assert int(live.optimizer.iterations) == 1 and len(live.optimizer.variables()) == 5


def test_the_check_of_assigned_values_is_that_of_what_the_fix_does(tmp_path: Path) -> None:
    """A plain restore raises; the values that the fix assigns are all in their places."""
    path = tied(w=var([1.0])).save(str(tmp_path / "ckpt"))
    check = cv.check(untied(w=var([0.0, 0.0])), path)
    assert check.raises is not None
    fixed = check.fix().check
    assert fixed.raises is None and fixed.unmatched == ("(root).net.w",)
    assert fixed.unresolved == ("(root).net.w",)
    assert "would raise" not in f"{fixed}"


def test_the_check_of_assigned_values_of_names_is_that_of_what_the_fix_does(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model", {"old/w": np.ones((2, 3), np.float32)})
    check = cv.check(ckpt(net=module(w=var(np.zeros((2, 3), np.float32)))), path)
    assert check.consumed is False
    assert check.fix(guesses=True).check.consumed
