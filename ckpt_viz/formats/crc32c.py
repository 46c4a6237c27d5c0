"""The crc32c of parts that are read apart: combined into that of the whole, or taken out of it.

A checksum of A followed by B is that of A, advanced by as many zero bytes as B has, and then that
of B, added without carry. Advancing is linear over the bits, so a matrix does it; its powers of two
reach any length (as `crc32_combine` in zlib does for another polynomial).
"""

from __future__ import annotations

from functools import cache

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected: RFC 3720, appendix B.4
_BITS = 32

# By byte of a checksum, from the lowest on: what each value of this byte becomes.
_Operator = tuple[tuple[int, ...], ...]


def combine(first: int, second: int, size: int) -> int:
    """Return the crc32c of two parts in a row, from the crc32c of each.

    `size` is the length of the second part in bytes. All checksums are unmasked.

    >>> import google_crc32c
    >>> combine(google_crc32c.value(b"123"), google_crc32c.value(b"456789"), 6) == 0xE3069283
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
            low, second, third, high = _advance_by_power(power)
            crc = (
                low[crc & 0xFF]
                ^ second[crc >> 8 & 0xFF]
                ^ third[crc >> 16 & 0xFF]
                ^ high[crc >> 24]
            )
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
