"""Files that people often mistake for a checkpoint, by their first bytes."""

from __future__ import annotations

from ckpt_viz.formats.sstable import GIT_LFS_POINTER

MOST_BYTES = 64
"""The number of bytes that these functions read."""

_FILES = {
    b"\x89HDF": "an HDF5 file, as Keras saves weights in: load it with model.load_weights",
    b"PK\x03\x04": "a zip archive, as Keras saves models in: load it with keras.saving.load_model",
    GIT_LFS_POINTER: "a Git LFS pointer instead of the file: run `git lfs pull`",
}
_INDEXES = {
    b"DIRC": "the index of a Git repository",
    b"Ix": "an index of FAISS, for searching vectors",
    b"IH": "an index of FAISS, for searching vectors",
    b"IB": "an index of FAISS, for searching vectors",
    b"SQLite format 3": "an SQLite database",
}


def file_instead(head: bytes) -> str | None:
    """Return the kind of a file that begins with these bytes; None if that is unknown."""
    return _named(_FILES, head)


def index_instead(head: bytes) -> str | None:
    """Return the owner of an index that begins with these bytes; None if that is unknown."""
    return _named(_INDEXES, head)


def _named(names: dict[bytes, str], head: bytes) -> str | None:
    return next((name for magic, name in names.items() if head.startswith(magic)), None)
