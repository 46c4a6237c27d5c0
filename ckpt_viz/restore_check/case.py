"""A dry run, indexed for the rules that look for what went wrong in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.live import facts
from ckpt_viz.live.facts import Generation
from ckpt_viz.matching.engine import has_values
from ckpt_viz.matching.trace import Action, Cause, Step, Trace
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import readable, readable_place
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Child, Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.subtrees import EMPTY, signatures, values_of
from ckpt_viz.restore_check.counterparts import Claims, Names, Reader, counterparts
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.finding import Finding, Kind

_UNIQUIFIER = re.compile(r"_\d+(?=/|$)")


class Alike(NamedTuple):
    """Saved nodes and live objects of which each looks like each."""

    nodes: list[int]
    objects: list[int]


@dataclass(frozen=True)
class Case:
    """A dry run of an object-based checkpoint."""

    run: DryRun
    trace: Trace
    saved: Graph
    _saved_with_slots: dict[int, bool] = field(default_factory=dict, init=False, repr=False)

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
        found: dict[Action, list[Step]] = {action: [] for action in Action}
        for step in self.trace.steps:
            found[step.action].append(step)
        return found

    def steps(self, action: Action) -> Sequence[Step]:
        """Return the steps of one action, in order."""
        return self._by_action[action]

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

    @cached_property
    def filled(self) -> frozenset[int]:
        """The live objects that a saved value is restored into."""
        return frozenset(self.bound[node] for node in self.restored)

    def is_live_node(self, obj: int) -> bool:
        """Return whether an object is in the live graph; not so what the restore would make."""
        return obj < len(self.live.nodes)

    def live_node(self, obj: int) -> Node | None:
        """Return the node of a live object, None for one that the graph does not have."""
        nodes = self.run.live.nodes
        return nodes[obj] if obj < len(nodes) else None

    def live_child(self, obj: int, local_name: str) -> int | None:
        """Return the child of a live object by its local name."""
        if not self.is_live_node(obj):
            return None
        return self._live_children[obj].get(local_name)

    def saved_child(self, node: int, local_name: str) -> int | None:
        """Return the child of a saved node by its local name."""
        return self._saved_children[node].get(local_name)

    @cached_property
    def _live_children(self) -> Sequence[Mapping[str, int]]:
        return _children_by_name(self.live)

    @cached_property
    def _saved_children(self) -> Sequence[Mapping[str, int]]:
        return _children_by_name(self.saved)

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

    def severity(self, nodes: Iterable[int], objects: Iterable[int]) -> Severity:
        """Return the severity of what goes wrong with these: whether an assert tells of it."""
        if self.run.verdicts.restore is not None:
            return Severity.FAIL  # no assert is reached
        passes = self.unresolved.isdisjoint(nodes) and self.unmatched.isdisjoint(objects)
        return Severity.WARNING if passes else Severity.FAIL

    def saved_place(self, node: int) -> str:
        """Return where a saved node stands in the outline: through the model, if it can."""
        return _place(self.saved, node)

    def live_place(self, obj: int) -> str:
        """Return where a live object stands in the outline."""
        return _place(self.live, obj) if self.is_live_node(obj) else self.run.live_name(obj)

    # --- what belongs together

    @cached_property
    def is_all_in_place(self) -> bool:
        """Whether every value has one place on both sides: no search for counterparts then."""
        return (
            self.run.verdicts.restore is None
            and not self.unresolved
            and not self.unmatched
            and not any(True for _ in self.conflicts())
        )

    def conflicts(self) -> Iterator[tuple[Step, int]]:
        """Yield each step that comes by a saved node which is bound to another object.

        With the step comes the live object that it would have given the node.
        """
        for step in self.steps(Action.KEEP):
            assert step.node is not None and step.parent is not None
            parent, first = self.bound.get(step.parent), self.bound.get(step.node)
            if parent is None or first is None:
                continue
            other = self.live_child(parent, step.name)
            if other is not None and other != first:
                yield step, other

    @cached_property
    def counterparts(self) -> Claims:
        """For each saved node the live objects that it belongs to, as far as that is known."""
        return counterparts(self.saved, self.live, self.bound, self.reader)

    @cached_property
    def reader(self) -> Reader:
        """What reads the items of sequences, each once."""
        return Reader.of(self.saved, self.live)

    @cached_property
    def source_of(self) -> Mapping[int, int]:
        """For each object that takes a value, the saved node that it takes it from."""
        found: dict[int, int] = {}
        for step in self.steps(Action.RESTORE):
            if step.node is not None and step.obj is not None:
                found.setdefault(step.obj, step.node)
        return found

    def is_astray(self, node: int) -> bool:
        """Return whether a saved value does not reach the object that it belongs to."""
        own = self.counterparts.get(node)
        if own is None or not has_value(self.saved.nodes[node]):
            return False
        return self.bound.get(node) not in {*own} or not self.keeps_its_object(node)

    @cached_property
    def at_other_paths(self) -> set[int]:
        """The saved nodes whose counterparts stand at another path in the program."""
        found: set[int] = set()
        trees = self.saved.tree, self.live.tree
        for node in trees[0].preorder():
            own = self.counterparts.get(node)
            is_moved = own is not None and trees[0].labels[node] != trees[1].labels[own[0]]
            if is_moved or trees[0].parents[node] in found:
                found.add(node)
        return found

    @cached_property
    def in_place(self) -> tuple[set[int], set[int]]:
        """The saved nodes whose values reach their own objects, and these objects."""
        nodes = {n for n in self.restored if n in self.counterparts and not self.is_astray(n)}
        return nodes, {self.bound[node] for node in nodes}

    def keeps_its_object(self, node: int) -> bool:
        """Return whether no other saved value is in the object that a node is bound to."""
        obj = self.bound.get(node)
        return obj is None or self.source_of.get(obj, node) == node

    def led_astray(self, node: int) -> int | None:
        """Return the saved node that was bound to the wrong object, where a value is astray.

        The node itself, or the one that stands in its place. None if the value merely finds no
        object, or has one in common with a value that is in its place.
        """
        if self.bound.get(node) is not None and self.bound[node] not in self.counterparts[node]:
            return node
        other = self.source_of.get(self.counterparts[node][0])
        return other if other is not None and other not in self.in_place[0] else None

    def misleading_optimizer(self, node: int) -> int | None:
        """Return the saved optimizer by whose list a value is led astray; None if by none."""
        wrong = self.led_astray(node)
        step = self.binding.get(wrong) if wrong is not None else None
        return self.optimizer_of(step) if step is not None else None

    def optimizer_of(self, step: Step) -> int | None:
        """Return the saved optimizer of which the step's parent is a list."""
        if step.parent is None or not step.name.isdecimal():
            return None
        holders = (parent for parent, _ in self.saved.edges_to[step.parent])
        return next((one for one in holders if is_optimizer(self.saved.nodes[one])), None)

    def is_led_by_optimizer(self, node: int) -> bool:
        """Return whether the saved node stands below an optimizer, for nothing else leads to it."""
        while node != ROOT:
            node = max(self.saved.tree.parents[node], ROOT)
            if is_optimizer(self.saved.nodes[node]):
                return True
        return False

    @cached_property
    def names(self) -> Names:
        """What full names say."""
        return Names.of(self.live)

    @cached_property
    def valued_saved(self) -> Sequence[bool]:
        """For each saved node, whether it or anything below it has a value."""
        return has_values(self.saved.nodes)

    def unbound_below(self, node: int, seen: set[int]) -> Iterator[int]:
        """Yield a saved node and those below it that have no object; none that was seen before."""
        return _below(self.saved, node, self.bound, seen)

    def unheld_below(self, obj: int, seen: set[int]) -> Iterator[int]:
        """Yield a live object and those below it that no node is bound to, unless seen before."""
        return _below(self.live, obj, self.holders, seen)

    # --- optimizers

    @cached_property
    def other_generation(self) -> Mapping[int, tuple[int, Generation, Generation]]:
        """Saved optimizers that meet one which keeps its state in another way.

        For each the live optimizer, and how each of the two keeps its state.
        """
        found: dict[int, tuple[int, Generation, Generation]] = {}
        for node, obj in self.bound.items():
            proto = self.saved.nodes[node]
            saved_way = generation_of(proto) if proto.children or proto.slot_variables else None
            if saved_way is None:
                continue
            live_way = facts.generation(self.live_object(obj))
            if live_way is None and self.is_live_node(obj):  # a file in place of the program
                live_way = generation_of(self.live.nodes[obj])
            if live_way is not None and live_way is not saved_way:
                found[node] = (obj, saved_way, live_way)
        return found

    def saved_state(self, optimizer: int) -> set[int]:
        """Return the saved nodes below an optimizer, and its slot variables."""
        return _state_of(self.saved, optimizer, self._saved_slots)

    def saved_with_slots(self, optimizer: int) -> bool:
        """Return whether a saved optimizer has any slot variable, declared or inferred."""
        known = self._saved_with_slots.get(optimizer)
        if known is None:
            state = self.saved_state(optimizer)
            known = any(self.saved.nodes[node].role is Role.SLOT for node in state)
            self._saved_with_slots[optimizer] = known
        return known

    def live_state(self, optimizer: int) -> set[int]:
        """Return the live nodes below an optimizer, and its slot variables."""
        return _state_of(self.live, optimizer, self._live_slots)

    def saved_slots_of(self, variable: int) -> Sequence[int]:
        """Return the declared slot variables of a saved variable that have no object."""
        return [
            node for node in self._slots_by_variable.get(variable, ()) if node not in self.bound
        ]

    @cached_property
    def _slots_by_variable(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for node in self.saved.nodes:
            for slot in node.slot_variables:
                found[slot.variable].append(slot.slot_variable)
        return found

    @cached_property
    def _saved_slots(self) -> Mapping[int, Sequence[int]]:
        return _slots_by_optimizer(self.saved)

    @cached_property
    def _live_slots(self) -> Mapping[int, Sequence[int]]:
        return _slots_by_optimizer(self.live)

    # --- what subtrees look like

    @cached_property
    def _both(self) -> Sequence[Node]:
        """What the nodes of both sides hold, the live ones after the saved ones."""
        size = len(self.saved.nodes)
        moved = [
            Node(
                tuple([Child(c.local_name, c.node_id + size) for c in node.children]),
                node.attributes,
                registered_saver=node.registered_saver,
            )
            for node in self.live.nodes
        ]
        return (*self.saved.nodes, *moved)

    @cached_property
    def _looks(self) -> Sequence[int | None]:
        return signatures(self._both, values_of)

    @cached_property
    def _looks_with_names(self) -> Sequence[int | None]:
        return signatures(self._both, _names_and_values)

    def saved_look(self, node: int, *, with_names: bool = False) -> int | None:
        """Return a number that is equal for equal subtrees of both sides.

        EMPTY for one without values, None for one that leads to itself. With names, the full
        names of variables count, without the numbers that Keras makes them unique by.
        """
        return (self._looks_with_names if with_names else self._looks)[node]

    def live_look(self, obj: int, *, with_names: bool = False) -> int | None:
        """Return the number of a live object's subtree: see `saved_look`."""
        looks = self._looks_with_names if with_names else self._looks
        return looks[len(self.saved.nodes) + obj]

    def alike(self, look: int | None) -> Alike:
        """Return all nodes of both sides with this look; none for one that tells nothing."""
        return self._alike.get(look, Alike([], []))

    @cached_property
    def _alike(self) -> Mapping[int | None, Alike]:
        found: dict[int | None, Alike] = {}
        size = len(self.saved.nodes)
        for place, look in enumerate(self._looks):
            if look not in (None, EMPTY):
                alike = found.setdefault(look, Alike([], []))
                if place < size:
                    alike.nodes.append(place)
                else:
                    alike.objects.append(place - size)
        return found

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
        if not self.run.verdicts.unresolved:
            return {}
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
        if not self.run.verdicts.unmatched:
            return {}
        in_graph = [obj for obj in self.run.verdicts.unmatched if self.is_live_node(obj)]
        return _groups(self.live, in_graph, self.holders.keys())


def _children_by_name(graph: Graph) -> list[dict[str, int]]:
    return [
        {child.local_name: child.node_id for child in reversed(node.children)}
        for node in graph.nodes
    ]


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


def _place(graph: Graph, node_id: int) -> str:
    slot = graph.nodes[node_id].slot
    if slot is None:
        return readable_place(graph, node_id)
    # The variable may be a slot itself, its own even: where it stands in the outline tells it.
    return f"the state {readable(slot.name)!r} of {readable_place(graph, slot.variable)}"


def generation_of(optimizer: Node) -> Generation | None:
    """Return how an optimizer keeps its state, as its graph tells; None for what is none."""
    names = {child.local_name for child in optimizer.children}
    if names >= {"iter", "learning_rate"} or names >= {"iter", "decay"}:
        return Generation.LEGACY
    if optimizer.slot_variables:
        return Generation.LEGACY if "iter" in names else Generation.TENSORFLOW_1
    if names >= {"_variables", "_trainable_variables"}:
        return Generation.KERAS_3
    if "_variables" in names and names & {"_iterations", "iterations"}:
        return Generation.KERAS_2
    return None


def _slots_by_optimizer(graph: Graph) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for node_id, node in enumerate(graph.nodes):
        if node.slot is not None and node.slot.optimizer is not None:
            found[node.slot.optimizer].append(node_id)
    return found


def _state_of(graph: Graph, optimizer: int, slots: Mapping[int, Sequence[int]]) -> set[int]:
    """Return the nodes below an optimizer, and its slot variables and those of optimizers in it."""
    found = set(subtree(graph, optimizer))
    found.update([slot for node in tuple(found) for slot in slots.get(node, ())])
    return found


def _names_and_values(node: Node) -> object:
    return tuple([without_number(a.full_name) for a in node.attributes]), values_of(node)


def without_number(full_name: str) -> str:
    """Return a full name without the numbers that Keras makes it unique by.

    >>> without_number("dense_1/kernel"), without_number("net/block_2/bias")
    ('dense/kernel', 'net/block/bias')
    """
    return _UNIQUIFIER.sub("", full_name)


def has_value(node: Node) -> bool:
    """Return whether a node holds a value itself."""
    return bool(node.attributes or node.registered_saver)


def is_optimizer(node: Node | None) -> bool:
    """Return whether a node is an optimizer, as far as its graph can tell."""
    return node is not None and node.role is Role.OPTIMIZER


def _below(graph: Graph, top: int, excluded: Mapping[int, object], seen: set[int]) -> Iterator[int]:
    stack = [] if top in seen or top in excluded else [top]
    seen.update(stack)
    while stack:
        node_id = stack.pop()
        yield node_id
        for child in reversed(graph.nodes[node_id].children):
            if child.node_id not in seen and child.node_id not in excluded:
                seen.add(child.node_id)
                stack.append(child.node_id)


def child_names(graph: Graph, node_id: int) -> set[str]:
    """Return the local names of a node's children, the `save_counter` left aside."""
    return {child.local_name for child in graph.nodes[node_id].children} - {SAVE_COUNTER}


def subtree(graph: Graph, top: int) -> Iterator[int]:
    """Yield a node and what stands below it in the outline."""
    stack = [top]
    while stack:
        node_id = stack.pop()
        yield node_id
        stack.extend(reversed(graph.tree.children[node_id]))
