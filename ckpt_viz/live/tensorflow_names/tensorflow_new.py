"""New objects of TensorFlow that hold objects of a program, without writing to these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ckpt_viz.graphs.nodes.nodes import SAVE_COUNTER
from ckpt_viz.live.tensorflow_names.shadows import Shadows
from ckpt_viz.live.tensorflow_names.tensorflow_private import (
    private,
)


def new_checkpoint(root: Any, children: Mapping[str, Any]) -> Any:
    """Return a new Checkpoint of these objects, without writing to them.

    TensorFlow's own constructor adds bookkeeping to its arguments. Raises ValueError as it does. It
    ignores a root that is false, such as an empty list.
    """
    checkpoint = private("checkpoint.checkpoint", "Checkpoint")()
    if root is None or not root:
        return _tracking(checkpoint, dict(sorted(children.items())))
    shadows, attached = Shadows(), []
    for name, child in sorted({**children, "root": root}.items()):
        own = shadows.lookup(root, name)
        if own is None:
            attached.append(private("trackable.base", "TrackableReference")(name, child))
        elif own is not child:
            raise ValueError(f"root.{name} already exists")
    checkpoint._save_counter = checkpoint._no_dependency(shadows.lookup(root, SAVE_COUNTER))
    view = private("checkpoint.graph_view", "ObjectGraphView")(root, attached_dependencies=attached)
    checkpoint._saver = private("checkpoint.checkpoint", "TrackableSaver")(view)
    return checkpoint


def new_list(items: Sequence[Any]) -> Any:
    """Return a tracked list of these objects, without writing to them."""
    made = private("trackable.data_structures", "ListWrapper")([])
    made._storage.extend(items)
    made._update_snapshot()
    return _tracking(made, {str(index): item for index, item in enumerate(items)})


def new_dict(items: Mapping[str, Any]) -> Any:
    """Return a tracked dict of these objects, without writing to them."""
    return _tracking(private("trackable.data_structures", "_DictWrapper")({}), items)


def _tracking(holder: Any, children: Mapping[str, Any]) -> Any:
    holder._maybe_initialize_trackable()
    for name, child in children.items():
        reference = private("trackable.base", "TrackableReference")(name, child)
        holder._self_unconditional_checkpoint_dependencies.append(reference)
        holder._self_unconditional_dependency_names[name] = child
    return holder
