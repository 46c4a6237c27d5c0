"""Where the values of a name-based checkpoint belong in a program of objects.

A file of TensorFlow 1 has no objects, only names: `dense/kernel` is `kernel` in the scope `dense`.
First come equal full names, as TensorFlow restores such a file. Then the scopes of the file are
compared with the parts of the program, as the parts of two object graphs are.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ckpt_viz.graphs.nodes.nodes import ROOT, Node, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.descriptions import Described, described
from ckpt_viz.matching.correspondence.pairing import PairedItems
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, weakest
from ckpt_viz.matching.correspondence.whole_tree import WholeTree
from ckpt_viz.matching.name_rules.full_names import FullNames
from ckpt_viz.matching.name_rules.migrations import has_heads, name_in_encoder
from ckpt_viz.matching.name_rules.names import ChosenNames, are_related
from ckpt_viz.matching.name_rules.scope_tree import (
    Scopes,
    full_name,
    scope_of,
    scopes_of_file,
    scopes_of_program,
    variables_of,
)

_WITHOUT_NAMES = (Evidence.ORDER, Evidence.CONTENT)
_MOST_ENDS = 64  # scopes of a name that others are compared with


def pairs_by_name(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield the values that belong together, without the states of optimizers."""
    chosen = ChosenNames.of(live)
    scopes = scopes_of_file(saved, live), scopes_of_program(saved, live)
    paired = _PairedScopes(*scopes, chosen)
    of_encoder = _in_encoder(saved, live) if _is_encoder(live) else ()
    for pair in chain(_of_equal_names(saved, live, paired), of_encoder):
        paired.add(*pair)
    paired.add_holders()
    WholeTree(paired).run()
    for pair in paired.by_node.values():
        if has_value(saved.nodes[pair.node]) and pair.obj < len(live.nodes):
            yield pair


def pairs_of_namesakes(saved: Graph, live: Graph, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the further variables with the full name of a pair: a restore gives all one value."""
    by_name = _inverted({obj: full_name(live.nodes[obj]) for obj in variables_of(live)})
    for pair in pairs:
        namesakes = by_name.get(full_name(saved.nodes[pair.node]), [])
        if pair.obj in namesakes:
            for obj in namesakes:
                if obj != pair.obj and _fit(saved, live, pair.node, obj):
                    yield pair._replace(obj=obj)


class _PairedScopes(PairedItems):
    """Pairs of scopes and parts, whose order proves nothing if they have names."""

    is_ordered = False

    def __init__(self, saved: Scopes, live: Scopes, chosen: ChosenNames) -> None:
        super().__init__(*described(saved, live, chosen), {})
        self._plain = saved.plain, live.plain
        self._parts = _parts_by_content(self.saved), _parts_by_content(self.live)

    def add(self, x: int, y: int, certainty: Certainty, evidence: Evidence) -> None:
        """Pair two nodes; as a guess, if no name speaks for it and something against it."""
        if evidence in _WITHOUT_NAMES and self._is_unsure(x, y, evidence):
            certainty = Certainty.GUESS
        super().add(x, y, certainty, evidence)

    def _is_unsure(self, x: int, y: int, evidence: Evidence) -> bool:
        """Return whether other items may be meant, or names differ; a large item may have any."""
        if self.saved.content[x] in self.guessed:
            return True
        is_large = bool(self.saved.items.children[x]) and not self.saved.items.is_unit(x)
        is_telling = evidence is Evidence.CONTENT or self._are_only(x, y)
        return not (is_large and is_telling) and (
            self._have_other_names(x, y) or self._are_apart(x, y)
        )

    def _are_only(self, x: int, y: int) -> bool:
        return self.saved.how_often(x) == self.live.how_often(y) == 1

    def _have_other_names(self, x: int, y: int) -> bool:
        name, other = self._plain[0][x], self._plain[1][y]
        return "" not in (name, other) and name != other and not are_related({name}, {other})

    def _are_apart(self, x: int, y: int) -> bool:
        """Return whether parts that do not belong together hold items like these."""
        above = self.by_node.get(self.saved.items.parent[x])
        if above is not None and above.obj == self.live.items.parent[y]:
            return False
        contents = self.saved.content[x], self.live.content[y]
        return any(len(parts[c]) > 1 for parts, c in zip(self._parts, contents, strict=True))

    def add_holders(self) -> None:
        """Pair what holds the values that are paired, where all of them are in one part."""
        inside: dict[tuple[int, int], list[Certainty]] = defaultdict(list)
        for pair in self.by_node.values():
            parents = self.saved.items.parent[pair.node], self.live.items.parent[pair.obj]
            inside[parents].append(pair.certainty)
        counts = Counter(x for x, _ in inside), Counter(y for _, y in inside)
        for (x, y), certainties in inside.items():
            if x != ROOT != y and counts[0][x] == counts[1][y] == 1:
                sure = weakest(Certainty.LIKELY, *certainties)
                self.add(x, y, sure, Evidence.WITHIN)


def _parts_by_content(side: Described) -> Mapping[int, set[int]]:
    """Return what holds the items of each content."""
    parts: dict[int, set[int]] = defaultdict(set)
    for item in side.items.order:
        parts[side.content[item]].add(side.items.parent[item])
    return parts


def _of_equal_names(saved: Graph, live: Graph, paired: PairedItems) -> Iterator[Pair]:
    """Yield the variables with equal full names, as TensorFlow restores them.

    Keras numbers the layers of a class. Equal numbers are guesses if one side has more of them. If
    both have as many, their order decides.
    """
    names = FullNames.of(live)
    nodes, objects = _inverted(paired.saved.full_name), _inverted(paired.live.full_name)
    shared = {
        name: (nodes[name][0], objects[name][0])
        for name in nodes
        if len(objects.get(name, ())) == 1
    }
    if not shared:
        return
    numbered = by_plain_name(nodes, names), by_plain_name(objects, names)
    misfits = {_scope(name) for name, pair in shared.items() if not _fit(saved, live, *pair)}
    for name, pair in shared.items():
        plain = names.plain(name)
        is_order = "/" in name and len(numbered[0][plain]) == len(numbered[1][plain])
        if names.is_chosen(name):
            yield Pair(*pair, Certainty.CERTAIN, Evidence.NAMES)
        elif numbered[0][plain] == numbered[1][plain]:
            yield Pair(*pair, Certainty.LIKELY, Evidence.NAMES)
        elif not is_order and _scope(name) not in misfits:
            yield Pair(*pair, Certainty.GUESS, Evidence.NAMES)


def _in_encoder(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield BERT's variables in an encoder of the Model Garden, which may be in further scopes."""
    by_end: dict[str, list[int]] = defaultdict(list)
    for obj in variables_of(live):
        parts = full_name(live.nodes[obj]).split("/")
        for start in range(max(0, len(parts) - _MOST_ENDS), len(parts)):
            by_end["/".join(parts[start:])].append(obj)
    for node in _values(saved):
        name = name_in_encoder(full_name(saved.nodes[node]))
        objects = [] if name is None else by_end.get(name, [])
        if name is not None and len(objects) == 1:
            is_reshaped = _is_reshaped(name, saved.nodes[node], live.nodes[objects[0]])
            evidence = Evidence.RESHAPED if is_reshaped else Evidence.NAMES
            yield Pair(node, objects[0], Certainty.LIKELY, evidence)


def _is_encoder(live: Graph) -> bool:
    """Return whether a program has the names of the Model Garden's encoder."""
    return any("self_attention" in scope_of(live.nodes[obj]) for obj in variables_of(live))


def _is_reshaped(name: str, saved: Node, live: Node) -> bool:
    """Return whether both have the same elements in other dimensions, by BERT's rule."""
    was, now = saved.attributes[0], live.attributes[0]
    return (
        has_heads(name)
        and was.dtype == now.dtype
        and None not in (was.shape, now.shape)
        and was.shape != now.shape
        and math.prod(was.shape or ()) == math.prod(now.shape or ())
    )


def _values(saved: Graph) -> Iterator[int]:
    nodes = enumerate(saved.nodes)
    return (node_id for node_id, node in nodes if has_value(node) and node.slot is None)


def _inverted(full_names: Mapping[int, str]) -> Mapping[str, list[int]]:
    """Return the variables by their full name."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for variable, name in full_names.items():
        by_name[name].append(variable)
    return by_name


def by_plain_name(full_names: Iterable[str], names: FullNames) -> Mapping[str, set[str]]:
    """Return the full names that differ only in the numbers that Keras gives."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in full_names:
        groups[names.plain(name)].add(name)
    return groups


def _scope(name: str) -> str:
    return name.rpartition("/")[0] or name


def _fit(saved: Graph, live: Graph, node: int, obj: int) -> bool:
    return values_of(saved.nodes[node]) == values_of(live.nodes[obj])
