"""Kinds of files that are archives: ZIP, gzip and tar, by what is in them."""

from __future__ import annotations

import re
import shlex
import tarfile
import zlib
from collections.abc import Sequence
from contextlib import suppress

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.kinds.file_kind import COPY, FileKind
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.zip_archive import member_names, read_member
from ckpt_viz.ground.text import count, listed

MOST_READ = 1 << 16
MOST_SHOWN = 60  # characters of a text
_KERAS_WEIGHTS = ("model.weights.h5", "model.weights.npz", "model.weights.json")


def end_of_file(file: File) -> bytes:
    """Return the last bytes of a file."""
    size = min(file.size, MOST_READ)
    return file.read(file.size - size, size)


def in_shell(path: str) -> str:
    """Return a path as an argument of a command.

    >>> in_shell("-a b")
    "'./-a b'"
    """
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


_ZIP = b"PK\x03\x04"
_ZIP_END = b"PK\x05\x06"
_TAR_BYTES = 512
_TAR_NAME = re.compile(r".*\.(tar(\.\w+)?|t[bgx]z2?|tzst)", re.IGNORECASE | re.DOTALL)
_GZIP = b"\x1f\x8b"
_UNPACKED_BY = {
    _GZIP: ("gzip", "gunzip -k"),
    b"BZh": ("bzip2", "bunzip2 -k"),
    b"\xfd7zXZ\0": ("xz", "unxz -k"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
}


def kind_of_archive(file: File, head: bytes) -> FileKind | None:
    """Return the kind of a file that begins as an archive, None for any other file."""
    if head.startswith((_ZIP, _ZIP_END)):
        return _zip(file)
    path = in_shell(file.path)
    magic = next((start for start in _UNPACKED_BY if head.startswith(start)), None)
    unpacked = _beginning_in_gzip(head) if magic == _GZIP else head
    is_named_tar = magic is not None and _TAR_NAME.fullmatch(file.path) is not None
    if is_named_tar or _begins_a_tar(unpacked):
        return FileKind("a tar archive", f"if it holds one, unpack it: `tar -xf {path}`")
    if magic is None:
        return None
    kind, command = _UNPACKED_BY[magic]
    return FileKind(
        f"a file compressed with {kind}", f"if it holds one, unpack it: `{command} {path}`"
    )


def _zip(file: File) -> FileKind:
    unpacking = f"if it holds one, unpack it: `python -m zipfile -e {in_shell(file.path)} .`"
    if _ZIP_END not in end_of_file(file):
        return FileKind("a zip archive without its end", COPY)
    names: list[str] = []
    with suppress(CkptVizError):  # of damage: then it is an archive all the same
        names = member_names(file.path)
    if not names:
        return FileKind("a zip archive", unpacking)
    return (
        _npz(file.path, names)
        or _of_torch(file.path, names)
        or _keras_without_weights(file.path, names)
        or FileKind(f"a zip archive of {number_and_some(names, 'file')}", unpacking)
    )


def number_and_some(names: Sequence[str], noun: str) -> str:
    """Return how many names there are, and some of them.

    >>> number_and_some(["b", "c", "d", "e"], "file"), number_and_some([], "file")
    ('4 files (b, c and 2 more)', '0 files')
    """
    some = [name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}…" for name in names]
    return count(len(names), noun) + (f" ({listed(some)})" if some else "")


def _npz(path: str, names: Sequence[str]) -> FileKind | None:
    if not names or not all(name.endswith(".npy") for name in names):
        return None
    arrays = [name.removesuffix(".npy") for name in names]
    return FileKind(
        f"a NumPy archive (.npz) of {number_and_some(arrays, 'array')}",
        f"read it with numpy.load({path!r})",
    )


def _of_torch(path: str, names: Sequence[str]) -> FileKind | None:
    ends = {name.rpartition("/")[2] for name in names}
    if not {"data.pkl", "version"} <= ends:
        return None
    if "constants.pkl" in ends:
        return FileKind("a TorchScript model of PyTorch", f"open it with torch.jit.load({path!r})")
    return FileKind(
        "a checkpoint of PyTorch", f"open it with torch.load({path!r}, weights_only=True)"
    )


def _keras_without_weights(path: str, names: Sequence[str]) -> FileKind | None:
    if "config.json" not in names or "metadata.json" not in names:
        return None
    version = field(read_member(path, "metadata.json", MOST_READ) or b"", "keras_version")
    what = f"a model of Keras {version}".rstrip()
    library = "tf_keras" if version.startswith("2.") else "keras"
    stored = next((name for name in _KERAS_WEIGHTS if name in names), None)
    if stored is not None:
        return FileKind(
            f"{what} with its weights as {stored}",
            f"open it with {library}.models.load_model({path!r})",
        )
    return FileKind(
        f"{what} without its weights (no {_KERAS_WEIGHTS[0]} in the archive)",
        "copy the file again, since load_model and load_weights raise; to build the model without "
        f"values: {library}.models.model_from_json(zipfile.ZipFile({path!r}).read('config.json'))",
    )


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


def field(encoded: bytes, name: str) -> str:
    """Return the value of a text in JSON by its name, the last one; "" if there is none."""
    values = re.findall(rf'"{name}"\s*:\s*"([\w.+-]{{1,40}})"'.encode(), encoded)
    return values[-1].decode("utf-8", "replace") if values else ""
