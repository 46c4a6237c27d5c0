"""The calls between the layers of a picture, as arrows between its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.render.row_tree import Row

_LANES = 3


class Bracket(NamedTuple):
    """An arrow from the place of a row to that of another one.

    In lane 0 it is straight, to the next row; in others it goes around the rows between.
    """

    producer: int
    consumer: int
    lane: int


def flow_of(
    view: Layers, calls: Iterable[Call], rows: Sequence[Row], lines: Sequence[int]
) -> Sequence[Bracket]:
    """Return the arrows between rows that have a line of their own.

    A call from outside of a row leads to that row and, below it, from it to the layer itself. So no
    end of a call is lost. Each arrow is between rows beside one another, or from a row into it.
    """
    place_of = {rows[place].place: place for place in lines if rows[place].place != NOWHERE}
    arrows = dict.fromkeys(arrow for call in calls for arrow in _arrows(view, call, place_of, rows))
    siblings: dict[int, list[int]] = {}
    for place in lines:
        siblings.setdefault(rows[place].parent, []).append(place)
    following = {
        (before, after) for below in siblings.values() for before, after in pairwise(below)
    }
    firsts = {(parent, below[0]) for parent, below in siblings.items()}
    taken: list[tuple[int, int, int]] = []
    brackets = []
    for producer, consumer in sorted(arrows, key=lambda ends: ends[1] - ends[0]):
        if (producer, consumer) in firsts:
            continue  # the line of the tree leads there
        lane = 0 if (producer, consumer) in following else _free(taken, producer, consumer)
        if lane <= _LANES:
            brackets.append(Bracket(producer, consumer, lane))
    return brackets


def _arrows(
    view: Layers, call: Call, place_of: Mapping[int, int], rows: Sequence[Row]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places between which a call leads, forwards alone."""
    ends = [_above(view, node, place_of, rows) for node in call]
    if not all(ends):
        return
    of_producer, of_consumer = ends
    shared = 0
    for a, b in zip(of_producer, of_consumer, strict=False):
        if a != b:
            break
        shared += 1
    if shared in (0, len(of_producer), len(of_consumer)):
        return
    producer, consumer = of_producer[shared], of_consumer[shared]
    if producer >= consumer:
        return
    yield producer, consumer
    yield from pairwise(of_consumer[shared:])


def _above(
    view: Layers, node: int, place_of: Mapping[int, int], rows: Sequence[Row]
) -> Sequence[int]:
    """Return the places from the root down to that of the row which shows a node."""
    row = view.shown_in[node]
    while row != NOWHERE and row not in place_of:
        row = view.parents[row]
    if row == NOWHERE:
        return ()
    places = [place_of[row]]
    while (parent := rows[places[-1]].parent) >= 0:
        places.append(parent)
    return places[::-1]


def _free(taken: list[tuple[int, int, int]], start: int, end: int) -> int:
    """Take and return the first lane without an arrow between these places."""
    lane = 1
    while any(lane == used and start < last and first < end for first, last, used in taken):
        lane += 1
    taken.append((start, end, lane))
    return lane
