"""What a history knows, in plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import ReferenceType

from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.findings import HistoryFinding, is_alarm
from ckpt_viz.answers.timeline.lines import Line, StructureMark, lines_of
from ckpt_viz.answers.timeline.ranking import Ranking
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.errors import SourceError
from ckpt_viz.ground.wording import PYTHON, Wording
from ckpt_viz.live.sources.pictured import ObjectGraph


@dataclass(frozen=True)
class Record:
    """Checkpoints of one training in the order of time, and what each save changed.

    Attributes:
        sources: The checkpoints.
        rows: The variables, in the order of the first checkpoint that has each.
        findings: What to know: alarms before notes, the earliest first.
        marks: Where the structure changes.
        order: What tells the order, in a few words.
        left_out: How many checkpoints of the source are not in it.
        is_complete: Whether all was read; False after an interrupt.
        distances: Of `compare`: the distances of members, N×N, each the Euclidean norm of the
            difference of their variables, as a fraction of that of the mean. None of `history`.
        wording: How its notes speak of the next step.
        manager: A weak reference to the `tf.train.CheckpointManager` that it was made of, if any.
    """

    sources: tuple[Checkpoint, ...]
    rows: tuple[HistoryRow, ...] = field(repr=False)
    findings: tuple[HistoryFinding, ...]
    marks: tuple[StructureMark, ...]
    order: str
    left_out: int = 0
    is_complete: bool = True
    distances: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)
    wording: Wording = field(default=PYTHON, repr=False, compare=False)
    manager: ReferenceType[Any] | None = field(default=None, repr=False, compare=False)
    _lines: Sequence[Line] | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> HistoryRow:
        """Return a variable's row by its checkpoint key, name or place; raises KeyError."""
        rows = [row for row in self.rows if name in (row.key, row.name, row.place)]
        if len(rows) == 1:
            return rows[0]
        subject = "no row has" if not rows else f"{len(rows)} rows have"
        raise KeyError(f"{subject} the name {name!r}; expected a checkpoint key")

    @cached_property
    def largest(self) -> tuple[HistoryRow, ...]:
        """The variables that changed most from the first to the last checkpoint, largest first.

        Those that began near zero come last, because a percentage says little of them.
        """
        known = [row for row in self.rows if row.total is not None]
        return tuple(sorted(known, key=self.ranking.place))

    @cached_property
    def ranking(self) -> Ranking:
        """How the changes of the rows compare with each other."""
        return Ranking(self.rows, self.variables)

    @cached_property
    def variables(self) -> tuple[HistoryRow, ...]:
        """The rows without the state of optimizers and without counters; all, if these are all."""
        return tuple(row for row in self.rows if not row.is_state) or self.rows

    @cached_property
    def lines(self) -> Sequence[Line]:
        """The tensors of each row in each checkpoint, for reading them again."""
        known = self._lines
        return lines_of([source.graph for source in self.sources]).lines if known is None else known

    def opened(self, number: int) -> ObjectGraph:
        """Return the graph of a checkpoint by its number.

        Raises SourceError if there is no checkpoint of this number, or it could not be opened.
        """
        if not 0 <= number < len(self.sources):
            last = len(self.sources) - 1
            raise SourceError(f"expected the number of a checkpoint, 0 to {last}; found {number}")
        return self.sources[number].opened()

    @property
    def alarms(self) -> tuple[HistoryFinding, ...]:
        """The findings that tell of a defect, not of what may be intended."""
        return tuple(finding for finding in self.findings if is_alarm(finding))
