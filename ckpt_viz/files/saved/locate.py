"""From a path that a person types to the checkpoint that the person means.

TensorFlow expects a prefix, which is not the name of a file. People pass the `.index` file, a
shard, the directory, or the prefix without its number. The answer is the checkpoint that the path
leads to, with a sentence that explains how. Otherwise it is an error with the prefixes that a
person may mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    GoneError,
    OutsideError,
    UnsupportedError,
)
from ckpt_viz.files.saved.file_types import FileType, file_type_of
from ckpt_viz.files.saved.listing import (
    Prefixes,
    are_numbered_alike,
    by_number,
    number_in,
    prefixes_in,
)
from ckpt_viz.files.saved.location import INDEX, META, Location
from ckpt_viz.files.saved.orbax_reader import ORBAX, old_orbax_at, orbax_at, steps_in
from ckpt_viz.files.saved.readers import READERS
from ckpt_viz.files.saved.tfjs_reader import tfjs_in
from ckpt_viz.files.saved.v1_reader import in_shards, prefix_of_shard, shards_of
from ckpt_viz.files.saved.v2_reader import V2
from ckpt_viz.formats.bundles.checkpoint_state import (
    STATE_FILE,
    Listed,
    ListedCheckpoints,
    read_checkpoint_state,
)
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, SAVED_MODEL_TEXT, VARIABLES
from ckpt_viz.formats.storage.files import (
    is_directory,
    is_file,
    is_remote,
    join,
    list_directory,
    list_files,
    may_be_read,
    open_file,
    split,
)
from ckpt_viz.graphs.object_graph.provenance import Kept
from ckpt_viz.ground.text import count
from ckpt_viz.ground.text import listed as in_words

_MOST_LISTED = 3  # in a sentence
_MOST_UNNAMED = 200  # beside those that the `checkpoint` file names


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
        return _at_prefix(path, path)
    if is_directory(path):
        return _in_directory(path)
    if is_file(path):
        return _of_file(path)
    return _of_nothing(path)


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
    state = _state_in(directory)
    named = () if state is None else tuple(kept for kept in locate(path).kept if kept.is_named)
    prefixes = _prefixes_beside(directory)
    others = _others(directory, prefixes, [kept.prefix for kept in named])
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


def _at_prefix(
    given: str, prefix: str, resolved: str = "", kept: tuple[Kept, ...] = ()
) -> Location:
    """Return the location of a bundle whose index exists, with the files beside it."""
    meta = prefix + META if is_file(prefix + META) else None
    directory, name = split(prefix)
    saved_model = None
    if name == VARIABLES[1] and split(directory)[1] == VARIABLES[0]:
        parent = split(directory)[0] or "."
        if is_file(join(parent, SAVED_MODEL)):
            saved_model = parent
    return Location(given, prefix, V2, saved_model, meta, resolved, kept)


def _of_file(path: str) -> Location:
    file_type = file_type_of(path)
    if file_type is None or file_type.id not in _LEADING_ELSEWHERE:
        return _by_contents(path)
    return _LEADING_ELSEWHERE[file_type.id](path, file_type)


def _of_index(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    return _at_prefix(path, prefix, f"{path} is the index of the checkpoint {prefix}")


def _of_shard(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    if is_file(prefix + INDEX):
        return _at_prefix(path, prefix, f"{path} is a shard of the checkpoint {prefix}")
    raise CheckpointNotFoundError(
        f"{path}: a shard of a checkpoint whose index is missing; expected a file {prefix}{INDEX}"
    )


def _of_meta(path: str, file_type: FileType) -> Location:
    prefix = file_type.prefix_of(path)
    if is_file(prefix + INDEX):
        location = _at_prefix(path, prefix)
    elif is_file(prefix):
        location = _by_contents(prefix)
    else:
        directory = split(prefix)[0]
        shards = shards_of(prefix, directory, _names(directory))
        if not shards:
            raise CheckpointNotFoundError(
                f"{path}: a MetaGraph without its checkpoint; expected a file {prefix}{INDEX} "
                "with the values"
            )
        location = _by_contents(shards[0])
    resolved = f"{path} is the MetaGraph of the checkpoint {location.prefix}"
    return replace(location, given=path, resolved=resolved)


def _of_part_of_saved_model(path: str, _: FileType) -> Location:
    directory = split(path)[0] or "."
    location = _of_saved_model(directory)
    return replace(location, given=path, resolved=f"{path} is part of the SavedModel {directory}")


def _of_part_of_orbax(path: str, _: FileType) -> Location:
    location = ORBAX.in_file(path)
    assert location is not None  # by its name
    return location


def _of_state_file(path: str, _: FileType) -> Location:
    directory = split(path)[0] or "."
    state = _state_in(directory)
    if state is None:
        raise GoneError(f"{path}: this file has disappeared; read again")
    return _of_state(path, directory, state)


def _by_contents(path: str) -> Location:
    """Return the checkpoint that a single file forms."""
    for reader in READERS:
        location = reader.in_file(path)
        if location is not None:
            return location
    from ckpt_viz.formats.kinds.file_kinds import kind_of  # a checkpoint needs none of it

    with open_file(path) as file:
        kind, beginning, is_empty = kind_of(file), file.read(0, min(file.size, 8)), not file.size
    if kind is not None:
        refuse = CheckpointNotFoundError if is_empty else UnsupportedError
        raise refuse(f"{path}: {kind.refusal}")
    raise CheckpointNotFoundError(
        f"{path}: a file of an unknown kind that begins with the bytes {beginning.hex(' ')}, not a "
        "TensorFlow checkpoint; check the path, or copy the file again"
    )


def _of_saved_model(directory: str) -> Location:
    prefix = join(join(directory, VARIABLES[0]), VARIABLES[1])
    if not is_file(prefix + INDEX):
        raise CheckpointNotFoundError(
            f"{directory}: a SavedModel without variables; expected a file {prefix}{INDEX}"
        )
    return Location(
        directory,
        prefix,
        V2,
        saved_model=directory,
        resolved=f"{directory} is a SavedModel; its checkpoint is {prefix}",
    )


def _in_directory(path: str) -> Location:
    if is_file(join(path, SAVED_MODEL)) or is_file(join(path, SAVED_MODEL_TEXT)):
        return _of_saved_model(path)
    if is_file(join(path, INDEX)):
        prefix = join(path, "")
        return _at_prefix(path, prefix, f"{path} holds a checkpoint with an empty name")
    orbax = orbax_at(path)
    if orbax is not None:
        return orbax
    state = _state_in(path)
    if state is not None:
        return _of_state(path, path, state)
    prefixes = prefixes_in(path)
    names = prefixes.all
    for among in (names, prefixes.indexed):
        latest = among[0] if len(among) == 1 else _latest_of_one_series(among)
        if latest is not None:
            return _chosen(path, latest, among, prefixes)
    if not names:
        return _of_other_libraries(path, prefixes)
    raise CheckpointNotFoundError(
        f"{path}: a directory of {len(names)} checkpoints; expected the prefix of one: "
        f"{_listed([join(path, name) for name in names])}"
    )


def _of_other_libraries(path: str, prefixes: Prefixes) -> Location:
    """Return the location of what Orbax or Keras has saved in a directory."""
    orbax = old_orbax_at(path)
    if orbax is not None:
        return orbax
    steps = steps_in(path)
    if steps:
        return _of_steps(path, steps, prefixes)
    if prefixes.of_keras:
        return _of_keras(path, prefixes.of_keras)
    tfjs = tfjs_in(path)
    if tfjs is not None:
        return tfjs
    raise CheckpointNotFoundError(f"{path}: a directory without a checkpoint{_what_else(path)}")


def _chosen(directory: str, name: str, among: Sequence[str], prefixes: Prefixes) -> Location:
    """Return the location of the checkpoint that a directory without a `checkpoint` file means."""
    prefix, names = join(directory, name), prefixes.all
    if len(among) == 1:
        sign = " with an index" if name in prefixes.indexed else ""
        resolved = f"{prefix} is the only checkpoint{sign} in {directory}"
    else:
        sign = " with an index" if len(among) < len(names) else ""
        resolved = (
            f"{prefix} has the highest number of the {len(among)} checkpoints{sign} in {directory}"
        )
    resolved += _keras_beside(prefixes)
    return _checkpoint_at(directory, prefix, resolved, _unnamed(directory, names))


def _of_keras(directory: str, names: Sequence[str]) -> Location:
    """Return the location of Keras' last file in a directory without other checkpoints."""
    paths = [join(directory, name) for name in names]
    if not are_numbered_alike(names):
        raise CheckpointNotFoundError(
            f"{directory}: a directory of {len(names)} files of Keras; expected the path of one: "
            f"{_listed(paths[::-1])}"
        )
    which = (
        f"has the highest number of the {len(names)} files of Keras"
        if len(names) > 1
        else "is the only file of Keras"
    )
    location = _by_contents(paths[-1])
    kept = tuple(Kept(path, None, True, is_named=False) for path in paths[-_MOST_UNNAMED:])
    resolved = f"{paths[-1]} {which} in {directory}"
    return replace(location, given=directory, resolved=resolved, kept=kept)


def _of_steps(directory: str, names: Sequence[str], prefixes: Prefixes) -> Location:
    """Return the location of the latest Orbax checkpoint in a directory of its steps."""
    paths = [join(directory, name) for name in names]
    which = f"latest of {len(names)} steps" if len(names) > 1 else "only step"
    kept = tuple(Kept(path, None, True, is_named=False) for path in paths[-_MOST_UNNAMED:])
    resolved = f"{paths[-1]} is the {which} that Orbax has saved in {directory}"
    location = orbax_at(paths[-1]) or old_orbax_at(paths[-1])
    if location is None:  # a training has removed it meanwhile
        raise GoneError(f"{paths[-1]}: this directory has disappeared; read again")
    resolved += _keras_beside(prefixes)
    return replace(location, given=directory, resolved=resolved, kept=kept)


def _what_else(directory: str) -> str:
    """Return clauses about what a directory without a checkpoint has below it or instead."""
    from ckpt_viz.files.saved.nearby import checkpoints_below, instead_of_checkpoints

    below = checkpoints_below(directory)
    instead = "" if below else instead_of_checkpoints(directory)
    expected = f"; expected a prefix such as {join(directory, 'ckpt-1')}{_did_you_mean(below)}"
    return instead or expected


def _keras_beside(prefixes: Prefixes) -> str:
    """Return a clause about files of Keras beside the checkpoints of a directory."""
    names = prefixes.of_keras
    are = "is" if len(names) == 1 else "are"
    last = in_words(names[::-1])
    return f"; {last} {are} there too, as files of Keras" if names else ""


def _of_state(given: str, directory: str, state: ListedCheckpoints) -> Location:
    """Return the location of the latest checkpoint that a directory's `checkpoint` file names."""
    listed = state.listed
    if state.latest not in {kept.prefix for kept in listed}:
        listed = (*listed, Listed(state.latest, None))
    is_there = _presence(directory)
    named = tuple(
        Kept(
            kept.prefix,
            kept.saved_at,
            is_there(kept.prefix),
            is_latest=kept.prefix == state.latest,
        )
        for kept in listed
    )
    if not (may_be_read(state.latest) and may_be_read(state.latest + INDEX)):
        raise OutsideError(
            f"{join(directory, STATE_FILE)}: names {state.latest}, which may not be read: it leads "
            "out of the directory that holds the files, or is hidden"
        )
    file = join(directory, STATE_FILE)
    prefixes = _prefixes_beside(directory)
    others = _others(directory, prefixes, [kept.prefix for kept in listed])
    unnamed = _unnamed(directory, others)
    beside = _beside([kept.prefix for kept in unnamed], len(others[:-_MOST_UNNAMED]), file)
    kept = (*unnamed, *named)
    if _is_there(state.latest):
        which = f"the latest of {len(named)} checkpoints" if len(named) > 1 else "the checkpoint"
        resolved = f"{state.latest} is {which} that {file} names{beside}{_keras_beside(prefixes)}"
        return _checkpoint_at(given, state.latest, resolved, kept)
    present = [kept.prefix for kept in named if kept.exists]
    if present:
        resolved = (
            f"{state.latest}, the latest checkpoint of {directory}, is gone; {present[-1]} is the "
            f"last one in {file} that still exists{beside}"
        )
        return _checkpoint_at(given, present[-1], resolved, kept)
    if _state_in(directory) != state:  # a training has removed its old checkpoints meanwhile
        raise GoneError(f"{file}: this file has changed; read again")
    from ckpt_viz.files.saved.nearby import within

    exist = "and it does not exist" if len(named) == 1 else "and none of them exists"
    raise CheckpointNotFoundError(
        f"{file}: names {count(len(named), 'checkpoint')}, {exist}; "
        f"expected a file {state.latest}{INDEX}{_did_you_mean(within(directory))}"
    )


def _prefixes_beside(directory: str) -> Prefixes:
    """Return what is beside a `checkpoint` file: none if the directory cannot be listed.

    What the file names can still be opened.
    """
    with suppress(CkptVizError, OSError):
        return prefixes_in(directory)
    return Prefixes([], [], [])


def _others(directory: str, prefixes: Prefixes, named: Iterable[str]) -> list[str]:
    """Return the checkpoints in a directory that its `checkpoint` file does not name."""
    names = set(prefixes.all)
    here, place = _place(directory), cache(_place)  # a state file may name a hundred thousand
    parts = (split(prefix) for prefix in named)
    known = {name for lies_in, name in parts if name in names and place(lies_in) == here}
    return sorted(names - known, key=by_number)


def _beside(prefixes: Sequence[str], others: int, file: str) -> str:
    """Return a clause about checkpoints that a state file does not name; `others` counts more."""
    if not prefixes:
        return ""
    listed = prefixes[-_MOST_LISTED:]
    unlisted = len(prefixes) - len(listed) + others
    are, them = ("is", "it") if len(prefixes) == 1 else ("are", "them")
    more = f" and {unlisted} more" if unlisted else ""
    return f"; {', '.join(listed)}{more} {are} there too, but {file} does not name {them}"


def _unnamed(directory: str, names: Sequence[str]) -> tuple[Kept, ...]:
    """Return the checkpoints in a directory; if there are very many, the last ones."""
    prefixes = (join(directory, name) for name in names[-_MOST_UNNAMED:])
    return tuple(Kept(path, None, True, is_named=False) for path in prefixes if _is_there(path))


def _place(directory: str) -> str:
    return directory.rstrip("/") if is_remote(directory) else os.path.realpath(directory or ".")


def _presence(directory: str) -> Callable[[str], bool]:
    """Return a function from a prefix to whether a checkpoint is there.

    It lists the directory once, and looks into no other that is missing: a `checkpoint` file may
    name a hundred thousand.
    """
    may_hold = cache(_may_be_directory)

    @cache
    def listed() -> set[str] | None:
        # A directory that cannot be listed may still allow access to its files
        with suppress(CkptVizError, OSError):
            names = list_files(directory or os.curdir)
            return {*names, *map(prefix_of_shard, names)}
        return None

    @cache
    def is_there(prefix: str) -> bool:
        place, name = split(prefix)
        names = listed() if place == directory else None
        if names is None:
            return may_hold(place) and _is_there(prefix)
        return name + INDEX in names or name in names

    return is_there


def _may_be_directory(path: str) -> bool:
    with suppress(CkptVizError):
        return may_be_read(path) and is_directory(path or os.curdir)
    return True


def _is_there(prefix: str) -> bool:
    return any(reader.is_at(prefix) for reader in READERS)


def _state_in(directory: str) -> ListedCheckpoints | None:
    """Return what a directory's `checkpoint` file names; a place that is unknown has nothing."""
    is_there = _presence(directory)

    def is_surely_there(prefix: str) -> bool:
        with suppress(CkptVizError, OSError):
            return is_there(prefix)
        return False

    return read_checkpoint_state(directory, is_surely_there)


def _checkpoint_at(given: str, prefix: str, resolved: str, kept: tuple[Kept, ...]) -> Location:
    if is_file(prefix + INDEX):
        return _at_prefix(given, prefix, resolved, kept)
    try:
        location = _by_contents(prefix) if is_file(prefix) else _of_nothing(prefix)
    except CheckpointNotFoundError as error:  # it was there when the directory was listed
        raise GoneError(str(error)) from error
    return replace(location, given=given, resolved=resolved, kept=kept)


def _of_nothing(path: str) -> Location:
    """Return the checkpoint of a path without a file: V1 shards, or a prefix without its number."""
    from ckpt_viz.files.saved.nearby import near

    directory, name = split(path)
    if directory and not is_directory(directory):
        raise CheckpointNotFoundError(
            f"{path}: no such checkpoint, and no directory {directory}{_did_you_mean(near(path))}"
        )
    expected = path if path.endswith(INDEX) else path + INDEX
    try:
        shards = in_shards(path, directory, _names(directory))
        prefixes = prefixes_in(directory).all if shards is None else []
    except CkptVizError as error:  # it may be too large, or allow no listing
        raise CheckpointNotFoundError(
            f"{path}: no such checkpoint; expected a file {path}{INDEX}; the directory cannot be "
            f"listed: {error}"
        ) from error
    if shards is not None:
        return shards
    numbered = [
        prefix
        for prefix in prefixes
        if (parts := number_in(prefix)) is not None and parts[0] in (name, name.rstrip("-"))
    ]
    latest = _latest_of_one_series(numbered)
    if latest is not None:
        prefix = join(directory, latest)
        how_many = f" of {len(numbered)}" if len(numbered) > 1 else ""
        return _checkpoint_at(path, prefix, f"{prefix} has the highest number{how_many}", ())
    raise CheckpointNotFoundError(
        f"{path}: no such checkpoint; expected a file {expected}{_did_you_mean(near(path))}"
    )


def _latest_of_one_series(names: Sequence[str]) -> str | None:
    """Return the name with the highest number, if all are the same name with a number each."""
    series = [number_in(name) for name in names]
    if not series or not all(series) or len({number[0] for number in series if number}) > 1:
        return None
    return max(names, key=by_number)


def _did_you_mean(paths: Sequence[str]) -> str:
    return f"; did you mean {_listed(paths)}?" if paths else ""


def _names(directory: str) -> list[str]:
    return list_directory(directory or ".") if is_directory(directory or ".") else []


def _listed(prefixes: Sequence[str]) -> str:
    shown = " or ".join(prefixes[:_MOST_LISTED])
    more = len(prefixes) - _MOST_LISTED
    return shown if more <= 0 else f"{shown} ({more} more)"


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
