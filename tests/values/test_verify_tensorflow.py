"""TensorFlow reads a tensor if and only if `verify` does not call it damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.formats.arrays.protos import BundleEntryProto, parse
from ckpt_viz.formats.storage.sstable import read_table
from ckpt_viz.formats.storage.table_writer import encode_table
from tests.check_rows.saving import tensors_of_version_1
from tests.support.damage import flipped, overwritten
from tests.support.oracle import raised_by
from tests.support.programs import save_by_name

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _tensors() -> dict[str, Any]:
    import tensorflow as tf

    values = tf.raw_ops.TensorListFromTensor(tensor=tf.ones([2, 2]), element_shape=tf.constant([2]))
    return {
        "bool": tf.constant([True, False]),
        "complex": tf.constant([1 + 2j]),
        "empty": tf.zeros([0, 3]),
        "half": tf.constant([1.5], tf.bfloat16),
        "no strings": tf.constant([], tf.string),
        "numbers": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "strings": tf.constant(["", "kernel", "x" * 200]),
        "variants": tf.stack([values, values]),
    }


def _raised(prefix: str, key: str, dtype: Any) -> str | None:
    """Return the class of what reading a tensor raises in TensorFlow."""
    import tensorflow as tf

    error = raised_by(
        lambda: tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=[key], shape_and_slices=[""], dtypes=[dtype]
        )
    )
    return None if error is None else type(error).__name__


def test_each_changed_byte_is_damage_for_tensorflow_too(tmp_path: Path) -> None:
    tensors = _tensors()
    prefix = save_by_name(tmp_path / "all", tensors)
    assert cv.graph(prefix).verify() == ()
    entries = cv.graph(prefix).stored_in.entries
    disagreeing = []
    for key, tensor in tensors.items():
        for at in range(entries[key].size):
            flipped(prefix, key, at)
            found = cv.graph(prefix).verify(progress=False)
            raised = _raised(prefix, key, tensor.dtype)
            flipped(prefix, key, at)
            ours = found[0].raises if found else None
            if [one.key for one in found] != [key] or ours != raised:
                disagreeing.append((key, at, found, raised))
    assert disagreeing == []


def test_lengths_are_judged_as_tensorflow_judges_them(tmp_path: Path) -> None:
    prefix = save_by_name(tmp_path / "strings", {"v": ["ab", "c" * 40]})
    whole = Path(f"{prefix}.data-00000-of-00001").read_bytes()
    for lengths in (b"\xff" * 30, b"\x80" * 11, b"\x80\x00", b"\x7f", b"\xff\xff\xff\xff\x0f"):
        overwritten(prefix, "v", 0, lengths)
        (found,) = cv.graph(prefix).verify()
        assert found.raises == _raised(prefix, "v", "string"), lengths
        Path(f"{prefix}.data-00000-of-00001").write_bytes(whole)


Rows = list[tuple[bytes, bytes]]


def _in_slices(at: Path) -> str:
    import tensorflow as tf

    prefix = str(at / "slices")
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=["v"] * 3,
        shape_and_slices=[f"6 2 {first},2:0,2" for first in (0, 2, 4)],
        tensors=[tf.ones([2, 2])] * 3,
    )
    return prefix


def test_slices_are_tested_each(tmp_path: Path) -> None:
    prefix = _in_slices(tmp_path)
    assert cv.graph(prefix).verify() == ()
    for part in range(3):
        flipped(prefix, "v", 3, part=part)
        (found,) = cv.graph(prefix).verify()
        assert found.key == "v" and found.raises == _raised(prefix, "v", "float32")
        flipped(prefix, "v", 3, part=part)


def _without_an_entry(rows: Rows) -> Rows:
    return [row for place, row in enumerate(rows) if place != 2]


def _with_a_shared_range(rows: Rows) -> Rows:
    return [*rows[:2], (rows[2][0], rows[1][1]), *rows[3:]]


def _with_two_slices_of_three(rows: Rows) -> Rows:
    entry = parse(BundleEntryProto, rows[-1][1], "entry")
    del entry.slices[1:2]
    return [*rows[:-1], (rows[-1][0], entry.SerializeToString())]


def _with_a_smaller_slice(rows: Rows) -> Rows:
    entry = parse(BundleEntryProto, rows[1][1], "entry")
    entry.size -= 4
    return [rows[0], (rows[1][0], entry.SerializeToString()), *rows[2:]]


@pytest.mark.parametrize(
    "change",
    [
        _without_an_entry,
        _with_a_shared_range,
        _with_two_slices_of_three,
        _with_a_smaller_slice,
    ],
)
def test_slices_of_a_forged_index_are_judged_as_tensorflow_judges_them(
    tmp_path: Path, change: Callable[[Rows], Rows]
) -> None:
    prefix = _in_slices(tmp_path)
    index = Path(f"{prefix}.index")
    rows = change(list(read_table(index.read_bytes(), str(index))))
    index.write_bytes(b"".join(encode_table(rows)))
    found = cv.graph(prefix).verify()
    assert [one.raises for one in found] == [_raised(prefix, "v", "float32")][: len(found)]
    assert bool(found) == (_raised(prefix, "v", "float32") is not None)


def test_file_of_version_1_is_tested_by_its_blocks(tmp_path: Path) -> None:
    values = np.ones(200_000, "float32")
    prefix = tensors_of_version_1(tmp_path, u=[1.0, 2.0], v=values, w=values)
    assert cv.graph(prefix).verify() == ()
    whole = Path(prefix).read_bytes()
    for at, key in ((500_000, "v"), (1_200_000, "w")):
        Path(prefix).write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        found = cv.graph(prefix).verify()
        assert [(one.key, one.raises) for one in found] == [(key, "InvalidArgumentError")]
        raised = {name: _raised(prefix, name, "float32") for name in "uvw"}
        assert raised == dict.fromkeys("uvw") | {key: "InvalidArgumentError"}


def test_names_are_those_of_the_nodes_in_the_order_of_the_outline(tmp_path: Path) -> None:
    import tensorflow as tf

    model = tf.Module()
    model.z, model.a = tf.Variable([1.0]), tf.Variable(["name"])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
    prefix = tf.train.Checkpoint(model=model, table=table).save(str(tmp_path / "ckpt"))
    graph = cv.graph(prefix)
    for key in graph.stored_in.entries:
        flipped(prefix, key, -1)
    with pytest.raises(cv.FormatError):
        cv.graph(prefix)  # the object graph is damaged, too
    flipped(prefix, "_CHECKPOINTABLE_OBJECT_GRAPH", -1)
    graph = cv.graph(prefix)
    flipped(prefix, "_CHECKPOINTABLE_OBJECT_GRAPH", -1)
    assert [(one.key.partition("/.A")[0], one.name) for one in graph.verify()] == [
        ("model/z", "(root).model.z"),
        ("model/a", "(root).model.a"),
        ("table", "(root).table"),
        ("table", "(root).table"),
        ("save_counter", "(root).save_counter"),
        ("_CHECKPOINTABLE_OBJECT_GRAPH", None),
    ]


def test_live_objects_have_no_checksums() -> None:
    import tensorflow as tf

    with pytest.raises(cv.SourceError, match="save the objects"):
        cv.graph(tf.train.Checkpoint(v=tf.Variable(1.0))).verify()
