"""The steps of a story as columns of numbers, which are small and made at once, however many."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Node, has_value
from ckpt_viz.graphs.nodes.walks import reached
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.matching.engines.trace import Action
from ckpt_viz.matching.story.restore import RestoreStory
from ckpt_viz.matching.story.step import Story

NONE = -1
PROBLEM = 128  # added to the action of a step from which on something is wrong
ACTIONS = tuple(action.value for action in Action)
_NUMBERS = {id(action): number for number, action in enumerate(Action)}  # hashing them is slow


def _numbers_of(*actions: Action) -> frozenset[int]:
    return frozenset(_NUMBERS[id(action)] for action in actions)


_BIND = _numbers_of(Action.BIND)
_KEEP = _numbers_of(Action.KEEP)
_LATE = _numbers_of(Action.DEFER, Action.DEFER_SLOT)
_REPEAT = _numbers_of(Action.REPEAT)
_AT_HOLDER = _LATE | _numbers_of(Action.DROP, Action.DROP_SLOT)
_WRONG = _numbers_of(Action.UNUSED, Action.SKIP_SAVER, Action.DROP_SLOT, Action.FAIL)
_SPECIAL = _AT_HOLDER | _WRONG | _REPEAT | _KEEP


class StepColumns(NamedTuple):
    """A number for each step in each column; NONE where a step has no such thing.

    `actions` are places in ACTIONS, plus PROBLEM. `names` are places in `texts`, the local names.
    """

    actions: array[int]
    saved: array[int]
    live: array[int]
    holders: array[int]
    names: array[int]
    texts: Sequence[str]


def columns_of(story: Story) -> StepColumns:
    """Return the columns of a story, without the words of its steps."""
    if isinstance(story, RestoreStory) and len(story) > 0:
        return gc_paused(partial(_of_trace, story))
    return _columns(
        array("B", [ACTIONS.index(step.action) + PROBLEM * step.is_problem for step in story]),
        [step.saved for step in story],
        [step.live for step in story],
        [step.holder for step in story],
        [step.local_name for step in story],
    )


def _of_trace(story: RestoreStory) -> StepColumns:
    """Return what the steps of a restore say, without making a sentence for each."""
    steps = story.trace.steps[: len(story)]
    kinds, nodes, objects, parents, names, _, _ = zip(*steps, strict=True)
    actions = array("B", map(_NUMBERS.__getitem__, map(id, kinds)))
    live, bound, saved = [*objects], story.trace.bound, story.saved.nodes
    left = _never_restored(saved, actions, nodes)
    for at in [at for at, number in enumerate(actions) if number in _SPECIAL]:
        number, node = actions[at], nodes[at]
        if number in _KEEP:
            live[at] = bound[node]
            continue
        if number in _AT_HOLDER:
            live[at] = None
        is_lost = number in _REPEAT and has_value(saved[node])
        if is_lost or number in _WRONG or (number in _LATE and node in left):
            actions[at] += PROBLEM
    return _columns(actions, nodes, live, parents, names)


def _never_restored(
    saved: Sequence[Node], actions: array[int], nodes: Sequence[int]
) -> Collection[int]:
    """Return what waits and has, or leads to, a value that the restore binds to no object."""
    pairs = [*zip(actions, nodes, strict=True)]
    late = [node for number, node in pairs if number in _LATE]
    below = reached(late, lambda node: (child.node_id for child in saved[node].children))
    bound = {node for number, node in pairs if number in _BIND} if late else set()
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for holder in below:
        for child in saved[holder].children:
            holders[child.node_id].append(holder)
    unbound = (node for node in below if has_value(saved[node]) and node not in bound)
    return reached(unbound, lambda node: holders.get(node, ()))


def _columns(
    actions: array[int],
    saved: Sequence[int | None],
    live: Sequence[int | None],
    holders: Sequence[int | None],
    names: Sequence[str],
) -> StepColumns:
    texts = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = array("i", map(texts.__getitem__, names))
    ids = _numbers(saved), _numbers(live), _numbers(holders)
    return StepColumns(actions, *ids, places, list(texts))


def _numbers(ids: Sequence[int | None]) -> array[int]:
    return array("i", [NONE if number is None else number for number in ids])
