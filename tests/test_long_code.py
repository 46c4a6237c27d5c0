"""Forty lines are enough for any model: checks, fixes, their code, and graphs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.short_code.comprehensions import loops
from ckpt_viz.answers.short_code.loops import KeyedExpression, in_dictionary, in_lines
from ckpt_viz.answers.short_code.names_in_runs import in_list
from tests.support.amounts import amount

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
_MOST = 40
_BLOCKS = 24


def _model(seed: float) -> Any:
    """Return a model of many blocks with an optimizer that is not built."""
    import keras

    keras.backend.clear_session()
    init = keras.initializers.Constant(seed)
    layers = [keras.Input((2,)), keras.layers.Dense(2, name="stem", kernel_initializer=init)]
    for n in range(_BLOCKS):
        layers += [
            keras.layers.Dense(2, name=f"block_{n}_in", kernel_initializer=init),
            keras.layers.Dense(2, name=f"block_{n}_out", kernel_initializer=init),
        ]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(), "mse")
    return model


def _saved(model: Any, kind: str, at: Path) -> str:
    import tensorflow as tf

    model.optimizer.build(model.trainable_variables)
    if kind == "ckpt":
        return str(tf.train.Checkpoint(model=model).save(str(at / "ckpt")))
    path = str(at / f"model{kind}")
    (model.save_weights if kind == ".weights.h5" else model.save)(path)
    return path


@pytest.mark.parametrize("kind", ["ckpt", ".weights.h5", ".keras", ".h5"])
def test_forty_lines_are_enough_for_every_kind_of_file(kind: str, tmp_path: Path) -> None:
    import tensorflow as tf

    path, model = _saved(_model(1.0), kind, tmp_path), _model(0.0)
    live = tf.train.Checkpoint(model=model) if kind == "ckpt" else model
    check = cv.check(live, path)
    fix = check.fix()
    texts = (
        str(check),
        str(check.details),
        str(fix),
        fix.code,
        str(cv.graph(live)),
        str(cv.graph(path)),
    )
    assert [len(text.splitlines()) for text in texts if len(text.splitlines()) > _MOST] == []
    if kind != "ckpt":
        assert "ckpt.optimizer.build(ckpt.trainable_variables)" in fix.code
        assert "ckpt.optimizer.build(ckpt.trainable_variables)" in str(fix)
        assert "(ckpt is the model):" in str(fix)
    names = {"ckpt": live, "path": path}
    exec(fix.code, names)
    kernels = [layer.kernel.numpy() for layer in model.layers]
    assert len(kernels) == 2 * _BLOCKS + 1
    np.testing.assert_array_equal(kernels, np.ones_like(kernels))


@pytest.mark.parametrize("kind", ["ckpt", ".weights.h5", ".h5"])
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_forty_lines_are_enough_for_all_states_of_an_optimizer(
    library: str, kind: str, tmp_path: Path
) -> None:
    """Names follow a rule for the blocks, as in MobileNetV2, and others are a list."""
    import tensorflow as tf

    keras = pytest.importorskip(library)

    def model(units: int) -> Any:
        keras.backend.clear_session()
        layers = [keras.Input((2,)), keras.layers.Dense(2, name="stem")]
        for n in range(12):
            layers += [
                keras.layers.Dense(2, use_bias=False, name=f"block_{n}_expand"),
                keras.layers.BatchNormalization(name=f"block_{n}_expand_BN"),
            ]
        made = keras.Sequential([*layers, keras.layers.Dense(units, name="head")])
        made.compile(keras.optimizers.Adam(), "mse")
        made.optimizer.build(made.trainable_variables)
        return made

    def state(made: Any) -> list[Any]:
        return [*made.weights, *made.optimizer.variables]

    old, new, applied = model(3), model(4), model(4)
    for number, variable in enumerate(state(old)):
        value = np.full(variable.shape, number)
        variable.assign(value.astype(np.asarray(variable.numpy()).dtype))

    def subject(made: Any) -> Any:
        is_model = kind != "ckpt"
        return made if is_model else tf.train.Checkpoint(model=made, optimizer=made.optimizer)

    path = str(tmp_path / f"model{kind}")
    if kind == "ckpt":
        path = str(subject(old).save(path))
    else:
        (old.save if kind == ".h5" else old.save_weights)(path)
    cv.check(subject(applied), path).fix().apply()
    code = cv.check(subject(new), path).fix().code
    exec(compile(code, "fix.code", "exec"), {"ckpt": subject(new), "path": path})
    for own, expected in zip(state(new), state(applied), strict=True):
        if "head" not in getattr(own, "path", own.name):
            np.testing.assert_array_equal(own.numpy(), expected.numpy())
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    assert len(lines) <= _MOST, code


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
@pytest.mark.parametrize("is_resized", [True, False])
@pytest.mark.parametrize("kind", [".h5", ".weights.h5", ".keras"])
def test_forty_lines_are_enough_for_a_file_of_keras_with_uneven_blocks(
    library: str, kind: str, is_resized: bool, tmp_path: Path
) -> None:
    """The names of EfficientNetB0 follow no rule, but they are those of its layers."""
    keras = pytest.importorskip(library)

    def model(units: int, *, is_longer: bool) -> Any:
        keras.backend.clear_session()
        layers = [keras.Input((2,)), keras.layers.Dense(2, name="stem_conv")]
        for n, letters in enumerate(["a", "ab", "ab", "abc", "abc", "abcd", "a"], 1):
            for letter in letters:
                block = f"block{n}{letter}"
                layers += [keras.layers.Dense(2, name=f"{block}_{e}") for e in ("se", "expand")]
                layers += [keras.layers.BatchNormalization(name=f"{block}_bn")]
        layers += [keras.layers.Dense(2, name="new")] if is_longer else []
        made = keras.Sequential([*layers, keras.layers.Dense(units, name="head")])
        made.compile(keras.optimizers.Adam(), "mse")
        made.optimizer.build(made.trainable_variables)
        return made

    def state(made: Any) -> list[Any]:
        return [*made.weights, *made.optimizer.variables]

    old = model(3, is_longer=False)
    new, applied = (model(3 + is_resized, is_longer=not is_resized) for _ in range(2))
    for made, start in ((old, 1), (new, 5000), (applied, 5000)):
        for number, variable in enumerate(state(made), start):
            variable.assign(np.full(variable.shape, number, np.asarray(variable.numpy()).dtype))
    path = str(tmp_path / f"model{kind}")
    (old.save_weights if kind == ".weights.h5" else old.save)(path)
    cv.check(applied, path).fix().apply()
    code = cv.check(new, path).fix().code
    exec(compile(code, "fix.code", "exec"), {"ckpt": new})
    for own, expected in zip(state(new), state(applied), strict=True):
        np.testing.assert_array_equal(own.numpy(), expected.numpy())
    lines = code.replace(path, "model").splitlines()
    assert len(lines) <= _MOST, code
    assert max(len(line) for line in lines if not line.startswith("#")) <= 100, code
    assert "for layer in ckpt.layers" in code
    assert kind != ".h5" or "(ckpt.optimizer.variables[i], states[" in code


def test_problems_that_differ_in_numbers_alone_are_told_once(tmp_path: Path) -> None:
    import keras

    def model(width: int) -> Any:
        keras.backend.clear_session()
        x = keras.Input((2,))
        heads = [keras.layers.Dense(width, name=f"head_{n}")(x) for n in range(30)]
        return keras.Model(x, heads)

    path = str(tmp_path / "m.weights.h5")
    model(2).save_weights(path)
    check = cv.check(model(3), path, options={"skip_mismatch": True})
    lines = str(check.details).splitlines()
    assert len(lines) < _MOST
    (same,) = (line for line in lines if line.startswith("      The same of "))
    assert "head_1" in same and same.endswith(" and 27 more.")


@pytest.mark.parametrize(
    "names",
    [
        ["conv", *(f"conv_{n}" for n in range(1, 40)), "head"],
        [f"b{n}_{end}" for n in range(3, 9) for end in ("in", "out", "norm")],
        ["a'1", "a'2", "a'3", "{0}", "{1}", "{2}", "x\\1", "x\\2", "x\\3", "a01", "a02", "a03"],
        ["a1b1", "a1b2", "a2b1", "a2b2", "9" * 5000, "", "1", "2", "3"],
    ],
)
def test_names_in_code_are_these_names(names: list[str]) -> None:
    assert eval("\n".join(in_list(names))) == names


class _Said(str):
    """An expression that says itself, as Python evaluates it."""

    def __getattr__(self, name: str) -> _Said:
        return _Said(f"{self}.{name}")

    def __getitem__(self, place: Any) -> _Said:
        return _Said(f"{self}[{place!r}]")

    def get_layer(self, name: str) -> _Said:
        return _Said(f"{self}.get_layer({name!r})")


def test_code_of_lists_and_dictionaries_has_these_items(seed: int) -> None:
    for draw in range(amount(150, 2000)):
        _assert_code_has_its_items(Random(seed + draw))


def _assert_code_has_its_items(rng: Random) -> None:
    layers = [rng.choice(["a", "b'", "conv", "conv_{n}", "block_{n}_x", "0"]) for _ in range(4)]
    forms = ["ckpt.m[{n}]", "ckpt.blocks[{k}].q.kernel", "ckpt.layers[{n}].bias", "ckpt.x"]
    keys = ["m/{n}/V", "m/{k}", "blocks/block_{k}/q/vars/{n}", "w/{layer}/{layer}/kernel:0"]
    keys += ["{layer}_momentum", "{layer}_velocity", "block/vars/0", "{{", "a\\n", "é/{n}", "0{n}"]

    def item(number: int) -> KeyedExpression:
        fields = {"n": number + rng.choice([0, 0, 0, 7]), "k": 2 * number + 1}
        layer = rng.choice(layers).format(**fields)
        form = rng.choice([*forms, f"ckpt.get_layer({layer!r}).kernel"])
        return KeyedExpression(
            form.format(**fields), rng.choice(keys).format(**fields, layer=layer)
        )

    is_long, few = rng.random() < 0.7, slice(rng.randint(1, 3))
    forms, keys = rng.sample(forms, 3)[few], rng.sample(keys, 4)[few]
    items = [item(number) for number in range(40 if is_long else 9)]
    made = eval("\n".join(["[", *in_lines(loops(items)), "]"]), {"ckpt": _Said("ckpt")})
    assert Counter(made) == Counter(map(tuple, items))
    by_key = [loop for loop in loops({item.text: item for item in items}.values()) if loop.clause]
    for loop in by_key:
        parts = eval(in_dictionary(loop), {"ckpt": _Said("ckpt")})
        assert parts == {item.text: item.expression for item in loop.placed}


def test_code_reaches_a_variable_by_the_public_attribute_of_another_name() -> None:
    """tf_keras tracks the mean of a Normalization as `mean`, and the layer has `adapt_mean`."""
    keras = pytest.importorskip("tf_keras")
    layer = keras.layers.Normalization()
    layer.adapt(np.ones((2, 3)))
    graph = cv.graph(keras.Sequential([keras.Input((3,)), layer]))
    places = {graph.accessor(node, "m") for node in range(len(graph.nodes))}
    assert {"m.layers[0].adapt_mean", "m.layers[0].adapt_variance"} <= places
