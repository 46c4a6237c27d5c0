"""A dry run of an object-based checkpoint, with the parts that the rules use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.evidence.placement import Placement
from ckpt_viz.answers.evidence.sides import LiveSide, SavedSide
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Fix, HowFixed
from ckpt_viz.graphs.slots.keras_optimizers import generation_of
from ckpt_viz.graphs.slots.optimizer_table import Generation
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, is_guess
from ckpt_viz.matching.correspondence.signatures import Signatures
from ckpt_viz.matching.engines.trace import Trace

_SURE = (Certainty.CERTAIN, Certainty.LIKELY)


@dataclass(frozen=True)
class Case:
    """A dry run of an object-based checkpoint, and its two sides as the rules see them."""

    run: DryRun
    trace: Trace
    saved: Graph
    _changes: dict[frozenset[int], Sequence[Change]] = field(default_factory=dict, repr=False)

    @property
    def live(self) -> Graph:
        """The graph of the live side."""
        return self.run.live

    @cached_property
    def saved_side(self) -> SavedSide:
        """The content of the checkpoint, and the part of it that finds no object."""
        return SavedSide(self.saved, self.trace, self.run.verdicts.unresolved)

    @cached_property
    def live_side(self) -> LiveSide:
        """The content of the program, and the part of it that the checkpoint lacks."""
        names = self.run.outcome.names
        return LiveSide(names.graph, self.trace, self.run.verdicts.unmatched, names)

    @cached_property
    def placement(self) -> Placement:
        """Where values go, and where they belong."""
        return Placement(self.saved_side, self.live_side, self.run)

    @cached_property
    def signatures(self) -> Signatures:
        """Which subtrees are equal."""
        return Signatures(self.saved, self.live)

    def called(self, obj: int) -> str:
        """Return what people call a live object, with its class: `optimizer (Adam)`."""
        type_name = type(self.live_side.object(obj)).__name__
        return f"this {type_name}" if obj == ROOT else f"{self.live_side.place(obj)} ({type_name})"

    @cached_property
    def fixed(self) -> frozenset[int]:
        """The saved nodes whose values the fix restores."""
        return frozenset(p.node for p in self.run.mapping.pairs if p.certainty in _SURE)

    @cached_property
    def filled_by_fix(self) -> frozenset[int]:
        """The live objects whose values the fix restores."""
        return frozenset(p.obj for p in self.run.mapping.pairs if p.certainty in _SURE)

    @cached_property
    def guessed(self) -> frozenset[int]:
        """The saved nodes whose values the fix restores if a person accepts the guesses."""
        return frozenset(p.node for p in self.run.mapping.pairs if is_guess(p)) - self.fixed

    def fix_of(self, nodes: Collection[int]) -> Fix | None:
        """Return the fix that brings saved values to their places; None if it brings none."""
        fixed, guesses = self.fixed.intersection(nodes), self.guessed.intersection(nodes)
        return Fix(HowFixed.BY_PLACES, len(fixed), len(guesses)) if fixed or guesses else None

    def changes(self, waiting: frozenset[int]) -> Sequence[Change]:
        """Return what happened to the program.

        `waiting` are the saved values that are restored as soon as something is built.
        """
        if self.run.is_unchanged:
            return ()
        if waiting not in self._changes:
            is_all_right = self.placement.is_all_right  # then no other index leads a value astray
            in_place = frozenset[int]() if is_all_right else self.placement.in_place
            self._changes[waiting] = changes_of(self.run.mapping, waiting, in_place)
        return self._changes[waiting]

    @cached_property
    def strangers(self) -> frozenset[int]:
        """The saved slot variables that a restore gives to an optimizer, and that are not its."""
        mapping, nodes = self.run.mapping, self.saved.nodes
        others = (p.node for p in mapping.pairs if p.evidence is Evidence.OTHER_STATE)
        restored = self.trace.restored.intersection((*mapping.unused, *others))
        return frozenset(node for node in restored if nodes[node].slot is not None)

    @cached_property
    def unresolved(self) -> frozenset[int]:
        """The saved nodes whose values no object takes."""
        return frozenset(self.run.verdicts.unresolved)

    @cached_property
    def going_nowhere(self) -> frozenset[int]:
        """The saved nodes whose values no object gets, by a restore or by its fix.

        A restore may lead to the object of another value, which it has by then.
        """
        return self.unresolved.union(self.run.mapping.unused) - self.trace.restored

    @cached_property
    def unmatched(self) -> frozenset[int]:
        """The live objects whose values the checkpoint lacks."""
        return frozenset(self.run.verdicts.unmatched)

    @cached_property
    def other_generation(self) -> Mapping[int, tuple[int, Generation, Generation]]:
        """Saved optimizers that meet a live optimizer which keeps its state in another way.

        For each, the live optimizer, and how each of the two keeps its state.
        """
        others: dict[int, tuple[int, Generation, Generation]] = {}
        for node, obj in self.trace.bound.items():
            proto = self.saved.nodes[node]
            saved_way = generation_of(proto) if proto.children or proto.slot_variables else None
            if saved_way is None:
                continue
            live_way = facts.generation(self.live_side.object(obj))
            live_node = self.live_side.node(obj)
            if live_way is None and live_node is not None:  # a file in place of the program
                live_way = generation_of(live_node)
            if live_way is not None and live_way is not saved_way:
                others[node] = (obj, saved_way, live_way)
        return others

    def severity(self, nodes: Iterable[int], objects: Iterable[int]) -> Severity:
        """Return the severity of a problem with these nodes: whether an assert fails for them."""
        if self.run.verdicts.restore is not None:
            return Severity.FAIL  # the program reaches no assert
        passes = self.unresolved.isdisjoint(nodes) and self.unmatched.isdisjoint(objects)
        return Severity.WARNING if passes else Severity.FAIL
