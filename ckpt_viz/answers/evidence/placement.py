"""Where a restore puts each saved value, and which object the value belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.evidence.sides import LiveSide, SavedSide, is_optimizer
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, is_guess
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.engines.trace import Action, Step
from ckpt_viz.matching.name_rules.full_names import FullNames


@dataclass(frozen=True)
class Placement:
    """The objects that saved values go into, compared with the objects that they belong to."""

    saved: SavedSide
    live: LiveSide
    run: DryRun

    @cached_property
    def is_all_right(self) -> bool:
        """Whether every value has one place on both sides, and reaches the place that is its own.

        No search is needed then.
        """
        return (
            self.run.verdicts.restore is None
            and not self.saved.unresolved
            and not self.live.unmatched
            and (self.run.is_unchanged or self._is_as_mapped())
        )

    def _is_as_mapped(self) -> bool:
        bound, pairs = self.saved.trace.bound, self.run.mapping.pairs
        return not any(True for _ in self.conflicts()) and all(
            bound.get(pair.node) == pair.obj for pair in pairs if not is_guess(pair)
        )

    def conflicts(self) -> Iterator[tuple[Step, int]]:
        """Yield each step that finds a saved node bound to another object.

        With the step comes the live object that the step would have given the node.
        """
        trace = self.saved.trace
        for step in trace.steps_of(Action.KEEP):
            assert step.node is not None and step.parent is not None
            parent, first = trace.bound.get(step.parent), trace.bound.get(step.node)
            if parent is None or first is None:
                continue
            other = self.live.child(parent, step.name)
            if other is not None and other != first:
                yield step, other

    @cached_property
    def counterparts(self) -> Mapping[int, Sequence[int]]:
        """For each saved node, the live objects that it belongs to, as far as known.

        A node has several if its object was shared and no longer is. A guess is no counterpart.
        """
        parts = self.run.mapping.parts.items()
        claims = {n: [pair.obj] for n, pair in parts if pair.certainty is not Certainty.GUESS}
        for pair in self.run.mapping.pairs:
            if pair.evidence is Evidence.SHARED and pair.node in claims:
                claims[pair.node].append(pair.obj)
        for node, obj in self._by_other_edges(claims):
            if obj not in claims.setdefault(node, []):
                claims[node].append(obj)
        return claims

    @cached_property
    def _shared(self) -> Mapping[int, int]:
        """The restored values that further objects take, by object: once these were one object."""
        pairs = (pair for pair in self.run.mapping.pairs if pair.evidence is Evidence.SHARED)
        return {pair.obj: pair.node for pair in pairs if pair.node in self.saved.trace.bound}

    def shared_below(self, obj: int) -> Mapping[int, int]:
        """Return by object the saved values of the objects below one that were once shared."""
        if not self._shared or not self.live.is_in_graph(obj):
            return {}
        below = self.live.graph.tree.below(obj)
        return {value: self._shared[value] for value in below if value in self._shared}

    def are_shared(self, objects: Iterable[int]) -> bool:
        """Return whether the fix fills all objects with values that were once shared."""
        return all(obj in self._shared for obj in objects)

    def _by_other_edges(self, claims: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Yield saved values with the objects of their local names, where either side shares."""
        unused = set(self.run.mapping.unused)
        for node, edges_to in enumerate(self.saved.graph.edges_to):
            if has_value(self.saved.graph.nodes[node]) and (len(edges_to) > 1 or node in unused):
                edges = _edges_of_holders(self.saved.graph, node)
                for parent, label in edges:
                    obj = self._named(claims, parent, label)
                    if obj is not None and (len(edges) > 1 or self._is_shared(obj)):
                        yield node, obj

    def _named(self, claims: Mapping[int, Sequence[int]], parent: int, label: str) -> int | None:
        """Return the live object to which a local name leads from a parent's counterpart.

        An index counts in sequences of one length.
        """
        holder = claims[parent][0] if parent in claims else self.saved.trace.bound.get(parent)
        if holder is None or not self.live.is_in_graph(holder):
            return None
        if INDEX.fullmatch(label):
            saved, live = self.saved.graph.nodes[parent], self.live.graph.nodes[holder]
            if len(saved.children) != len(live.children):
                return None
        return self.live.child(holder, label)

    def _is_shared(self, obj: int) -> bool:
        return self.live.is_in_graph(obj) and len(_edges_of_holders(self.live.graph, obj)) > 1

    @cached_property
    def full_names(self) -> FullNames:
        """The evidence from the full names of variables."""
        return FullNames.of(self.live.graph)

    @cached_property
    def astray(self) -> Mapping[int, Sequence[int]]:
        """The saved values that do not reach the objects that they belong to, and these."""
        bound, nodes = self.saved.trace.bound, self.saved.graph.nodes
        return {
            node: own
            for node, own in ({} if self.is_all_right else self.counterparts).items()
            if has_value(nodes[node])
            and (bound.get(node) not in own or not self.keeps_its_object(node))
        }

    def led_astray(self, node: int) -> int | None:
        """Return the first saved node that was bound to the wrong object, if a value is astray.

        None if the value only finds no object, or shares its object with a value in its place.
        """
        return next(self.all_led_astray(node), None)

    def all_led_astray(self, node: int) -> Iterator[int]:
        """Yield the saved nodes that were bound to the wrong objects, if a value is astray.

        These are the node itself, and the node whose value takes its place.
        """
        trace, own = self.saved.trace, self.counterparts[node]
        if trace.bound.get(node) is not None and trace.bound[node] not in own:
            yield node
        other = trace.source_of.get(own[0])
        if other not in (None, node) and other not in self.in_place:
            yield other

    def keeps_its_object(self, node: int) -> bool:
        """Return whether no other saved value goes into a node's object."""
        obj = self.saved.trace.bound.get(node)
        return obj is None or self.saved.trace.source_of.get(obj, node) == node

    @cached_property
    def in_place(self) -> Set[int]:
        """The saved nodes whose values reach their own objects."""
        return self.saved.trace.restored.intersection(self.counterparts).difference(self.astray)

    @cached_property
    def at_other_paths(self) -> set[int]:
        """The saved nodes whose counterparts have another path in the program."""
        moved: set[int] = set()
        trees = self.saved.graph.tree, self.live.graph.tree
        for node in trees[0].preorder():
            own = self.counterparts.get(node)
            is_moved = own is not None and trees[0].labels[node] != trees[1].labels[own[0]]
            if is_moved or trees[0].parents[node] in moved:
                moved.add(node)
        return moved

    def misleading_optimizer(self, node: int) -> int | None:
        """Return the saved optimizer whose list leads a value astray; None if none does."""
        wrong = self.led_astray(node)
        step = self.saved.trace.binding_steps.get(wrong) if wrong is not None else None
        return self.optimizer_of(step) if step is not None else None

    @cached_property
    def taken_for_others(self) -> tuple[set[int], set[int]]:
        """The saved values that go into objects of others, and the objects that get others' values.

        Both have no counterpart. A slot variable follows its variable, so it does not count.
        """
        nodes, own = self.saved.graph.nodes, self.counterparts
        places = {obj for objects in own.values() for obj in objects}
        bound = [
            (first, obj)  # the first node that is bound to an object gives its value
            for obj, (first, *_) in self.saved.trace.holders.items()
            if nodes[first].slot is None and has_value(nodes[first])
        ]
        return (
            {node for node, obj in bound if node not in own and obj in places},
            {obj for node, obj in bound if obj not in places and node in own},
        )

    def optimizer_of(self, step: Step) -> int | None:
        """Return the saved optimizer that has the step's parent as a list."""
        if step.parent is None or not step.name.isdecimal():
            return None
        nodes = self.saved.graph.nodes
        holders = (parent for parent, _ in self.saved.graph.edges_to[step.parent])
        return next((holder for holder in holders if is_optimizer(nodes[holder])), None)


def _edges_of_holders(graph: Graph, node: int) -> list[tuple[int, str]]:
    """Return the edges to a node, without those of optimizers' lists: these tell no place."""
    return [
        (parent, label)
        for parent, label in graph.edges_to[node]
        if not (
            INDEX.fullmatch(label)
            and is_optimizer(graph.nodes[graph.first_edges.get(parent, (parent, ""))[0]])
        )
    ]
