"""The answer with which a page plays a restore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.played import played
from ckpt_viz.matching.story.asserts import ASSERTS
from tests.support.programs import ckpt, module, saved, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _raises(status: Any, name: str) -> bool:
    try:
        getattr(status, name)()
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("left_out", ["a", "b", None])
@pytest.mark.parametrize("added", [{}, {"new": 1.0}])
def test_the_asserts_pass_and_fail_as_those_of_tensorflow(
    left_out: str | None, added: dict[str, float], tmp_path: Path
) -> None:
    path = saved(tmp_path, net=module(a=var(), b=var()))
    children = {name: var() for name in ("a", "b") if name != left_out}
    live = ckpt(net=module(**children, **{name: var(value) for name, value in added.items()}))
    check = cv.check(live, path)
    asserts = played(check)[0]["asserts"]
    graph = check.overlay.graph
    status = live.restore(path)
    for entry in asserts:
        assert entry["passes"] != _raises(status, entry["name"]), entry
        if entry["passes"]:
            assert entry["node"] is None
        else:
            name = graph.names.place(entry["node"])
            assert name == ("net.new" if added else f"net.{left_out}")
            assert entry["text"].startswith(f"{name} has a value in the ")
    assert [entry["name"] for entry in asserts] == [*ASSERTS]


def test_a_restore_without_steps_has_no_asserts_to_play() -> None:
    check = cv.check(ckpt(a=var()), None)
    assert len(check.steps) == 0
    assert played(check)[0]["asserts"] == []
