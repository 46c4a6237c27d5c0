"""Damages files of Keras where their own checksums and offsets do not show it."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import h5py
import numpy as np

from tests.hostile.makers import NASTY
from tests.hostile.seeds import seeds

_CONFIG = "config.json"
_ATTRIBUTES = ("layer_names", "weight_names", "model_config", "training_config", "name", "dtype")
_KEYS = ("class_name", "config", "layers", "name", "inbound_nodes", "build_config", "units", "cell")
_HDF5 = b"\x89HDF"
_MOST_STEPS = 8  # into JSON


def archive(chooser: random.Random, files: dict[str, bytes]) -> None:
    """Change a member of an archive, which gets right checksums, or the members there are."""
    for path in [path for path in files if path.endswith(".keras")]:
        try:
            with zipfile.ZipFile(io.BytesIO(files[path])) as old:
                members = {name: old.read(name) for name in old.namelist()}
        except Exception:  # damaged before
            continue
        name = chooser.choice(sorted(members))
        kind = chooser.randrange(5)
        if kind == 0:
            del members[name]
        elif kind == 1:
            members[chooser.choice((_CONFIG, "model.weights.h5"))] = members[name]
        elif kind == 2 and members.get("model.weights.h5"):
            members["model.weights.h5"] = hdf5_changed(chooser, members["model.weights.h5"])
        elif _CONFIG in members:
            members[_CONFIG] = json_changed(chooser, members[_CONFIG])
        new = io.BytesIO()
        method = chooser.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(new, "w", method) as changed:
            for name, data in members.items():
                changed.writestr(name, data)
        files[path] = new.getvalue()


def shards(chooser: random.Random, files: dict[str, bytes]) -> None:
    """Change a list of shards."""
    for path in [path for path in files if path.endswith(".weights.json")]:
        files[path] = json_changed(chooser, files[path])


def hdf5(chooser: random.Random, files: dict[str, bytes]) -> None:
    """Change groups, links, attributes and data sets of an HDF5 file as h5py does."""
    names = sorted(path for path in files if path.endswith(".h5"))
    if names:
        path = chooser.choice(names)
        files[path] = hdf5_changed(chooser, files[path])


def json_changed(chooser: random.Random, data: bytes) -> bytes:
    """Return JSON in which one place has a different value."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return data
    at = tree
    for _ in range(chooser.randrange(_MOST_STEPS)):
        below = [one for one in _items(at) if isinstance(one, (dict, list)) and one]
        if not below:
            break
        at = chooser.choice(below)
    values: list[Callable[[], Any]] = [
        *(lambda: None, lambda: -1, lambda: 1 << 70, lambda: 1.5, lambda: [], lambda: {}),
        *(lambda: chooser.choice(NASTY), lambda: [[[1]]], lambda: tree, lambda: "x" * 5000),
        lambda: chooser.choice(list(_items(at)) or [0]),
    ]
    value = json.loads(json.dumps(chooser.choice(values)()))
    if isinstance(at, list) and at:
        at[chooser.randrange(len(at))] = value
    elif isinstance(at, dict):
        key = chooser.choice([*at, *_KEYS, chooser.choice(NASTY)])
        if chooser.random() < 0.2:
            at.pop(key, None)
        else:
            at[key] = value
    return json.dumps(tree).encode()


def _items(tree: Any) -> list[Any]:
    return [*tree.values()] if isinstance(tree, dict) else [*tree] if isinstance(tree, list) else []


def hdf5_changed(chooser: random.Random, data: bytes) -> bytes:
    """Return an HDF5 file that h5py has changed; the same bytes unless a seed has them."""
    if data not in _sound():  # h5py is C, and may not survive damage
        return data
    buffer = io.BytesIO(data)
    with h5py.File(buffer, "a") as file:
        for _ in range(chooser.choice((1, 1, 3))):
            paths: list[str] = []
            file.visit(paths.append)
            if not paths:
                break
            try:
                _change(chooser, file, chooser.choice(paths), chooser.choice(paths))
            except (ValueError, OSError, KeyError, RuntimeError, TypeError):
                continue  # h5py refuses this change
    return buffer.getvalue()


@cache
def _sound() -> set[bytes]:
    found = {data for data in _all_files() if data.startswith(_HDF5)}
    for seed in seeds().values():
        for path, data in seed.files.items():
            if path.endswith(".keras"):
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    found.add(archive.read("model.weights.h5"))
    return found


def _all_files() -> list[bytes]:
    return [data for seed in seeds().values() for data in seed.files.values()]


def _change(chooser: random.Random, file: Any, path: str, other: str) -> None:
    kind = chooser.randrange(8)
    name = chooser.choice([one for one in NASTY if one and "\0" not in one])
    if kind == 0:
        del file[path]
    elif kind == 1:
        file.move(path, f"{path.rpartition('/')[0]}/{name}")
    elif kind == 2:
        file[f"{path}/{chooser.choice((name, 'vars', 'layers', '0', '1'))}"] = file[other]
    elif kind == 3:
        links = (h5py.SoftLink(f"/{other}"), h5py.ExternalLink("/etc/passwd", "/"))
        file[f"{path}/{name}"] = chooser.choice(links)
    elif kind == 4:
        one = file[path]
        key = chooser.choice([*one.attrs, *_ATTRIBUTES])
        texts = [name, path, other, path.rpartition("/")[2]]
        values: tuple[Any, ...] = (
            name,
            np.bytes_(texts),
            texts,
            [],
            1.5,
            np.arange(3),
            h5py.Empty("f4"),
        )
        one.attrs[key] = chooser.choice(values)
    elif kind == 5:
        file[f"{path}/{chooser.randrange(12)}"] = np.zeros(chooser.choice(((), (2,), (0, 3))), "f4")
    elif kind == 6:
        parent = path.rpartition("/")[0]
        del file[path]
        shape = chooser.choice(((), (1 << 40,), (3, 0), (2, 2)))
        dtype = chooser.choice(("f4", "i8", "S3", "c8", ">f8", "V2", h5py.string_dtype()))
        file.create_dataset(f"{parent}/{path.rpartition('/')[2]}", shape, dtype)
    else:
        file.copy(other, f"{path}/{name}")
