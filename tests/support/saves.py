"""A real save of TensorFlow, and the order in which its own functions do what.

Each function is wrapped for the time of one save. Ids, keys and ways are those that TensorFlow has
in its own variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

from ckpt_viz.matching.story.save_steps import SaveStep
from ckpt_viz.matching.story.step import Story

Event = tuple[Any, ...]


class Recording:
    """The events of one save, in their order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._walked: list[tuple[Any, dict[str, Any]]] = []  # what each listing has shown

    # --- before and after TensorFlow's own functions

    def children(self, original: Any, view: Any, obj: Any, *args: Any, **how: Any) -> Any:
        children = original(view, obj, *args, **how)
        self._walked.append((obj, children))
        return children

    def walk(self, original: Any, view: Any) -> Any:
        self._walked = []
        objects, paths = original(view)
        ids = {id(obj): number for number, obj in enumerate(objects)}
        walked = self._walked[-len(objects) :]  # a SavedModel walks twice, and takes the second
        assert [id(obj) for obj, _ in walked] == [id(obj) for obj in objects]
        self.events.append(("find", 0, None, ""))
        for holder, children in walked:
            for name, child in children.items():
                way = (*(reference.name for reference in paths[holder]), name)
                is_first = tuple(reference.name for reference in paths[child]) == way
                is_first = is_first and (len(way) == 1 or paths[child][-2].ref is holder)
                action = "find" if is_first else "meet"
                self.events.append((action, ids[id(child)], ids[id(holder)], name))
        return objects, paths

    def name(self, original: Any, path: Any) -> Any:
        if self.events[-1] != ("name",):
            self.events.append(("name",))
        return original(path)

    def slots(self, original: Any, trackable_objects: Any, node_ids: Any, object_names: Any) -> Any:
        self.events.append(("number", len(trackable_objects)))
        slots = original(
            trackable_objects=trackable_objects, node_ids=node_ids, object_names=object_names
        )
        found = [(slot.slot_variable_node_id, obj, slot) for obj in slots for slot in slots[obj]]
        for slot_id, optimizer, slot in sorted(found, key=lambda item: item[0]):
            path = object_names[trackable_objects[slot_id]]
            self.events.append(("slot", slot_id, node_ids[optimizer], slot.slot_name, path))
        return slots

    def edges(self, original: Any, trackable_data: Any) -> Any:
        self.events.append(("edges", sum(len(data.children_proto) for data in trackable_data)))
        return original(trackable_data)

    def keys(self, original: Any, data: Any, *args: Any) -> Any:
        (proto,) = (arg for arg in args if type(arg).__name__ == "TrackableObjectGraph")
        result = original(data, *args)
        for attribute in proto.nodes[data.node_id].attributes:
            self.events.append(("key", data.node_id, attribute.checkpoint_key))
        return result

    def savers(self, original: Any, registered: Any, proto: Any) -> Any:
        for trackables in registered.values():
            self.events += [("saver", data.node_id) for data in trackables]
        return original(registered, proto)

    def mark(self, original: Any, proto: Any) -> Any:
        original(proto)
        valued = sum(node.has_checkpoint_values.value for node in proto.nodes)
        self.events.append(("mark", valued))

    def graph(self, original: Any, saver: Any, tensors: Any, *args: Any) -> Any:
        # A SavedModel makes a second saver, for its graph of functions, and saves nothing by it.
        self.events += [("graph", key) for key in tensors.get(None, ())]
        return original(saver, tensors, *args)

    def run(self, original: Any, file_prefix: Any, saver_name: str) -> Any:
        self.events.append(("run", saver_name))
        return original(file_prefix, saver_name)

    def write(self, original: Any, prefix: Any, names: Any, *args: Any) -> Any:
        self.events.append(("write", len(names)))
        return original(prefix, names, *args)

    def merge(self, original: Any, *args: Any, **how: Any) -> Any:
        self.events.append(("merge",))
        return original(*args, **how)

    def state(self, original: Any, *args: Any, **how: Any) -> Any:
        self.events.append(("state",))
        return original(*args, **how)

    def make(self, original: Any, checkpoint: Any) -> Any:
        if checkpoint._save_counter is None:
            self.events.append(("make",))
        return original(checkpoint)


_CHECKPOINT = "checkpoint.checkpoint"
_WRAPPED: Sequence[tuple[str, str, str]] = (
    ("checkpoint.graph_view", "ObjectGraphView.children", "children"),
    ("checkpoint.graph_view", "ObjectGraphView.breadth_first_traversal", "walk"),
    ("trackable.trackable_utils", "object_path_to_string", "name"),
    ("checkpoint.util", "serialize_slot_variables", "slots"),
    ("checkpoint.save_util", "_fill_object_graph_proto", "edges"),
    ("checkpoint.save_util", "_get_tensors_from_trackable", "keys"),
    ("checkpoint.save_util", "_get_tensors_from_legacy_saveable", "keys"),
    ("checkpoint.save_util", "_get_and_write_registered_savers", "savers"),
    ("checkpoint.util", "add_checkpoint_values_check", "mark"),
    ("checkpoint.functional_saver", "MultiDeviceSaver.__init__", "graph"),
    ("checkpoint.functional_saver", "registered_saver_filename", "run"),
    ("ops.io_ops", "save_v2", "write"),
    ("ops.gen_io_ops", "merge_v2_checkpoints", "merge"),
    ("checkpoint.checkpoint_management", "update_checkpoint_state_internal", "state"),
    (_CHECKPOINT, "Checkpoint._maybe_create_save_counter", "make"),
    (_CHECKPOINT, "CheckpointV1._maybe_create_save_counter", "make"),
)


def _wrapped(original: Any, record: Any) -> Callable[..., Any]:
    return lambda *args, **how: record(original, *args, **how)


@contextmanager
def recorded(counts_of: Any = None) -> Iterator[Recording]:
    """Record what TensorFlow does while it saves; `counts_of` is the checkpoint that counts."""
    recording = Recording()
    with ExitStack() as stack:
        for module, function, method in _WRAPPED:
            owner: Any = import_module(f"tensorflow.python.{module}")
            *classes, name = function.split(".")
            for cls in classes:
                owner = getattr(owner, cls)
            wrapped = _wrapped(getattr(owner, name), getattr(recording, method))
            stack.enter_context(mock.patch.object(owner, name, wrapped))
        stack.enter_context(_counting(recording, counts_of))
        yield recording


@contextmanager
def _counting(recording: Recording, checkpoint: Any) -> Iterator[None]:
    """Record when a save counter is incremented."""
    module: Any = import_module("tensorflow.python.ops.resource_variable_ops")
    variable = module.ResourceVariable  # which has copies of the methods
    original = variable.assign_add

    def assign_add(self: Any, *args: Any, **how: Any) -> Any:
        if checkpoint is not None and self is checkpoint._save_counter:
            recording.events.append(("count",))
        return original(self, *args, **how)

    with mock.patch.object(variable, "assign_add", assign_add):
        yield


def events_of(story: Story) -> list[Event]:
    """Return the events of a story as those of a recording.

    The ids are the numbers in which the story finds objects, not those of the graph.
    """
    ids: dict[int | None, int] = {}  # None is the counter that the save makes
    events: list[Event] = []
    for step in story:
        assert isinstance(step, SaveStep)
        node = step.saved if step.saved is not None else step.live
        if step.action in ("find", "slot"):
            ids[node] = len(ids)
            assert f"object {ids[node]}" in step.text
        events += _event(step, node, ids)
    return events


def _event(step: SaveStep, node: int | None, ids: dict[int | None, int]) -> list[Event]:
    holder = None if step.holder is None else ids.get(step.holder)
    match step.action:
        case "find" | "meet":
            return [(step.action, ids[node], holder, step.local_name)]
        case "slot":
            return [("slot", ids[node], holder, step.local_name, step.key)]
        case "key":
            return [("key", ids[node], step.key)]
        case "saver":
            return [("saver", ids[node])]
        case "graph":
            return [("graph", step.key)]
        case "number" | "edges" | "mark" | "write" | "run":
            return [(step.action, step.text)]
        case "leave" | "list" | "delete" | "preserve" | "check" | "export":
            return []
    return [(step.action,)]


def assert_tells(story: Story, events: Sequence[Event]) -> None:
    """Assert that a story has exactly the events of a save, in their order."""
    ours = events_of(story)
    unknown = {(e[1], e[2]) for e in ours if e[0] == "key" and e[2].endswith(".ATTRIBUTES/")}
    prefixes = dict(unknown)  # of nodes whose own code makes the keys
    theirs = list(events)
    for event in theirs:
        if event[0] == "key" and event[1] in prefixes:
            assert event[2].startswith(prefixes[event[1]])
    ours, theirs = (
        [e for e in some if not (e[0] == "key" and e[1] in prefixes)] for some in (ours, theirs)
    )
    for mine, real in zip(ours, theirs, strict=False):
        assert _is_same(mine, real), f"the story has {mine}, TensorFlow {real}"
    assert len(ours) == len(theirs), (ours[len(theirs) :], theirs[len(ours) :])


def _is_same(mine: Event, real: Event) -> bool:
    """Return whether an event is the real one; of some, a sentence has the number or name."""
    if real == ("number", 1):
        return bool(mine == ("number", "The root is the only object, and gets the id 0."))
    if mine[0] == real[0] == "mark" and "up to" in mine[1]:
        return bool(int(mine[1].split()[4]) >= real[1])
    if mine[0] in ("number", "edges", "mark", "run"):
        return bool(mine[0] == real[0] and f" {real[1]!r} " in mine[1].replace(",", " ,") + " ")
    if mine[0] == "write":
        is_live = "for each host" in mine[1]
        return bool(real[0] == "write" and (is_live or f" {real[1]} tensor" in mine[1]))
    return mine == real
