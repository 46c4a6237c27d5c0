"""The difference of two object graphs, as `ckpt_viz.diff` returns it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.answers.graph_diff.change_sentence import NodeChange, with_changes
from ckpt_viz.answers.graph_diff.comparison import (
    CHANGED,
    CommonValues,
    Compared,
    common_values,
    compare,
    judged,
)
from ckpt_viz.answers.graph_diff.counterparts import LoadWay
from ckpt_viz.answers.graph_diff.diff_overlay import overlay_of
from ckpt_viz.answers.graph_diff.diff_parts import DiffParts
from ckpt_viz.answers.graph_diff.diff_table import called_anew, sentence_of_diff, table_of_diff
from ckpt_viz.answers.graph_diff.value_change import ValueChange, change_json, changes_text
from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.merge import merged_ids, title_of
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.overlay import Overlay, State
from ckpt_viz.graphs.render.comparison_svg import comparison_svg
from ckpt_viz.graphs.render.comparison_text import comparison_text, text_without_lines
from ckpt_viz.graphs.render.details import Details
from ckpt_viz.graphs.render.encodings import shown_on_stdout
from ckpt_viz.graphs.render.plan_json import plan_json
from ckpt_viz.graphs.render.text import ALARM
from ckpt_viz.graphs.render.views import MAX_LINES
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.wording import PYTHON, Wording
from ckpt_viz.live.sources.pictured import ObjectGraph
from ckpt_viz.matching.correspondence.pairs import Pair

if TYPE_CHECKING:
    from concurrent.futures import Executor


class ChangedNode(NamedTuple):
    """A node that both graphs have and that differs: its names in a and in b, and the difference.

    `detail` is the difference in few words, `float32 8×10 ≠ 8×12`; "" if only values differ.
    """

    state: State
    a: str
    b: str
    detail: str


@dataclass(frozen=True)
class GraphDiff:
    """How two object graphs differ, node by node.

    >>> diff = cv.diff("ckpts/ckpt-2", "ckpts/ckpt-3", values=True, progress=False)
    >>> diff
    <GraphDiff 'ckpts/ckpt-2' → 'ckpts/ckpt-3': differs: 3 values by value>
    >>> diff.values[0].name, f"{diff.values[0].relative:.0%}"
    ('net.head.w', '33%')

    Every node of both has exactly one state. Names are the ones that TensorFlow prints; a node more
    than 100 steps deep has only the end of its name. `print(diff)` lists the differences.

    `values` are the tensors whose values differ, the largest relative change first, and last those
    that cannot be read. `common` counts all tensors that both have, in the same place, moved or
    renamed. Both are None unless `diff(a, b, values=True)` has read them.
    """

    a: ObjectGraph
    b: ObjectGraph
    _compared: Compared = field(repr=False, compare=False)
    _note: str = field(default="", repr=False, compare=False)
    values: tuple[ValueChange, ...] | None = field(default=None, repr=False, compare=False)
    common: int | None = field(default=None, repr=False, compare=False)
    _by_node: Mapping[int, NodeChange] | None = field(default=None, repr=False, compare=False)
    wording: Wording = field(default=PYTHON, repr=False, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known to differ (see `not_compared`)."""
        return self._compared.is_equal

    @cached_property
    def only_a(self) -> tuple[str, ...]:
        """Names of the nodes of a without a counterpart in b."""
        return _named(self.a, self._compared.states_a, State.ONLY_A)

    @cached_property
    def only_b(self) -> tuple[str, ...]:
        """Names of the nodes of b without a counterpart in a."""
        return self._in_b(State.ONLY_B)

    @cached_property
    def moved(self) -> tuple[tuple[str, str], ...]:
        """Names in a and in b of nodes that have moved to another place."""
        return self._names(self._compared.moved)

    @cached_property
    def guesses(self) -> tuple[tuple[str, str], ...]:
        """Names in a and in b of nodes without a counterpart that only a guess pairs."""
        return self._names(self._compared.guesses)

    @cached_property
    def changed(self) -> tuple[ChangedNode, ...]:
        """Nodes of both that differ in role, dtype, shape or value, in the order of a."""
        return tuple(self._changes())

    @property
    def role(self) -> tuple[str, ...]:
        """Names in b of nodes whose role differs: a variable in one, an object in the other."""
        return self._in_b(State.ROLE)

    @property
    def dtype(self) -> tuple[str, ...]:
        """Names in b of nodes whose dtype differs."""
        return self._in_b(State.DTYPE)

    @property
    def shape(self) -> tuple[str, ...]:
        """Names in b of nodes whose shape differs, at the same dtype."""
        return self._in_b(State.SHAPE)

    @property
    def value(self) -> tuple[str, ...]:
        """Names in b of nodes whose value differs, at the same dtype and shape."""
        return self._in_b(State.VALUE)

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Names in b of nodes with an equal counterpart in a, as far as is known."""
        return self._in_b(State.MATCHED)

    @cached_property
    def not_compared(self) -> tuple[str, ...]:
        """Names in b of nodes that match, but whose values are unknown.

        Live objects and files of the V1 format have no checksums. A tensor that is stored in
        different slices has different checksums. `diff(a, b, values=True)` reads those values.
        """
        return tuple(readable_name(self.b, node) for node in self._not_compared)

    @cached_property
    def _not_compared(self) -> Sequence[int]:
        differences, pairs = self._compared.differences, self._compared.pairs
        return [pairs[a] for a, difference in differences.items() if not difference.is_compared]

    @property
    def pairs(self) -> Mapping[int, int]:
        """By node id in a, the counterpart in b; without the nodes that have moved."""
        return self._compared.pairs

    @property
    def moved_ids(self) -> Mapping[int, int]:
        """By node id in a, the node of b that has moved from there."""
        return {node_a: pair.obj for node_a, pair in self._compared.moved.items()}

    @cached_property
    def places(self) -> Mapping[int, int]:
        """By node id in a, the node's id in the graph of `overlay`."""
        return merged_ids(self.b, self.a, self._compared.anywhere)

    @property
    def states_a(self) -> tuple[State, ...]:
        """The state of each node of a, by node id."""
        return tuple(self._compared.states_a)

    @property
    def states_b(self) -> tuple[State, ...]:
        """The state of each node of b, by node id."""
        return tuple(self._compared.states_b)

    @property
    def headline(self) -> str:
        """The summary in one line, with how many values differ in what."""
        return self.overlay.headline

    @cached_property
    def overlay(self) -> Overlay:
        """The difference laid over one graph, for text and explorer: b plus the nodes only in a."""

        def table(overlay: Overlay) -> ComparisonTable:
            drawn = gc_paused(
                lambda: table_of_diff(overlay, self._said, self._unknown, self._common_values)
            )
            return drawn if self._by_node is None else with_changes(drawn, overlay, self._by_node)

        return gc_paused(lambda: overlay_of(self.a, self.b, self._compared, table, self._alarms))

    @property
    def _alarms(self) -> tuple[str, ...]:
        """What the data files of both sides lack."""
        return (*_alarms("a", self.a), *_alarms("b", self.b))

    @property
    def _said(self) -> tuple[str, ...]:
        """What no line of the table tells."""
        return (*self.notes, *self.says[:1])

    @cached_property
    def _unknown(self) -> int:
        """How many values both sides have whose numbers are not compared."""
        return sum(has_value(self.b.nodes[node]) for node in self._not_compared)

    @cached_property
    def _common_values(self) -> CommonValues:
        return common_values(self.a, self.b, self._compared)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that explain how each path led to its files, and what a file cannot hold."""
        sources = (("a", self.a.provenance), ("b", self.b.provenance))
        resolved = (f"{side}: {p.resolved}" for side, p in sources if p and p.resolved)
        return (*resolved, *filter(None, [self._note]))

    def to_svg(self) -> str:
        """Return the table of the differences as a static SVG."""
        return comparison_svg(self.overlay)

    def to_json(self) -> dict[str, Any]:
        """Return the difference as data for `json.dumps`: see docs/plan_json.md."""
        data = plan_json(self.overlay, notes=self.notes)
        if self.values is not None:
            data["common"] = self.common
            data["values"] = [change_json(change) for change in self.values]
        return data

    def to_text(self, max_lines: int | None = MAX_LINES, *, color: bool = False) -> str:
        """Return what `print` shows: what changed, and a line for each part that differs.

        Args:
            max_lines: The most lines of the table with its sentences; None: all lines.
            color: Whether to colour the lines for a terminal.
        """
        if self.is_empty and self._by_node is None:
            called = called_anew(self.a, self.b, self.pairs.items())
            title, sentence = (
                title_of(self.b, self.a),
                sentence_of_diff(self.a, self.b, {}, self._unknown, self._common_values, called),
            )
            text = text_without_lines(title, sentence, (*self._alarms, *self._said), color=color)
        else:
            text = comparison_text(self.overlay, max_lines, color=color)
        is_open = self._unknown > 0 and self.values is None
        following = [f"Pass {self.wording.values} to compare them."] if is_open else ()
        return "\n".join([text, *self.says[1:], *following])

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())

    @cached_property
    def details(self) -> Details:
        """Each difference with its reason, in the names of TensorFlow; for print."""
        return Details(self.overlay, self.notes)

    @property
    def says(self) -> tuple[str, ...]:
        """Lines about the largest changes of values; none unless the values were read."""
        if self.values is None:
            return ()
        return tuple(changes_text(self.values, self.common or 0, self._common_values))

    def __repr__(self) -> str:
        return shown_on_stdout(f"<GraphDiff {self.a.title!r} → {self.b.title!r}: {self.headline}>")

    def _names(self, pairs: Mapping[int, Pair]) -> tuple[tuple[str, str], ...]:
        return tuple(
            (readable_name(self.a, pair.node), readable_name(self.b, pair.obj))
            for pair in pairs.values()
        )

    def _in_b(self, state: State) -> tuple[str, ...]:
        return _named(self.b, self._compared.states_b, state)

    def _changes(self) -> Iterator[ChangedNode]:
        differences, pairs = self._compared.differences_anywhere, self._compared.anywhere
        for node_a, state in enumerate(self._compared.states_a):
            if state in CHANGED:
                names = readable_name(self.a, node_a), readable_name(self.b, pairs[node_a])
                yield ChangedNode(state, *names, differences[node_a].detail)


def _alarms(side: str, graph: Graph) -> Iterator[str]:
    """Yield what the data files of a side lack."""
    return (f"{ALARM} {side}: {files}" for files in lost_files(graph.stored_in))


def _named(graph: Graph, states: Sequence[State], state: State) -> tuple[str, ...]:
    nodes = (node for node, own in enumerate(states) if own is state)
    return tuple(readable_name(graph, node) for node in nodes)


def diff_of(
    a: ObjectGraph,
    b: ObjectGraph,
    *,
    values: bool = False,
    executor: Executor | None = None,
    progress: bool = True,
) -> GraphDiff:
    """Return the difference of two graphs; `values` means: read the values that may differ."""
    way, note = None, ""
    if {a.origin, b.origin} == {Origin.LIVE, Origin.SAVED}:
        a, b, way, note = _beside_keras(a, b)
    if not values:
        return gc_paused(lambda: GraphDiff(a, b, compare(a, b, way), note))
    from ckpt_viz.answers.graph_diff.value_changes import (  # they need NumPy
        by_values,
        value_changes,
    )

    first = gc_paused(lambda: compare(a, b, way))
    changes = value_changes(
        *(a, b, first.anywhere),
        parts=lambda: _parts_of(a, b, first),
        executor=executor,
        progress=progress,
    )
    differ = by_values(a, b, changes)
    compared = gc_paused(lambda: judged(a, b, first, differ))
    return GraphDiff(a, b, compared, note, changes.rows, changes.common, changes.nodes)


def _parts_of(a: Graph, b: Graph, compared: Compared) -> Mapping[int, int]:
    """Return the part that each node is in, by node of b."""
    common = common_values(a, b, compared)
    overlay = overlay_of(a, b, compared, lambda each: table_of_diff(each, (), 0, common), ())
    return DiffParts(overlay).of_nodes


def _beside_keras(
    a: ObjectGraph, b: ObjectGraph
) -> tuple[ObjectGraph, ObjectGraph, LoadWay | None, str]:
    """Return a program as Keras would write its model, if the other side is a file of Keras."""
    live, saved = (a, b) if a.origin is Origin.LIVE else (b, a)
    if not saved.is_of_keras or saved.written_by != "Keras":
        return a, b, None, ""
    from ckpt_viz.answers.graph_diff.keras_sides import (
        as_keras_saves,  # only a program with Keras needs it
    )

    written = as_keras_saves(live, saved)
    if written is None:
        return a, b, None, ""
    graph, way, note = written
    return (graph, b, way, note) if live is a else (a, graph, way, note)
