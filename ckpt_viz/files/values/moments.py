"""Mean and squared deviations of numbers, from pieces in any order, without overflow.

See Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
Variances", 1979.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ckpt_viz.formats.arrays.tensors import Array

_SAFE_EXPONENT = 400  # squares of numbers up to 2**400 have sums that fit into a float64


class Moments(NamedTuple):
    """The mean of `n` numbers, and the sum of their squared deviations from it.

    Both are those of the numbers times 2**-exponent. The exponent is 0 unless squares would
    overflow or vanish.
    """

    n: int = 0
    exponent: int = 0
    mean: float = 0.0
    m2: float = 0.0


def exponent_for(largest: float) -> int:
    """Return the exponent for numbers of which this is the largest magnitude."""
    exponent = math.frexp(largest)[1]
    return 0 if largest == 0 or abs(exponent) <= _SAFE_EXPONENT else exponent


def moments_of(numbers: Array, largest: float) -> Moments:
    """Return the moments of finite float64 numbers, and use their array for the arithmetic."""
    if not numbers.size:
        return Moments()
    exponent = exponent_for(largest)
    if exponent:
        np.ldexp(numbers, -exponent, out=numbers)
    mean = float(numbers.sum()) / numbers.size
    np.subtract(numbers, mean, out=numbers)
    np.multiply(numbers, numbers, out=numbers)
    return Moments(numbers.size, exponent, mean, float(numbers.sum()))


def moments_of_counted(values: Array, counts: Array) -> Moments:
    """Return the moments of values of small dtypes, each with the number of its elements."""
    n = int(counts.sum())
    if not n:
        return Moments()
    mean = float((counts * values).sum()) / n
    return Moments(n, 0, mean, float((counts * (values - mean) ** 2).sum()))


def joined_moments(a: Moments, b: Moments) -> Moments:
    """Return the moments of the numbers of both."""
    if not a.n or not b.n:
        return a if a.n else b
    exponent = max(_least_exponent(a), _least_exponent(b))
    a, b = _rescaled(a, exponent), _rescaled(b, exponent)
    n = a.n + b.n
    delta = b.mean - a.mean
    return Moments(
        n,
        exponent,
        a.mean + delta * (b.n / n),
        a.m2 + b.m2 + delta * delta * (a.n / n) * b.n,
    )


def mean_of(moments: Moments) -> float:
    """Return the mean."""
    return math.ldexp(moments.mean, moments.exponent)


def std_of(moments: Moments) -> float:
    """Return the standard deviation of the population, as `np.std`."""
    return math.ldexp(math.sqrt(moments.m2 / moments.n), moments.exponent)


def l2_of(moments: Moments) -> float:
    """Return the Euclidean norm; infinity if a float64 cannot hold it."""
    squares = moments.m2 + moments.n * moments.mean * moments.mean
    try:
        return math.ldexp(math.sqrt(squares), moments.exponent)
    except OverflowError:
        return math.inf


def _least_exponent(moments: Moments) -> int:
    is_zero = moments.mean == 0 and moments.m2 == 0
    return -(1 << 20) if is_zero else moments.exponent


def _rescaled(moments: Moments, exponent: int) -> Moments:
    shift = moments.exponent - exponent
    if not shift or (moments.mean == 0 and moments.m2 == 0):
        return moments._replace(exponent=exponent)
    return Moments(
        moments.n,
        exponent,
        math.ldexp(moments.mean, shift),
        math.ldexp(moments.m2, 2 * shift),
    )
