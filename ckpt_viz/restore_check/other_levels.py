"""Parts of the two sides that would fit if they were on the same level."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from heapq import nlargest
from itertools import islice, product
from typing import NamedTuple

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.name_evidence import paired_by_name
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Role, has_value
from ckpt_viz.object_graph.subtrees import values_of
from ckpt_viz.object_graph.tree import NOWHERE
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.sides import child_names, is_optimizer, subtree
from ckpt_viz.restore_check.twins import paired_twins

_MAX_NEAR = 40  # nodes near a root that may be its counterpart
_MAX_LOOKED_AT = 40  # pairs of them
_MAX_TWINS = 32  # names cannot distinguish more of them
_FEWEST_SURE = 2  # equal values below two nodes that alone prove that they belong together
_MAX_DEPTH = 2
_MAX_BESIDE = 20  # objects that a remedy lists beside the shifted one
_FITTING_PER_MISFIT = 10  # values that fit, for each that would not


Shapes = tuple[tuple[str, tuple[int, ...] | None], ...]
"""The names and shapes of a node's values."""


class FittingGroup(NamedTuple):
    """Saved nodes and live objects that all fit each other: usually one of each.

    `pairs` are the nodes and objects that belong together, by other evidence if there are several;
    empty without evidence. Each of the nodes has `number` values that fit.
    """

    nodes: Sequence[int]
    objects: Sequence[int]
    pairs: Mapping[int, int]
    number: int

    @property
    def has_rivals(self) -> bool:
        """Whether there was a choice."""
        return len(self.nodes) > 1 or len(self.objects) > 1


class ShiftedGroup(NamedTuple):
    """A group with its objects in the places of its nodes, and all values that fit then.

    `tops` are the nodes of this group, and of others, that move to their places; `values` are the
    values that fit below them. `places` holds the live objects by the saved path that each needs;
    first come those that already match and can stay. `number` counts all values that fit then.
    """

    group: FittingGroup
    tops: Mapping[int, int]
    values: Mapping[int, int]
    places: Mapping[tuple[str, ...], int]
    number: int


def groups_on_other_levels(case: Case) -> Iterator[FittingGroup]:
    """Yield pairs near the two roots, on different levels, those with the highest gain first.

    Each pair comes with its twins. The gain is the number of values below both that are not
    restored now. Between equals, the names below and above decide.
    """
    near = _Near(
        _near_root(case.saved, case.trace.restored),
        _near_root(case.live, case.trace.filled),
        {},
        {},
    )
    near.names_of_saved.update({node: child_names(case.saved, node) for node in near.saved})
    near.names_of_live.update({obj: child_names(case.live, obj) for obj in near.live})
    scored = []
    for node, (level, missing) in near.saved.items():
        names, path = near.names_of_saved[node], set(case.saved.path(node))
        for obj, (live_level, live_missing) in near.live.items():
            if level == live_level or _has_shifted_holders(case, near, node, obj):
                continue
            if common := len(names & near.names_of_live[obj]):
                share = common / max(len(names), len(near.names_of_live[obj]))
                gain = min(missing, live_missing)
                way = len(path.intersection(case.live.path(obj)))
                scored.append((-gain, -share, -way, level + live_level, node, obj))
    seen: set[tuple[int, int]] = set()
    for *_, node, obj in sorted(scored)[:_MAX_LOOKED_AT]:
        if (node, obj) not in seen:
            group = _with_twins(case, near, node, obj)
            if group is not None:
                seen.update(product(group.nodes, group.objects))
                yield group


class _Near(NamedTuple):
    """The nodes near the two roots, from `_near_root`, and the names of their children."""

    saved: Mapping[int, tuple[int, int]]
    live: Mapping[int, tuple[int, int]]
    names_of_saved: dict[int, set[str]]
    names_of_live: dict[int, set[str]]


def _has_shifted_holders(case: Case, near: _Near, node: int, obj: int) -> bool:
    """Return whether two parts of one name have holders with no other values: those have moved."""
    parent, label = case.saved.first_edges.get(node, (NOWHERE, ""))
    holder, name = case.live.first_edges.get(obj, (NOWHERE, ""))
    if label != name or parent not in near.saved or holder not in near.live:
        return False
    sides = (case.saved, parent, node), (case.live, holder, obj)
    return all(_number_below(g, one) == _number_below(g, other) for g, one, other in sides)


def _number_below(graph: Graph, top: int) -> int:
    below = (node for node in subtree(graph, top) if node != graph.save_counter)
    return sum(has_value(graph.nodes[node]) for node in below)


def _with_twins(case: Case, near: _Near, node: int, obj: int) -> FittingGroup | None:
    """Return a saved node and an object, with all other nodes and objects that fit equally well.

    A pair that puts the same values into the same variables is no twin. Returns None if another
    pair redirects fewer variables: a list of variables that are already restored belongs to the
    list of the same variables.
    """
    own = _tried(case, node, obj)
    names = near.names_of_saved[node] & near.names_of_live[obj]
    like_it = (
        case.signatures.alike(case.signatures.of_saved(node)).nodes,
        case.signatures.alike(case.signatures.of_live(obj)).objects,
    )
    saved = _candidates(near.saved, near.names_of_saved, names, like_it[0])
    live = _candidates(near.live, near.names_of_live, names, like_it[1])
    tried = {(node, other): _tried(case, node, other) for other in live if other != obj}
    tried |= {(other, obj): _tried(case, other, obj) for other in saved if other != node}
    equals = {pair: other for pair, other in tried.items() if _is_as_good(case, own, other)}
    if any(other.redirected < own.redirected for other in equals.values()):
        return None
    twins = [pair for pair, other in equals.items() if other.redirected == own.redirected]
    nodes = sorted({node, *(one for one, _ in twins)})
    objects = sorted({obj, *(one for _, one in twins)})
    if len(nodes) == len(objects) == 1:
        return FittingGroup(nodes, objects, {node: obj}, len(own.values))
    is_too_many = max(len(nodes), len(objects)) > _MAX_TWINS
    pairs = {} if is_too_many else paired_twins(case, nodes, objects)
    return FittingGroup(nodes, objects, pairs, len(own.values))


def _candidates(
    near: Iterable[int], names_of: Mapping[int, Set[str]], names: Set[str], alike: Iterable[int]
) -> list[int]:
    """Return possible twins: near the root with these children, or alike in any place."""
    found = [one for one in near if names <= names_of[one]]
    return list(islice(dict.fromkeys((*found, *alike)), _MAX_TWINS + 1))


class _Tried(NamedTuple):
    """The values that fit if a saved node goes into an object.

    `redirected` counts the saved variables among them that a restore now puts into another object.
    """

    values: Mapping[int, int]
    redirected: int


def _tried(case: Case, node: int, obj: int) -> _Tried:
    values, _ = _fitting(case, _walk(case, node, obj, {}, set()))
    redirected = sum(
        one in case.trace.restored and case.trace.bound[one] != other
        for one, other in values.items()
        if case.saved.nodes[one].role is Role.VARIABLE
    )
    return _Tried(values, redirected)


def _is_as_good(case: Case, one: _Tried, other: _Tried) -> bool:
    """Return whether as many values fit, and not all of them are in their place already."""
    is_missed = any(
        node not in case.trace.restored and obj not in case.trace.filled
        for node, obj in other.values.items()
    )
    return (
        bool(one.values)
        and len(other.values) >= len(one.values)
        and is_missed
        and other.values != one.values
    )


def _near_root(graph: Graph, done: Set[int]) -> dict[int, tuple[int, int]]:
    """Return nodes near the root: their levels, and how many values below them are not done.

    If there are too many nodes, return those with most such values.
    """
    below = [0] * len(graph.nodes)
    for node_id, node in enumerate(graph.nodes):
        if node.attributes and node_id not in done and node_id != graph.save_counter:
            optimizer = node.slot.optimizer if node.slot is not None else None
            below[node_id if optimizer is None else optimizer] += 1
    for node_id in reversed(tuple(graph.tree.preorder())):
        if node_id != ROOT:
            below[graph.tree.parents[node_id]] += below[node_id]
    levels = {ROOT: 0}
    for node_id, (parent, _) in graph.first_edges.items():
        if parent in levels and levels[parent] < _MAX_DEPTH:
            levels[node_id] = levels[parent] + 1
    nearest = nlargest(_MAX_NEAR, levels, key=below.__getitem__)
    return {node_id: (levels[node_id], below[node_id]) for node_id in nearest if below[node_id]}


def shift_of(case: Case, group: FittingGroup, others: Mapping[int, int]) -> ShiftedGroup | None:
    """Return what fits if the nodes of a group go into its objects; None if too little does.

    `others` are objects for the siblings of the shifted nodes.
    """
    (node, obj), *rest = group.pairs.items() or ((group.nodes[0], group.objects[0]),)
    own = _walk(case, node, obj, {}, set())
    values, misfits = _fitting(case, own)
    if not values or misfits * _FITTING_PER_MISFIT > len(values):
        return None
    tops = {node: obj}
    if group.pairs:
        for node, obj in (*rest, *others.items()):
            _put_beside(case, node, obj, tops, own, is_twin=node in group.pairs)
    siblings = _siblings(case, tops)
    if len(siblings) > _MAX_BESIDE:
        return None
    beside, stays, moved = _beside(case, tops, own, siblings, others)
    own.update(moved)
    own.update(dict(_slots(case, own, {**stays, **own})))
    values, _ = _fitting(case, own)
    number = len(values.keys() | _fitting(case, stays)[0].keys())
    if not group.pairs:
        number += group.number * (min(len(group.nodes), len(group.objects)) - 1)
    # The wrapper of an optimizer shifts all of its state, however large the rest is.
    has_optimizer = is_optimizer(case.saved.nodes[next(iter(tops))])
    most = number if has_optimizer or not group.pairs else len(values)
    if 2 * most < min(number_of_values(case.live), number_of_values(case.saved)):
        return None
    places = {**beside, **{case.saved.path(node): obj for node, obj in tops.items()}}
    return ShiftedGroup(group, tops, values, places, number)


def _put_beside(
    case: Case,
    node: int,
    obj: int,
    tops: dict[int, int],
    own: dict[int, int],
    *,
    is_twin: bool,
) -> None:
    """Put one more node into its object, if neither has a place yet and it fits overall."""
    way = {node, *_above(case.saved, node)}
    if node in case.trace.bound or node in own or not tops.keys().isdisjoint(way) or ROOT in tops:
        return
    if any(node in _above(case.saved, top) for top in tops):
        return
    new = _walk(case, node, obj, own, set(own.values()))
    values, misfits = _fitting(case, new)
    is_same = case.signatures.of_saved(node) is not None and case.signatures.of_saved(
        node
    ) == case.signatures.of_live(obj)
    is_sure = is_twin or (is_same and len(values) >= _FEWEST_SURE)
    is_sure = is_sure or bool(paired_by_name([case.saved.path(node)], [case.live.path(obj)]))
    if obj not in own.values() and is_sure and values and not misfits:
        tops[node] = obj
        own.update(new)


def _beside(
    case: Case,
    tops: Mapping[int, int],
    own: Mapping[int, int],
    siblings: Mapping[int, tuple[tuple[str, ...], int]],
    others: Mapping[int, int],
) -> tuple[dict[tuple[str, ...], int], dict[int, int], dict[int, int]]:
    """Return what fits beside the shifted nodes, by saved path.

    Also return what is bound below: the nodes in their place, then the shifted ones.
    """
    beside: dict[tuple[str, ...], int] = {}
    stays: dict[int, int] = {}
    moved: dict[int, int] = {}
    # A restore meets the siblings themselves first, whatever other edges lead to them.
    above = [node for top in tops for node in _above(case.saved, top)]
    bound: dict[int, int] = dict.fromkeys((*above, *siblings), ROOT) | dict(tops)
    taken = set(tops.values())
    for child, (path, place) in siblings.items():
        places = {place, others.get(child, place)}.difference(own.values())
        walks = [_walk(case, child, one, bound, taken) for one in sorted(places)]
        new = max(walks, key=lambda walk: _surplus(case, walk), default={})
        if _surplus(case, new) > 0:
            beside[path] = new[child]
            (stays if new[child] == place else moved).update(new)
            bound.update(new)
            taken.update(new.values())
    return beside, stays, moved


def _walk(
    case: Case, node: int, obj: int, bound: Mapping[int, int], taken: Set[int]
) -> dict[int, int]:
    """Return what becomes bound below a pair of nodes, by local name."""
    new = {node: obj}
    new_taken = {obj}
    queue = deque([(node, obj)])
    while queue:
        saved_id, live_id = queue.popleft()
        for child in case.saved.nodes[saved_id].children:
            other = case.live_side.child(live_id, child.local_name)
            if other is None or child.node_id in bound or child.node_id in new:
                continue
            if other not in taken and other not in new_taken and child.local_name != SAVE_COUNTER:
                new[child.node_id] = other
                new_taken.add(other)
                queue.append((child.node_id, other))
    return new


def _slots(
    case: Case, optimizers: Mapping[int, int], bound: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the declared slot variables of these optimizers, by variable and name."""
    for node, obj in optimizers.items():
        live = {(s.variable, s.slot_name): s for s in case.live.nodes[obj].slot_variables}
        for slot in case.saved.nodes[node].slot_variables:
            other = live.get((bound.get(slot.variable, -1), slot.slot_name))
            if other is not None:
                yield slot.slot_variable, other.slot_variable


def _fitting(case: Case, pairs: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Return the values that fit, by dtype and shape, and the number of those that do not."""
    fitting = {}
    misfits = 0
    for node, obj in pairs.items():
        saved, live = case.saved.nodes[node], case.live.nodes[obj]
        if saved.attributes and values_of(saved) == values_of(live):
            fitting[node] = obj
        elif saved.attributes or live.attributes:
            misfits += 1
    return fitting, misfits


def _surplus(case: Case, pairs: Mapping[int, int]) -> int:
    fitting, misfits = _fitting(case, pairs)
    return len(fitting) - misfits


def _above(graph: Graph, node: int) -> list[int]:
    """Return the nodes on the way from the root to a node."""
    found: list[int] = []
    while node != ROOT:
        node = graph.tree.parents[node]
        found.append(node)
    return found[::-1]


def _siblings(case: Case, tops: Mapping[int, int]) -> dict[int, tuple[tuple[str, ...], int]]:
    """Return the siblings of saved nodes, or of their ancestors, that are in their place already.

    By saved node, these are the path and the live object. Beside the root, they are what the root's
    object lacks.
    """
    found: dict[int, tuple[tuple[str, ...], int]] = {}
    ways = {top: _above(case.saved, top) for top in tops}
    on_the_way = {case.saved.path(node) for top, way in ways.items() for node in (*way, top)}
    for top, way in ways.items():
        for parent in way or (ROOT,):
            for child, (name, place) in _in_place(case, parent).items():
                path = (*case.saved.path(parent), name)
                if path in on_the_way:
                    continue
                if top != ROOT or case.live_side.child(tops[top], name) is None:
                    found.setdefault(child, (path, place))
    return found


def _in_place(case: Case, parent: int) -> dict[int, tuple[str, int]]:
    """Return the children of a saved node that have values, and are bound by their local name."""
    found: dict[int, tuple[str, int]] = {}
    if (obj := case.trace.bound.get(parent)) is None:
        return found
    for child in case.saved.nodes[parent].children:
        place = case.trace.bound.get(child.node_id)
        if (
            place is not None
            and place == case.live_side.child(obj, child.local_name)
            and child.local_name != SAVE_COUNTER
            and case.saved_side.has_value_below[child.node_id]
        ):
            found.setdefault(child.node_id, (child.local_name, place))
    return found


def number_of_values(graph: Graph) -> int:
    """Return the number of values in a graph, without the `save_counter`."""
    return sum(shapes_of_values(graph).values())


def shapes_of_values(graph: Graph) -> Counter[Shapes]:
    """Return the number of nodes with values of these shapes, without the `save_counter`."""
    return Counter(
        tuple((attribute.name, attribute.shape) for attribute in node.attributes)
        for node_id, node in enumerate(graph.nodes)
        if node.attributes and node_id != graph.save_counter
    )
