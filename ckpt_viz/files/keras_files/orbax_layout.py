"""The trees of an Orbax checkpoint as nodes: of a Keras model, or of any program.

`keras.callbacks.OrbaxCheckpoint` saves the variables of a model by their paths, such as
`hidden/kernel`, in one tree for each kind. The JSON has them in the order of the alphabet, so the
configuration and the kinds of layers tell the order of the model. Sources:
keras/src/callbacks/orbax_checkpoint.py, and `get_state_tree` in keras/src/models/model.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ckpt_viz.files.keras_files.descriptions import named_layers
from ckpt_viz.files.keras_files.drafts import DraftTree, class_of, describe
from ckpt_viz.files.keras_files.facts import Json, config_of
from ckpt_viz.files.keras_files.orbax_tree import (
    METRICS,
    OF_KERAS,
    OPTIMIZER,
    OTHERS,
    TRAINED,
    OrbaxFiles,
    TreeLeaf,
)
from ckpt_viz.files.keras_files.orders import NoOrder
from ckpt_viz.files.keras_files.state import OwnVariable, rows_of, slots_of
from ckpt_viz.files.keras_files.training_order import Trained
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.keras_variables import is_automatic, kind_at, variable_names
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Node, Role
from ckpt_viz.graphs.slots.optimizer_table import Generation

# The parts of Keras' own layers, in the order in which a layer has them.
_OPERATIONS = ".ops."  # in the module of what a model calls and does not have as a layer
_DEEPEST = 64  # models in each other
_PARTS = ("query", "key", "value", "attention_output")


def nodes_of_tree(files: OrbaxFiles) -> tuple[Node, ...]:
    """Return the nodes of any trees: containers along the paths, and variables."""
    drafts = DraftTree(files.path)
    drafts[ROOT].role = Role.CONTAINER
    for item, tree in files.trees.items():
        top = ROOT if len(files.trees) == 1 else drafts.add(ROOT, item)
        drafts[top].role = Role.CONTAINER
        for name, leaf in tree.leaves.items():
            *inner, own = leaf.path or ("",)
            node = top
            for step in inner if leaf.kind != "None" else ():
                node = drafts.add(node, step)
                if drafts[node].value is None:
                    drafts[node].role = Role.CONTAINER
            if leaf.has_value:
                drafts.add_value(node, own, _value(files, files.key(item, name)))
            elif leaf.kind != "None":
                drafts[drafts.add(node, own)].role = Role.CONTAINER
    return _with_errors(files, drafts.finished()[0])


def nodes_of_keras(
    files: OrbaxFiles, model: Json | None
) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
    """Return the nodes of a model that Keras saved, and the calls that its configuration tells."""
    drafts = DraftTree(files.path)
    leaves = [leaf for leaf in files.trees[OF_KERAS].leaves.values() if leaf.has_value]
    if model is not None:
        describe(drafts[ROOT], model)
    drafts[ROOT].role = Role.LAYER
    trained = list(_add_model(files, drafts, leaves, model))
    _add_optimizers(files, drafts, leaves, trained, model)
    _add_metrics(files, drafts, leaves)
    nodes, calls = drafts.finished()
    return _with_errors(files, nodes), calls


def _with_errors(files: OrbaxFiles, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    error = next((tree.error for tree in files.trees.values() if tree.error), None)
    return nodes if error is None else (nodes[ROOT]._replace(error=error), *nodes[1:])


def _value(files: OrbaxFiles, key: str) -> Attribute:
    stored, error = files.entries[key], files.why_unreadable(key)
    return Attribute(VARIABLE_VALUE, "", key, *stored, error=error)


# --- the model


@dataclass(slots=True)
class _Scope:
    """A step of the paths of variables: the variables in it, and the scopes below it."""

    variables: dict[str, TreeLeaf] = field(default_factory=dict)
    below: dict[str, _Scope] = field(default_factory=dict)


def _add_model(
    files: OrbaxFiles, drafts: DraftTree, leaves: Iterable[TreeLeaf], model: Json | None
) -> Iterator[Trained]:
    """Add the layers of a model with their variables; yield those that the training changes."""
    described = {} if model is None else named_layers(model)
    scopes = _scopes(leaves, model, described)
    stack = [(ROOT, scopes, model)]
    while stack:
        node, scope, words = stack.pop()
        for name in _in_order(
            scope.variables, drafts[node].type_name or drafts[node].own_name, words
        ):
            leaf = scope.variables[name]
            variable = drafts.add_value(node, name, _value(files, leaf.name))
            if leaf.path[0] == TRAINED:
                shape = files.entries[leaf.name].shape or ()
                yield Trained(variable, "/".join(leaf.path[1:]), shape)
        below = []
        for name in _parts_in_order(scope, words, is_top=node == ROOT):
            child = drafts.add(node, name)
            drafts[child].own_name, drafts[child].role = name, Role.LAYER
            if name in described and drafts[child].described is None:
                describe(drafts[child], described[name])
            below.append((child, scope.below.get(name, _Scope()), drafts[child].described))
        stack.extend(reversed(below))


def _scopes(
    leaves: Iterable[TreeLeaf], model: Json | None, described: Mapping[str, Json]
) -> _Scope:
    """Return the variables of a model by their paths, each in the models that have its layer.

    A path begins with the model itself, or with a layer, in whatever model that is.
    """
    top = _Scope()
    owners = {} if model is None else _owners(model, described)
    for leaf in leaves:
        if leaf.path[0] in (TRAINED, OTHERS) and len(leaf.path) > 1:
            *inner, own = leaf.path[1:]
            if inner and _is_of_model(inner[0], model, described):
                del inner[0]
            scope = top
            for name in (*owners.get(inner[0], ()), *inner) if inner else ():
                scope = scope.below.setdefault(name, _Scope())
            scope.variables.setdefault(own, leaf)
    return top


def _owners(model: Json, described: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
    """Return the models that each layer is in, from the outermost on, by the name of the layer."""
    owners: dict[str, tuple[str, ...]] = {}
    stack: list[tuple[Json, tuple[str, ...]]] = [(model, ())]
    while stack:
        words, above = stack.pop()
        for name in _listed(words):
            if name in described and name not in owners and len(above) < _DEEPEST:
                owners[name] = above
                stack.append((described[name], (*above, name)))
    return owners


def _is_of_model(name: str, model: Json | None, described: Mapping[str, Json]) -> bool:
    """Return whether the first step of a path is the model itself, and no layer of it."""
    if model is None or name in described:
        return False
    own = config_of(model).get("name")
    return name == own if isinstance(own, str) else is_automatic(name, class_of(model))


def _parts_in_order(scope: _Scope, words: Json | None, *, is_top: bool) -> list[str]:
    """Return the names of the layers in a layer; those of the whole model need no variables."""
    listed = [] if words is None else _listed(words)
    ranked = sorted(scope.below, key=_rank)
    names = dict.fromkeys([*listed, *ranked])
    return [name for name in names if is_top or name in scope.below]


def _listed(words: Json) -> list[str]:
    """Return the names of the layers that a model lists, in its order."""
    layers = config_of(words).get("layers")
    layers = layers if isinstance(layers, list) else []
    objects = [layer for layer in layers if isinstance(layer, Mapping)]
    if class_of(words) == "Sequential":
        objects = [layer for layer in objects if class_of(layer) != "InputLayer"]
    are_layers = (layer for layer in objects if _OPERATIONS not in str(layer.get("module")))
    return [name for name in map(_name_of, are_layers) if name]


def _rank(name: str) -> int:
    if name in _PARTS:
        return _PARTS.index(name)
    return 1 if name.startswith("backward_") else 0


def _name_of(layer: Json) -> str:
    name = config_of(layer).get("name", layer.get("name"))
    return name if isinstance(name, str) else ""


def _in_order(names: Mapping[str, TreeLeaf], kind: str | None, words: Json | None) -> list[str]:
    """Return the names of a layer's variables in the order in which the layer makes them."""
    config = None if words is None else config_of(words)
    for known in (kind, kind_at([kind or ""])):
        order = variable_names(known, config, len(names)) if known else None
        if order is not None and set(order) == set(names):
            return list(order)
    return sorted(names, key=_usual_rank)


def _usual_rank(name: str) -> int:
    usual = ("kernel", "recurrent_kernel", "gamma", "bias", "beta")
    return usual.index(name) if name in usual else len(usual)


# --- optimizers and metrics


def _add_optimizers(
    files: OrbaxFiles,
    drafts: DraftTree,
    leaves: Iterable[TreeLeaf],
    trained: Sequence[Trained],
    model: Json | None,
) -> None:
    """Add the optimizer, and one that is inside of it below it."""
    own: dict[str, list[TreeLeaf]] = {}
    for leaf in leaves:
        if leaf.path[0] == OPTIMIZER and len(leaf.path) > 1:
            own.setdefault(leaf.path[-2], []).append(leaf)
    entry = _optimizer_in(model)
    parent, name = ROOT, "optimizer"
    for path in _outer_first(own, entry):
        node = drafts.add(parent, name if name not in drafts[parent].children else f"{name}/")
        draft = drafts[node]
        draft.role, draft.own_name = Role.OPTIMIZER, path
        draft.type_name = None if entry is None else class_of(entry)
        _add_states(files, drafts, node, own[path], trained, entry)
        entry = config_of(entry).get("inner_optimizer") if entry is not None else None
        entry = entry if isinstance(entry, Mapping) else None
        parent, name = node, "inner_optimizer"


def _outer_first(names: Iterable[str], entry: Json | None) -> list[str]:
    """Return the optimizers, the outermost first, as the configuration tells."""
    outer = config_of(entry).get("name") if entry is not None else None
    return sorted(names, key=lambda name: (name != outer, "loss_scale" not in name))


def _optimizer_in(model: Json | None) -> Json | None:
    compiled = None if model is None else model.get("compile_config")
    entry = compiled.get("optimizer") if isinstance(compiled, Mapping) else None
    return entry if isinstance(entry, Mapping) else None


def _add_states(
    files: OrbaxFiles,
    drafts: DraftTree,
    optimizer: int,
    leaves: Iterable[TreeLeaf],
    trained: Sequence[Trained],
    entry: Json | None,
) -> None:
    """Add the variables of an optimizer: its own ones, then slots in the order of the model."""
    states = []
    for leaf in leaves:
        value = _value(files, leaf.name)
        node = drafts.add_value(optimizer, leaf.path[-1], value)
        states.append(OwnVariable(node, "/".join(leaf.path[1:]), value.shape or ()))
    draft = drafts[optimizer]
    options = None
    if entry is not None:
        options = frozenset(name for name, value in config_of(entry).items() if value)
    rows = rows_of(draft.type_name or draft.own_name, (Generation.KERAS_3,))
    slots = slots_of(optimizer, states, NoOrder(trained), rows, options).by_node
    for node, slot in slots.items():
        drafts[node].slot, drafts[node].role = slot, Role.SLOT
    order = {variable.node: number for number, variable in enumerate(trained)}
    ranked = sorted(
        draft.children.items(),
        key=lambda item: order[slots[item[1]].variable] if item[1] in slots else -1,
    )
    draft.children = dict(ranked)


def _add_metrics(files: OrbaxFiles, drafts: DraftTree, leaves: Iterable[TreeLeaf]) -> None:
    own = [leaf for leaf in leaves if leaf.path[0] == METRICS and len(leaf.path) > 1]
    if not own:
        return
    name = "metrics" if "metrics" not in drafts[ROOT].children else "metrics/"
    top = drafts.add(ROOT, name)
    drafts[top].role = Role.CONTAINER
    for leaf in own:
        node = top
        for step in leaf.path[1:-1]:
            node = drafts.add(node, step)
        drafts.add_value(node, leaf.path[-1], _value(files, leaf.name))
