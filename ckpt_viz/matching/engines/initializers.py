"""Warm starts: which variable gets which tensor of a file as its initial value.

Follows `_init_from_checkpoint` in tensorflow/python/training/checkpoint_utils.py: it takes the keys
of an assignment map in their order, and replaces the initializers of variables one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.read_failures import fits, tensor_shape, wrong_shape
from ckpt_viz.matching.engines.saved_graph import misread
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Read, Step

_PART = "/part_"
_FINALIZED = "The graph is finalized, and the call adds operations"


class Partition(NamedTuple):
    """The variable that a partition is a part of."""

    full_name: str
    full_shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WarmVariable:
    """What the call asks of a variable; `name` is the one in TensorFlow's messages.

    `is_foreign` says that this is no variable of TensorFlow: it lacks what the call needs.
    `refusal` is what replacing the initializer raises because of the variable's graph.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    partition: Partition | None = None
    is_reference: bool = False
    class_name: str = ""
    is_foreign: bool = False
    refusal: Failure | None = None


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A pair of an assignment map: a name in the file, and a name, a variable or a list of them.

    `variables` are ids. `failure` is what TensorFlow raises for a value that is none of these.
    """

    key: str
    name: str | None = None
    variables: tuple[int, ...] = ()
    is_list: bool = False
    failure: Failure | None = None


@dataclass(frozen=True)
class WarmCall:
    """One call of `init_from_checkpoint`; or the variables that a vocabulary initializes."""

    entries: tuple[MapEntry, ...] = ()
    by_vocabulary: tuple[int, ...] = ()


class MappedScope(NamedTuple):
    """A pair that TensorFlow takes for scopes: the program's scope, and how many names it has."""

    key: str
    value: str
    scope: str
    names: int


@dataclass(frozen=True)
class VariableStore:
    """The variables that `get_variable` has made, by name: the only ones that names reach."""

    ids: Mapping[str, int]
    _sorted: list[str] = field(default_factory=list, init=False, repr=False)

    def named(self, name: str) -> tuple[int, ...]:
        """Return the variable of a name, or its partitions; empty if there is none."""
        if name in self.ids:
            return (self.ids[name],)
        names = takewhile(self.ids.__contains__, (f"{name}{_PART}{i}" for i in count()))
        return tuple(self.ids[part] for part in names)

    def in_scope(self, scope: str) -> Sequence[str]:
        """Return the names of the variables in a scope; "" is the scope of all."""
        if len(self._sorted) != len(self.ids):
            self._sorted[:] = sorted(self.ids)
        start = f"{scope}/" if scope else ""
        first = bisect_left(self._sorted, start)
        beginning = (self._sorted[i] for i in range(first, len(self._sorted)))
        names = takewhile(lambda name: name.startswith(start), beginning)
        return sorted({name.partition(_PART)[0] for name in names})

    def reached(self, entry: MapEntry) -> Iterator[tuple[int, ...]]:
        """Yield the variables that a pair means, partitions of one variable together."""
        if entry.name is None:
            yield entry.variables
            return
        is_named = self.named(entry.name)
        names = (entry.name,) if is_named else self.in_scope(scope_of(entry.name))
        yield from filter(None, map(self.named, names))


def scope_of(value: str) -> str:
    """Return the scope that TensorFlow takes a value for: what is before its last slash.

    >>> scope_of("bert/encoder/"), scope_of("bert/encoder"), scope_of("bert")
    ('bert/encoder', 'bert', '')
    """
    return value[: value.rindex("/")] if "/" in value else ""


@dataclass(frozen=True)
class WarmSide:
    """What a call meets: the program's variables and store, and the tensors of the file.

    `node_of` has the node of each variable. `path` is the one in messages. In a graph, `is_eager`
    is False.
    """

    variables: Sequence[WarmVariable]
    node_of: Mapping[int, int]
    store: VariableStore
    tensors: Mapping[str, Stored]
    path: str
    is_eager: bool = False
    is_finalized: bool = False


@dataclass(frozen=True)
class WarmTrace(NameTrace):
    """What a warm start would do: a step for each initializer, also beyond what raises.

    The call goes on after a failure that only a session raises. `scopes` are the mapped scopes, and
    `empty_lists` the keys of lists without a variable. A vocabulary decides about the rows of the
    variables `by_vocabulary`.
    """

    scopes: list[MappedScope] = field(default_factory=list)
    empty_lists: list[str] = field(default_factory=list)
    by_vocabulary: list[int] = field(default_factory=list)

    @property
    def raised_later(self) -> Failure | None:
        """What a session raises that runs the initializers; None if it raises nothing."""
        failing = (step for step in self.steps if step.failure is not None)
        return next((step.failure for step in failing if not step.raises), None)

    def replaced(self) -> Iterator[tuple[int, str]]:
        """Yield the variables with new initializers, and the tensors that these read."""
        for step in self.steps:
            if step.obj is not None and not step.raises:
                yield step.obj, step.name

    def before_error(self) -> set[int]:
        """Return the variables with new initializers before the call raises, if it does."""
        raising = (place for place, step in enumerate(self.steps) if step.raises)
        before = replace(self, steps=self.steps[: next(raising, None)])
        return {*self.by_vocabulary, *(obj for obj, _ in before.replaced())}


def match_initializers(calls: Sequence[WarmCall], side: WarmSide) -> WarmTrace:
    """Return what these calls do, one after the other. Of several values, the last one counts."""
    run = _Run(side)
    for call in calls:
        run.trace.by_vocabulary.extend(side.node_of[variable] for variable in call.by_vocabulary)
        for entry in sorted(call.entries, key=lambda entry: entry.key):
            run.take(entry)
    for obj, tensor in run.source_of.items():
        run.trace.bound.setdefault(tensor, []).append(obj)
    return run.trace


class _Run:
    def __init__(self, side: WarmSide) -> None:
        self.trace = WarmTrace()
        self.source_of: dict[int, str] = {}
        self._side = side

    def take(self, entry: MapEntry) -> None:
        """Take one pair of the map."""
        key, name, variables, is_list = entry.key, entry.name, entry.variables, entry.is_list
        if name is not None:
            variables, is_list = self._side.store.named(name), name not in self._side.store.ids
        if entry.failure is not None:
            self._add(variables, key, entry.failure)
        elif name is not None and not variables:
            self._take_scope(key, name)
        elif (failure := self._refusal(key, variables, is_list=is_list)) is not None:
            self._add(variables, key, failure)
        else:
            self.trace.empty_lists.extend([] if variables else [key])
            self._replace(variables, key, is_list=is_list)

    def _refusal(self, key: str, variables: tuple[int, ...], *, is_list: bool) -> Failure | None:
        """Return what the call raises for a pair before it replaces an initializer."""
        stored = self._side.tensors.get(key)
        if stored is None:
            return self._missing(key)
        variable = None if is_list else self._side.variables[variables[0]]
        if variable is None:
            return None
        if variable.is_foreign:
            return _no_attribute(variable, key)
        if fits(variable.shape, stored.shape):
            return None
        message = (
            f"Shape of variable {variable.name} ({tensor_shape(variable.shape)}) doesn't match "
            f"with shape of tensor {key} ({list(stored.shape or ())}) from checkpoint reader."
        )
        return wrong_shape("ValueError", message, stored.shape, variable.shape)

    def _missing(self, called: str) -> Failure:
        message = f"Tensor {called} is not found in {self._side.path} checkpoint"
        return Failure(Cause.KEY_MISSING, "ValueError", message)

    def _take_scope(self, key: str, value: str) -> None:
        scope, store = scope_of(value), self._side.store
        if not key.endswith("/"):
            message = (
                f"Assignment map with scope only name {scope} should map to scope only {key}. "
                "Should be 'scope/': 'other_scope/'."
            )
            self._add((), key, Failure(Cause.NO_VARIABLE, "ValueError", message, actual=value))
            return
        names = store.in_scope(scope)
        self.trace.scopes.append(MappedScope(key, value, scope, len(names)))
        for name in names:
            tensor, variables = _tensor_of(key, value, scope, name), store.named(name)
            if tensor not in self._side.tensors:
                called = f"{tensor} ({name[len(scope) + 1 :]} in {key})"
                self._add(variables, tensor, self._missing(called))
            elif not variables:  # what is before "/part_" in a name is no variable
                message = "'NoneType' object has no attribute 'dtype'"
                self._add((), tensor, Failure(Cause.CODE, "AttributeError", message))
            else:
                self._replace(variables, tensor, is_list=name not in store.ids)

    def _replace(self, variables: tuple[int, ...], tensor: str, *, is_list: bool) -> None:
        """Replace the initializer of a variable, or those of partitions."""
        full_name = None
        for number in variables:
            variable, partition = self._side.variables[number], None
            if is_list:
                partition = variable.partition
                refused = _no_partition(variable, tensor, full_name)
                if refused is not None:
                    self._add((number,), tensor, refused)
                    return
                assert partition is not None
                full_name = full_name or partition.full_name
            failure = self._failure_of(variable, tensor, partition)
            self._add([number], tensor, failure)
            if failure is not None and not failure.in_session:
                return

    def _failure_of(
        self, variable: WarmVariable, tensor: str, partition: Partition | None
    ) -> Failure | None:
        """Return what replacing an initializer raises, now or in a session."""
        if self._side.is_finalized:
            message = "Graph is finalized and cannot be modified."
            said = (_FINALIZED, "Make the call before the graph is finalized.")
            return Failure(Cause.CODE, "RuntimeError", message, said=said)
        stored = self._side.tensors[tensor]
        read = Read(tensor, variable.dtype, full_shape=partition and partition.full_shape)
        unread_failure = misread(read, stored)
        if self._side.is_eager and unread_failure is not None:
            return unread_failure
        if variable.refusal is not None:
            return variable.refusal
        failure = unread_failure or self._unassigned(variable, partition, stored)
        return failure and replace(failure, in_session=not self._side.is_eager)

    def _unassigned(
        self, variable: WarmVariable, partition: Partition | None, stored: Stored
    ) -> Failure | None:
        """Return what assigning a value raises. A graph's resource variables take any shape."""
        if partition is not None or fits(variable.shape, stored.shape):
            return None
        if self._side.is_eager:
            message = (
                f"Received incompatible tensor with shape {tensor_shape(stored.shape)} when "
                f"attempting to restore variable with shape {tensor_shape(variable.shape)}"
            )
            return wrong_shape("ValueError", message, stored.shape, variable.shape)
        if not variable.is_reference or variable.shape is None or None in variable.shape:
            return None
        message = (
            f"Assign requires shapes of both tensors to match. lhs shape= {variable.shape} rhs "
            f"shape= {stored.shape}"
        )
        return wrong_shape("InvalidArgumentError", message, stored.shape, variable.shape)

    def _add(self, variables: Sequence[int], tensor: str, failure: Failure | None) -> None:
        """Add the step of the first of some variables, or of none."""
        obj = self._side.node_of[variables[0]] if variables else None
        is_missing = failure is not None and failure.cause is Cause.KEY_MISSING
        action = Action.RESTORE if failure is None else Action.FAIL
        read = () if is_missing or obj is None else (tensor,)
        step = Step(action, None, obj, None, tensor, read, failure)
        if step not in self.trace.steps[-1:]:  # of partitions, one after the other
            self.trace.steps.append(step)
        if obj is None:
            return
        if is_missing:
            self.trace.unused[obj] = (*self.trace.unused.get(obj, ()), tensor)
        elif failure is None:
            self.source_of[obj] = tensor
        elif failure.in_session:
            self.source_of.pop(obj, None)


def _tensor_of(key: str, value: str, scope: str, name: str) -> str:
    """Return the tensor that a scope's key means for a variable, as TensorFlow puts it together."""
    own = name[len(scope) :]
    if value != "/":
        own = own[1:]
    return (own if key == "/" else key + own).removesuffix("/")


def _no_attribute(variable: WarmVariable, key: str, attribute: str = "get_shape") -> Failure:
    message = f"'{variable.class_name}' object has no attribute '{attribute}'"
    said = (
        f"The call takes only variables of TensorFlow; {key!r} has one of another class",
        "Pass variable.value of a Keras variable; restore others with tf.train.Checkpoint.",
    )
    return Failure(Cause.CODE, "AttributeError", message, said=said)


def _no_partition(variable: WarmVariable, key: str, full_name: str | None) -> Failure | None:
    """Return why a variable cannot be in a list of partitions of this name."""
    if variable.is_foreign:
        return _no_attribute(variable, key, "_save_slice_info")
    if variable.partition is None:
        message = "'NoneType' object has no attribute 'full_name'"
        sentence = f"The list for {key!r} has a variable that is not a partition"
        said = (sentence, "Pass the variable without a list.")
        return Failure(Cause.CODE, "AttributeError", message, said=said)
    other = variable.partition.full_name
    if full_name is not None and other != full_name:
        message = f"Slices must all be from the same tensor: {full_name} != {other}"
        return Failure(Cause.CODE, "ValueError", message)
    return None
