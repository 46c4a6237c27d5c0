"""Ways to call: the path argument, and the method."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import ckpt_viz as cv
from tests.check_rows.contexts import asynchronous
from tests.check_rows.objects import counted, v1_ckpt
from tests.check_rows.table import ALL, Pair, Topic
from tests.support.programs import ckpt, module, saved, saved_model, var, with_children, written

row = Topic()


@row(ALL)
def restore_of_none(at: Path) -> Pair:
    return Pair(None, lambda: ckpt(v=var()))


@row(ALL)
def read_of_none(at: Path) -> Pair:
    return Pair(None, lambda: module(v=var()))


@row(ALL)
def tensorflow_1_checkpoint_restores_none(at: Path) -> Pair:
    return Pair(None, lambda: v1_ckpt(v=var()))


@row()
def everything_matches(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(2.0)))


@row()
def path_object(at: Path) -> Pair:
    return Pair(Path(saved(at, v=var())), lambda: ckpt(v=var(2.0)))


@row()
def path_object_read(at: Path) -> Pair:
    return Pair(Path(written(at, v=var())), lambda: ckpt(v=var(2.0)), "read")


@row()
def object_graph_in_place_of_a_path(at: Path) -> Pair:
    return Pair(cv.graph(saved(at, v=var())), lambda: ckpt(v=var(2.0)))


@row()
def path_in_bytes(at: Path) -> Pair:
    return Pair(saved(at, v=var()).encode(), lambda: ckpt(v=var(2.0)))


@row(raises="TypeError")
def path_is_a_number(at: Path) -> Pair:
    return Pair(1, lambda: ckpt(v=var()))


@row(raises="NotFoundError")
def path_is_empty(at: Path) -> Pair:
    return Pair("", lambda: ckpt(v=var()))


@row(raises="NotFoundError", says=["Error when restoring from checkpoint", "ckpt-7", "suffix"])
def no_such_checkpoint(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt-7"), lambda: ckpt(v=var()))


@row(raises="NotFoundError", says=["Error when restoring from checkpoint"])
def prefix_without_its_number(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt"), lambda: ckpt(v=var()))


@row(raises="NotFoundError")
def no_such_checkpoint_read(at: Path) -> Pair:
    return Pair(str(at / "ckpt-7"), lambda: ckpt(v=var()), "read")


@row(raises="NotFoundError")
def no_such_checkpoint_for_tensorflow_1(at: Path) -> Pair:
    return Pair(str(at / "ckpt-7"), lambda: v1_ckpt(v=var()))


@row(raises="DataLossError")
def directory_of_checkpoints(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at), lambda: ckpt(v=var()))


@row(raises="DataLossError")
def data_file_as_the_path(at: Path) -> Pair:
    return Pair(saved(at, v=var()) + ".data-00000-of-00001", lambda: ckpt(v=var()))


@row(raises="NotFoundError")
def path_ends_in_a_slash(at: Path) -> Pair:
    return Pair(saved(at, v=var()) + "/", lambda: ckpt(v=var()))


@row(ALL)
def index_file_as_the_path(at: Path) -> Pair:
    return Pair(saved(at, v=var()) + ".index", lambda: ckpt(v=var(2.0)))


@row("existing")
def saved_model_directory(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()), lambda: ckpt(module(v=var(2.0))))


@row("existing")
def saved_model_directory_as_a_path_object(at: Path) -> Pair:
    return Pair(Path(saved_model(at, v=var())), lambda: ckpt(module(v=var(2.0))))


@row("existing")
def saved_model_in_text_form(at: Path) -> Pair:
    directory = saved_model(at, v=var())
    os.rename(f"{directory}/saved_model.pb", f"{directory}/saved_model.pbtxt")
    return Pair(directory, lambda: ckpt(module(v=var(2.0))))


@row("existing")
def saved_model_directory_ending_in_a_slash(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()) + "/", lambda: ckpt(module(v=var(2.0))))


@row(raises="DataLossError")
def saved_model_directory_read(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()), lambda: ckpt(module(v=var())), "read")


@row(raises="DataLossError")
def saved_model_directory_for_tensorflow_1(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()), lambda: v1_ckpt(v=var()))


@row()
def variables_of_a_saved_model_read(at: Path) -> Pair:
    path = saved_model(at, v=var()) + "/variables/variables"
    return Pair(path, lambda: ckpt(module(v=var(2.0))), "read")


@row(raises="NotFoundError", says=["variables/variables"])
def saved_model_whose_variables_are_gone(at: Path) -> Pair:
    directory = saved_model(at, v=var())
    shutil.rmtree(f"{directory}/variables")
    return Pair(directory, lambda: ckpt(module(v=var())))


@row(raises="DataLossError")
def directory_without_a_saved_model_in_it(at: Path) -> Pair:
    directory = saved_model(at, v=var())
    os.remove(f"{directory}/saved_model.pb")
    return Pair(directory, lambda: ckpt(module(v=var())))


@row()
def tensorflow_1_checkpoint(at: Path) -> Pair:
    path = v1_ckpt(v=var(), m=module(w=var())).save(str(at / "ckpt"))
    return Pair(path, lambda: v1_ckpt(v=var(2.0), m=module(w=var())))


@row()
def tensorflow_1_checkpoint_of_tensorflow_2(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: v1_ckpt(v=var(2.0)))


@row("existing")
def tensorflow_1_checkpoint_written_and_restored(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: v1_ckpt(v=var(2.0)))


@row("consumed")
def tensorflow_1_checkpoint_has_less(at: Path) -> Pair:
    return Pair(saved(at, v=var(), w=var()), lambda: v1_ckpt(v=var(2.0)))


@row(raises="TypeError")
def tensorflow_1_checkpoint_takes_no_path_object(at: Path) -> Pair:
    return Pair(Path(saved(at, v=var())), lambda: v1_ckpt(v=var()))


@row()
def manager(at: Path) -> Pair:
    import tensorflow as tf

    source = ckpt(v=var())
    path = tf.train.CheckpointManager(source, str(at), max_to_keep=2).save()
    return Pair(
        path, lambda: tf.train.CheckpointManager(ckpt(v=var(2.0)), str(at / "m"), max_to_keep=1)
    )


@row(ALL)
def latest_checkpoint_of_an_empty_directory(at: Path) -> Pair:
    import tensorflow as tf

    return Pair(tf.train.latest_checkpoint(str(at)), lambda: ckpt(v=var()))


@row()
def trackable_alone_is_read(at: Path) -> Pair:
    return Pair(written(at, module(v=var())), lambda: module(v=var(2.0)))


@row("consumed")
def trackable_alone_has_no_save_counter(at: Path) -> Pair:
    return Pair(saved(at, module(v=var())), lambda: module(v=var(2.0)))


@row("nontrivial")
def variable_alone(at: Path) -> Pair:
    return Pair(written(at, var()), lambda: var(2.0))


@row()
def asynchronous_restore(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(2.0)), options=asynchronous())


@row("existing")
def asynchronous_read(at: Path) -> Pair:
    path = written(at, v=var())
    return Pair(path, lambda: ckpt(v=var(2.0), w=var()), "read", asynchronous())


@row("existing")
def asynchronous_read_of_a_written_file(at: Path) -> Pair:
    path = written(at, v=var())
    return Pair(path, lambda: ckpt(v=var(2.0)), "read", asynchronous())


@row()
def asynchronous_restore_into_a_root(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=[var()])
    return Pair(path, lambda: ckpt(module(v=var(2.0)), step=[var(2.0)]), options=asynchronous())


@row("consumed")
def asynchronous_restore_misses_attributes_set_later(at: Path) -> Pair:
    return Pair(
        saved(at, v=var(), w=var()),
        lambda: with_children(ckpt(v=var(2.0)), w=var()),
        options=asynchronous(),
    )


@row("existing")
def asynchronous_restore_forgets_the_counter(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: counted(ckpt(v=var(2.0))), options=asynchronous())


@row()
def asynchronous_read_of_a_trackable(at: Path) -> Pair:
    return Pair(saved(at, module(v=var())), lambda: module(v=var(2.0)), options=asynchronous())


@row()
def restore_after_an_asynchronous_save(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(v=var(2.0))
        target.write(str(at / "other"), options=asynchronous())
        target.sync()
        return target

    return Pair(saved(at, v=var()), live)


@row()
def restore_through_another_device(at: Path) -> Pair:
    import tensorflow as tf

    options = tf.train.CheckpointOptions(experimental_io_device="CPU:0")
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(2.0)), options=options)


@row()
def path_with_a_scheme(at: Path) -> Pair:
    return Pair("file://" + saved(at, v=var()), lambda: ckpt(v=var()))


@row()
def path_with_two_slashes(at: Path) -> Pair:
    return Pair(saved(at, v=var()).replace("/ckpt", "//./ckpt"), lambda: ckpt(v=var()))


@row(raises="NotFoundError")
def prefix_with_brackets(at: Path) -> Pair:
    path = str(ckpt(v=var()).save(str(at / "a[1]*?")))
    return Pair(path, lambda: ckpt(v=var()))


@row()
def prefix_in_unicode(at: Path) -> Pair:
    path = str(ckpt(v=var()).save(str(at / "übung %s")))
    return Pair(path, lambda: ckpt(v=var()))


@row()
def prefix_ends_in_index(at: Path) -> Pair:
    path = str(ckpt(v=var()).write(str(at / "x.index")))
    return Pair(path, lambda: ckpt(v=var()), "read")


@row()
def prefix_beside_a_directory_of_its_name(at: Path) -> Pair:
    path = saved(at, v=var())
    os.mkdir(path)
    return Pair(path, lambda: ckpt(v=var()))


@row("existing")
def prefix_beside_a_saved_model_of_its_name(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, w=var())
    tf.saved_model.save(module(v=var()), path)
    return Pair(path, lambda: ckpt(module(v=var())))


@row()
def link_to_a_checkpoint(at: Path) -> Pair:
    path = saved(at, v=var())
    for suffix in (".index", ".data-00000-of-00001"):
        os.symlink(path + suffix, f"{at}/link{suffix}")
    return Pair(f"{at}/link", lambda: ckpt(v=var()))
