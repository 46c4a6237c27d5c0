"""What a reading of code knows at each step: what has failed, where, and under which guards."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ckpt_viz.load_check.abstract import (
    UNKNOWN,
    CodeFrame,
    FaultSubject,
    Guard,
    LoadFault,
    TooLong,
)

_MOST_STEPS = 2_000_000  # statements and expressions: five times EfficientNetB7
_LETTERS = 50  # take as long as a step
_CUT = "\0"  # where a text has what only a run tells
_MOST_FAULTS = 1_000
_NOTHING = FaultSubject()


class CodeReading(ABC):
    """The state of a reading.

    While `doubtful` is above 0, the code may run or not: it fails in vain, and what it sets is
    unknown afterwards. `owned` are the containers that may change, by id: the configuration, and
    what the code makes. All others belong to Keras or to the program.
    """

    def __init__(self, places: Mapping[int, str]) -> None:
        self.places = places
        self.faults: list[LoadFault] = []
        self.doubtful = 0
        self.guards: tuple[Guard, ...] = ()
        self.place = ""
        self.order: tuple[int, ...] = ()
        self.owned: dict[int, Any] = {}
        self.tainted: set[int] = set()
        self.unread = False  # whether anything was too deep to be read
        self._events = 0
        self._steps = 0

    @abstractmethod
    def value(self, node: ast.expr, frame: CodeFrame) -> Any:
        """Return the value of an expression."""

    @abstractmethod
    def subject_in(self, frame: CodeFrame, text: str) -> FaultSubject:
        """Return what a raise in a function is about, as far as its names tell."""

    def step(self) -> None:
        """Count a step; raises TooLong after the last."""
        self._steps += 1
        if self._steps > _MOST_STEPS or len(self.faults) > _MOST_FAULTS:
            raise TooLong

    def charge(self, letters: int) -> None:
        """Count the time that a text takes as steps."""
        self._steps += letters // _LETTERS
        self.step()

    def next_order(self) -> tuple[int, ...]:
        """Return the place of the next event among all: nested objects come before what follows."""
        self._events += 1
        return (*self.order, self._events)

    def own(self, container: Any) -> Any:
        """Return a new container, which the code may change."""
        self.owned[id(container)] = container
        return container

    def report(self, cls: type, text: str, subject: FaultSubject = _NOTHING) -> None:
        """Note an error as it leaves all guards, unless one of them handles it."""
        if self.doubtful:
            return
        for guard in reversed(self.guards):
            handler = self.handler_of(guard, cls)
            if handler is None:
                continue
            last = handler.body[-1]
            if not isinstance(last, ast.Raise):
                return
            if last.exc is not None:
                first, (cls, text) = text, self._raised_after(handler, last, guard.frame, cls, text)
                subject = subject if text == first else self.subject_in(guard.frame, text)
        fault = LoadFault(self.next_order(), self.place, cls.__name__, text, subject)
        self.faults.append(fault)

    def handler_of(self, guard: Guard, cls: type) -> ast.ExceptHandler | None:
        """Return the handler of a `try` that takes an error."""
        for handler in guard.node.handlers:
            caught = (
                BaseException if handler.type is None else self.value(handler.type, guard.frame)
            )
            classes = caught if isinstance(caught, tuple) else (caught,)
            if any(
                isinstance(caught_class, type) and issubclass(cls, caught_class)
                for caught_class in classes
            ):
                return handler
        return None

    def _raised_after(
        self, handler: ast.ExceptHandler, last: ast.Raise, frame: CodeFrame, cls: type, text: str
    ) -> tuple[type, str]:
        """Return the error that a handler raises; the text of the first one, if that is in it."""
        assert last.exc is not None
        if isinstance(last.exc, ast.Name) and last.exc.id == handler.name:
            return cls, text
        raised, words = self.error_in(last.exc, frame)
        names = {node.id for node in ast.walk(last.exc) if isinstance(node, ast.Name)}
        return raised or cls, text if handler.name in names else words

    def error_in(self, node: ast.expr, frame: CodeFrame) -> tuple[type | None, str]:
        """Return class and text of the error that an expression makes."""
        if not isinstance(node, ast.Call):
            cls = self.value(node, frame)
            return (cls if _is_error(cls) else None), ""
        cls = self.value(node.func, frame)
        texts = [self.value(argument, frame) for argument in node.args]
        if not _is_error(cls):
            return None, ""
        known = [text for text in texts if text is not UNKNOWN]
        if len(known) < len(texts):
            return cls, ""
        return cls, known_part(str(known[0])) if len(known) == 1 else repr(tuple(known))


def _is_error(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, BaseException)


def cut() -> str:
    """Return what takes the place of an unknown part of a text."""
    return _CUT


def known_part(text: str) -> str:
    """Return a text up to what only a run tells."""
    return text.partition(_CUT)[0]
