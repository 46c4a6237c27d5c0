"""Containers of Python and of TensorFlow, opened without running code of their subclasses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

CONTAINERS = (list, tuple, set, frozenset, deque)
MAX_LOOKED_AT = 10_000  # items below one attribute


def items_of(value: Any) -> Sequence[Any] | None:
    """Return the items of a list, dict or the like, including TensorFlow's wrappers; else None."""
    if tf_private.is_data_structure(value):
        try:
            return items_of(object.__getattribute__(value, "__wrapped__"))
        except AttributeError:
            return items_of(instance_dict(value).get("_storage"))
    return plain_items(value)


def plain_items(value: Any) -> Sequence[Any] | None:
    """Return the items of a container of Python; None for any other object."""
    cls: Any = type(value)  # the real class, since a proxy reports that of the wrapped object
    items = _items_by(cls)
    return _some(value, items) if items is not None else None


def is_container(cls: type) -> bool:
    """Return whether a class is one of lists, dicts or the like, but not TensorFlow's wrapper."""
    return _items_by(cls) is not None


@lru_cache(maxsize=1024)
def _items_by(cls: type) -> Callable[[Any], Iterable[Any]] | None:
    """Return what iterates over a container of this class; None if it is not a container.

    It is the base class' own method, because a subclass may do anything in its method.
    """
    if issubclass(cls, dict):
        return dict.values
    return next((base.__iter__ for base in CONTAINERS if issubclass(cls, base)), None)


def _some(container: Any, items: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Return the first items of a container, which another thread may change meanwhile."""
    while True:
        try:
            return list(islice(items(container), MAX_LOOKED_AT))
        except RuntimeError:  # it has changed between the two steps of this line
            continue
