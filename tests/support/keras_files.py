"""What h5py reads from a `.weights.h5`: the oracle of graphs, and the saved side of loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.matching.engines.h5_sides import SavedLayers
from ckpt_viz.matching.engines.keras_sides import VARS, SavedWeights


def read_file(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the values of all data sets by path, and the attributes of all groups by path."""
    import h5py

    values: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {"": {}}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            values[name] = _value(item)
        else:
            groups[name] = dict(item.attrs)

    with h5py.File(path) as file:
        file.visititems(visit)
    return values, groups


def _value(dataset: Any) -> Any:
    if dataset.attrs.get("dtype") == "bfloat16":
        import ml_dtypes

        return np.array(dataset, dtype=ml_dtypes.bfloat16)
    return np.array(dataset)


def dtype_of(value: Any) -> str:
    return "string" if value.dtype.kind in "OSU" else str(value.dtype.name)


def saved_weights(path: Path) -> SavedWeights:
    """Return the saved side of `load_weights` for a file."""
    values, groups = read_file(path)
    own: dict[str, dict[str, Stored | None]] = {}
    names = {}
    for group, attributes in groups.items():
        above, _, name = f"/{group}".rpartition("/")
        if name == VARS:
            owner = above.removeprefix("/")
            own[owner] = {}
            if "name" in attributes:
                names[owner] = str(attributes["name"])
    for group in groups:
        above, _, name = f"/{group}".rpartition("/")
        container = above.removeprefix("/")
        if container == VARS or container.endswith(f"/{VARS}"):
            own[container.removesuffix(VARS).removesuffix("/")][name] = None
    for key, value in values.items():
        above, _, name = f"/{key}".rpartition("/")
        owner = above.removeprefix("/").removesuffix(VARS).removesuffix("/")
        own[owner][name] = Stored(dtype_of(value), value.shape)
    return SavedWeights(frozenset(groups), own, names)


def saved_layers(path: Path) -> SavedLayers:
    """Return the saved side of `load_weights` for a `.h5`."""
    import h5py
    from keras.src.legacy.saving.legacy_h5_format import load_attributes_from_hdf5_group

    with h5py.File(path) as file:

        def weights(group: str) -> list[tuple[str, Stored]]:
            names = load_attributes_from_hdf5_group(file[group], "weight_names")
            pairs = ((f"{group}/{name}", file[f"{group}/{name}"]) for name in names)
            return [(key, Stored(dtype_of(data), data.shape)) for key, data in pairs]

        layers = load_attributes_from_hdf5_group(file, "layer_names")
        top = "top_level_model_weights"
        return SavedLayers(
            [(name, weights(name)) for name in layers],
            weights(top) if top in file else None,
            file.attrs.get("keras_version", "1") == "1",
        )


def saved_in_order(model: Any, path: Path) -> list[str]:
    """Save a model's weights; return the paths of the groups in the order of their making.

    The file itself does not tell it: HDF5 puts later groups into space that it has freed.
    """
    import importlib

    saving = importlib.import_module(f"{_package(model)}.src.saving.saving_lib")
    store, paths = saving.H5IOStore, []
    make = store.make

    def noting(self: Any, path: str, *args: Any, **keywords: Any) -> Any:
        paths.append(path)
        return make(self, path, *args, **keywords)

    store.make = noting
    try:
        model.save_weights(path)
    finally:
        store.make = make
    return paths


def _package(model: Any) -> str:
    return next(
        package
        for base in type(model).__mro__
        for package in ("tf_keras", "keras")
        if base.__module__.startswith(f"{package}.")
    )
