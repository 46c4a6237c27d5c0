"""The two sides of a dry run, as the rules see them: the checkpoint and the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.trace import Action, Cause, Trace


@dataclass(frozen=True)
class _SideOfRestore:
    """What both sides tell of their graph."""

    graph: Graph
    trace: Trace

    def child(self, node: int, local_name: str) -> int | None:
        """Return the child of a node by its local name; None if the graph lacks the node."""
        return self._children[node].get(local_name) if node < len(self._children) else None

    def state_of(self, optimizer: int) -> set[int]:
        """Return what is below an optimizer, its slot variables, and those of optimizers in it."""
        state = set(self.graph.tree.below(optimizer))
        state.update([slot for node in tuple(state) for slot in self._slots.get(node, ())])
        return state

    @cached_property
    def _children(self) -> Sequence[Mapping[str, int]]:
        return [
            {child.local_name: child.node_id for child in reversed(node.children)}
            for node in self.graph.nodes
        ]

    @cached_property
    def _slots(self) -> Mapping[int, Sequence[int]]:
        return walks.slots_by_optimizer(self.graph.nodes)


@dataclass(frozen=True)
class SavedSide(_SideOfRestore):
    """The checkpoint: its nodes, and which of them found no object.

    `unresolved` are the nodes with values that no object takes.
    """

    unresolved: tuple[int, ...]
    _with_slots: dict[int, bool] = field(default_factory=dict, init=False, repr=False)

    def place(self, node: int) -> str:
        """Return what people call a node; of a slot variable, whose state it is."""
        return self.graph.names.place_or_state(node)

    @cached_property
    def valued(self) -> Set[int]:
        """The nodes that have a value, or anything below them has one."""
        return walks.with_value_below(self.graph.nodes)

    def unbound_below(self, nodes: Iterable[int], seen: set[int]) -> Iterator[int]:
        """Yield nodes and those below them that have no object; skip those in `seen`."""
        for top in nodes:
            stack = [] if top in seen or top in self.trace.bound else [top]
            seen.update(stack)
            while stack:
                node = stack.pop()
                yield node
                for child in reversed(self.graph.nodes[node].children):
                    if child.node_id not in seen and child.node_id not in self.trace.bound:
                        seen.add(child.node_id)
                        stack.append(child.node_id)

    def waiting_below(self, nodes: Iterable[int], seen: set[int]) -> list[int]:
        """Return the same nodes, and then the declared slot variables of all these."""
        below = [*self.unbound_below(nodes, seen)]
        slots = (slot for low in below for slot in self._slots_by_variable.get(low, ()))
        return [*below, *(slot for slot in slots if slot not in self.trace.bound)]

    @cached_property
    def waiting(self) -> Set[int]:
        """The nodes without an object that have a value, or lead to one through such nodes.

        The root's save_counter is not among them: what is built later does not take it.
        """
        bound, graph = self.trace.bound, self.graph
        valued = (
            node_id
            for node_id, node in enumerate(graph.nodes)
            if node.attributes and node_id not in bound and node_id != graph.save_counter
        )
        return walks.reached(
            valued,
            lambda node: [above for above, _ in graph.edges_to[node] if above not in bound],
        )

    def has_slots(self, optimizer: int) -> bool:
        """Return whether an optimizer has any slot variable, declared or inferred."""
        known = self._with_slots.get(optimizer)
        if known is None:
            state = self.state_of(optimizer)
            known = any(self.graph.nodes[node].role is Role.SLOT for node in state)
            self._with_slots[optimizer] = known
        return known

    @cached_property
    def unresolved_groups(self) -> Mapping[int, Sequence[int]]:
        """Unresolved nodes by the top of the subtree in which no node was bound.

        Slot variables go with their optimizer. Children that an object refused to list go with that
        object.
        """
        failing = self.trace.steps_of(Action.FAIL)
        refused = {step.node for step in failing if step.cause is Cause.CHILDREN}
        return _groups(self.graph, self.unresolved, self.trace.bound.keys() - refused)

    @cached_property
    def _slots_by_variable(self) -> Mapping[int, Sequence[int]]:
        slots: dict[int, list[int]] = defaultdict(list)
        for node in self.graph.nodes:
            for slot in node.slot_variables:
                slots[slot.variable].append(slot.slot_variable)
        return slots


@dataclass(frozen=True)
class LiveSide(_SideOfRestore):
    """The program: its objects, and which of them no saved node was bound to.

    `unmatched` are the objects with values that the checkpoint lacks.
    """

    unmatched: tuple[int, ...]
    names: LiveNames

    def is_in_graph(self, obj: int) -> bool:
        """Return whether an object is in the live graph; objects that the restore makes are not."""
        return obj < len(self.graph.nodes)

    def node(self, obj: int) -> Node | None:
        """Return the node of an object, None for an object that is not in the graph."""
        nodes = self.graph.nodes
        return nodes[obj] if obj < len(nodes) else None

    def object(self, obj: int) -> object | None:
        """Return the Python object behind a node; None if it is not in the graph."""
        return self.graph.object(obj) if self.is_in_graph(obj) else None

    def place(self, obj: int) -> str:
        """Return what people call an object; of a slot variable, whose state it is."""
        return self.names.place(obj)

    @cached_property
    def unmatched_groups(self) -> Mapping[int, Sequence[int]]:
        """Unmatched objects by the top of the subtree in which no node was bound."""
        in_graph = [obj for obj in self.unmatched if self.is_in_graph(obj)]
        return _groups(self.graph, in_graph, self.trace.holders.keys())


# --- questions to one graph


def is_optimizer(node: Node | None) -> bool:
    """Return whether a node is an optimizer, judged by its graph."""
    return node is not None and node.role is Role.OPTIMIZER


def _groups(graph: Graph, leftovers: Sequence[int], taken: Set[int]) -> Mapping[int, Sequence[int]]:
    """Return nodes by their highest ancestors such that nothing on the way is taken."""
    tops: dict[int, int] = {}
    for node in graph.tree.preorder() if leftovers else ():
        parent = graph.tree.parents[node]
        tops[node] = node if parent <= ROOT or parent in taken else tops[parent]
    groups: dict[int, list[int]] = defaultdict(list)
    for node in leftovers:
        slot = graph.nodes[node].slot
        start = slot.optimizer if slot is not None and slot.optimizer is not None else node
        groups[start if start in taken else tops[start]].append(node)
    return groups


def is_below_optimizer(graph: Graph, node: int) -> bool:
    """Return whether the only path to a node leads through an optimizer."""
    return any(is_optimizer(graph.nodes[above]) for above in graph.tree.above(node))
