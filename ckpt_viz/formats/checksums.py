"""The crc32c of bytes that were read in pieces, each with a checksum of its own.

A checksum is a polynomial over GF(2), modulo that of crc32c: bytes that follow multiply it by a
power of x. See Peterson and Brown, "Cyclic Codes for Error Detection", 1961.
"""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78  # of Castagnoli, with the coefficient of x^0 in the highest bit
_ONE = 1 << 31  # the polynomial 1
_X = 1 << 30  # the polynomial x


def joined(first: int, second: int, size: int) -> int:
    """Return the crc32c of two pieces together; `size` is that of the second, in bytes.

    >>> import google_crc32c
    >>> joined(google_crc32c.value(b"ab"), google_crc32c.value(b"cde"), 3)
    3293632151
    >>> google_crc32c.value(b"abcde")
    3293632151
    """
    return _product(first, _power_of_x(8 * size)) ^ second


def _power_of_x(exponent: int) -> int:
    power, square = _ONE, _X
    while exponent:
        if exponent & 1:
            power = _product(power, square)
        square = _product(square, square)
        exponent >>= 1
    return power


def _product(a: int, b: int) -> int:
    """Return the product of two polynomials, modulo that of crc32c."""
    product = 0
    while a:
        if a & _ONE:
            product ^= b
        a = a << 1 & 0xFFFFFFFF
        b = b >> 1 ^ (_POLYNOMIAL if b & 1 else 0)
    return product
