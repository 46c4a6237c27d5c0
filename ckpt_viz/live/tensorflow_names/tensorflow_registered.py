"""Savers that a program registers for its classes, by TensorFlow's own names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckpt_viz.live.tensorflow_names.tensorflow_private import private


def saver_refuses(obj: object, saver_name: str) -> tuple[str, bool] | None:
    """Return why a saver of this name cannot restore the object; None if it can.

    Also return whether `restore` raises for it. It does not raise for an unknown saver, which
    TensorFlow logs, or one that is registered with strict_predicate_restore=False. Raises
    LookupError if TensorFlow does so for an unknown one (2.15).
    """
    try:
        private("saved_model.registration", "validate_restore_function")(obj, saver_name)
    except ValueError as error:
        strict = private("saved_model.registration", "get_strict_predicate_restore")(saver_name)
        return str(error), bool(strict)
    return None


def another_variable(dtype: str) -> Any:
    """Return a variable like the one that the restore would make, for a saver's predicate.

    It is in a graph of its own, so that the user's graph does not change.
    """
    with private("framework.ops", "Graph")().as_default():
        return private("ops.variables", "Variable")(0, dtype=dtype)


def registered_saver_name(obj: object) -> str | None:
    """Return the name of the saver with which the object's class is registered."""
    # As `get_registered_saver_name`, which raises and catches an error for each object without a
    # saver.
    registry = private("saved_model.registration.registration", "_saver_registry")
    predicates: dict[str, Callable[[object], bool]] = registry.get_registrations()
    try:
        return next((name for name in reversed(predicates) if predicates[name](obj)), None)
    except LookupError:
        return None
