"""The public object graph: a graph that can draw itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import EditError, SourceError
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.render.views import MAX_LINES, View

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import graphviz

    from ckpt_viz.files.values.reading import Memo
    from ckpt_viz.files.values.row import ValueRow
    from ckpt_viz.files.values.running import Begin
    from ckpt_viz.files.values.table import ValueTable
    from ckpt_viz.files.values.verifying import Verification
    from ckpt_viz.graphs.search.measures import Measures
    from ckpt_viz.matching.story.step import Story

_NOT_PICKLED = ("_read_values", "_search_index", "steps")


@dataclass(frozen=True)
class ObjectGraph(Graph):
    """An object graph, of live objects or of a saved checkpoint.

    >>> graph = cv.graph("ckpts/ckpt-3")
    >>> print(graph)
    ckpts/ckpt-3 (saved checkpoint): 10 nodes: 4 object, 6 variable
    (root)           object    27 parameters
    ├─ net           object    27 parameters
    │  ├─ head       object    15 parameters
    │  │  ├─ w       variable  float32 4×3
    │  │  └─ b       variable  float32 3
    │  └─ hidden     object    12 parameters
    │     ├─ w       variable  float32 2×4
    │     └─ b       variable  float32 4
    ├─ step          variable  int32 scalar
    └─ save_counter  variable  int64 scalar
    >>> graph.find("shape:[*,3]")
    (6,)
    >>> slim = graph.without("step")  # an edited graph; the file stays as it is

    `nodes` are the nodes by node id; node 0 is the root. A saved graph has the nodes of its file, a
    live graph those that `Checkpoint.write` would save now. `print(graph)` shows its layers.
    """

    @classmethod
    def of(cls, graph: Graph) -> ObjectGraph:
        """Return a graph as an object that can draw itself."""
        if isinstance(graph, cls):
            return graph
        return cls(**{field.name: getattr(graph, field.name) for field in fields(graph)})

    def find(self, query: str) -> tuple[int, ...]:
        """Return the ids of the nodes that a query finds: first those of which it is a whole name.

        All others follow in the order of the outline.
        A query about values (`norm>10`, `is:nan`) reads them all, with a progress bar. A graph of a
        file reads them once.

        Args:
            query: What the search box takes: words, fields (`role:slot size>1MB`), a regular
                expression between slashes, or a text of TensorFlow. docs/search.md has the grammar.

        Raises:
            QueryError: The query cannot be read, or asks a single graph for a comparison.
        """
        from ckpt_viz.graphs.search.evaluate import find

        return find(self, query, measure=self.measures)

    def renamed(self, names: Mapping[str, str]) -> ObjectGraph:
        """Return a graph with other names: `graph.renamed({"net": "model", "model.a": "model.b"})`.

        All happen at once, so two parts can exchange their names. A name that another renaming
        makes is looked up after it. The subtree goes along, and so do its keys. Like all edits,
        this reads no value and leaves the graph and its file as they are.

        Raises:
            EditError: The new name is taken, or in another place.
            NoSuchNodeError: No node has the old name, or several have it.
        """
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.renamed(self, names))

    def without(self, *queries: str) -> ObjectGraph:
        """Return a graph without the parts that names or queries mean: `without("role:slot")`.

        A part goes with all that is only below it, and with the slots of its variables. Lists close
        the gaps.

        Raises:
            EditError: A query finds nothing, or the root.
            QueryError: A query cannot be read.
        """
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.without(self, self._meant(queries)))

    def only(self, *queries: str) -> ObjectGraph:
        """Return a graph of the parts that names or queries mean, and the way to them.

        Slots stay if their optimizer does. Raises as `without`.
        """
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.only(self, self._meant(queries)))

    def moved(self, name: str, holder: str, local_name: str | None = None) -> ObjectGraph:
        """Return a graph in which another node holds a part, by its local name or by a new one.

        In a list, `local_name` is the place: later items move on. Raises as `renamed`.
        """
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.moved(self, name, holder, local_name))

    def inserted(self, holder: str, local_name: str, like: str) -> ObjectGraph:
        """Return a graph with a new part that has the structure of the part `like`, and no values.

        In a list, `local_name` is the place: later items move on. Raises as `renamed`.
        """
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.inserted(self, holder, local_name, like))

    def exchanged(self, a: str, b: str) -> ObjectGraph:
        """Return a graph in which two parts have each other's place. Raises as `renamed`."""
        from ckpt_viz.graphs.edits import edits

        return self.of(edits.exchanged(self, a, b))

    def cast(self, dtypes: Mapping[str, str]) -> ObjectGraph:
        """Return a graph in which floats have another dtype: `cast({"role:variable": "bfloat16"})`.

        `dtypes` has TensorFlow's names of dtypes by names or queries. A part means its variables of
        floats; slot variables count if a query finds them. A value is rounded to the nearest one
        when it is read.

        Raises:
            EditError: A query finds nothing, or a value that is no float; or the dtype is none of
                floats.
            QueryError: A query cannot be read.
        """
        from ckpt_viz.graphs.edits.new_values import cast

        nodes = {query: [*self._meant([query])] for query in dtypes}
        graph: Graph = self
        for query, dtype in dtypes.items():
            graph = cast(graph, nodes[query], dtype)
        return self.of(graph)

    def with_values(self, arrays: Mapping[str, Any]) -> ObjectGraph:
        """Return a graph in which variables have other values, by name: `{"head.bias": array}`.

        `arrays` has what `numpy.array` takes, in any shape. Floats are cast to the dtype that the
        variable has, other dtypes must be the same. Strings are an array of `bytes`.

        Raises:
            EditError: The node has no value, or several; or the dtype is another one.
            NoSuchNodeError: No node has the name, or several have it.
        """
        from ckpt_viz.graphs.edits.new_values import with_values

        return self.of(with_values(self, arrays))

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write the graph as a new checkpoint, and return its prefix.

        It is what TensorFlow would have written for this graph: keys, object graph and slots. Bytes
        are copied and tested against their checksums, except for what an edit has changed.
        TensorFlow is not needed. It replaces no file.

        Of a `.keras` or `.weights.h5`, a prefix that ends alike makes a copy that Keras loads: its
        groups have `/` where Keras 2 has written backslashes on Windows.

        Raises:
            EditError: A part has no value, since an edit has inserted it.
            SourceError: The graph is of live objects, whose values may change: edit and write the
                graph of a snapshot.
            CkptVizError: A file of the prefix exists or cannot be written, or a value cannot be
                read. No file remains.
        """
        from ckpt_viz.graphs.edits.edited_access import first_graph
        from ckpt_viz.live.writing.keras_copy import is_path_of_copy, write_keras_copy
        from ckpt_viz.live.writing.rewrite import write_edited

        path = os.fspath(prefix)
        if is_path_of_copy(path):
            write_keras_copy(self, path)
            return path
        if first_graph(self).origin is Origin.LIVE:
            raise SourceError(
                f"{self.title}: found live objects, whose values may change; expected a saved "
                "graph: cv.snapshot(live).graph"
            )
        write_edited(self, path)
        return path

    def to_npz(self, path: str | os.PathLike[str]) -> str:
        """Write all tensors into an `.npz` archive under their printed names; return its path.

        `numpy.load(path)["model.dense.kernel"]` is one of them. bfloat16 and other small floats
        become float32, which has the same values, and strings NumPy's `S`. Tensors of one printed
        name have their checkpoint keys as names. It holds one tensor in memory at a time, and
        replaces no file.

        Raises:
            CkptVizError: The file exists or cannot be written, or a value cannot be read. No file
                remains.
        """
        from ckpt_viz.live.writing.npz import write_npz

        name = os.fspath(path)
        write_npz(self, name)
        return name

    def _meant(self, queries: Sequence[str]) -> Iterator[int]:
        for query in queries:
            nodes = parts_meant(self, query)
            if not nodes:
                raise EditError(
                    f"{self.title}: found no node for {query!r}, expected a name or query"
                )
            yield from nodes

    def measures(self, begin: Begin | None = None) -> Measures:
        """Return what the values of each node measure; read the unread ones first.

        If this is interrupted, it returns what was read. `begin` starts the progress bar; None:
        tqdm's.
        """
        from ckpt_viz.files.values.measured import measures_of
        from ckpt_viz.files.values.reading import rows_as_read, tensors_of
        from ckpt_viz.files.values.running import bar

        tensors = tensors_of(self)
        read: list[tuple[int, ValueRow]] = []
        with suppress(KeyboardInterrupt):
            for row in rows_as_read(self, tensors, self._read_values, begin=begin or bar):
                read.append((row.node_id, row))
        return measures_of(len(self.nodes), read, len(tensors) - len(read))

    def values(
        self,
        where: str | None = None,
        *,
        executor: Executor | None = None,
        progress: bool = True,
    ) -> ValueTable:
        """Return statistics of the stored tensors: extremes, moments, zeros, NaNs, histograms.

        Each byte is read once, in ranges of at most 64 MB, and checked against its checksum. A
        tensor that cannot be read has a row with an `error`; the others are computed. If this is
        interrupted, the next call goes on where it stopped. A graph of a file also remembers its
        finished rows. The values of live objects are those of now, and are read in this process.

        Args:
            where: A query as `find` takes it: only the tensors of the nodes that it finds.
            executor: Any `concurrent.futures.Executor`, for the tensors of a file.
            progress: Whether to show a bar if it takes more than a second.

        Raises:
            QueryError: `find` cannot read the query.
        """
        from ckpt_viz.files.values.reading import rows_as_read, tensors_of
        from ckpt_viz.files.values.running import bar, silent
        from ckpt_viz.files.values.table import ValueTable

        tensors = tensors_of(self, where)
        memo, begin = self._read_values, bar if progress else silent
        rows = rows_as_read(self, tensors, memo, executor=executor, begin=begin)
        row_of = {row.key: row for row in rows}
        return ValueTable(self, [row_of[tensor.row.key] for tensor in tensors])

    def statistics(self, attribute: Attribute) -> ValueRow | None:
        """Return the statistics of an attribute's tensor, read at once if it is unread.

        None for an attribute of several tensors, and for one that takes long to read. The row has
        no names.
        """
        from ckpt_viz.files.values.reading import row_at_once

        return row_at_once(self, attribute, self._read_values)

    @cached_property
    def _read_values(self) -> Memo:
        from ckpt_viz.files.values.reading import Memo

        return Memo()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _NOT_PICKLED}

    def verify(self, *, executor: Executor | None = None, progress: bool = True) -> Verification:
        """Return which tensors of a checkpoint are damaged: every stored byte is read and tested.

        The result is a tuple in the order of the outline, `()` where all is well. Its `untested`
        names the tensors whose checksums this version does not know; `tensors` and `nbytes` count
        the others. A whole checkpoint is restored by TensorFlow without a DataLossError. It needs
        16 MiB of memory for each worker, for tensors of any size.

        Args:
            executor: Any `concurrent.futures.Executor` that shares the work; None for this thread.
            progress: Whether to show a progress bar after a second.

        Raises:
            SourceError: The graph is of live objects, or of a file without checksums.
            CkptVizError: A file of the V1 format cannot be read.
        """
        from ckpt_viz.files.values.verifying import verify

        return verify(self, executor=executor, progress=progress)

    @cached_property
    def steps(self) -> Story:
        """The story of the save: step by step how TensorFlow saves these objects.

        For live objects it is what a save would do now, with what it leaves out. A
        `tf.train.Checkpoint` is saved by `save`, a CheckpointManager by its `save`, which also
        deletes checkpoints, and all others by `tf.train.Checkpoint(root=…).write`. For a file it is
        what the file shows of its save. `print(graph.steps)` shows alike steps as one line. Nothing
        is saved or deleted. See docs/steps.md.
        """
        from ckpt_viz.live.sources.saving import story_of_save

        return story_of_save(self)

    def to_dot(self, view: View = "layers") -> graphviz.Digraph:
        """Return the layers or the objects in the style of TensorFlow's guide, for Graphviz."""
        from ckpt_viz.graphs.render.dot import to_dot

        return to_dot(self, view=view)

    def to_svg(self, view: View = "layers") -> str:
        """Return a static SVG: the layers in at most 60 rows, or the objects in at most 300."""
        from ckpt_viz.graphs.render.svg import to_svg

        return to_svg(self, view=view)

    def to_json(self) -> dict[str, Any]:
        """Return the graph as data for `json.dumps`: see docs/graph_json.md."""
        from ckpt_viz.graphs.render.graph_json import graph_json

        return graph_json(self)

    def to_text(self, view: View = "layers", max_lines: int = MAX_LINES) -> str:
        """Return the layers, or the tree of all objects, for a terminal; `print` shows layers."""
        notes = []
        if self.is_unwritten:
            from ckpt_viz.graphs.edits.left_out import left_out_in_words

            left_out = left_out_in_words(self)
            notes = [f"left out: {left_out}"] if left_out else []
        if view == "objects":
            from ckpt_viz.graphs.render.text import render_tree

            return render_tree(self, max_lines, notes)
        from ckpt_viz.graphs.render.layer_text import render_layers

        return render_layers(self, max_lines, notes)

    def __str__(self) -> str:
        from ckpt_viz.graphs.render.encodings import shown_on_stdout

        return shown_on_stdout(self.to_text())

    def __repr__(self) -> str:
        from ckpt_viz.graphs.render.encodings import shown_on_stdout
        from ckpt_viz.graphs.render.text import summary

        return shown_on_stdout(f"<ObjectGraph of {summary(self)}>")


def parts_meant(graph: ObjectGraph, query: str) -> Sequence[int]:
    """Return the nodes that an edit takes for a name or query; raises QueryError."""
    from ckpt_viz.graphs.object_graph.lookup import first_meant
    from ckpt_viz.graphs.search.fields import begins_with_field

    is_name = not begins_with_field(query)  # to look up names in a large graph takes long
    return (first_meant(graph.meanings(query)) if is_name else ()) or graph.find(query)
