"""The story of a save is what TensorFlow does: its own functions are wrapped while it saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.matching.story.step import Story
from tests.programs.law import Law
from tests.programs.pairs import FAMILIES
from tests.programs.recipes import Family, Recipe
from tests.support import live_objects, programs
from tests.support.amounts import amount
from tests.support.saves import Event, Recording, assert_tells, recorded

pytestmark = pytest.mark.tf


def _saved(source: Any, at: Path) -> tuple[str, Recording]:
    """Save a source by the call that its story tells, and return the path and what happened."""
    import tensorflow as tf
    from tensorflow.python.checkpoint.checkpoint import TrackableSaver
    from tensorflow.python.checkpoint.graph_view import ObjectGraphView

    if isinstance(source, tf.train.CheckpointManager):
        with recorded(source.checkpoint) as recording:
            return source.save(), recording
    if programs.is_checkpoint(source):
        with recorded(source) as recording:
            return source.save(str(at / "ckpt")), recording
    view = getattr(source, "_object_graph_view", None) or ObjectGraphView(source)
    with recorded() as recording:
        path = TrackableSaver(view).save(str(at / "written"))
        return path.numpy().decode(), recording


def _assert_stories(source: Any, at: Path) -> None:
    _assert_tells(cv.graph(source).steps, _saved(source, at))
    again = cv.graph(source).steps  # now with a counter
    assert_tells(again, _saved(source, at)[1].events)


def _assert_tells(live: Story, saved: tuple[str, Recording]) -> None:
    path, recording = saved
    assert_tells(live, recording.events)
    assert_tells(cv.graph(path).steps, _as_a_file_knows(recording.events))


def _as_a_file_knows(events: Sequence[Event]) -> list[Event]:
    """Return the events without what a file does not show.

    These are whether the counter was new, and how often a manager names checkpoints. A file with a
    counter looks as if `save` had written it.
    """
    counts = any(event[0] == "find" and event[2:] == (0, "save_counter") for event in events)
    rest = [event for event in events if event[0] not in ("make", "count", "state")]
    return [("count",), *rest, ("state",)] if counts else rest


@pytest.mark.parametrize("make", live_objects.KINDS, ids=lambda make: make.__name__)
def test_story_of_every_kind_of_objects(make: Callable[[], Any], tmp_path: Path) -> None:
    _assert_stories(make(), tmp_path)


def _shared_and_cyclic() -> Any:
    root, shared = programs.module(v=programs.var()), programs.module(w=programs.var())
    root.first = programs.module(shared=shared, up=root)
    root.second = programs.with_children(shared, itself=shared, root=root)
    return programs.ckpt(root, shared=shared, v=root.v)


def _names() -> Any:
    names = ("a.b", "a/b", ".ATTRIBUTES", "ü", "x y", "'", "a\n", "<b>")
    return programs.ckpt(net=programs.module(**{name: programs.var() for name in names}))


def _held_by_its_root() -> Any:
    root = programs.module(up=programs.module())
    checkpoint = programs.ckpt(root, more=programs.module(root=root))
    root.up.checkpoint = checkpoint
    return checkpoint


PROGRAMS: dict[str, Callable[[], Any]] = {
    "legacy Adam": lambda: programs.with_adam(programs.legacy_adam),
    "Keras 2 Adam": lambda: programs.with_adam(programs.keras_2_adam),
    "Keras 3 Adam": lambda: programs.with_adam(programs.keras_3_adam),
    "TensorFlow 1 Adam": lambda: programs.with_adam(programs.v1_adam),
    "Keras 3": lambda: programs.ckpt(model=programs.keras_3_sequential(4, 2)),
    "Keras 2 at the root": lambda: programs.ckpt(programs.keras_2_sequential(4, 2)),
    "no checkpoint": lambda: programs.called(programs.net_without_build()()),
    "shared": _shared_and_cyclic,
    "names": _names,
    "a checkpoint below its root": _held_by_its_root,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_story_of_programs(program: str, tmp_path: Path) -> None:
    _assert_stories(PROGRAMS[program](), tmp_path)


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_story_of_random_programs(family: Family, seed: int) -> None:
    """A story knows all errors but those of the objects' own code."""
    if not family.is_available():
        pytest.skip(f"{family.name} is not installed")

    def judge(recipe: Recipe, at: Path) -> None:
        built = family.build(recipe, 1)  # which keeps a root that a checkpoint holds weakly
        story = cv.graph(built.root).steps
        try:
            saved = _saved(built.root, at)
        except Exception:
            has_own_code = any(instruction.op == "broken" for instruction in recipe)
            assert story[-1].action == "fail" or has_own_code
        else:
            _assert_tells(story, saved)
            _assert_stories(built.root, at)  # now with a counter

    law = Law(f"The story of a save is what TensorFlow does, {family.name}", family.source, judge)
    law.hold(seed, amount(20, 200) if family.name == "plain" else amount(4, 40))


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("is_private", [False, True])
def test_story_knows_which_counters_count(is_private: bool, tmp_path: Path) -> None:
    import tensorflow as tf

    values = [[1, 2], 1.5, "text", True, 3, None]
    for number, value in enumerate(values):
        counter = tf.Module() if value is None else tf.Variable(value)
        root = tf.train.Checkpoint() if is_private else tf.Module()
        setattr(root, "_save_counter" if is_private else "save_counter", counter)
        checkpoint = root if is_private else tf.train.Checkpoint(root)
        story = cv.graph(checkpoint).steps
        try:
            checkpoint.save(str(tmp_path / f"{is_private}-{number}"))
        except Exception:
            assert story[-1].action == "fail"
            assert "counter of saves" in story[-1].reason
        else:
            assert {step.action for step in story}.isdisjoint({"fail", "make"})


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("is_late", [False, True])
def test_a_checkpoint_counts_by_no_variable_that_its_root_got_later(
    is_late: bool, tmp_path: Path
) -> None:
    import tensorflow as tf

    root = tf.Module()
    counter = tf.Variable(7, dtype=tf.int64)
    if not is_late:
        root.save_counter = counter
    checkpoint = tf.train.Checkpoint(root)
    root.save_counter = counter
    story = cv.graph(checkpoint).steps
    if not is_late:
        _assert_tells(story, _saved(checkpoint, tmp_path))
        return
    with pytest.raises(KeyError):
        checkpoint.save(str(tmp_path / "ckpt"))
    assert (story[0].action, story[-1].action) == ("make", "fail")
    assert "hides its child 'save_counter'" in story[-1].reason


def test_story_of_a_saved_model(tmp_path: Path) -> None:
    import tensorflow as tf

    model = live_objects.module_with_functions()
    model.again = programs.module(count=model.count, names=["a", programs.var()])
    with recorded() as recording:
        tf.saved_model.save(model, str(tmp_path / "model"))
    events = recording.events
    last_walk = max(index for index, event in enumerate(events) if event[:2] == ("find", 0))
    assert_tells(cv.graph(tmp_path / "model").steps, events[last_walk:])


def _lists_nothing() -> Any:
    import tensorflow as tf

    class Broken(tf.Module):  # type: ignore[misc]
        def _trackable_children(self, *args: Any, **how: Any) -> Any:
            raise ValueError("no")

    return programs.ckpt(a=programs.var(), broken=Broken(), c=programs.module(d=programs.var()))


def _tracks_a_slot() -> Any:
    checkpoint = programs.with_adam(programs.v1_adam)
    checkpoint.again = checkpoint.optimizer.get_slot(checkpoint.model.a, "m")
    return checkpoint


def _hides_a_child() -> Any:
    root = programs.module()
    checkpoint = programs.ckpt(root, name_of_both=programs.var())
    root.name_of_both = programs.module()
    return checkpoint


BROKEN = {_lists_nothing: "count", _tracks_a_slot: "number", _hides_a_child: "number"}


@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_a_save_that_raises_ends_the_story_there(make: Callable[[], Any], tmp_path: Path) -> None:
    source = make()
    story = cv.graph(source).steps
    assert (story[-1].action, story[-1].is_problem) == ("fail", True)
    name = story[-1].reason.partition(":")[0]
    with recorded(source) as recording, pytest.raises(Exception) as raised:
        source.save(str(tmp_path / "ckpt"))
    assert type(raised.value).__name__ == name
    # The walk is recorded when it is complete.
    assert recording.events[-1][0] == BROKEN[make]
    actions = [step.action for step in story if step.action not in ("leave", "fail")]
    if BROKEN[make] == "count":
        actions = [action for action in actions if action not in ("find", "meet")]
    assert actions == [event[0] for event in recording.events]


def test_what_tensorflow_does_not_track_is_left_out_and_nowhere_in_the_file(tmp_path: Path) -> None:
    live = cv.graph(live_objects.untracked_attributes())
    left = [step for step in live.steps if step.action == "leave"]
    assert [(step.live, step.local_name, step.is_problem) for step in left] == [
        (node_id, note.name, note.is_lost)
        for node_id, node in enumerate(live.nodes)
        for note in node.not_saved
    ]
    assert any(step.is_problem for step in left)
    path = programs.written(tmp_path, live.source)
    names = {child.local_name for node in cv.graph(path).nodes for child in node.children}
    assert not names & {step.local_name for step in left if step.is_problem}
