"""The values of files: all formats, damage, executors, interruptions, and what is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.errors import FormatError, OutsideError
from ckpt_viz.files.values.reading import rows_as_read, tensors_of
from ckpt_viz.files.values.running import silent
from ckpt_viz.formats.arrays.tensors import numpy_dtype
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle
from ckpt_viz.formats.bundles.stored_bytes import ChecksumOfStrings
from ckpt_viz.formats.storage.confinement import confined_to
from tests.support import tables
from tests.support.damage import flipped
from tests.support.dtypes import NUMBERS
from tests.support.name_based import DATA, write
from tests.support.processes import bytes_read
from tests.support.tables import FLOAT32, Extents, floats, raw, shape, strings, write_sliced
from tests.support.waiting import PATIENCE, wait_until

SEEDS = Path(__file__).parents[1] / "data" / "seeds"
PIECE = 1 << 26


def values(source: object, **options: Any) -> Any:
    return cv.graph(source).values(progress=False, **options)


@pytest.fixture
def abc(tmp_path: Path) -> str:
    """Three tensors beside each other, of which b has a NaN and an infinity."""
    return write(
        tmp_path / "ckpt",
        a=np.arange(6, dtype=np.float32).reshape(2, 3),
        b=np.array([1, np.nan, np.inf, -3], np.float64),
        c=np.array([-1, 5], np.int64),
    )


def test_a_row_has_what_numpy_says(abc: str) -> None:
    a, b, c = values(abc)
    assert (a.key, a.name, a.dtype, a.shape, a.nbytes) == ("a", "(root).a", "float32", (2, 3), 24)
    assert (a.count, a.zeros, a.nan, a.inf, a.min, a.max) == (6, 1, 0, 0, 0.0, 5.0)
    array = np.arange(6.0)
    assert a.mean == array.mean()
    assert a.std == pytest.approx(array.std())
    assert a.l2 == pytest.approx(np.linalg.norm(array))
    assert (b.count, b.nan, b.inf, b.min, b.max, b.mean) == (4, 1, 1, -3.0, 1.0, -1.0)
    assert (c.min, c.max, c.error) == (-1, 5, None)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_dtype_is_read_from_a_checkpoint(tmp_path: Path, dtype: str) -> None:
    found = numpy_dtype(dtype)
    assert found is not None
    array = np.array([0, 1, 1, 0, 1], np.uint8).astype(found)
    write_bundle(str(tmp_path / "x"), {"x": array_tensor(dtype, (5,), lambda: array)})
    (row,) = values(str(tmp_path / "x"))
    assert (row.dtype, row.count, row.zeros, row.min, row.max) == (dtype, 5, 2, 0, 1)
    assert (row.mean, row.error) == (pytest.approx(0.6), None)


def test_strings_have_lengths(tmp_path: Path) -> None:
    given = [b"", b"abc", b"x" * 300]
    row, none = values(write(tmp_path / "ckpt", s=given, t=[]))
    assert (row.count, row.zeros, row.min, row.l2, row.histogram) == (3, None, None, None, None)
    assert row.lengths == type(row.lengths)(3, 0, 300, 303)
    assert none.lengths == type(row.lengths)(0, None, None, 0)


@given(st.lists(st.integers(0, 300), max_size=40), st.sampled_from("<>"))
def test_lengths_of_any_strings(sizes: list[int], order: str) -> None:
    tensor = strings([b"x" * size for size in sizes], shape(len(sizes)), byte_order=order)
    byte_order: Any = {"<": "little", ">": "big"}[order]
    found = ChecksumOfStrings(len(sizes), byte_order)
    for place in range(0, len(tensor.data), 3):
        found.extend(tensor.data[place : place + 3], "x")
    found.finish("x")
    assert (found.count, found.total) == (len(sizes), sum(sizes))
    assert (found.shortest, found.longest) == (min(sizes, default=None), max(sizes, default=None))
    assert found.value == cv_crc(tensor.checked)


def test_strings_without_a_byte_are_damaged() -> None:
    with pytest.raises(FormatError, match="x: ends within the lengths of its 2 strings"):
        ChecksumOfStrings(2, "little").finish("x")


def cv_crc(data: bytes) -> int:
    import google_crc32c

    return int(google_crc32c.value(data))


def test_a_forged_number_of_strings_allocates_nothing(tmp_path: Path) -> None:
    stored = raw(tables.STRING, shape(1 << 40), b"\x01" * 50)
    (row,) = values(tables.write_bundle(tmp_path / "ckpt", {"s": stored}))
    assert "expected at least 1099511627776" in row.error


def test_a_giant_length_of_a_string_is_an_error(tmp_path: Path) -> None:
    stored = raw(tables.STRING, shape(1), b"\xff" * 9 + b"\x01" + b"1234")
    (row,) = values(tables.write_bundle(tmp_path / "ckpt", {"s": stored}))
    assert "masked crc32c" in row.error


def test_empty_tensors_have_a_row(tmp_path: Path) -> None:
    empty, full = values(write(tmp_path / "c", e=np.zeros((0, 3), np.float32), f=np.ones(1)))
    assert (empty.count, empty.min, empty.mean, empty.l2, empty.error) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert full.count == 1


def test_big_endian_files(tmp_path: Path) -> None:
    tensor = raw(FLOAT32, shape(3), np.array([1, -2, 0], ">f4").tobytes())
    names = strings([b"a", b"bcd"], shape(2), byte_order=">")
    prefix = tables.write_bundle(tmp_path / "big", {"s": names, "x": tensor}, endianness=1)
    s, x = values(prefix)
    assert (x.min, x.max, x.zeros) == (-2.0, 1.0, 1)
    assert (s.lengths.total, s.error) == (4, None)


def test_pieces_of_large_tensors_join_with_their_checksum(tmp_path: Path) -> None:
    array = np.zeros(PIECE * 2 + 5, np.int8)
    array[[0, PIECE, -1]] = 3, -4, 7
    prefix = write(tmp_path / "ckpt", x=array)
    (row,) = values(prefix)
    assert (row.count, row.zeros, row.min, row.max) == (array.size, array.size - 3, -4, 7)
    with open(prefix + DATA, "r+b") as file:
        file.seek(PIECE + 9)
        file.write(b"\x01")
    (row,) = values(prefix)
    assert "masked crc32c" in row.error


# --- slices


HALVES: dict[Extents, Any] = {
    ((0, 1), (0, 3)): raw(FLOAT32, shape(1, 3), np.array([1, 2, 3], np.float32).tobytes()),
    ((1, 1), (0, 3)): raw(FLOAT32, shape(1, 3), np.array([4, 0, 6], np.float32).tobytes()),
}


def test_slices_are_one_row(tmp_path: Path) -> None:
    (row,) = values(write_sliced(tmp_path / "ckpt", shape(2, 3), HALVES))
    assert (row.shape, row.count, row.min, row.max, row.zeros) == ((2, 3), 6, 0.0, 6.0, 1)


def test_overlapping_slices_are_not_counted_twice(tmp_path: Path) -> None:
    slices: dict[Extents, Any] = {
        ((0, 2), (0, 2)): raw(FLOAT32, shape(2, 2), bytes(16)),
        ((0, 2), (1, 1)): raw(FLOAT32, shape(2, 1), bytes(8)),
    }
    (row,) = values(write_sliced(tmp_path / "ckpt", shape(2, 3), slices))
    assert "overlaps another" in row.error


def test_missing_slices_are_an_error(tmp_path: Path) -> None:
    first = dict(list(HALVES.items())[:1])
    (row,) = values(write_sliced(tmp_path / "ckpt", shape(2, 3), first))
    assert "3 elements in all, expected 6" in row.error


# --- damage


def test_a_flipped_byte_marks_its_row_only(abc: str) -> None:
    data = Path(abc + DATA)
    stored = bytearray(data.read_bytes())
    stored[3] ^= 1
    data.write_bytes(stored)
    a, b, c = values(abc)
    assert a.error.startswith(f"{abc}{DATA}: 'a' at offset 0: masked crc32c is ")
    assert (a.count, a.min) == (None, None)
    assert (b.error, c.error, c.max) == (None, None, 5)


def test_a_missing_shard_marks_its_rows_only(tmp_path: Path) -> None:
    for file in (SEEDS / "several_shards").iterdir():
        if "data-00001" not in file.name:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    rows = values(tmp_path / "ckpt")
    broken = [row for row in rows if row.error is not None]
    assert 0 < len(broken) < len(rows)
    assert all("data-00001-of-00002: no such file" in str(row.error) for row in broken)


def test_a_failure_is_read_again_after_a_repair(abc: str) -> None:
    data = Path(abc + DATA)
    stored = data.read_bytes()
    data.unlink()
    graph = cv.graph(abc)
    assert all(row.error for row in graph.values())
    data.write_bytes(stored)
    assert all(row.error is None for row in cv.graph(abc).values())


def test_dtypes_without_a_number_are_marked(tmp_path: Path) -> None:
    given = {"v": raw(21, shape(), b"??"), "w": raw(99, shape(2), b"????"), "x": floats(1.0)}
    v, w, x = values(tables.write_bundle(tmp_path / "ckpt", given))
    assert "ends 1 elements too early" in v.error  # no variant that TensorFlow wrote
    assert (w.note, w.error) == ("numpy has no dtype for unknown dtype 99", None)
    assert x.max == 1.0


@pytest.mark.tf
def test_healthy_tensors_without_statistics_are_no_problem(tmp_path: Path) -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert("a", 1)
    module = tf.Module()
    module.empty, module.text = tf.Variable(tf.zeros([0, 3])), tf.Variable("a")
    module.quantized = tf.Variable(tf.bitcast(tf.constant([1, 2], tf.int8), tf.qint8))
    iterator = iter(tf.data.Dataset.range(9).shuffle(3))
    program = tf.train.Checkpoint(
        it=iterator, table=table, module=module, rng=tf.random.Generator.from_seed(1)
    )
    paths = [program.save(str(tmp_path / "ckpt")) for _ in range(2) if next(iterator) is not None]
    for line in (["values", paths[0]], ["verify", paths[0]], ["history", str(tmp_path)]):
        assert CliRunner().invoke(main, line).exit_code == 0, line
    live = cv.graph(program).values(progress=False)
    assert live.problems == cv.graph(paths[1]).values(progress=False).problems == ()
    (state,) = [row for row in cv.graph(paths[1]).values(progress=False) if row.note]
    assert (state.dtype, state.note) == ("variant", "only TensorFlow decodes a variant")
    flipped(paths[0], state.key, -1)
    assert CliRunner().invoke(main, ["values", paths[0]]).exit_code == 1
    Path(f"{paths[1]}{DATA}").unlink()
    row = cv.graph(paths[1]).values(progress=False)[state.key]
    assert "no such file" in (row.error or "")


def test_a_bool_of_another_byte_is_damage(tmp_path: Path) -> None:
    (row,) = values(tables.write_bundle(tmp_path / "ckpt", {"b": raw(10, shape(2), b"\x01\x02")}))
    assert "has a byte of 2, expected 0 or 1 for bool" in row.error


# --- every format in the repository


@pytest.mark.parametrize(
    "path", sorted(str(one.relative_to(SEEDS)) for one in SEEDS.rglob("*.index"))
)
def test_values_equal_those_that_read_returns(path: str) -> None:
    graph = cv.graph(SEEDS / path)
    rows = graph.values()
    assert len(rows) > 0
    for row in rows:
        array = graph.read(row.key)
        assert row.shape == array.shape
        if row.lengths is None:
            size = np.abs(array.astype(complex)) if array.dtype.kind == "c" else array.astype(float)
            assert row.count == array.size
            assert row.mean == pytest.approx(size.mean()) and row.max == size.max()
        else:
            assert row.lengths.total == sum(map(len, array.ravel().tolist()))


def test_v1_files_have_values() -> None:
    graph = cv.graph(SEEDS / "name_based_v1" / "model")
    rows = graph.values()
    assert len(rows) == 6
    assert all(row.error is None for row in rows)
    assert rows["(root).dense.kernel"].max == graph.read("dense/kernel").max()


# --- executors


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_same_table(tmp_path: Path, kind: type[Executor]) -> None:
    rng = np.random.default_rng(1)
    prefix = write(
        tmp_path / "ckpt",
        **{f"v{number}": rng.standard_normal(number * 100) for number in range(1, 30)},
        big=rng.standard_normal(PIECE // 4 + 3).astype(np.float32),
        s=[b"a", b"bc"],
    )
    with kind(2) as executor:  # type: ignore[call-arg]
        found = values(prefix, executor=executor)
    assert list(found) == list(values(prefix))


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_confinement_holds_with_any_executor(tmp_path: Path, kind: Any) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(root / "ckpt", a=np.ones(3, np.float32))
    executor = None if kind is None else kind(2)
    with confined_to(str(root)) as scope:
        graph = cv.graph("ckpt")
        assert graph.values(executor=executor, progress=False)[0].max == 1.0
        assert scope.bytes_read > 12
        graph = cv.graph("ckpt")
        os.rename(root / f"ckpt{DATA}", tmp_path / "outside")
        os.symlink(tmp_path / "outside", root / f"ckpt{DATA}")
        (row,) = graph.values(executor=executor, progress=False)
        assert "leads out of the directory" in str(row.error)
    with confined_to(str(root), most_bytes=1000) as scope, pytest.raises(OutsideError):
        cv.graph(str(tmp_path / "elsewhere"))
    if executor is not None:
        executor.shutdown()


def test_the_limit_on_bytes_holds_with_an_executor(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", a=np.ones(3, np.float32), b=np.ones(100_000, np.float32))
    executor = ThreadPoolExecutor(2)
    with executor, confined_to(str(tmp_path), most_bytes=50_000) as scope:
        graph = cv.graph(prefix)
        (b,) = graph.values("b", executor=executor, progress=False)
        (a,) = graph.values("a", executor=executor, progress=False)
        assert scope.bytes_read < 50_000
    assert a.error is None
    assert "needs 400000 bytes" in str(b.error)


# --- what is read


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int, int]]]:
    """The ranges that fsspec's file system in memory is asked for."""
    from fsspec.implementations.memory import MemoryFileSystem

    asked: list[tuple[str, int, int]] = []
    plain = MemoryFileSystem.cat_file

    def cat_file(self: Any, path: str, start: int, end: int, **options: Any) -> Any:
        asked.append((path, start, end))
        return plain(self, path, start=start, end=end, **options)

    monkeypatch.setattr(MemoryFileSystem, "cat_file", cat_file)
    yield asked
    MemoryFileSystem.store.clear()


def in_memory(prefix: str) -> str:
    """Copy a checkpoint to fsspec's memory, and return its path there."""
    import fsspec

    for suffix in (".index", DATA):
        with fsspec.open(f"memory://run/ckpt{suffix}", "wb") as file:
            file.write(Path(prefix + suffix).read_bytes())
    return "memory://run/ckpt"


def test_each_byte_is_read_once_and_no_other(
    tmp_path: Path, reads: list[tuple[str, int, int]]
) -> None:
    array = np.ones(PIECE // 4 + 10, np.float32)
    path = in_memory(write(tmp_path / "ckpt", a=np.ones(3), b=array, c=np.ones(5), d=[b"x"]))
    graph = cv.graph(path)
    reads.clear()
    table = graph.values(progress=False)
    assert [row.error for row in table] == [None] * 4
    ranges = sorted((start, end) for _, start, end in reads)
    assert ranges[0][0] == 0 and ranges[-1][1] == sum(row.nbytes or 0 for row in table)
    assert all(end == start for (_, end), (start, _) in pairwise(ranges))
    assert max(end - start for start, end in ranges) <= PIECE
    reads.clear()
    assert list(graph.values(progress=False)) == list(table)
    assert reads == []


def test_a_query_reads_only_what_it_finds(
    tmp_path: Path, reads: list[tuple[str, int, int]]
) -> None:
    path = in_memory(write(tmp_path / "ckpt", a=np.ones(3), b=np.ones(4), c=np.ones(5)))
    graph = cv.graph(path)
    reads.clear()
    (row,) = graph.values("b", progress=False)
    assert row.key == "b"
    assert [(start, end) for _, start, end in reads] == [(24, 56)]


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, reads: list[tuple[str, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    array = np.arange(3 * PIECE // 4, dtype=np.float32)
    path = in_memory(write(tmp_path / "ckpt", a=np.ones(3), b=array, c=np.ones(5)))
    graph = cv.graph(path)
    expected = list(cv.graph(path).values(progress=False))
    reads.clear()
    plain = MemoryFileSystem.cat_file

    def interrupted(self: Any, *given: Any, **options: Any) -> Any:
        if len(reads) == 3:
            raise KeyboardInterrupt
        return plain(self, *given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(MemoryFileSystem, "cat_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            graph.values(progress=False)
    first = list(reads)
    assert len(first) == 3
    assert list(graph.values(progress=False)) == expected
    assert len(set(reads)) == len(reads)
    assert sum(end - start for _, start, end in reads) == array.nbytes + 64


def test_rows_come_while_others_are_read(abc: str) -> None:
    graph = cv.graph(abc)
    rows = rows_as_read(graph, tensors_of(graph), graph._read_values, begin=silent)
    assert next(rows).key in ("a", "b", "c")
    rows.close()
    assert [row.key for row in graph.values(progress=False)] == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux what was read")
def test_an_interrupt_ends_it_long_before_all_is_read(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", x=np.zeros(1))
    bundle = open_bundle(prefix)
    assert bundle.entries["x"].size == 8
    size = 64 << 30  # a hole of 64 GiB: it takes minutes to read
    tables.write_index(
        prefix,
        [(b"", tables.header()), (b"x", tables.bundle_entry(dims=shape(size // 4), size=size))],
    )
    os.truncate(prefix + DATA, size)
    program = (
        "import os, ckpt_viz as cv\nfrom tests.support.processes import bytes_read\n"
        f"try: cv.graph({prefix!r}).values()\nfinally: print(bytes_read(os.getpid()))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    wait_until(lambda: bytes_read(process.pid) > 1 << 28, "bytes that it reads")
    process.send_signal(signal.SIGINT)
    read, said = process.communicate(timeout=PATIENCE)
    assert b"KeyboardInterrupt" in said
    assert int(read) < size // 8


@pytest.mark.slow
def test_a_hole_of_endless_size_is_refused(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", x=np.zeros(1))
    size = 1 << 43
    rows = [
        (b"%c" % name, tables.bundle_entry(dims=shape(size // 4), shard=n, size=size))
        for n, name in enumerate(b"xyz")
    ]
    tables.write_index(prefix, [(b"", tables.header(3)), *rows])
    for n in range(3):
        Path(f"{prefix}.data-{n:05}-of-00003").touch()
        os.truncate(f"{prefix}.data-{n:05}-of-00003", size)
    graph = cv.graph(prefix)
    tensors = tensors_of(graph)
    rows_read = rows_as_read(graph, tensors, graph._read_values, begin=silent)
    assert "choose fewer tensors" in str(next(rows_read).error)
    rows_read.close()


def test_tensors_that_share_bytes_are_not_read_again_and_again(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", x=np.ones(1000, np.float32))
    (crc,) = (one.crc32c for one in open_bundle(prefix).entries.values())
    entry = tables.bundle_entry(FLOAT32, shape(1000), size=4000, crc32c=crc)
    rows = [(b"v%03d" % n, entry) for n in range(300)]
    tables.write_index(prefix, [(b"", tables.header()), *rows])
    first, *others = values(prefix)
    assert (first.mean, first.error) == (1.0, None)
    assert all("shares bytes with other tensors" in str(row.error) for row in others)
    row = cv.history([prefix, prefix], unchanged=True, progress=False)["v200"]
    assert "shares bytes with other tensors" in str(row.cells[0].error)


def test_opening_a_graph_imports_no_numpy(abc: str) -> None:
    program = f"import sys, ckpt_viz as cv; cv.graph({abc!r}); print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"False\n"


def test_a_forged_graph_of_repeated_keys_has_each_tensor_once(tmp_path: Path) -> None:
    from tests.hostile.makers import ATTACKS

    path = ATTACKS["every_attribute_means_many_entries"].make(tmp_path)
    tensors = tensors_of(cv.graph(path))
    keys = [tensor.row.key for tensor in tensors]
    assert len(keys) == len(set(keys)) > 0
