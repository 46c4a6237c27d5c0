"""The edits that people name: rename, remove, keep, move, insert and exchange parts of a graph.

Each returns a new graph. A name is any that `Graph.node_id` takes, and means its whole subtree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckpt_viz.edits.draft import Draft, is_list, numbered
from ckpt_viz.errors import EditError
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import THE_ROOT, child_of
from ckpt_viz.object_graph.nodes import ROOT, Child, Role


def renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return a graph with other names, one after the other: "net" or "net.l1" to "net.hidden"."""
    for old, new in names.items():
        graph = _renamed(graph, old, new)
    return graph


def without(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph without some nodes, with all that is only below them and their slots."""
    gone = _subtrees(graph, nodes)
    if ROOT in gone:
        raise EditError(f"{graph.title}: found the root, expected a part of the graph to remove")
    draft = Draft.of(graph)
    draft.remove(gone)
    return draft.finished()


def only(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph of some nodes, what is below them, and the way to them from the root."""
    tops = [*nodes]
    kept = {*_subtrees(graph, tops), ROOT}
    for top in tops:
        kept.update(graph.tree.above(top))
    return without(graph, [node for node in graph.tree.preorder() if node not in kept])


def moved(graph: Graph, name: str, holder: str, local_name: str | None = None) -> Graph:
    """Return a graph in which another node holds a part, by its old name or by a new one.

    In a list, `local_name` is the place; the later items move on.
    """
    node, target = graph.node_id(name), graph.node_id(holder)
    if target in _subtrees(graph, [node]):
        raise EditError(f"{graph.title}: {holder} is inside {name}; a part cannot hold itself")
    own = graph.tree.labels[node] if local_name is None else local_name
    draft = Draft.of(graph)
    parent, label = graph.tree.parents[node], graph.tree.labels[node]
    _take(draft, parent, label)
    _put(draft, target, Child(own, node), graph)
    return draft.finished()


def inserted(graph: Graph, holder: str, local_name: str, like: str) -> Graph:
    """Return a graph with a new part of the structure of another one, without its values.

    In a list, `local_name` is the place; the later items move on.
    """
    target, model = graph.node_id(holder), graph.node_id(like)
    draft = Draft.of(graph)
    copies: dict[int, int] = {}
    for node in graph.tree.below(model):
        if graph.nodes[node].role is Role.SLOT:
            continue
        copies[node] = draft.add(
            graph.nodes[node]._replace(
                children=(),
                slot_variables=(),
            )
        )
    for node, copy in copies.items():
        for child in graph.nodes[node].children:
            draft.insert(copy, Child(child.local_name, copies.get(child.node_id, child.node_id)))
    _put(draft, target, Child(local_name, copies[model]), graph)
    return draft.finished()


def exchanged(graph: Graph, a: str, b: str) -> Graph:
    """Return a graph in which two parts have each other's place."""
    first, second = graph.node_id(a), graph.node_id(b)
    inside = first in _subtrees(graph, [second]) or second in _subtrees(graph, [first])
    if first == second or inside:
        raise EditError(f"{graph.title}: {a} and {b} are not two separate parts")
    draft = Draft.of(graph)
    for old, new in ((first, second), (second, first)):
        parent, label = graph.tree.parents[old], graph.tree.labels[old]
        draft.children[parent] = [
            Child(label, new) if child == Child(label, old) else child
            for child in draft.children[parent]
        ]
    return draft.finished()


def local_name_of(graph: Graph, node: int, new: str) -> str:
    """Return the local name that a new name means for a node: alone, or behind its holder's path.

    Raises EditError if it means another place.
    """
    parent = graph.tree.parents[node]
    holder = "" if parent == ROOT else graph.names.place(parent)
    local_name = new.removeprefix(child_of(holder, "")) if holder else new
    if "." in local_name and "." not in graph.tree.labels[node]:
        raise EditError(
            f"{graph.title}: found {new!r} as the new name of {graph.names.place(node)!r}, which "
            f"is in another place; expected a name in {holder or THE_ROOT}, or move the part"
        )
    return local_name


def _renamed(graph: Graph, old: str, new: str) -> Graph:
    node = graph.node_id(old)
    if node == ROOT:
        raise EditError(f"{graph.title}: found {old!r}, the root, expected a part with a name")
    parent, local_name = graph.tree.parents[node], local_name_of(graph, node, new)
    if is_list(graph.nodes[parent].children):
        raise EditError(f"{graph.title}: {old} is an item of a list; items have places, move it")
    draft = Draft.of(graph)
    _assert_free(draft, parent, local_name, graph)
    draft.rename(parent, graph.tree.labels[node], local_name)
    return draft.finished()


def _take(draft: Draft, holder: int, local_name: str) -> None:
    children = draft.children[holder]
    place = next(i for i, child in enumerate(children) if child.local_name == local_name)
    left = [*children[:place], *children[place + 1 :]]
    draft.children[holder] = numbered(left) if is_list(children) else left


def _put(draft: Draft, holder: int, child: Child, graph: Graph) -> None:
    children = draft.children[holder]
    if is_list(children):
        name = child.local_name
        if not name.isdecimal() or int(name) > len(children):
            raise EditError(
                f"{graph.title}: found {name!r} as a place in a list, expected 0 to {len(children)}"
            )
        draft.insert(holder, child, int(name))
    else:
        _assert_free(draft, holder, child.local_name, graph)
        draft.insert(holder, child)


def _assert_free(draft: Draft, holder: int, local_name: str, graph: Graph) -> None:
    if not local_name:
        raise EditError(f"{graph.title}: found an empty name, expected one with characters")
    if any(child.local_name == local_name for child in draft.children[holder]):
        where = graph.names.place(holder)
        raise EditError(f"{graph.title}: {where} has a {local_name!r} already; take another name")


def _subtrees(graph: Graph, tops: Iterable[int]) -> set[int]:
    """Return nodes with all below them in the outline: slots are below their variables."""
    return {node for top in tops for node in graph.tree.below(top)}
