"""Tasks give the same results here and in executors, whatever happens to the workers."""

import importlib
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest

from ckpt_viz.errors import CkptVizError, FormatError
from ckpt_viz.files.values import running
from ckpt_viz.files.values.running import bar, results

PARENT = os.getpid()


def square(number: int) -> int:
    return number * number


def square_or_die(number: int) -> int:
    if number == 17 and os.getpid() != PARENT:
        os._exit(1)
    return number * number


def import_elsewhere(number: int) -> int:
    if os.getpid() != PARENT:
        importlib.import_module("not_here")
    return number


def refuse(number: int) -> int:
    if number == 3:
        raise FormatError("ckpt: 3 is damaged")
    return number


@pytest.fixture
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as executor:
        yield executor


def test_tasks_run_in_order_without_an_executor() -> None:
    done: list[int] = []
    found = list(results(square, range(5), on_done=done.append))
    assert found == [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]
    assert done == [0, 1, 2, 3, 4]


def test_an_executor_gives_the_same_results(pool: ProcessPoolExecutor) -> None:
    assert sorted(results(square, range(100), executor=pool)) == [(n, n * n) for n in range(100)]


def test_a_worker_that_dies_loses_no_result(pool: ProcessPoolExecutor) -> None:
    with pytest.warns(RuntimeWarning, match="lost a task.*BrokenProcessPool"):
        found = sorted(results(square_or_die, range(100), executor=pool))
    assert found == [(n, n * n) for n in range(100)]


def test_an_error_of_ours_is_raised_and_cancels_the_rest() -> None:
    begun: list[int] = []

    def note(number: int) -> int:
        begun.append(number)
        return refuse(number)

    with ThreadPoolExecutor(1) as executor, pytest.raises(FormatError, match="3 is damaged"):
        list(results(note, range(1000), executor=executor))
    assert len(begun) < 100


class _Forgets(Executor):
    """Does what a client does that is closed in the middle of a `submit`."""

    closed = False

    def submit(self, function: Any, /, *args: Any, **named: Any) -> Future[Any]:
        if self.closed:
            raise RuntimeError("the client is closed")
        self.closed = True
        return Future()


def test_an_executor_that_forgets_a_task_loses_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_SILENCE", 0.01)
    with pytest.warns(RuntimeWarning, match="the executor lost a task"):
        found = dict(results(square, range(3), executor=_Forgets()))
    assert found == {0: 0, 1: 1, 2: 4}


def test_workers_that_lack_a_module_are_an_error(pool: ProcessPoolExecutor) -> None:
    with pytest.raises(CkptVizError, match="No module named 'not_here'; install"):
        list(results(import_elsewhere, range(3), executor=pool))


def test_more_workers_than_usual_have_work() -> None:
    together = Barrier(64, timeout=30)

    def meet(number: int) -> int:
        together.wait()
        return number

    with ThreadPoolExecutor(64) as executor:
        assert len(list(results(meet, range(128), executor=executor, in_flight=64))) == 128


def test_whoever_stops_early_cancels_what_has_not_begun() -> None:
    go_on, begun = Event(), []

    def slow(number: int) -> int:
        begun.append(number)
        if number:
            go_on.wait(10)
        return number

    with ThreadPoolExecutor(1) as executor:
        for _ in results(slow, range(1000), executor=executor):
            break
        go_on.set()
    assert len(begun) <= 2


def test_a_bar_appears_only_after_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("ckpt-1", 100) as on_read:
        on_read(50)
    assert "50" not in capsys.readouterr().err
