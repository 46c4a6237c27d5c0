"""Which checkpoints a history has, and in which order they were saved."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, SourceError
from ckpt_viz.files.saved.file_types import without_ending_of_keras
from ckpt_viz.files.saved.listing import are_numbered_alike, by_number, prefixes_in
from ckpt_viz.files.saved.locate import checkpoints_at
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.formats.storage.files import again_if_gone, is_directory, is_remote, join, split
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Kept
from ckpt_viz.ground.text import count
from ckpt_viz.live.sources.any_source import graph_of
from ckpt_viz.live.sources.pictured import ObjectGraph

MOST = 1_000
"""The most checkpoints of a history, unless the caller asks for more."""
_WILD = re.compile(r"[*?[]")
_NUMBER = re.compile(r"\d+")
# Names of the variable that counts steps, the surest first.
_STEPS = ("global_step", "step", "steps", "iterations", "_iterations", "iteration", "iter")


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint of a history.

    `title` is its name without what all of them share. `step` is the value of its step variable and
    `counter` that of its `save_counter`; `saved_at` is the time in the `checkpoint` file, in UTC.
    Each is None if there is none. `graph` is None if it cannot be opened; `error` then says why.
    """

    title: str
    path: str
    graph: ObjectGraph | None
    step: int | None = None
    counter: int | None = None
    saved_at: datetime | None = None
    error: str | None = None

    def opened(self) -> ObjectGraph:
        """Return the graph; raises SourceError if it could not be opened."""
        if self.graph is None:
            raise SourceError(f"{self.title}: it could not be opened: {self.error}")
        return self.graph

    @property
    def number(self) -> int | None:
        """The last number in the name, before what the format adds: `-?????-of-00002`, `.h5`."""
        name = without_ending_of_keras(self.title.partition("-?????-of-")[0])
        numbers = _NUMBER.findall(name)
        return int(numbers[-1]) if numbers and len(numbers[-1]) < 20 else None


@dataclass(frozen=True)
class Ordered:
    """Checkpoints in the order of time; `order` says in a sentence what tells it.

    `left_out` counts those of the source that are not among them.
    """

    checkpoints: tuple[Checkpoint, ...]
    order: str
    left_out: int = 0


_BY_STEP = "by the step variable"
# What tells the order, in words, and how to read it; the most trusted first.
_ORDERS: Sequence[tuple[str, Callable[[Checkpoint], Any]]] = (
    ("by save_counter", lambda checkpoint: checkpoint.counter),
    (_BY_STEP, lambda checkpoint: checkpoint.step),
    ("by the time in the file `checkpoint`", lambda checkpoint: checkpoint.saved_at),
    ("by the number in the name", lambda checkpoint: checkpoint.number),
)


class Opening(NamedTuple):
    """How far the checkpoints of a source are opened: the last one, and how many there are."""

    checkpoint: Checkpoint
    opened: int
    total: int


OnOpened = Callable[[Opening], object]


def checkpoints_of(
    source: object,
    *,
    most: int = MOST,
    known: Mapping[str, Checkpoint] | None = None,
    on_opened: OnOpened | None = None,
) -> Ordered:
    """Return the checkpoints of a source in the order of time.

    Args:
        source: A directory, its `checkpoint` file, a glob, a `tf.train.CheckpointManager`, or
            several sources, each as `graph` takes it. Several ones keep their order.
        most: The most checkpoints to open; of more, some at equal distances.
        known: Opened checkpoints by prefix, not to be opened again.
        on_opened: Called after each checkpoint of a directory or pattern.

    Raises:
        CheckpointNotFoundError: There is no checkpoint.
        SourceError: There is no source, or `most` is less than 1.
    """
    if most < 1:
        raise SourceError(f"expected at least 1 checkpoint as `most`, found {most}")
    if isinstance(source, (list, tuple)):
        return _several(source, most)
    if isinstance(source, (str, os.PathLike)):
        return _saved(os.fspath(source), most, known or {}, on_opened)
    directory = getattr(source, "directory", None)
    if isinstance(directory, (str, os.PathLike)):  # a manager
        return _saved(os.fspath(directory), most, known or {}, on_opened)
    return _several([source], most)


def _several(sources: Sequence[object], most: int) -> Ordered:
    if not sources:
        raise SourceError("expected at least one checkpoint, found an empty list")
    chosen = _sample(sources, most)
    opened = [_opened(source, _name_of(source)) for source in chosen]
    return Ordered(_titled(opened), "in the order of the list", len(sources) - len(chosen))


def _saved(
    path: str, most: int, known: Mapping[str, Checkpoint], on_opened: OnOpened | None
) -> Ordered:
    chosen, left_out = kept_in(path, most)
    opened = []
    for entry in chosen:
        if not entry.exists:
            why = f"{entry.prefix}: the file `checkpoint` names it, but it is gone"
            checkpoint = Checkpoint(entry.prefix, entry.prefix, None, error=why)
        else:
            checkpoint = known.get(entry.prefix) or _opened(entry.prefix, entry.prefix)
        opened.append(replace(checkpoint, saved_at=entry.saved_at))
        if on_opened is not None:
            on_opened(Opening(checkpoint, len(opened), len(chosen)))
    order, checkpoints = _in_order(_titled(opened))
    return Ordered(checkpoints, order, left_out)


def kept_in(path: str, most: int) -> tuple[list[Kept], int]:
    """Return the checkpoints to open in a directory or of a pattern, and how many are left out.

    Opens none of them. Raises as `checkpoints_of`.
    """
    kept = _globbed(path) if _is_pattern(path) else again_if_gone(lambda: checkpoints_at(path))
    chosen = _sample(kept, most)
    return chosen, len(kept) - len(chosen)


def _is_pattern(path: str) -> bool:
    """Return whether a path is a pattern of names, and not that of a directory called `run[1]`."""
    return _WILD.search(path) is not None and not is_remote(path) and not is_directory(path)


def _globbed(path: str) -> Sequence[Kept]:
    """Return what fits a pattern of names: prefixes, indexes and Keras' files."""
    directory, pattern = split(path)
    if _WILD.search(directory):
        raise SourceError(f"{path}: expected a pattern in the last part of the path alone")
    try:
        names = prefixes_in(directory)
    except FileNotFoundError as error:
        raise CheckpointNotFoundError(f"{directory}: no such directory") from error
    prefixes = [*sorted(names.all, key=by_number), *names.of_keras]
    fitting = [
        prefix
        for prefix in prefixes
        if fnmatchcase(prefix, pattern) or fnmatchcase(prefix + INDEX, pattern)
    ]
    if not fitting:
        close = (
            f"; it has {count(len(prefixes), 'checkpoint')}, {prefixes[0]} first"
            if prefixes
            else ""
        )
        raise CheckpointNotFoundError(f"{path}: no checkpoint in {directory or '.'} fits{close}")
    return [Kept(join(directory, prefix), None, True) for prefix in fitting]


def unopened(kept: Sequence[Kept]) -> tuple[Checkpoint, ...]:
    """Return checkpoints under their titles, without graphs or errors."""
    return _titled(
        [Checkpoint(entry.prefix, entry.prefix, None, saved_at=entry.saved_at) for entry in kept]
    )


def _sample(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many items at equal distances, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[-1]]
    last = len(items) - 1
    return [items[round(i * last / (most - 1))] for i in range(most)]


def _name_of(source: object) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "title", type(source).__name__))


def _opened(source: object, name: str) -> Checkpoint:
    try:
        graph = graph_of(source)
    except CkptVizError as error:
        return Checkpoint(name, name, None, error=str(error))
    path = graph.provenance.prefix if graph.provenance is not None else graph.title
    counter = None if graph.save_counter is None else _scalar(graph, graph.save_counter)
    return Checkpoint(path, path, graph, _step_of(graph), counter)


def _step_of(graph: Graph) -> int | None:
    """Return the value of the variable that counts steps, None if none is called so."""
    places: dict[str, int] = {}
    depths: dict[int, int] = {ROOT: 0}
    for node in graph.tree.preorder():
        if node != ROOT:
            depths[node] = depths.get(graph.tree.parents[node], 0) + 1
        shapes = [(attribute.dtype, attribute.shape) for attribute in graph.nodes[node].attributes]
        if shapes not in ([("int64", ())], [("int32", ())]):
            continue
        name = graph.tree.labels[node]
        if graph.is_name_based:
            name = graph.nodes[node].attributes[0].checkpoint_key.rpartition("/")[2]
        if name in _STEPS and depths[node] < depths.get(places.get(name, -1), len(depths) + 1):
            places[name] = node
    counters = [places[name] for name in _STEPS if name in places]
    return _scalar(graph, counters[0]) if counters else None


def _scalar(graph: Graph, node: int) -> int | None:
    try:
        return int(graph.read(graph.nodes[node].attributes[0].checkpoint_key))
    except (CkptVizError, IndexError, TypeError, ValueError):
        return None


def _titled(checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
    """Return the checkpoints with short titles that differ."""
    names = [split(checkpoint.path)[1] or checkpoint.path for checkpoint in checkpoints]
    if len(set(names)) < len(names):
        names = _without_common([checkpoint.path for checkpoint in checkpoints])
    if len(set(names)) < len(names):
        names = [f"{i} {name}" for i, name in enumerate(names)]
    named = zip(checkpoints, names, strict=True)
    return tuple(replace(checkpoint, title=name) for checkpoint, name in named)


def _without_common(paths: Sequence[str]) -> list[str]:
    """Return the paths without the directories that all of them share."""
    parts = [path.split("/") for path in paths]
    shared = 0
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return ["/".join(names[shared:]) or path for names, path in zip(parts, paths, strict=True)]


def _in_order(checkpoints: Sequence[Checkpoint]) -> tuple[str, tuple[Checkpoint, ...]]:
    """Return what tells the order, and the checkpoints in it.

    What tells it is known of all that can be opened, and different. But names of several series
    have no common order: there, equal steps are enough. A checkpoint that cannot be opened comes
    after the one that the directory lists before it.
    """
    good = [checkpoint for checkpoint in checkpoints if checkpoint.graph is not None]
    names = [split(checkpoint.path)[1] for checkpoint in checkpoints]
    for words, key in _ORDERS if good else ():
        keys = [key(checkpoint) for checkpoint in good]
        is_order = len(set(keys)) == len(keys)
        if words == _BY_STEP and len(set(keys)) > 1:  # else no step is later than another
            is_order |= not are_numbered_alike(names)
        if is_order and None not in keys:
            return words, tuple(_with_bad(sorted(good, key=key), checkpoints))
    return "in the order of the directory: the checkpoints do not show theirs", tuple(checkpoints)


def _with_bad(good: Iterable[Checkpoint], listed: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    after: dict[str | None, list[Checkpoint]] = {}
    last: str | None = None
    for checkpoint in listed:
        if checkpoint.graph is None:
            after.setdefault(last, []).append(checkpoint)
        else:
            last = checkpoint.path
    yield from after.get(None, ())
    for checkpoint in good:
        yield checkpoint
        yield from after.get(checkpoint.path, ())
