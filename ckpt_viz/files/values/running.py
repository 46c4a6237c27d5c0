"""Runs many small tasks: here or in an executor, with a progress bar, until someone interrupts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from ckpt_viz.errors import CkptVizError

Task = TypeVar("Task")
Result = TypeVar("Result")

_IN_FLIGHT = 32  # tasks that an executor has at a time, unless their results are small
_MOST_IN_FLIGHT = 1024
_RESULTS_BYTES = 1 << 27  # 128 MiB, of all results that may wait here at a time
_PATIENCE = 1.0  # seconds before a bar appears
_SILENCE = 5.0  # seconds without a result, after which an executor is asked if it is there


# Gets how many bytes were read since the last call; what it raises ends the reading.
OnRead = Callable[[int], object]
# Shows progress while something runs: with a title, and the total in bytes.
Begin = Callable[[str, int], AbstractContextManager[OnRead]]


@contextmanager
def bar(title: str, total: int) -> Iterator[OnRead]:
    """Show tqdm's bar, in a notebook or a terminal; it appears after a second."""
    from tqdm.auto import tqdm  # here, because it takes a while to import

    with tqdm(
        total=total, desc=title, unit="B", unit_scale=True, delay=_PATIENCE, leave=False
    ) as shown:
        yield shown.update


def silent(_title: str = "", _total: int = 0) -> AbstractContextManager[OnRead]:
    """Show nothing."""
    return nullcontext(ignored)


def ignored(_nbytes: int) -> None:
    """Do nothing."""


def progress_of(title: str, total: int, begin: Begin) -> AbstractContextManager[OnRead]:
    """Show progress while something runs, unless there is nothing to read."""
    return begin(title, total) if total else silent()


def results(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    executor: Executor | None = None,
    on_done: Callable[[Task], object] | None = None,
    in_flight: int = _IN_FLIGHT,
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, as they finish.

    Without an executor, tasks run here in their order. An executor has at most `in_flight` tasks at
    a time (see `in_flight_of`). If it loses a task, because a worker died for example, the task
    runs here, and a RuntimeWarning gives the reason once. To stop, close the iterator or interrupt
    it: tasks that have not begun are then cancelled.

    Args:
        function: What to do with a task. For an executor of processes, it is a module's function.
        tasks: The tasks; an executor of processes pickles them.
        executor: Any `concurrent.futures.Executor`; it remains open.
        on_done: Called here with each task when it has finished, to show progress.
        in_flight: The most tasks that an executor has at a time. Their results must fit into
            memory, and more workers than this have nothing to do.

    Raises:
        CkptVizError: As the function raises it, or because workers lack a module that it needs.
            Other tasks are cancelled then.
    """
    done = on_done or (lambda task: None)
    if executor is None:
        for task in tasks:
            result = function(task)
            done(task)
            yield task, result
        return
    waiting = iter(tasks)
    running: dict[Future[Result], Task] = {}
    finished: SimpleQueue[Future[Result]] = SimpleQueue()  # `wait` looks at all, each time
    losses: list[Exception] = []
    try:
        while True:
            for task in islice(waiting, in_flight - len(running)):
                future = _submitted(executor, function, task)
                running[future] = task
                future.add_done_callback(finished.put)
            if not running:
                return
            future = _next(finished, running, executor)
            task = running.pop(future)
            result = _result(future, function, task, losses)
            done(task)
            yield task, result
    finally:
        for future in running:
            with suppress(Exception):  # a scheduler that has gone cannot cancel
                future.cancel()


def _next(
    finished: SimpleQueue[Future[Result]],
    running: Mapping[Future[Result], Task],
    executor: Executor,
) -> Future[Result]:
    """Return the next future that finishes.

    A client of a cluster that is closed in the middle of a `submit` forgets that task. So if
    nothing finishes for a while, and the executor takes no more, tasks that have not begun are
    cancelled: then they are lost.
    """
    while True:
        with suppress(Empty):
            return finished.get(timeout=_SILENCE)
        if not _takes_tasks(executor):
            for future in [*running]:
                future.cancel()


def _takes_tasks(executor: Executor) -> bool:
    try:
        executor.submit(int)
    except Exception:  # each kind of executor has its own
        return False
    return True


def in_flight_of(result_bytes: float) -> int:
    """Return how many tasks an executor may have at a time, for results of such a mean size.

    >>> in_flight_of(100), in_flight_of(1 << 18), in_flight_of(1 << 26)
    (1024, 512, 32)
    """
    return max(_IN_FLIGHT, min(_MOST_IN_FLIGHT, int(_RESULTS_BYTES / max(result_bytes, 1))))


def _submitted(
    executor: Executor, function: Callable[[Task], Result], task: Task
) -> Future[Result]:
    try:
        return executor.submit(function, task)
    except Exception as error:  # all workers died, or the cluster was closed; `_result` runs it
        lost: Future[Result] = Future()
        lost.set_exception(error)
        return lost


def _result(
    future: Future[Any],
    function: Callable[[Task], Result],
    task: Task,
    losses: list[Exception],
) -> Result:
    try:
        result: Result = future.result()
    except CkptVizError:
        raise
    except ImportError as error:  # else this process would silently read all
        raise CkptVizError(
            f"a worker of the executor cannot run the task: {error}; install the packages of this "
            "process there, too, in the same versions"
        ) from error
    except Exception as error:  # each kind of executor has its own error for a worker that died
        if not losses:
            warnings.warn(
                f"the executor lost a task: this process runs it, and any other that gets lost: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        losses.append(error)
        return function(task)
    return result
