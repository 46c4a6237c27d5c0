"""The view of layers: what it folds, hoists, names and shows once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz import Node, ObjectGraph
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.layers import Layers, layers_of
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.object_graph.overlay import Comparison, Mark, Overlay, Problem, Severity, State
from ckpt_viz.object_graph.tree import NOWHERE, spanning_tree
from tests.support import live_objects
from tests.support.any_nodes import any_nodes
from tests.support.graphs import graph


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
    ends = {ROOT: view.through.get(ROOT, (ROOT,))[-1]}  # by row, the last node of its path
    for row in view.preorder():
        assert all(view.parents[child] == row for child in view.children[row])
        if row == ROOT:
            continue
        above = ends[view.parents[row]]
        for node_id in view.through.get(row, (row,)) if row < len(nodes) else ():
            assert tree.parents[node_id] == above
            above = node_id
        ends[row] = above


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
        *["    0", "      kernel", "    1", "      kernel"],
    ]
    marks[3] = Mark(State.ONLY_A)
    assert _lines_of(_overlay(shown, marks).layers) == [
        "(root)",
        "  model · _functional",
        "    _layers",
        *["      0", "        kernel", "      1", "        kernel"],
    ]


def test_what_a_finding_names_has_a_row_of_its_own() -> None:
    shown = graph({0: {"model": 1, "notes": 3}, 1: {"kernel": 2}}, variables=(2,))
    marks = [Mark(State.PLAIN)] * 4
    assert "  notes" not in _lines_of(_overlay(shown, marks).layers)
    note = Problem(Severity.INFO, "note", (3,), None, "(root).notes", "It is empty.", "")
    assert "  notes" in _lines_of(_overlay(shown, marks, note).layers)


def test_a_renamed_layer_is_at_both_of_its_places() -> None:
    before = graph({0: {"net": 1}, 1: {"old": 2}, 2: {"kernel": 3}}, variables=(3,))
    after = graph({0: {"net": 1}, 1: {"new": 2}, 2: {"kernel": 3}}, variables=(3,))
    lines = _lines_of(cv.diff(before, after).overlay.layers)
    assert lines == ["(root)", "  net", "    new", "      kernel", "    old", "      kernel"]


def _overlay(shown: ObjectGraph, marks: list[Mark], *problems: Problem) -> Overlay:
    return Overlay(Comparison.CHECK, shown, len(marks), tuple(marks), problems, (), "")


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
        "    1 · cells · 0",
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
