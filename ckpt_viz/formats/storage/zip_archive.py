"""Reads members of zip archives, such as the weights in Keras' `.keras` files.

A stored member is read in ranges, where it is in the archive. A compressed one is unpacked into
memory, up to a limit. Nothing is ever written to disk, so the names of members are only keys.

A member has one checksum, of all its bytes. Opening a member does not read them all: whoever takes
a value from a member calls `Member.test` first.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, UnsupportedError
from ckpt_viz.formats.storage.files import (
    BytesFile,
    File,
    file_size,
    file_stamp,
    is_remote,
    open_file,
)
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.streams import FileStream
from ckpt_viz.formats.storage.unpacking import SMALL_BYTES, Allowance, cost, inflated, most_packed

_MAX_DIRECTORY_BYTES = 4 << 20  # of the list of members: 40,000 of them, with usual names
_DIRECTORY_READS = 100
_PIECE_BYTES = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1

BAD_ZIP = "BadZipFile"
"""The class of the error that Python raises for a checksum that does not match."""


class _PartOfFile(File):
    """A stored member: a range of the archive's file."""

    def __init__(self, path: str, file: File, start: int, size: int) -> None:
        super().__init__(path, size)
        self._archive, self._start = file, start

    def _read(self, offset: int, size: int) -> bytes:
        return self._archive.read(self._start + offset, size)

    def close(self) -> None:
        self._archive.close()


class Member:
    """A member of an archive; a call opens it.

    A call tests only the header of a stored member. A compressed one is unpacked and tested when
    this object is made. `size` is in bytes, as they are in the archive.

    Raises FormatError for a damaged header or compressed member, and UnsupportedError for a member
    that is encrypted, or too large when unpacked.
    """

    def __init__(self, path: str, info: zipfile.ZipInfo) -> None:
        _refuse_unreadable(path, info)
        self.path, self.name, self.size = path, info.filename, info.compress_size
        self._info = info
        is_stored = info.compress_type == zipfile.ZIP_STORED
        # It stays in memory: so it may have what a small file may.
        self._unpacked = None if is_stored else _unpacked(path, info, SMALL_BYTES)
        self._tested: tuple[object, str] | None = None  # the state of the file, and its damage
        self().close()  # tests the local header

    def __call__(self) -> File:
        """Open the member; raises GoneError, or FormatError for a damaged header."""
        if self._unpacked is not None:
            return BytesFile(self._place, self._unpacked)
        return _open_stored(self.path, self._info)

    @property
    def damage(self) -> str:
        """What the last test found, as a sentence without a full stop; "" for nothing."""
        return self._known_damage() or ""

    @property
    def untested_bytes(self) -> int:
        """The bytes that the next test reads: 0 after a test of this state of the file."""
        return self.size if self._known_damage() is None else 0

    def test(self, on_read: Callable[[int], object] = lambda nbytes: None) -> None:
        """Read all bytes and compare their checksum, once for each state of the file.

        `on_read` gets the number of bytes of each piece of at most 1 MiB. Raises FormatError for
        damaged bytes, and CkptVizError if the bytes cannot be read.
        """
        damage = self._known_damage()
        if damage is None:
            state = self._state()  # of before: bytes that change meanwhile are tested again
            damage = self._damage_in_bytes(on_read)
            self._tested = state, damage
        if damage:
            raise FormatError(damage, file=self.path)

    @property
    def _place(self) -> str:
        return f"{self.path}: {brief(self.name)}"

    def _state(self) -> object:
        return None if is_remote(self.path) else file_stamp(self.path)

    def _known_damage(self) -> str | None:
        """Return what the last test has found; None without a test of this state of the file."""
        if self._unpacked is not None:
            return ""
        if self._tested is None or self._tested[0] != self._state():
            return None
        return self._tested[1]

    def _damage_in_bytes(self, on_read: Callable[[int], object]) -> str:
        """Return what is wrong with the bytes, "" if nothing is."""
        checksum = 0
        with self() as file:
            for start in range(0, file.size, _PIECE_BYTES):
                piece = file.read(start, min(_PIECE_BYTES, file.size - start))
                checksum = zlib.crc32(piece, checksum)
                on_read(len(piece))
            return _misfit(self._place, self._info, file.size, checksum)


def member(path: str, name: str) -> Member:
    """Return a member of the archive at a path.

    Raises GoneError if there is no such file or member, FormatError for a damaged archive, and
    otherwise as `Member`.
    """
    info = _infos(path).get(name)
    if info is None:
        raise GoneError(f"{path}: there is no member {brief(name)} in this archive; save it again")
    return Member(path, info)


def member_names(path: str) -> list[str]:
    """Return the names of an archive's members, in the archive's order."""
    return list(_infos(path))


def every_member(path: str) -> Iterator[tuple[str, Callable[[], Member]]]:
    """Yield the name of each member in the archive's order, with what makes the member.

    It reads the archive's directory once; the functions raise as `Member`. The members may share
    bytes: UnsupportedError is also raised for those beyond what the archive may unpack to.
    """
    allowance = Allowance(file_size(path) or 0)
    for name, info in _infos(path).items():
        yield name, partial(_within, allowance, path, info)


def _within(allowance: Allowance, path: str, info: zipfile.ZipInfo) -> Member:
    try:
        allowance.spend(cost(1, max(info.compress_size, info.file_size)))
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {brief(info.filename)}: {error}") from error
    return Member(path, info)


def read_member(path: str, name: str, most: int) -> bytes | None:
    """Return the bytes of a small member, None if there is none.

    Raises UnsupportedError if it has more than `most` bytes.
    """
    info = _infos(path).get(name)
    if info is None:
        return None
    _refuse_unreadable(path, info)
    return _unpacked(path, info, most)


def member_of(stored: object) -> Member | None:
    """Return the member of an archive that an open checkpoint is; None for any other."""
    member = getattr(stored, "member", None)
    return member if isinstance(member, Member) else None


def error_of_zipfile(path: str, name: str, *, seeks: bool) -> tuple[str, str] | None:
    """Return the class and the text of what Python's own `zipfile` raises for a member.

    `seeks` reads the member as h5py does, which seeks in it. Newer versions of Python then test no
    checksum. Returns None if nothing is raised.
    """
    with open_file(path) as file:
        stream = FileStream(file, reads=1 << 40, most=1 << 60, refusal="is read without an end")
        try:
            with zipfile.ZipFile(stream) as archive, archive.open(name) as member:
                if seeks:
                    member.seek(0, io.SEEK_END)
                while member.read(_PIECE_BYTES):
                    pass
        except Exception as error:  # BadZipFile, zlib.error and others
            return type(error).__name__, str(error)
    return None


def _infos(path: str) -> dict[str, zipfile.ZipInfo]:
    """Return what the archive's directory says of each member, in the archive's order."""
    with open_file(path) as file, _explained(path), _archive(file) as archive:
        return dict(archive.NameToInfo)


def _refuse_unreadable(path: str, info: zipfile.ZipInfo) -> None:
    if info.flag_bits & _ENCRYPTED:
        raise UnsupportedError(
            f"{path}: {brief(info.filename)}: is encrypted; unpack the archive first"
        )
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsupportedError(
            f"{path}: {brief(info.filename)}: has the compression {info.compress_type}, expected 0 "
            "(stored) or 8 (deflated); unpack the archive first"
        )


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
        if size > most_packed(cost(1, most)):
            raise _too_large(place, size, most)
        data = file.read(begin, size)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            data = inflated(data, info.file_size, -zlib.MAX_WBITS)
        except FormatError as error:
            raise FormatError(f"{place}: {error}; copy the archive again") from error
        except MemoryError as error:
            raise CkptVizError(f"{place}: does not fit into memory") from error
    damage = _misfit(place, info, len(data), zlib.crc32(data))
    if damage:
        raise FormatError(damage)
    return data


def _misfit(place: str, info: zipfile.ZipInfo, size: int, checksum: int) -> str:
    """Return in what bytes differ from what the archive says of them, "" if they do not."""
    if (size, checksum) == (info.file_size, info.CRC):
        return ""
    return (
        f"{place}: found {size} bytes of checksum {checksum:08x}, expected {info.file_size} of "
        f"{info.CRC:08x}; copy the archive again"
    )


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
