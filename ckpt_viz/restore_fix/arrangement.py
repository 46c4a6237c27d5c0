"""Where live objects must be for TensorFlow to restore them as a mapping says.

A nested `tf.train.Checkpoint` gives any live object any saved path. The fewest are best: the search
starts with the program as it is. Where a rehearsal puts a value into a wrong object, it opens the
saved node around it, and gives each of its children a live object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ckpt_viz.matching.trace import Action, Trace
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.restore_check.rehearsal import Rehearsal, rehearse_on_graphs
from ckpt_viz.restore_check.skeleton import Skeleton

_MOST_TRIES = 16  # opened levels


@dataclass
class Arrangement:
    """The live objects at saved nodes, and the saved nodes that become checkpoints.

    `wanted` are the saved values with the objects that must get them, `counterparts` the live
    objects of all saved nodes, as far as known. `proof` rehearses with the live objects, which know
    more than their graph; it returns None if it cannot.
    """

    saved: Graph
    live: Graph
    wanted: Mapping[int, int]
    counterparts: Mapping[int, int]
    method: str
    proof: Callable[[Skeleton], Rehearsal | None]
    _opened: set[int] = field(default_factory=set)
    _edges: dict[int, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.wanted:
            for parent, label, child in self._way_to(node):
                self._edges.setdefault(parent, {})[label] = child
        if self.counterparts.get(ROOT) is None:
            self._opened.add(ROOT)

    def found(self) -> Skeleton | None:
        """Return the arrangement that restores all wanted values, and nothing else; or None."""
        for _ in range(_MOST_TRIES):
            skeleton = self._skeleton(ROOT)
            rehearsal = rehearse_on_graphs(self.live, self.saved, skeleton, self.method)
            wrong = tuple(self._wrong(rehearsal))
            if not wrong:
                proof = self.proof(skeleton)
                # An object's own code may raise, or restore in another order.
                if proof is not None and proof.run.verdicts.restore is not None:
                    return None
                wrong = () if proof is None else tuple(self._wrong(proof))
            if not wrong:
                return skeleton
            if not self._open(wrong):
                return None
        return None

    def _way_to(self, node: int) -> Iterator[tuple[int, str, int]]:
        """Yield the edges from a node up to the root, as far as they are new."""
        while node != ROOT:
            parent, label = self._edge_to(node)
            if parent < ROOT or node in self._edges.get(parent, {}).values():
                return
            yield parent, label, node
            node = parent

    def _edge_to(self, node: int) -> tuple[int, str]:
        """Return the edge by which a checkpoint reaches a node: the outline's, if it is one."""
        tree = self.saved.tree
        own = tree.parents[node], tree.labels[node]
        edges = self.saved.edges_to[node]
        return own if own in edges or not edges else edges[0]

    def _skeleton(self, node: int) -> Skeleton:
        if node not in self._opened:
            return Skeleton(self.counterparts[node])
        children: dict[str, int | Skeleton] = {}
        for label, child in self._edges.get(node, {}).items():
            is_open = child in self._opened or child not in self.counterparts
            if is_open:
                self._opened.add(child)
                children[label] = self._skeleton(child)
            else:
                children[label] = self.counterparts[child]
        return Skeleton(None, children)

    def _wrong(self, rehearsal: Rehearsal) -> Iterator[int]:
        """Yield the saved values that do not go where they belong."""
        trace = rehearsal.run.trace
        if not isinstance(trace, Trace):
            yield from self.wanted
            return
        failing = {step.node for step in trace.steps_of(Action.FAIL)}
        for node, obj in self.wanted.items():
            if rehearsal.originals.get(trace.bound.get(node, -1)) != obj or node in failing:
                yield node
        restored = {step.node for step in trace.steps_of(Action.RESTORE)}
        known = {*self.wanted, self.saved.save_counter, None}
        yield from (node for node in restored | failing if node is not None and node not in known)

    def _open(self, nodes: Iterable[int]) -> bool:
        """Open the saved nodes whose live objects take or miss wrong values; False without any."""
        tops = {top for top in map(self._top, nodes) if top is not None}
        self._opened |= tops
        return bool(tops)

    def _top(self, node: int) -> int | None:
        """Return the part with a live object in which a node is; None if that is the node."""
        top = None
        while self._edges.get(node) is None and node != ROOT:
            node = self._edge_to(node)[0]
            if node < ROOT:
                return None
        while True:
            if node not in self._opened:
                top = node
            if node == ROOT:
                return top
            node = self._edge_to(node)[0]
