"""Parts that one side of a restore has alone, and how the values of a pair differ in form."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role, has_value
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.changes.looks import have_doubles
from ckpt_viz.matching.correspondence.pairs import Evidence, Pair
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping

_MOST_STEPS = 64  # between a part and its holder; a hostile chain has a hundred thousand


def valued_first(graph: Graph, tops: Iterable[int]) -> list[int]:
    """Return the parts that hold values, then those of which a file says little."""
    return sorted(
        tops, key=lambda top: not any(has_value(graph.nodes[n]) for n in graph.tree.below(top))
    )


def have_shapes(saved: Node, live: Node) -> bool:
    """Return whether two values are of one kind, so that only shapes and dtypes can differ."""
    names = [[attribute.name for attribute in node.attributes] for node in (saved, live)]
    shapes = [attribute.shape for attribute in (*saved.attributes, *live.attributes)]
    return names[0] == names[1] and None not in shapes


def differ_in_dtype(saved: Node, live: Node) -> bool:
    """Return whether the dtypes of two values of one kind differ, and their shapes do not."""
    return [a.shape for a in saved.attributes] == [a.shape for a in live.attributes]


def dtype_words(node: Node) -> str:
    """Return the dtypes of the values of a node, each once."""
    return listed([*dict.fromkeys(a.dtype or "unknown" for a in node.attributes)])


def holders(graph: Graph, paired: Container[int]) -> list[int]:
    """Return by part the nearest one above it with a counterpart; NOWHERE if there is none."""
    nearest = [NOWHERE] * len(graph.nodes)
    for node in graph.tree.preorder():
        above = graph.tree.parents[node]
        if above >= ROOT:
            nearest[node] = above if above in paired else nearest[above]
    return nearest


def names_below(graph: Graph, holder: int, part: int) -> tuple[str, ...]:
    """Return the local names that lead from a holder to a part; of a very long way, its end."""
    labels, parents = graph.tree.labels, graph.tree.parents
    names: list[str] = []
    while part != holder and len(names) < _MOST_STEPS:
        names.append(labels[part])
        part = parents[part]
    return tuple(names[::-1])


def tops_of(graph: Graph, alone: Iterable[int]) -> list[int]:
    """Return the highest parts all of whose values are among some; slots are their optimizer's."""
    every = set(alone)
    left = {node for node in every if graph.nodes[node].slot is None}
    parents = graph.tree.parents
    order = list(graph.tree.preorder())
    others = {  # parts that hold another value
        node.slot.optimizer
        for node_id, node in enumerate(graph.nodes)
        if node.slot is not None and node_id not in every
    }
    holds: set[int] = set(left)
    for node in reversed(order):
        is_counted = graph.nodes[node].slot is None and node != graph.save_counter
        if has_value(graph.nodes[node]) and is_counted and node not in left:
            others.add(node)
        if node != ROOT and is_counted:
            if node in others:
                others.add(parents[node])
            if node in holds:
                holds.add(parents[node])
    return [
        node
        for node in order
        if node in holds
        and node not in others
        and node != ROOT
        and (parents[node] in others or parents[node] == ROOT)
    ]


def are_by_order(mapping: ValueMapping, graph: Graph, parts: Sequence[int]) -> bool:
    """Return whether only their order tells which of alike layers one side alone has.

    So it is in Keras' files, if they have no names, or others have other names now.
    """
    saved, is_saved = mapping.saved, graph is mapping.saved
    beside = {*graph.tree.children[graph.tree.parents[parts[0]]]}
    ordered = [
        pair
        for pair in mapping.parts.values()
        if pair.evidence is Evidence.ORDER and (pair.node if is_saved else pair.obj) in beside
    ]
    names = [graph.names.name(part) for part in parts]
    has_names = saved.layout is not Layout.KERAS_PATHS or bool(saved.own_names)
    are_unnamed = not has_names or all(is_automatic(name, None) for name in names)
    are_renamed = any(_is_renamed(mapping, pair) for pair in ordered)
    is_unclear = bool(ordered) and (are_unnamed or are_renamed)
    return saved.is_of_keras and is_unclear and have_doubles(graph, parts)


def _is_renamed(mapping: ValueMapping, pair: Pair) -> bool:
    """Return whether a person named a saved part otherwise; `forward_rnn` has the name of `rnn`."""
    was, now = mapping.saved.names.name(pair.node), mapping.live.names.name(pair.obj)
    return not is_automatic(was, None) and not was.endswith(now)


def at_or_below(graph: Graph, tops: Iterable[int]) -> set[int]:
    """Return some nodes, and all nodes below them."""
    below = set(tops)
    if below:
        for node in graph.tree.preorder():
            if graph.tree.parents[node] in below:
                below.add(node)
    return below


def below_optimizers(graph: Graph) -> set[int]:
    """Return the parts below all optimizers: their edges follow from those of the variables.

    An optimizer inside another one has an edge of its own.
    """
    parents, nodes = graph.tree.parents, graph.nodes
    order = (node for node in graph.tree.preorder() if parents[node] >= ROOT)
    below = at_or_below(graph, [n for n in order if nodes[parents[n]].role is Role.OPTIMIZER])
    return {node for node in below if nodes[node].role is not Role.OPTIMIZER}
