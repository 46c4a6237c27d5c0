"""What a query finds in a graph: every term is one pass over the nodes, however deep they lie.

labextension/src/search/evaluate.ts is the same in the front end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, pairwise

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Node
from ckpt_viz.object_graph.overlay import Overlay, State
from ckpt_viz.object_graph.tree import NOWHERE
from ckpt_viz.search import automaton
from ckpt_viz.search.automaton import Automaton, TooComplexError, too_complex
from ckpt_viz.search.parse import OF_COMPARISON, parse
from ckpt_viz.search.pasted import ends_at, named, without_output
from ckpt_viz.search.syntax import (
    Amount,
    Chain,
    Choice,
    Mistake,
    Near,
    Not,
    Pasted,
    Pattern,
    Query,
    Regex,
    Shape,
    Term,
    Text,
)

_Marks = Sequence[bool]  # by node id
_ROOT_NAME = "(root)"
_STATES = {
    "live": {State.LIVE_ONLY, State.ONLY_B},
    "saved": {State.SAVED_ONLY, State.ONLY_A},
    "unmatched": {State.LIVE_ONLY, State.ONLY_B, State.SAVED_ONLY, State.ONLY_A},
    "changed": {State.SHAPE, State.DTYPE, State.ROLE, State.VALUE},
    "matched": {State.MATCHED},
    "deferred": {State.DEFERRED},
    "dtype": {State.DTYPE},
    "failed": {State.FAILED},
    "moved": {State.MOVED},
    "role": {State.ROLE},
    "shape": {State.SHAPE},
    "value": {State.VALUE},
    "warned": {State.WARNED},
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda found, wanted: found > wanted,
    "<": lambda found, wanted: found < wanted,
    ">=": lambda found, wanted: found >= wanted,
    "<=": lambda found, wanted: found <= wanted,
    "=": lambda found, wanted: found == wanted,
}


def find(graph: Graph, query: str, overlay: Overlay | None = None) -> tuple[int, ...] | Mistake:
    """Return the ids of the nodes that a query finds, in the order of the outline.

    An empty query finds nothing. A query that cannot be read or answered is a Mistake.
    """
    terms = parse(query)
    return terms if isinstance(terms, Mistake) else evaluate(graph, terms, overlay)


def evaluate(
    graph: Graph, query: Query, overlay: Overlay | None = None
) -> tuple[int, ...] | Mistake:
    """Return what the terms of a query find, likewise."""
    if not query:
        return ()
    try:
        marks = _Search(graph, overlay).all_of(query)
    except _FailedError as error:
        return error.mistake
    return tuple([node_id for node_id in graph.tree.preorder() if marks[node_id]])


class _FailedError(Exception):
    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake


class _Search:
    """One search in one graph."""

    def __init__(self, graph: Graph, overlay: Overlay | None) -> None:
        self._graph = graph
        self._overlay = overlay
        self._nodes = graph.nodes
        self._tree = graph.tree
        self._order = tuple(graph.tree.preorder())

    def all_of(self, query: Query) -> _Marks:
        """Return where all terms hold.

        Words also hold below where they are found. Of words alone, or with what is to be left
        out, at least one must be found at a node itself: else a word would find whole subtrees.
        """
        alone = all(isinstance(term, (Text, Regex, Not)) for term in query)
        marks = [True] * len(self._nodes)
        found: list[bool] | None = None
        for term in query:
            if isinstance(term, (Text, Regex)):
                own = self._guarded(term, self._found)
                before = found or [False] * len(own)
                found = [a or b for a, b in zip(before, own, strict=True)]
                marks = [a and b for a, b in zip(marks, self._at_or_below(own), strict=True)]
            else:
                marks = [a and b for a, b in zip(marks, self._marks(term), strict=True)]
        if found is None or not alone:
            return marks
        return [a and b for a, b in zip(marks, found, strict=True)]

    def _marks(self, term: Term) -> _Marks:
        match term:
            case Text() | Regex():
                return self._guarded(term, self._found)
            case Not(_, inner):
                marks = self._marks(inner)
                if isinstance(inner, (Text, Regex)):
                    marks = self._at_or_below(marks)
                return [not mark for mark in marks]
            case Chain(_, terms):
                return self._children_of(terms)
            case Pattern():
                return self._guarded(term, self._pattern)
            case Choice():
                return self._guarded(term, self._choice)
            case Shape(_, dimensions):
                return [_has_shape(node, dimensions) for node in self._nodes]
            case Amount(_, field, comparison, number):
                amount, holds = _AMOUNTS[field], _COMPARISONS[comparison]
                amounts = map(amount, self._nodes)
                return [value is not None and holds(value, number) for value in amounts]
            case Near():
                return self._guarded(term, self._near)
            case Pasted(_, text):
                return self._pasted(text)

    def _guarded(self, term: Term, search: Callable[[Term], _Marks]) -> _Marks:
        try:
            return search(term)
        except TooComplexError:
            raise _FailedError(too_complex(term.place)) from None

    # Words and patterns

    def _found(self, term: Term) -> _Marks:
        assert isinstance(term, (Text, Regex))
        if isinstance(term, Regex):
            return self._found_by(_regex(term))
        text = folded(term.text)
        spellings = {text}
        if not term.is_quoted:
            text = without_output(text) or text
            spellings = {text, text.replace(".", "/")}
        marks: list[bool] = [False] * len(self._nodes)
        for spelling in spellings:
            found = (
                self._found_by(automaton.literal(spelling))
                if "/" in spelling
                else [any(spelling in own for own in texts) for texts in self._own]
            )
            marks = [a or b for a, b in zip(marks, found, strict=True)]
        return marks

    def _found_by(self, pattern: Automaton) -> _Marks:
        found = self._along_tree(pattern)
        return [
            mark or any(pattern.finds(text) for text in texts[1:])
            for mark, texts in zip(found, self._own, strict=True)
        ]

    @cached_property
    def _own(self) -> Sequence[tuple[str, ...]]:
        """Return what stands at each node itself: local name, class, full names of its values."""
        return [
            (
                label,
                *([] if node.type_name is None else [folded(node.type_name)]),
                *[folded(a.full_name) for a in node.attributes if a.full_name],
            )
            for node, label in zip(self._nodes, self._labels, strict=True)
        ]

    @cached_property
    def _labels(self) -> Sequence[str]:
        return list(map(folded, self._tree.labels))

    def _along_tree(self, pattern: Automaton, *, whole: bool = False) -> _Marks:
        """Return where a pattern is found in a node's own part of its path, or is the whole path.

        The path of a child goes on where that of its parent ends, and so does the search.
        """
        marks = [False] * len(self._nodes)
        states = [pattern.start] * len(self._nodes)
        for node_id in self._order:
            parent = self._tree.parents[node_id]
            step = self._labels[node_id]
            if parent not in (NOWHERE, ROOT):
                step = f"/{step}"
            start = pattern.start if parent == NOWHERE else states[parent]
            states[node_id], marks[node_id] = pattern.run(start, step)
            if whole:
                marks[node_id] = node_id != ROOT and states[node_id].accepts_at_end
        return marks

    def _along_names(self, pattern: Automaton) -> _Marks:
        """Return whose first path, as TensorFlow prints it, a pattern fits."""
        marks = [False] * len(self._nodes)
        states = {ROOT: pattern.run(pattern.start, _ROOT_NAME)[0]}
        marks[ROOT] = states[ROOT].accepts_at_end
        for node_id, (parent, local_name) in self._graph.first_edges.items():
            states[node_id] = pattern.run(states[parent], f".{folded(local_name)}")[0]
            marks[node_id] = states[node_id].accepts_at_end
        return marks

    def _at_or_below(self, marks: _Marks) -> list[bool]:
        below = list(marks)
        for node_id in self._order:
            parent = self._tree.parents[node_id]
            if parent != NOWHERE and below[parent]:
                below[node_id] = True
        return below

    # Fields

    def _pattern(self, term: Term) -> _Marks:
        assert isinstance(term, Pattern)
        glob = folded(term.glob)
        match term.field:
            case "path":
                return self._along_tree(automaton.glob(glob, "/"), whole=True)
            case "key":
                keys = automaton.glob(glob, "/", beginning=True)
                return [
                    any(keys.fits(folded(a.checkpoint_key)) for a in node.attributes)
                    for node in self._nodes
                ]
            case "edge":
                return self._reached_by(automaton.glob(glob, ""))
            case "name":
                return self._named(glob)
            case _:
                return self._under(self._places(glob))

    def _named(self, glob: str) -> _Marks:
        if glob.startswith(_ROOT_NAME):
            return self._along_names(automaton.glob(glob, "."))
        names = automaton.glob(glob, "/")
        reached = self._reached_by(names)
        return [
            mark
            or names.fits(label)
            or any(names.fits(folded(a.full_name)) for a in node.attributes)
            for mark, label, node in zip(reached, self._labels, self._nodes, strict=True)
        ]

    def _reached_by(self, pattern: Automaton) -> list[bool]:
        """Return the ends of the edges whose local name a pattern fits."""
        marks = [False] * len(self._nodes)
        for node in self._nodes:
            for child in node.children:
                if not marks[child.node_id] and pattern.fits(folded(child.local_name)):
                    marks[child.node_id] = True
        return marks

    def _places(self, glob: str) -> _Marks:
        """Return the nodes that `under` and `near` mean: by the end of their path, or by name."""
        if glob.startswith(_ROOT_NAME):
            return self._along_names(automaton.glob(glob, "."))
        return self._along_tree(automaton.glob(glob, "/", whole=False), whole=True)

    def _under(self, tops: _Marks) -> _Marks:
        """Return what is below, in the outline; slot variables are below their optimizer, too."""
        holds = self._at_or_below(tops)
        marks = [False] * len(self._nodes)
        for node_id in self._order:
            parent, slot = self._tree.parents[node_id], self._nodes[node_id].slot
            optimizer = None if slot is None else slot.optimizer
            marks[node_id] = (parent != NOWHERE and (holds[parent] or marks[parent])) or (
                optimizer is not None and holds[optimizer]
            )
        return marks

    def _near(self, term: Term) -> _Marks:
        assert isinstance(term, Near)
        marks = list(self._places(folded(term.glob)))
        queue = deque((node_id, 0) for node_id, mark in enumerate(marks) if mark)
        while queue:
            node_id, steps = queue.popleft()
            if steps == term.steps:
                break
            for neighbour in self._neighbours(node_id):
                if not marks[neighbour]:
                    marks[neighbour] = True
                    queue.append((neighbour, steps + 1))
        return marks

    def _neighbours(self, node_id: int) -> list[int]:
        """Return where an edge leads from or to a node; of slots, to variable and optimizer."""
        children = [child.node_id for child in self._nodes[node_id].children]
        parents = [parent for parent, _ in self._graph.edges_to[node_id]]
        return children + parents + self._slot_neighbours[node_id]

    @cached_property
    def _slot_neighbours(self) -> list[list[int]]:
        neighbours: list[list[int]] = [[] for _ in self._nodes]
        for node_id, node in enumerate(self._nodes):
            if node.slot is not None:
                for other in (node.slot.variable, node.slot.optimizer):
                    if other is not None:
                        neighbours[node_id].append(other)
                        neighbours[other].append(node_id)
        return neighbours

    def _children_of(self, terms: Sequence[Term]) -> _Marks:
        marks = self._marks(terms[0])
        for term in terms[1:]:
            fitting = self._marks(term)
            children = [False] * len(self._nodes)
            for node_id, node in enumerate(self._nodes):
                if marks[node_id]:
                    below = (child.node_id for child in node.children)
                    for child in chain(below, self._tree.children[node_id]):
                        children[child] = fitting[child]
            marks = children
        return marks

    def _choice(self, term: Term) -> _Marks:
        assert isinstance(term, Choice)
        if term.field == "role":
            return [node.role.value in term.values for node in self._nodes]
        if term.field == "dtype":
            globs = [automaton.glob(value, "") for value in term.values]
            return [
                any(g.fits(folded(a.dtype or "")) for a in node.attributes for g in globs)
                for node in self._nodes
            ]
        marks = [False] * len(self._nodes)
        for value in term.values:
            if value in OF_COMPARISON and self._overlay is None:
                raise _FailedError(
                    Mistake(term.place, f"a comparison: only of two graphs a node is {value}")
                )
            marks = [a or b for a, b in zip(marks, self._is(value), strict=True)]
        return marks

    def _is(self, value: str) -> _Marks:
        nodes, overlay = self._nodes, self._overlay
        match value:
            case "shared":
                return [len(edges) > 1 for edges in self._graph.edges_to]
            case "empty":
                return [_is_empty(node) for node in nodes]
            case "inferred":
                return [node.slot is not None and node.slot.rule.inferred for node in nodes]
            case "trainable":
                return [node.trainable is True for node in nodes]
            case "sliced":
                return [any(a.slices for a in node.attributes) for node in nodes]
            case "unsaved":
                return [bool(node.not_saved) for node in nodes]
            case "error":
                return list(map(_has_error, nodes))
            case "problem" | "unbuilt":
                marks = list(map(_has_error, nodes)) if value == "problem" else [False] * len(nodes)
                for problem in () if overlay is None else overlay.problems:
                    if value == "problem" or problem.kind == "not_built":
                        for node_id in problem.nodes:
                            marks[node_id] = True
                return marks
        states = _STATES[value]
        return [] if overlay is None else [mark.state in states for mark in overlay.marks]

    # Pasted texts

    def _pasted(self, text: str) -> _Marks:
        """Return the nodes that a text names; else those of its keys; else of its full names."""
        said = named(text)
        marks = self._named_in(text, said.roots)
        if not any(marks):
            marks = [
                any(a.checkpoint_key in said.words | said.full_names for a in node.attributes)
                for node in self._nodes
            ]
        if not any(marks):
            marks = [
                any(without_output(a.full_name) in said.full_names for a in node.attributes)
                for node in self._nodes
            ]
            of_shape = [
                mark and any(a.shape in said.shapes for a in node.attributes)
                for mark, node in zip(marks, self._nodes, strict=True)
            ]
            marks = of_shape if any(of_shape) else marks
        return marks

    def _named_in(self, text: str, roots: Sequence[int]) -> list[bool]:
        """Return the nodes of the longest name that begins at each of the places in a text."""
        marks = [False] * len(self._nodes)
        ends = dict.fromkeys(roots, -1)
        found: dict[int, list[int]] = {root: [] for root in roots}

        def add(root: int, end: int, node_id: int) -> None:
            if end > ends[root]:
                ends[root], found[root] = end, []
            if end == ends[root]:
                found[root].append(node_id)

        stack = [(ROOT, root, root + len(_ROOT_NAME)) for root in roots]
        seen = set(stack)
        while stack:
            node_id, root, end = stack.pop()
            if ends_at(text, end):
                add(root, end, node_id)
            for step, child in self._steps_from(node_id):
                following = (child, root, end + len(step))
                if text.startswith(step, end) and following not in seen:
                    seen.add(following)
                    stack.append(following)
        for name, node_id in self._other_names() if roots else ():
            for root in roots:
                if text.startswith(name, root) and ends_at(text, root + len(name)):
                    add(root, root + len(name), node_id)
        for root, end, slots in self._slots_in(text, roots, ends, found):
            found[root], found[end] = slots, []
        for nodes in found.values():
            for node_id in nodes:
                marks[node_id] = True
        return marks

    def _slots_in(
        self,
        text: str,
        roots: Sequence[int],
        ends: dict[int, int],
        found: dict[int, list[int]],
    ) -> list[tuple[int, int, list[int]]]:
        """Return the slots that are spelled `(root).optimizer's state 'm' for (root).kernel`."""
        slots = []
        for root, following in pairwise(roots):
            infix = text[ends[root] : following]
            if ends[root] < 0 or not (infix.startswith("'s state '") and infix.endswith("' for ")):
                continue
            name = infix[len("'s state '") : -len("' for ")]
            fitting = [
                node_id
                for variable in found[following]
                for node_id in self._slot_neighbours[variable]
                if self._is_slot(node_id, name, variable, found[root])
            ]
            if fitting:
                slots.append((root, following, fitting))
        return slots

    def _is_slot(self, node_id: int, name: str, variable: int, optimizers: list[int]) -> bool:
        slot = self._nodes[node_id].slot
        return (
            slot is not None
            and (slot.name, slot.variable) == (name, variable)
            and slot.optimizer in optimizers
        )

    def _steps_from(self, node_id: int) -> list[tuple[str, int]]:
        """Return what a name goes on with at a node: by every edge, not those of its name alone."""
        edges = [(f".{plain(c.local_name)}", c.node_id) for c in self._nodes[node_id].children]
        return edges + self._slot_steps[node_id]

    @cached_property
    def _slot_steps(self) -> list[list[tuple[str, int]]]:
        """Return, for each variable, its slots: they are named like children where none is."""
        steps: list[list[tuple[str, int]]] = [[] for _ in self._nodes]
        for node_id, node in enumerate(self._nodes):
            if node.slot is not None and node_id in self._graph.first_edges:
                parent, local_name = self._graph.first_edges[node_id]
                steps[parent].append((f".{plain(local_name)}", node_id))
        return steps

    def _other_names(self) -> list[tuple[str, int]]:
        """Return the names on the other side of a comparison, and whose they are."""
        if self._overlay is None:
            return []
        names = [(plain(mark.partner), i) for i, mark in enumerate(self._overlay.marks)]
        for problem in self._overlay.problems:
            sides = (problem.saved, problem.live) if problem.nodes else ()
            names += [(plain(name), problem.nodes[0]) for name in sides if name is not None]
        return [(name, node_id) for name, node_id in names if name.startswith(_ROOT_NAME)]


def plain(text: str) -> str:
    """Return a name as the front end has it: what is no Unicode is spelled out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def folded(text: str) -> str:
    """Return a name in lower case, for comparisons."""
    return plain(text).lower()


def _regex(term: Regex) -> Automaton:
    compiled = automaton.regex(term.pattern)
    if isinstance(compiled, Mistake):
        raise _FailedError(Mistake(term.place + 1 + compiled.place, compiled.expected))
    return compiled


def _is_empty(node: Node) -> bool:
    holds = node.children or node.attributes or node.registered_saver
    return not holds and node.slot is None


def _has_error(node: Node) -> bool:
    return node.error is not None or any(a.error is not None for a in node.attributes)


def _has_shape(node: Node, wanted: Sequence[float | str | None]) -> bool:
    shapes = (a.shape for a in node.attributes if a.shape is not None)
    return any(_fits(shape, wanted) for shape in shapes)


def _fits(shape: Sequence[int], wanted: Sequence[float | str | None]) -> bool:
    if "..." in wanted:
        split = list(wanted).index("...")
        last = len(wanted) - split - 1
        ends = len(shape) >= split + last and _fits(shape[len(shape) - last :], wanted[split + 1 :])
        return ends and _fits(shape[:split], wanted[:split])
    return len(shape) == len(wanted) and all(
        one is None or size == one for size, one in zip(shape, wanted, strict=True)
    )


def _size(node: Node) -> float | None:
    known = [a.nbytes for a in node.attributes if a.nbytes is not None]
    return float(sum(known)) if known else None


def _params(node: Node) -> float | None:
    total: float | None = None
    for attribute in node.attributes:
        if attribute.shape is not None:
            count = 1.0  # as the front end counts: shapes of a hostile file are no integers there
            for size in attribute.shape:
                count *= size
            total = (total or 0.0) + count
    return total


_AMOUNTS: dict[str, Callable[[Node], float | None]] = {"size": _size, "params": _params}
