"""The states of optimizers that belong together: the slot variables of paired variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ckpt_viz.mapping.migrations import (
    are_of_other_kinds,
    renamed_slots,
    same_slots,
    slot_names,
)
from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair
from ckpt_viz.mapping.sequences import sequences
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keras_optimizers import TRAINABLE, VARIABLES
from ckpt_viz.object_graph.nodes import Role

# By optimizer, name and variable.
_Slots = dict[int | None, dict[str, dict[int, int]]]
Way = tuple[bool, bool]
_BY_HAND = (False, True)  # legacy optimizers: several generations
_MAX_SCOPES = 3  # of `scope/Adam/m/dense/kernel`


def state_pairs(saved: Graph, live: Graph, found: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield the states of optimizers that belong together; `found` has all other pairs.

    A pair counts only if both of its states are free.
    """
    yield from _of_slots(saved, live, found)
    optimizers = [pair for pair in found.values() if saved.nodes[pair.node].role is Role.OPTIMIZER]
    objects = {pair.node: pair.obj for pair in found.values()}
    nodes = {pair.obj: pair.node for pair in found.values()}
    for pair in optimizers:
        sides = _Side(saved, pair.node), _Side(live, pair.obj)
        yield from (Pair(*one) for one in _by_name_and_order(*sides, nodes))
        for obj, node, certainty, evidence in _by_name_and_order(sides[1], sides[0], objects):
            yield Pair(node, obj, certainty, evidence)


def unsure_states(saved: Graph, live: Graph, found: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield again, as guesses, the pairs of states that only the order of variables tells apart.

    Several variables have one full name, and so have their states. The variables have changed their
    order since, so the place of a state in its list is no evidence.
    """
    optimizers = [node for node in found if saved.nodes[node].role is Role.OPTIMIZER]
    silent = [
        state
        for optimizer in optimizers
        for state in _Side(saved, optimizer).states
        if state in found and saved.nodes[state].slot is None
    ]
    moved = _in_other_order(saved, live, found, {*silent}) if silent else frozenset[str]()
    for state in silent:
        if _name_and_owner(_full_name(saved, state), moved) is not None:
            yield found[state]._replace(certainty=Certainty.GUESS)


def _in_other_order(
    saved: Graph, live: Graph, found: Mapping[int, Pair], states: Collection[int]
) -> frozenset[str]:
    """Return the full names of several variables each, whose order both sides do not share."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for node in saved.tree.preorder():
        if node in found and node not in states:
            by_name[_full_name(saved, node)].append(found[node].obj)
    places = {obj: place for place, obj in enumerate(live.tree.preorder())}
    return frozenset(
        full_name
        for full_name, objects in by_name.items()
        if full_name and objects != sorted(objects, key=places.__getitem__)
    )


def _of_slots(saved: Graph, live: Graph, found: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield the slot variables of variables and optimizers that belong together."""
    of_saved, of_live = _slots_of(saved), _slots_of(live)
    for optimizer, ours in of_saved.items():
        if optimizer is None:
            theirs = _only_one(of_live)
            names = renamed_slots(ours, theirs)
        elif optimizer in found:
            obj = found[optimizer].obj
            theirs = of_live.get(obj, {})
            names = shared_slots(ours, theirs, way(saved, optimizer), way(live, obj))
        else:
            continue
        is_other = are_of_other_kinds(ours, theirs, names)
        if optimizer is None and is_other:
            continue
        for name, by_variable in ours.items():
            others = theirs.get(names.get(name, ""), {})
            for variable, node in by_variable.items():
                of_variable = found.get(variable)
                state = None if of_variable is None else others.get(of_variable.obj)
                if of_variable is not None and state is not None:
                    certainty = Certainty.GUESS if is_other else of_variable.certainty
                    yield Pair(node, state, certainty, Evidence.SLOT)


def shared_slots(
    saved: Collection[str], live: Collection[str], was: Way, now: Way
) -> dict[str, str]:
    """Return the slots that two optimizers share, by their names in the checkpoint.

    The names of one version are not those of another one, even where they look like it.
    """
    return same_slots(saved, live) if was == now != _BY_HAND else renamed_slots(saved, live)


def way(graph: Graph, optimizer: int) -> Way:
    """Return how an optimizer keeps its state: in which lists, and whether by slot variables."""
    names = {child.local_name for child in graph.nodes[optimizer].children}
    return TRAINABLE in names, bool(graph.nodes[optimizer].slot_variables)


def _only_one(of_live: _Slots) -> dict[str, dict[int, int]]:
    """Return the slots of the only optimizer, for a file that does not tell whose they are."""
    return next(iter(of_live.values())) if len(of_live) == 1 else {}


def _slots_of(graph: Graph) -> _Slots:
    """Return the slot variables by their optimizer, their name and their variable."""
    found: _Slots = {}
    for node_id, node in enumerate(graph.nodes):
        if node.slot is not None:
            of_optimizer = found.setdefault(node.slot.optimizer, {})
            of_optimizer.setdefault(node.slot.name, {})[node.slot.variable] = node_id
    return found


class _Side(NamedTuple):
    """One of two optimizers that belong together."""

    graph: Graph
    optimizer: int

    @property
    def states(self) -> list[int]:
        """The variables that a Keras optimizer lists, in their order."""
        lists = [
            child.node_id
            for child in self.graph.nodes[self.optimizer].children
            if child.local_name == VARIABLES
        ]
        return sequences(self.graph.nodes[lists[0]].children).get("", []) if lists else []


def _by_name_and_order(
    silent: _Side, telling: _Side, counterparts: Mapping[int, int]
) -> Iterator[tuple[int, int, Certainty, Evidence]]:
    """Yield the states of an optimizer that does not tell whose they are, with those of the other.

    Keras 2 names a state after its variable. If several variables have one full name, the states
    of this name are in the order of the variables, as those of the other side are.
    """
    ours: dict[tuple[str, str], list[int]] = defaultdict(list)
    theirs: dict[tuple[str, str], list[int]] = defaultdict(list)
    variables: dict[tuple[str, str], list[int]] = defaultdict(list)
    for state in telling.states:
        slot = telling.graph.nodes[state].slot
        variable = None if slot is None else counterparts.get(slot.variable)
        if slot is not None and variable is not None:
            key = slot_names(slot.name)[0], _full_name(silent.graph, variable)
            theirs[key].append(state)
            variables[key].append(variable)
    owners = {full_name for _, full_name in theirs}
    for state in silent.states:
        named = _name_and_owner(_full_name(silent.graph, state), owners)
        if silent.graph.nodes[state].slot is None and named is not None:
            ours[named].append(state)
    places = {node: place for place, node in enumerate(silent.graph.tree.preorder())}
    for key, states in ours.items():
        in_order = sorted(variables[key], key=lambda variable: places[variable])
        if len(states) == len(theirs[key]):
            is_sure = in_order == variables[key]
            certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
            for state, other in zip(states, theirs[key], strict=True):
                yield state, other, certainty, Evidence.ORDER


def _name_and_owner(full_name: str, owners: Collection[str]) -> tuple[str, str] | None:
    """Return slot name and variable of a state called `Adam/m/dense/kernel`, or `m/dense/kernel`.

    >>> _name_and_owner("Adam/m/dense/kernel", {"dense/kernel"})
    ('momentum', 'dense/kernel')
    """
    rest = full_name
    for _ in range(_MAX_SCOPES):
        name, _, rest = rest.partition("/")
        if rest in owners:
            return slot_names(name)[0], rest
    return None


def _full_name(graph: Graph, variable: int) -> str:
    attributes = graph.nodes[variable].attributes
    return attributes[0].full_name.removesuffix(":0") if attributes else ""
