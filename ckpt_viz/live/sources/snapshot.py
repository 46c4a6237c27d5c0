"""A snapshot: the values of live objects in memory, to compare with, and to put back."""

from __future__ import annotations

import os
import warnings
from types import TracebackType
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.files.values.report import Left, Restored
from ckpt_viz.graphs.render.text import printable
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.interrupts import Interrupts
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.sources.pictured import ObjectGraph
from ckpt_viz.live.state.eager_values import EagerValues, as_source
from ckpt_viz.live.state.session_values import SessionValues, TakenInSession
from ckpt_viz.live.state.taken_values import Taken
from ckpt_viz.live.writing.rewrite import write_edited


class Snapshot:
    """The values of live objects at one moment, held in memory; `ckpt_viz.snapshot` makes one.

    >>> with cv.snapshot(ckpt) as before:  # puts the values back if the block raises
    ...     before.nbytes
    152
    >>> before.write("before/ckpt")  # a checkpoint of these values
    'before/ckpt'

    It is a source like a saved checkpoint: for `graph`, `show`, `diff`, `check`, `history` and
    `compare`. As a context manager it puts the values back if the block raises.
    """

    def __init__(self, live: object, session: Any = None, *, limit: int | None = None) -> None:
        self._of = _words(live)
        title = f"snapshot of {self._of}"
        self._limit = limit
        self._values: EagerValues | SessionValues = (
            EagerValues(as_source(live), title)
            if session is None
            else SessionValues(live, session, title)
        )
        self._taken: Taken | TakenInSession = gc_paused(lambda: self._values.take(limit))

    def take(self) -> Snapshot:
        """Copy the values as they are now in place of the held ones, and return this snapshot.

        If that raises, it keeps the values that it had.
        """
        self._taken = gc_paused(lambda: self._values.take(self._limit))
        return self

    def restore(self) -> Restored:
        """Put all values back in place, as `Checkpoint.read` would from a file.

        You may call it any number of times. It checks everything first, and then assigns. An object
        that refuses its value does not keep the others from theirs.

        Returns:
            A Restored. Its `left` names what has not its value back, with reasons: an object that
            was made after the snapshot, such as an optimizer's slot variable, one that the program
            has dropped, and one in whose place is another with a different shape or dtype.

        Raises:
            SourceError: This runs inside a `tf.function`, or in a graph without a session.
        """
        taken: Any = self._taken  # of the same kind as the values
        return gc_paused(lambda: self._values.put_back(taken))

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write the held values to a new checkpoint, and return its prefix.

        It is the one that `Checkpoint.write` would have written at the time of the snapshot. That
        of a session has names and no objects, as a `Saver` writes it.

        Raises:
            UnsupportedError: The snapshot lacks a value: it is in `left`, is an iterator's, or a
                registered saver wrote it. No file remains.
            CkptVizError: A file of the prefix exists or cannot be written.
        """
        missing = self._taken.missing
        if missing:
            raise UnsupportedError(f"{self._values.title}: has no value of {missing[0]}")
        path = os.fspath(prefix)
        write_edited(self._taken.graph, path)
        if self._taken.unwritten:
            warnings.warn(
                f"{self._values.title}: {path} lacks the trained values of "
                f"{listed(self._taken.unwritten)}, which TensorFlow does not follow; the snapshot "
                "holds them. Pass them along: Checkpoint(model, blocks=list(model.blocks))",
                RuntimeWarning,
                stacklevel=2,
            )
        return path

    @property
    def graph(self) -> ObjectGraph:
        """The object graph at the time of the snapshot; `graph.read` reads from memory."""
        return ObjectGraph.of(self._taken.graph)

    @property
    def nbytes(self) -> int:
        """The bytes that the values take, strings by their characters."""
        return self._taken.nbytes

    @property
    def left(self) -> tuple[Left, ...]:
        """What the snapshot does not hold, with reasons: an iterator that cannot be saved."""
        return self._taken.left

    @property
    def untracked(self) -> tuple[str, ...]:
        """The names of held values that TensorFlow does not follow, such as layers in a list.

        `restore` puts them back. The graph and a file do not have them, as with `Checkpoint.write`.
        """
        return self._taken.untracked

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            return
        with Interrupts(held=True):  # a second Ctrl+C comes after the warning
            self.restore().warn_if_partial(self._values.title)

    def __repr__(self) -> str:
        graph = self._taken.graph
        values = count(sum(len(node.attributes) for node in graph.nodes), "value")
        more = f", {len(self.untracked)} untracked" if self.untracked else ""
        left = f", without {count(len(self.left), 'object')}: see .left" if self.left else ""
        return f"<Snapshot of {printable(self._of)}: {values}{more}, {self.nbytes:,} bytes{left}>"


def _words(live: object) -> str:
    if live is None:
        return "a session"
    if type(live) in (list, tuple, dict):
        return count(len(live), "variable")  # type: ignore[arg-type]
    return type(live).__name__
