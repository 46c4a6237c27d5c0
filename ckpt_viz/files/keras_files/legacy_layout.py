"""`.h5` files of Keras 2 and 3, of models or of weights alone, as nodes.

The file lists the model's layers by name, and the variables of each layer by name. Source:
keras/src/legacy/saving/legacy_h5_format.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.files.keras_files.descriptions import named_layers
from ckpt_viz.files.keras_files.drafts import (
    MOST_NODES,
    DraftNodes,
    StoredWeights,
    class_of,
    describe,
)
from ckpt_viz.files.keras_files.facts import Json, config_of
from ckpt_viz.files.keras_files.orders import OrderOfNames
from ckpt_viz.files.keras_files.state import OwnVariable, is_trained, rows_of, slots_of
from ckpt_viz.files.keras_files.training_order import Trained
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.slots.optimizer_table import Generation

MODEL_WEIGHTS = "model_weights"
OPTIMIZER_WEIGHTS = "optimizer_weights"
_LAYERS = "layer_names"
_WEIGHTS = "weight_names"
_VERSION = "keras_version"
OF_MODEL = "top_level_model_weights"
"""The name of the group of the variables that a model has beside its layers."""
_OPTIMIZER = "optimizer"
_NUMBERED = re.compile(r"_[0-9]{1,9}\Z")


def is_legacy(stored: StoredWeights) -> bool:
    """Return whether a file has the layout of Keras' `.h5` files."""
    return _group_of_layers(stored) is not None


def _group_of_layers(stored: StoredWeights) -> str | None:
    groups = (group for group in (MODEL_WEIGHTS, "") if group in stored.groups)
    return next((group for group in groups if stored.texts(group, _LAYERS) is not None), None)


def layers_in(stored: StoredWeights) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the layers that a file lists, in its order, each with the keys of its variables.

    The last one is that of the model's own variables, if the file has such a group.
    """
    top = _group_of_layers(stored) or ""
    for layer in stored.texts(top, _LAYERS) or ():
        yield layer, _keys_of(stored, top, layer)
    if _joined(top, OF_MODEL) in stored.groups:
        yield OF_MODEL, _keys_of(stored, top, OF_MODEL)


def absent_in(stored: StoredWeights) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each layer of which the file lacks what it lists, with the path to that.

    The path begins at the layer, and ends at the first group or data set that is not there.
    """
    top = _group_of_layers(stored) or ""
    for layer in stored.texts(top, _LAYERS) or ():
        group = _joined(top, layer)
        if group not in stored.groups:
            yield layer, (layer,)
            continue
        for name in stored.texts(group, _WEIGHTS) or ():
            if _joined(group, name) not in stored.entries:
                inner, _, own = name.rpartition("/")
                is_there = _joined(group, inner) in stored.groups
                yield layer, (layer, inner, own) if is_there else (layer, inner)
                break


def version_in(stored: StoredWeights) -> str | None:
    """Return the version of Keras that has written a file, None if the file does not tell."""
    return stored.text(_group_of_layers(stored) or "", _VERSION)


def _keys_of(stored: StoredWeights, top: str, layer: str) -> tuple[str, ...]:
    group = _joined(top, layer)
    names = stored.texts(group, _WEIGHTS) or () if group in stored.groups else ()
    keys = (_joined(group, name) for name in names)
    return tuple(key for key in keys if key in stored.entries)


def nodes_of_legacy(stored: StoredWeights) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
    """Return the nodes of an `.h5` file, and the calls of layers that its configuration tells."""
    drafts = DraftNodes(stored)
    model = _json(stored, "model_config")
    described = named_layers(model) if model is not None else {}
    if model is not None:
        describe(drafts[ROOT], model)
    drafts[ROOT].role = Role.LAYER
    top = _group_of_layers(stored) or ""
    trained: list[Trained] = []
    left = MOST_NODES
    for layer in _unique([*(stored.texts(top, _LAYERS) or ()), OF_MODEL]):
        group = _joined(top, layer)
        names = stored.texts(group, _WEIGHTS) or [] if group in stored.groups else []
        left -= len(names)  # groups may share a long list
        if left < 0:
            raise UnsupportedError(
                f"{stored.path}: lists more than {MOST_NODES} variables, expected fewer"
            )
        trained += _add_layer(drafts, top, layer, names, described)
    if OPTIMIZER_WEIGHTS in stored.groups:
        _add_optimizer(drafts, trained)
    return drafts.finished()


def _json(stored: StoredWeights, name: str) -> Json | None:
    text = stored.text("", name)
    return None if text is None else mapping_in(f"{stored.path}: {name}", text.encode())


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)


# --- layers


def _add_layer(
    drafts: DraftNodes,
    top: str,
    layer: str,
    names: Sequence[str],
    described: Mapping[str, Json],
) -> list[Trained]:
    """Add a layer of the model with its variables; return those that a training may change."""
    keys = {name: _joined(top, layer, name) for name in names}
    names = [name for name in _unique(names) if keys[name] in drafts.stored.entries]
    if layer == OF_MODEL:  # variables that the model has beside its layers
        return _add_variables(drafts, ROOT, layer, {name: keys[name] for name in names}, described)
    node = drafts.add(ROOT, layer)
    drafts[node].role, drafts[node].own_name = Role.LAYER, layer
    if layer in described:
        describe(drafts[node], described[layer])
    return _add_variables(drafts, node, layer, {name: keys[name] for name in names}, described)


def _add_variables(
    drafts: DraftNodes, top: int, layer: str, keys: Mapping[str, str], described: Mapping[str, Json]
) -> list[Trained]:
    trained = []
    scopes = {name: _plain(name).split("/") for name in keys}
    cut = _scopes_to_leave_out(layer, list(scopes.values()), drafts[top].described)
    for name, key in keys.items():
        *inner, own = scopes[name][cut:]
        node = top
        is_frozen = _is_frozen(drafts[top].described)
        for scope in inner:
            node = drafts.add(node, scope)
            drafts[node].own_name = scope
            if scope in described and drafts[node].described is None:
                describe(drafts[node], described[scope])
            is_frozen = is_frozen or _is_frozen(drafts[node].described)
        variable = drafts.add_variable(node, own, key)
        if is_trained(own) and not is_frozen:
            shape = drafts.stored.entries[key].shape
            trained.append(Trained(variable, _plain(name), shape))
    return trained


def _plain(name: str) -> str:
    """Return the name of a variable without the number of the output that makes it.

    >>> _plain("dense/kernel:0")
    'dense/kernel'
    """
    return name.removesuffix(":0")


def _scopes_to_leave_out(layer: str, names: Sequence[Sequence[str]], described: Json | None) -> int:
    """Return how many scopes at the beginning of all names only repeat the layer."""
    if not names or any(len(name) < 2 for name in names):
        return 0
    if all(name[0] == layer for name in names):
        return 1
    if len({name[0] for name in names}) == 1 and all(name[1:-1][:1] == [layer] for name in names):
        return 2  # Keras 3 names the model before its layers
    is_model = described is not None and "layers" in config_of(described)
    if is_model or described is None or len({tuple(name[:-1]) for name in names}) > 1:
        return 0
    return len(names[0]) - 1


def _is_frozen(described: Json | None) -> bool:
    return described is not None and config_of(described).get("trainable") is False


# --- the optimizer


def _add_optimizer(drafts: DraftNodes, trained: Sequence[Trained]) -> None:
    stored = drafts.stored
    node = drafts.add(ROOT, _OPTIMIZER if _OPTIMIZER not in drafts[ROOT].children else "optimizer/")
    draft = drafts[node]
    draft.role = Role.OPTIMIZER
    entry = _optimizer_in(_json(stored, "training_config"))
    if entry is not None:
        draft.type_name = class_of(entry)
    names = stored.texts(OPTIMIZER_WEIGHTS, _WEIGHTS) or []
    states = []
    for name in _unique(names):
        key = _joined(OPTIMIZER_WEIGHTS, name)
        if key in stored.entries:
            local_name = _plain(name).rpartition("/")[2]
            if stored.entries[key].shape == ():  # TensorFlow 1 made it for the second time
                local_name = _NUMBERED.sub("", local_name) or local_name
            variable = drafts.add_variable(node, local_name, key)
            states.append(OwnVariable(variable, _plain(name), stored.entries[key].shape))
    config = {} if entry is None else config_of(entry)
    options = None if entry is None else frozenset(k for k, value in config.items() if value)
    # Names tell the slots of newer optimizers; older ones of Keras 2 have an order alone.
    rows = rows_of(draft.type_name, (Generation.LEGACY,))
    slots = slots_of(node, states, OrderOfNames(trained), rows, options).by_node
    for variable, slot in slots.items():
        drafts[variable].slot, drafts[variable].role = slot, Role.SLOT
    flat = {variable.node: variable.name.replace("/", "_") for variable in trained}
    drafts.rename(node, {i: f"{flat[slot.variable]}_{slot.name}" for i, slot in slots.items()})


def _optimizer_in(training: Json | None) -> Json | None:
    entry: Any = None if training is None else training.get("optimizer_config")
    return entry if isinstance(entry, Mapping) else None
