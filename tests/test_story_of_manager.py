"""The story of a manager's next save, against that save."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.matching.story.save_steps import SaveStep
from tests.support.laws import state_of
from tests.support.programs import ckpt, save_by_name, var

pytestmark = pytest.mark.tf


def _manager(at: Path, **how: Any) -> Any:
    import tensorflow as tf

    return tf.train.CheckpointManager(ckpt(v=var()), str(at), **{"max_to_keep": 2, **how})


def _steps(manager: Any, *actions: str) -> list[SaveStep]:
    steps = [step for step in cv.graph(manager).steps if step.action in actions]
    assert all(isinstance(step, SaveStep) for step in steps)
    return steps  # type: ignore[return-value]


def _files(at: Path) -> set[str]:
    return {str(path) for path in at.iterdir()}


def _assert_next_save(manager: Any, at: Path) -> None:
    """Assert that the next save deletes, keeps and names what its story says."""
    import tensorflow as tf

    before, seen = _files(at) if at.exists() else set(), state_of(manager.checkpoint)
    deleted = [path for step in _steps(manager, "delete") for path in step.paths]
    preserved = [path for step in _steps(manager, "preserve") for path in step.paths]
    first, last = (step.paths for step in _steps(manager, "state"))
    assert (_files(at) if at.exists() else set()) == before
    assert state_of(manager.checkpoint) == seen
    with _written_states() as written:
        path = manager.save()
    gone = before - _files(at)
    assert gone == {file for file in before for glob in deleted if fnmatch.fnmatch(file, glob)}
    assert len(deleted) == len({Path(file).name.split(".")[0] for file in gone}) * 2
    assert all(tf.train.load_checkpoint(path) for path in preserved)
    assert [list(state.all_model_checkpoint_paths) for state in written] == [
        list(first),
        list(last),
    ]
    assert written[-1].model_checkpoint_path == last[-1] and path.endswith(last[-1])


class _written_states(list[Any]):
    """What TensorFlow writes into the file `checkpoint`, each time."""

    def __enter__(self) -> _written_states:
        from unittest import mock

        from google.protobuf import text_format
        from tensorflow.python.lib.io import file_io
        from tensorflow.python.training.checkpoint_state_pb2 import CheckpointState

        original = file_io.atomic_write_string_to_file

        def write(path: str, text: str, *args: Any) -> Any:
            self.append(text_format.Parse(text, CheckpointState()))
            return original(path, text, *args)

        self._patch = mock.patch.object(file_io, "atomic_write_string_to_file", write)
        self._patch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._patch.stop()


def test_each_save_does_what_its_story_says(tmp_path: Path) -> None:
    manager = _manager(tmp_path)
    for _ in range(5):
        _assert_next_save(manager, tmp_path)


def test_everything_is_kept_without_a_limit(tmp_path: Path) -> None:
    manager = _manager(tmp_path, max_to_keep=None)
    for _ in range(4):
        assert not _steps(manager, "delete", "preserve")
        _assert_next_save(manager, tmp_path)


def test_a_relative_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manager = _manager(Path("runs"), max_to_keep=1)
    for _ in range(3):
        _assert_next_save(manager, Path("runs"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Let the manager's time stand still; a test moves it."""
    from tensorflow.python.checkpoint import checkpoint_management

    now = [1_700_000_000.0]
    monkeypatch.setattr(checkpoint_management.time, "time", lambda: now[0])
    yield now


def test_one_in_some_hours_stays_for_ever(tmp_path: Path, clock: list[float]) -> None:
    manager, preserved = _manager(tmp_path, keep_checkpoint_every_n_hours=2), 0
    for hours in (1, 1, 0.5, 0.5, 1, 3, 1, 1, 1):
        clock[0] += hours * 3600
        preserved += len(_steps(manager, "preserve"))
        _assert_next_save(manager, tmp_path)
    assert preserved >= 2


def test_a_new_manager_goes_on_with_the_list_of_the_directory(tmp_path: Path) -> None:
    for _ in range(2):
        _assert_next_save(_manager(tmp_path, max_to_keep=1, checkpoint_name="other"), tmp_path)
    manager = _manager(tmp_path, init_fn=lambda: None)
    manager.restore_or_initialize()
    for _ in range(3):
        _assert_next_save(manager, tmp_path)
    assert "does not call init_fn" in _steps(manager, "state")[-1].reason


def test_a_save_before_its_time_saves_nothing(tmp_path: Path) -> None:
    step = var(0)
    manager = _manager(tmp_path, step_counter=step, checkpoint_interval=10)
    for value, saves in ((0, True), (0, False), (9, False), (10, True), (25, True), (34, False)):
        step.assign(value)
        story = cv.graph(manager).steps
        assert story[0].action == ("check" if saves else "skip")
        assert (len(story) == 1) is not saves
        assert (manager.save() is not None) is saves


def test_the_steps_of_a_manager_in_a_graph_know_its_last_save_and_add_no_operation(
    tmp_path: Path,
) -> None:
    import tensorflow as tf

    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        step = var(5)
        manager = _manager(tmp_path, step_counter=step, checkpoint_interval=10)
        session.run(tf.compat.v1.global_variables_initializer())
        manager.save()
        graph.finalize()
        version = graph.version
        text = cv.graph(manager).steps[0].text
        assert graph.version == version
        (due,) = map(int, re.findall(r"\d+", text))
        for value in (due - 1, due):
            step.load(value, session)
            assert (manager.save() is not None) is (value == due)


def test_a_number_that_comes_again_moves_to_the_end(tmp_path: Path) -> None:
    manager = _manager(tmp_path, max_to_keep=3)
    for _ in range(3):
        manager.save()
    manager.checkpoint.save_counter.assign(1)
    assert [Path(name).name for name in _steps(manager, "state")[0].paths] == [
        *("ckpt-1", "ckpt-3", "ckpt-2"),
    ]
    _assert_next_save(manager, tmp_path)


def test_a_saver_takes_the_names_in_the_order_of_the_story(tmp_path: Path) -> None:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        shared = tf.compat.v1.get_variable("b/w", [2])
        tf.compat.v1.get_variable("a", [])
        cut = tf.compat.v1.fixed_size_partitioner(2)
        tf.compat.v1.get_variable("cut", [4, 2], partitioner=cut)
        tf.compat.v1.get_variable("B", [], dtype=shared.dtype)
        saver = tf.compat.v1.train.Saver()
        session.run(tf.compat.v1.global_variables_initializer())
        (operation,) = (o for o in session.graph.get_operations() if o.type == "SaveV2")
        names = [name.decode() for name in session.run(operation.inputs[1])]
        path = saver.save(session, str(tmp_path / "model.ckpt"))
        for story in (cv.graph(saver).steps, cv.graph(path).steps):
            assert [step.key for step in story if step.action == "key"] == names  # type: ignore[attr-defined]
            assert story.title.startswith("tf.compat.v1.train.Saver.save of ")
    by_name = save_by_name(tmp_path / "other", {"b": 1.0, "a": 2.0})
    assert [step.action for step in cv.graph(by_name).steps][:4] == ["name", "key", "key", "write"]
