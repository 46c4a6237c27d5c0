"""The object graph as a whole: its nodes, its source, and answers from its edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import NoSuchTensorError, SourceError, UnsupportedError
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Fingerprint, Node, Stored
from ckpt_viz.graphs.nodes.printed_names import tensorflow_name
from ckpt_viz.graphs.nodes.subtrees import attribute_holders
from ckpt_viz.graphs.nodes.tree import Tree, edges_to, first_edges, last_edges, spanning_tree
from ckpt_viz.graphs.object_graph.provenance import KERAS, LAYOUTS, TFJS, Layout, Origin, Provenance
from ckpt_viz.ground.expressions import operand

if TYPE_CHECKING:  # importing numpy takes as long as opening a checkpoint
    from ckpt_viz.formats.arrays.tensors import Array
    from ckpt_viz.graphs.layers.rows import Layers
    from ckpt_viz.graphs.layers.training import Training
    from ckpt_viz.graphs.object_graph.lookup import Lookup
    from ckpt_viz.graphs.slots.hanging import Hanging

_MAX_ALIASED = 1_000_000  # characters of names in the aliases of a node


class Access(ABC):
    """What a graph needs from its source later: live objects and values.

    Most sources have no live objects, no checksums, and one tensor for each key.

    `second_places` has the first node of each variable by the variable's further nodes.
    """

    second_places: Mapping[int, int] = MappingProxyType({})

    def object(self, node_id: int) -> object | None:
        """Return the live object of a node, or None."""
        return None

    @abstractmethod
    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Return an expression for a node's live object; `source` is the source's expression."""

    @abstractmethod
    def value(self, checkpoint_key: str) -> Array:
        """Return the value that is stored under a key; raises NoSuchTensorError."""

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        """Return the first elements of a tensor, flat; raises as `value` does."""
        return self.value(checkpoint_key).reshape(-1)[:count]

    @abstractmethod
    def stored(self, checkpoint_key: str) -> Stored | None:
        """Return dtype and shape of the tensor under a key, or None; do not read its value."""

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        """Return a tensor's layout and the checksums of its bytes; None if there are none."""
        return None

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""
        return (checkpoint_key,)


@dataclass(frozen=True)
class Graph:
    """The nodes of one object graph, by node id, and answers from their edges.

    `title` names the source for people: a path, or the class of the live object. Only a saved graph
    has a `provenance`; it is None for a live one. `calls` are known of live Keras models: which
    layer is called on the tensors of which, sorted.
    """

    nodes: tuple[Node, ...]
    title: str
    origin: Origin
    provenance: Provenance | None = field(default=None, repr=False, compare=False)
    calls: tuple[Call, ...] = field(default=(), repr=False)
    _access: Access | None = field(default=None, repr=False, compare=False)

    def path(self, node_id: int) -> tuple[str, ...]:
        """Return the local names that lead from the root to a node on the most natural path.

        This is the place in the outline: through the model rather than through the lists of an
        optimizer (see `tree.spanning_tree`). No edge leads to a slot variable below its variable:
        its path is that of the variable, then the slot's name.
        """
        names: list[str] = []
        while node_id != ROOT:
            names.append(self.tree.labels[node_id])
            node_id = self.tree.parents[node_id]
        return tuple(reversed(names))

    def name(self, node_id: int) -> str:
        """Return the node's name as TensorFlow prints it in errors and warnings.

        `(root).model.kernel`, or `(root).optimizer's state 'm' for (root).model.kernel`.
        """
        return tensorflow_name(self, node_id)

    def aliases(self, node_id: int) -> tuple[tuple[str, ...], ...]:
        """Return the node's other paths: one for each edge that leads to it off its `path`.

        Raises UnsupportedError if the paths have more than a million names. In a chain of nodes
        that all lead to one node, the number of names grows with the square of its length.
        """
        own = (self.tree.parents[node_id], self.tree.labels[node_id])
        paths: list[tuple[str, ...]] = []
        names = 0
        for parent, local_name in self.edges_to[node_id]:
            if (parent, local_name) != own:
                paths.append((*self.path(parent), local_name))
                names += len(paths[-1])
            if names > _MAX_ALIASED:
                raise UnsupportedError(
                    f"{self.title}: node {node_id} has aliases of more than {_MAX_ALIASED} names, "
                    f"by {len(self.edges_to[node_id])} edges"
                )
        return tuple(paths)

    def way_up(self, node_id: int) -> Iterator[tuple[int, str, int]]:
        """Yield the edges of a node's most natural path, from the node up to the root.

        Each is a parent, a local name and a child. It always ends: at the root, or at once for a
        node that no edges lead to from there.
        """
        while node_id in self._last_edges:
            parent, local_name = self._last_edges[node_id]
            yield parent, local_name, node_id
            node_id = parent

    def read(self, name_or_key: str) -> Array:
        """Return the value of one tensor.

        Args:
            name_or_key: What `node_id` takes. A checkpoint key takes precedence. A table has
                several tensors: `table [table-keys]` is one of them.

        Returns:
            An array of the tensor's own dtype and shape; strings are `bytes` objects. For a live
            graph, a copy of the variable's current value.

        Raises:
            NoSuchTensorError: Neither a key nor the name of a node with one tensor.
            NoSuchNodeError: Several nodes have this name.
            FormatError: Bytes are missing, or do not match their checksum.
            UnsupportedError: The dtype has no value in NumPy: a variant, a resource.
        """
        if self._access is None:
            raise NoSuchTensorError(f"{name_or_key!r}: this graph has no source to read from")
        try:
            return self._access.value(name_or_key)
        except NoSuchTensorError:
            from ckpt_viz.graphs.object_graph.meant import key_meant

            return self._access.value(key_meant(self, name_or_key))

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        """Return at most this many first elements of a tensor, flat; raises as `read` does.

        For a file it reads only their bytes if they are contiguous, and then unchecked.
        """
        if self._access is None:
            raise NoSuchTensorError(f"{checkpoint_key!r}: this graph has no source to read from")
        return self._access.beginning(checkpoint_key, count)

    def first_named(self, name: str) -> int | None:
        """Return the first node of this `name`, None if there is none."""
        return self._lookup.first_named(name)

    def node_id(self, name: str) -> int:
        """Return the one node that a name means.

        Args:
            name: A name in any form in which ckpt-viz or TensorFlow prints it: `net.l1`, `net/l1`,
                `(root).net.l1`, the end of a path such as the name of a layer, the same as the
                outline has it, a checkpoint key, or the full name of a variable, `dense/kernel:0`.

        Raises:
            NoSuchNodeError: No node has this name, or several have it.
        """
        from ckpt_viz.graphs.object_graph.lookup import first_meant
        from ckpt_viz.graphs.object_graph.meant import the_one

        return the_one(self, first_meant(self.meanings(name)), name)

    def meanings(self, name: str) -> Iterator[Sequence[int]]:
        """Yield the nodes that a name means as each kind of name, the most exact kind first."""
        return self._lookup.meanings(name)

    def stored(self, checkpoint_key: str) -> Stored | None:
        """Return dtype and shape of the tensor stored under a key; None if there is none.

        For a live graph, return what saving would store. Reads no value.
        """
        return self._access.stored(checkpoint_key) if self._access is not None else None

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        """Return the layout of a stored tensor's bytes, and their checksums.

        None if the source has none, as with live objects. Reads no value.
        """
        return self._access.fingerprint(checkpoint_key) if self._access is not None else None

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute: usually only its own key.

        A table's are `.../table-keys` and `.../table-values`.
        """
        return self._access.tensor_keys(checkpoint_key) if self._access is not None else ()

    def object(self, node_id: int) -> object | None:
        """Return the live object of a node; None for a saved graph or if the object is gone."""
        return self._access.object(node_id) if self._access is not None else None

    @property
    def second_places(self) -> Mapping[int, int]:
        """The first node of each variable that Keras saves twice, by its further nodes.

        An optimizer around another one saves the state of both.
        """
        return {} if self._access is None else self._access.second_places

    @property
    def is_name_based(self) -> bool:
        """Whether this has names and no objects, as some files do: the nodes are name scopes."""
        return self.layout is Layout.NAMES

    @property
    def is_of_keras(self) -> bool:
        """Whether this is arranged as in files of Keras or Orbax, which TensorFlow cannot read."""
        return self.layout in (Layout.KERAS_PATHS, Layout.KERAS_NAMES)

    @property
    def is_of_tfjs(self) -> bool:
        """Whether this is a model of TensorFlow.js, which no Python call loads as it is."""
        return self.written_by == TFJS

    @property
    def written_by(self) -> str:
        """The library that wrote a file which TensorFlow cannot read."""
        return KERAS if self.provenance is None else self.provenance.format.library

    @property
    def layout(self) -> Layout:
        """How the nodes are arranged."""
        if getattr(self._access, "by_names", False):  # the values of a session
            return Layout.NAMES
        of_access: Layout | None = getattr(self._access, "layout", None)
        if of_access is not None:
            return of_access
        known = None if self.provenance is None else LAYOUTS.get(self.provenance.format)
        return known or Layout.OBJECTS

    @property
    def stored_layout(self) -> Layout:
        """How the nodes of a file are arranged, also where its graph is taken as one of objects."""
        known = None if self.provenance is None else LAYOUTS.get(self.provenance.format)
        return known or self.layout

    @property
    def source(self) -> Any:
        """The object from which a live graph was made; None for a saved graph."""
        return getattr(self._access, "source", None)

    @property
    def is_held(self) -> bool:
        """Whether this is the graph of a snapshot, whose values are in memory."""
        return self.origin is Origin.SAVED and self.held is not None

    @property
    def is_unwritten(self) -> bool:
        """Whether no file has exactly this saved graph: it is a snapshot's, or an edited one."""
        is_edited = getattr(self._access, "is_edited", False)
        return self.is_held or (self.origin is Origin.SAVED and is_edited)

    @property
    def held(self) -> Any:
        """The tensors of a snapshot by checkpoint key; None for another graph."""
        return getattr(self._access, "tensors", None)

    @property
    def stored_in(self) -> Any:
        """The open checkpoint behind a saved graph; None for a live one."""
        return getattr(self._access, "stored_in", None)

    def accessor(self, node_id: int, source: str = "source") -> str:
        """Return a Python expression that evaluates to the live object of a node.

        Args:
            node_id: The node.
            source: The expression, usually a variable's name, for what was passed to `graph`.

        Raises:
            SourceError: The graph comes from a file, the object is gone, or `source` is no
                expression.
        """
        if self._access is None:
            raise SourceError(f"{self.title}: this graph has no live objects")
        return self._access.accessor(self, node_id, operand(source))

    @cached_property
    def first_edges(self) -> dict[int, tuple[int, str]]:
        """For each reachable node but the root: parent and local name of its first path.

        Declared slot variables follow their variable, since no edge leads to them.
        """
        return first_edges(self.nodes)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The names that the objects have themselves, as Keras' layers do."""
        return frozenset(node.own_name for node in self.nodes if node.own_name)

    @cached_property
    def edges_to(self) -> tuple[tuple[tuple[int, str], ...], ...]:
        """For each node: parent and local name of every edge that leads to it."""
        return edges_to(self.nodes)

    @cached_property
    def attribute_holders(self) -> frozenset[int]:
        """The nodes whose children have the names of attributes in Python, so far as they tell."""
        return attribute_holders(self.nodes)

    @cached_property
    def trainings(self) -> Sequence[Training | None]:
        """For each node: what a training does to it, None if the source says nothing of it."""
        from ckpt_viz.graphs.layers.training import trainings_of

        return trainings_of(self.nodes, self.tree, self._are_of_optimizers)

    @cached_property
    def parameters(self) -> Sequence[int]:
        """For each node: the number of its own parameters."""
        from ckpt_viz.graphs.layers.parameters import parameters_of

        return parameters_of(self.nodes, self.tree, self._are_of_optimizers)

    @cached_property
    def _are_of_optimizers(self) -> Sequence[int]:
        from ckpt_viz.graphs.layers.parameters import are_of_optimizers

        return are_of_optimizers(self.nodes, self.tree, self.hanging.variables)

    @cached_property
    def parameters_by_training(self) -> Mapping[Training, int]:
        """The number of parameters by what a training does to them; empty if nothing is known."""
        from ckpt_viz.graphs.layers.training import counted_by_training

        return counted_by_training(self.trainings, self.parameters)

    @cached_property
    def _last_edges(self) -> dict[int, tuple[int, str]]:
        return last_edges(self.tree, self.edges_to, self.first_edges)

    @cached_property
    def save_counter(self) -> int | None:
        """The counter that a tf.train.Checkpoint keeps at its root; None if there is none."""
        of_root = self.nodes[ROOT].children
        return next((c.node_id for c in of_root if c.local_name == SAVE_COUNTER), None)

    @cached_property
    def tree(self) -> Tree:
        """The place of each node in the outline."""
        return spanning_tree(self.nodes)

    @cached_property
    def layers(self) -> Layers:
        """The nodes as people think of them: layers by name, without what holds them together."""
        from ckpt_viz.graphs.layers.layers import layers_of

        names = self.names.of_nodes
        return layers_of(self.nodes, self.tree, {}, self.calls, names, self.hanging)

    @cached_property
    def names(self) -> LayerNames:
        """What people call the nodes."""
        return LayerNames(self, self.hanging.names_in_blocks())

    @cached_property
    def hanging(self) -> Hanging:
        """The variables that an optimizer alone holds."""
        from ckpt_viz.graphs.slots.hanging import hanging_from_optimizers

        return hanging_from_optimizers(self.nodes)

    def share(self, other: Graph) -> None:
        """Use what another graph of the same nodes has computed of them."""
        self.__dict__.update(tree=other.tree, hanging=other.hanging)

    @cached_property
    def _lookup(self) -> Lookup:
        from ckpt_viz.graphs.object_graph.lookup import Lookup

        return Lookup(self, self)
