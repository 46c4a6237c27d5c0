"""The history of a directory, read for JupyterLab below the server's root and within its limits.

It is sent as lines of JSON while it is read (docs/server.md). What was read stays in the process.
It answers questions, and a later request goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.history import history_so_far
from ckpt_viz.answers.timeline.history_json import cell_json, history_json, words_json
from ckpt_viz.answers.timeline.plan import PIECE_BYTES
from ckpt_viz.answers.timeline.questions import answer
from ckpt_viz.answers.timeline.reading import Reader
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.sources import Opening, Ordered, checkpoints_of, kept_in, unopened
from ckpt_viz.answers.timeline.view_payload import MOST_HISTOGRAMS, cells_of_view
from ckpt_viz.answers.timeline.work import Work, work_on
from ckpt_viz.entrances.server.graphs import check_size, contents_path, json_bytes
from ckpt_viz.entrances.server.history_wire import (
    HistoryLines,
    ReadingWatch,
    Stopped,
    Wire,
    saying_limit,
    without_root,
)
from ckpt_viz.entrances.server.messages import QUICK_BYTES, Asked, Limits, Look
from ckpt_viz.entrances.server.refusals import FAILED, Reason, RefusedRequest, line_of, refusal_of
from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.keras_reader import list_of_shard
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.files.saved.v1_reader import prefix_of_shard
from ckpt_viz.formats.storage.confinement import Confinement, confined_to
from ckpt_viz.formats.storage.files import file_stamp, join, list_files, split
from ckpt_viz.graphs.object_graph.provenance import Kept

MOST_CHECKPOINTS = 200
"""The most checkpoints of a history; of more, some at equal distances."""
_SECONDS = 0.15  # between parts of an answer
_PART_CELLS = 20_000  # in a part
_LEAST_PIECE = 1 << 16
_NODE_BYTES = 1_200  # of memory, as measured for graphs
_CELL_BYTES = 900  # of memory, without the histogram
_HISTOGRAM_BYTES = 1_200

Stamp = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class HistoryPage:
    """A history that was read as far as possible, to answer questions and to go on.

    `stamps` has by prefix what changes with the files of a checkpoint.
    """

    work: Work
    stamps: Mapping[str, Stamp]
    title: str

    @property
    def node_count(self) -> int:
        """The number of nodes in memory."""
        return sum(
            len(checkpoint.graph.nodes)
            for checkpoint in self.work.checkpoints
            if checkpoint.graph is not None
        )

    @property
    def has_histograms(self) -> bool:
        """Whether it keeps the histograms, as the view gets them: there are few cells."""
        return len(self.work.lines.lines) * len(self.work.checkpoints) <= MOST_HISTOGRAMS

    @property
    def byte_count(self) -> int:
        """The approximate memory that it takes."""
        cells = sum(len(row.cells) for row in self.work.rows.values())
        of_cell = _CELL_BYTES + _HISTOGRAM_BYTES * self.has_histograms
        return _NODE_BYTES * self.node_count + of_cell * cells


def look_at_history(asked: Asked, version: str, most_bytes: int) -> Look:
    """Return a value that changes with the files of a history; open none of the checkpoints.

    The bytes of values count only until they are too many for a quick job: they are not kept.
    """
    with _confined(asked, most_bytes):
        kept, left_out = kept_in(asked.path, MOST_CHECKPOINTS)
        stamps = _stamps(kept)
    times = [
        (checkpoint.prefix, checkpoint.exists, str(checkpoint.saved_at)) for checkpoint in kept
    ]
    seen = repr([version, asked.path, left_out, times, stamps])
    index_bytes = sum(stamp[0][0] for stamp in stamps.values() if stamp[0] is not None)
    values = sum(
        file_stamp[0]
        for stamp in stamps.values()
        for file_stamp in stamp[1:]
        if file_stamp is not None
    )
    etag = f'"{hashlib.sha256(seen.encode("utf-8", "backslashreplace")).hexdigest()[:32]}"'
    return Look(etag, index_bytes + min(values, QUICK_BYTES + 1))


def _stamps(kept: Sequence[Kept]) -> dict[str, Stamp]:
    """Return by prefix the stamps of a checkpoint's index and of its other files."""
    names: dict[str, dict[str, list[str]]] = {}
    stamps: dict[str, Stamp] = {}
    for checkpoint in kept:
        directory, name = split(checkpoint.prefix)
        if directory not in names:
            names[directory] = _shards_in(directory)
        shards = names[directory].get(name, [])
        paths = [
            checkpoint.prefix + INDEX,
            checkpoint.prefix,
            *(join(directory, shard) for shard in shards),
        ]
        stamps[checkpoint.prefix] = tuple(map(_stamp, paths))
    return stamps


def _shards_in(directory: str) -> dict[str, list[str]]:
    """Return by a checkpoint's name the names of its shards."""
    shards: dict[str, list[str]] = {}
    try:
        names = list_files(directory or os.curdir)
    except CkptVizError:
        return shards
    for name in names:
        prefix, sign, _ = name.rpartition(".data-")
        prefix = prefix if sign else list_of_shard(name) or prefix_of_shard(name)
        if prefix != name:
            shards.setdefault(prefix, []).append(name)
    return shards


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        return file_stamp(path)
    except CkptVizError:
        return None


def send_history(
    asked: Asked,
    version: str,
    limits: Limits,
    wire: Wire,
    *,
    packs: bool,
    earlier: HistoryPage | None = None,
) -> tuple[HistoryPage | None, bytes]:
    """Send a history in parts while it is read; return what to keep, and the last part.

    Sends what an earlier reading of the same directory has, and reads the rest.

    Raises:
        CkptVizError: As `ckpt_viz.history`, if nothing was sent yet. Otherwise the last line says
            what happened.
        RefusedRequest: Not even the first part may be sent: it is too large.
    """
    lines = HistoryLines(asked, wire, limits.most_answer, packs=packs)
    page: HistoryPage | None = None
    try:
        with _confined(asked, limits.most_read) as scope:
            watch = ReadingWatch(wire, scope)
            lines.title = contents_path(asked.path, scope) or "/"
            try:
                page = _opened(asked, version, scope, lines, watch, earlier)
                _send_rows(page, lines, watch, limits.most_read)
                why = ""
            except Stopped as stopped:
                if scope.over_limit is not None and not lines.is_begun:
                    raise scope.over_limit from None
                why = str(stopped)
            lines.send(_end(page, why))
    except Exception as error:
        if not lines.is_begun:
            raise
        refusal = refusal_of(error)
        if refusal is None:  # this process's errors appear in the log of Jupyter's server
            traceback.print_exc()
            refusal = RefusedRequest(Reason.FAILED, f"{lines.title}: {FAILED}")
        lines.send_last(line_of(refusal))
    return page, lines.finished()


def answer_json(
    page: HistoryPage, asked: Asked, question: Mapping[str, Any], limits: Limits, wire: Wire
) -> bytes:
    """Return the answer to a question about a history.

    Raises:
        RefusedRequest: It is too large.
        ReadLimitError: It would read more bytes than allowed.
        Stopped: It has to end.
    """
    lines = page.work.lines.lines
    number = question.get("row")
    with _confined(asked, limits.most_read) as scope, saying_limit(scope):
        watch = ReadingWatch(wire, scope)
        reader, rows = page.work.reader(), dict(page.work.rows)
        if question.get("ask") == "row" and isinstance(number, int) and 0 <= number < len(lines):
            rows[number] = _read_row(page, number, watch)
        record = _record(page.work, [rows.get(n) or reader.unread(n) for n in range(len(lines))])
        try:
            answered = answer(record, question, on_read=watch.update)
        except CkptVizError as error:
            answered = {"error": str(error)}
        watch.update(0)
    if answered is None:
        raise RefusedRequest(
            Reason.BAD_REQUEST, f"question: no question of a history: {question}"[:200]
        )
    body = without_root(asked, json_bytes({"answer": answered, "buffers": []}))
    check_size(f"{page.title}: the answer", body, most_bytes=limits.most_answer)
    return body


def opened_history(
    asked: Asked, limits: Limits, wire: Wire, earlier: HistoryPage | None = None
) -> HistoryPage:
    """Return a history of which no row was read, or those of an earlier reading."""
    with _confined(asked, limits.most_read) as scope, saying_limit(scope):
        watch = ReadingWatch(wire, scope)
        return _page(asked, scope, lambda _: watch.update(0), earlier)


# --- parts


def _opened(
    asked: Asked,
    version: str,
    scope: Confinement,
    lines: HistoryLines,
    watch: ReadingWatch,
    earlier: HistoryPage | None,
) -> HistoryPage:
    """Return the opened history; send its plan, before that the first checkpoint's."""
    title = contents_path(asked.path, scope) or ""
    head = {"part": "plan", "package": version, "title": title}
    last = 0.0

    def on_opened(opening: Opening) -> None:
        nonlocal last
        watch.update(0)
        if not lines.is_begun and opening.checkpoint.graph is not None:
            lines.send({**head, "is_first": True, "history": _first_plan(asked, scope, opening)})
        if lines.is_begun and time.monotonic() > last + _SECONDS:
            last = time.monotonic()
            lines.send({"part": "opened", "done": opening.opened, "total": opening.total})

    page = _page(asked, scope, on_opened, earlier)
    watch.update(0)
    bare = _record(page.work, _unread(page.work))
    lines.send({**head, "is_first": False, "history": _plan(bare, scope)})
    return page


def _record(work: Work, rows: Sequence[HistoryRow]) -> Record:
    """Return a record of some rows, without findings."""
    checkpoints, marks = tuple(work.checkpoints), tuple(work.lines.marks)
    order, left_out = work.ordered.order, work.ordered.left_out
    return Record(
        *(checkpoints, tuple(rows), (), marks, order, left_out, work.is_complete),
        _lines=work.lines.lines,
    )


def _page(
    asked: Asked,
    scope: Confinement,
    on_opened: Callable[[Opening], object],
    earlier: HistoryPage | None,
) -> HistoryPage:
    kept, _ = kept_in(asked.path, MOST_CHECKPOINTS)
    stamps = _stamps(kept)
    known = {}
    if earlier is not None:
        for opened in earlier.work.checkpoints:
            is_same = stamps.get(opened.path) == earlier.stamps.get(opened.path)
            if opened.graph is not None and is_same:
                known[opened.path] = opened
    ordered = checkpoints_of(asked.path, most=MOST_CHECKPOINTS, known=known, on_opened=on_opened)
    work = work_on(ordered)
    if earlier is not None:
        work = work.after(earlier.work)
    return HistoryPage(work, stamps, contents_path(asked.path, scope) or "")


def _first_plan(asked: Asked, scope: Confinement, opening: Opening) -> dict[str, Any]:
    """Return the plan that is known once the first checkpoint is open: its variables."""
    kept, left_out = kept_in(asked.path, MOST_CHECKPOINTS)
    rows = _unread(work_on(Ordered((opening.checkpoint,), "")))
    return _plan(Record(unopened(kept), rows, (), (), "", left_out, is_complete=False), scope)


def _unread(work: Work) -> tuple[HistoryRow, ...]:
    reader = work.reader()
    return tuple(reader.unread(number) for number in range(len(reader.lines)))


def _plan(record: Record, scope: Confinement) -> dict[str, Any]:
    """Return a history whose rows have no cells, and which has no words yet."""
    bare = replace(record, rows=tuple(replace(row, cells=()) for row in record.rows))
    content = history_json(bare)
    content |= {"headline": "", "sentences": [], "notes": [], "findings": []}
    content["checkpoints"] = [
        {**checkpoint, "path": contents_path(checkpoint["path"], scope) or ""}
        for checkpoint in content["checkpoints"]
    ]
    return content


def _piece_bytes(most_read: int, times: int) -> int:
    """Return the size of pieces of which a request can read several, at all times."""
    return max(_LEAST_PIECE, min(PIECE_BYTES, most_read // (4 * times)) // 64 * 64)


def _send_rows(page: HistoryPage, lines: HistoryLines, watch: ReadingWatch, most_read: int) -> None:
    """Send the known rows, then the others as they are read."""
    work, times = page.work, len(page.work.checkpoints)
    reader = work.reader(_piece_bytes(most_read, times))
    total, count = reader.nbytes(), len(reader.lines)
    waiting = [(n, row) for n, row in work.rows.items() if len(row.cells) == times]
    last = 0.0  # the first rows are sent at once

    def send() -> None:
        nonlocal last, waiting
        ready = [[number, _cells(row, count)] for number, row in waiting]
        waiting = []
        lines.send({"part": "rows", "rows": ready, "read": watch.read, "total": total})
        last = time.monotonic()

    def send_sometimes() -> None:
        if time.monotonic() > last + _SECONDS or len(waiting) * times > _PART_CELLS:
            send()

    watch.on_read = send_sometimes
    try:
        for numbered_row in work.read(reader, on_read=watch.update):
            waiting.append(numbered_row)
            if not page.has_histograms:
                work.rows[numbered_row[0]] = _without_histograms(numbered_row[1])
            send_sometimes()
    finally:
        watch.on_read = None
        send()


def _without_histograms(row: HistoryRow) -> HistoryRow:
    cells = [
        cell if cell.values is None else replace(cell, values=replace(cell.values, histogram=None))
        for cell in row.cells
    ]
    return replace(row, cells=tuple(cells))


def _cells(row: HistoryRow, rows: int) -> list[dict[str, Any]]:
    return cells_of_view([cell_json(cell) for cell in row.cells], rows)


def _end(page: HistoryPage | None, why: str) -> dict[str, Any]:
    """Return the last line; `why` says why not all was read, or is empty."""
    content: dict[str, Any] = {"is_complete": False}
    if page is not None:
        content = words_json(history_so_far(page.work, page.work.reader()))
    return {"part": "end", **content, "why": why}


def _read_row(page: HistoryPage, number: int, watch: ReadingWatch) -> HistoryRow:
    """Return a row with its histograms; read it if the page does not have them."""
    work = page.work
    if number in work.rows and page.has_histograms:
        return work.rows[number]
    graphs = [checkpoint.graph for checkpoint in work.checkpoints]
    reader = Reader(graphs, [work.lines.lines[number]], unchanged=True)
    ((_, row),) = reader.rows(None, watch.update)
    return row


def _confined(asked: Asked, most_bytes: int) -> AbstractContextManager[Confinement]:
    """Confine all reads. What leads out of the root is an error of one checkpoint or cell."""
    return confined_to(asked.root, shows_hidden=asked.shows_hidden, most_bytes=most_bytes)
