"""Attacks by files of Keras: HDF5 that h5py writes, archives, and lists of shards."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests.hostile.makers import LARGE, NASTY, add, attack, sized
from tests.hostile.seeds import seeds
from tests.support.amounts import size as size_of_tier

_LONG = "x" * 40_000
_NAMES = [name for name in NASTY if name and "\0" not in name]
_VALUES = LARGE // 2
_LATEST: Mapping[str, Any] = {"libver": "latest"}  # attributes of more than 64 KB

# --- configurations


def _archive(directory: Path, config: bytes | None = None, **how: Any) -> str:
    """Write a sound `.keras` archive with other bytes as its configuration, or as its weights."""
    members = {}
    with zipfile.ZipFile(_seed("keras_archive")) as sound:
        members = {name: sound.read(name) for name in sound.namelist()}
    members |= {} if config is None else {"config.json": config}
    members |= how.get("members", {})
    path = directory / "model.keras"
    with zipfile.ZipFile(path, "w", how.get("method", zipfile.ZIP_STORED)) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return str(path)


def _seed(name: str) -> Any:
    import io

    return io.BytesIO(seeds()[name].files[seeds()[name].opened])


def _config_in_archive(config: bytes) -> Callable[[Path], str]:
    return lambda directory: _archive(directory, config, method=zipfile.ZIP_DEFLATED)


def _config_in_hdf5(config: bytes) -> Callable[[Path], str]:
    def make(directory: Path) -> str:
        path = directory / "model.h5"
        path.write_bytes(_seed("keras_h5").getvalue())
        with h5py.File(path, "a") as file:
            file.attrs["model_config"] = config.decode()
        return str(path)

    return make


def _model(*layers: Any, **more: Any) -> bytes:
    return json.dumps({"class_name": "Functional", "config": {"layers": layers, **more}}).encode()


def _layer(name: Any, class_name: Any = "Dense", **config: Any) -> dict[str, Any]:
    return {"class_name": class_name, "config": {"name": name, **config}, "name": name}


_NESTED = b'{"class_name": "A", "config": ' + b'{"layers":[' * LARGE + b"1" + b"]}" * LARGE + b"}"
_DEEP_MODEL = b'{"class_name":"A","config":{"layers":[' * 150 + b"]}}" * 150
_CONFIGS: dict[str, tuple[bytes, str]] = {
    "nested_without_end": (_NESTED, r"(FormatError|UnsupportedError): .*no JSON"),
    "of_models_in_models": (_DEEP_MODEL, r"graph of \d+ nodes"),
    "that_is_cut": (_model()[:-3], r"(FormatError|UnsupportedError): .*no JSON"),
    "of_another_kind": (b"[1, 2]", r"(FormatError: .*no JSON object|graph)"),
    "of_numbers": (_model(1, 2.5, None, "a", [], {}, units=1e999), r"graph of \d+ nodes"),
    "of_giant_numbers": (b'{"config": {"a": ' + b"9" * 10_000 + b"}}", r"(\w+Error: |graph)"),
    "of_nasty_names": (
        _model(*(_layer(name, name, activation=name, units=name) for name in NASTY)),
        r"graph of \d+ nodes",
    ),
    "of_wrong_types": (
        _model(
            {"class_name": 1, "config": []},
            {"class_name": "Dense", "config": {"name": ["a"], "units": {}}, "inbound_nodes": 7},
            {"class_name": "Dense", "config": {"name": "head"}, "build_config": [[[]]]},
            {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": {"a": -1}}},
        ),
        r"graph of \d+ nodes",
    ),
    "of_one_name_for_all": (_model(*[_layer("head")] * 5_000), r"graph of \d+ nodes"),
    "of_calls_to_all": (
        _model(
            *(
                {
                    **_layer(f"l{n}"),
                    "inbound_nodes": [[[f"l{k}", 0, 0, {}] for k in range(300)]],
                }
                for n in range(300)
            )
        ),
        r"graph of \d+ nodes",
    ),
    "with_a_long_name": (_model(_layer(_LONG, _LONG)), r"graph of \d+ nodes"),
}
for _name, (_config, _said) in _CONFIGS.items():
    add(f"keras_archive_config_{_name}", _config_in_archive(_config), _said)
    add(f"keras_h5_config_{_name}", _config_in_hdf5(_config), _said)


@attack(r"UnsupportedError: .*config\.json.*: takes 268435456 bytes, expected at most")
def keras_config_that_unpacks_to_256_megabytes(directory: Path) -> str:
    return _archive(directory, b" " * (256 << 20), method=zipfile.ZIP_DEFLATED)


@attack(r"UnsupportedError: .*config\.json.* values, expected at most")
def keras_config_of_many_empty_lists(directory: Path) -> str:
    return _archive(directory, b"[[]" + b",[]" * (20 << 20) + b"]", method=zipfile.ZIP_DEFLATED)


@attack(r"UnsupportedError: .*config\.json.* values, expected at most")
def keras_config_of_many_small_objects(directory: Path) -> str:
    config = b'[{"":1}' + b',{"":1}' * (8 << 20) + b"]"
    return _archive(directory, config, method=zipfile.ZIP_DEFLATED)


@attack(r"UnsupportedError: .*model_config.* values, expected at most")
def keras_config_of_many_small_objects_in_hdf5(directory: Path) -> str:
    return _config_in_hdf5(b"[1" + b",1" * (6 << 20) + b"]")(directory)


# --- archives


@attack(r"UnsupportedError: .*model\.weights\.h5.*: takes \d+ bytes, expected at most")
def keras_weights_that_are_a_zip_bomb(directory: Path) -> str:
    bomb = seeds()["keras_weights"].files["model.weights.h5"] + bytes(100 << 20)
    return _archive(directory, members={"model.weights.h5": bomb}, method=zipfile.ZIP_DEFLATED)


@attack(r"FormatError: .*model\.weights\.h5")
def keras_weights_that_unpack_to_more_than_they_say(directory: Path) -> str:
    weights = bytes(50 << 20)
    path = Path(_archive(directory, members={"model.weights.h5": weights}, method=8))
    size = len(weights).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (1000).to_bytes(4, "little")))
    return str(path)


@attack(r"FormatError: .*model\.weights\.h5: a zip archive, expected an HDF5")
def keras_weights_that_are_an_archive(directory: Path) -> str:
    inner = _seed("keras_archive").getvalue()
    return _archive(directory, members={"model.weights.h5": inner})


@attack(r"graph of \d+ nodes")
def keras_archive_with_members_elsewhere(directory: Path) -> str:
    names = ["../../etc/passwd", "/etc/passwd", "a\x1b[2J", "assets/" + _LONG[:60_000]]
    return _archive(directory, members=dict.fromkeys(names, b"x"))


@sized(r"graph of \d+ nodes|UnsupportedError: .*more members", 30_000)
def keras_archive_of_many_members(directory: Path, size: int) -> str:
    return _archive(directory, members={f"assets/{n}": b"" for n in range(size)})


# --- HDF5 by names


def _h5(
    directory: Path,
    write: Callable[[Any], object],
    name: str = "model.h5",
    **how: Any,
) -> str:
    path = directory / name
    with h5py.File(path, "w", **how) as file:
        write(file)
    return str(path)


def _texts(names: Sequence[str]) -> Any:
    return np.array([name.encode("utf-8", "surrogatepass") for name in names] or [b""])


def _by_names(file: Any, layers: Mapping[str, Mapping[str, Any]], listed: Sequence[str]) -> None:
    """Write layers with their variables; `listed` are the names in `layer_names`."""
    file.attrs["layer_names"] = _texts(listed)
    for layer, variables in layers.items():
        group = file.create_group(layer)
        group.attrs["weight_names"] = _texts(list(variables))
        for name, value in variables.items():
            if name not in group:
                group[name] = value


@attack(r"graph of \d+ nodes")
def keras_h5_of_nasty_names(directory: Path) -> str:
    def write(file: Any) -> None:
        names = [name for name in _NAMES if name not in ("..", ".", "/")]
        _by_names(file, {name: {f"{name}:0": 1.0} for name in names}, [*names, *NASTY])

    return _h5(directory, write)


@attack(r"graph of \d+ nodes")
def keras_h5_that_lists_what_is_not_there_and_twice(directory: Path) -> str:
    def write(file: Any) -> None:
        _by_names(file, {"a": {"a/k:0": [1.0]}}, ["a", "gone", "a", "a", "../a", "/a", ""])
        names = ["a/k:0", "a/k:0", "gone", "../a/a/k:0", "/a/a/k:0", "", "a/k", "k:0"]
        file["a"].attrs["weight_names"] = _texts(names)

    return _h5(directory, write)


@attack(r"graph of \d+ nodes")
def keras_h5_with_attributes_of_other_types(directory: Path) -> str:
    def write(file: Any) -> None:
        _by_names(file, {name: {"k:0": 1.0} for name in "abcdef"}, list("abcdef"))
        others = (np.arange(5), 1.5, h5py.Empty("f4"), np.zeros((2, 2), "S3"), "text")
        for name, value in zip("abcde", others, strict=True):
            file[name].attrs["weight_names"] = value
        file.attrs["training_config"] = file.attrs["model_config"] = np.arange(3)

    return _h5(directory, write)


@attack(r"UnsupportedError: .*found a name of 40001 bytes, expected at most 4096")
def keras_h5_with_long_names(directory: Path) -> str:
    def write(file: Any) -> None:
        layers = {f"{_LONG}{n}": {f"{_LONG[:100]}{n}:0": 1.0} for n in range(3)}
        _by_names(file, layers, list(layers))

    return _h5(directory, write, **_LATEST)


@attack(r"graph of \d+ nodes")
def keras_h5_of_names_of_many_scopes(directory: Path) -> str:
    def write(file: Any) -> None:
        scopes = "/".join("s" * 150)
        _by_names(file, {"a": {f"{scopes}/{n}:0": 1.0 for n in range(20)}}, ["a"])

    return _h5(directory, write)


@sized(lambda n: rf"graph of {2 * n + 1} nodes", _VALUES)
def keras_h5_of_many_layers(directory: Path, size: int) -> str:
    def write(file: Any) -> None:
        layers = {f"l{n}": {"k:0": np.float32(1)} for n in range(size)}
        _by_names(file, layers, [])
        file.attrs["layer_names"] = _texts(list(layers))

    return _h5(directory, write, **_LATEST)


@sized(r"graph of \d+ nodes|UnsupportedError|FormatError", _VALUES)
def keras_h5_of_one_group_for_many_layers(directory: Path, size: int) -> str:
    """All layers are one group, whose list of weights is long."""

    def write(file: Any) -> None:
        names = [f"l{n}" for n in range(size)]
        file.attrs["layer_names"] = _texts(names)
        group = file.create_group(names[0])
        group.attrs["weight_names"] = _texts([f"w{n}" for n in range(size_of_tier(100, 10_000))])
        for name in names[1:]:
            file[name] = group

    return _h5(directory, write, **_LATEST)


@sized(r"graph of \d+ nodes|UnsupportedError|FormatError", 2_000)
def keras_h5_of_long_lists_of_long_texts(directory: Path, size: int) -> str:
    """Each name of a variable is the same text of 2 kB, which a heap of the file has."""
    kind = h5py.string_dtype()

    def write(file: Any) -> None:
        file.attrs["layer_names"] = _texts([f"l{n}" for n in range(size)])
        for n in range(size):
            group = file.create_group(f"l{n}")
            group.attrs.create("weight_names", ["w" * 2_000] * 50, dtype=kind)

    path = _h5(directory, write, **_LATEST)
    assert b"GCOL" in Path(path).read_bytes()
    return path


# --- HDF5 by paths


def _weights(directory: Path, write: Callable[[Any], object], **how: Any) -> str:
    return _h5(directory, write, "model.weights.h5", **how)


@attack(r"graph of \d+ nodes")
def keras_weights_of_nasty_names(directory: Path) -> str:
    def write(file: Any) -> None:
        names = [name for name in _NAMES if name not in ("..", ".", "/")]
        for name in (*names, "dense", "optimizer"):
            group = file.create_group(f"layers/{name}/vars")
            group.attrs["name"] = name
            group["0"], group[name.replace("/", "")] = [1.0], [2.0]

    return _weights(directory, write)


@attack(r"UnsupportedError: .*found a name of 40001 bytes, expected at most 4096")
def keras_weights_with_long_names(directory: Path) -> str:
    def write(file: Any) -> None:
        for n in range(3):
            group = file.create_group(f"layers/{_LONG}{n}/vars")
            group.attrs["name"], group["0"] = _LONG, 1.0

    return _weights(directory, write, **_LATEST)


@attack(r"graph of \d+ nodes")
def keras_weights_of_vars_in_vars(directory: Path) -> str:
    def write(file: Any) -> None:
        for path in ("vars/vars/vars/0", "vars/0", "layers/vars/layers/vars/1", "vars/a/b/0"):
            file[path] = [1.0]

    return _weights(directory, write)


@attack(r"graph of \d+ nodes")
def keras_weights_in_a_deep_tree(directory: Path) -> str:
    return _weights(directory, lambda file: file.create_dataset("a/" * 180 + "vars/0", data=1.0))


@attack(r"UnsupportedError: .* groups deep")
def keras_weights_in_a_tree_that_is_too_deep(directory: Path) -> str:
    return _weights(directory, lambda file: file.create_dataset("a/" * 900 + "vars/0", data=1.0))


@attack(r"graph of \d+ nodes")
def keras_weights_in_circles(directory: Path) -> str:
    def write(file: Any) -> None:
        file["layers/dense/vars/0"] = [1.0]
        file["layers/dense/layers"] = file["layers"]
        file["layers/dense/vars/root"] = file["/"]
        file["layers/root"] = file["/"]

    return _weights(directory, write)


@attack(r"graph of \d+ nodes")
def keras_weights_in_a_chain_of_diamonds(directory: Path) -> str:
    def write(file: Any) -> None:
        group = file
        for _ in range(60):
            below = group.create_group("a")
            group["b"] = below
            group = below
        group["vars/0"] = [1.0]

    return _weights(directory, write)


@attack(r"graph of \d+ nodes")
def keras_weights_by_links_out_of_the_file(directory: Path) -> str:
    def write(file: Any) -> None:
        file["layers/dense/vars/0"] = [1.0]
        file["layers/other"] = h5py.ExternalLink("/etc/passwd", "/")
        file["layers/dense/vars/1"] = h5py.ExternalLink("../../x.h5", "/vars/0")
        file["layers/dense/vars/2"] = h5py.SoftLink("/layers/dense/vars/2")
        outside = [("/etc/passwd", 0, 4)]
        file.create_dataset("layers/dense/vars/3", (1,), "f4", external=outside)

    return _weights(directory, write)


@attack(r"graph of \d+ nodes")
def keras_weights_of_huge_shapes(directory: Path) -> str:
    def write(file: Any) -> None:
        group = file.create_group("layers/dense/vars")
        group.create_dataset("0", (1 << 40,), "f4")
        group.create_dataset("1", (1 << 20, 1 << 30), "f4", chunks=(1, 1 << 20))
        group.create_dataset("2", (1 << 30,), "f4", chunks=(1 << 20,), compression="gzip")
        group["2"][:10] = 1
        group.create_dataset("3", (0,) * 32, "f4")

    return _weights(directory, write)


@sized(r"graph of \d+ nodes", _VALUES // 2)
def keras_weights_of_many_layers(directory: Path, size: int) -> str:
    def write(file: Any) -> None:
        for n in range(size):
            file[f"layers/dense_{n}/vars/0"] = np.float32(1)

    return _weights(directory, write, **_LATEST)


@sized(r"graph of \d+ nodes", _VALUES // 5, 20)
def keras_weights_of_many_slots(directory: Path, size: int) -> str:
    """An optimizer with the state of many variables of one shape, and one variable too many."""

    def write(file: Any) -> None:
        for n in range(size):
            file[f"layers/dense/vars/{n}"] = np.ones(1, "f4")
        own = file.create_group("optimizer/vars")
        own.attrs["name"] = "adam"
        own["0"], own["1"] = np.int64(1), np.float32(1)
        for n in range(2 * size + 1):
            own[str(n + 2)] = np.ones(1, "f4")

    return _weights(directory, write, **_LATEST)


# --- shards


def _shards(directory: Path, weight_map: Any) -> str:
    path = directory / "model.weights.json"
    path.write_bytes(
        weight_map
        if isinstance(weight_map, bytes)
        else json.dumps({"metadata": {}, "weight_map": weight_map}).encode()
    )
    return str(path)


@attack(r"FormatError: .*found .*passwd.* as a shard")
def keras_shards_elsewhere(directory: Path) -> str:
    return _shards(directory, {"/a/vars": "../../../etc/passwd"})


@attack(r"FormatError: .*found '/etc/passwd' as a shard")
def keras_shards_at_absolute_paths(directory: Path) -> str:
    return _shards(directory, {"/a/vars": ["model_00000.weights.h5", "/etc/passwd"]})


@sized(lambda n: rf"FormatError: .*names {n} shards, expected at most", 100_000, 5_000)
def keras_shards_without_end(directory: Path, size: int) -> str:
    return _shards(directory, {str(n): f"s_{n}.weights.h5" for n in range(size)})


@attack(r"CheckpointNotFoundError: .*found none of the")
def keras_shards_that_are_not_there(directory: Path) -> str:
    return _shards(directory, {str(n): f"s_{n}.weights.h5" for n in range(900)})


@attack(r"graph of \d+ nodes, \d+ marked: .*shards are missing")
def keras_shards_with_names_of_control_characters(directory: Path) -> str:
    (directory / "s.weights.h5").write_bytes(_seed("keras_weights").getvalue())
    names = ["s.weights.h5", "\x1b[2J\n", "\0", _LONG, "\udcff", "<b>"]
    return _shards(directory, dict(enumerate(names)))


@attack(r"FormatError: .*as a shard")
def keras_shards_of_other_types(directory: Path) -> str:
    return _shards(directory, {"a": 1, "b": None, "c": [{}], "d": _LONG + "/"})


@attack(r"FormatError: .*(found no weight_map|no JSON)")
def keras_shards_nested_without_end(directory: Path) -> str:
    return _shards(directory, b'{"weight_map":' * LARGE + b"1" + b"}" * LARGE)


@sized(r"graph of \d+ nodes", 900, 20)
def keras_shards_that_are_all_one_file(directory: Path, size: int) -> str:
    (directory / "s0.weights.h5").write_bytes(_seed("keras_weights").getvalue())
    for n in range(1, size):
        os.link(directory / "s0.weights.h5", directory / f"s{n}.weights.h5")
    return _shards(directory, {str(n): f"s{n}.weights.h5" for n in range(size)})


@attack(r"FormatError: .*(HDF5|signature)")
def keras_shards_that_are_a_list_of_shards(directory: Path) -> str:
    return _shards(directory, {"a": "model.weights.json"})


# --- TensorFlow.js


def _tfjs(directory: Path, weights: Sequence[object], paths: Sequence[object] = ("a.bin",)) -> str:
    (directory / "a.bin").write_bytes(bytes(64))
    manifest = [{"paths": paths, "weights": weights}]
    words = {"modelTopology": {"class_name": "x"}, "weightsManifest": manifest}
    (directory / "model.json").write_text(json.dumps(words))
    return str(directory / "model.json")


@attack(r"FormatError: .*as a shard, expected a file in the same directory")
def tfjs_shard_elsewhere(directory: Path) -> str:
    return _tfjs(directory, [], ["../../etc/passwd"])


@attack(r"graph of \d+ nodes")
def tfjs_weight_of_a_giant_shape(directory: Path) -> str:
    weight = {"name": "a/b", "dtype": "float32", "shape": [1 << 39] * 30}
    return _tfjs(directory, [weight, {"name": NASTY[0], "dtype": "float32", "shape": [2]}])


@sized(r"graph of \d+ nodes|FormatError: .*different names", 100_000)
def tfjs_of_many_weights(directory: Path, size: int) -> str:
    weights = [{"name": f"{n}/w", "dtype": "float32", "shape": []} for n in range(size)]
    return _tfjs(directory, weights)
