from __future__ import annotations

import re
from itertools import pairwise

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.storage import sstable
from ckpt_viz.formats.storage.files import BytesFile
from ckpt_viz.formats.storage.sstable import Table, read_table
from ckpt_viz.formats.storage.unpacking import SMALL_BYTES
from tests.support.tables import (
    MAGIC,
    block,
    entry,
    footer,
    handle,
    stored,
    table,
    table_of_blocks,
    varint,
)

ROWS = [(f"model/layer-{i:02}/kernel".encode(), b"value %d" % i) for i in range(40)]
TABLE = table(ROWS, rows_per_block=16)
SNAPPY_TABLE = table(ROWS, rows_per_block=16, snappy=True)


def rows_of(data: bytes) -> list[tuple[bytes, bytes]]:
    return list(read_table(data, "x.index"))


def error_of(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        rows_of(data)
    return str(caught.value)


def rows_or_refusal(data: bytes) -> list[tuple[bytes, bytes]] | None:
    try:
        return rows_of(data)
    except CkptVizError as error:
        assert str(error).startswith("x.index: ")
        return None


def one_block(entries: bytes) -> bytes:
    return table_of_blocks([block(entries)])


# --- well-formed tables


@settings(deadline=None)
@given(
    st.dictionaries(st.binary(max_size=20), st.binary(max_size=300)),
    st.integers(1, 10),
    st.integers(1, 16),
    st.booleans(),
)
def test_rows_come_back_as_written(
    rows: dict[bytes, bytes], rows_per_block: int, restart_interval: int, snappy: bool
) -> None:
    written = sorted(rows.items())
    data = table(
        written, rows_per_block=rows_per_block, restart_interval=restart_interval, snappy=snappy
    )
    assert rows_of(data) == written
    found = Table(BytesFile("x.index", data))
    assert [found.get(key) for key, _ in written] == [value for _, value in written]
    assert found.get(b"a key of more than 20 bytes") is None


class CountingFile(BytesFile):
    """Remembers which bytes were read."""

    def __init__(self, data: bytes) -> None:
        super().__init__("x", data)
        self.reads: list[tuple[int, int]] = []

    def read(self, offset: int, size: int) -> bytes:
        self.reads.append((offset, size))
        return super().read(offset, size)


def test_looking_a_key_up_reads_footer_index_and_one_block() -> None:
    rows = [(b"%03d" % number, bytes([number]) * 10_000) for number in range(100)]
    file = CountingFile(table(rows, rows_per_block=2))
    assert Table(file).get(b"042") == bytes([42]) * 10_000
    footer, index, block_of_key = (size for _, size in file.reads)
    assert footer == 48
    assert index < 2000
    assert 20_000 < block_of_key < 20_100


def test_long_keys_that_share_nearly_everything_are_read() -> None:
    rows = [(b"chain/" * depth, b"") for depth in range(1, 2000)]
    assert rows_of(table(rows)) == rows


def test_block_that_tensorflow_wrote_passes_its_checksum() -> None:
    # The metaindex block of every checkpoint: no entries, one restart point.
    block_of_tensorflow = bytes.fromhex("0000000001000000 00 c0f2a1b0")
    assert rows_of(block_of_tensorflow + footer(handle(0, 8))) == []
    assert stored(block(b"")) == block_of_tensorflow


# --- files that are something else


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "not a TensorFlow checkpoint index: the file has 0 bytes, expected at least 48"),
        (
            b"DIRC" + bytes(60) + b"checksum",
            "not a TensorFlow checkpoint index: the last 8 bytes are 636865636b73756d, "
            "expected the table magic 57fb808b247547db",
        ),
        (MAGIC, "not a TensorFlow checkpoint index: the file has 8 bytes, expected at least 48"),
    ],
    ids=["empty", "git index", "magic alone"],
)
def test_a_different_file_is_not_taken_for_an_index(data: bytes, expected: str) -> None:
    assert error_of(data) == f"x.index: {expected}"


def test_truncated_index_names_the_file_and_what_was_expected() -> None:
    data = table([(b"", b"header"), (b"key", b"value")])
    assert error_of(data[:-20] + b"12345678") == (
        "x.index: begins like a TensorFlow checkpoint index but is cut short or damaged: "
        "the last 8 bytes are 3132333435363738, expected the table magic 57fb808b247547db"
    )


def test_an_error_has_the_file_and_its_fault_as_data() -> None:
    with pytest.raises(FormatError) as caught:
        rows_of(b"version 1")
    assert caught.value.file == "x.index"
    assert caught.value.fault == "not a TensorFlow checkpoint index"


# --- corrupt and hostile tables


def test_changed_block_names_its_offset_and_both_checksums() -> None:
    data = bytearray(TABLE)
    data[10] ^= 1
    assert re.fullmatch(
        r"x\.index: block at offset 0: masked crc32c is 0x[0-9a-f]{8}, "
        r"the file says 0x[0-9a-f]{8}",
        error_of(bytes(data)),
    )


def snappy_error_of(data: bytes) -> str:
    message = error_of(table_of_blocks([data], block_type=1))
    return message.removeprefix("x.index: block at offset 0: ")


def test_snappy_that_is_none_is_refused() -> None:
    message = "its 3 bytes are not snappy: snappy: "
    assert snappy_error_of(b"\x09\xff\xff").startswith(message)
    assert snappy_error_of(b"\x80" * 12) == (
        "snappy: the varint at byte 0 does not end within 10 bytes"
    )
    assert snappy_error_of(b"") == "snappy: the varint at byte 0 does not end within 0 bytes"


def test_snappy_that_claims_more_than_it_can_hold_is_refused_unread() -> None:
    bomb = varint(1 << 62) + b"\x00x"
    assert snappy_error_of(bomb) == (
        f"takes {1 << 62} bytes when unpacked, expected at most {SMALL_BYTES} for {len(bomb)} "
        "stored bytes"
    )
    bomb = varint(22 * 3 + 1) + b"x"
    assert snappy_error_of(bomb).startswith("its 2 bytes are not snappy: ")


def test_snappy_at_its_best_is_within_the_bound() -> None:
    tensor = bytes(65 << 20)  # of V1, in one block
    payload = block(entry(0, b"k", tensor))
    compressed = bytes(cramjam.snappy.compress_raw(payload))
    assert len(payload) > 20 * len(compressed)
    data = table_of_blocks([compressed], separators=[b"k"], block_type=1)
    assert Table(BytesFile("x.index", data)).get(b"k") == tensor


def test_unknown_block_type_is_refused() -> None:
    data = stored(b"", block_type=7) + footer(handle(0, 0))
    assert error_of(data) == (
        "x.index: block at offset 0: type is 7, expected 0 (stored) or 1 (snappy)"
    )


@pytest.mark.parametrize("end", [b"", b"\x01"], ids=["never", "after 5000 bytes"])
def test_varint_of_more_than_10_bytes_is_refused(end: bytes) -> None:
    assert error_of(one_block(b"\x80" * 5000 + end)) == (
        "x.index: block at offset 0: the varint at byte 0 does not end within 10 bytes"
    )


def test_varint_cut_by_the_end_of_its_block_is_refused() -> None:
    assert error_of(one_block(b"\x00\x01\x80")) == (
        "x.index: block at offset 0: the varint at byte 2 does not end within 1 bytes"
    )


@pytest.mark.parametrize("offset_and_size", [(1 << 40, 8), (0, 1 << 40), (2**64 - 1, 2**64 - 1)])
def test_handle_past_the_end_is_refused(offset_and_size: tuple[int, int]) -> None:
    offset, size = offset_and_size
    expected = f"block at offset {offset}: ends at {offset + size + 5}, expected at most"
    in_index = table_of_blocks([block(b"")], [handle(offset, size)])
    assert (
        error_of(in_index) == f"x.index: {expected} {len(in_index) - 48}, where the footer begins"
    )
    in_footer = footer(handle(offset, size))
    assert error_of(in_footer) == f"x.index: {expected} 0, where the footer begins"


def test_overlapping_blocks_are_refused() -> None:
    payload = block(entry(0, b"a", b""))
    again = handle(0, len(payload))
    assert error_of(table_of_blocks([payload], [again] * 100_000)) == (
        "x.index: block at offset 0: overlaps the one before it, "
        f"expected an offset of at least {len(payload) + 5}"
    )


def test_shared_prefix_longer_than_the_previous_key_is_refused() -> None:
    assert error_of(one_block(entry(0, b"abc", b"") + entry(4, b"d", b""))) == (
        "x.index: block at offset 0: the entry at byte 6 shares 4 bytes "
        "with the key before it, which has 3"
    )


def test_giant_keys_made_of_shared_prefixes_are_refused() -> None:
    giant = entry(0, b"k" * 50_000, b"")
    entries = giant + b"".join(entry(50_000 + i, b"k", b"") for i in range(20_000))
    assert re.fullmatch(
        r"x\.index: block at offset 0: its keys have more than 16 times its \d+ bytes",
        error_of(one_block(entries)),
    )


@pytest.mark.parametrize("size", [10, 1 << 31, (1 << 64) - 1])
def test_value_that_passes_the_end_of_its_block_is_refused(size: int) -> None:
    entries = varint(0) + varint(1) + varint(size) + b"k"
    value_at = len(entries)
    assert error_of(one_block(entries)) == (
        f"x.index: block at offset 0: the entry at byte 0 ends at byte {value_at + size}, "
        f"expected at most {value_at}"
    )


@pytest.mark.parametrize("count", [0, 2, 1 << 31])
def test_impossible_restart_points_are_refused(count: int) -> None:
    payload = bytes(4) + count.to_bytes(4, "little")
    assert error_of(table_of_blocks([payload])) == (
        f"x.index: block at offset 0: has {count} restart points in its 8 bytes"
    )


@pytest.mark.parametrize("second", [b"a", b"b"], ids=["decreasing", "repeated"])
def test_keys_that_do_not_increase_are_refused(second: bytes) -> None:
    in_one_block = one_block(entry(0, b"b", b"") + entry(0, second, b""))
    message = f"key {second!r} comes after b'b', expected keys to increase"
    assert error_of(in_one_block) == f"x.index: block at offset 0: {message}"
    in_two = table_of_blocks([block(entry(0, b"b", b"")), block(entry(0, second, b""))])
    assert error_of(in_two) == f"x.index: block at offset 17: {message}"


# --- laws: rows or our error, whatever the bytes


def test_every_changed_bit_gives_the_same_rows_or_our_error() -> None:
    for whole in (TABLE, SNAPPY_TABLE):
        assert_every_changed_bit_is_harmless(whole)


def assert_every_changed_bit_is_harmless(whole: bytes) -> None:
    for position in range(len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[position] ^= 1 << bit
            assert rows_or_refusal(bytes(data)) in (None, ROWS)


def test_every_truncation_is_refused() -> None:
    for length in range(len(TABLE)):
        error_of(TABLE[:length])


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_rows_or_our_error(data: bytes) -> None:
    rows_or_refusal(data)
    rows_or_refusal(data + footer(handle(0, len(data))))
    rows_or_refusal(data + data[:40].ljust(40, b"\x00") + MAGIC)


# Nearly well formed: small numbers, so that many lengths and counts fit.
lengths = st.integers(0, 12) | st.sampled_from([127, 128, 1 << 32, (1 << 64) - 1])
entries = st.tuples(lengths, lengths, lengths, st.binary(max_size=12)).map(
    lambda e: varint(e[0]) + varint(e[1]) + varint(e[2]) + e[3]
)
payloads = st.binary(max_size=60) | st.lists(entries, max_size=6).map(
    lambda parts: block(b"".join(parts))
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(payloads, max_size=4),
    st.none() | st.lists(st.binary(max_size=12), max_size=4),
    st.integers(0, 2),
)
def test_any_blocks_with_true_checksums_give_increasing_keys_or_our_error(
    blocks: list[bytes], handles: list[bytes] | None, block_type: int
) -> None:
    rows = rows_or_refusal(table_of_blocks(blocks, handles, block_type=block_type)) or []
    assert all(before < after for (before, _), (after, _) in pairwise(rows))


def test_keys_in_all_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(b"a" * 60 + b"%04d" % n, b"") for n in range(100)]
    assert len(list(read_table(table(rows), "t"))) == 100
    monkeypatch.setattr(sstable, "_MAX_KEY_BYTES", 64 * 99)
    with pytest.raises(UnsupportedError, match=r"t: block at offset 0: the keys up to here have"):
        list(read_table(table(rows), "t"))
