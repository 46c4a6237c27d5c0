"""Commands about the structure of checkpoints: show, check, fix, diff."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import ckpt_viz as cv
from ckpt_viz.entrances.commands.output import (
    DIFFERS,
    FILES,
    JSON,
    Command,
    file_options,
    is_watched,
    output_options,
    print_comparison,
    prints_text,
    reporting_errors,
    view_option,
    write,
)
from ckpt_viz.entrances.commands.streams import InputError, echo, report
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.render.exports import Content
from ckpt_viz.graphs.render.views import MAX_LINES, View
from ckpt_viz.ground.text import count, printable
from ckpt_viz.ground.wording import Wording, in_commands
from ckpt_viz.program import Target, as_program, running

if TYPE_CHECKING:
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck
    from ckpt_viz.matching.story.step import Story

_OF_KERAS, _OF_TENSORFLOW = ("skip_mismatch", "by_name"), ("skip_slot_variables",)
_VERDICTS = {
    "consumed": "assert_consumed",
    "existing": "assert_existing_objects_matched",
    "nontrivial": "assert_nontrivial_match",
}


@click.command()
@click.argument("path")
@view_option("Show the layers by name, or all objects.")
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=MAX_LINES,
    show_default=True,
    help="Print at most this many lines.",
)
@click.option("--meta", help="The .meta file of a name-based checkpoint in another directory.")
@click.option("--json", "as_json", is_flag=True, help=f"{JSON.help} (docs/graph_json.md).")
@file_options
def show(
    path: str,
    view: View,
    max_lines: int,
    meta: str | None,
    as_json: bool,
    **files: str | None,
) -> None:
    """Print a saved checkpoint as its layers, or as the tree of its objects.

    PATH is a checkpoint's prefix, any of its files, a directory of checkpoints or a
    SavedModel's. Reads the index and the object graph only; needs no TensorFlow. Exits with
    status 2 if PATH leads to no checkpoint.
    """
    is_text_printed = prints_text(as_json, files)
    with reporting_errors():
        graph = cv.graph(path, meta=meta)
        write(files, Content(graph, view=view))
        if as_json:
            echo(JSON.text_of(Content(graph)))
        elif is_text_printed:
            writer = _writer(graph)
            summary, *rest = graph.to_text(view, max(1, max_lines - len(writer))).split("\n")
            echo("\n".join([summary, *writer, *rest]))


def _writer(graph: cv.ObjectGraph) -> list[str]:
    """Return who wrote a checkpoint; of other files, the text of the graph tells that."""
    from ckpt_viz.graphs.render.text import writer_in_words  # the help of a command needs no graph

    provenance = graph.provenance
    if provenance is None or provenance.format is not cv.Format.OBJECT_BASED:
        return []
    return writer_in_words(provenance)


def _keras_options(command: Command) -> Command:
    """Give a command the options of Keras' `load_weights`."""
    for name in reversed(_OF_KERAS):
        option = click.option(
            f"--{name.replace('_', '-')}",
            is_flag=True,
            help=f"Load a file of Keras with load_weights(path, {name}=True).",
        )
        command = option(command)
    return command


@click.command()
@click.argument("live")
@click.argument("saved")
@click.option(
    "--require",
    "required",
    type=click.Choice(list(_VERDICTS)),
    multiple=True,
    default=("consumed",),
    show_default=True,
    help="The assert that has to pass; repeat the option for more.",
)
@click.option(
    "--method",
    type=click.Choice(["restore", "read"]),
    help="The call to check.  [default: the one that LIVE has]",
)
@click.option(
    "--skip-slot-variables",
    is_flag=True,
    help="Restore with CheckpointOptions(experimental_skip_slot_variables=True).",
)
@_keras_options
@click.option("--run", is_flag=True, help="Run the program that LIVE names.")
@click.option(
    "--verify", is_flag=True, help="Test the bytes of the values that the restore would read."
)
@click.option(
    "--steps", is_flag=True, help="Print the restore and the required asserts step by step."
)
@click.option(
    "--details", is_flag=True, help="Print each problem with its reason in place of the table."
)
@output_options
def check(
    live: str,
    saved: str,
    required: tuple[str, ...],
    method: str | None,
    skip_slot_variables: bool,
    skip_mismatch: bool,
    by_name: bool,
    run: bool,
    verify: bool,
    steps: bool,
    details: bool,
    **output: Any,
) -> None:
    """Report what restoring the checkpoint SAVED into LIVE would do; change nothing.

    LIVE is a program, train.py:ckpt: a Python file and the name of an object in it, or of a
    function without arguments that returns one. Pass --run to let it run. Without a name, the
    command lists the objects of the program. LIVE can also be a checkpoint that the program saved;
    then the command needs no TensorFlow. SAVED is the path that the program would pass to
    restore().

    Exits with status 0 if every required assert passes, 1 if one fails, 2 on an error.
    """
    from ckpt_viz.answers.restore_check.played import played_in_file

    is_text_printed = prints_text(output["as_json"], {name: output[name] for name in FILES})
    of_keras = {"skip_mismatch": skip_mismatch, "by_name": by_name}
    named = _target(live, saved, is_allowed=run)
    with reporting_errors(), named as target:
        given = {"skip_slot_variables": skip_slot_variables, **of_keras}
        options = _options(target.obj, saved, given)
        wording = in_commands(_fix_command(live, saved, method, of_keras))
        check = _checked(target.obj, saved, method, wording, options, verify=verify)
        overlay = check.overlay
    passes = {
        "consumed": check.consumed,
        "existing": check.existing_objects_matched,
        "nontrivial": check.nontrivial_match,
    }
    resolved = check.live.provenance.resolved if check.live.provenance is not None else ""
    stories = [check.steps, *(check.steps_of(_VERDICTS[name]) for name in required)]
    data = partial(_with_steps, check, stories) if steps else check.to_json
    notes = [f"live: {resolved}"] if resolved else []
    played = partial(played_in_file, check)

    def text(max_lines: int, color: bool) -> str:
        if details:
            return check.details.to_text(max_lines, color=color)
        return "\n".join([check.to_text(color=color), *notes])

    print_comparison(overlay, notes, text=text, data=data, steps=played, **output)
    if steps and is_text_printed and not output["as_json"]:
        echo("".join(f"\n{story.to_text(None)}\n" for story in stories).rstrip("\n"))
    sys.exit(0 if all(passes[name] for name in required) else DIFFERS)


def _with_steps(check: RestoreCheck, stories: Iterable[Story]) -> dict[str, Any]:
    """Return a check as JSON, with its steps by the name of the call."""
    return check.to_json() | {"steps": {story.call: story.to_json() for story in stories}}


def _target(live: str, saved: str, *, is_allowed: bool) -> AbstractContextManager[Target]:
    """Return what LIVE means: the path of a checkpoint, or an object of a program that runs."""
    program = as_program(live)
    if as_program(saved) is not None and not os.path.lexists(f"{saved}.index"):
        exchange = "; exchange the two arguments" if program is None else ""
        raise InputError(
            f"{printable(saved)} is a program; expected a checkpoint as SAVED{exchange}"
        )
    if program is not None and not is_allowed:
        raise InputError(
            f"{printable(live)} is a program, and the command runs it; pass --run to allow that"
        )
    return running(program) if program else nullcontext(Target(live))


def _options(live: object, saved: str, given: Mapping[str, bool]) -> Any:
    """Return the options of the call that LIVE and SAVED lead to.

    Raises SourceError for those of another call.
    """
    names = [name for name, is_given in given.items() if is_given]
    if not names:
        return None
    from ckpt_viz.answers.dry_runs.keras_dry_run import is_load_of_weights  # imports NumPy

    is_of_keras = is_load_of_weights(live, saved)
    for name in names:
        if name not in (_OF_KERAS if is_of_keras else _OF_TENSORFLOW):
            needed = (
                "a checkpoint of TensorFlow"
                if is_of_keras
                else "a program's Keras model as LIVE, and a file of Keras"
            )
            raise SourceError(
                f"--{name.replace('_', '-')}: expected {needed} as SAVED, found "
                f"{printable(saved)}; leave the option out"
            )
    if is_of_keras:
        return dict.fromkeys(names, True)
    return SimpleNamespace(experimental_skip_slot_variables=True)


def _checked(
    live: object,
    saved: str,
    method: str | None,
    wording: Wording,
    options: Any = None,
    *,
    verify: bool = False,
) -> RestoreCheck:
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck  # imports NumPy
    from ckpt_viz.answers.restore_check.run import AskedCheck

    return RestoreCheck.of(AskedCheck(live, saved, method, options, verify, wording))


def _fix_command(live: str, saved: str, method: str | None, of_keras: Mapping[str, bool]) -> str:
    """Return the command that prints the fix of a check."""
    options = ["--run"] if as_program(live) else []
    options += [] if method is None else ["--method", method]
    options += [f"--{name.replace('_', '-')}" for name, is_given in of_keras.items() if is_given]
    return shlex.join(["ckpt-viz", "fix", *options, live, saved])


@click.command()
@click.argument("live")
@click.argument("saved")
@click.option(
    "--method",
    type=click.Choice(["restore", "read"]),
    help="The call to fix.  [default: the one that LIVE has]",
)
@_keras_options
@click.option("--run", is_flag=True, help="Run the program that LIVE names.")
@click.option(
    "--write",
    "prefix",
    metavar="PREFIX",
    help="Also write a checkpoint that LIVE restores by itself; NAME.weights.h5 for a Keras model.",
)
@click.option("--guesses", is_flag=True, help="Include all guesses.")
@click.option(
    "--guess", "parts", multiple=True, help="Include the guesses for the saved part of this name."
)
def fix(
    *,
    live: str,
    saved: str,
    method: str | None,
    skip_mismatch: bool,
    by_name: bool,
    run: bool,
    prefix: str | None,
    guesses: bool,
    parts: tuple[str, ...],
) -> None:
    """Print Python code that restores the checkpoint SAVED into LIVE, which has changed since.

    LIVE and SAVED are those of `ckpt-viz check`. The code gives every value to the variable that
    it belongs to, wherever that is now. Comments name what stays out, such as places that are
    guesses. The command changes no file; with --write it adds those of a new checkpoint, and names
    them on standard error.

    Exits with status 0 if the code restores every object of LIVE, 1 if some keep their values, 2
    on an error.
    """
    named = _target(live, saved, is_allowed=run)
    with reporting_errors(), named as target:
        of_keras = {"skip_mismatch": skip_mismatch, "by_name": by_name}
        options = _options(target.obj, saved, of_keras)
        wording = in_commands(_fix_command(live, saved, method, of_keras))
        fix = _checked(target.obj, saved, method, wording, options).fix(guesses=guesses or parts)
        code = target.code + fix.to_code(target.expression, fix.prefix)
        is_whole = not fix.missing
        if prefix is not None:
            fix.write(prefix)
    echo(code.removesuffix("\n"))
    if prefix is not None:
        report(
            f"Wrote {count(len(fix.pairs), 'value')} to {_written(live, prefix, fix.check.method)}"
        )
    sys.exit(0 if is_whole else DIFFERS)


def _written(live: str, path: str, method: str) -> str:
    """Return the end of a sentence about what a fix has written, and what reads it."""
    from ckpt_viz.live.writing.keras_weights import is_path_of_weights  # imports NumPy

    if is_path_of_weights(path):
        return f"{path}. {live} loads them with load_weights({path!r})."
    files = f"{path}.index and {path}.data-00000-of-00001"
    return f"{files}. {live} restores them with {method}({path!r})."


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--values", is_flag=True, help="Read the values that differ, and say by how much.")
@click.option(
    "--details", is_flag=True, help="Print each difference with its reason in place of the table."
)
@output_options
def diff(a: str, b: str, values: bool, details: bool, **output: Any) -> None:
    """Report how the saved checkpoint B differs from A.

    A and B are paths as in `ckpt-viz show`. The command compares checksums of values,
    and reads no value without --values; it needs no TensorFlow.

    Exits with status 0 if nothing differs, 1 if something does or cannot be read, 2 on an error.
    """
    with reporting_errors():
        difference = cv.diff(a, b, values=values, progress=is_watched())
        difference = replace(difference, wording=in_commands())
        overlay = difference.overlay
    notes = *difference.notes, *difference.says[:1]

    def text(max_lines: int, color: bool) -> str:
        shown = difference.details if details else difference
        return shown.to_text(max_lines, color=color)

    print_comparison(overlay, notes, text=text, data=difference.to_json, **output)
    unread = any(change.error is not None for change in difference.values or ())
    sys.exit(DIFFERS if unread or not difference.is_empty else 0)
