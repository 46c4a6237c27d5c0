"""What a map of a warm start does without a message, and the names in it that mean nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.warm_start_dry_run import WarmOutcome
from ckpt_viz.answers.rules.by_name import examples, silently_reshaped
from ckpt_viz.answers.rules.names_case import ByName
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.initializers import MappedScope
from ckpt_viz.matching.engines.trace import Cause

_MAX_COMPARED = 10_000  # pairs of names


def warm_starts(case: ByName, outcome: WarmOutcome) -> Iterator[Finding]:
    """Find names of the map that mean nothing in the program, and what passes in silence."""
    for step in case.trace.steps:
        failure = step.failure
        if failure is not None and failure.cause is Cause.NO_VARIABLE and failure.said is None:
            yield _no_name(case, outcome, step.name, failure.actual, failure.type)
    yield from _partly_replaced(case, outcome)
    for scope in outcome.warm.scopes:
        yield from _of_scope(case, outcome, scope)
    for key in outcome.warm.empty_lists:
        yield _silent(case, f"The list for {key!r} has no variable", "Pass the partitions.")
    yield from silently_reshaped(case)
    yield from _replaced_twice(case, outcome)
    yield from _by_vocabulary(case, outcome)
    yield from _left_out(case, outcome)


def _silent(case: ByName, beginning: str, advice: str, saved: str | None = None) -> Finding:
    why = f"{beginning}: {case.run.method}() assigns nothing, and raises nothing."
    return case.finding(Severity.WARNING, Kind.UNRESOLVED, why, advice, saved=saved)


# --- names in the map


def _no_name(case: ByName, outcome: WarmOutcome, key: str, value: str, raised: str) -> Finding:
    if f"{value.rstrip('/')}/" in outcome.scopes_in_store:
        advice = f"Write {key + '/'!r} and {value.rstrip('/') + '/'!r} for scopes."
    elif value in outcome.full_names:
        advice = "Pass the variable itself: get_variable did not make it."
    else:
        own = "Pass the variable itself, or the name of one that get_variable made."
        advice = _instead(outcome, value, outcome.store) or own
    return case.finding(
        Severity.ERROR,
        Kind.UNRESOLVED,
        f"{value!r} is no name of a variable made by get_variable, and {key!r} is no scope: "
        f"{raised}.",
        advice,
        saved=key or None,
    )


def _instead(outcome: WarmOutcome, name: str, names: Collection[str]) -> str:
    """Return an advice to write a similar name; "" if none is similar, or if there are many."""
    if len(names) * outcome.unplaced > _MAX_COMPARED:
        return ""
    alike = get_close_matches(name[:200], sorted(names), n=1, cutoff=0.6)
    return f"Write {alike[0]!r}, if that is the one." if alike else ""


def _of_scope(case: ByName, outcome: WarmOutcome, scope: MappedScope) -> Iterator[Finding]:
    value = scope.value
    if not scope.names:
        beginning = f"Scope {value!r}: the program has no variable in it that get_variable made"
        yield _silent(case, beginning, _advice_for(outcome, scope), scope.key)
    elif not value.endswith("/"):
        instead = f"the scope {scope.scope + '/'!r}" if scope.scope else "all variables"
        cut = "" if scope.scope else ", each without the first letter of its name"
        yield case.finding(
            Severity.WARNING,
            Kind.UNRESOLVED,
            f"{value!r} is no name of a variable: TensorFlow takes {instead} in its place{cut}.",
            f"Write {value + '/'!r} for a scope.",
            saved=scope.key,
        )


def _advice_for(outcome: WarmOutcome, scope: MappedScope) -> str:
    is_there = f"{scope.scope}/" in outcome.scopes if scope.scope else bool(outcome.full_names)
    if is_there:
        return "Pass the variables themselves: get_variable did not make them."
    alike = _instead(outcome, scope.value, outcome.scopes_in_store)
    return alike or "Make the variables first, or write the scope that they are in."


# --- what passes in silence


def _partly_replaced(case: ByName, outcome: WarmOutcome) -> Iterator[Finding]:
    before = outcome.warm.before_error()
    if outcome.warm.raised is None or not before:
        return
    verb, noun = ("assigned", "value") if outcome.is_eager else ("replaced", "initializer")
    yield case.finding(
        Severity.WARNING,  # the cause comes first
        Kind.PARTIAL_OVERWRITE,
        f"The call raises after it has {verb} {count(len(before), noun)}.",
        "Fix the cause, then make the variables again: some are already changed.",
        objects=sorted(before),
    )


def _replaced_twice(case: ByName, outcome: WarmOutcome) -> Iterator[Finding]:
    tensors: dict[int, list[str]] = {}
    for obj, tensor in outcome.warm.replaced():
        tensors.setdefault(obj, []).append(tensor)
    for obj, names in tensors.items():
        if len({*names}) > 1:
            every = listed([repr(name) for name in dict.fromkeys(names)])
            yield case.finding(
                Severity.WARNING,
                Kind.VALUE_LOST,
                f"The map gives {every} to one variable, which keeps {names[-1]!r}.",
                "Leave out the pairs that do not count.",
                saved=names[0],
                names=names,
                objects=[obj],
            )


def _by_vocabulary(case: ByName, outcome: WarmOutcome) -> Iterator[Finding]:
    objects = outcome.warm.by_vocabulary
    if objects:
        yield case.finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            f"Vocabularies decide about the rows of {count(len({*objects}), 'variable')}. The "
            "check reads no vocabulary.",
            "Compare the rows after the warm start.",
            objects=objects,
        )


def _left_out(case: ByName, outcome: WarmOutcome) -> Iterator[Finding]:
    """Find variables that the map does not mean; first those that the file has by their names."""
    specs = {name: outcome.tensors[name] for name in case.free}
    known = {name: (spec.dtype, spec.shape) for name, spec in specs.items()}
    nodes = case.run.live.nodes
    same = {
        obj
        for obj in outcome.others
        for a in nodes[obj].attributes
        if known.get(a.full_name) == (a.dtype, a.shape)
    }
    which: Mapping[bool, tuple[Severity, str, str]] = {
        True: (Severity.WARNING, " that the file has, too,", "Add them to the map."),
        False: (Severity.INFO, ",", "Ignore this if these variables are new."),
    }
    for is_same, (severity, words, advice) in which.items():
        objects = [obj for obj in outcome.others if (obj in same) is is_same]
        keep = "which keeps its own initializer"
        keep = keep if len(objects) == 1 else "which keep their own initializers"
        if objects:
            names = [nodes[obj].attributes[0].full_name for obj in objects]
            yield case.finding(
                severity,
                Kind.UNMATCHED,
                f"The map leaves out {count(len(objects), 'variable')}{words} {keep}: "
                f"{examples(names)}.",
                advice,
                objects=objects,
            )
