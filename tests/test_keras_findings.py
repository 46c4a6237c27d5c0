"""Each value that `load_weights` does not put into its own object is in one finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.restore_table.rows import Destination, Why
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
        ({"is_compiled": False}, f"Load the whole model by {library}.saving.load_model"),
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


@pytest.mark.parametrize("form", (".weights.h5", ".h5"))
@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_one_count_of_what_stays_until_the_optimizer_is_built(
    library: str, form: str, tmp_path: Path
) -> None:
    """What Keras makes for a larger head never fits, whoever counts."""
    keras, path = keras_models.library(library), tmp_path / f"x{form}"
    saved = _model(keras)
    saved.save_weights(path) if "weights" in form else saved.save(path)
    model = _model(keras, units=5, is_built=False)
    check = cv.check(model, path)
    fix = check.fix()
    staying = [row for row in check.table.rows if row.why_left is Why.NOT_BUILT]
    assert f"the optimizer is not built yet: {len(staying)} of " in str(check).splitlines()[1]
    assert f"{len(staying)} values of the optimizer stay in the file" in str(fix)
    assert str(check).count("Build the optimizer first") == 1
    before = {*fix.pairs}
    if form == ".h5":
        (finding,) = (f for f in check.findings if f.kind is Kind.OPTIMIZER_MISSING)
        slots = sum(".head" not in key and "optimizer" in key for key in before)
        assert f"restores {len(staying) + slots} of these values, too" in str(finding.remedy)
    model.optimizer.build(model.trainable_variables)
    after = cv.check(model, path).fix()
    assert len(after.pairs) == len(before) + len(staying)


@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_an_optimizer_that_has_all_its_values_needs_no_build(library: str, tmp_path: Path) -> None:
    keras, path = keras_models.library(library), tmp_path / "x.h5"
    _model(keras, is_built=False).save(path)  # compiled, and never trained
    model = _model(keras, is_built=False)
    check = cv.check(model, path)
    assert "Build the optimizer" not in f"{check}{check.fix()}"
    model.optimizer.iterations.assign(7)
    check.fix().apply()
    assert int(model.optimizer.iterations.numpy()) == 0


@pytest.mark.parametrize("form", (".weights.h5", ".h5", ".keras"))
@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_a_model_that_is_not_built_is_to_be_built_before_a_load(
    library: str, form: str, tmp_path: Path
) -> None:
    keras, path = keras_models.library(library), str(tmp_path / f"x{form}")
    if library == "keras" and form == ".h5":
        pytest.skip("Keras 3 saves no class of a program in this form")
    one = np.ones((1, 4), np.float32)

    class Net(keras.Model):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = keras.layers.Dense(4)
            self.head = keras.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.head(self.body(inputs))

    saved, model = Net(), Net()
    for net in (saved, model):
        net.compile("adam", "mse")
    saved(one)
    saved.optimizer.build(saved.trainable_variables)
    (saved.save if form == ".keras" else saved.save_weights)(path)
    check = cv.check(model, path)
    fix = check.fix()
    staying = sum(row.why_left is Why.NOT_BUILT for row in check.table.rows)
    sentence = str(check).splitlines()[1]
    assert sentence.startswith(f"The model is not built yet: {staying} of ")
    every = f"{check}{fix}{fix.code}"
    assert "removed" not in every and "no place" not in every and "restores all" not in every
    assert "  call ckpt on data once" in str(fix)
    before = len(fix.pairs)
    fix.apply()
    model(one)
    model.optimizer.build(model.trainable_variables)
    again = cv.check(model, path).fix()
    assert len(again.pairs) == before + staying
    again.apply()
    np.testing.assert_array_equal(model.head.kernel.numpy(), saved.head.kernel.numpy())


@pytest.mark.parametrize("form", (".weights.h5", ".keras", ".h5"))
@pytest.mark.parametrize("optimizer", ("Adam", "SGD"))
@pytest.mark.parametrize("library", ("keras", "tf_keras"))
@pytest.mark.parametrize("library_now", ("keras", "tf_keras"))
def test_the_advice_to_build_an_optimizer_is_given_where_the_build_helps(
    library: str, library_now: str, optimizer: str, form: str, tmp_path: Path
) -> None:
    """Keras numbers the states in its files, and another Keras numbers others."""
    keras, path = keras_models.library(library_now), str(tmp_path / f"x{form}")
    saved = _model(keras_models.library(library))
    saved.save_weights(path) if "weights" in form else saved.save(path)
    model = _model(keras, is_built=False)
    model.compile(getattr(keras.optimizers, optimizer)(), "mse")
    check = cv.check(model, path)
    fix = check.fix()
    before, advice, findings = len(fix.pairs), str(fix), str(check.details)
    model.optimizer.build(model.trainable_variables)
    after = len(cv.check(model, path).fix().pairs)
    assert ("Then check again" in advice) == (after > before)
    assert ("Build the optimizer" in findings) <= (after > before)


@pytest.mark.parametrize("library", ("keras", "tf_keras"))
@pytest.mark.parametrize("library_now", ("keras", "tf_keras"))
def test_the_keras_that_wrote_a_whole_model_loads_it(
    library: str, library_now: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "x.h5")
    _model(keras_models.library(library)).save(path)
    (finding,) = (
        finding
        for finding in cv.check(_model(keras_models.library(library_now)), path).findings
        if finding.kind is Kind.OPTIMIZER_MISSING
    )
    called = str(finding.remedy).partition("by ")[2].removesuffix("(path).")
    package, _, function = called.partition(".saving.")
    load = getattr(keras_models.library(package).saving, function)
    assert package == library  # Keras 3 reads little of what Keras 2 wrote
    assert load(path, compile=False).count_params() == 32


def test_what_only_an_optimizer_holds_is_a_line_of_the_optimizer(tmp_path: Path) -> None:
    keras, path = keras_models.library("tf_keras"), str(tmp_path / "x.h5")
    _model(keras, names=("a",)).save_weights(path)
    lines = str(cv.check(_model(keras), path)).splitlines()
    (line,) = (line for line in lines if "optimizer" in line and "keeps its own" in line)
    assert "optimizer.iteration" not in line and line.endswith("9 values")


def test_a_guess_is_not_why_a_load_raises(tmp_path: Path) -> None:
    """Keras looks under the number of the class, and finds nothing there."""
    keras = keras_models.library("keras")

    class Net(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self, names: list[str]) -> None:
            super().__init__()
            for name in names:
                setattr(self, name, keras.layers.Dense({"head": 3, "out": 5}.get(name, 8)))
            self.order = tuple(names)

        def call(self, values: Any) -> Any:
            for name in self.order:
                values = getattr(self, name)(values)
            return values

    old, new = Net(["a", "head"]), Net(["a", "mid", "out"])
    for model in (old, new):
        model(np.zeros((1, 8), np.float32))
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
    path = str(tmp_path / "m.weights.h5")
    old.save_weights(path)
    whys = [finding.why for finding in cv.check(new, path).findings]
    causes = [why for why in whys if "makes load_weights raise" in why]
    assert len(causes) == 2 and all("no weights for" in why for why in causes)
    with pytest.raises(ValueError, match="could not be loaded"):
        new.load_weights(path)
