"""Names of the objects that the live graph does not have: what a restore makes or comes upon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import SAVE_COUNTER


def names_of_new(
    live: Graph, saved: Graph, steps: Iterable[Step], bound: Mapping[int, int]
) -> dict[int, str]:
    """Return, by id, the names of the objects of a trace that come after the live graph's."""
    known = len(live.nodes)
    slots = {
        slot.slot_variable: (optimizer, slot)
        for optimizer, node in enumerate(saved.nodes)
        for slot in node.slot_variables
    }
    names: dict[int, str] = {}

    def name_of(obj: int) -> str:
        return names[obj] if obj in names else live.name(obj)

    for step in steps:
        if step.obj is None or step.obj < known or step.obj in names:
            continue
        if step.action not in (Action.BIND, Action.CREATE):
            continue
        if step.node is None:
            names[step.obj] = f"(root).{SAVE_COUNTER}"
        elif step.node in slots:
            optimizer, slot = slots[step.node]
            names[step.obj] = (
                f"{name_of(bound[optimizer])}'s state '{slot.slot_name}' for "
                f"{name_of(bound[slot.variable])}"
            )
        elif step.parent is not None:
            names[step.obj] = f"{name_of(bound[step.parent])}.{step.name}"
    return names
