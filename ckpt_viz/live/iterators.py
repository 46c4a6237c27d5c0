"""Iterators of tf.data: whether one takes the state that another has saved.

The state has a part for each stage of the dataset's pipeline, under names that go from the
outermost stage inwards: `Iterator::Root::Prefetch::BatchV2::Range@@next`
(tensorflow/core/data/serialization_utils.cc). `DeserializeIterator` raises NotFoundError where a
stage finds nothing under its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.bundle import open_bundle
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live import tensorflow_restore as tf_restore
from ckpt_viz.matching.saved_graph import not_found
from ckpt_viz.matching.trace import Cause, Failure

_PART = re.compile(rb"Iterator::Root((?:::[\w\[\]]+)*)@@")
_ADDED = re.compile(r"\[.*|_invocation.*|Impl$")  # to a stage's name, by its progress
_OF_EVERY_PIPELINE = "Prefetch"  # TensorFlow puts one around each
_MOST_READ = 1 << 16  # bytes; outer stages come first
_MOST_PARTS = 64  # likewise
Pipeline: TypeAlias = tuple[str, ...]


class Reading(NamedTuple):
    """The checkpoint that is read; `path` as in SavedGraph."""

    prefix: str
    path: str | None


def is_iterator(obj: object) -> bool:
    """Return whether an object is an iterator of a tf.data.Dataset."""
    return obj is not None and tf_private.legacy_attribute_name(obj) == "ITERATOR"


def refused_state(iterator: Any, key: str, reading: Reading) -> Failure | None:
    """Return what restoring the state under a key into an iterator raises, None if it takes it.

    Reads the beginning of the saved state, and serializes that of the iterator, as the restore
    does, too, before it.
    """
    try:
        state = open_bundle(reading.prefix).beginning(key, _MOST_READ)
    except (CkptVizError, KeyError):  # the restore finds that out before
        return None
    parts = islice(tf_restore.state_of_iterator(iterator), _MOST_PARTS)
    differing = first_difference(pipelines(state), pipelines(b"".join(parts)))
    if differing is None:
        return None
    saved, live = map("::".join, differing)
    message = (
        f"Failed to restore dataset iterator from checkpoint: Iterator::Root::{live}. Make sure "
        "the dataset definition has not changed between the process that saved the checkpoint and "
        "the process that is restoring it."
    )
    return Failure(
        Cause.STAGES,
        "NotFoundError",
        not_found(reading.path, message),
        found=saved,
        expected=live,
    )


def pipelines(state: bytes) -> frozenset[Pipeline]:
    """Return the pipelines, outermost stage first, that parts of an iterator's state belong to.

    >>> pipelines(b"Iterator::Root::Prefetch@@size Iterator::Root::Prefetch::BatchV2::Range[0]@@")
    frozenset({('BatchV2', 'Range')})
    """
    found = set()
    for part in _PART.finditer(state):
        names = [_ADDED.sub("", name) for name in part[1].decode("ascii", "replace").split("::")]
        stages = [n for n in names if n and not n.isdecimal() and n != _OF_EVERY_PIPELINE]
        if stages:
            found.add(tuple(stages))
    return frozenset(found)


def first_difference(
    saved: Iterable[Pipeline], live: Iterable[Pipeline]
) -> tuple[Pipeline, Pipeline] | None:
    """Return the outermost parts of two iterators' pipelines that differ, None if none do.

    What only one of them has tells nothing: an epoch that is over, a buffer that is empty.

    >>> first_difference([("Batch",), ("Batch", "Range")], [("Batch", "Map", "Range")])
    (('Batch', 'Range'), ('Batch', 'Map'))
    >>> first_difference([("Batch",)], [("Batch", "Range")])
    """
    common: Pipeline = ()
    while True:
        stages = [_next_stages(side, common) for side in (saved, live)]
        if not all(stages) or (stages[0] & stages[1] and max(map(len, stages)) > 1):
            return None
        ours, theirs = map(min, stages)
        if ours != theirs:
            return (*common, ours), (*common, theirs)
        common = (*common, ours)


def _next_stages(pipelines: Iterable[Pipeline], common: Pipeline) -> set[str]:
    depth = len(common)
    return {one[depth] for one in pipelines if len(one) > depth and one[:depth] == common}
