"""Imports point down only: the order of the modules is the architecture."""

import ast
from collections.abc import Iterator
from pathlib import Path

import ckpt_viz

PACKAGE = Path(ckpt_viz.__file__).parent

# From the ground up. A module imports only from layers below its own, inside functions too.
LAYERS = (
    {"errors"},
    {"sstable", "protos"},
    {"bundle"},
    {"keys"},
    {"object_graph"},
    {"tensorflow_private"},
    {"checkpoint", "live"},
    {"roles"},
    {"tree"},
    {"text", "payload"},
    {"dot"},
    {"api"},
    {"explorer", "cli"},
    {"__init__"},
)


def test_every_module_has_a_layer() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert modules == set().union(*LAYERS)


def test_imports_point_down_only() -> None:
    height = {module: level for level, layer in enumerate(LAYERS) for module in layer}
    upward = [
        f"{module} imports {imported}"
        for module in height
        for imported in _imports_of(module)
        if height[imported] >= height[module]
    ]
    assert upward == []


def test_only_the_live_side_names_tensorflow() -> None:
    naming = {
        path.stem
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(name.split(".")[0] in ("tensorflow", "keras") for name in _names(node))
    }
    assert naming == set()  # tensorflow_private looks its names up with import_module


def _imports_of(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(node):
                if name.startswith("ckpt_viz."):
                    yield name.split(".")[1]


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.module == "ckpt_viz":
        return [f"ckpt_viz.{alias.name}" for alias in node.names]
    return [node.module or ""]
