"""The story of a save: how TensorFlow finds objects, numbers them, makes keys, and writes.

A step is three numbers until someone looks at it, so the story of many objects is made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE, checkpoint_key, parse_checkpoint_key
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Attribute, Child, SlotRule
from ckpt_viz.graphs.nodes.printed_names import THE_ROOT, readable_name, without_root
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.text import count, end_of, readable
from ckpt_viz.matching.story.always_said import ALWAYS_SAID
from ckpt_viz.matching.story.folding import pattern
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save_order import (
    NEW_COUNTER,
    NOWHERE,
    OF_COUNTER,
    OF_HIDDEN,
    OF_NO_NODE,
    PYTHON_STATE,
    Counting,
    Order,
    SaveAction,
    SaveCall,
)
from ckpt_viz.matching.story.save_places import OF_MANAGERS_COUNT, OF_OTHER_VALUE, OF_ROOT, PLACES
from ckpt_viz.matching.story.save_steps import SaveStep, Words
from ckpt_viz.matching.story.step import Story

_MOST_OF_A_KEY = 300  # characters in a sentence


class SaveStory(Story):
    """The steps by which TensorFlow saves objects: a walk, then keys, then files.

    `call` is what the program calls. `before` and `after` are steps of a manager around them; if
    the manager `skips` this save, only its own steps remain. `counting` tells how a checkpoint
    counts, if that is not the root with the counter of the graph.
    """

    def __init__(
        self,
        graph: Graph,
        call: SaveCall,
        before: Sequence[SaveStep] = (),
        after: Sequence[SaveStep] = (),
        *,
        counting: Counting | None = None,
        skips: bool = False,
    ) -> None:
        self._graph = graph
        self.call = call.value
        self._before, self._after = tuple(before), tuple(after)
        self._skips = skips
        self._order = Order(graph, call, counting)
        self._marks = () if skips else tuple(self._order.marks())
        self._fails = bool(self._marks) and self._marks[-1][0] is SaveAction.FAIL
        if self._fails:
            self._after = ()

    @property
    def title(self) -> str:
        """The call, and what it saves."""
        return f"{self.call} of {readable(self._graph.title)}"

    @property
    def end(self) -> str:
        """What is in the checkpoint, or why there is none."""
        if self._skips:
            return "Nothing is saved."
        if self._fails:
            return "The error ends the save: there is no checkpoint."
        nodes = self._graph.nodes
        values = sum(len(node.attributes) for node in nodes) + self._order.makes_counter
        objects = len(nodes) + self._order.makes_counter
        sentences = [
            f"The checkpoint holds {count(values, 'value')} of {count(objects, 'object')}."
        ]
        lost = sum(note.is_lost for node in nodes for note in node.not_saved)
        if lost:
            sentences.append(f"It lacks the trained values of {count(lost, 'attribute')}.")
        return " ".join([*sentences, *self._doubts()])

    def _doubts(self) -> Iterator[str]:
        """Yield what a damaged file leaves unknown."""
        nodes, is_saved = self._graph.nodes, self._graph.origin is Origin.SAVED
        if is_saved and nodes[ROOT].error is not None:
            yield "The file has lost its object graph, so that second ways are unknown."
        unreached = len(nodes) - len(self._graph.first_edges) - 1
        if unreached > 0:
            yield f"No walk from the root reaches {count(unreached, 'object')} of this file."

    def __len__(self) -> int:
        return len(self._before) + len(self._marks) + len(self._after)

    def _step(self, index: int) -> SaveStep:
        own = index - len(self._before)
        if own < 0:
            return replace(self._before[index], number=index + 1)
        if own >= len(self._marks):
            return replace(self._after[own - len(self._marks)], number=index + 1)
        action, node_id, at = self._marks[own]
        words: Words = ALWAYS_SAID.get(action) or _SENTENCES[action](self, node_id, at)
        place, subject = self._place_of(action, node_id, at), self._subject(action, node_id, at)
        return words.as_step(index + 1, action, place, self._graph, subject)

    def _likeness(self, index: int) -> Hashable:
        own = index - len(self._before)
        if not 0 <= own < len(self._marks):
            return index  # each step of a manager is different
        action, node_id, at = self._marks[own]
        if node_id < ROOT or at < 0:
            return action, node_id, at
        node = self._graph.nodes[node_id]
        if action in (SaveAction.FIND, SaveAction.MEET):
            return action, *self._end_of_way(node_id)[1:], pattern(node.children[at].local_name)
        if action is SaveAction.SLOT:
            return action, node_id, node.slot_variables[at].slot_name
        what = pattern(node.attributes[at].name) if action is SaveAction.KEY else at
        return action, *self._end_of_way(node_id), what

    def _end_of_way(self, node_id: int) -> tuple[str, str]:
        """Return the last two names on the first way to a node, without numbers."""
        first = self._graph.first_edges
        holder, name = first.get(node_id, (ROOT, ""))
        return pattern(first.get(holder, (ROOT, ""))[1]), pattern(name)

    def _subject(self, action: SaveAction, node_id: int, at: int) -> int | None:
        """Return the node that a step is about."""
        if node_id < ROOT or action in OF_NO_NODE or at == NEW_COUNTER:
            return None
        node = self._graph.nodes[node_id]
        if action in (SaveAction.FIND, SaveAction.MEET):
            return node.children[at].node_id if at != NOWHERE else node_id
        if action is SaveAction.SLOT:
            return node.slot_variables[at].slot_variable
        return node_id

    def _place_of(self, action: SaveAction, node_id: int, at: int) -> TensorFlowPlace:
        if action is SaveAction.FIND and at == NOWHERE:
            return OF_ROOT
        is_count = action is SaveAction.COUNT or (action, at) == (SaveAction.FAIL, OF_COUNTER)
        if is_count:
            is_managers = self.call == SaveCall.MANAGER.value
            return OF_MANAGERS_COUNT if is_managers else PLACES[SaveAction.COUNT]
        if action is SaveAction.KEY and node_id >= ROOT:
            attribute = self._graph.nodes[node_id].attributes[at]
            return PLACES[action] if attribute.name == VARIABLE_VALUE else OF_OTHER_VALUE
        return PLACES[action]

    # --- names

    def _name(self, node_id: int) -> str:
        if node_id in (ROOT, NEW_COUNTER):  # without the names of all others
            return THE_ROOT if node_id == ROOT else SAVE_COUNTER
        return self._graph.names.place_or_state(node_id)

    def _first_way(self, node_id: int) -> str:
        return without_root(readable_name(self._graph, node_id))

    # --- what steps say

    def _count_words(self, node_id: int, at: int) -> Words:
        if self._graph.origin is Origin.SAVED:
            text = "tf.train.Checkpoint.save, or a manager's save, adds 1 to save_counter first."
            reason = (
                "The file does not tell whether it was tf.train.Checkpoint.write, which counts "
                "nothing."
            )
        else:
            text = "The call adds 1 to save_counter before it looks at any object."
            reason = (
                "The name of the checkpoint ends with this number, and the checkpoint holds it. "
                "tf.train.Checkpoint.write counts nothing."
            )
        return Words(text, reason, holder=ROOT, local_name=SAVE_COUNTER)

    def _find_words(self, holder: int, at: int) -> Words:
        if at == NOWHERE:
            return Words(
                "The walk begins at the root, which is object 0.",
                "The walk is breadth first: it lists all children of an object before it goes on "
                "to theirs.",
            )
        child = self._child(holder, at)
        name, number = self._name(child.node_id), self._order.number(child.node_id)
        return Words(
            f"The walk finds {name} as {readable(child.local_name)!r} of {self._name(holder)}: "
            f"object {number}.",
            "" if at < 0 else self._why_this_way(child.node_id, holder),
            holder=holder,
            local_name=child.local_name,
        )

    def _child(self, holder: int, at: int) -> Child:
        children = self._graph.nodes[holder].children
        return Child(SAVE_COUNTER, NEW_COUNTER) if at == NEW_COUNTER else children[at]

    def _why_this_way(self, node_id: int, holder: int) -> str:
        is_slot = self._graph.nodes[node_id].slot is not None  # its name is no way to it
        if is_slot or self._graph.tree.parents[node_id] in (holder, NOWHERE):
            return ""
        return (
            f"A breadth-first walk comes to {self._first_way(node_id)} before it comes to "
            f"{self._name(node_id)}."
        )

    def _meet_words(self, holder: int, at: int) -> Words:
        child = self._child(holder, at)
        name, number = self._name(child.node_id), self._order.number(child.node_id)
        return Words(
            f"{readable(child.local_name)!r} of {self._name(holder)} leads to {name}, too, which "
            f"the walk knows as object {number}.",
            "The object graph records this way as one more edge. The object is saved once, under "
            "its first way.",
            holder=holder,
            local_name=child.local_name,
        )

    def _leave_words(self, holder: int, at: int) -> Words:
        note = self._graph.nodes[holder].not_saved[at]
        what = f"{readable(note.name)!r} ({readable(note.type_name)}) of {self._name(holder)}"
        if not note.is_lost:
            return Words(
                f"TensorFlow does not track {what}, but no trained value is lost.",
                "Seeds, metrics, counters and vocabularies start again after a restore.",
                holder=holder,
                local_name=note.name,
            )
        return Words(
            f"TensorFlow does not track {what}: the save leaves out "
            f"{count(note.count, 'object')} with values.",
            "It follows attributes that are trackable, and lists, dicts and tuples of such. It "
            "follows no other container, and no plain object.",
            holder=holder,
            local_name=note.name,
            is_problem=True,
        )

    def _number_words(self, node_id: int, number: int) -> Words:
        ids = f"The {number} objects get the ids 0 to {number - 1}, as the walk found them."
        return Words(
            ids if number > 1 else "The root is the only object, and gets the id 0.",
            "In the file, an edge names objects by these ids.",
        )

    def _slot_words(self, optimizer: int, at: int) -> Words:
        slot = self._graph.nodes[optimizer].slot_variables[at]
        attributes = self._graph.nodes[slot.slot_variable].attributes
        parsed = parse_checkpoint_key(attributes[0].checkpoint_key) if attributes else None
        return Words(
            f"{self._name(optimizer)} keeps {readable(slot.slot_name)!r} for "
            f"{self._name(slot.variable)}: this slot variable is object "
            f"{self._order.number(slot.slot_variable)}.",
            "No edge leads to a slot variable, so that it gets id and path after the walk.",
            holder=optimizer,
            local_name=slot.slot_name,
            key=parsed.object_key if parsed is not None else "",
        )

    def _edges_words(self, node_id: int, second: int) -> Words:
        edges = sum(len(node.children) for node in self._graph.nodes)
        edges += len(self._order.holders_of_counter)
        again = f", {second} of them second ways" if second else ""
        return Words(
            f"The object graph records {count(edges, 'edge')} with local names{again}.",
            "A restore follows these edges by their names.",
        )

    def _key_words(self, node_id: int, at: int) -> Words:
        if node_id == NEW_COUNTER:
            key = checkpoint_key(SAVE_COUNTER, VARIABLE_VALUE)
            return Words(f"The value of save_counter gets the key {key}.", _OF_KEYS, key=key)
        attribute = self._graph.nodes[node_id].attributes[at]
        key, name = attribute.checkpoint_key, self._name(node_id)
        shown = end_of(key, _MOST_OF_A_KEY)
        if not attribute.name:
            return Words(
                f"The class of {name} decides what to save: its keys begin with {shown}.",
                "Only code of that class knows them, and ckpt-viz does not run it.",
                key=key,
            )
        what = "value" if attribute.name == VARIABLE_VALUE else repr(readable(attribute.name))
        return Words(
            f"The {what} of {name} gets the key {shown}.",
            self._why_key(node_id, attribute),
            key=key,
        )

    def _why_key(self, node_id: int, attribute: Attribute) -> str:
        slot = self._graph.nodes[node_id].slot
        if slot is not None and slot.rule is SlotRule.DECLARED:
            return (
                "The key has the path of the variable, then .OPTIMIZER_SLOT, the path of the "
                "optimizer, and the name of the slot."
            )
        if attribute.name == PYTHON_STATE:
            return "Python state comes last: its serialize() makes a text, which is saved."
        if slot is None and self._off_tree[node_id]:
            first, name = self._first_way(node_id), self._name(node_id)
            return f"The first way from the root gives the key: {first} came before {name}."
        if "." in attribute.checkpoint_key.partition("/.ATTRIBUTES")[0]:
            return "In a local name, '.' becomes '..' and '/' becomes '.S'."
        return _OF_KEYS

    @cached_property
    def _off_tree(self) -> bytearray:
        """By node, whether its first way is not the one in its name."""
        tree, flags = self._graph.tree, bytearray(len(self._graph.nodes))
        for node_id, edge in self._graph.first_edges.items():  # parents first
            in_name = (tree.parents[node_id], tree.labels[node_id])
            flags[node_id] = flags[edge[0]] or edge != in_name
        return flags

    def _saver_words(self, node_id: int, at: int) -> Words:
        saver = readable(self._graph.nodes[node_id].registered_saver or "")
        return Words(
            f"{self._name(node_id)} has the registered saver {saver!r}: the object graph records "
            "it in place of keys.",
            "Such a saver writes files of its own, and a restore asks it to read them.",
        )

    def _mark_words(self, node_id: int, at: int) -> Words:
        objects = count(len(self._graph.nodes) + self._order.makes_counter, "object")
        # A class that decides itself may save nothing.
        is_unsure = any(not a.name for node in self._graph.nodes for a in node.attributes)
        valued = f"{'up to ' if is_unsure else ''}{self._order.valued}"
        return Words(
            f"TensorFlow marks {valued} of {objects}: these have a value, or lead to one.",
            "A restore waits for an object that the program lacks only if it has this mark.",
        )

    def _run_words(self, node_id: int, at: int) -> Words:
        saver = self._graph.nodes[node_id].registered_saver
        number = sum(node.registered_saver == saver for node in self._graph.nodes)
        return Words(
            f"The registered saver {readable(saver or '')!r} writes its files for "
            f"{count(number, 'object')}.",
            "Registered savers run before TensorFlow writes tensors.",
        )

    def _write_words(self, node_id: int, shard: int) -> Words:
        if shard == NOWHERE:
            return Words(
                "TensorFlow writes the tensors to data files: one for each host that has some.",
                "Variables on all devices of one host share a file.",
            )
        tensors, shards = self._order.shards
        which = f"data file {shard + 1} of {shards}" if shards > 1 else "one data file"
        return Words(
            f"TensorFlow writes {count(tensors.get(shard, 0), 'tensor')} to {which}.",
            "Each host writes a file with the variables on its devices.",
        )

    def _state_words(self, node_id: int, at: int) -> Words:
        who = "The call" if self._graph.origin is Origin.LIVE else "save, or a manager,"
        return Words(
            f"{who} names the new checkpoint in the file 'checkpoint', as the latest.",
            "tf.train.latest_checkpoint reads this file. tf.train.Checkpoint.save lists no others "
            "there, and deletes none.",
        )

    def _fail_words(self, node_id: int, at: int) -> Words:
        whys = {
            OF_COUNTER: "The checkpoint adds 1 to it, because it has the name of the counter of "
            "saves.",
            OF_HIDDEN: "The checkpoint's new counter of saves hides its child 'save_counter'.",
        }
        return Words(
            f"{self._name(node_id)} raises an error, and the save ends.",
            whys.get(at) or readable(self._graph.nodes[node_id].error or ""),
            holder=node_id,
            is_problem=True,
        )


_OF_KEYS = "A key is the path of the object, then .ATTRIBUTES and the name of what is saved."
_SENTENCES: Mapping[SaveAction, Callable[[Any, int, int], Words]] = {
    SaveAction.COUNT: SaveStory._count_words,
    SaveAction.FIND: SaveStory._find_words,
    SaveAction.MEET: SaveStory._meet_words,
    SaveAction.LEAVE: SaveStory._leave_words,
    SaveAction.NUMBER: SaveStory._number_words,
    SaveAction.SLOT: SaveStory._slot_words,
    SaveAction.EDGES: SaveStory._edges_words,
    SaveAction.KEY: SaveStory._key_words,
    SaveAction.SAVER: SaveStory._saver_words,
    SaveAction.MARK: SaveStory._mark_words,
    SaveAction.RUN: SaveStory._run_words,
    SaveAction.WRITE: SaveStory._write_words,
    SaveAction.STATE: SaveStory._state_words,
    SaveAction.FAIL: SaveStory._fail_words,
}
