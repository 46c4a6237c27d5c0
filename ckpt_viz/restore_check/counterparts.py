"""Which objects of the program each saved value belongs to, wherever a restore puts it.

Three kinds of evidence say what a saved object is. Local names that a person chose are strong: an
attribute, the key of a dict. The index in a sequence is weak: one layer inserted, and all after it
have another. The order of the items that hold values is in between, and names of variables say
which of them is which. Where the items of both sides look alike, one by one, the index stands.

The lists of an optimizer repeat what the model has, so they only count for variables that the
model does not lead to; a slot variable belongs to its variable's counterpart.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Child, Role, SlotRule
from ckpt_viz.object_graph.subtrees import values_of

INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")
_MOST_VISITS = 64  # of each node: sequences in sequences, a hundred thousand deep
_MOST_CLAIMS = 8  # more objects for one are no counterparts
_MOST_COMPARED = 40_000  # pairs of items between two that are known
_A_NAME = 1 << 20  # more than as many items as are compared
_A_PAIR = _A_NAME << 20
_GIVEN = {
    "variable",
    *("dense", "einsum_dense", "embedding", "multi_head_attention", "p_re_lu"),
    *("conv1d", "conv2d", "conv3d", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose"),
    *("depthwise_conv1d", "depthwise_conv2d", "separable_conv1d", "separable_conv2d"),
    *("batch_normalization", "layer_normalization", "group_normalization", "rms_normalization"),
    *("lstm", "gru", "simple_rnn", "bidirectional", "sequential", "functional", "model"),
}

Claims = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Names:
    """What full names say, by those that Keras gives: a class in snake case, and a number.

    >>> names = Names(frozenset({"dense"}))
    >>> names.plain("net/dense_3/kernel"), names.plain("block_3/kernel")
    ('net/dense/kernel', 'block_3/kernel')
    >>> names.is_chosen("dense_3/kernel"), names.is_chosen("block_3/kernel")
    (False, True)
    """

    given: frozenset[str]

    @classmethod
    def of(cls, live: Graph) -> Names:
        """Return those that Keras gives to objects of the classes in a program.

        And to its layers with weights, which Keras 3 does not track in a list.
        """
        types = {node.type_name for node in live.nodes if node.type_name}
        return cls(frozenset({*_GIVEN, *map(_snake_case, types)}))

    def plain(self, full_name: str) -> str:
        """Return a full name without the numbers that Keras makes it unique by."""
        return "/".join([self._plain(part) for part in full_name.split("/")])

    def plain_state(self, full_name: str) -> str:
        """Return what Keras 3 calls a slot variable, after the path of its variable, likewise.

        >>> Names(frozenset({"dense"})).plain_state("adam_1/net_dense_3_kernel_momentum")
        'net_dense_kernel_momentum'
        """
        parts = full_name.rpartition("/")[2].split("_")
        for end in reversed(range(1, len(parts))):
            bases = ("_".join(parts[start:end]) for start in range(max(0, end - 3), end))
            if parts[end].isdecimal() and any(base in self.given for base in bases):
                del parts[end]
        return "_".join(parts)

    def within(self, full_name: str, state: str) -> str:
        """Return what a plain slot's name has after the scope in its variable's full name.

        Keras 3 may name a variable by the model that is called and not by its layer. Empty if the
        full name has all of the path.

        >>> names = Names(frozenset({"dense"}))
        >>> names.within("net/kernel", "net_fc_1_kernel_momentum")
        'fc_1_kernel_momentum'
        >>> names.within("fc_1/kernel", "fc_1_kernel_momentum")
        ''
        """
        path, _, own = self.plain(full_name).rpartition("/")
        scope = path.replace("/", "_") + "_" if path else ""
        inner = state.removeprefix(scope)
        is_longer = state.startswith(scope) and f"_{own}_" in inner
        return inner if is_longer and not inner.startswith(f"{own}_") else ""

    def is_chosen_within(self, inner: str, own: str) -> bool:
        """Return whether a person has chosen any of what a slot's name has before the variable's.

        >>> names = Names(frozenset({"dense", "batch_normalization"}))
        >>> names.is_chosen_within("dense_batch_normalization_gamma_momentum", "gamma")
        False
        >>> names.is_chosen_within("dense_fc_1_gamma_momentum", "gamma")
        True
        """
        words = inner.rpartition(f"_{own}_")[0].split("_")
        starts = {0}
        for end in range(1, len(words) + 1):
            if any("_".join(words[start:end]) in self.given for start in starts):
                starts.add(end)
        return len(words) not in starts

    def is_chosen(self, full_name: str) -> bool:
        """Return whether a person has chosen the name of the variable or its layer."""
        parts = full_name.split("/")
        return any(self._plain(part).lower() not in self.given for part in parts[:-1] or parts)

    def _plain(self, part: str) -> str:
        base, _, number = part.rpartition("_")
        return base if number.isdecimal() and base.lower() in self.given else part


def _snake_case(name: str) -> str:
    """Return a class's name as Keras makes one of a layer of it.

    >>> _snake_case("BatchNormalization"), _snake_case("Conv2D"), _snake_case("LSTM")
    ('batch_normalization', 'conv2d', 'lstm')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def counterparts(saved: Graph, live: Graph, bound: Mapping[int, int], reader: Reader) -> Claims:
    """Return, by saved node, the live objects that it belongs to, as far as that is known.

    Several where what was shared is no longer. `bound` is where a restore puts each node: that
    stands where nothing speaks against it.
    """
    return _Walk(saved, live, bound, reader).claims()


class _Walk:
    """A walk through both graphs at once, from the roots on; through optimizers last."""

    def __init__(self, saved: Graph, live: Graph, bound: Mapping[int, int], reader: Reader) -> None:
        self._saved, self._live, self._bound = saved, live, bound
        self._claims: dict[int, list[int]] = {}
        self._taken: set[int] | None = None  # by what the model leads to, once that is known
        self._queue: deque[tuple[int, int]] = deque()
        self._reader = reader

    def claims(self) -> Claims:
        self._claim(ROOT, ROOT)
        optimizers = list(self._walk())
        self._taken = {obj for objects in self._claims.values() for obj in objects}
        self._queue.extend(optimizers)
        list(self._walk())
        self._claim_slots()
        return self._claims

    def _walk(self) -> Iterator[tuple[int, int]]:
        """Walk on from all that waits; yield the optimizers, which wait for the model."""
        while self._queue:
            node, obj = self._queue.popleft()
            sides = self._saved.nodes[node], self._live.nodes[obj]
            if self._taken is None and any(side.role is Role.OPTIMIZER for side in sides):
                yield node, obj
                continue
            for child, other in self._children(node, obj):
                self._claim(child, other)

    def _claim(self, node: int, obj: int) -> None:
        if self._taken is not None and (
            node in self._claims
            or obj in self._taken
            or self._saved.nodes[node].slot is not None
            or self._live.nodes[obj].slot is not None
        ):
            return
        known = self._claims.setdefault(node, [])
        if obj not in known[:_MOST_CLAIMS]:
            known.append(obj)
            if len(known) == 1:
                self._queue.append((node, obj))

    def _children(self, node: int, obj: int) -> Iterator[tuple[int, int]]:
        saved, live = self._saved.nodes[node].children, self._live.nodes[obj].children
        of_saved, of_live = sequences(saved), sequences(live)
        by_name = {child.local_name: child.node_id for child in reversed(live)}
        done: set[str] = set()
        for child in saved:
            match = INDEX.fullmatch(child.local_name)
            prefix = match[1] if match is not None else None
            if prefix is None or prefix not in of_saved or prefix not in of_live:
                if child.local_name in by_name:
                    yield child.node_id, by_name[child.local_name]
            elif prefix not in done:
                done.add(prefix)
                yield from self._items(of_saved[prefix], of_live[prefix])

    def _items(self, saved: Sequence[int], live: Sequence[int]) -> Iterator[tuple[int, int]]:
        if self._saved.nodes[saved[0]].slot is not None:
            return  # follows from the variables
        ours = self._reader.items(self._saved, saved)
        theirs = self._reader.items(self._live, live)
        if ours is None or theirs is None or _look_alike(ours, theirs):
            yield from zip(saved, live, strict=False)
            return
        places = {obj: j for j, obj in reversed(list(enumerate(live)))}
        known = {
            i: places[objects[0]]
            for i, node in enumerate(saved)
            if (objects := self._claims.get(node)) and objects[0] in places
        }
        for i, j in aligned(_valued(ours), _valued(theirs), known, self._bound):
            yield saved[i], live[j]

    def _claim_slots(self) -> None:
        slots = {
            (node.slot.optimizer, node.slot.variable, node.slot.name): obj
            for obj, node in enumerate(self._live.nodes)
            if node.slot is not None and node.slot.optimizer is not None
        }
        for node_id, node in enumerate(self._saved.nodes):
            slot = node.slot
            if slot is None or slot.optimizer is None:
                continue
            optimizers = self._claims.get(slot.optimizer)
            variables = self._claims.get(slot.variable)
            if optimizers and variables:
                obj = slots.get((optimizers[0], variables[0], slot.name))
                if obj is not None:
                    self._claims[node_id] = [obj]


def sequences(children: Iterable[Child]) -> dict[str, list[int]]:
    """Return the children that are numbered without a gap, by what stands before the number."""
    found: dict[str, dict[int, int]] = {}
    for child in children:
        match = INDEX.fullmatch(child.local_name)
        if match is not None:
            found.setdefault(match[1], {})[int(match[2])] = child.node_id
    return {
        prefix: [items[i] for i in range(len(items))]
        for prefix, items in found.items()
        if max(items) == len(items) - 1
    }


# --- items of a sequence


class Item(NamedTuple):
    """An item of a sequence: what values it holds, and the names of their variables.

    A layer without values has no look. `is_named` says that not Keras has chosen the names.
    `first` is the node of its first value.
    """

    place: int
    first: int
    look: tuple[object, ...]
    names: tuple[str, ...]
    is_named: bool


def names_of_states(graph: Graph, names: Names) -> Mapping[int, Sequence[str]]:
    """Return, by variable, the names of its slot variables.

    Keras 3 names them after the variable's path, which the variable's own name may lack.
    """
    found: dict[int, list[str]] = {}
    for node in graph.nodes:
        if node.slot is not None and node.slot.rule is SlotRule.LIST_INDEX:
            name = names.plain_state(node.attributes[0].full_name)
            found.setdefault(node.slot.variable, []).append(name)
    return found


class Reader:
    """Reads the items of sequences, as long as that takes no more visits than allowed."""

    def __init__(self, names: Names, visits: int) -> None:
        self._names, self._visits = names, visits
        self._known_states: dict[int, Mapping[int, Sequence[str]]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], list[Item] | None] = {}

    @classmethod
    def of(cls, saved: Graph, live: Graph) -> Reader:
        """Return one that stays linear in the size of both graphs."""
        visits = _MOST_VISITS * (len(saved.nodes) + len(live.nodes))
        return cls(Names.of(live), visits)

    def items(self, graph: Graph, nodes: Sequence[int]) -> list[Item] | None:
        """Return the items of a sequence; None if there is too much below them."""
        key = id(graph), tuple(nodes)
        if key not in self._known:
            self._known[key] = self._items(graph, nodes)
        return self._known[key]

    def _items(self, graph: Graph, nodes: Sequence[int]) -> list[Item] | None:
        by_variable = self._states(graph)
        below = [list(self._values(graph, node)) for node in nodes]
        if self._visits < 0:
            return None
        scope = _common_scope([name for values in below for _, name, _ in values if name])
        items: list[Item] = []
        for place, (node, values) in enumerate(zip(nodes, below, strict=True)):
            named = [(name, by_variable.get(one, ())) for _, name, one in values]
            items.append(
                Item(
                    place,
                    next((one for _, _, one in values), node),
                    tuple(look for look, _, _ in values),
                    (
                        *self._plain(name[scope:] for name, _ in named if name),
                        *self._of_states(named),
                    ),
                    any(self._is_chosen(name, scope, states) for name, states in named if name),
                )
            )
        return items

    def _of_states(self, named: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
        """Yield the names of slots, also without the scope of a model that has another name now."""
        for name, states in named:
            for state in states:
                yield state
                inner = self._names.within(name, state) if name else ""
                if inner:
                    yield inner

    def _is_chosen(self, name: str, scope: int, states: Sequence[str]) -> bool:
        """Return whether a person has chosen a name: that of a slot, if it tells more."""
        inner = self._names.within(name, states[0]) if states else ""
        if inner:
            return self._names.is_chosen_within(inner, name.rpartition("/")[2])
        return self._names.is_chosen(name[scope:])

    def _plain(self, names: Iterable[str]) -> Iterator[str]:
        """Yield names without numbers; of what is deep in scopes also the layer and variable.

        A model that is called by another one has its scope on one side, maybe, and not on both.
        """
        for name in names:
            yield self._names.plain(name)
            own = "/".join(name.split("/")[-2:])
            if own != name and self._names.is_chosen(own):
                yield self._names.plain(own)

    def _states(self, graph: Graph) -> Mapping[int, Sequence[str]]:
        known = self._known_states.get(id(graph))
        if known is None:
            known = self._known_states[id(graph)] = names_of_states(graph, self._names)
        return known

    def _values(self, graph: Graph, top: int) -> Iterator[tuple[object, str, int]]:
        """Yield what each value below a node looks like, its variable's full name, and its id."""
        stack = [(top, 0)]
        while stack and self._visits >= 0:
            self._visits -= 1
            node_id, depth = stack.pop()
            node = graph.nodes[node_id]
            if node.attributes or node.registered_saver:
                label = graph.tree.labels[node_id]
                label = "" if node_id == top or INDEX.fullmatch(label) else label
                name = node.attributes[0].full_name if len(node.attributes) == 1 else ""
                yield (depth, label, values_of(node)), name, node_id
            if node.role is not Role.VARIABLE:  # its slot variables stand below it
                below = reversed(graph.tree.children[node_id])
                stack.extend([(child, depth + 1) for child in below])


def _common_scope(names: Sequence[str]) -> int:
    """Return the length of the scope that all names have in common, such as a model's.

    >>> _common_scope(["net/a/kernel", "net/b/kernel"]), _common_scope(["a/kernel"])
    (4, 0)
    """
    if not names:
        return 0
    scope = 0
    while True:
        end = names[0].find("/", scope) + 1
        is_common = end > 0 and all(name.startswith(names[0][scope:end], scope) for name in names)
        # A variable keeps its own name and that of its layer.
        if not is_common or any(name.count("/", end) < 1 for name in names):
            return scope
        scope = end


def _valued(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.look]


def _look_alike(saved: Sequence[Item], live: Sequence[Item]) -> bool:
    return [item.look for item in saved] == [item.look for item in live]


def aligned(
    saved: Sequence[Item],
    live: Sequence[Item],
    known: Mapping[int, int],
    bound: Mapping[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield the indices of items that belong together, where both sequences differ.

    Names decide, in whatever order. What they leave is aligned between two that are known, in
    order, by what it holds; of equal solutions the one stands that a restore takes.
    """
    pairs = _by_name(saved, live, known)
    yield from pairs.items()
    live_segments = _segments(live, {j: i for i, j in pairs.items()})
    for anchor, ours in _segments(saved, {i: i for i in pairs}).items():
        theirs = live_segments.get(anchor, [])
        if [item.look for item in ours] == [item.look for item in theirs] and len(ours) > 1:
            found = list(zip(ours, theirs, strict=True))
        else:
            found = _in_order(ours, theirs, bound)
            found += _changed_inside(ours, theirs, found)
        for left, right in found:
            yield left.place, right.place


def _changed_inside(
    saved: Sequence[Item], live: Sequence[Item], pairs: Iterable[tuple[Item, Item]]
) -> list[tuple[Item, Item]]:
    """Return items that stand alone between the same two others, such as a model with a new layer.

    They do not look alike, but no name says that they are two.
    """
    known = {left.place: right.place for left, right in pairs}
    ours = _segments(saved, {place: place for place in known})
    theirs = _segments(live, {right: left for left, right in known.items()})
    return [
        (left[0], right[0])
        for anchor, left in ours.items()
        if len(left) == len(right := theirs.get(anchor, [])) == 1
        and left[0].look != right[0].look
        and _are_unnamed(left[0], right[0])
    ]


def undecided(saved: Sequence[Item], live: Sequence[Item]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the indices of items that look alike, are not as many, and have no names that tell.

    Which of them belong together, nothing says.
    """
    pairs = _by_name(saved, live, {})
    taken = set(pairs.values())
    of_live = _by_look(item for item in live if item.place not in taken)
    of_saved = _by_look(item for item in saved if item.place not in pairs)
    for look, ours in of_saved.items():
        theirs = of_live.get(look, [])
        unnamed = [[item for item in items if not item.is_named] for items in (ours, theirs)]
        groups = [(ours, theirs)]
        if all(unnamed):  # what has a name is new or gone then
            named = [[item for item in items if item.is_named] for items in (ours, theirs)]
            groups = [(unnamed[0], unnamed[1]), (named[0], named[1])]
        for left, right in groups:
            both = _that_may_be_one(left, right), _that_may_be_one(right, left)
            if all(both) and len(both[0]) != len(both[1]):
                yield both


def _by_look(items: Iterable[Item]) -> dict[tuple[object, ...], list[Item]]:
    found: dict[tuple[object, ...], list[Item]] = {}
    for item in _valued(items):
        found.setdefault(item.look, []).append(item)
    return found


def _that_may_be_one(items: Sequence[Item], others: Sequence[Item]) -> list[int]:
    """Return the indices of the items that may be one of the others, which all look alike."""
    names = {other.names for other in others}
    any_unnamed = any(not other.is_named for other in others)
    return [
        item.place
        for item in items
        if any_unnamed or (others and not item.is_named) or item.names in names
    ]


def _by_name(
    saved: Sequence[Item], live: Sequence[Item], known: Mapping[int, int]
) -> dict[int, int]:
    """Return the items of which a name says that they are one, by what only the two have."""
    pairs = dict(known)
    taken = set(known.values())
    owners, others = _owners(saved), _owners(live)
    for name, i in owners.items():
        j = others.get(name)
        if i is not None and j is not None and i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _owners(items: Sequence[Item]) -> dict[str, int | None]:
    """Return the index of the item that has a name; None for a name that several have."""
    found: dict[str, int | None] = {}
    for item in items:
        for name in dict.fromkeys(item.names):
            found[name] = None if name in found else item.place
    return found


def _segments(items: Sequence[Item], known: Mapping[int, int]) -> dict[int, list[Item]]:
    """Return the items that are not known, by the known one that they follow."""
    found: dict[int, list[Item]] = {}
    anchor = -1
    for item in items:
        if item.place in known:
            anchor = known[item.place]
        else:
            found.setdefault(anchor, []).append(item)
    return found


def _in_order(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[tuple[Item, Item]]:
    """Return as many items in order as look alike.

    Of equal solutions the one in which most names agree, and then most are bound to one another.
    """
    head = 0
    while head < min(len(saved), len(live)) and _are_one(saved[head], live[head], bound):
        head += 1
    found = list(zip(saved[:head], live[:head], strict=True))
    saved, live = saved[head:], live[head:]
    if len(saved) * len(live) > _MOST_COMPARED:
        tail = 0
        while tail < min(len(saved), len(live)) and _may_be_one(saved[-tail - 1], live[-tail - 1]):
            tail += 1
        return found + list(zip(saved[len(saved) - tail :], live[len(live) - tail :], strict=True))
    return found + _longest(saved, live, bound)


def _longest(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[tuple[Item, Item]]:
    gains = _gains(saved, live, bound)
    best = [[0] * (len(live) + 1) for _ in range(len(saved) + 1)]
    for i in reversed(range(len(saved))):
        row, below, of_row = best[i], best[i + 1], gains[i]
        for j in reversed(range(len(live))):
            score = below[j] if below[j] > row[j + 1] else row[j + 1]
            both = of_row[j] + below[j + 1] if of_row[j] else 0
            row[j] = both if both > score else score
    found, i, j = [], 0, 0
    while i < len(saved) and j < len(live):
        gain = gains[i][j]
        if gain and best[i][j] == gain + best[i + 1][j + 1]:
            found.append((saved[i], live[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _gains(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[list[int]]:
    """Return what each pair of items is worth: 0 if they are not one.

    One more pair counts more than all names that agree, and these more than all that are bound.
    Items of equal looks and names are compared once.
    """
    kinds = [_kinds(items) for items in (saved, live)]
    worth = [
        [_worth(ours, theirs) for theirs, _ in kinds[1].values()] for ours, _ in kinds[0].values()
    ]
    gains = [[0] * len(live) for _ in saved]
    places: dict[int, list[int]] = {}
    for j, item in enumerate(live):
        places.setdefault(item.first, []).append(j)
    for row, (_, of_saved) in zip(worth, kinds[0].values(), strict=True):
        of_live = [0] * len(live)
        for value, (_, indices) in zip(row, kinds[1].values(), strict=True):
            for j in indices:
                of_live[j] = value
        for i in of_saved:
            gains[i] = of_live.copy()
            for met in places.get(bound.get(saved[i].first, -1), ()):
                if _may_be_one(saved[i], live[met]):
                    gains[i][met] = _A_PAIR + _A_NAME * _agree(saved[i], live[met]) + 1
    return gains


def _kinds(items: Sequence[Item]) -> dict[object, tuple[Item, list[int]]]:
    """Return the items that look alike and have the same names: the first, and the index of all."""
    found: dict[object, tuple[Item, list[int]]] = {}
    for i, item in enumerate(items):
        found.setdefault((item.look, item.names, item.is_named), (item, []))[1].append(i)
    return found


def _worth(saved: Item, live: Item) -> int:
    """Return what a pair is worth that no restore puts together.

    A name that is new at an index that is new, too, is no evidence of a renaming.
    """
    agree = _agree(saved, live)
    is_renamed = saved.is_named != live.is_named and not agree
    return _A_PAIR + _A_NAME * agree if _may_be_one(saved, live) and not is_renamed else 0


def _are_one(saved: Item, live: Item, bound: Mapping[int, int]) -> bool:
    return saved.look == live.look and _meet(saved, live, bound) and _agree(saved, live)


def _meet(saved: Item, live: Item, bound: Mapping[int, int]) -> bool:
    """Return whether a restore puts the value of the one into the other."""
    return bound.get(saved.first) == live.first


def _agree(saved: Item, live: Item) -> bool:
    return saved.names == live.names or not set(saved.names).isdisjoint(live.names)


def _are_unnamed(saved: Item, live: Item) -> bool:
    return not (saved.is_named and live.is_named)


def _may_be_one(saved: Item, live: Item) -> bool:
    """Return whether two items look alike, and no names that a person chose say otherwise."""
    return saved.look == live.look and (_are_unnamed(saved, live) or saved.names == live.names)
