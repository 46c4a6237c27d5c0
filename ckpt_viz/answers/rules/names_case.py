"""A dry run of a restore by names, with what the rules ask of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.answers.dry_runs import failures
from ckpt_viz.answers.dry_runs.dry_run import DryRun, nodes_by_name
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.files.saved.object_based import OBJECT_GRAPH_KEY
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Remedy
from ckpt_viz.ground.text import listed, shape_words
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import is_guess
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Cause

_MAX_COMPARED = 20  # names that may be the former name of a variable


class _Former(NamedTuple):
    """What the file has for a variable whose name it lacks: `differs` is how the value does.

    `alike` are the names of which only guesses choose its own.
    """

    names: list[str]
    differs: str = ""
    alike: Sequence[str] = ()

    @property
    def sure(self) -> str | None:
        """The first of the names that are certainly those of the variable."""
        return None if self.differs or self.alike else self.names[0]

    def __str__(self) -> str:
        """Return the end of a sentence that says which name the file lacks."""
        names = self.alike[:_MAX_COMPARED] or self.names
        every = listed([repr(name) for name in names])
        if self.differs:
            return f", but has {every} {self.differs}"
        if self.alike:
            which = "which is right" if len(names) > 1 else "whether it is the same value"
            return f", but has {every} of the same shape; names do not show {which}"
        parts = f"its parts {every}" if len(names) > 1 else f"{every} of the same shape"
        return f", but has {parts}"


@dataclass(frozen=True)
class ByName:
    """A dry run of a restore by names, with what the rules ask of it."""

    run: DryRun

    @cached_property
    def trace(self) -> NameTrace:
        """The steps of the restore."""
        assert self.run.by_names is not None
        return self.run.by_names

    @cached_property
    def free(self) -> Sequence[str]:
        """The names in the file that nothing reads."""
        read = {step.name for step in self.trace.steps} | {*self.trace.bound, OBJECT_GRAPH_KEY}
        return [name for name in self.run.outcome.tensors if name not in read]

    @cached_property
    def former(self) -> Mapping[int, _Former]:
        """By object whose name the file lacks, which free names may be its own."""
        unused, free, former = self.trace.unused, {*self.free}, dict[int, _Former]()
        mapping = failures.mapping_of_names(self.run) if unused and free else None
        if mapping is None:
            return {}
        alike, misfits = dict[object, list[str]](), {pair.node for pair in mapping.misfits}
        for pair in (*mapping.misfits, *mapping.pairs):
            saved = mapping.saved.nodes[pair.node].attributes[0]
            live = mapping.live.nodes[pair.obj].attributes
            name = saved.full_name if self.run.outcome.maps_names else saved.checkpoint_key
            if name not in free or pair.obj not in unused:
                continue
            if pair.node in misfits:
                former[pair.obj] = _Former([name], _difference(saved, live))
            elif is_guess(pair):
                guesses = alike.setdefault((saved.dtype, saved.shape, name.split("/")[-1]), [])
                guesses += [name] if name not in guesses[-1:] else []
                former.setdefault(pair.obj, _Former([name], alike=guesses))
            elif pair.obj in former and former[pair.obj].sure:
                former[pair.obj].names.append(name)
            else:
                former[pair.obj] = _Former([name])
        return former | self._only_ones(former)

    def _only_ones(self, former: Mapping[int, _Former]) -> dict[int, _Former]:
        """Return the guesses of which no other free name or variable has the dtype and shape."""
        if self.run.outcome.maps_names:
            return {}
        values = (self.run.live.nodes[obj].attributes for obj in self.trace.unused)
        wanted = Counter((value.dtype, value.shape) for held in values for value in held)
        stored = (self.run.outcome.tensors[name] for name in self.free)
        given = Counter((tensor.dtype, tensor.shape) for tensor in stored)
        guesses = {obj: guess for obj, guess in former.items() if guess.alike}
        looks = {obj: self.run.live.nodes[obj].attributes[0] for obj in guesses}
        return {
            obj: _Former(guess.names)
            for obj, guess in guesses.items()
            if wanted[looks[obj].dtype, looks[obj].shape]
            == given[looks[obj].dtype, looks[obj].shape]
            == 1
        }

    @cached_property
    def lost(self) -> Mapping[str, LostFiles]:
        """The data files that lack tensors which the call reads, by key."""
        is_unreadable = any(step.cause is Cause.UNREADABLE for step in self.trace.steps)
        return failures.lost_to(self.run) if is_unreadable else {}

    @cached_property
    def _nodes(self) -> Mapping[str, int]:
        named = failures.named_in(self.run)
        return {} if named is None else nodes_by_name(named)

    def finding(
        self,
        severity: Severity,
        kind: Kind,
        why: str,
        remedy: Remedy | str,
        *,
        saved: str | None = None,
        names: Iterable[str] = (),
        objects: Iterable[int] = (),
    ) -> Finding:
        """Return a finding about these objects and the names in the file; `saved` leads them."""
        nodes = (self._nodes.get(name) for name in (*names, *([saved] if saved else [])))
        return self.run.finding(
            *(severity, kind, why, remedy),
            nodes=nodes,
            objects=objects,
            saved=saved,
        )


def _difference(saved: Attribute, live: Sequence[Attribute]) -> str:
    if len(live) != 1:
        return "for other values"  # only the object's own code knows its values
    if saved.shape != live[0].shape:
        return f"of shape {shape_words(saved.shape or ())}, not {shape_words(live[0].shape or ())}"
    return f"of dtype {saved.dtype}, not {live[0].dtype}"
