"""The result of a remedy's code: `tf.train.Checkpoint` of live objects, under saved names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword

from ckpt_viz.errors import SourceError
from ckpt_viz.object_graph.graph import Graph


@dataclass(frozen=True)
class Variables:
    """All variables of a live Keras layer, in a list."""

    of: int


@dataclass(frozen=True)
class Skeleton:
    """A `tf.train.Checkpoint` that a program would create.

    `root` is the live object that it gets as its root, if any. `children` maps local names to live
    objects and checkpoints of the same kind.
    """

    root: int | None = None
    children: Mapping[str, int | Variables | Skeleton] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """A remedy with code that must be run dry before it is shown.

    The code makes the `skeleton` and restores it by `method`. `pairs` maps saved nodes to the live
    objects that it has to restore.
    """

    skeleton: Skeleton
    method: str
    pairs: Mapping[int, int]
    remedy: str


def skeleton_of(places: Mapping[tuple[str, ...], int]) -> Skeleton:
    """Return the checkpoint that has live objects at these paths.

    The object at the empty path is the root. No path leads through another object.
    """
    children: dict[str, int | Variables | Skeleton] = {}
    below: dict[str, dict[tuple[str, ...], int]] = {}
    for path, obj in places.items():
        if len(path) == 1:
            children[path[0]] = obj
        elif path:
            children.setdefault(path[0], Skeleton())  # keeps its place
            below.setdefault(path[0], {})[path[1:]] = obj
    children.update({name: skeleton_of(inner) for name, inner in below.items()})
    return Skeleton(places.get(()), children)


def to_code(skeleton: Skeleton, live: Graph, source: str = "live") -> str:
    """Return the Python expression that makes a checkpoint.

    In it, `source` is the expression for the checked object.
    """
    arguments = [] if skeleton.root is None else [expression_of(live, skeleton.root, source)]
    for name, child in skeleton.children.items():
        if isinstance(child, Skeleton):
            value = to_code(child, live, source)
        elif isinstance(child, Variables):
            value = f"{expression_of(live, child.of, source)}.variables"
        else:
            value = expression_of(live, child, source)
        arguments.append(_keyword(name, value))
    return f"tf.train.Checkpoint({', '.join(arguments)})"


def expression_of(live: Graph, obj: int, source: str = "live") -> str:
    """Return the expression for a live object; `source` is that for the checked object."""
    try:
        return live.accessor(obj, source)
    except SourceError:  # a file in place of the program
        return "".join((source, *(f".{name}" for name in live.path(obj))))


def _keyword(name: str, value: str) -> str:
    if name.isidentifier() and not iskeyword(name):
        return f"{name}={value}"
    return f"**{{{name!r}: {value}}}"
