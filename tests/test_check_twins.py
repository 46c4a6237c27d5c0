"""Remedies for programs with parts of equal structure, from `tests/programs/twins.py`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.overlay.remedy import names_the_fix
from tests.check_findings import leftovers, structure
from tests.check_findings.table import Maker
from tests.programs.twins import FIXES, REMEDIES, draw
from tests.support.oracle import compare
from tests.support.told import told

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

PROGRAMS = 30
# Among them are programs in which a name or a place of its own would mislead.
SEEDS_OF_FIXES = (*range(10), 22, 46, 60, 107, 111, 119, 121, 124, 149, 150, 152, 161, 177, 264)


def test_no_finding_takes_a_twin_for_a_renamed_part() -> None:
    """Where equal parts fit as well, no remedy takes one of them unasked."""
    counts = Counter[str]()
    for seed in range(PROGRAMS):
        counts.update(REMEDIES.hold_for(draw(Random(seed))))
    assert counts["equal parts"] >= 2 and counts["renamed"]


def test_no_fix_puts_a_value_into_a_twin() -> None:
    """What could belong to either of two twins is a guess, and a fix takes no guess unasked."""
    for seed in SEEDS_OF_FIXES:
        FIXES.hold_for(draw(Random(seed)))


@pytest.mark.parametrize(
    "pair",
    [
        structure.twins_of_a_dict_made_attributes,
        structure.two_keras_2_optimizers_of_equal_nets,
        structure.saved_as_a_keyword_and_restored_as_the_root,
        leftovers.model_that_keras_3_exported,
    ],
    ids=lambda pair: pair.__name__,
)
def test_trying_a_remedy_changes_nothing(pair: Maker, tmp_path: Path) -> None:
    made = pair(tmp_path)
    comparison = compare(made.make, made.path, method=made.method)
    assert any(names_the_fix(one.remedy) for one in comparison.check.findings)


def test_a_file_in_place_of_the_program_gets_the_same_remedy(tmp_path: Path) -> None:
    pair = structure.twins_of_a_dict_made_attributes(tmp_path)
    live = pair.make()
    remedies = [
        [str(finding.remedy) for finding in told(cv.check(one, pair.path))]
        for one in (live, live.save(str(tmp_path / "live")))
    ]
    assert remedies[0] == remedies[1]
    assert "puts each value in its new place" in remedies[0][0]
