"""Edits of a name-based checkpoint: its tensors have names and no objects.

The scopes follow from the names, so an edit names the tensors that stay, and builds the rest again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckpt_viz.errors import EditError
from ckpt_viz.graphs.edits.draft import edited_title
from ckpt_viz.graphs.edits.edited_access import EditedAccess
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.scopes import NamedVariable, scope_nodes
from ckpt_viz.ground.text import readable


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


def renamed_names(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return a graph in which tensors or scopes have other names, with all that is in them.

    A slash at the end is for people: "bert" and "bert/" are the same scope. An empty new name
    takes a scope away. All names are those of before, so two scopes may exchange theirs. If an
    old name has dots, as "bert.w" for "bert/w", the new one may have dots, too.
    """
    scopes = {
        _scope(graph, old): (new if is_scope(graph, old) else new.replace(".", "/")).rstrip("/")
        for old, new in names.items()
    }
    inner_first = sorted(scopes, key=len, reverse=True)
    renamed = []
    for key in _holders(graph):
        name = key
        for scope in inner_first:
            if _is_in(key, scope) and _is_in(name, scope):
                name = _renamed(name, scope, scopes[scope])
        renamed.append((key, name))
    return with_names(graph, old_by_new(graph, renamed))


def is_scope(graph: Graph, name: str) -> bool:
    """Return whether a name is that of a tensor in a graph of names, or of a scope."""
    return graph.is_name_based and any(_is_in(key, name.rstrip("/")) for key in _holders(graph))


def _scope(graph: Graph, name: str) -> str:
    if is_scope(graph, name):
        return name.rstrip("/")
    return "/".join(graph.path(graph.node_id(name)))


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


def _is_in(key: str, scope: str) -> bool:
    return key == scope or key.startswith(f"{scope}/")


def _renamed(key: str, old: str, new: str) -> str:
    """Return the new name of a tensor in a scope that gets another name."""
    renamed = f"{new}{key[len(old) :]}" if new else key[len(old) + 1 :]
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
