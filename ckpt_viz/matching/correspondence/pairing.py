"""The pairs so far, and what the items of two sides have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, partial
from itertools import chain, product
from typing import NamedTuple

from ckpt_viz.graphs.nodes.name_evidence import paired_by_name
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.matching.correspondence.descriptions import Bag, Described
from ckpt_viz.matching.correspondence.items import are_of_other_layers
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.name_rules.names import are_namesakes, are_related, numbers, words

_LOOKS = frozenset({Evidence.CONTENT, Evidence.ORDER})
_MOST_NAMESAKES = 60  # equal items that are asked for their names


class PairedItems:
    """Pairs of a saved side and a live side; each node has at most one counterpart.

    `queue` has the pairs whose children are not compared yet. `may_be_renamed` says that names may
    differ in one place: only the last steps take such pairs. `guessed` has the contents of items
    whose places are guesses. `is_ordered` says that a place between others is evidence.
    """

    is_ordered = True

    def __init__(self, saved: Described, live: Described, bound: dict[int, int]) -> None:
        self.saved, self.live, self.bound = saved, live, bound
        self._node_bound_to = {obj: node for node, obj in bound.items()}
        self.by_node: dict[int, Pair] = {}
        self.node_of: dict[int, int] = {}
        self.queue: list[tuple[int, int]] = []
        self.may_be_renamed = False
        self.guessed: set[int] = set()
        self._given: frozenset[int] = frozenset()
        self._unbound_saved = cache(partial(_unbound, saved, bound))
        self.by_words = cache(self._paired_by_words)
        self._common_words = cache(self._words_of_several)
        self._shared_names = cache(self._names_of_several)
        self._unbound_live = cache(partial(_unbound, live, frozenset(bound.values())))

    def give(self, pairs: Sequence[Pair]) -> None:
        """Take pairs that are certain, before any rival is looked at."""
        self._given = frozenset(pair.node for pair in pairs)
        for pair in pairs:
            self._record(*pair)
            if self._are_holders(pair.node, pair.obj):
                self.queue.append((pair.node, pair.obj))

    def add(self, x: int, y: int, certainty: Certainty, evidence: Evidence) -> None:
        """Pair two nodes, unless one of them has a counterpart."""
        if x in self.by_node or y in self.node_of:
            return
        if are_of_other_layers(self.saved.graph, x, self.live.graph, y):
            return
        if self._are_holders(x, y):
            if self._differ_in_depth(x, y):
                x, y = self._at_one_level(x, y, certainty, evidence)
            if not self.are_equal(x, y):
                x, y = self._layer_in(self.saved, x, y), self._layer_in(self.live, y, x)
            self.queue.append((x, y))
        self._record(x, y, certainty, evidence)

    def _record(self, x: int, y: int, certainty: Certainty, evidence: Evidence) -> None:
        if x not in self.by_node and y not in self.node_of:
            by_names = self._proved_by_names(x, y) if evidence in _LOOKS else None
            self.by_node[x] = Pair(x, y, certainty, by_names or evidence)
            self.node_of[y] = x
            if certainty is Certainty.GUESS and x in self.saved.content:
                self.guessed.add(self.saved.content[x])

    def _proved_by_names(self, x: int, y: int) -> Evidence | None:
        """Return what the names of two parts prove, for a pair that content or order makes."""
        if not self._are_holders(x, y):
            return None
        return Evidence.WORDS if self.are_related(x, y) else None

    def confirm(self, node: int, evidence: Evidence) -> None:
        """Make the pair of a saved node likely, if it is a guess."""
        pair = self.by_node.get(node)
        if pair is not None and pair.certainty is Certainty.GUESS:
            self.by_node[node] = pair._replace(certainty=Certainty.LIKELY, evidence=evidence)

    def doubt(self, node: int) -> None:
        """Make the pair of a saved node a guess, if it has one that is not given."""
        pair = self.by_node.get(node)
        if pair is not None and node not in self._given:
            self.by_node[node] = pair._replace(certainty=Certainty.GUESS)

    def free(self, xs: Iterable[int], ys: Iterable[int]) -> tuple[list[int], list[int]]:
        """Return the items of each side that have no counterpart."""
        free_xs = [x for x in xs if x not in self.by_node]
        return free_xs, [y for y in ys if y not in self.node_of]

    def _are_holders(self, x: int, y: int) -> bool:
        saved, live = self.saved.items.children, self.live.items.children
        return bool(saved.get(x) and live.get(y))

    def _differ_in_depth(self, x: int, y: int) -> bool:
        return len(self.saved.items.chain[x]) != len(self.live.items.chain[y])

    def _at_one_level(
        self, x: int, y: int, certainty: Certainty, evidence: Evidence
    ) -> tuple[int, int]:
        """Return both items, or one with a child of the other, where one alone is a chain.

        The child's holder belongs to a node above the end of the chain.
        """
        level = self._level(x, y)
        saved, live = self.saved.items.chain[x][:-1], self.live.items.chain[y][:-1]
        if level[0] != x and live:
            above = self._above_alike(level[0], y)
            self._record(x, self.bound_in(live, x, above), certainty, evidence)
        elif level[1] != y:
            for node in saved:
                if self.bound.get(node) == y:
                    self._record(node, y, certainty, evidence)
        return level if level == (x, y) or self.are_equal(*level) else self._level(*level)

    def _above_alike(self, x: int, y: int) -> int:
        """Return the node of a live chain above the names of a saved chain that end it, too."""
        saved_chain, live_chain = self.saved.items.chain[x], self.live.items.chain[y]
        labels = self.saved.graph.tree.labels, self.live.graph.tree.labels
        tail = live_chain[-len(saved_chain) :]
        are_alike = [labels[0][node] for node in saved_chain] == [labels[1][node] for node in tail]
        is_above = are_alike and len(saved_chain) < len(live_chain)
        return live_chain[-len(saved_chain) - 1 if is_above else -2]

    def bound_in(self, chain: Container[int], x: int, y: int) -> int:
        """Return the node of a chain to which a plain restore binds a saved node, else `y`."""
        bound = self.bound.get(x, y)
        return bound if bound in chain else y

    def _level(self, x: int, y: int) -> tuple[int, int]:
        """Return the items at one level: what a plain restore binds, then equal content.

        Then comes a child that is named as the end of the chain, last a child of equal content.
        """
        free_xs, free_ys = self.free(self.saved.items.children[x], self.live.items.children[y])
        left, right = [(child, y) for child in free_xs], [(x, child) for child in free_ys]
        levels = [b for b in (*left, *right) if self._are_holders(*b) and self.common(*b)]
        bound = next((b for b in levels if self.are_bound(*b)), None)
        if bound is not None or self.are_equal(x, y):
            return bound or (x, y)
        named = (b for b in left if b in levels and self._ends_saved_chain(b[0], x, y))
        others = (b for b in right if b in levels and self._ends_live_chain(b[1], x, y))
        equal = (b for b in levels if self.are_equal(*b) and not self.have_namesakes(*b))
        return next(chain(named, others, equal), (x, y))

    def are_bound(self, x: int, y: int) -> bool:
        """Return whether a plain restore binds a node of one chain to the end of the other."""
        ends = {self.bound.get(node) for node in self.saved.items.chain[x]}
        return y in ends or self.bound.get(x) in self.live.items.chain[y]

    def _ends_saved_chain(self, child: int, x: int, y: int) -> bool:
        names = self.live.labels[y] - self.saved.labels[x]
        return bool(self.saved.labels[child] & names) and not self.saved.items.is_unit(child)

    def _ends_live_chain(self, child: int, x: int, y: int) -> bool:
        names = self.saved.labels[x] - self.live.labels[y]
        return bool(self.live.labels[child] & names) and not self.live.items.is_unit(child)

    def _layer_in(self, side: Described, item: int, layer: int) -> int:
        """Return the child of an item that is the layer on the other side; else the item."""
        other = self.live if side is self.saved else self.saved
        taken = self.by_node if side is self.saved else self.node_of
        if not other.items.is_unit(layer) or side.kinds(item) & other.kinds(layer):
            return item
        for child in side.items.children[item]:
            if side.content[child] == other.content[layer] and child not in taken:
                return child
        return item

    # --- questions about two items

    def have_namesakes(self, x: int, y: int) -> bool:
        """Return whether an equal item elsewhere has a name that only one of both has.

        That item counts only if nothing binds it.
        """
        names, others = self.saved.labels[x], self.live.labels[y]
        if not names or not others or are_namesakes(names, others):
            return False
        return any(are_namesakes(self.saved.labels[n], others) for n in self._like_live(y)) or any(
            are_namesakes(names, self.live.labels[n]) for n in self._like_saved(x)
        )

    def have_equal_namesakes(self, x: int, y: int) -> bool:
        """Return whether an item elsewhere has the name of one of two unequal items, and equals it.

        That item counts only if nothing binds it.
        """
        if self.are_equal(x, y):
            return False
        if any(self.saved.labels[n] & self.live.labels[y] for n in self._like_live(y)):
            return True
        return self._is_kept_beside(x, y)

    def _is_kept_beside(self, x: int, y: int) -> bool:
        """Return whether one of two unequal items has its equal in its own place, free and beside.

        A plain restore binds it there, by the same local name.
        """
        node, obj = self._node_bound_to.get(y, ROOT), self.bound.get(x, ROOT)
        pairs = (x, obj, self.live, y), (node, y, self.saved, x)
        return any(
            self.saved.content.get(a, -1) == self.live.content.get(b, -2)
            and a not in self.by_node
            and b not in self.node_of
            and bool(self.saved.labels[a] & self.live.labels[b])
            and other not in _above(side, b if side is self.live else a)
            for a, b, side, other in pairs
        )

    def _like_live(self, y: int) -> Iterator[int]:
        """Yield the free saved items equal to a live one that a plain restore does not bind."""
        equal = self._unbound_saved(self.live.content[y])
        return (item for item in equal if item not in self.by_node)

    def _like_saved(self, x: int) -> Iterator[int]:
        equal = self._unbound_live(self.saved.content[x])
        return (item for item in equal if item not in self.node_of)

    def are_equal(self, x: int, y: int) -> bool:
        """Return whether two items hold equal values in equal parts."""
        return self.saved.content[x] == self.live.content[y]

    def is_trained_alone(self, x: int, y: int) -> bool:
        """Return whether the same optimizers train two equal items, and not all others like them.

        This tells a model from its copy with average weights, or from one with an own optimizer.
        """
        trainers, equals = self.saved.trainers[x], self._of_content(self.saved.content[x])
        if not trainers or trainers != self.live.trainers[y] or not self.are_equal(x, y):
            return False
        if not 1 < max(map(len, equals)) <= _MOST_NAMESAKES:
            return False
        sides = zip((self.saved, self.live), equals, strict=True)
        counts = [[side.trainers[item] for item in items].count(trainers) for side, items in sides]
        return counts == [1, 1]

    def have_one_chosen_name(self, x: int, y: int) -> bool:
        """Return whether a person gave two items one name: it decides for all that is in them."""
        return not self.saved.strong[x].isdisjoint(self.live.strong[y])

    def have_one_kind(self, x: int, y: int) -> bool:
        """Return whether two layers have values of the same local names, of whatever shapes."""
        return self.saved.kinds(x) == self.live.kinds(y) != set()

    def are_alike(self, x: int, y: int) -> bool:
        """Return whether both items hold others, or both are values."""
        return bool(self.saved.items.children[x]) == bool(self.live.items.children[y])

    def are_related(self, x: int, y: int) -> bool:
        """Return whether the names of two items share a word that no equal item has."""
        content = self.saved.content[x]
        common = self._common_words(content) if content == self.live.content[y] else frozenset()
        return are_related(self.saved.names(x), self.live.names(y), common)

    def _paired_by_words(self, content: int) -> Mapping[int, int]:
        """Return which items of a content belong together by the words of their names."""
        xs, ys = self.saved.of_content(content), self.live.of_content(content)
        names = [*map(self.saved.last_names, xs)], [*map(self.live.last_names, ys)]
        return {xs[i]: ys[j] for i, j in paired_by_name(*names).items()}

    def _words_of_several(self, content: int) -> Set[str]:
        """Return the words and numbers in the names of several items of a content on one side."""
        return self.words_of_several(*self._of_content(content))

    def words_of_several(self, xs: Sequence[int], ys: Sequence[int]) -> Set[str]:
        """Return the words and numbers in the names of several of some items of one side."""
        return self._of_several(xs, ys, lambda names: numbers(names).union(*map(words, names)))

    def _names_of_several(self, content: int) -> Set[str]:
        """Return the names that several items of a content have on one side."""
        return self._of_several(*self._of_content(content), lambda names: names)

    def _of_content(self, content: int) -> tuple[Sequence[int], Sequence[int]]:
        return self.saved.of_content(content), self.live.of_content(content)

    def _of_several(
        self, xs: Sequence[int], ys: Sequence[int], parts: Callable[[Set[str]], Set[str]]
    ) -> Set[str]:
        """Return the parts of names that several of some items of one side have."""
        several: set[str] = set()
        for side, items in ((self.saved, xs), (self.live, ys)):
            counts = Counter(chain.from_iterable(parts(side.names(item)) for item in items))
            several.update(part for part, count in counts.items() if count > 1)
        return several

    def are_told(self, x: int, y: int) -> bool:
        """Return whether names tell that two items belong together, and no equal item has them.

        The local name of a value tells what it is, not whose.
        """
        content, names = self.saved.content[x], self.saved.strong[x] & self.live.strong[y]
        if self._are_holders(x, y):
            names |= self.saved.labels[x] & self.live.labels[y]
        if names - self._shared_names(content):
            return True
        return self._are_holders(x, y) and self.by_words(content).get(x) == y

    def similarity(self, x: int, y: int) -> float:
        """Return how much of two items' content is the same, 0 to 1."""
        if self.are_equal(x, y):
            return 1.0
        if not self._are_holders(x, y):
            return 0.0
        sizes = self.saved.items.size[x] + self.live.items.size[y]
        return 2 * self.common(x, y) / sizes

    def common(self, x: int, y: int) -> int:
        """Return how many values two items have in common."""
        few, many = sorted((self.saved.bag(x), self.live.bag(y)), key=len)
        return sum(min(count, many[value]) for value, count in few.items() if value in many)

    def contradict(self, x: int, y: int) -> bool:
        """Return whether names tell two items apart; a value is what holds it."""
        if not self.saved.items.children[x]:
            x, y = self.saved.items.parent[x], self.live.items.parent[y]
            if min(x, y) < 0 or not self._is_undecided_unit(x, y):
                return False
        names, others = self.saved.names(x), self.live.names(y)
        if not names or not others or names & others or are_related(names, others):
            return False
        is_named = bool(self.saved.strong[x] or self.live.strong[y])
        return is_named and all(map(self.saved.chosen.is_chosen, (min(names), min(others))))

    def _is_undecided_unit(self, x: int, y: int) -> bool:
        is_decided = x in self.by_node or y in self.node_of
        return not is_decided and self.saved.items.is_unit(x)

    def roots_inside(self) -> tuple[bool, bool]:
        """Return for each side whether only a child of its root has what both have in common.

        Where parts of one name have values in common, the roots are at one level.
        """
        x, y = self.saved.items.root, self.live.items.root
        wanted = self.saved.bag(x) & self.live.bag(y)
        if not wanted:
            return False, False
        owners = {n: item for item, chain in self.live.items.chain.items() for n in chain}
        tops = ((c, self.saved.items.chain[c][0]) for c in self.saved.items.children[x])
        below = ((child, owners.get(self.bound.get(top, -1))) for child, top in tops)
        if any(self.common(child, other) for child, other in below if other is not None):
            return False, False
        inside = _is_inside(self.saved, x, wanted), _is_inside(self.live, y, wanted)
        return self._inside_by_names() if all(inside) else inside

    def _inside_by_names(self) -> tuple[bool, bool]:
        """Return which root belongs to a child of the other one: the same local names lead on."""
        saved, live = self._tops_by_names()
        return bool(saved), bool(live)

    def roots_by_names(self) -> tuple[int, int] | None:
        """Return the two items below or at the roots to which the same local names lead on."""
        saved, live = self._tops_by_names()
        if len(saved) == 1:
            return saved[0], _only_child_or(self.live, self.live.items.root)
        return (
            (_only_child_or(self.saved, self.saved.items.root), live[0]) if len(live) == 1 else None
        )

    def _tops_by_names(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the children of each root to which the same local names lead as to the other root.

        Those of the saved root come first; if there are any, there are none of the live root.
        """
        sides = self.saved, self.live
        names = [_names_below(side, _only_child_or(side, side.items.root)) for side in sides]
        xs, ys = (side.items.children[side.items.root] for side in sides)
        saved = [c for c in xs if _lead_on(_names_below(self.saved, c, start=1), names[1])]
        if saved:
            return saved, ()
        return (), [c for c in ys if _lead_on(_names_below(self.live, c, start=1), names[0])]


def _above(side: Described, item: int) -> Iterator[int]:
    """Yield the items that hold an item, from the nearest on."""
    while item in side.items.parent:
        item = side.items.parent[item]
        yield item


def _unbound(side: Described, bound: Container[int], content: int) -> Sequence[int]:
    """Return the items of a content that a plain restore does not bind, if they are few."""
    items = side.of_content(content)
    return [item for item in items if item not in bound] if len(items) <= _MOST_NAMESAKES else []


class _NamesBelow(NamedTuple):
    """The local names of an item's chain, and those of its children."""

    chain: Sequence[str]
    children: Set[str]


def _only_child_or(side: Described, item: int) -> int:
    children = side.items.children[item]
    return children[0] if len(children) == 1 else item


def _names_below(side: Described, item: int, *, start: int = 0) -> _NamesBelow:
    """Return the local names of an item's chain from its `start`, and those of its children."""
    labels, chains = side.graph.tree.labels, side.items.chain
    children = {labels[chains[child][0]] for child in side.items.children[item]}
    return _NamesBelow([labels[node] for node in chains[item][start:] if node != ROOT], children)


def _lead_on(names: _NamesBelow, others: _NamesBelow) -> bool:
    """Return whether two items are called alike inside: some layers may be new or gone."""
    shared = len(names.children & others.children)
    most = max(len(names.children), len(others.children))
    return names.chain == others.chain and 2 * shared >= most > 0


def _is_inside(side: Described, root: int, wanted: Bag) -> bool:
    """Return whether a child has all that is wanted, and what is beside the only such child not."""
    total = (side.bag(root) & wanted).total()
    holders = [child for child in side.items.children[root] if side.items.children[child]]
    holding = [child for child in holders if (side.bag(child) & wanted).total() == total]
    beside = (side.bag(root) - side.bag(holding[0])) & wanted if holding else Bag()
    return bool(holding) and (len(holding) > 1 or beside.total() < total)


def linked_by_words(
    paired: PairedItems, xs: Sequence[int], ys: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the items whose names share more words than those of any other two of them."""
    names = [*map(paired.saved.last_names, xs)], [*map(paired.live.last_names, ys)]
    by_name = {xs[i]: ys[j] for i, j in paired_by_name(*names).items()}
    saved_names, live_names = paired.saved.names, paired.live.names
    common = paired.words_of_several(xs, ys)
    links = [
        (x, y) for x, y in product(xs, ys) if are_related(saved_names(x), live_names(y), common)
    ]
    counts = Counter(x for x, _ in links), Counter(y for _, y in links)
    for x, y in links:
        is_told = by_name.get(x) == y or counts[0][x] == counts[1][y] == 1
        if is_told and not paired.have_namesakes(x, y):
            yield x, y
