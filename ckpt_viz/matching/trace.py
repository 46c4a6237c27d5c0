"""What a restore would do, step by step: the vocabulary of the matching engine.

Saved nodes go by their node id, objects of the live side by the id that it gave them. The
words are TensorFlow's (tensorflow/python/checkpoint/restore.py): a node is bound to an object, a
child without one is deferred, a slot variable is created or restored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from ckpt_viz.object_graph.nodes import Stored


class Action(str, Enum):
    """What one step of a restore does."""

    BIND = "bind"  # a node is given an object
    KEEP = "keep"  # the child's node has an object already; the live child is not looked up
    DEFER = "defer"  # no live child of this name: the value waits until one is set
    DROP = "drop"  # no live child of this name, and nothing of value below the saved one
    GATHER = "gather"  # what the object will read for its node is determined
    REPEAT = "repeat"  # the object is being restored from another node: this one's values are lost
    UNUSED = "unused"  # attributes of the node that its object has no place for
    VALUELESS = "valueless"  # the node has no values, whatever its object holds
    SKIP_SAVER = "skip saver"  # the node's registered saver is unknown or not strict: not restored
    CREATE = "create"  # the restore makes a variable: a slot variable, a save_counter
    DEFER_SLOT = "defer slot"  # a slot waits, for its optimizer or until it is made
    DROP_SLOT = "drop slot"  # the optimizer has no hook for slots: its slot is forgotten
    RESTORE = "restore"  # values are assigned, or handed to the object's own code
    FAIL = "fail"  # TensorFlow raises here; later steps show what else there is


class Cause(str, Enum):
    """Why a step failed."""

    SHAPE = "shape"
    DTYPE = "dtype"
    KEY_MISSING = "key missing"
    UNREADABLE = "unreadable"  # the value's bytes are not there
    CHILDREN = "children"  # listing an object's children raised: a poisoned container
    PREDICATE = "predicate"  # a registered saver refuses the object
    SLOT_HOOK = "slot hook"  # the optimizer cannot take slot variables
    CODE = "code"  # the object's own code raised
    READER = "reader"  # there is no checkpoint to read
    SCOPE = "scope"  # a distribution strategy's scope is, or is not, active
    STAGES = "stages"  # an iterator's dataset is put together otherwise than the saved one's
    SYMBOLIC = "symbolic"  # an iterator's state was saved symbolically and is read in full, or v.v.
    TWO_NAMES = "two names"  # one variable is to take two saved values
    ABORT = "abort"  # nothing is raised: the process ends


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that TensorFlow would raise: its class by name, and its text.

    `in_session` says that a graph's restore raises it in `run_restore_ops`, not before. `found`
    and `expected` are the shapes or dtypes that differ, in words.
    """

    cause: Cause
    type: str
    message: str
    in_session: bool = False
    found: str = ""
    expected: str = ""


class Step(NamedTuple):
    """One step. What an action does not have is None or empty.

    `parent` is the saved node whose child or slot is looked at, `name` the local name of the
    child or the slot's name; `names` are attributes or keys, or the SlotKind of a slot that waits
    at its optimizer.
    """

    action: Action
    node: int | None
    obj: int | None = None
    parent: int | None = None
    name: str = ""
    names: tuple[str, ...] = ()
    failure: Failure | None = None


class Read(NamedTuple):
    """One tensor that an object will read.

    `dtype` is the one it expects; `shape` what it accepts, None for an unknown dimension or,
    as a whole, for any. `full_shape` is that of the tensor of which it reads a slice.
    """

    key: str
    dtype: str | None
    shape: tuple[int | None, ...] | None = None
    full_shape: tuple[int, ...] | None = None


class Kind(Enum):
    """How an object takes a node's values."""

    NOTHING = "nothing"  # the node has none
    TENSORS = "tensors"
    PYTHON_STATE = "python state"
    REGISTERED = "registered saver"
    SKIPPED = "skipped saver"
    UNUSED = "unused"  # the object has no place for them


class Gathered(NamedTuple):
    """What an object would read for a node.

    `saveable` is the name by which TensorFlow sorts what it restores. `unused` are attributes
    that the object has no place for. `is_opaque` says that code of the object's class decides
    what it makes of the values. `refuses`, if any, returns what assigning these tensors raises
    though dtypes and shapes fit. `targets` are what TensorFlow assigns to, each with its name for
    it: it refuses to assign to one by two names.
    """

    kind: Kind
    reads: tuple[Read, ...] = ()
    saveable: str = ""
    unused: tuple[str, ...] = ()
    is_opaque: bool = False
    refuses: Callable[[Sequence[Stored]], Failure | None] | None = None
    targets: tuple[tuple[str, object], ...] = ()


NOTHING = Gathered(Kind.NOTHING)


class SlotKind(Enum):
    """What an optimizer answers when it is handed a saved slot variable."""

    EXISTING = "existing"  # its slot variable is restored with the rest
    CREATED = "created"
    WAITS = "waits"  # until the slot variable is made
    OUT_OF_SCOPE = "out of scope"  # likewise: it makes none in the strategy's scope that is active
    NO_HOOK = "no hook"  # it is no optimizer that takes slots


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """An optimizer's answer; `obj` is its slot variable.

    `at_once` says that the slot is restored before anything else (tf.compat.v1.train.Optimizer).
    """

    kind: SlotKind
    obj: int | None = None
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class NewCounter:
    """The `save_counter` that a restore makes at its end.

    `from_root` is how many of the saved ones that wait at the root are restored into it; None means
    all. A counter that hangs off a Checkpoint beside the root takes the first one alone. It takes
    none where one of an earlier restore waits, too, and goes first.
    """

    obj: int
    from_root: int | None = None


class Refusal(Exception):
    """Raised by a live side where TensorFlow would raise."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Trace:
    """All steps of a restore, in its order, and what it comes to.

    `bound` is the object of each node that has one. `unused_attributes` are, by node, those
    that no object had a place for. `slots_left` are the nodes of variables whose slots no
    optimizer asked for. `builds_graph` says that nothing is assigned before a session runs it.
    """

    steps: Sequence[Step]
    bound: Mapping[int, int]
    unused_attributes: Mapping[int, tuple[str, ...]]
    slots_left: tuple[int, ...] = ()
    builds_graph: bool = False

    @cached_property
    def _by_action(self) -> Mapping[Action, Sequence[Step]]:
        found: dict[Action, list[Step]] = {action: [] for action in Action}
        for step in self.steps:
            found[step.action].append(step)
        return found

    def steps_of(self, action: Action) -> Sequence[Step]:
        """Return the steps of one action, in order."""
        return self._by_action[action]

    @cached_property
    def binding_steps(self) -> Mapping[int, Step]:
        """For each bound node the step that bound it."""
        steps = self.steps_of(Action.BIND)
        return {step.node: step for step in steps if step.node is not None}

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """The saved nodes of each object that has some, in the order of the binding."""
        found: dict[int, list[int]] = defaultdict(list)
        for node, obj in self.bound.items():
            found[obj].append(node)
        return {obj: tuple(nodes) for obj, nodes in found.items()}

    @cached_property
    def restored(self) -> frozenset[int]:
        """The saved nodes whose values are restored."""
        steps = self.steps_of(Action.RESTORE)
        return frozenset(step.node for step in steps if step.node is not None)

    @cached_property
    def filled(self) -> frozenset[int]:
        """The live objects that a saved value is restored into."""
        return frozenset(self.bound[node] for node in self.restored)

    @cached_property
    def source_of(self) -> Mapping[int, int]:
        """For each object that takes a value, the saved node that it takes it from."""
        found: dict[int, int] = {}
        for step in self.steps_of(Action.RESTORE):
            if step.node is not None and step.obj is not None:
                found.setdefault(step.obj, step.node)
        return found

    @property
    def raised(self) -> Failure | None:
        """What `restore` itself would raise: the first failure; None if it returns.

        Of tensors of the wrong dtype, TensorFlow names all that it reads at once.
        """
        for index, step in enumerate(self.steps):
            if step.failure is not None and not step.failure.in_session:
                together = list(takewhile(_has_read_wrong_dtype, islice(self.steps, index, None)))
                texts = [one.failure.message for one in together if one.failure is not None]
                message = "\n".join(texts) or step.failure.message
                return replace(step.failure, message=message)
        return None


def _has_read_wrong_dtype(step: Step) -> bool:
    failure = step.failure
    return (
        failure is not None
        and failure.cause is Cause.DTYPE
        and failure.type == "InvalidArgumentError"
    )
