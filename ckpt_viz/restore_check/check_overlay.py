"""A dry run laid over one graph: the program, plus the nodes that only the checkpoint has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ckpt_viz.changes.kind import TITLES, Kind
from ckpt_viz.correspondence.guesses import GuessedPart, guessed_parts
from ckpt_viz.correspondence.pairs import is_guess
from ckpt_viz.matching.engine import has_values
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Action, Cause, Failure, Trace
from ckpt_viz.object_graph.causes import causes
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.merge import merge
from ckpt_viz.object_graph.names import noun_for
from ckpt_viz.object_graph.nodes import Node, has_value
from ckpt_viz.object_graph.overlay import (
    Comparison,
    GuessedPlace,
    Mark,
    Overlay,
    Problem,
    Severity,
    State,
    Verdict,
)
from ckpt_viz.object_graph.parameters import other_elements
from ckpt_viz.object_graph.remedy import Fix, HowFixed, names_guesses
from ckpt_viz.object_graph.side_names import SideNames
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import mapping_in
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.verdicts import Raised
from ckpt_viz.text import count, readable, size_words
from ckpt_viz.values.verifying import Verification

_PLAIN = Mark(State.PLAIN)
_NOT_READ = "Values were not read: damaged bytes raise DataLossError; {} tests them."
_MADE = "made by the restore"
_FAILED = {Cause.SHAPE: State.SHAPE, Cause.DTYPE: State.DTYPE}
# Problems of restored values, whether or not an assert fails for other values.
_WRONG = {Kind.MISPLACED, Kind.SWAPPED, Kind.UNTIED}


def overlay_of(run: DryRun, causes_found: Sequence[Finding]) -> Overlay:
    """Return the dry run and its findings as an overlay."""
    size = len(run.live.nodes)
    findings = [finding for cause in causes_found for finding in cause.all()]
    if isinstance(run.trace, Trace) and run.saved is not None:
        in_graph = {node: obj for node, obj in run.trace.bound.items() if obj < size}
        merged = merge(run.live, run.saved, in_graph)
        graph, of_saved = merged.graph, merged.of_other
        saved_elements = other_elements(run.live.nodes, run.saved.nodes, of_saved)
        sides = _names_of(run.live, run.saved, run.trace, of_saved)
        marks = _marks(run, run.trace, run.saved, of_saved, sides, findings)
    else:
        graph, of_saved, saved_elements = run.live, {}, {}
        sides = SideNames.of_one(run.live)
        marks = _marks_by_name(run)
    parts = _guessed_parts(run, findings)
    problems = list(_problems(causes_found, of_saved, sides, parts))
    paired = of_saved.values() if of_saved else _bound_by_name(run)
    return Overlay(
        Comparison.CHECK,
        graph,
        base_size=size,
        marks=marks,
        problems=problems,
        verdicts=_verdicts(run),
        headline=headline(run, causes_found),
        notes=untested(run),
        causes=causes(graph, marks, problems, TITLES, sides),
        paired=frozenset(node for node in paired if node < size),
        saved_elements=saved_elements,
        wording=run.wording,
        guesses=[GuessedPlace(part.saved, part.live) for part in parts],
        sides=sides,
    )


def _names_of(live: Graph, saved: Graph, trace: Trace, of_saved: Mapping[int, int]) -> SideNames:
    """Return the names on both sides; of two nodes of one object, those of the one it reads."""
    sources = {obj: node for obj, node in trace.source_of.items() if obj < len(live.nodes)}
    return SideNames(live, saved, {place: node for node, place in of_saved.items()} | sources)


def _guessed_parts(run: DryRun, findings: Iterable[Finding]) -> Sequence[GuessedPart]:
    """Return the guesses of the fix, if a remedy asks whether they are right."""
    if not any(names_guesses(finding.remedy) for finding in findings):
        return ()
    mapping = mapping_in(run)
    return () if mapping is None else guessed_parts(mapping)


def untested(run: DryRun) -> tuple[str, ...]:
    """Return what a check leaves open about the values that the restore reads, if it passes."""
    if run.tested is not None:
        return tuple(_tested(run.tested.verification))
    steps = run.trace.steps if run.trace is not None else ()
    reads = any(step.action is Action.RESTORE and step.names for step in steps)
    is_held = run.saved is not None and run.saved.is_held  # a snapshot has no bytes to damage
    would_read = reads and not (run.has_happened or is_held) and run.verdicts.restore is None
    return (_NOT_READ.format(run.wording.verify),) if would_read else ()


def _tested(verification: Verification) -> Iterator[str]:
    """Yield which of the bytes were tested; findings tell why the damaged ones cannot be read."""
    values = f"{count(verification.tensors, 'value')} ({size_words(verification.nbytes)})"
    if verification:
        number = len(verification)
        is_are = "is" if number == 1 else "are"
        yield f"The restore reads {values}: {number} of them {is_are} damaged."
    elif verification.tensors:
        yield f"The restore reads {values}: all match their checksums."
    for tensor in verification.untested:
        yield f"Not tested: {tensor.why}."


def _verdicts(run: DryRun) -> tuple[Verdict, ...]:
    verdicts = run.verdicts
    return (
        _verdict(f"{run.method}()", verdicts.restore),
        _verdict("assert_consumed()", verdicts.consumed),
        _verdict("assert_existing_objects_matched()", verdicts.existing),
        _verdict("assert_nontrivial_match()", verdicts.nontrivial),
    )


def _verdict(name: str, raised: Raised | None) -> Verdict:
    message = "" if raised is None else readable(f"{raised.type}: {raised.message}")
    return Verdict(name, raised is None, message)


def headline(run: DryRun, findings: Sequence[Finding]) -> str:
    """Return the summary in one line.

    `assert_consumed() would fail: 2 variables not used, 1 of another shape`.
    """
    verdicts = run.verdicts
    waiting = len(_waiting_nodes(run, findings))
    steps = run.trace.steps if run.trace is not None else ()
    failed = Counter(step.failure.cause for step in steps if step.failure is not None)
    shapes, dtypes = failed.pop(Cause.SHAPE, 0), failed.pop(Cause.DTYPE, 0)
    damaged = failed.pop(Cause.DAMAGED, 0) + failed.pop(Cause.UNREADABLE, 0)
    counts = (
        (len(verdicts.unresolved) - waiting, "not used"),
        (len(verdicts.unmatched), "not in checkpoint"),
        (shapes, "of another shape"),
        (dtypes, "of another dtype"),
        (damaged, "damaged"),
        (failed.total(), "failing"),
        (waiting, "waiting"),
    )
    known = [(number, words) for number, words in counts if number]
    noun = noun_for(_counted_nodes(run))
    parts = [f"{count(number, noun)} {words}" for number, words in known[:1]]
    parts += [f"{number} {words}" for number, words in known[1:]]
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    parts += [count(warnings, "warning")] if warnings else []
    raised = run.trace.raised if run.trace is not None else None
    if raised is not None and raised.cause is Cause.ABORT:
        verdict = f"{run.method}() would end the process"
    elif verdicts.restore is not None:
        verdict = f"{run.method}() would raise {verdicts.restore.type}"
    elif verdicts.consumed is not None:
        verdict = "assert_consumed() would fail"
    else:
        verdict = "assert_consumed() would pass"
    return f"{verdict}: {', '.join(parts)}" if parts else verdict


def _counted_nodes(run: DryRun) -> Iterator[Node]:
    """Yield the nodes that the headline counts."""
    live = run.live.nodes
    steps = run.trace.steps if run.trace is not None else ()
    failed = (step.obj for step in steps if step.failure is not None)
    for obj in (*run.verdicts.unmatched, *failed):
        if obj is not None and obj < len(live):
            yield live[obj]
    if run.saved is not None:
        yield from (run.saved.nodes[node] for node in run.verdicts.unresolved)


def _waiting_nodes(run: DryRun, findings: Iterable[Finding]) -> set[int]:
    if run.saved is None:
        return set()
    return _waiting(run.saved, findings) & set(run.verdicts.unresolved)


def _marks(
    run: DryRun,
    trace: Trace,
    saved: Graph,
    of_saved: Mapping[int, int],
    sides: SideNames,
    findings: Sequence[Finding],
) -> list[Mark]:
    size = len(run.live.nodes)
    marks = [_PLAIN] * (1 + max((size - 1, *of_saved.values())))
    for place in of_saved.values():
        if place < size:
            marks[place] = Mark(State.MATCHED, partner=sides.readable_in_other.get(place, ""))
    for obj in run.verdicts.unmatched:
        if obj < size:
            marks[obj] = Mark(State.LIVE_ONLY)
    valued = has_values(saved.nodes)
    waiting = _waiting(saved, findings)
    for node, place in of_saved.items():
        if place >= size and valued[node]:
            marks[place] = _ghost(node, trace, waiting)
    _mark_failures(trace, of_saved, size, marks)
    for finding in chain.from_iterable((finding, *finding.explains) for finding in findings):
        if finding.severity is Severity.WARNING or finding.kind in _WRONG:
            for obj in finding.objects:
                if obj < size and marks[obj].state in (State.MATCHED, State.PLAIN):
                    marks[obj] = replace(marks[obj], state=State.WARNED, detail=finding.kind.value)
        elif finding.kind is Kind.UNUSED_ATTRIBUTE:
            for obj in finding.objects:
                if obj < size:
                    marks[obj] = replace(
                        marks[obj], state=State.FAILED, detail="attribute not used"
                    )
        if finding.change is not None:
            _mark_astray(run, trace, finding, marks)
    _link_places(run, of_saved, size, marks)
    return marks


def _mark_astray(run: DryRun, trace: Trace, finding: Finding, marks: list[Mark]) -> None:
    """Mark the objects that get a value of a change which belongs elsewhere, or nowhere."""
    sure = (pair for pair in run.mapping.pairs if not is_guess(pair))
    pairs = {(pair.node, pair.obj) for pair in sure}
    taken = {trace.source_of[obj] for obj in finding.objects if obj in trace.source_of}
    for node in trace.restored.intersection(taken.union(finding.nodes)):
        obj = trace.bound[node]
        is_wrong = obj < len(run.live.nodes) and (node, obj) not in pairs
        if is_wrong and marks[obj].state is State.MATCHED:
            marks[obj] = replace(marks[obj], state=State.WARNED, detail=Kind.MISPLACED.value)


def _link_places(run: DryRun, of_saved: Mapping[int, int], size: int, marks: list[Mark]) -> None:
    """Link what the restore leaves aside to the objects that it belongs to."""
    left_aside = {node: place for node, place in of_saved.items() if place >= size}
    for pair in run.mapping.parts.values() if left_aside else ():
        place = left_aside.get(pair.node)
        if place is not None and pair.obj < size and not is_guess(pair):
            marks[pair.obj] = replace(marks[pair.obj], other_place=place)
            marks[place] = replace(marks[place], other_place=pair.obj)


def _ghost(node: int, trace: Trace, waiting: set[int]) -> Mark:
    if node in trace.bound:
        return Mark(State.MATCHED, _MADE)
    return Mark(State.DEFERRED if node in waiting else State.SAVED_ONLY)


def _waiting(saved: Graph, findings: Iterable[Finding]) -> set[int]:
    """Return the saved nodes that wait for something to be built, with all nodes below them."""
    waiting = {n for f in findings if f.severity is Severity.DEFERRED for n in f.nodes}
    stack = list(waiting)
    while stack:
        for child in saved.nodes[stack.pop()].children:
            if child.node_id not in waiting:
                waiting.add(child.node_id)
                stack.append(child.node_id)
    return waiting


def _mark_failures(trace: Trace, of_saved: Mapping[int, int], size: int, marks: list[Mark]) -> None:
    for step in trace.steps:
        if step.action is not Action.FAIL or step.failure is None:
            continue
        place = step.obj if step.obj is not None and step.obj < size else None
        if place is None and step.node is not None:
            place = of_saved.get(step.node)
        if place is not None:
            state = _FAILED.get(step.failure.cause, State.FAILED)
            marks[place] = Mark(state, _detail(step.failure), marks[place].partner)


def _detail(failure: Failure) -> str:
    if failure.actual and failure.expected:
        return f"{failure.actual} ≠ {failure.expected}"
    return failure.type


def _marks_by_name(run: DryRun) -> list[Mark]:
    marks = [_PLAIN] * len(run.live.nodes)
    if isinstance(run.trace, NameTrace):
        for name, objects in run.trace.bound.items():
            for obj in objects:
                if obj < len(marks):
                    marks[obj] = Mark(State.MATCHED, partner=name)
        for step in run.trace.steps:
            if step.failure is not None and step.obj is not None and step.obj < len(marks):
                state = _FAILED.get(step.failure.cause, State.FAILED)
                marks[step.obj] = Mark(state, _detail(step.failure))
    for obj in run.verdicts.unmatched:
        if obj < len(marks):
            marks[obj] = Mark(State.LIVE_ONLY)
    return marks


def _bound_by_name(run: DryRun) -> set[int]:
    """Return the objects that a name-based restore gives a value."""
    trace = run.trace
    return set().union(*trace.bound.values()) if isinstance(trace, NameTrace) else set()


def _problems(
    causes_found: Iterable[Finding],
    of_saved: Mapping[int, int],
    sides: SideNames,
    parts: Sequence[GuessedPart],
) -> Iterator[Problem]:
    """Yield the findings as problems, each before those that it explains."""
    place = 0
    for cause in causes_found:
        lead = None if cause.change is None else place
        for finding in cause.all():
            problem, guesses = _problem(finding, of_saved, sides), tuple(_guesses(finding, parts))
            yield replace(problem, lead=lead, guesses=guesses)
            place += 1


def _guesses(finding: Finding, parts: Sequence[GuessedPart]) -> Iterator[int]:
    """Yield the places of the guesses that a finding's remedy names: of its values, or all."""
    if names_guesses(finding.remedy):
        of_values = [n for n, part in enumerate(parts) if not part.nodes.isdisjoint(finding.nodes)]
        by_places = isinstance(finding.remedy, Fix) and finding.remedy.how is HowFixed.BY_PLACES
        yield from of_values if by_places else range(len(parts))


def _problem(finding: Finding, of_saved: Mapping[int, int], sides: SideNames) -> Problem:
    objects = [obj for obj in finding.objects if obj < len(sides.base.nodes)]
    places = [*objects]
    places += [of_saved[node] for node in finding.nodes if node in of_saved]
    return Problem(
        finding.severity,
        finding.kind.value,
        tuple(dict.fromkeys(places)),
        finding.saved and readable(finding.saved),
        finding.live and readable(finding.live),
        readable(finding.why),
        finding.remedy,
        place=sides.place_of_both((finding.saved, finding.nodes), (finding.live, objects)),
        values=_values(finding, objects, sides),
    )


def _values(finding: Finding, objects: Sequence[int], sides: SideNames) -> int:
    """Return how many values a finding is about; one on both sides counts once."""
    if finding.change is not None:
        return finding.change.values
    saved, live = sides.other.nodes, sides.base.nodes
    return max(
        sum(has_value(saved[node]) for node in set(finding.nodes)),
        sum(has_value(live[obj]) for obj in set(objects)),
    )
