"""A finding: one thing to know about a restore, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ckpt_viz.object_graph.overlay import Severity


class Kind(str, Enum):
    """What a finding is about, causes before symptoms, the likeliest cause first."""

    # what is wrong as a whole
    WRONG_PATH = "wrong_path"
    PROCESS_ABORT = "process_abort"
    POISONED_CONTAINER = "poisoned_container"
    SLOT_REUSED = "slot_reused"
    STRATEGY_SCOPE = "strategy_scope"
    ROOT_SHIFTED = "root_shifted"
    UNRELATED = "unrelated"
    OPTIMIZER_GENERATION = "optimizer_generation"
    INDEX_SHIFTED = "index_shifted"
    RENAMED = "renamed"
    NOT_BUILT = "not_built"
    OPTIMIZER_MISSING = "optimizer_missing"
    SAVE_COUNTER = "save_counter"
    # values that go wrong in silence
    CROSS_WIRED = "cross_wired"
    SWAPPED = "swapped"
    UNTIED = "untied"
    VALUE_LOST = "value_lost"
    NEVER_RESTORED = "never_restored"
    TENSOR_IGNORED = "tensor_ignored"
    SAVER_UNKNOWN = "saver_unknown"
    NOT_TRACKED = "not_tracked"
    # what that comes to
    SHAPE = "shape"
    DTYPE = "dtype"
    KEY_MISSING = "key_missing"
    PARTIAL_OVERWRITE = "partial_overwrite"
    UNRESOLVED = "unresolved"
    UNMATCHED = "unmatched"
    UNUSED_ATTRIBUTE = "unused_attribute"
    DEFERRED = "deferred"
    OVERWRITTEN = "overwritten"
    UNKNOWABLE = "unknowable"
    LEFTOVER = "leftover"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a restore, and what to do about it.

    `saved` and `live` are the names of the nodes that it is about, None for a side that it is
    not about; `why` and `remedy` are one sentence each. `nodes` are all saved nodes and
    `objects` all live ones that it is about, by id, `saved` and `live` the first.
    """

    severity: Severity
    kind: Kind
    saved: str | None
    live: str | None
    why: str
    remedy: str
    nodes: tuple[int, ...] = ()
    objects: tuple[int, ...] = ()
