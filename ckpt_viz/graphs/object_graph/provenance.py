"""Where a graph was read from: its file, the file's format, and how its nodes are arranged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

KERAS, TFJS = "Keras", "TensorFlow.js"


class Origin(str, Enum):
    """Where a graph was read from.

    >>> cv.graph(ckpt).origin, cv.graph("ckpts/ckpt-3").origin
    (<Origin.LIVE: 'live'>, <Origin.SAVED: 'saved'>)
    """

    LIVE = "live"
    SAVED = "saved"


class Format(str, Enum):
    """How a saved graph is stored.

    >>> cv.graph("ckpts/ckpt-3").provenance.format
    <Format.OBJECT_BASED: 'object-based checkpoint'>
    """

    OBJECT_BASED = "object-based checkpoint"  # tf.train.Checkpoint
    NAME_BASED = "name-based checkpoint"  # tf.compat.v1.train.Saver
    NAME_BASED_V1 = "name-based checkpoint, V1 format"  # one file, before TensorFlow 1.0
    SAVED_MODEL = "SavedModel"
    KERAS_H5 = "Keras HDF5 file"  # .h5 of Keras 2 and 3: a model, or weights by names
    KERAS_WEIGHTS = "Keras weights file"  # .weights.h5, or .weights.json with its shards
    KERAS_ARCHIVE = "Keras model file"  # .keras
    KERAS_ORBAX = "Keras checkpoint by Orbax"  # keras.callbacks.OrbaxCheckpoint
    ORBAX = "checkpoint by Orbax"  # of any other program, such as one of Flax
    TFJS = "TensorFlow.js layers model"  # model.json with its shards
    TFJS_OF_KERAS_3 = "TensorFlow.js layers model of Keras 3"  # weights by the paths of `.keras`

    @property
    def library(self) -> str:
        """The library that wrote a file which TensorFlow cannot read."""
        if self in (Format.TFJS, Format.TFJS_OF_KERAS_3):
            return TFJS
        return "Orbax" if self in (Format.ORBAX, Format.KERAS_ORBAX) else KERAS


class Layout(Enum):
    """How the nodes of a graph are arranged: which paths lead to the parts of a program."""

    OBJECTS = auto()  # along the attributes of objects, as TensorFlow saves them
    NAMES = auto()  # of variables
    KERAS_PATHS = auto()  # Keras' paths: attributes, and classes with numbers
    KERAS_NAMES = auto()  # layers and variables by their names in `.h5`


LAYOUTS = {
    Format.NAME_BASED: Layout.NAMES,
    Format.NAME_BASED_V1: Layout.NAMES,
    Format.KERAS_H5: Layout.KERAS_NAMES,
    Format.KERAS_WEIGHTS: Layout.KERAS_PATHS,
    Format.KERAS_ARCHIVE: Layout.KERAS_PATHS,
    Format.KERAS_ORBAX: Layout.KERAS_NAMES,
    Format.ORBAX: Layout.KERAS_NAMES,
    Format.TFJS: Layout.KERAS_NAMES,
    Format.TFJS_OF_KERAS_3: Layout.KERAS_PATHS,
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A checkpoint in a directory: its `checkpoint` file names it, or it is only present.

    >>> [kept.prefix for kept in cv.graph("ckpts").provenance.kept if not kept.is_latest]
    ['ckpts/ckpt-1', 'ckpts/ckpt-2']

    `saved_at` is in UTC, None if that file has no timestamp. `exists` says whether its index still
    exists. `is_named` says that the file names it, `is_latest` that the file names it as the
    latest. Two Savers that share a directory also share the file: each writes only its own
    checkpoints.
    """

    prefix: str
    saved_at: datetime | None
    exists: bool
    is_named: bool = True
    is_latest: bool = False


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a saved graph was read from.

    >>> cv.graph("ckpts").provenance.resolved
    'ckpts/ckpt-3 is the latest of 3 checkpoints that ckpts/checkpoint names'

    `given` is the path as passed, `prefix` the path of the files that were read. `resolved`
    explains in a sentence how one led to the other, "" if they are the same. If `given` is a
    directory, `kept` holds its checkpoints. Those that its `checkpoint` file does not name come
    first, then those that it names, oldest first.
    `written_by` is the program with its version, "Keras 2.15.0", as far as the file tells.
    `opened_by` are the functions that read such files.
    """

    given: str
    prefix: str
    format: Format
    resolved: str = ""
    kept: tuple[Kept, ...] = ()
    written_by: str = ""
    opened_by: str = ""
