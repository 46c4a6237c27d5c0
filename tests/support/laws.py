"""Laws for every live source, whatever objects it consists of."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from types import ModuleType
from typing import Any

from ckpt_viz import Attribute, Node, ObjectGraph, Role

# Only a Python type tells these; a file says "object" (docs/object_graph.md).
TOLD_BY_TYPE = {Role.LAYER, Role.CONTAINER, Role.OPTIMIZER}


def assert_same_graph(live: ObjectGraph, saved: ObjectGraph) -> None:
    """Compare the graph of live objects with that of the file that TensorFlow wrote of them."""
    assert len(live.nodes) == len(saved.nodes)
    for node_id, (ours, theirs) in enumerate(zip(live.nodes, saved.nodes, strict=True)):
        name = saved.name(node_id)
        assert ours.children == theirs.children, name
        assert ours.slot_variables == theirs.slot_variables, name
        assert ours.slot == theirs.slot, name
        assert ours.registered_saver == theirs.registered_saver, name
        if _names_its_attributes(ours):
            assert ours.attributes == _as_far_as_alive_knows(ours, theirs), name
            assert ours.role == theirs.role or (
                ours.role in TOLD_BY_TYPE and theirs.role in (Role.OBJECT, Role.BOOKKEEPING)
            ), name
        else:
            (unknown,) = ours.attributes
            assert all(
                a.checkpoint_key.startswith(unknown.checkpoint_key) for a in theirs.attributes
            ), name
    assert [live.name(i) for i in range(len(live.nodes))] == [
        saved.name(i) for i in range(len(saved.nodes))
    ]


def _names_its_attributes(node: Node) -> bool:
    """Return whether the attributes are known without running code of the object's class."""
    return all(attribute.name for attribute in node.attributes)


def _as_far_as_alive_knows(ours: Node, theirs: Node) -> tuple[Attribute, ...]:
    """Return the saved attributes without those that only the object's own code knows."""
    known = {attribute.name: attribute for attribute in ours.attributes}
    return tuple(
        attribute._replace(
            dtype=attribute.dtype if known[attribute.name].dtype else None,
            shape=attribute.shape if known[attribute.name].shape is not None else None,
            nbytes=attribute.nbytes if known[attribute.name].nbytes is not None else None,
            slices=(),  # how a sharded variable is cut is the file's affair
        )
        for attribute in theirs.attributes
    )


class State(dict[int, tuple[str, object, object]]):
    """What can be seen of objects, by identity.

    Keeps the objects alive, so that no other object gets one of their ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self.objects: list[object] = []


def state_of(source: object) -> State:
    """Return everything that can be seen of an object and the objects below it, and their values.

    Reads only each object's `__dict__` and the contents of containers: TensorFlow's own methods
    would leave traces. The attributes include children, `_update_uid`, deferred restorations,
    name-based restores, slots, and whether there is a `save_counter`.
    """
    state = State()
    queue = deque([source])
    while queue and len(state) < 200_000:
        obj = queue.popleft()
        if id(obj) in state or isinstance(obj, (str, bytes, int, float, type, type(None))):
            continue
        state.objects.append(obj)
        value = _value(obj)  # before the attributes: a variable remembers that it was read
        held = _held(obj)
        state[id(obj)] = (type(obj).__name__, _seen(held), value)
        queue.extend(item for _, item in held if _is_of_interest(item))
    return state


def _held(obj: Any) -> list[tuple[object, Any]]:
    held: list[tuple[object, Any]] = []
    with suppress(AttributeError, TypeError):
        held += object.__getattribute__(obj, "__dict__").items()
    if hasattr(type(obj), "__wrapped__"):  # a proxy: TensorFlow's dict and tuple wrappers
        held.append(("__wrapped__", object.__getattribute__(obj, "__wrapped__")))
    elif isinstance(obj, dict):
        held += [(("item", repr(key)[:50]), value) for key, value in dict.items(obj)]
    elif isinstance(obj, (list, tuple, set, frozenset, deque)):
        held += [(("item", index), value) for index, value in enumerate(list(obj))]
    return held


def _seen(held: list[tuple[object, Any]]) -> tuple[tuple[object, object], ...]:
    return tuple(
        (key, value if isinstance(value, (str, int, float, bool)) else id(value))
        for key, value in held
    )


def _is_of_interest(value: object) -> bool:
    module = str(type(value).__module__).partition(".")[0]
    return not isinstance(value, (type, ModuleType)) and module in (
        "tensorflow",
        "keras",
        "tf_keras",
        "tests",
        "collections",
        "builtins",
    )


def _value(obj: Any) -> object:
    if type(obj).__name__ in ("MirroredVariable", "SyncOnReadVariable"):
        # Asked itself, it may sum its replicas up, or refuse to in the scope that is active.
        return tuple(map(_value, obj.values))
    if type(obj).__name__ == "ResourceVariable":
        try:
            return repr(obj.numpy())
        except (NotImplementedError, AttributeError):  # a variable of a graph
            return None
    return None
