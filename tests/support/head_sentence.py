"""The sentence at the head of a check: its length, and which names it has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.answers.table.sentence import sentence_of_check
from ckpt_viz.errors import CkptVizError
from ckpt_viz.graphs.layers.blocks import blocks_in
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.keras.keras_accessors import optimizer_of
from ckpt_viz.matching.changes.deeds import Act
from ckpt_viz.matching.changes.sentence import MOST_CLAUSES, MOST_WORDS
from ckpt_viz.matching.restore_table.rows import Why

_VERBS = re.compile(
    r"\b(removed|added|replaced|renamed|moved|put|took|wrapped|unwrapped|inlined|swapped|reordered"
    r"|changed|is|are|seems?|keeps|trains|has)\b",
    re.IGNORECASE,
)
_WHOLE = ("Restores all", "Restores 1", "This file is of another model")
_COUNTS = re.compile(r"\b(more|parts|layers|values|not built yet|slots)\b")
# Acts of which a sentence names a class, or nothing that one side has.
_UNNAMED = (Act.KERAS, Act.FEWER, Act.MORE, Act.OPTIMIZER)


def sentence_of(check: RestoreCheck) -> str:
    """Return the sentence; "" if there is none."""
    try:
        changes = check.fix().changes
    except CkptVizError:
        changes = None
    return sentence_of_check(check.table, check.findings, changes)


def faults_in(check: RestoreCheck) -> Iterator[str]:
    """Yield what is wrong with the sentence: too long, a gap, a change without a name."""
    sentence = sentence_of(check)
    if not sentence or sentence.startswith(_WHOLE):
        return
    if len(sentence.split()) > MOST_WORDS:
        yield f"{len(sentence.split())} words: {sentence}"
    if len(_VERBS.findall(sentence)) > MOST_CLAUSES:
        yield f"too many clauses: {sentence}"
    if re.search(r"  | [.,?:]|\b(and|or|by|to|into)[.,?]", sentence) or sentence[-1] not in ".?":
        yield f"a gap: {sentence}"
    before, asks, _ = sentence.partition(". Which")
    if asks and "alike" not in re.split(r", (?:and )?", before)[-1]:
        yield f"a question about something else: {sentence}"
    words = {*re.split(r"[^\w-]+", sentence)}
    for change in check.fix().changes:
        if change.deed is None or change.deed.act in _UNNAMED or _COUNTS.search(sentence):
            continue
        saved, live = check.table.saved, check.table.live
        assert saved is not None
        names = {*change.deed.words, *_names(saved, change.nodes), *_names(live, change.objects)}
        names |= {"program"} if change.deed.act is Act.DTYPE else set()
        if names and not words & names:
            yield f"no name of {change.why!r}: {sentence}"
        for graph, other, parts in ((saved, live, change.nodes), (live, saved, change.objects)):
            is_alone = change.deed.act in (Act.REMOVED, Act.ADDED) and parts
            if is_alone and _is_empty_in(other, graph.name(parts[0])):
                yield f"{graph.name(parts[0])} is on both sides: {sentence}"
    if not re.search(r"not built|values of|export", sentence):  # these tell of all values
        yield from (f"no change has {name}: {sentence}" for name in passed_over(check))


def passed_over(check: RestoreCheck) -> Iterator[str]:
    """Yield the saved values of the model that get no place, and that no change has."""
    saved = check.table.saved
    assert saved is not None
    deeds = (change.deed for change in check.fix().changes)
    nodes = {node for deed in deeds if deed is not None for node in deed.nodes}
    changed = {n for node in nodes for n in saved.tree.below(node)}
    hanging = {*saved.hanging.variables}
    for row in check.table.rows:
        cell, node = row.fixed, row.saved
        if node is None or cell is None or cell.why is not Why.ABSENT:
            continue
        is_of_model = optimizer_of(saved, node) is None and node != saved.save_counter
        if row.live is None and is_of_model and node not in {*changed, *hanging}:
            yield saved.name(node)


def _is_empty_in(graph: Graph, name: str) -> bool:
    """Return whether a graph has a part without values under a name that is no index."""
    if name.rpartition(".")[2].isdecimal():
        return False
    node = next((n for n in graph.tree.preorder() if graph.name(n) == name), None)
    below = () if node is None else graph.tree.below(node)
    return node is not None and not any(graph.nodes[n].attributes for n in below)


def _names(graph: Graph, nodes: tuple[int, ...]) -> Iterator[str]:
    """Yield every word by which a text can call nodes, what holds them, or their block."""
    for node in nodes:
        for name in graph.names.names_up(node):
            yield from re.split(r"[^\w-]+", name)
            yield from (block for _, block in blocks_in(name))
        for attribute in graph.nodes[node].attributes:
            yield from re.split(r"[^\w-]+", attribute.full_name)
