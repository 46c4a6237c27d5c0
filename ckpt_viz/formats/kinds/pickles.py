"""What a pickle says of itself, from its operations: nothing is ever loaded."""

from __future__ import annotations

import io
import pickletools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

_TORCH = 0x1950A86A20F9469CFC6C  # the first value of PyTorch's files before 1.6
_MOST_OPERATIONS = 5_000
_LEAST_OPERATIONS = 3  # of a pickle without a header
_PROTOCOL = 0x80
_MOST_NAME = 200
# Packages whose objects people pickle. Other words in a pickle may be data.
_KNOWN = frozenset(
    (
        *("catboost", "flax", "jax", "joblib", "keras", "lightgbm", "numpy", "pandas", "scipy"),
        *("sklearn", "tensorflow", "tf_keras", "torch", "transformers", "xgboost"),
    )
)


@dataclass(frozen=True, slots=True)
class PickleKind:
    """The packages whose objects a pickle makes, and whether PyTorch wrote it."""

    packages: tuple[str, ...]
    is_of_torch: bool


def pickle_kind(head: bytes, *, ends: bool) -> PickleKind | None:
    """Return the kind of a pickle from its beginning; None for other bytes.

    `ends` says whether the last byte of the file ends a pickle. The oldest protocols have no
    header, so they need it.
    """
    if head[0] != _PROTOCOL and not ends:
        return None
    operations = list(_operations(head))
    if len(operations) < _LEAST_OPERATIONS or operations[-1][0] == "":
        return None
    return PickleKind(
        tuple(dict.fromkeys(_packages(operations))),
        any(value == _TORCH for _, value in operations[:3]),
    )


def _operations(head: bytes) -> Iterator[tuple[str, object]]:
    """Yield names and arguments of the first operations; one without a name for other bytes."""
    stream = io.BytesIO(head)
    try:
        for operation, value, _ in islice(pickletools.genops(stream), _MOST_OPERATIONS):
            yield operation.name, value
    except Exception:  # pickletools raises many kinds, also where the beginning is cut
        if stream.tell() < len(head) or len(head) < 1 << 16:
            yield "", None


def _packages(operations: list[tuple[str, object]]) -> Iterator[str]:
    for _, value in operations:
        if isinstance(value, str):
            package = value[:_MOST_NAME].partition(" ")[0].partition(".")[0]
            if package in _KNOWN:
                yield package
