"""Variables that a graph reaches through an optimizer alone.

An optimizer of Keras 3 tracks the variables that it trains. If TensorFlow does not follow what else
holds them, such as a list of Keras 3 layers, the optimizer is their only path. They are then saved,
but a restore without the optimizer leaves them out, and no assert fails.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, VALUE_ROLES, Node, Role
from ckpt_viz.graphs.slots.keras_optimizers import full_name_of, keras_optimizers, shape_of

BLOCKS = "blocks"  # what to call all blocks that hang
_WORD = re.compile(r"[^/_]+[/_]?")
_NUMBERED = re.compile(r"\D+\d+")


class HangingName(NamedTuple):
    """What names tell of a variable: its block, "" if none tells, and its name in there."""

    block: str
    name: str


class Hanging(NamedTuple):
    """Variables below an optimizer alone, in its order, and what names tell of each.

    `named_by_slots` has the variables by the names that their slots have for them.
    """

    variables: tuple[int, ...] = ()
    names: tuple[HangingName, ...] = ()
    named_by_slots: Mapping[str, int] = MappingProxyType({})

    @property
    def blocks(self) -> int:
        """The number of their blocks, 0 if nothing tells."""
        return len({name.block for name in self.names if name.block})

    def names_in_blocks(self) -> Mapping[int, str]:
        """Return what to call the variables of blocks in the list of their optimizer."""
        return {
            variable: f"{BLOCKS}.{name.block}.{name.name}"
            for variable, name in zip(self.variables, self.names, strict=True)
            if name.block
        }


def hanging_from_optimizers(nodes: Sequence[Node]) -> Hanging:
    """Return the trained variables to which no path leads without an optimizer, with their names.

    There are none in a graph of optimizers alone: there they belong.
    """
    hanging = _hanging_variables(nodes)
    if not hanging:
        return Hanging()
    by_slot = dict(_named_by_slots(nodes, set(hanging)))
    named_by_slots = {name: variable for variable, name in by_slot.items()}
    scopes = _scopes(nodes, hanging, by_slot)
    names = [full_name_of(nodes, variable).rpartition("/")[2] for variable in hanging]
    if scopes is None:
        return Hanging(hanging, tuple(_repeated(nodes, hanging, names)), named_by_slots)
    in_blocks = _in_blocks(scopes) or [("", scope) for scope in scopes]
    return Hanging(
        hanging,
        tuple(
            HangingName(block, ".".join(filter(None, (*rest.strip("/_").split("/"), name))))
            for (block, rest), name in zip(in_blocks, names, strict=True)
        ),
        named_by_slots,
    )


def _hanging_variables(nodes: Sequence[Node]) -> tuple[int, ...]:
    """Return the trained variables to which no path leads without an optimizer."""
    trained = trained_variables(nodes)
    if not trained:
        return ()
    reached = _reached(nodes)
    hanging = tuple(sorted(trained - reached))
    return hanging if hanging and _has_a_model(nodes, reached) else ()


def trained_variables(nodes: Sequence[Node]) -> set[int]:
    """Return the variables in the lists of optimizers, and those that have slot variables."""
    listed = {c.node_id for optimizer in keras_optimizers(nodes) for c in optimizer.trainable or ()}
    with_slots = {node.slot.variable for node in nodes if node.slot is not None}
    return {n for n in listed | with_slots if nodes[n].role is Role.VARIABLE}


def _reached(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes to which a path from the root leads that goes through no optimizer."""
    reached = walks.reached(
        [ROOT],
        lambda node_id: (
            child.node_id
            for child in nodes[node_id].children
            if nodes[child.node_id].role is not Role.OPTIMIZER
        ),
    )
    return reached if nodes[ROOT].role is not Role.OPTIMIZER else set()


def _has_a_model(nodes: Sequence[Node], reached: Collection[int]) -> bool:
    """Return whether there is more than optimizers, single values, and what holds these."""
    if nodes[ROOT].role is Role.LAYER:
        return True
    return any(
        node_id != ROOT
        and nodes[node_id].role not in VALUE_ROLES
        and not any(nodes[c.node_id].role is Role.OPTIMIZER for c in nodes[node_id].children)
        for node_id in reached
    )


def _scopes(
    nodes: Sequence[Node], hanging: Sequence[int], by_slot: Mapping[int, str]
) -> list[str] | None:
    """Return the scope of each variable; None if no names tell the variables apart.

    If a first call of the model is a training, TensorFlow knows the variables by short names, all
    in one scope. Keras then gives their slots the whole names, with "_" in place of "/".
    """
    whole = [full_name_of(nodes, variable) for variable in hanging]
    if len(set(whole)) == len(whole):
        return [name.rpartition("/")[0] for name in whole]
    if len(by_slot) < len(hanging) or len(set(by_slot.values())) < len(hanging):
        return None
    ends = [name.rpartition("/")[2] for name in whole]
    return [by_slot[v].removesuffix(end) for v, end in zip(hanging, ends, strict=True)]


def _named_by_slots(nodes: Sequence[Node], variables: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield variables with what the full names of their slots call them."""
    for node in nodes:
        if node.slot is None or node.slot.variable not in variables or not node.attributes:
            continue
        name = node.attributes[0].full_name.rpartition("/")[2]
        end = f"_{node.slot.name}"
        if name.endswith(end):
            yield node.slot.variable, name.removesuffix(end)


def _in_blocks(scopes: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return by scope its block and the rest; None if numbers tell no blocks.

    >>> _in_blocks(["net/block/up/", "net/block/down/", "net/block_1/up_1/", "net/block_1/down_1/"])
    [('block', 'up/'), ('block', 'down/'), ('block_1', 'up_1/'), ('block_1', 'down_1/')]
    >>> _in_blocks(["block0/up", "block1/up"]), _in_blocks(["net/up/", "net/down/"])
    ([('block0', 'up'), ('block1', 'up')], None)
    """
    words = [_WORD.findall(scope) for scope in scopes]
    low, high = min(words), max(words)  # what these two share, all words between them share
    shared = 0
    for a, b in zip(low, high, strict=False):
        if a.rstrip("/_") != b.rstrip("/_"):
            break
        shared += 1
    stem = low[shared - 1].rstrip("/_") if shared else ""
    in_blocks = []
    for own in words:
        first = own[shared].rstrip("/_") if len(own) > shared else ""
        if first.isdecimal():
            block, rest = f"{stem}_{first}", own[shared + 1 :]
        elif _NUMBERED.fullmatch(first):
            block, rest = first, own[shared + 1 :]
        else:
            block, rest = stem, own[shared:]
        in_blocks.append((block, "".join(rest)))
    runs = [block for block, _ in groupby(block for block, _ in in_blocks)]
    is_clear = len(runs) > 1 and len(set(runs)) == len(runs) and all(runs)
    return in_blocks if is_clear else None


def _repeated(
    nodes: Sequence[Node], hanging: Sequence[int], names: Sequence[str]
) -> Iterator[HangingName]:
    """Yield names in blocks if a sequence of names and shapes repeats, else without a block."""
    kinds = [(name, shape_of(nodes, v)) for name, v in zip(names, hanging, strict=True)]
    number = len(kinds)
    size = next(
        size
        for size in range(1, number + 1)
        if number % size == 0 and kinds[size:] == kinds[:-size]
    )
    for place, name in enumerate(names):
        yield HangingName("" if size in (1, number) else f"block_{place // size}", name)
