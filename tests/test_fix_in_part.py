"""A value of another shape that a person has the fix copy in part."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.errors import NoSuchNodeError
from ckpt_viz.graphs.overlay.comparison_table import CellSign, TableCell, TableGuess
from tests.support.programs import ckpt, keras_2, keras_3, keras_3_adam, module, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def program(classes: int, rows: int = 3) -> Any:
    """Return a program with a head of so many classes, and the slots of an optimizer."""
    random = np.random.default_rng(classes)
    head = module(kernel=var(random.random((rows, classes))), bias=var(random.random(classes)))
    body = module(w=var(random.random((2, 2))))
    adam = keras_3_adam(body.w, head.kernel, head.bias)
    for variable in adam.variables[2:]:
        variable.assign(random.random(variable.shape))
    return ckpt(net=module(body=body, head=head), optimizer=adam)


def saved_in(directory: Path, root: Any) -> str:
    return written(directory, net=root.net, optimizer=root.optimizer)


@pytest.mark.parametrize(("was", "now"), [(5, 7), (7, 5)])
def test_the_common_elements_are_those_of_the_file_and_all_others_stay(
    tmp_path: Path, was: int, now: int
) -> None:
    old, live = program(was), program(now)
    path = saved_in(tmp_path, old)
    before = live.net.head.kernel.numpy()
    fix = cv.check(live, path).fix(guesses=["net.head"])
    least = min(was, now)
    fix.apply()
    np.testing.assert_array_equal(
        live.net.head.kernel.numpy()[:, :least], old.net.head.kernel.numpy()[:, :least]
    )
    np.testing.assert_array_equal(live.net.head.kernel.numpy()[:, least:], before[:, least:])
    # The slots of the head go with it, and so does all that fits.
    slots = zip(old.optimizer.variables[2:], live.optimizer.variables[2:], strict=True)
    for saved, own in slots:
        np.testing.assert_array_equal(own.numpy()[..., :least], saved.numpy()[..., :least])
    assert fix.is_applied


def test_its_code_does_the_same_with_tensorflow_alone(tmp_path: Path) -> None:
    path = saved_in(tmp_path, program(5, rows=4))
    by_code, by_fix = program(7), program(7)
    code = cv.check(by_code, path).fix(guesses=["net.head"]).code
    assert "ckpt_viz" not in code
    exec(compile(code, "fix", "exec"), {"ckpt": by_code, "path": path})
    cv.check(by_fix, path).fix(guesses=["net.head"]).apply()
    for one, other in zip(by_code.optimizer.variables, by_fix.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    head, same = by_code.net.head, by_fix.net.head
    np.testing.assert_array_equal(head.kernel.numpy(), same.kernel.numpy())
    np.testing.assert_array_equal(head.bias.numpy(), same.bias.numpy())


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
@pytest.mark.parametrize("ending", [".weights.h5", ".keras", ".h5"])
def test_files_of_keras_are_copied_in_part_too(library: str, ending: str, tmp_path: Path) -> None:
    keras = pytest.importorskip(library)

    def model(words: int) -> Any:
        keras.backend.clear_session()  # the layers have the same numbers in all programs
        layers = [keras.layers.Embedding(words, 2, name="words"), keras.layers.Dense(2, name="out")]
        made = keras.Sequential([keras.Input((3,)), *layers])
        made.compile("adam", "mse")
        made.optimizer.build(made.trainable_variables)
        return made

    def rows(model: Any) -> Any:
        return model.get_layer("words").get_weights()[0]

    def states(model: Any) -> list[Any]:
        return [variable.numpy() for variable in model.optimizer.variables if len(variable.shape)]

    old, path = model(5), str(tmp_path / f"old{ending}")
    for variable in old.optimizer.variables:
        variable.assign(np.arange(np.prod(variable.shape)).reshape(variable.shape))
    old.save_weights(path) if ending == ".weights.h5" else old.save(path)
    by_fix, by_code, loaded = model(7), model(7), model(7)
    check = cv.check(by_fix, path)
    table = check.overlay.table
    assert table is not None
    (question,) = (guess.question for guess in table.guessed)
    assert question.startswith("Do the first 5 of 7 in ")
    (part,) = re.findall(r"guesses=\['(.+)'\]", str(check.fix()))
    own, fix = rows(by_fix)[5:], check.fix(guesses=[part])
    fix.apply()
    np.testing.assert_array_equal(rows(by_fix), np.concatenate([rows(old), own]))
    own, code = rows(by_code)[5:], cv.check(by_code, path).fix(guesses=[part]).code
    exec(compile(code, "fix", "exec"), {"ckpt": by_code})
    np.testing.assert_array_equal(rows(by_code), np.concatenate([rows(old), own]))
    loaded.load_weights(fix.write(str(tmp_path / "new.weights.h5")))
    np.testing.assert_array_equal(rows(loaded), rows(by_fix))
    for state, saved in zip(states(by_fix), states(old), strict=True):
        np.testing.assert_array_equal(state[tuple(map(slice, saved.shape))], saved)


def test_nothing_is_copied_in_part_unasked(tmp_path: Path) -> None:
    path = saved_in(tmp_path, program(5))
    check = cv.check(program(7), path)
    for guesses in (False, True):
        fix = check.fix(guesses=guesses)
        assert not [name for name in fix.pairs if "head" in name]
    with pytest.raises(NoSuchNodeError, match=r"expected a part with guesses: net\.head$"):
        check.fix(guesses=["net.tail"])


@pytest.mark.parametrize("kind", ["other dimensions", "two other sizes", "other dtype", "strings"])
def test_values_without_common_elements_are_not_offered(tmp_path: Path, kind: str) -> None:
    before, after = {
        "other dimensions": (np.ones((2, 3)), np.ones(6)),
        "two other sizes": (np.ones((8, 3)), np.ones((4, 5))),  # a head behind another layer
        "other dtype": (np.ones(3), np.ones(4, "int32")),
        "strings": (np.array(["a"]), np.array(["a", "b"])),
    }[kind]
    path = written(tmp_path, v=var(before))
    check = cv.check(ckpt(v=var(after)), path)
    assert check.overlay.table.guessed == []


def test_the_table_asks_and_a_tick_restores(tmp_path: Path) -> None:
    old, live = program(5), program(7)
    path = saved_in(tmp_path, old)
    shown = show_of(live, path)
    assert shown.overlay is not None
    table = shown.overlay.table
    assert table.guessed == [
        TableGuess(
            6,
            "Do the first 5 of 7 in net.head mean the same?",
            "A tick copies this part of 6 values.",
            "here, in part",
        )
    ]
    (line,) = [line for line in table.lines if line.saved == "head"]
    assert (line.guess, line.values) == (0, 6)
    assert line.fixed == TableCell(CellSign.MISFIT, "stays, other shape")
    done, _ = answer(shown, {"ask": "restore", "guesses": [0]})
    assert done["text"].startswith("Restored ")
    np.testing.assert_array_equal(live.net.head.bias.numpy()[:5], old.net.head.bias.numpy())
    in_part = {row.fixed.is_part for row in shown.fix.table.rows if row.fixed is not None}
    assert in_part == {True, False}


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
def test_values_of_another_floating_point_dtype_are_converted(
    keras: Any, dtype: str, tmp_path: Path
) -> None:
    def model(dtype: str) -> Any:
        layers = [keras().layers.Dense(3, name=name, dtype=dtype) for name in "ab"]
        return keras().Sequential([keras().Input((4,), dtype=dtype), *layers])

    was, live, other = model("float32"), model(dtype), model(dtype)
    path = ckpt(model=was).save(str(tmp_path / "ckpt"))
    check = cv.check(ckpt(model=live), path)
    assert "check.fix(guesses=True) converts 4 values to the dtype of" in str(check.fix())
    fix = check.fix(guesses=True)
    fix.apply()
    exec(fix.code, {"ckpt": ckpt(model=other), "path": path})
    assert len(check.fix(guesses=["model.a"]).pairs) == 3  # with the save_counter
    for old, new, coded in zip(was.weights, live.weights, other.weights, strict=True):
        converted = old.numpy().astype(new.numpy().dtype)
        np.testing.assert_array_equal(new.numpy(), converted)
        np.testing.assert_array_equal(coded.numpy(), converted)
