"""A dry run, indexed for the rules that look for what went wrong in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.live import facts
from ckpt_viz.matching.engine import has_values
from ckpt_viz.matching.trace import Action, Cause, Step, Trace
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.finding import Finding, Kind

SAVE_COUNTER = "save_counter"


@dataclass(frozen=True)
class Case:
    """A dry run of an object-based checkpoint."""

    run: DryRun
    trace: Trace
    saved: Graph

    @property
    def live(self) -> Graph:
        """The graph of the live side."""
        return self.run.live

    @property
    def bound(self) -> Mapping[int, int]:
        """The object of each saved node that has one."""
        return self.trace.bound

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """The saved nodes of each object that has some, in the order of the binding."""
        found: dict[int, list[int]] = defaultdict(list)
        for node, obj in self.bound.items():
            found[obj].append(node)
        return {obj: tuple(nodes) for obj, nodes in found.items()}

    @cached_property
    def _by_action(self) -> Mapping[Action, Sequence[Step]]:
        found: dict[Action, list[Step]] = defaultdict(list)
        for step in self.trace.steps:
            found[step.action].append(step)
        return found

    def steps(self, action: Action) -> Sequence[Step]:
        """Return the steps of one action, in order."""
        return self._by_action.get(action, ())

    @cached_property
    def unresolved(self) -> frozenset[int]:
        """The saved nodes whose values nothing takes."""
        return frozenset(self.run.verdicts.unresolved)

    @cached_property
    def unmatched(self) -> frozenset[int]:
        """The live objects whose values the checkpoint lacks."""
        return frozenset(self.run.verdicts.unmatched)

    @cached_property
    def binding(self) -> Mapping[int, Step]:
        """For each bound node the step that bound it."""
        steps = self.steps(Action.BIND)
        return {step.node: step for step in steps if step.node is not None}

    @cached_property
    def restored(self) -> frozenset[int]:
        """The saved nodes whose values are restored."""
        steps = self.steps(Action.RESTORE)
        return frozenset(step.node for step in steps if step.node is not None)

    def is_live_node(self, obj: int) -> bool:
        """Return whether an object is in the live graph; not so what the restore would make."""
        return obj < len(self.live.nodes)

    def live_node(self, obj: int) -> Node | None:
        """Return the node of a live object, None for one that the graph does not have."""
        return self.live.nodes[obj] if self.is_live_node(obj) else None

    def live_child(self, obj: int, local_name: str) -> int | None:
        """Return the child of a live object by its local name."""
        if not self.is_live_node(obj):
            return None
        return self._live_children[obj].get(local_name)

    @cached_property
    def _live_children(self) -> Sequence[Mapping[str, int]]:
        return [
            {child.local_name: child.node_id for child in node.children} for node in self.live.nodes
        ]

    def finding(
        self,
        severity: Severity,
        kind: Kind,
        why: str,
        remedy: str,
        *,
        nodes: Iterable[int] = (),
        objects: Iterable[int] = (),
    ) -> Finding:
        """Return a finding about these saved nodes and live objects, named by the first of each."""
        on_saved, on_live = tuple(nodes), tuple(objects)
        return Finding(
            severity,
            kind,
            self.saved.name(on_saved[0]) if on_saved else None,
            self.run.live_name(on_live[0]) if on_live else None,
            why,
            remedy,
            on_saved,
            on_live,
        )

    @cached_property
    def valued_saved(self) -> Sequence[bool]:
        """For each saved node, whether it or anything below it has a value."""
        return has_values(self.saved.nodes)

    def saved_below(self, node: int) -> Iterator[int]:
        """Yield the saved nodes with values below a node, itself included."""
        return valued_below(self.saved, node)

    # --- optimizers of another generation

    @cached_property
    def other_generation(self) -> Mapping[int, tuple[int, str, str]]:
        """Saved optimizers that meet one which keeps its state in another way.

        For each the live optimizer, and in words how each of the two keeps its state.
        """
        found: dict[int, tuple[int, str, str]] = {}
        for node, obj in self.bound.items():
            live_way = facts.generation(self.live_object(obj))
            saved_way = _way_of(self.saved.nodes[node]) if live_way else ""
            if saved_way and not _same_way(saved_way, live_way):
                found[node] = (obj, saved_way, live_way)
        return found

    @cached_property
    def told_by_generation(self) -> tuple[frozenset[int], frozenset[int]]:
        """The saved nodes and the live objects that are left over for that reason."""
        nodes, objects = set(), set()
        for optimizer, (obj, _, _) in self.other_generation.items():
            nodes |= _state_of(self.saved, optimizer) & self.unresolved
            objects |= _state_of(self.live, obj) & self.unmatched
        return frozenset(nodes), frozenset(objects)

    def live_object(self, obj: int) -> object | None:
        """Return the Python object behind a live node; None for what is not in the graph."""
        return self.live.object(obj) if self.is_live_node(obj) else None

    # --- groups of what is left over

    @cached_property
    def unresolved_groups(self) -> Mapping[int, tuple[int, ...]]:
        """Unresolved nodes by the top of the subtree that nothing was bound in.

        Slot variables go with their optimizer, and what an object could not be asked for with
        that object.
        """
        refused = {
            step.node
            for step in self.steps(Action.FAIL)
            if step.failure is not None and step.failure.cause is Cause.CHILDREN
        }
        taken = [node for node in self.bound if node not in refused]
        return _groups(self.saved, self.run.verdicts.unresolved, taken)

    @cached_property
    def unmatched_groups(self) -> Mapping[int, tuple[int, ...]]:
        """Unmatched objects by the top of the subtree that nothing was bound in."""
        in_graph = [obj for obj in self.run.verdicts.unmatched if self.is_live_node(obj)]
        return _groups(self.live, in_graph, self.holders.keys())


def _groups(
    graph: Graph, leftovers: Iterable[int], taken: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    is_taken = set(taken)
    tops: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for node in leftovers:
        slot = graph.nodes[node].slot
        start = slot.optimizer if slot is not None and slot.optimizer is not None else node
        top = start if start in is_taken else _top(graph, start, is_taken, tops)
        groups.setdefault(top, []).append(node)
    return {top: tuple(nodes) for top, nodes in groups.items()}


def _top(graph: Graph, start: int, taken: set[int], tops: dict[int, int]) -> int:
    """Return the highest ancestor of a node below which nothing on the way is taken."""
    way = []
    node = start
    while node not in tops:
        way.append(node)
        parent = graph.tree.parents[node]
        if parent < 0 or parent in taken or parent == ROOT:
            tops[node] = node
            break
        node = parent
    for passed in way:
        tops[passed] = tops[node]
    return tops[start]


def _way_of(optimizer: Node) -> str:
    """Return in words how a saved optimizer keeps its state, "" for what is none."""
    if optimizer.slot_variables:
        return "an optimizer with slot variables (TensorFlow 1 or legacy Keras)"
    names = {child.local_name for child in optimizer.children}
    if {"_variables", "_trainable_variables"} <= names:
        return "a Keras 3 optimizer, with lists of variables"
    if "_variables" in names and names & {"_iterations", "iterations"}:
        return "a Keras 2.11+ optimizer, with lists of variables"
    return ""


def _same_way(saved: str, live: str) -> bool:
    return "slot variables" in live if "slot variables" in saved else saved == live


def _state_of(graph: Graph, optimizer: int) -> set[int]:
    """Return the nodes below an optimizer and its slot variables, as the outline has them."""
    found = {
        node_id
        for node_id, node in enumerate(graph.nodes)
        if node.slot is not None and node.slot.optimizer == optimizer
    }
    stack = [optimizer]
    while stack:
        node_id = stack.pop()
        found.add(node_id)
        stack.extend(graph.tree.children[node_id])
    return found


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "value"), count(3, "value"), count(2, "entry", "entries")
    ('1 value', '3 values', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def is_optimizer(node: Node | None) -> bool:
    """Return whether a node is an optimizer, as far as its graph can tell."""
    return node is not None and node.role is Role.OPTIMIZER


def valued_below(graph: Graph, top: int) -> Iterator[int]:
    """Yield the nodes with values that can be reached from a node, itself included."""
    seen = {top}
    stack = [top]
    while stack:
        node_id = stack.pop()
        node = graph.nodes[node_id]
        if node.attributes or node.registered_saver:
            yield node_id
        for child in reversed(node.children):
            if child.node_id not in seen:
                seen.add(child.node_id)
                stack.append(child.node_id)
