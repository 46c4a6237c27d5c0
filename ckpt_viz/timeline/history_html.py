"""A history as a static picture for a notebook: a strip of checkpoints, and heat for each save.

It has no script, and all names are escaped. Every colour has a sign or a word beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from ckpt_viz.object_graph.overlay import Severity, State
from ckpt_viz.render.palette import DARK, LIGHT
from ckpt_viz.render.signs import SEVERITIES, STATES
from ckpt_viz.text import printable, shape_words
from ckpt_viz.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.timeline.findings import is_alarm
from ckpt_viz.timeline.record import Record
from ckpt_viz.timeline.words import (
    Levels,
    columns,
    mark_words,
    notes,
    ordered,
    others,
    percent,
    rest_words,
    sentences,
)

MAX_ROWS = 40
_HEAT = (0, 10, 20, 32, 44, 56, 70, 84, 100)
"""By level of change, the percentage of the colour."""
_COLOURS = ("mark", "on-mark", "alarm", "variable", "line", "edge", "back")


def _colours(table: Mapping[str, str]) -> str:
    return " ".join(f"--ckpt-viz-{name}: {table[name]};" for name in _COLOURS)


_STYLE = (
    f"""
.ckpt-viz-history {{ {_colours(LIGHT)} }}
[data-jp-theme-light="false"] .ckpt-viz-history {{ {_colours(DARK)} }}
@media (prefers-color-scheme: dark) {{
  :root:not(:has([data-jp-theme-light])) .ckpt-viz-history {{ {_colours(DARK)} }} }}
"""
    + """
.ckpt-viz-history { font: 13px/1.5 system-ui, sans-serif; color: inherit; max-width: 76rem; }
.ckpt-viz-history ol.strip { display: flex; list-style: none; margin: 4px 0; padding: 9px 0 0;
  overflow-x: auto; }
.ckpt-viz-history ol.strip li { flex: 1 0 3.2rem; text-align: center; font-size: 11px;
  white-space: nowrap; padding: 0 4px; border-top: 2px solid var(--ckpt-viz-edge); }
.ckpt-viz-history ol.strip li::before { content: "○"; display: block; margin-top: -0.95em;
  font-size: 14px; line-height: 1.3; }
.ckpt-viz-history ol.strip li.mark::before { content: "◆"; color: var(--ckpt-viz-mark); }
.ckpt-viz-history ol.strip li.alarm::before { content: "▲"; color: var(--ckpt-viz-alarm); }
.ckpt-viz-history ol.strip small { display: block; opacity: 0.8; }
.ckpt-viz-history p { margin: 4px 0; }
.ckpt-viz-history .alarm-text { color: var(--ckpt-viz-alarm); font-weight: 600; }
.ckpt-viz-history table { border-collapse: collapse; font: inherit; color: inherit; }
.ckpt-viz-history tr.rest td { padding-top: 8px; font-size: 11px; opacity: 0.8; }
.ckpt-viz-history th, .ckpt-viz-history td { text-align: left; padding: 1px 8px;
  white-space: nowrap; font-weight: inherit; }
.ckpt-viz-history thead th { font-size: 11px; opacity: 0.8; }
.ckpt-viz-history td.number { text-align: right; font-variant-numeric: tabular-nums; }
.ckpt-viz-history i { display: inline-block; width: 20px; height: 15px; margin-right: 1px;
  box-sizing: border-box; vertical-align: middle; font: 600 9px/15px system-ui, sans-serif;
  text-align: center; overflow: hidden; }
.ckpt-viz-history i.heat { background: color-mix(in srgb, var(--ckpt-viz-mark) var(--heat),
  transparent); }
.ckpt-viz-history i.none { border: 1px solid var(--ckpt-viz-line); }
.ckpt-viz-history i.new { border: 1px solid var(--ckpt-viz-mark); line-height: 12px; }
.ckpt-viz-history i.bad { background: var(--ckpt-viz-alarm); color: var(--ckpt-viz-back); }
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
    """Return the strip, the sentences, and a row for each of the 40 largest changes."""
    times = columns(len(history.sources))
    rows, heat = ordered(history)[:MAX_ROWS], Levels(history.rows)
    titles = [one.title for one in history.sources]
    body = "".join(_row(row, heat, times, titles) for row in rows if not row.is_state)
    states = "".join(_row(row, heat, times, titles) for row in rows if row.is_state)
    if body and states:
        body += "<tr class=rest><td colspan=6>state of optimizers, and counters</td></tr>"
    body += states
    rest = ""
    if len(rows) < len(history.rows):
        rest = f"<p>… {rest_words(history, len(rows))}: print(history.to_text(None))</p>"
    head = (
        "<thead><tr><th>variable</th><th>shape</th><th>change at each save, of the norm</th>"
        "<th>norm</th><th>first → last</th><th>norm, first → last</th></tr></thead>"
    )
    table = f"<table>{head}<tbody>{body}</tbody></table>{rest}"
    return (
        f'<style>{_STYLE}</style><div class="ckpt-viz-history">{_strip(history, times)}'
        f"{_sentences(history)}{table}{_legend(heat)}</div>"
    )


def _strip(history: Record, times: Sequence[int]) -> str:
    marks = {mark.at: mark for mark in history.marks}
    alarms = {finding.first: finding for finding in reversed(history.findings) if is_alarm(finding)}
    items = []
    for time in times:
        one = history.sources[time]
        step = "" if one.step is None else f"<small>step {one.step:,}</small>"
        kind, said = "", one.error or ""
        if time in marks:
            kind, said = "mark", mark_words(history, marks[time])
            step += "<small>◆ structure</small>"
        if time in alarms or one.error is not None:
            kind = "alarm"
            said = alarms[time].why if time in alarms else said
            word = alarms[time].kind.value.replace("_", " ") if time in alarms else "damaged"
            step += f"<small>▲ {escape(word)}</small>"
        items.append(
            f'<li class="{kind}" title="{escape(printable(said), quote=True)}">'
            f"{escape(printable(one.title))}{step}</li>"
        )
    return f'<ol class="strip">{"".join(items)}</ol>'


def _sentences(history: Record) -> str:
    alarms = {finding.why for finding in history.findings if is_alarm(finding)}
    told = "".join(
        f'<p class="alarm-text">▲ {escape(printable(one))}</p>'
        if one in alarms
        else f"<p>{escape(printable(one))}</p>"
        for one in sentences(history)
    )
    more = "".join(f"<p>{escape(printable(finding.why))}</p>" for finding in others(history))
    return told + more + "".join(f"<p><small>{escape(one)}</small></p>" for one in notes(history))


def _row(row: HistoryRow, heat: Levels, times: Sequence[int], titles: Sequence[str]) -> str:
    cells = "".join(_cell(row.cells[time], heat, titles[time]) for time in times)
    norms = [None if cell.values is None else cell.values.l2 for cell in row.cells]
    known = [norm for norm in norms if norm is not None]
    change = percent(row.total)
    bar = ""
    if row.total and math.isfinite(row.total):
        bar = f'<b class="bar" style="width: {min(80.0, 80 * row.total):.0f}px"></b>'
    ends = f"{known[0]:.4g} → {known[-1]:.4g}" if known else ""
    key = escape(printable(row.key), quote=True)
    return (
        f'<tr title="{key}"><th>{escape(printable(row.place))}</th>'
        f"<td>{escape(shape_words(row.shape))}</td><td>{cells}</td>"
        f"<td>{_curve(norms)}</td><td>{bar}{change}</td><td class=number>{ends}</td></tr>"
    )


def _cell(cell: Cell, heat: Levels, title: str) -> str:
    kind, word, said = _OF_STATES.get(cell.state, ("", "", ""))
    style = ""
    values = cell.values
    if values is not None and (values.nan or values.inf):
        kind, word = "bad", "NaN" if values.nan else "Inf"
        said = f"{values.nan or 0:,} NaN, {values.inf or 0:,} infinite of {values.count:,}"
    elif cell.state is CellState.CHANGED:
        said = f"changed by {percent(cell.relative)}"
        kind, style = "heat", f' style="--heat: {_HEAT[heat.of(cell)]}%"'
    said = f"{title}: {cell.error or said}"
    return f'<i class="{kind}" title="{escape(printable(said), quote=True)}"{style}>{word}</i>'


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
    said = f"norm {known[0]:.4g} to {known[-1]:.4g}"
    curves = "".join(
        f'<polyline points="{" ".join(points)}"/>' for points in lines if len(points) > 1
    )
    return f'<svg width="70" height="15" role="img" aria-label="{said}">{curves}</svg>'


def _legend(heat: Levels) -> str:
    low, high = heat.low, heat.high
    swatches = "".join(f'<i class="heat" style="--heat: {one}%"></i>' for one in _HEAT[1:])
    return (
        f"<p><small>change at a save {swatches} {percent(low)} to {percent(high)} of the norm, log "
        'scale &nbsp; <i class="none"></i> equal &nbsp; <i class="new">○</i> first &nbsp; '
        '<i class="bad">NaN</i> NaN or infinity</small></p>'
    )
