"""Attributes whose values a checkpoint will not hold, although they look as if it would.

TensorFlow follows attributes that are trackable, and lists, dicts and tuples of exactly those
types. It leaves out other containers without an error. Examples are variables and layers in a set,
a deque, a defaultdict, a list or dict of a Keras 3 layer (keras-team/keras#18398). It also leaves
out those in plain objects, plain objects in a list or dict that it follows, and variables on a
class.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from ckpt_viz.live.objects.composed_variables import Known, is_known
from ckpt_viz.live.objects.containers import (
    CONTAINERS,
    MAX_LOOKED_AT,
    is_container,
    items_of,
    plain_items,
)
from ckpt_viz.live.objects.facts import KERAS_3_PARTS, is_layer, is_state_of_keras
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names.packages import is_of_library, package_of
from ckpt_viz.live.tensorflow_names.shadows import Shadows, instance_dict, slots_of

_NO_HOLDERS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
)
_PLAIN = frozenset[type]({bool, bytes, float, int, str, type(None), *_NO_HOLDERS})
_LISTS_OF_KERAS_3 = (*KERAS_3_PARTS, "_metrics", "_seed_generators")
_MAX_DEPTH = 6  # of containers that a first look opens


class Missed(NamedTuple):
    """A trackable that is nowhere in the graph, and the plain object that holds it, if any."""

    trackable: Any
    holder: Any = None


# Says of an attribute of an object, by its name and value, that it need not be looked at.
PassesOver = Callable[[object, str, object], bool]


class Unsaved(NamedTuple):
    """What an attribute of an object holds without a node; `owner` is the position of the object.

    `value` is the attribute's.
    """

    owner: int
    attribute: str
    value: Any
    missed: list[Missed]


def unsaved_in(
    objects: Sequence[Any],
    known: Known,
    shadows: Shadows,
    *,
    passes_over: PassesOver,
    opens_state: bool = False,
) -> Iterator[Unsaved]:
    """Yield what the attributes of objects hold in values without a node.

    Adds what they lead to to `known`. Leaves out attributes that the caller passes over.
    """
    structures = frozenset(id(obj) for obj in objects if tf_private.is_data_structure(obj))
    search = Search(known.ids, set(structures), opens_state=opens_state)
    on_class = cache(_on_class)  # valid as long as no class changes
    for owner, obj in enumerate(objects):
        if id(obj) in structures and (
            id(obj) not in search.followed or not search.leading_on(enumerate(items_of(obj) or ()))
        ):
            continue
        for name, value in _attributes(obj, search, on_class, passes_over):
            if id(value) in known.ids and id(value) not in search.followed:
                continue  # an earlier attribute has led to it
            missed = [m for m in search.trackables_in(value) if not known.has(m.trackable)]
            unsaved = [
                candidate
                for candidate in missed
                if is_layer(candidate.trackable)
                or any(True for _ in unknown_values(candidate.trackable, known.ids, shadows))
            ]
            if unsaved and not _saves_by_own_code(obj):
                yield Unsaved(owner, name, value, unsaved)
            # Their search has led to nothing and would again.
            if missed:
                known.add([candidate.trackable for candidate in missed])


# What the search does with a value: it passes it over, has found one, goes on to the items, or goes
# on to the attributes of the first such object.
_NOTHING, _TRACKABLE, _CONTAINER, _HOLDER = range(4)


class Search:
    """The search for trackables in the values of attributes.

    It decides once for each class what to do with its objects. `known` has the ids of trackables
    that need not be found. `followed` has those of containers that TensorFlow follows: the search
    looks into each once. `opens_state` says that Keras' own state counts as a container.
    """

    def __init__(self, known: set[int], followed: set[int], *, opens_state: bool) -> None:
        self.known = known
        self.followed = followed
        self._opens_state = opens_state
        self._kinds: dict[type, int] = dict.fromkeys(_PLAIN, _NOTHING)
        self._lengths: dict[type, Callable[[Any], int]] = {}  # of containers
        self._opened = 0

    def leading_on(self, values: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return the pairs whose second lead to more than what is known, as a first look finds.

        It takes no notes, so it gives up, and returns the pair, when a value is deep or large.
        """
        self._opened, lengths = 0, self._lengths
        return [
            pair
            for pair in values
            # Most of what Keras keeps is an empty list. What is no container has an id, never 0.
            if lengths.get(type(pair[1]), id)(pair[1]) and not self._is_settled(pair[1], 0)
        ]

    def _is_settled(self, value: Any, depth: int, *, is_held: bool = False) -> bool:
        kind = self._kinds.get(type(value))
        if kind is None:
            kind = self._kind(value)
        if kind == _NOTHING:
            return True
        if kind == _TRACKABLE:
            return id(value) in self.known and id(value) not in self.followed
        if kind == _HOLDER and is_held and not self._is_opened(value):
            return True
        items = plain_items(value) if kind == _CONTAINER else _held_by(value)
        if not items or _PLAIN.issuperset(map(type, items)):
            return True
        if self.known.issuperset(map(id, items)) and self.followed.isdisjoint(map(id, items)):
            return True
        self._opened += len(items)
        if depth == _MAX_DEPTH or self._opened > MAX_LOOKED_AT:
            return False
        is_held = is_held or kind == _HOLDER
        for item in items:
            if type(item) not in _PLAIN and not self._is_settled(item, depth + 1, is_held=is_held):
                return False
        return True

    def _kind(self, value: Any) -> int:
        cls: Any = type(value)
        if tf_private.is_trackable(value):
            kind = _TRACKABLE
        elif is_container(cls):
            kind = _CONTAINER
        else:
            kind = _NOTHING if isinstance(value, _NO_HOLDERS) else _HOLDER
        if not _is_proxy(cls):
            self._kinds[cls] = kind
            if kind == _CONTAINER:  # a subclass may do anything in its own method
                bases = (dict, *CONTAINERS)
                self._lengths[cls] = next(b.__len__ for b in bases if issubclass(cls, b))
        return kind

    def trackables_in(self, value: Any) -> Iterator[Missed]:
        """Yield the trackables that a value is, or holds in containers; each once.

        For a container that TensorFlow follows, yield what it does not follow; and remove the
        container from `followed`, because one look is enough.
        """
        seen: set[int] = set()
        stack: list[tuple[Any, Any]] = [(value, None)]
        while stack and len(seen) < MAX_LOOKED_AT:
            item, holder = stack.pop()
            if type(item) in _PLAIN or id(item) in seen:
                continue
            seen.add(id(item))
            kind = self._kinds.get(type(item))
            if kind is None:
                kind = self._kind(item)
            if id(item) in self.followed:
                self.followed.discard(id(item))
                held = items_of(item) or ()
                stack.extend((child, holder) for child in held if not self._is_node(child))
            elif kind == _TRACKABLE:
                yield Missed(item, holder)
            elif kind == _CONTAINER:
                stack.extend((child, holder) for child in items_of(item) or ())
            elif kind == _HOLDER and (holder is None or self._is_opened(item)):
                stack.extend((child, item) for child in _attributes_to_open(item))

    def _is_opened(self, held: object) -> bool:
        """Return whether to open an object below another one."""
        return self._opens_state and is_state_of_keras(held)

    def _is_node(self, item: Any) -> bool:
        """Return whether an item is a node, or would be one if its container were not broken."""
        return id(item) not in self.followed and tf_private.is_trackable(item)


def _attributes_to_open(holder: object) -> Sequence[Any]:
    """Return the values of an object's attributes, also of those in slots."""
    own = tuple(instance_dict(holder).values())
    cls: Any = type(holder)
    if len(own) <= MAX_LOOKED_AT and not slots_of(cls):
        return own
    return tuple(islice(chain(own, _slots(holder)), MAX_LOOKED_AT))


# What each layer of Keras 3 has, and what of it may lead to trackables: the lists of all its parts,
# and the layers before and after it.
_HELD_BY_KERAS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Sequence[Any]]] = {
    ("inspect", "Signature"): lambda own: (),
    ("keras", "Tracker"): lambda own: [parts for _, parts in own["config"].values()],
    ("keras", "Node"): lambda own: [own["operation"]],
}


@lru_cache(maxsize=1024)
def _reader_of(cls: type) -> Callable[[Mapping[str, Any]], Sequence[Any]] | None:
    return _HELD_BY_KERAS.get((package_of(cls), cls.__name__))


def _held_by(holder: object) -> Sequence[Any]:
    """Return what the attributes of an object hold, without what leads to no trackable."""
    cls: Any = type(holder)
    read = _reader_of(cls)
    if read is not None:
        with suppress(Exception):  # another version of Keras
            return read(instance_dict(holder))
    return _attributes_to_open(holder)


@lru_cache(maxsize=1024)
def _is_proxy(cls: type) -> bool:
    """Return whether objects of a class may report another class than their own."""
    return any("__class__" in vars(base) for base in cls.__mro__ if base is not object)


def _saves_by_own_code(obj: Any) -> bool:
    """Return whether an object's own code decides what it saves: that may be all its values."""
    return (
        tf_private.serializes_itself(obj)
        or tf_private.saveable_factories(obj) is None
        or tf_registered.registered_saver_name(obj) is not None
    )


def _on_class(cls: type) -> dict[str, Any]:
    """Return the trackables on the program's own classes among the bases of a class."""
    held: dict[str, Any] = {}
    for base in _own_bases(cls):
        held.update(vars(base))
    return {
        name: value for name, value in held.items() if hasattr(type(value), "_trackable_children")
    }


@lru_cache(maxsize=1024)
def _own_bases(cls: type) -> tuple[type, ...]:
    """Return the program's own classes among the bases of a class, from the last one on."""
    return tuple(base for base in reversed(cls.__mro__) if not is_of_library(base))


def attributes_of(
    obj: object, on_class: Callable[[type], dict[str, Any]] = _on_class
) -> dict[str, Any]:
    """Return an object's own attributes, and the trackables on its class; run no property.

    `on_class` may cache those of a class.
    """
    cls: Any = type(obj)
    inherited, own = on_class(cls), instance_dict(obj)
    return {**inherited, **own} if inherited else own.copy()


def _attributes(
    obj: object,
    search: Search,
    on_class: Callable[[type], dict[str, Any]],
    passes_over: PassesOver,
) -> list[tuple[str, Any]]:
    """Return the attributes that may hold unknown values, in the order of their creation.

    The public ones come first. Keras 3's lists of a layer's parts come last, because the program
    has its own names for them.
    """
    if tf_private.is_variable(obj):
        return []
    attributes = [
        (name, value)
        for name, value in search.leading_on(
            (name, value)
            for name, value in attributes_of(obj, on_class).items()
            if type(value) not in _PLAIN and isinstance(name, str) and not name.startswith("_self_")
        )
        if not passes_over(obj, name, value)
        and not tf_private.is_name_scope(value)
        # The arguments with which it was made
        and not (name == "_kwargs" and tf_private.is_checkpoint(obj))
    ]
    if len(attributes) < 2:
        return attributes
    return sorted(
        attributes, key=lambda item: (item[0].startswith("_"), item[0] in _LISTS_OF_KERAS_3)
    )


def _slots(item: object) -> Iterator[Any]:
    """Yield the values in an object of a class with `__slots__`, such as `variable.ref()`."""
    cls: Any = type(item)
    for descriptor in slots_of(cls):
        with suppress(AttributeError):  # not set
            yield descriptor.__get__(item)


def unknown_values(
    obj: Any, known: set[int], shadows: Shadows, *, without: Callable[[object], bool] | None = None
) -> Iterator[Any]:
    """Yield the variables at and below an object outside the graph that the graph also lacks.

    Also yield a container that TensorFlow could not save. Leave out objects that are `without`
    values of interest.
    """
    seen = {id(obj)}
    stack = [obj]
    while stack and len(seen) < MAX_LOOKED_AT:
        item = stack.pop()
        if is_known(item, known) or (without is not None and without(item)):
            continue
        if tf_private.is_variable(item):
            yield item
            continue
        try:
            children = shadows.children(item).values()
        except Exception:  # a container that TensorFlow could not save either
            yield item
            continue
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
