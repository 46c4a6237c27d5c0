"""The payload: a graph, and the comparison laid over it, as columns in one compressed buffer.

docs/payload.md describes the format; labextension/src/data/contract.ts in the front end reads it.
Columns compress far better than objects, and arrive in the browser as typed arrays, without
parsing.
"""

from __future__ import annotations

import gzip
import json
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any

from ckpt_viz.expressions import quoted
from ckpt_viz.object_graph.comparison_table import ComparisonTable, TableCell
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.layers import Layers
from ckpt_viz.object_graph.nodes import Role, Sizes, SlotRule
from ckpt_viz.object_graph.overlay import Overlay, Severity, State
from ckpt_viz.object_graph.parameters import parameters_of
from ckpt_viz.object_graph.remedy import code_of
from ckpt_viz.object_graph.training import Training
from ckpt_viz.render.text import advice, alarms, kind_of_file, notes
from ckpt_viz.wording import EXPLORER, with_code_below

if TYPE_CHECKING:  # importing numpy takes as long as opening a checkpoint
    from ckpt_viz.search.measures import Measures

VERSION = 1
MAGIC = b"ckptviz\0"
ABSENT = -1
_ROLES = tuple(Role)
_RULES = tuple(SlotRule)
_STATES = tuple(State)
_SEVERITIES = tuple(Severity)
_TRAININGS = (None, *Training)
_ALIGNMENT = 8
_Columns = dict[str, "array[int] | array[float]"]
_TYPES = {"B": "uint8", "i": "int32", "d": "float64"}  # by the typecode of an array


def encode(graph: Graph, overlay: Overlay | None = None, measures: Measures | None = None) -> bytes:
    """Return the graph as the gzip-compressed buffer that docs/payload.md describes.

    `overlay` is a comparison laid over this graph, `measures` those of its values.
    """
    strings = _Strings()
    columns = _graph_columns(graph, strings)
    kind = kind_of_file(graph)
    about = [*alarms(graph), *([f"This is a {kind}."] if kind else []), *notes(graph)]
    # A comparison's graph joins two: then an optimizer of one side may hold what the other lacks.
    left_open = advice(graph) if overlay is None else overlay.notes
    if graph.calls:
        columns |= {
            "call_from": _i4(call.producer for call in graph.calls),
            "call_to": _i4(call.consumer for call in graph.calls),
        }
    columns |= _fact_columns(graph, strings)
    columns["node_name"] = strings.column(_names(graph, overlay))
    columns |= _layer_columns(graph.layers if overlay is None else overlay.layers, strings)
    columns["layer_parameters"] = _flags(parameters_of(graph.nodes, graph.tree))
    if overlay is not None:
        titles = overlay.saved_titles
        rows = range(len(columns["layer_name"]))
        columns["layer_saved_name"] = strings.column(map(titles.get, rows))
        columns |= _overlay_columns(overlay, strings)
    table = None if overlay is None else overlay.table
    cells: dict[TableCell, int] = {}
    if table is not None:
        columns |= _table_columns(table, cells, strings)
    if measures is not None:
        columns |= {
            f"value_{name}": array("d", column.tobytes())
            for name, column in measures.columns.items()
        }
    columns |= strings.table()
    sections = [
        {"name": name, "type": _TYPES[column.typecode], "length": len(column)}
        for name, column in columns.items()
    ]
    header = json.dumps(
        {
            "version": VERSION,
            "title": _utf8(graph.title).decode(),
            "origin": graph.origin.value,
            **({"kind": kind} if kind else {}),
            "notes": [_utf8(note).decode() for note in (*about, *left_open)],
            "roles": [role.value for role in _ROLES],
            "slot_rules": [rule.value for rule in _RULES],
            "overlay": None if overlay is None else _overlay_header(overlay),
            **({} if table is None else {"table": _table_header(table, cells)}),
            "unread": 0 if measures is None else measures.unread,
            "unreadable": 0 if measures is None else measures.unreadable,
            "sections": sections,
        },
        separators=(",", ":"),
    ).encode()
    parts = [MAGIC, len(header).to_bytes(4, "little"), header]
    parts.append(b"\0" * (_padded(sum(map(len, parts))) - sum(map(len, parts))))
    for column in columns.values():
        data = _little_endian(column)
        parts += [data, b"\0" * (_padded(len(data)) - len(data))]
    return gzip.compress(b"".join(parts), compresslevel=6, mtime=0)


def _graph_columns(graph: Graph, strings: _Strings) -> _Columns:
    nodes, tree = graph.nodes, graph.tree
    attributes = [attribute for node in nodes for attribute in node.attributes]
    unsaved = [unsaved_object for node in nodes for unsaved_object in node.not_saved]
    first = [graph.first_edges.get(i, (ABSENT, "")) for i in range(len(nodes))]
    slots = [(i, node.slot) for i, node in enumerate(nodes) if node.slot is not None]
    return {
        "role": _codes(_ROLES, (node.role for node in nodes)),
        "type_name": strings.column(node.type_name for node in nodes),
        "error": strings.column(node.error for node in nodes),
        "registered_saver": strings.column(node.registered_saver for node in nodes),
        "collections": strings.column(", ".join(n.collections) or None for n in nodes),
        "tree_order": _i4(tree.preorder()),
        "tree_parent": _i4(tree.parents),
        "tree_label": strings.column(tree.labels),
        "first_parent": _i4(parent for parent, _ in first),
        "first_label": strings.column(label for _, label in first),
        "child_count": _i4(len(node.children) for node in nodes),
        "child_node": _i4(child.node_id for node in nodes for child in node.children),
        "child_label": strings.column(c.local_name for node in nodes for c in node.children),
        "attribute_count": _i4(len(node.attributes) for node in nodes),
        "attribute_name": strings.column(a.name for a in attributes),
        "attribute_full_name": strings.column(a.full_name for a in attributes),
        "attribute_key": strings.column(a.checkpoint_key for a in attributes),
        "attribute_dtype": strings.column(a.dtype for a in attributes),
        "attribute_shape": strings.column(_shape(a.shape) for a in attributes),
        "attribute_nbytes": array(
            "d", (ABSENT if a.nbytes is None else a.nbytes for a in attributes)
        ),
        "attribute_slices": _i4(len(a.slices) for a in attributes),
        "attribute_error": strings.column(a.error for a in attributes),
        "unsaved_count": _i4(len(node.not_saved) for node in nodes),
        "unsaved_name": strings.column(u.name for u in unsaved),
        "unsaved_type": strings.column(u.type_name for u in unsaved),
        "unsaved_values": _i4(u.count for u in unsaved),
        "unsaved_is_lost": _flags(u.is_lost for u in unsaved),
        "slot_node": _i4(node_id for node_id, _ in slots),
        "slot_name": strings.column(slot.name for _, slot in slots),
        "slot_variable": _i4(slot.variable for _, slot in slots),
        "slot_optimizer": _i4(
            ABSENT if slot.optimizer is None else slot.optimizer for _, slot in slots
        ),
        "slot_rule": _codes(_RULES, (slot.rule for _, slot in slots)),
    }


def _fact_columns(graph: Graph, strings: _Strings) -> _Columns:
    """Return the columns of what is known of layers and of training, without the empty ones."""
    of_layers = [(i, node.facts) for i, node in enumerate(graph.nodes) if node.facts is not None]
    facts = [(i, *fact) for i, layer in of_layers for fact in layer.stated]
    columns: _Columns = {}
    if facts:
        columns["fact_node"] = _i4(node_id for node_id, _, _ in facts)
        columns["fact_name"] = strings.column(name for _, name, _ in facts)
        columns["fact_value"] = strings.column(value for _, _, value in facts)
    gives, gets = (
        {i: layer.gives for i, layer in of_layers},
        {i: layer.gets for i, layer in of_layers},
    )
    for name, shapes in (("layer_gives", gives), ("layer_gets", gets)):
        if any(shape is not None for shape in shapes.values()):
            columns[name] = strings.column(
                shapes_text(shapes.get(i)) for i in range(len(graph.nodes))
            )
    if any(graph.trainings):
        columns["training"] = _codes(_TRAININGS, graph.trainings)
    return columns


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


def _layer_columns(view: Layers, strings: _Strings) -> _Columns:
    rows = range(len(view.parents))
    hanging = {"layer_hanging": _i4(view.hanging.get(row, 0) for row in rows)}
    return {
        "layer_order": _i4(view.preorder()),
        "layer_parent": _i4(view.parents),
        "layer_name": strings.column(map(view.title, rows)),
        "layer_shown": _i4(view.shown_in),
        "group_is_alike": _flags(group.is_alike for group in view.groups),
        **(hanging if view.hanging else {}),
    }


def _overlay_header(overlay: Overlay) -> dict[str, Any]:
    return {
        "comparison": overlay.comparison.value,
        "base_size": overlay.base_size,
        "verdicts": [
            {
                "name": _utf8(verdict.name).decode(),
                "passes": verdict.passes,
                "message": _utf8(verdict.message).decode(),
            }
            for verdict in overlay.verdicts
        ],
        "states": [state.value for state in _STATES],
        "severities": [severity.value for severity in _SEVERITIES],
        **({} if overlay.has_steps else {"has_steps": False}),
    }


def _overlay_columns(overlay: Overlay, strings: _Strings) -> _Columns:
    marks, problems = overlay.marks, overlay.problems
    wording = with_code_below(overlay.wording)
    return {
        "overlay_state": _codes(_STATES, (mark.state for mark in marks)),
        "overlay_detail": strings.column(mark.detail or None for mark in marks),
        "overlay_saved_label": strings.column(overlay.saved_labels()),
        "overlay_saved_name": strings.column(overlay.saved_names()),
        "overlay_partner": strings.column(mark.partner or None for mark in marks),
        "overlay_goes_to": _i4(ABSENT if mark.goes_to is None else mark.goes_to for mark in marks),
        "overlay_is_held_elsewhere": _flags(overlay.are_held_elsewhere),
        "overlay_saved_elements": array(
            "d", (overlay.saved_elements.get(i, ABSENT) for i in range(len(marks)))
        ),
        "problem_severity": _codes(_SEVERITIES, (problem.severity for problem in problems)),
        "problem_kind": strings.column(problem.kind for problem in problems),
        "problem_saved": strings.column(problem.saved for problem in problems),
        "problem_live": strings.column(problem.live for problem in problems),
        "problem_why": strings.column(problem.why for problem in problems),
        "problem_remedy": strings.column(problem.to_do(wording) or None for problem in problems),
        "problem_fix": strings.column(problem.by_the_fix(EXPLORER) for problem in problems),
        "problem_code": strings.column(code_of(problem.remedy) or None for problem in problems),
        "problem_node_count": _i4(len(problem.nodes) for problem in problems),
        "problem_node": _i4(node_id for problem in problems for node_id in problem.nodes),
        "guess_saved": strings.column(guess.saved for guess in overlay.guesses),
        "guess_live": strings.column(guess.live for guess in overlay.guesses),
        "guess_code": strings.column(quoted(guess.saved) for guess in overlay.guesses),
    }


def _table_header(table: ComparisonTable, cells: Iterable[TableCell]) -> dict[str, Any]:
    return {
        "sentence": _utf8(table.sentence).decode(),
        "verdict": _utf8(table.verdict).decode(),
        "heads": [*table.heads],
        "notes": [_utf8(note).decode() for note in table.notes],
        "is_one_column": table.is_one_column,
        "totals": asdict(table.totals),
        "guessed": [*table.guessed],
        **({} if table.worst is None else {"worst": table.worst}),
        "cells": [[cell.sign.value, _utf8(cell.words).decode()] for cell in cells],
    }


def _table_columns(
    table: ComparisonTable, cells: dict[TableCell, int], strings: _Strings
) -> _Columns:
    """Return the columns of the lines; `cells` gets the place of each cell among all different."""

    def place(cell: TableCell | None) -> int:
        return ABSENT if cell is None else cells.setdefault(cell, len(cells))

    lines = table.lines
    return {
        "line_parent": _i4(line.parent for line in lines),
        "line_saved": strings.column(line.saved or None for line in lines),
        "line_live": strings.column(line.live or None for line in lines),
        "line_saved_facts": strings.column(line.saved_facts or None for line in lines),
        "line_live_facts": strings.column(line.live_facts or None for line in lines),
        "line_saved_node": _i4(_id(line.saved_node) for line in lines),
        "line_live_node": _i4(_id(line.live_node) for line in lines),
        "line_plain": _i4(place(line.plain) for line in lines),
        "line_fixed": _i4(place(line.fixed) for line in lines),
        "line_values": _i4(line.values for line in lines),
        "line_guess": _i4(_id(line.guess) for line in lines),
    }


def _id(place: int | None) -> int:
    return ABSENT if place is None else place


def _codes(meanings: tuple[Enum | None, ...], values: Iterable[Enum | None]) -> array[int]:
    code = {meaning: place for place, meaning in enumerate(meanings)}
    return array("B", [code[value] for value in values])


def _i4(values: Iterable[int]) -> array[int]:
    return array("i", values)


def _flags(values: Iterable[int]) -> array[int]:
    return array("B", [value > 0 for value in values])


def _shape(shape: tuple[int, ...] | None) -> str | None:
    return None if shape is None else ",".join(map(str, shape))


def _little_endian(column: array[int] | array[float]) -> bytes:
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _utf8(text: str) -> bytes:
    # Python names can hold lone surrogates, which UTF-8 cannot carry.
    return text.encode("utf-8", "backslashreplace")


class _Strings:
    """The string table: each distinct string once, in order of first use."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    def column(self, values: Iterable[str | None]) -> array[int]:
        """Return the strings' places in the table; ABSENT for None."""
        index = self._index
        return _i4(
            ABSENT if value is None else index.setdefault(value, len(index)) for value in values
        )

    def table(self) -> _Columns:
        """Return the table as two columns: lengths in bytes, and the UTF-8 text."""
        encoded = list(map(_utf8, self._index))
        return {
            "string_length": _i4(map(len, encoded)),
            "string_bytes": array("B", b"".join(encoded)),
        }
