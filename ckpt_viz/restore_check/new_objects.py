"""Names of objects that are not in the live graph: those that a restore makes or discovers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import SAVE_COUNTER_NAME
from ckpt_viz.object_graph.spelling import readable


def names_of_new(
    live: Graph, saved: Graph, steps: Iterable[Step], bound: Mapping[int, int]
) -> dict[int, str]:
    """Return, by id, the names of the objects in a trace that are not in the live graph."""
    known = len(live.nodes)
    # A slot variable may be declared several times. The step gives the optimizer and the slot's
    # name; of the variables, the one that already has a name counts.
    variables: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    for optimizer, node in enumerate(saved.nodes):
        for slot in node.slot_variables:
            variables[optimizer, slot.slot_variable, slot.slot_name].append(slot.variable)
    names: dict[int, str] = {}

    def name_of(node: int) -> str | None:
        obj = bound.get(node, -1)
        if 0 <= obj < known:
            return live.name(obj)
        # Shortened, because in a chain of slots each name contains the one before.
        return readable(names[obj]) if obj in names else None

    for step in steps:
        if step.obj is None or step.obj < known or step.obj in names:
            continue
        if step.action not in (Action.BIND, Action.CREATE):
            continue
        if step.node is None:
            names[step.obj] = SAVE_COUNTER_NAME
        elif step.parent is not None:
            parent = name_of(step.parent) or f"(node {step.parent})"
            of_slot = variables.get((step.parent, step.node, step.name), ())
            variable = next(filter(None, map(name_of, of_slot)), None)
            names[step.obj] = (
                f"{parent}.{step.name}"
                if variable is None
                else f"{parent}'s state '{step.name}' for {variable}"
            )
    return names
