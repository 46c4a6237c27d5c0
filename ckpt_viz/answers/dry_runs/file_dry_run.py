"""A checkpoint as the live side: restoring another into the program that saved the first.

This needs no TensorFlow. A file does not describe the whole program. The dry run assumes that the
program has built everything it saved and makes no `save_counter`. It assumes custom restore code
only for values that are not variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ckpt_viz.answers.dry_runs.dry_run import (
    DryRun,
    MeantPath,
    NoSuchPath,
    file_of_keras,
    prefix_of,
)
from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.answers.dry_runs.outcome import Outcome, outcome_of_objects
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts, name_based
from ckpt_viz.errors import SourceError
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.formats.storage import files
from ckpt_viz.graphs.nodes.nodes import ROOT, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.live.restoring.restore_target import READ, RESTORE
from ckpt_viz.matching.engines.engine import Rules, match
from ckpt_viz.matching.engines.graph_side import GraphSide
from ckpt_viz.matching.engines.name_based_restore import Named, NamedRead, match_names
from ckpt_viz.matching.engines.saved_graph import SavedGraph, not_found
from ckpt_viz.matching.engines.trace import Failure

_NO_TABLE = "perhaps your file is in a different file format and you need to use a different "


def file_dry_run(
    live: Graph,
    saved: Graph,
    *,
    method: str | None = None,
    skips_slots: bool = False,
    given: str | None = None,
) -> DryRun:
    """Return what restoring `saved` into the program that saved `live` would do.

    `given` is the path that the call would get, if it may differ from the checkpoint's prefix.
    Raises SourceError for an unknown method, and for a name-based checkpoint as the program of
    an object-based checkpoint.
    """
    chosen = _method(method)
    prefix = prefix_of(saved)
    if live.is_of_keras:
        raise SourceError(
            f"{live.title}: found a file of {live.written_by} as the program, expected a program "
            "or its checkpoint; to see what differs: cv.diff(a, b) or `ckpt-viz diff A B`"
        )
    of_keras = file_of_keras(saved)
    if of_keras is not None:
        path = given or prefix
        return DryRun(_refused(live, path, chosen), chosen, path, of_keras)
    if saved.is_name_based:
        outcome = _by_names(live, saved, chosen)
    elif live.is_name_based:
        raise SourceError(
            f"{live.title} holds names of variables and no objects; expected an object-based "
            f"checkpoint in place of the program that restores {prefix}"
        )
    else:
        path = given or prefix
        outcome = _by_objects(live, saved, chosen, path, skips_slots=skips_slots)
    if _is_index_without_suffix(saved, given or prefix):
        return DryRun(_read_as_v1(live, chosen), chosen, given or prefix)
    if given is None or _takes(given, saved, chosen):
        return DryRun(outcome, chosen, given or prefix)
    meant = MeantPath(prefix, outcome.verdicts)
    return DryRun(_misread(live, given, chosen), chosen, given, meant)


def missing_file_dry_run(
    live: Graph, given: str, advice: str, *, method: str | None = None
) -> DryRun:
    """Return what restoring a path that leads to no checkpoint would do."""
    chosen = _method(method)
    return DryRun(_refused(live, given, chosen), chosen, given, NoSuchPath(advice))


def _method(method: str | None) -> str:
    if method not in (None, RESTORE, READ):
        raise SourceError(f"found method {method!r}, expected 'restore' or 'read'")
    return method or RESTORE


# --- by objects


def _by_objects(live: Graph, saved: Graph, method: str, path: str, *, skips_slots: bool) -> Outcome:
    side = GraphSide(live)
    restored = SavedGraph(saved, path if method == RESTORE else None)
    trace = match(restored, side, Rules(skips_slots=skips_slots))
    made = range(len(live.nodes), len(live.nodes) + len(side.made))
    valued = (*_valued(live, skips_slots=skips_slots), *made)
    return outcome_of_objects(live, saved, trace, valued, skips_slots=skips_slots)


def _valued(live: Graph, *, skips_slots: bool) -> Iterator[int]:
    """Yield the nodes for which the asserts of a restore expect a value."""
    slots = {s.slot_variable for node in live.nodes for s in node.slot_variables}
    for node_id, node in enumerate(live.nodes):
        is_listed = node_id == ROOT or node_id in live.first_edges
        if node.attributes and is_listed and not (skips_slots and node_id in slots):
            yield node_id


# --- by names


class _NamedVariables:
    """The variables of a graph, by the names that TensorFlow 1 would give them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._side = GraphSide(graph)

    def misfit(self, obj: int, stored: Stored, by_name: NamedRead) -> Failure:
        return self._side.misfit(obj, stored)

    def named(self, obj: int) -> Named:
        attributes = self.graph.nodes[obj].attributes
        reads = tuple(
            NamedRead(a.full_name, (a.full_name,), a.dtype, a.shape)
            for a in attributes
            if a.full_name
        )
        return Named(reads, tuple(a.name for a in attributes if not a.full_name))


def _by_names(live: Graph, saved: Graph, method: str) -> Outcome:
    tensors = {}
    for node in saved.nodes:
        for attribute in node.attributes:
            known = saved.stored(attribute.checkpoint_key)
            tensors[attribute.checkpoint_key] = Stored(
                attribute.dtype, attribute.shape, attribute.error, known and known.fault
            )
    return _with_names(live, tensors, method)


def _with_names(live: Graph, tensors: dict[str, Stored], method: str) -> Outcome:
    objects: Sequence[int] = [ROOT, *live.first_edges]
    trace = match_names(tensors.get, _NamedVariables(live), objects)
    unused = {
        obj: names
        for obj, names in trace.unused.items()
        if method != RESTORE or obj != live.save_counter
    }
    names = LiveNames(live)
    verdicts = name_based(replace(trace, unused=unused), names.readable)
    return Outcome(names, verdicts, trace, tensors=tensors)


# --- paths


def _takes(given: str, saved: Graph, method: str) -> bool:
    """Return whether the call reads the checkpoint at this path."""
    source = saved.provenance
    if source is None or given == source.prefix or source.format is Format.NAME_BASED_V1:
        return True
    is_saved_model = source.format is Format.SAVED_MODEL and method == RESTORE
    return is_saved_model and given.rstrip("/") == saved.title.rstrip("/")


def _misread(live: Graph, given: str, method: str) -> Outcome:
    """Return what restoring a path does if it is not the checkpoint's prefix."""
    if given.endswith(INDEX) and files.is_file(given):
        return _read_as_v1(live, method)
    return _refused(live, given, method)


def _is_index_without_suffix(saved: Graph, given: str) -> bool:
    """Return whether a path is that of the index, so that `restore` finds no index there."""
    source = saved.provenance
    if source is None or given != source.prefix or source.format is Format.NAME_BASED_V1:
        return False
    if saved.is_unwritten:  # no call reads it by a path
        return False
    return files.is_file(given) and not files.is_file(given + INDEX)


def _read_as_v1(live: Graph, method: str) -> Outcome:
    """Return what restoring the path of an index does.

    An index is a table without an object graph: TensorFlow takes it for a name-based checkpoint.
    """
    return _with_names(live, {}, method)


def _refused(live: Graph, given: str, method: str) -> Outcome:
    raised = _refusal(given, method)
    return Outcome(LiveNames(live), Verdicts(raised, raised, raised, raised))


def _refusal(given: str, method: str) -> Raised:
    if files.is_directory(given):
        why = f"FAILED_PRECONDITION: {given}; Is a directory"
    elif files.is_file(given):
        why = "DATA_LOSS: not an sstable (bad magic number)"
    else:
        why = (
            "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
            f"{given}"
        )
        return Raised("NotFoundError", not_found(given if method == RESTORE else None, why))
    return Raised(
        "DataLossError", f"Unable to open table file {given}: {why}: {_NO_TABLE}restore operator?"
    )
