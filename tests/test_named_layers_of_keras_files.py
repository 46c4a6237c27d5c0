"""A name that a person gave to a layer decides for the whole layer, with all that is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
FORMS = (".weights.h5", ".keras", ".h5")


@pytest.fixture
def keras_3() -> ModuleType:
    return pytest.importorskip("keras")  # type: ignore[no-any-return]


# --- layers with other layers in them, each with a name


def _attention(keras: Any, name: str) -> Callable[[Any], Any]:
    layer = keras.layers.MultiHeadAttention(2, 2, name=name)
    return lambda x: layer(x, x)


def _both_ways(keras: Any, name: str) -> Callable[[Any], Any]:
    layer: Callable[[Any], Any] = keras.layers.Bidirectional(
        keras.layers.GRU(2, return_sequences=True), name=name
    )
    return layer


def _nested(keras: Any, name: str) -> Callable[[Any], Any]:
    layers = [keras.layers.Dense(4, name=inner) for inner in ("first", "second")]
    model: Callable[[Any], Any] = keras.Sequential([keras.Input((3, 4)), *layers], name=name)
    return model


def _encoder(keras: Any, name: str) -> Callable[[Any], Any]:
    class Encoder(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self, **keywords: Any) -> None:
            super().__init__(**keywords)
            self.attention = keras.layers.MultiHeadAttention(2, 2)
            self.norm = keras.layers.LayerNormalization()
            self.mix = keras.layers.Dense(4)

        def build(self, shape: Any) -> None:
            self.attention.build(shape, shape)
            self.norm.build(shape)
            self.mix.build(shape)

        def call(self, x: Any) -> Any:
            return self.mix(self.norm(x + self.attention(x, x)))

    return Encoder(name=name)


_KINDS: Mapping[str, Callable[[Any, str], Callable[[Any], Any]]] = {
    "attention": _attention,
    "both ways": _both_ways,
    "nested": _nested,
    "encoder": _encoder,
}
_EDITS = {
    "first removed": (("e0", "e1"), ("e1",)),
    "one in front": (("e0", "e1"), ("pre", "e0", "e1")),
    "swapped": (("e0", "e1"), ("e1", "e0")),
}


def _numbered(model: Any, first: int) -> Any:
    """Give each variable of a model a value of its own."""
    for number, variable in enumerate(model.weights, first):
        dtype = getattr(variable.dtype, "name", variable.dtype)
        variable.assign(np.full(variable.shape, number).astype(dtype))
    return model


def _model(keras: Any, kind: str, names: Sequence[str], first: int) -> Any:
    keras.backend.clear_session()
    x = inputs = keras.Input((3, 4))
    for name in names:
        x = _KINDS[kind](keras, name)(x)
    return _numbered(keras.Model(inputs, keras.layers.Dense(2, name="head")(x)), first)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("edit", _EDITS)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_named_layer_gets_all_of_its_own_values(
    keras_3: ModuleType, kind: str, edit: str, form: str, tmp_path: Path
) -> None:
    before, after = _EDITS[edit]
    old, new = _model(keras_3, kind, before, 1), _model(keras_3, kind, after, 1000)
    path = str(tmp_path / f"x{form}")
    (old.save_weights if form == ".weights.h5" else old.save)(path)
    others = [v for v in new.weights if new.layers[1] is new.get_layer(after[0])]
    check = cv.check(new, path)
    text = str(check)
    fix = check.fix()
    assert not fix.guesses
    fix.apply()
    for name in {*before} & {*after} | {"head"}:
        pairs = zip(old.get_layer(name).weights, new.get_layer(name).weights, strict=True)
        for was, now in pairs:
            if "seed" not in now.path:
                np.testing.assert_array_equal(was, now, f"{name}: {now.path}")
    assert form == ".h5" or "↷" in text
    assert {"pre"} - {*after} or (np.asarray(others[0]) >= 1000).all()


@pytest.mark.parametrize("form", FORMS)
def test_a_new_recurrent_layer_in_front_takes_no_values(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    """The named layer stands behind a larger one now, so one of its values has another shape."""

    def model(first: int, *names: str) -> Any:
        keras_3.backend.clear_session()
        layers = keras_3.layers
        x = inputs = keras_3.Input((3, 2))
        for name in names:
            x = layers.LSTM(4, name=name, return_sequences=True)(x)
        return _numbered(keras_3.Model(inputs, layers.Dense(2, name="head")(x)), first)

    def values(model: Any, name: str) -> Mapping[str, Any]:
        layer = model.get_layer(name)
        return {v.path: np.asarray(v) for v in layer.weights if "seed" not in v.path}

    old, new = model(1, "rnn"), model(1000, "pre", "rnn")
    before = {name: values(new, name) for name in ("pre", "rnn")}
    path = tmp_path / f"x{form}"
    (old.save_weights if form == ".weights.h5" else old.save)(path)
    cv.check(new, path).fix().apply()
    saved, mine = values(old, "rnn"), values(new, "rnn")
    for name, value in mine.items():
        has_fit = saved[name].shape == value.shape
        np.testing.assert_array_equal(value, saved[name] if has_fit else before["rnn"][name])
    for name, value in values(new, "pre").items():
        np.testing.assert_array_equal(value, before["pre"][name])
    if form == ".h5":
        by_name = {"by_name": True, "skip_mismatch": True}
        assert "restores 4 of 8 values.\n" in str(cv.check(new, path, options=by_name))
        new = model(1000, "pre", "rnn")
        new.load_weights(path, **by_name)
        assert all((np.asarray(v) >= 1000).all() for v in new.get_layer("pre").weights)
        assert sum((np.asarray(v) < 1000).all() for v in new.weights) == 4


def _rows(keras: Any, names: Sequence[str | None], first: int, *, has_norm: bool = False) -> Any:
    """Return equal layers and a smaller head; nobody named those of the name None."""
    keras.backend.clear_session()
    of_keras = keras.layers
    norm = [of_keras.BatchNormalization()] if has_norm else []
    layers = [of_keras.Dense(4, name=name) for name in names]
    head = of_keras.Dense(2, name=names[-1] and "head")
    return _numbered(keras.Sequential([keras.Input((4,)), *norm, *layers, head]), first)


def _saved(model: Any, path: Path) -> str:
    (model.save_weights if path.name.endswith(".weights.h5") else model.save)(path)
    return str(path)


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a", "b", "c"], ["a", "z"]),
        (["b", "c"], ["z"]),
    ],
)
def test_no_order_of_an_h5_tells_which_of_equal_named_layers_is_gone(
    library: str, before: list[str | None], after: list[str | None], tmp_path: Path
) -> None:
    """The call raises before it sets a value."""
    keras = pytest.importorskip(library)
    old, new = _rows(keras, before, 1), _rows(keras, after, 1000)
    check = cv.check(new, _saved(old, tmp_path / "x.h5"))
    fix = check.fix()
    assert fix.guesses and "?" in str(check).splitlines()[1]
    fix.apply()
    known = {*before} & {*after} - {None}
    for name, layer in zip(after, new.layers, strict=False):
        assert all((np.asarray(value) >= 1000).all() != (name in known) for value in layer.weights)
    for was, now in zip(old.layers[-1].weights, new.layers[-1].weights, strict=True):
        np.testing.assert_array_equal(np.asarray(now), np.asarray(was))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_layer_of_another_kind_in_front_moves_no_layer_of_an_h5(
    library: str, tmp_path: Path
) -> None:
    """Nobody named the layers, and the file has as many of each kind as before."""
    keras = pytest.importorskip(library)
    old, new = _rows(keras, [None] * 2, 1), _rows(keras, [None] * 2, 1000, has_norm=True)
    fix = cv.check(new, _saved(old, tmp_path / "x.h5")).fix()
    assert not fix.guesses
    fix.apply()
    for was, now in zip(old.weights, [w for y in new.layers[1:] for w in y.weights], strict=True):
        np.testing.assert_array_equal(np.asarray(now), np.asarray(was))


@pytest.mark.filterwarnings("ignore")
def test_an_h5_tells_a_named_layer_of_parts_without_names_behind_a_new_one(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    class Block(keras_3.layers.Layer):  # type: ignore[misc,name-defined]
        def __init__(self, name: str) -> None:
            super().__init__(name=name)
            self.parts = [keras_3.layers.Dense(4) for _ in range(2)]

        def build(self, shape: Any) -> None:
            for part in self.parts:
                part.build(shape)

        def call(self, x: Any) -> Any:
            return self.parts[1](self.parts[0](x))

    def model(first: int, *names: str) -> Any:
        keras_3.backend.clear_session()
        return _numbered(keras_3.Sequential([keras_3.Input((4,)), *map(Block, names)]), first)

    old, new = model(1, "b1", "b2"), model(1000, "b0", "b1", "b2")
    fix = cv.check(new, _saved(old, tmp_path / "x.h5")).fix()
    assert not fix.guesses
    fix.apply()
    for name in ("b1", "b2"):
        for was, now in zip(old.get_layer(name).weights, new.get_layer(name).weights, strict=True):
            np.testing.assert_array_equal(np.asarray(now), np.asarray(was))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
@pytest.mark.parametrize("options", [{}, {"by_name": True}])
def test_variables_of_an_h5_go_to_their_names_if_a_layer_makes_them_in_another_order(
    library: str, options: Mapping[str, bool], tmp_path: Path
) -> None:
    """The call gives them to a layer in turn, and raises nothing."""
    keras = pytest.importorskip(library)

    def model(first: int, *names: str) -> Any:
        class Scale(keras.layers.Layer):  # type: ignore[misc,name-defined]
            def build(self, shape: Any) -> None:
                for name in names:
                    setattr(self, name, self.add_weight(shape=(4,), name=name))

            def call(self, x: Any) -> Any:
                return x * self.scale + self.shift

        keras.backend.clear_session()
        return _numbered(keras.Sequential([keras.Input((4,)), Scale(name="own")]), first)

    old, new, plain = (
        model(first, *names)
        for first, names in (
            (1, ("scale", "shift")),
            (1000, ("shift", "scale")),
            (1000, ("shift", "scale")),
        )
    )
    path = _saved(old, tmp_path / "x.h5")
    plain.load_weights(path, **options)
    assert (np.asarray(plain.layers[-1].shift) == np.asarray(old.layers[-1].scale)).all()
    check = cv.check(new, path, options=options)
    assert "puts 2 values into other places" in str(check)
    check.fix().apply()
    for name in ("scale", "shift"):
        saved, now = (np.asarray(getattr(made.layers[-1], name)) for made in (old, new))
        np.testing.assert_array_equal(now, saved)


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
@pytest.mark.parametrize("number", [2, 4])
def test_which_of_equal_layers_without_names_is_new_or_gone_is_a_question(
    library: str, number: int, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)
    old, new = _rows(keras, [None] * 3, 1), _rows(keras, [None] * number, 1000)
    check = cv.check(new, _saved(old, tmp_path / "x.weights.h5"))
    state = "One of 3 alike layers is gone" if number == 2 else "One of 4 alike layers is new"
    assert str(check).splitlines()[1] == f"{state}. Which one?"


@pytest.mark.parametrize("form", (".weights.h5", ".keras"))
@pytest.mark.parametrize("after", (["a", "z"], ["a", "z", "new", "c"]))
def test_a_renamed_layer_beside_one_that_is_gone_or_new_has_a_warning(
    keras_3: ModuleType, after: list[str | None], form: str, tmp_path: Path
) -> None:
    """The call gives it the values of its place, which may be those of another one."""
    old, new = _rows(keras_3, ["a", "b", "c"], 1), _rows(keras_3, after, 1000)
    check = cv.check(new, _saved(old, tmp_path / f"x{form}"))
    assert str(check).splitlines()[1].endswith("Which one?")
    (warning,) = (each for each in check.findings if "layers with other names" in each.why)
    assert "which weights 1 layer gets" in warning.why


# --- states of optimizers go with their variables, or stay


def _compiled(keras: Any, model: Any, first: int, **options: Any) -> Any:
    """Give each variable of a model and its Adam a value of its own."""
    model.compile(keras.optimizers.Adam(**options), "mse")
    model.optimizer.build(model.trainable_variables)
    for number, variable in enumerate([*model.weights, *model.optimizer.variables], first):
        dtype = getattr(variable.dtype, "name", variable.dtype)
        variable.assign(np.full(variable.shape, number).astype(dtype))
    return model


def _states(model: Any) -> Mapping[int, Sequence[float]]:
    """Return the values of the two states of each trained variable, by the variable's own."""
    (_, _, *states) = (float(np.asarray(v).flat[0]) for v in model.optimizer.variables)
    own = [int(np.asarray(v).flat[0]) for v in model.trainable_variables]
    return {value: states[2 * i : 2 * i + 2] for i, value in enumerate(own)}


def _of_attributes(keras: Any, names: Sequence[str], first: int) -> Any:
    keras.backend.clear_session()

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name in names:
                setattr(self, name, keras.layers.Dense(3 if name == "head" else 4))

        def call(self, x: Any) -> Any:
            for name in names:
                x = getattr(self, name)(x)
            return x

    model = Net()
    model(np.zeros((1, 4)))
    return _compiled(keras, model, first)


def _assert_states_follow(old: Any, new: Any) -> None:
    """Assert that no variable has the saved states of another one."""
    saved = _states(old)
    for value, states in _states(new).items():
        for place, state in enumerate(states):
            is_own = state >= 1000
            assert is_own or (value in saved and state == saved[value][place])


@pytest.mark.parametrize(
    "names", (["inp", "fc1", "head"], ["fc1", "dropped", "head"], ["inp", "fc2", "fc3", "head"])
)
def test_states_whose_owner_no_file_tells_are_guesses_in_a_changed_model(
    keras_3: ModuleType, names: list[str], tmp_path: Path
) -> None:
    old, new = (
        _of_attributes(keras_3, each, first)
        for each, first in ((["fc1", "fc2", "head"], 1), (names, 1000))
    )
    old.save_weights(tmp_path / "x.weights.h5")
    cv.check(new, tmp_path / "x.weights.h5").fix().apply()
    assert any(state < 1000 for states in _states(new).values() for state in states)
    _assert_states_follow(old, new)


@pytest.mark.parametrize("form", (".weights.h5", ".keras"))
def test_a_layer_of_a_class_of_ones_own_keeps_its_values_if_one_is_gone(
    keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    """As many values as before: a new layer in front has as many as the others have lost."""

    class Own(keras_3.layers.Layer):  # type: ignore[misc,name-defined]
        def __init__(self, *, has_scale: bool, name: str) -> None:
            super().__init__(name=name)
            self.has_scale = has_scale

        def build(self, shape: Any) -> None:
            self.w = self.add_weight(shape=(4, 4), name="w")
            self.g = self.add_weight(shape=(4,), name="g") if self.has_scale else 1
            self.b = self.add_weight(shape=(4,), name="b")

        def call(self, x: Any) -> Any:
            return x @ self.w * self.g + self.b

    def model(first: int, *, has_scale: bool) -> Any:
        keras_3.backend.clear_session()
        own = [Own(has_scale=has_scale, name=name) for name in ("own0", "own1")]
        before = [] if has_scale else [keras_3.layers.Dense(4, name="pre")]
        head = keras_3.layers.Dense(3, name="head")
        return _compiled(
            keras_3, keras_3.Sequential([keras_3.Input((4,)), *before, *own, head]), first
        )

    old, new = model(1, has_scale=True), model(1000, has_scale=False)
    path = tmp_path / f"x{form}"
    (old.save_weights if form == ".weights.h5" else old.save)(path)
    fix = cv.check(new, path).fix()
    fix.apply()
    for name in ("own0", "own1"):
        np.testing.assert_array_equal(new.get_layer(name).w, old.get_layer(name).w)
    assert all((np.asarray(v) >= 1000).all() for v in new.get_layer("pre").weights)
    _assert_states_follow(old, new)


def test_no_layer_inside_takes_the_values_of_one_whose_name_is_elsewhere(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    """The second of two recurrent layers has another name, and the first one's name another class.

    The call gives it the values of the first one, without an error for them.
    """

    def model(first: int, *made: tuple[str, str]) -> Any:
        keras_3.backend.clear_session()
        layers, x = keras_3.layers, (inputs := keras_3.Input((3, 4)))
        for kind, name in made:
            if kind == "LSTM":
                x = layers.LSTM(4, return_sequences=True, name=name)(x)
            else:
                x = layers.BatchNormalization(name=name)(x)
        return _compiled(keras_3, keras_3.Model(inputs, layers.Dense(2, name="out")(x)), first)

    norm = "BatchNormalization"
    old = model(1, (norm, "first"), ("LSTM", "gamma"), ("LSTM", "delta"))
    new = model(1000, (norm, "first"), (norm, "gamma"), ("LSTM", "zeta"))
    path = tmp_path / "x.weights.h5"
    old.save_weights(path)
    cv.check(new, path).fix().apply()
    assert all((np.asarray(v) >= 1000).all() for v in new.get_layer("zeta").cell.weights)
    _assert_states_follow(old, new)


@pytest.mark.parametrize(
    "options", ({"amsgrad": True}, {"use_ema": True}, {"gradient_accumulation_steps": 2})
)
@pytest.mark.parametrize("form", (".weights.h5", ".keras"))
def test_an_optimizer_with_a_further_slot_keeps_the_others(
    keras_3: ModuleType, form: str, options: Mapping[str, Any], tmp_path: Path
) -> None:
    def model(first: int, **options: Any) -> Any:
        keras_3.backend.clear_session()
        layers = [keras_3.layers.Dense(4, name="body"), keras_3.layers.Dense(2, name="head")]
        model = keras_3.Sequential([keras_3.Input((3,)), *layers])
        return _compiled(keras_3, model, first, **options)

    def moments(model: Any) -> Mapping[str, float]:
        states = model.optimizer.variables
        ends = ("momentum", "velocity")
        return {v.path: float(np.asarray(v).flat[0]) for v in states if v.path.endswith(ends)}

    old, new = model(1), model(1000, **options)
    path = tmp_path / f"x{form}"
    (old.save_weights if form == ".weights.h5" else old.save)(path)
    cv.check(new, path).fix().apply()
    assert moments(new) == moments(old)


def test_a_guess_of_a_value_with_a_number_goes_to_the_same_number(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    """A quantized layer also has a scale, which has the shape of the bias."""

    def model() -> Any:
        keras_3.backend.clear_session()
        return keras_3.Sequential([keras_3.Input((3,)), keras_3.layers.Dense(4, name="a")])

    old, new = model(), model()
    old.get_layer("a").bias.assign(np.full(4, 0.5))
    old.quantize("int8")
    old.save_weights(tmp_path / "x.weights.h5")
    cv.check(new, tmp_path / "x.weights.h5").fix(guesses=True).apply()
    np.testing.assert_array_equal(new.get_layer("a").bias, np.full(4, 0.5))


@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_a_layer_at_its_path_keeps_its_kernel_if_its_bias_is_gone(
    library: str, tmp_path: Path
) -> None:
    """Nobody named the layers, and another one without a bias is new behind it."""
    keras = pytest.importorskip(library)

    def model(first: int, *, has_norm: bool) -> Any:
        keras.backend.clear_session()
        of_keras = keras.layers
        layers = [of_keras.Conv2D(2, 1), of_keras.Conv2D(4, 1, use_bias=not has_norm)]
        norm = [of_keras.BatchNormalization()] if has_norm else []
        return _numbered(
            keras.Sequential([keras.Input((3, 3, 1)), *layers, *norm, of_keras.Dense(2)]), first
        )

    old, new = model(1, has_norm=False), model(1000, has_norm=True)
    old.save_weights(tmp_path / "x.weights.h5")
    cv.check(new, tmp_path / "x.weights.h5").fix().apply()
    for was, now in ((0, 0), (1, 1), (2, 3)):
        for value, other in zip(old.layers[was].weights, new.layers[now].weights, strict=False):
            np.testing.assert_array_equal(np.asarray(other), np.asarray(value))
