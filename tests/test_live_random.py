"""The law of test_live for random object graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import ckpt_viz as cv
from tests.programs.law import Law
from tests.programs.pairs import save
from tests.programs.plain_recipes import PLAIN
from tests.programs.recipes import Recipe
from tests.support.amounts import amount
from tests.support.laws import assert_same_graph, state_of
from tests.support.programs import checkpoint_of


def _judge(recipe: Recipe, at: Path) -> None:
    built = PLAIN.build(recipe, 1)
    built.root = checkpoint_of(built.root)
    before = state_of(built.root)
    live = cv.graph(built.root)
    for node_id in range(len(live.nodes)):
        accessor = live.accessor(node_id, "it")
        assert eval(accessor, {"it": built.root}) is live.object(node_id), accessor
    assert state_of(built.root) == before
    assert_same_graph(live, cv.graph(save(built, "write", str(at / "ckpt"))))


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_live_graph_is_the_saved_one_and_nothing_is_touched(seed: int) -> None:
    claim = "A live graph is the saved one, and nothing is touched"
    Law(claim, PLAIN.source, _judge).hold(seed, amount(100, 1000))
