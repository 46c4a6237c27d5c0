"""Roots that stand on different levels, and checkpoints of something else altogether."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from heapq import nlargest
from itertools import chain
from keyword import iskeyword
from typing import NamedTuple

from ckpt_viz.errors import SourceError
from ckpt_viz.matching.trace import Action, Cause, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.subtrees import values_of
from ckpt_viz.restore_check.case import Case, child_names, is_optimizer
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.words import count

_MAX_NEAR = 40  # nodes near a root that may be its counterpart
_MAX_TRIED = 5  # pairs of them
_MAX_DEPTH = 2
_MAX_BESIDE = 20  # objects that a remedy lists beside the one that is shifted
_FITTING_PER_MISFIT = 10  # values that fit, for each that would not
_IN_COMMON = 0.2  # of the values, by shape: less, and two models have nothing to do


def root_shifted_or_unrelated(case: Case, told: Told) -> Iterator[Finding]:
    """Find roots that stand on different levels, and checkpoints of something else altogether."""
    if not case.unresolved or not case.unmatched:
        return
    now = _counted(case)
    best: _Shift | None = None
    candidates = _candidates(case)
    for node, obj in candidates:
        shift = _shift(case, node, obj, dict(reversed(candidates)))
        if shift is not None and shift.number > max(now, best.number if best else 0):
            best = shift
    if best is not None:
        yield _shifted_root(case, best, now)
    elif _is_unrelated(case):
        yield case.finding(
            Severity.FAIL,
            Kind.UNRELATED,
            "Nothing of the checkpoint fits the program: it seems to be of another model "
            f"altogether ({count(_valued(case.saved), 'value')} against {_valued(case.live)}).",
            "Look at the checkpoint with ckpt_viz.show() and choose another path.",
            nodes=(ROOT, *sorted(case.unresolved)),
            objects=(ROOT, *sorted(case.unmatched)),
        )


class _Shift(NamedTuple):
    """A saved node and the live object that it fits, with the values that fit below them.

    `beside` is what matches already and can stay: for each level above the node, live objects by
    local name. `number` is that of all values that fit then.
    """

    node: int
    obj: int
    pairs: Mapping[int, int]
    beside: Sequence[Mapping[str, int]]
    number: int


def _shifted_root(case: Case, shift: _Shift, now: int) -> Finding:
    node, obj, pairs = shift.node, shift.obj, shift.pairs
    return case.finding(
        Severity.FAIL,
        Kind.ROOT_SHIFTED,
        f"The two sides stand on different levels: {case.saved.name(node)} of the checkpoint "
        f"fits {case.live.name(obj)} of the program, with {count(shift.number, 'value')} instead "
        f"of {now}.",
        _shift_remedy(case, shift),
        nodes=dict.fromkeys((node, *pairs)),
        objects=dict.fromkeys((obj, *pairs.values())),
    )


def _shift_remedy(case: Case, shift: _Shift) -> str:
    """Return what to call: the live object, wrapped as deep as the saved one lies.

    On every level, what matches already stands beside it.
    """
    expression = _expression(case, shift.obj)
    names = case.saved.path(shift.node)
    for name, beside in zip(reversed(names or ("",)), reversed(shift.beside), strict=True):
        arguments = [_keyword(key, _expression(case, obj)) for key, obj in beside.items()]
        if name:
            arguments.append(_keyword(name, expression))
        else:
            arguments.insert(0, expression)
        expression = f"tf.train.Checkpoint({', '.join(arguments)})"
    call = "restore" if case.saved.save_counter is not None else "read"
    return f"Call {expression}.{call}(path), where live is what was checked."


def _keyword(name: str, expression: str) -> str:
    if name.isidentifier() and not iskeyword(name):
        return f"{name}={expression}"
    return f"**{{{name!r}: {expression}}}"


def _expression(case: Case, obj: int) -> str:
    try:
        return case.live.accessor(obj, "live")
    except SourceError:  # a file in place of the program
        return "".join(("live", *(f".{name}" for name in case.live.path(obj))))


def _candidates(case: Case) -> Sequence[tuple[int, int]]:
    """Return pairs of nodes near the two roots, on different levels, that have most to gain.

    That is what is not restored now, below both. Between equals, the names below and above
    decide.
    """
    filled = {case.bound[node] for node in case.restored}
    saved, live = _near_root(case.saved, case.restored), _near_root(case.live, filled)
    names_of_live = {obj: child_names(case.live, obj) for obj in live}
    scored = []
    for node, (level, missing) in saved.items():
        names, path = child_names(case.saved, node), set(case.saved.path(node))
        for obj, (live_level, live_missing) in live.items():
            if level != live_level and (common := len(names & names_of_live[obj])):
                share = common / max(len(names), len(names_of_live[obj]))
                gain = min(missing, live_missing)
                way = len(path.intersection(case.live.path(obj)))
                scored.append((-gain, -share, -way, level + live_level, node, obj))
    return [(node, obj) for *_, node, obj in sorted(scored)[:_MAX_TRIED]]


def _near_root(graph: Graph, done: Set[int]) -> dict[int, tuple[int, int]]:
    """Return nodes near the root: their levels, and how many values below them are not done.

    Of many, those below which most is not.
    """
    below = [0] * len(graph.nodes)
    for node_id, node in enumerate(graph.nodes):
        if node.attributes and node_id not in done and node_id != graph.save_counter:
            optimizer = node.slot.optimizer if node.slot is not None else None
            below[node_id if optimizer is None else optimizer] += 1
    for node_id in reversed(tuple(graph.tree.preorder())):
        if node_id != ROOT:
            below[graph.tree.parents[node_id]] += below[node_id]
    levels = {ROOT: 0}
    for node_id, (parent, _) in graph.first_edges.items():
        if parent in levels and levels[parent] < _MAX_DEPTH:
            levels[node_id] = levels[parent] + 1
    nearest = nlargest(_MAX_NEAR, levels, key=below.__getitem__)
    return {node_id: (levels[node_id], below[node_id]) for node_id in nearest if below[node_id]}


def _shift(case: Case, node: int, obj: int, others: Mapping[int, int]) -> _Shift | None:
    """Return what fits if a saved node goes into an object; None where too little does.

    `others` are objects for what stands beside it and is shifted, too.
    """
    own = _walk(case, node, obj, {}, set())
    pairs, misfits = _fitting(case, own)
    siblings = _siblings(case, node, obj)
    too_many = sum(map(len, siblings)) > _MAX_BESIDE
    if not pairs or misfits * _FITTING_PER_MISFIT > len(pairs) or too_many:
        return None
    beside, stays, moved = _beside(case, node, own, siblings, others)
    own.update(moved)
    own.update(dict(_slots(case, own, {**stays, **own})))
    pairs, _ = _fitting(case, own)
    number = len(pairs.keys() | _fitting(case, stays)[0].keys())
    # What an optimizer is wrapped in shifts all of its state, however much there is besides.
    most = number if is_optimizer(case.saved.nodes[node]) else len(pairs)
    if 2 * most < min(_valued(case.live), _valued(case.saved)):
        return None
    return _Shift(node, obj, pairs, beside, number)


def _beside(
    case: Case,
    node: int,
    own: Mapping[int, int],
    siblings: Sequence[Mapping[int, tuple[str, int]]],
    others: Mapping[int, int],
) -> tuple[Sequence[Mapping[str, int]], dict[int, int], dict[int, int]]:
    """Return what can stand beside a shifted node, by level and local name.

    Then what is bound below, in its place and where it is shifted, too.
    """
    beside: list[dict[str, int]] = []
    stays: dict[int, int] = {}
    moved: dict[int, int] = {}
    # A restore meets the siblings themselves first, whatever else leads to them.
    bound = dict.fromkeys((*_above(case.saved, node), *chain(*siblings), node), own[node])
    taken = {own[node]}
    for level in siblings:
        beside.append({})
        for child, (name, place) in level.items():
            places = {place, others.get(child, place)}.difference(own.values())
            walks = [_walk(case, child, one, bound, taken) for one in sorted(places)]
            new = max(walks, key=lambda walk: _surplus(case, walk), default={})
            if _surplus(case, new) > 0:
                beside[-1][name] = new[child]
                (stays if new[child] == place else moved).update(new)
                bound.update(new)
                taken.update(new.values())
    return beside, stays, moved


def _walk(
    case: Case, node: int, obj: int, bound: Mapping[int, int], taken: Set[int]
) -> dict[int, int]:
    """Return what is bound below a pair of nodes, by local name, and was not before."""
    new = {node: obj}
    new_taken = {obj}
    queue = deque([(node, obj)])
    while queue:
        saved_id, live_id = queue.popleft()
        for child in case.saved.nodes[saved_id].children:
            other = case.live_child(live_id, child.local_name)
            if other is None or child.node_id in bound or child.node_id in new:
                continue
            if other not in taken and other not in new_taken and child.local_name != SAVE_COUNTER:
                new[child.node_id] = other
                new_taken.add(other)
                queue.append((child.node_id, other))
    return new


def _slots(
    case: Case, optimizers: Mapping[int, int], bound: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the declared slot variables of these optimizers, by variable and name."""
    for node, obj in optimizers.items():
        live = {(s.variable, s.slot_name): s for s in case.live.nodes[obj].slot_variables}
        for slot in case.saved.nodes[node].slot_variables:
            other = live.get((bound.get(slot.variable, -1), slot.slot_name))
            if other is not None:
                yield slot.slot_variable, other.slot_variable


def _fitting(case: Case, pairs: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Return the values that fit, by dtype and shape, and how many do not."""
    fitting = {}
    misfits = 0
    for node, obj in pairs.items():
        saved, live = case.saved.nodes[node], case.live.nodes[obj]
        if saved.attributes and values_of(saved) == values_of(live):
            fitting[node] = obj
        elif saved.attributes or live.attributes:
            misfits += 1
    return fitting, misfits


def _surplus(case: Case, pairs: Mapping[int, int]) -> int:
    fitting, misfits = _fitting(case, pairs)
    return len(fitting) - misfits


def _above(graph: Graph, node: int) -> list[int]:
    """Return the nodes on the way from the root to a node."""
    found: list[int] = []
    while node != ROOT:
        node = graph.tree.parents[node]
        found.append(node)
    return found[::-1]


def _siblings(case: Case, node: int, obj: int) -> Sequence[Mapping[int, tuple[str, int]]]:
    """Return, for each level above a saved node, what stands beside and has its place already.

    That is by saved node the local name and the live object. Beside the root, it is what the
    root's object lacks.
    """
    names = case.saved.path(node)
    levels = [_in_place(case, parent) for parent in _above(case.saved, node)]
    if node == ROOT:
        names, levels = ("",), [_in_place(case, ROOT)]
    return [
        {
            child: (name, place)
            for child, (name, place) in level.items()
            if name != shifted and (node != ROOT or case.live_child(obj, name) is None)
        }
        for shifted, level in zip(names, levels, strict=True)
    ]


def _in_place(case: Case, parent: int) -> dict[int, tuple[str, int]]:
    """Return the children of a saved node that have values, and are bound by their local name."""
    found: dict[int, tuple[str, int]] = {}
    if (obj := case.bound.get(parent)) is None:
        return found
    for child in case.saved.nodes[parent].children:
        place = case.bound.get(child.node_id)
        if (
            place is not None
            and place == case.live_child(obj, child.local_name)
            and child.local_name != SAVE_COUNTER
            and case.valued_saved[child.node_id]
        ):
            found.setdefault(child.node_id, (child.local_name, place))
    return found


def _counted(case: Case) -> int:
    """Return how many saved values are restored, the `save_counter` left aside."""
    restored = case.restored - {case.saved.save_counter}
    return sum(bool(case.saved.nodes[node].attributes) for node in restored)


def _valued(graph: Graph) -> int:
    return sum(_specs(graph).values())


def _specs(graph: Graph) -> Counter[object]:
    """Return how many values of each shape there are, the `save_counter` left aside."""
    return Counter(
        tuple((attribute.name, attribute.shape) for attribute in node.attributes)
        for node_id, node in enumerate(graph.nodes)
        if node.attributes and node_id != graph.save_counter
    )


def _is_unrelated(case: Case) -> bool:
    """Return whether the two sides have next to nothing in common, scalars left aside.

    Counters, rates and powers are in every checkpoint. What meets by name is common though its
    dtype or shape keeps it from being restored.
    """
    saved, live = _tensors(_specs(case.saved)), _tensors(_specs(case.live))
    common = max((saved & live).total(), sum(_is_refused(step) for step in case.steps(Action.FAIL)))
    fitting = any(
        attribute.shape for node in case.restored for attribute in case.saved.nodes[node].attributes
    )
    return not fitting and common < _IN_COMMON * min(saved.total(), live.total())


def _is_refused(step: Step) -> bool:
    return step.failure is not None and step.failure.cause in (Cause.DTYPE, Cause.SHAPE)


def _tensors(specs: Counter[object]) -> Counter[object]:
    """Return the values that are no scalars; all, where there are no others."""
    tensors = Counter({spec: number for spec, number in specs.items() if _has_dimensions(spec)})
    return tensors or specs


def _has_dimensions(spec: object) -> bool:
    return any(shape != () for _, shape in spec)  # type: ignore[attr-defined]
