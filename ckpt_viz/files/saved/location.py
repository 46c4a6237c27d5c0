"""The location of a checkpoint, and the questions that its format answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ckpt_viz.formats.storage.files import File
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Kept

INDEX = ".index"
META = ".meta"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a checkpoint is, and the reader of its format.

    `prefix` is TensorFlow's prefix, or the path of the single file. `index` is the path of an index
    whose name is not the prefix with `.index`. `saved_model` is the
    SavedModel's directory, `meta` its `.meta` file. `resolved` is a sentence that explains how the
    path led here, "" for the prefix itself. `kept` are the directory's checkpoints.
    """

    given: str
    prefix: str
    reader: FormatReader
    saved_model: str | None = None
    meta: str | None = None
    resolved: str = ""
    kept: tuple[Kept, ...] = ()
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a checkpoint: the index, which is read whole, and the files with the values."""

    index: str | None
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatReader:
    """One format of checkpoints; `files.saved.readers` lists all.

    Attributes:
        name: TensorFlow's name of the format.
        is_at: Whether a file at a prefix may be such a checkpoint; opens none.
        holds: Whether an open file begins as one of such a checkpoint, whatever its name. Reads
            little; raises CkptVizError for other or damaged files.
        in_file: The checkpoint that a single file forms, None if its bytes show another format.
        files_of: The files of a checkpoint.
        read: The graph. The path, if any, is that of a `.meta` file elsewhere.
    """

    name: str
    is_at: Callable[[str], bool] = field(repr=False)
    holds: Callable[[File], bool] = field(repr=False)
    in_file: Callable[[str], Location | None] = field(repr=False)
    files_of: Callable[[Location], Files] = field(repr=False)
    read: Callable[[Location, str | None], Graph] = field(repr=False)
