"""Nodes of any shape for Hypothesis, also as no writer makes them."""

from __future__ import annotations

from hypothesis import strategies as st

from ckpt_viz import Child, Node, Role, SlotVariable
from ckpt_viz.graphs.slots.roles import assign_roles
from tests.support.graphs import graph

NAMES = st.sampled_from(
    ["a", "_b", "keras_api", "_variables", "_trainable_variables", "0", "1", "b0_x", "b1_x", "b1_y"]
)
_ROLES = st.sampled_from([Role.OBJECT, Role.LAYER, Role.CONTAINER])


@st.composite
def any_nodes(draw: st.DrawFn) -> tuple[Node, ...]:
    """Graphs as no writer makes them, too: unreachable nodes, slots of slots, in circles."""
    count = draw(st.integers(1, 8))
    ids = st.integers(0, count - 1)
    children = st.lists(st.builds(Child, NAMES, ids), max_size=4).map(tuple)
    slots = st.lists(st.builds(SlotVariable, NAMES, ids, ids), max_size=2).map(tuple)
    variable = graph({}, variables=(0,)).nodes[0].attributes
    attributes = st.sampled_from([(), variable])
    fields = st.tuples(children, attributes, slots, st.none(), _ROLES)
    node = fields.map(lambda given: Node(*given))
    return assign_roles(draw(st.lists(node, min_size=count, max_size=count)))
