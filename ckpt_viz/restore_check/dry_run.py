"""The result of a dry run of a restore: its outcome, and the path that it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.correspondence.defaults import with_defaults
from ckpt_viz.correspondence.of_savers import map_names
from ckpt_viz.correspondence.pairs import Pair
from ckpt_viz.correspondence.value_mapping import ValueMapping, map_values
from ckpt_viz.errors import CkptVizError, DeniedError, FormatError
from ckpt_viz.formats.lost_files import LostFiles, lost_files
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.live.saver import GraphOfSaver, ListInCode, SaversVariable
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Trace
from ckpt_viz.object_graph.graph import Format, Graph
from ckpt_viz.object_graph.nodes import ROOT, Fault, Stored
from ckpt_viz.object_graph.remedy import Advice, LoadWithKeras
from ckpt_viz.restore_check.live_names import LiveNames
from ckpt_viz.restore_check.objects_by_name import as_named
from ckpt_viz.restore_check.orbax_load import remedy_of
from ckpt_viz.restore_check.verdicts import Verdicts
from ckpt_viz.saved.keras_reader import KERAS
from ckpt_viz.saved.locate import locate
from ckpt_viz.saved.orbax_reader import ORBAX
from ckpt_viz.saved.saved_source import read_saved
from ckpt_viz.values.verifying import Verification
from ckpt_viz.wording import PYTHON, Wording


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
    None if the restore reads nothing.
    """

    names: LiveNames
    verdicts: Verdicts
    trace: Trace | NameTrace | None = None
    saved: Graph | None = None
    tensors: Mapping[str, Stored] = field(default_factory=dict)

    @property
    def saver(self) -> SaversProgram | None:
        """What is known of the program that a Saver restores; None if none does."""
        return SaversProgram() if self.names.graph.is_name_based else None

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
        return self.saver is not None

    @property
    def finds_no_name(self) -> bool:
        """Whether TensorFlow reads the file by names and finds none, as in an index file."""
        return isinstance(self.trace, NameTrace) and not self.tensors


@dataclass(frozen=True)
class MeantPath:
    """The prefix that a wrong path seems to mean, and the verdicts on its restore."""

    prefix: str
    verdicts: Verdicts


@dataclass(frozen=True)
class NoSuchPath:
    """What to do about a wrong path that does not seem to mean any checkpoint."""

    advice: str


@dataclass(frozen=True)
class DamagedFile:
    """A checkpoint that cannot be read: which file and why, as a sentence without a full stop.

    `lost` are its data files that are missing or cut. `file` is the damaged file, and `fault` what
    it is instead, if the reader knows. `is_denied` says that this user may not read it.
    """

    why: str
    lost: LostFiles | None = None
    file: str = ""
    fault: str = ""
    is_denied: bool = False


@dataclass(frozen=True)
class FileOfKeras:
    """A file of Keras, which TensorFlow cannot restore: its path, its format, and what loads it."""

    path: str
    format: Format
    remedy: LoadWithKeras


@dataclass(frozen=True)
class CheckpointOfOrbax:
    """An Orbax checkpoint, as `FileOfKeras`; no fix takes its values."""

    path: str
    format: Format
    remedy: LoadWithKeras | Advice


@dataclass(frozen=True)
class Tested:
    """The tensors that a restore reads, after a test of their checksums.

    `faults` are the damaged tensors by key, but for those that are known to be missing. If there
    are any, `whole` is the prefix of another checkpoint in the directory, which has them all whole.
    """

    verification: Verification
    whole: str | None = None
    faults: Mapping[str, Fault] = field(default_factory=dict)


@dataclass(frozen=True)
class DryRun:
    """The outcome of a restore by a `method`, with the path that it was given.

    `reading` is the path, None for `restore(None)`. `correction` is what is known about a path that
    leads to no checkpoint that can be read. `has_happened` says that the restore was real.
    `tested` says which stored bytes were tested, None if none were. The overlay, its notes and the
    fix speak of the next step by `wording`.
    """

    outcome: Outcome
    method: str
    reading: str | None = None
    correction: MeantPath | NoSuchPath | DamagedFile | FileOfKeras | CheckpointOfOrbax | None = None
    has_happened: bool = False
    tested: Tested | None = None
    wording: Wording = PYTHON

    @property
    def live(self) -> Graph:
        """The graph of the live side."""
        return self.outcome.names.graph

    @property
    def saved(self) -> Graph | None:
        """The graph of the checkpoint, if it is object-based."""
        return self.outcome.saved

    @property
    def trace(self) -> Trace | NameTrace | None:
        """The steps of the restore."""
        return self.outcome.trace

    @property
    def verdicts(self) -> Verdicts:
        """What the restore and its asserts raise."""
        return self.outcome.verdicts

    @cached_property
    def named(self) -> Graph:
        """The graph of the names in the file that a restore by names reads.

        Raises CkptVizError if the file cannot be read.
        """
        assert self.reading is not None
        saved = read_saved(self.reading)
        is_by_names = saved.is_name_based or not self.outcome.maps_names
        return saved if is_by_names else as_named(saved, self.live)

    @cached_property
    def mapping_of_names(self) -> ValueMapping:
        """Which object each value under a name belongs to; raises as `named` does."""
        return self.mapping_of(self.named)

    @cached_property
    def mapping(self) -> ValueMapping:
        """Which object each saved value belongs to, wherever the restore puts it."""
        assert self.saved is not None
        return self.mapping_of(self.saved)

    def mapping_of(self, saved: Graph) -> ValueMapping:
        """Return the same for the graph of a checkpoint, which may be name-based."""
        if self.outcome.maps_names:
            own_names = {} if self.outcome.saver is None else self.outcome.saver.own_names
            return gc_paused(lambda: map_names(saved, self.live, own_names))
        known = self.outcome
        mapping = map_values(saved, self.live, given=known.certain, bound=known.bound)
        sources = self.sources_in(saved)
        if not isinstance(self.trace, Trace):
            return with_defaults(mapping, {node: obj for obj, node in sources.items()}, sources)
        return with_defaults(mapping, self.trace.bound, sources) if sources else mapping

    def sources_in(self, saved: Graph) -> Mapping[int, int]:
        """Return, by object, the saved node whose value it has after a restore that returns.

        The objects may be new ones, which the restore makes.
        """
        if self.trace is None or self.verdicts.restore is not None:
            return {}
        if isinstance(self.trace, Trace):
            return self.trace.source_of
        named = [(n, a) for n, node in enumerate(saved.nodes) for a in node.attributes]
        nodes = {a.full_name: n for n, a in named} | {a.checkpoint_key: n for n, a in named}
        bound = self.trace.bound.items()
        return {obj: nodes[name] for name, objects in bound if name in nodes for obj in objects}

    def live_name(self, obj: int) -> str:
        """Return the name of a live object."""
        return self.outcome.names.full(obj)

    def unused_attributes(self) -> dict[str, tuple[str, ...]]:
        """Return names by node: see RestoreCheck."""
        if isinstance(self.trace, NameTrace):
            return {self.live_name(obj): names for obj, names in self.trace.unused.items()}
        if self.trace is None or self.saved is None:
            return {}
        return {self.saved.name(n): names for n, names in self.trace.unused_attributes.items()}

    def bound(self) -> dict[str, str]:
        """Return names by name: see RestoreCheck."""
        if isinstance(self.trace, NameTrace):
            return {name: self.live_name(objs[-1]) for name, objs in self.trace.bound.items()}
        if self.trace is None or self.saved is None:
            return {}
        return {self.saved.name(n): self.live_name(obj) for n, obj in self.trace.bound.items()}


def prefix_of(saved: Graph) -> str:
    """Return the path with which a program would restore a checkpoint."""
    return saved.provenance.prefix if saved.provenance is not None else saved.title


COMPARE = "to compare two live objects, call cv.diff(a, b)"


def correction_of(
    given: object, restoring: Callable[[str], Verdicts]
) -> MeantPath | NoSuchPath | DamagedFile | FileOfKeras | CheckpointOfOrbax | None:
    """Return what is known of a path from which a restore reads nothing; None for a right path.

    `given` may be an object that is no path. `restoring` returns the verdicts on the restore of
    another path.
    """
    if not isinstance(given, (str, bytes, os.PathLike)):
        return NoSuchPath(f"Pass the path of a checkpoint; {COMPARE}")
    path = os.fsdecode(given)
    try:
        location = locate(path)
    except CkptVizError as error:
        return NoSuchPath(str(error))
    prefix = location.prefix
    if location.reader in (KERAS, ORBAX):
        return damage_of(prefix)
    return None if prefix == path else MeantPath(prefix, restoring(prefix))


def damage_of(path: str) -> DamagedFile | FileOfKeras | CheckpointOfOrbax | None:
    """Return which file makes a checkpoint unreadable, judged by this project's own reader."""
    try:
        saved = read_saved(path)
    except FormatError as error:
        return DamagedFile(str(error), file=error.file, fault=error.fault)
    except CkptVizError as error:
        return DamagedFile(str(error), is_denied=isinstance(error, DeniedError))
    of_keras = file_of_keras(saved)
    if of_keras is not None:
        return of_keras
    lost = lost_files(saved.stored_in)
    return DamagedFile(lost[0].why, lost[0]) if lost else None


def file_of_keras(saved: Graph) -> FileOfKeras | CheckpointOfOrbax | None:
    """Return the file of Keras or Orbax that a saved graph comes from; None for other graphs."""
    source = saved.provenance
    if source is None or not saved.is_of_keras:
        return None
    if saved.written_by == "Orbax":
        return CheckpointOfOrbax(source.prefix, source.format, remedy_of(saved))
    # The configuration of a model names its class; weights alone have none.
    remedy = LoadWithKeras(source.prefix, saved.nodes[ROOT].type_name is not None)
    return FileOfKeras(source.prefix, source.format, remedy)
