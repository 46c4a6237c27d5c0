"""Data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ckpt_viz.errors import UnsupportedError


def frame_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """Return a pandas.DataFrame with these columns, also of no rows.

    Raises UnsupportedError if pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise UnsupportedError(
            "a data frame needs pandas, which is not installed here; pip install pandas"
        ) from error
    return pandas.DataFrame([[row[name] for name in columns] for row in rows], columns=columns)
