"""The cells of a table: what the checked call and the fix do with the values of a line."""

from __future__ import annotations

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import CellSign, TableCell
from ckpt_viz.ground.text import end_of, shape_words
from ckpt_viz.matching.restore_table.folded_rows import FoldedRows
from ckpt_viz.matching.restore_table.folding import Folding
from ckpt_viz.matching.restore_table.rows import (
    Destination,
    RestoreRow,
    RestoreTable,
    ValueCell,
    Why,
)

WIDEST = 38  # characters of a name in a cell
MADE = "made by the restore"
_STAYS = {
    Why.SHAPE: TableCell(CellSign.FAILS, "other shape"),
    Why.DTYPE: TableCell(CellSign.FAILS, "other dtype"),
    Why.DAMAGED: TableCell(CellSign.FAILS, "damaged"),
    Why.AFTER_ERROR: TableCell(CellSign.NOWHERE, "after the error"),
}
_NOWHERE = TableCell(CellSign.NOWHERE, "nowhere")
_LEFT_OUT = {
    Why.SHAPE: TableCell(CellSign.MISFIT, "stays, other shape"),
    Why.DTYPE: TableCell(CellSign.MISFIT, "stays, other dtype"),
    Why.DAMAGED: TableCell(CellSign.FAILS, "stays, damaged"),
    Why.GUESS: TableCell(CellSign.ASKS, "stays, a guess"),
    Why.OTHER_MEANING: TableCell(CellSign.NOWHERE, "stays, other meaning"),
    Why.NOT_BUILT: TableCell(CellSign.NOWHERE, "stays, not built yet"),
    Why.NO_CODE: TableCell(CellSign.NOWHERE, "stays, no code restores it"),
    Why.NOT_TRACKED: TableCell(CellSign.NOWHERE, "stays, not tracked"),
    Why.OCCUPIED: TableCell(CellSign.NOWHERE, "stays, its place is taken"),
}
_ELSEWHERE = TableCell(CellSign.ELSEWHERE, "elsewhere")
_OF_ANOTHER = TableCell(CellSign.FAILS, "another part's value")  # it has none of its own
_LEFT = TableCell(CellSign.NOWHERE, "stays")
HERE = TableCell(CellSign.HERE, "here")
OTHERWISE = TableCell(CellSign.ASKS, "here, other meaning")
IF_RIGHT = "here, if you are right"
IN_PART = TableCell(CellSign.LIKELY, "here, in part")
_KEEPS = TableCell(CellSign.KEEPS, "keeps its own")
_WAITS = TableCell(CellSign.WAITS, "waits until built")
_UNKNOWN = TableCell(CellSign.ASKS, "its own code decides")


def plain_cell(folding: Folding, line: FoldedRows) -> TableCell:
    """Return what the checked call does with the values of a line: the worst, and with how many.

    What the program alone has keeps its own values, whatever the call tried to put there.
    """
    cell = _plain_cell_of(line.rows[0])
    if cell.sign is CellSign.ELSEWHERE:
        cell = TableCell(cell.sign, _into(folding, line))
    alike = sum(_plain_cell_of(row).sign is cell.sign for row in line.rows)
    if alike == len(line.rows) or line.rows[0].saved is None:
        return cell
    return TableCell(cell.sign, f"{alike} of {len(line.rows)}: {cell.words}")


def _plain_cell_of(row: RestoreRow) -> TableCell:
    cell = row.plain.meant
    match cell.place:
        case Destination.HERE:
            return OTHERWISE if row.why_left is Why.OTHER_MEANING else HERE
        case Destination.INTO:
            return _ELSEWHERE
        case Destination.WAITS:
            return _WAITS
        case Destination.UNKNOWN:
            return _UNKNOWN
    if cell.why is Why.FAILURE:
        return TableCell(CellSign.FAILS, cell.error)
    if row.saved is None and cell.why in (Why.SHAPE, Why.DTYPE):
        return _OF_ANOTHER
    otherwise = _KEEPS if cell.place is Destination.KEEPS else _NOWHERE
    return otherwise if cell.why is None else _STAYS.get(cell.why, otherwise)


def fixed_cell(line: FoldedRows) -> TableCell | None:
    """Return what the fix does with the values of a line; None without a fix."""
    cell = line.rows[0].fixed
    if cell is None:
        return None
    match cell.place:
        case Destination.HERE:
            return IN_PART if cell.is_part else HERE
        case Destination.KEEPS:
            return _KEEPS
        case Destination.WAITS:
            return _WAITS
    return _LEFT if cell.why is None else _LEFT_OUT.get(cell.why, _LEFT)


def not_saved(table: RestoreTable) -> str:
    """Return what replaces a name in the file for what only the program has."""
    return "not in these files" if table.lacks_unknown else "not in the file"


def no_object(line: FoldedRows) -> str:
    """Return what replaces a name in the program for what only the file has."""
    row = line.rows[0]
    if row.is_made:
        return MADE
    if row.why_left is Why.NOT_TRACKED:
        return "not tracked"
    cells = [cell for cell in (row.plain, row.fixed) if cell is not None]
    # The fix knows the shape of what the program lacks only if an optimizer makes it later.
    is_made_later = row.why_left in (Why.SHAPE, Why.DTYPE)
    is_unbuilt = is_made_later or any(map(is_of_unbuilt, cells))
    return "not built yet" if is_unbuilt else "not in the program"


def is_of_unbuilt(cell: ValueCell) -> bool:
    """Return whether a value waits, or stays in the file, because its object is not built yet."""
    return cell.place is Destination.WAITS or cell.why is Why.NOT_BUILT


def value_look(graph: Graph | None, node: int | None) -> str:
    """Return the shape of a value; its dtype, too, if that is not float32."""
    attributes = () if graph is None or node is None else graph.nodes[node].attributes
    if len(attributes) != 1:
        return ""
    dtype = attributes[0].dtype
    words = [shape_words(attributes[0].shape), "" if dtype in (None, "float32") else str(dtype)]
    return " ".join(word for word in words if word)


def _into(folding: Folding, line: FoldedRows) -> str:
    """Return where the values of a line go, or come from."""
    is_saved = line.rows[0].saved is not None
    graph = folding.table.live if is_saved else folding.table.saved
    moved = [row for row in line.rows if row.plain.meant.place is Destination.INTO]
    others = [other for row in moved if (other := row.plain.meant.other) is not None]
    if graph is None or not others:
        return _ELSEWHERE.words
    own = [row.live if is_saved else row.saved for row in moved]
    if is_saved and len(moved) > 1 and {*others} == {*own}:
        return "into each other"
    if line.parts > 1:
        return _each_into(folding, line) if is_saved else "from others"
    part = folding.common_part(graph, others)
    if part is None:
        return "each into another" if is_saved else "from others"
    return f"{'into' if is_saved else 'from'} {end_of(folding.place(graph, part), WIDEST)}"


def _each_into(folding: Folding, line: FoldedRows) -> str:
    """Return where the parts of a run go: each into the place of its neighbour, or elsewhere."""
    live = folding.table.live
    of_part: list[int | None] = []
    into: list[int | None] = []
    for _, branch in line.branches:
        others = [row.plain.meant.other for row in branch.every_row]
        own = [row.live for row in branch.every_row]
        into.append(folding.common_part(live, [obj for obj in others if obj is not None]))
        of_part.append(folding.common_part(live, [obj for obj in own if obj is not None]))
    if None not in into:
        if into[:-1] == of_part[1:]:
            return "each into the next"
        if into[1:] == of_part[:-1]:
            return "each into the one before"
    return "each into another"
