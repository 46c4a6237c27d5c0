"""The facts about variables in a `.meta` file, and the errors for other files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.bundles import meta_graph
from ckpt_viz.formats.bundles.meta_graph import MetaVariable, SaveSlice, open_meta_graph
from tests.support.counted import bytes_of
from tests.support.tables import field, varint


def variable(name: str, *, trainable: bool = False, part: bytes = b"") -> bytes:
    """A VariableDef."""
    encoded = field(1, name.encode()) + field(2, b"not needed") + field(7, int(trainable))
    return encoded + field(4, part) if part else encoded


def collection(key: str, variables: Iterable[bytes] = (), names: Iterable[str] = ()) -> bytes:
    """The field of a MetaGraphDef that holds a collection."""
    nodes = b"".join(field(1, name.encode()) for name in names)
    value = field(2, b"".join(field(1, one) for one in variables)) if variables else b""
    value += field(1, nodes) if nodes else b""
    return field(4, field(1, key.encode()) + field(2, value))


def write(directory: Path, *fields: bytes) -> str:
    path = directory / "ckpt.meta"
    path.write_bytes(b"".join(fields))
    return str(path)


def test_variables_are_those_of_the_collections(tmp_path: Path) -> None:
    w, step = variable("a/w:0", trainable=True), variable("global_step:0")
    path = write(
        tmp_path,
        field(1, b"meta info"),
        field(2, b"the graph"),
        collection("variables", [w, step]),
        collection("trainable_variables", [w]),
        collection("mine", names=["a/w:0", "other:0"]),
        collection("global_step", [step]),
    )
    assert open_meta_graph(path).variables == (
        MetaVariable("a/w", True, ("mine", "trainable_variables", "variables")),
        MetaVariable("global_step", False, ("global_step", "variables")),
    )


def test_partition_says_where_it_lies(tmp_path: Path) -> None:
    part = field(1, b"a/w") + field(2, 5) + field(2, 3) + field(3, 3) + field(3, 0)
    part += field(4, 2) + field(4, 3)
    path = write(tmp_path, collection("variables", [variable("a/w/part_1:0", part=part)]))
    (found,) = open_meta_graph(path).variables
    assert found.save_slice == SaveSlice("a/w", (5, 3), start=(3, 0), shape=(2, 3))
    assert found.saved_as == "a/w"


def test_before_tensorflow_1_11_only_the_collection_says_trainable(tmp_path: Path) -> None:
    path = write(tmp_path, collection("trainable_variables", [variable("w:0")]))
    assert [found.trainable for found in open_meta_graph(path).variables] == [True]


def test_collections_of_other_messages_are_no_variables(tmp_path: Path) -> None:
    path = write(tmp_path, collection("cond_context", [variable("cond")]))
    assert open_meta_graph(path).variables == ()


def test_graph_is_skipped_without_being_read(tmp_path: Path) -> None:
    size = 1 << 30
    path = tmp_path / "big.meta"
    with path.open("wb") as file:
        file.write(varint(2 << 3 | 2) + varint(size))
        file.seek(size, 1)  # a hole, which takes no space
        file.write(collection("variables", [variable("w:0")]))
    assert [found.name for found in open_meta_graph(str(path)).variables] == ["w"]
    assert bytes_of(lambda: open_meta_graph(str(path))) < size // 1_000


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match=r"none\.meta: no such file; expected the Me"):
        open_meta_graph(str(tmp_path / "none.meta"))


SLICE_OF_TWO_RANKS = field(1, b"w") + field(2, 5) + field(3, 1) + field(3, 2) + field(4, 1)

HOSTILE = {
    "empty": (b"", FormatError, r"ckpt\.meta: an empty file, expected a MetaGraphDef; copy"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\n", FormatError, r"git lfs pull"),
    "text": (b"meta_info_def {\n}\n", UnsupportedError, r"as text, expected a binary one"),
    "cut": (
        field(2, b"the graph")[:-1],
        FormatError,
        r"field at offset 0: ends at byte 11, expected at most 10.*the copy is probably partial$",
    ),
    "a length of 2**63": (varint(2 << 3 | 2) + varint(1 << 63), FormatError, r"ends at byte \d+"),
    "a tag that never ends": (b"\xff" * 30, FormatError, r"offset 0: the varint"),
    "field 0": (b"\x00\x00", FormatError, r"its tag is 0, expected that of a MetaGraphDef's"),
    "a group": (b"\x0b", FormatError, r"its tag is 11"),
    "cut in a tag": (field(1, b"x") + b"\x80", FormatError, r"offset 3: the varint"),
    "no collection": (field(4, b"\xff"), FormatError, r"collection at offset 2: its 1 bytes"),
    "no variable": (collection("variables", [b"\xff"]), FormatError, r"collection 'variables': "),
    "a slice of two ranks": (
        collection("variables", [variable("w:0", part=SLICE_OF_TWO_RANKS)]),
        FormatError,
        r"variable 'w:0': is the part 1 at \(1, 2\) of 5, expected three of one rank",
    ),
    "a million fields": (b"\x08\x00" * 1_000_000, UnsupportedError, r"more than 100000 fields"),
}


@pytest.mark.parametrize(("data", "error", "said"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_wrong_is_named(
    tmp_path: Path, data: bytes, error: type[Exception], said: str
) -> None:
    path = write(tmp_path, data)
    with pytest.raises(error, match=said) as caught:
        open_meta_graph(path)
    assert str(caught.value).startswith(path)


def test_more_collections_than_memory_holds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meta_graph, "MAX_COLLECTION_BYTES", 100)
    path = write(tmp_path, *[collection("variables", [variable("w" * 60 + ":0")])] * 2)
    with pytest.raises(UnsupportedError, match="the collections have more than 100 bytes"):
        open_meta_graph(path)


@given(data=st.binary())
def test_any_bytes_give_variables_or_our_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = write(tmp_path_factory.getbasetemp(), data)
    try:
        open_meta_graph(path)
    except CkptVizError as error:
        assert str(error).startswith(path)


@pytest.mark.tf
@pytest.mark.parametrize("use_resource", [False, True])
def test_tensorflows_own_meta_graph(tmp_path: Path, use_resource: bool) -> None:
    import tensorflow as tf

    v1: Any = tf.compat.v1
    with tf.Graph().as_default() as graph:
        w = v1.get_variable("w", (5, 3), partitioner=v1.fixed_size_partitioner(2))
        b = v1.get_variable(
            "b", (), trainable=False, use_resource=use_resource, collections=["variables", "mine"]
        )
        v1.get_variable("seen", (), trainable=False, collections=["local_variables"])
        v1.train.create_global_step()
        v1.train.ExponentialMovingAverage(0.9).apply([b])
        v1.train.Saver()
        path = str(tmp_path / "tf.meta")
        v1.train.export_meta_graph(path, graph=graph)
        expected = {
            variable.op.name: (variable.trainable, variable._save_slice_info)
            for key in ("variables", "local_variables")
            for variable in graph.get_collection(key)
        }
        collections = {
            name: tuple(
                sorted(
                    key
                    for key in graph.get_all_collection_keys()
                    if any(getattr(v, "name", "") == f"{name}:0" for v in graph.get_collection(key))
                )
            )
            for name in expected
        }
        assert len(list(w)) == 2
    found = {variable.name: variable for variable in open_meta_graph(path).variables}
    assert found.keys() == expected.keys()
    for name, (trainable, info) in expected.items():
        assert (found[name].trainable, found[name].collections) == (trainable, collections[name])
        assert (found[name].save_slice is None) == (info is None)
        if info is not None:
            assert found[name].save_slice == SaveSlice(
                info.full_name,
                tuple(info.full_shape),
                tuple(info.var_offset),
                tuple(info.var_shape),
            )
    assert found["b"].collections == ("mine", "moving_average_variables", "variables")


@pytest.mark.tf
def test_text_that_tensorflow_exports_is_refused_by_name(tmp_path: Path) -> None:
    import tensorflow as tf

    path = str(tmp_path / "tf.pbtxt")
    with tf.Graph().as_default() as graph:
        tf.compat.v1.get_variable("w", ())
        tf.compat.v1.train.export_meta_graph(path, graph=graph, as_text=True)
    with pytest.raises(UnsupportedError, match="is a MetaGraphDef as text"):
        open_meta_graph(path)
