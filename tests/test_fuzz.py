"""Damaged checkpoints, thousands before a release: a graph, a marked node or an error of ours.

`python -m tests.hostile.fuzz --inputs 100000` opens more.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from tests.hostile.fuzz import fuzz, opened
from tests.hostile.limits import Worker
from tests.hostile.mutate import mutated
from tests.hostile.seeds import DIRECTORY, Seed, seeds
from tests.hostile.use import copy_of
from tests.support.amounts import amount

INPUTS = amount(100, 1500)
_BY_HYPOTHESIS = amount(50, 500)  # slower to make, but what fails is made small

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="limits processes by means of Linux"
    ),
]


@pytest.mark.parametrize("name", seeds())
def test_seed_is_a_good_checkpoint_all_of_which_is_read(name: str) -> None:
    graph = cv.graph(DIRECTORY / name / seeds()[name].opened)
    for node in graph.nodes:
        assert node.error is None
        for attribute in node.attributes:
            assert attribute.error is None
            if attribute.dtype is not None:
                assert graph.read(attribute.checkpoint_key).shape == attribute.shape


def test_damage_of_any_kind_is_answered(worker: Worker, seed: int) -> None:
    findings = list(fuzz(worker, INPUTS, seed))
    assert not findings, "\n".join(map(str, findings))


@settings(
    max_examples=_BY_HYPOTHESIS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(damaged=st.randoms(use_true_random=False).map(mutated))
def test_damage_of_any_kind_is_answered_or_shrunk_by_hypothesis(
    worker: Worker, damaged: Seed
) -> None:
    digest = hashlib.sha256(repr(damaged).encode()).hexdigest()[:12]
    finding = opened(worker, damaged, digest)
    assert finding is None, str(finding)


def test_damage_comes_to_every_kind_of_answer(tmp_path: Path) -> None:
    answers = Counter(_answer(random.Random(n), tmp_path / str(n)) for n in range(400))
    assert answers.keys() == {
        "graph",
        "marked graph",
        "CheckpointNotFoundError",
        "FormatError",
        "UnsupportedError",
    }
    assert answers["graph"] > 30
    assert answers["FormatError"] > 30


def _answer(chooser: random.Random, directory: Path) -> str:
    damaged = mutated(chooser)
    copy_of(damaged.files, directory)
    try:
        graph = cv.graph(directory / damaged.opened)
    except cv.CkptVizError as error:
        return type(error).__name__
    marks = [attribute.error for node in graph.nodes for attribute in node.attributes]
    marks += [node.error for node in graph.nodes]
    return "marked graph" if any(marks) else "graph"
