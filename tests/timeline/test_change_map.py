"""Maps of where a variable changed; NumPy on the whole arrays is the oracle."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.answers.timeline import change_map as module
from ckpt_viz.answers.timeline.change_map import MapState, change_map, change_map_json, matrix_of
from tests.support.counted import counted_bytes
from tests.support.name_based import DATA, write
from tests.support.tables import FLOAT32, Extents, raw, shape, write_sliced

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
CELLS = 64


def history(*sources: str) -> Any:
    return cv.history(list(sources), progress=False)


def pair(directory: Path, was: Any, now: Any) -> Any:
    sources = [write(directory / name, v=one) for name, one in (("a", was), ("b", now))]
    return history(*sources)


def mapped(directory: Path, was: Any, now: Any) -> Any:
    return change_map(pair(directory, was, now), 0, 0, 1)


def expected(was: Array, now: Array) -> tuple[Array, Array]:
    """Return the means and the counts of what is not finite, by a loop over all elements."""
    rows, columns, _ = matrix_of(was.shape)
    sums: dict[tuple[int, int], list[float]] = {}
    size = min(rows, CELLS), min(columns, CELLS)
    broken = np.zeros(size, np.int64)
    kind = complex if was.dtype.kind == "c" else int if was.dtype.kind in "iu" else float
    for flat, (x, y) in enumerate(zip(was.reshape(-1), now.reshape(-1), strict=True)):
        i, j = flat // columns * size[0] // rows, flat % columns * size[1] // columns
        before, after = kind(x), kind(y)
        if kind is int or (np.isfinite(before) and np.isfinite(after)):
            sums.setdefault((i, j), []).append(float(abs(after - before)))
        else:
            broken[i, j] += 1
    means = np.full(size, np.nan)
    for place, ones in sums.items():
        means[place] = math.fsum(ones) / len(ones)
    return means, broken


DTYPES = (
    *("float32", "float64", "float16", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, "complex64"),
    *("complex128", "int8", "uint8", "int64", "uint64", "int32", ml_dtypes.int4),
)
SHAPES = [(), (1,), (7,), (200,), (5, 3), (130, 70), (65, 2, 3), (3, 3, 20, 9), (1, 1000), (99, 1)]


@pytest.mark.parametrize("dims", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda one: np.dtype(one).name)
def test_cells_are_the_means_of_their_blocks(tmp_path: Path, dtype: Any, dims: Any) -> None:
    kind = np.dtype(dtype)
    ones = [RNG.integers(0, 7, dims).astype(kind) for _ in range(2)]
    if kind.kind in "fcV" and "int" not in kind.name:
        ones = [np.asarray(one * np.asarray(0.37, kind)).astype(kind) for one in ones]
    was, now = ones
    now[(0,) * len(dims)] = 9 if "int4" not in kind.name else -5
    found = mapped(tmp_path, was, now)
    means, broken = expected(was, now)
    np.testing.assert_allclose(found.means, means, rtol=1e-12)
    np.testing.assert_array_equal(found.broken, broken)
    wide = "c16" if kind.kind == "c" else "i8" if kind.kind in "iu" else "f8"
    sizes = np.abs(now.astype(wide) - was.astype(wide))
    assert found.max_abs == sizes.max()
    assert found.at == np.unravel_index(int(sizes.argmax()), dims)
    assert found.changed == (was != now).sum()


@settings(deadline=None)
@given(
    dims=st.lists(st.integers(1, 7), max_size=4).map(tuple),
    most=st.integers(1, 300),
    block=st.integers(1, 300),
)
def test_any_reading_in_parts_gives_the_same_map(dims: Any, most: int, block: int) -> None:
    was, now = RNG.normal(size=dims), RNG.normal(size=dims)
    parts = [(first, min(most, was.size - first)) for first in range(0, was.size, most)]
    cells = module._Cells("float64", dims)
    patterns = [one.reshape(-1).view(np.uint64) for one in (was, now)]
    for first, count in parts:
        for start in range(first, first + count, block):
            end = min(start + block, first + count)
            cells.add(patterns[0][start:end], patterns[1][start:end], start)
    means, _ = expected(was, now)
    np.testing.assert_allclose(np.asarray(cells.as_map().means), means, rtol=1e-12)


def test_elements_that_are_not_finite_are_counted_and_left_out(tmp_path: Path) -> None:
    was, now = RNG.normal(size=(130, 70)), RNG.normal(size=(130, 70))
    was[0, 0], now[5, 6], now[129], was[128, 69] = np.nan, np.inf, -np.inf, np.inf
    found = mapped(tmp_path, was, now)
    means, broken = expected(was, now)
    np.testing.assert_allclose(found.means, means)
    np.testing.assert_array_equal(found.broken, broken)
    assert found.broken.sum() == 73
    data = json.loads(json.dumps(change_map_json(found), allow_nan=False))
    assert data["broken"][0] == [0, 0, 1]
    (tmp_path / "x").mkdir()
    everything = mapped(tmp_path / "x", was, was * np.nan)
    assert everything.max_abs is None and np.isnan(everything.means).all()
    assert change_map_json(everything)["cells"][0][0] is None


def test_differences_do_not_overflow(tmp_path: Path) -> None:
    most = np.iinfo(np.int64)
    was, now = np.array([most.min, most.max, 2**60]), np.array([most.max, most.min, 2**60 + 1])
    found = mapped(tmp_path, was, now)
    assert found.means[0].tolist() == [2.0**64, 2.0**64, 1.0]
    largest = np.finfo(np.float64).max
    for name, one in (("f", np.float64(largest)), ("c", np.complex128(complex(largest, largest)))):
        (tmp_path / name).mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = mapped(tmp_path / name, np.full(500, one), np.full(500, -one))
        assert found.max_abs == largest and (found.means == largest).all()


def test_slices_give_the_map_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was, now = (RNG.normal(size=(40, 30)).astype(np.float32) for _ in range(2))

    def sliced(name: str, value: Array, rows: list[int], columns: list[int]) -> str:
        parts: dict[Extents, Any] = {}
        for i, j in zip([0, *rows], [*rows, 40], strict=True):
            for k, n in zip([0, *columns], [*columns, 30], strict=True):
                part = value[i:j, k:n].tobytes()
                parts[((i, j - i), (k, n - k))] = raw(FLOAT32, shape(j - i, n - k), part)
        return write_sliced(tmp_path / name, shape(40, 30), parts)

    whole = [sliced("a", was, [], []), sliced("b", now, [], [])]
    plain: Any = change_map(history(*whole), 0, 0, 1)
    np.testing.assert_allclose(plain.means, np.abs(now.astype(float) - was))
    for name, most in (("all at once", 1 << 22), ("in parts", 500)):
        monkeypatch.setattr(module, "_READ_BYTES", most)
        (tmp_path / name).mkdir()
        rows = [
            sliced(f"{name}/{number}", value, [7, 33], [])
            for number, value in enumerate((was, now))
        ]
        others = [
            sliced(f"{name}/a", was, [7, 33], [4, 5, 29]),
            sliced(f"{name}/b", now, [20], []),
        ]
        for cut in (rows, others):
            found: Any = change_map(history(*cut), 0, 0, 1)
            np.testing.assert_array_equal(found.means, plain.means)
            assert (found.max_abs, found.at) == (plain.max_abs, plain.at)


@pytest.mark.tf
def test_a_partitioned_variable_of_tensorflow_has_a_map(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    values = [RNG.normal(size=(10, 6)).astype(np.float32) for _ in range(2)]
    sources = []
    with tf.Graph().as_default(), v1.Session() as session:
        partitioner = v1.fixed_size_partitioner(3)
        variable = v1.get_variable("w", (10, 6), tf.float32, partitioner=partitioner)
        saver = v1.train.Saver()
        for n, value in enumerate(values):
            begin = 0
            for part in variable:
                rows = part.shape[0]
                part.load(value[begin : begin + rows], session)
                begin += rows
            sources.append(saver.save(session, str(tmp_path / "ckpt"), global_step=n))
    found: Any = change_map(history(*sources), 0, 0, 1)
    np.testing.assert_allclose(found.means, np.abs(values[1].astype(float) - values[0]))


def test_without_a_difference_in_numbers_it_says_why(tmp_path: Path) -> None:
    same = np.ones(5, np.float32)
    sources = [
        write(
            tmp_path / "a",
            same=same,
            kind=np.ones(3),
            text=[b"x"],
            gone=np.ones(1),
            none=np.ones((0, 2)),
        ),
        write(
            tmp_path / "b",
            same=same,
            kind=np.ones((3, 1)),
            text=[b"y"],
            none=np.ones((0, 2), np.float64),
        ),
    ]
    found = history(*sources)
    rows = {row.key: change_map(found, n, 0, 1) for n, row in enumerate(found.rows)}
    assert {key: (one.state, one.words) for key, one in rows.items()} == {
        "same": (MapState.EQUAL, "equal, bit by bit"),
        "kind": (MapState.RESHAPED, "other shape or dtype: 3 float64 in a, 3×1 float64 in b"),
        "text": (MapState.NO_NUMBERS, "string values have no difference"),
        "gone": (MapState.ABSENT, "not in b"),
        "none": (MapState.EQUAL, "equal, bit by bit"),
    }


def test_equal_checksums_are_not_read(tmp_path: Path) -> None:
    found = pair(tmp_path, np.ones(9), np.ones(9))
    (tmp_path / f"b{DATA}").unlink()
    assert change_map(found, 0, 0, 1).state is MapState.EQUAL


def test_equal_bits_in_memory_are_equal() -> None:
    cells = module._Cells("float32", (4,))
    bits = np.zeros(4, np.uint32)
    cells.add(bits, bits.copy(), 0)
    assert cells.as_map().state is MapState.EQUAL


def test_damage_is_an_error_with_the_place(tmp_path: Path) -> None:
    found = pair(tmp_path, np.zeros(100), np.ones(100))
    data = tmp_path / f"b{DATA}"
    data.write_bytes(b"\x01" + data.read_bytes()[1:])
    with pytest.raises(cv.FormatError, match=r"masked crc32c is 0x[0-9a-f]+, the index says"):
        change_map(found, 0, 0, 1)
    data.unlink()
    with pytest.raises(cv.CheckpointNotFoundError, match="this file has disappeared"):
        change_map(found, 0, 0, 1)
    with pytest.raises(cv.SourceError, match="number of a variable, 0 to 0; found 1"):
        change_map(found, 1, 0, 1)
    with pytest.raises(cv.SourceError, match="number of a checkpoint, 0 to 1; found 2"):
        change_map(found, 0, 0, 2)


def test_a_map_takes_less_memory_than_one_of_its_tensors(tmp_path: Path) -> None:
    was = np.zeros((3000, 4099), np.float64)  # 98 MB
    now = was.copy()
    now[1234, 4000] = 1.0
    found, size = pair(tmp_path, was, now), was.nbytes
    del was, now
    with counted_bytes() as taken:
        mapping: Any = change_map(found, 0, 0, 1)
        assert taken() < size * 2 / 3
    assert mapping.at == (1234, 4000) and mapping.changed == 1
    assert np.count_nonzero(mapping.means) == 1
    assert mapping.words == "64 × 64, each cell the mean of 46.9 × 64 elements"


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ((), "1 × 1, each cell one element"),
        ((5,), "1 × 5, each cell one element"),
        ((128,), "1 × 64, each cell the mean of 1 × 2 elements"),
        ((64, 80), "64 × 64, each cell the mean of 1 × 1.2 elements"),
        ((64, 4, 16), "64 × 64, each cell one element; rows are axis 0, columns axes 1 and 2"),
        (
            (3, 3, 64, 128),
            "64 × 64, each cell the mean of 9 × 2 elements; "
            "rows are axes 0, 1 and 2, columns axis 3",
        ),
    ],
    ids=str,
)
def test_the_words_tell_what_a_cell_is(tmp_path: Path, dims: Any, words: str) -> None:
    assert mapped(tmp_path, np.zeros(dims), np.ones(dims)).words == words
