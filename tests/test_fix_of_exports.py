"""The fix of a file from Keras' `export()`: its lists go to the model by the names of variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import ckpt

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def _model(keras: Any, names: tuple[str | None, ...], units: int = 2) -> Any:
    layers, shape = keras.layers, (3,)
    body, norm, head = names
    return keras.Sequential(
        [
            keras.Input(shape),
            layers.Dense(4, name=body),
            layers.BatchNormalization(name=norm),
            layers.Dense(4),
            layers.Dense(units, name=head),
        ]
    )


def _values(model: Any) -> list[Any]:
    return [np.asarray(variable.numpy()) for variable in model.variables]


def _exported(keras: Any, at: Path, names: tuple[str | None, ...]) -> tuple[str, list[Any]]:
    """Return the prefix of an exported model whose values are all different, and these values."""
    model = _model(keras, names)
    count = 0
    for variable in model.variables:
        size = int(np.prod(variable.shape))
        variable.assign(np.arange(count, count + size, dtype="float32").reshape(variable.shape))
        count += size
    model.export(str(at / "exported"))
    return str(at / "exported" / "variables" / "variables"), _values(model)


@pytest.mark.parametrize("names", [("body", "norm", "head"), (None, None, None)])
@pytest.mark.parametrize("holds_model", [True, False])
def test_every_variable_gets_its_own_value(
    keras: Any, names: tuple[str | None, ...], holds_model: bool, tmp_path: Path
) -> None:
    prefix, saved = _exported(keras, tmp_path, names)
    model = _model(keras, names)
    live = ckpt(model=model) if holds_model else ckpt(model)
    check = cv.check(live, prefix)
    assert "Keras' export() stored the variables in lists, without the model." in str(check)
    check.fix().apply()
    assert all(map(np.array_equal, saved, _values(model)))


def test_another_head_keeps_its_own_value(keras: Any, tmp_path: Path) -> None:
    prefix, saved = _exported(keras, tmp_path, ("body", "norm", "head"))
    model = _model(keras, ("body", "norm", "head"), units=5)
    live = ckpt(model=model)
    fix = cv.check(live, prefix).fix()
    scope: dict[str, Any] = {"ckpt": live, "path": prefix}
    exec(fix.code, scope)
    same = [np.array_equal(a, b) for a, b in zip(saved, _values(model), strict=True)]
    of_head = ["head" in getattr(v, "path", v.name) for v in model.variables]
    assert same == [not is_of_head for is_of_head in of_head]


def test_a_list_of_the_program_takes_the_list(keras: Any, tmp_path: Path) -> None:
    prefix, saved = _exported(keras, tmp_path, ("body", "norm", "head"))
    model = _model(keras, ("body", "norm", "head"))
    check = cv.check(ckpt(variables=[*model.variables]), prefix)
    assert check.table.restored == len(saved)


def test_the_parameters_of_an_export_count_once(keras: Any, tmp_path: Path) -> None:
    prefix, saved = _exported(keras, tmp_path, ("body", "norm", "head"))
    (root,) = (line for line in str(cv.graph(prefix)).splitlines() if line.startswith("(root)"))
    assert f" {sum(value.size for value in saved)} parameters" in root
