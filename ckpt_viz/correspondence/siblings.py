"""The children of two items that belong together, matched in one way whatever holds them.

First come anchors: names that one child of each side has. Then come contents without a rival, and
names that share words. Then anchors that keep their order cut both lists, and each gap is aligned,
so that "removed here" and "inserted there" fall into different gaps. Last come attributes in their
order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ckpt_viz.correspondence.alignment import Score, align, longest_increasing, unique
from ckpt_viz.correspondence.descriptions import Described
from ckpt_viz.correspondence.names import begin_alike
from ckpt_viz.correspondence.nearest import of_one_key
from ckpt_viz.correspondence.pairing import PairedItems, linked_by_words
from ckpt_viz.correspondence.pairs import Certainty, Evidence, weakest

_MOST_RELATED = 40_000  # compared names of equal items
# Worth of evidence.
_STRONG, _LABEL, _INNER, _CONTENT = 8.0, 4.0, 6.0, 4.0
_CONTRADICTED, _RELATED, _COUNTED, _BOUND, _NUMBERED = 3.0, 2.0, 1.0, 0.5, 0.25
_BEGINNING = 0.5
_KIND = 0.5
_MOSTLY = 0.5  # similarity of items that may be one

Items = Sequence[int]
Token = tuple[str, str]
_INSIDE = "inner names"


class _Vote(NamedTuple):
    """A pair that names speak for: their worth, how similar the content is, and which names."""

    worth: float
    similarity: float
    node: int
    obj: int
    told: set[str]

    @property
    def evidence(self) -> Evidence:
        """The strongest name."""
        return Evidence.NAMES if {"name", _INSIDE} & self.told else Evidence.HOLDER


class Siblings:
    """Matches the children of pairs; `limit` is the certainty of their holders."""

    def __init__(self, paired: PairedItems) -> None:
        self.paired = paired
        self.saved, self.live = paired.saved, paired.live
        self._compared: set[tuple[int, int, bool]] = set()

    def match(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair the children of two items.

        Lists that were compared before, and have lost no item since, are not compared again.
        """
        free = self.paired.free(xs, ys)
        state = hash(tuple(free[0])), hash(tuple(free[1])), self.paired.may_be_renamed
        if not all(free) or state in self._compared:
            return
        self._compared.add(state)
        steps = self._anchors, self._without_rival, self._by_words, self._gaps, self._by_attributes
        for step in steps:
            if all(self.paired.free(xs, ys)):
                step(xs, ys, limit)

    # --- anchors

    def _anchors(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair children by names that one child of each side has, the best pairs first."""
        free = self.paired.free(xs, ys)
        votes = filter(self._is_anchor, self._votes(*free))
        for vote in sorted(votes, key=self._rank):
            is_weak = vote.told == {_INSIDE} and vote.similarity < 1
            sure = Certainty.LIKELY if is_weak else Certainty.CERTAIN
            self.paired.add(vote.node, vote.obj, weakest(limit, sure), vote.evidence)

    def _rank(self, vote: _Vote) -> tuple[float, bool, int, int]:
        """Return the sort key of a vote; between equals, what a plain restore binds comes first."""
        is_other = self.paired.bound.get(vote.node) != vote.obj
        places = self.saved.items.place[vote.node], self.live.items.place[vote.obj]
        return -vote.worth, is_other, *places

    def _votes(self, xs: Items, ys: Items) -> Iterator[_Vote]:
        ours, theirs = _owners(self.saved, xs, True), _owners(self.live, ys, False)
        worth: Counter[tuple[int, int]] = Counter()
        told: dict[tuple[int, int], set[str]] = defaultdict(set)
        for token in sorted(ours.keys() & theirs.keys()):  # sums of one order are equal
            (x, own), (y, other) = ours[token], theirs[token]
            worth[x, y] += min(own, other)  # type: ignore[assignment]
            told[x, y].add(token[0])
        for (x, y), names in told.items():
            similarity = self.paired.similarity(x, y)
            total = worth[x, y] + _CONTENT * similarity
            total -= _CONTRADICTED * self.paired.contradict(x, y)
            yield _Vote(total, similarity, x, y, names)

    def _is_anchor(self, vote: _Vote) -> bool:
        if not self.paired.are_alike(vote.node, vote.obj):
            return False
        units = self.saved.items.is_unit(vote.node), self.live.items.is_unit(vote.obj)
        is_similar = vote.similarity >= _MOSTLY
        if units[0] != units[1] and not is_similar and "label" not in vote.told:
            return False
        if vote.told != {_INSIDE}:
            is_bound = self.paired.bound.get(vote.node) == vote.obj and vote.similarity > 0
            is_sure = is_bound or self.paired.may_be_renamed
            return is_sure or not self.paired.have_equal_namesakes(vote.node, vote.obj)
        if self._are_renamed(vote.node, vote.obj) and not self.paired.may_be_renamed:
            return False
        names_alone = vote.worth - _CONTENT * vote.similarity
        return not any(units) and vote.similarity > 0 and (names_alone >= 1 or is_similar)

    def _are_renamed(self, x: int, y: int) -> bool:
        """Return whether two items of other content have other local names."""
        ours, theirs = self.saved.labels[x], self.live.labels[y]
        return bool(ours and theirs and not ours & theirs) and not self.paired.are_equal(x, y)

    def _may_have_other_names(self, x: int, y: int) -> bool:
        return self.paired.may_be_renamed or self.paired.are_related(x, y)

    # --- content and order

    def _without_rival(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair children whose content no other free child has."""
        free = self.paired.free(xs, ys)
        for x, y in unique(*free, self.saved.content.__getitem__, self.live.content.__getitem__):
            if not self._is_refused(x, y) and self._may_be_renamed(x, y):
                self.paired.add(x, y, weakest(limit, Certainty.LIKELY), Evidence.CONTENT)

    def _is_refused(self, x: int, y: int) -> bool:
        """Return whether names speak against a pair, those of both or those of items elsewhere."""
        if self.paired.contradict(x, y) or self._is_bound_beside(x, y):
            return True
        return not self.paired.may_be_renamed and self.paired.have_namesakes(x, y)

    def _is_bound_beside(self, x: int, y: int) -> bool:
        """Return whether a plain restore binds an item, by no index, to a similar one beside."""
        bound = self.paired.bound.get(x, y)
        if bound == y or self.saved.index[x] is not None or bound in self.paired.node_of:
            return False
        parents = self.live.items.parent
        is_beside = bound in parents and parents[bound] == parents[y]
        return is_beside and self.paired.similarity(x, bound) >= _MOSTLY

    def _may_be_renamed(self, x: int, y: int) -> bool:
        """Return whether another local name does not speak against a pair; of a value it does."""
        labels = self.saved.labels[x]
        return bool(self.saved.items.children[x]) or not labels or labels == self.live.labels[y]

    def _gaps(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Align what lies between the same anchors, in order."""
        place = {y: j for j, y in enumerate(ys)}
        partners = [(i, self.paired.by_node.get(x)) for i, x in enumerate(xs)]
        known = [(i, place[p.obj]) for i, p in partners if p is not None and p.obj in place]
        anchors = longest_increasing(known) if self.paired.is_ordered else ()
        cuts = [(-1, -1), *anchors, (len(xs), len(ys))]
        for (i, j), (end, other_end) in pairwise(cuts):
            ours, theirs = self.paired.free(xs[i + 1 : end], ys[j + 1 : other_end])
            if ours and theirs:
                self._gap(ours, theirs, limit)

    def _gap(self, xs: Items, ys: Items, limit: Certainty) -> None:
        worth = self._worth_in_gap(xs, ys)
        pairs = align(xs, ys, worth)
        places = dict(zip(xs, ys, strict=False))
        is_whole = len(xs) == len(ys) and all(places[x] == y for x, y in pairs)
        counts = Counter(_named_alike(self.saved, xs)), Counter(_named_alike(self.live, ys))
        looks = dict(zip(xs, _named_alike(self.saved, xs), strict=True))
        for x, y in pairs:
            is_even = counts[0][looks[x]] == counts[1][looks[x]]
            sure = self._is_sure_in_order(x, y, is_even=is_even, is_whole=is_whole)
            sure = sure or (is_even and counts[0][looks[x]] == 1 and self._is_one_nameless(x, y))
            is_told = sure or (self._is_exact_or_free(x, y) and self._is_told(x, y, xs, ys, worth))
            certainty = Certainty.LIKELY if is_told else Certainty.GUESS
            self.paired.add(x, y, weakest(limit, certainty), Evidence.ORDER)

    def _is_told(self, x: int, y: int, xs: Items, ys: Items, worth: Score) -> bool:
        """Return whether names speak for a pair, and for no other pair of both items."""
        if len(xs) == len(ys) == 1:
            return not self._have_rivals(x, y)
        if len(xs) * len(ys) > _MOST_RELATED or not self.saved.items.children[x]:
            return False
        least = worth(x, y)
        rivals = [worth(x, other) for other in ys if other != y]
        rivals += [worth(other, y) for other in xs if other != x]
        if self.paired.are_related(x, y):
            return all(rival < least for rival in rivals)
        return self._have_one_kind(x, y) and not any(rivals)

    def _have_rivals(self, x: int, y: int) -> bool:
        """Return whether an equal attribute beside one of two attributes is free, too.

        The order of attributes says nothing, so anchors between them say nothing, either.
        """
        if not (_is_attribute(self.saved, x) and _is_attribute(self.live, y)):
            return False
        beside = _beside(self.saved, x), _beside(self.live, y)
        xs, ys = self.paired.free(*beside)
        content = self.saved.content[x]
        saved = sum(self.saved.content[item] == content for item in xs)
        return saved > 1 or sum(self.live.content[item] == content for item in ys) > 1

    def _is_sure_in_order(self, x: int, y: int, *, is_even: bool, is_whole: bool) -> bool:
        if self.paired.bound.get(x) == y and self.saved.index[x] is None:
            return True
        if self.paired.are_equal(x, y):
            return (is_even or is_whole) and self._are_named_alike(x, y)
        return is_whole and not self.paired.contradict(x, y)

    def _is_one_nameless(self, x: int, y: int) -> bool:
        """Return whether only one of two equal items has a local name, the other a place."""
        is_nameless = not self.saved.labels[x] or not self.live.labels[y]
        return is_nameless and self.paired.are_equal(x, y)

    def _are_named_alike(self, x: int, y: int) -> bool:
        """Return whether a person gave two items names that agree, or none to either."""
        ours, theirs = self.saved.labels[x], self.live.labels[y]
        return bool(ours & theirs) or not (ours or theirs) or self._have_one_full_name(x, y)

    def _is_exact_or_free(self, x: int, y: int) -> bool:
        return self.paired.are_equal(x, y) or not self.paired.contradict(x, y)

    def _worth_in_gap(self, xs: Items, ys: Items) -> Score:
        """Return what tells the worth of a pair, 0 if the items cannot be a pair.

        A gap may have thousands of pairs, but few looks: each pair of looks is compared once.
        """
        ours, theirs = _looks(self.saved, xs), _looks(self.live, ys)
        numbers = {x: self.saved.number(x) for x in xs}, {y: self.live.number(y) for y in ys}
        known: dict[tuple[int, int], float] = {}

        def worth(x: int, y: int) -> float:
            looks = ours[x], theirs[y]
            if looks not in known:
                known[looks] = self._worth_of_looks(x, y)
            if known[looks] <= 0:
                return 0.0
            told = known[looks] + _COUNTED * self._have_one_full_name(x, y)
            told += _BOUND * (self.paired.bound.get(x) == y)
            number = numbers[0][x]
            return told + _NUMBERED * (number is not None and number == numbers[1][y])

        return worth

    def _worth_of_looks(self, x: int, y: int) -> float:
        """Return what content and names are worth, 0 if the items cannot be a pair."""
        if not self.paired.are_alike(x, y):
            return 0.0
        is_contradicted = self.paired.contradict(x, y)
        if not self.paired.may_be_renamed and self._is_refused(x, y):
            return 0.0
        similarity = self.paired.similarity(x, y)
        if not self._may_align(x, y, similarity, is_contradicted=is_contradicted):
            return 0.0
        worth = _CONTENT * similarity - is_contradicted + _RELATED * self.paired.are_related(x, y)
        worth += _KIND * self._have_one_kind(x, y)
        return worth + _BEGINNING * begin_alike(self.saved.names(x), self.live.names(y))

    def _have_one_full_name(self, x: int, y: int) -> bool:
        """Return whether two values have equal full names with a scope, even a counted one."""
        full_name = self.saved.full_name.get(x, "")
        return "/" in full_name and full_name == self.live.full_name.get(y)

    def _may_align(self, x: int, y: int, similarity: float, *, is_contradicted: bool) -> bool:
        if not self.saved.items.children[x]:
            ours, theirs = self.saved.labels[x], self.live.labels[y]
            return similarity > 0 and (ours == theirs or not ours or not theirs)
        if self.paired.are_equal(x, y):
            return True
        if self._are_renamed(x, y) and not self._may_have_other_names(x, y):
            return False
        is_unit = self.saved.items.is_unit(x)
        if is_contradicted or is_unit != self.live.items.is_unit(y):
            return False
        if is_unit:
            is_similar = similarity >= _MOSTLY or self._have_one_kind(x, y)
            return is_similar and self.paired.may_be_renamed
        return similarity >= _MOSTLY

    def _have_one_kind(self, x: int, y: int) -> bool:
        """Return whether two layers have values of the same local names, of whatever shapes."""
        return self.saved.kinds(x) == self.live.kinds(y) != set()

    # --- other names

    def _by_words(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair free children of equal content whose names share words, as no others do."""
        for ours, theirs in self._of_one_content(xs, ys):
            for x, y in linked_by_words(self.paired, ours, theirs):
                self.paired.add(x, y, weakest(limit, Certainty.LIKELY), Evidence.WORDS)

    def _of_one_content(self, xs: Items, ys: Items) -> Iterator[tuple[list[int], list[int]]]:
        contents = self.saved.content.get, self.live.content.get
        return of_one_key(*self.paired.free(xs, ys), *contents)

    def _by_attributes(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair attributes of equal content in their order, which nothing prescribes."""
        if not self.paired.may_be_renamed:
            return
        counts = Counter(map(self.saved.content.get, xs)), Counter(map(self.live.content.get, ys))
        for ours, theirs in self._of_one_content(xs, ys):
            content = self.saved.content[ours[0]]
            is_only = counts[0][content] == counts[1][content] == 1
            sure = weakest(limit, Certainty.LIKELY if is_only else Certainty.GUESS)
            ours = [x for x in ours if _is_attribute(self.saved, x)]
            theirs = [y for y in theirs if _is_attribute(self.live, y)]
            for x, y in zip(ours, theirs, strict=False):
                self.paired.add(x, y, sure, Evidence.ORDER)


def _owners(side: Described, items: Items, is_saved: bool) -> dict[Token, tuple[int, float]]:
    """Return the names that one item has, with this item and the worth of the name."""
    owners: dict[Token, dict[int, float]] = defaultdict(dict)
    for item in items:
        for token, worth in _tokens(side, item, is_saved):
            owners[token][item] = max(worth, owners[token].get(item, 0.0))
    return {token: next(iter(who.items())) for token, who in owners.items() if len(who) == 1}


def _tokens(side: Described, item: int, is_saved: bool) -> Iterator[tuple[Token, float]]:
    """Yield the names of an item; the name of a layer may be an attribute on the other side."""
    crossed = ("attribute and name", "name and attribute")
    as_label, as_name = crossed if is_saved else crossed[::-1]
    for name in side.labels[item]:
        yield ("label", name), _LABEL
        yield (as_label, name), _LABEL
    for name in side.strong[item]:
        yield ("name", name), _STRONG
        yield (as_name, name), _LABEL
    for name in side.inner[item]:
        yield (_INSIDE, name), _INNER / len(side.inner[item])


def _looks(side: Described, items: Items) -> dict[int, int]:
    """Number items by their content and names, and values also by what holds them."""
    numbers: dict[Hashable, int] = {}
    looks: dict[int, int] = {}
    for item in items:
        holder = None if side.items.children[item] else side.items.parent[item]
        names = frozenset(side.labels[item]), frozenset(side.strong[item])
        looks[item] = numbers.setdefault((side.content[item], holder, *names), len(numbers))
    return looks


def _named_alike(side: Described, items: Items) -> list[tuple[int, bool]]:
    """Return the contents of items, those of layers that a person named apart."""
    return [(side.content[item], item in side.are_named) for item in items]


def _beside(side: Described, item: int) -> Items:
    """Return the items of one parent."""
    return side.items.children.get(side.items.parent[item], ())


def _is_attribute(side: Described, item: int) -> bool:
    """Return whether only a local name that a person may change leads to an item."""
    return not side.items.children[item] or bool(side.labels[item] and not side.strong[item])
