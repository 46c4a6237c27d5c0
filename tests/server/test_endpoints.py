from __future__ import annotations

import base64
import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tornado.web import GZipContentEncoding

import ckpt_viz as cv
from benchmarks.server_load import write_layers
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.graphs.render.payload import VERSION
from tests.hostile.seeds import DIRECTORY, seeds
from tests.server.conftest import Ask, Slow
from tests.support.tables import floats, write_bundle, write_v1

_ROW = {"node": 1, "ask": "values"}


@pytest.fixture
def seeded(root: Path) -> Path:
    """The root, with what TensorFlow wrote in `ckpts`."""
    shutil.copytree(DIRECTORY, root / "ckpts")
    return root


def header_of(payload: bytes) -> dict[str, Any]:
    data = gzip.decompress(payload)
    size = int.from_bytes(data[8:12], "little")
    header: dict[str, Any] = json.loads(data[12 : 12 + size])
    return header


async def test_version_tells_those_of_the_package_and_of_the_payload(ask: Ask) -> None:
    reply = await ask("version")
    assert reply.status == 200
    assert reply.json == {"version": cv.__version__, "format": VERSION}


@pytest.mark.parametrize("name", seeds())
async def test_what_tensorflow_wrote_is_sent_as_the_explorer_shows_it(
    name: str, seeded: Path, ask: Ask
) -> None:
    path = "/".join(filter(None, ("ckpts", name, seeds()[name].opened)))
    reply = await ask("graph", path=path)
    assert reply.status == 200, reply.json
    graph = cv.graph(seeded / path)
    assert graph.provenance is not None
    assert reply.json["version"] == cv.__version__
    assert reply.json["format"] == VERSION
    assert reply.headers["Etag"] == reply.json["etag"]
    assert reply.headers["Content-Type"].startswith("application/json")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.json["prefix"] == (str(seeded / path) if name == "saved_model" else graph.title)
    assert reply.json["title"] == os.path.relpath(graph.title, seeded)
    payload = header_of(base64.b64decode(reply.json["payload"]))
    expected = header_of(show_of(seeded / path).encoded)
    assert payload["title"] == reply.json["title"]
    assert [one["name"] for one in payload["sections"]] == [
        one["name"] for one in expected["sections"]
    ]
    assert payload["notes"] == [note.replace(f"{seeded}/", "") for note in expected["notes"]]
    assert str(seeded) not in json.dumps({**reply.json, "prefix": ""})


@pytest.mark.parametrize(
    ("path", "title", "resolved"),
    [
        ("ckpts/adam/ckpt-1", "ckpts/adam/ckpt-1", ""),
        ("/ckpts/adam/ckpt-1.index", "ckpts/adam/ckpt-1", "is the index of the checkpoint"),
        ("ckpts/adam/ckpt-1.data-00000-of-00001", "ckpts/adam/ckpt-1", "is a shard of"),
        ("ckpts/adam", "ckpts/adam/ckpt-1", "is the only checkpoint with an index in ckpts/adam"),
        ("ckpts/state", "ckpts/state/ckpt-2", "is the latest of 2 checkpoints that ckpts/state"),
        ("ckpts/state/checkpoint", "ckpts/state/ckpt-2", "is the latest of 2 checkpoints"),
        ("ckpts/saved_model", "ckpts/saved_model", "ckpts/saved_model is a SavedModel"),
        ("ckpts/saved_model/saved_model.pb", "ckpts/saved_model", "is part of the SavedModel"),
        ("ckpts/name_based/model.meta", "ckpts/name_based/model", "is the MetaGraph of"),
        ("ckpts/name_based_v1/model", "ckpts/name_based_v1/model", ""),
    ],
)
async def test_whatever_leads_to_a_checkpoint_is_resolved(
    path: str, title: str, resolved: str, seeded: Path, ask: Ask
) -> None:
    reply = (await ask("graph", path=path)).json
    assert reply["title"] == title
    assert resolved in reply["resolved"]
    assert bool(resolved) == bool(reply["resolved"])
    assert reply["prefix"] == str(seeded / title)


async def test_directories_of_v1_files_are_resolved_and_listed(root: Path, ask: Ask) -> None:
    for number in (9, 10):
        write_v1(root / "run" / f"m-{number}-00000-of-00001", float(number))
        write_v1(root / "old" / f"m-{number}", float(number))
    (root / "old" / "checkpoint").write_text(r'model_checkpoint_path: "C:\\runs\\m-9"')
    for path, title, kept in (
        ("run", "run/m-10-?????-of-00001", ["run/m-9-?????-of-00001", "run/m-10-?????-of-00001"]),
        ("old", "old/m-9", ["old/m-10", "old/m-9"]),
    ):
        reply = (await ask("graph", path=path)).json
        assert (reply["title"], [one["path"] for one in reply["kept"]]) == (title, kept)
        for one in kept:
            assert (await ask("graph", path=one)).json["title"] == one
    etag = (await ask("history", path="run", method="HEAD")).headers["Etag"]
    write_v1(root / "run" / "m-10-00000-of-00001", 1.0, 2.0)
    assert (await ask("history", path="run", method="HEAD")).headers["Etag"] != etag


async def test_root_itself_may_hold_the_checkpoint(root: Path, ask: Ask) -> None:
    write_bundle(root / "ckpt-7", {"a": floats(1.0)})
    for path in ("", "/", "ckpt-7", "./ckpt-7.index", "ckpt"):
        reply = await ask("graph", path=path)
        assert (reply.status, reply.json["title"]) == (200, "ckpt-7"), reply
        assert reply.json["prefix"] == str(root / "ckpt-7")


async def test_name_like_somebodys_home_is_a_name(root: Path, ask: Ask) -> None:
    (root / "~root").mkdir()
    write_bundle(root / "~root" / "ckpt", {"a": floats(1.0)})
    reply = await ask("graph", path="~root/ckpt")
    assert (reply.status, reply.json["title"]) == (200, "~root/ckpt"), reply


async def test_kept_checkpoints_are_listed_with_those_that_are_gone(seeded: Path, ask: Ask) -> None:
    (seeded / "ckpts/state/ckpt-1.index").unlink()
    reply = (await ask("graph", path="ckpts/state")).json
    paths = [(kept["path"], kept["exists"]) for kept in reply["kept"]]
    assert paths == [("ckpts/state/ckpt-1", False), ("ckpts/state/ckpt-2", True)]
    assert all(kept["saved_at"].endswith("+00:00") for kept in reply["kept"])


async def test_checkpoints_that_the_state_file_does_not_name_are_listed_too(
    seeded: Path, root: Path, ask: Ask
) -> None:
    state = root / "ckpts/state"
    write_bundle(state / "other", {"a": floats(1.0)})
    write_bundle(state / ".hidden", {"a": floats(1.0)})
    (state / "out.index").symlink_to("/etc/hostname")
    reply = (await ask("graph", path="ckpts/state")).json
    assert [(one["path"], one["named"], one["latest"]) for one in reply["kept"]] == [
        ("ckpts/state/other", False, False),
        ("ckpts/state/ckpt-1", True, False),
        ("ckpts/state/ckpt-2", True, True),
    ]
    assert "ckpts/state/other" in reply["resolved"]
    assert "out" not in reply["resolved"] and ".hidden" not in reply["resolved"]


async def test_absolute_paths_in_a_state_file_become_contents_paths(root: Path, ask: Ask) -> None:
    for number in (1, 2):
        write_bundle(root / f"ckpt-{number}", {"a": floats(1.0)})
    lines = [f'model_checkpoint_path: "{root}/ckpt-2"']
    lines += [f'all_model_checkpoint_paths: "{root}/ckpt-{n}"' for n in (1, 2)]
    lines += ['all_model_checkpoint_paths: "/elsewhere/gone"']
    (root / "run").mkdir()
    (root / "run" / "checkpoint").write_text("\n".join(lines))
    reply = (await ask("graph", path="run")).json
    assert reply["title"] == "ckpt-2"
    assert reply["resolved"] == "ckpt-2 is the latest of 3 checkpoints that run/checkpoint names"
    assert [kept["path"] for kept in reply["kept"]] == ["ckpt-1", "ckpt-2", None]
    assert [kept["exists"] for kept in reply["kept"]] == [True, True, False]


async def test_diff_of_two_has_the_older_one_in_against(seeded: Path, ask: Ask) -> None:
    reply = await ask("graph", path="ckpts/state/ckpt-2", against="ckpts/adam/ckpt-1")
    shown = show_of(seeded / "ckpts/adam/ckpt-1", seeded / "ckpts/state/ckpt-2")
    payload = header_of(base64.b64decode(reply.json["payload"]))
    expected = header_of(shown.encoded)
    assert payload["overlay"]["comparison"] == "diff"
    assert payload["title"] == "ckpts/adam/ckpt-1 → ckpts/state/ckpt-2"
    assert payload["overlay"]["verdicts"] == expected["overlay"]["verdicts"]
    assert reply.json["title"] == "ckpts/state/ckpt-2"


# --- what has changed


async def test_known_etag_is_answered_without_the_graph(seeded: Path, ask: Ask) -> None:
    etag = (await ask("graph", path="ckpts/adam")).json["etag"]
    again = await ask("graph", path="ckpts/adam", headers={"If_None_Match": etag})
    assert (again.status, again.json, again.headers["Etag"]) == (304, None, etag)
    weak = await ask("graph", path="ckpts/adam", headers={"If_None_Match": f'"x", W/{etag}'})
    assert weak.status == 304
    other = await ask("graph", path="ckpts/adam", headers={"If_None_Match": '"other"'})
    assert other.status == 200


async def test_head_tells_the_etag_alone(slow: Slow, ask: Ask) -> None:
    slow.let_go()
    etag = (await ask("graph", path="adam")).json["etag"]
    reply = await ask("graph", path="state", method="HEAD")
    assert (reply.status, reply.json) == (200, None)
    reply = await ask("graph", path="adam", method="HEAD")
    assert (reply.status, reply.json, reply.headers["Etag"]) == (200, None, etag)
    known = await ask("graph", path="adam", method="HEAD", headers={"If_None_Match": etag})
    assert known.status == 304
    assert (await ask("graph", path="nothing", method="HEAD")).status == 404
    assert slow.began == ["adam"]  # nothing else was read


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("adam", "adam/ckpt-1.index"),
        ("adam", "adam/ckpt-1.data-00000-of-00001"),
        ("state", "state/checkpoint"),
        ("state/checkpoint", "state/checkpoint"),
        ("saved_model", "saved_model/saved_model.pb"),
        ("saved_model", "saved_model/keras_metadata.pb"),
        ("name_based/model", "name_based/model.meta"),
        ("name_based_v1/model", "name_based_v1/model"),
        ("several_shards/ckpt", "several_shards/ckpt.data-00001-of-00002"),
        ("keras_archive/model.keras", "keras_archive/model.keras"),
        ("keras_run", "keras_run/m.03-7.38.weights.h5"),
        ("keras_shards/model.weights.json", "keras_shards/model.weights.json"),
        ("keras_shards/model.weights.json", "keras_shards/model_00001.weights.h5"),
    ],
)
async def test_etag_changes_with_any_file(path: str, changed: str, seeded: Path, ask: Ask) -> None:
    async def etags() -> str:
        reply = await ask("graph", path=f"ckpts/{path}", method="HEAD")
        assert reply.status == 200
        return reply.headers["Etag"]

    file = seeded / "ckpts" / changed
    if not file.exists():
        (file,) = file.parent.glob("ckpt.data-00001-*")
    before = await etags()
    assert await etags() == before
    os.utime(file, ns=(0, 1))
    assert await etags() != before


async def test_checkpoint_that_was_saved_since_is_sent(root: Path, ask: Ask) -> None:
    write_bundle(root / "ckpt-1", {"a": floats(1.0)})
    before = (await ask("graph", path="")).json
    write_bundle(root / "ckpt-2", {"a": floats(1.0), "b": floats(2.0)})
    after = (await ask("graph", path="", headers={"If_None_Match": before["etag"]})).json
    assert (before["title"], after["title"]) == ("ckpt-1", "ckpt-2")


# --- answers


async def test_answers_are_the_explorers(seeded: Path, ask: Ask) -> None:
    path = "ckpts/values/ckpt"
    shown = show_of(seeded / path)
    for node in range(len(shown.graph.nodes)):
        question = {"ask": "values", "node": node}
        reply = await ask("answer", path=path, question=question)
        assert (reply.status, reply.json) == (
            200,
            {"answer": answer(shown, question)[0], "buffers": []},
        )


async def test_the_answer_has_the_values_of_both_sides_of_a_diff(root: Path, ask: Ask) -> None:
    write_bundle(root / "a", {"x": floats(1.0, 2.0)})
    write_bundle(root / "b", {"x": floats(1.0, 3.0)})
    reply = await ask("answer", path="b", against="a", question=_ROW)
    values = reply.json["answer"]["values"]
    assert [(one["of"], one["elements"]) for one in values] == [
        ("a", ["1", "2"]),
        ("b", ["1", "3"]),
    ]


@pytest.mark.parametrize("against", [None, "a"])
async def test_what_values_measure_comes_as_a_payload(
    root: Path, ask: Ask, against: str | None
) -> None:
    write_bundle(root / "a", {"x": floats(3.0, 4.0)})
    write_bundle(root / "b", {"x": floats(3.0, float("nan"))})
    question = {"ask": "measures"}
    asked = {} if against is None else {"against": against}
    reply = await ask("answer", path="b", question=question, **asked)
    assert (reply.status, reply.json["answer"]) == (200, {})
    (payload,) = reply.json["buffers"]
    shown = show_of(str(root / "b")) if against is None else show_of(*(str(root / p) for p in "ab"))
    measures = shown.measures()
    told = gzip.decompress(base64.b64decode(payload))
    assert measures.columns["norm"].tobytes() in told
    assert measures.columns["nan"].tobytes() in told
    assert str(root).encode() not in told


async def test_the_code_of_a_copy_has_the_path_below_the_root(root: Path, ask: Ask) -> None:
    (root / "ckpts").mkdir()
    write_bundle(root / "ckpts/a", {"x": floats(1.0), "y": floats(2.0)})
    question = {"ask": "copy", "kind": "without", "query": "x"}
    reply = await ask("answer", path="ckpts/a", question=question)
    assert reply.json["answer"]["text"] == (
        "import ckpt_viz as cv\n\n"
        "slim = cv.graph('ckpts/a').without('x')\n"
        "cv.show('ckpts/a', against=slim)\n"
        "# slim.write('a-slim')\n"
    )


@pytest.mark.parametrize("options", [{"max_read_bytes": 100_000}])
async def test_too_many_values_are_refused(root: Path, ask: Ask) -> None:
    write_bundle(root / "large", {"x": floats(*range(50_000))})
    for _ in range(2):  # the second answer must not have what the limit cut off
        reply = await ask("answer", path="large", question={"ask": "measures"})
        assert (reply.status, reply.json["reason"]) == (422, "unreadable")
        assert "100000" in reply.json["message"].replace(",", "")


@pytest.mark.parametrize("kind", ["svg", "dot", "json", "html"])
async def test_files_are_the_explorers(kind: str, seeded: Path, ask: Ask) -> None:
    reply = await ask(
        "answer",
        path="ckpts/adam",
        question={"ask": "file", "format": kind},
        state={"selected": 2},
    )
    assert reply.status == 200
    if "error" in reply.json["answer"]:
        assert "front end is not built" in reply.json["answer"]["error"]
        return
    assert reply.json["answer"]["name"] == f"checkpoint.{kind}"
    (buffer,) = reply.json["buffers"]
    text = base64.b64decode(buffer).decode()
    assert "kernel" in text or kind == "html"
    assert str(seeded) not in text
    assert ('"selected": {"of": 0, "ids": 2}' in text) == (kind == "html")


async def test_answer_of_files_that_have_changed_is_refused(root: Path, ask: Ask) -> None:
    write_bundle(root / "ckpt", {"a": floats(1.0)})
    etag = (await ask("graph", path="ckpt")).json["etag"]
    assert (await ask("answer", path="ckpt", etag=etag, question=_ROW)).status == 200
    write_bundle(root / "ckpt", {"a": floats(1.0, 2.0)})
    reply = await ask("answer", path="ckpt", etag=etag, question=_ROW)
    assert (reply.status, reply.json["reason"]) == (409, "changed")
    anew = await ask("answer", path="ckpt", question=_ROW)
    assert anew.json["answer"]["values"][0]["shape"] == [2]


async def test_question_without_an_answer_is_answered_with_an_error(root: Path, ask: Ask) -> None:
    write_bundle(root / "ckpt", {"a": floats(1.0)})
    for question in ({}, {"ask": "no such"}, {"ask": ["x"]}, {"ask": "values", "node": 99}):
        reply = await ask("answer", path="ckpt", question=question)
        assert reply.status == 200
        assert reply.json["answer"]["error"]


# --- refusals


@pytest.mark.parametrize(
    ("url", "status", "reason"),
    [
        ("graph", 400, "bad-request"),
        ("graph?path=a&path=b", 400, "bad-request"),
        ("graph?path=%ff", 400, "bad-request"),
        (f"graph?path={'a' * 5000}", 400, "bad-request"),
        (f"graph?path={'a' * 300}", 404, "not-found"),
        ("graph?path=nothing", 404, "not-found"),
        ("answer?path=ckpt", 400, "bad-request"),
        ("answer?path=ckpt&question={", 400, "bad-request"),
        ("answer?path=ckpt&question=[]", 400, "bad-request"),
        ('answer?path=ckpt&question={"ask":NaN}', 400, "bad-request"),
        (f"answer?path=ckpt&question={'[' * 16_000}", 400, "bad-request"),
        (f"answer?path=ckpt&question={'[' * 17_000}", 413, "too-large"),
        (f"answer?path=ckpt&question={{}}&state={'[' * 17_000}", 413, "too-large"),
        ("answer?path=nothing&question={}", 404, "not-found"),
    ],
)
async def test_bad_requests_are_refused_in_json(
    url: str, status: int, reason: str, root: Path, send: Ask
) -> None:
    write_bundle(root / "ckpt", {"a": floats(1.0)})
    reply = await send(url)
    assert (reply.status, reply.json.keys()) == (status, {"message", "reason"})
    assert reply.json["reason"] == reason
    assert "Etag" not in reply.headers


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (".index", b"DIRC\0\0\0\2" + bytes(100), "Git"),
        ("faiss.index", b"IxF2" + bytes(100), "FAISS"),
        ("words.index", b"some words", "a text that begins with"),
        ("empty.index", b"", "an empty file, not a TensorFlow checkpoint"),
        ("model.h5", b"\x89HDF\r\n\x1a\n" + bytes(100), "h5repack"),
        ("model.keras", b"PK\x03\x04" + bytes(100), "a zip archive"),
        ("notes.txt", b"x", "a text that begins with"),
    ],
)
async def test_what_is_no_checkpoint_is_said_to_be_none(
    name: str, data: bytes, said: str, root: Path, ask: Ask, jp_serverapp: Any
) -> None:
    (root / name).write_bytes(data)
    jp_serverapp.contents_manager.allow_hidden = True
    reply = await ask("graph", path=name)
    assert (reply.status, reply.json["reason"]) == (422, "not-a-checkpoint"), reply.json
    assert said in reply.json["message"]
    assert str(root) not in reply.json["message"]


async def test_damaged_checkpoint_is_said_to_be_damaged(seeded: Path, ask: Ask) -> None:
    index = seeded / "ckpts/adam/ckpt-1.index"
    data = bytearray(index.read_bytes())
    data[10] ^= 255
    index.write_bytes(data)
    reply = await ask("graph", path="ckpts/adam/ckpt-1")
    assert (reply.status, reply.json["reason"]) == (422, "unreadable"), reply.json
    assert reply.json["message"].startswith("ckpts/adam/ckpt-1.index: ")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("keras_h5/model.h5", 2000),
        ("keras_shards/model.weights.json", 100),
        ("keras_shards/model_00000.weights.h5", 2000),
    ],
)
async def test_damaged_file_of_keras_is_said_to_be_damaged(
    name: str, size: int, seeded: Path, ask: Ask
) -> None:
    os.truncate(seeded / "ckpts" / name, size)
    reply = await ask("graph", path=f"ckpts/{name}")
    assert (reply.status, reply.json["reason"]) == (422, "unreadable"), reply.json
    assert reply.json["message"].startswith(f"ckpts/{name}: ")
    assert "TensorFlow" not in reply.json["message"]


@pytest.mark.parametrize("options", [{"max_answer_bytes": 300}])
async def test_answers_that_are_too_large_are_refused(seeded: Path, ask: Ask) -> None:
    for endpoint in ("graph", "answer"):
        reply = await ask(endpoint, path="ckpts/adam", question={"ask": "file", "format": "svg"})
        assert (reply.status, reply.json["reason"]) == (413, "too-large")
        assert "bytes; this server sends at most 300" in reply.json["message"]


@pytest.mark.parametrize("options", [{"max_read_bytes": 100}])
async def test_reading_too_much_is_refused(seeded: Path, ask: Ask) -> None:
    reply = await ask("graph", path="ckpts/adam")
    assert (reply.status, reply.json["reason"]) == (422, "unreadable")
    assert "of the 100 that one request may read" in reply.json["message"]


async def test_large_answers_are_compressed_before_they_reach_the_server(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compress(*_: object) -> None:
        raise AssertionError("everybody waits while Tornado compresses")

    write_layers(str(root / "ckpt"), 6_000)
    monkeypatch.setattr(GZipContentEncoding, "transform_chunk", compress)
    packed = await ask("graph", path="ckpt")  # the client decompresses
    assert packed.headers["X-Consumed-Content-Encoding"] == "gzip"
    assert header_of(base64.b64decode(packed.json["payload"]))["title"] == "ckpt"


async def test_unexpected_error_tells_nothing_but_that(slow: Slow, ask: Ask, caplog: Any) -> None:
    reply = await ask("graph", path="fails")
    assert (reply.status, reply.json["reason"]) == (500, "failed")
    assert "secret" not in json.dumps(reply.json)
    assert "Traceback" not in json.dumps(reply.json)
    assert "ZeroDivisionError: secret" in caplog.text  # the log has it


async def test_contents_without_files_are_refused_by_their_managers_name(
    ask: Ask, jp_serverapp: Any
) -> None:
    from jupyter_server.services.contents.manager import ContentsManager

    class InADatabase(ContentsManager):  # type: ignore[misc, unused-ignore]
        pass

    jp_serverapp.web_app.settings["contents_manager"] = InADatabase()
    reply = await ask("graph", path="ckpt")
    assert (reply.status, reply.json["reason"]) == (501, "no-files")
    assert "InADatabase" in reply.json["message"]


@pytest.mark.parametrize(
    "manager",
    [
        "jupyter_server.services.contents.largefilemanager.LargeFileManager",
        "jupyter_server.services.contents.largefilemanager.AsyncLargeFileManager",
    ],
)
async def test_blocking_and_asynchronous_managers_are_asked(
    manager: str, root: Path, ask: Ask, jp_serverapp: Any
) -> None:
    from traitlets.utils.importstring import import_item

    write_bundle(root / "ckpt", {"a": floats(1.0)})
    jp_serverapp.web_app.settings["contents_manager"] = import_item(manager)(root_dir=str(root))
    assert (await ask("graph", path="ckpt")).status == 200
