"""What to say of attributes whose values no checkpoint of the program holds, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.nodes.nodes import Node, NotSaved
from ckpt_viz.ground.text import count, readable

_LIST_OF_KERAS_3 = "TrackedList"
ASSIGN_EACH = "Assign each object to an attribute of its own, or pass it to tf.train.Checkpoint."


def lost_attributes(nodes: Sequence[Node]) -> list[tuple[int, NotSaved]]:
    """Return the attributes with which a save loses trained values, and the nodes with these."""
    return [
        (node_id, note)
        for node_id, node in enumerate(nodes)
        for note in node.not_saved
        if note.is_lost
    ]


def in_no_checkpoint(place: str, lost: Sequence[NotSaved]) -> str:
    """Return how much no checkpoint holds; `place` is that of the first attribute."""
    number, noun = _amount(lost)
    more = f" and {count(len(lost) - 1, 'more attribute')}" if len(lost) > 1 else ""
    verb = "is" if number == 1 else "are"
    return f"{place}{more}: {count(number, noun)} {verb} in no checkpoint of this program."


def amount_lost(note: NotSaved) -> str:
    """Return how many variables, or else objects, an attribute has that no checkpoint holds."""
    return count(*_amount([note]))


def what_to_do(note: NotSaved) -> str:
    """Return what makes TensorFlow follow the objects of an attribute."""
    if note.type_name == _LIST_OF_KERAS_3:
        name = readable(note.name)
        return (
            f"Make the list, and each list in it, a tuple, as in self.{name} = tuple({name}), "
            "and save again."
        )
    return ASSIGN_EACH


def _amount(lost: Sequence[NotSaved]) -> tuple[int, str]:
    variables = sum(note.variables for note in lost)
    return (variables, "variable") if variables else (sum(note.count for note in lost), "object")
