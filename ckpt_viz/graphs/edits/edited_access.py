"""The values of an edited graph: each is read from the source when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ckpt_viz.errors import EditError, NoSuchTensorError, SourceError
from ckpt_viz.graphs.nodes.keys import checkpoint_key, parse_checkpoint_key
from ckpt_viz.graphs.nodes.nodes import Child, Fingerprint, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph
from ckpt_viz.ground.text import readable

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


@dataclass(frozen=True)
class NewValue:
    """What an edit puts in the place of a stored tensor: an array, a computed one, or a cast.

    `made` computes the value in flat pieces. `casts` are the dtypes through which the computed or
    the stored value goes, one after the other.
    """

    dtype: str
    shape: tuple[int, ...] | None
    array: Array | None = field(default=None, repr=False)
    made: Callable[[], Iterator[Array]] | None = field(default=None, repr=False)
    casts: tuple[str, ...] = ()

    def cast(self, dtype: str, place: str) -> NewValue:
        """Return the same in another dtype."""
        if self.array is None:
            return replace(self, dtype=dtype, casts=(*self.casts, dtype))
        from ckpt_viz.formats.arrays.tensors import cast

        return replace(self, dtype=dtype, array=cast(self.array, dtype, place))

    def of(self, stored: Array, place: str) -> Array:
        """Return the value, from what is stored, or from some elements of that."""
        from ckpt_viz.formats.arrays.tensors import cast

        for dtype in self.casts:
            stored = cast(stored, dtype, place)
        return stored

    def computed(self, place: str) -> Array | None:
        """Return the value of an array, or of one that is computed; None for a stored one."""
        if self.made is None:
            return self.array
        import numpy as np

        from ckpt_viz.formats.arrays.tensors import frozen, in_shape, numpy_dtype

        pieces = [self.of(piece, place) for piece in self.made()]
        flat = np.concatenate(pieces) if pieces else np.zeros(0, numpy_dtype(self.dtype))
        return frozen(in_shape(flat, self.shape or (), place))


class EditedNode(NamedTuple):
    """What a node of an edited graph was before: a node there, which a copy is only like."""

    node: int | None
    is_copy: bool = False


@dataclass(frozen=True)
class EditedAccess(Access):
    """Access to the values of a source by the keys of an edited graph.

    `old_paths` has the key of an object in the source by its key after the edits. An object that
    an edit has added has none there. `origins` has by node what the node is in the source: the same
    object, an object that the node is made like, or nothing. `before` has by node its id before
    the last edit; nodes that this edit has added have the next ids there. `values` has the tensors
    that an edit has changed, by their keys after the edits. With `by_names`, the keys are names
    and there are no objects.
    """

    is_edited: ClassVar[bool] = True
    source_graph: Graph
    old_paths: Mapping[str, str]
    origins: Sequence[EditedNode] = field(default=(), repr=False)
    before: Sequence[int] = field(default=(), repr=False)
    values: Mapping[str, NewValue] = field(default_factory=dict, repr=False)
    by_names: bool = False

    @classmethod
    def of(
        cls,
        graph: Graph,
        old_paths: Mapping[str, str],
        before: Sequence[int],
        models: Mapping[int, int],
    ) -> EditedAccess:
        """Return access by the keys that objects have in a graph, which may be edited itself.

        After many edits a value is still one step away. `models` has the nodes of the graph that
        added nodes are made like.
        """
        size = len(graph.nodes)
        nodes = [
            EditedNode(old) if old < size else EditedNode(models.get(old), is_copy=True)
            for old in before
        ]
        by_names, access = graph.is_name_based, graph._access
        if not isinstance(access, cls):
            return cls(graph, old_paths, nodes, before, by_names=by_names)
        known = access.old_paths
        paths = {new: known[old] for new, old in old_paths.items() if old in known}
        origins = [_first(access.origins, node) for node in nodes]
        values = access._values_at(old_paths)
        return cls(access.source_graph, paths, origins, before, values, by_names)

    @classmethod
    def over(cls, graph: Graph, values: Mapping[str, NewValue]) -> EditedAccess:
        """Return access to a graph with other values under some of its keys."""
        access = graph._access
        if not isinstance(access, cls):
            keys = (a.checkpoint_key for node in graph.nodes for a in node.attributes)
            by_names = graph.is_name_based
            own = map(partial(_path_in, by_names=by_names), keys)
            paths = {path: path for path in own if path is not None}
            size = len(graph.nodes)
            access = cls(
                graph, paths, [*map(EditedNode, range(size))], range(size), by_names=by_names
            )
        return replace(access, values={**access.values, **values})

    def _values_at(self, old_paths: Mapping[str, str]) -> dict[str, NewValue]:
        """Return the changed tensors by their keys after one more edit."""
        of_path: dict[str, list[tuple[str, NewValue]]] = {}
        for key, value in self.values.items():
            path = _path_in(key, by_names=self.by_names)
            of_path.setdefault(path or "", []).append((key, value))
        return {
            new + key[len(old) :]: value
            for new, old in old_paths.items()
            for key, value in of_path.get(old, ())
        }

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Raise SourceError: there is no object."""
        raise SourceError(f"{graph.title}: an edited graph has no live objects")

    def value(self, key: str) -> Array:
        """Return the value of a tensor."""
        new = self.values.get(key)
        computed = None if new is None else new.computed(self._place(key))
        if computed is not None:
            return computed
        stored = self.source_graph.read(self._old(key))
        return stored if new is None else new.of(stored, self._place(key))

    def beginning(self, key: str, count: int) -> Array:
        """Return the first elements of a tensor."""
        new = self.values.get(key)
        if new is not None and new.made is not None:
            first = next(new.made(), None)
            if first is not None and len(first) >= count:
                return new.of(first[:count], self._place(key))
        computed = None if new is None else new.computed(self._place(key))
        if computed is not None:
            return computed.reshape(-1)[:count]
        stored = self.source_graph.beginning(self._old(key), count)
        return stored if new is None else new.of(stored, self._place(key))

    def stored(self, key: str) -> Stored | None:
        """Return dtype and shape of a tensor."""
        new, old = self.values.get(key), self._old_or_none(key)
        if new is not None and (new.array is not None or new.made is not None):
            return Stored(new.dtype, new.shape)
        stored = None if old is None else self.source_graph.stored(old)
        return stored if stored is None or new is None else stored._replace(dtype=new.dtype)

    def fingerprint(self, key: str) -> Fingerprint | None:
        """Return layout and checksums of a tensor; None for one that an edit has changed."""
        old = self._old_or_none(key)
        return None if old is None or key in self.values else self.source_graph.fingerprint(old)

    def tensor_keys(self, key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""
        old, parsed = self._old_or_none(key), parse_checkpoint_key(key)
        if key in self.values or self.by_names:
            return (key,)
        if old is None or parsed is None:
            return ()
        stored = map(parse_checkpoint_key, self.source_graph.tensor_keys(old))
        return tuple(checkpoint_key(parsed.object_key, part.attribute) for part in stored if part)

    def _old(self, key: str) -> str:
        old = self._old_or_none(key)
        if old is None:
            raise NoSuchTensorError(f"{self.source_graph.title}: no tensor {key!r} after the edits")
        return old

    def _place(self, key: str) -> str:
        return f"{self.source_graph.title}: {readable(key)}"

    def _old_or_none(self, key: str) -> str | None:
        """Return the key that a tensor has in the source; None if nothing is stored there."""
        if self.by_names:
            return self.old_paths.get(key)
        parsed = parse_checkpoint_key(key)
        if parsed is None or parsed.object_key not in self.old_paths:
            return None
        return checkpoint_key(self.old_paths[parsed.object_key], parsed.attribute)


def _path_in(key: str, *, by_names: bool) -> str | None:
    """Return the key of the object in the key of a tensor; a name is its own."""
    if by_names:
        return key
    parsed = parse_checkpoint_key(key)
    return None if parsed is None else parsed.object_key


def origins_of(graph: Graph) -> Sequence[EditedNode]:
    """Return what each node of an edited graph was before all edits; itself without any."""
    access = graph._access
    if isinstance(access, EditedAccess):
        return access.origins
    return [EditedNode(node) for node in range(len(graph.nodes))]


def new_values_of(graph: Graph) -> Mapping[str, NewValue]:
    """Return the tensors that edits have changed, by key."""
    access = graph._access
    return access.values if isinstance(access, EditedAccess) else {}


def old_names_of(graph: Graph) -> Mapping[str, str]:
    """Return the name before all edits of each tensor of a name-based graph."""
    access = graph._access
    if isinstance(access, EditedAccess):
        return access.old_paths
    return {a.checkpoint_key: a.checkpoint_key for node in graph.nodes for a in node.attributes}


def first_graph(graph: Graph) -> Graph:
    """Return the graph before all edits; the same one without any."""
    access = graph._access
    return access.source_graph if isinstance(access, EditedAccess) else graph


def with_node(graph: Graph) -> EditedAccess:
    """Return the access of an edited graph with one node more, which no source has."""
    access = graph._access
    assert isinstance(access, EditedAccess)
    return replace(access, origins=[*access.origins, EditedNode(None)])


def assert_unchanged(before: Graph, now: Graph) -> None:
    """Raise EditError if a program no longer has the parts of the graph that was edited."""
    if _edges(before) != _edges(now):
        raise EditError(
            f"{before.title}: the program has other parts than when its graph was made; make the "
            "graph, or the check, again"
        )


def _edges(graph: Graph) -> list[tuple[Child, ...]]:
    return [node.children for node in graph.nodes]


def node_after(graph: Graph, node: int) -> int | None:
    """Return the id of a node in an edited graph by its id before the last edit; None if gone."""
    before = places_before(graph)
    return before.index(node) if node in before else None


def node_before(graph: Graph, node: int) -> int:
    """Return the id that a node of an edited graph had before the last edit."""
    return places_before(graph)[node]


def places_before(graph: Graph) -> Sequence[int]:
    """Return the ids before the last edit, by node; those of new nodes follow all others."""
    access = graph._access
    assert isinstance(access, EditedAccess)
    return access.before


def _first(origins: Sequence[EditedNode], edited: EditedNode) -> EditedNode:
    """Return what a node was before an earlier edit, too."""
    if edited.node is None:
        return edited
    node, is_copy = origins[edited.node]
    return EditedNode(node, is_copy or edited.is_copy)
