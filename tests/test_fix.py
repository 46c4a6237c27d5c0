"""The fix of a restore: its code runs, and puts every value where it belongs. TensorFlow judges."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_fix.applying import NotAppliedError
from tests.programs.keras_making import Key, Made, make
from tests.programs.keras_programs import LIBRARIES, RANGES, Edited, becomes, draw_edited
from tests.programs.law import Law
from tests.programs.wrong_values import unknowable_in
from tests.support.amounts import amount
from tests.support.programs import ckpt, keras_2, keras_3, module, saved, var, written
from tests.support.promises import unkept
from tests.support.remedy_code import unrunnable

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

PROGRAMS = amount(6, 250)


def run(code: str, live: Any, path: str) -> None:
    """Run the code of a fix as a program would."""
    exec(compile(code, "fix", "exec"), {"ckpt": live, "path": path})


def restored(live: Any, path: str) -> Any:
    """Run the code of a fix; return the fix if exactly its pairs have the values of the file."""
    fix = cv.check(live, path).fix()
    graph, file = cv.graph(live), cv.graph(path)
    before = _values(graph)
    run(fix.code, live, path)
    after = _values(graph)
    by_name = {name: key for key, name in fix.pairs.items()}
    for name, value in after.items():
        expected = file.read(by_name[name]) if name in by_name else before[name]
        if name != "(root).save_counter":
            np.testing.assert_array_equal(value, expected, name)
    return fix


def _values(graph: cv.ObjectGraph) -> dict[str, Any]:
    return {
        graph.name(node_id): value.numpy()
        for node_id, node in enumerate(graph.nodes)
        for value in [cast("Any", graph.object(node_id))]
        if node.attributes and hasattr(value, "numpy")
    }


def layer(width: int, depth: int = 3) -> Any:
    return module(w=var(np.random.rand(depth, width)), b=var(np.random.rand(width)))


def hold(
    claim: str, judge: Callable[[Edited, Path], None], library: str, seed: int, number: int
) -> None:
    """Assert that something holds for random models and what edits make of them."""
    __tracebackhide__ = True
    keras_3()
    pytest.importorskip(library)
    Law(
        f"{claim}, {library}",
        lambda rng: draw_edited(rng, RANGES[library], library),
        judge,
        becomes,
    ).hold(seed, number)


@pytest.mark.parametrize("library", LIBRARIES)
def test_code_restores_edited_models(library: str, seed: int) -> None:
    def judge(example: Edited, at: Path) -> None:
        was, now = make(example.was), make(example.now)
        for place, (_, variable) in enumerate(sorted(was.variables.items())):
            variable.assign(np.full(variable.shape, place + 1))
        restored(now.checkpoint, str(was.checkpoint.save(str(at / "ckpt"))))

    hold("The code of a fix restores an edited model", judge, library, seed, PROGRAMS)


def test_a_right_restore_needs_no_fix(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    fix = restored(ckpt(net=module(l1=layer(2))), path)
    assert fix.code == "status = ckpt.restore(path)\nstatus.assert_consumed()\n"
    assert fix.check.consumed and not fix.missing and not fix.unused


def test_a_renamed_and_a_wrapped_part_are_restored(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2), head=layer(5)))
    live = ckpt(net=module(inner=module(dense=layer(2), head=layer(5))))
    fix = restored(live, path)
    assert len(fix.pairs) == 5 and fix.check.consumed
    assert fix.pairs["net/l1/w/.ATTRIBUTES/VARIABLE_VALUE"] == "(root).net.inner.dense.w"
    assert "l1=ckpt.net.inner.dense" in fix.code


@pytest.mark.parametrize("is_saved_inside", [True, False])
def test_another_level_of_the_root_is_one_call(is_saved_inside: bool, tmp_path: Path) -> None:
    def net() -> Any:
        return module(l1=layer(2), head=layer(5))

    inside, alone = ckpt(model=net()), ckpt(net())
    was, now = (inside, alone) if is_saved_inside else (alone, inside)
    path = str(was.save(str(tmp_path / "ckpt")))
    fix = restored(now, path)
    call = "model=ckpt.root" if is_saved_inside else "ckpt.model"
    assert f"restored = tf.train.Checkpoint({call})" in fix.code


@pytest.mark.parametrize("is_saved_inside", [True, False])
def test_what_is_beside_the_model_comes_along_to_another_level(
    is_saved_inside: bool, tmp_path: Path
) -> None:
    def program(is_inside: bool) -> Any:
        keras, net, step = keras_3(), module(l1=layer(2), head=layer(5)), var(np.int64(7))
        optimizer = keras.optimizers.Adam()
        optimizer.build(list(net.trainable_variables))
        if is_inside:
            return ckpt(trainer=module(model=net, optimizer=optimizer, step=step))
        return ckpt(net, optimizer=optimizer, step=step)

    path = str(program(is_saved_inside).save(str(tmp_path / "ckpt")))
    fix = restored(program(not is_saved_inside), path)
    assert fix.missing == ()
    names = ("trainer/step", "(root).step"), ("step", "(root).trainer.step")
    key, name = names[0] if is_saved_inside else names[1]
    assert fix.pairs[f"{key}/.ATTRIBUTES/VARIABLE_VALUE"] == name


def test_a_list_became_attributes(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(2), layer(3), layer(4)])
    live = ckpt(blocks=module(stem=layer(2), body=layer(3), head=layer(4)))
    assert len(restored(live, path).pairs) == 6


def test_a_new_head_keeps_its_values_and_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(body=layer(4), head=layer(10)))
    fix = restored(ckpt(net=module(body=layer(4), head=layer(7))), path)
    assert set(fix.missing) == {"(root).net.head.b", "(root).net.head.w"}
    assert "assert_existing_objects_matched" in fix.code
    assert "#   net.head.w: net/head/w/.ATTRIBUTES/VARIABLE_VALUE\n" in fix.code


def test_a_variable_that_is_no_longer_shared_is_assigned_twice(tmp_path: Path) -> None:
    shared = layer(4)
    path = written(tmp_path, net=module(a=module(inner=shared), b=module(inner=shared)))
    live = ckpt(net=module(a=module(inner=layer(4)), b=module(inner=layer(4))))
    fix = cv.check(live, path).fix()
    run(fix.code, live, path)
    saved_w = cv.graph(path).read("(root).net.a.inner.w")
    for part in (live.net.a, live.net.b):
        np.testing.assert_array_equal(part.inner.w, saved_w)


def test_names_in_a_file_are_only_names(tmp_path: Path) -> None:
    hostile = "'); raise SystemExit('ran') #\n\"\"\""
    path = written(tmp_path, **{hostile: layer(3), "other": layer(5)})
    live = ckpt(net=module(a=layer(3), b=layer(5)))
    fix = restored(live, path)
    assert len(fix.pairs) == 4


def test_alike_items_that_nothing_tells_apart_go_where_a_restore_puts_them(tmp_path: Path) -> None:
    path = written(tmp_path, blocks=[layer(3), layer(3)])
    live = ckpt(blocks=[layer(3), layer(3), layer(3)])
    fix = cv.check(live, path).fix()
    plain = ckpt(blocks=[layer(3), layer(3), layer(3)])
    plain.read(path).expect_partial()
    fix.apply()
    assert len(fix.pairs) == 4
    for block, expected in zip(live.blocks[:2], plain.blocks, strict=False):
        np.testing.assert_array_equal(block.w, expected.w)
    assert "These are guesses" not in fix.code


def test_a_program_in_a_file_gets_code_too(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    program = str(ckpt(net=module(dense=layer(2))).write(str(tmp_path / "program")))
    fix = cv.check(program, path).fix()
    assert len(fix.pairs) == 2 and "l1=ckpt.net.dense" in fix.code


@pytest.mark.parametrize("source", ["ckpt", "i", "i.j"])
def test_runs_of_slots_are_comprehensions(source: str, tmp_path: Path) -> None:
    keras = keras_3()

    def program(names: str) -> Any:
        layers = {name: keras.layers.Dense(4, name=name) for name in "abcd"}
        model = keras.Sequential([keras.Input((4,)), *(layers[name] for name in names)])
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    was, live = program("abcd"), program("dabc")
    for number, slot in enumerate(was.optimizer.variables):
        slot.assign(np.full(slot.shape, number))
    path = str(was.save(str(tmp_path / "ckpt")))
    fix = cv.check(live, path).fix()
    code = fix.to_code(source)
    assert f"{source}.optimizer._momentums[" in code and code.count("_momentums[") == 1
    assert " for j, k in zip(" in code or source != "i"
    exec(
        code,
        {"ckpt": live, "i": type("At", (), {"j": live}) if "." in source else live, "path": path},
    )
    for name in ("_momentums", "_velocities"):
        now, then = getattr(live.optimizer, name), getattr(was.optimizer, name)
        for place, slot in enumerate(now):
            np.testing.assert_array_equal(slot, then[(place - 2) % 8])


def test_runs_of_slots_that_are_assigned_are_comprehensions(tmp_path: Path) -> None:
    keras = keras_3()

    def program(*, is_shared: bool) -> Any:
        parts = {name: keras.layers.Dense(4) for name in "abcd"}
        if is_shared:
            parts["b"] = parts["a"]
        for part in dict.fromkeys(parts.values()):
            part.build((None, 4))
        variables = [v for part in dict.fromkeys(parts.values()) for v in part.trainable_variables]
        optimizer = keras.optimizers.Adam()
        optimizer.build(variables)
        return ckpt(net=module(**parts), optimizer=optimizer)

    was = program(is_shared=True)
    for number, slot in enumerate(was.optimizer.variables):
        slot.assign(np.full(slot.shape, number))
    live, path = program(is_shared=False), str(was.save(str(tmp_path / "ckpt")))
    fix = cv.check(live, path).fix()
    run(fix.code, live, path)
    for name in ("_momentums", "_velocities"):
        slots = [*getattr(was.optimizer, name)]
        for place, slot in enumerate(getattr(live.optimizer, name)):
            if place not in (2, 3):  # those of b, which had none
                np.testing.assert_array_equal(slot, slots[place - 2 * (place > 3)])
    assert "*[(ckpt.optimizer._momentums[i], f'optimizer/_variables/{j}/" in fix.code
    assert fix.code.count("_velocities") == 1  # two of a, and those of c and d


# --- apply


@pytest.mark.parametrize("library", LIBRARIES)
def test_apply_restores_what_the_code_restores(library: str, seed: int) -> None:
    def judge(example: Edited, at: Path) -> None:
        was, now, plain = make(example.was), make(example.now), make(example.now)
        path = str(was.checkpoint.save(str(at / "ckpt")))
        before = _values(cv.graph(now.checkpoint))
        check = cv.check(now.checkpoint, path)
        assert not [*unkept(check), *unrunnable(check)]
        fix = check.fix()
        assert all(_times(key, fix.code) <= 1 for key in fix.unused)
        assert fix.apply() is fix
        lacking = _right_after_restore(plain, was, path) - _right(now, was)
        assert {key[0] for key in lacking} <= unknowable_in(was, now, check).keys()
        file, names = cv.graph(path), {name: key for key, name in fix.pairs.items()}
        for name, value in _values(cv.graph(now.checkpoint)).items():
            expected = file.read(names[name]) if name in names else before.get(name)
            if name != "(root).save_counter":
                np.testing.assert_array_equal(value, expected, name)

    hold("Applying a fix restores what its code restores", judge, library, seed, PROGRAMS)


def _times(key: str, code: str) -> int:
    return len(re.findall(rf"(?<![\w/]){re.escape(key)}", code))


def _right(now: Made, was: Made) -> set[Key]:
    """Return the variables that have their own saved values."""
    both = now.variables.keys() & was.variables.keys()
    return {one for one in both if np.array_equal(now.variables[one], was.variables[one])}


def _right_after_restore(now: Made, was: Made, path: str) -> set[Key]:
    """Return the same after a plain restore; none if that raises."""
    try:
        now.checkpoint.restore(path).expect_partial()
    except Exception:
        return set()
    return _right(now, was)


def test_apply_changes_nothing_if_a_value_is_damaged(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(200), head=layer(5)))
    data = Path(f"{path}.data-00000-of-00001")
    damaged = bytearray(data.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    data.write_bytes(damaged)
    live = ckpt(net=module(dense=layer(200), head=layer(5)))
    before = _values(cv.graph(live))
    fix = cv.check(live, path).fix()
    with pytest.raises(NotAppliedError, match="all values are as before"):
        fix.apply()
    for name, value in _values(cv.graph(live)).items():
        np.testing.assert_array_equal(value, before[name], name)


def test_apply_needs_live_objects(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    with pytest.raises(cv.SourceError, match="apply the fix to live objects"):
        cv.check(path, path).fix().apply()


def test_a_model_is_restored_through_a_checkpoint_of_it(tmp_path: Path) -> None:
    net = module(l1=layer(2))
    path = written(tmp_path, net)
    fix = restored(module(l1=layer(2)), path)
    assert "restored = tf.train.Checkpoint(ckpt)\n" in fix.code


# --- write


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_restore_what_write_writes(library: str, seed: int) -> None:
    def judge(example: Edited, at: Path) -> None:
        was, now = make(example.was), make(example.now)
        path = str(was.checkpoint.save(str(at / "ckpt")))
        before = _values(cv.graph(now.checkpoint))
        fix = cv.check(now.checkpoint, path).fix()
        prefix = fix.write(at / "fixed")
        status = now.checkpoint.restore(prefix)
        if not fix.missing:
            status.assert_existing_objects_matched()
        status.expect_partial()
        file, names = cv.graph(path), {name: key for key, name in fix.pairs.items()}
        fixed = cv.graph(prefix)
        for name, value in _values(cv.graph(now.checkpoint)).items():
            if name not in names and name not in before:  # a slot that the restore has made
                expected = fixed.read(name)
            else:
                expected = file.read(names[name]) if name in names else before[name]
            if name != "(root).save_counter":
                np.testing.assert_array_equal(value, expected, name)

    hold("A program restores what a fix writes", judge, library, seed, PROGRAMS)


def test_write_refuses_to_overwrite(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=layer(2)))
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(cv.CkptVizError, match="exist"):
        cv.check(ckpt(net=module(dense=layer(2))), path).fix().write(path)
    assert files == {file: file.read_bytes() for file in tmp_path.iterdir()}


def test_python_state_and_tables_are_written(tmp_path: Path) -> None:
    import tensorflow as tf

    class State(tf.train.experimental.PythonState):  # type: ignore[misc]
        text: Any = ""

        def serialize(self) -> Any:
            return self.text

        def deserialize(self, text: Any) -> None:
            self.text = text

    def program(name: str) -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        return ckpt(**{name: module(table=table, state=State(), w=var([1.0, 2.0]))})

    was, now = program("net"), program("model")
    was.net.table.insert(tf.constant(["a"]), tf.constant([3], tf.int64))
    was.net.state.text = "the text"
    path = str(was.save(str(tmp_path / "ckpt")))
    prefix = cv.check(now, path).fix().write(tmp_path / "fixed")
    now.restore(prefix).assert_existing_objects_matched()
    assert int(now.model.table.lookup(tf.constant("a"))) == 3
    assert now.model.state.text == b"the text"  # as TensorFlow gives it


# --- from Keras 2 to Keras 3

_MADE = {
    "Adam": {},
    "AdamW": {},
    "SGD": {"momentum": 0.9},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Adagrad": {},
    "Adadelta": {},
}
_SLOTS = (
    *("_momentums", "_velocities", "momentums", "_accumulators", "_average_gradients"),
    *("_accumulated_grads", "_accumulated_delta_vars"),
)
_LEGACY_SLOTS = {"_momentums": "m", "_velocities": "v"}


def _network(keras: Any, optimizer: Any) -> Any:
    """Return a network with two layers that look alike, and its optimizer with slots."""
    import tensorflow as tf

    layers = keras.layers
    model = keras.Sequential(
        [layers.Dense(6), layers.BatchNormalization(), layers.Dense(6), layers.Dense(6)]
    )
    model.build((None, 6))
    variables = model.trainable_variables
    if hasattr(optimizer, "get_slot"):
        optimizer.apply_gradients([(tf.ones(v.shape), v) for v in variables])
    else:
        optimizer.build(variables)
    for number, variable in enumerate(_slots_of(optimizer, model, of_legacy=True)):
        variable.assign(tf.fill(variable.shape, float(number)))
    for number, variable in enumerate(model.variables):
        variable.assign(tf.fill(variable.shape, -float(number)))
    return ckpt(model=model, optimizer=optimizer)


def _slots_of(optimizer: Any, model: Any, *, of_legacy: bool) -> list[Any]:
    if hasattr(optimizer, "get_slot"):
        variables = model.trainable_variables
        return [optimizer.get_slot(v, name) for name in _LEGACY_SLOTS.values() for v in variables]
    lists = _LEGACY_SLOTS if of_legacy and hasattr(optimizer, "_velocities") else _SLOTS
    return [slot for name in lists for slot in getattr(optimizer, name, ()) if slot is not None]


@pytest.mark.parametrize("name", [*_MADE, "legacy Adam"])
def test_keras_2_becomes_keras_3_with_its_optimizer(name: str, tmp_path: Path) -> None:
    old, new = keras_2(), keras_3()
    if name == "legacy Adam":
        optimizers = old.optimizers.legacy.Adam(), new.optimizers.Adam()
    else:
        optimizers = tuple(getattr(k.optimizers, name)(**_MADE[name]) for k in (old, new))
    was, now = _network(old, optimizers[0]), _network(new, optimizers[1])
    for variable in [*now.model.variables, *now.optimizer.variables]:
        variable.assign(np.full(variable.shape, 99, np.dtype(str(variable.dtype))))
    path = str(was.save(str(tmp_path / "ckpt")))
    fix = cv.check(now, path).fix()
    assert not fix.missing
    run(fix.code, now, path)
    for before, after in zip(was.model.variables, now.model.variables, strict=True):
        np.testing.assert_array_equal(before, after)
    slots = [
        _slots_of(one.optimizer, one.model, of_legacy=name == "legacy Adam") for one in (was, now)
    ]
    assert len(slots[0]) == len(slots[1]) > 0
    for before, after in zip(*slots, strict=True):
        np.testing.assert_array_equal(before, after)
    assert int(now.optimizer.iterations) == int(was.optimizer.iterations)
