"""Imports point down only: the order of the rooms is the architecture."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from ckpt_viz.graphs.nodes import printed_names as names
from tests.support.rooms import EXCEPTIONS, LAYERS, PACKAGE, layer_of, modules, picture, room_of


def test_every_room_is_in_one_layer() -> None:
    assert sorted(room for layer in LAYERS for room in layer) == sorted({*map(room_of, modules())})


def test_imports_point_down_only() -> None:
    """An exception that is no longer needed fails, too."""
    upward = [
        (module, imported)
        for module in modules()
        for imported in sorted(_imports_of(module))
        if room_of(imported) != room_of(module) and layer_of(imported) >= layer_of(module)
    ]
    assert sorted(upward) == sorted(EXCEPTIONS)


def test_imports_have_no_cycle() -> None:
    TopologicalSorter({module: _imports_of(module) for module in modules()}).prepare()


def test_the_architecture_has_the_picture_of_the_rooms() -> None:
    """`python -m tests.support.rooms` prints it."""
    assert f"```text\n{picture()}\n```" in (PACKAGE.parent / "ARCHITECTURE.md").read_text("utf-8")


def test_one_module_makes_names_of_nodes() -> None:
    """All others ask it, or read names with its parts; documentation may show examples."""
    marks = (names.ROOT_NAME, names.STATE_OF)
    making = {
        module
        for module, path in modules().items()
        for text in _strings_in(path)
        if text == names.THE_ROOT or any(mark in text for mark in marks)
    }
    assert making == {"graphs.nodes.printed_names"}


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def _nodes_in(path: Path) -> list[ast.AST]:
    return list(ast.walk(_parsed(path)))


def _strings_in(path: Path) -> Iterator[str]:
    """Yield the strings in code, also the parts of f-strings; no docstrings."""
    statements = {id(node.value) for node in _nodes_in(path) if isinstance(node, ast.Expr)}
    for node in _nodes_in(path):
        match node:
            case ast.Constant(value=str() as text) if id(node) not in statements:
                yield text


def test_no_two_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for module, path in modules().items():
        for node in _nodes_in(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    assert {name: rooms for name, rooms in places.items() if len(rooms) > 1} == {}


def test_subpackages_hold_their_description_alone() -> None:
    for path in PACKAGE.glob("*/**/__init__.py"):
        (statement,) = _parsed(path).body
        assert isinstance(statement, ast.Expr)


def test_only_the_live_side_names_tensorflow() -> None:
    naming = {
        name
        for name, path in modules().items()
        for node in _nodes_in(path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] in ("tensorflow", "keras") for name in _names(node))
    }
    assert naming == set()  # tensorflow_private looks its names up with import_module


def test_only_the_server_part_names_jupyter_server() -> None:
    naming = {
        name
        for name, path in modules().items()
        for node in _nodes_in(path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(
            one.split(".")[0] in ("jupyter_core", "jupyter_server", "tornado")
            for one in _names(node)
        )
    }
    assert naming == {"entrances.server.handlers", "entrances.server.paths"}


def test_importing_the_package_imports_neither_jupyter_nor_tensorflow() -> None:
    heavy = "{'jupyter_server', 'tornado', 'IPython', 'tensorflow', 'numpy'}"
    imported = "{m.split('.')[0] for m in sys.modules}"
    source = f"import sys, ckpt_viz; ckpt_viz.graph; print({heavy} & {imported})"
    output = subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    ).stdout
    assert output == "set()\n"


def test_the_help_of_a_command_loads_no_graphs() -> None:
    commands = ("show", "check", "fix", "diff", "history", "verify", "average", "check-model")
    source = (
        "import sys\nfrom ckpt_viz.cli import main\n"
        f"for command in {commands}: main([command, '--help'], standalone_mode=False)\n"
        "print({'ckpt_viz.api', 'ckpt_viz.graphs.object_graph', 'numpy'} & {*sys.modules})"
    )
    output = subprocess.run(
        [sys.executable, "-c", source], check=True, capture_output=True, text=True
    ).stdout
    assert output.splitlines()[-1] == "set()"


@cache
def _imports_of(module: str) -> frozenset[str]:
    """Return the modules that a module imports, whole or names of them."""
    paths, found = modules(), set[str]()
    for node in _nodes_in(paths[module]):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                parts = name.split(".")[1:] if name.startswith("ckpt_viz.") else []
                # `from a import b` names either a module b or something in the module a
                for candidate in (".".join(parts), ".".join(parts[:-1])):
                    if candidate in paths:
                        found.add(candidate)
                        break
    return frozenset(found)


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]
