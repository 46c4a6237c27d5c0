"""Programs with several models, each with an optimizer, whose names change."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import ckpt, keras_2, keras_3, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
_NUMBERS = count(1)


def _model(keras: Any, *widths: int) -> Any:
    return keras.Sequential([keras.Input((4,)), *map(keras.layers.Dense, widths)])


def _trained(keras: Any, *models: Any) -> Any:
    """Return an optimizer of these models, with states of their own."""
    optimizer = keras.optimizers.Adam()
    variables = [variable for model in models for variable in model.trainable_variables]
    optimizer.build(variables)
    for state in optimizer.variables() if callable(optimizer.variables) else optimizer.variables:
        if len(state.shape) > 0:
            state.assign(np.full(state.shape, next(_NUMBERS), "float32"))
    return optimizer


def _states(optimizer: Any) -> list[float]:
    """Return the first number of each state that has a shape."""
    variables = optimizer.variables
    every = variables() if callable(variables) else variables
    return [float(np.ravel(state)[0]) for state in every if len(state.shape) > 0]


def _filled(model: Any) -> Any:
    for weight in model.weights:
        weight.assign(np.full(weight.shape, next(_NUMBERS), "float32"))
    return model


def _numbers(model: Any) -> list[float]:
    return [float(np.ravel(weight)[0]) for weight in model.weights]


def _cycle(keras: Any, names: tuple[str, str]) -> dict[str, Any]:
    models = {name: _filled(_model(keras, 8, 4)) for name in names}
    return models | {f"{name}_optimizer": _trained(keras, m) for name, m in models.items()}


@KERAS
@pytest.mark.parametrize("names", [("G_AB", "G_BA"), ("G_BA", "G_AB"), ("one", "two")])
def test_equal_models_and_their_optimizers_are_guesses_together(
    keras: Any, names: tuple[str, str], tmp_path: Path
) -> None:
    was = _cycle(keras(), ("generator_g", "generator_f"))
    path = ckpt(**was).save(str(tmp_path / "ckpt"))
    now = _cycle(keras(), names)
    own = {name: _numbers(now[name]) for name in names}
    live = ckpt(**now)
    check = cv.check(live, path)
    assert str(check).count("? stays, a guess") == len(was)
    assert len(check.overlay.table.guessed) == len(was)  # a question for each, as a whole
    check.fix().apply()
    assert {name: _numbers(now[name]) for name in names} == own
    check.fix(guesses=True).apply()
    for name in names:
        (source,) = (other for other in was if _same(was, other, now, name))
        assert _states(now[f"{name}_optimizer"]) == _states(was[f"{source}_optimizer"])


@KERAS
@pytest.mark.parametrize("name", ["average", "a_copy"])
def test_an_optimizer_tells_its_model_from_a_copy(keras: Any, name: str, tmp_path: Path) -> None:
    def program(trained: str, copy: str) -> dict[str, Any]:
        models = {key: _filled(_model(keras(), 8, 4)) for key in (trained, copy)}
        return models | {"optimizer": _trained(keras(), models[trained])}

    was, now = program("model", "ema"), program("net", name)
    path = ckpt(**was).save(str(tmp_path / "ckpt"))
    check = cv.check(ckpt(**now), path)
    assert "model to net" in str(check)
    check.fix().apply()
    for old, new in (("model", "net"), ("ema", name)):
        assert _numbers(now[new]) == _numbers(was[old])
    assert _states(now["optimizer"]) == _states(was["optimizer"])


@KERAS
def test_an_optimizer_tells_more_than_a_word_of_a_name(keras: Any, tmp_path: Path) -> None:
    def program(trained: str, **others: Any) -> dict[str, Any]:
        model = _filled(_model(keras(), 8, 4))
        return {trained: model, "optimizer": _trained(keras(), model), **others}

    was = program("critic")
    path = ckpt(**was).save(str(tmp_path / "ckpt"))
    now = program("value", target_critic=_filled(_model(keras(), 8, 4)))
    own = _numbers(now["target_critic"])
    cv.check(ckpt(**now), path).fix(guesses=True).apply()
    assert _numbers(now["value"]) == _numbers(was["critic"])
    assert _numbers(now["target_critic"]) == own
    assert _states(now["optimizer"]) == _states(was["optimizer"])


@KERAS
def test_each_of_two_optimizers_tells_its_model(keras: Any, tmp_path: Path) -> None:
    def program(*names: str) -> dict[str, Any]:
        models = {name: _filled(_model(keras(), 8, 4)) for name in names}
        optimizers = zip(("first_adam", "second_adam"), models.values(), strict=True)
        return models | {name: _trained(keras(), model) for name, model in optimizers}

    was, now = program("f", "g"), program("to_zebras", "to_horses")
    path = ckpt(**was).save(str(tmp_path / "ckpt"))
    cv.check(ckpt(**now), path).fix().apply()
    for (old, before), (new, after) in zip(was.items(), now.items(), strict=True):
        numbers = _states if old.endswith("_adam") else _numbers
        assert numbers(after) == numbers(before), new


def _same(was: dict[str, Any], source: str, now: dict[str, Any], name: str) -> bool:
    is_model = not source.endswith("_optimizer")
    return is_model and _numbers(was[source]) == _numbers(now[name])


@KERAS
def test_models_that_exchanged_their_keywords_are_whole(keras: Any, tmp_path: Path) -> None:
    def parts(first: str, second: str) -> dict[str, Any]:
        models = {first: _filled(_model(keras(), 8, 4)), second: _filled(_model(keras(), 8, 1))}
        return models | {f"{name}_opt": _trained(keras(), m) for name, m in models.items()}

    was = parts("generator", "discriminator")
    path = ckpt(**was).save(str(tmp_path / "ckpt"))
    now = parts("discriminator", "generator")
    fix = cv.check(ckpt(**now), path).fix()
    fix.apply()
    for old, new in (("generator", "discriminator"), ("discriminator", "generator")):
        assert _numbers(now[new]) == _numbers(was[old])
        assert _states(now[f"{new}_opt"]) == _states(was[f"{old}_opt"])
    assert not fix.missing and not fix.unused


@pytest.mark.parametrize("is_first", [True, False])
def test_lists_that_exchanged_their_attributes_are_whole(is_first: bool, tmp_path: Path) -> None:
    def holder(exchanged: bool) -> Any:
        lists = [[var(np.full((n, n), next(_NUMBERS))) for _ in range(n)] for n in (3, 2)]
        first, second = lists if exchanged is is_first else lists[::-1]
        return module(convs=first, denses=second)

    was, now = holder(False), holder(True)
    path = ckpt(net=was).save(str(tmp_path / "ckpt"))
    cv.check(ckpt(net=now), path).fix().apply()
    for old, new in ((was.convs, now.denses), (was.denses, now.convs)):
        assert [float(v[0, 0]) for v in new] == [float(v[0, 0]) for v in old]


@KERAS
def test_an_optimizer_that_trains_for_two_has_the_states_of_both(
    keras: Any, tmp_path: Path
) -> None:
    def models() -> dict[str, Any]:
        return {"body": _filled(_model(keras(), 4)), "head": _filled(_model(keras(), 2))}

    was = models()
    optimizers = [_trained(keras(), model) for model in was.values()]
    path = ckpt(**was, opt_body=optimizers[0], opt_head=optimizers[1]).save(str(tmp_path / "ckpt"))
    now = models()
    optimizer = _trained(keras(), *now.values())
    check = cv.check(ckpt(**now, optimizer=optimizer), path)
    check.fix().apply()
    assert sorted(_states(optimizer)) == sorted(_states(optimizers[0]) + _states(optimizers[1]))
    assert "removed opt_head" in str(check) and "opt_head.iteration and" not in str(check)


@KERAS
@pytest.mark.parametrize("names", [("opt_body", "opt_head"), ("optimizer", "second")])
def test_the_parts_of_an_optimizer_have_its_states_and_its_steps(
    keras: Any, names: tuple[str, str], tmp_path: Path
) -> None:
    def models() -> dict[str, Any]:
        return {"body": _filled(_model(keras(), 4, 4)), "head": _filled(_model(keras(), 2))}

    was = models()
    optimizer = _trained(keras(), *was.values())
    optimizer.iterations.assign(7)
    path = ckpt(**was, optimizer=optimizer).save(str(tmp_path / "ckpt"))
    states = sorted(_states(optimizer))

    def program() -> tuple[list[Any], Any]:
        now = models()
        parts = [_trained(keras(), model) for model in now.values()]
        return parts, ckpt(**now, **dict(zip(names, parts, strict=True)))

    (parts, live), (others, other) = program(), program()
    check = cv.check(live, path)
    assert f"{names[1]} is new and trains" in str(check)
    check.fix().apply()
    exec(check.fix().code, {"ckpt": other, "path": path})
    for first, second in (parts, others):
        assert sorted(_states(first) + _states(second)) == states
        assert int(first.iterations) == int(second.iterations) == 7


@KERAS
@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
def test_nothing_is_copied_across_the_gates_of_a_recurrent_layer(
    keras: Any, layer: str, tmp_path: Path
) -> None:
    def model(units: int, kind: str) -> Any:
        layers = keras().layers
        recurrent = getattr(layers, kind)(units, name="rnn")
        return keras().Sequential([keras().Input((3, 4)), recurrent, layers.Dense(2)])

    path = ckpt(model=model(4, "LSTM")).save(str(tmp_path / "ckpt"))
    check = cv.check(ckpt(model=model(6, layer)), path)
    assert "guesses=['model.rnn" not in str(check.fix())
    with pytest.raises(cv.NoSuchNodeError, match="names no guess"):
        check.fix(guesses=["model.rnn.cell"])


def test_no_state_goes_to_a_variable_whose_own_value_is_a_guess(tmp_path: Path) -> None:
    keras = keras_2()

    def program(*widths: int) -> tuple[Any, Any, Any]:
        first, head = _filled(_model(keras, 4)), _filled(_model(keras, 2))
        inner = _filled(_model(keras, *widths)) if widths[1:] else keras.layers.Dense(4)
        inner.build((None, 4))
        optimizer = _trained(keras, first, inner, head)
        live = ckpt(net=module(first=first, inner=inner, head=head), optimizer=optimizer)
        return inner, optimizer, live

    path = program(4)[2].save(str(tmp_path / "ckpt"))
    inner, optimizer, live = program(4, 4)
    own = _numbers(inner), _states(optimizer)[4:12]
    cv.check(live, path).fix().apply()
    assert (_numbers(inner), _states(optimizer)[4:12]) == own
