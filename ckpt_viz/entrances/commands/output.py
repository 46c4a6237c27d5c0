"""What all commands share: options, and how they write files and comparisons."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from ckpt_viz.entrances.commands.streams import InputError, echo
from ckpt_viz.errors import CkptVizError
from ckpt_viz.graphs.render.exports import EXPORTS, Content, Steps
from ckpt_viz.graphs.render.views import MAX_LINES, View
from ckpt_viz.ground.text import printable

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ckpt_viz.graphs.overlay.overlay import Overlay

DIFFERS = 1
_STDOUT = "-"
JSON = EXPORTS["json"]  # printed, while all others go to files
FILES = {name: export for name, export in EXPORTS.items() if export is not JSON}
Command = TypeVar("Command", bound=Callable[..., Any])


def file_options(command: Command) -> Command:
    """Give a command the options for the files that it writes."""
    for name, export in reversed(FILES.items()):
        help_text = f"{export.help} - prints it instead."
        option = click.option(f"--{name}", metavar="FILE", help=help_text)
        command = option(command)
    return command


def view_option(help_text: str) -> Callable[[Command], Command]:
    """Return the option for the view: layers or objects."""
    views = click.Choice(get_args(View))
    return click.option("--view", type=views, default="layers", show_default=True, help=help_text)


max_lines_option = click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=MAX_LINES,
    show_default=True,
    help="Cut the text after this many lines.",
)


def output_options(command: Command) -> Command:
    """Give a command the options for printing and writing a comparison."""
    options = (
        click.option("--json", "as_json", is_flag=True, help=f"{JSON.help} (docs/plan_json.md)."),
        view_option("Draw the layers by name, or all objects, in --dot."),
        max_lines_option,
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Print in colours; auto: on a terminal, unless NO_COLOR is set.",
        ),
    )
    command = file_options(command)
    for option in reversed(options):
        command = option(command)
    return command


def workers_option(command: Command) -> Command:
    """Give a command the option for the number of processes."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Share the work among this many processes.",
    )(command)


def is_watched() -> bool:
    """Return whether a person may look at standard error, for a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def workers_of(count: int) -> AbstractContextManager[Executor | None]:
    """Return an executor of so many processes; None for one, which is this process."""
    if count == 1:
        return nullcontext()
    from concurrent.futures import ProcessPoolExecutor  # here, because other commands need none

    return ProcessPoolExecutor(count)


def print_comparison(
    overlay: Overlay,
    notes: Sequence[str],
    *,
    text: Callable[[int, bool], str],
    data: Callable[[], Any],
    steps: Callable[[], Steps | None] | None = None,
    as_json: bool,
    view: View,
    max_lines: int,
    color: str,
    **files: str | None,
) -> None:
    """Write the files that the options name, and print the comparison.

    Files have the `notes`. `text` returns the text of so many lines, in colours if asked, and
    `data` the comparison for JSON. `steps` returns what a page plays.
    """
    is_text_printed = prints_text(as_json, files)
    with reporting_errors():
        write(files, Content(overlay.graph, overlay, notes, view=view, steps=steps))
    if as_json:
        echo(json.dumps(data()))
    elif is_text_printed:
        is_colored = color == "always" or (color == "auto" and _is_color_expected())
        echo(text(max_lines, is_colored), color=is_colored)


def prints_text(as_json: bool, files: Mapping[str, str | None]) -> bool:
    """Return whether standard output is free for text.

    Ends the command if two outputs would go there, or if a format needs a missing package.
    """
    claims = [f"--{name} {_STDOUT}" for name, file in files.items() if file == _STDOUT]
    claims += ["--json"] if as_json else []
    if len(claims) > 1:
        raise InputError(f"{' and '.join(claims)}: only one can go to standard output; name a file")
    with reporting_errors():
        for name in files:
            if files[name] is not None:
                FILES[name].check_needs()
    return not claims


def write(files: Mapping[str, str | None], content: Content) -> None:
    """Write a content in each format for which a file is given."""
    for name, file in files.items():
        if file is None:
            continue
        written = FILES[name].text_of(content)
        if file == _STDOUT:  # in UTF-8 like a file, whatever the terminal uses
            echo(written.encode())
        else:
            from ckpt_viz.graphs.render.writing import write_text

            write_text(file, written)


def _is_color_expected() -> bool:
    is_allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_allowed and sys.stdout.isatty()  # https://no-color.org


@contextmanager
def reporting_errors() -> Iterator[None]:
    """End the command with status 2 and a sentence for an error."""
    try:
        yield
    except CkptVizError as error:
        raise InputError(printable(str(error))) from error
    except Exception:  # no verdict, so do not return Python's own status 1
        traceback.print_exc()
        sys.exit(InputError.exit_code)
