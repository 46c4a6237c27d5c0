"""Diffs of random live objects, with TensorFlow as the oracle."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from tests.support.amounts import amount
from tests.support.oracle import assert_causes_hold_all_problems
from tests.test_live_random import any_checkpoint

pytestmark = pytest.mark.tf

_random = settings(
    max_examples=amount(10, 50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@_random
@given(st.data())
def test_live_objects_do_not_differ_from_their_file(data: st.DataObject) -> None:
    checkpoint = any_checkpoint(data.draw)
    with tempfile.TemporaryDirectory() as directory:
        prefix = checkpoint.write(str(Path(directory) / "ckpt"))
        assert cv.diff(prefix, checkpoint).is_empty
        assert cv.diff(checkpoint, prefix).is_empty


@_random
@given(st.data())
def test_nodes_are_paired_as_checkpoint_view_matches_them(data: st.DataObject) -> None:
    import tensorflow as tf

    saved, live = any_checkpoint(data.draw), any_checkpoint(data.draw)
    # Attached children: CheckpointView knows nothing of them.
    assume(live._saver._graph_view.root is live)
    with tempfile.TemporaryDirectory() as directory:
        prefix = saved.write(str(Path(directory) / "ckpt"))
        found = cv.diff(prefix, live)
        assert_causes_hold_all_problems(found.overlay)
        matched = tf.train.CheckpointView(prefix).match(live)
    # There, several saved nodes can be one object; here the first of them is it. Slots go by
    # their variables here.
    firsts = {id(obj): node for node, obj in sorted(matched.items(), reverse=True)}
    expected = {
        node: id(obj)
        for node, obj in matched.items()
        if firsts[id(obj)] == node and found.a.nodes[node].slot is None
    }
    assert expected == {
        ours: id(found.b.object(theirs))
        for ours, theirs in found.pairs.items()
        if found.a.nodes[ours].slot is None and found.b.nodes[theirs].slot is None
    }
