"""The checkpoints among the files that a person dropped on the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.file_types import file_type_of
from ckpt_viz.files.saved.listing import prefixes_in
from ckpt_viz.files.saved.locate import checkpoints_at, locate
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.files.saved.orbax_reader import orbax_at
from ckpt_viz.files.saved.tfjs_reader import tfjs_in
from ckpt_viz.files.saved.v2_reader import V2
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, SAVED_MODEL_TEXT, VARIABLES
from ckpt_viz.formats.storage.files import file_stamp, is_file, join, split

_MOST_DIRECTORIES = 1_000  # that are looked into
_MOST_LISTED = 200  # checkpoints of a directory
_MOST_SHARDS = 10_000
_SHARD = "00000"
_HERE = "./"


@dataclass(frozen=True, slots=True)
class Series:
    """The checkpoints of a directory, in the order in which they were saved as far as known."""

    directory: str
    paths: tuple[str, ...]

    @property
    def changed_at(self) -> int:
        """When the last one was written, as a number that grows."""
        last = self.paths[-1]
        stamps = (file_stamp(path) for path in (last + INDEX, last) if is_file(path))
        return max((stamp[1] for stamp in stamps if stamp is not None), default=0)


def series_in(files: Sequence[str]) -> list[Series]:
    """Return the checkpoints among files, the series that was written last in front.

    Their content decides, not their names. A file alone is a checkpoint in any case: opening it
    tells what else it is.
    """
    series = list(_series(_directories(files)))
    if not series and files:
        likely = next((path for path in files if file_type_of(path) is not None), files[0])
        return [Series(split(likely)[0], (likely,))] if _may_lead(likely, files) else []
    return sorted(series, key=lambda each: each.changed_at, reverse=True)


def missing_files(path: str) -> list[str]:
    """Return the files with values that a checkpoint needs, and that were not dropped with it.

    If all of them are missing, their number is unknown: then it is their common beginning.
    """
    with suppress(CkptVizError):
        location = locate(path)
        values = location.reader.files_of(location).values
        if location.reader is not V2:
            return [name for name in values if not is_file(name)]
        if not values:
            return [f"{location.prefix}.data-…"]
        beginning, _, count = values[0].rpartition("-of-")
        numbers = range(int(count)) if count.isdigit() and int(count) <= _MOST_SHARDS else ()
        stem = beginning[: -len(_SHARD)]
        names = [f"{stem}{number:05d}-of-{count}" for number in numbers]
        return [name for name in names if name not in values]
    return []


def _may_lead(path: str, files: Sequence[str]) -> bool:
    return len(files) == 1 or file_type_of(path) is not None


def _directories(files: Iterable[str]) -> list[str]:
    """Return all directories above files, the outer ones first."""
    above: set[str] = set()
    for file in files:
        parts = split(file.removeprefix(_HERE))[0].split("/")
        above.update(accumulate(parts, "{}/{}".format))
    return sorted(above, key=lambda path: (path.count("/"), path))[:_MOST_DIRECTORIES]


def _series(directories: Iterable[str]) -> Iterator[Series]:
    """Yield the series of each directory; one that is itself a checkpoint hides those below it."""
    whole: list[str] = []
    for directory in directories:
        if any(f"{directory}/".startswith(f"{outer or VARIABLES[0]}/") for outer in whole):
            continue
        if _is_checkpoint(directory):
            whole.append(directory)
            yield Series(split(directory)[0], (directory or ".",))
            continue
        paths = _paths_in(directory)
        if paths:
            yield Series(directory, tuple(paths[-_MOST_LISTED:]))
            continue
        tfjs = tfjs_in(directory or ".")
        if tfjs is not None:
            yield Series(directory, (tfjs.prefix.removeprefix(_HERE),))


def _is_checkpoint(directory: str) -> bool:
    if any(is_file(join(directory, name)) for name in (SAVED_MODEL, SAVED_MODEL_TEXT)):
        return True
    with suppress(CkptVizError):
        return orbax_at(directory) is not None
    return False


def _paths_in(directory: str) -> list[str]:
    """Return the checkpoints in a directory; "" is the current one."""
    of_keras: list[str] = []
    with suppress(CkptVizError):
        of_keras = [join(directory, name) for name in prefixes_in(directory).of_keras]
    with suppress(CkptVizError):
        kept = [
            each.prefix.removeprefix(_HERE)
            for each in checkpoints_at(directory or ".")
            if each.exists
        ]
        return [*(path for path in of_keras if path not in kept), *kept]
    return of_keras
