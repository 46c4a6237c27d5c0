"""TensorFlow's wrappers of lists, dicts and tuples, read without a trace.

They compare the wrapped object with its state when they last tracked it, and remember for ever if
the two differ (tensorflow/python/trackable/data_structures.py).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ckpt_viz.live.tensorflow_names.tensorflow_private import private

_MODULE = "trackable.data_structures"
# How wrappers of lists and of dicts record changes: two flags, which stay set, and a copy.
_OF_LISTS = (
    "_non_append_mutation_value",
    "_external_modification_value",
    "_last_wrapped_list_snapshot",
)
_OF_DICTS = (
    "_self_non_string_key",
    "_self_external_modification",
    "_self_last_wrapped_dict_snapshot",
)
_OF_TUPLES = "_self_tuple_is_constructable"


def is_unchanged(obj: Any) -> bool:
    """Return whether an object is a wrapper that TensorFlow would save as it was tracked."""
    kind = _kind(type(obj))
    if kind == "tuple":
        return bool(getattr(obj, _OF_TUPLES))
    return kind is not None and not _is_flagged(obj, kind) and _is_as_tracked(obj, kind)


def has_just_changed(obj: Any) -> bool:
    """Return whether a wrapper differs from its tracked state, but has not recorded that yet.

    It was changed from outside, or a thread is changing it at this moment: an append changes the
    list first and the copy afterwards.
    """
    kind = _kind(type(obj))
    return kind in ("list", "dict") and not _is_flagged(obj, kind)


def shadow_of(obj: Any) -> Any:
    """Return a wrapper of the same list or dict with the same record, None for other objects."""
    cls: Any = type(obj)
    kind = _kind(cls)
    if kind == "list":
        shadow: Any = list.__new__(cls)
        vars(shadow).update(vars(obj))
    elif kind == "dict":
        # A proxy: older versions of wrapt give it no `__dict__` of its own.
        shadow = cls.__new__(cls)
        private(_MODULE, "wrapt").ObjectProxy.__init__(shadow, obj.__wrapped__)
        for name in _OF_DICTS:
            # A wrapper that was created broken has no copy
            setattr(shadow, name, getattr(obj, name, None))
    else:
        return None
    # It receives each change and passes it on to the holders.
    shadow._self_attribute_sentinel = private(_MODULE, "layer_utils").AttributeSentinel(True)
    return shadow


def _is_flagged(obj: Any, kind: str) -> bool:
    first, second, _ = _OF_LISTS if kind == "list" else _OF_DICTS
    return bool(getattr(obj, first) or getattr(obj, second))


def _is_as_tracked(obj: Any, kind: str) -> bool:
    """Return whether the items are exactly the tracked objects.

    TensorFlow compares by `==`. With variables, that would run operations.
    """
    if kind == "list":
        before, now = getattr(obj, _OF_LISTS[2]), list(obj._storage)
        return before is not None and are_same_objects(before, now)
    before, now = getattr(obj, _OF_DICTS[2]), obj.__wrapped__.copy()
    return (
        before is not None
        and before.keys() == now.keys()
        and are_same_objects([before[key] for key in now], list(now.values()))
    )


def are_same_objects(left: list[Any], right: list[Any]) -> bool:
    """Return whether two lists hold the same objects, one by one; compare nothing by `==`."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def _kind(cls: Any) -> str | None:
    """Return which wrapper's own code lists the children of a class; None if no wrapper's does."""
    return _listings().get(getattr(cls, "_trackable_children", None))


@cache
def _listings() -> dict[Any, str]:
    names = {"ListWrapper": "list", "_DictWrapper": "dict", "_TupleWrapper": "tuple"}
    return {private(_MODULE, name)._trackable_children: kind for name, kind in names.items()}
