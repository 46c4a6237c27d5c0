"""The lists of a file that Keras' `export()` wrote: it has variables, and no model.

Keras 3 stores each variable twice (`ExportArchive` of keras/src/export/saved_model.py): in the
order of the model in `variables`, and in any order in `_all_variables`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.nodes.nodes import ROOT, Node

LIST, COPIES = "variables", "_all_variables"


def exported_lists(nodes: Sequence[Node]) -> Sequence[int]:
    """Return the list of variables and that of their copies; empty for any other file."""
    children = {child.local_name: child.node_id for child in nodes[ROOT].children}
    return [children[LIST], children[COPIES]] if {LIST, COPIES} <= children.keys() else ()


def copies_in_export(nodes: Sequence[Node]) -> frozenset[int]:
    """Return the second values of variables; Keras 2 has the same nodes in both lists."""
    listed = [{child.node_id for child in nodes[each].children} for each in exported_lists(nodes)]
    return frozenset(listed[1] - listed[0]) if listed else frozenset()
