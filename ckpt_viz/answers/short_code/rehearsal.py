"""A dry run of short code: the restore into the checkpoint that the code makes.

With live objects the code makes a real `tf.train.Checkpoint`, which leaves no trace in them. With a
file in place of the program, the rehearsal makes the graph that such a checkpoint would have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.file_dry_run import file_dry_run
from ckpt_viz.answers.dry_runs.live_dry_run import live_dry_run
from ckpt_viz.answers.short_code.skeleton import Skeleton, can_be_made
from ckpt_viz.graphs.nodes.nodes import (
    ROOT,
    SAVE_COUNTER,
    Child,
    Node,
    SlotVariable,
    with_new_counter,
)
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.live.tensorflow_names import tensorflow_new as tf_new
from ckpt_viz.matching.engines.engine import match
from ckpt_viz.matching.engines.graph_side import GraphSide
from ckpt_viz.matching.engines.saved_graph import SavedGraph
from ckpt_viz.matching.engines.trace import Action, Trace


@dataclass(frozen=True)
class Rehearsal:
    """The dry run of a restore into a checkpoint around the objects of another dry run.

    `originals` maps the id of a live object to its id in the other dry run.
    """

    run: DryRun
    originals: Mapping[int, int]

    @property
    def restored(self) -> dict[int, int | None]:
        """The object of each restored saved node, by its id in the other dry run."""
        if self.run.by_objects is None:
            return {}
        return {
            step.node: self.originals.get(step.obj)
            for step in self.run.by_objects.steps
            if step.action is Action.RESTORE and step.node is not None and step.obj is not None
        }


def rehearse(run: DryRun, skeleton: Skeleton, method: str) -> Rehearsal | None:
    """Return what restoring the same checkpoint into a skeleton of live objects would do.

    None if the skeleton cannot be made: an object is gone, or TensorFlow rejects the object as a
    part of a checkpoint.
    """
    if run.saved is None:
        return None
    if run.live.origin is not Origin.LIVE:
        return rehearse_on_graphs(run.live, run.saved, skeleton, method)
    try:
        checkpoint = checkpoint_of(run.live, skeleton)
        rehearsed = live_dry_run(checkpoint, run.saved, method, None)
    except Exception:  # the objects' own code raises, or TensorFlow rejects an object
        return None
    known = {id(run.live.object(obj)): obj for obj in range(len(run.live.nodes))}
    new = range(len(rehearsed.live.nodes))
    originals = {obj: known.get(id(rehearsed.live.object(obj)), -1) for obj in new}
    return Rehearsal(rehearsed, {obj: was for obj, was in originals.items() if was >= 0})


def rehearse_on_graphs(live: Graph, saved: Graph, skeleton: Skeleton, method: str) -> Rehearsal:
    """Return the same from graphs alone: without what the code of live objects does."""
    graph, originals = _graph_of(live, skeleton, method)
    graph = replace(graph, nodes=_without_unreachable(graph.nodes))
    return Rehearsal(file_dry_run(graph, saved, method=method), originals)


def trace_on_graphs(
    live: Graph, saved: SavedGraph, skeleton: Skeleton, method: str
) -> tuple[Trace, Mapping[int, int]]:
    """Return the steps of such a rehearsal alone, and the `originals` of its objects."""
    graph, originals = _graph_of(live, skeleton, method)
    return match(saved, GraphSide(graph)), originals


# --- of live objects


def checkpoint_of(live: Graph, skeleton: Skeleton) -> Any:
    """Return the checkpoint of live objects; raises if an object is gone or TensorFlow rejects it.

    Raises as well if no code makes such a checkpoint.
    """
    if not can_be_made(skeleton):
        raise ValueError("a name of a part is taken")

    def object_of(obj: int) -> Any:
        held = live.object(obj)
        if held is None:
            raise LookupError(live.name(obj))
        return held

    def made(part: int | Skeleton) -> Any:
        if isinstance(part, Skeleton):
            root = None if part.root is None else object_of(part.root)
            children = {name: made(child) for name, child in part.children.items()}
            return tf_new.new_checkpoint(root, children)
        return object_of(part)

    return made(skeleton)


# --- of a file


def _graph_of(live: Graph, skeleton: Skeleton, method: str) -> tuple[Graph, Mapping[int, int]]:
    """Return the graph that a program with such a checkpoint would save, and its nodes' originals.

    Almost all original nodes keep their ids, so that a large graph is not copied. The new nodes
    come after them. The counter that a new checkpoint makes at the end of `restore` is the last.
    """
    size = len(live.nodes)
    new = [skeleton]
    ids = {id(skeleton): ROOT}  # of the parts that are in `new`
    for part in new:  # grows during the loop
        for child in part.children.values():
            if isinstance(child, Skeleton):
                ids[id(child)] = size + len(new)
                new.append(child)

    def place(original: int) -> int:
        if original == skeleton.root:
            return ROOT
        return size if original == ROOT else original

    def made(part: Skeleton) -> Node:
        own = Node() if part.root is None else _moved(live.nodes[part.root], place)
        added = [
            Child(name, place(child) if isinstance(child, int) else ids[id(child)])
            for name, child in part.children.items()
        ]
        return own._replace(children=(*own.children, *added))

    nodes = _with_moved(live, place, [] if skeleton.root is None else [skeleton.root])
    old_root, nodes[ROOT] = nodes[ROOT], made(skeleton)
    nodes += [old_root, *map(made, new[1:])]
    has_counter = any(child.local_name == SAVE_COUNTER for child in nodes[ROOT].children)
    makes_counter = method == "restore" and skeleton != Skeleton(ROOT) and not has_counter
    new_nodes = with_new_counter(nodes) if makes_counter else tuple(nodes)
    return replace(live, nodes=new_nodes), {place(obj): obj for obj in range(size)}


def _with_moved(live: Graph, place: Callable[[int], int], others: Sequence[int]) -> list[Node]:
    """Return the nodes; those that refer to the root or to `others` refer to their new places."""
    moved = {ROOT, *others}
    parents = {parent for obj in moved for parent, _ in live.edges_to[obj]}
    return [
        _moved(node, place) if obj in parents or not moved.isdisjoint(_of_slots(node)) else node
        for obj, node in enumerate(live.nodes)
    ]


def _of_slots(node: Node) -> Iterator[int | None]:
    """Yield the nodes to which a node refers as a slot variable, or as an optimizer with slots."""
    if node.slot is not None:
        yield from (node.slot.variable, node.slot.optimizer)
    for declared in node.slot_variables:
        yield from (declared.variable, declared.slot_variable)


def _moved(node: Node, place: Callable[[int], int]) -> Node:
    slot = node.slot
    return node._replace(
        children=tuple(Child(c.local_name, place(c.node_id)) for c in node.children),
        slot_variables=tuple(
            SlotVariable(s.slot_name, place(s.variable), place(s.slot_variable))
            for s in node.slot_variables
        ),
        slot=slot
        and replace(
            slot,
            variable=place(slot.variable),
            optimizer=None if slot.optimizer is None else place(slot.optimizer),
        ),
    )


def _without_unreachable(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes; those that no path leads to any more become empty."""
    seen, queue = {ROOT}, deque([ROOT])
    while queue:
        node = nodes[queue.popleft()]
        reached = [child.node_id for child in node.children]
        reached += [slot.slot_variable for slot in node.slot_variables]
        queue.extend(new := [i for i in dict.fromkeys(reached) if i not in seen])
        seen.update(new)
    return tuple(node if i in seen else Node() for i, node in enumerate(nodes))
