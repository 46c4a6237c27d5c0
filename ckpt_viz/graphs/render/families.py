"""The families of layers and their signs: families.json has them for Python and TypeScript."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("families.json").read_text("utf-8"))
_CLASSES = [(re.compile(pattern), family) for pattern, family in _TABLE["classes"]]


class Family(NamedTuple):
    """The sign of a family: a path in a square of 12 and, for text, a letter."""

    path: str
    letter: str


@lru_cache(maxsize=1024)
def family_of(type_name: str) -> Family | None:
    """Return the family of a class of layers, or None for a class of no known family.

    >>> family_of("Dense").letter, family_of("Encoder")
    ('≡', None)
    """
    for pattern, family in _CLASSES:
        if pattern.search(type_name):
            return Family(_TABLE["signs"][family], _TABLE["letters"][family])
    return None
