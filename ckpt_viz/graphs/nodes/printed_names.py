"""The names of nodes as TensorFlow prints them in errors and warnings.

They are in second place and in data, where people compare with its messages. They are cut where
they are too long to read: `readable_name`, and `readable_place` for the way through the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from ckpt_viz.graphs.nodes.nodes import ROOT, Node, SlotRule
from ckpt_viz.graphs.nodes.tree import Tree
from ckpt_viz.ground.text import CUT, MOST_READABLE, readable

ROOT_NAME = "(root)"  # in TensorFlow's errors and warnings
THE_ROOT = "the root"  # for people
STATE_OF, STATE_FOR = "'s state '", "' for "  # before and behind a slot's name, in TensorFlow's
_MAX_STEPS = 50
EdgeTo = Callable[[int], tuple[int, str]]
"""Returns the parent of a node, and the name of the edge from there."""


class NamedGraph(Protocol):
    """A graph, as far as the names of its nodes come from it."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes, by node id."""

    @property
    def first_edges(self) -> Mapping[int, tuple[int, str]]:
        """For each reachable node but the root: parent and local name of its first path."""

    @property
    def tree(self) -> Tree:
        """The place of each node in the outline."""


def tensorflow_name(graph: NamedGraph, node_id: int, *, is_cut: bool = False) -> str:
    """Return a node's first breadth-first path; of a declared slot variable, whose state it is."""

    def dotted(node_id: int) -> str:
        if node_id != ROOT and node_id not in graph.first_edges:
            return f"(unreachable node {node_id})"
        return path_to(node_id, graph.first_edges.__getitem__, is_cut=is_cut)

    slot = graph.nodes[node_id].slot
    if slot is None or slot.optimizer is None or slot.rule is not SlotRule.DECLARED:
        return dotted(node_id)
    slot_name = readable(slot.name) if is_cut else slot.name
    return tensorflow_state(dotted(slot.optimizer), slot_name, dotted(slot.variable))


def readable_name(graph: NamedGraph, node_id: int) -> str:
    """Return a node's name, `Graph.name`; if it is too deep to read, only the end.

    In a chain of 100,000 nodes the names themselves have 25 billion characters.
    """
    return tensorflow_name(graph, node_id, is_cut=True)


def readable_place(graph: NamedGraph, node_id: int) -> str:
    """Return a node's place in the outline, `Graph.path`, spelled like its name.

    TensorFlow names a node by the shortest path to it. For an optimizer's variables that path leads
    through the optimizer's lists; a person would go through the model.
    """
    tree = graph.tree
    return path_to(node_id, lambda node: (tree.parents[node], tree.labels[node]))


def tensorflow_state(optimizer: str, slot_name: str, variable: str) -> str:
    """Return TensorFlow's name of a slot variable, with its names of the two others."""
    return f"{optimizer}{STATE_OF}{slot_name}{STATE_FOR}{variable}"


def child_of(holder: str, local_name: str) -> str:
    """Return the name of a child, with the name of its holder."""
    return dotted((holder, local_name))


def dotted(names: Iterable[str]) -> str:
    """Return a path of names."""
    return ".".join(names)


def names_in(path: str) -> list[str]:
    """Return the names of a path; one with dots in it is several.

    >>> names_in(dotted(("model", "dense", "kernel")))
    ['model', 'dense', 'kernel']
    """
    return path.split(".")


def without_root(name: str) -> str:
    """Return a name of TensorFlow's without "(root)." before it, and the root in words.

    >>> without_root("(root).model"), without_root("(root)")
    ('model', 'the root')
    """
    return THE_ROOT if name == ROOT_NAME else name.removeprefix(f"{ROOT_NAME}.")


def path_to(
    node_id: int, edge_to: EdgeTo, *, root: Sequence[str] = (ROOT_NAME,), is_cut: bool = True
) -> str:
    """Return the path to a node, from `root` on; of a cut one that is too deep, only the end."""
    names: list[str] = []
    characters = 0
    while node_id != ROOT:
        if is_cut and (len(names) >= _MAX_STEPS or characters > MOST_READABLE):
            return dotted((f"{''.join(root)}{CUT}", *reversed(names)))
        node_id, local_name = edge_to(node_id)
        names.append(readable(local_name) if is_cut else local_name)
        characters += len(local_name)
    return dotted((*root, *reversed(names)))
