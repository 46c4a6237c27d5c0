"""Parts that would fit if they were renamed, or had another place in a sequence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ckpt_viz.matching.trace import Action
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Child, Node
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.subtrees import EMPTY, values_of
from ckpt_viz.restore_check.case import Alike, Case, child_names, is_optimizer, subtree
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.restore_check.twins import belonging, left_alike
from ckpt_viz.words import count

_INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")


# --- sequences


def index_shifted(case: Case, told: Told) -> Iterator[Finding]:
    """Find sequences into which something was inserted, or out of which something was taken."""
    covered: set[int] = set()
    nodes = case.saved.nodes
    for node, obj in case.bound.items():
        saved = nodes[node]
        live = case.live_node(obj) if saved.children else None
        if live is None or _have_same_names(saved, live):
            continue
        if node in covered or node in told.nodes or _is_of_state(case, node, obj):
            continue
        of_saved = _sequences(saved.children)
        of_live = _sequences(live.children) if of_saved else {}
        for prefix, saved_items in of_saved.items():
            live_items = of_live.get(prefix, [])
            shift = _shift_between(case, saved_items, live_items)
            if shift is None or not _matters(case, saved_items, live_items, shift[0]):
                continue
            found = _shifted(case, node, obj, prefix, *shift, saved_items, live_items)
            covered.update(found.nodes)
            yield found
            break


def _have_same_names(saved: Node, live: Node) -> bool:
    names = [child.local_name for child in saved.children]
    return names == [child.local_name for child in live.children]


def _is_of_state(case: Case, node: int, obj: int) -> bool:
    """Return whether a sequence is one of an optimizer's lists that follow from others.

    Its list of all variables tells, and that only where it is built of the same variables:
    otherwise they are `cross_wired`.
    """
    optimizer, label = case.saved.first_edges.get(node, (ROOT, ""))
    if not is_optimizer(case.saved.nodes[optimizer]):
        return False
    live = case.bound.get(optimizer)
    if live is None or optimizer in case.other_generation or label != "_variables":
        return True
    return _trained(case.saved, optimizer) != _trained(case.live, live)


def _trained(graph: Graph, optimizer: int) -> int:
    """Return the number of variables that an optimizer is built of."""
    lists = [c for c in graph.nodes[optimizer].children if c.local_name == "_trainable_variables"]
    return len(graph.nodes[lists[0].node_id].children) if lists else 0


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
    below = (low for item in saved_items[place:] for low in subtree(case.saved, item))
    live_below = (low for item in live_items[place:] for low in subtree(case.live, item))
    number = count(abs(more), "item")
    reason, remedy = _reason(case, node)
    return case.finding(
        Severity.FAIL,
        Kind.INDEX_SHIFTED,
        f"The program has {number} {'more' if more > 0 else 'fewer'} here than the checkpoint, "
        f"from {prefix}{place} on{reason}: every item after that meets its neighbour's values.",
        remedy,
        nodes=dict.fromkeys((node, *saved_items[place:], *below)),
        objects=dict.fromkeys((obj, *live_items[place:], *live_below)),
    )


def _reason(case: Case, node: int) -> tuple[str, str]:
    """Return why a sequence is shifted, if that is known, and what to do about it."""
    optimizer, _ = case.saved.first_edges.get(node, (ROOT, ""))
    live = case.bound.get(optimizer)
    if is_optimizer(case.saved.nodes[optimizer]) and live is not None:
        rates = [_RATES & child_names(*side) for side in _sides(case, optimizer, live)]
        if bool(rates[0]) != bool(rates[1]):
            return (
                " (a learning rate stands in this list, a schedule does not)",
                "Make the optimizer with the kind of learning rate that was saved, a number or a "
                "schedule.",
            )
    return "", (
        "Restore into the sequence as it was saved, and insert or remove the item afterwards; or "
        "name the items by attributes."
    )


_RATES = {"_learning_rate", "learning_rate"}


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


def _shift_between(case: Case, saved: Sequence[int], live: Sequence[int]) -> tuple[int, int] | None:
    """Return where the live sequence has how many items more (or less), if that explains all."""
    if not live or len(saved) == len(live):
        return None
    shorter = min(len(saved), len(live))
    for with_names in (False, True):
        a = [case.saved_look(node, with_names=with_names) for node in saved]
        b = [case.live_look(obj, with_names=with_names) for obj in live]
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


def _matters(case: Case, saved: Sequence[int], live: Sequence[int], place: int) -> bool:
    """Return whether an item with values goes by its index: others may have a second name."""
    return any(
        case.bound.get(node) == obj and case.saved_look(node) != EMPTY
        for node, obj in zip(saved[place:], live[place:], strict=False)
    )


# --- names


def renamed(case: Case, told: Told) -> Iterator[Finding]:
    """Find children that have another local name on each side, and nothing else is like them."""
    waiting: dict[tuple[int, int], dict[str, int]] = {}
    for step in case.steps(Action.DEFER):
        if step.node is None or step.obj is None or step.parent is None or step.node in case.bound:
            continue
        if step.node in told.nodes or step.name == SAVE_COUNTER:
            continue
        if case.is_live_node(step.obj) and not _INDEX.fullmatch(step.name):
            waiting.setdefault((step.parent, step.obj), {})[step.name] = step.node
    alike = _LeftAlike(case, told)
    seen: set[int] = set()
    seen_live: set[int] = set()
    for (parent, obj), children in waiting.items() if case.unmatched else ():
        saved_names = {child.local_name for child in case.saved.nodes[parent].children}
        free = {
            child.node_id: child.local_name
            for child in case.live.nodes[obj].children
            if child.local_name not in saved_names
            and child.node_id not in case.holders
            and child.node_id not in told.objects
            and not _INDEX.fullmatch(child.local_name)
        }
        for name, now in _renamed_to(case, children, free, alike).items():
            node = children[name]
            alone = len(alike.of(node).nodes) == len(alike.of(node).objects) == 1
            yield case.finding(
                Severity.FAIL,
                Kind.RENAMED,
                f"What was saved as {name!r} seems to be {free[now]!r} now: the same values below, "
                f"and {'nothing else here that it could be' if alone else _TOLD_BY_NAME}.",
                f"Name it {name!r} again, or set both names to the object while restoring.",
                nodes=dict.fromkeys((node, *case.unbound_below(node, seen))),
                objects=dict.fromkeys((now, *case.unheld_below(now, seen_live))),
            )


_TOLD_BY_NAME = "of all that it could be, this has the names that fit"


@dataclass
class _LeftAlike:
    """What is left on both sides that looks like a saved node, and which belong together."""

    case: Case
    told: Told
    _of_look: dict[int | None, Alike] = field(default_factory=dict)
    _pairs: dict[int | None, Mapping[int, int]] = field(default_factory=dict)

    def of(self, node: int) -> Alike:
        look = self.case.saved_look(node)
        if look not in self._of_look:
            self._of_look[look] = left_alike(self.case, self.told, look)
        return self._of_look[look]

    def pairs(self, node: int) -> Mapping[int, int]:
        """Return those that belong together, of all that look like the node."""
        look = self.case.saved_look(node)
        if look not in self._pairs:
            self._pairs[look] = belonging(self.case, *self.of(node))
        return self._pairs[look]


def _renamed_to(
    case: Case, children: Mapping[str, int], free: Mapping[int, str], alike: _LeftAlike
) -> dict[str, int]:
    """Return the object beside it that each saved child has become, where that is sure.

    Of equal ones, there or elsewhere, names tell: their own, or those of the variables below.
    """
    found: dict[str, int] = {}
    for name, node in children.items():
        nodes, objects = alike.of(node)
        is_alone = nodes == [node] and len(objects) == 1
        now = objects[0] if is_alone else alike.pairs(node).get(node)
        if now is not None and now in free:
            found[name] = now
    return found


def other_keras(case: Case, told: Told) -> Iterator[Finding]:
    """Find models that Keras 2 has saved and Keras 3 has built, or the other way round.

    They name their layers so differently that nothing of one is found in the other.
    """
    left, left_live = case.unresolved - told.nodes, case.unmatched - told.objects
    for node, obj in case.bound.items() if left and left_live else ():
        if not case.is_live_node(obj):
            continue
        was, now = (_version_of_keras(*side) for side in _sides(case, node, obj))
        if was is None or now is None or was == now:
            continue
        nodes = [n for n in subtree(case.saved, node) if n in left]
        objects = [o for o in subtree(case.live, obj) if o in left_live]
        saved = Counter(values_of(case.saved.nodes[n]) for n in nodes)
        if not nodes or saved != Counter(values_of(case.live.nodes[o]) for o in objects):
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.RENAMED,
            f"This model was saved by Keras {was}, and the program builds it with Keras {now}, "
            f"which has other local names for everything in it: the {count(len(nodes), 'value')} "
            "have the same shapes.",
            f"Restore it in a program with Keras {was}, and carry the values over with "
            "get_weights() and set_weights().",
            nodes=(node, *nodes),
            objects=(obj, *objects),
        )


def _sides(case: Case, node: int, obj: int) -> tuple[tuple[Graph, int], tuple[Graph, int]]:
    return (case.saved, node), (case.live, obj)


def _version_of_keras(graph: Graph, node: int) -> int | None:
    """Return the major version of Keras that names the layers of a Functional model so."""
    names = child_names(graph, node)
    if "layer_with_weights-0" in names:
        return 2
    return 3 if names & {"_functional", "_operations"} else None
