"""The story of a save by names: what a `tf.compat.v1.train.Saver` writes, and in which order."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.ground.text import count, end_of, readable
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save_order import SaveAction, SaveCall
from ckpt_viz.matching.story.save_steps import SaveStep, Words
from ckpt_viz.matching.story.step import Story

_MOST_OF_A_NAME = 300  # characters in a sentence


class _Mark(NamedTuple):
    """A step: for a name, its node; for a partition, also the number of its slice."""

    action: SaveAction
    node: int | None = None
    part: int = 0


def _place(function: str, mark: str = "") -> TensorFlowPlace:
    return TensorFlowPlace("tensorflow.python.training.saver", function, mark)


_SAVEABLES = "tensorflow.python.training.saving.saveable_object_util"
PLACES: Mapping[SaveAction, TensorFlowPlace] = {
    SaveAction.NAME: TensorFlowPlace(_SAVEABLES, "validate_and_slice_inputs", "sorted"),
    SaveAction.KEY: TensorFlowPlace(_SAVEABLES, "validate_and_slice_inputs", "_add_saveable"),
    SaveAction.WRITE: _place("BaseSaverBuilder.save_op", "save_v2"),
    SaveAction.MERGE: _place("BaseSaverBuilder._AddShardedSaveOpsForV2", "merge_v2_checkpoints"),
    SaveAction.STATE: _place("Saver.save", "update_checkpoint_state_internal"),
    SaveAction.DELETE: _place("Saver.save", "_MaybeDeleteOldCheckpoints"),
    SaveAction.EXPORT: _place("Saver.save", "export_meta_graph"),
}


class SaverStory(Story):
    """The steps by which a Saver saves variables: it sorts their names, then writes.

    A Saver knows names and no objects: nothing is found by a walk, and nothing gets an id.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._is_v1 = (
            graph.provenance is not None and graph.provenance.format is Format.NAME_BASED_V1
        )
        self._marks = tuple(self._all_marks())

    call = SaveCall.SAVER.value

    @property
    def title(self) -> str:
        """The call, and what it saves."""
        return f"{self.call} of {readable(self._graph.title)}"

    @property
    def end(self) -> str:
        """What the checkpoint lacks, compared with one of objects."""
        names = sum(mark.action is SaveAction.KEY and mark.part == 0 for mark in self._marks)
        return (
            f"The checkpoint holds {count(names, 'tensor')} by name, and no object graph: "
            "a restore needs the same names."
        )

    def __len__(self) -> int:
        return len(self._marks)

    def _all_marks(self) -> Iterator[_Mark]:
        yield _Mark(SaveAction.NAME)
        nodes = self._graph.nodes
        named = [node_id for node_id, node in enumerate(nodes) if node.attributes]
        for node_id in sorted(named, key=lambda node_id: self._attribute(node_id).checkpoint_key):
            for part in range(max(1, len(self._attribute(node_id).slices))):
                yield _Mark(SaveAction.KEY, node_id, part)
        yield _Mark(SaveAction.WRITE)
        if getattr(self._graph.stored_in, "num_shards", 0) > 1:
            yield _Mark(SaveAction.MERGE)
        yield from (_Mark(SaveAction.STATE), _Mark(SaveAction.DELETE), _Mark(SaveAction.EXPORT))

    def _attribute(self, node_id: int) -> Attribute:
        return self._graph.nodes[node_id].attributes[0]

    def _step(self, index: int) -> SaveStep:
        mark = self._marks[index]
        place = PLACES[mark.action]
        return self._sentence(mark).as_step(index + 1, mark.action, place, self._graph, mark.node)

    def _likeness(self, index: int) -> Hashable:
        mark = self._marks[index]
        return mark.action, mark.part > 0

    def _sentence(self, mark: _Mark) -> Words:
        if mark.node is not None:
            return self._keyed(mark.node, mark.part)
        if self._is_v1 and mark.action is SaveAction.WRITE:
            return _WRITTEN_AS_V1
        return _SAID[mark.action]

    def _keyed(self, node_id: int, part: int) -> Words:
        attribute = self._attribute(node_id)
        key = attribute.checkpoint_key
        shown = end_of(key, _MOST_OF_A_NAME)
        if not attribute.slices:
            return Words(f"The variable {shown} is saved under this name.", key=key)
        cut = attribute.slices[part]
        named = f"{readable(cut.variable)} is " if cut.variable else ""
        return Words(
            f"{named}slice {part + 1} of {len(attribute.slices)} of {shown}."
            if named
            else f"The tensor {shown} has slice {part + 1} of {len(attribute.slices)}.",
            "Partitions of one variable are saved as slices under one name, so that a restore can "
            "cut it in another way.",
            key=key,
        )


_WRITTEN_AS_V1 = Words(
    "The Saver writes all tensors to one file, in the V1 format.",
    "Files of this format are from before TensorFlow 1.0; they have no index of their own.",
)
_SAID: Mapping[SaveAction, Words] = {
    SaveAction.NAME: Words(
        "The Saver sorts its variables by name; it looks at no object.",
        "The name of the variable's operation is the key, such as dense/kernel. A dict gives "
        "other names.",
    ),
    SaveAction.WRITE: Words(
        "The Saver writes all tensors, in the order of their names, by one operation for each "
        "device.",
        "Without sharded=True there is one operation, and one data file.",
    ),
    SaveAction.MERGE: Words("The Saver merges the indexes of the data files into one."),
    SaveAction.STATE: Words(
        "The Saver lists the checkpoint in the file 'checkpoint', as the latest.",
        "It lists its last checkpoints there, at most max_to_keep. With write_state=False it lists "
        "none.",
    ),
    SaveAction.DELETE: Words(
        "If this Saver has written more than max_to_keep checkpoints, it deletes the oldest.",
        "It keeps one for ever after each keep_checkpoint_every_n_hours.",
    ),
    SaveAction.EXPORT: Words(
        "In graph mode, the Saver writes the program's graph to the file .meta.",
        "tf.compat.v1.train.import_meta_graph reads it. With write_meta_graph=False there is none.",
    ),
}
