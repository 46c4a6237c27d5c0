"""The stories of the asserts say what TensorFlow's asserts do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.played import place_of
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
    graph = check.overlay.graph
    status = live.restore(path)
    for name in ASSERTS:
        step = check.steps_of(name).failing
        assert (step is not None) == _raises(status, name), name
        if step is not None:
            node = place_of(check, step.saved, step.live)
            assert node is not None
            place = graph.names.place(node)
            assert place == ("net.new" if added else f"net.{left_out}")
            assert step.text.startswith(f"{place} has a value in the ")
