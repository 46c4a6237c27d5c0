"""The summary of a check in one line; its numbers are those of the marked values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ckpt_viz.changes.kind import Kind
from ckpt_viz.matching.trace import Cause
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import has_value
from ckpt_viz.object_graph.overlay import Mark, Severity, State
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.text import count

_WORDS = {
    State.SAVED_ONLY: "not used",
    State.LIVE_ONLY: "not in checkpoint",
    State.MOVED: "moved",
    State.SHAPE: "of another shape",
    State.DTYPE: "of another dtype",
    State.DEFERRED: "waiting",
}
_DAMAGED = (Cause.DAMAGED, Cause.UNREADABLE)


def headline(run: DryRun, graph: Graph, marks: Sequence[Mark], findings: Sequence[Finding]) -> str:
    """Return the summary in one line.

    `assert_consumed() would fail: 2 values not used, 1 of another shape`.
    """
    counts = [(number, words) for number, words in _counts(run, graph, marks) if number]
    parts = [f"{count(number, 'value')} {words}" for number, words in counts[:1]]
    parts += [f"{number} {words}" for number, words in counts[1:]]
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    parts += [count(warnings, "warning")] if warnings else []
    verdict = _verdict(run)
    return f"{verdict}: {', '.join(parts)}" if parts else verdict


def _counts(run: DryRun, graph: Graph, marks: Sequence[Mark]) -> Iterator[tuple[int, str]]:
    """Yield how many values need attention for which reason."""
    both = list(zip(graph.nodes, marks, strict=True))
    numbers = Counter(mark.state for node, mark in both if has_value(node))
    steps = () if run.trace is None else run.trace.steps
    failures = [step.failure for step in steps if step.failure is not None]
    damaged = sum(failure.cause in _DAMAGED for failure in failures)
    numbers[State.FAILED] -= damaged
    for state, words in (_WORDS | {State.FAILED: run.outcome.failing}).items():
        if state is State.FAILED and damaged:
            yield damaged, "damaged"
        if numbers[state] > 0:
            yield numbers[state], words
    # A value in the wrong place may be all that makes the assert fail: its own place is taken.
    astray = (mark.detail == Kind.MISPLACED.value and has_value(node) for node, mark in both)
    if run.verdicts.restore is None and run.verdicts.consumed is not None:
        yield sum(astray), Kind.MISPLACED.value


def _verdict(run: DryRun) -> str:
    verdicts, raised = run.verdicts, run.trace.raised if run.trace is not None else None
    if raised is not None and raised.cause is Cause.ABORT:
        return f"{run.method}() would end the process"
    if verdicts.restore is not None:
        return f"{run.method}() would raise {verdicts.restore.type}"
    if run.outcome.later is not None:
        return f"the initializers would raise {run.outcome.later.type}"
    if run.outcome.effect:
        return f"{run.method}() {run.outcome.effect}"
    passes = "pass" if verdicts.consumed is None else "fail"
    return f"assert_consumed() would {passes}"
