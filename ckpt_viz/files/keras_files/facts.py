"""What Keras wrote of layers into a SavedModel: their facts and shapes, and a model's own calls.

It is JSON from a file, in which all may have any type and any size. No code runs for it. What a
configuration does not tell for certain is left out, such as a layer whose name two layers have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.layers.layer_config import dtype_of, shapes_in, stated_facts, with_dtypes
from ckpt_viz.graphs.nodes.nodes import LayerFacts, Node, Sizes

Json = Mapping[str, Any]
_NO_FACTS = LayerFacts()
_LAYERS = "layers"  # the list of a model in a weights file


class _Result(NamedTuple):
    """A tensor that a layer takes: which layer makes it, and as which of its results."""

    layer: str
    place: int


@dataclass(slots=True)
class _Inside:
    """What the models among the layers say of the layers in them."""

    calls: set[Call] = field(default_factory=set)
    gives: dict[int, Sizes | None] = field(default_factory=dict)  # None if the sizes differ


def with_facts(
    nodes: Sequence[Node], described: Mapping[int, Json]
) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
    """Return the nodes with facts, and the calls; `described` has Keras' words by node id."""
    configs = {i: config_of(words) for i, words in described.items()}
    dtypes = {i: dtype_of(config) for i, config in configs.items()}
    stated = with_dtypes({i: stated_facts(config) for i, config in configs.items()}, dtypes)
    gets = {i: _built_for(words) for i, words in described.items()}
    models = _models(nodes, configs, gets)
    typed = list(nodes)
    for i, words in described.items():
        given = models.gives.get(i)
        gives = _input_of(words) or (None if given is None else (given,))
        facts = LayerFacts(stated[i], gets[i], gives)
        is_frozen = False in (words.get("trainable"), configs[i].get("trainable"))
        typed[i] = nodes[i]._replace(
            is_frozen=is_frozen, facts=None if facts == _NO_FACTS else facts
        )
    return tuple(typed), tuple(sorted(models.calls))


def config_of(words: Json) -> Json:
    """Return the configuration of one object."""
    config = words.get("config")
    return config if isinstance(config, Mapping) else {}


def _built_for(words: Json) -> tuple[Sizes, ...] | None:
    """Return the sizes of what a layer was built for: Keras 2 and 3 have several words for it."""
    built = words.get("build_input_shape") or words.get("build_config")
    return tuple(sizes[1:] for sizes in shapes_in(built) if sizes) or None


def _input_of(words: Json) -> tuple[Sizes, ...] | None:
    """Return the sizes of the tensor that an input layer gives."""
    if words.get("class_name") != "InputLayer":
        return None
    config = config_of(words)
    shape = config.get("batch_input_shape") or config.get("batch_shape")
    return tuple(sizes[1:] for sizes in shapes_in(shape) if sizes)[:1] or None


# --- models


def _models(
    nodes: Sequence[Node],
    configs: Mapping[int, Json],
    gets: Mapping[int, tuple[Sizes, ...] | None],
) -> _Inside:
    models = _Inside()
    for i, config in configs.items():
        layers = config.get("layers")
        if isinstance(layers, list):
            entries = [layer for layer in layers if isinstance(layer, Mapping)]
            ids = _ids_by_name(nodes, i)
            if any("inbound_nodes" in entry for entry in entries):
                _add_functional(models, entries, ids, gets)
            else:
                _add_sequential(models, entries, ids, gets)
    single = {i for i, config in configs.items() if _has_one_result(config)}
    models.gives = {i: sizes for i, sizes in models.gives.items() if i in single}
    return models


def _ids_by_name(nodes: Sequence[Node], model: int) -> dict[str, int]:
    """Return the layers in a model by name, without names of several."""
    ids: dict[str, set[int]] = {}
    held = [child for child in nodes[model].children if child.local_name == _LAYERS]
    for child in (*nodes[model].children, *(c for h in held for c in nodes[h.node_id].children)):
        name = nodes[child.node_id].own_name
        if name is not None:
            ids.setdefault(name, set()).add(child.node_id)
    return {name: min(of_name) for name, of_name in ids.items() if len(of_name) == 1}


def _add_functional(
    models: _Inside,
    entries: Sequence[Json],
    ids: Mapping[str, int],
    gets: Mapping[int, tuple[Sizes, ...] | None],
) -> None:
    names = {_name(entry) for entry in entries}
    calls_of = {_name(entry): _inbound(entry) for entry in entries}
    for entry in entries:
        consumer, inbound = ids.get(_name(entry)), _inbound(entry)
        if consumer is None:
            continue
        tensors = [tensor for tensor in _tensors_in(inbound) if tensor.layer in names]
        producers = {ids[tensor.layer] for tensor in tensors if tensor.layer in ids}
        models.calls.update(Call(producer, consumer) for producer in producers - {consumer})
        sizes = gets.get(consumer) or ()
        if len(inbound) != 1 or len(sizes) != len(tensors):
            continue
        for tensor, size in zip(tensors, sizes, strict=True):
            producer = ids.get(tensor.layer)
            if producer is not None and len(calls_of[tensor.layer]) == 1 and tensor.place == 0:
                _add_gives(models, producer, size)


def _add_sequential(
    models: _Inside,
    entries: Sequence[Json],
    ids: Mapping[str, int],
    gets: Mapping[int, tuple[Sizes, ...] | None],
) -> None:
    names = [_name(entry) for entry in entries]
    for name, following in pairwise(name for name in names if name in ids):
        producer, consumer = ids[name], ids[following]
        if producer != consumer:
            models.calls.add(Call(producer, consumer))
    for name, following in pairwise(names):
        sizes = gets.get(ids.get(following, -1)) or ()
        if name in ids and len(sizes) == 1:
            _add_gives(models, ids[name], sizes[0])


def _add_gives(models: _Inside, producer: int, sizes: Sizes) -> None:
    known = models.gives.setdefault(producer, sizes)
    if known != sizes:
        models.gives[producer] = None


def _has_one_result(config: Json) -> bool:
    outputs = config.get("output_layers")
    return not config.get("return_state") and (
        outputs is None or len(list(_tensors_in(outputs))) == 1
    )


def _name(entry: Json) -> str:
    name = entry.get("name", config_of(entry).get("name"))
    return name if isinstance(name, str) else ""


def _inbound(entry: Json) -> list[Any]:
    inbound = entry.get("inbound_nodes")
    return inbound if isinstance(inbound, list) else []


def _tensors_in(inbound: Any) -> Iterator[_Result]:
    """Yield the tensors in records of calls: a layer's name, its call, and which of its results.

    Keras 2 has them among the arguments, Keras 3 as the `keras_history` of a tensor.
    """
    stack = [inbound]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            stack += reversed(list(item.values()))
        elif isinstance(item, list):
            if _is_tensor(item):
                yield _Result(item[0], item[2])
                item = item[3:]  # further arguments of the call
            stack += reversed(item)


def _is_tensor(item: Sequence[Any]) -> bool:
    return len(item) >= 3 and [type(part) for part in item[:3]] == [str, int, int]
