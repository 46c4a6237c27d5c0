"""The `ckpt-viz` command."""

from __future__ import annotations

import sys
from typing import Any

import click

from ckpt_viz.commands import graphs, models, numbers, rewriting
from ckpt_viz.commands.output import InputError, echo, reporting_stdout_errors
from ckpt_viz.commands.versions import versions


class _Commands(click.Group):
    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command; print one sentence if the command cannot write its help."""
        with reporting_stdout_errors():
            return super().main(*arguments, **options)


def _print_versions(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        echo(versions())
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Print the versions that a bug report needs.",
)
def main() -> None:
    """See TensorFlow checkpoints as the object graphs they are."""
    if sys.stdout is None:
        raise InputError("standard output is closed; redirect it to a file, or to /dev/null")


for _command in (
    *(graphs.show, graphs.check, graphs.fix, graphs.diff, models.check_model),
    *(numbers.values, numbers.history, numbers.verify),
    *(rewriting.rewrite, rewriting.average, rewriting.export),
):
    main.add_command(_command)
