"""What a file is: each refusal names the kind of the file, and the next step, by its content."""

from __future__ import annotations

import io
import json
import pickle
import shutil
import struct
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.kinds.pickles import pickle_kind
from ckpt_viz.formats.storage import files
from tests.support.tables import floats, write_bundle

WRITTEN = Path(__file__).parent / "data" / "other_programs"
# Of PyTorch by its format (torch/serialization.py): an OrderedDict with one tensor.
_STATE = (
    b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01X\x01\x00\x00\x00wctorch._utils\n"
    b"_rebuild_tensor_v2\n(tRs."
)
_TORCH_MAGIC = 0x1950A86A20F9469CFC6C


def _zip(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return packed.getvalue()


def _npz(**arrays: Any) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def _npy() -> bytes:
    packed = io.BytesIO()
    np.save(packed, np.ones(3))
    return packed.getvalue()


def _safetensors(header: Any) -> bytes:
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded


_KERAS_JSON = '{"class_name": "Sequential", "config": {}, "keras_version": "2.3.1"}'
KINDS = {
    "a page": (
        b"<!DOCTYPE html>\n<html><head><title>Virus scan warning</title>",
        "a web page (HTML) with the title 'Virus scan warning' instead of the file",
        "download the file itself",
    ),
    "a page without a title": (b"<HTML>", "a web page (HTML) instead of the file", "raw link"),
    "an error of a server": (b"404: Not Found", "a text that begins with '404: Not Found'", ""),
    "a model as JSON": (
        _KERAS_JSON.encode(),
        "the architecture of a Keras 2.3.1 model as JSON, without values",
        "model_from_json",
    ),
    "a list of shards": (b'{"weight_map": {"a": "b"}}', "a list of the shards of a model", ""),
    "a notebook": (b'{"cells": [], "nbformat": 4}', "a Jupyter notebook", ""),
    "any JSON": (b'{"a": 1}', "a JSON file without values", ""),
    "an array": (_npy(), "a NumPy array (.npy)", "numpy.load"),
    "arrays": (
        _npz(**{"model.d.kernel": np.ones(3), "b": np.ones(2)}),
        "a NumPy archive (.npz) of 2 arrays (model.d.kernel and b)",
        "read it with numpy.load('{path}')",
    ),
    "a pickle": (pickle.dumps([1, {}]), "a Python pickle", "runs code that the file chooses"),
    "an old pickle": (pickle.dumps([1, {}], 0), "a Python pickle", "only if you trust"),
    "a pickle of NumPy": (
        (WRITTEN / "numpy.pkl").read_bytes(),
        "a Python pickle with objects of numpy",
        "",
    ),
    "PyTorch": (
        _zip(m__data_dot_pkl=_STATE, m__version=b"3\n", m__data__0=bytes(4)),
        "a checkpoint of PyTorch",
        "torch.load('{path}', weights_only=True)",
    ),
    "TorchScript": (
        _zip(m__data_dot_pkl=_STATE, m__version=b"3\n", m__constants_dot_pkl=b"\x80\x02)."),
        "a TorchScript model of PyTorch",
        "torch.jit.load('{path}')",
    ),
    "PyTorch before 1.6": (
        pickle.dumps(_TORCH_MAGIC, 2) + pickle.dumps(1001, 2) + _STATE,
        "a checkpoint of PyTorch (before 1.6)",
        "torch.load('{path}', weights_only=True)",
    ),
    "safetensors": (
        (WRITTEN / "model.safetensors").read_bytes(),
        "a safetensors file of PyTorch of 1 tensor (a.weight)",
        "safetensors.numpy.load_file('{path}')",
    ),
    "safetensors of any program": (_safetensors({}), "a safetensors file", ""),
    "ONNX": (
        (WRITTEN / "model.onnx").read_bytes(),
        "an ONNX model of pytorch 2.1.0",
        "onnxruntime.InferenceSession('{path}')",
    ),
    "TensorFlow Lite": (
        (WRITTEN / "model.tflite").read_bytes(),
        "a TensorFlow Lite model of 1 subgraph (main) with 3 tensors, converted by TensorFlow",
        "tf.lite.Interpreter('{path}')",
    ),
    "a cut model of TensorFlow Lite": (
        (WRITTEN / "model.tflite").read_bytes()[:12],
        "a TensorFlow Lite model that is not whole",
        "download the file again",
    ),
    "Flax": (
        (WRITTEN / "flax.msgpack").read_bytes(),
        "a MessagePack file with 'params', as Flax writes checkpoints",
        "flax.serialization.msgpack_restore",
    ),
    "a frozen graph": (
        (WRITTEN / "frozen.pb").read_bytes(),
        "a graph of TensorFlow (GraphDef), such as a frozen model",
        "tf.import_graph_def",
    ),
    "a graph as text": (b'node {\n  name: "x"\n}', "a graph of TensorFlow as text", ""),
    "events": (
        (WRITTEN / "events.out.tfevents.1").read_bytes(),
        "a file of events for TensorBoard",
        "tensorboard --logdir",
    ),
    "a database": (b"SQLite format 3\0" + bytes(99), "an SQLite database", ""),
    "zeros": (bytes(200_000), "a file of zeros (200.0 kB)", "download the file again"),
    "a pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 123456\n",
        "a Git LFS pointer instead of the file of 123.5 kB",
        "run `git lfs pull`",
    ),
    "an archive": (
        _zip(run__ckpt_dot_index=b"x", a=b"y"),
        "a zip archive of 2 files (run/ckpt.index and a)",
        "python -m zipfile -e {path} .",
    ),
    "a model without weights": (
        _zip(config_dot_json=b"{}", metadata_dot_json=b'{"keras_version": "3.9.2"}'),
        "a model of Keras 3.9.2 without its weights (no model.weights.h5 in the archive)",
        "load_model and load_weights raise",
    ),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("called", ["model", "model.h5", "model.keras"])
def test_refusal_names_the_kind_of_the_file_by_its_content(
    name: str, called: str, tmp_path: Path
) -> None:
    content, what, advice = KINDS[name]
    path = tmp_path / called
    path.write_bytes(content)
    with pytest.raises(UnsupportedError) as caught:
        cv.graph(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: {what}")
    assert ", not a TensorFlow checkpoint; " in said
    assert advice.format(path=path) in said


def test_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.h5").touch()
    with pytest.raises(CheckpointNotFoundError, match=r"model\.h5: an empty file, not a T.*copy"):
        cv.graph(tmp_path / "model.h5")


def test_unknown_file_is_described_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"\xaa\x01\xfe" * 50)
    with pytest.raises(CheckpointNotFoundError, match="begins with the bytes aa 01 fe aa"):
        cv.graph(path)


@pytest.mark.parametrize("name", KINDS)
def test_kind_is_found_in_a_beginning_and_an_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = files._LocalFile._read

    def counted(self: Any, offset: int, size: int) -> bytes:
        read.append(size)
        return plain(self, offset, size)

    path = tmp_path / "model"
    content, what, _ = KINDS[name]
    end = content[-100:] if content.startswith(b"PK") else b""
    path.write_bytes(content)
    with path.open("ab") as file:
        if not end and not what.startswith("a safetensors"):
            file.truncate(1 << 30)
    monkeypatch.setattr(files._LocalFile, "_read", counted)
    with pytest.raises(CkptVizError):
        cv.graph(path)
    assert sum(read) < 2_000_000


@pytest.mark.parametrize("suffix", [".index", ".meta"])
@pytest.mark.parametrize("name", ["a page", "a pointer", "PyTorch"])
def test_part_of_a_checkpoint_that_is_something_else_is_named(
    name: str, suffix: str, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "ckpt", {"v": floats(1.0)})
    content, what, _ = KINDS[name]
    (tmp_path / f"ckpt{suffix}").write_bytes(content)
    if suffix == ".index":
        with pytest.raises(FormatError) as caught:
            cv.graph(tmp_path / "ckpt")
        assert str(caught.value).startswith(f"{tmp_path}/ckpt.index: {what}")
        return
    provenance = cv.graph(tmp_path / "ckpt").provenance
    assert provenance is not None
    assert f"ckpt.meta: {what}" in provenance.resolved


def test_file_in_a_directory_without_a_checkpoint_is_named(tmp_path: Path) -> None:
    shutil.copy(WRITTEN / "model.tflite", tmp_path)
    with pytest.raises(CheckpointNotFoundError, match=r"model\.tflite is a TensorFlow Lite model"):
        cv.graph(tmp_path)


def test_other_bytes_after_the_beginning_of_a_pickle_are_no_pickle() -> None:
    whole = pickle.dumps({"a": [1, 2, 3], "b": "text"}, 2)
    assert pickle_kind(whole, ends=True) is not None
    assert pickle_kind(whole[:-1] + b"\xff\xff\xff", ends=False) is None


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    """The file would write another one when it is loaded."""
    victim = tmp_path / "victim"

    class Attack:
        def __reduce__(self) -> Any:
            return open, (str(victim), "w")

    for protocol in range(6):
        (tmp_path / "model.pkl").write_bytes(pickle.dumps([Attack(), 1, 2], protocol))
        with pytest.raises(UnsupportedError, match="a Python pickle"):
            cv.graph(tmp_path / "model.pkl")
    assert not victim.exists()


# --- who wrote a file


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


def _model(keras: Any) -> Any:
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    return model


@pytest.mark.tf
@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_show_names_the_keras_that_saved_a_model(
    keras: ModuleType, name: str, tmp_path: Path
) -> None:
    _model(keras).save(tmp_path / name)
    provenance = cv.graph(tmp_path / name).provenance
    assert provenance is not None
    assert provenance.written_by.startswith(f"Keras {keras.__version__}")
    assert provenance.opened_by == f"{keras.__name__}.models.load_model"
    assert f"Keras {keras.__version__}" in str(cv.graph(tmp_path / name))
    assert provenance.opened_by in str(cv.graph(tmp_path / name))
    keras.models.load_model(tmp_path / name, compile=False)  # as was said


@pytest.mark.tf
def test_saved_model_names_what_opens_it_in_each_keras(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf
    import tf_keras

    _model(tf_keras).save(tmp_path / "of_2")
    _model(keras).export(tmp_path / "of_3", verbose=False)
    of_2, of_3 = (cv.graph(tmp_path / name).provenance for name in ("of_2", "of_3"))
    assert of_2 is not None
    assert of_3 is not None
    assert of_2.written_by == f"TensorFlow {tf.__version__} and Keras {tf_keras.__version__}"
    assert of_3.written_by == f"TensorFlow {tf.__version__}"
    for provenance, names in ((of_2, ("tf_keras.models.load_model",)), (of_3, ())):
        assert all(name in provenance.opened_by for name in (*names, "keras.layers.TFSMLayer"))
    tf_keras.models.load_model(tmp_path / "of_2")
    for name in ("of_2", "of_3"):
        layer = keras.layers.TFSMLayer(tmp_path / name, call_endpoint="serving_default")
        layer(np.ones((1, 3), "float32"))
    with pytest.raises(ValueError, match="Keras 3 only supports"):
        keras.models.load_model(tmp_path / "of_2")


@pytest.mark.tf
def test_advice_for_a_model_without_weights_works(keras: Any, tmp_path: Path) -> None:
    _model(keras).save(tmp_path / "whole.keras")
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(tmp_path / "whole.keras") as whole, zipfile.ZipFile(path, "w") as part:
        for name in ("metadata.json", "config.json"):
            part.writestr(name, whole.read(name))
    with pytest.raises(UnsupportedError) as caught:
        cv.graph(path)
    code = str(caught.value).rpartition(": ")[2]
    model = eval(code, {keras.__name__: keras, "zipfile": zipfile})
    assert model.count_params() == 8
    with pytest.raises((ValueError, KeyError, OSError)):
        keras.models.load_model(path)
    with pytest.raises((ValueError, KeyError, OSError)):
        model.load_weights(path)


@pytest.mark.tf
def test_name_based_checkpoint_names_its_tensorflow(tmp_path: Path) -> None:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable("v", 1)
        session.run(variable.initializer)
        tf.compat.v1.train.Saver().save(session, str(tmp_path / "c"))
    provenance = cv.graph(tmp_path / "c").provenance
    assert provenance is not None
    assert provenance.written_by == f"TensorFlow {tf.__version__}"
    assert "Saver.restore" in provenance.opened_by
