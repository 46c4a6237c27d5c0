"""The rows of a picture in words: as SVG, as nested lists and in a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.layers.rows import LayerGroup
from ckpt_viz.graphs.nodes.in_no_checkpoint import amount_lost
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, NotSaved, Role
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.both_names import both_names
from ckpt_viz.graphs.render.layer_outline import layer_outline
from ckpt_viz.graphs.render.outline import outline
from ckpt_viz.graphs.render.row_tree import Row
from ckpt_viz.graphs.render.text import briefly, describe_value, printable, shortened, side_by_side
from ckpt_viz.graphs.render.views import MAX_LAYER_ROWS, View
from ckpt_viz.ground.text import count

# In characters, for the text of a column.
_MAX_LABEL, _MAX_KIND, _MAX_VALUE, _MAX_NOTE = 48, 30, 44, 110
_MAX_SLOTS = 6
HELD_ALONE = "held by the optimizer alone"
_IN_NONE = "in no checkpoint"


@dataclass(frozen=True, slots=True)
class RowText:
    """A row as text: its columns, and a sentence for screen readers.

    `label` is the name without the middle of a long one. `rest` is the value without the number of
    parameters, for a picture with a column for these.
    """

    name: str
    label: str
    kind: str
    value: str
    rest: str
    note: str
    sentence: str


def rows_of(graph: Graph, max_rows: int, view: View = "layers") -> list[Row]:
    """Return the rows of a picture: the layers in at most 60 rows, or the objects.

    The few variables of a layer are beside it, and take none of the 60.
    """
    if view == "objects":
        return outline(graph, max_rows)
    rows = min(max_rows, MAX_LAYER_ROWS)
    return layer_outline(graph, rows, most_beside=max_rows - rows)


def line_of(graph: Graph, row: Row) -> RowText:
    """Return a row in words."""
    if row.lost is not None:
        return _lost_line(row.lost)
    if row.group is not None:
        return _group_line(row, row.group)
    if row.node_id is None:
        words = f"… {count(row.siblings, 'more child', 'more children')}"
        below = row.hidden - row.siblings
        more = f"{count(below, 'node')} below them" if below else ""
        lost = _lost(row)
        sentence = ", ".join(filter(None, (words[2:], more, lost)))
        return RowText(words, words, "", more, more, lost, sentence)
    node = graph.nodes[row.node_id]
    label = title_of(graph, row)
    kind = f"{node.role.value} {printable(node.type_name or '')[:_MAX_KIND]}".rstrip()
    slots = _slots(graph, row)
    value = shortened(describe_value(node))
    if row.hanging:
        kind, value = HELD_ALONE, count(row.hanging, "variable")
    closed = "" if slots or not row.hidden else f"▸ {count(row.hidden, 'node')} below"
    parameters = _parameters(row) if row.hanging or not value else ""
    shown = cut(side_by_side(value, parameters, slots, closed), _MAX_VALUE)
    wrong = side_by_side(_wrong(node), _lost(row))
    called = " ".join(both_names(graph.names, graph, row.node_id))
    said = (
        called,
        kind,
        value,
        parameters if row.hanging else "",
        slots,
        closed.removeprefix("▸ "),
        wrong,
    )
    return RowText(
        label,
        without_middle(label, _MAX_LABEL),
        cut(kind, _MAX_KIND),
        shown,
        cut(side_by_side(value, slots, closed), _MAX_VALUE),
        cut(wrong, _MAX_NOTE),
        ", ".join(filter(None, said)),
    )


def _lost_line(lost: NotSaved) -> RowText:
    """Return the row of an attribute in words, whose values no checkpoint holds."""
    label = shortened(lost.name)
    value = amount_lost(lost)
    said = ", ".join((label, _IN_NONE, value))
    return RowText(label, without_middle(label, _MAX_LABEL), _IN_NONE, value, value, "", said)


def _group_line(row: Row, group: LayerGroup) -> RowText:
    """Return the row of a block, or of parts that are alike, in words."""
    label = _group_title(group)
    kind = f"{group.size} alike" if group.is_alike else f"{group.size} in a block"
    closed = f"▸ {count(row.hidden, 'node')} below" if row.hidden else ""
    value = side_by_side(_parameters(row), closed)
    lost = _lost(row)
    said = (label, kind, value.replace("▸ ", ""), lost)
    shown = cut(value, _MAX_VALUE)
    sentence = ", ".join(filter(None, said))
    name = without_middle(label, _MAX_LABEL)
    return RowText(label, name, kind, shown, closed, lost, sentence)


def _group_title(group: LayerGroup) -> str:
    first, last = shortened(group.first), shortened(group.last)
    return f"{first} … {last}" if group.is_alike else first


def _parameters(row: Row) -> str:
    """Return the number of parameters below a row; "" for a row without any."""
    if not row.parameters:
        return ""
    return f"{row.parameters:,} {'parameter' if row.parameters == 1 else 'parameters'}"


def title_of(graph: Graph, row: Row) -> str:
    """Return what people call a row: a local name, the name of a layer, or those of a group."""
    if row.group is not None:
        return _group_title(row.group)
    if row.node_id == ROOT and not row.name:
        return ROOT_NAME
    label = shortened(row.name or graph.tree.labels[row.node_id or ROOT])
    return label if label.strip() else f'"{label}"'


def slots_of(graph: Graph, row: Row) -> list[str]:
    """Return the names of the slot variables of a variable, each once, if they have no rows."""
    if row.node_id is None or not row.hidden:
        return []
    if graph.nodes[row.node_id].role is not Role.VARIABLE:
        return []
    below = graph.tree.children[row.node_id]
    names = (slot.name for c in below if (slot := graph.nodes[c].slot) is not None)
    return list(dict.fromkeys(names))  # a LossScaleOptimizer has those of its optimizer, too


def _slots(graph: Graph, row: Row) -> str:
    names = slots_of(graph, row)
    shown = [cut(shortened(name), 20) for name in names[:_MAX_SLOTS]]
    if row.node_id is not None and len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return f"with {', '.join(shown)}" if shown else ""


def _lost(row: Row) -> str:
    """Return how many nodes without a row of their own cannot be read; "" for none."""
    return f"! {row.unreadable} below cannot be read" if row.unreadable else ""


def _wrong(node: Node) -> str:
    """Return what is wrong with a node itself: it is unreadable, or not saved whole.

    Only an alarm has a `!`: what loses no trained value is a note.
    """
    problems = [
        node.error,
        *(attribute.error and briefly(attribute.error) for attribute in node.attributes[:3]),
    ]
    words = [f"! {shortened(problem)}" for problem in problems if problem]
    words += [
        f"{'! not saved' if unsaved.is_lost else 'not tracked'}: {shortened(unsaved.name)}"
        for unsaved in sorted(node.not_saved, key=lambda unsaved: not unsaved.is_lost)[:3]
    ]
    return side_by_side(*words)


def left_out(graph: Graph, rows: Sequence[Row]) -> str | None:
    """Return a note on the nodes without a row, None if all have one."""
    shown = sum(row.node_id is not None for row in rows)
    if shown == len(graph.nodes):
        return None
    slots = sum(row.hidden for row in rows if _slots(graph, row))
    counted = sum(row.hidden for row in rows) - slots
    alike = sum(row.repeated for row in rows)
    lists = len(graph.nodes) - shown - slots - counted - alike
    words = [f"{shown} of {count(len(graph.nodes), 'node')} shown"]
    if slots:
        words.append(f"{count(slots, 'slot variable')} named beside their variables")
    if counted:
        words.append(f"{counted} in what is closed")
    if alike:
        words.append(f"{alike} in parts that are alike")
    if lists:
        words.append(f"{lists} without values left out")
    return "; ".join(words)


def columns_of(character: str) -> int:
    """Return how many columns a character takes in a fixed-width font."""
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def without_middle(words: str, most: int) -> str:
    """Return a name of at most this many columns, without its middle: its ends tell names apart.

    >>> without_middle("encoder_block_12_attention", 15)
    'encoder…tention'
    """
    if cut(words, most) == words:
        return words
    half = (most - 1) // 2
    return f"{cut(words, half + 1)}{cut(words[::-1], half + 1)[-2::-1]}"


def cut(words: str, most: int) -> str:
    """Return text of at most this many columns, without its end."""
    if len(words) * 2 <= most:
        return words
    columns = 0
    for place, character in enumerate(words):
        columns += columns_of(character)
        if columns > most or place > 2 * most:  # endless accents take no columns
            return f"{words[: max(place - 1, 0)]}…"
    return words
