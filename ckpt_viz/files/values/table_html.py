"""A table of values as HTML for a notebook; all names are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ckpt_viz.files.values.row import MAX_ROWS, Histogram, ValueRow
from ckpt_viz.files.values.table_text import HEADER, WORDS, cells_of, cut_words, headline
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.render.palette import style_of_colours

_WIDTH, _HEIGHT = 96, 15  # px, of a histogram
_COLOURS = ("alarm", "variable")

_STYLE = (
    style_of_colours("ckpt-viz-values", _COLOURS)
    + """
.ckpt-viz-values { --ckpt-viz-line: color-mix(in srgb, currentColor 20%, transparent);
  font: 13px/1.5 system-ui, sans-serif; color: inherit; overflow-x: auto; }
.ckpt-viz-values p { margin: 2px 0; }
.ckpt-viz-values table { border-collapse: collapse; font: inherit; color: inherit; margin: 4px 0; }
/* !important: JupyterLab's own rules for tables are more specific */
.ckpt-viz-values th, .ckpt-viz-values td { text-align: right; padding: 1px 8px;
  white-space: nowrap; font-weight: inherit; font-variant-numeric: tabular-nums; }
.ckpt-viz-values .word { text-align: left !important; }
.ckpt-viz-values thead th { font-size: 11px; opacity: 0.8; }
.ckpt-viz-values tr { background: none !important; }
.ckpt-viz-values tbody tr:hover {
  background: color-mix(in srgb, currentColor 8%, transparent) !important; }
.ckpt-viz-values .bad { color: var(--ckpt-viz-alarm); font-weight: 600; }
.ckpt-viz-values svg { vertical-align: middle; border-bottom: 1px solid var(--ckpt-viz-line); }
.ckpt-viz-values path { fill: var(--ckpt-viz-variable); }
"""
)


def table_html(title: str, rows: Sequence[ValueRow], lost: Sequence[LostFiles]) -> str:
    """Return the headline and the first 40 rows, each with its histogram."""
    *problems, amount = headline(title, rows, lost)
    lines = "".join(f'<p class="bad">{escape(words)}</p>' for words in problems)
    lines += f"<p>{escape(amount)}</p>"
    *names, last = (_cell("th", column, words) for column, words in enumerate(HEADER))
    head = "".join((*names, '<th class="word">histogram</th>', last))
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:MAX_ROWS])
    left = len(rows) - MAX_ROWS
    rest = f"<p>{escape(cut_words(left))}</p>" if left > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<style>{_STYLE}</style><div class="ckpt-viz-values">{lines}{table}{rest}</div>'


def _cells(row: ValueRow) -> str:
    *cells, remark = cells_of(row)
    numbers = "".join(_cell("td", column, words) for column, words in enumerate(cells))
    drawn = "" if row.histogram is None else _drawn(row.histogram)
    loud = escape(remark)
    if row.has_problem:  # b, because some hosts show no styles
        loud = f'<b class="bad">{loud}</b>'
    return f'{numbers}<td>{drawn}</td><td class="word">{loud}</td>'


def _cell(tag: str, column: int, words: str) -> str:
    kind = ' class="word"' if column in WORDS else ""
    return f"<{tag}{kind}>{escape(words)}</{tag}>"


def _drawn(histogram: Histogram) -> str:
    """Return the bins from the first to the last with elements as bars of one height in all."""
    used = [place for place, number in enumerate(histogram.counts) if number]
    if len(used) < 2:
        return ""
    first, last = used[0], used[-1]
    counts, most = histogram.counts[first : last + 1], max(histogram.counts)
    wide = _WIDTH / len(counts)
    bars = "".join(
        f"M{place * wide:.1f} {_HEIGHT}v{-_HEIGHT * number / most:.1f}h{wide:.1f}V{_HEIGHT}z"
        for place, number in enumerate(counts)
        if number
    )
    limits = f"from {histogram.edges[first]:.4g} to {histogram.edges[last + 1]:.4g}"
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="histogram {limits}">'
        f'<title>{limits}</title><path d="{bars}"/></svg>'
    )
