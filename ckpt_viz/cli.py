"""The `ckpt-viz` command."""

from __future__ import annotations

import os
import shlex
import sys
from importlib import import_module
from typing import Any

import click

from ckpt_viz.entrances.commands.streams import InputError, echo, reporting_stdout_errors
from ckpt_viz.ground.text import printable

# For each command its module in `ckpt_viz.entrances.commands`, and its line in `--help`. A command
# loads when it runs, so that the list needs none of them. A line fits into 80 columns.
_LINES = {
    "average": ("rewriting", "Write the average of several checkpoints as a new one."),
    "check": ("graphs", "Report what a restore would do; change nothing."),
    "check-model": ("models", "Report what load_model of the installed Keras would do."),
    "diff": ("graphs", "Report how the saved checkpoint B differs from A."),
    "export": ("rewriting", "Write all tensors of a checkpoint into an archive of NumPy."),
    "fix": ("graphs", "Print code that restores a checkpoint after changes."),
    "history": ("numbers", "Print what each save of a training changed."),
    "rewrite": ("rewriting", "Write an edited checkpoint as a new one."),
    "show": ("graphs", "Print a checkpoint as its layers, or as a tree of objects."),
    "values": ("numbers", "Print statistics of the values in a checkpoint."),
    "verify": ("numbers", "Test every stored byte of a checkpoint against its checksum."),
}


class _Commands(click.Group):
    """The commands. `commands` has what `--help` lists; `get_command` loads one to run it."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command; print one sentence if the command cannot write its help."""
        with reporting_stdout_errors():
            return super().main(*arguments, **options)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command to run, of the module that has it."""
        if cmd_name not in _LINES:
            return None
        module, line = _LINES[cmd_name]
        command = getattr(
            import_module(f"ckpt_viz.entrances.commands.{module}"), cmd_name.replace("-", "_")
        )
        assert isinstance(command, click.Command)
        command.short_help = line
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; for a path in its place, name the one to run."""
        name = args[0]
        if name not in _LINES and (os.path.lexists(name) or os.path.lexists(f"{name}.index")):
            command = shlex.join(["ckpt-viz", "show", name])
            raise click.UsageError(
                f"{printable(name)} is a path, expected a command. To see what is there, run: "
                f"{printable(command)}",
                ctx,
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        click.Group(commands=self.commands).format_commands(ctx, formatter)


def _print_versions(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        from ckpt_viz.entrances.commands.versions import versions

        echo(versions())
        context.exit()


@click.group(
    cls=_Commands,
    commands={name: click.Command(name, short_help=line) for name, (_, line) in _LINES.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Print the versions that a bug report needs.",
)
def main() -> None:
    """See TensorFlow checkpoints as the object graphs they are.

    Three examples:

    \b
    ckpt-viz show ckpts                   what is in the latest checkpoint
    ckpt-viz check --run train.py:ckpt ckpts/ckpt-3
                                          what a restore into a program would do
    ckpt-viz diff ckpts/ckpt-2 ckpts/ckpt-3
                                          what has changed between two
    """  # noqa: D301
    if sys.stdout is None:
        raise InputError("standard output is closed; redirect it to a file, or to /dev/null")
