import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ckpt_viz import ObjectGraph, Role
from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.render.dot import to_dot
from ckpt_viz.graphs.render.signs import CELLS
from ckpt_viz.graphs.render.views import View
from tests.support.graphs import graph, keras3_adam, named, transformer
from tests.support.payload_fixtures import overlays

VIEWS: tuple[View, View] = ("layers", "objects")


def test_looks_are_those_of_tensorflows_guide() -> None:
    source = keras3_adam().to_dot("objects").source
    assert '1 [label=optimizer color="#b3161b" penwidth=2 shape=hexagon' in source
    assert '7 [label="float32 7×2" color="#1a56db" shape=ellipse' in source
    assert '9 [label="momentum float32 9×2" color="#c76a00" shape=box style=dashed' in source
    assert "2 [label=object color=black shape=box style=rounded" in source


def test_slots_hang_from_optimizer_and_variable_by_dashed_edges() -> None:
    source = keras3_adam().to_dot("objects").source
    assert '\t1 -> 9 [color="#c76a00" style=dashed]' in source
    assert '\t7 -> 9 [label=momentum color="#c76a00" style=dashed]' in source


def test_every_edge_of_the_graph_is_drawn() -> None:
    adam = keras3_adam()
    edges = [line for line in adam.to_dot("objects").source.splitlines() if "->" in line]
    assert len(edges) == sum(len(node.children) for node in adam.nodes) + 2 * 2


needs_graphviz = pytest.mark.skipif(
    shutil.which("dot") is None, reason="needs Graphviz: apt-get install graphviz"
)


@needs_graphviz
def test_where_graphviz_is_installed_the_picture_is_rendered(tmp_path: Path) -> None:
    picture = keras3_adam().to_dot("objects").render(tmp_path / "graph", format="svg")
    svg = ElementTree.fromstring(Path(picture).read_text("utf-8"))
    kinds = [element.get("class") for element in svg.iter() if element.get("class")]
    assert (kinds.count("node"), kinds.count("edge")) == (11, 19)


@needs_graphviz
@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "<b>bold</b>", 'a"b', "a\\", "\\N", "a\nb", "a->b;", "日本"],
)
def test_hostile_name_is_text_to_graphviz(name: str) -> None:
    hostile = named(graph({0: {"a": 1}}, variables=(1,)), name)
    labels = [edge["label"] for edge in _laid_out(hostile)["edges"]]
    assert labels == [f"{name}0".replace("\n", "\\n").replace("\\", "\\\\")]


def _laid_out(hostile: ObjectGraph) -> dict[str, list[dict[str, str]]]:
    source = hostile.to_dot("objects").source
    result = subprocess.run(
        ["dot", "-Tjson0"], input=source.encode(), capture_output=True, check=True
    )
    laid_out: dict[str, list[dict[str, str]]] = json.loads(result.stdout)
    return laid_out


# --- the layers


def test_layers_are_the_rows_of_the_picture_with_parts_that_are_alike_once() -> None:
    source = transformer(3).to_dot().source
    assert 'group4 [label="3 alike" color=black shape=box3d tooltip="b0 … b2, 3 alike"]' in source
    edges = re.findall(r"^\t(\w+) -> (\w+) \[label=\"?([^\"\]]+)", source, re.MULTILINE)
    assert edges == [
        ("0", "1", "model"),
        *[("1", "3", "embed"), ("3", "4", "kernel"), ("1", "group4", "b0 … b2")],
        *[("group4", "5", "mix"), ("5", "6", "kernel"), ("group4", "7", "norm")],
        *[("7", "8", "kernel"), ("1", "17", "head"), ("17", "18", "kernel")],
    ]


def test_layers_have_the_sign_of_their_family_in_their_label() -> None:
    of = graph({0: {"head": 1, "body": 2, "odd": 3}}, ())
    classes = ("Dense", "Conv2D", '\\L<b>"Dense')
    layers = [
        node._replace(role=Role.LAYER, type_name=name)
        for node, name in zip(of.nodes[1:], classes, strict=True)
    ]
    shown = replace(of, nodes=(of.nodes[0], *layers))
    source = shown.to_dot().source
    assert '1 [label="≡ Dense" color=black shape=box' in source
    assert '2 [label="▦ Conv2D" color=black shape=box' in source
    assert r'3 [label="≡ \\L<b>\"Dense" color=black shape=box' in source
    assert "≡" not in shown.to_dot("objects").source


def test_slots_of_layers_hang_from_optimizer_and_variable_by_dashed_edges() -> None:
    source = keras3_adam().to_dot().source
    assert "\t1 -> 9 [color=" in source
    assert "\t7 -> 9 [label=momentum color=" in source
    assert source.count("style=dashed]") == 2 * 2


@pytest.mark.parametrize("name", ["check", "diff"])
def test_layers_of_a_comparison_show_the_signs_of_its_table(name: str) -> None:
    overlay = overlays()[name]
    layers, objects = (to_dot(overlay.graph, overlay, view=view).source for view in VIEWS)
    signs = {cell.sign for cell in overlay.table.cell_of.values()} - {CellSign.HERE}
    assert len(signs) > 1
    for sign in signs:
        number = layers.count(f"\\n{CELLS[sign].glyph} ")
        assert number == objects.count(f"\\n{CELLS[sign].glyph} ") > 0
