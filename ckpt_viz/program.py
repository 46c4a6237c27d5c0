"""A program as a source of the command line: `train.py:ckpt`."""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import NamedTuple

from ckpt_viz.errors import SourceError

_MAX_NAMED = 10  # names that a message lists


class Program(NamedTuple):
    """A Python file, and the dotted name of an object in it."""

    path: str
    name: str


def as_program(source: str) -> Program | None:
    """Return the program that `train.py:ckpt` names; None for other text, such as a path.

    >>> as_program("train.py:trainer.ckpt")
    Program(path='train.py', name='trainer.ckpt')
    >>> as_program("ckpts/ckpt-3")
    """
    path, colon, name = source.rpartition(":")
    is_name = all(part.isidentifier() for part in name.split("."))
    return Program(path, name) if colon and path.endswith(".py") and is_name else None


@contextmanager
def running(program: Program) -> Iterator[object]:
    """Run the program and return the named object; if that is a function, return its result.

    Runs the file as an import does, without the code under `if __name__ == "__main__":`. Sends all
    of its output to standard error. Raises SourceError for every error in it.
    """
    before = sys.argv, sys.path[:]
    sys.argv = [program.path]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program.path)))
    try:
        with _printing_to_stderr():
            yield _called(program, _looked_up(program, _imported(program.path)))
    finally:
        sys.argv, sys.path[:] = before


def _imported(path: str) -> ModuleType:
    if not os.path.isfile(path):
        raise SourceError(f"{path}: no such file, expected a Python program")
    name = os.path.splitext(os.path.basename(path))[0]
    while name in sys.modules:
        name += "_"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # AutoGraph and others look here for the source of functions
    with _raising_source_error(path):
        spec.loader.exec_module(module)
    return module


def _looked_up(program: Program, module: ModuleType) -> object:
    found: object = module
    for part in program.name.split("."):
        with _raising_source_error(program.path):
            holder, found = found, getattr(found, part, _ABSENT)
        if found is _ABSENT:
            public = [name for name in vars(module) if not name.startswith("_")]
            there = ", ".join(public[:_MAX_NAMED]) + (", …" if len(public) > _MAX_NAMED else "")
            where = program.path if holder is module else f"a {type(holder).__name__}"
            raise SourceError(
                f"{program.path}:{program.name}: {where} has no {part!r}; the program has "
                f"{there or 'no names'}"
            )
    return found


_ABSENT = object()


def _called(program: Program, found: object) -> object:
    # Models and layers are callable too, but they are the objects to check.
    is_maker = inspect.isroutine(found) or inspect.isclass(found)
    if not is_maker and not isinstance(found, functools.partial):
        return found
    with _raising_source_error(f"{program.path}:{program.name}"):
        return found()  # type: ignore[operator]


@contextmanager
def _raising_source_error(place: str) -> Iterator[None]:
    """Raise SourceError for every error of the program, SystemExit included."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise SourceError(
            f"{place} raised {type(error).__name__}: {error}; make sure that it can be imported"
        ) from error


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Send all output of Python, C and child processes to standard error."""
    sys.stdout.flush()
    with redirect_stdout(sys.stderr):
        stdout = os.dup(1)
        os.dup2(2, 1)
        try:
            yield
        finally:
            _flush_all()
            os.dup2(stdout, 1)
            os.close(stdout)


def _flush_all() -> None:
    """Write the buffers of Python and C, which would otherwise be written only at the end."""
    with suppress(Exception):
        sys.__stdout__.flush()  # type: ignore[union-attr]
    with suppress(Exception):  # no libc of this kind
        ctypes.CDLL(None).fflush(None)
