"""What `load_weights` of one of Keras' own files would do with each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.files.keras_files.state import is_unnamed
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.ground.text import count, shape_words
from ckpt_viz.live.keras.keras_accessors import optimizer_of
from ckpt_viz.live.keras.keras_graph import KerasTarget
from ckpt_viz.matching.correspondence.conversions import cast_of
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.value_mapping import fits
from ckpt_viz.matching.engines.doubtful_places import are_of_others, without_number
from ckpt_viz.matching.engines.keras_sides import LISTS_OF_LAYERS
from ckpt_viz.matching.engines.load_outcome import Loaded, Offers, Stays, WeightsLoading
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Step

_CAUSES = {
    Stays.SHAPE: Cause.SHAPE,
    Stays.DTYPE: Cause.DTYPE,
    Stays.UNREADABLE: Cause.UNREADABLE,
}
NOT_LOADED = "keeps its value"
_LATE = (Stays.ERROR_BEFORE, Stays.NOT_LOADED)  # of a call that has raised


class OfLoadWeights(Outcome):
    """What the call does, which reads nothing of a damaged file."""

    def calls(self, method: str) -> Sequence[tuple[str, Raised | None]]:
        """Return the call alone: it returns no status. Its error is one line."""
        raised = self.verdicts.restore
        return (
            (f"{method}()", raised and replace(raised, message=" ".join(raised.message.split()))),
        )


def _chosen_name(graph: Graph, node: int) -> str:
    """Return the local name of the layer that holds a value; "" for one of Keras."""
    name = graph.tree.labels[graph.tree.parents[node]]
    return "" if is_automatic(name, None) else name


def _is_of_model(graph: Graph, node: int) -> bool:
    """Return whether a value is a model's own, and none of an optimizer."""
    above = (graph.nodes[part].role for part in graph.tree.above(node))
    is_own = graph.nodes[node].slot is None and has_value(graph.nodes[node])
    return is_own and Role.OPTIMIZER not in above


@dataclass(frozen=True)
class KerasOutcome(OfLoadWeights):
    """What `load_weights` would do.

    `target` is the live side, and `loading` has what happens to each object and variable of it, by
    number. `nodes` has the saved node of each key.
    """

    has_checksums: ClassVar[bool] = False  # HDF5 files have none
    has_steps: ClassVar[bool] = False  # Keras' own walk is not told yet
    casts: ClassVar[bool] = True
    target: KerasTarget = field(kw_only=True)
    loading: WeightsLoading = field(kw_only=True)
    nodes: Mapping[str, int] = field(kw_only=True)
    not_read: tuple[int, ...] = ()  # saved nodes of an optimizer that the call does not load

    @property
    def unknown(self) -> frozenset[int]:
        """The variables that only the code of their layers loads."""
        return self._that_stay(Stays.UNKNOWN)

    @property
    def unreached(self) -> frozenset[int]:
        """The variables at which Keras may look after the error; it never looks at others."""
        every = self.loading.to_the_end
        never = {number for number, each in enumerate(every) if each.stays is Stays.NOT_LOADED}
        never_set = {self.target.variables[n] for n in never if n in self.target.variables}
        return self._that_stay(*_LATE) - never_set if self.loading.raises else frozenset()

    @cached_property
    def late(self) -> Sequence[Step]:
        """What the call would do with those if it passed over its errors."""
        assert self.saved is not None
        number_of = {obj: number for number, obj in self.target.variables.items()}
        late = [(number_of[obj], self.loading.to_the_end) for obj in sorted(self.unreached)]
        known = ((number, every[number]) for number, every in late if every)
        return [
            step_of(self.saved, self.target, self.loading.offers, self.nodes, number, loaded)
            for number, loaded in known
            if loaded.stays not in (Stays.ERROR_BEFORE, Stays.UNKNOWN)
        ]

    def _that_stay(self, *reasons: Stays) -> frozenset[int]:
        loaded = enumerate(self.loading.loaded)
        numbers = [number for number, each in loaded if each.stays in reasons]
        return frozenset(self.target.variables[n] for n in numbers if n in self.target.variables)

    @cached_property
    def certain(self) -> Sequence[Pair]:
        """The values in the places where Keras looks for them, and the objects that hold them.

        An object counts if all of its values fit. An optimizer has a state of each variable. Values
        that have numbers for names may be at another path. Order alone proves nothing for others.
        """
        assert self.saved is not None
        live, parents = self.target.graph, (self.target.graph.tree.parents, self.saved.tree.parents)
        misfits = {
            obj
            for obj, node in self._offered.items()
            if not fits(self.saved, live, node, obj)
            and cast_of(self.saved, live, node, obj) is None
        }
        holders = {parents[0][obj] for obj in misfits if optimizer_of(live, obj) is None}
        values = {
            obj: node
            for obj, node in self._offered.items()
            if parents[0][obj] not in holders
            and (obj not in misfits or _rank(self.saved, node) == _rank(live, obj))
            and self._has_one_meaning(node, obj)
        }
        moved = dict(self._of_equal_numbers())
        values |= moved
        values |= dict(self._of_other_numbers())
        owners = {(parents[0][obj], parents[1][node]) for obj, node in values.items()}
        counts = Counter(obj for obj, _ in owners), Counter(node for _, node in owners)
        only = (both for both in owners if counts[0][both[0]] == counts[1][both[1]] == 1)
        objects = {parents[0][obj] for obj in moved} | moved.keys()
        by_order = {self.target.objects.get(number) for number in self.loading.offers.by_order}
        return [
            Pair(node, obj, Certainty.LIKELY, Evidence.CONTENT)
            if obj in objects
            else Pair(node, obj, Certainty.CERTAIN, Evidence.ORDER)
            if obj in by_order
            else Pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)
            for obj, node in [*sorted(both for both in only if ROOT not in both), *values.items()]
        ]

    def _of_other_numbers(self) -> Iterator[tuple[int, int]]:
        """Yield the values of layers that have more or fewer than Keras finds, by their names.

        Keras loads none of them. Other shapes show that it is another layer.
        """
        assert self.saved is not None
        offers, target, saved, live = (
            self.loading.offers,
            self.target,
            self.saved,
            self.target.graph,
        )
        for number, keys in offers.of_objects.items():
            obj = target.objects.get(number)
            is_told = number not in offers.by_order and obj not in self._doubtful
            if obj is None or not is_told or live.nodes[obj].role is Role.OPTIMIZER:
                continue
            names = {saved.tree.labels[self.nodes[key]]: self.nodes[key] for key in keys}
            own = {live.tree.labels[y]: y for y in live.tree.children[obj]}
            shared = sorted(name for name in names.keys() & own.keys() if not name.isdecimal())
            both = [(own[name], names[name]) for name in shared]
            if len(names) != len(target.weights.saveables[number].own) and all(
                fits(saved, live, node, y) for y, node in both
            ):
                yield from both

    def _of_equal_numbers(self) -> Iterator[tuple[int, int]]:
        """Yield the values of objects at other paths, if only these two have such values.

        A file does not tell the class of an attribute, and so has numbers in place of names.
        """
        assert self.saved is not None
        taken = {*self._offered.values()}, {*self._offered}
        saved = _by_numbers(self.saved, taken[0])
        for look, objects in _by_numbers(self.target.graph, taken[1]).items():
            both = *saved.get(look, ()), *objects
            names = self.saved.tree.labels
            if len(both) == 2 and len(objects) == 1 and all(names[n].isdecimal() for n in both[0]):
                yield from zip(both[1], both[0], strict=True)

    @cached_property
    def bound(self) -> Mapping[int, int]:
        """The saved node in each place where Keras looks, without what has evidence against it."""
        bound = {} if self.by_objects is None else self.by_objects.bound
        every = {**bound, **{node: obj for obj, node in self._offered.items()}}
        return {node: obj for node, obj in every.items() if obj not in self._doubtful}

    @cached_property
    def _offered(self) -> Mapping[int, int]:
        """By live node, the saved value at which Keras looks for it."""
        twice = ((number, key) for key, number in self.loading.twice.items())
        offered = *twice, *self.loading.offers.of_variables.items()
        return {
            self.target.place_of(number, key): self.nodes[key]
            for number, key in offered
            if number in self.target.variables and key in self.nodes
        }

    @cached_property
    def _doubtful(self) -> Set[int]:
        """The objects that have evidence against their place, and their variables."""
        doubtful, target = self.loading.offers.doubtful, self.target
        own = (v for number in doubtful for v in target.weights.saveables[number].own)
        objects = {target.objects[number] for number in doubtful if number in target.objects}
        return objects | {target.variables[v] for v in own if v in target.variables}

    def _has_one_meaning(self, node: int, obj: int) -> bool:
        """Return whether no evidence speaks against a place, also of an optimizer's state."""
        assert self.saved is not None
        was, now = self.saved.nodes[node].slot, self.target.graph.nodes[obj].slot
        if obj in self._doubtful or (now is not None and now.variable in self._doubtful):
            return False
        if now is not None and now.optimizer in self._misnumbered:
            return was is not None and self._offered.get(now.variable) == was.variable
        if was is None and now is not None:
            return values_of(self.target.graph.nodes[now.variable]) not in self._unsettled
        if was is None or now is None:
            return was is None
        is_of_other = self._are_of_others(was.variable, now.variable)
        return not is_of_other and (is_unnamed(was.name) or was.name == now.name)

    def _are_of_others(self, node: int, obj: int) -> bool:
        """Return whether the layers of two variables differ in a name that is also elsewhere."""
        assert self.saved is not None
        saved, live = self.saved, self.target.graph
        was, now = saved.tree.parents[node], live.tree.parents[obj]
        names = saved.nodes[was].own_name or "", live.nodes[now].own_name or ""
        every = saved.own_names, live.own_names
        return are_of_others(names, live.nodes[now].type_name or "", every)

    @cached_property
    def _unsettled(self) -> Set[object]:
        """The looks of values that are new or gone: no number tells the states of these then.

        A file may not tell whose the states are, and another variable may have them. As many values
        on both sides may only have moved, unless people gave other names to their layers.
        """
        assert self.saved is not None
        saved, live, kept = self.saved, self.target.graph, dict[int, int]()
        for obj, node in self._offered.items():
            if obj not in self._doubtful and fits(saved, live, node, obj):
                kept[node] = obj
        every = (saved, {*kept}), (live, {*kept.values()})
        was, now = (
            Counter(
                (values_of(graph.nodes[node]), _chosen_name(graph, node))
                for node in graph.tree.preorder()
                if _is_of_model(graph, node) and node not in known
            )
            for graph, known in every
        )
        looks = [Counter(look for look, _ in alone.elements()) for alone in (was, now)]
        renamed = [{look for look, name in alone if name} for alone in (was - now, now - was)]
        return {*(looks[0] - looks[1]), *(looks[1] - looks[0]), *(renamed[0] & renamed[1])}

    @cached_property
    def _misnumbered(self) -> Set[int | None]:
        """The optimizers whose numbers lead a state to another variable than attributes do."""
        assert self.saved is not None
        saved, live = self.saved.nodes, self.target.graph.nodes
        states = ((saved[node].slot, live[obj].slot) for obj, node in self._offered.items())
        return {
            now.optimizer
            for was, now in states
            if was is not None
            and now is not None
            and (own := self._offered.get(now.variable)) is not None
            and own != was.variable
            and _are_told_by_paths(self.saved, own, self.target.graph, now.variable)
        }

    @property
    def effect(self) -> str:
        """What happens if the call does not raise, in a few words."""
        loaded = sum(loaded.key is not None for loaded in self.loading.loaded)
        return f"sets {loaded} of {count(len(self.loading.loaded), 'value')}"


def _rank(graph: Graph, node: int) -> int:
    return len(graph.nodes[node].attributes[0].shape or ())


def _are_told_by_paths(saved: Graph, node: int, live: Graph, obj: int) -> bool:
    """Return whether two values of one path are one value: no number of a class tells it alone.

    Keras gives these numbers by the order of layers. One layer of a class has none, if the lists
    have layers of the same classes.
    """
    trees = saved.tree, live.tree
    for parts in zip((node, *trees[0].above(node)), (obj, *trees[1].above(obj)), strict=False):
        parents = [tree.parents[part] for tree, part in zip(trees, parts, strict=True)]
        if min(parents) < ROOT or trees[0].labels[parents[0]] not in LISTS_OF_LAYERS:
            continue
        names, others = (
            [tree.labels[child] for child in tree.children[parent]]
            for tree, parent in zip(trees, parents, strict=True)
        )
        classes = [*map(without_number, names)]
        is_lone = classes.count(without_number(trees[0].labels[parts[0]])) == 1
        if not is_lone or {*names} != {*others}:
            return False
    return True


def step_of(
    saved: Graph,
    target: KerasTarget,
    offers: Offers,
    nodes: Mapping[str, int],
    number: int,
    loaded: Loaded,
) -> Step:
    """Return what the call does with a variable, as a step."""
    key = loaded.key
    if key is not None:
        obj = target.place_of(number, key)
        return Step(Action.RESTORE, nodes[key], obj, name=key, names=(key,))
    failure = _failure(saved, target, number, loaded)
    is_refused = failure.cause in (Cause.SHAPE, Cause.DTYPE)
    offered = offers.of_variables.get(number, "") if is_refused else ""
    return Step(Action.FAIL, nodes.get(offered), target.variables[number], failure=failure)


def _by_numbers(graph: Graph, taken: Set[int]) -> Mapping[object, list[list[int]]]:
    """Return the values of each object by their dtypes and shapes, in the order of their numbers.

    Objects with a value that is taken are left out, and so are optimizers.
    """
    by_look: dict[object, list[list[int]]] = {}
    for holder in graph.nodes if graph.layout is not Layout.KERAS_NAMES else ():
        values = [
            child.node_id for child in holder.children if has_value(graph.nodes[child.node_id])
        ]
        values.sort(key=lambda node: _number_of(graph.nodes[node].attributes[0].checkpoint_key))
        if values and holder.role is not Role.OPTIMIZER and taken.isdisjoint(values):
            look = tuple(values_of(graph.nodes[node]) for node in values)
            by_look.setdefault(look, []).append(values)
    return by_look


def _number_of(key: str) -> tuple[int, str]:
    name = key.rpartition("/")[2]
    return (int(name) if name.isdecimal() else -1), name


def of_optimizer(graph: Graph) -> Iterator[int]:
    """Yield the values that an optimizer holds."""
    optimizers = {i for i, node in enumerate(graph.nodes) if node.role is Role.OPTIMIZER}
    held = {child.node_id for i in optimizers for child in graph.nodes[i].children}
    yield from sorted(node for node in held if graph.nodes[node].attributes)


def _failure(saved: Graph, target: KerasTarget, number: int, loaded: Loaded) -> Failure:
    """Return why a variable keeps its own value. The verdicts say whether the call raises."""
    assert loaded.stays is not None
    variable = target.weights.variables[number]
    attribute = target.graph.nodes[target.variables[number]].attributes[0]
    stored = saved.stored(attribute.checkpoint_key)
    actual = expected = ""
    if loaded.stays is Stays.SHAPE and stored is not None and stored.shape is not None:
        actual, expected = shape_words(stored.shape), shape_words(variable.shape or ())
    cause = _CAUSES.get(loaded.stays, Cause.KEY_MISSING)
    return Failure(cause, NOT_LOADED, "", in_session=True, actual=actual, expected=expected)
