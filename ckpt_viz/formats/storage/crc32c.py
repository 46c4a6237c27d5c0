"""The crc32c of parts that are read apart: combined into that of the whole, or taken out of it.

`checksums` computes the crc32c of bytes, with `extend` of this module where nothing faster runs.

A checksum of A followed by B is that of A, advanced by as many zero bytes as B has, and then that
of B, added without carry. Advancing is linear over the bits, so a matrix does it; its powers of two
reach any length (as `crc32_combine` in zlib does for another polynomial).
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `extend` uses numpy only if the program has it already
    import numpy as np
    import numpy.typing as npt

    Lanes = npt.NDArray[np.uint32]

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected: RFC 3720, appendix B.4
_BITS = 32
_ALL_BITS = (1 << _BITS) - 1
_WORD = 4  # bytes that a step of numpy takes
_MANY = 1 << 14  # bytes from which on numpy is faster
_MOST_LANES = 1 << 14

# By byte of a checksum, from the lowest on: what each value of this byte becomes.
_Operator = tuple[tuple[int, ...], ...]


def value(data: bytes | memoryview) -> int:
    """Return the crc32c of bytes, not masked.

    >>> hex(value(b"123456789"))
    '0xe3069283'
    """
    return extend(0, data)


def extend(crc: int, data: bytes | memoryview) -> int:
    """Return the crc32c of what has this crc32c, followed by `data`."""
    if len(data) >= _MANY and "numpy" in sys.modules:
        return _extend_in_lanes(crc, data)
    crc ^= _ALL_BITS
    table = _byte_tables()[0]
    for byte in bytes(data):
        crc = table[crc & 0xFF ^ byte] ^ crc >> 8
    return crc ^ _ALL_BITS


def _extend_in_lanes(crc: int, data: bytes | memoryview) -> int:
    """Cut the bytes into lanes of equal lengths; numpy takes a step in all of them at a time."""
    import numpy as np

    lanes = min(_MOST_LANES, 1 << (len(data).bit_length() // 2 - 1))
    words = len(data) // (lanes * _WORD)
    size = lanes * words * _WORD
    columns = np.frombuffer(data, "<u4", lanes * words).reshape(lanes, words).T.astype("u4")
    tables = np.array(_byte_tables()[::-1], "u4")
    crcs = np.full(lanes, _ALL_BITS, "u4")
    for column in columns:
        crcs = _looked_up(tables, crcs ^ column)
    crcs ^= np.uint32(_ALL_BITS)
    length = words * _WORD
    while len(crcs) > 1:
        crcs = _advanced(crcs[::2], length) ^ crcs[1::2]
        length *= 2
    return extend(combine(crc, int(crcs[0]), size), data[size:])


def _advanced(crcs: Lanes, size: int) -> Lanes:
    """Return `advance` of each."""
    import numpy as np

    for power in range(size.bit_length()):
        if size >> power & 1:
            crcs = _looked_up(np.array(_advance_by_power(power), "u4"), crcs)
    return crcs


def _looked_up(tables: Any, crc: Any) -> Any:
    """Return what the tables make of a checksum, or of the checksums of several lanes."""
    low, second, third, high = tables
    return low[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^ high[crc >> 24]


@cache
def _byte_tables() -> tuple[tuple[int, ...], ...]:
    """Return what the last byte becomes, and one, two and three bytes before it."""
    return tuple(
        tuple(advance(byte, count) for byte in range(256)) for count in range(1, _WORD + 1)
    )


def combine(first: int, second: int, size: int) -> int:
    """Return the crc32c of two parts in a row, from the crc32c of each.

    `size` is the length of the second part in bytes. All checksums are unmasked.

    >>> combine(value(b"123"), value(b"456789"), 6) == 0xE3069283
    True
    """
    return advance(first, size) ^ second


def without_beginning(whole: int, beginning: int, size: int) -> int:
    """Return the crc32c of the last `size` bytes, from that of all and that of the others."""
    return whole ^ advance(beginning, size)


def advance(crc: int, size: int) -> int:
    """Return what a crc32c contributes to that of a text with `size` bytes more."""
    power = 0
    while size:
        if size & 1:
            crc = _looked_up(_advance_by_power(power), crc)
        size >>= 1
        power += 1
    return crc


@cache
def _advance_by_power(power: int) -> _Operator:
    """Return the operator that advances a checksum by 2 ** power bytes."""
    return _tables(_columns(power))


@cache
def _columns(power: int) -> tuple[int, ...]:
    """Return the same as a matrix: what becomes of each bit, from the lowest on."""
    if power:
        half = _columns(power - 1)
        return tuple(_times(half, column) for column in half)
    one_bit = (_POLYNOMIAL, *(1 << bit for bit in range(_BITS - 1)))
    two_bits = tuple(_times(one_bit, column) for column in one_bit)
    four_bits = tuple(_times(two_bits, column) for column in two_bits)
    return tuple(_times(four_bits, column) for column in four_bits)


def _times(matrix: tuple[int, ...], vector: int) -> int:
    product = 0
    for column in matrix:
        if vector & 1:
            product ^= column
        vector >>= 1
    return product


def _tables(columns: tuple[int, ...]) -> _Operator:
    return tuple(
        tuple(_times(columns[start : start + 8], value) for value in range(256))
        for start in range(0, _BITS, 8)
    )
