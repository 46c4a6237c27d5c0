from __future__ import annotations

import builtins
import io
import itertools
import os
import random
import resource
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pytest

from ckpt_viz.errors import (
    CkptVizError,
    FormatError,
    GoneError,
    NoSuchTensorError,
    ReadLimitError,
    UnsupportedError,
)
from ckpt_viz.formats.hdf5_files import hdf5, hdf5_walk
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5, begins_as_hdf5, open_hdf5
from ckpt_viz.formats.hdf5_files.hdf5_objects import SIGNATURE
from ckpt_viz.formats.hdf5_files.hdf5_walk import Dataset
from ckpt_viz.formats.storage.confinement import confined_to
from ckpt_viz.formats.storage.files import BytesFile, File, open_file
from tests.hostile.limits import GUARD_BYTES, ends
from tests.support.amounts import amount
from tests.support.hdf5_files import (
    NUMBERS,
    OPTIONS,
    damaged,
    write_attributes,
    write_bfloat16,
    write_chunks,
    write_small,
    write_split_attribute,
    write_values,
    written,
)

PATH = "model.h5"
_APART = {"libver", "track_order"}  # options with which HDF5 keeps long attributes in a heap
OLD_INDEX = ("earliest", "1.8", "track_order", "user block", "pages")  # of chunks


def opened(data: bytes) -> Hdf5:
    return open_hdf5(PATH, partial(BytesFile, PATH, data))


def from_h5py(data: bytes) -> Any:
    return h5py.File(io.BytesIO(data), "r")


def error_of(data: bytes, use: Callable[[Hdf5], object] = lambda file: None) -> str:
    with pytest.raises(CkptVizError) as caught:
        use(opened(data))
    assert str(caught.value).startswith(f"{PATH}: ")
    return str(caught.value).removeprefix(f"{PATH}: ")


def assert_same(file: Hdf5, oracle: Any) -> None:
    """Assert that a file has the groups, data sets and values that h5py reads."""
    groups, datasets = {""}, {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            datasets[name] = item
        else:
            groups.add(name)

    oracle.visititems(visit)
    assert set(file.groups) == groups
    assert set(file.entries) == set(datasets)
    for name, dataset in datasets.items():
        assert file.why_unreadable(name) is None
        expected, value = np.asarray(dataset[()]), file.read(name)
        assert file.entries[name].shape == value.shape == expected.shape, name
        assert not value.flags.writeable
        if value.dtype == object:
            assert file.entries[name].dtype == "string"
            assert value.tolist() == expected.tolist(), name
        else:
            assert file.entries[name].dtype == value.dtype.name, name
            assert value.nbytes == file.entries[name].size, name
            assert np.array_equal(value, expected), name


# --- what a file holds


@pytest.mark.parametrize("options", OPTIONS)
def test_groups_and_values_are_those_that_h5py_reads(options: str) -> None:
    data = written(write_values, **OPTIONS[options])
    with from_h5py(data) as oracle:
        assert_same(opened(data), oracle)


@pytest.mark.parametrize("options", OLD_INDEX)
def test_chunks_are_those_that_h5py_reads(options: str) -> None:
    data = written(write_chunks, **OPTIONS[options])
    with from_h5py(data) as oracle:
        assert_same(opened(data), oracle)


@pytest.mark.parametrize("options", OPTIONS)
def test_attributes_are_those_that_h5py_reads(options: str) -> None:
    data = written(write_attributes, **OPTIONS[options])
    file = opened(data)
    with from_h5py(data) as oracle:
        texts = {name: value for name, value in oracle.attrs.items() if isinstance(value, str)}
        assert len(texts) == 41
        assert {name: file.text("", name) for name in texts} == texts
    assert file.text("", "bytes") == "fixed"
    assert file.texts("", "names") == ["a", "bb"]
    assert file.texts("", "variable") == ["a", "bé"]
    assert file.texts("", "nothing") == []
    for name in ("names", "number", "numbers", "missing"):
        assert file.text("", name) is None
    for name in ("config", "number", "numbers", "missing"):
        assert file.texts("", name) is None
    assert file.text("missing", "config") is None


@pytest.mark.parametrize("options", OPTIONS)
def test_a_split_list_is_joined(options: str) -> None:
    data = written(write_split_attribute, **OPTIONS[options])
    if _APART.intersection(OPTIONS[options]) and version("pyfive") < "1.2":
        reason = error_of(data, lambda file: file.texts("", "split"))
        assert reason.endswith("pip install -U pyfive, or convert the file with h5repack")
        return
    file = opened(data)
    assert file.texts("", "split") == [
        f"{number}/{place}" for number in range(3) for place in range(1000)
    ]
    assert file.texts("", "split1") == [f"1/{place}" for place in range(1000)]


@pytest.mark.parametrize("options", OPTIONS)
def test_bfloat16_is_known_by_the_attribute_with_which_keras_marks_it(options: str) -> None:
    file = opened(written(write_bfloat16, **OPTIONS[options]))
    assert file.entries["bfloat16"].dtype == "bfloat16"
    assert file.entries["bytes"].dtype is None
    assert file.read("bfloat16").dtype == ml_dtypes.bfloat16
    assert file.read("bfloat16").astype(int).tolist() == [0, 1, 2, 3, 4, 5]
    reason = file.why_unreadable("bytes")
    assert reason == "it has opaque bytes, and TensorFlow has no dtype for these"


def test_children_come_after_their_parent_in_the_order_of_saving() -> None:
    def write(file: Any) -> None:
        for name in ("b", "c", "a"):
            file.create_group(name)
            for number in (1, 10, 2, 0):
                file[f"{name}/{number}"] = np.float32(0)

    file = opened(written(write))
    assert list(file.groups) == ["", "b", "c", "a"]
    assert list(file.entries) == [f"{name}/{number}" for name in "bca" for number in (1, 10, 2, 0)]
    addresses = [entry.address for name in "bca" for entry in [file.entries[f"{name}/1"]]]
    assert addresses == sorted(addresses)


def test_groups_are_in_the_order_of_saving_where_hdf5_uses_freed_space_again() -> None:
    """The table of names grows with its group, and what it leaves takes headers of new groups."""
    names = [f"layer_{number:03}" for number in range(60)]
    random.shuffle(names)

    def write(file: Any) -> None:
        layers = file.create_group("layers")
        for number, name in enumerate(names):
            variables = layers.create_group(name).create_group("vars")
            if number % 3:
                variables["0"] = np.zeros(number, "f4")

    file = opened(written(write))
    addresses = [file.groups[f"layers/{name}"] for name in names]
    assert addresses != sorted(addresses)
    assert [group.split("/")[1] for group in file.groups if group.count("/") == 1] == names


def test_an_entry_is_described_without_its_value() -> None:
    def write(file: Any) -> None:
        file["w"] = np.zeros((2, 3), "f4")
        file["texts"] = ["a", "bb"]
        file["fixed"] = np.array([b"a", b"bb"])
        file.create_dataset("zeros", data=np.zeros(1000), compression="gzip")

    entries = opened(written(write)).entries
    assert entries["w"] == Dataset("float32", (2, 3), 24, entries["w"].address)
    assert [entries[name].size for name in ("texts", "fixed", "zeros")] == [0, 4, 8000]


def test_first_elements_are_read_where_that_is_cheap() -> None:
    def write(file: Any) -> None:
        file["w"] = np.arange(12.0).reshape(3, 4)
        file["bool"] = np.array([True, False])
        file["texts"] = ["a"]
        file.create_dataset("chunks", data=np.arange(5), chunks=(2,))

    file = opened(written(write))
    for name, count, expected in (("w", 5, [0, 1, 2, 3, 4]), ("bool", 5, [True, False])):
        elements = file.first_elements(name, count)
        assert elements is not None
        assert elements.tolist() == expected
    assert file.first_elements("texts", 1) is None
    assert file.first_elements("chunks", 1) is None


def test_a_key_that_is_not_there_raises() -> None:
    file = opened(written(write_small))
    for use in (file.read, file.why_unreadable, partial(file.first_elements, count=1)):
        with pytest.raises(NoSuchTensorError, match="there is no data set 'missing'"):
            use("missing")


# --- links and names


def test_links_out_of_the_file_and_soft_links_are_left_out() -> None:
    file = opened(written(write_small))
    assert not {"soft", "external"} & {*file.groups, *file.entries}


def test_a_group_has_its_content_under_its_first_path_and_every_other_path_is_an_alias() -> None:
    def write(file: Any) -> None:
        file["a/b/w"] = np.float32(1)
        file["a/b/up"] = file["/"]
        file["same"] = file["a/b/w"]
        file["z"] = file["a"]

    file = opened(written(write))
    assert list(file.groups) in (["", "a", "a/b", "a/b/up", "z"], ["", "z", "z/b", "z/b/up", "a"])
    assert file.groups["a"] == file.groups["z"]
    assert len(file.entries) == 2
    assert len(set(file.entries.values())) == 1


def test_a_named_type_is_no_data_set_and_one_that_has_it_cannot_be_read() -> None:
    def write(file: Any) -> None:
        file["type"] = np.dtype("f8")
        file.create_dataset("w", data=np.arange(3.0), dtype=file["type"])

    file = opened(written(write))
    assert list(file.entries) == ["w"]
    assert "stored elsewhere" in str(file.why_unreadable("w"))


NAMES = ["..", "é中", "a\nb", "\x1b[31m", "x" * 4000, "sp ace", "%s{0}", "con:0"]


@pytest.mark.parametrize("options", ["earliest", "latest"])
def test_names_are_only_keys(options: str) -> None:
    def write(file: Any) -> None:
        for name in NAMES:
            h5py.h5g.create(file.id, name.encode())

    file = opened(written(write, **OPTIONS[options]))
    assert set(file.groups) == {"", *NAMES}


def test_a_name_that_is_not_utf_8_is_escaped() -> None:
    data = written(lambda file: file.create_group("abcd")).replace(b"abcd", b"\xff\xfecd")
    assert list(opened(data).groups) == ["", r"\xff\xfecd"]


def test_a_name_with_a_slash_or_two_equal_names_are_refused() -> None:
    data = written(lambda file: [file.create_group(name) for name in ("abcd", "wxyz")])
    assert "expected one without '/'" in error_of(data.replace(b"abcd", b"ab/d"))
    assert "two links have the path 'abcd'" in error_of(data.replace(b"wxyz", b"abcd"))


# --- what cannot be read


def _virtual(file: Any) -> None:
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("/etc/other.h5", "w", (4,))
    file.create_virtual_dataset("w", layout)


UNREADABLE: dict[str, tuple[Callable[[Any], object], str]] = {
    "lzf": (lambda file: file.create_dataset("w", data=np.ones(9), compression="lzf"), "(lzf)"),
    "scale-offset": (
        lambda file: file.create_dataset("w", data=np.arange(9), scaleoffset=0, chunks=(3,)),
        "the filter 6 (scale-offset)",
    ),
    "external": (
        lambda file: file.create_dataset("w", (4,), "f4", external=[("/etc/passwd", 0, 16)]),
        "in other files, which are never opened",
    ),
    "virtual": (_virtual, "it is virtual"),
    "null": (lambda file: file.create_dataset("w", data=h5py.Empty("f4")), "it is empty"),
    "record": (
        lambda file: file.create_dataset("w", (2,), [("a", "f4"), ("b", "i4")]),
        "records of several fields",
    ),
    "reference": (lambda file: file.create_dataset("w", (2,), h5py.ref_dtype), "references"),
    "array": (lambda file: file.create_dataset("w", (2,), "(3,)f4"), "arrays"),
    "list": (
        lambda file: file.create_dataset("w", (2,), h5py.vlen_dtype("i4")),
        "lists of variable length",
    ),
    "12 bits": (
        lambda file: _of_type(file, "STD_I16LE", lambda kind: kind.set_precision(12)),
        "integers of 12 bits in 2 bytes",
    ),
    "float of another kind": (
        lambda file: _of_type(file, "IEEE_F32LE", lambda kind: kind.set_ebias(100)),
        "floats of an unknown kind, of 4 bytes",
    ),
    "bits": (lambda file: _of_type(file, "STD_B8LE", lambda kind: None), "bit fields"),
    "newer index": (
        lambda file: file.create_dataset("w", data=np.arange(9), chunks=(2,)),
        "the index of its chunks is of a newer kind",
    ),
}


def _of_type(file: Any, name: str, change: Callable[[Any], object]) -> None:
    kind = getattr(h5py.h5t, name).copy()
    change(kind)
    h5py.h5d.create(file.id, b"w", kind, h5py.h5s.create_simple((2,)))


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_data_set_that_cannot_be_read_says_why_and_the_others_are_read(case: str) -> None:
    write, reason = UNREADABLE[case]

    def write_both(file: Any) -> None:
        write(file)
        file["other"] = np.float32(1)

    newer = case in ("virtual", "newer index")
    file = opened(written(write_both, libver="latest" if newer else "earliest"))
    assert reason in str(file.why_unreadable("w"))
    with pytest.raises(UnsupportedError, match=r"model\.h5: 'w': it|'w': the index"):
        file.read("w")
    assert file.read("other") == 1


def test_a_float_of_two_bytes_is_bfloat16_if_its_bits_are() -> None:
    """HDF5 2.0 has such a type; pyfive takes it for float16."""

    def write(file: Any) -> None:
        kind = h5py.h5t.IEEE_F16LE.copy()
        kind.set_fields(15, 7, 8, 0, 7)
        kind.set_ebias(127)
        value = h5py.h5d.create(file.id, b"w", kind, h5py.h5s.create_simple((2,)))
        value.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1.5, -3], "f4"))

    file = opened(written(write))
    assert file.entries["w"].dtype == "bfloat16"
    assert file.read("w").astype(float).tolist() == [1.5, -3]


def test_an_opaque_type_is_not_evaluated() -> None:
    """h5py stores a NumPy dtype in the tag; pyfive evaluates it."""
    data = written(lambda file: file.create_dataset("w", (2,), h5py.opaque_dtype("M8[s]")))
    assert opened(data).entries["w"].dtype is None
    hostile = data.replace(b"NUMPY:<M8[s]", b"NUMPY:O,O,O,")
    assert hostile != data
    assert opened(hostile).entries["w"].dtype is None


def test_no_other_file_and_no_thread_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def use_all(file: Hdf5) -> int:
        assert file.text("", "config")
        readable = [key for key in file.entries if file.why_unreadable(key) is None]
        return len([file.read(key) for key in readable])

    def write(file: Any) -> None:
        write_small(file)
        write_chunks(file.create_group("c"))
        for case in ("external", "record"):
            UNREADABLE[case][0](file.create_group(f"a {case}"))

    everything = written(write)
    use_all(opened(everything))  # imports what it needs

    def never(*args: object, **options: object) -> None:
        raise AssertionError(f"opened {args}")

    for module, name in ((builtins, "open"), (io, "open"), (os, "open")):
        monkeypatch.setattr(module, name, never)
    monkeypatch.setattr(threading.Thread, "start", never)
    assert use_all(opened(everything)) == 30


def test_opening_imports_numpy_and_pyfive_only_then() -> None:
    module = "ckpt_viz.formats.hdf5_files.hdf5"
    source = f"import sys, {module}; print({{'numpy', 'pyfive'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert done.stdout == b"set()\n"


def test_a_missing_package_is_no_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyfive.dataobjects", None)
    message = error_of(written(write_small))
    assert "needs the package pyfive.dataobjects, which is not installed here" in message


# --- what is no HDF5 file


def test_a_file_begins_as_hdf5_also_after_a_user_block() -> None:
    for size in (0, 512, 1024, 8192):
        data = written(write_small, userblock_size=size)
        assert begins_as_hdf5(BytesFile(PATH, data))
        assert len(opened(data).entries) == 22
    for data in (b"", b"\x89HDF", b"CDF\x01" * 100, b"\0" * 20_000, b"x" + SIGNATURE):
        assert not begins_as_hdf5(BytesFile(PATH, data))
        assert error_of(data).split(";")[0] in (
            "not an HDF5 file: its signature is missing",
            "an empty file, expected an HDF5 file",
            "a file of zeros (20.0 kB), expected an HDF5 file",
        )


def test_a_file_that_is_gone_raises(tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    path.write_bytes(written(write_small))
    file = open_hdf5(str(path), partial(open_file, str(path)))
    path.unlink()
    with pytest.raises(GoneError):
        file.read("fixed")


def test_a_file_that_changes_after_it_was_opened_raises() -> None:
    files = [written(lambda file: file.create_dataset("w", data=np.ones(4, "f4")))]
    files.append(written(lambda file: file.create_dataset("w", data=np.ones(5, "f4"))))
    current = iter(files)
    file = open_hdf5(PATH, lambda: BytesFile(PATH, next(current)))
    with pytest.raises(FormatError, match="changed since the file was opened; open it again"):
        file.read("w")


def test_superblocks_of_other_kinds_say_what_to_do() -> None:
    data = bytearray(written(write_small))
    data[8] = 4
    assert error_of(bytes(data)) == (
        "groups: the superblock has version 4, expected 0 to 3; convert the file with h5repack"
    )
    data[8], data[13] = 0, 4
    assert "found addresses and lengths of 4 and 8 bytes, expected 8 and 8" in error_of(bytes(data))


def _matlab(file: Any) -> None:
    file["x"] = np.arange(6.0).reshape(2, 3)
    file["x"].attrs["MATLAB_class"] = np.bytes_(b"double")
    file.create_dataset("cell", data=np.array([file["x"].ref], h5py.ref_dtype))
    file["#refs#/a"] = np.arange(3, dtype="u2")


def _pytables(file: Any) -> None:
    file.attrs["CLASS"], file.attrs["PYTABLES_FORMAT_VERSION"] = np.bytes_(b"GROUP"), "2.1"
    rows = np.zeros(9, [("index", "i8"), ("values", "f8", (3,))])
    file.create_dataset("df/table", data=rows, chunks=(4,), maxshape=(None,))
    file["df/values"] = np.arange(6.0)


def _netcdf(file: Any) -> None:
    file["time"] = np.arange(4.0)
    file["time"].make_scale("time")
    file.create_dataset("wind", data=np.ones((4, 2), "f4"), chunks=(2, 2), compression="gzip")
    file["wind"].dims[0].attach_scale(file["time"])


@pytest.mark.parametrize(
    ("write", "options", "readable"),
    [
        (_matlab, {"userblock_size": 512}, {"x", "#refs#/a"}),
        (_pytables, {}, {"df/values"}),
        (_netcdf, {"track_order": True}, {"time", "wind"}),
    ],
)
def test_files_of_other_programs_open(
    write: Callable[[Any], object], options: dict[str, Any], readable: set[str]
) -> None:
    file = opened(written(write, **options))
    for key in file.entries:
        if file.why_unreadable(key) is None:
            file.read(key)
    assert {key for key in file.entries if file.why_unreadable(key) is None} == readable


def test_a_limit_on_reads_is_not_mistaken_for_damage(tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    path.write_bytes(written(lambda file: file.create_dataset("w", data=np.zeros(100_000))))
    file = open_hdf5(PATH, partial(open_file, str(path)))
    with confined_to(str(tmp_path), most_bytes=50_000), pytest.raises(ReadLimitError):
        file.read("w")


# --- how much is read


class _Counted(BytesFile):
    def __init__(self, path: str, data: bytes) -> None:
        super().__init__(path, data)
        self.amount = 0

    def _read(self, offset: int, size: int) -> bytes:
        self.amount += size
        return super()._read(offset, size)


class _CountedFile(File):
    """A file on disk that counts the bytes read from it."""

    def __init__(self, path: str) -> None:
        self._inner = open_file(path)
        super().__init__(path, self._inner.size)
        self.amount = 0

    def _read(self, offset: int, size: int) -> bytes:
        self.amount += size
        return self._inner.read(offset, size)

    def close(self) -> None:
        self._inner.close()


def test_a_large_file_opens_within_a_second_and_little_of_it_is_read(tmp_path: Path) -> None:
    path, shape = str(tmp_path / "large.h5"), (81_000,)
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)  # a sparse file takes no room on the disk
    space = h5py.h5s.create_simple(shape)
    with h5py.File(path, "w") as written_file:
        for layer in range(616):
            group = written_file.create_group(f"layers/functional/layers/dense_{layer}/vars")
            for number in range(4):
                h5py.h5d.create(group.id, b"%d" % number, h5py.h5t.IEEE_F32LE, space, early)
    counted = _CountedFile(path)
    assert counted.size > 790e6
    file = open_hdf5(path, lambda: counted)
    assert len(file.entries) == 2464
    assert counted.amount < counted.size * 0.02
    file = open_hdf5(path, lambda: _CountedFile(path))
    first = file.first_elements(list(file.entries)[7], 10)
    assert first is not None
    assert first.tolist() == [0] * 10


def test_opening_reads_no_value_and_no_attribute() -> None:
    def write(file: Any) -> None:
        file.attrs["config"] = "x" * 1_000_000
        file["w"] = np.zeros(1_000_000)
        file.create_dataset("chunks", data=np.zeros(1_000_000), chunks=(100_000,))

    counted = _Counted(PATH, written(write))
    open_hdf5(PATH, lambda: counted)
    assert counted.amount < 100_000


def test_a_value_may_be_larger_than_what_opening_may_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hdf5, "_MAX_BYTES", 100_000)
    file = opened(written(lambda file: file.create_dataset("w", data=np.arange(100_000))))
    assert file.read("w")[-1] == 99_999


# --- hostile files


@contextmanager
def limited() -> Iterator[None]:
    """End the body if it never ends or explodes."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + GUARD_BYTES, hard))
    try:
        with ends("a damaged HDF5 file"):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _use(file: Hdf5) -> int:
    """Read everything that a file has; return how many values that are."""
    values = 0
    for group in itertools.islice(file.groups, 20):
        for ask in (file.text, file.texts):
            for name in ("config", "weight_names", "names"):
                _answer(partial(ask, group, name))
    for key in itertools.islice(file.entries, 60):
        file.why_unreadable(key)
        _answer(partial(file.first_elements, key, 3))
        values += _answer(partial(file.read, key)) is not None
    return values


def _answer(ask: Callable[[], Any]) -> Any:
    """Return an answer, None for an error as it should be; each within the limits."""
    try:
        with limited():
            return ask()
    except CkptVizError as error:
        message = str(error)
    assert message.startswith(PATH)
    assert "memory" not in message
    assert len(message) < 1500
    return None


def survives(data: bytes) -> None:
    """Open and use a damaged file: there are answers, or errors that explain it."""
    file = _answer(partial(opened, data))
    if file is not None:
        _use(file)


@cache
def _small(options: str) -> bytes:
    return written(write_small, **OPTIONS[options])


@pytest.mark.parametrize(("options", "values"), [("earliest", 21), ("latest, track_order", 20)])
def test_a_healthy_small_file_has_values_to_damage(options: str, values: int) -> None:
    assert _use(opened(_small(options))) == values


@pytest.mark.parametrize("options", ["earliest", "latest", "track_order", "latest, track_order"])
def test_a_damaged_file_has_answers_or_errors_that_explain_it(options: str, seed: int) -> None:
    for number in range(amount(40, 3000)):
        survives(damaged(random.Random(f"{seed}.{options}.{number}"), _small(options)))


@pytest.mark.slow
@pytest.mark.parametrize("options", ["earliest", "latest, track_order"])
def test_each_length_and_each_byte(options: str, seed: int) -> None:
    """Of every file, a run tries some lengths and places; an exhaustive one tries all."""
    data = _small(options)
    chooser = random.Random(seed)
    step = max(1, len(data) // amount(25, len(data)))
    for place in range(chooser.randrange(step), len(data), step):
        survives(data[:place])
        for byte in {0, 255, data[place] ^ 1 << chooser.randrange(8)}:
            survives(data[:place] + bytes([byte]) + data[place + 1 :])


def _block(root: int) -> bytes:
    """Return a superblock of version 2."""
    undefined = (1 << 64) - 1
    return SIGNATURE + struct.pack("<4B4QI", 2, 8, 8, 0, 0, undefined, 48, root, 0)


def _object(*messages: tuple[int, bytes]) -> bytes:
    """Return an object header of version 2."""
    body = b"".join(struct.pack("<BHB", kind, len(data), 0) + data for kind, data in messages)
    return b"OHDR\2\2" + struct.pack("<I", len(body)) + body + bytes(4)


def _link(name: bytes, address: int) -> tuple[int, bytes]:
    return 6, b"\1\0" + bytes([len(name)]) + name + struct.pack("<Q", address)


def test_a_header_that_continues_in_itself_ends() -> None:
    part = b"OCHK" + struct.pack("<BHBQQ", 0x10, 16, 0, 200, 28) + bytes(4)
    start = _block(48) + _object((0x0A, b"\0\0"), (0x10, struct.pack("<QQ", 200, 28)))
    data = start.ljust(200, b"\0") + part + bytes(100)
    with limited():
        assert "more reads than any sound file of this size" in error_of(data)


def test_a_header_of_version_1_that_continues_in_itself_ends() -> None:
    message = struct.pack("<HHB3xQQ", 0x10, 16, 0, 48, 4000)
    header = struct.pack("<BBHIII", 1, 0, 0xFFFF, 1, len(message), 0) + message
    with limited():
        error_of(_block(48) + header + bytes(4000))


def test_a_root_that_is_no_group_is_refused() -> None:
    data = bytearray(written(lambda file: file.create_dataset("w", data=1.0)))
    data[64:72] = struct.pack("<Q", opened(bytes(data)).entries["w"].address)
    assert (
        error_of(bytes(data)) == "groups: the root is no group, expected one; copy the file again"
    )


def test_a_tree_whose_nodes_share_their_children_ends() -> None:
    """2 ** 40 ways lead down."""
    depth, size = 40, 24 + 8 * 5
    root = _object((0x11, struct.pack("<QQ", 200, 4000)))
    data = (_block(48) + root).ljust(200, b"\0")
    for level in range(depth, -1, -1):
        child = len(data) + size
        node = struct.pack("<4sBBHQQ5Q", b"TREE", 0, level, 2, 0, 0, 0, child, 0, child, 0)
        data += node
    data = data.ljust(4000, b"\0") + b"HEAP" + struct.pack("<4xQQQ", 8, 0, 4032) + bytes(100)
    with limited():
        assert "more reads than any sound file of this size" in error_of(data)


def test_a_tree_of_version_2_that_is_very_deep_is_refused() -> None:
    root = _object((0x02, struct.pack("<BBQQ", 0, 0, 400, 200)))
    tree = b"BTHD" + struct.pack("<BBIHHBBQHQI", 0, 5, 1 << 30, 11, 65535, 0, 0, 300, 1, 1, 0)
    with limited():
        assert "a tree of depth 65535" in error_of((_block(48) + root).ljust(200, b"\0") + tree)


def test_a_chain_of_groups_with_two_ways_each_is_walked_once() -> None:
    def write(file: Any) -> None:
        group = file
        for _ in range(100):
            child = group.create_group("a")
            group["b"] = child
            group = child

    with limited():
        file = opened(written(write))
    assert len(file.groups) == 201


def test_groups_that_are_too_deep_are_refused() -> None:
    def write(file: Any, depth: int) -> None:
        group = file.id
        for _ in range(depth):
            group = h5py.h5g.create(group, b"deeper")

    assert len(opened(written(partial(write, depth=200))).groups) == 201
    assert "200 groups deep" in error_of(written(partial(write, depth=1000)))


def test_names_and_paths_are_bounded() -> None:
    """Each of many names may begin in the one before it."""
    count = 2000
    entries = b"".join(struct.pack("<QQII16x", number, 48, 0, 0) for number in range(count))
    heap_at = 200 + 24 + 24 + 8 + len(entries)
    root = _object((0x11, struct.pack("<QQ", 200, heap_at)))
    tree = struct.pack("<4sBBHQQ3Q", b"TREE", 0, 0, 1, 0, 0, 0, 248, 0)
    table = b"SNOD" + struct.pack("<BBH", 1, 0, count) + entries
    for length, reason in ((6000, "has no end, expected at most 4096 bytes"), (4000, None)):
        names = b"n" * length + b"\0" + bytes(100)
        heap = b"HEAP" + struct.pack("<4xQQQ", len(names), 0, heap_at + 32) + names
        data = (_block(48) + root).ljust(200, b"\0") + tree + table + heap
        with limited():
            if reason is None:
                assert len(opened(data).groups) == count + 1
            else:
                assert reason in error_of(data)


def test_more_objects_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdf5_walk, "_MAX_OBJECTS", 20)
    assert "more than 20 objects" in error_of(written(write_small))
    monkeypatch.setattr(hdf5_walk, "_MAX_OBJECTS", 1000)
    monkeypatch.setattr(hdf5_walk, "_MAX_PATH_BYTES", 100)
    assert "paths of more than 100 bytes" in error_of(written(write_small))


def _with_shape(data: bytes, old: tuple[int, ...], new: tuple[int, ...]) -> bytes:
    changed = data.replace(struct.pack(f"<{len(old)}Q", *old), struct.pack(f"<{len(new)}Q", *new))
    assert changed != data
    return changed


def test_a_value_that_is_larger_than_the_file_is_refused() -> None:
    data = written(lambda file: file.create_dataset("w", data=np.ones((1234, 3), "f4")))
    file = opened(_with_shape(data, (1234, 3), (1 << 40, 3)))
    assert file.entries["w"].shape == (1 << 40, 3)
    assert "beyond the file's end" in str(file.why_unreadable("w"))
    with pytest.raises(FormatError, match="beyond the file's end at byte 16856; copy the file"):
        file.read("w")
    assert "expected below 2**63" in error_of(_with_shape(data, (1234, 3), (1 << 62, 3)))


@pytest.mark.parametrize("chunks", [None, (100,)])
def test_values_that_were_never_written_are_bounded(chunks: tuple[int, ...] | None) -> None:
    def write(file: Any) -> None:
        file.create_dataset("w", shape=(1 << 40,), dtype="f4", chunks=chunks)
        file.create_dataset("texts", shape=(4 << 20,), dtype="S1", chunks=chunks)

    file = opened(written(write))
    for name in ("w", "texts"):
        with (
            limited(),
            pytest.raises(UnsupportedError, match=r"bytes when unpacked, expected at most 6"),
        ):
            file.read(name)


def test_chunks_that_unpack_to_far_more_than_is_stored_are_refused() -> None:
    def write(file: Any) -> None:
        zeros = np.zeros(80 << 20, "u1")
        file.create_dataset("w", data=zeros, chunks=(40 << 20,), compression="gzip")

    data = written(write)
    assert len(data) < 200_000
    with limited():
        said = error_of(data, lambda file: file.read("w"))
    assert "bytes when unpacked, expected at most 67108864 for" in said


def test_a_chunk_that_unpacks_to_more_than_its_size_is_refused() -> None:
    def write(file: Any) -> None:
        file.create_dataset("w", data=np.zeros(30 << 20, "u1"), chunks=True, compression="gzip")
        file.create_dataset("v", data=np.zeros(1237, "u1"), chunks=(1237,), compression="gzip")

    data = written(write)
    smaller = data.replace(struct.pack("<II", 1237, 1), struct.pack("<II", 1000, 1))
    assert smaller != data
    with limited():
        assert "more than 1004 bytes" in error_of(smaller, lambda file: file.read("v"))


def test_a_checksum_that_does_not_match_is_refused() -> None:
    values = np.arange(100, dtype="u1")
    data = written(
        lambda file: file.create_dataset("w", data=values, chunks=(100,), fletcher32=True)
    )
    with pytest.raises(OSError):
        from_h5py(data.replace(bytes(range(50, 60)), bytes(10)))["w"][()]
    wrong = data.replace(bytes(range(50, 60)), bytes(10))
    assert "found the checksum" in error_of(wrong, lambda file: file.read("w"))


def test_many_references_to_one_long_text_are_bounded() -> None:
    count = 3000

    def write(file: Any) -> None:
        file["w"] = ["y" * 100_000, *["z"] * count]

    data = bytearray(written(write))
    file = opened(bytes(data))
    with from_h5py(bytes(data)) as oracle:
        start = oracle["w"].id.get_offset()
    data[start + 16 : start + 16 * (count + 1)] = data[start : start + 16] * count
    assert len(file.read("w")) == count + 1
    with limited():
        assert "more bytes than the file has" in error_of(bytes(data), lambda new: new.read("w"))


def test_numbers_of_every_dtype_were_tried() -> None:
    names = {np.dtype(dtype).name for dtype in NUMBERS}
    assert names >= {"float16", "float32", "float64", "int8", "uint64", "bool", "complex64"}


# --- Keras


def _model(keras: Any) -> Any:
    inputs = keras.Input((8,))
    inner = keras.Sequential([keras.layers.Dense(5), keras.layers.BatchNormalization()])
    hidden = inner(keras.layers.Dense(8, activation="relu", name="hidden")(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2, name="head")(hidden))
    model.compile(keras.optimizers.Adam(1e-3), "mse", run_eagerly=True)
    model.train_on_batch(np.zeros((4, 8)), np.zeros((4, 2)))
    return model


@pytest.mark.tf
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_files_of_keras_have_the_values_that_h5py_reads(package: str, tmp_path: Path) -> None:
    model = _model(pytest.importorskip(package))
    for name, save in (("m.h5", model.save), ("m.weights.h5", model.save_weights)):
        path = str(tmp_path / name)
        save(path)
        file = open_hdf5(path, partial(open_file, path))
        with h5py.File(path) as oracle:
            assert_same(file, oracle)
            for group in file.groups:
                for attribute, value in oracle[f"/{group}"].attrs.items():
                    if isinstance(value, str):
                        assert file.text(group, attribute) == value
                    else:
                        texts = [
                            getattr(text, "decode", lambda text=text: text)() for text in value
                        ]
                        assert file.texts(group, attribute) == texts


@pytest.mark.tf
def test_variables_of_keras_in_bfloat16_have_their_dtype(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    if keras.__version__.startswith("2."):
        pytest.skip("Keras 2 does not save bfloat16")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, dtype="bfloat16")])
    path = str(tmp_path / "m.weights.h5")
    model.save_weights(path)
    file = open_hdf5(path, partial(open_file, path))
    kernel, bias = (file.read(key) for key in file.entries)
    assert {entry.dtype for entry in file.entries.values()} == {"bfloat16"}
    assert np.array_equal(kernel.astype("f4"), np.asarray(model.layers[0].kernel).astype("f4"))
    assert bias.shape == (4,)


@pytest.mark.tf
def test_split_attributes_of_keras_are_joined(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    if keras.__version__.startswith("2."):
        from keras.src.saving.legacy import hdf5_format as legacy
    else:
        from keras.src.legacy.saving import legacy_h5_format as legacy
    names = [f"layer_{number}/kernel".encode() for number in range(8000)]
    path = str(tmp_path / "m.h5")
    with h5py.File(path, "w") as file:
        legacy.save_attributes_to_hdf5_group(file, "weight_names", names)
        legacy.save_attributes_to_hdf5_group(file, "none", [])
        assert "weight_names" not in file.attrs
        expected = legacy.load_attributes_from_hdf5_group(file, "weight_names")
    read = open_hdf5(path, partial(open_file, path))
    assert read.texts("", "weight_names") == expected == [name.decode() for name in names]
    assert read.texts("", "none") == []
