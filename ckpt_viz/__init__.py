"""See TensorFlow checkpoints as the object graphs they are.

>>> import ckpt_viz as cv
>>> cv.show("ckpts/ckpt-3")  # what is in a checkpoint; or in a live tf.train.Checkpoint
<Explorer of ckpts/ckpt-3 (saved checkpoint): 10 nodes: 4 object, 6 variable>
>>> check = cv.check(ckpt, "ckpts/ckpt-3")  # what ckpt.restore("ckpts/ckpt-3") would do
>>> print(check.findings[0].why)  # print(check) shows where each value goes
hidden seems to be body now (2 values).
>>> check.fix().apply()  # restores what has a place
<RestoreFix of ckpts/ckpt-3 into Checkpoint: 4 values restored>
>>> changed = cv.diff("ckpts/ckpt-2", "ckpts/ckpt-3")  # two checkpoints; print it

In a notebook, `%load_ext ckpt_viz` shows such a check below each restore that fails. The help of
each name has an example, too, such as `help(cv.check)`.

Importing this package imports neither TensorFlow nor Jupyter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ckpt_viz.answers.dry_runs.finding import Finding
    from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
    from ckpt_viz.answers.load_check.load_findings import LoadFinding
    from ckpt_viz.answers.load_check.load_result import LoadCheck
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck
    from ckpt_viz.answers.restore_fix.fix import RestoreFix
    from ckpt_viz.answers.timeline.findings import HistoryFinding, HistoryKind
    from ckpt_viz.answers.timeline.history import History
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
    from ckpt_viz.entrances.jupyter.exercise import Exercise, exercise
    from ckpt_viz.entrances.jupyter.widget import Explorer, show
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
    from ckpt_viz.files.values.report import Left, Restored
    from ckpt_viz.files.values.row import Histogram, ValueRow
    from ckpt_viz.files.values.table import ValueTable
    from ckpt_viz.files.values.verifying import Damaged
    from ckpt_viz.graphs.nodes.nodes import (
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
    from ckpt_viz.graphs.object_graph.provenance import Format, Kept, Origin, Provenance
    from ckpt_viz.graphs.overlay.overlay import Severity, State
    from ckpt_viz.live.sources.pictured import ObjectGraph
    from ckpt_viz.live.sources.snapshot import Snapshot
    from ckpt_viz.matching.changes.change import Change
    from ckpt_viz.matching.changes.kind import Kind
    from ckpt_viz.matching.story.questions import Question

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
    "Attribute": "graphs.nodes.nodes",
    "Change": "matching.changes.change",
    "CheckpointNotFoundError": "errors",
    "Child": "graphs.nodes.nodes",
    "CkptVizError": "errors",
    "Damaged": "files.values.verifying",
    "EditError": "errors",
    "Exercise": "entrances.jupyter.exercise",
    "Explorer": "entrances.jupyter.widget",
    "Finding": "answers.dry_runs.finding",
    "Format": "graphs.object_graph.provenance",
    "FormatError": "errors",
    "GraphDiff": "answers.graph_diff.diff_result",
    "Histogram": "files.values.row",
    "History": "answers.timeline.history",
    "HistoryFinding": "answers.timeline.findings",
    "HistoryKind": "answers.timeline.findings",
    "Kept": "graphs.object_graph.provenance",
    "Kind": "matching.changes.kind",
    "Left": "files.values.report",
    "LoadCheck": "answers.load_check.load_result",
    "LoadFinding": "answers.load_check.load_findings",
    "NoSuchNodeError": "errors",
    "NoSuchTensorError": "errors",
    "Node": "graphs.nodes.nodes",
    "NotSaved": "graphs.nodes.nodes",
    "ObjectGraph": "live.sources.pictured",
    "Origin": "graphs.object_graph.provenance",
    "Provenance": "graphs.object_graph.provenance",
    "QueryError": "errors",
    "Question": "matching.story.questions",
    "RestoreCheck": "answers.restore_check.check_result",
    "RestoreFix": "answers.restore_fix.fix",
    "Restored": "files.values.report",
    "Role": "graphs.nodes.nodes",
    "Severity": "graphs.overlay.overlay",
    "Slice": "graphs.nodes.nodes",
    "Slot": "graphs.nodes.nodes",
    "SlotRule": "graphs.nodes.nodes",
    "SlotVariable": "graphs.nodes.nodes",
    "Snapshot": "live.sources.snapshot",
    "SourceError": "errors",
    "State": "graphs.overlay.overlay",
    "UnsupportedError": "errors",
    "ValueRow": "files.values.row",
    "ValueTable": "files.values.table",
    "average": "api",
    "check": "api",
    "check_load_model": "api",
    "compare": "api",
    "diff": "api",
    "exercise": "entrances.jupyter.exercise",
    "fix": "api",
    "graph": "api",
    "history": "api",
    "merged": "api",
    "show": "entrances.jupyter.widget",
    "snapshot": "api",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # here, because this takes 30 ms

        return version("ckpt-viz")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"ckpt_viz.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Answer `%load_ext ckpt_viz`: show check and fix below the traceback of a failed restore."""
    from ckpt_viz.entrances.jupyter.failed_restores import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Answer `%unload_ext ckpt_viz`."""
    from ckpt_viz.entrances.jupyter.failed_restores import unload

    unload()


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "ckpt_viz.entrances.server.extension"}]
