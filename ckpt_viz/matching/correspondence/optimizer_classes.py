"""Which classes two optimizers may have, and which slots mean the same in both.

A live optimizer has a class. A saved one shows only its lists, slots and counters, which several
classes may share. The program's own class counts then, or else the first in the table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ckpt_viz.files.keras_files.state import rows_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.keras_optimizers import generation_of
from ckpt_viz.graphs.slots.optimizer_table import (
    ROWS,
    SLOT_NAMES,
    Generation,
    Meaning,
    OptimizerRow,
    name_in_keras_3,
)

_OWN = {name for row in ROWS for name in row.own}


@dataclass(frozen=True, slots=True)
class SharedSlots:
    """The slots that mean the same in two optimizers, by their names in the checkpoint.

    `is_other` says whether the optimizers are of classes that mean other things by some slots.
    """

    names: dict[str, str]
    is_other: bool = False


@dataclass(frozen=True, slots=True)
class OptimizerSlots:
    """An optimizer's slots by name, in their order; no optimizer in a name-based checkpoint."""

    graph: Graph
    optimizer: int | None
    names: Collection[str]

    @property
    def generation(self) -> Generation | None:
        """How the optimizer keeps its state."""
        if self.optimizer is None:
            return Generation.TENSORFLOW_1
        return generation_of(self.graph.nodes[self.optimizer])

    def classes(self) -> list[OptimizerRow]:
        """Return the rows of the classes that it may have, the most common ones first."""
        rows = [row for row in ROWS if row.generation is self.generation]
        if self.optimizer is None:
            return [row for row in rows if has_slots_of(row, self.names)]
        node = self.graph.nodes[self.optimizer]
        if known := [row for row in rows if row.name == node.type_name]:
            return known
        if self.graph.is_of_keras:  # its states have numbers, and no lists
            named = rows_of(node.type_name or node.own_name)
            return [row for row in named if has_slots_of(row, self.names)]
        children = [child.local_name for child in node.children]
        lists = [name for name in children if name in SLOT_NAMES]
        rows = [row for row in rows if has_slots_of(row, self.names) and _has_lists_of(row, lists)]
        own = _OWN.intersection(children)
        return [row for row in rows if own == set(row.own)] or rows


def has_slots_of(row: OptimizerRow, names: Collection[str]) -> bool:
    """Return whether slots of these names, if there are any, can be those of a class."""
    usual = {slot.name for slot in row.slots if not slot.option}
    return not names or usual <= set(names) <= row.meanings().keys()


def shared_slots(saved: OptimizerSlots, live: OptimizerSlots) -> SharedSlots:
    """Return the slots that mean the same in two optimizers; of other classes, also namesakes.

    Classes that the table lacks share the slots of equal names.
    """
    was, now = saved.classes(), live.classes()
    if not was or not now:
        return _of_equal_names(saved, live)
    live_row = now[0]
    saved_row = next((row for row in was if row.default_name == live_row.default_name), was[0])
    meant = saved_row.meanings()
    live_names = {meaning: name for name, meaning in live_row.meanings().items()}
    names = {name: live_names.get(meant[name], "") for name in saved.names if name in meant}
    shared = {name: other for name, other in names.items() if other in live.names}
    is_other = not (_usual(saved_row) <= {*live_names} and _usual(live_row) <= {*meant.values()})
    if is_other:  # slots of equal names may mean something else: no restore takes them unasked
        shared = {**_of_equal_names(saved, live).names, **shared}
    return SharedSlots(shared, is_other)


def _of_equal_names(saved: OptimizerSlots, live: OptimizerSlots) -> SharedSlots:
    live_names = {name_in_keras_3(name): name for name in live.names}
    names = {name: live_names.get(name_in_keras_3(name), "") for name in saved.names}
    shared = {name: other for name, other in names.items() if other}
    alone = len(shared) < len(saved.names) or len(shared) < len(live.names)
    return SharedSlots(shared, bool(saved.names and live.names and alone))


def _usual(row: OptimizerRow) -> set[Meaning]:
    return {slot.meaning for slot in row.slots if not slot.option}


def _has_lists_of(row: OptimizerRow, lists: list[str]) -> bool:
    """Return whether lists, if there are any, are those of a class in their order.

    RMSprop and Adam have lists of equal names in another order.
    """
    in_order = [slot.kept_in for slot in row.slots]
    usual = {slot.kept_in for slot in row.slots if not slot.option}
    general = {"_model_variables_moving_average", "_accumulated_gradients"}
    kept = [name for name in lists if name not in general]
    return not kept or (usual <= set(kept) and kept == [name for name in in_order if name in kept])
