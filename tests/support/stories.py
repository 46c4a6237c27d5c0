"""What is true of the story of each restore, whatever it restores."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.matching.engines.trace import Action
from ckpt_viz.matching.story.asserts import ASSERTS
from ckpt_viz.matching.story.restore import RestoreStory
from ckpt_viz.matching.story.step import Story

_FIELDS = {
    "assert_consumed": "consumed",
    "assert_existing_objects_matched": "existing_objects_matched",
    "assert_nontrivial_match": "nontrivial_match",
}


def assert_stories(check: RestoreCheck, messages: Mapping[str, str]) -> None:
    """Assert that the stories of a check agree with what TensorFlow did.

    `messages` are the texts that the real restore and its asserts raised, by their names in
    `oracle.Outcome`.
    """
    story = check.steps
    _assert_told(story)
    if isinstance(story, RestoreStory):
        _assert_walk(story, is_whole=check.raises is None)
    if check.raises is not None and len(story):
        assert story[-1].action == "fail"
        assert check.raises.type in story[-1].text
    for name in ASSERTS:
        _assert_assert(check, name, messages)


def _assert_told(story: Story) -> None:
    steps = [*story]
    assert [step.number for step in steps] == [*range(1, len(story) + 1)]
    for step in steps:
        assert step.text[0] != "{" and step.text.endswith("."), step.text
        assert not step.reason or step.reason[-1] in ".!?", step.reason
    told = sum(len(run) * (1 + again) for run, again in story.folded())
    assert told == len(story)


def _assert_walk(story: RestoreStory, *, is_whole: bool) -> None:
    """Assert that the queue and what waits follow from each other, step by step."""
    queue: tuple[int, ...] = ()
    for step in story:
        state = step.state
        assert state is not None
        joined = step.action == "bind"
        left = {*queue} - {*state.queue}
        assert state.queue[-1:] == (step.saved,) if joined else {*state.queue} <= {*queue}, step
        assert left <= {step.saved}, step
        assert not {wait.saved for wait in state.waiting} & {*state.queue}
        queue = state.queue
    if is_whole:
        last = story.state(len(story))
        trace = story.trace
        late = (Action.DEFER, Action.DEFER_SLOT)
        deferred = {s.node for action in late for s in trace.steps_of(action)}
        assert last.queue == ()
        assert {wait.saved for wait in last.waiting} == deferred - trace.bound.keys()
        assert last.assigned == len(trace.steps_of(Action.RESTORE))


def _assert_assert(check: RestoreCheck, name: str, messages: Mapping[str, str]) -> None:
    story = check.steps_of(name)
    _assert_told(story)
    field = _FIELDS[name]
    passes = getattr(check, field)
    assert passes == (not len(story) or story[-1].action != "raise"), str(story)
    failing = story.failing
    assert passes == (failing is None)
    if failing is not None:
        culprits = [s for s in story if s.is_problem and (s.saved, s.live) != (None, None)]
        assert failing == [*culprits, story[-1]][0], str(story)
    said = messages.get(field, "")
    if said.startswith("Unresolved object in checkpoint"):
        saved, node = check.saved, story[-1].saved
        assert saved is not None and node is not None
        assert said.startswith(f"Unresolved object in checkpoint {saved.name(node)}: ")
