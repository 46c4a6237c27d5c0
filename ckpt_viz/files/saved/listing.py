"""Which files of a directory are checkpoints: by an index's name, or whatever their names."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, UnsupportedError
from ckpt_viz.files.saved.file_types import has_name_of_keras
from ckpt_viz.files.saved.keras_reader import without_shards
from ckpt_viz.files.saved.location import INDEX, META, FormatReader
from ckpt_viz.files.saved.readers import READERS
from ckpt_viz.files.saved.v1_reader import V1, prefix_of_shard
from ckpt_viz.formats.storage.files import File, is_remote, join, list_files, open_file
from ckpt_viz.formats.storage.sstable import ends_like_a_table

MOST_FILES = 10_000
"""The most files that one call of `checkpoints_in` opens."""
MOST_NAMES = 1_000
"""The most names that one call of `checkpoints_in` returns."""

# The most files that are opened to find V1 checkpoints. Each of a remote one takes two requests.
_MOST_LIKELY, _MOST_OTHERS, _MOST_REMOTE = 10_000, 1_000, 50
_MOST_BYTES = 1 << 20  # of a file; TensorFlow's blocks have 256 KiB, and one is read
_UNKNOWN = (None, "application/octet-stream", "text/plain")
_TYPES = mimetypes.MimeTypes()  # not those of this machine
_LIKELY = re.compile(r"ckpt|chkp|model|-[0-9]+$", re.IGNORECASE)


class Prefixes(NamedTuple):
    """The names of the checkpoints in a directory, of each series in the order of its numbers.

    `indexed` are those that have an index, `v1` those of the V1 format. `of_keras` are Keras' own
    files, by their names.
    """

    indexed: list[str]
    v1: list[str]
    of_keras: list[str]

    @property
    def all(self) -> list[str]:
        """The names of all checkpoints, in the same order."""
        return sorted({*self.indexed, *self.v1}, key=by_number) if self.v1 else self.indexed


def prefixes_in(directory: str) -> Prefixes:
    """Return the checkpoints in a directory, "" for the current one; raise as `list_files`.

    The name of a V1 checkpoint does not show what it is. So this opens some files.
    """
    names = list_files(directory or os.curdir)
    indexed = {name.removesuffix(INDEX) for name in names if name.endswith(INDEX)} - {""}
    v1 = _v1_among(directory, _perhaps_v1(directory, names))
    of_keras = sorted(without_shards(filter(has_name_of_keras, names)), key=_in_numbers)
    return Prefixes(sorted(indexed, key=by_number), sorted(v1, key=by_number), of_keras)


def _in_numbers(name: str) -> list[tuple[str, int]]:
    parts = re.findall(r"([^0-9]*)([0-9]{0,18})", name)
    return [(text, int(number or -1)) for text, number in parts]


def are_numbered_alike(names: Iterable[str]) -> bool:
    """Return whether names differ in their numbers alone.

    >>> are_numbered_alike(["m.02-0.31.h5", "m.10-0.29.h5"]), are_numbered_alike(["a.h5", "b.h5"])
    (True, False)
    """
    return len({re.sub(r"[0-9]+", "0", name) for name in names}) == 1


def _v1_among(directory: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the prefixes of V1 checkpoints; of the shards of one, open only the first sound one."""
    prefixes: set[str] = set()
    for name in names:
        prefix = prefix_of_shard(name)
        if prefix not in prefixes and _is_one_of((V1,), join(directory, name)):
            prefixes.add(prefix)
            yield prefix


def _perhaps_v1(directory: str, names: Sequence[str]) -> Iterator[str]:
    """Yield names that a V1 checkpoint may have: the likely ones first, by number from the last."""
    there = set(names)
    alone = [name for name in names if not name.endswith((INDEX, META)) and ".data-" not in name]
    likely = {name for name in alone if _LIKELY.search(name) or name + META in there}
    by_time = sorted(likely, key=lambda name: by_number(prefix_of_shard(name)), reverse=True)
    if is_remote(directory):
        return islice(filter(_is_unknown, by_time), _MOST_REMOTE)
    others = (name for name in alone if name not in likely)
    return chain(
        islice(filter(_is_unknown, by_time), _MOST_LIKELY),
        islice(filter(_is_unknown, others), _MOST_OTHERS),
    )


def number_in(name: str) -> tuple[str, int] | None:
    """Return the beginning and the number of a checkpoint's name; None without a number.

    >>> number_in("ckpt-12"), number_in("ckpt-3-?????-of-00002"), number_in("x-?????-of-00002")
    (('ckpt', 12), ('ckpt', 3), None)
    >>> number_in("ckpt-²") is None
    True
    """
    beginning, sign, digits = name.partition("-?????-of-")[0].rpartition("-")
    is_number = sign and digits.isascii() and digits.isdigit()
    return (beginning, int(digits[-18:])) if is_number else None


def by_number(name: str) -> tuple[str, int, str]:
    """Return a sort key for names; in a series, by number."""
    beginning, number = number_in(name) or (name, -1)
    return beginning, number, name


def checkpoints_in(directory: str) -> list[str]:
    """Return the names of the files in a directory that begin as an index or a V1 checkpoint.

    Skips files that another program opens, by their names, such as images. Files that are damaged,
    unreadable or no regular files are none. Raises CkptVizError if the directory cannot be listed.
    """
    try:
        names = list_files(directory)
    except FileNotFoundError as error:
        raise CheckpointNotFoundError(f"{directory}: no such directory") from error
    opened = islice(filter(_is_unknown, names), MOST_FILES)
    return list(islice(_checkpoints_among(directory, opened), MOST_NAMES))


def _checkpoints_among(directory: str, names: Iterator[str]) -> Iterator[str]:
    return (name for name in names if _is_one_of(READERS, join(directory, name)))


def _is_unknown(name: str) -> bool:
    """Return whether the name does not tell which other program opens a file."""
    return _TYPES.guess_type(name)[0] in _UNKNOWN


def _is_one_of(readers: Sequence[FormatReader], path: str) -> bool:
    """Return whether a file is a checkpoint's index or a V1 checkpoint, by its content alone."""
    try:
        with open_file(path) as file:
            return ends_like_a_table(file) and any(_holds(reader, file) for reader in readers)
    except CkptVizError:
        return False


def _holds(reader: FormatReader, file: File) -> bool:
    try:
        return reader.holds(_Beginning(file))
    except CkptVizError:
        return False


class _Beginning(File):
    """A file of which only a limited number of bytes may be read."""

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.size)
        self._file = file
        self._left = _MOST_BYTES

    def _read(self, offset: int, size: int) -> bytes:
        if size > self._left:
            raise UnsupportedError(f"{self.path}: its first block has more than {self._left} bytes")
        self._left -= size
        return self._file.read(offset, size)
