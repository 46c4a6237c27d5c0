"""The values of code that is only read: known ones, objects not made, and unknown ones.

Plain data, classes, functions and modules are themselves.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any


class _Unknown:
    """What only a run of the code tells."""

    def __repr__(self) -> str:
        return "…"


UNKNOWN = _Unknown()


@dataclass(eq=False, slots=True)
class Instance:
    """An object that the code would make, with the attributes that are known."""

    cls: type
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class BoundFunction:
    """A function of a class with its first argument, or a method of plain data."""

    receiver: Any
    function: Any  # the name, for plain data
    owner: type | None = None


@dataclass(eq=False, slots=True)
class Super:
    """`super()`: the classes after `owner` among those of the receiver."""

    receiver: Any
    owner: type


@dataclass(eq=False, slots=True)
class CodeFrame:
    """One call of a function that is read: its names, and where its raises lead.

    In a constructor the reading goes on after a raise, to name every fault.
    """

    function: FunctionType
    names: dict[str, Any]
    owner: type | None = None
    receiver: Any = None
    outer: CodeFrame | None = None
    goes_on: bool = False


@dataclass(eq=False, slots=True)
class Closure:
    """A function that is defined inside another one."""

    node: ast.FunctionDef | ast.Lambda
    frame: CodeFrame


@dataclass(frozen=True, slots=True)
class Guard:
    """A `try` around what is read, with the names that its handlers use."""

    node: ast.Try
    frame: CodeFrame


@dataclass(frozen=True, slots=True)
class FaultSubject:
    """What an error is about.

    `name` is a class or function that Keras does not know, and `key` what `custom_objects` needs to
    have it; "" if no name helps. `module` is where the file says that it is. `cls` is a class whose
    constructor does not take `arguments`, or needs them.
    """

    name: str = ""
    key: str = ""
    module: str = ""
    cls: type | None = None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadFault:
    """An error that the code would raise: the class, and the text of the innermost error.

    `order` sorts faults as a run meets them. `place` is where in the configuration it is.
    """

    order: tuple[int, ...]
    place: str
    type: str
    text: str
    subject: FaultSubject


class Failed(Exception):
    """Ends the reading of a function: it has raised an error of this class."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls.__name__)
        self.cls = cls


class TooLong(Exception):
    """The reading took more steps than allowed."""
