"""Which modules pytest imports for the examples in their docstrings.

It would import each module of the package for this, also those that only Jupyter Server needs.
"""

from __future__ import annotations

import re
from pathlib import Path

_PACKAGE = Path(__file__).parents[2] / "ckpt_viz"


# An example of a public name, which tests/test_examples.py runs with a program and its checkpoints.
_OF_A_PUBLIC_NAME = re.compile(rb"^ *(?:>>>|\.\.\.) .*\bcv\.", re.MULTILINE)


def modules_of_public_examples() -> list[Path]:
    """Return the modules that have examples of public names."""
    paths = sorted(_PACKAGE.rglob("*.py"))
    return [path for path in paths if _OF_A_PUBLIC_NAME.search(path.read_bytes())]


class DoctestsAlone:
    """A plugin that passes over modules of the package without examples of their own."""

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Return True for a module to pass over, else leave the decision to others."""
        if collection_path.suffix != ".py" or _PACKAGE not in collection_path.parents:
            return None
        source = collection_path.read_bytes()
        return None if b">>> " in source and not _OF_A_PUBLIC_NAME.search(source) else True
