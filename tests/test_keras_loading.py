"""The dry run of `load_weights` says what Keras does, for each pair of a file and a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.changed_program import ChangedProgram
from ckpt_viz.live.keras.keras_walk import walk_of
from ckpt_viz.matching.engines.keras_loading import weights_loading
from ckpt_viz.matching.engines.load_outcome import Stays
from tests.support import keras_models, keras_pairs
from tests.support.keras_files import saved_weights
from tests.support.keras_loading import assert_as_keras

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@pytest.mark.parametrize(("library", "name"), keras_models.in_turns(keras_models.models()))
def test_a_model_gets_back_what_it_has_saved(library: str, name: str, tmp_path: Path) -> None:
    saved, live = (keras_models.made(library, name) for _ in range(2))
    assert_as_keras(saved, live, tmp_path)


@pytest.mark.parametrize(("library", "name"), keras_models.in_turns(keras_pairs.pairs()))
def test_a_changed_model_gets_what_the_dry_run_says(
    library: str, name: str, tmp_path: Path
) -> None:
    keras, pair = keras_models.library(library), keras_pairs.pair(name)
    dry, _ = assert_as_keras(pair.saved(keras), pair.live(keras), tmp_path, **pair.options)
    if library == "keras" and "own code" not in name and "trained" not in name:
        assert dry.unknown == ()
        assert dry.raises is not None
        assert Stays.UNKNOWN not in {loaded.stays for loaded in dry.loaded}


def _dry_run(saved: Any, live: Any, directory: Path, **options: Any) -> Any:
    path = directory / "x.weights.h5"
    saved.save_weights(path)
    _, side = walk_of(live)
    return weights_loading(side, saved_weights(path), **options), side


def test_a_list_that_holds_itself_ends_the_walk_through_it() -> None:
    keras = keras_models.library("keras")
    held: list[Any] = [keras.layers.Dense(2)]
    held.append(held)
    holder = type("Holder", (keras.layers.Layer,), {"held": held})
    _, side = walk_of(keras.Sequential([keras.Input((2,)), holder(), keras.layers.Dense(1)]))
    names = [saveable.class_name for saveable in side.saveables]
    assert names == ["Sequential", "Holder", "Dense", "Dense"]


def test_what_own_code_may_change_is_unknown_and_the_rest_is_not(tmp_path: Path) -> None:
    keras = keras_models.library("keras")
    pair = keras_pairs.pair("own code")
    dry, side = _dry_run(pair.saved(keras), pair.live(keras), tmp_path)
    assert [side.saveables[number].class_name for number in dry.unknown] == ["Own"]
    stays = [loaded.stays for loaded in dry.loaded]
    assert stays[:2] == [Stays.UNKNOWN, Stays.UNKNOWN] and Stays.UNKNOWN not in stays[2:]
    assert dry.raises == "ValueError"  # whatever the layer's own code does


def _with_own_variables(keras: Any, number: int, *, built: bool = True) -> Any:
    class Own(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="own")
            self.all = [self.add_weight(shape=(2,), name=f"w{place}") for place in range(number)]

        def call(self, x: Any) -> Any:
            return x

    layer = Own()
    model = keras_models.sequential(keras, layer, keras.layers.Dense(4))
    layer.built = built
    return model


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_the_error_about_a_number_of_variables_is_the_one_of_keras(
    library: str, tmp_path: Path
) -> None:
    """A layer that is not built has an error of its own if it also lacks variables."""
    keras = keras_models.library(library)
    for saved, number, built in ((2, 1, True), (1, 0, True), (2, 1, False), (1, 0, False)):
        live = _with_own_variables(keras, number, built=built)
        dry, outcome = assert_as_keras(_with_own_variables(keras, saved), live, tmp_path)
        (failure,) = dry.failures.values()
        assert dry.raises and failure.text in outcome.text
        assert "was never built" in failure.text or dry.text == outcome.text


def test_a_new_head_leaves_the_rest_overwritten(tmp_path: Path) -> None:
    keras = keras_models.library("keras")
    pair = keras_pairs.pair("a new head")
    dry, side = _dry_run(pair.saved(keras), pair.live(keras), tmp_path)
    assert dry.raises == "ValueError"
    assert [side.saveables[number].name for number in dry.failures] == ["head"]
    assert sum(of.key is not None for of in dry.loaded) == 8 and len(side.variables) == 10
    assert [loaded.stays for loaded in dry.loaded[-2:]] == [Stays.SHAPE, Stays.AFTER_FAILURE]
    assert dry.unused == ("layers/dense_2/vars/0", "layers/dense_2/vars/1")


def test_exchanged_names_are_told(tmp_path: Path) -> None:
    keras = keras_models.library("keras")
    for name, expected in (
        ("named layers exchanged", [("b", "a"), ("a", "b")]),
        ("all renamed", []),
    ):
        pair, path = keras_pairs.pair(name), tmp_path / "x.weights.h5"
        pair.saved(keras).save_weights(path)
        whys = [f.why for f in cv.check(pair.live(keras), path).findings]
        assert whys == [
            f"{taker} gets the values that belong to {owner} by the names in the file: Keras goes "
            "by the order of layers."
            for taker, owner in expected
        ]


def test_casts_are_told(tmp_path: Path) -> None:
    keras = keras_models.library("keras")
    pair = keras_pairs.pair("float16")
    dry, _ = _dry_run(pair.saved(keras), pair.live(keras), tmp_path)
    assert {loaded.cast for loaded in dry.loaded} >= {("float32", "float16")}


def test_skipped_optimizer_state_is_told(tmp_path: Path) -> None:
    keras = keras_models.library("keras")
    pair = keras_pairs.pair("another optimizer")
    dry, side = _dry_run(pair.saved(keras), pair.live(keras), tmp_path)
    (skipped,) = dry.skipped
    assert side.saveables[skipped].name == "sgd"
    assert dry.raises == "" and Stays.OPTIMIZER_SKIPPED in {loaded.stays for loaded in dry.loaded}


def test_what_a_check_of_weights_cannot_do_yet_is_refused(tmp_path: Path) -> None:
    import keras

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    path = tmp_path / "x.weights.h5"
    model.save_weights(path)
    check = cv.check(model, path)
    with pytest.raises(cv.EditError, match="only a restore by objects"):
        ChangedProgram.of(check)
    assert "no steps of load_weights yet" in str(check.steps)
    with pytest.raises(cv.SourceError, match="Keras loads its files by 'load_weights'"):
        cv.check(model, path, method="read")
    with pytest.raises(cv.SourceError, match="expected a dict with 'skip_mismatch' or 'by_name'"):
        cv.check(model, path, options={"strict": True})
    (verdict,) = check.to_json()["verdicts"]
    assert (verdict["name"], verdict["passes"]) == ("load_weights()", True)
    cv.show(check).save_html(tmp_path / "x.html")
    assert "load_weights()" in (tmp_path / "x.html").read_text("utf-8")


def test_automatic_names_of_layers_are_no_evidence(tmp_path: Path) -> None:
    """Keras numbers the layers of a program, so a second model has other numbers."""
    import keras

    def model() -> Any:
        layers = [keras.layers.Dense(3) for _ in range(3)]
        return keras.Sequential([keras.Input((3,)), *layers])

    keras.utils.clear_session()
    keras.layers.Dense(1)
    saved = model()  # dense_1 to dense_3
    for name in ("x.weights.h5", "x.h5"):
        path = tmp_path / name
        (saved.save_weights if "weights" in name else saved.save)(path)
        keras.utils.clear_session()
        live = model()  # dense to dense_2
        check = cv.check(live, path)
        assert check.findings == ()
        assert "misplaced" not in str(check)
        fix = check.fix(guesses=True).apply()  # equal layers without names: only order tells
        assert len(fix.pairs) == 6
        for mine, theirs in zip(live.weights, saved.weights, strict=True):
            assert (mine.numpy() == theirs.numpy()).all()
