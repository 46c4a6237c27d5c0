"""A Keras model as the live side, and one of Keras' own files: what `load_weights` would do.

The call returns no status. So the asserts of this check speak of the weights: `consumed` that all
saved ones reach the model, `existing` that all of the model get a saved one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import DryRun, damage_in, prefix_of
from ckpt_viz.answers.dry_runs.keras_files_to_load import saved_layers, saved_weights
from ckpt_viz.answers.dry_runs.keras_outcome import (
    NOT_LOADED,
    KerasOutcome,
    OfLoadWeights,
    of_optimizer,
    step_of,
)
from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts
from ckpt_viz.errors import SourceError
from ckpt_viz.files.saved.keras_reader import KERAS
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.files.saved.tfjs_reader import TFJS
from ckpt_viz.formats.storage.zip_archive import error_of_zipfile, member_of
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.live.keras.keras_graph import KerasTarget, keras_h5_target, keras_target
from ckpt_viz.live.keras.keras_private import is_model
from ckpt_viz.matching.engines.keras_h5_loading import h5_loading
from ckpt_viz.matching.engines.keras_loading import weights_loading
from ckpt_viz.matching.engines.load_outcome import Loaded, Offers, Stays, WeightsLoading
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Step, Trace

METHOD = "load_weights"
FIX = "fix.apply"
_SKIP_MISMATCH = "skip_mismatch"
_BY_NAME = "by_name"  # for `.h5` alone
OPTIONS = (_SKIP_MISMATCH, _BY_NAME)


def is_load_of_weights(live: object, saved: object) -> bool:
    """Return whether a check is of a Keras model and one of Keras' own files."""
    if not is_model(live):
        return False
    if isinstance(saved, Graph):
        return saved.is_of_keras
    if not isinstance(saved, (str, os.PathLike)):
        return False
    return locate(os.fspath(saved)).reader in (KERAS, TFJS)


def keras_dry_run(model: Any, saved: Any, method: str | None, options: Any) -> DryRun:
    """Return what `model.load_weights(saved, **options)` would do; change nothing.

    Raises SourceError for another method or other options.
    """
    if method not in (None, METHOD):
        raise SourceError(f"found method {method!r}; Keras loads its files by {METHOD!r}")
    given = _options(options)
    graph = saved if isinstance(saved, Graph) else read_saved(saved)
    path = prefix_of(graph)
    skips = given.get(_SKIP_MISMATCH, False)
    if graph.layout is Layout.KERAS_PATHS:
        target = keras_target(model)
        loading = weights_loading(target.weights, saved_weights(graph), skip_mismatch=skips)
    else:
        target, layers = keras_h5_target(model)
        by_name = given.get(_BY_NAME, graph.is_of_tfjs)
        loading = h5_loading(layers, saved_layers(graph), by_name=by_name, skip_mismatch=skips)
    damage = damage_in(graph)
    raised = _raised_by_archive(graph) if damage is not None else None
    if raised is not None:
        verdicts = Verdicts(raised, raised, raised, raised)
        return DryRun(OfLoadWeights(LiveNames(target.graph), verdicts), METHOD, path, damage)
    not_read = () if graph.layout is Layout.KERAS_PATHS else tuple(of_optimizer(graph))
    return DryRun(_outcome(graph, target, loading, given, not_read), METHOD, path, damage)


def _raised_by_archive(graph: Graph) -> Raised | None:
    """Return what Keras raises when it opens the damaged archive of a graph."""
    archived = member_of(graph.stored_in)
    if archived is None or not archived.damage:
        return None
    error = error_of_zipfile(archived.path, archived.name, seeks=True)
    return None if error is None else Raised(*error)


def run_of_placed(model: object, saved: Graph, placed: Sequence[tuple[str, object]]) -> DryRun:
    """Return the run that gives live variables the values of these keys, as a fix does."""
    target = keras_target(model)
    numbers = {id(target.held[number]()): number for number in target.variables}
    known = [(key, numbers[id(obj)]) for key, obj in placed if id(obj) in numbers]
    offered = {number: key for key, number in known}
    twice = {key: number for key, number in known if offered[number] != key}
    keys = {key for key, _ in known}
    every = [value.checkpoint_key for node in saved.nodes for value in node.attributes]
    loaded = [
        Loaded(offered[number]) if number in offered else Loaded(stays=Stays.NOT_LOADED)
        for number in range(len(target.weights.variables))
    ]
    unused = tuple(key for key in every if key not in keys)
    offers = Offers(offered)
    loading = WeightsLoading("", "", {}, tuple(loaded), unused, offers=offers, twice=twice)
    return DryRun(_outcome(saved, target, loading), FIX, prefix_of(saved))


def _outcome(
    graph: Graph,
    target: KerasTarget,
    loading: WeightsLoading,
    options: Mapping[str, bool] = MappingProxyType({}),
    not_read: tuple[int, ...] = (),
) -> KerasOutcome:
    nodes = {
        node.attributes[0].checkpoint_key: i
        for i, node in enumerate(graph.nodes)
        if node.attributes
    }
    return KerasOutcome(
        LiveNames(target.graph),
        _verdicts(target, loading, nodes, not_read),
        _trace(graph, target, loading, nodes),
        graph,
        target=target,
        loading=loading,
        nodes=nodes,
        options=options,
        not_read=not_read,
    )


def _options(options: Any) -> dict[str, bool]:
    if options is None:
        return {}
    if not isinstance(options, Mapping) or set(options) - {*OPTIONS}:
        raise SourceError(
            f"found options {options!r}, expected a dict with {_SKIP_MISMATCH!r} or {_BY_NAME!r}"
        )
    return {name: bool(value) for name, value in options.items()}


def _trace(
    saved: Graph, target: KerasTarget, loading: WeightsLoading, nodes: Mapping[str, int]
) -> Trace:
    bound = dict(_groups_of_one_path(saved, target.graph))
    parents = saved.tree.parents, target.graph.tree.parents
    steps: list[Step] = []
    twice = ((number, Loaded(key)) for key, number in loading.twice.items())
    for number, loaded in (*twice, *enumerate(loading.loaded)):
        if number not in target.variables or loaded.stays is Stays.UNKNOWN:
            continue
        step = step_of(saved, target, loading.offers, nodes, number, loaded)
        steps.append(step)
        if step.action is Action.RESTORE and step.node is not None and step.obj is not None:
            bound[step.node] = step.obj
            bound.setdefault(parents[0][step.node], parents[1][step.obj])
    known = {*target.variables.values(), *target.graph.second_places}
    for obj, holder in enumerate(target.graph.nodes):  # what the call does not look at
        if holder.attributes and obj not in known:
            failure = Failure(Cause.KEY_MISSING, NOT_LOADED, "", in_session=True)
            steps.append(Step(Action.FAIL, None, obj, failure=failure))
    return Trace(steps, bound, {})


def _groups_of_one_path(saved: Graph, live: Graph) -> Iterator[tuple[int, int]]:
    """Yield the saved and the live node of each path that both sides have."""
    queue = [(ROOT, ROOT)]
    for node, obj in queue:  # grows during the loop
        yield node, obj
        objects = dict(live.nodes[obj].children)
        for local_name, child in saved.nodes[node].children:
            if local_name in objects and not saved.nodes[child].attributes:
                queue.append((child, objects[local_name]))


def _verdicts(
    target: KerasTarget,
    loading: WeightsLoading,
    nodes: Mapping[str, int],
    not_read: tuple[int, ...],
) -> Verdicts:
    unused = (*(nodes[key] for key in loading.unused if key in nodes), *not_read)
    left = tuple(
        target.variables[number]
        for number, loaded in enumerate(loading.loaded)
        if number in target.variables and loaded.key is None and loaded.stays is not Stays.UNKNOWN
    )
    raised = Raised(loading.raises, loading.text) if loading.raises else None
    consumed = raised or _failed(unused, "saved weights reach no variable", loading.unused)
    names = [target.graph.nodes[obj].attributes[0].checkpoint_key for obj in left]
    existing = raised or _failed(left, "variables get no saved weight", names)
    loads_any = any(loaded.key is not None for loaded in loading.loaded)
    nontrivial = None if loads_any else Raised("AssertionError", "No variable gets a saved weight.")
    return Verdicts(raised, consumed, existing, raised or nontrivial, unused, left)


def _failed(nodes: tuple[int, ...], what: str, keys: Any) -> Raised | None:
    if not nodes:
        return None
    return Raised("AssertionError", f"{len(nodes)} {what}: {', '.join(keys)}")
