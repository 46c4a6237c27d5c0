"""Whether a tool failed because no network is there, and not because something is wrong."""

from __future__ import annotations

import re

import pytest

# npm ends with the code of Node. pip tells it in a warning before each further attempt: at the
# end it says only that it has found no version.
_UNREACHABLE = re.compile(
    r"^npm error code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)$"
    r"|after connection broken by '(?:NewConnection|NameResolution|ConnectTimeout)Error"
    r"(?s:.*)\(from versions: none\)",
    re.MULTILINE,
)


def is_unreachable(said: str) -> bool:
    """Return whether npm or pip has failed because no network is there."""
    return _UNREACHABLE.search(said) is not None


def skip_if_unreachable(said: str, place: str) -> None:
    """Skip the test if a tool failed since it does not reach a place on the network."""
    if is_unreachable(said):
        pytest.skip(f"no network: this test does not reach {place}")
