"""What TensorFlow itself does with each saved node, for questions about a restore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.matching.engines.trace import Action
from ckpt_viz.matching.story.outcomes import Outcomes
from ckpt_viz.matching.story.questions import Question, chosen_questions
from ckpt_viz.matching.story.restore import RestoreStory
from tests.support.watched_restore import Watch

_LOST = {Action.REPEAT, Action.UNUSED, Action.SKIP_SAVER, Action.DROP, Action.DROP_SLOT}
_CONFIGURATION = "OBJECT_CONFIG_JSON"


def outcomes_in_tensorflow(watch: Watch, *, has_raised: bool) -> Mapping[int, str]:
    """Return by node what a real restore did: by what it assigned, and by what waits after it."""
    nodes = watch.proto.nodes
    bound = {event.node for event in watch.events if event.action is Action.BIND}
    restored = {event.node for event in watch.events if event.action is Action.RESTORE}
    waiting = set(_waiting(watch, bound))
    lost = {event.node for event in watch.events if event.action in _LOST}

    def outcome(node: int) -> str:
        has_value = nodes[node].attributes or nodes[node].HasField("registered_saver")
        if node in restored or (node in bound and not has_value):
            return "restored now"
        if node in waiting:
            return "waits"
        if node in lost:
            return "forgotten"
        return "error" if has_raised else "forgotten"

    return {
        node: outcome(node)
        for node in range(len(nodes))
        if [attribute.name for attribute in nodes[node].attributes] != [_CONFIGURATION]
    }


def _waiting(watch: Watch, bound: set[int | None]) -> Iterator[int]:
    """Yield all nodes without an object that wait, or are below one that waits."""
    nodes = watch.proto.nodes
    slots = [
        (optimizer, slot) for optimizer, node in enumerate(nodes) for slot in node.slot_variables
    ]
    todo = [node for node in watch.waiting if node not in bound]
    seen = set(todo)
    while todo:
        node = todo.pop()
        yield node
        below = [child.node_id for child in nodes[node].children]
        below += [
            s.slot_variable_node_id for o, s in slots if node in (o, s.original_variable_node_id)
        ]
        todo += (more := {*below} - seen - bound)
        seen |= more


def assert_outcomes(check: RestoreCheck, watch: Watch, *, has_raised: bool) -> None:
    """Assert that a check tells of each saved node what TensorFlow did with it."""
    story = check.steps
    if not isinstance(story, RestoreStory) or story.trace.builds_graph or watch.proto is None:
        return
    outcomes = Outcomes(story)
    truth = outcomes_in_tensorflow(watch, has_raised=has_raised)
    told = {node: outcomes.of(node) for node in truth}
    wrong = [
        f"  {check.saved and check.saved.name(node)}: check {turn.outcome.value}, TF {truth[node]}"
        for node, turn in told.items()
        if turn.outcome.value != truth[node]
    ]
    assert not wrong, "outcomes that are not those of TensorFlow:\n" + "\n".join(wrong)
    assert_answers(chosen_questions(story, 40), truth)


def assert_answers(questions: Sequence[Question], truth: Mapping[int, str]) -> None:
    """Assert that the answers are those of TensorFlow, each among its choices, in their order."""
    steps = [question.step for question in questions]
    assert steps == sorted(steps)
    for question in questions:
        assert question.answer in question.choices, question
        assert question.node is not None
        assert question.answer == truth.get(question.node, question.answer), question
        assert question.why[0].endswith(".")
