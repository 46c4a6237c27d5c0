"""Programs with a history, and scenes from TensorFlow's own tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.check_rows.contexts import creator_scope
from tests.check_rows.objects import named_v, special, training, v1_momentum
from tests.check_rows.saving import saved_training
from tests.check_rows.table import Pair, Topic
from tests.support.programs import ckpt, module, saved, saved_model, tensors, var, written

row = Topic()


@row()
def values_that_wait_from_an_earlier_restore_are_ignored(at: Path) -> Pair:
    earlier = written(at, v=var(), late=module(w=var()))

    def live() -> Any:
        target = ckpt(v=var(0.0))
        target.restore(earlier).expect_partial()
        return target

    return Pair(saved(at, v=var()), live)


@row("consumed")
def two_restores_for_the_same_attribute_wait(at: Path) -> Pair:
    earlier = written(at, v=var(), late=var(1.0))

    def live() -> Any:
        target = ckpt(v=var(0.0))
        target.restore(earlier).expect_partial()
        return target

    return Pair(saved(at, v=var(), late=var([1.0, 2.0])), live)


@row()
def attribute_that_waited_is_there(at: Path) -> Pair:
    earlier = written(at, v=var(), late=var(1.0))

    def live() -> Any:
        target = ckpt(v=var(0.0))
        target.restore(earlier).expect_partial()
        target.late = var(0.0)
        return target

    return Pair(saved(at, v=var(), late=var(2.0)), live)


@row()
def restored_before(at: Path) -> Pair:
    path = saved(at, v=var(), w=module(x=var()))

    def live() -> Any:
        target = ckpt(v=var(0.0), w=module(x=var(0.0)))
        target.restore(path).assert_consumed()
        return target

    return Pair(path, live)


@row()
def restored_by_name_before(at: Path) -> Pair:
    by_name = tensors(at, v=1.0)

    def live() -> Any:
        target = ckpt(x=named_v())
        target.restore(by_name).assert_consumed()
        return target

    return Pair(saved(at, x=var()), live)


@row()
def slots_that_wait_from_an_earlier_restore(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())

    def live() -> Any:
        target = training(v1_momentum(), steps=False)
        with creator_scope():
            target.restore(path).expect_partial()
        return target

    return Pair(path, live)


@row("existing")
def counter_that_waits_at_the_root_from_an_earlier_read_goes_first(at: Path) -> Pair:
    earlier = saved(at, module(v=var()))

    def live() -> Any:
        target = ckpt(module(v=var(0.0)))
        target.read(earlier).expect_partial()
        return target

    (at / "later").mkdir()
    return Pair(saved(at / "later", module(v=var())), live)


@row()
def counter_that_waits_from_an_earlier_read_gives_way(at: Path) -> Pair:
    earlier = saved(at, v=var())

    def live() -> Any:
        target = ckpt(v=var(0.0))
        target.read(earlier).expect_partial()
        return target

    (at / "later").mkdir()
    return Pair(saved(at / "later", v=var()), live)


@row("existing")
def program_of_two_where_the_checkpoint_had_one(at: Path) -> Pair:
    """Which of two objects is meant where the program has split one."""
    third = module(v=var())
    path = saved(at, first=module(third=third), second=module(third=third))

    def live() -> Any:
        firsts, seconds = module(third=module(v=var())), module(third=module(v=var()))
        return ckpt(first=firsts, second=seconds)

    return Pair(path, live)


@row("consumed")
def part_whose_parent_comes_later(at: Path) -> Pair:
    path = saved(at, parent=module(child=module(v=var())), other=var())
    return Pair(path, lambda: ckpt(parent=module(), other=var()))


@row("consumed")
def child_without_a_place_for_the_saved_value(at: Path) -> Pair:
    path = saved(at, m=module(first=var(), second=var()))
    return Pair(path, lambda: ckpt(m=module(first=var(), second=module())))


@row()
def list_saved_is_empty_and_the_program_has_none(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var(), empty=[])), lambda: ckpt(m=module(v=var())))


@row()
def empty_dict_added_after_saving(at: Path) -> Pair:
    path = saved(at, m=module(v=var()))
    return Pair(path, lambda: ckpt(m=module(v=var(), empty={}, other=[], third=())))


@row()
def nested_structures_given_to_the_checkpoint(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(a=[var(), var()], b={"x": var(), "y": [var()]}, c=(var(), 1))

    return Pair(make().save(str(at / "ckpt")), make)


@row()
def root_object_and_keywords(at: Path) -> Pair:
    def make() -> Any:
        root = module(inner=module(v=var()))
        return ckpt(root=root, step=var(1), inner=root.inner)

    return Pair(make().save(str(at / "ckpt")), make)


@row("existing")
def root_object_saved_and_keywords_live(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=var(1))
    return Pair(path, lambda: ckpt(v=var(), step=var(1), other=var()))


@row()
def root_object_saved_and_the_same_edges_live(at: Path) -> Pair:
    path = saved(at, module(v=var()), step=var(1))
    return Pair(path, lambda: ckpt(v=var(), step=var(1)))


@row()
def program_of_a_saved_model_restores_a_checkpoint(at: Path) -> Pair:
    import tensorflow as tf

    path = written(at, module(v=var(), w=module(x=var())))
    tf.saved_model.save(module(v=var(), w=module(x=var())), str(at / "model"))
    return Pair(path, lambda: tf.saved_model.load(str(at / "model")))


@row("consumed")
def saved_model_has_more(at: Path) -> Pair:
    directory = saved_model(at, v=var(), w=module(x=var()))
    return Pair(f"{directory}/variables/variables", lambda: module(v=var()))


@row()
def match_of_overlapping_nodes(at: Path) -> Pair:
    def make() -> Any:
        shared = module(v=var())
        return ckpt(a=module(b=shared, c=shared), d=shared)

    return Pair(make().save(str(at / "ckpt")), make)


@row()
def checkpoint_of_an_own_checkpointable_class(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(special()(v=var(), deeper=special()(w=[var()])))

    return Pair(make().save(str(at / "ckpt")), make)
