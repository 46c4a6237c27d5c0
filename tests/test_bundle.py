from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.bundle import MAX_INDEX_BYTES, Bundle, Entry, open_bundle
from tests.tables import (
    FLOAT32,
    INT64,
    STRING,
    Tensor,
    bundle_entry,
    field,
    floats,
    header,
    masked_crc32c,
    shape,
    string,
    write_bundle,
    write_index,
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
    whole = bundle_entry(FLOAT32, shape(4, 2), slices=[b"", b""])
    plain = bundle_entry(INT64, offset=32, size=8, crc32c=7)
    slice_ = bundle_entry(FLOAT32, shape(2, 2), size=16)
    rows = [(b"", header(2)), (b"\x00\x01w\x00\x01", slice_), (b"step", plain), (b"w", whole)]
    bundle = open_bundle(write_index(tmp_path / "ckpt-1", rows))
    assert bundle.num_shards == 2
    assert list(bundle.entries.items()) == [
        ("step", Entry("int64", (), 0, 32, 8, 7, is_sliced=False)),
        ("w", Entry("float32", (4, 2), 0, 0, 32, 0, is_sliced=True)),
    ]


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
    assert [entry.size for entry in bundle.matching("\\xff")] == [3]


def test_keys_that_read_the_same_once_escaped_are_refused(tmp_path: Path) -> None:
    rows = [(b"", header()), (b"\\xff", bundle_entry()), (b"\xff", bundle_entry())]
    message = error_of(write_index(tmp_path / "ckpt-1", rows))
    assert message == "entry '\\\\xff': a second key reads the same, once escaped"


def test_missing_checkpoint_names_prefix_and_expected_file(tmp_path: Path) -> None:
    missing = f"{tmp_path}/ckpt-7"
    for prefix in (missing, f"{missing}\0", f"{__file__}/ckpt-7"):
        with pytest.raises(CheckpointNotFoundError) as caught:
            open_bundle(prefix)
        assert str(caught.value) == f"{prefix}: no such checkpoint; expected a file {prefix}.index"


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
        "not a TensorFlow checkpoint index: the file has 0 bytes, expected at least 48"
    )


def test_importing_the_readers_imports_no_tensorflow() -> None:
    program = "import sys, ckpt_viz.formats.bundle; assert 'tensorflow' not in sys.modules"
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
            "shape is (2, -3), expected sizes from 0, below 2**63 elements in all",
        ),
        (
            bundle_entry(dims=shape(1 << 32, 1 << 31)),
            f"shape is ({1 << 32}, {1 << 31}), expected sizes from 0, below 2**63 elements in all",
        ),
        (bundle_entry(dims=shape(*[1] * 255)), "has 255 dimensions, expected at most 254"),
    ],
)
def test_entry_that_cannot_be_is_refused(tmp_path: Path, proto: bytes, expected: str) -> None:
    prefix = index_of(tmp_path, bundle_entry(), proto, head=header(2))
    assert error_of(prefix) == f"entry 'b': {expected}"


def test_enormous_number_of_shards_costs_nothing(tmp_path: Path) -> None:
    entry = bundle_entry(shard=2**31 - 2, size=4)
    bundle = open_bundle(index_of(tmp_path, entry, head=header(2**31 - 1)))
    with pytest.raises(FormatError, match=r"data-2147483646-of-2147483647: no such file"):
        bundle.read_bytes("a")


# --- matching


def bundle_of(*keys: str) -> Bundle:
    entries = {key: Entry("int64", (), 0, n, 8, 0, False) for n, key in enumerate(sorted(keys))}
    return Bundle("ckpt-1", 1, "little", entries)


def test_checkpoint_key_stands_for_its_entry_else_for_those_it_begins() -> None:
    keys = ("it/ITERATOR_STATE", "t/table-keys", "t/table-values", "v", "v2", "w", "x\U0010ffff")
    bundle = bundle_of(*keys)
    matched = {
        asked: tuple(keys[entry.offset] for entry in bundle.matching(asked))
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


def test_checkpoint_key_that_begins_too_many_keys_stands_for_none() -> None:
    bundle = bundle_of(*(f"model/{n:03}" for n in range(257)))
    assert bundle.matching("model/") == ()
    assert len(bundle.matching("model/0")) == 100


# --- reading values


def test_values_are_read_and_checked(prefix: str) -> None:
    bundle = open_bundle(prefix)
    assert bundle.read_bytes("kernel") == struct.pack("<3f", 1, 2, 3)
    assert bundle.read_string_scalar(GRAPH) == b"an object graph"


def test_string_of_a_big_endian_machine_is_read(tmp_path: Path) -> None:
    tensors = {"s": string(b"value", byte_order=">")}
    bundle = open_bundle(write_bundle(tmp_path / "ckpt-1", tensors, endianness=1))
    assert bundle.byte_order == "big"
    assert bundle.read_string_scalar("s") == b"value"


def message_of(prefix: str, key: str = GRAPH) -> str:
    """Return what reading a tensor of a bad bundle says after the prefix."""
    bundle = open_bundle(prefix)
    with pytest.raises(CkptVizError) as caught:
        bundle.read_string_scalar(key) if key == GRAPH else bundle.read_bytes(key)
    return str(caught.value).removeprefix(prefix)


def test_missing_shard_is_told_when_its_bytes_are_wanted(prefix: str) -> None:
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
def test_changed_value_is_told_by_its_checksum(prefix: str, key: str, offset: int) -> None:
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


def test_string_whose_length_is_wrong_is_refused(tmp_path: Path) -> None:
    for data, expected in [
        (b"\x09\0\0\0\0abc", "the string has 3 bytes, its length says 9"),
        (b"\x80" * 12, "the varint at byte 0 does not end within 10 bytes"),
        (b"", "the varint at byte 0 does not end within 0 bytes"),
    ]:
        prefix = write_bundle(tmp_path / "ckpt-1", {GRAPH: Tensor(STRING, b"", data, data)})
        assert message_of(prefix) == f".data-00000-of-00001: '{GRAPH}' at offset 0: {expected}"


def test_values_of_another_kind_are_refused(tmp_path: Path) -> None:
    sliced = bundle_entry(FLOAT32, shape(4), slices=[b""])
    short = bundle_entry(FLOAT32, shape(4), size=12)
    bundle = open_bundle(index_of(tmp_path, sliced, short, bundle_entry(STRING)))
    with pytest.raises(UnsupportedError, match="'a': saved in slices, which ckpt_viz does not"):
        bundle.read_bytes("a")
    with pytest.raises(FormatError, match=r"'b': size is 12 bytes, expected 16 for float32 \(4,\)"):
        bundle.read_bytes("b")
    with pytest.raises(UnsupportedError, match=r"'c': cannot read string \(\)"):
        bundle.read_bytes("c")
    with pytest.raises(FormatError, match=r"'b': is float32 \(4,\), expected a string scalar"):
        bundle.read_string_scalar("b")


# --- laws: a bundle or our error, whatever the bytes


def outcome(prefix: str) -> Mapping[str, Entry] | None:
    """Open a bundle and read all of it."""
    try:
        bundle = open_bundle(prefix)
    except CkptVizError:
        return None
    for key, entry in bundle.entries.items():
        with suppress(CkptVizError):
            bundle.read_string_scalar(key) if entry.dtype == "string" else bundle.read_bytes(key)
    return bundle.entries


small = st.sampled_from([-(1 << 63), -1, 0, 1, 2, 4, 8, 1 << 31, (1 << 63) - 1])
protos = st.binary(max_size=30) | st.builds(
    bundle_entry,
    st.sampled_from([FLOAT32, STRING, 21, 99]),
    st.binary(max_size=8) | st.lists(small, max_size=3).map(lambda sizes: shape(*sizes)),
    shard=small,
    offset=small,
    size=small,
    crc32c=st.integers(0, (1 << 32) - 1),
    slices=st.lists(st.binary(max_size=4), max_size=1),
)
heads = st.just(header()) | st.builds(header, small, endianness=small, min_consumer=small)


@settings(
    max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(heads | st.binary(max_size=12), st.dictionaries(st.binary(max_size=4), protos), st.binary())
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
    reader = tf.train.load_checkpoint(prefix)
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    assert {key: (entry.dtype, entry.shape) for key, entry in bundle.entries.items()} == {
        key: (dtypes[key].name, tuple(shapes[key])) for key in dtypes
    }
    for key, entry in bundle.entries.items():
        if entry.dtype == "string" and entry.shape == ():
            assert bundle.read_string_scalar(key) == reader.get_tensor(key)
        elif entry.is_sliced:
            assert entry.size == reader.get_tensor(key).nbytes
        elif entry.dtype not in ("string", "variant"):
            assert bundle.read_bytes(key) == reader.get_tensor(key).tobytes()


@pytest.mark.tf
def test_tensorflow_reads_what_these_tests_write(tmp_path: Path) -> None:
    tensors = {f"layer-{n:04}/kernel": floats(n, n + 1) for n in range(1500)}
    prefix = write_bundle(tmp_path / "ckpt-1", tensors | {GRAPH: string(b"graph" * 100)})
    assert_reads_like_tensorflow(prefix)


@pytest.mark.tf
def test_every_dtype_reads_like_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf
    from tensorflow.core.framework import types_pb2

    dtypes = [tf.as_dtype(number) for number in types_pb2.DataType.values() if 0 < number < 100]
    numbers = np.array([[0, 1]])
    tensors = {d.name: tf.constant(numbers.astype(d.as_numpy_dtype), d) for d in dtypes if d.size}
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
    assert [(key, entry.is_sliced) for key, entry in entries.items()] == [
        ("sliced", True),
        ("whole", False),
    ]


@pytest.mark.tf
def test_sliced_strings_have_no_size(tmp_path: Path) -> None:
    prefix = save(tmp_path / "ckpt-1", {"s of 3 0,1": ["a"], "s of 3 1,2": ["b", "c"]})
    assert open_bundle(prefix).entries == {"s": Entry("string", (3,), 0, 0, 0, 0, is_sliced=True)}


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
        assert [entry.dtype for entry in bundle.matching(checkpoint_key)] == dtypes


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
