"""Deeds in words: what a person did, or what is so now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.names import is_holder
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.changes.deeds import SWAPPED, Act, Deed
from ckpt_viz.matching.changes.looks import look_of
from ckpt_viz.matching.changes.of_optimizers import ALSO_TRAINS, NEWLY_TRAINS
from ckpt_viz.matching.changes.shapes_in_words import (
    are_last,
    has_slots,
    larger,
    layers,
    optimizer_classes,
    shape,
    size_words,
    wholes,
)
from ckpt_viz.matching.changes.short_names import Part, ShortNames, Side, with_article
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.correspondence.sequences import INDEX

_POWERS = ("beta1_power", "beta2_power")  # of an Adam of TensorFlow 1
_HEAD = "head"  # what a person may call the last layer
_MODULE = "Module"  # a class that says nothing of its objects
_BE = {
    Certainty.CERTAIN: ("is", "are"),
    Certainty.LIKELY: ("seems to be", "seem to be"),
    Certainty.GUESS: ("may be", "may be"),
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """Deeds of one kind as parts of a sentence.

    `verb` and `things` are what a person did, "removed block5"; "" if a state is better. `subject`
    and `state` say the same of a file, "block5", "gone". `is_new` adds "now" to the state, and
    `clause` says all of it where no state does. `tail` follows if there is room, `alone` is better
    than `things` without other clauses, and `question` comes after the sentence.
    """

    verb: str
    things: str
    subject: str
    state: str
    is_many: bool = False
    is_new: bool = False
    tail: str = ""
    alone: str = ""
    clause: str = ""
    question: str = ""

    def as_state(self, certainty: Certainty) -> str:
        """Return a clause without a person: "block5 is gone"."""
        if self.clause:
            return self.clause
        verb = _BE[certainty][self.is_many]
        return f"{self.subject} {verb} {self.state}{' now' if self.is_new else ''}"

    def as_question(self) -> str:
        """Return a question to the person: "Is block5 gone?"."""
        verb = "Are" if self.is_many else "Is"
        return f"{verb} {self.subject} {'now ' if self.is_new else ''}{self.state}?"


_ELSEWHERE = ("to another place", "in another place")


class LeftSlots(NamedTuple):
    """How many slots of an optimizer stay in the file, and how many the call alone restores.

    To these, the class of today gives another meaning.
    """

    staying: int = 0
    otherwise: int = 0


class _Move(NamedTuple):
    verb: str
    thing: str
    where: str
    state: str


@dataclass(frozen=True)
class Phrases:
    """Puts deeds into words, with at most `most` names in each list.

    `left_slots` returns what becomes of the slots of a saved optimizer that no fix restores.
    """

    names: ShortNames
    left_slots: Callable[[int], LeftSlots] = lambda _: LeftSlots()
    most: int = 3

    def of(self, deeds: Sequence[Deed]) -> Phrase:
        """Return deeds of one act and certainty in one phrase."""
        match deeds[0].act:
            case Act.REMOVED:
                return self._one_sided("removed", "gone", self._were(deeds))
            case Act.ADDED:
                return self._added(deeds)
            case Act.EMPTY:
                return self._said(
                    "the program has no place for the values of {}", self._were(deeds)
                )
            case Act.UNTRAINED:
                return self._said("the optimizer no longer trains {}", self._were(deeds))
            case Act.SHARED:
                return self._shared(deeds)
            case Act.VALUELESS:
                return self._said("the file has no values of {}", self._are(deeds))
            case Act.FEWER | Act.MORE:
                return self._undecided(deeds[0])
            case Act.WEIGHTLESS:
                return self._weightless(deeds)
            case Act.HEAD:
                return self._head(deeds[0])
            case Act.REPLACED:
                return self._replaced(deeds)
            case Act.RESIZED:
                return self._resized(deeds)
            case Act.RENAMED:
                return self._renamed(deeds)
            case Act.REORDERED:
                return self._reordered(deeds)
            case Act.DTYPE:
                return self._of_dtype(deeds[0])
            case Act.OPTIMIZER:
                return self._optimizer(deeds)
            case Act.SCOPE:
                return scope_phrase(*deeds[0].words)
            case Act.KERAS:
                clause = "another major version of Keras wrote the file"
                return Phrase("changed", "the major version of Keras", "", "", clause=clause)
            case Act.ROOT:
                return self._root(deeds[0])
        return self._elsewhere(deeds)

    # --- lists of names

    def _were(self, deeds: Sequence[Deed]) -> list[str]:
        return self._list(self.names.saved, [node for deed in deeds for node in deed.nodes])

    def _are(self, deeds: Sequence[Deed]) -> list[str]:
        return self._list(self.names.live, [obj for deed in deeds for obj in deed.objects])

    def _list(self, side: Side, nodes: Sequence[int]) -> list[str]:
        """Return names of parts; of those that no sentence has space for, "" each."""
        parts = self.names.parts(side, nodes)
        shown = [self._called(side, part) for part in parts[: self.most]]
        return [*shown, *[""] * (len(parts) - len(shown))]

    def _called(self, side: Side, part: Part) -> str:
        return self.names.was(part) if side is self.names.saved else self.names.now(part)

    def _listed(self, names: Sequence[str], noun: str = "") -> str:
        """Return names as a list in words."""
        if self.most == 1 and len(names) > 1:
            return count(len(names), noun or "part")
        return listed([with_article(name) for name in names], most=self.most)

    # --- acts

    def _one_sided(self, verb: str, state: str, names: list[str]) -> Phrase:
        names = _with_adam(names)
        things = self._listed(names)
        return Phrase(verb, things, things, state, len(names) > 1)

    def _shared(self, deeds: Sequence[Deed]) -> Phrase:
        names, others = self._were(deeds), self._listed(self._are(deeds))
        state = f"the same object{'s' if len(names) > 1 else ''} as {others}"
        return Phrase("", "", self._listed(names), state, len(names) > 1, is_new=True)

    def _said(self, clause: str, names: list[str]) -> Phrase:
        return Phrase("", "", "", "", clause=clause.format(self._listed(names)))

    def _added(self, deeds: Sequence[Deed]) -> Phrase:
        phrase = self._one_sided("added", "new", self._are(deeds))
        objects = deeds[0].objects
        if phrase.is_many:
            return phrase
        before = "" if deeds[0].certainty is not Certainty.CERTAIN else self._before(objects)
        return replace(phrase, tail=f" after {before}") if before else phrase

    def _before(self, objects: Sequence[int]) -> str:
        """Return what is in front of parts of the program in their sequence; "" for nothing."""
        graph = self.names.live.graph
        tree, name = graph.tree, graph.names.name
        first = objects[0]
        row = tree.children[tree.parents[first]]
        place = min((row.index(obj) for obj in objects if obj in row), default=0)
        is_row = INDEX.fullmatch(tree.labels[first]) is not None
        if not (is_row and place) or name(first).isdecimal() or name(row[place - 1]).isdecimal():
            return ""
        return self.names.now(self.names.block_before(self.names.live, row[place - 1], first))

    def _undecided(self, deed: Deed) -> Phrase:
        """Return that parts are new or gone among others that are alike."""
        is_new = deed.act is Act.MORE
        side = self.names.live if is_new else self.names.saved
        parts = deed.objects if is_new else deed.nodes
        number = int(deed.words[0])
        noun, alike = self._alike(side, parts)
        some = "one" if number == 1 else str(number)
        question = "Which one?" if number == 1 else "Which ones?"
        state = "new" if is_new else "gone"
        return Phrase(
            "", "", f"{some} of {alike} alike {noun}", state, number > 1, question=question
        )

    def _weightless(self, deeds: Sequence[Deed]) -> Phrase:
        """Return that layers without weights are new or gone; a file has no names of them."""
        added, removed = (
            sum(int(deed.words[0]) for deed in deeds if bool(deed.objects) is is_new)
            for is_new in (True, False)
        )
        number = added + removed
        things = f"{count(number, 'layer')} without weights"
        objects = deeds[0].objects
        if number == added == 1 and len(objects) <= self.most:
            things = " or ".join(self.names.now(obj) for obj in objects)
        verb = "added" if not removed else "removed" if not added else "added or removed"
        state = "new" if not removed else "gone" if not added else "new or gone"
        return Phrase(verb, things, things, state, number > 1)

    def _alike(self, side: Side, parts: Sequence[int]) -> tuple[str, int]:
        """Return what to call items that are alike, and how many there are."""
        graph = side.graph
        holder = graph.names.holder(parts[0])
        looks = [look_of(graph, part) for part in parts]
        number = sum(look_of(graph, item) in looks for item in side.held[holder])
        is_model = holder == ROOT or graph.tree.parents[holder] == ROOT
        name = "" if is_model else self._called(side, holder)
        own = graph.names.name(holder)
        if holder != ROOT and own.endswith("s"):
            return self._called(side, holder), max(number, len(parts))
        is_of_layers = any(node.role is Role.LAYER for node in self.names.live.graph.nodes)
        noun = "layers" if is_of_layers else "items"
        noun = "values" if all(has_value(graph.nodes[part]) for part in parts) else noun
        return f"{noun} of {name}" if name else noun, max(number, len(parts))

    def _replaced(self, deeds: Sequence[Deed]) -> Phrase:
        pairs = [
            (self._list(self.names.saved, d.nodes), self._list(self.names.live, d.objects))
            for d in deeds
        ]
        done = listed(
            [f"{self._listed(was)} with {self._listed(now)}" for was, now in pairs], most=self.most
        )
        was, now = ([name for pair in pairs for name in pair[i]] for i in (0, 1))
        if was == now:
            return Phrase("", "", self._listed(now), "another layer", len(now) > 1, is_new=True)
        return Phrase(
            "replaced", done, self._listed(now), f"in place of {self._listed(was)}", len(now) > 1
        )

    def _resized(self, deeds: Sequence[Deed]) -> Phrase:
        objects = [obj for deed in deeds for obj in deed.objects]
        nodes = [node for deed in deeds for node in deed.nodes]
        parts = layers(self.names.live, objects)
        parts = parts if len(parts) <= self.most else wholes(self.names.live, objects)
        names = self._list(self.names.live, parts)
        shapes = [
            (shape(self.names.saved.graph, node), shape(self.names.live.graph, obj))
            for node, obj in zip(nodes, objects, strict=True)
        ]
        sizes = [*dict.fromkeys(size_words(was, now) for was, now in shapes)]
        tail = f": {sizes[0]}" if len(sizes) == 1 or len(names) == 1 else ""
        things = self._listed(names, "layer")
        return Phrase("", "", things, larger(shapes), len(names) > 1, tail=tail)

    def _renamed(self, deeds: Sequence[Deed]) -> Phrase:
        words = [self._words(deed) for deed in deeds]
        done = [f"{was} to {now}{times}" for was, now, times in words]
        was, now = ([pair[i] for pair in words] for i in (0, 1))
        return Phrase(
            "renamed",
            listed(done, most=self.most),
            listed(was, most=self.most),
            listed(now, most=self.most),
            len(words) > 1,
            is_new=True,
        )

    def _words(self, deed: Deed) -> tuple[str, str, str]:
        """Return the old and the new name of a renamed part, and in how many places it is."""
        if len(deed.nodes) == 1:
            was, now = self.names.was(deed.nodes[0]), self.names.now(deed.objects[0])
            if was != now:
                return was, now, ""
        times = f" in {len(deed.nodes)} places" if len(deed.nodes) > 1 else ""
        return deed.words[0], deed.words[1], times

    def _root(self, deed: Deed) -> Phrase:
        if deed.nodes[0] == ROOT:
            inside = with_article(self.names.now(deed.objects[0]))
            return Phrase(
                "put", f"everything into {inside}", "everything", f"inside {inside}", is_new=True
            )
        outside = with_article(self.names.was(deed.nodes[0]))
        return Phrase(
            "took",
            f"everything out of {outside}",
            "everything",
            f"outside of {outside}",
            is_new=True,
        )

    def _elsewhere(self, deeds: Sequence[Deed]) -> Phrase:
        """Return where parts are now that something else holds."""
        moves = dict.fromkeys(
            self._move(deed.act, *pair)
            for deed in deeds
            for pair in zip(deed.nodes, deed.objects, strict=True)
        )
        clear = [move for move in moves if move.where != _ELSEWHERE[0]]
        moves = dict.fromkeys(clear or moves)
        groups: dict[tuple[str, str], list[str]] = {}
        verb = next(iter(moves)).verb
        for move in moves:
            other = "" if move.verb == verb else f"{move.verb} "
            groups.setdefault((other, move.where), []).append(move.thing)
        done = [
            f"{other}{self._listed(things)} {where}".strip()
            for (other, where), things in groups.items()
        ]
        states = [*dict.fromkeys(move.state for move in moves)]
        things = [*dict.fromkeys(move.thing for move in moves)]
        return Phrase(
            verb,
            listed(done, most=self.most),
            self._listed(things),
            self._listed(states),
            len(things) > 1,
            is_new=True,
        )

    def _move(self, act: Act, node: int, obj: int) -> _Move:
        """Return the verb of a move, where the part is now, and what to call it."""
        saved, live = self.names.saved.graph, self.names.live.graph
        node, obj = _with_a_name(saved, node), _with_a_name(live, obj)
        was, now = self.names.was(node), self.names.now(obj)
        above, holder = saved.names.holder(node), live.names.holder(obj)
        into = "" if holder == ROOT else with_article(self.names.now(holder))
        match act:
            case Act.WRAPPED if holder == ROOT or saved.names.name(node) == live.names.name(holder):
                around = _with_a_name(live, live.tree.parents[obj])
                kind = live.nodes[around].type_name or _MODULE
                where = "" if kind == _MODULE else f"in {kind}"
                return _Move("wrapped", was, where, f"wrapped {where}".strip())
            case Act.UNWRAPPED if above == ROOT or live.names.name(obj) == saved.names.name(above):
                return _Move("unwrapped", now, "", "unwrapped")
            case Act.INLINED | Act.UNWRAPPED:
                inside = was if above == ROOT else with_article(self.names.was(above))
                if INDEX.fullmatch(saved.names.name(above)):  # no person knows it by that
                    inside = now
                where = f"into {into}" if into and not inside.endswith(into) else ""
                return _Move("inlined", inside, where, "inlined")
        names = saved.names.name(node), live.names.name(obj)
        is_named = act is not Act.WRAPPED and not (
            saved.is_of_keras and is_automatic(names[1], None)
        )
        if was != now and ((names[0] != names[1] and is_named) or act is Act.CONTAINER):
            return _Move("moved", was, f"to {now}", now)
        is_beside = above == holder == ROOT or self.names.was(above) == self.names.now(holder)
        if is_beside and was == now:  # only the paths differ, which no person uses
            return _Move("moved", was, *_ELSEWHERE)
        if not into:
            place = f"outside of {with_article(self.names.was(above))}"
            return _Move("moved", was, place.replace("outside", "out"), place)
        is_put = act in (Act.PUT_INTO, Act.WRAPPED)
        return _Move("put" if is_put else "moved", was, f"into {into}", f"in {into}")

    def _reordered(self, deeds: Sequence[Deed]) -> Phrase:
        objects = [obj for deed in deeds for obj in deed.objects]
        has_names = not all(self.names.live.graph.names.name(obj).isdecimal() for obj in objects)
        names = self._are(deeds) if has_names else self._were(deeds)
        things = self._listed(names)
        if deeds[0].words == SWAPPED and len(deeds) == 1:
            return Phrase("swapped", things, things, "swapped", is_many=True)
        before = self._before(objects) if len(names) == 1 else ""
        if before:
            return Phrase(
                "moved", f"{things} after {before}", things, f"after {before}", is_new=True
            )
        if len(names) == 1:
            return Phrase("moved", f"{things} to another place", things, "in another place")
        return Phrase("reordered", things, things, "in another order", is_many=True)

    def with_namesakes(self, deeds: Sequence[Deed]) -> list[Deed]:
        """Return the deeds, with one in place of what is gone and what is new under its name."""
        gone = {
            self._only_name(self.names.saved, d.nodes): d for d in deeds if d.act is Act.REMOVED
        }
        new = {self._only_name(self.names.live, d.objects): d for d in deeds if d.act is Act.ADDED}
        both = {gone[name]: new[name] for name in gone.keys() & new.keys() - {""}}
        joined = [
            replace(deed, act=Act.REPLACED, objects=both[deed].objects) if deed in both else deed
            for deed in deeds
        ]
        return [deed for deed in joined if deed not in both.values()]

    def _only_name(self, side: Side, nodes: Sequence[int]) -> str:
        names = self._list(side, nodes)
        return names[0] if len(names) == 1 else ""

    def head_of(self, removed: Sequence[Deed], added: Sequence[Deed]) -> Deed | None:
        """Return that the last layers of a model are others, if that is what happened."""
        nodes = [node for deed in removed for node in deed.nodes]
        objects = [obj for deed in added for obj in deed.objects]
        sides = ((self.names.saved, nodes), (self.names.live, objects))
        if all(are_last(side, parts) for side, parts in sides):
            return Deed(Act.HEAD, tuple(nodes), tuple(objects))
        return None

    def _head(self, deed: Deed) -> Phrase:
        was, now = self._were([deed]), self._are([deed])
        gone, new = self._listed(was), self._listed(now)
        are = ["are" if len(names) > 1 else "is" for names in (was, now)]
        states = f"{gone} {are[0]} gone, {new} {are[1]} new"
        return Phrase(
            "replaced",
            f"{gone} with {new}",
            new,
            f"in place of {gone}",
            len(now) > 1,
            alone=f"the head: {states}" if len(was) != len(now) and was != [_HEAD] else "",
        )

    def _of_dtype(self, deed: Deed) -> Phrase:
        was, now = deed.words
        graph = self.names.saved.graph
        same = [
            node
            for node in self.names.saved.valued - {*states_of_optimizers(graph)}
            if has_value(graph.nodes[node]) and graph.nodes[node].attributes[0].dtype == was
        ]
        if len(deed.nodes) > 1 and {*same} <= {*deed.nodes}:
            return Phrase("", "", "the program", f"{now}, the file {was}")
        names = self._list(self.names.live, layers(self.names.live, deed.objects))
        return Phrase("", "", self._listed(names), f"{now}, saved as {was}", len(names) > 1)

    def tells_unbuilt(self, deed: Deed) -> bool:
        """Return whether a deed only tells that an optimizer is not built yet."""
        if deed.act is not Act.OPTIMIZER:
            return False
        live, obj = self.names.live.graph, deed.objects[0]
        _, classes = optimizer_classes(self.names.saved.graph, deed.nodes[0])
        return live.nodes[obj].type_name in classes and not has_slots(live, obj)

    def _optimizer(self, deeds: Sequence[Deed]) -> Phrase:
        deed = deeds[0]
        saved, live = self.names.saved.graph, self.names.live.graph
        left = [self.left_slots(optimizer) for d in deeds for optimizer in d.nodes]
        stay = ""
        if deed.words[0] not in (ALSO_TRAINS, NEWLY_TRAINS):  # others stay, for another reason
            stay = _left_in_words(*map(sum, zip(*left, strict=True)))
        was, classes = optimizer_classes(saved, deed.nodes[0])
        now = live.nodes[deed.objects[0]].type_name or ""
        if len(deeds) > 1:
            optimizers = [deed.objects[0] for deed in deeds]
            things = self._listed(self._list(self.names.live, optimizers), "optimizer")
            return Phrase("changed", things, things, "others", is_many=True, tail=stay)
        if now and classes and now not in classes:
            before = was or "the optimizer"
            return Phrase("changed", f"{before} to {now}", now, f"in place of {before}", tail=stay)
        optimizer = with_article(self.names.now(deed.objects[0]))
        trained = self._listed(self._list(self.names.live, deed.objects[1:]))
        clause = f"{optimizer} {deed.words[0]} {trained}".strip()
        if self.tells_unbuilt(deed):
            clause = f"{optimizer} is not built yet"
        return Phrase("", "", optimizer, "", tail=stay, clause=clause)


def _with_adam(names: Sequence[str]) -> list[str]:
    """Return names of parts; an Adam of TensorFlow 1 is not called by its two powers."""
    others = [name for name in names if name.rpartition(".")[2] not in _POWERS]
    is_adam = len(names) - len(others) == len(_POWERS)
    return ["the Adam optimizer", *others] if is_adam else [*names]


def _with_a_name(graph: Graph, part: int) -> int:
    """Return a part, or what holds it if it is a private container, such as `_operations`."""
    parents = graph.tree.parents
    while part != ROOT and parents[part] != ROOT and is_holder(graph.nodes, graph.tree, part):
        part = parents[part]
    return part


def _left_in_words(staying: int, otherwise: int) -> str:
    if staying:
        every = staying + otherwise  # a call that restores some of them only raises later
        return f": {count(every, 'slot')} {'stays' if every == 1 else 'stay'} in the file"
    if otherwise:
        return f": {count(otherwise, 'slot')} {'gets' if otherwise == 1 else 'get'} another meaning"
    return ""


def scope_phrase(was: str, now: str) -> Phrase:
    """Return that all names begin with a different scope; "" for none."""
    if was and now:
        return Phrase("renamed", f"the scope {was} to {now}", f"the scope {was}", now, is_new=True)
    if now:
        return Phrase(
            "put", f"all names into the scope {now}", "all names", f"in the scope {now}", True
        )
    return Phrase(
        "took",
        f"all names out of the scope {was}",
        "all names",
        f"outside of the scope {was}",
        True,
    )


def states_of_optimizers(graph: Graph) -> Iterator[int]:
    """Yield the optimizers of a graph, and what is below them in the tree."""
    for node, data in enumerate(graph.nodes):
        if data.role is Role.OPTIMIZER:
            yield from graph.tree.below(node)
