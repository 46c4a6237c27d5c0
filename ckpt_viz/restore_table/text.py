"""The text of a check: what changed, what the call does, the folded table, and the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import State
from ckpt_viz.render.signs import STATES
from ckpt_viz.restore_table.folding import FoldedRows, lines_of
from ckpt_viz.restore_table.rows import Destination, RestoreRow, RestoreTable, ValueCell, Why
from ckpt_viz.text import count, end_of, printable, shape_words
from ckpt_viz.wording import Wording

_WIDEST = 38  # characters of a cell
_SIGN = {state: sign.glyph for state, sign in STATES.items()}
_STAYS = {
    Why.SHAPE: f"{_SIGN[State.FAILED]} other shape",
    Why.DTYPE: f"{_SIGN[State.FAILED]} other dtype",
    Why.DAMAGED: f"{_SIGN[State.FAILED]} damaged",
    Why.AFTER_ERROR: f"{_SIGN[State.SAVED_ONLY]} after the error",
}
_NOWHERE = f"{_SIGN[State.SAVED_ONLY]} nowhere"
_LEFT_OUT = {
    Why.SHAPE: f"{_SIGN[State.SHAPE]} stays, other shape",
    Why.DTYPE: f"{_SIGN[State.DTYPE]} stays, other dtype",
    Why.DAMAGED: f"{_SIGN[State.FAILED]} stays, damaged",
    Why.GUESS: "? stays, a guess",
    Why.OTHER_MEANING: f"{_SIGN[State.SAVED_ONLY]} stays, other meaning",
    Why.NO_CODE: f"{_SIGN[State.SAVED_ONLY]} stays, no code restores it",
    Why.NOT_TRACKED: f"{_SIGN[State.SAVED_ONLY]} stays, not tracked",
}
_LEFT = f"{_SIGN[State.SAVED_ONLY]} stays"
_HERE = f"{_SIGN[State.MATCHED]} here"
_KEEPS = f"{_SIGN[State.LIVE_ONLY]} keeps its own"
_WAITS = f"{_SIGN[State.DEFERRED]} waits until built"
_UNKNOWN = "? its own code decides"
_RED, _GREEN, _YELLOW, _CYAN, _FAINT = "31", "32", "33", "36", "2"  # ECMA-48, SGR
_COLORS = {
    _SIGN[State.MATCHED]: _FAINT,
    _SIGN[State.SAVED_ONLY]: _RED,
    _SIGN[State.FAILED]: _RED,
    _SIGN[State.MOVED]: _YELLOW,
    _SIGN[State.SHAPE]: _YELLOW,
    _SIGN[State.LIVE_ONLY]: _GREEN,
    _SIGN[State.DEFERRED]: _CYAN,
}


@dataclass(frozen=True)
class CheckText:
    """The parts of the text that are no rows.

    Attributes:
        title: What is restored, and into what.
        changes: What somebody did to the program, in one sentence; "" for nothing.
        verdict: What the call and the asserts do.
        call: The checked call, such as `restore()`.
        notes: What the table cannot tell, a sentence each.
        following: What to do next, a sentence each.
    """

    title: str
    changes: str
    verdict: str
    call: str
    notes: Sequence[str]
    following: Sequence[str]

    def of(self, table: RestoreTable, *, color: bool = False) -> str:
        """Return the text, at most about forty lines; with `color`, for a terminal of ECMA-48."""
        lines = [printable(line) for line in (self.title, self.changes, self.verdict) if line]
        grid = [*_grid(table, self.call, _painted if color else _unpainted)]
        if grid:
            lines += ["", *grid, ""]
        return "\n".join([*lines, *map(printable, (*self.notes, *self.following))])


def _painted(cell: str) -> str:
    color = _COLORS.get(cell[:1])
    return cell if color is None else f"\x1b[{color}m{cell}\x1b[0m"


def _unpainted(cell: str) -> str:
    return cell


def _grid(table: RestoreTable, call: str, paint: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of the table; none if every value is in its own place, or without a file."""
    lines = [] if table.saved is None else lines_of(table)
    if not lines:
        return
    quiet = len(table.rows) - sum(len(line.rows) for line in lines)
    cells = [_cells(table, line) for line in lines]
    heads = ["as saved", call, "with the fix", "in the program"]
    if all(_is_same(row) for line in lines for row in line.rows):
        cells, heads = [_without_fix(row) for row in cells], _without_fix(heads)
    if quiet:
        others = f"… {count(quiet, 'other value')}"
        here = [_HERE] * (len(heads) - 2)
        cells.append([others, *here, "", ""])
    shown = [[printable(cell) for cell in row] for row in ([*heads, ""], *cells)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for *row, number in shown:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        yield f"  {'   '.join([*map(paint, padded), number])}".rstrip()


def _is_same(row: RestoreRow) -> bool:
    """Return whether the fix does what the call does, or there is none."""
    plain, fixed = row.plain.place, None if row.fixed is None else row.fixed.place
    return fixed is None or plain is fixed is not Destination.INTO


def _without_fix(row: list[str]) -> list[str]:
    return [*row[:2], *row[3:]]


def _cells(table: RestoreTable, line: FoldedRows) -> list[str]:
    shows_shapes = len(line.rows) == 1 and _differs(line)
    first = line.rows[0]
    saved = _name(line.saved, line, _look(table.saved, first.saved) if shows_shapes else "")
    live = _name(line.live, line, _look(table.live, first.live) if shows_shapes else "")
    saved = saved or "not in the file"
    live = live or _no_object(line)
    number = count(len(line.rows), "value")
    return [saved, _plain(table, line), _fixed(line), live, number]


def _no_object(line: FoldedRows) -> str:
    row = line.rows[0]
    if row.is_made:
        return ""
    return "not built yet" if row.plain.place is Destination.WAITS else "not in the program"


def _differs(line: FoldedRows) -> bool:
    cells = (cell for row in line.rows for cell in (row.plain, row.fixed))
    whys = {cell.reason.why for cell in cells if cell is not None and cell.reason is not None}
    return bool(whys & {Why.SHAPE, Why.DTYPE})


def _look(graph: Graph | None, node: int | None) -> str:
    """Return the shape of a value; its dtype, too, if that is not float32."""
    attributes = () if graph is None or node is None else graph.nodes[node].attributes
    if len(attributes) != 1:
        return ""
    dtype = attributes[0].dtype
    words = [shape_words(attributes[0].shape), "" if dtype in (None, "float32") else str(dtype)]
    return " ".join(word for word in words if word)


def _name(names: tuple[str, ...], line: FoldedRows, look: str) -> str:
    if not names[0]:
        return ""
    if len(names) == 1:
        return end_of(names[0], _WIDEST) + (f" {look}" if look else "")
    if line.is_run:
        each = _WIDEST // 2
        return f"{end_of(names[0], each)} … {end_of(names[-1], each)}"
    return f"{end_of(names[0], _WIDEST)} and {line.parts - 1} more"


def _plain(table: RestoreTable, line: FoldedRows) -> str:
    cell = line.rows[0].plain
    match cell.place:
        case Destination.HERE:
            return _HERE
        case Destination.INTO:
            return _into(table, line)
        case Destination.WAITS:
            return _WAITS
        case Destination.UNKNOWN:
            return _UNKNOWN
    if cell.reason is not None and cell.reason.why is Why.FAILURE:
        return f"{_SIGN[State.FAILED]} {cell.reason.error}"
    otherwise = _KEEPS if cell.place is Destination.KEEPS else _NOWHERE
    return otherwise if cell.reason is None else _STAYS.get(cell.reason.why, otherwise)


def _into(table: RestoreTable, line: FoldedRows) -> str:
    """Return where the values of a line go, or come from."""
    others = [row.plain.other for row in line.rows]
    is_saved = line.rows[0].saved is not None
    graph, sign = table.live if is_saved else table.saved, _SIGN[State.MOVED]
    known = [other for other in others if other is not None]
    if graph is None or not known:
        return f"{sign} elsewhere"
    parts = {_part(graph, other) for other in known}
    own = {_part(table.live, row.live) for row in line.rows if row.live is not None}
    if is_saved and len(known) > 1 and parts == own:
        return f"{sign} into each other"
    if len(parts) > 1:
        return f"{sign} each into another" if is_saved else f"{sign} from others"
    place = graph.names.place_or_state(known[0] if len(known) == 1 else parts.pop())
    return f"{sign} {'into' if is_saved else 'from'} {end_of(place, _WIDEST)}"


def _part(graph: Graph, node: int) -> int:
    return max(graph.tree.parents[node], 0)


def _fixed(line: FoldedRows) -> str:
    cell = line.rows[0].fixed
    if cell is None:
        return ""
    match cell.place:
        case Destination.HERE:
            return _HERE
        case Destination.KEEPS:
            return _KEEPS
        case Destination.WAITS:
            return _WAITS
    return _LEFT if cell.reason is None else _LEFT_OUT.get(cell.reason.why, _LEFT)


def following(table: RestoreTable, wording: Wording, *, raises: bool) -> Iterator[str]:
    """Yield what to do next; `raises` says that the checked call does."""
    guesses = sum(row.saved is not None and _is_guess(row.fixed) for row in table.rows)
    if table.fixed > table.restored or (raises and table.fixed):
        kept = table.in_program - table.fixed
        number = f"{table.fixed} of {count(table.in_program, 'value')}"
        number = number if kept else f"all {count(table.in_program, 'value')}"
        more = f"; {kept} {'keeps its' if kept == 1 else 'keep their'} own" if kept else ""
        yield f"{_at_first(wording.fix)} restores {number}{more}."
    if guesses:
        yield f"{_at_first(wording.guesses)} also takes {count(guesses, 'guess', 'guesses')}."
    if any(not row.is_quiet for row in table.rows):
        yield f"{wording.details} tells why, with TensorFlow's names."


def _is_guess(cell: ValueCell | None) -> bool:
    return cell is not None and cell.reason is not None and cell.reason.why is Why.GUESS


def _at_first(words: str) -> str:
    """Return words at the beginning of a sentence; code keeps its letters."""
    return f"The {words.removeprefix('the ')}" if words.startswith("the ") else words
