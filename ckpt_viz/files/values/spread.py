"""How far several tensors of one dtype and shape are from each other and from their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ckpt_viz.files.values.difference import as_numbers, native_patterns, relative
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder
from ckpt_viz.formats.arrays.tensors import Array

_BLOCK_BYTES = 1 << 23  # of float64 numbers of all members together


class Spread(NamedTuple):
    """Squared distances of N members, from elements that are finite in all of them.

    `squares` is N×N, `to_mean` has N numbers, and `mean` is the squared norm of their mean.
    """

    squares: Array
    to_mean: Array
    mean: float

    def joined(self, other: Spread) -> Spread:
        """Return the spread of the elements of both."""
        return Spread(
            self.squares + other.squares, self.to_mean + other.to_mean, self.mean + other.mean
        )

    @property
    def disagreement(self) -> float:
        """The root mean square distance of members to their mean, as a fraction of its norm."""
        distance = math.sqrt(float(self.to_mean.mean())) if self.to_mean.size else 0.0
        return relative(distance, math.sqrt(self.mean))


def spread_of(members: Sequence[bytes], dtype: str, byte_orders: Sequence[ByteOrder]) -> Spread:
    """Return the spread of the stored bytes of whole elements, of one length for all members."""
    number = len(members)
    size = ELEMENT_BYTES[dtype] or 1
    patterns = [
        native_patterns(data, dtype, order)
        for data, order in zip(members, byte_orders, strict=True)
    ]
    spread = Spread(np.zeros((number, number)), np.zeros(number), 0.0)
    step = max(1, _BLOCK_BYTES // (8 * max(number, 1)))
    with np.errstate(all="ignore"):  # a file may have any patterns
        for start in range(0, len(members[0]) // size if members else 0, step):
            block = np.stack([as_numbers(part[start : start + step], dtype) for part in patterns])
            spread = spread.joined(_of_block(block))
    return spread


def _of_block(block: Array) -> Spread:
    """Return the spread of an N×M block of numbers."""
    block = block[:, np.isfinite(block).all(axis=0)]
    mean = block.mean(axis=0)
    # Distances to the mean are as small as those between members, so little is lost by squares.
    apart = block - mean
    products = np.real(apart @ apart.conj().T)
    own = np.diag(products).copy()
    squares = np.maximum(own[:, None] + own[None, :] - 2 * products, 0.0)
    np.fill_diagonal(squares, 0.0)
    return Spread(squares, own, float(np.real(mean @ mean.conj())))
