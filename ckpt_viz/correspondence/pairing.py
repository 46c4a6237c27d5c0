"""The pairs so far, and what the items of two sides have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ckpt_viz.correspondence.descriptions import Described
from ckpt_viz.correspondence.names import are_related
from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair


class PairedItems:
    """Pairs of a saved side and a live side; each node has at most one counterpart.

    `queue` has the pairs whose children are not compared yet. `may_be_renamed` says that names may
    differ in one place: only the last steps take such pairs.
    """

    def __init__(self, saved: Described, live: Described, bound: dict[int, int]) -> None:
        self.saved, self.live, self.bound = saved, live, bound
        self.by_node: dict[int, Pair] = {}
        self.node_of: dict[int, int] = {}
        self.queue: list[tuple[int, int]] = []
        self.may_be_renamed = False

    def add(self, x: int, y: int, certainty: Certainty, evidence: Evidence) -> None:
        """Pair two nodes, unless one of them has a counterpart."""
        if x in self.by_node or y in self.node_of:
            return
        if self._are_holders(x, y) and self._differ_in_depth(x, y):
            x, y = self._at_one_level(x, y)
        self.by_node[x] = Pair(x, y, certainty, evidence)
        self.node_of[y] = x
        if self._are_holders(x, y):
            self.queue.append((x, y))

    def free(self, xs: Iterable[int], ys: Iterable[int]) -> tuple[list[int], list[int]]:
        """Return the items of each side that have no counterpart."""
        ours = [x for x in xs if x not in self.by_node]
        return ours, [y for y in ys if y not in self.node_of]

    def _are_holders(self, x: int, y: int) -> bool:
        saved, live = self.saved.items.children, self.live.items.children
        return bool(saved.get(x) and live.get(y))

    def _differ_in_depth(self, x: int, y: int) -> bool:
        return len(self.saved.items.chain[x]) != len(self.live.items.chain[y])

    def _at_one_level(self, x: int, y: int) -> tuple[int, int]:
        """Return both items; where one alone is a chain, the child that ends as the chain does."""
        ours, theirs = self.saved.labels[x], self.live.labels[y]
        free = self.free(self.saved.items.children[x], self.live.items.children[y])
        for child in free[0]:
            if self.saved.labels[child] & theirs - ours and not self.saved.items.is_unit(child):
                return child, y
        for child in free[1]:
            if self.live.labels[child] & ours - theirs and not self.live.items.is_unit(child):
                return x, child
        return x, y

    # --- questions about two items

    def are_equal(self, x: int, y: int) -> bool:
        """Return whether two items hold equal values in equal parts."""
        return self.saved.content[x] == self.live.content[y]

    def are_alike(self, x: int, y: int) -> bool:
        """Return whether both items hold others, or both are values."""
        return bool(self.saved.items.children[x]) == bool(self.live.items.children[y])

    def are_related(self, x: int, y: int) -> bool:
        """Return whether the names of two items share a word."""
        return are_related(self.saved.names(x), self.live.names(y))

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
        ours, theirs = self.saved.names(x), self.live.names(y)
        if not ours or not theirs or ours & theirs or are_related(ours, theirs):
            return False
        is_named = bool(self.saved.strong[x] or self.live.strong[y])
        return is_named and all(map(self.saved.chosen.is_chosen, (min(ours), min(theirs))))

    def _is_undecided_unit(self, x: int, y: int) -> bool:
        is_decided = x in self.by_node or y in self.node_of
        return not is_decided and self.saved.items.is_unit(x)

    def fit_as_roots(self) -> bool:
        """Return whether both roots are at one level: neither has a level more than the other."""
        x, y = self.saved.items.root, self.live.items.root
        total = self.common(x, y)
        inside_saved = self._holds_all(self.saved, x, lambda child: self.common(child, y) == total)
        inside_live = self._holds_all(self.live, y, lambda child: self.common(x, child) == total)
        return inside_saved == inside_live

    @staticmethod
    def _holds_all(side: Described, item: int, has_all: Callable[[int], bool]) -> bool:
        children = side.items.children[item]
        return any(has_all(child) for child in children if side.items.children[child])


def lists_of_children(paired: PairedItems, pair: Pair) -> tuple[Sequence[int], Sequence[int]]:
    """Return the children of both items of a pair."""
    ours = paired.saved.items.children.get(pair.node, ())
    return ours, paired.live.items.children.get(pair.obj, ())
