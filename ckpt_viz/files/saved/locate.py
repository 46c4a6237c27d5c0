"""From a path that a person types to the checkpoint that the person means.

TensorFlow expects a prefix, which is not the name of a file. People pass the `.index` file, a
shard, the directory, or the prefix without its number. The answer is the checkpoint that the path
leads to, with a sentence that explains how. Otherwise it is an error with the prefixes that a
person may mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from ckpt_viz.errors import CheckpointNotFoundError, GoneError
from ckpt_viz.files.saved.file_types import FileType, file_type_of
from ckpt_viz.files.saved.location import INDEX, Location
from ckpt_viz.files.saved.one_checkpoint import (
    at_prefix,
    by_contents,
    names_in,
    of_nothing,
    of_saved_model,
)
from ckpt_viz.files.saved.orbax_reader import ORBAX, steps_in
from ckpt_viz.files.saved.v1_reader import shards_of
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, SAVED_MODEL_TEXT
from ckpt_viz.formats.storage.files import is_directory, is_file, is_remote, join, split
from ckpt_viz.graphs.object_graph.provenance import Kept


def locate(path: str) -> Location:
    """Return the location of the checkpoint that a path leads to.

    The path may be a prefix, with or without its number; a file of any type in `file_types.json`;
    a V1 checkpoint; a directory with a `checkpoint` file or with one checkpoint; or a SavedModel's
    directory. Raises CheckpointNotFoundError with the prefixes that a person may mean, and
    UnsupportedError for a file that is known to be something else.
    """
    if not is_remote(path):
        path = os.path.expanduser(path)
    if is_file(path + INDEX):
        return at_prefix(path, path)
    if is_directory(path):
        from ckpt_viz.files.saved.in_directory import in_directory  # a prefix needs none of it

        return in_directory(path)
    if is_file(path):
        return _of_file(path)
    return of_nothing(path)


def checkpoints_at(path: str) -> tuple[Kept, ...]:
    """Return all checkpoints of a directory or its `checkpoint` file, or the one of another path.

    First those that the `checkpoint` file does not name, by number, then those that it names. Lists
    the directory, opens no checkpoint, and raises as `locate`, except that it need not be clear
    which of several checkpoints a person means.
    """
    if not is_remote(path):
        path = os.path.expanduser(path)
    directory = _directory_of_several(path)
    if directory is None:
        return (Kept(locate(path).prefix, None, True),)
    from ckpt_viz.files.saved.in_directory import not_named, prefixes_beside, state_in

    state = state_in(directory)
    named = () if state is None else tuple(kept for kept in locate(path).kept if kept.is_named)
    prefixes = prefixes_beside(directory)
    others = not_named(directory, prefixes, [kept.prefix for kept in named])
    if not named and not others:
        others = steps_in(directory) or prefixes.of_keras
    unnamed = [Kept(join(directory, name), None, True, is_named=False) for name in others]
    return (*unnamed, *named) or (Kept(locate(path).prefix, None, True),)


def _directory_of_several(path: str) -> str | None:
    """Return the directory that a path means with all its checkpoints, None if it means one."""
    if is_file(path + INDEX):
        return None
    if is_directory(path):
        of_one = (SAVED_MODEL, SAVED_MODEL_TEXT, INDEX)
        is_one = any(is_file(join(path, name)) for name in of_one) or ORBAX.is_at(path)
        return None if is_one else path
    file_type = file_type_of(path) if is_file(path) else None
    is_state = file_type is not None and file_type.id == "state"
    return split(path)[0] or "." if is_state else None


def _of_file(path: str) -> Location:
    file_type = file_type_of(path)
    if file_type is None or file_type.id not in _LEADING_ELSEWHERE:
        return by_contents(path)
    return _LEADING_ELSEWHERE[file_type.id](path, file_type)


def _of_index(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    return at_prefix(path, prefix, f"{path} is the index of the checkpoint {prefix}")


def _of_shard(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    if is_file(prefix + INDEX):
        return at_prefix(path, prefix, f"{path} is a shard of the checkpoint {prefix}")
    raise CheckpointNotFoundError(
        f"{path}: a shard of a checkpoint whose index is missing; expected a file {prefix}{INDEX}"
    )


def _of_meta(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    if is_file(prefix + INDEX):
        location = at_prefix(path, prefix)
    elif is_file(prefix):
        location = by_contents(prefix)
    else:
        directory = split(prefix)[0]
        shards = shards_of(prefix, directory, names_in(directory))
        if not shards:
            raise CheckpointNotFoundError(
                f"{path}: a MetaGraph without its checkpoint; expected a file {prefix}{INDEX} "
                "with the values"
            )
        location = by_contents(shards[0])
    resolved = f"{path} is the MetaGraph of the checkpoint {location.prefix}"
    return replace(location, given=path, resolved=resolved)


def _of_part_of_saved_model(path: str, _: FileType) -> Location:
    directory = split(path)[0] or "."
    location = of_saved_model(directory)
    return replace(location, given=path, resolved=f"{path} is part of the SavedModel {directory}")


def _of_part_of_orbax(path: str, _: FileType) -> Location:
    location = ORBAX.in_file(path)
    assert location is not None  # by its name
    return location


def _of_state_file(path: str, _: FileType) -> Location:
    from ckpt_viz.files.saved.in_directory import named_by_state, state_in

    directory = split(path)[0] or "."
    state = state_in(directory)
    if state is None:
        raise GoneError(f"{path}: this file has disappeared; read again")
    return named_by_state(path, directory, state)


# The file types that lead to a checkpoint elsewhere; any other file must be one itself.
_LEADING_ELSEWHERE: Mapping[str, Callable[[str, FileType], Location]] = {
    "index": _of_index,
    "shard": _of_shard,
    "state": _of_state_file,
    "meta": _of_meta,
    "saved-model": _of_part_of_saved_model,
    "saved-model-metadata": _of_part_of_saved_model,
    "orbax": _of_part_of_orbax,
}
