"""The results of a real restore so far, from its load status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import NoSuchTensorError, SourceError
from ckpt_viz.files.saved.object_based import nodes_of_graph
from ckpt_viz.graphs.nodes.nodes import Attribute, Node, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.graphs.object_graph.provenance import Format, Origin, Provenance
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.live.restoring.restore_target import RestoreTarget
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.name_based_restore import NameTrace
from ckpt_viz.matching.engines.trace import Action, Step, Trace

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


@dataclass(frozen=True)
class Done:
    """The results so far: the checkpoint's graph at the time of the restore, and the bindings.

    `stale` are bound nodes whose object was not restored. Without a graph the checkpoint is
    name-based.
    """

    saved: Graph | None
    trace: Trace | NameTrace | None
    stale: tuple[int, ...] = ()
    skips_slots: bool = False


def skips_slots_of(status: Any) -> bool:
    """Return whether the options of the restore leave slot variables out."""
    return bool(getattr(getattr(status, "_options", None), "experimental_skip_slot_variables", 0))


def read_status(status: Any, target: RestoreTarget) -> Done:
    """Return the results in a status; `target` is that of its own checkpoint."""
    coordinator = getattr(status, "_checkpoint", None)
    if coordinator is None:  # restore(None)
        return Done(None, None)
    if not hasattr(coordinator, "object_graph_proto"):
        return Done(None, _by_names(status, coordinator, target))
    saved = _saved(coordinator)
    bound = {
        node: target.side.id_of(obj) for node, obj in sorted(coordinator.object_by_proto_id.items())
    }
    unused = {node: tuple(names) for node, names in coordinator.unused_attributes.items()}
    trace = Trace(
        tuple(_steps(saved.nodes, bound, unused, coordinator, target)),
        bound,
        unused,
        slots_left=tuple(coordinator.slot_restorations),
    )
    stale = tuple(
        node
        for node, obj in coordinator.object_by_proto_id.items()
        if obj._update_uid < coordinator.restore_uid
    )
    return Done(saved, trace, tuple(sorted(stale)), skips_slots_of(status))


def _steps(
    nodes: tuple[Node, ...],
    bound: Mapping[int, int],
    unused: Mapping[int, tuple[str, ...]],
    coordinator: Any,
    target: RestoreTarget,
) -> Iterator[Step]:
    """Yield what was bound, restored and deferred, in an order that no object records."""
    edges = Graph(nodes, "", Origin.SAVED).first_edges
    taken: set[int] = set()
    for node, obj in bound.items():
        parent, name = edges.get(node, (None, ""))
        yield Step(Action.BIND, node, obj, parent, name)
    for node, obj in bound.items():
        attributes = nodes[node].attributes
        if node in unused:
            yield Step(Action.UNUSED, node, obj, names=unused[node])
        elif obj in taken:
            yield Step(Action.REPEAT, node, obj)
        elif attributes:
            yield Step(Action.RESTORE, node, obj, names=tuple(a.checkpoint_key for a in attributes))
        else:
            yield Step(Action.VALUELESS, node, obj)
        taken.add(obj)
    for obj, instance in enumerate(target.side.objects):
        for name, positions in tf_restore.deferred_dependencies(instance).items():
            for position in positions:
                if position.checkpoint is coordinator:
                    yield Step(Action.DEFER, position.proto_id, obj, None, name)


def _saved(coordinator: Any) -> Graph:
    """Return the restored graph; its file may be gone or replaced by now."""
    path = str(coordinator.save_path_string)
    tensors = tf_restore.tensors_of_coordinator(coordinator)

    def attribute(name: str, full_name: str, key: str) -> Attribute:
        dtype, shape = tensors.get(key, (None, None))
        return Attribute(name, full_name, key, dtype, shape)

    nodes = nodes_of_graph(coordinator.object_graph_proto.SerializeToString(), path, attribute)
    stored = {key: Stored(dtype, shape) for key, (dtype, shape) in tensors.items()}
    return Graph(
        assign_roles(nodes),
        title=path,
        origin=Origin.SAVED,
        provenance=Provenance(path, path, Format.OBJECT_BASED),
        _access=_Restored(stored, path),
    )


def _by_names(status: Any, coordinator: Any, target: RestoreTarget) -> NameTrace:
    optional = {id(obj) for obj in status._optionally_restored}
    unused = {
        target.side.id_of(obj): tuple(names)
        for obj, names in coordinator.unused_attributes.items()
        if id(obj) not in optional
    }
    not_restored = tuple(
        obj
        for obj in target.listed
        if getattr(target.side.objects[obj], "_update_uid", -1) < coordinator.restore_uid
    )
    return NameTrace(unused=unused, not_restored=not_restored)


@dataclass(frozen=True)
class _Restored(Access):
    """The tensors of a checkpoint that only the status still describes."""

    tensors: Mapping[str, Stored]
    path: str

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        raise SourceError(f"{self.path}: a saved checkpoint has no live objects")

    def value(self, checkpoint_key: str) -> Array:
        raise NoSuchTensorError(
            f"{self.path}: this graph is what a load status remembers, without values; open the "
            "checkpoint with ckpt_viz.graph()"
        )

    def stored(self, checkpoint_key: str) -> Stored | None:
        return self.tensors.get(checkpoint_key)
