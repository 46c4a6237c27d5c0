"""A path other than intended."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.answers.dry_runs.dry_run import (
    DamagedFile,
    DryRun,
    FileOfKeras,
    MeantPath,
    NoSuchPath,
)
from ckpt_viz.answers.dry_runs.failures import first_line, in_one_sentence, in_words
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.verdicts import Verdicts
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import OtherPath, PathResult
from ckpt_viz.matching.changes.kind import Kind


def wrong_path(run: DryRun) -> Iterator[Finding]:
    """Find a path that `restore` takes for something else, or cannot read."""
    if run.reading is None:
        return
    raised = run.verdicts.restore
    if isinstance(run.correction, MeantPath):
        effect = (
            f"restore cannot read it ({raised.type})"
            if raised is not None
            else "restore reads it as a name-based checkpoint without variables and restores "
            "nothing"
        )
        yield run.finding(
            _severity(run),
            Kind.WRONG_PATH,
            f"{run.reading} is not a checkpoint's prefix: {effect}.",
            OtherPath(run.correction.prefix, _result(run.correction.verdicts)),
        )
    elif isinstance(run.correction, FileOfKeras):
        does = "restores nothing" if raised is None else f"raises {raised.type}"
        yield run.finding(
            _severity(run),
            Kind.WRONG_PATH,
            f"{run.correction.path} is a {run.correction.format.value}: {run.method}() {does}.",
            run.correction.remedy,
        )
    elif raised is not None and isinstance(run.correction, NoSuchPath):
        yield run.finding(
            Severity.ERROR,
            Kind.WRONG_PATH,
            f"{run.reading}: {in_words(raised.type, first_line(raised.message).rstrip('.?'))}.",
            f"{run.correction.advice}.".replace("?.", "?"),
        )


def unreadable(run: DryRun) -> Iterator[Finding]:
    """Find a checkpoint that exists at the path but cannot be read."""
    raised = run.verdicts.restore
    damage = run.correction if isinstance(run.correction, DamagedFile) else None
    if damage is not None and damage.lost is not None and run.trace is not None:
        why = f"{damage.why}; {run.method}() does not restore these."
        yield run.finding(Severity.ERROR, Kind.DAMAGED, why, damage.lost.remedy)
    if raised is None or run.reading is None:
        return
    raises = in_words(raised.type, in_one_sentence(raised.message, run.reading))
    if run.outcome.remedy is not None:
        why = f"The Saver cannot restore: {raises}."
        yield run.finding(Severity.ERROR, Kind.NOT_BUILT, why, run.outcome.remedy)
        return
    if run.trace is not None or (run.correction is not None and damage is None):
        return
    if damage is not None and damage.lost is not None:
        why = f"{damage.why}; the restore raises {raises}."
        yield run.finding(Severity.ERROR, Kind.DAMAGED, why, damage.lost.remedy)
        return
    yield run.finding(
        Severity.ERROR,
        Kind.KEY_MISSING,
        f"{run.reading} cannot be read: {raises}.",
        _repair(damage),
    )


def _repair(damage: DamagedFile | None) -> str:
    """Return in a sentence what to do about a checkpoint that cannot be read."""
    if damage is None:
        return "Copy the whole checkpoint again: the index and every data file."
    if damage.is_denied:
        return "Ask the file's owner for permission to read it, or restore a copy."
    if damage.fault:
        return f"Repair {damage.file}: {damage.fault}."
    return f"Copy {damage.file or 'the whole checkpoint'} again from where it came."


def no_checkpoint(run: DryRun) -> Iterator[Finding]:
    """Find `restore(None)`, usually from a directory without a checkpoint."""
    if run.reading is None and run.trace is None:
        raised = run.verdicts.restore
        does = f"raises {raised.type}" if raised is not None else "returns and restores nothing"
        yield run.finding(
            _severity(run),
            Kind.WRONG_PATH,
            f"The path is None: restore() {does}.",
            "Check the directory given to tf.train.latest_checkpoint(): it returns None if the "
            "`checkpoint` file is missing or names a missing checkpoint.",
        )


def _severity(run: DryRun) -> Severity:
    verdicts = run.verdicts
    if verdicts.restore is not None:
        return Severity.ERROR
    fails = any((verdicts.consumed, verdicts.existing, verdicts.nontrivial))
    # A program without values passes every assert, although the restore read nothing.
    return Severity.FAIL if fails else Severity.WARNING


def _result(verdicts: Verdicts) -> PathResult:
    if verdicts.restore is not None:
        return PathResult.RAISES
    passes = verdicts.consumed is None and verdicts.nontrivial is None
    return PathResult.PASSES if passes else PathResult.FAILS
