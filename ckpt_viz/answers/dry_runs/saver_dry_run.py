"""A `tf.compat.v1.train.Saver` as the live side: what its `restore` would touch.

Follows `Saver.restore` in tensorflow/python/training/saver.py. A Saver restores all names at once:
the keys of an object-based checkpoint, or else the full names of its variables. Its `restore`
returns no status; the asserts of this check pass if the call would not raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of, run_of_path, text_of
from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.answers.dry_runs.outcome import Outcome, SaversProgram
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.files.saved.saved_access import faulty, with_faults
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.formats.storage.files import is_file
from ckpt_viz.graphs.nodes.nodes import Attribute, Fault, Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.remedy import Advice
from ckpt_viz.live.objects.live_source import read_live
from ckpt_viz.live.restoring.opening import open_as_restore
from ckpt_viz.live.restoring.restore_target import RESTORE
from ckpt_viz.live.sessions.saver import (
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
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.read_failures import fits, tensor_shape, wrong_shape
from ckpt_viz.matching.engines.saved_graph import misread
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Read, Step

_ALTERED = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please "
    "ensure that you have not altered the graph expected based on the checkpoint. Original error:"
    "\n\n{}"
)
_NAME = "a Variable name or other graph key that is missing"
_MISMATCH = "a mismatch between the current graph and the graph"
_IN_GRAPH = (
    "This cell is outside of the Saver's graph. With your session, write `with "
    "session.graph.as_default():` around the restore, and around this check."
)


@dataclass(frozen=True)
class SaverOutcome(Outcome):
    """What the `restore` of a Saver would do.

    For the variables `in_parts`, only the last part is restored. `nameless` is the number of
    variables without a name of their own; only the last of them is restored.
    """

    caller: ClassVar[str] = "saver"
    in_parts: tuple[int, ...] = ()
    nameless: int = 0
    program: SaversProgram | None = None

    @property
    def loses_parts(self) -> bool:
        """Whether only the last part of some variables is restored."""
        return bool(self.in_parts or self.nameless > 1)

    @cached_property
    def unknown(self) -> frozenset[int]:
        """The objects whose own code decides which names they read."""
        nodes = enumerate(self.names.graph.nodes)
        return frozenset(
            n for n, node in nodes if any(a.error is not None for a in node.attributes)
        )

    @property
    def saver(self) -> SaversProgram | None:
        """What is known of the Saver's program."""
        return self.program


class _Refusal(NamedTuple):
    """What a Saver always raises because of its own state, and what to do about it."""

    type: str
    message: str
    advice: str


def saver_dry_run(
    saver: Any, saved: object, faults: Mapping[str, Fault] = MappingProxyType({})
) -> DryRun:
    """Return what `saver.restore(session, saved)` would do; add and run no operation.

    `faults` are the damaged tensors of this checkpoint, by key.
    """
    restore = _SaversRestore(saver, LiveNames(read_live(saver)), faults)
    path: Any = prefix_of(saved) if isinstance(saved, Graph) else saved
    if tf_savers.is_empty(saver):
        return DryRun(restore.of_nothing, RESTORE, text_of(path))
    if path is None:
        outcome = restore.raising("ValueError", "Can't load save_path when it is None.")
        return DryRun(outcome, RESTORE)
    return run_of_path(path, RESTORE, restore.outcome_of, (str, bytes))


@dataclass(frozen=True)
class _SaversRestore:
    """A Saver, and what it does with any path."""

    saver: Any
    names: LiveNames
    faults: Mapping[str, Fault]

    @cached_property
    def _program(self) -> SaversProgram:
        graph, live = graph_of_saver(self.saver), self.names.graph
        variables, listed = variables_of(live, self.saver), list_in_code(self.saver)
        return SaversProgram(variables, graph, listed, is_eager=graph is None)

    @property
    def of_nothing(self) -> SaverOutcome:
        """What a Saver without variables does."""
        return SaverOutcome(self.names, Verdicts(), NameTrace(), program=self._program)

    def raising(self, type_name: str, message: str, advice: str = "") -> SaverOutcome:
        """Return that the call raises before it reads any value."""
        raised = Raised(type_name, message)
        remedy = Advice(advice) if advice else None
        verdicts = Verdicts(raised, raised, raised, raised)
        return SaverOutcome(self.names, verdicts, remedy=remedy, program=self._program)

    def outcome_of(self, path: Any) -> SaverOutcome:
        """Return what restoring exactly this path does."""
        saver, live = self.saver, self.names.graph
        try:
            is_there = tf_savers.finds_checkpoint(path)
        except Exception as error:  # raised by a file system, or for an argument that is no path
            return self.raising(type(error).__name__, str(error))
        if not is_there:
            message = f"The passed save_path is not a valid checkpoint: {text_of(path)}"
            return self.raising("ValueError", message)
        refusal = next(_refusals(saver, live), None)
        if refusal is not None:
            return self.raising(*refusal)
        if not taken_variables(saver) and tf_restore.is_eager():
            return self.of_nothing
        opened = open_as_restore(path, resolves=False, takes_path_objects=False)
        if opened.failure is not None:
            # A Saver looks for its names before it reads an object graph.
            refused_by = tf_restore.refused_by_operation(path) or opened.failure.type
            return self.raising(refused_by, opened.failure.message)
        if opened.tensors is not None:
            is_v1 = not is_file(opened.prefix + INDEX)
            return self._matched(_Names(faulty(opened.tensors, self.faults), one_by_one=is_v1))
        graph = with_faults(read_saved(opened.prefix), self.faults)
        wanted = [attribute.full_name for node in live.nodes for attribute in node.attributes]
        keys = {name: stored for name in wanted if (stored := graph.stored(name)) is not None}
        return self._matched(_Names(keys) if len(keys) == len(wanted) else _full_names(graph))

    def _matched(self, names: _Names) -> SaverOutcome:
        live, how, is_by_objects = self.names.graph, _how(self.saver, names), names.keys is not None
        trace = _match(live, names, names_in_slices(self.saver), how)
        raised, is_second = _first(trace, names), is_by_objects and not trace.unused
        refusals = _refusals_to_assign(self.saver, live, is_second=is_second)
        refusal = next(refusals, None) if raised is None or not tf_restore.is_eager() else None
        if refusal is not None:
            raised = Raised(refusal.type, refusal.message)
        in_parts = (obj for obj, attribute in _known_names(live) if len(attribute.slices) > 1)
        return SaverOutcome(
            self.names,
            Verdicts(raised, raised, raised, raised, (), tuple(trace.unused)),
            trace,
            tensors=names.tensors,
            remedy=None if refusal is None else Advice(refusal.advice),
            reshapes=any(how(name, None).reshapes for name in trace.bound),
            in_parts=tuple(in_parts) if raised is None and is_by_objects else (),
            nameless=number_of_nameless(self.saver),
            keys=names.keys,
            program=self._program,
        )


# --- the Saver


def _refusals(saver: Any, live: Graph) -> Iterator[_Refusal]:
    """Yield what a Saver raises before it opens a file: one that is built for every call, too."""
    given = taken_variables(saver)
    if not tf_restore.is_eager() and not tf_savers.has_operations(saver):
        is_deferred = tf_savers.given_variables(saver) is None
        yield _Refusal(
            "AttributeError",
            "'NoneType' object has no attribute 'restore_op_name'",
            "Call saver.build() after making all variables, or leave out defer_build=True."
            if is_deferred
            else "Call restore outside of a graph: the Saver was made eagerly.",
        )
    if not tf_restore.is_eager():
        return
    if not given and not tf_savers.allows_empty(saver):
        advice = (
            "Give the Saver its variables; for those of a graph, do it inside its as_default()."
        )
        yield _Refusal("ValueError", "No variables to save", advice)
    by_list = not isinstance(given, Mapping)
    for variable in filter(is_of_graph, map(live.object, range(len(live.nodes)))):
        is_in_list = by_list and tf_savers.save_slice_info(variable) is None
        if is_in_list or tf_restore.is_reference(variable):
            message = "Can only save/restore ResourceVariables when executing eagerly, got type: "
            yield _Refusal("ValueError", f"{message}{type(variable)}.", _IN_GRAPH)


def _refusals_to_assign(saver: Any, live: Graph, *, is_second: bool) -> Iterator[_Refusal]:
    """Yield what assigning raises outside of the graph, or building a second Saver in a graph.

    The second one reads an object-based checkpoint by the full names.
    """
    if not tf_restore.is_eager():
        is_finalized = tf_private.default_graph().finalized
        if is_second and tf_savers.adds_operations(saver) and is_finalized:
            yield _Refusal(
                "RuntimeError",
                "Graph is finalized and cannot be modified.",
                "Restore before the graph is finalized: for an object-based checkpoint, the Saver "
                "adds operations.",
            )
        return
    items: list[Any] = [live.object(obj) for obj in range(len(live.nodes))]
    variables = (v for item in items for v in (item if isinstance(item, list) else [item]))
    for variable in filter(is_of_graph, variables):
        if tf_restore.is_reference(variable):
            message = "assign op does not support eager execution. Arg 'output_ref' is a ref."
            yield _Refusal("RuntimeError", message, _IN_GRAPH)
        else:
            message = f"{variable.op.name} is out of scope and cannot be used here."
            yield _Refusal("TypeError", message, _IN_GRAPH)


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


def _full_names(graph: Graph) -> _Names:
    """Return an object-based checkpoint's tensors by the full names of its variables."""
    every = ((a.full_name, a.checkpoint_key) for node in graph.nodes for a in node.attributes)
    stored = [(name, key, graph.stored(key)) for name, key in every if name]
    tensors = {name: tensor for name, _, tensor in stored if tensor is not None}
    return _Names(tensors, {name: key for name, key, tensor in stored if tensor is not None})


def _how(saver: Any, names: _Names) -> Callable[[str, Any], Assignment]:
    """Return a function from a name, with its variable, to how it is assigned."""
    if tf_restore.is_eager():
        # The second Saver, which reads an object-based checkpoint, is made without `reshape`.
        reshapes = tf_savers.reshapes(saver) and names.keys is None
        return lambda name, variable: Assignment(reshapes, refuses=True)
    if names.keys is not None:
        return lambda name, variable: Assignment(False, tf_restore.is_reference(variable))
    known = assignments(saver)
    return lambda name, variable: known.get(name, Assignment(False, False))


def _match(
    live: Graph,
    names: _Names,
    in_slices: frozenset[str],
    how: Callable[[str, Any], Assignment],
) -> NameTrace:
    """Return what the Saver does: it reads all tensors before it assigns any, by name."""
    steps: list[tuple[tuple[int, str], Step]] = []  # when TensorFlow finds a failure
    for obj, attribute in _known_names(live):
        name = attribute.full_name
        stored, variable = names.tensors.get(name), live.object(obj)
        failure = _unread(attribute, stored, names, is_slice=name in in_slices)
        order = (len(_WHEN) + 2, name)
        if failure is not None:
            order = (0 if names.one_by_one else _WHEN.get(failure.cause, len(_WHEN)), name)
        elif stored is not None:
            failure = _misfit(attribute, stored, variable, how(name, variable))
            if failure is not None and not tf_restore.is_eager():
                order = (len(_WHEN) + 1, "")  # a session assigns in any order
        action = Action.RESTORE if failure is None else Action.FAIL
        read = () if stored is None else (name,)
        steps.append((order, Step(action, None, obj, None, name, read, failure)))
    trace = NameTrace()
    for _, step in sorted(steps, key=lambda item: item[0]):
        trace.add(step)
    return replace(trace, unused=dict(sorted(trace.unused.items())))


def _known_names(live: Graph) -> Iterator[tuple[int, Attribute]]:
    """Yield the values by object, but those whose names only the object's own code knows."""
    for obj, node in enumerate(live.nodes):
        yield from ((obj, attribute) for attribute in node.attributes if attribute.error is None)


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
    key = name if names.keys is None else names.keys[name]
    full_shape = attribute.shape if is_slice else None
    return misread(Read(key, attribute.dtype, full_shape=full_shape), stored)


def _misfit(attribute: Attribute, stored: Stored, variable: Any, how: Assignment) -> Failure | None:
    """Return what assigning the value raises. A graph's resource variables accept any shape."""
    is_eager = tf_restore.is_eager()
    accepted: tuple[int | None, ...] | None = attribute.shape
    if how.reshapes:
        if accepted is None and is_eager:
            accepted = tf_private.value_of(variable).shape  # its present length
        shapes: list[Any] = [stored.shape, accepted]
        sizes = [None if shape is None else prod(shape) for shape in shapes]
        if None in sizes or sizes[0] == sizes[1]:
            return None
        message = (
            f"Input to reshape is a tensor with {sizes[0]} values, but the requested shape has "
            f"{sizes[1]}"
        )
        return wrong_shape("InvalidArgumentError", message, stored.shape, accepted)
    if is_eager and accepted is None and hasattr(variable, "shape"):
        accepted = tf_private.partial_shape(variable.shape)
    if not how.refuses or fits(accepted, stored.shape):
        return None
    if is_eager:
        message = (
            f"Received incompatible tensor with shape {tensor_shape(stored.shape)} when attempting "
            f"to restore variable with shape {tensor_shape(accepted)} and name "
            f"{attribute.full_name}."
        )
        return wrong_shape("ValueError", message, stored.shape, accepted)
    message = (
        f"Assign requires shapes of both tensors to match. lhs shape= {accepted} rhs "
        f"shape= {stored.shape}"
    )
    return wrong_shape("InvalidArgumentError", message, stored.shape, accepted)


def _first(trace: NameTrace, names: _Names) -> Raised | None:
    failure = trace.raised
    if failure is None:
        return None
    message = failure.message
    if failure.cause is Cause.KEY_MISSING:
        missing = ", ".join(sorted(name for names in trace.unused.values() for name in names))
        if names.keys is not None:
            return Raised(failure.type, f"Existing variables not in the checkpoint: {missing}")
        message = f"not found in checkpoint: {missing}"
    reason = {"NotFoundError": _NAME, "InvalidArgumentError": _MISMATCH}.get(failure.type)
    return Raised(failure.type, _ALTERED.format(reason, message) if reason else message)
