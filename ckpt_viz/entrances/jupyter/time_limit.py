"""A limit on the time of work that the user has not asked for, in the thread that runs cells.

A timer of the system raises an exception there, as Ctrl+C does. Nothing goes on afterwards, as a
second thread would, and objects are not copied. It raises between two steps of this package where
it can, and elsewhere only when the time is up. Python reacts after a call of compiled code.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType

_PACKAGE = __name__.partition(".")[0]
_EARLY = 0.9  # the part of the time after which it stops between two steps of this package
_POLLS = 0.02  # seconds
_AGAIN = 0.25  # seconds; code that catches everything may have caught the first


class TimeIsUp(BaseException):
    """The work has taken as long as it may; like KeyboardInterrupt, no Exception."""


class TimeLimit:
    """Raises TimeIsUp in the body of a `with`; afterwards the user's own timer runs on.

    Call `stop` once more outside of it: the exception may come just while the body ends.
    """

    @staticmethod
    def is_possible() -> bool:
        """Return whether there are such timers, this thread gets them, and none has to be kept.

        A handler that is not Python's cannot be set again.
        """
        is_main = threading.current_thread() is threading.main_thread()
        has_timer = hasattr(signal, "setitimer")
        return has_timer and is_main and signal.getsignal(signal.SIGALRM) is not None

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_running = False

    def __enter__(self) -> TimeLimit:
        self._start = time.monotonic()
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        self._is_running = True
        self._of_user = signal.setitimer(signal.ITIMER_REAL, self._seconds * _EARLY, _POLLS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Put the user's handler and timer back; do nothing the second time."""
        is_running, self._is_running = self._is_running, False
        if is_running:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._handler)
            left, interval = self._of_user
            if left:
                left -= time.monotonic() - self._start
                signal.setitimer(signal.ITIMER_REAL, max(left, _POLLS), interval)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        is_over = time.monotonic() - self._start >= self._seconds
        if self._is_running and (is_over or _is_between_steps(frame)):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _POLLS)
            raise TimeIsUp


def _is_between_steps(frame: FrameType | None) -> bool:
    """Return whether code of this package runs that is not about live objects."""
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name.startswith(f"{_PACKAGE}.") and not name.startswith(f"{_PACKAGE}.live.")
