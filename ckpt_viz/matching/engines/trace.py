"""The steps of a restore: the vocabulary of the matching engine.

A node id identifies a saved node; the live side gives each object an id. The words are TensorFlow's
(tensorflow/python/checkpoint/restore.py): a node is bound to an object, a child without one is
deferred, a slot variable is created or restored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Stored


class Action(str, Enum):
    """The action of one step of a restore.

    A bound node waits in a queue. Its visit begins with a step of its own, without a parent, after
    its BIND: a GATHER, REPEAT, UNUSED, VALUELESS, SKIP_SAVER or FAIL, or the RESTORE of a variable
    that the restore made with its value.
    """

    BIND = "bind"  # a node gets an object
    KEEP = "keep"  # the child's node already has an object; the live child is not looked up
    DEFER = "defer"  # no live child of this name: the value waits until one exists
    DROP = "drop"  # no live child of this name, and the file says: no value below the saved one
    GATHER = "gather"  # determine what the object will read for its node
    REPEAT = "repeat"  # the object is being restored from another node: this one's values are lost
    UNUSED = "unused"  # attributes of the node that its object has no place for
    VALUELESS = "valueless"  # the node has no values, whatever its object holds
    SKIP_SAVER = "skip saver"  # the node's registered saver is unknown or not strict: not restored
    CREATE = "create"  # the restore makes a variable: a slot variable, a save_counter
    DEFER_SLOT = "defer slot"  # a slot waits, for its optimizer or until it is made
    DROP_SLOT = "drop slot"  # the optimizer has no hook for slots: TensorFlow forgets its slot
    RESTORE = "restore"  # values are assigned, or passed to the object's own code
    FAIL = "fail"  # TensorFlow raises here; later steps show further problems


class Cause(str, Enum):
    """Why a step failed."""

    SHAPE = "shape"
    DTYPE = "dtype"
    KEY_MISSING = "key missing"
    UNREADABLE = "unreadable"  # the value's bytes are missing
    DAMAGED = "damaged"  # the value's bytes do not match their checksum
    CHILDREN = "children"  # listing an object's children raised: a poisoned container
    PREDICATE = "predicate"  # a registered saver refuses the object
    SLOT_HOOK = "slot hook"  # the optimizer cannot take slot variables
    CODE = "code"  # the object's own code raised
    READER = "reader"  # there is no checkpoint to read
    SCOPE = "scope"  # a distribution strategy's scope is, or is not, active
    STAGES = "stages"  # an iterator's dataset has other stages than the saved one's
    # An iterator's state was saved symbolically and is read in full, or the reverse
    SYMBOLIC = "symbolic"
    TWO_NAMES = "two names"  # two saved values would go into one variable
    NO_VARIABLE = "no variable"  # a name of a map means nothing in the program
    ABORT = "abort"  # no exception: the process ends


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that TensorFlow would raise: the name of its class, and its text.

    `in_session` says that a graph's restore raises it in `run_restore_ops`, not before. `actual`
    and `expected` are the differing shapes or dtypes, in words. `said` is a sentence without its
    end and an advice, where the text says neither what is wrong nor what to do.
    """

    cause: Cause
    type: str
    message: str
    in_session: bool = False
    actual: str = ""
    expected: str = ""
    said: tuple[str, str] | None = None


class Step(NamedTuple):
    """One step. Fields that do not apply to an action are None or empty.

    `parent` is the saved node whose child or slot the step looks at. `name` is the local name of
    the child, the slot's name, or the name of the registered saver that is to restore the object.
    `names` are attributes or keys, or the SlotKind of a slot that waits at its optimizer. A
    registered saver chooses its keys itself.
    """

    action: Action
    node: int | None
    obj: int | None = None
    parent: int | None = None
    name: str = ""
    names: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    def cause(self) -> Cause | None:
        """Why it fails; None if it does not."""
        return None if self.failure is None else self.failure.cause

    @property
    def raises(self) -> bool:
        """Whether the call itself fails here, and no session after it."""
        return self.failure is not None and not self.failure.in_session


class Read(NamedTuple):
    """One tensor that an object will read.

    `dtype` is the expected dtype. `shape` is the accepted shape: None for an unknown dimension, or
    as a whole for any shape. `full_shape` is the shape of the tensor of which it reads a slice.
    """

    key: str
    dtype: str | None
    shape: tuple[int | None, ...] | None = None
    full_shape: tuple[int, ...] | None = None


class Intake(Enum):
    """How an object takes a node's values."""

    NOTHING = "nothing"  # the node has no values
    TENSORS = "tensors"
    PYTHON_STATE = "python state"
    REGISTERED = "registered saver"
    SKIPPED = "skipped saver"
    UNUSED = "unused"  # the object has no place for them


class Gathered(NamedTuple):
    """What an object would read for a node.

    `saveable` is the name by which TensorFlow sorts the values that it restores, or the registered
    saver's name. `unused` are attributes that the object has no place for. `refuses`, if any,
    returns what assigning these tensors raises although dtypes and shapes fit. `targets` are the
    objects that TensorFlow assigns to, each with its name there: TensorFlow refuses to assign to
    one object by two names.
    """

    kind: Intake
    reads: tuple[Read, ...] = ()
    saveable: str = ""
    unused: tuple[str, ...] = ()
    refuses: Callable[[Sequence[Stored]], Failure | None] | None = None
    targets: tuple[tuple[str, object], ...] = ()


NOTHING = Gathered(Intake.NOTHING)


class SlotKind(Enum):
    """An optimizer's answer to a saved slot variable."""

    EXISTING = "existing"  # its slot variable is restored with the rest
    CREATED = "created"
    WAITS = "waits"  # until the slot variable is made
    OUT_OF_SCOPE = "out of scope"  # likewise: it makes no slots in the active strategy's scope
    NO_HOOK = "no hook"  # it is not an optimizer that takes slots


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """An optimizer's answer; `obj` is its slot variable.

    `at_once` says that the slot is restored before all other values (tf.compat.v1.train.Optimizer).
    """

    kind: SlotKind
    obj: int | None = None
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class NewCounter:
    """The `save_counter` that a restore makes at its end.

    `from_root` says how many of the saved counters that wait at the root are restored into it; None
    means all. A counter of a Checkpoint beside the root takes only the first. It takes none if one
    of an earlier restore also waits, because that one goes first. `value_of` is the saved counter
    whose value the new one begins with, by its place among those that wait; None if it begins at 0.
    """

    obj: int
    from_root: int | None = None
    value_of: int | None = None


class Refusal(Exception):
    """Raised by a live side if TensorFlow would raise."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Trace:
    """All steps of a restore, in order, and its result.

    `bound` is the object of each node that has one. `unused_attributes` holds, by node, the
    attributes that no object had a place for. `slots_left` are the nodes of variables whose slots
    no optimizer requested. `builds_graph` says that nothing is assigned before a session runs the
    graph.
    """

    steps: Sequence[Step]
    bound: Mapping[int, int]
    unused_attributes: Mapping[int, tuple[str, ...]]
    slots_left: tuple[int, ...] = ()
    builds_graph: bool = False

    @cached_property
    def _by_action(self) -> Mapping[Action, Sequence[Step]]:
        by_action: dict[Action, list[Step]] = {action: [] for action in Action}
        for step in self.steps:
            by_action[step.action].append(step)
        return by_action

    def steps_of(self, action: Action) -> Sequence[Step]:
        """Return the steps of one action, in order."""
        return self._by_action[action]

    def joining(self, action: Action) -> Iterator[tuple[int, int, Step]]:
        """Yield the steps of one action that have a saved node and an object, with these."""
        for step in self.steps_of(action):
            if step.node is not None and step.obj is not None:
                yield step.node, step.obj, step

    @cached_property
    def binding_steps(self) -> Mapping[int, Step]:
        """For each bound node the step that bound it."""
        steps = self.steps_of(Action.BIND)
        return {step.node: step for step in steps if step.node is not None}

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """The saved nodes bound to each object, in the order of the binding."""
        by_object: dict[int, list[int]] = defaultdict(list)
        for node, obj in self.bound.items():
            by_object[obj].append(node)
        return {obj: tuple(nodes) for obj, nodes in by_object.items()}

    @cached_property
    def restored(self) -> frozenset[int]:
        """The saved nodes whose values reach an object."""
        steps = self.steps_of(Action.RESTORE)
        return frozenset(step.node for step in steps if step.node is not None)

    @cached_property
    def source_of(self) -> Mapping[int, int]:
        """For each object that takes a value, the saved node that supplies it."""
        sources: dict[int, int] = {}
        for node, obj, _ in self.joining(Action.RESTORE):
            sources.setdefault(obj, node)
        return sources

    @property
    def raised(self) -> Failure | None:
        """What `restore` itself would raise: the first failure; None if it returns.

        For tensors of the wrong dtype, TensorFlow names all that it reads in the call.
        """
        for index, step in enumerate(self.steps):
            if step.failure is not None and step.raises:
                together = list(takewhile(_has_read_wrong_dtype, islice(self.steps, index, None)))
                texts = [step.failure.message for step in together if step.failure is not None]
                message = "\n".join(texts) or step.failure.message
                return replace(step.failure, message=message)
        return None


def _has_read_wrong_dtype(step: Step) -> bool:
    is_read = step.failure is not None and step.failure.type == "InvalidArgumentError"
    return is_read and step.cause is Cause.DTYPE
