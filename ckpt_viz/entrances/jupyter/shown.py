"""The contents of an explorer: a graph, or a comparison of two, and how to refresh it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ckpt_viz.answers.graph_diff.change_sentence import changes_in, with_changes
from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.answers.restore_check.played import Played, played_in_file
from ckpt_viz.answers.restore_fix.fix import RestoreFix
from ckpt_viz.api import check_or_diff, diff, graph
from ckpt_viz.errors import NoSuchNodeError, SourceError
from ckpt_viz.graphs.nodes.places import same_places
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.comparison_text import comparison_text
from ckpt_viz.graphs.render.exports import Content
from ckpt_viz.graphs.render.layer_text import render_layers
from ckpt_viz.graphs.render.static_html import comparison_html, to_static_html
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.live.objects.counters import counters_of
from ckpt_viz.live.sources.pictured import ObjectGraph
from ckpt_viz.matching.story.questions import Question

if TYPE_CHECKING:  # importing numpy takes as long as opening a checkpoint
    from ckpt_viz.files.values.running import Begin
    from ckpt_viz.graphs.search.measures import Measures

_MEASURES = "_measures"  # the place of what was measured, as `cached_property` keeps its values
_ACCEPTED = "_accepted_guesses"  # the same of the saved parts whose guesses a person accepts
VALUES_BEFORE = "_values_before_restore"  # the same of the snapshot that undoes a restore
COUNTERS = "_counters"  # the same of the counters of the program when it was checked
_KEPT = (
    "The program has the values of the fix. The checkpoint still has its own names: keep the code, "
    "or save a new checkpoint.",
)


@dataclass(frozen=True)
class Shown:
    """A graph; for a comparison also its result and the mark of each node.

    `given` is the user's request: a source, and what to compare it with, or None. `is_fixed` says
    that the program has the values of a fix, and that this is the check of the fixed restore.
    `questions` are those of an exercise; None for any other explorer.
    """

    given: tuple[object, object]
    graph: ObjectGraph
    overlay: Overlay | None
    comparison: RestoreCheck | GraphDiff | None
    is_fixed: bool = False
    questions: Sequence[Question] | None = None

    @cached_property
    def encoded(self) -> bytes:
        """The payload (docs/payload.md), with what the values measure once they were read."""
        overlay, measured = self._measured_overlay, self._measured
        return gc_paused(lambda: payload.encode(self.graph, overlay, measured))

    def content(self, state: Mapping[str, Any] | None = None) -> Content:
        """Return the content of an exported file; `state` holds the explorer's traits."""
        notes = self.comparison.notes if isinstance(self.comparison, GraphDiff) else ()
        content = self.graph, self._measured_overlay, notes, state
        return Content(*content, measures=self._measured, steps=self.steps)

    def steps(self) -> Played | None:
        """Return the steps of a check's restore for a file; None without, or if they are many."""
        check = self.comparison
        if not isinstance(check, RestoreCheck):
            return None
        return gc_paused(lambda: played_in_file(check, self.questions))

    def node_id(self, name: str) -> int:
        """Return the one node that a name means; raises NoSuchNodeError."""
        named = self.graph if self.overlay is None else self.overlay
        return named.node_id(name)

    @property
    def _measured(self) -> Measures | None:
        """What the values of each node measure; None before the first request."""
        return self.__dict__.get(_MEASURES)

    @property
    def _measured_overlay(self) -> Overlay | None:
        """The overlay; that of a diff tells what changed most, once all values were read."""
        known, measures = self.overlay, self._measured
        if known is None or not isinstance(self.comparison, GraphDiff):
            return known
        if measures is None or measures.unread:
            return known
        changes = changes_in(measures)
        return replace(known, draw_table=lambda o: with_changes(known.table, o, changes))

    def measures(self, begin: Begin | None = None) -> Measures:
        """Return what the values of each node measure; read the unread ones first.

        In a diff these are the values of b, and the change from a; in a check those of the
        checkpoint, and how far the program's are from them. A node of one side alone has its own
        values. If this is interrupted, it returns what was read, and the next call goes on. `begin`
        starts the progress bar; None: tqdm's.
        """
        known = self._measured
        if known is None or known.unread:
            self.__dict__[_MEASURES] = known = self._read(begin)
            self.__dict__.pop("encoded", None)
        return known

    def forget_measures(self) -> None:
        """Read all values again at the next request for what they measure."""
        for name in (_MEASURES, "encoded"):
            self.__dict__.pop(name, None)

    def _read(self, begin: Begin | None) -> Measures:
        if self.comparison is None:
            return self.graph.measures(begin)
        from ckpt_viz.answers.timeline.compared import Laid, measures_between
        from ckpt_viz.files.values.running import bar

        is_diff = isinstance(self.comparison, GraphDiff)
        moved = self.comparison.moved_ids if isinstance(self.comparison, GraphDiff) else {}
        laid = Laid(
            *(*self._sides, len(self.graph.nodes), self._places, moved), shows_other=not is_diff
        )
        return measures_between(laid, begin or bar)

    @property
    def _sides(self) -> tuple[Graph, Graph]:
        """The graph whose nodes come first in the merged one, and the other."""
        if isinstance(self.comparison, GraphDiff):
            return self.comparison.b, self.comparison.a
        assert self.comparison is not None
        live, saved = self.comparison.live, self.comparison.saved
        return live, live if saved is None else saved

    @property
    def _places(self) -> Mapping[int, int]:
        """By node of the other graph, its node in the merged one."""
        if isinstance(self.comparison, GraphDiff):
            return self.comparison.places
        return {} if self.comparison is None else self.comparison.saved_places

    @property
    def words(self) -> str:
        """The same as text, as `print` shows it, with every sign."""
        if self.overlay is None:
            return render_layers(self.graph)
        return (
            comparison_text(self.overlay) if self.comparison is None else self.comparison.to_text()
        )

    @property
    def html(self) -> str:
        """The same for hosts that show no widgets: a picture, and its rows as text."""
        overlay = self._measured_overlay
        return to_static_html(self.graph) if overlay is None else comparison_html(overlay)

    @cached_property
    def fix(self) -> RestoreFix[RestoreCheck]:
        """The fix of the check that this shows; raises SourceError if there is none."""
        return self.check.fix(guesses=self.accepted)

    def accept(self, guesses: Sequence[str]) -> None:
        """Take the guesses of these saved parts into the fix, and no others."""
        if tuple(guesses) != self.accepted:
            self.__dict__[_ACCEPTED] = tuple(guesses)
            self.__dict__.pop("fix", None)

    @property
    def accepted(self) -> tuple[str, ...]:
        """The saved parts whose guesses a person accepts."""
        accepted: tuple[str, ...] = self.__dict__.get(_ACCEPTED, ())
        return accepted

    @property
    def check(self) -> RestoreCheck:
        """The check that this shows; raises SourceError if it is none of live objects."""
        if not isinstance(self.comparison, RestoreCheck):
            raise SourceError(f"{self.graph.title}: only the check of a restore has a fix")
        if self.comparison.live.origin is not Origin.LIVE:
            raise SourceError(f"{self.comparison.live.title}: a file; a fix needs live objects")
        return self.comparison

    def again(self) -> Shown:
        """Return the same in its present state: walk live objects again, read a path again.

        If somebody looked at the fix, and the program has its values now, it is the check of the
        fixed restore: that of a plain restore would find the same problems for ever.

        Raises:
            CkptVizError: A source is no longer readable.
        """
        after = show_of(*(_again(source) for source in self.given), given=self.given)
        if self._measured is not None:
            after.measures()
        after.accept(self.accepted)
        is_asked = self.is_fixed or not {"fix", VALUES_BEFORE}.isdisjoint(self.__dict__)
        return after.fixed() if is_asked and after.is_applied else after

    @property
    def is_applied(self) -> bool:
        """Whether the program has all values of the fix; it reads values until one differs."""
        try:
            return self.fix.is_applied
        except (NoSuchNodeError, SourceError):  # a part with accepted guesses may be gone
            return False

    def fixed(self) -> Shown:
        """Return the check of the fixed restore."""
        check = self.fix.check
        graph = replace(ObjectGraph.of(check.overlay.graph), title=f"{self.graph.title}, fixed")
        overlay = replace(check.overlay, notes=_KEPT)
        return Shown(self.given, graph, overlay, check, is_fixed=True)

    def state_in(
        self, after: Shown, selected: int | None, expanded: Iterable[int] | None
    ) -> tuple[int | None, list[int] | None]:
        """Return the selected and expanded nodes of this graph as nodes of another graph.

        The place in the outline identifies a node. Nodes that are gone are left out.
        """
        placed = same_places(self.graph, after.graph)
        again = None if expanded is None else [placed(node_id) for node_id in expanded]
        return (
            None if selected is None else placed(selected),
            None if again is None else [node_id for node_id in again if node_id is not None],
        )


def show_of(
    source: object, against: object = None, *, given: tuple[object, object] | None = None
) -> Shown:
    """Return what an explorer shows of a source, alone or in a comparison.

    Args:
        source: Whatever `graph` takes, or a RestoreCheck or a GraphDiff.
        against: What to compare it with, or None.
        given: What to read again on a refresh; by default these two.
    """
    given = (source, against) if given is None else given
    comparison = _comparison(source, against)
    if comparison is None:
        return Shown(given, graph(source), None, None)
    overlay = comparison.overlay
    shown = Shown(given, ObjectGraph.of(overlay.graph), overlay, comparison)
    if isinstance(comparison, RestoreCheck) and comparison.live.source is not None:
        shown.__dict__[COUNTERS] = counters_of(comparison.live)
    return shown


def _comparison(source: object, against: object) -> RestoreCheck | GraphDiff | None:
    if against is not None:
        return check_or_diff(source, against)
    return source if isinstance(source, (RestoreCheck, GraphDiff)) else None


def _again(source: object) -> object:
    """Return the source to read again."""
    if isinstance(source, RestoreCheck):
        return source.again()
    if isinstance(source, GraphDiff):
        return diff(_again(source.a), _again(source.b), values=source.values is not None)
    if isinstance(source, ObjectGraph):
        provenance = source.provenance
        if source.is_unwritten:  # nothing changes it
            return source
        return source.source if provenance is None else provenance.given
    return source
