"""The source of functions of the installed Keras, and of the program, as syntax trees."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any


def unwrapped(function: Any) -> Any:
    """Return the function inside decorators, static methods and class methods."""
    for _ in range(20):
        inner = function.__func__ if isinstance(function, (staticmethod, classmethod)) else None
        if isinstance(function, FunctionType) or type(function).__name__ == "TFDecorator":
            inner = vars(function).get("__wrapped__")
        if inner is None:
            return function
        function = inner
    return function


def tree_of(function: FunctionType) -> ast.FunctionDef | None:
    """Return the syntax tree of a function; None if its source is not available."""
    return _tree_of(function.__code__)


@lru_cache(maxsize=4096)
def _tree_of(code: CodeType) -> ast.FunctionDef | None:
    try:
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        source = textwrap.dedent("".join(inspect.getblock(lines)))
        statement = ast.parse(source).body[0]
    except (OSError, SyntaxError, ValueError, IndexError, RecursionError):
        return None
    is_same = isinstance(statement, ast.FunctionDef) and statement.name == code.co_name
    return statement if is_same else None  # type: ignore[return-value]


def attribute_of(cls: type, name: str) -> tuple[type | None, Any]:
    """Return the base of a class that has an attribute, and the attribute itself."""
    for base in _mro(cls):
        if name in vars(base):
            return base, vars(base)[name]
    return None, None


def attribute_after(cls: type, owner: type, name: str) -> tuple[type | None, Any]:
    """Return the same for the bases that come after one of them."""
    mro = _mro(cls)
    after = mro[mro.index(owner) + 1 :] if owner in mro else ()
    return next(((base, vars(base)[name]) for base in after if name in vars(base)), (None, None))


def _mro(cls: type) -> tuple[type, ...]:
    return type.__dict__["__mro__"].__get__(cls)  # type: ignore[no-any-return]
