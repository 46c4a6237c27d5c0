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
from typing import Any

from ckpt_viz.answers.load_check.fault_search import FaultSearch
from ckpt_viz.answers.load_check.faults import BuildAnswer, LoadFault
from ckpt_viz.answers.load_check.keras_builder import KerasBuilder, raised_by
from ckpt_viz.answers.load_check.load_code import program_of
from ckpt_viz.answers.load_check.placeholders import Placeholders

if sys.platform != "win32":
    import resource

CAN_FORK = hasattr(os, "fork")
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
    """Answer each line of JSON by another, until the input ends or none comes for minutes."""
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
        print(_forked(keras, line) if CAN_FORK else _here(keras, line), file=results, flush=True)
        if not CAN_FORK:
            return


def _here(keras: KerasBuilder, line: str) -> str:
    *_, answer = _answers(keras, json.loads(line))
    return json.dumps(asdict(answer))


def _forked(keras: KerasBuilder, line: str) -> str:
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        with suppress(MemoryError, RecursionError):
            for answer in _answers(keras, json.loads(line)):
                encoded = json.dumps(asdict(answer)).encode() + b"\n"
                while encoded:
                    encoded = encoded[os.write(writer, encoded) :]
        os._exit(0)
    os.close(writer)
    received, ends = b"", time.monotonic() + 3 * _SECONDS
    while select.select([reader], [], [], max(0, ends - time.monotonic()))[0]:
        part = os.read(reader, 1 << 20)
        received += part
        if not part or len(received) > _MOST_ANSWER:
            break
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.close(reader)
    os.waitpid(process, 0)
    whole = received.decode().split("\n")[:-1]
    return whole[-1] if whole else json.dumps(asdict(BuildAnswer(stopped="before its end")))


def _shut() -> _Guard:
    """Give up what building a model does not need. Call it after all imports."""
    # Warnings and tracebacks would open source files.
    warnings.simplefilter("ignore")
    logging.disable()
    vars(linecache)["updatecache"] = lambda *_args, **_kwargs: []
    guard = _Guard()
    sys.meta_path.insert(0, guard)
    if sys.platform != "win32":
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


def _answers(keras: KerasBuilder, request: dict[str, Any]) -> Iterator[BuildAnswer]:
    """Yield the answer as far as it is known: what `load_model` raises, then all faults."""
    keras.warm()
    model, training = request["model"], request["training"]
    placeholders = Placeholders(keras.module, model)
    custom, registered = (
        {name: placeholders.of_program(words) for name, words in request[kind].items()}
        for kind in ("custom", "registered")
    )
    keras.register(registered)
    guard = _shut()
    way = {name: request[name] for name in ("is_archive", "compile", "safe_mode")}
    raises = raised_by(lambda: keras.load(model, training, custom, **way))
    if raises is not None and (guard.has_refused or os.strerror(errno.EMFILE) in raises[1]):
        yield BuildAnswer(stopped="where the model opens a file or runs a program")
        return
    stopped = "" if raises is None else "in the search for more causes"
    yield BuildAnswer(raises, stopped=stopped, not_run=[*placeholders.not_run])
    if raises is None:
        return
    search = FaultSearch(keras, model, training, {**registered, **custom}, **way)
    search.run()
    faults = search.faults or [LoadFault(["the model"], *raises)]
    if not search.faults and placeholders.has_untold_outputs:
        # Only the calls of layers fail, and one of them is a placeholder of the program's.
        yield BuildAnswer(stopped="at a layer of the program: only its code tells its output")
        return
    answer = BuildAnswer(raises, faults)
    answer.stopped = "" if search.is_whole else "after some seconds"
    answer.not_run = [*placeholders.not_run]
    answer.modules = [name for name in guard.modules if _names_module(request, name)]
    answer.program = program_of(
        keras.name, request["path"], faults, [*custom], request, keras.public
    )
    if answer.program:
        given = {**custom, **search.unknown}
        answer.program_raises = raised_by(lambda: _run(keras, request, given, answer.program))
    yield answer


def _names_module(item: Any, module: str) -> bool:
    if isinstance(item, dict):
        return item.get("module") == module or _names_module([*item.values()], module)
    return isinstance(item, list) and any(_names_module(part, module) for part in item)


def _run(keras: KerasBuilder, request: dict[str, Any], given: dict[str, Any], program: str) -> None:
    """Execute a program on the configuration alone."""

    def load_model(_path: str, custom_objects: Any = None, **options: bool) -> Any:
        filled = {name: given.get(name) for name in custom_objects or ()}
        way = {"compile": True, "safe_mode": True, **options}
        is_archive = request["is_archive"]
        return keras.load(
            request["model"], request["training"], filled, is_archive=is_archive, **way
        )

    keras.module.models.load_model = load_model
    exec(program, {"__builtins__": builtins, "mock": unittest.mock})
