"""What a person may mean by a path that leads to no checkpoint: what is beside or below it.

A search here only completes the error about that path. Whatever it meets, it never raises in place
of that error: other users' directories, links that lead out or in circles, files that disappear.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.listing import by_number, prefixes_in
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL
from ckpt_viz.formats.storage import confinement
from ckpt_viz.formats.storage.files import (
    is_directory,
    is_remote,
    join,
    list_directories,
    list_directory,
    list_files,
    open_file,
    split,
)

# How the names of files end that hold a model, or an archive of one.
_OF_MODELS = re.compile(
    r".*\.(tar(\.\w+)?|t[bgx]z2?|tzst|zip"
    r"|tflite|onnx|safetensors|msgpack|gguf|pb|pt|pth|bin|pkl|pickle|npz)",
    re.IGNORECASE | re.DOTALL,
)
_ERRORS = (CkptVizError, OSError)
_MOST_DIRECTORIES = 200
_MOST_SECONDS = 1.0  # then a search looks into no further directory
_MOST_NAMES = 5_000  # that one search compares: some 0.2 s
_MOST_CLOSE = 20
_DEEPEST = 3
_MOST_FOUND = 3
_SIMILAR = 0.6


def near(path: str) -> list[str]:
    """Return the checkpoints of a similar name, or all, the latest first.

    They are in the path's directory, or else in one that is spelled like it.
    """
    return _without_errors(lambda: _near(path))


def within(directory: str) -> list[str]:
    """Return the checkpoints in a directory, the latest first."""
    return _without_errors(lambda: [join(directory, name) for name in _latest_first(directory)])


def checkpoints_below(directory: str) -> list[str]:
    """Return prefixes of checkpoints, and SavedModels, in directories below one, nearest first.

    It looks into a few hundred directories at most, and into none of a remote file system.
    """
    return _without_errors(lambda: _checkpoints_below(directory))


def instead_of_checkpoints(directory: str) -> str:
    """Return a clause about a file that holds a model, in a directory or below it; "" for none."""
    return "".join(_without_errors(lambda: _instead(directory)))


def _without_errors(search: Callable[[], Iterable[str]]) -> list[str]:
    """Return what a search yields before it fails; record nothing that it may not read."""
    results: list[str] = []
    # Not only the errors of files: any error here would hide the one that a person asked for.
    with confinement.unremembered(), suppress(Exception):
        results.extend(search())  # keeps what came before an error
    return results


def _near(path: str) -> Iterator[str]:
    directory, name = split(path)
    is_there = not directory or is_directory(directory)
    place = directory if is_there else _similar_directory(directory)
    if place is None:
        return
    names = _latest_first(place)
    close = [name] if name in names else _close(name, names, _MOST_FOUND)
    if is_there and close:  # the person knows the directory, perhaps not what is in it
        close = list(dict.fromkeys([*close, *names[:_MOST_FOUND]]))[:_MOST_FOUND]
    yield from (join(place, name) for name in close or names)


def _latest_first(directory: str) -> list[str]:
    prefixes = prefixes_in(directory)
    return [*sorted(prefixes.all, key=by_number, reverse=True), *reversed(prefixes.of_keras)]


def _close(name: str, names: Sequence[str], most: int) -> list[str]:
    return difflib.get_close_matches(name, names[:_MOST_NAMES], most, _SIMILAR)


def _checkpoints_below(directory: str) -> Iterator[str]:
    below = ((here, names) for here, names in _below(directory) if here != directory)
    checkpoints = (_checkpoint_in(here, names) for here, names in below)
    yield from islice(filter(None, checkpoints), _MOST_FOUND)


def _checkpoint_in(directory: str, names: Sequence[str]) -> str:
    """Return the SavedModel or the latest checkpoint in a directory, "" without one."""
    if SAVED_MODEL in names:
        return directory
    prefixes = within(directory)
    return prefixes[0] if prefixes else ""


def _instead(directory: str) -> Iterator[str]:
    from ckpt_viz.formats.kinds.file_kinds import kind_of  # a checkpoint needs none of it

    for here, names in _below(directory):
        likely = filter(_OF_MODELS.fullmatch, sorted(names, reverse=True))
        for path in (join(here, name) for name in islice(likely, _MOST_FOUND)):
            with suppress(*_ERRORS), open_file(path) as file:  # the next one may be readable
                kind = kind_of(file)
                if kind is not None:
                    yield f"; {path} is {kind.refusal}"
                    return


def _below(directory: str) -> Iterator[tuple[str, list[str]]]:
    """Yield directories with the names of their files, nearest first, and the given one first.

    It enters no directory in one with checkpoints, no hidden one and no link.
    """
    deadline = time.monotonic() + _MOST_SECONDS
    queue = deque([(directory, 0)])
    for _ in range(_MOST_DIRECTORIES):
        if not queue or time.monotonic() > deadline:
            return
        here, depth = queue.popleft()
        with suppress(*_ERRORS):  # another user's directory, or one that has disappeared
            names = list_files(here)
            is_of_one = SAVED_MODEL in names or any(name.endswith(INDEX) for name in names)
            if depth < _DEEPEST and not is_of_one and not is_remote(directory):
                queue.extend((join(here, name), depth + 1) for name in list_directories(here))
            yield here, names


def _similar_directory(path: str) -> str | None:
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
        if not _is_directory(place):
            close = _close(name, list_directory(path or os.curdir), _MOST_CLOSE)
            places = filter(_is_directory, (join(path, name) for name in close))
            place = next(places, "")
            if not place:
                return None
        path = place
    return path


def _is_directory(path: str) -> bool:
    with suppress(*_ERRORS):  # a link in a circle, or one that leads out
        return is_directory(path)
    return False
