"""Python code that restores the last checkpoint before a training went wrong."""

from __future__ import annotations

import os

from ckpt_viz.answers.timeline.cells import CellState, HistoryRow
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.ground.text import count, printable

CHECKPOINT = "your_checkpoint"
"""The name in the code for the program's `tf.train.Checkpoint`, if its own is unknown."""
_LOAD = "your_model.load_weights({path})"
_MODEL = "# Replace `your_model` by the Keras model of your program."
_OF_KERAS = (Format.KERAS_H5, Format.KERAS_WEIGHTS, Format.KERAS_ARCHIVE)
_UNNAMED = {
    Format.OBJECT_BASED: f"# Replace `{CHECKPOINT}` by the tf.train.Checkpoint of your program.",
    Format.NAME_BASED: "# Replace `your_saver` and `your_session` by those of your program.",
    **dict.fromkeys(_OF_KERAS, _MODEL),
}
_CALLS = {
    Format.OBJECT_BASED: "{name}.restore({path}).assert_existing_objects_matched()",
    Format.NAME_BASED: "your_saver.restore(your_session, {path})",
    **dict.fromkeys(_OF_KERAS, _LOAD),
}


def whole_before(history: Record, time: int) -> int | None:
    """Return the last checkpoint before this one in which all values that were read are finite.

    None if there is none, or the checkpoints have no order.
    """
    if history.distances is not None:
        return None
    for number in range(time - 1, -1, -1):
        if history.sources[number].graph is not None and _is_whole(history, number):
            return number
    return None


def is_named(history: Record, number: int, name: str | None) -> bool:
    """Return whether the code of `restore_code` has no name to replace, so that it runs."""
    checkpoint = history.sources[number]
    provenance = None if checkpoint.graph is None else checkpoint.graph.provenance
    is_of_objects = provenance is not None and provenance.format is Format.OBJECT_BASED
    return name is not None and is_of_objects


def restore_code(history: Record, number: int, name: str | None = None) -> str | None:
    """Return code that restores a checkpoint of a history; None for a SavedModel.

    `name` is the expression for the program's `tf.train.Checkpoint`. Without it, the code has a
    name to replace, and a comment about it.
    """
    checkpoint = history.sources[number]
    provenance = None if checkpoint.graph is None else checkpoint.graph.provenance
    if provenance is None or provenance.prefix.endswith(("/", os.sep)):
        return None
    kind = Format.NAME_BASED if provenance.format is Format.NAME_BASED_V1 else provenance.format
    if kind not in _CALLS:
        return None
    has_name = is_named(history, number, name)
    lines = [f"# {printable(checkpoint.title)}: all values that were read are finite."]
    unread = sum(row.cells[number].values is None for row in history.rows if _has(row, number))
    if unread:
        lines.append(f"# Not read, because they never changed: {count(unread, 'tensor')}.")
    lines += [] if has_name else [_UNNAMED[kind]]
    call = _CALLS[kind].format(name=name if has_name else CHECKPOINT, path=repr(provenance.prefix))
    return "\n".join([*lines, call]) + "\n"


def _is_whole(history: Record, number: int) -> bool:
    for row in history.rows:
        cell = row.cells[number]
        if cell.state is CellState.DAMAGED:
            return False
        if cell.values is not None and (cell.values.nan or cell.values.inf):
            return False
    return True


def _has(row: HistoryRow, number: int) -> bool:
    return row.cells[number].state in (CellState.UNREAD, CellState.EQUAL)
