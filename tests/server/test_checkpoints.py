"""Which files of a directory the server calls checkpoints: those whose content is one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.files.saved import listing
from tests.hostile.seeds import DIRECTORY
from tests.server.conftest import Ask
from tests.support.tables import floats, footer, header, table, write_bundle


async def _names(ask: Ask, path: str = "") -> list[str]:
    reply = await ask("checkpoints", path=path)
    assert reply.status == 200, reply.json
    assert reply.headers["Cache-Control"] == "no-store"
    assert list(reply.json) == ["names"]
    names: list[str] = reply.json["names"]
    return names


def _index(directory: Path, *names: str) -> bytes:
    """Write the index of a checkpoint under other names; return its bytes."""
    write_bundle(directory / "made", {"a": floats(1.0)})
    data = (directory / "made.index").read_bytes()
    for path in directory.glob("made.*"):
        path.unlink()
    for name in names:
        (directory / name).write_bytes(data)
    return data


async def test_content_decides_and_not_the_name(root: Path, ask: Ask) -> None:
    names = ["copied", "cp-0005.index", "notes.txt", "pre-1.index", "ünïcode .bak"]
    _index(root, *names)
    assert await _names(ask) == names


async def test_checkpoints_of_the_old_format_are_found(root: Path, ask: Ask) -> None:
    shutil.copytree(DIRECTORY / "name_based_v1", root / "old")
    old = next(path for path in (root / "old").iterdir() if path.suffix != ".meta")
    (root / "old" / "renamed").write_bytes(old.read_bytes())
    assert "renamed" in await _names(ask, "old")


async def test_what_only_looks_like_a_checkpoint_is_none(root: Path, ask: Ask) -> None:
    data = _index(root)
    damaged = bytearray(data)
    damaged[3] ^= 255
    for name, content in {
        "empty.index": b"",
        "text.index": b"chapter one\n" * 100,
        "git.index": b"DIRC" + bytes(100),
        "magic-alone": data[-8:],
        "footer-alone": data[-48:],
        "far-away": footer(b"\xff" * 9 + b"\x01" + b"\xff" * 9 + b"\x01"),
        "truncated": data[:-1],
        "without-its-beginning": data[1:],
        "damaged": bytes(damaged),
        "other-table": table([(b"key", b"value")]),
        "other-header": table([(b"", b"\xff\xff")]),
        "no-shards": table([(b"", b"")]),
        "empty-table": table([]),
    }.items():
        (root / name).write_bytes(content)
    (root / "directory").mkdir()
    assert await _names(ask) == []


async def test_pipes_devices_and_links_in_circles_are_none(root: Path, ask: Ask) -> None:
    os.mkfifo(root / "pipe.index")
    (root / "to-pipe").symlink_to("pipe.index")
    (root / "device").symlink_to("/dev/zero")
    (root / "circle").symlink_to("circle")
    (root / "nowhere").symlink_to("missing")
    _index(root, "found")
    (root / "link").symlink_to("found")
    assert await _names(ask) == ["found", "link"]


async def test_links_that_lead_out_and_hidden_files_are_none(
    root: Path, ask: Ask, tmp_path: Path, jp_serverapp: Any
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    _index(outside, "secret")
    _index(root, ".hidden")
    (root / "leak").symlink_to(outside / "secret")
    assert await _names(ask) == []
    (root / "leaks").symlink_to(outside)
    reply = await ask("checkpoints", path="leaks")
    assert (reply.status, reply.json["reason"]) == (403, "outside")
    jp_serverapp.contents_manager.allow_hidden = True
    assert await _names(ask) == [".hidden"]


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ({}, 400, "bad-request"),
        ({"path": "missing"}, 404, "not-found"),
        ({"path": "file"}, 404, "not-found"),
        ({"path": "pipe"}, 404, "not-found"),
        ({"path": "../x"}, 403, "outside"),
        ({"path": ".hidden"}, 404, "not-found"),
    ],
)
async def test_what_is_no_directory_is_refused(
    query: dict[str, str], status: int, reason: str, root: Path, ask: Ask
) -> None:
    (root / "file").write_bytes(b"")
    (root / ".hidden").mkdir()
    os.mkfifo(root / "pipe")
    reply = await ask("checkpoints", **query)
    assert (reply.status, reply.json["reason"]) == (status, reason), reply.json
    assert str(root) not in reply.json["message"]


async def test_directory_of_very_many_files_is_answered_within_bounds(root: Path, ask: Ask) -> None:
    data = _index(root)
    for number in range(listing.MOST_FILES):
        (root / f"log-{number:05d}").write_bytes(b"x" * 60)
    (root / "image.png").write_bytes(data)  # no file browser asks for it
    (root / "a").write_bytes(data)
    (root / "z").write_bytes(data)
    assert await _names(ask) == ["a"]


async def test_names_in_an_answer_are_bounded(root: Path, ask: Ask) -> None:
    _index(root, *(f"cp-{number:04d}" for number in range(listing.MOST_NAMES + 1)))
    assert len(await _names(ask)) == listing.MOST_NAMES


async def test_block_that_is_too_large_is_not_read(root: Path, ask: Ask) -> None:
    first = (b"", header())
    (root / "large").write_bytes(table([first, (b"a", bytes(2 << 20))]))
    (root / "small").write_bytes(table([first, (b"a", bytes(2 << 10))]))
    assert await _names(ask) == ["small"]
