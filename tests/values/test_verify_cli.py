"""`ckpt-viz verify` and `ckpt-viz check --verify`: what they print, and their exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle
from tests.support.damage import flipped


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    found = str(tmp_path / "ckpt-1")
    ones = np.ones((2, 3), "float32")
    write_bundle(found, {key: array_tensor("float32", (2, 3), lambda: ones) for key in "ab"})
    return found


def test_whole_checkpoint_has_status_0(prefix: str) -> None:
    done = _run("verify", prefix)
    summary = "2 values, 48 bytes read: all match their checksums"
    assert done.output.splitlines() == [prefix, summary]
    assert done.exit_code == 0
    assert _run("verify", prefix, "--workers", "2").output == done.output


def test_damaged_tensor_is_named_and_has_status_1(prefix: str) -> None:
    (found,) = cv.graph(flipped(prefix, "b", 0)).verify()
    done = _run("verify", prefix)
    assert done.output.splitlines() == [
        prefix,
        "  ✗ damaged  b",
        f"      {found.why}",
        "2 values, 48 bytes read: 1 damaged",
    ]
    assert done.exit_code == 1
    assert "cut after 1 lines, 1 more" in _run("verify", prefix, "--max-lines", "1").output


def test_result_is_printed_as_json(prefix: str) -> None:
    (found,) = cv.graph(flipped(prefix, "b", 0)).verify()
    done = _run("verify", prefix, "--json")
    assert done.exit_code == 1 and done.output.isascii()
    assert json.loads(done.output) == {
        "version": 1,
        "title": prefix,
        "lost_files": [],
        "damaged": [{"key": "b", "name": "(root).b", "why": found.why, "raises": "DataLossError"}],
        "untested": [],
        "tensors": 2,
        "bytes": 48,
    }


def test_checkpoint_that_cannot_be_read_has_status_2(prefix: str, tmp_path: Path) -> None:
    assert _run("verify", str(tmp_path / "none")).exit_code == 2
    index = Path(f"{prefix}.index")
    index.write_bytes(index.read_bytes()[:-1])
    done = _run("verify", prefix)
    assert done.exit_code == 2 and str(index) in done.output


def test_names_from_the_file_move_no_cursor(tmp_path: Path) -> None:
    prefix = str(tmp_path / "ckpt-1")
    ones = np.ones(2, "float32")
    write_bundle(prefix, {"\x1b[2J": array_tensor("float32", (2,), lambda: ones)})
    flipped(prefix, "\x1b[2J", 0)
    assert "\x1b" not in _run("verify", prefix).output


def test_check_tests_bytes_on_request(prefix: str) -> None:
    flipped(prefix, "b", 0)
    assert _run("check", prefix, prefix).exit_code == 0
    done = _run("check", prefix, prefix, "--verify")
    assert done.exit_code == 1
    assert "restore() raises DataLossError" in done.output and "✗ damaged" in done.output
    assert "2 values (48 bytes): 1 of them is damaged." in done.output


def test_check_tells_whether_it_has_tested_the_bytes(prefix: str) -> None:
    (untested,) = cv.check(prefix, prefix).notes
    assert "Values were not read" in untested and "verify=True" in untested
    (tested,) = cv.check(prefix, prefix, verify=True).notes
    assert tested == "The restore reads 2 values (48 bytes): all match their checksums."
