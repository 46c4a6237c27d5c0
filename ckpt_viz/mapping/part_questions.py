"""Questions to the parts of one side or both: which are alone, items, siblings, in a chain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from ckpt_viz.mapping.full_names import without_number
from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.pairs import Pair
from ckpt_viz.mapping.parts import Parts
from ckpt_viz.mapping.sequences import INDEX
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, has_value

_NUMBER = re.compile(r"\d{1,9}$")
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


def is_wrapper(side: Parts, parts: Sequence[int]) -> bool:
    """Return whether these are one inner part that is no item of a sequence."""
    return (
        len(parts) == 1
        and bool(side.children[parts[0]])
        and INDEX.fullmatch(side.label(parts[0])) is None
    )


def first_below(side: Parts, part: int) -> Iterator[int]:
    """Yield the first parts below a part."""
    return islice(side.below(part), 1, _MOST_WITHIN)


def inner_parts(side: Parts, tops: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return by form the first parts below some others, each with the one that it is below."""
    found: dict[int, list[tuple[int, int]]] = {}
    for top in tops:
        for part in first_below(side, top):
            found.setdefault(side.form[part], []).append((part, top))
    return found


def is_like(label: str, side: Parts, part: int, top: int) -> bool:
    """Return whether a part inside a new one is what had this local name: by its name or holder.

    An index says something in its own sequence alone, in which the new part is.
    """
    if local_name(label) == local_name(side.label(top)):
        return True
    return not INDEX.fullmatch(label) and local_name(label) == local_name(side.label(part))


def has_full_name(graph: Graph, part: int) -> bool:
    """Return whether a part has the full name of a variable, other than TensorFlow's default."""
    names = (a.full_name.removesuffix(":0") for a in graph.nodes[part].attributes)
    return any(without_number(name) not in ("", "Variable", "variable") for name in names)


def are_siblings(side: Parts, parts: Iterable[int]) -> bool:
    """Return whether one part holds all of these."""
    return len({side.parent(part) for part in parts}) == 1


def branching(side: Parts, part: int, matched: Container[int], *, is_at_optimizers: bool) -> int:
    """Return the first part from here down that holds more than one part, of the model or not.

    A sequence with one item is such a part, too, and so is one that holds a matched part.
    """
    for _ in range(_MOST_WITHIN):  # a hostile chain has a hundred thousand parts
        inner = _kept_apart(side, part, is_at_optimizers)
        if not is_wrapper(side, inner) or inner[0] in matched:
            break
        part = inner[0]
    return part


def have_common(saved: Parts, live: Parts, node: int, obj: int) -> bool:
    """Return whether two inner parts have children of one local name, or inner ones of one form."""
    labels = {local_name(saved.label(child)) for child in saved.children[node]}
    forms = {saved.form[child] for child in saved.children[node] if saved.children[child]}
    return any(
        local_name(live.label(child)) in labels or live.form[child] in forms
        for child in live.children[obj]
    )


def have_one_look(saved: Parts, live: Parts, node: int, obj: int) -> bool:
    """Return whether the children of two parts are values of the same dtypes and shapes."""
    ours, theirs = saved.children[node], live.children[obj]
    looks = [saved.look[one] for one in ours], [live.look[one] for one in theirs]
    return bool(ours) and -1 not in looks[0] and sorted(looks[0]) == sorted(looks[1])


def are_similar(saved: Parts, live: Parts, node: int, obj: int) -> bool:
    """Return whether two parts have all or some of their content in common."""
    if saved.values[node] == live.values[obj]:
        return True
    is_inner = bool(saved.children[node] and live.children[obj])
    return is_inner and have_common(saved, live, node, obj)


def above_chain(side: Parts, part: int) -> int:
    """Return the part above a part and above all that hold nothing else; -1 above the root.

    An optimizer beside the model does not count.
    """
    above, is_state = side.parent(part), part in side.of_optimizer
    for _ in range(_MOST_WITHIN):
        if above <= ROOT or side.counts[above][is_state] > 1:
            break
        above = side.parent(above)
    return above


def _kept_apart(side: Parts, part: int, is_at_optimizers: bool) -> list[int]:
    """Return the parts directly below a part that belong to optimizers, or those that do not."""
    return [one for one in side.children[part] if (one in side.of_optimizer) == is_at_optimizers]


def is_chain(side: Parts, parts: Sequence[int]) -> bool:
    """Return whether each part is directly below the one before it."""
    return all(side.parent(inner) == outer for outer, inner in pairwise(parts))


def is_in_its_namesake(saved: Parts, node: int, live: Parts, obj: int) -> bool:
    """Return whether one of two parts has a holder with the other one's name, and nothing else.

    Then the two are on different levels of a chain: `a.b` and `a.inner.b`.
    """
    sides = (saved, node), (live, obj)
    for (side, part), (other_side, other) in (sides, sides[::-1]):
        above = side.parent(part)
        if above < 0 or side.values[above] != side.values[part]:
            continue
        label = other_side.label(other)
        is_namesake = side.label(above) == label != side.label(part)
        if is_namesake or side.place[above] == other_side.place[other]:
            return True
    return False


def all_differ(saved: Parts, ours: Iterable[int], live: Parts, theirs: Iterable[int]) -> bool:
    """Return whether no part of one side has the values of a part of the other."""
    return {saved.values[one] for one in ours}.isdisjoint({live.values[one] for one in theirs})


def have_one_number(label: str, other: str) -> bool:
    """Return whether two local names end with the same number.

    >>> have_one_number("0", "item_0"), have_one_number("0", "item_1"), have_one_number("a", "b")
    (True, False, False)
    """
    numbers = _NUMBER.search(label), _NUMBER.search(other)
    return numbers[0] is not None and numbers[1] is not None and numbers[0][0] == numbers[1][0]


def with_names(side: Parts, parts: Iterable[int]) -> list[int]:
    """Return the parts that have a name in place of an index."""
    return [part for part in parts if side.name[part] >= 0]


def reach(
    saved: Parts, live: Parts, nodes: Sequence[int], pairs: Mapping[int, Pair]
) -> tuple[list[int], list[int]]:
    """Return by saved part the first and last place of the counterparts of values below it."""
    count, beyond = len(saved.graph.nodes), len(live.order)
    low, high = [beyond] * count, [-1] * count
    for node in reversed(nodes):
        pair = pairs.get(node)
        if pair is not None and has_value(saved.graph.nodes[node]):
            place = live.start[pair.obj]
            low[node], high[node] = min(low[node], place), max(high[node], place)
        above = saved.parent(node)
        if above >= ROOT:
            low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    return low, high


def paired_by_number(labels: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of names that differ by one word alone, by their numbers.

    >>> paired_by_number(["block_0", "block_2"], ["stage_2", "stage_0"])
    [(0, 1), (1, 0)]
    >>> paired_by_number(["block_0", "head_1"], ["stage_1", "stage_0"])
    []
    >>> paired_by_number(["0", "1"], ["layer1", "layer0"]), paired_by_number(["0", "1"], ["0", "1"])
    ([(0, 1), (1, 0)], [])
    """
    words = [{_NUMBER.sub("", label) for label in side} for side in (labels, others)]
    if len(words[0]) != 1 or len(words[1]) != 1 or words[0] | words[1] == {""}:
        return []
    numbers = [
        {found[0]: i for i, label in enumerate(side) if (found := _NUMBER.search(label))}
        for side in (labels, others)
    ]
    if len(numbers[0]) < len(labels) or len(numbers[1]) < len(others):
        return []
    return [(i, numbers[1][number]) for number, i in numbers[0].items() if number in numbers[1]]
