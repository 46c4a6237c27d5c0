"""What a fix leaves out, and why: each object and each checkpoint key for one reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ckpt_viz.correspondence.pairs import Evidence, Pair, is_guess
from ckpt_viz.correspondence.value_mapping import ValueMapping
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import LayerNames
from ckpt_viz.object_graph.optimizer_table import name_in_keras_3
from ckpt_viz.object_graph.subtrees import values_of

_MOST_ALTERNATIVES = 3


class Partly(NamedTuple):
    """A variable that has another shape now: the live object, the key, and both shapes.

    With `is_cast` it has another dtype of numbers, and one shape.
    """

    obj: int
    key: str
    saved: tuple[int, ...]
    live: tuple[int, ...]
    is_cast: bool = False

    @property
    def common(self) -> str:
        """The elements that both shapes have, as an index.

        >>> Partly(0, "kernel", (32, 10), (32, 12)).common
        '[:, :10]'
        """
        sizes = zip(self.saved, self.live, strict=True)
        return f"[{', '.join(':' if was == now else f':{min(was, now)}' for was, now in sizes)}]"


class SavedValue(NamedTuple):
    """What people call a value in the checkpoint, its key, and in words what is left open of it."""

    name: str
    key: str
    places: str = ""


class KeptValue(NamedTuple):
    """The name of a live object that keeps its value, and the key of a saved value."""

    name: str
    key: str


@dataclass(frozen=True)
class LeftOut:
    """What a restore leaves out.

    Attributes:
        missing: The names of objects that the checkpoint has no value for.
        untold: The names of those that a value without a sure place fits, in a name-based file.
        unused: The values that nothing takes.
        guesses: The values whose places are guesses, each with the objects that it may belong to.
        other_states: States that may mean something else in the optimizer's class of today.
        elsewhere: What a plain restore puts into an object of another name or meaning.
        damaged: Values whose bytes do not match their checksums.
        not_restored: Whole values of objects that no code of ours restores.
        misfits: Values of another shape or dtype.
        partly: Those of the misfits whose elements, or some of them, can be converted.
        waiting: The values that are restored once their objects are built.
        untracked: Attributes with values that TensorFlow does not follow.
        accepting: What makes a fix with the guesses.
    """

    missing: Sequence[str]
    untold: Sequence[str]
    unused: Sequence[SavedValue]
    guesses: Sequence[SavedValue]
    other_states: Sequence[KeptValue]
    elsewhere: Sequence[KeptValue]
    damaged: Sequence[KeptValue]
    not_restored: Sequence[KeptValue]
    misfits: Sequence[KeptValue]
    partly: Sequence[Partly]
    waiting: Sequence[SavedValue]
    untracked: Sequence[str]
    accepting: str


@dataclass(frozen=True)
class FixOfMapping:
    """What a fix does with a mapping.

    Attributes:
        sure: The pairs that it restores.
        waiting: The saved nodes that wait until an object is built.
        damaged: The saved nodes whose bytes are damaged.
        plain: By live object, the saved node whose value a plain restore gives it.
        accepting: What makes a fix with the guesses.
    """

    mapping: ValueMapping
    sure: Sequence[Pair]
    waiting: Collection[int]
    damaged: Collection[int]
    plain: Mapping[int, int]
    accepting: str

    def left_out(self) -> LeftOut:
        """Return what the fix leaves out; the first reason of an object or a value counts."""
        saved, pairs, names = self.mapping.saved, self.mapping.pairs, self.mapping.live.names
        rest = _Rest(saved, names, {p.node for p in self.sure}, {p.obj for p in self.sure})
        rest.nodes.update(self.waiting)
        whole = [pair for pair in pairs if pair.node not in self.damaged]
        damaged = rest.claim(pair[:2] for pair in pairs if pair.node in self.damaged)
        guesses = rest.claim(pair[:2] for pair in whole if is_guess(pair))
        others = rest.claim(p[:2] for p in whole if p.evidence is Evidence.OTHER_STATE)
        not_restored = rest.claim(pair[:2] for pair in whole)
        misfits = rest.claim(pair[:2] for pair in self.mapping.misfits)
        others += rest.claim(pair for pair in self._namesakes() if pair[0] not in rest.nodes)
        plain = [(node, obj) for obj, node in self.plain.items() if node not in rest.nodes]
        elsewhere = rest.claim(plain)
        missing = {*self.mapping.missing, *(pair.obj for pair in pairs)} - rest.objects
        unused = {*self.mapping.unused, *(pair.node for pair in pairs)} - rest.nodes
        open_nodes = {*unused, *(node for node, _ in guesses)} if saved.is_name_based else ()
        untold = self._fitting(missing, open_nodes)
        return LeftOut(
            missing=[names.place_or_state(obj) for obj in sorted(missing - untold)],
            untold=[names.place_or_state(obj) for obj in sorted(untold)],
            unused=_saved_values(saved, unused),
            guesses=[*_places(saved, names, guesses)],
            other_states=rest.named(others),
            elsewhere=rest.named(elsewhere),
            damaged=rest.named(damaged),
            not_restored=rest.named(not_restored),
            misfits=rest.named(misfits),
            partly=[*_partly(self.mapping, misfits)],
            waiting=_saved_values(saved, self.waiting),
            untracked=[*_untracked(names)],
            accepting=self.accepting,
        )

    def _namesakes(self) -> Iterator[tuple[int, int]]:
        """Yield the slots of equal names whose variables, and whose optimizers, belong together."""
        saved, live = self.mapping.saved.nodes, self.mapping.live.nodes
        objects = {p.node: p.obj for p in (*self.mapping.parts.values(), *self.mapping.pairs)}
        slots: dict[tuple[int | None, int | None, str], int] = {
            (slot.optimizer, slot.variable, name_in_keras_3(slot.name)): obj
            for obj, node in enumerate(live)
            if (slot := node.slot) is not None
        }
        for node, slot in enumerate(proto.slot for proto in saved):
            if slot is not None and slot.optimizer is not None:
                owners = objects.get(slot.optimizer), objects.get(slot.variable)
                obj = slots.get((*owners, name_in_keras_3(slot.name)))
                if obj is not None:
                    yield node, obj

    def _fitting(self, objects: Iterable[int], nodes: Iterable[int]) -> set[int]:
        """Return the objects that one of these saved values has the dtype and the shape of."""
        looks = {_look(self.mapping.saved, node) for node in nodes}
        return {obj for obj in objects if _look(self.mapping.live, obj) in looks}


@dataclass
class _Rest:
    """The saved nodes and live objects that have a reason."""

    saved: Graph
    names: LayerNames
    nodes: set[int]
    objects: set[int]

    def claim(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the places whose objects have no reason yet, and give both sides this one."""
        free = [(node, obj) for node, obj in places if obj not in self.objects]
        self.nodes.update(node for node, _ in free)
        self.objects.update(obj for _, obj in free)
        return free

    def named(self, places: Iterable[tuple[int, int]]) -> list[KeptValue]:
        """Return names and keys, by object."""
        return [
            KeptValue(self.names.place_or_state(obj), key)
            for node, obj in places
            for key in keys_of(self.saved, node) or ("",)
        ]


def _look(graph: Graph, node: int) -> tuple[object, ...]:
    """Return whether a node is a slot variable, and the dtypes and shapes of its values."""
    specs = ((values.dtype, values.shape) for values in graph.nodes[node].attributes)
    return graph.nodes[node].slot is not None, *specs


def keys_of(saved: Graph, node: int) -> tuple[str, ...]:
    """Return the checkpoint keys of a saved node's own values."""
    return tuple(attribute.checkpoint_key for attribute in saved.nodes[node].attributes)


def _saved_values(saved: Graph, nodes: Iterable[int]) -> list[SavedValue]:
    return [
        SavedValue(saved.names.place_or_state(node), key)
        for node in sorted(nodes)
        for key in keys_of(saved, node)
    ]


def _places(
    saved: Graph, names: LayerNames, guesses: Sequence[tuple[int, int]]
) -> Iterator[SavedValue]:
    """Yield the values of guesses, each with the objects of its kind that it may belong to."""

    def kind(node: int) -> object:
        return saved.tree.labels[node], values_of(saved.nodes[node])

    of_kind: dict[object, list[int]] = {}
    for node, obj in guesses:
        of_kind.setdefault(kind(node), []).append(obj)
    for node, obj in guesses:
        places = _alternatives(names, obj, of_kind[kind(node)])
        yield from (value._replace(places=places) for value in _saved_values(saved, [node]))


def _alternatives(names: LayerNames, obj: int, objects: Sequence[int]) -> str:
    others = islice((other for other in objects if other != obj), _MOST_ALTERNATIVES - 1)
    shown = [names.place_or_state(other) for other in (obj, *others)]
    more = len(objects) - len(shown)
    return " or ".join(shown) + (f", or {more} more" if more else "")


def _untracked(names: LayerNames) -> Iterator[str]:
    for obj, node in enumerate(names.graph.nodes):
        for attribute in node.not_saved:
            if attribute.is_lost:
                yield names.child_place(obj, attribute.name)


def _partly(mapping: ValueMapping, misfits: Iterable[tuple[int, int]]) -> Iterator[Partly]:
    """Yield the variables of other sizes, but as many dimensions; or of another number type."""
    for node, obj in misfits:
        saved, live = mapping.saved.nodes[node], mapping.live.nodes[obj]
        if saved.slot is not None or not len(saved.attributes) == len(live.attributes) == 1:
            continue
        was, now = saved.attributes[0], live.attributes[0]
        if was.shape is None or now.shape is None:
            continue
        if was.dtype != now.dtype:
            if was.shape == now.shape and are_numbers(was.dtype, now.dtype):
                yield Partly(obj, was.checkpoint_key, was.shape, now.shape, is_cast=True)
            continue
        if len(was.shape) == len(now.shape) and min((*was.shape, *now.shape), default=0) > 0:
            yield Partly(obj, was.checkpoint_key, was.shape, now.shape)


def are_numbers(*dtypes: str | None) -> bool:
    """Return whether these are dtypes of real numbers, between which TensorFlow converts.

    >>> are_numbers("int32", "int64"), are_numbers("float32", "bfloat16"), are_numbers("string")
    (True, True, False)
    """
    kinds = ("int", "uint", "float", "bfloat")
    return all(dtype is not None and dtype.startswith(kinds) for dtype in dtypes)
