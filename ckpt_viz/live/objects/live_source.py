"""Any live source as an object graph: checkpoints, managers, statuses, other trackables."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import NoSuchTensorError, SourceError, UnsupportedError
from ckpt_viz.graphs.edits.edited_access import first_graph, with_node
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Node, Stored, with_new_counter
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.live.objects.accessors import accessor, map_accessor, saver_accessor
from ckpt_viz.live.objects.walk import Walk
from ckpt_viz.live.sessions.assignment_map import (
    WarmProgram,
    is_warm_start,
    name_of_call,
    read_named,
)
from ckpt_viz.live.sessions.saver import read_saver
from ckpt_viz.live.tensorflow_names import tensorflow_new as tf_new
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.tensorflow_names.shadows import steadily

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


def read_live(source: object) -> Graph:
    """Return the object graph that saving this object would write now.

    For a CheckpointManager and for the status that `restore` returned, it is the graph of their
    checkpoint. For a `tf.compat.v1.train.Saver` it is the graph of the name-based file. For an
    assignment map, it is the graph of the variables that the map means. Raises SourceError for an
    object that TensorFlow cannot track.
    """
    return gc_paused(lambda: steadily(lambda: _read(source)))


def _read(source: object) -> Graph:
    if "tensorflow" in sys.modules and tf_savers.is_saver(source):
        return _graph(source, *read_saver(source))
    root = tracked(source)
    if is_warm_start(root):
        return _graph(source, *read_named(source), title=_warm_title(source))
    walk = Walk(view_of(root))
    nodes = walk.run()
    return graph_of_walk(source, walk, nodes)


def is_plain(source: object) -> bool:
    """Return whether a source is a list, tuple or dict that TensorFlow does not track."""
    return type(source) in (list, tuple, dict)


def tracked(source: Any) -> Any:
    """Return a plain list, tuple or dict of trackables as TensorFlow tracks it.

    Its items may be such lists, tuples and dicts. Anything else is returned as it is, and so are
    all in graph mode, where a map has names. A dict is `tf.train.Checkpoint(**dict)`. This leaves
    no trace in the objects.
    """
    if not is_plain(source) or "tensorflow" not in sys.modules or not tf_private.is_eager_now():
        return source
    if not source or _untracked(source) is not None:
        return source
    if type(source) is dict:
        return tf_new.new_checkpoint(None, _tracked_items(source))
    return tf_new.new_list([*_tracked_items(source).values()])


def _tracked_items(plain: Any) -> dict[str, Any]:
    return {str(name): _as_held(item) for name, item in _items(plain).items()}


def _as_held(item: Any) -> Any:
    """Return an item as the container that TensorFlow would make of it where an object holds it."""
    if not is_plain(item):
        return item
    items = _tracked_items(item)
    return tf_new.new_dict(items) if type(item) is dict else tf_new.new_list([*items.values()])


def _items(plain: Any) -> dict[Any, Any]:
    return plain if type(plain) is dict else dict(enumerate(plain))


def _untracked(source: Any) -> tuple[tuple[object, ...], object] | None:
    """Return the way to the first item that TensorFlow cannot track, and the item itself."""
    if not is_plain(source):
        return None if tf_private.is_trackable(source) else ((), source)
    for name, item in _items(source).items():
        if (below := _untracked(item)) is not None:
            way, untracked = below
            return (name, *way), untracked
    return None


def graph_of_program(source: object, program: WarmProgram) -> Graph:
    """Return the graph of a program's variables, with the source of their warm start."""
    return _graph(source, program.nodes, program.node_objects, title=_warm_title(source))


def _warm_title(source: object) -> str:
    return f"{name_of_call(source)} of {type(source).__name__}"


def walked(source: object) -> Walk:
    """Return a walk that has found all objects of a source, without describing them."""

    def walk() -> Walk:
        walk = Walk(view_of(source))
        walk.reach()
        return walk

    return steadily(walk)


def graph_of_walk(source: object, walk: Walk, nodes: tuple[Node, ...]) -> Graph:
    """Return the graph of the nodes from a walk."""
    objects = list(walk.objects)
    for parent, node in enumerate(nodes):
        for child in node.children:
            if isinstance(objects[child.node_id], list):
                objects[child.node_id] = walk.object_as_held(parent, child)
    _put_plain(objects, nodes, ROOT, source)
    return _graph(source, assign_roles(nodes), objects, walk.calls)


def _put_plain(objects: list[Any], nodes: tuple[Node, ...], node_id: int, source: Any) -> None:
    """Put the program's own lists, tuples and dicts in place of tracked ones that nothing holds."""
    if not is_plain(source):
        return
    objects[node_id] = source
    items = {str(name): item for name, item in _items(source).items()}
    for child in nodes[node_id].children:
        _put_plain(objects, nodes, child.node_id, items.get(child.local_name))


def _graph(
    source: object,
    nodes: tuple[Node, ...],
    objects: Sequence[object | None],
    calls: tuple[Call, ...] = (),
    *,
    title: str = "",
) -> Graph:
    return Graph(
        nodes,
        title=title or type(source).__name__,
        origin=Origin.LIVE,
        calls=calls,
        _access=_LiveAccess(source, tuple(map(weak, objects)), nodes),
    )


def with_counter(graph: Graph) -> Graph:
    """Return the graph of a `tf.train.Checkpoint` with its `save_counter`, which may not exist yet.

    The checkpoint makes the counter as soon as code asks for it; until then, the node has no
    object. The graph of any other source is the same.
    """
    first = first_graph(graph)
    access = first._access
    if graph.save_counter is not None or not isinstance(access, _LiveAccess):
        return graph
    checkpoint = tf_private.without_manager(access.source)
    # In a graph, only a session would assign it.
    if not tf_private.is_checkpoint(checkpoint) or not tf_private.is_eager_now():
        return graph
    nodes = with_new_counter(graph.nodes)
    if first is not graph:
        return replace(graph, nodes=nodes, _access=with_node(graph))
    references = *access.references, lambda: tf_private.counter_of(checkpoint)
    return replace(graph, nodes=nodes, _access=_LiveAccess(access.source, references, nodes))


def view_of(source: object) -> Any:
    """Return TensorFlow's ObjectGraphView of a source: it knows root and attached keywords.

    Raises SourceError for objects that TensorFlow cannot track, and for a root that only a weak
    reference held and that is gone.
    """
    root = tracked(source)
    view = _view_of(root)
    if root is not source:
        view.held_root = root  # the view itself holds its root weakly
    if tf_private.has_lost_its_root(view):
        raise SourceError(
            f"the root of this {type(source).__name__} is gone: it was given as a weak reference; "
            "expected an object that the program still holds"
        )
    return view


def _view_of(source: object) -> Any:
    if "tensorflow" in sys.modules:
        if tf_private.is_checkpoint_manager(source):
            return tf_private.checkpoints_view(source.checkpoint)  # type: ignore[attr-defined]
        if tf_private.is_checkpoint(source):
            return tf_private.checkpoints_view(source)
        if tf_private.is_load_status(source):
            return tf_private.statuss_view(source)
        if tf_private.is_trackable(source):
            return tf_private.trackables_view(source)
        if is_plain(source) and (misfit := _untracked(source)) is not None:
            way, item = misfit
            raise SourceError(
                f"item {'.'.join(map(str, way))!r}: found {_a(type(item).__name__)}, expected a "
                "variable or another trackable object"
            )
    raise SourceError(
        f"found {_a(type(source).__name__)}, expected a checkpoint's path or a trackable "
        "object: a tf.train.Checkpoint or its manager, tf.Module, Keras layer, model or "
        "optimizer, or a tf.compat.v1.train.Saver; a list or dict of such objects and variables; "
        "or a map from names to variables, as init_from_checkpoint takes it"
    )


@dataclass(frozen=True)
class _LiveAccess(Access):
    """The live objects behind a graph.

    It keeps the source alive, but not the objects below it. So a picture of the past holds no
    layer in memory that the program has replaced since.
    """

    source: object
    references: Sequence[Callable[[], object | None]]
    nodes: Sequence[Node]

    @cached_property
    def _attributes(self) -> dict[str, tuple[int, Attribute]]:
        """The attribute of each checkpoint key, and its node."""
        return {
            attribute.checkpoint_key: (node_id, attribute)
            for node_id, node in enumerate(self.nodes)
            for attribute in node.attributes
        }

    @cached_property
    def _is_warm_start(self) -> bool:
        return is_warm_start(self.source)

    def object(self, node_id: int) -> object | None:
        return self.references[node_id]()

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        if tf_savers.is_saver(self.source):
            return saver_accessor(graph, node_id, self.source, source)
        if self._is_warm_start:
            return map_accessor(graph, node_id, self.source, source)
        return accessor(graph, node_id, self.source, source)

    def stored(self, checkpoint_key: str) -> Stored | None:
        if checkpoint_key not in self._attributes:
            return None
        _, attribute = self._attributes[checkpoint_key]
        return Stored(attribute.dtype, attribute.shape)

    def value(self, checkpoint_key: str) -> Array:
        if checkpoint_key not in self._attributes:
            raise NoSuchTensorError(f"no variable is saved as {checkpoint_key!r}")
        node_id, _ = self._attributes[checkpoint_key]
        variable = self.object(node_id)
        if variable is None:
            raise NoSuchTensorError(f"{checkpoint_key}: the program has dropped this variable")
        if isinstance(variable, list):  # partitions, in a Saver's graph
            raise UnsupportedError(
                f"{checkpoint_key}: saved from {len(variable)} partitions, each with a value of "
                "its own; expected one variable"
            )
        if not tf_private.is_variable(variable):
            raise UnsupportedError(
                f"{checkpoint_key}: only code of {type(variable).__name__} itself knows its "
                "value; expected a variable"
            )
        value: Array = tf_private.value_of(variable)
        return value


def weak(obj: Any) -> Callable[[], object | None]:
    """Return a weak reference to an object; a strong one if its class allows no other."""
    try:
        return weakref.ref(obj)
    except TypeError:  # a class with __slots__ and no __weakref__; a list of partitions
        return lambda: obj


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
