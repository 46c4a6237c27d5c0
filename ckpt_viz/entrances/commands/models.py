"""The command about whole models of Keras: check-model."""

from __future__ import annotations

import json
import sys

import click

import ckpt_viz as cv
from ckpt_viz.entrances.commands.output import DIFFERS, reporting_errors
from ckpt_viz.entrances.commands.streams import echo


@click.command("check-model")
@click.argument("path")
@click.option(
    "--keras",
    type=click.Choice(["keras", "tf_keras"]),
    default="keras",
    show_default=True,
    help="The installed Keras that would load the model.",
)
@click.option("--no-compile", is_flag=True, help="Check load_model(path, compile=False).")
@click.option(
    "--no-safe-mode",
    is_flag=True,
    help="Check load_model(path, safe_mode=False). The check runs no code of the file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_model(path: str, keras: str, no_compile: bool, no_safe_mode: bool, as_json: bool) -> None:
    """Report what the installed Keras would do in load_model(PATH).

    PATH is a `.keras` archive, or an `.h5` file with a whole model. The command builds the model in
    a process that opens no file and runs no code of it. It names every class, function and argument
    that this Keras does not take.

    Exits with status 0 if nothing stops the call, 1 if it would raise, 2 on an error.
    """
    with reporting_errors():
        check = cv.check_load_model(
            path, compile=not no_compile, safe_mode=not no_safe_mode, keras=keras
        )
        echo(json.dumps(check.to_json(), indent=2) if as_json else str(check))
    sys.exit(0 if check.raises is None else DIFFERS)
