"""A checkpoint format is one entry in a table, which the kernel, command line and server use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.entrances.server.graphs import look_at, read_page
from ckpt_viz.entrances.server.messages import Asked
from ckpt_viz.files.saved import file_types, locate, one_checkpoint
from ckpt_viz.files.saved.location import Files, FormatReader, Location
from ckpt_viz.files.saved.readers import READERS
from ckpt_viz.formats.storage.files import File, is_readable_file, open_file
from ckpt_viz.graphs.object_graph.graph import Graph

_TYPES = json.loads(Path(file_types.__file__).with_suffix(".json").read_text())["types"]


def _lines_of(path: str) -> list[str]:
    with open_file(path) as file:
        return file.read(0, file.size).decode().splitlines()


def _in_file(path: str) -> Location | None:
    return Location(path, path, LINES) if _lines_of(path)[:1] == ["lines"] else None


def _read(location: Location, _: str | None) -> Graph:
    names = _lines_of(location.prefix)[1:]
    children = tuple(cv.Child(name, number) for number, name in enumerate(names, 1))
    nodes = (cv.Node(children), *[cv.Node()] * len(names))
    provenance = cv.Provenance(location.given, location.prefix, cv.Format.OBJECT_BASED)
    return Graph(nodes, location.prefix, cv.Origin.SAVED, provenance)


def _files_of(location: Location) -> Files:
    return Files(location.prefix, (f"{location.prefix}.values",))


def _holds(file: File) -> bool:
    return file.read(0, 5) == b"lines"


LINES = FormatReader("lines", is_readable_file, _holds, _in_file, _files_of, _read)
"""A format of its own: a line for each child of the root, and the values in a file beside it."""


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(one_checkpoint, "READERS", (*READERS, LINES))
    path = tmp_path / "model.lines"
    path.write_text("lines\nkernel\nbias\n")
    return path


def test_kernel_and_command_line_read_a_format_that_is_added_to_the_table(lines: Path) -> None:
    assert [child.local_name for child in cv.graph(lines).nodes[0].children] == ["kernel", "bias"]
    printed = CliRunner().invoke(main, ["show", str(lines)])
    assert printed.exit_code == 0 and "bias" in printed.output
    (lines.parent / "checkpoint").write_text(f'model_checkpoint_path: "{lines.name}"')
    assert locate.locate(str(lines.parent)).reader is LINES


def test_server_reads_it_too_and_sees_changes_of_each_of_its_files(lines: Path) -> None:
    asked = Asked(root=str(lines.parent), shows_hidden=False, path=lines.name, against=None)
    assert len(read_page(asked, 10_000).shown.graph.nodes) == 3
    looks = [look_at(asked, "0", 10_000)]
    for path in (lines, Path(f"{lines}.values")):
        with path.open("a") as file:
            file.write("more\n")
        looks.append(look_at(asked, "0", 10_000))
    assert len({look.etag for look in looks}) == 3
    assert [look.index_bytes for look in looks] == [18, 23, 23]


def test_types_of_files_are_written_as_python_and_javascript_both_read_them() -> None:
    for one in _TYPES:
        assert one.keys() <= {"id", "label", "suffix", "name", "part", "shared"}
        assert ("suffix" in one) != ("name" in one)
        pattern = one.get("suffix") or one["name"]
        assert re.fullmatch(r"(?:[\w-]|\\[.]|\[0-9\]\{5\}|\(\w+\)\?)+", pattern), pattern
        if "shared" in one:
            assert re.fullmatch(one["suffix"], one["shared"]["extension"])
    assert locate._LEADING_ELSEWHERE.keys() <= {one["id"] for one in _TYPES}


@pytest.mark.parametrize(
    ("path", "found", "prefix"),
    [
        ("run/ckpt-3.index", "index", "run/ckpt-3"),
        ("run/ckpt-3.data-00000-of-00002", "shard", "run/ckpt-3"),
        ("run/model.ckpt-5.meta", "meta", "run/model.ckpt-5"),
        ("run.index/checkpoint", "state", "run.index/checkpoint"),
        ("gs://bucket/saved_model.pbtxt", "saved-model", "gs://bucket/saved_model.pbtxt"),
        ("keras_metadata.pb", "saved-model-metadata", "keras_metadata.pb"),
        ("a\nb.index", "index", "a\nb"),
        ("a.index\n", None, None),
        ("a.data-1", None, None),
        ("saved_model.pb.txt", None, None),
        ("checkpoint.py", None, None),
    ],
)
def test_name_of_a_file_shows_its_type(path: str, found: str | None, prefix: str | None) -> None:
    file_type = file_types.file_type_of(path)
    assert (file_type and file_type.id) == found
    assert (file_type and file_type.prefix_of(path)) == prefix


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "the list of shards is no JSON"),
        ("[]", "the list of shards is no JSON object"),
        ("{}", "found no weight_map"),
        ('{"weight_map": {"/a": ["../x.weights.h5"]}}', "expected a file in the same directory"),
        ('{"weight_map": {"/a": [7]}}', "found 7 as a shard"),
        ('{"weight_map": {}}', "names no shards"),
        ('{"weight_map": {"/a": ["x.weights.h5"]}}', "found none of the 1 shards"),
        ("[" * 100_000, "the list of shards is no JSON"),
    ],
)
def test_bad_lists_of_shards_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.weights.json").write_text(content)
    with pytest.raises(cv.CkptVizError, match=said):
        cv.graph(tmp_path / "x.weights.json")
