"""Parts that would fit if they were renamed, or had another place in a sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.correspondence.sequences import sequences
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice
from ckpt_viz.object_graph.subtrees import EMPTY, values_of
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Explained, Finding, Kind
from ckpt_viz.restore_check.sides import child_names, is_optimizer, subtree
from ckpt_viz.text import count

# --- sequences


def index_shifted(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find sequences whose items have other indices than in the checkpoint.

    An item that still gets its value, by another path, is no problem.
    """
    if case.placement.is_all_right:
        return
    covered: set[int] = set()
    for node, objects in case.placement.counterparts.items():
        saved = case.saved.nodes[node]
        live = case.live.nodes[objects[0]]
        if not saved.children or node in covered or node in explained.nodes:
            continue
        if is_optimizer(case.saved.nodes[case.saved.first_edges.get(node, (ROOT, ""))[0]]):
            continue  # `cross_wired` tells of an optimizer's lists
        of_saved = sequences(saved.children)
        of_live = sequences(live.children) if of_saved else {}
        for prefix, items in of_saved.items():
            shift = _shift(case, node, objects[0], prefix, items, of_live.get(prefix, []))
            astray = _astray(case, shift) if shift is not None else []
            if shift is not None and astray:
                found = _shifted(case, shift, astray)
                covered.update(found.nodes)
                yield found
                break


@dataclass(frozen=True)
class _Shift:
    """A sequence of both sides, and the indices of the items that belong together."""

    node: int
    obj: int
    prefix: str
    saved: Sequence[int]
    live: Sequence[int]
    pairs: Sequence[tuple[int, int]]

    @property
    def place(self) -> int:
        """The first index at which the items differ."""
        return min(min(pair) for pair in self.pairs if pair[0] != pair[1])


def _shift(
    case: Case, node: int, obj: int, prefix: str, saved: Sequence[int], live: Sequence[int]
) -> _Shift | None:
    """Return how the items are shifted; None if matching items have the same index.

    `swapped` reports a mere exchange of items that look alike.
    """
    places = {item: j for j, item in reversed(list(enumerate(live)))}
    pairs = [
        (i, places[own[0]])
        for i, item in enumerate(saved)
        if (own := case.placement.counterparts.get(item)) and own[0] in places
    ]
    is_shifted = any(i != j for i, j in pairs)
    return _Shift(node, obj, prefix, saved, live, pairs) if is_shifted else None


def _astray(case: Case, shift: _Shift) -> list[int]:
    """Return the values in shifted items that their index leads astray.

    If the items are the same, in the same order, an optimizer may hold other variables:
    `cross_wired` reports that.
    """
    below = [
        node
        for i, j in shift.pairs
        if i != j
        for node in subtree(case.saved, shift.saved[i])
        if case.placement.is_astray(node) and not _follows(case, node, shift.saved[i])
    ]
    valued = [
        sum(look(item) != EMPTY for item in items)
        for look, items in (
            (case.signatures.of_saved, shift.saved),
            (case.signatures.of_live, shift.live),
        )
    ]
    targets = [j for _, j in shift.pairs]
    if valued[0] == valued[1] == len(targets) and targets == sorted(targets):
        return [node for node in below if case.placement.misleading_optimizer(node) is None]
    return below


def _follows(case: Case, node: int, item: int) -> bool:
    """Return whether a slot variable is below its variable, whose finding is enough."""
    return node != item and case.saved.nodes[node].slot is not None


def _shifted(case: Case, shift: _Shift, astray: Sequence[int]) -> Finding:
    place = shift.place
    in_place, filled = case.placement.in_place
    below = [low for item in shift.saved[place:] for low in subtree(case.saved, item)]
    live_below = [low for item in shift.live[place:] for low in subtree(case.live, item)]
    nodes = dict.fromkeys(n for n in (shift.node, *astray, *below) if n not in in_place)
    objects = dict.fromkeys(o for o in (shift.obj, *live_below) if o not in filled)
    return case.finding(
        case.severity(nodes, objects),
        Kind.INDEX_SHIFTED,
        f"{_difference(shift)}: {_goes_astray(case, astray)}.",
        Advice("Restore into the saved sequence of items, and insert or remove items afterwards."),
        nodes=nodes,
        objects=objects,
    )


def _difference(shift: _Shift) -> str:
    """Return how the two sequences differ."""
    more = len(shift.live) - len(shift.saved)
    there = f"From {shift.prefix}{shift.place} on"
    if not more:
        return f"{there}, items have other indices than saved"
    return f"{there}, the program has {count(abs(more), 'item')} {'more' if more > 0 else 'fewer'}"


def _goes_astray(case: Case, astray: Sequence[int]) -> str:
    """Return where the values go, with an example: preferably one that meets another object."""
    node = next((node for node in astray if node in case.trace.bound), astray[0])
    own, taken = case.placement.counterparts[node][0], case.trace.bound.get(node)
    return (
        f"{count(len(astray), 'saved value')} {'misses its' if len(astray) == 1 else 'miss their'} "
        f"item; {case.saved_side.place(node)} goes "
        f"{'nowhere' if taken is None else f'into {case.live_side.place(taken)}'}, "
        f"not into {case.live_side.place(own)}"
    )


# --- names


def other_keras(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find models that Keras 2 has saved and Keras 3 has built, or the reverse.

    They name their layers so differently that no layer of one is found in the other.
    """
    left, left_live = case.unresolved - explained.nodes, case.unmatched - explained.objects
    for node, obj in case.trace.bound.items() if left and left_live else ():
        if not case.live_side.is_in_graph(obj):
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
            f"Keras {was} saved this model, and the program builds it with Keras {now}, which uses "
            f"other local names; the {count(len(nodes), 'value')} have the same shapes.",
            Advice(
                f"Restore it with Keras {was}, and copy the values over with get_weights() and "
                "set_weights()."
            ),
            nodes=(node, *nodes),
            objects=(obj, *objects),
        )


def _sides(case: Case, node: int, obj: int) -> tuple[tuple[Graph, int], tuple[Graph, int]]:
    return (case.saved, node), (case.live, obj)


def _version_of_keras(graph: Graph, node: int) -> int | None:
    """Return the major version of Keras that gives a Functional model's layers these names."""
    names = child_names(graph, node)
    if "layer_with_weights-0" in names:
        return 2
    return 3 if names & {"_functional", "_operations"} else None
