import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, Role
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.render.layer_outline import layer_outline
from ckpt_viz.graphs.render.outline import MAX_ROWS, outline
from tests.hostile.makers import NASTY
from tests.support.graphs import graph, keras3_adam, named, transformer
from tests.support.payload_fixtures import graphs, overlays

_NAMES = ("layer", "v7", "bias")
_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = {"svg", "title", "desc", "style", "rect", "path", "g", "text", "circle"}
_ATTRIBUTES = {
    *("class", "width", "height", "viewBox", "role", "x", "y", "rx", "d", "cx", "cy", "r"),
}


def texts_of(svg: str) -> list[str]:
    """Return the texts of the picture, in its order."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{_SVG}text")]


def rows_of(svg: str) -> list[list[str]]:
    """Return the texts of each row of the outline."""
    return [
        [text.text or "" for text in row.iter(f"{_SVG}text")]
        for row in ET.fromstring(svg).iter(f"{_SVG}g")
        if row.get("role") == "listitem"
    ]


def labels_of(svg: str) -> list[str]:
    return [row[0] for row in rows_of(svg)]


# --- what is in a picture


def test_rows_of_objects_are_the_outline_with_names_and_values() -> None:
    assert rows_of(keras3_adam().to_svg("objects")) == [
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
    assert rows_of(svg) == [
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
    assert "slot: m momentum" in texts_of(svg)


def test_every_role_has_a_shape_of_its_own_and_a_word_in_the_legend() -> None:
    svg = keras3_adam().to_svg("objects")
    rows, legend = svg.split("</g>\n</g>", 1)
    shapes = re.findall(r'class="icon (\w+)', rows)
    assert (
        shapes
        == ["object", "optimizer", *["object"] * 2, "variable", *["object"] * 2] + ["variable"] * 2
    )
    assert re.findall(r'class="icon (\w+)', legend) == ["object", "variable", "optimizer"]
    assert texts_of(svg)[-4:-1] == ["object", "variable", "optimizer"]
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
    check_safe(svg)


def test_the_problem_of_a_node_is_in_its_row() -> None:
    svg = graphs()["error_and_saver"].to_svg()
    assert any("! " in text for row in rows_of(svg) for text in row)


def test_empty_names_are_seen() -> None:
    empty = graph({0: {"": 1, "  ": 2}})
    assert labels_of(empty.to_svg("objects")) == ["(root)", '""', '"  "']


# --- hostile names


@pytest.mark.parametrize("name", [*NASTY, "]]>", "a\u202eb", "\ud800", "\ufffe", "x" * 1_000_000])
def test_hostile_names_are_text(name: str) -> None:
    svg = replace(named(keras3_adam(), name), title=name).to_svg()
    check_safe(svg)
    assert len(svg) < 200_000


def test_fixtures_are_safe_pictures() -> None:
    for one in graphs().values():
        check_safe(one.to_svg())


def check_safe(svg: str) -> None:
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
    assert rows_of(transformer(12).to_svg()) == [
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
    rows = {row[0]: row[-1] for row in rows_of(shown.to_svg())}
    assert rows["(root)"] == rows["dense"] == "10"  # of a kernel of 5×2
    assert [value for label, value in rows.items() if label.startswith("keras_api")] == [
        "keras_api · metrics · 0"
    ]
    trained = list(shown.nodes)
    trained[12] = trained[12]._replace(trainable=True)
    rows = {row[0]: row[-1] for row in rows_of(replace(shown, nodes=tuple(trained)).to_svg())}
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
    root = rows_of(cv.graph(tmp_path / "model").to_svg())[0]
    assert root[-1] == str(model.count_params())


def test_a_level_of_layers_is_shown_whole_or_not_at_all() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 30)}
    parts = {i: {"in": 100 + i, "out": 200 + i} for i in layers.values()}
    kernels = {i: {"kernel": 300 + i} for part in parts.values() for i in part.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = rows_of(graph({0: layers} | parts | kernels, values).to_svg())
    assert len(rows) == 30
    assert rows[1] == ["partx", "▸ 4 nodes below", "1,804"]


def test_variables_beside_their_layers_take_no_row() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 59)}
    kernels = {i: {"kernel": 100 + i, "bias": 200 + i} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = rows_of(graph({0: layers} | kernels, values).to_svg())
    assert len(rows) == 1 + 58 * 3


def test_of_very_many_layers_the_first_are_shown() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 300)}
    kernels = {i: {"kernel": 300 + i} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    rows = rows_of(graph({0: layers} | kernels, values).to_svg())
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
    last = texts_of(transformer(12).to_svg())[-1]
    assert last == "10 of 55 nodes shown; 44 in parts that are alike; 1 without values left out"


# --- which rows: of objects


def test_large_graphs_have_the_rows_near_the_root_and_say_what_is_left_out() -> None:
    layers = 400
    edges = {0: {"model": 1, "step": 2}, 1: {f"layer_{i}": 3 + 2 * i for i in range(layers)}} | {
        3 + 2 * i: {"kernel": 4 + 2 * i} for i in range(layers)
    }
    large = graph(edges, (2, *(4 + 2 * i for i in range(layers))))
    labels = labels_of(large.to_svg("objects"))
    assert len(labels) <= MAX_ROWS
    assert labels[:4] == ["(root)", "model", "layer_0", "kernel"]
    assert "layer_99" in labels
    assert "layer_100" not in labels
    assert labels[-2:] == ["… 300 more children", "step"]
    assert texts_of(large.to_svg("objects"))[-1] == "203 of 803 nodes shown; 600 in what is closed"


def test_closed_nodes_say_how_much_is_below() -> None:
    edges = {0: {str(i): i for i in range(1, 99)}} | {
        i: {str(j): 49 + 50 * i + j for j in range(50)} for i in range(1, 99)
    }
    rows = rows_of(graph(edges).to_svg("objects"))
    assert rows[-1] == ["98", "▸ 50 nodes below"]
    assert len(rows) <= MAX_ROWS


@pytest.mark.parametrize("max_rows", [1, 2, 3, 5, 17])
def test_no_more_rows_than_asked_for(max_rows: int) -> None:
    assert 1 <= len(outline(keras3_adam(), max_rows)) <= max_rows


def test_every_node_is_shown_counted_or_keras_own() -> None:
    for overlay in overlays().values():
        for max_rows in (2, 5, 300):
            rows = outline(overlay.graph, max_rows)
            ids = [row.node_id for row in rows if row.node_id is not None]
            assert len(set(ids)) == len(ids)
            assert len(ids) + sum(row.hidden for row in rows) == len(overlay.graph.nodes)


def test_keras_own_lists_are_left_out() -> None:
    own = Node(role=Role.BOOKKEEPING)
    nodes = (Node((Child("_tracker", 1), Child("v", 2))), own, Node())
    assert labels_of(ObjectGraph(nodes, "t", Origin.LIVE).to_svg("objects")) == ["(root)", "v"]


def test_long_chain_is_cut_and_stays_narrow() -> None:
    chain = graph({i: {"next": i + 1} for i in range(20_000)}, (20_000,))
    svg = chain.to_svg("objects")
    assert len(rows_of(svg)) == MAX_ROWS
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
    for shown in (transformer(12).to_svg(), _called()):
        assert int(re.findall(r'width="(\d+)"', shown)[0]) <= 1000
        assert min(map(int, re.findall(r"(\d+)px", shown))) >= 11


def test_no_picture_has_more_rows_than_the_most() -> None:
    layers = {f"part{'x' * i}": i for i in range(1, 50)}
    kernels = {i: {f"v{j}": 100 * i + j for j in range(20)} for i in layers.values()}
    values = tuple(i for kernel in kernels.values() for i in kernel.values())
    assert 50 < len(rows_of(graph({0: layers} | kernels, values).to_svg())) <= MAX_ROWS


def test_wide_and_many_values_keep_to_their_columns() -> None:
    many = tuple(Attribute(f"a{i}", "", f"k{i}", "float32", (i,), 4) for i in range(5_000))
    wide = ObjectGraph((Node((Child("日本" * 100, 1),)), Node(attributes=many)), "層", Origin.SAVED)
    label, value = rows_of(wide.to_svg())[1]
    assert re.fullmatch("[日本]+…[日本]+", label)
    assert len(value) < 50
    assert int(re.findall(r'width="(\d+)"', wide.to_svg())[0]) <= 1000
