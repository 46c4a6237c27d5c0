"""Two graphs that would fit if one were shifted, renamed or put elsewhere."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from ckpt_viz.matching.trace import Action
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Child, Node
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.subtrees import EMPTY, signatures, values_of
from ckpt_viz.restore_check.case import SAVE_COUNTER, Case, count, is_optimizer
from ckpt_viz.restore_check.finding import Finding, Kind

_INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")
_UNIQUIFIER = re.compile(r"_\d+(?=/|$)")
_MAX_CANDIDATES = 40
_MAX_DEPTH = 2


def root_shifted_or_unrelated(case: Case) -> Iterator[Finding]:
    """Find roots that stand on different levels, and checkpoints of something else altogether."""
    if not case.unresolved or not case.unmatched:
        return
    now = _counted(case)
    best: tuple[int, int, int] | None = None
    for node, obj in _candidates(case):
        then = _fits(case, node, obj)
        if then > now and (best is None or then > best[0]):
            best = (then, node, obj)
    values = _valued(case.live)
    if best is not None and 2 * best[0] >= min(values, _valued(case.saved)):
        then, node, obj = best
        yield case.finding(
            Severity.FAIL,
            Kind.ROOT_SHIFTED,
            f"The two roots stand on different levels: {case.saved.name(node)} of the checkpoint "
            f"fits {case.live.name(obj)} of the program, with {count(then, 'value')} instead of "
            f"{now}.",
            _shift_remedy(case, node, obj),
            nodes=(node,),
            objects=(obj,),
        )
    elif now == 0 and not _have_values_in_common(case):
        yield case.finding(
            Severity.FAIL,
            Kind.UNRELATED,
            "Nothing of the checkpoint fits the program: it seems to be of another model "
            f"altogether ({count(_valued(case.saved), 'value')} against {values}).",
            "Look at the checkpoint with ckpt_viz.show() and choose another path.",
            nodes=(ROOT,),
            objects=(ROOT,),
        )


def _shift_remedy(case: Case, node: int, obj: int) -> str:
    if obj == ROOT:
        names = case.saved.path(node)
        wrapped = "live"
        for name in reversed(names):
            keyword = name if name.isidentifier() else f"**{{{name!r}: …}}"
            wrapped = f"tf.train.Checkpoint({keyword}={wrapped})"
        return f"Restore with {wrapped}, where live is what was checked."
    expression = "".join(f".{name}" for name in case.live.path(obj))
    return f"Restore with tf.train.Checkpoint(live{expression}), where live is what was checked."


def _candidates(case: Case) -> Iterator[tuple[int, int]]:
    wanted = {child.local_name for child in case.live.nodes[ROOT].children}
    found = 0
    for node in _near_root(case.saved):
        if wanted & {child.local_name for child in case.saved.nodes[node].children}:
            found += 1
            yield node, ROOT
        if found >= _MAX_CANDIDATES:
            break
    had = {child.local_name for child in case.saved.nodes[ROOT].children}
    found = 0
    for obj in _near_root(case.live):
        if had & {child.local_name for child in case.live.nodes[obj].children}:
            found += 1
            yield ROOT, obj
        if found >= _MAX_CANDIDATES:
            break


def _near_root(graph: Graph) -> Iterator[int]:
    """Yield the nodes one or two levels below the root."""
    level, seen = [ROOT], {ROOT}
    for _ in range(_MAX_DEPTH):
        below = []
        for parent in level:
            for child in graph.nodes[parent].children:
                if child.node_id not in seen:
                    seen.add(child.node_id)
                    below.append(child.node_id)
        yield from below
        level = below


def _fits(case: Case, node: int, obj: int) -> int:
    """Return how many values fit, by local name, dtype and shape, below a pair of nodes."""
    pairs = {node: obj}
    queue = deque([(node, obj)])
    fitting = 0
    while queue:
        saved_id, live_id = queue.popleft()
        saved, live = case.saved.nodes[saved_id], case.live.nodes[live_id]
        if saved.attributes and values_of(saved) == values_of(live):
            fitting += 1
        for child in saved.children:
            other = case.live_child(live_id, child.local_name)
            if other is not None and child.node_id not in pairs:
                if live_id == ROOT and child.local_name == SAVE_COUNTER:
                    continue
                pairs[child.node_id] = other
                queue.append((child.node_id, other))
    return fitting


def _counted(case: Case) -> int:
    """Return how many saved values are restored, the `save_counter` left aside."""
    counters = {c.node_id for c in case.saved.nodes[ROOT].children if c.local_name == SAVE_COUNTER}
    return sum(bool(case.saved.nodes[n].attributes) for n in case.restored - counters)


def _valued(graph: Graph) -> int:
    counters = {c.node_id for c in graph.nodes[ROOT].children if c.local_name == SAVE_COUNTER}
    return sum(bool(n.attributes) and i not in counters for i, n in enumerate(graph.nodes))


def _have_values_in_common(case: Case) -> bool:
    saved, live = (_leaves(graph) for graph in (case.saved, case.live))
    return 5 * len(saved & live) >= min(len(saved), len(live))


def _leaves(graph: Graph) -> set[tuple[str, object]]:
    found = set()
    for node_id, (_, local_name) in graph.first_edges.items():
        node = graph.nodes[node_id]
        if node.attributes and local_name != SAVE_COUNTER:
            found.add((local_name, values_of(node)))
    return found


# --- sequences


def index_shifted(case: Case) -> Iterator[Finding]:
    """Find sequences into which something was inserted, or out of which something was taken."""
    told: set[tuple[int, int]] = set()
    both = Both(case)
    for node, obj in case.bound.items():
        live = case.live_node(obj)
        if live is None or (node, obj) in told or _is_told_elsewhere(case, node):
            continue
        for prefix, saved_items in _sequences(case.saved.nodes[node].children).items():
            live_items = _sequences(live.children).get(prefix, [])
            shift = _shift_between(both, saved_items, live_items)
            if shift is None:
                continue
            told.add((node, obj))
            place, more = shift
            yield _shifted(case, node, obj, prefix, place, more, saved_items, live_items)
            break


def _is_told_elsewhere(case: Case, node: int) -> bool:
    """Return whether a sequence is one of an optimizer's other lists: one finding is enough."""
    parent, label = case.saved.first_edges.get(node, (ROOT, ""))
    if not is_optimizer(case.saved.nodes[parent]):
        return False
    return parent in case.other_generation or label not in ("_variables", "_trainable_variables")


def _shifted(
    case: Case,
    node: int,
    obj: int,
    prefix: str,
    place: int,
    more: int,
    saved_items: Sequence[int],
    live_items: Sequence[int],
) -> Finding:
    what = f"has {count(abs(more), 'item')} {'more' if more > 0 else 'less'} at {prefix}{place}"
    return case.finding(
        Severity.FAIL,
        Kind.INDEX_SHIFTED,
        f"The program's sequence {what} than the checkpoint's; from there on every item meets "
        "its neighbour's values.",
        "Restore into the sequence as it was saved, and insert or remove the item afterwards; or "
        "name the items by attributes.",
        nodes=(node, *saved_items[place:]),
        objects=(obj, *live_items[place:]),
    )


def _sequences(children: Iterable[Child]) -> dict[str, list[int]]:
    """Return the children that are numbered without a gap, by what stands before the number."""
    found: dict[str, dict[int, int]] = {}
    for child in children:
        match = _INDEX.fullmatch(child.local_name)
        if match is not None:
            found.setdefault(match[1], {})[int(match[2])] = child.node_id
    return {
        prefix: [items[i] for i in range(len(items))]
        for prefix, items in found.items()
        if len(items) > 1 and max(items) == len(items) - 1
    }


def _shift_between(both: Both, saved: Sequence[int], live: Sequence[int]) -> tuple[int, int] | None:
    """Return where the live sequence has how many items more (or less), if that explains all."""
    if not live or len(saved) == len(live):
        return None
    for look in (both.by_shape, both.by_name):
        a = [look()[node] for node in saved]
        b = [look()[both.offset + obj] for obj in live]
        shorter = min(len(a), len(b))
        head = _common(a, b)
        tail = _common(a[::-1], b[::-1])
        if None in a[head:] or None in b[head:] or set(a) == {EMPTY}:
            return None
        if head < shorter and head + tail >= shorter:
            return head, len(b) - len(a)
    return None


def _common(a: Sequence[object], b: Sequence[object]) -> int:
    for i, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return i
    return min(len(a), len(b))


class Both:
    """The nodes of both sides, with the signatures of their subtrees."""

    def __init__(self, case: Case) -> None:
        self.offset = len(case.saved.nodes)
        self._nodes = (*case.saved.nodes, *_moved_up(case.live.nodes, self.offset))
        self.by_shape = cache(lambda: signatures(self._nodes, values_of))
        self.by_name = cache(lambda: signatures(self._nodes, _names_and_values))


def _moved_up(nodes: Sequence[Node], offset: int) -> list[Node]:
    return [
        Node(
            children=tuple(Child(c.local_name, c.node_id + offset) for c in node.children),
            attributes=node.attributes,
            registered_saver=node.registered_saver,
        )
        for node in nodes
    ]


def _names_and_values(node: Node) -> object:
    names = tuple(_UNIQUIFIER.sub("", a.full_name) for a in node.attributes)
    return names, values_of(node)


# --- names


def renamed(case: Case) -> Iterator[Finding]:
    """Find children that have another local name on each side, and nothing else is like them."""
    waiting: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for step in case.steps(Action.DEFER):
        if step.node is None or step.obj is None or step.parent is None or step.node in case.bound:
            continue
        if step.parent in case.other_generation:
            continue
        if case.is_live_node(step.obj) and not _INDEX.fullmatch(step.name):
            waiting.setdefault((step.parent, step.obj), []).append((step.name, step.node))
    if not waiting or not case.unmatched:
        return
    both = Both(case)
    for (parent, obj), children in waiting.items():
        saved_names = {child.local_name for child in case.saved.nodes[parent].children}
        free = [
            (child.local_name, child.node_id)
            for child in case.live.nodes[obj].children
            if child.local_name not in saved_names
            and child.node_id not in case.holders
            and not _INDEX.fullmatch(child.local_name)
        ]
        yield from _unambiguous(case, both, children, free)


def _unambiguous(
    case: Case,
    both: Both,
    saved: Sequence[tuple[str, int]],
    live: Sequence[tuple[str, int]],
) -> Iterator[Finding]:
    looks = both.by_shape()
    for name, node in saved:
        look = looks[node]
        same = [one for one in saved if looks[one[1]] == look and one[1] != node]
        other = [one for one in live if looks[both.offset + one[1]] == look]
        if look in (None, EMPTY) or same or len(other) != 1 or name == SAVE_COUNTER:
            continue
        new_name, obj = other[0]
        yield case.finding(
            Severity.FAIL,
            Kind.RENAMED,
            f"What was saved as {name!r} seems to be {new_name!r} now: the same values below, "
            "and nothing else here that it could be.",
            f"Name it {name!r} again, or set both names to the object while restoring.",
            nodes=(node,),
            objects=(obj,),
        )
