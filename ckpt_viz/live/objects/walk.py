"""Live objects as nodes: what `Checkpoint.write` would save now, with nothing changed.

Node ids, edges and their order, keys and slots are those that TensorFlow would write
(tensorflow/python/checkpoint/save_util.py): breadth first, declared slot variables last. The walk
reads no value and runs none of the objects' own serialisation. It never touches
`Checkpoint.save_counter`, because that would create it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import (
    ROOT,
    SAVE_COUNTER,
    Child,
    LayerFacts,
    Node,
    NotSaved,
    Role,
    SlotVariable,
    is_variable,
)
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.composed_variables import Known
from ckpt_viz.live.objects.facts import is_layer
from ckpt_viz.live.objects.keras_calls import calls_among
from ckpt_viz.live.objects.layer_facts import layer_facts_of
from ckpt_viz.live.objects.left_aside import not_saved_of
from ckpt_viz.live.objects.losses import find_not_saved, loses_a_weight
from ckpt_viz.live.objects.stored_attributes import stored_attributes
from ckpt_viz.live.objects.trainable import frozen, trainable_variables
from ckpt_viz.live.objects.untracked import Unsaved, unsaved_in
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names.shadows import Shadows, instance_dict, trackable_attributes
from ckpt_viz.live.tensorflow_names.wrappers import are_same_objects

_UNTRACKED = ".UNTRACKED"  # begins no key of TensorFlow


@dataclass
class Walk:
    """One breadth-first walk; it keeps `objects`, by node id, alive until it is done.

    `shadows` ask the objects for their children. `refusals` holds what listing the children of
    nodes raised, in the order of the walk. `savers` are the registered savers of nodes, `roles` the
    roles from types, and `slot_refusal` what listing slot variables raised first. `childless` are
    nodes that obviously track nothing, so the walk does not ask them. `hidden` are the root's own
    children, by name, that the walk skips: a checkpoint keyword has their name, and nothing else
    leads to them. `lost` are the nodes that a save leaves out with a trained value. `calls` are
    those between layers. `facts` are what layers say of themselves, `trainable` what variables do,
    and `frozen` are the layers and weights that a training leaves as they are.
    """

    view: Any
    shadows: Shadows = field(default_factory=Shadows)
    objects: list[Any] = field(default_factory=list)
    children: list[tuple[Child, ...]] = field(default_factory=list)
    object_keys: list[str] = field(default_factory=list)
    slot_variables: dict[int, list[SlotVariable]] = field(default_factory=dict)
    not_saved: dict[int, tuple[NotSaved, ...]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    refusals: dict[int, Exception] = field(default_factory=dict)
    slot_refusal: Exception | None = None
    ids: dict[int, int] = field(default_factory=dict)
    savers: dict[int, str | None] = field(default_factory=dict)
    _of_root: Sequence[tuple[str, Any]] = field(default=(), init=False)
    roles: dict[type, Role] = field(default_factory=dict)
    hidden: dict[str, Any] = field(default_factory=dict)
    childless: set[int] = field(default_factory=set)
    momentary: set[int] = field(default_factory=set)
    lost: list[int] = field(default_factory=list)
    _is_beyond: bool = field(default=False, init=False)  # at what TensorFlow does not follow
    calls: tuple[Call, ...] = ()
    facts: Mapping[int, LayerFacts] = field(default_factory=dict)
    trainable: Mapping[int, bool] = field(default_factory=dict)
    frozen: Collection[int] = ()

    def run(self) -> tuple[Node, ...]:
        """Return the nodes that saving the view's root would write now."""
        self.reach()
        self.calls = calls_among(self.objects, self.ids)
        self.not_saved = find_not_saved(self.objects, self.shadows)
        self.facts = layer_facts_of(self.objects)
        self.trainable = trainable_variables(self.objects)
        self.frozen = frozen(self.objects, self.ids, self.trainable)
        for node_id, aside in not_saved_of(self.objects).items():
            self.not_saved[node_id] = (*self.not_saved.get(node_id, ()), aside)
        return self.bare_nodes()

    def reach(self) -> None:
        """Find the objects and their edges, without describing them."""
        self._add(self.view.root, "")
        for node_id, obj in enumerate(self.objects):  # grows during the loop
            self.children.append(self._follow(node_id, obj))
        self._look_behind_keywords()
        non_slots = len(self.objects)
        for node_id in range(non_slots):
            self._declared_slots(node_id, non_slots)

    def reach_untracked(self) -> None:
        """Go on to variables that TensorFlow does not follow, and all that is below them.

        They hang from their owners by children whose names tell the attribute. No file has them.
        """
        tracked = len(self.objects)
        self.children += [()] * (tracked - len(self.children))
        known, start = Known(self.objects), 0
        while start < len(self.objects):
            end = len(self.objects)
            self._hang_unsaved(start, known)
            if end == len(self.objects):  # ask Keras last: attributes have better names
                self._hang_listed(known)
            start = end
            self._follow_new(known)
        if len(self.objects) > tracked:
            self._slots_of_untracked(tracked)

    def _hang_unsaved(self, start: int, known: Known) -> None:
        """Hang what the attributes of the objects from `start` on hold without a node."""
        all_unsaved = unsaved_in(
            self.objects[start:], known, self.shadows, passes_over=facts.is_of_no_interest
        )
        for unsaved in all_unsaved:
            owner = start + unsaved.owner
            lost = loses_a_weight(
                self.objects[owner], unsaved.attribute, unsaved.missed, known.ids, self.shadows
            )
            self._hang(owner, _named(unsaved), lambda _, lost=lost: lost)  # type: ignore[misc]

    def _hang_listed(self, known: Known) -> None:
        """Hang the variables that Keras layers list."""
        for owner, obj in enumerate(tuple(self.objects)):
            if facts.has_listed_variables(obj):
                listed = facts.state_variables_of(obj)
                missed = [variable for variable in listed if not known.has(variable)]
                new = [(_path(v), v) for v in missed if tf_private.is_variable(v)]
                self._hang(owner, new, lambda variable: bool(getattr(variable, "trainable", False)))

    def _hang(
        self, owner: int, named: Sequence[tuple[str, Any]], is_weight: Callable[[Any], bool]
    ) -> None:
        """Give an object children that TensorFlow does not know."""
        prefix = f"{self.object_keys[owner]}/{_UNTRACKED}"
        for name, obj in named:
            if id(obj) in self.ids:
                continue
            if is_weight(obj):
                self.lost.append(len(self.objects))
            child = Child(name, self._add(obj, f"{prefix}/{keys.escape_local_name(name)}"))
            self.children[owner] = (*self.children[owner], child)

    def _follow_new(self, known: Known) -> None:
        node_id = end = len(self.children)
        while node_id < len(self.objects):  # grows during the loop
            self.children.append(self._follow(node_id, self.objects[node_id]))
            node_id += 1
        if end < len(self.objects):
            known.add(self.objects[end:])

    def _slots_of_untracked(self, tracked: int) -> None:
        """Add the declared slot variables of untracked variables and of untracked optimizers."""
        every = len(self.objects)
        self._is_beyond = True
        for optimizer_id in range(every):
            self._declared_slots(optimizer_id, every, tracked if optimizer_id < tracked else 0)

    def bare_nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the objects that `reach` found, with what a file would hold."""
        return tuple(self._node(node_id, obj) for node_id, obj in enumerate(self.objects))

    def _node(self, node_id: int, obj: Any) -> Node:
        saver = self.savers[node_id] = tf_registered.registered_saver_name(obj)
        try:
            attributes = () if saver else stored_attributes(obj, self.object_keys[node_id])
        except Exception as error:  # a variable may be of a user's class
            self.errors.setdefault(node_id, _error_words(error))
            attributes = ()
        role = Role.VARIABLE if is_variable(attributes) else self._role(obj)
        return Node(
            self.children[node_id] if node_id < len(self.children) else (),
            attributes,
            tuple(self.slot_variables.get(node_id, ())),
            saver,
            role,
            type_name=type(obj).__name__,
            not_saved=self.not_saved.get(node_id, ()),
            error=self.errors.get(node_id),
            trainable=self.trainable.get(node_id),
            own_name=own_name(obj) if role is Role.LAYER else None,
            is_frozen=node_id in self.frozen,
            facts=self.facts.get(node_id) if role in (Role.LAYER, Role.OBJECT) else None,
        )

    def _role(self, obj: Any) -> Role:
        """Return the object's role from its type; look at each type once."""
        cls = type(obj)
        if cls not in self.roles:
            self.roles[cls] = provisional_role(obj)
        return self.roles[cls]

    def _add(self, obj: Any, object_key: str) -> int:
        node_id = self.ids[id(obj)] = len(self.objects)
        self.objects.append(obj)
        self.object_keys.append(object_key)
        return node_id

    def _follow(self, node_id: int, obj: Any) -> tuple[Child, ...]:
        if node_id != ROOT and tf_private.is_childless(obj):
            self.childless.add(node_id)
            return ()
        try:
            children = list(self.shadows.children(obj).items())
        except Exception as error:  # the object's own code runs here and may raise anything
            self.errors[node_id], self.refusals[node_id] = _error_words(error), error
            return ()
        if node_id == ROOT:
            attached = self.view.attached_dependencies or ()
            children += [(reference.name, reference.ref) for reference in attached]
            self._of_root = children
            children = list(dict(children).items())
        return tuple([Child(name, self._node_id(node_id, name, ref)) for name, ref in children])

    def _look_behind_keywords(self) -> None:
        """Give the root the edges to its own children that have the name of a keyword.

        TensorFlow walks only to the keyword's object, and writes an edge to both. It raises
        KeyError if nothing else has led to the other one.
        """
        if len(self._of_root) == len(self.children[ROOT]):
            return
        self.hidden = {name: ref for name, ref in self._of_root if id(ref) not in self.ids}
        self.children[ROOT] = tuple(
            [Child(name, self.ids[id(ref)]) for name, ref in self._of_root if id(ref) in self.ids]
        )
        for name in self.hidden:
            self.errors[ROOT] = (
                f"KeyError: the checkpoint's keyword {name!r} hides a child of its root with this "
                "name, which TensorFlow cannot save"
            )

    def _node_id(self, parent: int, local_name: str, obj: Any) -> int:
        known = self.ids.get(id(obj))
        if known is not None:
            return known
        step, prefix = keys.escape_local_name(local_name), self.object_keys[parent]
        return self._add(obj, step if parent == ROOT else f"{prefix}/{step}")

    def slot_of(self, optimizer: Any, variable: Any, slot_name: str) -> Any:
        """Return the result of `get_slot` for an optimizer of TensorFlow 1 or Keras 2.

        For a sharded variable it makes a new one from its shards' slots.
        """
        if not tf_private.is_sharded(variable):
            return optimizer.get_slot(variable, slot_name)
        slots = [optimizer.get_slot(shard, slot_name) for shard in variable.variables]
        with tf_private.staying_shards_of_theirs([slot for slot in slots if slot is not None]):
            return optimizer.get_slot(variable, slot_name)

    def _declared_slots(self, optimizer_id: int, non_slots: int, first: int = 0) -> None:
        """Add the slot variables that an optimizer of TensorFlow 1 or Keras 2 declares.

        They belong to the variables before `non_slots`, from the `first` on.
        """
        optimizer = self.objects[optimizer_id]
        # Ask the class, because an object's own __getattr__ is the user's code. (TensorFlow lists
        # dir(), which takes longer.)
        if not hasattr(type(optimizer), "get_slot_names"):
            return
        try:
            for slot_name in optimizer.get_slot_names():
                for variable_id in range(first, non_slots):
                    self._declared_slot(optimizer_id, slot_name, variable_id)
        except Exception as error:  # as in _follow
            self.errors[optimizer_id] = _error_words(error)
            self.slot_refusal = self.slot_refusal or error

    def _declared_slot(self, optimizer_id: int, slot_name: str, variable_id: int) -> None:
        try:
            slot = self.slot_of(self.objects[optimizer_id], self.objects[variable_id], slot_name)
        except (AttributeError, KeyError):
            return  # not a variable, or a variable without this slot
        if slot is None:
            return
        if id(slot) in self.ids:
            if self._is_beyond:
                return
            raise NotImplementedError(
                f"slot variable {slot_name!r} is tracked a second time; TensorFlow cannot save it"
            )
        key = keys.slot_key(
            self.object_keys[variable_id], self.object_keys[optimizer_id], slot_name
        )
        slot_id = self._add(slot, key)
        self.slot_variables.setdefault(optimizer_id, []).append(
            SlotVariable(slot_name, variable_id, slot_id)
        )
        if tf_private.is_sharded(self.objects[variable_id]):
            self.momentary.add(slot_id)

    def save_counters(self) -> list[Any]:
        """Return the counters of saves, which a restore sets."""
        counters = (
            self.objects[child.node_id]
            for children in self.children
            for child in children
            if child.local_name == SAVE_COUNTER
        )
        return [counter for counter in counters if tf_private.is_variable(counter)]

    def object_as_held(self, parent: int, child: Child) -> Any:
        """Return a list of the walk in the form that its parent holds.

        tf_keras optimizers wrap their children again for every listing until they are first saved.
        An optimizer around another one lists the inner one's children. The program knows the list
        that they hold, with the same items.
        """
        obj, holder = self.objects[child.node_id], self.objects[parent]
        if instance_dict(holder).get(child.local_name) is obj:
            return obj
        for candidate in (holder, *trackable_attributes(holder).values()):
            held = instance_dict(candidate).get(child.local_name)
            if isinstance(held, list) and are_same_objects(held, obj):
                return held
        return obj


def provisional_role(obj: Any) -> Role:
    """Return the role from the object's type; it knows classes by name and imports none."""
    if tf_private.is_data_structure(obj):
        return Role.CONTAINER
    if is_layer(obj):
        return Role.LAYER
    return Role.OPTIMIZER if facts.is_optimizer(obj) else Role.OBJECT


def _named(unsaved: Unsaved) -> list[tuple[str, Any]]:
    """Return what an attribute holds, with names; `_trackables_in` finds the last of a list first.

    >>> from ckpt_viz.live.objects.untracked import Missed
    >>> _named(Unsaved(0, "blocks", None, [Missed("b"), Missed("a")]))
    [('blocks[0]', 'a'), ('blocks[1]', 'b')]
    """
    trackables = [missed.trackable for missed in reversed(unsaved.missed)]
    if len(trackables) == 1 and trackables[0] is unsaved.value:
        return [(unsaved.attribute, trackables[0])]
    return [(f"{unsaved.attribute}[{place}]", part) for place, part in enumerate(trackables)]


def _path(variable: Any) -> str:
    return str(getattr(variable, "path", None) or getattr(variable, "name", ""))


def own_name(layer: object) -> str | None:
    """Return the name of a Keras layer, without running code of its class."""
    own = instance_dict(layer)
    name = own.get("_name", own.get("name"))
    return name if type(name) is str else None


def _error_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
