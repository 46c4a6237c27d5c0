"""The checkpoint that a directory means."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, GoneError, OutsideError
from ckpt_viz.files.saved.listing import Prefixes, are_numbered_alike, by_number, prefixes_in
from ckpt_viz.files.saved.location import INDEX, Location
from ckpt_viz.files.saved.one_checkpoint import (
    MOST_LISTED,
    at_prefix,
    by_contents,
    did_you_mean,
    is_checkpoint,
    latest_of_one_series,
    of_saved_model,
    some_of,
    surely_at,
)
from ckpt_viz.files.saved.orbax_reader import old_orbax_at, orbax_at, steps_in
from ckpt_viz.files.saved.tfjs_reader import tfjs_in
from ckpt_viz.files.saved.v1_reader import prefix_of_shard
from ckpt_viz.formats.bundles.checkpoint_state import (
    STATE_FILE,
    Listed,
    ListedCheckpoints,
    read_checkpoint_state,
)
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, SAVED_MODEL_TEXT
from ckpt_viz.formats.storage.files import (
    is_directory,
    is_file,
    is_remote,
    join,
    list_files,
    may_be_read,
    split,
)
from ckpt_viz.graphs.object_graph.provenance import Kept
from ckpt_viz.ground.text import count
from ckpt_viz.ground.text import listed as in_words

_MOST_UNNAMED = 200  # beside those that the `checkpoint` file names


def in_directory(path: str) -> Location:
    """Return the location of the checkpoint in a directory; raises as `locate` does."""
    if is_file(join(path, SAVED_MODEL)) or is_file(join(path, SAVED_MODEL_TEXT)):
        return of_saved_model(path)
    if is_file(join(path, INDEX)):
        prefix = join(path, "")
        return at_prefix(path, prefix, f"{path} holds a checkpoint with an empty name")
    orbax = orbax_at(path)
    if orbax is not None:
        return orbax
    state = state_in(path)
    if state is not None:
        return named_by_state(path, path, state)
    prefixes = prefixes_in(path)
    names = prefixes.all
    for among in (names, prefixes.indexed):
        latest = among[0] if len(among) == 1 else latest_of_one_series(among)
        if latest is not None:
            return _chosen(path, latest, among, prefixes)
    if not names:
        return _of_other_libraries(path, prefixes)
    raise CheckpointNotFoundError(
        f"{path}: a directory of {len(names)} checkpoints; expected the prefix of one: "
        f"{some_of([join(path, name) for name in names])}"
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
    return surely_at(directory, prefix, resolved, _unnamed(directory, names))


def _of_keras(directory: str, names: Sequence[str]) -> Location:
    """Return the location of Keras' last file in a directory without other checkpoints."""
    paths = [join(directory, name) for name in names]
    if not are_numbered_alike(names):
        raise CheckpointNotFoundError(
            f"{directory}: a directory of {len(names)} files of Keras; expected the path of one: "
            f"{some_of(paths[::-1])}"
        )
    which = (
        f"has the highest number of the {len(names)} files of Keras"
        if len(names) > 1
        else "is the only file of Keras"
    )
    location = by_contents(paths[-1])
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
    expected = f"; expected a prefix such as {join(directory, 'ckpt-1')}{did_you_mean(below)}"
    return instead or expected


def _keras_beside(prefixes: Prefixes) -> str:
    """Return a clause about files of Keras beside the checkpoints of a directory."""
    names = prefixes.of_keras
    are = "is" if len(names) == 1 else "are"
    last = in_words(names[::-1])
    return f"; {last} {are} there too, as files of Keras" if names else ""


def named_by_state(given: str, directory: str, state: ListedCheckpoints) -> Location:
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
    prefixes = prefixes_beside(directory)
    others = not_named(directory, prefixes, [kept.prefix for kept in listed])
    unnamed = _unnamed(directory, others)
    beside = _beside([kept.prefix for kept in unnamed], len(others[:-_MOST_UNNAMED]), file)
    kept = (*unnamed, *named)
    if is_checkpoint(state.latest):
        which = f"the latest of {len(named)} checkpoints" if len(named) > 1 else "the checkpoint"
        resolved = f"{state.latest} is {which} that {file} names{beside}{_keras_beside(prefixes)}"
        return surely_at(given, state.latest, resolved, kept)
    present = [kept.prefix for kept in named if kept.exists]
    if present:
        resolved = (
            f"{state.latest}, the latest checkpoint of {directory}, is gone; {present[-1]} is the "
            f"last one in {file} that still exists{beside}"
        )
        return surely_at(given, present[-1], resolved, kept)
    if state_in(directory) != state:  # a training has removed its old checkpoints meanwhile
        raise GoneError(f"{file}: this file has changed; read again")
    from ckpt_viz.files.saved.nearby import within

    exist = "and it does not exist" if len(named) == 1 else "and none of them exists"
    raise CheckpointNotFoundError(
        f"{file}: names {count(len(named), 'checkpoint')}, {exist}; "
        f"expected a file {state.latest}{INDEX}{did_you_mean(within(directory))}"
    )


def prefixes_beside(directory: str) -> Prefixes:
    """Return what is beside a `checkpoint` file: none if the directory cannot be listed.

    What the file names can still be opened.
    """
    with suppress(CkptVizError, OSError):
        return prefixes_in(directory)
    return Prefixes([], [], [])


def not_named(directory: str, prefixes: Prefixes, named: Iterable[str]) -> list[str]:
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
    listed = prefixes[-MOST_LISTED:]
    unlisted = len(prefixes) - len(listed) + others
    are, them = ("is", "it") if len(prefixes) == 1 else ("are", "them")
    more = f" and {unlisted} more" if unlisted else ""
    return f"; {', '.join(listed)}{more} {are} there too, but {file} does not name {them}"


def _unnamed(directory: str, names: Sequence[str]) -> tuple[Kept, ...]:
    """Return the checkpoints in a directory; if there are very many, the last ones."""
    prefixes = (join(directory, name) for name in names[-_MOST_UNNAMED:])
    return tuple(Kept(path, None, True, is_named=False) for path in prefixes if is_checkpoint(path))


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
            return may_hold(place) and is_checkpoint(prefix)
        return name + INDEX in names or name in names

    return is_there


def _may_be_directory(path: str) -> bool:
    with suppress(CkptVizError):
        return may_be_read(path) and is_directory(path or os.curdir)
    return True


def state_in(directory: str) -> ListedCheckpoints | None:
    """Return what a directory's `checkpoint` file names; a place that is unknown has nothing."""
    is_there = _presence(directory)

    def is_surely_there(prefix: str) -> bool:
        with suppress(CkptVizError, OSError):
            return is_there(prefix)
        return False

    return read_checkpoint_state(directory, is_surely_there)
