"""The kinds of findings and of changes, in one list."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """What happened to a program, or to a value: causes before symptoms, the likeliest first.

    >>> findings = cv.check(ckpt, "ckpts/ckpt-3").findings
    >>> cv.Kind.RENAMED in {finding.kind for finding in findings}
    True
    """

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
    SCOPE_CHANGED = "scope_changed"
    CONTAINER_CHANGED = "container_changed"
    RENAMED = "renamed"
    WRAPPED = "wrapped"
    UNWRAPPED = "unwrapped"
    MOVED = "moved"
    NOT_BUILT = "not_built"
    # values that go wrong silently
    MISPLACED = "misplaced"
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


CHANGES = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.MIGRATED, Kind.INSERTED, Kind.REMOVED, Kind.REORDERED),
        *(Kind.SCOPE_CHANGED, Kind.CONTAINER_CHANGED, Kind.RENAMED, Kind.WRAPPED),
        *(Kind.UNWRAPPED, Kind.MOVED, Kind.SHAPE, Kind.DTYPE, Kind.OPTIMIZER_CHANGED),
        *(Kind.UNRESOLVED, Kind.UNMATCHED),
    }
)
"""What can have happened to a program; the other kinds are of findings alone."""
