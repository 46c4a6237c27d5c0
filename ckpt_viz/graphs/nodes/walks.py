"""Walks through graphs and trees. None calls itself: a file may have 10,000 levels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ckpt_viz.graphs.nodes.nodes import ROOT, Node


def below(children: Sequence[Sequence[int]], top: int = ROOT) -> Iterator[int]:
    """Yield the top of a subtree and all that is below it, parents before children.

    >>> list(below([[1, 3], [2], [], []])), list(below([[1, 3], [2], [], []], 1))
    ([0, 1, 2, 3], [1, 2])
    """
    stack = [top]
    while stack:
        node_id = stack.pop()
        yield node_id
        stack.extend(reversed(children[node_id]))


def above(parents: Sequence[int] | Mapping[int, int], node_id: int) -> Iterator[int]:
    """Yield what is above a node of a tree, from its parent to the root.

    >>> list(above([-1, 0, 1, -1], 2)), list(above([-1, 0, 1, -1], 3))
    ([1, 0], [])
    """
    while (node_id := parents[node_id]) >= ROOT:
        yield node_id


def reached(start: Iterable[int], step: Callable[[int], Iterable[int]]) -> set[int]:
    """Return all that steps lead to from some nodes, these included.

    >>> sorted(reached([1], lambda node_id: [(node_id * 2) % 6]))
    [1, 2, 4]
    """
    seen = set(start)
    stack = list(seen)
    while stack:
        for node_id in step(stack.pop()):
            if node_id not in seen:
                seen.add(node_id)
                stack.append(node_id)
    return seen


def with_value_below(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that hold a value to restore, or lead to one.

    This is `has_checkpoint_values` in the proto (checkpoint/util.py), which older files lack.
    """
    valued = {
        node_id
        for node_id, node in enumerate(nodes)
        if node.attributes or node.slot_variables or node.registered_saver is not None
    }
    return leading_to(
        valued, len(nodes), lambda holder: [child.node_id for child in nodes[holder].children]
    )


def leading_to(ends: set[int], size: int, children: Callable[[int], Sequence[int]]) -> set[int]:
    """Return some nodes of a graph of `size` nodes, and all that lead to them.

    >>> sorted(leading_to({2}, 4, [[1, 3], [2], [], []].__getitem__))
    [0, 1, 2]
    """
    leading = set(ends)
    # Most children come after their holders: from the end on, few holders remain open.
    open_holders: defaultdict[int, list[int]] = defaultdict(list)
    for holder in range(size - 1, -1, -1):
        if holder not in leading:
            below_holder = children(holder)
            if not leading.isdisjoint(below_holder):
                leading.add(holder)
                continue
            for child in below_holder:
                open_holders[child].append(holder)
    start = leading.intersection(open_holders)
    return leading | reached(start, lambda node_id: open_holders.get(node_id, ()))


def slots_by_optimizer(nodes: Sequence[Node]) -> Mapping[int, Sequence[int]]:
    """Return the slot variables of each optimizer that has any."""
    slots: defaultdict[int, list[int]] = defaultdict(list)
    for node_id, node in enumerate(nodes):
        if node.slot is not None and node.slot.optimizer is not None:
            slots[node.slot.optimizer].append(node_id)
    return dict(slots)


def add_up(amounts: list[int], parents: Sequence[int], parents_first: Sequence[int]) -> None:
    """Add to the amount of each node those of all nodes below it.

    >>> amounts = [0, 1, 5]
    >>> add_up(amounts, [-1, 0, 1], [0, 1, 2])
    >>> amounts
    [6, 6, 5]
    """
    for node_id in reversed(parents_first):
        if parents[node_id] >= ROOT:
            amounts[parents[node_id]] += amounts[node_id]
