"""The `ckpt-viz` command."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from ckpt_viz import api
from ckpt_viz.errors import CkptVizError
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.program import as_program, running
from ckpt_viz.render import text
from ckpt_viz.render.exports import EXPORTS, Content
from ckpt_viz.render.layer_outline import MAX_LAYER_ROWS
from ckpt_viz.render.layer_text import render_layers
from ckpt_viz.render.plan import render_plan
from ckpt_viz.render.row_words import View
from ckpt_viz.render.signs import shown_in
from ckpt_viz.render.writing import write_text
from ckpt_viz.values.row import COLUMNS, MAX_ROWS

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DIFFERS = 1
_BROKEN_PIPE = 128 + 13  # the status that a shell reports after SIGPIPE
_STDOUT = "-"
_JSON = EXPORTS["json"]  # printed, while all others go to files
_FILES = {name: export for name, export in EXPORTS.items() if export is not _JSON}
_VERDICTS = {
    "consumed": "assert_consumed",
    "existing": "assert_existing_objects_matched",
    "nontrivial": "assert_nontrivial_match",
}
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _file_options(command: _Command) -> _Command:
    """Give a command the options for the files that it writes."""
    for name, export in reversed(_FILES.items()):
        help_text = f"{export.help} - prints it instead."
        option = click.option(f"--{name}", metavar="FILE", help=help_text)
        command = option(command)
    return command


def _view_option(help_text: str) -> Callable[[_Command], _Command]:
    views = click.Choice(get_args(View))
    return click.option("--view", type=views, default="layers", show_default=True, help=help_text)


class _Commands(click.Group):
    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command; print one sentence if the command cannot write its help."""
        with _reporting_stdout_errors():
            return super().main(*arguments, **options)


# What a bug report needs: the common name, and the name that Python imports.
_PACKAGES = {
    "ckpt-viz": "ckpt_viz",
    "TensorFlow": "tensorflow",
    "Keras": "keras",
    "tf_keras": "tf_keras",
    "NumPy": "numpy",
    "protobuf": "protobuf",  # which Python imports as a part of google
    "ipywidgets": "ipywidgets",
    "anywidget": "anywidget",
    "JupyterLab": "jupyterlab",
    "Jupyter Server": "jupyter_server",
}


def _versions() -> str:
    """Return a line for each version that a bug report needs; import none of the packages."""
    found = {name: _installed(module) for name, module in _PACKAGES.items()}
    found |= {"Python": platform.python_version(), "platform": platform.platform()}
    width = max(map(len, found))
    return "\n".join(f"{name:{width}}  {version}" for name, version in found.items())


def _installed(module: str) -> str:
    """Return the version of the distribution with this module, such as tensorflow-cpu."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(module)
    distributions = metadata.packages_distributions().get(module, ())
    found = [f"{metadata.version(name)} ({name})" for name in sorted(set(distributions))]
    return ", ".join(found) or "not installed"


def _print_versions(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        _echo(_versions())
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
        raise _InputError("standard output is closed; redirect it to a file, or to /dev/null")


@main.command()
@click.argument("path")
@_view_option("Show the layers by name, or all objects.")
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    help=f"Print at most this many layers ({MAX_LAYER_ROWS}) or objects ({text.MAX_LINES}).",
)
@click.option("--meta", help="The .meta file of a name-based checkpoint in another directory.")
@click.option("--json", "as_json", is_flag=True, help=f"{_JSON.help} (docs/graph_json.md).")
@_file_options
def show(
    path: str,
    view: View,
    max_lines: int | None,
    meta: str | None,
    as_json: bool,
    **files: str | None,
) -> None:
    """Print a saved checkpoint as its layers, or as the tree of its objects.

    PATH is a checkpoint's prefix, any of its files, a directory of checkpoints or a
    SavedModel's. Reads the index and the object graph only; needs no TensorFlow. Exits with
    status 2 if PATH leads to no checkpoint.
    """
    is_text_printed = _is_text_printed(as_json, files)
    with _reporting_errors():
        graph = api.graph(path, meta=meta)
        _write(files, Content(graph, view=view))
        if as_json:
            _echo(_JSON.text_of(Content(graph)))
        elif is_text_printed and view == "objects":
            _echo(text.render_tree(graph, max_lines or text.MAX_LINES))
        elif is_text_printed:
            _echo(render_layers(graph, max_lines or MAX_LAYER_ROWS))


def _output_options(command: _Command) -> _Command:
    """Give a command the options for printing and writing a comparison."""
    options = (
        click.option("--json", "as_json", is_flag=True, help=f"{_JSON.help} (docs/plan_json.md)."),
        _view_option("Draw the layers by name, or all objects, in --svg and --dot."),
        click.option(
            "--max-lines",
            type=click.IntRange(min=1),
            default=text.MAX_LINES,
            show_default=True,
            help="Cut the text after this many lines.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Print in colours; auto: on a terminal, unless NO_COLOR is set.",
        ),
    )
    command = _file_options(command)
    for option in reversed(options):
        command = option(command)
    return command


@main.command()
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
    help="As CheckpointOptions(experimental_skip_slot_variables=True).",
)
@click.option("--run", is_flag=True, help="Run the program that LIVE names.")
@click.option("--verify", is_flag=True, help="Test the bytes of the values that it would read.")
@_output_options
def check(
    live: str,
    saved: str,
    required: tuple[str, ...],
    method: str | None,
    skip_slot_variables: bool,
    run: bool,
    verify: bool,
    **output: Any,
) -> None:
    """Report what restoring the checkpoint SAVED into LIVE would do; change nothing.

    LIVE is a program, train.py:ckpt: a Python file and the name of an object in it, or of a
    function without arguments that returns one. Pass --run to let it run. Or LIVE is a
    checkpoint, in place of the program that saved it; that needs no TensorFlow. SAVED is the
    path that the program would pass to restore().

    Exits with status 0 if every required assert passes, 1 if one fails, 2 on an error.
    """
    _is_text_printed(output["as_json"], {name: output[name] for name in _FILES})
    options = SimpleNamespace(experimental_skip_slot_variables=skip_slot_variables)
    named = _target(live, is_allowed=run)
    with _reporting_errors(), named as target:
        found = api.check(target, saved, method=method, options=options, verify=verify)
        overlay = found.overlay
    passes = {
        "consumed": found.consumed,
        "existing": found.existing_objects_matched,
        "nontrivial": found.nontrivial_match,
    }
    resolved = found.live.provenance.resolved if found.live.provenance is not None else ""
    _print(overlay, [f"live: {resolved}"] if resolved else [], **output)
    sys.exit(0 if all(passes[name] for name in required) else _DIFFERS)


def _target(live: str, *, is_allowed: bool) -> AbstractContextManager[object]:
    """Return what LIVE means: the path of a checkpoint, or an object of a program that runs."""
    program = as_program(live)
    if program is not None and not is_allowed:
        raise _InputError(
            f"{text.printable(live)} is a program, and the check runs it; pass --run to allow that"
        )
    return running(program) if program else nullcontext(live)


@main.command()
@click.argument("live")
@click.argument("saved")
@click.option(
    "--method",
    type=click.Choice(["restore", "read"]),
    help="The call to fix.  [default: the one that LIVE has]",
)
@click.option("--run", is_flag=True, help="Run the program that LIVE names.")
@click.option("--write", "prefix", help="Also write a checkpoint that LIVE restores by itself.")
def fix(live: str, saved: str, method: str | None, run: bool, prefix: str | None) -> None:
    """Print Python code that restores the checkpoint SAVED into LIVE, which has changed since.

    LIVE and SAVED are those of `ckpt-viz check`. The code gives every value to the variable that
    it belongs to, wherever that is now. Comments name what stays out. The command changes no file;
    with --write it adds those of a new checkpoint.

    Exits with status 0 if the code restores every object of LIVE, 1 if some keep their values, 2
    on an error.
    """
    named = _target(live, is_allowed=run)
    with _reporting_errors(), named as target:
        found = api.check(target, saved, method=method).fix()
        program = as_program(live)
        code = found.to_code("ckpt" if program is None else program.name, found.prefix)
        is_whole = not found.missing
        if prefix is not None:
            found.write(prefix)
    _echo(code.removesuffix("\n"))
    sys.exit(0 if is_whole else _DIFFERS)


@main.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON (docs/verify.md).")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Share the work among this many processes.",
)
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=text.MAX_LINES,
    show_default=True,
    help="Cut the text after this many lines.",
)
def verify(path: str, as_json: bool, workers: int, max_lines: int) -> None:
    """Test every stored byte of a checkpoint against its checksum.

    PATH is a path as `ckpt-viz show` takes it. The command reads all data files; it needs no
    TensorFlow. It names every tensor whose bytes are damaged or missing: restoring it fails.

    Exits with status 0 if no tensor is damaged, 1 if one is, 2 if PATH leads to no checkpoint or
    the checkpoint cannot be read.
    """
    from concurrent.futures import ProcessPoolExecutor  # slow to import, as is the next

    from ckpt_viz.render.verified import render_verification, verification_json

    with _reporting_errors():
        graph = api.graph(path)
        pool = ProcessPoolExecutor(workers) if workers > 1 else nullcontext()
        with pool as executor:
            found = graph.verify(executor=executor, progress=sys.stderr.isatty())
    if as_json:
        _echo(json.dumps(verification_json(graph, found), indent=1))
    else:
        _echo(render_verification(graph, found, max_lines))
    sys.exit(_DIFFERS if found else 0)


@main.command()
@click.argument("a")
@click.argument("b")
@click.option("--values", is_flag=True, help="Read the values that differ, and say by how much.")
@_output_options
def diff(a: str, b: str, values: bool, **output: Any) -> None:
    """Report how the saved checkpoint B differs from A.

    A and B are paths as `ckpt-viz show` takes them. The command compares checksums of values,
    and reads no value without --values; it needs no TensorFlow.

    Exits with status 0 if nothing differs, 1 if something does, 2 on an error.
    """
    with _reporting_errors():
        found = api.diff(a, b, values=values, progress=_is_watched())
        overlay = found.overlay
    if values and output["as_json"]:
        _is_text_printed(True, {name: output[name] for name in _FILES})
        _echo(json.dumps(found.to_json()))
    else:
        _print(overlay, found.notes, **output)
        is_text = _is_text_printed(output["as_json"], {name: output[name] for name in _FILES})
        if found.says and is_text:
            _echo("\n".join(found.says))
    sys.exit(0 if found.is_empty else _DIFFERS)


@main.command()
@click.argument("path")
@click.option("--where", metavar="QUERY", help="Only the tensors that a search finds.")
@click.option("--sort", "column", type=click.Choice(COLUMNS), help="Sort the rows by a column.")
@click.option(
    "--max-lines",
    type=click.IntRange(min=1),
    default=MAX_ROWS,
    show_default=True,
    help="Print at most this many rows.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Read with so many processes.",
)
@click.option("--meta", help="The .meta file of a name-based checkpoint in another directory.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON (docs/values_json.md).")
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

    PATH is what `ckpt-viz show` takes, QUERY what the search box takes (docs/search.md). Reads
    each tensor once and checks its checksum; needs no TensorFlow. A bar on standard error shows
    the progress.

    Exits with status 0 if every value is a finite number or a string, 1 if there is a NaN or an
    infinity or a tensor cannot be read, 2 on an error.
    """
    with _reporting_errors(), _workers(workers) as executor:
        graph = api.graph(path, meta=meta)
        table = graph.values(where, executor=executor, progress=_is_watched())
        table = table if column is None else table.sorted(column)
        printed = json.dumps(table.to_json()) if as_json else table.to_text(max_lines)
    _echo(printed)
    sys.exit(_DIFFERS if table.problems else 0)


@main.command()
@click.argument("source", nargs=-1, required=True)
@click.option("--members", is_flag=True, help="Compare them without an order, as an ensemble.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="Open at most these.",
)
@click.option("--unchanged", is_flag=True, help="Read also all values that never change.")
@click.option("--all-rows", is_flag=True, help="Print all variables, not only 30.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Read with so many processes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON (docs/history.md).")
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
    with _reporting_errors(), _workers(workers) as executor:
        if members:
            found = api.compare(given, executor=executor, progress=_is_watched())
        else:
            found = api.history(
                given,
                most=most,
                unchanged=unchanged,
                executor=executor,
                progress=_is_watched(),
            )
        text_rows = None if all_rows else 30
        printed = json.dumps(found.to_json()) if as_json else found.to_text(text_rows)
    _echo(printed)
    sys.exit(_DIFFERS if found.alarms else 0)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _workers(count: int) -> AbstractContextManager[Executor | None]:
    if count == 1:
        return nullcontext()
    from concurrent.futures import ProcessPoolExecutor  # here, because other commands need none

    return ProcessPoolExecutor(count)


def _print(
    overlay: Overlay,
    notes: Sequence[str],
    as_json: bool,
    view: View,
    max_lines: int,
    color: str,
    **files: str | None,
) -> None:
    """Write the files that the options name, and print the comparison."""
    is_text_printed = _is_text_printed(as_json, files)
    content = Content(overlay.graph, overlay, notes, view=view)
    with _reporting_errors():
        _write(files, content)
    if as_json:
        _echo(_JSON.text_of(content))
    elif is_text_printed:
        is_colored = color == "always" or (color == "auto" and _is_color_expected())
        printed = render_plan(overlay, max_lines, notes=notes, color=is_colored)
        _echo(printed, color=is_colored)


def _is_text_printed(as_json: bool, files: Mapping[str, str | None]) -> bool:
    """Return whether standard output is free for text.

    Ends the command if two outputs would go there, or if a format needs a missing package.
    """
    claims = [f"--{name} {_STDOUT}" for name, file in files.items() if file == _STDOUT]
    claims += ["--json"] if as_json else []
    if len(claims) > 1:
        raise _InputError(
            f"{' and '.join(claims)}: only one can go to standard output; name a file"
        )
    with _reporting_errors():
        for name in files:
            if files[name] is not None:
                _FILES[name].check_needs()
    return not claims


def _write(files: Mapping[str, str | None], content: Content) -> None:
    """Write a content in each format for which a file is given."""
    for name, file in files.items():
        if file is None:
            continue
        written = _FILES[name].text_of(content)
        if file == _STDOUT:  # in UTF-8 like a file, whatever the terminal uses
            _echo(written.encode())
        else:
            write_text(file, written)


def _is_color_expected() -> bool:
    is_allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_allowed and sys.stdout.isatty()  # https://no-color.org


def _echo(said: str | bytes, *, color: bool = False) -> None:
    """Print a text with the signs that standard output can show; print bytes unchanged."""
    with _reporting_stdout_errors():
        if isinstance(said, bytes):
            click.echo(said, nl=False)
        else:
            click.echo(shown_in(sys.stdout.encoding, said), color=color)


@contextmanager
def _reporting_stdout_errors() -> Iterator[None]:
    """End the command if standard output fails: quietly if the reader has closed it."""
    try:
        yield
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(_BROKEN_PIPE)
    except OSError as error:
        _forget_stdout()
        failed = _InputError(f"standard output: cannot be written: {error.strerror or error}")
        failed.show()
        sys.exit(failed.exit_code)


def _forget_stdout() -> None:
    """Discard the buffered output: Python would try to write it again on exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _reporting_errors() -> Iterator[None]:
    try:
        yield
    except CkptVizError as error:
        raise _InputError(text.printable(str(error))) from error
    except Exception:  # no verdict, so do not return Python's own status 1
        traceback.print_exc()
        sys.exit(_InputError.exit_code)


class _InputError(click.ClickException):
    exit_code = 2

    def format_message(self) -> str:
        """Return the sentence, with the signs that standard error can show."""
        return shown_in(getattr(sys.stderr, "encoding", None), self.message)

    def show(self, file: Any = None) -> None:
        """Print the sentence; if that fails, only the exit status remains."""
        with suppress(OSError):
            super().show(file)
