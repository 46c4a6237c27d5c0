"""The process that builds models: it imports Keras once, and forks a child for each file.

A child gives up for good what building a model does not need: files, sockets, processes, imports,
memory, time. Then it builds. Where there is no fork, the process answers once and ends.
"""

from __future__ import annotations

import builtins
import errno
import json
import linecache
import logging
import os
import re
import select
import signal
import sys
import time
import unittest.mock
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from ckpt_viz.answers.load_check.fault_search import FaultSearch
from ckpt_viz.answers.load_check.faults import END, BuildAnswer, LoadFault
from ckpt_viz.answers.load_check.keras_builder import KerasBuilder, raised_by
from ckpt_viz.answers.load_check.load_code import program_of
from ckpt_viz.answers.load_check.placeholders import Placeholders, every_part

if sys.platform != "win32":
    import resource

CAN_FORK = hasattr(os, "fork")
Json = dict[str, Any]
_SECONDS = 20  # of processor time
_MEMORY = 2 << 30  # bytes beside what the imports take
_MOST_ANSWER = 1 << 24
_IDLE_SECONDS = 300
_REFUSED = re.compile(
    r"(_winapi|ctypes|fcntl|ftplib|glob|http|imaplib|mmap|msvcrt|os|poplib|pty|resource|shutil"
    r"|signal|smtplib|socket|sqlite3|subprocess|syslog|telnetlib|tempfile|urllib|webbrowser|winreg)\."
    r"|builtins\.(breakpoint|input)|code\.__new__|cpython\.run|marshal\.loads|pickle\.find_class"
)


def main(library: str) -> None:
    """Answer each line of JSON by others and `END`, until the input ends or none comes for minutes.

    The last of these lines has the answer: a child may end before it knows more.
    """
    results = os.fdopen(os.dup(1), "w")
    requests = os.fdopen(os.dup(0), "r")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # what Keras prints is no answer
        os.dup2(nowhere, descriptor)
    keras = KerasBuilder(library)
    while not CAN_FORK or select.select([requests], [], [], _IDLE_SECONDS)[0]:
        line = requests.readline()
        if not line:
            return
        _write(BuildAnswer(stopped="before its end"), results)
        process = os.fork() if CAN_FORK else 0
        if process:
            os.waitpid(process, 0)
        else:
            with suppress(MemoryError, RecursionError):
                for answer in _answers(keras, json.loads(line)):
                    _write(answer, results)
            if CAN_FORK:
                os._exit(0)
        print(f"\n{END}", file=results, flush=True)  # a child may have ended within a line
        if not CAN_FORK:
            return


def _write(answer: BuildAnswer, results: TextIO) -> None:
    line = json.dumps(asdict(answer))
    if len(line) < _MOST_ANSWER:
        print(line, file=results, flush=True)


def _shut() -> _Guard:
    """Give up what building a model does not need. Call it after all imports."""
    # Warnings and tracebacks would open source files.
    warnings.simplefilter("ignore")
    logging.disable()
    vars(linecache)["updatecache"] = lambda *_args, **_kwargs: []
    guard = _Guard()
    sys.meta_path.insert(0, guard)
    if sys.platform != "win32":
        signal.alarm(3 * _SECONDS)
        used = time.process_time()
        limits = [
            (resource.RLIMIT_CPU, int(used + _SECONDS) + 1),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, 0),  # nothing opens a file or a socket, no library of C either
        ]
        with suppress(OSError):  # no Linux
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limits.append((resource.RLIMIT_AS, pages * resource.getpagesize() + _MEMORY))
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))
    sys.addaudithook(guard.hook)
    return guard


class _Guard:
    """Refuses what building a model does not need, and notes that something was refused.

    It finds no module: what the library needs was imported, the others are those of the file.
    """

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}
        self.has_refused = False

    def find_spec(self, name: str, *_: Any) -> None:
        """Raise as if the module were not there."""
        self.modules[name] = None
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def hook(self, event: str, _arguments: tuple[Any, ...]) -> None:
        """Refuse files, sockets, processes and code."""
        if event == "open" or _REFUSED.match(event):
            self.has_refused = True
            raise PermissionError(f"the check does not allow {event}")


def _answers(keras: KerasBuilder, request: Json) -> Iterator[BuildAnswer]:
    """Yield the answer as far as it is known: what `load_model` raises, then all faults."""
    keras.warm()
    placeholders = Placeholders(keras.module, request["model"])
    custom, registered = (
        {name: placeholders.of_program(words) for name, words in request[kind].items()}
        for kind in ("custom", "registered")
    )
    keras.register(registered)
    guard = _shut()
    raises = raised_by(lambda: keras.load(request, custom))
    if raises is not None and (guard.has_refused or os.strerror(errno.EMFILE) in raises[1]):
        yield BuildAnswer(stopped="where the model opens a file or runs a program")
        return
    stopped = "" if raises is None else "in the search for more causes"
    yield BuildAnswer(raises, stopped=stopped, not_run=[*placeholders.not_run])
    if raises is None:
        return
    search = FaultSearch(keras, request, {**registered, **custom})
    search.run()
    faults = search.faults or [LoadFault(["the model"], *raises)]
    if not search.faults and placeholders.has_untold_outputs:
        # Only the calls of layers fail, and one of them is a placeholder of the program's.
        yield BuildAnswer(stopped="at a layer of the program: only its code tells its output")
        return
    answer = BuildAnswer(raises, faults, program_of(keras.name, request, faults, keras.public))
    answer.stopped = "" if search.is_whole else "after some seconds"
    answer.not_run = [*placeholders.not_run]
    named = [part.get("module") for part in every_part(request) if isinstance(part, dict)]
    answer.modules = [name for name in guard.modules if name in named]
    if answer.program:
        given = {**custom, **search.unknown}
        answer.program_raises = raised_by(lambda: _run(keras, request, given, answer.program))
    yield answer


def _run(keras: KerasBuilder, request: Json, given: Json, program: str) -> None:
    """Execute a program on the configuration alone."""

    def load_model(_path: str, custom_objects: Any = None, **options: bool) -> Any:
        filled = {name: given.get(name) for name in custom_objects or ()}
        return keras.load({**request, "compile": True, "safe_mode": True, **options}, filled)

    keras.module.models.load_model = load_model
    exec(program, {"__builtins__": builtins, "mock": unittest.mock})
