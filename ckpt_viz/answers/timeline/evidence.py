"""What the cells of a history prove: the sizes of variables, their steps, and what a save keeps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple

from ckpt_viz.answers.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.nodes.printed_names import names_in
from ckpt_viz.graphs.object_graph.graph import Graph

SIGMAS = 3.0
"""How many standard errors a bound is from its estimate."""

ROUNDING = 1e-6
"""A relative change below this is rounding of what no longer moves."""

_COUNTERS = ("iterations", "_iterations", "iter", "iteration")
_AVERAGES = ("average", "ema")
# What a program's own optimizer calls its averages of gradients. Letters mean other things, too.
_MOMENTS = ("accumulator", "exp_avg", "moment", "velocit")
_LETTERS = ("g2", "m", "mu", "nu", "s", "v", "vhat")


class KeptValues(NamedTuple):
    """How much of its former values a variable has after a save.

    `lowest` and `highest` bound the correlation of its elements with the former ones. `share` is
    the slope of the line through them: 1 for a step in any new direction, 0 for new values.
    """

    lowest: float
    highest: float
    share: float


class Symptom(NamedTuple):
    """A variable that a rule names, the first checkpoint concerned, and a detail in words."""

    row: HistoryRow
    time: int
    detail: str = ""


class SlotVariableRow(NamedTuple):
    """A slot variable's name and row, and the node of its variable in the last checkpoint."""

    name: str
    row: HistoryRow
    variable: int


@dataclass(frozen=True)
class HistoryEvidence:
    """The checkpoints and rows that rules look at."""

    checkpoints: Sequence[Checkpoint]
    rows: Sequence[HistoryRow]

    def title(self, time: int) -> str:
        """Return what sentences call a checkpoint."""
        return self.checkpoints[time].title

    @cached_property
    def weights(self) -> Sequence[HistoryRow]:
        """The floating-point variables of at least one dimension outside of optimizers."""
        known = [row for row in self.rows if _is_float(row) and not row.is_state]
        return [row for row in known if not _is_moment(row, known)]

    @cached_property
    def kernels(self) -> Sequence[HistoryRow]:
        """The weights of at least two dimensions, or all weights if there are none.

        Only a step of an optimizer changes them. Statistics of batches have one dimension. If
        optimizers have slot variables for some, the others may be queues, averages or states.
        """
        wide = [row for row in self.weights if len(row.shape or ()) > 1] or self.weights
        return [row for row in wide if self.slots_of(row)] or wide

    @cached_property
    def moving(self) -> frozenset[int]:
        """The checkpoints in which a kernel changed by more than rounding."""
        return frozenset(
            time
            for row in self.kernels
            for time in changes_of(row)
            if (row.cells[time].relative or 0.0) > ROUNDING or row.cells[time].left_out
        )

    @cached_property
    def scale(self) -> float:
        """The usual size of an element: the median over kernels, each at its first values."""
        sizes = [size for row in self.kernels if (size := next(iter(sizes_of(row).values()), 0))]
        return median(sizes) if sizes else 0.0

    @cached_property
    def counters(self) -> Sequence[HistoryRow]:
        """The rows in which optimizers count their steps."""
        return [row for row in self.rows if _is_count(row) and self._is_of_optimizer(row)]

    @cached_property
    def slots(self) -> Sequence[SlotVariableRow]:
        """The slot variables that follow gradients."""
        slots: list[SlotVariableRow] = []
        for row in self.rows:
            graph = self._graph_of(row)
            slot = None if graph is None else graph.nodes[row.node_id].slot
            if slot is None or not _is_float(row):
                continue
            if not any(word in slot.name.lower() for word in _AVERAGES):
                slots.append(SlotVariableRow(slot.name, row, slot.variable))
        return slots

    def slots_of(self, row: HistoryRow) -> Sequence[HistoryRow]:
        """Return the slot variables of a variable that have its shape."""
        return [slot for slot in self._slots_by_variable[row.node_id] if slot.shape == row.shape]

    @cached_property
    def _slots_by_variable(self) -> Mapping[int, Sequence[HistoryRow]]:
        by_variable: dict[int, list[HistoryRow]] = defaultdict(list)
        for slot in self.slots:
            by_variable[slot.variable].append(slot.row)
        return by_variable

    def rate_before_and_at(self, time: int) -> tuple[float, float] | None:
        """Return the learning rates that optimizers have before and at a checkpoint, if saved."""
        for row in self.rows:
            if row.is_state and row.shape == () and row.place.endswith("learning_rate"):
                was, now = values_before(row, time), row.cells[time].values
                if was is not None and now is not None and was.max and now.max:
                    return float(was.max), float(now.max)
        return None

    def steps_before(self, time: int) -> int:
        """Return the steps from the checkpoint before, 1 if they are not known."""
        now, was = self.checkpoints[time].step, self.checkpoints[time - 1].step
        return max(1, now - was) if time and now is not None and was is not None else 1

    def pace(self, row: HistoryRow, time: int) -> float:
        """Return the root mean square change of an element per step up to a checkpoint."""
        root = math.sqrt(math.prod(row.shape or ()))
        return (row.cells[time].l2 or 0.0) / root / self.steps_before(time) if root else 0.0

    def has_other_slots(self, time: int) -> bool:
        """Return whether optimizers keep the state of other variables from a checkpoint on."""
        pairs = ((row.cells[time - 1], row.cells[time]) for row in self.rows if row.is_state)
        absent = CellState.ABSENT
        return time > 0 and any((a.state is absent) != (b.state is absent) for a, b in pairs)

    def _is_of_optimizer(self, row: HistoryRow) -> bool:
        graph = self._graph_of(row)
        if graph is None or graph.is_name_based:
            return graph is not None
        node = graph.tree.parents[row.node_id]
        return node != ROOT and graph.nodes[node].role is Role.OPTIMIZER

    def _graph_of(self, row: HistoryRow) -> Graph | None:
        """Return the last graph that has a row, whose node it names."""
        for source, cell in zip(self.checkpoints[::-1], row.cells[::-1], strict=True):
            if cell.state is not CellState.ABSENT and source.graph is not None:
                return source.graph
        return None


def _is_moment(row: HistoryRow, rows: Sequence[HistoryRow]) -> bool:
    """Return whether a row holds averages of the gradients of another variable.

    A file marks the slot variables of TensorFlow's optimizers alone. Those of a program's own have
    the name and the shape of their variable, below a name such as `velocity`, or below a letter if
    they began at zero.
    """
    *above, own = names_in(row.place.lower())
    is_named = any(name.startswith(_MOMENTS) for name in above)
    if not is_named and not (_began_at_zero(row) and any(name in _LETTERS for name in above)):
        return False
    return any(
        other is not row
        and other.shape == row.shape
        and names_in(other.place.lower())[-1] == own
        and not any(name.startswith(_MOMENTS) or name in _LETTERS for name in names_in(other.place))
        for other in rows
    )


def _began_at_zero(row: HistoryRow) -> bool:
    first = next((cell.values for cell in row.cells if cell.values is not None), None)
    return first is not None and bool(first.count) and first.zeros == first.count


def changes_of(row: HistoryRow) -> list[int]:
    """Return the checkpoints in which a row has other values than before."""
    return [time for time, cell in enumerate(row.cells) if cell.state is CellState.CHANGED]


def sizes_of(row: HistoryRow) -> dict[int, float]:
    """Return the root mean square of a row's elements by time, up to its first NaN or infinity."""
    sizes: dict[int, float] = {}
    for time, cell in enumerate(row.cells):
        values = cell.values
        if values is None:
            continue
        if values.nan or values.inf:
            break
        if values.l2 is not None and values.count:
            sizes[time] = values.l2 / math.sqrt(values.count)
    return sizes


def are_squares(rows: Sequence[HistoryRow]) -> bool:
    """Return whether slots follow squares of gradients: no element is negative."""
    return not any(c.values and (c.values.min or 0) < 0 for row in rows for c in row.cells)


def norms_in_words(row: HistoryRow, was: float, now: float) -> str:
    """Return two sizes of elements as norms."""
    root = math.sqrt(math.prod(row.shape or ()))
    return f"from {was * root:.3g} to {now * root:.3g}"


def values_before(row: HistoryRow, time: int) -> ValueRow | None:
    """Return the last values of a row before a checkpoint."""
    return next((c.values for c in reversed(row.cells[:time]) if c.values is not None), None)


def returns(row: HistoryRow, time: int) -> bool:
    """Return whether a save brings back the values of an earlier checkpoint."""
    now = _summary(row.cells[time])
    return now is not None and any(_summary(cell) == now for cell in row.cells[:time])


def kept_at(row: HistoryRow, time: int) -> KeptValues | None:
    """Return how much of the former values is left, None if the cells do not tell."""
    was, now, step = values_before(row, time), row.cells[time].values, row.cells[time].l2
    if was is None or now is None or step is None or was.count != now.count:
        return None
    numbers = (was.mean, was.std, now.mean, now.std)
    if now.nan or now.inf or was.nan or was.inf or None in numbers or not was.std:
        return None
    count = int(now.count or 0)
    changed = step**2 / count - (float(now.mean or 0) - float(was.mean or 0)) ** 2
    covariance = (was.std**2 + float(now.std or 0) ** 2 - changed) / 2
    if count <= 3 or not math.isfinite(covariance):
        return None
    ratio = float(now.std or 0) / was.std
    correlation = covariance / was.std**2 / ratio if ratio else 0.0
    return KeptValues(*_bounds(correlation, count), covariance / was.std**2)


def is_constant(cell: Cell) -> bool:
    """Return whether all elements are one number."""
    return cell.values is not None and cell.values.min is not None and _spread(cell.values) == 0


def _bounds(correlation: float, count: int) -> tuple[float, float]:
    """Return the bounds of a correlation of so many pairs, by Fisher's transformation."""
    centre = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, correlation)))
    error = SIGMAS / math.sqrt(count - 3)
    return math.tanh(centre - error), math.tanh(centre + error)


def _spread(values: ValueRow) -> float:
    return float((values.max or 0) - (values.min or 0))


def _summary(cell: Cell) -> tuple[object, ...] | None:
    values = cell.values
    if values is None or values.l2 is None:
        return None
    return values.l2, values.mean, values.std, values.min, values.max


def _is_float(row: HistoryRow) -> bool:
    dtype = row.dtype or ""
    return dtype.startswith(("float", "bfloat", "complex")) and row.shape not in (None, ())


def _is_count(row: HistoryRow) -> bool:
    name = row.key.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").rpartition("/")[2]
    return name in _COUNTERS and (row.dtype or "").startswith("int") and row.shape == ()
