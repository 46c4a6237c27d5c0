"""The static picture of a comparison: the table that the explorer shows."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.render.comparison_svg import MAX_ROWS, comparison_svg
from tests.hostile.makers import NASTY
from tests.support.graphs import graph, keras3_adam, named, transformer, without_optimizer
from tests.support.payload_fixtures import overlays
from tests.support.saved_graphs import write_graph
from tests.test_svg import check_safe, rows_of, texts_of


@pytest.fixture
def check(tmp_path: Path) -> cv.RestoreCheck:
    """The check of a layer with an optimizer, and a checkpoint without one."""
    return cv.check(
        write_graph(tmp_path / "adam-1", keras3_adam()),
        write_graph(tmp_path / "plain-1", without_optimizer()),
    )


def test_a_check_is_its_sentence_and_the_lines_of_its_table(check: cv.RestoreCheck) -> None:
    svg, table = check.to_svg(), check.overlay.table
    texts = texts_of(svg)
    assert texts[texts.index(table.sentence) + 1] == table.verdict
    assert {"as saved", "in the program"} <= set(texts)
    lines = table.at_first(MAX_ROWS).lines
    assert [line.live for line in lines] == ["layer", "optimizer"]
    for row, line in zip(rows_of(svg), lines, strict=True):
        assert {line.plain.words, str(line.values)} <= set(row)
        assert line.saved in row or line.saved_facts in row


def test_what_only_a_file_has_is_struck_through() -> None:
    svg = cv.diff(keras3_adam(), without_optimizer()).to_svg()
    assert re.search(r'<text class="[^"]*\bgone"[^>]*>optimizer<', svg)
    (row,) = [row for row in rows_of(svg) if row[0] == "optimizer"]
    assert row[1:] == ["\N{MINUS SIGN}", "only in a", "not in b", "1"]


def test_a_screen_reader_reads_title_sentence_and_each_row(check: cv.RestoreCheck) -> None:
    root = ET.fromstring(check.to_svg())
    table = check.overlay.table
    svg = "{http://www.w3.org/2000/svg}"
    assert [child.tag for child in root][:2] == [f"{svg}title", f"{svg}desc"]
    assert root.findtext(f"{svg}desc") == f"{table.sentence} {table.verdict}"
    rows = [row for row in root.iter(f"{svg}g") if row.get("role") == "listitem"]
    titles = [row.findtext(f"{svg}title") for row in rows]
    assert titles[-1] == (
        "as saved: not in the file; restore(): keeps its own; in the program: optimizer"
    )


@pytest.mark.parametrize("name", [*NASTY, "]]>", "a\u202eb", "\ud800", "\ufffe", "x" * 1_000_000])
def test_hostile_names_are_text(name: str) -> None:
    hostile = replace(named(keras3_adam(), name), title=name)
    svg = cv.diff(hostile, keras3_adam()).to_svg()
    check_safe(svg)
    assert len(svg) < 200_000


def test_fixtures_are_safe_pictures_of_at_most_1000_pixels() -> None:
    for overlay in overlays().values():
        svg = comparison_svg(overlay)
        check_safe(svg)
        assert int(re.findall(r'width="(\d+)"', svg)[0]) <= 1000
        assert min(map(int, re.findall(r"(\d+)px", svg))) >= 11


def test_blocks_that_differ_alike_are_one_row_and_others_have_their_own() -> None:
    before = transformer(12)
    kernels = [2 * place + 6 for place in range(24)]  # two in each block
    every = rows_of(cv.diff(before, _of_other_shape(before, kernels[::2])).to_svg())
    assert [row[:2] for row in every if row[0].startswith("b")] == [["b0 … b11", "12 alike"]]
    one = rows_of(cv.diff(before, _of_other_shape(before, kernels[8:9])).to_svg())
    assert {"b0 … b3", "b4", "b5 … b11"} <= {row[0] for row in one}


def test_texts_are_cut_only_where_a_picture_has_no_room() -> None:
    long, giant = "shared_encoder_of_all_the_languages", "shared_" * 20
    cut = {}
    for name in (long, giant):
        before = graph({0: {name: 1}, 1: {"kernel": 2}}, (2,))
        svg = cv.diff(before, _of_other_shape(before, [2])).to_svg()
        assert int(re.findall(r'width="(\d+)"', svg)[0]) <= 1000
        cut[name] = rows_of(svg)[0]
    assert cut[long].count(long) == 2
    assert "…" in cut[giant][0] and len(cut[giant][0]) > len(long)


def _of_other_shape(before: ObjectGraph, kernels: list[int]) -> ObjectGraph:
    nodes = list(before.nodes)
    for kernel in kernels:
        (attribute,) = nodes[kernel].attributes
        nodes[kernel] = nodes[kernel]._replace(attributes=(attribute._replace(shape=(4, 6)),))
    return replace(before, nodes=tuple(nodes))


def _of_layers(count: int, wrong: tuple[int, ...]) -> tuple[ObjectGraph, ObjectGraph]:
    """Return two models of many layers; the kernels of the wrong ones have other shapes."""
    edges = {0: {"model": 1}, 1: {f"layer_{'x' * i}": 2 + 2 * i for i in range(count)}} | {
        2 + 2 * i: {"kernel": 3 + 2 * i} for i in range(count)
    }
    one = graph(edges, tuple(3 + 2 * i for i in range(count)))
    return one, _of_other_shape(one, [3 + 2 * i for i in wrong])


@pytest.mark.parametrize("wrong", [range(3, 4), range(0, 90, 3), range(0, 200, 2)])
def test_each_value_is_in_a_row_or_counted(wrong: range) -> None:
    overlay = cv.diff(*_of_layers(200, tuple(wrong))).overlay
    svg = comparison_svg(overlay)
    rows = rows_of(svg)
    assert len(rows) <= MAX_ROWS
    assert sum(int(row[-1].replace(",", "")) for row in rows) == 200
    misfits = [row for row in rows if "≠" in row]
    left_out = sum(int(row[-1]) for row in rows if row[0].endswith("more lines"))
    assert len(misfits) + left_out == len(wrong)


def test_a_comparison_without_a_difference_has_its_outermost_lines() -> None:
    one, _ = _of_layers(20, ())
    overlay = cv.diff(one, one).overlay
    assert [row[-2:] for row in rows_of(comparison_svg(overlay))] == [["model", "20"]]
    assert overlay.table.at_first(40).lines[0].plain.sign is CellSign.HERE
