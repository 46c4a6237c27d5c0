"""Places in the installed TensorFlow: the function and the line that do what a step says.

TensorFlow is not imported. Its files are parsed where they are installed, and no text is kept.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class TensorFlowPlace:
    """A function of TensorFlow, and the line in it that does a step.

    `module` is a dotted name, `function` a qualified one. `mark` tells the line: the name of a
    function that it calls, or the kind of a statement, such as `continue`; "" is the first line.
    """

    module: str
    function: str
    mark: str = ""

    @property
    def file(self) -> str | None:
        """The path of the file; None if TensorFlow is not installed."""
        return _file(self.module)

    @cached_property
    def line(self) -> int | None:
        """The number of the line in the file; None if this TensorFlow has no such function."""
        function = self._function
        if function is None:
            return None
        return min(_lines_with(function, self.mark), default=function.lineno)

    @property
    def source(self) -> str | None:
        """The text of the function, read from the file now; None if there is no such function."""
        function, file = self._function, self.file
        if function is None or file is None:
            return None
        lines = Path(file).read_text("utf-8").splitlines()
        return "\n".join(lines[function.lineno - 1 : function.end_lineno])

    @property
    def _function(self) -> _Function | None:
        return _functions(self.module).get(self.function)

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line is not None else ""
        return f"{self.function} in {self.module}{where}"


@cache
def _file(module: str) -> str | None:
    """Return the file of a module that is found without importing it."""
    top, *names = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent.joinpath(*names).with_suffix(".py")
    return str(path) if path.is_file() else None


@cache
def _functions(module: str) -> dict[str, _Function]:
    """Return the functions of a module by qualified name; none if its file cannot be read."""
    file = _file(module)
    if file is None:
        return {}
    tree = ast.parse(Path(file).read_text("utf-8"))
    return dict(_named(tree, ""))


def _named(parent: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, _Function]]:
    for statement in parent.body:
        if isinstance(statement, _Function):
            yield f"{prefix}{statement.name}", statement
        elif isinstance(statement, ast.ClassDef):
            yield from _named(statement, f"{prefix}{statement.name}.")


def _lines_with(function: _Function, mark: str) -> Iterator[int]:
    for part in ast.walk(function):
        if isinstance(part, ast.Call):
            called = part.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        elif isinstance(part, ast.stmt):
            name = type(part).__name__.lower()
        else:
            continue
        if name == mark:
            yield part.lineno
