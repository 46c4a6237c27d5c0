"""Where a restore puts each saved value, and which object the value belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.mapping.counterparts import Claims, counterparts
from ckpt_viz.mapping.full_names import FullNames
from ckpt_viz.mapping.sequences import ItemReader
from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.nodes import has_value
from ckpt_viz.restore_check.sides import LiveSide, SavedSide, is_optimizer


@dataclass(frozen=True)
class Placement:
    """The objects that saved values go into, compared with the objects that they belong to.

    `returns` says that the restore raises nothing.
    """

    saved: SavedSide
    live: LiveSide
    returns: bool

    @cached_property
    def is_all_right(self) -> bool:
        """Whether every value has one place on both sides, so that no search is needed."""
        return (
            self.returns
            and not self.saved.unresolved
            and not self.live.unmatched
            and not any(True for _ in self.conflicts())
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
    def counterparts(self) -> Claims:
        """For each saved node, the live objects that it belongs to, as far as known."""
        return counterparts(
            self.saved.graph, self.live.graph, self.saved.trace.bound, self.item_reader
        )

    @cached_property
    def item_reader(self) -> ItemReader:
        """Reads the items of sequences, each once."""
        return ItemReader.of(self.saved.graph, self.live.graph)

    @cached_property
    def full_names(self) -> FullNames:
        """The evidence from the full names of variables."""
        return FullNames.of(self.live.graph)

    def is_astray(self, node: int) -> bool:
        """Return whether a saved value does not reach the object that it belongs to."""
        own = self.counterparts.get(node)
        if own is None or not has_value(self.saved.graph.nodes[node]):
            return False
        return self.saved.trace.bound.get(node) not in {*own} or not self.keeps_its_object(node)

    def led_astray(self, node: int) -> int | None:
        """Return the saved node that was bound to the wrong object, if a value is astray.

        It is the node itself, or the node that takes its place. None if the value only finds no
        object, or shares one with a value that is in its place.
        """
        trace = self.saved.trace
        if trace.bound.get(node) is not None and trace.bound[node] not in self.counterparts[node]:
            return node
        other = trace.source_of.get(self.counterparts[node][0])
        return other if other is not None and other not in self.in_place[0] else None

    def keeps_its_object(self, node: int) -> bool:
        """Return whether no other saved value goes into a node's object."""
        obj = self.saved.trace.bound.get(node)
        return obj is None or self.saved.trace.source_of.get(obj, node) == node

    @cached_property
    def in_place(self) -> tuple[set[int], set[int]]:
        """The saved nodes whose values reach their own objects, and these objects."""
        trace = self.saved.trace
        nodes = {n for n in trace.restored if n in self.counterparts and not self.is_astray(n)}
        return nodes, {trace.bound[node] for node in nodes}

    @cached_property
    def at_other_paths(self) -> set[int]:
        """The saved nodes whose counterparts have another path in the program."""
        found: set[int] = set()
        trees = self.saved.graph.tree, self.live.graph.tree
        for node in trees[0].preorder():
            own = self.counterparts.get(node)
            is_moved = own is not None and trees[0].labels[node] != trees[1].labels[own[0]]
            if is_moved or trees[0].parents[node] in found:
                found.add(node)
        return found

    def misleading_optimizer(self, node: int) -> int | None:
        """Return the saved optimizer whose list leads a value astray; None if none does."""
        wrong = self.led_astray(node)
        step = self.saved.trace.binding_steps.get(wrong) if wrong is not None else None
        return self.optimizer_of(step) if step is not None else None

    def optimizer_of(self, step: Step) -> int | None:
        """Return the saved optimizer that has the step's parent as a list."""
        if step.parent is None or not step.name.isdecimal():
            return None
        nodes = self.saved.graph.nodes
        holders = (parent for parent, _ in self.saved.graph.edges_to[step.parent])
        return next((one for one in holders if is_optimizer(nodes[one])), None)
