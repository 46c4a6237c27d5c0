"""The mapping of a checkpoint to a program: every saved value, and where it belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ckpt_viz.correspondence.by_names import pairs_of_namesakes
from ckpt_viz.correspondence.correspond import correspond
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.correspondence.sequences import INDEX
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, has_value
from ckpt_viz.object_graph.subtrees import values_of


@dataclass(frozen=True)
class ValueMapping:
    """Where each saved value belongs.

    Attributes:
        pairs: The values with a place of their own dtype and shape, in saved order. A value that
            was shared has several.
        parts: The saved nodes without values, and the live objects that they became.
        misfits: Values whose counterpart has another dtype or shape.
        missing: The live objects with values that no saved value belongs to.
        unused: The saved nodes with values that belong nowhere.
    """

    saved: Graph
    live: Graph
    pairs: tuple[Pair, ...]
    parts: Mapping[int, Pair]
    misfits: tuple[Pair, ...]
    missing: tuple[int, ...]
    unused: tuple[int, ...]

    def without(self, waiting: Collection[int]) -> ValueMapping:
        """Return the mapping without values that only wait until an object is built."""
        return replace(self, unused=tuple(node for node in self.unused if node not in waiting))


def map_values(saved: Graph, live: Graph) -> ValueMapping:
    """Return where each value of a checkpoint belongs in a program; it reads no value.

    `live` is the graph of a program, or of a checkpoint that this program would save.
    """
    found = correspond(saved, live).by_node
    taken = {pair.obj: node for node, pair in found.items()}
    pairs = [
        pair
        for pair in found.values()
        if has_value(saved.nodes[pair.node])
        and _is_reached(saved, pair.node)
        and _is_reached(live, pair.obj)
    ]
    fitting = [pair for pair in pairs if _fit(saved, live, pair)]
    if saved.is_name_based:
        fitting += (p for p in pairs_of_namesakes(saved, live, fitting) if p.obj not in taken)
    else:
        fitting += _shared(saved, live, found, taken)
    filled = {pair.obj for pair in fitting}
    used = {pair.node for pair in fitting}
    return ValueMapping(
        saved,
        live,
        tuple(sorted(fitting)),
        found,
        tuple(pair for pair in pairs if not _fit(saved, live, pair)),
        tuple(obj for obj in _valued(live) if obj not in filled),
        tuple(node for node in _valued(saved) if node not in used),
    )


def _valued(graph: Graph) -> Iterator[int]:
    """Yield the nodes with values that a restore can reach, without the `save_counter`."""
    for node_id, node in enumerate(graph.nodes):
        if has_value(node) and _is_reached(graph, node_id) and node_id != graph.save_counter:
            yield node_id


def _is_reached(graph: Graph, node_id: int) -> bool:
    return node_id == ROOT or node_id in graph.first_edges


def _fit(saved: Graph, live: Graph, pair: Pair) -> bool:
    return pair.evidence is Evidence.RESHAPED or fits(saved, live, pair.node, pair.obj)


def fits(saved: Graph, live: Graph, node: int, obj: int) -> bool:
    """Return whether a value can go into an object; what only the object's code knows fits."""
    ours, theirs = saved.nodes[node], live.nodes[obj]
    if ours.registered_saver != theirs.registered_saver:
        return False
    if any(not attribute.name for attribute in theirs.attributes):
        return bool(ours.attributes)  # only the object's own code names its values
    if any(attribute.dtype is None for attribute in theirs.attributes):
        return [one.name for one in ours.attributes] == [one.name for one in theirs.attributes]
    return values_of(ours) == values_of(theirs)


def _shared(
    saved: Graph, live: Graph, found: Mapping[int, Pair], taken: Mapping[int, int]
) -> Iterator[Pair]:
    """Yield saved values that were shared, with the further objects that they became.

    The same local names lead to such an object as to the value, along another path of the file.
    """
    children: Sequence[Mapping[str, int]] = [
        {child.local_name: child.node_id for child in node.children} for node in saved.nodes
    ]
    by_path: dict[int, int] = {}
    for obj in live.tree.preorder():
        parent, label = live.tree.parents[obj], live.tree.labels[obj]
        holder = by_path.get(parent)
        if obj in taken:
            by_path[obj] = taken[obj]
        elif holder is not None and INDEX.fullmatch(label) is None and label in children[holder]:
            by_path[obj] = children[holder][label]
    for obj in _valued(live):
        node = by_path.get(obj)
        if obj not in taken and node is not None and node in found:
            pair = Pair(node, obj, Certainty.LIKELY, Evidence.SHARED)
            if _fit(saved, live, pair):
                yield pair
