"""The dry run of `load_weights` for `.h5` says what Keras 3 does, by order and by name."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from ckpt_viz.live.keras_walk import layers_of
from ckpt_viz.matching.keras_h5_loading import h5_loading
from tests.support import keras_models, keras_pairs
from tests.support.keras_files import saved_layers
from tests.support.keras_loading import assert_checked, compare, keras_loading, tag_file

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
# Keras writes their values in a form that `.h5` does not have, or no such file at all.
_WITHOUT = ("bfloat16", "own code", "not built", "trained", "optimizer", "cycle", "lead to")


@pytest.mark.parametrize(
    "name",
    [n for lib, n in keras_pairs.pairs() if lib == "keras" and not any(w in n for w in _WITHOUT)],
)
def test_keras_does_what_the_dry_run_says(name: str, tmp_path: Path) -> None:
    import h5py
    from keras.src.legacy.saving import legacy_h5_format

    keras, pair = keras_models.library("keras"), keras_pairs.pair(name)
    path, live = tmp_path / "x.h5", pair.live(keras)
    with h5py.File(path, "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, pair.saved(keras))
    tags = tag_file(path)
    walk, side = layers_of(live)
    for by_name, skips in product((False, True), repeat=2):
        options = {"by_name": by_name, "skip_mismatch": skips}
        dry = h5_loading(side, saved_layers(path), **options)
        assert_checked(live, path, dry, options)
        compare(dry, keras_loading(live, walk.variables, path, tags, **options), warns=False)
