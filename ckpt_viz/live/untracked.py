"""Attributes whose values a checkpoint will not hold, though it looks as if it would.

TensorFlow follows attributes that are trackable, and lists, dicts and tuples of exactly
those types. Variables and layers in a set, a deque, a defaultdict, or in the lists and dicts
of a Keras 3 layer are left out without a word (keras-team/keras#18398).
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.live.untouched import Untouched, instance_dict
from ckpt_viz.object_graph.nodes import NotSaved

_CONTAINERS = (list, tuple, set, frozenset, deque)
_NO_HOLDERS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
)
_PLAIN = frozenset({bool, bytes, float, int, str, type(None)})
_LISTS = ("_tracker", "_layers")  # of Keras 3, of all that a layer holds
_MAX_LOOKED_AT = 10_000  # items below one attribute


def find_not_saved(
    objects: Sequence[Any], memory: Untouched, *, is_layer: Callable[[object], bool]
) -> dict[int, tuple[NotSaved, ...]]:
    """Return, by node id, the attributes that hold values which no node stands for.

    Looks at the objects' own attributes, at containers in them and one object deep into
    what TensorFlow cannot track; runs no property. `objects` are those of the graph, by
    node id; `memory` remembers others that are asked. A value is told of once, by the first
    attribute that holds it.
    """
    known = {id(obj) for obj in objects}
    found: dict[int, tuple[NotSaved, ...]] = {}
    for node_id, obj in enumerate(objects):
        told = []
        for name, value in _attributes(obj):
            if id(value) in known:
                continue
            missed = [t for t in _trackables_in(value) if id(t) not in known]
            unsaved = [t for t in missed if is_layer(t) or _leads_to_a_value(t, known, memory)]
            known.update(map(id, unsaved))
            if unsaved:
                told.append(NotSaved(name, type(value).__name__, len(unsaved)))
        if told:
            found[node_id] = tuple(told)
    return found


def _attributes(obj: object) -> list[tuple[str, Any]]:
    """Return the attributes in the order of their making, the public ones first.

    What Keras 3 lists of a layer's parts comes last: the program has names of its own for them.
    """
    if tf_private.is_variable(obj):
        return []
    attributes = [
        (name, value)
        for name, value in list(instance_dict(obj).items())
        if isinstance(name, str) and not name.startswith("_self_") and type(value) not in _PLAIN
    ]
    return sorted(attributes, key=lambda item: (item[0].startswith("_"), item[0] in _LISTS))


def _trackables_in(value: Any) -> Iterator[Any]:
    """Yield the trackables that a value is, or holds in containers; each once."""
    seen: set[int] = set()
    stack = [(value, 0)]
    while stack and len(seen) < _MAX_LOOKED_AT:
        item, objects_deep = stack.pop()
        if type(item) in _PLAIN or id(item) in seen:
            continue
        seen.add(id(item))
        if tf_private.is_trackable(item):
            yield item
        else:
            deeper, items = _held(item)
            if objects_deep + deeper <= 1:
                stack.extend((held, objects_deep + deeper) for held in items)


def _held(item: Any) -> tuple[int, Iterable[Any]]:
    """Return what an untracked value holds, and whether that lies one object deeper."""
    # By the base classes' own methods, for a subclass may do anything in its; and by the real
    # type, for a proxy says it is what it wraps.
    if issubclass(type(item), dict):
        return 0, _some(dict.values(item))
    for container in _CONTAINERS:
        if issubclass(type(item), container):
            return 0, _some(container.__iter__(item))
    if isinstance(item, _NO_HOLDERS):
        return 0, ()
    return 1, _some(chain(instance_dict(item).values(), _slots(item)))


def _slots(item: object) -> Iterator[Any]:
    """Yield what an object of a class with `__slots__` holds: `variable.ref()`, say."""
    for cls in type(item).__mro__:
        if "__slots__" in vars(cls):
            for descriptor in vars(cls).values():
                if isinstance(descriptor, types.MemberDescriptorType):
                    with suppress(AttributeError):  # not set
                        yield descriptor.__get__(item)


def _some(items: Iterable[Any]) -> list[Any]:
    return list(islice(items, _MAX_LOOKED_AT))


def _leads_to_a_value(obj: Any, known: set[int], memory: Untouched) -> bool:
    """Return whether an object that the graph does not hold has a value that it lacks too."""
    seen = {id(obj)}
    stack = [obj]
    while stack and len(seen) < _MAX_LOOKED_AT:
        item = stack.pop()
        if id(item) in known:
            continue
        if tf_private.is_variable(item):
            return True
        try:
            memory.remember(item)
            children = tf_private.children(item).values()
        except Exception:  # a container that TensorFlow could not save either
            return True
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
    return False
