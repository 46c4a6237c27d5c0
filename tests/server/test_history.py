"""The endpoint `history`: below the root, within the limits."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.timeline.view_payload import encode
from tests.server.conftest import Ask
from tests.support import history_fixtures


@pytest.fixture
def run(root: Path) -> Path:
    directory = root / "run"
    directory.mkdir()
    prefixes = history_fixtures.write(directory, history_fixtures.training())
    lines = [f'model_checkpoint_path: "{Path(prefixes[-1]).name}"']
    lines += [f'all_model_checkpoint_paths: "{Path(one).name}"' for one in prefixes]
    (directory / "checkpoint").write_text("\n".join(lines))
    return directory


def content_of(payload: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(payload)))
    return content


@pytest.mark.parametrize("path", ["run", "run/checkpoint"])
async def test_the_history_is_that_of_the_package(path: str, run: Path, ask: Ask) -> None:
    reply = await ask("history", path=path)
    assert reply.status == 200, reply.json
    found = content_of(reply.json["payload"])
    history = cv.history(run, progress=False)
    expected = json.loads(gzip.decompress(encode(history)))
    for number, one in enumerate(expected["checkpoints"]):
        one["path"] = f"run/ckpt-{number}"
    assert found == expected
    assert str(run.parent) not in json.dumps(found)


async def test_errors_do_not_tell_where_the_root_is(run: Path, root: Path, ask: Ask) -> None:
    (run / "ckpt-3.data-00000-of-00001").unlink()
    found = content_of((await ask("history", path="run")).json["payload"])
    errors = {row["cells"][3].get("error") for row in found["rows"]} - {None}
    assert any("run/ckpt-3.data-00000-of-00001: no such file" in one for one in errors)
    assert str(root) not in json.dumps(found)


async def test_a_link_out_of_the_root_is_not_followed(run: Path, ask: Ask, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    history_fixtures.write(outside, history_fixtures.training(3, 2))
    for suffix in (".index", ".data-00000-of-00001"):
        (run / f"ckpt-4{suffix}").unlink()
        (run / f"ckpt-4{suffix}").symlink_to(outside / f"ckpt-1{suffix}")
    found = content_of((await ask("history", path="run")).json["payload"])
    assert [one["error"] is None for one in found["checkpoints"]] == [n != 4 for n in range(9)]
    assert {row["cells"][4]["state"] for row in found["rows"]} == {"damaged"}
    assert str(tmp_path) not in json.dumps(found)


async def test_values_behind_a_link_out_of_the_root_are_refused(
    run: Path, ask: Ask, tmp_path: Path
) -> None:
    data = run / "ckpt-4.data-00000-of-00001"
    data.rename(tmp_path / "outside")
    data.symlink_to(tmp_path / "outside")
    reply = await ask("history", path="run")
    assert (reply.status, reply.json["reason"]) == (403, "outside")


async def test_a_directory_without_checkpoints_is_refused(root: Path, ask: Ask) -> None:
    (root / "empty").mkdir()
    reply = await ask("history", path="empty")
    assert (reply.status, reply.json["reason"]) == (404, "not-found")
    assert (await ask("history", path="../run")).status == 403


@pytest.mark.parametrize("options", [{"max_read_bytes": 20_000}])
async def test_values_of_too_many_bytes_are_refused(
    run: Path, ask: Ask, options: dict[str, Any]
) -> None:
    reply = await ask("history", path="run")
    assert (reply.status, reply.json["reason"]) == (422, "unreadable")
    assert "of the 20000 that may be read" in reply.json["message"], reply.json


@pytest.mark.parametrize("options", [{"max_answer_bytes": 1_000}])
async def test_a_large_answer_is_refused(run: Path, ask: Ask, options: dict[str, Any]) -> None:
    reply = await ask("history", path="run")
    assert (reply.status, reply.json["reason"]) == (413, "too-large")
    assert "the history has" in reply.json["message"]


async def test_more_bytes_than_a_quick_request_reads_are_read(root: Path, ask: Ask) -> None:
    directory = root / "large"
    directory.mkdir()
    times = history_fixtures.training(3, 3)
    for save, tensors in enumerate(times):
        tensors["table"] = history_fixtures._wave((500, 500), save)
    history_fixtures.write(directory, times)
    reply = await ask("history", path="large")
    assert reply.status == 200, reply.json
    rows = content_of(reply.json["payload"])["rows"]
    assert [row["cells"][2]["relative"] > 0 for row in rows if row["place"] == "table"] == [True]
