"""The fix of a load of Keras' own files: values go by names, whatever the format and version."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import ckpt
from tests.test_keras_files import saved, trained

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
FORMS = (".keras", ".h5", ".weights.h5")


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


@pytest.fixture
def keras_3() -> ModuleType:
    return pytest.importorskip("keras")  # type: ignore[no-any-return]


def _trained(keras: Any, units: int = 2) -> Any:
    layers, inputs = keras.layers, keras.Input((5, 3))
    x = layers.Dense(4, name="body")(inputs)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.LSTM(3, name="rnn")(x)
    model = keras.Model(inputs, layers.Dense(units, name="head")(x))
    return trained(model, keras.optimizers.Adam())


def _values(variables: Any) -> list[Any]:
    return [np.asarray(v.numpy()) for v in (variables() if callable(variables) else variables)]


def _assert_state(old: Any, new: Any, *, has_slots: bool) -> None:
    """Assert that a model has the values of another; the one of Keras 3 has a rate, too."""
    for a, b in zip(old.get_weights(), new.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    saved_state, state = _values(old.optimizer.variables), _values(new.optimizer.variables)
    assert state[0] == saved_state[0]
    if has_slots:
        slots = saved_state[len(saved_state) - 18 :], state[len(state) - 18 :]
        for a, b in zip(*slots, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_either_keras_restores_into_keras_3(
    keras: ModuleType, keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    old = _trained(keras)
    path = saved(old, tmp_path / "x", form, keras.__name__ == "keras")
    # Weights alone of Keras 2 do not tell the class of the optimizer.
    has_slots = keras.__name__ == "keras" or form != ".weights.h5"
    new = _with_other_values(keras_3)
    fix = cv.check(new, path).fix()
    assert len(fix.pairs) == 11 + 1 + (18 if has_slots else 0) + (keras.__name__ == "keras")
    assert not fix.is_applied
    fix.apply()
    assert fix.is_applied
    _assert_state(old, new, has_slots=has_slots)
    by_code = _with_other_values(keras_3)
    code = cv.check(by_code, path).fix().code
    exec(code, {"ckpt": by_code})
    _assert_state(old, by_code, has_slots=has_slots)
    assert "ckpt_viz" not in code
    assert "._" not in code  # Keras' private names


@pytest.mark.parametrize("is_whole", (False, True))
def test_h5_of_keras_2_is_fixed_for_keras_2(is_whole: bool, tmp_path: Path) -> None:
    keras = pytest.importorskip("tf_keras")
    old, path = _trained(keras), tmp_path / "x.h5"
    (old.save if is_whole else old.save_weights)(path)
    same, other, by_code = (_with_other_values(keras, units) for units in (2, 7, 7))
    check = cv.check(same, path)
    assert check.raises is None
    assert "sets 11 of 11" in str(check.details)
    if not is_whole:
        assert check.fix().code.startswith(f"ckpt.load_weights({str(path)!r})\n# These keep")
    check.fix().apply()
    _assert_state(old, same, has_slots=False) if is_whole else None
    for mine, theirs in zip(same.get_weights(), old.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    check = cv.check(other, path)
    assert check.raises is not None
    with pytest.raises(ValueError, match="Shape mismatch") as raised:
        _with_other_values(keras, 7).load_weights(path)
    assert str(raised.value).startswith(check.raises.message.strip())
    fix = check.fix()
    exec(fix.code, {"ckpt": by_code})
    assert fix.apply().is_applied
    for model in (other, by_code):
        for name in ("body", "norm", "rnn"):
            pairs = zip(model.get_layer(name).weights, old.get_layer(name).weights, strict=True)
            for mine, theirs in pairs:
                np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
        assert (model.get_layer("head").kernel.numpy() == -3).all()


@pytest.mark.parametrize("form", (".keras", ".weights.h5"))
def test_the_code_is_the_checked_call_if_that_is_right(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    old, new = _trained(keras_3), _with_other_values(keras_3)
    path = saved(old, tmp_path / "x", form)
    for options in (None, {"skip_mismatch": True}):
        fix = cv.check(new, path, options=options).fix()
        more = ", skip_mismatch=True" if options else ""
        assert fix.code == f"ckpt.load_weights({str(path)!r}{more})\n"
    exec(fix.code, {"ckpt": new})
    assert fix.is_applied
    _assert_state(old, new, has_slots=True)


@pytest.mark.parametrize("is_saved_with_it", (False, True))
@pytest.mark.parametrize("form", (".keras", ".weights.h5"))
def test_low_rank_matrices_can_be_trained_after_a_fix(
    keras_3: ModuleType, form: str, is_saved_with_it: bool, tmp_path: Path
) -> None:
    def model(*, has_lora: bool) -> Any:
        layers = [keras_3.layers.Dense(4, name="a"), keras_3.layers.Dense(2, name="head")]
        made = keras_3.Sequential([keras_3.Input((3,)), *layers])
        if has_lora:
            layers[0].enable_lora(2)
        return made

    old = model(has_lora=is_saved_with_it)
    path = saved(old, tmp_path / "x", form)
    by_call, new, by_code, by_file = (model(has_lora=True) for _ in range(4))
    by_call.load_weights(path)
    a, b = "lora_kernel_a", "lora_kernel_b"
    assert not by_call.layers[0].lora_kernel_a.numpy().any()
    check = cv.check(new, path)
    assert [finding.why for finding in check.findings] == [
        f"load_weights sets {a} and {b} of a to zero, and training cannot change them from there."
    ]
    assert "sets 4 of 6 values" in str(check.details)
    assert f"! load_weights sets {a} and {b} of a to zero" in str(check)
    fix = check.fix()
    assert not fix.changes
    assert [*cv.check(new, path).fix().missing] == [*fix.missing]
    exec(fix.code, {"ckpt": by_code})
    by_file.load_weights(fix.write(tmp_path / "new.weights.h5"))
    fix.apply()
    assert "sets 4 of 6 values" in str(fix.check.details)
    assert fix.check.raises is None
    for fixed in (new, by_code):
        assert fixed.layers[0].lora_kernel_a.numpy().any()
        fixed.compile(keras_3.optimizers.SGD(0.1), "mse", run_eagerly=True)
        fixed.fit(np.ones((4, 3)), np.zeros((4, 2)), verbose=0)
        assert fixed.layers[0].lora_kernel_b.numpy().any()
    expected = old.layers[0].kernel.numpy()
    for fixed in (new, by_code, by_file):
        np.testing.assert_array_equal(fixed.layers[0]._kernel.numpy(), expected)


@pytest.mark.parametrize("form", [".keras", ".weights.h5"])
@pytest.mark.parametrize(("was", "now"), [(False, True), (True, True), (True, False)])
def test_the_state_of_an_optimizer_goes_into_a_wrapper_and_out(
    keras: Any, was: bool, now: bool, form: str, tmp_path: Path
) -> None:
    """A LossScaleOptimizer saves the state of the optimizer inside it a second time."""
    in_keras_2 = keras.__name__ == "tf_keras"
    wrapper = (keras.mixed_precision if in_keras_2 else keras.optimizers).LossScaleOptimizer

    def model(*, scales: bool) -> Any:
        made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="a")])
        adam = keras.optimizers.Adam()
        made.compile(wrapper(adam) if scales else adam, "mse", run_eagerly=True)
        made.fit(np.ones((4, 3)), np.zeros((4, 2)), verbose=0)
        return made

    def state(made: Any) -> list[Any]:
        inner = getattr(made.optimizer, "inner_optimizer", made.optimizer)
        return [*_values(inner.variables), *_values(made.weights)]

    old = model(scales=was)
    path = saved(old, tmp_path / "x", form)
    new = model(scales=now)
    check = cv.check(new, path)
    fix = check.fix().apply()
    for value, expected in zip(state(new), state(old), strict=True):
        np.testing.assert_array_equal(value, expected)
    assert fix.is_applied
    own = 4 if now and not in_keras_2 and not was else 0  # counter, rate, steps, scale
    assert len(fix.missing) == own
    for proof in (fix.check, cv.check(new, path).fix().check):
        assert proof.raises is None
        assert len(proof.unmatched) == own
        sets, of = map(int, re.findall(r"\d+", str(proof.details).splitlines()[-1])[:2])
        assert of - sets == own  # what two optimizers save counts once
    if was and not now:  # nothing is lost: the wrapper's second copy stays, or the first
        left = [line for line in str(fix).splitlines() if "other saved values belong to" in line]
        assert len(left) == 1
    if was is now:  # the program that wrote the file
        assert check.consumed and not check.findings
        assert fix.code.startswith("ckpt.load_weights(") and not fix.unused


@pytest.mark.parametrize("form", [".keras", ".weights.h5"])
def test_no_state_goes_to_an_optimizer_with_another_number_of_states(
    keras: Any, form: str, tmp_path: Path
) -> None:
    """Adam has two states where SGD has one; both number them, variable by variable."""

    def model(optimizer: Any) -> Any:
        layers = [keras.layers.Dense(4, name=f"d{i}") for i in range(3)]
        norm = keras.layers.LayerNormalization(name="norm")
        made = keras.Sequential([keras.Input((4,)), layers[0], norm, *layers[1:]])
        return trained(made, optimizer)

    old, new = model(keras.optimizers.SGD(0.1, momentum=0.9)), model(keras.optimizers.Adam())
    before = _values(new.optimizer.variables)
    fix = cv.check(new, saved(old, tmp_path / "x", form)).fix().apply()
    for value, expected in zip(new.get_weights(), old.get_weights(), strict=True):
        np.testing.assert_array_equal(value, expected)
    for was, now in zip(before, _values(new.optimizer.variables), strict=True):
        if was.ndim:  # a state, and no counter or rate
            np.testing.assert_array_equal(was, now)
    assert len(fix.unused) >= 8


def test_code_names_no_layer_by_a_number_of_keras(keras_3: ModuleType, tmp_path: Path) -> None:
    """Keras goes on counting, so the same cell makes `dense_2` of `dense`."""

    def model(value: float, units: int) -> Any:
        layers = [keras_3.layers.Dense(3), keras_3.layers.Dense(3), keras_3.layers.Dense(units)]
        made = keras_3.Sequential([keras_3.Input((3,)), *layers])
        for variable in made.weights:
            variable.assign(np.full(variable.shape, value))
        return made

    path = saved(model(1.0, 2), tmp_path / "x", ".weights.h5")
    code, again = cv.check(model(0.0, 4), path).fix().code, model(0.0, 4)
    exec(compile(code, "fix.code", "exec"), {"ckpt": again})
    assert [float(v.numpy().mean()) for v in again.weights] == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]


def _with_other_values(keras: Any, units: int = 2) -> Any:
    model = _trained(keras, units)
    of_optimizer = model.optimizer.variables  # a method in Keras 2
    of_optimizer = of_optimizer() if callable(of_optimizer) else of_optimizer
    for variable in (*model.weights, *of_optimizer):
        dtype = getattr(variable.dtype, "name", variable.dtype)
        variable.assign(np.full(variable.shape, -3).astype(dtype))
    return model


def test_layers_that_took_each_others_values_get_their_own(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    def two(first: str, second: str) -> Any:
        layers = keras_3.layers
        both = [layers.Dense(3, name=first), layers.Dense(3, name=second)]
        return trained(keras_3.Sequential([keras_3.Input((3,)), *both]), keras_3.optimizers.SGD())

    old, new = two("a", "b"), two("b", "a")
    path = saved(old, tmp_path / "x", ".weights.h5")
    check = cv.check(new, path)
    assert [finding.kind.value for finding in check.findings] == ["misplaced", "misplaced"]
    check.fix().apply()
    for name in "ab":
        for mine, theirs in zip(
            new.get_layer(name).weights, old.get_layer(name).weights, strict=True
        ):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("form", [".weights.h5", ".keras"])
@pytest.mark.parametrize("is_grouped_now", [True, False])
def test_the_list_of_a_models_layers_is_no_part(
    form: str, is_grouped_now: bool, keras_3: ModuleType, tmp_path: Path
) -> None:
    """Keras lists the layers there whose attributes sort after `layers`: they are no group."""
    layers = keras_3.layers

    class Flat(keras_3.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = layers.Dense(4), layers.LayerNormalization()
            self.third = layers.Dense(4)

        def call(self, x: Any) -> Any:
            return self.third(self.second(self.first(x)))

    class Grouped(keras_3.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.group = keras_3.Sequential([layers.Dense(4), layers.LayerNormalization()])
            self.third = layers.Dense(4)

        def call(self, x: Any) -> Any:
            return self.third(self.group(x))

    def parts(model: Any) -> list[Any]:
        model(np.ones((1, 4), "float32"))
        inner = model.group.layers if isinstance(model, Grouped) else [model.first, model.second]
        return [*inner, model.third]

    flat, grouped = Flat(), Grouped()
    old, new = (flat, grouped) if is_grouped_now else (grouped, flat)
    saved_parts, (first, norm, third) = parts(old), parts(new)
    path = saved(trained(old, keras_3.optimizers.SGD()), tmp_path / "x", form)
    own = [_values(layer.weights) for layer in (first, norm, third)]
    cv.check(new, path).fix().apply()
    theirs = [_values(layer.weights) for layer in saved_parts]
    np.testing.assert_array_equal(_values(norm.weights), theirs[1])
    # Nothing tells the equal layers apart. The call itself puts `third` into `first` of the flat
    # model, which is no evidence for the other one.
    for layer, number in ((third, 2), *([(first, 0)] if is_grouped_now else [])):
        for now, right, before in zip(
            _values(layer.weights), theirs[number], own[number], strict=True
        ):
            assert np.array_equal(now, right) or np.array_equal(now, before)


def test_a_new_head_keeps_its_own_values(keras_3: ModuleType, tmp_path: Path) -> None:
    old, new = _trained(keras_3), _with_other_values(keras_3, units=7)
    path = saved(old, tmp_path / "x", ".keras")
    check = cv.check(new, path)
    assert check.raises is not None
    fix = check.fix().apply()
    assert fix.is_applied
    assert len(fix.pairs) == 31 - 6
    for name in ("body", "norm", "rnn"):
        for mine, theirs in zip(
            new.get_layer(name).weights, old.get_layer(name).weights, strict=True
        ):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    assert (new.get_layer("head").kernel.numpy() == -3).all()


def test_a_fix_that_cannot_read_all_changes_nothing(keras_3: ModuleType, tmp_path: Path) -> None:
    old, new = _trained(keras_3), _with_other_values(keras_3)
    path = saved(old, tmp_path / "x", ".weights.h5")
    fix = cv.check(new, path).fix()
    path.unlink()
    with pytest.raises(cv.CkptVizError):
        fix.apply()
    assert all((value == -3).all() for value in _values(new.weights))


def test_values_in_shards_and_of_bfloat16_are_assigned_by_the_code(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    def model(*, is_changed: bool) -> Any:
        layers, policy = keras_3.layers, "bfloat16"
        sizes = [8, 16, 16, *([3] if is_changed else [])]
        of_layer = [layers.Dense(n, dtype=policy, name=f"d{i}") for i, n in enumerate(sizes)]
        return keras_3.Sequential([keras_3.Input((8,)), *of_layer])

    old, new = model(is_changed=False), model(is_changed=True)
    path = tmp_path / "x.weights.json"
    old.save_weights(path, max_shard_size=0.0000005)
    fix = cv.check(new, path).fix()
    assert fix.code.count("with h5py.File(") > 1
    exec(fix.code, {"ckpt": new})
    assert fix.is_applied
    for mine, theirs in zip(new.weights[: len(old.weights)], old.weights, strict=True):
        np.testing.assert_array_equal(_bits(mine), _bits(theirs))


def _bits(variable: Any) -> Any:
    return np.asarray(variable.numpy()).view(np.uint16)


# --- write


@pytest.mark.parametrize("form", (*FORMS, "checkpoint"))
def test_a_fix_writes_weights_that_the_model_loads(
    keras: ModuleType, keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    old = _trained(keras)
    if form == "checkpoint":
        path: Any = tf.train.Checkpoint(old).write(str(tmp_path / "x"))
    else:
        path = saved(old, tmp_path / "x", form, keras.__name__ == "keras")
    new = _with_other_values(keras_3, units=7)
    fix = cv.check(new, path).fix()
    written = fix.write(tmp_path / "new.weights.h5")
    assert sorted(file.name for file in tmp_path.glob("new*")) == ["new.weights.h5"]
    assert all((value == -3).all() for value in _values(new.weights))
    assert not fix.is_applied
    assert cv.check(new, written).raises is None
    new.load_weights(written)
    assert fix.is_applied
    assert all((value == -3).all() for value in _values(new.get_layer("head").weights))


def test_weights_are_written_beside_no_file_and_for_models_alone(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    import tensorflow as tf

    new = _with_other_values(keras_3)
    path = saved(_trained(keras_3), tmp_path / "x", ".h5")
    fix = cv.check(new, path).fix()
    for name in ("x.keras", "y.h5", "z.weights.json"):
        with pytest.raises(cv.CkptVizError, match=r"expected a path that ends with \.weights\.h5"):
            fix.write(tmp_path / name)
    (tmp_path / "there.weights.h5").touch()
    with pytest.raises(cv.CkptVizError, match="exists already"):
        fix.write(tmp_path / "there.weights.h5")
    program = tf.train.Checkpoint(net=new)
    with pytest.raises(cv.CkptVizError, match="expected a live Keras model"):
        cv.check(program, path).fix().write(tmp_path / "new.weights.h5")
    path.unlink()
    with pytest.raises(cv.CkptVizError):
        fix.write(tmp_path / "new.weights.h5")
    assert [file.name for file in tmp_path.iterdir()] == ["there.weights.h5"]


# --- a program that restores with TensorFlow


@pytest.mark.parametrize("form", FORMS)
def test_a_restore_of_a_file_of_keras_is_fixed_by_names(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    old = _trained(keras_3)
    path = str(saved(old, tmp_path / "x", form))
    for is_by_code in (False, True):
        new = _with_other_values(keras_3)
        ckpt = tf.train.Checkpoint(net=new, optimizer=new.optimizer)
        check = cv.check(ckpt, path)
        assert check.raises is not None
        assert "check.fix().apply()" in str(check)
        if is_by_code:
            exec(check.fix().code, {"ckpt": ckpt})
        else:
            check.fix().apply()
        _assert_state(old, new, has_slots=True)
    of_program = cv.check(ckpt, path).fix().write(tmp_path / "of-program")
    of_file = cv.check(cv.graph(of_program), path).fix()
    assert len(of_file.pairs) == len(cv.check(ckpt, path).fix().pairs)
    other = _with_other_values(keras_3)
    exec(of_file.code, {"ckpt": tf.train.Checkpoint(net=other, optimizer=other.optimizer)})
    _assert_state(old, other, has_slots=True)


# --- forms that generations store


def _recurrent(keras: Any, rnn: Any, gru: Any, **options: Any) -> Any:
    inputs = keras.Input((5, 3))
    x = rnn(4, return_sequences=True, name="rnn")(inputs)
    return keras.Model(inputs, gru(4, name="gru", **options)(x))


def _of_cudnn() -> Any:
    tf_keras = pytest.importorskip("tf_keras")
    from tf_keras.src.layers.rnn.cudnn_gru import CuDNNGRU
    from tf_keras.src.layers.rnn.cudnn_lstm import CuDNNLSTM

    model, rng = _recurrent(tf_keras, CuDNNLSTM, CuDNNGRU), np.random.default_rng(0)
    for variable in model.weights:
        variable.assign(rng.normal(size=variable.shape))
    return model


@pytest.mark.parametrize("form", ("h5", "weights.h5", "checkpoint"))
def test_values_in_the_form_of_cudnn_are_converted_as_keras_2_does(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    import tensorflow as tf
    import tf_keras

    old = _of_cudnn()
    expected = _recurrent(tf_keras, tf_keras.layers.LSTM, tf_keras.layers.GRU)
    old.save_weights(tmp_path / "oracle.h5")
    expected.load_weights(tmp_path / "oracle.h5")
    new = _recurrent(keras_3, keras_3.layers.LSTM, keras_3.layers.GRU)
    if form == "checkpoint":
        path = tf.train.Checkpoint(old).write(str(tmp_path / "x"))
    else:
        path = str(tmp_path / f"x.{form}")
        old.save_weights(path)
    fix = cv.check(new, path).fix()
    assert "4 values transposed for each gate, from the order of cuDNN" in str(fix)
    assert "1 value summed, since cuDNN has two biases: rnn.cell.bias" in str(fix)
    program = {"ckpt": new, "path": path}
    written = fix.write(tmp_path / "new.weights.h5"), fix.write(tmp_path / "new")
    ways = (
        fix.apply,
        lambda: exec(fix.code, program),
        lambda: new.load_weights(written[0]),
        lambda: tf.train.Checkpoint(new).restore(written[1]).expect_partial(),
    )
    for restore in ways:
        for variable in new.weights:
            variable.assign(variable * 0)
        restore()
        for mine, theirs in zip(new.weights, expected.weights, strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_no_rule_converts_cudnn_to_a_gru_that_resets_before(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    layers = keras_3.layers
    new = _recurrent(keras_3, layers.LSTM, layers.GRU, reset_after=False)
    path = saved(_of_cudnn(), tmp_path / "x", ".h5")
    fix = cv.check(new, path).fix()
    assert [name.rpartition(".")[2] for name in fix.missing] == [
        "kernel",
        "recurrent_kernel",
        "bias",
    ]
    before = _values(new.get_layer("gru").weights)
    fix.apply()
    for was, now in zip(before, _values(new.get_layer("gru").weights), strict=True):
        np.testing.assert_array_equal(was, now)


# --- in the explorer, and what a check of the fix shows


@pytest.mark.parametrize("form", FORMS)
def test_the_explorer_draws_the_fix_of_a_load(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    from ckpt_viz.entrances.jupyter.answers import answer
    from ckpt_viz.entrances.jupyter.shown import show_of

    old, new = _trained(keras_3), _with_other_values(keras_3, units=7)
    path = str(saved(old, tmp_path / "x", form))
    shown = show_of(new, path)
    assert shown.overlay is not None
    assert not shown.overlay.has_steps
    description, _ = answer(shown, {"ask": "fix", "guesses": []})
    fix, table = shown.fix, shown.overlay.table
    assert description["fix"]["code"] == fix.code
    assert table.totals.fixed == len(fix.pairs)
    (head,) = (line for line in table.lines if line.saved == line.live == "head")
    assert head.fixed is not None and head.fixed.words == "stays, other shape"
    assert answer(shown, {"ask": "restore"})[0]["text"].startswith(f"Restored {len(fix.pairs)} of ")
    np.testing.assert_array_equal(new.layers[1].kernel, old.layers[1].kernel)
    after = fix.check
    assert after.raises is None
    assert f"restores {len(fix.pairs)} of 31 values" in str(after)


def test_states_without_names_go_by_order_if_keras_loads_the_rest_as_it_should(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    def frozen(rate: float) -> Any:
        layers = keras_3.layers
        dense = [layers.Dense(3, name=f"d{n}", trainable=n == 1) for n in range(3)]
        model = keras_3.Sequential([keras_3.Input((3,)), *dense])
        return trained(model, keras_3.optimizers.Adam(rate))

    old, new = frozen(0.1), frozen(0.2)
    path = saved(old, tmp_path / "x", ".weights.h5")
    fix = cv.check(new, path).fix()
    assert fix.code.startswith("ckpt.load_weights(")
    assert fix.changes == ()
    fix.apply()
    for mine, theirs in zip(new.optimizer.variables, old.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("form", (".keras", ".h5"))
def test_no_state_waits_for_an_optimizer_that_is_not_built(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    path = saved(_trained(keras_3), tmp_path / "x", form)
    new = keras_3.models.clone_model(_trained(keras_3))
    new.compile(keras_3.optimizers.Adam(), "mse")
    keys = {value.checkpoint_key for node in cv.graph(path).nodes for value in node.attributes}
    fix = cv.check(new, path).fix()
    assert "as soon as" not in f"{fix}{fix.code}"
    assert {*fix.pairs}.isdisjoint(fix.unused)
    assert {*fix.pairs, *fix.unused} == keys
    assert len(fix.unused) == 18
    fix.apply()
    new.optimizer.build(new.trainable_variables)
    assert all((state.numpy() == 0).all() for state in new.optimizer.variables[2:])


# --- a fix begins with what load_weights sets


def _with_block(keras: Any) -> Any:
    class Block(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self, **keywords: Any) -> None:
            super().__init__(**keywords)
            self.dense = keras.layers.Dense(3)
            self.norm = keras.layers.LayerNormalization()

        def call(self, x: Any) -> Any:
            return self.norm(self.dense(x))

    return Block


def _sequential(keras: Any, units: int, blocks: int) -> Any:
    body = [keras.layers.Dense(3) for _ in range(blocks)]
    return keras.Sequential([keras.Input((3,)), *body, keras.layers.Dense(units, name="head")])


def _functional(keras: Any, units: int, blocks: int) -> Any:
    x = inputs = keras.Input((3,))
    for number in range(blocks):
        x = keras.layers.Dense(3, name=f"block_{number}")(x)
    return keras.Model(inputs, keras.layers.Dense(units, name="head")(x))


def _subclassed(keras: Any, units: int, blocks: int, *, in_list: bool = False) -> Any:
    make, (head,) = _with_block(keras), [keras.layers.Dense(units)]

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.head = head
            self.made = tuple(f"block_{number}" for number in range(blocks))
            for name in self.made if not in_list else ():
                setattr(self, name, make())
            if in_list:
                self.blocks = [make() for _ in self.made]

        def call(self, x: Any) -> Any:
            for block in self.blocks if in_list else [getattr(self, n) for n in self.made]:
                x = block(x)
            return self.head(x)

    model = Net()
    model(np.zeros((1, 3), "float32"))
    return model


def _listed(keras: Any, units: int, blocks: int) -> Any:
    return _subclassed(keras, units, blocks, in_list=True)


_KINDS = {
    "sequential": _sequential,
    "functional": _functional,
    "subclassed": _subclassed,
    "listed": _listed,
}
_EDITS = {"nothing": (2, 3), "head": (5, 3), "block": (2, 4)}


def _made(keras: Any, kind: str, edit: str) -> Any:
    model = _KINDS[kind](keras, *_EDITS[edit])
    model.compile(keras.optimizers.Adam(0.1), "mse", run_eagerly=True)
    model.fit(np.ones((2, 3)), np.ones((2, model(np.ones((1, 3))).shape[-1])), verbose=0)
    return model


def _state(model: Any) -> list[Any]:
    variables = model.optimizer.variables
    return [*model.weights, *(variables() if callable(variables) else variables)]


def _filled(model: Any, value: float) -> Any:
    for variable in _state(model):
        variable.assign(np.full(variable.shape, value).astype(np.asarray(variable).dtype))
    return model


@pytest.mark.parametrize("edit", _EDITS)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_fix_restores_all_that_load_weights_sets(
    keras: ModuleType, kind: str, edit: str, tmp_path: Path
) -> None:
    path = str(tmp_path / ("x.keras" if kind == "sequential" else "x.weights.h5"))
    old = _filled(_made(keras, kind, "nothing"), 7)
    (old.save if path.endswith(".keras") else old.save_weights)(path)
    new = _filled(_made(keras, kind, edit), -1)
    check = cv.check(new, path)
    fix = check.fix()
    try:
        new.load_weights(path)
    except Exception:
        assert check.raises is not None
    else:
        assert check.raises is None
    by_call = {place for place, v in enumerate(_state(new)) if (np.asarray(v) == 7).all()}
    _filled(new, -1)
    fix.apply()
    by_fix = {place for place, v in enumerate(_state(new)) if (np.asarray(v) == 7).all()}
    assert by_call <= by_fix
    assert not fix.guesses
    if edit == "nothing":
        assert check.findings == ()
        assert by_fix == {*range(len(_state(new)))}
        assert fix.code == f"ckpt.load_weights({path!r})\n"
    _filled(new, -1)
    exec(fix.code, {"ckpt": new})
    by_code = {place for place, v in enumerate(_state(new)) if (np.asarray(v) == 7).all()}
    assert by_code == by_fix


@pytest.mark.parametrize("form", FORMS)
def test_a_new_head_has_one_reason(keras_3: ModuleType, form: str, tmp_path: Path) -> None:
    path = saved(_made(keras_3, "functional", "nothing"), tmp_path / "x", form)
    new = _made(keras_3, "functional", "head")
    for options in (None, {"skip_mismatch": True}):
        check = cv.check(new, path, options=options)
        first = check.findings[0]
        assert first.why.startswith("head.kernel has the shape 3×2 in the file and 3×5 in the")
        assert first.why.endswith("this keeps 2 values." if options else "load_weights raise.")
        told = "".join(f"{finding.why}{finding.remedy}" for finding in check.findings)
        for untrue in ("no weights", "add the new part", "this version", "No object", "Add the"):
            assert untrue not in told
        assert "shape or dtype differs for head" in str(check.fix())


def test_a_part_whose_place_another_one_took_is_in_a_finding(
    keras: ModuleType, tmp_path: Path
) -> None:
    def model(units: int, *names: str) -> Any:
        of_model = [keras.layers.Dense(3, name=name) for name in names[:-1]]
        last = keras.layers.Dense(units, name=names[-1])
        model = keras.Sequential([keras.Input((3,)), *of_model, last])
        return trained(model, keras.optimizers.Adam())

    path = tmp_path / "x.keras"
    model(2, "a", "head").save(path)
    check = cv.check(model(4, "a", "mid", "out"), path)
    told = [finding.why for finding in check.findings]
    assert any("2 saved values of head" in why for why in told)
    assert any("Keras reads head for mid: 3×2 does not fit mid.kernel" in why for why in told)


@pytest.mark.parametrize("form", (".weights.h5", "checkpoint"))
def test_states_go_with_their_variables_though_a_list_has_grown(
    keras: ModuleType, form: str, tmp_path: Path
) -> None:
    """A new layer shifts the states after it, which Keras numbers.

    TensorFlow tracks no list of Keras 3, so a checkpoint has its weights in the optimizer's list.
    """
    layers = keras.layers

    class Net(keras.Model):  # type: ignore[name-defined,misc]
        def __init__(self, number: int, rows: int, units: int) -> None:
            super().__init__()
            self.look_up = layers.Embedding(rows, 4)
            self.blocks = [layers.Dense(4) for _ in range(number)]
            self.head = layers.Dense(units)

        def call(self, x: Any) -> Any:
            x = self.look_up(x)
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    def made(start: float, *sizes: int) -> Any:
        model = Net(*sizes)
        model.compile(keras.optimizers.Adam(), "mse", run_eagerly=True)
        model.fit(np.zeros((2, 3)), np.zeros((2, 3, sizes[-1])), verbose=0)
        listed = model.optimizer.variables
        states = listed() if callable(listed) else listed
        for number, variable in enumerate((*model.trainable_variables, *states)):
            variable.assign(np.full(variable.shape, start + number))
        return model

    def state(model: Any) -> dict[str, list[float]]:
        listed = model.optimizer.variables
        slots = _values(listed)[-2 * len(model.trainable_variables) :]
        names = ["look_up", *[f"{i}" for i in range(2 * len(model.blocks))], "kernel", "bias"]
        return {
            name: [float(slot.flat[0]) for slot in slots[2 * i : 2 * i + 2]]
            for i, name in enumerate(names)
        }

    def checked(model: Any) -> Any:
        if form == ".weights.h5":
            return model
        return ckpt(model=model, optimizer=model.optimizer)

    old, new, by_code = made(1, 2, 5, 2), made(500, 3, 6, 2), made(500, 3, 6, 2)
    path = str(tmp_path / "x.weights.h5")
    if form == ".weights.h5":
        old.save_weights(path)
    else:
        path = checked(old).save(str(tmp_path / "ckpt"))
    own, saved_state = state(new), state(old)
    cv.check(checked(new), path).fix().apply()
    program = checked(by_code)
    exec(cv.check(program, path).fix().code, {"ckpt": program, "path": path})
    kept = {name: own[name] for name in ("look_up", "4", "5")}  # resized, and the new block
    assert state(new) == state(by_code) == saved_state | kept
    for block, was in zip(new.blocks, old.blocks, strict=False):
        np.testing.assert_array_equal(block.kernel, was.kernel)


def test_equal_layers_of_h5_before_a_new_one_keep_their_places(
    keras: ModuleType, tmp_path: Path
) -> None:
    """Keras raises for another number of layers, and sets none of them."""

    def made(start: float, number: int) -> Any:
        layers = [keras.layers.Dense(4) for _ in range(number)]
        model = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(2, name="head")])
        for place, weight in enumerate(model.weights):
            weight.assign(np.full(weight.shape, start + place))
        return model

    old, new = made(1, 2), made(500, 3)
    path = tmp_path / "x.h5"
    old.save(path) if keras.__name__ == "keras" else old.save_weights(path)
    check = cv.check(new, path)
    assert any("tells which weights 2 layers get, and" in one.why for one in check.findings)
    check.fix().apply()
    assert [float(np.ravel(w)[0]) for w in new.weights] == [1, 2, 3, 4, 504, 505, 5, 6]


def test_nobody_added_what_the_format_leaves_out(keras: ModuleType, tmp_path: Path) -> None:
    """An `.h5` file has no metrics, and of weights alone no optimizer."""
    old, new = _trained(keras), _trained(keras, units=3)
    old.save_weights(tmp_path / ("x.weights.h5" if keras.__name__ == "keras" else "x.h5"))
    (path,) = tmp_path.iterdir()
    lines = str(cv.check(new, str(path))).splitlines()
    assert lines[1] == "The head is larger: 2 → 3."


@pytest.mark.parametrize("form", FORMS)
def test_states_that_find_no_optimizer_are_called_the_optimizer(
    keras: Any, form: str, tmp_path: Path
) -> None:
    path = saved(_trained(keras), tmp_path / "w", form)
    layers = keras.layers
    live = keras.Sequential([keras.Input((5, 3)), layers.Dense(4, name="body")])
    for layer in (layers.BatchNormalization(name="norm"), layers.LSTM(3, name="rnn")):
        live.add(layer)
    live.add(layers.Dense(7, name="head"))
    left = str(cv.check(live, path).fix()).partition("the program has no place for ")[2]
    assert left.splitlines()[0] in ("optimizer", "optimizer and metrics")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("units", [2, 3])
def test_what_keras_converts_the_fix_converts(
    keras: Any, form: str, units: int, tmp_path: Path
) -> None:
    def model(dtype: str, units: int = 2) -> Any:
        layers = keras.layers
        made = [layers.Dense(4, name="body", dtype=dtype), layers.Dense(units, dtype=dtype)]
        return keras.Sequential([keras.Input((3,), dtype=dtype), *made])

    path = saved(model("float32"), tmp_path / "w", form)
    by_fix, by_code, by_call = (model("float16", units) for _ in range(3))
    check = cv.check(by_fix, path)
    assert "! Keras converts" in str(check)
    fix = check.fix().apply()
    exec(fix.code, {"ckpt": by_code})
    if units == 2:
        by_call.load_weights(path)
        assert fix.code == f"ckpt.load_weights({str(path)!r})\n"
    with contextlib.suppress(ValueError):  # another head
        by_call.load_weights(path)
    values = [_values(each.layers[0].weights) for each in (by_fix, by_code, by_call)]
    assert all(map(np.array_equal, values[0], values[1]))
    assert len(fix.pairs) == 2 * len(by_fix.layers) - 2 * (units - 2)
    if form != ".h5" or units == 2:  # which sets nothing before it compares all shapes
        assert all(map(np.array_equal, values[0], values[2]))


def _block(keras_3: ModuleType, second: Any) -> Any:
    """Return a layer that holds `first`, a Dense, and `second`, built for width 4."""

    class Block(keras_3.layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = keras_3.layers.Dense(4), second

        def build(self, shape: Any) -> None:
            self.first.build(shape)
            is_attention = isinstance(second, keras_3.layers.MultiHeadAttention)
            self.second.build(*([shape] * (1 + is_attention)))

        def call(self, x: Any) -> Any:
            return x

    made: Any = Block
    return made()


def _holding(keras_3: ModuleType, **layers: Any) -> Any:
    """Return a compiled model with layers in attributes, in this order."""

    class Holding(keras_3.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            for name, layer in layers.items():
                setattr(self, name, layer)

        def build(self, shape: Any) -> None:
            for layer in layers.values():
                layer.build(shape)

        def call(self, x: Any) -> Any:
            return x

    model: Any = Holding()
    model.build((None, 3, 4))
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    for number, variable in enumerate(model.weights):
        variable.assign(np.full(variable.shape, number, "float32"))
    return model


def test_the_order_in_an_optimizer_pairs_no_weights(keras_3: ModuleType, tmp_path: Path) -> None:
    """Attributes in another order number the states of an optimizer anew; weights have paths."""

    def model(*order: str) -> Any:
        dense = keras_3.layers.Dense(4)
        parts = {"part": _block(keras_3, keras_3.layers.LayerNormalization()), "mix": dense}
        return _holding(keras_3, **{name: parts[name] for name in order})

    old, new = model("part", "mix"), model("mix", "part")
    old.save_weights(tmp_path / "x.weights.h5")
    for variable in new.weights:
        variable.assign(np.full(variable.shape, -1.0, "float32"))
    check = cv.check(new, tmp_path / "x.weights.h5")
    assert "also trains" not in str(check)
    check.fix().apply()
    layers = [(m.part.first, m.part.second, m.mix) for m in (old, new)]
    for was, now in zip(*layers, strict=True):
        for a, b in zip(was.weights, now.weights, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("more", [0, 1])
def test_blocks_whose_values_have_numbers_are_renamed_as_wholes(
    keras_3: ModuleType, more: int, tmp_path: Path
) -> None:
    """A file has numbers for the values of attention: their layers do not tell their class."""

    def model(name: str, number: int) -> Any:
        attention = [keras_3.layers.MultiHeadAttention(2, 2) for _ in range(number)]
        blocks = {f"{name}{i}": _block(keras_3, each) for i, each in enumerate(attention)}
        return _holding(keras_3, **blocks)

    old, new = model("layer", 12), model("block", 12 + more)
    old.save_weights(tmp_path / "x.weights.h5")
    check = cv.check(new, tmp_path / "x.weights.h5")
    assert "removed" not in str(check)
    check.fix(guesses=True).apply()
    for number in range(12):
        blocks = getattr(old, f"layer{number}"), getattr(new, f"block{number}")
        for a, b in zip(*(block.weights for block in blocks), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form", FORMS)
def test_layers_that_changed_places_or_names_are_named(
    keras: ModuleType, form: str, tmp_path: Path
) -> None:
    def model(*names: str) -> Any:
        keras.backend.clear_session()
        layers = [keras.layers.Dense(4, name=name) for name in names]
        return keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(2, name="head")])

    if (keras.__name__, form) == ("tf_keras", ".weights.h5"):
        pytest.skip("the file has no names")
    path = tmp_path / f"model{form}"
    was, live = model("a", "b"), model("b", "a")
    was.save_weights(path) if form == ".weights.h5" else was.save(path)
    check = cv.check(live, path)
    by_names = {"by_name": True} if form == ".h5" else {}
    if not by_names:
        assert str(check).splitlines()[1] == "You swapped a and b."
    check.fix().apply()
    for name in "ab":
        np.testing.assert_array_equal(was.get_layer(name).kernel, live.get_layer(name).kernel)
    renamed = cv.check(model("code", "b"), path, options=by_names or None)
    if by_names:
        assert str(renamed).splitlines()[1] == "a seems to be code now."
