"""The words and the code of a fix for what must be built before a restore."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects.facts import is_built_by_a_step, is_optimizer, trainable_variables_of


def build_first(
    live: Graph,
    number: int,
    objects: Sequence[int],
    building: Callable[[int], str],
    meaning: str = "",
) -> Iterator[str]:
    """Yield how many values stay in the file, and how to build the parts that they belong to.

    `meaning` says what the name in the code is, if that is not what it says.
    """
    if not number:
        return
    optimizers = [obj for obj in objects if is_optimizer(live.object(obj))]
    others = [obj for obj in objects if obj not in optimizers]
    whose = "the optimizer"
    if others:
        whose = listed([_called(live, obj) for obj in (*others, *optimizers)])
    are, them = ("they are", "them") if others and objects[1:] else ("it is", "it")
    stay = f"{count(number, 'value')} of {whose} {'stays' if number == 1 else 'stay'}"
    yield f"{stay} in the file: {are} not built. Build {them} first{meaning}:"
    for obj in (*others, *optimizers):  # an optimizer is built for variables
        yield f"  {building(obj)}"
    yield "Then check again, and fix again."


def _called(live: Graph, obj: int) -> str:
    return f"this {live.title}" if obj == ROOT else live.names.place(obj)


def building(live: Graph, obj: int, name: str) -> str:
    """Return the code that builds a part of the program, or in words what to do.

    `name` is the expression for the program.
    """
    held = live.object(obj)
    if is_optimizer(held):
        return "run one training step" if is_built_by_a_step(held) else _build(live, obj, name)
    with suppress(SourceError):  # no expression leads to it
        return f"call {expression_of(live, obj, name)} on data once"
    return "call it on data once"


def _build(live: Graph, obj: int, name: str) -> str:
    above = live.tree.above(obj)
    model = next((n for n in above if trainable_variables_of(live.object(n)) is not None), None)
    with suppress(SourceError):  # no expression leads to it
        optimizer = expression_of(live, obj, name)
        if model is not None:
            return f"{optimizer}.build({expression_of(live, model, name)}.trainable_variables)"
        return f"call {optimizer}.build() with the variables that it trains"
    return "call its build() with the variables that it trains"
