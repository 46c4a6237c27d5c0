from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from contextlib import suppress
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
    GoneError,
    UnsupportedError,
)
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.bundles.saver_v1 import SaverV1, open_saver_v1
from ckpt_viz.formats.storage.files import open_file
from ckpt_viz.formats.storage.sstable import read_table
from ckpt_viz.ground.text import printable
from tests.support.tables import (
    FLOAT32,
    INT32,
    STRING,
    Extents,
    contents,
    field,
    packed_floats,
    saved_slice,
    shape,
    slice_key,
    slice_meta,
    table,
    varint,
)

ALL: Extents = ((0, -1),)


def write(path: Path | str, meta: bytes, rows: dict[bytes, bytes], **options: Any) -> str:
    """Write one file of a V1 checkpoint and return its path."""
    Path(path).write_bytes(table(sorted({**rows, b"": meta}.items()), **options))
    return str(path)


def write_floats(path: Path | str, slices: Sequence[Extents], *values: bytes) -> str:
    """Write a float32 `w` of 3 elements in slices, of the given TensorProtos."""
    meta = contents(slice_meta(b"w", FLOAT32, shape(3), *slices))
    rows = {
        slice_key(b"w", *extents): saved_slice(value)
        for extents, value in zip(slices, values, strict=False)
    }
    return write(path, meta, rows)


def error_of(path: str, key: str | None = None) -> str:
    with pytest.raises(CkptVizError) as caught:
        checkpoint = open_saver_v1(path)
        if key is not None:
            checkpoint.read(key)
    return str(caught.value).removeprefix(printable(path))


# --- one file


def test_names_and_values_are_read(tmp_path: Path) -> None:
    path = write_floats(tmp_path / "v1", [ALL], packed_floats(5, 1, 2, 3))
    checkpoint = open_saver_v1(path)
    assert list(checkpoint.entries.items()) == [("w", ("float32", (3,), 12, ()))]
    assert checkpoint.read("w").tolist() == [1, 2, 3]
    assert not checkpoint.read("w").flags.writeable
    assert checkpoint.why_unreadable("w") is None
    assert checkpoint.missing == ()


def test_values_in_other_fields_are_read(tmp_path: Path) -> None:
    of_one = {
        b"content": (FLOAT32, field(4, struct.pack("<f", 1.5)), [1.5]),
        b"unpacked": (FLOAT32, varint(5 << 3 | 5) + struct.pack("<f", 2.5), [2.5]),
        b"negative": (INT32, field(7, varint(-3)), [-3]),
        b"half": (19, field(13, varint(0x3C00)), [1.0]),
        b"bfloat16": (14, field(13, varint(0xBF80)), [-1.0]),
        b"complex": (8, packed_floats(9, 1, 2), [1 + 2j]),
        b"string": (STRING, field(8, b"one\0"), [b"one\0"]),
        b"uint64": (23, field(17, varint((1 << 64) - 1)), [(1 << 64) - 1]),
    }
    meta = contents(
        *(slice_meta(name, dtype, shape(1), ALL) for name, (dtype, *_) in of_one.items())
    )
    rows = {slice_key(name, *ALL): saved_slice(proto) for name, (_, proto, _) in of_one.items()}
    checkpoint = open_saver_v1(write(tmp_path / "v1", meta, rows))
    assert {name: checkpoint.read(name).tolist() for name in checkpoint.entries} == {
        name.decode(): values for name, (*_, values) in sorted(of_one.items())
    }


def test_slices_are_put_together(tmp_path: Path) -> None:
    extents: list[Extents] = [((2, 1),), ((0, 2),)]
    path = write_floats(tmp_path / "v1", extents, packed_floats(5, 3), packed_floats(5, 1, 2))
    checkpoint = open_saver_v1(path)
    assert checkpoint.entries["w"].slices == (SliceExtent((2,), (1,)), SliceExtent((0,), (2,)))
    assert checkpoint.read("w").tolist() == [1, 2, 3]


def test_names_are_shown_without_reading_the_tensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = contents(*(slice_meta(b"w%d" % n, FLOAT32, shape(10_000), ALL) for n in range(9)))
    values = saved_slice(packed_floats(5, *range(10_000)))
    rows = {slice_key(b"w%d" % n, *ALL): values for n in range(9)}
    path = write(tmp_path / "v1", meta, rows, rows_per_block=1)
    read = 0

    def counted(path: str) -> Any:
        file = open_file(path)
        whole = file.read

        def count(offset: int, size: int) -> bytes:
            nonlocal read
            read += size
            return whole(offset, size)

        monkeypatch.setattr(file, "read", count)
        return file

    monkeypatch.setattr("ckpt_viz.formats.bundles.saver_v1.open_file", counted)
    checkpoint = open_saver_v1(path)
    assert read < 1000
    assert checkpoint.read("w5")[-1] == 9_999
    assert 40_000 < read < 42_000 < os.path.getsize(path) / 8


def test_names_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    name = b"w\xc3"
    rows = {slice_key(name, *ALL): saved_slice(packed_floats(5, 1))}
    path = write(tmp_path / "v1", contents(slice_meta(name, FLOAT32, shape(1), ALL)), rows)
    checkpoint = open_saver_v1(path)
    assert checkpoint.read("w\\xc3").tolist() == [1]


# --- shards


def shards(tmp_path: Path, *, of: int = 2) -> str:
    for number, (extents, values) in enumerate([(((0, 1),), [1.0]), (((1, 2),), [2.0, 3.0])]):
        path = tmp_path / f"v1-{number:05}-of-{of:05}"
        write_floats(path, [extents], packed_floats(5, *values))
    return str(tmp_path / "v1")


@pytest.mark.parametrize("suffix", ["", "-?????-of-00002"])
def test_shards_are_one_checkpoint(tmp_path: Path, suffix: str) -> None:
    checkpoint = open_saver_v1(shards(tmp_path) + suffix)
    assert checkpoint.read("w").tolist() == [1, 2, 3]
    assert checkpoint.missing == ()


def test_missing_shards_are_named(tmp_path: Path) -> None:
    checkpoint = open_saver_v1(shards(tmp_path, of=3))
    missing = f"{tmp_path}/v1-00002-of-00003"
    assert checkpoint.missing == (missing,)
    assert checkpoint.read("w").tolist() == [1, 2, 3]
    os.remove(tmp_path / "v1-00001-of-00003")
    assert open_saver_v1(f"{tmp_path}/v1").why_unreadable("w") == (
        f"its slices have 1 elements in all, expected 3; {tmp_path}/v1-00001-of-00003: "
        "no such file; the copy is probably partial"
    )


def test_shards_of_two_checkpoints_are_not_mixed(tmp_path: Path) -> None:
    path = shards(tmp_path)
    shards(tmp_path, of=3)
    assert error_of(path) == (
        f": shards of 2 checkpoints share this name; choose {path}-?????-of-00002 "
        f"or {path}-?????-of-00003"
    )
    assert open_saver_v1(f"{path}-?????-of-00002").missing == ()


def test_shards_that_disagree_are_refused(tmp_path: Path) -> None:
    path = shards(tmp_path)
    meta = contents(slice_meta(b"w", INT32, shape(3), ((1, 2),)))
    write(tmp_path / "v1-00001-of-00002", meta, {})
    assert error_of(path) == (
        "-00001-of-00002: 'w': is int32 3 here, but an earlier shard says float32 3"
    )


@pytest.mark.parametrize("name", ["absent", "absent-?????-of-00002", "no/such", "n\0"])
def test_missing_checkpoint_is_named(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    with pytest.raises(CheckpointNotFoundError):
        open_saver_v1(path)
    shown = printable(path)
    assert error_of(path) == (
        f": no such checkpoint; expected a file, or shards {shown}-00000-of-00001 and so on"
    )


# --- hostile files


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a table")
    assert error_of(f"{tmp_path}/text") == (
        ": not a TensorFlow checkpoint index: the file has 11 bytes, expected at least 48"
    )
    Path(tmp_path / "no-rows").write_bytes(table([]))
    assert error_of(f"{tmp_path}/no-rows") == (
        ": has no key b'', expected the table of contents there"
    )
    Path(tmp_path / "bundle.index").write_bytes(table([(b"", field(1, 1))]))
    assert error_of(f"{tmp_path}/bundle.index") == (
        ": table of contents: found none; this is the index of a checkpoint, or another file"
    )


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        (b"\xff", ": table of contents: its 1 bytes are not a SavedTensorSlices"),
        (
            contents(min_consumer=2),
            ": table of contents: needs a reader of version 2, ckpt_viz has version 1",
        ),
        (
            contents(slice_meta(b"w", FLOAT32, shape(-1), ALL)),
            ": 'w': shape is -1, expected sizes from 0, below 2**63 elements in all",
        ),
        (
            contents(slice_meta(b"w", FLOAT32, shape(3), ((2, 2),))),
            ": 'w': slice of 2 at (2,) is not inside 3",
        ),
    ],
)
def test_contents_that_cannot_be_are_refused(tmp_path: Path, meta: bytes, expected: str) -> None:
    assert error_of(write(tmp_path / "v1", meta, {})) == expected


ROW = r": row b'\x00w\x00\x01\x01\x01\x80\x7f'"


@pytest.mark.parametrize(
    ("extents", "values", "expected"),
    [
        ([ALL], [], f"{ROW}: missing, though the table of contents lists it"),
        ([ALL], [packed_floats(5, 1)], f"{ROW}: has 1 values, expected 3"),
        ([ALL], [b""], f"{ROW}: has 0 values, expected 3"),
        ([ALL], [field(4, b"12")], f"{ROW}: has 2 bytes, expected 12 for float32 3"),
        ([((0, 1),)], [], ": 'w': its slices have 1 elements in all, expected 3"),
        ([((0, 1),)] * 3, [], ": 'w': the same slice is listed twice"),
        (
            [((0, 2),), ((1, 1),)],
            [packed_floats(5, 1, 2), packed_floats(5, 3)],
            ": 'w': the slice of 1 at (1,) overlaps another",
        ),
    ],
    ids=["row", "few", "none", "content", "gap", "twice", "overlap"],
)
def test_values_that_do_not_fit_are_refused(
    tmp_path: Path, extents: list[Extents], values: list[bytes], expected: str
) -> None:
    assert error_of(write_floats(tmp_path / "v1", extents, *values), "w") == expected


def test_dtypes_without_a_field_are_unsupported(tmp_path: Path) -> None:
    meta = contents(
        slice_meta(b"unknown", 99, shape(3), ALL), slice_meta(b"variant", 21, shape(3), ALL)
    )
    rows = {
        slice_key(b"unknown", *ALL): saved_slice(field(4, b"what")),
        slice_key(b"variant", *ALL): saved_slice(b""),
    }
    checkpoint = open_saver_v1(write(tmp_path / "v1", meta, rows))
    with pytest.raises(DtypeError) as caught:
        checkpoint.read("unknown")
    assert caught.value.raw == b"what"
    with pytest.raises(UnsupportedError, match="cannot read variant, which V1 checkpoints"):
        checkpoint.read("variant")


def test_file_that_went_away_is_named(tmp_path: Path) -> None:
    path = write_floats(tmp_path / "v1", [ALL], packed_floats(5, 1, 2, 3))
    checkpoint = open_saver_v1(path)
    os.remove(path)
    with pytest.raises(GoneError, match="v1: this file has disappeared"):
        checkpoint.read("w")


def outcome(path: str) -> Any:
    """Open a checkpoint and read all of it."""
    try:
        checkpoint = open_saver_v1(path)
    except CkptVizError:
        return None
    values = {}
    for key in checkpoint.entries:
        with suppress(CkptVizError):
            values[key] = checkpoint.read(key).tolist()
    return values


dims = st.binary(max_size=4) | st.lists(st.integers(-1, 3), max_size=2).map(lambda n: shape(*n))
extents_strategy = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=2).map(
    tuple
)
metas = st.binary(max_size=20) | st.lists(
    st.builds(
        lambda dtype, dims, slices: slice_meta(b"w", dtype, dims, *slices),
        st.sampled_from([FLOAT32, STRING, 10, 8, 99]),
        dims,
        st.lists(extents_strategy, max_size=3),
    ),
    max_size=2,
).map(lambda tensors: contents(*tensors))
tensor_protos = st.binary(max_size=10) | st.builds(
    field, st.sampled_from([4, 5, 8, 9, 11]), st.binary(max_size=12)
)
values_strategy = st.binary(max_size=10) | tensor_protos.map(saved_slice)


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    metas,
    st.dictionaries(extents_strategy.map(lambda e: slice_key(b"w", *e)), values_strategy),
)
def test_any_rows_give_a_checkpoint_or_our_error(
    tmp_path: Path, meta: bytes, rows: dict[bytes, bytes]
) -> None:
    outcome(write(tmp_path / "v1", meta, rows))


def test_every_changed_byte_gives_the_same_values_or_our_error(tmp_path: Path) -> None:
    path = write_floats(
        tmp_path / "v1", [((2, 1),), ((0, 2),)], packed_floats(5, 3), packed_floats(5, 1, 2)
    )
    data = Path(path).read_bytes()
    whole = outcome(path)
    assert whole == {"w": [1, 2, 3]}
    for position in range(len(data)):
        changed = bytes([data[position] ^ 0x40])
        Path(path).write_bytes(data[:position] + changed + data[position + 1 :])
        assert outcome(path) in (None, whole)
        Path(path).write_bytes(data[:position])
        assert outcome(path) is None


# --- TensorFlow is the oracle


def save_v1(directory: Path, values: dict[str, Any], *, sharded: bool = False) -> tuple[str, Any]:
    """Have TensorFlow save variables, and a partitioned one; return the path and the values."""
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session() as session:
        for name, value in values.items():
            tf1.get_variable(name, initializer=value, use_resource=False)
        partitioned = tf1.get_variable(
            "partitioned",
            shape=(100, 70),
            initializer=tf1.random_normal_initializer(),
            partitioner=tf1.fixed_size_partitioner(3),
            use_resource=False,
        )
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver(write_version=tf1.train.SaverDef.V1, sharded=sharded)
        path = saver.save(session, str(directory / "ckpt"), write_meta_graph=False)
        return path, session.run(partitioned.as_tensor())


@pytest.mark.tf
@pytest.mark.parametrize(
    ("sharded", "snappy"), [(False, False), (True, False), (True, True)], ids=str
)
def test_values_read_like_tensorflow(tmp_path: Path, sharded: bool, snappy: bool) -> None:
    import tensorflow as tf

    dtypes = "float32 float64 int32 uint8 int16 int8 complex64 int64 bool complex128 float16 uint16"
    values = {name: np.array([[0, 1, -1], [2, 3, 100]]).astype(name) for name in dtypes.split()}
    values |= {
        "scope/scalar": np.float32(7),
        "empty": np.zeros((0, 3), np.float32),
        "large": np.arange(300_000, dtype=np.float32),
        "strings": np.array([b"", b"two", "ü".encode() * 300, b"\0"], object),
    }
    path, partitioned = save_v1(tmp_path, values, sharded=sharded)
    assert ("?????" in path) == sharded
    for file in tmp_path.glob("ckpt-*") if snappy else ():  # as TensorFlow up to 1.1 wrote them
        rows = list(read_table(file.read_bytes(), "x"))
        file.write_bytes(table(rows, rows_per_block=3, snappy=True))
    checkpoint = open_saver_v1(path)
    reader = tf.train.load_checkpoint(path)
    dtype_map = reader.get_variable_to_dtype_map()
    assert {key: (entry.dtype, entry.shape) for key, entry in checkpoint.entries.items()} == {
        key: (dtype_map[key].name, tuple(shape))
        for key, shape in reader.get_variable_to_shape_map().items()
    }
    for key, value in values.items():
        assert_same(checkpoint.read(key), value)
        if dtype_map[key].name in ("float32", "float64", "int32", "uint8", "int64", "int8"):
            assert_same(checkpoint.read(key), reader.get_tensor(key))  # those it supports
    assert len(checkpoint.entries["partitioned"].slices) == 3
    assert_same(checkpoint.read("partitioned"), partitioned)


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.dtype == theirs.dtype
    assert ours.tolist() == theirs.tolist()


@pytest.mark.tf
def test_tensorflow_reads_what_these_tests_write(tmp_path: Path) -> None:
    import tensorflow as tf

    path = write_floats(tmp_path / "v1", [ALL], packed_floats(5, 1, 2, 3))
    reader = tf.train.load_checkpoint(path)
    assert reader.get_tensor("w").tolist() == open_saver_v1(path).read("w").tolist()


def test_repr_is_short(tmp_path: Path) -> None:
    checkpoint = open_saver_v1(write_floats(tmp_path / "v1", [ALL], packed_floats(5, 1, 2, 3)))
    assert isinstance(checkpoint, SaverV1)
    assert repr(checkpoint) == f"SaverV1(path='{tmp_path}/v1', missing=())"
