"""The dry run of a restore into live objects: connects live side, checkpoint and engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import DryRun, correction_of, damage_of, prefix_of
from ckpt_viz.answers.dry_runs.live_names import MADE_SAVE_COUNTER, LiveNames, NewObject
from ckpt_viz.answers.dry_runs.outcome import Outcome, outcome_of_objects
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts, name_based, without_checkpoint
from ckpt_viz.errors import EditError
from ckpt_viz.files.saved.saved_access import faulty, with_faults
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.graphs.edits.edited_access import assert_unchanged, first_graph, origins_of
from ckpt_viz.graphs.nodes.nodes import Fault, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.restoring.iterators import Reading
from ckpt_viz.live.restoring.opening import Opened, open_as_restore
from ckpt_viz.live.restoring.restore_side import TensorFlowSide
from ckpt_viz.live.restoring.restore_target import (
    READ,
    RESTORE,
    RestoreTarget,
    reads,
    restoring_into,
    where_it_goes,
)
from ckpt_viz.live.restoring.status import read_status, skips_slots_of
from ckpt_viz.matching.engines.changed_side import ChangedSide
from ckpt_viz.matching.engines.engine import Rules, match
from ckpt_viz.matching.engines.name_based_restore import NameTrace, match_names
from ckpt_viz.matching.engines.saved_graph import SavedGraph
from ckpt_viz.matching.engines.trace import Action, Step


def live_dry_run(
    live: Any,
    saved: object,
    method: str | None,
    options: Any,
    faults: Mapping[str, Fault] = MappingProxyType({}),
) -> DryRun:
    """Return what `live.restore(saved)`, or `.read`, would do; change nothing.

    `live` may be the edited graph of live objects: then their program is changed likewise. `saved`
    is a path as `restore` takes it, the graph of a checkpoint, or None. `faults` are the damaged
    tensors of this checkpoint, by key.
    """
    skips_slots = bool(getattr(options, "experimental_skip_slot_variables", False))
    changed = live if isinstance(live, Graph) else None
    if changed is not None:
        live = first_graph(changed).source
    live, method = where_it_goes(live, method, options)
    if isinstance(saved, Graph) and saved.is_held and reads(live):
        method = method or READ  # as putting a snapshot back does: read() makes no save_counter
    restore = RestoreByPath(
        restoring_into(live, method, skips_slots=skips_slots), skips_slots, faults, changed
    )
    if changed is not None:
        assert_unchanged(first_graph(changed), restore.target.graph)
    method = restore.target.method
    if saved is None:
        return DryRun(Outcome(LiveNames(restore.target.graph), without_checkpoint()), method)
    if isinstance(saved, Graph):
        return DryRun(restore.outcome_of(prefix_of(saved), saved), method, prefix_of(saved))
    outcome = restore.outcome_of(saved)
    if outcome.verdicts.restore is None and not outcome.finds_no_name:
        return DryRun(outcome, method, str(saved))
    correction = correction_of(saved, lambda prefix: restore.outcome_of(prefix).verdicts)
    if correction is None and outcome.trace is None:
        return DryRun(outcome, method, str(saved), damage_of(str(saved)))
    return DryRun(outcome, method, str(saved), correction)


def status_dry_run(status: Any) -> DryRun:
    """Return what the restore with this status has done, and what its asserts would raise."""
    target = restoring_into(status, None, skips_slots=skips_slots_of(status))
    done = read_status(status, target)
    trace, saved, names = done.trace, done.saved, LiveNames(target.graph)
    if isinstance(trace, NameTrace):
        verdicts = name_based(trace, names.readable, target.listing)
        return DryRun(Outcome(names, verdicts, trace, saved), RESTORE, "", has_happened=True)
    if trace is None or saved is None:
        outcome = Outcome(names, without_checkpoint(), trace, saved)
        return DryRun(outcome, RESTORE, has_happened=True)
    outcome = outcome_of_objects(
        *(target.graph, saved, trace, target.valued),
        skips_slots=done.skips_slots,
        stale=done.stale,
        listing=target.listing,
        valuing=target.valuing,
    )
    return DryRun(outcome, RESTORE, saved.title, has_happened=True)


@dataclass(frozen=True)
class RestoreByPath:
    """A restore into a target, for any path.

    `changed` is the edited graph of the target's program, if someone has changed that.
    """

    target: RestoreTarget
    skips_slots: bool = False
    faults: Mapping[str, Fault] = field(default_factory=dict)
    changed: Graph | None = None

    def outcome_of(self, path: object, graph: Graph | None = None) -> Outcome:
        """Return what restoring exactly this path does; `graph` is its content, if known."""
        if graph is not None and graph.is_unwritten:  # a file with these objects and values
            return self._by_objects(graph, graph.title)
        target = self.target
        opened = open_as_restore(
            path, resolves=target.wraps_not_found, takes_path_objects=target.takes_path_objects
        )
        if opened.failure is not None:
            raised = Raised(opened.failure.type, opened.failure.message)
            return Outcome(LiveNames(target.graph), Verdicts(raised, raised, raised, raised))
        if opened.tensors is not None and self.changed is not None:
            raise EditError(f"{path} holds names and no objects; a changed program restores none")
        if opened.tensors is not None:
            return _by_names(target, opened, faulty(opened.tensors, self.faults))
        graph = with_faults(graph or read_saved(opened.prefix), self.faults)
        resolved = str(path) if target.wraps_not_found else None
        target.side.reading = Reading(opened.prefix, resolved)
        return self._by_objects(graph, path)

    def of_changed(self, live: Graph, graph: Graph, path: str) -> Outcome:
        """Return what restoring the content of a checkpoint into a changed program would do.

        `live` is the edited graph of the target's program.
        """
        self.target.side.reading = Reading(path, path if self.target.wraps_not_found else None)
        return replace(self, changed=live)._by_objects(graph, path)

    def _program(self) -> tuple[Graph, TensorFlowSide | ChangedSide, Sequence[int]]:
        """Return the program to restore into: that of the target, or as someone has changed it.

        With its graph comes its side of a restore, and the objects that the asserts expect.
        """
        target, live = self.target, self.changed
        if live is None:
            return target.graph, target.side, target.valued
        nodes, known = origins_of(live), {*target.valued}
        objects = [None if node.is_copy else node.node for node in nodes]
        valued = [
            obj
            for obj, node in enumerate(nodes)
            if (live.nodes[obj].attributes if node.node is None else node.node in known)
        ]
        return live, ChangedSide(target.side, target.graph, live, objects), valued

    def _by_objects(self, graph: Graph, path: object) -> Outcome:
        target, skips_slots = self.target, self.skips_slots
        live, side, valued = self._program()
        given = os.fspath(path) if isinstance(path, (str, os.PathLike)) else str(path)
        saved = SavedGraph(graph, str(given) if target.wraps_not_found else None)
        rules = Rules(skips_slots=skips_slots, builds_graph=not target.side.is_eager)
        trace = match(saved, side, rules)
        made = [s.obj for s in trace.steps if s.action is Action.CREATE and s.obj is not None]
        return outcome_of_objects(
            *(live, graph, trace, (*valued, *made)),
            skips_slots=skips_slots,
            forgotten=side.momentary,
            listing=target.listing,
            valuing=target.valuing,
        )


def _by_names(target: RestoreTarget, opened: Opened, tensors: Mapping[str, Stored]) -> Outcome:
    new: dict[int, NewObject] = {}
    listed, not_restored = target.listed, []
    made = target.side.new_save_counter(())
    counter = made.obj if made is not None else None
    if counter is not None:
        new[counter] = MADE_SAVE_COUNTER
        if target.side.counter_holder is None:  # a checkpoint that its root does not know
            not_restored.append(counter)
        else:
            listed = (*listed, counter)  # the counter takes over the restore of its parent
    if not target.side.is_eager:  # the restore reads nothing before run_restore_ops
        trace = NameTrace(not_restored=(*listed, *not_restored), builds_graph=True)
    elif target.listing_all is not None:
        trace = NameTrace([Step(Action.FAIL, None, failure=target.listing_all)])
    else:
        path = opened.prefix if target.wraps_not_found else None
        trace = match_names(tensors.get, target.side, listed, path)
        optional = None
        if target.method == RESTORE:
            optional = counter if counter is not None else target.graph.save_counter
        unused = {obj: missing for obj, missing in trace.unused.items() if obj != optional}
        trace = replace(trace, unused=unused, not_restored=tuple(not_restored))
    names = LiveNames(target.graph, new)
    verdicts = name_based(trace, names.readable, target.listing_all)
    return Outcome(names, verdicts, trace, tensors=tensors)
