"""HDF5 files with everything that may be in them, written by h5py; and damaged ones."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np

NUMBERS = (
    *("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"),
    *(">f4", ">i4", ">f8", "c8", "c16", ">c8"),
)
OPTIONS: dict[str, dict[str, Any]] = {
    "earliest": {},
    "latest": {"libver": "latest"},
    "1.8": {"libver": ("v108", "v108")},
    "track_order": {"track_order": True},
    "latest, track_order": {"libver": "latest", "track_order": True},
    "user block": {"userblock_size": 1024},
    "pages": {"fs_strategy": "page"},
}


def written(write: Callable[[Any], object], **options: Any) -> bytes:
    """Return the bytes of a file that a function writes."""
    with tempfile.TemporaryDirectory() as directory:  # h5py cuts pages off a file in memory
        path = Path(directory, "new.h5")
        with h5py.File(path, "w", **options) as file:
            write(file)
        return path.read_bytes()


def write_values(file: Any) -> None:
    """Write every kind of value that a reader must read."""
    chooser = np.random.default_rng(0)
    for dtype in NUMBERS:
        file[f"numbers/{dtype}"] = (chooser.random((3, 4)) * 100).astype(dtype)
    file["iteration"], file["rate"] = np.int64(7), np.float32(0.5)
    file["empty"], file["of no rows"] = np.zeros(0, "f4"), np.zeros((0, 5), "f4")
    file["enumerated"] = np.array([1, 2], h5py.enum_dtype({"R": 1, "G": 2}, "i4"))
    file["texts/fixed"] = np.array([b"a", b"bcd", b""])
    file["texts/variable"] = ["x", "é中", "", "a" * 5000]
    file["texts/bytes"] = np.array([b"q", b"rr"], h5py.special_dtype(vlen=bytes))
    file["texts/one"] = "hello"
    for padding in (h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD):
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(5)
        kind.set_strpad(padding)
        texts = h5py.h5d.create(
            file["texts"].id, f"padding {padding}".encode(), kind, h5py.h5s.create_simple((3,))
        )
        texts.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"a b", b"a\0b", b"abcd "]), kind)
    file.create_dataset("never written", shape=(20,), dtype=">i4", fillvalue=9)
    small = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    small.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((3,))
    compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, space, small)
    compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(3, dtype="f4"))
    for number in range(300):
        file[f"wide/name_{number:03}"] = np.float32(number)


def write_chunks(file: Any) -> None:
    """Write values in chunks, through each filter."""
    chooser = np.random.default_rng(0)
    floats = chooser.random((17, 23)).astype("f4")
    odd = chooser.integers(0, 255, 200_001, "u1")
    file.create_dataset("plain", data=floats, chunks=(5, 7))
    file.create_dataset("gzip", data=floats, chunks=(5, 7), compression="gzip")
    file.create_dataset(
        "all", data=floats, chunks=(5, 7), compression="gzip", shuffle=True, fletcher32=True
    )
    file.create_dataset("checked", data=odd, chunks=(70_001,), fletcher32=True)
    file.create_dataset("texts", data=["x", "yy", "zzz"], chunks=(2,), compression="gzip")
    file.create_dataset("many", data=np.arange(5000), chunks=(7,), maxshape=(None,))
    file.create_dataset("never", shape=(20, 20), dtype="i4", chunks=(5, 5), fillvalue=9)
    sparse = file.create_dataset("sparse", shape=(20, 20), dtype="i4", chunks=(5, 5), fillvalue=9)
    sparse[3:6, 3:6] = 4
    resized = file.create_dataset("resized", data=np.arange(20), chunks=(3,), maxshape=(None,))
    resized.resize((10,))


def write_attributes(file: Any) -> None:
    """Write attributes as Keras does, long ones and many."""
    file.attrs["config"] = '{"a": 1}' * 20_000
    file.attrs["bytes"] = np.bytes_(b"fixed")
    file.attrs["names"] = np.array([b"a", b"bb"])
    file.attrs["variable"] = ["a", "bé"]
    file.attrs["nothing"], file.attrs["number"], file.attrs["numbers"] = [], 3, [1, 2]
    for number in range(40):
        file.attrs[f"one of many {number}"] = f"value {number}"


def write_split_attribute(file: Any) -> None:
    """Write a list of texts in three long parts, and so many others that HDF5 keeps all apart."""
    for number in range(3):
        names = [f"{number}/{place}".encode() for place in range(1000)]
        file.attrs[f"split{number}"] = np.array(names)
    for number in range(20):
        file.attrs[f"other {number}"] = number


def write_bfloat16(file: Any) -> None:
    """Write a value of bfloat16 as Keras does, and one that Keras takes for bytes."""
    values = np.arange(6).astype(ml_dtypes.bfloat16)
    file["bytes"] = values
    file["bfloat16"] = values
    file["bfloat16"].attrs["dtype"] = "bfloat16"


def write_small(file: Any) -> None:
    """Write a small file that has a bit of everything, for damage."""
    write_bfloat16(file)
    file.attrs["config"] = '{"x": 1}' * 30
    file.attrs["weight_names"] = np.array([b"a/kernel", b"a/bias"])
    for number in range(3):
        file.attrs[f"names{number}"] = np.array([b"k"])
    file["layers/dense/vars/0"] = np.arange(12, dtype="f4").reshape(3, 4)
    file["layers/dense/vars/1"] = np.arange(3.0)
    file["layers/iteration"] = np.int64(3)
    file["bool"], file["complex"] = np.array([True, False]), np.array([1j], "c8")
    file["fixed"], file["variable"] = np.array([b"ab", b"c"]), ["hello", "words"]
    floats = np.arange(40, dtype="f4").reshape(8, 5)
    file.create_dataset(
        "chunks", data=floats, chunks=(3, 2), compression="gzip", shuffle=True, fletcher32=True
    )
    file["hard"] = file["layers"]
    file["soft"] = h5py.SoftLink("/fixed")
    file["external"] = h5py.ExternalLink("other.h5", "/x")
    for number in range(12):
        file[f"wide/{number}"] = np.float32(number)


_NUMBERS = (0, 1, 2, 255, 256, 1 << 15, (1 << 16) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63)


def damaged(chooser: random.Random, data: bytes) -> bytes:
    """Return a file with some bytes changed, most often such as addresses and sizes have."""
    new = bytearray(data)
    for _ in range(chooser.choice((1, 1, 1, 2, 3, 8))):
        start, size = chooser.randrange(len(data)), chooser.choice((1, 1, 2, 4, 8))
        near = (start, len(data), len(data) - 1, chooser.randrange(len(data)) & ~7, (1 << 64) - 1)
        number = chooser.choice((*_NUMBERS, *near, data[start] ^ 1 << chooser.randrange(8)))
        new[start : start + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
        if chooser.random() < 0.1:
            other, size = chooser.randrange(len(data)), chooser.choice((8, 16, 64, 512))
            new[start : start + size] = data[other : other + size]
    end = chooser.randrange(len(data)) if chooser.random() < 0.05 else len(data)
    return bytes(new[:end])
