import ast
import io
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.graphs.render.signs import ASCII
from tests.support import live_objects
from tests.support.graphs import graph, keras3_adam, without_optimizer
from tests.support.saved_graphs import write_graph


@pytest.mark.tf
def test_show_prints_the_tree_of_all_objects(tmp_path: Path) -> None:
    prefix = live_objects.containers().write(str(tmp_path / "ckpt"))
    result = CliRunner().invoke(main, ["show", prefix, "--view", "objects"])
    assert result.exit_code == 0
    summary, writer, rest = result.output.split("\n", 2)
    assert f"{summary}\n{rest}" == f"{cv.graph(prefix).to_text('objects')}\n"
    assert writer == "TensorFlow wrote it. To open it, use tf.train.Checkpoint.restore."


@pytest.mark.tf
def test_show_cuts_after_the_given_number_of_lines(tmp_path: Path) -> None:
    prefix = live_objects.containers().write(str(tmp_path / "ckpt"))
    shown = ["show", prefix, "--max-lines", "5"]
    lines = CliRunner().invoke(main, [*shown, "--view", "objects"]).output.splitlines()
    assert lines[-1].startswith("… cut after")
    assert len(lines) == 5
    layers = CliRunner().invoke(main, shown).output.splitlines()
    assert layers[0] == lines[0]
    assert [line for line in layers if line.startswith(("(root)", "├", "└", "│"))] == layers[2:-1]
    assert len(layers) <= 5


def test_show_prints_layers_by_name(adam: str) -> None:
    result = CliRunner().invoke(main, ["show", adam])
    assert result.output.splitlines()[2:] == [
        "(root)        object     30 parameters",
        "├─ optimizer  optimizer",
        "│  └─ v5      variable   float32 5×2",
        "└─ layer      object     30 parameters",
        "   ├─ v7      variable   float32 7×2  with momentum",
        "   └─ bias    variable   float32 8×2  with momentum",
        "6 of 11 nodes shown; 2 slot variables named beside their variables; "
        "3 without values left out",
    ]


def test_wrong_path_is_one_sentence_and_status_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["show", str(tmp_path / "nothing")])
    assert result.exit_code == 2
    assert f"{tmp_path}/nothing: no such checkpoint" in result.output
    assert result.output.count("\n") == 1


def test_file_names_in_errors_move_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2Jb.index").touch()
    result = CliRunner().invoke(main, ["show", str(tmp_path)])
    assert "a\\x1b[2Jb" in result.output
    assert "\x1b" not in result.output


def test_every_command_has_help() -> None:
    for command in ([], *([name] for name in main.commands)):
        result = CliRunner().invoke(main, [*command, "--help"])
        assert result.exit_code == 0
        assert result.output.startswith("Usage:")


def test_the_list_of_commands_loads_none_of_them() -> None:
    source = """
import sys
from ckpt_viz.cli import main
main(["--help"], standalone_mode=False)
print(sorted(name for name in sys.modules if name.startswith("ckpt_viz")))
"""
    listing = subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    ).stdout
    wings = {"", ".entrances", ".graphs", ".ground"}
    rooms = {".entrances.commands", ".graphs.render"}
    used = {".cli", ".entrances.commands.streams", ".graphs.render.encodings", ".ground.text"}
    assert listing.endswith(f"{sorted(f'ckpt_viz{name}' for name in wings | rooms | used)}\n")


def test_the_list_has_every_command_on_a_line_of_80_columns() -> None:
    listing = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    context = click.Context(main)
    for name in main.commands:
        command = main.get_command(context, name)
        assert command is not None and command.name == name
        assert re.search(rf"^  {name} +{re.escape(command.get_short_help_str())}$", listing, re.M)
    assert set(main.commands) == {
        command.name
        for path in (Path(cv.__file__).parent / "entrances" / "commands").glob("[a-z]*.py")
        for command in vars(import_module(f"ckpt_viz.entrances.commands.{path.stem}")).values()
        if isinstance(command, click.Command)
    }


def test_without_arguments_it_shows_three_examples() -> None:
    output = CliRunner().invoke(main, [], terminal_width=80).output
    examples = re.findall(r"^  ckpt-viz ([\w-]+) (?!\[)", output, re.M)
    assert examples == ["show", "check", "diff"]
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "completed"), [("ch", {"check", "check-model"}), ("check --ver", {"--verify"})]
)
def test_a_shell_completes_commands_and_options(words: str, completed: set[str]) -> None:
    """docs/command_line.md tells how to switch it on."""
    command = f"ckpt-viz {words}"
    asked = {"COMP_WORDS": command, "COMP_CWORD": str(len(words.split()))}
    result = CliRunner().invoke(
        main,
        env={"_CKPT_VIZ_COMPLETE": "bash_complete", **asked},
        prog_name="ckpt-viz",
    )
    assert {line.removeprefix("plain,") for line in result.output.splitlines()} == completed


@pytest.mark.parametrize(
    "command",
    [
        *("show {}", "values {}", "history {}", "verify {}", "show --html - {}"),
        *("diff {} {}", "check {} {}", "fix {} {}"),
    ],
)
def test_a_command_needs_neither_jupyter_nor_tensorflow(command: str, adam: str) -> None:
    source = """
import sys
from ckpt_viz.cli import main

class OutOfReach:
    def find_spec(self, name, *_):
        if name in ("anywidget", "ipywidgets", "traitlets", "IPython", "graphviz", "tensorflow"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, OutOfReach())
main(sys.argv[1:])
"""
    called = [sys.executable, "-c", source, *(word.format(adam) for word in command.split())]
    done = subprocess.run(called, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_path_in_the_place_of_a_command_names_the_command_to_run(tmp_path: Path) -> None:
    (tmp_path / "my ckpts").mkdir()
    result = CliRunner().invoke(main, [str(tmp_path / "my ckpts")])
    assert result.exit_code == 2
    assert f"run: ckpt-viz show '{tmp_path}/my ckpts'" in result.output


def test_a_wrong_name_of_a_command_is_one_sentence_with_those_alike() -> None:
    result = CliRunner().invoke(main, ["shwo"])
    assert result.exit_code == 2
    assert result.output.splitlines()[-1].startswith("Error: No such command 'shwo'.")


# --- versions

_IN_A_BUG_REPORT = {
    "ckpt-viz": "ckpt-viz",
    "TensorFlow": "tensorflow",
    "Keras": "keras",
    "tf_keras": "tf_keras",
    "NumPy": "numpy",
    "protobuf": "protobuf",
    "ipywidgets": "ipywidgets",
    "anywidget": "anywidget",
    "JupyterLab": "jupyterlab",
    "Jupyter Server": "jupyter_server",
}


def _printed_versions(*directories: Path) -> dict[str, str]:
    """Run `ckpt-viz --version` in a process that sees these packages and those of ckpt_viz."""
    source = (
        "import sys; from ckpt_viz.cli import main; main(['--version'], standalone_mode=False); "
        "print('imported ', {'tensorflow', 'keras', 'numpy', 'jupyterlab'} & set(sys.modules))"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*directories, *sys.path)))}
    done = subprocess.run(
        [sys.executable, "-S", "-c", source], env=env, check=True, capture_output=True, text=True
    )
    halves = (line.split("  ", 1) for line in done.stdout.splitlines())
    return {name: found.strip() for name, found in halves}


def test_version_prints_what_a_bug_report_needs_and_imports_none_of_it() -> None:
    printed = _printed_versions()
    for name, distribution in _IN_A_BUG_REPORT.items():
        with suppress(PackageNotFoundError):
            assert printed.pop(name) == version(distribution)
    assert printed == {
        "Python": platform.python_version(),
        "platform": platform.platform(),
        "imported": "set()",
    } | dict.fromkeys(printed.keys() & _IN_A_BUG_REPORT.keys(), "not installed")


def test_version_finds_a_package_by_another_distribution_and_tells_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "tensorflow_cpu-2.99.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow-cpu\nVersion: 2.99\n")
    (other / "top_level.txt").write_text("tensorflow\n")
    for package in ("click", "ckpt_viz"):
        _linked(tmp_path, package)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if "site-packages" not in one])
    printed = _printed_versions(tmp_path)
    assert printed["TensorFlow"] == "2.99 (tensorflow-cpu)"
    assert printed["JupyterLab"] == printed["Keras"] == "not installed"


def _linked(directory: Path, package: str) -> None:
    found = find_spec(package)
    assert found is not None and found.origin is not None
    (directory / package).symlink_to(Path(found.origin).parent)


# --- terminals and devices

_NAMES = ("kernel", "ü", "ж", "weight → bias", "…")
_ENCODINGS = {
    "latin-1": "|- ü #2 [variable] float32 2×2",
    "cp1252": "|- ü #2 [variable] float32 2×2",
    "cp437": "├─ ü #2 [variable] float32 2x2",
    "ascii": "|- \\xfc #2 [variable] float32 2x2",
    "utf-8": "├─ ü #2 [variable] float32 2×2",
}


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A checkpoint with names that few encodings have."""
    edges = {name: number for number, name in enumerate(_NAMES, 1)}
    return write_graph(tmp_path / "named-1", graph({0: edges}, variables=(1, 2, 3, 4, 5)))


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_every_command_prints_in_any_encoding(encoding: str, named: str, adam: str) -> None:
    for command in (["show", named], ["check", named, adam], ["diff", named, adam], ["show", "ü"]):
        result = CliRunner(charset=encoding).invoke(main, command)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert result.exit_code == (1 if command[0] != "show" else 2 if "ü" in command else 0)
        result.stdout_bytes.decode(encoding)
    tree = ["show", named, "--view", "objects"]
    lines = CliRunner(charset=encoding).invoke(main, tree).stdout_bytes.decode(encoding)
    assert _ENCODINGS[encoding] in lines.splitlines()
    assert ("ж" if encoding == "utf-8" else "\\u0436") in lines
    as_json = CliRunner(charset=encoding).invoke(main, ["show", named, "--json"]).stdout_bytes
    assert as_json.isascii()
    assert "ж" in {edge["local_name"] for edge in json.loads(as_json)["nodes"][0]["children"]}


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_what_a_program_prints_takes_any_encoding(
    encoding: str, named: str, adam: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = cv.graph(named), cv.graph(adam)
    printed = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", printed)
    for found in (one, cv.check(one, other), cv.diff(one, other), cv.show(one)):
        print(found)
        print(repr(found))
    printed.flush()
    text = printed.buffer.getvalue().decode(encoding)
    monkeypatch.undo()
    name, _, shape = _ENCODINGS[encoding].partition(" #2 [variable] ")
    lines = text.splitlines()
    assert any(line.startswith(f"{name} ") and line.endswith(shape) for line in lines)


@pytest.mark.slow
def test_every_sign_has_one_for_ascii() -> None:
    signs = {
        character
        for path in Path(cv.__file__).parent.rglob("*.py")
        # A picture is no text; what a query takes for a space is no sign.
        if path.name not in ("svg.py", "syntax.py")
        for node in ast.walk(_without_docstrings(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for character in node.value
        if not character.isascii()
    }
    table = Path(cv.__file__).parent / "graphs" / "render" / "signs.json"
    signs |= {sign for sign in table.read_text(encoding="utf-8") if not sign.isascii()}
    assert signs == ASCII.keys()
    assert all(sign.isascii() and sign.isprintable() for sign in ASCII.values())


def _without_docstrings(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return tree


_RUN = [sys.executable, "-c", "from ckpt_viz.cli import main; main()"]
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")


@on_linux
@pytest.mark.parametrize(
    "command",
    [["show"], ["show", "--json"], ["show", "--svg", "-"], ["diff"], ["check"], ["--help"]],
    ids=" ".join,
)
def test_a_full_device_is_one_sentence_and_status_2(command: list[str], adam: str) -> None:
    paths = {"show": [adam], "--help": []}.get(command[0], [adam, adam])
    with open("/dev/full", "wb") as full:
        run = subprocess.run([*_RUN, *command, *paths], stdout=full, stderr=subprocess.PIPE)
    assert run.stderr == b"Error: standard output: cannot be written: No space left on device\n"
    assert run.returncode == 2


@on_linux
def test_a_pipe_whose_reader_has_gone_ends_the_command_quietly(adam: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for command in (["show", adam], ["diff", adam, adam], ["show", adam, "--html", "-"]):
        run = subprocess.run([*_RUN, *command], stdout=writer, stderr=subprocess.PIPE)
        assert run.stderr == b""
        assert run.returncode == 128 + 13
    os.close(writer)


@on_linux
def test_a_closed_standard_output_is_one_sentence_and_status_2(adam: str) -> None:
    script = 'exec "$@" >&-'
    run = subprocess.run(["sh", "-c", script, "sh", *_RUN, "show", adam], stderr=subprocess.PIPE)
    assert run.stderr.startswith(b"Error: standard output is closed")
    assert run.stderr.count(b"\n") == 1
    assert run.returncode == 2


@on_linux
@pytest.mark.parametrize("kind", ["svg", "dot", "html"])
def test_a_full_disk_leaves_the_file_that_was_there(kind: str, adam: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "file"
    file.write_text("as it was")
    limited = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (99, 99)); " + _RUN[-1]
    for target in (file, tmp_path / "out" / "new"):
        run = subprocess.run(
            [sys.executable, "-B", "-c", limited, "show", adam, f"--{kind}", target],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        said = f"Error: {target}: cannot be written: File too large\n"
        assert (run.returncode, run.stderr.decode()) == (2, said)
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["as it was"]


# --- diff and check of files


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def adam(tmp_path: Path) -> str:
    return write_graph(tmp_path / "adam-1", keras3_adam())


@pytest.fixture
def plain(tmp_path: Path) -> str:
    """A checkpoint of the same layer without an optimizer."""
    return write_graph(tmp_path / "plain-1", without_optimizer())


def test_diff_of_equal_files_has_status_0(adam: str) -> None:
    result = _run("diff", adam, adam)
    assert result.exit_code == 0
    assert result.output == f"{cv.diff(adam, adam)}\n"
    assert result.output.splitlines()[-1] == "No difference."


def test_diff_says_what_differs_and_has_status_1(adam: str, plain: str) -> None:
    result = _run("diff", adam, plain)
    assert result.exit_code == 1
    assert result.output.splitlines()[:4] == [
        f"{adam} → {plain}",
        "The optimizer is gone.",
        "",
        "  a           change                b",
    ]
    details = _run("diff", adam, plain, "--details").output.splitlines()
    assert details[1:] == [
        "  \N{MINUS SIGN} only in a  optimizer",
        "      Nothing in b corresponds to this node and 6 nodes below, 3 values in all.",
        "differs: 3 values only in a",
    ]


def test_diff_says_what_it_took_the_paths_for(adam: str) -> None:
    result = _run("diff", f"{adam}.index", adam)
    assert result.exit_code == 0
    assert result.output.splitlines()[2].startswith(f"a: {adam}.index")


def test_diff_prints_json(adam: str, plain: str) -> None:
    result = _run("diff", adam, plain, "--json")
    assert result.exit_code == 1
    assert json.loads(result.output) == cv.diff(adam, plain).to_json()


def test_diff_cuts_after_the_given_number_of_lines(adam: str, plain: str) -> None:
    lines = _run("diff", adam, plain, "--details", "--max-lines", 1).output.splitlines()
    assert lines[1:] == ["… 2 more lines", "differs: 3 values only in a"]


@pytest.mark.parametrize("command", ["diff", "check"])
def test_path_that_leads_nowhere_has_status_2(command: str, adam: str, tmp_path: Path) -> None:
    result = _run(command, tmp_path / "nothing", adam)
    assert result.exit_code == 2
    assert f"{tmp_path}/nothing: no such checkpoint" in result.output


def test_check_of_two_files_says_what_a_restore_would(adam: str, plain: str) -> None:
    result = _run("check", adam, plain)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == f"{plain} → {adam}"
    assert "assert_consumed() and assert_existing_objects_matched() fail." in lines[2]
    details = _run("check", adam, plain, "--details").output.splitlines()
    assert details[-1] == "assert_consumed() would fail"
    assert _run("check", adam, adam).exit_code == 0


def test_check_requires_the_given_asserts(adam: str, plain: str) -> None:
    def status(*requirements: str) -> int:
        options = [word for one in requirements for word in ("--require", one)]
        return _run("check", plain, adam, *options).exit_code

    # The program without the optimizer uses not all that is saved, but lacks nothing itself.
    assert (status(), status("consumed"), status("existing"), status("nontrivial")) == (1, 1, 0, 0)
    assert (status("existing", "nontrivial"), status("existing", "consumed")) == (0, 1)


def test_check_prints_json(adam: str, plain: str) -> None:
    found = json.loads(_run("check", adam, plain, "--json").output)
    assert (found["comparison"], found["passes"]) == ("check", False)
    assert {node["state"] for node in found["nodes"]} == {"live only"}


def test_fix_prints_code_for_a_program(tmp_path: Path) -> None:
    edges = {0: {"net": 1}, 1: {"l1": 2}, 2: {"w": 3}}
    saved = write_graph(tmp_path / "saved", graph(edges, (3,)))
    moved = write_graph(tmp_path / "moved", graph(edges | {1: {"dense": 2}}, (3,)))
    result = _run("fix", moved, saved)
    assert result.exit_code == 0
    assert "restored = tf.train.Checkpoint(net=tf.train.Checkpoint(l1=ckpt.net.dense))\n" in (
        result.output
    )
    assert f"restored.restore({saved!r})" in result.output


def test_fix_writes_a_checkpoint_on_request(adam: str, tmp_path: Path) -> None:
    result = _run("fix", adam, adam, "--write", tmp_path / "fixed")
    assert result.exit_code == 0
    assert cv.diff(adam, tmp_path / "fixed").is_empty
    values = sum(bool(node.attributes) for node in cv.graph(adam).nodes)
    fixed = tmp_path / "fixed"
    assert result.stderr == (
        f"Wrote {values} values to {fixed}.index and {fixed}.data-00000-of-00001. "
        f"{adam} restores them with restore('{fixed}').\n"
    )
    again = _run("fix", adam, adam, "--write", tmp_path / "fixed")
    assert again.exit_code == 2
    assert "fixed" in again.output


def test_fix_runs_a_program_on_request_alone(tmp_path: Path) -> None:
    result = _run("fix", "train.py:ckpt", tmp_path)
    assert result.exit_code == 2
    assert "pass --run to allow that" in result.output


def test_fix_has_status_1_if_values_stay_as_they_are(adam: str, plain: str) -> None:
    result = _run("fix", adam, plain)
    assert result.exit_code == 1
    assert "# These keep their values; the checkpoint has none for them:" in result.output


def _list_of(at: Path, label: str, items: range) -> str:
    """Write a checkpoint of a list of equal variables, whose full names tell nothing."""
    edges = {0: {label: 1}, 1: {str(place): node for place, node in enumerate(items)}}
    made = graph(edges, tuple(items))
    equal = [
        node._replace(
            attributes=tuple(
                one._replace(shape=(2,), full_name="Variable") for one in node.attributes
            )
        )
        for node in made.nodes
    ]
    return write_graph(at, replace(made, nodes=tuple(equal)))


def test_fix_takes_the_guesses_that_a_person_accepts(tmp_path: Path) -> None:
    saved = _list_of(tmp_path / "was", "blocks", range(2, 5))
    live = _list_of(tmp_path / "now", "layers", range(5, 7))
    assert "`ckpt-viz fix " in _run("fix", live, saved).output
    every = _run("fix", live, saved, "--guesses")
    assert not every.exit_code and "blocks=tf.train.Tr" in every.output
    part = _run("fix", live, saved, "--guess", "blocks.1")
    assert part.exit_code == 1 and "blocks.0 may belong to" in part.output
    wrong = _run("fix", live, saved, "--guess", "blocks.2")
    assert wrong.exit_code == 2 and "'blocks.2' names no guess; expected " in wrong.output


def test_remedies_and_notes_are_in_the_language_of_the_command_line(tmp_path: Path) -> None:
    saved = write_graph(tmp_path / "it's saved", graph({0: {"w": 1, "net": 2, "b": 3}}, (1, 3)))
    grown = write_graph(tmp_path / "grown", graph({0: {"net": 1, "w": 2, "b": 3}}, (2, 3)))
    result = _run("check", grown, saved, "--method", "read", "--details")
    command = shlex.join(["ckpt-viz", "fix", "--method", "read", grown, saved])
    assert f"restore the rest with the code of `{command}`." in result.output
    assert "fix()" not in result.output
    program, *arguments = shlex.split(command)
    assert program == "ckpt-viz"
    assert _run(*arguments).exit_code == 1  # w keeps its values

    assert "raise DataLossError; --verify tests them." in _run("check", saved, saved).output
    assert "verify=True tests them." in str(cv.check(saved, saved))


@pytest.mark.parametrize("command", ["check", "fix"])
def test_exchanged_arguments_are_named(command: str, adam: str) -> None:
    result = _run(command, adam, "train.py:ckpt")
    assert result.exit_code == 2
    assert result.output == (
        "Error: train.py:ckpt is a program; expected a checkpoint as SAVED; "
        "exchange the two arguments\n"
    )


def test_check_judges_the_path_that_restore_would_get(adam: str) -> None:
    result = _run("check", adam, f"{adam}.index")
    assert result.exit_code == 1
    assert f"Pass '{adam}', which would pass every assert." in result.output


def test_checkpoint_that_is_not_there_is_what_restore_raises(adam: str, tmp_path: Path) -> None:
    result = _run("check", adam, tmp_path / "adam-2")
    assert result.exit_code == 1
    assert "restore() raises NotFoundError. All asserts fail." in result.output


def test_slot_variables_are_skipped_on_request(tmp_path: Path) -> None:
    edges = {0: {"o": 1, "v": 2}}
    saved = write_graph(tmp_path / "a", graph(edges, (2, 3), {1: (("m", 2, 3),)}))
    live = write_graph(tmp_path / "b", graph(edges, (2,)))
    assert _run("check", live, saved).exit_code == 1
    assert _run("check", live, saved, "--skip-slot-variables").exit_code == 0


@pytest.mark.parametrize(
    ("options", "environment", "is_colored"),
    [
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {}, False),
        ([], {}, False),
    ],
)
def test_colours_are_for_terminals(
    options: list[str], environment: dict[str, str], is_colored: bool, adam: str
) -> None:
    result = CliRunner(env=environment).invoke(main, ["diff", adam, adam, *options])
    assert ("\x1b[" in result.output) is is_colored


@pytest.mark.parametrize(("no_color", "is_colored"), [("", True), ("1", False)])
def test_terminals_get_colours_unless_a_setting_forbids_them(
    no_color: str, is_colored: bool, adam: str
) -> None:
    pty = pytest.importorskip("pty")
    controller, terminal = pty.openpty()
    environment = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm"}
    program = "from ckpt_viz.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", program, "diff", adam, adam], stdout=terminal, env=environment
    )
    os.close(terminal)
    assert (b"\x1b[" in os.read(controller, 10_000)) is is_colored
    os.close(controller)


def test_files_are_compared_and_checked_without_tensorflow(adam: str, plain: str) -> None:
    program = """
import sys
from ckpt_viz.cli import main
from ckpt_viz.graphs.render.signs import ASCII
for command in ("diff", "check"):
    try:
        main([command, *sys.argv[1:]])
    except SystemExit:
        pass
sys.exit("tensorflow" in sys.modules)
"""
    subprocess.run(
        [sys.executable, "-c", program, adam, plain], check=True, stdout=subprocess.DEVNULL
    )


# --- files


def _svg(graph: cv.ObjectGraph) -> bytes:
    return graph.to_svg().encode()


def test_show_writes_files_beside_what_it_prints(adam: str, tmp_path: Path) -> None:
    svg, dot, html = tmp_path / "a.svg", tmp_path / "a.dot", tmp_path / "a.html"
    result = _run("show", adam, "--svg", svg, "--dot", dot, "--html", html)
    assert (result.exit_code, result.output) == (0, _run("show", adam).output)
    assert svg.read_bytes() == _svg(cv.graph(adam))
    assert dot.read_bytes() == cv.graph(adam).to_dot().source.encode()
    assert html.read_text().startswith("<!DOCTYPE html>")


def test_the_page_of_a_check_plays_its_restore(adam: str, tmp_path: Path) -> None:
    for command, plays in (("check", True), ("diff", False)):
        _run(command, adam, adam, "--html", tmp_path / "page.html")
        assert ('id="steps"' in (tmp_path / "page.html").read_text()) == plays


def test_show_prints_json(adam: str, tmp_path: Path) -> None:
    result = _run("show", adam, "--json", "--svg", tmp_path / "a.svg")
    assert result.exit_code == 0
    assert json.loads(result.output) == cv.graph(adam).to_json()
    assert (tmp_path / "a.svg").exists()


@pytest.mark.parametrize("command", ["diff", "check"])
def test_comparisons_are_written_and_keep_their_status(
    command: str, adam: str, plain: str, tmp_path: Path
) -> None:
    svg, dot, html = tmp_path / "a.svg", tmp_path / "a.dot", tmp_path / "a.html"
    result = _run(command, adam, plain, "--svg", svg, "--dot", dot, "--html", html)
    assert result.exit_code == 1
    found = cv.diff(adam, plain) if command == "diff" else cv.check(adam, plain)
    printed = f"{found}\n".replace("verify=True", "--verify")
    assert result.output == printed.replace("print(check.details)", "--details")
    assert svg.read_text("utf-8") == found.to_svg().replace("verify=True", "--verify")
    assert ("only in a" if command == "diff" else "keeps its own") in dot.read_text()
    assert html.read_text().startswith("<!DOCTYPE html>")


def test_pictures_show_the_view_that_the_user_asks_for(adam: str, plain: str) -> None:
    layers = _run("show", adam, "--svg", "-").output
    objects = _run("show", adam, "--svg", "-", "--view", "objects").output
    assert ">v7<" in layers and ">_kernel<" not in layers
    assert ">_kernel<" in objects
    for arguments in (["show", adam], ["diff", adam, plain], ["check", adam, plain]):
        objects = _run(*arguments, "--dot", "-", "--view", "objects").output
        assert objects != _run(*arguments, "--dot", "-").output
        assert "label=_kernel" in objects


@pytest.mark.parametrize("name", ["svg", "dot", "html"])
def test_dash_is_standard_output_in_place_of_the_text(name: str, adam: str, plain: str) -> None:
    starts = {"svg": b"<svg ", "dot": b"digraph ", "html": b"<!DOCTYPE html>"}
    for arguments, status in ((["show", adam], 0), (["diff", adam, plain], 1)):
        result = _run(*arguments, f"--{name}", "-")
        assert result.exit_code == status
        assert result.stdout_bytes.startswith(starts[name])
        assert str(cv.graph(adam)) not in result.output


@pytest.mark.parametrize("arguments", [["--svg", "-", "--json"], ["--svg", "-", "--dot", "-"]])
def test_two_things_on_standard_output_are_refused(arguments: list[str], adam: str) -> None:
    for command in (["show", adam], ["diff", adam, adam], ["check", adam, adam]):
        result = _run(*command, *arguments)
        assert result.exit_code == 2
        assert "only one can go to standard output; name a file" in result.output
        assert "<svg" not in result.output


def test_files_are_replaced_whole_and_leave_nothing_beside_them(adam: str, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / "a.svg").write_text("older" * 100_000)
    (directory / "link.svg").symlink_to("a.svg")
    assert _run("show", adam, "--svg", directory / "link.svg").exit_code == 0
    assert (directory / "a.svg").read_bytes() == _svg(cv.graph(adam))
    assert (directory / "link.svg").is_symlink()
    assert {path.name for path in directory.iterdir()} == {"a.svg", "link.svg"}


def test_devices_stay_what_they_are(adam: str) -> None:
    assert _run("show", adam, "--svg", "/dev/null").exit_code == 0
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "is a directory, expected the name of a file"),
        ("no/such/a.svg", "cannot be written: its directory does not exist"),
        ("file/a.svg", "cannot be written: Not a directory"),
        ("n" * 300, "cannot be written: File name too long"),
    ],
)
def test_files_that_cannot_be_written_are_one_sentence(
    name: str, said: str, adam: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    before = sorted(tmp_path.iterdir())
    for command in (["show", adam], ["diff", adam, adam], ["check", adam, adam]):
        result = _run(*command, "--svg", tmp_path / name)
        assert result.exit_code == 2
        assert f"{said}\n" in result.output
        assert result.output.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_is_written_for_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    assert _run("show", tmp_path / "nothing", "--svg", tmp_path / "a.svg").exit_code == 2
    assert list(tmp_path.iterdir()) == []


# --- programs


def test_program_is_run_only_on_request(tmp_path: Path, adam: str) -> None:
    program = tmp_path / "train.py"
    program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    result = _run("check", f"{program}:ckpt", adam)
    assert result.exit_code == 2
    assert "pass --run to allow that" in result.output
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("raise ValueError('no data')", "ckpt", "train.py raised ValueError: no data"),
        ("import sys; sys.exit(0)", "ckpt", "train.py raised SystemExit: 0"),
        ("a = b = 1", "ckpt", "train.py has no 'ckpt'; the program has a, b"),
        ("class T: pass\nt = T()", "t.ckpt", "a T has no 'ckpt'; the program has T, t"),
        ("def ckpt():\n    return 1 / 0", "ckpt", "train.py:ckpt raised ZeroDivisionError"),
        ("if __name__ == '__main__':\n    1 / 0", "x", "train.py has no 'x'"),
        ("import os", "os", "train.py:os: found a value of type module; the program has os."),
        ("number = 3", "number", "train.py:number: found a value of type int; the program has n"),
        ("def make(size): pass", "make", "train.py:make: found a function that needs arguments;"),
        ("def make(): pass", "", "train.py:make (a function)"),
        ("a = 1", "", "train.py: found no name of an object; the program has a."),
    ],
)
def test_programs_that_go_wrong_are_named(
    source: str, name: str, said: str, tmp_path: Path, adam: str
) -> None:
    (tmp_path / "train.py").write_text(source)
    named = f":{name}" if name else ""
    result = _run("check", f"{tmp_path / 'train.py'}{named}", adam, "--run")
    assert result.exit_code == 2
    assert said in result.output
    assert result.output.count("\n") == 1


def test_program_that_is_not_there_is_named(tmp_path: Path, adam: str) -> None:
    result = _run("check", f"{tmp_path}/train.py:ckpt", adam, "--run")
    assert result.exit_code == 2
    assert "train.py: no such file, expected a Python program" in result.output


@pytest.mark.tf
@pytest.mark.parametrize("named", ["", ":trainer.cpt"])
def test_program_without_this_object_names_those_that_it_has(
    named: str, tmp_path: Path, adam: str
) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import tensorflow as tf\n"
        "class Trainer:\n"
        "    def __init__(self):\n"
        "        self.ckpt = tf.train.Checkpoint()\n"
        "trainer, net = Trainer(), tf.Module()\n"
    )
    result = _run("check", f"{program}{named}", adam, "--run")
    assert result.exit_code == 2
    assert result.output.endswith(
        f"expected one of {program}:net (tf.Module), {program}:trainer.ckpt (tf.train.Checkpoint)\n"
    )


_TRAIN = """
import subprocess
import sys
import tensorflow as tf
import model

print("printed by Python")
subprocess.run([sys.executable, "-c", "print('printed by a child')"])

ckpt = tf.train.Checkpoint(v=model.v)


class Trainer:
    ckpt = ckpt


def make():
    print("printed while it is made")
    return ckpt
"""


@pytest.mark.tf
@pytest.mark.parametrize("name", ["ckpt", "Trainer.ckpt", "make"])
def test_program_is_checked_and_what_it_prints_goes_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_TRAIN)
    (tmp_path / "model.py").write_text("import tensorflow as tf\nv = tf.Variable([1.0, 2.0])")
    saved = write_graph(tmp_path / "ckpt-1", graph({0: {"v": 1}}, variables=(1,)))
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from ckpt_viz.cli import main; main()",
            "check",
            f"{tmp_path / 'train.py'}:{name}",
            saved,
            "--run",
            "--json",
            "--method",
            "read",
        ],
        capture_output=True,
        text=True,
    )
    found = json.loads(run.stdout)
    assert run.returncode == 1
    assert [node["detail"] for node in found["nodes"]] == ["1×2 ≠ 2"]
    assert "printed by Python" in run.stderr
    assert "printed by a child" in run.stderr


@pytest.mark.tf
@pytest.mark.parametrize("form", [".weights.h5", ".keras"])
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_a_program_and_a_file_of_keras_are_checked_and_fixed(
    library: str, form: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)
    made = (
        f"import {library} as keras\n"
        "body = keras.layers.Dense(4, name='body')\n"
        "model = keras.Sequential([body, keras.layers.Dense({classes}, name='head')])\n"
        "model.build((None, 3))\n"
    )
    names: dict[str, object] = {}
    exec(made.format(classes=2), names)
    path = tmp_path / f"saved{form}"
    old = names["model"]
    assert isinstance(old, keras.Model)
    (old.save if form == ".keras" else old.save_weights)(path)
    (tmp_path / "train.py").write_text(made.format(classes=5))
    program = f"{tmp_path / 'train.py'}:model"
    check = _run("check", program, path, "--run")
    assert check.exit_code == 1, check.output
    assert "larger: 2 → 5" in check.output and "load_weights() raises ValueError" in check.output
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(5)])
    model.build((None, 3))
    with pytest.raises(ValueError):
        model.load_weights(path)
    fix = _run("fix", program, path, "--run")
    assert fix.exit_code == 1 and "h5py.File" in fix.output and "head" in fix.output
    skipping = _run("check", program, path, "--run", "--skip-mismatch")
    expected = str(cv.check(model, path, options={"skip_mismatch": True}))
    assert "raises" not in expected.split("\n")[2]
    assert skipping.output.split("\n")[2] == expected.split("\n")[2]
    fix = _run("fix", program, path, "--run", "--skip-mismatch")
    assert fix.exit_code == 1 and "load_weights" in fix.output, fix.output


@pytest.mark.tf
def test_an_option_of_another_call_is_refused_in_the_words_of_the_command(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    code = "import keras\nmodel = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])\n"
    (tmp_path / "train.py").write_text(code)
    program, names = f"{tmp_path / 'train.py'}:model", dict[str, object]()
    exec(code, names)
    weights, checkpoint = tmp_path / "x.weights.h5", tmp_path / "adam-1"
    model = names["model"]
    assert isinstance(model, keras.Model)
    model.save_weights(weights)
    write_graph(checkpoint, keras3_adam())
    for command, live, saved, option in (
        ("check", program, weights, "--skip-slot-variables"),
        ("check", program, checkpoint, "--skip-mismatch"),
        ("fix", program, checkpoint, "--by-name"),
        ("check", checkpoint, checkpoint, "--by-name"),
    ):
        run = [] if live is checkpoint else ["--run"]
        refused = _run(command, live, saved, option, *run)
        assert refused.exit_code == 2, refused.output
        assert refused.output.startswith(f"Error: {option}: expected a "), refused.output
        assert refused.output.rstrip().endswith("leave the option out")
    by_name = _run("check", program, weights, "--run", "--by-name")
    assert by_name.exit_code == 0, by_name.output


def test_the_package_is_the_command_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ckpt_viz", "show", "nowhere"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr[:15]) == (2, "Error: nowhere:")
