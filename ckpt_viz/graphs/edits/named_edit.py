"""An edit as data: to apply, to undo, and to show as the Python that does the same to a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ckpt_viz.errors import EditError
from ckpt_viz.graphs.edits import edits
from ckpt_viz.graphs.edits.draft import is_list
from ckpt_viz.graphs.edits.edited_access import node_after
from ckpt_viz.graphs.edits.edits import Part, called, node_of
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import child_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground import expressions

_Function = TypeVar("_Function")


class _Place(NamedTuple):
    """A place of a program: the expression for its holder, a local name, and the holder's place.

    The holder's place is None if the holder is no list that something holds.
    """

    holder: str
    name: str
    is_item: bool = False
    of_list: _Place | None = None


@dataclass(frozen=True)
class NamedEdit:
    """One edit of a graph. Parts are names or node ids.

    Attributes:
        kind: "rename", "remove", "move", "insert" or "exchange".
        part: The part to edit; of an "insert" the part whose structure the new one has.
        to: The new local name, or the place in a list.
        other: The node that holds the part after a "move" or an "insert"; of an "exchange" the
            other part.
    """

    kind: str
    part: Part
    to: str = ""
    other: Part = ROOT

    def applied(self, graph: Graph) -> Graph:
        """Return the edited graph. Raises EditError and NoSuchNodeError."""
        return _of_kind(_APPLY, self.kind)(graph, self)

    def text(self, graph: Graph) -> str:
        """Return the edit in words, from the graph before it."""
        part, other = called(graph, self.part), called(graph, self.other)
        place = self.to if node_of(graph, self.other) == ROOT else child_of(other, self.to)
        texts = {
            "rename": f"Rename {part} to {self.to}",
            "remove": f"Remove {part}",
            "move": f"Move {part} to {place}" if self.to else f"Move {part} into {other}",
            "insert": f"Insert {place}, like {part}",
            "exchange": f"Exchange {part} and {other}",
        }
        return _of_kind(texts, self.kind)

    def edited(self, before: Graph, after: Graph) -> int | None:
        """Return the node of the edited graph that the edit is about; None if there is none."""
        node = node_of(before, self.part)
        if self.kind == "remove":
            return node_after(after, before.tree.parents[node])
        return node_after(after, len(before.nodes) if self.kind == "insert" else node)

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


# --- the same in Python


def code_of_new(graph: Graph, holder: int, local_name: str, source: str) -> str:
    """Return statements that give a program an object that it lacks."""
    target = _target(graph, holder, local_name, source)
    return f"new = ...  # an object like the one that was saved\n{_set(target, 'new')}"


def _code_of_rename(graph: Graph, edit: NamedEdit, source: str) -> str:
    node = node_of(graph, edit.part)
    place = _place(graph, node, source)
    new = edits.local_name_of(graph, node, edit.to)
    return f"{_set(_Place(place.holder, new), _get(place))}\n{_delete(place)}"


def _code_of_remove(graph: Graph, edit: NamedEdit, source: str) -> str:
    node = node_of(graph, edit.part)
    holders = (_expression(graph, holder, source) for holder in edits.optimizers_of(graph, node))
    again = [f"# Build {holder} again: it holds variables of this part." for holder in holders]
    return "\n".join([_delete(_place(graph, node, source)), *again])


def _code_of_move(graph: Graph, edit: NamedEdit, source: str) -> str:
    node, holder = node_of(graph, edit.part), node_of(graph, edit.other)
    place = _place(graph, node, source)
    target = _target(graph, holder, edit.to or place.name, source)
    return f"part = {_get(place)}\n{_delete(place)}\n{_set(target, 'part')}"


def _code_of_insert(graph: Graph, edit: NamedEdit, source: str) -> str:
    model = _get(_place(graph, node_of(graph, edit.part), source))
    target = _target(graph, node_of(graph, edit.other), edit.to, source)
    return f"import copy\n{_set(target, f'copy.deepcopy({model})')}"


def _code_of_exchange(graph: Graph, edit: NamedEdit, source: str) -> str:
    first, second = (
        _place(graph, node_of(graph, part), source) for part in (edit.part, edit.other)
    )
    replaced = f"{_replace(first, 'second')}\n{_replace(second, 'first')}"
    return f"first, second = {_get(first)}, {_get(second)}\n{replaced}"


def _place(graph: Graph, node: int, source: str) -> _Place:
    parent, label = graph.tree.parents[node], graph.tree.labels[node]
    if not _is_item(graph, node):
        return _Place(_expression(graph, parent, source), label)
    return _target(graph, parent, label, source)


def _is_item(graph: Graph, node: int) -> bool:
    """Return whether the outline has a node as an item of a list.

    Raises EditError if no path leads to the node. A slot variable below its variable needs none.
    """
    parent, label = graph.tree.parents[node], graph.tree.labels[node]
    children = graph.nodes[parent].children if parent >= ROOT else ()
    if (label, node) in children or node == ROOT:
        return is_list(children)
    if graph.nodes[node].slot is None:
        raise EditError(
            f"{graph.title}: found no path from the root to node {node}, expected one; "
            "Python code cannot name the object"
        )
    return False


def _target(graph: Graph, holder: int, local_name: str, source: str) -> _Place:
    expression = _expression(graph, holder, source)
    if not is_list(graph.nodes[holder].children):
        return _Place(expression, local_name)
    of_list = None if holder == ROOT else _place(graph, holder, source)
    return _Place(expression, local_name, is_item=True, of_list=of_list)


def _expression(graph: Graph, node: int, source: str) -> str:
    """Return the expression for a node's object, along the outline."""
    if node < ROOT:
        return source
    expression = source
    for step in reversed([node, *graph.tree.above(node)]):
        if step != ROOT:
            expression = _get(_Place(expression, graph.tree.labels[step], _is_item(graph, step)))
    return expression


def _get(place: _Place) -> str:
    if place.is_item:
        return f"{place.holder}[{place.name}]"
    return expressions.child(place.holder, place.name)


def _set(place: _Place, value: str) -> str:
    if place.is_item:
        return _in_list(place, f"items.insert({int(place.name)}, {value})")
    if expressions.is_attribute(place.name):
        return f"{_get(place)} = {value}"
    return f"setattr({place.holder}, {expressions.quoted(place.name)}, {value})"


def _delete(place: _Place) -> str:
    if place.is_item:
        return _in_list(place, f"items.pop({int(place.name)})")
    if expressions.is_attribute(place.name):
        return f"del {_get(place)}"
    return f"delattr({place.holder}, {expressions.quoted(place.name)})"


def _replace(place: _Place, value: str) -> str:
    if place.is_item:
        return _in_list(place, f"items[{int(place.name)}] = {value}")
    return _set(place, value)


def _in_list(place: _Place, change: str) -> str:
    """Return statements that change a copy of a list, `items`, and put the copy in its place."""
    of_list = place.of_list
    is_held_by_name = of_list is not None and not of_list.is_item
    put = _set(of_list, "items") if of_list and is_held_by_name else f"{place.holder} = items"
    return f"items = [*{place.holder}]\n{change}\n{put}"


_APPLY: Mapping[str, Callable[[Graph, NamedEdit], Graph]] = {
    "rename": lambda graph, edit: edits.renamed_parts(graph, {edit.part: edit.to}),
    "remove": lambda graph, edit: edits.without(graph, [node_of(graph, edit.part)]),
    "move": lambda graph, edit: edits.moved(graph, edit.part, edit.other, edit.to or None),
    "insert": lambda graph, edit: edits.inserted(graph, edit.other, edit.to, edit.part),
    "exchange": lambda graph, edit: edits.exchanged(graph, edit.part, edit.other),
}
_CODE = {
    "rename": _code_of_rename,
    "remove": _code_of_remove,
    "move": _code_of_move,
    "insert": _code_of_insert,
    "exchange": _code_of_exchange,
}
KINDS = tuple(_APPLY)
