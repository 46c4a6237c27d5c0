"""The edits that people name: rename, remove, keep, move, insert and exchange parts of a graph.

Each returns a new graph. A part is a node id, or any name that `Graph.node_id` takes, and means its
whole subtree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from ckpt_viz.errors import EditError, NoSuchNodeError
from ckpt_viz.graphs.edits.by_names import is_scope, only_names, renamed_names, without_names
from ckpt_viz.graphs.edits.draft import Draft, is_list, numbered
from ckpt_viz.graphs.nodes.nodes import ROOT, Child, Role, SlotVariable
from ckpt_viz.graphs.nodes.printed_names import THE_ROOT, child_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import readable

Part = str | int  # a name or a node id


class GivenPart(NamedTuple):
    """A node of another graph, which node is to hold it, and by which local name."""

    node: int
    holder: int
    local_name: str


def node_of(graph: Graph, part: Part) -> int:
    """Return the node id of a part. Raises NoSuchNodeError for a name of none or of several."""
    return part if isinstance(part, int) else graph.node_id(part)


def called(graph: Graph, part: Part) -> str:
    """Return what people call a part: the name that they gave, or that of the node."""
    return readable(graph.names.place(part)) if isinstance(part, int) else part


def renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return a graph with other names, all at once: "net" or "net.l1" to "net.hidden".

    A name that only another renaming makes is looked up after it.
    """
    rename = renamed_names if graph.is_name_based else renamed_parts
    while names:
        known = {old: new for old, new in names.items() if _is_known(graph, old)}
        if not known:
            node_of(graph, next(iter(names)))  # raises
        if not graph.is_name_based:
            _assert_no_keys(graph, known)
        graph = rename(graph, known)
        names = {old: new for old, new in names.items() if old not in known}
    return graph


def _assert_no_keys(graph: Graph, names: Mapping[str, str]) -> None:
    """Raise EditError for a new name in the form of a checkpoint key: that would be one name."""
    for old, new in names.items():
        node = graph.node_id(old)
        if "/" in new and "/" not in graph.tree.labels[node]:
            above, own = graph.tree.parents[node], new.rpartition("/")[2] or "name"
            path = "" if above <= ROOT else child_of(graph.names.place(above), own)
            raise EditError(
                f"{graph.title}: found {new!r} as the new name of {graph.names.place(node)!r}, a "
                f"path with a slash; expected {own!r}{f' or {path!r}' if path else ''}"
            )


def _is_known(graph: Graph, name: str) -> bool:
    try:
        return is_scope(graph, name) or graph.node_id(name) is not None
    except NoSuchNodeError:
        return False


def without(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph without some nodes, with all that is only below them and their slots.

    What another part holds, too, stays. An optimizer is taken for one that was built without the
    variables that are gone.
    """
    if graph.is_name_based:
        return without_names(graph, nodes)
    tops = {*nodes}
    if ROOT in tops:
        raise EditError(f"{graph.title}: found the root, expected a part of the graph to remove")
    draft = Draft.of(graph)
    draft.remove(_subtrees(graph, tops) - _held_elsewhere(graph, tops))
    return draft.finished()


def optimizers_of(graph: Graph, top: int) -> list[int]:
    """Return the optimizers outside a part that hold something of it."""
    below = _subtrees(graph, [top])
    holders = {holder for node in below for holder, _ in graph.edges_to[node]}
    optimizers = (_optimizer_above(graph, holder) for holder in sorted(holders - below))
    return [*dict.fromkeys(node for node in optimizers if node is not None and node not in below)]


def _held_elsewhere(graph: Graph, tops: set[int]) -> set[int]:
    """Return the nodes to which a way leads past some nodes, and not through an optimizer.

    The slot variables of these nodes are held, too.
    """
    held = {ROOT}
    queue = deque([ROOT])
    while queue:
        for child in graph.nodes[queue.popleft()].children:
            node = child.node_id
            is_new = node not in held and node not in tops
            if is_new and graph.nodes[node].role is not Role.OPTIMIZER:
                held.add(node)
                queue.append(node)
    slots = ((node_id, node.slot) for node_id, node in enumerate(graph.nodes))
    held |= {n for n, slot in slots if slot is not None and slot.variable in held} - tops
    return held


def _optimizer_above(graph: Graph, node: int) -> int | None:
    """Return the optimizer that a node is, or is below; None for no such one."""
    above = (node, *graph.tree.above(node))
    return next((top for top in above if graph.nodes[top].role is Role.OPTIMIZER), None)


def only(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph of some nodes, what is below them, and the way to them from the root."""
    if graph.is_name_based:
        return only_names(graph, nodes)
    tops = [*nodes]
    kept = {*_subtrees(graph, tops), ROOT}
    for top in tops:
        kept.update(graph.tree.above(top))
    return without(graph, [node for node in graph.tree.preorder() if node not in kept])


def moved(graph: Graph, part: Part, holder: Part, local_name: str | None = None) -> Graph:
    """Return a graph in which another node holds a part, by its old name or by a new one.

    In a list, `local_name` is the place, by default the end; the later items move on.
    """
    node, target = _part(graph, part), node_of(graph, holder)
    if target in _subtrees(graph, [node]):
        where, what = called(graph, holder), called(graph, part)
        raise EditError(f"{graph.title}: {where} is inside {what}; a part cannot hold itself")
    draft = Draft.of(graph)
    parent, label = graph.tree.parents[node], graph.tree.labels[node]
    _take(draft, parent, label)
    is_item = is_list(graph.nodes[target].children)
    usual = str(len(draft.children[target])) if is_item else label
    _put(draft, target, Child(usual if local_name is None else local_name, node), graph)
    return draft.finished()


def inserted(graph: Graph, holder: Part, local_name: str, like: Part) -> Graph:
    """Return a graph with a new part of the structure of another one, without its values.

    In a list, `local_name` is the place; the later items move on.
    """
    target, model = node_of(graph, holder), node_of(graph, like)
    if graph.nodes[model].role is Role.SLOT:
        raise _slot_error(graph, like)
    draft = Draft.of(graph)
    copies: dict[int, int] = {}
    for node in graph.tree.below(model):
        if graph.nodes[node].role is not Role.SLOT:
            bare = graph.nodes[node]._replace(children=(), slot_variables=())
            copies[node] = draft.add(bare, like=node)
    for node, copy in copies.items():
        for child in graph.nodes[node].children:
            draft.insert(copy, Child(child.local_name, copies.get(child.node_id, child.node_id)))
    _put(draft, target, Child(local_name, copies[model]), graph)
    return draft.finished()


def given(
    graph: Graph, other: Graph, parts: Iterable[GivenPart], counterparts: Mapping[int, int]
) -> Graph:
    """Return a graph with parts of another graph, without their values.

    `counterparts` has the node of this graph for nodes of the other one: edges and slots of a part
    lead there. Edges to nodes without a counterpart stay away.
    """
    draft = Draft.of(graph)
    known = {**counterparts}
    for part in parts:
        if part.node not in known:
            _give(draft, other, part.node, known)
        _put(draft, part.holder, Child(part.local_name, known[part.node]), graph)
    return draft.finished()


def _give(draft: Draft, other: Graph, top: int, known: dict[int, int]) -> None:
    """Add copies of a node of another graph and of all that it leads to and that is not known."""
    copied, counterparts = {top: None}, {*known}
    queue = deque([top])
    while queue:
        node = queue.popleft()
        known[node] = draft.add(other.nodes[node]._replace(children=(), slot_variables=()))
        for child in other.nodes[node].children:
            if child.node_id not in counterparts and child.node_id not in copied:
                copied[child.node_id] = None
                queue.append(child.node_id)
    for node in copied:
        for child in other.nodes[node].children:
            if child.node_id in known:
                draft.insert(known[node], Child(child.local_name, known[child.node_id]))
        slots = other.nodes[node].slot_variables
        for slot in slots:
            if slot.variable in known and slot.slot_variable not in known:
                bare = other.nodes[slot.slot_variable]._replace(children=(), slot_variables=())
                known[slot.slot_variable] = draft.add(bare)
        draft.nodes[known[node]] = draft.nodes[known[node]]._replace(
            slot_variables=tuple(
                SlotVariable(slot.slot_name, known[slot.variable], known[slot.slot_variable])
                for slot in slots
                if slot.variable in known
            )
        )


def exchanged(graph: Graph, a: Part, b: Part) -> Graph:
    """Return a graph in which two parts have each other's place."""
    first, second = _part(graph, a), _part(graph, b)
    inside = first in _subtrees(graph, [second]) or second in _subtrees(graph, [first])
    if first == second or inside:
        names = f"{called(graph, a)} and {called(graph, b)}"
        raise EditError(f"{graph.title}: {names} are not two separate parts")
    draft = Draft.of(graph)
    for old, new in ((first, second), (second, first)):
        parent, label = graph.tree.parents[old], graph.tree.labels[old]
        draft.children[parent] = [
            Child(label, new) if child == Child(label, old) else child
            for child in draft.children[parent]
        ]
    return draft.finished()


def renamed_parts(graph: Graph, names: Mapping[Any, str]) -> Graph:
    """Return a graph in which parts, names or node ids, have other names.

    All happen at once: two parts may exchange their names.
    """
    by_holder: dict[int, dict[str, str]] = {}
    for part, new in names.items():
        node = _part(graph, part)
        parent = graph.tree.parents[node]
        if is_list(graph.nodes[parent].children):
            what = called(graph, part)
            raise EditError(
                f"{graph.title}: {what} is an item of a list; items have places, move it"
            )
        local_names = by_holder.setdefault(parent, {})
        local_names[graph.tree.labels[node]] = local_name_of(graph, node, new)
    draft = Draft.of(graph)
    for parent, local_names in by_holder.items():
        others = [c for c in draft.children[parent] if c.local_name not in local_names]
        taken = {child.local_name for child in others}
        for local_name in local_names.values():
            _assert_free(taken, local_name, parent, graph)
            taken.add(local_name)
        draft.rename(parent, local_names)
    return draft.finished()


def _part(graph: Graph, part: Part) -> int:
    """Return the node id of a part that an edge leads to, so that it has a name and a place."""
    node = node_of(graph, part)
    if node == ROOT:
        raise EditError(f"{graph.title}: found {part!r}, the root, expected a part with a name")
    label = graph.tree.labels[node]
    if Child(label, node) not in graph.nodes[graph.tree.parents[node]].children:
        raise _slot_error(graph, part)
    return node


def _slot_error(graph: Graph, part: Part) -> EditError:
    return EditError(
        f"{graph.title}: {called(graph, part)} is a slot variable, which goes with its variable "
        "and its optimizer; edit one of these"
    )


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


def _take(draft: Draft, holder: int, local_name: str) -> None:
    children = draft.children[holder]
    place = next(i for i, child in enumerate(children) if child.local_name == local_name)
    left = [*children[:place], *children[place + 1 :]]
    draft.children[holder] = numbered(left) if is_list(children) else left


def _put(draft: Draft, holder: int, child: Child, graph: Graph) -> None:
    children = draft.children[holder]
    if is_list(graph.nodes[holder].children):  # also if its only item has just been taken
        name = child.local_name
        if not name.isdecimal() or int(name) > len(children):
            raise EditError(
                f"{graph.title}: found {name!r} as a place in a list, expected 0 to {len(children)}"
            )
        draft.insert(holder, child, int(name))
    else:
        _assert_free({c.local_name for c in children}, child.local_name, holder, graph)
        draft.insert(holder, child)


def _assert_free(taken: Set[str], local_name: str, holder: int, graph: Graph) -> None:
    if not local_name:
        raise EditError(f"{graph.title}: found an empty name, expected one with characters")
    if local_name in taken:
        where = graph.names.place(holder)
        raise EditError(f"{graph.title}: {where} has a {local_name!r} already; take another name")


def _subtrees(graph: Graph, tops: Iterable[int]) -> set[int]:
    """Return nodes with all below them in the outline: slots are below their variables."""
    return {node for top in tops for node in graph.tree.below(top)}
