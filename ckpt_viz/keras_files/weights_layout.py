"""Weights in Keras 3's layout as nodes: `.weights.h5`, and the weights in a `.keras` archive.

Each object has a group under its path, with its variables in `vars`, by number. Source:
keras/src/saving/saving_lib.py, H5IOStore.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ckpt_viz.keras_files.descriptions import descriptions
from ckpt_viz.keras_files.drafts import (
    DraftNode,
    DraftNodes,
    StoredWeights,
    class_of,
    describe,
)
from ckpt_viz.keras_files.facts import Json, config_of
from ckpt_viz.keras_files.state import OwnVariable, Trained, is_trained, rows_of, slots_of
from ckpt_viz.object_graph.calls import Call
from ckpt_viz.object_graph.keras_variables import (
    kind_at,
    names_in_optimizer,
    variable_names,
)
from ckpt_viz.object_graph.nodes import ROOT, Node, Role
from ckpt_viz.object_graph.optimizer_table import Generation, Meaning

VARIABLES = "vars"
# Of Keras' own layers that hold others, in the order in which they get them.
_ATTRIBUTES = (
    *("forward_layer", "backward_layer"),
    *("query_dense", "key_dense", "value_dense", "output_dense"),
)
_OPTIMIZERS = ("optimizer", "inner_optimizer")
_LAYERS = "layers"
_METRICS = ("metrics", "_metrics", "compiled_metrics")


def nodes_of_weights(
    stored: StoredWeights, model: Json | None = None
) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
    """Return the nodes of a weights file, and the calls of layers that the configuration tells.

    `model` is the configuration of an archive, None for a file of weights alone.
    """
    drafts = DraftNodes(stored)
    ids = _add_groups(drafts)
    described = {} if model is None else descriptions(model, ids)
    for path, entry in described.items():
        describe(drafts[ids[path]], entry)
        parent, _, name = path.rpartition("/")
        if name in drafts[ids[parent]].children:  # to the end: all come in the model's order
            siblings = drafts[ids[parent]].children
            siblings[name] = siblings.pop(name)
    keys = _keys_by_owner(stored)
    for path, node in ids.items():
        _set_kind(drafts, path, node)
        _add_variables(drafts, path, node, keys.get(path, ()))
    mixed = {node for node in ids.values() if _sort_items(drafts, node)}
    for path, node in ids.items():
        if drafts[node].role is Role.OPTIMIZER:
            _set_slots(drafts, node, _optimizer_at(path, model), mixed)
    return drafts.finished()


def _owner_of(path: str) -> str | None:
    """Return the path of the object that a group `vars` belongs to, None for another group."""
    owner, _, name = path.rpartition("/")
    return owner if name == VARIABLES else None


def _add_groups(drafts: DraftNodes) -> dict[str, int]:
    """Add the node of each object and list; return the nodes by path."""
    ids = {"": ROOT}
    holders = {path.rpartition("/")[0] for path in drafts.stored.groups if path}
    for path in drafts.stored.groups:
        # An attribute may be called `vars`, too: its group holds others.
        if not path or (_owner_of(path) is not None and path not in holders):
            continue
        parent, _, name = path.rpartition("/")
        if parent in ids:
            ids[path] = drafts.add(ids[parent], name)
    for path in drafts.stored.groups:
        owner = _owner_of(path)
        if owner in ids:
            drafts[ids[owner]].own_name = drafts.stored.text(path, "name")
    return ids


def _keys_by_owner(stored: StoredWeights) -> Mapping[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for key in stored.entries:
        group = key.rpartition("/")[0]
        owner = _owner_of(group)
        if owner is not None:
            keys.setdefault(owner, []).append(key)
    return {owner: sorted(own, key=_number) for owner, own in keys.items()}


def _number(key: str) -> tuple[int, str]:
    name = key.rpartition("/")[2]
    return (int(name) if name.isdecimal() and len(name) < 10 else 1 << 40), name


def _set_kind(drafts: DraftNodes, path: str, node: int) -> None:
    draft, (parent, _, name) = drafts[node], path.rpartition("/")
    if name in _OPTIMIZERS:
        draft.role, draft.described = Role.OPTIMIZER, None
    elif (
        draft.role is Role.OBJECT and f"{path}/{VARIABLES}".lstrip("/") not in drafts.stored.groups
    ):
        draft.role = Role.CONTAINER
    elif parent.rpartition("/")[2] == _LAYERS or draft.own_name is not None or node == ROOT:
        draft.role = Role.LAYER


def _add_variables(drafts: DraftNodes, path: str, node: int, keys: list[str] | tuple[()]) -> None:
    """Add the variables of an object before its other children."""
    draft = drafts[node]
    below, draft.children = draft.children, {}
    names = _names(drafts, path, node, keys)
    for key, name in zip(keys, names, strict=True):
        drafts.add_variable(node, name, key)
    for name, child in below.items():
        draft.children.setdefault(name if name not in draft.children else f"{name}/", child)


def _names(drafts: DraftNodes, path: str, node: int, keys: list[str] | tuple[()]) -> list[str]:
    numbers = [key.rpartition("/")[2] for key in keys]
    draft = drafts[node]
    if [str(i) for i in range(len(keys))] != numbers:
        return numbers
    if draft.role is Role.OPTIMIZER:
        entries = [drafts.stored.entries[key] for key in keys]
        return names_in_optimizer([(entry.dtype, entry.shape) for entry in entries])
    config = None if draft.described is None else config_of(draft.described)
    for kind in (
        draft.type_name,
        kind_at(path.split("/")),
        draft.own_name and kind_at([draft.own_name]),
    ):
        names = variable_names(kind, config, len(keys)) if kind else None
        if names is not None:
            return list(names)
    return numbers


def _set_slots(
    drafts: DraftNodes, optimizer: int, entry: Json | None, mixed: Collection[int]
) -> None:
    """Set the slots of an optimizer; `entry` is what an archive says of it."""
    draft = drafts[optimizer]
    if entry is not None:
        draft.type_name = class_of(entry)
    values = ((node, drafts[node].value) for node in draft.children.values())
    states = [
        OwnVariable(node, "", value.shape or ()) for node, value in values if value is not None
    ]
    rows = rows_of(draft.type_name or draft.own_name, (_generation(draft, states),))
    options = None
    if entry is not None:
        options = frozenset(name for name, value in config_of(entry).items() if value)
    trained, is_ordered = _trained(drafts, mixed)
    slots = slots_of(optimizer, states, trained, rows, options, is_ordered=is_ordered)
    for node, slot in slots.items():
        drafts[node].slot, drafts[node].role = slot, Role.SLOT


def _generation(optimizer: DraftNode, states: Sequence[OwnVariable]) -> Generation:
    """Return which Keras wrote an optimizer: only Keras 3 saves names, since 3.9, and the rate."""
    scalars = sum(1 for _ in takewhile(lambda state: state.shape == (), states))
    rows = rows_of(optimizer.type_name, (Generation.KERAS_2,))
    has_product = any(slot.meaning is Meaning.NESTEROV_MOMENT for row in rows for slot in row.slots)
    has_rate = scalars > (2 if has_product else 1)  # a counter, and what tracks the moment
    return Generation.KERAS_3 if optimizer.own_name or has_rate else Generation.KERAS_2


def _trained(drafts: DraftNodes, mixed: Collection[int]) -> tuple[list[Trained], bool]:
    """Return the variables that a training changes, and whether they are in the model's order.

    Keras writes the attributes of an object by their names, and trains them in the order in which
    the object got them. Only of lists, and of Keras' own layers, do we know both orders, but not of
    `mixed` lists.
    """
    trained: list[Trained] = []
    is_ordered = True
    valued = drafts.with_values()
    stack = [ROOT]
    while stack:
        node = stack.pop()
        draft = drafts[node]
        config = {} if draft.described is None else config_of(draft.described)
        if draft.role is Role.OPTIMIZER or config.get("trainable") is False:
            continue
        for name, child in draft.children.items():
            value = drafts[child].value
            if value is not None and is_trained(name):
                trained.append(Trained(child, "", value.shape or ()))
        below, is_known = _in_order(drafts, node, valued, mixed)
        is_ordered &= is_known
        stack.extend(reversed(below))
    return trained, is_ordered


def _in_order(
    drafts: DraftNodes, node: int, valued: Collection[int], mixed: Collection[int]
) -> tuple[list[int], bool]:
    """Return the objects in an object in the order of their variables, and whether that is sure."""
    draft = drafts[node]
    below = {
        name: child
        for name, child in draft.children.items()
        if child in valued
        and drafts[child].value is None
        and drafts[child].role is not Role.OPTIMIZER
        and name not in _METRICS
    }
    if _LAYERS in below:  # of a Functional or Sequential model: no other attribute counts
        return [below[_LAYERS]], True
    if draft.role is Role.CONTAINER or len(below) < 2:
        return list(below.values()), node not in mixed
    public = {name.removeprefix("_"): child for name, child in below.items()}  # some of Keras 2
    names = [name for name in _ATTRIBUTES if name in public]
    return [public[name] for name in names] or list(below.values()), len(names) == len(below)


def _sort_items(drafts: DraftNodes, node: int) -> bool:
    """Sort the items of a list by the numbers of each class; return whether their order is unsure.

    A file that lacks the configuration has its groups by their addresses. HDF5 may put a later
    group into space that it has freed, so the order of several classes is unknown then.
    """
    items = drafts[node].children
    is_list = drafts[node].role is Role.CONTAINER
    if not is_list or all(drafts[item].described is not None for item in items.values()):
        return False
    by_class: dict[str, list[str]] = {}
    for name in items:
        by_class.setdefault(_class_and_number(name)[0], []).append(name)
    in_order = {kind: iter(sorted(of, key=_class_and_number)) for kind, of in by_class.items()}
    names = [next(in_order[_class_and_number(name)[0]]) for name in items]
    is_sorted = names == list(items)
    drafts[node].children = {name: items[name] for name in names}
    return not is_sorted and len(by_class) > 1


def _class_and_number(name: str) -> tuple[str, int]:
    """Return the two parts of an item's name.

    >>> _class_and_number("dense_10"), _class_and_number("dense")
    (('dense', 10), ('dense', 0))
    """
    kind, _, digits = name.rpartition("_")
    is_numbered = bool(kind) and digits.isascii() and digits.isdecimal()
    return (kind, int(digits[-9:])) if is_numbered else (name, 0)


def _optimizer_at(path: str, model: Json | None) -> Json | None:
    """Return what an archive says of the optimizer at a path, which may be inside another one."""
    compiled: Any = None if model is None else model.get("compile_config")
    entry = compiled.get("optimizer") if isinstance(compiled, Mapping) else None
    for attribute in path.split("/")[1:]:
        entry = config_of(entry).get(attribute) if isinstance(entry, Mapping) else None
    return entry if isinstance(entry, Mapping) else None
