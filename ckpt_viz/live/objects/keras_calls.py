"""The calls between the layers of live Keras models, as the models remember them.

A functional model keeps one record for each call of an operation in its graph, in Keras 2 and 3. A
Sequential model calls its layers one after the other. This module reads attributes that these
objects hold themselves, and runs no code of theirs. What looks different has no calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.live.objects.containers import items_of
from ckpt_viz.live.tensorflow_names.packages import KERAS, has_class
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_RECORDS = "_nodes_by_depth"  # of a functional model: the inputs have the greatest depth
_IN_A_ROW = ("_layers", "_self_tracked_trackables")  # of a Sequential model: Keras 3, Keras 2
_INBOUND = ("_inbound_nodes", "_inbound_nodes_value")  # of a layer: Keras 3, Keras 2
_MAX_TENSORS = 10_000  # with the lists that hold them
_MAX_SOURCES = 1000  # layers whose tensors meet in operations without a node, such as x + y


def calls_among(objects: Sequence[object], ids: Mapping[int, int]) -> tuple[Call, ...]:
    """Return the calls between objects; `ids` has their node ids by `id()`."""
    calls: set[Call] = set()
    kinds = {type(obj): obj for obj in objects}
    sequential = {cls for cls, obj in kinds.items() if has_class(obj, ("Sequential",), KERAS)}
    for obj in objects:
        own = instance_dict(obj)
        try:
            if _RECORDS in own:
                calls.update(_functional(own[_RECORDS], ids))
            elif own.get("_functional") is None and type(obj) in sequential:
                calls.update(_sequential(own, ids))
        except Exception:  # these are not Keras' own records, or a thread is changing them
            continue
    return tuple(sorted(calls))


def takes_directly(consumer: object, producer: object) -> bool:
    """Return whether a layer was called on a tensor of another, with no operation between them.

    Also true for a layer that remembers no call: those of a Sequential model before it is built.
    """
    try:
        taken = [tensor for record in records_of(consumer) for tensor in tensors_taken(record)]
    except (KeyError, TypeError):  # these are not Keras' own records
        return False
    histories = [_history(tensor) for tensor in taken]
    return not histories or any(history[0] is producer for history in histories if history)


def records_of(layer: object) -> list[Mapping[str, Any]]:
    """Return the records of the calls of a layer; raises TypeError if they are not Keras' own."""
    own = instance_dict(layer)
    records = next((own[name] for name in _INBOUND if name in own), ())
    return [instance_dict(record) for record in _items(records)]


def tensors_taken(record: Mapping[str, Any]) -> Iterable[Any]:
    """Return the symbolic tensors that a call takes; raises as `records_of`, or KeyError.

    The masks that Keras 3 passes on with its tensors are no such tensors.
    """
    if "arguments" in record:
        arguments = instance_dict(record["arguments"])
        masks = list(tensors_in(_mask(arguments.get("kwargs"))))
        tensors = _items(arguments["keras_tensors"])
        return [tensor for tensor in tensors if not any(tensor is mask for mask in masks)]
    return _items(record["_keras_inputs"])


def _mask(arguments: object) -> object:
    return dict.get(arguments, "mask") if isinstance(arguments, dict) else None


def tensors_made(record: Mapping[str, Any]) -> Iterable[Any]:
    """Return the symbolic tensors that a call makes; raises KeyError if it is not Keras' own."""
    return tensors_in(record["outputs"])


def tensors_in(held: Any) -> Iterator[Any]:
    """Yield the tensors in lists, dicts and the like, in their order."""
    stack, seen = [held], 0
    while stack and seen < _MAX_TENSORS:
        item, seen = stack.pop(), seen + 1
        items = items_of(item)
        if items is None:
            yield item
        else:
            stack += reversed(items)


def _history(tensor: object) -> tuple[Any, ...] | None:
    """Return the layer and the call that made a tensor, as Keras notes them."""
    history = instance_dict(tensor).get("_keras_history")
    return history if isinstance(history, tuple) else None


def _functional(by_depth: Any, ids: Mapping[int, int]) -> Iterator[Call]:
    """Yield the calls in the graph of a functional model."""
    depths = sorted((d for d in dict.copy(by_depth) if type(d) is int), reverse=True)
    records = [instance_dict(record) for depth in depths for record in _items(by_depth[depth])]
    flows = [_tensors(record) for record in records]
    takers = Counter(tensor for taken, _ in flows for tensor in taken)
    # The layers that each tensor comes from, the latest last, by id() of the tensor.
    sources: dict[int, tuple[int, ...]] = {}
    calls: dict[int, int] = {}  # places of the layers in the order of their last calls
    for place, (record, (taken, made)) in enumerate(zip(records, flows, strict=True)):
        node_id = ids.get(id(record["operation"] if "operation" in record else record["layer"]))
        if node_id is None:
            met = tuple(sorted(_met(taken, sources, takers), key=calls.__getitem__)[-_MAX_SOURCES:])
        else:
            producers = {source for tensor in taken for source in sources.get(tensor, ())}
            yield from (Call(producer, node_id) for producer in producers if producer != node_id)
            met, calls[node_id] = (node_id,), place
        sources |= dict.fromkeys(made, met)


def _met(
    taken: Collection[int], sources: Mapping[int, tuple[int, ...]], takers: Mapping[int, int]
) -> Collection[int]:
    """Return the layers whose tensors an operation without a node joins.

    In `x = x + block(x)`, again and again, each sum comes from all blocks before. A sum that other
    layers take too counts as its latest layer, so each layer has edges from the last two blocks.
    """
    met: dict[int, None] = {}
    for tensor in taken:
        layers = sources.get(tensor, ())
        is_junction = len(taken) > 1 and takers[tensor] > 1
        met |= dict.fromkeys(layers[-1:] if is_junction else layers)
    return met


def _tensors(record: Mapping[str, Any]) -> tuple[Collection[int], Collection[int]]:
    """Return `id()` of the tensors that a call takes and makes, each once."""
    if "flat_input_ids" in record:  # Keras 2 keeps them as text
        taken = map(int, record["flat_input_ids"])
        made = map(int, record["flat_output_ids"])
    else:
        arguments = instance_dict(record["arguments"])
        taken, made = (
            map(id, _items(of)) for of in (arguments["keras_tensors"], record["outputs"])
        )
    return tuple(dict.fromkeys(taken)), tuple(made)


def _sequential(own: Mapping[str, Any], ids: Mapping[int, int]) -> Iterator[Call]:
    """Yield the calls of a Sequential model, one for each two layers in a row."""
    layers = next((own[name] for name in _IN_A_ROW if name in own), ())
    node_ids = [ids[id(layer)] for layer in _items(layers) if id(layer) in ids]
    return (Call(*pair) for pair in pairwise(node_ids) if pair[0] != pair[1])


def _items(of: Any) -> Iterable[Any]:
    """Return the items of a list or tuple of Python itself; raises TypeError for others."""
    if isinstance(of, list):
        return list.copy(of)
    return tuple.__getitem__(of, slice(None))
