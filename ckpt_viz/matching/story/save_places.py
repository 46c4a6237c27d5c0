"""Where in TensorFlow's code each step of a save is."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save_order import SaveAction
from ckpt_viz.matching.story.save_steps import tensorflow_place

_VIEW, _UTIL = "checkpoint.trackable_view", "checkpoint.save_util"
_WALK = "TrackableView._descendants_with_paths"
_GATHER = "_gather_trackable_data"
_SHARDS = "checkpoint.functional_saver"
_CHECKPOINT = "checkpoint.checkpoint"
OF_ROOT = tensorflow_place(_VIEW, _WALK, "deque")
OF_OTHER_VALUE = tensorflow_place(
    _UTIL, "_get_and_write_tensors_to_serialize", "trackable_has_serialize_to_tensor"
)
OF_MANAGERS_COUNT = tensorflow_place(
    "checkpoint.checkpoint_management", "CheckpointManager.save", "assign_add"
)
PLACES: Mapping[SaveAction, TensorFlowPlace] = {
    SaveAction.MAKE: tensorflow_place(
        _CHECKPOINT, "Checkpoint._maybe_create_save_counter", "add_variable"
    ),
    SaveAction.COUNT: tensorflow_place(_CHECKPOINT, "Checkpoint.save", "assign_add"),
    SaveAction.FIND: tensorflow_place(_VIEW, _WALK, "TrackableReference"),
    SaveAction.MEET: tensorflow_place(_VIEW, _WALK, "if"),
    SaveAction.LEAVE: tensorflow_place(_VIEW, "TrackableView.children", "_trackable_children"),
    SaveAction.NAME: tensorflow_place(_UTIL, _GATHER, "object_path_to_string"),
    SaveAction.NUMBER: tensorflow_place(_UTIL, _GATHER, "enumerate"),
    SaveAction.SLOT: tensorflow_place(
        "checkpoint.util", "serialize_slot_variables", "slot_variable_key"
    ),
    SaveAction.EDGES: tensorflow_place(_UTIL, _GATHER, "list_children"),
    SaveAction.KEY: tensorflow_place(_UTIL, "_get_tensors_from_trackable", "checkpoint_key"),
    SaveAction.SAVER: tensorflow_place(_UTIL, "_get_and_write_registered_savers", "for"),
    SaveAction.MARK: tensorflow_place("checkpoint.util", "add_checkpoint_values_check", "bool"),
    SaveAction.GRAPH: tensorflow_place(
        _CHECKPOINT, "TrackableSaver._gather_serialized_tensors", "SerializeToString"
    ),
    SaveAction.RUN: tensorflow_place(_SHARDS, "MultiDeviceSaver.save", "registered_saver_filename"),
    SaveAction.WRITE: tensorflow_place(_SHARDS, "_single_shard_save", "save_v2"),
    SaveAction.MERGE: tensorflow_place(_SHARDS, "MultiDeviceSaver.save", "merge_v2_checkpoints"),
    SaveAction.STATE: tensorflow_place(
        _CHECKPOINT, "_update_checkpoint_state_internal", "update_checkpoint_state_internal"
    ),
    SaveAction.EXPORT: tensorflow_place(
        "saved_model.save", "save_and_return_nodes", "atomic_write_string_to_file"
    ),
    SaveAction.FAIL: tensorflow_place(_VIEW, "TrackableView.children", "_trackable_children"),
}
