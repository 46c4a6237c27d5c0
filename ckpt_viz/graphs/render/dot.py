"""Object graphs as Graphviz DOT, with the look of TensorFlow's checkpoint guide.

Red optimizers, blue variables, orange slot variables, everything else black; slots hang from
their optimizer and their variable by dashed edges (https://www.tensorflow.org/guide/checkpoint,
section "Loading mechanics"). Shapes and line styles say the same without the colours.
"""

from __future__ import annotations

import graphviz

from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.both_names import both_names
from ckpt_viz.graphs.render.families import family_of
from ckpt_viz.graphs.render.palette import DOT, LIGHT
from ckpt_viz.graphs.render.row_tree import RowTree
from ckpt_viz.graphs.render.row_words import line_of, title_of
from ckpt_viz.graphs.render.signs import CELLS
from ckpt_viz.graphs.render.text import describe_value, shortened
from ckpt_viz.graphs.render.views import View

_BLACK = {"color": DOT["object"], "shape": "box", "style": "rounded"}
_LOOKS = {
    Role.VARIABLE: {"color": LIGHT["variable"], "shape": "ellipse"},
    Role.OPTIMIZER: {"color": LIGHT["optimizer"], "shape": "hexagon", "penwidth": "2"},
    Role.SLOT: {"color": LIGHT["slot"], "shape": "box", "style": "dashed"},
}
_GROUP = {"color": DOT["object"], "shape": "box3d"}
_SLOT_EDGE = {"color": LIGHT["slot"], "style": "dashed"}


def to_dot(
    graph: Graph, overlay: Overlay | None = None, *, view: View = "layers"
) -> graphviz.Digraph:
    """Return the graph as a `graphviz.Digraph`: `.source` is DOT, `.render()` needs Graphviz.

    It shows all `layers` with the signs of their families, parts that are alike once, or all
    `objects` with their edges. Names of DOT's nodes are ids. Names from checkpoints appear only in
    labels and tooltips, escaped, never as HTML labels or DOT syntax. For a comparison, `overlay` is
    laid over this graph: a label includes what the checked call does with the values, with the sign
    and the words of the table, and nodes of only the saved side are dashed.
    """
    dot = graphviz.Digraph("object_graph")
    dot.attr("graph", tooltip=_escaped(graph.title))
    dot.attr("node", fontname="Helvetica", fontsize="11")
    dot.attr("edge", fontname="Helvetica", fontsize="9", color=DOT["edge"])
    if view == "layers":
        _add_layers(dot, graph, overlay)
    else:
        _add_objects(dot, graph, overlay)
    return dot


def _add_objects(dot: graphviz.Digraph, graph: Graph, overlay: Overlay | None) -> None:
    for node_id in range(len(graph.nodes)):
        _add_node(dot, graph, overlay, node_id)
    for node_id, node in enumerate(graph.nodes):
        for child in node.children:
            dot.edge(str(node_id), str(child.node_id), _escaped(child.local_name))
        if node.slot is not None:
            _add_optimizer_edge(dot, graph, node_id)
            dot.edge(str(node.slot.variable), str(node_id), _escaped(node.slot.name), **_SLOT_EDGE)


def _add_layers(dot: graphviz.Digraph, graph: Graph, overlay: Overlay | None) -> None:
    tree = RowTree.of_layers(graph, None if overlay is None else overlay.layers)
    rows = list(tree.rows({row: below for row, below in enumerate(tree.children) if below}))
    names: list[str] = []
    for place, row in enumerate(rows):
        if row.node_id is None:
            line = line_of(graph, row)
            names.append(f"group{place}")
            dot.node(names[-1], _escaped(line.kind), tooltip=_escaped(line.sentence), **_GROUP)
        else:
            names.append(str(row.node_id))
            _add_node(dot, graph, overlay, row.node_id, shows_signs=True)
    for row, name in zip(rows[1:], names[1:], strict=True):
        is_slot = row.node_id is not None and graph.nodes[row.node_id].slot is not None
        title = _escaped(title_of(graph, row))
        dot.edge(names[row.parent], name, title, **(_SLOT_EDGE if is_slot else {}))
    shown = set(names)
    for row in rows:
        slot = None if row.node_id is None else graph.nodes[row.node_id].slot
        if row.node_id is not None and slot is not None and str(slot.optimizer) in shown:
            _add_optimizer_edge(dot, graph, row.node_id)


def _add_node(
    dot: graphviz.Digraph,
    graph: Graph,
    overlay: Overlay | None,
    node_id: int,
    *,
    shows_signs: bool = False,
) -> None:
    node = graph.nodes[node_id]
    family = family_of(node.type_name or "") if node.role is Role.LAYER and shows_signs else None
    look, label = _LOOKS.get(node.role, _BLACK), _label(node_id, node)
    if family is not None:
        label = f"{family.letter} {label}"
    if overlay is not None:
        label = _compared(overlay, node_id, label)
        if node_id >= overlay.base_size:
            look = {**look, "style": "dashed"}
    names = graph.names if overlay is None else overlay.names
    called = " ".join(both_names(names, graph, node_id))
    tooltip = _escaped(f"{called} ({node.role.value})")
    dot.node(str(node_id), label, tooltip=tooltip, **look)


def _add_optimizer_edge(dot: graphviz.Digraph, graph: Graph, node_id: int) -> None:
    slot = graph.nodes[node_id].slot
    if slot is not None and slot.optimizer is not None:
        dot.edge(str(slot.optimizer), str(node_id), **_SLOT_EDGE)


def _compared(overlay: Overlay, node_id: int, label: str) -> str:
    """Return the label of a node, with what the table says of it in a line below."""
    cell = overlay.table.cell_of.get(node_id)
    if cell is None or cell.sign is CellSign.HERE:
        return label
    return f"{label}\\n{_escaped(f'{CELLS[cell.sign].glyph} {cell.words}')}"  # DOT's own line end


def _label(node_id: int, node: Node) -> str:
    words = [
        "root" if node_id == ROOT else "",
        node.slot.name if node.slot else "",
        node.type_name or (_attribute_names(node) if node.role is Role.VALUE else ""),
        describe_value(node),
    ]
    return _escaped(" ".join(filter(None, words)) or node.role.value)


def _attribute_names(node: Node) -> str:
    return ", ".join(attribute.name for attribute in node.attributes)


def _escaped(text: str) -> str:
    r"""Return text as a DOT string that Graphviz shows unchanged.

    `graphviz.escape` keeps backslashes from having a meaning, and a leading `<` from starting an
    HTML label.
    """
    escaped: str = graphviz.escape(shortened(text))
    return escaped
