"""The values of TensorFlow 1 variables in a session, copied into memory and put back.

Reading evaluates the tensors that each variable already has. Assigning runs the variables' own
initializers, fed with the values. So neither adds an operation, and finalized graphs work. Only an
unusual initializer, or an object such as a table, needs operations of its own. They are added once
to a graph, and all its snapshots use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.files.values.held import HeldAccess, HeldTensor, shape_of
from ckpt_viz.files.values.memory import Budget
from ckpt_viz.files.values.report import Left, Restored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes
from ckpt_viz.ground.interrupts import Interrupts
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects.live_source import view_of
from ckpt_viz.live.objects.walk import Walk
from ckpt_viz.live.sessions.saver import taken_variables
from ckpt_viz.live.state.holding import HeldState, error_words, put, python_state
from ckpt_viz.live.state.rollback import put_each
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.tensorflow_names import tensorflow_session as tf_session
from ckpt_viz.live.tensorflow_names.tensorflow_session import FinalizedError, Leaf
from ckpt_viz.live.tensorflow_names.tensorflow_state import nbytes_of

_FINALIZED = (
    "it needs operations of its own, and the graph is finalized; take a first snapshot before "
    "that, and later ones use its operations"
)
_LATER = "it was made after the snapshot; it keeps its value"


@dataclass(frozen=True)
class TakenInSession:
    """The copied values of one moment: those of leaves, and the states of Python objects."""

    title: str
    leaves: tuple[tuple[Leaf, Any], ...]
    python: tuple[tuple[str, Any, HeldState], ...]
    left: tuple[Left, ...]
    nbytes: int

    # Every variable has a name, so a file has them all.
    untracked: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Left, ...]:
        """What a file of the values would lack."""
        return self.left

    @cached_property
    def graph(self) -> Graph:
        """The values by name, in the tree of their name scopes."""
        tensors: dict[str, list[HeldTensor]] = {}
        for name, part in _named_parts(self.leaves):
            tensors.setdefault(name, []).append(part)
        tensors |= {name: list(state.parts) for name, _, state in self.python}
        variables = {leaf.name: leaf.variable for leaf, _ in self.leaves}
        nodes = scope_nodes(
            _described(name, parts, variables.get(name)) for name, parts in tensors.items()
        )
        access = HeldAccess(self.title, tensors, by_names=True)
        return Graph(nodes, self.title, Origin.SAVED, _access=access)


def _named_parts(leaves: Sequence[tuple[Leaf, Any]]) -> Iterator[tuple[str, HeldTensor]]:
    """Yield the values by name; the partitions of a variable are one tensor, as a Saver saves it.

    Partitions without the others have their own names.
    """
    infos = [tf_savers.save_slice_info(leaf.variable) for leaf, _ in leaves]
    held = Counter[str]()  # elements by name of the whole tensor
    for (_, value), info in zip(leaves, infos, strict=True):
        if info is not None:
            held[info.full_name] += value.size
    for (leaf, value), info in zip(leaves, infos, strict=True):
        dtype = tf_private.base_dtype_name(leaf.read.dtype)
        if info is not None and held[info.full_name] == prod(info.full_shape):
            yield info.full_name, HeldTensor("", info.spec, dtype, value)
        else:
            yield leaf.name, HeldTensor("", "", dtype, value)


def _described(name: str, parts: Sequence[HeldTensor], variable: Any) -> NamedVariable:
    nbytes = sum(nbytes_of(part.value) for part in parts)
    value = named_value(name, parts[0].dtype, shape_of(parts), nbytes)
    trainable = getattr(variable, "trainable", None)
    kind = None if variable is None else type(variable).__name__
    return NamedVariable(value, trainable=trainable, type_name=kind)


class SessionValues:
    """Variables of a graph, whose values in a session can be copied and put back.

    `source` is a list or dict of variables, a graph, a Saver, a trackable object, or None for the
    graph of the session.
    """

    def __init__(self, source: object, session: Any, title: str) -> None:
        if not tf_session.is_session(session):
            raise SourceError(
                f"found {type(session).__name__} as `session`, expected a tf.compat.v1.Session"
            )
        self.title = title
        self._source = source.copy() if type(source) in (list, dict) else source  # type: ignore[attr-defined]
        self._session = tf_session.plain_session(session)
        self._graph = self._session.graph

    def take(self, limit: int | None) -> TakenInSession:
        """Return a copy of all values; raise ReadLimitError for more bytes than the limit.

        Raises SourceError for variables that are not initialized in this session.
        """
        leaves, left = self._leaves()
        budget = Budget(self.title, limit)
        budget.expect(sum(map(_least_bytes, leaves)))
        held: list[tuple[Leaf, Any]] = []
        nbytes = 0
        for leaf, value in zip(leaves, self._read(leaves), strict=True):
            nbytes += nbytes_of(value)
            budget.add(nbytes_of(value))
            assignable = self._assignable(leaf, value)
            if assignable is None:
                left.append(Left(leaf.name, _FINALIZED))
            else:
                held.append((assignable, value))
        python = tuple((name, obj, python_state(obj)) for name, obj in self._python_objects())
        return TakenInSession(self.title, tuple(held), python, tuple(left), nbytes)

    def put_back(self, taken: TakenInSession) -> Restored:
        """Put all values back, also after one that is refused."""
        with Interrupts(held=True) as interrupts:
            refused, interrupt = self._assign(taken)
            python = put_each([partial(put, obj, state) for _, obj, state in taken.python])
            refused |= {taken.python[n][0]: error for n, error in python.failures.items()}
            restored = self._restored(taken, refused)
            interrupt = interrupt or python.interrupt
            if interrupt is not None or interrupts.are_waiting:
                restored.warn_if_partial(self.title)
            if interrupt is not None:
                raise interrupt
        return restored

    def _assign(
        self, taken: TakenInSession
    ) -> tuple[dict[str, BaseException], BaseException | None]:
        """Assign the values of leaves; return what was raised by leaf, and what has interrupted."""
        assign = partial(tf_session.assign_all, self._session)
        done = put_each([partial(assign, taken.leaves)])
        if not done.failures:
            return {}, done.interrupt
        # A run has many values, and does not tell how far it came.
        groups = tf_session.groups(taken.leaves)
        failures = put_each([partial(assign, group) for group in groups]).failures
        refused = {leaf.name: e for number, e in failures.items() for leaf, _ in groups[number]}
        return refused, done.interrupt

    def _restored(self, taken: TakenInSession, refused: Mapping[str, BaseException]) -> Restored:
        why = "it did not take its value"
        left = list(taken.left)
        left += [Left(name, f"{why}: {error_words(error)}") for name, error in refused.items()]
        known = {leaf.name for leaf, _ in taken.leaves} | {value.name for value in left}
        later = [name for name in self._names_now() if name not in known]
        left += [Left(name, _LATER) for name in later]
        return Restored(len(taken.leaves) + len(taken.python) - len(refused), tuple(left))

    def _names_now(self) -> Iterator[str]:
        for _, item in self._items():
            if tf_private.is_variable(item) or tf_savers.is_partitioned_variable(item):
                for variable in tf_session.components(item):
                    yield variable.op.name

    def _leaves(self) -> tuple[list[Leaf], list[Left]]:
        leaves: dict[int, Leaf] = {}
        left: list[Left] = []
        for name, item in self._items():
            if tf_private.is_variable(item) or tf_savers.is_partitioned_variable(item):
                for variable in tf_session.components(item):
                    self._refuse_others(variable)
                    leaves[id(variable)] = tf_session.leaf_of_variable(variable)
                continue
            try:
                object_leaves = tf_session.leaves_of_object(name, item, self._graph)
            except FinalizedError:
                left.append(Left(name, _FINALIZED))
            except Exception as error:  # the object's own code
                left.append(Left(name, f"it cannot be saved: {error_words(error)}"))
            else:
                leaves |= {id(leaf): leaf for leaf in object_leaves}
        return list(leaves.values()), left

    def _refuse_others(self, variable: Any) -> None:
        graph = getattr(variable, "graph", None) if _is_symbolic(variable) else None
        if graph is not self._graph:
            where = "eager execution" if graph is None else "another graph"
            raise SourceError(
                f"{variable.name}: found a variable of {where}, expected one of the session's graph"
            )

    def _read(self, leaves: list[Leaf]) -> list[Any]:
        try:
            return tf_session.read_all(self._session, leaves)
        except tf_session.uninitialized_error() as error:
            names = tf_session.uninitialized(self._session, leaves)
            if not names:
                raise
            raise SourceError(
                f"{self.title}: {count(len(names), 'variable')} without a value in this session: "
                f"{listed(names)}; run their initializers first, or pass a list without them"
            ) from error

    def _assignable(self, leaf: Leaf, value: Any) -> Leaf | None:
        if leaf.variable is None or tf_session.takes(leaf, value):
            return leaf
        try:
            return tf_session.with_own_assignment(leaf, self._graph)
        except FinalizedError:
            return None

    def _items(self) -> Iterator[tuple[str, Any]]:
        """Yield what the source has, each with a name for what is not a variable."""
        source = self._source
        if source is None or tf_session.is_graph(source):
            source = tf_session.variables_of_graph(self._graph if source is None else source)
        elif tf_savers.is_saver(source):
            source = taken_variables(source)
        if isinstance(source, Mapping) and not tf_private.is_trackable(source):
            yield from ((str(name), item) for name, item in source.items())
        elif isinstance(source, (list, tuple)) and not tf_private.is_trackable(source):
            yield from ((str(getattr(item, "name", n)), item) for n, item in enumerate(source))
        else:
            yield from self._trackables()

    def _trackables(self) -> Iterator[tuple[str, Any]]:
        walk = self._walk()
        for node, obj, key in zip(walk.bare_nodes(), walk.objects, walk.object_keys, strict=True):
            if node.attributes and not tf_private.is_python_state(obj):
                yield key, obj

    def _walk(self) -> Walk:
        walk = Walk(view_of(self._source))
        walk.reach()
        walk.reach_untracked()
        return walk

    def _python_objects(self) -> Iterator[tuple[str, Any]]:
        if tf_private.is_trackable(self._source):
            walk = self._walk()
            for obj, key in zip(walk.objects, walk.object_keys, strict=True):
                if tf_private.is_python_state(obj):
                    yield key, obj


def _is_symbolic(variable: Any) -> bool:
    return bool(getattr(variable, "_in_graph_mode", True))


def _least_bytes(leaf: Leaf) -> int:
    """Return the bytes that reading a leaf takes at least, from its shape."""
    shape = tf_private.full_shape(leaf.read.shape)
    dtype = tf_private.base_dtype_name(leaf.read.dtype)
    return 0 if shape is None else tf_private.stored_bytes(dtype, shape) or 0
