"""The story of a restore by names: of a file without an object graph, or by a Saver."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.ground.text import count
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Action, Step
from ckpt_viz.matching.story.folding import pattern
from ckpt_viz.matching.story.save_steps import tensorflow_place
from ckpt_viz.matching.story.step import Story, StoryStep
from ckpt_viz.matching.story.words import SENTENCES, Facts, as_sentence, keys_in_words

_EAGER_SAVER = tensorflow_place("training.saver", "Saver.restore", "_build_eager")


@dataclass(frozen=True, eq=False, repr=False)
class NamesStory(Story):
    """The story of one restore by names.

    `place_of` returns what people call an object of the program. `caller` is "saver" if a
    `tf.compat.v1.train.Saver` restores, "warm" for a warm start, and else "". `is_eager` says that
    the Saver assigns values itself, and no session.
    """

    trace: NameTrace
    file: str
    place_of: Callable[[int], str]
    call: str
    caller: str = ""
    is_eager: bool = False

    @property
    def title(self) -> str:
        """What the story is of."""
        return f"{self.call}() of {self.file}, by names"

    @property
    def end(self) -> str:
        """How it ends."""
        raised = self.trace.raised
        if raised is not None:
            ending = f"{self.call}()" if self.caller == "warm" else "The restore"
            return f"{ending} ends with {raised.type}."
        if self.caller == "warm":
            return f"{self.call}() returns: {count(len(self._steps), 'initial value')} replaced."
        got = sum(situation in ("named", "named_code", "saver") for situation, _ in self._steps)
        return f"The restore returns: {count(got, 'value')} assigned, nothing waits."

    def __len__(self) -> int:
        """Return the number of steps, up to what the restore raises."""
        return len(self._steps)

    @cached_property
    def _steps(self) -> Sequence[tuple[str, Step]]:
        """The key of each step's sentence, and the step of the trace."""
        steps: list[tuple[str, Step]] = []
        missing = dict(self.trace.unused)
        last: int | None = None
        for step in self.trace.steps:
            if last not in (None, step.obj):
                steps += _missing(missing, last)
            last = step.obj
            steps.append((self._situation(step), step))
            if step.failure is not None and not step.failure.in_session:
                return steps
        for obj in [last, *missing]:
            steps += _missing(missing, obj)
        return steps

    def _situation(self, step: Step) -> str:
        if step.failure is not None and not step.name:
            if self.caller:
                return "warm_unused"
            return "named_list" if step.obj is None else "named_ask"
        if self.caller:
            later = step.failure is not None and step.failure.in_session
            ending = "" if step.failure is None else "_later" if later else "_fail"
            return f"{self.caller}{ending}"
        if step.failure is not None:
            return "named_fail"
        return "named" if len(step.names) <= 1 else "named_code"

    def _step(self, index: int) -> StoryStep:
        situation, step = self._steps[index]
        sentence = SENTENCES[situation]
        facts = self._facts(step)
        return StoryStep(
            number=index + 1,
            action=step.action.value,
            text=facts.said(sentence.text),
            reason=facts.said(sentence.reason),
            place=_EAGER_SAVER if self.is_eager else sentence.place,
            live=step.obj,
            local_name=step.name,
            is_problem=sentence.is_problem,
        )

    def _likeness(self, index: int) -> Hashable:
        situation, step = self._steps[index]
        return situation, pattern(step.name)

    def _facts(self, step: Step) -> Facts:
        failure = step.failure
        facts = {
            "call": lambda: self.call,
            "live": lambda: "the program" if step.obj is None else self.place_of(step.obj),
            "name": lambda: step.name,
            "keys": lambda: keys_in_words(step.names),
        }
        if failure is not None:
            facts["error"] = lambda: failure.type
            facts["why"] = lambda: as_sentence(failure.message)
        return Facts(facts)


def _missing(missing: dict[int, tuple[str, ...]], obj: int | None) -> Sequence[tuple[str, Step]]:
    """Return the step for the names of an object that the file lacks, if any are left."""
    names = missing.pop(obj, ()) if obj is not None else ()
    return [("named_missing", Step(Action.UNUSED, None, obj, names=names))] if names else []
