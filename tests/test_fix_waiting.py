"""Programs whose objects are not built yet: a plain restore waits for them, and so does its fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.matching.restore_table.rows import Why
from tests.support.programs import ckpt, keras_2, keras_3, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
ONE = np.ones((1, 3), np.float32)


def unbuilt(keras: Any) -> Any:
    class Model(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = keras.layers.Dense(3)

        def call(self, inputs: Any) -> Any:
            return self.hidden(inputs)

    return Model()


def built(keras: Any) -> Any:
    model = unbuilt(keras)
    model(ONE)
    return model


@pytest.mark.parametrize("method", ["save", "write"])
def test_the_fix_of_a_model_that_is_not_built_waits_for_it(method: str, tmp_path: Path) -> None:
    was, model = built(keras_2()), unbuilt(keras_2())
    path = str(getattr(ckpt(model=was), method)(str(tmp_path / "model")))
    live = ckpt(model=model)
    check = cv.check(live, path)
    assert "unrelated" not in {finding.kind.value for finding in check.findings}
    fix = check.fix()
    assert not fix.changes and not fix.unused
    exec(fix.code, {"ckpt": live, "path": path})
    model(ONE)
    np.testing.assert_array_equal(model.hidden.kernel, was.hidden.kernel)
    assert "# These are restored as soon as their objects are built:" in fix.code


@KERAS
def test_models_and_their_optimizer_wait_together(keras: Any, tmp_path: Path) -> None:
    def live(make: Any) -> Any:
        models = {name: make(keras()) for name in ("encoder", "decoder")}
        return ckpt(optimizer=keras().optimizers.Adam(), **models)

    def train(one: Any) -> None:
        trained = one.encoder.trainable_variables + one.decoder.trainable_variables
        one.optimizer.build(trained)

    was, now = live(built), live(unbuilt)
    train(was)
    check = cv.check(now, was.save(str(tmp_path / "model")))
    assert not any("other variables" in finding.why for finding in check.findings)
    assert not check.fix().changes


def test_what_is_gone_is_told_beside_what_waits(tmp_path: Path) -> None:
    was = ckpt(model=built(keras_2()), step=var(3))
    path = was.save(str(tmp_path / "model"))
    fix = cv.check(ckpt(model=unbuilt(keras_2())), path).fix()
    assert [change.why for change in fix.changes] == ["step is gone."]
    assert fix.unused == ("step/.ATTRIBUTES/VARIABLE_VALUE",)


def test_an_iterator_of_other_stages_stays_out_of_the_code(tmp_path: Path) -> None:
    import tensorflow as tf

    data = tf.data.Dataset.range(10)
    path = ckpt(net=module(w=var(3.0)), data=iter(data)).save(str(tmp_path / "model"))
    live = ckpt(net=module(w=var(0.0)), data=iter(data.batch(2)))
    fix = cv.check(live, path).fix()
    exec(fix.code, {"ckpt": live, "path": path})
    assert float(live.net.w) == 3.0
    assert not any("data" in key for key in fix.pairs)


def test_names_of_slim_are_those_of_layers(tmp_path: Path) -> None:
    from tests.support.programs import save_by_name

    keras = keras_3()
    saved = {
        f"net/{layer}/{own}": np.random.rand(*shape).astype(np.float32)
        for layer, width in (("fc1", 4), ("fc2", 2))
        for own, shape in (("weights", (4, width)), ("biases", (width,)))
    }
    layers = keras.layers.Dense(4, name="fc1"), keras.layers.Dense(2, name="fc2")
    model = keras.Sequential([keras.Input((4,)), *layers])
    cv.check(model, save_by_name(tmp_path / "model", saved)).fix().apply()
    for weight, value in zip(model.weights, saved.values(), strict=True):
        np.testing.assert_array_equal(weight, value)


@pytest.mark.parametrize("is_by_code", [False, True])
def test_an_optimizer_that_is_not_built_waits_beside_a_renamed_part(
    is_by_code: bool, tmp_path: Path
) -> None:
    """A legacy optimizer has no variable before its first step, so nothing is to be restored."""
    keras = keras_2()

    def live(name: str) -> Any:
        layer = keras.layers.Dense(3)
        layer.build((None, 4))
        return ckpt(model=module(**{name: layer}), optimizer=keras.optimizers.legacy.Adam())

    was, now = live("a"), live("b")
    for one in (was.model.a, was.model.a):
        was.optimizer.apply_gradients([(np.ones(w.shape, np.float32), w) for w in one.weights])
    path = was.save(str(tmp_path / "model"))
    fix = cv.check(now, path).fix()
    assert not fix.unused
    exec(fix.code, {"ckpt": now, "path": path}) if is_by_code else fix.apply()
    slots = [now.optimizer.get_slot(w, name) for w in now.model.b.weights for name in "mv"]
    saved = [was.optimizer.get_slot(w, name) for w in was.model.a.weights for name in "mv"]
    assert int(now.optimizer.iterations) == 2
    for slot, other in zip(slots, saved, strict=True):
        np.testing.assert_array_equal(slot, other)


@KERAS
def test_states_of_a_renamed_part_fit_its_optimizer_once_that_is_built(
    keras: Any, tmp_path: Path
) -> None:
    class Net(keras().Model):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__()
            self.part = name
            setattr(self, name, keras().layers.Dense(3))
            self.head = keras().layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.head(getattr(self, self.part)(x))

    def program(name: str) -> tuple[Any, Any]:
        model = Net(name)
        model(np.ones((1, 4), "float32"))
        return model, ckpt(model=model, optimizer=keras().optimizers.Adam())

    model, was = program("first")
    was.optimizer.build(model.trainable_variables)
    path = was.save(str(tmp_path / "ckpt"))
    model, live = program("renamed")
    (finding,) = (each for each in cv.check(live, path).findings if each.kind.value == "deferred")
    assert "will fit" in finding.why
    status = live.restore(path)
    live.optimizer.build(model.trainable_variables)
    states = was.optimizer.variables, live.optimizer.variables
    was_states, now_states = (each() if callable(each) else each for each in states)
    for state, other in zip(was_states, now_states, strict=True):
        np.testing.assert_array_equal(state, other)
    status.expect_partial()


# --- models that are not built, and are other ones than before


def in_line(keras: Any, *names: str, classes: int = 3) -> Any:
    """Return a model whose layers of one width follow each other, and then its head."""

    class Line(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name in names:
                setattr(self, name, keras.layers.Dense(4))
            self.head = keras.layers.Dense(classes)

        def call(self, inputs: Any) -> Any:
            for name in (*names, "head"):
                inputs = getattr(self, name)(inputs)
            return inputs

    def build(model: Any, shape: Any) -> None:
        for name in (*names, "head"):
            getattr(model, name).build((None, 4))

    if keras is keras_3():  # without it, nothing would wait
        Line.build = build
    return Line()


OTHERS: dict[str, tuple[tuple[str, ...], int, dict[str, str]]] = {
    "inserted": (("enc", "mid", "dec"), 3, {"enc": "enc", "dec": "dec", "head": "head"}),
    "renamed": (("encoder", "dec"), 3, {"encoder": "enc", "dec": "dec", "head": "head"}),
    "larger": (("enc", "dec"), 5, {"enc": "enc", "dec": "dec"}),
}


@KERAS
@pytest.mark.parametrize("optimizer", ["none", "beside", "inside"])
@pytest.mark.parametrize("other", OTHERS)
def test_nothing_waits_for_a_model_that_is_another_one_now(
    other: str, optimizer: str, keras: Any, tmp_path: Path
) -> None:
    """The fix promises nothing, building puts nothing wrong, and the fix after it restores all."""
    names, classes, counterparts = OTHERS[other]
    one = np.ones((1, 4), np.float32)

    def live(*names: str, classes: int = 3) -> Any:
        model = in_line(keras(), *names, classes=classes)
        if optimizer == "beside":
            return ckpt(model=model, optimizer=keras().optimizers.Adam())
        if optimizer == "inside":
            model.compile("adam", "mse")
        return ckpt(model=model)

    def build(program: Any) -> None:
        program.model(one)
        if optimizer != "none":
            optimizer_of(program).build(program.model.trainable_variables)

    def optimizer_of(program: Any) -> Any:
        return (program if optimizer == "beside" else program.model).optimizer

    def kept(program: Any, names: tuple[str, ...]) -> dict[str, list[Any]]:
        """Return the variables and their states by layer."""
        layers = [getattr(program.model, name) for name in (*names, "head")]
        every = [list(layer.trainable_variables) for layer in layers]
        if optimizer != "none":
            kinds = optimizer_of(program)._momentums, optimizer_of(program)._velocities
            for place, variables in enumerate(every):
                variables += [kind[2 * place + n] for kind in kinds for n in range(2)]
        return dict(zip((*names, "head"), every, strict=True))

    was, now = live("enc", "dec"), live(*names, classes=classes)
    build(was)
    saved = kept(was, ("enc", "dec"))
    for number, variable in enumerate(v for every in saved.values() for v in every):
        variable.assign(np.full(variable.shape, 10.0 + number, np.float32))
    path = was.save(str(tmp_path / "model"))
    check = cv.check(now, path)
    assert "removed" not in str(check) and "renamed" not in str(check)
    fix = check.fix()
    assert "as soon as" not in f"{fix}{fix.code}" and "no place" not in f"{fix}{check}"
    assert "on data once" in str(fix) and "Then check again, and fix again." in str(fix)
    fix.apply()
    build(now)  # raises nothing
    assert all(np.all(np.abs(v.numpy()) < 9) for every in kept(now, names).values() for v in every)
    cv.check(now, path).fix().apply()
    for name, old in counterparts.items():
        for variable, other_variable in zip(kept(now, names)[name], saved[old], strict=True):
            np.testing.assert_array_equal(variable.numpy(), other_variable.numpy())


@KERAS
def test_what_is_to_wait_beside_an_optimizer_that_is_to_be_built_comes(
    keras: Any, tmp_path: Path
) -> None:
    def live(*names: str) -> Any:
        return ckpt(model=in_line(keras(), *names), optimizer=keras().optimizers.Adam())

    was, now = live("enc", "dec"), live("enc")
    was.model(np.ones((1, 4), np.float32))
    was.optimizer.build(was.model.trainable_variables)
    fix = cv.check(now, was.save(str(tmp_path / "model"))).fix()
    assert "6 values restored as soon as objects are built" in str(fix)
    assert "12 values of the optimizer stay in the file: it is not built." in str(fix)
    fix.apply()
    now.model(np.ones((1, 4), np.float32))
    for name in ("enc", "head"):
        kernels = [getattr(program.model, name).kernel.numpy() for program in (was, now)]
        np.testing.assert_array_equal(*kernels)


@KERAS
def test_weights_for_a_model_that_is_larger_once_built_stay_in_the_file(
    keras: Any, tmp_path: Path
) -> None:
    was = in_line(keras(), "enc")
    was(np.ones((1, 4), np.float32))
    path = ckpt(root=was).write(str(tmp_path / "w"))
    model = in_line(keras(), "enc", classes=5)
    check = cv.check(model, path)
    assert str(check).splitlines()[1].startswith("The program is not built yet: 4 of 4 values")
    assert "of 0 values" not in str(check) and "not in the program" not in str(check)
    fix = check.fix()
    assert "4 values of this Line stay in the file: it is not built." in str(fix)
    fix.apply()
    model(np.ones((1, 4), np.float32))  # raises nothing
    cv.check(model, path).fix().apply()
    np.testing.assert_array_equal(model.enc.kernel.numpy(), was.enc.kernel.numpy())


# --- states of an optimizer that is not built


def functional(
    keras: Any, *, classes: int = 3, parts: tuple[str, ...] = ("fc",), optimizer: str = "Adam"
) -> Any:
    """Return a model whose hidden layers have one shape, with an optimizer that is not built."""
    inputs = outputs = keras.Input((4,))
    for name in parts:
        outputs = keras.layers.Dense(4, name=name)(outputs)
    model = keras.Model(inputs, keras.layers.Dense(classes, name="pred")(outputs))
    legacy, _, name = optimizer.rpartition(".")
    optimizers = keras.optimizers.legacy if legacy else keras.optimizers
    model.optimizer = getattr(optimizers, name)()
    return model


def step(model: Any) -> None:
    """Build the optimizer, or let it make what it makes in its first step."""
    if hasattr(model.optimizer, "build"):
        model.optimizer.build(model.trainable_variables)
    else:
        model.optimizer._create_all_weights(model.trainable_variables)


def trained(model: Any) -> Any:
    """Return the model with an optimizer whose states are all different."""
    step(model)
    for number, state in enumerate(states(model).values()):
        state.assign(np.full(state.shape, number + 1.0, np.float32))
    return model


def states(model: Any) -> dict[tuple[str, str], Any]:
    """Return the momentums and velocities by the place of their variable and their kind."""
    optimizer, of_place = model.optimizer, {}
    places = [(layer, w) for layer in model.layers for w in layer.trainable_variables]
    for number, (layer, variable) in enumerate(places):
        place = f"{layer.name} {len(variable.shape)}"
        for kind in ("momentums", "velocities"):
            kept = getattr(optimizer, f"_{kind}", None)
            slot = kept[number] if kept else None
            if kept is None and hasattr(optimizer, "get_slot"):
                slot = optimizer.get_slot(variable, kind[0])
            if slot is not None:
                of_place[place, kind] = slot
    return of_place


def of_model(model: Any) -> Any:
    return ckpt(model=model)


def alone(model: Any) -> Any:
    return model


# The saved model, the program, and how many states wait, stay, and are right at last.
Way = tuple[Any, dict[str, Any], Any, dict[str, Any], Any, int, int, int]
LEGACY = {"optimizer": "legacy.Adam"}
WAYS: dict[str, Way] = {
    "no holder": (keras_2, {}, keras_2, {}, alone, 8, 0, 8),
    "renamed holder": (keras_2, {}, keras_2, {}, lambda model: ckpt(net=model), 8, 0, 8),
    "no holder, Keras 3": (keras_3, {}, keras_3, {}, alone, 8, 0, 8),
    "larger": (keras_2, {}, keras_2, {"classes": 5}, alone, 4, 4, 4),
    "larger, with its holder": (keras_2, {}, keras_2, {"classes": 5}, of_model, 4, 4, 4),
    "one more": (keras_2, {}, keras_2, {"parts": ("fc", "mid")}, of_model, 0, 8, 8),
    "one more at first": (keras_3, {}, keras_3, {"parts": ("in", "fc")}, of_model, 0, 8, 8),
    "migrated": (keras_2, {}, keras_3, {}, of_model, 0, 8, 8),
    "migrated back": (keras_3, {}, keras_2, {}, of_model, 0, 8, 8),
    "another class": (keras_2, {}, keras_2, {"optimizer": "Nadam"}, alone, 8, 0, 8),
    "fewer kinds": (keras_2, {}, keras_2, {"optimizer": "SGD"}, of_model, 0, 8, 0),
    "more kinds": (keras_2, {"optimizer": "SGD"}, keras_2, {}, of_model, 0, 4, 0),
    "legacy": (keras_2, LEGACY, keras_2, LEGACY, alone, 8, 0, 8),
    "no legacy": (keras_2, LEGACY, keras_2, {}, alone, 0, 8, 8),
    "legacy now": (keras_2, {}, keras_2, LEGACY, alone, 0, 8, 8),
}


@pytest.mark.parametrize("is_by_code", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_fix_tells_what_becomes_of_the_states_of_an_optimizer_that_is_not_built(
    way: str, is_by_code: bool, tmp_path: Path
) -> None:
    """They wait and reach their places when it is built, or stay in the file until then."""
    of_saved, options, of_program, options_now, live, waiting, staying, right = WAYS[way]
    was, now = trained(functional(of_saved(), **options)), functional(of_program(), **options_now)
    path, program = of_model(was).save(str(tmp_path / "model")), live(now)
    check = cv.check(program, path)
    fix = check.fix()
    saved = fix.table.saved
    assert saved is not None
    slots = [
        row.fixed
        for row in fix.table.rows
        if row.saved is not None and row.fixed is not None and row.live is None
        if saved.nodes[row.saved].slot is not None
    ]
    assert [cell.place.value for cell in slots].count("waits") == waiting
    assert [cell.place.value for cell in slots].count("stays") == staying
    every = f"{fix}\n{check}\n{fix.code}"
    assert "no place for the state" not in every and "no place for the values" not in every
    assert ("as soon as" in str(fix)) == (waiting > 0)
    if "The optimizer is not built yet" in str(check.details):
        assert "Build the optimizer, or restore the rest" in str(check.details)
    is_to_build = "stay in the file: it is not built. Build it first:" in str(fix)
    assert is_to_build == ("not built" in [cell.why and cell.why.value for cell in slots])
    exec(fix.code, {"ckpt": program, "path": path}) if is_by_code else fix.apply()
    step(now)
    _assert_right(was, now, waiting)
    if is_to_build:
        cv.check(program, path).fix().apply()
        _assert_right(was, now, right)


def _assert_right(was: Any, now: Any, number: int) -> None:
    """Compare the states of the program with the saved ones: each is its own, or still zero."""
    saved = {place: state.numpy() for place, state in states(was).items()}
    right = 0
    for place, state in states(now).items():
        value = state.numpy()
        if value.any():
            np.testing.assert_array_equal(value, saved[place])
            right += 1
    assert right == number


@KERAS
def test_no_assert_is_promised_for_states_of_variables_that_are_larger_now(
    keras: Any, tmp_path: Path
) -> None:
    was, now = trained(functional(keras())), functional(keras(), classes=5)
    path, live = of_model(was).save(str(tmp_path / "model")), of_model(now)
    check = cv.check(live, path)
    (finding,) = (each for each in check.findings if each.kind.value == "deferred")
    misfits = [row for row in check.table.rows if row.live is None and row.why_left is Why.SHAPE]
    assert f"may not fit then: {len(misfits)} are for variables of another shape" in finding.why
    assert "passes" not in finding.why
    with pytest.raises(ValueError, match="shape"):
        live.restore(path)


@KERAS
def test_states_in_a_file_of_names_stay_until_the_optimizer_is_built(
    keras: Any, tmp_path: Path
) -> None:
    from tests.support.programs import save_by_name

    shapes = {"fc/kernel": (4, 4), "fc/bias": (4,), "pred/kernel": (4, 3), "pred/bias": (3,)}
    ends = ("", "/Adam", "/Adam_1")
    names = [(f"{name}{end}", shape) for name, shape in shapes.items() for end in ends]
    values = {name: np.full(shape, n, np.float32) for n, (name, shape) in enumerate(names, 1)}
    fix = cv.check(of_model(functional(keras())), save_by_name(tmp_path / "model", values)).fix()
    assert "8 values of the optimizer stay in the file: it is not built." in str(fix)
    assert "ckpt.model.optimizer.build(ckpt.model.trainable_variables)" in fix.code
    assert "no place" not in str(fix)


def test_the_counters_of_a_backup_are_no_parts_that_are_gone(tmp_path: Path) -> None:
    """The callback keeps them beside the model, and no program has them."""
    keras = keras_2()
    was, now = functional(keras), functional(keras, classes=5)
    was.compile("adam", "mse")
    backup = keras.callbacks.BackupAndRestore(str(tmp_path), delete_checkpoint=False)
    was.fit(np.ones((2, 4)), np.ones((2, 3)), verbose=0, callbacks=[backup])
    path = str(tmp_path / "chief" / "ckpt-1")
    check = cv.check(ckpt(model=now), path)
    sentence = str(check).splitlines()[1]
    assert "is larger: 3 → 5" in sentence
    assert "removed" not in sentence and "ckpt_saved" not in sentence
    assert "ckpt_saved_epoch" in str(check)  # in the table
    other = ckpt(model=was, ckpt_saved_epoch=var(1)).save(str(tmp_path / "other"))
    assert "ckpt_saved_epoch" in str(cv.check(ckpt(model=now), other)).splitlines()[1]
