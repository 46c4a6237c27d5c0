"""The order of the tests: nothing is lost, and browser tests begin at once."""

from __future__ import annotations

import pytest

from tests.support.shares import in_shares


@pytest.mark.parametrize("workers", range(1, 6))
@pytest.mark.parametrize("browser", [0, 1, 7, 50])
@pytest.mark.parametrize("others", [0, 3, 200])
def test_each_test_is_in_the_order_once(workers: int, browser: int, others: int) -> None:
    tests = list(range(browser + others))
    assert sorted(in_shares(tests[:browser], tests[browser:], workers)) == tests


@pytest.mark.parametrize(("workers", "shares"), [(2, "oB"), (3, "oBB"), (4, "ooBB"), (5, "ooBBB")])
def test_half_of_the_workers_begin_with_browser_tests(workers: int, shares: str) -> None:
    ordered = in_shares(["B"] * 13, ["o"] * 400, workers)
    begins = [len(ordered) * worker // workers for worker in range(workers)]
    assert "".join(ordered[begin] for begin in begins) == shares
