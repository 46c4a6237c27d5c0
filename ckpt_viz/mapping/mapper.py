"""Maps every saved value to the variable of a program that it belongs to.

A mapping is a difference of trees: identical subtrees first, then the containers that share them,
then what remains below matched containers (Falleri et al., "Fine-grained and accurate source code
differencing", ASE 2014). Names decide between equals. The model comes before the optimizers, whose
slot variables follow their variables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ckpt_viz.mapping.alignment import aligned, moved, undecided
from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.optimizers import optimizer_pairs, scale_holder
from ckpt_viz.mapping.pairing import Pairing
from ckpt_viz.mapping.pairs import Certainty, Evidence
from ckpt_viz.mapping.part_questions import (
    above_chain,
    all_differ,
    alone,
    are_items,
    are_siblings,
    are_similar,
    branching,
    has_full_name,
    have_common,
    have_one_look,
    have_one_number,
    inner_parts,
    is_chain,
    is_in_its_namesake,
    is_like,
    is_wrapper,
    paired_by_number,
    reach,
    with_names,
)
from ckpt_viz.mapping.sequences import INDEX, items_with_values
from ckpt_viz.object_graph.name_evidence import paired_by_name
from ckpt_viz.object_graph.nodes import ROOT

_MOST_ROUNDS = 4


class Mapper(Pairing):
    """Maps all parts: first those of the model, then those of the optimizers."""

    def map_model(self) -> None:
        """Map all parts of the model."""
        self._nodes = [n for n in self.saved.order if n not in self.saved.of_optimizer]
        self._objects = [o for o in self.live.order if o not in self.live.of_optimizer]
        self._identical()
        self._roots()
        self._same_values()
        self._map()
        if self._freed_strays():
            self._containers()

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

    # --- identical subtrees

    def _identical(self) -> None:
        """Pair subtrees of equal content, the largest first, and single values after all others."""
        for ours, theirs in self._groups(self.saved.content, self.live.content):
            if self.saved.children[ours[0]]:
                self._pair_equals(ours, theirs)
        for ours, theirs in self._groups(self.saved.form, self.live.form):
            if len(ours) == len(theirs) == 1 and self.saved.children[ours[0]]:
                node, obj = ours[0], theirs[0]
                is_on_its_level = not is_in_its_namesake(self.saved, node, self.live, obj)
                if is_on_its_level and not self._is_refuted(node, obj):
                    self._pair_below(node, obj, Certainty.CERTAIN, Evidence.CONTENT)
        self._see_free_forms()
        for ours, theirs in self._groups(self.saved.content, self.live.content):
            if not self.saved.children[ours[0]]:
                self._pair_equals(ours, theirs)

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
                is_possible = not is_known or self._is_within(obj, low[node], high[node])
                if is_possible and not self._is_refuted(node, obj):
                    self._pair(node, obj, Certainty.CERTAIN, Evidence.CONTENT)

    def _pair_equals(self, ours: list[int], theirs: list[int]) -> None:
        """Pair parts of equal content as far as names and places tell them apart."""
        saved, live = self.saved, self.live
        is_inner = bool(saved.children[ours[0]])
        if is_inner and len(ours) == len(theirs) == 1:
            if not self._is_refuted(ours[0], theirs[0]):
                self._pair_below(ours[0], theirs[0], Certainty.CERTAIN, Evidence.CONTENT)
            return
        for node, obj in alone(ours, theirs, saved.names, live.names):
            is_told = saved.is_indexed[node] and self._is_called(node)
            if is_inner or saved.chosen[node] or is_told:
                self._pair_below(node, obj, Certainty.CERTAIN, Evidence.NAMES)
        ours, theirs = self._free(ours, theirs)
        in_place = list(alone(ours, theirs, saved.place, live.place))
        is_whole = len(ours) == len(theirs) == len(in_place)
        for node, obj in in_place:
            above = saved.parent(node), live.parent(obj)
            is_told = is_inner or not self._are_exchanged(*above)
            if is_told and (is_whole or not saved.is_indexed[node]):
                self._pair_below(node, obj, Certainty.CERTAIN, Evidence.PLACE)
        if is_inner:
            self._pair_listed(*self._free(ours, theirs))

    def _pair_listed(self, ours: Sequence[int], theirs: Sequence[int]) -> None:
        """Pair equal parts whose variables are at the same places of the optimizers' lists."""
        free = set(theirs)
        for node in ours:
            first = next((one for one in self.saved.below(node) if one in self._listed), None)
            obj = ROOT if first is None else self._listed[first]
            while obj != ROOT and obj not in free and self.live.size[obj] <= self.saved.size[node]:
                obj = self.live.parent(obj)
            is_listed = obj in free and self._are_listed(node, obj)
            if is_listed and not self._is_refuted(node, obj):
                self._pair_below(node, obj, Certainty.LIKELY, Evidence.LISTED)

    def _optimizers(self) -> None:
        """Pair the optimizers, and what holds their loss scales."""
        for pair in optimizer_pairs(self.saved, self.live, self.matched.pairs):
            if not self._pair(*pair):
                continue
            scales = scale_holder(self.saved, pair.node), scale_holder(self.live, pair.obj)
            if scales[0] is not None and scales[1] is not None:
                self._pair(scales[0], scales[1], pair.certainty, Evidence.HOLDER)

    # --- containers

    def _roots(self) -> None:
        """Pair the root with its counterpart, which may be on another level."""
        saved, live = self.saved, self.live
        votes: Counter[tuple[int, int]] = Counter({(ROOT, ROOT): 0})
        places = (
            {saved.place[node] for node in self._nodes if node != ROOT},
            {live.place[obj] for obj in self._objects if obj != ROOT},
        )
        for node, pair in self.matched.pairs.items():
            above = saved.parent(node), live.parent(pair.obj)
            if above[0] == ROOT:
                above = ROOT, above_chain(live, pair.obj)
            elif above[1] == ROOT:
                above = above_chain(saved, node), ROOT
            if min(above) < ROOT:
                continue
            # A part that both sides have on its path is the root of neither.
            if saved.place[above[0]] in places[1] or live.place[above[1]] in places[0]:
                above = ROOT, ROOT
            if ROOT in above:
                votes[above] += saved.size[node]
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
            if low[node] <= high[node] and self._is_within(obj, low[node], high[node]):
                self._pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)

    def _is_within(self, obj: int, first: int, last: int) -> bool:
        """Return whether a live part holds the parts from one place in the order to another."""
        return self.live.start[obj] <= first and last < self.live.end[obj]

    def _reach(self) -> tuple[list[int], list[int]]:
        return reach(self.saved, self.live, self._nodes, self.matched.pairs)

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
                    votes[self._holder(node, pair.obj)] += saved.size[child]
            free = [obj for obj in votes if obj not in self.matched.nodes]
            if free:
                best = max(free, key=lambda obj: (votes[obj], saved.label(node) == live.label(obj)))
                self._pair(node, best, Certainty.LIKELY, Evidence.CONTENT)

    def _holder(self, node: int, obj: int) -> int:
        """Return the part that holds a live one: its namesake, or none of the wrappers."""
        live, label = self.live, self.saved.label(node)
        parent, top = live.parent(obj), above_chain(live, obj)
        if len(self.saved.children[node]) == 1:
            return parent
        holder = parent
        while holder not in (top, ROOT) and live.label(holder) != label:
            holder = live.parent(holder)
        return holder

    # --- below matched containers

    def _below_containers(self) -> None:
        """Pair what is free below parts that belong together, from the top down."""
        self._see_free_forms()
        steps = self._by_label, self._by_index, self._in_order, self._by_words, self._alone_in
        for one, other in self._containers_in_pairs():
            for step in steps:
                step(one, other)
        self._beside_roots()
        # What is on the same level in parts of one form comes before what is on another level.
        for one, other in self._containers_in_pairs():
            self._within(one, other)

    def _beside_roots(self) -> None:
        """Pair by name what a root has beside its model, if the model is on another level now."""
        at_root = self.matched.pairs.get(ROOT)
        if at_root is not None and at_root.obj != ROOT:
            self._by_label(ROOT, self.live.parent(at_root.obj))
        node = self.matched.nodes.get(ROOT, ROOT)
        if node != ROOT:
            self._by_label(self.saved.parent(node), ROOT)

    def _containers_in_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield inner parts that belong together; what one side wraps, the other one may not."""
        is_at = self._is_at_optimizers
        for node in self._nodes:
            pair = self.matched.pairs.get(node)
            if pair is not None and self.saved.children[node]:
                wide = (
                    branching(self.saved, node, self.matched.pairs, is_at_optimizers=is_at),
                    branching(self.live, pair.obj, self.matched.nodes, is_at_optimizers=is_at),
                )
                yield from dict.fromkeys(((node, pair.obj), wide))

    def _by_label(self, node: int, obj: int) -> None:
        """Pair children with one local name; indices are no names."""
        ours, theirs = self._children(node, obj)
        by_label = {local_name(self.live.label(child)): child for child in reversed(theirs)}
        by_label |= {self.live.label(child): child for child in theirs}
        for child in ours:
            label = self.saved.label(child)
            other = by_label.get(label, by_label.get(local_name(label)))
            if other is None or INDEX.fullmatch(label) or self._is_of_another(child, other):
                continue
            if self._fits(child, other):
                self._pair(child, other, Certainty.CERTAIN, Evidence.HOLDER)

    def _by_index(self, node: int, obj: int) -> None:
        """Pair items of equal index, if most have equal values, or if all have changed inside."""
        saved, live = self.saved, self.live
        ours, theirs = saved.children[node], live.children[obj]
        if len(ours) != len(theirs) or not (are_items(saved, ours) and are_items(live, theirs)):
            return
        if not any(saved.children[child] for child in ours):
            return
        if all_differ(saved, ours, live, theirs):
            for one, other in zip(ours, theirs, strict=True):
                if have_common(saved, live, one, other) or have_one_look(saved, live, one, other):
                    self._pair(one, other, Certainty.LIKELY, Evidence.ORDER)
            return
        equal = [
            (one, other)
            for one, other in zip(ours, theirs, strict=True)
            if saved.values[one] == live.values[other] and saved.label(one) == live.label(other)
        ]
        if 2 * len(equal) >= len(ours):
            for one, other in equal:
                self._pair_below(one, other, Certainty.LIKELY, Evidence.ORDER)

    def _in_order(self, node: int, obj: int) -> None:
        """Pair the items of sequences by their order, their content and their names."""
        saved, live = self.saved, self.live
        ours, theirs = saved.children[node], live.children[obj]
        wraps = {is_wrapper(saved, ours), is_wrapper(live, theirs)}
        of_items = are_items(saved, ours), are_items(live, theirs)
        if not any(of_items) or len(wraps) > 1 or not all(self._children(node, obj)):
            return
        places = {child: j for j, child in enumerate(theirs)}
        counterparts = ((i, self.matched.pairs.get(child)) for i, child in enumerate(ours))
        known = {i: places[p.obj] for i, p in counterparts if p is not None and p.obj in places}
        left, right = self._reader.items(saved.graph, ours), self._reader.items(live.graph, theirs)
        if left is None or right is None:
            return
        left, right = items_with_values(left), items_with_values(right)
        taken = set(known.values())
        rest = (
            [item for item in left if item.place not in known],
            [item for item in right if item.place not in taken],
        )
        is_other_kind = not all(of_items)
        pairs = list(aligned(left, right, known, {}))
        told = self._told(ours, theirs, pairs) if is_other_kind else frozenset[int]()
        unsure = {i for group, _ in undecided(*rest) for i in group} | moved(*rest, pairs)
        for i, j in pairs:
            if i not in known and are_similar(saved, live, ours[i], theirs[j]):
                is_sure = i not in unsure and (i in told or not is_other_kind)
                certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                self._pair_below(ours[i], theirs[j], certainty, Evidence.ORDER)
        are_alike = [item.look for item in left] == [item.look for item in right]
        if are_alike and not is_other_kind:  # renamed layers
            for one, other in zip(left, right, strict=True):
                both = ours[one.place], theirs[other.place]
                self._pair_below(*both, Certainty.LIKELY, Evidence.ORDER)

    def _told(
        self, ours: Sequence[int], theirs: Sequence[int], pairs: Iterable[tuple[int, int]]
    ) -> frozenset[int]:
        """Return the items for which more than the order tells which attribute each has become."""
        saved, live = self.saved, self.live
        alike: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for i, j in pairs:
            alike[saved.form[ours[i]]].append((i, j))
        counts = Counter(saved.form[one] for one in ours)
        told: set[int] = set()
        for form, those in alike.items():
            nodes = [(ours[i], theirs[j]) for i, j in those]
            if (
                counts[form] == 1
                or all(have_one_number(saved.label(one), live.label(other)) for one, other in nodes)
                or all(self._are_listed(one, other) for one, other in nodes)
            ):
                told.update(i for i, _ in those)
        return frozenset(told)

    def _by_words(self, node: int, obj: int) -> None:
        """Pair children of one form by the words in their local names."""
        for ours, theirs in self._alike_children(node, obj):
            if len(ours) == len(theirs) == 1:
                if not self._has_namesake(ours[0], theirs[0]):
                    is_sure = self._are_meant(ours[0], theirs[0])
                    certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                    self._pair_below(ours[0], theirs[0], certainty, Evidence.ALONE)
                continue
            named = with_names(self.saved, ours), with_names(self.live, theirs)
            paths = (
                [(self.saved.label(one),) for one in named[0]],
                [(self.live.label(one),) for one in named[1]],
            )
            for i, j in paired_by_name(*paths).items():
                self._pair_below(named[0][i], named[1][j], Certainty.LIKELY, Evidence.WORDS)
            ours, theirs = self._free(ours, theirs)
            labels = list(map(self.saved.label, ours)), list(map(self.live.label, theirs))
            for i, j in paired_by_number(*labels):
                # Indices on both sides are an order, in which one may be missing.
                if not all(INDEX.fullmatch(label) for label in (labels[0][i], labels[1][j])):
                    self._pair_below(ours[i], theirs[j], Certainty.LIKELY, Evidence.WORDS)
            ours, theirs = self._free(ours, theirs)
            certainty = Certainty.LIKELY if len(ours) == len(theirs) else Certainty.GUESS
            if len(ours) == len(theirs) == 1:
                self._pair_below(ours[0], theirs[0], certainty, Evidence.ALONE)
                continue
            for one, other in zip(ours, theirs, strict=False):
                self._pair_below(one, other, Certainty.GUESS, Evidence.ORDER)

    def _are_meant(self, child: int, other: int) -> bool:
        """Return whether two free children, alone with their form, are the same one."""
        node, obj = self.saved.parent(child), self.live.parent(other)
        ours, theirs = self._children(node, obj)
        if self._contradict(child, other):
            return len(ours) == len(theirs)
        if self.saved.children[child] or self.saved.label(child) == self.live.label(other):
            return True
        # A single value of one shape says little if its holder is not sure, or if others are left.
        forms = [self.saved.form[one] for one in ours], [self.live.form[one] for one in theirs]
        return self._is_certain(node) or sorted(forms[0]) == sorted(forms[1])

    def _alone_in(self, node: int, obj: int) -> None:
        """Pair the only free inner children: a part that was renamed and changed inside."""
        ours, theirs = self._children(node, obj)
        inner = (
            [child for child in ours if self.saved.children[child]],
            [child for child in theirs if self.live.children[child]],
        )
        if len(inner[0]) == len(inner[1]) == 1:
            child, other = inner[0][0], inner[1][0]
            is_alone = not self._has_namesake(child, other)
            if is_alone and have_common(self.saved, self.live, child, other):
                self._pair(child, other, Certainty.LIKELY, Evidence.ALONE)

    def _within(self, node: int, obj: int) -> None:
        """Pair a part with one of its form inside another part beside it, or the reverse."""
        saved, live = self.saved, self.live
        ours, _ = self._children(node, obj)
        inner = inner_parts(live, self._about(live, live.children[obj])) if ours else {}
        for child in ours:
            others = inner.get(saved.form[child], ())
            self._pair_inner(
                [
                    (child, one, top in self.matched.nodes)
                    for one, top in others
                    if is_like(saved.label(child), live, one, top)
                ]
            )
        _, theirs = self._children(node, obj)
        inner = inner_parts(saved, self._about(saved, saved.children[node])) if theirs else {}
        for other in theirs:
            others = inner.get(live.form[other], ())
            self._pair_inner(
                [
                    (one, other, top in self.matched.pairs)
                    for one, top in others
                    if is_like(live.label(other), saved, one, top)
                ]
            )

    def _pair_inner(self, found: Iterable[tuple[int, int, bool]]) -> None:
        """Pair the only two free parts; first those inside a part that both sides have."""
        free = [one for one in found if self.matched.are_free(*one[:2])]
        kept = [one for one in free if one[2]] or free
        if len(kept) == 1:
            node, obj, _ = kept[0]
            self._pair_below(node, obj, Certainty.LIKELY, Evidence.WITHIN)

    # --- what is left

    def _leftovers(self) -> None:
        """Pair free parts of one form anywhere, if names agree or if they are alone."""
        saved, live = self.saved, self.live
        for ours, theirs in self._groups(saved.names, live.names):
            is_alone = len(ours) == len(theirs) == 1
            is_told = is_alone and bool(saved.children[ours[0]] or self._is_called(ours[0]))
            if is_told and has_full_name(saved.graph, ours[0]):
                self._pair_below(ours[0], theirs[0], Certainty.LIKELY, Evidence.NAMES)
        for ours, theirs in self._groups(saved.form, live.form):
            in_place = list(alone(ours, theirs, saved.place, live.place))
            is_whole = len(ours) == len(theirs) == len(in_place)
            for node, obj in in_place:
                is_sure = is_whole or not saved.is_indexed[node]
                certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                self._pair_below(node, obj, certainty, Evidence.PLACE)
            ours, theirs = self._free(ours, theirs)
            is_inner = bool(ours and saved.children[ours[0]])
            if is_inner:
                by_name = with_names(saved, ours), with_names(live, theirs)
                for node, obj in alone(*by_name, saved.name, live.name):
                    self._pair_below(node, obj, Certainty.LIKELY, Evidence.WORDS)
                ours, theirs = self._free(ours, theirs)
            if len(ours) == len(theirs) == 1:
                is_sure = is_inner and not self._contradict(ours[0], theirs[0])
                certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
                self._pair_below(ours[0], theirs[0], certainty, Evidence.CONTENT)
            elif is_inner and are_siblings(saved, ours) and are_siblings(live, theirs):
                are_all = len(ours) == len(theirs)
                for node, obj in zip(ours, theirs, strict=False):
                    is_told = are_all and have_one_number(saved.label(node), live.label(obj))
                    certainty = Certainty.LIKELY if is_told else Certainty.GUESS
                    self._pair_below(node, obj, certainty, Evidence.ORDER)

    def _misfits(self) -> None:
        """Pair free values of one local name, below parts that belong together."""
        for node in self._nodes:
            pair = self.matched.pairs.get(node)
            ours, theirs = self._children(node, pair.obj) if pair is not None else ([], [])
            leaves = (one for one in theirs if not self.live.children[one])
            by_label = {local_name(self.live.label(one)): one for one in leaves}
            for child in ours:
                other = by_label.get(local_name(self.saved.label(child)))
                if other is not None and not self.saved.children[child]:
                    self._pair(child, other, Certainty.CERTAIN, Evidence.HOLDER)
