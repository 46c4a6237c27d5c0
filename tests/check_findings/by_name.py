"""Pairs for the findings on name-based checkpoints, of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.objects import in_a_graph, replaced_block
from tests.check_findings.savers import eager_saver
from tests.check_findings.table import ERROR, FAIL, INFO, Pair, Rows
from tests.support.programs import ckpt, keras_3, module, tensors, var

rows = Rows()
shows, silent = rows.shows, rows.silent


@shows(Kind.RENAMED, FAIL, "bert/layer_norm/beta", "(root).v", "'bert/layer_norm/beta' of the same")
def full_name_has_changed(at: Path) -> Pair:
    path = tensors(at, **{"bert/layer_norm/beta": [1.0, 2.0], "bert/layer_norm/gamma": [1.0, 2.0]})
    return Pair(path, lambda: ckpt(v=var([3.0, 4.0], name="bert/layer_norm_1/beta")))


@shows(Kind.RENAMED, FAIL, "gen/dense/kernel", "(root).v", "'gen/dense/kernel' of the same")
def full_names_of_twins_have_changed(at: Path) -> Pair:
    path = tensors(at, **{"dis/dense/kernel": [1.0, 2.0], "gen/dense/kernel": [3.0, 4.0]})
    return Pair(
        path,
        lambda: ckpt(
            v=var([0.0, 0.0], name="generator/dense/kernel"),
            w=var([0.0, 0.0], name="discriminator/dense/kernel"),
        ),
    )


@shows(
    Kind.UNMATCHED,
    FAIL,
    None,
    "(root).v",
    "'x/kernel' and 'y/kernel' of the same shape; names do not show which",
)
def full_names_of_twins_tell_nothing(at: Path) -> Pair:
    path = tensors(at, **{"x/kernel": [1.0, 2.0], "y/kernel": [3.0, 4.0]})
    return Pair(
        path,
        lambda: ckpt(
            v=var([0.0, 0.0], name="net_x_of_y/kernel"), w=var([0.0, 0.0], name="other/kernel")
        ),
    )


def _in_the_scope(at: Path, scope: str) -> Pair:
    path = tensors(at, **{"dense/kernel": [1.0, 2.0], "dense/bias": [1.0]})
    return Pair(
        path,
        lambda: ckpt(
            v=var([0.0, 0.0], name=f"{scope}dense/kernel"), w=var([0.0], name=f"{scope}dense/bias")
        ),
    )


@shows(Kind.SCOPE_CHANGED, FAIL, None, None, "All names are in the scope model_001 (2 variables)")
def all_names_in_a_new_scope(at: Path) -> Pair:
    return _in_the_scope(at, "model_001/")


@silent(Kind.SCOPE_CHANGED)
def all_names_in_the_scope_of_the_file(at: Path) -> Pair:
    return _in_the_scope(at, "")


@silent(Kind.RENAMED)
def one_name_of_the_file_for_two_variables(at: Path) -> Pair:
    path = tensors(at, **{"block_3/kernel": [1.0, 2.0]})
    names = ("block_1/kernel", "block_2/kernel")
    return Pair(path, lambda: ckpt(**{name[6]: var([0.0, 0.0], name=name) for name in names}))


@silent(Kind.RENAMED)
def full_name_has_changed_and_two_are_like_it(at: Path) -> Pair:
    path = tensors(at, **{"bert/layer_a/beta": [1.0, 2.0], "bert/layer_b/beta": [1.0, 2.0]})
    return Pair(path, lambda: ckpt(v=var([3.0, 4.0], name="bert/layer_c/beta")))


@shows(Kind.UNMATCHED, FAIL, None, "(root).v", "The file has no 'v'", "the names in the file")
def full_name_is_not_in_the_file(at: Path) -> Pair:
    return Pair(tensors(at, w=[1.0, 2.0]), lambda: ckpt(v=var([3.0], name="v")))


@shows(
    Kind.UNMATCHED,
    FAIL,
    None,
    "(root).a",
    "none of 2 names",
    "such as 'a/x' and 'b/x'",
    "the names in the file",
)
def several_full_names_are_not_in_the_file(at: Path) -> Pair:
    names = {"a": "a/x", "b": "b/x"}
    path = tensors(at, w=[1.0, 2.0])
    return Pair(path, lambda: ckpt(**{key: var([3.0], name=name) for key, name in names.items()}))


@shows(
    Kind.UNMATCHED,
    *(FAIL, None, "(root).model._operations.1._kernel"),
    *("Keras 3 gives its variables no full names", "finds none of 4 variables", ".fix().code"),
)
def file_of_names_is_restored_into_keras_3(at: Path) -> Pair:
    keras = keras_3()

    def model() -> Any:
        layers = [keras.layers.Dense(2, name=name) for name in ("one", "two")]
        inputs = found = keras.Input((2,))
        for layer in layers:
            found = layer(found)
        return ckpt(model=keras.Model(inputs, found))

    values = {"kernel": [[1.0, 2.0], [3.0, 4.0]], "bias": [1.0, 2.0]}
    names = {f"{layer}/{own}": value for layer in ("one", "two") for own, value in values.items()}
    return Pair(tensors(at, **names), model)


@shows(Kind.SHAPE, ERROR, "v", "(root).v", "has shape 2, the program's 1")
def value_of_a_full_name_has_another_shape(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0, 2.0]), lambda: ckpt(v=var([3.0], name="v")))


@shows(Kind.SHAPE, ERROR, "v", "(root).v", "has shape 2, the program's 1")
def saver_reshapes_another_number_of_elements(at: Path) -> Pair:
    path = tensors(at, v=[1.0, 2.0])
    return Pair(path, lambda: eager_saver([var([3.0], name="v")], reshape=True))


@silent(Kind.SHAPE)
def saver_reshapes_as_many_elements(at: Path) -> Pair:
    path = tensors(at, v=[1.0, 2.0])
    return Pair(path, lambda: eager_saver([var([[3.0], [4.0]], name="v")], reshape=True))


@shows(Kind.NOT_BUILT, ERROR, None, None, "ValueError: No variables to save")
def saver_without_variables(at: Path) -> Pair:
    path = tensors(at, v=[1.0])
    return Pair(
        path,
        lambda: eager_saver([]),
        fixed=lambda: Pair(path, lambda: eager_saver([var([2.0], name="v")])),
    )


@silent(Kind.NOT_BUILT)
def saver_that_may_be_empty(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0]), lambda: eager_saver([], allow_empty=True))


@shows(Kind.DTYPE, ERROR, "v", "(root).v", "has dtype int32, the program's float32")
def value_of_a_full_name_has_another_dtype(at: Path) -> Pair:
    return Pair(tensors(at, v=[1, 2]), lambda: ckpt(v=var([3.0, 4.0], name="v")))


@shows(Kind.LEFTOVER, INFO, "global_step", None, "1 name in the file matches", "no assert fails")
def name_that_matches_no_variable(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0], global_step=[1]), lambda: ckpt(v=var([3.0], name="v")))


@shows(Kind.SAVE_COUNTER, FAIL, None, "(root).save_counter", "every assert fails", "Use read()")
def counter_beside_the_root_of_a_name_based_restore(at: Path) -> Pair:
    path = tensors(at, v=[1.0])

    def live() -> Any:
        return ckpt(module(v=var([3.0], name="v")))

    return Pair(path, live, fixed=lambda: Pair(path, live, "read"))


@shows(Kind.POISONED_CONTAINER, ERROR, None, "(root).model.blocks", "list element was replaced")
def poisoned_where_names_are_restored(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0]), lambda: ckpt(model=replaced_block()))


@shows(Kind.UNKNOWABLE, FAIL, None, None, "run_restore_ops() looks up the names")
def graph_is_being_built_of_names(at: Path) -> Pair:
    return in_a_graph(tensors(at, v=[1.0]), [5.0], name="v")
