"""Builds the model of a file in a process of its own, which has given up every right to do harm."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from threading import Lock, Timer
from typing import Any

from ckpt_viz.answers.load_check.faults import END, BuildAnswer, answer_from
from ckpt_viz.errors import UnsupportedError

_PROGRAM = """
import sys
_, library, *sys.path = sys.argv
from ckpt_viz.answers.load_check.child import main
main(library)
"""
_MOST_SECONDS = 180  # for the start of a process and a build
_builders: dict[tuple[int, str], _Builder] = {}  # of this process, and of those it was forked from
_lock = Lock()


class _Builder:
    """A process that has imported one Keras. It ends with the program, or when idle for minutes."""

    def __init__(self, library: str) -> None:
        quiet = {
            **{"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"},
            **{"KERAS_BACKEND": "tensorflow", "TF_USE_LEGACY_KERAS": ""},
        }
        self._process = subprocess.Popen(
            # As Python looks for modules here, but in no directory that a name alone means.
            [sys.executable, "-c", _PROGRAM, library, *filter(os.path.isabs, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **quiet},
            start_new_session=os.name == "posix",  # Ctrl+C is meant for the program
        )

    def ask(self, line: bytes) -> BuildAnswer | None:
        """Return the answer to a line; None if the process ends before."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        timer = Timer(_MOST_SECONDS, self._process.kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                stdin.write(line)
                stdin.flush()
            made = None
            for line in stdout:
                if line.strip() == END.encode():
                    return made and answer_from(made)
                with suppress(ValueError):  # of a line that is empty, or cut
                    made = json.loads(line)
            return None
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()


def built(library: str, request: dict[str, Any]) -> BuildAnswer:
    """Return what becomes of a build of the model that a request describes.

    Raises UnsupportedError if the process ends without an answer, such as at the import.
    """
    try:
        line = json.dumps(request).encode() + b"\n"
    except RecursionError:
        return BuildAnswer(stopped="since the configuration is nested too deep")
    key = os.getpid(), library
    with _lock:
        for is_new in (key not in _builders, True):
            if is_new:
                _builders[key] = _Builder(library)
            answer = None
            try:
                answer = _builders[key].ask(line)
            finally:  # after an interrupt, an answer to come would be that of another question
                if not answer:
                    _builders.pop(key).end()
            if answer:
                return answer
    raise UnsupportedError(
        f"cannot build models in a process of their own: it ended without an answer; check that "
        f"`{sys.executable} -c 'import {library}'` works"
    )


def is_ready(library: str) -> bool:
    """Return whether a process has imported the library already, so that an answer comes soon."""
    return (os.getpid(), library) in _builders


@atexit.register
def _end_all() -> None:
    for (process, _), builder in _builders.items():
        if process == os.getpid():
            builder.end()
