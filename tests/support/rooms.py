"""The wings of the package and their rooms, in their order, and a picture of them.

`python -m tests.support.rooms` prints the picture for ARCHITECTURE.md.
"""

import ast
from functools import cache
from pathlib import Path

import ckpt_viz

PACKAGE = Path(ckpt_viz.__file__).parent

# Wing by wing and layer by layer, from the ground up. A module imports from its own room and from
# lower layers, even inside functions. The rooms of a layer do not know each other.
WINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ground": (
        ("ground.text", "ground.wording", "ground.gc_pause", "ground.interrupts"),
        ("errors",),
        ("ground.expressions",),
    ),
    "formats": (
        ("formats.arrays", "formats.storage"),
        ("formats.kinds",),
        ("formats.bundles",),
        ("formats.hdf5_files", "formats.orbax"),
    ),
    "graphs": (
        ("graphs.nodes",),
        ("graphs.slots",),
        ("graphs.layers",),
        ("graphs.object_graph",),
        ("graphs.overlay",),
        ("graphs.search", "graphs.edits"),
        ("graphs.render",),
    ),
    "files": (
        ("files.keras_files",),
        ("files.saved",),
        ("files.values",),
    ),
    "matching": (
        ("matching.engines", "matching.name_rules"),
        ("matching.story", "matching.correspondence"),
        ("matching.changes", "matching.restore_table"),
    ),
    "live": (
        ("live.tensorflow_names",),
        ("live.sessions",),
        ("live.objects",),
        ("live.restoring", "live.keras"),
        ("live.state",),
        ("live.writing",),
        ("live.sources",),
    ),
    "answers": (
        ("answers.dry_runs",),
        ("answers.short_code", "answers.table"),
        ("answers.evidence",),
        ("answers.rules", "answers.timeline"),
        ("answers.restore_check",),
        ("answers.restore_fix", "answers.graph_diff", "answers.load_check"),
    ),
    "entrances": (
        ("api",),
        ("entrances.jupyter",),
        ("program", "entrances.server", "entrances.web", "__init__"),
        ("entrances.commands",),
        ("cli",),
        ("__main__",),
    ),
}
LAYERS = [layer for layers in WINGS.values() for layer in layers]

# A module, what it imports from a higher layer, and why. The list may only become shorter.
EXCEPTIONS = {
    ("answers.restore_check.check_result", "entrances.jupyter.kernel_run"): (
        "a check shows itself in a notebook"
    ),
    ("answers.restore_check.check_result", "answers.restore_fix.fix"): "a check offers its fix",
    ("answers.timeline.history", "answers.graph_diff.diff_result"): (
        "a history compares two of its checkpoints"
    ),
    ("answers.timeline.history", "entrances.jupyter.history_view"): (
        "a history shows itself in a notebook"
    ),
    ("answers.timeline.history", "entrances.jupyter.kernel_run"): (
        "a history shows itself in a notebook"
    ),
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
    """Return the room of a module: its package in a wing, or the module itself.

    >>> room_of("answers.rules.raising"), room_of("ground.text"), room_of("api")
    ('answers.rules', 'ground.text', 'api')
    """
    return ".".join(module.split(".")[:2])


def layer_of(module: str) -> int:
    """Return the number of a module's layer, from the ground up."""
    (layer,) = (number for number, rooms in enumerate(LAYERS) if room_of(module) in rooms)
    return layer


def picture() -> str:
    """Return the wings with their rooms, the ground last, and the layers of a wing by arrows."""
    return "\n".join(line for wing in reversed(WINGS) for line in _lines_of(wing))


def _lines_of(wing: str) -> list[str]:
    layers = [" ".join(map(name_of, layer)) for layer in reversed(WINGS[wing])]
    return [f"{wing + '/':<12}{sentence_of(wing)}", f"{'':<12}{' → '.join(layers)}"]


def name_of(room: str) -> str:
    """Return how people call a room of a wing.

    >>> name_of("answers.rules"), name_of("ground.text"), name_of("__init__")
    ('rules', 'text', 'ckpt_viz')
    """
    return "ckpt_viz" if room == "__init__" else room.split(".")[-1]


def sentence_of(wing: str) -> str:
    """Return the first sentence of the docstring of a wing."""
    documentation = ast.get_docstring(
        ast.parse((PACKAGE / wing / "__init__.py").read_text("utf-8"))
    )
    return (documentation or "").splitlines()[0]


if __name__ == "__main__":
    print(picture())
