"""Which kind of check the arguments of `check` request."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import COMPARE, DryRun, Tested
from ckpt_viz.answers.dry_runs.file_dry_run import file_dry_run, missing_file_dry_run
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.keras_dry_run import is_load_of_weights, keras_dry_run
from ckpt_viz.answers.dry_runs.live_dry_run import live_dry_run, status_dry_run
from ckpt_viz.answers.dry_runs.orbax_load import refuse_orbax
from ckpt_viz.answers.dry_runs.saver_dry_run import saver_dry_run
from ckpt_viz.answers.dry_runs.verified import bytes_tested
from ckpt_viz.answers.dry_runs.warm_start_dry_run import warm_dry_run
from ckpt_viz.answers.rules.findings import find_all
from ckpt_viz.errors import CheckpointNotFoundError, SourceError
from ckpt_viz.files.saved.saved_access import with_faults
from ckpt_viz.graphs.edits.edited_access import first_graph
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.wording import IN_A_SESSION, PYTHON, Wording
from ckpt_viz.live.sessions.assignment_map import is_warm_start, name_of_call
from ckpt_viz.live.sources.any_source import graph_of, is_snapshot
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.tensorflow_names.shadows import steadily


@dataclass(frozen=True)
class AskedCheck:
    """The arguments of a check. The overlay of its run speaks of the next step by `wording`.

    With `verify`, the check tests the stored bytes that the restore reads.
    """

    live: object
    saved: object
    method: str | None = None
    options: Any = None
    verify: bool = False
    wording: Wording = PYTHON

    def run(self) -> tuple[DryRun, tuple[Finding, ...]]:
        """Return the dry run, and its findings.

        Raises SourceError if the arguments do not fit together.
        """
        run, findings = self._checked(None)
        if not self.verify:
            return run, findings
        if run.has_happened:
            raise SourceError(
                "found a load status with verify=True; its restore has read the bytes already, "
                "and raises for damaged ones; expected the live object and the checkpoint"
            )
        tested = bytes_tested(run, findings)
        if tested is None or not tested.faults:
            return replace(run, tested=tested), findings
        return self._checked(tested)

    def _checked(self, tested: Tested | None) -> tuple[DryRun, tuple[Finding, ...]]:
        faults = tested.faults if tested is not None else {}

        def checked() -> tuple[DryRun, tuple[Finding, ...]]:
            run = _run(self.live, self.saved, self.method, self.options, faults)
            run = replace(run, tested=tested, wording=self._wording_for(run))
            return run, find_all(run)

        return gc_paused(lambda: steadily(checked))

    def _wording_for(self, run: DryRun) -> Wording:
        program = run.outcome.saver
        is_in_session = program is not None and not program.is_eager
        return IN_A_SESSION if is_in_session and self.wording is PYTHON else self.wording


def _run(
    live: object,
    saved: object,
    method: str | None,
    options: Any,
    faults: Mapping[str, Fault],
) -> DryRun:
    live, saved = (graph_of(source) if is_snapshot(source) else source for source in (live, saved))
    if isinstance(saved, Graph) and saved.is_unwritten and saved.is_name_based:
        raise SourceError(
            f"{saved.title}: found values by name, which no file has; expected those of objects; "
            "check the path that write(prefix) returns"
        )
    if isinstance(live, Graph) and live.origin is Origin.LIVE:
        live = live.source
    if "tensorflow" in sys.modules and tf_private.is_checkpoint_manager(saved):
        saved = saved.latest_checkpoint  # type: ignore[attr-defined]
    is_changed_program = isinstance(live, Graph) and first_graph(live).origin is Origin.LIVE
    if isinstance(live, (Graph, str, os.PathLike)) and not is_changed_program:
        return _into_file(live, saved, method, options, faults)
    if isinstance(saved, Graph) and saved.origin is Origin.LIVE:
        raise SourceError(
            f"{saved.title}: found live objects as the checkpoint; expected a path or a snapshot; "
            f"{COMPARE}"
        )
    refuse_orbax(live, saved)
    if is_load_of_weights(live, saved):
        return keras_dry_run(live, saved, method, options)
    if "tensorflow" in sys.modules:
        if tf_private.is_load_status(live):
            if saved is not None or method is not None or options is not None:
                raise SourceError(
                    "a load status belongs to the restore that returned it; expected no "
                    "checkpoint, method or options with it"
                )
            return status_dry_run(live)
        if tf_savers.is_saver(live):
            if method not in (None, "restore"):
                raise SourceError(f"found method {method!r}, a Saver has only 'restore'")
            if isinstance(saved, Graph) and saved.is_unwritten:
                raise SourceError(
                    f"{saved.title}: a Saver restores files, expected a path; check the path "
                    "that write(prefix) returns"
                )
            return saver_dry_run(live, saved, faults)
        if is_warm_start(live) and not (isinstance(saved, Graph) and saved.is_held):
            if method not in (None, name_of_call(live)):
                raise SourceError(f"found method {method!r}, expected {name_of_call(live)!r}")
            return warm_dry_run(live, saved, faults)
    return live_dry_run(live, saved, method, options, faults)


def _into_file(
    live: Graph | str | os.PathLike[str],
    saved: object,
    method: str | None,
    options: Any,
    faults: Mapping[str, Fault],
) -> DryRun:
    if saved is None:
        raise SourceError("found one checkpoint, expected a second one to restore into it")
    given = os.fspath(saved) if isinstance(saved, (str, os.PathLike)) else None
    try:
        graph = with_faults(graph_of(saved), faults)
    except CheckpointNotFoundError as error:
        return missing_file_dry_run(graph_of(live), str(given), str(error), method=method)
    if graph.origin is Origin.LIVE:
        title = live.title if isinstance(live, Graph) else os.fspath(live)
        raise SourceError(
            f"found the checkpoint {title} as the live object, and the live {graph.title} as the "
            "checkpoint; exchange the two arguments: cv.check(live, saved)"
        )
    skips_slots = bool(getattr(options, "experimental_skip_slot_variables", False))
    return file_dry_run(graph_of(live), graph, method=method, skips_slots=skips_slots, given=given)
