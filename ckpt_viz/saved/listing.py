"""Which files of a directory are checkpoints, whatever their names: their content decides."""

from __future__ import annotations

import mimetypes
from itertools import islice

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, UnsupportedError
from ckpt_viz.formats.files import File, join, list_files, open_file
from ckpt_viz.formats.sstable import ends_like_a_table
from ckpt_viz.saved.location import Reader
from ckpt_viz.saved.readers import READERS

MOST_FILES = 10_000
"""The most files that one call opens."""
MOST_NAMES = 1_000
"""The most names that one call returns."""

_MOST_BYTES = 1 << 20  # of a file; TensorFlow's blocks have 256 KiB, and one is read
_UNKNOWN = (None, "application/octet-stream", "text/plain")
_TYPES = mimetypes.MimeTypes()  # not those of this machine


def checkpoints_in(directory: str) -> list[str]:
    """Return the names of the files in a directory that begin as an index or a V1 checkpoint.

    Skips files that another program opens, by their names, such as images. Files that are damaged,
    unreadable or no regular files are none. Raises CkptVizError if the directory cannot be listed.
    """
    try:
        found = list_files(directory)
    except FileNotFoundError as error:
        raise CheckpointNotFoundError(f"{directory}: no such directory") from error
    names = (name for name in found if _TYPES.guess_type(name)[0] in _UNKNOWN)
    opened = islice(names, MOST_FILES)
    return list(islice((one for one in opened if is_checkpoint(join(directory, one))), MOST_NAMES))


def is_checkpoint(path: str) -> bool:
    """Return whether a file is a checkpoint's index or a V1 checkpoint, by its content alone."""
    try:
        with open_file(path) as file:
            return ends_like_a_table(file) and any(_holds(reader, file) for reader in READERS)
    except (CkptVizError, FileNotFoundError):
        return False


def _holds(reader: Reader, file: File) -> bool:
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
