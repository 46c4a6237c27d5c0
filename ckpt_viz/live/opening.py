"""The path of a checkpoint as `restore` takes it: exactly as it is given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckpt_viz.live import tensorflow_restore as tf_restore
from ckpt_viz.matching.saved_graph import not_found
from ckpt_viz.matching.trace import Cause, Failure
from ckpt_viz.object_graph.nodes import Stored


@dataclass(frozen=True)
class Opened:
    """What TensorFlow's reader finds at a path.

    `prefix` is the checkpoint that it opens: of a SavedModel's directory the one in it. Without
    an object graph it is name-based, and `tensors` are all that it has. `failure` is what
    opening it raises.
    """

    prefix: str
    failure: Failure | None = None
    tensors: Mapping[str, Stored] | None = None


def open_as_restore(path: object, *, resolves: bool) -> Opened:
    """Return what `restore` finds at a path.

    `resolves` says that the call is `tf.train.Checkpoint.restore`, which knows SavedModels and
    words what is not found anew.
    """
    try:
        given: Any = os.fspath(path) if isinstance(path, os.PathLike) else path
        prefix = (tf_restore.variables_of_saved_model(given) if resolves else None) or given
        reader = tf_restore.new_reader(prefix)
        found = tf_restore.graph_in(reader)
    except Exception as error:
        message = str(getattr(error, "message", None) or error)
        name = type(error).__name__
        if name == "NotFoundError" and resolves:
            message = not_found(str(path), message)
        return Opened(str(path), Failure(Cause.READER, name, message))
    if found is not None:
        return Opened(_text(prefix))
    tensors = {
        name: Stored(dtype, shape) for name, (dtype, shape) in tf_restore.tensors_in(reader).items()
    }
    return Opened(_text(prefix), tensors=tensors)


def _text(path: object) -> str:
    return path.decode() if isinstance(path, bytes) else str(path)
