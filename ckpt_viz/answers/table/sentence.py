"""The sentence at the head of a check: what people did, or what the table as a whole says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.graphs.nodes.exported import exported_lists
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.deeds import Act, Deed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.of_optimizers import OTHER_VERSION
from ckpt_viz.matching.changes.phrases import LeftSlots, Phrases
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.changes.sentence import sentence_of
from ckpt_viz.matching.changes.shapes_in_words import has_slots
from ckpt_viz.matching.changes.short_names import ShortNames, with_article
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.restore_table.cells import is_of_unbuilt
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow, RestoreTable, Why

_RAISES = (Why.SHAPE, Why.DTYPE, Why.DAMAGED, Why.FAILURE)
_MAY_FIT = (Why.GUESS, Why.SHAPE, Why.DTYPE)  # a value with a place that it cannot take now
_NEW = (Act.ADDED, Act.MORE, Act.VALUELESS, Act.WEIGHTLESS)
_RANKS = {Destination.INTO: 1, Destination.HERE: 4}
_FAILING = (Severity.ERROR, Severity.FAIL)
_FEWEST = 10  # values of a file that can be one of another model
_ByPart = Mapping[tuple[bool, int], float]  # whether it is saved, and the node
_LAST = float("inf")
_OF_BACKUP = ("ckpt_saved_epoch", "ckpt_saved_batch", "train_counter")  # of a callback of Keras 2
_IN_COMMON = 0.1  # of the values of the file, with less it is one of another model


def sentence_of_check(
    table: RestoreTable, findings: Sequence[Finding], changes: Sequence[Change] | None
) -> str:
    """Return what somebody did to the program, in at most 20 words; "" if nothing tells it."""
    every = [part for finding in findings for part in finding.all()]
    if is_without_problems(table, findings):
        whole = table.in_program
        return f"Restores all {whole:,} values." if whole > 1 else "Restores 1 value."
    saved = table.saved
    if saved is None:
        return ""
    if changes is None:
        return _of_changes(table, saved, every, _of_other_looks(table, saved))
    if exported_lists(saved.nodes) and not table.restored:
        return "Keras' export() stored the variables in lists, without the model."
    if _is_unrelated(table, every):
        number = f"{_fitting(table) or 'none'} of {count(_saved(table), 'value')}"
        return f"This file is of another model: {number} fit."
    return _of_changes(table, saved, every, changes)


def _of_other_looks(table: RestoreTable, saved: Graph) -> Sequence[Change]:
    """Return which variables have another shape or dtype: without a fix, nothing else is known."""
    misfits = tuple(
        Pair(row.saved, row.live, Certainty.CERTAIN, Evidence.NAMES)
        for row in table.rows
        if row.saved is not None and row.live is not None
        if row.plain.why in (Why.SHAPE, Why.DTYPE)
    )
    parts = {pair.node: pair for pair in misfits}
    return changes_of(ValueMapping(saved, table.live, (), parts, misfits, (), ()))


def _of_changes(
    table: RestoreTable, saved: Graph, every: Sequence[Finding], changes: Sequence[Change]
) -> str:
    """Return what somebody did to the program, and what waits."""
    names = ShortNames.of(saved, table.live)
    ranks, places = _ranks(table), _places(table, saved)
    named = [(change, change.deed) for change in changes if change.deed is not None]
    if table.lacks_unknown:  # any of these parts may be there
        named = [(change, deed) for change, deed in named if deed.act not in _NEW]
    named.sort(key=lambda both: (_least(ranks, both[0]), _least(places, both[1])))
    needed = _without_needless([deed for _, deed in named], table, every)
    deeds = _without_followers(needed, saved, table.live)
    by_person = table.live.origin is Origin.LIVE
    phrases = Phrases(names, lambda optimizer: _left_slots(table, saved, optimizer))
    waiting = _waiting(table, every)
    if waiting:  # this tells of optimizers that are not built
        deeds = [
            d for d in deeds if d.act is not Act.OPTIMIZER or has_slots(table.live, d.objects[0])
        ]
    else:
        left = [row for row in table.rows if row.saved is not None and _is_left_unbuilt(row)]
        others = [d for d in deeds if not (left and phrases.tells_unbuilt(d))]
        if not any(deed.act is Act.OPTIMIZER for deed in others):  # or else the deed tells it
            deeds, waiting = others, left
    last = _not_built_yet(table, names, waiting) if waiting else ""
    return sentence_of(deeds, phrases, by_person=by_person, last=last)


def is_without_problems(table: RestoreTable, findings: Iterable[Finding]) -> bool:
    """Return whether a call restores all values and nothing raises or fails."""
    every = (part for finding in findings for part in finding.all())
    is_whole = table.in_program > 0 and all(row.is_quiet for row in table.rows)
    return is_whole and not any(finding.severity in _FAILING for finding in every)


def _without_needless(
    deeds: Iterable[Deed], table: RestoreTable, findings: Iterable[Finding]
) -> list[Deed]:
    """Leave out parts that are gone, but that the call restores or no program needs."""
    assert table.saved is not None
    below, nodes = table.saved.tree.below, table.saved.nodes
    needless = {row.saved for row in table.rows if row.plain.place is Destination.HERE}
    if not table.saved.is_name_based:  # there these are names that the program may have lost
        needless.update(n for f in findings if f.kind is Kind.LEFTOVER for n in f.nodes)
    needless |= _counters_of_backup(table.saved)

    def is_needed(part: int) -> bool:
        return not all(node in needless for node in below(part) if has_value(nodes[node]))

    kept = (
        replace(deed, nodes=tuple(filter(is_needed, deed.nodes)))
        if deed.act is Act.REMOVED
        else deed
        for deed in deeds
    )
    return [deed for deed in kept if deed.nodes or deed.objects]


def _without_followers(deeds: Sequence[Deed], saved: Graph, live: Graph) -> list[Deed]:
    """Leave out what follows from other deeds.

    An optimizer that is another one, or has another holder, gains and loses parts. One of another
    version of Keras is no news where the whole program is, nor is the list that holds its layers.
    """
    if any(deed.act is Act.KERAS for deed in deeds):
        deeds = [
            deed
            for deed in deeds
            if OTHER_VERSION not in deed.words and not _is_of_private_list(deed, saved, live)
        ]
    changed = [deed for deed in deeds if deed.act in (Act.OPTIMIZER, Act.WRAPPED, Act.UNWRAPPED)]
    was, now = (
        {
            node
            for deed in changed
            for part in (deed.nodes if graph is saved else deed.objects)
            for top in (part, graph.tree.parents[part])
            if top > ROOT and graph.nodes[top].role is Role.OPTIMIZER
            for node in graph.tree.below(top)
        }
        for graph in (saved, live)
    )
    return [
        deed
        for deed in deeds
        if deed.act not in (Act.ADDED, Act.REMOVED)
        or not (was.issuperset(deed.nodes) and now.issuperset(deed.objects))
    ]


def _is_of_private_list(deed: Deed, saved: Graph, live: Graph) -> bool:
    """Return whether everything is in a list of Keras now, or was in one."""
    if deed.act is not Act.ROOT:
        return False
    parts = saved.names.name(deed.nodes[0]), live.names.name(deed.objects[0])
    return any(name.startswith("_") for name in parts)


def _counters_of_backup(saved: Graph) -> set[int]:
    """Return the counters in a file of the callback `BackupAndRestore`, which no program has."""
    labels = saved.tree.labels
    of_root = {labels[node]: node for node in saved.tree.children[ROOT]}
    is_backup = of_root.keys() >= {*_OF_BACKUP[:2]}
    return {of_root[label] for label in _OF_BACKUP if is_backup and label in of_root}


def _saved(table: RestoreTable) -> int:
    return sum(row.saved is not None for row in table.rows)


def _fitting(table: RestoreTable, *, maybe: bool = False) -> int:
    """Return how many saved values have a place in the program, or may have one."""
    cells = [
        row.plain if row.fixed is None else row.fixed for row in table.rows if row.saved is not None
    ]
    return sum(
        cell.place in (Destination.HERE, Destination.WAITS) or (maybe and cell.why in _MAY_FIT)
        for cell in cells
    )


def _is_unrelated(table: RestoreTable, findings: Iterable[Finding]) -> bool:
    """Return whether a finding tells it, or almost nothing of a large file fits."""
    saved = _saved(table)
    if any(finding.kind is Kind.UNRELATED for finding in findings):
        return 2 * _fitting(table) < saved
    fitting = _fitting(table, maybe=True)
    live = sum(row.live is not None for row in table.rows)
    is_rare = saved >= _FEWEST and fitting < _IN_COMMON * saved and 2 * fitting < live
    return is_rare and not _have_equal_shapes(table)


def _have_equal_shapes(table: RestoreTable) -> bool:
    """Return whether at least half of the smaller side has the shapes of the other side."""
    assert table.saved is not None
    shapes = [
        Counter(
            attribute.shape
            for node in graph.nodes
            if node.slot is None
            for attribute in node.attributes
            if attribute.shape
        )
        for graph in (table.saved, table.live)
    ]
    return 2 * (shapes[0] & shapes[1]).total() >= min(side.total() for side in shapes)


def _ranks(table: RestoreTable) -> _ByPart:
    """Return by side and node how bad it is: raises, wrong place, left out, new, fine."""
    ranks: dict[tuple[bool, int], float] = {}
    for row in table.rows:
        rank = (
            0
            if row.plain.why in _RAISES
            else _RANKS.get(row.plain.place, 3 if row.saved is None else 2)
        )
        for is_saved, node in ((True, row.saved), (False, row.live)):
            if node is not None:
                ranks[is_saved, node] = min(rank, ranks.get((is_saved, node), rank))
    return ranks


def _places(table: RestoreTable, saved: Graph) -> _ByPart:
    """Return by side and node its place in the file; what is new comes after its neighbour."""
    places = {(True, node): float(i) for i, node in enumerate(saved.tree.preorder())}
    counterparts = {row.live: row.saved for row in table.rows if None not in (row.saved, row.live)}
    last = -1.0
    for obj in table.live.tree.preorder():
        node = counterparts.get(obj)
        last = last if node is None else places[True, node]
        places[False, obj] = last + (node is None) / 2
    return places


def _least(of_parts: _ByPart, change: Change | Deed) -> float:
    parts = [(True, node) for node in change.nodes] + [(False, obj) for obj in change.objects]
    return min((of_parts.get(part, _LAST) for part in parts), default=_LAST)


def _left_slots(table: RestoreTable, saved: Graph, optimizer: int) -> LeftSlots:
    """Return what becomes of slots of a saved optimizer, or of one inside it, without the fix.

    A legacy optimizer has no place for some that the call makes.
    """
    within = {*saved.tree.below(optimizer)}
    left = [
        row
        for row in table.rows
        if row.saved is not None
        and (slot := saved.nodes[row.saved].slot) is not None
        and slot.optimizer in within
        and not (row.live is None and row.plain.place is Destination.HERE)
        and (row.plain if row.fixed is None else row.fixed).place is Destination.STAYS
    ]
    otherwise = sum(row.plain.place in (Destination.HERE, Destination.INTO) for row in left)
    return LeftSlots(len(left) - otherwise, otherwise)


def _waiting(table: RestoreTable, findings: Iterable[Finding]) -> Sequence[RestoreRow]:
    """Return what the call lets wait, or what never comes, since its object is not built yet."""
    unbuilt = {
        node for finding in findings if finding.kind is Kind.NOT_BUILT for node in finding.nodes
    }
    waiting = [row.plain.place is Destination.WAITS or row.saved in unbuilt for row in table.rows]
    if not any(waiting):
        return []
    every = zip(table.rows, waiting, strict=True)  # a part may wait, or stay, as a whole
    return [r for r, w in every if r.saved is not None and (w or _is_left_unbuilt(r))]


def _is_left_unbuilt(row: RestoreRow) -> bool:
    return row.fixed is not None and is_of_unbuilt(row.fixed)


def _not_built_yet(table: RestoreTable, names: ShortNames, waiting: Sequence[RestoreRow]) -> str:
    """Return which part is not built yet, and how many saved values wait for it."""
    part = _common(names, [row.saved for row in waiting if row.saved is not None])
    if part == "the program" and table.saved is not None and table.saved.is_of_keras:
        part = "model"
    verbs = ("has no place", "have no place")
    if all(Destination.WAITS in _ways(row) for row in waiting):
        verbs = ("waits", "wait")
    elif all(map(_is_left_unbuilt, waiting)):
        some_wait = any(row.plain.place is Destination.WAITS for row in waiting)
        verbs = ("stays in the file", "stay in the file")
        verbs = ("is not restored", "are not restored") if some_wait else verbs
    of_all = f"{len(waiting)} of {count(_saved(table), 'value')}"
    return f"{with_article(part)} is not built yet: {of_all} {verbs[len(waiting) > 1]}"


def _ways(row: RestoreRow) -> tuple[Destination, ...]:
    """Return what the call does with a value, and the fix."""
    return (row.plain.place, *(() if row.fixed is None else (row.fixed.place,)))


def _common(names: ShortNames, waiting: Sequence[int]) -> str:
    """Return the part that holds all of some values; slots belong to their optimizer."""
    graph = names.saved.graph
    above = [[*_way(graph, node)] for node in waiting]
    shared = {*above[0]}.intersection(*above)
    top = next((node for node in above[0] if node in shared), ROOT)
    if top == ROOT:
        return "the program"
    if graph.nodes[top].role is Role.OPTIMIZER:
        return "optimizer"
    return names.was(top)


def _way(graph: Graph, node: int) -> Iterable[int]:
    """Yield the parts above a value, the nearest first."""
    slot = graph.nodes[node].slot
    if slot is not None and slot.optimizer is not None:
        yield slot.optimizer
        node = slot.optimizer
    while node != ROOT:
        node = graph.names.holder(node)
        yield node
