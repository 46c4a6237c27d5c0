"""Modules without examples in their docstrings are not imported to look for these.

pytest imports each module of the package for this, also those that only Jupyter Server needs.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[2] / "ckpt_viz"


class DoctestsAlone:
    """A plugin that passes over modules of the package without examples."""

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Return True for a module without examples, else leave the decision to others."""
        if collection_path.suffix != ".py" or _PACKAGE not in collection_path.parents:
            return None
        return None if b">>> " in collection_path.read_bytes() else True
