"""An assignment map as the live side: what `init_from_checkpoint` would do, or `warm_start`.

The call replaces initializers, and returns no status. A session that runs them may raise. So the
asserts of this check pass if neither raises. Executed eagerly, the call assigns values at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Any, ClassVar

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of, run_of_path, text_of
from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.answers.dry_runs.other_shapes import other_shapes
from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts
from ckpt_viz.errors import SourceError
from ckpt_viz.files.saved.saved_access import faulty
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count
from ckpt_viz.live.objects.live_source import graph_of_program
from ckpt_viz.live.restoring.opening import open_by_keys
from ckpt_viz.live.sessions.assignment_map import (
    WarmProgram,
    calls_of,
    name_of_call,
    path_in,
    read_program,
    unused_names,
)
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_warm_start as tf_warm
from ckpt_viz.matching.engines.initializers import WarmSide, WarmTrace, match_initializers
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Step


@dataclass(frozen=True)
class WarmOutcome(Outcome):
    """What a warm start would do.

    `others` are the nodes of the variables that the map does not mean. `store` has the names that
    the map can use.
    """

    caller: ClassVar[str] = "warm"
    warm: WarmTrace = field(default_factory=WarmTrace)
    others: tuple[int, ...] = ()
    store: frozenset[str] = frozenset()
    is_eager: bool = False

    @cached_property
    def full_names(self) -> frozenset[str]:
        """The full names of all variables of the program, also of those that are in no store."""
        nodes = self.names.graph.nodes
        return frozenset(a.full_name for node in nodes for a in node.attributes)

    @property
    def mapped_scopes(self) -> Sequence[str]:
        """The scopes in the file that are keys of the assignment map."""
        return [scope.key for scope in self.warm.scopes]

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The scopes of all variables of the program, each with a slash at its end."""
        return frozenset(scope for name in self.full_names for scope in _scopes_above(name))

    @cached_property
    def scopes_in_store(self) -> frozenset[str]:
        """The scopes that the map can use."""
        return frozenset(scope for name in self.store for scope in _scopes_above(name))

    @cached_property
    def unplaced(self) -> int:
        """The number of pairs whose value names neither a variable nor a scope of variables."""
        scopes = sum(not scope.names for scope in self.warm.scopes)
        return scopes + sum(step.cause is Cause.NO_VARIABLE for step in self.warm.steps)

    def calls(self, method: str) -> Sequence[tuple[str, Raised | None]]:
        """Return the call; unless it assigns values itself, also what runs the initializers."""
        call = (f"{method}()", self.verdicts.restore)
        later = ("global_variables_initializer()", self.verdicts.consumed)
        return (call,) if self.is_eager else (call, later)

    @property
    def effect(self) -> str:
        """What happens if neither the call nor the initializers raise, in a few words."""
        bound = () if self.by_names is None else self.by_names.bound.values()
        reshaped = {taken.obj for taken in other_shapes(self)}
        number = len({obj for objects in bound for obj in objects} - reshaped)
        every = sum(bool(node.attributes) for node in self.names.graph.nodes)
        return f"sets {number} of {count(every, 'variable')}"


def _scopes_above(name: str) -> Iterator[str]:
    parts = name.split("/")[:-1]
    return accumulate((f"{part}/" for part in parts), lambda above, part: f"{above}{part}")


def warm_dry_run(
    source: Any, saved: object, faults: Mapping[str, Fault] = MappingProxyType({})
) -> DryRun:
    """Return what `init_from_checkpoint(saved, source)` would do; change nothing.

    `source` may be the settings of a warm start, which have a path themselves. `faults` are the
    damaged tensors of this checkpoint, by key.
    """
    if isinstance(saved, Graph) and saved.is_unwritten:
        raise SourceError(
            f"{saved.title}: {name_of_call(source)} reads files, expected a path; check the path "
            "that write(prefix) returns"
        )
    path: Any = prefix_of(saved) if isinstance(saved, Graph) else saved
    path = path_in(source) if path is None else path
    paths = (str, bytes, os.PathLike)
    return run_of_path(path, name_of_call(source), _WarmStart(source, faults).outcome_of, paths)


class _WarmStart:
    """A source, and what it does with any path."""

    def __init__(self, source: Any, faults: Mapping[str, Fault]) -> None:
        self._faults = faults
        self._program = read_program(source)
        self._names = LiveNames(graph_of_program(source, self._program))

    def outcome_of(self, path: Any) -> WarmOutcome:
        """Return what warm starting from exactly this path does."""
        program = self._program
        try:
            file = tf_warm.file_of(path)
            renamed = _renamed(program, file)
        except Exception as error:
            return self._raising(type(error).__name__, str(error))
        if isinstance(renamed, Failure):
            return self._raising(renamed.type, renamed.message)
        calls = calls_of(program, renamed)
        if not calls:  # TensorFlow does not look for the file
            return self._outcome(WarmTrace(), renamed)
        if file is None:
            message = f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            return self._raising("ValueError", message)
        opened = open_by_keys(file)
        if opened.failure is not None or opened.tensors is None:
            assert opened.failure is not None
            return self._raising(opened.failure.type, opened.failure.message)
        side = WarmSide(
            program.variables,
            program.node_of,
            program.store,
            faulty(opened.tensors, self._faults),
            text_of(path),
            tf_private.is_eager_now(),
            tf_warm.is_finalized(),
        )
        return self._outcome(match_initializers(calls, side), renamed, side)

    def _raising(self, type_name: str, message: str) -> WarmOutcome:
        raised = Raised(type_name, message)
        return WarmOutcome(self._names, Verdicts(raised, raised, raised, raised))

    def _outcome(
        self,
        warm: WarmTrace,
        renamed: Mapping[str, str],
        side: WarmSide | None = None,
    ) -> WarmOutcome:
        program = self._program
        if program.grouped is not None:
            failure = unused_names(program.grouped, renamed)
            if failure is not None:
                warm.steps.append(Step(Action.FAIL, None, failure=failure))
        raised, later = _raised(warm.raised), _raised(warm.raised_later)
        at_last = raised or later
        return WarmOutcome(
            self._names,
            Verdicts(raised, at_last, at_last, at_last, (), tuple(warm.unused)),
            warm,
            tensors=side.tensors if side is not None else {},
            warm=warm,
            others=program.others,
            store=frozenset(program.store.ids),
            later=later,
            is_eager=tf_private.is_eager_now(),
            opens=side is not None,
        )


def _raised(failure: Failure | None) -> Raised | None:
    return None if failure is None else Raised(failure.type, failure.message)


def _renamed(program: WarmProgram, file: Any) -> Mapping[str, str] | Failure:
    """Return the names in the file by the names of variables, where settings change them."""
    grouped = program.grouped
    if grouped is None or grouped.former_names:
        return grouped.former_names if grouped is not None else {}
    keys = tf_warm.keys_by_name(file)
    if keys is None:
        return {}
    missing = set(grouped.groups) - keys.keys()
    if missing:
        message = (
            "Attempting to warm-start from an object-based checkpoint, but found that the "
            "checkpoint did not contain values for all variables. The following variables were "
            f"missing: {missing}"
        )
        return Failure(Cause.KEY_MISSING, "ValueError", message)
    return {name: keys[name] for name in grouped.groups}
