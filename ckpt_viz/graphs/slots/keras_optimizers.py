"""The Keras optimizers that do not declare their slots, and what they track.

These are Keras 3, and Keras 2 from 2.11 on. `keras_3_slots` and `keras_2_slots` recognise slots
from this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.nodes.nodes import Child, Node, is_variable
from ckpt_viz.graphs.slots.optimizer_table import Generation

Shape = tuple[int, ...] | None

VARIABLES = "_variables"  # the list in which such an optimizer tracks all its variables
TRAINABLE = "_trainable_variables"  # the list in which Keras 3 tracks what an optimizer trains
# Adafactor's lists: row and column factors of a second moment, and the moment itself.
FACTORS = ("_r", "_c")
FACTORED = "_v"


def trained_variables(nodes: Sequence[Node], optimizer: int) -> list[int]:
    """Return the variables that an optimizer of Keras 3 lists as trained, in its order."""
    lists = [child.node_id for child in nodes[optimizer].children if child.local_name == TRAINABLE]
    items = [item for top in lists for item in nodes[top].children if item.local_name.isdecimal()]
    return [item.node_id for item in sorted(items, key=lambda item: int(item.local_name))]


@dataclass(frozen=True, slots=True)
class KerasOptimizer:
    """What a Keras optimizer tracks.

    `own` holds the variables of `_variables` that may be slots. They are not the model's, and the
    optimizer does not track them under their own names, as it does rates and counters. `trainable`
    holds the model's variables in the optimizer's order; None if it does not track them, as in
    Keras 2.
    """

    node_id: int
    own: tuple[int, ...]
    trainable: tuple[Child, ...] | None
    lists: Mapping[str, tuple[Child, ...]]


def keras_optimizers(nodes: Sequence[Node]) -> Iterator[KerasOptimizer]:
    """Yield the Keras optimizers of a graph that may have slots which they do not declare."""
    # A list belongs to one optimizer: reading it again for each of many would be quadratic.
    taken: set[int] = set()
    for node_id, node in enumerate(nodes):
        if not node.children or not is_keras_optimizer(nodes, node):
            continue
        lists: dict[str, tuple[Child, ...]] = {}
        for child in node.children:
            held = nodes[child.node_id]
            if child.node_id not in taken and not held.attributes:
                taken.add(child.node_id)
                lists[child.local_name] = tuple(
                    item
                    for item in held.children
                    if item.local_name.isdecimal() and is_variable(nodes[item.node_id].attributes)
                )
        variables, trainable = lists.pop(VARIABLES, ()), lists.pop(TRAINABLE, None)
        foreign = {child.node_id for child in (*node.children, *(trainable or ()))}
        own = tuple(c.node_id for c in variables if c.node_id not in foreign)
        yield KerasOptimizer(node_id, own, trainable, lists)


def is_keras_optimizer(nodes: Sequence[Node], node: Node) -> bool:
    """Return whether this is an optimizer of Keras 3, or a new one of Keras 2 (2.11 and later).

    Such an optimizer tracks its `_variables`, and its iterations are the first of them.
    """
    for child in node.children:
        if child.local_name == VARIABLES:
            first = nodes[child.node_id].children[:1]
            return any(
                c.local_name in ("_iterations", "iterations") and c.node_id == first[0].node_id
                for c in node.children
                if first
            )
    return False


def generation_of(optimizer: Node) -> Generation | None:
    """Return how an optimizer keeps its state, judged by its graph; None if it is no optimizer."""
    names = {child.local_name for child in optimizer.children}
    if names >= {"iter", "learning_rate"} or names >= {"iter", "decay"}:
        return Generation.LEGACY
    if optimizer.slot_variables:
        return Generation.LEGACY if "iter" in names else Generation.TENSORFLOW_1
    if names >= {VARIABLES, TRAINABLE}:
        return Generation.KERAS_3
    if VARIABLES in names and names & {"_iterations", "iterations"}:
        return Generation.KERAS_2
    return None


def factor_shapes(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of Adafactor's row and column factors; vectors are not factored.

    >>> factor_shapes((5, 3, 2))
    ((5, 3), (5, 2))
    >>> factor_shapes((3,))
    ((), ())
    """
    return (shape[:-1], (*shape[:-2], shape[-1])) if len(shape) > 1 else ((), ())


def is_adafactor(optimizer: KerasOptimizer) -> bool:
    """Return whether an optimizer has the lists of Adafactor."""
    return all(name in optimizer.lists for name in (*FACTORS, FACTORED))


def full_name_of(nodes: Sequence[Node], variable: int) -> str:
    """Return the full name of a variable."""
    return nodes[variable].attributes[0].full_name


def shape_of(nodes: Sequence[Node], variable: int) -> Shape:
    """Return a variable's shape, None if it is not fully known."""
    return nodes[variable].attributes[0].shape
