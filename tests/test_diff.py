"""The diff of two graphs: its laws for any graphs, and its results for real checkpoints."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, Role, SlotVariable
from ckpt_viz.answers.graph_diff.diff_result import ChangedNode
from ckpt_viz.graphs.overlay.comparison_table import NO_LINE
from ckpt_viz.graphs.overlay.overlay import State
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.matching.correspondence.correspond import correspond
from ckpt_viz.matching.correspondence.pairs import Certainty, Pair
from ckpt_viz.matching.correspondence.value_mapping import paired_by_shape
from tests.support import optimizers
from tests.support.amounts import amount, size
from tests.support.any_nodes import any_nodes
from tests.support.graphs import graph, keras3_adam, named, without_optimizer
from tests.support.programs import ckpt, keras_3_adam, module, var
from tests.support.saved_graphs import write_graph
from tests.support.tables import Extents, Tensor, floats, raw, shape, write_bundle, write_sliced
from tests.test_files import CountingFileSystem

_MIRRORED = {State.ONLY_A: State.ONLY_B, State.ONLY_B: State.ONLY_A}


# --- laws


@st.composite
def trees(draw: st.DrawFn) -> ObjectGraph:
    """Graphs without shared nodes: variables, values and optimizers with slots of their own."""
    count = draw(st.integers(1, 10))
    parents = [draw(st.integers(0, i - 1)) for i in range(1, count)]
    children: list[list[Child]] = [[] for _ in range(count)]
    for child, parent in enumerate(parents, start=1):
        children[parent].append(Child(draw(st.sampled_from("abc")), child))
    made = [
        Node(tuple(children[i]), draw(st.sampled_from([(), (), *_VALUES]))) for i in range(count)
    ]
    ids = st.integers(0, count - 1)
    for optimizer, variable in draw(st.sets(st.tuples(ids, ids), max_size=3)):
        slot = SlotVariable(draw(st.sampled_from("mv")), variable, len(made))
        declared = (*made[optimizer].slot_variables, slot)
        made[optimizer] = made[optimizer]._replace(slot_variables=declared)
        made.append(Node(attributes=_value("float32", (1,))))
    return ObjectGraph(assign_roles(made), "tree", Origin.SAVED)


def _saved(nodes: tuple[Node, ...]) -> ObjectGraph:
    return ObjectGraph(nodes, "any", Origin.SAVED)


def _value(dtype: str, shape: tuple[int, ...], name: str = "VARIABLE_VALUE") -> Any:
    return (Attribute(name, "", f"{name} {dtype} {shape}", dtype, shape, 0),)


_VALUES = (
    _value("float32", (1,)),
    _value("float32", (2,)),
    _value("int64", (1,)),
    _value("int64", (1,), "table"),
)


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_graph_does_not_differ_from_itself(of: tuple[Node, ...]) -> None:
    found = cv.diff(ObjectGraph(of, "a", Origin.SAVED), ObjectGraph(of, "b", Origin.SAVED))
    assert found.is_empty
    assert set(found.states_a) == {State.MATCHED}
    assert found.overlay.passes


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes(), any_nodes())
def test_every_node_is_in_one_state(a: tuple[Node, ...], b: tuple[Node, ...]) -> None:
    found = cv.diff(ObjectGraph(a, "a", Origin.SAVED), ObjectGraph(b, "b", Origin.SAVED))
    both = {**found.pairs, **found.moved_ids}
    assert len(both) == len(found.pairs) + len(found.moved_ids)
    assert len(set(both.values())) == len(both)
    for ours, state in enumerate(found.states_a):
        assert (state is State.ONLY_A) == (ours not in both)
        assert ours not in both or found.states_b[both[ours]] is state
    for theirs, state in enumerate(found.states_b):
        assert (state is State.ONLY_B) == (theirs not in both.values())
    assert found.is_empty == (not found.overlay.problems)


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes(), any_nodes())
def test_problems_name_every_node_that_differs_once(
    a: tuple[Node, ...], b: tuple[Node, ...]
) -> None:
    overlay = cv.diff(ObjectGraph(a, "", Origin.SAVED), ObjectGraph(b, "", Origin.SAVED)).overlay
    told = [node_id for problem in overlay.problems for node_id in problem.nodes]
    differing = {
        node_id
        for node_id, mark in enumerate(overlay.marks)
        if mark.state not in (State.PLAIN, State.MATCHED)
    }
    assert sorted(told) == sorted(differing)
    for problem in overlay.problems:
        states = {overlay.marks[node_id].state.value for node_id in problem.nodes}
        assert states == {problem.kind.replace("_", " ")}


@settings(deadline=None)  # a slow machine is no defect
@given(*[st.one_of(trees(), any_nodes().map(_saved))] * 2)
def test_one_direction_mirrors_the_other(a: ObjectGraph, b: ObjectGraph) -> None:
    there, back = cv.diff(a, b), cv.diff(b, a)
    assert {theirs: ours for ours, theirs in there.pairs.items()} == back.pairs
    assert there.states_a == tuple(_MIRRORED.get(s, s) for s in back.states_b)
    assert there.states_b == tuple(_MIRRORED.get(s, s) for s in back.states_a)
    assert (there.only_a, there.only_b) == (back.only_b, back.only_a)
    assert {(x, y) for y, x in there.moved} == set(back.moved)
    assert {(x, y) for y, x in there.guesses} == set(back.guesses)


# --- what differs


def test_nodes_of_one_side_are_named_as_tensorflow_does() -> None:
    a = graph({0: {"model": 1}, 1: {"kernel": 2, "bias": 3}}, variables=(2, 3))
    b = graph({0: {"model": 1, "step": 3}, 1: {"kernel": 2}}, variables=(2, 3))
    found = cv.diff(a, replace(b, nodes=(*b.nodes[:3], _scalar())))
    assert found.only_a == ("(root).model.bias",)
    assert found.only_b == ("(root).step",)
    assert found.matched == ("(root)", "(root).model", "(root).model.kernel")
    assert found.headline == "differs: 1 value only in a, 1 only in b; 1 value not compared"


def test_the_headline_counts_variables_and_objects_only_without_any() -> None:
    bare = graph({0: {"model": 1}, 1: {"kernel": 2}}, variables=(2,))
    more = graph({0: {"model": 1, "part": 3}, 1: {"kernel": 2}, 3: {"bias": 4}}, variables=(2, 4))
    assert cv.diff(bare, more).headline.startswith("differs: 1 value only in b")
    empty = graph({0: {"model": 1, "part": 3}, 1: {"kernel": 2}, 3: {"more": 4}}, variables=(2,))
    assert cv.diff(bare, empty).headline.startswith("differs: 2 objects only in b")
    role = graph({0: {"model": 1}, 1: {"kernel": 2}})
    assert cv.diff(bare, role).headline.startswith("differs: 1 value by role")
    assert cv.diff(role, bare).headline.startswith("differs: 1 value by role")


def test_a_table_makes_the_headline_count_values() -> None:
    table = graph({0: {"table": 1, "step": 2}}, variables=(1, 2))
    attributes = tuple(one._replace(name="table") for one in table.nodes[1].attributes)
    nodes = (table.nodes[0], table.nodes[1]._replace(role=Role.VALUE, attributes=attributes))
    found = cv.diff(replace(table, nodes=(*nodes, table.nodes[2])), graph({}))
    assert found.headline == "differs: 2 values only in a"


def _scalar() -> Node:
    return Node(attributes=_value("int64", ()), role=Role.VARIABLE)


def test_different_shapes_and_dtypes_are_described_in_few_words() -> None:
    a = ObjectGraph(_with_values("float32", (8, 10)), "a", Origin.SAVED)
    wider = ObjectGraph(_with_values("float32", (8, 12)), "b", Origin.SAVED)
    double = ObjectGraph(_with_values("float64", (8, 12)), "b", Origin.SAVED)
    scalar = ObjectGraph(_with_values("float32", ()), "b", Origin.SAVED)
    name = "(root).v"
    assert cv.diff(a, wider).changed == (
        ChangedNode(State.SHAPE, name, name, "float32 8×10 ≠ 8×12"),
    )
    assert cv.diff(a, scalar).changed[0].detail == "float32 8×10 ≠ scalar"
    assert cv.diff(a, double).dtype == (name,)
    assert cv.diff(a, double).changed[0].detail == "float32 8×10 ≠ float64 8×12"
    assert cv.diff(a, double).overlay.problems[0].why == (
        "The dtype differs: float32 8×10 ≠ float64 8×12."
    )


def _with_values(dtype: str, shape: tuple[int, ...]) -> tuple[Node, ...]:
    return assign_roles([Node((Child("v", 1),)), Node(attributes=_value(dtype, shape))])


def test_the_elements_of_a_are_known_where_b_has_another_number() -> None:
    a, b = graph({0: {"v": 1, "same": 2}}, (1, 2)), graph({0: {"v": 1, "same": 2}}, (1, 2))
    wider = a.nodes[1]._replace(attributes=(a.nodes[1].attributes[0]._replace(shape=(3, 5)),))
    a = replace(a, nodes=(a.nodes[0], wider, a.nodes[2]))
    assert cv.diff(a, b).overlay.saved_elements == {1: 15}
    assert cv.diff(b, a).overlay.saved_elements == {1: 2}
    assert cv.diff(a, a).overlay.saved_elements == {}


def test_role_differs_where_files_alone_tell_it() -> None:
    variable = graph({0: {"x": 1}}, variables=(1,))
    nothing = graph({0: {"x": 1}})
    found = cv.diff(variable, nothing)
    assert found.changed == (ChangedNode(State.ROLE, "(root).x", "(root).x", "variable ≠ object"),)


@pytest.mark.parametrize("role", [Role.LAYER, Role.CONTAINER, Role.OPTIMIZER, Role.BOOKKEEPING])
def test_what_only_a_type_tells_is_no_difference(role: Role) -> None:
    saved = graph({0: {"x": 1}})
    live = Node(role=role, type_name="Something")
    assert cv.diff(saved, replace(saved, nodes=(saved.nodes[0], live))).is_empty


def test_optimizer_with_state_is_no_plain_object() -> None:
    a = graph({0: {"o": 1, "v": 2}}, variables=(2, 3), slots={1: (("m", 2, 3),)})
    b = graph({0: {"o": 1, "v": 2}}, variables=(2,))
    found = cv.diff(a, b)
    assert found.role == ("(root).o",)
    assert found.only_a == ("(root).o's state 'm' for (root).v",)


def test_shared_variable_that_is_two_elsewhere_is_there_once_only() -> None:
    shared = graph({0: {"a": 1, "b": 1}}, variables=(1,))
    two = ObjectGraph(
        assign_roles(
            [Node((Child("a", 1), Child("b", 2))), shared.nodes[1], shared.nodes[1]._replace()]
        ),
        "two",
        Origin.SAVED,
    )
    assert cv.diff(shared, two).only_b == ("(root).b",)
    assert cv.diff(two, shared).only_a == ("(root).b",)


# --- what has moved


def test_renamed_subtree_has_moved_as_a_whole() -> None:
    a = graph({0: {"old": 1}, 1: {"kernel": 2, "bias": 3}}, variables=(2, 3))
    b = graph({0: {"new": 1}, 1: {"bias": 3, "kernel": 2}}, variables=(2, 3))
    found = cv.diff(a, b)
    assert set(found.moved) == {
        ("(root).old", "(root).new"),
        ("(root).old.kernel", "(root).new.kernel"),
        ("(root).old.bias", "(root).new.bias"),
    }
    assert (found.only_a, found.only_b) == ((), ())
    (problem,) = found.overlay.problems
    assert (problem.saved, problem.live) == ("(root).old", "(root).new")
    assert str(found).splitlines()[1] == "old is new now."
    assert str(found.details).splitlines()[1] == "  ↷ moved  old → new"


def test_the_table_has_a_moved_part_at_its_places_in_a_and_in_b() -> None:
    parts = {1: {"x": 3}, 2: {"mean": 4, "count": 5}}
    a = graph({0: {"net": 1, "ema": 2}, **parts}, variables=(3, 4, 5))
    b = graph({0: {"net": 1, "stats": 6}, **parts, 6: {"ema": 2}}, variables=(3, 4, 5))
    lines = cv.diff(a, b).overlay.table.lines
    (moved,) = (line for line in lines if line.parent == NO_LINE and line.plain.words == "moved")
    assert (moved.saved, moved.live, moved.values) == ("ema", "stats.ema", 2)


def test_moved_subtree_takes_along_what_occurs_elsewhere_too() -> None:
    layer = {"kernel": 2, "bias": 3}
    a = _one_shape(graph({0: {"old": 1, "gone": 4}, 1: layer}, variables=(2, 3, 4)), (3, 4))
    b = _one_shape(graph({0: {"new": 1}, 1: layer}, variables=(2, 3)), (3,))
    found = cv.diff(a, b)
    assert {ours for ours, _ in found.moved} == {
        "(root).old",
        "(root).old.kernel",
        "(root).old.bias",
    }
    assert found.only_a == ("(root).gone",)


def _one_shape(of: ObjectGraph, variables: tuple[int, ...]) -> ObjectGraph:
    """Return the graph in which these variables look alike."""
    return replace(
        of,
        nodes=tuple(
            node._replace(attributes=_value("float32", (9,))) if i in variables else node
            for i, node in enumerate(of.nodes)
        ),
    )


_OLD = graph({0: {"old": 1}, 1: {"kernel": 2}}, variables=(2,))
_NEW = {0: {"new": 1}, 1: {"kernel": 2}}


@pytest.mark.parametrize(
    ("b", "kernel", "more"),
    [
        ({0: {"new": 1}, 1: {"weight": 2}}, "weight", ()),
        ({0: {"new": 1}, 1: {"kernel": 2, "bias": 3}}, "kernel", ("(root).new.bias",)),
        ({0: {"new": 1}, 1: {"kernel": 2, "up": 1}}, "kernel", ()),
    ],
    ids=["local name", "more below", "circle"],
)
def test_renamed_part_has_moved_though_it_also_changed_inside(
    b: dict[int, dict[str, int]], kernel: str, more: tuple[str, ...]
) -> None:
    found = cv.diff(_OLD, graph(b, variables=(2, 3)[: 1 + len(more)]))
    assert found.moved == (
        ("(root).old", "(root).new"),
        ("(root).old.kernel", f"(root).new.{kernel}"),
    )
    assert (found.only_a, found.only_b) == ((), more)
    assert found.overlay.problems[0].why.startswith(
        "Recognised because the full names of their variables agree."
    )


def test_another_name_and_another_shape_are_no_move() -> None:
    found = cv.diff(_OLD, _one_shape(graph(_NEW, variables=(2,)), (2,)))
    assert found.moved == found.guesses == ()
    assert (found.only_a[0], found.only_b[0]) == ("(root).old", "(root).new")


def test_moved_part_takes_along_its_value_of_another_shape() -> None:
    edges = {1: {"kernel": 2, "bias": 3}}
    a = graph({0: {"old": 1}, **edges}, variables=(2, 3))
    b = _one_shape(graph({0: {"new": 1}, **edges}, variables=(2, 3)), (3,))
    found = cv.diff(a, b)
    assert ("(root).old.bias", "(root).new.bias") in found.moved
    assert "≠ 9" in found.overlay.marks[3].detail
    assert (found.shape, found.changed[0].a) == (("(root).new.bias",), "(root).old.bias")
    words = {line.live: line.plain.words for line in found.overlay.table.lines if line.values == 1}
    assert words == {"kernel": "moved", "bias": "shape differs"}
    (problem,) = (p for p in found.overlay.problems if p.kind == "shape")
    assert "It has moved: " in problem.why


def test_moved_variable_takes_along_its_slots() -> None:
    old, new = ({0: {"o": 1, name: 2}} for name in ("old", "new"))
    slots = {1: (("m", 2, 3),)}
    found = cv.diff(*(graph(edges, variables=(2, 3), slots=slots) for edges in (old, new)))
    state = "(root).o's state 'm' for (root)"
    assert found.moved == (("(root).old", "(root).new"), (f"{state}.old", f"{state}.new"))
    assert found.matched == ("(root)", "(root).o")


def test_exchanged_layers_have_moved() -> None:
    layers = {0: {"layers": 1}, 1: {"0": 2, "1": 3}, 2: {"kernel": 4}, 3: {"kernel": 5}}
    a = _one_shape(graph(layers, variables=(4, 5)), (4, 5))
    names = {4: "cats/kernel", 5: "dogs/kernel"}
    a, b = _with_full_names(a, names), _with_full_names(a, {5: names[4], 4: names[5]})
    found = cv.diff(a, b)
    places = ("(root).layers.0", "(root).layers.1")
    assert {places, places[::-1]} <= set(found.moved)
    assert found.matched == ("(root)", "(root).layers")


@settings(deadline=None)  # a slow machine is no defect
@given(*[trees()] * 2)
def test_what_surely_belongs_together_is_a_pair(a: ObjectGraph, b: ObjectGraph) -> None:
    anywhere = cv.diff(a, b)._compared.anywhere
    either = [
        [(p.node, p.obj) for p in _sure(a, b)],
        [(p.obj, p.node) for p in _sure(b, a)],
    ]
    assert any(set(pairs) <= set(anywhere.items()) for pairs in either)


def _sure(a: ObjectGraph, b: ObjectGraph) -> list[Pair]:
    """Return the pairs that are no guess; the roots are a pair in every diff."""
    pairs = correspond(a, b)
    without_roots = [p for p in pairs.values() if 0 not in (p.node, p.obj)]
    by_shape = paired_by_shape(a, b, without_roots)
    return [
        pair
        for pair in without_roots
        if pair.certainty is not Certainty.GUESS and not _at_variable(a, pair.node) & by_shape
    ]


def _at_variable(graph: ObjectGraph, node: int) -> set[int]:
    slot = graph.nodes[node].slot
    return {node} if slot is None else {node, slot.variable}


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize(
    ("sizes", "moved", "said"),
    [
        ((2, 1, 3), [("0", "1"), ("1", "0")], "moved"),
        ((1, 3), [("2", "1")], "only in a"),
        ((4, 1, 2, 3), [("0", "1"), ("1", "2"), ("2", "3")], "only in b"),
    ],
)
def test_an_item_of_a_list_with_another_index_has_moved(
    tmp_path: Path, sizes: tuple[int, ...], moved: list[tuple[str, str]], said: str
) -> None:
    """Only shapes tell which item it is. The sentence at the head tells the same."""

    def written(name: str, sizes: tuple[int, ...]) -> str:
        return str(ckpt(row=[var([1.0] * size) for size in sizes]).write(str(tmp_path / name)))

    found = cv.diff(written("a", (1, 2, 3)), written("b", sizes))
    assert [*found.moved] == [(f"(root).row.{was}", f"(root).row.{now}") for was, now in moved]
    assert found.guesses == ()
    lines = [line for line in found.overlay.table.lines if line.values == 1]
    assert sum(line.plain.words == "moved" for line in lines) == len(moved)
    assert said in {line.plain.words for line in lines}


def test_a_pair_that_only_its_shape_suggests_is_called_a_guess(tmp_path: Path) -> None:
    a = write_bundle(tmp_path / "a", {"v": floats(1, 2)})
    found = cv.diff(a, write_bundle(tmp_path / "b", {"w": floats(1, 2)}), values=True)
    assert (found.moved, found.guesses) == ((), (("(root).v", "(root).w"),))
    assert [line.strip() for line in str(found.details).splitlines()[1:-1]] == [
        "+ only in b  w",
        "Nothing in a surely corresponds to this node. It may be v.",
        "\N{MINUS SIGN} only in a  v",
        "Nothing in b surely corresponds to this node. It may be w.",
    ]
    assert found.says == ("values: both have no value in common",)


def _with_full_names(of: ObjectGraph, names: dict[int, str]) -> ObjectGraph:
    nodes = list(of.nodes)
    for node, name in names.items():
        (attribute,) = nodes[node].attributes
        nodes[node] = nodes[node]._replace(attributes=(attribute._replace(full_name=name),))
    return replace(of, nodes=tuple(nodes))


def test_what_could_be_either_of_two_has_not_moved() -> None:
    a = _one_shape(graph({0: {"old": 1}}, variables=(1,)), (1,))
    b = _one_shape(graph({0: {"x": 1, "y": 2}}, variables=(1, 2)), (1, 2))
    found = cv.diff(a, b)
    assert found.moved == cv.diff(b, a).moved == ()
    assert found.guesses == (("(root).old", "(root).x"),)
    assert [problem.why for problem in found.overlay.problems] == [
        "Nothing in a surely corresponds to this node. It may be old.",
        "Nothing in a corresponds to this node.",
        "Nothing in b surely corresponds to this node. It may be x.",
    ]


def test_empty_objects_have_not_moved() -> None:
    assert cv.diff(graph({0: {"old": 1}}), graph({0: {"new": 1}})).moved == ()


# --- slots


def test_slots_go_by_variable_name_and_optimizer_though_lists_count_on() -> None:
    """b has one more variable, in front, so every other item in the lists has the next index."""
    a = keras3_adam()
    edges = {
        0: {"optimizer": 1, "layer": 2},
        1: {"_variables": 3, "_trainable_variables": 4, "_iterations": 5, "_momentums": 6},
        2: {"new": 11, "_kernel": 7, "bias": 8},
        3: {"0": 5, "1": 12, "2": 9, "3": 10},
        4: {"0": 11, "1": 7, "2": 8},
        6: {"0": 12, "1": 9, "2": 10},
    }
    b = graph(edges, variables=(5, 7, 8, 9, 10, 11, 12))
    found = cv.diff(a, b)
    assert [b.nodes[i].slot is not None for i in (9, 10, 12)] == [True] * 3
    assert (found.pairs[9], found.pairs[10]) == (9, 10)
    assert found.only_b == ("(root).layer.new", "(root).optimizer._variables.1")
    assert found.only_a == ()


def test_declared_slots_go_by_name() -> None:
    edges = {0: {"o": 1, "v": 2}}
    a = graph(edges, variables=(2, 3, 4), slots={1: (("m", 2, 3), ("v", 2, 4))})
    b = graph(edges, variables=(2, 3, 4), slots={1: (("v", 2, 3), ("m", 2, 4))})
    found = cv.diff(a, b)
    assert (found.pairs[3], found.pairs[4]) == (4, 3)


def test_slot_that_is_an_ordinary_variable_elsewhere_has_another_role() -> None:
    a = keras3_adam()
    b = replace(
        a,
        nodes=tuple(
            node._replace(slot=None, role=Role.VARIABLE) if node.slot is not None else node
            for node in a.nodes
        ),
    )
    found = cv.diff(a, b)
    assert [change.detail for change in found.changed] == ["slot ≠ variable"] * 2
    assert (found.only_a, found.only_b) == ((), ())


# --- values in files


def test_other_values_show_in_the_checksums(tmp_path: Path) -> None:
    first = write_graph(tmp_path / "ckpt-1", keras3_adam())
    second = write_graph(tmp_path / "ckpt-2", keras3_adam(), {8: 1, 10: 7})
    found = cv.diff(first, second)
    assert found.value == ("(root).layer.bias", "(root).optimizer._variables.2")
    assert found.not_compared == ()
    assert cv.diff(first, first).is_empty
    assert cv.diff(tmp_path / "ckpt-1.index", first).is_empty


def test_other_values_are_found_without_reading_any(tmp_path: Path) -> None:
    fsspec.register_implementation("counting", CountingFileSystem, clobber=True)
    memory = fsspec.filesystem("counting")
    for name, filled in (("ckpt-1", {}), ("ckpt-2", {7: 1})):
        write_graph(tmp_path / name, keras3_adam(), filled)
        for file in tmp_path.glob(f"{name}.*"):
            memory.pipe(f"/diff/{file.name}", file.read_bytes())
    a, b = cv.graph("counting://diff/ckpt-1"), cv.graph("counting://diff/ckpt-2")
    CountingFileSystem.asked.clear()
    found = cv.diff(a, b)
    assert found.value == ("(root).layer._kernel",)
    assert str(found)
    assert CountingFileSystem.asked == []
    memory.rm("/diff", recursive=True)


def test_values_of_slices_show_in_their_checksums(tmp_path: Path) -> None:
    halves: dict[Extents, Tensor] = {((0, 2),): floats(1, 2), ((2, 2),): floats(3, 4)}
    other = {**halves, ((2, 2),): floats(3, 5)}
    quarter: dict[Extents, Tensor] = {((0, 1),): floats(1), ((1, 3),): floats(2, 3, 4)}
    prefixes = [
        write_sliced(tmp_path / str(i), floats(1, 2, 3, 4).dims, one)
        for i, one in enumerate((halves, other, quarter))
    ]
    assert cv.diff(prefixes[0], prefixes[1]).value == ("(root).w",)
    cut_otherwise = cv.diff(prefixes[0], prefixes[2])
    assert (cut_otherwise.is_empty, cut_otherwise.not_compared) == (True, ("(root).w",))
    assert cv.diff(prefixes[0], prefixes[2], values=True).not_compared == ()
    assert cv.diff(prefixes[1], prefixes[2], values=True).value == ("(root).w",)


def test_name_based_files_go_by_names_of_variables(tmp_path: Path) -> None:
    a = write_bundle(
        tmp_path / "a",
        {"dense/bias": floats(0), "dense/kernel": floats(1, 2), "step": floats(9)},
    )
    b = write_bundle(
        tmp_path / "b",
        {"dense/bias": floats(5), "dense/kernel": floats(1), "out/kernel": floats(7, 8, 9)},
    )
    found = cv.diff(a, b)
    assert found.value == ("(root).dense.bias",)
    assert found.shape == ("(root).dense.kernel",)
    assert found.only_a == ("(root).step",)
    assert found.only_b == ("(root).out", "(root).out.kernel")


_names = st.dictionaries(
    st.tuples(st.sampled_from(["", "enc", "m/enc", "head_1"]), st.sampled_from("wvb")).map(
        lambda parts: "/".join(filter(None, parts))
    ),
    st.lists(st.sampled_from([0.5, 1.5]), min_size=1, max_size=2).map(lambda x: floats(*x)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=amount(60, 600), deadline=None)
@given(a=_names, b=_names, suffix=st.sampled_from(["", "2"]))
@example(
    a={"w": floats(0.5), "v": floats(0.5, 0.5)},
    b={"w": floats(0.5, 0.5), "v": floats(0.5)},
    suffix="",
)
def test_values_are_compared_wherever_the_diff_sees_a_pair(
    a: dict[str, Tensor], b: dict[str, Tensor], suffix: str
) -> None:
    """A scope that is renamed or added moves values, which their place alone does not pair."""
    with tempfile.TemporaryDirectory() as directory:
        named = {f"{name}{suffix}": tensor for name, tensor in b.items()}
        found = cv.diff(
            write_bundle(Path(directory) / "a", a),
            write_bundle(Path(directory) / "b", named),
            values=True,
        )
        both = {**found.pairs, **found.moved_ids}
        keys = [
            (ours.attributes[0].checkpoint_key, theirs.attributes[0].checkpoint_key)
            for ours, theirs in ((found.a.nodes[i], found.b.nodes[j]) for i, j in both.items())
            if ours.attributes and theirs.attributes
        ]
    differing = {key for name, key in keys if a[name] != named[key]}
    assert found.values is not None and found.common is not None
    assert found.common >= len(keys)  # and those that only a fix maps
    assert {row.key for row in found.values if row.key in {key for _, key in keys}} == differing
    assert f"of {found.common} common value" in found.says[0] or not found.common
    # Both counts of the text agree: other numbers, and other shapes beside them.
    sentence = str(found).partition("\n\n")[0]
    reshaped = {key for name, key in keys if a[name].dims != named[key].dims} & differing
    numbers = len(differing) - len(reshaped)
    has = "has" if numbers == 1 else "have"
    counted = f"{numbers} of {found.common} common value"
    assert (counted in sentence and f" {has} other numbers" in sentence) == (numbers > 0)
    assert (f"{len(reshaped)} in shape" in found.says[0]) == (len(reshaped) > 0)
    have = "has" if len(reshaped) == 1 else "have"
    beside = f", {len(reshaped)} {have} another shape"
    assert (beside in sentence) == (numbers > 0 and len(reshaped) > 0)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_counters_are_no_largest_changes(tmp_path: Path) -> None:
    """Between two saves of a training, a counter changes by more than any weight."""
    model = module(w=var([4.0, 3.0]), step=var(1, dtype="int64"))
    optimizer = keras_3_adam(model.w)
    root = ckpt(model=model, optimizer=optimizer)
    before = root.save(str(tmp_path / "ckpt"))
    model.w.assign([4.0, 3.1])
    model.step.assign(1000)
    optimizer.iterations.assign(1000)
    after = root.save(str(tmp_path / "ckpt"))
    found = cv.diff(before, after, values=True).values
    assert found is not None
    counters = {"model.step", "optimizer.iteration", "save_counter"}
    assert found[0].name == "model.w" and {change.name for change in found[1:]} == counters
    assert max(change.relative or 0.0 for change in found[1:]) > 100
    history = cv.history([before, after])
    assert "1 of 1 variable changed, the median by 2 % of its norm" in history.headline


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize(("hidden", "classes"), [(2, 3), (2, 5), (3, 3), (3, 5)])
def test_both_counts_of_a_diff_are_those_of_the_arrays(
    hidden: int, classes: int, tmp_path: Path
) -> None:
    """A layer before the head moves it; the row of a head that is also larger says the worse."""
    keras = pytest.importorskip("keras")

    def made(hidden: int, classes: int) -> Any:
        names = (f"h{number}" for number in range(hidden))
        layers = [keras.layers.Dense(8, name=name) for name in names]
        out = keras.layers.Dense(classes, name="out")
        model = keras.Sequential([keras.Input((4,)), *layers, out])
        for variable in model.variables:
            variable.assign(keras.random.uniform(variable.shape))
        return model

    models = made(2, 3), made(hidden, classes)
    paths = [ckpt(net=each).write(str(tmp_path / f"{i}")) for i, each in enumerate(models)]
    both = zip(*([*m.layers[:2], m.layers[-1]] for m in models), strict=True)
    arrays = [
        pair for was, now in both for pair in zip(was.get_weights(), now.get_weights(), strict=True)
    ]
    reshaped = sum(x.shape != y.shape for x, y in arrays)
    found = cv.diff(*paths, values=True, progress=False)
    beside = f", {reshaped} have another shape" if reshaped else ""
    counts = f"{len(arrays) - reshaped} of {found.common} common values have other numbers{beside}."
    assert counts in str(found).partition("\n\n")[0]
    assert counts in str(cv.diff(*paths)).partition("\n\n")[0]
    in_shape = f", {reshaped} in shape" if reshaped else ""
    assert f"{len(arrays)} of {found.common} common values differ{in_shape};" in found.says[0]
    heads = [line.plain.words for line in found.overlay.table.lines if line.live == "out"]
    assert not reshaped or heads == ["shape differs"]


def test_values_that_moved_are_told_in_every_output(tmp_path: Path) -> None:
    a = write_bundle(tmp_path / "a", {"head/kernel": floats(1, 2), "step": floats(7)})
    b = write_bundle(tmp_path / "b", {"net/out/weights": floats(1, 4), "step": floats(7)})
    found = cv.diff(a, b, values=True)
    said = "values: 1 of 2 common values differs; the largest relative changes:"
    assert found.says[0] == said
    assert said in str(found) and said in found.to_svg()
    assert (found.to_json()["common"], len(found.to_json()["values"])) == (2, 1)
    same = cv.diff(
        a,
        write_bundle(tmp_path / "c", {"net/kernel": floats(1, 2), "step": floats(7)}),
        values=True,
    )
    assert same.says == ("values: none of 2 common values differs",)
    none = cv.diff(a, write_bundle(tmp_path / "d", {"other": floats(1, 2, 3)}), values=True)
    assert none.says == ("values: both have no value in common",)


def test_nans_that_only_the_second_graph_has_are_named(tmp_path: Path) -> None:
    nan = float("nan")
    a = write_bundle(tmp_path / "a", {"both": floats(nan, 1), "new": floats(1, 2)})
    b = write_bundle(tmp_path / "b", {"both": floats(nan, 2), "new": floats(1, nan)})
    said = [line for line in cv.diff(a, b, values=True).says if "NaN only" in line]
    assert said == ["  NaN only in b: new, 1 of 2 elements"]


def test_other_values_without_a_dtype_in_numpy_differ(tmp_path: Path) -> None:
    """The state of an iterator: its bytes differ, though no one can say by how much."""
    states = [raw(21, shape(count), text) for count, text in ((1, b"a"), (1, b"b"), (2, b"c"))]
    prefixes = [write_bundle(tmp_path / f"{i}", {"it": one}) for i, one in enumerate(states)]
    for other, in_shape in zip(prefixes[1:], ("", ", 1 in shape"), strict=True):
        found = cv.diff(prefixes[0], other, values=True)
        assert found.says == (
            f"values: 1 of 1 common value differs{in_shape}; the largest relative changes:",
            "  it  differs",
        )


def test_diff_of_files_imports_no_tensorflow(tmp_path: Path) -> None:
    first = write_graph(tmp_path / "ckpt-1", keras3_adam())
    second = write_graph(tmp_path / "ckpt-2", keras3_adam(), {8: 1})
    program = (
        "import sys, ckpt_viz as cv; found = cv.diff(*sys.argv[1:]); "
        "print(found, found.to_json()); "
        "sys.exit('tensorflow' in sys.modules or 'numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, first, second], check=True)


# --- as an overlay


def test_overlay_has_b_as_its_base_and_what_only_a_has_behind() -> None:
    a = graph({0: {"old": 1, "same": 2, "gone": 3}}, variables=(1, 2, 3))
    b = _one_shape(graph({0: {"same": 2, "new": 1}}, variables=(1, 2)), ())
    overlay = cv.diff(a, b).overlay
    assert overlay.base_size == 3
    assert [overlay.graph.name(i) for i in range(4)] == [
        "(root)",
        "(root).new",
        "(root).same",
        "(root).gone",
    ]
    assert [(mark.state, mark.partner) for mark in overlay.marks] == [
        (State.PLAIN, ""),
        (State.MOVED, "(root).old"),
        (State.MATCHED, ""),
        (State.ONLY_A, ""),
    ]
    assert [(problem.kind, problem.nodes) for problem in overlay.problems] == [
        ("only_in_a", (3,)),
        ("moved", (1,)),
    ]


def test_optimizer_that_is_missing_is_one_difference_with_its_slots() -> None:
    found = cv.diff(keras3_adam(), without_optimizer())
    (problem,) = found.overlay.problems
    assert (problem.saved, problem.live) == ("(root).optimizer", None)
    assert problem.why == (
        "Nothing in b corresponds to this node and 6 nodes below, 3 values in all."
    )


def test_repr_is_one_line() -> None:
    found = cv.diff(graph({0: {"x": 1}}), graph({}))
    assert repr(found) == "<GraphDiff 'test' → 'test': differs: 1 object only in a>"


# --- size and hostility


@pytest.mark.slow
@pytest.mark.parametrize("renamed", [False, True])
def test_very_long_chains_are_compared(renamed: bool) -> None:
    length = size(5_000, 100_000)
    deep = {i: {"next": i + 1} for i in range(length)}
    a = graph(deep, variables=(length,))
    b = graph({**deep, 0: {"other" if renamed else "next": 1}}, variables=(length,))
    found = cv.diff(a, b)
    assert found.is_empty is not renamed
    assert len(found.moved_ids) == (length if renamed else 0)
    assert len(str(found.details).splitlines()) == (4 if renamed else 2)
    assert len(str(found).splitlines()) < 6
    assert len(cv.diff(a, graph({})).only_a[-1]) < 10_000


def test_hostile_names_neither_break_lines_nor_move_the_cursor() -> None:
    a, b = (named(of, "\n\x1b[2J\u202e<b>") for of in (keras3_adam(), graph({0: {"x": 1}})))
    for line in str(cv.diff(a, b)).split("\n"):
        assert line.isprintable()


# --- live


@pytest.mark.tf
def test_live_objects_do_not_differ_from_their_file(tmp_path: Path) -> None:
    from tests.support import live_objects

    checkpoint = live_objects.containers()
    prefix = checkpoint.write(str(tmp_path / "ckpt"))
    assert cv.diff(prefix, checkpoint).is_empty
    assert cv.diff(checkpoint, prefix).is_empty
    assert cv.diff(checkpoint, checkpoint).is_empty


@pytest.mark.tf
def test_live_values_are_compared_on_request(tmp_path: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.v, module.name_of_it = tf.Variable([1.0, 2.0]), tf.Variable("text")
    prefix = tf.train.Checkpoint(module).write(str(tmp_path / "ckpt"))
    assert cv.diff(prefix, module).not_compared == ("(root).v", "(root).name_of_it")
    assert cv.diff(prefix, module, values=True).not_compared == ()
    module.v.assign([1.0, 3.0])
    assert cv.diff(prefix, module).value == ()
    found = cv.diff(prefix, module, values=True)
    assert found.value == ("(root).v",)
    assert [change.name for change in found.values or ()] == ["v"]  # equal texts do not differ
    assert "values: 1 of 2 common values differs; the largest" in str(found)
    assert "45 %  max |b-a| 1, 50 % of elements" in str(found)  # 1 of the norm √5
    module.name_of_it.assign("texts")
    assert cv.diff(prefix, module, values=True).value == ("(root).v", "(root).name_of_it")


@pytest.mark.tf
def test_what_cannot_be_read_is_not_said_to_differ(tmp_path: Path) -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    checkpoint = tf.train.Checkpoint(table=table)
    found = cv.diff(checkpoint.write(str(tmp_path / "c")), checkpoint, values=True)
    assert found.is_empty and found.not_compared == ("(root).table",)
    assert "values: 1 common value, which cannot be read:" in str(found)


@pytest.mark.tf
def test_tables_and_strings_are_compared_by_all_their_tensors(tmp_path: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    module.text = tf.Variable("short")
    module.table.insert("a", 1)
    checkpoint = tf.train.Checkpoint(module)
    first = checkpoint.write(str(tmp_path / "ckpt-1"))
    module.table.insert("a", 2)
    second = checkpoint.write(str(tmp_path / "ckpt-2"))
    module.text.assign("much longer")
    third = checkpoint.write(str(tmp_path / "ckpt-3"))
    module.table.insert("b", 1)
    fourth = checkpoint.write(str(tmp_path / "ckpt-4"))
    assert cv.diff(first, second).value == ("(root).table",)
    assert cv.diff(second, third).value == ("(root).text",)
    assert cv.diff(third, fourth).value == ("(root).table",)
    live = cv.diff(fourth, checkpoint)
    assert live.is_empty and "(root).table" in live.not_compared
    assert cv.diff(first, first).not_compared == ()


@pytest.mark.tf
@pytest.mark.parametrize("kind", optimizers.KERAS_3, ids=str)
def test_training_changes_the_values_that_it_changes(kind: optimizers.Kind, tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    if keras.__version__.startswith("2."):
        pytest.skip("TensorFlow 2.15 has Keras 2")
    model, optimizer = optimizers.keras_3_models()["frozen_functional"](), kind.make()
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    first = checkpoint.save(str(tmp_path / "ckpt"))
    optimizer.apply([tf.ones(v.shape) for v in model.trainable_variables])
    second = checkpoint.save(str(tmp_path / "ckpt"))
    readers = [tf.train.load_checkpoint(prefix) for prefix in (first, second)]
    found = cv.diff(first, second)
    expected = []
    for node_id, node in enumerate(found.b.nodes):
        values = [
            [r.get_tensor(a.checkpoint_key).tobytes() for a in node.attributes] for r in readers
        ]
        if values[0] != values[1]:
            expected.append(found.b.name(node_id))
    assert found.value == tuple(expected)
    assert found.not_compared == ()
    assert {*found.states_a} <= {State.MATCHED, State.VALUE}
    assert cv.diff(second, checkpoint).is_empty


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_layers_of_a_model_and_of_its_own_file_keep_the_order_of_their_numbers(
    tmp_path: Path,
) -> None:
    import keras

    layers = [keras.layers.Dense(3) for _ in range(12)]
    model = keras.Sequential([keras.Input((3,)), *layers])
    path = str(tmp_path / "x.weights.h5")
    model.save_weights(path)
    *_, last, following = str(cv.diff(model, path)).splitlines()
    assert last == "No difference is known: 24 values were not compared."
    assert following == "Pass values=True to compare them."
    assert "Pass " not in str(cv.diff(model, path, values=True))
    (held,) = [child for child in cv.graph(path).nodes[0].children if child.local_name == "layers"]
    names = [child.local_name for child in cv.graph(path).nodes[held.node_id].children]
    assert names == ["dense", *(f"dense_{number}" for number in range(1, 12))]
