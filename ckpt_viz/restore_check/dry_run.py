"""The dry run of a restore: puts live side, checkpoint and engine together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ckpt_viz.errors import CkptVizError
from ckpt_viz.live.iterators import Reading
from ckpt_viz.live.opening import Opened, open_as_restore
from ckpt_viz.live.restore_target import RESTORE, Target, restoring_into, where_it_goes
from ckpt_viz.live.status import read_status, skips_slots_of
from ckpt_viz.matching.engine import Rules, match
from ckpt_viz.matching.name_based_restore import NameTrace, match_names
from ckpt_viz.matching.saved_graph import SavedGraph
from ckpt_viz.matching.trace import Action, Step, Trace
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import readable_name
from ckpt_viz.object_graph.nodes import SAVE_COUNTER, Stored
from ckpt_viz.restore_check.new_objects import names_of_new
from ckpt_viz.restore_check.verdicts import (
    Bindings,
    Raised,
    Verdicts,
    name_based,
    object_based,
    without_checkpoint,
)
from ckpt_viz.saved.locate import locate
from ckpt_viz.saved.saved_source import read_saved


@dataclass(frozen=True)
class DryRun:
    """What a restore would do and say.

    `names` are those of live objects that the live graph does not have: what the restore would
    make, and what only it comes upon. `reading` is the path, None for `restore(None)`;
    `tensors` are those of a name-based checkpoint. Where the path is not that of a checkpoint,
    `instead` is the prefix that seems to be meant, with its dry run, and `unread` what to do
    where there is none. `has_happened` says that the restore was a real one.
    """

    live: Graph
    saved: Graph | None
    trace: Trace | NameTrace | None
    verdicts: Verdicts
    method: str
    names: Mapping[int, str] = field(default_factory=dict)
    reading: str | None = None
    tensors: Mapping[str, Stored] = field(default_factory=dict)
    instead: tuple[str, DryRun] | None = None
    unread: str = ""
    has_happened: bool = False

    def live_name(self, obj: int) -> str:
        """Return the name of a live object."""
        return self.names[obj] if obj in self.names else self.live.name(obj)

    def readable_live_name(self, obj: int) -> str:
        """Return the name of a live object, or the end of one that is too deep to read."""
        return self.names[obj] if obj in self.names else readable_name(self.live, obj)

    def unused_attributes(self) -> dict[str, tuple[str, ...]]:
        """Return names by node: see RestoreCheck."""
        if isinstance(self.trace, NameTrace):
            return {self.live_name(obj): names for obj, names in self.trace.unused.items()}
        if self.trace is None or self.saved is None:
            return {}
        return {self.saved.name(n): names for n, names in self.trace.unused_attributes.items()}

    def bound(self) -> dict[str, str]:
        """Return names by name: see RestoreCheck."""
        if isinstance(self.trace, NameTrace):
            return {name: self.live_name(objs[-1]) for name, objs in self.trace.bound.items()}
        if self.trace is None or self.saved is None:
            return {}
        return {self.saved.name(n): self.live_name(obj) for n, obj in self.trace.bound.items()}


def dry_run(live: Any, saved: object, method: str | None, options: Any) -> DryRun:
    """Return what `live.restore(saved)`, or `.read`, would do; changes nothing.

    `saved` is a path as `restore` takes it, the graph of a checkpoint, or None.
    """
    skips_slots = bool(getattr(options, "experimental_skip_slot_variables", False))
    live, method = where_it_goes(live, method, options)
    target = restoring_into(live, method, skips_slots=skips_slots)
    if saved is None:
        return DryRun(target.graph, None, None, without_checkpoint(), target.method)
    if isinstance(saved, Graph):
        path: object = saved.provenance.prefix if saved.provenance else saved.title
        return _reading(target, path, saved, skips_slots=skips_slots)
    run = _reading(target, saved, None, skips_slots=skips_slots)
    if run.verdicts.restore is None and run.tensors is not _NOTHING:
        return run
    return _with_what_is_meant(run, target, skips_slots=skips_slots)


def of_status(status: Any) -> DryRun:
    """Return what the restore that returned this status has done, and its asserts would say."""
    target = restoring_into(status, None, skips_slots=skips_slots_of(status))
    done = read_status(status, target)
    names: dict[int, str] = {}
    run = DryRun(
        target.graph, done.saved, done.trace, Verdicts(), RESTORE, names, has_happened=True
    )
    if isinstance(done.trace, NameTrace):
        verdicts = name_based(
            done.trace.unused,
            done.trace.not_restored,
            raised=None,
            listing=target.listing,
            live_name=run.readable_live_name,
        )
        return replace(run, verdicts=verdicts, reading="")
    if done.trace is None or done.saved is None:
        return replace(run, verdicts=without_checkpoint())
    names.update(names_of_new(target.graph, done.saved, done.trace.steps, done.trace.bound))
    verdicts = object_based(
        done.saved,
        Bindings(
            done.trace.bound,
            done.trace.unused_attributes,
            done.stale,
            done.trace.slots_left,
        ),
        target.valued,
        raised=None,
        listing=target.listing,
        valuing=target.valuing,
        skips_slots=done.skips_slots,
        live_name=run.readable_live_name,
    )
    return replace(run, verdicts=verdicts, reading=done.saved.title)


def _reading(target: Target, path: object, graph: Graph | None, *, skips_slots: bool) -> DryRun:
    """Return the dry run with exactly this path; `graph` is what it holds, if that is known."""
    opened = open_as_restore(
        path, resolves=target.wraps_not_found, takes_path_objects=target.takes_path_objects
    )
    if opened.failure is not None:
        raised = Raised(opened.failure.type, opened.failure.message)
        verdicts = Verdicts(raised, raised, raised, raised)
        return DryRun(target.graph, None, None, verdicts, target.method, reading=str(path))
    if opened.tensors is not None:
        run = _by_names(target, opened, opened.tensors)
        return replace(run, reading=str(path), tensors=opened.tensors or _NOTHING)
    if graph is None:
        graph = read_saved(opened.prefix)
    target.side.reading = Reading(opened.prefix, str(path) if target.wraps_not_found else None)
    return replace(_by_objects(target, graph, path, skips_slots=skips_slots), reading=str(path))


# What a file of another kind holds that TensorFlow takes for a name-based checkpoint.
_NOTHING: Mapping[str, Stored] = {}


def _with_what_is_meant(run: DryRun, target: Target, *, skips_slots: bool) -> DryRun:
    """Return a dry run that reads nothing, with the checkpoint that its path seems to mean."""
    assert run.reading is not None
    try:
        prefix = locate(run.reading).prefix
    except CkptVizError as error:
        return replace(run, unread=str(error))
    if prefix == run.reading:
        return run
    meant = _reading(target, prefix, None, skips_slots=skips_slots)
    return replace(run, instead=(prefix, meant))


def _by_objects(target: Target, graph: Graph, path: object, *, skips_slots: bool) -> DryRun:
    given = os.fspath(path) if isinstance(path, (str, os.PathLike)) else str(path)
    saved = SavedGraph(graph, str(given) if target.wraps_not_found else None)
    rules = Rules(skips_slots=skips_slots, builds_graph=not target.side.is_eager)
    trace = match(saved, target.side, rules)
    is_new = len(target.side.objects) > len(target.graph.nodes)
    names = names_of_new(target.graph, graph, trace.steps, trace.bound) if is_new else {}
    run = DryRun(target.graph, graph, trace, Verdicts(), target.method, names)
    made = [s.obj for s in trace.steps if s.action is Action.CREATE and s.obj is not None]
    verdicts = object_based(
        graph,
        Bindings(
            trace.bound,
            trace.unused_attributes,
            slots_left=trace.slots_left,
            forgotten=target.side.momentary,
        ),
        (*target.valued, *made),
        raised=trace.raised,
        listing=target.listing,
        valuing=target.valuing,
        skips_slots=skips_slots,
        live_name=run.readable_live_name,
    )
    return replace(run, verdicts=verdicts)


def _by_names(target: Target, opened: Opened, tensors: Mapping[str, Stored]) -> DryRun:
    names: dict[int, str] = {}
    listed, not_restored = target.listed, []
    made = target.side.new_save_counter(())
    counter = made.obj if made is not None else None
    if counter is not None:
        names[counter] = f"(root).{SAVE_COUNTER}"
        if target.side.counter_holder is None:  # a checkpoint that its root does not know
            not_restored.append(counter)
        else:
            listed = (*listed, counter)  # it takes over the restore of its parent
    if not target.side.is_eager:  # nothing is read before run_restore_ops
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
    run = DryRun(target.graph, None, trace, Verdicts(), target.method, names)
    verdicts = name_based(
        trace.unused,
        trace.not_restored,
        raised=trace.raised,
        listing=target.listing_all,
        live_name=run.readable_live_name,
    )
    return replace(run, verdicts=verdicts)
