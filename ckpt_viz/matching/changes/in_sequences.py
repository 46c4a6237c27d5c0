"""What happened to a sequence whose items have other indices now."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.changes.edges import Edge
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping


@dataclass
class Shift:
    """The items that have moved because others were inserted or removed before them.

    `inserted` are the live items without a saved one, `removed` the saved ones without a live one,
    and `number` tells how many items are more or fewer. `arrived` are live items that were saved
    elsewhere, and `left` saved ones that are elsewhere now. `undecided` items may be inserted or
    removed ones.
    """

    kind: Kind
    place: str
    number: int = 0
    edges: list[Edge] = field(default_factory=list)
    inserted: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    arrived: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    undecided: list[int] = field(default_factory=list)

    @property
    def words(self) -> tuple[str, str]:
        """The first place, and the number of items that are more or fewer."""
        return self.place, str(self.number)


def shifts(
    edges: Sequence[Edge],
    mapping: ValueMapping,
    paired: Container[int],
    guessed: tuple[Container[int], Container[int]],
) -> Iterator[Shift]:
    """Yield what moved the items of one sequence; nothing if they are in their places.

    `paired` are the live objects that have a counterpart, `guessed` the saved and the live items
    whose counterparts are guesses.
    """
    places = sorted((index(edge.old[0]), index(edge.new[0]), i) for i, edge in enumerate(edges))
    if all(old == new for old, new, _ in places):
        return
    if any(earlier[1] > later[1] for earlier, later in pairwise(places)):
        moved = [edges[i] for old, new, i in places if old != new]
        yield Shift(Kind.REORDERED, moved[0].old[0], len(moved), moved)
        return
    items = (
        _items(mapping.saved, edges[0].holder, edges[0].old[0]),
        _items(mapping.live, edges[0].new_holder, edges[0].new[0]),
    )
    by_kind: dict[Kind, Shift] = {}
    last: Shift | None = None
    before = (-1, -1)
    for old, new, i in places:
        more = (new - before[1]) - (old - before[0])
        if more:
            kind = Kind.INSERTED if more > 0 else Kind.REMOVED
            place = f"{_prefix(edges[i].new[0])}{min(old, new)}"
            last = by_kind.setdefault(kind, Shift(kind, place))
            last.number += abs(more)
            if more > 0:
                between = _between(items[1], before[1], new)
                last.inserted += [item for item in between if item not in paired]
                last.arrived.update(item for item in between if item in paired)
                last.undecided += [item for item in between if item in guessed[1]]
            else:
                between = _between(items[0], before[0], old)
                last.removed += [item for item in between if item not in mapping.parts]
                last.left.update(item for item in between if item in mapping.parts)
                last.undecided += [item for item in between if item in guessed[0]]
        if old != new and last is not None:
            last.edges.append(edges[i])
        before = (old, new)
    yield from (shift for shift in by_kind.values() if shift.edges)


def _between(items: Mapping[int, int], after: int, until: int) -> list[int]:
    """Return the items at the places between two."""
    return [items[place] for place in range(after + 1, until) if place in items]


def index(label: str) -> int:
    """Return the index in the local name of an item."""
    match = INDEX.fullmatch(label)
    assert match is not None
    return int(match[2])


def _prefix(label: str) -> str:
    match = INDEX.fullmatch(label)
    assert match is not None
    return match[1]


def _items(graph: Graph, holder: int, label: str) -> Mapping[int, int]:
    """Return by index the items of the sequence that one of them, by its local name, belongs to."""
    return {
        index(child.local_name): child.node_id
        for child in graph.nodes[holder].children
        if INDEX.fullmatch(child.local_name) and _prefix(child.local_name) == _prefix(label)
    }
