"""How much a file may unpack to: one bound, whatever unpacks them.

A few stored bytes can claim to be petabytes: packed by a codec, shared by the chunks of an array or
by many values, or as values that were never stored. So all that is read of a file together may be
so many times as large as the file. Each part costs a little, too, even an empty one.
"""

from __future__ import annotations

import zlib

from ckpt_viz.errors import FormatError, UnsupportedError

SMALL_BYTES = 64 << 20
"""What any file may unpack to, however small it is."""

_RATIO = 64  # bytes for each stored one: trained weights hardly shrink, and few of them are zeros
_PART_BYTES = 1 << 10  # what finding and unpacking a part costs, besides its bytes


class Allowance:
    """The bytes that may still be unpacked of a file, or of the files of a checkpoint.

    `stored` is how many bytes they have.
    """

    def __init__(self, stored: int) -> None:
        self._stored, self._spent = stored, 0

    def store(self, size: int) -> None:
        """Add the bytes of one more file."""
        self._stored += size

    @property
    def left(self) -> int:
        """The bytes that may still be unpacked."""
        return max(SMALL_BYTES, _RATIO * self._stored) - self._spent

    def spend(self, size: int) -> None:
        """Use up so many bytes; raise UnsupportedError, and use none, if there are not so many.

        >>> allowance = Allowance(100)
        >>> allowance.spend(SMALL_BYTES)
        >>> allowance.left
        0
        """
        if size > self.left:
            raise UnsupportedError(
                f"takes {size} bytes when unpacked, expected at most {self.left} for "
                f"{self._stored} stored bytes"
            )
        self._spent += size


def cost(parts: int, size: int) -> int:
    """Return what it costs to unpack parts that together become so many bytes.

    >>> cost(2, 100)
    2148
    """
    return parts * _PART_BYTES + size


def most_packed(cost: int) -> int:
    """Return how many bytes may be stored of what costs so much; no codec makes it much longer."""
    return cost + cost // 8


def inflated(data: bytes, most: int, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Return deflated bytes as they were, of more than `most` only the beginning.

    `wbits` is as in `zlib`. Raises FormatError for damaged bytes.
    """
    try:
        return zlib.decompressobj(wbits).decompress(data, most + 1)
    except zlib.error as error:
        raise FormatError(f"is damaged ({error})") from error
