"""The matching engine: walks a checkpoint's object graph as `Checkpoint.restore` does.

Follows tensorflow/python/checkpoint/restore.py and checkpoint.py. It walks breadth first in the
order of the saved children; the first binding of a node counts. Attached dependencies have their
own pass. Slot variables follow when variable and optimizer are both bound; a new `save_counter`
comes last. If TensorFlow would raise, the trace records the failure and goes on, to show all
failures. The time is linear in the nodes, edges and slots of the checkpoint; nothing is recursive.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Node, Stored
from ckpt_viz.matching.engines.read_failures import (
    fits,
    of_reader,
    two_names,
    wrong_dtype,
    wrong_slice,
)
from ckpt_viz.matching.engines.saved_graph import SavedGraph
from ckpt_viz.matching.engines.sides_of_match import LiveSideOfMatch
from ckpt_viz.matching.engines.trace import (
    Action,
    Cause,
    Failure,
    Gathered,
    Intake,
    Read,
    Refusal,
    SlotKind,
    Step,
    Trace,
)

_NO_HOOK = Failure(
    Cause.SLOT_HOOK,
    "AttributeError",
    "the object has no attribute '_create_or_restore_slot_variable'",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What changes the rules: the call, its options, and whether it builds a TensorFlow 1 graph."""

    skips_slots: bool = False
    builds_graph: bool = False


def match(saved: SavedGraph, live: LiveSideOfMatch, rules: Rules = Rules()) -> Trace:
    """Return what restoring the checkpoint into the live side would do."""
    return _Restore(saved, live, rules).run()


@dataclass(slots=True)
class _Pending:
    """The values that a pass will restore at the end of its walk."""

    python_states: list[tuple[int, int, Read]] = field(default_factory=list)
    tensors: dict[str, tuple[int, int, Gathered]] = field(default_factory=dict)
    registered: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by saver


@dataclass
class _Restore:
    saved: SavedGraph
    live: LiveSideOfMatch
    rules: Rules
    steps: list[Step] = field(default_factory=list)
    bound: dict[int, int] = field(default_factory=dict)
    restored: set[int] = field(default_factory=set)
    unused: dict[int, tuple[str, ...]] = field(default_factory=dict)
    # by the variable's node: optimizer's node, slot's node, slot's name
    slots: dict[int, list[tuple[int, int, str]]] = field(default_factory=dict)
    # by the optimizer's node: variable's object, slot's node, slot's name
    waiting_slots: dict[int, list[tuple[int, int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    # Object at which they wait, node
    waiting_counters: list[tuple[int, int]] = field(default_factory=list)
    created: set[int] = field(default_factory=set)
    nodes: Sequence[Node] = field(init=False)  # the saved ones

    def __post_init__(self) -> None:
        self.nodes = self.saved.nodes

    def run(self) -> Trace:
        if not self.rules.skips_slots:
            for optimizer, node in enumerate(self.nodes):
                for slot in node.slot_variables:
                    self.slots.setdefault(slot.variable, []).append(
                        (optimizer, slot.slot_variable, slot.slot_name)
                    )
        self._walk(ROOT, self.live.root)
        self._walk_attached()
        self._make_save_counter()
        return Trace(
            self.steps,
            self.bound,
            self.unused,
            tuple(self.slots),
            builds_graph=self.rules.builds_graph,
        )

    def _walk_attached(self) -> None:
        children = self.nodes[ROOT].children
        by_name = {child.local_name: child.node_id for child in reversed(children)}
        for name, obj in self.live.attached:
            node = by_name.get(name)
            if name != "root" and node is not None and node not in self.bound:
                self._walk(node, obj, ROOT, name)

    def _make_save_counter(self) -> None:
        at_root = [at for at in self.waiting_counters if at[0] == self.live.root]
        below = [at for at in self.waiting_counters if at[0] != self.live.root]
        waiting = [*below, *at_root]
        protos = [(obj, self.nodes[node]) for obj, node in waiting]
        try:
            counter = self.live.new_save_counter(
                [(obj, proto, self._stored_of(proto)) for obj, proto in protos]
            )
        except Refusal as refusal:
            self._fail(refusal.failure, waiting[0][1], waiting[0][0], ROOT, SAVE_COUNTER)
            return
        if counter is None:
            return
        if counter.value_of is not None:
            at, node = waiting[counter.value_of]
            failure = self._unread_of(self.nodes[node])
            if failure is not None:
                self._fail(failure, node, at, ROOT, SAVE_COUNTER)
                return
            self.created.add(counter.obj)
        self.steps.append(Step(Action.CREATE, None, counter.obj, name=SAVE_COUNTER))
        for _, node in (*below, *at_root[: counter.from_root]):
            self._walk(node, counter.obj, ROOT, SAVE_COUNTER)

    def _stored_of(self, node: Node) -> Stored | None:
        """Return the tensor of a node's first attribute."""
        return self.saved.stored(node.attributes[0].checkpoint_key) if node.attributes else None

    def _unread_of(self, node: Node) -> Failure | None:
        """Return what reading the tensor of a node's first attribute raises."""
        stored = self._stored_of(node)
        return stored and self.saved.unread(node.attributes[0].checkpoint_key, stored)

    # --- one pass

    def _walk(self, start: int, obj: int, parent: int | None = None, name: str = "") -> None:
        if start in self.bound:
            return
        self._bind(start, obj, parent, name)
        pending, queue = _Pending(), deque([start])
        while queue:
            node = queue.popleft()
            self._gather(node, self.bound[node], pending)
            self._follow(node, self.bound[node], queue)
            self._restore_slots(node, self.bound[node], queue)
        self._restore(pending)

    def _bind(self, node: int, obj: int, parent: int | None, name: str) -> None:
        self.bound[node] = obj
        self.steps.append(Step(Action.BIND, node, obj, parent, name))

    def _gather(self, node: int, obj: int, pending: _Pending) -> None:
        proto = self.nodes[node]
        keepers = self.live.bookkeepers(obj)
        steps = self.steps
        if obj in self.created:  # made with the saved value, so there is nothing left to restore
            self.created.remove(obj)
            self.restored.add(keepers[0])
            keys = tuple([attribute.checkpoint_key for attribute in proto.attributes])
            self.steps.append(Step(Action.RESTORE, node, obj, names=keys))
            return
        if not self.restored.isdisjoint(keepers):
            steps.append(Step(Action.REPEAT, node, obj))
            return
        self.restored.add(keepers[0])
        if not proto.attributes and not proto.registered_saver:
            steps.append(Step(Action.VALUELESS, node, obj))
            return
        try:
            gathered = self.live.gather(obj, proto)
        except Refusal as refusal:
            self._fail(refusal.failure, node, obj)
            return
        if gathered.unused:
            self.unused[node] = gathered.unused
            self.steps.append(Step(Action.UNUSED, node, obj, names=gathered.unused))
        if gathered.kind is Intake.SKIPPED:
            self.steps.append(Step(Action.SKIP_SAVER, node, obj, name=proto.registered_saver or ""))
        elif gathered.kind is Intake.REGISTERED:
            pending.registered.setdefault(gathered.saveable, []).append((node, obj))
            self.steps.append(Step(Action.GATHER, node, obj, name=gathered.saveable))
        elif gathered.kind is not Intake.UNUSED or not gathered.unused:
            if gathered.kind is Intake.TENSORS:
                pending.tensors[gathered.saveable] = (node, obj, gathered)
            elif gathered.kind is Intake.PYTHON_STATE:
                pending.python_states.append((node, obj, gathered.reads[0]))
            keys = tuple([read.key for read in gathered.reads])
            steps.append(Step(Action.GATHER, node, obj, None, "", keys))

    def _follow(self, node: int, obj: int, queue: deque[int]) -> None:
        try:
            lookup = self.live.children(obj)
        except Refusal as refusal:
            self._fail(refusal.failure, node, obj)
            return
        bound, steps = self.bound, self.steps
        for edge in self.nodes[node].children:
            local_name, child = edge.local_name, edge.node_id
            if child in bound:
                steps.append(Step(Action.KEEP, child, None, node, local_name))
                continue
            try:
                target = lookup(local_name)
            except Refusal as refusal:
                self._fail(refusal.failure, node, obj)
                continue
            if target is not None:
                bound[child] = target
                steps.append(Step(Action.BIND, child, target, node, local_name))
                queue.append(child)
            elif self._waits(child):
                steps.append(Step(Action.DEFER, child, obj, node, local_name))
                if local_name == SAVE_COUNTER and self.live.takes_counter(obj):
                    self.waiting_counters.append((obj, child))
            else:
                steps.append(Step(Action.DROP, child, obj, node, local_name))

    def _waits(self, node_id: int) -> bool:
        """Return whether a node without an object is kept until there is one."""
        node = self.nodes[node_id]
        if node.waits is not None:
            return node.waits
        return bool(node.attributes) or node_id in self._valued

    @cached_property
    def _valued(self) -> Set[int]:
        return walks.with_value_below(self.nodes)

    # --- slot variables

    def _restore_slots(self, node: int, obj: int, queue: deque[int]) -> None:
        for variable, slot_node, name in self.waiting_slots.pop(node, ()):
            self._restore_slot(node, obj, variable, slot_node, name, queue)
        for optimizer, slot_node, name in self.slots.pop(node, ()):
            if optimizer not in self.bound:
                self.waiting_slots[optimizer].append((obj, slot_node, name))
                self.steps.append(Step(Action.DEFER_SLOT, slot_node, None, optimizer, name))
            else:
                self._restore_slot(
                    optimizer, self.bound[optimizer], obj, slot_node, name, queue, known=True
                )

    def _restore_slot(
        self,
        parent: int,
        optimizer: int,
        variable: int,
        slot_node: int,
        name: str,
        queue: deque[int],
        *,
        known: bool = False,
    ) -> None:
        """Pass a slot to its optimizer; `known` if the optimizer was bound before the variable."""
        proto = self.nodes[slot_node]
        try:
            answer = self.live.slot(optimizer, variable, name, proto, self._stored_of(proto))
        except Refusal as refusal:
            self._fail(refusal.failure, slot_node, optimizer, parent, name)
            return
        if answer.kind is SlotKind.NO_HOOK:
            if known:
                self.steps.append(Step(Action.DROP_SLOT, slot_node, optimizer, parent, name))
            else:
                # TensorFlow looks for the hook only if the optimizer was bound first.
                self._fail(_NO_HOOK, slot_node, optimizer, parent, name)
            return
        if answer.obj is None:
            self.steps.append(
                Step(Action.DEFER_SLOT, slot_node, optimizer, parent, name, (answer.kind.value,))
            )
            return
        if answer.kind is SlotKind.CREATED:
            failure = self._unread_of(proto)
            if failure is not None:  # the slot variable begins with the saved value
                self._fail(failure, slot_node, optimizer, parent, name)
                return
            self.created.add(answer.obj)
            self.steps.append(Step(Action.CREATE, slot_node, answer.obj, parent, name))
        if answer.at_once:
            self._walk(slot_node, answer.obj, parent, name)
        elif slot_node not in self.bound:
            self._bind(slot_node, answer.obj, parent, name)
            queue.append(slot_node)

    # --- values

    def _restore(self, pending: _Pending) -> None:
        """Restore the values that a pass has gathered, in TensorFlow's order."""
        for node, obj, read in pending.python_states:
            stored = self.saved.stored(read.key)
            if stored is None:
                self._fail(self.saved.missing(read.key), node, obj)
            elif (failure := self.saved.unread(read.key, stored)) is not None:
                self._fail(of_reader(failure), node, obj)
            else:
                self.steps.append(Step(Action.RESTORE, node, obj, names=(read.key,)))
        gathered = [pending.tensors[name] for name in sorted(pending.tensors)]
        bad = self._check_names(gathered)
        bad |= self._check_reads([entry for entry in gathered if entry[0] not in bad])
        for node, obj, request in gathered:
            if node not in bad:
                self._assign(node, obj, request)
        for node, obj in chain.from_iterable(pending.registered.values()):
            self.steps.append(Step(Action.RESTORE, node, obj))

    def _check_names(self, gathered: Sequence[tuple[int, int, Gathered]]) -> set[int]:
        """Report targets that have two names; return the nodes of the second names."""
        targets = [
            (*named, node, obj) for node, obj, request in gathered for named in request.targets
        ]
        first: dict[int, str] = {}
        bad: set[int] = set()
        for name, target, node, obj in sorted(targets, key=itemgetter(0)):
            known = first.setdefault(id(target), name)
            if known != name:
                self._fail(two_names(known, name), node, obj)
                bad.add(node)
        return bad

    def _check_reads(self, gathered: Sequence[tuple[int, int, Gathered]]) -> set[int]:
        """Report what reading all tensors in one call would raise; return the affected nodes."""
        missing: list[tuple[str, int, int]] = []
        readable: list[tuple[int, int, Read, Stored]] = []
        for node, obj, request in gathered:
            for read in request.reads:
                stored = self.saved.stored(read.key)
                if stored is None:
                    missing.append((read.key, node, obj))
                else:
                    readable.append((node, obj, read, stored))
        in_session = self.rules.builds_graph
        bad: set[int] = set()
        for key, node, obj in sorted(missing):
            self._fail(_in_session(self.saved.missing(key), in_session), node, obj)
            bad.add(node)
        for node, obj, read, stored in readable:
            if read.dtype is not None and read.dtype != stored.dtype:
                self._fail(_in_session(wrong_dtype(read, stored), in_session), node, obj)
                bad.add(node)
        for node, obj, read, stored in sorted(readable, key=lambda entry: entry[2].key):
            if read.full_shape is not None and read.full_shape != stored.shape:
                self._fail(_in_session(wrong_slice(read, stored), in_session), node, obj)
                bad.add(node)
            elif (failure := self.saved.unread(read.key, stored)) is not None:
                self._fail(_in_session(failure, in_session), node, obj)
                bad.add(node)
        return bad

    def _assign(self, node: int, obj: int, gathered: Gathered) -> None:
        # In a graph, the tensor's shape is unknown before it runs.
        refusal = None if self.rules.builds_graph else self._refusal(obj, gathered)
        if refusal is not None:
            self._fail(refusal, node, obj)
            return
        keys = tuple([read.key for read in gathered.reads])
        self.steps.append(Step(Action.RESTORE, node, obj, None, "", keys))

    def _refusal(self, obj: int, gathered: Gathered) -> Failure | None:
        """Return what assigning these tensors raises."""
        tensors = []
        for read in gathered.reads:
            stored = self.saved.stored(read.key)
            assert stored is not None
            if not fits(read.shape, stored.shape):
                return self.live.misfit(obj, stored)
            tensors.append(stored)
        return gathered.refuses(tensors) if gathered.refuses is not None else None

    # --- the trace

    def _fail(
        self, failure: Failure, node: int, obj: int, parent: int | None = None, name: str = ""
    ) -> None:
        self.steps.append(Step(Action.FAIL, node, obj, parent, name, (), failure))


def _in_session(failure: Failure, in_session: bool) -> Failure:
    return replace(failure, in_session=in_session)
