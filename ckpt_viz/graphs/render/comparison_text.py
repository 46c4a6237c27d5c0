"""The table of a comparison for a terminal: the sentence, and a line for each part that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ckpt_viz.graphs.overlay.comparison_table import CellSign, ComparisonTable
from ckpt_viz.graphs.overlay.overlay import Overlay, Severity
from ckpt_viz.graphs.render.comparison_rows import ComparisonRow, heads_of, rows_of
from ckpt_viz.graphs.render.signs import CELLS, SEVERITIES
from ckpt_viz.graphs.render.text import shortened
from ckpt_viz.graphs.render.views import MAX_LINES
from ckpt_viz.ground.text import count, end_of

_RED, _GREEN, _YELLOW, _CYAN, _FAINT = "31", "32", "33", "36", "2"  # ECMA-48, SGR
_COLORS: Mapping[str, str] = {
    CELLS[sign].glyph: color
    for sign, color in {
        CellSign.HERE: _FAINT,
        CellSign.NOWHERE: _RED,
        CellSign.FAILS: _RED,
        CellSign.ELSEWHERE: _YELLOW,
        CellSign.MISFIT: _YELLOW,
        CellSign.CHANGED: _YELLOW,
        CellSign.KEEPS: _GREEN,
        CellSign.WAITS: _CYAN,
    }.items()
} | {SEVERITIES[Severity.WARNING].glyph: _YELLOW, SEVERITIES[Severity.INFO].glyph: _FAINT}
_WIDEST = 38  # characters of a name in a cell


def comparison_text(
    overlay: Overlay, max_lines: int | None = MAX_LINES, *, color: bool = False
) -> str:
    """Return the comparison as text of at most so many lines; None: of all.

    With `color`, it is for a terminal of ECMA-48.
    """
    table = overlay.table
    said = overlay.graph.title, table.sentence, table.verdict
    head = _head(said, is_green=color and overlay.passes)
    notes = _notes((*overlay.notes, *table.notes))
    most = len(table.lines) if max_lines is None else max_lines - len(head) - len(notes) - 3
    grid = [*_grid(table, max(most, 3), painted if color else unpainted)]
    return "\n".join(
        [*head, *(["", *grid] if grid else []), *([""] if grid and notes else []), *notes]
    )


def text_without_lines(title: str, sentence: str, notes: Iterable[str], *, color: bool) -> str:
    """Return the same of a comparison that passes, and of which no line would be shown."""
    return "\n".join([*_head((title, sentence), is_green=color), *_notes(notes)])


def _head(said: Iterable[str], *, is_green: bool) -> list[str]:
    head = [*map(shortened, filter(None, said))]
    if is_green:
        head[1] = f"\x1b[{_GREEN}m{head[1]}\x1b[0m"
    return head


def _notes(notes: Iterable[str]) -> list[str]:
    return [*map(shortened, dict.fromkeys(notes))]


def _grid(table: ComparisonTable, most: int, paint: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of the table; none if every value is in its own place."""
    if all(line.is_quiet for line in table.lines):
        return
    rows = [[*map(_cut, heads_of(table)), ""]]
    for row in rows_of(table, most):
        signs = [f"{CELLS[cell.sign].glyph} {shortened(cell.words)}" for cell in row.cells]
        middle = signs or [""] * (len(rows[0]) - 3)
        rows.append([_side(row, 0), *middle, _side(row, 1), count(row.values, "value")])
    yield from grid_of(rows, paint)


def _side(row: ComparisonRow, side: int) -> str:
    """Return the name of a part on one side; of a single value also its shape, if both differ."""
    name, facts = (row.saved, row.saved_facts) if side == 0 else (row.live, row.live_facts)
    if not name:
        return facts
    has_shape = row.values == 1 and row.saved_facts != row.live_facts
    return f"{_cut(name)} {facts}" if has_shape and facts else _cut(name)


def _cut(name: str) -> str:
    return end_of(name, _WIDEST)


def grid_of(rows: Sequence[Sequence[str]], paint: Callable[[str], str]) -> Iterator[str]:
    """Yield rows of cells as lines of straight columns; `paint` colours what is between names."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *row, last in rows:
        first, *middle, name = (c.ljust(width) for c, width in zip(row, widths, strict=False))
        yield f"  {'   '.join([first, *map(paint, middle), name, last])}".rstrip()


def painted(cell: str) -> str:
    """Return a cell in the colour of its sign, if it begins with one."""
    color = _COLORS.get(cell[:1])
    return cell if color is None else f"\x1b[{color}m{cell}\x1b[0m"


def unpainted(cell: str) -> str:
    """Return a cell as it is."""
    return cell
