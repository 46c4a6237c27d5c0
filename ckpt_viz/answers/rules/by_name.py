"""Problems of a restore by names: of a name-based checkpoint, by a Saver, or by a map."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.answers.dry_runs import failures
from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.other_shapes import other_shapes
from ckpt_viz.answers.dry_runs.saver_dry_run import SaverOutcome
from ckpt_viz.answers.rules.names_case import ByName
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE, checkpoint_key
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice, Fix, HowFixed, Remedy
from ckpt_viz.ground.text import count, listed, printable
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.edges import changed_scope
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.phrases import scope_phrase
from ckpt_viz.matching.changes.sentence import reason_of
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.engines.trace import Cause, Failure, Step

_MAX_NAMED = 5
_NO_NAME = Cause.NO_VARIABLE, None
_NEED = "If the program needs one of these values, "
_FOR_LEFTOVERS = {  # by the caller
    "": Advice(f"{_NEED}give its variable this name."),
    "saver": Advice(f"{_NEED}give a Saver a dict: from the name to its variable."),
    "warm": Advice("Add these names to the map if the program needs them."),
}
_FOR_MISSING = {
    "": Advice("Give the layers or attributes of the program the names in the file."),
    "saver": Advice("Give a Saver a dict: from each name in the file to its variable."),
    "warm": Advice("Map the names in the file one by one, in place of this pair."),
}


def by_names(case: ByName) -> Iterator[Finding]:
    """Find failures, variables whose names the file lacks, and names that nothing takes."""
    if case.trace.builds_graph:
        yield case.finding(
            Severity.FAIL,
            Kind.UNKNOWABLE,
            "In a graph, run_restore_ops() looks up the names in the file; until then every assert "
            "fails.",
            "Call run_restore_ops() on the status that restore() returns.",
        )
        return
    yield from _failures(case)
    yield from _missing(case)
    yield from (
        _not_reached(case, o) for o in case.trace.not_restored if o not in case.trace.unused
    )
    known = {name for former in case.former.values() for name in former.names}
    free, outcome = [name for name in case.free if name not in known], case.run.outcome
    if not free or outcome.unknown:  # what is unknown may read any name
        return
    number, does = count(len(free), "name"), "matches" if len(free) == 1 else "match"
    passes = "no error tells it" if outcome.caller else "no assert fails"
    yield case.finding(
        Severity.INFO,
        Kind.LEFTOVER,
        f"No variable takes the values of {number} in the file: {examples(free)}."
        if outcome.is_of_map
        else f"{number} in the file {does} no variable, and {passes}: {examples(free)}.",
        _FOR_LEFTOVERS[outcome.caller],
        saved=min(free),
        names=free,
    )


def examples(names: Sequence[str]) -> str:
    """Return the first names of several, as text for a sentence."""
    some = map(printable, sorted(names)[:_MAX_NAMED])
    return ", ".join(some) + (", …" if len(names) > _MAX_NAMED else "")


# --- what raises


def _failures(case: ByName) -> Iterator[Finding]:
    together: dict[object, list[tuple[Step, Failure]]] = {}
    for place, step in enumerate(case.trace.steps):
        if step.failure is None or (step.failure.cause, step.failure.said) == _NO_NAME:
            continue  # a map's own rule tells of the latter
        if step.failure.cause is Cause.KEY_MISSING and step.obj is not None:
            continue  # `_missing` says what its former name may have been
        files = _lost_at(case, step)
        cause = step.failure.said or (files and files.what) or place
        together.setdefault(cause, []).append((step, step.failure))
    for steps in together.values():
        yield _failure(case, steps)


def _failure(case: ByName, steps: Sequence[tuple[Step, Failure]]) -> Finding:
    (step, failure), run = steps[0], case.run
    at_once = replace(failure, in_session=False)
    files = _lost_at(case, step)
    why, remedy = failures.reason_and_remedy(run, at_once, len(steps), files)
    if failure.cause is Cause.KEY_MISSING:
        why = f"The file has no {step.name!r}."
        remedy = Advice("Write the name in the file as the key.")
    elif failure.cause is Cause.DTYPE and run.outcome.caller == "saver":
        mapping = failures.mapping_in(run)  # the fix of a Saver converts values
        is_fixed = mapping is not None and step.obj in {pair.obj for pair in mapping.pairs}
        remedy = _by_fix(run) if is_fixed else remedy
    if failure.in_session:
        why += f" The call returns, and the initializer raises {failure.type}."
    # Without an object, some objects cannot be listed: nothing else is restored then.
    refusing = (obj for obj, node in enumerate(run.live.nodes) if node.error is not None)
    objects = [each.obj for each, _ in steps if each.obj is not None]
    return case.finding(
        _severity(not failure.in_session),
        failures.kind_of(failure),
        why,
        remedy,
        saved=step.name or None,
        names=[each.name for each, _ in steps],
        objects=objects or ([] if run.outcome.caller else refusing),
    )


def _lost_at(case: ByName, step: Step) -> LostFiles | None:
    """Return the data files whose loss is why a step fails; a Saver may not name the keys."""
    if step.cause is not Cause.UNREADABLE:
        return None
    keys = case.run.outcome.keys
    return case.lost.get(step.name if keys is None else keys[step.name])


def _severity(is_raised: bool) -> Severity:
    return Severity.ERROR if is_raised else Severity.FAIL


# --- names that the file lacks


def _for_objects(case: ByName, lost: Iterable[tuple[int, str]]) -> Remedy | None:
    """Return what to do if the names in a map are those of objects in the file."""
    tensors, outcome = case.run.outcome.tensors, case.run.outcome
    keys = (checkpoint_key(name, VARIABLE_VALUE) for _, name in lost)
    if not outcome.is_of_map or not any(key in tensors for key in keys):
        return None
    return Advice("Check tf.train.Checkpoint(**map): the file has objects of these names.")


def _missing(case: ByName) -> Iterator[Finding]:
    """Find missing names: a Saver and a map raise for them, a tf.train.Checkpoint goes on."""
    missing = (step for step in case.trace.steps if step.cause is Cause.KEY_MISSING)
    raising = {(step.obj, step.name) for step in missing}
    unused = [(obj, name) for obj, names in case.trace.unused.items() for name in names]
    nameless = [(obj, name) for obj, name in unused if not name]
    remedy = _by_fix(case.run) if unused else _FOR_MISSING[""]
    if nameless:
        number = count(len(nameless), "variable")
        yield case.finding(
            _severity(not raising.isdisjoint(nameless)),
            Kind.UNMATCHED,
            "A Saver wrote this file by names, and Keras 3 gives its variables no full names: the "
            f"restore finds none of {number}.",
            Advice("Give the Saver a dict of names.") if case.run.outcome.saver else remedy,
            objects=[obj for obj, _ in nameless],
        )
    lost = [(obj, name) for obj, name in unused if name and obj not in case.former]
    if len(lost) > 1:
        names = sorted({name for _, name in lost})
        quoted = listed([repr(name) for name in names[:_MAX_NAMED]])
        yield case.finding(
            _severity(not raising.isdisjoint(lost)),
            Kind.UNMATCHED,
            f"The file has none of {count(len(lost), 'name')} that the restore looks up, such as "
            f"{quoted}.",
            _for_objects(case, lost) or remedy,
            objects=[obj for obj, _ in lost],
        )
    findings = dict[str, list[Finding]]()
    for obj, name in unused:
        former = case.former.get(obj)
        if name and (former is not None or len(lost) == 1):
            saved = None if former is None else former.sure
            finding = case.finding(
                _severity((obj, name) in raising),
                Kind.RENAMED if saved else Kind.UNMATCHED,
                f"The file has no {name!r}{former or ''}.",
                remedy,
                saved=saved,
                names=() if former is None else former.names,
                objects=[obj],
            )
            findings.setdefault(name, []).append(finding)
    yield from _by_scopes(case.run, findings)


def _by_fix(run: DryRun) -> Remedy:
    """Return the fix, if names give the fix a value."""
    by_saver = run.outcome.saver is not None
    mapping = failures.mapping_in(run)
    if mapping is None or not mapping.pairs:
        return _FOR_MISSING["saver" if by_saver else run.outcome.caller]
    places = [(pair.obj if by_saver else pair.node, pair.certainty) for pair in mapping.pairs]
    sure = {place for place, certainty in places if certainty is not Certainty.GUESS}
    guesses = {place for place, _ in places} - sure
    how = HowFixed.BY_FORMER_NAMES if by_saver else HowFixed.BY_NAMES
    return Fix(how, len(sure), len(guesses))


def _by_scopes(run: DryRun, findings: Mapping[str, Collection[Finding]]) -> Iterator[Finding]:
    """Yield the findings, but a single one for all names whose scope has changed alike."""
    groups: dict[tuple[str, str] | None, list[Finding]] = {}
    for name, of_name in findings.items():
        for finding in of_name:
            scope = None if finding.saved is None else changed_scope(finding.saved, name)
            groups.setdefault(scope, []).append(finding)
    for scope, group in groups.items():
        if scope is None or len(group) == 1:
            yield from group
            continue
        objects = tuple(dict.fromkeys(obj for finding in group for obj in finding.objects))
        nodes = tuple(dict.fromkeys(node for finding in group for node in finding.nodes))
        first, why = group[0], reason_of(scope_phrase(*scope), Certainty.CERTAIN)
        kind, remedy = Kind.SCOPE_CHANGED, first.remedy
        if run.outcome.is_of_map:
            remedy = _in_map(run, *(f"{name}/" if name else "/" for name in scope))
        yield replace(
            first,
            kind=kind,
            why=f"{why.removesuffix('.')} ({count(len(group), 'variable')}).",
            remedy=remedy,
            nodes=nodes,
            objects=objects,
            change=Change(
                *(kind, first.saved, first.live, len(group), Certainty.LIKELY, why.__str__),
                objects=objects,
            ),
            explains=tuple(group),
        )


def _in_map(run: DryRun, in_file: str, written: str) -> Advice:
    """Return what to write into a map, one of whose keys may have the changed scope."""
    keys = run.outcome.mapped_scopes
    if not keys or any(key.startswith(written) for key in keys):
        return Advice(f"Write {in_file!r} in place of {written!r} in the keys of the map.")
    return Advice(f"Give {in_file!r} a pair of its own in the map.")


def _not_reached(case: ByName, obj: int) -> Finding:
    if case.run.outcome.names.is_save_counter(obj):
        return case.finding(
            Severity.FAIL,
            Kind.SAVE_COUNTER,
            "The restore makes this counter beside the root, where a name-based restore does not "
            "look: every assert fails for it.",
            "Use read() instead of restore(), or leave the asserts out.",
            objects=[obj],
        )
    return case.finding(
        Severity.FAIL,
        Kind.UNMATCHED,
        "The restore by names did not reach this object.",
        "Restore again, now that the object exists.",
        objects=[obj],
    )


# --- what passes in silence


def by_saver(case: ByName, outcome: SaverOutcome) -> Iterator[Finding]:
    """Find what a Saver does without an error, and what cannot be known about it."""
    yield from silently_reshaped(case)
    for obj in outcome.in_parts:
        yield case.finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            "From an object-based checkpoint, a Saver restores only the last part of a partitioned "
            "variable.",
            "Make the variable without a partitioner, or restore with tf.train.Checkpoint.",
            saved=case.run.live.nodes[obj].attributes[0].full_name,
            objects=[obj],
        )
    if outcome.nameless > 1:
        yield case.finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            f"The {outcome.nameless} variables of Keras 3 in the Saver's list share one name, so "
            "the Saver saves and restores only the last.",
            "Give the Saver a dict of names, or use tf.train.Checkpoint.",
        )
    for obj in sorted(outcome.unknown):
        error = case.run.live.nodes[obj].attributes[0].error
        yield case.finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            f"Only the object's own code decides what restore() reads: {error}.",
            "Read the object's own code.",
            objects=[obj],
        )


def silently_reshaped(case: ByName) -> Iterator[Finding]:
    """Find variables of a TensorFlow 1 graph that take a value of another shape."""
    for taken in other_shapes(case.run.outcome):
        yield case.finding(
            Severity.WARNING,
            Kind.SHAPE,
            f"The saved value has shape {taken.saved}, the program's {taken.live}; the graph takes "
            "it without an error and keeps the wrong shape.",
            "Make the variable with the saved shape, or give it another name.",
            saved=taken.name,
            objects=[taken.obj],
        )
