"""Diffs of random live objects, with TensorFlow as the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

import ckpt_viz as cv
from tests.programs.law import Law, UnfitError
from tests.programs.pairs import save
from tests.programs.plain_recipes import PLAIN, Changed, changed_program
from tests.programs.recipes import Recipe
from tests.support.amounts import amount

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
PROGRAMS = amount(50, 500)


def test_live_objects_do_not_differ_from_their_file(seed: int) -> None:
    def judge(recipe: Recipe, at: Path) -> None:
        built = PLAIN.build(recipe, 1)
        prefix = save(built, "write", str(at / "ckpt"))
        assert cv.diff(prefix, built.root).is_empty
        assert cv.diff(built.root, prefix).is_empty

    claim = "Live objects do not differ from their file"
    Law(claim, PLAIN.source, judge).hold(seed, PROGRAMS)


def test_nodes_are_paired_as_checkpoint_view_matches_them(seed: int) -> None:
    claim = "A diff pairs nodes as CheckpointView matches them"
    Law(claim, changed_program, _pairs_as_matched).hold(seed, PROGRAMS)


def _pairs_as_matched(program: Changed, at: Path) -> None:
    import tensorflow as tf

    built = PLAIN.build(program.now, -1)
    live = built.root
    if type(live) is not tf.train.Checkpoint or live._saver._graph_view.root is not live:
        raise UnfitError("CheckpointView knows nothing of attached children")
    prefix = save(PLAIN.build(program.was, 1), "write", str(at / "ckpt"))
    found = cv.diff(prefix, live)
    matched = tf.train.CheckpointView(prefix).match(live)
    # There, several saved nodes can be one object; here the first of them is it. Slots go by
    # their variables here.
    firsts = {id(obj): node for node, obj in sorted(matched.items(), reverse=True)}
    expected = {
        node: id(obj)
        for node, obj in matched.items()
        if firsts[id(obj)] == node and found.a.nodes[node].slot is None
    }
    # Names also match a value with an object that cannot take it. The diff may know where a
    # variable is now, or what an object was.
    moved = {node: found.b.object(obj) for node, obj in found.moved_ids.items()}
    elsewhere = {id(obj) for obj in moved.values()}
    for node in [node for node in expected if node in moved or expected[node] in elsewhere]:
        assert not _takes(matched[node], found.a.nodes[node])
        del expected[node]
    assert all(_takes(obj, found.a.nodes[node]) for node, obj in moved.items() if node in matched)
    # The names of a shared node may lead to several objects. CheckpointView warns, and takes one.
    ids = {id(found.b.object(node)): node for node in range(len(found.b.nodes))}
    for node in expected.keys() & found.pairs.keys():
        names = {*found.b.edges_to[found.pairs[node]]}
        edges = found.a.edges_to[node]
        if any((ids.get(id(matched.get(above))), name) in names for above, name in edges):
            expected[node] = id(found.b.object(found.pairs[node]))
    assert expected == {
        ours: id(found.b.object(theirs))
        for ours, theirs in found.pairs.items()
        if found.a.nodes[ours].slot is None and found.b.nodes[theirs].slot is None
    }


def _takes(obj: object, saved: cv.Node) -> bool:
    """Return whether an object is a variable with the dtype and the shape of a saved one."""
    import tensorflow as tf

    values = [(a.name, a.dtype, a.shape) for a in saved.attributes]
    return isinstance(obj, tf.Variable) and values == [
        ("VARIABLE_VALUE", obj.dtype.name, tuple(obj.shape))
    ]
