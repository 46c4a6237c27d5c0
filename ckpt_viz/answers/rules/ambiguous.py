"""Values for which no evidence shows whether they go where they belong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence
from ckpt_viz.matching.correspondence.sequences import INDEX, sequences


def cannot_be_told_apart(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find items of sequences that look alike, if one side has more of them.

    No evidence shows which of them is new or gone. Each takes the value of its index: perhaps no
    value is wrong, perhaps all are. The rule leaves out items that an earlier finding names, but
    not the other items of their sequence.
    """
    if not (case.unresolved or case.unmatched):
        return
    for nodes in _guesses_by_sequence(case, explained).values():
        item = _item_above(case, nodes[0])
        assert item is not None
        numbers = _numbers_of_alike(case, item)
        if numbers is not None and 0 not in numbers and numbers[0] != numbers[1]:
            states = [obj for obj in _states_of(case, nodes) if obj not in explained.objects]
            yield _undecided(case, nodes, states, *numbers)


def _guesses_by_sequence(case: Case, explained: Explained) -> Mapping[int, Sequence[int]]:
    """Return the restored values whose places are guesses, by the holder of their items.

    A variable comes before its slot variables.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for pair in case.run.mapping.pairs:
        is_guess = pair.certainty is Certainty.GUESS or pair.evidence is Evidence.DEFAULT
        if is_guess and pair.node in case.trace.restored and pair.node not in explained.nodes:
            item = _item_above(case, pair.node)
            if item is not None:
                groups[case.saved.tree.parents[item]].append(pair.node)
    for nodes in groups.values():
        nodes.sort(key=lambda node: case.saved.nodes[node].slot is not None)
    return groups


def _states_of(case: Case, nodes: Sequence[int]) -> Iterator[int]:
    """Yield the live slot variables to which the states of variables may belong."""
    variables = {*nodes}
    for pair in case.run.mapping.pairs:
        slot = case.saved.nodes[pair.node].slot
        if slot is not None and slot.variable in variables:
            yield pair.obj


def _item_above(case: Case, node: int) -> int | None:
    """Return the item of a sequence in which a value is, or a slot variable's variable."""
    slot, tree = case.saved.nodes[node].slot, case.saved.tree
    node = node if slot is None else slot.variable
    above = (node, *tree.above(node))
    return next((item for item in above if INDEX.fullmatch(tree.labels[item])), None)


def _numbers_of_alike(case: Case, item: int) -> tuple[int, int] | None:
    """Return how many items of a sequence look like one of them, on both sides."""
    tree = case.saved.tree
    match = INDEX.fullmatch(tree.labels[item])
    objects = case.placement.counterparts.get(tree.parents[item])
    if match is None or objects is None:
        return None
    saved = sequences(case.saved.nodes[tree.parents[item]].children).get(match[1], [])
    live = sequences(case.live.nodes[objects[0]].children).get(match[1], [])
    look = case.signatures.of_saved(item)
    return (
        sum(case.signatures.of_saved(node) == look for node in saved),
        sum(case.signatures.of_live(obj) == look for obj in live),
    )


def _undecided(
    case: Case, nodes: Sequence[int], states: Sequence[int], of_saved: int, of_live: int
) -> Finding:
    return case.run.finding(
        Severity.INFO,
        Kind.UNKNOWABLE,
        f"Of items that look alike, the checkpoint has {of_saved}, the program {of_live}. Names do "
        f"not show which belong together, so {count(len(nodes), 'value')} may go into wrong items.",
        "Restore before you add, remove or move items. Then give each item its own name.",
        nodes=nodes,
        objects=(*(case.trace.bound[node] for node in nodes), *states),
    )
