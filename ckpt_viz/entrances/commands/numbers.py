"""Commands about the values in checkpoints: values, history, verify."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import click

import ckpt_viz as cv
from ckpt_viz.entrances.commands.output import (
    DIFFERS,
    is_watched,
    max_lines_option,
    reporting_errors,
    workers_of,
    workers_option,
)
from ckpt_viz.entrances.commands.streams import echo
from ckpt_viz.files.values.row import COLUMNS, MAX_ROWS
from ckpt_viz.ground.wording import in_commands


@click.command()
@click.argument("path")
@click.option("--where", metavar="QUERY", help="Show only tensors that match this search.")
@click.option("--sort", "column", type=click.Choice(COLUMNS), help="Sort the rows by a column.")
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=MAX_ROWS,
    show_default=True,
    help="Print at most this many rows.",
)
@workers_option
@click.option("--meta", help="The .meta file of a name-based checkpoint in another directory.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/values_json.md).")
def values(
    path: str,
    where: str | None,
    column: str | None,
    max_lines: int,
    workers: int,
    meta: str | None,
    as_json: bool,
) -> None:
    """Print statistics of the values in a saved checkpoint: extremes, mean, norm, zeros, NaNs.

    PATH is a path as in `ckpt-viz show`, QUERY a search as in the explorer (docs/search.md). Reads
    each tensor once and checks its checksum; needs no TensorFlow. A bar on standard error shows
    the progress.

    Exits with status 1 if there is a NaN or an infinity, or if a tensor is missing or damaged, 0 if
    not, 2 on an error. The state of an iterator has no statistics and is no problem. An infinity
    may be intended, as in a mask: --where=-mask leaves masks out.
    """
    from ckpt_viz.formats.bundles.lost_files import lost_files

    with reporting_errors(), workers_of(workers) as executor:
        graph = cv.graph(path, meta=meta)
        table = graph.values(where, executor=executor, progress=is_watched())
        table = table if column is None else table.sorted(column)
        printed = json.dumps(table.to_json()) if as_json else table.to_text(max_lines)
        lacks_unknown = any(files.holds_unknown for files in lost_files(graph.stored_in))
    echo(printed)
    sys.exit(DIFFERS if table.problems or lacks_unknown else 0)


@click.command()
@click.argument("source", nargs=-1, required=True)
@click.option(
    "--members", is_flag=True, help="Compare the checkpoints as an ensemble, without an order."
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Open at most this many checkpoints.",
)
@click.option("--unchanged", is_flag=True, help="Also read values that never change.")
@click.option("--all-rows", is_flag=True, help="Print all variables, not only 30.")
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/history.md).")
def history(
    source: tuple[str, ...],
    members: bool,
    most: int,
    unchanged: bool,
    all_rows: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Print what each save of a training changed: what moves, what is frozen, the first NaN.

    SOURCE is a directory of checkpoints, its `checkpoint` file, a pattern in quotes, or several
    checkpoints in their order. Reads only values whose checksums differ; needs no TensorFlow.

    Exits with status 0 if nothing is wrong, 1 if there is a NaN, an infinity or another alarm, 2 on
    an error.
    """
    given: Any = source[0] if len(source) == 1 else list(source)
    with reporting_errors(), workers_of(workers) as executor:
        if members:
            history = cv.compare(given, executor=executor, progress=is_watched())
        else:
            history = cv.history(
                given,
                most=most,
                unchanged=unchanged,
                executor=executor,
                progress=is_watched(),
            )
        history = replace(history, wording=in_commands())
        text_rows = None if all_rows else 30
        printed = json.dumps(history.to_json()) if as_json else history.to_text(text_rows)
    echo(printed)
    sys.exit(DIFFERS if history.alarms else 0)


@click.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/verify.md).")
@workers_option
@max_lines_option
def verify(path: str, as_json: bool, workers: int, max_lines: int) -> None:
    """Test every stored byte of a checkpoint against its checksum.

    PATH is a path as in `ckpt-viz show`. The command reads all data files; it needs no
    TensorFlow. It names every tensor whose bytes are damaged or missing: restoring it fails.

    Exits with status 0 if no tensor is damaged, 1 if one is, 2 if PATH leads to no checkpoint or
    the checkpoint cannot be read.
    """
    from ckpt_viz.files.values.verified_text import render_verification, verification_json

    with reporting_errors(), workers_of(workers) as executor:
        graph = cv.graph(path)
        verification = graph.verify(executor=executor, progress=is_watched())
    if as_json:
        echo(json.dumps(verification_json(graph, verification), indent=1))
    else:
        echo(render_verification(graph, verification, max_lines))
    sys.exit(DIFFERS if verification else 0)
