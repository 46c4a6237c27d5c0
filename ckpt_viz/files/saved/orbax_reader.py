"""Orbax checkpoints: directories of Keras' OrbaxCheckpoint, and those of other programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, UnsupportedError
from ckpt_viz.files.saved.location import Files, FormatReader, Location
from ckpt_viz.files.saved.saved_access import graph_at
from ckpt_viz.files.saved.writers import OF_ORBAX, OF_ORBAX_IN_KERAS
from ckpt_viz.formats.orbax.orbax_names import MANIFEST, METADATA
from ckpt_viz.formats.storage import confinement
from ckpt_viz.formats.storage.files import File, is_file, join, list_directory, split
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format

# What reads the files is imported when a checkpoint is met.
OF_STEP = "_CHECKPOINT_METADATA"
_CONFIG = "model_config"  # the texts in which Keras saves the configuration of a model
_USUAL = ("default", "pytree", "state", "params")  # names of trees
_MOST_ITEMS = 100  # names in the directory of a checkpoint
_MOST_STEPS = 10_000
_STEP = re.compile(r"(?:.*[_-])?([0-9]{1,18})", re.DOTALL)


def orbax_at(path: str) -> Location | None:
    """Return the checkpoint in a directory: one of its steps, or a tree of one; None for others."""
    if is_there(join(path, METADATA)):
        above = split(path.rstrip("/"))[0]
        if above and is_there(join(above, OF_STEP)):
            resolved = f"{path} is a tree of the Orbax checkpoint {above}"
            return Location(path, above, ORBAX, resolved=resolved)
        return Location(path, path, ORBAX)
    return Location(path, path, ORBAX) if is_there(join(path, OF_STEP)) else None


def old_orbax_at(path: str) -> Location | None:
    """Return the checkpoint in a directory of which only its usual names tell that it is one."""
    return Location(path, path, ORBAX) if any(_is_tree(path, name) for name in _USUAL) else None


def is_there(path: str) -> bool:
    """Return whether a file may be read; False also if that cannot be known."""
    with confinement.unremembered(), suppress(CkptVizError, OSError):
        return is_file(path)
    return False


def steps_in(directory: str) -> list[str]:
    """Return the names of the steps in a directory of Orbax checkpoints, by their numbers."""
    numbered = ((_STEP.fullmatch(name), name) for name in list_directory(directory or "."))
    names = sorted((int(match[1]), name) for match, name in numbered if match is not None)
    there = (name for _, name in reversed(names[-_MOST_STEPS:]) if _is_at(join(directory, name)))
    return list(there)[::-1]


def run_of(step: str) -> tuple[str, bool]:
    """Return the directory that a step is in, and whether the step is its latest."""
    directory, name = split(step.rstrip("/"))
    directory = directory or "."
    return directory, steps_in(directory)[-1:] == [name]


def _is_at(path: str) -> bool:
    return orbax_at(path) is not None or old_orbax_at(path) is not None


def _is_tree(path: str, name: str) -> bool:
    return is_there(join(join(path, name), METADATA))


def _trees(path: str) -> Mapping[str, str]:
    """Return the directories of the trees of a checkpoint, by the trees' names."""
    if is_there(join(path, METADATA)):
        return {"": path}
    names = islice(list_directory(path), _MOST_ITEMS)
    items = {name: join(path, name) for name in names if _is_tree(path, name)}
    return {name: place for name, place in items.items() if name != _CONFIG} or items


def _holds(file: File) -> bool:
    return False


def _in_file(path: str) -> Location | None:
    directory, name = split(path)
    if name not in (METADATA, OF_STEP, MANIFEST):
        return None
    location = orbax_at(directory or ".")
    if location is None:
        raise CheckpointNotFoundError(
            f"{path}: a file of an Orbax checkpoint whose tree is missing; expected a directory "
            f"with a file {METADATA} beside it"
        )
    resolved = f"{path} is a file of the Orbax checkpoint {location.prefix}"
    return replace(location, given=path, resolved=resolved)


def _files_of(location: Location) -> Files:
    trees = list(_trees(location.prefix).values())
    index = join(trees[0], METADATA) if trees else None
    return Files(index, tuple(join(tree, name) for tree in trees for name in (METADATA, MANIFEST)))


def _read(location: Location, meta: str | None) -> Graph:
    from ckpt_viz.files.keras_files.orbax_layout import nodes_of_keras, nodes_of_tree
    from ckpt_viz.files.keras_files.orbax_tree import OF_KERAS, OrbaxFiles, open_trees

    path = location.prefix
    trees = _trees(path)
    if not trees:
        raise UnsupportedError(
            f"{path}: an Orbax checkpoint without a tree of values; expected a directory in it "
            f"with a file {METADATA}"
        )
    if OF_KERAS in trees:  # assets beside it are no variables
        files = OrbaxFiles(path, open_trees({OF_KERAS: trees[OF_KERAS]}))
        if files.are_of_keras:
            nodes, calls = nodes_of_keras(files, _config(path))
            graph = graph_at(location, files, nodes, Format.KERAS_ORBAX, writer=OF_ORBAX_IN_KERAS)
            return replace(graph, calls=calls)
    files = OrbaxFiles(path, open_trees(trees))
    return graph_at(location, files, nodes_of_tree(files), Format.ORBAX, writer=OF_ORBAX)


def _config(path: str) -> Mapping[str, Any] | None:
    """Return the configuration of a model; None if only its weights were saved."""
    from ckpt_viz.files.keras_files.bounded_json import mapping_in
    from ckpt_viz.files.keras_files.orbax_tree import strings_in

    directory = join(path, _CONFIG)
    text = strings_in(directory).get("config") if is_there(join(directory, METADATA)) else None
    if not isinstance(text, str):
        return None
    return mapping_in(f"{directory}: config", text.encode("utf-8", "backslashreplace"))


ORBAX = FormatReader("Orbax", _is_at, _holds, _in_file, _files_of, _read)
