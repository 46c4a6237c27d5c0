"""The restore check: what `restore` would do to every node, before it does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from ckpt_viz.answers.dry_runs.coverage import Part, coverage
from ckpt_viz.answers.dry_runs.dry_run import DryRun, MeantPath
from ckpt_viz.answers.dry_runs.exceptions import exception_of
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.stories import story_of, story_of_assert
from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.answers.restore_check.run import AskedCheck
from ckpt_viz.answers.restore_fix.fix import RestoreFix, fix_of
from ckpt_viz.answers.rules.findings import find_all
from ckpt_viz.answers.table.check_overlay import guesses_of, overlay_of, untested
from ckpt_viz.answers.table.check_table import table_without_fix, words_of_check
from ckpt_viz.answers.table.marks import same_parts
from ckpt_viz.errors import CkptVizError, SourceError
from ckpt_viz.graphs.object_graph.merge import merged_ids
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.comparison_svg import comparison_svg
from ckpt_viz.graphs.render.details import Details
from ckpt_viz.graphs.render.encodings import shown_on_stdout
from ckpt_viz.graphs.render.plan_json import plan_json
from ckpt_viz.graphs.render.static_html import comparison_html
from ckpt_viz.graphs.render.text import printable
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.live.sources.pictured import ObjectGraph
from ckpt_viz.matching.engines.trace import Step
from ckpt_viz.matching.restore_table.picture import picture_of
from ckpt_viz.matching.restore_table.rows import RestoreTable
from ckpt_viz.matching.restore_table.table_json import rows_json
from ckpt_viz.matching.restore_table.text import CheckText
from ckpt_viz.matching.story.asserts import AssertStory
from ckpt_viz.matching.story.step import Story


@dataclass(frozen=True, repr=False)
class RestoreCheck:
    """A dry run of `live.restore(saved)` or `live.read(saved)`: verdicts and findings.

    >>> check = cv.check(ckpt, "ckpts/ckpt-3")
    >>> check
    <RestoreCheck of Checkpoint: restore() would raise ValueError>
    >>> check.raises.type, check.consumed
    ('ValueError', False)
    >>> check.unmatched
    ('(root).net.body.w', '(root).net.body.b')
    >>> print(check.findings[0].why)  # print(check.details) has each finding with its remedy
    hidden seems to be body now (2 values).

    `raises` is what the call itself would raise, also for an unreadable path; None if it returns.
    The three booleans and asserts are those of the status that it returns. If the call raises, the
    booleans are False and the asserts raise the same error. Names of nodes are those in
    TensorFlow's messages: of the checkpoint for `unresolved` and `unused_attributes`, of the
    program for `unmatched`. `findings` explain the result, causes before symptoms. Everything
    describes the state at the time of the call of `check`.

    Without `verify=True`, the check reads no stored value. It tests the checksums of the index and
    of the object graph, and that every data file exists and is long enough. Only the restore finds
    damaged bytes of a value, and raises DataLossError. `notes` repeats this, or tells how many
    bytes were tested.
    """

    _run: DryRun = field(repr=False)
    findings: tuple[Finding, ...]
    _is_of_fix: bool = field(default=False, repr=False)
    _asked: AskedCheck | None = field(default=None, repr=False)

    @classmethod
    def of(cls, asked: AskedCheck) -> RestoreCheck:
        """Return the check that somebody asks for; raises as `check` does."""
        return cls(*asked.run(), _asked=asked)

    def again(self) -> RestoreCheck:
        """Return the same check of the program and the file as they are now.

        Raises:
            SourceError: It is the check of a fix, or of a program that somebody changed in the
                explorer. Or as `check` raises it.
        """
        if self._asked is None:
            raise SourceError(
                f"{self._run.live.title}: found the check of a fix or of an edited program, "
                "expected one of the program itself; call check(live, path)"
            )
        return RestoreCheck.of(self._asked)

    @cached_property
    def live(self) -> ObjectGraph:
        """The graph of the live side, before the restore."""
        return ObjectGraph.of(self._run.live)

    @cached_property
    def saved(self) -> ObjectGraph | None:
        """The graph of the checkpoint; None if there is no graph to read."""
        return None if self._run.saved is None else ObjectGraph.of(self._run.saved)

    @property
    def method(self) -> str:
        """The call that was checked: restore, read, init_from_checkpoint or warm_start."""
        return self._run.method

    @property
    def raises(self) -> Raised | None:
        """What `restore` would raise: the class's name and the text; None if it returns."""
        return self._run.verdicts.restore

    @property
    def consumed(self) -> bool:
        """Whether `assert_consumed()` would pass."""
        return self._run.verdicts.consumed is None

    @property
    def existing_objects_matched(self) -> bool:
        """Whether `assert_existing_objects_matched()` would pass."""
        return self._run.verdicts.existing is None

    @property
    def nontrivial_match(self) -> bool:
        """Whether `assert_nontrivial_match()` would pass."""
        return self._run.verdicts.nontrivial is None

    def assert_consumed(self) -> RestoreCheck:
        """Return the check, or raise what `assert_consumed()` would raise, naming every node."""
        return self._or_raise(self._run.verdicts.consumed)

    def assert_existing_objects_matched(self) -> RestoreCheck:
        """Return the check, or raise what `assert_existing_objects_matched()` would raise."""
        return self._or_raise(self._run.verdicts.existing)

    def assert_nontrivial_match(self) -> RestoreCheck:
        """Return the check, or raise what `assert_nontrivial_match()` would raise."""
        return self._or_raise(self._run.verdicts.nontrivial)

    @cached_property
    def unresolved(self) -> tuple[str, ...]:
        """Saved nodes with values that nothing in the program takes."""
        saved = self._run.saved
        return tuple(map(saved.name, self._run.verdicts.unresolved)) if saved is not None else ()

    @cached_property
    def unmatched(self) -> tuple[str, ...]:
        """Objects of the program with values that the checkpoint lacks."""
        return tuple(map(self._run.live_name, self._run.verdicts.unmatched))

    @cached_property
    def unused_attributes(self) -> Mapping[str, tuple[str, ...]]:
        """By name of the node, the saved attributes that its object has no place for.

        For a name-based checkpoint: by name of the live object, the names that the file lacks.
        """
        return self._run.unused_attributes()

    @cached_property
    def bound(self) -> Mapping[str, str]:
        """By name of the saved node or tensor, the live object that the restore puts it into."""
        return self._run.bound()

    @cached_property
    def coverage(self) -> tuple[Part, ...]:
        """How many of the values the restore reaches, by the children of the root."""
        return coverage(self.table)

    @cached_property
    def steps(self) -> Story:
        """The restore step by step, in TensorFlow's order: `print(check.steps)`, `check.steps[0]`.

        Each step has a sentence, the reason, the nodes and the edge, and the line of TensorFlow
        that does it. Its `state` says what is in the queue and what waits after a step. A check
        of a restore that has happened has no steps.
        """
        return story_of(self._run)

    def steps_of(self, name: str) -> AssertStory:
        """Return an assert after the restore step by step: at which node it fails, and why.

        Args:
            name: "assert_consumed", "assert_existing_objects_matched" or "assert_nontrivial_match".

        Raises:
            SourceError: `name` is another one.
        """
        return story_of_assert(self._run, name)

    @property
    def trace(self) -> tuple[Step, ...]:
        """The same as data, by id, also beyond what the restore raises."""
        return tuple(self._run.trace.steps) if self._run.trace is not None else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether the stored values were tested: what the verdicts leave open."""
        return untested(self._run)

    @cached_property
    def overlay(self) -> Overlay:
        """The check laid over one graph, for text and explorer."""
        run, findings = self._run, self.findings
        parts = self.saved_places
        return gc_paused(lambda: overlay_of(run, findings, lambda _: self._picture(), parts))

    @cached_property
    def saved_places(self) -> Mapping[int, int]:
        """By node of `saved`, its node in the graph of `overlay`; empty if that lacks them."""
        run = self._run
        if run.saved is None or run.by_objects is None:
            return {}
        return merged_ids(run.live, run.saved, same_parts(run, run.by_objects))

    def fix(self, guesses: bool | str | Iterable[str] = False) -> RestoreFix[RestoreCheck]:
        """Return what to do so that every saved value goes where it belongs; change nothing.

        Args:
            guesses: Whether to take the places that only order or shape speaks for, the guesses; or
                the names of the saved parts to take them for: `model.blocks`, `model/blocks/0`, or
                the full name of a variable. States of an optimizer that may mean something else in
                its class of today stay out. A part of another shape is copied in part if it is
                named: the elements that both shapes have.

        Raises:
            NoSuchNodeError: A name is none of a saved part with guesses.
            SourceError: There is no checkpoint to restore.
        """
        run, findings = self._run, self.findings
        return fix_of(run, findings, lambda run: RestoreCheck(run, find_all(run), True), guesses)

    def to_svg(self) -> str:
        """Return the table of the check as a static SVG: what changed, and where values go."""
        return comparison_svg(self.overlay)

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data, as docs/plan_json.md describes it."""
        return plan_json(self.overlay) | {"rows": rows_json(self.table)}

    @cached_property
    def table(self) -> RestoreTable:
        """Where each value goes, by the checked call and by the fix: a row for each value."""
        fix = self._own_fix
        if fix is None:
            return gc_paused(lambda: table_without_fix(self._run, self.findings))
        is_meant = isinstance(self._run.correction, MeantPath)
        return fix.table_beside(self._run) if is_meant else fix.table

    @cached_property
    def _own_fix(self) -> RestoreFix[RestoreCheck] | None:
        if self._is_of_fix:  # it has its own table: that of the check behind the fix
            return None
        with suppress(CkptVizError):
            return self.fix()
        return None

    @cached_property
    def details(self) -> Details:
        """Each problem with its reason and the next step, in the names of TensorFlow; for print."""
        return Details(self.overlay)

    def to_text(self, *, color: bool = False) -> str:
        """Return what `print` shows: what changed, and where values go; in colours if asked."""
        return gc_paused(lambda: self._words.of(self.table, color=color))

    @cached_property
    def _words(self) -> CheckText:
        """The sentences above and below the table."""
        findings = () if self._is_of_fix else self.findings  # what a fix leaves out is in the rows
        changes = None if self._own_fix is None else self._own_fix.changes
        return words_of_check(self._run, self.table, findings, changes, self.notes)

    def _picture(self) -> ComparisonTable:
        """Return the table with its sentences, for the explorer."""
        guesses = guesses_of(self._run, self.findings)
        return gc_paused(lambda: picture_of(self.table, self._words, self.saved_places, guesses))

    def show(self) -> Any:
        """Return the `Explorer` of the check, a widget for notebooks.

        A notebook also shows it for the check itself.
        """
        explorer = self.__dict__.get("_explorer")
        if explorer is None or explorer.comm is None:  # ipywidgets may have closed it
            # By name, since the widget imports checks.
            widgets = import_module("ckpt_viz.entrances.jupyter.widget")
            explorer = self.__dict__["_explorer"] = widgets.Explorer(self)
        return explorer

    def _repr_html_(self) -> str:
        return comparison_html(self.overlay)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the explorer with its picture; None where widgets cannot be shown."""
        from ckpt_viz.entrances.jupyter.kernel_run import shows_widgets

        if not shows_widgets():
            return None
        bundle: tuple[dict[str, Any], dict[str, Any]] | None
        bundle = self.show()._repr_mimebundle_(**kwargs)
        return bundle

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())

    def __repr__(self) -> str:
        words = f"{printable(self.live.title)}: {printable(self.overlay.headline)}"
        return shown_on_stdout(f"<RestoreCheck of {words}>")

    def _or_raise(self, raised: Raised | None) -> RestoreCheck:
        if raised is not None:
            raise exception_of(raised)
        return self
