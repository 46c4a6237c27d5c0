"""What a restore would do, of whatever kind it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ckpt_viz.answers.dry_runs.live_names import LiveNames, new_objects
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts, object_based
from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.remedy import Advice
from ckpt_viz.live.sessions.saver import GraphOfSaver, ListInCode, SaversVariable
from ckpt_viz.matching.correspondence.pairs import Pair
from ckpt_viz.matching.engines.load_outcome import WeightsLoading
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Step, Trace


@dataclass(frozen=True)
class SaversProgram:
    """What is known of a program that a Saver restores, at the time of the check.

    Attributes:
        variables: Each variable by live node, or its partitions; empty for a file in its place.
        graph: The graph of the variables; None if they are eager, or a file is in their place.
        listed: The Saver's own list or dict in code, if it has one.
        is_eager: Whether the Saver restores without a session.
    """

    variables: Mapping[int, tuple[SaversVariable, ...]] = field(default_factory=dict)
    graph: GraphOfSaver | None = None
    listed: ListInCode | None = None
    is_eager: bool = False

    @property
    def own_names(self) -> Mapping[int, str]:
        """The own name of each variable that is whole."""
        return {obj: parts[0].name for obj, parts in self.variables.items() if len(parts) == 1}


@dataclass(frozen=True)
class Outcome:
    """What the restore of one path would do, and what its asserts would raise.

    An object-based checkpoint has the graph `saved`, a name-based has `tensors`. `trace` is
    None if the restore reads nothing. For Keras' `load_weights`, `loading` is what it does, and
    `options` those of the call. `keys` has the checkpoint keys by the names that the call reads;
    None if the names are keys. `remedy` is what to do if the restoring object cannot restore any
    file. `later` is what a session raises after a call that returns. `opens` says that the call has
    opened a file without looking for names. `reshapes` says that values get the variables' shapes.
    """

    # What the story of a restore by names calls the restoring object; "" for a checkpoint.
    caller: ClassVar[str] = ""
    has_steps: ClassVar[bool] = True  # whether the restore can be told and played step by step
    has_checksums: ClassVar[bool] = True  # whether the format has one for each value
    casts: ClassVar[bool] = False  # whether the call converts floating-point numbers

    names: LiveNames
    verdicts: Verdicts
    trace: Trace | NameTrace | None = None
    saved: Graph | None = None
    tensors: Mapping[str, Stored] = field(default_factory=dict)
    loading: WeightsLoading | None = None
    options: Mapping[str, bool] = field(default_factory=dict)
    keys: Mapping[str, str] | None = None
    remedy: Advice | None = None
    later: Raised | None = None
    opens: bool = False
    reshapes: bool = False

    @property
    def saver(self) -> SaversProgram | None:
        """What is known of the program that a Saver restores; None if none does."""
        is_of_names = self.names.graph.is_name_based and not self.is_of_map
        return SaversProgram() if is_of_names else None

    @property
    def certain(self) -> Sequence[Pair]:
        """What the call sets by a way of its own, and nothing speaks against."""
        return ()

    @property
    def bound(self) -> Mapping[int, int] | None:
        """Where that way leads, by saved node; None if the restore goes by local names."""
        return None

    @property
    def maps_names(self) -> bool:
        """Whether the names of variables decide which values are theirs, and no objects."""
        return self.is_of_map or self.saver is not None

    def calls(self, method: str) -> Sequence[tuple[str, Raised | None]]:
        """Return the checked call, then the asserts, each with what it raises."""
        verdicts = self.verdicts
        return (
            (f"{method}()", verdicts.restore),
            ("assert_consumed()", verdicts.consumed),
            ("assert_existing_objects_matched()", verdicts.existing),
            ("assert_nontrivial_match()", verdicts.nontrivial),
        )

    @property
    def unknown(self) -> frozenset[int]:
        """The live objects whose own code decides what they get."""
        return frozenset()

    @property
    def unreached(self) -> frozenset[int]:
        """The live objects that a call which raises does not reach, beside those of its steps."""
        return frozenset()

    @property
    def late(self) -> Sequence[Step]:
        """What a call which raises would do with these if it went on, as far as that is known."""
        return ()

    @property
    def effect(self) -> str:
        """What a call without asserts does if it does not raise, in a few words; else ""."""
        return ""

    @property
    def loses_parts(self) -> bool:
        """Whether the call restores less of some variables than the file has."""
        return False

    @property
    def mapped_scopes(self) -> Sequence[str]:
        """The scopes in the file that are keys of the assignment map, if there is a map."""
        return ()

    @property
    def is_of_map(self) -> bool:
        """Whether an assignment map, and no fix, decides which names are read."""
        return self.caller == "warm"

    @property
    def finds_no_name(self) -> bool:
        """Whether TensorFlow reads the file by names and finds none, as in an index file."""
        return self.by_names is not None and not self.tensors

    @property
    def by_objects(self) -> Trace | None:
        """The steps of a restore that goes from object to object."""
        return self.trace if isinstance(self.trace, Trace) else None

    @property
    def by_names(self) -> NameTrace | None:
        """The steps of a restore that reads names."""
        return self.trace if isinstance(self.trace, NameTrace) else None


def outcome_of_objects(
    live: Graph, saved: Graph, trace: Trace, valued: Sequence[int], **asserts: Any
) -> Outcome:
    """Return the outcome of a restore of objects; `asserts` are options of its verdicts.

    `valued` are the objects for which the asserts expect a value.
    """
    names = LiveNames(live, new_objects(live, saved, trace.steps, trace.bound))
    verdicts = object_based(saved, trace, valued, names.readable, **asserts)
    return Outcome(names, verdicts, trace, saved)
