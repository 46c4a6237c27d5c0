"""Writes a file with the names of a program that a Saver restores."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.answers.restore_fix.applying_names import values_of
from ckpt_viz.graphs.edits.by_names import with_names
from ckpt_viz.graphs.edits.edited_access import NewValue
from ckpt_viz.graphs.edits.new_values import replaced
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.writing.rewrite import write_edited
from ckpt_viz.matching.correspondence.of_savers import NamesMapping
from ckpt_viz.matching.correspondence.pairs import Pair


def write_names(mapping: NamesMapping, sure: Sequence[Pair], prefix: str) -> None:
    """Write the values of some pairs under the names of the program, in its dtypes.

    What is joined or cast is in memory meanwhile.
    """
    from ckpt_viz.formats.arrays.tensors import frozen

    live = mapping.live
    olds = {
        _value(live, pair.obj).full_name: _value(mapping.saved, pair.node).checkpoint_key
        for pair in sure
    }
    made = [pair for pair in sure if _is_made(mapping, pair)]
    values = {
        _value(live, obj).full_name: NewValue(
            _value(live, obj).dtype or "", array.shape, frozen(array)
        )
        for obj, array in values_of(mapping, made)
    }
    write_edited(replaced(with_names(mapping.saved, olds), values), prefix)


def _is_made(mapping: NamesMapping, pair: Pair) -> bool:
    """Return whether the program needs another tensor than the file has."""
    dtypes = _value(mapping.saved, pair.node).dtype, _value(mapping.live, pair.obj).dtype
    return pair.obj in mapping.joined or (None not in dtypes and dtypes[0] != dtypes[1])


def _value(graph: Graph, node: int) -> Attribute:
    return graph.nodes[node].attributes[0]
