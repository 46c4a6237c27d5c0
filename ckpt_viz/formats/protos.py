"""The protocol buffers inside a checkpoint, declared at run time.

They live in a private pool: TensorFlow registers messages of the same names in
the default one, and generated code would tie us to one protobuf runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from ckpt_viz.errors import FormatError

# The fields that ckpt_viz reads, by number; others are skipped. Enums are int32,
# the same on the wire, so that values from a newer TensorFlow stay readable.
_MESSAGES: Mapping[str, Mapping[int, str]] = {
    # tensorflow/core/protobuf/tensor_bundle.proto
    "BundleHeaderProto": {
        1: "int32 num_shards",
        2: "int32 endianness",
        3: "VersionDef version",
    },
    "BundleEntryProto": {
        1: "int32 dtype",
        2: "bytes shape",  # a TensorShapeProto, parsed once per shape, not per tensor
        3: "int32 shard_id",
        4: "int64 offset",
        5: "int64 size",
        6: "fixed32 crc32c",
        7: "repeated TensorSliceProto slices",
    },
    # tensorflow/core/framework/versions.proto
    "VersionDef": {1: "int32 producer", 2: "int32 min_consumer"},
    # tensorflow/core/framework/tensor_shape.proto
    "TensorShapeProto": {2: "repeated Dim dim", 3: "bool unknown_rank"},
    "Dim": {1: "int64 size"},
    # tensorflow/core/framework/tensor_slice.proto; no length means the whole extent
    "TensorSliceProto": {1: "repeated Extent extent"},
    "Extent": {1: "int64 start", 2: "optional int64 length"},
    # tensorflow/core/protobuf/trackable_object_graph.proto
    "TrackableObjectGraph": {1: "repeated TrackableObject nodes"},
    "TrackableObject": {
        1: "repeated ObjectReference children",
        2: "repeated SerializedTensor attributes",
        3: "repeated SlotVariableReference slot_variables",
        4: "RegisteredSaver registered_saver",
        5: "BoolValue has_checkpoint_values",
    },
    "ObjectReference": {1: "int32 node_id", 2: "string local_name"},
    "SerializedTensor": {1: "string name", 2: "string full_name", 3: "string checkpoint_key"},
    "SlotVariableReference": {
        1: "int32 original_variable_node_id",
        2: "string slot_name",
        3: "int32 slot_variable_node_id",
    },
    "RegisteredSaver": {1: "string name", 2: "string object_name"},
    # google/protobuf/wrappers.proto
    "BoolValue": {1: "bool value"},
}


def _message_classes() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(
        name="ckpt_viz.proto", package="ckpt_viz", syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, declaration in fields.items():
            _add_field(message, number, declaration)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ckpt_viz.{name}"))
        for name in _MESSAGES
    }


def _add_field(message: descriptor_pb2.DescriptorProto, number: int, declaration: str) -> None:
    """Add a field, declared as in a .proto file: `[repeated | optional] type name`."""
    *label, kind, name = declaration.split()
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if label == ["repeated"] else field.LABEL_OPTIONAL
    if kind in _MESSAGES:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".ckpt_viz.{kind}"
    else:
        field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    if label == ["optional"]:  # in proto3: a oneof of this field alone
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")


_CLASSES = _message_classes()
BundleHeaderProto = _CLASSES["BundleHeaderProto"]
BundleEntryProto = _CLASSES["BundleEntryProto"]
TensorShapeProto = _CLASSES["TensorShapeProto"]
TrackableObjectGraph = _CLASSES["TrackableObjectGraph"]


def parse(message: type[Message], data: bytes, place: str) -> Any:
    """Return the message that the bytes encode; `place` says in errors where they stand.

    >>> parse(BundleHeaderProto, bytes([8, 3]), "ckpt-1.index: header").num_shards
    3
    """
    try:
        return message.FromString(data)
    # protobuf's parser in Python also lets these two out: for a string that is not
    # UTF-8, and (CVE-2025-4565) for groups nested too deep.
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        name = message.DESCRIPTOR.name
        raise FormatError(f"{place}: its {len(data)} bytes are not a {name}") from error
