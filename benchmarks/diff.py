"""Processor time of a diff of two graphs, against the correspondence that it asks.

Both graphs have layers of a kernel and a bias, their slots in Adam, and one list. In the second
one, the first layer of the list is new, and the next has another name. The last line is about two
checkpoints of one training, which have equal nodes.

    python -m benchmarks.diff [--nodes 5000 20000] [--runs 3]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, ObjectGraph, Origin, SlotVariable
from ckpt_viz.graphs.slots.roles import assign_roles
from ckpt_viz.matching.correspondence.correspond import correspond


def model(layers: int, *, inserted: bool = False) -> ObjectGraph:
    """Return a checkpoint with so many layers in a list, of 7 nodes each, the slots included."""
    nodes = [Node(), Node(), Node()]  # root, list, optimizer
    items: list[Child] = []
    slots: list[SlotVariable] = []
    names = [f"layer_{i}" for i in range(layers)]
    if inserted:
        names = ["new", "renamed", *names[1:]]
    for place, name in enumerate(names):
        layer = len(nodes)
        items.append(Child(str(place), layer))
        nodes.append(Node((Child("kernel", layer + 1), Child("bias", layer + 2))))
        for own, shape in (("kernel", (8, 8 + place % 50)), ("bias", (8 + place % 50,))):
            nodes.append(_variable(f"{name}/{own}", shape))
        for own, variable in (("kernel", layer + 1), ("bias", layer + 2)):
            for slot in "mv":
                slots.append(SlotVariable(slot, variable, len(nodes)))
                nodes.append(_variable(f"{name}/{own}/{slot}", nodes[variable].attributes[0].shape))
    nodes[0] = Node((Child("layers", 1), Child("optimizer", 2)))
    nodes[1], nodes[2] = Node(tuple(items)), Node(slot_variables=tuple(slots))
    return ObjectGraph(assign_roles(nodes), "model", Origin.SAVED)


def _variable(name: str, shape: tuple[int, ...] | None) -> Node:
    return Node(attributes=(Attribute("VARIABLE_VALUE", name, name, "float32", shape, 0),))


def _made(layers: int) -> object:
    return model(layers), model(layers, inserted=True)


def _changed(layers: int) -> object:
    return cv.diff(model(layers), model(layers, inserted=True))


def _asked(layers: int) -> object:
    return correspond(model(layers), model(layers, inserted=True))


def _equal(layers: int) -> object:
    return cv.diff(model(layers), model(layers))


def seconds(work: Callable[[], object], runs: int) -> float:
    """Return the median of the processor time."""
    times = []
    for _ in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return statistics.median(times)


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[5000, 20000])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for count in options.nodes:
        made, changed, asked, equal = (
            seconds(partial(work, count // 7), options.runs)
            for work in (_made, _changed, _asked, _equal)
        )
        diff, pairs = changed - made, asked - made
        print(
            f"{count} nodes: diff {diff:.2f} s, correspondence {pairs:.2f} s, "
            f"{diff / pairs:.2f} times; equal nodes {max(equal - made, 0):.2f} s"
        )


if __name__ == "__main__":
    main()
