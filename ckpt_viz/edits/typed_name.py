"""A name that a person types in place of a part's own, and the edit that it means."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from keyword import iskeyword

from ckpt_viz.edits.draft import is_list
from ckpt_viz.edits.named_edit import NamedEdit
from ckpt_viz.errors import EditError
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT


def edit_of_typed(
    graph: Graph, node: int, typed: str, saved_names: Collection[str] = ()
) -> NamedEdit:
    """Return the edit that a typed name means.

    No name removes the part, and a path moves it. In a list the name is a place. A name that
    another part of the same holder has exchanges the two.

    Args:
        graph: The program.
        node: The part whose name a person has changed.
        typed: What is there now.
        saved_names: The names that the checkpoint has in the same place.

    Raises:
        EditError: The text cannot be a name here.
        NoSuchNodeError: The path leads to no part.
    """
    typed = typed.strip()
    if not typed:
        return NamedEdit("remove", node)
    if graph.tree.parents[node] < ROOT:
        return NamedEdit("rename", node, typed)  # has no name, which the edit says
    holder, name = _meant(graph, node, typed)
    children = graph.nodes[holder].children
    names = [child.local_name for child in children]
    if is_list(children):
        _assert_place(graph, node, name, len(children))
        return NamedEdit("move", node, name, holder)
    is_usual = all(map(str.isidentifier, names))
    if name not in saved_names and not _is_name(name, is_usual=is_usual):
        raise EditError(
            f"found {typed!r} as the new name of {graph.names.place(node)}, expected letters, "
            f"digits and _, with no digit first{_close_to(name, [*saved_names, *names])}"
        )
    other = dict(children).get(name, node)
    if other != node and (graph.tree.parents[other], graph.tree.labels[other]) == (holder, name):
        return NamedEdit("exchange", node, other=other)
    if holder == graph.tree.parents[node]:
        return NamedEdit("rename", node, name)
    return NamedEdit("move", node, name, holder)


def free_name(graph: Graph, node: int) -> str:
    """Return a name for a part like another one, beside it: in a list, the next place."""
    label, holder = graph.tree.labels[node], graph.tree.parents[node]
    children = graph.nodes[max(holder, ROOT)].children
    if is_list(children):
        return str(int(label) + 1)
    taken = {child.local_name for child in children}
    return next(name for n in range(2, len(taken) + 3) if (name := f"{label}_{n}") not in taken)


def _meant(graph: Graph, node: int, typed: str) -> tuple[int, str]:
    """Return the holder and the local name that a typed name means: a path names its holder."""
    parent = graph.tree.parents[node]
    above, _, name = typed.rpartition(".")
    if not above or not name or "." in graph.tree.labels[node]:
        return parent, typed
    place = "" if parent == ROOT else graph.names.place(parent)
    if place == above or place.endswith(f".{above}"):
        return parent, name
    return graph.node_id(above), name


def _assert_place(graph: Graph, node: int, name: str, size: int) -> None:
    if not (name.isascii() and name.isdecimal() and int(name) <= size):
        raise EditError(
            f"found {name!r} for {graph.names.place(node)}, expected a place in a list, "
            f"0 to {size - 1}. A restore finds items of lists by place, not by name."
        )


def _is_name(name: str, *, is_usual: bool) -> bool:
    """Return whether a local name can be an attribute or, beside unusual names, a key."""
    return (name.isidentifier() and not iskeyword(name)) or (not is_usual and name.isprintable())


def _close_to(name: str, names: list[str]) -> str:
    """Return a question whether a close name was meant, "" without one."""
    as_name = re.sub(r"\W+", "_", name).strip("_")
    close = get_close_matches(name, names, n=1) or [as_name] * _is_name(as_name, is_usual=True)
    return f"; did you mean {close[0]}?" if close else ""
