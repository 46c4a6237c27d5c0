"""The story of an object-based restore: its trace, in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate

from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Node, has_value
from ckpt_viz.graphs.nodes.walks import reached
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.engines.trace import Action, Cause, SlotKind, Step, Trace
from ckpt_viz.matching.story.folding import pattern
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.step import Story, StoryStep, Waiting, WalkState
from ckpt_viz.matching.story.words import SENTENCES, Facts, as_sentence, keys_in_words

_ALWAYS = {
    Action.KEEP: "keep",
    Action.DROP: "drop",
    Action.UNUSED: "unused",
    Action.SKIP_SAVER: "skip_saver",
    Action.DROP_SLOT: "drop_slot",
}
_ASSIGNING = frozenset({Cause.SHAPE, Cause.DTYPE, Cause.TWO_NAMES, Cause.SYMBOLIC, Cause.STAGES})
_READING = frozenset({Cause.KEY_MISSING, Cause.UNREADABLE, Cause.DAMAGED, Cause.READER})
_WITHOUT_OBJECT = frozenset({Action.DEFER, Action.DROP, Action.DEFER_SLOT, Action.DROP_SLOT})
_OWN_STEP = frozenset(Action) - {Action.BIND, Action.CREATE}


@dataclass(frozen=True, eq=False, repr=False)
class RestoreStory(Story):
    """The story of one restore.

    `place_of` returns what people call an object of the program. `call` is restore or read.
    """

    trace: Trace
    saved: Graph
    place_of: Callable[[int], str]
    call: str
    _described: dict[int, str] = field(default_factory=dict, init=False)

    @property
    def title(self) -> str:
        """What the story is of."""
        return f"{self.call}() of {self.saved.title}"

    @property
    def end(self) -> str:
        """How it ends."""
        if self.trace.raised is not None:
            got = self._assigned[-1]
            words = f"{count(got, 'value')} had been assigned" if got else "no value was assigned"
            return f"The restore ends with {self.trace.raised.type}; {words}."
        waiting = (wait.saved for wait in self.state(len(self)).waiting)
        waits = self._unbound_below(waiting, len(self) - 1)
        rest = count(waits, "value waits", "values wait") if waits else "nothing waits"
        values = count(self._assigned[-1], "value")
        done = (
            f"run_restore_ops() will assign {values}"
            if self.trace.builds_graph
            else f"{values} assigned"
        )
        return f"The restore returns: {done}, {rest}."

    def __len__(self) -> int:
        """Return the number of steps, up to what the restore raises."""
        return len(self._steps)

    def state(self, number: int) -> WalkState:
        """Return what TensorFlow holds after a step, by its number from 1 on."""
        if not 1 <= number <= len(self):
            raise IndexError(f"found step {number}, expected 1 to {len(self)}")
        index = number - 1
        joined, visited, never = self._joined, self._visited, len(self)
        last = bisect_right(joined, index, key=lambda entry: entry[0])
        first = bisect_right(self._visited_so_far, index)
        queue = [node for _, node in joined[first:last] if visited.get(node, never) > index]
        waits = (wait for begin, end, wait in self._waits if begin <= index < end)
        name = self.saved.names.place_or_state
        return WalkState(tuple(queue), tuple(waits), last, self._assigned[index], name)

    # --- the steps

    @cached_property
    def _steps(self) -> Sequence[Step]:
        """The steps of the trace up to the first that ends the restore."""
        steps = self.trace.steps
        ends = (
            at
            for at, step in enumerate(steps)
            if step.failure is not None and not step.failure.in_session
        )
        return steps[: next(ends, len(steps)) + 1]

    def _step(self, index: int) -> StoryStep:
        step = self._steps[index]
        text, reason, place = self.words(index)
        sentence = SENTENCES[self._situation(index)]
        is_late = step.action in (Action.DEFER, Action.DEFER_SLOT)  # but it may come yet
        return StoryStep(
            number=index + 1,
            action=step.action.value,
            text=text,
            reason=reason,
            place=place,
            saved=step.node,
            live=self._live(step),
            holder=step.parent,
            local_name=step.name,
            is_problem=sentence.is_problem and (not is_late or self._left_below(step.node) > 0),
            state_after=partial(self.state, index + 1),
        )

    def words(self, index: int) -> tuple[str, str, TensorFlowPlace]:
        """Return text, reason and place of the step at an index from 0 on."""
        facts, sentence = self._facts(index), SENTENCES[self._situation(index)]
        return facts.said(sentence.text), facts.said(sentence.reason), sentence.place

    def _live(self, step: Step) -> int | None:
        """Return the object of a step's saved node; a step without one may tell its holder's."""
        if step.action is Action.KEEP and step.node is not None:
            return self.trace.bound[step.node]
        return None if step.action in _WITHOUT_OBJECT else step.obj

    def _likeness(self, index: int) -> Hashable:
        step = self._steps[index]
        node = None if step.node is None else self._description(step.node)
        return self._situation(index), pattern(step.name), node, step.failure

    def _description(self, node_id: int) -> str:
        """Return what is equal for nodes that people would call the same: class and own name."""
        if node_id not in self._described:
            name = self.saved.names.name(node_id)
            kind = self.saved.nodes[node_id].type_name
            self._described[node_id] = f"{kind} {pattern(name)}"
        return self._described[node_id]

    # --- what to say

    def _situation(self, index: int) -> str:
        """Return the key of the sentence that a step has."""
        step = self._steps[index]
        if step.action in _ALWAYS:
            return _ALWAYS[step.action]
        return self._deciding[step.action](index, step)

    @cached_property
    def _deciding(self) -> Mapping[Action, Callable[[int, Step], str]]:
        """By action, what decides which sentence a step has."""
        return {
            Action.BIND: self._binding,
            Action.DEFER: self._deferring,
            Action.GATHER: self._gathering,
            Action.VALUELESS: self._valueless,
            Action.REPEAT: self._repeating,
            Action.CREATE: self._creating,
            Action.DEFER_SLOT: self._deferring_slot,
            Action.RESTORE: self._restoring,
            Action.FAIL: self._failing,
        }

    def _binding(self, index: int, step: Step) -> str:
        if step.parent is None:
            return "begin"
        if (step.parent, step.node, step.name) in self._variables:
            return "bind_slot"
        if step.obj in self._new_counters:
            return "bind_counter"
        if step.parent == ROOT != self._visiting(index):
            return "bind_attached"
        assert step.node is not None and step.obj is not None
        saved, live = self.saved.names.place_or_state(step.node), self.place_of(step.obj)
        holder = self.saved.names.child_place(step.parent, step.name)
        if saved != holder or saved.rpartition(".")[2] != live.rpartition(".")[2]:
            return "bind_other"
        return "bind_item" if step.name.isdecimal() else "bind"

    def _visiting(self, index: int) -> int | None:
        """Return the node whose children and slots are looked at in a step."""
        place = bisect_right(self._visits, (index, len(self.saved.nodes)))
        return self._visits[place - 1][1] if place else None

    def _deferring(self, index: int, step: Step) -> str:
        is_counter = step.name == SAVE_COUNTER and step.parent == ROOT and self._new_counters
        return "defer_counter" if is_counter else "defer"

    def _gathering(self, index: int, step: Step) -> str:
        node = self._node(step)
        return "gather" if step.names and not node.registered_saver else "gather_code"

    def _valueless(self, index: int, step: Step) -> str:
        return "valueless" if self._node(step).children else "valueless_end"

    def _repeating(self, index: int, step: Step) -> str:
        return "repeat" if has_value(self._node(step)) else "repeat_nothing"

    def _creating(self, index: int, step: Step) -> str:
        return "create_counter" if step.node is None else "create_slot"

    def _deferring_slot(self, index: int, step: Step) -> str:
        if step.obj is None:
            return "defer_slot_optimizer"
        is_outside = step.names == (SlotKind.OUT_OF_SCOPE.value,)
        return "defer_slot_scope" if is_outside else "defer_slot"

    def _restoring(self, index: int, step: Step) -> str:
        if step.node is not None and self._visited.get(step.node) == index:
            return "created"
        if self.trace.builds_graph:
            return "restore_in_session"
        is_same = self._called(step.node) == self._called_live(step.obj)
        return "restore_same" if is_same else "restore"

    def _failing(self, index: int, step: Step) -> str:
        failure = step.failure
        assert failure is not None
        if failure.in_session:
            return "fail_in_session"
        if step.node is None or step.obj is None:
            return "fail"
        if failure.cause is Cause.CHILDREN:
            return "fail_lookup"
        if step.parent is not None:
            return "fail_assign" if step.name == SAVE_COUNTER else "fail_slot"
        if failure.cause in _READING:
            return "fail_read"
        return "fail_assign" if failure.cause in _ASSIGNING else "fail_gather"

    def _node(self, step: Step) -> Node:
        assert step.node is not None
        return self.saved.nodes[step.node]

    def _facts(self, index: int) -> Facts:
        return Facts(_FACTS, (self, self._steps[index]))

    def _called(self, node: int | None) -> str:
        return "the checkpoint" if node is None else self.saved.names.place_or_state(node)

    def _called_live(self, obj: int | None) -> str:
        return "the program" if obj is None else self.place_of(obj)

    def _variable(self, step: Step) -> int | None:
        """Return the variable whose slot a step binds."""
        return self._variables.get((step.parent, step.node, step.name))

    def _unbound_below(self, tops: Iterable[int], index: int) -> int:
        """Return how many values are at nodes and below them that have no object after a step."""
        bound = self._bound_at
        nodes = self.saved.nodes
        below = reached(tops, lambda node: (child.node_id for child in nodes[node].children))
        never = len(self._steps)
        return sum(has_value(nodes[node]) and bound.get(node, never) > index for node in below)

    def _waiting_values(self, node: int) -> str:
        """Return in words what waits with a node: an optimizer's lists lead to a model's values."""
        left = self._left_below(node)
        return count(left, "value") if left else "values to which other names lead"

    def _left_below(self, node: int | None) -> int:
        """Return how many values are at a node and below it that the restore does not reach."""
        return 0 if node is None else self._unbound_below([node], len(self._steps) - 1)

    @cached_property
    def _variables(self) -> Mapping[tuple[int | None, int | None, str], int]:
        """The variable of each slot, by optimizer, slot and name."""
        return {
            (optimizer, slot.slot_variable, slot.slot_name): slot.variable
            for optimizer, node in enumerate(self.saved.nodes)
            for slot in node.slot_variables
        }

    @cached_property
    def _new_counters(self) -> frozenset[int | None]:
        created = self.trace.steps_of(Action.CREATE)
        return frozenset(step.obj for step in created if step.node is None)

    # --- the walk

    @cached_property
    def _joined(self) -> Sequence[tuple[int, int]]:
        """The step at which each node joined the queue, and the node."""
        return [
            (at, step.node)
            for at, step in enumerate(self._steps)
            if step.action is Action.BIND and step.node is not None
        ]

    @cached_property
    def _bound_at(self) -> Mapping[int, int]:
        """By node, the step that bound it."""
        return {node: at for at, node in self._joined}

    @cached_property
    def _visited(self) -> Mapping[int, int]:
        """By node, the step at which the walk took it from the queue: its first own one."""
        visited: dict[int, int] = {}
        for at, step in enumerate(self._steps):
            if step.parent is None and step.node is not None and step.action in _OWN_STEP:
                visited.setdefault(step.node, at)
        return visited

    @cached_property
    def _visits(self) -> Sequence[tuple[int, int]]:
        """The step of each visit, and the node, in order."""
        return sorted((at, node) for node, at in self._visited.items())

    @cached_property
    def _visited_so_far(self) -> Sequence[int]:
        """For each node in the order of joining, the last visit of it and all before."""
        never = len(self._steps)
        return [*accumulate((self._visited.get(node, never) for _, node in self._joined), max)]

    @cached_property
    def _waits(self) -> Sequence[tuple[int, int, Waiting]]:
        """The first step at which each node waits, the step that ends this, and what waits."""
        return [*self._every_wait()]

    def _every_wait(self) -> Iterator[tuple[int, int, Waiting]]:
        ends, never = self._bound_at, len(self._steps)
        for at, step in enumerate(self._steps):
            if step.action in (Action.DEFER, Action.DEFER_SLOT) and step.node is not None:
                end = ends.get(step.node, never)
                yield at, end, Waiting(step.node, step.obj, step.name)

    @cached_property
    def _assigned(self) -> Sequence[int]:
        """After each step, how many values were assigned."""
        return [*accumulate(step.action is Action.RESTORE for step in self._steps)]


def _named(names: Iterator[str]) -> str:
    return listed([f"'{name}'" for name in names], most=4)


# What the sentences name, of a story and a step.
_FACTS: Mapping[str, Callable[[RestoreStory, Step], str]] = {
    "call": lambda story, _: story.call,
    "saved": lambda story, step: story._called(step.node),
    "live": lambda story, step: story._called_live(step.obj),
    "holder": lambda story, step: story._called(step.parent),
    "program": lambda story, step: story._called_live(step.obj),
    "name": lambda _, step: step.name,
    "variable": lambda story, step: story._called(story._variable(step)),
    "values": lambda story, step: story._waiting_values(step.node or ROOT),
    "children": lambda story, step: _named(c.local_name for c in story._node(step).children),
    "keys": lambda _, step: keys_in_words(step.names),
    "error": lambda _, step: "" if step.failure is None else step.failure.type,
    "why": lambda _, step: "" if step.failure is None else as_sentence(step.failure.message),
}
