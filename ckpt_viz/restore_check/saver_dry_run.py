"""A `tf.compat.v1.train.Saver` as the live side: what its `restore` would touch.

Follows `Saver.restore` in tensorflow/python/training/saver.py. A Saver restores all names at once:
the keys of an object-based checkpoint, or else the full names of its variables. Its `restore`
returns no status; the asserts of this check pass if the call would not raise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from ckpt_viz.formats.files import is_file
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live import tensorflow_restore as tf_restore
from ckpt_viz.live.live_source import read_live
from ckpt_viz.live.opening import open_as_restore
from ckpt_viz.live.restore_target import RESTORE
from ckpt_viz.live.saver import (
    Assignment,
    assignments,
    graph_of_saver,
    is_of_graph,
    list_in_code,
    names_in_slices,
    number_of_nameless,
    taken_variables,
    variables_of,
)
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.read_failures import fits, wrong_dtype, wrong_shape, wrong_slice
from ckpt_viz.matching.saved_graph import unread
from ckpt_viz.matching.trace import Action, Cause, Failure, Read, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Attribute, Fault, Stored
from ckpt_viz.object_graph.remedy import Advice
from ckpt_viz.restore_check.dry_run import (
    Correction,
    DryRun,
    NoSuchPath,
    Outcome,
    SaversProgram,
    correction_of,
    damage_of,
    prefix_of,
)
from ckpt_viz.restore_check.live_names import LiveNames
from ckpt_viz.restore_check.verdicts import Raised, Verdicts
from ckpt_viz.saved.location import INDEX
from ckpt_viz.saved.saved_access import faulty, with_faults
from ckpt_viz.saved.saved_source import read_saved

_ALTERED = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please "
    "ensure that you have not altered the graph expected based on the checkpoint. Original error:"
    "\n\n{}"
)
_NAME = "a Variable name or other graph key that is missing"
_MISMATCH = "a mismatch between the current graph and the graph"
_NO_TEXT = "Pass the checkpoint's prefix as a string"
_IN_GRAPH = Advice("Call restore, and this check, inside as_default() of the Saver's graph.")


@dataclass(frozen=True)
class SaverOutcome(Outcome):
    """What the `restore` of a Saver would do.

    `remedy` says what to do if the Saver itself cannot restore any file; `path_advice` says what to
    do if the path is not text. `reshapes` says that values are reshaped. For the variables
    `in_parts`, only the last part is restored. `nameless` is the number of variables without a name
    of their own; only the last of them is restored. `keys` has the keys of an object-based
    checkpoint by the names that the Saver reads; None if the names are keys.
    """

    remedy: Advice | None = None
    path_advice: str = ""
    reshapes: bool = False
    in_parts: tuple[int, ...] = ()
    nameless: int = 0
    keys: Mapping[str, str] | None = None
    program: SaversProgram | None = None

    @property
    def caller(self) -> str:
        """A Saver."""
        return "saver"

    @property
    def loses_parts(self) -> bool:
        """Whether only the last part of some variables is restored."""
        return bool(self.in_parts or self.nameless > 1)

    @property
    def saver(self) -> SaversProgram | None:
        """What is known of the Saver's program."""
        return self.program


class _Refusal(NamedTuple):
    """What a Saver always raises because of its own state, and what to do about it."""

    raised: Raised
    remedy: Advice


def saver_dry_run(
    saver: Any, saved: object, faults: Mapping[str, Fault] = MappingProxyType({})
) -> DryRun:
    """Return what `saver.restore(session, saved)` would do; add and run no operation.

    `faults` are the damaged tensors of this checkpoint, by key.
    """
    names = LiveNames(read_live(saver))
    outcome, reading, correction = _checked(saver, names, saved, faults)
    graph = graph_of_saver(saver)
    variables, listed = variables_of(names.graph, saver), list_in_code(saver)
    program = SaversProgram(variables, graph, listed, is_eager=graph is None)
    return DryRun(replace(outcome, program=program), RESTORE, reading, correction)


def _checked(
    saver: Any, names: LiveNames, saved: object, faults: Mapping[str, Fault]
) -> tuple[SaverOutcome, str | None, Correction | None]:
    """Return the outcome, the path as text, and what is known about a wrong one."""
    path = prefix_of(saved) if isinstance(saved, Graph) else saved
    if tf_restore.is_empty(saver):
        return _nothing_to_restore(names), _text(path), None
    if path is None:
        raised = Raised("ValueError", "Can't load save_path when it is None.")
        return _raising(names, raised), None, None
    outcome, reading = _outcome(saver, names, path, faults), _text(path)
    if outcome.path_advice:
        return outcome, reading, NoSuchPath(outcome.path_advice)
    if outcome.verdicts.restore is None or outcome.remedy or outcome.tensors:
        return outcome, reading, None
    correction = correction_of(path, lambda prefix: _outcome(saver, names, prefix).verdicts)
    return outcome, reading, correction or damage_of(str(path))


def _raising(
    names: LiveNames, raised: Raised, *, remedy: Advice | None = None, path_advice: str = ""
) -> SaverOutcome:
    verdicts = Verdicts(raised, raised, raised, raised)
    return SaverOutcome(names, verdicts, remedy=remedy, path_advice=path_advice)


def _nothing_to_restore(names: LiveNames) -> SaverOutcome:
    return SaverOutcome(names, Verdicts(), NameTrace())


def _text(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, bytes) else str(path)


def _outcome(
    saver: Any, names: LiveNames, path: Any, faults: Mapping[str, Fault] = MappingProxyType({})
) -> SaverOutcome:
    """Return what restoring exactly this path does."""
    live = names.graph
    try:
        is_there = tf_restore.finds_checkpoint(path)
    except Exception as error:  # raised by a file system, or for an argument that is no path
        raised = Raised(type(error).__name__, str(error))
        is_text = isinstance(path, (str, bytes))
        return _raising(names, raised, path_advice="" if is_text else _NO_TEXT)
    if not is_there:
        message = f"The passed save_path is not a valid checkpoint: {_text(path)}"
        return _raising(names, Raised("ValueError", message))
    refusal = _refusal(saver, live)
    if refusal is not None:
        return _raising(names, refusal.raised, remedy=refusal.remedy)
    if not taken_variables(saver) and tf_restore.is_eager():
        return _nothing_to_restore(names)
    opened = open_as_restore(path, resolves=False, takes_path_objects=False)
    if opened.failure is not None:
        # A Saver looks for its names before it reads an object graph.
        refused_by = tf_restore.refused_by_operation(path) or opened.failure.type
        return _raising(names, Raised(refused_by, opened.failure.message))
    if opened.tensors is not None:
        is_v1 = not is_file(opened.prefix + INDEX)
        tensors = faulty(opened.tensors, faults)
        return _matched(saver, names, _Names(tensors, one_by_one=is_v1))
    graph = with_faults(read_saved(opened.prefix), faults)
    wanted = [attribute.full_name for node in live.nodes for attribute in node.attributes]
    keys = {name: stored for name in wanted if (stored := graph.stored(name)) is not None}
    if len(keys) == len(wanted):
        return _matched(saver, names, _Names(keys))
    return _matched(saver, names, _full_names(graph))


# --- the Saver


def _refusal(saver: Any, live: Graph) -> _Refusal | None:
    if tf_restore.is_eager():
        return _refusal_when_eager(saver, live)
    if not tf_restore.has_operations(saver):
        is_deferred = tf_private.given_variables(saver) is None
        return _Refusal(
            Raised("AttributeError", "'NoneType' object has no attribute 'restore_op_name'"),
            Advice(
                "Call saver.build() after making all variables, or leave out defer_build=True."
                if is_deferred
                else "Call restore outside of a graph: the Saver was made eagerly."
            ),
        )
    return None


def _refusal_when_eager(saver: Any, live: Graph) -> _Refusal | None:
    """Return what a Saver raises that is built for every call; variables of a graph cannot be."""
    given = taken_variables(saver)
    if not given and not tf_restore.allows_empty(saver):
        remedy = Advice(
            "Give the Saver its variables; for those of a graph, do it inside its as_default()."
        )
        return _Refusal(Raised("ValueError", "No variables to save"), remedy)
    by_list = not isinstance(given, Mapping)
    for obj in range(len(live.nodes)):
        variable = live.object(obj)
        if is_of_graph(variable) and (
            tf_restore.is_reference(variable)
            or (by_list and tf_private.save_slice_info(variable) is None)
        ):
            message = "Can only save/restore ResourceVariables when executing eagerly, got type: "
            return _Refusal(Raised("ValueError", f"{message}{type(variable)}."), _IN_GRAPH)
    return None


def _refusal_to_assign(live: Graph) -> _Refusal | None:
    """Return what assigning to a graph's variables raises outside of the graph."""
    if not tf_restore.is_eager():
        return None
    for obj in range(len(live.nodes)):
        variables: Any = live.object(obj)
        for variable in variables if isinstance(variables, list) else [variables]:
            if is_of_graph(variable) and tf_restore.is_reference(variable):
                message = "assign op does not support eager execution. Arg 'output_ref' is a ref."
                return _Refusal(Raised("RuntimeError", message), _IN_GRAPH)
            if is_of_graph(variable):
                message = f"{variable.op.name} is out of scope and cannot be used here."
                return _Refusal(Raised("TypeError", message), _IN_GRAPH)
    return None


def _refusal_of_second_saver(saver: Any) -> _Refusal | None:
    """Return what building the second Saver raises, which reads an object-based checkpoint."""
    if tf_restore.is_eager() or not tf_restore.adds_operations(saver):
        return None
    if not tf_private.default_graph().finalized:
        return None
    return _Refusal(
        Raised("RuntimeError", "Graph is finalized and cannot be modified."),
        Advice(
            "Restore before the graph is finalized: for an object-based checkpoint, the Saver adds "
            "operations."
        ),
    )


# --- the file


@dataclass(frozen=True)
class _Names:
    """What a Saver finds under a name.

    `keys` maps full names to the keys of an object-based checkpoint, None if the names are keys
    themselves. `one_by_one` says that the file is of the V1 format: the first name with any problem
    counts.
    """

    tensors: Mapping[str, Stored]
    keys: Mapping[str, str] | None = None
    one_by_one: bool = False

    def key(self, name: str) -> str:
        return name if self.keys is None else self.keys[name]


def _full_names(graph: Graph) -> _Names:
    """Return an object-based checkpoint's tensors by the full names of its variables."""
    tensors, keys = {}, {}
    for node in graph.nodes:
        for attribute in node.attributes:
            stored = graph.stored(attribute.checkpoint_key)
            if attribute.full_name and stored is not None:
                tensors[attribute.full_name] = stored
                keys[attribute.full_name] = attribute.checkpoint_key
    return _Names(tensors, keys)


def _matched(saver: Any, live_names: LiveNames, names: _Names) -> SaverOutcome:
    live = live_names.graph
    how = _how(saver, names)
    trace = _match(live, names, names_in_slices(saver), how)
    raised, refusal = _first(trace, names), None
    if names.keys is not None and not trace.unused:
        refusal = _refusal_of_second_saver(saver)
    if raised is None and refusal is None:
        refusal = _refusal_to_assign(live)
    if refusal is not None:
        raised = refusal.raised
    return SaverOutcome(
        live_names,
        Verdicts(raised, raised, raised, raised, (), tuple(trace.unused)),
        trace,
        tensors=names.tensors,
        remedy=refusal.remedy if refusal is not None else None,
        reshapes=any(how(name, None).reshapes for name in trace.bound),
        in_parts=tuple(_in_parts(live)) if raised is None and names.keys is not None else (),
        nameless=number_of_nameless(saver),
        keys=names.keys,
    )


def _how(saver: Any, names: _Names) -> Callable[[str, Any], Assignment]:
    """Return a function from a name, with its variable, to how it is assigned."""
    if tf_restore.is_eager():
        # The second Saver, which reads an object-based checkpoint, is made without `reshape`.
        reshapes = tf_restore.reshapes(saver) and names.keys is None
        return lambda name, variable: Assignment(reshapes, refuses=True)
    if names.keys is not None:
        return lambda name, variable: Assignment(False, tf_restore.is_reference(variable))
    known = assignments(saver)
    return lambda name, variable: known.get(name, Assignment(False, False))


def _in_parts(live: Graph) -> Iterator[int]:
    """Yield the partitioned variables of which the second Saver reads only the last part."""
    for obj, node in enumerate(live.nodes):
        if any(len(attribute.slices) > 1 for attribute in node.attributes):
            yield obj


def _match(
    live: Graph,
    names: _Names,
    in_slices: frozenset[str],
    how: Callable[[str, Any], Assignment],
) -> NameTrace:
    trace = NameTrace()
    reading: list[tuple[int, str, Step]] = []  # when TensorFlow finds the failure
    assigning: list[Step] = []
    for obj, node in enumerate(live.nodes):
        for attribute in node.attributes:
            name = attribute.full_name
            if attribute.error is not None:
                continue  # only the object's own code knows the names
            stored = names.tensors.get(name)
            failure = _unread(attribute, stored, names, is_slice=name in in_slices)
            if failure is not None:
                when = 0 if names.one_by_one else _WHEN.get(failure.cause, len(_WHEN))
                read = () if stored is None else (name,)
                reading.append(
                    (when, name, Step(Action.FAIL, None, obj, None, name, read, failure))
                )
                if stored is None:
                    trace.unused[obj] = (*trace.unused.get(obj, ()), name)
                continue
            assert stored is not None
            variable = live.object(obj)
            failure = _misfit(attribute, stored, variable, how(name, variable))
            if failure is not None:
                assigning.append(Step(Action.FAIL, None, obj, None, name, (name,), failure))
                continue
            trace.steps.append(Step(Action.RESTORE, None, obj, None, name, (name,)))
            trace.bound.setdefault(name, []).append(obj)
    # A Saver reads all tensors before it assigns any.
    in_order = sorted(reading, key=lambda read: read[:2])
    trace.steps[:0] = [step for _, _, step in in_order] + assigning
    return trace


# For all names at once, missing names come first, then other dtypes.
_WHEN = {Cause.KEY_MISSING: 0, Cause.DTYPE: 1}


def _unread(
    attribute: Attribute, stored: Stored | None, names: _Names, *, is_slice: bool
) -> Failure | None:
    """Return what reading the tensor raises."""
    name = attribute.full_name
    if stored is None:
        message = f"Key {name} not found in checkpoint"
        return Failure(Cause.KEY_MISSING, "NotFoundError", message)
    full_shape = attribute.shape if is_slice else None
    read = Read(names.key(name), attribute.dtype, full_shape=full_shape)
    if read.dtype is not None and read.dtype != stored.dtype:
        return wrong_dtype(read, stored)
    if read.full_shape is not None and read.full_shape != stored.shape:
        return wrong_slice(read, stored)
    return unread(None, read.key, stored)


def _misfit(attribute: Attribute, stored: Stored, variable: Any, how: Assignment) -> Failure | None:
    """Return what assigning the value raises. A graph's resource variables accept any shape."""
    is_eager = tf_restore.is_eager()
    accepted: tuple[int | None, ...] | None = attribute.shape
    if how.reshapes:
        if accepted is None and is_eager:
            accepted = tf_private.value_of(variable).shape  # its present length
        if accepted is None or stored.shape is None or _size(accepted) == _size(stored.shape):
            return None
        message = (
            f"Input to reshape is a tensor with {_size(stored.shape)} values, but the requested "
            f"shape has {_size(accepted)}"
        )
        return wrong_shape("InvalidArgumentError", message, stored.shape, accepted)
    if is_eager and accepted is None and hasattr(variable, "shape"):
        accepted = tf_private.partial_shape(variable.shape)
    if not how.refuses or fits(accepted, stored.shape):
        return None
    message = (
        f"Assign requires shapes of both tensors to match. lhs shape= {accepted} rhs "
        f"shape= {stored.shape}"
    )
    refused_by = "ValueError" if is_eager else "InvalidArgumentError"
    return wrong_shape(refused_by, message, stored.shape, accepted)


def _size(shape: tuple[Any, ...]) -> int:
    return prod(shape)


def _first(trace: NameTrace, names: _Names) -> Raised | None:
    failure = trace.raised
    if failure is None:
        return None
    if failure.cause is Cause.KEY_MISSING:
        missing = ", ".join(sorted(name for names in trace.unused.values() for name in names))
        if names.keys is not None:
            return Raised(failure.type, f"Existing variables not in the checkpoint: {missing}")
        return Raised(failure.type, _ALTERED.format(_NAME, f"not found in checkpoint: {missing}"))
    if failure.type == "NotFoundError":
        return Raised(failure.type, _ALTERED.format(_NAME, failure.message))
    if failure.type == "InvalidArgumentError":
        return Raised(failure.type, _ALTERED.format(_MISMATCH, failure.message))
    return Raised(failure.type, failure.message)
