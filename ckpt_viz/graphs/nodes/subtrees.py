"""Subtrees by their contents, to recognise a subtree in another place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Child, Node, has_value
from ckpt_viz.ground.expressions import ROOT_ARGUMENT, is_attribute

EMPTY = 0  # the signature of a node that neither holds a value nor leads to one


def signatures(nodes: Sequence[Node], own: Callable[[Node], object]) -> list[int | None]:
    """Return a number for each node that is equal for equal subtrees.

    Subtrees are equal if their nodes have the same `own` (from the values they hold) and equal
    subtrees under equal local names, in any order. Children without values do not count. The
    number is None for a node that leads to itself. Numbers from different calls are not comparable:
    pass all nodes to one call (see `joined`).
    """
    numbers: dict[object, int] = {((), ()): EMPTY}
    looks: list[int | None] = [None] * len(nodes)
    state = bytearray(len(nodes))  # 0 not seen, 1 on the way, 2 done
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            node_id = stack[-1]
            if state[node_id] == 2:
                stack.pop()
                continue
            if state[node_id] == 0:
                state[node_id] = 1
                stack.extend(c.node_id for c in nodes[node_id].children if state[c.node_id] == 0)
                continue
            stack.pop()
            state[node_id] = 2
            looks[node_id] = _number(nodes[node_id], own, looks, numbers)
    return looks


def _number(
    node: Node,
    own: Callable[[Node], object],
    looks: Sequence[int | None],
    numbers: dict[object, int],
) -> int | None:
    below = []
    for child in node.children:
        signature = looks[child.node_id]
        if signature is None:
            return None
        if signature != EMPTY:
            below.append((child.local_name, signature))
    held = own(node) if has_value(node) else ()
    return numbers.setdefault((held, tuple(sorted(below))), len(numbers))


def joined(first: Sequence[Node], second: Sequence[Node]) -> list[Node]:
    """Return the nodes of two graphs as those of one: the second graph's ids follow the first's.

    The second graph's nodes keep only the parts that `signatures` reads.
    """
    size = len(first)
    moved = [
        Node(
            tuple([Child(child.local_name, child.node_id + size) for child in node.children]),
            node.attributes,
            registered_saver=node.registered_saver,
        )
        for node in second
    ]
    return [*first, *moved]


def values_of(node: Node) -> object:
    """Return a node's contents: names, dtypes and shapes of its values."""
    return node.registered_saver, tuple(map(_content, node.attributes))


_content = attrgetter("name", "dtype", "shape")


def attribute_holders(nodes: Sequence[Node]) -> frozenset[int]:
    """Return the nodes whose children have the names of attributes in Python."""
    own = [(ROOT, SAVE_COUNTER), (ROOT, ROOT_ARGUMENT)]  # of a tf.train.Checkpoint
    return frozenset(
        node_id
        for node_id, node in enumerate(nodes)
        if all(
            is_attribute(child.local_name) or (node_id, child.local_name) in own
            for child in node.children
        )
    )
