"""Which layers call which: edges from the layer that makes a tensor to one that takes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Call(NamedTuple):
    """An edge along which tensors go, by node ids: `consumer` is called on what `producer` makes.

    Between the two can be operations that are no nodes, such as `x + y`.
    """

    producer: int
    consumer: int


def consumers_of(calls: Iterable[Call]) -> Mapping[int, Sequence[int]]:
    """Return by producer its consumers."""
    consumers: dict[int, list[int]] = defaultdict(list)
    for producer, consumer in calls:
        consumers[producer].append(consumer)
    return consumers


def in_call_order(rows: Sequence[int], consumers: Mapping[int, Sequence[int]]) -> list[int]:
    """Return rows with each producer before its consumers, and each branch in one piece.

    The branches that a row joins come before this row, the longest of them first. Rows without a
    call among them keep their places. In a circle of calls, the first row stays first.

    >>> in_call_order([5, 3, 9, 4], {3: [4], 4: [5]})
    [3, 4, 9, 5]
    >>> in_call_order([1, 7, 2, 8, 3], {1: [2], 2: [3], 7: [8], 8: [3]})
    [1, 2, 7, 8, 3]
    """
    place = {row: i for i, row in enumerate(rows)}
    after = {row: [c for c in consumers.get(row, ()) if c in place and c != row] for row in rows}
    before: dict[int, list[int]] = {row: [] for row in rows}
    for row, below in after.items():
        for consumer in below:
            before[consumer].append(row)
    lengths = _lengths(rows, after, before)
    for producers in before.values():
        producers.sort(key=lambda row: (-lengths[row], place[row]))
    called = [row for row in rows if after[row] or before[row]]
    ends = [row for row in called if not after[row]]
    in_order = iter(_producers_first([*ends, *called], before))
    moves = set(called)
    return [next(in_order) if row in moves else row for row in rows]


def _lengths(
    rows: Sequence[int], after: Mapping[int, Sequence[int]], before: dict[int, list[int]]
) -> Mapping[int, int]:
    """Return the length of the longest way to each row, and cut circles in `before`.

    A circle is cut before the first of its rows.
    """
    lengths: dict[int, int] = {}
    longest = dict.fromkeys(rows, 0)
    waits_for = {row: len(before[row]) for row in rows}
    ready = [row for row in rows if not waits_for[row]]
    rest = iter(rows)
    while len(lengths) < len(longest):
        if not ready:
            first = next(row for row in rest if row not in lengths)
            before[first] = [producer for producer in before[first] if producer in lengths]
            ready.append(first)
        row = ready.pop()
        lengths[row] = longest[row]
        for consumer in after[row]:
            longest[consumer] = max(longest[consumer], lengths[row] + 1)
            waits_for[consumer] -= 1
            if not waits_for[consumer] and consumer not in lengths:
                ready.append(consumer)
    return lengths


def _producers_first(ends: Iterable[int], before: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield all rows that lead to the ends, each after its producers, depth first."""
    seen: set[int] = set()
    for end in ends:
        if end in seen:
            continue
        seen.add(end)
        stack = [(end, iter(before[end]))]
        while stack:
            row, producers = stack[-1]
            following = next((p for p in producers if p not in seen), None)
            if following is None:
                stack.pop()
                yield row
            else:
                seen.add(following)
                stack.append((following, iter(before[following])))
