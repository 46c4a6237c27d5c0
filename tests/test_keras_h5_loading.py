"""The dry run of `load_weights` for `.h5` says what Keras does, by order and by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs import keras_files_to_load
from ckpt_viz.live.keras.keras_walk import layers_of
from ckpt_viz.matching.engines.keras_h5_loading import NEEDS_BY_NAME, h5_loading
from ckpt_viz.matching.restore_table.rows import Destination, Why
from tests.support import keras_models, keras_pairs
from tests.support.keras_files import saved_layers
from tests.support.keras_loading import (
    assert_as_the_call_that_skips,
    assert_checked,
    compare,
    keras_loading,
    tag_file,
)

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
# Keras writes their values in a form that `.h5` does not have, or no such file at all.
_WITHOUT = ("bfloat16", "own code", "trained", "optimizer", "cycle", "lead to")


@pytest.mark.parametrize(
    ("library", "name"),
    keras_models.in_turns(
        pair for pair in keras_pairs.pairs_of_h5() if not any(w in pair[1] for w in _WITHOUT)
    ),
)
def test_keras_does_what_the_dry_run_says(library: str, name: str, tmp_path: Path) -> None:
    keras, pair = keras_models.library(library), keras_pairs.pair(name)
    path = tmp_path / "x.h5"
    _save_as_h5(library, pair.saved(keras), path)
    tags, live = tag_file(path), pair.live(keras)
    walk, side = layers_of(live)
    for by_name, skips in product((False, True), repeat=2):
        options = {"by_name": by_name, "skip_mismatch": skips}
        dry = h5_loading(side, saved_layers(path), **options)
        assert_checked(live, path, dry, options)
        compare(dry, keras_loading(live, walk.variables, path, tags, **options), warns=False)
        assert_as_the_call_that_skips(live, walk.variables, path, tags, dry, options)


def _save_as_h5(library: str, model: Any, path: Path) -> None:
    import h5py

    if library == "keras":
        from keras.src.legacy.saving import legacy_h5_format as saving
    else:
        from tf_keras.src.saving.legacy import hdf5_format as saving
    with h5py.File(path, "w") as file:
        saving.save_weights_to_hdf5_group(file, model)


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_skipped_layer_is_there_with_another_shape(library: str, tmp_path: Path) -> None:
    keras, path = keras_models.library(library), tmp_path / "x.h5"
    _save_as_h5(library, _two(keras, 3), path)
    check = cv.check(_two(keras, 5), path, options={"by_name": True, "skip_mismatch": True})
    assert check.raises is None
    assert [finding.why for finding in check.findings] == [
        "head.kernel has the shape 4×3 in the file and 4×5 in the model; this keeps 2 values."
    ]
    assert "sets 2 of 4" in str(check.details)


def test_the_matrices_of_lora_count_as_variables_of_a_layer(tmp_path: Path) -> None:
    keras, path = keras_models.library("keras"), tmp_path / "x.h5"
    _save_as_h5("keras", _two(keras, 3), path)
    live = _two(keras, 3)
    live.layers[0].enable_lora(2)
    check = cv.check(live, path, options={"by_name": True, "skip_mismatch": True})
    assert [finding.why for finding in check.findings] == [
        "body has 4 variables in the model and 2 in the file; this keeps 4 values."
    ]
    assert "sets 2 of 6" in str(check.details)


def test_keras_2_skips_by_name_alone(tmp_path: Path) -> None:
    keras, path = keras_models.library("tf_keras"), tmp_path / "x.h5"
    _save_as_h5("tf_keras", _two(keras, 3), path)
    (finding,) = cv.check(_two(keras, 5), path, options={"skip_mismatch": True}).findings
    assert NEEDS_BY_NAME in finding.why
    assert str(finding.remedy) == "Give load_weights by_name=True, too, or leave out skip_mismatch."


def test_an_error_of_one_layer_explains_why_keras_2_loads_nothing(tmp_path: Path) -> None:
    keras, path = keras_models.library("tf_keras"), tmp_path / "x.h5"
    _save_as_h5("tf_keras", _two(keras, 3), path)
    check = cv.check(_two(keras, 3, use_bias=False), path)
    assert [finding.why for finding in check.findings] == [
        "head has 1 variable in the model and 2 in the file; this makes load_weights raise."
    ]


@pytest.mark.parametrize(("name", "form"), [("LSTM of cuDNN", "bias"), ("keras 1", "version")])
def test_what_only_the_loader_of_keras_2_converts_is_deferred(
    name: str, form: str, tmp_path: Path
) -> None:
    import h5py

    keras, path = keras_models.library("tf_keras"), tmp_path / "x.h5"
    pair = keras_pairs.pair("a convolution of one name" if form == "version" else name)
    _save_as_h5("tf_keras", (pair.live if form == "version" else pair.saved)(keras), path)
    if form == "version":
        with h5py.File(path, "r+") as file:
            del file.attrs["keras_version"]
    check = cv.check(pair.live(keras), path)
    assert check.raises is None
    (finding,) = check.findings
    assert finding.kind.value == "unknowable"
    assert finding.why.startswith("Keras 2 converts the saved values of ")
    assert finding.why.endswith(", which have an older form: only a load shows the result.")


def _of_many_kinds(keras: Any) -> Any:
    """Return a model with the layers that Keras 2 looks at more closely."""
    layers = keras.layers
    turned = layers.GRU(3, reset_after=False, go_backwards=True)
    steps, images = keras.Input((6, 4)), keras.Input((6, 6, 3))
    inner = keras.Sequential([keras.Input((6, 4)), layers.BatchNormalization(), layers.GRU(3)])
    outputs = [
        *(layer(steps) for layer in (inner, layers.LSTM(3), layers.Conv1D(3, 2))),
        layers.Bidirectional(layers.LSTM(3), backward_layer=turned)(steps),
        layers.Conv2D(3, 3)(images),
        layers.TimeDistributed(layers.Conv2D(3, 3))(layers.Reshape((1, 6, 6, 3))(images)),
    ]
    return keras.Model([steps, images], outputs)


def _with_own_variable(*, trainable: bool) -> Callable[[Any], Any]:
    def make(keras: Any) -> Any:
        inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)])
        inner.add_weight(shape=(4,), initializer="random_normal", trainable=trainable)
        return keras.Sequential([keras.Input((4,)), inner])

    return make


def _convolution(data_format: str) -> Callable[[Any], Any]:
    return lambda keras: keras.Sequential(
        [keras.Input((3, 3, 3)), keras.layers.Conv2D(3, 3, data_format=data_format)]
    )


@pytest.mark.slow
def test_keras_2_changes_the_values_that_a_check_defers_and_no_others(tmp_path: Path) -> None:
    """A file without a version is of Keras 1, whose kernels had their axes in another order."""
    import h5py

    keras, path = keras_models.library("tf_keras"), tmp_path / "x.h5"
    unchanged = []
    for make, has_version in (
        (_of_many_kinds, True),
        (_with_own_variable(trainable=True), True),
        (_with_own_variable(trainable=False), True),
        (_convolution("channels_last"), False),
        (_convolution("channels_first"), True),
        (_convolution("channels_first"), False),
    ):
        saved, live = make(keras), make(keras)
        _save_as_h5("tf_keras", saved, path)
        if not has_version:
            with h5py.File(path, "r+") as file:
                del file.attrs["keras_version"]
        check = cv.check(live, path)
        live.load_weights(path)
        both = zip(live.weights, saved.weights, strict=True)
        unchanged.append(all((mine.numpy() == theirs.numpy()).all() for mine, theirs in both))
        assert [f.kind.value for f in check.findings] == ["unknowable"] * (not unchanged[-1])
    assert unchanged == [True, False, False, True, True, False]


def _two(keras: Any, units: int, **options: Any) -> Any:
    layers = keras.layers
    head = layers.Dense(units, name="head", **options)
    return keras.Sequential([keras.Input((3,)), layers.Dense(4, name="body"), head])


def _with_optimizer(keras: Any, units: int, layers: int = 1) -> Any:
    every = [keras.layers.Dense(3, name=f"body{number}") for number in range(layers)]
    head = keras.layers.Dense(units, name="head")
    model = keras.Sequential([keras.Input((3,)), *every, head])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    return model


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize(
    ("units", "layers", "why"), [(5, 1, Why.SHAPE), (3, 1, None), (3, 2, Why.AFTER_ERROR)]
)
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_no_cell_tells_of_a_value_what_the_call_does_not_do(
    library: str, units: int, layers: int, why: Why | None, tmp_path: Path
) -> None:
    """It reads no optimizer, whatever its weights do, and no value of another number of layers."""
    keras, path = keras_models.library(library), str(tmp_path / "x.h5")
    _with_optimizer(keras, 3).save(path)
    check = cv.check(_with_optimizer(keras, units, layers), path)
    table = check.table
    assert table.saved is not None
    names = table.live.names
    places = {names.place_or_state(row.live): row for row in table.rows if row.live is not None}
    of_optimizer = [
        row
        for name, row in places.items()
        if ("state" in name or "optimizer" in name) and row.saved is not None
    ]
    assert len(of_optimizer) > 8
    assert {row.plain.why for row in of_optimizer} == {Why.NOT_REACHED}
    assert {row.plain.meant.place for row in of_optimizer} == {Destination.STAYS}
    head = places["head.kernel"].plain
    assert head.why == why
    assert (head.meant.place is Destination.HERE) == (why is None)
    if why is Why.AFTER_ERROR:
        assert head.would is None and "after the error" in str(check)


def test_a_layer_removed_from_a_nested_model_is_named(tmp_path: Path) -> None:
    """Keras 2 gives its values to the next layer of the nested model, without a message."""
    keras = keras_models.library("tf_keras")

    def model(*names: str) -> Any:
        inner = keras.Sequential([keras.layers.Dense(4, name=name) for name in names], "block")
        return keras.Sequential([keras.Input((4,)), inner, keras.layers.Dense(3, name="head")])

    old, new = model("first", "mid", "third"), model("first", "third")
    _save_as_h5("tf_keras", old, tmp_path / "x.h5")
    check = cv.check(new, tmp_path / "x.h5")
    assert "You removed mid." in str(check) and "into block.third" in str(check)
    check.fix().apply()
    assert (new.layers[0].layers[1].kernel == old.layers[0].layers[2].kernel).numpy().all()


@pytest.mark.parametrize("absent", ["group", "inner group", "data set"])
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_file_that_lacks_what_it_lists_is_damaged(
    library: str, absent: str, tmp_path: Path
) -> None:
    import h5py

    keras, path = keras_models.library(library), tmp_path / "x.h5"
    _save_as_h5(library, _two(keras, 3), path)
    with h5py.File(path, "r+") as file:
        kernel = f"body/{file['body'].attrs['weight_names'].astype(str)[0]}"
        del file[{"group": "body", "inner group": kernel.rpartition("/")[0]}.get(absent, kernel)]
    tags, live = tag_file(path), _two(keras, 3)
    walk, side = layers_of(live)
    options_of_calls: list[dict[str, bool]] = [{}, {"by_name": True}]
    if library == "keras":
        options_of_calls += [{"skip_mismatch": True}]
    for options in options_of_calls:
        dry = h5_loading(side, keras_files_to_load.saved_layers(cv.graph(path)), **options)
        assert dry.raises == "KeyError"
        assert_checked(live, path, dry, options)
        compare(dry, keras_loading(live, walk.variables, path, tags, **options), warns=False)
