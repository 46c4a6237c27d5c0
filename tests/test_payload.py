from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.graphs.layers.training import Training
from ckpt_viz.graphs.nodes.nodes import Role, SlotRule
from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.overlay.overlay import Comparison, Overlay, Severity, State
from ckpt_viz.graphs.render import payload
from tests.support import payload_fixtures, payload_tables
from tests.support.graphs import graph, keras3_adam
from tests.support.saved_graphs import write_graph


def test_committed_fixtures_are_what_this_code_writes() -> None:
    stale = [
        path.name
        for path, data in payload_fixtures.files()
        if payload_fixtures.content(path, path.read_bytes()) != payload_fixtures.content(path, data)
    ]
    assert stale == [], "run `python -m tests.support.payload_fixtures`, then the TypeScript tests"


def test_same_graph_gives_the_same_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = {0: {"a": 1, "b": 2}}
    now = payload.encode(graph(edges))
    monkeypatch.setattr("time.time", lambda: 1e9)  # gzip may write the time
    assert payload.encode(graph(edges)) == now


def test_ten_thousand_nodes_fit_in_a_megabyte() -> None:
    layers = 3333
    edges = {0: {f"layer_{i}": 1 + 3 * i for i in range(layers)}} | {
        1 + 3 * i: {"kernel": 2 + 3 * i, "bias": 3 + 3 * i} for i in range(layers)
    }
    variables = tuple(n for i in range(layers) for n in (2 + 3 * i, 3 + 3 * i))
    assert len(payload.encode(graph(edges, variables))) < 1_000_000


def test_the_tables_of_the_document_are_those_of_the_schema() -> None:
    text = payload_tables.DOCUMENT.read_text("utf-8")
    assert payload_tables.with_tables(text) == text, "run `python -m tests.support.payload_tables`"


def test_the_codes_of_the_schema_are_those_of_the_enumerations() -> None:
    names = {
        "roles": [role.value for role in Role],
        "slot_rules": [rule.value for rule in SlotRule],
        "trainings": [training.value for training in Training],
    }
    for table, expected in names.items():
        first = 1 if table == "trainings" else 0
        assert payload.SCHEMA[table] == {name: code for code, name in enumerate(expected, first)}


def test_a_payload_has_the_sections_of_the_schema_in_its_order() -> None:
    columns, kinds = payload.SCHEMA["columns"], payload.SCHEMA["kinds"]

    def sections_of(*parts: str) -> list[tuple[str, str]]:
        tables = [table for part in parts for table in columns[part].values()]
        return [(name, kinds[kind][0]) for table in tables for name, kind in table.items()]

    compared = payload_fixtures.overlays()["check"]
    always = ("graph", "facts", "calls", "layers")
    for encoded, parts in (
        (payload.encode(compared.graph), always),
        (payload.encode(compared.graph, compared), (*always, "overlay", "table")),
    ):
        header = _header(encoded)
        written = [(section["name"], section["type"]) for section in header["sections"]]
        assert written == sections_of(*parts, "strings")
        assert (header["overlay"] is None) == (header["table"] is None) == ("table" not in parts)
        assert header.keys() == payload.SCHEMA["fields"]["header"].keys()
    assert header["table"]["totals"] == {"saved": 9, "live": 9, "restored": 4, "fixed": 5}


def test_the_fixtures_have_every_state_and_severity() -> None:
    def states(overlay: Overlay) -> set[State]:
        return {mark.state for mark in overlay.marks}

    compared = payload_fixtures.overlays().values()
    assert set().union(*map(states, compared)) == set(State)
    assert {o.comparison for o in compared} == set(Comparison)
    assert {p.severity for o in compared for p in o.problems} == set(Severity)
    lines = [line for o in compared for line in o.table.lines]
    cells = {cell.sign for line in lines for cell in (line.plain, line.fixed) if cell is not None}
    assert cells == set(CellSign)


def test_the_fixtures_have_every_kind_of_training_and_of_shape() -> None:
    shown = payload_fixtures.graphs()["facts"]
    assert set(shown.trainings) == {None, *Training}
    shapes = {facts.gives for node in shown.nodes if (facts := node.facts)}
    assert {len(sizes) for gives in shapes if gives for sizes in gives} == {0, 1}


def _header(data: bytes) -> Any:
    buffer = gzip.decompress(data)
    length = int.from_bytes(buffer[8:12], "little")
    return json.loads(buffer[12 : 12 + length])


def test_from_a_file_to_the_first_picture_no_large_package_is_imported(tmp_path: Path) -> None:
    first = write_graph(tmp_path / "ckpt-1", keras3_adam())
    second = write_graph(tmp_path / "ckpt-2", keras3_adam(), {8: 1})
    in_a_page = (
        "from ckpt_viz.entrances.jupyter.shown import show_of; "
        "from ckpt_viz.entrances.jupyter.answers import answer; "
        "assert all(show_of(*some).encoded for some in (sys.argv[1:2], sys.argv[1:])); "
    )
    in_a_notebook = (
        "import ckpt_viz as cv; "
        "views = cv.show(sys.argv[1]), cv.show(*sys.argv[1:]); "
        "assert all(view._repr_mimebundle_() for view in views); "
    )
    for program, large in {
        in_a_page: {"numpy", "cramjam", "ipywidgets", "pyfive", "tensorflow"},
        in_a_notebook: {"numpy", "cramjam", "pyfive", "tensorflow"},
    }.items():
        code = f"import sys; {program} print({large} & {{*sys.modules}})"
        done = subprocess.run([sys.executable, "-c", code, first, second], stdout=subprocess.PIPE)
        assert done.stdout == b"set()\n"
