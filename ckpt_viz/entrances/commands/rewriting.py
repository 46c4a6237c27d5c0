"""Commands that make a file of checkpoints: rewrite, average, export."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

import ckpt_viz as cv
from ckpt_viz.entrances.commands.output import reporting_errors
from ckpt_viz.entrances.commands.streams import InputError, echo
from ckpt_viz.ground.text import count, printable, size_words

if TYPE_CHECKING:
    from ckpt_viz.live.sources.pictured import ObjectGraph


@click.command()
@click.argument("source")
@click.argument("prefix")
@click.option(
    "--without", metavar="QUERY", multiple=True, help="Leave out what a name or query means."
)
@click.option("--only", metavar="QUERY", multiple=True, help="Keep what a name or query means.")
@click.option(
    "--rename",
    metavar="OLD=NEW",
    multiple=True,
    help="Give a part another name, or a scope: bert/=encoder/.",
)
@click.option(
    "--cast",
    metavar="QUERY=DTYPE",
    multiple=True,
    help="Round floats to another dtype, such as bfloat16.",
)
def rewrite(
    *,
    source: str,
    prefix: str,
    without: tuple[str, ...],
    only: tuple[str, ...],
    rename: tuple[str, ...],
    cast: tuple[str, ...],
) -> None:
    """Write the checkpoint SOURCE, edited, as a new checkpoint PREFIX.

    SOURCE is a path as for `ckpt-viz show`, and stays as it is. A name means its whole part;
    docs/search.md has the queries, such as 'role:slot|opt'. --without comes first, then --only,
    --rename and --cast. Each option may be repeated. The command replaces no file, and needs no
    TensorFlow.

    If SOURCE and PREFIX both end with .keras or .weights.h5, the command writes a copy with the
    names of groups that Keras looks for: Keras 2 writes others on Windows.
    """
    from ckpt_viz.graphs.edits.left_out import left_out_in_words

    names, dtypes = dict(_pairs(rename, "--rename")), dict(_pairs(cast, "--cast"))
    with reporting_errors():
        before = graph = cv.graph(source)
        graph = graph.without(*without) if without else graph
        graph = graph.only(*only) if only else graph
        graph = graph.renamed(names) if names else graph
        graph = graph.cast(dtypes) if dtypes else graph
        written = graph.write(prefix)
    echo(f"Wrote {_amount(graph)} to {_files(written)}.")
    echo(f"Before: {_amount(before)}.")
    left_out = left_out_in_words(graph)
    if left_out:
        echo(f"Left out: {left_out}.")


def _files(written: str) -> str:
    """Return the names of the files that were written."""
    from ckpt_viz.live.writing.keras_copy import is_path_of_copy

    path = printable(written)
    return path if is_path_of_copy(written) else f"{path}.index and {path}.data-00000-of-00001"


def _pairs(options: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    """Yield both sides of each option; a query may have a = itself."""
    for option in options:
        left, separator, right = option.rpartition("=")
        if not separator or not left:
            raise InputError(f"{name} {printable(option)!r}: expected two sides of a =")
        yield left, right


def _amount(graph: ObjectGraph) -> str:
    """Return how much a graph holds, in words."""
    from ckpt_viz.graphs.nodes.nodes import has_value

    values = sum(map(has_value, graph.nodes))
    nbytes = sum(attribute.nbytes or 0 for node in graph.nodes for attribute in node.attributes)
    parameters = sum(graph.parameters)
    return f"{count(values, 'value')}, {count(parameters, 'parameter')}, {size_words(nbytes)}"


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option("--to", "prefix", metavar="PREFIX", required=True, help="The new checkpoint.")
@click.option(
    "--weights", metavar="A,B,…", help="One number for each source.  [default: all count the same]"
)
def average(*, sources: tuple[str, ...], prefix: str, weights: str | None) -> None:
    """Write the average of the checkpoints SOURCES as a new checkpoint.

    Floats are means, computed in float64. Integers, strings and all else are those of the last of
    SOURCES, whose names the new checkpoint has. The command replaces no file, and needs no
    TensorFlow.
    """
    with reporting_errors():
        graph = cv.average(sources, None if weights is None else _numbers(weights))
        written = graph.write(prefix)
    echo(
        f"Wrote the average of {count(len(sources), 'checkpoint')}, {_amount(graph)}, to "
        f"{printable(written)}.index and {printable(written)}.data-00000-of-00001."
    )


def _numbers(weights: str) -> list[float]:
    try:
        return [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise InputError(
            f"--weights {printable(weights)!r}: expected numbers and commas, such as 1,1,2"
        ) from None


@click.command()
@click.argument("source")
@click.argument("path")
def export(*, source: str, path: str) -> None:
    """Write all tensors of the checkpoint SOURCE into the archive PATH, such as model.npz.

    numpy.load reads it: each tensor is there under its printed name. Small floats, such as
    bfloat16, become float32, and strings NumPy's S. The command replaces no file, and needs no
    TensorFlow.
    """
    with reporting_errors():
        graph = cv.graph(source)
        written = graph.to_npz(path)
    echo(f"Wrote {_amount(graph)} to {printable(written)}.")
