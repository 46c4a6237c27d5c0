"""A program as a source of the command line: `train.py:ckpt`."""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, NamedTuple

from ckpt_viz.errors import SourceError

_MAX_NAMED = 10  # names that a message lists


class Program(NamedTuple):
    """A Python file, and the dotted name of an object in it; "" if the user gave none."""

    path: str
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


def as_program(source: str) -> Program | None:
    """Return the program that `train.py:ckpt` names; None for other text, such as a path.

    >>> as_program("train.py:trainer.ckpt")
    Program(path='train.py', name='trainer.ckpt')
    >>> as_program("train.py")
    Program(path='train.py', name='')
    >>> as_program("ckpts/ckpt-3")
    """
    path, _, name = source.rpartition(":")
    if path.endswith(".py") and os.path.basename(name) == name:
        return Program(path, name)
    return Program(source, "") if source.endswith(".py") else None


class Target(NamedTuple):
    """An object to check, and its expression in code.

    If a function of the program returns the object, `code` calls the function first.
    """

    obj: object
    expression: str = "ckpt"
    code: str = ""


@contextmanager
def running(program: Program) -> Iterator[Target]:
    """Run the program and return the named object; if that is a function, return its result.

    Runs the file as an import does, without the code under `if __name__ == "__main__":`. Sends all
    of its output to standard error. Raises SourceError for every error in it.
    """
    before = sys.argv, sys.path[:]
    sys.argv = [program.path]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program.path)))
    try:
        with _printing_to_stderr():
            yield _called(program, _imported(program.path))
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
    if not program.name:
        raise SourceError(f"{program}: found no name of an object; {_choice(program, module)}")
    obj: object = module
    for part in program.name.split("."):
        with _raising_source_error(program.path):
            holder, obj = obj, getattr(obj, part, _ABSENT)
        if obj is _ABSENT:
            where = program.path if holder is module else f"a {type(holder).__name__}"
            raise SourceError(f"{program}: {where} has no {part!r}; {_choice(program, module)}")
    return obj


def _choice(program: Program, module: ModuleType) -> str:
    """Return which objects of a program a user can name, as the end of a sentence."""
    objects = [*_objects(module), *_makers(module)]
    if objects:
        choices = [f"{program.path}:{name} ({kind})" for name, kind in objects]
        return f"expected one of {_first(choices)}"
    public = [name for name in vars(module) if not name.startswith("_")]
    return (
        f"the program has {_first(public) or 'no names'}. None is an object that TensorFlow can "
        "save; code under `if __name__ == '__main__'` does not run"
    )


def _objects(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield name and class of what TensorFlow can save, in the module and in its own objects."""
    yield from _listed(vars(module))
    for name, value in list(vars(module).items()):
        cls = value if isinstance(value, type) else type(value)
        if cls.__module__ == module.__name__ and not inspect.isroutine(value):
            inner = _listed(dict(getattr(value, "__dict__", {})))
            yield from ((f"{name}.{attribute}", kind) for attribute, kind in inner)


def _makers(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the program's own functions that need no argument: one may return the object."""
    for name, value in list(vars(module).items()):
        is_own = inspect.isfunction(value) and value.__module__ == module.__name__
        if is_own and _needs_no_argument(value) and not name.startswith("_"):
            yield name, "a function"


def _needs_no_argument(function: Callable[..., object]) -> bool:
    """Return whether a call without arguments fits; True for a function that does not tell."""
    with suppress(ValueError):
        try:
            inspect.signature(function).bind()
        except TypeError:
            return False
    return True


def _listed(namespace: dict[str, object]) -> Iterator[tuple[str, str]]:
    from ckpt_viz.entrances.jupyter.live_objects import (
        listed,  # here, because only a failed command lists
    )

    objects: Any = listed(namespace).data["objects"]
    yield from ((entry["name"], entry["type"]) for entry in objects)


def _first(names: list[str]) -> str:
    return ", ".join(names[:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")


_ABSENT = object()
_CONTAINERS = (list, dict, tuple, set)


def _called(program: Program, module: ModuleType) -> Target:
    obj = _looked_up(program, module)
    from ckpt_viz.live.sessions.assignment_map import (
        is_warm_start,  # late: most commands run no program
    )

    is_value = isinstance(obj, (ModuleType, bool, int, float, bytes, *_CONTAINERS, type(None)))
    if is_value and not is_warm_start(obj):
        kind = type(obj).__name__
        raise SourceError(f"{program}: found a value of type {kind}; {_choice(program, module)}")
    # Models and layers are callable too, but they are the objects to check.
    is_maker = inspect.isroutine(obj) or inspect.isclass(obj)
    if not is_maker and not isinstance(obj, functools.partial):
        return Target(obj, program.name)
    assert callable(obj)
    if not _needs_no_argument(obj):
        raise SourceError(
            f"{program}: found a function that needs arguments; write one without, which returns "
            "the object"
        )
    with _raising_source_error(str(program)):
        return Target(obj(), code=f"ckpt = {program.name}()\n")


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
