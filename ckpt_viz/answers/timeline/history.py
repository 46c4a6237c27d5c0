"""The history of a training, as `ckpt_viz.history` returns it."""

from __future__ import annotations

import math
import weakref
from collections import deque
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckpt_viz.answers.graph_diff.diff_result import GraphDiff, diff_of
from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.findings import findings_of, findings_of_members
from ckpt_viz.answers.timeline.reading import Reader
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.sources import MOST, Checkpoint, checkpoints_of
from ckpt_viz.answers.timeline.work import Work, work_on
from ckpt_viz.errors import SourceError
from ckpt_viz.files.values.difference import relative
from ckpt_viz.files.values.running import Begin, bar, progress_of, silent
from ckpt_viz.graphs.render.encodings import shown_on_stdout

if TYPE_CHECKING:
    from ckpt_viz.entrances.jupyter.history_view import HistoryView


@dataclass(frozen=True)
class History(Record):
    """Checkpoints of one training in the order of time, and what each save changed.

    >>> history = cv.history("ckpts", progress=False)
    >>> history.rows[0].name, len(history.rows)
    ('(root).net.head.w', 6)
    >>> history.diff("ckpt-1", "ckpt-3")
    <GraphDiff 'ckpts/ckpt-1' → 'ckpts/ckpt-3': differs: 3 values by value>

    See `Record` for its attributes. `print` and notebooks show it.
    """

    def diff(self, a: int | str, b: int | str, *, values: bool = False) -> GraphDiff:
        """Return the difference of two of the checkpoints, by number or title.

        `values` is that of `ckpt_viz.diff`: whether to read by how much each value differs.
        Raises SourceError if one could not be opened, or there is none.
        """
        first, second = (self._checkpoint(key).opened() for key in (a, b))
        return diff_of(first, second, values=values)

    @property
    def headline(self) -> str:
        """The most important things in a few sentences."""
        from ckpt_viz.answers.timeline.words import headline

        return headline(self)

    def to_text(self, max_rows: int | None = 30) -> str:
        """Return the history for a terminal; None shows all variables."""
        from ckpt_viz.answers.timeline.history_text import history_text

        return history_text(self, max_rows)

    def to_json(self) -> dict[str, Any]:
        """Return the history as data for `json.dumps`: see docs/history.md."""
        from ckpt_viz.answers.timeline.history_json import history_json

        return history_json(self)

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row for each variable in each checkpoint.

        Raises UnsupportedError if pandas is not installed.
        """
        from ckpt_viz.answers.timeline.frame import frame

        return frame(self)

    def to_csv(self) -> str:
        """Return the table of `to_dataframe` as CSV, without pandas.

        Texts that a program could take for a formula get an apostrophe before them.
        """
        from ckpt_viz.answers.timeline.frame import table_csv

        return table_csv(self)

    def to_html(self) -> str:
        """Return the static picture as a file of HTML that works offline."""
        from ckpt_viz.answers.timeline.history_html import history_page

        return history_page(self)

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())

    def __repr__(self) -> str:
        return shown_on_stdout(f"<History of {len(self.sources)} checkpoints: {self.headline}>")

    def show(self) -> HistoryView:
        """Return the interactive view of the history, a widget for notebooks.

        A notebook also shows it for the history itself.
        """
        from ckpt_viz.entrances.jupyter.history_view import HistoryView

        view: HistoryView | None = self.__dict__.get("_view")
        if view is None or view.comm is None:  # ipywidgets may have closed it
            view = self.__dict__["_view"] = HistoryView(self, self._picture)
        return view

    def _picture(self) -> dict[str, str]:
        """Return what a saved notebook shows without a kernel, by MIME type."""
        return {"text/plain": self.to_text(), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        from ckpt_viz.answers.timeline.history_html import history_html

        return history_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the view with the picture; None where widgets cannot be shown."""
        from ckpt_viz.entrances.jupyter.kernel_run import shows_widgets

        return self.show()._repr_mimebundle_(**kwargs) if shows_widgets() else None

    def _checkpoint(self, key: int | str) -> Checkpoint:
        if isinstance(key, int):
            if -len(self.sources) <= key < len(self.sources):
                return self.sources[key]
        else:
            for checkpoint in self.sources:
                if checkpoint.title == key:
                    return checkpoint
        titles = ", ".join(checkpoint.title for checkpoint in self.sources[:5])
        raise SourceError(f"expected a checkpoint of this history, {titles}; found {key!r}")


def history_of(
    source: object,
    *,
    most: int = MOST,
    unchanged: bool = False,
    executor: Executor | None = None,
    progress: bool = True,
    begin: Begin = bar,
) -> History:
    """Return the history of a source: see `ckpt_viz.history`. `begin` starts the progress bar."""
    work = work_on(checkpoints_of(source, most=most), unchanged=unchanged)
    reader = work.reader()
    _read(work, reader, executor, begin if progress else silent)
    return history_so_far(work, reader, _manager(source))


def _read(work: Work, reader: Reader, executor: Executor | None, begin: Begin) -> None:
    """Read all rows; an interrupt keeps what is done."""
    progress = progress_of("history", reader.nbytes(), begin)
    with progress as on_read, suppress(KeyboardInterrupt):
        deque(work.read(reader, executor, on_read), maxlen=0)


def _rows(work: Work, reader: Reader) -> tuple[HistoryRow, ...]:
    return tuple(work.rows.get(n) or reader.unread(n) for n in range(len(reader.lines)))


def history_so_far(
    work: Work, reader: Reader, manager: weakref.ReferenceType[object] | None = None
) -> History:
    """Return the history with the rows that were read up to now."""
    rows = _rows(work, reader)
    return History(
        tuple(work.checkpoints),
        rows,
        findings_of(work.checkpoints, rows),
        tuple(work.lines.marks),
        work.ordered.order,
        work.ordered.left_out,
        work.is_complete,
        manager=manager,
        _lines=work.lines.lines,
    )


def _manager(source: object) -> weakref.ReferenceType[object] | None:
    """Return a reference to a manager of checkpoints; the history does not keep it alive."""
    is_manager = hasattr(source, "directory") and hasattr(source, "checkpoint")
    try:
        return weakref.ref(source) if is_manager else None
    except TypeError:  # its class allows no weak references
        return None


def comparison_of(
    sources: object, *, executor: Executor | None = None, progress: bool = True
) -> History:
    """Return the comparison of sources without an order: see `ckpt_viz.compare`."""
    ordered = checkpoints_of(sources)
    number = len(ordered.checkpoints)
    if number < 2:
        raise SourceError(f"expected at least two checkpoints to compare, found {number}")
    work = work_on(ordered, unchanged=True)
    reader = work.reader(is_compared=True)
    _read(work, reader, executor, bar if progress else silent)
    rows = _rows(work, reader)
    distances = tuple(
        tuple(relative(math.sqrt(square), math.sqrt(reader.norm)) for square in line)
        for line in reader.squares.tolist()
    )
    findings = findings_of_members(ordered.checkpoints, rows, distances)
    return History(
        *(ordered.checkpoints, rows, findings, tuple(work.lines.marks), "in no order"),
        *(ordered.left_out, work.is_complete, distances),
    )
