"""What a fix of a restore is: which value goes where, what stays out, and the code that does it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Generic, TypeVar

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.verified import keys_read
from ckpt_viz.answers.restore_fix.guesses import Accepted, with_accepted
from ckpt_viz.answers.restore_fix.left_out import LeftOut, keys_of, left_out
from ckpt_viz.answers.rules.findings import find_all
from ckpt_viz.answers.table.check_table import table_of_run
from ckpt_viz.errors import SourceError
from ckpt_viz.files.values.verifying import verify
from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.text import count, listed, printable
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.correspondence.conversions import Conversion, Form
from ckpt_viz.matching.correspondence.guesses import guessed_parts
from ckpt_viz.matching.correspondence.pairs import Certainty, Pair, is_guess
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, with_counters
from ckpt_viz.matching.restore_table.fixed_values import FixedValues
from ckpt_viz.matching.restore_table.rows import RestoreTable

TWO_WAYS = (
    "fix.apply() restores now, all values or none; fix.code is the same as a program, for your "
    "path."
)
CheckT = TypeVar("CheckT")


@dataclass(frozen=True, repr=False)
class RestoreFix(ABC, Generic[CheckT]):
    """What to do so that every saved value goes where it belongs; it changes nothing by itself.

    >>> fix = cv.check(ckpt, "ckpts/ckpt-3").fix()
    >>> fix
    <RestoreFix of ckpts/ckpt-3 into Checkpoint: 4 values restored>
    >>> [change.kind.value for change in fix.changes]
    ['renamed', 'shape']
    >>> print(fix.code.splitlines()[0])
    import tensorflow as tf
    >>> fix.write("fixed/ckpt")  # a checkpoint that the program restores by itself
    'fixed/ckpt'

    Values whose place is a guess stay out unless `check.fix(guesses=…)` accepts them. `print` says
    what the fix does.
    """

    _run: DryRun = field(repr=False)
    _check_of: Callable[[DryRun], CheckT] = field(repr=False)
    _prefix: str | None = None
    _by_name: Graph | None = field(default=None, repr=False)
    _of_check: Sequence[Finding] | None = field(default=None, repr=False)
    _accepted: Accepted = field(default=False, repr=False)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What happened to the program since the checkpoint was written."""
        if self._run.is_unchanged:
            return ()
        mapping = self._mapping.without(self._unbuilt)  # nothing has happened to these
        return changes_of(mapping, self._waiting | self._about(Kind.NOT_BUILT))

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
        kept = (row.live for row, _ in self.table.not_restored if row.live is not None)
        return tuple(readable_name(self._live, obj) for obj in sorted(kept))

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """The checkpoint keys that the fix leaves out, for one of the same reasons."""
        rows = (row for row, _ in self.table.not_restored if row.saved not in self._waiting)
        left = (row.saved for row in rows if row.saved is not None)
        return tuple(key for node in sorted(left) for key in self._keys(node))

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

        That of a Saver has the names `session`, unless its variables are eager, and sometimes
        `saver`, the checked Saver.

        It names the prefix itself if the check was of another path, such as that of a SavedModel,
        and the path of Keras' own file. It needs TensorFlow alone, for Keras' file Keras and h5py,
        and only their public functions. For a snapshot, `path` is what `snapshot.write(prefix)`
        returns, as a comment tells.
        """
        return self.to_code()

    @abstractmethod
    def to_code(self, live: str | None = None, path: str | None = None) -> str:
        """Return the code with the caller's expression for the live object, and a prefix.

        Raises:
            SourceError: `live` is no expression, or no expression leads to one of the objects.
        """

    def __str__(self) -> str:
        pairs, left = {pair.node for pair in self._sure}, self._left_out
        asked = {pair.node for pair in self._unasked.pairs if is_guess(pair)}
        accepted = len(pairs & asked)
        first = "restores nothing: no value has a sure place"
        if self.pairs:
            taken = f", {accepted} of them accepted guesses" if accepted else ""
            first = f"restores {count(len(self.pairs), 'value')} {self._how}{taken}"
        lines = [first]
        if self._saved.save_counter in pairs:
            lines.append("save_counter is restored, so save() counts on from this checkpoint")
        for words, names in self._converted.items():
            lines.append(f"{count(len(names), 'value')} {words}: {listed([*names])}")
        lines += left.in_words([part.saved for part in guessed_parts(self._mapping)])
        return "\n".join(
            [
                printable(self._title),
                *(f"  {printable(line)}" for line in lines),
                *self._following(),
            ]
        )

    def _repr_html_(self) -> str:
        """Return the text and the code for a notebook, both escaped."""
        with suppress(SourceError):  # no expression leads to one of the objects
            code = (
                f"<details open><summary>fix.code</summary><pre>{escape(self.code)}</pre></details>"
            )
            return f"<div><pre>{escape(str(self))}</pre>{code}</div>"
        return f"<div><pre>{escape(str(self))}</pre></div>"

    def __repr__(self) -> str:
        left = count(len(self._left_out.guesses), "guess", "guesses")
        more = f", {left} left out" if self._left_out.guesses else ""
        restored = count(len(self.pairs), "value")
        return f"<RestoreFix of {printable(self._title)}: {restored} restored{more}>"

    @property
    def _title(self) -> str:
        return f"{self._saved.title} into {self._live.title}"

    @property
    def _converted(self) -> Mapping[str, Sequence[str]]:
        """By what happens to values that change their form, the names of their objects."""
        names: dict[str, list[str]] = {}
        for obj, conversion in self._conversions(self._sure).items():
            names.setdefault(conversion.words, []).append(self._live.names.place_or_state(obj))
        return names

    @property
    def free_names(self) -> tuple[str, ...]:
        """The names in `code` that the program has."""
        return ("ckpt", "path")

    @property
    @abstractmethod
    def _how(self) -> str:
        """How the fix restores, for the text."""

    @abstractmethod
    def _following(self) -> Iterator[str]:
        """Yield what to do next."""

    @property
    @abstractmethod
    def check(self) -> CheckT:
        """The check of the fixed restore."""

    @cached_property
    def table(self) -> RestoreTable:
        """Where each value goes, by the checked call and by the fix: a row for each value."""
        return self._table_of(self._run, self._findings, {})

    def table_beside(self, run: DryRun) -> RestoreTable:
        """Return the table with the call of `run` beside the fix, as that of a path means another.

        Such a call restores nothing from the checkpoint that the path means. The program may have
        other objects by now: a real call makes a `save_counter`.
        """
        if run is self._run:
            return self.table
        if run.live.origin is not Origin.LIVE:
            return self._table_of(run, (), {})
        checked, number = run.live, len(run.live.nodes)
        nodes = {id(checked.object(node)): node for node in range(number)}
        objects = ((n, self._live.object(n)) for n in range(len(self._live.nodes)))
        # What the program did not have at the check has a number behind all others.
        places = {n: nodes.get(id(obj), number) for n, obj in objects if obj is not None}
        return self._table_of(run, (), places)

    def _table_of(
        self, run: DryRun, findings: Sequence[Finding], places: Mapping[int, int]
    ) -> RestoreTable:
        """Return the table of a call; `places` has other nodes of objects in its program."""

        def placed(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
            return tuple(pair._replace(obj=places.get(pair.obj, pair.obj)) for pair in pairs)

        sure, every = frozenset(self._sure), (*self._mapping.pairs, *self._mapping.misfits)
        values = FixedValues(
            placed(self._sure),
            placed(pair for pair in every if pair not in sure),
            self._waiting,
            self._unbuilt,
            self._damaged,
            frozenset(pair.node for pair in self._mapping.misfits),
            frozenset(n for (n, _), c in self._mapping.conversions.items() if c.form is Form.PART),
        )
        return gc_paused(lambda: table_of_run(run, self._saved, findings, values))

    @property
    @abstractmethod
    def is_applied(self) -> bool:
        """Whether every variable of `pairs` has its saved value now.

        It reads values until one differs.
        """

    @abstractmethod
    def apply(self, session: Any = None) -> RestoreFix[CheckT]:
        """Restore now: every value of `pairs`, or none; return the fix.

        Variables in a TensorFlow 1 graph need its `session`; the default is the default session.

        Values of a snapshot come from memory, and none waits for an object that is built later.
        Afterwards it compares every variable with the saved value. If a value differs, anything
        raises or you interrupt it, everything is as before, also what waits for objects.

        Raises:
            NotAppliedError: A value could not be restored; all values are as before.
            HalfChangedError: An object did not take its old value either. `changed` names the
                objects with other values than before, `old` those with their old ones.
            SourceError: The live side is a file, TensorFlow runs in graph mode: run `code`. Or an
                old value cannot be copied, or there is no session of the variables' graph.
        """

    @abstractmethod
    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write a new checkpoint that the program restores with plain `restore`; return its prefix.

        It has the values of `pairs`, bit by bit unless they change their form, under the names of
        the program. A live object without a value is not in it, so
        `assert_existing_objects_matched` names it. TensorFlow is not needed. The program must not
        have changed since the check.

        A path that ends with `.weights.h5` is for a live Keras model: Keras itself writes the file,
        which the model loads with `load_weights`. There, a variable without a saved value has the
        value that it has in the program.

        Raises:
            CkptVizError: A file of the prefix exists or cannot be written, or a value cannot be
                read. No file remains.
            SourceError: The path is of another file of Keras, or the program is no Keras model.
        """

    @property
    @abstractmethod
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fixed restore puts into their objects."""

    @cached_property
    def _placed(self) -> tuple[Pair, ...]:
        """The values whose place is sure, and whose bytes are known to be whole."""
        return tuple(
            pair
            for pair in self._mapping.pairs
            if pair.certainty is not Certainty.GUESS and pair.node not in self._damaged
        )

    def _conversions(self, pairs: Iterable[Pair]) -> Mapping[int, Conversion]:
        """Return how the values of pairs change their form, by live object."""
        every = self._mapping.conversions
        return {pair.obj: every[pair[:2]] for pair in pairs if pair[:2] in every}

    @cached_property
    def _saved(self) -> Graph:
        saved = self._run.saved if self._by_name is None else self._by_name
        assert saved is not None
        return saved

    @cached_property
    def _live(self) -> Graph:
        return self._run.program(self._saved)

    def _in_program(self, obj: int) -> int | None:
        """Return the node of an object in the check; None for one that only a restore makes."""
        if obj < len(self._run.live.nodes):
            return obj
        return self._live.save_counter if self._run.outcome.names.is_save_counter(obj) else None

    @cached_property
    def _mapping(self) -> ValueMapping:
        return with_accepted(self._unasked, self._accepted)

    @cached_property
    def _unasked(self) -> ValueMapping:
        """The mapping in which all guesses are open."""
        run = self._run
        mapping = run.mapping if self._by_name is None else run.mapping_of_names
        return with_counters(mapping, self._live)

    @cached_property
    def _plain(self) -> Mapping[int, int]:
        """By live object, the saved node whose value a plain restore gives it, if it returns."""
        if self._run.verdicts.restore is not None:
            return {}
        sources = self._run.sources_in(self._saved).items()
        placed = ((self._in_program(obj), node) for obj, node in sources)
        return {obj: node for obj, node in placed if obj is not None}

    @cached_property
    def _left_out(self) -> LeftOut:
        return left_out(self.table, self._run.wording.guesses)

    @cached_property
    def _waiting(self) -> frozenset[int]:
        """The saved nodes that wait until an object of the program is built."""
        return self._about(Kind.DEFERRED)

    @property
    def _unbuilt(self) -> frozenset[int]:
        """The saved values that stay in the file until their part of the program is built."""
        return frozenset()

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
        trace, nodes = self._run.by_objects, self._live.nodes
        if self._run.trace is None or self._run.verdicts.restore is not None:
            return False
        if not all(each.is_cast for each in self._conversions(self._placed).values()):
            return False
        placed = {pair.obj: pair.node for pair in self._placed}
        if trace is None:
            others = {obj for obj in self._plain if nodes[obj].role is Role.VARIABLE}
            return placed.items() <= self._plain.items() and others <= placed.keys()
        # A slot variable that the restore makes is new: no value there can be wrong.
        objects = {node: self._in_program(trace.bound[node]) for node in trace.restored}
        others = {node for node, obj in objects.items() if obj is not None}
        return others <= {*placed.values(), self._saved.save_counter} and all(
            objects.get(node) == obj for obj, node in placed.items()
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

    def _keys(self, node: int) -> tuple[str, ...]:
        return keys_of(self._saved, node)
