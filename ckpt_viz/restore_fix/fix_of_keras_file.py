"""The fix of `load_weights`: the values of Keras' own file go by names, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from ckpt_viz.correspondence.pairs import Pair
from ckpt_viz.edits.as_checkpoint import as_checkpoint, file_of_keras
from ckpt_viz.expressions import operand
from ckpt_viz.live.keras_accessors import optimizer_of, with_public_lists
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.restore_check.dry_run import prefix_of
from ckpt_viz.restore_check.keras_dry_run import KerasOutcome
from ckpt_viz.restore_check.objects_in_code import expression_of
from ckpt_viz.restore_fix.applying import is_variable
from ckpt_viz.restore_fix.code import restoring_nothing
from ckpt_viz.restore_fix.fix_of_objects import FixOfObjects
from ckpt_viz.restore_fix.keras_code import Assigned, assigning_from_keras, loading
from ckpt_viz.restore_fix.restore_fix import CheckT


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

    @cached_property
    def _is_plain_load(self) -> bool:
        """Whether the checked call gives every sure value, and no other, to its variable."""
        outcome = self._load
        if outcome is None or outcome.verdicts.restore is not None:
            return False
        if self._conversions(self._sure):
            return False
        wanted = {id(self._live.object(pair.obj)): pair.node for pair in self._sure}
        target, loaded = outcome.target, outcome.loading.loaded
        given = {
            id(target.graph.object(obj)): outcome.nodes[key]
            for number, obj in target.variables.items()
            if (key := loaded[number].key) is not None
        }
        return given == wanted
