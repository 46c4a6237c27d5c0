"""The table of a check, and its text: what the dry run and the fix say of each value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.answers.dry_runs.dry_run import DryRun, nodes_by_name, prefix_of
from ckpt_viz.answers.dry_runs.failures import named_in
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.other_shapes import other_shapes
from ckpt_viz.answers.table.marks import waiting_in
from ckpt_viz.answers.table.sentence import is_without_problems, sentence_of_check
from ckpt_viz.graphs.nodes.in_no_checkpoint import in_no_checkpoint
from ckpt_viz.graphs.nodes.nodes import loses_values
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.render.signs import SEVERITIES
from ckpt_viz.graphs.render.text import BUILD_AND_SAVE, emptiness
from ckpt_viz.ground.text import count, listed, readable
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.kind import CHANGES, Kind
from ckpt_viz.matching.engines.trace import Action, Step
from ckpt_viz.matching.restore_table.filling import CheckedCall, table_of
from ckpt_viz.matching.restore_table.fixed_values import FixedValues
from ckpt_viz.matching.restore_table.rows import Destination, RestoreTable, Why
from ckpt_viz.matching.restore_table.text import CheckText, FirstWords, following

_MOST_NOTES = 8
_IN_PROGRAM = (Destination.INTO, Destination.HERE, Destination.RESHAPES)
# What rows and the sentence about changes tell.
_IN_TABLE = CHANGES | {
    *(Kind.MISPLACED, Kind.SWAPPED, Kind.KEY_MISSING, Kind.PARTIAL_OVERWRITE, Kind.SHAPE),
    *(Kind.DTYPE, Kind.UNRESOLVED, Kind.UNMATCHED),
}


def table_of_run(
    run: DryRun, saved: Graph, findings: Iterable[Finding], values: FixedValues
) -> RestoreTable:
    """Return the table of a dry run, and of the fix that does this with the values of `saved`."""
    return table_of(saved, run.live, _call(run, saved, findings), values)


def table_without_fix(run: DryRun, findings: Iterable[Finding]) -> RestoreTable:
    """Return the table of a dry run that has no fix."""
    saved = run.saved or named_in(run)
    values = _without_fix(run, saved)
    return table_of(saved, run.live, _call(run, saved, findings), values)


def _call(run: DryRun, saved: Graph | None, findings: Iterable[Finding]) -> CheckedCall:
    every = [part for finding in findings for part in finding.all()]
    waiting = frozenset() if saved is None else frozenset(waiting_in(saved, every))
    outcome = run.outcome
    reshaped = frozenset(taken.obj for taken in other_shapes(outcome))
    assigned, late = (
        [*_assigned(steps, saved)]
        for steps in (() if run.trace is None else run.trace.steps, outcome.late)
    )
    return CheckedCall(assigned, waiting, outcome.unknown, outcome.unreached, late, reshaped)


def _without_fix(run: DryRun, saved: Graph | None) -> FixedValues:
    """Return what belongs together, for a check that has no fix."""
    if saved is None:
        return FixedValues(is_there=False)
    mapping = run.mapping_of(saved)
    misfits = frozenset(pair.node for pair in mapping.misfits)
    return FixedValues(others=(*mapping.pairs, *mapping.misfits), misfits=misfits, is_there=False)


def _assigned(steps: Iterable[Step], saved: Graph | None) -> Iterator[Step]:
    """Yield the steps that assign; a restore by names has names in place of saved nodes."""
    nodes: Mapping[str, int] = {} if saved is None else nodes_by_name(saved)
    for step in steps:
        if step.action in (Action.RESTORE, Action.FAIL):
            yield step if step.node is not None else step._replace(node=nodes.get(step.name))


def words_of_check(
    run: DryRun,
    table: RestoreTable,
    findings: Sequence[Finding],
    changes: Sequence[Change] | None,
    notes: Sequence[str],
) -> CheckText:
    """Return the sentences above and below the table; `changes` is None without a fix."""
    is_cut_short = any(row.plain.would is not None for row in table.rows)
    empty = _emptiness(run, findings)
    lost = [] if empty else [finding for finding in findings if _loses_values(run, finding)]
    is_told = len(lost) == 1
    others = [finding for finding in findings if finding not in lost] if is_told else findings
    beside = [*_beside(others, run, table, has_fix=changes is not None)]
    return CheckText(
        title=f"{_title(run)} → {run.live.title}",
        first=empty or _lost(run, lost),
        changes="" if empty else sentence_of_check(table, findings, changes),
        verdict=_verdict(run, table, is_told=is_without_problems(table, findings)),
        call=f"{run.method}(){' to the end' * is_cut_short}",
        notes=[*beside[:_MOST_NOTES], *_left_out(beside), *_to_build(table, findings), *notes],
        following=[*following(table, run.wording, raises=run.verdicts.restore is not None)],
    )


def _left_out(notes: Sequence[str]) -> Iterator[str]:
    left = len(notes) - _MOST_NOTES
    if left > 0:
        yield f"{count(left, 'more note')} {'is' if left == 1 else 'are'} in the details."


def _to_build(table: RestoreTable, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield that an optimizer must be built, unless a finding tells it."""
    number = sum(row.why_left is Why.NOT_BUILT for row in table.rows)
    every = {part.kind for finding in findings for part in finding.all()}
    if number and every.isdisjoint((Kind.DEFERRED, Kind.NOT_BUILT, Kind.OPTIMIZER_MISSING)):
        stay = f"{count(number, 'value')} {'stays' if number == 1 else 'stay'}"
        yield f"Build the optimizer first, then check and fix again: {stay} in the file until then."


def _title(run: DryRun) -> str:
    if run.saved is not None:
        return prefix_of(run.saved)
    return run.reading or "no checkpoint"


def _verdict(run: DryRun, table: RestoreTable, *, is_told: bool) -> str:
    """Return what the call does, unless a sentence tells it, and which asserts fail."""
    (call, raised), *asserts = run.outcome.calls(run.method)
    if raised is not None:
        astray = sum(row.plain.place in _IN_PROGRAM and row.saved is not None for row in table.rows)
        after = f", after {count(astray, 'value')}" if astray else ""
        first = f"{call} raises {raised.type}{after}."
    elif is_told:
        first = ""
    else:
        restored = _number(table.restored, table.in_program)
        first = f"{call} restores {restored}{_astray(table)}{_reshaped(table)}."
    failing = [name for name, error in asserts if error is not None]
    if not asserts:
        return first
    every = "All asserts" if len(asserts) > 1 else asserts[0][0]
    if not failing:
        return f"{first} {every} {'pass' if len(asserts) > 1 else 'passes'}.".strip()
    if len(failing) == len(asserts):
        return f"{first} {every} {'fail' if len(asserts) > 1 else 'fails'}."
    return f"{first} {listed(failing)} {'fails' if len(failing) == 1 else 'fail'}."


def _number(part: int, whole: int) -> str:
    if part == whole > 1:
        return f"all {count(whole, 'value')}"
    return f"{part or 'none'} of {count(whole, 'value')}" if whole else "nothing"


def _astray(table: RestoreTable) -> str:
    number = sum(
        row.plain.place is Destination.INTO and row.saved is not None for row in table.rows
    )
    return f", and puts {count(number, 'value')} into other places" if number else ""


def _reshaped(table: RestoreTable) -> str:
    number = sum(row.plain.place is Destination.RESHAPES for row in table.rows)
    return f", and gives {count(number, 'variable')} a wrong shape" if number else ""


def _emptiness(run: DryRun, findings: Iterable[Finding]) -> FirstWords | None:
    """Return that the checkpoint holds no values, unless a finding says it of its objects."""
    is_said = any(finding.kind is Kind.NOT_BUILT for finding in findings)
    says = "" if run.saved is None or is_said else emptiness(run.saved, "The checkpoint")
    return FirstWords(says, BUILD_AND_SAVE) if says else None


def _loses_values(run: DryRun, finding: Finding) -> bool:
    """Return whether a finding is about an attribute with which each save loses trained values."""
    is_warning = finding.kind is Kind.NOT_TRACKED and finding.severity is Severity.WARNING
    return is_warning and any(loses_values(run.live.nodes[obj]) for obj in finding.objects)


def _lost(run: DryRun, findings: Sequence[Finding]) -> FirstWords | None:
    """Return how many trained variables no checkpoint of the program holds.

    If this one holds some, in the list of an optimizer, the finding tells it.
    """
    if any(finding.nodes for finding in findings):
        first, *more = findings
        return None if more else FirstWords(first.why, first.remedy.in_words(run.wording))
    holders = dict.fromkeys(obj for finding in findings for obj in finding.objects)
    lost = [(obj, n) for obj in holders for n in run.live.nodes[obj].not_saved if n.is_lost]
    if not lost:
        return None
    place = run.live.names.child_place(lost[0][0], lost[0][1].name)
    says = in_no_checkpoint(place, [note for _, note in lost])
    return FirstWords(says, findings[0].remedy.in_words(run.wording))


def _beside(
    findings: Iterable[Finding], run: DryRun, table: RestoreTable, *, has_fix: bool
) -> Iterator[str]:
    """Yield what no row tells, with the next step; without a fix, all that is wrong."""
    loud = [row for row in table.rows if not row.is_quiet]
    nodes, objects = {row.saved for row in loud}, {row.live for row in loud}
    reshaped = {row.live for row in loud if row.plain.place is Destination.RESHAPES}
    notes: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        is_in_row = not nodes.isdisjoint(finding.nodes) or not objects.isdisjoint(finding.objects)
        is_in_verdict = finding.kind is Kind.PARTIAL_OVERWRITE
        is_in_table = is_in_verdict or (finding.kind in _IN_TABLE and is_in_row)
        is_told = finding.change is not None or is_in_table
        is_in_sentence = finding.kind is Kind.SHAPE and not reshaped.isdisjoint(finding.objects)
        if not (is_told and (has_fix or is_in_sentence)):
            remedy = finding.remedy.in_words(run.wording)
            sentences = f"{readable(finding.why)} {readable(remedy)}".strip()
            is_nameless = finding.kind in (Kind.SHAPE, Kind.DTYPE) and not has_fix
            places = notes.setdefault((SEVERITIES[finding.severity].glyph, sentences), [])
            places += map(run.live.names.place, finding.objects if is_nameless else ())
    for (glyph, sentences), places in notes.items():
        which = f"{readable(listed(places))}: " if places else ""
        yield f"{glyph} {which}{sentences}"
