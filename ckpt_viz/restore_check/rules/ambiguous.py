"""Values for which no evidence shows whether they go where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckpt_viz.mapping.alignment import undecided
from ckpt_viz.mapping.sequences import sequences
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keras_optimizers import TRAINABLE
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Explained, Finding, Kind
from ckpt_viz.restore_check.sides import is_optimizer, subtree
from ckpt_viz.text import count


def cannot_be_told_apart(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find items of sequences that look alike, if one side has more of them.

    No evidence shows which of them is new or gone. Each takes the value of its index: perhaps no
    value is wrong, perhaps all are. The rule leaves out items that an earlier finding names, but
    not the other items of their sequence.
    """
    is_complete = not (case.unresolved or case.unmatched)
    if is_complete or case.placement.is_all_right or case.run.verdicts.restore is not None:
        return
    for node, objects in case.placement.counterparts.items():
        saved, live = case.saved.nodes[node], case.live.nodes[objects[0]]
        if not saved.children or _repeats_others(case, node):
            continue
        of_saved = sequences(saved.children)
        of_live = sequences(live.children) if of_saved else {}
        for prefix, nodes in of_saved.items():
            ours = _own(case.saved, node, nodes)
            theirs = _own(case.live, objects[0], of_live.get(prefix, []))
            found = _undecided(case, explained, ours, theirs) if len(ours + theirs) > 2 else None
            if found is not None:
                yield found
                break


def _own(graph: Graph, holder: int, items: Sequence[int]) -> list[int]:
    """Return the items that no more natural path leads to, such as an attribute."""
    return [item for item in items if graph.tree.parents[item] == holder]


def _repeats_others(case: Case, node: int) -> bool:
    """Return whether this is one of an optimizer's lists of state."""
    holder, label = case.saved.first_edges.get(node, (ROOT, ""))
    return is_optimizer(case.saved.nodes[holder]) and label != TRAINABLE


def _undecided(
    case: Case, explained: Explained, saved: Sequence[int], live: Sequence[int]
) -> Finding | None:
    ours, theirs = (
        case.placement.item_reader.items(case.saved, saved),
        case.placement.item_reader.items(case.live, live),
    )
    if ours is None or theirs is None:
        return None
    groups = [
        ([saved[i] for i in indices], [live[j] for j in others])
        for indices, others in undecided(ours, theirs)
    ]
    nodes = [
        node
        for items, _ in groups
        for item in items
        for node in subtree(case.saved, item)
        if node in case.trace.restored and node not in explained.nodes
    ]
    if not nodes:
        return None
    # The first node names the finding: a variable, if there is one
    nodes.sort(key=lambda node: case.saved.nodes[node].slot is not None)
    items, others = groups[0]
    return case.finding(
        Severity.INFO,
        Kind.UNKNOWABLE,
        f"The checkpoint has {count(len(items), 'item')} that look alike here, the program "
        f"{len(others)}: no name tells them apart, so {count(len(nodes), 'value')} may go into "
        "wrong items.",
        Advice(
            "Restore into the saved items in the saved order, change them afterwards, and give "
            "each its own name."
        ),
        nodes=nodes,
        objects=[case.trace.bound[node] for node in nodes],
    )
