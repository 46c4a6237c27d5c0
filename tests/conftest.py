"""Fixtures of the tests that restore."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def quiet_tensorflow() -> None:
    """Keep TensorFlow from warning of every value that a restore leaves behind."""
    from tests.support.oracle import silence_tensorflow

    silence_tensorflow()
