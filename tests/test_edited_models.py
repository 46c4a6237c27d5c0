"""Models that were edited after saving: the check warns if a value goes wrong, and only then.

Here are a few, with the results of their advice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.matching.changes.kind import Kind
from tests.programs.keras_programs import LIBRARIES
from tests.programs.wrong_values import law_of
from tests.support.amounts import amount
from tests.support.programs import ckpt, differently, keras_2, keras_3, keras_3_adam, save_any
from tests.support.told import told


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("library", LIBRARIES)
def test_findings_and_wrong_values_agree(library: str, seed: int) -> None:
    keras_3()
    pytest.importorskip(library)
    law_of(library).hold(seed, amount(2, 16))


# --- the advice


def chain(names: str, layers: dict[str, Any]) -> Any:
    """Return a model of layers by the letters of a string; those that are missing are made."""
    keras = keras_3()
    for name in names:
        if name not in layers:
            make = keras.layers.Dense if name.islower() else keras.layers.Dropout
            layers[name] = make(*([3] if name.islower() else [0.5]), name=f"fc_{name}")
    return keras.Sequential([keras.Input((3,)), *[layers[name] for name in names]])


def weights(layers: dict[str, Any]) -> dict[str, Any]:
    return {name: layers[name].get_weights() for name in layers if name.islower()}


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return all(np.array_equal(a, b) for n in left for a, b in zip(left[n], right[n], strict=True))


def _of_kind(check: cv.RestoreCheck, kind: Kind) -> list[Any]:
    return [finding for finding in told(check) if finding.kind is kind]


_MOVED = (Kind.INSERTED, Kind.REMOVED)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize(("was", "now"), [("abc", "XaYbc"), ("Xabc", "abXc"), ("aXbYc", "abc")])
def test_a_shifted_model_is_restored_through_the_sequence_that_was_saved(
    was: str, now: str, tmp_path: Path
) -> None:
    before: dict[str, Any] = {}
    path = save_any(tmp_path, differently(ckpt(model=chain(was, before))))
    layers: dict[str, Any] = {}
    live = ckpt(model=chain(now, layers))
    check = cv.check(live, path)
    assert [one for kind in _MOVED for one in _of_kind(check, kind)]
    live.restore(path).expect_partial()
    assert not _same(weights(before), weights(layers))
    ckpt(model=chain(was, layers)).restore(path).assert_consumed()
    assert _same(weights(before), weights(layers))


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("now", ["abc", "XaYbc"])
def test_an_optimizer_of_other_variables_is_built_as_it_was_saved(now: str, tmp_path: Path) -> None:
    def training(model: Any) -> Any:
        return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))

    before: dict[str, Any] = {}
    path = save_any(tmp_path, differently(training(chain("abc", before))))
    layers: dict[str, Any] = {}
    model = chain(now, layers)
    layers["a"].trainable = False
    check = cv.check(training(model), path)
    remedies = [str(one.remedy) for one in _of_kind(check, Kind.MISPLACED)]
    alone = ckpt(model=model)
    # Without the optimizer, a model that was shifted meets other values by its own indices.
    assert any("restore the model without the optimizer" in one for one in remedies) == (
        now == "abc"
    )
    assert remedies or check.findings[0].kind in _MOVED
    alone.restore(path).expect_partial()
    assert _same(weights(before), weights(layers)) == (now == "abc")
    layers["a"].trainable = True
    training(model).restore(path).assert_consumed()
    assert _same(weights(before), weights(layers))


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("keras", [keras_3, keras_2])
def test_a_renamed_layer_is_no_finding_though_one_for_another_looks_the_same(
    keras: Any, tmp_path: Path
) -> None:
    """Only the person knows which edit it was: neither the file nor the program shows it.

    One person renames the second layer of three, another inserts `fc_new` and removes the last
    layer. Both end with the same program: Keras numbers the layers without a name in the order of
    their creation. Every value is right for the first person, two are wrong for the second.
    """

    def model(*names: str | None) -> Any:
        keras().backend.clear_session()
        layers = [keras().layers.Dense(3, name=name) for name in names]
        return keras().Sequential([keras().Input((3,)), *layers])

    path = save_any(tmp_path, differently(ckpt(model=model(None, None, None))))
    renamed, edited = model(None, "fc_new", None), model(None, None, None)
    inserted = model(edited.layers[0].name, "fc_new", edited.layers[1].name)
    assert [one.name for one in renamed.layers] == [one.name for one in inserted.layers]
    assert cv.check(ckpt(model=renamed), path).findings == ()
    assert cv.check(ckpt(model=inserted), path).findings == ()
