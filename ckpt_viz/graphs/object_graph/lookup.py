"""The nodes that a name means, in each form in which a name of a node is printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol

from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.keys import escape_local_name, parse_checkpoint_key, without_part
from ckpt_viz.graphs.nodes.names import holders, slot_of, state_of
from ckpt_viz.graphs.nodes.nodes import ROOT, SlotRule
from ckpt_viz.graphs.nodes.printed_names import (
    ROOT_NAME,
    STATE_OF,
    THE_ROOT,
    NamedGraph,
    readable_name,
    readable_place,
    tensorflow_state,
)
from ckpt_viz.ground.text import CUT, printable, readable

_SEPARATORS = (".", "/", " \u203a ")  # the last as the outline parts a block and its layer
_MOST_STEPS = 10  # of a name that does not begin at the root

_Steps = Sequence[Sequence[tuple[str, int]]]
"""For each node or row: the names of what is below it, and the ids."""


class _NamesOfPeople(Protocol):
    """What people call the nodes."""

    def name(self, node_id: int) -> str:
        """Return what people call a node."""

    def place(self, node_id: int) -> str:
        """Return the path of a node in the names that people give."""


class _View(Protocol):
    """What people see of a graph."""

    @property
    def names(self) -> _NamesOfPeople:
        """What people call the nodes."""

    @property
    def layers(self) -> Layers:
        """The rows of layers."""


class Lookup:
    """The names of a graph's nodes. A search is linear in the size of the graph, however deep."""

    def __init__(self, graph: NamedGraph, view: _View) -> None:
        self._graph, self._nodes, self._view = graph, graph.nodes, view

    def first_named(self, name: str) -> int | None:
        """Return the first node with this name of TensorFlow's, as `Graph.name` gives it."""
        return next(iter(self._named(name)), None)

    def _named(self, name: str) -> list[int]:
        named = [i for i in self._first(name) if not self._is_declared_slot(i)]
        return named or (self._declared_slots(name) if STATE_OF in name else [])

    def meanings(self, name: str) -> Iterator[Sequence[int]]:
        """Yield the nodes that a name means as each kind of name, the most exact kind first.

        The kinds are: TensorFlow's name; a checkpoint key; a path from the root, by local names or
        by those that people give; such a path in the outline of layers, with or without its blocks;
        whose state it is; the last names of a path, such as a layer's own, or the full name of a
        variable, `w:0`; the same in the outline; the end of a name that was too long to print.
        """
        yield self._named(name)
        yield self._with_key(name)
        for text in dict.fromkeys((name, without_part(name))):
            for nodes in self._with_path(text):
                yield self._of_part(nodes, name.removeprefix(text))
        yield self._with_end(name)

    def _with_path(self, text: str) -> Iterator[Sequence[int]]:
        yield self._whole(text, self._by_name)
        yield self._whole(text, self._by_row)
        yield self._states(text)
        by_end = self._ends(text, self._own_names, self._by_name)
        yield sorted({*by_end, *self._with_full_name(text)})
        yield self._ends(text, chain(*self._by_row), self._by_row)

    def _of_part(self, nodes: Sequence[int], part: str) -> Sequence[int]:
        """Return the slots of the optimizer that the end of a name tells: `kernel.m [optimizer]`.

        All nodes, if it tells none of their optimizers.
        """
        slots = ((node, self._nodes[node].slot) for node in nodes if part)
        place = self._view.names.place
        return [
            node
            for node, slot in slots
            if slot is not None and slot.optimizer is not None
            if part == f" [{place(slot.optimizer)}]"
        ] or nodes

    def _with_key(self, name: str) -> list[int]:
        """Return the node of a key: of its value, or of one of the tensors that store this."""
        parsed = parse_checkpoint_key(name)
        return [
            node_id
            for node_id, node in enumerate(self._nodes)
            for key in (attribute.checkpoint_key for attribute in node.attributes[:1])
            if key == name
            or (parsed and (own := parse_checkpoint_key(key)) and own[0] == parsed.object_key)
        ]

    def _with_full_name(self, name: str) -> list[int]:
        full_name = name.removesuffix(":0")
        return [
            node_id
            for node_id, node in enumerate(self._nodes)
            if any(attribute.full_name == full_name for attribute in node.attributes)
        ]

    def _with_end(self, name: str) -> list[int]:
        """Return the nodes of a name that was cut at its beginning: `…ense.kernel`."""
        beginning, sign, end = name.partition(CUT)
        if not sign or not end or beginning not in ("", ROOT_NAME):
            return []
        return [
            node_id
            for node_id in self._below_root
            if any(printable(name).endswith(end) for name in self._printed_names(node_id))
        ]

    def _printed_names(self, node_id: int) -> tuple[str, ...]:
        own = (readable_name(self._graph, node_id), readable_place(self._graph, node_id))
        return (*own, self._view.names.place(node_id))

    def _states(self, name: str) -> list[int]:
        """Return the slots of a name such as `the state 'm' of net.kernel` or `m of net.kernel`."""
        variables: dict[str, set[int]] = {}
        for node in self._nodes:
            if node.slot is not None and node.slot.name not in variables:
                variables[node.slot.name] = {
                    variable
                    for words in (state_of, slot_of)
                    for prefix in {words(node.slot.name, ""), printable(words(node.slot.name, ""))}
                    if name.startswith(prefix)
                    for rest in [name.removeprefix(prefix)]
                    for variable in (*self._first(rest), *self._whole(rest, self._by_name))
                }
        return [
            node_id
            for node_id, node in enumerate(self._nodes)
            if node.slot is not None and node.slot.variable in variables[node.slot.name]
        ]

    def _whole(self, name: str, steps: _Steps) -> list[int]:
        """Return the nodes whose names, from the root on, make up a text."""
        after_root = len(ROOT_NAME)
        starts = [(ROOT, after_root)] if name.startswith(ROOT_NAME) else []
        starts += [(ROOT, len(name))] if name == THE_ROOT else []
        starts += [(child, len(step)) for step, child in steps[ROOT] if name.startswith(step)]
        return self._along(name, starts if name else (), steps)

    def _ends(self, name: str, own: Iterable[tuple[str, int]], steps: _Steps) -> list[int]:
        """Return the nodes whose last names make up a text, the first of them an own name."""
        starts = [(child, len(step)) for step, child in own if name.startswith(step)]
        return self._along(name, starts if name else (), steps, _MOST_STEPS)

    def _along(
        self,
        text: str,
        starts: Iterable[tuple[int, int]],
        steps: _Steps,
        most: int | None = None,
        separators: Sequence[str] = _SEPARATORS,
    ) -> list[int]:
        """Return the nodes at which a text ends that goes on from these nodes and places in it.

        There are several if names contain a separator, or if nodes share a name.
        """
        reached = dict.fromkeys(starts)
        seen = set(reached)
        level = 1
        while reached and (most is None or level < most):
            reached = dict.fromkeys(
                (child, at + len(separator) + len(step))
                for node_id, at in reached
                for separator in separators
                if text.startswith(separator, at)
                for step, child in steps[node_id]
                if text.startswith(step, at + len(separator))
            )
            reached = {place: None for place in reached if place not in seen}
            seen.update(reached)
            level += 1
        ends = {node_id for node_id, at in seen if at == len(text)}
        return sorted(node_id for node_id in ends if node_id < len(self._nodes))

    @cached_property
    def _own_names(self) -> Sequence[tuple[str, int]]:
        """The names of each node in the outline and for people; a bare name is none of an alias."""
        labels, names = self._graph.tree.labels, self._view.names
        own = ((name, i) for i in self._below_root for name in (labels[i], names.name(i)))
        return [*_spelled(own)]

    @property
    def _below_root(self) -> Iterator[int]:
        return (node_id for node_id in self._graph.tree.preorder() if node_id != ROOT)

    @cached_property
    def _by_name(self) -> _Steps:
        """What each node leads to: its edges, its children in the outline, and what people see.

        No edge leads to slots.
        """
        names, tree = self._view.names, self._graph.tree
        above = holders(self._nodes, tree)
        below: list[list[tuple[str, int]]] = [
            [(child.local_name, child.node_id) for child in node.children] for node in self._nodes
        ]
        for node_id in self._below_root:
            below[tree.parents[node_id]].append((tree.labels[node_id], node_id))
            below[tree.parents[node_id]].append((names.name(node_id), node_id))
            below[above[node_id]].append((names.name(node_id), node_id))
        return [[*_spelled(steps)] for steps in below]

    @cached_property
    def _by_row(self) -> _Steps:
        """What each row of the layers leads to; a path may leave out the blocks on its way."""
        layers = self._view.layers
        below: list[list[tuple[str, int]]] = [[] for _ in layers.parents]
        for row in layers.preorder():
            if row in layers.lost:
                continue  # no node is there
            above = layers.parents[row]
            group = layers.group(row)
            is_alike = group is not None and group.is_alike
            names = {layers.title(row)} if is_alike else {layers.names[row], layers.title(row)}
            while above >= ROOT:
                below[above] += [(name, row) for name in names]
                above = layers.parents[above] if layers.group(above) is not None else -1
        return [[*_spelled(steps)] for steps in below]

    def _declared_slots(self, name: str) -> list[int]:
        """Return the slots of a name such as `(root).opt's state 'm' for (root).kernel`."""
        slots: list[int] = []
        readings: dict[str, tuple[set[int], set[int]]] = {}
        for node_id in filter(self._is_declared_slot, self._graph.first_edges):
            slot = self._nodes[node_id].slot
            assert slot is not None
            if slot.name not in readings:
                optimizer, infix, variable = name.partition(tensorflow_state("", slot.name, ""))
                sides = (self._first(optimizer), self._first(variable)) if infix else ((), ())
                readings[slot.name] = set(sides[0]), set(sides[1])
            optimizers, variables = readings[slot.name]
            if slot.optimizer in optimizers and slot.variable in variables:
                slots.append(node_id)
        return slots

    def _first(self, name: str) -> list[int]:
        """Return the nodes with a name of TensorFlow's; several if names have points in them."""
        if not name.startswith(ROOT_NAME):
            return []
        return self._along(name, [(ROOT, len(ROOT_NAME))], self._first_children, None, ".")

    @cached_property
    def _first_children(self) -> list[list[tuple[str, int]]]:
        """For each node: local name and id of those whose first path goes through it."""
        children: list[list[tuple[str, int]]] = [[] for _ in self._nodes]
        for node_id, (parent, local_name) in self._graph.first_edges.items():
            children[parent].append((local_name, node_id))
        return children

    def _is_declared_slot(self, node_id: int) -> bool:
        slot = self._nodes[node_id].slot
        return slot is not None and slot.rule is SlotRule.DECLARED


def _spelled(steps: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield each name as it is, as checkpoint keys spell it, and as it is printed."""
    for name, node_id in dict.fromkeys(steps):
        yield name, node_id
        for spelling in (escape_local_name(name), printable(readable(name))):
            if spelling != name:
                yield spelling, node_id


def first_meant(meanings: Iterable[Sequence[int]]) -> Sequence[int]:
    """Return all nodes that a name means as the first kind of name that fits any."""
    return next(filter(None, meanings), [])
