"""The story of an assert after a restore: at which node it fails, and why."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count
from ckpt_viz.matching.story.step import Story, StoryStep
from ckpt_viz.matching.story.words import SENTENCES, Facts, as_sentence

CONSUMED, EXISTING, NONTRIVIAL = ASSERTS = (
    "assert_consumed",
    "assert_existing_objects_matched",
    "assert_nontrivial_match",
)


@dataclass(frozen=True)
class RestoreResult:
    """What a restore has left behind, as the asserts of its status see it.

    `unresolved` are saved nodes with values and without an object, `unmatched` objects with values
    and without a saved node. `slots_left` are variables whose saved slots no optimizer requested,
    `unused` nodes with attributes that no object has a place for. `by_names` says that the file
    has no object graph.
    """

    bound: Mapping[int, int]
    unresolved: Sequence[int] = ()
    unmatched: Sequence[int] = ()
    slots_left: Sequence[int] = ()
    unused: Sequence[int] = ()
    by_names: bool = False


class _AssertLook(NamedTuple):
    """One look of an assert: the key of its sentence, the saved node and the object."""

    situation: str
    saved: int | None = None
    live: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class AssertStory(Story):
    """The story of one assert. `raised` is the class and the text that it raises; None: it passes.

    `has_raised` says that the restore itself has raised: there is no status to ask.
    """

    call: str
    restored: RestoreResult
    saved: Graph | None
    live: Graph
    place_of: Callable[[int], str]
    raised: tuple[str, str] | None
    has_raised: bool = False

    @property
    def title(self) -> str:
        """What the story is of."""
        return f"{self.call}()"

    @property
    def end(self) -> str:
        """How it ends."""
        if self.raised is None:
            return f"{self.call}() passes."
        return f"{self.call}() fails with {self.raised[0]}."

    def __len__(self) -> int:
        """Return the number of looks."""
        return len(self._looks)

    @property
    def failing(self) -> StoryStep | None:
        """The step with the node that makes the assert fail; None if it passes.

        Without such a node it is the last step. It is found without a look at the nodes behind it.
        """
        if self.raised is None:
            return None
        for index, look in enumerate(self._all_looks()):
            has_node = look.saved is not None or look.live is not None
            if SENTENCES[look.situation].is_problem and has_node:
                return self._step_of(index, look)
        return self[-1]

    @cached_property
    def _looks(self) -> Sequence[_AssertLook]:
        looks = [*self._all_looks()]
        if self.raised is None or (looks and looks[-1].situation.endswith(_ENDS)):
            return looks
        return [*looks, _AssertLook("assert_fails")]

    def _all_looks(self) -> Iterator[_AssertLook]:
        if self.has_raised:
            yield _AssertLook("restore_raised")
        elif self.restored.by_names:
            yield from self._by_names()
        elif self.saved is None:  # nothing was read: the assert always fails
            return
        elif self.call == NONTRIVIAL:
            yield _AssertLook("nontrivial" if self.raised is None else "nontrivial_fail")
        else:
            yield from self._existing()
            if self.call == CONSUMED and not self.restored.unmatched:
                yield from self._consumed()

    def _by_names(self) -> Iterator[_AssertLook]:
        unmatched = self.restored.unmatched
        for obj in unmatched[:1] or self._objects_with_values():
            yield _AssertLook("named_unrestored" if unmatched else "named_restored", live=obj)

    def _existing(self) -> Iterator[_AssertLook]:
        nodes = {obj: node for node, obj in self.restored.bound.items()}
        unmatched = set(self.restored.unmatched)
        made = sorted(obj for obj in {*nodes, *unmatched} if obj >= self._size)
        for obj in (*self._objects_with_values(), *made):
            is_missing = obj in unmatched
            if is_missing or obj in nodes:
                situation = "existing_missing" if is_missing else "existing"
                yield _AssertLook(situation, nodes.get(obj), obj)
        if unmatched:
            yield _AssertLook("existing_fail")

    def _consumed(self) -> Iterator[_AssertLook]:
        restored, unresolved = self.restored, set(self.restored.unresolved)
        for node_id, node in enumerate(self.saved.nodes if self.saved is not None else ()):
            if node_id in unresolved:
                yield _AssertLook("consumed_fail", node_id)
                return
            if node.attributes and node_id in restored.bound:
                yield _AssertLook("consumed", node_id, restored.bound[node_id])
        if restored.slots_left:
            yield _AssertLook("consumed_slots", restored.slots_left[0])
        elif restored.unused:
            yield _AssertLook("consumed_unused", restored.unused[0])

    @property
    def _size(self) -> int:
        return len(self.live.nodes)

    def _objects_with_values(self) -> Iterator[int]:
        return (obj for obj, node in enumerate(self.live.nodes) if has_value(node))

    def _step(self, index: int) -> StoryStep:
        return self._step_of(index, self._looks[index])

    def _step_of(self, index: int, look: _AssertLook) -> StoryStep:
        sentence = SENTENCES[look.situation]
        facts = self._facts(look)
        return StoryStep(
            number=index + 1,
            action="raise" if look.situation.endswith(_ENDS) else "look",
            text=facts.said(sentence.text),
            reason=facts.said(sentence.reason),
            place=sentence.place,
            saved=look.saved,
            live=look.live,
            is_problem=sentence.is_problem,
        )

    def _likeness(self, index: int) -> Hashable:
        return self._looks[index].situation

    def _facts(self, look: _AssertLook) -> Facts:
        kind, message = self.raised or ("", "")

        def saved() -> str:
            if self.saved is None or look.saved is None:
                return "the checkpoint"
            return self.saved.names.place_or_state(look.saved)

        return Facts(
            {
                "call": lambda: self.call,
                "saved": saved,
                "live": lambda: "the program" if look.live is None else self.place_of(look.live),
                "nodes": lambda: count(len(self.restored.bound), "node"),
                "error": lambda: kind,
                "why": lambda: as_sentence(message),
            }
        )


_ENDS = ("_fail", "_fails", "_raised", "_slots", "_unused", "_unrestored")
