"""What live variables and layers say of their training; this reads attributes, and changes none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ckpt_viz.live.objects.facts import is_layer
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_WEIGHTS = ("_trainable_variables", "_trainable_weights")  # a layer's own: Keras 3, Keras 2


def trainable_variables(objects: Sequence[Any]) -> dict[int, bool]:
    """Return, by node id, whether each variable says that it is trainable."""
    statements: dict[int, bool] = {}
    kinds = {cls: hasattr(cls, "trainable") for cls in set(map(type, objects))}
    for node_id, obj in enumerate(objects):
        if kinds[type(obj)] and tf_private.is_variable(obj):
            try:
                statements[node_id] = bool(obj.trainable)
            except Exception:  # a variable may be of a user's class
                continue
    return statements


def frozen(
    objects: Sequence[object],
    ids: Mapping[int, int],
    trainable: Mapping[int, bool],
) -> set[int]:
    """Return the frozen layers and weights, as node ids; `ids` has these by `id()`.

    A layer is frozen if its `trainable` is False. Keras 3 then also sets that of its weights, which
    stay in the layer's own list of those to train.
    """
    layers = {cls for cls, obj in {type(obj): obj for obj in objects}.items() if is_layer(obj)}
    owns = {i: instance_dict(obj) for i, obj in enumerate(objects) if type(obj) in layers}
    weights = (ids.get(id(weight)) for own in owns.values() for weight in _weights(own))
    ids_of_frozen = {weight for weight in weights if weight and trainable.get(weight) is False}
    frozen_layers = [node_id for node_id, own in owns.items() if own.get("_trainable") is False]
    inner = {id(layer) for own in owns.values() for layer in _layers(own)} if frozen_layers else ()
    return ids_of_frozen | {
        node_id
        for node_id in frozen_layers
        if id(objects[node_id]) not in inner or not _has_thawed(owns[node_id])
    }


def _has_thawed(own: Mapping[str, Any]) -> bool:
    """Return whether a layer has a trainable one in it, which models around train in Keras 3.

    They do not in Keras 2. In both, the model of which `trainable` is False trains nothing itself.
    """
    stack, seen = list(_layers(own)), {id(own)}
    while stack:
        inner = instance_dict(stack.pop())
        if id(inner) not in seen:
            seen.add(id(inner))
            if inner.get("_trainable") is True:
                return True
            stack += _layers(inner)
    return False


def _layers(own: Mapping[str, Any]) -> Iterable[object]:
    return _listed(own.get("_layers"))  # only Keras 3 has it


def _weights(own: Mapping[str, Any]) -> Iterable[object]:
    return _listed(next((own[name] for name in _WEIGHTS if name in own), ()))


def _listed(items: object) -> Iterable[object]:
    return list.copy(items) if isinstance(items, list) else ()
