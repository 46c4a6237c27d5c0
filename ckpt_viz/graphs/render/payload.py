"""The payload: a graph, and the comparison laid over it, as columns in one compressed buffer.

payload.json says what each column and each field of the header holds; docs/payload.md has the same
as tables. labextension/src/data/contract.ts in the front end reads both. Columns compress far
better than objects, and arrive in the browser as typed arrays, without parsing.
"""

from __future__ import annotations

import gzip
import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.layers.training import Training
from ckpt_viz.graphs.nodes.in_no_checkpoint import amount_lost
from ckpt_viz.graphs.nodes.nodes import Role, Sizes, SlotRule
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable, TableCell
from ckpt_viz.graphs.overlay.overlay import Overlay, Severity, State
from ckpt_viz.graphs.render.text import advice, alarms, kind_of_file, notes
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.ground.wording import EXPLORER

if TYPE_CHECKING:  # importing numpy takes as long as opening a checkpoint
    from ckpt_viz.graphs.search.measures import Measures

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
VERSION: int = SCHEMA["version"]
MAGIC = b"ckptviz\0"
ABSENT = -1
_ALIGNMENT = 8
# The typecode of an array by the type of a section.
_TYPECODES = {"uint8": "B", "int32": "i", "float64": "d"}
_TYPES = {code: name for name, code in _TYPECODES.items()}
_MEANINGS: Mapping[str, Sequence[Enum | None]] = {
    "role": tuple(Role),
    "rule": tuple(SlotRule),
    "state": tuple(State),
    "severity": tuple(Severity),
    "training": (None, *Training),
}
_CODES = {
    kind: {meaning: code for code, meaning in enumerate(meanings)}
    for kind, meanings in _MEANINGS.items()
}
_Columns = Mapping[str, Iterable[Any]]
"""What each column holds, by its name: texts, numbers and members of enumerations, or None."""


def encode(graph: Graph, overlay: Overlay | None = None, measures: Measures | None = None) -> bytes:
    """Return the graph as the gzip-compressed buffer that docs/payload.md describes.

    `overlay` is a comparison laid over this graph, `measures` those of its values.
    """
    strings = _Strings()
    parts = {
        "graph": _graph_columns(graph, overlay),
        "facts": _fact_columns(graph),
        "calls": {
            "call_from": (call.producer for call in graph.calls),
            "call_to": (call.consumer for call in graph.calls),
        },
        "layers": _layer_columns(graph, overlay),
    }
    cells: dict[TableCell, int] = {}
    if overlay is not None:
        parts["overlay"] = _overlay_columns(overlay)
        parts["table"] = _table_columns(overlay.table, cells)
    if measures is not None:
        parts["measures"] = {
            f"value_{name}": array("d", numbers.tobytes())
            for name, numbers in measures.columns.items()
        }
    columns = {
        name: _column(kind, parts[part][name], strings)
        for part in parts
        for kinds in SCHEMA["columns"][part].values()
        for name, kind in kinds.items()
    } | strings.table()
    header = {
        **_source(graph, overlay),
        "overlay": None if overlay is None else _overlay_header(overlay),
        "table": None if overlay is None else _table_header(overlay.table, cells),
        "unread": 0 if measures is None else measures.unread,
        "unreadable": 0 if measures is None else measures.unreadable,
        "sections": [
            {"name": name, "type": _TYPES[column.typecode], "length": len(column)}
            for name, column in columns.items()
        ],
    }
    return gzip.compress(_joined(header, columns), compresslevel=6, mtime=0)


def _joined(header: Mapping[str, Any], columns: Mapping[str, array[Any]]) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    parts = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts.append(_padding(sum(map(len, parts))))
    for column in columns.values():
        data = _little_endian(column)
        parts += [data, _padding(len(data))]
    return b"".join(parts)


def _column(kind: str, values: Iterable[Any], strings: _Strings) -> array[Any]:
    """Return the values of a column of this kind as an array."""
    if kind == "text":
        return strings.column(values)
    if kind in _CODES:
        values = map(_CODES[kind].__getitem__, values)
    elif kind == "flag":
        values = (value > 0 for value in values)
    elif kind != "measure":
        values = (ABSENT if value is None else value for value in values)
    return array(_TYPECODES[SCHEMA["kinds"][kind][0]], values)


def _source(graph: Graph, overlay: Overlay | None) -> dict[str, Any]:
    """Return what the header says of the graph's source."""
    kind = kind_of_file(graph)
    about = [*alarms(graph), *([f"This is a {kind}."] if kind else []), *notes(graph)]
    # A comparison's graph joins two: then an optimizer of one side may hold what the other lacks.
    left_open = advice(graph) if overlay is None else overlay.notes
    return {
        "version": VERSION,
        "title": _utf8(graph.title).decode(),
        "origin": graph.origin.value,
        "kind": kind or None,
        "notes": [_utf8(note).decode() for note in (*about, *left_open)],
    }


def _graph_columns(graph: Graph, overlay: Overlay | None) -> _Columns:
    nodes, tree = graph.nodes, graph.tree
    attributes = [attribute for node in nodes for attribute in node.attributes]
    unsaved = [attribute for node in nodes for attribute in node.not_saved]
    first = [graph.first_edges.get(i, (None, "")) for i in range(len(nodes))]
    slots = [(i, node.slot) for i, node in enumerate(nodes) if node.slot is not None]
    return {
        "role": (node.role for node in nodes),
        "type_name": (node.type_name for node in nodes),
        "error": (node.error for node in nodes),
        "registered_saver": (node.registered_saver for node in nodes),
        "collections": (", ".join(node.collections) or None for node in nodes),
        "tree_order": tree.preorder(),
        "tree_parent": tree.parents,
        "tree_label": tree.labels,
        "node_name": _names(graph, overlay),
        "first_parent": (parent for parent, _ in first),
        "first_label": (label for _, label in first),
        "child_count": (len(node.children) for node in nodes),
        "child_node": (child.node_id for node in nodes for child in node.children),
        "child_label": (child.local_name for node in nodes for child in node.children),
        "attribute_count": (len(node.attributes) for node in nodes),
        "attribute_name": (attribute.name for attribute in attributes),
        "attribute_full_name": (attribute.full_name for attribute in attributes),
        "attribute_key": (attribute.checkpoint_key for attribute in attributes),
        "attribute_dtype": (attribute.dtype for attribute in attributes),
        "attribute_shape": (_shape(attribute.shape) for attribute in attributes),
        "attribute_nbytes": (attribute.nbytes for attribute in attributes),
        "attribute_slices": (len(attribute.slices) for attribute in attributes),
        "attribute_error": (attribute.error for attribute in attributes),
        "unsaved_count": (len(node.not_saved) for node in nodes),
        "unsaved_name": (attribute.name for attribute in unsaved),
        "unsaved_type": (attribute.type_name for attribute in unsaved),
        "unsaved_values": (attribute.count for attribute in unsaved),
        "unsaved_is_lost": (attribute.is_lost for attribute in unsaved),
        "slot_node": (node_id for node_id, _ in slots),
        "slot_name": (slot.name for _, slot in slots),
        "slot_variable": (slot.variable for _, slot in slots),
        "slot_optimizer": (slot.optimizer for _, slot in slots),
        "slot_rule": (slot.rule for _, slot in slots),
    }


def _fact_columns(graph: Graph) -> _Columns:
    """Return the columns of what is known of layers and of training."""
    facts = [
        (i, *fact)
        for i, node in enumerate(graph.nodes)
        if node.facts is not None
        for fact in node.facts.stated
    ]
    layers = [node.facts for node in graph.nodes]
    return {
        "fact_node": (node_id for node_id, _, _ in facts),
        "fact_name": (name for _, name, _ in facts),
        "fact_value": (value for _, _, value in facts),
        "layer_gives": (layer and shapes_text(layer.gives) for layer in layers),
        "layer_gets": (layer and shapes_text(layer.gets) for layer in layers),
        "training": graph.trainings,
    }


def shapes_text(shapes: Sequence[Sizes] | None) -> str | None:
    """Return the shapes of several tensors as text.

    >>> shapes_text([(96, 96, 3), (None,)]), shapes_text([()]), shapes_text(None)
    ('96,96,3;?', '', None)
    """
    if shapes is None:
        return None
    return ";".join(
        ",".join("?" if size is None else str(size) for size in sizes) for sizes in shapes
    )


def _names(graph: Graph, overlay: Overlay | None) -> Iterator[str | None]:
    """Yield what people call each node, if that is not its local name."""
    names = graph.names if overlay is None else overlay.names
    for node_id, label in enumerate(graph.tree.labels):
        name = names.name(node_id)
        yield None if name == label else name


def _layer_columns(graph: Graph, overlay: Overlay | None) -> _Columns:
    view: Layers = graph.layers if overlay is None else overlay.layers
    saved_titles = {} if overlay is None else overlay.saved_titles
    rows = range(len(view.parents))
    return {
        "layer_order": view.preorder(),
        "layer_parent": view.parents,
        "layer_name": map(view.title, rows),
        "layer_saved_name": map(saved_titles.get, rows),
        "layer_hanging": (view.hanging.get(row, 0) for row in rows),
        "layer_lost": (amount_lost(view.lost[row]) if row in view.lost else None for row in rows),
        "layer_shown": view.shown_in,
        "layer_parameters": graph.parameters,
        "group_is_alike": (group.is_alike for group in view.groups),
    }


def _overlay_header(overlay: Overlay) -> dict[str, Any]:
    return {
        "comparison": overlay.comparison.value,
        "base_size": overlay.base_size,
        "has_steps": overlay.has_steps,
        "can_change": overlay.can_change,
        "verdicts": [
            {
                "name": _utf8(verdict.name).decode(),
                "passes": verdict.passes,
                "message": _utf8(verdict.message).decode(),
            }
            for verdict in overlay.verdicts
        ],
    }


def _overlay_columns(overlay: Overlay) -> _Columns:
    marks, problems = overlay.marks, overlay.problems
    return {
        "overlay_state": (mark.state for mark in marks),
        "overlay_detail": (mark.detail or None for mark in marks),
        "overlay_saved_label": overlay.saved_labels(),
        "overlay_saved_name": overlay.saved_names,
        "overlay_partner": (mark.partner or None for mark in marks),
        "overlay_goes_to": (mark.goes_to for mark in marks),
        "overlay_is_held_elsewhere": overlay.are_held_elsewhere,
        "overlay_saved_elements": map(overlay.saved_elements.get, range(len(marks))),
        "problem_severity": (problem.severity for problem in problems),
        "problem_kind": (problem.kind for problem in problems),
        "problem_saved": (problem.saved for problem in problems),
        "problem_live": (problem.live for problem in problems),
        "problem_why": (problem.why for problem in problems),
        "problem_remedy": (problem.to_do(overlay.wording) or None for problem in problems),
        "problem_fix": (problem.by_the_fix(EXPLORER) for problem in problems),
        "problem_node_count": (len(problem.nodes) for problem in problems),
        "problem_node": (node_id for problem in problems for node_id in problem.nodes),
        "guess_code": map(quoted, overlay.guesses),
    }


def _table_header(table: ComparisonTable, cells: Iterable[TableCell]) -> dict[str, Any]:
    return {
        "sentence": _utf8(table.sentence).decode(),
        "verdict": _utf8(table.verdict).decode(),
        "heads": [*table.heads],
        "notes": [_utf8(note).decode() for note in table.notes],
        "is_one_column": table.is_one_column,
        "totals": asdict(table.totals),
        "guessed": [
            {
                "values": guess.values,
                "question": _utf8(guess.question).decode(),
                "tick": guess.tick,
                "taken": guess.taken,
            }
            for guess in table.guessed
        ],
        "worst": table.worst,
        "cells": [{"sign": cell.sign.value, "words": _utf8(cell.words).decode()} for cell in cells],
    }


def _table_columns(table: ComparisonTable, cells: dict[TableCell, int]) -> _Columns:
    """Return the columns of the lines; `cells` gets the place of each cell among all different."""

    def place(cell: TableCell | None) -> int:
        return ABSENT if cell is None else cells.setdefault(cell, len(cells))

    lines = table.lines
    return {
        "line_parent": (line.parent for line in lines),
        "line_saved": (line.saved or None for line in lines),
        "line_live": (line.live or None for line in lines),
        "line_saved_facts": (line.saved_facts or None for line in lines),
        "line_live_facts": (line.live_facts or None for line in lines),
        "line_saved_node": (line.saved_node for line in lines),
        "line_live_node": (line.live_node for line in lines),
        "line_plain": (place(line.plain) for line in lines),
        "line_fixed": (place(line.fixed) for line in lines),
        "line_values": (line.values for line in lines),
        "line_guess": (line.guess for line in lines),
    }


def _shape(shape: tuple[int, ...] | None) -> str | None:
    return None if shape is None else ",".join(map(str, shape))


def _little_endian(column: array[Any]) -> bytes:
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()


def _padding(size: int) -> bytes:
    return b"\0" * (-size % _ALIGNMENT)


def _utf8(text: str) -> bytes:
    # Python names can hold lone surrogates, which UTF-8 cannot carry.
    return text.encode("utf-8", "backslashreplace")


class _PlacesOfStrings(dict[str | None, int]):
    """The place of each text, in order of first use; ABSENT for None."""

    def __init__(self) -> None:
        self[None] = ABSENT

    def __missing__(self, text: str) -> int:
        place = self[text] = len(self) - 1
        return place


class _Strings:
    """The string table: each distinct string once, in order of first use."""

    def __init__(self) -> None:
        self._index = _PlacesOfStrings()

    def column(self, values: Iterable[str | None]) -> array[int]:
        """Return the strings' places in the table; ABSENT for None."""
        return array("i", map(self._index.__getitem__, values))

    def table(self) -> dict[str, array[int]]:
        """Return the table as two columns: lengths in bytes, and the UTF-8 text."""
        encoded = [_utf8(text) for text in self._index if text is not None]
        return {
            "string_length": array("i", map(len, encoded)),
            "string_bytes": array("B", b"".join(encoded)),
        }
