"""Marks that belong together: a subtree with one state becomes one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, has_value
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Mark, State

# States that can fill a subtree: each of its nodes has the same state.
_WHOLE = frozenset(
    {
        State.MATCHED,
        State.LIVE_ONLY,
        State.SAVED_ONLY,
        State.DEFERRED,
        State.ONLY_A,
        State.ONLY_B,
        State.VALUE,
        State.MOVED,
    }
)
_MIXED = object()


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes of one state: a single node, or all nodes of a subtree with no other state.

    `members` are the nodes that count; `top` may not be among them, if all below it are alike. With
    `of_slots`, the group holds only the slot variables of the optimizer `top`.
    """

    state: State
    top: int
    members: tuple[int, ...]
    of_slots: bool = False


def groups(graph: Graph, marks: Sequence[Mark]) -> Iterator[NodeGroup]:
    """Yield the marked nodes in the order of the outline, subtrees of one state together.

    Slot variables follow their optimizer here, because they come and go with it. Matched nodes
    without a value do not count.
    """
    outline = _Outline(graph)
    states = [_state_to_report(node, mark) for node, mark in zip(graph.nodes, marks, strict=True)]
    states += [None] * len(outline.optimizers)
    summaries = _summaries(outline, states)
    place = 0
    while place < len(outline.order):
        node_id = outline.order[place]
        own, summary = states[node_id], summaries[node_id]
        if summary is _MIXED:
            if own is not None:
                yield NodeGroup(own, node_id, (node_id,))
            place += 1
            continue
        below = outline.order[place : place + outline.sizes[node_id]]
        if isinstance(summary, State):
            members = tuple([i for i in below if states[i] is not None])
            optimizer = outline.optimizers.get(node_id)
            top = node_id if optimizer is None else optimizer
            yield NodeGroup(summary, top, members, of_slots=optimizer is not None)
        place += len(below)


def _state_to_report(node: Node, mark: Mark) -> State | None:
    is_silent = mark.state is State.MATCHED and not has_value(node)
    return None if is_silent or mark.state is State.PLAIN else mark.state


def _summaries(outline: _Outline, states: Sequence[State | None]) -> list[object]:
    """Return for each place the one state of its subtree, _MIXED, or None if no node counts."""
    summaries: list[object] = [
        state if state is None or state in _WHOLE else _MIXED for state in states
    ]
    for node_id in reversed(outline.order):
        parent, summary = outline.parents[node_id], summaries[node_id]
        if parent == NOWHERE or summary is None:
            continue
        # Two moved nodes below one that has not moved may come from two places.
        holder = outline.optimizers.get(parent, parent)
        if summary is State.MOVED and states[holder] is not State.MOVED:
            summary = _MIXED
        if summaries[parent] is None:
            summaries[parent] = summary
        elif summaries[parent] is not summary:
            summaries[parent] = _MIXED
    return summaries


class _Outline:
    """The tree of a graph with slot variables below their optimizers, and its preorder.

    The slots of an optimizer get their own place between it and them, with ids after those of the
    nodes; `optimizers` gives the optimizer of each such place. `sizes` holds the number of places
    in each subtree; these follow each other in `order`.
    """

    def __init__(self, graph: Graph) -> None:
        tree = graph.tree
        self.parents = list(tree.parents)
        self.optimizers: dict[int, int] = {}
        children = [list(below) for below in tree.children]
        holders: dict[int, int] = {}
        left: set[int] = set()
        for node_id, node in enumerate(graph.nodes):
            optimizer = node.slot.optimizer if node.slot is not None else None
            # A hostile file can declare slots of slots; those keep their place.
            if optimizer is None or node_id == ROOT or tree.children[node_id]:
                continue
            if graph.nodes[optimizer].slot is not None:
                continue
            if optimizer not in holders:
                holders[optimizer] = len(children)
                self.optimizers[len(children)] = optimizer
                children[optimizer].append(len(children))
                children.append([])
                self.parents.append(optimizer)
            left.add(tree.parents[node_id])
            self.parents[node_id] = holders[optimizer]
            children[holders[optimizer]].append(node_id)
        for row in left:
            children[row] = [child for child in children[row] if self.parents[child] == row]
        self.order = list(walks.below(children))
        self.sizes = [1] * len(children)
        walks.add_up(self.sizes, self.parents, self.order)
