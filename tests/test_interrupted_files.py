"""Ctrl+C at any step of making files: all of them are there, or none."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ckpt_viz.formats.bundles.bundle_writer import strings_tensor, write_bundle
from ckpt_viz.formats.storage import new_files
from ckpt_viz.ground.interrupts import OwnDirectory

pytestmark = pytest.mark.slow

_FILES = {new_files.__file__, tempfile.__file__}


def _interrupted(use: Callable[[], object], step: int) -> bool | None:
    """Use a function, with a real Ctrl+C before one of its instructions.

    Return whether that has interrupted it, None if it takes fewer steps.
    """
    left = step

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in _FILES:
            return None
        frame.f_trace_opcodes = True
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        use()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return None if left > 0 else False


def _steps(use: Callable[[], object]) -> Iterator[bool]:
    """Interrupt a function at each of its steps."""
    step = 1
    while (is_interrupted := _interrupted(use, step)) is not None:
        yield is_interrupted
        step += 1
    assert step > 100


@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
def test_a_checkpoint_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    prefix = str(tmp_path / "ckpt")

    def write() -> None:
        write_bundle(prefix, {"x": strings_tensor([b"a"], ())})

    endings = set()
    for is_interrupted in _steps(write):
        left = sorted(os.listdir(tmp_path))
        endings.add((is_interrupted, tuple(left)))
        for name in left:
            (tmp_path / name).unlink()
    whole = ("ckpt.data-00000-of-00001", "ckpt.index")
    assert endings <= {(True, ()), (True, whole), (False, whole)}
    assert (True, ()) in endings


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")
def test_a_temporary_directory_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def use() -> None:
        with OwnDirectory() as directory:
            assert os.path.isdir(directory)

    for _ in _steps(use):
        gc.collect()  # what waits for a signal may be held in a circle
        assert os.listdir(tmp_path) == []
