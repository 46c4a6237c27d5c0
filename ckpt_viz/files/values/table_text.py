"""A table of values in words: for a terminal, and what its headline says."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.files.values.row import Number, ValueRow
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.render.signs import SEVERITIES
from ckpt_viz.graphs.render.text import briefly, shortened
from ckpt_viz.ground.text import count, end_of, listed, percent, printable, shape_words

HEADER = ("name", "dtype", "shape", "min", "max", "mean", "std", "l2", "zeros", "")
WORDS = frozenset({0, 1, 2, 9})  # columns of words, which begin at the left
_MOST_NAME = 60  # characters
_MOST_CELL = 24
_MOST_ERROR = 120
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def table_text(
    title: str, rows: Sequence[ValueRow], lost: Sequence[LostFiles], max_rows: int | None
) -> str:
    """Return the headline and an aligned table, cut after so many rows.

    `lost` are the files that lack values.
    """
    shown = rows if max_rows is None else rows[:max_rows]
    cells = [HEADER, *(cells_of(row) for row in shown)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADER))]
    lines = [*headline(title, rows, lost), *(_line(line, widths) for line in cells)]
    if len(shown) < len(rows):
        lines.append(cut_words(len(rows) - len(shown)))
    return "\n".join(lines)


def headline(title: str, rows: Sequence[ValueRow], lost: Sequence[LostFiles]) -> tuple[str, ...]:
    """Return sentences: first the problems, those of whole files once, then the amount."""
    elements = sum(row.count or 0 for row in rows)
    nbytes = sum(row.nbytes or 0 for row in rows)
    amount = f"{count(len(rows), 'tensor')}, {elements:,} elements, {_bytes_words(nbytes)}"
    sentences = [f"{SEVERITIES[Severity.ERROR].glyph} {printable(str(files))}" for files in lost]
    lost_keys = {key for files in lost for key in files.keys}
    unreadable = [row for row in rows if row.error is not None and row.key not in lost_keys]
    for word, glyph, affected in (
        ("NaN", Severity.WARNING, [row for row in rows if row.nan]),
        ("Inf", Severity.WARNING, [row for row in rows if row.inf]),
        ("unreadable", Severity.ERROR, unreadable),
    ):
        if affected:
            names = listed([shortened(end_of(row.place, _MOST_NAME)) for row in affected])
            have = "has" if len(affected) == 1 else "have"
            has = "cannot be read" if word == "unreadable" else f"{have} {word}"
            sentences.append(
                f"{SEVERITIES[glyph].glyph} {count(len(affected), 'tensor')} {has}: {names}"
            )
    if not sentences:
        amount += "; no NaN, no Inf, all readable"
    return (*sentences, f"{printable(title)}: {amount}")


def cells_of(row: ValueRow) -> tuple[str, ...]:
    """Return what the columns of a row show; the last one has its problems."""
    numbers = [_number(value) for value in (row.min, row.max, row.mean, row.std, row.l2)]
    zeros = percent(row.zeros / row.count) if row.zeros and row.count else ""
    return (
        printable(end_of(row.place, _MOST_NAME)),
        shortened(row.dtype or ""),
        _cut(shape_words(row.shape)),
        *numbers,
        zeros,
        printable(said_of(row)),
    )


def said_of(row: ValueRow) -> str:
    """Return a row's problems with their signs, or the lengths of its strings."""
    if row.error is not None:
        reason = briefly(row.error)
        reason = reason if len(reason) <= _MOST_ERROR else f"{reason[:_MOST_ERROR]}…"
        return f"{SEVERITIES[Severity.ERROR].glyph} cannot be read: {reason}"
    if row.note is not None:
        return f"no statistics: {row.note}"
    remarks = []
    if row.nan:
        remarks.append(f"{SEVERITIES[Severity.WARNING].glyph} NaN: {row.nan:,} of {row.count:,}")
    if row.inf:
        remarks.append(f"{SEVERITIES[Severity.WARNING].glyph} Inf: {row.inf:,} of {row.count:,}")
    if row.lengths is not None and row.lengths.longest is not None:
        remarks.append(
            f"lengths {row.lengths.shortest:,} to {row.lengths.longest:,}, "
            f"{_bytes_words(row.lengths.total)} in all"
        )
    return "; ".join(remarks)


def cut_words(left: int) -> str:
    """Return the line below a table that was cut."""
    return f"… {count(left, 'more row')}: print(table.to_text(None)) shows all"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if column in WORDS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def _cut(words: str) -> str:
    return words if len(words) <= _MOST_CELL else f"{words[: _MOST_CELL - 1]}…"


def _number(value: Number | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    return f"{value:.4g}"


def _bytes_words(number: float) -> str:
    for unit in _UNITS[:-1]:
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.0f} {_UNITS[-1]}"
