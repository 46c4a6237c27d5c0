"""A program that someone has changed, as the side that a restore writes to.

Its objects are those of the program before: what they read, and what they make, is asked of them.
Only what has changed is new: names, and objects that were added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from ckpt_viz.graphs.nodes.nodes import ROOT, Child, Node, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.graph_side import GraphSide
from ckpt_viz.matching.engines.sides_of_match import LiveSideOfMatch
from ckpt_viz.matching.engines.trace import Failure, Gathered, NewCounter, SlotAnswer


@dataclass
class ChangedSide:
    """The live side of a changed program.

    `program` is the side before the change, and `before` its graph. `graph` is that of the changed
    program: an object's id is its node id there. `objects` has by node the object of the program;
    None for an added one, which behaves as its node tells. Objects that only the restore finds or
    makes get the next ids.
    """

    program: LiveSideOfMatch
    before: Graph
    graph: Graph
    objects: Sequence[int | None]
    root: int = field(default=ROOT, init=False)
    _added: GraphSide = field(init=False)
    _later: list[tuple[LiveSideOfMatch, int]] = field(default_factory=list, init=False)
    _ids: dict[tuple[int, int], int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._added = GraphSide(self.graph)
        for node, obj in enumerate(self.objects):
            if obj is not None:
                self._ids[id(self.program), obj] = node

    @cached_property
    def attached(self) -> Sequence[tuple[str, int]]:
        """The checkpoint's own children beside its root, wherever they came from."""
        own = {obj for _, obj in self.program.attached}
        return tuple(
            (child.local_name, child.node_id)
            for child in self.graph.nodes[ROOT].children
            if self.objects[child.node_id] in own
        )

    def children(self, obj: int) -> Callable[[str], int | None]:
        """Return the lookup of an object's children by local name."""
        known = self._in_program(obj)
        if obj >= len(self.objects):
            side, own = self._later[obj - len(self.objects)]
            return self._of(side, side.children(own))
        now = {child.local_name: child.node_id for child in self.graph.nodes[obj].children}
        if known is None:
            return now.get
        before = {child.local_name: child.node_id for child in self.before.nodes[known].children}
        lookup = self._of(self.program, self.program.children(known))
        attached = {Child(*pair) for pair in self.attached} if obj == ROOT else frozenset()

        def look_up(name: str) -> int | None:
            child = now.get(name)
            if child is None:
                return None if name in before else lookup(name)
            if self.objects[child] is not None and before.get(name) == self.objects[child]:
                return lookup(name)
            return None if Child(name, child) in attached else child

        return look_up

    def _of(
        self, side: LiveSideOfMatch, lookup: Callable[[str], int | None]
    ) -> Callable[[str], int | None]:
        def look_up(name: str) -> int | None:
            child = lookup(name)
            return None if child is None else self._id(side, child)

        return look_up

    @property
    def momentary(self) -> Set[int]:
        """The objects that a restore forgets, although it has bound them."""
        return {self._id(self.program, obj) for obj in list(self.program.momentary)}

    def bookkeepers(self, obj: int) -> tuple[int, ...]:
        """Return the objects that record whether this one was restored."""
        side, own = self._asked(obj)
        return tuple(self._id(side, keeper) for keeper in side.bookkeepers(own))

    def gather(self, obj: int, node: Node) -> Gathered:
        """Return what an object would read for a node with values."""
        side, own = self._asked(obj)
        return side.gather(own, node)

    def misfit(self, obj: int, stored: Stored) -> Failure:
        """Return what assigning a value of the wrong shape raises."""
        side, own = self._asked(obj)
        return side.misfit(own, stored)

    def slot(
        self, optimizer: int, variable: int, name: str, node: Node, stored: Stored | None
    ) -> SlotAnswer:
        """Return what an optimizer does with a saved slot variable."""
        of_optimizer, of_variable = self._in_program(optimizer), self._in_program(variable)
        if of_optimizer is None or of_variable is None:
            side: LiveSideOfMatch = self._added
            answer = side.slot(optimizer, variable, name, node, stored)
        else:
            side = self.program
            answer = side.slot(of_optimizer, of_variable, name, node, stored)
        return answer if answer.obj is None else replace(answer, obj=self._id(side, answer.obj))

    def takes_counter(self, obj: int) -> bool:
        """Return whether a new counter takes the values that wait for one at the object."""
        known = self._in_program(obj)
        return known is not None and self.program.takes_counter(known)

    def new_save_counter(
        self, waiting: Sequence[tuple[int, Node, Stored | None]]
    ) -> NewCounter | None:
        """Return the counter that the restore makes at its end."""
        known = [(self._in_program(obj), node, stored) for obj, node, stored in waiting]
        made = self.program.new_save_counter(
            [(-1 if obj is None else obj, node, stored) for obj, node, stored in known]
        )
        return None if made is None else replace(made, obj=self._id(self.program, made.obj))

    def _in_program(self, obj: int) -> int | None:
        """Return an object's id in the program before; None if it has none there."""
        if obj < len(self.objects):
            return self.objects[obj]
        side, own = self._later[obj - len(self.objects)]
        return own if side is self.program else None

    def _asked(self, obj: int) -> tuple[LiveSideOfMatch, int]:
        """Return the side that answers for an object, and the object's id there."""
        if obj >= len(self.objects):
            return self._later[obj - len(self.objects)]
        own = self.objects[obj]
        return (self._added, obj) if own is None else (self.program, own)

    def _id(self, side: LiveSideOfMatch, own: int) -> int:
        """Return the id of an object by its id on a side; a new object gets the next one."""
        if side is self._added and own < len(self.objects):
            return own
        key = id(side), own
        if key not in self._ids:
            self._ids[key] = len(self.objects) + len(self._later)
            self._later.append((side, own))
        return self._ids[key]
