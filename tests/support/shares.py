"""The order in which the workers of pytest-xdist run all tests.

With `--dist worksteal` each worker begins with a share of the tests, in their order. Then it takes
over the end of what another one still has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def in_shares(browser: Sequence[T], others: Sequence[T], workers: int) -> list[T]:
    """Let half of the workers begin with browser tests, and the others with other tests.

    Browser tests wait a lot, so they run beside those that compute. The first one of each worker
    starts a JupyterLab and a Chromium.
    """
    browser, others = list(browser), list(others)
    total, browsing = len(browser) + len(others), (workers + 1) // 2
    ordered: list[T] = []
    for left in range(workers, 0, -1):
        share = (total - len(ordered)) // left  # as pytest-xdist divides them
        of_browser = -(-len(browser) // left) if left <= browsing else 0
        of_others = max(0, share - of_browser)
        ordered += browser[:of_browser] + others[:of_others]
        del browser[:of_browser], others[:of_others]
    return ordered
