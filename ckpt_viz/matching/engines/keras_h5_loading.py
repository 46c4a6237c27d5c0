"""A dry run of `load_weights` for `.h5`: by the order of the layers, or by their names.

This goes the way of `load_weights_from_hdf5_group` and `load_weights_from_hdf5_group_by_name`
(keras/src/legacy/saving/legacy_h5_format.py, and tf_keras/src/saving/legacy/hdf5_format.py for
Keras 2), and changes nothing. The first error ends the call.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from ckpt_viz.graphs.nodes.keras_variables import is_automatic
from ckpt_viz.matching.engines.doubtful_places import are_of_others, without_number
from ckpt_viz.matching.engines.h5_sides import LiveLayer, LiveLayers, SavedLayer, SavedLayers
from ckpt_viz.matching.engines.keras_2_conversion import (
    ConversionError,
    DeferredError,
    ValueToLoad,
    converted,
)
from ckpt_viz.matching.engines.keras_sides import LiveVariable
from ckpt_viz.matching.engines.load_errors import misshapen
from ckpt_viz.matching.engines.load_outcome import (
    Loaded,
    LoadFailure,
    Offers,
    Stays,
    WeightsLoading,
)

NEEDS_BY_NAME = (
    "When calling model.load_weights, skip_mismatch can only be set to True when by_name is True."
)
"""The text of the error of Keras 2 for `skip_mismatch` alone."""


def h5_loading(
    live: LiveLayers, saved: SavedLayers, *, by_name: bool = False, skip_mismatch: bool = False
) -> WeightsLoading:
    """Return what `model.load_weights("x.h5", by_name=…, skip_mismatch=…)` would do.

    The numbers of `failures` and of `unknown` are those of the layers; the next one is the model.
    """
    run = _H5Run(live, saved, by_name, skip_mismatch)
    stopped, failures = None, run.failures
    try:
        run.load()
    except _StoppedError as error:
        stopped, failures = error, {}
        if error.number is not None:
            failures = {error.number: error.failure}
    except _DeferringError as deferring:
        return _unknown(live, deferring.number)
    otherwise = Stays.ERROR_BEFORE if stopped else Stays.NOT_LOADED
    late = _H5Run(live, saved, by_name, skip_mismatch, goes_on=True)
    used = {*run.values.values(), *run.converted_keys}
    return WeightsLoading(
        stopped.failure.raises if stopped else "",
        stopped.failure.text if stopped else "",
        failures,
        tuple(run.loaded(number, otherwise) for number in range(len(live.variables))),
        tuple(key for key in saved.all_keys() if key not in used),
        unknown=tuple(run.unknown),
        offers=run.offers(),
        absent=stopped.absent if stopped else "",
        to_the_end=late.to_the_end() if stopped else (),
    )


def _unknown(live: LiveLayers, number: int) -> WeightsLoading:
    """Return that only a load shows if the call raises because of a layer; it loads all or none."""
    loaded = (Loaded(stays=Stays.UNKNOWN),) * len(live.variables)
    return WeightsLoading(None, "", {}, loaded, (), unknown=(number,))


class _StoppedError(Exception):
    """Keras' call ends here, at a layer or before any."""

    def __init__(self, number: int | None, failure: LoadFailure, absent: str = "") -> None:
        super().__init__(failure.text)
        self.number, self.failure, self.absent = number, failure, absent


class _DeferringError(Exception):
    """Only a load shows what becomes of the values of a layer."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Match(NamedTuple):
    """A layer of the model, and the saved layer whose values it would get, with its place."""

    number: int
    place: int
    name: str
    weights: SavedLayer


@dataclass
class _H5Run:
    """One dry run. With `goes_on`, the error of a layer does not end it."""

    live: LiveLayers
    saved: SavedLayers
    is_by_name: bool
    skip_mismatch: bool
    goes_on: bool = False
    values: dict[int, str] = field(default_factory=dict)
    casts: dict[int, tuple[str, str]] = field(default_factory=dict)
    stays: dict[int, Stays] = field(default_factory=dict)
    failures: dict[int, LoadFailure] = field(default_factory=dict)
    unknown: dict[int, None] = field(default_factory=dict)
    converted_keys: set[str] = field(default_factory=set)
    matches: list[_Match] = field(default_factory=list)
    _at_end: list[tuple[int, int, ValueToLoad]] = field(default_factory=list)

    def load(self) -> None:
        if self.live.rules.skips_by_name_alone and self.skip_mismatch and not self.is_by_name:
            raise _StoppedError(None, LoadFailure("ValueError", NEEDS_BY_NAME))
        if self.live.refusal is not None:
            raise _StoppedError(None, self.live.refusal)
        self._by_name() if self.is_by_name else self._by_order()
        self._top_level()
        for number, variable, value in self._at_end:
            live = self.live.variables[variable]
            if live.shape not in (None, value.shape):
                self._stay([variable], Stays.SHAPE)
                with self._passing():
                    raise _StoppedError(number, misshapen(live, value.shape))
            else:
                self._assign(number, variable, value)

    def to_the_end(self) -> tuple[Loaded, ...]:
        """Run, and return what becomes of each variable, until an error that is of no layer."""
        otherwise = Stays.NOT_LOADED
        try:
            self.load()
        except (_StoppedError, _DeferringError):
            otherwise = Stays.ERROR_BEFORE
        return tuple(self.loaded(number, otherwise) for number in range(len(self.live.variables)))

    @contextmanager
    def _passing(self) -> Iterator[None]:
        """Pass over the error of a layer, if the run goes on."""
        try:
            yield
        except _StoppedError:
            if not self.goes_on:
                raise

    def _by_order(self) -> None:
        for number, layer in enumerate(self.live.layers):
            self._refuse(number, layer)
        for name, path in self.saved.absent.items():
            if path == (name,):  # its group
                self._find_all(name)
        with_weights = [i for i, layer in enumerate(self.live.layers) if layer.weights]
        absent = self.saved.absent
        saved = [layer for layer in self.saved.layers if layer[1] or layer[0] in absent]
        both = zip(with_weights, saved, strict=False)
        self.matches = [_Match(i, place, *layer) for place, (i, layer) in enumerate(both)]
        if len(saved) != len(with_weights):
            first = [*takewhile(self._fits, self.matches)]  # others may have moved
            known = [*self._by_names_and_numbers(with_weights, saved)]
            taken = {match.number for match in known}, {match.place for match in known}
            known += (
                match
                for match in first
                if match.number not in taken[0] and match.place not in taken[1]
                if self._is_nameless(match)
            )
            self.matches = known
            text = (
                "Layer count mismatch when loading weights from file. Model expected "
                f"{len(with_weights)} layers, found {len(saved)} saved layers."
            )
            raise _StoppedError(None, LoadFailure("ValueError", text))
        for number, place, name, weights in self.matches:
            layer = self.live.layers[number]
            with self._passing():
                self._find_all(name)
                values = self._converted(number, layer, _values(weights))
                if len(values) != len(layer.weights):
                    self._miscounted(
                        number,
                        layer.weights,
                        f"Weight count mismatch for layer #{place} (named {layer.name} in the "
                        f"current model, {name} in the save file). "
                        f"{_counts(layer.weights, values)}",
                    )
                self._take(number, layer.weights, values, f"layer #{place} (named {layer.name})")

    def _by_name(self) -> None:
        saved_names = {name for name, _ in self.saved.layers}
        for layer in self.live.layers:
            if layer.name not in saved_names:
                self._stay(layer.weights, Stays.NO_GROUP)
        self.matches = [
            _Match(number, place, name, weights)
            for place, (name, weights) in enumerate(self.saved.layers)
            for number, layer in enumerate(self.live.layers)
            if layer.name == name
        ]
        for place, (name, weights) in enumerate(self.saved.layers):
            with self._passing():
                self._find_all(name)
                values: Sequence[ValueToLoad] = _values(weights)
                for number, layer in enumerate(self.live.layers):
                    if layer.name == name:
                        self._refuse(number, layer)
                        values = self._converted(number, layer, values)
                        self._load_layer(place, number, layer, values)

    def _load_layer(
        self, place: int, number: int, layer: LiveLayer, values: Sequence[ValueToLoad]
    ) -> None:
        title = f"layer #{place} (named {layer.name})"
        if len(values) == len(layer.weights):
            self._take(number, layer.weights, values, title)
            return
        text = f"Weight count mismatch for {title}. {_counts(layer.weights, values)}"
        self._miscounted(number, layer.weights, text, may_skip=True)

    def _top_level(self) -> None:
        """Load the variables of the model itself."""
        number, own = len(self.live.layers), self.live.top_level
        if self.saved.top_level is None:
            return
        values = _values(self.saved.top_level)
        with self._passing():
            if len(values) == len(own):
                self._take(number, own, values, "")
                return
            what = "of model" if self.is_by_name else "when loading weights from file"
            text = (
                f"Weight count mismatch for top-level weights {what}. Model expects {len(own)} "
                f"top-level weight(s). Received {len(values)} saved top-level weight(s)"
            )
            self._miscounted(number, own, text, may_skip=self.is_by_name)

    # --- one layer

    def _find_all(self, saved: str) -> None:
        """End the call if the file lists something for a saved layer, and does not have it."""
        if (absent := self.saved.absent.get(saved)) is not None:
            text = repr(absent[-1]) if self.live.rules.names_absent else ""  # of h5py
            failure = LoadFailure("KeyError", text, is_whole=bool(text))
            raise _StoppedError(None, failure, "/".join(filter(None, absent)))

    def _refuse(self, number: int, layer: LiveLayer) -> None:
        if layer.refusal is not None:
            raise _StoppedError(number, layer.refusal)

    def _converted(
        self, number: int, layer: LiveLayer, values: Sequence[ValueToLoad]
    ) -> Sequence[ValueToLoad]:
        try:
            return self._as_loaded(layer, values)
        except DeferredError:
            raise _DeferringError(number) from None
        except ConversionError as error:
            self._stay(layer.weights, Stays.REFUSED)
            failure = LoadFailure(error.raises, error.text, refuses=True)
            raise _StoppedError(number, failure) from None

    def _as_loaded(self, layer: LiveLayer, values: Sequence[ValueToLoad]) -> Sequence[ValueToLoad]:
        """Return the values of a layer as Keras converts them; other versions convert none."""
        if layer.to_load is None:
            return values
        return converted(layer.to_load, values, is_of_keras_1=self.saved.is_of_keras_1)

    def _miscounted(
        self, number: int, variables: Sequence[int], text: str, *, may_skip: bool = False
    ) -> None:
        self._stay(variables, Stays.COUNT)
        self._fail(number, text, may_skip=may_skip)

    def _fail(self, number: int, text: str, *, may_skip: bool = True) -> None:
        """Note why Keras skips values, or end the call."""
        failure = LoadFailure("ValueError", text)
        is_passed = self.goes_on or self.skip_mismatch
        if not (is_passed and may_skip):
            raise _StoppedError(number, failure)
        self.failures.setdefault(number, failure)

    def _take(
        self, number: int, variables: Sequence[int], values: Sequence[ValueToLoad], title: str
    ) -> None:
        at_end = self.live.rules.assigns_at_end
        for variable, value in zip(variables, values, strict=True):
            live = self.live.variables[variable]
            if live.shape != value.shape and (self.is_by_name or not at_end):
                self._stay([variable], Stays.SHAPE)
                text = (
                    f"Shape mismatch in {_place(title, live)}. Weight expects shape {live.shape}. "
                    f"Received saved weight with shape {value.shape}"
                )
                self._fail(number, text)
            elif at_end:
                self._stay([variable], Stays.ERROR_BEFORE)  # until Keras assigns the value
                self._at_end.append((number, variable, value))
            else:
                self._assign(number, variable, value)

    def _assign(self, number: int, variable: int, value: ValueToLoad) -> None:
        if value.is_converted:
            self._stay([variable], Stays.UNKNOWN)
            self.unknown[number] = None
            self.converted_keys.add(value.key)
            return
        self.values[variable] = value.key
        live = self.live.variables[variable]
        if value.stored.dtype != live.dtype:
            self.casts[variable] = (str(value.stored.dtype), str(live.dtype))

    def _stay(self, variables: Sequence[int], why: Stays) -> None:
        self.stays.update(dict.fromkeys(variables, why))

    def loaded(self, number: int, otherwise: Stays) -> Loaded:
        if number in self.values:
            return Loaded(self.values[number], cast=self.casts.get(number))
        return Loaded(stays=self.stays.get(number, otherwise))

    # --- where Keras looks, whether or not it can load

    def offers(self) -> Offers:
        of_variables = {
            variable: value.key for variable, value in self._offered() if not value.is_converted
        }
        doubtful = (match.number for match in self.matches if self._has_another_name(match))
        keys = {m.number: tuple(key for key, _ in m.weights) for m in self.matches}
        keys[len(self.live.layers)] = tuple(key for key, _ in self.saved.top_level or ())
        return Offers(of_variables, keys, frozenset(doubtful), tuple(self._told_by_order()))

    def _in_turn_or_by_names(
        self, variables: Sequence[int], values: Sequence[ValueToLoad]
    ) -> Iterator[tuple[int, ValueToLoad]]:
        """Yield the values of a layer in turn; by their own names if number or order differ."""
        names = [_own_name(self.live.variables[variable].name) for variable in variables]
        others = [_own_name(value.key) for value in values]
        is_other_order = {*names} == {*others} and names != others and len({*names}) == len(names)
        if len(variables) == len(values) and not is_other_order:
            yield from zip(variables, values, strict=True)
            return
        counts, by_name = (Counter(names), Counter(others)), dict(zip(others, values, strict=True))
        for variable, name in zip(variables, names, strict=True):
            is_one = counts[0][name] == counts[1][name] == 1
            if is_one and by_name[name].shape == self.live.variables[variable].shape:
                yield variable, by_name[name]

    def _offered(self) -> Iterator[tuple[int, ValueToLoad]]:
        """Yield the values by variable, but those that names inside a nested model give another."""
        for match in self.matches:
            variables = self.live.layers[match.number].weights
            every = (
                {_scope(key) for key, _ in match.weights},
                {_scope(self._name_of(variable)) for variable in variables},
            )
            for variable, value in self._in_turn_or_by_names(variables, self._values_of(match)):
                scopes = _scope(value.key), _scope(self._name_of(variable))
                if len(every[1]) == 1 or not are_of_others(scopes, "", every):
                    yield variable, value
        top = _values(self.saved.top_level or ())
        yield from self._in_turn_or_by_names(self.live.top_level, top)

    def _name_of(self, variable: int) -> str:
        live = self.live.variables[variable]
        return live.path if live.is_keras_3 else live.name

    def _told_by_order(self) -> Iterator[int]:
        """Yield the layers without names if the file has another number of layers."""
        numbers = sum(bool(layer.weights) for layer in self.live.layers)
        if self.is_by_name or numbers == sum(bool(weights) for _, weights in self.saved.layers):
            return
        for match in self.matches:
            if is_automatic(match.name, self.live.layers[match.number].class_name):
                yield match.number

    def _values_of(self, match: _Match) -> Sequence[ValueToLoad]:
        """Return the values that Keras gives a layer in turn; none if it refuses them."""
        try:
            return self._as_loaded(self.live.layers[match.number], _values(match.weights))
        except (ConversionError, DeferredError):
            return ()

    def _by_names_and_numbers(
        self, numbers: Sequence[int], saved: Sequence[tuple[str, SavedLayer]]
    ) -> Iterator[_Match]:
        """Yield layers of one name, and those without names if both sides have equally many.

        Keras sets nothing then. Only layers of the same shapes can have taken each other's place.
        """
        looks: dict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        named: dict[str, int] = {}
        for number in numbers:
            layer = self.live.layers[number]
            if is_automatic(layer.name, layer.class_name):
                shapes = tuple(self.live.variables[v].shape for v in layer.weights)
                looks[without_number(layer.name), shapes][0].append(number)
            else:
                named[layer.name] = number
        for place, (name, values) in enumerate(saved):
            shapes = tuple(value.shape for value in _values(values))
            looks[without_number(name), shapes][1].append(place)
            if name in named:
                yield _Match(named[name], place, name, values)
        for both in looks.values():
            if len(both[0]) == len(both[1]):
                for number, place in zip(*both, strict=True):
                    yield _Match(number, place, *saved[place])

    def _fits(self, match: _Match) -> bool:
        """Return whether a layer takes the values of a saved one, and no name speaks against it."""
        variables = (self.live.variables[v] for v in self.live.layers[match.number].weights)
        shapes = [value.shape for value in self._values_of(match)]
        return [v.shape for v in variables] == shapes and not self._has_another_name(match)

    def _is_nameless(self, match: _Match) -> bool:
        layer = self.live.layers[match.number]
        return all(is_automatic(name, layer.class_name) for name in (match.name, layer.name))

    def _has_another_name(self, match: _Match) -> bool:
        layer = self.live.layers[match.number]
        return are_of_others((match.name, layer.name), layer.class_name, self._every_name)

    @cached_property
    def _every_name(self) -> tuple[set[str], set[str]]:
        return {name for name, _ in self.saved.layers}, {y.name for y in self.live.layers}


def _values(weights: SavedLayer) -> list[ValueToLoad]:
    return [ValueToLoad(key, stored) for key, stored in weights]


def _own_name(name: str) -> str:
    """Return the last part of a variable's name or key.

    >>> _own_name("dense/kernel:0")
    'kernel'
    """
    return name.rpartition("/")[2].partition(":")[0]


def _scope(name: str) -> str:
    """Return the part of a variable's name or key that names its layer.

    >>> _scope("block/dense/kernel:0"), _scope("kernel:0")
    ('dense', '')
    """
    return name.rpartition("/")[0].rpartition("/")[2]


def _place(title: str, variable: LiveVariable) -> str:
    """Return how Keras names a variable of a layer, or of the model itself without a title."""
    if variable.is_keras_3:
        return f"{title or 'top-level model'}for weight {variable.path}"
    if not title:
        return f"model for top-level weight {variable.name}"
    return f"{title} for weight {variable.name}"


def _counts(variables: Sequence[int], values: Sequence[ValueToLoad]) -> str:
    return f"Layer expects {len(variables)} weight(s). Received {len(values)} saved weight(s)"
