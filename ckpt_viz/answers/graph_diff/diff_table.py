"""The table of a diff: a, what has changed, and b; a line for each part and for each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.answers.graph_diff.comparison import CommonValues
from ckpt_viz.answers.graph_diff.counterparts import compares_names
from ckpt_viz.answers.graph_diff.diff_parts import DiffParts
from ckpt_viz.graphs.nodes.keras_variables import is_automatic, kind_at
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import (
    NO_LINE,
    CellSign,
    ComparisonTable,
    TableCell,
    TableLine,
    Totals,
)
from ckpt_viz.graphs.overlay.overlay import Overlay, State
from ckpt_viz.graphs.render.signs import STATES
from ckpt_viz.ground.text import count, listed, printable, readable, shape_words
from ckpt_viz.matching.changes.phrases import Phrases
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.changes.sentence import sentence_of
from ckpt_viz.matching.changes.short_names import ShortNames
from ckpt_viz.matching.correspondence.value_mapping import map_values

_SIGNS = {
    State.MATCHED: CellSign.HERE,
    State.PLAIN: CellSign.HERE,
    State.VALUE: CellSign.CHANGED,
    State.MOVED: CellSign.ELSEWHERE,
    State.ONLY_A: CellSign.NOWHERE,
    State.ONLY_B: CellSign.KEEPS,
}
_OF_VALUES = {State.MATCHED, State.PLAIN, State.VALUE}  # the structure is the same
_BY = (State.ROLE, State.DTYPE, State.SHAPE)
_CHANGES = "other numbers"
# What a closed line tells first.
_WORST = (
    *(State.ROLE, State.DTYPE, State.SHAPE, State.ONLY_A, State.ONLY_B, State.MOVED),
    *(State.VALUE, State.MATCHED, State.PLAIN),
)


def table_of_diff(
    overlay: Overlay, notes: Sequence[str], unknown: int, common: CommonValues
) -> ComparisonTable:
    """Return the table of a diff, with the sentences that explain it.

    Args:
        overlay: The diff.
        notes: What no line tells.
        unknown: How many values both graphs have whose numbers are not compared.
        common: How many values both graphs have, and how many of them differ.
    """
    lines = _DiffLines(overlay, DiffParts(overlay))
    a, b = overlay.names.other, overlay.names.base
    pairs = (
        (node, place)
        for place, node in overlay.names.in_other.items()
        if overlay.marks[place].state is not State.MOVED
    )
    return ComparisonTable(
        sentence=sentence_of_diff(a, b, lines.states, unknown, common, called_anew(a, b, pairs)),
        verdict="",
        heads=("a", "change", "", "b"),
        notes=notes,
        is_one_column=True,
        lines=lines.every(),
        totals=Totals(
            saved=sum(map(has_value, a.nodes)),
            live=sum(map(has_value, b.nodes)),
            restored=lines.states[State.MATCHED],
            fixed=None,
        ),
    )


def called_anew(a: Graph, b: Graph, pairs: Iterable[tuple[int, int]]) -> Sequence[tuple[str, str]]:
    """Return both names of layers that are in one place, and that people call otherwise.

    A file of Keras 3 has each layer at the place of its class and number. Its name is beside that.
    """
    if compares_names(a, b):
        return ()
    layers = (
        (a.nodes[node], b.nodes[place])
        for node, place in pairs
        if node != ROOT and place < len(b.nodes)
    )
    return [
        (readable(printable(was.own_name)), readable(printable(now.own_name)))
        for was, now in layers
        if was.own_name and now.own_name
        # Another number tells nothing: Keras may have made it.
        if kind_at([was.own_name]) != kind_at([now.own_name])
        if was.role is now.role is Role.LAYER
        if not any(is_automatic(str(each.own_name), each.type_name) for each in (was, now))
    ]


def sentence_of_diff(
    a: Graph,
    b: Graph,
    states: Mapping[State, int],
    unknown: int,
    common: CommonValues,
    called: Sequence[tuple[str, str]] = (),
) -> str:
    """Return how the structure differs, and then how many values have other numbers.

    The values of another shape or dtype are counted beside those: none of them is among these.
    `called` are the layers that have other names at the same places (see `called_anew`).
    """
    clauses = []
    if called:
        names = [f"{was} is called {now}" for was, now in called]
        clauses.append(f"In b, {listed(names)}.")
    if not {*states} <= _OF_VALUES:
        edits = "" if compares_names(a, b) else _edits(a, b)
        clauses.append(edits or _in_numbers(states))
    if common.numbers:
        ways = (
            *((common.numbers, f" of {count(common.all, 'common value')}", _CHANGES),),
            *((common.shape, "", "another shape"), (common.dtype, "", "another dtype")),
        )
        counts = (
            f"{number}{of_all} {'has' if number == 1 else 'have'} {way}"
            for number, of_all, way in ways
            if number
        )
        clauses.append(f"{', '.join(counts)}.")
    if unknown:
        beginning = "" if clauses else "No difference is known: "
        were = "was" if unknown == 1 else "were"
        clauses.append(f"{beginning}{count(unknown, 'value')} {were} not compared.")
    return " ".join(clauses) or "No difference."


def _edits(a: Graph, b: Graph) -> str:
    """Return what people did to one graph to get the other; "" for nothing that they would name."""
    deeds = [change.deed for change in changes_of(map_values(a, b)) if change.deed is not None]
    return sentence_of(deeds, Phrases(ShortNames.of(a, b)), by_person=False)


def _in_numbers(states: Mapping[State, int]) -> str:
    """Return how many values differ in which way."""
    counts = [
        (number, f"{'by ' if state in _BY else ''}{state.value}")
        for state in _WORST
        if state not in _OF_VALUES and (number := states.get(state, 0))
    ]
    (first, way), *others = counts
    more = [f"{number} {other}" for number, other in others]
    return f"{', '.join([count(first, 'value') + ' ' + way, *more])}."


@dataclass
class _DiffLines:
    overlay: Overlay
    _parts: DiffParts
    _lines: list[TableLine] = field(default_factory=list)

    def every(self) -> Sequence[TableLine]:
        """Return every line, each before those inside of it; the outermost are all of one state."""
        stack = [(NO_LINE, row) for row in reversed([*self._outermost(ROOT)])]
        while stack:
            parent, row = stack.pop()
            self._lines.append(self._line(row, parent))
            inside = [c for c in reversed(self._parts.children(row)) if self._states[c]]
            stack += [(len(self._lines) - 1, child) for child in inside]
        return self._lines

    @property
    def states(self) -> Counter[State]:
        """How many values are in each state."""
        return self._states[ROOT]

    def _outermost(self, row: int) -> Iterator[int]:
        """Yield the largest parts below a row whose values differ in one way, layers and blocks.

        Where numbers alone differ, it goes on to layers and blocks: each differs by another amount.
        """
        stack = [*reversed(self._parts.children(row))]
        while stack:
            row = stack.pop()
            states = self._states[row]
            is_uniform = len(states) == 1 and State.VALUE not in states
            if State.MOVED in states and row in self._new_holders:
                stack += reversed(self._parts.children(row))
            elif states and (is_uniform or self._parts.is_closed(row) or self._parts.is_whole(row)):
                yield row
            else:
                stack += reversed(self._parts.children(row))

    @cached_property
    def _new_holders(self) -> Set[int]:
        """The rows of parts that a lacks, but for their values: these were elsewhere."""
        nodes = range(ROOT + 1, len(self.overlay.names.base.nodes))
        return {*nodes}.difference(self.overlay.names.in_other)

    def _has_moved(self, node: int) -> bool:
        """Return whether another part holds a node in a, where all below it was."""
        return self.overlay.are_held_elsewhere[node] and {*self._states[node]} == {State.MOVED}

    @cached_property
    def _states(self) -> Sequence[Counter[State]]:
        """By row, how many values at it and below it are in each state."""
        layers, marks, nodes = self.overlay.layers, self.overlay.marks, self.overlay.graph.nodes
        states = [Counter[State]() for _ in layers.parents]
        for row in reversed([*layers.preorder()]):
            path = layers.path(row) if row < len(nodes) else ()
            states[row].update(marks[node].state for node in path if has_value(nodes[node]))
            if row != ROOT:
                states[layers.parents[row]].update(states[row])
        return states

    def _line(self, row: int, parent: int) -> TableLine:
        nodes, states = self.overlay.graph.nodes, self._states[row]
        is_in = {side: self._is_in(row, side) for side in ("a", "b")}
        node = row if row < len(nodes) else None
        title = self.overlay.layers.title(row)
        other = self.overlay.saved_titles.get(row, title)
        if parent == NO_LINE:
            title, other = (self._parts.place(row, name) for name in (title, other))
            if node is not None and self._has_moved(node):
                names = self.overlay.names
                title, other = names.place(node), names.place_in_other(node)
        worst = next(state for state in _WORST if states[state])
        return TableLine(
            parent,
            other if is_in["a"] else "",
            title if is_in["b"] else "",
            self._facts(row) if is_in["a"] else "not in a",
            self._facts(row) if is_in["b"] else "not in b",
            node if is_in["a"] else None,
            node if is_in["b"] else None,
            _cell(worst, states),
            None,
            states.total(),
        )

    def _is_in(self, row: int, side: str) -> bool:
        alone = State.ONLY_B if side == "a" else State.ONLY_A
        return any(state is not alone for state in self._states[row])

    def _facts(self, row: int) -> str:
        graph = self.overlay.graph
        group = self.overlay.layers.group(row)
        if group is not None:
            return f"{group.size} alike" if group.is_alike else count(group.size, "layer")
        attributes = graph.nodes[row].attributes
        if len(attributes) == 1:
            return shape_words(attributes[0].shape)
        return graph.nodes[row].type_name or ""


def _cell(worst: State, states: Mapping[State, int]) -> TableCell:
    words = _CHANGES if worst is State.VALUE else STATES[worst].word
    if len(states) > 1:
        words = f"{states[worst]} of {sum(states.values())}: {words}"
    return TableCell(_SIGNS.get(worst, CellSign.MISFIT), words)
