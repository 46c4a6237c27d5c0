"""How commands print, and how they end with a sentence; `--help` needs no other module."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from ckpt_viz.graphs.render.encodings import shown_in
from ckpt_viz.ground.text import printable

_BROKEN_PIPE = 128 + 13  # the status that a shell reports after SIGPIPE


def echo(said: str | bytes, *, color: bool = False) -> None:
    """Print a text with the signs that standard output can show; print bytes unchanged."""
    with reporting_stdout_errors():
        if isinstance(said, bytes):
            click.echo(said, nl=False)
        else:
            click.echo(shown_in(sys.stdout.encoding, said), color=color)


def report(said: str) -> None:
    """Print a sentence on standard error, beside the result on standard output."""
    with suppress(OSError):
        click.echo(shown_in(getattr(sys.stderr, "encoding", None), printable(said)), err=True)


@contextmanager
def reporting_stdout_errors() -> Iterator[None]:
    """End the command if standard output fails: quietly if the reader has closed it."""
    try:
        yield
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(_BROKEN_PIPE)
    except OSError as error:
        _forget_stdout()
        failed = InputError(f"standard output: cannot be written: {error.strerror or error}")
        failed.show()
        sys.exit(failed.exit_code)


def _forget_stdout() -> None:
    """Discard the buffered output: Python would try to write it again on exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class InputError(click.ClickException):
    """What is wrong with what the user gave; the command ends with status 2."""

    exit_code = 2

    def format_message(self) -> str:
        """Return the sentence, with the signs that standard error can show."""
        return shown_in(getattr(sys.stderr, "encoding", None), self.message)

    def show(self, file: Any = None) -> None:
        """Print the sentence; if that fails, only the exit status remains."""
        with suppress(OSError):
            super().show(file)
