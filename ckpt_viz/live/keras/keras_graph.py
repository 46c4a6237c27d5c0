"""The graph of what Keras' `save_weights` would write of a live model, without writing it.

Its nodes are the groups of the file. A variable's key is the path of its data set. Nothing in the
model changes. The only code of the program's own that runs is what `save_weights` runs, too:
properties, and an own `save_own_variables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ckpt_viz.errors import NoSuchTensorError, SourceError
from ckpt_viz.graphs.nodes.keras_variables import names_in_optimizer, variable_names
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node, Role, Slot, SlotRule, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Layout, Origin
from ckpt_viz.live.keras.h5_groups import Groups, H5Group
from ckpt_viz.live.keras.keras_accessors import keras_accessor
from ckpt_viz.live.keras.keras_stores import as_array, dtype_and_shape, is_variable, saved_values
from ckpt_viz.live.keras.keras_walk import layers_of, walk_of
from ckpt_viz.live.objects.keras_calls import calls_among
from ckpt_viz.live.objects.keras_slots import slots_of
from ckpt_viz.live.objects.layer_facts import layer_facts_of
from ckpt_viz.live.objects.live_source import weak
from ckpt_viz.live.objects.trainable import frozen
from ckpt_viz.live.objects.walk import own_name, provisional_role
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import instance_dict
from ckpt_viz.matching.engines.h5_sides import LiveLayers
from ckpt_viz.matching.engines.keras_sides import LiveSaveable, LiveWeights, key_of

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


_OPTIONS = (
    *("use_bias", "bias_axes", "tie_weights", "scale", "center", "renorm", "rms_scaling"),
    *("use_scale", "score_mode", "mode"),
)
_LAYERS = "layers"  # of a model, in Keras' files
_ADAPTED = {"mean": "input_mean", "bin_boundaries": "input_bin_boundaries"}


@dataclass(frozen=True)
class KerasTarget:
    """A live model as `load_weights` finds it, and the graph of it.

    `objects` and `variables` have the node of each saveable and each variable that the graph has,
    by its number in `weights`. A layer with LoRA saves a sum in the place of its kernel, so the
    kernel has the node of this value. `is_built` is False if Keras refuses the model as not built.
    `held` gives the variables themselves.
    """

    graph: Graph
    weights: LiveWeights
    objects: Mapping[int, int]
    variables: Mapping[int, int]
    is_built: bool
    held: Sequence[Callable[[], object | None]] = field(repr=False)

    def place_of(self, variable: int, key: str) -> int:
        """Return the node of a variable; of one that Keras saves twice, the node with this key."""
        node = self.variables[variable]
        return self._second_places.get((node, key), node)

    @cached_property
    def _second_places(self) -> Mapping[tuple[int, str], int]:
        """The further nodes of variables, by their first nodes and their keys."""
        nodes = self.graph.nodes
        places = self.graph.second_places.items()
        return {(first, nodes[node].attributes[0].checkpoint_key): node for node, first in places}


def keras_target(model: object) -> KerasTarget:
    """Return the live side of `model.load_weights`; raises SourceError for what is no model."""
    walk, live = walk_of(model)
    drawing = _Drawing(Groups(walk, live), walk.library)
    nodes = {id(obj): node for node, obj in reversed([*enumerate(drawing.objects)])}
    objects = {i: nodes[id(obj)] for i, obj in enumerate(walk.objects) if id(obj) in nodes}
    variables = {i: nodes[id(v)] for i, v in enumerate(walk.variables) if id(v) in nodes}
    variables = dict(_of_values(live, objects, drawing.owners)) | variables
    held = tuple(map(weak, walk.variables))
    targets = {node: held[number] for number, node in variables.items()}
    graph = drawing.graph(model, targets)
    return KerasTarget(graph, live, objects, variables, live.saveables[0].is_built, held)


def _of_values(
    live: LiveWeights, objects: Mapping[int, int], owners: Mapping[int, tuple[int, str]]
) -> Iterator[tuple[int, int]]:
    """Yield each variable that loading sets, with the node of the value that saving writes."""
    nodes = {place: node for node, place in owners.items()}
    for number, saveable in enumerate(live.saveables):
        for name, variable in saveable.loading.targets if saveable.loading is not None else ():
            node = nodes.get((objects.get(number, -1), name))
            if node is not None:
                yield variable, node


def keras_h5_target(model: object) -> tuple[KerasTarget, LiveLayers]:
    """Return the live side of `model.load_weights("x.h5")`, also as the layers that it lists.

    The saveables of the target are those layers, and the model. Raises as `keras_target`.
    """
    target = keras_target(model)
    walk, layers = layers_of(model)
    nodes: dict[int, int] = {}
    for node in range(len(target.graph.nodes)):
        obj = target.graph.object(node)
        if obj is not None:
            nodes.setdefault(id(obj), node)
    for number, node in target.variables.items():
        nodes.setdefault(id(target.held[number]()), node)
    held: list[Any] = [*model.layers, model]  # type: ignore[attr-defined]
    own = [*(layer.weights for layer in layers.layers), layers.top_level]
    saveables = (
        LiveSaveable("", type(holder).__name__, holder.name, own=weights)
        for holder, weights in zip(held, own, strict=True)
    )
    weights = LiveWeights(tuple(saveables), layers.variables, target.weights.rules)
    objects = {i: nodes[id(layer)] for i, layer in enumerate(held) if id(layer) in nodes}
    variables = {i: nodes[id(v)] for i, v in enumerate(walk.variables) if id(v) in nodes}
    is_built, of_variables = layers.refusal is None, tuple(map(weak, walk.variables))
    return KerasTarget(target.graph, weights, objects, variables, is_built, of_variables), layers


def read_as_keras_saves(model: object) -> Graph:
    """Return the graph of the file that `model.save_weights("x.weights.h5")` would write.

    Raises SourceError for what is no Keras model, and for a model that Keras refuses to save.
    """
    walk, live = walk_of(model)
    if live.rules.checks_built and not live.saveables[0].is_built:
        raise SourceError(
            f"this {type(model).__name__} is not built, so Keras saves no weights of it; call it "
            "on some data, or call build()"
        )
    return _Drawing(Groups(walk, live), walk.library).graph(model)


_NO_TARGETS: Mapping[int, Callable[[], object | None]] = MappingProxyType({})


class _Drawing:
    """The nodes of the groups and of what is in them, breadth first.

    `objects` has what each node is for: an object, a list, a variable, or a value. `owners` has the
    node of the owner of each variable, and the variable's name in the owner's group.
    """

    def __init__(self, groups: Groups, library: str) -> None:
        self._groups, self._library = groups, library
        self.objects: list[Any] = []
        self.nodes: list[Node] = []
        self.owners: dict[int, tuple[int, str]] = {}
        self._paths: list[str] = []
        self._add_group("")
        for node_id, path in enumerate(self._paths):  # grows during the loop
            group = groups.by_path.get(path)
            if group is not None and node_id not in self.owners:
                children = (*self._variables(node_id, group), *self._below(path))
                self.nodes[node_id] = self.nodes[node_id]._replace(children=children)

    def graph(
        self, model: object, targets: Mapping[int, Callable[[], object | None]] = _NO_TARGETS
    ) -> Graph:
        """Return the finished graph; `targets` are the variables that loading sets, by node."""
        ids: dict[int, int] = {}
        for node_id, obj in enumerate(self.objects):
            if obj is not None:
                ids.setdefault(id(obj), node_id)
        self._add_facts(ids)
        self._add_slots(ids)
        access = _KerasAccess(
            model,
            tuple(map(_reference, self.objects)),
            tuple(self.nodes),
            self.owners,
            self._library,
            targets,
            second_places={
                node: ids[id(self.objects[node])]
                for node in self.owners
                if self._is_again(node, ids)
            },
        )
        calls = calls_among(self.objects, ids)
        title = type(model).__name__
        return Graph(tuple(self.nodes), title, Origin.LIVE, calls=calls, _access=access)

    def _is_again(self, node_id: int, ids: Mapping[int, int]) -> bool:
        """Return whether an earlier node is for the same variable."""
        obj = self.objects[node_id]
        return is_variable(obj) and ids[id(obj)] != node_id

    def _add(self, node: Node, obj: Any, path: str) -> int:
        self.nodes.append(node)
        self.objects.append(obj)
        self._paths.append(path)
        return len(self.nodes) - 1

    def _add_group(self, path: str) -> int:
        group = self._groups.by_path.get(path) or H5Group(path)
        is_list = group.obj is None or isinstance(group.obj, (list, dict, tuple, set))
        role = Role.CONTAINER if is_list else provisional_role(group.obj)
        node = Node(
            role=role,
            type_name=None if group.obj is None else type(group.obj).__name__,
            error=group.error,
            own_name=own_name(group.obj) if role is Role.LAYER else None,
            held_as=self._attribute_of(group) if role is Role.LAYER else None,
        )
        return self._add(node, group.obj, path)

    def _attribute_of(self, group: H5Group) -> str | None:
        """Return the attribute by which an object holds a layer of its list of layers."""
        of_list, _, _ = group.path.rpartition("/")
        owner_path, _, name = of_list.rpartition("/")
        owner = self._groups.by_path.get(owner_path)
        if name != _LAYERS or owner is None:
            return None
        held = tuple(instance_dict(owner.obj).items())
        names = (attribute for attribute, value in held if value is group.obj)
        return next((name for name in names if name.isidentifier() and name[0] != "_"), None)

    def _below(self, path: str) -> Iterator[Child]:
        for below in self._groups.below.get(path, ()):
            yield Child(below.rpartition("/")[2], self._add_group(below))

    def _variables(self, owner: int, group: H5Group) -> Iterator[Child]:
        nodes = {
            name: _variable_node(key_of(group.path, name), v) for name, v in group.values.items()
        }
        is_optimizer = self.nodes[owner].role is Role.OPTIMIZER
        names = _names_of(group, [*nodes.values()], is_optimizer=is_optimizer)
        for name, node in nodes.items():
            node_id = self._add(node, group.values[name], "")
            self.owners[node_id] = (owner, name)
            yield Child(names.get(name, name), node_id)

    def _add_facts(self, ids: Mapping[int, int]) -> None:
        trainable = _trainable(self.objects, self.owners)
        frozen_ids = frozen(self.objects, ids, trainable)
        facts = layer_facts_of(self.objects)
        for node_id, node in enumerate(self.nodes):
            has_facts = node.role in (Role.LAYER, Role.OBJECT)
            self.nodes[node_id] = node._replace(
                trainable=trainable.get(node_id),
                is_frozen=node_id in frozen_ids,
                facts=facts.get(node_id) if has_facts else None,
            )

    def _add_slots(self, ids: Mapping[int, int]) -> None:
        """Mark the slot variables, wherever an optimizer, or one around it, has them."""
        optimizers = [i for i, node in enumerate(self.nodes) if node.role is Role.OPTIMIZER]
        of_model = [self.objects[i] for i in self.owners if self.owners[i][0] not in optimizers]
        slots: dict[int, tuple[str, int]] = {}
        for optimizer in optimizers:
            for slot, name, variable in slots_of(self.objects[optimizer], of_model):
                if id(variable) in ids:
                    slots[id(slot)] = (name, ids[id(variable)])
        for node_id, (owner, _) in self.owners.items():
            if owner in optimizers and id(self.objects[node_id]) in slots:
                slot = Slot(*slots[id(self.objects[node_id])], owner, SlotRule.LIST_INDEX)
                self.nodes[node_id] = self.nodes[node_id]._replace(role=Role.SLOT, slot=slot)


def _reference(obj: Any) -> Callable[[], object | None]:
    """Return a weak reference to an object; for a list or dict, to each of its items."""
    if isinstance(obj, dict):
        items = {key: _reference(item) for key, item in obj.items()}
        return lambda: {key: item() for key, item in items.items()}
    if isinstance(obj, (list, tuple)):
        references = tuple(map(_reference, obj))
        return lambda: [reference() for reference in references]
    return weak(obj)


def _names_of(group: H5Group, nodes: Sequence[Node], *, is_optimizer: bool) -> Mapping[str, str]:
    """Return the names of the numbered variables of a group, as far as the kind tells them."""
    numbers = [str(number) for number in range(len(group.values))]
    if list(group.values) != numbers:
        return {}
    if is_optimizer:
        values = [(node.attributes[0].dtype, node.attributes[0].shape) for node in nodes]
        return dict(zip(numbers, names_in_optimizer(values), strict=True))
    config = _config_of(group.obj)
    names = variable_names(type(group.obj).__name__, config, len(numbers))
    return dict(zip(numbers, names or (), strict=False))


def _config_of(layer: Any) -> Mapping[str, Any]:
    """Return the options of a layer that decide which variables it has, from its attributes."""
    own = instance_dict(layer)
    config = {name: own[name] for name in _OPTIONS if type(own.get(name)) in (bool, str)}
    given = {name: own.get(held) is not None for name, held in _ADAPTED.items()}
    return config | {name: True for name, is_given in given.items() if is_given}


def _variable_node(key: str, value: Any) -> Node:
    error, dtype, shape = None, None, None
    try:
        dtype, shape = dtype_and_shape(value)
    except Exception as raised:  # a value may be anything
        error = f"{type(raised).__name__}: {raised}"
    nbytes = tf_private.stored_bytes(dtype, shape) if dtype and shape is not None else None
    attribute = Attribute(VARIABLE_VALUE, "", key, dtype, shape, nbytes, error=error)
    return Node(attributes=(attribute,), role=Role.VARIABLE, type_name=type(value).__name__)


def _trainable(objects: Sequence[Any], variables: Iterable[int]) -> dict[int, bool]:
    return {
        node_id: bool(objects[node_id].trainable)
        for node_id in variables
        if is_variable(objects[node_id])
    }


@dataclass(frozen=True)
class _KerasAccess(Access):
    """The live objects behind the graph of a file that Keras would write.

    It keeps the model alive, but not the objects below it. A value that an object makes when it is
    saved is made again when it is read.
    """

    layout: ClassVar[Layout] = Layout.KERAS_PATHS
    source: object
    references: Sequence[Callable[[], object | None]]
    nodes: Sequence[Node]
    owners: Mapping[int, tuple[int, str]]
    library: str
    targets: Mapping[int, Callable[[], object | None]]
    second_places: Mapping[int, int] = field(kw_only=True)

    @cached_property
    def _attributes(self) -> dict[str, tuple[int, Attribute]]:
        return {
            self.nodes[node_id].attributes[0].checkpoint_key: (
                node_id,
                self.nodes[node_id].attributes[0],
            )
            for node_id in self.owners
        }

    def object(self, node_id: int) -> object | None:
        held = self.references[node_id]()
        if node_id not in self.owners or is_variable(held):
            return held
        target = self.targets.get(node_id)  # in the place of a sum that saving makes
        return None if target is None else target()

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        return keras_accessor(graph, node_id, source)

    def stored(self, checkpoint_key: str) -> Stored | None:
        if checkpoint_key not in self._attributes:
            return None
        _, attribute = self._attributes[checkpoint_key]
        return Stored(attribute.dtype, attribute.shape, attribute.error)

    def value(self, checkpoint_key: str) -> Array:
        if checkpoint_key not in self._attributes:
            raise NoSuchTensorError(f"Keras saves no variable as {checkpoint_key!r}")
        node_id, _ = self._attributes[checkpoint_key]
        held = self.object(node_id)
        if held is None:
            held = self._made_again(node_id, checkpoint_key)
        value: Array = as_array(held)
        return value

    def _made_again(self, node_id: int, checkpoint_key: str) -> Any:
        owner, name = self.owners[node_id]
        values = saved_values(self.library, self.references[owner]())
        if name not in values:
            raise NoSuchTensorError(f"{checkpoint_key}: the program has dropped this variable")
        return values[name]
