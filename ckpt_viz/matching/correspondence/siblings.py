"""The children of two items that belong together, matched in one way whatever holds them.

First come children that have exchanged their names. Then come anchors: names that one child of each
side has, what an optimizer trains, contents without a rival, and names that share words. Then
anchors that keep their order cut both lists, and each gap is aligned, so that "removed here" and
"inserted there" fall into different gaps. Last come attributes in their order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from ckpt_viz.matching.correspondence.alignment import Score, align, longest_increasing, unique
from ckpt_viz.matching.correspondence.descriptions import Described
from ckpt_viz.matching.correspondence.nearest import of_one_key
from ckpt_viz.matching.correspondence.pairing import PairedItems, linked_by_words
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, weakest
from ckpt_viz.matching.name_rules.names import begin_alike

_MOST_RELATED = 40_000  # compared names of equal items
# Worth of evidence.
_STRONG, _LABEL, _INNER, _CONTENT = 8.0, 4.0, 6.0, 4.0
_CONTRADICTED, _RELATED, _COUNTED, _BOUND, _NUMBERED = 3.0, 2.0, 1.0, 0.5, 0.25
_BEGINNING = 0.5
_KIND = 0.5
_NAMED = 0.125  # a person named both, or neither
_LAST = 1.0  # both are the last layer, which gives what a model returns
_MOSTLY = 0.5  # similarity of items that may be one

Items = Sequence[int]
Named = Mapping[int, tuple[int, bool]]  # the content of items, and whether a person named them
Kind = tuple[str, str]  # what a name is on the saved side, and on the live side
_LABELS, _NAMES, _INSIDE = ("label", "label"), ("name", "name"), ("inner", "inner")
_WORTH: Mapping[Kind, float] = {
    ("label", "name"): _LABEL,  # a layer's name may be an attribute on one side
    _INSIDE: _INNER,
    _LABELS: _LABEL,
    _NAMES: _STRONG,
    ("name", "label"): _LABEL,
}


class _Vote(NamedTuple):
    """A pair that names speak for: their worth, how similar the content is, and their kinds."""

    worth: float
    similarity: float
    node: int
    obj: int
    kinds: Set[Kind]

    @property
    def evidence(self) -> Evidence:
        """The strongest name."""
        return Evidence.NAMES if {_NAMES, _INSIDE} & self.kinds else Evidence.HOLDER

    @property
    def is_from_inside(self) -> bool:
        """Whether only names inside of both items speak for it."""
        return self.kinds == {_INSIDE}


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
        if not all(free):
            return
        state = hash(tuple(free[0])), hash(tuple(free[1])), self.paired.may_be_renamed
        if state in self._compared:
            return
        self._compared.add(state)
        self._exchanged(*free, limit)
        steps = self._anchors, self._trained, self._without_rival, self._by_words
        for step in (*steps, self._gaps, self._by_attributes):
            step(xs, ys, limit)
            if not all(self.paired.free(xs, ys)):
                return

    # --- exchanged names

    def _exchanged(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair children that have exchanged their local names: each has the content of another.

        A layer whose values are partly as before has kept its name: only its inputs differ.
        """
        holders = [x for x in xs if self.saved.items.children[x] and self.saved.labels[x]]
        owners = _owners(self.live, ys)["label"]
        namesakes = {
            x: y
            for x in holders
            for y in [owners.get(label) for label in self.saved.labels[x]]
            if y is not None and self.live.items.children[y]
            if not (self.paired.are_equal(x, y) or self.saved.strong[x] & self.live.strong[y])
            if not (self.saved.items.is_unit(x) and self.paired.common(x, y))
        }
        contents = self.saved.content.__getitem__, self.live.content.__getitem__
        equal = dict(unique([*namesakes], [*namesakes.values()], *contents))
        had_name = {y: x for x, y in namesakes.items()}
        for x, y in equal.items():
            circle = [x]
            while (following := had_name[equal[circle[-1]]]) in equal and following not in circle:
                circle.append(following)
            if following == x:
                self.paired.add(x, y, weakest(limit, Certainty.LIKELY), Evidence.CONTENT)

    # --- anchors

    def _anchors(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair children by names that one child of each side has, the best pairs first."""
        free = self.paired.free(xs, ys)
        votes = filter(self._is_anchor, self._votes(*free))
        for vote in sorted(votes, key=self._rank):
            is_weak = vote.is_from_inside and vote.similarity < 1
            sure = Certainty.LIKELY if is_weak else Certainty.CERTAIN
            self.paired.add(vote.node, vote.obj, weakest(limit, sure), vote.evidence)

    def _rank(self, vote: _Vote) -> tuple[float, bool, int, int]:
        """Return the sort key of a vote; between equals, what a plain restore binds comes first."""
        is_other = self.paired.bound.get(vote.node) != vote.obj
        places = self.saved.items.place[vote.node], self.live.items.place[vote.obj]
        return -vote.worth, is_other, *places

    def _votes(self, xs: Items, ys: Items) -> Iterator[_Vote]:
        saved_owners, live_owners = _owners(self.saved, xs), _owners(self.live, ys)
        worth: dict[tuple[int, int], float] = defaultdict(float)
        kinds: dict[tuple[int, int], set[Kind]] = defaultdict(set)
        for kind, of_all in _WORTH.items():
            left, right = saved_owners[kind[0]], live_owners[kind[1]]
            for name in left.keys() & right.keys():
                x, y = left[name], right[name]
                is_inner = kind == _INSIDE
                number = max(len(self.saved.inner[x]), len(self.live.inner[y])) if is_inner else 1
                worth[x, y] += of_all / number
                kinds[x, y].add(kind)
        for (x, y), of_pair in kinds.items():
            similarity = self.paired.similarity(x, y)
            total = worth[x, y] + _CONTENT * similarity
            total -= _CONTRADICTED * self.paired.contradict(x, y)
            yield _Vote(total, similarity, x, y, of_pair)

    def _is_anchor(self, vote: _Vote) -> bool:
        if not self.paired.are_alike(vote.node, vote.obj):
            return False
        units = self.saved.items.is_unit(vote.node), self.live.items.is_unit(vote.obj)
        is_similar = vote.similarity >= _MOSTLY
        if units[0] != units[1] and not is_similar and _LABELS not in vote.kinds:
            return False
        if not vote.is_from_inside:
            # An equal part elsewhere tells more than the same place of a part that differs much.
            is_bound = self.paired.bound.get(vote.node) == vote.obj
            is_kept = is_bound and is_similar and units[0] == units[1]
            is_sure = is_kept or self.paired.may_be_renamed
            return is_sure or not self.paired.have_equal_namesakes(vote.node, vote.obj)
        if self._are_renamed(vote.node, vote.obj) and not self.paired.may_be_renamed:
            return False
        names_alone = vote.worth - _CONTENT * vote.similarity
        return not any(units) and vote.similarity > 0 and (names_alone >= 1 or is_similar)

    def _are_renamed(self, x: int, y: int) -> bool:
        """Return whether two items of other content have other local names."""
        names, others = self.saved.labels[x], self.live.labels[y]
        return bool(names and others and not names & others) and not self.paired.are_equal(x, y)

    def _may_have_other_names(self, x: int, y: int) -> bool:
        return self.paired.may_be_renamed or self.paired.are_related(x, y)

    # --- content and order

    def _trained(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair free children of equal content of which the same optimizer trains one alone."""
        trainers = self.saved.trainers.__getitem__, self.live.trainers.__getitem__
        for equal in self._of_one_content(xs, ys):
            for x, y in unique(*equal, *trainers):
                if self.paired.is_trained_alone(x, y) and not self.paired.contradict(x, y):
                    self.paired.add(x, y, weakest(limit, Certainty.LIKELY), Evidence.SLOT)

    def _without_rival(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair children whose content no other free child has.

        If a child with a counterpart has it, too, only names tell a renamed part from one that was
        removed while another was added. What a guess has left is a guess as well.
        """
        free, often = self.paired.free(xs, ys), self._contents_of_several(xs, ys)
        for x, y in unique(*free, self.saved.content.__getitem__, self.live.content.__getitem__):
            if self._is_refused(x, y) or not self._may_be_renamed(x, y):
                continue
            content, are_told = self.saved.content[x], self.paired.are_told(x, y)
            if content not in often or are_told:
                is_left = content in self.paired.guessed and not are_told
                sure = Certainty.GUESS if is_left else Certainty.LIKELY
                self.paired.add(x, y, weakest(limit, sure), Evidence.CONTENT)

    def _contents_of_several(self, xs: Items, ys: Items) -> set[int]:
        """Return the contents that several children of one side have."""
        counts = (
            Counter(map(self.saved.content.__getitem__, xs)),
            Counter(map(self.live.content.__getitem__, ys)),
        )
        return {content for side in counts for content, number in side.items() if number > 1}

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
            free_xs, free_ys = self.paired.free(xs[i + 1 : end], ys[j + 1 : other_end])
            if free_xs and free_ys:
                self._gap(free_xs, free_ys, limit)

    def _gap(self, xs: Items, ys: Items, limit: Certainty) -> None:
        named = _named_alike(self.saved, xs), _named_alike(self.live, ys)
        counts = Counter(named[0].values()), Counter(named[1].values())
        even = {look for look in counts[0] if counts[0][look] == counts[1][look]}
        worth = self._worth_in_gap(xs, ys, named, even)
        pairs = align(xs, ys, worth)
        places = dict(zip(xs, ys, strict=False))
        is_whole = len(xs) == len(ys) and all(places[x] == y for x, y in pairs)
        for x, y in pairs:
            look = named[0][x]
            is_even = look in even
            sure = self._is_sure_in_order(x, y, is_even=is_even, is_whole=is_whole)
            sure = sure or (is_even and counts[0][look] == 1 and self._is_one_nameless(x, y))
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
        return self.paired.have_one_kind(x, y) and not any(rivals)

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
        names, others = self.saved.labels[x], self.live.labels[y]
        return bool(names & others) or not (names or others) or self._have_one_full_name(x, y)

    def _is_exact_or_free(self, x: int, y: int) -> bool:
        return self.paired.are_equal(x, y) or not self.paired.contradict(x, y)

    def _worth_in_gap(
        self, xs: Items, ys: Items, named: tuple[Named, Named], even: Set[tuple[int, bool]]
    ) -> Score:
        """Return what tells the worth of a pair, 0 if the items cannot be a pair.

        Items that a person named, and those without such a name, stay among themselves if both
        sides have equally many of them (`even`). A gap may have thousands of pairs, but few looks:
        each pair of looks is compared once.
        """
        saved_looks, live_looks = _looks(self.saved, xs), _looks(self.live, ys)
        numbers = {x: self.saved.number(x) for x in xs}, {y: self.live.number(y) for y in ys}
        known: dict[tuple[int, int], float] = {}

        def worth(x: int, y: int) -> float:
            look, other = named[0][x], named[1][y]
            if look[0] == other[0] and look != other and not even.isdisjoint((look, other)):
                return 0.0
            looks = saved_looks[x], live_looks[y]
            if looks not in known:
                known[looks] = self._worth_of_looks(x, y)
            if known[looks] <= 0:
                return 0.0
            total = known[looks] + _COUNTED * self._have_one_full_name(x, y)
            total += _BOUND * (self.paired.bound.get(x) == y) + _LAST * self._are_outputs(x, y)
            number = numbers[0][x]
            return total + _NUMBERED * (number is not None and number == numbers[1][y])

        return worth

    def _are_outputs(self, x: int, y: int) -> bool:
        """Return whether two layers of different sizes come last in the order of their models."""
        if not self.paired.is_ordered or self.paired.are_equal(x, y):
            return False
        units = self.saved.items.is_unit(x), self.live.items.is_unit(y)
        return all(units) and x == _beside(self.saved, x)[-1] and y == _beside(self.live, y)[-1]

    def _worth_of_looks(self, x: int, y: int) -> float:
        """Return what content and names are worth, 0 if the items cannot be a pair."""
        if not self.paired.are_alike(x, y):
            return 0.0
        is_contradicted = self.paired.contradict(x, y)
        similarity = self.paired.similarity(x, y)
        if not self._may_align(x, y, similarity, is_contradicted=is_contradicted):
            return 0.0
        if not self.paired.may_be_renamed and self._is_refused(x, y):
            return 0.0
        worth = _CONTENT * similarity - is_contradicted + _RELATED * self.paired.are_related(x, y)
        worth += _KIND * self.paired.have_one_kind(x, y)
        worth += _NAMED * ((x in self.saved.are_named) == (y in self.live.are_named))
        return worth + _BEGINNING * begin_alike(self.saved.names(x), self.live.names(y))

    def _have_one_full_name(self, x: int, y: int) -> bool:
        """Return whether two values have equal full names with a scope, even a counted one."""
        full_name = self.saved.full_name.get(x, "")
        return "/" in full_name and full_name == self.live.full_name.get(y)

    def _may_align(self, x: int, y: int, similarity: float, *, is_contradicted: bool) -> bool:
        if not self.saved.items.children[x]:
            names, others = self.saved.labels[x], self.live.labels[y]
            return similarity > 0 and (names == others or not names or not others)
        if self.paired.are_equal(x, y):
            return True
        if self._are_renamed(x, y) and not self._may_have_other_names(x, y):
            return False
        is_unit = self.saved.items.is_unit(x)
        if is_contradicted or is_unit != self.live.items.is_unit(y):
            return False
        if is_unit:
            is_similar = similarity >= _MOSTLY or self.paired.have_one_kind(x, y)
            return is_similar and self.paired.may_be_renamed
        return similarity >= _MOSTLY

    # --- other names

    def _by_words(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair free children of equal content whose names share words, as no others do."""
        for equal_xs, equal_ys in self._of_one_content(xs, ys):
            for x, y in linked_by_words(self.paired, equal_xs, equal_ys):
                self.paired.add(x, y, weakest(limit, Certainty.LIKELY), Evidence.WORDS)

    def _of_one_content(self, xs: Items, ys: Items) -> Iterator[tuple[list[int], list[int]]]:
        contents = self.saved.content.get, self.live.content.get
        return of_one_key(*self.paired.free(xs, ys), *contents)

    def _by_attributes(self, xs: Items, ys: Items, limit: Certainty) -> None:
        """Pair attributes of equal content in their order, which nothing prescribes."""
        if not self.paired.may_be_renamed:
            return
        counts = Counter(map(self.saved.content.get, xs)), Counter(map(self.live.content.get, ys))
        for equal_xs, equal_ys in self._of_one_content(xs, ys):
            content = self.saved.content[equal_xs[0]]
            is_only = counts[0][content] == counts[1][content] == 1
            sure = weakest(limit, Certainty.LIKELY if is_only else Certainty.GUESS)
            equal_xs = [x for x in equal_xs if _is_attribute(self.saved, x)]
            equal_ys = [y for y in equal_ys if _is_attribute(self.live, y)]
            for x, y in zip(equal_xs, equal_ys, strict=False):
                self.paired.add(x, y, sure, Evidence.ORDER)


def _owners(side: Described, items: Items) -> Mapping[str, Mapping[str, int]]:
    """Return the names of each sort that one item has, with this item."""
    names: Mapping[str, Mapping[int, Set[str]]] = {
        "label": side.labels,
        "name": side.strong,
        "inner": side.inner,
    }
    return {sort: _unshared(of_item, items) for sort, of_item in names.items()}


def _unshared(names: Mapping[int, Set[str]], items: Items) -> Mapping[str, int]:
    owners: dict[str, int] = {}
    shared: set[str] = set()
    for item in items:
        for name in names[item]:
            if owners.setdefault(name, item) != item:
                shared.add(name)
    for name in shared:
        del owners[name]
    return owners


def _looks(side: Described, items: Items) -> dict[int, int]:
    """Number items by their content and names, and values also by what holds them."""
    numbers: dict[Hashable, int] = {}
    looks: dict[int, int] = {}
    for item in items:
        holder = None if side.items.children[item] else side.items.parent[item]
        names = frozenset(side.labels[item]), frozenset(side.strong[item])
        looks[item] = numbers.setdefault((side.content[item], holder, *names), len(numbers))
    return looks


def _named_alike(side: Described, items: Items) -> Named:
    """Return for each item its content, and whether a person named the layer."""
    return {item: (side.content[item], item in side.are_named) for item in items}


def _beside(side: Described, item: int) -> Items:
    """Return the items of one parent."""
    return side.items.children.get(side.items.parent[item], ())


def _is_attribute(side: Described, item: int) -> bool:
    """Return whether only a local name that a person may change leads to an item."""
    return not side.items.children[item] or bool(side.labels[item] and not side.strong[item])
