"""A Keras model as the live side, and one of Keras' own files: what `load_weights` would do.

The call returns no status. So the asserts of this check speak of the weights: `consumed` that all
saved ones reach the model, `existing` that all of the model get a saved one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from ckpt_viz.answers.dry_runs.dry_run import DryRun, damage_in, prefix_of
from ckpt_viz.answers.dry_runs.keras_files_to_load import saved_layers, saved_weights
from ckpt_viz.answers.dry_runs.live_names import LiveNames
from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.answers.dry_runs.verdicts import Raised, Verdicts
from ckpt_viz.errors import SourceError
from ckpt_viz.files.keras_files.state import is_unnamed
from ckpt_viz.files.saved.keras_reader import KERAS
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.files.saved.tfjs_reader import TFJS
from ckpt_viz.formats.storage.zip_archive import error_of_zipfile, member_of
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.ground.text import count, shape_words
from ckpt_viz.live.keras.keras_accessors import optimizer_of
from ckpt_viz.live.keras.keras_graph import KerasTarget, keras_h5_target, keras_target
from ckpt_viz.live.keras.keras_private import is_model
from ckpt_viz.matching.correspondence.conversions import cast_of
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.value_mapping import fits
from ckpt_viz.matching.engines.doubtful_places import are_of_others, without_number
from ckpt_viz.matching.engines.keras_h5_loading import h5_loading
from ckpt_viz.matching.engines.keras_loading import weights_loading
from ckpt_viz.matching.engines.keras_sides import LISTS_OF_LAYERS
from ckpt_viz.matching.engines.load_outcome import Loaded, Offers, Stays, WeightsLoading
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Step, Trace

METHOD = "load_weights"
FIX = "fix.apply"
_SKIP_MISMATCH = "skip_mismatch"
_BY_NAME = "by_name"  # for `.h5` alone
OPTIONS = (_SKIP_MISMATCH, _BY_NAME)
_CAUSES = {
    Stays.SHAPE: Cause.SHAPE,
    Stays.DTYPE: Cause.DTYPE,
    Stays.UNREADABLE: Cause.UNREADABLE,
}
_NOT_LOADED = "keeps its value"
_LATE = (Stays.ERROR_BEFORE, Stays.NOT_LOADED)  # of a call that has raised


class _OfLoadWeights(Outcome):
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
class KerasOutcome(_OfLoadWeights):
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
            _step_of(self.saved, self.target, self.loading.offers, self.nodes, number, loaded)
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


def is_load_of_weights(live: object, saved: object) -> bool:
    """Return whether a check is of a Keras model and one of Keras' own files."""
    if not is_model(live):
        return False
    if isinstance(saved, Graph):
        return saved.is_of_keras
    if not isinstance(saved, (str, os.PathLike)):
        return False
    return locate(os.fspath(saved)).reader in (KERAS, TFJS)


def keras_dry_run(model: Any, saved: Any, method: str | None, options: Any) -> DryRun:
    """Return what `model.load_weights(saved, **options)` would do; change nothing.

    Raises SourceError for another method or other options.
    """
    if method not in (None, METHOD):
        raise SourceError(f"found method {method!r}; Keras loads its files by {METHOD!r}")
    given = _options(options)
    graph = saved if isinstance(saved, Graph) else read_saved(saved)
    path = prefix_of(graph)
    skips = given.get(_SKIP_MISMATCH, False)
    if graph.layout is Layout.KERAS_PATHS:
        target = keras_target(model)
        loading = weights_loading(target.weights, saved_weights(graph), skip_mismatch=skips)
    else:
        target, layers = keras_h5_target(model)
        by_name = given.get(_BY_NAME, graph.is_of_tfjs)
        loading = h5_loading(layers, saved_layers(graph), by_name=by_name, skip_mismatch=skips)
    damage = damage_in(graph)
    raised = _raised_by_archive(graph) if damage is not None else None
    if raised is not None:
        verdicts = Verdicts(raised, raised, raised, raised)
        return DryRun(_OfLoadWeights(LiveNames(target.graph), verdicts), METHOD, path, damage)
    not_read = () if graph.layout is Layout.KERAS_PATHS else tuple(_of_optimizer(graph))
    return DryRun(_outcome(graph, target, loading, given, not_read), METHOD, path, damage)


def _raised_by_archive(graph: Graph) -> Raised | None:
    """Return what Keras raises when it opens the damaged archive of a graph."""
    archived = member_of(graph.stored_in)
    if archived is None or not archived.damage:
        return None
    error = error_of_zipfile(archived.path, archived.name, seeks=True)
    return None if error is None else Raised(*error)


def run_of_placed(model: object, saved: Graph, placed: Sequence[tuple[str, object]]) -> DryRun:
    """Return the run that gives live variables the values of these keys, as a fix does."""
    target = keras_target(model)
    numbers = {id(target.held[number]()): number for number in target.variables}
    known = [(key, numbers[id(obj)]) for key, obj in placed if id(obj) in numbers]
    offered = {number: key for key, number in known}
    twice = {key: number for key, number in known if offered[number] != key}
    keys = {key for key, _ in known}
    every = [value.checkpoint_key for node in saved.nodes for value in node.attributes]
    loaded = [
        Loaded(offered[number]) if number in offered else Loaded(stays=Stays.NOT_LOADED)
        for number in range(len(target.weights.variables))
    ]
    unused = tuple(key for key in every if key not in keys)
    offers = Offers(offered)
    loading = WeightsLoading("", "", {}, tuple(loaded), unused, offers=offers, twice=twice)
    return DryRun(_outcome(saved, target, loading), FIX, prefix_of(saved))


def _outcome(
    graph: Graph,
    target: KerasTarget,
    loading: WeightsLoading,
    options: Mapping[str, bool] = MappingProxyType({}),
    not_read: tuple[int, ...] = (),
) -> KerasOutcome:
    nodes = {
        node.attributes[0].checkpoint_key: i
        for i, node in enumerate(graph.nodes)
        if node.attributes
    }
    return KerasOutcome(
        LiveNames(target.graph),
        _verdicts(target, loading, nodes, not_read),
        _trace(graph, target, loading, nodes),
        graph,
        target=target,
        loading=loading,
        nodes=nodes,
        options=options,
        not_read=not_read,
    )


def _options(options: Any) -> dict[str, bool]:
    if options is None:
        return {}
    if not isinstance(options, Mapping) or set(options) - {*OPTIONS}:
        raise SourceError(
            f"found options {options!r}, expected a dict with {_SKIP_MISMATCH!r} or {_BY_NAME!r}"
        )
    return {name: bool(value) for name, value in options.items()}


def _trace(
    saved: Graph, target: KerasTarget, loading: WeightsLoading, nodes: Mapping[str, int]
) -> Trace:
    bound = dict(_groups_of_one_path(saved, target.graph))
    parents = saved.tree.parents, target.graph.tree.parents
    steps: list[Step] = []
    twice = ((number, Loaded(key)) for key, number in loading.twice.items())
    for number, loaded in (*twice, *enumerate(loading.loaded)):
        if number not in target.variables or loaded.stays is Stays.UNKNOWN:
            continue
        step = _step_of(saved, target, loading.offers, nodes, number, loaded)
        steps.append(step)
        if step.action is Action.RESTORE and step.node is not None and step.obj is not None:
            bound[step.node] = step.obj
            bound.setdefault(parents[0][step.node], parents[1][step.obj])
    known = {*target.variables.values(), *target.graph.second_places}
    for obj, holder in enumerate(target.graph.nodes):  # what the call does not look at
        if holder.attributes and obj not in known:
            failure = Failure(Cause.KEY_MISSING, _NOT_LOADED, "", in_session=True)
            steps.append(Step(Action.FAIL, None, obj, failure=failure))
    return Trace(steps, bound, {})


def _step_of(
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


def _of_optimizer(graph: Graph) -> Iterator[int]:
    """Yield the values that an optimizer holds."""
    optimizers = {i for i, node in enumerate(graph.nodes) if node.role is Role.OPTIMIZER}
    held = {child.node_id for i in optimizers for child in graph.nodes[i].children}
    yield from sorted(node for node in held if graph.nodes[node].attributes)


def _groups_of_one_path(saved: Graph, live: Graph) -> Iterator[tuple[int, int]]:
    """Yield the saved and the live node of each path that both sides have."""
    queue = [(ROOT, ROOT)]
    for node, obj in queue:  # grows during the loop
        yield node, obj
        objects = dict(live.nodes[obj].children)
        for local_name, child in saved.nodes[node].children:
            if local_name in objects and not saved.nodes[child].attributes:
                queue.append((child, objects[local_name]))


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
    return Failure(cause, _NOT_LOADED, "", in_session=True, actual=actual, expected=expected)


def _verdicts(
    target: KerasTarget,
    loading: WeightsLoading,
    nodes: Mapping[str, int],
    not_read: tuple[int, ...],
) -> Verdicts:
    unused = (*(nodes[key] for key in loading.unused if key in nodes), *not_read)
    left = tuple(
        target.variables[number]
        for number, loaded in enumerate(loading.loaded)
        if number in target.variables and loaded.key is None and loaded.stays is not Stays.UNKNOWN
    )
    raised = Raised(loading.raises, loading.text) if loading.raises else None
    consumed = raised or _failed(unused, "saved weights reach no variable", loading.unused)
    names = [target.graph.nodes[obj].attributes[0].checkpoint_key for obj in left]
    existing = raised or _failed(left, "variables get no saved weight", names)
    loads_any = any(loaded.key is not None for loaded in loading.loaded)
    nontrivial = None if loads_any else Raised("AssertionError", "No variable gets a saved weight.")
    return Verdicts(raised, consumed, existing, raised or nontrivial, unused, left)


def _failed(nodes: tuple[int, ...], what: str, keys: Any) -> Raised | None:
    if not nodes:
        return None
    return Raised("AssertionError", f"{len(nodes)} {what}: {', '.join(keys)}")
