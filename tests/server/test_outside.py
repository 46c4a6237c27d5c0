"""The server reads, opens and describes no file outside of its root, for any request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fsspec
import pytest

from tests.hostile.seeds import DIRECTORY
from tests.server.conftest import Ask, Reply
from tests.support.tables import floats, write_bundle

SECRET = "a_name_that_nobody_may_see"


@pytest.fixture
def outside(tmp_path: Path, root: Path) -> Path:
    """A directory beside the root, with checkpoints of every kind, and one in the root."""
    directory = tmp_path / "outside"
    shutil.copytree(DIRECTORY, directory)
    write_bundle(directory / "ckpt-1", {SECRET: floats(1.0)})
    (directory / ".hidden").mkdir()
    shutil.copytree(directory / "state", root / "state")
    return directory


def expect_refusal(reply: Reply, outside: Path, *, status: int = 403) -> None:
    assert reply.status == status, reply
    assert reply.json["reason"] == ("outside" if status == 403 else "not-found")
    said = json.dumps(reply.json)
    assert len(reply.json["message"].split()) >= 4
    assert SECRET not in said
    assert str(outside) not in said


@pytest.mark.parametrize("endpoint", ["graph", "answer", "against", "head"])
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("../outside/ckpt-1", 403),
        ("state/../../outside/ckpt-1", 403),
        ("state/../state", 403),
        ("..", 403),
        ("%2e%2e/outside/ckpt-1", 403),
        ("%2E%2E%2Foutside%2Fckpt-1", 403),
        ("..%2foutside%2fckpt-1", 403),
        ("%252e%252e/outside/ckpt-1", 404),
        ("%252e%252e%252foutside%252fckpt-1", 404),
        ("..%5coutside%5cckpt-1", 404),
        ("%5c%5cserver%5cshare%5cckpt-1", 404),
        ("{outside}/ckpt-1", 404),
        ("/{outside}/ckpt-1", 404),
        ("%2F%2F{outside}/ckpt-1", 404),
        ("state/ckpt-1%00", 404),
        ("%00", 404),
        ("~/ckpt-1", 404),
        ("~root/ckpt-1", 404),
        ("file:///{outside}/ckpt-1", 404),
        ("gs://bucket/ckpt-1", 404),
        ("memory://ckpt-1", 404),
        ("http://localhost:1/ckpt-1", 404),
    ],
)
async def test_paths_that_lead_out_are_refused(
    endpoint: str, path: str, status: int, outside: Path, send: Ask
) -> None:
    asked = path.replace("{outside}", quote(str(outside)))
    urls = {
        "graph": f"graph?path={asked}",
        "head": f"graph?path={asked}",
        "against": f"graph?path=state&against={asked}",
        "answer": f"answer?path={asked}&question={quote(json.dumps({'ask': 'values', 'node': 1}))}",
    }
    reply = await send(urls[endpoint], "HEAD" if endpoint == "head" else "GET")
    if endpoint == "head":
        assert reply.status == status
    else:
        assert reply.status == status, reply
        assert reply.json["reason"] == ("outside" if status == 403 else "not-found")
        assert SECRET not in json.dumps(reply.json)


def _link(at: Path, to: Path) -> None:
    at.unlink(missing_ok=True)
    at.symlink_to(to)


async def _both(ask: Ask, path: str) -> Reply:
    """Ask for a graph and for its ETag, which are refused alike."""
    head = await ask("graph", path=path, method="HEAD")
    reply = await ask("graph", path=path)
    assert head.status == reply.status
    return reply


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("link", "", "link/ckpt-1"),
        ("link", "", "link"),
        ("link", "state", "link/checkpoint"),
        ("link", "saved_model", "link"),
        ("link.index", "ckpt-1.index", "link"),
        ("link.index", "ckpt-1.index", "link.index"),
        ("link.index", "nothing.index", "link.index"),
        ("state/checkpoint", "state/checkpoint", "state"),
        ("state/ckpt-2.index", "state/ckpt-2.index", "state"),
        ("state/ckpt-2.data-00000-of-00001", "state/ckpt-2.data-00000-of-00001", "state"),
        ("state/ckpt-2.meta", "name_based/model.meta", "state"),
        ("state/ckpt-2.data-00000-of-00001", "nothing", "state/ckpt-2"),
    ],
)
async def test_links_that_lead_out_are_refused(
    link: str, target: str, path: str, outside: Path, root: Path, ask: Ask
) -> None:
    _link(root / link, outside / target)
    expect_refusal(await _both(ask, path), outside)


@pytest.mark.parametrize("name", ["saved_model.pb", "keras_metadata.pb", "variables"])
async def test_parts_of_a_saved_model_that_lead_out_are_refused(
    name: str, outside: Path, root: Path, ask: Ask
) -> None:
    shutil.copytree(DIRECTORY / "saved_model", root / "model")
    assert (await ask("graph", path="model")).status == 200
    if name == "variables":
        shutil.rmtree(root / "model" / name)
    _link(root / "model" / name, outside / "saved_model" / name)
    expect_refusal(await _both(ask, "model"), outside)


@pytest.mark.parametrize("name", ["model-00000-of-00002", "model-00001-of-00002"])
async def test_shards_of_v1_that_lead_out_are_refused(
    name: str, outside: Path, root: Path, ask: Ask
) -> None:
    for number in range(2):
        shutil.copy(DIRECTORY / "name_based_v1/model", root / f"model-{number:05d}-of-00002")
    _link(root / name, outside / "name_based_v1" / "model")
    expect_refusal(await _both(ask, "model"), outside)


async def test_shard_that_becomes_a_link_is_refused_when_a_value_is_asked_for(
    outside: Path, root: Path, ask: Ask
) -> None:
    write_bundle(root / "ckpt", {"a": floats(1.0)})
    question = {"ask": "values", "node": 1}
    assert (await ask("answer", path="ckpt", question=question)).status == 200
    shard = "ckpt.data-00000-of-00001"
    shutil.copy(root / shard, outside / shard)
    _link(root / shard, outside / shard)
    expect_refusal(await ask("answer", path="ckpt", question=question), outside)


def test_values_that_are_read_later_are_confined(outside: Path, root: Path) -> None:
    """Without the look at the files before: the graph is at hand, and its shard now a link."""
    from ckpt_viz.entrances.server.graphs import answer_json, read_page
    from ckpt_viz.entrances.server.messages import Asked
    from ckpt_viz.errors import OutsideError

    write_bundle(root / "ckpt", {"a": floats(1.0)})
    asked = Asked(str(root), False, "ckpt", None)
    page = read_page(asked, 1 << 20)
    shard = "ckpt.data-00000-of-00001"
    shutil.copy(root / shard, outside / shard)
    _link(root / shard, outside / shard)
    with pytest.raises(OutsideError, match=r"^ckpt\.data-00000-of-00001: leads out"):
        answer_json(page, asked, {"ask": "values", "node": 1}, None, 1 << 20, 1 << 20)


@pytest.mark.parametrize("latest", ["{outside}/ckpt-1", "../../outside/ckpt-1"])
async def test_state_file_that_names_what_lies_outside_is_refused(
    latest: str, outside: Path, root: Path, ask: Ask
) -> None:
    (root / "run").mkdir()
    named = latest.format(outside=outside)
    (root / "run" / "checkpoint").write_text(f'model_checkpoint_path: "{named}"')
    for path in ("run", "run/checkpoint"):
        reply = await _both(ask, path)
        assert (reply.status, reply.json["reason"]) == (403, "outside")
        assert "names" in reply.json["message"]
        assert SECRET not in json.dumps(reply.json)


async def test_state_file_whose_paths_are_those_of_another_machine_still_leads_to_the_files(
    root: Path, outside: Path, ask: Ask
) -> None:
    (root / "state/checkpoint").write_text(f'model_checkpoint_path: "{outside}/ckpt-2"')
    reply = await ask("graph", path="state")
    assert (reply.status, reply.json["title"]) == (200, "state/ckpt-2"), reply.json


async def test_kept_checkpoints_outside_are_listed_without_a_path(
    root: Path, outside: Path, ask: Ask
) -> None:
    _link(root / "state/ckpt-1.index", outside / "state/ckpt-1.index")  # an archive, say
    reply = await ask("graph", path="state")
    assert reply.status == 200, reply.json
    assert [(one["path"], one["exists"]) for one in reply.json["kept"]] == [
        (None, False),
        ("state/ckpt-2", True),
    ]


@pytest.mark.parametrize("scheme", ["gs", "s3", "http", "https", "memory", "file", "local"])
async def test_no_file_makes_the_server_ask_another_machine(
    scheme: str, root: Path, outside: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def url_to_fs(path: str, **_: Any) -> Any:
        asked.append(path)
        raise OSError(path)

    monkeypatch.setattr(fsspec.core, "url_to_fs", url_to_fs)
    (root / "run").mkdir()
    url = f"{scheme}://{outside}/ckpt-1"
    (root / "run" / "checkpoint").write_text(
        f'model_checkpoint_path: "{url}"\nall_model_checkpoint_paths: "{url}"\n'
    )
    for path in ("run", "run/checkpoint", url, f"{scheme}:/{outside}/ckpt-1"):
        reply = await _both(ask, path)
        assert reply.status in (403, 404)
        assert reply.json["reason"] in ("outside", "not-found")
        assert SECRET not in json.dumps(reply.json)
    assert asked == []


# --- what is hidden


@pytest.mark.parametrize(
    "path", [".secret/ckpt", ".secret", "a/.deep/b/ckpt", ".ckpt", ".ckpt.index", "link", "a/link"]
)
async def test_hidden_files_are_not_there_unless_they_may_be_shown(
    path: str, root: Path, outside: Path, ask: Ask, jp_serverapp: Any
) -> None:
    for directory in (".secret", "a/.deep/b"):
        (root / directory).mkdir(parents=True)
        write_bundle(root / directory / "ckpt", {SECRET: floats(1.0)})
    write_bundle(root / ".ckpt", {SECRET: floats(1.0)})
    (root / "link").symlink_to(root / ".secret")
    (root / "a/link").symlink_to("../.secret")
    reply = await _both(ask, path)
    expect_refusal(reply, outside, status=404)
    jp_serverapp.contents_manager.allow_hidden = True
    assert (await ask("graph", path=path)).status == 200


async def test_hints_name_nothing_hidden(root: Path, ask: Ask) -> None:
    write_bundle(root / ".ckpt-1", {"a": floats(1.0)})
    write_bundle(root / "ckpt-1", {"a": floats(1.0)})
    reply = await ask("graph", path="ckpt-12")
    assert "did you mean ckpt-1?" in reply.json["message"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("rums/ckpt-1", "no directory rums; did you mean runs/ckpt-1?"),
        ("runt2/ckpt-1", "no directory runt2; did you mean runs/ckpt-1?"),
        ("runs/ckpt-2", "expected a file runs/ckpt-2.index; did you mean runs/ckpt-1?"),
        ("below", "a directory without a checkpoint; expected a prefix such as below/ckpt-1"),
    ],
)
async def test_links_beside_a_missing_file_that_lead_out_change_no_answer(
    path: str, said: str, outside: Path, root: Path, ask: Ask
) -> None:
    for name in ("runs", "below"):
        (root / name).mkdir()
    write_bundle(root / "runs" / "ckpt-1", {"a": floats(1.0)})
    for link in ("rumt", "runt", "runs/more", "below/more"):
        (root / link).symlink_to(outside)
    (root / "runs" / "ckpt-3.index").symlink_to(outside / "ckpt-1.index")
    (root / "below" / "old").symlink_to(outside / "name_based_v1" / "model")
    reply = await _both(ask, path)
    expect_refusal(reply, outside, status=404)
    assert reply.json["message"].endswith(said)


# --- what leads nowhere else


async def test_links_inside_are_followed(root: Path, outside: Path, ask: Ask) -> None:
    (root / "link").symlink_to("state")
    (root / "absolute").symlink_to(root / "state")
    (root / "one.index").symlink_to("state/ckpt-1.index")
    (root / "one.data-00000-of-00001").symlink_to("state/ckpt-1.data-00000-of-00001")
    for path, title in (
        ("link", "link/ckpt-2"),
        ("absolute/ckpt-1", "absolute/ckpt-1"),
        ("one", "one"),
    ):
        reply = await ask("graph", path=path)
        assert (reply.status, reply.json["title"]) == (200, title)


@pytest.fixture
def jp_root_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The root; a link to it for tests with `root_is_a_link` in their names."""
    directory = tmp_path / "root_dir"
    directory.mkdir()
    if "root_is_a_link" not in request.node.name:
        return directory
    (tmp_path / "root_link").symlink_to(directory)
    return tmp_path / "root_link"


async def test_root_that_is_a_link_is_fine__root_is_a_link(
    root: Path, outside: Path, ask: Ask
) -> None:
    reply = await ask("graph", path="state")
    assert (reply.status, reply.json["title"]) == (200, "state/ckpt-2")
    assert reply.json["prefix"] == f"{root}/state/ckpt-2"
    for prefix in (root, root.resolve()):  # as a program wrote it from either place
        (root / "state/checkpoint").write_text(f'model_checkpoint_path: "{prefix}/state/ckpt-1"')
        reply = await ask("graph", path="state")
        assert (reply.status, reply.json["title"]) == (200, "state/ckpt-1"), reply.json
    _link(root / "out.index", outside / "ckpt-1.index")
    expect_refusal(await _both(ask, "out"), outside)
    expect_refusal(await _both(ask, "../outside/ckpt-1"), outside)
