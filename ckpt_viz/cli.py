"""The `ckpt-viz` command."""

from __future__ import annotations

import click

from ckpt_viz.api import graph
from ckpt_viz.errors import CkptVizError
from ckpt_viz.render import text


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ckpt-viz")
def main() -> None:
    """See TensorFlow checkpoints as the object graphs they are."""


@main.command()
@click.argument("path")
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=text.MAX_LINES,
    show_default=True,
    help="Cut the tree after this many lines.",
)
def show(path: str, max_lines: int) -> None:
    """Print the object graph of the checkpoint with prefix PATH as a tree.

    Reads the index and the object graph only; needs no TensorFlow. Exits with status 2 if
    PATH leads to no checkpoint.
    """
    try:
        click.echo(text.render_tree(graph(path), max_lines))
    except CkptVizError as error:
        raise _InputError(text.printable(str(error))) from error


class _InputError(click.ClickException):
    exit_code = 2
