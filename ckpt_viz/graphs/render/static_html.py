"""A picture as HTML that every notebook host accepts: an image, and its rows as text.

The picture is an image with the SVG in its address. GitHub and nbviewer strip parts of an SVG in
the page, first its style, but they keep one in an image; nor does its style affect the page around
it. There is no script, and names appear only as escaped text.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render import comparison_rows
from ckpt_viz.graphs.render.comparison_svg import comparison_svg
from ckpt_viz.graphs.render.outline import MAX_ROWS
from ckpt_viz.graphs.render.row_tree import Row
from ckpt_viz.graphs.render.row_words import RowText, left_out, line_of, rows_of
from ckpt_viz.graphs.render.svg import sentences, to_svg
from ckpt_viz.graphs.render.views import MAX_LINES

MAX_SIZE = 100_000  # characters
_LEAST_ROWS = 5
_MAX_LEVELS = 40  # browsers and sanitizers fail on hundreds of nested elements
_MAX_SENTENCES = 6
_LIST = '<ul style="list-style:none">'
# An image shows no tooltips, and screen readers do not read them.
_TIPS = re.compile(r"<title>[^<]*</title>")


def to_static_html(graph: Graph) -> str:
    """Return the outline in at most 300 rows and some 100 kB."""
    rows = MAX_ROWS
    while True:
        page = _page_of_graph(graph, rows)
        if len(page) <= MAX_SIZE or rows <= _LEAST_ROWS:
            return page
        # Long names make some rows longer than others, so this is a cautious estimate.
        rows = max(_LEAST_ROWS, min(rows - 1, rows * MAX_SIZE * 9 // (len(page) * 10)))


def _page_of_graph(graph: Graph, max_rows: int) -> str:
    rows = rows_of(graph, max_rows)
    said = [words for _, words in sentences(graph)]
    rest = left_out(graph, rows)
    last = [f"<div>{html.escape(rest)}</div>\n"] if rest else []
    words = [*_nested(rows, [line_of(graph, row) for row in rows]), *last]
    return _page(to_svg(graph, max_rows=max_rows), said, words)


def comparison_html(overlay: Overlay) -> str:
    """Return the table of a comparison, in at most 40 rows."""
    said = [words for _, words in comparison_rows.sentences_of(overlay) if words]
    return _page(comparison_svg(overlay), said, _rows(overlay))


def _page(picture: str, said: Sequence[str], words: Iterable[str]) -> str:
    address = base64.b64encode(_TIPS.sub("", picture).encode()).decode("ascii")
    return "".join(
        (
            "<div>\n",
            f'<img alt="{html.escape("; ".join(said[:2]))}" style="max-width:100%" ',
            f'src="data:image/svg+xml;base64,{address}">\n',
            "<details><summary>The picture in words</summary>\n",
            *(f"<div>{html.escape(sentence)}</div>\n" for sentence in said[:_MAX_SENTENCES]),
            *words,
            "</details>\n</div>\n",
        )
    )


def _rows(overlay: Overlay) -> Iterator[str]:
    """Yield the rows of a comparison as a table of HTML."""
    table = overlay.table
    heads = (*comparison_rows.heads_of(table), "values")
    yield f"<table>\n<tr>{''.join(f'<th>{html.escape(head)}</th>' for head in heads)}</tr>\n"
    for row in comparison_rows.rows_of(table, MAX_LINES):
        cells = *row.columns, f"{row.values:,}"
        yield f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>\n"
    yield "</table>\n"


def _nested(rows: list[Row], lines: list[RowText]) -> Iterator[str]:
    """Yield the rows as nested lists."""
    parents = {row.parent for row in rows}
    levels: list[int] = []  # of the open rows
    yield _LIST
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        while levels and levels[-1] >= row.level:
            levels.pop()
            yield "</ul></details></li>\n"
        if place in parents and len(levels) < _MAX_LEVELS:
            levels.append(row.level)
            is_open = " open" if row.level == 1 else ""
            yield f"<li><details{is_open}><summary>{_words(line)}</summary>{_LIST}\n"
        else:
            yield f"<li>{_words(line)}</li>\n"
    yield "</ul></details></li>\n" * len(levels)
    yield "</ul>\n"


def _words(line: RowText) -> str:
    parts = (
        f"<code>{html.escape(line.label)}</code>",
        html.escape(line.kind),
        html.escape(line.value),
        f"<b>{html.escape(line.note)}</b>" if line.note else "",
    )
    return " ".join(filter(None, parts))
