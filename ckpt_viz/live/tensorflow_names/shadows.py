"""Lists the children of live objects without a trace: TensorFlow's code runs on their shadows.

Even listing children writes. `Trackable._maybe_initialize_trackable` adds bookkeeping. Keras 3
layers stop tracking for that moment. tf_keras optimizers keep the children that they listed first.
List and dict wrappers remember for ever that they looked changed. Undoing such writes later would
be worse: a program that continues in another thread has used them by then. So they go to a shadow,
which has the object's class and a copy of its attributes.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from types import MemberDescriptorType
from typing import Any, Generic, TypeVar

from ckpt_viz.errors import SourceError
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import wrappers

T = TypeVar("T")

# The types of most attributes of a variable: asking these takes longest.
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})
# The time to wait, in seconds, for a thread in the middle of a change. An append takes
# microseconds, and a thread gets its turn within 5 ms. All waits together have a limit, because a
# container that is really broken remains so.
_PAUSES = (0.0, 0.001, 0.005, 0.02)
_PATIENCE = 0.3
_CHANGED_WHILE_READ = ("changed size during iteration", "changed during iteration", "mutated")


def instance_dict(obj: object) -> dict[str, Any]:
    """Return the object's own `__dict__`, regardless of how its class handles attribute access.

    Empty for an object that has none; for a proxy its own, not that of the wrapped object. Runs no
    property and no `__getattr__`. It is not a copy: other threads may change it any time.
    """
    try:
        own = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return own if isinstance(own, dict) else {}


def trackable_attributes(obj: object) -> dict[str, Any]:
    """Return the object's own attributes that TensorFlow could ask for children."""
    return {
        name: value for name, value in instance_dict(obj).copy().items() if _is_trackable(value)
    }


def _is_trackable(value: object) -> bool:
    return type(value) not in _PLAIN and hasattr(type(value), "_trackable_children")


@lru_cache(maxsize=1024)
def slots_of(cls: type) -> tuple[MemberDescriptorType, ...]:
    """Return the descriptors of attributes that instances hold outside of their `__dict__`."""
    return tuple(
        descriptor
        for base in cls.__mro__
        if "__slots__" in vars(base)
        for descriptor in vars(base).values()
        if isinstance(descriptor, MemberDescriptorType)
    )


class Shadows:
    """Asks objects for their children, or for one by its name, and leaves no trace in them.

    It asks an object with its own listing code only once: some create new children each time,
    for example the wrapper of a plain list. It keeps such children alive for that long.
    """

    def __init__(self) -> None:
        self._listed: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._shadows: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}  # with the shadow, whose id is the key
        self._silenced: dict[type, type | None] = {}
        self._patience = _PATIENCE

    def children(self, obj: Any) -> dict[str, Any]:
        """Return the trackables that TensorFlow would list, by local name.

        Raises what listing them raises: the object's own code may raise anything.
        """
        cls: Any = type(obj)
        if tf_private.asks_itself_alone(cls):
            return tf_private.tracked(obj)
        known = self._listed.get(id(obj))
        if known is None:
            known = self._listed[id(obj)] = (obj, self._list(obj))
        return dict(known[1])

    def lookup(self, obj: Any, name: str, children: Mapping[str, Any] | None = None) -> Any:
        """Return the result of the object's `_lookup_dependency`; raise what that raises."""
        if tf_private.looks_up_children_only(obj):
            return children.get(name) if children else tf_private.tracked_by_name(obj).get(name)
        return self._original(self._of(obj)._lookup_dependency(name, children))

    def _list(self, obj: Any) -> dict[str, Any]:
        for pause in _PAUSES:
            try:
                return self._list_now(obj)
            except (RuntimeError, ValueError) as error:
                if self._patience <= 0 or not _may_pass(obj, error):
                    raise
            self._shadows.clear()
            self._patience -= pause
            time.sleep(pause)
        return self._list_now(obj)

    def _list_now(self, obj: Any) -> dict[str, Any]:
        if wrappers.is_unchanged(obj):
            return tf_private.tracked(obj)
        listed = self._of(obj)._trackable_children(tf_private.save_type())
        return {
            name: tf_private.as_trackable(self._original(child), obj)
            for name, child in tuple(listed.items())
        }

    def _original(self, result: Any) -> Any:
        """Return the result of a shadow's code, with the objects in place of their shadows.

        Plain containers are copied, because TensorFlow's wrappers of them would replace items.
        """
        if type(result) in (dict, OrderedDict):
            return type(result)((key, self._original(item)) for key, item in result.items())
        if type(result) in (list, tuple):
            return type(result)(map(self._original, result))
        return self._originals[id(result)][1] if id(result) in self._originals else result

    # --- shadows

    def _of(self, obj: Any) -> Any:
        """Return an object's shadow; the object itself if it cannot have one."""
        if id(obj) not in self._shadows:
            self._make_with_what_it_asks(obj)
        shadow = self._shadows[id(obj)][1]
        shadow._maybe_initialize_trackable()
        return shadow

    def _make_with_what_it_asks(self, obj: Any) -> None:
        """Make an object's shadow; its attributes are shadows too if its code may ask them."""
        made = []
        stack = [obj]
        while stack:
            current = stack.pop()
            if id(current) in self._shadows:
                continue
            shadow = self._make(current)
            self._shadows[id(current)] = (current, shadow)
            if shadow is not current:
                self._originals[id(shadow)] = (shadow, current)
                made.append(shadow)
                stack += [value for _, value in _asked_by(shadow)]
        for shadow in made:
            for put, value in _asked_by(shadow):
                put(self._shadows[id(value)][1])

    def _make(self, obj: Any) -> Any:
        wrapper = wrappers.shadow_of(obj)
        if wrapper is not None:
            return wrapper
        original: Any = type(obj)
        cls = self._without_finalizer(original)
        try:
            shadow = object.__new__(cls) if cls is not None else obj
        except TypeError:  # a class written in C
            return obj
        own = instance_dict(shadow)
        if own is not instance_dict(shadow):  # it hides the attributes of its instances
            return obj
        if shadow is not obj:
            own.update(instance_dict(obj))
            for slot in slots_of(original):
                with suppress(AttributeError):  # not set
                    slot.__set__(shadow, slot.__get__(obj))
        return shadow

    def _without_finalizer(self, cls: type) -> type | None:
        """Return a class without `__del__`: a shadow must not free its object's resources.

        None for a class whose subclasses run their own code on creation.
        """
        if not hasattr(cls, "__del__"):
            return cls
        if cls not in self._silenced:
            hook = getattr(cls.__init_subclass__, "__func__", None)
            silent = {"__del__": lambda self: None, "__module__": cls.__module__}
            self._silenced[cls] = (
                type.__new__(type(cls), cls.__name__, (cls,), silent)
                if hook in (None, vars(Generic)["__init_subclass__"].__func__)
                else None
            )
        return self._silenced[cls]


def _asked_by(shadow: Any) -> list[tuple[Callable[[Any], None], Any]]:
    """Return the attributes that a shadow's code may ask for children, and their replacements."""
    cls: Any = type(shadow)
    if tf_private.asks_itself_alone(cls):
        return []
    delegates = not tf_private.initializes_itself(cls)
    own = instance_dict(shadow)
    held: list[tuple[Callable[[Any], None], Any]] = [
        (partial(own.__setitem__, name), value) for name, value in own.items()
    ]
    for slot in slots_of(cls):
        with suppress(AttributeError):  # not set
            held.append((partial(slot.__set__, shadow), slot.__get__(shadow)))
    return [
        (put, value)
        for put, value in held
        if _is_trackable(value) and (delegates or not tf_private.is_childless(value))
    ]


def _may_pass(obj: Any, error: Exception) -> bool:
    """Return whether an error may come from another thread's change in progress."""
    if isinstance(error, RuntimeError):
        return _has_changed_while_read(error)
    return any(map(wrappers.has_just_changed, (obj, *trackable_attributes(obj).values())))


def _has_changed_while_read(error: RuntimeError) -> bool:
    return any(text in str(error) for text in _CHANGED_WHILE_READ)


def steadily(look: Callable[[], T]) -> T:
    """Return the result of a look, repeated if another thread has interfered.

    Raises SourceError if that happens again and again.
    """
    for _ in _PAUSES:
        try:
            return look()
        except RuntimeError as error:
            if not _has_changed_while_read(error):
                raise
    raise SourceError(
        "found objects that another thread changes faster than they can be read; expected a moment "
        "in between: call again, or pause the thread that builds them"
    )
