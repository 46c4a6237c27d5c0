"""A comparison laid over one merged graph: a mark on every node, the problems, the verdict.

A restore check and a diff both produce it, so text, explorer and JSON show them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import chain

from ckpt_viz.graphs.layers.layers import layers_of
from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.lookup import Lookup, first_meant
from ckpt_viz.graphs.object_graph.meant import the_one
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.remedy import Remedy, names_the_fix
from ckpt_viz.ground.text import readable
from ckpt_viz.ground.wording import PYTHON, Wording

# A problem of hundreds of nodes, such as a restore that ends halfway, is no reason to show each.
_MAX_OF_PROBLEM = 8


class Comparison(str, Enum):
    """The kind of comparison: a checkpoint with the program to restore it, or two graphs."""

    CHECK = "check"
    DIFF = "diff"


class State(str, Enum):
    """How a node of one side relates to the other. `PLAIN` has no value and no problem.

    >>> diff = cv.diff("ckpts/ckpt-2", "ckpts/ckpt-3", values=True, progress=False)
    >>> diff.states_b.count(cv.State.VALUE)  # nodes whose value has changed
    3
    """

    PLAIN = "plain"
    MATCHED = "matched"
    LIVE_ONLY = "live only"  # check: a value of the program that the checkpoint lacks
    SAVED_ONLY = "saved only"  # check: a saved value that nothing in the program takes
    DEFERRED = "deferred"  # check: a saved value that waits for an object that does not exist yet
    SHAPE = "shape"
    DTYPE = "dtype"
    FAILED = "failed"  # check: restoring this node raises something else
    WARNED = "warned"  # check: restored in TensorFlow's view, but wrong or lost
    ONLY_A = "only in a"
    ONLY_B = "only in b"
    ROLE = "role"
    VALUE = "value"
    MOVED = "moved"


QUIET = frozenset({State.PLAIN, State.MATCHED})  # nothing that needs attention


class Severity(str, Enum):
    """How bad a problem is, worst first.

    >>> findings = cv.check(ckpt, "ckpts/ckpt-3").findings
    >>> [finding.why for finding in findings if finding.severity is cv.Severity.ERROR]
    ['The head is larger: 3 → 5 (2 values).']
    """

    ERROR = "error"  # restore raises
    FAIL = "fail"  # an assert fails
    DEFERRED = "deferred"  # resolves once something is built
    WARNING = "warning"  # passes, though values are wrong or lost
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a comparison says of one node.

    `detail` is the difference in few words, `float32 8×10 ≠ 8×12`. `partner` is the name of the
    node on the other side, if it differs from this node's name. `goes_to` is the other node into
    which a plain restore puts the value that the checkpoint has of this node.
    """

    state: State
    detail: str = ""
    partner: str = ""
    goes_to: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to know, with its place in the merged graph and what to do about it.

    `nodes` are all the nodes it is about; the explorer shows it at the first. `nodes` is empty if
    the problem is about the whole comparison. `saved` and `live` are names on the two sides (of a
    diff: in a and in b); `why` is a sentence or two. `lead` is the place, among all problems, of
    the one that tells of the change behind this one: it may be its own. `place` is the path in the
    names that people give: on both sides, if these differ.
    """

    severity: Severity
    kind: str
    nodes: tuple[int, ...]
    saved: str | None
    live: str | None
    why: str
    remedy: Remedy | None = None
    lead: int | None = None
    place: str = ""

    def to_do(self, wording: Wording) -> str:
        """Return the remedy in the sentence of a place; "" for none."""
        return "" if self.remedy is None else readable(self.remedy.in_words(wording))

    def by_the_fix(self, wording: Wording) -> str | None:
        """Return the sentence of a place that shows the fix; None if the fix is no remedy."""
        return self.to_do(wording) if names_the_fix(self.remedy) else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something passes: an assert of a restore's status, or equality of two graphs.

    `message` is what TensorFlow would raise, if it raises: the class and the text.
    """

    name: str
    passes: bool
    message: str = ""


@dataclass(frozen=True)
class Overlay:
    """A comparison of two graphs, laid over one merged graph.

    The base of `graph` is the live side (of a diff: b), and its nodes keep their ids. From
    `base_size` on follow the nodes of the saved side (a) without a counterpart there. `headline` is
    the result in a few words: `assert_consumed() would fail`. `notes` are
    sentences about what the comparison leaves open. `saved_elements` has the number of elements
    there of those that have another number here. `wording` is how its sentences call the next step.
    `guesses` are what a person may accept. `sides` has the names on each side; without it, the
    merged graph has all names. `has_steps` says that a check has steps to play, and `can_change`
    that its program can be changed. `draw_table` makes the table of this overlay, which costs as
    much as a fix.
    """

    comparison: Comparison
    graph: Graph
    base_size: int
    marks: Sequence[Mark]
    problems: Sequence[Problem]
    verdicts: Sequence[Verdict]
    headline: str
    draw_table: Callable[[Overlay], ComparisonTable] = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()
    saved_elements: Mapping[int, int] = field(default_factory=dict)
    wording: Wording = PYTHON
    guesses: Sequence[str] = ()
    sides: SideNames | None = None
    has_steps: bool = True
    can_change: bool = True

    @cached_property
    def table(self) -> ComparisonTable:
        """The table of the comparison."""
        return self.draw_table(self)

    @property
    def passes(self) -> bool:
        """Whether every verdict passes."""
        return all(verdict.passes for verdict in self.verdicts)

    @cached_property
    def names(self) -> SideNames:
        """The names of the nodes, each on its own side."""
        return SideNames.of_one(self.graph) if self.sides is None else self.sides

    def node_id(self, name: str) -> int:
        """Return the one node that a name means, on either side; raises as `Graph.node_id` does."""
        meanings = chain(self.names.meanings(name), Lookup(self.graph, self).meanings(name))
        return the_one(self.graph, first_meant(meanings), name)

    @cached_property
    def layers(self) -> Layers:
        """The layers of the merged graph; what needs attention has a row of its own there."""
        named: set[int] = set()
        for problem in self.problems:
            is_large = len(problem.nodes) > _MAX_OF_PROBLEM
            named.update(problem.nodes[:1] if is_large else problem.nodes)
        marks = {
            node_id: (mark.state, mark.detail, mark.goes_to is not None, node_id in named)
            for node_id, mark in enumerate(self.marks)
            if mark.state not in QUIET or node_id in named
        }
        graph, base = self.graph, self.names.base
        if not marks and graph.nodes is base.nodes:
            return base.layers
        names = [*map(self.names.name, range(len(graph.nodes)))]
        return layers_of(graph.nodes, graph.tree, marks, graph.calls, names, graph.hanging)

    @cached_property
    def saved_titles(self) -> Mapping[int, str]:
        """The titles on the saved side (in a) of the rows of layers that have others there."""
        others = {node: name for node, name in enumerate(self.saved_names) if name is not None}
        return self.layers.titles_with(others)

    @cached_property
    def saved_names(self) -> Sequence[str | None]:
        """What people call each node on the saved side (in a), if that is another name.

        Of what another part holds there, this is the whole path. A number alone is no name of a
        node without values: it may be that of an item in another block.
        """
        names, valued = self.names, walks.with_value_below(self.graph.nodes)
        saved_names: list[str | None] = []
        for node_id, is_elsewhere in enumerate(self.are_held_elsewhere):
            name_in_other = names.place_in_other if is_elsewhere else names.name_in_other
            other = name_in_other(node_id)
            is_number = other.isdecimal() and node_id not in valued
            is_none = is_number or other in ("", names.name(node_id))
            saved_names.append(None if is_none else other)
        return saved_names

    def saved_labels(self) -> Iterator[str | None]:
        """Yield each node's local name on the saved side (in a), if it has another there."""
        for node_id, label in enumerate(self.graph.tree.labels):
            other = self.names.label_in_other(node_id)
            yield None if other in ("", label) else other

    @cached_property
    def are_held_elsewhere(self) -> Sequence[bool]:
        """Whether another part holds a node on the saved side (in a), by node."""
        return [*map(self.names.is_held_elsewhere, range(len(self.marks)))]
