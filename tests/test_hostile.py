"""Every attack quickly gets an answer: a graph, a marked node or one of our errors."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

import ckpt_viz as cv
import tests.hostile.keras_makers
import tests.hostile.orbax_makers  # noqa: F401 (registers attacks)
from ckpt_viz.entrances.jupyter import live_tabs
from ckpt_viz.formats.arrays.protos import CheckpointState, parse_text
from tests.hostile.limits import Result, Work, Worker, ends, faster_than_size
from tests.hostile.makers import (
    ATTACKS,
    LARGE,
    NASTY,
    SHAPES,
    Attack,
    Small,
    any_small,
    every_small,
    of_shape,
)
from tests.hostile.mutate import change_object_graph
from tests.hostile.seeds import DIRECTORY, seeds
from tests.hostile.use import compare, copy_of, use
from tests.support import live_objects
from tests.support.amounts import amount, size
from tests.support.graphs import graph
from tests.support.oracle import raised_by
from tests.support.saved_graphs import write_graph

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="limits processes by means of Linux"
    ),
]


_SIZED = [name for name, attack in ATTACKS.items() if attack.small]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.more] * (name in _SIZED)) for name in ATTACKS],
)
def test_attack_is_answered(name: str, worker: Worker, tmp_path: Path) -> None:
    attack = ATTACKS[name]
    _check(attack, worker.open(attack.make(tmp_path), str(tmp_path)))


@pytest.mark.parametrize("name", _SIZED)
def test_steps_for_an_attack_grow_no_faster_than_its_size(
    name: str, worker: Worker, tmp_path: Path
) -> None:
    small, large = _counted("steps", ATTACKS[name], worker, tmp_path)
    assert faster_than_size(small, large) == []


@pytest.mark.more
@pytest.mark.parametrize("name", _SIZED)
def test_bytes_for_an_attack_grow_no_faster_than_its_size(
    name: str, worker: Worker, tmp_path: Path
) -> None:
    small, large = _counted("bytes", ATTACKS[name], worker, tmp_path)
    assert faster_than_size(small, large) == []


def _counted(what: str, attack: Attack, worker: Worker, directory: Path) -> list[Work]:
    """Return the work at a size and at twice that size."""
    counted = []
    for number in (1, 2):
        sandbox, of_size = _new(directory / str(number)), attack.of(number * attack.small)
        result = worker.open(of_size.make(sandbox), str(sandbox), counted=what)
        _check(of_size, result)
        counted.append(result.work)
    return counted


def _check(attack: Attack, result: Result) -> None:
    assert result.finding is None, result
    assert re.match(attack.said, result.said, re.DOTALL), result.said


def test_every_small_graph_is_answered(seed: int, tmp_path: Path) -> None:
    """All edges, values and slots of two nodes, and some of three: no walk goes in circles."""
    chooser = random.Random(seed)
    graphs = chooser.sample([*every_small(2)], amount(30, 576))
    graphs += [any_small(chooser, 3) for _ in range(amount(30, 3000))]
    healthy = Small(3, ((0, 1), (0, 2)), (1, 2)).write(_new(tmp_path / "healthy"))
    for number, small in enumerate(graphs):
        directory = _new(tmp_path / str(number))
        path = small.write(directory)
        with ends(small):
            use(path, str(directory))
            compare(path, str(directory), healthy)


def _new(directory: Path) -> Path:
    directory.mkdir()
    return directory


@pytest.fixture(scope="module")
def bad_worker() -> Iterator[Worker]:
    with Worker("tests.hostile.bad_work") as worker:
        yield worker


@pytest.mark.parametrize(
    ("deed", "finding"),
    [
        ("loops", "did not end at: 'loops'"),
        ("waits", "did not end at: 'waits'"),
        ("crashes", "died of signal 11 at: 'crashes'"),
        ("leaves", "ended with status 3 at: 'leaves'"),
        ("explodes", r"asked for more than there is: MemoryError: .*bad_work\.py"),
    ],
)
def test_what_never_ends_crashes_or_explodes_is_found(
    deed: str, finding: str, bad_worker: Worker
) -> None:
    seconds, watchdog = 0.5 if deed == "loops" else 60.0, 2.0 if deed == "waits" else 300.0
    result = bad_worker.open(f"{deed} 3", "", seconds=seconds, watchdog=watchdog)
    assert re.match(finding, result.finding or ""), result
    assert bad_worker.open("holds 3", "").finding is None  # the worker goes on


@pytest.mark.parametrize(
    ("what", "deed", "grows"),
    [
        ("steps", "goes-once", False),
        ("steps", "squares", True),
        ("steps", "squares-in-a-thread", True),
        ("bytes", "holds", False),
        ("bytes", "holds-a-square", True),
    ],
)
def test_work_that_grows_with_the_square_of_the_size_is_found(
    what: str, deed: str, grows: bool, bad_worker: Worker
) -> None:
    small, large = (bad_worker.open(f"{deed} {size}", "", counted=what).work for size in (100, 200))
    found = [line.partition(":")[0] for line in faster_than_size(small, large)]
    assert found == [deed] * grows
    assert large[what][deed] > 1.9 * small[what][deed]


def test_an_error_that_names_no_file_of_the_sandbox_is_found(
    worker: Worker, tmp_path: Path
) -> None:
    nowhere = worker.open(f"{tmp_path}/no/such", f"{tmp_path}/other").finding
    assert nowhere is not None
    assert nowhere.startswith("names no file: ")


@pytest.mark.parametrize("name", SHAPES)
def test_graph_of_very_many_nodes_opens_whole(name: str, tmp_path: Path) -> None:
    count = size(LARGE // 10, LARGE)
    graph = cv.graph(of_shape(name, count, tmp_path))
    assert len(graph.nodes) == count
    assert sorted(graph.tree.preorder()) == list(range(count))
    last = count - 1
    assert graph.path(last) == ((str(last),) if name == "star" else ("next",) * last)


def test_nasty_names_stay_what_they_are_and_are_shown_escaped(tmp_path: Path) -> None:
    graph = cv.graph(ATTACKS["nasty_names"].make(tmp_path))
    assert [child.local_name for child in graph.nodes[0].children] == list(NASTY)
    assert [graph.path(n)[-1] for n in range(1, len(NASTY) + 1)] == list(NASTY)
    text = str(graph)
    assert "<script>alert(1)</script>" in text
    assert "\\x1b[2J\\x1b[31mred\\x07" in text
    for source in (graph.to_dot().source, graph.to_dot("objects").source):
        assert "label=<" not in source
        assert all(line.isprintable() for line in source.replace("\t", "").splitlines())


def _utf8(data: object) -> bytes:
    """Return data as a kernel sends it (jupyter_client's `json_packer`), or fail."""
    return json.dumps(data, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", ["a\udcff\u202e\x1b[31m", "\ud800"])
def test_no_name_breaks_what_leaves_the_kernel(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titled = replace(cv.graph(DIRECTORY / "adam" / "ckpt-1"), title=name)
    for explorer in (cv.show(titled), cv.show(cv.diff(titled, titled))):
        explorer.query = name
        explorer.save_html(tmp_path / "explorer.html")
        _utf8(explorer.get_state(["query", "selected", "expanded"]))
        _utf8(explorer._repr_mimebundle_()[0])  # type: ignore[index]
        questions = [{"ask": "accessor", "node": 1}, {"ask": "values", "node": 1}, {"ask": name}]
        questions += [{"ask": "file", "format": kind} for kind in ("svg", "dot", "json", "html")]
        for question in questions:
            _utf8(explorer._answer(question)[0])
    monkeypatch.setattr(live_tabs, "_tabs", {})
    for source in (titled, f"{tmp_path}/{name}", DIRECTORY / name):
        _utf8(live_tabs.opened(source, None)._repr_mimebundle_())
        _utf8(live_tabs.opened(titled, source)._repr_mimebundle_())
    for opened in (titled, cv.graph(DIRECTORY / "adam" / "ckpt-1")):
        for wrong in (name, f"(root).{name}", f"{DIRECTORY}/{name}"):
            for call in (opened.read, cv.graph):
                error = raised_by(lambda: call(wrong))  # noqa: B023
                assert isinstance(error, cv.CkptVizError)
                assert str(error).isprintable()


def test_errors_and_asserts_name_hostile_names_printably(tmp_path: Path) -> None:
    named = graph({0: {"kernel\x1b[2J\u202e": 1}}, variables=(1,))
    saved = cv.graph(write_graph(tmp_path / "ckpt", named))
    with pytest.raises(cv.NoSuchTensorError) as caught:
        saved.read("(root).kernel")
    assert str(caught.value).endswith(r"did you mean (root).kernel\x1b[2J\u202e?")
    check = cv.check(cv.graph(DIRECTORY / "adam" / "ckpt-1"), saved)
    for one in (check.assert_consumed, check.assert_existing_objects_matched):
        error = raised_by(one)
        assert error is not None
        assert str(error).replace("\n", "").isprintable()


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


# Slots of Keras 2's Adam that are declared for another variable, or as another slot variable. Node
# 2 is the optimizer, 9 and 10 are its variables, 11 to 14 their slots m, m, v and v. Places 4 and
# 5 are further slots, which the learning rate and the model declare.
_TIED = {
    "its own slot": {1: (12, 12)},
    "its variable's place": {0: (9, 9)},
    "a circle of two": {0: (12, 11), 1: (11, 12)},
    "a circle of all": {0: (14, 11), 1: (11, 12), 2: (12, 13), 3: (13, 14)},
    "in a row": {1: (11, 12), 2: (12, 13), 3: (13, 14)},
    "its own by another": {4: (12, 12)},
    "its own by another, before": {5: (12, 12)},
    "in a row whose last is its own": {1: (11, 12), 2: (12, 13), 3: (13, 14), 4: (14, 14)},
    "in a row whose last is in it again": {1: (11, 12), 2: (12, 13), 3: (13, 14), 4: (14, 12)},
    "the optimizer is its slot": {0: (9, 2)},
    "of the optimizer": {0: (2, 11)},
    "of itself, the optimizer": {0: (2, 2)},
    "of the root, and the root": {0: (0, 11), 1: (10, 0)},
}


@pytest.mark.parametrize("name", _TIED)
def test_slots_of_slots_and_in_circles_are_named_and_checked(name: str, tmp_path: Path) -> None:
    tied, healthy = cv.graph(_tied(name, tmp_path)), cv.graph(DIRECTORY / "declared_slots" / "ckpt")
    names = [tied.name(node_id) for node_id in range(len(tied.nodes))]
    assert all(name.startswith("(") and len(name) < 200 for name in names)
    assert len({tied.path(node_id) for node_id in range(len(tied.nodes))}) == len(tied.nodes)
    for check in (cv.check(tied, healthy), cv.check(healthy, tied), cv.check(tied, tied)):
        for finding in check.findings:
            assert len(finding.why) < 500
        assert str(check)
    assert cv.diff(tied, tied).is_empty


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", _TIED)
def test_slots_of_slots_and_in_circles_are_judged_as_tensorflow_does(
    name: str, tmp_path: Path
) -> None:
    import tensorflow as tf
    import tf_keras

    def without_slots(optimizer: Any) -> Any:
        model = tf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(3,))])
        return tf.train.Checkpoint(model=model, optimizer=optimizer())

    path = _tied(name, tmp_path)
    for make in (
        live_objects.keras2_with_legacy_adam,
        partial(without_slots, tf_keras.optimizers.legacy.Adam),
        partial(without_slots, tf.compat.v1.train.AdamOptimizer),
    ):
        check = cv.check(make(), path, method="read")
        restored = raised_by(lambda: make().read(path).expect_partial())  # noqa: B023
        assert (check.raises and check.raises.type) == (restored and type(restored).__name__)
        if restored is None:
            status = make().read(path)
            for name in ("consumed", "existing_objects_matched", "nontrivial_match"):
                ours, theirs = (raised_by(getattr(s, f"assert_{name}")) for s in (check, status))
                assert type(ours) is type(theirs), name
            assert len(check.bound) == len(status._checkpoint.object_by_proto_id)
            status.expect_partial()


def _tied(name: str, directory: Path) -> str:
    files = dict(seeds()["declared_slots"].files)

    def tie(proto: Any) -> bytes:
        slots = proto.nodes[2].slot_variables
        others = {4: proto.nodes[8], 5: proto.nodes[1]}
        for place, (variable, slot_variable) in _TIED[name].items():
            other = others.get(place)
            slot = other.slot_variables.add(slot_name="m") if other else slots[place]
            slot.original_variable_node_id = variable
            slot.slot_variable_node_id = slot_variable
        serialized: bytes = proto.SerializeToString()
        return serialized

    change_object_graph(files, "ckpt.index", tie)
    copy_of(files, directory)
    return str(directory / "ckpt")


def test_slots_in_a_long_row_have_short_names(tmp_path: Path) -> None:
    row = graph(
        {0: {"opt": 1, "v": 2}},
        variables=tuple(range(2, 400)),
        slots={1: tuple(("m", n, n + 1) for n in range(2, 399))},
    )
    program = graph({0: {"opt": 1, "v": 2}}, variables=(2, 3), slots={1: (("m", 2, 3),)})
    saved = write_graph(tmp_path / "ckpt", row)
    names = list(cv.check(program, saved, method="read").bound.values())
    assert names[4] == "(root).opt's state 'm' for (root).opt's state 'm' for (root).v"
    assert len(names) == 400
    assert max(map(len, names)) < 1100
