"""The fix of `load_weights`: the values of Keras' own file go by names, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ckpt_viz.changes.change import Change
from ckpt_viz.changes.kind import Kind
from ckpt_viz.changes.reading import changes_of
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.correspondence.value_mapping import ValueMapping, with_pairs
from ckpt_viz.edits.as_checkpoint import as_checkpoint, file_of_keras
from ckpt_viz.expressions import operand
from ckpt_viz.keras_files.state import is_unnamed
from ckpt_viz.live.facts import is_optimizer, is_unbuilt
from ckpt_viz.live.keras_accessors import optimizer_of, with_public_lists
from ckpt_viz.matching.keras_loading import Stays
from ckpt_viz.object_graph.graph import Graph, Layout, Origin
from ckpt_viz.object_graph.nodes import Role
from ckpt_viz.restore_check.dry_run import prefix_of
from ckpt_viz.restore_check.keras_dry_run import KerasOutcome, run_of_placed
from ckpt_viz.restore_check.objects_in_code import expression_of
from ckpt_viz.restore_fix.applying import is_variable
from ckpt_viz.restore_fix.code import restoring_nothing
from ckpt_viz.restore_fix.fix_of_objects import FixOfObjects
from ckpt_viz.restore_fix.fixed_places import FixedPlaces, fixed_places
from ckpt_viz.restore_fix.keras_code import Assigned, assigning_from_keras, loading
from ckpt_viz.restore_fix.left_out import LeftOut
from ckpt_viz.restore_fix.restore_fix import CheckT
from ckpt_viz.text import count

# An `.h5` file has layers by name, wherever the model has them.
_OF_PLACES = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.MIGRATED, Kind.CONTAINER_CHANGED, Kind.SCOPE_CHANGED),
        *(Kind.WRAPPED, Kind.UNWRAPPED, Kind.MOVED, Kind.REORDERED),
    }
)


@dataclass(frozen=True, repr=False)
class FixOfKerasFile(FixOfObjects[CheckT]):
    """The fix of a load of weights, or of a restore that was given Keras' own file.

    `_load` is what the checked call of `load_weights` does.
    """

    _load: KerasOutcome | None = field(default=None, kw_only=True, repr=False)

    def to_code(self, live: str | None = None, path: str | None = None) -> str:
        """Return the code with the caller's expression; `ckpt` is the model.

        It names the file itself. It needs Keras alone, and what Keras needs: h5py.
        """
        name = operand("ckpt" if live is None else live)
        return self._program(name, path) + "".join(
            f"# {line}\n" for line in self._first_built(name)
        )

    def _first_built(self, name: str) -> Iterator[str]:
        """Yield what to do so that the states of an optimizer that is not built have a place."""
        if self._states_without_place:
            number = count(len(self._states_without_place), "value")
            yield f"{number} of the optimizer stay in the file: it is not built. Build it first:"
            yield f"  {name}.optimizer.build({name}.trainable_variables)"
            yield "Then check again, and fix again."

    @cached_property
    def _states_without_place(self) -> frozenset[str]:
        """The keys of an optimizer's states, if the program's optimizer has not made its own."""
        objects = map(self._live.object, range(len(self._live.nodes)))
        if not any(is_optimizer(obj) and is_unbuilt(obj) for obj in objects):
            return frozenset()
        tree, nodes = self._saved.tree, self._saved.nodes
        unused = (value.key for value in super()._left_out.unused)
        states = {
            key
            for node in range(len(nodes))
            for key in self._keys(node)
            if nodes[node].slot is not None
            or any(nodes[above].role is Role.OPTIMIZER for above in tree.above(node))
        }
        return frozenset(states.intersection(unused))

    @cached_property
    def _left_out(self) -> LeftOut:
        left, states = super()._left_out, self._states_without_place
        return replace(left, unused=[value for value in left.unused if value.key not in states])

    def _following(self) -> Iterator[str]:
        """Yield what to do next; the optimizer comes first, if it is not built."""
        yield from self._first_built("model")
        yield from super()._following()

    def _program(self, name: str, path: str | None) -> str:
        where = repr(prefix_of(self._file) if path is None else path)
        if not self._sure:
            return restoring_nothing(replace(self._left_out, partly=[]))
        if self._is_plain_load:
            options = {} if self._load is None else self._load.options
            return loading(name, where, options, self._left_out)
        states = {pair: optimizer_of(self._live, pair.obj) is not None for pair in self._sure}
        in_order = sorted(states, key=lambda pair: (states[pair], pair.node))
        assigned = [self._assigned(pair, name) for pair in in_order]
        variables = {copy.obj: self._expression(copy.obj, name) for copy in self._left_out.partly}
        return assigning_from_keras(self._file, where, assigned, self._left_out, variables)

    def _assigned(self, pair: Pair, name: str) -> Assigned:
        (attribute,) = self._saved.nodes[pair.node].attributes
        expression = self._expression(pair.obj, name)
        conversion = self._mapping.conversions.get(pair[:2])
        return Assigned(expression, attribute.checkpoint_key, attribute.dtype, conversion)

    def _expression(self, obj: int, name: str) -> str:
        if self._live.origin is Origin.LIVE:
            return with_public_lists(self._live, obj, name)
        return expression_of(self._live, obj, name)

    @property
    def free_names(self) -> tuple[str, ...]:
        """The names in `code` that the program has."""
        return ("ckpt",)

    @property
    def prefix(self) -> str:
        """The path of the file whose values it restores."""
        return prefix_of(self._file)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What happened to the model since the file was written."""
        if self._load is None:
            return super().changes
        every = changes_of(self._mapping_of_picture(self._load), frozenset())
        return tuple(change for change in every if self._is_told(change))

    def _is_told(self, change: Change) -> bool:
        """Return whether a change is one of the model, not of what the format does not tell."""
        if change.kind is Kind.OPTIMIZER_CHANGED:
            slots = (node.slot for node in self._saved.nodes if node.slot is not None)
            return not any(is_unnamed(slot.name) for slot in slots)
        if self._file.layout is not Layout.KERAS_NAMES:
            return True
        is_of_layer = all(self._saved.nodes[n].role is Role.LAYER for n in change.nodes[:1])
        return change.kind not in _OF_PLACES and (is_of_layer or change.kind is not Kind.RENAMED)

    @cached_property
    def check(self) -> CheckT:
        """The check of what the fix gives to the variables."""
        if self._load is None:
            return super().check
        keys = {id(self._live.object(p.obj)): self._keys(p.node)[0] for p in self._sure}
        return self._check_of(run_of_placed(self._live.source, self._file, keys))

    def places(self, of_saved: Mapping[int, int]) -> FixedPlaces:
        """Return the mapping by nodes of a picture, whose live side is what Keras would save."""
        if self._load is None:
            return super().places(of_saved)
        mapping, trace = self._mapping_of_picture(self._load), self._load.by_objects
        bound = {} if trace is None else trace.bound
        return fixed_places(mapping, of_saved, {}, bound, ())

    def _in_check(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Return pairs with the live objects of the check, without what Keras does not save."""
        of_live = self._objects_of_check
        if of_live is None:
            return tuple(pairs)
        return tuple(p._replace(obj=of_live[p.obj]) for p in pairs if p.obj in of_live)

    @cached_property
    def _objects_of_check(self) -> Mapping[int, int] | None:
        """By live object, the one in the picture of the check; None if the picture is the same."""
        if self._load is None:
            return None
        picture = self._load.target.graph
        # A list is made again for each look, and so has no identity.
        nodes = {
            id(held): node
            for node in range(len(picture.nodes))
            if not isinstance(held := picture.object(node), (list, dict, type(None)))
        }
        target = self._load.target
        nodes |= {id(target.held[v]()): node for v, node in target.variables.items()}
        return {
            obj: nodes[id(held)]
            for obj in range(len(self._live.nodes))
            if (held := self._live.object(obj)) is not None and id(held) in nodes
        }

    def _mapping_of_picture(self, load: KerasOutcome) -> ValueMapping:
        """Return the mapping with the live nodes of the check, without what Keras does not save."""
        mapping, of_live = self._mapping, self._objects_of_check or {}
        pairs, parts, misfits = map(
            self._in_check, (mapping.pairs, mapping.parts.values(), mapping.misfits)
        )
        by_node = {pair.node: pair for pair in parts}
        missing = tuple(of_live[obj] for obj in mapping.missing if obj in of_live)
        picture = load.target.graph
        return ValueMapping(self._saved, picture, pairs, by_node, misfits, missing, mapping.unused)

    @property
    def _how(self) -> str:
        if self._is_plain_load:
            return "with a plain load_weights()"
        return "of Keras' own file, each in the place of its name"

    @property
    def _file(self) -> Graph:
        return file_of_keras(self._saved)

    @property
    def _to_write(self) -> Graph:
        return as_checkpoint(self._file)

    @cached_property
    def _sure(self) -> tuple[Pair, ...]:
        """The values that the fix gives to their variables."""
        return tuple(pair for pair in self._placed if is_variable(self._live, pair))

    @property
    def _waiting(self) -> frozenset[int]:
        """No value: the fix assigns them, so none waits for an object that is built later."""
        return frozenset()

    @cached_property
    def _is_plain_load(self) -> bool:
        """Whether the checked call gives every sure value, and no other, to its variable.

        It must not set the matrices of LoRA to zero either, which ends their training.
        """
        loaded = () if self._load is None else self._load.loading.loaded
        if any(of_variable.stays is Stays.ZEROED for of_variable in loaded):
            return False
        wanted = {pair.obj: pair.node for pair in self._sure}
        return not self._conversions(self._sure) and self._given == wanted

    @cached_property
    def _given(self) -> Mapping[int, int] | None:
        """By live object, the saved node that the checked call gives; None if it raises."""
        load = self._load
        if load is None or load.verdicts.restore is not None:
            return None
        target, loaded = load.target, load.loading.loaded
        nodes = {
            id(target.held[number]()): load.nodes[key]
            for number in target.variables
            if (key := loaded[number].key) is not None
        }
        held = ((obj, id(self._live.object(obj))) for obj in range(len(self._live.nodes)))
        return {obj: nodes[of_object] for obj, of_object in held if of_object in nodes}

    @cached_property
    def _unasked(self) -> ValueMapping:
        """The mapping in which all guesses are open.

        Weights alone do not tell what the states of an optimizer are. Their order does, if the call
        puts every weight where it belongs, and leaves no value.
        """
        mapping, given = super()._unasked, self._given
        if given is None or self._load is None or self._load.loading.unused:
            return mapping
        states = {o: node for o, node in given.items() if optimizer_of(self._live, o) is not None}
        sure = {p.obj: p.node for p in mapping.pairs if p.certainty is not Certainty.GUESS}
        is_agreed = all(given.get(obj) == node for obj, node in sure.items())
        if not is_agreed or not given.keys() <= sure.keys() | states.keys():
            return mapping
        new = {obj: node for obj, node in states.items() if obj not in sure}
        if not all(self._may_be_one_state(node, obj) for obj, node in new.items()):
            return mapping
        pairs = [Pair(node, obj, Certainty.LIKELY, Evidence.DEFAULT) for obj, node in new.items()]
        return with_pairs(mapping, pairs)

    def _may_be_one_state(self, node: int, obj: int) -> bool:
        """Return whether nothing speaks against two states, by the names that a file may lack."""
        was, now = self._saved.nodes[node].slot, self._live.nodes[obj].slot
        return was is None or now is None or is_unnamed(was.name) or was.name == now.name
