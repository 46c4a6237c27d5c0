"""What takes long takes it from nobody else, and is done once."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.server import graphs
from ckpt_viz.server.graphs import Page, read_page
from ckpt_viz.server.paths import Asked
from ckpt_viz.server.refusals import Refusal
from ckpt_viz.server.service import Pages
from ckpt_viz.server.workers import Workers
from tests.hostile.seeds import DIRECTORY
from tests.server.conftest import Ask


class Slow:
    """A reader that waits until it may read."""

    def __init__(self) -> None:
        self.may_read = threading.Event()
        self.began: list[str] = []
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, asked: Asked, most_bytes: int) -> Page:
        with self._lock:
            self.began.append(asked.path)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        assert self.may_read.wait(30)
        with self._lock:
            self.at_once -= 1
        return read_page(asked, most_bytes)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[Slow]:
    shutil.copytree(DIRECTORY, root, dirs_exist_ok=True)
    reader = Slow()
    monkeypatch.setattr(graphs, "read_page", reader)
    yield reader
    reader.may_read.set()


async def _until(condition: Any) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("waited in vain")


async def test_others_are_answered_while_a_graph_is_read(
    slow: Slow, ask: Ask, jp_fetch: Any
) -> None:
    reading = asyncio.ensure_future(ask("graph", path="adam"))
    await _until(lambda: slow.began)
    assert (await ask("version")).status == 200
    assert (await ask("graph", path="adam", method="HEAD")).status == 200
    assert (await ask("graph", path="nothing")).status == 404
    assert (await jp_fetch("api", "contents")).code == 200
    assert not reading.done()
    slow.may_read.set()
    assert (await reading).status == 200


async def test_identical_requests_share_one_read(slow: Slow, ask: Ask) -> None:
    question = {"ask": "values", "node": 1}
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in ["adam"] * 5]
    requests += [
        asyncio.ensure_future(ask("answer", path="adam", question=question)) for _ in range(3)
    ]
    await _until(lambda: slow.began)
    await asyncio.sleep(0.3)
    slow.may_read.set()
    assert [(await request).status for request in requests] == [200] * 8
    assert slow.began == ["adam"]
    assert (await ask("answer", path="adam", question=question)).status == 200
    assert slow.began == ["adam"]  # it was kept


@pytest.mark.parametrize("options", [{"max_reads": 2, "max_waiting": 4}])
async def test_reads_at_a_time_and_reads_that_wait_are_bounded(slow: Slow, ask: Ask) -> None:
    paths = ["adam", "state", "values/ckpt", "partitioned/model"]
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in paths]
    await _until(lambda: len(slow.began) == 2)
    await asyncio.sleep(0.3)
    refused = await ask("graph", path="saved_model")
    assert (refused.status, refused.json["reason"]) == (503, "busy")
    assert refused.headers["Retry-After"] == "2"
    slow.may_read.set()
    assert [(await request).status for request in requests] == [200] * 4
    assert slow.most_at_once == 2
    assert (await ask("graph", path="saved_model")).status == 200


@pytest.mark.parametrize("options", [{"max_kept_graphs": 2}])
async def test_few_graphs_are_kept(slow: Slow, ask: Ask) -> None:
    slow.may_read.set()
    for path in ("adam", "state", "adam", "values/ckpt", "adam", "state"):
        assert (await ask("graph", path=path)).status == 200
    assert slow.began == ["adam", "state", "values/ckpt", "state"]


async def test_who_gives_up_does_not_take_the_answer_from_others() -> None:
    workers, may_end = Workers("test", 1, 1), threading.Event()

    def job() -> int:
        may_end.wait(10)
        return 7

    first, second = (asyncio.ensure_future(workers.run("same", job)) for _ in range(2))
    await asyncio.sleep(0.05)
    first.cancel()
    with pytest.raises(Refusal):
        await workers.run("other", job)
    may_end.set()
    assert await second == 7
    await asyncio.sleep(0)
    assert await workers.run("other", lambda: 8) == 8


def test_kept_graphs_are_bounded_in_nodes(tmp_path: Path) -> None:
    shutil.copytree(DIRECTORY, tmp_path, dirs_exist_ok=True)
    page = read_page(Asked(str(tmp_path), False, "adam", None), 1 << 20)
    compared = read_page(Asked(str(tmp_path), False, "adam", "state"), 1 << 20)
    assert compared.node_count > 2 * page.node_count
    pages = Pages(10, 2 * page.node_count)
    asked = [Asked("/", False, str(number), None) for number in range(4)]
    for one in asked[:3]:
        pages.keep((one, "etag"), page)
    assert [pages.get((one, "etag")) for one in asked[:3]] == [None, page, page]
    pages.keep((asked[3], "etag"), compared)
    assert (len(pages), pages.get((asked[3], "etag"))) == (1, compared)
    pages.keep((asked[3], "other"), page)
    assert (len(pages), pages.get((asked[3], "etag"))) == (1, None)
