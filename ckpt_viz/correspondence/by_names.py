"""Where the values of a name-based checkpoint belong in a program of objects: by names alone.

A file of TensorFlow 1 has no objects, only names: `dense/kernel` is `kernel` in the scope `dense`.
Its order is that of the alphabet, so it tells nothing. A scope is the part of the program that has
its name in one of three ways: in the full names of its variables, as the name of a Keras layer, or
as its path. Either name may have more scopes in front, or another first one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.correspondence.full_names import FullNames
from ckpt_viz.correspondence.migrations import has_heads, local_name, name_in_encoder
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Node, Role, has_value
from ckpt_viz.object_graph.subtrees import values_of

_Scope = tuple[str, ...]
# tensorflow.contrib.layers, as TF-Slim uses it
_SLIM = {"weights": "kernel", "biases": "bias", "depthwise_weights": "kernel"}
_MOST_ENDS = 64  # scopes of a name that others are compared with


@dataclass
class _Unit:
    """The variables of one scope or one part, by their own names.

    `scopes` are the names of the scope: one in the file, several in the program.
    """

    scopes: set[_Scope] = field(default_factory=set)
    values: dict[str, int] = field(default_factory=dict)
    looks: dict[int, object] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)  # own names of several variables

    def add(self, scope: _Scope, own: str, variable: tuple[int, Node]) -> None:
        """Add a variable under one of its names; the first of these is part of its look."""
        node_id, node = variable
        self.scopes.add(scope)
        self.looks.setdefault(node_id, (own, values_of(node)))
        if self.values.setdefault(own, node_id) != node_id:
            self.unclear.add(own)

    @cached_property
    def look(self) -> object:
        """Own names, dtypes and shapes of all variables."""
        return frozenset(self.looks.values())

    def shared(self, other: _Unit) -> Iterator[tuple[int, int]]:
        """Yield the variables with one own name."""
        for own in self.values.keys() & other.values.keys() - self.unclear - other.unclear:
            yield self.values[own], other.values[own]


class _Scopes:
    """Finds what a scope means: the one that has exactly this name, or a longer or shorter one."""

    def __init__(self, named: Iterable[tuple[_Scope, int]]) -> None:
        self._whole: dict[_Scope, int | None] = {}
        self._ends: dict[_Scope, int | None] = {}
        self._inner: dict[_Scope, int | None] = {}
        for scope, place in named:
            if scope[1:]:
                _add(self._inner, scope[1:], place)
            for end in _ends(scope):
                _add(self._ends, end, place)
            _add(self._whole, scope, place)

    def exactly(self, scopes: Iterable[_Scope]) -> set[int | None]:
        """Return the places that have one of these names; None for several ones."""
        return {self._whole[scope] for scope in scopes if scope in self._whole}

    def agreeing(self, scopes: Iterable[_Scope]) -> set[int | None]:
        """Return the places whose name and one of these are equal, but for more scopes in front."""
        found = set()
        for scope in scopes:
            found |= {self._whole[end] for end in (scope, *_ends(scope)) if end in self._whole}
            if scope in self._ends:
                found.add(self._ends[scope])
        return found

    def in_another(self, scopes: Iterable[_Scope]) -> set[int | None]:
        """Return the places whose name and one of these are equal but for the first scope."""
        return {self._inner[scope[1:]] for scope in scopes if scope[1:] in self._inner}


def _ends(scope: _Scope) -> Iterator[_Scope]:
    for start in range(max(0, len(scope) - _MOST_ENDS), len(scope)):
        yield scope[start:]


def _add(known: dict[_Scope, int | None], scope: _Scope, place: int) -> None:
    known[scope] = place if known.get(scope, place) == place else None


def pairs_by_name(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield the variables whose names leave one answer, and as guesses those with equal numbers.

    Keras numbers the layers of a class: `dense_1` is the second one. Numbers count if both sides
    have the same ones, or if as many layers have the same shapes in their order. Otherwise shapes
    decide, if no two layers share them.
    """
    names = FullNames.of(live)
    yield from _without_scope(saved, live, names)
    groups: dict[_Scope, list[_Unit]] = defaultdict(list)
    is_encoder = _is_encoder(live)
    for unit in _units_of_file(saved, is_encoder=is_encoder):
        (scope,) = unit.scopes
        groups[_plain(scope, names)].append(unit)
    parts = list(_units_of_program(live, names))
    claimed = _claimed(list(groups), parts, names)
    for plain, units in groups.items():
        for unit, part, certainty in _paired(plain, units, claimed[plain], names):
            for node, obj in unit.shared(part):
                is_reshaped = is_encoder and _is_reshaped(saved.nodes[node], live.nodes[obj])
                evidence = Evidence.RESHAPED if is_reshaped else Evidence.NAMES
                yield Pair(node, obj, certainty, evidence)


def _is_encoder(live: Graph) -> bool:
    """Return whether a program has the names of the Model Garden's encoder."""
    return any(
        live.tree.labels[obj] == "self_attention" or node.own_name == "self_attention"
        for obj, node in enumerate(live.nodes)
    ) or any("/self_attention/" in one.full_name for node in live.nodes for one in node.attributes)


def _is_reshaped(saved: Node, live: Node) -> bool:
    """Return whether both have the same elements in other dimensions, by BERT's rule."""
    ours, theirs = saved.attributes[0], live.attributes[0]
    name = name_in_encoder(ours.full_name)
    return (
        name is not None
        and has_heads(name)
        and ours.dtype == theirs.dtype
        and None not in (ours.shape, theirs.shape)
        and ours.shape != theirs.shape
        and math.prod(ours.shape or ()) == math.prod(theirs.shape or ())
    )


def _without_scope(saved: Graph, live: Graph, names: FullNames) -> Iterator[Pair]:
    """Yield the variables whose names have no scope: their full names agree, or the local one.

    TensorFlow 1 numbers variables without a name: `Variable_1` counts if both sides have the same.
    """
    ours = {
        node.attributes[0].full_name: node_id
        for node_id, node in enumerate(saved.nodes)
        if has_value(node) and node.slot is None and "/" not in node.attributes[0].full_name
    }
    by_full_name: dict[str, list[int]] = defaultdict(list)
    by_label: dict[str, list[int]] = defaultdict(list)
    for obj in _variables_of_program(live):
        scope, own = _split(live.nodes[obj])
        if not scope and own:
            by_full_name[own].append(obj)
        by_label[live.tree.labels[obj]].append(obj)
    given = [{one for one in side if not names.is_chosen(one)} for side in (ours, by_full_name)]
    for name, node in ours.items():
        if names.is_chosen(name):
            is_exact = name in by_full_name
            found = by_full_name[name] if is_exact else by_label.get(name, [])
            certainty = Certainty.CERTAIN if is_exact else Certainty.LIKELY
        else:
            found = by_full_name.get(name, [])
            certainty = Certainty.LIKELY if given[0] == given[1] else Certainty.GUESS
        if len(found) == 1:
            yield Pair(node, found[0], certainty, Evidence.NAMES)


def _units_of_file(saved: Graph, *, is_encoder: bool) -> Iterable[_Unit]:
    units: dict[_Scope, _Unit] = {}
    for node_id, node in enumerate(saved.nodes):
        if has_value(node) and node.slot is None:
            name = node.attributes[0].full_name
            name = (name_in_encoder(name) or name) if is_encoder else name
            *scope, own = name.split("/")
            unit = units.setdefault(tuple(scope), _Unit())
            unit.add(tuple(scope), _SLIM.get(own, local_name(own)), (node_id, node))
    return units.values()


def _units_of_program(live: Graph, names: FullNames) -> Iterable[_Unit]:
    """Return the variables of each part of the program, without the states of optimizers.

    A part with variables of several scopes, such as a list of all of them, is several units.
    """
    units: dict[tuple[int, _Scope], _Unit] = defaultdict(_Unit)
    known: dict[int, tuple[_Scope, _Scope]] = {}
    several = _with_several_scopes(live)
    for obj in _variables_of_program(live):
        above = live.tree.parents[obj]
        own, variable = local_name(live.tree.labels[obj]), (obj, live.nodes[obj])
        scope, last = _split(live.nodes[obj])
        if above in several:
            units[above, scope].add(scope, local_name(last), variable)
            continue
        if above not in known:
            known[above] = _path_and_layers(live, above)
        path, layers = known[above]
        unit = units[above, ()]
        unit.add(path, own, variable)
        for named, name in ((layers, own), (scope, local_name(last))):
            for one in {named, _without_models(named, names)} - {()}:
                unit.add(one, name, variable)
    return units.values()


def _variables_of_program(live: Graph) -> Iterator[int]:
    """Yield the variables of a program, without those of optimizers."""
    tree, within = live.tree, set[int]()
    for obj in tree.preorder():
        role = live.nodes[obj].role
        if role is Role.OPTIMIZER or tree.parents[obj] in within:
            within.add(obj)
        elif role is Role.VARIABLE and obj != live.save_counter:
            yield obj


def _split(variable: Node) -> tuple[_Scope, str]:
    """Return the scope of a variable's full name, and its own name."""
    *scope, own = variable.attributes[0].full_name.removesuffix(":0").split("/")
    return tuple(scope), own


def _with_several_scopes(live: Graph) -> set[int]:
    """Return the parts whose own variables have full names of several scopes."""
    scopes: dict[int, set[_Scope]] = defaultdict(set)
    for obj, node in enumerate(live.nodes):
        if node.role is Role.VARIABLE and obj != live.save_counter:
            scopes[live.tree.parents[obj]].add(_split(node)[0])
    return {part for part, found in scopes.items() if len(found - {()}) > 1}


def _path_and_layers(live: Graph, part: int) -> tuple[_Scope, _Scope]:
    """Return the last local names that lead to a part, and the names of the Keras layers there."""
    path: list[str] = []
    layers: list[str | None] = [live.nodes[part].own_name]
    while part > ROOT and len(path) < _MOST_ENDS:
        path.append(local_name(live.tree.labels[part]))
        part = live.tree.parents[part]
        layers.append(live.nodes[part].own_name)
    return tuple(reversed(path)), tuple(name for name in reversed(layers) if name)


def _without_models(scope: _Scope, names: FullNames) -> _Scope:
    """Return a scope without names that Keras has given to the models around a layer."""
    start = 0
    while start < len(scope) - 1 and _is_given((names.plain(scope[start]),), names):
        start += 1
    return scope[start:]


def _claimed(
    groups: Sequence[_Scope], parts: Sequence[_Unit], names: FullNames
) -> dict[_Scope, list[_Unit]]:
    """Return, by plain scope, the parts that can be meant; a part belongs to one scope at most."""
    known = _Scopes((scope, place) for place, scope in enumerate(groups))
    claimed: dict[_Scope, list[_Unit]] = {scope: [] for scope in groups}
    for part in parts:
        plain = {_plain(scope, names) for scope in part.scopes}
        meant = known.exactly(plain) or known.agreeing(plain) or known.in_another(plain)
        place = next(iter(meant)) if len(meant) == 1 else None
        if place is not None:
            claimed[groups[place]].append(part)
    return claimed


def _paired(
    plain: _Scope, units: Sequence[_Unit], parts: Sequence[_Unit], names: FullNames
) -> Iterator[tuple[_Unit, _Unit, Certainty]]:
    """Yield the units of a file and the parts of a program that belong together."""
    if len(units) == len(parts) == 1:
        is_exact = plain in parts[0].scopes and not _is_given(plain, names)
        yield units[0], parts[0], Certainty.CERTAIN if is_exact else Certainty.LIKELY
        return
    if len(units) == 1 and not _is_given(plain, names):
        exact = [part for part in parts if plain in part.scopes]
        if len(exact) == 1:
            yield units[0], exact[0], Certainty.LIKELY
        return
    numbered = _with_equal_numbers(units, parts)
    if len(numbered) == len(units) == len(parts):
        for place, other in numbered.items():
            yield units[place], parts[other], Certainty.LIKELY
        return
    counted = _in_order(plain, units, names), _in_order(plain, parts, names)
    if all(counted) and [one.look for one in counted[0]] == [one.look for one in counted[1]]:
        for unit, part in zip(*counted, strict=True):
            yield unit, part, Certainty.LIKELY
        return
    looks = Counter(unit.look for unit in units), Counter(part.look for part in parts)
    by_look = {part.look: part for part in parts}
    for place, unit in enumerate(units):
        if looks[0][unit.look] == looks[1][unit.look] == 1:
            yield unit, by_look[unit.look], Certainty.LIKELY
        elif place in numbered:
            yield unit, parts[numbered[place]], Certainty.GUESS


def _in_order(plain: _Scope, units: Sequence[_Unit], names: FullNames) -> list[_Unit]:
    """Return layers in the order of the numbers that Keras gave them; none if that is not told."""
    found: dict[tuple[int, ...], _Unit] = {}
    for unit in units:
        meant = {names.numbers(one) for one in unit.scopes if _plain(one, names) == plain}
        if len(meant) == 1:
            found.setdefault(meant.pop(), unit)
    return [found[number] for number in sorted(found)] if len(found) == len(units) else []


def _with_equal_numbers(units: Sequence[_Unit], parts: Sequence[_Unit]) -> dict[int, int]:
    """Return the places of units and parts whose scopes agree with their numbers, one by one."""
    known = _Scopes((scope, place) for place, part in enumerate(parts) for scope in part.scopes)
    found: dict[int, int] = {}
    for place, unit in enumerate(units):
        meant = known.agreeing(unit.scopes)
        other = next(iter(meant)) if len(meant) == 1 else None
        if other is not None:
            found[place] = other
    taken = Counter(found.values())
    return {place: other for place, other in found.items() if taken[other] == 1}


def _plain(scope: _Scope, names: FullNames) -> _Scope:
    """Return a scope without the numbers with which Keras makes it unique."""
    return tuple(names.plain(part) for part in scope)


def _is_given(scope: _Scope, names: FullNames) -> bool:
    """Return whether Keras has given any of these names."""
    return any(part.lower() in names.given for part in scope)
