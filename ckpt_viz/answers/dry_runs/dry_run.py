"""The result of a dry run of a restore: its outcome, and the path that it was given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.dry_runs.objects_by_name import as_named
from ckpt_viz.answers.dry_runs.orbax_load import remedy_of
from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.answers.dry_runs.verdicts import Verdicts
from ckpt_viz.errors import CkptVizError, DeniedError, FormatError
from ckpt_viz.files.saved.keras_reader import KERAS
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.orbax_reader import ORBAX
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.files.values.verifying import Verification
from ckpt_viz.formats.bundles.lost_files import LostFiles, lost_files
from ckpt_viz.formats.storage.zip_archive import member_of
from ckpt_viz.graphs.nodes.nodes import ROOT, Fault
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice, LoadWithKeras, Remedy
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.ground.wording import PYTHON, Wording
from ckpt_viz.live.objects.live_source import with_counter
from ckpt_viz.live.restoring.restore_target import RESTORE
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.conversions import may_convert
from ckpt_viz.matching.correspondence.defaults import with_defaults
from ckpt_viz.matching.correspondence.of_savers import map_names
from ckpt_viz.matching.correspondence.unchanged import is_unchanged
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, map_values
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Trace


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
    """A file of Keras, which TensorFlow cannot restore: its path, its format, and what loads it.

    Of Orbax, `has_fix` is False: no fix takes its values.
    """

    path: str
    format: Format
    remedy: LoadWithKeras | Advice
    has_fix: bool = True


Correction = MeantPath | NoSuchPath | DamagedFile | FileOfKeras


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
    correction: Correction | None = None
    has_happened: bool = False
    tested: Tested | None = None
    wording: Wording = PYTHON

    @property
    def live(self) -> Graph:
        """The graph of the live side."""
        return self.outcome.names.graph

    def program(self, saved: Graph) -> Graph:
        """Return the live side, with the counter that its checkpoint makes for a saved one."""
        is_counted = self.method == RESTORE and saved.save_counter is not None
        return with_counter(self.live) if is_counted else self.live

    @property
    def saved(self) -> Graph | None:
        """The graph of the checkpoint, if it is object-based."""
        return self.outcome.saved

    @property
    def trace(self) -> Trace | NameTrace | None:
        """The steps of the restore."""
        return self.outcome.trace

    @property
    def by_objects(self) -> Trace | None:
        """The steps of a restore that goes from object to object."""
        return self.outcome.by_objects

    @property
    def by_names(self) -> NameTrace | None:
        """The steps of a restore that reads names."""
        return self.outcome.by_names

    @property
    def reads(self) -> bool:
        """Whether the restore reads values of the given path, and no other path is meant."""
        if self.by_names is not None:
            return not isinstance(self.correction, MeantPath)
        return self.by_objects is not None and self.saved is not None

    @property
    def can_change(self) -> bool:
        """Whether a changed program can be checked: only before a restore by objects."""
        is_of_objects = self.by_objects is not None and self.saved is not None
        return is_of_objects and self.outcome.has_steps and not self.has_happened

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
    def is_unchanged(self) -> bool:
        """Whether nothing happened to the program since its objects were saved.

        All its values then have the name, shape and dtype of the saved ones that a restore binds to
        them, so `mapping` need not be asked. The values of recurrent layers may have another form.
        """
        trace, saved, live = self.by_objects, self.saved, self.live
        return (
            trace is not None
            and saved is not None
            and self.outcome.bound is None
            and not self.outcome.certain
            and not may_convert(live)
            and is_unchanged(saved, live, trace.bound, in_order=True)
        )

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
        mapping = map_values(
            saved, self.live, given=known.certain, bound=known.bound, casts=known.casts
        )
        sources = self.sources_in(saved)
        if self.by_objects is None:
            bound: Mapping[int, int] = {node: obj for obj, node in sources.items()}
        else:
            bound = self.by_objects.bound
        raises = self.verdicts.restore is not None
        return with_defaults(mapping, bound, sources, raises=raises) if sources else mapping

    def sources_in(self, saved: Graph) -> Mapping[int, int]:
        """Return, by object, the saved node whose value a restore gives to it.

        One that raises gives some of these, or none. The objects may be new ones, which the restore
        makes.
        """
        if self.by_names is None:
            return {} if self.by_objects is None else self.by_objects.source_of
        nodes, bound = nodes_by_name(saved), self.by_names.bound.items()
        return {obj: nodes[name] for name, objects in bound if name in nodes for obj in objects}

    def live_name(self, obj: int) -> str:
        """Return the name of a live object."""
        return self.outcome.names.full(obj)

    def finding(
        self,
        severity: Severity,
        kind: Kind,
        why: str,
        remedy: Remedy | str,
        *,
        nodes: Iterable[int | None] = (),
        objects: Iterable[int | None] = (),
        saved: str | None = None,
    ) -> Finding:
        """Return a finding about these saved nodes and live objects, named by the first of each.

        Each counts once, and None is nothing. `saved` is the name in the file that leads, for a
        restore by names.
        """
        on_saved, on_live = (
            tuple(dict.fromkeys(part for part in parts if part is not None))
            for parts in (nodes, objects)
        )
        if saved is None and self.saved is not None and on_saved:
            saved = self.saved.name(on_saved[0])
        live = self.live_name(on_live[0]) if on_live else None
        advice = Advice(remedy) if isinstance(remedy, str) else remedy
        return Finding(severity, kind, saved, live, why, advice, on_saved, on_live)

    def unused_attributes(self) -> dict[str, tuple[str, ...]]:
        """Return names by node: see RestoreCheck."""
        if self.by_names is not None:
            return {self.live_name(obj): names for obj, names in self.by_names.unused.items()}
        if self.by_objects is None or self.saved is None:
            return {}
        unused = self.by_objects.unused_attributes
        return {self.saved.name(node): names for node, names in unused.items()}

    def bound(self) -> dict[str, str]:
        """Return names by name: see RestoreCheck."""
        if self.by_names is not None:
            return {name: self.live_name(objs[-1]) for name, objs in self.by_names.bound.items()}
        if self.by_objects is None or self.saved is None:
            return {}
        bound = self.by_objects.bound.items()
        return {self.saved.name(node): self.live_name(obj) for node, obj in bound}


def nodes_by_name(saved: Graph) -> Mapping[str, int]:
    """Return the saved nodes by the full names and the keys of their values."""
    named = [(n, a) for n, node in enumerate(saved.nodes) for a in node.attributes]
    by_full_name = {a.full_name: n for n, a in named if a.full_name}  # many have none
    return by_full_name | {a.checkpoint_key: n for n, a in named}


def prefix_of(saved: Graph) -> str:
    """Return the path with which a program would restore a checkpoint."""
    return saved.provenance.prefix if saved.provenance is not None else saved.title


_NO_TEXT = "Pass the checkpoint's prefix as a string"
COMPARE = "to compare two live objects, call cv.diff(a, b)"


def run_of_path(
    path: Any, method: str, outcome_of: Callable[[Any], Outcome], takes: tuple[type, ...]
) -> DryRun:
    """Return the dry run of a call that takes a path as it is, with what is known of a wrong one.

    `outcome_of` returns what the call does with any path; the call `takes` paths of these classes.
    """
    outcome, reading = outcome_of(path), text_of(path)
    if outcome.tensors or outcome.remedy or not (outcome.verdicts.restore or outcome.opens):
        return DryRun(outcome, method, reading)
    if not isinstance(path, takes):
        return DryRun(outcome, method, reading, NoSuchPath(_NO_TEXT))
    correction = correction_of(path, lambda prefix: outcome_of(prefix).verdicts)
    return DryRun(outcome, method, reading, correction or damage_of(reading))


def text_of(path: object) -> str:
    """Return the text of a path, which may be no path."""
    return os.fsdecode(path) if isinstance(path, (bytes, os.PathLike)) else str(path)


def correction_of(given: object, restoring: Callable[[str], Verdicts]) -> Correction | None:
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


def damage_of(path: str) -> DamagedFile | FileOfKeras | None:
    """Return which file makes a checkpoint unreadable, judged by this project's own reader."""
    try:
        saved = read_saved(path)
    except FormatError as error:
        return DamagedFile(str(error), file=error.file, fault=error.fault)
    except CkptVizError as error:
        return DamagedFile(str(error), is_denied=isinstance(error, DeniedError))
    damage, of_keras = damage_in(saved), file_of_keras(saved)
    is_lost = damage is not None and damage.lost is not None and not damage.lost.left
    return damage if of_keras is None or is_lost else of_keras


def damage_in(saved: Graph) -> DamagedFile | None:
    """Return which files of an open checkpoint lack values, or are a damaged archive.

    The checksum of an archive is that of all weights, so this reads the whole archive.
    """
    archived = member_of(saved.stored_in)
    if archived is not None:
        with suppress(FormatError):  # `lost_files` then tells the damage
            archived.test()
    lost = lost_files(saved.stored_in)
    return DamagedFile(lost[0].why, lost[0]) if lost else None


def convert_in_words(path: str) -> str:
    """Return how a model of TensorFlow.js becomes a file that Keras loads."""
    path = shlex.quote(path)
    return (
        "Convert it with `tensorflowjs_converter --input_format=tfjs_layers_model "
        f"--output_format=keras {path} model.h5`, or call check.fix().apply(): it restores its "
        "values by names."
    )


def file_of_keras(saved: Graph) -> FileOfKeras | None:
    """Return the file of Keras or Orbax that a saved graph comes from; None for other graphs."""
    source = saved.provenance
    if source is None or not saved.is_of_keras:
        return None
    if saved.written_by == "Orbax":
        return FileOfKeras(source.prefix, source.format, remedy_of(saved), has_fix=False)
    if saved.is_of_tfjs:
        return FileOfKeras(source.prefix, source.format, Advice(convert_in_words(source.prefix)))
    # The configuration of a model names its class; weights alone have none.
    is_model = saved.nodes[ROOT].type_name is not None
    library = "tf_keras" if source.opened_by.startswith("tf_keras.") else "keras"
    remedy = LoadWithKeras(source.prefix, is_model, library=library)
    return FileOfKeras(source.prefix, source.format, remedy)
