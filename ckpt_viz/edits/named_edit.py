"""An edit as data: to apply, to undo, and to show as the Python that does the same to a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from ckpt_viz import expressions
from ckpt_viz.edits import edits
from ckpt_viz.edits.draft import is_list
from ckpt_viz.errors import EditError
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT

_Function = TypeVar("_Function")
_Place = tuple[str, str, bool]  # of the holder: its expression; a local name; whether it is a list


@dataclass(frozen=True)
class NamedEdit:
    """One edit of a graph, by names.

    Attributes:
        kind: "rename", "remove", "move", "insert" or "exchange".
        name: The part to edit; of an "insert" the part whose structure the new one has.
        to: The new local name, or the place in a list; of an "exchange" the other part.
        holder: The node that holds the part after a "move" or an "insert".
    """

    kind: str
    name: str
    to: str = ""
    holder: str = ""

    def applied(self, graph: Graph) -> Graph:
        """Return the edited graph. Raises EditError and NoSuchNodeError."""
        return _of_kind(_APPLY, self.kind)(graph, self)

    def code(self, graph: Graph, source: str = "ckpt") -> str:
        """Return statements that do the same to a program, from the graph before the edit.

        `source` is the expression for the root. TensorFlow refuses to save a list that was changed
        in place, so the statements make a new one.
        """
        return _of_kind(_CODE, self.kind)(graph, self, source)


def _of_kind(by_kind: Mapping[str, _Function], kind: str) -> _Function:
    if kind not in by_kind:
        raise EditError(f"found the edit {kind!r}, expected one of {', '.join(by_kind)}")
    return by_kind[kind]


def _renamed(graph: Graph, edit: NamedEdit) -> Graph:
    return edits.renamed(graph, {edit.name: edit.to})


def _removed(graph: Graph, edit: NamedEdit) -> Graph:
    return edits.without(graph, [graph.node_id(edit.name)])


def _moved(graph: Graph, edit: NamedEdit) -> Graph:
    return edits.moved(graph, edit.name, edit.holder, edit.to or None)


def _inserted(graph: Graph, edit: NamedEdit) -> Graph:
    return edits.inserted(graph, edit.holder, edit.to, edit.name)


def _exchanged(graph: Graph, edit: NamedEdit) -> Graph:
    return edits.exchanged(graph, edit.name, edit.to)


# --- the same in Python


def _code_of_rename(graph: Graph, edit: NamedEdit, source: str) -> str:
    node = graph.node_id(edit.name)
    place = _place(graph, node, source)
    new = edits.local_name_of(graph, node, edit.to)
    return f"{_set((place[0], new, False), _get(place))}\n{_delete(place)}"


def _code_of_remove(graph: Graph, edit: NamedEdit, source: str) -> str:
    return _delete(_place(graph, graph.node_id(edit.name), source))


def _code_of_move(graph: Graph, edit: NamedEdit, source: str) -> str:
    node, holder = graph.node_id(edit.name), graph.node_id(edit.holder)
    place = _place(graph, node, source)
    target = _target(graph, holder, edit.to or place[1], source)
    return f"part = {_get(place)}\n{_delete(place)}\n{_set(target, 'part')}"


def _code_of_insert(graph: Graph, edit: NamedEdit, source: str) -> str:
    model = _get(_place(graph, graph.node_id(edit.name), source))
    target = _target(graph, graph.node_id(edit.holder), edit.to, source)
    return f"import copy\n{_set(target, f'copy.deepcopy({model})')}"


def _code_of_exchange(graph: Graph, edit: NamedEdit, source: str) -> str:
    first, second = (_place(graph, graph.node_id(name), source) for name in (edit.name, edit.to))
    replaced = f"{_replace(first, 'second')}\n{_replace(second, 'first')}"
    return f"first, second = {_get(first)}, {_get(second)}\n{replaced}"


def _place(graph: Graph, node: int, source: str) -> _Place:
    parent = graph.tree.parents[node]
    return _target(graph, parent, graph.tree.labels[node], source)


def _target(graph: Graph, holder: int, local_name: str, source: str) -> _Place:
    expression = _expression(graph, holder, source)
    return expression, local_name, is_list(graph.nodes[holder].children)


def _expression(graph: Graph, node: int, source: str) -> str:
    """Return the expression for a node's object, along the outline."""
    if node < ROOT:
        return source
    expression = source
    for step in reversed([node, *graph.tree.above(node)]):
        if step != ROOT:
            holder = graph.tree.parents[step]
            is_item = is_list(graph.nodes[holder].children)
            expression = _get((expression, graph.tree.labels[step], is_item))
    return expression


def _get(place: _Place) -> str:
    holder, name, is_item = place
    return f"{holder}[{name}]" if is_item else expressions.child(holder, name)


def _set(place: _Place, value: str) -> str:
    holder, name, is_item = place
    if is_item:
        return _in_list(holder, f"items.insert({int(name)}, {value})")
    if expressions.is_attribute(name):
        return f"{holder}.{name} = {value}"
    return f"setattr({holder}, {expressions.quoted(name)}, {value})"


def _delete(place: _Place) -> str:
    holder, name, is_item = place
    if is_item:
        return _in_list(holder, f"items.pop({int(name)})")
    if expressions.is_attribute(name):
        return f"del {holder}.{name}"
    return f"delattr({holder}, {expressions.quoted(name)})"


def _replace(place: _Place, value: str) -> str:
    holder, name, is_item = place
    if is_item:
        return _in_list(holder, f"items[{int(name)}] = {value}")
    return _set(place, value)


def _in_list(holder: str, change: str) -> str:
    """Return statements that change a copy of a list, `items`, and put the copy in its place."""
    return f"items = [*{holder}]\n{change}\n{holder} = items"


_APPLY = {
    "rename": _renamed,
    "remove": _removed,
    "move": _moved,
    "insert": _inserted,
    "exchange": _exchanged,
}
_CODE = {
    "rename": _code_of_rename,
    "remove": _code_of_remove,
    "move": _code_of_move,
    "insert": _code_of_insert,
    "exchange": _code_of_exchange,
}
