"""The fix of a restore: which value goes where, the code that does it, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ckpt_viz.answers.dry_runs.dry_run import (
    DamagedFile,
    DryRun,
    FileOfKeras,
    MeantPath,
    NoSuchPath,
    prefix_of,
)
from ckpt_viz.answers.dry_runs.file_dry_run import file_dry_run
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.live_dry_run import live_dry_run
from ckpt_viz.answers.restore_fix.fix_of_keras_file import FixOfKerasFile
from ckpt_viz.answers.restore_fix.fix_of_objects import FixOfObjects
from ckpt_viz.answers.restore_fix.fix_of_saver import FixOfSaver
from ckpt_viz.answers.restore_fix.guesses import Accepted
from ckpt_viz.answers.restore_fix.restore_fix import CheckT, RestoreFix
from ckpt_viz.errors import CkptVizError, SourceError
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.graphs.edits.as_checkpoint import as_objects
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin

__all__ = ["FixOfObjects", "RestoreFix", "fix_of"]


def _why_not(run: DryRun) -> str:
    """Return why a checkpoint cannot be read, as the end of a sentence."""
    match run.correction:
        case NoSuchPath(advice):
            return f": {advice}"
        case DamagedFile(why):
            return f": {why}"
        case FileOfKeras(format=form, remedy=remedy):
            return f"; this is a {form.value}. {remedy}".rstrip(".")
    return ""


def fix_of(
    run: DryRun,
    findings: Sequence[Finding],
    check_of: Callable[[DryRun], CheckT],
    accepted: Accepted = False,
) -> RestoreFix[CheckT]:
    """Return the fix of a dry run with these findings, with the guesses that are accepted.

    Raises SourceError if there is no checkpoint. It raises what `with_accepted` raises.

    Where a restore finds no checkpoint at the path, as at the directory of a SavedModel, it is the
    fix of the one that the path means.
    """
    fix = _fix_of(run, findings, check_of)
    if accepted is False:
        return fix
    accepting = replace(fix, _accepted=accepted)
    _ = accepting._mapping  # raises for a name without a guess
    return accepting


def _fix_of(
    run: DryRun, findings: Sequence[Finding], check_of: Callable[[DryRun], CheckT]
) -> RestoreFix[CheckT]:
    if run.outcome.loading is not None:
        return FixOfKerasFile(run, check_of, _of_check=findings)
    if run.saved is not None:
        return FixOfObjects(run, check_of, _of_check=findings)
    live, is_meant = run.live, isinstance(run.correction, MeantPath)
    if run.outcome.is_of_map:
        raise SourceError(
            f"{live.title}: a map takes values by names, expected a program of objects such as "
            "tf.train.Checkpoint(**map); the findings tell which names to write into the map"
        )
    is_by_saver = run.outcome.saver is not None
    if isinstance(run.correction, FileOfKeras) and run.correction.has_fix:
        by_names = _again(run, as_objects(read_saved(run.correction.path)), run.method)
        return FixOfKerasFile(by_names, check_of)
    if not run.reading or not (is_meant or is_by_saver or run.outcome.tensors):
        raise _unreadable(run)
    try:
        saved = run.named
    except CkptVizError as error:
        raise _unreadable(run) from error
    prefix = prefix_of(saved) if is_meant else None
    if is_by_saver:
        return FixOfSaver(run, check_of, prefix, saved)
    if saved.is_name_based:
        return FixOfObjects(run, check_of, prefix, saved)
    return FixOfObjects(_again(run, saved, run.method), check_of, prefix)


def _again(run: DryRun, saved: Graph, method: str | None) -> DryRun:
    """Return the dry run of the same program with this checkpoint."""
    if run.live.origin is Origin.LIVE:
        return live_dry_run(run.live.source, saved, method, None)
    return file_dry_run(run.live, saved, method=method)


def _unreadable(run: DryRun) -> SourceError:
    return SourceError(f"{run.reading}: a fix needs a checkpoint that can be read{_why_not(run)}")
