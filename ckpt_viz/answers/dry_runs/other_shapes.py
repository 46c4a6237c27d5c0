"""Variables of a TensorFlow 1 graph that take a saved value of another shape without an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.ground.text import shape_words
from ckpt_viz.matching.engines.read_failures import fits
from ckpt_viz.matching.engines.trace import Action


class OtherShape(NamedTuple):
    """A variable, the shapes of both sides in words, and where its value comes from.

    `node` is None and `name` the name in the file for a restore by names.
    """

    obj: int
    saved: str
    live: str
    node: int | None = None
    name: str | None = None


def other_shapes(outcome: Outcome) -> Iterator[OtherShape]:
    """Yield the variables that a restore gives a value of another shape, without an error."""
    yield from _by_names(outcome)
    yield from _by_objects(outcome)


def _by_names(outcome: Outcome) -> Iterator[OtherShape]:
    if outcome.by_names is None or outcome.reshapes:
        return
    nodes, tensors = outcome.names.graph.nodes, outcome.tensors
    for name, objects in outcome.by_names.bound.items():
        for obj in objects if name in tensors else ():
            attributes = nodes[obj].attributes if obj < len(nodes) else ()
            own = [each for each in attributes if each.full_name == name] or attributes
            shape, saved = own[0].shape if own else None, tensors[name].shape
            if not fits(shape, saved):
                yield OtherShape(obj, shape_words(saved), shape_words(shape), name=name)


def _by_objects(outcome: Outcome) -> Iterator[OtherShape]:
    trace, saved = outcome.by_objects, outcome.saved
    if trace is None or saved is None or not trace.builds_graph:
        return
    nodes = outcome.names.graph.nodes
    for node, obj, step in trace.joining(Action.RESTORE):
        if len(step.names) != 1:
            continue
        attributes = nodes[obj].attributes if obj < len(nodes) else ()
        shape = attributes[0].shape if len(attributes) == 1 else None
        stored = saved.stored(step.names[0])
        if stored is not None and not fits(shape, stored.shape):
            yield OtherShape(obj, shape_words(stored.shape), shape_words(shape), node)
