"""The order of the tests: nothing is lost, and browser tests begin at once."""

from __future__ import annotations

import pytest

from tests.support.shares import in_shares


@pytest.mark.parametrize(("workers", "shares"), [(2, "oB"), (3, "oBB"), (4, "ooBB"), (5, "ooBBB")])
def test_half_of_the_workers_begin_with_browser_tests(workers: int, shares: str) -> None:
    tests = [f"B{number}" for number in range(13)] + [f"o{number}" for number in range(400)]
    ordered = in_shares(tests[:13], tests[13:], workers)
    begins = [len(ordered) * worker // workers for worker in range(workers)]
    assert "".join(ordered[begin][0] for begin in begins) == shares
    assert sorted(ordered) == sorted(tests)
