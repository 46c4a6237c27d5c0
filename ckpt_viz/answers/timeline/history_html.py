"""A history as a static picture for a notebook: a strip of checkpoints, and heat for each save.

It has no script, and all names are escaped. Every colour has a sign or a word beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ckpt_viz.answers.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.answers.timeline.findings import HistoryFinding, HistoryKind, is_alarm
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.words import (
    Levels,
    change_words,
    columns,
    mark_words,
    notes,
    ordered,
    others,
    rest_words,
    scale_words,
    sentences,
)
from ckpt_viz.graphs.overlay.overlay import Severity, State
from ckpt_viz.graphs.render.palette import style_of_colours
from ckpt_viz.graphs.render.signs import SEVERITIES, STATES
from ckpt_viz.ground.text import count, percent, printable, shape_words

MAX_ROWS = 40
_HEAT = (0, 14, 26, 38, 50, 62, 74, 87, 100)
"""By level of change, the percentage of the colour."""
_MOST_MEMBERS = 12
_MOST_BELOW_NUMBERS = 40
"""Of the colour, in percent: the numbers on it keep their contrast."""
_COLOURS = ("mark", "alarm", "variable", "edge", "back")

_STYLE = (
    style_of_colours("ckpt-viz-history", _COLOURS)
    + """
.ckpt-viz-history { --ckpt-viz-line: color-mix(in srgb, currentColor 20%, transparent);
  font: 13px/1.5 system-ui, sans-serif; color: inherit; max-width: 76rem; }
.ckpt-viz-history ol.strip { display: flex; list-style: none; margin: 4px 0; padding: 9px 0 0;
  overflow-x: auto; }
.ckpt-viz-history ol.strip li { flex: 1 1 0; min-width: 3.2rem; max-width: 8rem; text-align: center;
  font-size: 11px; line-height: 1.3; margin: 0; padding: 0 2px;
  border-top: 2px solid var(--ckpt-viz-edge); }
.ckpt-viz-history ol.members li { border-top: 2px dotted var(--ckpt-viz-line); }
.ckpt-viz-history ol.strip li::before { content: "○"; display: block; margin-top: -0.95em;
  font-size: 14px; line-height: 1.3; }
.ckpt-viz-history ol.strip li.mark::before { content: "◆"; color: var(--ckpt-viz-mark); }
.ckpt-viz-history ol.strip li.alarm::before { content: "▲"; color: var(--ckpt-viz-alarm); }
.ckpt-viz-history ol.strip small { display: block; opacity: 0.8; }
.ckpt-viz-history ol.strip small.alarm-text { opacity: 1; }
.ckpt-viz-history p { margin: 4px 0; }
.ckpt-viz-history .alarm-text { color: var(--ckpt-viz-alarm); font-weight: 600; }
.ckpt-viz-history table { border-collapse: collapse; font: inherit; color: inherit; }
.ckpt-viz-history details { margin: 8px 0; }
.ckpt-viz-history summary { cursor: pointer; font-size: 11px; }
.ckpt-viz-history .wide { overflow-x: auto; }
/* !important: JupyterLab's own rules for tables are more specific */
.ckpt-viz-history tr { background: none !important; }
.ckpt-viz-history tbody tr:hover {
  background: color-mix(in srgb, currentColor 8%, transparent) !important; }
.ckpt-viz-history th, .ckpt-viz-history td { text-align: left !important; padding: 1px 8px;
  white-space: nowrap; font-weight: inherit; font-size: inherit; }
.ckpt-viz-history thead th { font-size: 11px; opacity: 0.8; }
.ckpt-viz-history th.name div, .ckpt-viz-history td.shape div { width: 15rem; overflow: hidden;
  text-overflow: ellipsis; }
.ckpt-viz-history td.shape div { width: 5rem; }
.ckpt-viz-history .number { text-align: right !important; font-variant-numeric: tabular-nums; }
.ckpt-viz-history td.before { padding-right: 0; }
.ckpt-viz-history td.after { padding-left: 4px; font-variant-numeric: tabular-nums; }
.ckpt-viz-history td.total { min-width: 130px; }
.ckpt-viz-history i.no { font-weight: inherit; overflow: visible; }
.ckpt-viz-history i.key { width: auto; min-width: 20px; padding: 0 2px; margin: 0 3px; }
.ckpt-viz-history table.apart td { padding: 0 1px 1px 0; }
.ckpt-viz-history table.apart i { width: 3.2rem; height: 18px; margin: 0; line-height: 18px;
  font-weight: inherit; font-size: 11px; }
.ckpt-viz-history i { display: inline-block; width: 20px; height: 15px; margin-right: 1px;
  box-sizing: border-box; vertical-align: middle; font: 600 9px/15px system-ui, sans-serif;
  text-align: center; overflow: hidden; }
.ckpt-viz-history i.heat { background: color-mix(in srgb, var(--ckpt-viz-mark) var(--heat),
  transparent); }
.ckpt-viz-history i.none { border: 1px solid var(--ckpt-viz-line); }
.ckpt-viz-history i.new { border: 1px solid var(--ckpt-viz-mark); line-height: 12px; }
.ckpt-viz-history i.bad { background: var(--ckpt-viz-alarm);
  -webkit-text-fill-color: var(--ckpt-viz-back); font-size: 8px; letter-spacing: -0.3px; }
.ckpt-viz-history b.bar { display: inline-block; height: 11px; background: var(--ckpt-viz-mark);
  vertical-align: middle; margin-right: 6px; }
.ckpt-viz-history svg { vertical-align: middle; }
.ckpt-viz-history polyline { fill: none; stroke: var(--ckpt-viz-variable); stroke-width: 1.5; }
"""
)
_OF_STATES = {
    CellState.FIRST: ("new", "○", "first"),
    CellState.EQUAL: ("none", "", "equal"),
    CellState.RESHAPED: ("new", STATES[State.SHAPE].glyph, "other shape"),
    CellState.ABSENT: ("", "", "not in this checkpoint"),
    CellState.DAMAGED: ("bad", SEVERITIES[Severity.ERROR].glyph, "cannot be read"),
    CellState.UNREAD: ("none", "?", "not read"),
}


def history_html(history: Record) -> str:
    """Return the strip, the sentences, and a row for each of the 40 largest changes.

    The state of optimizers and counters are in a part that opens by a click.
    """
    times = columns(len(history.sources))
    rows, heat = ordered(history)[:MAX_ROWS], Levels(history.variables)
    states = [row for row in rows if row.is_state]
    variables = [row for row in rows if not row.is_state]
    table = _table(history, variables, heat, times)
    if states:
        summary = f"{count(len(states), 'tensor')} of optimizers, and counters"
        below = _table(history, states, heat, times)
        opened = "" if variables else " open"
        table += f"<details{opened}><summary>{summary}</summary>{below}</details>"
    rest = ""
    if len(rows) < len(history.rows):
        rest = f"<p>… {rest_words(history, len(rows))}: print(history.to_text(None))</p>"
    return (
        f'<style>{_STYLE}</style><div class="ckpt-viz-history">{_strip(history, times)}'
        f"{_sentences(history)}{table}{rest}{_legend(heat, _is_compared(history))}"
        f"{_distances(history)}</div>"
    )


def history_page(history: Record) -> str:
    """Return the picture as a file of HTML that needs no other."""
    first, last = history.sources[0], history.sources[-1]
    titles = [escape(printable(checkpoint.title)) for checkpoint in (first, last)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{titles[0]} … {titles[1]}</title></head>"
        f'<body style="margin: 20px">{history_html(history)}</body></html>\n'
    )


def _is_compared(history: Record) -> bool:
    return history.distances is not None


def _table(history: Record, rows: Sequence[HistoryRow], heat: Levels, times: Sequence[int]) -> str:
    if not rows:
        return ""
    is_compared = _is_compared(history)
    titles = [checkpoint.title for checkpoint in history.sources]
    ranking = history.ranking
    known = [row.total or 0.0 for row in rows if not ranking.began_near_zero(row)]
    most = max((change for change in known if change and math.isfinite(change)), default=1.0)
    measure = "distance to the mean" if is_compared else "change at each save"
    total = "how far apart" if is_compared else "first → last"
    norms = "smallest … largest norm" if is_compared else "norm, first → last"
    curve = "<th></th>" if is_compared else "<th>norm</th>"
    head = (
        f"<thead><tr><th>variable</th><th>shape</th><th>{measure}, of its norm<br>"
        f'{_numbers(history, times)}</th>{curve}<th aria-sort="descending">{total}</th>'
        f"<th colspan=2>{norms}</th></tr></thead>"
    )
    body = "".join(
        _row(row, heat, times, titles, (ranking.words(row), most), is_compared=is_compared)
        for row in rows
    )
    return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>'


def _numbers(history: Record, times: Sequence[int]) -> str:
    """Return the last number of each checkpoint's name above its column, if it fits there."""
    numbers = [history.sources[time].number for time in times]
    if any(number is not None and number > 999 for number in numbers):
        return ""
    return "".join(f'<i class="no">{"" if number is None else number}</i>' for number in numbers)


def _strip(history: Record, times: Sequence[int]) -> str:
    marks = {mark.at: mark for mark in history.marks}
    alarms = {finding.first: finding for finding in reversed(history.findings) if is_alarm(finding)}
    items = []
    for time in times:
        checkpoint = history.sources[time]
        step = "" if checkpoint.step is None else f"<small>step {checkpoint.step:,}</small>"
        kind, tooltip = "", checkpoint.error or ""
        if time in marks:
            kind, tooltip = "mark", mark_words(history, marks[time])
            step += "<small>◆ structure</small>"
        if time in alarms or checkpoint.error is not None:
            kind = "alarm"
            tooltip = alarms[time].why if time in alarms else tooltip
            word = _word(alarms[time]) if time in alarms else "damaged"
            step += f'<small class="alarm-text">▲ {escape(word)}</small>'
        items.append(
            f'<li class="{kind}" title="{escape(printable(tooltip), quote=True)}">'
            f"{escape(printable(checkpoint.title))}{step}</li>"
        )
    members = " members" if _is_compared(history) else ""
    return f'<ol class="strip{members}">{"".join(items)}</ol>'


def _word(finding: HistoryFinding) -> str:
    """Return what a finding is about, in a word or two."""
    words = {HistoryKind.NAN: "NaN", HistoryKind.INF: "infinity"}
    return words.get(finding.kind, finding.kind.value.replace("_", " "))


def _sentences(history: Record) -> str:
    alarms = {finding.why for finding in history.findings if is_alarm(finding)}
    paragraphs = "".join(
        f'<p class="alarm-text">▲ {escape(printable(sentence))}</p>'
        if sentence in alarms
        else f"<p>{escape(printable(sentence))}</p>"
        for sentence in sentences(history)
    )
    more = "".join(f"<p>{escape(printable(finding.why))}</p>" for finding in others(history))
    return f"{paragraphs}{more}<p><small>{escape(' '.join(notes(history)))}</small></p>"


def _row(
    row: HistoryRow,
    heat: Levels,
    times: Sequence[int],
    titles: Sequence[str],
    total: tuple[str, float],
    *,
    is_compared: bool,
) -> str:
    cells = "".join(_cell(row.cells[time], heat, titles[time]) for time in times)
    norms = [None if cell.values is None else cell.values.l2 for cell in row.cells]
    known = [norm for norm in norms if norm is not None]
    if is_compared:
        known.sort()
    bar = ""
    if row.total and math.isfinite(row.total):
        width = min(60.0, max(1.0, 60 * row.total / total[1]))
        bar = f'<b class="bar" style="width: {width:.0f}px"></b>'
    ends = (f"{known[0]:.3g}", f"{known[-1]:.3g}") if known else ("", "")
    arrow = ("…" if is_compared else "→") if known else ""
    key = escape(printable(row.key), quote=True)
    curve = "" if is_compared else _curve(norms)
    return (
        f'<tr title="{key}"><th class="name"><div>{escape(printable(row.place))}</div></th>'
        f'<td class="shape"><div>{escape(shape_words(row.shape))}</div></td><td>{cells}</td>'
        f'<td>{curve}</td><td class="total">{bar}{total[0]}</td>'
        f'<td class="number before">{ends[0]} {arrow}</td><td class="after">{ends[1]}</td></tr>'
    )


def _cell(cell: Cell, heat: Levels, title: str) -> str:
    kind, word, tooltip = _OF_STATES.get(cell.state, ("", "", ""))
    style = ""
    values = cell.values
    if values is not None and (values.nan or values.inf):
        kind, word = "bad", "NaN" if values.nan else "Inf"
        tooltip = f"{values.nan or 0:,} NaN, {values.inf or 0:,} infinite of {values.count:,}"
    elif cell.state is CellState.CHANGED:
        tooltip = change_words(cell)
        kind, style = "heat", f' style="--heat: {_HEAT[heat.of(cell)]}%"'
    tooltip = f"{title}: {cell.error or tooltip}"
    return f'<i class="{kind}" title="{escape(printable(tooltip), quote=True)}"{style}>{word}</i>'


def _curve(norms: Sequence[float | None]) -> str:
    """Return the norm over time as a line of 70 by 15 px; gaps where there is none."""
    known = [norm for norm in norms if norm is not None and math.isfinite(norm)]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    lines: list[list[str]] = [[]]
    for time, norm in enumerate(norms):
        if norm is None or not math.isfinite(norm):
            lines.append([])
            continue
        x = 1 + 68 * time / (len(norms) - 1)
        y = 7.5 if high == low else 13.5 - 12 * (norm - low) / (high - low)
        lines[-1].append(f"{x:.1f},{y:.1f}")
    label = f"norm {known[0]:.4g} to {known[-1]:.4g}"
    curves = "".join(
        f'<polyline points="{" ".join(points)}"/>' for points in lines if len(points) > 1
    )
    return f'<svg width="70" height="15" role="img" aria-label="{label}">{curves}</svg>'


def _legend(heat: Levels, is_compared: bool) -> str:
    measure = "distance to the mean" if is_compared else "change at a save"
    swatches = "".join(f'<i class="heat" style="--heat: {share}%"></i>' for share in _HEAT[1:])
    first = "" if is_compared else '<i class="new key">○</i>first &nbsp; '
    return (
        f"<p><small>{measure} {swatches} {scale_words(heat)} of the norm, log "
        f'scale &nbsp; <i class="none key"></i>equal &nbsp; {first}'
        '<i class="bad key">NaN</i>NaN or infinity</small></p>'
        "<p><small>With a running kernel, a notebook shows where each variable changed."
        "</small></p>"
    )


def _distances(history: Record) -> str:
    """Return the distances between members as a table of heat, if there are not too many."""
    if history.distances is None or len(history.sources) > _MOST_MEMBERS:
        return ""
    every = (distance for line in history.distances for distance in line)
    known = [distance for distance in every if distance and math.isfinite(distance)]
    most = max(known, default=1.0)
    titles = [escape(printable(checkpoint.title)) for checkpoint in history.sources]
    lines = []
    for title, line in zip(titles, history.distances, strict=True):
        cells = "".join(f"<td>{_distance(distance, most)}</td>" for distance in line)
        lines.append(f"<tr><th>{title}</th>{cells}</tr>")
    return (
        "<p><small>distance between two members, all variables together, relative to the mean's"
        f' norm</small></p><div class="wide"><table class="apart">{"".join(lines)}</table></div>'
    )


def _distance(distance: float, most: float) -> str:
    if not distance:
        return '<i class="none">0</i>'
    share = distance / most if math.isfinite(distance) else 1.0
    heat = f"{_MOST_BELOW_NUMBERS * share:.0f}%"
    return f'<i class="heat" style="--heat: {heat}">{percent(distance)}</i>'
