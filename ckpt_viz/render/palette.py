"""The colours of the explorer, for pictures: palette.json has them for Python and TypeScript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PALETTE: dict[str, Any] = json.loads(Path(__file__).with_name("palette.json").read_text("utf-8"))

LIGHT: Mapping[str, str] = _PALETTE["light"]
DARK: Mapping[str, str] = _PALETTE["dark"]
# Colours of Graphviz's pictures that differ from the explorer's
DOT: Mapping[str, str] = _PALETTE["dot"]
