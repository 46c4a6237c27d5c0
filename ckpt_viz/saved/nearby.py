"""Checkpoints near a path that leads to none: in directories below it, or under similar names."""

from __future__ import annotations

import difflib
import os
from collections import deque
from collections.abc import Iterator

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.files import (
    is_directory,
    is_file,
    is_remote,
    join,
    list_directory,
    list_files,
    split,
)
from ckpt_viz.formats.saved_model import SAVED_MODEL
from ckpt_viz.saved.location import INDEX

_MOST_DIRECTORIES = 200
_MOST_NAMES = 10_000
_DEEPEST = 3
_MOST_FOUND = 3
_SIMILAR = 0.6


def checkpoints_below(directory: str) -> list[str]:
    """Return prefixes of checkpoints, and SavedModels, in directories below one, nearest first.

    It looks into a few hundred directories at most, and into none of a remote file system.
    """
    found: list[str] = []
    queue = deque([(directory, 0)])
    left = _MOST_DIRECTORIES
    while queue and left and len(found) < _MOST_FOUND and not is_remote(directory):
        here, depth = queue.popleft()
        left -= 1
        names = _names(here)
        if depth and is_file(join(here, SAVED_MODEL)):
            found.append(here)
            continue
        indexes = [name for name in names if name.endswith(INDEX) and name != INDEX]
        if depth and indexes:
            latest = max(indexes, key=lambda name: (len(name), name))
            found.append(join(here, latest.removesuffix(INDEX)))
        elif depth < _DEEPEST:
            queue.extend((place, depth + 1) for place in _directories_in(here, names))
    return found


def _directories_in(directory: str, names: list[str]) -> Iterator[str]:
    """Yield the directories among these names, without hidden ones and links."""
    files = set(list_files(directory))  # a listing knows them without a look at each
    for name in names:
        place = join(directory, name)
        is_other = name not in files and not name.startswith(".")
        if is_other and is_directory(place) and not os.path.islink(place):
            yield place


def similar_directory(path: str) -> str | None:
    """Return an existing directory whose path is spelled like one that is missing; None if none.

    Each missing part is replaced by the most similar name beside it.
    """
    missing: list[str] = []
    while path and not is_directory(path):
        path, name = split(path)
        missing.append(name)
        if len(missing) > _DEEPEST or is_remote(path):
            return None
    for name in reversed(missing):
        place = join(path, name)
        if not is_directory(place):
            others = [one for one in _names(path or ".") if is_directory(join(path, one))]
            close = difflib.get_close_matches(name, others, n=1, cutoff=_SIMILAR)
            if not close:
                return None
            place = join(path, close[0])
        path = place
    return path


def _names(directory: str) -> list[str]:
    try:
        return sorted(list_directory(directory))[:_MOST_NAMES]
    except (CkptVizError, OSError):
        return []
