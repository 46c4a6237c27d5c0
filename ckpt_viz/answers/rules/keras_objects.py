"""The objects that Keras loads: which values it has for each, and why one does not take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.keras_outcome import KerasOutcome
from ckpt_viz.files.keras_files.windows_names import CAUSE, first_of_windows, with_slashes
from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.ground.text import count, readable, shape_words
from ckpt_viz.matching.correspondence.pairs import is_guess
from ckpt_viz.matching.engines.load_outcome import Stays
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow, Why

# Why a value stays that makes its object fail.
_OF_FAILURES = (
    *(Stays.NO_GROUP, Stays.COUNT, Stays.MISSING),
    *(Stays.SHAPE, Stays.DTYPE, Stays.UNREADABLE, Stays.REFUSED),
)
_NOT_REACHED = (Stays.NOT_LOADED, Stays.ERROR_BEFORE)


class ObjectFailure(NamedTuple):
    """Why an object does not take all of its values: a sentence, and the first reason.

    `raises` says that the call raises for it. What the sentence is about comes first among `nodes`
    and `objects`.
    """

    sentence: str
    stays: Stays | None
    raises: bool
    nodes: Sequence[int]
    objects: Sequence[int]


class KerasObjects:
    """What a check asks of the objects of a model, by their numbers."""

    def __init__(self, run: DryRun, outcome: KerasOutcome) -> None:
        assert run.saved is not None
        self._run, self._outcome = run, outcome
        self._live, self._saved = run.live, run.saved
        self._loading, self._target = outcome.loading, outcome.target
        self._saveables = self._target.weights.saveables
        self._owners = {v: n for n, saveable in enumerate(self._saveables) for v in saveable.own}
        self.skipped = {*self._loading.skipped}

    def place(self, number: int) -> str:
        """Return what people call an object of the model."""
        node, saveable = self._target.objects.get(number, ROOT), self._saveables[number]
        if node == ROOT:
            return readable(saveable.name or saveable.class_name)
        return self._live.names.place(node)

    def nodes_of(self, numbers: Iterable[int]) -> list[int]:
        """Return the live nodes of objects, as far as they have any."""
        return [self._target.objects[n] for n in numbers if n in self._target.objects]

    def variables(self, numbers: Iterable[int]) -> list[int]:
        """Return the live nodes of variables, as far as they have any."""
        return [self._target.variables[v] for v in numbers if v in self._target.variables]

    def offered(self, number: int) -> list[int]:
        """Return the saved values that Keras finds for an object."""
        keys = self._loading.offers.of_objects.get(number, ())
        return [self._outcome.nodes[key] for key in keys if key in self._outcome.nodes]

    def holder(self, node: int) -> int:
        """Return the saved object that a value belongs to; a slot belongs to its optimizer."""
        slot = self._saved.nodes[node].slot
        owner = None if slot is None else slot.optimizer
        return self._saved.tree.parents[node] if owner is None else owner

    def is_guess(self, row: RestoreRow) -> bool:
        """Return whether only order or shape pairs the two sides of a row, or could pair one."""
        if row.saved is None:
            return row.plain.why is Why.GUESS
        pair = self._run.mapping.parts.get(row.saved)
        return pair is not None and is_guess(pair)

    def advice(self, what: str) -> str:
        """Return what to do about an error; the fix restores `what` fits."""
        start = "Call"
        if first_of_windows(getattr(self._saved.stored_in, "groups", ())) is not None:
            start = "Write a copy that Keras loads: cv.graph(path).write(new_path), or call"
        return f"{start} check.fix().apply(): it restores {what} by names."

    # --- rows

    def that_fails_with(self, row: RestoreRow) -> int | None:
        """Return the object that fails, or is skipped, and leaves the value of a row."""
        if row.live is None:
            return self._failing_for.get(row.saved)
        number = self._owners.get(self._numbers.get(row.live, -1), -1)
        return number if number in self._that_fail else None

    def keeps_its_own(self, row: RestoreRow) -> bool:
        """Return whether a value of the program alone stays as it is."""
        if row.plain.place is not Destination.KEEPS or row.live is None:
            return False
        loaded = [self._loading.loaded[v] for v in [self._numbers.get(row.live)] if v is not None]
        return all(of.key is None and of.stays is not Stays.ZEROED for of in loaded)

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        """The number of the variable at each live node; an optimizer around another has two."""
        numbers = {obj: number for number, obj in self._target.variables.items()}
        second = self._live.second_places.items()
        return numbers | {obj: numbers[first] for obj, first in second if first in numbers}

    @cached_property
    def _that_fail(self) -> frozenset[int]:
        failing = {n for v, n in self._owners.items() if self._reason(v) in _OF_FAILURES}
        return frozenset({*failing, *self._loading.failures, *self.skipped})

    @cached_property
    def _failing_for(self) -> Mapping[int | None, int]:
        """The object that Keras has each saved value for, and that does not take it."""
        return {
            node: number
            for number in self._that_fail
            for node in self.offered(number)
            if number in self.skipped or not self._is_of_another(self.holder(node), number)
        }

    def _reason(self, variable: int) -> Stays | None:
        """Return why a variable stays, also after an error that keeps the call from reaching it."""
        stays = self._loading.loaded[variable].stays
        is_late = stays in _NOT_REACHED and bool(self._loading.raises)
        return Stays.SHAPE if is_late and variable in self._misfits else stays

    @cached_property
    def _misfits(self) -> frozenset[int | None]:
        return frozenset(self._numbers.get(pair.obj) for pair in self._run.mapping.misfits)

    # --- an object that fails

    def failure(self, number: int, rows: Sequence[RestoreRow]) -> ObjectFailure:
        """Return why an object does not take all of its values, which are in `rows`."""
        own, loaded = self._saveables[number].own, self._loading.loaded
        first = next((v for v in own if self._reason(v) in _OF_FAILURES), None)
        stays = None if first is None else self._reason(first)
        is_late = first is not None and loaded[first].stays is not stays
        raises = bool(self._loading.raises) and (is_late or number in self._loading.failures)
        kept = count(sum(loaded[v].key is None for v in own), "value")
        why = self._why(number, first, stays, rows)
        sentence = f"{why}; this {'makes load_weights raise' if raises else f'keeps {kept}'}."
        nodes = [] if self._other_part(number) else self.offered(number)
        objects = self.variables(own)
        if first is not None and stays is Stays.SHAPE:
            nodes.sort(key=lambda node: node != self._saved_of(first))
            objects.sort(key=lambda obj: obj != self._target.variables.get(first))
        else:
            objects[:0] = self.nodes_of([number])
        return ObjectFailure(sentence, stays, raises, nodes, objects)

    def _why(
        self, number: int, variable: int | None, stays: Stays | None, rows: Sequence[RestoreRow]
    ) -> str:
        place, failure = self.place(number), self._loading.failures.get(number)
        if failure is not None and failure.refuses:
            return f"Keras cannot load {place}: {readable(failure.text).strip()}"
        if variable is None or stays is None:
            return f"{place} has no variables, and the file has some for it"
        name = self._live.names.place_or_state(self._target.variables[variable])
        if stays is Stays.SHAPE:
            return self._why_misshapen(number, variable, name)
        if stays is Stays.NO_GROUP:
            own = [row for row in rows if row.saved is not None]
            if not own:
                return f"The file has no weights for {place}"
            if self.is_guess(own[0]):
                only = "only order or shape tells which of the file belong to it"
                return f"Keras finds no weights for {place}, and {only}"
            key = self._saved.nodes[own[0].saved or ROOT].attributes[0].checkpoint_key
            if key != with_slashes(key):
                group, path = (name.rpartition("/vars/")[0] for name in (key, with_slashes(key)))
                return f"Keras looks for {path}, and the file has {group}: {CAUSE}"
            part = self._saved.names.place(self.holder(own[0].saved or ROOT))
            return f"Keras does not look at {part} of the file for {place}"
        if stays is Stays.COUNT:
            other, saved = self._other_part(number), len(self.offered(number))
            where = f"{other}, which Keras reads for it, has {saved}" if other else ""
            has = f"{place} has {count(len(self._saveables[number].own), 'variable')} in the model"
            return f"{has} and {where or f'{saved} in the file'}"
        if stays is Stays.MISSING:
            return f"The file has no {self._key(variable)}"
        if stays is Stays.DTYPE:
            return f"Keras cannot convert the saved value of {name}"
        return f"The saved value of {name} cannot be read"

    def _why_misshapen(self, number: int, variable: int, name: str) -> str:
        node, other = self._saved_of(variable), self._other_part(number)
        if node is None:
            return f"{name} has another shape in the file"
        was = shape_words(self._saved.nodes[node].attributes[0].shape or ())
        now = shape_words(self._target.weights.variables[variable].shape or ())
        if other:
            return f"Keras reads {other} for {self.place(number)}: {was} does not fit {name}, {now}"
        return f"{name} has the shape {was} in the file and {now} in the model"

    def _other_part(self, number: int) -> str:
        """Return what people call the saved part that Keras reads for an object, if not its own."""
        read = next(map(self.holder, self.offered(number)), None)
        is_other = read is not None and self._is_of_another(read, number)
        return self._saved.names.place(read) if read is not None and is_other else ""

    def _is_of_another(self, node: int, number: int) -> bool:
        """Return whether a saved part belongs to another object, or has another name."""
        obj, saveable = self._target.objects.get(number), self._saveables[number]
        own = next((known for known, other in self._counterparts.items() if other == obj), None)
        if own is not None:
            return own != node
        name = self._saved.nodes[node].own_name or saveable.name or ""
        has_other_name = name != saveable.name and not is_automatic(name, saveable.class_name)
        return has_other_name or node in self._counterparts

    @cached_property
    def _counterparts(self) -> Mapping[int, int]:
        """The object of each saved part, as far as it is sure."""
        parts = self._run.mapping.parts.values()
        return {pair.node: pair.obj for pair in parts if not is_guess(pair)}

    def _key(self, variable: int) -> str:
        return self._live.nodes[self._target.variables[variable]].attributes[0].checkpoint_key

    def _saved_of(self, variable: int) -> int | None:
        """Return the saved value that Keras looks at for a variable, or that belongs to it."""
        obj = self._target.variables[variable]
        belongs = next((p.node for p in self._run.mapping.misfits if p.obj == obj), None)
        key = self._loading.offers.of_variables.get(variable, self._key(variable))
        return self._outcome.nodes.get(key, belongs)
