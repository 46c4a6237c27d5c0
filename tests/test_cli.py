from pathlib import Path

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from tests import live_objects


@pytest.mark.tf
def test_show_prints_the_tree(tmp_path: Path) -> None:
    prefix = live_objects.containers().write(str(tmp_path / "ckpt"))
    result = CliRunner().invoke(main, ["show", prefix])
    assert result.exit_code == 0
    assert result.output == f"{cv.graph(prefix)}\n"


@pytest.mark.tf
def test_show_cuts_where_it_is_told(tmp_path: Path) -> None:
    prefix = live_objects.containers().write(str(tmp_path / "ckpt"))
    lines = CliRunner().invoke(main, ["show", prefix, "--max-lines", "3"]).output.splitlines()
    assert lines[-1] == "… cut after 3 lines"
    assert len(lines) == 5


def test_wrong_path_is_one_sentence_and_status_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["show", str(tmp_path / "nothing")])
    assert result.exit_code == 2
    assert f"{tmp_path}/nothing: no such checkpoint" in result.output
    assert result.output.count("\n") == 1


def test_file_names_in_errors_move_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2Jb.index").touch()
    result = CliRunner().invoke(main, ["show", str(tmp_path)])
    assert "a\\x1b[2Jb" in result.output
    assert "\x1b" not in result.output


def test_every_command_has_help() -> None:
    for command in ([], *([name] for name in main.commands)):
        result = CliRunner().invoke(main, [*command, "--help"])
        assert result.exit_code == 0
        assert result.output.startswith("Usage:")
