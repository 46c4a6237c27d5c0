"""For hostile files, the server answers: with a graph or a refusal.

The server opens them with the code that `tests/test_hostile.py` attacks at full size. So it gets
small ones: in the first tier once for each kind of answer, and every one with `--all`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import tests.hostile.keras_makers
import tests.hostile.orbax_makers  # noqa: F401 (registers attacks)
from ckpt_viz.entrances.server.refusals import STATUS, Reason
from tests.hostile.makers import ATTACKS
from tests.server.conftest import Ask, Reply

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="some attacks are made by means of Linux"
    ),
]
_ATTACKS = {name: attack.of(attack.small) for name, attack in ATTACKS.items()}
_OF_KIND = {re.split(r"[:, ]", attack.said)[0]: name for name, attack in _ATTACKS.items()}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.more] * (name not in _OF_KIND.values()))
        for name in _ATTACKS
    ],
)
async def test_attack_is_answered(name: str, root: Path, ask: Ask) -> None:
    path = os.path.relpath(_ATTACKS[name].make(root), root)
    reply = await ask("graph", path=path)
    _check(reply, root)
    head = await ask("graph", path=path, method="HEAD")
    assert head.status in {200, *STATUS.values()} - {500}
    answered = await ask("answer", path=path, question={"ask": "values", "node": 1})
    assert answered.status == reply.status
    _check(answered, root)
    _check(await ask("graph", path=""), root)


@pytest.mark.parametrize("name", ["chain", "star", "nasty_names"])
async def test_attack_is_answered_in_every_way(name: str, root: Path, ask: Ask) -> None:
    path = os.path.relpath(_ATTACKS[name].make(root), root)
    for kind in ("svg", "dot", "json", "html"):
        _check(await ask("answer", path=path, question={"ask": "file", "format": kind}), root)
    _check(await ask("graph", path=path, against=path), root)
    shutil.rmtree(root)


def _check(reply: Reply, root: Path) -> None:
    if reply.status == 200:
        assert {"payload", "title"} <= reply.json.keys() or reply.json.keys() == {
            "answer",
            "buffers",
        }
        return
    assert reply.json.keys() == {"message", "reason"}
    assert STATUS[Reason(reply.json["reason"])] == reply.status != 500
    assert "Traceback" not in reply.json["message"]
    assert str(root) not in json.dumps(reply.json)
