"""Variables that hold their values in other variables, and what that makes known."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ckpt_viz.live.objects.containers import items_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

# The attributes in which variables that wrap or combine others hold them. These are Keras 3's and
# casting variables; distributed, sharded and replicated ones; those of a parameter server.
_PARTS = ("_value", "_variable", "_values", "_variables", "_vars", "_v")


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
