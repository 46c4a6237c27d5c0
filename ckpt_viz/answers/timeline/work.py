"""The reading of a history: it may stop at any time, go on later, and take in new checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace

from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.lines import Lines, lines_of
from ckpt_viz.answers.timeline.plan import PIECE_BYTES
from ckpt_viz.answers.timeline.reading import Plans, Reader
from ckpt_viz.answers.timeline.sources import Checkpoint, Ordered
from ckpt_viz.errors import CheckpointNotFoundError
from ckpt_viz.files.values.running import OnRead, ignored
from ckpt_viz.ground.gc_pause import gc_paused


@dataclass
class Work:
    """The checkpoints of a history, its variables, and the rows that were read up to now.

    `rows` has them by number. Those of an earlier work may lack the last checkpoints; `read`
    completes them. `begun` has what was read of the next ones.
    """

    ordered: Ordered
    lines: Lines
    unchanged: bool = False
    rows: dict[int, HistoryRow] = field(default_factory=dict)
    begun: Plans = field(default_factory=dict)

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints in their order."""
        return self.ordered.checkpoints

    @property
    def is_complete(self) -> bool:
        """Whether all rows were read."""
        times = len(self.checkpoints)
        return len(self.rows) == len(self.lines.lines) and all(
            len(row.cells) == times for row in self.rows.values()
        )

    def reader(self, piece_bytes: int = PIECE_BYTES, *, is_compared: bool = False) -> Reader:
        """Return what reads the rest, in pieces of so many bytes of each checkpoint.

        `is_compared` is that of `Reader`.
        """
        graphs = [checkpoint.graph for checkpoint in self.checkpoints]
        known, begun = dict(self.rows), self.begun
        return gc_paused(
            lambda: Reader(
                *(graphs, self.lines.lines, self.unchanged, is_compared),
                known=known,
                begun=begun,
                piece_bytes=piece_bytes,
            )
        )

    def read(
        self, reader: Reader, executor: Executor | None = None, on_read: OnRead = ignored
    ) -> Iterator[tuple[int, HistoryRow]]:
        """Yield the number and row of each variable that is not known, as soon as it is read."""
        times = len(self.checkpoints)
        known = {number for number, row in self.rows.items() if len(row.cells) == times}
        with closing(reader.rows(executor, on_read)) as rows:  # type: ignore[type-var]
            for number, row in rows:
                if number not in known:
                    self.rows[number] = row
                    yield number, row

    def after(self, earlier: Work) -> Work:
        """Return this work with what an earlier one has read.

        That holds if the earlier one has the first of these checkpoints, the same objects.
        """
        graphs = [checkpoint.graph for checkpoint in self.checkpoints]
        earlier_graphs = [checkpoint.graph for checkpoint in earlier.checkpoints]
        is_begin = len(earlier_graphs) <= len(graphs) and all(
            before is not None and before is graph
            for before, graph in zip(earlier_graphs, graphs, strict=False)
        )
        if not is_begin:
            return self
        begun = earlier.begun if len(earlier_graphs) == len(graphs) else {}
        return replace(self, rows=dict(earlier.rows), begun=begun)


def work_on(ordered: Ordered, *, unchanged: bool = False) -> Work:
    """Return the work on checkpoints; raise CheckpointNotFoundError if none can be opened."""
    if all(checkpoint.graph is None for checkpoint in ordered.checkpoints):
        first, number = ordered.checkpoints[0], len(ordered.checkpoints)
        raise CheckpointNotFoundError(
            f"none of {number} checkpoints can be opened; {first.title}: {first.error}"
        )
    graphs = [checkpoint.graph for checkpoint in ordered.checkpoints]
    return Work(ordered, gc_paused(lambda: lines_of(graphs)), unchanged)
