from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.protos import (
    BundleEntryProto,
    BundleHeaderProto,
    CheckpointState,
    CollectionDefEntry,
    KerasMetadata,
    SavedObjectGraph,
    SavedTensorSlices,
    TensorShapeProto,
    TrackableObjectGraph,
    VariableDef,
    VariantTensorDataProto,
    parse,
)
from tests.support.tables import field

MESSAGES = [
    BundleHeaderProto,
    BundleEntryProto,
    CheckpointState,
    CollectionDefEntry,
    KerasMetadata,
    SavedObjectGraph,
    SavedTensorSlices,
    TensorShapeProto,
    TrackableObjectGraph,
    VariableDef,
    VariantTensorDataProto,
]


def run(program: str, stdin: str = "", **environment: str) -> str:
    """Run a program in a new interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        input=stdin,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_object_graph_is_read_from_its_wire_format() -> None:
    child = field(1, 1) + field(2, b"kernel")
    attribute = field(1, b"VARIABLE_VALUE") + field(2, b"dense/kernel") + field(3, b"kernel/.A")
    slot = field(1, 1) + field(2, b"m") + field(3, 2)
    root = field(1, child) + field(3, slot)
    variable = field(2, attribute) + field(5, field(1, 1))
    saver = field(4, field(1, b"custom") + field(2, b"table"))
    graph = parse(TrackableObjectGraph, field(1, root) + field(1, variable) + field(1, saver), "x")
    assert [(c.node_id, c.local_name) for c in graph.nodes[0].children] == [(1, "kernel")]
    assert [(a.name, a.full_name, a.checkpoint_key) for a in graph.nodes[1].attributes] == [
        ("VARIABLE_VALUE", "dense/kernel", "kernel/.A")
    ]
    assert [
        (s.original_variable_node_id, s.slot_name, s.slot_variable_node_id)
        for s in graph.nodes[0].slot_variables
    ] == [(1, "m", 2)]
    assert (graph.nodes[2].registered_saver.name, graph.nodes[2].registered_saver.object_name) == (
        "custom",
        "table",
    )
    has_values = [n.HasField("has_checkpoint_values") for n in graph.nodes]
    assert has_values == [False, True, False]
    assert graph.nodes[1].has_checkpoint_values.value


def test_slice_without_a_length_differs_from_one_of_length_0() -> None:
    extents = field(1, field(1, 0)) + field(1, field(2, 0))
    entry = parse(BundleEntryProto, field(7, extents), "x")
    assert [extent.HasField("length") for extent in entry.slices[0].extent] == [False, True]


def test_fields_of_a_newer_tensorflow_are_skipped() -> None:
    assert parse(BundleHeaderProto, field(1, 2) + field(99, b"new"), "x").num_shards == 2


HOSTILE = {
    "a string that is not UTF-8": (TrackableObjectGraph, field(1, field(1, field(2, b"\xff")))),
    "a length past the end": (TrackableObjectGraph, b"\x0a\x7f"),
    "a varint that never ends": (BundleHeaderProto, b"\x08" + b"\xff" * 20),
    "groups nested 100,000 deep": (BundleEntryProto, b"\x0b" * 100_000),
    "field number 0": (BundleHeaderProto, b"\x00\x00"),
}


@pytest.mark.parametrize(("message", "data"), HOSTILE.values(), ids=HOSTILE.keys())
def test_undecodable_bytes_name_their_place(message: Any, data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        parse(message, data, "x.index: entry 'k'")
    assert str(caught.value) == (
        f"x.index: entry 'k': its {len(data)} bytes are not a {message.DESCRIPTOR.name}"
    )


def test_undecodable_bytes_are_our_error_in_the_python_parser_too() -> None:
    program = """
import sys
from google.protobuf.internal import api_implementation
from ckpt_viz.formats.arrays import protos
from ckpt_viz.errors import FormatError
assert api_implementation.Type() == "python"
for line in sys.stdin:
    name, data = line.split()
    try:
        protos.parse(getattr(protos, name), bytes.fromhex(data), "x")
    except FormatError:
        print("refused")
"""
    cases = [f"{message.DESCRIPTOR.name} {data.hex()}\n" for message, data in HOSTILE.values()]
    printed = run(program, "".join(cases), PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python")
    assert printed == "refused\n" * len(cases)


@given(st.sampled_from(MESSAGES), st.binary())
def test_any_bytes_give_a_message_or_our_error(message: Any, data: bytes) -> None:
    try:
        parse(message, data, "x")
    except FormatError as error:
        assert str(error).startswith("x: ")


@pytest.mark.tf
def test_declarations_are_those_of_tensorflow() -> None:
    from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2, variable_pb2
    from tensorflow.core.protobuf import (
        meta_graph_pb2,
        saved_object_graph_pb2,
        tensor_bundle_pb2,
        trackable_object_graph_pb2,
    )
    from tensorflow.core.util import saved_tensor_slice_pb2
    from tensorflow.python.training import checkpoint_state_pb2
    from tf_keras.protobuf import saved_metadata_pb2

    pairs = [
        (BundleHeaderProto, tensor_bundle_pb2.BundleHeaderProto),
        (BundleEntryProto, tensor_bundle_pb2.BundleEntryProto),
        (TensorShapeProto, tensor_shape_pb2.TensorShapeProto),
        (TrackableObjectGraph, trackable_object_graph_pb2.TrackableObjectGraph),
        (SavedTensorSlices, saved_tensor_slice_pb2.SavedTensorSlices),
        (CollectionDefEntry, meta_graph_pb2.MetaGraphDef.CollectionDefEntry),
        (VariableDef, variable_pb2.VariableDef),
        (VariantTensorDataProto, tensor_pb2.VariantTensorDataProto),
        (CheckpointState, checkpoint_state_pb2.CheckpointState),
        (SavedObjectGraph, saved_object_graph_pb2.SavedObjectGraph),
        (KerasMetadata, saved_metadata_pb2.SavedMetadata),
    ]
    queue = [(ours.DESCRIPTOR, theirs.DESCRIPTOR) for ours, theirs in pairs]
    compared = set()
    while queue:
        ours, theirs = queue.pop()
        compared.add(ours.name)
        assert wire_format(ours).items() <= wire_format(theirs).items()
        for declared in ours.fields:
            if declared.message_type:
                other = theirs.fields_by_number[declared.number]
                queue.append((declared.message_type, other.message_type))
    assert compared == set(TrackableObjectGraph.DESCRIPTOR.file.message_types_by_name)


def wire_format(message: Any) -> dict[int, tuple[str, int, int]]:
    """Return name, label and type of each field, by number, alike where encoded alike."""
    proto = DescriptorProto()
    message.CopyToProto(proto)
    alike = {
        FieldDescriptorProto.TYPE_ENUM: FieldDescriptorProto.TYPE_INT32,
        FieldDescriptorProto.TYPE_MESSAGE: FieldDescriptorProto.TYPE_BYTES,
        FieldDescriptorProto.TYPE_STRING: FieldDescriptorProto.TYPE_BYTES,
    }
    return {f.number: (f.name, f.label, alike.get(f.type, f.type)) for f in proto.field}


@pytest.mark.tf
@pytest.mark.parametrize(
    "program",
    [
        "import ckpt_viz.formats.arrays.protos, tensorflow.core.protobuf.tensor_bundle_pb2",
        "import tensorflow.core.protobuf.tensor_bundle_pb2, ckpt_viz.formats.arrays.protos",
    ],
    ids=["after", "before"],
)
def test_tensorflow_can_be_imported_after_and_before(program: str) -> None:
    run(program, TF_CPP_MIN_LOG_LEVEL="3")
