"""The writer of tensor bundles: our own reader and TensorFlow read back what it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.errors import CkptVizError, FormatError, OutsideError
from ckpt_viz.formats.arrays import tensors
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.formats.bundles.bundle_writer import (
    NewTensor,
    array_tensor,
    copied_tensor,
    strings_tensor,
    write_bundle,
)
from ckpt_viz.formats.storage.confinement import confined_to
from ckpt_viz.formats.storage.sstable import mask_crc32c, read_table
from ckpt_viz.formats.storage.table_writer import encode_table
from tests.support.amounts import amount
from tests.support.tables import (
    FLOAT32,
    STRING,
    Extents,
    floats,
    masked_crc32c,
    raw,
    shape,
    strings,
    write_sliced,
)
from tests.support.tables import write_bundle as write_by_hand

DATA = ".data-00000-of-00001"
BLOCK = 1 << 18
NUMBERS = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("qint8", "quint8", "qint16", "quint16", "qint32"),
    *("int4", "uint4", "float8_e5m2", "float8_e4m3fn"),
)


def numbers(dtype: str, *dims: int) -> tensors.Array:
    """Return an array of a dtype, of bits without order: NaNs, infinities and denormals too."""
    rng = np.random.default_rng(len(dtype))
    numpys = tensors.numpy_dtype(dtype)
    assert numpys is not None
    most = {"bool": 2, "uint4": 16, "int4": 8}.get(dtype, 256)
    count = int(np.prod(dims)) * numpys.itemsize
    return rng.integers(0, most, count, np.uint8).view(numpys).reshape(dims)


def tensor_of(dtype: str, array: tensors.Array) -> NewTensor:
    return array_tensor(dtype, array.shape, lambda: array)


# --- tables


KEYS = st.one_of(
    st.binary(max_size=6),
    st.builds(
        lambda start, end: start * 40 + end, st.sampled_from([b"a", b"ab"]), st.binary(max_size=3)
    ),
)
SIZES = st.one_of(
    st.integers(0, 40),
    st.integers(BLOCK - 30, BLOCK + 30),
    st.integers(BLOCK // 2 - 9, BLOCK // 2 + 9),
)


@given(st.dictionaries(KEYS, SIZES, max_size=40))
@settings(max_examples=amount(60, 2000), deadline=None)
def test_a_table_of_any_rows_is_read_back(sizes: dict[bytes, int]) -> None:
    rows = [(key, bytes([len(key)]) * sizes[key]) for key in sorted(sizes)]
    assert list(read_table(b"".join(encode_table(rows)), "a table")) == rows


# --- bundles


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
DIMS = st.lists(st.integers(0, 5), max_size=4).map(tuple)
STRINGS = st.lists(st.one_of(st.binary(max_size=5), st.just(b"x" * 300)), max_size=5)


@given(
    st.dictionaries(NAMES, st.tuples(st.sampled_from(NUMBERS), DIMS), max_size=12),
    st.dictionaries(NAMES, STRINGS, max_size=4),
)
@settings(max_examples=amount(60, 2000), deadline=None)
def test_any_tensors_are_read_back_bit_by_bit_also_after_a_copy(
    kinds: dict[str, tuple[str, tuple[int, ...]]], texts: dict[str, list[bytes]]
) -> None:
    arrays = {key: numbers(dtype, *dims) for key, (dtype, dims) in kinds.items()}
    given = {key: tensor_of(kinds[key][0], array) for key, array in arrays.items()}
    given |= {key: strings_tensor(text, (len(text),)) for key, text in texts.items()}
    with tempfile.TemporaryDirectory() as directory:
        first, second = (os.path.join(directory, name) for name in ("first", "second"))
        write_bundle(first, given)
        bundle = open_bundle(first)
        assert set(bundle.entries) == set(given)
        write_bundle(second, {key: copied_tensor(bundle, key) for key in given})
        for read in (bundle, open_bundle(second)):
            for key, tensor in given.items():
                entry, found = read.entries[key], read.read(key)
                assert (entry.dtype, entry.shape) == (tensor.dtype, tensor.shape)
                if key in texts:
                    assert found.tolist() == texts[key]
                else:
                    assert found.tobytes() == arrays[key].tobytes()
        assert Path(second + DATA).read_bytes() == Path(first + DATA).read_bytes()


def test_a_tensor_in_slices_is_written_whole(tmp_path: Path) -> None:
    extents: tuple[Extents, ...] = (((0, 1), (0, -1)), ((1, 1), (0, -1)))
    parts = {
        one: raw(FLOAT32, shape(1, 2), np.array([row, 5], np.float32).tobytes())
        for row, one in enumerate(extents)
    }
    bundle = open_bundle(write_sliced(tmp_path / "ckpt", shape(2, 2), parts))
    write_bundle(str(tmp_path / "new"), {"w": copied_tensor(bundle, "w")})
    new = open_bundle(str(tmp_path / "new"))
    assert new.entries["w"].slices == ()
    assert new.read("w").tolist() == [[0, 5], [1, 5]]


def test_a_file_in_the_other_byte_order_is_written_in_this_one(tmp_path: Path) -> None:
    values = {
        "x": raw(FLOAT32, shape(2), np.array([1, 2], ">f4").tobytes()),
        "s": strings([b"a", b"bc"], shape(2), byte_order=">"),
    }
    bundle = open_bundle(write_by_hand(tmp_path / "big", values, endianness=1))
    write_bundle(str(tmp_path / "new"), {key: copied_tensor(bundle, key) for key in values})
    new = open_bundle(str(tmp_path / "new"))
    assert new.byte_order == "little"
    assert new.read("x").tolist() == [1, 2]
    assert new.read("s").tolist() == [b"a", b"bc"]


def test_an_unknown_dtype_is_copied_with_its_checksum(tmp_path: Path) -> None:
    bundle = open_bundle(write_by_hand(tmp_path / "ckpt", {"x": raw(99, shape(2), b"?bytes?")}))
    write_bundle(str(tmp_path / "new"), {"x": copied_tensor(bundle, "x")})
    new = open_bundle(str(tmp_path / "new"))
    assert new.entries["x"] == bundle.entries["x"]
    assert new.beginning("x", 9) == b"?bytes?"
    assert new.entries["x"].crc32c == masked_crc32c(b"?bytes?")


@pytest.mark.parametrize("dtype", [FLOAT32, STRING])
def test_damaged_bytes_are_not_copied(tmp_path: Path, dtype: int) -> None:
    tensor = floats(1.0, 2.0) if dtype == FLOAT32 else strings([b"ab", b"c"], shape(2))
    prefix = write_by_hand(tmp_path / "ckpt", {"x": tensor})
    data = Path(prefix + DATA)
    data.write_bytes(data.read_bytes()[:-1] + b"!")
    bundle = open_bundle(prefix)
    with pytest.raises(FormatError, match="masked crc32c"):
        write_bundle(str(tmp_path / "new"), {"x": copied_tensor(bundle, "x")})
    assert sorted(os.listdir(tmp_path)) == ["ckpt" + DATA, "ckpt.index"]


def test_a_large_tensor_is_copied_in_pieces(tmp_path: Path) -> None:
    size = 3 * (1 << 24) + 5
    zeros = np.zeros(size, np.uint8)
    write_bundle(str(tmp_path / "ckpt"), {"x": tensor_of("uint8", zeros)})
    bundle = open_bundle(str(tmp_path / "ckpt"))
    assert [len(piece) for piece in bundle.pieces("x")] == [1 << 24] * 3 + [5]
    assert bundle.entries["x"].crc32c == mask_crc32c(google_crc32c.value(zeros.tobytes()))


# --- all or nothing


@pytest.mark.parametrize(
    "taken", ["ckpt.index", "ckpt" + DATA, "ckpt.data-00003-of-00007", "ckpt", "ckpt.meta"]
)
def test_no_file_of_the_prefix_is_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_bytes(b"precious")
    (tmp_path / "ckpt-1.index").touch()  # of another prefix
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(CkptVizError, match="exists already") as caught:
        write_bundle(str(tmp_path / "ckpt"), {"x": tensor_of("float32", numbers("float32", 2))})
    assert str(caught.value).startswith(f"{tmp_path / taken}: ")
    assert (tmp_path / taken).read_bytes() == b"precious"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("appears", ["ckpt.index", "ckpt.index.part"])
def test_a_file_that_appears_meanwhile_remains(tmp_path: Path, appears: str) -> None:
    def pieces() -> Iterator[bytes]:
        (tmp_path / appears).write_bytes(b"precious")
        yield b"1234"

    with pytest.raises(CkptVizError, match="exists already"):
        write_bundle(str(tmp_path / "ckpt"), {"x": NewTensor("float32", (1,), pieces)})
    assert (tmp_path / appears).read_bytes() == b"precious"
    assert os.listdir(tmp_path) == [appears]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_an_interrupted_write_leaves_no_file(tmp_path: Path, error: type[BaseException]) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"1234"
        raise error

    tensors = {"a": NewTensor("float32", (2,), pieces)}
    with pytest.raises((error, CkptVizError)):
        write_bundle(str(tmp_path / "ckpt"), tensors)
    assert os.listdir(tmp_path) == []


FULL_DISK = """
import resource, sys
import numpy as np
from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
size = int(sys.argv[2])
one = array_tensor("uint8", (size,), lambda: np.zeros(size, np.uint8))
try:
    write_bundle(sys.argv[1], {f"{i:09}" * 9: one for i in range(int(sys.argv[3]))})
except CkptVizError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("size", "count", "file"),
    [(200_000, 1, DATA), (1, 9_000, ".index.part")],
    ids=["data", "index"],
)
def test_a_full_disk_leaves_no_file(tmp_path: Path, size: int, count: int, file: str) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "ckpt"), str(size), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tmp_path / 'ckpt'}{file}: cannot be written: "), done.stderr
    assert os.listdir(tmp_path) == []


AT_THE_END = """
import errno, sys
from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.bundles.bundle_writer import strings_tensor, write_bundle

left = sys.argv[2:]
errors = {"interrupt": KeyboardInterrupt(), "no links": OSError(errno.EPERM, "no links here")}

def fail(event, args):
    if left and event == left[0]:
        left.pop(0)
        raise errors[left.pop(0)]

sys.addaudithook(fail)
try:
    write_bundle(sys.argv[1], {"x": strings_tensor([b"a"], ())})
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "failures",
    [
        ["os.link", "interrupt"],
        ["os.remove", "interrupt"],  # after the index has got its name
        ["os.link", "no links", "os.rename", "interrupt"],
    ],
)
def test_an_interrupt_at_the_end_leaves_no_file(tmp_path: Path, failures: list[str]) -> None:
    command = [sys.executable, "-c", AT_THE_END, str(tmp_path / "ckpt"), *failures]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted\n"
    assert os.listdir(tmp_path) == []


def test_a_file_system_without_links_is_written_to(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_THE_END, str(tmp_path / "ckpt"), "os.link", "no links"]
    subprocess.run(command, check=True)
    assert sorted(os.listdir(tmp_path)) == ["ckpt" + DATA, "ckpt.index"]
    assert open_bundle(str(tmp_path / "ckpt")).read("x").item() == b"a"


def test_a_python_without_links_writes_over_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a browser."""
    monkeypatch.delattr(os, "link")
    write_bundle(str(tmp_path / "ckpt"), {"x": tensor_of("bool", numbers("bool"))})
    assert sorted(os.listdir(tmp_path)) == ["ckpt" + DATA, "ckpt.index"]
    with pytest.raises(CkptVizError, match="exists already"):
        write_bundle(str(tmp_path / "ckpt"), {"x": tensor_of("bool", numbers("bool"))})


def test_the_directory_of_a_prefix_is_made(tmp_path: Path) -> None:
    prefix = tmp_path / "new" / "run" / "ckpt"
    write_bundle(str(prefix), {"x": tensor_of("bool", numbers("bool"))})
    assert sorted(os.listdir(prefix.parent)) == ["ckpt" + DATA, "ckpt.index"]


def test_where_files_may_only_be_read_none_is_written(tmp_path: Path) -> None:
    with confined_to(str(tmp_path)), pytest.raises(OutsideError, match="may only be read here"):
        write_bundle(str(tmp_path / "ckpt"), {"x": tensor_of("bool", numbers("bool"))})
    assert os.listdir(tmp_path) == []


def test_errors_name_what_is_wrong_with_the_prefix(tmp_path: Path) -> None:
    def said(prefix: str, key: str = "x") -> str:
        with pytest.raises(CkptVizError) as caught:
            write_bundle(prefix, {key: tensor_of("bool", numbers("bool"))})
        return str(caught.value)

    (tmp_path / "file").touch()
    assert "a file has the name of its directory" in said(str(tmp_path / "file" / "ckpt"))
    (tmp_path / "file").unlink()
    assert "expected a prefix such as" in said(f"{tmp_path}/")
    assert "expected a prefix such as" in said(f"{tmp_path}/a\0b")
    assert "expected a local path" in said("gs://bucket/ckpt")
    assert "has no tensor of this key" in said(str(tmp_path / "ckpt"), "")
    assert os.listdir(tmp_path) == []


# --- TensorFlow as the oracle


@pytest.mark.tf
def test_tensorflow_reads_every_dtype(tmp_path: Path) -> None:
    import tensorflow as tf

    arrays = {dtype: numbers(dtype, 3, 4) for dtype in NUMBERS}
    given = {f"of/{dtype}": tensor_of(dtype, array) for dtype, array in arrays.items()}
    text = [b"", b"a", b"\xff\x00", b"long" * 999]
    given |= {"text": strings_tensor(text, (2, 2)), "no text": strings_tensor([], (0,))}
    prefix = str(tmp_path / "ckpt")
    write_bundle(prefix, given)
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_variable_to_shape_map() == {
        key: list(tensor.shape) for key, tensor in given.items()
    }
    for dtype, array in arrays.items():
        assert reader.get_variable_to_dtype_map()[f"of/{dtype}"] == tf.as_dtype(dtype)
        (restored,) = tf.raw_ops.RestoreV2(
            prefix=prefix,
            tensor_names=[f"of/{dtype}"],
            shape_and_slices=[""],
            dtypes=[tf.as_dtype(dtype)],
        )
        assert _bytes_of(restored) == array.tobytes(), dtype
    assert reader.get_tensor("text").ravel().tolist() == text
    assert reader.get_tensor("no text").shape == (0,)


def _bytes_of(tensor: Any) -> bytes:
    """Return the bytes of a tensor; NumPy has no plain form of the quantized dtypes."""
    import tensorflow as tf

    array = tensor.numpy()
    if tensor.dtype.is_quantized:
        array = tf.bitcast(tensor, tensor.dtype.name[1:]).numpy()
    data: bytes = array.tobytes()
    return data


@pytest.mark.tf
def test_tensorflow_finds_every_key_of_an_index_with_several_blocks(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = str(tmp_path / "ckpt")
    keys = [f"{'layer/' * (i % 9)}{i}/{'é' * (i % 5)}" for i in range(30_000)]
    write_bundle(prefix, {key: tensor_of("int32", np.int32(i)) for i, key in enumerate(keys)})
    assert os.path.getsize(f"{prefix}.index") > 2 * BLOCK
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_variable_to_shape_map().keys() == set(keys)
    for i in range(0, len(keys), 7):
        assert reader.get_tensor(keys[i]) == i


KILLED = """
import os, signal, sys
from ckpt_viz.formats.bundles.bundle_writer import NewTensor, write_bundle

def pieces():
    yield b"x" * (1 << 20)
    sys.audit("the middle of the data")

def kill(event, args):
    if event == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
write_bundle(sys.argv[1], {"x": NewTensor("uint8", (1 << 20,), pieces)})
"""


@pytest.mark.tf
@pytest.mark.parametrize(
    ("event", "left"),
    [("the middle of the data", [DATA]), ("os.link", [DATA, ".index.part"])],
    ids=["data", "index"],
)
def test_a_killed_process_leaves_nothing_that_a_reader_takes_for_a_checkpoint(
    tmp_path: Path, event: str, left: list[str]
) -> None:
    import tensorflow as tf

    import ckpt_viz as cv

    prefix = str(tmp_path / "ckpt-1")
    done = subprocess.run([sys.executable, "-c", KILLED, prefix, event], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(os.listdir(tmp_path)) == [f"ckpt-1{suffix}" for suffix in left]
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert not tf.train.get_checkpoint_state(str(tmp_path))
    with pytest.raises(tf.errors.OpError):
        tf.train.load_checkpoint(prefix)
    for path in (tmp_path, prefix):
        with pytest.raises(CkptVizError, match=r"ckpt-1"):
            cv.graph(path)
    with pytest.raises(CkptVizError, match="exists already"):
        write_bundle(prefix, {})
