"""A program beside one of Keras' own files: its model as Keras would write it, and load it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from ckpt_viz.answers.dry_runs.keras_dry_run import keras_dry_run
from ckpt_viz.answers.graph_diff.counterparts import LoadWay
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.ground.text import listed_by
from ckpt_viz.live.keras.keras_accessors import optimizer_of
from ckpt_viz.live.keras.keras_graph import keras_h5_target, read_as_keras_saves
from ckpt_viz.live.keras.keras_private import is_model
from ckpt_viz.live.sources.pictured import ObjectGraph
from ckpt_viz.matching.changes.parts_alone import tops_of


def as_keras_saves(live: Graph, saved: Graph) -> tuple[ObjectGraph, LoadWay, str] | None:
    """Return the file that Keras would write of the model in a program, and how it loads another.

    The last is a sentence about the values of the program that Keras does not write; "" if there
    are none. None if the program has no model that Keras would save, or several.
    """
    models = [*_models(live)]
    if len(models) != 1:
        return None
    try:
        graph = read_as_keras_saves(models[0])
        outcome = keras_dry_run(models[0], saved, None, None).outcome
    except SourceError:  # a model that is not built
        return None
    unheld = _unheld(graph, saved, models[0])
    bound = {n: obj for n, obj in (outcome.bound or {}).items() if _has_name(saved, n, graph, obj)}
    for node, obj in [*bound.items()]:
        bound.setdefault(saved.tree.parents[node], graph.tree.parents[obj])
    way = LoadWay(outcome.certain, bound, unheld)
    return ObjectGraph.of(graph), way, _not_written(live, graph, unheld)


def _models(live: Graph) -> Iterator[Any]:
    """Yield the outermost Keras models of a program."""
    nodes = [ROOT]
    for node in nodes:  # grows during the loop
        held = live.object(node)
        if is_model(held):
            yield held
        else:
            nodes += live.tree.children[node]


def _has_name(saved: Graph, node: int, live: Graph, obj: int) -> bool:
    """Return whether a layer is in the place that its name is: a file has no other in `.h5`."""
    if saved.layout is Layout.KERAS_PATHS:
        return True
    layer = obj if live.nodes[obj].own_name else live.tree.parents[obj]
    was, now = saved.nodes[node], live.nodes[layer]
    name = was.own_name or saved.nodes[saved.tree.parents[node]].own_name
    names = [
        each for each in (name, now.own_name) if each and not is_automatic(each, now.type_name)
    ]
    return len({*names}) < 2


def _unheld(graph: Graph, saved: Graph, model: object) -> frozenset[int]:
    """Return what such a file holds of no model: `.h5` has layers, and perhaps an optimizer."""
    if saved.layout is Layout.KERAS_PATHS:
        return frozenset()
    has_optimizer = any(node.role is Role.OPTIMIZER for node in saved.nodes)
    alone = _valued(graph) - {*keras_h5_target(model)[0].variables.values()}
    return frozenset(n for n in alone if optimizer_of(graph, n) is None or not has_optimizer)


def _not_written(live: Graph, graph: Graph, unheld: Set[int]) -> str:
    """Return which values of a program Keras does not write, with the names of parts."""
    objects = [graph.object(node) for node in range(len(graph.nodes)) if node not in unheld]
    known = {id(held) for held in objects if held is not None}
    tops = tops_of(live, {node for node in _valued(live) if id(live.object(node)) not in known})
    if not tops:
        return ""
    return f"Keras does not write {listed_by(live.names.place, tops)} into such a file."


def _valued(graph: Graph) -> set[int]:
    return {node for node, described in enumerate(graph.nodes) if has_value(described)}
