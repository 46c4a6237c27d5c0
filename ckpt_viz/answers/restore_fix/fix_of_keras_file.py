"""The fix of `load_weights`: what the call sets, and the rest of Keras' own file by names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import prefix_of
from ckpt_viz.answers.dry_runs.keras_dry_run import run_of_placed
from ckpt_viz.answers.evidence.unbuilt_optimizers import states_of
from ckpt_viz.answers.restore_fix.applying import apply, is_variable
from ckpt_viz.answers.restore_fix.code import CKPT, restoring_nothing
from ckpt_viz.answers.restore_fix.fix_of_objects import FixOfObjects
from ckpt_viz.answers.restore_fix.keras_code import Assigned, assigning_from_keras, loading
from ckpt_viz.answers.restore_fix.left_out import LeftOut, WhyLeftOut
from ckpt_viz.answers.restore_fix.restore_fix import CheckT
from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.graphs.edits.as_checkpoint import as_checkpoint, file_of_keras
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout, Origin
from ckpt_viz.ground.expressions import operand
from ckpt_viz.ground.text import count
from ckpt_viz.live.keras.keras_accessors import optimizer_of, with_public_lists
from ckpt_viz.live.objects.facts import is_unbuilt
from ckpt_viz.live.objects.layer_lists import layer_lists
from ckpt_viz.live.objects.live_source import read_live
from ckpt_viz.live.writing.keras_weights import is_path_of_weights
from ckpt_viz.live.writing.rewrite import write_mapped
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.deeds import SWAPPED, Act, Deed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.changes.phrases import Phrases
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.changes.sentence import reason_of
from ckpt_viz.matching.changes.short_names import ShortNames
from ckpt_viz.matching.correspondence.pairs import Pair
from ckpt_viz.matching.engines.load_outcome import Stays, WeightsLoading

_METRICS = "metrics"  # of a model, in Keras' files
_NUMBER = re.compile(r"_\d{1,9}\Z")
# An `.h5` file has layers by name, wherever the model has them.
_OF_PLACES = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.MIGRATED, Kind.CONTAINER_CHANGED, Kind.SCOPE_CHANGED),
        *(Kind.WRAPPED, Kind.UNWRAPPED, Kind.MOVED, Kind.REORDERED),
    }
)


@dataclass(frozen=True, repr=False)
class FixOfKerasFile(FixOfObjects[CheckT]):
    """The fix of a load of weights, or of a restore that was given Keras' own file."""

    @property
    def _load(self) -> WeightsLoading | None:
        """What the checked call of `load_weights` does; None for a restore of Keras' file."""
        return self._run.outcome.loading

    def to_code(self, live: str | None = None, path: str | None = None) -> str:
        """Return the code with the caller's expression; `ckpt` is the model.

        It names the file itself. It needs Keras alone, and what Keras needs: h5py.
        """
        name = operand(CKPT if live is None else live)
        return self._program(name, path) + self._comments_on_states(name)

    def _of_states(self, name: str) -> Iterator[str]:
        """Yield what becomes of the states of optimizers that the fix leaves out."""
        yield from super()._of_states(name)
        if self._states_left:
            left = len(self._states_left)
            number, stay = count(left, "value"), "stays" if left == 1 else "stay"
            yield f"{number} of the optimizer {stay} in the file, which numbers its states."
            yield "This optimizer has another number of states; those keep their own values."

    @cached_property
    def _to_build(self) -> Mapping[int, int]:
        """By saved value without a place now, the part of the program that may take it later.

        Nothing tells what a model without variables lacks.
        """
        if self._load is None:
            return super()._to_build
        nodes, is_live = self._saved.nodes, self._live.origin is Origin.LIVE
        every = self._mapping.unused if is_live and is_unbuilt(self._live.source) else ()
        has_optimizer = any(node.role is Role.OPTIMIZER for node in self._live.nodes)
        others = (_counted if has_optimizer else _made_by_training)(self._saved)
        of_model = {n: ROOT for n in every if has_value(nodes[n]) and n not in others}
        return {**of_model, **self._of_unbuilt.states}

    @property
    def _meaning(self) -> str:
        return f" ({CKPT} is the model)"

    @cached_property
    def _states_left(self) -> Set[str]:
        """The keys of states that stay in the file, and may belong to states of the program.

        A state of a variable that the program lacks is none of them, where the file tells that.
        """
        left, place = super()._left_out, self._live.names.place_or_state
        absent = {value.name for value in left.values.get(WhyLeftOut.ABSENT, ())}
        if absent.isdisjoint(place(obj) for obj, _ in states_of(self._live)):
            return set()
        states = (n for n, _ in states_of(self._saved) if self._saved.nodes[n].slot is None)
        unused = {value.key for value in left.unused}
        return unused.intersection(key for node in states for key in self._keys(node))

    @cached_property
    def _left_out(self) -> LeftOut:
        left, states = super()._left_out, self._states_left
        if not states:
            return left
        place = self._live.names.place_or_state
        anew = {place(obj) for obj, _ in states_of(self._live)}
        return left.without(WhyLeftOut.UNUSED, states).without(WhyLeftOut.ABSENT, anew)

    def _program(self, name: str, path: str | None) -> str:
        where = repr(prefix_of(self._file) if path is None else path)
        if not self._sure:
            return restoring_nothing(self._left_out)
        if self._is_plain_load:
            return loading(name, where, self._run.outcome.options, self._left_out)
        states = {pair: optimizer_of(self._live, pair.obj) is not None for pair in self._sure}
        in_order = sorted(states, key=lambda pair: (states[pair], pair.node))
        assigned = [self._assigned(pair, name) for pair in in_order]
        is_live = self._live.origin is Origin.LIVE
        layers = partial(layer_lists, self._program_graph[0], name) if is_live else None
        return assigning_from_keras(self._file, where, assigned, self._left_out, layers)

    def _assigned(self, pair: Pair, name: str) -> Assigned:
        (attribute,) = self._saved.nodes[pair.node].attributes
        expression = self._expression(pair.obj, name)
        conversion = self._mapping.conversions.get(pair[:2])
        return Assigned(expression, attribute.checkpoint_key, attribute.dtype, conversion)

    def _expression(self, obj: int, name: str) -> str:
        if self._live.origin is not Origin.LIVE:
            return expression_of(self._live, obj, name)
        program, nodes = self._program_graph
        node = nodes.get(id(self._live.object(obj)))
        if node is None or self._load is None:
            return with_public_lists(self._live, obj, name)
        # TensorFlow follows no list of Keras 3: only the list of a built optimizer leads there.
        is_hanging = optimizer_of(program, node) is not None
        if is_hanging and optimizer_of(self._live, obj) is None:
            return with_public_lists(self._live, obj, name)
        return with_public_lists(program, node, name)

    @cached_property
    def _program_graph(self) -> tuple[Graph, Mapping[int, int]]:
        """The model as TensorFlow follows it, and the node of each object, by `id`."""
        program = read_live(self._live.source)
        every = reversed(range(len(program.nodes)))
        return program, {id(program.object(node)): node for node in every}

    @property
    def free_names(self) -> tuple[str, ...]:
        """The names in `code` that the program has."""
        return (CKPT,)

    @property
    def prefix(self) -> str:
        """The path of the file whose values it restores."""
        return prefix_of(self._file)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What happened to the model since the file was written."""
        if self._load is None:
            return super().changes
        made = [*map(_made_by_training, (self._saved, self._live))]
        of_model_alone = frozenset(n for n, obj in self._to_build.items() if obj == ROOT)
        mapping = self._mapping.without(of_model_alone)  # nothing has happened to these
        of_model = replace(
            mapping,
            unused=tuple(node for node in mapping.unused if node not in made[0]),
            missing=tuple(obj for obj in mapping.missing if obj not in made[1]),
        )
        every = changes_of(of_model)
        others = (*self._exchanged(every), *self._renamed_by_name())
        return (*filter(self._is_told, every), *others)

    def _renamed_by_name(self) -> Iterator[Change]:
        """Yield the layers that have other names in a file which has layers by their names."""
        nodes = self._saved.nodes if self._file.layout is Layout.KERAS_NAMES else ()
        for node, (_, obj, certainty, _) in self._mapping.parts.items() if nodes else ():
            names = self._saved.tree.labels[node], self._live.nodes[obj].own_name or ""
            is_layer = nodes[node].role is Role.LAYER and node != ROOT
            is_named = "" not in names and not any(is_automatic(name, None) for name in names)
            values = (
                sum(has_value(graph.nodes[part]) for part in graph.tree.below(top))
                for graph, top in ((self._saved, node), (self._live, obj))
            )
            if is_layer and is_named and names[0] != names[1] and len({*values}) == 1:
                deed = Deed(Act.RENAMED, (node,), (obj,), (), certainty)
                yield self._change(Kind.RENAMED, deed)

    def _change(self, kind: Kind, deed: Deed) -> Change:
        """Return a change of whole layers."""
        nodes = tuple(n for top in deed.nodes for n in self._saved.tree.below(top))
        objects = tuple(obj for top in deed.objects for obj in self._live.tree.below(top))
        phrase = Phrases(ShortNames.of(self._saved, self._live)).of([deed])
        return Change(
            kind,
            self._saved.name(deed.nodes[0]),
            self._live.name(deed.objects[0]),
            sum(has_value(self._saved.nodes[node]) for node in nodes),
            deed.certainty,
            lambda: reason_of(phrase, deed.certainty),
            nodes,
            objects,
            deed,
        )

    def _exchanged(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Yield that layers have changed places, if they have each other's numbers in the file."""
        others = [c for c in changes if c.kind is Kind.RENAMED and self._has_only_other_numbers(c)]
        nodes = tuple(change.nodes[0] for change in others)
        objects = tuple(change.objects[0] for change in others)
        was = {self._saved.tree.labels[node] for node in nodes}
        if others and was == {self._live.tree.labels[obj] for obj in objects}:
            words = SWAPPED if len(others) == len(SWAPPED) else ()
            yield self._change(Kind.REORDERED, Deed(Act.REORDERED, nodes, objects, words))

    def _is_told(self, change: Change) -> bool:
        """Return whether a change is one of the model, not of what the format does not tell."""
        if change.kind is Kind.RENAMED and self._has_only_other_numbers(change):
            return False
        is_value = any(has_value(self._saved.nodes[node]) for node in change.nodes[:1])
        if is_value and change.kind in _OF_PLACES:  # a file has numbers in place of names
            return False
        if self._file.layout is not Layout.KERAS_NAMES:
            return True
        is_of_layer = all(self._saved.nodes[n].role is Role.LAYER for n in change.nodes[:1])
        return change.kind not in _OF_PLACES and (is_of_layer or change.kind is not Kind.RENAMED)

    def _has_only_other_numbers(self, change: Change) -> bool:
        """Return whether Keras gave a part another number, as `dense_3` after an insertion."""
        labels = self._saved.tree.labels[change.nodes[0]], self._live.tree.labels[change.objects[0]]
        return len({_NUMBER.sub("", label) for label in labels}) == 1

    @cached_property
    def check(self) -> CheckT:
        """The check of what the fix gives to the variables."""
        if self._load is None:
            return super().check
        placed = [(self._keys(pair.node)[0], self._live.object(pair.obj)) for pair in self._sure]
        return self._check_of(run_of_placed(self._live.source, self._file, placed))

    def apply(self, session: Any = None) -> FixOfKerasFile[CheckT]:
        """Restore now; return the fix."""
        if self._sure:
            apply(self._mapping, self._sure, None)
        return self

    def write(self, prefix: str | os.PathLike[str]) -> str:
        """Write a new checkpoint for the program, or weights for a model; return its path."""
        path = os.fspath(prefix)
        if self._load is None or is_path_of_weights(path):
            return super().write(prefix)
        program, nodes = self._program_graph
        parts = (p for p in self._mapping.parts.values() if not self._keys(p.node))
        pairs = {p: nodes.get(id(self._live.object(p.obj))) for p in (*self._sure, *parts)}
        kept = {(pair.node, obj): pair[:2] for pair, obj in pairs.items() if obj is not None}
        every = self._mapping.conversions
        conversions = {new: every[old] for new, old in kept.items() if old in every}
        write_mapped(self._to_write, program, [*kept], path, conversions)
        return path

    @property
    def _how(self) -> str:
        if self._is_plain_load:
            return "with a plain load_weights()"
        whose = "the TensorFlow.js model" if self._file.is_of_tfjs else "Keras' own file"
        return f"of {whose}, each into its own variable"

    @property
    def _file(self) -> Graph:
        return file_of_keras(self._saved) if self._load is None else self._saved

    @property
    def _to_write(self) -> Graph:
        return as_checkpoint(self._file)

    @cached_property
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fix gives to their variables."""
        is_file = self._live.origin is not Origin.LIVE
        return tuple(
            pair
            for pair in self._placed
            if is_variable(self._live, pair)
            and (is_file or self._live.object(pair.obj) is not None)  # else saving makes the value
        )

    @property
    def _waiting(self) -> frozenset[int]:
        """No value: the fix assigns them, so none waits for an object that is built later."""
        return frozenset()

    @property
    def _is_plain_load(self) -> bool:
        """Whether the checked call gives every sure value, and no other, to its variable.

        It must not set the matrices of LoRA to zero either, which ends their training.
        """
        load = self._load
        if self._file.is_of_tfjs:
            return False
        if load is None or any(loaded.stays is Stays.ZEROED for loaded in load.loaded):
            return False
        return self._is_right_by_itself


def _made_by_training(graph: Graph) -> frozenset[int]:
    """Return the values of optimizers, and what metrics count."""
    return _counted(graph).union(node for node, _ in states_of(graph))


def _counted(graph: Graph) -> frozenset[int]:
    """Return what metrics count."""
    metrics = (n for n in graph.tree.children[ROOT] if graph.tree.labels[n] == _METRICS)
    return frozenset(node for m in metrics for node in graph.tree.below(m))
