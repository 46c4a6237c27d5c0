"""Problems when restoring a name-based checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from difflib import SequenceMatcher

from ckpt_viz.changes.change import Change
from ckpt_viz.changes.edges import changed_scope
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.sentences import scope_sentence
from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.expressions import quoted
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.read_failures import fits
from ckpt_viz.matching.trace import Cause, Step
from ckpt_viz.object_graph.name_evidence import paired_by_name
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice, Code, Fix, FreeName, HowFixed, Purpose, Remedy
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import (
    is_unreadable,
    kind_of,
    lost_to,
    mapping_in,
    remedy_for,
    remedy_for_lost,
    why,
    why_lost,
)
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.saver_dry_run import SaverOutcome
from ckpt_viz.restore_check.warm_start_dry_run import WarmOutcome
from ckpt_viz.text import count, listed, printable, shape_words

_MAX_NAMED = 5
_MAX_COMPARED = 20  # names with the same last part
_ALIKE = 0.6
_BY_SAVER = Advice(
    "Restore with a tf.compat.v1.train.Saver that has a dict: from each name in the file to its "
    "variable."
)
_IN_MAP = Advice("Map the names in the file one by one, in place of this pair.")


def names(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    """Find variables whose names the file lacks, failures, and names that match no variable."""
    if trace.builds_graph:
        yield _graph_is_built()
        return
    yield from _failures(run, trace)
    is_saver = isinstance(run.outcome, SaverOutcome)
    if isinstance(run.outcome, SaverOutcome):
        yield from _by_saver(run, run.outcome, trace)
    read = {step.name for step in trace.steps} | trace.bound.keys()
    free = [name for name in run.outcome.tensors if name not in read]
    lost = tuple(missing(run, trace, free))
    yield from lost
    explained = {finding.saved for cause in lost for finding in cause.all()}
    free = [name for name in free if name not in explained]
    for obj in trace.not_restored:
        if obj not in trace.unused:
            yield _not_reached(run, obj)
    if free and not (is_saver and _unknown(run)):
        does = "matches" if len(free) == 1 else "match"
        yield Finding(
            Severity.INFO,
            Kind.LEFTOVER,
            min(free),
            None,
            f"{count(len(free), 'name')} in the file {does} no variable, and no assert fails: "
            f"{examples(free)}.",
            Advice("Ignore these names if the program does not need them."),
        )


def examples(names: Sequence[str]) -> str:
    """Return the first names of several, as text for a sentence."""
    some = map(printable, sorted(names)[:_MAX_NAMED])
    return ", ".join(some) + (", …" if len(names) > _MAX_NAMED else "")


def _graph_is_built() -> Finding:
    return Finding(
        Severity.FAIL,
        Kind.UNKNOWABLE,
        None,
        None,
        "In a graph, run_restore_ops() looks up the names in the file; until then every assert "
        "fails.",
        Advice("Call run_restore_ops() on the status that restore() returns."),
    )


def _failures(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    lost = lost_to(run) if any(map(is_unreadable, trace.steps)) else {}
    together: dict[str, list[Step]] = {}
    for step in trace.steps:
        if step.failure is None or step.failure.cause is Cause.KEY_MISSING:
            continue  # `_missing` says what its former name may have been
        if is_unreadable(step) and (key := _key_of(run, step)) in lost:
            together.setdefault(lost[key].what, []).append(step)
            continue
        objects = [step.obj] if step.obj is not None else _refusing(run)
        yield Finding(
            Severity.ERROR,
            kind_of(step.failure),
            step.name or None,
            run.live_name(objects[0]) if objects else None,
            why(step.failure),
            remedy_for(run, step.failure),
            (),
            tuple(objects),
        )

    for steps in together.values():
        files, failure = lost[_key_of(run, steps[0])], steps[0].failure
        assert failure is not None
        failing = tuple(dict.fromkeys(step.obj for step in steps if step.obj is not None))
        yield Finding(
            Severity.ERROR,
            Kind.DAMAGED,
            steps[0].name,
            run.live_name(failing[0]) if failing else None,
            why_lost(files, len(steps), failure),
            remedy_for_lost(run, files),
            (),
            failing,
        )


def _key_of(run: DryRun, step: Step) -> str:
    """Return the checkpoint key that a step reads: a Saver may use another name."""
    keys = run.outcome.keys if isinstance(run.outcome, SaverOutcome) else None
    return step.name if keys is None else keys[step.name]


def _refusing(run: DryRun) -> list[int]:
    """Return the objects that cannot be listed: nothing else is restored then."""
    return [obj for obj, node in enumerate(run.live.nodes) if node.error is not None]


def missing(run: DryRun, trace: NameTrace, free: Sequence[str]) -> Iterator[Finding]:
    """Find missing names: a Saver and a map raise for them, a tf.train.Checkpoint goes on.

    `free` are the names in the file that nothing reads.
    """
    raising = {
        (step.obj, step.name)
        for step in trace.steps
        if step.failure is not None and step.failure.cause is Cause.KEY_MISSING
    }
    unused = [(obj, name) for obj, names in trace.unused.items() for name in names]
    nameless = [obj for obj, name in unused if not name]
    if nameless:
        yield _without_names(run, nameless, any((obj, "") in raising for obj in nameless))
    named = [(obj, name) for obj, name in unused if name]
    candidates = _candidates(run, named, free)
    lost = [pair for pair in named if not candidates[pair]]
    if len(lost) > 1:
        yield _without_any(run, lost, not raising.isdisjoint(lost))
    findings: dict[_Missing, Finding] = {}
    for obj, name in named:
        former = candidates[obj, name]
        if len(lost) > 1 and not former:
            continue
        new = former[0] if len(former) == 1 else None
        of_shape = listed([repr(name_in_file) for name_in_file in former])
        reason = f", but has {of_shape} of the same shape" if former else ""
        unsure = "; names do not show which is right" if len(former) > 1 else ""
        findings[obj, name] = Finding(
            _severity((obj, name) in raising),
            Kind.RENAMED if new else Kind.UNMATCHED,
            new,
            run.live_name(obj),
            f"The file has no {name!r}{reason}{unsure}.",
            _remedy(run),
            (),
            (obj,),
        )
    yield from _by_scopes(run, findings, trace)


def _remedy(run: DryRun) -> Remedy:
    if isinstance(run.outcome, WarmOutcome):
        return _IN_MAP
    return _BY_SAVER if isinstance(run.outcome, SaverOutcome) else _by_fix(run)


def _by_fix(run: DryRun) -> Remedy:
    """Return the fix, if names give the fix a value."""
    mapping = mapping_in(run)
    pairs = mapping.pairs if mapping is not None else ()
    guesses = sum(pair.certainty is Certainty.GUESS for pair in pairs)
    if pairs:
        return Fix(HowFixed.BY_NAMES, len(pairs) - guesses, guesses)
    return Advice("Give the layers or attributes of the program the names in the file.")


_Missing = tuple[int, str]  # an object, and a name that the file lacks


def _by_scopes(
    run: DryRun, findings: Mapping[_Missing, Finding], trace: NameTrace
) -> Iterator[Finding]:
    """Yield the findings, but a single finding for all names whose scope has changed alike."""
    scopes = {
        (obj, name): changed_scope(finding.saved, name)
        for (obj, name), finding in findings.items()
        if finding.kind is Kind.RENAMED and finding.saved is not None
    }
    groups: dict[tuple[str, str], list[Finding]] = {}
    for pair, scope in scopes.items():
        if scope is not None:
            groups.setdefault(scope, []).append(findings[pair])
    for pair, finding in findings.items():
        scope = scopes.get(pair)
        group = groups.get(scope, []) if scope is not None else []
        if scope is None or len(group) < 2:
            yield finding
        elif finding is group[0]:
            moved = {name for obj, name in findings if scopes.get((obj, name)) == scope}
            is_saver = isinstance(run.outcome, SaverOutcome)
            code = _saver_of(run, trace, scope, moved) if is_saver else None
            change = _change_of(scope, group)
            yield replace(
                finding,
                kind=change.kind,
                why=f"{change.why.removesuffix('.')} ({count(len(group), 'variable')}).",
                remedy=code or _remedy_of_scope(run, scope),
                objects=change.objects,
                change=change,
                explains=tuple(group),
            )


def _remedy_of_scope(run: DryRun, scope: tuple[str, str]) -> Remedy:
    if not isinstance(run.outcome, WarmOutcome):
        return _remedy(run)
    in_file, written = (repr(f"{name}/" if name else "/") for name in scope)
    return Advice(f"Write {in_file} in place of {written} in the keys of the map.")


def _change_of(scope: tuple[str, str], group: Sequence[Finding]) -> Change:
    objects = tuple(dict.fromkeys(obj for finding in group for obj in finding.objects))
    return Change(
        Kind.SCOPE_CHANGED,
        group[0].saved,
        group[0].live,
        len(group),
        Certainty.LIKELY,
        scope_sentence(*scope),
        objects=objects,
    )


def _saver_of(
    run: DryRun, trace: NameTrace, scope: tuple[str, str], moved: AbstractSet[str]
) -> Code | None:
    """Return the code of a Saver that reads `moved` names under their scope in the file.

    None unless the code restores every variable of the checked Saver.
    """
    old, new = (f"{name}/" if name else "" for name in scope)
    kept = {step.name for step in trace.steps} - moved
    lost = {name for names in trace.unused.values() for name in names} - moved
    variables = tf_private.given_variables(run.live.source)  # a Saver of a MetaGraph has none
    if not variables or lost or (old and kept) or any(name.startswith(new) for name in kept):
        return None
    is_dict = isinstance(variables, Mapping)
    name = "name" if is_dict else "v.name.split(':')[0]"
    renamed = f"{name}.removeprefix({quoted(new)})" if new else name
    renamed = f"{quoted(old)} + {renamed}" if old else renamed
    each = "name, v in live._var_list.items()" if is_dict else "v in live._var_list"
    code = f"tf.compat.v1.train.Saver({{{renamed}: v for {each}}})"
    return Code(code, (FreeName.TENSORFLOW, FreeName.LIVE), Purpose.MAKE_SAVER)


def _without_any(run: DryRun, lost: Sequence[_Missing], is_raised: bool) -> Finding:
    """Return the finding of names that the file lacks, with nothing in their place."""
    names = listed([repr(name) for name in sorted({name for _, name in lost})[:_MAX_NAMED]])
    return Finding(
        _severity(is_raised),
        Kind.UNMATCHED,
        None,
        run.live_name(lost[0][0]),
        f"The file has none of {count(len(lost), 'name')} that the restore looks up, such as "
        f"{names}.",
        _remedy(run),
        (),
        tuple(dict.fromkeys(obj for obj, _ in lost)),
    )


def _severity(is_raised: bool) -> Severity:
    return Severity.ERROR if is_raised else Severity.FAIL


def _without_names(run: DryRun, objects: Sequence[int], is_raised: bool) -> Finding:
    number = count(len(objects), "variable")
    return Finding(
        _severity(is_raised),
        Kind.UNMATCHED,
        None,
        run.live_name(objects[0]),
        "A Saver wrote this file by names, and Keras 3 gives its variables no full names: the "
        f"restore finds none of {number}.",
        Advice("Give the Saver a dict of names.")
        if isinstance(run.outcome, SaverOutcome)
        else _by_fix(run),
        (),
        tuple(objects),
    )


def _candidates(
    run: DryRun, missing: Sequence[_Missing], free: Sequence[str]
) -> Mapping[_Missing, Sequence[str]]:
    """Return, for each missing name, its possible names in the file: a single name if that is sure.

    It is sure if the name alone has this dtype and shape. If several have it, names decide.
    """
    of_spec: dict[object, tuple[list[_Missing], list[str]]] = {}
    for name in free:
        stored = run.outcome.tensors[name]
        of_spec.setdefault((stored.dtype, stored.shape), ([], []))[1].append(name)
    for obj, name in missing:
        attributes = run.live.nodes[obj].attributes if obj < len(run.live.nodes) else ()
        if len(attributes) == 1:
            spec = attributes[0].dtype, attributes[0].shape
            of_spec.setdefault(spec, ([], []))[0].append((obj, name))
    candidates: dict[_Missing, Sequence[str]] = dict.fromkeys(missing, ())
    for pairs, names in of_spec.values():
        if len(pairs) == len(names) == 1:
            candidates[pairs[0]] = names if _are_alike(names[0], pairs[0][1]) else ()
            continue
        candidates.update(_candidates_by_last_part(pairs, names))
    return candidates


def _candidates_by_last_part(
    missing: Sequence[_Missing], free: Sequence[str]
) -> Iterator[tuple[_Missing, Sequence[str]]]:
    """Yield the candidates for several of one dtype and shape, by the last part of their names."""
    parts: dict[str, tuple[list[_Missing], list[str]]] = {}
    for obj, name in missing:
        parts.setdefault(_last(name), ([], []))[0].append((obj, name))
    for name in free:
        if _last(name) in parts:
            parts[_last(name)][1].append(name)
    for pairs, names in parts.values():
        if len(pairs) == len(names) == 1:
            yield pairs[0], [name for name in names if _are_alike(name, pairs[0][1])]
            continue
        paths = [name.split("/") for name in names], [name.split("/") for _, name in pairs]
        former = {pairs[j]: names[i] for i, j in paired_by_name(*paths).items()}
        left = sorted(set(names).difference(former.values()))
        for pair in pairs:
            if pair in former:
                yield pair, [former[pair]]
            elif 1 < len(left) <= _MAX_COMPARED:
                yield pair, left


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _are_alike(left: str, right: str) -> bool:
    if left.endswith(f"/{right}") or right.endswith(f"/{left}"):
        return True  # one name has a scope more, which may be longer than the name
    return SequenceMatcher(None, left[:200], right[:200]).ratio() >= _ALIKE


def _not_reached(run: DryRun, obj: int) -> Finding:
    is_counter = run.outcome.names.is_save_counter(obj)
    return Finding(
        Severity.FAIL,
        Kind.SAVE_COUNTER if is_counter else Kind.UNMATCHED,
        None,
        run.live_name(obj),
        "The restore makes this counter beside the root, where a name-based restore does not look: "
        "every assert fails for it."
        if is_counter
        else "The restore by names did not reach this object.",
        Advice(
            "Use read() instead of restore(), or leave the asserts out."
            if is_counter
            else "Restore again, now that the object exists."
        ),
        (),
        (obj,),
    )


def _by_saver(run: DryRun, outcome: SaverOutcome, trace: NameTrace) -> Iterator[Finding]:
    """Find what a Saver does without an error, and what cannot be known about it."""
    if not outcome.reshapes:
        yield from silently_reshaped(run, trace)
    yield from _in_parts(run, outcome)
    if outcome.nameless > 1:
        yield Finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            None,
            None,
            f"The {outcome.nameless} variables of Keras 3 in the Saver's list share one name, so "
            "the Saver saves and restores only the last.",
            Advice("Give the Saver a dict of names, or use tf.train.Checkpoint."),
        )
    for obj in _unknown(run):
        error = run.live.nodes[obj].attributes[0].error
        why = f"Only the object's own code decides what restore() reads: {error}."
        yield Finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            None,
            run.live_name(obj),
            why,
            Advice("Read the object's own code."),
            (),
            (obj,),
        )


def _unknown(run: DryRun) -> list[int]:
    """Return the objects that read names which only their own code knows."""
    return [
        obj
        for obj, node in enumerate(run.live.nodes)
        if any(attribute.error is not None for attribute in node.attributes)
    ]


def _in_parts(run: DryRun, outcome: SaverOutcome) -> Iterator[Finding]:
    """Find partitioned variables that a Saver restores from an object-based checkpoint."""
    for obj in outcome.in_parts:
        name = run.live.nodes[obj].attributes[0].full_name
        yield Finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            name,
            run.live_name(obj),
            "From an object-based checkpoint, a Saver restores only the last part of a partitioned "
            "variable.",
            Advice("Make the variable without a partitioner, or restore with tf.train.Checkpoint."),
            (),
            (obj,),
        )


def silently_reshaped(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    """Find variables of a TensorFlow 1 graph that take a value of another shape."""
    for name, objects in trace.bound.items():
        stored = run.outcome.tensors.get(name)
        for obj in objects:
            if stored is None or obj >= len(run.live.nodes):
                continue
            attributes = run.live.nodes[obj].attributes
            shape = attributes[0].shape if attributes else None
            if not fits(shape, stored.shape):
                yield Finding(
                    Severity.WARNING,
                    Kind.SHAPE,
                    name,
                    run.live_name(obj),
                    f"The saved value has shape {shape_words(stored.shape)}, the program's "
                    f"{shape_words(shape)}; the graph takes it without an error and keeps the "
                    "wrong shape.",
                    Advice("Make the variable with the saved shape, or give it another name."),
                    (),
                    (obj,),
                )
