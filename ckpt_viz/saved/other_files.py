"""Files that people often mistake for a checkpoint, by their bytes."""

from __future__ import annotations

import json
import re
import shlex
import tarfile
import zlib
from collections.abc import Iterable

from ckpt_viz.formats.files import File, join, open_file, split
from ckpt_viz.formats.sstable import GIT_LFS_POINTER

MOST_BYTES = 64
"""The number of bytes at the beginning that `index_instead` needs."""

_MOST_READ = 1 << 16
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MODEL_IN_HDF5 = b"model_config"  # an attribute that Keras writes first
_ZIP = b"PK\x03\x04"
# The list of names is at the end. In it, 46 bytes precede a name; Keras writes this one.
_MODEL_IN_ZIP = re.compile(rb"PK\x01\x02.{42}config\.json", re.DOTALL)
_INDEXES = {
    b"DIRC": "the index of a Git repository",
    b"Ix": "an index of FAISS, for searching vectors",
    b"IH": "an index of FAISS, for searching vectors",
    b"IB": "an index of FAISS, for searching vectors",
    b"SQLite format 3": "an SQLite database",
}
_TAR_BYTES = 512
_TAR_NAME = re.compile(r".*\.(tar(\.\w+)?|t[bgx]z2?|tzst)", re.IGNORECASE | re.DOTALL)
_GZIP = b"\x1f\x8b"
_UNPACKED_BY = {
    _GZIP: ("gzip", "gunzip -k"),
    b"BZh": ("bzip2", "bunzip2 -k"),
    b"\xfd7zXZ\0": ("xz", "unxz -k"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
}
_NAME_OF_KERAS = re.compile(r".*\.(keras|h5|hdf5)", re.IGNORECASE | re.DOTALL)
_ARCHIVE_NAME = re.compile(_TAR_NAME.pattern + r"|.*\.zip", re.IGNORECASE | re.DOTALL)
_DIRECTORIES_OF_KERAS = {
    "training_metadata.json": "a backup of Keras' BackupAndRestore",
    "oracle.json": "a project of Keras Tuner",
    "trial.json": "a trial of Keras Tuner",
}
_NO_CHECKPOINT = "not a TensorFlow checkpoint; load the model, then show it"
_SHOW = "`cv.show(model)`"


def file_instead(file: File, called: str = "") -> str | None:
    """Return what a file is, and what to do with it; None if that is unknown.

    `called` is the file in the code of the next step, by default its name. Reads only the first
    64 KiB, and the last ones of a zip archive. It unpacks nothing.
    """
    head = file.read(0, min(file.size, _MOST_READ))
    if head.startswith(GIT_LFS_POINTER):
        return "a Git LFS pointer instead of the file: run `git lfs pull`"
    name = json.dumps(called or split(file.path)[1], ensure_ascii=False)
    load_model = f"`model = keras.saving.load_model({name})`"
    if head.startswith(_HDF5):
        if _MODEL_IN_HDF5 in head:
            return f"a model of Keras in an HDF5 file, {_NO_CHECKPOINT}: {load_model}, {_SHOW}"
        return (
            "an HDF5 file, as Keras saves weights in, not a TensorFlow checkpoint; load it into "
            f"its model, then show the model: `model.load_weights({name})`, {_SHOW}"
        )
    if head.startswith(_ZIP):
        size = min(file.size, _MOST_READ)
        if _MODEL_IN_ZIP.search(file.read(file.size - size, size)):
            return f"a model of Keras in a zip archive, {_NO_CHECKPOINT}: {load_model}, {_SHOW}"
        return _packed("a zip archive", f"python -m zipfile -e {_in_shell(file.path)} .")
    return _archive(head, file.path)


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


def files_of_keras(names: Iterable[str]) -> list[str]:
    """Return the names that Keras' files have, of equal names with numbers the highest last."""
    return sorted(filter(_NAME_OF_KERAS.fullmatch, names), key=_in_numbers)


def _in_numbers(name: str) -> list[tuple[str, int]]:
    parts = re.findall(r"([^0-9]*)([0-9]{0,18})", name)
    return [(text, int(number or -1)) for text, number in parts]


def directory_of_keras(names: Iterable[str]) -> str | None:
    """Return what Keras wrote a directory with such names for; None if that is unknown."""
    there = set(names)
    return next((words for name, words in _DIRECTORIES_OF_KERAS.items() if name in there), None)


def held_instead(directory: str, names: list[str]) -> str | None:
    """Return a sentence about a file in a directory that may hold what a person looks for.

    It is the last file of Keras, or else an archive. Raises as `open_file`.
    """
    of_keras = files_of_keras(names)
    held = of_keras or sorted(filter(_ARCHIVE_NAME.fullmatch, names))
    if not held:
        return None
    path = join(directory, held[-1])
    with open_file(path) as file:
        instead = file_instead(file, path)
    of_many = f", the last of {len(of_keras)} files of Keras," if of_keras[1:] else ""
    return None if instead is None else f"{path}{of_many} is {instead}"


def index_instead(head: bytes) -> str | None:
    """Return the owner of an index that begins with these bytes; None if that is unknown."""
    return next((name for magic, name in _INDEXES.items() if head.startswith(magic)), None)
