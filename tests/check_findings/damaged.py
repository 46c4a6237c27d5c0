"""Pairs for findings on bytes that have changed on the disk: damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.leftovers import unbuilt_sequential
from tests.check_findings.savers import eager_saver
from tests.check_findings.table import ERROR, WARNING, Pair, Rows
from tests.check_rows.objects import named_v, training
from tests.check_rows.saving import saved_training, value_key
from tests.support.damage import flipped, flipped_first
from tests.support.programs import (
    called,
    ckpt,
    keras_3,
    keras_3_sequential,
    legacy_adam,
    module,
    rewritten,
    saved,
    tensors,
    var,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


def _program() -> Any:
    return ckpt(model=module(a=var([1.0, 2.0]), b=var([3.0])), name=var(["kernel"]))


@shows(
    Kind.DAMAGED,
    ERROR,
    "(root).model.a",
    "(root).model.a",
    "The stored bytes of 2 values are damaged",
    "raises DataLossError",
    "masked crc32c of 8 bytes is 0x",
    "ckpt-1' instead",
)
def two_values_beside_a_whole_checkpoint(at: Path) -> Pair:
    program = _program()
    whole, path = (str(program.save(str(at / "ckpt"))) for _ in range(2))
    flipped(path, value_key("model/a"), 3)
    flipped(path, value_key("name"), -1)
    return Pair(path, _program, fixed=lambda: Pair(whole, _program, verify=True), verify=True)


@shows(Kind.DAMAGED, ERROR, "(root).model.b", "(root).model.b", "Copy the whole checkpoint again")
def other_checkpoints_are_damaged_too(at: Path) -> Pair:
    program = _program()
    paths = [str(program.save(str(at / "ckpt"))) for _ in range(2)]
    for path in paths:
        flipped(path, value_key("model/b"), 0)

    again = str(program.save(str(at / "copied" / "ckpt")))
    return Pair(paths[1], _program, fixed=lambda: Pair(again, _program, verify=True), verify=True)


@shows(Kind.DAMAGED, ERROR, "(root).model.a", "(root).model.a", "Copy the whole checkpoint again")
def other_checkpoint_is_of_another_program(at: Path) -> Pair:
    ckpt(v=var()).save(str(at / "before"))
    path = str(_program().save(str(at / "ckpt")))
    return Pair(flipped(path, value_key("model/a"), 3), _program, verify=True)


@shows(
    Kind.DAMAGED,
    ERROR,
    None,
    None,
    "The stored bytes are damaged, and the restore raises DataLossError",
)
def slot_variable(at: Path) -> Pair:
    path = flipped_first(saved_training(at, legacy_adam()), ".OPTIMIZER_SLOT")
    return Pair(path, lambda: training(legacy_adam(), steps=False), verify=True)


@shows(Kind.DAMAGED, ERROR, "v", "(root).x", "raises DataLossError", "Copy the whole checkpoint")
def by_name(at: Path) -> Pair:
    path = flipped(tensors(at, v=[1.0, 2.0]), "v", 0)
    return Pair(path, lambda: ckpt(x=named_v([0.0] * 2)), verify=True)


@shows(
    Kind.DAMAGED,
    WARNING,
    None,
    None,
    "1 value that waits is damaged, and building raises DataLossError",
)
def value_that_waits(at: Path) -> Pair:
    path = flipped_first(saved(at, model=keras_3_sequential(4, 2)), "model/")
    return Pair(
        path,
        lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)),
        after=lambda target: called(target.model),
        verify=True,
    )


@silent(Kind.DAMAGED)
def damaged_value_that_the_program_does_not_read(at: Path) -> Pair:
    path = flipped(str(_program().save(str(at / "ckpt"))), value_key("model/a"), 3)
    return Pair(path, lambda: ckpt(model=module(b=var([3.0])), name=var(["kernel"])), verify=True)


@silent(Kind.DAMAGED)
def whole_checkpoint(at: Path) -> Pair:
    return Pair(str(_program().save(str(at / "ckpt"))), _program, verify=True)


# --- data files that are missing or cut


def cut(path: str, number: int) -> None:
    data = Path(path + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[: -min(number, data.stat().st_size - 1)])


def sharded(path: str) -> str:
    """Write a checkpoint again with three data files, and return its prefix."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(path)
    names = sorted(reader.get_variable_to_shape_map())
    parts = []
    for number in range(3):
        own = names[number::3]
        parts.append(f"{path}-part-{number}/part")
        values = [tf.constant(reader.get_tensor(name)) for name in own]
        tf.raw_ops.SaveV2(
            prefix=parts[-1], tensor_names=own, shape_and_slices=[""] * len(own), tensors=values
        )
    whole = f"{path}-sharded"
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=whole)
    return whole


def _six() -> Any:
    return ckpt(**{name: var([0.0]) for name in "uvwxyz"})


@shows(
    Kind.DAMAGED,
    ERROR,
    None,
    None,
    ".data-00002-of-00003 is missing: ",
    "; the restore needs 2 and raises NotFoundError.",
    "Copy this file from where the checkpoint came, or restore the rest with check.fix().apply().",
)
def one_of_three_data_files_is_gone(at: Path) -> Pair:
    path = sharded(saved(at, **{name: var([1.0]) for name in "uvwxyz"}))
    Path(path + ".data-00002-of-00003").unlink()
    return Pair(path, _six)


@shows(
    Kind.DAMAGED,
    WARNING,
    None,
    None,
    " is missing: ",
    "; 2 values wait, and building raises NotFoundError.",
    "Copy this file from where the checkpoint came.",
)
def values_that_wait_are_in_a_data_file_that_is_gone(at: Path) -> Pair:
    path = sharded(saved(at, model=keras_3_sequential(4, 2)))
    Path(path + ".data-00001-of-00003").unlink()
    return Pair(
        path,
        lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)),
        after=lambda target: called(target.model),
    )


@silent(Kind.DAMAGED)
def data_file_is_gone_that_the_program_does_not_read(at: Path) -> Pair:
    path = sharded(saved(at, **{name: var([1.0]) for name in "uvwxyz"}))
    Path(path + ".data-00002-of-00003").unlink()
    return Pair(path, lambda: ckpt(v=var([0.0]), y=var([0.0])))


@shows(
    Kind.DAMAGED,
    ERROR,
    "(root).v",
    "(root).v",
    ".data-00000-of-00001 has ",
    "the restore needs 1 and raises OutOfRangeError.",
    "Copy this file again from where the checkpoint came, or restore the rest",
)
def data_file_is_cut_short(at: Path) -> Pair:
    path = rewritten(at, saved(at, a=var([1.0]), v=var([1.0] * 100)), lambda graph, values: None)
    cut(path, 16)
    return Pair(path, lambda: ckpt(a=var([0.0]), v=var([0.0] * 100)))


@shows(
    Kind.DAMAGED,
    ERROR,
    None,
    None,
    ".data-00000-of-00001 has 1 of ",
    "can be read; the restore raises ",
    "Copy this file again from where the checkpoint came.",
)
def data_file_is_cut_before_the_object_graph(at: Path) -> Pair:
    path = saved(at, v=var([1.0] * 100))
    cut(path, 10**6)
    return Pair(path, lambda: ckpt(v=var([0.0] * 100)))


@shows(
    Kind.DAMAGED,
    ERROR,
    "v",
    "(root).v",
    "is missing: none of 1 tensor (4 bytes) can be read; the restore needs 1 and",
    "Copy this file from where the checkpoint came.",
)
def data_file_is_gone_for_a_saver(at: Path) -> Pair:
    path = tensors(at, v=[1.0])
    Path(path + ".data-00000-of-00001").unlink()
    return Pair(path, lambda: eager_saver([var([2.0], name="v")]))
