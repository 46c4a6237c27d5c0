"""Pairs of parts, and what each step of a mapping asks and does with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.mapping.full_names import FullNames
from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.optimizers import listed_alike
from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair, weakest
from ckpt_viz.mapping.part_questions import alone, are_items, has_full_name, have_common, reach
from ckpt_viz.mapping.parts import Parts
from ckpt_viz.mapping.sequences import INDEX, ItemReader
from ckpt_viz.object_graph.nodes import has_value


@dataclass
class Matched:
    """What belongs together so far: pairs by saved node, saved nodes by live object."""

    pairs: dict[int, Pair] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)

    def add(self, pair: Pair) -> None:
        """Add a pair of two nodes that are free."""
        self.pairs[pair.node] = pair
        self.nodes[pair.obj] = pair.node

    def remove(self, node: int) -> None:
        """Make both parts of a pair free again."""
        del self.nodes[self.pairs.pop(node).obj]

    def are_free(self, node: int, obj: int) -> bool:
        """Return whether neither a saved node nor a live object has a counterpart."""
        return node not in self.pairs and obj not in self.nodes


class Pairing:
    """Two sides, the pairs so far, and the parts that the current walk is about."""

    def __init__(self, saved: Parts, live: Parts, names: FullNames, reader: ItemReader) -> None:
        self.saved, self.live = saved, live
        self._names, self._reader = names, reader
        self.matched = Matched()
        self._is_at_optimizers = False
        self._nodes: Sequence[int] = ()
        self._objects: Sequence[int] = ()
        self._by_name: dict[bool, dict[tuple[int, str], list[int]]] = {}
        self._free_forms: tuple[set[int], set[int]] = (set(), set())
        self._guessed: set[int] = set()  # forms whose parts were paired by order alone

    def _pair(self, node: int, obj: int, certainty: Certainty, evidence: Evidence) -> bool:
        """Add a pair of free parts; it is no surer than the pair of parts that holds them."""
        if not self.matched.are_free(node, obj) or self._are_others(node, obj):
            return False
        holder = self.matched.pairs.get(self.saved.parent(node))
        if holder is not None and holder.obj == self.live.parent(obj):
            certainty = weakest(certainty, holder.certainty)
        self.matched.add(Pair(node, obj, certainty, evidence))
        return True

    def _freed_strays(self) -> bool:
        """Free the containers that were paired before all of their values went elsewhere.

        Returns whether there are any.
        """
        low, high = reach(self.saved, self.live, self._nodes, self.matched.pairs)
        strays = []
        for node in self._nodes:
            pair = self.matched.pairs.get(node)
            if pair is None or not self.saved.children[node] or low[node] > high[node]:
                continue
            if high[node] < self.live.start[pair.obj] or self.live.end[pair.obj] <= low[node]:
                strays.append(node)
        for node in strays:
            self.matched.remove(node)
        return bool(strays)

    def _are_others(self, node: int, obj: int) -> bool:
        """Return whether these are layers with the names of others, or states of others."""
        names = {self.saved.chosen[node], self.live.chosen[obj]}
        is_called = len(names) > 1 and "" not in names and bool(names & self._common_names)
        return is_called or self._are_other_states(node, obj)

    @cached_property
    def _common_names(self) -> frozenset[str]:
        """The names that people gave to layers of both sides."""
        return frozenset(self.saved.chosen) & frozenset(self.live.chosen) - {""}

    def _are_other_states(self, node: int, obj: int) -> bool:
        """Return whether these are states of different optimizers or of different names."""
        both = self.saved.graph.nodes[node], self.live.graph.nodes[obj]
        if not self._is_at_optimizers or not all(map(has_value, both)):
            return False
        above = self.saved.parent(node), self.live.parent(obj)
        pair, holder = self.matched.pairs.get(above[0]), self.matched.nodes.get(above[1])
        if (pair is not None and pair.obj != above[1]) or holder not in (None, above[0]):
            return True
        labels = self.saved.label(node), self.live.label(obj)
        is_listed = all(INDEX.fullmatch(label) for label in labels)
        return not is_listed and local_name(labels[0]) != local_name(labels[1])

    def _pair_below(self, node: int, obj: int, certainty: Certainty, evidence: Evidence) -> None:
        """Pair two parts, and below them what nothing else can be meant by."""
        stack = [(node, obj)]
        if self.saved.form[node] in self._guessed and not self._are_in_equals(node, obj):
            certainty = Certainty.GUESS
        while stack:
            one, other = stack.pop()
            if certainty is Certainty.GUESS:
                self._guessed.add(self.saved.form[one])
            if self._pair(one, other, certainty, evidence):
                stack.extend(self._children_of_equals(one, other))

    def _are_in_equals(self, node: int, obj: int) -> bool:
        """Return whether parts of equal content hold two parts at the same place, for certain."""
        above, holder = self.saved.parent(node), self.live.parent(obj)
        return (
            self._is_certain(above)
            and self.matched.nodes.get(holder) == above
            and self.saved.content[above] == self.live.content[holder]
            and self.saved.label(node) == self.live.label(obj)
        )

    def _children_of_equals(self, node: int, obj: int) -> Iterator[tuple[int, int]]:
        saved, live = self.saved, self.live
        by_label = {live.label(child): child for child in self._about(live, live.children[obj])}
        if are_items(saved, saved.children[node]) or are_items(live, live.children[obj]):
            return  # their order and names decide
        ours: list[int] = []
        for child in self._about(saved, saved.children[node]):
            other = by_label.get(saved.label(child))
            if other is not None and saved.form[child] == live.form[other]:
                del by_label[saved.label(child)]
                yield child, other
            else:
                ours.append(child)
        for child, other in alone(ours, by_label.values(), saved.form, live.form):
            if not self._has_namesake(child, other):
                yield child, other

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

    def _children(self, node: int, obj: int) -> tuple[list[int], list[int]]:
        """Return the free children of two parts that the current walk is about."""
        ours = self._about(self.saved, self.saved.children[node])
        theirs = self._about(self.live, self.live.children[obj])
        return self._free(ours, theirs)

    def _about(self, side: Parts, parts: Iterable[int]) -> Iterator[int]:
        return (one for one in parts if (one in side.of_optimizer) == self._is_at_optimizers)

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

    def _fits(self, node: int, obj: int) -> bool:
        """Return whether two parts can be one: inner parts, or values of one shape and dtype."""
        is_inner = bool(self.saved.children[node]), bool(self.live.children[obj])
        return is_inner == (True, True) or self.saved.look[node] == self.live.look[obj]

    def _is_of_another(self, node: int, obj: int) -> bool:
        """Return whether an inner live part is like another saved part, and not like this one."""
        saved, live = self.saved, self.live
        return (
            bool(saved.children[node] and live.children[obj])
            and live.form[obj] in self._saved_forms
            and not have_common(saved, live, node, obj)
            and saved.form[node] != live.form[obj]
        ) or self._are_exchanged(node, obj)

    def _see_free_forms(self) -> None:
        """Note which forms the inner parts have that are free now."""
        self._free_forms = (
            {self.saved.form[node] for node in self._free(self._nodes, ())[0]},
            {self.live.form[obj] for obj in self._free((), self._objects)[1]},
        )

    def _are_exchanged(self, node: int, obj: int) -> bool:
        """Return whether each of two inner parts has the form of a part on the other side.

        Then a whole part may have taken the name of another one.
        """
        forms = self.saved.form[node], self.live.form[obj]
        return (
            forms[0] != forms[1]
            and bool(self.saved.children[node] and self.live.children[obj])
            and forms[1] in self._free_forms[0]
            and forms[0] in self._free_forms[1]
        )

    @cached_property
    def _saved_forms(self) -> frozenset[int]:
        return frozenset(self.saved.form[node] for node in self.saved.order)

    def _is_called(self, node: int) -> bool:
        """Return whether a person gave a saved value its full name, or its layer's."""
        return has_full_name(self.saved.graph, node) and any(
            self._names.is_chosen(attribute.full_name)
            for attribute in self.saved.graph.nodes[node].attributes
        )

    def _contradict(self, node: int, obj: int) -> bool:
        """Return whether people gave two layers different names."""
        names = self.saved.chosen[node], self.live.chosen[obj]
        return all(names) and names[0] != names[1]

    def _is_refuted(self, node: int, obj: int) -> bool:
        """Return whether names speak against two parts of equal content."""
        return (
            self._contradict(node, obj)
            or self._has_another_in_its_place(node, obj)
            or self._is_still_in_its_place(node, obj)
        )

    def _is_still_in_its_place(self, node: int, obj: int) -> bool:
        """Return whether another live part has the path of the saved one, and most of its content.

        Then the part has changed, and its equal is a copy of what it was.
        """
        saved, live = self.saved, self.live
        other = self._at_live_place.get(saved.place[node], obj)
        if other == obj or other in self.matched.nodes or saved.is_indexed[node]:
            return False
        theirs = {live.label(child): live.content[child] for child in live.children[other]}
        ours = saved.children[node]
        kept = sum(theirs.get(saved.label(child)) == saved.content[child] for child in ours)
        return 2 * kept >= max(1, len(ours))

    @cached_property
    def _at_live_place(self) -> dict[int, int]:
        """The live parts by place."""
        return {self.live.place[obj]: obj for obj in self.live.order}

    def _has_another_in_its_place(self, node: int, obj: int) -> bool:
        """Return whether another saved part has the path of the live one, and nowhere else to go.

        A path with an index is no name.
        """
        other = self._at_place.get(self.live.place[obj], node)
        return (
            other != node
            and other not in self.matched.pairs
            and other not in self._unique
            and not self.live.is_indexed[obj]
            and have_common(self.saved, self.live, other, obj)
        )

    @cached_property
    def _at_place(self) -> dict[int, int]:
        """The saved parts by place."""
        return {self.saved.place[node]: node for node in self.saved.order}

    @cached_property
    def _unique(self) -> frozenset[int]:
        """The saved parts that are alone with their form, if one live part has it."""
        saved, live = self.saved, self.live
        return frozenset(n for n, _ in alone(saved.order, live.order, saved.form, live.form))

    def _are_listed(self, node: int, obj: int) -> bool:
        """Return whether optimizers list all variables of two parts of one form alike."""
        below = [one for one in self.saved.below(node) if not self.saved.children[one]]
        return bool(below) and all(
            one in self._listed and self.live.holds(obj, self._listed[one]) for one in below
        )

    @cached_property
    def _listed(self) -> dict[int, int]:
        return listed_alike(self.saved, self.live)

    def _is_certain(self, node: int) -> bool:
        pair = self.matched.pairs.get(node)
        return pair is not None and pair.certainty is Certainty.CERTAIN

    def _has_namesake(self, node: int, obj: int) -> bool:
        """Return whether a free part elsewhere has the form and the name of one of two parts."""
        saved, live = self.saved, self.live
        labels = saved.label(node), live.label(obj)
        if labels[0] == labels[1] or any(map(INDEX.fullmatch, labels)):
            return False
        return any(
            one not in self.matched.pairs and saved.form[one] == saved.form[node]
            for one in self._named.get((0, labels[1]), ())
        ) or any(
            one not in self.matched.nodes and live.form[one] == live.form[obj]
            for one in self._named.get((1, labels[0]), ())
        )

    @property
    def _named(self) -> dict[tuple[int, str], list[int]]:
        """The inner parts of both sides, 0 and 1, by their local names."""
        key = self._is_at_optimizers
        if key not in self._by_name:
            found: dict[tuple[int, str], list[int]] = {}
            sides = (self.saved, self._nodes), (self.live, self._objects)
            for number, (side, parts) in enumerate(sides):
                for part in parts:
                    if side.children[part]:
                        found.setdefault((number, side.label(part)), []).append(part)
            self._by_name[key] = found
        return self._by_name[key]
