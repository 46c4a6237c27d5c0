"""The stored bytes that a restore reads, tested before the restore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ckpt_viz.answers.dry_runs.dry_run import DryRun, Tested, prefix_of
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.files.values.verifying import Damaged, verify
from ckpt_viz.formats.storage.files import split
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.nodes.walks import reached
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import first_clause
from ckpt_viz.matching.engines.trace import Action

_READING = (Action.GATHER, Action.RESTORE, Action.FAIL)
_MOST_OTHERS = 3  # checkpoints of the directory in which to look for whole values


def bytes_tested(run: DryRun, findings: Sequence[Finding]) -> Tested | None:
    """Return which of the tensors are damaged that the restore reads, now or once all is built.

    None if the restore reads no file.
    """
    if run.trace is None or run.reading is None or run.outcome.finds_no_name:
        return None
    if run.saved is not None and run.saved.is_unwritten:
        return None
    saved = run.saved if run.saved is not None else read_saved(run.reading)
    keys = frozenset((*keys_read(run), *_keys_waiting(run, findings)))
    verification = verify(saved, keys)
    tested = Tested(verification, faults=_faults(saved, verification))
    return replace(tested, whole=_whole_checkpoint(saved, keys)) if tested.faults else tested


def _faults(saved: Graph, damaged: Iterable[Damaged]) -> Mapping[str, Fault]:
    """Return why damaged tensors cannot be read, by key; not of those whose bytes are missing."""
    # The findings have a next step of their own.
    return {
        tensor.key: Fault(first_clause(tensor.why), tensor.raises)
        for tensor in damaged
        if (stored := saved.stored(tensor.key)) is not None and stored.error is None
    }


def keys_read(run: DryRun) -> Iterator[str]:
    """Yield the keys of the tensors that a restore reads, or would read but for a failure."""
    keys = run.outcome.keys
    for step in run.trace.steps if run.trace is not None else ():
        if step.action in _READING:
            yield from step.names if keys is None else (keys[name] for name in step.names)


def _keys_waiting(run: DryRun, findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the keys of the values that wait until an object is built."""
    if run.saved is None:
        return
    every = (finding for cause in findings for finding in cause.all())
    waiting = (node for f in every if f.severity is Severity.DEFERRED for node in f.nodes)
    nodes = run.saved.nodes
    for node in reached(waiting, lambda node: [child.node_id for child in nodes[node].children]):
        for attribute in nodes[node].attributes:
            yield from run.saved.tensor_keys(attribute.checkpoint_key)


def _whole_checkpoint(saved: Graph, keys: frozenset[str]) -> str | None:
    """Return the prefix of the newest other checkpoint in the directory with these keys, whole.

    The search opens a few of them at most.
    """
    prefix = prefix_of(saved)
    with suppress(CkptVizError):
        kept = saved.provenance.kept if saved.provenance is not None else ()
        kept = kept or locate(split(prefix)[0] or ".").kept
        others = [ckpt.prefix for ckpt in reversed(kept) if ckpt.exists and ckpt.prefix != prefix]
        for other in others[:_MOST_OTHERS]:
            with suppress(CkptVizError):
                graph = read_saved(other)
                if keys <= set(graph.stored_in.entries) and not verify(graph, keys):
                    return other
    return None
