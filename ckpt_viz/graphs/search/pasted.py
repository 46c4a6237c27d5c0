"""TensorFlow messages, pasted as a query: the nodes that they name.

labextension/src/search/pasted.ts is the same in the front end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME, STATE_FOR, STATE_OF
from ckpt_viz.graphs.search.index import Index, Marks, marks
from ckpt_viz.graphs.search.syntax import BLANKS, plain

MAX_NAMES = 100
_BLANK = f"[{BLANKS}]"
_QUOTES = "'\"`[({<"
# A separate name or key, not one behind a field: `(root).model`, but not `under:(root)`.
_ROOT = re.compile(rf"(?:^|{_BLANK}|[{re.escape(_QUOTES)}]){re.escape(ROOT_NAME)}")
_WORD = re.compile(rf"(:?)([^:{BLANKS}]+)")
_OF_KEY = "/.ATTRIBUTES/"
# TensorFlow's text about a value, by the full name of its variable.
_SENTENCES = tuple(
    re.compile(sentence, re.ASCII)
    for sentence in (
        r"\bKey ([^\n]{1,1000}?) not found in checkpoint",
        r"\bTensor name \"([^\"]{1,1000})\" not found",
        r"\bvariable with shape \([0-9, ]{0,200}\) and name ([^ ]{1,1000})",
        r"\btensor_name = ([^ ;]{1,1000}); expected dtype",
        r"\bVariable '([^']{1,1000})'",
        r"\bVariable path=([^ ,>]{1,1000})",
    )
)
# As TensorFlow prints it, `(3, 2)` or `()`, and as ckpt-viz does, `3×2` or `scalar`.
_SHAPE = re.compile(r"\bshape[ =](\([0-9, ]{0,200}\)|[0-9×]{1,200}(?![0-9×?])|scalar\b)", re.ASCII)
_SIZE = re.compile(r"[0-9]+")
_OUTPUT = re.compile(r":[0-9]+\Z")
_ENDS = re.compile(rf"\Z|[{BLANKS}:,;'\"`\])}}>]|\.(?:\Z|{_BLANK})")


def is_pasted(text: str) -> bool:
    """Return whether a text is a TensorFlow message, not a query."""
    signs = (_ROOT, *_SENTENCES)
    return any(sign.search(text) for sign in signs) or any(map(_has_key, _WORD.finditer(text)))


def _has_key(word: re.Match[str]) -> bool:
    colon, before = word[1], word[2].rpartition(_OF_KEY)
    return before[1] != "" and (not colon or not set(_QUOTES).isdisjoint(before[0]))


@dataclass(frozen=True, slots=True)
class PastedNames:
    """The parts of a text that may name a node: places of `(root)`, words, full names, shapes.

    `words` may be checkpoint keys.
    """

    roots: tuple[int, ...]
    words: frozenset[str]
    full_names: frozenset[str]
    shapes: frozenset[tuple[int, ...]]


def named(text: str) -> PastedNames:
    """Return the parts of a TensorFlow message that may name nodes."""
    sentences = [match[1] for sentence in _SENTENCES for match in sentence.finditer(text)]
    return PastedNames(
        tuple([match.start() for match in re.finditer(re.escape(ROOT_NAME), text)][:MAX_NAMES]),
        frozenset([word.strip("'\"`,;()[]{}<>") for word in re.split(f"{_BLANK}+", text)]),
        frozenset(without_output(name.removesuffix(".")) for name in sentences),
        frozenset(
            tuple([int(size) for size in _SIZE.findall(match[1])])
            for match in _SHAPE.finditer(text)
        ),
    )


def ends_at(text: str, place: int) -> bool:
    """Return whether a name can end at a place: in `(root).a.b`, `(root).a` is not a name."""
    return _ENDS.match(text, place) is not None


def without_output(name: str) -> str:
    """Return the name of a variable without the output of its tensor.

    >>> without_output("dense/kernel:0")
    'dense/kernel'
    """
    return _OUTPUT.sub("", name)


def find_named(text: str, index: Index) -> Marks:
    """Return the nodes that a text names; if none, those of its keys, then of its full names."""
    parts = named(text)
    matches = _of_names(text, parts.roots, index)
    if not matches.any():
        keys = parts.words | parts.full_names
        matches = index.where_value(lambda a: a.checkpoint_key in keys)
    if not matches.any():
        matches = index.where_value(lambda a: without_output(a.full_name) in parts.full_names)
        of_shape = matches & index.where_value(lambda a: a.shape in parts.shapes)
        matches = of_shape if of_shape.any() else matches
    return matches


def _of_names(text: str, roots: Sequence[int], index: Index) -> Marks:
    """Return the node of the longest name that begins at each of the places in a text."""
    ends = dict.fromkeys(roots, -1)
    nodes_at: dict[int, list[int]] = {root: [] for root in roots}
    for root, end, node_id in _names_in(text, roots, index):
        if ends_at(text, end) and end >= ends[root]:
            nodes_at[root] = [*(nodes_at[root] if end == ends[root] else []), node_id]
            ends[root] = end
    for root, following, slots in _slots_in(text, ends, nodes_at, index):
        nodes_at[root], nodes_at[following] = slots, []
    named_nodes = {node_id for nodes in nodes_at.values() for node_id in nodes}
    return marks(node_id in named_nodes for node_id in range(len(index.nodes)))


def _names_in(text: str, roots: Sequence[int], index: Index) -> Iterator[tuple[int, int, int]]:
    """Yield the names in a text: where each begins and ends, and its node.

    A name continues by every edge of a node, not only by those of its own name. A slot variable has
    a name like a child of its variable if its optimizer has no node.
    """
    slots: dict[int, list[tuple[str, int]]] = {}
    for node_id, node in enumerate(index.nodes if roots else ()):
        if node.slot is not None and node_id in index.graph.first_edges:
            parent, local_name = index.graph.first_edges[node_id]
            slots.setdefault(parent, []).append((local_name, node_id))
    stack = [(ROOT, root, root + len(ROOT_NAME)) for root in roots]
    seen = set(stack)
    while stack:
        node_id, root, end = stack.pop()
        yield root, end, node_id
        edges = [(child.local_name, child.node_id) for child in index.nodes[node_id].children]
        for local_name, child in (*edges, *slots.get(node_id, ())):
            step = f".{plain(local_name)}"
            following = (child, root, end + len(step))
            if text.startswith(step, end) and following not in seen:
                seen.add(following)
                stack.append(following)
    for name, node_id in _other_names(index) if roots else ():
        for root in roots:
            if text.startswith(name, root):
                yield root, root + len(name), node_id


def _slots_in(
    text: str, ends: dict[int, int], nodes_at: dict[int, list[int]], index: Index
) -> list[tuple[int, int, list[int]]]:
    """Return the slots with the spelling `(root).optimizer's state 'm' for (root).kernel`."""
    slots = []
    for root, following in pairwise(ends):
        infix = text[ends[root] : following]
        if ends[root] < 0 or not (infix.startswith(STATE_OF) and infix.endswith(STATE_FOR)):
            continue
        name = infix[len(STATE_OF) : -len(STATE_FOR)]
        slots_of_nodes = [(i, node.slot) for i, node in enumerate(index.nodes) if node.slot]
        fitting = [
            node_id
            for node_id, slot in slots_of_nodes
            if (slot.name == name and slot.variable in nodes_at[following])
            and slot.optimizer in nodes_at[root]
        ]
        if fitting:
            slots.append((root, following, fitting))
    return slots


def _other_names(index: Index) -> list[tuple[str, int]]:
    """Return the names on the other side of a comparison, and their nodes."""
    if index.overlay is None:
        return []
    names = [(plain(mark.partner), i) for i, mark in enumerate(index.overlay.marks)]
    for problem in index.overlay.problems:
        sides = (problem.saved, problem.live) if problem.nodes else ()
        names += [(plain(name), problem.nodes[0]) for name in sides if name is not None]
    return [(name, node_id) for name, node_id in names if name.startswith(ROOT_NAME)]
