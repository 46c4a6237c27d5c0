"""Checks of two files: one replaces the program that saved it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, RestoreCheck
from ckpt_viz.graphs.overlay.remedy import Advice
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.matching.engines.trace import Action
from tests.programs.law import Law, UnfitError
from tests.programs.pairs import save
from tests.programs.plain_recipes import PLAIN, Changed, changed_training
from tests.support.amounts import amount
from tests.support.graphs import graph, keras3_adam, without_optimizer
from tests.support.saved_graphs import write_graph
from tests.support.tables import floats, write_bundle


def test_checkpoint_restores_into_the_program_that_saved_it(tmp_path: Path) -> None:
    saved = write_graph(tmp_path / "ckpt-1", keras3_adam())
    found = cv.check(saved, saved)
    assert found.raises is None
    assert (found.consumed, found.existing_objects_matched, found.nontrivial_match) == (True,) * 3
    assert (found.findings, found.method) == ((), "restore")


def test_what_is_left_over_is_named(tmp_path: Path) -> None:
    adam = write_graph(tmp_path / "adam", keras3_adam())
    plain = write_graph(tmp_path / "plain", without_optimizer())
    into_plain = cv.check(plain, adam)
    assert into_plain.unresolved == (
        "(root).optimizer._iterations",
        "(root).optimizer._variables.1",
        "(root).optimizer._variables.2",
    )
    assert into_plain.unmatched == ()
    into_adam = cv.check(adam, plain)
    assert (into_adam.unresolved, into_adam.unmatched) == ((), into_plain.unresolved)


@pytest.mark.tf
def test_a_file_of_a_program_with_a_table_reads_the_table(tmp_path: Path) -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    checkpoint = tf.train.Checkpoint(table=table)
    path = checkpoint.write(str(tmp_path / "c"))
    checkpoint.read(path).assert_consumed()
    assert cv.check(path, path).findings == ()


def _variable(dtype: str, shape: tuple[int, ...], name: str = "VARIABLE_VALUE") -> ObjectGraph:
    value = Attribute(name, "v", f"v/.ATTRIBUTES/{name}", dtype, shape)
    nodes = assign_roles([Node((Child("v", 1),)), Node(attributes=(value,))])
    return ObjectGraph(nodes, "", Origin.SAVED)


@pytest.mark.parametrize(
    ("live", "saved", "raised", "words"),
    [
        (
            _variable("float32", (2,)),
            _variable("float32", (3,)),
            "ValueError",
            "Received incompatible tensor with shape (3,) when attempting to restore variable with "
            "shape (2,) and name v.",
        ),
        (
            _variable("float32", (2,)),
            _variable("int64", (2,)),
            "InvalidArgumentError",
            "tensor_name = v/.ATTRIBUTES/VARIABLE_VALUE; expected dtype float does not equal "
            "original dtype int64",
        ),
        (
            _variable("float32", (2,)),
            _variable("float32", (2,), "other"),
            "NotFoundError",
            "Key v/.ATTRIBUTES/VARIABLE_VALUE not found in checkpoint",
        ),
    ],
)
def test_restores_that_would_raise_do(
    live: ObjectGraph, saved: ObjectGraph, raised: str, words: str, tmp_path: Path
) -> None:
    found = cv.check(write_graph(tmp_path / "a", live), write_graph(tmp_path / "b", saved))
    assert found.raises is not None
    assert found.raises.type == raised
    assert words in found.raises.message


def test_optimizer_with_slots_makes_those_that_it_lacks(tmp_path: Path) -> None:
    edges = {0: {"o": 1, "v": 2}}
    saved = graph(edges, (2, 3, 4), {1: (("m", 2, 3), ("u", 2, 4))})
    live = graph(edges, (2, 3), {1: (("m", 2, 3),)})
    found = cv.check(write_graph(tmp_path / "a", live), write_graph(tmp_path / "b", saved))
    assert found.consumed
    assert found.bound["(root).o's state 'u' for (root).v"] == "(root).o's state 'u' for (root).v"
    assert [step.name for step in found.trace if step.action is Action.CREATE] == ["u"]
    assert not cv.check(write_graph(tmp_path / "c", graph(edges, (2,))), tmp_path / "b").consumed


def test_name_based_checkpoints_are_restored_by_full_names(tmp_path: Path) -> None:
    live = write_graph(tmp_path / "live", _variable("float32", (2,)))
    named = write_bundle(tmp_path / "named", {"v": floats(1, 2), "w": floats(3)})
    other = write_bundle(tmp_path / "other", {"w": floats(3)})
    found = cv.check(live, named)
    assert (found.consumed, dict(found.bound)) == (True, {"v": "(root).v"})
    assert cv.check(live, other).unmatched == ("(root).v",)
    assert not cv.check(named, other).consumed
    with pytest.raises(cv.SourceError, match="expected an object-based checkpoint in place of"):
        cv.check(named, live)


def test_method_is_one_of_two(tmp_path: Path) -> None:
    saved = write_graph(tmp_path / "ckpt-1", keras3_adam())
    assert cv.check(saved, saved, method="read").method == "read"
    with pytest.raises(cv.SourceError, match="found method 'load', expected 'restore' or 'read'"):
        cv.check(saved, saved, method="load")


@pytest.mark.tf
def test_exchanged_arguments_are_an_error_and_a_manager_is_its_latest_file(tmp_path: Path) -> None:
    import tensorflow as tf

    live = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(live, str(tmp_path), max_to_keep=1)
    path = manager.save()
    module = tf.Module()
    for of_file in (path, Path(path), cv.graph(path), cv.snapshot(live), tmp_path / "nothing"):
        for of_program in (live, module, live.restore(path), cv.graph(live)):
            with pytest.raises(cv.SourceError, match="exchange the two arguments"):
                cv.check(of_file, of_program)
    assert cv.check(path, manager).consumed
    with pytest.raises(cv.SourceError, match="to compare two live objects"):
        cv.check(live, cv.graph(module))
    both = cv.check(live, module)
    assert both.raises is not None and both.raises.type == "TypeError"
    assert both.findings[0].remedy == Advice(
        "Pass the path of a checkpoint; to compare two live objects, call cv.diff(a, b)."
    )


@pytest.mark.tf
@pytest.mark.parametrize("method", ["restore", "read"])
@pytest.mark.parametrize(
    "path", ["", "ckpt", "ckpt-1.index", "ckpt-1.data-00000-of-00001", "copied"]
)
def test_wrong_paths_are_judged_as_for_live_objects(path: str, method: str, tmp_path: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(module)
    saved = checkpoint.write(str(tmp_path / "ckpt-1"))
    shutil.copy(f"{saved}.index", tmp_path / "copied")
    given = str(tmp_path / path)
    live, files = (cv.check(side, given, method=method) for side in (checkpoint, saved))
    assert live.raises == files.raises
    if method == "read":  # else the program makes a save_counter
        assert live.consumed is files.consumed
    assert _wrong_path(live) == _wrong_path(files)


def _wrong_path(check: RestoreCheck) -> list[str]:
    return [found.why for found in check.findings if found.kind.value == "wrong_path"]


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_two_files_are_judged_as_the_file_and_the_program(seed: int) -> None:
    import tensorflow as tf

    def judge(program: Changed, at: Path) -> None:
        saved, live = PLAIN.build(program.was, 1), PLAIN.build(program.now, -1)
        # Which children are attached, a file does not tell; they are restored last.
        for built in (saved, live):
            root = built.root
            if (
                type(root) is not tf.train.Checkpoint
                or root._saver._graph_view.attached_dependencies
            ):
                raise UnfitError("no checkpoint, or one with attached children")
        prefix = save(saved, "write", str(at / "saved"))
        of_live = cv.check(live.root, prefix, method="read")
        of_files = cv.check(save(live, "write", str(at / "live")), prefix, method="read")
        assert _said(of_files) == _said(of_live)

    claim = "Two files are judged as the file and the program"
    Law(claim, changed_training, judge).hold(seed, amount(50, 300))


def _said(check: RestoreCheck) -> dict[str, Any]:
    return {
        "raises": check.raises and check.raises.type,
        "consumed": check.consumed,
        "existing_objects_matched": check.existing_objects_matched,
        "nontrivial_match": check.nontrivial_match,
        "unresolved": check.unresolved,
        "unmatched": sorted(check.unmatched),
        "unused_attributes": check.unused_attributes,
        "bound": check.bound,
    }
