"""Where the values of Keras' `export()` belong: it stores lists of variables, and no model.

The names of the variables have the scopes of the model, so they are compared as the names of a
name-based checkpoint.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.nodes.exported import exported_lists
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.scopes import NamedVariable, scope_nodes
from ckpt_viz.matching.correspondence.by_names import pairs_by_name
from ckpt_viz.matching.correspondence.pairs import Pair
from ckpt_viz.matching.name_rules.scope_tree import full_name


def has_lists_alone(saved: Graph, paired: Container[int]) -> bool:
    """Return whether a file is of Keras' `export()`, and the program has none of its lists."""
    lists = exported_lists(saved.nodes)
    return bool(lists) and not any(node in paired for node in lists)


def pairs_of_export(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield the exported variables that belong to a model; of two of one name, the first."""
    nodes: dict[str, int] = {}
    for child in saved.nodes[exported_lists(saved.nodes)[0]].children:
        if name := full_name(saved.nodes[child.node_id]):
            nodes.setdefault(name, child.node_id)
    values = (
        NamedVariable(saved.nodes[node].attributes[0]._replace(full_name=name))
        for name, node in nodes.items()
    )
    try:
        named = Graph(scope_nodes(values), saved.title, saved.origin, saved.provenance)
    except UnsupportedError:  # no model has such names
        return
    for pair in pairs_by_name(named, live):
        yield pair._replace(node=nodes[full_name(named.nodes[pair.node])])
