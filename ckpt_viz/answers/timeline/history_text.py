"""A history for a terminal."""

from __future__ import annotations

from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.words import (
    HEAT,
    Levels,
    columns,
    notes,
    ordered,
    others,
    rest_words,
    scale_words,
    sentences,
    sign,
)
from ckpt_viz.graphs.overlay.overlay import Severity, State
from ckpt_viz.graphs.render.signs import SEVERITIES, STATES
from ckpt_viz.ground.text import end_of, printable

_MOST_NAME = 48
_MOST_MEMBERS = 12
_LEGEND = (
    f"○ first, = equal, {STATES[State.SHAPE].glyph} other shape, N NaN, I infinity, "
    f"{SEVERITIES[Severity.ERROR].glyph} damaged, ? not read"
)


def history_text(history: Record, max_rows: int | None) -> str:
    """Return the headline and a line for each variable, those that changed most first."""
    lines = [printable(sentence) for sentence in sentences(history)]
    lines += [printable(finding.why) for finding in others(history)]
    lines.append(" ".join(notes(history)))
    rows = ordered(history) if max_rows is None else ordered(history)[:max_rows]
    heat = Levels(history.variables)
    arrow, when = ("→", "at a save") if history.distances is None else ("to", "of the mean")
    times = columns(len(history.sources))
    names = [end_of(printable(row.place), _MOST_NAME) for row in rows]
    width = max(map(len, names), default=0)
    for row, name in zip(rows, names, strict=True):
        signs = "".join(sign(row.cells[time], heat.of(row.cells[time])) for time in times)
        norms = [cell.values.l2 for cell in row.cells if cell.values and cell.values.l2 is not None]
        norms = norms if history.distances is None else sorted(norms)
        ends = f" {arrow} ".join(f"{norm:.4g}" for norm in [*norms[:1], *norms[1:][-1:]])
        norm = f"norm {ends}" if norms else ""
        total = history.ranking.words(row).rjust(8)
        lines.append(f"{name.ljust(width)}  {signs}  {total}  {norm}".rstrip())
    if len(rows) < len(history.rows):
        lines.append(f"… {rest_words(history, len(rows))}: print(history.to_text(None)) shows all")
    lines += _distances(history)
    lines.append(f"{HEAT[1]} to {HEAT[-1]}: {scale_words(heat)} of the norm {when}; {_LEGEND}")
    return "\n".join(lines)


def _distances(history: Record) -> list[str]:
    """Return the distances between members as a table, if there are not too many."""
    if history.distances is None or len(history.sources) > _MOST_MEMBERS:
        return []
    titles = [end_of(printable(checkpoint.title), _MOST_NAME) for checkpoint in history.sources]
    width = max(map(len, titles))
    lines = ["distances between members, relative to their mean's norm:"]
    for title, line in zip(titles, history.distances, strict=True):
        lines.append(f"{title.ljust(width)}  " + "  ".join(f"{distance:8.3g}" for distance in line))
    return lines
