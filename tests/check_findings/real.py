"""A real restore of a pair, into a new program, and questions about its result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.matching.engines.trace import Trace
from tests.check_findings.table import Pair
from tests.support.oracle import raised_by
from tests.support.programs import checkpoint_of


@dataclass
class Real:
    """A real restore: what the objects held before it, by live id, and what it raised.

    `taken` are the objects that it bound at once, by saved node.
    """

    check: RestoreCheck
    pair: Pair
    target: Any
    objects: list[Any]
    before: dict[int, Any]
    status: Any = None
    raised: Exception | None = None
    asserts: dict[str, Exception | None] = field(default_factory=dict)
    taken: dict[int, Any] = field(default_factory=dict)
    building: list[Exception | None] = field(default_factory=list)
    fixing: list[tuple[Any, cv.ObjectGraph | None]] = field(default_factory=list)

    @property
    def saved(self) -> cv.ObjectGraph:
        assert self.check.saved is not None
        return self.check.saved

    def now(self, obj: int) -> Any:
        return value_of(self.objects[obj])

    def stays(self, obj: int) -> bool:
        return bool(np.array_equal(self.now(obj), self.before[obj]))

    def holds(self, obj: int, node: int) -> bool:
        """Return whether a live object holds the value of a saved node."""
        return bool(np.array_equal(self.now(obj), self.stored(node)))

    def stored(self, node: int) -> Any:
        return self.saved.read(self.saved.nodes[node].attributes[0].checkpoint_key)

    def variables(self, objects: Iterable[int]) -> list[int]:
        """Return those of the objects that are variables of the program."""
        return [obj for obj in objects if obj in self.before]

    def built(self) -> Exception | None:
        """Build what the restore waits for, once, and return what that raises."""
        if not self.building:
            assert self.pair.after is not None, "the pair does not tell how it is built"
            after = self.pair.after
            self.building.append(raised_by(lambda: after(self.target)))
        return self.building[0]

    def fixed(self) -> tuple[Any, cv.ObjectGraph | None]:
        """Apply the fix to a new program, once, and return it with the graph of that program.

        In graph mode the code is for people to run, and there is no graph.
        """
        if not self.fixing:
            with self.pair.within():
                live = self.pair.make()
                fix = cv.check(live, self.pair.path, method=self.pair.method).fix()
                try:
                    fix.apply()
                except cv.SourceError:
                    compile(fix.code, "fix", "exec")
                    self.fixing.append((fix, None))
                else:
                    self.fixing.append((fix, cv.graph(live)))
        return self.fixing[0]

    def holds_when_built(self, node: int) -> bool:
        """Return whether the program has the value of a saved node in its place, built.

        An optimizer that is built by a step has gone on from there.
        """
        graph = cv.graph(self.target)
        name = self.saved.name(node)
        found = next((i for i in range(len(graph.nodes)) if graph.name(i) == name), None)
        if found is None:
            return False
        slot = graph.nodes[found].slot
        holder = slot.optimizer if slot is not None else graph.tree.parents[found]
        if holder is not None and is_built_by_a_step(graph.object(holder)):
            return True
        return bool(np.array_equal(value_of(graph.object(found)), self.stored(node)))

    @property
    def trace(self) -> Trace:
        assert isinstance(self.check._run.trace, Trace)
        return self.check._run.trace

    def bound(self, node: int) -> int:
        return self.trace.bound[node]


def value_of(variable: Any) -> Any:
    return np.array(variable.numpy() if hasattr(variable, "numpy") else variable)


def is_built_by_a_step(optimizer: object) -> bool:
    return hasattr(optimizer, "apply_gradients") and not hasattr(type(optimizer), "build")


_ASSERTS = ("assert_existing_objects_matched", "assert_consumed", "assert_nontrivial_match")


def restored(pair: Pair, check: RestoreCheck) -> Real:
    """Restore for real, into a new program, and return the result."""
    import tensorflow as tf

    target = pair.make()
    graph = cv.graph(target)
    objects: list[Any] = [graph.object(node_id) for node_id in range(len(graph.nodes))]
    variables = {
        i: obj for i, obj in enumerate(objects) if hasattr(obj, "assign") and hasattr(obj, "dtype")
    }
    for variable in variables.values():
        if not _is_symbolic(variable) and _is_float(variable) and len(variable.shape):
            variable.assign_add(tf.cast(tf.fill(tf.shape(variable), 1000.0), variable.dtype))
    before = {i: value_of(one) for i, one in variables.items() if not _is_symbolic(one)}
    real = Real(check, pair, target, objects, before)
    checkpoint = checkpoint_of(target)
    with pair.within():
        try:
            real.status = getattr(checkpoint, check.method)(pair.path)
        except Exception as error:
            real.raised = error
            return real
        coordinator = getattr(real.status, "_checkpoint", None)
        real.taken = dict(getattr(coordinator, "object_by_proto_id", {}))
        for name in _ASSERTS:
            real.asserts[name] = raised_by(getattr(real.status, name))
    real.status.expect_partial()
    return real


def _is_symbolic(variable: Any) -> bool:
    import tensorflow as tf

    return isinstance(getattr(variable, "graph", None), tf.Graph)


def _is_float(variable: Any) -> bool:
    import tensorflow as tf

    return bool(tf.as_dtype(variable.dtype).is_floating)
