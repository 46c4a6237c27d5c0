"""The fix of a restore of objects: the skeleton or the assignments that put each value in place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of
from ckpt_viz.answers.dry_runs.keras_dry_run import FIX
from ckpt_viz.answers.dry_runs.outcome import outcome_of_objects
from ckpt_viz.answers.evidence.unbuilt_optimizers import UnbuiltOptimizers, states_of
from ckpt_viz.answers.restore_fix.applying import (
    apply,
    assign_variables,
    is_applied,
    is_variable,
    put_held,
    value_for,
)
from ckpt_viz.answers.restore_fix.build_first import build_first, building
from ckpt_viz.answers.restore_fix.code import (
    CKPT,
    TO_WRITE_FIRST,
    Steps,
    assigning,
    reading,
    restores_by_itself,
    restoring,
    restoring_nothing,
)
from ckpt_viz.answers.restore_fix.restore_fix import TWO_WAYS, CheckT, RestoreFix
from ckpt_viz.answers.restore_fix.unbuilt_parts import UnbuiltParts
from ckpt_viz.answers.short_code.arrangement import Arrangement
from ckpt_viz.answers.short_code.rehearsal import (
    Rehearsal,
    checkpoint_of,
    rehearse,
    rehearse_on_graphs,
)
from ckpt_viz.answers.short_code.skeleton import Skeleton
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.expressions import operand, quoted
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.text import count
from ckpt_viz.live.objects.live_source import is_plain
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.writing.keras_weights import is_path_of_weights, write_keras_weights
from ckpt_viz.live.writing.rewrite import write_mapped
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.guesses import casts_of, parts_to_copy
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.engines.trace import Action, Cause, Step, Trace

_MOST_TRIES = 32  # checkpoints of parts
_OWN_CODE = frozenset({Cause.STAGES, Cause.SYMBOLIC, Cause.CODE})


@dataclass(frozen=True, repr=False)
class FixOfObjects(RestoreFix[CheckT]):
    """The fix of a restore of objects: live ones, or those of a checkpoint in their place."""

    _last: list[tuple[tuple[Skeleton, str], Rehearsal | None]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def to_code(self, live: str | None = None, path: str | None = None) -> str:
        """Return the code with the caller's expressions; `ckpt` is the live object."""
        prefix, name = self._prefix if path is None else path, operand(live or CKPT)
        code = self._code(name, prefix) + self._comments_on_states(name)
        if path is not None or not self._saved.is_unwritten:
            return code
        first = TO_WRITE_FIRST.format(source="snapshot" if self._saved.is_held else "graph")
        return f"{first}{code}"

    def _comments_on_states(self, name: str) -> str:
        return "".join(f"# {line}\n" for line in self._of_states(name))

    def _of_states(self, name: str) -> Iterator[str]:
        """Yield which values stay in the file until their part is built, and how to build it.

        `name` is the expression for the program.
        """
        left = sorted(self._unbuilt - self._of_unbuilt.misfits)
        number = sum(len(self._keys(node)) for node in left)
        objects = [*dict.fromkeys(self._to_build[node] for node in left)]
        meaning = self._meaning if name == CKPT else ""
        how = partial(building, self._live, name=name)
        yield from build_first(self._live, number, objects, how, meaning)

    @property
    def _meaning(self) -> str:
        """What the name `ckpt` is, if that is not what it says."""
        return ""

    def _code(self, live: str, prefix: str | None) -> str:
        where = "path" if prefix is None else repr(prefix)
        reader = reading(prefix_of(self._saved), where)
        left = self._left_out
        if not self._sure and not self._waiting:
            return restoring_nothing(left)
        if self._skeleton is None:
            assigned = [pair for pair in self._sure if is_variable(self._live, pair)]
            keys = {pair.obj: self._keys(pair.node)[0] for pair in assigned}
            parts = [skeleton for skeleton, _ in self._by_parts]
            steps = Steps(keys, parts, self._conversions(assigned))
            return assigning(steps, self._live, left, live, where, reader)
        run = self._rehearsal.run
        keys = {pair.obj: self._keys(pair.node)[0] for pair in self._beside}
        how = run.method, run.verdicts, left, live, where, reader
        return restoring(self._skeleton, keys, self._live, *how)

    @property
    def is_applied(self) -> bool:
        """Whether every variable of `pairs` has its saved value now."""
        return bool(self._sure) and is_applied(self._mapping, self._sure)

    @property
    def _how(self) -> str:
        method = self._run.method
        if self._saved.is_unwritten:
            return "from memory" if self._saved.is_held else "as edited"
        if self._skeleton is None:
            return "by assigning each of them"
        if self._skeleton != Skeleton(ROOT):
            return "with a tf.train.Checkpoint of live objects, by their saved names"
        is_plain = restores_by_itself(self._live, method)
        return (
            f"with a plain {method}()" if is_plain else "with a tf.train.Checkpoint of the object"
        )

    def _following(self) -> Iterator[str]:
        """Yield what to do next; an optimizer comes first, if it is not built."""
        yield from self._of_states(CKPT)
        if self._left_out.guesses:
            guesses = self._left_out.accepting
            yield f"{guesses} adds these guesses; with names of saved parts, it adds only theirs."
        parts = [quoted(part.saved) for part in parts_to_copy(self._mapping)]
        if parts:
            yield (
                f"check.fix(guesses=[{parts[0]}]) copies the elements that both shapes have"
                f"{f', and so on for {len(parts) - 1} more' if len(parts) > 1 else ''}."
            )
        casts = casts_of(self._mapping)
        if casts:
            yield (
                f"check.fix(guesses=True) converts {count(len(casts), 'value')} to the dtype of "
                "the program; with names of saved parts, it converts only theirs."
            )
        if not self._sure and not self._waiting:
            if not self._unbuilt:
                yield "fix.changes says what happened to the program."
        elif self._live.origin is Origin.LIVE:
            yield TWO_WAYS
        else:
            yield "Run fix.code in the program, or restore what fix.write(prefix) writes."

    @cached_property
    def check(self) -> CheckT:
        """The check of the fixed restore, or of what the fix assigns."""
        run = self._run_of_assigned if self._skeleton is None else self._rehearsal.run
        return self._check_of(run)

    @property
    def _run_of_assigned(self) -> DryRun:
        """The dry run of a restore that binds every value and every part as the fix does."""
        saved, live, mapping = self._saved, self._live, self._mapping
        parts = (p for p in mapping.parts.values() if not has_value(saved.nodes[p.node]))
        pairs = [p for p in (*parts, *self._sure) if p.certainty is not Certainty.GUESS]
        steps = [Step(Action.BIND, pair.node, pair.obj) for pair in pairs]
        keys = {pair: self._keys(pair.node) for pair in self._sure}
        steps += [Step(Action.RESTORE, p.node, p.obj, names=names) for p, names in keys.items()]
        # A restore binds a value once; one that several objects take was bound to its counterpart.
        pairs.sort(key=lambda pair: pair.evidence is not Evidence.SHARED)
        bound = {pair.node: pair.obj for pair in pairs}
        taken = {pair.obj for pair in self._sure}
        valued = {*mapping.missing, *(pair.obj for pair in mapping.pairs)}
        expected = sorted(valued - (taken - {*bound.values()}))  # a value of several is bound once
        outcome = outcome_of_objects(live, saved, Trace(steps, bound, {}), expected)
        return DryRun(outcome, FIX, prefix_of(saved), tested=self._run.tested)

    def apply(self, session: Any = None) -> RestoreFix[CheckT]:
        """Restore now; return the fix. Objects restore by themselves, and take no session."""
        if not (self._sure or self._waiting) and self._live.origin is Origin.LIVE:
            return self  # a restore would still make a `save_counter`
        restore: Callable[[], None] | None = None
        if self._saved.is_unwritten:
            restore = partial(put_held, self._mapping, self._sure)
        elif self._skeleton is not None:
            restore = self._restore
        elif self._by_parts:
            restore = self._restore_by_parts
        apply(self._mapping, self._sure, restore)
        return self

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write a new checkpoint for the program, or weights for a model; return its path."""
        path = os.fspath(prefix)
        if is_path_of_weights(path):
            values = {pair.obj: partial(value_for, self._mapping, pair) for pair in self._sure}
            write_keras_weights(self._live, values, path)
            return path
        empty = (
            p for p in self._mapping.parts.values() if not has_value(self._saved.nodes[p.node])
        )
        pairs = [(pair.node, pair.obj) for pair in (*self._sure, *empty)]
        write_mapped(self._to_write, self._live, pairs, path, self._mapping.conversions)
        return path

    @property
    def _to_write(self) -> Graph:
        """The graph of the checkpoint whose values are copied."""
        return self._saved

    def _restore(self) -> None:
        source, method = self._live.source, self._rehearsal.run.method
        is_whole = self._skeleton == Skeleton(ROOT) and restores_by_itself(self._live, method)
        assert self._skeleton is not None
        own = tf_private.without_manager(source)
        checkpoint = own if is_whole else checkpoint_of(self._live, self._skeleton)
        getattr(checkpoint, method)(prefix_of(self._saved)).expect_partial()
        assign_variables(self._mapping, self._beside)

    def _restore_by_parts(self) -> None:
        for skeleton, _ in self._by_parts:
            checkpoint = checkpoint_of(self._live, skeleton)
            checkpoint.read(prefix_of(self._saved)).expect_partial()
        assign_variables(self._mapping, self._sure)

    @cached_property
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fixed restore puts into their objects."""
        if self._skeleton is not None:
            return self._placed
        by_parts = frozenset(pair for _, pairs in self._by_parts for pair in pairs)
        return tuple(
            pair for pair in self._placed if is_variable(self._live, pair) or pair in by_parts
        )

    @property
    def _beside(self) -> Sequence[Pair]:
        """The values that the checkpoint of the skeleton does not restore.

        It counts its own saves: the `save_counter` of the program is no part of it.
        """
        counters = [pair for pair in self._placed if pair.node == self._saved.save_counter]
        is_own = self._skeleton == Skeleton(ROOT)
        return [p for p in counters if not (is_own and self._plain.get(p.obj) == p.node)]

    @cached_property
    def _placed(self) -> tuple[Pair, ...]:
        """The values whose place is sure, and whose bytes and objects are known to be whole."""
        return tuple(pair for pair in super()._placed if pair.node not in self._refused)

    @cached_property
    def _of_unbuilt(self) -> UnbuiltOptimizers:
        return UnbuiltOptimizers(self._mapping)

    @cached_property
    def _unbuilt(self) -> frozenset[int]:
        """The saved values that stay in the file until their part of the program is built."""
        return frozenset(self._to_build) - self._waiting

    @cached_property
    def _to_build(self) -> Mapping[int, int]:
        """By saved value without a place now, the part of the program that may take it later."""
        return {**self._of_unbuilt.states, **self._unbuilt_parts.states}

    @cached_property
    def _unbuilt_parts(self) -> UnbuiltParts:
        knows_trained = self._of_unbuilt.trained is not None
        return UnbuiltParts(self._run, self._findings, knows_trained)

    @cached_property
    def _aside(self) -> frozenset[int]:
        """The saved parts whose objects take no part in the restore before they are built."""
        return self._of_unbuilt.aside | self._unbuilt_parts.aside

    @cached_property
    def _waiting(self) -> frozenset[int]:
        """What waits in the fixed restore until its object is built."""
        skeleton, planned = self._skeleton, self._planned
        if skeleton is None or not planned:
            return frozenset()
        if skeleton == Skeleton(ROOT):
            return self._waiting_now
        trace = self._rehearsal.run.by_objects
        if trace is None:
            return frozenset()
        steps = (*trace.steps_of(Action.DEFER), *trace.steps_of(Action.DEFER_SLOT))
        of_program = self._rehearsal.originals  # nothing comes to what only the code makes
        later = {s.node for s in steps if s.node is not None and s.obj in of_program}
        stack = [*later]
        while stack:
            below = {child.node_id for child in self._saved.nodes[stack.pop()].children} - later
            later |= below
            stack += below
        return planned & (later | trace.restored) - self._of_unbuilt.misfits

    @cached_property
    def _planned(self) -> frozenset[int]:
        """The saved nodes that the fixed restore gives to objects which make their places later."""
        every, aside = self._of_unbuilt, self._of_unbuilt.aside
        own = {node for node, owner in states_of(self._saved) if owner in aside} if aside else ()
        return self._waiting_now.union(every.states).difference(own, self._unbuilt_parts.nodes)

    @cached_property
    def _waiting_now(self) -> frozenset[int]:
        """What waits in the checked restore, and slot variables that an optimizer then makes."""
        waiting, nodes = self._about(Kind.DEFERRED), self._saved.nodes
        waiting -= self._unbuilt_parts.nodes
        placed = {pair.node for pair in self._placed} if waiting else set[int]()
        slots = (
            (n, s) for n in self._mapping.unused if (s := nodes[n].slot) and s.variable in placed
        )
        return waiting.union(
            node
            for node, slot in slots
            if slot.optimizer is not None
            and not waiting.isdisjoint(child.node_id for child in nodes[slot.optimizer].children)
        )

    @cached_property
    def _refused(self) -> frozenset[int]:
        """The saved nodes whose objects refuse the values by their own code, such as iterators."""
        trace = self._run.by_objects
        steps = () if trace is None else trace.steps_of(Action.FAIL)
        causes = ((step.node, step.failure.cause) for step in steps if step.failure is not None)
        return frozenset(node for node, cause in causes if node is not None and cause in _OWN_CODE)

    @cached_property
    def _skeleton(self) -> Skeleton | None:
        """The live objects under saved names; None if no such arrangement restores all pairs."""
        if is_plain(self._live.source):
            return None  # no checkpoint of TensorFlow has a plain list or dict as its root
        aside = self._aside
        if self._is_right_by_itself and not aside:
            return Skeleton(ROOT)
        wanted = {pair.node: pair.obj for pair in reversed(self._placed)}
        if self._by_name is not None or len(wanted) < len(self._placed):
            return None  # a checkpoint gives a value to one object alone, and only by paths
        if self._conversions(self._placed):
            return None  # a restore converts no value
        if aside and not (wanted.keys() - {self._saved.save_counter} or self._planned):
            return None  # it would be empty
        counterparts = self._unbuilt_parts.holders_of(self._planned) | {
            node: pair.obj
            for node, pair in self._mapping.parts.items()
            if pair.certainty is not Certainty.GUESS
            and (node in wanted or not has_value(self._saved.nodes[node]))
        }
        arrangement = Arrangement(
            self._saved,
            self._live,
            wanted,
            counterparts,
            self._run.method,
            self._rehearsed,
            waiting=sorted(self._planned),
            aside=aside,
        )
        return gc_paused(arrangement.skeleton)

    @cached_property
    def _by_parts(self) -> Sequence[tuple[Skeleton, Sequence[Pair]]]:
        """Checkpoints of what no code can assign, such as tables, and the pairs that each restores.

        A checkpoint gives a value to one object alone, so a value of several needs several.
        """
        if self._skeleton is not None or self._by_name is not None:
            return ()
        checkpoints: list[tuple[Skeleton, Sequence[Pair]]] = []
        others = [pair for pair in self._placed if not is_variable(self._live, pair)]
        groups: list[list[Pair]] = []
        for pair in others:
            group = next((g for g in groups if pair.node not in {p.node for p in g}), None)
            if group is None:
                groups.append(group := [])
            group.append(pair)
        tries = _MOST_TRIES
        while groups and tries:
            group, tries = groups.pop(0), tries - 1
            skeleton = self._of_parts(group)
            if skeleton is not None:
                checkpoints.append((skeleton, group))
            elif len(group) > 1:  # one of them may be to blame
                groups += [group[: len(group) // 2], group[len(group) // 2 :]]
        return checkpoints

    def _of_parts(self, pairs: Sequence[Pair]) -> Skeleton | None:
        """Return the checkpoint that restores these pairs, and no value that belongs elsewhere."""
        wanted = {pair.node: pair.obj for pair in pairs}
        allowed = {pair.node: pair.obj for pair in reversed(self._placed)}
        return Arrangement(
            self._saved, self._live, wanted, wanted, "read", self._rehearsed, allowed
        ).skeleton()

    def _rehearsed(self, skeleton: Skeleton, method: str) -> Rehearsal | None:
        """Return a rehearsal with the live objects; the last one is not repeated."""
        if skeleton == Skeleton(ROOT):
            return Rehearsal(self._run, {obj: obj for obj in range(len(self._live.nodes))})
        if (skeleton, method) not in [known for known, _ in self._last]:
            self._last[:] = [((skeleton, method), rehearse(self._run, skeleton, method))]
        return self._last[0][1]

    @cached_property
    def _rehearsal(self) -> Rehearsal:
        skeleton = Skeleton(ROOT) if self._skeleton is None else self._skeleton
        rehearsal = self._rehearsed(skeleton, self._run.method)
        if rehearsal is None:
            rehearsal = rehearse_on_graphs(self._live, self._saved, skeleton, self._run.method)
        return rehearsal
