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

if TYPE_CHECKING:
    from ckpt_viz.api import (
        average,
        check,
        check_load_model,
        compare,
        diff,
        fix,
        graph,
        history,
        merged,
        snapshot,
    )
    from ckpt_viz.changes.change import Change
    from ckpt_viz.changes.kind import Kind
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
    from ckpt_viz.graph_diff.diff_result import GraphDiff
    from ckpt_viz.jupyter.exercise import Exercise, exercise
    from ckpt_viz.jupyter.widget import Explorer, show
    from ckpt_viz.load_check.load_findings import LoadFinding
    from ckpt_viz.load_check.load_result import LoadCheck
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
    from ckpt_viz.object_graph.overlay import Severity, State
    from ckpt_viz.restore_check.check_result import RestoreCheck
    from ckpt_viz.restore_check.finding import Finding
    from ckpt_viz.restore_fix.fix import RestoreFix
    from ckpt_viz.sources.pictured import ObjectGraph
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
    "fix",
    "graph",
    "history",
    "merged",
    "show",
    "snapshot",
]


# Where each public name is. All load on first use, so that `import ckpt_viz` takes no time.
_PLACES = {
    "Attribute": "object_graph.nodes",
    "Change": "changes.change",
    "CheckpointNotFoundError": "errors",
    "Child": "object_graph.nodes",
    "CkptVizError": "errors",
    "Damaged": "values.verifying",
    "EditError": "errors",
    "Exercise": "jupyter.exercise",
    "Explorer": "jupyter.widget",
    "Finding": "restore_check.finding",
    "Format": "object_graph.graph",
    "FormatError": "errors",
    "GraphDiff": "graph_diff.diff_result",
    "Histogram": "values.row",
    "History": "timeline.history",
    "HistoryFinding": "timeline.findings",
    "HistoryKind": "timeline.findings",
    "Kept": "object_graph.graph",
    "Kind": "changes.kind",
    "Left": "values.report",
    "LoadCheck": "load_check.load_result",
    "LoadFinding": "load_check.load_findings",
    "NoSuchNodeError": "errors",
    "NoSuchTensorError": "errors",
    "Node": "object_graph.nodes",
    "NotSaved": "object_graph.nodes",
    "ObjectGraph": "sources.pictured",
    "Origin": "object_graph.graph",
    "Provenance": "object_graph.graph",
    "QueryError": "errors",
    "Question": "story.questions",
    "RestoreCheck": "restore_check.check_result",
    "RestoreFix": "restore_fix.fix",
    "Restored": "values.report",
    "Role": "object_graph.nodes",
    "Severity": "object_graph.overlay",
    "Slice": "object_graph.nodes",
    "Slot": "object_graph.nodes",
    "SlotRule": "object_graph.nodes",
    "SlotVariable": "object_graph.nodes",
    "Snapshot": "sources.snapshot",
    "SourceError": "errors",
    "State": "object_graph.overlay",
    "UnsupportedError": "errors",
    "ValueRow": "values.row",
    "ValueTable": "values.table",
    "average": "api",
    "check": "api",
    "check_load_model": "api",
    "compare": "api",
    "diff": "api",
    "exercise": "jupyter.exercise",
    "fix": "api",
    "graph": "api",
    "history": "api",
    "merged": "api",
    "show": "jupyter.widget",
    "snapshot": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"ckpt_viz.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Answer `%load_ext ckpt_viz`: show check and fix below the traceback of a failed restore."""
    from ckpt_viz.jupyter.failed_restores import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Answer `%unload_ext ckpt_viz`."""
    from ckpt_viz.jupyter.failed_restores import unload

    unload()
