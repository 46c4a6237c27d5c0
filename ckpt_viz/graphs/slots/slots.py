"""Slots: which variable of an optimizer belongs to which variable of the model.

TensorFlow 1 and Keras 2 optimizers declare this in the graph. Newer ones do not: Keras 3 and the
new optimizers of Keras 2 hold their slot variables in lists. The lists, the full names, the order
and the shapes show which belong together. A rule counts only if these leave one answer; with two
answers, the node remains an ordinary variable. `docs/object_graph.md` describes the rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.nodes.nodes import Node, Slot, SlotRule, is_variable
from ckpt_viz.graphs.slots.keras_2_slots import keras_2_slots, other_variables
from ckpt_viz.graphs.slots.keras_3_slots import keras_3_slots
from ckpt_viz.graphs.slots.keras_optimizers import keras_optimizers


def find_slots(nodes: Sequence[Node]) -> dict[int, Slot]:
    """Return the slot of every slot variable by its node id; the graph's declarations win."""
    slots = _declared(nodes)
    optimizers = tuple(keras_optimizers(nodes))
    for optimizer in optimizers:
        if optimizer.trainable is not None:
            for node_id, slot in keras_3_slots(nodes, optimizer, optimizer.trainable):
                slots.setdefault(node_id, slot)
    keras_2 = [optimizer for optimizer in optimizers if optimizer.trainable is None]
    if keras_2:
        variables = other_variables(nodes, slots, optimizers)
        for optimizer in keras_2:
            for node_id, slot in keras_2_slots(nodes, optimizer, variables):
                slots.setdefault(node_id, slot)
    return slots


def _declared(nodes: Sequence[Node]) -> dict[int, Slot]:
    slots: dict[int, Slot] = {}
    for optimizer, node in enumerate(nodes):
        for slot in node.slot_variables:
            if is_variable(nodes[slot.slot_variable].attributes):
                # The last declaration counts, as in TensorFlow's names.
                slots[slot.slot_variable] = Slot(
                    slot.slot_name, slot.variable, optimizer, SlotRule.DECLARED
                )
    return slots
