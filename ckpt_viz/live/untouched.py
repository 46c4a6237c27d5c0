"""Keeps live objects as they were while TensorFlow's own code looks at them.

Even listing an object's children writes: `Trackable._maybe_initialize_trackable` adds its
bookkeeping, tf_keras optimizers keep the children they listed first and never look again,
and list and dict wrappers remember for good that somebody changed what they wrap, though
it may be changed back before the next save.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


# What a dict wrapper remembers of changes. It is a proxy, of which older versions of wrapt
# give no `__dict__` of its own (tensorflow/python/trackable/data_structures.py).
_PROXY_STATE = ("_self_external_modification", "_self_last_wrapped_dict_snapshot")


def instance_dict(obj: object) -> dict[str, Any]:
    """Return the object's own `__dict__`, whatever its class makes of attribute access.

    Empty for an object that has none; of a proxy its own, not that of what it wraps. Runs no
    property and no `__getattr__`.
    """
    try:
        found = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def untouched(obj: object) -> Iterator[None]:
    """Undo, at the end, what was written to the object's own attributes in between."""
    attributes = instance_dict(obj)
    before = dict(attributes)
    proxy_state = {name: getattr(obj, name) for name in _proxy_state(obj)}
    try:
        yield
    finally:
        if not _same(attributes, before):
            attributes.clear()
            attributes.update(before)
        for name, value in proxy_state.items():
            setattr(obj, name, value)


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return len(left) == len(right) and all(
        name in right and value is right[name] for name, value in left.items()
    )


def _proxy_state(obj: object) -> tuple[str, ...]:
    is_wrapper = hasattr(type(obj), "_check_self_external_modification")
    return _PROXY_STATE if is_wrapper else ()
