"""TensorFlow for whole modules of tests, imported by the first test that needs it.

Else collecting the tests would import it, also for those who run the fast tests alone.
"""

from __future__ import annotations

from typing import Any

import pytest


class _Later:
    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name != "__internal__":  # pytest asks each name of a module
            raise AttributeError(name)
        return getattr(pytest.importorskip(self._module), name)


tf: Any = _Later("tensorflow")
v1: Any = _Later("tensorflow.compat.v1")
