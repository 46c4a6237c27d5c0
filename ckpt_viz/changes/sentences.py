"""Changes in words: a sentence or two each, in the names that people give to layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckpt_viz.changes.emptied import Emptied
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.looks import have_doubles
from ckpt_viz.correspondence.sequences import INDEX
from ckpt_viz.object_graph.names import THE_ROOT, LayerNames, NamedGraph, dotted
from ckpt_viz.object_graph.nodes import ROOT, has_value
from ckpt_viz.text import count, listed, listed_by, shape_words

_INPUT = "InputLayer"  # Keras inserts it itself
# Changes whose sentence says "may be" if order alone tells of them.
_MAY_BE = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.REORDERED, Kind.CONTAINER_CHANGED, Kind.RENAMED),
        *(Kind.WRAPPED, Kind.UNWRAPPED, Kind.MOVED),
    }
)


@dataclass(frozen=True)
class Subject:
    """What a sentence is about: the topmost parts on both sides, and further words.

    `alone` are the items of a sequence that one side has alone. Of a guess, order or shapes tell;
    `has_rivals` says that either side has other parts of these shapes without a sure counterpart.
    `is_by_looks` says that shapes tell of it, and no name.
    """

    nodes: Sequence[int]
    objects: Sequence[int]
    words: Sequence[str]
    alone: Sequence[int] = ()
    is_guess: bool = False
    has_rivals: bool = False
    is_by_looks: bool = False

    @property
    def number(self) -> int:
        """How many parts changed."""
        return max(len(self.nodes), len(self.objects))


@dataclass(frozen=True)
class Sentences:
    """Says what happened, with the names of both sides."""

    saved: LayerNames
    live: LayerNames
    emptied: Emptied

    def of(self, kind: Kind, subject: Subject) -> str:
        """Return what happened to some parts, or may have happened."""
        sentence = self._sentence(kind, subject)
        if not subject.is_guess or kind not in _MAY_BE:
            return sentence
        doubt = "equal parts fit as well" if subject.has_rivals else "only its shapes suggest it"
        return f"{sentence.removesuffix('.')}, but {doubt}."

    def _sentence(self, kind: Kind, subject: Subject) -> str:
        match kind:
            case Kind.ROOT_SHIFTED:
                return f"{self._was_is(subject)}: checkpoint and program begin at different levels."
            case Kind.MIGRATED:
                return "Another major version of Keras saved this, under other local names."
            case Kind.INSERTED:
                return self._alone(self.live, subject, "new")
            case Kind.REMOVED:
                return self._alone(self.saved, subject, "gone")
            case Kind.REORDERED:
                items = _called(self.live, self._in_order(subject.objects))
                if len(subject.objects) == 1:
                    return f"{items} {'may have' if subject.is_guess else 'has'} a new place."
                return f"{items} {'may have' if subject.is_guess else 'have'} changed places."
            case Kind.SCOPE_CHANGED:
                return scope_sentence(*subject.words)
            case Kind.CONTAINER_CHANGED:
                them = "it" if subject.number == 1 else "them"
                return f"{self._was_is(subject)}: another kind of container holds {them}."
            case Kind.RENAMED:
                old, new = subject.words
                seems = subject.is_by_looks and not (subject.is_guess and subject.has_rivals)
                called = "seems to be" if seems else _is(subject)
                return f"The saved {old!r} {called} called {new!r} now{_times(subject)}."
            case Kind.WRAPPED:
                return self._wrapped(subject)
            case Kind.UNWRAPPED:
                return self._unwrapped(subject)
            case Kind.MOVED:
                return f"{self._was_is(subject)}."
            case Kind.SHAPE:
                shapes = "another shape" if subject.number == 1 else "other shapes"
                return f"{_at_first(self._holder(subject))} has {shapes}: {self._shapes(subject)}."
            case Kind.DTYPE:
                was, now = subject.words
                if subject.number == 1:
                    return f"{self.live.place(subject.objects[0])} is {now} now, and was {was}."
                return f"{self._variables(subject)} are {now} now, and were {was}."
            case Kind.OPTIMIZER_CHANGED:
                return f"{'. '.join(subject.words)}."
            case Kind.UNMATCHED if subject.words and have_doubles(self.live.graph, subject.objects):
                return self._undecided(self.live, subject.objects[0], subject.words[0], "new")
            case Kind.UNRESOLVED if subject.words and have_doubles(self.saved.graph, subject.nodes):
                return self._undecided(self.saved, subject.nodes[0], subject.words[0], "gone")
            case Kind.UNMATCHED:
                new = listed_by(self.live.place, subject.objects)
                if any(map(self.emptied.is_in_file, subject.objects)):
                    return f"The file has no values of {new}."
                return f"The program has added {new}."
            case Kind.UNRESOLVED:
                gone = listed_by(self.saved.place, subject.nodes)
                if any(map(self.emptied.is_in_program, subject.nodes)):
                    return f"Nothing in the program takes the values of {gone}."
                return f"The program no longer has {gone}."
            case _:
                raise ValueError(f"{kind.value}: found no change, expected one")

    def _wrapped(self, subject: Subject) -> str:
        """Return what holds parts now; a holder may have taken their place and renamed them."""
        name = self._inner(self.live, subject, subject.objects[0])
        if self.live.graph.tree.labels[subject.objects[0]] == subject.words[-1]:
            if subject.number == 1:
                return f"{self._was_is(subject)}: a new part holds it as {name}."
            hold = "may hold" if subject.is_guess else "hold"
            return f"New parts {hold} {count(subject.number, 'part')} as {name} now."
        if subject.number == 1:
            return f"{self._was_is(subject)}, inside the new part {name}."
        return f"{_parts(subject)} inside the new part {name}."

    def _unwrapped(self, subject: Subject) -> str:
        """Return what held parts; they may have taken the place of their holder."""
        name = self._inner(self.saved, subject, subject.nodes[0])
        if self.saved.graph.tree.labels[subject.nodes[0]] == subject.words[-1]:
            if subject.number == 1:
                return f"{self._was_is(subject)}: the part that held it as {name} is gone."
            are = "may be" if subject.is_guess else "are"
            held = f"held {count(subject.number, 'part')} as {name}"
            return f"The parts that {held} {are} gone."
        if subject.number == 1:
            return f"{self._was_is(subject)}, no longer inside {name}."
        return f"{_parts(subject)} no longer inside {name}."

    @staticmethod
    def _inner(names: LayerNames, subject: Subject, part: int) -> str:
        """Return the names between a part and its old holder; not those that Keras gives itself."""
        if not any(word.startswith("_") for word in subject.words):
            return repr(dotted(subject.words))
        tree = names.graph.tree
        if tree.labels[part] == subject.words[-1]:
            return repr(names.name(part))
        return repr(names.place_of_part(tree.parents[part]))

    def _in_order(self, items: Sequence[int]) -> Sequence[int]:
        """Return items by their index if they have no names."""
        indices = [INDEX.fullmatch(self.live.name(item)) for item in items]
        places = {item: int(match[2]) for item, match in zip(items, indices, strict=True) if match}
        return sorted(items, key=places.__getitem__) if len(places) == len(items) else items

    def _was_is(self, subject: Subject) -> str:
        was, now = self.saved.place(subject.nodes[0]), self.live.place(subject.objects[0])
        if was == now and subject.objects[0] != ROOT:  # people call both alike, TensorFlow does not
            now = "in another place"
        was = "root" if subject.nodes[0] == ROOT else was
        return f"The saved {was} {_is(subject)} {now} now{_and_others(subject)}"

    @staticmethod
    def _alone(names: LayerNames, subject: Subject, state: str) -> str:
        """Return which items of a sequence one side has alone, by name if all are known."""
        alone, number = subject.alone, int(subject.words[1])
        if len(alone) > number:  # among layers without weights, of which a file says nothing
            nodes = names.graph.nodes
            alone = [top for top in alone if _has_values(names.graph, top)] or [
                top for top in alone if nodes[top].type_name != _INPUT
            ]
        are, them = ("is", "it") if number == 1 else ("are", "them")
        moved = f"The items after {them} moved{' by one' if number == 1 else ''}."
        if len(alone) != number:
            first = f"at {subject.words[0]}" if number == 1 else f"the first at {subject.words[0]}"
            return f"{count(number, 'item')} {are} {state}, {first}. {moved}"
        return f"{_called(names, alone)} {are} {state}. {moved}"

    @staticmethod
    def _undecided(names: LayerNames, top: int, number: str, state: str) -> str:
        """Return how many items of a sequence one side has alone, if others are like them."""
        place = names.place_of_part(names.graph.tree.parents[top])
        items = (
            f"{count(int(number), 'item')} of {place} {'is' if number == '1' else 'are'} {state}"
        )
        return f"{items}. The items look alike, so nothing shows which."

    def _variables(self, subject: Subject) -> str:
        """Return how many variables there are, with the object that holds all, if one does."""
        parents = self.live.graph.tree.parents
        variables = count(subject.number, "variable")
        has_holder = len({parents[obj] for obj in subject.objects}) == 1
        return f"{variables} of {self._holder(subject)}" if has_holder else variables

    def _holder(self, subject: Subject) -> str:
        above = self.live.graph.tree.parents[subject.objects[0]]
        return self.live.place(max(above, 0))

    def _shapes(self, subject: Subject) -> str:
        pairs = zip(subject.nodes, subject.objects, strict=True)
        return listed(
            [
                f"{self.live.name(obj)} {_look(self.saved.graph, node)} → "
                f"{_look(self.live.graph, obj)}"
                for node, obj in pairs
            ]
        )


def scope_sentence(old: str, new: str) -> str:
    """Return what happened to the first scopes of names.

    >>> scope_sentence("", "model_001"), scope_sentence("old", "new")
    ("The names are in the scope 'model_001', which the file lacks.", \
"The names are in the scope 'new' now, and were in 'old'.")
    """
    if not old or not new:
        verb, side = ("are", "the file") if new else ("were", "the program")
        return f"The names {verb} in the scope {old or new!r}, which {side} lacks."
    return f"The names are in the scope {new!r} now, and were in {old!r}."


def _called(names: LayerNames, items: Sequence[int]) -> str:
    """Return the names of items of a sequence, at the beginning of a sentence."""
    plain = listed_by(names.name, items)
    if not any(INDEX.fullmatch(names.name(item)) for item in items):
        return plain
    return f"{'Item' if len(items) == 1 else 'Items'} {plain}"


def _at_first(place: str) -> str:
    """Return the name of a part at the beginning of a sentence."""
    return f"T{place[1:]}" if place == THE_ROOT else place


def _has_values(graph: NamedGraph, top: int) -> bool:
    return any(has_value(graph.nodes[child.node_id]) for child in graph.nodes[top].children)


def _parts(subject: Subject) -> str:
    return f"{count(subject.number, 'part')} {'may be' if subject.is_guess else 'are'}"


def _and_others(subject: Subject) -> str:
    """Return how many parts more than the first have moved."""
    if subject.number == 1:
        return ""
    have = "may have" if subject.is_guess else "has" if subject.number == 2 else "have"
    return f", and {count(subject.number - 1, 'more part')} {have} moved"


def _is(subject: Subject) -> str:
    return "may be" if subject.is_guess else "is"


def _times(subject: Subject) -> str:
    return f" in {subject.number} places" if subject.number > 1 else ""


def _look(graph: NamedGraph, node: int) -> str:
    """Return the shapes of a node's values, and the dtypes if they are not float32."""
    values = []
    for attribute in graph.nodes[node].attributes:
        dtype = "" if attribute.dtype in (None, "float32") else f" {attribute.dtype}"
        values.append(f"{shape_words(attribute.shape)}{dtype}")
    return listed(values)
