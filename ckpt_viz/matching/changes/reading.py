"""What happened to a program since its checkpoint was written, read from a mapping of its values.

A part has changed if it has another name, or another place, below what its holder has become. Parts
below it have not changed by that. Parts that changed alike are one change.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain

from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.nodes.printed_names import readable_place
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.deeds import LOOKS, Act, Deed, Deeds, Group
from ckpt_viz.matching.changes.edges import (
    Edge,
    are_of_one_keras,
    are_spelled_alike,
    changed_scope,
    kind_of_edge,
)
from ckpt_viz.matching.changes.emptied import Emptied
from ckpt_viz.matching.changes.in_sequences import Shift, shifts
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.of_optimizers import OTHER_ORDER, States, changed_optimizers
from ckpt_viz.matching.changes.parts_alone import (
    are_by_order,
    at_or_below,
    below_optimizers,
    differ_in_dtype,
    dtype_words,
    have_shapes,
    holders,
    names_below,
    tops_of,
    valued_first,
)
from ckpt_viz.matching.changes.phrases import Phrases
from ckpt_viz.matching.changes.sentence import reason_of
from ckpt_viz.matching.changes.short_names import ShortNames
from ckpt_viz.matching.correspondence.of_exports import has_lists_alone
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, weakest
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.correspondence.signatures import Signatures
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping

# Changes that also tell of parts without a counterpart.
_WITH_ONE_SIDED = (Kind.INSERTED, Kind.REMOVED, Kind.OPTIMIZER_CHANGED)


def changes_of(
    mapping: ValueMapping, waiting: Set[int] = frozenset(), in_place: Set[int] = frozenset()
) -> tuple[Change, ...]:
    """Return what happened to the program, what concerns most of it first.

    `waiting` are saved values that are restored as soon as an object is built: nothing has happened
    to them. `in_place` are those that a restore puts into their objects: if it finds all items of a
    sequence so, other indices are no change. A file of Keras' `export()` has no model that could
    have changed.
    """
    if has_lists_alone(mapping.saved, mapping.parts):
        return ()
    mapping = mapping.without(waiting)
    groups = _ChangesReader(mapping, in_place).groups()
    of_saved = _owners(mapping.saved, [group.nodes for group in groups])
    of_live = _owners(mapping.live, [group.objects for group in groups])
    counterparts = {node: pair.obj for node, pair in mapping.parts.items()}
    emptied = Emptied(mapping.saved, mapping.live, counterparts)
    phrases = Phrases(ShortNames.of(mapping.saved, mapping.live))
    deeds = Deeds(mapping, emptied)
    alike = Signatures(mapping.saved, mapping.live)
    replaced = _replaced(mapping, groups)
    ends = {id(new): (node, obj) for new, node, obj in replaced.values()}
    changes = []
    for group, nodes, objects in zip(groups, of_saved, of_live, strict=True):
        first = _first(mapping, group)
        valued = [node for node in nodes if has_value(mapping.saved.nodes[node])]
        now = [obj for obj in objects if has_value(mapping.live.nodes[obj])]
        slots = {node for node in nodes if mapping.saved.nodes[node].slot is not None}
        is_unbuilt = group.kind is Kind.OPTIMIZER_CHANGED and bool(slots) and slots <= waiting
        if is_unbuilt or not (valued or now):
            continue
        certainty = _certainty(mapping, group)
        deed = group.deed or deeds.of(*_without_slots(mapping, group, certainty, alike))
        if id(group) in replaced:
            deed = deeds.replaced(*replaced[id(group)][1:])
        cause = deeds.replaced(*ends[id(group)]) if id(group) in ends else deed
        cause = cause or Deed(Act.MOVED, (nodes[0],), (objects[0],), certainty=certainty)
        changes.append(
            Change(
                group.kind,
                *first,
                max(len(valued), len(now)),
                certainty,
                partial(_reason, phrases, cause),
                tuple(nodes),
                tuple(objects),
                None if id(group) in ends else deed,
            )
        )
    return tuple(changes)


def _reason(phrases: Phrases, deed: Deed) -> str:
    return reason_of(phrases.of([deed]), deed.certainty)


def _replaced(mapping: ValueMapping, groups: Sequence[Group]) -> dict[int, tuple[Group, int, int]]:
    """Return by `id` of a group what took the place of its part: another group, node and object.

    A part is replaced if its holder has lost it alone and got one alone, with values of the same
    ranks.
    """

    def place_now(holder: int) -> str:
        pair = mapping.parts.get(holder)
        if pair is None:
            return mapping.saved.names.place_of_part(holder)
        return mapping.live.names.place_of_part(pair.obj)

    gone = _alone_in_holders(mapping.saved, groups, Kind.UNRESOLVED, place_now)
    new = _alone_in_holders(mapping.live, groups, Kind.UNMATCHED, mapping.live.names.place_of_part)
    return {
        id(gone[place][0]): (new[place][0], gone[place][1], new[place][1])
        for place in gone.keys() & new.keys()
        if _ranks(mapping.saved, gone[place][1]) == _ranks(mapping.live, new[place][1]) != []
    }


def _alone_in_holders(
    graph: Graph, groups: Sequence[Group], kind: Kind, place: Callable[[int], str]
) -> dict[str, tuple[Group, int]]:
    """Return the groups of one kind with the one part of a holder, by the place of this."""
    held: dict[str, list[tuple[Group, int]]] = defaultdict(list)
    for group in groups:
        for part in (group.nodes or group.objects) if group.kind is kind else ():
            if graph.nodes[part].slot is None:
                held[place(graph.tree.parents[part])].append((group, part))
    sizes = Counter(id(group) for parts in held.values() for group, _ in parts)
    return {
        place: parts[0]
        for place, parts in held.items()
        if len(parts) == 1 == sizes[id(parts[0][0])] and not parts[0][0].words
    }


def _ranks(graph: Graph, top: int) -> list[int]:
    """Return the ranks of the values of a part, without states of optimizers."""
    return sorted(
        len(value.shape or ())
        for node in graph.tree.below(top)
        if node != top and graph.nodes[node].slot is None
        for value in graph.nodes[node].attributes
    )


def _without_slots(
    mapping: ValueMapping, group: Group, certainty: Certainty, alike: Signatures
) -> tuple[Group, Certainty]:
    """Return a group without states of optimizers, which only follow, and how sure the deed is.

    Order or shapes tell of a guess: it is none if neither side has another part of these shapes.
    """
    saved, live = mapping.saved.nodes, mapping.live.nodes
    # What is a slot on one side alone has no other part to tell of.
    nodes = [node for node in group.nodes if saved[node].slot is None] or group.nodes
    objects = [obj for obj in group.objects if live[obj].slot is None] or group.objects
    is_guess = certainty is Certainty.GUESS
    sure = Certainty.LIKELY if is_guess or _is_by_looks(mapping, group) else Certainty.CERTAIN
    if is_guess and _have_rivals(mapping, nodes, objects, alike):
        sure = Certainty.GUESS
    return replace(group, nodes=nodes, objects=objects), sure


def _have_rivals(
    mapping: ValueMapping, nodes: Sequence[int], objects: Sequence[int], alike: Signatures
) -> bool:
    """Return whether either side has another free part, and no slot, equal to one of these."""
    saved, live = mapping.saved.nodes, mapping.live.nodes
    sure = [pair for pair in mapping.parts.values() if pair.certainty is not Certainty.GUESS]
    taken = {pair.node for pair in sure}, {pair.obj for pair in sure}
    equals = (
        *((alike.alike(alike.of_saved(node)).nodes, saved, taken[0]) for node in nodes),
        *((alike.alike(alike.of_live(obj)).objects, live, taken[1]) for obj in objects),
    )
    return any(
        sum(side[part].slot is None and part not in known for part in parts) > 1
        for parts, side, known in equals
    )


def _first(mapping: ValueMapping, group: Group) -> tuple[str | None, str | None]:
    """Return the names of the first part on both sides; of items that one side has, one name."""
    nodes = [] if group.kind is Kind.INSERTED and group.objects else group.nodes
    objects = [] if group.kind is Kind.REMOVED and nodes else group.objects
    return (
        readable_place(mapping.saved, nodes[0]) if nodes else None,
        readable_place(mapping.live, objects[0]) if objects else None,
    )


def _is_by_looks(mapping: ValueMapping, group: Group) -> bool:
    """Return whether content or order speaks for the parts of a group, and no name."""
    pairs = (mapping.parts.get(node) for node in group.nodes)
    return all(pair is None or pair.evidence in LOOKS for pair in pairs)


def _certainty(mapping: ValueMapping, group: Group) -> Certainty:
    # States of optimizers follow their variables, and have certainties of their own.
    parts = (node for node in group.nodes if mapping.saved.nodes[node].slot is None)
    pairs = (mapping.parts.get(node) for node in parts)
    certainties = [pair.certainty for pair in pairs if pair is not None]
    return weakest(*certainties) if certainties else Certainty.CERTAIN


def _owners(graph: Graph, tops: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return for each group the nodes at or below its own that belong to no nearer group.

    The first of a group is its own first node, and others follow in the order of the tree. A node
    of several groups belongs to the first.
    """
    groups = list(tops)
    owner: dict[int, int] = {}
    for number, nodes in enumerate(groups):
        for node in nodes:
            owner.setdefault(node, number)
    firsts = ((number, nodes[:1]) for number, nodes in enumerate(groups))
    members = [[n for n in first if owner[n] == number] for number, first in firsts]
    parents = graph.tree.parents
    for node in graph.tree.preorder():
        if node not in owner and parents[node] in owner and node != graph.save_counter:
            owner[node] = owner[parents[node]]
        if node in owner and node != groups[owner[node]][0]:
            members[owner[node]].append(node)
    return members


def _leads_to(graph: Graph, holder: int | None, label: str, part: int) -> bool:
    children = () if holder is None else graph.nodes[holder].children
    return any(child.local_name == label and child.node_id == part for child in children)


def _several_times_held(graph: Graph) -> Set[int]:
    held = Counter(child.node_id for node in graph.nodes for child in node.children)
    return {part for part, number in held.items() if number > 1}


@dataclass
class _ChangesReader:
    mapping: ValueMapping
    in_place: Set[int] = frozenset()
    _groups: dict[object, Group] = field(default_factory=dict)

    def groups(self) -> list[Group]:
        """Return the groups of changed parts, in the order of their kinds and of the checkpoint."""
        of_optimizers = changed_optimizers(self.mapping, *self._states)
        if self.mapping.saved.is_name_based:
            self._scopes()
        else:
            saved = self.mapping.saved
            self._edges({*below_optimizers(saved), saved.save_counter})
        is_reordered = any(group.kind is Kind.REORDERED for group in self._groups.values())
        for change in of_optimizers:
            if is_reordered and OTHER_ORDER in change.deed.words:
                continue  # it follows its model
            kind = Kind.OPTIMIZER_CHANGED
            nodes, objects = list(change.nodes), list(change.objects)
            self._leave_out_slots(nodes, objects)
            self._groups[kind, change] = Group(kind, (), nodes, objects, deed=change.deed)
        self._misfits()
        self._one_sided(self.mapping.missing, self.mapping.live, Kind.UNMATCHED)
        self._one_sided(self.mapping.unused, self.mapping.saved, Kind.UNRESOLVED)
        order = list(Kind)
        return sorted(self._groups.values(), key=lambda group: order.index(group.kind))

    def _add(self, key: object, kind: Kind, words: Sequence[str]) -> Group:
        return self._groups.setdefault((kind, key), Group(kind, tuple(words)))

    @cached_property
    def _states(self) -> tuple[States, States]:
        return States(self.mapping.saved), States(self.mapping.live)

    @cached_property
    def _node_of(self) -> dict[int, int]:
        return {pair.obj: node for node, pair in self.mapping.parts.items()}

    @cached_property
    def _holders(self) -> tuple[list[int], list[int]]:
        """By saved and by live part, the nearest part above it with a counterpart."""
        saved = holders(self.mapping.saved, self.mapping.parts)
        return saved, holders(self.mapping.live, self._node_of)

    # --- parts that both sides have

    def _scopes(self) -> None:
        """Group the variables of a name-based checkpoint whose full names have other scopes."""
        for pair in self.mapping.pairs:
            nodes = self.mapping.saved.nodes[pair.node], self.mapping.live.nodes[pair.obj]
            scopes = changed_scope(*(node.attributes[0].full_name for node in nodes))
            if scopes is not None and nodes[0].slot is None:
                self._put(Kind.SCOPE_CHANGED, scopes, scopes, pair.node, pair.obj)

    def _edges(self, left_out: set[int | None]) -> None:
        """Group the parts whose edges have changed."""
        in_sequence: dict[tuple[int, int], list[Edge]] = defaultdict(list)
        saved, misfits = self.mapping.saved, {pair.node for pair in self.mapping.misfits}
        for node in saved.tree.preorder():
            pair = self.mapping.parts.get(node)
            if pair is None or saved.nodes[node].slot is not None or node in left_out:
                continue
            if self._has_second_place(node, pair.obj):
                continue
            edge = self._edge(node, pair.obj)
            if edge is None:
                if not node == pair.obj == ROOT:
                    self._put(Kind.ROOT_SHIFTED, (), (), node, pair.obj)
            elif edge.is_item:
                in_sequence[edge.holder, edge.new_holder].append(edge)
            else:
                kind, _ = kind_of_edge(edge)
                # A version of Keras renames a variable, but does not reshape it.
                if not (kind is Kind.MIGRATED and node in misfits):
                    self._put_edge(edge)
        for edges in in_sequence.values():
            if self._are_in_place(edges):
                continue
            sure = [edge for edge in edges if edge.node not in self._guessed[0]]
            moved = list(shifts(sure or edges, self.mapping, self._node_of, self._guessed))
            for shift in moved:
                self._put_shift(shift)
            if not moved:  # the surest items keep their places, as under numbers of one's own
                for edge in edges:
                    self._put_edge(edge)

    def _has_second_place(self, node: int, obj: int) -> bool:
        """Return whether one side led to a part from where the other one does, too.

        Then the other has a name less for it, and no part has moved.
        """
        saved, live = self.mapping.saved, self.mapping.live
        holder, new_holder = saved.tree.parents[node], live.tree.parents[obj]
        if node in self._with_second_places[0]:
            was, label = self._node_of.get(new_holder), live.tree.labels[obj]
            if was not in (None, holder) and _leads_to(saved, was, label, node):
                return True
        if obj in self._with_second_places[1]:
            pair, label = self.mapping.parts.get(holder), saved.tree.labels[node]
            if pair is not None and pair.obj != new_holder:
                return _leads_to(live, pair.obj, label, obj)
        return False

    @cached_property
    def _with_second_places(self) -> tuple[Set[int], Set[int]]:
        """The saved and the live parts to which several others lead."""
        return _several_times_held(self.mapping.saved), _several_times_held(self.mapping.live)

    def _are_in_place(self, edges: Sequence[Edge]) -> bool:
        """Return whether a restore finds all values of items that have other indices now."""
        moved = [edge.node for edge in edges if edge.old != edge.new] if self.in_place else []
        return bool(moved) and self._out_of_place.isdisjoint(moved)

    @cached_property
    def _out_of_place(self) -> set[int]:
        """The saved parts with a value that a restore does not put into its object."""
        nodes, tree = self.mapping.saved.nodes, self.mapping.saved.tree
        parts = {n for n, node in enumerate(nodes) if has_value(node) and n not in self.in_place}
        for node in reversed([*tree.preorder()]):
            if node in parts:
                parts.add(tree.parents[node])
        return parts

    def _kind_of(self, edge: Edge) -> tuple[Kind | None, tuple[str, ...]]:
        """Return what happened to a part; how a file of another kind spells a name, did not."""
        if self._are_of_two_layouts and are_spelled_alike(edge.old[-1], edge.new[-1]):
            edge = edge._replace(new=(*edge.new[:-1], edge.old[-1]))
        return kind_of_edge(edge, may_be_migrated=not self._are_of_one_keras)

    @cached_property
    def _are_of_two_layouts(self) -> bool:
        return self.mapping.saved.stored_layout is not self.mapping.live.stored_layout

    @cached_property
    def _are_of_one_keras(self) -> bool:
        return are_of_one_keras(self.mapping.saved.tree.labels, self.mapping.live.tree.labels)

    def _put_edge(self, edge: Edge) -> None:
        kind, key = self._kind_of(edge)
        if kind is not None:
            self._put(kind, key, key, edge.node, edge.obj)

    @cached_property
    def _guessed(self) -> tuple[frozenset[int], frozenset[int]]:
        """The saved and the live parts whose counterparts order alone tells."""
        pairs = [
            pair
            for pair in self.mapping.parts.values()
            if pair.certainty is Certainty.GUESS or pair.evidence is Evidence.DEFAULT
        ]
        return frozenset(pair.node for pair in pairs), frozenset(pair.obj for pair in pairs)

    def _put(self, kind: Kind, key: object, words: Sequence[str], node: int, obj: int) -> None:
        group = self._add(key, kind, words)
        group.nodes.append(node)
        group.objects.append(obj)
        if self.mapping.saved.nodes[node].role is Role.OPTIMIZER:
            # Its slot variables are below their variables.
            group.nodes += self._states[0].slots_within(node)
            group.objects += self._states[1].slots_within(obj)

    def _leave_out_slots(self, nodes: Sequence[int], objects: Sequence[int]) -> None:
        """Take the slots of a changed optimizer from the groups that tell where it is now."""
        saved, live = self.mapping.saved.nodes, self.mapping.live.nodes
        was = {node for node in nodes if saved[node].slot is not None}
        now = {obj for obj in objects if live[obj].slot is not None}
        for group in self._groups.values():
            group.nodes[:] = [node for node in group.nodes if node not in was]
            group.objects[:] = [obj for obj in group.objects if obj not in now]

    def _put_shift(self, shift: Shift) -> None:
        first = shift.edges[0]
        group = self._cause_of(shift) or self._add((first.holder,), shift.kind, shift.words)
        removed = valued_first(self.mapping.saved, shift.removed)
        inserted = valued_first(self.mapping.live, shift.inserted)
        group.nodes += [*removed, *(edge.node for edge in shift.edges)]
        group.objects += [*inserted, *(edge.obj for edge in shift.edges)]
        group.alone += [*shift.inserted, *shift.removed, *shift.undecided]

    def _cause_of(self, shift: Shift) -> Group | None:
        """Return the change that brought items here from elsewhere, or took them away."""
        if not (shift.arrived or shift.left):
            return None
        groups = self._groups.values()
        came = (group for group in groups if not shift.arrived.isdisjoint(group.objects))
        went = (group for group in groups if not shift.left.isdisjoint(group.nodes))
        return next(chain(came, went), None)

    def _edge(self, node: int, obj: int) -> Edge | None:
        """Return how both sides lead to a part from its nearest holder; None above the root's."""
        mapping = self.mapping
        holder, new_holder = self._holders[0][node], self._holders[1][obj]
        if NOWHERE in (holder, new_holder):
            return None
        old = names_below(mapping.saved, holder, node)
        new = names_below(mapping.live, new_holder, obj)
        meant = mapping.parts[holder].obj
        return Edge(
            *(node, obj, holder, new_holder, old, new),
            above=(mapping.saved.tree.labels[holder], mapping.live.tree.labels[new_holder]),
            is_same_holder=meant == new_holder,
            is_value=has_value(mapping.saved.nodes[node]),
        )

    # --- parts that one side has

    def _misfits(self) -> None:
        for pair in self.mapping.misfits:
            saved, live = self.mapping.saved.nodes[pair.node], self.mapping.live.nodes[pair.obj]
            if saved.slot is None and live.slot is None and have_shapes(saved, live):
                if differ_in_dtype(saved, live):  # one cause, however many layers it has
                    dtypes = dtype_words(saved), dtype_words(live)
                    self._put(Kind.DTYPE, dtypes, dtypes, pair.node, pair.obj)
                else:
                    above = self.mapping.live.tree.parents[pair.obj]
                    self._put(Kind.SHAPE, above, (), pair.node, pair.obj)

    def _one_sided(self, alone: Iterable[int], graph: Graph, kind: Kind) -> None:
        """Group values without a counterpart by the highest part that has no other values."""
        is_new, tree = kind is Kind.UNMATCHED, graph.tree
        reported = [pair.obj if is_new else pair.node for pair in self.mapping.misfits]
        for group in self._groups.values():
            if group.kind in _WITH_ONE_SIDED:
                reported += group.objects if is_new else group.nodes
        known = at_or_below(graph, reported)
        misfits = {*reported}
        siblings: dict[int, list[int]] = defaultdict(list)
        for top in tops_of(graph, (part for part in alone if part not in misfits)):
            if top not in known:
                siblings[tree.parents[top]].append(top)
        paired = self._node_of if is_new else self.mapping.parts
        for above in [a for a in siblings if graph.nodes[a].role is Role.OPTIMIZER]:
            if above not in paired and above != ROOT:  # another one took over its slots
                siblings[tree.parents[above]].append(above)
                del siblings[above]
        states = self._states[is_new]
        unsure = {tree.parents[part] for part in self._guessed[is_new]}
        for above, tops in siblings.items():
            # Keras' files number values whose place is a guess, whatever the program calls them.
            is_numbered = INDEX.fullmatch(tree.labels[tops[0]]) is not None or (
                self.mapping.saved.is_of_keras and has_value(graph.nodes[tops[0]])
            )
            is_unsure = above in unsure and is_numbered and tops[0] not in graph.names.in_lists
            is_certain = not (is_unsure or are_by_order(self.mapping, graph, tops))
            labels = tuple(tree.labels[top] for top in tops)
            group = self._add(labels, kind, () if is_certain else (str(len(tops)),))
            slots = [slot for top in tops for slot in states.slots_within(top)]
            (group.objects if is_new else group.nodes).extend((*tops, *slots))
