"""Checkpoints whose index or data is damaged: what each kind of restore raises for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.formats.storage.sstable import read_table
from ckpt_viz.formats.storage.table_writer import encode_table
from ckpt_viz.matching.restore_table.rows import Why
from tests.support.oracle import raised_by
from tests.support.programs import ckpt, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
_BIG_ENDIAN = b"\x10\x01"  # of a BundleHeader
_OF_THE_FUTURE = b"\x1a\x04\x08\x63\x10\x63"  # its version: producer and min_consumer are 99

Change = Callable[[bytes], bytes]


def _flipped(place: int) -> Change:
    def change(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[place] ^= 0x55
        return bytes(changed)

    return change


def _with_header(more: bytes) -> Change:
    def change(content: bytes) -> bytes:
        rows = [(key, value + (b"" if key else more)) for key, value in read_table(content, "")]
        return b"".join(encode_table(rows))

    return change


_INDEXES: dict[str, Change] = {
    "a Git LFS pointer": lambda content: _POINTER,
    "empty": lambda content: b"",
    "no table": lambda content: b"x" * 400,
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut near the end": lambda content: content[:-20],
    "other bytes at the start": _flipped(3),
    "other bytes in an entry": _flipped(60),
    "other bytes in a block's checksum": _flipped(-60),
    "another place of a block": _flipped(-44),
    "another end": _flipped(-1),
    "big endian": _with_header(_BIG_ENDIAN),
    "of a future version": _with_header(_OF_THE_FUTURE),
}
_DATA: dict[str, Change | None] = {
    "missing": None,
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
}


def _changed(file: Path, change: Change | None) -> None:
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change(file.read_bytes()))


def _variables() -> dict[str, Any]:
    import tensorflow as tf

    return {
        "a": tf.Variable([0.5] * 12, name="a"),
        "b": tf.Variable([1.5] * 3, name="b"),
    }


def _named(at: Path) -> str:
    import tensorflow as tf

    return str(tf.compat.v1.train.Saver(_variables()).save(None, str(at / "ckpt")))


def _of_objects(at: Path) -> str:
    import tensorflow as tf

    return str(tf.train.Checkpoint(**_variables()).save(str(at / "ckpt")))


@contextmanager
def _object() -> Iterator[tuple[Any, Callable[[str], Any]]]:
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(**_variables())
    yield checkpoint, checkpoint.restore


@contextmanager
def _eager_saver() -> Iterator[tuple[Any, Callable[[str], Any]]]:
    import tensorflow as tf

    saver = tf.compat.v1.train.Saver(_variables())
    yield saver, lambda path: saver.restore(None, path)


@contextmanager
def _session_saver() -> Iterator[tuple[Any, Callable[[str], Any]]]:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        saver = v1.train.Saver({"a": v1.get_variable("a", 12), "b": v1.get_variable("b", 3)})
        operations = len(graph.get_operations())
        yield saver, lambda path: saver.restore(session, path)
        assert len(graph.get_operations()) == operations


_TARGETS = {"object": _object, "eager Saver": _eager_saver, "Saver in a session": _session_saver}


def _class_raised_by(call: Callable[[], object]) -> str | None:
    error = raised_by(call)
    return None if error is None else type(error).__name__


def _as_the_check_says(target: str, path: str) -> str | None:
    """Return what a restore raises, after the check has said the same."""
    with _TARGETS[target]() as (live, restore):
        check = cv.check(live, path)
        raised = _class_raised_by(lambda: restore(path))
    assert (check.raises.type if check.raises else None) == raised
    for finding in check.findings:
        assert ". " not in finding.why.replace(path, ""), finding.why
    return raised


@pytest.mark.parametrize("save", [_named, _of_objects])
@pytest.mark.parametrize("target", _TARGETS)
@pytest.mark.parametrize("damage", _INDEXES)
def test_a_check_knows_what_a_damaged_index_makes_a_restore_raise(
    damage: str, target: str, save: Callable[[Path], str], tmp_path: Path
) -> None:
    import tensorflow as tf

    path = save(tmp_path)
    _changed(Path(f"{path}.index"), _INDEXES[damage])
    raised = _as_the_check_says(target, path)
    if target == "object":  # it opens the checkpoint with the same reader
        opening = _class_raised_by(lambda: tf.train.load_checkpoint(path))
        assert opening in (raised, None)
    elif save is _named:  # the Saver reads no object graph, for which Python has its own reader
        assert raised not in ("OpError", "IndexError")


@pytest.mark.parametrize("save", [_named, _of_objects])
@pytest.mark.parametrize("target", _TARGETS)
@pytest.mark.parametrize("damage", _DATA)
def test_a_check_knows_what_damaged_data_make_a_restore_raise(
    damage: str, target: str, save: Callable[[Path], str], tmp_path: Path
) -> None:
    path = save(tmp_path)
    _changed(Path(f"{path}.data-00000-of-00001"), _DATA[damage])
    assert _as_the_check_says(target, path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_saver_that_may_not_read_the_index_raises_what_the_check_says(tmp_path: Path) -> None:
    path = _named(tmp_path)
    Path(f"{path}.index").chmod(0)
    for target in _TARGETS:
        _as_the_check_says(target, path)


def test_the_folder_of_a_checkpoint_may_have_full_stops_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "Runs. New one"
    folder.mkdir()
    path = _of_objects(folder)
    _changed(Path(f"{path}.index"), _INDEXES["other bytes at the start"])
    (finding,) = cv.check(_object().__enter__()[0], path).findings
    assert finding.why.startswith(f"{path} cannot be read: OpError: Unable to read file ({path}")
    assert finding.why.count("; perhaps the file is corrupt") == 1


def test_a_damaged_value_is_counted_once(tmp_path: Path) -> None:
    path = Path(ckpt(a=var([1.0, 2.0]), b=var([3.0])).save(str(tmp_path / "ckpt")))
    data = path.with_name(f"{path.name}.data-00000-of-00001")
    data.write_bytes(
        bytes(byte ^ (place in (0, 8)) for place, byte in enumerate(data.read_bytes()))
    )
    check = cv.check(ckpt(a=var([0.0, 0.0]), b=var([0.0])), path, verify=True)
    assert check.overlay.headline == "restore() would raise DataLossError"
    assert [row.plain.why for row in check.table.rows].count(Why.DAMAGED) == 2
