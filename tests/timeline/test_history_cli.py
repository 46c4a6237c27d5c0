"""The commands about many checkpoints: history, and diff with values."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture
def training(tmp_path: Path) -> Path:
    """Three saves of two variables; in the last one of them an element is NaN."""
    for save in range(3):
        head = np.full((3, 2), 1.0 + save, np.float32)
        head[0, 0] = np.nan if save == 2 else head[0, 0]
        arrays = {"body/kernel": np.ones(4, np.float32) * save, "head/kernel": head}
        write_bundle(
            str(tmp_path / f"ckpt-{save}"),
            {
                name: array_tensor("float32", one.shape, partial(np.copy, one))
                for name, one in arrays.items()
            },
        )
    return tmp_path


def test_history_prints_what_the_package_says(training: Path) -> None:
    found = run("history", training / "ckpt-*")
    assert found.exit_code == 1  # for the NaN
    assert found.stdout.rstrip() == str(cv.history(str(training / "ckpt-*"), progress=False))
    assert "NaN first in ckpt-2" in found.stdout


def test_a_history_without_alarms_ends_with_status_0(training: Path) -> None:
    found = run("history", training / "ckpt-0", training / "ckpt-1")
    assert (found.exit_code, found.stderr) == (0, "")
    as_json = run("history", "--json", training / "ckpt-0", training / "ckpt-1")
    assert json.loads(as_json.stdout)["order"] == "in the order of the list"


def test_members_are_compared(training: Path) -> None:
    found = run("history", "--members", *(training / f"ckpt-{n}" for n in range(2)))
    assert found.exit_code == 0 and found.stdout.startswith("2 members")


def test_what_cannot_be_found_ends_with_status_2(tmp_path: Path) -> None:
    found = run("history", tmp_path)
    assert found.exit_code == 2 and str(tmp_path) in found.stderr


def test_diff_with_values_prints_the_largest_changes_and_writes_files(training: Path) -> None:
    picture = training / "diff.svg"
    found = run("diff", "--values", "--svg", picture, training / "ckpt-1", training / "ckpt-2")
    assert found.exit_code == 1 and picture.exists()
    assert "NaN only in b: head.kernel, 1 of 6 elements" in found.stdout
    assert "100 %" in found.stdout  # of the body: from 1 to 2
    as_json = run("diff", "--values", "--json", training / "ckpt-0", training / "ckpt-1")
    changes = {one["name"]: one for one in json.loads(as_json.stdout)["values"]}
    assert changes["head.kernel"]["relative"] == pytest.approx(1.0)
    assert "relative" not in changes["body.kernel"]  # from 0: infinite
    without = run("diff", training / "ckpt-0", training / "ckpt-1")
    assert "relative changes" not in without.stdout
