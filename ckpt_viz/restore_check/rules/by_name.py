"""What a restore of a name-based checkpoint misses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from ckpt_viz.matching.engine import fits
from ckpt_viz.matching.name_based import NameTrace
from ckpt_viz.matching.trace import Cause
from ckpt_viz.object_graph.nodes import SAVE_COUNTER
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import kind_of, remedy_for, why
from ckpt_viz.restore_check.finding import Finding, Kind
from ckpt_viz.restore_check.of_saver import SaverRun
from ckpt_viz.words import count

_MAX_NAMED = 5
_MAX_COMPARED = 20  # names with the same last part
_ALIKE = 0.6
_CONVERT = (
    "Restore with tf.compat.v1.train.Saver({name_in_file: variable}), or convert the checkpoint "
    "once and save it anew."
)


def names(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    """Find variables whose names the file lacks, failures, and names that nobody asks for."""
    if trace.builds_graph:
        yield _graph_is_built()
        return
    yield from _failures(run, trace)
    if isinstance(run, SaverRun):
        yield from _of_saver(run, trace)
    asked = {step.name for step in trace.steps} | trace.bound.keys()
    free = [name for name in run.tensors if name not in asked]
    yield from _missing(run, trace, free)
    for obj in trace.not_restored:
        if obj not in trace.unused:
            yield _not_reached(run, obj)
    if free and not (isinstance(run, SaverRun) and _unknown(run)):
        listed = ", ".join(sorted(free)[:_MAX_NAMED]) + (", …" if len(free) > _MAX_NAMED else "")
        yield Finding(
            Severity.INFO,
            Kind.LEFTOVER,
            min(free),
            None,
            f"Nobody asks for {count(len(free), 'name')} of the file, and no assert tells of them: "
            f"{listed}.",
            "Nothing to do, if the program does not need them.",
        )


def _graph_is_built() -> Finding:
    return Finding(
        Severity.FAIL,
        Kind.UNKNOWABLE,
        None,
        None,
        "A graph is being built: the names in the file are not looked up before run_restore_ops() "
        "runs, and until then every assert fails.",
        "Call run_restore_ops() on the status that restore() returns.",
    )


def _failures(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    for step in trace.steps:
        if step.failure is None or step.failure.cause is Cause.KEY_MISSING:
            continue  # what is missing is told with what it may have been called
        objects = [step.obj] if step.obj is not None else _refusing(run)
        yield Finding(
            Severity.ERROR,
            kind_of(step.failure),
            step.name or None,
            run.live_name(objects[0]) if objects else None,
            why(step.failure),
            remedy_for(step.failure),
            (),
            tuple(objects),
        )


def _refusing(run: DryRun) -> list[int]:
    """Return the objects that cannot be listed: nothing is restored beside them."""
    return [obj for obj, node in enumerate(run.live.nodes) if node.error is not None]


def _missing(run: DryRun, trace: NameTrace, free: Sequence[str]) -> Iterator[Finding]:
    """Find what is missing: a Saver raises for it, a tf.train.Checkpoint goes on."""
    raising = {
        (step.obj, step.name)
        for step in trace.steps
        if step.failure is not None and step.failure.cause is Cause.KEY_MISSING
    }
    found = _Free(run, free)
    for obj, wanted in trace.unused.items():
        for name in wanted:
            new = found.renamed(obj, name)
            yield Finding(
                Severity.ERROR if (obj, name) in raising else Severity.FAIL,
                Kind.RENAMED if new else Kind.UNMATCHED,
                new,
                run.live_name(obj),
                f"The file has no {name!r}" + (f", but {new!r} of the same shape." if new else "."),
                _CONVERT,
                (),
                (obj,),
            )


class _Free:
    """The names in the file that nobody asks for, by dtype and shape and by their last part."""

    def __init__(self, run: DryRun, free: Sequence[str]) -> None:
        self._run = run
        self._fitting: Mapping[object, list[str]] = defaultdict(list)
        self._ending: Mapping[object, list[str]] = defaultdict(list)
        for name in free:
            stored = run.tensors[name]
            spec = (stored.dtype, stored.shape)
            self._fitting[spec].append(name)
            self._ending[spec, _last(name)].append(name)

    def renamed(self, obj: int, name: str) -> str | None:
        """Return the one name in the file that this variable may have had."""
        nodes = self._run.live.nodes
        if obj >= len(nodes) or len(nodes[obj].attributes) != 1:
            return None
        spec = (nodes[obj].attributes[0].dtype, nodes[obj].attributes[0].shape)
        fitting = self._fitting.get(spec, [])
        if len(fitting) == 1:
            return fitting[0] if _are_alike(fitting[0], name) else None
        ending = self._ending.get((spec, _last(name)), [])
        if len(ending) > _MAX_COMPARED:
            return None
        likely = [other for other in ending if _are_alike(other, name)]
        return likely[0] if len(likely) == 1 else None


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _are_alike(left: str, right: str) -> bool:
    return SequenceMatcher(None, left[:200], right[:200]).ratio() >= _ALIKE


def _not_reached(run: DryRun, obj: int) -> Finding:
    name = run.live_name(obj)
    is_counter = name == f"(root).{SAVE_COUNTER}"
    return Finding(
        Severity.FAIL,
        Kind.SAVE_COUNTER if is_counter else Kind.UNMATCHED,
        None,
        name,
        "The restore makes this counter beside the root, where a name-based restore does not look: "
        "every assert fails for it."
        if is_counter
        else "The restore by names did not reach this object.",
        "Use read() in place of restore(), or leave the asserts out."
        if is_counter
        else "Restore again, now that it is there.",
        (),
        (obj,),
    )


def _of_saver(run: SaverRun, trace: NameTrace) -> Iterator[Finding]:
    """Find what a Saver does without a word, and what cannot be known of it."""
    if not run.reshapes:
        yield from _silently_reshaped(run, trace)
    yield from _in_parts(run)
    if run.nameless > 1:
        yield Finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            None,
            None,
            f"The {run.nameless} variables of Keras 3 in the Saver's list all go by one name, and "
            "the last alone is saved and restored.",
            "Give the Saver a dict of names, or use tf.train.Checkpoint.",
        )
    for obj in _unknown(run):
        error = run.live.nodes[obj].attributes[0].error
        why = f"What restore() makes of it is not known: {error}."
        yield Finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            None,
            run.live_name(obj),
            why,
            "Look at the object's own code.",
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


def _in_parts(run: SaverRun) -> Iterator[Finding]:
    """Find partitioned variables that a Saver restores from an object-based checkpoint."""
    for obj in run.in_parts:
        name = run.live.nodes[obj].attributes[0].full_name
        yield Finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            name,
            run.live_name(obj),
            "Of an object-based checkpoint a Saver restores the last part of a partitioned "
            "variable, and leaves the others as they are.",
            "Make the variable without a partitioner, or restore with tf.train.Checkpoint.",
            (),
            (obj,),
        )


def _silently_reshaped(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    """Find variables of a TensorFlow 1 graph that take a value of another shape."""
    for name, objects in trace.bound.items():
        stored = run.tensors.get(name)
        for obj in objects:
            if stored is None or obj >= len(run.live.nodes):
                continue
            shapes = [a.shape for a in run.live.nodes[obj].attributes if a.full_name == name]
            if not fits(shapes[0] if shapes else None, stored.shape):
                yield Finding(
                    Severity.WARNING,
                    Kind.SHAPE,
                    name,
                    run.live_name(obj),
                    f"The saved value has shape {stored.shape}, the program's {shapes[0]}; the "
                    "graph takes it without a word and has a value of the wrong shape then.",
                    "Make the variable with the saved shape, or give it another name.",
                    (),
                    (obj,),
                )
