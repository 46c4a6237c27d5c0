"""A finding: one thing to know about a restore, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from ckpt_viz.changes.change import Change
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Remedy, code_of
from ckpt_viz.restore_check.skeleton import Trial


class Kind(str, Enum):
    """What a finding is about, causes before symptoms, the likeliest cause first."""

    # what is wrong as a whole
    WRONG_PATH = "wrong_path"
    DAMAGED = "damaged"
    PROCESS_ABORT = "process_abort"
    POISONED_CONTAINER = "poisoned_container"
    SLOT_REUSED = "slot_reused"
    STRATEGY_SCOPE = "strategy_scope"
    ROOT_SHIFTED = "root_shifted"
    UNRELATED = "unrelated"
    MIGRATED = "migrated"
    OPTIMIZER_GENERATION = "optimizer_generation"
    INSERTED = "inserted"
    REMOVED = "removed"
    REORDERED = "reordered"
    INDEX_SHIFTED = "index_shifted"
    CONTAINER_CHANGED = "container_changed"
    RENAMED = "renamed"
    WRAPPED = "wrapped"
    UNWRAPPED = "unwrapped"
    MOVED = "moved"
    NOT_BUILT = "not_built"
    # values that go wrong silently
    CROSS_WIRED = "cross_wired"
    SWAPPED = "swapped"
    UNTIED = "untied"
    VALUE_LOST = "value_lost"
    NEVER_RESTORED = "never_restored"
    TENSOR_IGNORED = "tensor_ignored"
    SAVER_UNKNOWN = "saver_unknown"
    NOT_TRACKED = "not_tracked"
    # the results of these causes
    SHAPE = "shape"
    DTYPE = "dtype"
    OPTIMIZER_CHANGED = "optimizer_changed"
    KEY_MISSING = "key_missing"
    PARTIAL_OVERWRITE = "partial_overwrite"
    # what only one side has
    UNRESOLVED = "unresolved"
    UNMATCHED = "unmatched"
    UNUSED_ATTRIBUTE = "unused_attribute"
    DEFERRED = "deferred"
    # usually intended
    OPTIMIZER_MISSING = "optimizer_missing"
    SAVE_COUNTER = "save_counter"
    OVERWRITTEN = "overwritten"
    UNKNOWABLE = "unknowable"
    LEFTOVER = "leftover"


TITLES = {
    Kind.WRONG_PATH.value: "Wrong path",
    Kind.DAMAGED.value: "Damaged data",
    Kind.PROCESS_ABORT.value: "Ends the process",
    Kind.POISONED_CONTAINER.value: "A container cannot be tracked",
    Kind.SLOT_REUSED.value: "Slot variable reused",
    Kind.STRATEGY_SCOPE.value: "Outside the strategy's scope",
    Kind.ROOT_SHIFTED.value: "Another level of the graph",
    Kind.UNRELATED.value: "Nothing in common",
    Kind.MIGRATED.value: "Another version of Keras",
    Kind.OPTIMIZER_GENERATION.value: "Another kind of optimizer",
    Kind.INSERTED.value: "Inserted",
    Kind.REMOVED.value: "Removed",
    Kind.REORDERED.value: "Another order",
    Kind.INDEX_SHIFTED.value: "Another index",
    Kind.CONTAINER_CHANGED.value: "Another container",
    Kind.RENAMED.value: "Renamed",
    Kind.WRAPPED.value: "One level more",
    Kind.UNWRAPPED.value: "One level less",
    Kind.MOVED.value: "Moved",
    Kind.OPTIMIZER_CHANGED.value: "Another optimizer",
    Kind.NOT_BUILT.value: "Not built yet",
    Kind.CROSS_WIRED.value: "Values in the wrong place",
    Kind.SWAPPED.value: "Swapped",
    Kind.UNTIED.value: "No longer shared",
    Kind.VALUE_LOST.value: "Value lost",
    Kind.NEVER_RESTORED.value: "Never restored",
    Kind.TENSOR_IGNORED.value: "Saved value ignored",
    Kind.SAVER_UNKNOWN.value: "Saver unknown",
    Kind.NOT_TRACKED.value: "Not tracked",
    Kind.SHAPE.value: "Shape differs",
    Kind.DTYPE.value: "Another dtype",
    Kind.KEY_MISSING.value: "Key missing",
    Kind.PARTIAL_OVERWRITE.value: "Partly overwritten",
    Kind.UNRESOLVED.value: "Not in the program",
    Kind.UNMATCHED.value: "Not in the checkpoint",
    Kind.UNUSED_ATTRIBUTE.value: "Attribute not used",
    Kind.DEFERRED.value: "Restored later",
    Kind.OPTIMIZER_MISSING.value: "No optimizer",
    Kind.SAVE_COUNTER.value: "No save counter",
    Kind.OVERWRITTEN.value: "Overwritten",
    Kind.UNKNOWABLE.value: "Cannot be known",
    Kind.LEFTOVER.value: "Left over",
}
"""What each kind is called in the list of causes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a restore, and what to do about it.

    `saved` and `live` are the names of the nodes that it is about, None for a side that it does not
    concern. `why` is one sentence, and `remedy` prints as one. `nodes` are all the saved nodes that
    it is about, and `objects` all the live ones, by id; `saved` and `live` name the first of each.
    `trial` is a remedy with code that has not been run dry yet: `find_all` either uses it as the
    `remedy` or drops it. `change` is what happened to the program, if that is the cause, and
    `explains` are the findings that follow from it.
    """

    severity: Severity
    kind: Kind
    saved: str | None
    live: str | None
    why: str
    remedy: Remedy
    nodes: tuple[int, ...] = ()
    objects: tuple[int, ...] = ()
    trial: Trial | None = field(default=None, repr=False, compare=False)
    change: Change | None = field(default=None, repr=False)
    explains: tuple[Finding, ...] = ()

    @property
    def code(self) -> str:
        """What the remedy says to run, with `live` for the checked object; "" for none."""
        return code_of(self.remedy)

    def all(self) -> Iterator[Finding]:
        """Yield the finding and those that it explains."""
        yield self
        for finding in self.explains:
            yield from finding.all()


@dataclass(frozen=True)
class Explained:
    """The saved nodes and live objects that earlier findings explain.

    Consequences of a cause need no finding of their own.
    """

    nodes: frozenset[int] = frozenset()
    objects: frozenset[int] = frozenset()

    def including(self, findings: Iterable[Finding]) -> Explained:
        """Return these and what the findings are about, unless they are symptoms themselves."""
        causes = [finding for finding in findings if finding.kind not in _SYMPTOMS]
        if not causes:
            return self
        return Explained(
            self.nodes.union(*(finding.nodes for finding in causes)),
            self.objects.union(*(finding.objects for finding in causes)),
        )


_SYMPTOMS = {Kind.SHAPE, Kind.DTYPE, Kind.KEY_MISSING, Kind.PARTIAL_OVERWRITE}
