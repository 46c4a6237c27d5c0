"""The rooms of the package in their order, and a picture of them.

`python -m tests.support.rooms` prints the picture for CONTRIBUTING.md.
"""

import ast
from functools import cache
from pathlib import Path

import ckpt_viz

PACKAGE = Path(ckpt_viz.__file__).parent

# Part by part and layer by layer, from the ground up. A module imports from its own room and from
# lower layers, even inside functions. The rooms of a layer do not know each other.
PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Ground: what all others use": (
        ("text", "wording", "gc_pause", "interrupts"),
        ("errors",),
    ),
    "Files and graphs: from bytes to nodes, and questions about nodes": (
        ("expressions", "formats"),
        ("object_graph",),
        ("keras_files",),
        ("matching", "search", "saved"),
        ("correspondence", "render", "story", "edits"),
        ("changes", "restore_table"),
    ),
    "Sources: values, the objects of a running program, and any of them as a graph": (
        ("values",),
        ("live",),
        ("writing",),
        ("sources",),
    ),
    "Answers: what a restore does, how to fix it, and what changed": (
        ("restore_check", "timeline"),
        ("restore_fix", "graph_diff", "load_check"),
    ),
    "Entrances: where users and JupyterLab come in": (
        ("api",),
        ("jupyter",),
        ("program", "server", "web", "__init__"),
        ("commands",),
        ("cli",),
    ),
}
LAYERS = [layer for layers in PARTS.values() for layer in layers]

# A module, what it imports from a higher layer, and why. The list may only become shorter.
EXCEPTIONS = {
    ("restore_check.check_result", "jupyter.kernel_run"): "a check shows itself in a notebook",
    ("restore_check.check_result", "restore_fix.fix"): "a check offers its fix",
    ("timeline.history", "graph_diff.diff_result"): "a history compares two of its checkpoints",
    ("timeline.history", "jupyter.history_view"): "a history shows itself in a notebook",
    ("timeline.history", "jupyter.kernel_run"): "a history shows itself in a notebook",
}


@cache
def modules() -> dict[str, Path]:
    """Return the package's modules by dotted name, subpackages without their `__init__`."""
    paths = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if not name.endswith(".__init__"):
            paths[name] = path
    return paths


def room_of(module: str) -> str:
    """Return the room of a module: its package, or the module itself.

    >>> room_of("restore_check.rules.roots"), room_of("text")
    ('restore_check', 'text')
    """
    return module.split(".")[0]


def layer_of(module: str) -> int:
    """Return the number of a module's layer, from the ground up."""
    (layer,) = (number for number, rooms in enumerate(LAYERS) if room_of(module) in rooms)
    return layer


def picture() -> str:
    """Return all rooms, the ground last, each with the first sentence of its docstring."""
    blocks = []
    for part, layers in reversed(PARTS.items()):
        lines = [line for layer in reversed(layers) for line in _lines_of(layer)]
        blocks.append("\n".join([part, *lines]))
    return "\n\n".join(blocks)


def _lines_of(layer: tuple[str, ...]) -> list[str]:
    numbers = [f"{LAYERS.index(layer) + 1:>4}", *["    "] * (len(layer) - 1)]
    return [
        f"{number}  {name_of(room):<17}{sentence_of(room)}"
        for number, room in zip(numbers, layer, strict=True)
    ]


def name_of(room: str) -> str:
    """Return how people call a room: a package with a slash."""
    if room == "__init__":
        return "ckpt_viz"
    return f"{room}/" if (PACKAGE / room).is_dir() else room


def sentence_of(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    path = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
    documentation = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return documentation.splitlines()[0]


if __name__ == "__main__":
    print(picture())
