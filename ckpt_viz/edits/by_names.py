"""Edits of a name-based checkpoint: its tensors have names and no objects.

The scopes follow from the names, so an edit names the tensors that stay, and builds the rest again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckpt_viz.edits.draft import edited_title
from ckpt_viz.edits.edited_access import EditedAccess
from ckpt_viz.errors import EditError
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.object_graph.scopes import NamedVariable, scope_nodes
from ckpt_viz.text import readable


def without_names(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph without some tensors, and without all in some scopes."""
    gone = _below(graph, nodes)
    return with_names(
        graph, {key: key for key, node in _holders(graph).items() if node not in gone}
    )


def only_names(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return a graph of some tensors, and of all in some scopes."""
    kept = _below(graph, nodes)
    return with_names(graph, {key: key for key, node in _holders(graph).items() if node in kept})


def renamed_names(graph: Graph, old: str, new: str) -> Graph:
    """Return a graph in which a tensor or a scope has another name, with all that is in it.

    A slash at the end is for people: "bert" and "bert/" are the same scope. An empty new name
    takes a scope away.
    """
    keys = [*_holders(graph)]
    names = {key: _renamed(key, old.rstrip("/"), new.rstrip("/")) for key in keys}
    if all(name is None for name in names.values()):
        scope = "/".join(graph.path(graph.node_id(old)))
        names = {key: _renamed(key, scope, new.rstrip("/")) for key in keys}
    renamed = ((key, key if name is None else name) for key, name in names.items())
    return with_names(graph, old_by_new(graph, renamed))


def old_by_new(graph: Graph, names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return old names by the new ones; `names` are pairs of both.

    Raises EditError if two tensors get one name.
    """
    olds: dict[str, str] = {}
    for old, new in names:
        other = olds.setdefault(new, old)
        if other != old:
            raise EditError(
                f"{graph.title}: {readable(other)} and {readable(old)} become one name, "
                f"{readable(new)}; expected two"
            )
    return olds


def _renamed(key: str, old: str, new: str) -> str | None:
    """Return the new name of a tensor; None if the old name means another one."""
    if key == old:
        renamed = new
    elif key.startswith(f"{old}/"):
        renamed = f"{new}{key[len(old) :]}" if new else key[len(old) + 1 :]
    else:
        return None
    if not renamed:
        raise EditError(f"found an empty name for {readable(key)!r}, expected one with characters")
    return renamed


def _holders(graph: Graph) -> dict[str, int]:
    """Return the node of each tensor by its name, in the order of the names."""
    keys = {
        attribute.checkpoint_key: node_id
        for node_id, node in enumerate(graph.nodes)
        for attribute in node.attributes
    }
    return dict(sorted(keys.items()))


def _below(graph: Graph, nodes: Iterable[int]) -> set[int]:
    tops = {*nodes}
    if ROOT in tops:
        raise EditError(f"{graph.title}: found the root, expected a part of the graph")
    return {node for top in tops for node in graph.tree.below(top)}


def with_names(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return a graph with these tensors: the old name of each by its new one."""
    holders = _holders(graph)
    variables = [
        NamedVariable(
            graph.nodes[holders[old]].attributes[0]._replace(full_name=new, checkpoint_key=new),
            graph.nodes[holders[old]].trainable,
            graph.nodes[holders[old]].collections,
            graph.nodes[holders[old]].type_name,
        )
        for new, old in names.items()
    ]
    nodes = scope_nodes(variables)
    of_scopes = iter(range(len(graph.nodes), len(graph.nodes) + len(nodes)))
    before = [
        holders[names[node.attributes[0].checkpoint_key]] if node.attributes else next(of_scopes)
        for node in nodes
    ]
    return Graph(
        nodes,
        edited_title(graph),
        Origin.SAVED,
        _access=EditedAccess.of(graph, names, before, {}),
    )
