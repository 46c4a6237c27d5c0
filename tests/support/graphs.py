"""Small object graphs, in a notation that shows their shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, SlotVariable
from ckpt_viz.graphs.slots.roles import assign_roles

Edges = Mapping[int, Mapping[str, int]]


def nodes(
    edges: Edges,
    variables: tuple[int, ...] = (),
    slots: Mapping[int, tuple[tuple[str, int, int], ...]] | None = None,
) -> tuple[Node, ...]:
    """Return nodes by id: their edges, which are variables, and slots as optimizers declare them.

    A slot is (name, variable, slot variable).
    """
    declared = slots or {}
    count = 1 + max(*edges, *(t for out in edges.values() for t in out.values()), *variables, 0, 0)
    return tuple(
        Node(
            children=tuple(Child(name, target) for name, target in edges.get(i, {}).items()),
            attributes=(_value(i),) if i in variables else (),
            slot_variables=tuple(SlotVariable(*slot) for slot in declared.get(i, ())),
        )
        for i in range(count)
    )


def graph(
    edges: Edges,
    variables: tuple[int, ...] = (),
    slots: Mapping[int, tuple[tuple[str, int, int], ...]] | None = None,
    title: str = "test",
) -> ObjectGraph:
    """Return those nodes as a saved object graph with roles."""
    return ObjectGraph(assign_roles(nodes(edges, variables, slots)), title, Origin.SAVED)


def keras3_adam() -> ObjectGraph:
    """Return what Keras 3 saves of a layer and Adam: slots only as lists of the optimizer."""
    return graph(
        {
            0: {"optimizer": 1, "layer": 2},
            1: {"_variables": 3, "_trainable_variables": 4, "_iterations": 5, "_momentums": 6},
            2: {"_kernel": 7, "bias": 8},
            3: {"0": 5, "1": 9, "2": 10},
            4: {"0": 7, "1": 8},
            6: {"0": 9, "1": 10},
        },
        variables=(5, 7, 8, 9, 10),
    )


def without_optimizer() -> ObjectGraph:
    """Return the layer of `keras3_adam` alone."""
    layer = graph({0: {"layer": 1}, 1: {"_kernel": 2, "bias": 3}}, variables=(2, 3))
    kernel, bias = keras3_adam().nodes[7:9]
    return replace(layer, nodes=(*layer.nodes[:2], kernel, bias))


def transformer(blocks: int) -> ObjectGraph:
    """Return a flat list of layers: an embedding, blocks of two, and a head, each with a kernel."""
    names = ["embed", *[f"b{i}_{part}" for i in range(blocks) for part in ("mix", "norm")], "head"]
    ids = {name: 3 + 2 * place for place, name in enumerate(names)}
    edges = {0: {"model": 1}, 1: {"_layers": 2}, 2: ids} | {
        layer: {"kernel": layer + 1} for layer in ids.values()
    }
    one = graph(edges, tuple(layer + 1 for layer in ids.values()))
    nodes = [
        node._replace(attributes=tuple(a._replace(shape=(4, 5)) for a in node.attributes))
        for node in one.nodes
    ]
    return replace(one, nodes=tuple(nodes))


def named(graph: ObjectGraph, name: str) -> ObjectGraph:
    """Return the graph with every edge and attribute renamed to one hostile name."""
    return replace(
        graph,
        nodes=tuple(
            node._replace(
                children=tuple(
                    c._replace(local_name=f"{name}{i}") for i, c in enumerate(node.children)
                ),
                attributes=tuple(
                    a._replace(full_name=name, checkpoint_key=name) for a in node.attributes
                ),
            )
            for node in graph.nodes
        ),
    )


def _value(node_id: int) -> Attribute:
    key = f"v{node_id}/.ATTRIBUTES/VARIABLE_VALUE"
    return Attribute("VARIABLE_VALUE", f"v{node_id}", key, "float32", (node_id, 2), node_id * 8)
