"""Parts of several checkpoints under one root; what they share is one object again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ckpt_viz.errors import EditError, SourceError, UnsupportedError
from ckpt_viz.graphs.edits.by_names import old_by_new, with_names
from ckpt_viz.graphs.edits.draft import Draft, is_list
from ckpt_viz.graphs.edits.edited_access import origins_of
from ckpt_viz.graphs.edits.union import united
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Child, Role
from ckpt_viz.graphs.nodes.walks import reached
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.text import listed, readable
from ckpt_viz.matching.correspondence.value_mapping import map_values

PartOf = tuple[Graph, str | None]
"""A checkpoint, and the name of its part; None for the part that has the name of the place."""


@dataclass(frozen=True)
class _PlacedPart:
    """A part of a checkpoint, and its place in the merged one.

    `number` is that of its graph, and `begin` the node there in which the part begins.
    """

    number: int
    begin: int
    place: tuple[str, ...]


def merged(parts: Mapping[str, PartOf]) -> Graph:
    """Return a graph of parts of checkpoints, by their places.

    Raises:
        SourceError: There is no part, or one is of live objects.
        EditError: Nothing holds a place, two tensors get one name, or a slot has no variable.
        NoSuchNodeError: A checkpoint has no part of a name, or several.
    """
    graphs = [graph for graph, _ in parts.values()]
    _assert_mergeable(graphs)
    result = _merged_names(parts) if graphs[0].is_name_based else _merged_objects(parts)
    words = [f"{readable(place)} of {_short(graph)}" for place, (graph, _) in parts.items()]
    return replace(result, title=f"merged: {listed(words)}")


def _merged_names(parts: Mapping[str, PartOf]) -> Graph:
    union = united([graph for graph, _ in parts.values()])
    names = (
        (f"{number}/{name}", new)
        for number, (place, (graph, part)) in enumerate(parts.items())
        for name, new in _new_names(graph, _scope(graph, part, place), place).items()
    )
    return with_names(union, old_by_new(union, names))


def _merged_objects(parts: Mapping[str, PartOf]) -> Graph:
    nodes = {place: _node(graph, part, place) for place, (graph, part) in parts.items()}
    graphs, numbers = _numbered(parts, nodes)
    placed = [
        _PlacedPart(number, nodes[place], tuple(place.split(".")))
        for place, number in numbers.items()
    ]
    return _Merge(united(graphs), graphs, placed).graph()


def _numbered(
    parts: Mapping[str, PartOf], begins: Mapping[str, int]
) -> tuple[list[Graph], dict[str, int]]:
    """Return the graphs to unite, and by place the number of the graph that its part is taken from.

    `begins` has by place the node in which the part begins. Parts of one checkpoint share what they
    share there. A part in two places is copied: its graph is united twice.
    """
    graphs: list[Graph] = []
    numbers: dict[str, int] = {}
    known: dict[tuple[int, int], int] = {}
    times = Counter[tuple[int, int]]()
    for place, (graph, _) in parts.items():
        part = id(graph), begins[place]
        copy = id(graph), times[part]
        times[part] += 1
        if copy not in known:
            known[copy] = len(graphs)
            graphs.append(graph)
        numbers[place] = known[copy]
    return graphs, numbers


def _assert_mergeable(graphs: Sequence[Graph]) -> None:
    if not graphs:
        raise SourceError("found no checkpoint to merge, expected at least one")
    for graph in graphs:
        if graph.origin is Origin.LIVE:
            raise SourceError(
                f"{graph.title}: found live objects, expected checkpoints or snapshots: take "
                "cv.snapshot(live)"
            )
        if graph.is_name_based != graphs[0].is_name_based:
            names, objects = sorted((graph, graphs[0]), key=lambda g: not g.is_name_based)
            raise SourceError(
                f"{names.title} holds names, and {objects.title} objects; expected one kind"
            )
        of_code = (n.registered_saver for n in graph.nodes if n.registered_saver is not None)
        saver = next(of_code, None) if graph.is_unwritten else None
        if saver is not None:
            raise UnsupportedError(
                f"{graph.title}: found the registered saver {saver}, which needs a file; write "
                "this graph, and merge the new checkpoint"
            )


def _short(graph: Graph) -> str:
    return os.path.basename(graph.title) or graph.title


def _scope(graph: Graph, part: str | None, place: str) -> str:
    """Return the scope of a name-based checkpoint that is meant; "" for all its names."""
    scope = (place if part is None else part).rstrip("/")
    if any(_is_in(key, scope) for key in _names(graph)):
        return scope
    return "" if part is None else "/".join(graph.path(graph.node_id(part)))


def _names(graph: Graph) -> Iterator[str]:
    return (attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes)


def _is_in(name: str, scope: str) -> bool:
    return not scope or name == scope or name.startswith(f"{scope}/")


def _new_names(graph: Graph, scope: str, place: str) -> dict[str, str]:
    """Return the new name of each tensor in a scope, by its old one."""
    new = place.rstrip("/")
    if not new:
        raise EditError(f"{graph.title}: found an empty place, expected the name of a scope")
    names = [name for name in _names(graph) if _is_in(name, scope)]
    return {name: f"{new}{name[len(scope) :]}" if scope else f"{new}/{name}" for name in names}


def _node(graph: Graph, part: str | None, place: str) -> int:
    """Return the node in which a part begins: the root if no part has the name of the place."""
    if part is not None:
        return graph.node_id(part)
    node = ROOT
    for local_name in place.split("."):
        children = {child.local_name: child.node_id for child in graph.nodes[node].children}
        if local_name not in children:
            return ROOT
        node = children[local_name]
    return node


class _Merge:
    """The merged graph in the making: edges of the united graphs, without their own roots."""

    def __init__(self, union: Graph, graphs: Sequence[Graph], parts: Sequence[_PlacedPart]) -> None:
        self._union, self._graphs, self._parts = union, graphs, parts
        self._tops = [child.node_id for child in union.nodes[ROOT].children]

    def graph(self) -> Graph:
        """Return the graph of all parts, in which shared objects lead to their counterparts."""
        draft = self._draft(self._parts)
        changes = {part: self._counterparts(part) for part in self._parts}
        for part, counterparts in changes.items():
            for node in _reached(draft, [self._top(part)]) if counterparts else ():
                self._lead(draft, node, counterparts)
        return draft.finished()

    def _draft(self, parts: Iterable[_PlacedPart]) -> Draft:
        draft = Draft.of(self._union)
        draft.children[ROOT] = []
        for top, graph in zip(self._tops, self._graphs, strict=True):
            # A counter of saves belongs to the root of its own checkpoint.
            counter = None if graph.save_counter is None else top + graph.save_counter
            draft.children[top] = [c for c in draft.children[top] if c.node_id != counter]
        for part in sorted(parts, key=lambda part: len(part.place)):
            *above, local_name = part.place
            child = Child(local_name, self._top(part))
            _place(draft, self._holder(draft, above), child, self._union)
        self._lead_to_root(draft)
        return draft

    def _lead_to_root(self, draft: Draft) -> None:
        """Let the root lead to itself, as all its checkpoints do: tf.train.Checkpoint's "root"."""
        of_roots = [
            {c.local_name for c in graph.nodes[ROOT].children if c.node_id == ROOT}
            for graph in self._graphs
        ]
        children = draft.children[ROOT]
        names = set.intersection(*of_roots) - {child.local_name for child in children}
        last = [child for child in children if child.local_name == SAVE_COUNTER]
        first = [child for child in children if child.local_name != SAVE_COUNTER]
        draft.children[ROOT] = [*first, *(Child(name, ROOT) for name in sorted(names)), *last]

    def _holder(self, draft: Draft, names: Sequence[str]) -> int:
        node = ROOT
        for name in names:
            inside = {child.local_name: child.node_id for child in draft.children[node]}
            if name not in inside:
                where = readable(".".join(names))
                raise EditError(
                    f"{self._union.title}: found no {where} to hold a part, expected this part, too"
                )
            node = inside[name]
        return node

    def _counterparts(self, part: _PlacedPart) -> dict[int, int]:
        """Return for objects that a part shares with the rest of its checkpoint their counterparts.

        Both are nodes of the united graphs.
        """
        top, place = self._top(part), part.place
        rest = self._draft(other for other in self._parts if other.place[: len(place)] != place)
        own, outside = _reached(rest, [top]), self._outside(part)
        slots = self._slotted(own) - _reached(self._without_optimizers(), [top])
        shared = ((own & outside) | slots) - _reached(rest, [ROOT])
        if not shared:
            return {}
        graph, root = self._graphs[part.number], self._tops[part.number]
        target = rest.finished()
        mapping = map_values(graph, target)
        pairs = {pair.node: pair for pair in (*mapping.parts.values(), *mapping.pairs)}
        misfits = {pair.node for pair in mapping.misfits}
        origins, counterparts = origins_of(target), dict[int, int]()
        for node in sorted(shared):
            pair = None if node - root in misfits else pairs.get(node - root)
            if pair is not None and mapping.is_by_shape(pair):
                name = graph.names.place_or_state(node - root)
                raise EditError(
                    f"{graph.title}: only its shape tells what {name} is in the merged checkpoint; "
                    "rename it first: graph.renamed({old: new})"
                )
            if pair is None and node in slots and node not in own - outside:
                raise EditError(
                    f"{graph.title}: has slots of {graph.names.place_or_state(node - root)}, and "
                    "no part has this variable in the same dtype and shape; add its part, or merge "
                    "graph.without('role:slot')"
                )
            origin = None if pair is None else origins[pair.obj].node
            if origin not in (None, ROOT):
                counterparts[node] = origin
        return counterparts

    def _outside(self, part: _PlacedPart) -> set[int]:
        """Return what the checkpoint of a part holds outside the part, too, and in no optimizer."""
        if part.begin == ROOT:
            return set()
        draft = self._without_optimizers()
        for holder, children in enumerate(draft.children):
            draft.children[holder] = [c for c in children if c.node_id != self._top(part)]
        return _reached(draft, [self._tops[part.number]])

    def _without_optimizers(self) -> Draft:
        """Return the united graphs, in which optimizers hold nothing."""
        draft = Draft.of(self._union)
        for holder, node in enumerate(self._union.nodes):
            if node.role is Role.OPTIMIZER:
                draft.children[holder] = []
        return draft

    def _top(self, part: _PlacedPart) -> int:
        """Return the node of the united graphs in which a part begins."""
        return self._tops[part.number] + part.begin

    def _slotted(self, nodes: Iterable[int]) -> set[int]:
        """Return the variables for which optimizers have slots."""
        return {slot.variable for node in nodes for slot in self._union.nodes[node].slot_variables}

    def _lead(self, draft: Draft, node: int, counterparts: Mapping[int, int]) -> None:
        """Let edges and slots of a node lead to the counterparts."""
        draft.children[node] = [
            Child(child.local_name, counterparts.get(child.node_id, child.node_id))
            for child in draft.children[node]
        ]
        own = draft.nodes[node]
        slots = tuple(
            replace(slot, variable=counterparts.get(slot.variable, slot.variable))
            for slot in own.slot_variables
        )
        draft.nodes[node] = own._replace(slot_variables=slots)


def _place(draft: Draft, holder: int, child: Child, union: Graph) -> None:
    """Put a part into a place, also instead of what is there."""
    children = draft.children[holder]
    names = [known.local_name for known in children]
    if not child.local_name:
        raise EditError(f"{union.title}: found an empty place, expected a name")
    if child.local_name in names:
        children[names.index(child.local_name)] = child
    elif is_list(children) and child.local_name != str(len(children)):
        raise EditError(
            f"{union.title}: found {readable(child.local_name)!r} as a place in a list, expected 0 "
            f"to {len(children)}"
        )
    else:
        children.append(child)


def _reached(draft: Draft, tops: Iterable[int]) -> set[int]:
    """Return all nodes that edges lead to from some nodes, and these."""
    return reached(tops, lambda node: (child.node_id for child in draft.children[node]))
