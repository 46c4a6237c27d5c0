"""The stories of a dry run: of the restore, and of the asserts after it."""

from __future__ import annotations

from ckpt_viz.errors import SourceError
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Trace
from ckpt_viz.restore_check.dry_run import DryRun, prefix_of
from ckpt_viz.restore_check.keras_dry_run import KerasOutcome
from ckpt_viz.restore_check.saver_dry_run import SaverOutcome
from ckpt_viz.restore_check.warm_start_dry_run import WarmOutcome
from ckpt_viz.story.asserts import ASSERTS, AssertStory, RestoreResult
from ckpt_viz.story.by_names import NamesStory
from ckpt_viz.story.restore import RestoreStory
from ckpt_viz.story.step import EmptyStory, Story

_CALLERS = {SaverOutcome: "saver", WarmOutcome: "warm"}


def story_of(run: DryRun) -> Story:
    """Return the story of the restore."""
    title, place_of = f"{run.method}() of {_file_of(run)}", run.outcome.names.place
    if run.has_happened:
        return EmptyStory(
            run.method,
            title,
            "This restore has happened, and TensorFlow keeps no record of its order. "
            "Call cv.check(live, path) before a restore.",
        )
    if isinstance(run.outcome, KerasOutcome):
        return EmptyStory(
            run.method,
            title,
            "There are no steps of load_weights yet. The findings tell what happens to each value.",
        )
    if isinstance(run.trace, Trace) and run.saved is not None:
        return RestoreStory(run.trace, run.saved, place_of, run.method)
    if isinstance(run.trace, NameTrace):
        caller = _CALLERS.get(type(run.outcome), "")
        return NamesStory(run.trace, _file_of(run), place_of, run.method, caller)
    raised = run.verdicts.restore
    why = "nothing is read" if raised is None else f"TensorFlow raises {raised.type} at once"
    return EmptyStory(run.method, title, f"There are no steps: {why}.")


def story_of_assert(run: DryRun, name: str) -> AssertStory:
    """Return the story of an assert after the restore. Raises SourceError for another name."""
    if name not in ASSERTS:
        raise SourceError(f"found {name!r}, expected one of {', '.join(ASSERTS)}")
    verdicts = run.verdicts
    raised = dict(
        zip(ASSERTS, (verdicts.consumed, verdicts.existing, verdicts.nontrivial), strict=True)
    )[name]
    return AssertStory(
        name,
        _restored(run),
        run.saved,
        run.live,
        run.outcome.names.place,
        None if raised is None else (raised.type, raised.message),
        has_raised=verdicts.restore is not None,
    )


def _restored(run: DryRun) -> RestoreResult:
    trace, verdicts = run.trace, run.verdicts
    if not isinstance(trace, Trace):
        return RestoreResult({}, unmatched=verdicts.unmatched, by_names=trace is not None)
    return RestoreResult(
        trace.bound,
        verdicts.unresolved,
        verdicts.unmatched,
        trace.slots_left,
        tuple(trace.unused_attributes),
    )


def _file_of(run: DryRun) -> str:
    return run.reading or (prefix_of(run.saved) if run.saved is not None else "no checkpoint")
