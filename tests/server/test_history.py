"""The endpoint `history`: lines while it is read, below the root, within the limits."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.timeline.view_payload import view_json
from ckpt_viz.entrances.server import processes
from tests.hostile.seeds import DIRECTORY
from tests.server.conftest import BASE_URL, Ask, Reply
from tests.support import history_fixtures
from tests.support.processes import bytes_read
from tests.support.tables import write_holes
from tests.support.waiting import until


@pytest.fixture
def run(root: Path) -> Path:
    directory = root / "run"
    directory.mkdir()
    history_fixtures.write_state(
        directory, history_fixtures.write(directory, history_fixtures.training())
    )
    return directory


def content_of(reply: Reply) -> dict[str, Any]:
    """Return the history that the lines of an answer make, as its view puts them together."""
    assert reply.status == 200, reply.json
    plans = [line["history"] for line in reply.json if line["part"] == "plan"]
    content: dict[str, Any] = plans[-1]
    for line in reply.json:
        for number, cells in line.get("rows", ()):
            content["rows"][number]["cells"] = cells
    last = reply.json[-1]
    assert last["part"] == "end", last
    told = ("headline", "sentences", "notes", "findings", "is_complete")
    return {**content, **{name: last[name] for name in told}}


def parts_of(reply: Reply) -> list[str]:
    return [line["part"] for line in reply.json]


def _of_package(directory: Path) -> Any:
    """Return the history of a directory, with contents paths in place of absolute ones."""
    content = json.dumps(view_json(cv.history(directory, progress=False)))
    return json.loads(content.replace(f"{directory.parent}/", ""))


@pytest.mark.parametrize("path", ["run", "run/checkpoint"])
async def test_the_history_is_that_of_the_package(path: str, run: Path, ask: Ask) -> None:
    reply = await ask("history", path=path)
    found = content_of(reply)
    assert found == _of_package(run)
    assert str(run.parent) not in json.dumps(reply.json)


async def test_the_first_line_has_the_variables_of_the_first_checkpoint(
    run: Path, ask: Ask
) -> None:
    first, *_ = (await ask("history", path="run")).json
    assert (first["part"], first["is_first"], first["title"]) == ("plan", True, "run")
    found = [one["title"] for one in first["history"]["checkpoints"]]
    assert found == [f"ckpt-{number}" for number in range(9)]
    rows = first["history"]["rows"]
    assert [row["place"] for row in rows] == [row.place for row in cv.history(run).rows[:-1]]
    assert {len(row["cells"]) for row in rows} == {0}


async def test_the_bytes_that_are_read_are_those_that_are_announced(run: Path, ask: Ask) -> None:
    lines = (await ask("history", path="run")).json
    rows = [line for line in lines if line["part"] == "rows"]
    assert rows[0]["total"] == rows[-1]["read"] > 0


async def test_what_was_read_is_not_read_again(run: Path, ask: Ask) -> None:
    await ask("history", path="run")
    reply = await ask("history", path="run")
    assert [line["read"] for line in reply.json if line["part"] == "rows"] == [0]
    assert content_of(reply)["is_complete"]


async def test_of_a_new_checkpoint_only_that_and_what_it_is_compared_with_are_read(
    root: Path, ask: Ask
) -> None:
    times = history_fixtures.training()
    for save, tensors in enumerate(times):
        tensors["table"] = history_fixtures._wave((500, 500), save)
    directory = root / "run"
    directory.mkdir()
    prefixes = history_fixtures.write(directory, times)
    for suffix in (".index", ".data-00000-of-00001"):
        shutil.move(prefixes[-1] + suffix, root / f"later{suffix}")
    history_fixtures.write_state(directory, prefixes[:-1])
    await ask("history", path="run")
    etag = (await ask("history", path="run", method="HEAD")).headers["Etag"]
    for suffix in (".index", ".data-00000-of-00001"):
        shutil.move(root / f"later{suffix}", prefixes[-1] + suffix)
    history_fixtures.write_state(directory, prefixes)
    assert (await ask("history", path="run", method="HEAD")).headers["Etag"] != etag
    reply = await ask("history", path="run")
    size = Path(prefixes[-1] + ".data-00000-of-00001").stat().st_size
    read = [line["read"] for line in reply.json if line["part"] == "rows"]
    assert size < read[-1] < 3.1 * size
    expected = _of_package(directory)
    found = content_of(reply)
    assert (found["rows"], found["findings"]) == (expected["rows"], expected["findings"])


@pytest.mark.parametrize("name", ["keras_run", "keras_shards"])
async def test_a_history_of_files_of_keras_is_that_of_the_package(
    name: str, root: Path, ask: Ask
) -> None:
    shutil.copytree(DIRECTORY / name, root / name)
    assert content_of(await ask("history", path=name)) == _of_package(root / name)
    tag = (await ask("history", path=name, method="HEAD")).headers["Etag"]
    for file in (root / name).iterdir():
        os.utime(file, ns=(0, 1))
        before, tag = tag, (await ask("history", path=name, method="HEAD")).headers["Etag"]
        assert tag != before


# --- questions


async def test_any_two_checkpoints_are_compared_as_in_a_kernel(run: Path, ask: Ask) -> None:
    etag = (await ask("history", path="run")).headers["Etag"]
    history = cv.history(run, progress=False)
    view = history.show()
    for question in (
        {"ask": "between", "a": 2, "b": 7},
        {"ask": "between", "a": 8, "b": 0},
        {"ask": "row", "row": 4},
        {"ask": "where", "row": 4, "a": 2, "b": 7},
    ):
        for tag in ({"etag": etag}, {}):
            reply = await ask("history", path="run", question=question, **tag)
            assert reply.status == 200, reply.json
            expected = json.loads(json.dumps(view._answer(question)[0]))
            assert reply.json == {"answer": expected, "buffers": []}
    view.close()


async def test_questions_need_no_history_that_was_read(run: Path, ask: Ask) -> None:
    row = await ask("history", path="run", question={"ask": "row", "row": 4})
    expected = cv.history(run, progress=False).rows[4]
    assert row.json["answer"]["row"]["cells"][3]["l2"] == expected.cells[3].l2


async def test_a_question_about_files_that_have_changed_is_refused(run: Path, ask: Ask) -> None:
    question = {"ask": "between", "a": 0, "b": 1}
    reply = await ask("history", path="run", question=question, etag="0123")
    assert (reply.status, reply.json["reason"]) == (409, "changed")


@pytest.mark.parametrize(
    "question", [{"ask": "values"}, {"ask": "row", "row": -1}, {"ask": "row", "row": 1e9}, {}]
)
async def test_other_questions_are_refused(run: Path, ask: Ask, question: Any) -> None:
    reply = await ask("history", path="run", question=question)
    assert (reply.status, reply.json["reason"]) == (400, "bad-request")


@pytest.mark.parametrize("options", [{"max_read_bytes": 300_000}])
async def test_a_question_reads_no_more_than_is_allowed(
    root: Path, ask: Ask, options: dict[str, Any]
) -> None:
    (root / "large").mkdir()
    times = [{"w": np.full(50_000, n, np.float32)} for n in range(2)]
    history_fixtures.write(root / "large", times)
    reply = await ask("history", path="large", question={"ask": "between", "a": 0, "b": 1})
    assert (reply.status, reply.json["reason"]) == (422, "unreadable")
    assert "of the 300000 that one request may read" in reply.json["message"]


# --- bad input


async def test_errors_do_not_tell_where_the_root_is(run: Path, root: Path, ask: Ask) -> None:
    (run / "ckpt-3.data-00000-of-00001").unlink()
    reply = await ask("history", path="run")
    errors = {row["cells"][3].get("error") for row in content_of(reply)["rows"]} - {None}
    assert any("run/ckpt-3.data-00000-of-00001: no such file" in one for one in errors)
    assert str(root) not in json.dumps(reply.json)


async def test_a_damaged_checkpoint_is_marked_and_the_others_are_shown(run: Path, ask: Ask) -> None:
    (run / "ckpt-3.index").write_bytes(b"\0" * 4000)
    with (run / "ckpt-5.data-00000-of-00001").open("r+b") as file:
        file.write(b"\xff" * 500)
    found = content_of(await ask("history", path="run"))
    assert [one["error"] is None for one in found["checkpoints"]] == [n != 3 for n in range(9)]
    assert {row["cells"][3]["state"] for row in found["rows"]} == {"damaged"}
    damaged = [row["cells"][5] for row in found["rows"] if row["cells"][5]["state"] == "damaged"]
    assert 0 < len(damaged) < 5
    assert all("crc32c" in cell["error"] for cell in damaged)


async def test_a_link_out_of_the_root_is_not_followed(run: Path, ask: Ask, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    history_fixtures.write(outside, history_fixtures.training(3, 2))
    for suffix in (".index", ".data-00000-of-00001"):
        (run / f"ckpt-4{suffix}").unlink()
        (run / f"ckpt-4{suffix}").symlink_to(outside / f"ckpt-1{suffix}")
    reply = await ask("history", path="run")
    found = content_of(reply)
    assert [one["error"] is None for one in found["checkpoints"]] == [n != 4 for n in range(9)]
    assert {row["cells"][4]["state"] for row in found["rows"]} == {"damaged"}
    assert str(tmp_path) not in json.dumps(reply.json)


async def test_values_behind_a_link_out_of_the_root_are_not_read(
    run: Path, ask: Ask, tmp_path: Path
) -> None:
    data = run / "ckpt-4.data-00000-of-00001"
    data.rename(tmp_path / "outside")
    data.symlink_to(tmp_path / "outside")
    reply = await ask("history", path="run")
    cells = [row["cells"][4] for row in content_of(reply)["rows"]]
    assert {cell["state"] for cell in cells} <= {"damaged", "equal", "absent"}
    errors = {cell["error"] for cell in cells if "error" in cell}
    assert errors
    assert all("leads out" in one for one in errors)
    assert str(tmp_path) not in json.dumps(reply.json)
    answer = await ask("history", path="run", question={"ask": "between", "a": 3, "b": 4})
    assert "damaged" in {cell["state"] for cell in answer.json["answer"]["cells"]}
    assert not any("l2" in cell and cell["l2"] for cell in answer.json["answer"]["cells"])


async def test_checkpoints_of_two_models_are_one_history_with_marks(root: Path, ask: Ask) -> None:
    (root / "two").mkdir()
    history_fixtures.write(root / "two", history_fixtures.training(3, 2))
    other = [{"encoder/w": history_fixtures._wave((4, 4), 1)}]
    (root / "other").mkdir()
    history_fixtures.write(root / "other", other)
    for suffix in (".index", ".data-00000-of-00001"):
        shutil.move(root / "other" / f"ckpt-0{suffix}", root / "two" / f"ckpt-7{suffix}")
    found = content_of(await ask("history", path="two"))
    assert [mark["at"] for mark in found["marks"]] == [2]
    states = {row["place"]: [cell["state"] for cell in row["cells"]] for row in found["rows"]}
    assert states["encoder.w"] == ["absent", "absent", "unread"]


async def test_a_directory_without_checkpoints_is_refused(root: Path, ask: Ask) -> None:
    (root / "empty").mkdir()
    reply = await ask("history", path="empty")
    assert (reply.status, reply.json["reason"]) == (404, "not-found")
    assert (await ask("history", path="../run")).status == 403
    assert (await ask("history", path="../run", method="HEAD")).status == 403


@pytest.mark.parametrize("options", [{"max_read_bytes": 1_000_000}])
async def test_a_request_reads_no_more_than_is_allowed_and_the_next_reads_on(
    root: Path, ask: Ask, options: dict[str, Any]
) -> None:
    """The tensor is larger than what a request reads: each reads more of its pieces."""
    (root / "large").mkdir()
    times = [
        {"a": np.full(900, n, np.float32), "w": np.full((500, 400), n * n, np.float32)}
        for n in range(3)
    ]
    history_fixtures.write(root / "large", times)
    reads = []
    for _ in range(9):
        lines = (await ask("history", path="large")).json
        reads.append(max(line["read"] for line in lines if line["part"] == "rows"))
        if lines[-1]["is_complete"]:
            break
        assert "one request may read 1.0 MB" in lines[-1]["why"]
    assert 2 < len(reads) < 6
    assert max(reads) <= 1_000_000
    expected = json.loads(json.dumps(view_json(cv.history(root / "large"))))["rows"]
    assert content_of(await ask("history", path="large"))["rows"] == expected


@pytest.mark.parametrize("options", [{"max_answer_bytes": 100}])
async def test_a_large_answer_is_refused(run: Path, ask: Ask, options: dict[str, Any]) -> None:
    reply = await ask("history", path="run")
    assert (reply.status, reply.json["reason"]) == (413, "too-large")
    assert "the history has more than the 100 bytes" in reply.json["message"]


@pytest.mark.parametrize("options", [{"max_answer_bytes": 3_000}])
async def test_an_answer_that_becomes_too_large_ends(
    run: Path, ask: Ask, options: dict[str, Any]
) -> None:
    reply = await ask("history", path="run")
    assert reply.status == 200
    assert parts_of(reply)[0] == "plan"
    assert (reply.json[-1]["part"], reply.json[-1]["reason"]) == ("refused", "too-large")


async def test_more_bytes_than_a_quick_request_reads_are_read(root: Path, ask: Ask) -> None:
    directory = root / "large"
    directory.mkdir()
    times = history_fixtures.training(3, 3)
    for save, tensors in enumerate(times):
        tensors["table"] = history_fixtures._wave((500, 500), save)
    history_fixtures.write(directory, times)
    rows = content_of(await ask("history", path="large"))["rows"]
    assert [row["cells"][2]["relative"] > 0 for row in rows if row["place"] == "table"] == [True]


@pytest.mark.slow
async def test_of_very_many_checkpoints_some_at_equal_distances_are_shown(
    root: Path, ask: Ask
) -> None:
    directory = root / "many"
    directory.mkdir()
    prefixes = history_fixtures.write(directory, [{"w": np.full(2, n, np.float32)} for n in (0, 1)])
    count = 4_180  # an odd number of them from one that is shown to the next
    for number in range(2, count):
        for ending in (".index", ".data-00000-of-00001"):
            os.link(f"{prefixes[number % 2]}{ending}", directory / f"ckpt-{number}{ending}")
    assert (await ask("history", path="many", method="HEAD")).status == 200
    found = content_of(await ask("history", path="many"))
    titles = [one["title"] for one in found["checkpoints"]]
    assert len(titles) == 200
    second, last = round((count - 1) / 199), count - 1
    assert (titles[0], titles[1], titles[-1]) == ("ckpt-0", f"ckpt-{second}", f"ckpt-{last}")
    assert {cell["state"] for cell in found["rows"][0]["cells"][1:]} == {"changed"}
    assert "200 checkpoints, by the number in the name" in found["notes"][0]
    assert found["notes"][1].startswith(f"{count - 200:,} checkpoints were skipped.")


async def test_checkpoints_that_are_deleted_while_it_reads_are_marked(
    root: Path, ask: Ask, lines_of: Any
) -> None:
    (root / "run").mkdir()
    for number in range(6):
        write_holes(root / "run" / f"ckpt-{number}", {"w": 128 << 20}, number=number)
    async with lines_of("run") as lines:
        while (await lines.next())["part"] != "rows":
            pass
        for ending in (".index", ".data-00000-of-00001"):
            (root / "run" / f"ckpt-5{ending}").unlink()
        last = [line async for line in lines]
    assert last[-1]["part"] == "end"
    ((_, cells),) = [row for line in last for row in line.get("rows", ())]
    assert "no such file" in cells[5]["error"] or "disappeared" in cells[5]["error"]


async def test_a_process_that_ends_while_it_reads_ends_the_lines_with_a_refusal(
    root: Path, ask: Ask, lines_of: Any
) -> None:
    (root / "run").mkdir()
    for number in range(16):
        write_holes(root / "run" / f"ckpt-{number}", {"a": 400, "w": 128 << 20}, number=number)
    await ask("history", path="run", method="HEAD")
    idle = {one.pid for one in processes.PROCESSES.idle}
    async with lines_of("run") as lines:
        while (await lines.next())["part"] != "rows":
            pass
        (busy,) = idle - {one.pid for one in processes.PROCESSES.idle}
        os.kill(busy, signal.SIGKILL)
        last = [line async for line in lines][-1]
    assert (last["part"], last["reason"]) == ("refused", "failed")


# --- who hangs up


class Lines:
    """The lines of an answer as they arrive."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._rest = b""

    async def next(self) -> Any:
        """Return the next line; raise StopAsyncIteration at the end."""
        while b"\n" not in self._rest:
            size = int(await self._reader.readline(), 16)
            if size == 0:
                raise StopAsyncIteration
            self._rest += await self._reader.readexactly(size)
            await self._reader.readline()
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def __aiter__(self) -> Lines:
        return self

    __anext__ = next


@pytest.fixture
def lines_of(jp_http_port: int, jp_auth_header: dict[str, str], jp_serverapp: Any) -> Any:
    """Asks for a history in a connection that closes at the end of the context."""

    @asynccontextmanager
    async def asked(path: str) -> AsyncIterator[Lines]:
        reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        url = f"{BASE_URL}ckpt-viz/api/v1/history?path={path}"
        headers = "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
        writer.write(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
        try:
            assert b" 200 " in await reader.readline()
            while await reader.readline() != b"\r\n":
                pass
            yield Lines(reader)
        finally:
            writer.close()

    return asked


@pytest.mark.parametrize("options", [{"max_read_bytes": 1 << 40}])
async def test_a_closed_connection_ends_the_reading_and_keeps_what_was_read(
    root: Path, ask: Ask, lines_of: Any, options: dict[str, Any]
) -> None:
    """Half a terabyte of holes would take minutes."""
    (root / "run").mkdir()
    sizes = {"a": 400, "w": 32 << 30}
    for number in range(16):
        write_holes(root / "run" / f"ckpt-{number}", sizes, number=number)
    async with lines_of("run") as lines:
        while (line := await lines.next())["part"] != "rows" or line["read"] < 300 << 20:
            pass
        total = line["total"]
        busy = {one.pid for one in processes.PROCESSES.idle}
    await until(lambda: {one.pid for one in processes.PROCESSES.idle} != busy, "the end of it")
    (process,) = [one for one in processes.PROCESSES.idle if one.pid not in busy]
    assert process.is_alive
    read = bytes_read(process.pid)
    assert read < total // 10
    await asyncio.sleep(0.3)
    assert bytes_read(process.pid) == read
    async with lines_of("run") as lines:  # the same process goes on
        while (line := await lines.next())["part"] != "rows":
            pass
        assert [number for number, _ in line["rows"]] == [0]
        assert line["total"] <= total - (128 << 20)  # 16 pieces of 8 MiB


@pytest.mark.parametrize("options", [{"max_read_bytes": 1 << 40, "max_seconds": 2.0}])
async def test_a_reading_that_takes_too_long_ends_with_what_was_read(
    root: Path, ask: Ask, options: dict[str, Any]
) -> None:
    (root / "run").mkdir()
    for number in range(16):
        write_holes(root / "run" / f"ckpt-{number}", {"a": 400, "w": 32 << 30}, number=number)
    lines = (await ask("history", path="run")).json
    assert (lines[-1]["part"], lines[-1]["is_complete"]) == ("end", False)
    assert lines[-1]["why"] == "reading took more than 2 s: read on"
    rows = [number for line in lines if line["part"] == "rows" for number, _ in line["rows"]]
    assert rows == [0]


async def test_a_question_does_not_wait_for_the_reading(
    root: Path, ask: Ask, lines_of: Any
) -> None:
    (root / "run").mkdir()
    for number in range(16):
        sizes = {"a": 400, "w": 32 << 30}
        write_holes(root / "run" / f"ckpt-{number}", sizes, number=number)
    async with lines_of("run") as lines:
        while (line := await lines.next())["part"] != "rows" or line["read"] < 1 << 20:
            pass
        answer = await ask("history", path="run", question={"ask": "row", "row": 0})
        assert answer.json["answer"]["row"]["key"] == "a"
        assert (await lines.next())["part"] == "rows"


async def test_a_large_history_reads_a_row_again_for_its_histograms(root: Path, ask: Ask) -> None:
    (root / "large").mkdir()
    rng = np.random.default_rng(3)
    times = [{f"w{n:04}": rng.random(3, np.float32) for n in range(1100)} for _ in range(3)]
    history_fixtures.write(root / "large", times)
    rows = content_of(await ask("history", path="large"))["rows"]
    assert not any("histogram" in cell["values"] for row in rows for cell in row["cells"])
    reply = await ask("history", path="large", question={"ask": "row", "row": 7})
    expected = json.loads(json.dumps(cv.history(root / "large", progress=False).to_json()))
    assert reply.json["answer"]["row"] == expected["rows"][7]
    assert content_of(await ask("history", path="large"))["rows"] == rows
