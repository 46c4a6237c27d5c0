"""Changes as what people did: the act and its parts, for the sentence at the head of a check."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property

from ckpt_viz.changes.emptied import Emptied
from ckpt_viz.changes.in_sequences import index
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.looks import have_doubles
from ckpt_viz.correspondence.pairs import Certainty, Evidence
from ckpt_viz.correspondence.sequences import INDEX
from ckpt_viz.correspondence.value_mapping import ValueMapping
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keras_variables import is_automatic
from ckpt_viz.object_graph.nodes import ROOT, has_value

_INPUT = "InputLayer"  # Keras inserts it itself
LOOKS = frozenset({Evidence.CONTENT, Evidence.ORDER, Evidence.ALONE})  # which tell no name
SWAPPED = ("first", "second")  # the words of an order in which two items have changed places
_Pair = tuple[int, int]


class Act(Enum):
    """What somebody did."""

    REMOVED = auto()
    ADDED = auto()
    EMPTY = auto()  # the program has a part of the file, but nothing for its values
    VALUELESS = auto()  # the file has a part of the program, but no values of it
    FEWER = auto()  # parts are gone among others that are alike
    MORE = auto()
    WEIGHTLESS = auto()  # layers without weights are new or gone, of which a file says nothing
    REPLACED = auto()
    HEAD = auto()  # the last layers are others
    RESIZED = auto()
    RENAMED = auto()
    MOVED = auto()
    ROOT = auto()  # the file begins at another level
    PUT_INTO = auto()
    WRAPPED = auto()
    INLINED = auto()
    UNWRAPPED = auto()
    CONTAINER = auto()
    REORDERED = auto()
    SCOPE = auto()
    KERAS = auto()
    DTYPE = auto()
    OPTIMIZER = auto()


_OF_KIND = {
    Kind.RENAMED: Act.RENAMED,
    Kind.MOVED: Act.MOVED,
    Kind.CONTAINER_CHANGED: Act.CONTAINER,
    Kind.REORDERED: Act.REORDERED,
    Kind.ROOT_SHIFTED: Act.ROOT,
    Kind.SCOPE_CHANGED: Act.SCOPE,
    Kind.MIGRATED: Act.KERAS,
    Kind.DTYPE: Act.DTYPE,
}


@dataclass(frozen=True)
class Subject:
    """Parts that changed alike: the topmost ones on both sides, and further words.

    `alone` are the items of a sequence that one side has alone. Of a guess, order or shapes tell;
    `has_rivals` says that either side has other parts of these shapes without a sure counterpart.
    `is_by_looks` says that shapes tell of it, and no name.
    """

    nodes: Sequence[int]
    objects: Sequence[int]
    words: Sequence[str]
    alone: Sequence[int] = ()
    is_guess: bool = False
    has_rivals: bool = False
    is_by_looks: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody did: the act, its saved and its live parts, and further words.

    A part that both sides have is at the same place in `nodes` and `objects`. CERTAIN: nothing else
    can have happened. LIKELY: only looks tell. GUESS: equal parts fit as well.
    """

    act: Act
    nodes: tuple[int, ...] = ()
    objects: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    certainty: Certainty = Certainty.CERTAIN


@dataclass(frozen=True)
class Deeds:
    """Reads deeds from changes, with the counterparts of their parts."""

    mapping: ValueMapping
    emptied: Emptied

    @property
    def _saved(self) -> Graph:
        return self.mapping.saved

    @property
    def _live(self) -> Graph:
        return self.mapping.live

    def of(self, kind: Kind, subject: Subject) -> Deed | None:
        """Return what was done to some parts; None if Keras chose the name that differs."""
        words = tuple(subject.words)
        match kind:
            case Kind.RENAMED if self._saved.is_of_keras and self._is_renamed_by_keras(subject):
                return None
            case Kind.REMOVED | Kind.INSERTED:
                return self._of_sequence(subject, is_new=kind is Kind.INSERTED)
            case Kind.UNRESOLVED:
                is_unclear = words and have_doubles(self._saved, subject.nodes)
                act = Act.FEWER if is_unclear else Act.REMOVED
                is_empty = all(map(self.emptied.is_in_program, subject.nodes))
                sure = Certainty.CERTAIN if is_unclear else self._sure_of(self._saved, subject)
                return Deed(Act.EMPTY if is_empty else act, (*subject.nodes,), (), words, sure)
            case Kind.UNMATCHED:
                is_unclear = words and have_doubles(self._live, subject.objects)
                act = Act.MORE if is_unclear else Act.ADDED
                is_empty = all(map(self.emptied.is_in_file, subject.objects))
                act = Act.VALUELESS if is_empty else act
                sure = Certainty.CERTAIN if is_unclear else self._sure_of(self._live, subject)
                return Deed(act, (), (*subject.objects,), words, sure)
            case Kind.SHAPE:
                return self._reshaped(subject)
            case Kind.DTYPE:
                pairs = [*zip(subject.nodes, subject.objects, strict=False)]
            case Kind.REORDERED:
                pairs, words = self._moved_in_order(subject)
            case _:
                pairs = self._moved(subject)
        if not pairs:  # an order in which other parts have moved
            return None
        nodes, objects = _sides(pairs)
        return Deed(self._act(kind, subject), nodes, objects, words, _certainty(subject))

    def _sure_of(self, graph: Graph, subject: Subject) -> Certainty:
        """Return how sure it is that one side has a part alone.

        If it has no name of its own, and only looks tell where the items of its sequence are now,
        they tell of it, too.
        """
        part = (*subject.nodes, *subject.objects)[0]
        is_by_looks = graph.tree.parents[part] in self._told_by_looks[graph is self._live]
        name, is_item = graph.names.name(part), INDEX.fullmatch(graph.tree.labels[part])
        is_nameless = INDEX.fullmatch(name) is not None or is_automatic(name, None)
        is_unsure = bool(subject.words) or (is_item is not None and is_nameless and is_by_looks)
        return Certainty.LIKELY if is_unsure else Certainty.CERTAIN

    @cached_property
    def _told_by_looks(self) -> tuple[frozenset[int], frozenset[int]]:
        """The saved and live holders of parts whose other places only looks tell."""
        saved, live = self._saved.tree, self._live.tree
        pairs = [
            (node, obj)
            for node, obj, _, evidence in self.mapping.parts.values()
            if evidence in LOOKS and saved.labels[node] != live.labels[obj]
        ]
        nodes, objects = _sides(pairs)
        return (
            frozenset(map(saved.parents.__getitem__, nodes)),
            frozenset(map(live.parents.__getitem__, objects)),
        )

    def replaced(self, node: int, obj: int) -> Deed:
        """Return that another part is in the place of one, with values of other shapes.

        A name that Keras made says nothing of the part: then it has other sizes.
        """
        values, others = _values(self._saved, node), _values(self._live, obj)
        if self._is_resized(node, obj) and len(values) == len(others):
            return Deed(Act.RESIZED, values, others)
        return Deed(Act.REPLACED, (node,), (obj,))

    def _is_renamed_by_keras(self, subject: Subject) -> bool:
        """Return whether Keras made a name, or files and programs alone spell it differently."""
        was, now = self._saved.names.name, self._live.names.name
        return is_automatic(subject.words[0], None) or all(
            was(node) == now(obj) for node, obj in self._pairs(subject)
        )

    def _is_resized(self, node: int, obj: int) -> bool:
        """Return whether a part is the same by its name, which may have fewer words now."""
        was, now = self._saved.names.name(node), self._live.names.name(obj)
        if is_automatic(was, None) and (self._saved.is_of_keras or is_automatic(now, None)):
            return True
        words = [{*name.split("_")} for name in (was, now)]
        return words[0] <= words[1] or words[1] <= words[0]

    def _act(self, kind: Kind, subject: Subject) -> Act:
        match kind:
            case Kind.WRAPPED:
                label = self._live.tree.labels[subject.objects[0]]
                return Act.WRAPPED if label == subject.words[-1] else Act.PUT_INTO
            case Kind.UNWRAPPED:
                label = self._saved.tree.labels[subject.nodes[0]]
                return Act.UNWRAPPED if label == subject.words[-1] else Act.INLINED
            case _:
                return _OF_KIND[kind]

    def _reshaped(self, subject: Subject) -> Deed:
        """Return that values of a layer have other shapes, or that another one took its place."""
        pairs = [*zip(subject.nodes, subject.objects, strict=True)]
        above = self._saved.tree.parents[pairs[0][0]], self._live.tree.parents[pairs[0][1]]
        if min(above) > ROOT and {*_values(self._saved, above[0])} <= {*subject.nodes}:
            deed = self.replaced(*above)
            if deed.act is Act.REPLACED:
                return replace(deed, certainty=_certainty(subject))
        return Deed(
            Act.RESIZED, tuple(subject.nodes), tuple(subject.objects), (), _certainty(subject)
        )

    def _of_sequence(self, subject: Subject, *, is_new: bool) -> Deed | None:
        """Return which items of a sequence one side has alone, so far as they are known."""
        graph, number = self._live if is_new else self._saved, int(subject.words[1])
        valued = [top for top in subject.alone if _values(graph, top)]
        alone = valued or [top for top in subject.alone if graph.nodes[top].type_name != _INPUT]
        act = Act.ADDED if is_new else Act.REMOVED
        certainty = Certainty.CERTAIN
        if not alone:  # they came from elsewhere
            return None
        if len(alone) > number:
            act = (Act.MORE if is_new else Act.FEWER) if valued else Act.WEIGHTLESS
        elif subject.is_by_looks or subject.is_guess:
            certainty = _certainty(subject)
        elif not is_new and not valued:  # such a layer may be elsewhere now
            certainty = Certainty.LIKELY
        nodes, objects = ((), alone) if is_new else (alone, ())
        return Deed(act, (*nodes,), (*objects,), (str(number),), certainty)

    def _pairs(self, subject: Subject) -> list[_Pair]:
        """Return the parts that both sides have, those with values if any has one."""
        parts = self.mapping.parts
        pairs = [(node, parts[node].obj) for node in subject.nodes if node in parts]
        return [pair for pair in pairs if _values(self._saved, pair[0])] or pairs

    def _moved(self, subject: Subject) -> list[_Pair]:
        """Return the parts whose name or holder differs, without those that only follow them."""
        saved, live = self._saved.tree, self._live.tree
        pairs = self._pairs(subject)
        above = {node: self.mapping.parts.get(saved.parents[node]) for node, _ in pairs}
        return [
            (node, obj)
            for node, obj in pairs
            if (holder := above[node]) is None
            or holder.obj != live.parents[obj]
            or not _are_indices(saved.labels[node], live.labels[obj])
        ] or pairs

    def _moved_in_order(self, subject: Subject) -> tuple[list[_Pair], tuple[str, ...]]:
        """Return the fewest items whose move explains an order, and how they moved."""
        saved, live = self._saved.tree.labels, self._live.tree.labels
        pairs = [
            (node, obj)
            for node, obj in self._pairs(subject)
            if _are_indices(saved[node], live[obj])
        ]
        pairs.sort(key=lambda pair: index(saved[pair[0]]))
        by_place = sorted(pairs, key=lambda pair: index(live[pair[1]]))
        differing = [pair for pair, now in zip(pairs, by_place, strict=True) if pair != now]
        if len(differing) == len(SWAPPED):
            return differing, SWAPPED
        kept = _longest_in_order([index(live[obj]) for _, obj in pairs])
        return [pair for i, pair in enumerate(pairs) if i not in kept], ()


def _sides(pairs: Iterable[_Pair]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pairs = [*pairs]
    return tuple(node for node, _ in pairs), tuple(obj for _, obj in pairs)


def _are_indices(*labels: str) -> bool:
    return all(map(INDEX.fullmatch, labels))


def _longest_in_order(places: Sequence[int]) -> set[int]:
    """Return the indices of one longest sequence of places that counts up.

    >>> sorted(_longest_in_order([1, 2, 3, 0]))
    [0, 1, 2]
    """
    ends: list[int] = []  # by length, the index at which the lowest sequence of it ends
    before: list[int | None] = []
    for i, place in enumerate(places):
        length = bisect_left([places[end] for end in ends], place)
        before.append(ends[length - 1] if length else None)
        ends[length : length + 1] = [i]
    kept = set[int]()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept


def _certainty(subject: Subject) -> Certainty:
    if subject.is_guess and subject.has_rivals:
        return Certainty.GUESS
    return Certainty.LIKELY if subject.is_guess or subject.is_by_looks else Certainty.CERTAIN


def _values(graph: Graph, top: int) -> tuple[int, ...]:
    """Return the values of a part, without states of optimizers."""
    nodes = graph.nodes
    below = (node for node in graph.tree.below(top) if nodes[node].slot is None)
    return tuple(node for node in below if has_value(nodes[node]))
