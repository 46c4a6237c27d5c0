"""See TensorFlow checkpoints as the object graphs they are.

>>> import ckpt_viz as cv
>>> graph = cv.graph("ckpts/ckpt-3")     # or a live tf.train.Checkpoint   # doctest: +SKIP
>>> print(graph)                                                           # doctest: +SKIP
>>> cv.show("ckpts/ckpt-3")              # the explorer, in a notebook     # doctest: +SKIP

Importing this package imports neither TensorFlow nor Jupyter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ckpt_viz.api import (
    average,
    check,
    check_load_model,
    compare,
    diff,
    graph,
    history,
    merged,
    snapshot,
)
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    EditError,
    FormatError,
    NoSuchNodeError,
    NoSuchTensorError,
    QueryError,
    SourceError,
    UnsupportedError,
)
from ckpt_viz.object_graph.graph import Format, Kept, Origin, Provenance
from ckpt_viz.object_graph.nodes import (
    Attribute,
    Child,
    Node,
    NotSaved,
    Role,
    Slice,
    Slot,
    SlotRule,
    SlotVariable,
)
from ckpt_viz.sources.pictured import ObjectGraph

if TYPE_CHECKING:
    from ckpt_viz.changes.change import Change
    from ckpt_viz.changes.kind import Kind
    from ckpt_viz.graph_diff.diff_result import GraphDiff
    from ckpt_viz.jupyter.exercise import Exercise, exercise
    from ckpt_viz.jupyter.widget import Explorer, show
    from ckpt_viz.load_check.load_findings import LoadFinding
    from ckpt_viz.load_check.load_result import LoadCheck
    from ckpt_viz.object_graph.overlay import Severity, State
    from ckpt_viz.restore_check.check_result import RestoreCheck
    from ckpt_viz.restore_check.finding import Finding
    from ckpt_viz.restore_fix.fix import RestoreFix
    from ckpt_viz.sources.snapshot import Snapshot
    from ckpt_viz.story.questions import Question
    from ckpt_viz.timeline.findings import HistoryFinding, HistoryKind
    from ckpt_viz.timeline.history import History
    from ckpt_viz.values.report import Left, Restored
    from ckpt_viz.values.row import Histogram, ValueRow
    from ckpt_viz.values.table import ValueTable
    from ckpt_viz.values.verifying import Damaged

__all__ = [
    "Attribute",
    "Change",
    "CheckpointNotFoundError",
    "Child",
    "CkptVizError",
    "Damaged",
    "EditError",
    "Exercise",
    "Explorer",
    "Finding",
    "Format",
    "FormatError",
    "GraphDiff",
    "Histogram",
    "History",
    "HistoryFinding",
    "HistoryKind",
    "Kept",
    "Kind",
    "Left",
    "LoadCheck",
    "LoadFinding",
    "NoSuchNodeError",
    "NoSuchTensorError",
    "Node",
    "NotSaved",
    "ObjectGraph",
    "Origin",
    "Provenance",
    "QueryError",
    "Question",
    "RestoreCheck",
    "RestoreFix",
    "Restored",
    "Role",
    "Severity",
    "Slice",
    "Slot",
    "SlotRule",
    "SlotVariable",
    "Snapshot",
    "SourceError",
    "State",
    "UnsupportedError",
    "ValueRow",
    "ValueTable",
    "average",
    "check",
    "check_load_model",
    "compare",
    "diff",
    "exercise",
    "graph",
    "history",
    "merged",
    "show",
    "snapshot",
]


# These import slowly, or import Jupyter, so they load on first use.
_LATER = {
    "Change": "changes.change",
    "Damaged": "values.verifying",
    "Exercise": "jupyter.exercise",
    "Explorer": "jupyter.widget",
    "Finding": "restore_check.finding",
    "GraphDiff": "graph_diff.diff_result",
    "Histogram": "values.row",
    "History": "timeline.history",
    "HistoryFinding": "timeline.findings",
    "HistoryKind": "timeline.findings",
    "Kind": "changes.kind",
    "Left": "values.report",
    "LoadCheck": "load_check.load_result",
    "LoadFinding": "load_check.load_findings",
    "Question": "story.questions",
    "RestoreCheck": "restore_check.check_result",
    "RestoreFix": "restore_fix.fix",
    "Restored": "values.report",
    "Severity": "object_graph.overlay",
    "Snapshot": "sources.snapshot",
    "State": "object_graph.overlay",
    "ValueRow": "values.row",
    "ValueTable": "values.table",
    "exercise": "jupyter.exercise",
    "show": "jupyter.widget",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"ckpt_viz.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Answer `%load_ext ckpt_viz`: show check and fix below the traceback of a failed restore."""
    from ckpt_viz.jupyter.failed_restores import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Answer `%unload_ext ckpt_viz`."""
    from ckpt_viz.jupyter.failed_restores import unload

    unload()
