"""Reads a SavedModel's facts about the objects in its checkpoint: their kinds and classes.

`saved_model.pb` holds a SavedObjectGraph. Its nodes are those of the object graph in
`variables/variables`, id by id (tensorflow/core/protobuf/saved_object_graph.proto). The file also
holds the program itself, which this module skips. Keras 2 puts the classes of its objects into
`keras_metadata.pb` (keras/protobuf/saved_metadata.proto), before TensorFlow 2.5 into the objects'
own metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.formats.arrays.protos import KerasMetadata, SavedObjectGraph, parse
from ckpt_viz.formats.kinds.refusals import named_if_other
from ckpt_viz.formats.storage.files import is_file, join, open_file
from ckpt_viz.formats.storage.wire import fields

SAVED_MODEL = "saved_model.pb"
SAVED_MODEL_TEXT = "saved_model.pbtxt"
KERAS_METADATA = "keras_metadata.pb"
VARIABLES = ("variables", "variables")

_META_GRAPHS = 2  # a field of SavedModel
_OBJECT_GRAPH_DEF = 7  # a field of MetaGraphDef
_MAX_BYTES = 1 << 28  # 256 MiB; an object takes some 100 bytes
_MAX_PARTS = 100_000
_KINDS = {
    "asset": "Asset",
    "function": "Function",
    "bare_concrete_function": "ConcreteFunction",
    "constant": "Constant",
    "resource": "Resource",
    "captured_tensor": "CapturedTensor",
    "variable": "Variable",
}


@dataclass(frozen=True, slots=True)
class SavedObject:
    """One object of a SavedModel.

    `identifier` is TensorFlow's word for its kind (`_tf_keras_layer`, `trackable_list_wrapper`, ""
    for variables and the like). `class_name` is its class as far as the files give it, and `config`
    is its Keras configuration as JSON. `described` is all that Keras wrote of it, a dict of any
    content. `trainable` applies to a variable.
    """

    children: tuple[tuple[str, int], ...]
    identifier: str
    class_name: str | None
    config: str | None
    trainable: bool | None
    described: Mapping[str, Any]


def read_saved_model(directory: str) -> tuple[SavedObject, ...]:
    """Return the objects of a SavedModel, by node id.

    Returns no objects for a SavedModel without an object graph, as TensorFlow 1 wrote them, or in
    text form. Raises FormatError for a file of another kind.
    """
    path = join(directory, SAVED_MODEL)
    if not is_file(path):
        return ()
    with named_if_other(path, "a SavedModel"):
        graph = _object_graph(path)
    metadata = _keras_metadata(directory)
    return tuple(
        _saved_object(node, metadata.get(node_id, ""))
        for node_id, node in enumerate(graph.nodes if graph is not None else ())
    )


def _object_graph(path: str) -> Any | None:
    """Return the SavedObjectGraph of the first MetaGraphDef that has one."""
    seen = 0
    with open_file(path) as file:
        for number, start, size in fields(file, 0, file.size, "SavedModel"):
            if number != _META_GRAPHS:
                continue
            for part, offset, length in fields(file, start, start + size, "MetaGraphDef"):
                seen += 1
                if seen > _MAX_PARTS:
                    raise UnsupportedError(
                        f"{path}: its MetaGraphs have more than {_MAX_PARTS} fields, "
                        "expected some 50 in each"
                    )
                if part == _OBJECT_GRAPH_DEF:
                    _check_size(path, length)
                    data = file.read(offset, length)
                    return parse(SavedObjectGraph, data, f"{path}: object graph at byte {offset}")
    return None


def _keras_metadata(directory: str) -> Mapping[int, str]:
    path = join(directory, KERAS_METADATA)
    if not is_file(path):
        return {}
    with open_file(path) as file:
        _check_size(path, file.size)
        proto = parse(KerasMetadata, file.read(0, file.size), path)
    return {node.node_id: node.metadata for node in proto.nodes}


def _check_size(path: str, size: int) -> None:
    if size > _MAX_BYTES:
        raise UnsupportedError(
            f"{path}: the objects take {size} bytes, expected at most {_MAX_BYTES}"
        )


def _saved_object(proto: Any, metadata: str) -> SavedObject:
    is_user_object = proto.HasField("user_object")
    described = _described(metadata or proto.user_object.metadata)
    class_name, config = described.get("class_name"), described.get("config")
    kind = next((name for field, name in _KINDS.items() if proto.HasField(field)), None)
    return SavedObject(
        children=tuple((child.local_name, child.node_id) for child in proto.children),
        identifier=proto.user_object.identifier if is_user_object else "",
        class_name=(class_name if isinstance(class_name, str) else "")
        or proto.registered_name.rpartition(".")[2]
        or kind,
        config=json.dumps(config) if isinstance(config, dict) else None,
        trainable=proto.variable.trainable if proto.HasField("variable") else None,
        described=described,
    )


def _described(metadata: str) -> Mapping[str, Any]:
    """Return Keras' JSON; empty for anything else."""
    try:
        described = json.loads(metadata) if metadata else {}
    except (ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}
