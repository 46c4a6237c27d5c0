"""The fix of a restore by a `tf.compat.v1.train.Saver`: each value, under its name in the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of
from ckpt_viz.answers.dry_runs.saver_dry_run import SaverOutcome
from ckpt_viz.answers.dry_runs.verdicts import Verdicts
from ckpt_viz.answers.restore_fix.applying_names import assign, is_assigned
from ckpt_viz.answers.restore_fix.code import reading, restoring_nothing
from ckpt_viz.answers.restore_fix.names_written import write_names
from ckpt_viz.answers.restore_fix.restore_fix import TWO_WAYS, CheckT, RestoreFix
from ckpt_viz.answers.restore_fix.saver_code import SaverCode
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.expressions import operand
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.correspondence.of_savers import NamesMapping
from ckpt_viz.matching.correspondence.pairs import Pair
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Action, Step


@dataclass(frozen=True, repr=False)
class FixOfSaver(RestoreFix[CheckT]):
    """The fix of a Saver's restore, or of a name-based file in the place of its program."""

    def to_code(self, live: str | None = None, path: str | None = None) -> str:
        """Return the code with the caller's expressions; `saver` is the checked Saver."""
        prefix = self._prefix if path is None else path
        where = "path" if prefix is None else repr(prefix)
        if not self._sure:
            return restoring_nothing(self._left_out)
        saver, reader = (
            operand("saver" if live is None else live),
            reading(prefix_of(self._saved), where),
        )
        return self._in_code.text(self._sure, self._left_out, saver, where, reader)

    @property
    def free_names(self) -> tuple[str, ...]:
        """The names in `code` that the program has."""
        program = self._in_code.program
        names = ("saver",) if self._in_code.needs_saver else ()
        return (*names, *(() if program.is_eager else ("session",)), "path")

    @cached_property
    def check(self) -> CheckT:
        """The check of the fixed restore."""
        return self._check_of(self._fixed)

    @property
    def is_applied(self) -> bool:
        """Whether every variable of `pairs` has its saved value now, in the default session."""
        return bool(self._sure) and is_assigned(self._names, self._sure, self._in_code.program)

    def apply(self, session: Any = None) -> RestoreFix[CheckT]:
        """Restore now, in a session if the variables are in a graph; return the fix."""
        if self._live.origin is not Origin.LIVE:
            raise SourceError(
                f"{self._live.title}: found saved values; run fix.code in the program"
            )
        if self._sure:
            assign(self._names, self._sure, self._in_code.program, session)
        return self

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write a new file with the names of the program; return its prefix."""
        if self.missing:
            raise SourceError(
                f"{self._live.title}: the checkpoint has no sure value for {listed(self.missing)}, "
                "and a Saver raises for a name that the file lacks; run fix.code instead"
            )
        path = os.fspath(prefix)
        write_names(self._names, self._sure, path)
        return path

    @property
    def _how(self) -> str:
        if self._in_code.is_plain:
            return "with a plain restore()"
        return "under their names in the file"

    def _following(self) -> Iterator[str]:
        if self._left_out.guesses:
            guesses = self._left_out.accepting
            yield f"{guesses} adds these guesses; with names of saved parts, it adds only theirs."
        if not self._sure:
            yield "fix.changes says what happened to the program."
        elif self._live.origin is not Origin.LIVE:
            yield "Run fix.code in the program."
        elif self._in_code.program.is_eager:
            yield TWO_WAYS
        else:
            yield "Run fix.code, or call fix.apply(session)."

    @property
    def _names(self) -> NamesMapping:
        mapping = self._mapping
        assert isinstance(mapping, NamesMapping)
        return mapping

    @cached_property
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fixed restore puts into their variables."""
        if self._in_code.is_plain:
            return self._placed
        return tuple(pair for pair in self._placed if self._in_code.reaches(pair.obj))

    @cached_property
    def _placed(self) -> tuple[Pair, ...]:
        """The values whose place is sure; of a value in parts all of them, or none."""
        joined, placed = self._names.joined, super()._placed
        nodes = {pair.node for pair in placed}
        return tuple(
            pair
            for pair in placed
            if pair.obj not in joined or nodes.issuperset(joined[pair.obj].nodes)
        )

    @cached_property
    def _in_code(self) -> SaverCode:
        program = self._run.outcome.saver
        assert program is not None
        is_plain = self._is_right_by_itself and not self._run.outcome.loses_parts
        return SaverCode(self._names, program, is_plain)

    @property
    def _fixed(self) -> DryRun:
        """The dry run of a Saver of the variables that the fix restores."""
        if self._in_code.is_plain or not self._sure:
            return self._run
        trace = NameTrace()
        for pair in self._sure:
            (key,) = self._keys(pair.node)
            trace.add(Step(Action.RESTORE, None, pair.obj, None, key, (key,)))
        keys = [value.checkpoint_key for node in self._saved.nodes for value in node.attributes]
        stored = {key: self._saved.stored(key) or Stored(None, None) for key in keys}
        filled = {pair.obj for pair in self._sure}
        left = tuple(obj for obj in self._names.live.first_edges if obj not in filled)
        valued = tuple(obj for obj in left if self._live.nodes[obj].attributes)
        outcome = SaverOutcome(
            self._run.outcome.names,
            Verdicts(unmatched=valued),
            trace,
            tensors=stored,
            reshapes=True,
            program=self._in_code.program,
        )
        return replace(self._run, outcome=outcome, correction=None)
