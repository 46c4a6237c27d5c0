"""Iterators of tf.data: whether one accepts the state that another has saved.

The state has a part for each stage of the dataset's pipeline. The names of the parts go from the
outermost stage inwards: `Iterator::Root::Prefetch::BatchV2::Range@@next`
(tensorflow/core/data/serialization_utils.cc). `DeserializeIterator` raises NotFoundError if a stage
finds nothing under its name. With `experimental_symbolic_checkpoint` several kinds of stages write
less or other data, and can read back only that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.saved_graph import not_found
from ckpt_viz.matching.engines.trace import Cause, Failure

# Without a key, it also matches, so that no part of a path is looked at twice.
_PART = re.compile(rb"Iterator::Root((?:::[\w\[\]]+)*)((?:@@[\w.:|\[\]]*)*)")
_MOST_STAGES = 100  # of a pipeline
_INPUT = re.compile(r"\[.*")  # the index of its input, added to a stage's name
# likewise, and additions by its progress
_ADDED = re.compile(rf"{_INPUT.pattern}|_invocation.*|Impl$")
_OF_EVERY_PIPELINE = "Prefetch"  # TensorFlow puts one around each pipeline
_MOST_READ = 1 << 16  # bytes; outer stages come first
_MOST_PARTS = 64  # likewise
# Kinds of stages that always write something, but nothing symbolically.
_IN_FULL_ALONE = frozenset({_OF_EVERY_PIPELINE, "ParallelMap", "ParallelMapV2"})
_CACHE = "MemoryCache"
_FILLING = f"{_CACHE}Impl"  # has no part of its own once the cache is complete
# What a kind of stage writes about an element in progress: in full, symbolically.
_OF_AN_OPEN_ELEMENT = {
    "FlatMap": ("inputs_size", ""),
    "Interleave": ("args_size", "input_element_indices"),
}
Pipeline: TypeAlias = tuple[str, ...]


class Reading(NamedTuple):
    """The checkpoint to read; `path` as in SavedGraph."""

    prefix: str
    path: str | None


def is_iterator(obj: object) -> bool:
    """Return whether an object is an iterator of a tf.data.Dataset."""
    return obj is not None and tf_private.legacy_attribute_name(obj) == "ITERATOR"


def refused_state(iterator: Any, key: str, reading: Reading) -> Failure | None:
    """Return what restoring the state under a key into an iterator raises, None if nothing.

    Reads the beginning of the saved state, and serializes the iterator's own state, as the restore
    itself does first.
    """
    try:
        state = open_bundle(reading.prefix).beginning(key, _MOST_READ)
    except (CkptVizError, KeyError):  # the restore finds that out earlier
        return None
    own = b"".join(islice(tf_restore.state_of_iterator(iterator), _MOST_PARTS))
    differing = first_difference(pipelines(state), pipelines(own))
    if differing is not None:
        saved, live = map("::".join, differing)
        return _not_restored(f"Iterator::Root::{live}", reading, Cause.STAGES, saved, live)
    is_symbolic = tf_restore.is_symbolic(iterator)
    unwritten = first_unwritten(keys_by_stage(state), is_symbolic=is_symbolic)
    if unwritten is None:
        return None
    stage, key = unwritten
    name = key or "::".join(("Iterator::Root", *stage))
    return _not_restored(name, reading, Cause.SYMBOLIC, stage[-1], str(is_symbolic))


def _not_restored(name: str, reading: Reading, cause: Cause, actual: str, expected: str) -> Failure:
    message = (
        f"Failed to restore dataset iterator from checkpoint: {name}. Make sure "
        "the dataset definition has not changed between the process that saved the checkpoint and "
        "the process that is restoring it."
    )
    text = not_found(reading.path, message)
    return Failure(cause, "NotFoundError", text, actual=actual, expected=expected)


def pipelines(state: bytes) -> frozenset[Pipeline]:
    """Return the pipelines of the parts of an iterator's state, outermost stage first.

    >>> pipelines(b"Iterator::Root::Prefetch@@size Iterator::Root::Prefetch::BatchV2::Range[0]@@")
    frozenset({('BatchV2', 'Range')})
    """
    paths = set()
    for path, _ in _parts(state):
        names = [_ADDED.sub("", name) for name in path]
        stages = [n for n in names if n and not n.isdecimal() and n != _OF_EVERY_PIPELINE]
        if stages:
            paths.add(tuple(stages))
    return frozenset(paths)


def keys_by_stage(state: bytes) -> dict[Pipeline, frozenset[str]]:
    """Return what each stage of a pipeline has written about itself; omit silent stages.

    For a stage with several inputs, `[1]` marks an input that has written something.

    >>> keys_by_stage(b"Iterator::Root::Zip[1]::Range@@next")
    {('Zip',): frozenset({'[1]'}), ('Zip', 'Range'): frozenset({'next'})}
    """
    keys: dict[Pipeline, set[str]] = {}
    for names, written in _parts(state):
        stage = tuple(_INPUT.sub("", name) for name in names)
        for depth, name in enumerate(names, 1):
            new_keys = _INPUT.findall(name) if depth < len(names) else written
            keys.setdefault(stage[:depth], set()).update(new_keys)
    return {stage: frozenset(written) for stage, written in keys.items()}


def _parts(state: bytes) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the stages of each part of a state, outermost first, and the keys behind them."""
    for part in _PART.finditer(state):
        stages, keys = (group.decode("ascii", "replace") for group in part.groups())
        if keys and stages.count("::") <= _MOST_STAGES:
            yield stages.split("::")[1:], keys.split("@@")[1:]


def first_unwritten(
    saved: Mapping[Pipeline, frozenset[str]], *, is_symbolic: bool
) -> tuple[Pipeline, str] | None:
    """Return the first stage that finds nothing under its name and the key, None if there is none.

    The key is "" if the stage has written nothing about itself. `is_symbolic` says how the live
    pipeline reads. A stage reads after its inputs.

    >>> saved = keys_by_stage(b"Iterator::Root::Prefetch::Range@@next")
    >>> first_unwritten(saved, is_symbolic=False)
    (('Prefetch',), '')
    >>> first_unwritten(saved, is_symbolic=True)
    """
    for stage in sorted(saved, key=len, reverse=True):
        written = {key for key in saved[stage] if not key.startswith("[")}
        if stage[-1] == _FILLING:
            is_needed = "cache_completed" not in saved.get((*stage[:-1], _CACHE), ())
        else:
            is_needed = stage[-1] in _IN_FULL_ALONE and not is_symbolic
        if is_needed and not written:
            return stage, ""
        in_full, symbolic = _OF_AN_OPEN_ELEMENT.get(stage[-1], ("", ""))
        wanted, instead = (symbolic, in_full) if is_symbolic else (in_full, symbolic)
        is_open = bool(wanted) and len(written) < len(saved[stage])
        if is_open and not any(key.startswith(wanted) for key in written):
            places = [key[len(instead) :] for key in written if instead and key.startswith(instead)]
            return stage, wanted + min(places, default="")
    return None


def first_difference(
    saved: Iterable[Pipeline], live: Iterable[Pipeline]
) -> tuple[Pipeline, Pipeline] | None:
    """Return the outermost differing parts of two iterators' pipelines, None if none differ.

    A stage that only one of them has proves nothing: an epoch may be over, a buffer empty.

    >>> first_difference([("Batch",), ("Batch", "Range")], [("Batch", "Map", "Range")])
    (('Batch', 'Range'), ('Batch', 'Map'))
    >>> first_difference([("Batch",)], [("Batch", "Range")])
    """
    common: Pipeline = ()
    while True:
        stages = [_next_stages(side, common) for side in (saved, live)]
        if not all(stages) or (stages[0] & stages[1] and max(map(len, stages)) > 1):
            return None
        saved_stage, live_stage = map(min, stages)
        if saved_stage != live_stage:
            return (*common, saved_stage), (*common, live_stage)
        common = (*common, saved_stage)


def _next_stages(pipelines: Iterable[Pipeline], common: Pipeline) -> set[str]:
    depth = len(common)
    return {path[depth] for path in pipelines if len(path) > depth and path[:depth] == common}
