"""The nodes of which a query is the whole name; labextension/src/search/whole-names.ts is alike."""

from __future__ import annotations

import operator
from functools import reduce

from ckpt_viz.graphs.nodes.names import slot_of, state_of
from ckpt_viz.graphs.nodes.nodes import ROOT, Node
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME, THE_ROOT
from ckpt_viz.graphs.search.index import Index, Marks, Way, marks, marks_at
from ckpt_viz.graphs.search.pasted import without_output
from ckpt_viz.graphs.search.syntax import folded
from ckpt_viz.ground.text import CUT

_BLOCK = " \u203a "  # between a block and its layer in the outline
_SEPARATORS = (".", "/", _BLOCK)
_ATTRIBUTES = "/.attributes/"  # behind the key of an object


def with_whole_name(query: str, index: Index) -> Marks:
    """Return the nodes with this name or path, in any form in which ckpt-viz prints it.

    The name is that by an edge, of people, of a variable or of a row in the outline. It may also
    tell whose state a slot variable is.
    """
    text = folded(query)
    text = text.removeprefix(ROOT_NAME) if text.startswith(f"{ROOT_NAME}{CUT}") else text
    own = {text, text.replace(_BLOCK, "_"), without_output(text) or text}

    is_key, is_state = _ATTRIBUTES in text, " of " in text

    is_path = text.startswith((CUT, ROOT_NAME)) or any(map(text.__contains__, _SEPARATORS))

    def has_it(node_id: int) -> bool:
        return (
            (is_path and _is_at(text, node_id, index))
            or (is_state and _is_state(text, node_id, index))
            or (is_key and _has_key(text, index.nodes[node_id]))
        )

    size = len(index.nodes)
    matches = reduce(operator.or_, map(index.where_own_name_is, own))
    if is_path or is_state or is_key:
        matches |= marks(map(has_it, range(size)))
    matches[ROOT] = text in (ROOT_NAME, THE_ROOT)
    if not matches.any():
        matches = marks_at(index.nodes_by_title.get(text, ()), size)
        matches[ROOT] = False
    return matches


def _has_key(text: str, node: Node) -> bool:
    """Return whether a key is of an object: a table has several, and the graph names none."""
    keys = (folded(attribute.checkpoint_key) for attribute in node.attributes)
    return any(key.split(_ATTRIBUTES)[0] == text.split(_ATTRIBUTES)[0] for key in keys)


def _is_state(text: str, node_id: int, index: Index) -> bool:
    slot = index.nodes[node_id].slot
    if slot is None:
        return False
    prefixes = (folded(words(slot.name, "")) for words in (state_of, slot_of))
    return any(
        text.startswith(prefix) and _is_at(text[len(prefix) :], slot.variable, index)
        for prefix in prefixes
    )


def _is_at(text: str, node_id: int, index: Index) -> bool:
    return any(_is_path(text, node_id, way) for way in index.ways)


def _is_path(text: str, node_id: int, way: Way) -> bool:
    """Return whether a text is the path to a node on a way, or its end behind `…`."""
    node = node_id
    while node != ROOT:
        if node != node_id:
            separator = next(filter(text.endswith, _SEPARATORS), None)
            if separator is None:
                return False
            text = text.removesuffix(separator)
        if text.startswith(CUT) and way.names[node].endswith(text.removeprefix(CUT)):
            return True
        if not text.endswith(way.names[node]):
            return False
        text = text.removesuffix(way.names[node])
        node = way.above[node]
    return text in ("", f"{ROOT_NAME}.", f"{ROOT_NAME}/")
