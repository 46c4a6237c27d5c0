"""Python expressions for the objects of the program, live or in a file in its place."""

from __future__ import annotations

from itertools import pairwise

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.object_graph.ways import is_slot_alone, place, way_to
from ckpt_viz.ground.expressions import ROOT_ARGUMENT, child, children, quoted

_MOST_STEPS = 60  # Python reads no expression with more than 200 open brackets


def expression_of(live: Graph, obj: int, source: str = "live") -> str:
    """Return the expression for an object; `source` is that for the checked object.

    Raises SourceError, with the name of the object, if no expression leads to it.
    """
    if live.origin is Origin.LIVE:
        return live.accessor(obj, source)
    return _in_program_of_file(live, obj, source)


def _in_program_of_file(graph: Graph, obj: int, source: str) -> str:
    """Return the expression for an object in the program that saved a file."""
    if is_slot_alone(graph, obj):
        slot = graph.nodes[obj].slot
        assert slot is not None and slot.optimizer is not None
        if any(is_slot_alone(graph, node) for node in (slot.optimizer, slot.variable)):
            raise SourceError(f"{place(graph, obj)}: a slot of a slot, which no code gets")
        optimizer = _in_program_of_file(graph, slot.optimizer, source)
        variable = _in_program_of_file(graph, slot.variable, source)
        return f"{optimizer}.get_slot({variable}, {quoted(slot.name)})"
    way = way_to(graph, obj)
    if len(way) > _MOST_STEPS:
        raise SourceError(
            f"{place(graph, obj)}: is {len(way)} local names below the root, expected at most "
            f"{_MOST_STEPS} for an expression; check the live objects instead of a file"
        )
    if not way:
        return f"{source}.{ROOT_ARGUMENT}" if _has_own_root(graph) else source
    if obj == graph.save_counter:
        return f"{source}.{SAVE_COUNTER}"  # a checkpoint makes it as soon as code reads it
    expression = source
    for parent, label, node in way:
        # What has items is a list or a dictionary, and Keras has its own in attributes. Beside an
        # item, all names are those of items.
        by_attribute = {parent, node} <= graph.attribute_holders
        if parent == ROOT and _has_own_root(graph):
            expression = _child_of_own_root(graph, label, source, by_attribute=by_attribute)
        else:
            expression = child(expression, label, by_attribute=by_attribute)
    return expression


def _has_own_root(graph: Graph) -> bool:
    """Return whether the file is of a `tf.train.Checkpoint(root)`, which saves the edge `root`."""
    return (ROOT, ROOT_ARGUMENT) in graph.edges_to[ROOT]


def _child_of_own_root(graph: Graph, label: str, source: str, *, by_attribute: bool) -> str:
    """Return the expression for a child of the root of a `tf.train.Checkpoint(root, name=part)`.

    The checkpoint saves the children of the root, then its keywords sorted by name, `root` among
    them, and its counter. `ckpt` has the keywords, `ckpt.root` the others. The order tells them
    apart but for the names that are sorted just before `root`.
    """
    names = [part.local_name for part in graph.nodes[ROOT].children]
    at, end = names.index(label), names.index(ROOT_ARGUMENT)
    root = f"{source}.{ROOT_ARGUMENT}"
    if at > end:
        return child(source, label, by_attribute=by_attribute)
    if any(name >= following for name, following in pairwise(names[at : end + 1])):
        return child(root, label, by_attribute=by_attribute)
    return f"{{**{children(root)}, **{children(source)}}}[{quoted(label)}]"
