"""A checkpoint in the making: its object graph, and its tensors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.files.saved.object_based import OBJECT_GRAPH_KEY
from ckpt_viz.formats.arrays.protos import TrackableObjectGraph
from ckpt_viz.formats.bundles.bundle_writer import NewTensor, array_tensor, strings_tensor
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.graphs.edits.edited_access import NewValue
from ckpt_viz.graphs.edits.union import stored_keys
from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import (
    ROOT,
    SAVE_COUNTER,
    Attribute,
    Node,
    Role,
    SlotVariable,
    has_value,
)
from ckpt_viz.graphs.nodes.walks import leading_to
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import shape_words
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.writing.object_keys import ObjectKeys
from ckpt_viz.live.writing.tensors import changed, tensor_of
from ckpt_viz.matching.correspondence.conversions import Conversion


class NewCheckpoint:
    """A checkpoint in the making: the object graph, and the tensors by checkpoint key.

    `values` has the tensors that an edit has changed, by their new keys.
    """

    def __init__(
        self, saved: Graph, live: Graph, values: Mapping[str, NewValue] = MappingProxyType({})
    ) -> None:
        self._saved, self._live, self._values = saved, live, values
        self._paths = ObjectKeys(live)
        graph: Any = TrackableObjectGraph()
        self._graph = graph
        self._tensors: dict[str, NewTensor] = {}
        for node in live.nodes:
            new = self._graph.nodes.add()
            for child in node.children:
                new.children.add(node_id=child.node_id, local_name=child.local_name)
            for slot in node.slot_variables:
                _add_slot(new, slot)

    def put(self, node: int, obj: int, conversion: Conversion | None = None) -> None:
        """Give a live object the values of a saved node, or their equivalent in its own form."""
        if conversion is not None:
            self._put_converted(node, obj, conversion)
            return
        self._check_fit(node, obj)
        names = {value.name: value.full_name for value in self._live.nodes[obj].attributes}
        self._put(node, obj, self._paths.of(obj), names)

    def put_edited(self, node: int | None, obj: int) -> None:
        """Give a node of the edited graph its values; `node` is what it was before the edits."""
        if node is not None and not self._has_new_arrays(obj):
            names = {value.name: value.full_name for value in self._live.nodes[obj].attributes}
            self._put(node, obj, self._paths.of(obj), names)
            return
        for attribute in self._live.nodes[obj].attributes:
            key = attribute.checkpoint_key
            self._graph.nodes[obj].attributes.add(
                name=attribute.name, full_name=attribute.full_name, checkpoint_key=key
            )
            self._add_tensor(key, changed(self._live, self._values, key, None))

    def _has_new_arrays(self, obj: int) -> bool:
        new = (self._values.get(a.checkpoint_key) for a in self._live.nodes[obj].attributes)
        return any(value is not None and value.array is not None for value in new)

    def _put(self, node: int, new: int, object_key: str, full_names: Mapping[str, str]) -> None:
        proto = self._graph.nodes[new]
        saver = self._saved.nodes[node].registered_saver
        if saver is not None and self._saved.is_held:
            raise UnsupportedError(
                f"{self._saved.name(node)}: found files of the registered saver {saver}, expected "
                "tensors in memory; write the objects with tf.train.Checkpoint"
            )
        if saver is not None:
            proto.registered_saver.name = saver
            proto.registered_saver.object_name = object_key
            before = self._saved_paths.of(node)
            for key in self._keys_by_saver.get(node, ()):
                self._copy(key, object_key + key[len(before) :])
        copied: set[str] = set()
        for attribute in self._saved.nodes[node].attributes:
            suffix = _suffix(attribute)
            key = keys.checkpoint_key(object_key, "") + suffix
            full_name = full_names.get(attribute.name, "")
            proto.attributes.add(name=attribute.name, full_name=full_name, checkpoint_key=key)
            of_tensors = self._saved.tensor_keys(attribute.checkpoint_key)
            if not of_tensors:
                raise FormatError(
                    f"{self._saved.title}: the object graph names {attribute.checkpoint_key!r}, "
                    "expected a tensor of this key"
                )
            if not copied.isdisjoint(of_tensors):
                raise UnsupportedError(
                    f"{self._saved.title}: {brief(attribute.checkpoint_key)}: found tensors that "
                    "another attribute of the object has, too; expected its own"
                )
            copied.update(of_tensors)
            for of_tensor in of_tensors:
                self._copy(of_tensor, key + of_tensor[len(attribute.checkpoint_key) :])

    def _put_converted(self, node: int, obj: int, conversion: Conversion) -> None:
        was, now = self._saved.nodes[node].attributes[0], self._live.nodes[obj].attributes[0]
        assert now.shape is not None
        key = keys.checkpoint_key(self._paths.of(obj), now.name)
        self._graph.nodes[obj].attributes.add(
            name=now.name, full_name=now.full_name, checkpoint_key=key
        )
        assert was.dtype is not None
        shape, old = now.shape, was.checkpoint_key
        if conversion.keeps_order:
            self._add_tensor(key, replace(tensor_of(self._saved, old), shape=shape))
            return
        own = lambda: self._live.read(now.checkpoint_key)  # noqa: E731
        read = lambda: conversion.of(self._saved.read(old), shape, own)  # noqa: E731
        self._add_tensor(key, array_tensor(conversion.dtype or was.dtype, shape, read))

    def _copy(self, saved_key: str, key: str) -> None:
        tensor = tensor_of(self._saved, saved_key)
        self._add_tensor(key, changed(self._live, self._values, key, tensor))

    def _add_tensor(self, key: str, tensor: NewTensor) -> None:
        if key in self._tensors:
            raise UnsupportedError(f"two values of the new checkpoint have the key {key!r}")
        self._tensors[key] = tensor

    def _check_fit(self, node: int, obj: int) -> None:
        """Raise UnsupportedError unless the live object can take the node's values."""
        was, now = self._saved.nodes[node], self._live.nodes[obj]
        is_reached = obj == ROOT or obj in self._live.first_edges
        is_same_saver = was.registered_saver == now.registered_saver
        if not (is_reached and is_same_saver and _fit(was.attributes, now.attributes)):
            raise UnsupportedError(
                f"{self._live.names.place_or_state(obj)}: cannot take the value of "
                f"{self._saved.names.place_or_state(node)}: found {_described(was)}, "
                f"expected {_described(now)}"
            )

    # --- what the program has not made yet

    def add_unmade_slots(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add the declared slot variables that live optimizers will make from this checkpoint."""
        places: dict[int, list[int]] = defaultdict(list)
        for node, obj in pairs:
            places[node].append(obj)
        for node, obj in self._unmade_optimizers(places):
            places[node].append(obj)
        for node, owner in enumerate(self._saved.nodes):
            for optimizer in places.get(node, ()) if owner.slot_variables else ():
                if _declares_slots(self._live, optimizer):
                    self._add_slots(owner, optimizer, places)
                    self._add_own_variables(owner, optimizer, places)

    def _unmade_optimizers(self, places: Mapping[int, list[int]]) -> list[tuple[int, int]]:
        """Pair the optimizers without a counterpart: the only ones, or those of one local name.

        An optimizer that has no variables yet has nothing else to recognise it by.
        """
        taken = {obj for objects in places.values() for obj in objects}
        saved, live = self._saved, self._live
        nodes = [
            node
            for node, optimizer in enumerate(saved.nodes)
            if optimizer.slot_variables and node not in places
        ]
        objects = [
            obj
            for obj, node in enumerate(live.nodes)
            if node.role is Role.OPTIMIZER and not node.slot_variables and obj not in taken
            if _declares_slots(live, obj)
        ]
        if len(nodes) == len(objects) == 1:
            return [(nodes[0], objects[0])]
        labels = saved.tree.labels, live.tree.labels
        counts = Counter(labels[0][node] for node in nodes), Counter(labels[1][o] for o in objects)
        by_name = {labels[1][obj]: obj for obj in objects}
        return [
            (node, by_name[labels[0][node]])
            for node in nodes
            if counts[0][labels[0][node]] == counts[1][labels[0][node]] == 1
        ]

    def _add_slots(self, node: Node, optimizer: int, places: Mapping[int, list[int]]) -> None:
        of_live = self._live.nodes[optimizer].slot_variables
        made = {(slot.variable, slot.slot_name) for slot in of_live}
        for slot in node.slot_variables:
            for variable in places.get(slot.variable, ()):
                saved_slot = self._saved.nodes[slot.slot_variable]
                if (variable, slot.slot_name) in made or not has_value(saved_slot):
                    continue
                new = self._new_node()
                place = SlotVariable(slot.slot_name, variable, new)
                _add_slot(self._graph.nodes[optimizer], place)
                names = {attribute.name: attribute.full_name for attribute in saved_slot.attributes}
                self._put(slot.slot_variable, new, self._paths.of_slot(place, optimizer), names)

    def _add_own_variables(
        self, node: Node, optimizer: int, places: Mapping[int, list[int]]
    ) -> None:
        """Add what an optimizer makes together with its first slots: its counter and rates."""
        if self._live.nodes[optimizer].slot_variables:
            return
        known = {child.local_name for child in self._live.nodes[optimizer].children}
        for child in node.children:
            own = self._saved.nodes[child.node_id]
            if child.local_name in known or child.node_id in places or not has_value(own):
                continue
            new = self._new_node()
            self._graph.nodes[optimizer].children.add(node_id=new, local_name=child.local_name)
            key = self._paths.below(optimizer, child.local_name)
            self._put(child.node_id, new, key, {a.name: a.full_name for a in own.attributes})

    def _new_node(self) -> int:
        self._graph.nodes.add()
        return len(self._graph.nodes) - 1

    def add_save_counter(self) -> None:
        """Add the counter of a `tf.train.Checkpoint`, which `restore` expects, as `save` would.

        Its value is that of the saved file, or else it stays as it is in the program.
        """
        counter = self._live.save_counter
        if not _counts_saves(self._live) or (
            counter is not None and self._graph.nodes[counter].attributes
        ):
            return
        new = counter
        if new is None:
            new = self._new_node()
            self._graph.nodes[ROOT].children.add(node_id=new, local_name=SAVE_COUNTER)
        of_saved = self._saved.save_counter
        if of_saved is not None and _is_count(self._saved.nodes[of_saved]):
            self._put(of_saved, new, SAVE_COUNTER, {keys.VARIABLE_VALUE: SAVE_COUNTER})
            return
        key = keys.checkpoint_key(SAVE_COUNTER, keys.VARIABLE_VALUE)
        self._graph.nodes[new].attributes.add(
            name=keys.VARIABLE_VALUE, full_name=SAVE_COUNTER, checkpoint_key=key
        )
        self._add_tensor(key, array_tensor("int64", (), lambda: _count(self._live)))

    def finished(self) -> dict[str, NewTensor]:
        """Return all tensors of the checkpoint, the object graph included."""
        self._leave_out_missing()
        with_values = _with_values(self._graph.nodes)
        for obj, node in enumerate(self._graph.nodes):
            node.has_checkpoint_values.value = obj in with_values
        encoded = self._graph.SerializeToString(deterministic=True)
        self._add_tensor(OBJECT_GRAPH_KEY, strings_tensor([encoded], ()))
        return self._tensors

    def _leave_out_missing(self) -> None:
        """Remove what leads to objects that should have a value and have none.

        TensorFlow takes an object that it finds for restored, even if it found no value.
        """
        with_values = _with_values(self._graph.nodes)
        nodes = enumerate(self._live.nodes)
        missing = {obj for obj, node in nodes if has_value(node) and obj not in with_values}
        for node in self._graph.nodes:
            for edges, to in (
                (node.children, "node_id"),
                (node.slot_variables, "slot_variable_node_id"),
            ):
                kept = [edge for edge in edges if getattr(edge, to) not in missing]
                if len(kept) < len(edges):
                    del edges[:]
                    edges.extend(kept)

    # --- registered savers, which choose the keys of their tensors themselves

    @cached_property
    def _saved_paths(self) -> ObjectKeys:
        return ObjectKeys(self._saved)

    @cached_property
    def _keys_by_saver(self) -> Mapping[int, list[str]]:
        """The keys that begin with the name of an object with a registered saver."""
        nodes = self._saved.nodes
        attributes = (attribute for node in nodes for attribute in node.attributes)
        known = {
            key for holder in attributes for key in self._saved.tensor_keys(holder.checkpoint_key)
        }
        names = {
            self._saved_paths.of(n): n for n, holder in enumerate(nodes) if holder.registered_saver
        }
        by_saver: dict[int, list[str]] = defaultdict(list)
        for key in stored_keys(self._saved) - known - {OBJECT_GRAPH_KEY}:
            of_key = [name for name in names if key.startswith(name)]
            if of_key:
                by_saver[names[max(of_key, key=len)]].append(key)
        return by_saver


def _counts_saves(live: Graph) -> bool:
    """Return whether the live side is a `tf.train.Checkpoint`, whose `restore` counts its saves."""
    source = live.source
    if source is None or tf_private.is_load_status(source):
        return live.save_counter is not None
    return tf_private.is_checkpoint(source) or tf_private.is_checkpoint_manager(source)


def _is_count(node: Node) -> bool:
    return [(attribute.dtype, attribute.shape) for attribute in node.attributes] == [("int64", ())]


def _count(live: Graph) -> Any:
    """Return how often the program has saved; TensorFlow's counter begins at 0."""
    import numpy as np

    counter = live.save_counter
    if counter is None or not _is_count(live.nodes[counter]):
        return np.zeros((), np.int64)
    return live.read(live.nodes[counter].attributes[0].checkpoint_key)


def _declares_slots(live: Graph, optimizer: int) -> bool:
    """Return whether a live optimizer makes the slots that a checkpoint declares."""
    obj = live.object(optimizer)
    if obj is None:
        return bool(live.nodes[optimizer].slot_variables)
    return hasattr(type(obj), "get_slot_names")


def _add_slot(node: Any, slot: SlotVariable) -> None:
    node.slot_variables.add(
        original_variable_node_id=slot.variable,
        slot_name=slot.slot_name,
        slot_variable_node_id=slot.slot_variable,
    )


def _suffix(attribute: Attribute) -> str:
    """Return the end of an attribute's checkpoint key, after the key of its object.

    It is spelled as in the file: a class may escape it once or twice.
    """
    parsed = keys.parse_checkpoint_key(attribute.checkpoint_key)
    if parsed is None:  # a name-based file
        return attribute.name
    return f"/{attribute.checkpoint_key}"[len(f"/{parsed.object_key}") + len("/.ATTRIBUTES/") :]


def _fit(saved: Sequence[Attribute], live: Sequence[Attribute]) -> bool:
    """Return whether the values of an object have names, dtypes and shapes that another takes.

    A live object may know them only when it restores.
    """
    if any(not value.name for value in live):
        return True
    by_name = {value.name: value for value in live}
    return by_name.keys() == {value.name for value in saved} and all(
        (by_name[value.name].dtype in (None, value.dtype))
        and (by_name[value.name].shape in (None, value.shape))
        for value in saved
    )


def _described(node: Node) -> str:
    if node.registered_saver is not None:
        return f"the registered saver {node.registered_saver}"
    values = [
        f"{value.name} of {value.dtype} {shape_words(value.shape, unknown='of any shape')}"
        for value in node.attributes
    ]
    return ", ".join(values) or "no value"


def _with_values(nodes: Any) -> set[int]:
    """Return the nodes that have a value or lead to one (`has_checkpoint_values`)."""
    valued = {
        node_id
        for node_id, node in enumerate(nodes)
        if node.attributes or node.slot_variables or node.HasField("registered_saver")
    }
    return leading_to(
        valued, len(nodes), lambda holder: [child.node_id for child in nodes[holder].children]
    )
