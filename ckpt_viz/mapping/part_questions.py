"""Questions to the parts of one side or both: which are alone, items, siblings, in a chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.parts import Parts
from ckpt_viz.mapping.sequences import INDEX
from ckpt_viz.object_graph.graph import Graph

_MOST_WITHIN = 64  # parts of a new part among which another one may be


def alone(
    ours: Iterable[int], theirs: Iterable[int], of_saved: Sequence[int], of_live: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the parts whose number no other part of their own side has."""
    left, right = defaultdict(list), defaultdict(list)
    for node in ours:
        left[of_saved[node]].append(node)
    for obj in theirs:
        right[of_live[obj]].append(obj)
    for number, nodes in left.items():
        if len(nodes) == len(right.get(number, ())) == 1:
            yield nodes[0], right[number][0]


def are_items(side: Parts, parts: Iterable[int]) -> bool:
    """Return whether indices lead to any of these parts."""
    return any(INDEX.fullmatch(side.label(part)) for part in parts)


def first_below(side: Parts, part: int) -> Iterator[int]:
    """Yield the first parts below a part."""
    return islice(side.below(part), 1, _MOST_WITHIN)


def is_like(label: str, side: Parts, part: int, top: int) -> bool:
    """Return whether a part inside a new one is what had this local name: by its name or holder."""
    return local_name(label) in (local_name(side.label(part)), local_name(side.label(top)))


def has_full_name(graph: Graph, part: int) -> bool:
    """Return whether a part has the full name of a variable."""
    return any(attribute.full_name for attribute in graph.nodes[part].attributes)


def are_siblings(side: Parts, parts: Iterable[int]) -> bool:
    """Return whether one part holds all of these."""
    return len({side.parent(part) for part in parts}) == 1


def optimizers_of(graph: Graph) -> dict[int, set[int]]:
    """Return, by variable, the optimizers that have slot variables for it."""
    found: dict[int, set[int]] = defaultdict(set)
    for node in graph.nodes:
        if node.slot is not None and node.slot.optimizer is not None:
            found[node.slot.variable].add(node.slot.optimizer)
    return found


def branching(side: Parts, part: int) -> int:
    """Return the first part from here down that holds more than one part."""
    while len(side.children[part]) == 1 and side.children[side.children[part][0]]:
        part = side.children[part][0]
    return part


def is_chain(side: Parts, parts: Sequence[int]) -> bool:
    """Return whether each part is directly below the one before it."""
    return all(side.parent(inner) == outer for outer, inner in pairwise(parts))
