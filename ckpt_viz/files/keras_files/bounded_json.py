"""JSON in Keras' files: a configuration, or a list of shards, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ckpt_viz.errors import FormatError, UnsupportedError

_MOST_VALUES = 2_500_000
_OBJECT = 4  # an object takes as much memory as so many numbers or short texts


def mapping_in(place: str, encoded: bytes) -> Mapping[str, Any]:
    """Return a JSON object; `place` says in messages where it is.

    Raises FormatError if it is none, and UnsupportedError if it would take too much memory: a byte
    of JSON can take 50 bytes.
    """
    values = encoded.count(b",") + encoded.count(b"[") + _OBJECT * encoded.count(b"{")
    if values > _MOST_VALUES:
        raise UnsupportedError(
            f"{place} has JSON of some {values} values, expected at most {_MOST_VALUES}"
        )
    try:
        value = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place} is no JSON: {error}") from error
    if not isinstance(value, Mapping):
        raise FormatError(f"{place} is no JSON object")
    return value
