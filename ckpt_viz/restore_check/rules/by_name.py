"""What a restore of a name-based checkpoint misses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from ckpt_viz.matching.engine import fits
from ckpt_viz.matching.name_based import NameTrace
from ckpt_viz.matching.trace import Cause
from ckpt_viz.object_graph.nodes import Stored
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.finding import Finding, Kind
from ckpt_viz.words import count

_MAX_NAMED = 5
_ALIKE = 0.6


def names(run: DryRun, trace: NameTrace) -> Iterator[Finding]:
    """Find variables whose names the file lacks, failures, and names that nobody asks for."""
    for step in trace.steps:
        if step.failure is None or step.failure.cause is Cause.KEY_MISSING:
            continue  # what is missing is told below, with what it may have been called
        kind = {Cause.SHAPE: Kind.SHAPE, Cause.DTYPE: Kind.DTYPE}.get(
            step.failure.cause, Kind.KEY_MISSING
        )
        yield _finding(
            run,
            Severity.ERROR,
            kind,
            step.name or None,
            step.obj,
            f"{step.failure.type}: {step.failure.message.splitlines()[0]}",
            "Make the variable as it was saved, or give it another name.",
        )
    asked = {step.name for step in trace.steps} | trace.bound.keys()
    yield from _silently_reshaped(run, trace)
    free = {name: spec for name, spec in run.tensors.items() if name not in asked}
    missing = Severity.FAIL if run.verdicts.restore is None else Severity.ERROR
    for obj, wanted in trace.unused.items():
        for name in wanted:
            new = _renamed(run, obj, name, free)
            yield _finding(
                run,
                missing,
                Kind.RENAMED if new else Kind.UNMATCHED,
                new,
                obj,
                f"The file has no {name!r}" + (f", but {new!r} of the same shape." if new else "."),
                "Restore with tf.compat.v1.train.Saver({name_in_file: variable}), or convert the "
                "checkpoint once and save it anew.",
            )
    for obj in trace.not_restored:
        if obj not in trace.unused:
            yield _finding(
                run,
                Severity.FAIL,
                Kind.UNMATCHED,
                None,
                obj,
                "A name-based restore does not reach this object.",
                "Use assert_nontrivial_match() no more than any other assert: all three are one "
                "here; leave them out.",
            )
    if free:
        listed = ", ".join(sorted(free)[:_MAX_NAMED]) + (", …" if len(free) > _MAX_NAMED else "")
        yield Finding(
            Severity.INFO,
            Kind.LEFTOVER,
            sorted(free)[0],
            None,
            f"{count(len(free), 'name')} of the file that nobody asks for: {listed}; no assert "
            "tells of them.",
            "Nothing to do, if the program does not need them.",
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
                yield _finding(
                    run,
                    Severity.WARNING,
                    Kind.SHAPE,
                    name,
                    obj,
                    f"The saved value has shape {stored.shape}, the variable {shapes[0]}; the graph "
                    "takes it without a word and has a value of the wrong shape then.",
                    "Make the variable with the saved shape, or give it another name.",
                )


def _renamed(run: DryRun, obj: int, name: str, free: Mapping[str, Stored]) -> str | None:
    """Return the one name in the file that this variable may have had."""
    if obj >= len(run.live.nodes) or len(run.live.nodes[obj].attributes) != 1:
        return None
    attribute = run.live.nodes[obj].attributes[0]
    if attribute.shape is None:
        return None
    fitting = [
        other
        for other in free
        if (run.tensors[other].dtype, run.tensors[other].shape)
        == (attribute.dtype, attribute.shape)
    ]
    likely = [other for other in fitting if _alike(other, name) >= _ALIKE]
    if len(fitting) == 1 and len(likely) == 1:
        return likely[0]
    same_end = [other for other in likely if other.split("/")[-1] == name.split("/")[-1]]
    return same_end[0] if len(same_end) == 1 else None


def _alike(left: str, right: str) -> float:
    return SequenceMatcher(None, left[:200], right[:200]).ratio()


def _finding(
    run: DryRun,
    severity: Severity,
    kind: Kind,
    saved: str | None,
    obj: int | None,
    why: str,
    remedy: str,
) -> Finding:
    live = run.live_name(obj) if obj is not None else None
    return Finding(severity, kind, saved, live, why, remedy, (), () if obj is None else (obj,))
