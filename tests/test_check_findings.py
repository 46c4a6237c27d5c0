"""Every kind of finding: pairs that show it, near misses that do not, and TensorFlow's behaviour.

A row of `tests/check_findings` is a checkpoint and the program that restores it. For each finding
of a row, a law of its kind verifies the claim, after a real restore into a new program.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.graphs.overlay.remedy import names_the_fix
from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings import (
    by_name,
    changes,
    created_later,
    damaged,
    leftovers,
    paths,
    raising,
    structure,
    tracking,
    values,
)
from tests.check_findings.laws import LAWS, ask
from tests.check_findings.real import Real, restored
from tests.check_findings.table import DEFERRED, ERROR, FAIL, INFO, Pair, Row, Shows
from tests.support.head_sentence import faults_in as faults_in_sentence
from tests.support.plain_english import faults_in, sentences_in
from tests.support.promises import unkept
from tests.support.remedy_code import unrunnable
from tests.support.spellings import misspelled, quoted_in, sentences_of_diff, sentences_of_fix
from tests.support.told import told

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

FAMILIES = (
    *(paths, damaged, raising, structure, changes),
    *(leftovers, created_later, values, tracking, by_name),
)
ROWS = [row for family in FAMILIES for row in family.rows]


# Kinds whose remedy is to accept what the finding tells.
_TOLD_EVEN_WHEN_MENDED = {Kind.OPTIMIZER_MISSING, Kind.UNMATCHED, Kind.LEFTOVER}


def _check(pair: Pair) -> RestoreCheck:
    live = pair.make()
    with pair.within():
        return cv.check(live, pair.path, method=pair.method, verify=pair.verify)


def _of_kind(check: RestoreCheck, kind: Kind) -> list[Finding]:
    return [finding for finding in told(check) if finding.kind is kind]


def _is_shown(finding: Finding, expected: Shows) -> bool:
    return (
        finding.severity is expected.severity
        and expected.saved in (None, finding.saved)
        and expected.live in (None, finding.live)
        and all(word in f"{finding.why} {finding.remedy}" for word in expected.words)
    )


def _is_short(text: str) -> bool:
    """Return whether a text is one sentence or two, on one line."""
    return bool(text) and "\n" not in text and text[-1] in ".?" and len(sentences_in(text)) <= 2


def test_every_kind_is_shown_and_has_a_near_miss() -> None:
    shown = {row.kind for row in ROWS if row.shows is not None}
    assert shown == {row.kind for row in ROWS if row.shows is None} == set(LAWS) == set(Kind)


def test_names_of_rows_are_unique() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)


@pytest.mark.claim_in_id
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_findings(row: Row, tmp_path: Path) -> None:
    pair = row.pair(tmp_path)
    check = _check(pair)
    found = _of_kind(check, row.kind)
    if row.shows is None:
        assert found == []
    else:
        shown = [finding for finding in found if _is_shown(finding, row.shows)]
        assert len(shown) == 1, found
    quoted = [*quoted_in(check)]
    for finding in told(check):
        assert _is_short(finding.why), finding.why
        remedy = str(finding.remedy)
        assert _is_short(remedy), remedy
        assert [*faults_in(finding.why, quoted), *faults_in(remedy)] == []
        assert ("check.fix(" in remedy) == names_the_fix(finding.remedy)
    assert [*faults_in_sentence(check)] == []
    assert [*unkept(check)] == []
    assert [*unrunnable(check)] == []
    further = (*sentences_of_fix(check), *sentences_of_diff(check))
    assert misspelled(check, further) == []
    if row.shows is not None and pair.fixed is not None:
        _assert_fixed(row, pair, pair.fixed())
    if any(finding.kind is Kind.PROCESS_ABORT for finding in told(check)):
        return  # a test of its own restores that, in another process
    real = restored(pair, check)
    _assert_agreement(check, real)
    for finding in told(check):
        ask(finding, real)


def _assert_fixed(row: Row, pair: Pair, fixed: Pair) -> None:
    """Do what the remedy says, and look what TensorFlow says then."""
    check = _check(fixed)
    assert row.shows is not None
    left = [one for one in _of_kind(check, row.kind) if one.severity is row.shows.severity]
    assert left == [] or row.kind in _TOLD_EVEN_WHEN_MENDED
    real = restored(fixed, check)
    assert real.raised is None
    assert real.asserts[pair.passes] is None


def _assert_agreement(check: RestoreCheck, real: Real) -> None:
    """Compare with TensorFlow, and the severities of the findings with what they mean."""
    severities = {finding.severity for finding in told(check)}
    raises = check.raises.type if check.raises is not None else None
    assert raises == (type(real.raised).__name__ if real.raised is not None else None)
    assert (ERROR in severities) == (raises is not None)
    if raises is None:
        assert check.consumed == (real.asserts["assert_consumed"] is None)
        assert bool({FAIL, DEFERRED} & severities) == (not check.consumed)


def test_headline_of_a_restore_that_ends_the_process(tmp_path: Path) -> None:
    pair = raising.one_entry_into_a_dense_table(tmp_path)
    check = _check(pair)
    assert check.overlay.headline == "restore() would end the process"
    assert check.raises is not None and check.raises.type == "SIGABRT"
    assert not check.consumed


def test_coverage_counts_no_value_of_an_optimizer_itself(tmp_path: Path) -> None:
    pair = values.optimizer_that_scales_the_loss(tmp_path)
    assert "optimizer 6 of 6" in [str(part) for part in _check(pair).coverage]


ABORTING = [row for row in ROWS if row.kind is Kind.PROCESS_ABORT and row.shows is not None]


# A process imports TensorFlow once and becomes one of its own for each row, before it computes.
_RESTORES = """
import os, sys
from pathlib import Path
import tensorflow
from tests.check_findings.raising import rows
for row in rows:
    if row.id in sys.argv[2:]:
        at = Path(sys.argv[1], row.id)
        at.mkdir()
        child = os.fork()
        if not child:
            pair = row.pair(at)
            live = pair.make()
            print("now", flush=True)
            live.restore(pair.path)
            print("never", flush=True)
            os._exit(0)
        print(row.id, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_the_process_would_end(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RESTORES, tmp_path, *(row.id for row in ABORTING)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    ends = [f"now\n{row.id} {-signal.SIGABRT}\n" for row in ABORTING]
    assert done.stdout == "".join(ends)


@pytest.mark.parametrize(
    "make",
    [
        changes.bias_that_shifts_the_lists_of_an_optimizer,
        changes.bias_whose_loss_shifts_the_lists_of_an_optimizer,
        changes.low_rank_adaptation,
        changes.state_of_a_frozen_layer_in_that_of_the_next,
    ],
)
def test_what_shifts_the_lists_of_an_optimizer_explains_where_they_lead(
    make: Callable[[Path], Pair], tmp_path: Path
) -> None:
    pair = make(tmp_path)
    check = cv.check(pair.make(), pair.path)
    alarms = [f for f in check.findings if f.severity is not INFO]
    assert alarms
    assert all(finding.change is not None for finding in alarms), alarms


def test_findings_tell_of_the_program_as_it_was_when_it_was_checked(tmp_path: Path) -> None:
    pair = values.beta_of_legacy_keras_set_anew(tmp_path)
    live = pair.make()
    check = cv.check(live, pair.path)
    live.restore(pair.path)
    assert not _of_kind(cv.check(live, pair.path), Kind.OVERWRITTEN)
    assert _of_kind(check, Kind.OVERWRITTEN)
