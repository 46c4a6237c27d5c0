"""Attacks by Orbax checkpoints: their JSON, their stores and their arrays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.hostile.makers import LARGE, NASTY, add, attack, graph_of, sized
from tests.hostile.seeds import DIRECTORY
from tests.support import ocdbt
from tests.support.tables import varint

_DEEP_JSON = b"[" * LARGE + b"]" * LARGE


def _copy(directory: Path, sample: str = "orbax_keras") -> Path:
    shutil.copytree(DIRECTORY / sample, directory / "run")
    return directory / "run"


def _with_metadata(data: bytes) -> Callable[[Path], str]:
    def make(directory: Path) -> str:
        path = _copy(directory)
        (path / "1" / "pytree" / "_METADATA").write_bytes(data)
        return str(path)

    return make


def _entry(key: Any, value: Any = "np.ndarray") -> dict[str, Any]:
    return {"key_metadata": key, "value_metadata": {"value_type": value}}


def _leaves(entries: Mapping[str, Any]) -> bytes:
    return json.dumps({"tree_metadata": entries}).encode()


_METADATA: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"FormatError: .*_METADATA is no JSON"),
    "nested_without_end": (_DEEP_JSON, r"(FormatError|UnsupportedError): .*_METADATA"),
    "of_a_list": (b"[]", r"FormatError: .*no JSON object"),
    "of_many_numbers": (b'{"a":[' + b"1," * (3 << 20) + b"1]}", r"UnsupportedError: .* values"),
    "of_giant_numbers": (b'{"tree_metadata": ' + b"9" * 10_000 + b"}", r"FormatError"),
    "of_keys_of_other_types": (
        _leaves({"a": _entry([{"key": {"a": 1}}])}),
        r"FormatError: .*found the key",
    ),
    "of_entries_of_other_types": (_leaves({"a": [1]}), r"FormatError: .*key_metadata"),
    "without_steps": (_leaves({"a": _entry([])}), r"graph of \d+ nodes"),
    "of_nasty_names": (
        _leaves(
            {
                f"{n}.{name}": _entry(
                    [{"key": "trainable_variables"}, {"key": f"{n}{name}"}, {"key": name}], name
                )
                for n, name in enumerate(NASTY)
            }
        ),
        r"graph of \d+ nodes",
    ),
    "of_half_characters": (
        b'{"tree_metadata": {"a": {"key_metadata": [{"key": "\\ud800"}], "value_metadata": {}}}}',
        r"graph of \d+ nodes",
    ),
    "that_are_deep": (
        _leaves({"a": _entry([{"key": "a"}] * 10_000)}),
        r"UnsupportedError: .*10000 steps deep",
    ),
    "of_one_value_in_a_value": (
        _leaves({"a": _entry([{"key": "a"}]), "b": _entry([{"key": "a"}, {"key": "b"}])}),
        r"graph of \d+ nodes",
    ),
    "of_kinds_without_paths": (
        _leaves({"a": _entry([{"key": "trainable_variables"}])}),
        r"graph of \d+ nodes",
    ),
}
for _name, (_data, _said) in _METADATA.items():
    add(f"orbax_metadata_{_name}", _with_metadata(_data), _said)


@sized(graph_of(2), 4_000)
def orbax_tree_of_many_values(directory: Path, size: int) -> str:
    return str(ocdbt.write_tree(directory / "t", [["a", n] for n in range(size)]))


@attack(r"UnsupportedError: .*_METADATA: has \d+ bytes, expected at most")
def orbax_metadata_of_a_terabyte(directory: Path) -> str:
    path = _copy(directory)
    os.truncate(path / "1" / "pytree" / "_METADATA", 1 << 40)
    return str(path)


@attack(r"(graph|\w+Error: )")
def orbax_metadata_that_is_a_link_to_a_device(directory: Path) -> str:
    path = _copy(directory)
    (path / "1" / "pytree" / "_METADATA").unlink()
    (path / "1" / "pytree" / "_METADATA").symlink_to("/dev/zero")
    return str(path)


@attack(r"\w+Error: ")
def orbax_metadata_that_is_a_directory(directory: Path) -> str:
    path = directory / "1" / "pytree" / "_METADATA"
    path.mkdir(parents=True)
    return str(directory)


@attack(r"(FormatError|UnsupportedError): .*config")
def orbax_config_nested_without_end(directory: Path) -> str:
    path = _copy(directory)
    words = json.dumps({"config": _DEEP_JSON.decode()})
    (path / "1" / "model_config" / "_strings.json").write_text(words)
    return str(path)


def _store(directory: Path, entries: Mapping[bytes, bytes]) -> str:
    """Write a tree of three arrays, and a store of other values."""
    path = ocdbt.write_tree(directory / "t", [["a"], ["b"], ["c", "d"]])
    ocdbt.write_store(path, entries)
    return str(path)


_DESCRIPTIONS: dict[str, bytes] = {
    "negative": ocdbt.described([-1]),
    "of_texts": ocdbt.described(["2"], chunks=[2]),
    "huge": ocdbt.described([1 << 61], chunks=[1 << 61]),
    "in_many_chunks": ocdbt.described([1 << 61], chunks=[1]),
    "of_many_sizes": ocdbt.described([1] * 1_000),
    "of_no_elements": ocdbt.described([0, 1 << 40], chunks=[1, 1]),
    "nested": b'{"shape":' + _DEEP_JSON + b"}",
    "long": b" " * (1 << 20) + ocdbt.described(),
}
for _name, _words in _DESCRIPTIONS.items():
    add(
        f"orbax_shape_{_name}",
        lambda directory, words=_words: _store(directory, {b"a/.zarray": words, b"a/0": b"x"}),  # type: ignore[misc]
        r"graph of \d+ nodes",
    )


@attack(r"graph of \d+ nodes")
def orbax_node_that_is_a_zstd_bomb(directory: Path) -> str:
    path = ocdbt.write_tree(directory / "t", [["a"]])
    node = ocdbt.framed(ocdbt.NODE_MAGIC, bytes(1 << 30))
    (path / ocdbt.DATA).write_bytes(node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(0, len(node)))
    return str(path)


@attack(r"graph of \d+ nodes")
def orbax_chunk_that_is_a_zstd_bomb(directory: Path) -> str:
    import cramjam

    bomb = bytes(cramjam.zstd.compress(bytes(1 << 28)))
    words = ocdbt.described([2], compressor={"id": "zstd"})
    return _store(directory, {b"a/.zarray": words, b"a/0": bomb})


@attack(r"graph of \d+ nodes, 1 marked: takes \d+ bytes when unpacked, expected at most")
def orbax_chunks_that_share_a_zstd_frame(directory: Path) -> str:
    """100,000 chunks of 16 MB, all in one frame: 1.6 TB in a directory of 1 MB."""
    import cramjam

    chunk, count = 1 << 24, 100_000
    frame = bytes(cramjam.zstd.compress(bytes(chunk)))
    words = ocdbt.described([count, 1], "|u1", chunks=[1, chunk], compressor={"id": "zstd"})
    path = ocdbt.write_tree(directory / "t", [["a"]])
    entries: dict[bytes, bytes | tuple[int, int]] = {b"a/.zarray": words}
    entries |= {b"a/%d.0" % n: (0, len(frame)) for n in range(count)}
    node = ocdbt.leaf(dict(sorted(entries.items())))
    (path / ocdbt.DATA).write_bytes(frame + node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(len(frame), len(node), keys=count + 1))
    return str(path)


@attack(r"graph of \d+ nodes")
def orbax_tree_whose_nodes_are_below_each_other(directory: Path) -> str:
    """Each inner node leads many times to the next one."""
    path = ocdbt.write_tree(directory / "t", [["a"]])
    data = ocdbt.leaf({b"a/.zarray": ocdbt.described()})
    at, size = 0, len(data)
    for height in range(1, 30):
        node = ocdbt.inner([(bytes([n]), 0, at, size) for n in range(100)], height)
        at, size = len(data), len(node)
        data += node
    (path / ocdbt.DATA).write_bytes(data)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(at, size, height=29))
    return str(path)


@sized(r"graph of \d+ nodes", 20_000)
def orbax_keys_that_share_long_beginnings(directory: Path, count: int) -> str:
    """A small node of keys, each of which is all of the one before, and a byte more."""
    path = ocdbt.write_tree(directory / "t", [["a"]])
    body = [b"\0" + varint(0) + varint(count), *(varint(n) for n in range(1, count))]
    body += [varint(1)] * count + [b"k" * count] + [varint(0)] * (2 * count)
    node = ocdbt.framed(ocdbt.NODE_MAGIC, b"".join(body))
    (path / ocdbt.DATA).write_bytes(node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(0, len(node), keys=count))
    return str(path)


@attack(r"graph of \d+ nodes")
def orbax_data_files_elsewhere(directory: Path) -> str:
    path = ocdbt.write_tree(directory / "t", [["a"]])
    node = ocdbt.leaf({b"a/.zarray": ocdbt.described(), b"a/0": (0, 4)}, "../../../../etc/passwd")
    (path / ocdbt.DATA).write_bytes(node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(0, len(node), keys=2))
    return str(path)


@attack(r"graph of \d+ nodes")
def orbax_arrays_in_directories_elsewhere(directory: Path) -> str:
    names = ["..", "../../etc", "/etc", "a\\b", "a:b", "", "."]
    path = directory / "t"
    path.mkdir()
    (path / "_METADATA").write_bytes(ocdbt.metadata({str(n): [n] for n in names}))
    return str(path)


@sized(r"graph of \d+ nodes", 2_000)
def orbax_steps_of_many_names(directory: Path, size: int) -> str:
    path = _copy(directory)
    for n in range(size):
        (path / str(n + 10)).mkdir()
    return str(path)


@sized(r"graph of \d+ nodes", 300, 20)
def orbax_checkpoint_of_many_trees(directory: Path, size: int) -> str:
    (directory / "_CHECKPOINT_METADATA").write_text("[")
    for n in range(size):
        ocdbt.write_tree(directory / f"item{n}", [["a"]])
    return str(directory)
