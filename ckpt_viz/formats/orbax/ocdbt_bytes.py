"""The bytes of OCDBT's files: their header, checksum and compression, and the numbers in them."""

from __future__ import annotations

import struct

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.orbax.zstd import unpacked
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import read_varint
from ckpt_viz.formats.storage.unpacking import Allowance

PLAIN, ZSTD = 0, 1
_HEADER = struct.Struct(">I8sBB")  # its version and compression are below 128: one byte each
_CHECKSUM = struct.Struct("<I")
MOST_MANIFEST = 16 << 20
MOST_PATH = 4096
_OTHER_COPY = "copy the directory again, or save it again"
OPEN_WITH = "open it with tensorstore, which Orbax installs"


class NamingTheFile:
    """Adds the path to the errors of the body."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, CkptVizError) and not str(error).startswith(self._path):
            damage = f"; {_OTHER_COPY}" if isinstance(error, FormatError) else f"; {OPEN_WITH}"
            raise type(error)(f"{self._path}: {error}{damage}") from error


class UnpackedBody:
    """The bytes of a manifest or a node, read from the beginning to the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._position = data, 0

    @property
    def _left(self) -> int:
        return len(self._data) - self._position

    def take(self, size: int) -> bytes:
        """Return the next bytes; raise FormatError if fewer are left."""
        if size > self._left:
            raise FormatError(f"found {self._left} bytes at its end, expected {size}")
        self._position += size
        return self._data[self._position - size : self._position]

    def byte(self) -> int:
        """Return the next byte."""
        return self.take(1)[0]

    def varint(self) -> int:
        """Return the next number, which has seven bits in each byte."""
        try:
            value, self._position = read_varint(self._data, self._position, "")
        except FormatError as error:
            fault = "found a number without an end, expected one of at most 10 bytes"
            raise FormatError(fault) from error
        return value

    def varints(self, count: int) -> list[int]:
        """Return the next numbers."""
        if count > self._left:  # each takes a byte at least
            raise FormatError(f"found {self._left} bytes at its end, expected {count} numbers")
        return [self.varint() for _ in range(count)]

    def texts(self, prefixes: list[int], sizes: list[int]) -> list[bytes]:
        """Return texts that have the beginning of the one before, and then bytes of their own."""
        texts: list[bytes] = []
        last = b""
        for prefix, size in zip([0, *prefixes], sizes, strict=True):
            if prefix > len(last):
                raise FormatError(f"found a key that shares {prefix} bytes of {len(last)}")
            last = last[:prefix] + self.take(size)
            texts.append(last)
        return texts


def body(data: bytes, magic: int, allowance: Allowance) -> bytes:
    """Return what a manifest or a node holds, unpacked; check its header and its checksum."""
    if len(data) < _HEADER.size + _CHECKSUM.size:
        raise FormatError(f"has {len(data)} bytes, expected more")
    seen, length, version, compression = _HEADER.unpack_from(data)
    if seen != magic:
        raise FormatError(f"begins with {seen:#010x}, expected {magic:#010x}")
    if int.from_bytes(length, "little") != len(data):
        raise FormatError(
            f"has {len(data)} bytes, expected {int.from_bytes(length, 'little')} by its header"
        )
    if version != 0 or compression not in (PLAIN, ZSTD):
        raise UnsupportedError(
            f"has version {version} and compression {compression}, expected version 0 and "
            "compression 0 or 1"
        )
    end = len(data) - _CHECKSUM.size
    if checksums.value(data[:end]) != _CHECKSUM.unpack_from(data, end)[0]:
        raise FormatError("its checksum does not match its bytes")
    body = data[_HEADER.size : end]
    if compression == ZSTD:
        body = unpacked(body, allowance.left)
    allowance.spend(len(body))
    return body
