"""What a warm start does without a message, and why it raises."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from ckpt_viz.changes.kind import Kind
from ckpt_viz.matching.initializers import Initializer, MappedScope, MapProblem
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Cause, Failure
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice, Remedy
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import kind_of, remedy_for, why
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.rules.by_name import (
    FormerNames,
    examples,
    missing,
    silently_reshaped,
)
from ckpt_viz.restore_check.warm_start_dry_run import WarmOutcome
from ckpt_viz.saved.object_based import OBJECT_GRAPH_KEY
from ckpt_viz.text import count, listed

_MAX_COMPARED = 10_000  # pairs of names


def warm_starts(run: DryRun, outcome: WarmOutcome, trace: NameTrace) -> Iterator[Finding]:
    """Find why the call or the initializers raise, and what passes in silence."""
    yield from _failures(run, outcome)
    read = {each.tensor for each in outcome.warm.initializers} | {OBJECT_GRAPH_KEY}
    free = [name for name in outcome.tensors if name not in read]
    former = FormerNames(run, trace, free)
    yield from missing(run, trace, former)
    yield from _partly_replaced(run, outcome)
    for scope in outcome.warm.scopes:
        yield from _of_scope(run, outcome, scope)
    for key in outcome.warm.empty_lists:
        yield _silent(f"The list for {key!r} has no variable", run, "Pass the partitions.")
    yield from silently_reshaped(run, trace)
    yield from _replaced_twice(run, outcome)
    yield from _by_vocabulary(run, outcome)
    yield from _left_out(run, outcome, free)
    free = [name for name in free if name not in former.known]
    if free:
        yield _finding(
            run,
            Severity.INFO,
            Kind.LEFTOVER,
            f"No variable takes the values of {count(len(free), 'name')} in the file: "
            f"{examples(free)}.",
            Advice("Add these names to the map if the program needs them."),
            saved=min(free),
        )


def _finding(
    run: DryRun,
    severity: Severity,
    kind: Kind,
    sentence: str,
    remedy: Remedy,
    *,
    saved: str | None = None,
    objects: Iterable[int] = (),
) -> Finding:
    on_live = tuple(dict.fromkeys(objects))
    live = run.live_name(on_live[0]) if on_live else None
    return Finding(severity, kind, saved, live, sentence, remedy, (), on_live)


def _silent(beginning: str, run: DryRun, advice: str, *, saved: str | None = None) -> Finding:
    sentence = f"{beginning}: {run.method}() assigns nothing, and raises nothing."
    return _finding(run, Severity.WARNING, Kind.UNRESOLVED, sentence, Advice(advice), saved=saved)


# --- what raises


def _failures(run: DryRun, outcome: WarmOutcome) -> Iterator[Finding]:
    groups: dict[object, list[Initializer]] = {}
    for place, each in enumerate(outcome.warm.initializers):
        if each.failure is None:
            continue
        if each.failure.cause is Cause.KEY_MISSING:
            if each.variable is None:  # else `missing` says what its former name may have been
                groups[place] = [each]
            continue
        is_alone = each.problem in (None, MapProblem.NOT_IN_STORE)
        groups.setdefault(place if is_alone else each.problem, []).append(each)
    for group in groups.values():
        yield _failure(run, outcome, group)


def _failure(run: DryRun, outcome: WarmOutcome, group: Sequence[Initializer]) -> Finding:
    first, failure = group[0], group[0].failure
    assert failure is not None
    objects = _nodes_of(outcome, group)
    if first.problem is not None:
        sentence, remedy = _said_of(run, outcome, group)
        kind = _KINDS.get(first.problem, Kind.UNKNOWABLE)
        return _finding(
            run,
            Severity.ERROR,
            kind,
            f"{sentence}: {failure.type}.",
            Advice(remedy),
            saved=first.tensor or None,
            objects=objects,
        )
    sentence = f"The file has no {first.tensor!r}." if _is_missing(failure) else _why(failure)
    remedy_of_cause = (
        Advice("Write the name in the file as the key.")
        if _is_missing(failure)
        else remedy_for(run, failure)
    )
    severity = Severity.FAIL if failure.in_session else Severity.ERROR
    return _finding(
        run,
        severity,
        kind_of(failure),
        sentence,
        remedy_of_cause,
        saved=first.tensor,
        objects=objects,
    )


def _is_missing(failure: Failure) -> bool:
    return failure.cause is Cause.KEY_MISSING


def _why(failure: Failure) -> str:
    sentence = why(replace(failure, in_session=False))
    if not failure.in_session:
        return sentence
    return f"{sentence} The call returns, and the initializer raises {failure.type}."


def _nodes_of(outcome: WarmOutcome, group: Iterable[Initializer]) -> list[int]:
    return [outcome.node_of[each.variable] for each in group if each.variable is not None]


_Said = tuple[str, str]


def _said_of(run: DryRun, outcome: WarmOutcome, group: Sequence[Initializer]) -> _Said:
    problem, failure = group[0].problem, group[0].failure
    assert problem is not None and failure is not None
    if problem is MapProblem.NOT_IN_STORE:
        return _not_in_store(outcome, group[0].tensor, failure.actual)
    words = {
        "method": run.method,
        "keys": _keys(group),
        "variables": count(len(group), "variable is", "variables are"),
        "actual": failure.actual,
    }
    sentence, remedy = _PROBLEMS[problem]
    return sentence.format(**words), remedy.format(**words)


def _not_in_store(outcome: WarmOutcome, key: str, value: str) -> _Said:
    sentence = f"{value!r} is no name of a variable made by get_variable, and {key!r} is no scope"
    scope = f"{value.rstrip('/')}/"
    if scope in outcome.scopes_in_store:
        return sentence, f"Write {key + '/'!r} and {scope!r} for scopes."
    if value in outcome.full_names:
        return sentence, "Pass the variable itself: get_variable did not make it."
    return sentence, _instead(outcome, value, outcome.store) or _PASS_ITSELF


_PASS_ITSELF = "Pass the variable itself, or the name of one that get_variable made."


def _instead(outcome: WarmOutcome, name: str, names: Collection[str]) -> str:
    """Return an advice to write a similar name; "" if none is similar, or if there are many."""
    if len(names) * outcome.unplaced > _MAX_COMPARED:
        return ""
    alike = get_close_matches(name[:200], sorted(names), n=1, cutoff=0.6)
    return f"Write {alike[0]!r}, if that is the one." if alike else ""


def _keys(group: Sequence[Initializer]) -> str:
    return listed([repr(key) for key in dict.fromkeys(each.tensor for each in group)])


# A sentence without its end, and an advice; `keys` are those of the map.
_PROBLEMS: Mapping[MapProblem, _Said] = {
    MapProblem.NO_PARTITIONS: (
        "TensorFlow cuts the name of a variable at '/part_', and finds no {actual!r}",
        "Pass the variables of this scope themselves.",
    ),
    MapProblem.WHOLE_IN_LIST: (
        "The list for {keys} has a variable that is not a partition",
        "Pass the variable without a list.",
    ),
    MapProblem.OTHER_PARTITIONS: (
        "The list for {keys} has partitions of several variables",
        "Pass the partitions of one variable in each list.",
    ),
    MapProblem.PARTITIONED: (
        "{method} takes no PartitionedVariable, as {keys} has it",
        "Pass list(variable), its partitions.",
    ),
    MapProblem.OTHER_CLASS: (
        "{method} takes only variables of TensorFlow; {keys} has one of another class",
        "Pass variable.value of a Keras variable; restore others with tf.train.Checkpoint.",
    ),
    MapProblem.OTHER_GRAPH: (
        "{variables} not of the default graph, to which the call adds operations",
        "Call {method}, and this check, inside as_default() of the variables' graph.",
    ),
    MapProblem.FINALIZED: (
        "The graph is finalized, and {method} adds operations",
        "Call {method} before the graph is finalized.",
    ),
    MapProblem.UNUSED_NAME: (
        "The settings name variables that the warm start does not take",
        "Leave these names out, or correct them.",
    ),
}
_KINDS = {MapProblem.NOT_IN_STORE: Kind.UNRESOLVED, MapProblem.UNUSED_NAME: Kind.UNRESOLVED}


def _partly_replaced(run: DryRun, outcome: WarmOutcome) -> Iterator[Finding]:
    before = _nodes_of(outcome, outcome.warm.before_error())
    if outcome.warm.raised is None or not before:
        return
    number = len(set(before))
    done = (
        f"assigned {count(number, 'value')}"
        if outcome.is_eager
        else f"replaced {count(number, 'initializer')}"
    )
    yield _finding(
        run,
        Severity.WARNING,  # the cause comes first
        Kind.PARTIAL_OVERWRITE,
        f"The call raises after it has {done}.",
        Advice("Fix the cause, then make the variables again: some are already changed."),
        objects=before,
    )


# --- what passes in silence


def _of_scope(run: DryRun, outcome: WarmOutcome, scope: MappedScope) -> Iterator[Finding]:
    value = scope.value
    if not scope.names:
        beginning = f"Scope {value!r}: the program has no variable in it that get_variable made"
        yield _silent(beginning, run, _advice_for(outcome, scope), saved=scope.key)
        return
    if value.endswith("/"):
        return
    instead = f"the scope {scope.scope + '/'!r}" if scope.scope else "all variables"
    cut = "" if scope.scope else ", each without the first letter of its name"
    slash = value + "/"
    yield _finding(
        run,
        Severity.WARNING,
        Kind.UNRESOLVED,
        f"{value!r} is no name of a variable: TensorFlow takes {instead} in its place{cut}.",
        Advice(f"Write {slash!r} for a scope."),
        saved=scope.key,
    )


def _advice_for(outcome: WarmOutcome, scope: MappedScope) -> str:
    is_there = f"{scope.scope}/" in outcome.scopes if scope.scope else bool(outcome.full_names)
    if is_there:
        return "Pass the variables themselves: get_variable did not make them."
    alike = _instead(outcome, scope.value, outcome.scopes_in_store)
    return alike or "Make the variables first, or write the scope that they are in."


def _replaced_twice(run: DryRun, outcome: WarmOutcome) -> Iterator[Finding]:
    tensors: dict[int, list[str]] = {}
    for each in outcome.warm.initializers:
        if each.is_replaced and each.variable is not None and each.problem is None:
            tensors.setdefault(outcome.node_of[each.variable], []).append(each.tensor)
    for obj, names in tensors.items():
        several = list(dict.fromkeys(names))
        if len(several) > 1:
            yield _finding(
                run,
                Severity.WARNING,
                Kind.VALUE_LOST,
                f"The map gives {listed([repr(name) for name in several])} to one variable, which "
                f"keeps {names[-1]!r}.",
                Advice("Leave out the pairs that do not count."),
                saved=several[0],
                objects=[obj],
            )


def _by_vocabulary(run: DryRun, outcome: WarmOutcome) -> Iterator[Finding]:
    by_vocabulary = [
        each for each in outcome.warm.initializers if each.problem is MapProblem.VOCABULARY
    ]
    if by_vocabulary:
        objects = _nodes_of(outcome, by_vocabulary)
        number = len(set(objects))
        yield _finding(
            run,
            Severity.INFO,
            Kind.UNKNOWABLE,
            f"Vocabularies decide about the rows of {count(number, 'variable')}. The check reads "
            "no vocabulary.",
            Advice("Compare the rows after the warm start."),
            objects=objects,
        )


def _left_out(run: DryRun, outcome: WarmOutcome, free: Iterable[str]) -> Iterator[Finding]:
    """Find variables that the map does not mean; first those that the file has by their names."""
    in_file = set(free)
    specs = {name: outcome.tensors[name] for name in in_file}
    same = [
        obj
        for obj in outcome.others
        for a in run.live.nodes[obj].attributes
        if a.full_name in specs
        and (specs[a.full_name].dtype, specs[a.full_name].shape) == (a.dtype, a.shape)
    ]
    others = sorted({*outcome.others}.difference(same))
    keep = "which keep{} own initializer{}"
    for objects, severity, which, advice in (
        (same, Severity.WARNING, "that the file has, too", "Add them to the map."),
        (others, Severity.INFO, "", "Ignore this if these variables are new."),
    ):
        if not objects:
            continue
        number = count(len(objects), "variable")
        words = keep.format(*(("s its", "") if len(objects) == 1 else (" their", "s")))
        names = [run.live.nodes[obj].attributes[0].full_name for obj in objects]
        yield _finding(
            run,
            severity,
            Kind.UNMATCHED,
            f"The map leaves out {number}{' ' + which if which else ''}, {words}: "
            f"{examples(names)}.",
            Advice(advice),
            objects=objects,
        )
