"""A dry run laid over one graph: the program, plus the nodes that only the checkpoint has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.answers.dry_runs.dry_run import DryRun, convert_in_words
from ckpt_viz.answers.dry_runs.failures import mapping_in
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.answers.table.marks import RowMarks, marks_by_name
from ckpt_viz.files.values.verifying import Verification
from ckpt_viz.graphs.layers.parameters import other_elements
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.merge import merge
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.overlay import Comparison, Overlay, Problem, Verdict
from ckpt_viz.graphs.overlay.remedy import names_guesses
from ckpt_viz.ground.text import count, readable, size_words
from ckpt_viz.matching.correspondence.guesses import GuessedPart, guessed_parts, parts_to_copy
from ckpt_viz.matching.engines.trace import Action, Cause, Trace

_NOT_READ = "Values were not read: damaged bytes raise DataLossError; {} tests them."


def overlay_of(
    run: DryRun,
    causes_found: Sequence[Finding],
    draw_table: Callable[[Overlay], ComparisonTable],
    parts: Mapping[int, int],
) -> Overlay:
    """Return the dry run and its findings as an overlay.

    `parts` has for saved nodes the node in the merged graph.
    """
    size = len(run.live.nodes)
    findings = [finding for cause in causes_found for finding in cause.all()]
    trace = run.by_objects
    if trace is not None and run.saved is not None:
        merged = merge(run.live, run.saved, parts)
        graph, of_saved = merged.graph, merged.of_other
        saved_elements = other_elements(run.live.nodes, run.saved.nodes, of_saved)
        sides = _names_of(run.live, run.saved, trace, of_saved)
        marks = RowMarks(run, trace, run.saved, of_saved, sides, findings).marks()
    else:
        graph, of_saved, saved_elements = run.live, {}, {}
        sides = SideNames.of_one(run.live)
        marks = marks_by_name(run)
    guesses = guesses_of(run, causes_found)
    problems = list(_problems(causes_found, of_saved, sides))
    return Overlay(
        Comparison.CHECK,
        graph,
        base_size=size,
        marks=marks,
        problems=problems,
        verdicts=[_verdict(*call) for call in run.outcome.calls(run.method)],
        headline=_headline(run),
        draw_table=draw_table,
        notes=untested(run),
        saved_elements=saved_elements,
        wording=run.wording,
        guesses=[part.saved for part in guesses],
        sides=sides,
        has_steps=run.outcome.has_steps,
        can_change=run.can_change,
    )


def _headline(run: DryRun) -> str:
    """Return what the call does in a few words: `assert_consumed() would fail`."""
    verdicts, raised = run.verdicts, run.trace.raised if run.trace is not None else None
    if raised is not None and raised.cause is Cause.ABORT:
        return f"{run.method}() would end the process"
    if verdicts.restore is not None:
        return f"{run.method}() would raise {verdicts.restore.type}"
    if run.outcome.later is not None:
        return f"the initializers would raise {run.outcome.later.type}"
    if run.outcome.effect:
        return f"{run.method}() {run.outcome.effect}"
    return f"assert_consumed() would {'pass' if verdicts.consumed is None else 'fail'}"


_LOAD_WEIGHTS = "load_weights"
_OF_TFJS = (
    "Keras opens no model of TensorFlow.js: this is what load_weights would do by names with the "
    "same weights in a file of Keras."
)


def _names_of(live: Graph, saved: Graph, trace: Trace, of_saved: Mapping[int, int]) -> SideNames:
    """Return the names on both sides; of two nodes of one object, those of the one it reads."""
    sources = {obj: n for obj, n in trace.source_of.items() if of_saved[n] == obj}
    return SideNames(live, saved, {place: node for node, place in of_saved.items()} | sources)


def guesses_of(run: DryRun, causes_found: Iterable[Finding]) -> Sequence[GuessedPart]:
    """Return what the fix asks; of values by name only if a remedy asks about them."""
    is_asked = any(names_guesses(finding.remedy) for c in causes_found for finding in c.all())
    mapping = mapping_in(run) if run.saved is not None or is_asked else None
    return () if mapping is None else (*guessed_parts(mapping), *parts_to_copy(mapping))


def untested(run: DryRun) -> tuple[str, ...]:
    """Return what a check leaves open about the values that the restore reads, if it passes."""
    if run.method == _LOAD_WEIGHTS and run.saved is not None and run.saved.is_of_tfjs:
        return (f"{_OF_TFJS} {convert_in_words(run.reading or '')}",)
    if run.tested is not None:
        return tuple(_tested(run.tested.verification))
    if not run.outcome.has_checksums:
        return ()
    steps = run.trace.steps if run.trace is not None else ()
    reads = any(step.action is Action.RESTORE and step.names for step in steps)
    has_no_bytes = run.saved is not None and run.saved.is_unwritten  # none to damage
    would_read = reads and not (run.has_happened or has_no_bytes) and run.verdicts.restore is None
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


def _verdict(name: str, raised: Raised | None) -> Verdict:
    message = "" if raised is None else readable(f"{raised.type}: {raised.message}")
    return Verdict(name, raised is None, message)


def _problems(
    causes_found: Iterable[Finding],
    of_saved: Mapping[int, int],
    sides: SideNames,
) -> Iterator[Problem]:
    """Yield the findings as problems, each before those that it explains."""
    place = 0
    for cause in causes_found:
        lead = None if cause.change is None else place
        for finding in cause.all():
            problem = _problem(finding, of_saved, sides)
            yield replace(problem, lead=lead)
            place += 1


def _problem(finding: Finding, of_saved: Mapping[int, int], sides: SideNames) -> Problem:
    objects = [obj for obj in finding.objects if obj < len(sides.base.nodes)]
    nodes = finding.nodes if of_saved else ()  # of names, no node has a place among the objects
    places = [*objects, *(of_saved[node] for node in nodes if node in of_saved)]
    return Problem(
        finding.severity,
        finding.kind.value,
        tuple(dict.fromkeys(places)),
        finding.saved and readable(finding.saved),
        finding.live and readable(finding.live),
        readable(finding.why),
        finding.remedy,
        place=sides.place_of_both((finding.saved, nodes), (finding.live, objects)),
    )
