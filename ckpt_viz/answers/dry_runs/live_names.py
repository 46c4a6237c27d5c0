"""Names of live objects, also of those that are not in the live graph.

A restore makes such objects, or only the restore finds them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.graphs.nodes.names import state_of
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.graphs.nodes.printed_names import child_of, readable_name, tensorflow_state
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import readable
from ckpt_viz.matching.engines.trace import Action, Step


class NewObject(NamedTuple):
    """Where an object belongs that is not in the live graph: its holder, and its local name there.

    Of a slot variable, the holder is the optimizer, and `variable` the variable. None is a holder
    without a name.
    """

    holder: int | None
    local_name: str
    variable: int | None = None


MADE_SAVE_COUNTER = NewObject(ROOT, SAVE_COUNTER)


@dataclass(frozen=True)
class LiveNames:
    """The names of live objects; `of_new` has those that are not in the graph, by id.

    Each of these comes after its holder and its variable.
    """

    graph: Graph
    of_new: Mapping[int, NewObject] = field(default_factory=dict)

    def full(self, obj: int) -> str:
        """Return TensorFlow's name of a live object."""
        return self._new[obj] if obj in self.of_new else self.graph.name(obj)

    def readable(self, obj: int) -> str:
        """Return TensorFlow's name of a live object, or its end if it is too deep to read."""
        return self._new[obj] if obj in self.of_new else readable_name(self.graph, obj)

    def place(self, obj: int) -> str:
        """Return what people call a live object; of a slot variable, whose state it is."""
        if obj in self.of_new:
            return self._new_places[obj]
        return self.graph.names.place_or_state(obj)

    def is_save_counter(self, obj: int) -> bool:
        """Return whether an object is the checkpoint's counter, also if the restore makes it."""
        return obj == self.graph.save_counter or self.of_new.get(obj) == MADE_SAVE_COUNTER

    @cached_property
    def _new(self) -> Mapping[int, str]:
        name = self.graph.name
        return self._spelled(
            name, lambda holder, local_name: child_of(name(holder), local_name), tensorflow_state
        )

    @cached_property
    def _new_places(self) -> Mapping[int, str]:
        return self._spelled(
            self.graph.names.place_or_state,
            self.graph.names.child_place,
            lambda _, slot_name, variable: state_of(slot_name, variable),
        )

    def _spelled(
        self,
        name: Callable[[int], str],
        child: Callable[[int, str], str],
        state: Callable[[str, str, str], str],
    ) -> Mapping[int, str]:
        """Return the names of all new objects, by the names that others in the graph have."""
        names: dict[int, str] = {}

        def name_of(obj: int | None) -> str:
            # Shortened, because in a chain of slots each name contains the name before.
            return "…" if obj is None else readable(names[obj]) if obj in names else name(obj)

        for obj, (holder, local_name, variable) in self.of_new.items():
            if variable is not None:
                names[obj] = state(name_of(holder), local_name, name_of(variable))
            elif holder is None or holder in names:
                names[obj] = child_of(name_of(holder), local_name)
            else:
                names[obj] = child(holder, local_name)
        return names


def new_objects(
    live: Graph, saved: Graph, steps: Iterable[Step], bound: Mapping[int, int]
) -> dict[int, NewObject]:
    """Return, by id, the objects in a trace that are not in the live graph."""
    known = len(live.nodes)
    # A slot variable may be declared several times. The step gives the optimizer and the slot's
    # name; of the variables, the first with a name counts.
    variables: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for optimizer, node in enumerate(saved.nodes):
        for slot in node.slot_variables:
            variables[optimizer, slot.slot_variable, slot.slot_name].append(slot.variable)
    new: dict[int, NewObject] = {}

    def named(node: int) -> int | None:
        obj = bound.get(node, -1)
        return obj if 0 <= obj < known or obj in new else None

    for step in steps:
        if step.obj is None or step.obj < known or step.obj in new:
            continue
        if step.action not in (Action.BIND, Action.CREATE):
            continue
        if step.node is None:
            new[step.obj] = MADE_SAVE_COUNTER
        elif step.parent is not None:
            of_slot = map(named, variables.get((step.parent, step.node, step.name), ()))
            variable = next((obj for obj in of_slot if obj is not None), None)
            new[step.obj] = NewObject(named(step.parent), step.name, variable)
    return new
