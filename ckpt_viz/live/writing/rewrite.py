"""Writes the values of a checkpoint into a new one: for a program, or as someone has edited it.

The new checkpoint has the object graph of the program, or of the edited graph, with the checkpoint
keys that TensorFlow would write for it (tensorflow/python/checkpoint/save_util.py). The values are
copied bit by bit, unless an edit has changed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ckpt_viz.errors import EditError, UnsupportedError
from ckpt_viz.formats.bundles.bundle_writer import write_bundle
from ckpt_viz.graphs.edits.as_checkpoint import assert_short_keys
from ckpt_viz.graphs.edits.edited_access import first_graph, new_values_of, old_names_of, origins_of
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers
from ckpt_viz.live.writing.new_checkpoint import NewCheckpoint
from ckpt_viz.live.writing.own_bytes import assert_own_bytes
from ckpt_viz.live.writing.tensors import changed, tensor_of
from ckpt_viz.matching.correspondence.conversions import Conversion


def write_mapped(
    saved: Graph,
    live: Graph,
    pairs: Sequence[tuple[int, int]],
    prefix: str,
    conversions: Mapping[tuple[int, int], Conversion] = MappingProxyType({}),
) -> None:
    """Write a checkpoint that the program restores with plain `restore`.

    Args:
        saved: The graph of a checkpoint, whose values are read.
        live: The graph of the program, or of a checkpoint that this program would save.
        pairs: Saved nodes, and the live objects that get their values. Optimizers without values
            of their own count too: the slot variables that they will make belong to them.
        prefix: Of the new checkpoint, which has no file yet.
        conversions: How values change their form, by saved node and live object.

    A live object without a counterpart keeps its value: nothing leads to it in the new checkpoint.
    So `assert_existing_objects_matched` names it.

    Raises:
        CkptVizError: A file of the prefix exists or cannot be written, or a value cannot be read.
            No file remains.
    """
    if _is_name_based(live):
        raise UnsupportedError(
            f"{live.title}: a Saver restores it by names, expected a program or a checkpoint with "
            "an object graph"
        )
    rewrite = NewCheckpoint(saved, live)
    for node, obj in pairs:
        if has_value(saved.nodes[node]):
            rewrite.put(node, obj, conversions.get((node, obj)))
    rewrite.add_unmade_slots(pairs)
    rewrite.add_save_counter()
    write_bundle(prefix, rewrite.finished())


def write_edited(graph: Graph, prefix: str) -> None:
    """Write a saved graph, or what edits made of it, as the checkpoint that TensorFlow would write.

    Raises:
        EditError: A part has no value: an edit has inserted it.
        CkptVizError: A file of the prefix exists or cannot be written, or a value cannot be read.
            No file remains.
    """
    assert_short_keys(graph)
    _assert_valued(graph)
    assert_own_bytes(graph)
    saved, values = first_graph(graph), new_values_of(graph)
    if graph.is_name_based:
        names = old_names_of(graph)
        copied = {new: tensor_of(saved, old) for new, old in names.items()}
        write_bundle(prefix, {n: changed(graph, values, n, t) for n, t in copied.items()})
        return
    rewrite = NewCheckpoint(saved, graph, values)
    for obj, origin in enumerate(origins_of(graph)):
        if has_value(graph.nodes[obj]) or graph.nodes[obj].attributes:
            rewrite.put_edited(None if origin.is_copy else origin.node, obj)
    write_bundle(prefix, rewrite.finished())


def _assert_valued(graph: Graph) -> None:
    """Raise EditError if a part of an edited graph has no value that can be written."""
    for obj, (node, origin) in enumerate(zip(graph.nodes, origins_of(graph), strict=True)):
        of_code = node.registered_saver is not None
        is_new = of_code and (origin.is_copy or origin.node is None)
        keys_of_node = (attribute.checkpoint_key for attribute in node.attributes)
        if is_new or not all(map(graph.tensor_keys, keys_of_node)):
            remedy = "leave it out" if of_code else "give it one by with_values"
            raise EditError(
                f"{graph.title}: {graph.names.place_or_state(obj)} has no value, since an edit has "
                f"inserted it; {remedy}"
            )


def _is_name_based(graph: Graph) -> bool:
    if graph.provenance is not None:
        return graph.is_name_based
    return graph.source is not None and tf_savers.is_saver(graph.source)
