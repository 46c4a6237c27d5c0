"""Reads the file `checkpoint`, which lists a directory's checkpoints.

A CheckpointState as text, from tensorflow/python/training/checkpoint_state.proto.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.arrays.protos import CheckpointState, parse_text
from ckpt_viz.formats.storage.files import is_file, is_remote, join, open_file

STATE_FILE = "checkpoint"
_MAX_BYTES = 1 << 21  # 2 MiB; a checkpoint takes some 100 bytes
_MAX_PATH = 4096  # characters; wherever TensorFlow runs, a path has fewer
_BEYOND_A_NAME = re.compile(r"[/\\:]")  # of a path, of Windows too, or a scheme


@dataclass(frozen=True, slots=True)
class Listed:
    """One checkpoint of the list: its prefix, and when it was saved, in UTC."""

    prefix: str
    saved_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListedCheckpoints:
    """The content of the file: the prefix of the latest checkpoint, and all, oldest first."""

    latest: str
    listed: tuple[Listed, ...]


def read_checkpoint_state(
    directory: str, is_there: Callable[[str], bool]
) -> ListedCheckpoints | None:
    """Return the content of the directory's `checkpoint` file, None if there is no such file.

    Relative paths in it are relative to the directory. If a path leads to no checkpoint, as
    `is_there` says, the function looks for its name in the directory, because the checkpoint is
    there after a move or a copy. The path may be one of Windows. A path with a scheme in a local
    file must not cause a request to a server, so the function looks only in the directory. Raises
    FormatError for a file of another kind.
    """
    path = join(directory, STATE_FILE)
    if not is_file(path):
        return None
    with open_file(path) as file:
        if file.size > _MAX_BYTES:
            raise UnsupportedError(
                f"{path}: has {file.size} bytes, expected at most {_MAX_BYTES} in a list of "
                "checkpoints"
            )
        text = file.read(0, file.size)
    proto = parse_text(CheckpointState, text, path)
    if not proto.model_checkpoint_path:
        raise FormatError(f"{path}: names no model_checkpoint_path, expected the latest checkpoint")
    for name in (proto.model_checkpoint_path, *proto.all_model_checkpoint_paths):
        if len(name) > _MAX_PATH:
            raise FormatError(
                f"{path}: names a path of {len(name)} characters, expected at most {_MAX_PATH}"
            )
    times = list(proto.all_model_checkpoint_timestamps)
    names = list(proto.all_model_checkpoint_paths) or [proto.model_checkpoint_path]
    times += [None] * (len(names) - len(times))
    return ListedCheckpoints(
        latest=_resolved(directory, proto.model_checkpoint_path, is_there),
        listed=tuple(
            Listed(_resolved(directory, name, is_there), _time(seconds))
            for name, seconds in zip(names, times, strict=False)
        ),
    )


def _resolved(directory: str, name: str, is_there: Callable[[str], bool]) -> str:
    if not _BEYOND_A_NAME.search(name):  # most are like this, and a file may name 60,000
        return join(directory, name)
    places = list(dict.fromkeys(_places(directory, name)))
    if len(places) == 1:
        return places[0]
    is_of_windows = os.sep == "/" and re.match(r"[A-Za-z]:|.*\\", name, re.DOTALL)
    gone = places[-1] if is_of_windows else places[0]
    return next((place for place in places if is_there(place)), gone)


def _places(directory: str, name: str) -> list[str]:
    """Return the paths that a name in the file may mean; TensorFlow knows only the first."""
    moved = [join(directory, posixpath.basename(name)), join(directory, ntpath.basename(name))]
    if is_remote(name):
        return [name, *moved] if is_remote(directory) else moved
    if os.path.isabs(name):
        return [name, *moved]
    return [join(directory, name), join(directory, name.replace("\\", "/")), *moved]


def _time(seconds: float | None) -> datetime | None:
    try:
        return None if not seconds else datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, OSError, ValueError):  # not a possible date
        return None
