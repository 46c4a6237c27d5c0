"""Values that wait for objects which the program's own code creates after the constructor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.harmless import is_harmless
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.code_reading import setter_of
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action, Step


@dataclass
class _Waiting:
    """What waits in one part of the program: saved nodes, the objects that lack them, by whom."""

    nodes: list[int] = field(default_factory=list)
    objects: dict[int, None] = field(default_factory=dict)
    methods: dict[str, None] = field(default_factory=dict)


def created_later(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved values whose objects a method of the program's own class creates later.

    TensorFlow restores them then. A file has no classes. Only the code of the live class tells a
    module that was not called yet from a module that has lost a variable.
    """
    parts = _by_part(case, explained)
    waiting = {node for part in parts for node in part.nodes}
    is_all = case.unresolved <= waiting and not case.unmatched and not case.trace.unused_attributes
    passes = "assert_consumed() depends on the other findings, too"
    if is_all:
        passes = "Then assert_consumed() passes"
    for part in parts:
        number = sum(node in case.unresolved for node in part.nodes)
        if not number:
            continue
        yield case.run.finding(
            Severity.DEFERRED,
            Kind.DEFERRED,
            f"{count(number, 'saved value')} {'waits' if number == 1 else 'wait'} until "
            f"{_creators(part.methods)} created {'its object' if number == 1 else 'their objects'}"
            f". {passes}.",
            "Call the module once, or run one training step, and check again.",
            nodes=part.nodes,
            objects=(_common_holder(case, list(part.objects)),),
        )


def _creators(methods: Iterable[str]) -> str:
    names = [f"{method}()" for method in methods]
    return f"{listed(names)} {'has' if len(names) == 1 else 'have'}"


def _by_part(case: Case, explained: Explained) -> list[_Waiting]:
    """Return what waits in each part of the program just below its root."""
    seen: set[int] = set()
    parts: dict[int, _Waiting] = {}
    for step in case.trace.steps_of(Action.DEFER):
        node = step.node
        if node is None or node in case.trace.bound or node in explained.nodes:
            continue
        place = None if is_harmless(case, node) else _creator(case, step)
        if place is None:
            continue
        obj, method = place
        part = parts.setdefault(_path(case, obj)[:2][-1], _Waiting())
        part.nodes += case.saved_side.waiting_below([node], seen)
        part.objects[obj] = None
        part.methods[method] = None
    return list(parts.values())


def _creator(case: Case, step: Step) -> tuple[int, str] | None:
    """Return the object whose own code may create what a step misses, and the method.

    Lists and dicts count for their holder. Keras' own rules say when its layers are built.
    """
    obj, name, is_container = step.obj, step.name, False
    if obj is None or not case.live_side.is_in_graph(obj):
        return None
    nodes, tree = case.live.nodes, case.live.tree
    while obj > ROOT and nodes[obj].role is Role.CONTAINER:
        obj, name, is_container = tree.parents[obj], tree.labels[obj], True
    holder = case.live_side.object(obj)
    if holder is None or facts.is_of_keras(holder):
        return None
    method = setter_of(holder, name, is_container=is_container)
    return None if method is None else (obj, method)


def _common_holder(case: Case, objects: Sequence[int]) -> int:
    """Return the nearest object, not a list or dict, that holds all of these."""
    paths = [_path(case, obj) for obj in objects]
    common: list[int] = [level[0] for level in zip(*paths, strict=False) if len(set(level)) == 1]
    nodes = case.live.nodes
    holders = [obj for obj in common if nodes[obj].role is not Role.CONTAINER]
    return holders[-1]


def _path(case: Case, obj: int) -> list[int]:
    """Return the objects from the root to an object, with both."""
    return [obj, *case.live.tree.above(obj)][::-1]
