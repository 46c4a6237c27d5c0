"""The sentence of a diff whose values were read: what changed most, and where the first NaN is."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.entrances.web.session import Session
from tests.support.amounts import amount
from tests.support.tables import Tensor, floats, raw, shape, write_bundle

_NAN, _INF = float("nan"), float("inf")
_MOST_WORDS = 20
_KEPT = {"stem/kernel": floats(1, 2), "stem/bias": floats(3)}


def _read(directory: Path, a: dict[str, Tensor], b: dict[str, Tensor]) -> tuple[GraphDiff, Shown]:
    """Return a diff with values, and what a page shows of the same diff after a reading."""
    paths = [write_bundle(directory / name, of) for name, of in (("a", a), ("b", b))]
    shown = show_of(cv.diff(*paths))
    shown.measures()
    return cv.diff(*paths, values=True, progress=False), shown


def _header(shown: Shown) -> dict[str, Any]:
    data = gzip.decompress(shown.encoded)
    size = int.from_bytes(data[8:12], "little")
    header: dict[str, Any] = json.loads(data[12 : 12 + size])
    return header


CASES: dict[str, tuple[dict[str, Tensor], dict[str, Tensor], str]] = {
    "most": (
        {"up/kernel": floats(3, 4), "down/kernel": floats(0, 1)},
        {"up/kernel": floats(3, 5), "down/kernel": floats(0, 2)},
        "down changed most: by 100 %.",
    ),
    "one, with what is equal in it": (
        {"up/kernel": floats(3, 4), "up/bias": floats(12)},
        {"up/kernel": floats(3, 4), "up/bias": floats(12 + 1.3)},
        "up changed: by 10 %.",
    ),
    "from zero": ({"up/w": floats(0, 0)}, {"up/w": floats(0, 1)}, "up changed: from 0."),
    "a NaN first": (
        {"up/kernel": floats(1, 1), "down/kernel": floats(1, 1)},
        {"up/kernel": floats(1, _NAN), "down/kernel": floats(1, 2)},
        "up.kernel has 1 NaN in b. down changed: by 71 %.",
    ),
    "several": (
        {"up/kernel": floats(1, 1), "down/kernel": floats(1, 1), "out/kernel": floats(_NAN, 1)},
        {
            "up/kernel": floats(_NAN, _NAN),
            "down/kernel": floats(1, _NAN),
            "out/kernel": floats(_NAN, 2),
        },
        "down.kernel and 2 more values have NaNs in b. out changed: by 100 %.",
    ),
    "an infinity": (
        {"up/kernel": floats(1, 1)},
        {"up/kernel": floats(_INF, _INF)},
        "up.kernel has 2 infinite elements in b.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_diff_says_what_changed_most_and_a_page_says_the_same(case: str, tmp_path: Path) -> None:
    a, b, sentence = CASES[case]
    diff, shown = _read(tmp_path, _KEPT | a, _KEPT | b)
    table = diff.overlay.table
    assert table.sentence == sentence == str(diff).splitlines()[1]
    assert sentence in str(diff)
    assert table.verdict.endswith("other numbers.")
    told = _header(shown)["table"]
    assert (told["sentence"], told["verdict"]) == (sentence, table.verdict)
    assert told.get("worst") == table.worst
    has_bad = "NaN" in sentence or "infinite" in sentence
    assert (table.worst is not None) == has_bad
    if table.worst is not None:
        assert sentence.startswith(diff.overlay.names.place(table.worst))


def test_without_a_changed_parameter_the_counts_stay(tmp_path: Path) -> None:
    steps = raw(9, shape(), b"\1" + 7 * b"\0"), raw(9, shape(), b"\2" + 7 * b"\0")
    diff, shown = _read(tmp_path, _KEPT | {"step": steps[0]}, _KEPT | {"step": steps[1]})
    table = diff.overlay.table
    assert table.sentence == "1 of 3 common values has other numbers."
    assert (table.verdict, table.worst) == ("", None)
    assert _header(shown)["table"]["sentence"] == table.sentence
    unread = cv.diff(diff.a, diff.b)
    assert unread.says == ()
    assert unread.overlay.table.sentence == table.sentence


def test_the_page_and_the_command_say_it_too(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from ckpt_viz.cli import main

    a, b, sentence = CASES["most"]
    for name, of in (("a", a), ("b", b)):
        write_bundle(tmp_path / name, of)
    paths = [str(tmp_path / name) for name in "ab"]
    printed = CliRunner().invoke(main, ["diff", "--values", *paths])
    assert printed.output.splitlines()[1] == sentence
    session = Session()
    session.open("diff", paths)
    _, (payload,) = session.ask('{"ask": "measures"}')
    assert sentence.encode() in gzip.decompress(payload)


_ELEMENTS = st.sampled_from([0.0, 1.0, -2.0, 3.5, 1e30, _NAN, _INF])
_NAMES = [f"block{i}/{name}" for i in range(3) for name in ("kernel", "bias")]


@settings(max_examples=amount(60, 1000), deadline=None)
@given(
    before=st.lists(st.lists(_ELEMENTS, min_size=2, max_size=2), min_size=6, max_size=6),
    after=st.lists(st.none() | st.lists(_ELEMENTS, min_size=2, max_size=2), min_size=6, max_size=6),
)
def test_any_values_give_one_short_sentence_in_both(
    before: list[list[float]],
    after: list[list[float] | None],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    a = {name: floats(*of) for name, of in zip(_NAMES, before, strict=True)}
    b = {
        name: floats(*(old if new is None else new))
        for name, old, new in zip(_NAMES, before, after, strict=True)
    }
    diff, shown = _read(tmp_path_factory.mktemp("any"), a, b)
    table = diff.overlay.table
    told = _header(shown)["table"]
    assert (told["sentence"], told.get("worst")) == (table.sentence, table.worst)
    assert len(table.sentence.split()) <= _MOST_WORDS
    changed = [
        new
        for old, new in zip(before, after, strict=True)
        if new is not None and floats(*old) != floats(*new)
    ]
    assert ("NaN" in table.sentence) == any(math.isnan(x) for new in changed for x in new)
