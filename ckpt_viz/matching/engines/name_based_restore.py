"""Restoring a name-based checkpoint: by the variables' names, one object after the other.

Follows `_NameBasedRestoreCoordinator` in tensorflow/python/checkpoint/checkpoint.py. It has no
nodes and defers nothing. It never reports names in the file that match no variable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.matching.engines.read_failures import fits, kernel_dtype
from ckpt_viz.matching.engines.saved_graph import unread
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Refusal, Step


class NamedRead(NamedTuple):
    """An object's read under one name; `keys` are the tensors, `shape` is the accepted shape.

    `refuses`, if any, returns what converting a value raises, before any other error.
    """

    name: str
    keys: tuple[str, ...]
    dtype: str | None
    shape: tuple[int | None, ...] | None
    refuses: Callable[[Stored], Failure | None] | None = None


class Named(NamedTuple):
    """The parts that an object would restore by name, and its attributes that have no name."""

    reads: tuple[NamedRead, ...]
    nameless: tuple[str, ...]


class NamedSide(Protocol):
    """The questions of a name-based restore to a live object. Both may raise Refusal."""

    def named(self, obj: int) -> Named:
        """Return what the object would restore by name."""

    def misfit(self, obj: int, stored: Stored, by_name: NamedRead) -> Failure:
        """Return what assigning a value of the wrong shape raises."""


@dataclass(frozen=True)
class NameTrace:
    """What a name-based restore would do.

    `bound` holds, for each tensor name, the objects that take its value. `unused` holds the names
    that an object reads and the file lacks. `not_restored` are objects that no restore reaches.
    `builds_graph` says that nothing is read before a session runs the graph.
    """

    steps: list[Step] = field(default_factory=list)
    bound: dict[str, list[int]] = field(default_factory=dict)
    unused: dict[int, tuple[str, ...]] = field(default_factory=dict)
    not_restored: tuple[int, ...] = ()
    builds_graph: bool = False

    def add(self, step: Step) -> None:
        """Add the step of a value that an object takes, or does not take."""
        self.steps.append(step)
        if step.obj is not None and step.failure is None:
            for key in step.names:
                self.bound.setdefault(key, []).append(step.obj)
        elif step.obj is not None and step.cause is Cause.KEY_MISSING:
            self.unused[step.obj] = (*self.unused.get(step.obj, ()), step.name)

    @property
    def raised(self) -> Failure | None:
        """What `restore` itself would raise; None if it returns."""
        return next((step.failure for step in self.steps if step.raises), None)


def match_names(
    stored: Callable[[str], Stored | None],
    live: NamedSide,
    objects: Sequence[int],
    path: str | None = None,
) -> NameTrace:
    """Return what restoring the file into these objects, in this order, would do.

    `path` is the path of a call that rewords "not found", as in SavedGraph.
    """
    trace = NameTrace()
    for obj in objects:
        try:
            named = live.named(obj)
        except Refusal as refusal:
            trace.steps.append(Step(Action.FAIL, None, obj, failure=refusal.failure))
            continue
        unused = list(named.nameless)
        for read in named.reads:
            tensors = [tensor for tensor in map(stored, read.keys) if tensor is not None]
            if len(tensors) < len(read.keys):
                unused.append(read.name)
                continue
            failure = _failure(read, tensors, live, obj, path)
            action = Action.RESTORE if failure is None else Action.FAIL
            trace.add(Step(action, None, obj, None, read.name, read.keys, failure))
        if unused:
            trace.unused[obj] = tuple(unused)
    return trace


def _failure(
    read: NamedRead, tensors: Sequence[Stored], live: NamedSide, obj: int, path: str | None
) -> Failure | None:
    for key, tensor in zip(read.keys, tensors, strict=True):
        failure = unread(path, key, tensor)
        if failure is not None:
            return failure
        refused = read.refuses(tensor) if read.refuses is not None else None
        if refused is not None:
            return refused
        if not fits(read.shape, tensor.shape):
            return live.misfit(obj, tensor, read)
        if read.dtype is not None and read.dtype != tensor.dtype:
            return _wrong_dtype(read, tensor)
    return None


def _wrong_dtype(read: NamedRead, stored: Stored) -> Failure:
    expected, actual = read.dtype or "", stored.dtype or ""
    return Failure(
        Cause.DTYPE,
        "InvalidArgumentError",
        "Trying to assign variable with wrong dtype. Expected "
        f"{kernel_dtype(expected)} got {kernel_dtype(actual)}",
        actual=actual,
        expected=expected,
    )
