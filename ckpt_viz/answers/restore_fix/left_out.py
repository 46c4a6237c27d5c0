"""What a fix leaves out, and why, as its table has it: each value for one reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import NamedTuple

from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.restore_table.parts import Chains, place_of_row
from ckpt_viz.matching.restore_table.rows import RestoreRow, RestoreTable, ValueCell, Why

_MOST_ALTERNATIVES = 3


class LeftValue(NamedTuple):
    """What people call a value that is left out, a checkpoint key, and where it may belong.

    The name is that of the live object that keeps its value, or else that of the saved value, and
    `node` is this object or this value.
    """

    name: str
    key: str = ""
    places: str = ""
    is_live: bool = False
    node: int = ROOT


class WhyLeftOut(Enum):
    """Why a fix leaves values out: in its text, and as the title of a comment in its code.

    The members are in the order of both.
    """

    ABSENT = (
        "kept; the checkpoint has none for",
        "These keep their values; the checkpoint has none for them:",
    )
    UNSURE = (
        "kept; names do not show which saved value belongs to",
        "These keep their values; names do not show which saved values are theirs, if any:",
    )
    MISFIT = (
        "kept; shape or dtype differs for",
        "These keep their values; the saved ones have another shape or dtype:",
    )
    ELSEWHERE = (
        "kept; a plain restore would put a value of another name or meaning into",
        "These keep their values; a plain restore would put values of another name or meaning into "
        "them:",
    )
    OTHER_MEANING = (
        "kept; the saved state may mean something else to",
        "These keep their values; in this optimizer's class, the saved states may mean something "
        "else:",
    )
    NO_CODE = (
        "kept; no code restores",
        "These keep their values; they are no variables, and no checkpoint of parts restores them:",
    )
    DAMAGED = (
        "kept; the saved bytes are damaged for",
        "The checkpoint has these, but their bytes are damaged:",
    )
    WAITING = (
        "restored as soon as objects are built:",
        "These are restored as soon as their objects are built:",
    )
    NOT_TRACKED = (
        "left in the checkpoint; TensorFlow tracks no object in the program for",
        "The checkpoint has these; TensorFlow tracks no object in the program for them:",
    )
    OCCUPIED = (
        "left in the checkpoint; in the program, other saved values belong to",
        "The checkpoint has these; in the program, other saved values belong to these names:",
    )
    UNUSED = (
        "left in the checkpoint; the program has no place for",
        "The checkpoint has these; the program has no place for them:",
    )

    def __init__(self, words: str, title: str) -> None:
        self.words, self.title = words, title


_OF_WHY = {
    Why.SHAPE: WhyLeftOut.MISFIT,
    Why.DTYPE: WhyLeftOut.MISFIT,
    Why.OTHER_MEANING: WhyLeftOut.OTHER_MEANING,
    Why.NO_CODE: WhyLeftOut.NO_CODE,
    Why.DAMAGED: WhyLeftOut.DAMAGED,
    Why.NOT_TRACKED: WhyLeftOut.NOT_TRACKED,
    Why.OCCUPIED: WhyLeftOut.OCCUPIED,
    Why.ABSENT: WhyLeftOut.UNUSED,
}


@dataclass(frozen=True)
class LeftOut:
    """What a restore leaves out, each value for one reason.

    Attributes:
        values: The values by reason.
        guesses: The values whose places are guesses, each with the objects that it may belong to.
        untracked: Attributes with values that TensorFlow does not follow.
        accepting: What makes a fix with the guesses.
        table: The table of the fix.
    """

    values: Mapping[WhyLeftOut, Sequence[LeftValue]]
    guesses: Sequence[LeftValue]
    untracked: Sequence[str]
    accepting: str
    table: RestoreTable

    @property
    def unused(self) -> Sequence[LeftValue]:
        """The values in the checkpoint that the program has no place for, or a place for others."""
        reasons = (WhyLeftOut.OCCUPIED, WhyLeftOut.UNUSED)
        return [value for reason in reasons for value in self.values.get(reason, ())]

    def in_words(self, guessed_parts: Sequence[str]) -> Iterator[str]:
        """Yield a line for each reason; `guessed_parts` are the saved parts that hold guesses."""
        for reason, values in self.values.items():
            yield f"{count(len(values), 'value')} {reason.words} {listed(self._parts(values))}"
        if self.untracked:
            number = count(len(self.untracked), "attribute")
            yield f"{number} left out; TensorFlow does not track {listed([*self.untracked])}"
        if self.guesses:
            number = count(len(self.guesses), "value")
            why = "because only order or shape suggests their places"
            yield f"{number} left out as guesses, {why}: {listed([*guessed_parts])}"

    def _parts(self, values: Sequence[LeftValue]) -> list[str]:
        """Return what to call values: the largest parts that have no others, or each value."""
        of_side: dict[tuple[bool, int], str] = {}
        for is_live, graph in ((True, self.table.live), (False, self.table.saved)):
            nodes = [value.node for value in values if value.is_live is is_live]
            parts = _largest_parts(graph, nodes) if graph is not None and nodes else {}
            of_side.update(((is_live, node), name) for node, name in parts.items())
        return [*dict.fromkeys(of_side[value.is_live, value.node] for value in values)]

    def without(self, reason: WhyLeftOut, names: Collection[str]) -> LeftOut:
        """Return the same without the values of a reason that have one of these names or keys."""
        others = [v for v in self.values.get(reason, ()) if not {v.name, v.key} & {*names}]
        values = {key: left for key, left in {**self.values, reason: others}.items() if left}
        return replace(self, values=values)


def left_out(table: RestoreTable, accepting: str) -> LeftOut:
    """Return what the fix of a table leaves out."""
    assert table.saved is not None
    saved, live = table.saved, table.live
    rows = [(row, _reason(row, cell), cell) for row, cell in table.not_restored]
    unused = {row.saved for row, reason, _ in rows if reason is WhyLeftOut.UNUSED}
    is_open = unused | {row.saved for row, reason, _ in rows if reason is None}
    looks = {_look(saved, node) for node in is_open} if saved.is_name_based else set()
    alone = (row for row, _, _ in rows if row.saved is None)  # what these get is a saved node
    astray = {row.plain.other: row.live for row in alone if row.plain.other in unused}
    places: dict[WhyLeftOut, list[_LeftPlace]] = {reason: [] for reason in WhyLeftOut}
    guesses: list[_LeftPlace] = []
    for row, reason, cell in rows:
        if cell.why is Why.NOT_BUILT:
            continue  # the fix says what to do first
        place = _LeftPlace(row.saved, cell.other if row.live is None else row.live)
        if reason is None:
            guesses.append(place)
        elif reason is not WhyLeftOut.ABSENT:
            places[reason] += [] if row.saved in astray else [place]
        elif row.live is not None and astray.get(row.plain.other) == row.live:
            places[WhyLeftOut.ELSEWHERE].append(_LeftPlace(row.plain.other, row.live))
        else:
            is_unsure = _look(live, row.live) in looks
            places[WhyLeftOut.UNSURE if is_unsure else reason].append(place)
    return LeftOut(
        {reason: [*_named(saved, live, every)] for reason, every in places.items() if every},
        [*_guessed(saved, live.names, guesses)],
        [*_untracked(live.names)],
        accepting,
        table,
    )


class _LeftPlace(NamedTuple):
    """A saved node and the live object of its value; None for what is not there."""

    node: int | None
    obj: int | None


def _reason(row: RestoreRow, cell: ValueCell) -> WhyLeftOut | None:
    """Return why a value is left out; None for a guess."""
    if row.saved is None:
        return WhyLeftOut.UNSURE if cell.why is Why.GUESS else WhyLeftOut.ABSENT
    return WhyLeftOut.WAITING if cell.why is None else _OF_WHY.get(cell.why)


def _look(graph: Graph, node: int | None) -> tuple[object, ...]:
    """Return whether a node is a slot variable, and the dtypes and shapes of its values."""
    assert node is not None
    specs = ((values.dtype, values.shape) for values in graph.nodes[node].attributes)
    return graph.nodes[node].slot is not None, *specs


def _named(saved: Graph, live: Graph, places: Sequence[_LeftPlace]) -> Iterator[LeftValue]:
    for node, obj in places:
        graph, part = (saved, node or ROOT) if obj is None else (live, obj)
        name = graph.names.place_or_state(part)
        for key in (() if node is None else keys_of(saved, node)) or ("",):
            yield LeftValue(name, key, is_live=obj is not None, node=part)


def _largest_parts(graph: Graph, nodes: Sequence[int]) -> Mapping[int, str]:
    """Return by value the name of the largest part with these values and no others.

    A slot variable is in its variable's part if both are here, and else in its optimizer's.
    """
    here, chains, slots = {*nodes}, Chains(graph), [node.slot for node in graph.nodes]

    def parts_with(node: int) -> list[int]:
        slot = slots[node]
        if slot is None or slot.optimizer is None or slot.variable in here:
            return chains.of(node)
        return chains.of(slot.optimizer)

    above = {node: parts_with(node) for node in here}
    number = Counter(part for parts in above.values() for part in parts)
    valued = (node for node in graph.tree.preorder() if has_value(graph.nodes[node]))
    every = Counter(part for node in valued for part in parts_with(node))
    whole = {part for part, count in number.items() if 1 < count == every[part]}
    largest = {node: next((p for p in above[node] if p in whole), node) for node in nodes}
    names = {part: place_of_row(graph, part) for part in {*largest.values()}}
    return {node: names[part] for node, part in largest.items()}


def keys_of(saved: Graph, node: int) -> tuple[str, ...]:
    """Return the checkpoint keys of a saved node's own values."""
    return tuple(attribute.checkpoint_key for attribute in saved.nodes[node].attributes)


def _guessed(saved: Graph, names: LayerNames, guesses: Sequence[_LeftPlace]) -> Iterator[LeftValue]:
    """Yield the values of guesses, each with the objects of its kind that it may belong to."""

    def kind(node: int) -> object:
        return saved.tree.labels[node], values_of(saved.nodes[node])

    pairs = [(node, obj) for node, obj in guesses if node is not None and obj is not None]
    of_kind: dict[object, list[int]] = {}
    for node, obj in pairs:
        of_kind.setdefault(kind(node), []).append(obj)
    for node, obj in pairs:
        places = _alternatives(names, obj, [*dict.fromkeys(of_kind[kind(node)])])
        for key in keys_of(saved, node):
            yield LeftValue(saved.names.place_or_state(node), key, places)


def _alternatives(names: LayerNames, obj: int, objects: Sequence[int]) -> str:
    others = islice((other for other in objects if other != obj), _MOST_ALTERNATIVES - 1)
    shown = [names.place_or_state(other) for other in (obj, *others)]
    more = len(objects) - len(shown)
    return " or ".join(shown) + (f", or {more} more" if more else "")


def _untracked(names: LayerNames) -> Iterator[str]:
    for obj, node in enumerate(names.graph.nodes):
        for attribute in node.not_saved:
            if attribute.is_lost:
                yield names.child_place(obj, attribute.name)
