"""Checkpoints with damaged or missing files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.check_rows.objects import named_v
from tests.check_rows.saving import in_two_shards, tensors_of_version_1
from tests.check_rows.table import Pair, Topic
from tests.support.programs import ckpt, saved, tensors, var

row = Topic()


def _broken(at: Path, change: Callable[[Path, Path], object], **children: Any) -> str:
    """Save a checkpoint and change its index and its data."""
    path = saved(at, **(children or {"v": var()}))
    change(Path(f"{path}.index"), Path(f"{path}.data-00000-of-00001"))
    return path


def _live() -> Any:
    return ckpt(v=var())


_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"


@row(raises="NotFoundError")
def index_is_gone(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: index.unlink()), _live)


@row(raises="OpError")
def data_is_gone(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: data.unlink()), _live)


@row(raises="OpError")
def data_is_gone_read(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: data.unlink()), _live, "read")


@row(raises="OpError")
def index_is_empty(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: index.write_bytes(b"")), _live)


def _cut(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])


@row(raises="OpError")
def index_is_short(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: _cut(index, 100)), _live)


@row(raises="OpError")
def index_is_a_git_lfs_pointer(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: _write(index, _POINTER)), _live)


@row(raises="IndexError")
def data_is_a_git_lfs_pointer(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: _write(data, _POINTER)), _live)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


@row(raises="IndexError")
def data_is_empty(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: data.write_bytes(b"")), _live)


@row(raises="IndexError")
def data_is_cut_before_the_object_graph(at: Path) -> Pair:
    return Pair(_broken(at, lambda index, data: _cut(data, 20)), _live)


@row(raises="IndexError")
def data_is_cut_within_the_object_graph(at: Path) -> Pair:
    def cut(index: Path, data: Path) -> None:
        _cut(data, data.stat().st_size - 3)

    return Pair(_broken(at, cut), _live)


@row(raises="OpError")
def object_graph_is_damaged(at: Path) -> Pair:
    def damage(index: Path, data: Path) -> None:
        content = bytearray(data.read_bytes())
        content[content.index(b"VARIABLE_VALUE")] ^= 1
        data.write_bytes(bytes(content))

    return Pair(_broken(at, damage), _live)


@row(raises="OpError")
def index_is_damaged(at: Path) -> Pair:
    def damage(index: Path, data: Path) -> None:
        content = bytearray(index.read_bytes())
        content[5] ^= 1
        index.write_bytes(bytes(content))

    return Pair(_broken(at, damage), _live)


@row(raises="OpError")
def checkpoint_is_still_being_written(at: Path) -> Pair:
    def to_temporary(index: Path, data: Path) -> None:
        (at / "ckpt-1_temp").mkdir()
        data.rename(at / "ckpt-1_temp" / "part-00000-of-00001.data-00000-of-00001")

    return Pair(_broken(at, to_temporary), _live)


@row()
def two_shards(at: Path) -> Pair:
    return Pair(in_two_shards(at)[0], lambda: ckpt(v=var([0.0] * 3)))


@row(raises="NotFoundError", says=["data-0000"])
def shard_of_the_tensors_is_gone(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return Pair(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row(raises="NotFoundError")
def shard_of_the_tensors_is_gone_read(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return Pair(prefix, lambda: ckpt(v=var([0.0] * 3)), "read")


@row(raises="OutOfRangeError")
def shard_of_the_tensors_is_short(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    _cut(data, 10)
    return Pair(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row(raises="OutOfRangeError")
def shard_of_the_tensors_is_empty(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.write_bytes(b"")
    return Pair(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row(raises="OpError")
def shard_of_the_object_graph_is_gone(at: Path) -> Pair:
    prefix, object_graph, _ = in_two_shards(at)
    object_graph.unlink()
    return Pair(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row("existing nontrivial")
def shard_is_gone_that_no_variable_needs(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return Pair(prefix, lambda: ckpt(w=var()), "read")


@row(raises="NotFoundError")
def shard_is_gone_that_only_the_counter_needs(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return Pair(prefix, lambda: ckpt(w=var()))


@row(raises="OutOfRangeError")
def tensor_of_a_named_checkpoint_is_cut_off(at: Path) -> Pair:
    path = tensors(at, v=[1.0, 2.0, 3.0])
    _cut(Path(f"{path}.data-00000-of-00001"), 8)
    return Pair(path, lambda: ckpt(x=named_v([0.0] * 3)))


@row(raises="DataLossError")
def file_of_version_1_is_cut_off(at: Path) -> Pair:
    path = tensors_of_version_1(at, v=[1.0, 2.0, 3.0])
    _cut(Path(path), 30)
    return Pair(path, lambda: ckpt(x=named_v([0.0] * 3)))


@row(raises="DataLossError")
def text_file(at: Path) -> Pair:
    (at / "notes").write_text("no checkpoint\n" * 20)
    return Pair(str(at / "notes"), _live)


@row(raises="DataLossError")
def keras_weights_file(at: Path) -> Pair:
    (at / "model.weights.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
    return Pair(str(at / "model.weights.h5"), _live)
