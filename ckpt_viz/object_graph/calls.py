"""Which layers call which: edges from the layer that makes a tensor to one that takes it."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    """Return rows with each producer before its consumers, and else in their own order.

    Rows without a call among them keep their places. In a circle of calls, the first row stays
    first.

    >>> in_call_order([5, 3, 9, 4], {3: [4], 4: [5]})
    [3, 4, 9, 5]
    """
    place = {row: i for i, row in enumerate(rows)}
    after = {row: [c for c in consumers.get(row, ()) if c in place and c != row] for row in rows}
    waits_for = dict.fromkeys(rows, 0)
    for below in after.values():
        for row in below:
            waits_for[row] += 1
    called = [row for row in rows if after[row] or waits_for[row]]
    ready = [place[row] for row in called if not waits_for[row]]
    ordered: list[int] = []
    done: set[int] = set()
    rest = iter(called)
    while len(ordered) < len(called):
        row = rows[heapq.heappop(ready)] if ready else next(r for r in rest if r not in done)
        if row in done:
            continue
        done.add(row)
        ordered.append(row)
        for consumer in after[row]:
            waits_for[consumer] -= 1
            if not waits_for[consumer]:
                heapq.heappush(ready, place[consumer])
    in_order = iter(ordered)
    moves = set(called)
    return [next(in_order) if row in moves else row for row in rows]
