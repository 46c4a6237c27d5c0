"""The object graph: what TensorFlow calls a `TrackableObjectGraph`, in classes without change.

Source of the terms: tensorflow/core/protobuf/trackable_object_graph.proto. This module
does no I/O and knows neither files nor live objects; readers make its nodes, everything
above reads them. What there are many of is a named tuple, which takes a quarter of the time
of a frozen data class to make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ckpt_viz.object_graph.keys import VARIABLE_VALUE

ROOT = 0
SAVE_COUNTER = "save_counter"  # the local name of a tf.train.Checkpoint's own counter


class Role(str, Enum):
    """What a node is, as far as its source shows.

    A file holds no Python types. A saved graph says `OBJECT` if only a type would show the
    role (layer, container, an optimizer without state).
    """

    OBJECT = "object"
    LAYER = "layer"
    CONTAINER = "container"
    VARIABLE = "variable"
    SLOT = "slot"
    OPTIMIZER = "optimizer"
    VALUE = "value"  # a value that is no variable: an iterator, a table, Python state
    BOOKKEEPING = "bookkeeping"  # Keras' own lists and functions, without a value below them


class SlotRule(str, Enum):
    """How a slot variable was recognised as one."""

    DECLARED = "declared"  # the graph's own slot_variables name it
    LIST_INDEX = "list index"  # Keras 3: same index in the optimizer's lists of variables
    FULL_NAME = "full name"  # its full name is made of its variable's
    ORDER = "order"  # same order, shape and last name as the optimizer's variables
    POSITION = "position"  # stands before another slot of the same variable
    SCOPE = "name scope"  # TensorFlow 1: stored as `w/Adam` beside `w`

    @property
    def inferred(self) -> bool:
        """True where TensorFlow itself knows nothing of the slot."""
        return self is not SlotRule.DECLARED


class Child(NamedTuple):
    """An edge to another node; the local name is what a restore matches by."""

    local_name: str
    node_id: int


class Attribute(NamedTuple):
    """A value of a node, stored under one checkpoint key (`SerializedTensor` in the proto).

    `full_name` is the variable's name in name-based checkpoints, else "". `dtype` is
    TensorFlow's name of it, `nbytes` counts stored bytes; both, and `shape`, are None where
    the source does not say: for live objects that only their own code could ask, for
    attributes stored as several tensors, and for shapes that are not fully known. `slices`
    are the parts of a tensor that was saved in slices. `error` says why the value cannot be
    read: a shard that is missing, say.
    """

    name: str
    full_name: str
    checkpoint_key: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    nbytes: int | None = None
    slices: tuple[Slice, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a tensor that was saved in slices (`TensorSliceProto`).

    `variable` is the name of the partition's own variable, if a MetaGraph has it.
    """

    start: tuple[int, ...]
    shape: tuple[int, ...]
    variable: str = ""


# How the bytes of a stored tensor are laid out, and their checksums.
Fingerprint = tuple[object, object]


class Stored(NamedTuple):
    """A tensor as a source has it under a checkpoint key.

    `error` says why its bytes cannot be read.
    """

    dtype: str | None
    shape: tuple[int, ...] | None
    error: str | None = None


def is_variable(attributes: Sequence[Attribute]) -> bool:
    """Return whether these are the attributes of a variable: its value and nothing else."""
    return len(attributes) == 1 and attributes[0].name == VARIABLE_VALUE


@dataclass(frozen=True, slots=True)
class SlotVariable:
    """A slot as its optimizer declares it (`SlotVariableReference` in the proto)."""

    slot_name: str
    variable: int
    slot_variable: int


@dataclass(frozen=True, slots=True)
class Slot:
    """What makes a node a slot variable: the `name` state of `optimizer` for `variable`.

    A name-based checkpoint has no node for the optimizer; it is None there.
    """

    name: str
    variable: int
    optimizer: int | None
    rule: SlotRule


@dataclass(frozen=True, slots=True)
class NotSaved:
    """An attribute that holds trackables which TensorFlow does not follow.

    `type_name` is the Python class of the attribute's value, `count` the number of trackables
    with values in it that the graph has nowhere.
    """

    name: str
    type_name: str
    count: int


class Node(NamedTuple):
    """One trackable object.

    `children` keeps the saved order. A node may be reached under several local names, even
    from itself: the graph is neither a tree nor free of cycles. `type_name` is the Python
    class, where known, `config` the JSON that Keras stored of it in a SavedModel. Of a
    variable, a MetaGraph says whether it is `trainable` and in which `collections`.
    `not_saved` is known of live objects only. `error` says why the node could not be read or
    walked; what lies below it is missing then.
    """

    children: tuple[Child, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    slot_variables: tuple[SlotVariable, ...] = ()
    registered_saver: str | None = None
    role: Role = Role.OBJECT
    slot: Slot | None = None
    type_name: str | None = None
    config: str | None = None
    trainable: bool | None = None
    collections: tuple[str, ...] = ()
    not_saved: tuple[NotSaved, ...] = ()
    error: str | None = None
