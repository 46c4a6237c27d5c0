"""A slow job delays no other job, and runs once."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from benchmarks.server_load import write_layers
from ckpt_viz.entrances.server import processes
from ckpt_viz.entrances.server.graphs import read_page
from ckpt_viz.entrances.server.messages import QUICK_BYTES, Asked, Job
from ckpt_viz.entrances.server.options import CkptViz
from ckpt_viz.entrances.server.processes import Processes
from ckpt_viz.entrances.server.refusals import RefusedRequest
from ckpt_viz.entrances.server.workers import KeptGraph, Pages, Workers
from tests.hostile.seeds import DIRECTORY
from tests.server.conftest import BASE_URL, Ask, Slow
from tests.support.processes import bytes_read
from tests.support.tables import write_holes
from tests.support.waiting import until


async def test_others_are_answered_while_a_graph_is_read(
    slow: Slow, ask: Ask, jp_fetch: Any
) -> None:
    reading = asyncio.ensure_future(ask("graph", path="adam"))
    await until(lambda: slow.began)
    assert (await ask("version")).status == 200
    assert (await ask("graph", path="adam", method="HEAD")).status == 200
    assert (await ask("graph", path="nothing")).status == 404
    assert (await jp_fetch("api", "contents")).code == 200
    assert not reading.done()
    slow.let_go()
    assert (await reading).status == 200


async def test_identical_requests_share_one_read(slow: Slow, ask: Ask) -> None:
    question = {"ask": "values", "node": 1}
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in ["adam"] * 5]
    requests += [
        asyncio.ensure_future(ask("answer", path="adam", question=question)) for _ in range(3)
    ]
    await until(lambda: slow.began)
    await asyncio.sleep(0.3)
    slow.let_go()
    assert [(await request).status for request in requests] == [200] * 8
    assert slow.began == ["adam"]
    assert (await ask("answer", path="adam", question=question)).status == 200
    assert slow.began == ["adam"]  # it was kept


@pytest.mark.parametrize("options", [{"max_reads": 2, "max_waiting": 4}])
async def test_large_reads_at_a_time_and_those_that_wait_are_bounded(slow: Slow, ask: Ask) -> None:
    slow.are_long()
    paths = ["adam", "state", "values/ckpt", "partitioned/model", "saved_model"]
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in paths]
    (done,), waiting = await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
    refused = await done
    assert (refused.status, refused.json["reason"]) == (503, "busy")
    assert refused.headers["Retry-After"] == "2"
    await until(lambda: len(slow.began) == 2)
    slow.let_go()
    assert [(await request).status for request in waiting] == [200] * 4
    assert slow.most_at_once == 2
    assert (await ask("graph", path="saved_model")).status == 200


@pytest.mark.parametrize("options", [{"max_waiting_bytes": 1500}])
async def test_reads_that_wait_are_bounded_in_bytes(slow: Slow, ask: Ask) -> None:
    slow.are_long()
    reading = asyncio.ensure_future(ask("graph", path="adam"))
    await until(lambda: slow.began)
    refused = await ask("graph", path="state")
    assert (refused.status, refused.json["reason"]) == (503, "busy")
    assert "1000 bytes of other checkpoints" in refused.json["message"]
    slow.let_go()
    assert (await reading).status == 200


@pytest.mark.parametrize("options", [{"max_reads": 1, "max_waiting": 1}])
async def test_file_that_looks_large_is_read_or_refused_without_a_quick_attempt(
    slow: Slow, ask: Ask, root: Path
) -> None:
    slow.are_long()  # these jobs tell of each quick attempt
    for name in ("large", "larger"):
        write_layers(str(root / name), 30_000)
        assert (root / f"{name}.index").stat().st_size > QUICK_BYTES
    reading = asyncio.ensure_future(ask("graph", path="large"))
    await until(lambda: slow.began)
    refused = await ask("graph", path="larger")
    assert (refused.status, refused.json["reason"]) == (503, "busy")
    assert (await ask("graph", path="small")).status == 200
    slow.let_go()
    assert (await reading).status == 200
    assert slow.paths("large") == []
    reply = await ask("answer", path="large", question={"ask": "values", "node": 2})
    assert reply.status == 200
    assert slow.began == ["large"]  # what is kept is asked at once


async def test_answers_that_are_not_sent_yet_are_bounded_in_bytes() -> None:
    workers = _workers(Processes(), most_bytes=100)
    with workers.sending(101), pytest.raises(RefusedRequest, match="101 bytes of other answers"):
        await workers.run(Job("about", "1"))


async def test_small_graphs_are_read_beside_large_ones(slow: Slow, ask: Ask) -> None:
    slow.are_long()
    paths = ["adam", "state", "values/ckpt", "partitioned/model"]
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in paths]
    await until(lambda: len(slow.began) == 2)
    assert (await ask("graph", path="small")).status == 200
    assert (await ask("answer", path="small", question={"ask": "values", "node": 1})).status == 200
    assert not any(request.done() for request in requests)
    slow.let_go()
    assert [(await request).status for request in requests] == [200] * 4


# --- what takes too long, or too much


@pytest.mark.parametrize("options", [{"max_seconds": 2.0}])
async def test_read_that_takes_too_long_is_ended_and_the_next_one_is_read(
    slow: Slow, ask: Ask
) -> None:
    reply = await ask("graph", path="adam")
    assert (reply.status, reply.json["reason"]) == (504, "too-slow")
    assert "adam: reading it took more than 2 s" in reply.json["message"]
    await until(lambda: not _is_there(_began(slow)))
    slow.let_go()
    assert (await ask("graph", path="adam")).status == 200


async def test_small_read_that_takes_long_is_a_long_one(
    slow: Slow, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckpt_viz.entrances.server.workers._QUICK_SECONDS", 1.0)
    requests = [asyncio.ensure_future(ask("graph", path=path)) for path in ("adam", "state")]
    await until(lambda: len(slow.began) == 4)  # each began twice
    assert (await ask("graph", path="adam", method="HEAD")).status == 200
    slow.let_go()
    assert [(await request).status for request in requests] == [200] * 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere memory has no limit")
# Half of it is the address space of Python, NumPy and a thread.
@pytest.mark.parametrize("options", [{"max_memory_bytes": 220 << 20}])
async def test_graph_that_does_not_fit_into_memory_is_refused(root: Path, ask: Ask) -> None:
    write_layers(str(root / "large"), 60_000)
    write_layers(str(root / "small"), 5)
    reply = await ask("graph", path="large")
    assert (reply.status, reply.json["reason"]) == (413, "too-large"), reply.json
    assert "c.CkptViz.max_memory_bytes" in reply.json["message"]
    assert (await ask("graph", path="small")).status == 200


# --- who hangs up


def _request(url: str, asked: str, headers: dict[str, str]) -> bytes:
    lines = [f"GET {url}/{asked} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


@pytest.fixture
def hanging_up(jp_http_port: int, jp_auth_header: dict[str, str], send: Ask) -> Any:
    """Asks for a graph, or a question about it, in a connection that can be closed."""

    async def asked(path: str, question: object = None) -> asyncio.StreamWriter:
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        said = f"graph?path={path}"
        if question is not None:
            said = f"answer?path={path}&question={quote(json.dumps(question))}"
        writer.write(_request(f"{BASE_URL}ckpt-viz/api/v1", said, jp_auth_header))
        return writer

    return asked


@pytest.mark.parametrize("options", [{"max_reads": 1}])
async def test_read_without_a_client_does_not_begin(
    slow: Slow, ask: Ask, hanging_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    noticed: list[str] = []
    give_up = Workers._give_up

    def noted(workers: Workers, task: Any) -> None:
        noticed.append(task.job.asked.path)
        give_up(workers, task)

    monkeypatch.setattr(Workers, "_give_up", noted)
    slow.are_long()
    reading = asyncio.ensure_future(ask("graph", path="adam"))
    await until(lambda: slow.began)
    connection = await hanging_up("state")
    await until(lambda: "state" in slow.paths("large"))
    connection.close()
    await until(lambda: noticed == ["state"])
    last = asyncio.ensure_future(ask("graph", path="values/ckpt"))
    await until(lambda: "values/ckpt" in slow.paths("large"))
    slow.let_go()
    assert [(await request).status for request in (reading, last)] == [200] * 2
    assert slow.began == ["adam", "values/ckpt"]


async def test_quick_read_without_a_client_does_not_begin_again(
    slow: Slow, ask: Ask, hanging_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckpt_viz.entrances.server.workers._QUICK_SECONDS", 0.5)
    connection = await hanging_up("adam")
    await until(lambda: slow.began)
    connection.close()
    await until(lambda: not _is_there(_began(slow)))
    slow.let_go()
    assert (await ask("graph", path="state")).status == 200
    assert slow.began == ["adam", "state"]


@pytest.mark.parametrize("options", [{"max_reads": 1}])
async def test_read_whose_clients_have_gone_is_ended(slow: Slow, ask: Ask, hanging_up: Any) -> None:
    slow.are_long()
    connection = await hanging_up("adam")
    await until(lambda: slow.began)
    waiting = asyncio.ensure_future(ask("graph", path="state"))
    connection.close()
    await until(lambda: not _is_there(_began(slow)))
    await until(lambda: slow.began == ["adam", "state"])
    slow.let_go()
    assert (await waiting).status == 200
    assert slow.paths("ended") == ["state"]


@pytest.mark.parametrize("options", [{"max_read_bytes": 1 << 40}])
async def test_reading_of_values_ends_with_its_client(
    root: Path, ask: Ask, hanging_up: Any, options: dict[str, Any]
) -> None:
    write_holes(root / "large", {"w": 256 << 30}, number=1)  # it would take minutes
    assert (await ask("graph", path="large")).status == 200
    before = _idle()
    connection = await hanging_up("large", {"ask": "measures"})
    await until(lambda: _idle() != before)
    (busy,) = before - _idle()
    connection.close()
    await until(lambda: not _is_there(busy) or busy in _idle())
    assert not _is_there(busy) or bytes_read(busy) < (256 << 30) // 10


def _idle() -> set[int]:
    return {one.pid for one in processes.PROCESSES.idle}


def _began(slow: Slow) -> int:
    return next(line.pid for line in slow.log if line.what == "began")


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- what is kept


@pytest.mark.parametrize("options", [{"max_kept_graphs": 2}])
async def test_few_graphs_are_kept(slow: Slow, ask: Ask) -> None:
    slow.let_go()
    for path in ("adam", "state", "adam", "values/ckpt", "adam", "state"):
        assert (await ask("graph", path=path)).status == 200
    assert slow.began == ["adam", "state", "values/ckpt", "state"]


def _workers(processes: Processes, most_jobs: int = 1, most_bytes: int = 1 << 20) -> Workers:
    options = CkptViz(
        max_reads=1, max_waiting=most_jobs, max_waiting_bytes=most_bytes, max_seconds=30.0
    )
    return Workers(processes, options)


async def test_who_gives_up_does_not_take_the_answer_from_others(slow: Slow, root: Path) -> None:
    slow.are_long()
    workers = _workers(slow.processes)
    same, other = (
        Job("graph", "1", Asked(str(root), False, path, None), "etag") for path in ("adam", "state")
    )
    first, second = (asyncio.ensure_future(workers.run(same)) for _ in range(2))
    await until(lambda: slow.began)
    first.cancel()
    with pytest.raises(RefusedRequest):
        await workers.run(other)
    slow.let_go()
    assert b"payload" in (await second).body
    assert b"payload" in (await workers.run(other)).body
    assert slow.began == ["adam", "state"]


def test_kept_graphs_are_bounded_in_nodes_and_bytes(tmp_path: Path) -> None:
    shutil.copytree(DIRECTORY, tmp_path, dirs_exist_ok=True)
    page = read_page(Asked(str(tmp_path), False, "adam", None), 1 << 20)
    compared = read_page(Asked(str(tmp_path), False, "adam", "state"), 1 << 20)
    assert compared.node_count > 2 * page.node_count
    assert compared.byte_count > 2 * page.byte_count
    asked = [Asked("/", False, str(number), None) for number in range(4)]
    small = KeptGraph("etag", page.node_count, page.byte_count)
    large = KeptGraph("etag", compared.node_count, compared.byte_count)
    for bounds in ((10, 2 * page.node_count, 1 << 30), (10, 1 << 30, 2 * page.byte_count)):
        pages = Pages(*bounds)
        for one in asked[:3]:
            pages.keep(one, small)
        assert pages.names() == [one.page("etag") for one in asked[1:3]]
        pages.keep(asked[3], large)
        assert pages.names() == [asked[3].page("etag")]
        pages.keep(asked[3], small._replace(etag="other"))
        assert pages.names() == [asked[3].page("other")]
