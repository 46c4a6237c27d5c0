"""The table of a restore: a row for each value, for every kind of restore; TensorFlow is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.matching.restore_table.folding import Folding
from ckpt_viz.matching.restore_table.rows import Destination, RestoreTable, Why
from tests.check_rows.binding import (
    saved_counter_is_a_float,
    saved_counter_is_a_vector,
    saved_counter_of_a_root_is_a_vector,
)
from tests.check_rows.table import Pair
from tests.support.graphs import graph
from tests.support.programs import ckpt, keras_3_adam, module, var
from tests.support.saved_graphs import write_graph

MOST_LINES = 40
COUNTERS_THAT_DO_NOT_FIT = (
    saved_counter_is_a_float,
    saved_counter_is_a_vector,
    saved_counter_of_a_root_is_a_vector,
)
Case = tuple[Any, Any, str, Callable[[], object]]


def _model(units: int, blocks: int = 3, *, is_bare: bool = False) -> Any:
    import keras

    layers = [keras.layers.Dense(4, name=f"block{number}") for number in range(blocks)]
    head = keras.layers.Dense(units, name="head")
    model = keras.Sequential([keras.Input((4,)), *layers, head])
    model.compile("adam", "mse")
    if not is_bare:
        model.optimizer.build(model.trainable_variables)
    return model


def _trained(model: Any) -> Any:
    generator = np.random.default_rng(7)
    for variable in model.variables:
        if variable.dtype.startswith("float"):
            variable.assign(generator.normal(size=variable.shape))
    return model


KINDS = ("object graph", ".weights.h5", ".keras", ".h5")


def _check_of(kind: str, old: Any, new: Any, tmp_path: Path) -> tuple[cv.RestoreCheck, Any]:
    """Return the check of a file of the old model and the new model, and the real call."""
    import tensorflow as tf

    if kind == "object graph":
        path = tf.train.Checkpoint(model=old, optimizer=old.optimizer).save(str(tmp_path / "c"))
        ckpt = tf.train.Checkpoint(model=new, optimizer=new.optimizer)
        return cv.check(ckpt, path), lambda: ckpt.restore(path)
    path = str(tmp_path / f"file{kind}")
    old.save_weights(path) if kind == ".weights.h5" else old.save(path)
    return cv.check(new, path), lambda: new.load_weights(path)


def _assert_complete(table: RestoreTable) -> None:
    """Assert that each value of either side has exactly one row."""
    sides = [(table.live, [row.live for row in table.rows])]
    sides += [] if table.saved is None else [(table.saved, [row.saved for row in table.rows])]
    for side, of_rows in sides:
        valued = [n for n in side.tree.preorder() if has_value(side.nodes[n])]
        assert sorted(node for node in of_rows if node is not None) == sorted(valued)
    assert all(row.saved is not None or row.live is not None for row in table.rows)


def _of_model(table: RestoreTable) -> RestoreTable:
    """Return the rows of a model alone."""
    names = table.live.names
    rows = [r for r in table.rows if r.live is not None and "optimizer" not in names.place(r.live)]
    rows = [row for row in rows if "state" not in names.place_or_state(row.live or 0)]
    return replace(table, rows=rows)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", ["none", "head", "block", "bare"])
def test_the_plain_column_is_what_the_call_does(kind: str, edit: str, tmp_path: Path) -> None:
    old = _trained(_model(3))
    new = _model(5 if edit == "head" else 3, 4 if edit == "block" else 3, is_bare=edit == "bare")
    check, call = _check_of(kind, old, new, tmp_path)
    table = check.table
    _assert_complete(table)
    for variable in (*new.variables, *new.optimizer.variables):
        if variable.dtype.startswith("float"):
            variable.assign(np.full(variable.shape, 77.0))
    try:
        call()
    except Exception as error:
        assert check.raises is not None and type(error).__name__ == check.raises.type
    else:
        assert check.raises is None
    for row in table.rows:
        value: Any = None if row.live is None else table.live.object(row.live)
        if value is None or not str(value.dtype).startswith(("float", "<dtype: 'float")):
            continue
        is_kept = bool(np.all(np.asarray(value) == 77.0))
        gets_other = row.plain.place is Destination.INTO and row.saved is None
        if row.plain.place is Destination.HERE or gets_other:
            assert not is_kept, (row, table.live.name(row.live or 0))
        elif row.plain.why is not Why.OCCUPIED:
            others = {each.plain.other for each in table.rows if each.saved is not None}
            assert is_kept or row.live in others, (row, table.live.name(row.live or 0))
    if edit == "none":
        if kind == ".h5":  # load_weights leaves the optimizer's state in the file
            table = _of_model(table)
        assert all(row.plain.place is Destination.HERE for row in table.rows)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("kind", KINDS)
def test_the_text_has_forty_lines_at_most_for_any_model(kind: str, tmp_path: Path) -> None:
    old = _model(3, 30)
    new = _model(5, 31, is_bare=True)
    check, _ = _check_of(kind, old, new, tmp_path)
    text = str(check)
    assert len(text.splitlines()) <= MOST_LINES, text
    assert "… block29" in text or "other values" in text, text
    assert "head" in text


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_program_that_has_not_changed_has_one_sentence_and_no_table(tmp_path: Path) -> None:
    check, _ = _check_of(".weights.h5", _model(3), _model(3), tmp_path)
    assert str(check).splitlines()[1] == "Restores all 26 values."


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_the_head_says_what_a_person_did(tmp_path: Path) -> None:
    check, _ = _check_of("object graph", _model(3), _model(5, 4), tmp_path)
    lines = str(check).splitlines()
    assert lines[1] == "You added block3, and the head is larger: 3 → 5."
    assert lines[2].startswith("restore() raises ValueError, after ")
    assert any("block3" in line and "+ keeps its own" in line for line in lines), lines


def _saver(tmp_path: Path) -> Iterator[cv.RestoreCheck]:
    import tensorflow as tf

    tf1, path = tf.compat.v1, str(tmp_path / "names")
    with tf.Graph().as_default(), tf1.Session() as session:
        for name in ("a/w", "b/w"):
            tf1.get_variable(name, (2, 2))
        session.run(tf1.global_variables_initializer())
        tf1.train.Saver().save(session, path)
    with tf.Graph().as_default():
        for name in ("x/a/w", "x/b/w"):
            tf1.get_variable(name, (2, 2))
        yield cv.check(tf1.train.Saver(), path)
        yield cv.check({"a/": "x/a/"}, path)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_restores_by_names_have_the_same_table(tmp_path: Path) -> None:
    saver, mapped = _saver(tmp_path)
    _assert_complete(saver.table)
    assert saver.table.fixed == 2 and saver.table.restored == 0
    assert "You put all names into the scope x." in str(saver)
    _assert_complete(mapped.table)
    assert mapped.table.restored == 1
    assert all(row.fixed is None for row in mapped.table.rows)
    assert "with the fix" not in str(mapped)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_value_of_another_shape_has_both_shapes_in_its_row(tmp_path: Path) -> None:
    saved, live = (
        module(net=module(w=var(np.zeros((2, columns), "float32")))) for columns in (3, 5)
    )
    paths = [ckpt(root=side).write(str(tmp_path / f"{n}")) for n, side in enumerate((saved, live))]
    check = cv.check(paths[1], paths[0])
    (row,) = check.table.rows
    assert row.plain.why is Why.SHAPE
    text = str(check)
    assert "  net.w 2×3   ✗ other shape   net.w 2×5        1 value" in text, text
    assert text.splitlines()[1] == "net is larger: 3 → 5."


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_values_of_the_only_layer_with_several_have_its_name(tmp_path: Path) -> None:
    import keras

    def model(width: int) -> Any:
        layers = [keras.layers.Embedding(5, width, name="words"), keras.layers.Dense(2, name="out")]
        return keras.Sequential([keras.Input((3,)), *layers])

    model(4).save_weights(tmp_path / "m.weights.h5")
    check = cv.check(model(6), str(tmp_path / "m.weights.h5"))
    assert [line.saved for line in check.overlay.table.lines[1:]] == ["out.kernel", "out.bias"]
    assert "  out.kernel 4×2 " in str(check)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_a_state_is_named_by_itself_before_its_variable(tmp_path: Path) -> None:
    model = module(transformer_block=module(a_dense_layer=module(kernel=var([1.0]))))
    optimizer = keras_3_adam(model.transformer_block.a_dense_layer.kernel)
    root = ckpt(model=model, optimizer=optimizer)
    check = cv.check(root, root.write(str(tmp_path / "c")))
    graph, folding = check.saved, Folding(check.table)
    assert graph is not None
    slots = [node for node, data in enumerate(graph.nodes) if data.slot is not None]
    names = {folding.place(graph, slot) for slot in slots}
    place = "model.transformer_block.a_dense_layer.kernel"
    assert names == {f"momentum of {place}", f"velocity of {place}"}
    for name in names:
        assert graph.node_id(name) in slots


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_what_holds_all_others_is_left_out_on_both_sides(tmp_path: Path) -> None:
    def part(size: int) -> Any:
        return module(w=var(np.ones(size, "float32")), b=var(np.ones((size, 2), "float32")))

    lists = module(downs=[part(2), part(3)], ups=[part(4), part(5)], head=part(6))
    names = module(d=part(2), e=part(3), f=part(4), g=part(5), head=part(7))
    path = ckpt(m=lists).write(str(tmp_path / "c"))
    check = cv.check(ckpt(m=names), path)
    table = check.overlay.table
    assert table is not None
    shown = {name for line in table.lines for name in (line.saved, line.live)}
    assert {"downs", "d", "head"} <= shown, shown
    assert not [name for name in shown if name.startswith("m.")]


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("pair", COUNTERS_THAT_DO_NOT_FIT)
def test_a_saved_counter_that_no_new_one_takes_stays_in_the_file(
    pair: Callable[[Path], Pair], tmp_path: Path
) -> None:
    path, make, *_ = pair(tmp_path)
    check = cv.check(make(), path)
    assert check.saved is not None
    (row,) = (row for row in check.table.rows if row.saved == check.saved.save_counter)
    assert row.live is None and row.fixed is not None and row.fixed.place is Destination.STAYS
    assert "save_counter" in str(check)


def test_hostile_names_move_no_cursor(tmp_path: Path) -> None:
    name = "a\x1b[2J\nb"
    saved = write_graph(tmp_path / "saved", graph({0: {name: 1, "w": 2}}, (1, 2)))
    live = write_graph(tmp_path / "live", graph({0: {"w": 1}}, (1,)))
    text = str(cv.check(live, saved))
    assert "\x1b" not in text and r"a\x1b[2J\nb" in text
    ends = {len(line) for line in text.splitlines() if line.endswith("1 value")}
    assert len(ends) == 1, text


def test_json_has_the_rows(tmp_path: Path) -> None:
    saved = write_graph(tmp_path / "saved", graph({0: {"v": 1, "w": 2}}, (1, 2)))
    live = write_graph(tmp_path / "live", graph({0: {"v": 1}}, (1,)))
    rows = json.loads(json.dumps(cv.check(live, saved).to_json()))["rows"]
    assert [(row["saved"], row["live"], row["plain"]["place"]) for row in rows] == [
        ("v", "v", "here"),
        ("w", None, "stays"),
    ]
    assert rows[1]["plain"]["why"] == rows[1]["fixed"]["why"] == "absent"


@pytest.mark.tf
def test_a_checkpoint_without_values_is_named_as_such(tmp_path: Path) -> None:
    import tensorflow as tf

    live = ckpt(net=module(w=var([1.0, 2.0])))
    empty = tf.train.Checkpoint().write(str(tmp_path / "empty"))
    counted = tf.train.Checkpoint().save(str(tmp_path / "counted"))
    says = "nothing that was saved had a variable yet."
    check = cv.check(live, empty)
    first = f"The checkpoint holds no values: {says}"
    assert str(check).splitlines()[1].startswith(f"{first} Build the model, or assign it to")
    assert "You added" not in str(check)
    table = check.overlay.table
    assert table is not None and table.sentence == first
    assert table.notes[0].startswith("Build the model, or assign it to")
    count = f"The checkpoint holds no value but the count of its saves: {says}"
    assert str(cv.check(live, counted)).splitlines()[1].startswith(count)
    assert says not in str(cv.check(live, live.save(str(tmp_path / "full"))))


@pytest.mark.tf
@pytest.mark.parametrize("place", ["full-1.index", "full", ""])
def test_a_path_that_means_another_restores_nothing(place: str, tmp_path: Path) -> None:
    live = ckpt(net=module(w=var([1.0, 2.0])))
    prefix = live.save(str(tmp_path / "full"))
    check = cv.check(ckpt(net=module(w=var([0.0, 0.0]))), str(tmp_path / place))
    assert check.table.restored == 0
    assert check.table.fixed == len(check.table.rows) == 2
    assert check.fix().prefix == prefix
    assert "check.fix().apply() restores all 2 values." in str(check)


@pytest.mark.tf
def test_a_check_of_a_wrong_path_is_of_the_program_at_that_time(tmp_path: Path) -> None:
    live = ckpt(net=module(v=var([3.0]), w=var([1.0, 2.0])))
    live.save(str(tmp_path / "full"))
    program = ckpt(net=module(v=var([0.0]), w=var([0.0, 0.0])))
    check = cv.check(program, str(tmp_path / "full-1.index"))
    program.restore(str(tmp_path / "full-1.index"))  # which makes a counter
    assert check.saved is None and check.table.saved is not None
    names = [
        (check.table.saved.names.place(row.saved), check.table.live.names.place(row.live))
        for row in check.table.rows
        if row.saved is not None and row.live is not None
    ]
    assert names == [("net.v", "net.v"), ("net.w", "net.w")]


@pytest.mark.tf
def test_a_value_that_waits_after_the_fix_is_not_built_yet_at_a_wrong_path_too(
    tmp_path: Path,
) -> None:
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    trained = keras.optimizers.Adam()
    trained.build(model.trainable_variables)
    prefix = ckpt(model=model, optimizer=trained).save(str(tmp_path / "full"))
    live = ckpt(model=model, optimizer=keras.optimizers.Adam())
    for path in (prefix, f"{prefix}.index", str(tmp_path)):
        lines = str(cv.check(live, path)).splitlines()
        waiting = [line for line in lines if "waits until built" in line]
        assert ["not built yet" in line for line in waiting] == [True], lines


@pytest.mark.tf
def test_a_model_saved_before_it_had_values_is_named_beside_one_that_had(tmp_path: Path) -> None:
    import keras

    def models(*, is_built: bool) -> Any:
        first = keras.Sequential([keras.Input((3,)), *map(keras.layers.Dense, (4, 2))])
        second = keras.Sequential([*map(keras.layers.Dense, (4, 2))])
        if is_built:
            second.build((None, 3))
        return ckpt(first=first, second=second)

    prefix = models(is_built=False).save(str(tmp_path / "early"))
    text = str(cv.check(models(is_built=True), prefix))
    assert "The checkpoint has second without its 4 values: second had no variables yet" in text


@pytest.mark.tf
def test_what_fails_comes_before_what_passes(tmp_path: Path) -> None:
    import keras

    class Untracked(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.table = {"a": var([1.0])}

    model = Untracked()
    prefix = ckpt(model=model, extra=var([1.0])).save(str(tmp_path / "more"))
    findings = cv.check(ckpt(model=model), prefix).findings
    kinds = [finding.kind for finding in findings]
    assert kinds == [cv.Kind.UNRESOLVED, cv.Kind.NOT_TRACKED]
    assert [f.severity for f in findings] == [cv.Severity.FAIL, cv.Severity.WARNING]


@pytest.mark.tf
@pytest.mark.parametrize("name", ["w.weights.h5", "ckpt"])
def test_the_states_of_an_optimizer_go_to_the_optimizer(name: str, tmp_path: Path) -> None:
    import keras

    def model(names: str, units: int) -> Any:
        layers = [keras.layers.Dense(4, name=name) for name in names.split()]
        head = keras.layers.Dense(units, name="head")
        made = keras.Sequential([keras.Input((3,)), *layers, head])
        made.compile("adam", "mse")
        made.optimizer.build(made.trainable_variables)
        return made

    path = str(tmp_path / name)
    old, new = model("first", 2), model("first mid", 5)
    if name == "ckpt":
        path = ckpt(model=old, optimizer=old.optimizer).save(path)
        check = cv.check(ckpt(model=new, optimizer=new.optimizer), path)
    else:
        old.save_weights(path)
        check = cv.check(new, path)
    assert "the root" not in str(check)
    told = [line.split() for line in str(check).splitlines() if "  optimizer  " in line]
    assert [words[:1] + words[-3:-2] for words in told] == [["optimizer"] * 2] * (name != "ckpt")


@pytest.mark.parametrize("kind", ["object graph", ".weights.h5"])
def test_a_new_part_that_is_given_another_parts_value_says_so(kind: str, tmp_path: Path) -> None:
    """It has no value in the file whose shape could be another one."""
    old, new = _model(3, 1), _model(3, 2)
    check, _ = _check_of(kind, old, new, tmp_path)
    (line,) = (line for line in str(check).splitlines() if line.startswith("  not in the file"))
    assert "✗ another part's value" in line and "   block1   " in line


def test_an_optimizer_has_its_own_place_where_its_slots_go_another_way(tmp_path: Path) -> None:
    # Keras reads no state of an optimizer with another number of variables.
    check, _ = _check_of(".weights.h5", _model(3, 2), _model(3, 3), tmp_path)
    names = [line.saved[0] for line in Folding(check.table).lines() if line.saved[0]]
    assert names == ["block0", "head", "optimizer"]


def test_a_model_in_a_model_is_one_line_of_an_h5_that_does_not_load(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")

    def nested(heads: int) -> Any:
        inputs = keras.Input((4,))
        layers = [keras.layers.Dense(4, name=name) for name in ("first", "second")]
        outputs = keras.Sequential([keras.Input((4,)), *layers], name="base")(inputs)
        for number in range(heads):
            outputs = keras.layers.Dense(3, name=f"head{number}")(outputs)
        model = keras.Model(inputs, outputs)
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
        return model

    check, load = _check_of(".h5", nested(1), nested(2), tmp_path)
    with pytest.raises(ValueError, match="Layer count mismatch"):
        load()
    lines = {line.saved[0]: len(line.rows) for line in Folding(check.table).lines()}
    assert lines["base"] == 4 * 3  # each with its two slot variables


def test_some_layers_of_a_model_have_not_the_class_of_the_model_beside_them(
    tmp_path: Path,
) -> None:
    keras = pytest.importorskip("keras")

    def of_blocks(count: int) -> Any:
        inputs = outputs = keras.Input((4,))
        for number in range(count):
            for name in ("up", "down"):
                outputs = keras.layers.Dense(4, name=f"block{number}_{name}")(outputs)
        model = keras.Model(inputs, keras.layers.Dense(3, name="head")(outputs))
        model.compile("adam", "mse")
        return model

    check, _ = _check_of("object graph", of_blocks(2), of_blocks(1), tmp_path)
    line = next(line for line in check.overlay.table.lines if line.saved == "block0")
    assert (line.saved_facts, line.live) == ("2 layers", "block0_up … block0_down")
    assert line.live_facts == ""


def test_a_line_counts_the_values_of_its_worst_cell(tmp_path: Path) -> None:
    old, new = _model(3, 1), _model(4, 1)
    check, _ = _check_of(".weights.h5", _trained(old), _trained(new), tmp_path)
    lines = [line for line in str(check).splitlines() if "head" in line]
    # Keras reads kernel and bias, and no slot variable.
    assert any("✗ 2 of 6: other shape" in line for line in lines), lines
