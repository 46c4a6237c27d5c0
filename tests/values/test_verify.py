"""Every damaged byte is found, each byte is read once, and nothing is allocated on a claim."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.files.values.range_checksums import PIECE_BYTES
from ckpt_viz.files.values.verifying import Verification
from ckpt_viz.formats.arrays.dtypes import dtype_number, encode_shape
from ckpt_viz.formats.arrays.protos import BundleEntryProto, BundleHeaderProto
from ckpt_viz.formats.bundles.bundle_writer import (
    NewTensor,
    array_tensor,
    strings_tensor,
    write_bundle,
)
from ckpt_viz.formats.storage.sstable import mask_crc32c
from ckpt_viz.formats.storage.table_writer import encode_table
from tests.support.counted import bytes_of, counted_reads
from tests.support.damage import flipped, overwritten

ARRAYS = {
    "a": np.arange(6, dtype="float32").reshape(2, 3),
    "b": np.array([1, 2], "int64"),
    "c": np.zeros((0, 4), "float64"),
    "e": np.array(7, "uint8"),
}
STRINGS = [b"", b"kernel", b"x" * 300]


def stored(array: Any) -> NewTensor:
    return array_tensor(str(array.dtype), array.shape, lambda: array)


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    found = str(tmp_path / "ckpt-1")
    arrays = {key: stored(value) for key, value in ARRAYS.items()}
    write_bundle(found, {**arrays, "d": strings_tensor(STRINGS, (3,))})
    return found


def shard_of(prefix: str) -> Path:
    return Path(f"{prefix}.data-00000-of-00001")


def test_whole_checkpoint_has_no_damaged_tensor(prefix: str) -> None:
    found = cv.graph(prefix).verify()
    assert (found.tensors, found.nbytes, found.untested) == (5, shard_of(prefix).stat().st_size, ())
    assert found == ()


def test_each_changed_byte_is_found_in_its_tensor(prefix: str) -> None:
    whole = shard_of(prefix).read_bytes()
    ends = {}
    for key, entry in cv.graph(prefix).stored_in.entries.items():
        ends.update(dict.fromkeys(range(entry.offset, entry.offset + entry.size), key))
    assert len(ends) == len(whole)
    for at in range(len(whole)):
        shard_of(prefix).write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        (found,) = cv.graph(prefix).verify(progress=False)
        assert (found.key, found.name, found.raises) == (
            ends[at],
            f"(root).{ends[at]}",
            "DataLossError",
        )
        assert str(shard_of(prefix)) in found.why and "copy the checkpoint again" in found.why


def test_damaged_tensor_is_described_with_both_checksums(prefix: str) -> None:
    flipped(prefix, "b", 0)
    (found,) = cv.graph(prefix).verify()
    crcs = [
        mask_crc32c(google_crc32c.value(np.array(values, "int64").tobytes()))
        for values in ([0, 2], [1, 2])
    ]
    assert found.why == (
        f"{shard_of(prefix)}: 'b' at offset 24: the masked crc32c of 16 bytes is "
        f"0x{crcs[0]:08x}, expected 0x{crcs[1]:08x}; copy the checkpoint again, or restore another "
        "one"
    )


def test_length_that_does_not_end_reads_past_its_limit_in_tensorflow(prefix: str) -> None:
    overwritten(prefix, "d", 0, b"\xff" * 12)
    (found,) = cv.graph(prefix).verify()
    assert (found.key, found.raises) == ("d", "OutOfRangeError")
    assert "more than 64 bits" in found.why


@pytest.mark.parametrize(
    ("change", "raises", "said"),
    [
        (Path.unlink, "NotFoundError", "no such file"),
        (lambda shard: shard.write_bytes(shard.read_bytes()[:30]), "OutOfRangeError", "30 bytes"),
        (
            lambda shard: shard.write_text("version https://git-lfs.github.com/spec/v1\n"),
            "OutOfRangeError",
            "git lfs pull",
        ),
    ],
)
def test_missing_bytes_are_damage(
    prefix: str, change: Callable[[Path], object], raises: str, said: str
) -> None:
    change(shard_of(prefix))
    (found,) = (one for one in cv.graph(prefix).verify() if one.key == "d")
    assert found.raises == raises and said in found.why


def test_result_survives_pickle(prefix: str) -> None:
    flipped(prefix, "a", 0)
    found = cv.graph(prefix).verify()
    again = pickle.loads(pickle.dumps(found))
    assert again == found and isinstance(again, Verification)
    assert (again.tensors, again.nbytes) == (found.tensors, found.nbytes)


def test_graph_without_a_file_is_refused() -> None:
    graph = cv.ObjectGraph((cv.Node(),), "Net", cv.Origin.LIVE)
    with pytest.raises(cv.SourceError, match=r"Net: found live objects.*save the objects"):
        graph.verify()


@pytest.fixture(params=["threads", "processes"])
def pool(request: pytest.FixtureRequest) -> Iterator[Executor]:
    kind = ThreadPoolExecutor if request.param == "threads" else ProcessPoolExecutor
    with kind(2) as executor:
        yield executor


def test_workers_find_what_one_finds_also_in_a_tensor_of_several_pieces(
    tmp_path: Path, pool: Executor
) -> None:
    prefix = str(tmp_path / "large")
    values = np.arange(3 * PIECE_BYTES // 4 + 1, dtype="float32")
    write_bundle(prefix, {"a": stored(values), "b": strings_tensor(STRINGS, (3,))})
    graph = cv.graph(prefix)
    assert graph.verify(executor=pool) == ()
    flipped(prefix, "a", 2 * PIECE_BYTES + 5)
    flipped(prefix, "b", -1)
    found = graph.verify(executor=pool)
    assert [one.key for one in found] == ["a", "b"]
    assert found == graph.verify()


# --- what a file may claim


def forged(at: Path, data: bytes, entries: dict[str, Any]) -> str:
    """Write a bundle of these entries, whatever they claim."""
    header: Any = BundleHeaderProto(num_shards=1)
    rows = {b"": header.SerializeToString()}
    rows |= {key.encode(): entry.SerializeToString() for key, entry in sorted(entries.items())}
    prefix = str(at / "forged")
    Path(f"{prefix}.index").write_bytes(b"".join(encode_table(rows.items())))
    shard_of(prefix).write_bytes(data)
    return prefix


def entry(
    data: bytes, offset: int, size: int, dtype: str = "uint8", count: int | None = None
) -> Any:
    return BundleEntryProto(
        dtype=dtype_number(dtype),
        shape=encode_shape((size if count is None else count,)),
        offset=offset,
        size=size,
        crc32c=mask_crc32c(google_crc32c.value(data[offset : offset + size])),
    )


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the size of every read of a data file."""
    return counted_reads(monkeypatch, ".data-")


def test_claim_of_a_terabyte_allocates_nothing(tmp_path: Path, bytes_read: list[int]) -> None:
    claims = {"a": entry(b"", 0, 1 << 40), "b": entry(b"", 0, 1 << 40, "string", 1 << 40)}
    graph = cv.graph(forged(tmp_path, b"kernel" * 1000, claims))
    found = graph.verify()
    assert [one.key for one in found] == ["a", "b"]
    assert all("has 6000 bytes, expected bytes 0 to 1099511627776" in one.why for one in found)
    assert bytes_of(graph.verify) < (1 << 40) // 1_000_000
    assert bytes_read == []


def test_size_that_does_not_fit_the_shape_is_damage(tmp_path: Path) -> None:
    graph = cv.graph(forged(tmp_path, b"kernel", {"a": entry(b"kernel", 0, 6, "uint8", 5)}))
    (found,) = graph.verify()
    assert "size is 6 bytes, expected 5" in found.why and found.raises == "DataLossError"


def test_entries_that_share_bytes_are_read_once(tmp_path: Path, bytes_read: list[int]) -> None:
    data = np.random.default_rng(1).bytes(40_000)
    entries = {f"same{i:05d}": entry(data, 0, len(data)) for i in range(2_000)}
    entries |= {f"tail{i:05d}": entry(data, i, len(data) - i) for i in range(2_000)}
    entries["wrong"] = entry(data[1:], 7, 100)
    found = cv.graph(forged(tmp_path, data, entries)).verify()
    assert [one.key for one in found] == ["wrong"]
    assert sum(bytes_read) == len(data)


def test_strings_that_share_bytes_are_read_once_and_the_others_are_untested(
    tmp_path: Path, bytes_read: list[int]
) -> None:
    data = bytes(10_000)
    entries = {
        f"s{i:04d}": entry(data, i, len(data) - i, "string", 1 + i % 7) for i in range(1_000)
    }
    found = cv.graph(forged(tmp_path, data, entries)).verify()
    assert sum(bytes_read) <= len(data)
    assert len(found.untested) == 999 and found.tensors == 1
    assert "shares bytes" in found.untested[0].why


def test_tensor_of_an_unknown_dtype_is_untested(tmp_path: Path) -> None:
    one = entry(b"kernel", 0, 6)
    one.dtype = 99
    found = cv.graph(forged(tmp_path, b"kernel", {"a": one})).verify()
    assert [(left.key, left.name) for left in found.untested] == [("a", "(root).a")]
    assert found.tensors == 0
    assert found == ()


sizes = st.integers(0, 60)


@settings(max_examples=200)
@given(
    st.binary(min_size=120, max_size=120),
    st.lists(st.tuples(sizes, sizes, st.booleans()), max_size=12),
)
def test_any_ranges_are_tested_against_their_own_checksums(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, places: list[tuple[int, int, bool]]
) -> None:
    entries, wrong = {}, []
    for number, (offset, size, is_wrong) in enumerate(places):
        entries[f"e{number:02d}"] = claim = entry(data, offset, size)
        if is_wrong:
            claim.crc32c ^= 1
            wrong.append(f"e{number:02d}")
    found = cv.graph(forged(tmp_path_factory.getbasetemp(), data, entries)).verify(progress=False)
    assert [one.key for one in found] == wrong
