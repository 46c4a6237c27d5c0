import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, Role
from ckpt_viz.object_graph.calls import Call
from ckpt_viz.object_graph.overlay import QUIET, Overlay, State
from ckpt_viz.render.layer_outline import layer_outline
from ckpt_viz.render.outline import MAX_ROWS, outline
from ckpt_viz.render.svg import to_svg
from ckpt_viz.render.views import MAX_LAYER_ROWS, View
from tests.hostile.makers import NASTY
from tests.support.graphs import graph, keras3_adam, named, transformer, without_optimizer
from tests.support.payload_fixtures import graphs, overlays
from tests.support.saved_graphs import write_graph

_NAMES = ("layer", "v7", "bias")
_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = {"svg", "title", "desc", "style", "rect", "path", "g", "text"}
_ATTRIBUTES = {
    *("class", "width", "height", "viewBox", "role", "x", "y", "rx", "d"),
}


def _texts(svg: str) -> list[str]:
    """Return the texts of the picture, in its order."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{_SVG}text")]


def _rows(svg: str) -> list[list[str]]:
    """Return the texts of each row of the outline."""
    return [
        [text.text or "" for text in row.iter(f"{_SVG}text")]
        for row in ET.fromstring(svg).iter(f"{_SVG}g")
        if row.get("role") == "listitem"
    ]


def _labels(svg: str) -> list[str]:
    return [row[0] for row in _rows(svg)]


# --- what is in a picture


def test_rows_of_objects_are_the_outline_with_names_and_values() -> None:
    assert _rows(keras3_adam().to_svg("objects")) == [
        ["(root)"],
        ["optimizer"],
        ["_variables"],
        ["_trainable_variables"],
        ["_iterations", "float32 5×2"],
        ["_momentums"],
        ["layer"],
        ["_kernel", "float32 7×2  with momentum"],
        ["bias", "float32 8×2  with momentum"],
    ]


def test_a_layer_has_its_variables_beside_it_and_a_chip_for_each_slot() -> None:
    svg = keras3_adam().to_svg()
    assert _rows(svg) == [
        ["(root)", "30"],
        ["optimizer"],
        ["v5", "5×2"],
        ["layer", "30"],
        ["v7", "7×2", "m"],
        ["bias", "8×2", "m"],
    ]
    layer, kernel, bias = (re.findall(rf'y="([^"]*)"[^>]*>{name}<', svg) for name in _NAMES)
    assert kernel == bias
    assert abs(float(layer[0]) - float(kernel[0])) < 2
    assert svg.count('class="icon slot dashed"') == 3  # one of them in the legend
    assert "slot: m momentum" in _texts(svg)


def test_every_role_has_a_shape_of_its_own_and_a_word_in_the_legend() -> None:
    svg = keras3_adam().to_svg("objects")
    rows, legend = svg.split("</g>\n</g>", 1)
    shapes = re.findall(r'class="icon (\w+)', rows)
    assert (
        shapes
        == ["object", "optimizer", *["object"] * 2, "variable", *["object"] * 2] + ["variable"] * 2
    )
    assert re.findall(r'class="icon (\w+)', legend) == ["object", "variable", "optimizer"]
    assert _texts(svg)[-4:-1] == ["object", "variable", "optimizer"]
    alone = Node(role=Role.SLOT)
    assert 'class="icon slot dashed"' in ObjectGraph((alone,), "s", Origin.SAVED).to_svg("objects")


def _of_classes(*classes: str) -> ObjectGraph:
    """Return layers of these classes, side by side."""
    ids = range(1, len(classes) + 1)
    of = graph({0: {f"part{i}": i for i in ids}}, ())
    nodes = [
        node._replace(role=Role.LAYER, type_name=name)
        for node, name in zip(of.nodes[1:], classes, strict=True)
    ]
    return replace(of, nodes=(of.nodes[0], *nodes))


def test_layers_have_the_sign_of_their_family() -> None:
    shown = _of_classes("Dense", "Conv2D", "LayerNormalization", "Encoder", "Dense")
    svg = shown.to_svg("objects")
    signs = re.findall(r'<svg class="sign"[^>]*><path d="([^"]*)"/>', svg)
    assert len(signs) == 4
    assert signs[0] == signs[3]
    assert len(set(signs)) == 3
    of_rows_and_legend = 5 + 1
    assert svg.count('class="icon layer"') == svg.count('class="tab"') == of_rows_and_legend
    _check_safe(svg)


def test_a_layer_that_is_gone_is_hollow_but_keeps_its_sign() -> None:
    layer = _of_classes("Dense")
    empty = replace(layer, nodes=(layer.nodes[0]._replace(children=()),))
    overlay = cv.diff(layer, empty).overlay
    svg = to_svg(overlay.graph, overlay, view="objects")
    assert 'class="icon layer dashed"' in svg
    assert 'class="sign"' in svg
    assert 'class="tab"' not in svg


@pytest.fixture
def check(tmp_path: Path) -> cv.RestoreCheck:
    """The check of a layer with an optimizer, and a checkpoint without one."""
    return cv.check(
        write_graph(tmp_path / "adam-1", keras3_adam()),
        write_graph(tmp_path / "plain-1", without_optimizer()),
    )


def test_a_check_has_its_verdict_on_top_and_states_in_its_rows(check: cv.RestoreCheck) -> None:
    texts = _texts(check.to_svg())
    assert "✗ assert_consumed() would fail: 3 values not in checkpoint" in texts
    assert any(text.startswith("✓ restore()   ✗ assert_consumed()") for text in texts)
    rows = {row[0]: row[1:] for row in _rows(check.to_svg())}
    assert rows["v5"] == ["float32 5×2", "+", "not in checkpoint"]
    assert rows["v7"][-2:] == ["✓", "matched  below: +1"]


def test_a_saved_root_without_a_counterpart_is_called_root() -> None:
    layers = {1: {"kernel": 3}, 2: {"bias": 4}}
    saved = graph({0: {"model": 5}, 5: {"a": 1, "b": 2}, **layers}, variables=(3, 4))
    program = graph({0: {"a": 1, "b": 2}, **layers}, variables=(3, 4))
    rows = _rows(cv.check(program, saved).to_svg())
    assert [row[-1] for row in rows if row[0] == "(root)"] == [
        "moved  saved as model",
        "restored, but…  misplaced  goes into the root",
    ]


def test_a_diff_says_what_differs_and_strikes_out_what_is_gone() -> None:
    svg = cv.diff(keras3_adam(), without_optimizer()).to_svg()
    assert _texts(svg)[1] == "≠ differs: 3 values only in a; 2 values not compared"
    assert re.search(r'class="[^"]*\bgone\b', svg)
    (row,) = [row for row in _rows(svg) if row[0] == "optimizer"]
    assert row == ["optimizer", "\N{MINUS SIGN}", "only in a"]


def test_the_problem_of_a_node_is_in_its_row() -> None:
    svg = graphs()["error_and_saver"].to_svg()
    assert any("! " in text for row in _rows(svg) for text in row)


def test_empty_names_are_seen() -> None:
    empty = graph({0: {"": 1, "  ": 2}})
    assert _labels(empty.to_svg("objects")) == ["(root)", '""', '"  "']


def test_a_screen_reader_reads_title_summary_and_each_row(check: cv.RestoreCheck) -> None:
    root = ET.fromstring(check.to_svg())
    assert [child.tag for child in root][:2] == [f"{_SVG}title", f"{_SVG}desc"]
    assert (root.findtext(f"{_SVG}desc") or "").startswith("assert_consumed() would fail: 3 values")
    sentences = [
        row.findtext(f"{_SVG}title")
        for row in root.iter(f"{_SVG}g")
        if row.get("role") == "listitem"
    ]
    assert (
        "optimizer.v5 at (root).optimizer._iterations, variable, float32 5×2, not in checkpoint"
        in sentences
    )


# --- hostile names


@pytest.mark.parametrize("name", [*NASTY, "]]>", "a\u202eb", "\ud800", "\ufffe", "x" * 1_000_000])
def test_hostile_names_are_text(name: str) -> None:
    hostile = replace(named(keras3_adam(), name), title=name)
    compared = cv.diff(hostile, keras3_adam())
    for svg in (hostile.to_svg(), compared.to_svg()):
        _check_safe(svg)
        assert len(svg) < 200_000


def test_fixtures_are_safe_pictures() -> None:
    for one in graphs().values():
        _check_safe(one.to_svg())
    for overlay in overlays().values():
        _check_safe(to_svg(overlay.graph, overlay))


def _check_safe(svg: str) -> None:
    """Fail unless the picture is well-formed, printable and nothing but shapes and text."""
    assert svg.replace("\n", "").isprintable()
    svg.encode()
    for element in ET.fromstring(svg).iter():
        assert element.tag.removeprefix(_SVG) in _ELEMENTS
        assert set(element.attrib) <= _ATTRIBUTES
    (style,) = re.findall(r"<style>(.*?)</style>", svg)
    assert "url" not in style
    assert "@import" not in style


# --- which rows: of layers


def test_layers_are_shown_with_their_parameters_and_the_first_of_those_alike() -> None:
    assert _rows(transformer(12).to_svg()) == [
        ["(root)", "520"],
        ["model", "520"],
        ["embed", "20"],
        ["kernel", "4×5"],
        ["b0 … b11", "12 alike", "480"],
        ["mix", "20"],
        ["kernel", "4×5"],
        ["norm", "20"],
        ["kernel", "4×5"],
        ["head", "20"],
        ["kernel", "4×5"],
    ]


def test_state_counters_and_metrics_are_no_parameters() -> None:
    shown = graph(
        {
            0: {"dense": 1, "optimizer": 2, "keras_api": 3, "save_counter": 4, "step": 13},
            1: {"kernel": 5, "keras_api": 9},
            2: {"_variables": 6, "_iterations": 7},
            3: {"metrics": 8},
            6: {"0": 7},
            8: {"0": 10},
            9: {"trainable_variables": 11},
            10: {"total": 12},
            11: {"0": 5},
        },
        variables=(4, 5, 7, 12, 13),
    )
    nodes = list(shown.nodes)
    for counter in (4, 13):
        (value,) = nodes[counter].attributes
        attributes = (value._replace(shape=(), dtype="int64"),)
        nodes[counter] = nodes[counter]._replace(attributes=attributes)
    shown = replace(shown, nodes=tuple(nodes))
    rows = {row[0]: row[-1] for row in _rows(shown.to_svg())}
    assert rows["(root)"] == rows["dense"] == "10"  # of a kernel of 5×2
    assert [value for label, value in rows.items() if label.startswith("keras_api")] == [
        "keras_api · metrics · 0"
    ]
    trained = list(shown.nodes)
    trained[12] = trained[12]._replace(trainable=True)
    rows = {row[0]: row[-1] for row in _rows(replace(shown, nodes=tuple(trained)).to_svg())}
    assert rows["(root)"] == "34"


@pytest.mark.tf
def test_the_parameters_of_a_saved_model_are_those_that_keras_counts(tmp_path: Path) -> None:
    keras = pytest.importorskip("tf_keras")
    inputs = keras.Input((4,))
    hidden = keras.layers.BatchNormalization()(keras.layers.Dense(3)(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
    metrics = ["mae", keras.metrics.Accuracy()]
    model.compile("adam", "mse", metrics=metrics, run_eagerly=True)
    model.fit([[0.0] * 4], [[0.0] * 2], verbose=0)
    model.save(tmp_path / "model", save_format="tf")
    root = _rows(cv.graph(tmp_path / "model").to_svg())[0]
    assert root[-1] == str(model.count_params())


def test_a_level_of_layers_is_shown_whole_or_not_at_all() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 30)}
    parts = {i: {"in": 100 + i, "out": 200 + i} for i in layers.values()}
    kernels = {i: {"kernel": 300 + i} for part in parts.values() for i in part.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = _rows(graph({0: layers} | parts | kernels, values).to_svg())
    assert len(rows) == 30
    assert rows[1] == ["partx", "▸ 4 nodes below", "1,804"]


def test_variables_beside_their_layers_take_no_row() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 59)}
    kernels = {i: {"kernel": 100 + i, "bias": 200 + i} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = _rows(graph({0: layers} | kernels, values).to_svg())
    assert len(rows) == 1 + 58 * 3


def test_of_very_many_layers_the_first_are_shown() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 300)}
    kernels = {i: {"kernel": 300 + i} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = _rows(graph({0: layers} | kernels, values).to_svg())
    layers_shown = [row for row in rows if row[0].startswith("part")]
    assert len(layers_shown) == 58
    assert rows[-1] == ["… 241 more children", "241 nodes below them"]


def test_every_row_of_layers_is_shown_or_counted() -> None:
    for one in (*graphs().values(), transformer(12)):
        rows = layer_outline(one)
        shown = [row for row in rows if row.node_id is not None]
        counted = len(shown) + sum(row.hidden + row.repeated for row in rows)
        assert counted == sum(row < len(one.nodes) for row in one.layers.preorder())


def test_parts_that_are_alike_are_counted_apart_from_what_has_no_value() -> None:
    last = _texts(transformer(12).to_svg())[-1]
    assert last == "10 of 55 nodes shown; 44 in parts that are alike; 1 without values left out"


# --- which rows: of the layers of a comparison


def test_blocks_that_differ_alike_are_one_row_and_others_have_their_own() -> None:
    before = transformer(12)
    kernels = [2 * place + 6 for place in range(24)]  # two in each block
    every = _rows(cv.diff(before, _of_other_shape(before, kernels[::2])).to_svg())
    assert [row for row in every if row[0].startswith("b")] == [
        ["b0 … b11", "12 alike", "below: ≠11"]
    ]
    one = _labels(cv.diff(before, _of_other_shape(before, kernels[8:9])).to_svg())
    assert {"b0 … b3", "b4", "b5 … b11"} <= set(one)


def _of_other_shape(before: ObjectGraph, kernels: list[int]) -> ObjectGraph:
    nodes = list(before.nodes)
    for kernel in kernels:
        (attribute,) = nodes[kernel].attributes
        nodes[kernel] = nodes[kernel]._replace(attributes=(attribute._replace(shape=(4, 6)),))
    return replace(before, nodes=tuple(nodes))


def test_states_among_layers_are_shown_or_counted() -> None:
    for overlay in overlays().values():
        loud = Counter(mark.state for mark in overlay.marks if mark.state not in QUIET)
        for max_rows in (1, 2, 5, 60):
            rows = outline(overlay.graph, overlay, max_rows, of_layers=True)
            shown = [overlay.marks[row.node_id].state for row in rows if row.node_id is not None]
            counted = Counter(state for state in shown if state not in QUIET)
            for row in rows:
                counted.update(dict(row.states))
            assert counted == loud


# --- which rows: of objects


def test_large_graphs_have_the_rows_near_the_root_and_say_what_is_left_out() -> None:
    layers = 400
    edges = {0: {"model": 1, "step": 2}, 1: {f"layer_{i}": 3 + 2 * i for i in range(layers)}} | {
        3 + 2 * i: {"kernel": 4 + 2 * i} for i in range(layers)
    }
    large = graph(edges, (2, *(4 + 2 * i for i in range(layers))))
    labels = _labels(large.to_svg("objects"))
    assert len(labels) <= MAX_ROWS
    assert labels[:4] == ["(root)", "model", "layer_0", "kernel"]
    assert "layer_99" in labels
    assert "layer_100" not in labels
    assert labels[-2:] == ["… 300 more children", "step"]
    assert _texts(large.to_svg("objects"))[-1] == "203 of 803 nodes shown; 600 in what is closed"


def test_closed_nodes_say_how_much_is_below() -> None:
    edges = {0: {str(i): i for i in range(1, 99)}} | {
        i: {str(j): 49 + 50 * i + j for j in range(50)} for i in range(1, 99)
    }
    rows = _rows(graph(edges).to_svg("objects"))
    assert rows[-1] == ["98", "▸ 50 nodes below"]
    assert len(rows) <= MAX_ROWS


def _layers(count: int, wrong: tuple[int, ...]) -> tuple[ObjectGraph, ObjectGraph]:
    """Return two models of many layers; the kernels of the wrong ones have other shapes."""
    edges = {0: {"model": 1}, 1: {f"layer_{i}": 2 + 2 * i for i in range(count)}} | {
        2 + 2 * i: {"kernel": 3 + 2 * i} for i in range(count)
    }
    one = graph(edges, tuple(3 + 2 * i for i in range(count)))
    nodes = list(one.nodes)
    for i in wrong:
        (attribute,) = nodes[3 + 2 * i].attributes
        nodes[3 + 2 * i] = nodes[3 + 2 * i]._replace(attributes=(attribute._replace(shape=(1,)),))
    return one, replace(one, nodes=tuple(nodes))


@pytest.mark.slow
def test_problems_are_shown_however_deep_in_the_graph_they_are() -> None:
    svg = cv.diff(*_layers(5_000, (4_321,))).to_svg()
    labels = _labels(svg)
    assert labels[labels.index("layer_4321") + 1] == "kernel"
    assert {"layer_4320", "layer_4322"} <= set(labels)  # and their neighbours
    assert len(labels) < 50
    assert any("shape differs" in text for row in _rows(svg) for text in row)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "most", "least"), [("layers", MAX_LAYER_ROWS, 20), ("objects", MAX_ROWS, 100)]
)
def test_problems_without_a_row_are_counted(view: View, most: int, least: int) -> None:
    wrong = tuple(range(0, 5_000, 7))
    svg = cv.diff(*_layers(5_000, wrong)).to_svg(view)
    rows = _rows(svg)
    assert len(rows) <= most
    shown = sum("≠" in row for row in rows)
    counted = sum(int(n) for row in rows for n in re.findall(r"≠(\d+)", row[-1]))
    assert shown + counted == len(wrong)
    assert shown > least


def test_comparison_without_a_difference_is_short() -> None:
    one, _ = _layers(20, ())
    rows = _rows(cv.diff(one, one).to_svg())
    assert len(rows) <= 25
    assert _texts(cv.diff(one, one).to_svg())[1].startswith("✓ no difference")


@pytest.mark.parametrize("max_rows", [1, 2, 3, 5, 17])
def test_no_more_rows_than_asked_for(max_rows: int) -> None:
    compared: list[tuple[cv.ObjectGraph, Overlay | None]] = [(keras3_adam(), None)]
    diff = cv.diff(*_layers(50, (3, 30)))
    compared.append((ObjectGraph(diff.overlay.graph.nodes, "", Origin.SAVED), diff.overlay))
    for one, overlay in compared:
        assert 1 <= len(outline(one, overlay, max_rows)) <= max_rows


def test_every_node_is_shown_counted_or_keras_own() -> None:
    for overlay in overlays().values():
        for max_rows in (2, 5, 300):
            rows = outline(overlay.graph, overlay, max_rows)
            ids = [row.node_id for row in rows if row.node_id is not None]
            assert len(set(ids)) == len(ids)
            assert len(ids) + sum(row.hidden for row in rows) == len(overlay.graph.nodes)


def test_states_of_what_is_closed_add_up() -> None:
    diff = cv.diff(*_layers(300, tuple(range(10, 200))))
    for max_rows in (1, 20, 300):
        rows = outline(diff.overlay.graph, diff.overlay, max_rows)
        marks = diff.overlay.marks
        shown = sum(r.node_id is not None and marks[r.node_id].state is State.SHAPE for r in rows)
        assert shown + sum(n for r in rows for state, n in r.states if state is State.SHAPE) == 190


def test_keras_own_lists_are_left_out_unless_something_is_wrong_there() -> None:
    own = Node(role=Role.BOOKKEEPING)
    nodes = (Node((Child("_tracker", 1), Child("v", 2))), own, Node())
    assert _labels(ObjectGraph(nodes, "t", Origin.LIVE).to_svg("objects")) == ["(root)", "v"]
    other = ObjectGraph((Node((Child("v", 1),)), Node()), "t", Origin.LIVE)
    assert "_tracker" in _labels(cv.diff(ObjectGraph(nodes, "t", Origin.LIVE), other).to_svg())


def test_long_chain_is_cut_and_stays_narrow() -> None:
    chain = graph({i: {"next": i + 1} for i in range(20_000)}, (20_000,))
    svg = chain.to_svg("objects")
    assert len(_rows(svg)) == MAX_ROWS
    assert int(re.findall(r'width="(\d+)"', svg)[0]) < 1500


def _called(*calls: tuple[str, str]) -> str:
    """Return the picture of blocks of three layers, some called on others."""
    names = ["stem", *[f"b{i}_{part}" for i in range(2) for part in ("norm", "mix", "add")], "head"]
    ids = {name: 1 + place for place, name in enumerate(names)}
    kernels = {i: {"kernel": 20 + i} for name, i in ids.items() if name not in ("b0_add", "b1_add")}
    values = tuple(20 + i for i in kernels)
    shown = graph({0: ids} | kernels, values)
    nodes = list(shown.nodes)
    for i in ids.values():
        nodes[i] = nodes[i]._replace(role=Role.LAYER, type_name="Dense" if i in kernels else "Add")
    arrows = tuple(Call(ids[producer], ids[consumer]) for producer, consumer in calls)
    return replace(shown, nodes=tuple(nodes), calls=arrows).to_svg()


def _arrows(svg: str) -> list[str]:
    """Return the arrows: straight ones down, and those around the rows between."""
    paths = re.findall(r'class="flow" d="([^"]*)"', svg)
    return ["around" if "H" in path else "down" for path in paths]


def test_arrows_lead_to_the_next_layer_and_around_others() -> None:
    assert _arrows(_called()) == []
    assert _arrows(_called(("stem", "b0_norm"))) == ["down"]  # into the first layer of a block
    in_block = [("b0_norm", "b0_mix"), ("b0_mix", "b0_add")]
    assert _arrows(_called(*in_block)) == ["down", "down"]
    assert _arrows(_called(*in_block, ("b0_norm", "b0_add"))) == ["down", "down", "around"]


def test_a_call_into_a_block_ends_at_its_layer() -> None:
    straight = ("stem", "b0_norm")
    assert _arrows(_called(straight, ("stem", "b0_add"))) == ["down", "around"]


def test_a_picture_is_at_most_1000_pixels_wide_with_text_of_11_pixels_or_more() -> None:
    for shown in (transformer(12).to_svg(), cv.diff(*_layers(50, (3, 30))).to_svg(), _called()):
        assert int(re.findall(r'width="(\d+)"', shown)[0]) <= 1000
        assert min(map(int, re.findall(r"(\d+)px", shown))) >= 11
    for overlay in overlays().values():
        assert int(re.findall(r'width="(\d+)"', to_svg(overlay.graph, overlay))[0]) <= 1000


def test_no_picture_has_more_rows_than_the_most() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 50)}
    kernels = {i: {f"v{j}": 100 * i + j for j in range(20)} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    assert 50 < len(_rows(graph({0: layers} | kernels, values).to_svg())) <= MAX_ROWS


def test_wide_and_many_values_keep_to_their_columns() -> None:
    many = tuple(Attribute(f"a{i}", "", f"k{i}", "float32", (i,), 4) for i in range(5_000))
    wide = ObjectGraph((Node((Child("日本" * 100, 1),)), Node(attributes=many)), "層", Origin.SAVED)
    label, value = _rows(wide.to_svg())[1]
    assert re.fullmatch("[日本]+…[日本]+", label)
    assert len(value) < 50
    assert int(re.findall(r'width="(\d+)"', wide.to_svg())[0]) <= 1000
