"""Signals that wait while objects are half changed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from types import FrameType, TracebackType
from typing import Any, Literal

# Those that programs handle in Python: stops, time limits, and messages of schedulers.
_NAMES = ("INT", "TERM", "ALRM", "HUP", "QUIT", "USR1", "USR2", "BREAK", "VTALRM", "PROF")
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")]
_Handler = Callable[[int, FrameType | None], Any]


class Interrupts:
    """A context in which no Ctrl+C stops what must not end half-way.

    Before `hold`, the first handler that raises does so at once. From then on, and after `hold`,
    all handlers wait for the end of the context. This holds for other signals that Python code
    handles, too: a time limit may raise between any two instructions. Python runs such handlers in
    the main thread alone, so elsewhere the context does nothing.
    """

    def __init__(self, *, held: bool = False) -> None:
        self._held = held
        self._is_over = False
        self._before: dict[int, _Handler] = {}
        self._waiting: dict[int, FrameType | None] = {}

    @property
    def are_waiting(self) -> bool:
        """Whether a signal has come and waits for the end."""
        return bool(self._waiting)

    def hold(self) -> None:
        """Let all handlers wait from now on."""
        self._held = True

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            try:
                self._replace_all()
            except BaseException:  # a handler has raised between two of them
                self._put_back()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        self._held = True
        try:
            self._put_back()
        finally:
            with ExitStack() as stack:  # calls all, although one raises
                for number, frame in reversed(self._waiting.items()):
                    stack.callback(self._before[number], number, frame)
        return False

    def _replace_all(self) -> None:
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[number] = handler
                signal.signal(number, self._come)

    def _put_back(self) -> None:
        """Put all handlers back; those that are back may raise before the others are."""
        raised: BaseException | None = None
        left = list(self._before.items())
        try:
            while left:
                try:
                    signal.signal(*left[-1])
                    left.pop()
                except BaseException as error:
                    raised = error
        finally:
            self._is_over = True  # what is left of this one passes signals on
        if raised is not None:
            raise raised

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            self._before[number](number, frame)
        elif self._held:
            self._waiting.setdefault(number, frame)
        else:
            self._held = True
            self._before[number](number, frame)
            self._held = False  # it has not raised


class OwnDirectory(TemporaryDirectory[str]):
    """A new directory that goes with this object, whenever a signal comes."""

    def __init__(self) -> None:
        with Interrupts(held=True):
            super().__init__(prefix="ckpt_viz_")

    def cleanup(self) -> None:
        """Remove the directory."""
        with Interrupts(held=True):
            super().cleanup()
