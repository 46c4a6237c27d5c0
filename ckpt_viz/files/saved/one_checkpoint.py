"""The one checkpoint at a prefix, or the error that says which may be meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, GoneError, UnsupportedError
from ckpt_viz.files.saved.listing import by_number, number_in, prefixes_in
from ckpt_viz.files.saved.location import INDEX, META, Location
from ckpt_viz.files.saved.readers import READERS
from ckpt_viz.files.saved.v1_reader import in_shards
from ckpt_viz.files.saved.v2_reader import V2
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, VARIABLES
from ckpt_viz.formats.storage.files import (
    is_directory,
    is_file,
    join,
    list_directory,
    open_file,
    split,
)
from ckpt_viz.graphs.object_graph.provenance import Kept

MOST_LISTED = 3  # in a sentence


def at_prefix(given: str, prefix: str, resolved: str = "", kept: tuple[Kept, ...] = ()) -> Location:
    """Return the location of a bundle whose index exists, with the files beside it."""
    meta = prefix + META if is_file(prefix + META) else None
    directory, name = split(prefix)
    saved_model = None
    if name == VARIABLES[1] and split(directory)[1] == VARIABLES[0]:
        parent = split(directory)[0] or "."
        if is_file(join(parent, SAVED_MODEL)):
            saved_model = parent
    return Location(given, prefix, V2, saved_model, meta, resolved, kept)


def by_contents(path: str) -> Location:
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


def of_saved_model(directory: str) -> Location:
    """Return the checkpoint of a SavedModel's directory."""
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


def is_checkpoint(prefix: str) -> bool:
    """Return whether a checkpoint of any format is at a prefix."""
    return any(reader.is_at(prefix) for reader in READERS)


def surely_at(given: str, prefix: str, resolved: str, kept: tuple[Kept, ...]) -> Location:
    """Return the checkpoint at a prefix that a listing has just named."""
    if is_file(prefix + INDEX):
        return at_prefix(given, prefix, resolved, kept)
    try:
        location = by_contents(prefix) if is_file(prefix) else of_nothing(prefix)
    except CheckpointNotFoundError as error:  # it was there when the directory was listed
        raise GoneError(str(error)) from error
    return replace(location, given=given, resolved=resolved, kept=kept)


def of_nothing(path: str) -> Location:
    """Return the checkpoint of a path without a file: V1 shards, or a prefix without its number."""
    from ckpt_viz.files.saved.nearby import near

    directory, name = split(path)
    if directory and not is_directory(directory):
        raise CheckpointNotFoundError(
            f"{path}: no such checkpoint, and no directory {directory}{did_you_mean(near(path))}"
        )
    expected = path if path.endswith(INDEX) else path + INDEX
    try:
        shards = in_shards(path, directory, names_in(directory))
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
    latest = latest_of_one_series(numbered)
    if latest is not None:
        prefix = join(directory, latest)
        how_many = f" of {len(numbered)}" if len(numbered) > 1 else ""
        return surely_at(path, prefix, f"{prefix} has the highest number{how_many}", ())
    raise CheckpointNotFoundError(
        f"{path}: no such checkpoint; expected a file {expected}{did_you_mean(near(path))}"
    )


def latest_of_one_series(names: Sequence[str]) -> str | None:
    """Return the name with the highest number, if all are the same name with a number each."""
    series = [number_in(name) for name in names]
    if not series or not all(series) or len({number[0] for number in series if number}) > 1:
        return None
    return max(names, key=by_number)


def did_you_mean(paths: Sequence[str]) -> str:
    """Return a question whether one of some paths was meant, "" without any."""
    return f"; did you mean {some_of(paths)}?" if paths else ""


def names_in(directory: str) -> list[str]:
    """Return the names in a directory; none if there is no such directory."""
    return list_directory(directory or ".") if is_directory(directory or ".") else []


def some_of(prefixes: Sequence[str]) -> str:
    """Return the first prefixes in words, and how many more there are."""
    shown = " or ".join(prefixes[:MOST_LISTED])
    more = len(prefixes) - MOST_LISTED
    return shown if more <= 0 else f"{shown} ({more} more)"
