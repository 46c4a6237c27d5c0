"""Weights in Keras 3's layout as nodes: `.weights.h5`, and the weights in a `.keras` archive.

Each object has a group under its path, with its variables in `vars`, by number. Source:
keras/src/saving/saving_lib.py, H5IOStore.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ckpt_viz.files.keras_files.descriptions import descriptions
from ckpt_viz.files.keras_files.drafts import (
    DraftNode,
    DraftNodes,
    StoredWeights,
    class_of,
    describe,
)
from ckpt_viz.files.keras_files.facts import Json, config_of
from ckpt_viz.files.keras_files.orders import OrderOfParts
from ckpt_viz.files.keras_files.state import OwnVariable, is_trained, rows_of, slots_of
from ckpt_viz.files.keras_files.training_order import ModelPart, Trained
from ckpt_viz.files.keras_files.windows_names import (
    CAUSE,
    first_of_windows,
    parents_of,
    with_slashes,
)
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.keras_variables import kind_at, names_in_optimizer, variable_names
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.slots.optimizer_table import Generation, Meaning
from ckpt_viz.ground.text import count, listed

VARIABLES = "vars"
# Of Keras' own layers that hold others, in the order in which they get them.
_ATTRIBUTES = (
    *("forward_layer", "backward_layer"),
    *("query_dense", "key_dense", "value_dense", "output_dense"),
)
_INNER = "inner_optimizer"
_OPTIMIZERS = ("optimizer", _INNER)
# The own variables of a LossScaleOptimizer of Keras 3, which come before those of its optimizer.
_OF_LOSS_SCALE = ("iteration", "learning_rate", "step_counter", "dynamic_scale")
_LAYERS = "layers"
_LISTS_OF_LAYERS = (_LAYERS, "_layer_checkpoint_dependencies")
_METRICS = ("metrics", "_metrics", "compiled_metrics")


def nodes_of_weights(
    stored: StoredWeights, model: Json | None = None
) -> tuple[tuple[Node, ...], tuple[Call, ...], tuple[str, ...]]:
    """Return the nodes of a weights file, the calls of layers by the configuration, and notes.

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
    groups = {with_slashes(path) for path in stored.groups}
    for path, node in ids.items():
        _set_kind(drafts, path, node, groups)
        _add_variables(drafts, path, node, keys.get(path, ()))
    mixed = _lists_in_another_order(drafts, ids.values())
    unsettled = []
    # An optimizer in another one comes first: that one has a copy of its variables.
    for path, node in reversed(ids.items()):
        if drafts[node].role is not Role.OPTIMIZER:
            continue
        inner, words = ids.get(f"{path}/{_INNER}"), _optimizer_at(path, model, ids)
        if words is not None:
            drafts[node].type_name = class_of(words)
        if inner is None or not _set_copies(drafts, node, inner):
            unsettled += _set_slots(drafts, node, words, mixed)
    notes = (*_windows_in_words(stored), *_unsettled_in_words(unsettled))
    return *drafts.finished(), notes


def _windows_in_words(stored: StoredWeights) -> tuple[str, ...]:
    """Return a sentence about groups that Keras does not find."""
    group = first_of_windows(stored.groups)
    if group is None:
        return ()
    return (
        f"the file has groups such as {group}: {CAUSE}, and finds none of them; to write a copy "
        "that Keras loads, call cv.graph(path).write(new_path), or run `ckpt-viz rewrite`",
    )


def _owner_of(path: str) -> str | None:
    """Return the path of the object that a group `vars` belongs to, None for another group."""
    owner, _, name = path.rpartition("/")
    return owner if name == VARIABLES else None


def _add_groups(drafts: DraftNodes) -> dict[str, int]:
    """Add the node of each object and list; return the nodes by path."""
    ids = {"": ROOT}
    groups = {with_slashes(path): path for path in drafts.stored.groups}
    holders = {path.rpartition("/")[0] for path in groups if path}
    is_of_windows = first_of_windows(drafts.stored.groups) is not None
    for path in groups:
        # An attribute may be called `vars`, too: its group holds others.
        if not path or (_owner_of(path) is not None and path not in holders):
            continue
        for place in (*(parents_of(path) if is_of_windows else ()), path):
            parent, _, name = place.rpartition("/")
            if parent in ids and place not in ids:
                ids[place] = drafts.add(ids[parent], name)
    for path, group in groups.items():
        owner = _owner_of(path)
        if owner in ids:
            drafts[ids[owner]].own_name = drafts.stored.text(group, "name")
    return ids


def _keys_by_owner(stored: StoredWeights) -> Mapping[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for key in stored.entries:
        owner = _owner_of(with_slashes(key.rpartition("/")[0]))
        if owner is not None:
            keys.setdefault(owner, []).append(key)
    return {owner: sorted(own, key=_number) for owner, own in keys.items()}


def _number(key: str) -> tuple[int, str]:
    name = key.rpartition("/")[2]
    return (int(name) if name.isdecimal() and len(name) < 10 else 1 << 40), name


def _set_kind(drafts: DraftNodes, path: str, node: int, groups: Collection[str]) -> None:
    draft, (parent, _, name) = drafts[node], path.rpartition("/")
    if name in _OPTIMIZERS:
        draft.role, draft.described = Role.OPTIMIZER, None
    elif draft.role is Role.OBJECT and f"{path}/{VARIABLES}".lstrip("/") not in groups:
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
) -> list[str]:
    """Set the slots of an optimizer; return the names of its states whose owner is unknown.

    `entry` is what an archive says of the optimizer.
    """
    draft = drafts[optimizer]
    values = ((node, drafts[node].value) for node in draft.children.values())
    states = [
        OwnVariable(node, "", value.shape or ()) for node, value in values if value is not None
    ]
    rows = rows_of(draft.type_name or draft.own_name, (_generation(draft, states),))
    options = None
    if entry is not None:
        options = frozenset(name for name, value in config_of(entry).items() if value)
    order = OrderOfParts(_part(drafts, ROOT, drafts.with_values(), mixed))
    slots = slots_of(optimizer, states, order, rows, options)
    for node, slot in slots.by_node.items():
        drafts[node].slot, drafts[node].role = slot, Role.SLOT
    names = {node: name for name, node in draft.children.items()}
    return [names[node] for node in slots.unsettled]


def _set_copies(drafts: DraftNodes, optimizer: int, inner: int) -> bool:
    """Give the last variables of an optimizer names and slots of the one that it is around.

    Keras saves them twice: a LossScaleOptimizer has them after its own. Return whether it does.
    """
    own, copied = _values(drafts, optimizer), _values(drafts, inner)
    first = len(own) - len(copied)
    looks = [[_look(drafts[node]) for node in nodes] for nodes in ([*own][first:], copied)]
    if first < 0 or not copied or looks[0] != looks[1]:
        return False
    names = dict(zip(own, _OF_LOSS_SCALE, strict=False)) if first == len(_OF_LOSS_SCALE) else {}
    for node, (other, name) in zip([*own][first:], copied.items(), strict=True):
        slot = drafts[other].slot
        if slot is not None:
            drafts[node].slot, drafts[node].role = replace(slot, optimizer=optimizer), Role.SLOT
        elif name in _OF_LOSS_SCALE and first:
            names[node] = f"{name}_1"
    drafts.rename(optimizer, names)
    return True


def _values(drafts: DraftNodes, optimizer: int) -> dict[int, str]:
    """Return the names of an optimizer's own variables by their nodes."""
    children = drafts[optimizer].children.items()
    return {node: name for name, node in children if drafts[node].value is not None}


def _look(draft: DraftNode) -> tuple[str | None, tuple[int, ...] | None]:
    value = draft.value
    return (None, None) if value is None else (value.dtype, value.shape)


def _unsettled_in_words(names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence about the states of an optimizer whose owner the file does not tell."""
    if not names:
        return ()
    its, them = ("owner", "it") if len(names) == 1 else ("owners", "them")
    return (
        f"the file does not tell the {its} of {count(len(names), 'state')} of the optimizer "
        f"({listed(names)}): variables of equal shapes may have {them} in any order",
    )


def _generation(optimizer: DraftNode, states: Sequence[OwnVariable]) -> Generation:
    """Return which Keras wrote an optimizer: only Keras 3 saves names, since 3.9, and the rate."""
    scalars = sum(1 for _ in takewhile(lambda state: state.shape == (), states))
    rows = rows_of(optimizer.type_name, (Generation.KERAS_2,))
    has_product = any(slot.meaning is Meaning.NESTEROV_MOMENT for row in rows for slot in row.slots)
    has_rate = scalars > (2 if has_product else 1)  # a counter, and what tracks the moment
    return Generation.KERAS_3 if optimizer.own_name or has_rate else Generation.KERAS_2


def _part(
    drafts: DraftNodes, node: int, valued: Collection[int], mixed: Collection[int]
) -> ModelPart:
    """Return the variables in an object that a training changes, and what the file says of order.

    Keras writes the attributes of an object by their names, and trains them in the order in which
    the object got them. The items of a list have numbers for each class; of `mixed` lists, these
    contradict the order of the file.
    """
    draft = drafts[node]
    config = {} if draft.described is None else config_of(draft.described)
    if draft.role is Role.OPTIMIZER or config.get("trainable") is False:
        return ModelPart()
    values = ((name, child, drafts[child].value) for name, child in draft.children.items())
    own = tuple(
        Trained(child, "", value.shape or ())
        for name, child, value in values
        if value is not None and is_trained(name)
    )
    queues = _in_order(drafts, node, valued)
    parts = {child: _part(drafts, child, valued, mixed) for queue in queues for child in queue}
    direct = {child: None for child in draft.children.values() if child in parts}
    stored = [*direct, *(child for child in parts if child not in direct)]
    is_likely = len(queues) < 2 or (draft.role is Role.CONTAINER and node not in mixed)
    return ModelPart(
        own,
        tuple(tuple(parts[child] for child in queue) for queue in queues),
        tuple(parts[child] for child in stored),
        is_likely,
    )


def _in_order(drafts: DraftNodes, node: int, valued: Collection[int]) -> list[list[int]]:
    """Return the objects in an object in queues: within each, they are in the order of training."""
    draft = drafts[node]
    below = {
        name: child
        for name, child in draft.children.items()
        if child in valued
        and drafts[child].value is None
        and drafts[child].role is not Role.OPTIMIZER
        and name not in _METRICS
    }
    if draft.role is Role.CONTAINER:
        if all(drafts[child].described is not None for child in below.values()):
            return [[*below.values()]]
        by_class: dict[str, list[int]] = {}
        for name, child in below.items():
            by_class.setdefault(_class_and_number(name)[0], []).append(child)
        return [*by_class.values()]
    # A model lists its layers, too: a Functional or Sequential one has all of them there, any other
    # those that no attribute before `layers` has.
    listed_layers = next((below.pop(name) for name in _LISTS_OF_LAYERS if name in below), None)
    if listed_layers is not None and not below:
        return [[listed_layers]]
    public = {name.removeprefix("_"): child for name, child in below.items()}  # some of Keras 2
    known = [public.pop(name) for name in _ATTRIBUTES if name in public]
    queues = [*([known] if known else []), *([child] for child in public.values())]
    return queues if listed_layers is None else queues + _in_order(drafts, listed_layers, valued)


def _lists_in_another_order(drafts: DraftNodes, nodes: Collection[int]) -> set[int]:
    """Sort the items of all lists by the numbers of each class.

    Return the lists whose groups are surely not in the order in which Keras saved them. If all are
    in the order of their names, a different program has copied the file: it is none of Keras.
    """
    lists = [node for node in nodes if _has_unknown_order(drafts, node)]
    names = {node: [*drafts[node].children] for node in lists}
    if all(names[node] == sorted(names[node]) for node in lists):
        for node in lists:
            _sort_items(drafts, node)
        return set(lists)
    return {node for node in lists if not _sort_items(drafts, node)}


def _has_unknown_order(drafts: DraftNodes, node: int) -> bool:
    items = drafts[node].children.values()
    is_list = drafts[node].role is Role.CONTAINER and len(items) > 1
    return is_list and any(drafts[item].described is None for item in items)


def _sort_items(drafts: DraftNodes, node: int) -> bool:
    """Sort the items of a list by the numbers of each class; return whether they were sorted."""
    items = drafts[node].children
    by_class: dict[str, list[str]] = {}
    for name in items:
        by_class.setdefault(_class_and_number(name)[0], []).append(name)
    in_order = {kind: iter(sorted(of, key=_class_and_number)) for kind, of in by_class.items()}
    names = [next(in_order[_class_and_number(name)[0]]) for name in items]
    is_sorted = names == list(items)
    drafts[node].children = {name: items[name] for name in names}
    return is_sorted


def _class_and_number(name: str) -> tuple[str, int]:
    """Return the two parts of an item's name.

    >>> _class_and_number("dense_10"), _class_and_number("dense")
    (('dense', 10), ('dense', 0))
    """
    kind, _, digits = name.rpartition("_")
    is_numbered = bool(kind) and digits.isascii() and digits.isdecimal()
    return (kind, int(digits[-9:])) if is_numbered else (name, 0)


def _optimizer_at(path: str, model: Json | None, groups: Collection[str]) -> Json | None:
    """Return what an archive says of the optimizer at a path, which may be inside another one.

    If `compile` has put a LossScaleOptimizer around it, the archive tells only what was given.
    """
    compiled: Any = None if model is None else model.get("compile_config")
    entry = compiled.get("optimizer") if isinstance(compiled, Mapping) else None
    for attribute in path.split("/")[1:]:
        if isinstance(entry, Mapping) and (attribute != _INNER or _INNER in config_of(entry)):
            entry = config_of(entry).get(attribute)
    is_around = f"{path}/{_INNER}" in groups
    if not isinstance(entry, Mapping) or (is_around and _INNER not in config_of(entry)):
        return None
    return entry
