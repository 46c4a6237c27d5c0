"""What stays free below pairs: searched anywhere, opened in its place, or where a restore puts it.

Each step hands new pairs to `Siblings`, which match the children.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from enum import Enum
from itertools import chain

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.matching.correspondence.alignment import unique
from ckpt_viz.matching.correspondence.descriptions import Described
from ckpt_viz.matching.correspondence.items import OUTSIDE
from ckpt_viz.matching.correspondence.nearest import Key as KeyOfItem
from ckpt_viz.matching.correspondence.nearest import depth_in_common, nearest
from ckpt_viz.matching.correspondence.pairing import PairedItems
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, surest, weakest
from ckpt_viz.matching.correspondence.siblings import Siblings

_MOST_NAMESAKES = 60  # equal items with one local name
_MOST_OPENED = 4  # levels of new or lost holders, one in the other
Key = Callable[[Described, int], Hashable]


class Leaves(Enum):
    """Which values without their holders are searched in the whole tree."""

    NONE, NAMED, ALL = range(3)


class WholeTree:
    """Completes the pairs of two whole trees."""

    def __init__(self, paired: PairedItems) -> None:
        self.paired, self.siblings = paired, Siblings(paired)
        self.saved, self.live = paired.saved, paired.live

    def run(self) -> None:
        """Pair what belongs together, from the roots on."""
        self._roots()
        self._opened(are_units=False)
        self._moved(Leaves.NONE)
        self._opened()
        self._moved(Leaves.NAMED)
        self._renamed_in_place()
        self._by_plain_restore()
        self._beside_roots()
        self._moved(Leaves.ALL)
        self._holders()
        self._of_other_shapes()
        self._chains()

    def rest_of_guesses(self) -> None:
        """Pair what is free in its order, where pairs of equal items are guesses."""
        by_node, content = self.paired.by_node, self.saved.content
        guesses = [x for x, p in by_node.items() if p.certainty is Certainty.GUESS and x in content]
        for alike in dict.fromkeys(content[x] for x in guesses if self.saved.items.children[x]):
            sides = self.saved.of_content(alike), self.live.of_content(alike)
            for x, y in zip(*self.paired.free(*sides), strict=False):
                if not self.paired.contradict(x, y):
                    self.paired.add(x, y, Certainty.GUESS, Evidence.ORDER)
        self._settle()

    def _settle(self) -> None:
        while self.paired.queue:
            node, obj = self.paired.queue.pop()
            certainty = self.paired.by_node[node].certainty
            xs, ys = self.saved.items.children[node], self.live.items.children[obj]
            self.siblings.match(xs, ys, certainty)

    def _roots(self) -> None:
        x, y = self.saved.items.root, self.live.items.root
        is_deeper = self.paired.roots_inside()
        if is_deeper[0] != is_deeper[1]:
            xs = self.saved.items.children[x] if is_deeper[0] else [x]
            ys = self.live.items.children[y] if is_deeper[1] else [y]
            pair = self.paired.roots_by_names()
            if pair is not None and not self.paired.are_equal(*pair):
                self.paired.add(*pair, Certainty.LIKELY, Evidence.WITHIN)
            self._match_and_open(xs, ys, Certainty.CERTAIN)
            self._pair_top_with_root(x, y, is_saved_deeper=is_deeper[0])
        self.paired.add(x, y, Certainty.CERTAIN, Evidence.PLACE)
        self._settle()

    def _pair_top_with_root(self, x: int, y: int, *, is_saved_deeper: bool) -> None:
        """Pair a root with the top of the chain whose end belongs to a child of that root."""
        saved, live = self.saved.items, self.live.items
        for pair in list(self.paired.by_node.values()):
            parents = saved.parent.get(pair.node), live.parent.get(pair.obj)
            if parents == (x, y) and is_saved_deeper:
                self.paired.add(saved.chain[pair.node][0], y, pair.certainty, Evidence.WITHIN)
            elif parents == (x, y):
                self.paired.add(x, live.chain[pair.obj][0], pair.certainty, Evidence.WITHIN)

    def _holding_pairs(self) -> list[Pair]:
        """Return the pairs of items that hold others, parents first."""
        by_node, children = self.paired.by_node, self.saved.items.children
        return [by_node[x] for x in self.saved.items.order if children[x] and x in by_node]

    def _children(self, pair: Pair) -> tuple[Sequence[int], Sequence[int]]:
        """Return the children of both items of a pair."""
        children = self.saved.items.children.get(pair.node, ())
        return children, self.live.items.children.get(pair.obj, ())

    # --- anywhere

    def _moved(self, leaves: Leaves) -> None:
        """Pair free items anywhere: by names and content, names, then content."""
        for are_units in (False, True):
            xs, ys = self._free(leaves, are_units=are_units)
            for key in ("names", "inner names", "name", "content"):
                self._moved_by(key, xs, ys, leaves)
        self._settle()

    def _moved_by(self, name: str, xs: Sequence[int], ys: Sequence[int], leaves: Leaves) -> None:
        xs, ys = self._still_free(xs, ys)
        if not xs or not ys:
            return
        key = _KEYS[name]
        keys = (lambda x: key(self.saved, x)), (lambda y: key(self.live, y))
        for x, y in chain(unique(xs, ys, *keys), self._nearest(xs, ys, *keys)):
            if self._may_move(x, y, name, leaves):
                evidence = Evidence.CONTENT if name == "content" else Evidence.NAMES
                self.paired.add(x, y, self._certainty_of_move(x, y, name), evidence)
                self._settle()

    def _still_free(self, xs: Sequence[int], ys: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the items that are free, and have no child with a counterpart."""
        free_xs, free_ys = self.paired.free(xs, ys)
        children = self.saved.items.children, self.live.items.children
        taken = self.paired.by_node, self.paired.node_of
        free_xs = [x for x in free_xs if not any(child in taken[0] for child in children[0][x])]
        return free_xs, [
            y for y in free_ys if not any(child in taken[1] for child in children[1][y])
        ]

    def _free(self, leaves: Leaves, *, are_units: bool) -> tuple[list[int], list[int]]:
        """Return the free items of both sides, the largest of the saved ones first."""
        xs = self._searched(self.saved, self.paired.by_node, leaves, are_units=are_units)
        ys = self._searched(self.live, self.paired.node_of, leaves, are_units=are_units)
        return sorted(xs, key=lambda x: -self.saved.items.size[x]), ys

    def _nearest(
        self, xs: Sequence[int], ys: Sequence[int], *keys: KeyOfItem
    ) -> Iterator[tuple[int, int]]:
        holders = [x for x in xs if self.saved.items.children[x]]
        for x, y in nearest(self.paired, holders, ys, *keys):
            parents = self.saved.items.parent[x], self.live.items.parent[y]
            if parents[0] in self.paired.by_node or parents[1] in self.paired.node_of:
                yield x, y

    def _searched(
        self, side: Described, taken: Container[int], leaves: Leaves, *, are_units: bool
    ) -> list[int]:
        items = side.items
        return [
            item
            for item in items.order
            if item not in taken
            and (items.children[item] or _is_searched(side, item, leaves))
            and (are_units or not items.is_unit(item))
        ]

    def _may_move(self, x: int, y: int, name: str, leaves: Leaves) -> bool:
        is_value = not self.saved.items.children[x]
        both = self.saved.strong[x] & self.live.strong[y]
        if is_value and not both and (leaves is Leaves.NAMED or self._leaves_its_layer(x, y)):
            return False
        if self._is_denied(x, y, name) or self._has_namesake_in_place(x, y):
            return False
        if name in _OF_CONTENT and self.paired.have_namesakes(x, y):
            return False
        return name != "name" or self._may_have_one_name(x, y)

    def _has_namesake_in_place(self, x: int, y: int) -> bool:
        """Return whether an item of the same name is where a holder was, or comes to.

        A name in a part that both sides surely have wins over equal content elsewhere. In layers
        to which a person gave one name, the same kind does.
        """
        saved, live = self.saved.items, self.live.items
        pair = self.paired.by_node.get(saved.parent[x])
        node = self.paired.node_of.get(live.parent[y], OUTSIDE)
        beside = live.children.get(pair.obj, ()) if pair is not None and _is_sure(pair) else ()
        above = self.paired.by_node.get(node)
        before = saved.children.get(node, ()) if above is not None and _is_sure(above) else ()
        xs, ys = self.paired.free(before, beside)
        return any(self._may_stay(x, other) for other in ys if other != y) or any(
            self._may_stay(other, y) for other in xs if other != x
        )

    def _may_stay(self, x: int, y: int) -> bool:
        """Return whether two holders in a pair have one local name, and the name is no index."""
        if not (self.saved.items.children[x] and self.live.items.children[y]):
            return False
        above = self.saved.items.parent[x], self.live.items.parent[y]
        is_told = min(above) > ROOT and self.paired.have_one_chosen_name(*above)
        is_of_kind = is_told and self.paired.have_one_kind(x, y)
        return is_of_kind or bool(self.saved.labels[x] & self.live.labels[y])

    def _leaves_its_layer(self, x: int, y: int) -> bool:
        """Return whether a value would go to another layer without most values of its own."""
        if not (_is_of_layer(self.saved, x) and _is_of_layer(self.live, y)):
            return False
        saved_values = Counter(self.saved.values(self.saved.items.parent[x]))
        live_values = Counter(self.live.values(self.live.items.parent[y]))
        return 2 * (saved_values & live_values).total() <= saved_values.total()

    def _is_denied(self, x: int, y: int, name: str) -> bool:
        is_value = not self.saved.items.children[x]
        counts = self.saved.how_often(x), self.live.how_often(y)
        if is_value and counts == (1, 1) and self.paired.are_equal(x, y):
            return False
        may_differ = name == "inner names" and not is_value and not self.saved.items.is_unit(x)
        return not may_differ and self.paired.contradict(x, y)

    def _may_have_one_name(self, x: int, y: int) -> bool:
        return self.paired.similarity(x, y) > 0 or bool(self.saved.kinds(x) & self.live.kinds(y))

    def _certainty_of_move(self, x: int, y: int, name: str) -> Certainty:
        """Return how sure a move is: a holder's names tell, or a content that no other one has."""
        is_told = self.paired.are_told(x, y)
        if self.saved.items.children[x] and not is_told:
            if name in ("names", "name") and not self._has_near_namesake(x, y):
                return Certainty.LIKELY
            is_rare = self.saved.how_often(x) == self.live.how_often(y) == 1
            is_told = is_rare and self.saved.items.size[x] > 1 and not self._is_torn(x, y)
        return Certainty.LIKELY if is_told else Certainty.GUESS

    def _is_torn(self, x: int, y: int) -> bool:
        """Return whether a pair alone would leave a part without a counterpart for one with one."""
        saved, live = self.saved.items, self.live.items
        above, holder = saved.parent[x], live.parent[y]
        is_left = above not in self.paired.by_node and saved.size.get(above, 0) > saved.size[x]
        is_joined = holder not in self.paired.node_of and live.size.get(holder, 0) > live.size[y]
        return is_left != is_joined

    def _has_near_namesake(self, x: int, y: int) -> bool:
        """Return whether an item that is equal to a pair, and as near to it, has its local name."""
        names = self.saved.labels[x] & self.live.labels[y]
        if not names or not self.paired.are_equal(x, y):
            return False
        content = self.saved.content[x]
        xs = [item for item in self.saved.of_content(content) if names & self.saved.labels[item]]
        ys = [item for item in self.live.of_content(content) if names & self.live.labels[item]]
        if len(xs) + len(ys) > _MOST_NAMESAKES:
            return True
        own = depth_in_common(self.paired, x, y)
        others = [*((other, y) for other in xs), *((x, other) for other in ys)]
        return any(pair != (x, y) and depth_in_common(self.paired, *pair) >= own for pair in others)

    # --- in their place

    def _opened(self, *, are_units: bool = True) -> None:
        """Match again below pairs, with the children of what stayed free in its place.

        A layer opens only for values.
        """
        for pair in self._holding_pairs():
            children = self._children(pair)
            self._open(*children, pair.certainty, are_units=are_units)
            self._settle()

    def _beside_roots(self) -> None:
        """Match what is beside the counterpart of a root: a checkpoint tracks it at its root."""
        x, y = self.saved.items.root, self.live.items.root
        pair, node = self.paired.by_node.get(x), self.paired.node_of.get(y)
        if pair is not None and pair.obj != y:
            above = self.live.items.parent.get(pair.obj, OUTSIDE)  # inside of a chain: of no item
            beside = self.live.items.children.get(above, ())
            self.siblings.match(self.saved.items.children[x], beside, Certainty.LIKELY)
        elif node is not None and node != x:
            above = self.saved.items.parent.get(node, OUTSIDE)
            beside = self.saved.items.children.get(above, ())
            self.siblings.match(beside, self.live.items.children[y], Certainty.LIKELY)
        self._settle()

    def _renamed_in_place(self) -> None:
        """Match once more, now also against the names: what was renamed in its place."""
        self.paired.may_be_renamed = True
        for pair in self._holding_pairs():
            self._match_and_open(*self._children(pair), pair.certainty)
            self._settle()

    def _match_and_open(self, xs: Sequence[int], ys: Sequence[int], limit: Certainty) -> None:
        self.siblings.match(xs, ys, limit)
        self._open(xs, ys, limit)

    def _open(
        self, xs: Sequence[int], ys: Sequence[int], limit: Certainty, *, are_units: bool = True
    ) -> None:
        for _ in range(_MOST_OPENED):
            free_xs, free_ys = self.paired.free(xs, ys)
            if not free_xs or not free_ys:
                return
            limit = weakest(limit, Certainty.LIKELY)
            have_value = _have_value(self.saved, free_xs), _have_value(self.live, free_ys)
            inner = self._inner(self.saved, xs, self.paired.by_node, are_units and have_value[1])
            other = self._inner(self.live, ys, self.paired.node_of, are_units and have_value[0])
            if (inner, other) == (list(xs), list(ys)):
                return
            for left, right in ((xs, other), (inner, ys), (inner, other)):
                self.siblings.match(left, right, limit)
            self._settle()  # what is inside of these pairs belongs to no other part
            xs, ys = inner, other

    @staticmethod
    def _inner(
        side: Described, items: Sequence[int], taken: Container[int], are_units: bool
    ) -> list[int]:
        """Return items with the children of free holders, those of layers if `are_units`."""
        inner: list[int] = []
        for item in items:
            children = side.items.children[item]
            is_open = item not in taken and (are_units or not side.items.is_unit(item))
            inner.extend(children if children and is_open else [item])
        return inner

    # --- the plain restore, and what the pairs tell of their holders

    def _by_plain_restore(self) -> None:
        """Pair what a plain restore binds below pairs, if no name says that it is wrong."""
        for x in self.saved.items.order:
            y = self.paired.bound.get(x)
            if y is None or y not in self.live.items.place or not self._is_free(x, y):
                continue
            above = self.paired.by_node.get(self.saved.items.parent[x])
            if above is not None and self._is_bound_rightly(x, y, above):
                certainty = weakest(Certainty.LIKELY, above.certainty)
                self.paired.add(x, y, certainty, Evidence.PLACE)
                self._settle()

    def _of_other_shapes(self) -> None:
        """Pair values that a plain restore binds below pairs, though their shapes differ."""
        for x, y in self.paired.bound.items():
            above = self.paired.by_node.get(self.saved.items.parent.get(x, ROOT))
            is_value = self.saved.items.value.get(x) and self.live.items.value.get(y)
            if is_value and above is not None and above.obj == self.live.items.parent.get(y):
                self.paired.add(x, y, above.certainty, Evidence.HOLDER)

    def _is_free(self, x: int, y: int) -> bool:
        is_free = x not in self.paired.by_node and y not in self.paired.node_of
        return is_free and self.paired.are_alike(x, y)

    def _is_bound_rightly(self, x: int, y: int, above: Pair) -> bool:
        if above.obj != self.live.items.parent[y] or self.paired.contradict(x, y):
            return False
        if self.saved.kinds(x) & self.live.kinds(y):
            return True
        return self.saved.values(x) == self.live.values(y) != []

    def _holders(self) -> None:
        """Pair free items with what holds the counterparts of their children."""
        for x in reversed(self.saved.items.order):
            pairs = () if x in self.paired.by_node else self._pairs_of_children(x)
            if pairs:
                votes = Counter(self.live.items.parent[pair.obj] for pair in pairs)
                holder = max(votes, key=votes.__getitem__)
                inside = [p.certainty for p in pairs if self.live.items.parent[p.obj] == holder]
                y = self.paired.bound_in(self.live.items.chain[holder], x, holder)
                self.paired.add(x, y, weakest(surest(*inside), Certainty.LIKELY), Evidence.WITHIN)
        self.paired.queue.clear()

    def _pairs_of_children(self, x: int) -> Sequence[Pair]:
        """Return the pairs of an item's children whose holder on the live side is free."""
        partners = (self.paired.by_node.get(child) for child in self.saved.items.children[x])
        pairs = [pair for pair in partners if pair is not None]
        holders = [self.live.items.parent.get(pair.obj, OUTSIDE) for pair in pairs]
        free = (holder != OUTSIDE and holder not in self.paired.node_of for holder in holders)
        return [pair for pair, is_free in zip(pairs, free, strict=True) if is_free]

    def _chains(self) -> None:
        """Pair the nodes of chains, from their ends up, then with what is above the other end."""
        pairs = list(self.paired.by_node.values())
        for pair in pairs:
            saved_chain = self.saved.items.chain.get(pair.node, ())[:-1]
            live_chain = self.live.items.chain.get(pair.obj, ())[:-1]
            if not saved_chain or not live_chain:
                continue
            objects = frozenset(live_chain)  # a chain can be long
            for x, y in zip(reversed(saved_chain), reversed(live_chain), strict=False):
                y = self.paired.bound_in(objects, x, y)
                self.paired.add(x, y, pair.certainty, Evidence.WITHIN)
        for pair in pairs:
            self._with_holder_above(pair)
        self._lists_of_layers()
        self.paired.queue.clear()

    def _lists_of_layers(self) -> None:
        """Pair the lists of layers of two models that are a pair."""
        of_live = {holder: y for y, holder in self.live.items.lists.items()}
        for x, holder in self.saved.items.lists.items():
            pair = self.paired.by_node.get(holder)
            if pair is not None and pair.obj in of_live:
                self.paired.add(x, of_live[pair.obj], pair.certainty, Evidence.WITHIN)

    def _with_holder_above(self, pair: Pair) -> None:
        """Pair what a plain restore binds in a saved chain, if it holds the other chain."""
        nodes = self.saved.items.chain.get(pair.node, ())
        top, parents = nodes[0] if len(nodes) > 1 else ROOT, self.live.items.parent
        bound = self.paired.bound.get(top)
        if top != ROOT and bound is not None and bound == parents.get(pair.obj):
            self.paired.add(top, bound, pair.certainty, Evidence.WITHIN)


_KEYS: dict[str, Key] = {
    "names": lambda side, item: (side.named[item], *sorted(side.names(item))),
    "inner names": lambda side, item: side.named[item],
    "name": lambda side, item: (
        tuple(sorted(side.names(item))) if side.strong[item] else (id(side), item)
    ),
    "content": lambda side, item: side.content[item],
}
_OF_CONTENT = ("inner names", "content")  # keys that say nothing of an item's own name


def _is_sure(pair: Pair) -> bool:
    return pair.certainty is Certainty.CERTAIN


def _is_searched(side: Described, value: int, leaves: Leaves) -> bool:
    return leaves is Leaves.ALL or (leaves is Leaves.NAMED and bool(side.strong[value]))


def _is_of_layer(side: Described, value: int) -> bool:
    """Return whether a value is one of several of a layer that holds no other layers."""
    beside = side.items.children.get(side.items.parent[value], ())
    return len(beside) > 1 and not any(side.items.children[item] for item in beside)


def _have_value(side: Described, items: Sequence[int]) -> bool:
    return any(not side.items.children[item] for item in items)
