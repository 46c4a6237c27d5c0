"""Writes OCDBT stores and the trees of Orbax, sound ones and others, without Orbax."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cramjam
import google_crc32c
import numpy as np

from tests.support.tables import varint

MANIFEST_MAGIC, NODE_MAGIC = 0x0CDB3A2A, 0x0CDB20DE
DATA = "d/data"


def framed(magic: int, body: bytes, *, packs: bool = True, version: int = 0) -> bytes:
    """Return a manifest or a node with its header and its checksum."""
    packed = bytes(cramjam.zstd.compress(body)) if packs else body
    size = 14 + len(packed) + 4
    data = magic.to_bytes(4, "big") + size.to_bytes(8, "little")
    data += bytes([version, int(packs)]) + packed
    checksum: int = google_crc32c.value(data)
    return data + checksum.to_bytes(4, "little")


def files(paths: Sequence[str], base_sizes: Sequence[int] | None = None) -> bytes:
    """Return a table of data files."""
    encoded = [path.encode() for path in paths]
    return b"".join(
        [
            varint(len(paths)),
            *[varint(0)] * (len(paths) - 1),
            *(varint(len(path)) for path in encoded),
            *(varint(size) for size in base_sizes or [0] * len(paths)),
            *encoded,
        ]
    )


def manifest(
    offset: int, size: int, *, height: int = 0, keys: int = 1, path: str = DATA, kind: int = 0
) -> bytes:
    """Return a manifest of one version, whose root is in a data file."""
    head = bytes(16) + varint(kind) + varint(1024) + varint(1 << 20) + b"\x04" + b"\x01" + bytes(4)
    numbers = (varint(number) for number in (0, offset, size, keys, size, 0))
    version = varint(1) + varint(1) + bytes([height]) + b"".join(numbers) + bytes(8)
    return framed(MANIFEST_MAGIC, head + files([path]) + version + varint(0))


def leaf(
    entries: Mapping[bytes, bytes | tuple[int, int]], path: str = DATA, number: int = 0
) -> bytes:
    """Return a leaf; a value in the data file of a number is an offset and a size."""
    keys = list(entries)
    placed = [value for value in entries.values() if isinstance(value, tuple)]
    inline = [value for value in entries.values() if isinstance(value, bytes)]
    sizes = (len(value) if isinstance(value, bytes) else value[1] for value in entries.values())
    body = [
        b"\0" + files([path] if placed else []) + varint(len(keys)),
        *[varint(0)] * max(0, len(keys) - 1),
        *(varint(len(key)) for key in keys),
        *keys,
        *map(varint, sizes),
        *(varint(isinstance(value, tuple)) for value in entries.values()),
        *[varint(number)] * len(placed),
        *(varint(offset) for offset, _ in placed),
        *inline,
    ]
    return framed(NODE_MAGIC, b"".join(body))


def inner(children: Sequence[tuple[bytes, int, int, int]], height: int = 1) -> bytes:
    """Return an inner node; a child is a key, what is common of it, an offset and a size."""
    keys = [key for key, *_ in children]
    before = [*map(len, keys), *(common for _, common, _, _ in children)]
    places = [*(offset for *_, offset, _ in children), *(size for *_, size in children)]
    after = [*[0] * len(children), *places, *[1] * (3 * len(children))]
    body = [
        bytes([height]) + files([DATA]) + varint(len(children)),
        *[varint(0)] * (len(children) - 1),
        *map(varint, before),
        *keys,
        *map(varint, after),
    ]
    return framed(NODE_MAGIC, b"".join(body))


def write_store(directory: Path, entries: Mapping[bytes, bytes]) -> None:
    """Write a store of one leaf, with all values in it."""
    node = leaf(dict(sorted(entries.items())))
    (directory / DATA).parent.mkdir(parents=True, exist_ok=True)
    (directory / DATA).write_bytes(node)
    (directory / "manifest.ocdbt").write_bytes(manifest(0, len(node), keys=len(entries)))


def described(shape: Sequence[Any] = (2,), dtype: str = "<f4", **other: Any) -> bytes:
    """Return the description of an array of Zarr 2, of one chunk unless `chunks` are given."""
    words = {"shape": shape, "chunks": [max(1, int(size)) for size in shape], "dtype": dtype}
    return json.dumps({**words, "compressor": None, "zarr_format": 2, **other}).encode()


def metadata(paths: Mapping[str, Sequence[Any]], kind: str = "np.ndarray") -> bytes:
    """Return the JSON of a tree with these paths, by any name."""
    value = {"value_type": kind, "skip_deserialize": False}
    tree = {
        name: {
            "key_metadata": [{"key": key, "key_type": 2} for key in path],
            "value_metadata": value,
        }
        for name, path in paths.items()
    }
    return json.dumps({"tree_metadata": tree, "use_ocdbt": True}).encode()


def write_tree(
    directory: Path, paths: Sequence[Sequence[Any]], description: bytes | None = None
) -> Path:
    """Write a tree of arrays of two float32 in a store."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "_METADATA").write_bytes(metadata({str(path): path for path in paths}))
    entries: dict[bytes, bytes] = {}
    for path in paths:
        name = ".".join(map(str, path)).encode("utf-8", "surrogatepass")
        entries |= {name + b"/.zarray": description or described(), name + b"/0": bytes(8)}
    write_store(directory, entries)
    return directory


def write_values(directory: Path, values: Mapping[tuple[str, ...], Any]) -> Path:
    """Write a tree of arrays by their paths, as Orbax does with Zarr 2; a scalar is a number."""
    directory.mkdir(parents=True)
    arrays = {path: np.asarray(value) for path, value in values.items()}
    tree: dict[str, Any] = {}
    for path, array in arrays.items():
        kind = "np.ndarray" if array.shape else "scalar"
        tree |= json.loads(metadata({str(path): path}, kind))["tree_metadata"]
    (directory / "_METADATA").write_text(json.dumps({"tree_metadata": tree}))
    entries: dict[bytes, bytes] = {}
    for path, array in arrays.items():
        stored = array if array.shape else np.asarray(array.item())
        known = stored.dtype.name == "bfloat16"
        dtype = "bfloat16" if known else stored.dtype.str
        name = ".".join(path).encode()
        chunk = b".".join([b"0"] * stored.ndim) or b"0"
        entries[name + b"/.zarray"] = described(list(stored.shape), dtype)
        entries[name + b"/" + chunk] = stored.tobytes()
    write_store(directory, entries)
    return directory
