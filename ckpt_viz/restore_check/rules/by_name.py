"""Problems when restoring a name-based checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.changes.change import Change
from ckpt_viz.changes.edges import changed_scope
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.sentences import scope_sentence
from ckpt_viz.correspondence.pairs import Certainty, Pair
from ckpt_viz.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.read_failures import fits
from ckpt_viz.matching.trace import Cause, Step
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice, Fix, HowFixed, Remedy
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import (
    is_unreadable,
    kind_of,
    lost_to,
    mapping_in,
    mapping_of_names,
    remedy_for,
    remedy_for_lost,
    why,
    why_lost,
)
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.saver_dry_run import SaverOutcome
from ckpt_viz.text import count, listed, printable, shape_words

_MAX_NAMED = 5
_IN_SAVER = Advice(
    "If the program needs one of these values, give a Saver a dict: from the name to its variable."
)
_IN_PROGRAM = Advice("If the program needs one of these values, give its variable this name.")
_IN_MAP = Advice("Map the names in the file one by one, in place of this pair.")
_MAX_COMPARED = 20  # names that may be the former name of a variable


def names(run: DryRun, trace: NameTrace, by_saver: SaverOutcome | None = None) -> Iterator[Finding]:
    """Find variables whose names the file lacks, failures, and names that match no variable."""
    if trace.builds_graph:
        yield _graph_is_built()
        return
    yield from _failures(run, trace)
    is_saver = by_saver is not None
    if by_saver is not None:
        yield from _by_saver(run, by_saver, trace)
    read = {step.name for step in trace.steps} | trace.bound.keys()
    free = [name for name in run.outcome.tensors if name not in read]
    former = FormerNames(run, trace, free)
    yield from missing(run, trace, former)
    free = [name for name in free if name not in former.known]
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
            f"{count(len(free), 'name')} in the file {does} no variable, and "
            f"{'no error tells it' if is_saver else 'no assert fails'}: {examples(free)}.",
            _IN_SAVER if is_saver else _IN_PROGRAM,
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
            _cast(run, step) or remedy_for(run, step.failure),
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


def _cast(run: DryRun, step: Step) -> Remedy | None:
    """Return the fix for a value of another dtype, if the fix converts it."""
    if run.outcome.saver is None or step.failure is None or step.failure.cause is not Cause.DTYPE:
        return None
    mapping = mapping_in(run)
    is_fixed = mapping is not None and any(pair.obj == step.obj for pair in mapping.pairs)
    return _by_fix(run) if is_fixed else None


def _key_of(run: DryRun, step: Step) -> str:
    """Return the checkpoint key that a step reads: a Saver may use another name."""
    keys = run.outcome.keys
    return step.name if keys is None else keys[step.name]


def _refusing(run: DryRun) -> list[int]:
    """Return the objects that cannot be listed: nothing else is restored then."""
    return [obj for obj, node in enumerate(run.live.nodes) if node.error is not None]


def missing(run: DryRun, trace: NameTrace, former: FormerNames) -> Iterator[Finding]:
    """Find missing names: a Saver and a map raise for them, a tf.train.Checkpoint goes on."""
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
    if not named:
        return
    remedy = _by_fix(run)
    lost = [pair for pair in named if not former.instead(pair[0])]
    nothing = {*lost} if len(lost) > 1 else set[_Missing]()
    if nothing:
        yield _without_any(run, lost, remedy, not raising.isdisjoint(lost))
    findings: dict[_Missing, Finding] = {}
    for obj, name in named:
        if (obj, name) in nothing:
            continue
        new = former.of(obj)[0] if former.is_sure(obj) else None
        findings[obj, name] = Finding(
            _severity((obj, name) in raising),
            Kind.RENAMED if new else Kind.UNMATCHED,
            new,
            run.live_name(obj),
            f"The file has no {name!r}{former.instead(obj)}.",
            remedy,
            (),
            (obj,),
        )
    yield from _by_scopes(run, findings)


class FormerNames:
    """The names in the file to which variables may belong whose names it lacks.

    `known` has all of them; `free` are the names in the file that nothing reads.
    """

    def __init__(self, run: DryRun, trace: NameTrace, free: Sequence[str]) -> None:
        is_needed = bool(free) and any(trace.unused.values())
        mapping, names = mapping_of_names(run) if is_needed else None, {*free}
        misfits = frozenset(mapping.misfits if mapping is not None else ())
        self.known: set[str] = set()
        self._misfits: dict[int, str] = {}
        self._sure: dict[int, list[str]] = {}
        self._guessed: dict[int, _Space] = {}
        self._alike: dict[_Space, list[str]] = {}
        self._free = free
        if mapping is None:
            return
        for pair in (*mapping.pairs, *mapping.misfits):
            value = mapping.saved.nodes[pair.node].attributes[0]
            name = value.full_name if run.outcome.maps_names else value.checkpoint_key
            if name not in names or pair.obj not in trace.unused:
                continue
            self.known.add(name)
            if pair in misfits:
                self._misfits[pair.obj] = f", but has {name!r} {_how_other(mapping, pair)}"
                continue
            if pair.certainty is not Certainty.GUESS:
                self._sure.setdefault(pair.obj, []).append(name)
                continue
            space = value.dtype, value.shape, name.rpartition("/")[2]
            self._guessed[pair.obj] = space
            alike = self._alike.setdefault(space, [])
            if name not in alike[-1:]:
                alike.append(name)
        if not run.outcome.maps_names:
            self._take_the_only_ones(run, [obj for obj in trace.unused if obj not in self._sure])

    def _take_the_only_ones(self, run: DryRun, objects: Sequence[int]) -> None:
        """Take a guess for sure if no other free name or variable has its dtype and shape."""
        values = (run.live.nodes[obj].attributes for obj in objects)
        wanted = Counter((value.dtype, value.shape) for held in values for value in held)
        stored = (run.outcome.tensors[name] for name in self._free)
        given = Counter((tensor.dtype, tensor.shape) for tensor in stored)
        for obj, space in self._guessed.items():
            if wanted[space[:2]] == given[space[:2]] == 1:
                self._sure[obj] = self._alike[space]

    def instead(self, obj: int) -> str:
        """Return, for the end of a sentence, what the file has in place of a variable's name."""
        names, is_sure = self.of(obj), self.is_sure(obj)
        if not names:
            return self._misfits.get(obj, "")
        every = listed([repr(name) for name in names])
        if is_sure and len(names) > 1:
            return f", but has its parts {every}"
        which = "which is right" if len(names) > 1 else "whether it is the same value"
        unsure = "" if is_sure else f"; names do not show {which}"
        return f", but has {every} of the same shape{unsure}"

    def is_sure(self, obj: int) -> bool:
        """Return whether names or shapes tell which names are those of a variable."""
        return obj in self._sure

    def of(self, obj: int) -> Sequence[str]:
        """Return the former names of a variable, or those that it may have had."""
        if obj in self._sure:
            return self._sure[obj]
        return self._alike[self._guessed[obj]][:_MAX_COMPARED] if obj in self._guessed else ()


def _how_other(mapping: ValueMapping, pair: Pair) -> str:
    """Return the shape of a saved value, and that of its variable; or the dtypes."""
    was, now = mapping.saved.nodes[pair.node].attributes, mapping.live.nodes[pair.obj].attributes
    if not len(was) == len(now) == 1:
        return "for other values"  # only the object's own code knows its values
    saved, live = was[0], now[0]
    if saved.shape != live.shape:
        return f"of shape {shape_words(saved.shape or ())}, not {shape_words(live.shape or ())}"
    return f"of dtype {saved.dtype}, not {live.dtype}"


def _by_fix(run: DryRun) -> Remedy:
    """Return the fix, if names give the fix a value."""
    if run.outcome.is_of_map:
        return _IN_MAP
    mapping, is_by_saver = mapping_in(run), run.outcome.saver is not None
    pairs = mapping.pairs if mapping is not None else ()
    if pairs:
        objects = {pair.obj for pair in pairs if pair.certainty is not Certainty.GUESS}
        guesses = {pair.obj for pair in pairs} - objects
        how = HowFixed.BY_FORMER_NAMES if is_by_saver else HowFixed.BY_NAMES
        return Fix(how, len(objects) if is_by_saver else len(pairs) - len(guesses), len(guesses))
    return Advice(
        "Give a Saver a dict: from each name in the file to its variable."
        if is_by_saver
        else "Give the layers or attributes of the program the names in the file."
    )


_Missing = tuple[int, str]  # an object, and a name that the file lacks
_Space = tuple[str | None, tuple[int, ...] | None, str]  # dtype, shape, the last part of a name


def _by_scopes(run: DryRun, findings: Mapping[_Missing, Finding]) -> Iterator[Finding]:
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
            change = _change_of(scope, group)
            yield replace(
                finding,
                kind=change.kind,
                why=f"{change.why.removesuffix('.')} ({count(len(group), 'variable')}).",
                remedy=_remedy_of_scope(run, scope, finding.remedy),
                objects=change.objects,
                change=change,
                explains=tuple(group),
            )


def _remedy_of_scope(run: DryRun, scope: tuple[str, str], remedy: Remedy) -> Remedy:
    if not run.outcome.is_of_map:
        return remedy
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


def _without_any(run: DryRun, lost: Sequence[_Missing], remedy: Remedy, is_raised: bool) -> Finding:
    """Return the finding of names that the file lacks, with nothing in their place."""
    names = listed([repr(name) for name in sorted({name for _, name in lost})[:_MAX_NAMED]])
    return Finding(
        _severity(is_raised),
        Kind.UNMATCHED,
        None,
        run.live_name(lost[0][0]),
        f"The file has none of {count(len(lost), 'name')} that the restore looks up, such as "
        f"{names}.",
        remedy,
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
        if run.outcome.saver is not None
        else _by_fix(run),
        (),
        tuple(objects),
    )


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
            own = [a for a in attributes if a.full_name == name] or attributes
            shape = own[0].shape if own else None
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
