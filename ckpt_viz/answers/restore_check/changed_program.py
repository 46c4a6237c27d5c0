"""A program that someone has changed, to see how the check of a restore changes with it.

Nothing touches the program itself: its objects answer as they are, in the places that they have in
an edited graph (`edits`). A checkpoint in place of a program is a program that would save exactly
this checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from ckpt_viz.answers.dry_runs.dry_run import DryRun, prefix_of
from ckpt_viz.answers.dry_runs.file_dry_run import file_dry_run
from ckpt_viz.answers.dry_runs.live_dry_run import RestoreByPath
from ckpt_viz.answers.dry_runs.stories import story_of
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.answers.rules.findings import find_all
from ckpt_viz.errors import EditError
from ckpt_viz.graphs.edits.draft import is_list, reordered
from ckpt_viz.graphs.edits.edited_access import (
    assert_unchanged,
    first_graph,
    node_after,
    node_before,
    origins_of,
)
from ckpt_viz.graphs.edits.edits import GivenPart, given
from ckpt_viz.graphs.edits.named_edit import NamedEdit, code_of_new
from ckpt_viz.graphs.edits.typed_name import edit_of_typed, free_name
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.text import count
from ckpt_viz.ground.wording import CHANGED
from ckpt_viz.live.restoring.restore_target import RestoreTarget, restoring_into
from ckpt_viz.matching.engines.trace import Action, Trace
from ckpt_viz.matching.story.columns import ACTIONS, PROBLEM, StepColumns, columns_of

_RESTORED = ACTIONS.index(Action.RESTORE.value)


class WhatIf(NamedTuple):
    """What else may differ: the method of the call, `expect_partial()`, the order of the save."""

    method: str | None = None
    is_partial: bool = False
    is_reordered: bool = False


AS_IT_IS = WhatIf()


class EditLine(NamedTuple):
    """An edit in words, and as the Python that does the same to the program."""

    text: str
    code: str


class Result(NamedTuple):
    """What a restore comes to, to compare two of them.

    `method` is the call: restore or read. `raises` is the class of the error that the call raises,
    "" for none; the three booleans say
    whether the asserts pass. `warnings` are the lines that TensorFlow logs at the end about saved
    values without an object.
    """

    method: str
    raises: str
    consumed: bool
    existing_objects_matched: bool
    nontrivial_match: bool
    restored: int
    warnings: int
    steps: int


@dataclass(frozen=True)
class ChangedProgram:
    """The program of a check after some edits, and the check of the same restore into it.

    `graph` is that of the program after the edits. `source` is the expression for its root in code.
    """

    first: _FirstProgram
    graph: Graph
    what_if: WhatIf = AS_IT_IS
    lines: tuple[EditLine, ...] = ()
    source: str = "ckpt"
    # The node that the last edit was about; None if there is none.
    edited: int | None = None

    @classmethod
    def of(cls, check: RestoreCheck, source: str = "ckpt") -> ChangedProgram:
        """Return the program of a check as it is. Raises EditError if it cannot be changed."""
        return cls(_FirstProgram(check), check.live, source=source)

    def after(self, edit: NamedEdit) -> ChangedProgram:
        """Return the program after one edit more. Raises EditError and NoSuchNodeError."""
        graph = edit.applied(self.graph)
        line = EditLine(edit.text(self.graph), edit.code(self.graph, self.source))
        return self._with(graph, line, edit.edited(self.graph, graph))

    def named(self, node: int, typed: str, was: str = "") -> ChangedProgram:
        """Return the program after the edit that a typed name means, no name for removal.

        `was` is the name before, or the end of its path.
        """
        return self.after(edit_of_typed(self.graph, node, typed, was, self._saved_in))

    def _saved_in(self, holder: int) -> set[str]:
        """Return the names that the checkpoint has in place of a holder's children."""
        same = (node for node, obj in self._trace.bound.items() if obj == holder)
        return {child.local_name for node in same for child in self.saved.nodes[node].children}

    def with_copy(self, node: int) -> ChangedProgram:
        """Return the program with a part like another one beside it."""
        holder = max(self.graph.tree.parents[node], ROOT)
        return self.after(NamedEdit("insert", node, free_name(self.graph, node), holder))

    def moved(self, node: int, by: int) -> ChangedProgram:
        """Return the program with an item of a list that many places further."""
        holder = self.graph.tree.parents[node]
        children = self.graph.nodes[holder].children if holder >= 0 else ()
        place = int(self.graph.tree.labels[node]) + by if is_list(children) else -1
        if not 0 <= place < len(children):
            name = self.graph.names.place(node)
            raise EditError(f"{self.graph.title}: {name} has no item of a list on that side")
        return self.after(NamedEdit("move", node, str(place), holder))

    def with_saved(self, node: int) -> ChangedProgram:
        """Return the program with a part of the checkpoint that it lacks, in the same place."""
        saved, bound = self.saved, self._trace.bound
        holder = bound.get(saved.tree.parents[node], -1)
        name, place = saved.tree.labels[node], saved.names.place(node)
        if not 0 <= holder < len(self.graph.nodes):
            raise EditError(
                f"{self.graph.title}: the program lacks the holder of {place}; insert that first"
            )
        graph = self._given([GivenPart(node, holder, name)])
        code = code_of_new(self.graph, holder, name, self.source)
        line = EditLine(f"Insert {place}, as it was saved", code)
        return self._with(graph, line, node_after(graph, len(self.graph.nodes)))

    def built(self) -> ChangedProgram:
        """Return the program with all that waits: as if it were built before the restore."""
        parts = [*self._waiting()]
        if not parts:
            raise EditError(f"{self.graph.title}: nothing waits; the program is built")
        text = f"Build before the restore: {count(len(parts), 'part')} that waited"
        code = "# Call the model once, and build its optimizer, before the restore."
        return self._with(self._given(parts), EditLine(text, code), None)

    @cached_property
    def before(self) -> ChangedProgram:
        """The program before all edits, with the call as it was checked."""
        return replace(self, graph=self.first.check.live, what_if=AS_IT_IS, lines=(), edited=None)

    def supposing(self, what_if: WhatIf) -> ChangedProgram:
        """Return the same program under other conditions."""
        return self if what_if == self.what_if else replace(self, what_if=what_if)

    def _with(self, graph: Graph, line: EditLine, edited: int | None) -> ChangedProgram:
        return replace(self, graph=graph, lines=(*self.lines, line), edited=edited)

    def _given(self, parts: list[GivenPart]) -> Graph:
        size = len(self.graph.nodes)
        known = {node: obj for node, obj in self._trace.bound.items() if 0 <= obj < size}
        return given(self.graph, self.saved, parts, known)

    def _waiting(self) -> Iterator[GivenPart]:
        """Yield the parts that wait at an object of the program at the end of the restore."""
        bound, size = self._trace.bound, len(self.graph.nodes)
        places = set[tuple[int, str]]()
        for step in self._trace.steps:
            if step.action is not Action.DEFER or step.node in bound or step.obj is None:
                continue
            if step.obj < size and step.node is not None and (step.obj, step.name) not in places:
                places.add((step.obj, step.name))
                yield GivenPart(step.node, step.obj, step.name)

    @property
    def saved(self) -> Graph:
        """The graph of the checkpoint, in the order of the save that took place."""
        return self.first.saved

    def saved_node_at(self, place: int) -> int | None:
        """Return the node of `saved` at a place of the check's picture; None if it has no such."""
        nodes = (node for node, at in self.check.saved_places.items() if at == place)
        node, saved = next(nodes, None), self.check.saved
        if node is None or saved is None or not self.what_if.is_reordered:
            return node
        return node_before(saved, node)

    @property
    def _trace(self) -> Trace:
        trace = self._run.by_objects
        assert trace is not None
        return trace

    @property
    def _is_first(self) -> bool:
        return not self.lines and self.what_if == AS_IT_IS

    @cached_property
    def check(self) -> RestoreCheck:
        """The check of the restore into this program."""
        if self._is_first:
            return self.first.check
        return gc_paused(lambda: RestoreCheck(self._run, find_all(self._run)))

    # --- the verdict, which a page shows before anything finds the causes

    @cached_property
    def _run(self) -> DryRun:
        if self._is_first:
            return self.first.check._run
        return gc_paused(lambda: self.first.run_into(self.graph, self.what_if))

    @cached_property
    def _columns(self) -> StepColumns:
        return columns_of(story_of(self._run))

    @cached_property
    def result(self) -> Result:
        """What the restore comes to."""
        verdicts, actions = self._run.verdicts, self._columns.actions
        left = len(verdicts.unresolved) + sum(map(len, self._run.unused_attributes().values()))
        return Result(
            self._run.method,
            "" if verdicts.restore is None else verdicts.restore.type,
            verdicts.consumed is None,
            verdicts.existing is None,
            verdicts.nontrivial is None,
            sum(action & ~PROBLEM == _RESTORED for action in actions),
            0 if self.what_if.is_partial or verdicts.restore is not None else left,
            len(actions),
        )

    def first_difference(self, other: ChangedProgram) -> int | None:
        """Return the number of the first step, from 0 on, that differs from another restore."""
        pairs = zip_longest(_signs_of(self), _signs_of(other))
        return next((at for at, (own, others) in enumerate(pairs) if own != others), None)


@dataclass(frozen=True)
class _FirstProgram:
    """The program of a check before all edits."""

    check: RestoreCheck
    _targets: dict[str, RestoreTarget] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        run = self.check._run
        if not run.can_change:
            raise EditError(
                f"{run.live.title}: only a restore by objects that has not happened yet can be "
                "checked with a changed program"
            )

    @property
    def saved(self) -> Graph:
        """The graph of the checkpoint."""
        assert self.check.saved is not None
        return self.check.saved

    def run_into(self, live: Graph, what_if: WhatIf) -> DryRun:
        """Return the dry run of the restore into a changed program."""
        run = self.check._run
        method = what_if.method or run.method
        saved = reordered(self.saved) if what_if.is_reordered else self.saved
        path = run.reading or prefix_of(self.saved)
        if self._live.origin is not Origin.LIVE:
            return replace(file_dry_run(live, saved, method=method), wording=CHANGED)
        restore = RestoreByPath(self._target(method))
        outcome = restore.of_changed(live, saved, path)
        return DryRun(outcome, method, path, wording=CHANGED)

    def _target(self, method: str) -> RestoreTarget:
        if method not in self._targets:
            target = restoring_into(self._live.source, method, skips_slots=False)
            assert_unchanged(self._live, target.graph)
            self._targets[method] = target
        return self._targets[method]

    @property
    def _live(self) -> Graph:
        """The graph of the program that exists; the check may be of an edited one."""
        return first_graph(self.check.live)


def _signs_of(program: ChangedProgram) -> Iterator[tuple[int, int, int, str, int | None]]:
    """Yield what tells a step from another one: the object by what it was before all edits."""
    columns, origins = program._columns, origins_of(program.graph)
    for action, saved, live, holder, name in zip(*columns[:5], strict=True):
        obj = origins[live].node if 0 <= live < len(origins) else None
        yield action & ~PROBLEM, saved, holder, columns.texts[name], obj
