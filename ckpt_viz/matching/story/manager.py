"""What the next `save` of a `tf.train.CheckpointManager` deletes, keeps, and writes down.

The rules are those of `CheckpointManager.save`, `_sweep` and `_record_state`. Nothing here reads or
deletes a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed, readable
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save import SaveStory
from ckpt_viz.matching.story.save_order import Counting, SaveAction, SaveCall
from ckpt_viz.matching.story.save_steps import SaveStep

_SECONDS = 3600.0  # of an hour, as TensorFlow counts


class ManagedCheckpoint(NamedTuple):
    """A checkpoint that a manager may delete, and when it was saved, in seconds."""

    path: str
    saved_at: float


@dataclass(frozen=True)
class ManagerState:
    """What a manager knows before its next save.

    `number` is that of the next checkpoint, None if only a session has it. `step` is the value of
    the step counter. `last_step`, `step` and `interval` are None without an interval.
    """

    directory: str
    prefix: str
    number: int | None
    checkpoints: tuple[ManagedCheckpoint, ...]
    last_preserved: float
    max_to_keep: int | None = None
    hours: float | None = None
    interval: int | None = None
    last_step: int | None = None
    step: int | None = None
    has_init_fn: bool = False


class NextSave(NamedTuple):
    """What the next save does with checkpoints, by their paths, oldest first.

    `first_listed` are those that the file `checkpoint` names before any is deleted, `listed` those
    that it names in the end; the last one is the new one.
    """

    first_listed: tuple[str, ...]
    deleted: tuple[str, ...]
    preserved: tuple[str, ...]
    listed: tuple[str, ...]


def next_save(state: ManagerState) -> NextSave:
    """Return what the next save deletes and keeps.

    >>> kept = (ManagedCheckpoint("d/ckpt-1", 10.0), ManagedCheckpoint("d/ckpt-2", 20.0))
    >>> next_save(ManagerState("d", "d/ckpt", 3, kept, 0.0, max_to_keep=2))[1:]
    (('d/ckpt-1',), (), ('d/ckpt-2', 'd/ckpt-3'))
    """
    new = _new_path(state)
    queue = [listed for listed in state.checkpoints if listed.path != new]
    first = (*(listed.path for listed in queue), new)
    deleted, preserved, last = [], [], state.last_preserved
    while state.max_to_keep and queue and len(queue) + 1 > state.max_to_keep:
        path, saved_at = queue.pop(0)
        if state.hours and saved_at - state.hours * _SECONDS >= last:
            last = saved_at
            preserved.append(path)
        else:
            deleted.append(path)
    return NextSave(
        first, tuple(deleted), tuple(preserved), (*(listed.path for listed in queue), new)
    )


def is_skipped(state: ManagerState) -> bool:
    """Return whether the next save comes before its time, so that it saves nothing."""
    if state.interval is None or state.last_step is None or state.step is None:
        return False
    return state.step == state.last_step or state.step < state.last_step + state.interval


def story_of_manager(
    graph: Graph, state: ManagerState, counting: Counting | None = None
) -> SaveStory:
    """Return the story of the next save of a manager; `counting` tells how it counts."""
    before = tuple(_before(state))
    if is_skipped(state):
        return SaveStory(graph, SaveCall.MANAGER, before, skips=True)
    return SaveStory(graph, SaveCall.MANAGER, before, tuple(_after(state)), counting=counting)


def _new_path(state: ManagerState) -> str:
    return f"{state.prefix}-{'N' if state.number is None else state.number}"


def name_in_file(path: str, directory: str) -> str:
    """Return the name that the file `checkpoint` of a directory has for a checkpoint.

    >>> name_in_file("/tmp/run/ckpt-1", "/tmp/run"), name_in_file("run/ckpt-1", "run")
    ('ckpt-1', 'ckpt-1')
    """
    is_as_given = os.path.isabs(directory) and not os.path.isabs(path)
    return path if is_as_given else os.path.relpath(path, directory)


# --- the steps

_MODULE = "tensorflow.python.checkpoint.checkpoint_management"


def _place(function: str, mark: str = "") -> TensorFlowPlace:
    return TensorFlowPlace(_MODULE, f"CheckpointManager.{function}", mark)


PLACES = {
    SaveAction.CHECK: _place("save", "_evaluate"),
    SaveAction.SKIP: _place("save", "_evaluate"),
    SaveAction.LIST: _place("save", "time"),
    SaveAction.STATE: _place("_record_state", "update_checkpoint_state_internal"),
    SaveAction.DELETE: _place("_sweep", "_delete_file_if_exists"),
    SaveAction.PRESERVE: _place("_sweep", "continue"),
}


def _step(action: SaveAction, text: str, reason: str, paths: tuple[str, ...] = ()) -> SaveStep:
    return SaveStep(0, action.value, text, reason, PLACES[action], paths=paths)


def _before(state: ManagerState) -> Iterator[SaveStep]:
    """Yield whether it is time to save, if the manager has an interval."""
    if state.interval is None:
        return
    if state.last_step is None:
        yield _step(
            SaveAction.CHECK,
            "The manager has saved nothing yet, so that its interval has no start: it saves.",
            f"From then on, {count(state.interval, 'step')} must pass between two saves.",
        )
        return
    due = state.last_step + state.interval
    step = state.step
    if not is_skipped(state):
        yield _step(
            SaveAction.CHECK,
            f"Only a session has the step counter. The manager saves if it is at least {due}."
            if step is None
            else f"The step counter is {step}, and the next save is due from step {due} on: the "
            "manager saves.",
            f"Its last save was at step {state.last_step}, and checkpoint_interval is "
            f"{state.interval}.",
        )
        return
    again = step == state.last_step
    yield _step(
        SaveAction.SKIP,
        f"The step counter is {step}, and the next save is due at step {due}: save returns None.",
        "It never saves one step twice."
        if again
        else f"checkpoint_interval is {state.interval}. save(check_interval=False) ignores it.",
    )


def _after(state: ManagerState) -> Iterator[SaveStep]:
    """Yield what the manager does after the files are written."""
    save, limit = next_save(state), state.max_to_keep
    new = _shown(save.listed[-1], state)
    of = f", of at most {limit}" if limit else ""
    yield _step(
        SaveAction.LIST,
        f"The manager puts {new} at the end of its list, which now has "
        f"{count(len(save.first_listed), 'checkpoint')}{of}.",
        "" if limit else "max_to_keep is None: the manager deletes nothing.",
    )
    yield _step(
        SaveAction.STATE,
        f"The manager writes the file 'checkpoint': it names "
        f"{_named(save.first_listed, state)}, and {new} as the latest.",
        "It does so before it deletes: if the program is stopped now, the file names whole "
        "checkpoints.",
        _names(save.first_listed, state),
    )
    yield from _swept(state, save)
    yield _step(
        SaveAction.STATE,
        f"The manager writes the file 'checkpoint' again: it names {_named(save.listed, state)}.",
        "manager.latest_checkpoint is the last of them"
        + (
            ": restore_or_initialize() restores it, and does not call init_fn."
            if state.has_init_fn
            else ", and so is tf.train.latest_checkpoint."
        ),
        _names(save.listed, state),
    )


def _swept(state: ManagerState, save: NextSave) -> Iterator[SaveStep]:
    """Yield what becomes of the oldest checkpoints, in their order."""
    for path in save.first_listed[: len(save.deleted) + len(save.preserved)]:
        name = _shown(path, state)
        if path in save.preserved:
            yield _step(
                SaveAction.PRESERVE,
                f"The manager takes {name} off its list, and never deletes it.",
                f"It was saved at least {state.hours:g} hours after the last one that was kept so: "
                f"keep_checkpoint_every_n_hours is {state.hours:g}.",
                (path,),
            )
        else:
            yield _step(
                SaveAction.DELETE,
                f"The manager deletes the index and the data files of {name}.",
                f"It is the oldest in the list, and max_to_keep is {state.max_to_keep}.",
                (f"{path}.index", f"{path}.data-?????-of-?????"),
            )


def _shown(path: str, state: ManagerState) -> str:
    return readable(name_in_file(path, state.directory))


def _names(paths: tuple[str, ...], state: ManagerState) -> tuple[str, ...]:
    return tuple(name_in_file(path, state.directory) for path in paths)


def _named(paths: tuple[str, ...], state: ManagerState) -> str:
    return listed([readable(name) for name in _names(paths, state)])
