"""The files whose name alone leads to a checkpoint: one table for Python and JupyterLab.

`file_types.json` is that table. Its `keras` lists how the names of Keras' files end. The JupyterLab
extension contains a copy of it, because it registers its file types without a server. For each
type, `files.saved.locate` finds the checkpoint.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ckpt_viz.formats.storage.files import split


@dataclass(frozen=True, slots=True)
class FileType:
    """A type of file: paths that end in `suffix`, or names that match `name` (patterns).

    A suffix follows the checkpoint's prefix. `is_part` says that such a file is useless without
    others. If the others are missing, it still does not belong to another program.
    """

    id: str
    suffix: str | None
    name: str | None
    is_part: bool

    def fits(self, path: str) -> bool:
        """Return whether a path has the name of such a file."""
        if self.suffix is None:
            return re.fullmatch(self.name or "", split(path)[1]) is not None
        return self._split_suffix(path) is not None

    def prefix_of(self, path: str) -> str:
        """Return a path without the type's suffix."""
        match = self._split_suffix(path)
        return path if match is None else match[1]

    def _split_suffix(self, path: str) -> re.Match[str] | None:
        return re.fullmatch(rf"(.*)(?:{self.suffix})", path, re.DOTALL) if self.suffix else None


_TABLE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
FILE_TYPES = tuple(
    FileType(entry["id"], entry.get("suffix"), entry.get("name"), entry.get("part", False))
    for entry in _TABLE["types"]
)
_OF_KERAS = tuple(_TABLE["keras"])


def file_type_of(path: str) -> FileType | None:
    """Return the type of a file by its name, None if any file may have this name.

    >>> [found and found.id for found in map(file_type_of, ("a.index", "a/checkpoint", "a"))]
    ['index', 'state', None]
    """
    return next((file_type for file_type in FILE_TYPES if file_type.fits(path)), None)


def has_name_of_keras(path: str) -> bool:
    """Return whether a file has a name that Keras gives to its files.

    >>> [has_name_of_keras(path) for path in ("a.keras", "a.weights.H5", "a.json")]
    [True, True, False]
    """
    return path.lower().endswith(_OF_KERAS)


def without_ending_of_keras(path: str) -> str:
    """Return a path without the ending that Keras gives to its files.

    >>> [without_ending_of_keras(path) for path in ("a3.keras", "a3.weights.H5", "a3.json")]
    ['a3', 'a3.weights', 'a3.json']
    """
    ending = next((end for end in _OF_KERAS if path.lower().endswith(end)), "")
    return path[: len(path) - len(ending)]
