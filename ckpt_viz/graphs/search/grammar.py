"""The amounts and words of the grammar; grammar.json has them for Python and TypeScript."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

_TABLE = json.loads(Path(__file__).with_name("grammar.json").read_text("utf-8"))
# The most characters in a query, in a pasted text and in a pattern, and the most terms. `text` is
# how much of a name, and of the end of a path, a pattern is tried on.
LIMITS: Mapping[str, int] = _TABLE["limits"]
# By kind of amount, then by unit in lower case, what one unit is worth.
UNITS: Mapping[str, Mapping[str, float]] = _TABLE["units"]
# By value of `is:`, the states of a comparison that it means.
STATES: Mapping[str, Sequence[str]] = _TABLE["states"]
# By name of a measure of values, the kind of its amount.
MEASURES: Mapping[str, str] = _TABLE["measures"]
# The measures, and the values of `is:` about values, that only a comparison has.
COMPARED: Sequence[str] = _TABLE["compared"]
