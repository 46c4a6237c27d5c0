"""A graph as the checkpoint to restore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ckpt_viz.formats.bundles.entries import raised_for
from ckpt_viz.graphs.nodes.nodes import Node, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.read_failures import wrong_dtype, wrong_slice
from ckpt_viz.matching.engines.trace import Cause, Failure, Read

_DOUBLE_CHECK = (
    "\nPlease double-check that the path is correct. You may be missing the checkpoint suffix "
    "(e.g. the '-1' in 'path/to/ckpt-1')."
)


@dataclass
class SavedGraph:
    """The saved side of the matching engine.

    `path` is the given path if the call is `Checkpoint.restore`. That call wraps any "not found"
    error in a message of its own.
    """

    graph: Graph
    path: str | None = None
    _known: dict[str, Stored | None] = field(default_factory=dict, init=False)

    @property
    def nodes(self) -> Sequence[Node]:
        """Return the nodes by id."""
        return self.graph.nodes

    def stored(self, key: str) -> Stored | None:
        """Return the tensor that is stored under a key."""
        if key not in self._known:
            self._known[key] = self.graph.stored(key)
        return self._known[key]

    def missing(self, key: str) -> Failure:
        """Return what requesting a missing key raises."""
        message = not_found(self.path, f"Key {key} not found in checkpoint")
        return Failure(Cause.KEY_MISSING, "NotFoundError", message)

    def unread(self, key: str, stored: Stored) -> Failure | None:
        """Return what reading a value raises if its bytes are missing or damaged."""
        return unread(self.path, key, stored)


def unread(path: str | None, key: str, stored: Stored) -> Failure | None:
    """Return what reading a value raises if its bytes are missing or damaged.

    `path` as in SavedGraph.
    """
    if stored.error is None:
        fault = stored.fault
        return None if fault is None else Failure(Cause.DAMAGED, fault.raises, fault.why)
    message = f"{stored.error} (wanted for {key})"
    raised = raised_for(stored.error)
    text = not_found(path, message) if raised == "NotFoundError" else message
    return Failure(Cause.UNREADABLE, raised, text)


def misread(read: Read, stored: Stored) -> Failure | None:
    """Return what reading a tensor, or a slice of it, raises."""
    if read.dtype is not None and read.dtype != stored.dtype:
        return wrong_dtype(read, stored)
    if read.full_shape is not None and read.full_shape != stored.shape:
        return wrong_slice(read, stored)
    return unread(None, read.key, stored)


def not_found(path: str | None, message: str) -> str:
    """Return the text of a NotFoundError, as `Checkpoint.restore` words it for a path."""
    if path is None:
        return message
    return f"Error when restoring from checkpoint or SavedModel at {path}: {message}{_DOUBLE_CHECK}"
