"""One table of formats, which the command line, the kernel and the Export menu share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.entrances.commands import graphs
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.graphs.render import exports, html
from ckpt_viz.graphs.render.exports import EXPORTS
from tests.support.graphs import graph, keras3_adam
from tests.support.saved_graphs import write_graph
from tests.test_html import needs_bundle


def test_every_format_can_be_written_and_is_an_option_of_every_command_with_a_graph() -> None:
    assert EXPORTS.keys() == exports._WRITERS.keys()
    of_graphs = [one for one in vars(graphs).values() if isinstance(one, click.Command)]
    assert len(of_graphs) == 4
    for command in of_graphs:
        if command.name == "fix":  # its answer is code
            continue
        options = {option for parameter in command.params for option in parameter.opts}
        assert {f"--{name}" for name in EXPORTS} <= options, command.name


@needs_bundle
@pytest.mark.parametrize("name", EXPORTS)
def test_kernel_and_command_line_write_the_same(name: str, tmp_path: Path) -> None:
    prefix = write_graph(tmp_path / "ckpt-1", graph({0: {"kernel": 1}}, variables=(1,)))
    arguments = ["show", prefix, f"--{name}", *([] if name == "json" else ["-"])]
    printed = CliRunner().invoke(main, arguments)
    data, (buffer,) = answer(show_of(prefix), {"ask": "file", "format": name})
    assert data == {"name": f"checkpoint.{name}", "type": EXPORTS[name].mime}
    assert printed.stdout.rstrip() == buffer.decode().rstrip() != ""


@needs_bundle
@pytest.mark.parametrize("name", EXPORTS)
def test_comparison_is_written_in_every_format(name: str) -> None:
    other = graph({0: {"moved": 1}}, variables=(1,))
    _, (buffer,) = answer(show_of(keras3_adam(), other), {"ask": "file", "format": name})
    assert "moved" in buffer.decode()


def test_what_a_format_lacks_is_said_before_a_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "_STATIC", tmp_path)
    program, ran = tmp_path / "train.py", tmp_path / "ran"
    program.write_text(f"from pathlib import Path\nPath({str(ran)!r}).touch()\nckpt = 1\n")
    arguments = ["check", f"{program}:ckpt", "ckpt-1", "--run"]
    done = CliRunner().invoke(main, [*arguments, "--html", "a.html"])
    assert done.exit_code == 2 and "front end is not built" in done.output
    assert not ran.exists()
    CliRunner().invoke(main, arguments)
    assert ran.exists()


@pytest.mark.parametrize("form", ["pdf", "", None, ["svg"], {}])
def test_formats_that_are_not_in_the_table_are_refused(form: object) -> None:
    data, buffers = answer(
        show_of(cv.ObjectGraph((cv.Node(),), "t", cv.Origin.SAVED)),
        {
            "ask": "file",
            "format": form,
        },
    )
    assert "error" in data and buffers == []
