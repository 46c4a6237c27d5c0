"""The protocol buffers inside a checkpoint, declared at run time.

They are in a private pool, because TensorFlow registers messages of the same names in the default
one. Generated code would tie us to one protobuf runtime.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from ckpt_viz.errors import FormatError

# The fields that ckpt_viz reads, by number; it skips others. Enums are int32, which is the same on
# the wire, so that values from a newer TensorFlow remain readable.
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
    # tensorflow/core/protobuf/meta_graph.proto; an entry of its map collection_def
    "CollectionDefEntry": {1: "string key", 2: "CollectionDef value"},
    "CollectionDef": {1: "NodeList node_list", 2: "BytesList bytes_list"},
    "NodeList": {1: "repeated string value"},
    "BytesList": {1: "repeated bytes value"},
    # tensorflow/core/framework/variable.proto
    "VariableDef": {
        1: "string variable_name",
        4: "SaveSliceInfoDef save_slice_info_def",
        7: "bool trainable",
    },
    "SaveSliceInfoDef": {
        1: "string full_name",
        2: "repeated int64 full_shape",
        3: "repeated int64 var_offset",
        4: "repeated int64 var_shape",
    },
    # tensorflow/core/util/saved_tensor_slice.proto; the table of contents may be long
    "SavedTensorSlices": {1: "SavedTensorSliceMeta meta", 2: "SavedSlice data"},
    "SavedTensorSliceMeta": {1: "repeated SavedSliceMeta tensor", 2: "VersionDef versions"},
    "SavedSliceMeta": {
        1: "bytes name",  # a string, not always of UTF-8
        2: "bytes shape",
        3: "int32 type",
        4: "repeated TensorSliceProto slice",
    },
    "SavedSlice": {3: "TensorProto data"},
    # tensorflow/core/framework/tensor.proto
    "TensorProto": {
        4: "bytes tensor_content",
        5: "repeated float float_val",
        6: "repeated double double_val",
        7: "repeated int32 int_val",
        8: "repeated bytes string_val",
        9: "repeated float scomplex_val",
        10: "repeated int64 int64_val",
        11: "repeated bool bool_val",
        12: "repeated double dcomplex_val",
        13: "repeated int32 half_val",
        16: "repeated uint32 uint32_val",
        17: "repeated uint64 uint64_val",
    },
    "VariantTensorDataProto": {
        1: "string type_name",
        2: "bytes metadata",
        3: "repeated TensorProto tensors",
    },
    # tensorflow/python/training/checkpoint_state.proto
    "CheckpointState": {
        1: "string model_checkpoint_path",
        2: "repeated string all_model_checkpoint_paths",
        3: "repeated double all_model_checkpoint_timestamps",
        4: "double last_preserved_timestamp",
    },
    # tensorflow/core/protobuf/saved_object_graph.proto; for most kinds only the presence counts
    "SavedObjectGraph": {1: "repeated SavedObject nodes"},
    "SavedObject": {
        1: "repeated ObjectReference children",
        4: "SavedUserObject user_object",
        5: "optional bytes asset",
        6: "optional bytes function",
        7: "SavedVariable variable",
        8: "optional bytes bare_concrete_function",
        9: "optional bytes constant",
        10: "optional bytes resource",
        12: "optional bytes captured_tensor",
        13: "string registered_name",
    },
    "SavedUserObject": {1: "string identifier", 3: "string metadata"},
    "SavedVariable": {3: "bool trainable"},
    # keras/protobuf/saved_metadata.proto
    "KerasMetadata": {1: "repeated KerasObject nodes"},
    "KerasObject": {2: "int32 node_id", 4: "string identifier", 5: "string metadata"},
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
    if label == ["optional"]:  # in proto3: a oneof with only this field
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")


_CLASSES = _message_classes()
BundleHeaderProto = _CLASSES["BundleHeaderProto"]
BundleEntryProto = _CLASSES["BundleEntryProto"]
TensorShapeProto = _CLASSES["TensorShapeProto"]
SavedTensorSlices = _CLASSES["SavedTensorSlices"]
TrackableObjectGraph = _CLASSES["TrackableObjectGraph"]
CollectionDefEntry = _CLASSES["CollectionDefEntry"]
VariableDef = _CLASSES["VariableDef"]
VariantTensorDataProto = _CLASSES["VariantTensorDataProto"]
CheckpointState = _CLASSES["CheckpointState"]
SavedObjectGraph = _CLASSES["SavedObjectGraph"]
KerasMetadata = _CLASSES["KerasMetadata"]


_PARSED_BYTES = 8  # of memory for a message, for each byte of its encoding


def parse(message: type[Message], data: bytes, place: str) -> Any:
    """Return the message that the bytes encode; `place` names their source in errors.

    >>> parse(BundleHeaderProto, bytes([8, 3]), "ckpt-1.index: header").num_shards
    3
    """
    try:
        return message.FromString(data)
    # protobuf's parser in Python also raises these two errors: for a string that is not UTF-8, and
    # (CVE-2025-4565) for too deeply nested groups.
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        # protobuf reports a lack of memory as such an error, too. Then this raises MemoryError.
        bytearray(_PARSED_BYTES * len(data))
        name = message.DESCRIPTOR.name
        raise FormatError(f"{place}: its {len(data)} bytes are not a {name}") from error


# The flat part of the text format of messages: `name: "text"` and `name: 1.5`; text in braces is
# skipped. Every pattern takes time in proportion to the text that it looks at.
_GAP = re.compile(rb"(?:[\s,;]|#[^\n]*)*")
_QUOTED = rb"""(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"""
_TEXT_FIELD = re.compile(rb"([A-Za-z_]\w*)\s*:\s*(?:(%b)|([-+.\w]+))" % _QUOTED)
_BRACE = re.compile(rb"[A-Za-z_]\w*\s*(?::\s*)?([{<])|[}>]")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))


def parse_text(message: type[Message], text: bytes, place: str) -> Any:
    """Return the flat message that a text file spells out; ignore unknown fields.

    This is not protobuf's own parser, which takes a minute for 100 kB of backslashes, and for 300
    kB on one line.

    >>> parse_text(CheckpointState, b'model_checkpoint_path: "ckpt-3"', "checkpoint")
    model_checkpoint_path: "ckpt-3"
    <BLANKLINE>
    """
    parsed = message()
    depth, position = 0, _end_of_gap(text, 0)
    try:
        while position < len(text):
            brace = _BRACE.match(text, position)
            if brace is None:
                end = _read_text_field(None if depth else parsed, text, position)
            else:
                depth, end = depth + (1 if brace[1] else -1), brace.end()
            if depth < 0:
                raise ValueError("a brace that closes nothing")
            position = _end_of_gap(text, end)
        if depth:
            raise ValueError("a brace that is not closed")
    except ValueError as error:  # includes UnicodeDecodeError
        name = message.DESCRIPTOR.name
        raise FormatError(
            f"{place}: its {len(text)} bytes are not a {name} as text: at byte {position} "
            f"found {text[position : position + 40]!r}, expected a field"
        ) from error
    return parsed


def _end_of_gap(text: bytes, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap is not None else position


def _read_text_field(message: Message | None, text: bytes, position: int) -> int:
    """Put the field at a position into the message, if any; return the position after it."""
    match = _TEXT_FIELD.match(text, position)
    if match is None:
        raise ValueError("expected a field")
    name, quoted, number = match[1].decode(), match[2], match[3]
    field = message.DESCRIPTOR.fields_by_name.get(name) if message is not None else None
    if message is None or field is None:
        return match.end()
    if (field.type == field.TYPE_STRING) != (quoted is not None):
        raise ValueError("expected a value of the other kind")
    value = float(number) if quoted is None else _ESCAPE.sub(_unescaped, quoted[1:-1]).decode()
    if isinstance(getattr(message, name), (str, float)):
        setattr(message, name, value)
    else:
        getattr(message, name).append(value)
    return match.end()


def _unescaped(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, other = escape.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    return bytes([_ESCAPED.get(other[0], other[0])])
