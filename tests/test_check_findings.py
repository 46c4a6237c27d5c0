"""Every kind of finding: pairs that show it, near misses that do not, and what TensorFlow does.

A row is a checkpoint and the program that restores it. Of each finding that a row shows, a law
of its kind asks TensorFlow, after a real restore into a program made afresh, whether it is true.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ckpt_viz as cv
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.finding import Finding, Kind
from ckpt_viz.restore_check.result import RestoreCheck
from tests.finding_laws import LAWS, Pair, Real, ask, restored
from tests.oracle import silence_tensorflow
from tests.programs import (
    called,
    ckpt,
    differently,
    keras_2,
    keras_2_adam,
    keras_2_sequential,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    made_within,
    module,
    net_with_build,
    net_without_build,
    rewritten,
    save_by_name,
    saved,
    stepped,
    v1_adam,
    var,
    with_children,
    written,
)

pytestmark = pytest.mark.tf

ERROR, FAIL, DEFERRED = Severity.ERROR, Severity.FAIL, Severity.DEFERRED
WARNING, INFO = Severity.WARNING, Severity.INFO


class Shows(NamedTuple):
    """A finding: the names on the two sides, and words that its sentences have."""

    severity: Severity
    saved: str | None
    live: str | None
    words: Sequence[str]


@dataclass(frozen=True)
class Row:
    """A pair with the finding that it shows; None for a near miss, which shows none of the kind."""

    kind: Kind
    name: str
    pair: Callable[[Path], Pair]
    shows: Shows | None

    @property
    def id(self) -> str:
        """The name of the test."""
        return f"{self.kind.value}-{self.name}"


ROWS: list[Row] = []
Maker = Callable[[Path], Pair]


def shows(
    kind: Kind,
    severity: Severity,
    saved: str | None,
    live: str | None,
    *words: str,
) -> Callable[[Maker], Maker]:
    """Add a pair that shows a finding of the kind."""

    def add(pair: Maker) -> Maker:
        ROWS.append(Row(kind, pair.__name__, pair, Shows(severity, saved, live, words)))
        return pair

    return add


def silent(kind: Kind) -> Callable[[Maker], Maker]:
    """Add a near miss: a pair that looks like one of the kind, and shows none."""

    def add(pair: Maker) -> Maker:
        ROWS.append(Row(kind, pair.__name__, pair, None))
        return pair

    return add


# --- wrong_path


def _passing() -> Any:
    return ckpt(v=var(2.0))


@shows(Kind.WRONG_PATH, FAIL, None, None, ".index is no checkpoint's prefix", "pass every assert")
def index_file(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(path + ".index", _passing, mended=lambda: Pair(path, _passing))


@shows(Kind.WRONG_PATH, ERROR, None, None, "cannot read it (DataLossError)", "ckpt-1'")
def directory_of_checkpoints(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(str(at), _passing, mended=lambda: Pair(path, _passing))


@shows(Kind.WRONG_PATH, ERROR, None, None, "(NotFoundError)", "ckpt-1'")
def prefix_without_its_number(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt"), _passing)


@shows(Kind.WRONG_PATH, ERROR, None, None, "which would raise, too")
def data_file_of_a_checkpoint_that_does_not_fit(at: Path) -> Pair:
    path = saved(at, v=var()) + ".data-00000-of-00001"
    return Pair(path, lambda: ckpt(v=var([1.0, 2.0])))


@shows(Kind.WRONG_PATH, ERROR, None, None, "be read, with assert_consumed() failing")
def directory_of_a_checkpoint_of_something_else(at: Path) -> Pair:
    saved(at, w=var())
    return Pair(str(at), _passing)


@shows(Kind.WRONG_PATH, ERROR, None, None, "ckpt-7", "did you mean", "ckpt-1?")
def checkpoint_that_is_gone(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt-7"), _passing)


@shows(Kind.WRONG_PATH, FAIL, None, None, "path is None", "tf.train.latest_checkpoint()")
def latest_checkpoint_of_an_empty_directory(at: Path) -> Pair:
    import tensorflow as tf

    return Pair(tf.train.latest_checkpoint(str(at)), _passing)


@silent(Kind.WRONG_PATH)
def path_object(at: Path) -> Pair:
    return Pair(Path(saved(at, v=var())), _passing)


@silent(Kind.WRONG_PATH)
def directory_of_a_saved_model(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()), lambda: ckpt(module(v=var(2.0))))


def saved_model(at: Path, **children: Any) -> str:
    import tensorflow as tf

    tf.saved_model.save(module(**children), str(at / "model"))
    return str(at / "model")


# --- process_abort


def mutable_table(entries: int = 0, key: str = "int64") -> Any:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.as_dtype(key), tf.int64, -1)
    return filled(table, entries, key)


def dense_table(entries: int = 0, value_shape: Sequence[int] = (), key: str = "int64") -> Any:
    import tensorflow as tf

    empty, deleted = ("", "-") if key == "string" else (-1, -2)
    default = tf.zeros(value_shape, tf.int64)
    table = tf.lookup.experimental.DenseHashTable(
        tf.as_dtype(key), tf.int64, default, empty, deleted
    )
    return filled(table, entries, key)


def filled(table: Any, entries: int, key: str) -> Any:
    import tensorflow as tf

    keys = tf.range(entries, dtype=tf.int64)
    if entries:
        table.insert(tf.strings.as_string(keys) if key == "string" else keys, keys)
    return table


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process", "keys of shape [1]")
def one_entry_into_a_dense_table(at: Path) -> Pair:
    path = saved(at, t=mutable_table(1))
    return Pair(
        path,
        lambda: ckpt(t=dense_table()),
        mended=lambda: Pair(path, lambda: ckpt(t=mutable_table())),
    )


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process")
def one_string_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(1, "string")), lambda: ckpt(t=dense_table(key="string")))


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process", "keys of shape [3]")
def three_entries_into_a_dense_table_of_triples(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(3)), lambda: ckpt(t=dense_table(0, [3])))


@silent(Kind.PROCESS_ABORT)
def two_entries_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def no_entries_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table()), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_of_other_dtypes_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(1, "string")), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_from_dense_table_to_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=dense_table(1)), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_from_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=dense_table(1)), lambda: ckpt(t=mutable_table()))


# --- poisoned_container


def two_blocks() -> Any:
    return module(blocks=[module(v=var()), module(v=var())])


def replaced_block() -> Any:
    model = two_blocks()
    model.blocks[0] = module(v=var())
    return model


@shows(
    Kind.POISONED_CONTAINER,
    ERROR,
    "(root).model.blocks",
    "(root).model.blocks",
    "Unable to save the object",
    "Assign a new list",
)
def item_of_a_list_replaced(at: Path) -> Pair:
    path = saved(at, model=two_blocks())

    def mended() -> Any:
        model = two_blocks()
        model.blocks = [module(v=var()), module(v=var())]
        return ckpt(model=model)

    return Pair(path, lambda: ckpt(model=replaced_block()), mended=lambda: Pair(path, mended))


@shows(
    Kind.POISONED_CONTAINER, FAIL, None, "(root).other.blocks", "asserts raise ValueError", "save"
)
def poisoned_where_the_checkpoint_has_nothing(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), other=replaced_block()))


@shows(Kind.POISONED_CONTAINER, ERROR, "(root).m.d", "(root).m.d", "non-string key")
def dict_with_a_number_for_a_key(at: Path) -> Pair:
    path = saved(at, m=module(d={"1": var()}))
    return Pair(path, lambda: ckpt(m=module(d={1: var()})))


@silent(Kind.POISONED_CONTAINER)
def item_appended_to_a_list(at: Path) -> Pair:
    def live() -> Any:
        model = two_blocks()
        model.blocks.append(module(v=var()))
        return ckpt(model=model)

    return Pair(saved(at, model=two_blocks()), live)


@silent(Kind.POISONED_CONTAINER)
def none_in_a_list_replaced(at: Path) -> Pair:
    def make() -> Any:
        model = module(blocks=[None, module(v=var())])
        model.blocks[0] = module(v=var())
        return ckpt(model=model)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@silent(Kind.POISONED_CONTAINER)
def object_that_refuses_to_list_its_children(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var())), lambda: ckpt(m=_unlistable()()))


@cache
def _unlistable() -> Any:
    import tensorflow as tf

    base: Any = tf.__internal__.tracking.AutoTrackable

    class Unlistable(base):  # type: ignore[misc]
        def _trackable_children(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("no list for you")

    return Unlistable


# --- slot_reused


def with_adam(make: Callable[..., Any]) -> Any:
    model = module(a=var([1.0, 2.0]))
    return ckpt(model=model, optimizer=make(model.a))


@shows(Kind.SLOT_REUSED, FAIL, None, "(root).model.again", "'m'", "every assert raises")
def slot_of_tensorflow_1_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(v1_adam)
        target.model.again = target.optimizer.get_slot(target.model.a, "m")
        return target

    path = str(with_adam(v1_adam).save(str(at / "ckpt")))
    return Pair(path, live, mended=lambda: Pair(path, lambda: with_adam(v1_adam)))


@shows(Kind.SLOT_REUSED, FAIL, None, "(root).model.again", "'v'", "next save")
def slot_of_legacy_keras_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(legacy_adam)
        target.model.again = target.optimizer.get_slot(target.model.a, "v")
        return target

    return Pair(str(with_adam(legacy_adam).save(str(at / "ckpt"))), live)


@silent(Kind.SLOT_REUSED)
def state_of_keras_3_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(keras_3_adam)
        target.model.again = target.optimizer._momentums[0]
        return target

    return Pair(str(live().save(str(at / "ckpt"))), live)


# --- strategy_scope


def mirrored() -> Any:
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["CPU:0"])


@cache
def strategy() -> Any:
    return mirrored()


@cache
def another_strategy() -> Any:
    return mirrored()


def scope() -> AbstractContextManager[Any]:
    context: AbstractContextManager[Any] = strategy().scope()
    return context


def another_scope() -> AbstractContextManager[Any]:
    context: AbstractContextManager[Any] = another_strategy().scope()
    return context


def in_scope(make: Callable[[], Any]) -> Callable[[], Any]:
    return made_within(scope, make)


def legacy_adam_that_has_no_slots_yet(model: Any) -> Any:
    return ckpt(model=model, optimizer=legacy_adam())


def model_of_one() -> Any:
    return module(a=var([1.0, 2.0]))


def saved_with(at: Path, make: Callable[..., Any]) -> str:
    return str(with_adam(make).save(str(at / "ckpt")))


@shows(
    Kind.STRATEGY_SCOPE,
    ERROR,
    "(root).optimizer's state 'm' for (root).model.a",
    "(root).optimizer",
    "ValueError: Trying to create optimizer slot variable under the scope",
    "with strategy.scope():",
)
def optimizer_outside_of_the_scope_of_its_variables(at: Path) -> Pair:
    path = saved_with(at, legacy_adam)
    return Pair(
        path,
        lambda: legacy_adam_that_has_no_slots_yet(in_scope(model_of_one)()),
        mended=lambda: Pair(
            path,
            in_scope(lambda: legacy_adam_that_has_no_slots_yet(model_of_one())),
            within=scope,
        ),
        passes="assert_existing_objects_matched",
    )


@shows(Kind.STRATEGY_SCOPE, ERROR, None, None, "ValueError", "different from the scope")
def restored_in_the_scope_of_another_strategy(at: Path) -> Pair:
    return Pair(
        saved_with(at, legacy_adam),
        in_scope(lambda: legacy_adam_that_has_no_slots_yet(model_of_one())),
        within=another_scope,
    )


@shows(Kind.STRATEGY_SCOPE, ERROR, None, None, "RuntimeError: Mixing different tf.distribute")
def keras_3_restored_in_the_scope_of_another_strategy(at: Path) -> Pair:
    return Pair(
        saved_with(at, keras_3_adam),
        in_scope(lambda: with_adam(keras_3_adam)),
        within=another_scope,
    )


@shows(
    Kind.STRATEGY_SCOPE,
    DEFERRED,
    "(root).optimizer's state 'm' for (root).model.a",
    "(root).optimizer",
    "2 slot variables wait",
    "outside of the scope",
)
def slots_are_not_made_in_a_foreign_scope(at: Path) -> Pair:
    path = saved_with(at, legacy_adam)
    return Pair(
        path,
        lambda: legacy_adam_that_has_no_slots_yet(model_of_one()),
        within=another_scope,
        mended=lambda: Pair(path, lambda: legacy_adam_that_has_no_slots_yet(model_of_one())),
        passes="assert_existing_objects_matched",
        after=lambda target: stepped(target.optimizer, [target.model.a]),
    )


@silent(Kind.STRATEGY_SCOPE)
def all_made_and_restored_in_one_scope(at: Path) -> Pair:
    return Pair(
        saved_with(at, legacy_adam),
        in_scope(lambda: legacy_adam_that_has_no_slots_yet(model_of_one())),
        within=scope,
    )


@silent(Kind.STRATEGY_SCOPE)
def plain_variables_restored_in_a_foreign_scope(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var()), within=another_scope)


@silent(Kind.STRATEGY_SCOPE)
def mirrored_variables_restored_outside_of_their_scope(at: Path) -> Pair:
    return Pair(saved(at, v=var()), in_scope(lambda: ckpt(v=var())))


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


# --- optimizer_generation

MAKERS: dict[str, Callable[..., Any]] = {
    "tensorflow_1": v1_adam,
    "legacy": legacy_adam,
    "keras_2": keras_2_adam,
    "keras_3": keras_3_adam,
}
WORDS = {
    "tensorflow_1": "a TensorFlow 1 optimizer",
    "legacy": "a legacy Keras optimizer",
    "keras_2": "a Keras 2.11+ optimizer",
    "keras_3": "a Keras 3 optimizer",
}


def _generations(was: str, now: str, built: bool) -> Maker:
    def pair(at: Path) -> Pair:
        path = saved_with(at, MAKERS[was])

        def live(maker: Callable[..., Any] = MAKERS[now]) -> Any:
            model = module(a=var([3.0, 4.0]))
            return ckpt(model=model, optimizer=maker(model.a) if built else maker())

        def mended() -> Pair:
            return Pair(path, lambda: with_adam(MAKERS[was]))

        return Pair(path, live, mended=mended)

    pair.__name__ = f"{was}_into_{'' if built else 'unbuilt_'}{now}"
    return pair


for _was in MAKERS:
    for _now in MAKERS:
        for _built in (True, False):
            _is_refused = _now == "keras_2" and _was in ("tensorflow_1", "legacy")
            if _was == _now:
                silent(Kind.OPTIMIZER_GENERATION)(_generations(_was, _now, _built))
            else:
                shows(
                    Kind.OPTIMIZER_GENERATION,
                    ERROR if _is_refused else FAIL,
                    "(root).optimizer",
                    "(root).optimizer",
                    f"saved by {WORDS[_was]}",
                    f"the program has {WORDS[_now]}",
                    "all other saved values fit the program",
                )(_generations(_was, _now, _built))


# --- index_shifted


def widths(*lengths: int) -> Any:
    return ckpt(layers=[var([1.0] * length) for length in lengths])


def _of_widths(at: Path, *lengths: int) -> str:
    return str(widths(*lengths).save(str(at / "ckpt")))


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

    path = str(make(1, 2, 3).save(str(at / "ckpt")))
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
    path = str(with_rate(False).save(str(at / "ckpt")))
    return Pair(
        path,
        lambda: with_rate(True),
        mended=lambda: Pair(path, lambda: with_rate(False)),
    )


@shows(Kind.INDEX_SHIFTED, FAIL, "(root).optimizer._variables", None, "1 item more", "a number or")
def schedule_has_become_a_learning_rate(at: Path) -> Pair:
    path = str(with_rate(True).save(str(at / "ckpt")))
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


# --- not_built


@shows(Kind.NOT_BUILT, FAIL, "(root).model.first._kernel", "(root).model", "no build() of its own")
def keras_3_model_without_a_build_of_its_own(at: Path) -> Pair:
    path = saved(at, model=called(net_without_build()()))
    return Pair(
        path,
        lambda: ckpt(model=net_without_build()()),
        after=lambda target: called(target.model),
        mended=lambda: Pair(path, lambda: ckpt(model=called(net_without_build()()))),
    )


@shows(Kind.NOT_BUILT, FAIL, "(root).model", "(root).model", "saved before it had its variables")
def model_saved_before_it_was_built(at: Path) -> Pair:
    def model() -> Any:
        return keras_2().Sequential([keras_2().layers.Dense(2), keras_2().layers.Dense(2)])

    return Pair(saved(at, model=model()), lambda: ckpt(model=called(model())))


@shows(Kind.NOT_BUILT, FAIL, "(root).model", "(root).model", "4 values of the program")
def subclassed_model_saved_before_it_was_built(at: Path) -> Pair:
    path = saved(at, model=net_without_build()())
    return Pair(path, lambda: ckpt(model=called(net_without_build()())))


def _saved_unbuilt(at: Path, maker: Callable[..., Any]) -> Pair:
    path = saved(at, model=module(a=var([1.0, 2.0])), optimizer=maker())
    return Pair(path, lambda: with_adam(maker))


@shows(Kind.NOT_BUILT, FAIL, "(root).optimizer", "(root).optimizer", "saved without slot variables")
def keras_3_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, keras_3_adam)


@shows(Kind.NOT_BUILT, FAIL, "(root).optimizer", "(root).optimizer", "saved without slot variables")
def keras_2_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, keras_2_adam)


@shows(Kind.NOT_BUILT, FAIL, "(root).optimizer", "(root).optimizer", "before it had its variables")
def legacy_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, legacy_adam)


@silent(Kind.NOT_BUILT)
def keras_3_model_with_a_build_of_its_own(at: Path) -> Pair:
    path = saved(at, model=called(net_with_build()()))
    return Pair(path, lambda: ckpt(model=net_with_build()()))


@silent(Kind.NOT_BUILT)
def keras_3_sequential_not_built_yet(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 2))
    return Pair(path, lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)))


@silent(Kind.NOT_BUILT)
def both_sides_not_built_yet(at: Path) -> Pair:
    return Pair(saved(at, model=net_without_build()()), lambda: ckpt(model=net_without_build()()))


def unbuilt_sequential(keras: Any, *units: int) -> Any:
    return keras.Sequential([keras.layers.Dense(number) for number in units])


# --- optimizer_missing


@shows(
    Kind.OPTIMIZER_MISSING,
    FAIL,
    "(root).optimizer",
    None,
    "The program has no optimizer in this place: 4 values",
    "everything else, 2 values, is restored",
    "expect_partial()",
)
def program_has_no_optimizer(at: Path) -> Pair:
    return Pair(saved_with(at, keras_3_adam), lambda: ckpt(model=module(a=var([0.0, 0.0]))))


@shows(Kind.OPTIMIZER_MISSING, FAIL, "(root).optimizer", None, "7 values of its state stay unused")
def program_has_no_optimizer_for_declared_slots(at: Path) -> Pair:
    return Pair(saved_with(at, legacy_adam), lambda: ckpt(model=module(a=var([0.0, 0.0]))))


@shows(
    Kind.OPTIMIZER_MISSING,
    FAIL,
    None,
    "(root).optimizer",
    "The checkpoint has no optimizer in this place: 4 values",
    "assert_nontrivial_match()",
)
def checkpoint_has_no_optimizer(at: Path) -> Pair:
    path = saved(at, model=module(a=var([1.0, 2.0])))
    return Pair(
        path,
        lambda: with_adam(v1_adam),
        mended=lambda: Pair(path, lambda: with_adam(v1_adam)),
        passes="assert_nontrivial_match",
    )


@shows(Kind.OPTIMIZER_MISSING, FAIL, None, "(root).optimizer", "Training starts with a fresh")
def checkpoint_has_no_keras_3_optimizer(at: Path) -> Pair:
    return Pair(saved(at, model=module(a=var([1.0, 2.0]))), lambda: with_adam(keras_3_adam))


@shows(
    Kind.OPTIMIZER_MISSING,
    ERROR,
    "(root).training.optimizer's state 'm' for (root).a",
    "(root).training.optimizer",
    "AttributeError",
    "experimental_skip_slot_variables=True",
)
def module_where_an_optimizer_was_saved(at: Path) -> Pair:
    variable = var([1.0, 2.0])
    path = saved(at, a=variable, training=module(optimizer=v1_adam(variable)))
    return Pair(path, lambda: ckpt(a=var([0.0, 0.0]), training=module(optimizer=module())))


@silent(Kind.OPTIMIZER_MISSING)
def part_of_an_optimizer_is_missing(at: Path) -> Pair:
    def with_sgd(momentum: float) -> Any:
        model = module(a=var([1.0, 2.0]))
        optimizer = keras_3().optimizers.SGD(momentum=momentum)
        optimizer.build([model.a])
        return ckpt(model=model, optimizer=optimizer)

    return Pair(str(with_sgd(0.9).save(str(at / "ckpt"))), lambda: with_sgd(0.0))


@silent(Kind.OPTIMIZER_MISSING)
def something_else_called_optimizer_is_missing(at: Path) -> Pair:
    path = saved(at, model=module(a=var()), optimizer=module(v=var()))
    return Pair(path, lambda: ckpt(model=module(a=var())))


# --- save_counter


@shows(
    Kind.SAVE_COUNTER,
    FAIL,
    None,
    "(root).save_counter",
    "written by write()",
    "Read it with read()",
)
def written_and_restored(at: Path) -> Pair:
    path = written(at, v=var())
    return Pair(path, _passing, mended=lambda: Pair(path, _passing, "read"))


@shows(Kind.SAVE_COUNTER, FAIL, "(root).save_counter", None, "saved by save()", "with restore()")
def saved_and_read(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(path, _passing, "read", mended=lambda: Pair(path, _passing))


@silent(Kind.SAVE_COUNTER)
def written_and_read(at: Path) -> Pair:
    return Pair(written(at, v=var()), _passing, "read")


@silent(Kind.SAVE_COUNTER)
def counter_of_an_inner_checkpoint(at: Path) -> Pair:
    def live() -> Any:
        inner = ckpt(v=var())
        assert inner.save_counter is not None
        return ckpt(inner=inner)

    return Pair(saved(at, inner=ckpt(v=var())), live)


# --- cross_wired


def frozen(first: bool, units: Sequence[int] = (3, 3, 3)) -> Any:
    model = keras_3_sequential(*units)
    model.layers[0].trainable = not first
    return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))


@shows(
    Kind.CROSS_WIRED,
    FAIL,
    "(root).optimizer._trainable_variables.0",
    "(root).optimizer._trainable_variables.0",
    "4 saved values belong to other variables",
    "_operations.1._kernel goes into (root).model._functional._operations.2._kernel",
)
def layer_frozen_since(at: Path) -> Pair:
    path = str(frozen(False).save(str(at / "ckpt")))
    return Pair(path, lambda: frozen(True), mended=lambda: Pair(path, lambda: frozen(False)))


@shows(Kind.CROSS_WIRED, FAIL, None, None, "lists of (root).optimizer", "belong to other variables")
def layer_of_another_shape_frozen_since(at: Path) -> Pair:
    path = str(frozen(False, (4, 5, 2)).save(str(at / "ckpt")))
    return Pair(path, lambda: frozen(True, (4, 5, 2)))


@shows(Kind.CROSS_WIRED, FAIL, None, None, "belong to other variables")
def layer_frozen_when_it_was_saved(at: Path) -> Pair:
    path = str(frozen(True).save(str(at / "ckpt")))
    return Pair(path, lambda: frozen(False))


def gan(exchanged: bool) -> Any:
    generator, discriminator = keras_3_sequential(3, 3), keras_3_sequential(3, 3)
    optimizers = [keras_3_adam(*model.trainable_variables) for model in (generator, discriminator)]
    first, second = reversed(optimizers) if exchanged else optimizers
    return ckpt(
        generator=generator,
        discriminator=discriminator,
        generator_optimizer=first,
        discriminator_optimizer=second,
    )


@shows(
    Kind.CROSS_WIRED,
    WARNING,
    "(root).discriminator_optimizer._trainable_variables.0",
    "(root).discriminator_optimizer._trainable_variables.0",
    "that of (root).discriminator._functional._operations.1._kernel goes into (root).generator",
)
def two_optimizers_exchanged(at: Path) -> Pair:
    path = str(differently(gan(False)).save(str(at / "ckpt")))
    return Pair(path, lambda: gan(True), mended=lambda: Pair(path, lambda: gan(False)))


@shows(Kind.CROSS_WIRED, WARNING, None, None, "4 values of the optimizer's state change places")
def optimizer_built_in_another_order(at: Path) -> Pair:
    def make(order: int) -> Any:
        model = module(a=var([1.0]), b=var([2.0]))
        return ckpt(model=model, optimizer=keras_3_adam(*[model.a, model.b][::order]))

    return Pair(str(differently(make(1)).save(str(at / "ckpt"))), lambda: make(-1))


@shows(Kind.CROSS_WIRED, WARNING, None, None, "of the optimizer's state change places")
def keras_2_optimizer_built_in_another_order(at: Path) -> Pair:
    def make(order: int) -> Any:
        model = module(a=var([1.0], name="a"), b=var([2.0], name="b"))
        return ckpt(model=model, optimizer=keras_2_adam(*[model.a, model.b][::order]))

    return Pair(str(differently(make(1)).save(str(at / "ckpt"))), lambda: make(-1))


@silent(Kind.CROSS_WIRED)
def two_optimizers_where_they_were(at: Path) -> Pair:
    return Pair(str(gan(False).save(str(at / "ckpt"))), lambda: gan(False))


@silent(Kind.CROSS_WIRED)
def layer_frozen_on_both_sides(at: Path) -> Pair:
    return Pair(str(frozen(True).save(str(at / "ckpt"))), lambda: frozen(True))


@silent(Kind.CROSS_WIRED)
def optimizer_not_built_and_layer_frozen(at: Path) -> Pair:
    path = str(frozen(False).save(str(at / "ckpt")))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(3, 3, 3), optimizer=keras_3_adam()))


# --- swapped


def branches(*names: str) -> Any:
    keras = keras_2()
    inputs = keras.Input((3,))
    outputs = [keras.layers.Dense(4, name=name)(inputs) for name in names]
    return ckpt(model=keras.Model(inputs, outputs))


@shows(Kind.SWAPPED, WARNING, None, None, "'left/bias' goes into 'right/bias'", "changed places")
def branches_in_another_order(at: Path) -> Pair:
    path = str(differently(branches("left", "right")).save(str(at / "ckpt")))
    return Pair(
        path,
        lambda: branches("right", "left"),
        mended=lambda: Pair(path, lambda: branches("left", "right")),
    )


@shows(Kind.SWAPPED, WARNING, "(root).l.0", "(root).l.0", "'a' goes into 'b'", "Put them in the")
def items_of_a_list_in_another_order(at: Path) -> Pair:
    def make(*names: str) -> Any:
        return ckpt(l=[var(float(i), name=name) for i, name in enumerate(names)])

    path = str(differently(make("a", "b", "c")).save(str(at / "ckpt")))
    return Pair(
        path, lambda: make("b", "c", "a"), mended=lambda: Pair(path, lambda: make("a", "b", "c"))
    )


@silent(Kind.SWAPPED)
def branches_that_only_a_number_tells_apart(at: Path) -> Pair:
    path = str(branches("dense_1", "dense_2").save(str(at / "ckpt")))
    return Pair(path, lambda: branches("dense_2", "dense_1"))


@shows(Kind.SWAPPED, WARNING, "(root).a", "(root).a", "'a' goes into 'b'", "by name not")
def one_for_the_other_and_that_for_a_third(at: Path) -> Pair:
    path = saved(at, a=var(1.0, name="a"), b=var(2.0, name="b"))
    return Pair(path, lambda: ckpt(a=var(0.0, name="b"), b=var(0.0, name="c")))


@silent(Kind.SWAPPED)
def one_full_name_changed(at: Path) -> Pair:
    path = saved(at, a=var(1.0, name="a"), b=var(2.0, name="b"))
    return Pair(path, lambda: ckpt(a=var(0.0, name="x"), b=var(0.0, name="b")))


@shows(
    Kind.SWAPPED,
    WARNING,
    None,
    None,
    "2 values of the optimizer's state change places: the state 'momentum' of (root).model.a goes",
)
def states_of_an_optimizer_in_another_order(at: Path) -> Pair:
    def exchange(graph: Any, values: dict[str, Any]) -> None:
        optimizer = graph.nodes[_child(graph, graph.nodes[0], "optimizer")]
        states = graph.nodes[_child(graph, optimizer, "_variables")].children
        momentum, velocity = (c for c in states if c.local_name in ("2", "3"))
        momentum.node_id, velocity.node_id = velocity.node_id, momentum.node_id

    path = rewritten(at, str(differently(with_adam(keras_3_adam)).save(str(at / "c"))), exchange)
    return Pair(path, lambda: with_adam(keras_3_adam))


def _child(graph: Any, node: Any, local_name: str) -> int:
    return int(next(c.node_id for c in node.children if c.local_name == local_name))


# --- untied


@shows(
    Kind.UNTIED,
    FAIL,
    "(root).decoder",
    "(root).decoder",
    "(root).decoder and (root).encoder",
    "only the first one gets its value",
)
def shared_variable_is_two_now(at: Path) -> Pair:
    shared = var([2.0])
    path = saved(at, encoder=shared, decoder=shared)

    def mended() -> Any:
        both = var([0.0])
        return ckpt(encoder=both, decoder=both)

    return Pair(
        path,
        lambda: ckpt(encoder=var([0.0]), decoder=var([0.0])),
        mended=lambda: Pair(path, mended),
    )


@shows(Kind.UNTIED, FAIL, "(root).a.v", "(root).a.v", "(root).a.v and (root).b.v")
def shared_module_is_two_now(at: Path) -> Pair:
    inner = var([2.0])
    path = saved(at, a=module(v=inner), b=module(v=inner))
    return Pair(path, lambda: ckpt(a=module(v=var([0.0])), b=module(v=var([0.0]))))


@silent(Kind.UNTIED)
def shared_on_both_sides(at: Path) -> Pair:
    def make() -> Any:
        shared = var([2.0])
        return ckpt(a=shared, b=shared)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@silent(Kind.UNTIED)
def shared_object_without_a_value_is_two_now(at: Path) -> Pair:
    empty = module()
    path = saved(at, a=empty, b=empty, v=var())
    return Pair(path, lambda: ckpt(a=module(), b=module(), v=var()))


# --- value_lost


def tied() -> Any:
    shared = var([0.0])
    return ckpt(a=shared, b=shared)


@shows(
    Kind.VALUE_LOST, WARNING, "(root).b", "(root).a", "that of (root).a is restored", "two objects"
)
def two_variables_are_one_now(at: Path) -> Pair:
    path = saved(at, a=var([1.0]), b=var([2.0]))
    return Pair(path, tied, mended=lambda: Pair(path, lambda: ckpt(a=var([0.0]), b=var([0.0]))))


@silent(Kind.VALUE_LOST)
def two_variables_of_one_value_are_one_now(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), b=var([1.0])), tied)


@silent(Kind.VALUE_LOST)
def two_objects_without_values_are_one_now(at: Path) -> Pair:
    def live() -> Any:
        shared = module()
        return ckpt(a=shared, b=shared, v=var())

    return Pair(saved(at, a=module(), b=module(), v=var()), live)


# --- never_restored


@shows(Kind.NEVER_RESTORED, WARNING, "(root).x", "(root).x", "without a value", "no assert tells")
def variable_where_a_module_was_saved(at: Path) -> Pair:
    path = saved(at, x=module(), v=var())
    return Pair(path, lambda: ckpt(x=var([3.0]), v=var()))


@silent(Kind.NEVER_RESTORED)
def variable_where_a_module_with_a_variable_was_saved(at: Path) -> Pair:
    path = saved(at, x=module(w=var()), v=var())
    return Pair(path, lambda: ckpt(x=module(w=var()), v=var()))


@silent(Kind.NEVER_RESTORED)
def optimizer_that_scales_the_loss(at: Path) -> Pair:
    def make() -> Any:
        keras = keras_2()
        model = module(a=var([1.0]))
        optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())
        optimizer.build([model.a])
        return ckpt(model=model, optimizer=optimizer)

    return Pair(str(make().save(str(at / "ckpt"))), make)


# --- tensor_ignored


@cache
def halves(*names: str) -> Any:
    """Return a class of objects that store a tensor under each name."""
    import tensorflow as tf

    base: Any = tf.Module

    class Halves(base):  # type: ignore[misc]
        restored: Any = None

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {name: tf.constant(1.0) for name in names}

        def _restore_from_tensors(self, tensors: dict[str, Any]) -> Any:
            self.restored = tensors
            return tf.no_op()

    return Halves


@shows(Kind.TENSOR_IGNORED, WARNING, "(root).h", "(root).h", "reads 1 of", "leaves upper unread")
def object_reads_fewer_tensors_than_it_saved(at: Path) -> Pair:
    path = saved(at, h=halves("lower", "upper")())
    return Pair(
        path,
        lambda: ckpt(h=halves("lower")()),
        mended=lambda: Pair(path, lambda: ckpt(h=halves("lower", "upper")())),
    )


@silent(Kind.TENSOR_IGNORED)
def object_reads_all_its_tensors(at: Path) -> Pair:
    path = saved(at, h=halves("lower", "upper")())
    return Pair(path, lambda: ckpt(h=halves("lower", "upper")()))


@silent(Kind.TENSOR_IGNORED)
def table_reads_its_keys_and_values(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=mutable_table()))


# --- saver_unknown


@cache
def registered(name: str) -> Any:
    """Return a class with a registered saver."""
    import tensorflow as tf
    from tensorflow.python.saved_model import registration

    base: Any = tf.Module

    class Registered(base):  # type: ignore[misc]
        restored = False

    def restore(trackables: Any, merged_prefix: Any) -> None:
        for one in trackables.values():
            one.restored = True

    registration.register_checkpoint_saver(
        package="findings",
        name=name,
        predicate=lambda obj: isinstance(obj, Registered),
        save_fn=lambda trackables, file_prefix: [],
        restore_fn=restore,
    )
    return Registered


@shows(Kind.SAVER_UNKNOWN, WARNING, "(root).r", "(root).r", "'findings.gone'", "Import the module")
def saver_of_a_module_that_is_not_imported(at: Path) -> Pair:
    import tensorflow as tf

    if tf.__version__.startswith("2.15"):
        pytest.skip("this TensorFlow raises LookupError")
    path = saved(at, r=registered("gone")(), v=var())
    return Pair(path, lambda: ckpt(r=module(), v=var()), within=lambda: saver_gone("findings.gone"))


@shows(Kind.SAVER_UNKNOWN, ERROR, "(root).r", "(root).r", "'findings.here', which refuses this")
def saver_refuses_the_object(at: Path) -> Pair:
    path = saved(at, r=registered("here")(), v=var())
    return Pair(path, lambda: ckpt(r=module(), v=var()))


@silent(Kind.SAVER_UNKNOWN)
def saver_of_the_class_that_was_saved(at: Path) -> Pair:
    path = saved(at, r=registered("here")(), v=var())
    return Pair(path, lambda: ckpt(r=registered("here")(), v=var()))


@contextmanager
def saver_gone(name: str) -> Iterator[None]:
    """Make a saver unknown, as where nobody imports the module that registers it."""
    from tensorflow.python.saved_model.registration import registration

    known = registration._saver_registry._registered_map
    saver = known.pop(name)
    try:
        yield
    finally:
        known[name] = saver


# --- not_tracked


def _net(base: Any, **attributes: Callable[[], Any]) -> Any:
    """Return an object of a new class that has these attributes, called `Net`."""

    def init(self: Any) -> None:
        base.__init__(self)
        for name, make in attributes.items():
            setattr(self, name, make())

    return type("Net", (base,), {"__init__": init})()


def dense(*units: int) -> list[Any]:
    layers = [keras_3().layers.Dense(number) for number in units]
    for layer in layers:
        layer.build((None, 3))
    return layers


def _keras_3_net(at: Path, hidden: Callable[[Any], list[Any]], **attributes: Any) -> Pair:
    def make() -> Any:
        return ckpt(model=_net(keras_3().Model, out=lambda: dense(2)[0], **attributes))

    path = str(differently(make()).save(str(at / "ckpt")))
    return Pair(path, make, hidden=lambda target: hidden(target.model))


def _kernels(layers: Iterable[Any]) -> list[Any]:
    return [layer.kernel for layer in layers]


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'blocks' (TrackedList)", "holds 2 objects")
def list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.blocks), blocks=lambda: dense(4, 5))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'_blocks' (TrackedList)", "1 object")
def private_list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net._blocks), _blocks=lambda: dense(4))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'by_name' (TrackedDict)")
def dict_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(
        at,
        lambda net: _kernels(net.by_name.values()),
        by_name=lambda: dict(zip("ab", dense(4, 5), strict=True)),
    )


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'some' (TrackedSet)")
def set_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.some), some=lambda: set(dense(4)))


@shows(
    Kind.NOT_TRACKED, WARNING, None, "(root).model", "weights of this", "not in the object graph"
)
def cells_of_a_keras_3_layer(at: Path) -> Pair:
    def make() -> Any:
        layers = keras_3().layers
        cells = layers.StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(2)])
        model = keras_3().Sequential([keras_3().Input((3, 4)), layers.RNN(cells)])
        return ckpt(model=model)

    path = str(make().save(str(at / "ckpt")))
    return Pair(path, make, hidden=lambda target: target.model.weights)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).optimizer", "TensorFlow does not follow")
def inner_optimizers_of_keras_3(at: Path) -> Pair:
    def make() -> Any:
        from keras.src.optimizers.multi_optimizer import MultiOptimizer, OptimizerMap

        optimizers = keras_3().optimizers
        (layer,) = dense(2)
        optimizer = MultiOptimizer(OptimizerMap(optimizers.SGD(momentum=0.9)))
        optimizer.build(layer.trainable_variables)
        return ckpt(layer=layer, optimizer=optimizer)

    try:
        path = str(make().save(str(at / "ckpt")))
    except ImportError:
        pytest.skip("this Keras has no MultiOptimizer")
    return Pair(path, make)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).m", "'queue' (deque)", "attribute of its own")
def queue_of_variables(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(m=module(v=var(), queue=deque([var(2.0), var(3.0)])))

    path = str(make().save(str(at / "ckpt")))
    return Pair(path, make, hidden=lambda target: list(target.m.queue))


@silent(Kind.NOT_TRACKED)
def tuple_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: [], blocks=lambda: tuple(dense(4, 5)))


@silent(Kind.NOT_TRACKED)
def list_of_keras_2_layers(at: Path) -> Pair:
    def make() -> Any:
        net = _net(keras_2().Model, blocks=lambda: [keras_2().layers.Dense(2)])
        net.blocks[0].build((None, 3))
        return ckpt(model=net)

    return Pair(str(make().save(str(at / "ckpt"))), make)


@silent(Kind.NOT_TRACKED)
def metrics_and_seeds_of_keras_3(at: Path) -> Pair:
    def make() -> Any:
        keras = keras_3()
        model = _net(
            keras.Model,
            out=lambda: dense(2)[0],
            loss_tracker=lambda: keras.metrics.Mean(),
            seed=lambda: keras.random.SeedGenerator(1),
            dropout=lambda: keras.layers.Dropout(0.5),
        )
        return ckpt(model=model)

    return Pair(str(make().save(str(at / "ckpt"))), make)


# --- shape, dtype, key_missing


@shows(Kind.SHAPE, ERROR, "(root).v", "(root).v", "has shape (2,), the program's (3,)")
def variable_of_another_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return Pair(
        path,
        lambda: ckpt(v=var([1.0, 2.0, 3.0])),
        mended=lambda: Pair(path, lambda: ckpt(v=var([0.0, 0.0]))),
    )


@shows(Kind.SHAPE, ERROR, None, None, "has shape (3, 5), the program's (3, 4)", "local name")
def classes_of_the_head_changed(at: Path) -> Pair:
    return Pair(saved(at, model=keras_3_sequential(5)), lambda: ckpt(model=keras_3_sequential(4)))


@shows(Kind.SHAPE, ERROR, "(root).t", "(root).t", "has shape [2], the program's [1]")
def entries_of_a_table_in_the_wrong_place(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=dense_table()))


@shows(Kind.SHAPE, WARNING, "(root).v", "(root).v", "shape (2,)", "takes it without a word")
def graph_takes_another_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return in_a_graph(path, [5.0])


def in_a_graph(path: str, value: Any, **options: Any) -> Pair:
    """Return a pair that TensorFlow 1 restores: a graph is built, and a session runs it."""
    import tensorflow as tf

    graph = tf.Graph()
    make = made_within(graph.as_default, lambda: ckpt(v=var(value, use_resource=True, **options)))
    return Pair(path, make, within=graph.as_default)


@silent(Kind.SHAPE)
def variable_of_any_length(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, v=var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(v=var([1.0], shape=tf.TensorShape([None]))))


@silent(Kind.SHAPE)
def graph_takes_the_same_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return in_a_graph(path, [5.0, 6.0])


@shows(Kind.DTYPE, ERROR, "(root).v", "(root).v", "has dtype float32, the program's float64")
def variable_of_another_dtype(at: Path) -> Pair:
    path = saved(at, v=var([1.0]))
    return Pair(
        path,
        lambda: ckpt(v=var([1.0], dtype="float64")),
        mended=lambda: Pair(path, lambda: ckpt(v=var([0.0]))),
    )


@shows(Kind.DTYPE, WARNING, "(root).v", "(root).v", "float32", "float64", "run_restore_ops()")
def graph_takes_another_dtype_until_it_runs(at: Path) -> Pair:
    return in_a_graph(saved(at, v=var([1.0])), [5.0], dtype="float64")


@silent(Kind.DTYPE)
def layer_that_computes_in_half_precision(at: Path) -> Pair:
    def make(policy: str) -> Any:
        layer = keras_3().layers.Dense(2, dtype=policy)
        layer.build((None, 3))
        return ckpt(layer=layer)

    path = str(make("float32").save(str(at / "ckpt")))
    return Pair(path, lambda: make("mixed_float16"))


@shows(Kind.KEY_MISSING, ERROR, "(root).h", "(root).h", "upper not found", "class that was saved")
def object_reads_a_tensor_that_was_not_saved(at: Path) -> Pair:
    path = saved(at, h=halves("lower")())
    return Pair(
        path,
        lambda: ckpt(h=halves("lower", "upper")()),
        mended=lambda: Pair(path, lambda: ckpt(h=halves("lower")())),
    )


@shows(Kind.KEY_MISSING, ERROR, "(root).v", "(root).v", "Copy the whole checkpoint again")
def data_file_is_cut_short(at: Path) -> Pair:
    path = rewritten(at, saved(at, a=var([1.0]), v=var([1.0] * 100)), lambda graph, values: None)
    cut(path, 16)
    return Pair(path, lambda: ckpt(a=var([0.0]), v=var([0.0] * 100)))


@shows(Kind.KEY_MISSING, ERROR, None, None, "cannot be read", "Copy the whole checkpoint again")
def data_file_is_cut_before_the_object_graph(at: Path) -> Pair:
    path = saved(at, v=var([1.0] * 100))
    cut(path, 10**6)
    return Pair(path, lambda: ckpt(v=var([0.0] * 100)))


def cut(path: str, number: int) -> None:
    data = Path(path + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[: -min(number, data.stat().st_size - 1)])


@silent(Kind.KEY_MISSING)
def variable_where_an_object_with_tensors_was_saved(at: Path) -> Pair:
    return Pair(saved(at, h=var()), lambda: ckpt(h=var()))


# --- partial_overwrite


@shows(
    Kind.PARTIAL_OVERWRITE, ERROR, "(root).a", "(root).a", "1 value would already be overwritten"
)
def shape_of_the_last_of_two(at: Path) -> Pair:
    path = saved(at, a=var(1.0), z=var([1.0, 2.0]))
    return Pair(
        path,
        lambda: ckpt(a=var(5.0), z=var([1.0])),
        mended=lambda: Pair(path, lambda: ckpt(a=var(5.0), z=var([5.0, 5.0]))),
    )


@shows(Kind.PARTIAL_OVERWRITE, ERROR, "(root).v", "(root).v", "1 value would already")
def dtype_of_what_is_attached_to_the_root(at: Path) -> Pair:
    path = saved(at, module(v=var(1.0)), step=var(1))
    return Pair(path, lambda: ckpt(module(v=var(5.0)), step=var(1.0)))


@silent(Kind.PARTIAL_OVERWRITE)
def shape_of_the_first_of_two(at: Path) -> Pair:
    path = saved(at, a=var([1.0, 2.0]), z=var(1.0))
    return Pair(path, lambda: ckpt(a=var([1.0]), z=var(5.0)))


@silent(Kind.PARTIAL_OVERWRITE)
def dtype_of_the_last_of_two(at: Path) -> Pair:
    path = saved(at, a=var(1.0), z=var(1.0))
    return Pair(path, lambda: ckpt(a=var(5.0), z=var(5)))


# --- unresolved, unmatched, unused_attribute


@shows(
    Kind.UNRESOLVED,
    FAIL,
    "(root).head",
    None,
    "2 saved values here are not used: (root) has no child 'head'",
    "expect_partial()",
)
def part_of_the_model_is_gone(at: Path) -> Pair:
    path = saved(at, v=var(), head=module(a=var(), b=module(c=var())))
    return Pair(
        path,
        lambda: ckpt(v=var()),
        mended=lambda: Pair(path, lambda: ckpt(v=var(), head=module(a=var(), b=module(c=var())))),
    )


@shows(Kind.UNRESOLVED, FAIL, "(root).optimizer", None, "1 slot variable of this optimizer is not")
def slot_variables_of_a_variable_that_is_gone(at: Path) -> Pair:
    def make(*names: str) -> Any:
        model = module(**{name: var([1.0]) for name in names})
        optimizer = keras_2().optimizers.legacy.SGD(momentum=0.9)
        return ckpt(model=model, optimizer=stepped(optimizer, [getattr(model, n) for n in names]))

    return Pair(str(make("a", "b").save(str(at / "ckpt"))), lambda: make("a"))


@silent(Kind.UNRESOLVED)
def object_without_values_is_gone(at: Path) -> Pair:
    return Pair(saved(at, v=var(), head=module(b=module())), lambda: ckpt(v=var()))


@silent(Kind.UNRESOLVED)
def values_below_a_poisoned_container(at: Path) -> Pair:
    return Pair(saved(at, model=two_blocks()), lambda: ckpt(model=replaced_block()))


@shows(
    Kind.UNMATCHED,
    FAIL,
    None,
    "(root).head",
    "2 values of the program are not in the checkpoint: (root) has nothing under 'head'",
)
def part_of_the_model_is_new(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(
        path,
        lambda: ckpt(v=var(), head=module(a=var(), b=var())),
        mended=lambda: Pair(path, lambda: ckpt(v=var(), head=module(a=var(), b=var()))),
        passes="assert_nontrivial_match",
    )


@silent(Kind.UNMATCHED)
def new_part_has_no_value(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), head=module(a=[])))


@shows(Kind.UNUSED_ATTRIBUTE, FAIL, "(root).x", "(root).x", "Saved as VARIABLE_VALUE", "was saved")
def module_where_a_variable_was_saved(at: Path) -> Pair:
    path = saved(at, x=var([1.0]))
    return Pair(
        path,
        lambda: ckpt(x=module()),
        mended=lambda: Pair(path, lambda: ckpt(x=var([0.0]))),
    )


@silent(Kind.UNUSED_ATTRIBUTE)
def module_where_a_module_was_saved(at: Path) -> Pair:
    return Pair(saved(at, x=module(v=var())), lambda: ckpt(x=module(v=var())))


# --- deferred


@shows(Kind.DEFERRED, DEFERRED, "(root).model._functional", "(root).model", "4 saved values wait")
def keras_3_sequential_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=keras_3_sequential(4, 2)),
        lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)),
        after=lambda target: called(target.model),
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).model", "until this Net is built", "call the model")
def keras_3_subclass_with_build_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=called(net_with_build()())),
        lambda: ckpt(model=net_with_build()()),
        after=lambda target: called(target.model),
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).model", "4 saved values wait until this Sequential")
def keras_2_sequential_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=keras_2_sequential(4, 2)),
        lambda: ckpt(model=unbuilt_sequential(keras_2(), 4, 2)),
        after=lambda target: called(target.model),
    )


def _optimizer_not_built(at: Path, maker: Callable[..., Any]) -> Pair:
    def build(target: Any) -> None:
        if hasattr(target.optimizer, "build"):
            target.optimizer.build([target.model.a])
        else:
            stepped(target.optimizer, [target.model.a])

    return Pair(
        saved_with(at, maker),
        lambda: ckpt(model=module(a=var([3.0, 4.0])), optimizer=maker()),
        after=build,
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "2 saved values wait until this Adam")
def keras_3_optimizer_not_built(at: Path) -> Pair:
    return _optimizer_not_built(at, keras_3_adam)


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "optimizer.build(variables)")
def keras_2_optimizer_not_built(at: Path) -> Pair:
    return _optimizer_not_built(at, keras_2_adam)


@shows(Kind.DEFERRED, DEFERRED, "(root).optimizer.iter", "(root).optimizer", "5 saved values wait")
def legacy_optimizer_before_its_first_step(at: Path) -> Pair:
    return _optimizer_not_built(at, legacy_adam)


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "until this AdamOptimizer is built")
def optimizer_of_tensorflow_1_before_its_first_step(at: Path) -> Pair:
    return _optimizer_not_built(at, v1_adam)


@shows(Kind.DEFERRED, DEFERRED, None, "(root).model", "12 saved values wait until this Sequential")
def slot_variables_of_variables_not_made_yet(at: Path) -> Pair:
    def build(target: Any) -> None:
        stepped(target.optimizer, called(target.model).trainable_variables)

    model = called(keras_2_sequential(4, 2))
    path = saved(at, model=model, optimizer=legacy_adam(*model.trainable_variables))
    return Pair(
        path,
        lambda: ckpt(model=unbuilt_sequential(keras_2(), 4, 2), optimizer=legacy_adam()),
        after=build,
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "4 saved values wait until this AdamOp")
def slot_variables_that_a_graph_does_not_make_yet(at: Path) -> Pair:
    import tensorflow as tf

    def live() -> Any:
        return ckpt(model=module(a=var([3.0, 4.0], use_resource=True)), optimizer=v1_adam())

    graph = tf.Graph()
    make = made_within(graph.as_default, live)
    return Pair(saved_with(at, v1_adam), make, within=graph.as_default)


@silent(Kind.DEFERRED)
def built_model_lacks_a_layer(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 2))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4)))


@silent(Kind.DEFERRED)
def module_lacks_a_variable(at: Path) -> Pair:
    return Pair(saved(at, m=module(a=var(), b=var())), lambda: ckpt(m=module(a=var())))


@silent(Kind.DEFERRED)
def optimizer_of_another_generation_is_not_built(at: Path) -> Pair:
    path = saved_with(at, keras_3_adam)
    return Pair(path, lambda: ckpt(model=module(a=var([1.0, 2.0])), optimizer=legacy_adam()))


# --- overwritten


@shows(
    Kind.OVERWRITTEN,
    INFO,
    "(root).optimizer._learning_rate",
    "(root).optimizer._learning_rate",
    "learning_rate is 0.001; the restore sets it to 0.1",
)
def learning_rate_of_keras_3_set_anew(at: Path) -> Pair:
    path = saved_with(at, lambda *v: keras_3_adam(*v, learning_rate=0.1))
    return Pair(path, lambda: with_adam(lambda *v: keras_3_adam(*v, learning_rate=0.001)))


@shows(Kind.OVERWRITTEN, INFO, None, None, "beta_1 is 0.9; the restore sets it to 0.5")
def beta_of_legacy_keras_set_anew(at: Path) -> Pair:
    path = saved_with(at, lambda *v: legacy_adam(*v, beta_1=0.5))
    return Pair(path, lambda: with_adam(legacy_adam))


@silent(Kind.OVERWRITTEN)
def learning_rate_is_the_same(at: Path) -> Pair:
    path = saved_with(at, lambda *v: keras_3_adam(*v, learning_rate=0.1))
    return Pair(path, lambda: with_adam(lambda *v: keras_3_adam(*v, learning_rate=0.1)))


@silent(Kind.OVERWRITTEN)
def learning_rate_of_a_model_is_a_weight(at: Path) -> Pair:
    return Pair(
        saved(at, m=module(learning_rate=var(1.0))), lambda: ckpt(m=module(learning_rate=var(2.0)))
    )


# --- unknowable


@cache
def text_state() -> Any:
    import tensorflow as tf

    base: Any = tf.train.experimental.PythonState

    class Text(base):  # type: ignore[misc]
        restored: Any = None

        def serialize(self) -> str:
            return "state"

        def deserialize(self, text: str) -> None:
            self.restored = text

    return Text


@shows(Kind.UNKNOWABLE, INFO, "(root).s", "(root).s", "Code of its own class", "copy")
def python_state(at: Path) -> Pair:
    return Pair(saved(at, s=text_state()()), lambda: ckpt(s=text_state()()))


@shows(Kind.UNKNOWABLE, INFO, "(root).h", "(root).h", "Code of its own class")
def object_that_restores_itself(at: Path) -> Pair:
    return Pair(saved(at, h=halves("lower")()), lambda: ckpt(h=halves("lower")()))


@shows(Kind.UNKNOWABLE, ERROR, "(root).m", "(root).m", "RuntimeError: no list for you")
def object_raises_when_it_is_asked(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var())), lambda: ckpt(m=_unlistable()()))


@shows(Kind.UNKNOWABLE, INFO, None, None, "A graph is being built", "run_restore_ops()")
def graph_is_being_built(at: Path) -> Pair:
    return in_a_graph(saved(at, v=var([1.0])), [5.0])


@silent(Kind.UNKNOWABLE)
def table_and_iterator_of_tensorflow(at: Path) -> Pair:
    import tensorflow as tf

    def make() -> Any:
        return ckpt(t=mutable_table(2), i=iter(tf.data.Dataset.range(3)), v=var())

    return Pair(str(make().save(str(at / "ckpt"))), make)


# --- leftover


@shows(Kind.LEFTOVER, FAIL, None, "(root).save_counter", "A SavedModel has no save_counter")
def counter_of_a_saved_model(at: Path) -> Pair:
    path = saved_model(at, v=var(1.0))
    return Pair(
        path,
        lambda: ckpt(module(v=var(2.0))),
        mended=lambda: Pair(path, lambda: ckpt(module(v=var(2.0)))),
        passes="assert_nontrivial_match",
    )


@shows(
    Kind.LEFTOVER, FAIL, "(root).layer", "(root).layer", "layer's configuration", "Nothing to do"
)
def configuration_of_an_old_layer(at: Path) -> Pair:
    # As Keras saved it in TensorFlow 1.13 to 2.0.
    key = "layer/.ATTRIBUTES/OBJECT_CONFIG_JSON"

    def add(graph: Any, values: dict[str, Any]) -> None:
        layer = next(c.node_id for c in graph.nodes[0].children if c.local_name == "layer")
        graph.nodes[layer].attributes.add(name="OBJECT_CONFIG_JSON", checkpoint_key=key)
        values[key] = b"{}"

    path = rewritten(at, saved(at, layer=module(kernel=var([1.0]))), add)
    return Pair(path, lambda: ckpt(layer=module(kernel=var([2.0]))))


def compiled() -> Any:
    """Return a Keras 2 model with an optimizer and metrics."""
    model = called(keras_2_sequential(4, 2))
    model.compile("adam", "mse")
    stepped(model.optimizer, model.trainable_variables)
    return model


def keras_2_saved_model(at: Path) -> str:
    compiled().save(str(at / "model"), save_format="tf")
    return str(at / "model")


@shows(Kind.LEFTOVER, FAIL, "(root).keras_api", None, "2 values that a SavedModel or Keras keeps")
def metrics_of_a_keras_2_saved_model(at: Path) -> Pair:
    return Pair(keras_2_saved_model(at), lambda: ckpt(compiled()))


@shows(Kind.LEFTOVER, FAIL, None, "(root).keras_api", "2 values that a loaded SavedModel keeps")
def metrics_of_a_loaded_saved_model(at: Path) -> Pair:
    import tensorflow as tf

    directory = keras_2_saved_model(at)
    compiled().save_weights(str(at / "weights"), save_format="tf")
    return Pair(str(at / "weights"), lambda: ckpt(tf.saved_model.load(directory)), "read")


@silent(Kind.LEFTOVER)
def other_attribute_of_a_layer(at: Path) -> Pair:
    return Pair(saved(at, layer=var()), lambda: ckpt(layer=module()))


@silent(Kind.LEFTOVER)
def saved_model_read_by_its_variables(at: Path) -> Pair:
    path = saved_model(at, v=var(1.0)) + "/variables/variables"
    return Pair(path, lambda: ckpt(module(v=var(2.0))), "read")


# --- name-based checkpoints


def tensors(at: Path, **values: Any) -> str:
    """Write a name-based checkpoint; two underscores stand for a slash."""
    named = {name.replace("__", "/"): value for name, value in values.items()}
    return save_by_name(at / "model.ckpt", named)


@shows(Kind.RENAMED, FAIL, "bert/layer_norm/beta", "(root).v", "'bert/layer_norm/beta' of the same")
def full_name_has_changed(at: Path) -> Pair:
    path = tensors(at, bert__layer_norm__beta=[1.0, 2.0], bert__layer_norm__gamma=[1.0, 2.0])
    return Pair(path, lambda: ckpt(v=var([3.0, 4.0], name="bert/layer_norm_1/beta")))


@silent(Kind.RENAMED)
def full_name_has_changed_and_two_are_like_it(at: Path) -> Pair:
    path = tensors(at, bert__layer_a__beta=[1.0, 2.0], bert__layer_b__beta=[1.0, 2.0])
    return Pair(path, lambda: ckpt(v=var([3.0, 4.0], name="bert/layer_c/beta")))


@shows(Kind.UNMATCHED, FAIL, None, "(root).v", "The file has no 'v'", "tf.compat.v1.train.Saver")
def full_name_is_not_in_the_file(at: Path) -> Pair:
    return Pair(tensors(at, w=[1.0, 2.0]), lambda: ckpt(v=var([3.0], name="v")))


@shows(Kind.SHAPE, ERROR, "v", "(root).v", "has shape (2,), the program's (1,)")
def value_of_a_full_name_has_another_shape(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0, 2.0]), lambda: ckpt(v=var([3.0], name="v")))


@shows(Kind.DTYPE, ERROR, "v", "(root).v", "has dtype int32, the program's float32")
def value_of_a_full_name_has_another_dtype(at: Path) -> Pair:
    return Pair(tensors(at, v=[1, 2]), lambda: ckpt(v=var([3.0, 4.0], name="v")))


@shows(Kind.LEFTOVER, INFO, "global_step", None, "asks for 1 name", "no assert tells")
def name_that_nobody_asks_for(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0], global_step=[1]), lambda: ckpt(v=var([3.0], name="v")))


@shows(Kind.SAVE_COUNTER, FAIL, None, "(root).save_counter", "every assert fails", "Use read()")
def counter_beside_the_root_of_a_name_based_restore(at: Path) -> Pair:
    path = tensors(at, v=[1.0])

    def live() -> Any:
        return ckpt(module(v=var([3.0], name="v")))

    return Pair(path, live, mended=lambda: Pair(path, live, "read"))


@shows(Kind.POISONED_CONTAINER, ERROR, None, "(root).model.blocks", "list element was replaced")
def poisoned_where_names_are_restored(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0]), lambda: ckpt(model=replaced_block()))


@shows(Kind.UNKNOWABLE, FAIL, None, None, "not looked up before run_restore_ops()")
def graph_is_being_built_of_names(at: Path) -> Pair:
    return in_a_graph(tensors(at, v=[1.0]), [5.0], name="v")


# --- the tests


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> None:
    silence_tensorflow()


def _check(pair: Pair) -> RestoreCheck:
    live = pair.make()
    with pair.within():
        check = cv.check(live, pair.path, method=pair.method)
        assert check.findings is check.findings
    return check


def _of_kind(check: RestoreCheck, kind: Kind) -> list[Finding]:
    return [finding for finding in check.findings if finding.kind is kind]


def _is_shown(finding: Finding, expected: Shows) -> bool:
    return (
        finding.severity is expected.severity
        and expected.saved in (None, finding.saved)
        and expected.live in (None, finding.live)
        and all(word in f"{finding.why} {finding.remedy}" for word in expected.words)
    )


def _is_one_sentence(text: str) -> bool:
    return bool(text) and "\n" not in text and text[-1] in ".?" and not re.search(r"\. [A-Z]", text)


def test_every_kind_is_shown_and_has_a_near_miss() -> None:
    shown = {row.kind for row in ROWS if row.shows is not None}
    assert shown == {row.kind for row in ROWS if row.shows is None} == set(LAWS) == set(Kind)


def test_names_of_rows_are_unique() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_findings(row: Row, tmp_path: Path) -> None:
    pair = row.pair(tmp_path)
    check = _check(pair)
    found = _of_kind(check, row.kind)
    if row.shows is None:
        assert found == []
    else:
        shown = [finding for finding in found if _is_shown(finding, row.shows)]
        assert len(shown) == 1, found
    for finding in check.findings:
        assert _is_one_sentence(finding.why), finding.why
        assert _is_one_sentence(finding.remedy), finding.remedy
    if row.shows is not None and pair.mended is not None:
        _helps(row, pair, pair.mended())
    if any(finding.kind is Kind.PROCESS_ABORT for finding in check.findings):
        return  # a test of its own restores that, in another process
    real = restored(pair, check)
    _agree(check, real)
    for finding in check.findings:
        ask(finding, real)


def _helps(row: Row, pair: Pair, mended: Pair) -> None:
    """Do what the remedy says, and look what TensorFlow says then."""
    check = _check(mended)
    assert _of_kind(check, row.kind) == [] or row.kind in _STAYS
    real = restored(mended, check)
    assert real.raised is None
    assert real.asserts[pair.passes] is None


def _agree(check: RestoreCheck, real: Real) -> None:
    """Compare with TensorFlow, and the severities of the findings with what they mean."""
    severities = {finding.severity for finding in check.findings}
    raises = check.raises.type if check.raises is not None else None
    assert raises == (type(real.raised).__name__ if real.raised is not None else None)
    assert (ERROR in severities) == (raises is not None)
    if raises is None:
        assert check.consumed == (real.asserts["assert_consumed"] is None)
        fails = not check.consumed
        assert bool({FAIL, DEFERRED} & severities) == fails


def test_headline_of_a_restore_that_ends_the_process(tmp_path: Path) -> None:
    pair = one_entry_into_a_dense_table(tmp_path)
    check = _check(pair)
    assert check.overlay.headline == "restore() would end the process: 1 failing"
    assert check.raises is not None and check.raises.type == "SIGABRT"
    assert not check.consumed


def test_coverage_counts_no_value_of_an_optimizer_itself(tmp_path: Path) -> None:
    pair = optimizer_that_scales_the_loss(tmp_path)
    assert "optimizer 6 of 6" in [str(part) for part in _check(pair).coverage]


# Where the remedy is to accept what the finding tells.
_STAYS = {Kind.OPTIMIZER_MISSING, Kind.UNMATCHED, Kind.LEFTOVER}

ABORTING = [row for row in ROWS if row.kind is Kind.PROCESS_ABORT and row.shows is not None]


@pytest.mark.parametrize("row", ABORTING, ids=lambda row: row.id)
def test_the_process_would_end(row: Row, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests import test_check_findings as findings;"
        "row = next(row for row in findings.ROWS if row.id == sys.argv[1]);"
        "pair = row.pair(Path(sys.argv[2])); live = pair.make();"
        "print('now', flush=True); live.restore(pair.path); print('never')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, row.id, str(tmp_path)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGABRT
    assert done.stdout == "now\n"
