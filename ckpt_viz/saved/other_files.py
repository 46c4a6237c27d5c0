"""Files that people often mistake for a checkpoint, by their bytes."""

from __future__ import annotations

import json
import re

from ckpt_viz.formats.files import File, split
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
_NO_CHECKPOINT = "not a TensorFlow checkpoint; load the model, then show it"
_SHOW = "`cv.show(model)`"


def file_instead(file: File) -> str | None:
    """Return what a file is, and what to do with it; None if that is unknown.

    It reads only the first 64 KiB, and the last ones of a zip archive. It unpacks nothing.
    """
    head = file.read(0, min(file.size, _MOST_READ))
    if head.startswith(GIT_LFS_POINTER):
        return "a Git LFS pointer instead of the file: run `git lfs pull`"
    name = json.dumps(split(file.path)[1], ensure_ascii=False)
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
        return "a zip archive, not a TensorFlow checkpoint; if it holds one, unpack it first"
    return None


def index_instead(head: bytes) -> str | None:
    """Return the owner of an index that begins with these bytes; None if that is unknown."""
    return next((name for magic, name in _INDEXES.items() if head.startswith(magic)), None)
