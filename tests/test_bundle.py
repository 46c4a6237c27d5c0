from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    DtypeError,
    FormatError,
    UnsupportedError,
)
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.bundles.bundle import Bundle, open_bundle
from ckpt_viz.formats.bundles.bundle_index import MAX_INDEX_BYTES
from ckpt_viz.formats.bundles.entries import Entry
from ckpt_viz.formats.storage.sstable import read_table
from ckpt_viz.ground.text import printable
from tests.support.tables import (
    FLOAT32,
    INT32,
    INT64,
    STRING,
    VARIANT,
    Extents,
    Tensor,
    bundle_entry,
    field,
    floats,
    header,
    masked_crc32c,
    raw,
    shape,
    slice_key,
    slice_proto,
    string,
    strings,
    write_bundle,
    write_index,
    write_rows,
    write_sliced,
)

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
TENSORS = {
    GRAPH: string(b"an object graph"),
    "bias": floats(1.0),
    "kernel": floats(1.0, 2.0, 3.0),
}


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return write_bundle(tmp_path / "ckpt-1", TENSORS)


def index_of(tmp_path: Path, *entries: bytes, head: bytes = header()) -> str:
    """Write an index of entries called a, b, ... and return its prefix."""
    rows = [(bytes([97 + i]), value) for i, value in enumerate(entries)]
    return write_index(tmp_path / "ckpt-1", [(b"", head), *rows])


def error_of(prefix: str) -> str:
    """Return what opening a bad bundle says after the index's path."""
    with pytest.raises(CkptVizError) as caught:
        open_bundle(prefix)
    path, message = str(caught.value).split(".index: ", 1)
    assert path == prefix
    return message


# --- opening


def test_entries_are_sorted_and_leave_out_header_and_slices(tmp_path: Path) -> None:
    extents = ((0, 3), (0, -1)), ((3, 1), (0, 2))
    whole = bundle_entry(FLOAT32, shape(4, 2), slices=[slice_proto(*one) for one in extents])
    plain = bundle_entry(INT64, offset=32, size=8, crc32c=7)
    slice_ = bundle_entry(FLOAT32, shape(3, 2), size=24)
    rows = [(b"", header(2)), (slice_key(b"w", *extents[0]), slice_), (b"step", plain)]
    rows.append((b"w", whole))
    bundle = open_bundle(write_index(tmp_path / "ckpt-1", rows))
    assert bundle.num_shards == 2
    assert list(bundle.entries.items()) == [
        ("step", Entry("int64", (), 0, 32, 8, 7)),
        (
            "w",
            Entry(
                "float32",
                (4, 2),
                0,
                0,
                32,
                0,
                (SliceExtent((0, 0), (3, 2)), SliceExtent((3, 0), (1, 2))),
            ),
        ),
    ]
    assert bundle.parts == {"w": (Entry("float32", (3, 2), 0, 0, 24, 0), None)}


def test_opening_reads_no_shard(prefix: str) -> None:
    os.remove(f"{prefix}.data-00000-of-00001")
    assert list(open_bundle(prefix).entries) == [GRAPH, "bias", "kernel"]


def test_unknown_dtype_and_unknown_rank_stay_readable(tmp_path: Path) -> None:
    bundle = open_bundle(index_of(tmp_path, bundle_entry(99, field(3, 1))))
    assert bundle.entries["a"].dtype == "unknown dtype 99"
    assert bundle.entries["a"].shape is None


def test_key_that_is_not_utf8_is_escaped_and_kept_in_order(tmp_path: Path) -> None:
    raw = [b"a", "ü".encode(), b"\xc3", b"\xff\n"]
    rows = [(key, bundle_entry(size=place)) for place, key in enumerate(sorted(raw))]
    bundle = open_bundle(write_index(tmp_path / "ckpt-1", [(b"", header()), *rows]))
    assert list(bundle.entries) == ["\\xc3", "\\xff\n", "a", "ü"]
    assert "".join(bundle.entries).encode()
    assert [bundle.entries[key].size for key in bundle.matching("\\xff")] == [3]


def test_keys_that_read_the_same_once_escaped_are_refused(tmp_path: Path) -> None:
    rows = [(b"", header()), (b"\\xff", bundle_entry()), (b"\xff", bundle_entry())]
    message = error_of(write_index(tmp_path / "ckpt-1", rows))
    assert message == "entry '\\\\xff': a second key reads the same, once escaped"


def test_missing_checkpoint_names_prefix_and_expected_file(tmp_path: Path) -> None:
    missing = f"{tmp_path}/ckpt-7"
    for prefix in (missing, f"{missing}\0", f"{__file__}/ckpt-7"):
        with pytest.raises(CheckpointNotFoundError) as caught:
            open_bundle(prefix)
        name = printable(prefix)
        assert str(caught.value) == f"{name}: no such checkpoint; expected a file {name}.index"


def test_directory_or_pipe_in_place_of_the_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "directory.index").mkdir()
    os.mkfifo(tmp_path / "pipe.index")
    for name in ("directory", "pipe"):
        assert error_of(f"{tmp_path}/{name}") == "cannot be read: not a regular file"


def test_enormous_index_is_refused_unread(tmp_path: Path) -> None:
    with open(tmp_path / "ckpt-1.index", "wb") as file:
        file.truncate(MAX_INDEX_BYTES + 1)
    assert error_of(f"{tmp_path}/ckpt-1") == (
        "has 268435457 bytes, expected at most 268435456 in an index"
    )


def test_index_of_zero_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ckpt-1.index").touch()
    assert error_of(f"{tmp_path}/ckpt-1") == (
        "an empty file, expected the index of a TensorFlow checkpoint; "
        "copy or download the file again"
    )


def test_importing_the_readers_imports_no_tensorflow() -> None:
    program = "import sys, ckpt_viz.formats.bundles.bundle; assert 'tensorflow' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


# --- hostile headers and entries


def test_missing_header_is_refused(tmp_path: Path) -> None:
    prefix = write_index(tmp_path / "ckpt-1", [(b"a", bundle_entry())])
    assert error_of(prefix) == "the first key is b'a', expected b'', the header's"
    assert error_of(write_index(prefix, [])) == "there are no keys, expected b'', the header's"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"\xff", "header: its 1 bytes are not a BundleHeaderProto"),
        (b"", "header: num_shards is 0, expected at least 1"),
        (header(-1), "header: num_shards is -1, expected at least 1"),
        (header(endianness=2), "header: endianness is 2, expected 0 or 1"),
        (header(min_consumer=2), "header: needs a reader of version 2, ckpt_viz has version 1"),
    ],
)
def test_header_that_cannot_be_is_refused(tmp_path: Path, head: bytes, expected: str) -> None:
    assert error_of(index_of(tmp_path, head=head)) == expected


@pytest.mark.parametrize(
    ("proto", "expected"),
    [
        (b"\xff", "value: its 1 bytes are not a BundleEntryProto"),
        (bundle_entry(dims=b"\xff"), "shape: its 1 bytes are not a TensorShapeProto"),
        (bundle_entry(offset=-1), "offset is -1, size 0, expected at least 0"),
        (bundle_entry(size=-(1 << 63)), f"offset is 0, size {-(1 << 63)}, expected at least 0"),
        (bundle_entry(shard=2), "shard is 2, expected 0 to 1"),
        (bundle_entry(shard=-1), "shard is -1, expected 0 to 1"),
        (
            bundle_entry(dims=shape(2, -3)),
            "shape is 2×-3, expected sizes from 0, below 2**63 elements in all",
        ),
        (
            bundle_entry(dims=shape(1 << 32, 1 << 31)),
            f"shape is {1 << 32}×{1 << 31}, expected sizes from 0, below 2**63 elements in all",
        ),
        (bundle_entry(dims=shape(*[1] * 255)), "has 255 dimensions, expected at most 254"),
        (
            bundle_entry(dims=shape(4), slices=[slice_proto((2, 3))]),
            "slice of 3 at (2,) is not inside 4",
        ),
        (
            bundle_entry(dims=shape(4), slices=[slice_proto((-1, 2))]),
            "slice of 2 at (-1,) is not inside 4",
        ),
        (
            bundle_entry(dims=shape(4), slices=[b""]),
            "a slice has 0 dimensions, its tensor is 4",
        ),
        (
            bundle_entry(dims=field(3, 1), slices=[slice_proto((0, 1))]),
            "a slice has 1 dimensions, its tensor is of unknown rank",
        ),
    ],
)
def test_entry_that_cannot_be_is_refused(tmp_path: Path, proto: bytes, expected: str) -> None:
    prefix = index_of(tmp_path, bundle_entry(), proto, head=header(2))
    assert error_of(prefix) == f"entry 'b': {expected}"


def test_enormous_number_of_shards_costs_nothing(tmp_path: Path) -> None:
    entry = bundle_entry(shard=2**31 - 2, size=4)
    bundle = open_bundle(index_of(tmp_path, entry, head=header(2**31 - 1)))
    with pytest.raises(FormatError, match=r"data-2147483646-of-2147483647: no such file"):
        bundle.read("a")
    assert "data-2147483646-of-2147483647: no such file" in str(bundle.why_unreadable("a"))


# --- matching


def bundle_of(*keys: str) -> Bundle:
    entries = {key: Entry("int64", (), 0, n, 8, 0) for n, key in enumerate(sorted(keys))}
    return Bundle("ckpt-1", "ckpt-1.index", 1, "little", entries)


def test_checkpoint_key_means_its_entry_else_those_it_begins() -> None:
    keys = ("it/ITERATOR_STATE", "t/table-keys", "t/table-values", "v", "v2", "w", "x\U0010ffff")
    bundle = bundle_of(*keys)
    matched = {
        asked: bundle.matching(asked)
        for asked in ("it/ITERATOR", "t/table", "v", "w", "x", "absent", "zzz", "")
    }
    assert matched == {
        "it/ITERATOR": ("it/ITERATOR_STATE",),
        "t/table": ("t/table-keys", "t/table-values"),
        "v": ("v",),
        "w": ("w",),
        "x": ("x\U0010ffff",),
        "absent": (),
        "zzz": (),
        "": (),
    }


def test_checkpoint_key_that_begins_too_many_keys_means_none() -> None:
    bundle = bundle_of(*(f"model/{n:03}" for n in range(257)))
    assert bundle.matching("model/") == ()
    assert len(bundle.matching("model/0")) == 100


# --- reading values


def test_values_are_read_and_checked(prefix: str) -> None:
    bundle = open_bundle(prefix)
    kernel = bundle.read("kernel")
    assert kernel.dtype == np.float32
    assert kernel.tolist() == [1, 2, 3]
    assert not kernel.flags.writeable
    assert bundle.read_string_scalar(GRAPH) == b"an object graph"


def test_values_of_a_big_endian_machine_are_read(tmp_path: Path) -> None:
    tensors = {
        "s": string(b"value", byte_order=">"),
        "int32": raw(INT32, shape(2), struct.pack(">2i", 1, -2)),
        "complex64": raw(8, shape(1), struct.pack(">2f", 1, 2)),
        "complex128": raw(18, shape(1), struct.pack(">2d", 1, 2)),
        "bfloat16": raw(14, shape(1), struct.pack(">H", 0x3FC0)),
        "bool": raw(10, shape(2), b"\0\1"),
    }
    bundle = open_bundle(write_bundle(tmp_path / "ckpt-1", tensors, endianness=1))
    assert bundle.byte_order == "big"
    assert bundle.read_string_scalar("s") == b"value"
    values = {key: bundle.read(key).tolist() for key in bundle.entries}
    assert values == {
        "s": b"value",
        "int32": [1, -2],
        "complex64": [1 + 2j],
        "complex128": [1 + 2j],
        "bfloat16": [1.5],
        "bool": [False, True],
    }


def test_strings_of_any_shape_are_read(tmp_path: Path) -> None:
    values = [b"", b"two", "\u00fc".encode() * 100, b"\0end\0", b"5", b"x" * 20_000]
    tensors = {
        "none": strings([], shape(0, 3)),
        "six": strings(values, shape(2, 3)),
        "unwritten": Tensor(STRING, shape(0), b"", b""),
    }
    bundle = open_bundle(write_bundle(tmp_path / "ckpt-1", tensors))
    assert bundle.read("six").tolist() == [values[:3], values[3:]]
    assert bundle.read("none").shape == (0, 3)
    assert bundle.read("unwritten").shape == (0,)


def test_prefix_may_have_an_empty_name_or_one_of_unicode(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    for name in ("dir/", "gew\u00f6hnlich"):
        prefix = write_bundle(f"{tmp_path}/{name}", {"w": floats(1.0)})
        assert open_bundle(prefix).read("w").tolist() == [1]
    assert sorted(os.listdir(tmp_path / "dir")) == [".data-00000-of-00001", ".index"]


def test_bytes_of_an_unknown_dtype_come_with_the_error(tmp_path: Path) -> None:
    prefix = write_bundle(tmp_path / "ckpt-1", {"a": raw(99, shape(2), b"what is this")})
    with pytest.raises(DtypeError) as caught:
        open_bundle(prefix).read("a")
    assert caught.value.raw == b"what is this"
    assert str(caught.value) == (
        f"{prefix}.data-00000-of-00001: 'a' at offset 0: numpy has no dtype for "
        "unknown dtype 99; its 12 bytes are in this error's attribute `raw`"
    )
    sliced: dict[Extents, Tensor] = {
        ((0, 1),): raw(99, shape(1), b"one "),
        ((1, 1),): raw(99, shape(1), b"after"),
    }
    prefix = write_sliced(tmp_path / "ckpt-2", shape(2), sliced)
    with pytest.raises(DtypeError) as caught:
        open_bundle(prefix).read("w")
    assert caught.value.raw == b"one after"


def message_of(prefix: str, key: str = GRAPH) -> str:
    """Return what reading a tensor of a bad bundle says after the prefix."""
    bundle = open_bundle(prefix)
    with pytest.raises(CkptVizError) as caught:
        bundle.read(key)
    return str(caught.value).removeprefix(prefix)


def test_missing_shard_is_named_when_its_bytes_are_read(prefix: str) -> None:
    os.remove(f"{prefix}.data-00000-of-00001")
    assert message_of(prefix) == (
        f".data-00000-of-00001: no such file, expected bytes 0 to 20, of '{GRAPH}'; "
        "the copy is probably partial"
    )


def test_short_shard_names_bytes_found_and_expected(prefix: str) -> None:
    os.truncate(f"{prefix}.data-00000-of-00001", 25)
    assert message_of(prefix, "kernel") == (
        ".data-00000-of-00001: has 25 bytes, expected bytes 24 to 36, of 'kernel'; "
        "the copy is probably partial"
    )


def test_git_lfs_pointer_in_place_of_a_shard_says_what_to_run(prefix: str) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    Path(f"{prefix}.data-00000-of-00001").write_bytes(pointer[:23])
    assert message_of(prefix, "kernel") == (
        ".data-00000-of-00001: has 23 bytes, expected bytes 24 to 36, of 'kernel'; "
        "it is a Git LFS pointer: run `git lfs pull`"
    )


def test_size_past_the_file_is_refused_before_it_is_allocated(tmp_path: Path) -> None:
    proto = bundle_entry(FLOAT32, shape(1 << 60), offset=1 << 62, size=1 << 62)
    prefix = index_of(tmp_path, proto)
    Path(f"{prefix}.data-00000-of-00001").write_bytes(b"1234")
    assert message_of(prefix, "a") == (
        f".data-00000-of-00001: has 4 bytes, expected bytes {1 << 62} to {1 << 63}, of 'a'; "
        "the copy is probably partial"
    )


@pytest.mark.parametrize(("key", "offset"), [(GRAPH, 0), ("kernel", 24)])
def test_checksum_shows_a_changed_value(prefix: str, key: str, offset: int) -> None:
    shard = Path(f"{prefix}.data-00000-of-00001")
    data = bytearray(shard.read_bytes())
    data[offset + 8] ^= 1
    shard.write_bytes(data)
    found, stored = checksums(message_of(prefix, key), offset, key)
    assert found != stored == f"0x{masked_crc32c(TENSORS[key].checked):08x}"


def checksums(message: str, offset: int, key: str) -> tuple[str, ...]:
    start = f".data-00000-of-00001: {key!r} at offset {offset}: masked crc32c is "
    assert message.startswith(start)
    return tuple(message.removeprefix(start).split(", the index says "))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x09\xa5\xb1\xb5\xa7abc", "its strings have 3 bytes, their lengths say 9"),
        (b"\x80" * 12, "a length has more than 64 bits"),
        (b"\x01", "ends within the lengths of its 1 strings"),
        (
            b"\x03\0\0\0\0abc",
            "masked crc32c of the lengths is 0x287f3f63, the file says 0x00000000",
        ),
    ],
)
def test_string_whose_length_is_wrong_is_refused(
    tmp_path: Path, data: bytes, expected: str
) -> None:
    prefix = write_bundle(tmp_path / "ckpt-1", {GRAPH: raw(STRING, b"", data)})
    assert message_of(prefix) == f".data-00000-of-00001: '{GRAPH}' at offset 0: {expected}"


def test_values_of_another_kind_are_refused(tmp_path: Path) -> None:
    protos = {
        b"few": bundle_entry(STRING, shape(3), size=2),
        b"short": bundle_entry(FLOAT32, shape(4), size=12),
        b"unknown rank": bundle_entry(FLOAT32, field(3, 1)),
        b"variant": bundle_entry(VARIANT, size=12),
    }
    prefix = write_index(tmp_path / "ckpt-1", [(b"", header()), *protos.items()])
    assert {key: message_of(prefix, key) for key in map(bytes.decode, protos)} == {
        "few": ".index: 'few': size is 2 bytes, expected at least 3 for string 3",
        "short": ".index: 'short': size is 12 bytes, expected 16 for float32 4",
        "unknown rank": ": 'unknown rank': cannot read float32 of unknown rank",
        "variant": ": 'variant': cannot read variant scalar",
    }
    with pytest.raises(FormatError, match=r"'short': is float32 4, expected a string scalar"):
        open_bundle(prefix).read_string_scalar("short")


def test_bool_that_is_neither_is_refused(tmp_path: Path) -> None:
    prefix = write_bundle(tmp_path / "ckpt-1", {"a": raw(10, shape(2), b"\1\7")})
    assert message_of(prefix, "a") == (
        ".data-00000-of-00001: 'a' at offset 0: has a byte of 7, expected 0 or 1 for bool"
    )


@pytest.mark.parametrize("sizes", [(1,) * 70, (0, 1 << 62, 1 << 62)], ids=["rank", "giants"])
def test_shape_that_numpy_does_not_allow_is_unsupported(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    data = bytes(4 * (0 not in sizes))
    prefix = write_bundle(tmp_path / "ckpt-1", {"a": raw(FLOAT32, shape(*sizes), data)})
    with pytest.raises(UnsupportedError, match="'a' at offset 0: numpy has no arrays of this"):
        open_bundle(prefix).read("a")


# --- slices


def test_slices_are_put_together(tmp_path: Path) -> None:
    slices: dict[Extents, Tensor] = {
        ((0, 1), (0, -1)): raw(FLOAT32, shape(1, 3), struct.pack("<3f", 0, 1, 2)),
        ((1, 2), (2, 1)): raw(FLOAT32, shape(2, 1), struct.pack("<2f", 5, 8)),
        ((1, 2), (0, 2)): raw(FLOAT32, shape(2, 2), struct.pack("<4f", 3, 4, 6, 7)),
    }
    bundle = open_bundle(write_sliced(tmp_path / "ckpt-1", shape(3, 3), slices))
    assert bundle.read("w").tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert not bundle.read("w").flags.writeable
    assert bundle.entries["w"].slices[1] == ((1, 2), (2, 1))
    assert bundle.why_unreadable("w") is None


def test_slices_of_strings_are_put_together(tmp_path: Path) -> None:
    slices: dict[Extents, Tensor] = {
        ((0, 2),): strings([b"a", b"b"], shape(2)),
        ((2, 1),): strings([b""], shape(1)),
    }
    bundle = open_bundle(write_sliced(tmp_path / "ckpt-1", shape(3), slices))
    assert bundle.read("w").tolist() == [b"a", b"b", b""]
    assert bundle.entries["w"].size == sum(len(tensor.data) for tensor in slices.values())


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        ({((0, 1),): floats(1.0)}, ".index: 'w': its slices have 1 elements in all, expected 3"),
        (
            {((0, 2),): floats(1.0, 2.0), ((1, 1),): floats(1.0)},
            ": 'w': the slice of 1 at (1,) overlaps another",
        ),
        (
            {((0, 1),): floats(1.0), ((1, 2),): floats(1.0)},
            ".index: 'w': of its slice at (1,) the index has float32 1, expected float32 2",
        ),
        (
            {((0, 1),): floats(1.0), ((1, 2),): raw(INT64, shape(2), bytes(16))},
            ".index: 'w': of its slice at (1,) the index has int64 2, expected float32 2",
        ),
    ],
    ids=["gap", "overlap", "shape", "dtype"],
)
def test_slices_that_do_not_fit_together_are_refused(
    tmp_path: Path, slices: dict[Extents, Tensor], expected: str
) -> None:
    assert message_of(write_sliced(tmp_path / "ckpt-1", shape(3), slices), "w") == expected


def test_slice_without_an_entry_is_named(tmp_path: Path) -> None:
    whole = bundle_entry(FLOAT32, shape(2), slices=[slice_proto((0, -1))])
    prefix = write_rows(tmp_path / "ckpt-1", {}, {b"w": whole})
    assert message_of(prefix, "w") == (
        ".index: 'w': of its slice at (0,) the index has nothing, expected float32 2"
    )
    assert open_bundle(prefix).why_unreadable("w") == "the index lacks the entry of a slice"


def test_slices_that_share_bytes_are_refused(tmp_path: Path) -> None:
    # Otherwise a shard of one megabyte could hold a tensor of any size.
    extents = [((start, 1),) for start in range(3)]
    whole = bundle_entry(FLOAT32, shape(3), slices=[slice_proto(*one) for one in extents])
    part = bundle_entry(FLOAT32, shape(1), offset=4, size=4)
    rows = {slice_key(b"w", *one): part for one in extents}
    prefix = write_rows(tmp_path / "ckpt-1", {}, {b"w": whole, **rows})
    assert message_of(prefix, "w") == (
        ".index: 'w': two of its slices share bytes of shard 0, at offset 4"
    )


# --- what is there, from sizes alone


def test_tensor_that_is_all_there_is_readable(prefix: str) -> None:
    assert {open_bundle(prefix).why_unreadable(key) for key in TENSORS} == {None}


def test_why_a_tensor_cannot_be_read_names_file_and_bytes(prefix: str) -> None:
    shard = f"{prefix}.data-00000-of-00001"
    os.truncate(shard, 25)
    bundle = open_bundle(prefix)
    assert bundle.why_unreadable("bias") is None
    assert bundle.why_unreadable("kernel") == (
        f"{shard}: has 25 bytes, expected bytes 24 to 36; the copy is probably partial"
    )
    os.remove(shard)
    assert open_bundle(prefix).why_unreadable("kernel") == (
        f"{shard}: no such file, expected a shard; the copy is probably partial"
    )


def test_each_shard_is_looked_at_once_and_only_when_asked(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def file_size(path: str) -> int:
        asked.append(path)
        return 20

    monkeypatch.setattr("ckpt_viz.formats.storage.files.file_size", file_size)
    bundle = open_bundle(prefix)
    assert asked == []
    for key in [*TENSORS, *TENSORS]:
        bundle.why_unreadable(key)
    assert asked == [f"{prefix}.data-00000-of-00001"]


# --- laws: a bundle or our error, whatever the bytes


def outcome(prefix: str) -> Mapping[str, Entry] | None:
    """Open a bundle and read all of it."""
    try:
        bundle = open_bundle(prefix)
    except CkptVizError:
        return None
    for key, entry in bundle.entries.items():
        with suppress(CkptVizError):
            values = bundle.read(key)
            assert values.shape == entry.shape
        bundle.why_unreadable(key)
    return bundle.entries


small = st.sampled_from([-(1 << 63), -1, 0, 1, 2, 4, 8, 1 << 31, (1 << 63) - 1])
protos = st.binary(max_size=30) | st.builds(
    bundle_entry,
    st.sampled_from([FLOAT32, STRING, 21, 99]),
    st.binary(max_size=8) | st.lists(small, max_size=3).map(lambda sizes: shape(*sizes)),
    shard=small,
    offset=small,
    size=small,
    crc32c=st.integers(0, (1 << 32) - 1) | st.just(masked_crc32c(b"")),
    slices=st.lists(
        st.binary(max_size=4)
        | st.lists(st.tuples(small, small), max_size=2).map(lambda extents: slice_proto(*extents)),
        max_size=2,
    ),
)
keys = st.binary(max_size=4) | st.lists(
    st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=2
).map(lambda extents: slice_key(b"w", *extents))
heads = st.just(header()) | st.builds(header, small, endianness=small, min_consumer=small)


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(heads | st.binary(max_size=12), st.dictionaries(keys | st.just(b"w"), protos), st.binary())
def test_any_header_entries_and_shard_give_a_bundle_or_our_error(
    tmp_path: Path, head: bytes, entries: dict[bytes, bytes], shard: bytes
) -> None:
    prefix = write_index(tmp_path / "ckpt-1", sorted((entries | {b"": head}).items()))
    Path(f"{prefix}.data-00000-of-00001").write_bytes(shard)
    outcome(prefix)


def test_every_changed_byte_of_an_index_gives_the_same_bundle_or_our_error(prefix: str) -> None:
    index = Path(f"{prefix}.index")
    data = index.read_bytes()
    whole = outcome(prefix)
    for position in range(len(data)):
        index.write_bytes(data[:position] + bytes([data[position] ^ 0x40]) + data[position + 1 :])
        assert outcome(prefix) in (None, whole)
        index.write_bytes(data[:position])
        assert outcome(prefix) is None


# --- TensorFlow is the oracle


def save(prefix: Path, tensors: Mapping[str, Any]) -> str:
    """Have TensorFlow write a bundle; "key of 10 3 0,4:-" is the key and the slice it saves."""
    import tensorflow as tf

    names, _, slices = zip(*(key.partition(" of ") for key in tensors), strict=True)
    tf.raw_ops.SaveV2(
        prefix=str(prefix), tensor_names=names, shape_and_slices=slices, tensors=tensors.values()
    )
    return str(prefix)


def assert_reads_like_tensorflow(prefix: str) -> None:
    import tensorflow as tf

    bundle = open_bundle(prefix)
    reader = tf.compat.v1.train.NewCheckpointReader(prefix)
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    assert {key: (entry.dtype, entry.shape) for key, entry in bundle.entries.items()} == {
        key: (dtypes[key].name, tuple(shapes[key])) for key in dtypes
    }
    for key, entry in bundle.entries.items():
        assert bundle.why_unreadable(key) is None
        if entry.dtype != "variant":
            assert_same(bundle.read(key), tensor_of(reader, key, entry))


def tensor_of(reader: Any, key: str, entry: Entry) -> Any:
    """Return TensorFlow's value, which for a string scalar is plain bytes."""
    value = reader.get_tensor(key)
    if entry.dtype == "string":
        return np.array(value, dtype=object)
    assert entry.size == value.nbytes
    return value


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.shape == theirs.shape
    if ours.dtype == object:
        assert ours.tolist() == theirs.tolist()
        return
    # TensorFlow's quantized dtypes are structures of one field.
    assert ours.dtype == (theirs.dtype[0] if theirs.dtype.names else theirs.dtype)
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.tf
def test_tensorflow_reads_what_these_tests_write(tmp_path: Path) -> None:
    tensors = {f"layer-{n:04}/kernel": floats(n, n + 1) for n in range(1500)}
    prefix = write_bundle(tmp_path / "ckpt-1", tensors | {GRAPH: string(b"graph" * 100)})
    assert_reads_like_tensorflow(prefix)


@pytest.mark.tf
def test_snappy_that_these_tests_write_reads_like_tensorflow(tmp_path: Path) -> None:
    tensors = {f"layer-{n:04}/kernel": floats(n, n + 1) for n in range(1500)}
    prefix = write_bundle(tmp_path / "ckpt-1", tensors)
    plain = os.path.getsize(f"{prefix}.index")
    rows = list(read_table(Path(f"{prefix}.index").read_bytes(), "x"))
    assert_reads_like_tensorflow(write_index(prefix, rows, snappy=True))
    assert os.path.getsize(f"{prefix}.index") < plain / 2


@pytest.mark.tf
def test_every_dtype_reads_like_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf
    from tensorflow.core.framework import types_pb2

    dtypes = [tf.as_dtype(number) for number in types_pb2.DataType.values() if 0 < number < 100]
    numbers = np.array([[0, 1, -1]])
    tensors = {d.name: tf.constant(numbers.astype(d.as_numpy_dtype), d) for d in dtypes if d.size}
    assert len(tensors) >= (24 if tf.__version__.startswith("2.15.") else 28)
    assert_reads_like_tensorflow(save(tmp_path / "ckpt-1", tensors))

    others = {d.name: bundle_entry(d.as_datatype_enum) for d in dtypes if not d.size}
    assert set(others) == {"string", "resource", "variant"}
    rows = [(name.encode(), others[name]) for name in sorted(others)]
    bundle = open_bundle(write_index(tmp_path / "ckpt-2", [(b"", header()), *rows]))
    assert [entry.dtype for entry in bundle.entries.values()] == sorted(others)


@pytest.mark.tf
def test_index_of_many_blocks_reads_like_tensorflow(tmp_path: Path) -> None:
    tensors = {f"{n:03}/{'long' * 1000}": [1.0, 2.0] for n in range(200)}
    assert_reads_like_tensorflow(save(tmp_path / "ckpt-1", tensors))


@pytest.mark.tf
def test_sliced_tensor_reads_like_tensorflow(tmp_path: Path) -> None:
    slices = {
        "sliced of 10 3 0,4:-": [[1.0] * 3] * 4,
        "sliced of 10 3 4,6:-": [[2.0] * 3] * 6,
        "whole": [1, 2],
    }
    prefix = save(tmp_path / "ckpt-1", slices)
    assert_reads_like_tensorflow(prefix)
    entries = open_bundle(prefix).entries
    assert [(key, entry.slices) for key, entry in entries.items()] == [
        ("sliced", (((0, 0), (4, 3)), ((4, 0), (6, 3)))),
        ("whole", ()),
    ]


@pytest.mark.tf
def test_slices_far_into_giants_read_like_tensorflow(tmp_path: Path) -> None:
    # Starts and lengths of one, two and three bytes in the keys of slices.
    starts = [0, 63, 64, 8191, 8192, 20_000]
    slices = {
        f"n of 20000 {start},{end - start}": np.arange(start, end)
        for start, end in pairwise(starts)
    }
    prefix = save(tmp_path / "ckpt-1", slices)
    assert_reads_like_tensorflow(prefix)
    assert open_bundle(prefix).read("n").tolist() == list(range(20_000))


@pytest.mark.tf
def test_slices_of_a_name_with_bytes_that_their_keys_escape_are_read(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = str(tmp_path / "ckpt-1")
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=[b"\xff\x00\x01\xff"] * 2,
        shape_and_slices=["2 0,1", "2 1,1"],
        tensors=[[1.0], [2.0]],
    )
    bundle = open_bundle(prefix)
    assert [bundle.read(key).tolist() for key in bundle.entries] == [[1, 2]]


@pytest.mark.tf
def test_sliced_strings_are_read_though_tensorflow_cannot(tmp_path: Path) -> None:
    prefix = save(tmp_path / "ckpt-1", {"s of 3 0,1": ["a"], "s of 3 1,2": ["b", "c"]})
    bundle = open_bundle(prefix)
    assert bundle.read("s").tolist() == [b"a", b"b", b"c"]
    assert bundle.entries["s"].size == 6 + 8


@pytest.mark.tf
@pytest.mark.parametrize("sharded", [False, True])
def test_partitioned_variables_read_like_tensorflow(tmp_path: Path, sharded: bool) -> None:
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session() as session:
        for axis in (0, 1):
            tf1.get_variable(
                f"w{axis}",
                shape=(10, 7),
                initializer=tf1.random_normal_initializer(),
                partitioner=tf1.fixed_size_partitioner(3, axis),
            )
        session.run(tf1.global_variables_initializer())
        prefix = tf1.train.Saver(sharded=sharded).save(session, str(tmp_path / "ckpt"))
    assert [len(entry.slices) for entry in open_bundle(prefix).entries.values()] == [3, 3]
    assert_reads_like_tensorflow(prefix)


@pytest.mark.tf
def test_prefix_with_an_empty_name_reads_like_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = tf.train.Checkpoint(v=tf.Variable(1.0)).write(f"{tmp_path}/run/")
    assert prefix == f"{tmp_path}/run/"
    assert_reads_like_tensorflow(prefix)


@pytest.mark.tf
def test_object_based_checkpoint_reads_like_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf

    root: Any = tf.Module()
    root.scalar = tf.Variable("a string")
    root.strings = tf.Variable(["", "two", "longer" * 100])
    root.empty = tf.Variable(tf.zeros((0, 3)))
    root.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    root.table.insert(["a"], [1])
    root.iterator = iter(tf.data.Dataset.range(3))
    prefix = tf.train.Checkpoint(root=root).save(tmp_path / "ckpt")
    assert_reads_like_tensorflow(prefix)

    bundle = open_bundle(prefix)
    for checkpoint_key, dtypes in {
        "scalar/.ATTRIBUTES/VARIABLE_VALUE": ["string"],
        "table/.ATTRIBUTES/table": ["string", "int64"],
        "iterator/.ATTRIBUTES/ITERATOR": ["variant"],
    }.items():
        assert [bundle.entries[key].dtype for key in bundle.matching(checkpoint_key)] == dtypes


@pytest.mark.tf
def test_sharded_checkpoint_reads_like_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf

    if not hasattr(tf.train.experimental, "MaxShardSizePolicy"):
        pytest.skip("TensorFlow before 2.16 has no sharding policies")
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=400)
    variables = [tf.Variable(tf.random.uniform((20, 3))) for _ in range(4)]
    prefix = tf.train.Checkpoint(variables=variables).save(
        tmp_path / "ckpt",
        options=tf.train.CheckpointOptions(experimental_sharding_callback=policy),
    )
    bundle = open_bundle(prefix)
    assert len(list(tmp_path.glob("*.data-*"))) == bundle.num_shards > 1
    assert_reads_like_tensorflow(prefix)
