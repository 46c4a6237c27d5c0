"""Attributes whose values a checkpoint will not hold, although they look as if it would.

TensorFlow follows attributes that are trackable, and lists, dicts and tuples of exactly those
types. It leaves out other containers without an error. Examples are variables and layers in a set,
a deque, a defaultdict, a list or dict of a Keras 3 layer (keras-team/keras#18398). It also leaves
out those in plain objects, plain objects in a list or dict that it follows, and variables on a
class.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from ckpt_viz.graphs.nodes.nodes import NotSaved
from ckpt_viz.live.objects.code_reading import is_set_by_libraries
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names.packages import (
    KERAS,
    has_class,
    is_of_library,
    package_of,
)
from ckpt_viz.live.tensorflow_names.shadows import Shadows, instance_dict, slots_of

_CONTAINERS = (list, tuple, set, frozenset, deque)
_NO_HOLDERS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
)
_PLAIN = frozenset[type]({bool, bytes, float, int, str, type(None), *_NO_HOLDERS})
KERAS_3_PARTS = ("_tracker", "_layers")  # where a layer lists all its parts
_LISTS_OF_KERAS_3 = (*KERAS_3_PARTS, "_metrics", "_seed_generators")
_MAX_LOOKED_AT = 10_000  # items below one attribute
_MAX_DEPTH = 6  # of containers that a first look opens
# The attributes in which variables that wrap or combine others hold them. These are Keras 3's and
# casting variables; distributed, sharded and replicated ones; those of a parameter server.
_PARTS = ("_value", "_variable", "_values", "_variables", "_vars", "_v")


class Missed(NamedTuple):
    """A trackable that is nowhere in the graph, and the plain object that holds it, if any."""

    trackable: Any
    holder: Any = None


# Says of an attribute of an object, by its name and value, that it need not be looked at.
PassesOver = Callable[[object, str, object], bool]
# Says whether a save loses a trained value with an attribute. It gets the owner and the name of the
# attribute, what is missed, the ids of what the graph has, and the shadows.
IsLost = Callable[[Any, str, Sequence[Missed], set[int], Shadows], bool]


def find_not_saved(
    objects: Sequence[Any],
    shadows: Shadows,
    *,
    is_layer: Callable[[object], bool],
    is_lost: IsLost,
    is_state: Callable[[object], bool] = lambda _: False,
    passes_over: PassesOver | None = None,
) -> dict[int, tuple[NotSaved, ...]]:
    """Return, by node id, the attributes that hold values without a node.

    Checks the objects' own attributes, the containers in them, and one object deep into values that
    TensorFlow cannot track; runs no property. Keras' own state in such an object, which `is_state`
    recognises, counts as a container. `objects` are those of the graph, by node id; `shadows` ask
    others for their children. Each value is reported once, by the first attribute that holds it.
    """
    known = Known(objects)
    by_owner: dict[int, list[NotSaved]] = {}
    unsaved = unsaved_in(
        objects, known, shadows, is_layer=is_layer, is_state=is_state, passes_over=passes_over
    )
    for owner, attribute, value, missed in unsaved:
        lost = is_lost(objects[owner], attribute, missed, known.ids, shadows)
        if not lost and _is_own_of_keras(objects[owner], attribute):
            continue  # what Keras keeps for itself, such as the metric of the loss
        variables = {
            id(variable)
            for candidate in missed
            for variable in unknown_values(candidate.trackable, known.ids, shadows)
        }
        kind = type(value).__name__
        note = NotSaved(attribute, kind, len(missed), lost, len(variables))
        by_owner.setdefault(owner, []).append(note)
    return {owner: tuple(notes) for owner, notes in by_owner.items()}


def _is_own_of_keras(obj: Any, attribute: str) -> bool:
    """Return whether Keras keeps something for itself: a model of Keras 2 has no underscore."""
    is_own = attribute.startswith("_") or has_class(obj, ("Model",), KERAS)
    return is_own and is_set_by_libraries(obj, attribute)


class Known:
    """The ids that identify the objects of a graph, and those of their variables' parts.

    The parts are looked for when something is not among the objects themselves.
    """

    def __init__(self, objects: Sequence[object]) -> None:
        self.ids = set(map(id, objects))
        self._without_parts: Sequence[object] = objects

    def has(self, obj: object) -> bool:
        """Return whether an object is known, or consists of known ones."""
        if id(obj) in self.ids:
            return True
        self.ids |= ids_of(self._without_parts)
        self._without_parts = ()
        return is_known(obj, self.ids)

    def add(self, objects: Sequence[object]) -> None:
        """Make more objects known."""
        self.ids |= ids_of(objects)


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
    is_layer: Callable[[object], bool],
    is_state: Callable[[object], bool] = lambda _: False,
    passes_over: PassesOver | None = None,
) -> Iterator[Unsaved]:
    """Yield what the attributes of objects hold in values without a node.

    Adds what they lead to to `known`. Leaves out attributes that the caller passes over.
    """
    structures = frozenset(id(obj) for obj in objects if tf_private.is_data_structure(obj))
    search = Search(known.ids, set(structures), is_state)
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
    looks into each once.
    """

    def __init__(
        self, known: set[int], followed: set[int], is_state: Callable[[object], bool]
    ) -> None:
        self.known = known
        self.followed = followed
        self._is_state = is_state
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
        if kind == _HOLDER and is_held and not self._is_state(value):
            return True
        items = _items(value) if kind == _CONTAINER else _held_by(value)
        if not items or _PLAIN.issuperset(map(type, items)):
            return True
        if self.known.issuperset(map(id, items)) and self.followed.isdisjoint(map(id, items)):
            return True
        self._opened += len(items)
        if depth == _MAX_DEPTH or self._opened > _MAX_LOOKED_AT:
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
                bases = (dict, *_CONTAINERS)
                self._lengths[cls] = next(b.__len__ for b in bases if issubclass(cls, b))
        return kind

    def trackables_in(self, value: Any) -> Iterator[Missed]:
        """Yield the trackables that a value is, or holds in containers; each once.

        For a container that TensorFlow follows, yield what it does not follow; and remove the
        container from `followed`, because one look is enough.
        """
        seen: set[int] = set()
        stack: list[tuple[Any, Any]] = [(value, None)]
        while stack and len(seen) < _MAX_LOOKED_AT:
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
            elif kind == _HOLDER and (holder is None or self._is_state(item)):
                stack.extend((child, item) for child in _attributes_to_open(item))

    def _is_node(self, item: Any) -> bool:
        """Return whether an item is a node, or would be one if its container were not broken."""
        return id(item) not in self.followed and tf_private.is_trackable(item)


def _attributes_to_open(holder: object) -> Sequence[Any]:
    """Return the values of an object's attributes, also of those in slots."""
    own = tuple(instance_dict(holder).values())
    cls: Any = type(holder)
    if len(own) <= _MAX_LOOKED_AT and not slots_of(cls):
        return own
    return tuple(islice(chain(own, _slots(holder)), _MAX_LOOKED_AT))


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


def ids_of(objects: Sequence[object]) -> set[int]:
    """Return the ids that identify objects: their own, and those of the variables' parts."""
    known = set(map(id, objects))
    of_each_class = {type(obj): obj for obj in objects}
    composed = {cls for cls, obj in of_each_class.items() if _is_composed(obj)}
    stack = [obj for obj in objects if type(obj) in composed]
    while stack:
        for part in _parts(stack.pop()):
            if id(part) not in known:
                known.add(id(part))
                stack.append(part)
    return known


def is_known(obj: object, known: Container[int]) -> bool:
    """Return whether an object is known, or is a variable that consists of known ones."""
    if id(obj) in known:
        return True
    seen, stack = {id(obj)}, [obj]
    while stack:
        parts = _parts(stack.pop())
        if not parts:
            return False
        new = [part for part in parts if id(part) not in known and id(part) not in seen]
        seen.update(map(id, new))
        stack += new
    return True


def _parts(obj: object) -> Sequence[object]:
    """Return the variables that hold a variable's value; most variables hold it themselves.

    The restore reaches it through them, whichever of them is tracked.
    """
    if not _is_composed(obj):
        return ()
    own = instance_dict(obj)
    parts: list[object] = []
    for name in _PARTS:
        part = own.get(name)
        held = items_of(part)
        parts.extend([part] if held is None else held)
    return [part for part in parts if part is not obj and tf_private.is_variable(part)]


def leaves_of(obj: object) -> list[object]:
    """Return the variables in which a variable holds its values; any other object alone."""
    leaves, seen, stack = [], {id(obj)}, [obj]
    while stack:
        current = stack.pop()
        parts = [part for part in _parts(current) if id(part) not in seen]
        seen.update(map(id, parts))
        stack += reversed(parts)
        if not _parts(current):
            leaves.append(current)
    return leaves


def _is_composed(obj: object) -> bool:
    """Return whether an object is a variable whose class has a place for other variables."""
    return not instance_dict(obj).keys().isdisjoint(_PARTS) and tf_private.is_variable(obj)


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
    passes_over: PassesOver | None,
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
        if not (passes_over is not None and passes_over(obj, name, value))
        and not tf_private.is_name_scope(value)
        # The arguments with which it was made
        and not (name == "_kwargs" and tf_private.is_checkpoint(obj))
    ]
    if len(attributes) < 2:
        return attributes
    return sorted(
        attributes, key=lambda item: (item[0].startswith("_"), item[0] in _LISTS_OF_KERAS_3)
    )


def items_of(value: Any) -> Sequence[Any] | None:
    """Return the items of a list, dict or the like, including TensorFlow's wrappers; else None."""
    if tf_private.is_data_structure(value):
        try:
            return items_of(object.__getattribute__(value, "__wrapped__"))
        except AttributeError:
            return items_of(instance_dict(value).get("_storage"))
    return _items(value)


def _items(value: Any) -> Sequence[Any] | None:
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
    return next((base.__iter__ for base in _CONTAINERS if issubclass(cls, base)), None)


def _slots(item: object) -> Iterator[Any]:
    """Yield the values in an object of a class with `__slots__`, such as `variable.ref()`."""
    cls: Any = type(item)
    for descriptor in slots_of(cls):
        with suppress(AttributeError):  # not set
            yield descriptor.__get__(item)


def _some(container: Any, items: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Return the first items of a container, which another thread may change meanwhile."""
    while True:
        try:
            return list(islice(items(container), _MAX_LOOKED_AT))
        except RuntimeError:  # it has changed between the two steps of this line
            continue


def unknown_values(
    obj: Any, known: set[int], shadows: Shadows, *, without: Callable[[object], bool] | None = None
) -> Iterator[Any]:
    """Yield the variables at and below an object outside the graph that the graph also lacks.

    Also yield a container that TensorFlow could not save. Leave out objects that are `without`
    values of interest.
    """
    seen = {id(obj)}
    stack = [obj]
    while stack and len(seen) < _MAX_LOOKED_AT:
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
