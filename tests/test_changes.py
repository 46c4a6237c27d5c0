"""Changes of programs: each refactoring is found, and nothing else; what one change explains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import State
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.edges import Edge
from ckpt_viz.matching.changes.in_sequences import shifts
from ckpt_viz.matching.changes.kind import CHANGES, Kind
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, map_values
from tests.programs.trees import REFACTORINGS, Part, graph_of, law_of
from tests.support.amounts import amount
from tests.support.graphs import graph
from tests.support.programs import (
    COUNTER,
    ckpt,
    differently,
    keras_2,
    keras_3,
    module,
    save_any,
    save_by_name,
    saved,
    stepped,
    var,
)

PROGRAMS = amount(60, 1000)
FOUND = {
    "rename": {Kind.RENAMED},
    "wrap": {Kind.WRAPPED},
    "unwrap": {Kind.UNWRAPPED},
    "move": {Kind.MOVED},
    "insert": {Kind.INSERTED, Kind.UNMATCHED},
    "remove": {Kind.REMOVED, Kind.UNRESOLVED},
    "to_names": {Kind.CONTAINER_CHANGED},
    "to_list": {Kind.CONTAINER_CHANGED},
    "reshape": {Kind.SHAPE},
    "root_shift": {Kind.ROOT_SHIFTED},
}


def changes_between(was: Part, now: Part) -> tuple[Change, ...]:
    return changes_of(map_values(graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]))


@pytest.mark.parametrize("refactoring", REFACTORINGS)
def test_exactly_the_change_that_was_made_is_found(refactoring: str, seed: int) -> None:
    def judge(was: Part, now: Part) -> None:
        found = [change.kind for change in changes_between(was, now)]
        assert len(found) == 1 and set(found) <= FOUND[refactoring], found

    claim = f"Exactly the change is found: {refactoring}"
    law_of(claim, judge, [refactoring], are_distinct=True).hold(seed, PROGRAMS)


def test_a_program_as_it_was_has_no_changes(seed: int) -> None:
    def judge(was: Part, now: Part) -> None:
        assert changes_between(was, now) == ()

    law_of("A program as it was has no changes", judge).hold(seed, PROGRAMS)


def test_every_kind_of_change_has_a_law_or_a_row() -> None:
    by_rows = {
        *(Kind.MIGRATED, Kind.REORDERED, Kind.OPTIMIZER_CHANGED, Kind.SCOPE_CHANGED, Kind.DTYPE),
    }
    assert set().union(*FOUND.values()) | by_rows == CHANGES


# --- findings of real programs


def network(head: int, *, normalized: bool = False, first: str = "first", **optimizer: Any) -> Any:
    """Return a checkpoint of a trained Keras 3 model and its Adam."""
    keras = keras_3()
    layers = [keras.layers.Dense(4, name=first)]
    layers += [keras.layers.BatchNormalization(name="norm")] if normalized else []
    layers += [keras.layers.Dense(5, name="second"), keras.layers.Dense(head, name="head")]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile(keras.optimizers.Adam(**optimizer), "mse")
    stepped(model.optimizer, model.trainable_variables)
    return ckpt(model=model, optimizer=model.optimizer)


def of_dtype(dtype: str) -> Any:
    """Return a checkpoint of a built Keras 3 model in a dtype, and of its Adam."""
    layers = keras_3().layers
    dense = [layers.Dense(4, dtype=dtype), layers.Dense(5, dtype=dtype)]
    norm = layers.BatchNormalization(dtype=dtype)
    model = keras_3().Sequential([keras_3().Input((3,), dtype="float32"), dense[0], norm, dense[1]])
    optimizer = keras_3().optimizers.Adam()
    optimizer.build(model.trainable_variables)
    return ckpt(model=model, optimizer=optimizer)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize(("was", "now"), [("float32", "float16"), ("float16", "float32")])
def test_a_model_in_another_dtype_is_one_cause(was: str, now: str, tmp_path: Path) -> None:
    path = save_any(tmp_path, of_dtype(was))
    live = of_dtype(now)
    check = cv.check(live, path)
    with pytest.raises(Exception, match=r"expected dtype .* does not equal original dtype"):
        live.restore(path)
    (finding,) = check.findings
    assert finding.kind is Kind.DTYPE
    # Two dense layers and a normalization: 8 variables, of which Adam trains 6.
    assert finding.why == f"The program is {now}, the file {was} (20 values)."
    assert str(finding.remedy).startswith("Make the variables with the saved dtype")


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_policy_that_changes_no_variable_is_no_cause(tmp_path: Path) -> None:
    path = save_any(tmp_path, of_dtype("float32"))
    live = of_dtype("mixed_float16")
    assert cv.check(live, path).findings == ()
    live.restore(path).assert_consumed()


def test_the_place_of_inserted_items_is_that_of_the_first_one() -> None:
    saved = graph({0: {"items": 1}, 1: {"0": 2, "1": 3}}, variables=(2, 3))
    live = graph({0: {"items": 1}, 1: {"0": 2, "1": 3, "2": 4, "3": 5}}, variables=(2, 3, 4, 5))
    edges = [
        Edge(node, obj, 1, 1, (old,), (new,), ("items", "items"), is_same_holder=True)
        for node, obj, old, new in ((2, 2, "0", "0"), (3, 5, "1", "3"))
    ]
    mapping = ValueMapping(saved, live, (), {}, (), (), ())
    (shift,) = shifts(edges, mapping, {2, 5}, ((), ()))
    assert (shift.kind, shift.words, shift.inserted) == (Kind.INSERTED, ("1", "2"), [3, 4])


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_an_inserted_layer_and_a_new_head_are_two_findings(tmp_path: Path) -> None:
    path = save_any(tmp_path, differently(network(2)))
    check = cv.check(network(3, normalized=True, first="stem"), path)
    told = [finding for finding in check.findings if finding.change is not None]
    assert [finding.kind.value for finding in told] == ["inserted", "shape"]
    assert "norm is new" in told[0].why and "head is larger" in told[1].why
    assert len(check.findings) == 3  # the last one is a note on the learning rate
    assert sum(len(finding.explains) for finding in told) >= 5
    assert "This change causes 5 more problems" in str(check.details)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_new_copy_of_the_old_structure_wraps_nothing(tmp_path: Path) -> None:
    keras = keras_3()
    dense = keras.layers.Dense

    def model(*, is_flat: bool) -> Any:
        inner = [dense(6), dense(3)]
        nested = inner if is_flat else [keras.Sequential([keras.Input((5,)), *inner])]
        ends = [dense(3), dense(3), dense(9)]
        return keras.Sequential([keras.Input((4,)), dense(5), *nested, *ends])

    def program(*, is_flat: bool) -> Any:
        made, optimizer = model(is_flat=is_flat), keras.optimizers.AdamW()
        optimizer.build(made.trainable_variables)
        copies = {"a_copy": model(is_flat=False)} if is_flat else {}
        return ckpt(made, optimizer=optimizer, **copies)

    path = save_any(tmp_path, differently(program(is_flat=False)))
    fix = cv.check(program(is_flat=True), path).fix()
    assert {change.kind.value for change in fix.changes}.isdisjoint({"wrapped", "gone"})
    assert not [name for name in fix.pairs.values() if "a_copy" in name]
    assert fix.unused == ()


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("version", [2, 3])
def test_an_inserted_layer_is_named_among_layers_without_weights(
    version: int, tmp_path: Path
) -> None:
    keras = keras_3() if version == 3 else keras_2()

    def model(*inserted: str) -> Any:
        layers = [keras.layers.Conv2D(4, 3)]
        layers += [keras.layers.BatchNormalization(name=name) for name in inserted]
        layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(4 + len(inserted))]
        return ckpt(model=keras.Sequential([keras.Input((8, 8, 3)), *layers]))

    check = cv.check(model("between"), save_any(tmp_path, model()))
    assert [finding.kind.value for finding in check.findings] == ["inserted", "shape"]
    assert "between seems to be new" in check.findings[0].why


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_layer_of_another_class_is_not_of_another_version_of_keras(tmp_path: Path) -> None:
    keras = keras_3()

    def model(layer: Any) -> Any:
        return ckpt(model=keras.Sequential([keras.Input((8, 8, 3)), layer(4, 3, name="conv")]))

    path = save_any(tmp_path, model(keras.layers.Conv2D))
    check = cv.check(model(keras.layers.SeparableConv2D), path)
    assert "version of Keras" not in str(check.details)
    assert "4 → 1" in check.findings[0].why


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_each_variable_of_a_renamed_part_is_one_row_and_counts_once(
    tmp_path: Path,
) -> None:
    path = save_any(tmp_path, ckpt(net=module(a=module(w=var([1.0]), v=var([1.0, 2.0])))))
    overlay = cv.check(ckpt(net=module(b=module(w=var([0.0]), v=var([0.0, 0.0])))), path).overlay
    names = overlay.names
    moved = [node for node, mark in enumerate(overlay.marks) if mark.state is State.MOVED]
    assert [(names.place_in_other(node), names.place(node)) for node in moved] == [
        (f"net.a{inner}", f"net.b{inner}") for inner in ("", ".w", ".v")
    ]
    assert overlay.table.lines[0].values == 2


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_changes_that_restore_by_themselves_are_no_findings(tmp_path: Path) -> None:
    def program(value: float, **names: str) -> Any:
        # Keras finds layers by its own list, whatever the attribute is called.
        one = module(w=var([value]))
        return ckpt(net=module(**{names["called"]: one}, also=one))

    path = saved(tmp_path, net=program(1.0, called="old").net)
    check = cv.check(program(0.0, called="new"), path)
    assert check.consumed and check.findings == ()


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_guess_without_equal_parts_says_that_only_shapes_tell(tmp_path: Path) -> None:
    def layers(**sizes: int) -> Any:
        keras = keras_3()
        made = {name: keras.layers.Dense(size, name=name) for name, size in sizes.items()}
        for layer in made.values():
            layer.build((None, 2))
        return ckpt(**made)

    path = str(layers(conv1=2, conv2=3, drop=7, pool=4).save(str(tmp_path / "ckpt")))
    check = cv.check(layers(conv1=2, drop=7, features=3, pool=4), path)
    renamed = [finding.why for finding in check.findings if finding.kind is cv.Kind.RENAMED]
    assert renamed == ["conv2 seems to be features now (2 values)."]
    assert len(check.fix(guesses=True).pairs) == len(check.fix().pairs) + 2


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_guess_is_told_as_a_guess(tmp_path: Path) -> None:
    path = saved(tmp_path, a=module(w=var([1.0])), b=module(w=var([2.0])))
    check = cv.check(ckpt(x=module(w=var([0.0])), y=module(w=var([0.0]))), path)
    assert [finding.why for finding in check.findings] == [
        f"{old} may be {new} now, but equal parts fit as well (1 value)."
        for old, new in (("a", "x"), ("b", "y"))
    ]
    fix = check.fix()
    assert "a.w may belong to x.w or y.w: a/w/.ATTRIBUTES/VARIABLE_VALUE\n" in fix.code
    assert "b.w may belong to y.w or x.w: b/w/.ATTRIBUTES/VARIABLE_VALUE\n" in fix.code
    assert [*fix.pairs] == [COUNTER] and "assign" not in fix.code
    assert not fix.is_applied


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("", "model_001/", "All names are in the scope model_001."),
        ("old/net/", "", "All names are outside of the scope old/net."),
        ("old/", "new/", "The scope old is new now."),
    ],
)
def test_members_of_an_ensemble_are_in_scopes_of_their_own(
    was: str, now: str, why: str, tmp_path: Path
) -> None:
    values: dict[str, Any] = {
        "dense/kernel": [[1.0, 2.0]],
        "dense/bias": [3.0, 4.0],
        "out/kernel": [[5.0]],
    }
    names = {f"{was}{name}": value for name, value in values.items()}
    path = save_by_name(tmp_path / "member.ckpt", names)
    live = ckpt(
        all=module(
            **{
                f"v{number}": var(np.zeros(np.shape(value), np.float32), name=f"{now}{name}")
                for number, (name, value) in enumerate(values.items())
            }
        )
    )
    fix = cv.check(live, path).fix().apply()
    assert [change.why for change in fix.changes] == [why]
    for number, value in enumerate(values.values()):
        assert np.array_equal(getattr(live.all, f"v{number}"), value)


@pytest.mark.tf
@pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
def test_which_of_two_alike_layers_was_removed_is_not_told_if_the_other_was_renamed(
    keras: Any, tmp_path: Path
) -> None:
    was = _named_layers(keras(), "alpha", "beta")
    path = str(ckpt(model=was).save(str(tmp_path / "model")))
    fix = cv.check(ckpt(model=_named_layers(keras(), "gamma")), path).fix()
    assert len(fix.changes) == 1
    assert fix.changes[0].why.startswith("One of 2 alike layers is gone")
    assert {key.rpartition("/.ATTRIBUTES")[0].rpartition("/")[2] for key in fix.pairs} == {
        "kernel" if keras is keras_2 else "_kernel",
        "bias",
        "save_counter",
    }
    assert len(fix.pairs) == 3 and len(fix.missing) == 2  # the last layer's, and gamma's
    assert "# These are guesses, and left out; " in fix.code


def _named_layers(keras: Any, *names: str) -> Any:
    layers = [keras.layers.Dense(4, name=name) for name in names]
    return keras.Sequential([keras.layers.Input((4,)), *layers, keras.layers.Dense(2, name="out")])


def test_a_part_is_inside_what_people_call_its_holder(tmp_path: Path) -> None:
    """Keras holds the layers of a Sequential in `_functional._operations`."""
    import keras
    import tensorflow as tf

    def layers() -> list[Any]:
        return [keras.layers.Dense(2, name=name) for name in ("a", "b", "c")]

    path = tf.train.Checkpoint(model=keras.Sequential([keras.Input((2,)), *layers()])).save(
        str(tmp_path / "ckpt")
    )
    inner = keras.Sequential([keras.Input((2,)), *layers()], name="inner")
    head = keras.layers.Dense(3, name="head")
    live = tf.train.Checkpoint(model=keras.Sequential([keras.Input((2,)), inner, head]))
    assert "a, b and c are in inner now." in [change.why for change in cv.fix(live, path).changes]
