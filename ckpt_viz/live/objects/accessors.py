"""Python expressions for live objects: how to reach a node in the program itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import getattr_static
from operator import is_
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.ways import is_slot_alone, way_to
from ckpt_viz.ground.expressions import is_name, quoted
from ckpt_viz.live.sessions.assignment_map import pairs_of
from ckpt_viz.live.sessions.saver import places_in
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.packages import KERAS, package_of
from ckpt_viz.live.tensorflow_names.shadows import Shadows, instance_dict, trackable_attributes


def accessor(graph: Graph, node_id: int, source: Any, name: str) -> str:
    """Return an expression that evaluates to the object of a node.

    Follows the node's path in the outline. Each step is the first way that leads to exactly this
    object: an attribute, an item, and last TensorFlow's own list of children. `name` is the
    expression for the source. Raises SourceError if an object on the way is gone.
    """
    if is_slot_alone(graph, node_id):
        slot = graph.nodes[node_id].slot
        assert slot is not None and slot.optimizer is not None
        optimizer = accessor(graph, slot.optimizer, source, name)
        variable = accessor(graph, slot.variable, source, name)
        return f"{optimizer}.get_slot({variable}, {quoted(slot.name)})"
    expression, holder = _root(graph, source, name)
    edges = way_to(graph, node_id)
    while edges:
        parent, label, child = edges.pop(0)
        is_counter = (parent, label) == (ROOT, SAVE_COUNTER)
        if is_counter and _is_own_counter(holder, graph.object(child)):
            own = expression if holder is graph.object(ROOT) else _checkpoint(source, name)
            expression = f"{own}.{SAVE_COUNTER}"  # which makes it if need be
            continue
        obj, target = _object(graph, parent), _object(graph, child)
        if label.startswith("_"):
            # A public way, past what Keras keeps for itself.
            way = _to_layer(obj, [target, *(_object(graph, inner) for _, _, inner in edges)])
            if way is not None:
                expression += way[0]
                del edges[: way[1]]
                continue
        # What is attached to the root is an attribute of the checkpoint, not of the root.
        kept = "_save_counter" if label == SAVE_COUNTER else label
        if parent == ROOT and holder is not obj and instance_dict(holder).get(kept) is target:
            attribute = ".save_counter" if kept != label else _attribute(holder, label)
            expression = f"{_checkpoint(source, name)}{attribute}"
            continue
        step = _step(obj, label, target)
        if step is None:
            raise SourceError(
                f"{graph.name(child)}: the program has put another object in its place"
            )
        expression += step
    return expression


def saver_accessor(graph: Graph, node_id: int, saver: Any, name: str) -> str:
    """Return an expression for a variable of a Saver, or for the list of its partitions.

    Raises SourceError for a name scope, and for a variable that is not in the Saver's list.
    """
    obj = graph.object(node_id)
    if obj is None:
        raise SourceError(f"{graph.name(node_id)}: a name scope, for which there is no object")
    if isinstance(obj, list):
        return f"[{', '.join(_listed(saver, part, name) for part in obj)}]"
    return _listed(saver, obj, name)


def map_accessor(graph: Graph, node_id: int, source: Any, name: str) -> str:
    """Return an expression for a variable of an assignment map, or for the list of its partitions.

    Raises SourceError for a name scope, and for a variable that is not in the map itself.
    """
    obj = graph.object(node_id)
    parts = obj if isinstance(obj, list) else [obj]
    is_dict = isinstance(source, Mapping)
    for place, (key, value) in enumerate(pairs_of(source)):
        expression = f"{name}[{quoted(key)}]" if is_dict else f"{name}[{place}][1]"
        if value is obj is not None:
            return expression
        items = value if isinstance(value, list) else ()
        if len(items) == len(parts) and all(map(is_, items, parts)):
            return expression if isinstance(obj, list) else f"{expression}[0]"
    raise SourceError(
        f"{graph.name(node_id)}: the map has no such variable itself; look for it in the graph's "
        "collections"
    )


def _listed(saver: Any, variable: Any, name: str) -> str:
    for item, expression in places_in(saver, f"{name}._var_list"):
        if item is variable:
            return expression
    raise SourceError(
        "the Saver was made from a MetaGraph and lists no variables; look for this one in the "
        "graph's collections"
    )


def _checkpoint(source: Any, name: str) -> str:
    """Return the expression for the checkpoint of a manager; for anything else the name."""
    return f"{name}.checkpoint" if tf_private.is_checkpoint_manager(source) else name


def _root(graph: Graph, source: Any, name: str) -> tuple[str, Any]:
    """Return the expression for the root, and the object that holds attached keywords."""
    root = _object(graph, ROOT)
    expression = _checkpoint(source, name)
    if tf_private.is_load_status(source):
        return f"{name}._object_graph_view.root", root
    holder = tf_private.without_manager(source)
    if holder is root:
        return expression, holder
    if instance_dict(holder).get("root") is root:
        return f"{expression}.root", holder
    return f"{expression}._saver._graph_view.root", holder


def _object(graph: Graph, node_id: int) -> Any:
    obj = graph.object(node_id)
    if obj is None:
        raise SourceError(f"{graph.name(node_id)}: the program has dropped this object since")
    return obj


def _is_own_counter(holder: Any, counter: Any) -> bool:
    return tf_private.is_checkpoint(holder) and tf_private.counter_of(holder) is counter


def _step(obj: Any, label: str, target: Any) -> str | None:
    """Return the text to append to an object's expression for its child of this local name."""
    for step, child in _ways(obj, label):
        if child is target:
            return step
    return None


def _ways(obj: Any, label: str) -> Iterator[tuple[str, Any]]:
    """Yield ways from an object to its child, the most natural first."""
    attributes = instance_dict(obj)
    yield from _public(obj, label)
    if label in attributes and not tf_private.is_data_structure(obj):
        yield _attribute(obj, label), attributes[label]
    if label == SAVE_COUNTER and "_save_counter" in attributes:
        yield ".save_counter", attributes["_save_counter"]
    if isinstance(obj, Mapping) and label in obj:
        yield f"[{quoted(label)}]", obj[label]
    if isinstance(obj, (list, tuple)):
        if label.isdecimal() and label.isascii() and int(label) < len(obj):
            yield f"[{int(label)}]", obj[int(label)]
        elif is_name(label) and label in getattr(obj, "_fields", ()):
            yield f".{label}", getattr(obj, label)
    if type(obj) is dict:  # a plain one, whose keys may be numbers
        numbers = [key for key in obj if type(key) is int and str(key) == label]
        yield from ((f"[{number}]", obj[number]) for number in numbers)
    if not tf_private.is_trackable(obj):
        return
    layers = layers_of(obj)
    yield from ((way_to_layer(layers, index), layer) for index, layer in enumerate(layers))
    # An optimizer around another one lists the inner one's children as its own.
    for name, value in trackable_attributes(obj).items():
        if label in instance_dict(value):
            yield _attribute(obj, name) + _attribute(value, label), instance_dict(value)[label]
    # `add_weight(name="mean")` of tf_keras, which the layer has under another name.
    own = [name for name in [*attributes] if not name.startswith("_")]
    yield from ((_attribute(obj, name), attributes.get(name)) for name in own)
    shadows = Shadows()
    yield f"._lookup_dependency({quoted(label)})", shadows.lookup(obj, label)
    children = shadows.children(obj)
    if label in children:
        yield f"._trackable_children()[{quoted(label)}]", children[label]


def _public(obj: Any, label: str) -> Iterator[tuple[str, Any]]:
    """Yield the public property of a Keras layer for a private attribute: `kernel` of `_kernel`."""
    name = label.removeprefix("_")
    if name == label or package_of(getattr_static(type(obj), "add_weight", None)) not in KERAS:
        return
    if package_of(getattr(getattr_static(type(obj), name, None), "fget", None)) in KERAS:
        yield f".{name}", getattr(obj, name)


def _attribute(obj: Any, label: str) -> str:
    on_class = getattr_static(type(obj), label, None)
    is_shadowed = hasattr(type(on_class), "__set__") or hasattr(type(on_class), "__delete__")
    if is_name(label) and not is_shadowed:
        return f".{label}"
    return f".__dict__[{quoted(label)}]"


def _to_layer(obj: Any, way: Sequence[Any]) -> tuple[str, int] | None:
    """Return how a Keras model gives a layer on the way, and how many steps that saves."""
    layers = layers_of(obj)
    for steps, target in enumerate(way):
        for index, layer in enumerate(layers):
            if layer is target:
                return way_to_layer(layers, index), steps
    return None


def layers_of(obj: Any) -> Sequence[Any]:
    """Return the layers of a Keras model; in tf_keras, edges have names such as `layer-3`."""
    getter = getattr(getattr_static(type(obj), "layers", None), "fget", None)
    return obj.layers if package_of(getter) in KERAS else ()


def way_to_layer(layers: Sequence[Any], index: int) -> str:
    """Return the text to append to a model's expression for one of its layers."""
    name = getattr(layers[index], "name", None)
    if not isinstance(name, str) or name == "":
        return f".layers[{index}]"
    names = (getattr(layer, "name", None) for layer in layers)
    others = [other for other in names if isinstance(other, str)]
    is_alone = others.count(name) == 1
    # Keras goes on counting automatic names: `dense_3` is another one in the next run.
    is_named = is_alone and not is_automatic(name, type(layers[index]).__name__)
    return f".get_layer({quoted(name)})" if is_named else f".layers[{index}]"
