"""The fix of a restore: which value goes where, the code that does it, and its proof."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Generic, TypeVar

from ckpt_viz.changes.change import Change
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.reading import changes_of
from ckpt_viz.correspondence.guesses import guessed_parts
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair, is_guess
from ckpt_viz.correspondence.value_mapping import ValueMapping
from ckpt_viz.errors import SourceError
from ckpt_viz.expressions import operand
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Action, Cause, Trace
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.names import readable_name
from ckpt_viz.object_graph.nodes import ROOT, Role, has_value
from ckpt_viz.restore_check.arrangement import Arrangement
from ckpt_viz.restore_check.dry_run import (
    DamagedFile,
    DryRun,
    MeantPath,
    NoSuchPath,
    prefix_of,
)
from ckpt_viz.restore_check.file_dry_run import file_dry_run
from ckpt_viz.restore_check.finding import Finding
from ckpt_viz.restore_check.findings import find_all
from ckpt_viz.restore_check.live_dry_run import live_dry_run
from ckpt_viz.restore_check.rehearsal import (
    Rehearsal,
    checkpoint_of,
    rehearse,
    rehearse_on_graphs,
)
from ckpt_viz.restore_check.skeleton import Skeleton
from ckpt_viz.restore_check.verified import keys_read
from ckpt_viz.restore_check.warm_start_dry_run import WarmOutcome
from ckpt_viz.restore_fix.applying import (
    apply,
    assign_variables,
    is_applied,
    is_variable,
    put_held,
)
from ckpt_viz.restore_fix.code import (
    TO_WRITE_FIRST,
    Steps,
    assigning,
    reading,
    restores_by_itself,
    restoring,
    restoring_nothing,
)
from ckpt_viz.restore_fix.fixed_places import FixedPlaces, fixed_places
from ckpt_viz.restore_fix.guesses import Accepted, with_accepted
from ckpt_viz.restore_fix.in_words import Summary
from ckpt_viz.restore_fix.left_out import FixOfMapping, LeftOut, keys_of
from ckpt_viz.saved.saved_source import read_saved
from ckpt_viz.values.verifying import verify
from ckpt_viz.writing.rewrite import write_mapped

CheckT = TypeVar("CheckT")
_MOST_TRIES = 32  # checkpoints of parts
_OWN_CODE = frozenset({Cause.STAGES, Cause.SYMBOLIC, Cause.CODE})


@dataclass(frozen=True, repr=False)
class RestoreFix(Generic[CheckT]):
    """What to do so that every saved value goes where it belongs; it changes nothing by itself.

    Values whose place is a guess stay out unless `check.fix(guesses=…)` accepts them. `print` says
    what the fix does.
    """

    _run: DryRun = field(repr=False)
    _check_of: Callable[[DryRun], CheckT] = field(repr=False)
    _prefix: str | None = None
    _by_name: Graph | None = field(default=None, repr=False)
    _of_check: Sequence[Finding] | None = field(default=None, repr=False)
    _accepted: Accepted = field(default=False, repr=False)
    _last: list[tuple[tuple[Skeleton, str], Rehearsal | None]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What happened to the program since the checkpoint was written."""
        return changes_of(self._mapping, self._waiting | self._about(Kind.NOT_BUILT))

    @cached_property
    def pairs(self) -> Mapping[str, str]:
        """By checkpoint key, the name of the live object that the fixed restore gives its value.

        A value that was shared, and no longer is, goes to the first of its objects.
        """
        return {
            key: readable_name(self._live, pair.obj)
            for pair in reversed(self._sure)
            for key in self._keys(pair.node)
        }

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The names of all live objects that keep their values.

        The file has none for them, or their place is a guess. Or theirs are damaged or of another
        shape, or no code can restore theirs. Comments of `code` say which.
        """
        filled = {pair.obj for pair in self._sure}
        objects = [*self._mapping.missing, *(pair.obj for pair in self._mapping.pairs)]
        return tuple(readable_name(self._live, obj) for obj in sorted(set(objects) - filled))

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """The checkpoint keys that the fix leaves out, for one of the same reasons."""
        used = {pair.node for pair in self._sure} | self._waiting
        nodes = [*self._mapping.unused, *(pair.node for pair in self._mapping.pairs)]
        return tuple(key for node in sorted(set(nodes) - used) for key in self._keys(node))

    @cached_property
    def guesses(self) -> Mapping[str, str]:
        """By checkpoint key, the object that its value would go to if you accept the guess."""
        return {
            key: readable_name(self._live, pair.obj)
            for pair in self._mapping.pairs
            if is_guess(pair)
            for key in self._keys(pair.node)
        }

    @property
    def prefix(self) -> str | None:
        """The prefix of the checkpoint whose values it restores; None for a snapshot."""
        return None if self._saved.is_unwritten else prefix_of(self._saved)

    @property
    def code(self) -> str:
        """Python code that restores; `ckpt` is the checked object, `path` the checkpoint's prefix.

        It names the prefix itself if the check was of another path, such as that of a SavedModel.
        It needs tensorflow alone, and only its public functions. For a snapshot, `path` is what
        `snapshot.write(prefix)` returns, as a comment tells.
        """
        return self.to_code()

    def to_code(self, live: str = "ckpt", path: str | None = None) -> str:
        """Return the code with the caller's expression for the live object, and a prefix.

        Raises:
            SourceError: `live` is no expression, or no expression leads to one of the objects.
        """
        code = self._code(operand(live), self._prefix if path is None else path)
        if path is not None or not self._saved.is_unwritten:
            return code
        first = TO_WRITE_FIRST.format(source="snapshot" if self._saved.is_held else "graph")
        return f"{first}{code}"

    def _code(self, live: str, prefix: str | None) -> str:
        where = "path" if prefix is None else repr(prefix)
        reader = reading(prefix_of(self._saved), where)
        left = self._left_out
        if not self._sure and not self._waiting:
            return restoring_nothing(left)
        if self._skeleton is None:
            assigned = [pair for pair in self._sure if is_variable(self._live, pair)]
            keys = {pair.obj: self._keys(pair.node)[0] for pair in assigned}
            has_reshaped = any(pair.evidence is Evidence.RESHAPED for pair in assigned)
            steps = Steps(keys, [skeleton for skeleton, _ in self._by_parts], has_reshaped)
            return assigning(steps, self._live, left, live, where, reader)
        run = self._rehearsal.run
        how = run.method, run.verdicts, left, live, where, reader
        return restoring(self._skeleton, self._live, *how)

    def __str__(self) -> str:
        return "\n".join(self._summary.lines())

    def __repr__(self) -> str:
        return f"<RestoreFix of {self._summary.headline()}>"

    @property
    def _summary(self) -> Summary:
        accepted = {pair.node for pair in self._unasked.pairs if is_guess(pair)}
        return Summary(
            title=f"{self._saved.title} into {self._live.title}",
            restored=len(self.pairs),
            accepted=len({pair.node for pair in self._sure} & accepted),
            how=self._how,
            left=self._left_out,
            guessed_parts=[part.saved for part in guessed_parts(self._mapping)],
            following=[*self._following()],
        )

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
        """Yield what to do next."""
        if self._left_out.guesses:
            guesses = self._left_out.accepting
            yield f"{guesses} adds these guesses; with names of saved parts, it adds only theirs."
        if not self._sure and not self._waiting:
            yield "fix.changes says what happened to the program."
        elif self._live.origin is Origin.LIVE:
            yield "fix.apply() restores now, all values or none; fix.code is the same as a program."
        else:
            yield "Run fix.code in the program, or restore what fix.write(prefix) writes."

    @cached_property
    def check(self) -> CheckT:
        """The check of the fixed restore."""
        return self._check_of(self._rehearsal.run)

    def places(self, of_saved: Mapping[int, int]) -> FixedPlaces:
        """Return the mapping by nodes of a picture, whose nodes `of_saved` has by saved node."""
        trace = self._run.trace
        bound = trace.bound if isinstance(trace, Trace) else {}
        guessed = [part.node for part in guessed_parts(self._unasked)]
        return fixed_places(self._mapping, of_saved, bound, guessed)

    @property
    def is_applied(self) -> bool:
        """Whether every variable of `pairs` has its saved value now.

        It reads values until one differs.
        """
        return bool(self._sure) and is_applied(self._saved, self._live, self._sure)

    def apply(self) -> RestoreFix[CheckT]:
        """Restore now: every value of `pairs`, or none; return the fix.

        Values of a snapshot come from memory, and none waits for an object that is built later.
        Afterwards it compares every variable with the saved value. If a value differs, anything
        raises or you interrupt it, everything is as before, also what waits for objects.

        Raises:
            NotAppliedError: A value could not be restored; all values are as before.
            HalfChangedError: An object did not take its old value either. `changed` names the
                objects with other values than before, `old` those with their old ones.
            SourceError: The live side is a file, TensorFlow runs in graph mode: run `code`. Or an
                old value cannot be copied.
        """
        if not (self._sure or self._waiting) and self._live.origin is Origin.LIVE:
            return self  # a restore would still make a `save_counter`
        restore: Callable[[], None] | None = None
        if self._saved.is_unwritten:
            restore = partial(put_held, self._saved, self._live, self._sure)
        elif self._skeleton is not None:
            restore = self._restore
        elif self._by_parts:
            restore = self._restore_by_parts
        apply(self._saved, self._live, self._sure, restore)
        return self

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write a new checkpoint that the program restores with plain `restore`; return its prefix.

        It has the values of `pairs`, bit by bit, under the names of the program. A live object
        without a value is not in it, so `assert_existing_objects_matched` names it. TensorFlow is
        not needed. The program must not have changed since the check.

        Raises:
            CkptVizError: A file of the prefix exists or cannot be written, or a value cannot be
                read. No file remains.
        """
        path = os.fspath(prefix)
        empty = (
            p for p in self._mapping.parts.values() if not has_value(self._saved.nodes[p.node])
        )
        pairs = [(pair.node, pair.obj) for pair in (*self._sure, *empty)]
        reshaped = {p.node for p in self._sure if p.evidence is Evidence.RESHAPED}
        write_mapped(self._saved, self._live, pairs, path, reshaped)
        return path

    def _restore(self) -> None:
        source, method = self._live.source, self._rehearsal.run.method
        is_whole = self._skeleton == Skeleton(ROOT) and restores_by_itself(self._live, method)
        assert self._skeleton is not None
        checkpoint = source if is_whole else checkpoint_of(self._live, self._skeleton)
        getattr(checkpoint, method)(prefix_of(self._saved)).expect_partial()

    def _restore_by_parts(self) -> None:
        for skeleton, _ in self._by_parts:
            checkpoint = checkpoint_of(self._live, skeleton)
            checkpoint.read(prefix_of(self._saved)).expect_partial()
        assign_variables(self._saved, self._live, self._sure)

    @cached_property
    def _saved(self) -> Graph:
        saved = self._run.saved if self._by_name is None else self._by_name
        assert saved is not None
        return saved

    @property
    def _live(self) -> Graph:
        return self._run.live

    @cached_property
    def _mapping(self) -> ValueMapping:
        return with_accepted(self._unasked, self._accepted)

    @cached_property
    def _unasked(self) -> ValueMapping:
        """The mapping in which all guesses are open."""
        run, by_name = self._run, self._by_name
        return run.mapping if by_name is None else run.mapping_of(by_name)

    @cached_property
    def _plain(self) -> Mapping[int, int]:
        """By live object, the saved node whose value a plain restore gives it."""
        sources, size = self._run.sources_in(self._saved), len(self._live.nodes)
        return {obj: node for obj, node in sources.items() if obj < size}

    @cached_property
    def _left_out(self) -> LeftOut:
        wording = self._run.wording.guesses
        known = self._waiting, self._damaged, self._plain, wording
        return FixOfMapping(self._mapping, self._sure, *known).left_out()

    @cached_property
    def _waiting(self) -> frozenset[int]:
        """The saved nodes that wait until an object of the program is built."""
        return self._about(Kind.DEFERRED)

    def _about(self, kind: Kind) -> frozenset[int]:
        """Return the saved nodes that findings of a kind are about."""
        findings = (finding for finding in self._findings if finding.kind is kind)
        return frozenset(node for finding in findings for node in finding.nodes)

    @cached_property
    def _findings(self) -> Sequence[Finding]:
        if self._by_name is not None:
            return ()
        every = find_all(self._run) if self._of_check is None else self._of_check
        return tuple(part for finding in every for part in finding.all())

    @cached_property
    def _is_right_by_itself(self) -> bool:
        """Return whether a plain restore puts every sure value, and no other, into its place."""
        trace, nodes = self._run.trace, self._live.nodes
        if trace is None or self._run.verdicts.restore is not None:
            return False
        placed = {pair.obj: pair.node for pair in self._placed}
        if isinstance(trace, NameTrace):
            others = {obj for obj in self._plain if nodes[obj].role is Role.VARIABLE}
            return placed.items() <= self._plain.items() and others <= placed.keys()
        return trace.restored <= {*placed.values(), self._saved.save_counter} and all(
            node in trace.restored and trace.bound[node] == obj for obj, node in placed.items()
        )

    @cached_property
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fixed restore puts into their objects."""
        if self._skeleton is not None:
            return self._placed
        by_parts = frozenset(pair for _, pairs in self._by_parts for pair in pairs)
        return tuple(
            pair for pair in self._placed if is_variable(self._live, pair) or pair in by_parts
        )

    @cached_property
    def _placed(self) -> tuple[Pair, ...]:
        """The values whose place is sure, and whose bytes and objects are known to be whole."""
        return tuple(
            pair
            for pair in self._mapping.pairs
            if pair.certainty is not Certainty.GUESS
            and pair.node not in self._refused
            and pair.node not in self._damaged
        )

    @cached_property
    def _damaged(self) -> frozenset[int]:
        """The saved nodes whose bytes are missing, or damaged if the check has tested the bytes.

        It tests now what the checked restore would not read.
        """
        nodes = {pair.node for pair in self._mapping.pairs}
        key_sets = {
            node: {tensor for key in self._keys(node) for tensor in self._saved.tensor_keys(key)}
            for node in nodes
        }
        every = frozenset[str]().union(*key_sets.values())
        stored = [(key, self._saved.stored(key)) for key in every]
        damaged = {key for key, tensor in stored if tensor is not None and tensor.error is not None}
        if self._run.tested is not None:
            faults = verify(self._saved, every - set(keys_read(self._run)), progress=False)
            damaged |= {fault.key for fault in (*self._run.tested.verification, *faults)}
        return frozenset(node for node, keys in key_sets.items() if not keys.isdisjoint(damaged))

    @cached_property
    def _refused(self) -> frozenset[int]:
        """The saved nodes whose objects refuse the values by their own code, such as iterators."""
        trace = self._run.trace
        steps = trace.steps_of(Action.FAIL) if isinstance(trace, Trace) else ()
        causes = ((step.node, step.failure.cause) for step in steps if step.failure is not None)
        return frozenset(node for node, cause in causes if node is not None and cause in _OWN_CODE)

    @cached_property
    def _skeleton(self) -> Skeleton | None:
        """The live objects under saved names; None if no such arrangement restores all pairs."""
        if self._is_right_by_itself:
            return Skeleton(ROOT)
        wanted = {pair.node: pair.obj for pair in reversed(self._placed)}
        if self._by_name is not None or len(wanted) < len(self._placed):
            return None  # a checkpoint gives a value to one object alone, and only by paths
        counterparts = {
            node: pair.obj
            for node, pair in self._mapping.parts.items()
            if pair.certainty is not Certainty.GUESS
            and (node in wanted or not has_value(self._saved.nodes[node]))
        }
        arrangement = Arrangement(
            self._saved, self._live, wanted, counterparts, self._run.method, self._rehearsed
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

    def _keys(self, node: int) -> tuple[str, ...]:
        return keys_of(self._saved, node)

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


def _why_not(run: DryRun) -> str:
    """Return why a checkpoint cannot be read, as the end of a sentence."""
    match run.correction:
        case NoSuchPath(advice):
            return f": {advice}"
        case DamagedFile(why):
            return f": {why}"
    return ""


def fix_of(
    run: DryRun,
    findings: Sequence[Finding],
    check_of: Callable[[DryRun], CheckT],
    accepted: Accepted = False,
) -> RestoreFix[CheckT]:
    """Return the fix of a dry run with these findings, with the guesses that are accepted.

    Raises SourceError if there is no checkpoint, or if a Saver restores it. It raises what
    `with_accepted` raises.

    Where a restore finds no checkpoint at the path, as at the directory of a SavedModel, it is the
    fix of the one that the path means.
    """
    fix = _fix_of(run, findings, check_of)
    if accepted is False:
        return fix
    accepting = replace(fix, _accepted=accepted)
    _ = accepting._mapping  # raises for a name without a guess
    return accepting


def _fix_of(
    run: DryRun, findings: Sequence[Finding], check_of: Callable[[DryRun], CheckT]
) -> RestoreFix[CheckT]:
    if run.saved is not None:
        return RestoreFix(run, check_of, _of_check=findings)
    live, is_meant = run.live, isinstance(run.correction, MeantPath)
    if isinstance(run.outcome, WarmOutcome):
        raise SourceError(
            f"{live.title}: a map takes values by names, expected a program of objects; the "
            "findings tell which names to write into the map"
        )
    if live.is_name_based or (live.source is not None and tf_private.is_saver(live.source)):
        raise SourceError(
            f"{live.title}: a Saver restores by names, expected a program of objects; the findings "
            "have code for names that have changed"
        )
    if not run.reading or not (is_meant or run.outcome.tensors):
        raise SourceError(
            f"{run.reading}: a fix needs a checkpoint that can be read{_why_not(run)}"
        )
    saved = read_saved(run.reading)
    prefix = prefix_of(saved) if is_meant else None
    if saved.is_name_based:
        return RestoreFix(run, check_of, prefix, saved)
    if live.origin is Origin.LIVE:
        run = live_dry_run(live.source, saved, run.method, None)
    else:
        run = file_dry_run(live, saved, method=run.method)
    return RestoreFix(run, check_of, prefix)
