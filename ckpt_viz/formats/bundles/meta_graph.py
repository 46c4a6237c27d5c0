"""Reads the facts about variables in a `.meta` file, for the checkpoint beside it.

`tf.compat.v1.train.Saver` writes a MetaGraphDef (tensorflow/core/protobuf/meta_graph.proto). It
holds the whole program as a GraphDef, of up to gigabytes, and collections that list the variables.
This module reads only the collections and skips the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.arrays.protos import CollectionDefEntry, VariableDef, parse
from ckpt_viz.formats.kinds.refusals import named_if_other
from ckpt_viz.formats.storage.files import File, open_file
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.wire import fields
from ckpt_viz.ground.text import shape_words

MAX_COLLECTION_BYTES = 1 << 28  # 256 MiB in total; a variable takes some 300 bytes

TRAINABLE = "trainable_variables"
# The collections that TensorFlow exports as VariableDefs (ops/ref_variable.py). Others list the
# variables' names, or hold messages of other kinds.
_OF_VARIABLES = frozenset(
    {
        "global_step",
        "local_variables",
        "metric_variables",
        "model_variables",
        "moving_average_variables",
        TRAINABLE,
        "variables",
    }
)
_META_GRAPHS = 2  # a field of SavedModel
_COLLECTION_DEF, _META_INFO = 4, 1  # fields of MetaGraphDef
_VERSION = 5  # a field of MetaInfoDef
_MAX_VERSION_BYTES = 100
_TEXT_FORMAT = (b"meta_info_def", b"graph_def", b"saver_def", b"collection_def", b"#")


@dataclass(frozen=True, slots=True)
class SaveSlice:
    """The position of a partition in the tensor that is saved for all of them."""

    full_name: str
    full_shape: tuple[int, ...]
    start: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MetaVariable:
    """A variable of the program; `collections` are sorted."""

    name: str
    trainable: bool
    collections: tuple[str, ...]
    save_slice: SaveSlice | None = None

    @property
    def saved_as(self) -> str:
        """The tensor in which a Saver stores it, unless the Saver has another name for it."""
        return self.save_slice.full_name if self.save_slice is not None else self.name


@dataclass(frozen=True, slots=True)
class MetaGraph:
    """The facts about the program's variables in a `.meta` file."""

    path: str
    variables: tuple[MetaVariable, ...] = field(repr=False)


def open_meta_graph(path: str) -> MetaGraph:
    """Return the facts about variables in this `.meta` file.

    Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    try:
        with named_if_other(path, "a MetaGraphDef"), open_file(path) as file:
            _check_kind(file)
            return MetaGraph(path, tuple(_variables(_collections(file, 0, file.size), path)))
    except FileNotFoundError as error:
        raise CheckpointNotFoundError(
            f"{path}: no such file; expected the MetaGraph that a Saver wrote"
        ) from error


def open_saved_models_meta_graph(path: str) -> MetaGraph:
    """Return the facts about variables in the first MetaGraph of a `saved_model.pb`.

    TensorFlow 1 writes the variables' collections into it, as into a `.meta` file. Raises
    FormatError or UnsupportedError.
    """
    with named_if_other(path, "a SavedModel"), open_file(path) as file:
        for number, start, size in fields(file, 0, file.size, "SavedModel"):
            if number == _META_GRAPHS:
                collections = _collections(file, start, start + size)
                return MetaGraph(path, tuple(_variables(collections, path)))
    return MetaGraph(path, ())


def tensorflow_version(file: File) -> str:
    """Return which TensorFlow wrote a `.meta` file or a `saved_model.pb`; "" if it does not tell.

    A file that is damaged or of another kind tells nothing, either.
    """
    with suppress(CkptVizError):
        start, size = 0, file.size
        first = next(fields(file, 0, file.size, "MetaGraphDef"), (0, 0, 0))
        is_saved_model = first[0] == 1 and first[2] == 0  # a number, the version of its format
        for number in (*([_META_GRAPHS] if is_saved_model else []), _META_INFO, _VERSION):
            inside = fields(file, start, start + size, "MetaGraphDef")
            start, size = next((part[1:] for part in inside if part[0] == number), (start, 0))
        return file.read(start, min(size, _MAX_VERSION_BYTES)).decode("utf-8", "replace")
    return ""


def _variables(collections: dict[str, Any], path: str) -> Iterator[MetaVariable]:
    definitions: dict[bytes, Any] = {}
    members: dict[str, set[str]] = {}  # the collections, by the name of a variable
    for key, collection in collections.items():
        place = f"{path}: collection {brief(key)}"
        for data in collection.bytes_list.value if key in _OF_VARIABLES else ():
            if data not in definitions:
                definitions[data] = parse(VariableDef, data, place)
            members.setdefault(definitions[data].variable_name, set()).add(key)
        for name in collection.node_list.value:
            members.setdefault(name, set()).add(key)
    named = {definition.variable_name: definition for definition in definitions.values()}
    for name, definition in named.items():
        yield _variable(definition, members[name], f"{path}: variable {brief(name)}")


def _variable(definition: Any, collections: set[str], place: str) -> MetaVariable:
    return MetaVariable(
        name=definition.variable_name.removesuffix(":0"),
        # TensorFlow before 1.11 has only the collection.
        trainable=definition.trainable or TRAINABLE in collections,
        collections=tuple(sorted(collections)),
        save_slice=(
            _save_slice(definition.save_slice_info_def, place)
            if definition.HasField("save_slice_info_def")
            else None
        ),
    )


def _save_slice(proto: Any, place: str) -> SaveSlice:
    part = SaveSlice(
        proto.full_name, tuple(proto.full_shape), tuple(proto.var_offset), tuple(proto.var_shape)
    )
    if not len(part.full_shape) == len(part.start) == len(part.shape):
        raise FormatError(
            f"{place}: is the part {shape_words(part.shape)} at {part.start} of "
            f"{shape_words(part.full_shape)}, expected three of one rank"
        )
    return part


def _collections(file: File, start: int, end: int) -> dict[str, Any]:
    """Return a MetaGraphDef's CollectionDefs by name; of two with one name the last, as in maps."""
    collections = {}
    budget = MAX_COLLECTION_BYTES
    for number, offset, size in fields(file, start, end, "MetaGraphDef"):
        if number == _COLLECTION_DEF:
            budget -= size
            if budget < 0:
                raise UnsupportedError(
                    f"{file.path}: the collections have more than {MAX_COLLECTION_BYTES} bytes, "
                    "expected at most that many"
                )
            place = f"{file.path}: collection at offset {offset}"
            entry = parse(CollectionDefEntry, file.read(offset, size), place)
            collections[entry.key] = entry.value
    return collections


def _check_kind(file: File) -> None:
    head = file.read(0, min(64, file.size))
    if not head:
        raise FormatError(f"{file.path}: is empty, expected a MetaGraphDef")
    if head.lstrip().startswith(_TEXT_FORMAT):
        raise UnsupportedError(
            f"{file.path}: is a MetaGraphDef as text, expected a binary one, as "
            "`export_meta_graph(as_text=False)` writes"
        )
