"""The path of a checkpoint as `restore` takes it: exactly the given path."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names.tensorflow_private import text_of
from ckpt_viz.matching.engines.saved_graph import not_found
from ckpt_viz.matching.engines.trace import Cause, Failure


@dataclass(frozen=True)
class Opened:
    """The checkpoint that TensorFlow's reader finds at a path.

    `prefix` is the checkpoint that it opens; for a SavedModel's directory, the one in it. Without
    an object graph it is name-based and has only `tensors`. `failure` is the error from opening it.
    """

    prefix: str
    failure: Failure | None = None
    tensors: Mapping[str, Stored] | None = None


def open_as_restore(path: object, *, resolves: bool, takes_path_objects: bool = True) -> Opened:
    """Return the checkpoint that `restore` finds at a path.

    `resolves` says that the call is `tf.train.Checkpoint.restore`, which knows SavedModels and
    rewords "not found". The one of TensorFlow 1 accepts only strings.
    """
    try:
        is_path_object = takes_path_objects and isinstance(path, os.PathLike)
        given: Any = os.fspath(path) if is_path_object else path  # type: ignore[call-overload]
        prefix = (tf_restore.variables_of_saved_model(given) if resolves else None) or given
        reader = tf_restore.new_reader(prefix)
        serialized = tf_restore.graph_in(reader)
    except Exception as error:
        message = str(getattr(error, "message", None) or error)
        name = type(error).__name__
        if name == "NotFoundError" and resolves:
            message = not_found(str(path), message)
        return Opened(str(path), Failure(Cause.READER, name, message))
    if serialized is not None:
        return Opened(text_of(prefix))
    return Opened(text_of(prefix), tensors=_tensors_in(reader, text_of(prefix)))


def open_by_keys(prefix: Any) -> Opened:
    """Return the tensors of a checkpoint by key, whether it has an object graph or not."""
    try:
        reader = tf_restore.new_reader(prefix)
    except Exception as error:
        message = str(getattr(error, "message", None) or error)
        return Opened(str(prefix), Failure(Cause.READER, type(error).__name__, message))
    return Opened(text_of(prefix), tensors=_tensors_in(reader, text_of(prefix)))


def _tensors_in(reader: Any, prefix: str) -> Mapping[str, Stored]:
    errors = _errors_in(prefix)
    return {
        name: Stored(dtype, shape, errors(name))
        for name, (dtype, shape) in tf_restore.tensors_in(reader).items()
    }


def _errors_in(prefix: str) -> Callable[[str], str | None]:
    """Return what explains why the bytes of a tensor are missing; TensorFlow finds it late."""
    try:
        graph = read_saved(prefix)
    except CkptVizError:  # TensorFlow may read what we cannot
        return lambda name: None

    def error_of(name: str) -> str | None:
        stored = graph.stored(name)
        return stored.error if stored is not None else None

    return error_of
