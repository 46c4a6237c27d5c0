"""Which kind of check the arguments of `check` ask for."""

from __future__ import annotations

import os
import sys
from typing import Any

from ckpt_viz.errors import CheckpointNotFoundError, SourceError
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live.any_source import graph_of
from ckpt_viz.live.shadows import steadily
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.restore_check.dry_run import DryRun, dry_run, of_status
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.findings import find_all
from ckpt_viz.restore_check.of_files import of_files, of_missing
from ckpt_viz.restore_check.of_saver import of_saver


def run_check(
    live: object,
    saved: object,
    method: str | None,
    options: Any,
) -> tuple[DryRun, tuple[Finding, ...]]:
    """Return the dry run of what the arguments of `check` stand for, and what it finds.

    Raises SourceError if they do not fit together.
    """

    def checked() -> tuple[DryRun, tuple[Finding, ...]]:
        run = _run(live, saved, method, options)
        return run, find_all(run)

    return gc_paused(lambda: steadily(checked))


def _run(
    live: object,
    saved: object,
    method: str | None,
    options: Any,
) -> DryRun:
    if isinstance(live, Graph) and live.origin is Origin.LIVE:
        live = live.source
    if isinstance(live, (Graph, str, os.PathLike)):
        return _of_files(graph_of(live), saved, method, options)
    if "tensorflow" in sys.modules:
        if tf_private.is_checkpoint_manager(saved):
            saved = saved.latest_checkpoint  # type: ignore[attr-defined]
        if tf_private.is_load_status(live):
            if saved is not None or method is not None or options is not None:
                raise SourceError(
                    "a load status tells of the restore that returned it; expected no checkpoint, "
                    "method or options beside it"
                )
            return of_status(live)
        if tf_private.is_saver(live):
            if method not in (None, "restore"):
                raise SourceError(f"found method {method!r}, a Saver has only 'restore'")
            return of_saver(live, saved)
    return dry_run(live, saved, method, options)


def _of_files(
    live: Graph,
    saved: object,
    method: str | None,
    options: Any,
) -> DryRun:
    if saved is None:
        raise SourceError("found one checkpoint, expected a second one to restore into it")
    given = os.fspath(saved) if isinstance(saved, (str, os.PathLike)) else None
    try:
        found = graph_of(saved)
    except CheckpointNotFoundError as error:
        return of_missing(live, str(given), str(error), method=method)
    skips_slots = bool(getattr(options, "experimental_skip_slot_variables", False))
    return of_files(live, found, method=method, skips_slots=skips_slots, given=given)
