"""A table of values as a sequence, a text, HTML, JSON, a data frame, and as a command."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.table import ValueTable
from ckpt_viz.formats.arrays.tensors import Array
from tests.support.name_based import DATA, write

SEEDS = Path(__file__).parents[1] / "data" / "seeds"


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    tensors: dict[str, Array | list[bytes]] = {
        "net/kernel": np.array([[3, 4], [0, 0]], np.float32),
        "net/scale": np.array([np.nan, 1, np.inf]),
        "names": [b"ab", b"c"],
        "step": np.array(7, np.int64),
    }
    return write(tmp_path / "ckpt", **tensors)


@pytest.fixture
def table(prefix: str) -> ValueTable:
    return cv.graph(prefix).values(progress=False)


def test_a_table_is_a_sequence_of_rows(table: ValueTable) -> None:
    assert len(table) == 4
    assert all(isinstance(row, ValueRow) for row in table)
    assert table[0] in table and table[-1] == list(table)[3]
    assert [row.key for row in table[1:3]] == [row.key for row in table][1:3]
    assert table["net/kernel"] == table["(root).net.kernel"]
    names: tuple[object, ...] = ("net/kernel", "(root).net")
    assert [name in table for name in names] == [True, False]


def test_a_wrong_name_is_answered_with_close_ones(table: ValueTable) -> None:
    with pytest.raises(cv.NoSuchTensorError, match=r"did you mean .*\(root\)\.net\.kernel"):
        table["(root).net.kernal"]


def test_two_tensors_of_a_node_need_their_keys() -> None:
    table = cv.graph(SEEDS / "values" / "ckpt").values()
    with pytest.raises(cv.NoSuchTensorError, match=r"2 rows have the name .* use a key: "):
        table["(root).table"]
    assert [row.place for row in table if row.name == "(root).table"] == [
        "(root).table [table-keys]",
        "(root).table [table-values]",
    ]


def test_a_row_has_the_name_that_print_shows(table: ValueTable) -> None:
    assert table["net.kernel"] is table["(root).net.kernel"] is table["net/kernel"]


def test_rows_are_sorted_by_a_column_those_without_it_last(table: ValueTable) -> None:
    assert [row.key for row in table.sorted("l2")] == ["step", "net/kernel", "net/scale", "names"]
    assert [row.key for row in table.sorted("key")] == sorted(row.key for row in table)
    assert table.sorted("l2", descending=False)[0].key == "net/scale"
    with pytest.raises(cv.SourceError, match="expected a column to sort by, key, name"):
        table.sorted("size")


def test_totals_are_those_of_a_subtree(table: ValueTable) -> None:
    found = table.total("(root).net")
    assert (found.tensors, found.count, found.zeros, found.nan, found.inf) == (2, 7, 2, 1, 1)
    assert found.l2 == pytest.approx(np.sqrt(26))
    assert found.nbytes == 16 + 24
    whole = table.total()
    assert (whole.tensors, whole.count, whole.strings, whole.unreadable) == (4, 8, 2, 0)
    with pytest.raises(cv.NoSuchNodeError):
        table.total("nothing")
    with pytest.raises(cv.NoSuchNodeError):
        table.total(99)


def test_the_text_begins_with_the_problems(table: ValueTable) -> None:
    lines = str(table).splitlines()
    assert lines[0] == "! 1 tensor has NaN: net.scale"
    assert lines[1] == "! 1 tensor has Inf: net.scale"
    assert lines[2].endswith("ckpt: 4 tensors, 10 elements, 57 B")
    assert lines[3].split() == [
        "name",
        "dtype",
        "shape",
        "min",
        "max",
        "mean",
        "std",
        "l2",
        "zeros",
    ]
    (kernel,) = (line for line in lines if line.startswith("net.kernel"))
    assert kernel.split()[1:] == ["float32", "2×2", "0", "4", "1.75", "1.785", "5", "50", "%"]
    (scale,) = (line for line in lines if line.startswith("net.scale"))
    assert scale.endswith("! NaN: 1 of 3; ! Inf: 1 of 3")
    assert repr(table).endswith("ckpt: 4 tensors>")


def test_a_long_text_is_cut_and_says_how_to_see_more(tmp_path: Path) -> None:
    prefix = write(tmp_path / "c", **{f"v{n}": np.ones(1) for n in range(50)})
    table = cv.graph(prefix).values()
    lines = str(table).splitlines()
    assert len(lines) == 1 + 1 + 40 + 1
    assert lines[-1] == "… 10 more rows: print(table.to_text(None)) shows all"
    assert len(table.to_text(None).splitlines()) == 52


def test_unreadable_tensors_are_marked_in_text_and_html(prefix: str) -> None:
    Path(prefix + DATA).unlink()
    table = cv.graph(prefix).values(progress=False)
    assert "data-00000-of-00001 is missing: none of 4 tensors" in str(table).splitlines()[0]
    assert table._repr_html_().count('<b class="bad">✗ cannot be read: ') == 4


def test_html_draws_each_histogram_as_high_as_its_counts(tmp_path: Path) -> None:
    array = np.repeat(np.array([-1.0, 0.5, 0.9]), [1, 4, 2])
    html = cv.graph(write(tmp_path / "ckpt", v=array)).values(progress=False)._repr_html_()
    heights = [float(one) for one in re.findall(r"M[\d.]+ 15v-([\d.]+)h", html)]
    assert heights == [pytest.approx(15 * share, abs=0.06) for share in (1 / 4, 1, 2 / 4)]
    assert "<title>from -1" in html


def test_html_escapes_every_name(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", **{"<script>&": np.array([np.nan])})
    html = cv.graph(prefix).values(progress=False)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;&amp;" in html
    assert '<b class="bad">! NaN: 1 of 1</b>' in html


def test_text_moves_no_cursor(tmp_path: Path) -> None:
    prefix = write(tmp_path / "ckpt", **{"a\x1b[2Jb\n": np.array([np.nan])})
    assert "\x1b" not in str(cv.graph(prefix).values(progress=False))


def test_json_has_finite_numbers_only(table: ValueTable) -> None:
    data = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert data["version"] == 1
    rows = {row["key"]: row for row in data["rows"]}
    assert rows["step"]["min"] == 7 and rows["step"]["shape"] == []
    assert rows["net/scale"]["nan"] == 1 and rows["net/scale"]["max"] == 1.0
    assert rows["names"]["lengths"] == {"shortest": 1, "longest": 2, "total": 3}
    assert "min" not in rows["names"] and "error" not in rows["names"]
    histogram = rows["net/kernel"]["histogram"]
    assert len(histogram["counts"]) == 64 and len(histogram["edges"]) == 65
    assert sum(histogram["counts"]) + histogram["below"] + histogram["above"] == 4


def test_every_key_of_the_json_is_documented(table: ValueTable) -> None:
    said = (Path(cv.__file__).parents[1] / "docs" / "values_json.md").read_text()
    data = table.to_json()
    keys = {*data, *(key for row in data["rows"] for key in row)}
    keys |= {key for row in data["rows"] for key in row.get("histogram", {})}
    keys |= {key for row in data["rows"] for key in row.get("lengths", {})}
    assert {key for key in {*keys, "error"} if f"`{key}`" not in said} == set()


def test_a_data_frame_has_a_row_for_each_tensor(table: ValueTable) -> None:
    pytest.importorskip("pandas")
    frame = table.to_dataframe()
    assert list(frame["key"]) == [row.key for row in table]
    assert frame.set_index("key").loc["net/kernel", "l2"] == 5.0


def test_without_pandas_the_error_names_the_command(prefix: str) -> None:
    program = (
        "import sys; sys.modules['pandas'] = None; import ckpt_viz as cv\n"
        f"try: cv.graph({prefix!r}).values().to_dataframe()\n"
        "except cv.CkptVizError as error: print(error)"
    )
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert said.endswith("pip install pandas\n")


def test_values_change_neither_equality_nor_pickles(prefix: str) -> None:
    with_values, without = cv.graph(prefix), cv.graph(prefix)
    assert with_values.nodes and without.nodes
    before = pickle.dumps(copy.copy(with_values).__getstate__()["nodes"])
    with_values.values(progress=False)
    assert with_values == without
    assert pickle.dumps(with_values.__getstate__()["nodes"]) == before
    assert "_read_values" not in with_values.__getstate__()


# --- the command


def test_the_command_prints_the_table_and_exits_with_1_for_a_nan(prefix: str) -> None:
    result = CliRunner().invoke(main, ["values", prefix])
    assert result.exit_code == 1
    assert result.output == f"{cv.graph(prefix).values()}\n"


def test_the_command_takes_a_query_a_column_and_a_number_of_rows(prefix: str) -> None:
    result = CliRunner().invoke(main, ["values", prefix, "--where", "name:kernel"])
    places = [line.split()[0] for line in result.output.splitlines()[2:]]
    assert (result.exit_code, places) == (0, ["net.kernel"]), result.output
    by_size = CliRunner().invoke(main, ["values", prefix, "--sort", "min"]).output
    assert by_size.splitlines()[4].startswith("step")
    cut = CliRunner().invoke(main, ["values", prefix, "--max-lines", "1"]).output
    assert cut.splitlines()[-1].startswith("… 3 more rows")


def test_the_command_prints_json_also_with_workers(prefix: str) -> None:
    result = CliRunner().invoke(main, ["values", prefix, "--json", "--workers", "2"])
    assert json.loads(result.output) == cv.graph(prefix).values().to_json()


def test_a_wrong_query_or_path_is_status_2(prefix: str, tmp_path: Path) -> None:
    for arguments in ([prefix, "--where", "size>"], [str(tmp_path / "nothing")]):
        assert CliRunner().invoke(main, ["values", *arguments]).exit_code == 2
