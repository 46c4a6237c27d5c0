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
@click.option("--meta", help="The .meta file of a name-based checkpoint, if it lies elsewhere.")
def show(path: str, max_lines: int, meta: str | None) -> None:
    """Print the object graph of a saved checkpoint as a tree.

    PATH is a checkpoint's prefix, any of its files, a directory of checkpoints or a
    SavedModel's. Reads the index and the object graph only; needs no TensorFlow. Exits with
    status 2 if PATH leads to no checkpoint.
    """
    try:
        click.echo(text.render_tree(graph(path, meta=meta), max_lines))
    except CkptVizError as error:
        raise _InputError(text.printable(str(error))) from error


class _InputError(click.ClickException):
    exit_code = 2
