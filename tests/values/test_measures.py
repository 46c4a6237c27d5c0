"""What values measure, for search and colour: NumPy is the oracle."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets
from numpy.testing import assert_allclose

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.errors import QueryError
from ckpt_viz.files.values.measured import measures_of
from ckpt_viz.files.values.running import OnRead
from ckpt_viz.graphs.search.measures import Measures
from tests.support import name_based
from tests.support.damage import flipped
from tests.support.graphs import keras3_adam

RANDOM = np.random.default_rng(5)
KERNEL = RANDOM.normal(size=(30, 7)).astype("float32")
BROKEN = np.array([1.0, np.nan, -np.inf, 0.0], "float32")
SPARSE = np.where(RANDOM.random(1000) < 0.75, 0, RANDOM.normal(size=1000))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A checkpoint with a NaN, zeros, strings and a scalar."""
    arrays = {"dense/kernel": KERNEL, "dense/broken": BROKEN, "sparse": SPARSE}
    rest = {"zero": np.zeros(9), "step": np.array(7), "words": [b"a", b"bc"]}
    return name_based.write(tmp_path / "a", **arrays, **rest)


@pytest.fixture
def later(tmp_path: Path) -> str:
    """The next checkpoint: one tensor rests, one changed in part, one is new, and one is gone."""
    kernel = KERNEL.copy()
    kernel[3] *= 1.5
    arrays = {"dense/kernel": kernel, "dense/broken": BROKEN, "sparse": SPARSE * 2}
    rest = {"zero": np.ones(9), "step": np.array(7), "new": np.full(4, 3.0)}
    return name_based.write(tmp_path / "b", **arrays, **rest)


def _of(explorer: Any, name: str) -> dict[str, float]:
    """Return the measures of a node that has any."""
    measures: Measures = explorer._shown.measures()
    node_id = explorer.graph.node_id(name)
    names = ("norm", "mean", "std", "min", "max", "zeros", "nan", "inf", "change", "largest")
    found = {one: float(measures[one][node_id]) for one in names}
    return {one: number for one, number in found.items() if not np.isnan(number)}


def _names(explorer: Any, query: str) -> set[str]:
    return {explorer.graph.name(one).removeprefix("(root).") for one in explorer.find(query)}


def test_measures_of_a_file_are_those_of_numpy(saved: str) -> None:
    explorer = cv.show(saved)
    for name, array in {"dense.kernel": KERNEL, "sparse": SPARSE, "zero": np.zeros(9)}.items():
        expected = {
            **{"norm": np.linalg.norm(array), "mean": array.mean(dtype="float64")},
            **{"std": array.std(dtype="float64"), "min": array.min(), "max": array.max()},
            **{"zeros": np.mean(array == 0), "nan": 0, "inf": 0},
        }
        found = _of(explorer, name)
        assert found.keys() == expected.keys()
        assert_allclose([found[one] for one in expected], list(expected.values()), rtol=1e-6)
    assert _of(explorer, "dense.broken") == {
        **{"norm": 1, "mean": 0.5, "std": 0.5, "min": 0, "max": 1},
        **{"zeros": 0.25, "nan": 1, "inf": 1},
    }
    assert _of(explorer, "words") == {}


def test_a_query_reads_the_values_that_it_asks_for(saved: str) -> None:
    explorer = cv.show(saved)
    explorer.find("kernel role:variable")
    assert "_measures" not in explorer._shown.__dict__
    assert _names(explorer, "is:nan") == {"dense.broken"}
    assert _names(explorer, "zeros>50%") == {"sparse", "zero"}
    assert _names(explorer, "is:zero") == {"zero"}
    assert _names(explorer, f"norm>{np.linalg.norm(KERNEL) - 1e-3} -sparse") == {"dense.kernel"}
    graph = cv.graph(saved)
    assert {graph.name(one) for one in graph.find("max=7 min=7")} == {"(root).step"}


def test_values_cannot_choose_what_to_read(saved: str) -> None:
    with pytest.raises(QueryError, match="expected values, which were not read"):
        cv.graph(saved).values(where="norm>3")


def test_a_diff_measures_the_change(saved: str, later: str) -> None:
    explorer = cv.show(saved, against=later)
    changed = KERNEL[3] * 1.5 - KERNEL[3]
    found = _of(explorer, "dense.kernel")
    assert found["change"] == pytest.approx(
        np.linalg.norm(changed) / np.linalg.norm(KERNEL), rel=1e-6
    )
    assert found["largest"] == pytest.approx(np.abs(changed).max(), rel=1e-6)
    assert _of(explorer, "sparse")["change"] == pytest.approx(1)
    assert _of(explorer, "zero")["change"] == np.inf
    assert _of(explorer, "step")["change"] == 0
    new = _of(explorer, "new")
    assert (new["norm"], "change" in new) == (6, False)
    assert _names(explorer, "change>50%") == {"sparse", "zero"}
    assert "dense.broken" in _names(explorer, "is:unchanged")
    with pytest.raises(QueryError, match="a single graph has no change"):
        cv.show(saved).find("change>5%")


def test_two_tensors_of_a_node_are_one_measure(tmp_path: Path) -> None:
    graph = cv.graph(name_based.write(tmp_path / "t", keys=np.arange(5.0), values=np.ones((2, 3))))
    rows = graph.values()
    joined = measures_of(1, [(0, row) for row in rows])
    both = np.concatenate([np.arange(5.0), np.ones(6)])
    expected = {
        **{"norm": np.linalg.norm(both), "mean": both.mean(), "std": both.std()},
        **{"min": 0, "max": 4, "zeros": 1 / 11},
    }
    found = [float(joined[name][0]) for name in expected]
    assert_allclose(found, [float(number) for number in expected.values()])


def test_what_cannot_be_read_is_counted_and_the_rest_is_measured(saved: str) -> None:
    flipped(saved, "dense/kernel", 3)
    measures = cv.show(saved)._shown.measures()
    assert (measures.unreadable, measures.unread) == (1, 0)
    known = ~np.isnan(measures["norm"])
    assert known.sum() == 4


def _pressed(_title: str, _total: int) -> AbstractContextManager[OnRead]:
    """Begin what somebody stops at its first step."""

    def press(_nbytes: int) -> None:
        raise KeyboardInterrupt

    return nullcontext(press)


def test_an_interrupted_reading_keeps_what_it_read(saved: str, later: str) -> None:
    for shown in (show_of(saved), show_of(saved, later)):
        first = shown.measures(_pressed)
        assert first.unread > 0
        whole = shown.measures()
        assert whole.unread == 0
        assert np.isnan(first["norm"]).sum() > np.isnan(whole["norm"]).sum()


def test_a_chosen_measure_reads_the_values_and_goes_into_the_file(
    saved: str, tmp_path: Path
) -> None:
    explorer = cv.show(saved, measure="norm")
    assert explorer._payload == _measured_payload(saved)
    explorer.save_html(tmp_path / "x.html")
    assert '"measure": "norm"' in (tmp_path / "x.html").read_text("utf-8")
    with pytest.raises(traitlets.TraitError, match="only a comparison has"):
        explorer.measure = "change"
    with pytest.raises(traitlets.TraitError):
        explorer.measure = "weight"


def test_a_refresh_measures_again(saved: str) -> None:
    explorer = cv.show(saved, measure="norm")
    for file in Path(saved).parent.iterdir():
        file.unlink()
    name_based.write(Path(saved), **{"dense/kernel": KERNEL * 2})
    explorer.refresh()
    assert _of(explorer, "dense.kernel")["norm"] == pytest.approx(2 * np.linalg.norm(KERNEL))


def test_the_browser_asks_for_the_values(saved: str) -> None:
    data, buffers = answer(show_of(saved), {"ask": "measures"})
    assert data == {}
    assert buffers == [_measured_payload(saved)]
    explorer = cv.show(saved)
    data, buffers = explorer._answer({"ask": "measures"})
    assert (data, buffers) == ({}, [])
    assert explorer._payload == _measured_payload(saved)


def _measured_payload(saved: str) -> bytes:
    shown = show_of(saved)
    shown.measures()
    return shown.encoded


def test_the_value_of_a_node_comes_with_its_statistics(saved: str) -> None:
    shown = show_of(saved)
    node = shown.graph.node_id("dense.broken")
    data, _ = answer(shown, {"ask": "values", "node": node})
    (value,) = data["values"]
    assert value["statistics"] == {
        **{"count": 4, "zeros": 1, "nan": 1, "inf": 1},
        **{"min": 0, "max": 1, "mean": 0.5, "std": 0.5, "norm": 1},
    }
    assert sum(value["histogram"]["counts"]) == 2
    json.dumps(data, allow_nan=False)
    (words,) = answer(shown, {"ask": "values", "node": shown.graph.node_id("words")})[0]["values"]
    assert "statistics" not in words


def test_a_graph_without_values_measures_nothing() -> None:
    measures = cv.show(keras3_adam())._shown.measures()
    assert np.isnan(measures["norm"]).all()
    assert measures.unreadable > 0


@pytest.mark.tf
def test_a_check_measures_what_the_restore_brings(tmp_path: Path) -> None:
    import tensorflow as tf

    ours = tf.train.Checkpoint(a=tf.Variable([3.0, 4.0]), b=tf.Variable([1.0]))
    path = ours.write(str(tmp_path / "ckpt"))
    ours.a.assign([6.0, 8.0])
    live = tf.train.Checkpoint(a=ours.a, b=ours.b, extra=tf.Variable([2.0]))
    explorer = cv.show(live, against=path)
    assert _of(explorer, "a")["norm"] == 5
    assert _of(explorer, "a")["change"] == 1
    assert _of(explorer, "b")["change"] == 0
    assert _of(explorer, "extra")["norm"] == 2
    assert "change" not in _of(explorer, "extra")
    assert _names(explorer, "is:unchanged") == {"b"}
    assert _names(explorer, "change>=100%") == {"a"}
