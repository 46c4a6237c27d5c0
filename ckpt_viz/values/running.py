"""Runs many small tasks: here or in an executor, with a progress bar, until someone interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol, TypeVar

from ckpt_viz.errors import CkptVizError

Task = TypeVar("Task")
Result = TypeVar("Result")

_IN_FLIGHT = 32  # tasks that an executor has at a time; their results must fit into memory
_PATIENCE = 1.0  # seconds before a bar appears


class Progress(Protocol):
    """A progress bar: `update` adds what is done, in the unit of the total."""

    def update(self, n: int, /) -> object:
        """Add what was done."""

    def close(self) -> object:
        """Remove the bar."""


def bar(title: str, total: int, *, unit: str = "B") -> Progress:
    """Return tqdm's bar, in a notebook or a terminal; it appears after a second."""
    from tqdm.auto import tqdm  # here, because it takes a while to import

    shown: Progress = tqdm(
        total=total, desc=title, unit=unit, unit_scale=True, delay=_PATIENCE, leave=False
    )
    return shown


def results(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    executor: Executor | None = None,
    on_done: Callable[[Task], object] | None = None,
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, as they finish.

    Without an executor, tasks run here in their order. An executor has at most 32 tasks at a time.
    If it loses a task, because a worker died for example, the task runs here. To stop, close the
    iterator or interrupt it: tasks that have not begun are then cancelled.

    Args:
        function: What to do with a task. For an executor of processes, it is a module's function.
        tasks: The tasks; an executor of processes pickles them.
        executor: Any `concurrent.futures.Executor`; it remains open.
        on_done: Called here with each task when it has finished, to show progress.

    Raises:
        CkptVizError: As the function raises it. Other tasks are cancelled then.
    """
    done = on_done or (lambda task: None)
    if executor is None:
        for task in tasks:
            found = function(task)
            done(task)
            yield task, found
        return
    waiting = iter(tasks)
    running: dict[Future[Result], Task] = {}
    try:
        while True:
            for task in islice(waiting, _IN_FLIGHT - len(running)):
                running[_submitted(executor, function, task)] = task
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                found = _result(future, function, task)
                done(task)
                yield task, found
    finally:
        for future in running:
            with suppress(Exception):  # a scheduler that has gone cannot cancel
                future.cancel()


def _submitted(
    executor: Executor, function: Callable[[Task], Result], task: Task
) -> Future[Result]:
    try:
        return executor.submit(function, task)
    except RuntimeError as error:  # all workers died; `_result` then runs the task
        lost: Future[Result] = Future()
        lost.set_exception(error)
        return lost


def _result(future: Future[Any], function: Callable[[Task], Result], task: Task) -> Result:
    try:
        found: Result = future.result()
    except CkptVizError:
        raise
    except Exception:  # each kind of executor has its own error for a worker that died
        return function(task)
    return found
