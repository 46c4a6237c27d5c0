"""The kinds of findings and of changes, in one list."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """What happened to a program, or to a value: causes before symptoms, the likeliest first."""

    label: str

    def __new__(cls, value: str, label: str) -> Kind:
        """Return a kind with what it is called in the list of causes."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.label = label
        return kind

    # what is wrong as a whole
    WRONG_PATH = "wrong_path", "Wrong path"
    DAMAGED = "damaged", "Damaged data"
    PROCESS_ABORT = "process_abort", "Ends the process"
    POISONED_CONTAINER = "poisoned_container", "A container cannot be tracked"
    SLOT_REUSED = "slot_reused", "Slot variable reused"
    STRATEGY_SCOPE = "strategy_scope", "Outside the strategy's scope"
    ROOT_SHIFTED = "root_shifted", "Different root"
    UNRELATED = "unrelated", "Nothing in common"
    MIGRATED = "migrated", "Another version of Keras"
    OPTIMIZER_GENERATION = "optimizer_generation", "Optimizer of another API"
    INSERTED = "inserted", "Inserted"
    REMOVED = "removed", "Removed"
    REORDERED = "reordered", "Order changed"
    SCOPE_CHANGED = "scope_changed", "Scopes changed"
    CONTAINER_CHANGED = "container_changed", "Container changed"
    RENAMED = "renamed", "Renamed"
    WRAPPED = "wrapped", "Wrapper added"
    UNWRAPPED = "unwrapped", "Wrapper removed"
    MOVED = "moved", "Moved"
    NOT_BUILT = "not_built", "Not built yet"
    # values that go wrong silently
    MISPLACED = "misplaced", "Values misplaced"
    SWAPPED = "swapped", "Swapped"
    UNTIED = "untied", "No longer shared"
    VALUE_LOST = "value_lost", "Value lost"
    NEVER_RESTORED = "never_restored", "Never restored"
    TENSOR_IGNORED = "tensor_ignored", "Saved value ignored"
    SAVER_UNKNOWN = "saver_unknown", "Saver unknown"
    NOT_TRACKED = "not_tracked", "Not tracked"
    # the results of these causes
    SHAPE = "shape", "Shape differs"
    DTYPE = "dtype", "Dtype differs"
    OPTIMIZER_CHANGED = "optimizer_changed", "Optimizer changed"
    KEY_MISSING = "key_missing", "Key missing"
    PARTIAL_OVERWRITE = "partial_overwrite", "Partly overwritten"
    # what only one side has
    UNRESOLVED = "unresolved", "Not in the program"
    UNMATCHED = "unmatched", "Not in the checkpoint"
    UNUSED_ATTRIBUTE = "unused_attribute", "Attribute not used"
    DEFERRED = "deferred", "Restored later"
    # usually intended
    OPTIMIZER_MISSING = "optimizer_missing", "No optimizer"
    SAVE_COUNTER = "save_counter", "No save counter"
    OVERWRITTEN = "overwritten", "Overwritten"
    UNKNOWABLE = "unknowable", "Unclear"
    LEFTOVER = "leftover", "Left over"


TITLES = {kind.value: kind.label for kind in Kind}
"""What each kind is called in the list of causes."""

CHANGES = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.MIGRATED, Kind.INSERTED, Kind.REMOVED, Kind.REORDERED),
        *(Kind.SCOPE_CHANGED, Kind.CONTAINER_CHANGED, Kind.RENAMED, Kind.WRAPPED),
        *(Kind.UNWRAPPED, Kind.MOVED, Kind.SHAPE, Kind.DTYPE, Kind.OPTIMIZER_CHANGED),
        *(Kind.UNRESOLVED, Kind.UNMATCHED),
    }
)
"""What can have happened to a program; the other kinds are of findings alone."""
