"""Where live objects must be for TensorFlow to restore them as a mapping says.

A nested `tf.train.Checkpoint` gives any live object any saved path. The fewest are best: the search
starts with the program as it is. Where a rehearsal puts a value into a wrong object, the search
opens the saved node around the value, and gives each child of the node a live object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.answers.short_code.rehearsal import Rehearsal, trace_on_graphs
from ckpt_viz.answers.short_code.skeleton import MOST_LEVELS, Skeleton, can_be_made
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.saved_graph import SavedGraph
from ckpt_viz.matching.engines.trace import Action, Trace

_MOST_TRIES = 16  # opened levels
_FEWEST_IN_ROOT = 2  # parts that a root must hold, to be worth its name in code


@dataclass
class Arrangement:
    """The live objects at saved nodes, and the saved nodes that become checkpoints.

    `wanted` are the saved values with the objects that must get them, `counterparts` the live
    objects of all saved nodes, as far as known. The arrangement may restore those of `allowed`,
    too, and nothing else. What is `waiting` gets its place as well: in an object that makes it
    later. The objects of the saved parts `aside` take no part, only the values in them do. `proof`
    rehearses with the live objects, which know more than their graph, and returns None without a
    rehearsal.
    """

    saved: Graph
    live: Graph
    wanted: Mapping[int, int]
    counterparts: Mapping[int, int]
    method: str
    proof: Callable[[Skeleton, str], Rehearsal | None]
    allowed: Mapping[int, int] = field(default_factory=dict)
    waiting: Iterable[int] = ()
    aside: Iterable[int] = ()
    _opened: set[int] = field(default_factory=set)
    _without_root: set[int] = field(default_factory=set)
    _edges: dict[int, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        counter = self.saved.save_counter  # a checkpoint has its own, and takes no other
        self.wanted = {node: obj for node, obj in self.wanted.items() if node != counter}
        for node in (*self.wanted, *filter(self._has_holder, self.waiting)):
            for parent, label, child in self.saved.way_up(node):
                if self._edges.get(parent, {}).get(label) == child:
                    break
                self._edges.setdefault(parent, {})[label] = child
        if self.counterparts.get(ROOT) is None:
            self._opened.add(ROOT)
        for node in self.aside:
            opened = {node, *(parent for parent, _, _ in self.saved.way_up(node))}
            self._opened |= opened
            self._without_root |= opened

    def _has_holder(self, node: int) -> bool:
        """Return whether an object of the program holds a saved node, or will hold it."""
        holders = (parent for parent, _, _ in self.saved.way_up(node) if parent != ROOT)
        return any(parent in self.counterparts for parent in holders)

    def skeleton(self) -> Skeleton | None:
        """Return the arrangement that restores all wanted values, and nothing else; or None."""
        for _ in range(_MOST_TRIES):
            skeleton = self._skeleton(ROOT, MOST_LEVELS)
            if skeleton is None or not can_be_made(skeleton):
                return None
            traced = trace_on_graphs(self.live, self._saved_side, skeleton, self.method)
            wrong = tuple(self._wrong(*traced, self._unknown))
            if not wrong:
                proof = self.proof(skeleton, self.method)
                # An object's own code may raise, or restore in another order.
                if proof is not None:
                    if proof.run.verdicts.restore is not None:
                        return None
                    wrong = tuple(self._wrong(proof.run.by_objects, proof.originals))
            if not wrong:
                return skeleton
            if self._give_up_roots():
                continue
            if not self._open(wrong):
                return None
        return None

    def _give_up_roots(self) -> bool:
        """Take the live roots from the open nodes; return whether any node had a root."""
        having = {node for node in self._opened if self._root_of(node) is not None}
        self._without_root.update(having)
        return bool(having)

    def _skeleton(self, node: int, levels: int) -> Skeleton | None:
        """Return the checkpoint at an open node; None for a checkpoint of more levels."""
        if node not in self._opened:
            return Skeleton(self.counterparts[node])
        root = self._root_of(node)
        held = self._labels_of(root)
        children: dict[str, int | Skeleton] = {}
        for label, child in self._edges.get(node, {}).items():
            if root is not None and held.get(label) == self.counterparts.get(child):
                continue
            if child not in self._opened and child in self.counterparts:
                children[label] = self.counterparts[child]
                continue
            self._opened.add(child)
            part = self._skeleton(child, levels - 1) if levels else None
            if part is None:
                return None
            children[label] = part
        return Skeleton(root, children)

    def _root_of(self, node: int) -> int | None:
        """Return the live object that has several parts of an open node under their saved names.

        The object is the root of the checkpoint that the node becomes, unless this puts values
        wrong.
        """
        edges = self._edges.get(node, {})
        placed = ((label, self.counterparts.get(child, -1)) for label, child in edges.items())
        above = ((label, self.live.first_edges.get(obj, (ROOT, ""))) for label, obj in placed)
        votes = Counter(holder for label, (holder, name) in above if name == label)
        root, number = max(votes.items(), key=lambda vote: vote[1], default=(ROOT, 0))
        if number < _FEWEST_IN_ROOT or root == ROOT or node in self._without_root:
            return None
        held = self._labels_of(root)
        own = {label: self.counterparts.get(child) for label, child in edges.items()}
        return root if all(held.get(label, obj) == obj for label, obj in own.items()) else None

    def _labels_of(self, obj: int | None) -> Mapping[str, int]:
        children = () if obj is None else self.live.nodes[obj].children
        return {child.local_name: child.node_id for child in children}

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The saved values whose objects alone know which tensors they read: graphs cannot tell."""
        every = {**self.allowed, **self.wanted}.items()
        nodes = self.live.nodes
        return frozenset(n for n, obj in every if not all(a.name for a in nodes[obj].attributes))

    @cached_property
    def _saved_side(self) -> SavedGraph:
        """The saved graph for all rehearsals, which looks up each tensor once."""
        return SavedGraph(self.saved)

    def _wrong(
        self, trace: Trace | None, originals: Mapping[int, int], unknown: Container[int] = ()
    ) -> Iterator[int]:
        """Yield the saved values that do not go where they belong."""
        if trace is None:
            yield from self.wanted
            return
        placed = {node: originals.get(obj) for node, obj in trace.bound.items()}
        failed = {step.node for step in trace.steps_of(Action.FAIL)}
        failing = {node for node in failed if node is not None and node not in unknown}
        for node, obj in self.wanted.items():
            if placed.get(node) != obj or node in failing:
                yield node
        restored = {step.node for step in trace.steps_of(Action.RESTORE)}
        for other in failing | {node for node in restored if node is not None}:
            is_right = other in self.allowed and placed.get(other) == self.allowed[other]
            is_right = is_right or (placed.get(other) is None and self._is_slot_of_wanted(other))
            is_known = other in self.wanted or other == self.saved.save_counter
            if not is_known and (other in failing or not is_right):
                yield other

    def _is_slot_of_wanted(self, node: int) -> bool:
        """Return whether a node is the slot variable of a wanted one, which a restore may make."""
        slot = self.saved.nodes[node].slot
        return slot is not None and slot.variable in self.wanted

    def _open(self, nodes: Iterable[int]) -> bool:
        """Open the saved nodes whose live objects take or miss wrong values; False without any."""
        tops: dict[int, int | None] = {ROOT: None if ROOT in self._opened else ROOT}
        parts = {self._top(node, tops) for node in nodes} - {None}
        self._opened.update(top for top in parts if top is not None)
        return bool(parts)

    def _top(self, node: int, tops: dict[int, int | None]) -> int | None:
        """Return the highest part around a node that is not open; None if that is the node.

        `tops` has those of the root and of nodes that were asked for.
        """
        way = [node]
        for parent, _, child in self.saved.way_up(node):
            if child in tops:
                break
            way.append(parent)
        top = tops.get(way[-1])
        for part in reversed(way):
            if top is None and part in self._edges and part not in self._opened:
                top = part
            tops[part] = top
        return top
