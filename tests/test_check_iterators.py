"""Iterators of tf.data: TensorFlow restores the state of one pipeline into another, or raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import ckpt_viz as cv
from tests.support.amounts import Tier, amount, some, tier
from tests.support.oracle import compare

pytestmark = pytest.mark.tf

_EXHAUSTED = 50  # more elements than any finite dataset here has


@cache
def datasets() -> dict[str, Callable[[], Any]]:
    import tensorflow as tf

    d = tf.data.Dataset
    plus_one: Callable[[Any], Any] = lambda number: number + 1  # noqa: E731
    return {
        "range": lambda: d.range(10),
        "longer": lambda: d.range(20),
        "tensors": lambda: d.from_tensor_slices([1.0, 2.0, 3.0]),
        "batch": lambda: d.range(10).batch(2),
        "larger batch": lambda: d.range(10).batch(3),
        "shuffle": lambda: d.range(10).shuffle(3),
        "repeat": lambda: d.range(10).repeat(2),
        "for ever": lambda: d.range(10).repeat(),
        "map": lambda: d.range(10).map(plus_one),
        "parallel map": lambda: d.range(10).map(plus_one, num_parallel_calls=2),
        "cache": lambda: d.range(10).cache(),
        "take": lambda: d.range(10).take(5),
        "skip": lambda: d.range(10).skip(2),
        "zip": lambda: d.zip((d.range(5), d.range(5))),
        "filter": lambda: d.range(10).filter(lambda number: number > 1),
        "interleave": lambda: d.range(4).interleave(lambda _: d.range(3)),
        "flat map": lambda: d.range(4).flat_map(lambda _: d.range(3)),
        "concatenate": lambda: d.range(4).concatenate(d.range(3)),
        "sample": lambda: d.sample_from_datasets([d.range(5), d.range(5)], seed=1),
        "prefetch": lambda: d.range(10).prefetch(2),
        "batch, prefetch": lambda: d.range(10).batch(2).prefetch(2),
        "training": lambda: d.range(100).shuffle(9).repeat().map(plus_one).batch(4).prefetch(1),
        "epochs": lambda: d.range(100).map(plus_one).shuffle(9).batch(4).repeat().prefetch(1),
        "batch of the repeated": lambda: d.range(10).repeat().batch(4),
        "repeated batch": lambda: d.range(10).batch(4).repeat(),
    }


def advanced(
    name: str, steps: int, *, symbolic: bool | None = None, prefetches: bool = True
) -> Any:
    """Return an iterator after so many steps; `symbolic` and `prefetches` are options."""
    import tensorflow as tf

    options = tf.data.Options()
    if symbolic is not None:
        options.experimental_symbolic_checkpoint = symbolic
    if not prefetches:
        options.experimental_optimization.inject_prefetch = False
    iterator = iter(datasets()[name]().with_options(options))
    for _ in range(steps):
        if next(iterator, None) is None:
            break
    return iterator


class Pair(NamedTuple):
    """Two iterators, each of a dataset and after so many steps."""

    saved: str
    saved_steps: int
    live: str
    live_steps: int


def _names() -> list[str]:
    """Return the names of datasets: each third one in the first tier, and all at night."""
    return [*datasets()][:: {Tier.FIRST: 3, Tier.ALL: 2}.get(tier(), 1)]


def _pairs(seed: int) -> Iterator[Pair]:
    """Give each dataset with itself and a simple one, and some or all of the others."""
    for number, name in enumerate(_names()):
        yield Pair(name, 1, name, 0)
        for saved, live in some(((0, 1), (1, 2), (_EXHAUSTED, 0), (1, _EXHAUSTED)), number):
            yield Pair(name, saved, name, live)
            yield Pair(name, saved, "range", live)
    others = [Pair(saved, 1, live, 0) for saved, live in permutations(datasets(), 2)]
    yield from Random(seed).sample(others, amount(len(others) // 20, len(others)))


def test_another_pipeline_raises_what_tensorflow_raises(tmp_path: Path, seed: int) -> None:
    import tensorflow as tf

    @cache
    def path_of(name: str, steps: int) -> str:
        checkpoint = tf.train.Checkpoint(it=advanced(name, steps))
        path: str = checkpoint.save(str(tmp_path / f"{name} {steps}"))
        return path

    raised = []
    for pair in _pairs(seed):
        path = path_of(pair.saved, pair.saved_steps)
        found = compare(
            lambda: tf.train.Checkpoint(it=advanced(pair.live, pair.live_steps)),  # noqa: B023
            path,
        )
        raised.append(found.outcome.raises)
    assert raised.count("NotFoundError") > len(raised) // 3
    assert raised.count(None) > len(_names())


def test_stages_that_differ_are_named(tmp_path: Path) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(it=advanced("epochs", 1)).save(str(tmp_path / "ckpt"))
    live = tf.train.Checkpoint(it=advanced("for ever", 0))
    check = cv.check(live, path)
    with pytest.raises(tf.errors.NotFoundError, match=r"Iterator::Root::Prefetch::ForeverRepeat\["):
        live.restore(path)
    (finding,) = check.findings
    assert (finding.kind, finding.severity) == ("key_missing", "error")
    assert "ForeverRepeat::BatchV2" in finding.why
    assert "ForeverRepeat::Range" in finding.why


def test_state_in_another_manner_raises_what_tensorflow_raises(tmp_path: Path) -> None:
    import tensorflow as tf

    raised: dict[tuple[bool | None, ...], set[str | None]] = {}
    names = ["cache", "interleave", "range"]  # what the first tier needs for all outcomes
    if tier() is not Tier.FIRST:
        names += ["parallel map", "flat map", "sample", "epochs"]
    for name, (saved, live) in product(names, ((True, False), (None, True), (True, True))):
        for steps, prefetches in ((0, True), (1, True), (1, False)):
            if name == "cache" and saved and steps:
                continue  # TensorFlow refuses to save that
            at = advanced(name, steps, symbolic=saved, prefetches=prefetches)
            path = tf.train.Checkpoint(it=at).save(str(tmp_path / "ckpt"))
            found = compare(
                lambda: tf.train.Checkpoint(
                    it=advanced(name, 0, symbolic=live, prefetches=prefetches)  # noqa: B023
                ),
                path,
            )
            raised.setdefault((saved, live, prefetches), set()).add(found.outcome.raises)
    assert raised == {
        (True, False, True): {"NotFoundError"},
        (None, True, True): {"NotFoundError", None},  # of an interleave alone
        (True, True, True): {"NotFoundError", None},  # of a cache alone
        (True, False, False): {"NotFoundError", None},
        (None, True, False): {"NotFoundError", None},
        (True, True, False): {None},
    }


def test_stage_that_wrote_too_little_is_named(tmp_path: Path) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(it=advanced("batch", 1, symbolic=True)).save(str(tmp_path / "ckpt"))
    live = tf.train.Checkpoint(it=advanced("batch", 0))
    check = cv.check(live, path)
    with pytest.raises(tf.errors.NotFoundError, match=r"Iterator::Root::Prefetch\. Make sure"):
        live.restore(path)
    assert check.raises is not None
    assert "Iterator::Root::Prefetch. Make sure" in check.raises.message
    (finding,) = check.findings
    assert (finding.kind, finding.severity) == ("key_missing", "error")
    assert "stage Prefetch" in finding.why
    assert "experimental_symbolic_checkpoint" in str(finding.remedy)


def test_iterator_stays_where_it_is(tmp_path: Path) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(it=advanced("training", 5)).save(str(tmp_path / "ckpt"))
    iterator = advanced("longer", 3)
    assert cv.check(tf.train.Checkpoint(it=iterator), path).raises is not None
    assert next(iterator).numpy() == 3
