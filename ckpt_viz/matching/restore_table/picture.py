"""The table of a restore as a picture shows it: every line, with what is inside of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import (
    NO_LINE,
    ComparisonTable,
    TableCell,
    TableGuess,
    TableLine,
    Totals,
)
from ckpt_viz.ground.text import count
from ckpt_viz.matching.correspondence.guesses import GuessedPart
from ckpt_viz.matching.restore_table.cells import (
    IF_RIGHT,
    IN_PART,
    fixed_cell,
    no_object,
    not_saved,
    plain_cell,
    value_look,
)
from ckpt_viz.matching.restore_table.folded_rows import FoldedRows, run_of
from ckpt_viz.matching.restore_table.folding import Folding
from ckpt_viz.matching.restore_table.rows import Destination, RestoreTable
from ckpt_viz.matching.restore_table.text import CheckText, heads_of, is_one_column


def picture_of(
    table: RestoreTable,
    words: CheckText,
    places: Mapping[int, int],
    guesses: Sequence[GuessedPart] = (),
) -> ComparisonTable:
    """Return the lines of a table with the sentences around them.

    Args:
        table: The rows.
        words: The sentences.
        places: By saved node, its node in the merged graph of the picture.
        guesses: What a person can accept.
    """
    lines = _PictureLines(table, places, [part.nodes for part in guesses]).every()
    return ComparisonTable(
        sentence=words.sentence,
        verdict=words.verdict,
        heads=heads_of(words.call),
        notes=words.every_note,
        is_one_column=is_one_column(table.rows),
        lines=lines,
        totals=Totals(
            saved=sum(row.saved is not None for row in table.rows),
            live=table.in_program,
            restored=sum(
                row.plain.meant.place is Destination.HERE
                for row in table.rows
                if row.live is not None or row.is_made
            ),
            fixed=table.fixed if any(row.fixed is not None for row in table.rows) else None,
        ),
        guessed=[_guess(table, part) for part in guesses],
    )


def _guess(table: RestoreTable, part: GuessedPart) -> TableGuess:
    values = sum(row.saved in part.nodes for row in table.rows)
    number = count(values, "value")
    if part.copied:
        question = f"Do {part.copied} in {part.live} mean the same?"
        return TableGuess(values, question, f"A tick copies this part of {number}.", IN_PART.words)
    question = f"Does {part.saved} belong to {part.live}?"
    return TableGuess(values, question, f"A tick restores {number} more.", IF_RIGHT)


@dataclass
class _PictureLines:
    table: RestoreTable
    places: Mapping[int, int]
    guesses: Sequence[Set[int]]
    _lines: list[TableLine] = field(default_factory=list)

    def every(self) -> Sequence[TableLine]:
        """Return every line, each before those inside of it."""
        folding = self._folding
        stack: list[tuple[int, Iterator[FoldedRows]]] = [(NO_LINE, folding.lines())]
        while stack:
            parent, rest = stack[-1]
            folded = next(rest, None)
            if folded is None:
                stack.pop()
                continue
            self._lines.append(self._line(folded, parent))
            if len(folded.rows) > 1:  # a part of one value has nothing inside that it does not show
                stack.append((len(self._lines) - 1, folding.inside(folded)))
        return self._lines

    @cached_property
    def _folding(self) -> Folding:
        return Folding(self.table)

    def _line(self, folded: FoldedRows, parent: int) -> TableLine:
        is_inside = parent != NO_LINE
        saved, live = folded.nodes[0]
        saved_name, live_name = (
            self._name(graph, places, [pair[side] for pair in folded.nodes], is_inside=is_inside)
            for side, (graph, places) in enumerate(
                ((self.table.saved, folded.saved), (self.table.live, folded.live))
            )
        )
        return TableLine(
            parent,
            saved_name,
            live_name,
            self._facts(self.table.saved, saved, folded)
            or not_saved(self.table) * (not saved_name),
            self._facts(self.table.live, live, folded) or no_object(folded) * (not live_name),
            None if saved is None else self.places.get(saved),
            live if live is not None and live < len(self.table.live.nodes) else None,
            *self._cells(folded),
            len(folded.rows),
            self._guess(folded),
        )

    @staticmethod
    def _name(
        graph: Graph | None, places: Sequence[str], nodes: Sequence[int | None], *, is_inside: bool
    ) -> str:
        """Return the place of a line; of one inside of another its last name."""
        names = places
        if is_inside and graph is not None and len(places) <= len(nodes):
            names = ["" if node is None else graph.layers.names[node] for node in nodes]
        return run_of([name for name in (names[0], names[-1]) if name] or [""])

    def _cells(self, folded: FoldedRows) -> tuple[TableCell, TableCell | None]:
        return plain_cell(self._folding, folded), fixed_cell(folded)

    def _facts(self, graph: Graph | None, node: int | None, folded: FoldedRows) -> str:
        """Return a shape, the class of a layer, or how many parts are in a line.

        Of some layers inside of a part, the class of that part tells nothing.
        """
        if graph is None or node is None:
            return ""
        if graph is self.table.live and len(folded.live) > folded.parts:
            return ""
        if folded.parts > 1:
            return f"{folded.parts} alike"
        if node >= len(graph.nodes):
            (_, branch), *_ = folded.branches
            below = (part.node for part in branch.below)
            is_of_values = all(n < len(graph.nodes) and has_value(graph.nodes[n]) for n in below)
            return count(len(branch.below), "variable" if is_of_values else "layer")
        if has_value(graph.nodes[node]):
            return value_look(graph, node)
        kind = graph.nodes[node].type_name
        if kind or graph.nodes[node].role is Role.OPTIMIZER:
            return kind or ""
        first = next((n for _, n in graph.nodes[node].children if has_value(graph.nodes[n])), None)
        return value_look(graph, first)

    @cached_property
    def _guess_of(self) -> Mapping[int, int]:
        return {node: place for place, nodes in enumerate(self.guesses) for node in nodes}

    def _guess(self, folded: FoldedRows) -> int | None:
        """Return the guess that holds all values of a line."""
        if not self._guess_of:
            return None
        places = {self._guess_of.get(row.saved) for row in folded.rows if row.saved is not None}
        return places.pop() if len(places) == 1 else None
