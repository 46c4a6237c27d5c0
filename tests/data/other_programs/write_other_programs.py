"""Write small files of other programs, as these programs write them.

Each runs where its packages are installed, and writes beside this script:

    other/bin/python tests/data/other_programs/write_other_programs.py other
    python tests/data/other_programs/write_other_programs.py tensorflow

The first needs onnx, safetensors and msgpack, the second TensorFlow and Keras.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def other() -> None:
    """Write files of ONNX, safetensors and MessagePack with the arrays of Flax."""
    msgpack, onnx = import_module("msgpack"), import_module("onnx")
    safetensors, helper = import_module("safetensors.numpy"), onnx.helper
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "main", ends[:1], ends[1:])
    model = helper.make_model(graph, producer_name="pytorch", producer_version="2.1.0")
    onnx.save(model, HERE / "model.onnx")
    ones = np.ones(3, "float32")
    safetensors.save_file({"a.weight": ones}, HERE / "model.safetensors", {"format": "pt"})
    layer = {"kernel": np.ones((3, 2), "float32")}
    packed = msgpack.packb({"params": {"Dense_0": layer}}, default=_as_flax)
    (HERE / "flax.msgpack").write_bytes(packed)


def _as_flax(value: Any) -> Any:
    """Return an array as flax/serialization.py packs it."""
    msgpack = import_module("msgpack")
    parts = (value.shape, value.dtype.name, value.tobytes())
    return msgpack.ExtType(1, msgpack.packb(parts))


def tensorflow() -> None:
    """Write a TensorFlow Lite model, a frozen graph, events and a pickle."""
    import pickle

    import keras
    import tensorflow as tf
    from tensorflow.python.framework import convert_to_constants

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")])
    lite = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    (HERE / "model.tflite").write_bytes(lite)
    function = tf.function(model).get_concrete_function(tf.TensorSpec((None, 3)))
    frozen = convert_to_constants.convert_variables_to_constants_v2(function)
    (HERE / "frozen.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    writer = tf.summary.create_file_writer(str(HERE / "events"))
    writer.close()
    (events,) = (HERE / "events").iterdir()
    events.rename(HERE / "events.out.tfevents.1")
    (HERE / "events").rmdir()
    (HERE / "numpy.pkl").write_bytes(pickle.dumps({"w": np.ones(3)}))


if __name__ == "__main__":
    {"other": other, "tensorflow": tensorflow}[sys.argv[1]]()
