"""Maps every saved value to the variable of a program that it belongs to.

A mapping is a difference of trees: identical subtrees first, then the containers that share them,
then what remains below matched containers (Falleri et al., "Fine-grained and accurate source code
differencing", ASE 2014). Names decide between equals. The model comes before the optimizers, whose
slot variables follow their variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ckpt_viz.mapping.alignment import aligned, undecided
from ckpt_viz.mapping.full_names import FullNames
from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair, weakest
from ckpt_viz.mapping.part_questions import (
    alone,
    are_items,
    are_siblings,
    branching,
    first_below,
    has_full_name,
    is_chain,
    is_like,
    optimizers_of,
)
from ckpt_viz.mapping.parts import Parts
from ckpt_viz.mapping.sequences import INDEX, ItemReader, items_with_values
from ckpt_viz.object_graph.name_evidence import paired_by_name
from ckpt_viz.object_graph.nodes import ROOT, has_value

_MOST_ROUNDS = 4


@dataclass
class Matched:
    """What belongs together so far: pairs by saved node, saved nodes by live object."""

    pairs: dict[int, Pair] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)

    def add(self, pair: Pair) -> None:
        """Add a pair of two nodes that are free."""
        self.pairs[pair.node] = pair
        self.nodes[pair.obj] = pair.node

    def are_free(self, node: int, obj: int) -> bool:
        """Return whether neither a saved node nor a live object has a counterpart."""
        return node not in self.pairs and obj not in self.nodes


class Mapper:
    """Maps the parts of one kind: those of the model, or those of the optimizers."""

    def __init__(self, saved: Parts, live: Parts, names: FullNames, reader: ItemReader) -> None:
        self.saved, self.live = saved, live
        self._names, self._reader = names, reader
        self.matched = Matched()
        self._is_at_optimizers = False
        self._nodes: Sequence[int] = ()
        self._objects: Sequence[int] = ()
        self._guessed: set[int] = set()  # forms whose parts were paired by order alone

    def map_model(self) -> None:
        """Map all parts of the model."""
        self._nodes = [n for n in self.saved.order if n not in self.saved.of_optimizer]
        self._objects = [o for o in self.live.order if o not in self.live.of_optimizer]
        self._identical()
        self._roots()
        self._same_values()
        self._map()

    def map_optimizers(self) -> None:
        """Map the parts of the optimizers, of which the model has none."""
        self._is_at_optimizers = True
        self._nodes = [n for n in self.saved.order if n in self.saved.of_optimizer]
        self._objects = [o for o in self.live.order if o in self.live.of_optimizer]
        self._optimizers()
        self._identical()
        self._map()

    def _map(self) -> None:
        for _ in range(_MOST_ROUNDS):
            before = len(self.matched.pairs)
            self._same_places()
            self._containers()
            self._below_containers()
            if len(self.matched.pairs) == before:
                break
        self._leftovers()
        self._misfits()

    def _pair(self, node: int, obj: int, certainty: Certainty, evidence: Evidence) -> bool:
        """Add a pair of free parts; it is no surer than the pair of parts that holds them."""
        if not self.matched.are_free(node, obj):
            return False
        holder = self.matched.pairs.get(self.saved.parent(node))
        if holder is not None and holder.obj == self.live.parent(obj):
            certainty = weakest(certainty, holder.certainty)
        self.matched.add(Pair(node, obj, certainty, evidence))
        return True

    # --- identical subtrees

    def _identical(self) -> None:
        """Pair subtrees of equal content, the largest first."""
        for ours, theirs in self._groups(self.saved.content, self.live.content):
            self._pair_equals(ours, theirs)
        for ours, theirs in self._groups(self.saved.form, self.live.form):
            is_only = len(ours) == len(theirs) == 1 and bool(self.saved.children[ours[0]])
            if is_only and not self._contradict(ours[0], theirs[0]):
                self._pair_below(ours[0], theirs[0], Certainty.CERTAIN, Evidence.CONTENT)

    def _same_values(self) -> None:
        """Pair inner parts that hold the same values in whatever structure, as no others do."""
        low, high = self._reach()
        for ours, theirs in self._groups(self.saved.values, self.live.values):
            inner = (
                [node for node in ours if self.saved.children[node]],
                [obj for obj in theirs if self.live.children[obj]],
            )
            if all(inner) and is_chain(self.saved, inner[0]) and is_chain(self.live, inner[1]):
                labels = {self.live.label(obj): obj for obj in reversed(inner[1])}
                named = [n for n in inner[0] if self.saved.label(n) in labels]
                node = named[0] if named else inner[0][0]
                obj = labels[self.saved.label(node)] if named else inner[1][0]
                is_known = low[node] <= high[node]
                if not is_known or self._is_within(obj, low[node], high[node]):
                    self._pair(node, obj, Certainty.CERTAIN, Evidence.CONTENT)

    def _groups(
        self, of_saved: Sequence[int], of_live: Sequence[int]
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the free parts with equal numbers, those with most values first."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for node in self._nodes:
            found.setdefault(of_saved[node], ([], []))[0].append(node)
        for obj in self._objects:
            if of_live[obj] in found:
                found[of_live[obj]][1].append(obj)
        both = [group for group in found.values() if group[1]]
        # The sort is stable: of parts with as many values, outer ones come first.
        for ours, theirs in sorted(both, key=lambda group: -self.saved.size[group[0][0]]):
            free = self._free(ours, theirs)
            if all(free):
                yield free

    def _free(self, ours: Iterable[int], theirs: Iterable[int]) -> tuple[list[int], list[int]]:
        return (
            [node for node in ours if node not in self.matched.pairs],
            [obj for obj in theirs if obj not in self.matched.nodes],
        )

    def _pair_equals(self, ours: list[int], theirs: list[int]) -> None:
        """Pair parts of equal content as far as names and places tell them apart."""
        saved, live = self.saved, self.live
        is_inner = bool(saved.children[ours[0]])
        if is_inner and len(ours) == len(theirs) == 1:
            if not self._contradict(ours[0], theirs[0]):
                self._pair_below(ours[0], theirs[0], Certainty.CERTAIN, Evidence.CONTENT)
            return
        for node, obj in alone(ours, theirs, saved.names, live.names):
            if is_inner or saved.chosen[node]:
                self._pair_below(node, obj, Certainty.CERTAIN, Evidence.NAMES)
        ours, theirs = self._free(ours, theirs)
        in_place = list(alone(ours, theirs, saved.place, live.place))
        is_whole = len(ours) == len(theirs) == len(in_place)
        for node, obj in in_place:
            if is_whole or not saved.is_indexed[node]:
                self._pair_below(node, obj, Certainty.CERTAIN, Evidence.PLACE)

    def _contradict(self, node: int, obj: int) -> bool:
        """Return whether people gave two layers different names."""
        names = self.saved.chosen[node], self.live.chosen[obj]
        return all(names) and names[0] != names[1]

    def _pair_below(self, node: int, obj: int, certainty: Certainty, evidence: Evidence) -> None:
        """Pair two parts, and below them what nothing else can be meant by."""
        stack = [(node, obj)]
        if self.saved.form[node] in self._guessed:
            certainty = Certainty.GUESS
        while stack:
            one, other = stack.pop()
            if certainty is Certainty.GUESS:
                self._guessed.add(self.saved.form[one])
            if self._pair(one, other, certainty, evidence):
                stack.extend(self._children_of_equals(one, other))

    def _children_of_equals(self, node: int, obj: int) -> Iterator[tuple[int, int]]:
        saved, live = self.saved, self.live
        by_label = {live.label(child): child for child in live.children[obj]}
        if are_items(saved, saved.children[node]) or are_items(live, live.children[obj]):
            return  # their order and names decide
        ours: list[int] = []
        for child in saved.children[node]:
            other = by_label.get(saved.label(child))
            if other is not None and saved.form[child] == live.form[other]:
                del by_label[saved.label(child)]
                yield child, other
            else:
                ours.append(child)
        yield from alone(ours, by_label.values(), saved.form, live.form)

    def _optimizers(self) -> None:
        """Pair optimizers with slots of the same variables, then those on one path, then others."""
        ours = dict.fromkeys(self.saved.optimizers)
        votes: Counter[tuple[int, int]] = Counter()
        owners = optimizers_of(self.live.graph)
        for variable, optimizers in optimizers_of(self.saved.graph).items():
            pair = self.matched.pairs.get(variable)
            others = owners.get(pair.obj, set()) if pair is not None else set()
            votes.update((node, obj) for node in optimizers & ours.keys() for obj in others)
        for (node, obj), _ in votes.most_common():
            if obj in self.live.optimizers:
                self._pair(node, obj, Certainty.CERTAIN, Evidence.SLOT)
        for node, obj in alone(ours, self.live.optimizers, self.saved.place, self.live.place):
            self._pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)
        free = self._free(ours, self.live.optimizers)
        if len(free[0]) == len(free[1]) == 1:
            self._pair(free[0][0], free[1][0], Certainty.LIKELY, Evidence.ALONE)

    # --- containers

    def _roots(self) -> None:
        """Pair the root with its counterpart, which may be on another level."""
        votes: Counter[tuple[int, int]] = Counter({(ROOT, ROOT): 0})
        for node, pair in self.matched.pairs.items():
            above = self.saved.parent(node), self.live.parent(pair.obj)
            if ROOT in above and min(above) >= ROOT:
                votes[above] += self.saved.size[node]
        node, obj = max(votes, key=lambda above: (votes[above], above == (ROOT, ROOT)))
        self._pair(node, obj, Certainty.CERTAIN, Evidence.CONTENT)

    def _same_places(self) -> None:
        """Pair inner parts on one path if all that is known of their content agrees."""
        saved, live = self.saved, self.live
        at_place = {live.place[obj]: obj for obj in self._objects if obj not in self.matched.nodes}
        low, high = self._reach()
        for node in self._nodes:
            obj = at_place.get(saved.place[node])
            if obj is None or node in self.matched.pairs or not saved.children[node]:
                continue
            if (
                low[node] <= high[node]
                and live.start[obj] <= low[node] <= high[node] < live.end[obj]
            ):
                self._pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)

    def _is_within(self, obj: int, first: int, last: int) -> bool:
        """Return whether a live part holds the parts from one place in the order to another."""
        return self.live.start[obj] <= first and last < self.live.end[obj]

    def _reach(self) -> tuple[list[int], list[int]]:
        """Return by saved part the first and last place of the counterparts of values below it."""
        count, beyond = len(self.saved.graph.nodes), len(self.live.order)
        low, high = [beyond] * count, [-1] * count
        for node in reversed(self._nodes):
            pair = self.matched.pairs.get(node)
            if pair is not None and has_value(self.saved.graph.nodes[node]):
                place = self.live.start[pair.obj]
                low[node], high[node] = min(low[node], place), max(high[node], place)
            above = self.saved.parent(node)
            if above >= ROOT:
                low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
        return low, high

    def _containers(self) -> None:
        """Pair an inner part with the one that holds the counterparts of most of its content."""
        saved, live = self.saved, self.live
        for node in reversed(self._nodes):
            if node in self.matched.pairs or not saved.children[node]:
                continue
            votes: Counter[int] = Counter()
            for child in saved.children[node]:
                pair = self.matched.pairs.get(child)
                if pair is not None and pair.obj != ROOT:
                    votes[live.parent(pair.obj)] += saved.size[child]
            free = [obj for obj in votes if obj not in self.matched.nodes]
            if free:
                best = max(free, key=lambda obj: (votes[obj], saved.label(node) == live.label(obj)))
                self._pair(node, best, Certainty.LIKELY, Evidence.CONTENT)

    # --- below matched containers

    def _below_containers(self) -> None:
        """Pair what is free below parts that belong together, from the top down."""
        for node in self._nodes:
            pair = self.matched.pairs.get(node)
            if pair is not None and self.saved.children[node]:
                self._by_label(node, pair.obj)
                # What one version or one side wraps, the other one may not.
                wide = branching(self.saved, node), branching(self.live, pair.obj)
                for one, other in dict.fromkeys(((node, pair.obj), wide)):
                    self._by_index(one, other)
                    self._in_order(one, other)
                    self._by_words(one, other)
                    self._alone_in(one, other)
                    self._within(one, other)

    def _children(self, node: int, obj: int) -> tuple[list[int], list[int]]:
        """Return the free children of two parts that the current walk is about."""
        ours = self._about(self.saved, self.saved.children[node])
        theirs = self._about(self.live, self.live.children[obj])
        return self._free(ours, theirs)

    def _about(self, side: Parts, parts: Iterable[int]) -> Iterator[int]:
        return (one for one in parts if (one in side.of_optimizer) == self._is_at_optimizers)

    def _by_label(self, node: int, obj: int) -> None:
        """Pair children with one local name; indices are no names."""
        ours, theirs = self._children(node, obj)
        by_label = {local_name(self.live.label(child)): child for child in reversed(theirs)}
        by_label |= {self.live.label(child): child for child in theirs}
        for child in ours:
            label = self.saved.label(child)
            other = by_label.get(label, by_label.get(local_name(label)))
            if other is not None and INDEX.fullmatch(label) is None and self._fits(child, other):
                self._pair(child, other, Certainty.CERTAIN, Evidence.HOLDER)

    def _by_index(self, node: int, obj: int) -> None:
        """Pair items of equal index and equal values, if most items of two sequences have both."""
        saved, live = self.saved, self.live
        ours, theirs = saved.children[node], live.children[obj]
        if len(ours) != len(theirs) or not (are_items(saved, ours) and are_items(live, theirs)):
            return
        if not any(saved.children[child] for child in ours):
            return
        equal = [
            (one, other)
            for one, other in zip(ours, theirs, strict=True)
            if saved.values[one] == live.values[other] and saved.label(one) == live.label(other)
        ]
        if 2 * len(equal) >= len(ours):
            for one, other in equal:
                self._pair_below(one, other, Certainty.LIKELY, Evidence.ORDER)

    def _fits(self, node: int, obj: int) -> bool:
        """Return whether two parts can be one: inner parts, or values of one shape and dtype."""
        is_inner = bool(self.saved.children[node]), bool(self.live.children[obj])
        return is_inner == (True, True) or self.saved.look[node] == self.live.look[obj]

    def _in_order(self, node: int, obj: int) -> None:
        """Pair the items of sequences by their order, their content and their names."""
        saved, live = self.saved, self.live
        ours, theirs = saved.children[node], live.children[obj]
        if not all(self._children(node, obj)):
            return
        places = {child: j for j, child in enumerate(theirs)}
        known = {
            i: j
            for i, child in enumerate(ours)
            if (pair := self.matched.pairs.get(child)) is not None
            if (j := places.get(pair.obj)) is not None
        }
        left = self._reader.items(saved.graph, ours)
        right = self._reader.items(live.graph, theirs)
        if left is None or right is None:
            return
        left, right = items_with_values(left), items_with_values(right)
        taken = set(known.values())
        rest = (
            [item for item in left if item.place not in known],
            [item for item in right if item.place not in taken],
        )
        unsure = {i for group, _ in undecided(*rest) for i in group}
        if not (are_items(saved, ours) or are_items(live, theirs)):
            return
        for i, j in aligned(left, right, known, {}):
            if i not in known and self._are_similar(ours[i], theirs[j]):
                certainty = Certainty.GUESS if i in unsure else Certainty.LIKELY
                self._pair_below(ours[i], theirs[j], certainty, Evidence.ORDER)

    def _are_similar(self, node: int, obj: int) -> bool:
        """Return whether two parts have all or some of their content in common."""
        if self.saved.values[node] == self.live.values[obj]:
            return True
        is_inner = bool(self.saved.children[node] and self.live.children[obj])
        return is_inner and self._have_common(node, obj)

    def _by_words(self, node: int, obj: int) -> None:
        """Pair children of one form by the words in their local names."""
        for ours, theirs in self._alike_children(node, obj):
            if len(ours) == len(theirs) == 1:
                self._pair_below(ours[0], theirs[0], Certainty.LIKELY, Evidence.ALONE)
                continue
            paths = (
                [(self.saved.label(one),) for one in ours],
                [(self.live.label(one),) for one in theirs],
            )
            for i, j in paired_by_name(*paths).items():
                self._pair_below(ours[i], theirs[j], Certainty.LIKELY, Evidence.WORDS)
            ours, theirs = self._free(ours, theirs)
            certainty = Certainty.LIKELY if len(ours) == len(theirs) else Certainty.GUESS
            if len(ours) == len(theirs) == 1:
                self._pair_below(ours[0], theirs[0], certainty, Evidence.ALONE)
                continue
            for one, other in zip(ours, theirs, strict=False):
                self._pair_below(one, other, Certainty.GUESS, Evidence.ORDER)

    def _alike_children(self, node: int, obj: int) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the free children of one form."""
        ours, theirs = self._children(node, obj)
        found: dict[int, tuple[list[int], list[int]]] = {}
        for child in ours:
            found.setdefault(self.saved.form[child], ([], []))[0].append(child)
        for child in theirs:
            if self.live.form[child] in found:
                found[self.live.form[child]][1].append(child)
        yield from (group for group in found.values() if group[1])

    def _alone_in(self, node: int, obj: int) -> None:
        """Pair the only free inner children: a part that was renamed and changed inside."""
        ours, theirs = self._children(node, obj)
        inner = (
            [child for child in ours if self.saved.children[child]],
            [child for child in theirs if self.live.children[child]],
        )
        if len(inner[0]) == len(inner[1]) == 1 and self._have_common(inner[0][0], inner[1][0]):
            self._pair(inner[0][0], inner[1][0], Certainty.LIKELY, Evidence.ALONE)

    def _have_common(self, node: int, obj: int) -> bool:
        """Return whether two inner parts have children of the same local names or forms."""
        labels = {local_name(self.saved.label(child)) for child in self.saved.children[node]}
        forms = {self.saved.form[child] for child in self.saved.children[node]}
        return any(
            local_name(self.live.label(child)) in labels or self.live.form[child] in forms
            for child in self.live.children[obj]
        )

    def _within(self, node: int, obj: int) -> None:
        """Pair a part with one of its form inside a new part in its place, or the reverse."""
        ours, theirs = self._children(node, obj)
        for child in ours:
            found = [
                other
                for new in theirs
                for other in first_below(self.live, new)
                if self.live.form[other] == self.saved.form[child]
                and is_like(self.saved.label(child), self.live, other, new)
            ]
            self._pair_only(child, found)
        ours, theirs = self._children(node, obj)
        for other in theirs:
            found = [
                child
                for old in ours
                for child in first_below(self.saved, old)
                if self.saved.form[child] == self.live.form[other]
                and is_like(self.live.label(other), self.saved, child, old)
            ]
            if len(found) == 1:
                self._pair_below(found[0], other, Certainty.LIKELY, Evidence.WITHIN)

    def _pair_only(self, node: int, found: Sequence[int]) -> None:
        if len(found) == 1:
            self._pair_below(node, found[0], Certainty.LIKELY, Evidence.WITHIN)

    # --- what is left

    def _leftovers(self) -> None:
        """Pair free parts of one form anywhere, if names agree or if they are alone."""
        saved, live = self.saved, self.live
        for ours, theirs in self._groups(saved.names, live.names):
            if len(ours) == len(theirs) == 1 and has_full_name(saved.graph, ours[0]):
                self._pair_below(ours[0], theirs[0], Certainty.LIKELY, Evidence.NAMES)
        for ours, theirs in self._groups(saved.form, live.form):
            for node, obj in alone(ours, theirs, saved.place, live.place):
                is_sure = len(ours) == len(theirs) or not saved.is_indexed[node]
                certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                self._pair_below(node, obj, certainty, Evidence.PLACE)
            ours, theirs = self._free(ours, theirs)
            is_inner = bool(ours and saved.children[ours[0]])
            if len(ours) == len(theirs) == 1:
                is_sure = is_inner and not self._contradict(ours[0], theirs[0])
                certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                self._pair_below(ours[0], theirs[0], certainty, Evidence.CONTENT)
            elif is_inner and are_siblings(saved, ours) and are_siblings(live, theirs):
                certainty = Certainty.LIKELY if len(ours) == len(theirs) else Certainty.GUESS
                for node, obj in zip(ours, theirs, strict=False):
                    self._pair_below(node, obj, certainty, Evidence.ORDER)

    def _misfits(self) -> None:
        """Pair free values of one local name, below parts that belong together."""
        for node in self._nodes:
            pair = self.matched.pairs.get(node)
            ours, theirs = self._children(node, pair.obj) if pair is not None else ([], [])
            by_label = {self.live.label(one): one for one in theirs if not self.live.children[one]}
            for child in ours:
                other = by_label.get(self.saved.label(child))
                if other is not None and not self.saved.children[child]:
                    self._pair(child, other, Certainty.CERTAIN, Evidence.HOLDER)
