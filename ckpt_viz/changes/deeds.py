"""Changes as what people did, in a few words each, for the head of a check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.sentences import Subject
from ckpt_viz.object_graph.keras_variables import is_automatic
from ckpt_viz.object_graph.names import LayerNames
from ckpt_viz.object_graph.nodes import ROOT, Attribute, has_value
from ckpt_viz.text import count, listed, shape_words

_MOST_CLAUSES = 3
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody did to a program: a verb in the past, its objects, and what follows.

    `is_sure` is False if only looks tell. The passive says the same of a program that is a file.
    """

    verb: str
    things: tuple[str, ...]
    more: str = ""
    is_many: bool = False
    is_sure: bool = True

    @property
    def passive(self) -> str:
        """The deed as a clause on a file: "block5 was removed"."""
        return f"{listed(self.things)} {'were' if self.is_many else 'was'} {self.verb}{self.more}"


def sentences_of(deeds: Sequence[Deed], *, by_person: bool) -> str:
    """Return what was done, in one sentence, and in another what perhaps was; "" for nothing."""
    sure = [*_alike(deed for deed in deeds if deed.is_sure)]
    unsure = [*_alike(deed for deed in deeds if not deed.is_sure)]
    sentences = []
    if sure:
        done = _first([(_active if by_person else _passive)(group) for group in sure])
        sentences.append(f"You {done}." if by_person else f"Since then, {done}.")
    if unsure:
        sentences.append(f"Perhaps {_first([*map(_passive, unsure)])}.")
    return " ".join(sentences)


def _alike(deeds: Iterable[Deed]) -> Iterator[Sequence[Deed]]:
    """Yield deeds of one verb together; what follows a colon ends a clause."""
    groups: dict[object, list[Deed]] = {}
    for number, deed in enumerate(deeds):
        groups.setdefault(number if deed.more.startswith(":") else deed.verb, []).append(deed)
    for group in groups.values():
        yield [*dict.fromkeys(group)]


def _active(deeds: Sequence[Deed]) -> str:
    """Return what a person did: "removed block5 and head"."""
    return f"{deeds[0].verb} {listed([*_objects(deeds)])}"


def _passive(deeds: Sequence[Deed]) -> str:
    """Return what was done: "block5 and head were removed", "a was renamed to b and c to d"."""
    first, *others = deeds
    if any(deed.more for deed in deeds):
        return listed([first.passive, *_objects(others)])
    things = tuple(_objects(deeds))
    return replace(first, things=things, is_many=bool(others) or first.is_many).passive


def _objects(deeds: Iterable[Deed]) -> Iterator[str]:
    """Yield the objects of deeds with what follows them."""
    for deed in deeds:
        yield from [f"{listed(deed.things)}{deed.more}"] if deed.more else deed.things


def _first(clauses: Sequence[str]) -> str:
    """Return the first clauses, and how many more there are."""
    rest = len(clauses) - _MOST_CLAUSES
    shown = [*clauses[:_MOST_CLAUSES], *([f"{count(rest, 'more change')}"] if rest > 0 else [])]
    if any(" and " in clause for clause in shown[:-1]):
        return ", and ".join([", ".join(shown[:-1]), shown[-1]])
    return listed(shown, most=_MOST_CLAUSES + 1)


@dataclass(frozen=True)
class Deeds:
    """Says what somebody did, with the names of both sides.

    `is_named_by_keras` says that the saved names are those of layers, which Keras may have made.
    """

    saved: LayerNames
    live: LayerNames
    is_named_by_keras: bool

    def of(self, kind: Kind, subject: Subject) -> Deed | None:
        """Return what was done to some parts; None if Keras chose the name that differs."""
        if kind is Kind.RENAMED and self.is_named_by_keras and is_automatic(subject.words[0], None):
            return None
        is_one_sided = not (subject.nodes and subject.objects)  # nothing was compared
        is_sure = is_one_sided or not (subject.is_guess or subject.is_by_looks)
        deed = self._deed(kind, subject)
        is_many = subject.number > 1 and kind is not Kind.SHAPE  # which counts values
        return Deed(*deed, is_many=is_many, is_sure=is_sure)

    def _deed(self, kind: Kind, subject: Subject) -> tuple[str, tuple[str, ...], str]:
        match kind:
            case Kind.REMOVED:
                return "removed", self._alone(self.saved, subject), ""
            case Kind.UNRESOLVED | Kind.UNMATCHED if subject.words:
                verb = "removed" if kind is Kind.UNRESOLVED else "added"
                number = count(int(subject.words[0]), "item")
                return verb, (f"{number} of several that are alike",), ""
            case Kind.UNRESOLVED:
                return "removed", self._were(subject), ""
            case Kind.INSERTED:
                return "added", self._alone(self.live, subject), ""
            case Kind.UNMATCHED:
                return "added", self._are(subject), ""
            case Kind.RENAMED:
                times = f" in {subject.number} places" if subject.number > 1 else ""
                return "renamed", (subject.words[0],), f" to {subject.words[1]}{times}"
            case Kind.MOVED | Kind.ROOT_SHIFTED:
                return "moved", self._were(subject), f" to {self._first(subject)}"
            case Kind.WRAPPED:
                return "wrapped", self._were(subject), f" in {'.'.join(subject.words)}"
            case Kind.UNWRAPPED:
                return "unwrapped", self._were(subject), f" from {'.'.join(subject.words)}"
            case Kind.CONTAINER_CHANGED:
                return "put", self._were(subject), " into another kind of container"
            case Kind.REORDERED:
                return "reordered", _named(self.live, sorted(subject.objects)), ""
            case Kind.SCOPE_CHANGED:
                old, new = (repr(word) if word else "none" for word in subject.words)
                return "changed", ("the scope of the names",), f": {old} → {new}"
            case Kind.MIGRATED:
                return "changed", ("the major version of Keras",), ""
            case Kind.SHAPE:
                return self._reshaped(subject)
            case Kind.DTYPE:
                was, now = subject.words
                return (
                    "changed",
                    (f"the dtype of {listed(self._are(subject))}",),
                    f": {was} → {now}",
                )
            case _:
                return "changed", ("the optimizer",), ""

    def _were(self, subject: Subject) -> tuple[str, ...]:
        return _named(self.saved, subject.nodes)

    def _are(self, subject: Subject) -> tuple[str, ...]:
        return _named(self.live, subject.objects)

    def _first(self, subject: Subject) -> str:
        return self.live.place(subject.objects[0])

    @staticmethod
    def _alone(names: LayerNames, subject: Subject) -> tuple[str, ...]:
        """Return the items of a sequence that one side alone has, so far as they are known."""
        number = int(subject.words[1])
        if len(subject.alone) != number:
            return (count(number, "item"),)
        return _named(names, subject.alone)

    def replaced(self, node: int, obj: int) -> Deed:
        """Return that another part is in the place of one, with values of other shapes.

        A name that Keras made says nothing of the part: then it has other sizes.
        """
        was, now = self.saved.name(node), self.live.name(obj)
        if was == now or (self.is_named_by_keras and is_automatic(was, None)):
            return Deed("resized", (self._resized(obj, node, obj),))
        return Deed("replaced", (self.saved.place(node),), f" by {self.live.place(obj)}")

    def _reshaped(self, subject: Subject) -> tuple[str, tuple[str, ...], str]:
        """Return the deed on a variable of another shape, or on its layer if all have one."""
        saved, node, obj = self.saved.graph, subject.nodes[0], subject.objects[0]
        above = saved.tree.parents[node], self.live.graph.tree.parents[obj]
        if subject.number == 1 or min(above) < ROOT:
            return "resized", (self._resized(obj, node, obj),), ""
        values = [child for _, child in saved.nodes[above[0]].children]
        if subject.number < sum(has_value(saved.nodes[value]) for value in values):
            return "resized", (self._resized(above[1], node, obj),), ""
        deed = self.replaced(*above)
        return deed.verb, deed.things, deed.more

    def _resized(self, part: int, node: int, obj: int) -> str:
        """Return a live part, with the shapes of the first values at or below two nodes."""
        was, now = (
            next(filter(has_value, map(graph.nodes.__getitem__, graph.tree.below(top))))
            for graph, top in ((self.saved.graph, node), (self.live.graph, obj))
        )
        return f"{self.live.place(part)} ({_shapes(was.attributes)} → {_shapes(now.attributes)})"


def _shapes(attributes: Iterable[Attribute]) -> str:
    return listed([shape_words(attribute.shape, unknown="?") for attribute in attributes])


def _named(names: LayerNames, nodes: Sequence[int]) -> tuple[str, ...]:
    parts = [names.place(node) for node in nodes[:_MOST_NAMED]]
    return (*parts, *[""] * (len(nodes) - len(parts)))
