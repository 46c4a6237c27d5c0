"""An assignment map, or the settings of a warm start, as the live side: which variables it means.

The map of `tf.compat.v1.train.init_from_checkpoint` is a dict, or a list of pairs. `warm_start` and
`tf.estimator.WarmStartSettings` choose variables and make such maps. This module adds no operation
and no variable store.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.live.sessions.saved_by_saver import operation_name
from ckpt_viz.live.sessions.saver import is_of_graph, nodes_of_variables
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.tensorflow_names import tensorflow_warm_start as tf_warm
from ckpt_viz.matching.engines.initializers import (
    MapEntry,
    Partition,
    VariableStore,
    WarmCall,
    WarmVariable,
)
from ckpt_viz.matching.engines.trace import Cause, Failure

_FIELDS = (
    "ckpt_to_initialize_from",
    "vars_to_warm_start",
    "var_name_to_vocab_info",
    "var_name_to_prev_var_name",
)
_UNUSED = (
    "The settings name variables that the warm start does not take",
    "Leave these names out, or correct them.",
)
_OTHER_GRAPH = (
    "A variable is not of the default graph, to which the call adds operations",
    "Make the call, and this check, inside as_default() of the variable's graph.",
)


def is_warm_start(source: object) -> bool:
    """Return whether a source is an assignment map, or the settings of a warm start."""
    return "tensorflow" in sys.modules and (is_settings(source) or is_assignment_map(source))


def is_assignment_map(source: object) -> bool:
    """Return whether a source is a map from names in a file to variables, or to their names.

    A dict of other objects is none, and neither is an empty one.
    """
    if not isinstance(source, (Mapping, list, tuple)) or tf_private.is_trackable(source):
        return False
    pairs = pairs_of(source)
    return bool(pairs) and all(isinstance(key, str) and _is_value(value) for key, value in pairs)


def is_settings(source: object) -> bool:
    """Return whether an object has the fields of `tf.estimator.WarmStartSettings`."""
    own = getattr(source, "__dict__", {})
    return all(name in own or hasattr(type(source), name) for name in _FIELDS)


def pairs_of(source: object) -> list[tuple[Any, Any]]:
    """Return the pairs of a map; none for what is neither a dict nor a list of pairs."""
    if isinstance(source, Mapping):
        return list(source.items())
    items = source if isinstance(source, (list, tuple)) else ()
    if all(isinstance(item, (list, tuple)) and len(item) == 2 for item in items):
        return [(key, value) for key, value in items]
    return []


def _is_value(value: object) -> bool:
    if isinstance(value, list):
        return all(map(tf_private.is_variable, value))
    return (
        isinstance(value, str)
        or tf_private.is_variable(value)
        or tf_savers.is_partitioned_variable(value)
    )


def path_in(source: object) -> object:
    """Return the path in the settings of a warm start; None for an assignment map."""
    return getattr(source, _FIELDS[0], None) if is_settings(source) else None


def name_of_call(source: object) -> str:
    """Return the name of the call that takes this source."""
    return "warm_start" if is_settings(source) else "init_from_checkpoint"


class Grouped(NamedTuple):
    """The variables that settings choose, by name: partitions of one variable together."""

    groups: Mapping[str, tuple[int, ...]]
    vocabularies: Mapping[str, Any]
    former_names: Mapping[str, str]
    with_vocabularies_alone: bool


@dataclass(frozen=True)
class WarmProgram:
    """The variables of a program, as a warm start finds them, by the id that entries use.

    `named` are those that the source means. `node_of` has the node of each variable.
    """

    objects: Sequence[Any]
    variables: Sequence[WarmVariable]
    store: VariableStore
    nodes: tuple[Node, ...]
    node_objects: tuple[object | None, ...]
    node_of: Mapping[int, int]
    named: frozenset[int]
    entries: tuple[MapEntry, ...] = ()
    grouped: Grouped | None = None

    @cached_property
    def others(self) -> tuple[int, ...]:
        """The nodes of the variables that the source does not mean."""
        named = {self.node_of[variable] for variable in self.named}
        nodes = {node for variable, node in self.node_of.items() if variable not in self.named}
        return tuple(sorted(nodes - named))


def read_named(source: object) -> tuple[tuple[Node, ...], tuple[object | None, ...]]:
    """Return the nodes of the variables that a source means, and by node id the variables."""
    program = read_program(source, is_whole=False)
    return program.nodes, program.node_objects


def read_program(source: object, *, is_whole: bool = True) -> WarmProgram:
    """Return the variables that a source means, and if `is_whole`, all others of the program.

    Raises SourceError for settings that choose no variables.
    """
    ids = _Ids()
    store = VariableStore({name: ids.of(v) for name, v in tf_warm.store().items()})
    entries: tuple[MapEntry, ...] = ()
    grouped = None
    if is_settings(source):
        grouped = _grouped(source, ids)
        together = list(grouped.groups.values())
    else:
        entries = tuple(_entry(key, value, ids) for key, value in pairs_of(source))
        together = [group for entry in entries for group in store.reached(entry)]
    named = frozenset(variable for group in together for variable in group)
    if is_whole and not tf_private.is_eager_now():  # else the default graph is not the program's
        for variable in tf_warm.global_variables():
            ids.of(variable)
    objects = ids.objects
    shown = range(len(objects)) if is_whole else sorted(named)
    variables = [_described(obj) for obj in objects]
    nodes, node_objects, node_of = _nodes(objects, variables, together, shown)
    return WarmProgram(
        objects, variables, store, nodes, node_objects, node_of, named, entries, grouped
    )


class _Ids:
    """Numbers for variables, by identity."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._ids: dict[int, int] = {}

    def of(self, variable: Any) -> int:
        number = self._ids.setdefault(id(variable), len(self.objects))
        if number == len(self.objects):
            self.objects.append(variable)
        return number


def _entry(key: str, value: Any, ids: _Ids) -> MapEntry:
    if isinstance(value, str):
        return MapEntry(key, name=value)
    if isinstance(value, list):
        return MapEntry(key, variables=tuple(map(ids.of, value)), is_list=True)
    if tf_private.is_variable(value):
        return MapEntry(key, variables=(ids.of(value),))
    message = f"unsupported operand type(s) for +: '{type(value).__name__}' and 'str'"
    said = (
        f"The call takes no PartitionedVariable, as {key!r} has it",
        "Pass list(variable), its partitions.",
    )
    failure = Failure(Cause.CODE, "TypeError", message, said=said)
    return MapEntry(key, variables=tuple(map(ids.of, value)), is_list=True, failure=failure)


def _described(variable: Any) -> WarmVariable:
    info = tf_savers.save_slice_info(variable)
    return WarmVariable(
        str(variable.name),
        tf_private.base_dtype_name(variable.dtype),
        tf_private.partial_shape(variable.shape),
        Partition(info.full_name, tuple(info.full_shape)) if info is not None else None,
        tf_restore.is_reference(variable),
        type(variable).__name__,
        not hasattr(type(variable), "get_shape"),
        _refusal(variable),
    )


def _refusal(variable: Any) -> Failure | None:
    """Return what replacing the initializer raises outside of the variable's own graph."""
    is_in_graph, is_eager = is_of_graph(variable), tf_private.is_eager_now()
    if is_in_graph != is_eager and (is_eager or variable.graph is tf_private.default_graph()):
        return None
    name = "ValueError" if is_in_graph else "RuntimeError"
    if is_eager:
        message = "Can only save/restore ResourceVariables when executing eagerly, got type: "
        message += f"{type(variable).__name__}."
    elif is_in_graph:
        message = f"{variable.name} must be from the same graph as the checkpoint's operations."
    else:
        message = "resource: Attempting to capture an EagerTensor without building a function."
    return Failure(Cause.CODE, name, message, said=_OTHER_GRAPH)


# --- names and nodes


def _nodes(
    objects: Sequence[Any],
    variables: Sequence[WarmVariable],
    together: Sequence[tuple[int, ...]],
    shown: Sequence[int],
) -> tuple[tuple[Node, ...], tuple[object | None, ...], Mapping[int, int]]:
    """Return nodes and their objects, and by variable its node."""
    items: dict[str, Any] = {}
    numbers: Counter[str] = Counter()
    groups = _partitions(variables, together, shown)
    for group in groups:
        first = variables[group[0]]
        if len(group) > 1 and first.partition is not None:
            name, item = first.partition.full_name, [objects[part] for part in group]
        else:
            name, item = _name(objects[group[0]]), objects[group[0]]
        items[_free(name, items, numbers)] = item
    nodes, node_objects = nodes_of_variables(items)
    node_at = {
        id(part): node
        for node, obj in enumerate(node_objects)
        for part in (obj if isinstance(obj, list) else [obj])
        if obj is not None
    }
    return nodes, node_objects, {n: node_at[id(objects[n])] for group in groups for n in group}


def _partitions(
    variables: Sequence[WarmVariable], together: Sequence[tuple[int, ...]], shown: Sequence[int]
) -> Sequence[tuple[int, ...]]:
    """Return the shown variables, those partitions in one group that always go together."""
    lists = {group for group in map(_without_copies, together) if _is_one(group, variables)}
    lists |= set(_parts_of_others(variables, shown, {n for group in together for n in group}))
    uses = Counter(variable for group in {*lists, *together} for variable in set(group))
    kept = {group[0]: group for group in lists if all(uses[part] == 1 for part in group)}
    inner = {part for group in kept.values() for part in group[1:]}
    return [kept.get(n, (n,)) for n in shown if n not in inner]


def _without_copies(group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(group))


def _is_one(group: tuple[int, ...], variables: Sequence[WarmVariable]) -> bool:
    """Return whether several variables are partitions of one."""
    partitions = {variables[part].partition for part in group}
    return len(group) > 1 and len(partitions) == 1 and None not in partitions


def _parts_of_others(
    variables: Sequence[WarmVariable], shown: Sequence[int], named: set[int]
) -> Iterator[tuple[int, ...]]:
    """Yield the partitions that belong together, of variables that the source does not mean."""
    groups: dict[Partition, list[int]] = {}
    for number in shown:
        partition = variables[number].partition
        if partition is not None and number not in named:
            groups.setdefault(partition, []).append(number)
    yield from (tuple(parts) for parts in groups.values() if len(parts) > 1)


def _name(variable: Any) -> str:
    """Return the name of a variable: of its operation, its path in Keras 3, or an eager one's."""
    own = operation_name(variable) if tf_private.is_tf_variable(variable) else None
    path = None if tf_private.is_tf_variable(variable) else getattr(variable, "path", None)
    return own or path or str(variable.name).partition(":")[0]


def _free(name: str, taken: Mapping[str, Any], numbers: Counter[str]) -> str:
    """Return a name that no other variable has: those of eager variables need not be unique.

    `numbers` has the last number that was added to each name.
    """
    numbered = name
    while numbered in taken:
        numbers[name] += 1
        numbered = f"{name}_{numbers[name]}"
    return numbered


# --- the settings of a warm start


def _grouped(settings: Any, ids: _Ids) -> Grouped:
    """Return the variables that settings choose, as `_get_grouped_variables` does."""
    chosen = settings.vars_to_warm_start
    groups: dict[str, list[int]] = {}
    for variable in _chosen(chosen):
        (name,) = tf_savers.names_to_save([variable])
        groups.setdefault(name, []).append(ids.of(variable))
    return Grouped(
        {name: tuple(parts) for name, parts in groups.items()},
        dict(settings.var_name_to_vocab_info or {}),
        dict(settings.var_name_to_prev_var_name or {}),
        with_vocabularies_alone=not chosen,
    )


def _chosen(chosen: Any) -> list[Any]:
    if isinstance(chosen, str) or chosen is None:
        return tf_warm.trainable_variables(chosen)
    if isinstance(chosen, list) and all(isinstance(scope, str) for scope in chosen):
        return [v for scope in chosen for v in tf_warm.global_variables(scope)]
    if isinstance(chosen, list) and all(map(tf_private.is_variable, chosen)):
        return chosen
    raise SourceError(
        f"vars_to_warm_start: found {type(chosen).__name__}, expected a regular expression, or a "
        "list of scopes or variables"
    )


def calls_of(program: WarmProgram, renamed: Mapping[str, str]) -> tuple[WarmCall, ...]:
    """Return the calls of `init_from_checkpoint` that a source leads to, in their order.

    `renamed` has the names in the file by the names of variables, where they differ.
    """
    grouped = program.grouped
    if grouped is None:
        return (WarmCall(program.entries),)
    calls: list[WarmCall] = []
    entries: dict[str, MapEntry] = {}
    for name, parts in grouped.groups.items():
        if grouped.vocabularies.get(name):
            calls.append(WarmCall(by_vocabulary=parts))
            continue
        if grouped.with_vocabularies_alone:
            continue
        key = renamed.get(name) or name
        if key in entries:  # a map has each name once
            calls.append(WarmCall(tuple(entries.values())))
            entries.clear()
        entries[key] = MapEntry(key, variables=parts, is_list=len(parts) > 1)
    return (*calls, *([WarmCall(tuple(entries.values()))] if entries else []))


def unused_names(grouped: Grouped, renamed: Mapping[str, str]) -> Failure | None:
    """Return what a warm start raises at its end for names that it did not use."""
    texts = []
    for field, names in (
        (_FIELDS[3], [name for name in renamed if not _is_used(name, grouped, renamed)]),
        (_FIELDS[2], [n for n in grouped.vocabularies if not _is_used(n, grouped, grouped[1])]),
    ):
        if names:
            texts.append(
                f"You provided the following variables in {field} that were not used: "
                f"{set(names)}.  Perhaps you misspelled them?"
            )
    return Failure(Cause.NO_VARIABLE, "ValueError", texts[0], said=_UNUSED) if texts else None


def _is_used(name: str, grouped: Grouped, values: Mapping[str, Any]) -> bool:
    return name in grouped.groups and bool(values[name])
