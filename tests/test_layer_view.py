"""The view of layers: what it folds, hoists, names and shows once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz import Node, ObjectGraph, Role
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.layers.layers import layers_of
from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.tree import NOWHERE, spanning_tree
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Comparison, Mark, Overlay, Problem, Severity, State
from ckpt_viz.graphs.render.layer_text import render_layers
from tests.support import live_objects
from tests.support.any_nodes import any_nodes
from tests.support.graphs import graph, transformer
from tests.support.payload_fixtures import empty_table


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_every_node_has_a_row_is_in_one_or_is_folded(nodes: tuple[Node, ...]) -> None:
    view = layers_of(nodes, spanning_tree(nodes))
    rows = [row for row in view.preorder() if row < len(nodes)]
    in_rows = [node_id for row in rows for node_id in view.through.get(row, (row,))]
    assert Counter([*in_rows, *view.folded]) == Counter(range(len(nodes)))
    assert set(view.through) <= set(rows)


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_nothing_with_a_value_is_folded_or_hoisted(nodes: tuple[Node, ...]) -> None:
    view = layers_of(nodes, spanning_tree(nodes))
    rows = set(view.preorder())
    assert {node_id for node_id, node in enumerate(nodes) if node.attributes} <= rows


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_rows_keep_the_paths_of_the_tree(nodes: tuple[Node, ...]) -> None:
    tree = spanning_tree(nodes)
    view = layers_of(nodes, tree)
    paths = {ROOT: view.path(ROOT)}  # of a group: that of the row above
    for row in view.preorder():
        assert all(view.parents[child] == row for child in view.children[row])
        if row == ROOT:
            continue
        paths[row] = view.path(row) if row < len(nodes) else paths[view.parents[row]]
        if row < len(nodes):
            first = paths[row][0]
            above = paths[view.parents[row]]
            # An optimizer stays where it is when the object beside it joins the row above.
            is_beside = nodes[first].role is Role.OPTIMIZER
            is_moved = row in view.hanging  # beside the layers of its model
            assert is_moved or tree.parents[first] in (above if is_beside else above[-1:])
        assert all(tree.parents[b] == a for a, b in pairwise(view.path(row)))


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes(), st.sets(st.integers(0, 7)))
def test_what_a_comparison_marks_has_a_row_of_its_own(
    nodes: tuple[Node, ...], marked: set[int]
) -> None:
    marks = dict.fromkeys((i for i in marked if i < len(nodes)), "differs")
    view = layers_of(nodes, spanning_tree(nodes), marks)
    assert all(view.shown_in[node_id] == node_id for node_id in marks)
    shown = [node_id for node_id, row in enumerate(view.shown_in) if row != NOWHERE]
    assert Counter([*shown, *view.folded]) == Counter(range(len(nodes)))
    for row, group in enumerate(view.groups, len(nodes)):
        if group.is_alike:
            assert len({_marked_below(view, marks, one) for one in view.children[row]}) == 1


def _marked_below(view: Layers, marks: Mapping[int, object], row: int) -> tuple[object, ...]:
    """Return the marks of a row and of all rows below, in their order."""
    below = (_marked_below(view, marks, child) for child in view.children[row])
    return (marks.get(row), *below)


def test_what_a_comparison_marks_is_neither_folded_nor_hoisted() -> None:
    shown = graph(
        {
            0: {"model": 1},
            1: {"_functional": 2},
            2: {"_layers": 3},
            3: {"0": 4, "1": 6},
            4: {"kernel": 5},
            6: {"kernel": 7},
        },
        variables=(5, 7),
    )
    marks = [Mark(State.PLAIN)] * 8
    assert _lines_of(_overlay(shown, marks).layers) == [
        "(root)",
        "  model · _functional · _layers",
        *["    0", "      kernel", "    layers[0]", "      kernel"],
    ]
    marks[3] = Mark(State.ONLY_A)
    assert _lines_of(_overlay(shown, marks).layers) == [
        "(root)",
        "  model · _functional",
        "    _layers",
        *["      0", "        kernel", "      layers[0]", "        kernel"],
    ]


def test_what_a_finding_names_has_a_row_of_its_own() -> None:
    shown = graph({0: {"model": 1, "notes": 3}, 1: {"kernel": 2}}, variables=(2,))
    marks = [Mark(State.PLAIN)] * 4
    assert "  notes" not in _lines_of(_overlay(shown, marks).layers)
    note = Problem(Severity.INFO, "note", (3,), None, "(root).notes", "It is empty.")
    assert "  notes" in _lines_of(_overlay(shown, marks, note).layers)


def test_a_renamed_layer_is_one_row() -> None:
    before = graph({0: {"net": 1}, 1: {"old": 2}, 2: {"kernel": 3}}, variables=(3,))
    after = graph({0: {"net": 1}, 1: {"new": 2}, 2: {"kernel": 3}}, variables=(3,))
    overlay = cv.diff(before, after).overlay
    assert _lines_of(overlay.layers) == ["(root)", "  net", "    new", "      kernel"]
    assert [*overlay.saved_titles.values()] == ["old"]


def test_a_number_is_no_saved_name_of_a_layer_without_values() -> None:
    saved = graph({0: {"0": 1, "1": 2}, 1: {"kernel": 3}}, variables=(3,))
    nodes = list(saved.nodes)
    nodes[1] = nodes[1]._replace(role=Role.LAYER, own_name="conv")
    nodes[2] = nodes[2]._replace(role=Role.LAYER, own_name="relu")
    overlay = cv.diff(saved, replace(saved, nodes=tuple(nodes))).overlay
    assert [*overlay.saved_names] == [None, "0", None, None]


def test_what_only_the_other_side_has_renames_no_layer() -> None:
    before = _scoped({"dense/kernel": 2, "other/gamma": 3})
    after = _scoped({"dense/kernel": 2})
    assert "  dense" in _lines(after)
    lines = _lines_of(cv.diff(before, after).overlay.layers)
    assert lines == ["(root)", "  dense", "    kernel", "    gamma"]


def test_layers_beside_one_another_in_one_scope_keep_their_places() -> None:
    listed = graph({0: {"0": 1, "1": 2}, 1: {"kernel": 3}, 2: {"kernel": 4}}, variables=(3, 4))
    assert _lines(_named(listed, {"net/kernel": 3}))[1::2] == ["  net", "  1"]
    in_one_scope = _named(_named(listed, {"net/kernel": 3}), {"net/kernel": 4})
    assert _lines(in_one_scope)[1::2] == ["  0", "  1"]


def test_layers_of_different_names_are_not_alike() -> None:
    two = graph({0: {"lstm1": 1, "lstm2": 2}, 1: {"kernel": 3}, 2: {"kernel": 4}}, variables=(3, 4))
    alike = _of_one_shape(two)
    assert _lines(_with_own_names(alike, ("lstm", "lstm_1")))[1] == "  lstm1 … lstm2, 2 alike"
    assert _lines(_with_own_names(alike, ("encoder", "decoder")))[1::2] == ["  lstm1", "  lstm2"]


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (("encoder/cell/kernel", "decoder/cell/kernel"), ["encoder", "decoder"]),
        (("net/encoder/cell/kernel", "net/decoder/cell/kernel"), ["encoder", "decoder"]),
        (("cell/kernel", "cell_1/kernel"), ["0", "1"]),
        (("net/kernel", "net/kernel"), ["0", "1"]),
        (("net/encoder/cell/kernel", "net/encoder/cell/kernel"), ["0", "1"]),
    ],
)
def test_a_layer_around_a_cell_has_the_name_before_that_of_the_cell(
    names: tuple[str, str], rows: list[str]
) -> None:
    shown = graph(
        {0: {"0": 1, "1": 2}, 1: {"cell": 3}, 2: {"cell": 4}, 3: {"kernel": 5}, 4: {"kernel": 6}},
        variables=(5, 6),
    )
    view = _named(_named(shown, {names[0]: 5}), {names[1]: 6}).layers
    assert [view.names[layer] for layer in (1, 2)] == rows
    assert [view.names[cell] for cell in (3, 4)] == ["cell", "cell"]


@pytest.mark.tf
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_an_encoder_and_a_decoder_have_their_names(package: str, tmp_path: Path) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(package)
    layers = keras.layers
    source, target = keras.Input((None, 3)), keras.Input((None, 3))
    _, *state = layers.LSTM(2, return_state=True, name="encoder")(source)
    words = layers.LSTM(2, return_sequences=True, name="decoder")(target, initial_state=state)
    model = keras.Model([source, target], layers.Dense(3, name="words")(words))
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "ckpt"))
    rows = [line.strip() for line in _lines(cv.graph(path))]
    assert {"encoder", "decoder", "words"} <= set(rows)
    assert not any("alike" in row for row in rows)


@pytest.mark.tf
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_both_files_of_a_model_have_the_same_rows(package: str, tmp_path: Path) -> None:
    keras = pytest.importorskip(package)
    layers = keras.layers
    inputs = x = keras.Input((4, 6), name="inputs")
    for block in range(2):
        attended = layers.MultiHeadAttention(2, 3, name=f"block{block}_attn")(x, x)
        x = layers.Add(name=f"block{block}_add")([x, attended])
        x = layers.LayerNormalization(name=f"block{block}_norm")(x)
    x = layers.LSTM(2, name="encoder")(x)
    model = keras.Model(inputs, layers.Dense(3, name="words")(x))
    rows = []
    for end in ("keras", "h5"):
        model.save(tmp_path / f"model.{end}")
        rows.append(_lines(cv.graph(tmp_path / f"model.{end}")))
    assert rows[0][1:] == rows[1][1:]
    assert {"attention_output", "cell", "words"} <= {row.strip() for row in rows[0]}


def test_an_empty_checkpoint_says_so_in_text_and_picture() -> None:
    says = "It holds no values: nothing that was saved had a variable yet."
    empty = ObjectGraph((Node(),), "ckpt-1", cv.Origin.SAVED)
    assert says in str(empty) and says in empty.to_svg()
    assert says not in str(replace(empty, origin=cv.Origin.LIVE))
    counted = graph({0: {"save_counter": 1}}, variables=(1,))
    assert "It holds no value but the count of its saves" in str(counted)
    assert "It holds" not in str(transformer(1))


def _scoped(variables: Mapping[str, int]) -> ObjectGraph:
    """Return a layer in a list, with variables of these full names."""
    names = {name.rpartition("/")[2]: node_id for name, node_id in variables.items()}
    shown = graph({0: {"0": 1}, 1: names}, variables=tuple(names.values()))
    return _named(shown, variables)


def _named(shown: ObjectGraph, variables: Mapping[str, int]) -> ObjectGraph:
    """Return a graph with these full names of its variables."""
    nodes = list(shown.nodes)
    for name, node_id in variables.items():
        (attribute,) = nodes[node_id].attributes
        nodes[node_id] = nodes[node_id]._replace(attributes=(attribute._replace(full_name=name),))
    return replace(shown, nodes=tuple(nodes))


def _overlay(shown: ObjectGraph, marks: list[Mark], *problems: Problem) -> Overlay:
    return Overlay(Comparison.CHECK, shown, len(marks), tuple(marks), problems, (), "", empty_table)


def test_a_list_of_one_and_what_passes_through_share_a_row() -> None:
    shown = graph(
        {
            0: {"model": 1, "step": 2},
            1: {"_functional": 3},
            3: {"_layers": 4},
            4: {"0": 5, "1": 6},
            5: {"kernel": 7},
            6: {"cells": 8},
            8: {"0": 9},
            9: {"kernel": 10},
        },
        variables=(2, 7, 10),
    )
    assert _lines(shown) == [
        "(root)",
        "  model · _functional · _layers",
        "    0",
        "      kernel",
        "    layers[0] · cells · 0",
        "      kernel",
        "  step",
    ]


def test_a_graph_without_any_value_folds_nothing() -> None:
    assert _lines(graph({0: {"a": 1, "b": 2}})) == ["(root)", "  a", "  b"]


def test_blocks_of_a_flat_list_and_parts_that_are_alike_have_one_row() -> None:
    names = ["stem", *[f"block{i}_{part}" for i in range(9, 12) for part in ("a", "b")]]
    names += ["block12_a", "dense", "dense_1", "dense_3", "conv2d_1", "conv2d_2"]
    ids = {name: 2 * place + 1 for place, name in enumerate(names)}
    kernels = {i: {"kernel": i + 1} for i in ids.values()}
    shown = graph({0: ids} | kernels, variables=tuple(i + 1 for i in ids.values()))
    assert _lines(_of_one_shape(shown)) == [
        "(root)",
        "  stem",
        "    kernel",
        "  block9 … block11, 3 alike",
        *["  " + line for i in range(9, 12) for line in _block(i)],
        "  block12_a",
        "    kernel",
        "  dense … dense_1, 2 alike",
        *["    dense", "      kernel", "    dense_1", "      kernel"],
        "  dense_3",
        "    kernel",
        "  conv2d_1 … conv2d_2, 2 alike",
        *["    conv2d_1", "      kernel", "    conv2d_2", "      kernel"],
    ]


def _block(number: int) -> list[str]:
    return [f"  [block{number}]", "    a", "      kernel", "    b", "      kernel"]


def _of_one_shape(shown: ObjectGraph) -> ObjectGraph:
    nodes = tuple(
        node._replace(attributes=tuple(a._replace(shape=(2,)) for a in node.attributes))
        for node in shown.nodes
    )
    return replace(shown, nodes=nodes)


def test_blocks_alike_but_for_one_shape_are_not_alike() -> None:
    kernels = graph({0: {"0": 1, "1": 2, "2": 3}}, variables=(1, 2, 3))
    assert _lines(kernels) == ["(root)", "  0", "  1", "  2"]
    alike = "  0 … 2, 3 alike"
    assert _lines(_of_one_shape(kernels)) == ["(root)", alike, "    0", "    1", "    2"]


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["e", ""])
def test_a_chain_of_100_000_nodes_takes_no_recursion(prefix: str) -> None:
    edges = {i: {f"{prefix}{i + 1}": i + 1} for i in range(100_000)}
    view = graph(edges, variables=(100_000,)).layers
    assert 100_000 in view.preorder()


@pytest.mark.tf
@pytest.mark.parametrize("saved", [False, True], ids=["live", "saved"])
def test_a_transformer_is_its_blocks(saved: bool, tmp_path: Path) -> None:
    import tensorflow as tf

    layers = tf.keras.layers
    tokens = tf.keras.Input((8,), name="tokens")
    x = layers.Embedding(10, 4, name="embed")(tokens)
    for block in range(12):
        attended = layers.MultiHeadAttention(2, 2, name=f"block{block}_attn")(x, x)
        x = layers.Add(name=f"block{block}_add")([x, attended])
        x = layers.LayerNormalization(name=f"block{block}_norm")(x)
    model = tf.keras.Model(tokens, layers.Dense(10, name="head")(x), name="transformer")
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    source = checkpoint.write(str(tmp_path / "ckpt")) if saved else checkpoint
    lines = [line for line in _lines(cv.graph(source)) if not line.startswith(" " * 6)]
    assert lines[:2] == ["(root)", "  model · _operations"]
    inputs = [] if saved else ["    tokens"]  # an input has no variables: no file has it
    shown = [*inputs, "    embed", "    block0 … block11, 12 alike", "    head", "  optimizer"]
    assert lines[2 : 2 + len(shown)] == shown


@pytest.mark.tf
def test_names_that_a_programmer_chose_come_before_those_that_keras_makes(tmp_path: Path) -> None:
    import tensorflow as tf

    net = live_objects.guide_loop().net
    sequential = tf.keras.Sequential([tf.keras.layers.Dense(2, name="hidden")])
    sequential.build((None, 1))
    checkpoint = tf.train.Checkpoint(net=net, head=sequential)
    prefix = checkpoint.write(str(tmp_path / "ckpt"))
    live, saved = ({line.strip() for line in _lines(cv.graph(g))} for g in (checkpoint, prefix))
    assert {"net", "l1"} <= live & saved
    assert any(line.endswith("hidden") for line in live)
    assert any(line.endswith("hidden") for line in saved)


@pytest.mark.tf
def test_what_hangs_from_an_optimizer_keeps_its_local_names(tmp_path: Path) -> None:
    import tensorflow as tf

    kernel = tf.keras.Variable([1.0], name="kernel")
    other = tf.keras.Variable([1.0], name="other")
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build([kernel, other])
    prefix = tf.train.Checkpoint(optimizer=optimizer).write(str(tmp_path / "ckpt"))
    names = [line.strip() for line in _lines(cv.graph(prefix))]
    assert "_trainable_variables" in names


# --- what is out of the ordinary


def test_a_thousand_alike_blocks_are_one_row() -> None:
    view = transformer(1000).layers
    (group,) = (one for one in view.groups if one.is_alike)
    assert (group.first, group.last, group.size) == ("b0", "b999", 1000)
    svg = transformer(1000).to_svg()
    assert svg.count('role="listitem"') == 11
    assert ">40,040<" in svg


def test_of_a_thousand_blocks_one_of_another_shape_has_a_row_of_its_own() -> None:
    alike = transformer(1000)
    (kernel,) = (i for i in range(len(alike.nodes)) if alike.path(i)[2:] == ("b500_mix", "kernel"))
    nodes = list(alike.nodes)
    (attribute,) = nodes[kernel].attributes
    nodes[kernel] = nodes[kernel]._replace(attributes=(attribute._replace(shape=(4, 6)),))
    view = replace(alike, nodes=tuple(nodes)).layers
    below = [view.title(row) for row in view.children[1]]
    assert below == ["embed", "b0 … b499", "b500", "b501 … b999", "head"]


def test_layers_without_names_keep_their_places() -> None:
    nameless = _with_own_names(transformer(0), ("", None))
    assert _lines(nameless)[2::2] == ["    embed", "    head"]
    listed = graph({0: {"0": 1, "1": 2}, 1: {"kernel": 3}, 2: {"bias": 4}}, variables=(3, 4))
    assert _lines(_with_own_names(listed, ("", None)))[1::2] == ["  0", "  1"]


def test_layers_of_one_name_both_have_a_row_and_neither_is_guessed() -> None:
    listed = graph({0: {"0": 1, "1": 2}, 1: {"kernel": 3}, 2: {"kernel": 4}}, variables=(3, 4))
    alike = _with_own_names(_of_one_shape(listed), ("same", "same"))
    assert _lines(alike) == ["(root)", "  same", "    kernel", "  same", "    kernel"]
    with pytest.raises(
        cv.NoSuchNodeError, match=r"2 nodes have it: same at \(root\)\.0, same at \(root\)\.1"
    ):
        alike.node_id("same")


@pytest.mark.parametrize(
    "name",
    ["<b>bold</b><script>alert(1)</script>", "two\nlines\r\t\0", "x" * 10_000, "b1_" * 3_333],
    ids=["html", "newlines", "long", "blocks in blocks"],
)
def test_any_name_is_a_name_in_one_line(name: str) -> None:
    listed = graph({0: {"0": 1, "1": 2}, 1: {"kernel": 3}, 2: {"kernel": 4}}, variables=(3, 4))
    shown = _with_own_names(listed, (name, f"{name}2"))
    assert [shown.layers.names[layer] for layer in (1, 2)] == [name, f"{name}2"]
    svg = shown.to_svg()
    assert "<b>" not in svg and "<script" not in svg and "\0" not in svg
    assert max(map(len, shown.to_dot().source.splitlines())) < 3_000
    assert len(render_layers(shown).splitlines()) == 6


def test_names_that_differ_far_from_their_beginning_are_not_alike() -> None:
    names = {f"part{i}{'x' * 200}{end}": i for i, end in ((1, "left"), (2, "right"))}
    kernels = {i: {"kernel": i + 2} for i in names.values()}
    shown = _of_one_shape(graph({0: names} | kernels, variables=(3, 4)))
    assert not shown.layers.groups


def test_in_a_circle_each_layer_has_one_row() -> None:
    circle = graph(
        {
            0: {"first": 1, "second": 2},
            1: {"next": 2, "kernel": 3, "root": 0},
            2: {"next": 1, "kernel": 4, "self": 2},
        },
        variables=(3, 4),
    )
    layers = _with_own_names(circle, ("a", "b"))
    shown = replace(layers, calls=(Call(1, 2), Call(2, 1), Call(2, 2)))
    assert _lines(shown) == ["(root)", "  first", "    kernel", "  second", "    kernel"]


@pytest.mark.tf
def test_a_model_that_is_called_twice_and_a_shared_layer_have_one_row(tmp_path: Path) -> None:
    import tensorflow as tf

    layers = tf.keras.layers
    inputs = tf.keras.Input((4,), name="inputs")
    shared = layers.Dense(4, name="shared")
    inner = tf.keras.Model(inputs, layers.ReLU(name="relu")(shared(inputs)), name="inner")
    there = tf.keras.Input((4,), name="there")
    outer = tf.keras.Model(there, layers.Dense(1, name="head")(inner(shared(inner(there)))))
    checkpoint = tf.train.Checkpoint(outer)
    for source in (outer, checkpoint.write(str(tmp_path / "ckpt"))):
        shown = cv.graph(source)
        names = Counter(part for line in _lines(shown) for part in line.strip().split(" · "))
        assert [names[name] for name in ("shared", "head", "kernel")] == [1, 1, 2]
    names = Counter(part for line in _lines(cv.graph(outer)) for part in line.strip().split(" · "))
    assert names["inner"] == 1


def _with_own_names(shown: ObjectGraph, names: tuple[str | None, str | None]) -> ObjectGraph:
    """Return the graph with its first two holders of values as layers of these names."""
    holders = [
        node_id
        for node_id, node in enumerate(shown.nodes)
        if any(shown.nodes[child.node_id].attributes for child in node.children)
    ]
    nodes = list(shown.nodes)
    for node_id, name in zip(holders, names, strict=False):
        nodes[node_id] = nodes[node_id]._replace(role=Role.LAYER, own_name=name)
    return replace(shown, nodes=tuple(nodes))


def _lines(shown: Graph) -> list[str]:
    """Return a line for each row of a graph's layers."""
    return _lines_of(shown.layers)


def _lines_of(view: Layers) -> list[str]:
    """Return a line for each row: its names, or what a group says."""
    count = len(view.parents) - len(view.groups)
    levels = {ROOT: 0}
    lines = []
    for row in view.preorder():
        level = levels[row] = 0 if row == ROOT else levels[view.parents[row]] + 1
        if row < count:
            path = view.through.get(row, (row,))
            words = " · ".join(view.names[node_id] or "(root)" for node_id in path)
        else:
            group, members = view.groups[row - count], len(view.children[row])
            alike = f"{group.first} … {group.last}, {members} alike"
            words = alike if group.is_alike else f"[{group.first}]"
        lines.append("  " * level + words)
    return lines


@pytest.mark.tf
def test_a_compiled_sequential_model_has_its_layers_below_it() -> None:
    import tensorflow as tf

    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Input((2,)), layers.Dense(3, name="fc"), layers.ReLU(name="re_lu")]
    )
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    view = cv.graph(model).layers
    assert view.title(ROOT) == ""
    below = [view.title(row) for row in view.children[ROOT]]
    assert below[1:] == ["fc", "re_lu", "optimizer"]


@pytest.mark.tf
@pytest.mark.parametrize("module", ["keras", "tf_keras"])
@pytest.mark.parametrize("kind", ["functional", "sequential", "built later"])
def test_a_layer_whose_name_no_file_tells_has_its_place_in_layers(
    module: str, kind: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(module)
    inner = keras.Input((3,))
    base = keras.Model(inner, keras.layers.Dense(2, name="up")(inner), name="base")
    if kind == "functional":
        outer = keras.Input((3,))
        model = keras.Model(outer, keras.layers.ReLU()(base(keras.layers.ReLU()(outer))))
    else:
        first = [keras.Input((3,))] if kind == "sequential" else []
        model = keras.Sequential([*first, keras.layers.ReLU(), base])
        model(tf.zeros((1, 3)))
    graph = cv.graph(tf.train.Checkpoint(model=model).write(str(tmp_path / "c")))
    place = model.layers.index(base)
    up = graph.nodes[graph.node_id(f"model.layers[{place}].up.kernel")]
    assert up.attributes[0].shape == (3, 2)
    assert f"layers[{place}]" in str(graph)
