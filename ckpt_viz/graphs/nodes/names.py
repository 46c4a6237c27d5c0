"""What people call the nodes of any graph. No other module makes names, but `printed_names`.

The names that people give come first in all texts: `LayerNames`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from ckpt_viz.graphs.nodes.exported import COPIES
from ckpt_viz.graphs.nodes.keras_variables import (
    class_by_parts,
    is_automatic,
    is_part_of_attention,
    kind_at,
    part_name,
    path_component,
)
from ckpt_viz.graphs.nodes.nodes import ROOT, VALUE_ROLES, Node, Role, has_value
from ckpt_viz.graphs.nodes.printed_names import (
    THE_ROOT,
    NamedGraph,
    child_of,
    path_to,
    readable_name,
)
from ckpt_viz.graphs.nodes.tree import Tree
from ckpt_viz.ground.text import count, readable

_MOST_PLACES = 10_000  # of a graph that are remembered


_LAYERS = "layers"  # of a model, in Keras' files
_PLACE = re.compile(rf"(?:layer-|layer_with_weights-)?\d+|{_LAYERS}\[\d+\]")
_COUNTED = re.compile(r"-\d+\Z")
_FUNCTIONAL = "_functional"  # what a Sequential of Keras 3 has beside its own list of layers
_LISTS_OF_KERAS_3 = frozenset({"_operations", "_layers"})
_LAYER_OF_KERAS_2 = re.compile(r"layer-(\d{1,9})")
_WEIGHTED_OF_KERAS_2 = re.compile(r"layer_with_weights-\d{1,9}")


# --- people's names


@dataclass(frozen=True)
class LayerNames:
    """The names of the nodes of one graph as people know them: for sentences and outlines.

    `in_lists` has better names for items of lists than their places.
    """

    graph: NamedGraph
    in_lists: Mapping[int, str] = field(default_factory=dict)

    def name(self, node_id: int) -> str:
        """Return what people call a node: a layer's own name, or its local name."""
        return self._names[node_id]

    def place(self, node_id: int) -> str:
        """Return the path of a node in the names that people give, without private local names.

        A variable that has others below it, such as its slots, keeps its place in their paths.
        The root has no name: it is "the root".
        """
        return THE_ROOT if node_id == ROOT else self._place(node_id)

    @cached_property
    def _place(self) -> Callable[[int], str]:
        names, holders = self._names, self._holders
        return lru_cache(_MOST_PLACES)(
            lambda node_id: path_to(node_id, lambda node: (holders[node], names[node]), root=())
        )

    def names_up(self, node_id: int) -> Iterator[str]:
        """Yield the names of which `place` is made, the node's own first; none for the root."""
        while node_id != ROOT:
            yield self._names[node_id]
            node_id = self._holders[node_id]

    def holder(self, node_id: int) -> int:
        """Return the node whose place that of another one continues."""
        return self._holders[node_id]

    def own_place(self, node_id: int) -> str:
        """Return the path of a node in the own names of layers, so far as they have any."""
        nodes, names, holders = self.graph.nodes, self._names, self._holders
        return path_to(
            node_id, lambda node: (holders[node], nodes[node].own_name or names[node]), root=()
        )

    def place_of_part(self, node_id: int) -> str:
        """Return the path of a node, or of the part whose private container it is."""
        is_private = is_holder(self.graph.nodes, self.graph.tree, node_id)
        return self.place(self._holders[node_id] if is_private else node_id)

    def name_beside(self, holder: int, name: str, local_name: str) -> str:
        """Return what people call a child that a node lacks.

        That is its name on the other side, or its local name if another child has that name here.
        """
        below = (self.name(child.node_id) for child in self.graph.nodes[holder].children)
        return local_name if name in below else name

    def readable_name(self, node_id: int) -> str:
        """Return TensorFlow's name of a node, or its end if it is too deep to read."""
        return readable_name(self.graph, node_id)

    def child_place(self, node_id: int, local_name: str) -> str:
        """Return the path of a node's child that the graph may lack."""
        name = readable(local_name)
        return name if node_id == ROOT else child_of(self.place(node_id), name)

    def place_or_state(self, node_id: int) -> str:
        """Return the path of a node; of a slot variable, whose state it is."""
        slot = self.graph.nodes[node_id].slot
        if slot is None:
            return self.place(node_id)
        # The variable may be a slot itself, even its own: its place in the outline tells.
        return state_of(slot.name, self.place(slot.variable))

    @cached_property
    def _holders(self) -> Sequence[int]:
        return holders(self.graph.nodes, self.graph.tree)

    @cached_property
    def of_nodes(self) -> Sequence[str]:
        """What people call each node, without the better names for items of lists."""
        nodes, tree = self.graph.nodes, self.graph.tree
        return names_of(nodes, tree, list(tree.preorder()))

    @cached_property
    def _names(self) -> Sequence[str]:
        names = [*self.of_nodes]
        for node_id, name in self.in_lists.items():
            if names[node_id].isdecimal():
                names[node_id] = name
        return names


def holders(nodes: Sequence[Node], tree: Tree) -> Sequence[int]:
    """Return for each node the one whose path its own continues, above all private ones."""
    above = list(tree.parents)
    is_private = cache(lambda parent: is_holder(nodes, tree, parent))  # which asks all its children
    for node_id in tree.preorder():
        parent = tree.parents[node_id]
        if parent > ROOT and is_private(parent):
            above[node_id] = above[parent]
    return above


def is_holder(nodes: Sequence[Node], tree: Tree, node_id: int) -> bool:
    """Return whether a node is a private container: people's paths leave these out.

    The layers in an attention of Keras have private names, and are none.

    Keras' own list of a model's layers is one, too. In an old file, the layers do not tell their
    names: all have classes with numbers.
    """
    if nodes[node_id].attributes or tree.labels[node_id] == COPIES:
        return False
    below = nodes[node_id].children
    is_list = tree.labels[node_id] == _LAYERS and nodes[node_id].role is Role.CONTAINER
    if is_part_of_attention(tree.labels[node_id]):
        return False
    return tree.labels[node_id].startswith("_") or (
        is_list
        and bool(below)
        and (
            all(_is_numbered_class(nodes, tree, child.node_id) for child in below)
            or all(_is_nameless_layer(nodes, tree, child.node_id) for child in below)
        )
    )


def _is_nameless_layer(nodes: Sequence[Node], tree: Tree, node_id: int) -> bool:
    node, label = nodes[node_id], tree.labels[node_id]
    return node.role is Role.LAYER and not node.own_name and not label.isdecimal()


def state_of(slot_name: str, variable: str) -> str:
    """Return what people call a slot variable, with what they call its variable."""
    return f"the state {readable(slot_name)!r} of {variable}"


def slot_of(slot_name: str, variable: str) -> str:
    """Return whose slot a slot variable is, in a row, where there is no space for `state_of`."""
    return f"{slot_name} of {variable}"


def names_of(nodes: Sequence[Node], tree: Tree, order: Sequence[int]) -> list[str]:
    """Return what people call each node.

    That is the local name if a programmer chose it, and else the layer's own name. A file gives
    that name in the full names of the layer's variables, unless it gives it to others beside it.
    """
    shared = _shared_scopes(nodes, tree, order)
    scope_names = _names_by_scopes(nodes, tree, order, shared)
    beside = Counter(
        (tree.parents[node_id], name) for node_id, name in enumerate(scope_names) if name
    )
    names = list(tree.labels)
    is_state = [node.role is Role.OPTIMIZER for node in nodes]
    for node_id in order[1:]:
        node, label = nodes[node_id], tree.labels[node_id]
        is_state[node_id] |= is_state[tree.parents[node_id]]
        owner = nodes[tree.parents[node_id]]
        class_name = owner.type_name or ""
        if not class_name and is_part_of_attention(label):
            class_name = class_by_parts([child.local_name for child in owner.children])
        part = part_name(label, class_name)
        if part is not None and node.role not in VALUE_ROLES:
            names[node_id] = part
            continue
        if is_chosen(label) and not _is_numbered_class(nodes, tree, node_id):
            continue
        if node.role in VALUE_ROLES:
            if label.startswith("_") and (own := _last_name(node)):
                names[node_id] = own  # `kernel` for `_kernel`
            continue
        if is_state[node_id]:
            continue
        if node.held_as and is_automatic(node.own_name or "", node.type_name):
            names[node_id] = node.held_as
            continue
        name = scope_names[node_id]
        if node.own_name:
            names[node_id] = node.own_name
        elif name and node.role is not Role.CONTAINER:
            is_alone = beside[tree.parents[node_id], name] == 1
            names[node_id] = name if is_alone else label
        if names[node_id] == label:
            names[node_id] = _by_place(nodes, tree, node_id) or label
    return names


def is_place(name: str) -> bool:
    """Return whether a name tells only where a part is in its list.

    >>> is_place("0"), is_place("layers[2]"), is_place("layer_with_weights-1"), is_place("conv1")
    (True, True, True, False)
    """
    return _PLACE.fullmatch(name) is not None


def _by_place(nodes: Sequence[Node], tree: Tree, node_id: int) -> str:
    """Return `layers[2]` for a layer whose name a file does not tell; "" if it is no layer.

    A Sequential of Keras 3 begins its own list with an input, which its `layers` lack.
    """
    parent, label = tree.parents[node_id], tree.labels[node_id]
    if _WEIGHTED_OF_KERAS_2.fullmatch(label) or _LAYER_OF_KERAS_2.fullmatch(label):
        edges = (c.local_name for c in nodes[parent].children if c.node_id == node_id)
        numbered = next(filter(None, map(_LAYER_OF_KERAS_2.fullmatch, edges)), None)
        return f"{_LAYERS}[{numbered[1]}]" if numbered else ""
    if parent <= ROOT or not label.isdecimal() or tree.labels[parent] not in _LISTS_OF_KERAS_3:
        return ""
    holder = tree.parents[parent]
    siblings = nodes[holder].children if holder >= ROOT else ()
    is_sequential = tree.labels[holder] == _FUNCTIONAL or any(
        child.local_name == _FUNCTIONAL for child in siblings
    )
    place = int(label) - is_sequential
    return f"{_LAYERS}[{place}]" if place >= 0 else ""


def _names_by_scopes(
    nodes: Sequence[Node],
    tree: Tree,
    order: Sequence[int],
    shared: Sequence[tuple[str, ...] | None],
) -> list[str]:
    """Return for each node the part of its scope that is its own name; "" if none is.

    The last part is that of the innermost layer: of `encoder/lstm_cell`, a recurrent layer takes
    the first part and leaves the last one to its cell.
    """
    names = [""] * len(nodes)
    inner = [0] * len(nodes)  # layers of the same scope in one another, below each node
    for node_id in reversed(order[1:]):
        scope, parent = shared[node_id], tree.parents[node_id]
        if not scope or nodes[node_id].role in VALUE_ROLES:
            continue
        place = len(scope) - 1 - inner[node_id]
        is_its_own = inner[node_id] == 0 or place >= len(shared[parent] or ())
        if place >= 0 and is_its_own:
            names[node_id] = scope[place]
        if shared[parent] == scope:
            is_layer = nodes[node_id].role is not Role.CONTAINER
            inner[parent] = max(inner[parent], inner[node_id] + is_layer)
    return names


def _last_name(node: Node) -> str:
    """Return the last part of a variable's full name, "" if it has none."""
    return node.attributes[0].full_name.rpartition("/")[2] if node.attributes else ""


def is_chosen(label: str) -> bool:
    """Return whether a local name says something: not an index, `_layers`, `layer-3`."""
    return not (label.isdecimal() or label.startswith("_") or _COUNTED.search(label))


def _is_numbered_class(nodes: Sequence[Node], tree: Tree, node_id: int) -> bool:
    """Return whether a local name is a class with a number, as in Keras' list of layers.

    In Keras' files, `layers/dense_1` is the second Dense, whatever its name.
    """
    node, parent = nodes[node_id], tree.parents[node_id]
    if not node.own_name or nodes[parent].role is not Role.CONTAINER:
        return False
    kind = kind_at([tree.labels[node_id]])
    return tree.labels[parent] == _LAYERS and (
        node.type_name is None or kind == path_component(node.type_name)
    )


def _shared_scopes(
    nodes: Sequence[Node], tree: Tree, order: Sequence[int]
) -> list[tuple[str, ...] | None]:
    """Return for each node the name scopes that the variables below it share; None without any."""
    scopes: list[tuple[str, ...] | None] = [None] * len(nodes)
    for node_id in reversed(order):
        node = nodes[node_id]
        if node.role is Role.VARIABLE:
            full_name = node.attributes[0].full_name
            own: Iterable[tuple[str, ...] | None] = [tuple(full_name.split("/")[:-1])]
        elif node.role is Role.OPTIMIZER:
            own = []
        else:
            own = [scopes[child] for child in tree.children[node_id]]
        for scope in own:
            before = scopes[node_id]
            if scope is not None and scope != before:
                scopes[node_id] = scope if before is None else _common(before, scope)
    return scopes


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    length = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    return a[:length] if length is not None else min(a, b, key=len)


# --- what to call many


def counted(nodes: Iterable[Node]) -> str:
    """Return the number of nodes with a value: "3 values"."""
    return count(sum(map(has_value, nodes)), "value")
