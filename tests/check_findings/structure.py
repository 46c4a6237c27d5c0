"""Pairs of the findings on programs built otherwise than what was saved.

root_shifted, unrelated, index_shifted, renamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ckpt_viz.restore_check.finding import Kind
from tests.check_findings.table import FAIL, Pair, Rows
from tests.programs import (
    ckpt,
    keras_2,
    keras_2_sequential,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    module,
    save_any,
    saved,
    var,
    with_adam,
    with_children,
    written,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- root_shifted


def tower(value: float = 1.0) -> dict[str, Any]:
    return {"v": var([value]), "w": module(x=var([value, value]))}


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root).model",
    "(root)",
    "2 values instead of 0",
    "tf.train.Checkpoint(model=live.root).restore(path)",
)
def saved_as_a_keyword_and_restored_as_the_root(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower(2.0))), lambda: ckpt(module(**tower())))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root).model", "(root)", "tf.train.Checkpoint(model=live).restore")
def saved_as_a_keyword_and_read_as_a_trackable(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower(2.0))), lambda: module(**tower()))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).model", "tf.train.Checkpoint(live.model).read")
def saved_as_the_root_and_restored_as_a_keyword(at: Path) -> Pair:
    return Pair(written(at, module(**tower(2.0))), lambda: ckpt(model=module(**tower())))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root).a.b", "(root)", "instead of 0")
def saved_two_levels_lower(at: Path) -> Pair:
    return Pair(saved(at, a=module(b=module(**tower(2.0)))), lambda: ckpt(**tower()))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).a.b", "tf.train.Checkpoint(live.a.b).restore")
def saved_two_levels_higher(at: Path) -> Pair:
    return Pair(saved(at, **tower(2.0)), lambda: ckpt(a=module(b=module(**tower()))))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root).model._part", "(root).part", "(_part=live.part)")
def saved_below_another_part(at: Path) -> Pair:
    model = module(_part=module(**tower(2.0)), head=var([1.0, 2.0, 3.0]))
    return Pair(saved(at, model=model), lambda: ckpt(part=module(**tower())))


@silent(Kind.ROOT_SHIFTED)
def both_on_one_level_under_two_names(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower())), lambda: ckpt(net=module(**tower())))


@silent(Kind.ROOT_SHIFTED)
def on_two_levels_and_of_other_shapes(at: Path) -> Pair:
    other = module(v=var([1.0, 2.0]), w=module(x=var([1.0])))
    return Pair(saved(at, model=module(**tower())), lambda: ckpt(other))


@silent(Kind.ROOT_SHIFTED)
def one_value_of_many_on_another_level(at: Path) -> Pair:
    path = saved(at, m=module(v=var([1.0])), a=var([1.0, 2.0]), b=var(1), c=var([3]))
    return Pair(path, lambda: ckpt(v=var([1.0]), a=var([1.0, 2.0]), b=var(1), c=var([3]), d=var()))


# --- unrelated


@shows(Kind.UNRELATED, FAIL, "(root)", "(root)", "another model altogether (4 values against 6)")
def two_models_with_nothing_in_common(at: Path) -> Pair:
    return Pair(
        saved(at, generator=keras_2_sequential(4, 5)),
        lambda: ckpt(classifier=keras_2_sequential(7, 6, 8)),
    )


@shows(Kind.UNRELATED, FAIL, "(root)", "(root)", "Nothing of the checkpoint fits")
def two_models_that_both_count_their_steps(at: Path) -> Pair:
    path = saved(at, step=var(1), a=var([1.0, 2.0]), b=var([[1.0]]))
    return Pair(path, lambda: ckpt(step=var(0), x=var([1.0, 2.0, 3.0]), y=var([1.0, 2.0, 3.0])))


@silent(Kind.UNRELATED)
def one_model_under_two_names(at: Path) -> Pair:
    return Pair(
        saved(at, a=module(k=var([1.0]), b=var([2.0]))),
        lambda: ckpt(x=module(p=var([1.0]), q=var([2.0]))),
    )


@silent(Kind.UNRELATED)
def a_part_of_the_model_is_still_the_same(at: Path) -> Pair:
    path = saved(at, body=var([1.0, 2.0]), head=var([1.0, 2.0, 3.0]))
    return Pair(path, lambda: ckpt(body=var([0.0, 0.0]), top=var([1.0, 2.0, 3.0, 4.0])))


# --- index_shifted


def widths(*lengths: int) -> Any:
    return ckpt(layers=[var([1.0] * length) for length in lengths])


def _of_widths(at: Path, *lengths: int) -> str:
    return save_any(at, widths(*lengths))


def _shifted(at: Path, was: Sequence[int], now: Sequence[int]) -> Pair:
    path = _of_widths(at, *was)
    return Pair(path, lambda: widths(*now), mended=lambda: Pair(path, lambda: widths(*was)))


@shows(
    Kind.INDEX_SHIFTED, FAIL, "(root).layers", "(root).layers", "1 item more", "from 1 on", "insert"
)
def item_inserted_into_a_list(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 5, 2, 3])


@shows(Kind.INDEX_SHIFTED, FAIL, "(root).layers", "(root).layers", "2 items fewer", "from 0 on")
def two_items_taken_from_the_front(at: Path) -> Pair:
    return _shifted(at, [6, 5, 1, 2, 3], [1, 2, 3])


@shows(
    Kind.INDEX_SHIFTED,
    FAIL,
    "(root).model",
    "(root).model",
    "1 item more",
    "from layer_with_weights-1 on",
)
def layer_with_weights_inserted(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5, 2))
    return Pair(path, lambda: ckpt(model=keras_2_with(keras_2().layers.BatchNormalization())))


def keras_2_with(layer: Any) -> Any:
    layers = keras_2().layers
    dense = [layers.Dense(4), layer, layers.Dense(5), layers.Dense(2)]
    return keras_2().Sequential([keras_2().Input((3,)), *dense])


@shows(Kind.INDEX_SHIFTED, FAIL, "(root).m", "(root).m", "1 item fewer", "from layer-0 on")
def layer_by_number_taken_away(at: Path) -> Pair:
    def make(*lengths: int) -> Any:
        layers = {f"layer-{i}": module(w=var([1.0] * n)) for i, n in enumerate(lengths)}
        return ckpt(m=module(**layers))

    path = save_any(at, make(1, 2, 3))
    return Pair(path, lambda: make(2, 3), mended=lambda: Pair(path, lambda: make(1, 2, 3)))


@shows(
    Kind.INDEX_SHIFTED,
    FAIL,
    "(root).model._functional._operations",
    "(root).model._functional._operations",
    "1 item more",
    "from 2 on",
)
def dropout_inserted_into_a_keras_3_model(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 5, 2))
    layers = keras_3().layers

    def live() -> Any:
        dense = [layers.Dense(4), layers.Dropout(0.5), layers.Dense(5), layers.Dense(2)]
        return ckpt(model=keras_3().Sequential([keras_3().Input((3,)), *dense]))

    return Pair(
        path, live, mended=lambda: Pair(path, lambda: ckpt(model=keras_3_sequential(4, 5, 2)))
    )


def with_rate(scheduled: bool) -> Any:
    rate: Any = 0.1
    if scheduled:
        rate = keras_3().optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    return with_adam(lambda *variables: keras_3_adam(*variables, learning_rate=rate))


@shows(
    Kind.INDEX_SHIFTED,
    FAIL,
    "(root).optimizer._variables",
    "(root).optimizer._variables",
    "1 item fewer",
    "a learning rate stands in this list, a schedule does not",
)
def learning_rate_has_become_a_schedule(at: Path) -> Pair:
    path = save_any(at, with_rate(False))
    return Pair(
        path,
        lambda: with_rate(True),
        mended=lambda: Pair(path, lambda: with_rate(False)),
    )


@shows(Kind.INDEX_SHIFTED, FAIL, "(root).optimizer._variables", None, "1 item more", "a number or")
def schedule_has_become_a_learning_rate(at: Path) -> Pair:
    path = save_any(at, with_rate(True))
    return Pair(path, lambda: with_rate(False), mended=lambda: Pair(path, lambda: with_rate(True)))


@silent(Kind.INDEX_SHIFTED)
def item_appended_at_the_end(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 2, 3, 4])


@silent(Kind.INDEX_SHIFTED)
def items_that_all_look_alike(at: Path) -> Pair:
    return _shifted(at, [2, 2, 2], [2, 2, 2, 2])


@silent(Kind.INDEX_SHIFTED)
def items_inserted_and_changed(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 5, 6, 7])


@silent(Kind.INDEX_SHIFTED)
def dropout_inserted_into_a_keras_2_model(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5, 2))
    return Pair(path, lambda: ckpt(model=keras_2_with(keras_2().layers.Dropout(0.5))))


# --- renamed


@shows(Kind.RENAMED, FAIL, "(root).model.old", "(root).model.new", "saved as 'old'", "'new' now")
def attribute_renamed(at: Path) -> Pair:
    path = saved(at, model=module(old=var([2.0]), other=var(1)))

    def mended() -> Any:
        model = module(new=var([1.0]), other=var(0))
        return ckpt(model=with_children(model, old=model.new))

    return Pair(
        path,
        lambda: ckpt(model=module(new=var([1.0]), other=var(0))),
        mended=lambda: Pair(path, mended),
    )


@shows(Kind.RENAMED, FAIL, "(root).encoder", "(root).backbone", "Name it 'encoder' again")
def subtree_renamed(at: Path) -> Pair:
    path = saved(at, encoder=module(**tower()), step=var(1))
    return Pair(
        path,
        lambda: ckpt(backbone=module(**tower()), step=var(0)),
        mended=lambda: Pair(path, lambda: ckpt(encoder=module(**tower()), step=var(0))),
    )


@shows(Kind.RENAMED, FAIL, "(root).a", "(root).y", "saved as 'a'", "'y' now")
def two_renamed_that_only_their_full_names_tell_apart(at: Path) -> Pair:
    path = saved(at, a=var([1.0], name="p"), b=var([1.0], name="q"))
    return Pair(path, lambda: ckpt(x=var([1.0], name="q"), y=var([1.0], name="p")))


@shows(Kind.RENAMED, FAIL, "(root).model", "(root).model", "saved by Keras 2", "with Keras 3")
def model_of_keras_2_in_keras_3(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5))
    return Pair(
        path,
        lambda: ckpt(model=keras_3_sequential(4, 5)),
        mended=lambda: Pair(path, lambda: ckpt(model=keras_2_sequential(4, 5))),
    )


@shows(Kind.RENAMED, FAIL, "(root).model", "(root).model", "saved by Keras 3", "with Keras 2")
def model_of_keras_3_in_keras_2(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 5))
    return Pair(path, lambda: ckpt(model=keras_2_sequential(4, 5)))


@silent(Kind.RENAMED)
def two_renamed_that_nothing_tells_apart(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), b=var([1.0])), lambda: ckpt(x=var([1.0]), y=var([1.0])))


@silent(Kind.RENAMED)
def renamed_and_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), c=var()), lambda: ckpt(b=var([1.0, 2.0]), c=var()))


@silent(Kind.RENAMED)
def moved_to_another_object(at: Path) -> Pair:
    path = saved(at, m=module(a=var([1.0])), n=module(c=var()))
    return Pair(path, lambda: ckpt(m=module(), n=module(b=var([1.0]), c=var())))
