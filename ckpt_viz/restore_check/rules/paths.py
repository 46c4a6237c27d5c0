"""A path that is not the one that was meant."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.failures import first_line, in_words
from ckpt_viz.restore_check.finding import Finding, Kind
from ckpt_viz.restore_check.of_saver import SaverRun


def wrong_path(run: DryRun) -> Iterator[Finding]:
    """Find a path that `restore` takes for something else, or cannot read."""
    if run.reading is None:
        return
    raised = run.verdicts.restore
    if run.instead is not None:
        prefix, outcome = run.instead
        said = "raise, too" if outcome.verdicts.restore is not None else _gives(outcome)
        what = (
            f"restore cannot read it ({raised.type})"
            if raised is not None
            else "restore takes it for a name-based checkpoint without a variable, and restores "
            "nothing"
        )
        yield Finding(
            _severity(run),
            Kind.WRONG_PATH,
            None,
            None,
            f"{run.reading} is no checkpoint's prefix: {what}.",
            f"Pass {prefix!r}, which would {said}.",
        )
    elif raised is not None and run.unread:
        yield Finding(
            Severity.ERROR,
            Kind.WRONG_PATH,
            None,
            None,
            f"{run.reading}: {in_words(raised.type, first_line(raised.message).rstrip('.?'))}.",
            f"{run.unread}.".replace("?.", "?"),
        )


def unreadable(run: DryRun) -> Iterator[Finding]:
    """Find a checkpoint that is where the path says, and cannot be read."""
    raised = run.verdicts.restore
    if raised is None or run.reading is None:
        return
    said = in_words(raised.type, first_line(raised.message).rstrip("."))
    if isinstance(run, SaverRun) and run.remedy:
        why = f"The Saver cannot restore: {said}."
        yield Finding(Severity.ERROR, Kind.NOT_BUILT, None, None, why, run.remedy)
        return
    if run.trace is not None or run.instead is not None or run.unread:
        return
    yield Finding(
        Severity.ERROR,
        Kind.KEY_MISSING,
        None,
        None,
        f"{run.reading} cannot be read: {said}.",
        "Ask the owner of the file for the permission to read it, or restore a copy."
        if said.endswith("Permission denied")
        else "Copy the whole checkpoint again: the index and every data file.",
    )


def no_checkpoint(run: DryRun) -> Iterator[Finding]:
    """Find `restore(None)`, mostly of a directory in which there is no checkpoint."""
    if run.reading is None and run.trace is None:
        raised = run.verdicts.restore
        does = f"raises {raised.type}" if raised is not None else "returns, and restores nothing"
        yield Finding(
            _severity(run),
            Kind.WRONG_PATH,
            None,
            None,
            f"No checkpoint is given, the path is None: restore() {does}.",
            "Look at what tf.train.latest_checkpoint() was given: it returns None for a directory "
            "without a `checkpoint` file, or of which that file names what is gone.",
        )


def _severity(run: DryRun) -> Severity:
    verdicts = run.verdicts
    if verdicts.restore is not None:
        return Severity.ERROR
    fails = any((verdicts.consumed, verdicts.existing, verdicts.nontrivial))
    # A program without values passes every assert, though nothing was read.
    return Severity.FAIL if fails else Severity.WARNING


def _gives(outcome: DryRun) -> str:
    if outcome.verdicts.consumed is None and outcome.verdicts.nontrivial is None:
        return "pass every assert"
    return "be read, with assert_consumed() failing"
