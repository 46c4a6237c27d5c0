"""How a program saves a live source: by which call, and what a manager knows of its checkpoints."""

from __future__ import annotations

import sys

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.objects.counters import number_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state
from ckpt_viz.live.tensorflow_names.shadows import instance_dict
from ckpt_viz.matching.story.manager import ManagerState
from ckpt_viz.matching.story.save_order import Counting, SaveCall


def call_for(source: object) -> SaveCall:
    """Return the call that saves a live source."""
    if "tensorflow" not in sys.modules:
        return SaveCall.WRITE
    if tf_savers.is_saver(source):
        return SaveCall.SAVER
    if tf_private.is_checkpoint_manager(source):
        return SaveCall.MANAGER
    return SaveCall.SAVE if tf_private.is_checkpoint(source) else SaveCall.WRITE


def counting_of(graph: Graph) -> Counting:
    """Return how the checkpoint counts that a live graph was made of.

    A checkpoint of another root is only a node if that root leads to it. What a program calls
    `_save_counter` in a checkpoint is its counter, too. A checkpoint with a root looks for a
    `save_counter` there once, when it is made: it makes one of its own beside a later one.
    """
    checkpoint = getattr(graph.source, "checkpoint", graph.source)
    own = instance_dict(checkpoint).get("_save_counter", checkpoint)
    makes_own = own is None and graph.object(ROOT) is not checkpoint
    node = counter = None
    for node_id in range(len(graph.nodes)):
        obj = graph.object(node_id)
        node = node_id if node is None and obj is checkpoint else node
        is_own = obj is own is not None and own is not checkpoint
        counter = node_id if counter is None and is_own else counter
    if counter is None and not makes_own:
        counter = graph.save_counter
    return Counting(ROOT if node is None else node, counter)


def state_of_manager(graph: Graph, counter: int | None) -> ManagerState:
    """Return what the manager that a live graph was made of knows now; `counter` is its node."""
    saves = 0 if counter is None else number_of(graph.object(counter))
    number = None if saves is None else saves + 1
    return tf_state.managers_state(graph.source, number, number_of)
