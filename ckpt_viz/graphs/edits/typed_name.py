"""A name that a person types in place of a part's own, and the edit that it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from keyword import iskeyword
from typing import NamedTuple

from ckpt_viz.errors import EditError
from ckpt_viz.graphs.edits.draft import is_list
from ckpt_viz.graphs.edits.named_edit import NamedEdit
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph

SavedIn = Callable[[int], Collection[str]]


def edit_of_typed(
    graph: Graph, node: int, typed: str, was: str = "", saved_in: SavedIn = lambda _holder: ()
) -> NamedEdit:
    """Return the edit that a typed name means.

    No name removes the part, and a path moves it, or renames what holds it. In a list the name is a
    place. A name that another part of the same holder has exchanges the two.

    Args:
        graph: The program.
        node: The part whose name a person has changed.
        typed: What is there now.
        was: The name before: the part's own, or the end of its path.
        saved_in: Returns the names that the checkpoint has in place of a holder's children.

    Raises:
        EditError: The text cannot be a name here.
        NoSuchNodeError: The path leads to no part.
    """
    typed = typed.strip()
    if not typed:
        return NamedEdit("remove", _only_holder(graph, _parts_in(graph, node, was)))
    if graph.tree.parents[node] < ROOT:
        return NamedEdit("rename", node, typed)  # has no name, which the edit says
    node, holder, name = _meant(graph, node, typed, was, saved_in)
    saved_names = saved_in(holder)
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


class _Meant(NamedTuple):
    """The part that a person means, what is to hold it, and by which local name."""

    node: int
    holder: int
    name: str


def _meant(graph: Graph, node: int, typed: str, was: str, saved_in: SavedIn) -> _Meant:
    parents, labels = graph.tree.parents, graph.tree.labels
    usual = _Meant(node, parents[node], typed)
    above, _, name = typed.rpartition(".")
    parts = _parts_in(graph, node, was)
    if "." in labels[node] or (above and not name):
        return usual
    if not above:
        return next(_as_saved(graph, parts, typed, saved_in), usual)
    holder = _below(graph, parents[parts[-1]], above.split("."))
    if holder is not None:
        return _Meant(node, holder, name)
    pairs = [*zip(parts[::-1], was.split("."), typed.split("."), strict=False)]
    other = [(part, new) for part, old, new in pairs if old != new]
    if len(other) == 1 and len(pairs) == typed.count(".") + 1 == was.count(".") + 1:
        (part, new), *_ = other
        return _Meant(part, parents[part], new)
    return _Meant(node, graph.node_id(above), name)


def _parts_in(graph: Graph, node: int, path: str) -> list[int]:
    """Return the parts on the end of a node's path, the node first; itself for another path."""
    parts, place = [node], graph.names.place(node)
    if place != path and not place.endswith(f".{path}"):
        return parts
    base = place.removesuffix(path).removesuffix(".")
    for part in graph.tree.above(node):
        if part == ROOT or graph.names.place(part) == base:
            break
        parts.append(part)
    return parts


def _only_holder(graph: Graph, parts: Sequence[int]) -> int:
    """Return what holds a value and nothing else, if a path names both; else the part itself."""
    node, holder = parts[0], parts[min(1, len(parts) - 1)]
    is_alone = not graph.nodes[node].children and len(graph.nodes[holder].children) == 1
    return holder if is_alone else node


def _as_saved(
    graph: Graph, parts: Iterable[int], typed: str, saved_in: SavedIn
) -> Iterator[_Meant]:
    """Yield the parts that would have a name as it was saved, which none has now."""
    for part in parts:
        holder = graph.tree.parents[part]
        taken = {child.local_name for child in graph.nodes[holder].children}
        if typed in saved_in(holder) and typed not in taken:
            yield _Meant(part, holder, typed)


def _below(graph: Graph, node: int, names: Iterable[str]) -> int | None:
    """Return the node to which local names lead; None for none."""
    for name in names:
        below = dict(graph.nodes[node].children).get(name)
        if below is None:
            return None
        node = below
    return node


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
