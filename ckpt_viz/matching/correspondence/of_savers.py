"""Where the values of a file belong in a program that a `tf.compat.v1.train.Saver` restores.

Both sides have names of variables and no objects. Equal names come first, as a Saver restores them.
Then the ends of the names are compared, from the longest on: a scope in front may have changed.
Shapes tell what names leave open. What is still free is compared by scopes, as in `by_names`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple

from ckpt_viz.formats.arrays.dtypes import is_float
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.scopes import NamedVariable, scope_nodes
from ckpt_viz.ground.text import MOST_READABLE
from ckpt_viz.matching.correspondence.by_names import by_plain_name, pairs_by_name
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, weakest
from ckpt_viz.matching.correspondence.states import state_pairs
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.name_rules.full_names import FullNames
from ckpt_viz.matching.name_rules.names import are_related, numbers, spelled

AVERAGE = "ExponentialMovingAverage"  # the last part of a moving average's name
_PART = re.compile(r"(.+)/part_(0|[1-9]\d{0,5})", re.DOTALL | re.ASCII)
_MOST_PARTS = 16  # of a name, from its end
_INTEGER = re.compile(r"u?int\d+")
_NUMBER = re.compile(r"_?\d+")
_Shape = tuple[int, ...]


class Joined(NamedTuple):
    """The value of a variable: some tensors joined along an axis, from `start` to `stop`.

    It has all elements if `stop` is None.
    """

    nodes: tuple[int, ...]
    axis: int
    start: int = 0
    stop: int | None = None


@dataclass(frozen=True)
class NamesMapping(ValueMapping):
    """A mapping of names. `joined` has the variables that are no whole tensor of the file."""

    joined: Mapping[int, Joined] = field(default_factory=dict)


def map_names(saved: Graph, live: Graph, own_names: Mapping[int, str]) -> NamesMapping:
    """Return where each value of a file belongs among the variables of a Saver.

    `own_names` has the name that a variable itself has, by live node: the Saver may call it
    otherwise.
    """
    return _PairedNames(saved, live, own_names).mapping()


def may_be_cast(was: str | None, now: str | None) -> bool:
    """Return whether a value of one dtype can become one of another dtype.

    >>> may_be_cast("int64", "int32"), may_be_cast("float32", "bfloat16")
    (True, True)
    >>> may_be_cast("float32", "int32"), may_be_cast("int32", "float32")
    (False, False)
    """
    if was == now:
        return True
    are_integers = all(_INTEGER.fullmatch(dtype or "") for dtype in (was, now))
    return are_integers or (is_float(was) and is_float(now))


class _NamedTensor(NamedTuple):
    """What has a name on one side: a value, or the parts of one that have names of their own.

    `ends` are the parts of its name, as all versions spell them. `shapes` are the possible ones:
    parts of equal shapes can be joined along any axis.
    """

    name: str
    ends: tuple[str, ...]
    nodes: tuple[int, ...]
    dtype: str | None
    shapes: tuple[_Shape | None, ...]

    @property
    def space(self) -> tuple[str | None, _Shape | None]:
        """The dtype and the shape."""
        return self.dtype, self.shapes[0]

    @property
    def is_average(self) -> bool:
        """Whether this is the moving average of a variable, by its name."""
        return len(self.ends) > 1 and self.ends[-1] == AVERAGE


class _FreeNames:
    """The free names of one side."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        nodes = [n for n in (ROOT, *graph.first_edges) if has_value(graph.nodes[n])]
        self.valued = sorted({*nodes} - {graph.save_counter})
        known = [node for node in self.valued if graph.nodes[node].attributes[0].dtype is not None]
        tensors = map(self._tensor, known)
        self.free = {tensor.name: tensor for tensor in tensors}
        self._every = tuple(self.free.values())

    def _tensor(self, node: int) -> _NamedTensor:
        value = self.graph.nodes[node].attributes[0]
        return _named((value.full_name or value.checkpoint_key), (node,), value.dtype, value.shape)

    @cached_property
    def spaces(self) -> Counter[object]:
        """How many values have a dtype and shape."""
        return Counter(tensor.space for tensor in self._every)

    @cached_property
    def last_names(self) -> Counter[str]:
        """How many names have a last part."""
        return Counter(tensor.ends[-1] for tensor in self._every)

    @cached_property
    def sequences(self) -> Mapping[str, set[str]]:
        """The scopes that differ only in their numbers."""
        scopes: dict[str, set[str]] = defaultdict(set)
        for tensor in self._every:
            for scope in _scopes_of(tensor.ends[:_MOST_PARTS]):
                scopes[_without_numbers(scope)].add(scope)
        return scopes

    @property
    def by_node(self) -> Mapping[int, _NamedTensor]:
        """The free names of one value each, by its node."""
        return {t.nodes[0]: t for t in self.free.values() if len(t.nodes) == 1}

    def tensors(self, *, are_averages: bool) -> list[_NamedTensor]:
        """Return the free moving averages, under the names of their variables; or the others."""
        chosen = [tensor for tensor in self.free.values() if tensor.is_average is are_averages]
        return [t._replace(ends=t.ends[:-1]) for t in chosen] if are_averages else chosen

    def join_parts(self) -> None:
        """Replace free parts `part_0`, `part_1` and so on by the tensor that they make up."""
        parts: dict[str, dict[int, _NamedTensor]] = defaultdict(dict)
        for name, tensor in self.free.items():
            match = _PART.fullmatch(name)
            if match is not None:
                parts[match[1]][int(match[2])] = tensor
        for name, of_name in parts.items():
            in_order = [of_name[number] for number in sorted(of_name)]
            shapes = _joined_shapes(in_order)
            if len(in_order) == max(of_name) + 1 and shapes and name not in self.free:
                for tensor in in_order:
                    del self.free[tensor.name]
                nodes = tuple(tensor.nodes[0] for tensor in in_order)
                self.free[name] = _named(name, nodes, in_order[0].dtype, *shapes)

    def is_slot(self, tensor: _NamedTensor) -> bool:
        """Return whether a name is that of a slot variable."""
        return self.graph.nodes[tensor.nodes[0]].slot is not None

    def sizes(self, tensor: _NamedTensor) -> list[_Shape]:
        """Return the shapes of the values that make up a tensor, where they are known."""
        shapes = (self.graph.nodes[node].attributes[0].shape for node in tensor.nodes)
        return [shape for shape in shapes if shape is not None]

    def part(self) -> tuple[Graph, Sequence[int]]:
        """Return the graph of the free names without slots, and by its nodes those of this one."""
        nodes = [node for node, t in self.by_node.items() if not self.is_slot(t)]
        by_name = {self._tensor(node).name: node for node in nodes}
        made = scope_nodes(self._variable(node, name) for name, node in by_name.items())
        places = [by_name[n.attributes[0].full_name] if n.attributes else ROOT for n in made]
        return Graph(made, self.graph.title, self.graph.origin), places

    def _variable(self, node: int, name: str) -> NamedVariable:
        proto = self.graph.nodes[node]
        value = proto.attributes[0]._replace(full_name=name)
        return NamedVariable(value, proto.trainable, type_name=proto.type_name)


def _named(
    full_name: str, nodes: tuple[int, ...], dtype: str | None, *shapes: _Shape | None
) -> _NamedTensor:
    # A Saver appends the name of the value to its own names of Keras 3's variables.
    name = full_name.removesuffix(":0").removesuffix(VARIABLE_VALUE).removesuffix("/.ATTRIBUTES/")
    parts = name.split("/") if len(name) <= MOST_READABLE else [name]
    return _NamedTensor(name, tuple(map(spelled, parts)), nodes, dtype, shapes)


def _without_numbers(scope: str) -> str:
    return _NUMBER.sub("", scope)


def _scopes_of(ends: Sequence[str]) -> Iterator[str]:
    return ("/".join(ends[:length]) for length in range(1, len(ends)))


def _joined_shapes(parts: Sequence[_NamedTensor]) -> list[_Shape]:
    """Return the shapes that parts may make up; none if they do not fit together."""
    shapes = [shape for part in parts if (shape := part.shapes[0]) is not None]
    if len({part.dtype for part in parts}) != 1 or len(shapes) < len(parts):
        return []
    joined = (_joined_shape(shapes, axis) for axis in range(len(shapes[0])))
    return list(dict.fromkeys(shape for shape in joined if shape is not None))


def _joined_shape(shapes: Sequence[_Shape], axis: int) -> _Shape | None:
    """Return the shape of values joined along an axis; None if their other sizes differ."""
    if len({(len(shape), shape[:axis], shape[axis + 1 :]) for shape in shapes}) > 1:
        return None
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


class _PairedNames:
    """Pairs the names of two sides, the surest first."""

    def __init__(self, saved: Graph, live: Graph, own_names: Mapping[int, str]) -> None:
        self.saved, self.live, self.own_names = _FreeNames(saved), _FreeNames(live), own_names
        self.sides = self.saved, self.live
        self.pairs: list[Pair] = []
        self.misfits: list[Pair] = []
        self.joined: dict[int, Joined] = {}
        self._numbered_anew: set[str] = set()

    def mapping(self) -> NamesMapping:
        """Return all pairs."""
        self._equal_names()
        for side in self.sides:
            side.join_parts()
        self._by_own_names()
        self._equal_ends(*(list(side.free.values()) for side in self.sides))
        for kinds in ((True, False), (False, True)):
            tensors = zip(self.sides, kinds, strict=True)
            self._equal_ends(*(side.tensors(are_averages=kind) for side, kind in tensors))
        self._other_shapes()
        self._unique_shapes()
        self._scopes()
        self._slots()
        return self._mapping()

    def _mapping(self) -> NamesMapping:
        nodes, objects = {pair.node for pair in self.pairs}, {pair.obj for pair in self.pairs}
        every = {pair.node: pair for pair in (*self.misfits, *reversed(self.pairs))}
        return NamesMapping(
            self.saved.graph,
            self.live.graph,
            tuple(sorted(self.pairs)),
            dict(sorted(every.items())),
            tuple(sorted(self.misfits)),
            tuple(obj for obj in self.live.valued if obj not in objects),
            tuple(node for node in self.saved.valued if node not in nodes),
            joined=self.joined,
        )

    def _equal_names(self) -> None:
        """Pair equal names, but not those that Keras may have numbered in another way."""
        names = FullNames.of(self.live.graph)
        shared = [name for name in self.saved.free if name in self.live.free]
        numbered = [by_plain_name(side.free, names) for side in self.sides] if shared else []
        for name in shared:
            of_saved, of_live = (groups[names.plain(name)] for groups in numbered)
            if names.is_chosen(name) or of_saved <= of_live or of_live <= of_saved:
                tensors = self.saved.free[name], self.live.free[name]
                if not self._add(*tensors, Certainty.CERTAIN, Evidence.NAMES):
                    self._add_misfit(*tensors)
            else:
                self._numbered_anew.add(name)

    def _by_own_names(self) -> None:
        """Pair the variables whose own name is in the file, and not the Saver's name for them."""
        for obj, tensor in self.live.by_node.items():
            own = self.saved.free.get(self.own_names.get(obj, ""))
            if own is not None and own.name != tensor.name:
                self._add(own, tensor, Certainty.LIKELY, Evidence.NAMES)

    def _equal_ends(self, saved: list[_NamedTensor], live: list[_NamedTensor]) -> None:
        """Pair names of one end, the longest ends first."""
        longest = min(max((len(t.ends) for t in side), default=0) for side in (saved, live))
        for length in range(min(longest, _MOST_PARTS), 0, -1):
            others = _by_end(live, length)
            for key, tensors in _by_end(saved, length).items():
                if len(tensors) == len(others.get(key, ())) == 1:
                    self._add_by_end(tensors[0], others[key][0], length)
            saved = [tensor for tensor in saved if tensor.name in self.saved.free]
            live = [tensor for tensor in live if tensor.name in self.live.free]

    def _add_by_end(self, tensor: _NamedTensor, other: _NamedTensor, length: int) -> None:
        """Pair two names of one end, unless numbers or words in front of it speak against it."""
        if tensor.name not in self.saved.free or other.name not in self.live.free:
            return  # parts that can make up several shapes
        scopes = "/".join(tensor.ends[:-length]), "/".join(other.ends[:-length])
        if self._have_other_numbers(*scopes):
            is_sure = self._is_unique(tensor, other)
        elif length > 1 or "" in scopes:
            is_sure = tensor.name not in self._numbered_anew
        else:
            is_sure = self._is_unique(tensor, other) or are_related({scopes[0]}, {scopes[1]})
        if is_sure:
            self._add(tensor, other, Certainty.LIKELY, Evidence.NAMES)

    def _have_other_numbers(self, scope: str, other: str) -> bool:
        """Return whether the numbers of two scopes tell them apart: one has siblings."""
        plain = _without_numbers(scope), _without_numbers(other)
        of_scopes = numbers({scope}), numbers({other})
        are_apart = all(of_scopes) and of_scopes[0].isdisjoint(of_scopes[1])
        if scope == other or not (are_apart or plain[0] == plain[1]):
            return False
        sequences = zip(self.sides, plain, strict=True)
        return any(len(side.sequences.get(name, ())) > 1 for side, name in sequences)

    def _is_unique(self, tensor: _NamedTensor, other: _NamedTensor) -> bool:
        """Return whether nothing else on either side has this dtype and shape, or last name."""
        if self.saved.spaces[tensor.space] <= 1 >= self.live.spaces[other.space]:
            return True
        name = tensor.ends[-1]
        is_alone = self.saved.last_names[name] == self.live.last_names[name] == 1
        return is_alone and name == other.ends[-1]

    def _slots(self) -> None:
        """Pair the slot variables of paired variables."""
        free, pairs = (self.saved.by_node, self.live.by_node), {p.node: p for p in self.pairs}
        for pair in [*state_pairs(self.saved.graph, self.live.graph, pairs)]:
            if pair.node in free[0] and pair.obj in free[1]:
                self._add(free[0][pair.node], free[1][pair.obj], pair.certainty, pair.evidence)

    def _other_shapes(self) -> None:
        """Pair the free names of one end whose shapes or dtypes differ: as misfits."""
        others = _grouped((t.ends[-2:], t) for t in self.live.free.values())
        for end, tensors in _grouped((t.ends[-2:], t) for t in self.saved.free.values()).items():
            of_live = others.get(end, [])
            if len(end) > 1 and len(tensors) == len(of_live) == 1:
                self._add_misfit(tensors[0], of_live[0])

    def _unique_shapes(self) -> None:
        """Pair matrices whose shape nothing else has: a vector or a number may mean anything."""
        others = {tensor.space: tensor for tensor in self.live.free.values()}
        for tensor in [*self.saved.free.values()]:
            other, shape = others.get(tensor.space), tensor.shapes[0] or ()
            if other is None or not self._is_unique(tensor, other):
                continue
            is_matrix = prod(shape) > max(shape, default=1)
            if is_matrix and self.saved.is_slot(tensor) == self.live.is_slot(other):
                self._add(tensor, other, Certainty.LIKELY, Evidence.CONTENT)

    def _scopes(self) -> None:
        """Pair what is still free by its scopes, as the parts of a program of objects."""
        shapes = [{tensor.shapes[0] for tensor in side.free.values()} for side in self.sides]
        if shapes[0].isdisjoint(shapes[1]):
            return
        (saved, nodes), (live, objects) = (side.part() for side in self.sides)
        free = self.saved.by_node, self.live.by_node
        for pair in [*pairs_by_name(saved, live)]:
            tensor, other = free[0].get(nodes[pair.node]), free[1].get(objects[pair.obj])
            if tensor is not None and other is not None:
                scopes = "/".join(tensor.ends[:-1]), "/".join(other.ends[:-1])
                is_told = tensor.name not in self._numbered_anew and (
                    not self._have_other_numbers(*scopes) or self._is_unique(tensor, other)
                )
                sure = weakest(pair.certainty, Certainty.LIKELY if is_told else Certainty.GUESS)
                self._add(tensor, other, sure, pair.evidence)

    def _add(
        self, saved: _NamedTensor, live: _NamedTensor, certainty: Certainty, why: Evidence
    ) -> bool:
        """Pair two tensors if they fit; return whether they do."""
        if not may_be_cast(saved.dtype, live.dtype):
            return False
        is_plain = len(saved.nodes) == len(live.nodes) == 1
        if is_plain and None not in (*saved.shapes, *live.shapes) and saved.shapes != live.shapes:
            return False
        if is_plain or self.saved.sizes(saved) == self.live.sizes(live):
            nodes = zip(saved.nodes, live.nodes, strict=True)
            self.pairs += (Pair(*both, certainty, why) for both in nodes)
        elif not self._add_joined(saved, live, certainty):
            return False
        del self.saved.free[saved.name], self.live.free[live.name]
        return True

    def _add_joined(self, saved: _NamedTensor, live: _NamedTensor, certainty: Certainty) -> bool:
        """Pair each variable with the parts of which its value consists, if they fit."""
        sizes = self.saved.sizes(saved), self.live.sizes(live)
        axes = range(len(sizes[0][0]) if sizes[0] else 0)
        whole = [[_joined_shape(of_side, axis) for axis in axes] for of_side in sizes]
        axis = next((a for a in axes if None is not whole[0][a] == whole[1][a]), None)
        if axis is None:
            return False
        places = [
            [
                *zip(
                    tensor.nodes,
                    pairwise(accumulate((s[axis] for s in of_side), initial=0)),
                    strict=True,
                )
            ]
            for tensor, of_side in zip((saved, live), sizes, strict=True)
        ]
        for obj, (start, stop) in places[1]:
            covering = [part for part in places[0] if part[1][0] < stop and part[1][1] > start]
            if not covering:
                continue  # a part without elements
            nodes = tuple(node for node, _ in covering)
            first, end = covering[0][1][0], covering[-1][1][1]
            bounds = (0, None) if (first, end) == (start, stop) else (start - first, stop - first)
            self.joined[obj] = Joined(nodes, axis, *bounds)
            self.pairs += (Pair(node, obj, certainty, Evidence.PARTS) for node in nodes)
        return True

    def _add_misfit(self, saved: _NamedTensor, live: _NamedTensor) -> None:
        """Pair two values of one name that do not fit."""
        if len(saved.nodes) == len(live.nodes) == 1 and saved.space != live.space:
            pair = Pair(saved.nodes[0], live.nodes[0], Certainty.LIKELY, Evidence.NAMES)
            self.misfits.append(pair)
            del self.saved.free[saved.name], self.live.free[live.name]


def _by_end(tensors: Iterable[_NamedTensor], length: int) -> Mapping[object, list[_NamedTensor]]:
    """Return the tensors by the end of their names and each of their possible shapes."""
    return _grouped(
        ((tensor.ends[-length:], shape), tensor)
        for tensor in tensors
        if len(tensor.ends) >= length
        for shape in tensor.shapes
    )


def _grouped(items: Iterable[tuple[Any, _NamedTensor]]) -> dict[Any, list[_NamedTensor]]:
    groups: dict[Any, list[_NamedTensor]] = {}
    for key, tensor in items:
        groups.setdefault(key, []).append(tensor)
    return groups
