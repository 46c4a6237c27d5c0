"""Files that disappear or change at any moment of a read: a result, or one of our errors."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.server.histories import send_history
from ckpt_viz.entrances.server.messages import Asked, Limits
from tests.support.name_based import write

# What the operating system is asked; the profiler reports each such call of Python's own modules.
_CALLS = ("open", "stat", "lstat", "fstat", "scandir", "read", "readinto", "seek")
_SIZE = 40

Harm = Callable[[Path], object]


class _Wire:
    """Keeps what a job sends."""

    stopped: str | None = None

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def send(self, part: bytes) -> None:
        self.lines += [json.loads(line) for line in part.splitlines()]


def _training(directory: Path) -> None:
    directory.mkdir()
    for number in (1, 2, 3):
        kernel = np.arange(_SIZE, dtype=np.float32) * number
        write(directory / f"ckpt-{number}", kernel=kernel, global_step=np.array(number))
    names = "".join(f'all_model_checkpoint_paths: "ckpt-{n}"\n' for n in (1, 2, 3))
    (directory / "checkpoint").write_text(f'model_checkpoint_path: "ckpt-3"\n{names}')


@contextmanager
def _at_call(number: int, harm: Callable[[], object]) -> Iterator[list[int]]:
    """Do something before the n-th call to the operating system; yield the count of calls."""
    made = [0]

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "c_call" and argument.__name__ in _CALLS:
            made[0] += 1
            if made[0] == number:
                sys.setprofile(None)
                harm()
                sys.setprofile(watch)

    sys.setprofile(watch)
    try:
        yield made
    finally:
        sys.setprofile(None)


def _removed(directory: Path) -> None:
    for path in directory.glob("ckpt-3.*"):
        path.unlink()


def _shard_removed(directory: Path) -> None:
    (directory / "ckpt-3.data-00000-of-00001").unlink()


def _cut(directory: Path) -> None:
    for path in directory.glob("ckpt-3.*"):
        path.write_bytes(path.read_bytes()[:60])


def _replaced(directory: Path) -> None:
    for path in directory.glob("ckpt-3.*"):
        shutil.copyfile(str(path).replace("ckpt-3", "ckpt-1"), path)


def _became_directories(directory: Path) -> None:
    for path in directory.glob("ckpt-3.*"):
        path.unlink()
        path.mkdir()


_HARMS: tuple[Harm, ...] = (
    *(_removed, _shard_removed, _cut, _replaced, _became_directories),
    shutil.rmtree,
)


def _sent(directory: Path) -> list[dict[str, Any]]:
    wire = _Wire()
    asked = Asked(str(directory.parent), False, directory.name, None, "history")
    limits = Limits(most_read=1 << 30, most_answer=1 << 30, most_memory=1 << 40)
    send_history(asked, "1", limits, wire, packs=False)
    return wire.lines


_READS: dict[str, Callable[[Path], Any]] = {
    "graph": lambda directory: cv.graph(directory),
    "graph of the prefix": lambda directory: cv.graph(directory / "ckpt-3"),
    "values": lambda directory: cv.graph(directory).values(progress=False),
    "verify": lambda directory: cv.graph(directory).verify(progress=False),
    "check": lambda directory: str(cv.check(directory, directory / "ckpt-3", verify=True)),
    "diff": lambda directory: str(
        cv.diff(directory / "ckpt-2", directory, values=True, progress=False)
    ),
    "history": lambda directory: str(cv.history(directory, progress=False)),
    "server": _sent,
}


# Of these, which ask the operating system hundreds of times, every few moments.
_STEPS = {_READS["server"]: 9, _READS["check"]: 5, _READS["diff"]: 3, _READS["history"]: 2}


def _each_moment(tmp_path: Path, read: Callable[[Path], Any], harm: Harm) -> Iterator[Any]:
    """Yield the result, or our error, of reads during each of which the files are harmed once."""
    calls = 1
    for number in count(1, step=_STEPS.get(read, 1)):
        if number > calls:
            break
        directory = tmp_path / f"run{number}"
        _training(directory)
        with _at_call(number, lambda: harm(directory)) as made:  # noqa: B023
            try:
                found = read(directory)
            except cv.CkptVizError as error:
                found = error
                assert directory.name in str(error)
        calls = max(calls, made[0])
        yield found
        shutil.rmtree(directory, ignore_errors=True)
    assert calls > 5


_CASES = [
    pytest.param(name, harm, id=f"{name}, {harm.__name__.strip('_')}")
    for name in _READS
    for harm in (_HARMS[1:] if name in ("graph", "history") else (_removed,))
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "harm"), _CASES)
def test_files_may_change_at_any_moment(name: str, harm: Harm, tmp_path: Path) -> None:
    for found in _each_moment(tmp_path, _READS[name], harm):
        if name == "server" and not isinstance(found, cv.CkptVizError):
            assert found[-1]["part"] in ("end", "refused")


def test_a_directory_whose_latest_is_removed_meanwhile_opens_the_next(tmp_path: Path) -> None:
    opened = set()
    for found in _each_moment(tmp_path, _READS["graph"], _removed):
        assert isinstance(found, cv.ObjectGraph), found
        assert all(a.error is None for node in found.nodes for a in node.attributes)
        opened.add(Path(found.title).name)
    assert opened == {"ckpt-2", "ckpt-3"}


@pytest.mark.slow
def test_a_checkpoint_that_is_removed_meanwhile_is_a_marked_cell(tmp_path: Path) -> None:
    for found in _each_moment(tmp_path, lambda at: cv.history(at, progress=False), _removed):
        assert isinstance(found, cv.History), found
        states = [cell.state.value for cell in found["kernel"].cells]
        assert states[:2] == ["first", "changed"]
        assert states[2:] in ([], ["changed"], ["damaged"])
