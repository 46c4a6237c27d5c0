"""Files that people often mistake for a checkpoint, by their bytes."""

from __future__ import annotations

import re
import shlex
import tarfile
import zlib
from collections.abc import Iterable

from ckpt_viz.formats.files import File, join, open_file
from ckpt_viz.formats.sstable import GIT_LFS_POINTER

MOST_BYTES = 64
"""The number of bytes at the beginning that `index_instead` needs."""

_MOST_READ = 1 << 16
_INDEXES = {
    b"DIRC": "the index of a Git repository",
    b"Ix": "an index of FAISS, for searching vectors",
    b"IH": "an index of FAISS, for searching vectors",
    b"IB": "an index of FAISS, for searching vectors",
    b"SQLite format 3": "an SQLite database",
}
_ZIP = b"PK\x03\x04"
_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 22 + 0xFFFF  # with the longest comment
_TAR_BYTES = 512
_TAR_NAME = re.compile(r".*\.(tar(\.\w+)?|t[bgx]z2?|tzst)", re.IGNORECASE | re.DOTALL)
_GZIP = b"\x1f\x8b"
_UNPACKED_BY = {
    _GZIP: ("gzip", "gunzip -k"),
    b"BZh": ("bzip2", "bunzip2 -k"),
    b"\xfd7zXZ\0": ("xz", "unxz -k"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
}
_ARCHIVE_NAME = re.compile(_TAR_NAME.pattern + r"|.*\.zip", re.IGNORECASE | re.DOTALL)


def file_instead(file: File) -> str | None:
    """Return what a file is, and what to do with it; None if that is unknown.

    Reads only the first 64 KiB and the last, and unpacks nothing.
    """
    head = file.read(0, min(file.size, _MOST_READ))
    if head.startswith(GIT_LFS_POINTER):
        return "a Git LFS pointer instead of the file: run `git lfs pull`"
    if head.startswith(_ZIP):
        if not _has_end(file):
            return "a zip archive without its end, not a TensorFlow checkpoint; copy the file again"
        return _packed("a zip archive", f"python -m zipfile -e {_in_shell(file.path)} .")
    return _archive(head, file.path)


def _has_end(archive: File) -> bool:
    count = min(archive.size, _ZIP_END_BYTES)
    return _ZIP_END in archive.read(archive.size - count, count)


def _archive(head: bytes, path: str) -> str | None:
    magic = next((start for start in _UNPACKED_BY if head.startswith(start)), None)
    unpacked = _beginning_in_gzip(head) if magic == _GZIP else head
    is_named_tar = magic is not None and _TAR_NAME.fullmatch(path) is not None
    if is_named_tar or _begins_a_tar(unpacked):
        return _packed("a tar archive", f"tar -xf {_in_shell(path)}")
    if magic is None:
        return None
    kind, command = _UNPACKED_BY[magic]
    return _packed(f"a file compressed with {kind}", f"{command} {_in_shell(path)}")


def _packed(what: str, command: str) -> str:
    return f"{what}, not a TensorFlow checkpoint; if it holds one, unpack it: `{command}`"


def _beginning_in_gzip(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, _TAR_BYTES)
    except zlib.error:
        return b""


def _begins_a_tar(head: bytes) -> bool:
    try:  # it compares the header's checksum
        tarfile.TarInfo.frombuf(head[:_TAR_BYTES], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True


def _in_shell(path: str) -> str:
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def held_instead(directory: str, names: Iterable[str]) -> str | None:
    """Return a sentence about an archive in a directory that may hold what a person looks for.

    Raises as `open_file`.
    """
    held = sorted(filter(_ARCHIVE_NAME.fullmatch, names))
    if not held:
        return None
    path = join(directory, held[-1])
    with open_file(path) as file:
        instead = file_instead(file)
    return None if instead is None else f"{path} is {instead}"


def index_instead(head: bytes) -> str | None:
    """Return the owner of an index that begins with these bytes; None if that is unknown."""
    return next((name for magic, name in _INDEXES.items() if head.startswith(magic)), None)
