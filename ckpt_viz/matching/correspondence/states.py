"""The states of optimizers that belong together: the slot variables of paired variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.keras_3_slots import only_places
from ckpt_viz.graphs.slots.keras_optimizers import VARIABLES
from ckpt_viz.graphs.slots.optimizer_table import name_in_keras_3
from ckpt_viz.matching.correspondence.optimizer_classes import OptimizerSlots, shared_slots
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, is_guess, weakest
from ckpt_viz.matching.correspondence.sequences import sequences

# By optimizer, name and variable.
_Slots = dict[int | None, dict[str, dict[int, int]]]
_MAX_SCOPES = 3  # of `scope/Adam/m/dense/kernel`


def state_pairs(saved: Graph, live: Graph, others: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield the states of optimizers that belong together; `others` has all other pairs.

    A pair counts only if both of its states are free.
    """
    yield from _of_slots(saved, live, others)
    optimizers = [pair for pair in others.values() if saved.nodes[pair.node].role is Role.OPTIMIZER]
    objects = {pair.node: pair.obj for pair in others.values()}
    nodes = {pair.obj: pair.node for pair in others.values()}
    for pair in optimizers:
        sides = _Side(saved, pair.node), _Side(live, pair.obj)
        if shared_slots(sides[0].slots, sides[1].slots).is_other:
            continue  # what shares no meaning, or some, has no order that tells
        yield from (Pair(*both) for both in _by_name_and_order(*sides, nodes))
        for obj, node, certainty, evidence in _by_name_and_order(sides[1], sides[0], objects):
            yield Pair(node, obj, certainty, evidence)
        yield from _in_order_of_variables(*sides, others, nodes)


def unsure_states(saved: Graph, live: Graph, pairs: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield again, as guesses, the pairs of states that only the order of variables tells apart.

    Several variables have one full name, and so have their states. The variables have changed their
    order since, so the place of a state in its list is no evidence.
    """
    optimizers = [node for node in pairs if saved.nodes[node].role is Role.OPTIMIZER]
    silent = [
        state
        for optimizer in optimizers
        for state in _Side(saved, optimizer).states
        if state in pairs and saved.nodes[state].slot is None
    ]
    moved = _in_other_order(saved, live, pairs, {*silent}) if silent else frozenset[str]()
    for state in silent:
        if _name_and_owner(_full_name(saved, state), moved) is not None:
            yield pairs[state]._replace(certainty=Certainty.GUESS)


def _in_other_order(
    saved: Graph, live: Graph, pairs: Mapping[int, Pair], states: Collection[int]
) -> frozenset[str]:
    """Return the full names of several variables each, whose order both sides do not share."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for node in saved.tree.preorder():
        if node in pairs and node not in states:
            by_name[_full_name(saved, node)].append(pairs[node].obj)
    places = {obj: place for place, obj in enumerate(live.tree.preorder())}
    return frozenset(
        full_name
        for full_name, objects in by_name.items()
        if full_name and objects != sorted(objects, key=places.__getitem__)
    )


def _of_slots(saved: Graph, live: Graph, pairs: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield the slot variables of variables and optimizers that belong together."""
    of_saved, of_live = _slots_of(saved), _slots_of(live)
    for optimizer, obj, limit in _optimizers(of_saved, of_live, pairs):
        saved_slots, live_slots = of_saved[optimizer], of_live.get(obj, {})
        shared = shared_slots(
            OptimizerSlots(saved, optimizer, saved_slots), OptimizerSlots(live, obj, live_slots)
        )
        if shared.is_other and (optimizer is None or limit is not Certainty.CERTAIN):
            continue
        for name, by_variable in saved_slots.items():
            slots = live_slots.get(shared.names.get(name, ""), {})
            for variable, node in by_variable.items():
                of_variable = pairs.get(variable)
                state = None if of_variable is None else slots.get(of_variable.obj)
                if of_variable is None or state is None:
                    continue
                if shared.is_other:
                    yield Pair(node, state, Certainty.GUESS, Evidence.OTHER_STATE)
                else:
                    sure = weakest(of_variable.certainty, limit)
                    yield Pair(node, state, sure, Evidence.SLOT)


def _optimizers(
    of_saved: _Slots, of_live: _Slots, pairs: Mapping[int, Pair]
) -> Iterator[tuple[int | None, int | None, Certainty]]:
    """Yield which optimizers may share states: counterparts first, then those of one side alone.

    One that is gone, or was divided, has left its variables to another one. One that is new has got
    them from another one.
    """
    paired = {pair.obj for pair in pairs.values()}
    owns = {
        optimizer: _only_one(of_live) if optimizer is None else _obj_of(pairs, optimizer)
        for optimizer in of_saved
    }
    yield from ((node, own, Certainty.CERTAIN) for node, own in owns.items() if own is not None)
    for optimizer, own in owns.items():
        for obj in of_live if optimizer is not None else ():
            if (obj in paired) is (own is None):
                yield optimizer, obj, Certainty.LIKELY


def _only_one(of_live: _Slots) -> int | None:
    """Return the only optimizer, for a file that does not tell whose the slots are."""
    return next(iter(of_live)) if len(of_live) == 1 else None


def _obj_of(pairs: Mapping[int, Pair], optimizer: int) -> int | None:
    return pairs[optimizer].obj if optimizer in pairs else None


def _slots_of(graph: Graph) -> _Slots:
    """Return the slot variables by their optimizer, their name and their variable."""
    slots: _Slots = {}
    for node_id, node in enumerate(graph.nodes):
        if node.slot is not None:
            of_optimizer = slots.setdefault(node.slot.optimizer, {})
            of_optimizer.setdefault(node.slot.name, {})[node.slot.variable] = node_id
    return slots


class _Side(NamedTuple):
    """One of two optimizers that belong together."""

    graph: Graph
    optimizer: int

    @property
    def slots(self) -> OptimizerSlots:
        """The optimizer without the names of its slots, which one side may not tell."""
        return OptimizerSlots(self.graph, self.optimizer, ())

    @property
    def states(self) -> list[int]:
        """The variables that a Keras optimizer lists, in their order."""
        lists = [
            child.node_id
            for child in self.graph.nodes[self.optimizer].children
            if child.local_name == VARIABLES
        ]
        return sequences(self.graph.nodes[lists[0]].children).get("", []) if lists else []

    @property
    def numbered(self) -> list[int]:
        """The variables that Keras' file numbers, in their order: counters and rates have names."""
        children = self.graph.nodes[self.optimizer].children
        numbers = (child for child in children if child.local_name.isdecimal())
        return [child.node_id for child in numbers]

    @property
    def named(self) -> set[str]:
        """The names of counters and rates in Keras' file."""
        children = self.graph.nodes[self.optimizer].children
        return {child.local_name for child in children if not child.local_name.isdecimal()}

    @property
    def runs(self) -> list[_StatesOfOne]:
        """The numbered states by their variables; none if they do not follow one another."""
        nodes, runs = self.graph.nodes, list[_StatesOfOne]()
        slots = [(state, nodes[state].slot) for state in self.numbered]
        if any(slot is None for _, slot in slots):
            return []
        for variable, run in groupby(slots, lambda item: item[1] and item[1].variable):
            assert variable is not None
            runs.append(_StatesOfOne(variable, tuple(state for state, _ in run)))
        is_regular = len({len(run.states) for run in runs}) == 1
        return runs if is_regular and len({run.variable for run in runs}) == len(runs) else []


class _StatesOfOne(NamedTuple):
    """A variable that an optimizer trains, and its states."""

    variable: int
    states: tuple[int, ...]


def _by_name_and_order(
    silent: _Side, telling: _Side, counterparts: Mapping[int, int]
) -> Iterator[tuple[int, int, Certainty, Evidence]]:
    """Yield the states of an optimizer that does not tell whose they are, with those of the other.

    Keras 2 names a state after its variable. If several variables have one full name, the states
    of this name are in the order of the variables, as those of the other side are.
    """
    silent_states: dict[tuple[str, str], list[int]] = defaultdict(list)
    telling_states: dict[tuple[str, str], list[int]] = defaultdict(list)
    variables: dict[tuple[str, str], list[int]] = defaultdict(list)
    for state in telling.states:
        slot = telling.graph.nodes[state].slot
        variable = None if slot is None else counterparts.get(slot.variable)
        if slot is not None and variable is not None:
            key = name_in_keras_3(slot.name), _full_name(silent.graph, variable)
            telling_states[key].append(state)
            variables[key].append(variable)
    owners = {full_name for _, full_name in telling_states}
    for state in silent.states:
        named = _name_and_owner(_full_name(silent.graph, state), owners)
        if silent.graph.nodes[state].slot is None and named is not None:
            silent_states[named].append(state)
    places = {node: place for place, node in enumerate(silent.graph.tree.preorder())}
    for key, states in silent_states.items():
        in_order = sorted(variables[key], key=lambda variable: places[variable])
        if len(states) == len(telling_states[key]):
            is_sure = in_order == variables[key]
            certainty = Certainty.LIKELY if is_sure else Certainty.GUESS
            for state, other in zip(states, telling_states[key], strict=True):
                yield state, other, certainty, Evidence.ORDER


def _in_order_of_variables(
    saved: _Side, live: _Side, pairs: Mapping[int, Pair], nodes: Mapping[int, int]
) -> Iterator[Pair]:
    """Yield the numbered states of Keras' file with those of a program that tells whose they are.

    An optimizer makes the states of its variables in the order of the variables. The file may tell
    whose a state is. If not, the shapes tell which are those of variables that one side alone has.
    """
    states, runs = saved.numbered, live.runs
    if not runs or len(states) % len(runs[0].states) or saved.named != live.named:
        return  # another Keras has other counters, and numbers other states
    each = len(runs[0].states)
    saved_runs = [states[at : at + each] for at in range(0, len(states), each)]
    slots = ((saved.graph.nodes[state].slot, run) for run in saved_runs for state in run)
    owners = {(slot.variable, run[0]): run for slot, run in slots if slot is not None}
    known_runs = {variable: run for (variable, _), run in owners.items()}
    if not len(owners) == len(known_runs) == len({first for _, first in owners}):
        return  # this optimizer has another number of states for each variable
    for run in runs:
        node = nodes.get(run.variable, -1)
        for state, obj in zip(known_runs.get(node, ()), run.states, strict=False):
            yield Pair(state, obj, pairs[node].certainty, Evidence.SLOT)
    places = _PlacesOfRuns(saved, live, saved_runs, pairs, nodes)
    paired = [run for run in runs if run.variable in nodes]
    sure = [run for run in paired if not is_guess(pairs[nodes[run.variable]])]
    yield from places.of(sure)
    if sure != paired:  # the place of a guess tells nothing of the others
        for pair in places.of(paired):
            yield pair._replace(certainty=Certainty.GUESS)


class _PlacesOfRuns(NamedTuple):
    """Finds the places of variables among the numbered states of Keras' file."""

    saved: _Side
    live: _Side
    saved_runs: Sequence[Sequence[int]]
    pairs: Mapping[int, Pair]
    nodes: Mapping[int, int]

    def of(self, runs: Sequence[_StatesOfOne]) -> Iterator[Pair]:
        """Yield the states of variables whose counterparts are known, where shapes tell them."""
        nodes, graph, count = self.nodes, self.saved.graph, len(self.saved_runs)
        shapes = [{values_of(graph.nodes[state]) for state in run} for run in self.saved_runs]

        def fits(block: Sequence[_StatesOfOne], at: int) -> bool:
            own = [{values_of(graph.nodes[nodes[run.variable]])} for run in block]
            return shapes[at : at + len(block)] == own

        blocks = _by_layer(self.live.graph, runs)
        if len(runs) > count:  # the program trains more
            places = _places_of_some(blocks, count, fits)
        elif count <= len(runs) + self._others_trained(runs):
            places = only_places(blocks, count, fits, len)
        else:
            return
        certainty = Certainty.LIKELY if len(runs) != count else Certainty.CERTAIN
        for block, at in places:
            for run, saved_states in zip(block, self.saved_runs[at:], strict=False):
                sure = weakest(certainty, self.pairs[nodes[run.variable]].certainty)
                for state, obj in zip(saved_states, run.states, strict=True):
                    yield Pair(state, obj, sure, Evidence.SLOT)

    def _others_trained(self, runs: Sequence[_StatesOfOne]) -> int:
        """Return how many saved variables the optimizer may have trained besides these.

        Their layers are gone, or frozen.
        """
        trained, states = {run.variable for run in runs}, {*self.saved.numbered}
        graph = self.saved.graph
        others = (
            node
            for node in graph.tree.preorder()
            if node not in self.pairs or self.pairs[node].obj not in trained
        )
        return sum(has_value(graph.nodes[node]) for node in others if node not in states)


def _places_of_some(
    blocks: Sequence[Sequence[_StatesOfOne]],
    count: int,
    fits: Callable[[Sequence[_StatesOfOne], int], bool],
) -> Iterator[tuple[Sequence[_StatesOfOne], int]]:
    """Yield the blocks with one place in all ways to fill all places by some blocks, in order."""
    ways = [[at for at in range(count) if fits(block, at)] for block in blocks]
    before = [{0}]  # for each block, the places that may be filled in front of it
    for block, starts in zip(blocks, ways, strict=True):
        before.append(before[-1] | {at + len(block) for at in starts if at in before[-1]})
    after = [{count}]  # from the last block on, the places from which the rest can be filled
    for block, starts in zip(reversed(blocks), reversed(ways), strict=True):
        after.append(after[-1] | {at for at in starts if at + len(block) in after[-1]})
    rest = after[-2::-1]
    for block, starts, done, left in zip(blocks, ways, before[:-1], rest, strict=True):
        places = [at for at in starts if at in done and at + len(block) in left]
        if len(places) == 1 and done.isdisjoint(left):
            yield block, places[0]


def _by_layer(graph: Graph, runs: Sequence[_StatesOfOne]) -> list[Sequence[_StatesOfOne]]:
    """Return runs by the layers of their variables, which an optimizer lists together."""
    holders = groupby(runs, lambda run: graph.tree.parents[run.variable])
    return [[*block] for _, block in holders]


def _name_and_owner(full_name: str, owners: Collection[str]) -> tuple[str, str] | None:
    """Return slot name and variable of a state called `Adam/m/dense/kernel`, or `m/dense/kernel`.

    >>> _name_and_owner("Adam/m/dense/kernel", {"dense/kernel"})
    ('momentum', 'dense/kernel')
    """
    rest = full_name
    for _ in range(_MAX_SCOPES):
        name, _, rest = rest.partition("/")
        if rest in owners:
            return name_in_keras_3(name), rest
    return None


def _full_name(graph: Graph, variable: int) -> str:
    attributes = graph.nodes[variable].attributes
    return attributes[0].full_name.removesuffix(":0") if attributes else ""
