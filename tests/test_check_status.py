"""Checks of real restores through their status: TensorFlow agrees."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.errors import SourceError
from tests.check_rows.contexts import skipping_slots
from tests.support.laws import state_of
from tests.support.oracle import raised_by
from tests.support.programs import ckpt, var

pytestmark = pytest.mark.tf


def assert_agrees(status: Any) -> Any:
    """Compare the check of a status with the status itself, and see that nothing changes."""
    before = state_of(status._root)
    check = cv.check(status)
    assert state_of(status._root) == before
    for name in ("consumed", "existing_objects_matched", "nontrivial_match"):
        expected = raised_by(getattr(status, f"assert_{name}"))
        assert type(raised_by(getattr(check, f"assert_{name}"))) is type(expected), name
        assert getattr(check, name) == (expected is None), name
    assert check.raises is None
    return check


@pytest.fixture
def saved(tmp_path: Path) -> str:
    held = ckpt(x=var([1.0, 2.0]), y=var(3.0))
    return str(held.save(str(tmp_path / "ckpt")))


def test_all_restored(saved: str) -> None:
    status = ckpt(x=var([0.0, 0.0]), y=var(0.0)).restore(saved)
    check = assert_agrees(status)
    assert check.consumed
    assert check.bound["(root).x"] == "(root).x"


def test_deferred_value_is_reported_until_its_variable_is_there(saved: str) -> None:
    target = ckpt(x=var([0.0, 0.0]))
    status = target.restore(saved)
    assert assert_agrees(status).unresolved == ("(root).y",)
    target.y = var(0.0)
    assert assert_agrees(status).unresolved == ()
    assert float(target.y.numpy()) == 3.0


def test_object_that_was_replaced_since_is_unmatched(saved: str) -> None:
    target = ckpt(x=var([0.0, 0.0]), y=var(0.0))
    status = target.restore(saved)
    target.x = var([5.0, 5.0])
    assert assert_agrees(status).unmatched == ("(root).x",)


def test_program_that_grew_since(saved: str) -> None:
    target = ckpt(x=var([0.0, 0.0]), y=var(0.0))
    status = target.restore(saved)
    target.z = var(1.0)
    assert assert_agrees(status).unmatched == ("(root).z",)


def test_file_may_be_gone(saved: str) -> None:
    status = ckpt(x=var([0.0, 0.0]), z=var(0.0)).restore(saved)
    for path in Path(saved).parent.iterdir():
        path.unlink()
    check = assert_agrees(status)
    assert check.unresolved == ("(root).y",)
    assert check.saved.nodes[0].children


def test_nothing_but_the_root(tmp_path: Path) -> None:
    path = ckpt(a=var(1.0)).write(str(tmp_path / "ckpt"))
    check = assert_agrees(ckpt(b=var(1.0)).read(path))
    assert not check.nontrivial_match


def test_saved_attribute_without_a_place(tmp_path: Path) -> None:
    import tensorflow as tf

    path = ckpt(a=var(1.0), b=var(2.0)).save(str(tmp_path / "ckpt"))
    check = assert_agrees(ckpt(a=tf.Module(), b=var(0.0)).restore(path))
    assert check.unused_attributes == {"(root).a": ("VARIABLE_VALUE",)}


def test_slots_that_wait_for_their_optimizer(tmp_path: Path) -> None:
    import tensorflow as tf

    variable = var([1.0, 2.0])
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    optimizer.apply_gradients([(tf.ones_like(variable), variable)])
    path = ckpt(v=variable, optimizer=optimizer).save(str(tmp_path / "ckpt"))
    target = ckpt(v=var([0.0, 0.0]))
    status = target.restore(path)
    assert not assert_agrees(status).consumed
    target.optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    assert assert_agrees(status).consumed


def test_skipped_slots_are_not_missed(tmp_path: Path) -> None:
    import tensorflow as tf

    variable = var([1.0, 2.0])
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    optimizer.apply_gradients([(tf.ones_like(variable), variable)])
    path = ckpt(v=variable, optimizer=optimizer).save(str(tmp_path / "ckpt"))
    options = skipping_slots()
    target = ckpt(v=var([0.0, 0.0]), optimizer=optimizer)
    assert assert_agrees(target.restore(path, options=options)).consumed


def test_nockpt() -> None:
    check = assert_agrees(ckpt(a=var(1.0)).restore(None))
    assert not check.consumed
    assert check.findings[0].kind == "wrong_path"


def test_name_basedckpt(tmp_path: Path) -> None:
    import tensorflow as tf

    stored = [var([1.0], name="a"), var([2.0], name="b")]
    path = tf.compat.v1.train.Saver(stored).save(None, str(tmp_path / "named"))
    assert assert_agrees(ckpt(x=var([0.0], name="a")).restore(path)).consumed
    check = assert_agrees(ckpt(x=var([0.0], name="a"), y=var(0.0, name="c")).restore(path))
    assert check.unmatched == ("(root).y",)
    # The save_counter, which restore() makes, is in no name-based checkpoint.
    with_counter = assert_agrees(tf.train.Checkpoint(root=tf.Module()).restore(path))
    assert not with_counter.consumed


def test_keras_model_that_was_built_after_the_restore(tmp_path: Path) -> None:
    import tensorflow as tf

    def model(*first: Any) -> Any:
        return tf.keras.Sequential([*first, tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])

    path = ckpt(model=model(tf.keras.Input((3,)))).save(str(tmp_path / "ckpt"))
    waiting = model()
    status = ckpt(model=waiting).restore(path)
    assert not assert_agrees(status).consumed
    waiting.build((None, 3))
    assert assert_agrees(status).consumed


def test_status_takes_nothing_beside_it(saved: str) -> None:
    status = ckpt(x=var([0.0, 0.0])).restore(saved)
    with pytest.raises(SourceError, match="load status"):
        cv.check(status, saved)


@pytest.mark.parametrize("strategy", ["Mirrored", "OneDevice", ""])
def test_a_new_counter_converts_a_saved_number_as_its_scope_does(
    strategy: str, tmp_path: Path
) -> None:
    """A distributed variable converts the value; a plain one leaves that to the kernel."""
    import tensorflow as tf

    path = str(tmp_path / "names")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=["save_counter"],
        shape_and_slices=[""],
        tensors=[tf.constant(1.0, tf.bfloat16)],
    )
    scopes: dict[str, Callable[[], Any]] = {
        "Mirrored": lambda: tf.distribute.MirroredStrategy(["CPU:0"]).scope(),
        "OneDevice": lambda: tf.distribute.OneDeviceStrategy("CPU:0").scope(),
        "": nullcontext,
    }
    with scopes[strategy]():
        program = tf.train.Checkpoint(part=tf.Module())
        raised = cv.check(program, path).raises
        with pytest.raises(Exception, match="int64") as real:
            program.restore(path)
    assert raised is not None and raised.type == type(real.value).__name__
