"""A table of values as HTML for a notebook; all names are escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ckpt_viz.values.row import MAX_ROWS, ValueRow
from ckpt_viz.values.table_text import HEADER, WORDS, cells_of, cut_words, headline

_SIDES = ("right", "left")


def table_html(title: str, rows: Sequence[ValueRow]) -> str:
    """Return the headline and the first 40 rows."""
    lines = "".join(f"<div>{html.escape(words)}</div>" for words in headline(title, rows))
    head = "".join(_cell("th", column, words) for column, words in enumerate(HEADER))
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:MAX_ROWS])
    left = len(rows) - MAX_ROWS
    rest = f"<div>{html.escape(cut_words(left))}</div>" if left > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{lines}{table}{rest}</div>"


def _cells(row: ValueRow) -> str:
    return "".join(
        _cell("td", column, words, is_loud=column == len(HEADER) - 1 and row.has_problem)
        for column, words in enumerate(cells_of(row))
    )


def _cell(tag: str, column: int, words: str, *, is_loud: bool = False) -> str:
    side = _SIDES[column in WORDS]
    said = html.escape(words)
    said = f"<b>{said}</b>" if is_loud else said
    return f'<{tag} style="text-align: {side}; white-space: nowrap">{said}</{tag}>'
