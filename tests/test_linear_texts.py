"""Texts of strangers take time in proportion to their size, whatever pattern looks at them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ckpt_viz
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.graphs.render.text import briefly
from ckpt_viz.graphs.search.evaluate import find
from ckpt_viz.live.restoring.iterators import keys_by_stage, pipelines
from tests.support.graphs import graph
from tests.support.linear import is_linear

pytestmark = pytest.mark.slow

_SIZE = 16_000
_GRAPH = graph({0: {"a": 1}}, (1,))


def _found(text: str) -> object:
    try:
        return find(_GRAPH, text)
    except ckpt_viz.QueryError:
        return ()


_USES: dict[str, Callable[[int], object]] = {
    "brackets in the search": lambda n: _found("(" * n),
    "quotes in the search": lambda n: _found("'" * n + "x"),
    "ends of keys in the search": lambda n: _found("ATTRIBUTES/'" * (n // 12)),
    "beginnings of messages in the search": lambda n: _found("Key " * (n // 4)),
    "an error without a shard": lambda n: briefly("o" * n),
    "an error of many shards": lambda n: briefly(".data-00000-of-0000" * (n // 19)),
    "digits in a title": lambda n: Checkpoint("0" * n + "x" + "0" * n, "", None).number,
    "an iterator without keys": lambda n: pipelines(b"Iterator::Root::o" * (n // 17)),
    "an iterator of many stages": lambda n: keys_by_stage(b"Iterator::Root" + b"::o" * n + b"@@a"),
    "an iterator of many keys": lambda n: keys_by_stage(
        b" ".join(b"Iterator::Root::a@@k%d" % k for k in range(n))
    ),
}


@pytest.mark.parametrize("use", _USES.values(), ids=_USES)
def test_twice_the_text_takes_twice_the_time(use: Callable[[int], object]) -> None:
    assert is_linear(use, _SIZE)


def test_only_the_name_of_a_shard_is_left_of_its_path() -> None:
    assert briefly("a/b\\c.data-00000-of-00001: no such file; copy it") == (
        "c.data-00000-of-00001: no such file"
    )
    for same in ("a/.data-00000-of-00001: gone; copy it", "a.data-00000-of-00001", ""):
        assert briefly(same) == same


def test_the_last_number_of_a_title_counts() -> None:
    titles = {"ckpt-7": 7, "a1b22c": 22, "x": None, "1" * 20: None, "v1-?????-of-00002": 1}
    assert {title: Checkpoint(title, "", None).number for title in titles} == titles
