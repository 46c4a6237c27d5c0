"""The stories of a dry run: of the restore, and of the asserts after it."""

from __future__ import annotations

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of
from ckpt_viz.errors import SourceError
from ckpt_viz.matching.story.asserts import ASSERTS, AssertStory, RestoreResult
from ckpt_viz.matching.story.by_names import NamesStory
from ckpt_viz.matching.story.restore import RestoreStory
from ckpt_viz.matching.story.step import EmptyStory, Story


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
    if not run.outcome.has_steps:
        return EmptyStory(
            run.method,
            title,
            "There are no steps of load_weights yet. The findings tell what happens to each value.",
        )
    if run.by_objects is not None and run.saved is not None:
        return RestoreStory(run.by_objects, run.saved, place_of, run.method)
    if run.by_names is not None:
        outcome = run.outcome
        return NamesStory(
            *(run.by_names, _file_of(run), place_of, run.method, outcome.caller),
            is_eager=outcome.saver is not None and outcome.saver.is_eager,
        )
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
    trace, verdicts = run.by_objects, run.verdicts
    if trace is None:
        is_by_names = run.by_names is not None
        return RestoreResult({}, unmatched=verdicts.unmatched, by_names=is_by_names)
    return RestoreResult(
        trace.bound,
        verdicts.unresolved,
        verdicts.unmatched,
        trace.slots_left,
        tuple(trace.unused_attributes),
    )


def _file_of(run: DryRun) -> str:
    return run.reading or (prefix_of(run.saved) if run.saved is not None else "no checkpoint")
