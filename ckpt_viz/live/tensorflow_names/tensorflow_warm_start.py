"""The private TensorFlow names that a warm start needs.

As in `tensorflow_private`, functions look them up, each behind its guard.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ckpt_viz.live.tensorflow_names.tensorflow_private import (
    default_graph,
    is_eager_now,
    is_variable,
    private,
)


def store() -> Mapping[str, Any]:
    """Return the variables in the default graph's variable store; make none if there is none."""
    stores = default_graph().get_collection(private("ops.variable_scope", "_VARSTORE_KEY"))
    return dict(stores[0]._vars) if stores else {}


def global_variables(scope: str | None = None) -> list[Any]:
    """Return the global variables of the default graph whose name begins with a pattern."""
    return _collection("GLOBAL_VARIABLES", scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Return the trainable variables of the default graph whose name begins with a pattern."""
    return _collection("TRAINABLE_VARIABLES", scope)


def _collection(name: str, scope: str | None) -> list[Any]:
    key = getattr(private("framework.ops", "GraphKeys"), name)
    return [item for item in default_graph().get_collection(key, scope) if is_variable(item)]


def is_finalized() -> bool:
    """Return whether the default graph takes no more operations."""
    return not is_eager_now() and bool(default_graph().finalized)


def file_of(path: Any) -> Any:
    """Return the checkpoint that a path means: of a directory the latest; None if it has none."""
    return private("training.checkpoint_utils", "_get_checkpoint_filename")(path)


def keys_by_name(file: Any) -> dict[str, str] | None:
    """Return an object-based checkpoint's keys by the full names; None for one without objects."""
    try:
        keys: dict[str, str] = private("training.saver", "object_graph_key_mapping")(file)
    except private("framework.errors_impl", "NotFoundError"):
        return None
    return keys
