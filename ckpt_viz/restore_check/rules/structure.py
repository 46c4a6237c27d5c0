"""Two graphs that would fit if one were shifted, renamed or put elsewhere."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ckpt_viz.errors import SourceError
from ckpt_viz.matching.trace import Action
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Child
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.subtrees import EMPTY, values_of
from ckpt_viz.restore_check.case import Case, is_optimizer, subtree
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.words import count

_INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")
_MAX_NEAR = 40  # nodes near a root that may be its counterpart
_MAX_TRIED = 5  # pairs of them
_MAX_DEPTH = 2
_FITTING_PER_MISFIT = 10  # values that fit, for each that would not
_IN_COMMON = 0.2  # of the values, by dtype and shape: less, and two models have nothing to do


def root_shifted_or_unrelated(case: Case, told: Told) -> Iterator[Finding]:
    """Find roots that stand on different levels, and checkpoints of something else altogether."""
    if not case.unresolved or not case.unmatched:
        return
    now = _counted(case)
    best: Mapping[int, int] = {}
    for node, obj in _candidates(case):
        pairs = _fitting(case, node, obj)
        if len(pairs) > max(now, len(best)):
            best = pairs
            top = (node, obj)
    if best and 2 * len(best) >= min(_valued(case.live), _valued(case.saved)):
        yield _shifted_root(case, *top, best, now)
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


def _shifted_root(case: Case, node: int, obj: int, pairs: Mapping[int, int], now: int) -> Finding:
    return case.finding(
        Severity.FAIL,
        Kind.ROOT_SHIFTED,
        f"The two roots stand on different levels: {case.saved.name(node)} of the checkpoint "
        f"fits {case.live.name(obj)} of the program, with {count(len(pairs), 'value')} instead of "
        f"{now}.",
        _shift_remedy(case, node, obj),
        nodes=dict.fromkeys((node, *pairs)),
        objects=dict.fromkeys((obj, *pairs.values())),
    )


def _shift_remedy(case: Case, node: int, obj: int) -> str:
    """Return what to call: the live object, wrapped as deep as the saved one lies."""
    expression = _expression(case, obj)
    names = case.saved.path(node)
    for name in reversed(names):
        keyword = f"{name}={expression}" if name.isidentifier() else f"**{{{name!r}: {expression}}}"
        expression = f"tf.train.Checkpoint({keyword})"
    if not names:
        expression = f"tf.train.Checkpoint({expression})"
    call = "restore" if case.saved.save_counter is not None else "read"
    return f"Call {expression}.{call}(path), where live is what was checked."


def _expression(case: Case, obj: int) -> str:
    try:
        return case.live.accessor(obj, "live")
    except SourceError:  # a file in place of the program
        return "".join(("live", *(f".{name}" for name in case.live.path(obj))))


def _candidates(case: Case) -> Sequence[tuple[int, int]]:
    """Return pairs of nodes near the two roots, on different levels, that have most in common."""
    saved, live = _near_root(case.saved), _near_root(case.live)
    names_of_live = {obj: _child_names(case.live, obj) for obj in live}
    scored = []
    for node, level in saved.items():
        names = _child_names(case.saved, node)
        for obj, live_level in live.items():
            common = len(names & names_of_live[obj])
            if level != live_level and common:
                share = common / max(len(names), len(names_of_live[obj]))
                scored.append((-share, level + live_level, node, obj))
    return [(node, obj) for *_, node, obj in sorted(scored)[:_MAX_TRIED]]


def _near_root(graph: Graph) -> dict[int, int]:
    """Return the root and the first nodes below it, with their levels."""
    levels = {ROOT: 0}
    for node_id, (parent, _) in islice(graph.first_edges.items(), _MAX_NEAR):
        if parent in levels and levels[parent] < _MAX_DEPTH:
            levels[node_id] = levels[parent] + 1
    return levels


def _child_names(graph: Graph, node_id: int) -> set[str]:
    return {child.local_name for child in graph.nodes[node_id].children} - {SAVE_COUNTER}


def _fitting(case: Case, node: int, obj: int) -> dict[int, int]:
    """Return the values that fit, by local name, dtype and shape, below a pair of nodes."""
    pairs = {node: obj}
    taken = {obj}
    queue = deque([(node, obj)])
    fitting = {}
    misfits = 0
    while queue:
        saved_id, live_id = queue.popleft()
        saved, live = case.saved.nodes[saved_id], case.live.nodes[live_id]
        if saved.attributes and values_of(saved) == values_of(live):
            fitting[saved_id] = live_id
        elif saved.attributes or live.attributes:
            misfits += 1
        for child in saved.children:
            other = case.live_child(live_id, child.local_name)
            if other is None or child.node_id in pairs or other in taken:
                continue
            if child.local_name != SAVE_COUNTER:
                pairs[child.node_id] = other
                taken.add(other)
                queue.append((child.node_id, other))
    return fitting if misfits * _FITTING_PER_MISFIT <= len(fitting) else {}


def _counted(case: Case) -> int:
    """Return how many saved values are restored, the `save_counter` left aside."""
    restored = case.restored - {case.saved.save_counter}
    return sum(bool(case.saved.nodes[node].attributes) for node in restored)


def _valued(graph: Graph) -> int:
    return sum(_specs(graph).values())


def _specs(graph: Graph) -> Counter[object]:
    """Return how many values of each dtype and shape there are, the `save_counter` left aside."""
    return Counter(
        values_of(node)
        for node_id, node in enumerate(graph.nodes)
        if node.attributes and node_id != graph.save_counter
    )


def _is_unrelated(case: Case) -> bool:
    """Return whether the two sides have next to nothing in common, scalars left aside.

    Counters, rates and powers are in every checkpoint.
    """
    saved, live = _tensors(_specs(case.saved)), _tensors(_specs(case.live))
    common = (saved & live).total()
    fitting = any(
        attribute.shape for node in case.restored for attribute in case.saved.nodes[node].attributes
    )
    return not fitting and common < _IN_COMMON * min(saved.total(), live.total())


def _tensors(specs: Counter[object]) -> Counter[object]:
    """Return the values that are no scalars; all, where there are no others."""
    tensors = Counter({spec: number for spec, number in specs.items() if _has_dimensions(spec)})
    return tensors or specs


def _has_dimensions(spec: object) -> bool:
    _, attributes = spec  # type: ignore[misc]
    return any(shape != () for _, _, shape in attributes)  # type: ignore[has-type]


# --- sequences


def index_shifted(case: Case, told: Told) -> Iterator[Finding]:
    """Find sequences into which something was inserted, or out of which something was taken."""
    covered: set[int] = set()
    for node, obj in case.bound.items():
        live = case.live_node(obj)
        if live is None or node in covered or node in told.nodes or _is_of_state(case, node, obj):
            continue
        of_saved = _sequences(case.saved.nodes[node].children)
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
        rates = [_RATES & _child_names(*side) for side in _sides(case, optimizer, live)]
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
    seen: set[int] = set()
    seen_live: set[int] = set()
    for (parent, obj), children in waiting.items() if case.unmatched else ():
        saved_names = {child.local_name for child in case.saved.nodes[parent].children}
        free = {
            child.local_name: child.node_id
            for child in case.live.nodes[obj].children
            if child.local_name not in saved_names
            and child.node_id not in case.holders
            and not _INDEX.fullmatch(child.local_name)
        }
        for name, new_name in _unambiguous(case, children, free).items():
            node, now = children[name], free[new_name]
            yield case.finding(
                Severity.FAIL,
                Kind.RENAMED,
                f"What was saved as {name!r} seems to be {new_name!r} now: the same values below, "
                "and nothing else here that it could be.",
                f"Name it {name!r} again, or set both names to the object while restoring.",
                nodes=dict.fromkeys((node, *case.unbound_below(node, seen))),
                objects=dict.fromkeys((now, *case.unheld_below(now, seen_live))),
            )


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
    names = _child_names(graph, node)
    if "layer_with_weights-0" in names:
        return 2
    return 3 if names & {"_functional", "_operations"} else None


def _unambiguous(case: Case, saved: Mapping[str, int], live: Mapping[str, int]) -> dict[str, str]:
    """Return the new name of each child that looks like just one other, with names if need be."""
    found: dict[str, str] = {}
    for with_names in (False, True):
        looks = {
            name: case.saved_look(node, with_names=with_names)
            for name, node in saved.items()
            if name not in found
        }
        others: dict[int | None, list[str]] = {}
        taken = set(found.values())
        for name, obj in live.items():
            if name not in taken:
                others.setdefault(case.live_look(obj, with_names=with_names), []).append(name)
        numbers = Counter(looks.values())
        for name, look in looks.items():
            like_it = others.get(look, ())
            if look not in (None, EMPTY) and numbers[look] == 1 and len(like_it) == 1:
                found[name] = like_it[0]
    return found
