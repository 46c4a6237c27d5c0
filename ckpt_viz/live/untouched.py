"""Keeps live objects as they were while TensorFlow's own code looks at them.

Even listing an object's children writes: `Trackable._maybe_initialize_trackable` adds its
bookkeeping, tf_keras optimizers keep the children they listed first and never look again,
and list and dict wrappers remember for good that somebody changed what they wrap, though
it may be changed back before the next save.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ckpt_viz.live.tensorflow_private import asks_itself_alone, is_childless

# What TensorFlow's and Keras' listing of children writes; other attributes may change because
# the program goes on in another thread, and are left alone. All names of Trackable's own
# bookkeeping begin alike (trackable/base.py); list wrappers (trackable/data_structures.py)
# and tf_keras optimizers (optimizers/optimizer.py) add theirs, and a sharded variable tells its
# shards whose they are (distribute/sharded_variable.py).
_BOOKKEEPING = "_self_"
# What most attributes of a variable are: asking these takes longest.
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})
_WRITTEN = frozenset(
    {
        "_coalesced_children",
        "_external_modification_value",
        "_last_wrapped_list_snapshot",
        "_sharded_container",
    }
)
# What a dict wrapper remembers of changes. It is a proxy, of which older versions of wrapt
# give no `__dict__` of its own (trackable/data_structures.py).
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


def trackable_attributes(obj: object) -> dict[str, Any]:
    """Return the object's own attributes that TensorFlow could ask for children."""
    return {
        name: value
        for name, value in instance_dict(obj).items()
        if type(value) not in _PLAIN and hasattr(type(value), "_trackable_children")
    }


class Untouched:
    """Remembers objects before their code runs, and puts back what it wrote to them.

    Until then what was written stays: an optimizer that lists its children twice lists the
    same objects.
    """

    def __init__(self) -> None:
        self._remembered: dict[int, tuple[Any, dict[str, Any], dict[str, Any]]] = {}

    def remember(self, obj: object) -> None:
        """Remember an object and the trackables among its attributes, which it may ask."""
        if id(obj) not in self._remembered:
            self._remember(obj)
        cls: Any = type(obj)
        if asks_itself_alone(cls):
            return
        for value in trackable_attributes(obj).values():
            # Most are childless: nobody asks them for children.
            if id(value) not in self._remembered and not is_childless(value):
                self._remember(value)

    def restore(self) -> None:
        """Make what was written to the remembered objects what it was."""
        for obj, before, proxy_state in self._remembered.values():
            attributes = instance_dict(obj)
            for name in _names_written(tuple(attributes)):
                if name not in before:
                    del attributes[name]
            attributes.update(before)
            for name, value in proxy_state.items():
                setattr(obj, name, value)

    def _remember(self, obj: object) -> None:
        written = _written(instance_dict(obj))
        self._remembered[id(obj)] = (obj, written, _proxy_state(obj))


@contextmanager
def untouched() -> Iterator[Untouched]:
    """Give a memory of objects, which are made what they were at the end."""
    memory = Untouched()
    try:
        yield memory
    finally:
        memory.restore()


def _written(attributes: dict[str, Any]) -> dict[str, Any]:
    names = _names_written(tuple(attributes))
    return {name: attributes[name] for name in names if name in attributes}


@lru_cache(maxsize=1024)  # objects of a class mostly have the same attributes
def _names_written(names: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(
        name
        for name in names
        if isinstance(name, str) and (name in _WRITTEN or name.startswith(_BOOKKEEPING))
    )


def _proxy_state(obj: object) -> dict[str, Any]:
    if not hasattr(type(obj), "_check_self_external_modification"):
        return {}
    return {name: getattr(obj, name) for name in _PROXY_STATE if hasattr(obj, name)}
