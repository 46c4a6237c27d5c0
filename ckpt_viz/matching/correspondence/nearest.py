"""Items that look alike: which are nearest to each other, inside the parts that are paired."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from ckpt_viz.graphs.nodes.walks import above
from ckpt_viz.matching.correspondence.items import OUTSIDE
from ckpt_viz.matching.correspondence.pairing import PairedItems

_MOST_COMPARED = 400  # pairs of one look
Key = Callable[[int], Hashable]


def nearest(
    paired: PairedItems, xs: Sequence[int], ys: Sequence[int], left: Key, right: Key
) -> Iterator[tuple[int, int]]:
    """Yield items of one key that have no rival as deep inside the parts in pairs."""
    for equal_xs, equal_ys in of_one_key(xs, ys, left, right):
        if len(equal_xs) * len(equal_ys) > 1:
            yield from _without_rival(
                {(x, y): depth_in_common(paired, x, y) for x, y in product(equal_xs, equal_ys)}
            )


def of_one_key(
    xs: Sequence[int], ys: Sequence[int], left: Key, right: Key
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the items of each key that both sides have, unless they are too many to compare."""
    groups = _by_key(xs, left), _by_key(ys, right)
    for key, equal_xs in groups[0].items():
        equal_ys = groups[1].get(key, [])
        if 0 < len(equal_xs) * len(equal_ys) <= _MOST_COMPARED:
            yield equal_xs, equal_ys


def _by_key(items: Iterable[int], key: Key) -> Mapping[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def depth_in_common(paired: PairedItems, x: int, y: int) -> int:
    """Return the depth of the lowest pair that both items are below."""
    partners = {
        paired.by_node[n].obj: n for n in above(paired.saved.items.parent, x) if n in paired.by_node
    }
    holders = (partners[obj] for obj in above(paired.live.items.parent, y) if obj in partners)
    lowest = next(holders, OUTSIDE)
    return sum(1 for _ in above(paired.saved.items.parent, lowest)) + 1 if lowest != OUTSIDE else 0


def _without_rival(depth: Mapping[tuple[int, int], int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that are deeper than all other pairs of either item."""
    for pair, own in depth.items():
        rivals = (
            deep
            for other, deep in depth.items()
            if other != pair and (other[0] == pair[0] or other[1] == pair[1])
        )
        if all(deep < own for deep in rivals):
            yield pair
