"""Unpacks Zstandard frames into a limited number of bytes (RFC 8878)."""

from __future__ import annotations

from ckpt_viz.errors import FormatError, UnsupportedError

_MAGIC = b"\x28\xb5\x2f\xfd"
_FIRST_GUESS = 16  # times the packed bytes, if the frame does not give the size
_GROWTH = 8


def unpacked(data: bytes, most: int) -> bytes:
    """Return the bytes in one or more frames.

    Raises UnsupportedError if they are more than `most`, and FormatError for damaged frames.
    """
    import cramjam  # here, because only Orbax packs like this

    if not data.startswith(_MAGIC):
        raise FormatError("found bytes without the beginning of a Zstandard frame")
    stated = stated_size(data)
    if stated is not None and stated > most:
        raise UnsupportedError(f"takes {stated} bytes when unpacked, expected at most {most}")
    capacity = min(most, _FIRST_GUESS * len(data) if stated is None else stated)
    while True:
        buffer = bytearray(capacity)
        try:
            size: int = cramjam.zstd.decompress_into(data, buffer)
        except cramjam.DecompressionError as error:
            if capacity in (most, stated):
                raise FormatError(
                    f"found a Zstandard frame that is damaged or above {capacity} bytes: {error}"
                ) from error
            capacity = min(most, capacity * _GROWTH)
        else:
            return bytes(memoryview(buffer)[:size])


def stated_size(data: bytes) -> int | None:
    """Return the size that the first frame states of its content, None if it states none.

    >>> import cramjam
    >>> stated_size(bytes(cramjam.zstd.compress(b"a" * 1000)))
    1000
    """
    if len(data) <= len(_MAGIC):
        return None
    descriptor = data[len(_MAGIC)]
    is_single, kind = descriptor >> 5 & 1, descriptor >> 6
    size = (1 if is_single else 0, 2, 4, 8)[kind]
    start = len(_MAGIC) + 1 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3]
    if not size or len(data) < start + size:
        return None
    return int.from_bytes(data[start : start + size], "little") + (256 if kind == 1 else 0)
