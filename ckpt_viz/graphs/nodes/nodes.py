"""The object graph: TensorFlow's `TrackableObjectGraph` as immutable classes.

Source of the terms: tensorflow/core/protobuf/trackable_object_graph.proto. This module does no I/O
and knows neither files nor live objects. Readers make its nodes; all higher layers read them. The
numerous classes are named tuples, which take a quarter of the time of a frozen data class to
create.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE

ROOT = 0
SAVE_COUNTER = "save_counter"  # the local name of a tf.train.Checkpoint's own counter
CONFIGURATION = "OBJECT_CONFIG_JSON"
"""The attribute in which TensorFlow 1.13 to 2.0 saved `get_config()`: a text that nothing reads."""


class Role(str, Enum):
    """What a node is, as far as its source shows.

    >>> graph = cv.graph("ckpts/ckpt-3")
    >>> sum(node.role is cv.Role.VARIABLE for node in graph.nodes)
    6

    A file holds no Python types. A saved graph says `OBJECT` if only a type would show the role
    (layer, container, an optimizer without state).
    """

    OBJECT = "object"
    LAYER = "layer"
    CONTAINER = "container"
    VARIABLE = "variable"
    SLOT = "slot"
    OPTIMIZER = "optimizer"
    VALUE = "value"  # a value that is not a variable: an iterator, a table, Python state
    BOOKKEEPING = "bookkeeping"  # Keras' own lists and functions, with no value below them


VALUE_ROLES = (Role.VARIABLE, Role.SLOT, Role.VALUE)


class SlotRule(str, Enum):
    """The evidence that a node is a slot variable.

    >>> graph = cv.graph("adam/ckpt-1")
    >>> graph.nodes[graph.find("role:slot")[0]].slot.rule in cv.SlotRule
    True
    """

    DECLARED = "declared"  # the graph's own slot_variables name it
    LIST_INDEX = "list index"  # Keras 3: same index in the optimizer's lists of variables
    FULL_NAME = "full name"  # its full name contains its variable's full name
    ORDER = "order"  # same order, shape and last name as the optimizer's variables
    POSITION = "position"  # comes before another slot of the same variable
    SCOPE = "name scope"  # TensorFlow 1: stored as `w/Adam` beside `w`

    @property
    def inferred(self) -> bool:
        """Whether a rule of ours found the slot, which TensorFlow does not know."""
        return self is not SlotRule.DECLARED


class Child(NamedTuple):
    """An edge to another node. A restore matches by the local name.

    >>> cv.graph("ckpts/ckpt-3").nodes[0].children[0]
    Child(local_name='net', node_id=1)
    """

    local_name: str
    node_id: int


class Attribute(NamedTuple):
    """A value of a node, stored under one checkpoint key (`SerializedTensor` in the proto).

    >>> graph = cv.graph("ckpts/ckpt-3")
    >>> attribute = graph.nodes[graph.node_id("net.head.w")].attributes[0]
    >>> attribute.dtype, attribute.shape, attribute.nbytes
    ('float32', (4, 3), 48)

    `full_name` is the variable's name in name-based checkpoints, else "". `dtype` is TensorFlow's
    name for it, and `nbytes` counts stored bytes. `dtype`, `nbytes` and `shape` are None if the
    source does not give them. One case is a live object for which only its own code knows them.
    Other cases are attributes stored as several tensors, and shapes that are not fully known.
    `slices` holds the parts of a tensor that was saved in slices. `error` says why the value cannot
    be read, for example because a shard is missing.
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

    >>> cv.Slice(start=(0, 0), shape=(2, 4))  # the first rows of a tensor
    Slice(start=(0, 0), shape=(2, 4), variable='')

    `variable` is the name of the partition's own variable, if a MetaGraph has it.
    """

    start: tuple[int, ...]
    shape: tuple[int, ...]
    variable: str = ""


# The layout of a stored tensor's bytes, and their checksums.
Fingerprint = tuple[object, object]


class Fault(NamedTuple):
    """Why a stored tensor cannot be read, and the class of the error that TensorFlow raises."""

    why: str
    raises: str = "DataLossError"


class Stored(NamedTuple):
    """A tensor that a source has under a checkpoint key.

    `error` says why its bytes cannot be read. `fault` says how they are damaged, if they were
    tested.
    """

    dtype: str | None
    shape: tuple[int, ...] | None
    error: str | None = None
    fault: Fault | None = None


def is_variable(attributes: Sequence[Attribute]) -> bool:
    """Return whether these are the attributes of a variable: its value and nothing else."""
    return len(attributes) == 1 and attributes[0].name == VARIABLE_VALUE


@dataclass(frozen=True, slots=True)
class SlotVariable:
    """A slot as its optimizer declares it (`SlotVariableReference` in the proto).

    >>> cv.SlotVariable(slot_name="m", variable=2, slot_variable=5)
    SlotVariable(slot_name='m', variable=2, slot_variable=5)
    """

    slot_name: str
    variable: int
    slot_variable: int


@dataclass(frozen=True, slots=True)
class Slot:
    """What makes a node a slot variable: the `name` state of `optimizer` for `variable`.

    >>> graph = cv.graph("adam/ckpt-1")
    >>> slot = graph.nodes[graph.find("role:slot")[0]].slot
    >>> slot.name, graph.name(slot.variable), graph.name(slot.optimizer)
    ('momentum', '(root).variable', '(root).optimizer')

    `optimizer` is None in a name-based checkpoint, which has no node for it.
    """

    name: str
    variable: int
    optimizer: int | None
    rule: SlotRule


@dataclass(frozen=True, slots=True)
class NotSaved:
    """An attribute that holds trackables which TensorFlow does not follow, or data of a layer.

    >>> holder = tf.Module()
    >>> holder.cache = {tf.Variable(0.0).ref()}  # TensorFlow follows no sets
    >>> cv.graph(tf.train.Checkpoint(net=holder)).nodes[1].not_saved
    (NotSaved(name='cache', type_name='set', count=1, is_lost=True, variables=1),)

    `type_name` is the Python class of the attribute's value. `count` is the number of trackables
    with values in it that are nowhere in the graph. `is_lost` says whether a save loses a trained
    value with them; otherwise they are seeds, metrics and counters. `variables` is the number of
    variables in these trackables that are nowhere in the graph. Data that no checkpoint holds, such
    as a "vocabulary", have a name in words and the class of the layer.
    """

    name: str
    type_name: str
    count: int
    is_lost: bool = True
    variables: int = 0


# The sizes of a tensor without its batch; None for a size that is not known.
Sizes = tuple[int | None, ...]


class Fact(NamedTuple):
    """Something that the configuration of a layer says, in short text: `units` is `128`."""

    name: str
    value: str


class LayerFacts(NamedTuple):
    """What a source says of a layer: its most telling facts first, and the shapes of its tensors.

    `gets` has the sizes of each tensor that the layer takes, `gives` of each that it makes; None if
    the source does not say them.
    """

    stated: tuple[Fact, ...] = ()
    gets: tuple[Sizes, ...] | None = None
    gives: tuple[Sizes, ...] | None = None


class Node(NamedTuple):
    """One trackable object.

    >>> graph = cv.graph("ckpts/ckpt-3")
    >>> graph.nodes[graph.node_id("net.head.w")].role
    <Role.VARIABLE: 'variable'>

    `children` keeps the saved order. Several local names may lead to a node, even from itself: the
    graph is neither a tree nor free of cycles. `type_name` is the Python class, if known; `config`
    is the JSON that Keras stored for it in a SavedModel. `trainable` is what a variable says
    itself, which checkpoints do not record. `is_frozen` is true of a layer whose own `trainable` is
    False, and of a weight that its layer would train if the weight were trainable. A MetaGraph says
    in which `collections` a variable is. Only live objects have `not_saved`. `error` says why the
    node could not be read or walked; the nodes below it are missing then. `own_name` is the name
    that a Keras layer has, `facts` is what its configuration says. `held_as` is the attribute by
    which a program holds a layer that Keras numbers in a list. `waits` is what a file says:
    whether a restore keeps the node until an object for it exists. It is None if that holds for a
    node with a value or a value below it, as in all but old files.
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
    own_name: str | None = None
    is_frozen: bool = False
    facts: LayerFacts | None = None
    held_as: str | None = None
    waits: bool | None = None


def with_new_counter(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes, and as the last the `save_counter` that a `tf.train.Checkpoint` makes."""
    root, counter = nodes[ROOT], Child(SAVE_COUNTER, len(nodes))
    key = f"{SAVE_COUNTER}/.ATTRIBUTES/{VARIABLE_VALUE}"
    value = Attribute(VARIABLE_VALUE, SAVE_COUNTER, key, "int64", ())
    made = Node(attributes=(value,), role=Role.VARIABLE, trainable=False)
    return root._replace(children=(*root.children, counter)), *nodes[1:], made


def has_value(node: Node) -> bool:
    """Return whether a node itself holds something that is saved, and that a restore may need."""
    attributes = node.attributes
    if not attributes or (len(attributes) == 1 and attributes[0].name == CONFIGURATION):
        return bool(node.registered_saver)
    return True


def loses_values(node: Node) -> bool:
    """Return whether a save loses trained values that a node's attributes hold."""
    return any(note.is_lost for note in node.not_saved)
