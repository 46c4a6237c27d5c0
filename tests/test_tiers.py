"""The first tier has each claim, and the rest has what the first tier leaves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiers import trying_more

TESTS = Path(__file__).parent
SAMPLE = """
import pytest

@pytest.mark.tf
@pytest.mark.parametrize("number", range(25))
def test_of_many_inputs(number): pass

@pytest.mark.slow
@pytest.mark.parametrize("number", range(25))
def test_that_is_slow(number): pass

@pytest.mark.slow
@pytest.mark.claim_in_id
@pytest.mark.parametrize("pair", ["a-1", "a-2", "a-3", "b-1"])
def test_of_two_claims(pair): pass

@pytest.mark.parametrize("number", range(25))
def test_that_is_fast(number): pass

@pytest.fixture
def lab(): pass

@pytest.mark.ui
@pytest.mark.parametrize("number", range(4))
def test_in_jupyterlab(number, lab): pass

@pytest.mark.ui
@pytest.mark.parametrize("number", range(4))
def test_more_of_it(number, lab): pass

@pytest.mark.more
def test_at_another_host(): pass
"""


def _collected(directory: Path, *options: str) -> list[str]:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"),
            *("--collect-only", "-q", f"--rootdir={TESTS.parent}", str(directory), *options),
        ],
        cwd=TESTS.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::test_" in line]


@pytest.mark.slow
def test_the_rest_is_what_the_first_tier_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    first, rest = _collected(tmp_path), _collected(tmp_path, "--rest")
    assert (len(first), len(rest)) == (2 * 5 + 2 + 1 + 25 + 2, 2 * 20 + 1 + 6 + 1)
    assert sorted(first + rest) == sorted(_collected(tmp_path, "--all"))


def test_the_rest_has_the_tests_that_try_more_or_use_what_does() -> None:
    names = trying_more(TESTS / "test_zip_archive.py")
    assert "test_a_damaged_archive_has_answers_or_errors_that_explain_it" in names
    assert "test_members_are_read" not in names
    # A constant asks for the amount, a fixture, a module of attacks, a mark.
    assert "test_damage_of_any_kind_is_answered" in trying_more(TESTS / "test_fuzz.py")
    assert "test_attack_is_answered" in trying_more(TESTS / "test_hostile.py")
    assert "test_any_tensors_are_read_back_bit_by_bit_also_after_a_copy" in trying_more(
        TESTS / "test_bundle_writer.py"
    )
    assert trying_more(TESTS / "test_text.py") == frozenset()
