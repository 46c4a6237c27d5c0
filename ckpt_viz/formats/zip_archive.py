"""Reads members of zip archives, such as the weights in Keras' `.keras` files.

A stored member is read in ranges, where it is in the archive. A compressed one is unpacked into
memory, up to a limit. Nothing is ever written to disk, so the names of members are only keys.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, UnsupportedError
from ckpt_viz.formats.files import BytesFile, File, open_file
from ckpt_viz.formats.sstable import brief
from ckpt_viz.formats.streams import FileStream

_MAX_DIRECTORY_BYTES = 4 << 20  # of the list of members: 40,000 of them, with usual names
_DIRECTORY_READS = 100
_MAX_UNPACKED = 64 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1


class _PartOfFile(File):
    """A stored member: a range of the archive's file."""

    def __init__(self, path: str, file: File, start: int, size: int) -> None:
        super().__init__(path, size)
        self._archive, self._start = file, start

    def _read(self, offset: int, size: int) -> bytes:
        return self._archive.read(self._start + offset, size)

    def close(self) -> None:
        self._archive.close()


def member(path: str, name: str) -> Callable[[], File]:
    """Return a function that opens a member of the archive at a path.

    The function reads a stored member in ranges; it unpacks a compressed one the first time, and
    keeps it. Raises GoneError if there is no such file or member, FormatError for a damaged
    archive, and UnsupportedError for a member that is encrypted, or too large when unpacked.
    """
    info = _info(path, name)
    if info is None:
        raise GoneError(f"{path}: there is no member {brief(name)} in this archive; save it again")
    place = f"{path}: {brief(name)}"
    if info.compress_type == zipfile.ZIP_STORED:
        open_member = partial(_open_stored, path, info)
        open_member().close()  # checks the local header
        return open_member
    return partial(BytesFile, place, _unpacked(path, info, _MAX_UNPACKED))


def member_names(path: str) -> list[str]:
    """Return the names of an archive's members, in the archive's order."""
    with open_file(path) as file, _explained(path), _archive(file) as archive:
        return list(dict.fromkeys(archive.namelist()))


def read_member(path: str, name: str, most: int) -> bytes | None:
    """Return the bytes of a small member, None if there is none.

    Raises UnsupportedError if it has more than `most` bytes.
    """
    info = _info(path, name)
    return None if info is None else _unpacked(path, info, most)


def _info(path: str, name: str) -> zipfile.ZipInfo | None:
    """Return what the archive's directory says of a member that can be read."""
    with open_file(path) as file, _explained(path), _archive(file) as archive:
        info = archive.NameToInfo.get(name)
    if info is not None and info.flag_bits & _ENCRYPTED:
        raise UnsupportedError(f"{path}: {brief(name)}: is encrypted; unpack the archive first")
    if info is not None and info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsupportedError(
            f"{path}: {brief(name)}: has the compression {info.compress_type}, expected 0 (stored) "
            "or 8 (deflated); unpack the archive first"
        )
    return info


def _archive(file: File) -> zipfile.ZipFile:
    return zipfile.ZipFile(
        FileStream(
            file,
            reads=_DIRECTORY_READS,
            most=_MAX_DIRECTORY_BYTES,
            refusal="has more members than allowed; unpack it, then open the file in it",
        )
    )


def _open_stored(path: str, info: zipfile.ZipInfo) -> File:
    file = open_file(path)
    try:
        return _PartOfFile(f"{path}: {brief(info.filename)}", file, *_range(file, info))
    except BaseException:
        file.close()
        raise


def _range(file: File, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Return where a member's bytes begin, and how many there are; check its local header."""
    place = f"{file.path}: {brief(info.filename)}"
    start, size = info.header_offset, info.compress_size
    header = _LOCAL_HEADER.unpack(file.read(start, _LOCAL_HEADER.size))
    signature, _, flags, method, *_, name_size, extra_size = header
    name = file.read(start + _LOCAL_HEADER.size, name_size)
    encoding = "utf-8" if flags & 0x800 else "cp437"
    local = (signature, flags & _ENCRYPTED, method, name.decode(encoding, "replace"))
    listed = (b"PK\3\4", 0, info.compress_type, info.orig_filename)
    if local != listed:
        raise FormatError(
            f"{place}: the archive's directory does not agree with the header at byte {start}; "
            "the archive is damaged or has changed: open it again, or copy it again"
        )
    begin = start + _LOCAL_HEADER.size + name_size + extra_size
    if begin + size > file.size or (method == zipfile.ZIP_STORED and size != info.file_size):
        raise FormatError(
            f"{place}: takes {size} bytes from byte {begin} for {info.file_size}, but the archive "
            f"has {file.size}; copy the archive again"
        )
    return begin, size


def _unpacked(path: str, info: zipfile.ZipInfo, most: int) -> bytes:
    """Return the bytes of a member, unpacked and checked."""
    place = f"{path}: {brief(info.filename)}"
    if info.file_size > most:
        raise _too_large(place, info.file_size, most)
    with open_file(path) as file:
        begin, size = _range(file, info)
        if size > most + (1 << 20):  # a deflated member is hardly longer than its content
            raise _too_large(place, size, most)
        data = file.read(begin, size)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, info.file_size + 1)
        except zlib.error as error:
            raise FormatError(f"{place}: is damaged ({error}); copy the archive again") from error
        except MemoryError as error:
            raise CkptVizError(f"{place}: does not fit into memory") from error
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise FormatError(
            f"{place}: found {len(data)} bytes of checksum {zlib.crc32(data):08x}, expected "
            f"{info.file_size} of {info.CRC:08x}; copy the archive again"
        )
    return data


def _too_large(place: str, size: int, most: int) -> UnsupportedError:
    return UnsupportedError(
        f"{place}: takes {size} bytes, expected at most {most}; unpack the archive, then open the "
        "file in it"
    )


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Raise an error of ours that names the path, for every way in which damage shows itself."""
    try:
        yield
    except CkptVizError:
        raise
    except NotImplementedError as error:
        raise UnsupportedError(
            f"{path}: cannot read this archive: {error}; zip its files again"
        ) from error
    # BadZipFile, struct.error, UnicodeDecodeError and others.
    except Exception as error:
        fault = "not a sound zip archive"
        raise FormatError(
            f"{path}: {fault} ({str(error)[:200]}); check the path, or copy the archive again",
            file=path,
            fault=fault,
        ) from error
