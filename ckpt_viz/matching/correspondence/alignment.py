"""Two lists in order: what keeps its order, what one alone has, and the best alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

_MOST_COMPARED = 40_000  # pairs of one alignment
Score = Callable[[int, int], float]


def unique(
    xs: Sequence[int],
    ys: Sequence[int],
    left: Callable[[int], Hashable],
    right: Callable[[int], Hashable],
) -> Iterator[tuple[int, int]]:
    """Yield the items whose key exactly one item of each side has.

    >>> list(unique([1, 2, 3], [11, 21, 31], {1: "a", 2: "b", 3: "b"}.get, {11: "a"}.get))
    [(1, 11)]
    """
    keys, other_keys = {x: left(x) for x in xs}, {y: right(y) for y in ys}
    count_of, other_count_of = Counter(keys.values()), Counter(other_keys.values())
    place = {key: y for y, key in other_keys.items()}
    for x, key in keys.items():
        if count_of[key] == other_count_of[key] == 1:
            yield x, place[key]


def longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs, sorted by their first number, whose second numbers increase.

    >>> longest_increasing([(0, 2), (1, 0), (2, 1)])
    [(1, 0), (2, 1)]
    """
    tails: list[int] = []
    ends: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for i, j in pairs:
        place = bisect_left(tails, j)
        before[i, j] = ends[place - 1] if place else None
        tails[place : place + 1], ends[place : place + 1] = [j], [(i, j)]
    return _followed(ends[-1] if ends else None, before)[::-1]


def _followed(
    pair: tuple[int, int] | None, before: dict[tuple[int, int], tuple[int, int] | None]
) -> list[tuple[int, int]]:
    chain = []
    while pair is not None:
        chain.append(pair)
        pair = before[pair]
    return chain


def align(xs: Sequence[int], ys: Sequence[int], score: Score) -> list[tuple[int, int]]:
    """Return the pairs of the greatest score that keep their order.

    This is the algorithm of Needleman and Wunsch (1970). Lists that are too long for it are
    aligned from both ends, as far as they go.

    >>> align([1, 2, 3], [2, 3, 4], lambda x, y: float(x == y))
    [(2, 2), (3, 3)]
    """
    if len(xs) * len(ys) > _MOST_COMPARED:
        return _from_both_ends(xs, ys, score)
    worth = [[score(x, y) for y in ys] for x in xs]
    return [(xs[i], ys[j]) for i, j in _traced(worth, _best(worth, len(ys)))]


def _best(worth: Sequence[Sequence[float]], width: int) -> list[list[float]]:
    best = [[0.0] * (width + 1) for _ in range(len(worth) + 1)]
    for i in reversed(range(len(worth))):
        for j in reversed(range(width)):
            pair = worth[i][j] + best[i + 1][j + 1] if worth[i][j] > 0 else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], pair)
    return best


def _traced(
    worth: Sequence[Sequence[float]], best: Sequence[Sequence[float]]
) -> Iterator[tuple[int, int]]:
    i, j = 0, 0
    while i < len(worth) and j < len(worth[i]):
        if worth[i][j] > 0 and best[i][j] == worth[i][j] + best[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _from_both_ends(xs: Sequence[int], ys: Sequence[int], score: Score) -> list[tuple[int, int]]:
    front = _scored(zip(xs, ys, strict=False), score)
    left, right = xs[len(front) :], ys[len(front) :]
    back = _scored(zip(reversed(left), reversed(right), strict=False), score)
    return [*front, *reversed(back)]


def _scored(pairs: Iterator[tuple[int, int]], score: Score) -> list[tuple[int, int]]:
    """Return the first pairs, up to one that is worth nothing."""
    kept = []
    for x, y in pairs:
        if score(x, y) <= 0:
            break
        kept.append((x, y))
    return kept
