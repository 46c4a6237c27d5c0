"""The graph as people think of it: layers by their names, without what only holds them together.

The tree of the object graph gives every node a place, so a transformer of 160 layers begins with
`_functional`, `_operations` and Keras' lists of variables. This view folds and hoists those nodes,
calls layers by their names, and shows repeated parts once. It decides by structure: names of Keras'
own attributes play no part. What no rule decides keeps its place in the tree. What a comparison
marks keeps a row of its own.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cache
from itertools import groupby
from types import MappingProxyType

from ckpt_viz.graphs.layers.blocks import MAX_BLOCKS, first_block, follows, without_numbers
from ckpt_viz.graphs.layers.calls import Call, consumers_of, in_call_order
from ckpt_viz.graphs.layers.rows import LayerGroup, Layers
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.keras_variables import order_of_parts
from ckpt_viz.graphs.nodes.names import is_chosen, is_holder, names_of
from ckpt_viz.graphs.nodes.nodes import (
    ROOT,
    VALUE_ROLES,
    Node,
    NotSaved,
    Role,
    has_value,
    loses_values,
)
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.nodes.tree import NOWHERE, Tree
from ckpt_viz.graphs.slots.hanging import BLOCKS, Hanging, hanging_from_optimizers
from ckpt_viz.graphs.slots.keras_optimizers import TRAINABLE

_KEPT_ROLES = (Role.LAYER, Role.OPTIMIZER)
_NO_MARKS: Mapping[int, object] = MappingProxyType({})


def layers_of(
    nodes: Sequence[Node],
    tree: Tree,
    marks: Mapping[int, object] = _NO_MARKS,
    calls: Sequence[Call] = (),
    names: Sequence[str] | None = None,
    hanging: Hanging | None = None,
) -> Layers:
    """Return the view of these nodes.

    Args:
        nodes: The nodes of one graph.
        tree: Their spanning tree.
        marks: What a comparison says of the nodes that need attention. These are neither folded nor
            hoisted, and parts are alike only if their marks are equal row by row.
        calls: The calls between layers, if known: then layers follow those that they are called on.
        names: What people call the nodes, if other graphs tell it.
        hanging: The variables that an optimizer alone holds, if known.
    """
    draft = _Draft(nodes, tree, marks, names)
    draft.fold()
    draft.hoist()
    draft.hang(hanging_from_optimizers(nodes) if hanging is None else hanging)
    draft.order_by(calls)
    draft.group()
    draft.show_lost()
    return draft.finished()


class _Draft:
    """The view in the making: the children of each row, which every step changes."""

    def __init__(
        self,
        nodes: Sequence[Node],
        tree: Tree,
        marks: Mapping[int, object],
        names: Sequence[str] | None,
    ) -> None:
        self.nodes, self.tree, self.marks = nodes, tree, marks
        self.order = list(tree.preorder())
        self.children = [list(below) for below in tree.children]
        self.through: dict[int, list[int]] = {}
        self.groups: list[LayerGroup] = []
        self.folded: list[int] = []
        self.hanging: dict[int, int] = {}
        self.lost: dict[int, NotSaved] = {}
        self.names = names_of(nodes, tree, self.order) if names is None else [*names]

    def fold(self) -> None:
        """Leave out what holds no value and is neither layer nor optimizer.

        The tree gives a value its best place, so Keras' own lists of variables hold nothing.
        """
        kept = [self._is_something(node_id) for node_id in range(len(self.nodes))]
        if not any(kept):
            return  # a graph without any value is one of objects
        kept[ROOT] = True
        for node_id in reversed(self.order[1:]):
            if kept[node_id]:
                kept[self.tree.parents[node_id]] = True
        self.folded = [node_id for node_id in self.order if not kept[node_id]]
        self.children = [[c for c in below if kept[c]] for below in self.children]

    def hoist(self) -> None:
        """Give a node that only passes through one row with its parent or its only child."""
        for node_id in self.order:
            while (child := self._only_part(node_id)) is not None:
                self.through.setdefault(node_id, [node_id]).append(child)
                below, self.children[child] = self.children[child], []
                place = self.children[node_id].index(child)
                # Keras' list of layers comes before the metrics and the optimizer.
                first = 0 if self._is_list_of_layers(child) else place
                self.children[node_id].pop(place)
                self.children[node_id][first:first] = below
        for node_id in reversed(self.order):
            self.children[node_id] = [self._only_item(child) for child in self.children[node_id]]

    def _only_part(self, node_id: int) -> int | None:
        """Return the only child of a row, beside optimizers, if it only passes through.

        The list in which Keras' files have the layers of a model may have others beside it.
        """
        lists = [c for c in self.children[node_id] if self._is_list_of_layers(c)]
        if len(lists) == 1:
            return lists[0]
        parts = [c for c in self.children[node_id] if self.nodes[c].role is not Role.OPTIMIZER]
        return parts[0] if len(parts) == 1 and self._passes_through(parts[0], node_id) else None

    def order_by(self, calls: Sequence[Call]) -> None:
        """Put layers in the order in which they are called: of a model, or of Keras' own layer."""
        for row, node in enumerate(self.nodes):
            below = self.children[row]
            if len(below) > 1:
                names = [self.names[child] for child in below]
                self.children[row] = [below[i] for i in order_of_parts(names, node.type_name)]
        consumers = consumers_of(calls)
        for row, below in enumerate(self.children):
            if len(below) > 1 and any(child in consumers for child in below):
                self.children[row] = in_call_order(below, consumers)

    def hang(self, hanging: Hanging) -> None:
        """Put variables that an optimizer alone holds beside the layers of their model."""
        hanging_names = dict(zip(hanging.variables, hanging.names, strict=True))
        for holder in dict.fromkeys(self.tree.parents[variable] for variable in hanging_names):
            variables = self.children[holder]
            is_list = self.tree.labels[holder] == TRAINABLE and variables
            if not is_list or any(variable not in hanging_names for variable in variables):
                continue
            above = next(row for row, below in enumerate(self.children) if holder in below)
            model = self._row_of(self._model_beside(holder, hanging_names))
            self.children[above].remove(holder)
            self._put_before_optimizers(holder, self.children[model])
            self.hanging[holder] = len(variables)
            self.names[holder] = BLOCKS if hanging_names[variables[0]].block else "variables"
            self.children[holder] = []
            for block, members in groupby(
                variables, key=lambda variable: hanging_names[variable].block
            ):
                in_block = [*members]
                for variable in in_block:
                    self.names[variable] = hanging_names[variable].name
                if block:
                    in_block = [
                        self._new_row(LayerGroup(block, block, len(in_block), False), in_block)
                    ]
                self.children[holder] += in_block

    def _model_beside(self, holder: int, hanging: Container[int]) -> int:
        """Return what holds the other variables that an optimizer lists: it is their model."""
        listed = [child.node_id for child in self.nodes[holder].children]
        paths = [
            [*self.tree.above(variable)][::-1] for variable in listed if variable not in hanging
        ]
        shared = [step[0] for step in zip(*paths, strict=False) if len({*step}) == 1]
        while len(shared) > 1 and self._holds_values_alone(shared[-1]):
            shared.pop()
        return shared[-1] if shared else self.tree.parents[self.tree.parents[holder]]

    def _holds_values_alone(self, node_id: int) -> bool:
        return all(self.nodes[c].role in VALUE_ROLES for c in self.tree.children[node_id])

    def _row_of(self, node_id: int) -> int:
        shares = (row for row, path in self.through.items() if node_id in path)
        return next(shares, node_id)

    def _is_list_of_layers(self, node_id: int) -> bool:
        is_kept = self._is_own(node_id) or node_id in self.marks
        return not is_kept and is_holder(self.nodes, self.tree, node_id)

    def _passes_through(self, node_id: int, parent: int) -> bool:
        """Return whether the only child of a row is no part that people would look for."""
        node, label = self.nodes[node_id], self.tree.labels[node_id]
        holds_values = any(self.nodes[c].role in VALUE_ROLES for c in self.children[node_id])
        if holds_values or label.isdecimal() or (parent == ROOT and is_chosen(label)):
            return False
        if node_id in self.marks:
            return False
        return node.role is Role.LAYER or not self._is_something(node_id)

    def _only_item(self, node_id: int) -> int:
        """Return the item of a list of one in place of the list."""
        below = self.children[node_id]
        is_list = len(below) == 1 and self.tree.labels[below[0]] == "0"
        if not is_list or self._is_something(node_id):
            return node_id
        self.children[node_id] = []
        lists, items = (self.through.pop(i, [i]) for i in (node_id, below[0]))
        self.through[below[0]] = lists + items
        return below[0]

    def group(self) -> None:
        """Give blocks of a flat list, and parts in a row that are alike, a row of their own."""
        for node_id in self.order:
            self.children[node_id] = self._blocks(self.children[node_id])
        signatures = self._signatures()
        for row in range(len(self.children)):
            self.children[row] = self._alike(self.children[row], signatures)

    def show_lost(self) -> None:
        """Give each attribute in which values are lost a row below its object."""
        if not any(map(loses_values, self.nodes)):
            return
        for row in range(len(self.nodes)):
            path = self.through.get(row, (row,))
            for note in (note for node_id in path for note in self.nodes[node_id].not_saved):
                if note.is_lost:
                    lost = self._new_row(LayerGroup(note.name, note.name, 0, is_alike=False), [])
                    self.lost[lost] = note
                    self._put_before_optimizers(lost, self.children[row])

    def _put_before_optimizers(self, row: int, rows: list[int]) -> None:
        ends = (i for i, other in enumerate(rows) if self._is_optimizer(other))
        rows.insert(next(ends, len(rows)), row)

    def _is_optimizer(self, row: int) -> bool:
        return row < len(self.nodes) and self.nodes[row].role is Role.OPTIMIZER

    def _blocks(self, rows: list[int], depth: int = 0) -> list[int]:
        if depth == MAX_BLOCKS or len(rows) < 2:
            return rows
        prefixes = [first_block(self.names[row]) for row in rows]
        numbers: dict[str, set[str]] = {}
        for prefix in filter(None, prefixes):
            numbers.setdefault(prefix["stem"], set()).add(prefix["number"])
        keys = [None if p is None or len(numbers[p["stem"]]) < 2 else p[0] for p in prefixes]
        grouped: list[int] = []
        for key, items in groupby(zip(keys, rows, strict=True), key=lambda item: item[0]):
            members = [row for _, row in items]
            if key is None or len(members) < 2:
                grouped += members
                continue
            for row in members:
                self.names[row] = self.names[row][len(key) :]
            name = key.rstrip("_")
            grouped.append(
                self._new_row(
                    LayerGroup(name, name, len(members), is_alike=False),
                    self._blocks(members, depth + 1),
                )
            )
        return grouped

    def _alike(self, rows: list[int], signatures: Sequence[object]) -> list[int]:
        if len(rows) < 2:
            return rows
        runs: list[list[int]] = []
        for row in rows:
            before = runs[-1][-1] if runs else None
            if before is not None and self._is_next(before, row, signatures):
                runs[-1].append(row)
            else:
                runs.append([row])
        return [run[0] if len(run) == 1 else self._new_alike(run) for run in runs]

    def _is_next(self, before: int, row: int, signatures: Sequence[object]) -> bool:
        """Return whether a row is like the one before it, and next to it by a number in its name.

        Values with names of their own, such as `beta_1` and `beta_2`, are no parts that repeat.
        """
        is_value = row < len(self.nodes) and self.nodes[row].role in VALUE_ROLES
        can_repeat = not is_value or self.names[row].isdecimal()
        is_alike = can_repeat and signatures[before] == signatures[row]
        return is_alike and follows(self.names[before], self.names[row])

    def _new_alike(self, members: list[int]) -> int:
        ends = self.names[members[0]], self.names[members[-1]]
        return self._new_row(LayerGroup(*ends, len(members), is_alike=True), members)

    def _new_row(self, group: LayerGroup, members: list[int]) -> int:
        self.groups.append(group)
        self.children.append(members)
        self.names.append(group.first)
        return len(self.children) - 1

    def _signatures(self) -> list[int]:
        """Return a number for each row, equal for rows of equal structure, classes and shapes.

        Layers of different names are never alike, whatever attributes hold them.
        """
        known: dict[object, int] = {}
        numbers, bare = [0] * len(self.children), cache(without_numbers)
        for row in reversed(list(walks.below(self.children))):
            below = [(bare(self.names[c]), numbers[c]) for c in self.children[row]]
            is_node = row < len(self.nodes) and len(below) > 1
            if is_node and len({name for name, _ in below}) == len(below):
                below.sort()  # attributes, which a file may have in any order
            numbers[row] = known.setdefault((self._own(row), tuple(below)), len(known))
        return numbers

    def _own(self, row: int) -> object:
        if row >= len(self.nodes):
            return None
        node = self.nodes[row]
        own_name = node.own_name and without_numbers(node.own_name)
        lost = tuple([note.name for note in node.not_saved if note.is_lost])
        kind = node.role, node.type_name, own_name or "", values_of(node)
        return *kind, node.error, self.marks.get(row), lost

    def _is_something(self, node_id: int) -> bool:
        """Return whether a node deserves a row even if nothing below it does."""
        node = self.nodes[node_id]
        is_kept = has_value(node) or node_id in self.marks or bool(node.error or loses_values(node))
        return is_kept or (node.role in _KEPT_ROLES and not self._is_unknown_part(node_id))

    def _is_unknown_part(self, node_id: int) -> bool:
        """Return whether a node is a layer in a layer, of which a file tells nothing."""
        parent = self.tree.parents[node_id]
        is_part = parent != NOWHERE and self.nodes[parent].role is Role.LAYER
        return is_part and self.nodes[node_id].type_name is None

    def _is_own(self, node_id: int) -> bool:
        return self.tree.labels[node_id].startswith("_")

    def finished(self) -> Layers:
        parents = [NOWHERE] * len(self.children)
        for row, below in enumerate(self.children):
            for child in below:
                parents[child] = row
        return Layers(
            tuple(parents),
            tuple(map(tuple, self.children)),
            tuple(self.names),
            tuple(self.groups),
            {row: tuple(hoisted) for row, hoisted in self.through.items()},
            tuple(self.folded),
            frozenset(
                i for i in self.order if is_holder(self.nodes, self.tree, i) or self._is_own(i)
            ),
            self.hanging,
            self.lost,
        )
