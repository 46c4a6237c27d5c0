"""Every attack is answered: by a graph, a marked node or an error of ours, in little time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.formats.protos import CheckpointState, parse_text
from tests.hostile.limits import MEGABYTES, Worker
from tests.hostile.makers import ATTACKS, MANY, NASTY

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits processes by means of Linux"
)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_answered_within_the_limits(name: str, worker: Worker, tmp_path: Path) -> None:
    attack = ATTACKS[name]
    result = worker.open(attack.make(tmp_path), str(tmp_path), attack.seconds)
    assert result.finding is None, result
    assert result.megabytes <= MEGABYTES
    assert re.match(attack.said, result.said, re.DOTALL), result.said


def test_limits_and_demands_are_real(worker: Worker, tmp_path: Path) -> None:
    path, sandbox = ATTACKS["chain"].make(tmp_path), str(tmp_path)
    assert worker.open(path, sandbox, 0.05).finding == "took too long at: 'graph'"
    assert worker.open(path, sandbox, 20).megabytes > 50
    nowhere = worker.open(f"{sandbox}/no/such", f"{sandbox}/other").finding
    assert nowhere is not None
    assert nowhere.startswith("names no file: ")


@pytest.mark.parametrize("name", ["chain", "star", "cycle"])
def test_graph_of_a_hundred_thousand_nodes_opens_whole(name: str, tmp_path: Path) -> None:
    graph = cv.graph(ATTACKS[name].make(tmp_path))
    assert len(graph.nodes) == MANY
    assert sorted(graph.tree.preorder()) == list(range(MANY))
    last = MANY - 1
    assert graph.path(last) == ((str(last),) if name == "star" else ("next",) * last)


def test_nasty_names_stay_what_they_are_and_are_shown_escaped(tmp_path: Path) -> None:
    graph = cv.graph(ATTACKS["nasty_names"].make(tmp_path))
    assert [child.local_name for child in graph.nodes[0].children] == list(NASTY)
    assert [graph.path(n)[-1] for n in range(1, len(NASTY) + 1)] == list(NASTY)
    text = str(graph)
    assert "<script>alert(1)</script>" in text
    assert "\\x1b[2J\\x1b[31mred\\x07" in text
    source = graph.to_dot().source
    assert "label=<" not in source
    assert all(line.isprintable() for line in source.replace("\t", "").splitlines())


_PATHS = st.text(st.characters(exclude_categories=["Cs"]))


@given(_PATHS, st.lists(_PATHS), st.lists(st.floats(allow_nan=False)), st.booleans(), st.booleans())
def test_state_files_are_read_as_protobuf_reads_them(
    latest: str, paths: list[str], times: list[float], as_utf8: bool, one_line: bool
) -> None:
    state = CheckpointState(
        model_checkpoint_path=latest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
    )
    text = text_format.MessageToString(state, as_utf8=as_utf8, as_one_line=one_line).encode()
    assert parse_text(CheckpointState, text, "checkpoint") == state
    assert text_format.Parse(text, CheckpointState()) == state
