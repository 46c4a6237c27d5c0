"""Each value that `load_weights` does not put into its own object is in one finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.restore_table.rows import Destination
from tests.support import keras_models

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
# These are about the call, or about values that it has set.
_BESIDE = (Kind.PARTIAL_OVERWRITE, Kind.UNKNOWABLE, Kind.DTYPE)
_EDITS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "another head": {"units": 5},
    "a head of another name": {"head": "out"},
    "a layer more": {"names": ("a", "b", "c")},
    "a layer less": {"names": ("a",)},
    "without bias": {"use_bias": False},
    "layers in another order": {"names": ("b", "a")},
    "an optimizer that is not built": {"is_built": False},
    "no optimizer": {"is_compiled": False},
}


def _model(
    keras: Any,
    *,
    names: tuple[str, ...] = ("a", "b"),
    head: str = "head",
    units: int = 2,
    use_bias: bool = True,
    is_compiled: bool = True,
    is_built: bool = True,
) -> Any:
    body = [keras.layers.Dense(3, name=name, use_bias=use_bias) for name in names]
    last = keras.layers.Dense(units, name=head)
    model = keras.Sequential([keras.Input((3,)), *body, last])
    if is_compiled:
        model.compile(keras.optimizers.Adam(), "mse")
    if is_compiled and is_built:
        model.optimizer.build(model.trainable_variables)
    return model


@pytest.mark.parametrize("form", (".keras", ".weights.h5", ".h5"))
@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_each_value_that_is_not_here_is_in_one_finding(
    library: str, form: str, tmp_path: Path
) -> None:
    keras, path = keras_models.library(library), tmp_path / f"x{form}"
    saved = _model(keras)
    saved.save_weights(path) if "weights" in form else saved.save(path)
    for edit, options in _EDITS.items():
        check = cv.check(_model(keras, **options), path)
        findings = [f for f in check.findings if f.kind not in _BESIDE]
        nodes: Counter[int | None] = Counter(node for f in findings for node in f.nodes)
        objects: Counter[int | None] = Counter(obj for f in findings for obj in f.objects)
        for row in check.table.rows:
            if row.plain.place is Destination.HERE or (
                row.fixed is not None and row.fixed.place is Destination.HERE
            ):
                continue
            number = objects[row.live] if row.saved is None else nodes[row.saved]
            assert number == 1, (edit, row, [f.why for f in findings])


@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_an_optimizer_that_is_not_built_has_no_place_for_states_of_h5(
    library: str, tmp_path: Path
) -> None:
    keras, path = keras_models.library(library), tmp_path / "x.h5"
    saved = _model(keras)
    saved.save(path)
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"is_built": False}, "Build the optimizer first"),
        ({"is_compiled": False}, "Load the whole model by keras.saving.load_model"),
    )
    for options, advice in cases:
        (finding,) = cv.check(_model(keras, **options), path).findings
        assert finding.kind is Kind.OPTIMIZER_MISSING
        assert "values of the file stay there" in finding.why
        assert str(finding.remedy).startswith(advice)
    whole = _model(keras)
    (finding,) = cv.check(whole, path).findings
    assert "check.fix().apply(), which restores these values, too" in str(finding.remedy)
    cv.check(whole, path).fix().apply()
    states = (model.optimizer.variables for model in (saved, whole))
    of_saved, of_whole = (own() if callable(own) else own for own in states)
    for was, now in zip(of_saved, of_whole, strict=True):
        np.testing.assert_array_equal(was.numpy(), now.numpy())
