"""Reads the file `checkpoint`, which lists a directory's checkpoints.

A CheckpointState as text, from tensorflow/python/training/checkpoint_state.proto.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.files import is_file, is_readable_file, is_remote, join, open_file, split
from ckpt_viz.formats.protos import CheckpointState, parse_text

STATE_FILE = "checkpoint"
_MAX_BYTES = 1 << 21  # 2 MiB; a checkpoint takes some 100 bytes
_MAX_PATH = 4096  # characters; wherever TensorFlow runs, a path has fewer


@dataclass(frozen=True, slots=True)
class Listed:
    """One checkpoint of the list: its prefix, and when it was saved, in UTC."""

    prefix: str
    saved_at: datetime | None


@dataclass(frozen=True, slots=True)
class State:
    """The content of the file: the prefix of the latest checkpoint, and all, oldest first."""

    latest: str
    listed: tuple[Listed, ...]


def read_checkpoint_state(directory: str) -> State | None:
    """Return the content of the directory's `checkpoint` file, None if there is no such file.

    Relative paths in it are relative to the directory. If an absolute path leads to no checkpoint,
    the function looks in the directory, because the checkpoint is there after a move or a copy. It
    does the same for a path with a scheme in a local file, which must not cause a request to a
    server. Raises FormatError for a file of another kind.
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
    return State(
        latest=_resolved(directory, proto.model_checkpoint_path),
        listed=tuple(
            Listed(_resolved(directory, name), _time(seconds))
            for name, seconds in zip(names, times, strict=False)
        ),
    )


def _resolved(directory: str, name: str) -> str:
    is_absolute = is_remote(name) or os.path.isabs(name)
    prefix = name if is_absolute else join(directory, name)
    moved = join(directory, split(name)[1])
    if is_remote(name) and not is_remote(directory):
        return moved
    is_lost = (
        prefix != moved and not is_readable_file(f"{prefix}.index") and is_file(f"{moved}.index")
    )
    return moved if is_lost else prefix


def _time(seconds: float | None) -> datetime | None:
    try:
        return None if not seconds else datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, OSError, ValueError):  # not a possible date
        return None
