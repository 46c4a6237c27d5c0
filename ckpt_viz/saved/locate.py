"""From a path that a person types to the checkpoint that is meant.

TensorFlow wants a prefix, which is no file's name: people pass the `.index` file, a shard, the
directory, the prefix without its number. Each is answered with the checkpoint it leads to and
a sentence that says so, or with the prefixes that may be meant.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    DeniedError,
    OutsideError,
    UnsupportedError,
)
from ckpt_viz.formats.checkpoint_state import STATE_FILE, Listed, State, read_checkpoint_state
from ckpt_viz.formats.files import (
    is_directory,
    is_file,
    is_readable_file,
    is_remote,
    join,
    list_directory,
    list_files,
    may_be_read,
    open_file,
    split,
)
from ckpt_viz.formats.saved_model import (
    KERAS_METADATA,
    SAVED_MODEL,
    SAVED_MODEL_TEXT,
    VARIABLES,
)
from ckpt_viz.formats.sstable import GIT_LFS_POINTER, ends_like_a_table
from ckpt_viz.object_graph.graph import Kept

INDEX = ".index"
META = ".meta"
_SHARD = re.compile(r"(.*)\.data-[0-9]{5}-of-[0-9]{5}", re.DOTALL)
_V1_SHARD = re.compile(r"(.*)-([0-9]{5}|\?{5})-of-([0-9]{5})", re.DOTALL)
_NUMBERED = re.compile(r"(.*)-([0-9]+)", re.DOTALL)
_MOST_LISTED = 3  # in a sentence
_MOST_UNNAMED = 200  # beside those that the `checkpoint` file names
# What begins like this is often taken for a checkpoint.
_OTHERS = {
    b"\x89HDF": "an HDF5 file, as Keras saves weights in: load it with model.load_weights",
    b"PK\x03\x04": "a zip archive, as Keras saves models in: load it with keras.saving.load_model",
    GIT_LFS_POINTER: "a Git LFS pointer, not the file it stands for: run `git lfs pull`",
}


@dataclass(frozen=True, slots=True)
class Location:
    """Where a checkpoint is.

    `prefix` is that of a bundle, or the path of a V1 file; `saved_model` the SavedModel's
    directory, `meta` a `.meta` file that belongs to it. `resolved` says in a sentence how the
    path led here, "" where it is the prefix itself; `kept` are the directory's checkpoints.
    """

    given: str
    prefix: str
    is_v1: bool = False
    saved_model: str | None = None
    meta: str | None = None
    resolved: str = ""
    kept: tuple[Kept, ...] = ()


def locate(path: str) -> Location:
    """Return where the checkpoint is that a path leads to.

    The path may be a prefix, an `.index` or `.data-…` file, a `.meta` file, a V1 checkpoint, a
    directory with a `checkpoint` file or with one checkpoint, that file itself, a SavedModel's
    directory or file, and a prefix without its number. Raises CheckpointNotFoundError with the
    prefixes that may be meant, UnsupportedError for what is known to be something else.
    """
    if not is_remote(path):
        path = os.path.expanduser(path)
    if is_file(path + INDEX):
        return _at_prefix(path, path)
    if is_directory(path):
        return _in_directory(path)
    if is_file(path):
        return _of_file(path)
    return _of_nothing(path)


def _at_prefix(
    given: str, prefix: str, resolved: str = "", kept: tuple[Kept, ...] = ()
) -> Location:
    """Return the location of a bundle whose index is there, with what lies beside it."""
    meta = prefix + META if is_file(prefix + META) else None
    directory, name = split(prefix)
    saved_model = None
    if name == VARIABLES[1] and split(directory)[1] == VARIABLES[0]:
        parent = split(directory)[0] or "."
        if is_file(join(parent, SAVED_MODEL)):
            saved_model = parent
    return Location(given, prefix, saved_model=saved_model, meta=meta, resolved=resolved, kept=kept)


def _of_file(path: str) -> Location:
    directory, name = split(path)
    if path.endswith(INDEX):
        prefix = path[: -len(INDEX)]
        return _at_prefix(path, prefix, f"{path} is the index of the checkpoint {prefix}")
    shard = _SHARD.fullmatch(path)
    if shard is not None:
        if is_file(shard[1] + INDEX):
            return _at_prefix(path, shard[1], f"{path} is a shard of the checkpoint {shard[1]}")
        raise CheckpointNotFoundError(
            f"{path}: a shard of a checkpoint whose index is missing; expected a file "
            f"{shard[1]}{INDEX}"
        )
    if path.endswith(META):
        return _of_meta(path)
    if name in (SAVED_MODEL, SAVED_MODEL_TEXT, KERAS_METADATA):
        found = _of_saved_model(directory or ".")
        return _renamed(found, path, f"{path} is part of the SavedModel {directory or '.'}")
    if name == STATE_FILE:
        state = read_checkpoint_state(directory or ".")
        if state is not None:
            return _of_state(path, directory or ".", state)
    return _of_v1_file(path)


def _of_v1_file(path: str) -> Location:
    with open_file(path) as file:
        head = file.read(0, min(file.size, 32))
        is_table = ends_like_a_table(file)
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise UnsupportedError(f"{path}: {what}")
    if not is_table:
        raise CheckpointNotFoundError(
            f"{path}: a file, but not a checkpoint; expected a prefix with {path}{INDEX} beside it"
        )
    shard = _V1_SHARD.fullmatch(path)
    prefix = f"{shard[1]}-?????-of-{shard[3]}" if shard is not None else path
    resolved = f"{path} is a shard of the checkpoint {prefix}" if shard is not None else ""
    meta = (shard[1] if shard is not None else path) + META
    return Location(
        path, prefix, is_v1=True, meta=meta if is_file(meta) else None, resolved=resolved
    )


def _of_meta(path: str) -> Location:
    prefix = path[: -len(META)]
    if is_file(prefix + INDEX):
        found = _at_prefix(path, prefix)
    elif is_file(prefix):
        found = _of_v1_file(prefix)
    else:
        directory, name = split(prefix)
        shards = [n for n in _names(directory) if (m := _V1_SHARD.fullmatch(n)) and m[1] == name]
        if not shards:
            raise CheckpointNotFoundError(
                f"{path}: a MetaGraph without its checkpoint; expected a file {prefix}{INDEX} "
                "with the values"
            )
        found = _of_v1_file(join(directory, shards[0]))
    return _renamed(found, path, f"{path} is the MetaGraph of the checkpoint {found.prefix}")


def _of_saved_model(directory: str) -> Location:
    prefix = join(join(directory, VARIABLES[0]), VARIABLES[1])
    if not is_file(prefix + INDEX):
        raise CheckpointNotFoundError(
            f"{directory}: a SavedModel without variables; expected a file {prefix}{INDEX}"
        )
    return Location(
        directory,
        prefix,
        saved_model=directory,
        resolved=f"{directory} is a SavedModel; its checkpoint is {prefix}",
    )


def _in_directory(path: str) -> Location:
    if is_file(join(path, SAVED_MODEL)) or is_file(join(path, SAVED_MODEL_TEXT)):
        return _of_saved_model(path)
    if is_file(join(path, INDEX)):
        prefix = join(path, "")
        return _at_prefix(path, prefix, f"{path} holds a checkpoint with an empty name")
    state = read_checkpoint_state(path)
    if state is not None:
        return _of_state(path, path, state)
    names = sorted(_prefix_names(path), key=_by_number)
    if len(names) == 1:
        prefix = join(path, names[0])
        resolved = f"{prefix} is the one checkpoint with an index in {path}"
        return _at_prefix(path, prefix, resolved, _unnamed(path, names))
    latest = _latest_of_one_series(names)
    if latest is not None:
        prefix = join(path, latest)
        resolved = f"{prefix} has the highest number of {len(names)} with an index in {path}"
        return _at_prefix(path, prefix, resolved, _unnamed(path, names))
    if not names:
        raise CheckpointNotFoundError(
            f"{path}: a directory without a checkpoint; expected a prefix such as "
            f"{join(path, 'ckpt-1')}"
        )
    raise CheckpointNotFoundError(
        f"{path}: a directory of {len(names)} checkpoints; expected the prefix of one: "
        f"{_listed([join(path, name) for name in names])}"
    )


def _of_state(given: str, directory: str, state: State) -> Location:
    """Return the location of the latest checkpoint that a directory's `checkpoint` file names."""
    listed = state.listed
    if state.latest not in {one.prefix for one in listed}:
        listed = (*listed, Listed(state.latest, None))
    is_there = _presence(directory)
    named = tuple(
        Kept(
            one.prefix,
            one.saved_at,
            is_there(one.prefix),
            is_latest=one.prefix == state.latest,
        )
        for one in listed
    )
    if not (may_be_read(state.latest) and may_be_read(state.latest + INDEX)):
        raise OutsideError(
            f"{join(directory, STATE_FILE)}: names {state.latest}, which may not be read: it leads "
            "out of the directory that holds the files, or is hidden"
        )
    file = join(directory, STATE_FILE)
    others = _others(directory, [one.prefix for one in listed])
    unnamed = _unnamed(directory, others)
    beside = _beside([one.prefix for one in unnamed], len(others[:-_MOST_UNNAMED]), file)
    kept = (*unnamed, *named)
    if _is_there(state.latest):
        which = f"the latest of {len(named)} checkpoints" if len(named) > 1 else "the checkpoint"
        resolved = f"{state.latest} is {which} that {file} names{beside}"
        return _checkpoint_at(given, state.latest, resolved, kept)
    present = [one.prefix for one in named if one.exists]
    if present:
        resolved = (
            f"{state.latest}, the latest checkpoint of {directory}, is gone; {present[-1]} is the "
            f"last that {file} names and that is there{beside}"
        )
        return _checkpoint_at(given, present[-1], resolved, kept)
    raise CheckpointNotFoundError(
        f"{file}: names {state.latest} and {len(named)} checkpoints in all, found none of them; "
        f"expected a file {state.latest}{INDEX}{_hint(state.latest, directory)}"
    )


def _others(directory: str, named: Iterable[str]) -> list[str]:
    """Return the checkpoints that lie in a directory beside those that are named.

    None where it cannot be listed: what its `checkpoint` file names can be opened all the same.
    """
    try:
        names = set(_prefix_names(directory))
    except (CkptVizError, OSError):
        return []
    here, place = _place(directory), cache(_place)  # a state file may name a hundred thousand
    parts = (split(prefix) for prefix in named)
    known = {name for lies_in, name in parts if name in names and place(lies_in) == here}
    return sorted(names - known, key=_by_number)


def _beside(prefixes: Sequence[str], others: int, file: str) -> str:
    """Return what is said of checkpoints, and so many others, that a state file does not name."""
    if not prefixes:
        return ""
    listed = prefixes[-_MOST_LISTED:]
    unlisted = len(prefixes) - len(listed) + others
    lie, them = ("lies", "it") if len(prefixes) == 1 else ("lie", "them")
    more = f" and {unlisted} more" if unlisted else ""
    return f"; {', '.join(listed)}{more} {lie} there, too, and {file} does not name {them}"


def _unnamed(directory: str, names: Sequence[str]) -> tuple[Kept, ...]:
    """Return checkpoints that lie in a directory, the last ones of very many."""
    prefixes = (join(directory, name) for name in names[-_MOST_UNNAMED:])
    return tuple(Kept(one, None, True, is_named=False) for one in prefixes if _is_there(one))


def _place(directory: str) -> str:
    return directory.rstrip("/") if is_remote(directory) else os.path.realpath(directory or ".")


def _by_number(name: str) -> tuple[str, int, str]:
    """Return what sorts names, those of a series by their number."""
    numbered = _NUMBERED.fullmatch(name)
    return (name, -1, name) if numbered is None else (numbered[1], int(numbered[2][-18:]), name)


def _presence(directory: str) -> Callable[[str], bool]:
    """Return what tells whether a checkpoint is there; it lists the directory once.

    A `checkpoint` file may name a hundred thousand.
    """
    try:
        names = set(list_files(directory))
    except (CkptVizError, OSError):  # what may not be listed can be looked at all the same
        return cache(_is_there)

    @cache
    def is_there(prefix: str) -> bool:
        place, name = split(prefix)
        return (name + INDEX in names or name in names) if place == directory else _is_there(prefix)

    return is_there


def _is_there(prefix: str) -> bool:
    return is_readable_file(prefix + INDEX) or is_readable_file(prefix)


def _checkpoint_at(given: str, prefix: str, resolved: str, kept: tuple[Kept, ...]) -> Location:
    if is_file(prefix + INDEX):
        return _at_prefix(given, prefix, resolved, kept)
    return _renamed(_of_v1_file(prefix), given, resolved, kept)


def _of_nothing(path: str) -> Location:
    """Return what a path may stand for that is no file's: V1 shards, a prefix less its number."""
    directory, name = split(path)
    if directory and not is_directory(directory):
        raise CheckpointNotFoundError(f"{path}: no such checkpoint, and no directory {directory}")
    try:
        names = _names(directory)
    except DeniedError as error:
        raise CheckpointNotFoundError(
            f"{path}: no such checkpoint; expected a file {path}{INDEX}, and what else there is "
            f"cannot be told: {error}"
        ) from error
    shards = [n for n in names if (m := _V1_SHARD.fullmatch(n)) and m[1] == name]
    v1 = _V1_SHARD.fullmatch(name)
    if v1 is not None or shards:
        stem = v1[1] if v1 is not None else name
        meta = join(directory, stem + META)
        return Location(path, path, is_v1=True, meta=meta if is_file(meta) else None)
    numbered = [
        prefix
        for prefix in _prefix_names(directory)
        if (match := _NUMBERED.fullmatch(prefix)) and match[1] in (name, name.rstrip("-"))
    ]
    latest = _latest_of_one_series(numbered)
    if latest is not None:
        prefix = join(directory, latest)
        how_many = f" of {len(numbered)}" if len(numbered) > 1 else ""
        return _at_prefix(path, prefix, f"{prefix} has the highest number{how_many}")
    expected = path if path.endswith(INDEX) else path + INDEX
    raise CheckpointNotFoundError(
        f"{path}: no such checkpoint; expected a file {expected}{_hint(path)}"
    )


def _latest_of_one_series(names: Sequence[str]) -> str | None:
    """Return the name with the highest number, if all are one name with a number each."""
    series = [_NUMBERED.fullmatch(name) for name in names]
    if not series or not all(series) or len({match[1] for match in series if match}) > 1:
        return None
    return max(names, key=lambda name: int(name.rpartition("-")[2]))


def _renamed(found: Location, given: str, resolved: str, kept: tuple[Kept, ...] = ()) -> Location:
    return Location(
        given,
        found.prefix,
        found.is_v1,
        found.saved_model,
        found.meta,
        resolved,
        kept or found.kept,
    )


def _hint(path: str, directory: str | None = None) -> str:
    """Return the checkpoints in a directory, that of the path itself if no other is given."""
    directory = split(path)[0] if directory is None else directory
    try:
        prefixes = [join(directory, name) for name in _prefix_names(directory)]
    except DeniedError:
        return ""
    close = difflib.get_close_matches(path, prefixes, n=3, cutoff=0.6) or prefixes
    return f"; did you mean {_listed(close)}?" if close else ""


def _prefix_names(directory: str) -> list[str]:
    there = directory or "."
    return _prefixes_among(list_files(there) if is_directory(there) else ())  # pipes are none


def _prefixes_among(names: Sequence[str]) -> list[str]:
    return [name[: -len(INDEX)] for name in names if name.endswith(INDEX) and name != INDEX]


def _names(directory: str) -> list[str]:
    return list_directory(directory or ".") if is_directory(directory or ".") else []


def _listed(prefixes: Sequence[str]) -> str:
    shown = " or ".join(prefixes[:_MOST_LISTED])
    more = len(prefixes) - _MOST_LISTED
    return shown if more <= 0 else f"{shown} ({more} more)"
