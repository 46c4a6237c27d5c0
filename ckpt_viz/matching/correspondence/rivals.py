"""Pairs that equal rivals make guesses: neither a name nor a place tells them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache

from ckpt_viz.graphs.nodes.walks import above, reached
from ckpt_viz.matching.correspondence.descriptions import Described
from ckpt_viz.matching.correspondence.nearest import depth_in_common
from ckpt_viz.matching.correspondence.pairing import PairedItems
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.name_rules.names import canonical

_MOST_RIVALS = 60  # equal items of one side
# What tells that two equal items belong together, from nothing to a name that a person chose.
_NOTHING, _SAME_PLACE, _NAME_OF_ALL, _COMMON_WORD, _MOST_WORDS = range(5)
_TRAINED, _LOCAL_NAME, _CHOSEN_NAME = range(5, 8)


def make_guesses_of_rivals(paired: PairedItems) -> None:
    """Make a guess of each pair that an equal item of either side could be in as well.

    A restore that binds a pair decides, and so does the name of an item in parts that belong
    together.
    """
    rivals, items = _Rivals(paired), paired.saved.items
    pairs = [*paired.by_node.values()]
    doubtful = [pair.node for pair in pairs if rivals.may_be_another(pair)]
    for item in reached(doubtful, items.children.__getitem__):
        for node in items.chain[item]:
            paired.doubt(node)


class _Rivals:
    def __init__(self, paired: PairedItems) -> None:
        self.paired = paired
        self.saved, self.live = paired.saved, paired.live
        self._common_names: dict[int, Set[str]] = {}
        # Places among all equal items, and among those that a person named, or did not name.
        self._places = [
            (_places(self.saved, are_named_apart=apart), _places(self.live, are_named_apart=apart))
            for apart in (False, True)
        ]

    def may_be_another(self, pair: Pair) -> bool:
        """Return whether an equal item could take the place of one in a pair."""
        x, y = pair.node, pair.obj
        if pair.certainty is Certainty.GUESS or not self._is_top(x, y):
            return False
        return self._has_rival(x, y)

    def _has_rival(self, x: int, y: int) -> bool:
        own = self._evidence(x, y)
        others = (*self._rivals(self.saved, x, y, is_saved=True),)
        others += (*self._rivals(self.live, y, x, is_saved=False),)
        return any(
            evidence >= own or (is_free and own[0] <= _SAME_PLACE) for evidence, is_free in others
        )

    def _is_top(self, x: int, y: int) -> bool:
        """Return whether two equal items with others in them are paired by themselves."""
        if x not in self.saved.items.place or y not in self.live.items.place:
            return False
        is_holder = bool(self.saved.items.children[x]) and self.paired.are_equal(x, y)
        if not is_holder or self.paired.are_bound(x, y):
            return False
        if not self._have_paired_holders(x, y):
            return True
        are_in_sequences = self.saved.index[x] is not None and self.live.index[y] is not None
        if are_in_sequences and self._have_one_place(x, y):
            return False
        names = _ends_of_chain(self.saved, x), _ends_of_chain(self.live, y)
        return names[0] != names[1] or "" in names[0]

    def _have_paired_holders(self, x: int, y: int) -> bool:
        above = self.paired.by_node.get(self.saved.items.parent[x])
        return above is not None and above.obj == self.live.items.parent[y]

    def _rivals(
        self, side: Described, item: int, other: int, *, is_saved: bool
    ) -> Iterator[tuple[tuple[int, int], bool]]:
        """Yield for each rival of an item its evidence for the other one, and whether it is free.

        An item is no rival if a restore binds it by more than order, or its own counterpart has
        better evidence. Nor is it if the pair agrees in names that the item does not have, or in
        having none, or is in layers of one name that the item is not in.
        """
        equals = side.of_content(side.content[item])
        x, y = (item, other) if is_saved else (other, item)
        owner = self._owner_by_name(x, y)
        if owner is not None:
            inside = owner[0] if is_saved else owner[1]
            equals = [each for each in equals if inside in above(side.items.parent, each)]
        has_own_names = self.saved.named[x] == self.live.named[y]
        are_alike = (x in self.saved.are_named) == (y in self.live.are_named)
        for rival in equals if len(equals) <= _MOST_RIVALS else ():
            if rival == item or (has_own_names and side.named[rival] != side.named[item]):
                continue
            if are_alike and (rival in side.are_named) != (item in side.are_named):
                continue
            pair = (rival, other) if is_saved else (other, rival)
            evidence, partner = self._evidence(*pair), self._partner(rival, is_saved=is_saved)
            if partner is None:
                yield evidence, True
            elif not self._is_settled(*partner) and self._evidence(*partner) <= evidence:
                yield evidence, False

    def _owner_by_name(self, x: int, y: int) -> tuple[int, int] | None:
        """Return the nearest sure pair around two items to which a person gave one name."""
        holders = {*above(self.live.items.parent, y)}
        for node in above(self.saved.items.parent, x):
            pair = self.paired.by_node.get(node)
            if pair is None or pair.obj not in holders or pair.certainty is Certainty.GUESS:
                continue
            if self.paired.have_one_chosen_name(*pair[:2]):
                return pair.node, pair.obj
        return None

    def _is_settled(self, x: int, y: int) -> bool:
        """Return whether a restore binds a pair, by more than the order of layers without names."""
        is_by_order = self.paired.by_node[x].evidence is Evidence.ORDER
        return self.paired.are_bound(x, y) and not is_by_order

    def _partner(self, item: int, *, is_saved: bool) -> tuple[int, int] | None:
        """Return the sure pair of an item."""
        node = item if is_saved else self.paired.node_of.get(item)
        pair = None if node is None else self.paired.by_node.get(node)
        return None if pair is None or pair.certainty is Certainty.GUESS else pair[:2]

    def _evidence(self, x: int, y: int) -> tuple[int, int]:
        """Return what speaks for a pair; between namesakes, the deepest pair above both decides."""
        if self.saved.strong[x] & self.live.strong[y]:
            return _CHOSEN_NAME, depth_in_common(self.paired, x, y)
        names = self._own_names(x, y)
        if names - self._names_of_all(self.saved.content[x]):
            return _LOCAL_NAME, depth_in_common(self.paired, x, y)
        if self.paired.is_trained_alone(x, y):
            return _TRAINED, 0
        if self.paired.by_words(self.saved.content[x]).get(x) == y:
            return _MOST_WORDS, 0
        if names:
            return _NAME_OF_ALL, depth_in_common(self.paired, x, y)
        if self.paired.are_related(x, y):
            return _COMMON_WORD, 0
        return (_SAME_PLACE if self._have_one_place(x, y) else _NOTHING), 0

    def _own_names(self, x: int, y: int) -> Set[str]:
        """Return the local names that both items have, if the own name of either is among them."""
        own = {_ends_of_chain(self.saved, x)[1], _ends_of_chain(self.live, y)[1]}
        names = self.saved.labels[x] & self.live.labels[y]
        return names if names & own else set()

    def _names_of_all(self, content: int) -> Set[str]:
        """Return the local names that all items of a content have: these tell none of them."""
        if content not in self._common_names:
            common = (_common_names(side, content) for side in (self.saved, self.live))
            self._common_names[content] = set[str]().union(*common)
        return self._common_names[content]

    def _have_one_place(self, x: int, y: int) -> bool:
        """Return whether two holders have equally many such items, and these come in one order.

        The holders are a pair, or sequences that hold all such items of their sides.
        """
        return any(
            place_of_saved(x) == place_of_live(y)
            and (
                self._have_paired_holders(x, y)
                or self._are_in_only_sequences(x, y, place_of_saved(x)[1])
            )
            for place_of_saved, place_of_live in self._places
        )

    def _are_in_only_sequences(self, x: int, y: int, number: int) -> bool:
        """Return whether one sequence of each side has all items that are equal to one of these."""
        sides = (self.saved, x), (self.live, y)
        return all(
            side.index[item] is not None and side.how_often(item) == number for side, item in sides
        )


def _places(side: Described, *, are_named_apart: bool) -> Callable[[int], tuple[int, int]]:
    """Return what tells an item's place among the equal items beside it, and their number."""

    @cache
    def beside(parent: int) -> Mapping[int, tuple[int, int]]:
        groups: dict[tuple[int, bool], list[int]] = defaultdict(list)
        for item in side.items.children.get(parent, ()):
            is_apart = are_named_apart and item in side.are_named
            groups[side.content[item], is_apart].append(item)
        return {
            item: (place, len(group))
            for group in groups.values()
            for place, item in enumerate(group)
        }

    return lambda item: beside(side.items.parent[item]).get(item, (0, 1))


def _common_names(side: Described, content: int) -> Set[str]:
    """Return the local names that several items have, all of one content."""
    labels = [side.labels[item] for item in side.of_content(content)]
    return labels[0].intersection(*labels) if len(labels) > 1 else set()


def _ends_of_chain(side: Described, item: int) -> tuple[str, str]:
    """Return the first and the last local name from an item's parent to it, "" for an index."""
    labels, chain = side.graph.tree.labels, side.items.chain[item]
    return canonical(labels[chain[0]]), canonical(labels[chain[-1]])
