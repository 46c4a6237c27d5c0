"""Changes as what people did: the act and its parts, for the sentence at the head of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property

from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.names import is_chosen, is_place
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.changes.edges import OF_KERAS_2
from ckpt_viz.matching.changes.emptied import Emptied
from ckpt_viz.matching.changes.in_sequences import index
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.looks import have_doubles
from ckpt_viz.matching.correspondence.alignment import longest_increasing
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping

_INPUT = "InputLayer"  # Keras inserts it itself
LOOKS = frozenset({Evidence.CONTENT, Evidence.ORDER, Evidence.ALONE})  # which tell no name
SWAPPED = ("first", "second")  # the words of an order in which two items have changed places
_Pair = tuple[int, int]


class Act(Enum):
    """What somebody did."""

    REMOVED = auto()
    ADDED = auto()
    EMPTY = auto()  # the program has a part of the file, but nothing for its values
    UNTRAINED = auto()  # only the optimizer led to a part, and trains the part no longer
    SHARED = auto()  # the name of a part leads to another part of the program
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


# Of the saved side and of the program: among alike parts, gone or new, without values elsewhere.
_ONE_SIDED = ((Act.FEWER, Act.REMOVED, Act.EMPTY), (Act.MORE, Act.ADDED, Act.VALUELESS))


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


@dataclass
class Group:
    """Parts that changed alike: their topmost saved nodes and live objects, and what tells more.

    `words` are labels that tell more. `alone` are the items of a sequence that one side has alone.
    `deed` is what somebody did to an optimizer.
    """

    kind: Kind
    words: tuple[str, ...] = ()
    nodes: list[int] = field(default_factory=list)
    objects: list[int] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    deed: Deed | None = None


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

    def of(self, group: Group, certainty: Certainty) -> Deed | None:
        """Return what was done to some parts; None if Keras chose the name that differs."""
        words, kind = group.words, group.kind
        match kind:
            case Kind.RENAMED if self._is_renamed_by_keras(group):
                return None
            case Kind.REMOVED | Kind.INSERTED:
                return self._of_sequence(group, certainty, is_new=kind is Kind.INSERTED)
            case Kind.UNRESOLVED:
                return self._one_sided(group, self._saved, self.emptied.is_in_program)
            case Kind.UNMATCHED:
                return self._one_sided(group, self._live, self.emptied.is_in_file)
            case Kind.SHAPE:
                return self._reshaped(group, certainty)
            case Kind.DTYPE:
                pairs = [*zip(group.nodes, group.objects, strict=False)]
            case Kind.REORDERED:
                pairs, words = self._moved_in_order(group)
            case _:
                pairs = self._moved(group)
        if not pairs:  # an order in which other parts have moved
            return None
        nodes, objects = _sides(pairs)
        return Deed(self._act(group), nodes, objects, words, certainty)

    def _one_sided(self, group: Group, graph: Graph, is_empty: Callable[[int], bool]) -> Deed:
        """Return that one side has parts alone; the other may have them without values."""
        parts = group.nodes if graph is self._saved else group.objects
        fewer, gone, empty = _ONE_SIDED[graph is self._live]
        is_unclear = bool(group.words) and have_doubles(graph, parts)
        act = empty if all(map(is_empty, parts)) else fewer if is_unclear else gone
        if act is Act.REMOVED and self._are_untrained(parts):
            act = Act.UNTRAINED
        shared = [self._shared_with(part) for part in parts] if act is Act.REMOVED else [None]
        if None not in shared:
            return Deed(Act.SHARED, (*parts,), tuple(obj for obj in shared if obj is not None))
        sure = Certainty.CERTAIN if is_unclear else self._sure_of(graph, group)
        return Deed(act, (*group.nodes,), (*group.objects,), group.words, sure)

    def _shared_with(self, node: int) -> int | None:
        """Return the part of the program that has the name of a part, and another name, too.

        It has another counterpart. A number says nothing: any item may have it now.
        """
        tree = self._saved.tree
        holder = self.mapping.parts.get(tree.parents[node])
        is_number = INDEX.fullmatch(tree.labels[node]) or self._is_in_list_of_keras(node)
        if holder is None or is_number:
            return None
        children = {c.local_name: c.node_id for c in self._live.nodes[holder.obj].children}
        obj = children.get(tree.labels[node])
        is_there = any(pair.obj == obj for pair in self.mapping.parts.values())
        has_other = obj is not None and self._live.tree.labels[obj] != tree.labels[node]
        return obj if is_there and has_other else None

    def _sure_of(self, graph: Graph, group: Group) -> Certainty:
        """Return how sure it is that one side has a part alone.

        If it has no name of its own, and only looks tell where the items of its sequence are now,
        they tell of it, too.
        """
        part = (*group.nodes, *group.objects)[0]
        is_by_looks = graph.tree.parents[part] in self._told_by_looks[graph is self._live]
        name, is_item = graph.names.name(part), INDEX.fullmatch(graph.tree.labels[part])
        is_nameless_item = is_item is not None and _is_nameless(name)
        is_unsure = bool(group.words) or (is_nameless_item and is_by_looks)
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

    def _is_renamed_by_keras(self, group: Group) -> bool:
        """Return whether Keras made a name, or files and programs alone spell it differently.

        A part of Keras' own list has a place for its name, another one if the list is shorter.
        """
        was, now = self._saved.names.name, self._live.names.name
        if self._saved.is_of_keras and is_automatic(group.words[0], None):
            return True
        are_places = self._saved.is_of_keras or not any(map(is_chosen, group.words))
        return are_places and all(
            was(node) == now(obj) or self._is_in_list_of_keras(node)
            for node, obj in self._pairs(group)
        )

    def _is_in_list_of_keras(self, node: int) -> bool:
        tree = self._saved.tree
        is_private = tree.labels[tree.parents[node]].startswith("_")
        return is_private or OF_KERAS_2.fullmatch(tree.labels[node]) is not None

    def _is_resized(self, node: int, obj: int) -> bool:
        """Return whether a part is the same by its name, which may have fewer words now.

        Neither a number nor a name that Keras made says what it is.
        """
        was, now = self._saved.names.name(node), self._live.names.name(obj)
        if _is_nameless(was) and (self._saved.is_of_keras or is_automatic(now, None)):
            return True
        words = [{*name.split("_")} for name in (was, now)]
        return words[0] <= words[1] or words[1] <= words[0]

    def _act(self, group: Group) -> Act:
        match group.kind:
            case Kind.WRAPPED:
                label = self._live.tree.labels[group.objects[0]]
                return Act.WRAPPED if label == group.words[-1] else Act.PUT_INTO
            case Kind.UNWRAPPED:
                label = self._saved.tree.labels[group.nodes[0]]
                return Act.UNWRAPPED if label == group.words[-1] else Act.INLINED
            case _:
                return _OF_KIND[group.kind]

    def _reshaped(self, group: Group, certainty: Certainty) -> Deed:
        """Return that values of a layer have other shapes, or that another one took its place."""
        pairs = [*zip(group.nodes, group.objects, strict=True)]
        above = self._saved.tree.parents[pairs[0][0]], self._live.tree.parents[pairs[0][1]]
        if min(above) > ROOT and {*_values(self._saved, above[0])} <= {*group.nodes}:
            deed = self.replaced(*above)
            if deed.act is Act.REPLACED:
                return replace(deed, certainty=certainty)
        return Deed(Act.RESIZED, (*group.nodes,), (*group.objects,), (), certainty)

    def _of_sequence(self, group: Group, sure: Certainty, *, is_new: bool) -> Deed | None:
        """Return which items of a sequence one side has alone, so far as they are known."""
        graph, number = self._live if is_new else self._saved, int(group.words[1])
        valued = [top for top in group.alone if _values(graph, top)]
        alone = valued or [top for top in group.alone if graph.nodes[top].type_name != _INPUT]
        act = Act.ADDED if is_new else Act.REMOVED
        certainty = Certainty.CERTAIN
        if not alone:  # they came from elsewhere
            return None
        if len(alone) > number:
            act = (Act.MORE if is_new else Act.FEWER) if valued else Act.WEIGHTLESS
        elif sure is not Certainty.CERTAIN:
            certainty = sure
        elif not is_new and not valued:  # such a layer may be elsewhere now
            certainty = Certainty.LIKELY
        nodes, objects = ((), alone) if is_new else (alone, ())
        return Deed(act, (*nodes,), (*objects,), (str(number),), certainty)

    def _are_untrained(self, nodes: Iterable[int]) -> bool:
        """Return whether an optimizer led to these alone, and leads to some variables no longer.

        Then somebody froze them: the program still has them, where TensorFlow follows nothing.
        """
        notes = (note for node in self._live.nodes for note in node.not_saved)
        hanging = {*self._saved.hanging.variables}
        is_hanging = all(hanging.issuperset(_values(self._saved, node)) for node in nodes)
        return is_hanging and any(note.is_lost and note.variables for note in notes)

    def _pairs(self, group: Group) -> list[_Pair]:
        """Return the parts that both sides have, those with values if any has one."""
        parts = self.mapping.parts
        pairs = [(node, parts[node].obj) for node in group.nodes if node in parts]
        return [pair for pair in pairs if _values(self._saved, pair[0])] or pairs

    def _moved(self, group: Group) -> list[_Pair]:
        """Return the parts whose name or holder differs, without those that only follow them."""
        saved, live = self._saved.tree, self._live.tree
        pairs = self._pairs(group)
        above = {node: self.mapping.parts.get(saved.parents[node]) for node, _ in pairs}
        return [
            (node, obj)
            for node, obj in pairs
            if (holder := above[node]) is None
            or holder.obj != live.parents[obj]
            or not _are_indices(saved.labels[node], live.labels[obj])
        ] or pairs

    def _moved_in_order(self, group: Group) -> tuple[list[_Pair], tuple[str, ...]]:
        """Return the fewest items whose move explains an order, and how they moved."""
        saved, live = self._saved.tree.labels, self._live.tree.labels
        pairs = [
            (node, obj) for node, obj in self._pairs(group) if _are_indices(saved[node], live[obj])
        ]
        pairs.sort(key=lambda pair: index(saved[pair[0]]))
        by_place = sorted(pairs, key=lambda pair: index(live[pair[1]]))
        differing = [pair for pair, now in zip(pairs, by_place, strict=True) if pair != now]
        if len(differing) == len(SWAPPED):
            return differing, SWAPPED
        places = [(i, index(live[obj])) for i, (_, obj) in enumerate(pairs)]
        kept = {i for i, _ in longest_increasing(places)}
        return [pair for i, pair in enumerate(pairs) if i not in kept], ()


def _is_nameless(name: str) -> bool:
    return is_place(name) or is_automatic(name, None)


def _sides(pairs: Iterable[_Pair]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pairs = [*pairs]
    return tuple(node for node, _ in pairs), tuple(obj for _, obj in pairs)


def _are_indices(*labels: str) -> bool:
    return all(map(INDEX.fullmatch, labels))


def _values(graph: Graph, top: int) -> tuple[int, ...]:
    """Return the values of a part, without states of optimizers."""
    nodes = graph.nodes
    below = (node for node in graph.tree.below(top) if nodes[node].slot is None)
    return tuple(node for node in below if has_value(nodes[node]))
