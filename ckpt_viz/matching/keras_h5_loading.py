"""A dry run of Keras 3's `load_weights` for `.h5`: by the order of the layers, or by their names.

This goes the way of `load_weights_from_hdf5_group` and `load_weights_from_hdf5_group_by_name`
(keras/src/legacy/saving/legacy_h5_format.py), and changes nothing. The first error ends the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ckpt_viz.matching.keras_loading import (
    ExchangedName,
    Loaded,
    LoadFailure,
    Offers,
    Stays,
    WeightsLoading,
    are_of_others,
)
from ckpt_viz.matching.keras_sides import LiveVariable
from ckpt_viz.object_graph.nodes import Stored

_TOP = -1  # in place of the number of a layer: the model itself


@dataclass(frozen=True, slots=True)
class LiveLayer:
    """A layer of a model, with its variables in the order in which Keras writes them to `.h5`."""

    name: str
    weights: tuple[int, ...]
    class_name: str = ""


@dataclass(frozen=True, slots=True)
class LiveLayers:
    """The live side: the layers of a model, and the variables of the model itself."""

    layers: tuple[LiveLayer, ...]
    top_level: tuple[int, ...]
    variables: tuple[LiveVariable, ...]


# The variables of a layer in a file, in the order of its `weight_names`, by key.
SavedLayer = Sequence[tuple[str, Stored]]


@dataclass(frozen=True, slots=True)
class SavedLayers:
    """The saved side: the layers in the order of `layer_names`.

    `top_level` is None if the file has no group for the variables of the model itself.
    """

    layers: Sequence[tuple[str, SavedLayer]]
    top_level: SavedLayer | None = None

    def all_keys(self) -> Iterator[str]:
        """Yield the keys of all variables."""
        for _, weights in self.layers:
            yield from (key for key, _ in weights)
        yield from (key for key, _ in self.top_level or ())


def h5_loading(
    live: LiveLayers, saved: SavedLayers, *, by_name: bool = False, skip_mismatch: bool = False
) -> WeightsLoading:
    """Return what `model.load_weights("x.h5", by_name=…, skip_mismatch=…)` would do.

    The numbers of `failures` are those of the model's layers.
    """
    run = _H5Run(live, saved, skip_mismatch)
    raises, text = "", ""
    try:
        run.by_name() if by_name else run.by_order()
        run.top_level(tolerates_count=by_name and skip_mismatch)
    except _StoppedError as stopped:
        raises, text = stopped.failure.raises, stopped.failure.text
        if stopped.number is not None:
            run.failures[stopped.number] = stopped.failure
    used = set(run.values.values())
    return WeightsLoading(
        raises,
        text,
        run.failures,
        tuple(run.loaded(number) for number in range(len(live.variables))),
        tuple(key for key in saved.all_keys() if key not in used),
        overwritten=tuple(sorted(run.values)) if raises else (),
        exchanged=tuple(run.exchanged()),
        offers=run.offers(),
    )


class _StoppedError(Exception):
    """Keras' call ends here, at a layer or before any."""

    def __init__(self, number: int | None, text: str) -> None:
        super().__init__(text)
        self.number, self.failure = number, LoadFailure("ValueError", text)


class _Match(NamedTuple):
    """A layer of the model, and the saved layer whose values it would get, with its place."""

    number: int
    place: int
    name: str
    weights: SavedLayer


@dataclass
class _H5Run:
    live: LiveLayers
    saved: SavedLayers
    skip_mismatch: bool
    values: dict[int, str] = field(default_factory=dict)
    casts: dict[int, tuple[str, str]] = field(default_factory=dict)
    stays: dict[int, Stays] = field(default_factory=dict)
    failures: dict[int, LoadFailure] = field(default_factory=dict)
    matches: list[_Match] = field(default_factory=list)

    def by_order(self) -> None:
        with_weights = [i for i, layer in enumerate(self.live.layers) if layer.weights]
        saved = [(name, weights) for name, weights in self.saved.layers if weights]
        if len(saved) != len(with_weights):
            raise _StoppedError(
                None,
                "Layer count mismatch when loading weights from file. Model expected "
                f"{len(with_weights)} layers, found {len(saved)} saved layers.",
            )
        both = zip(with_weights, saved, strict=True)
        self.matches = [_Match(i, place, *layer) for place, (i, layer) in enumerate(both)]
        for number, place, name, weights in self.matches:
            layer = self.live.layers[number]
            if len(weights) != len(layer.weights):
                self._fail(
                    number,
                    layer.weights,
                    f"Weight count mismatch for layer #{place} (named {layer.name} in the current "
                    f"model, {name} in the save file). {_counts(layer.weights, weights)}",
                    passes=False,
                )
            self._assign(number, layer.weights, weights, f"layer #{place} (named {layer.name})")

    def by_name(self) -> None:
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
        for number, place, _, weights in self.matches:
            layer = self.live.layers[number]
            title = f"layer #{place} (named {layer.name})"
            if len(weights) == len(layer.weights):
                self._assign(number, layer.weights, weights, title)
                continue
            text = f"Weight count mismatch for {title}. {_counts(layer.weights, weights)}"
            self._fail(number, layer.weights, text, passes=self.skip_mismatch)

    def top_level(self, *, tolerates_count: bool) -> None:
        """Load the variables of the model itself."""
        own, weights = self.live.top_level, self.saved.top_level
        if weights is None:
            return
        if len(weights) == len(own):
            self._assign(_TOP, own, weights, "top-level model")
            return
        text = "Weight count mismatch for top-level weights "
        self._fail(_TOP, own, text, passes=tolerates_count)

    def _fail(self, number: int, variables: Sequence[int], text: str, *, passes: bool) -> None:
        """Note that a layer has another number of variables; raise unless Keras passes it."""
        self._stay(variables, Stays.COUNT)
        stopped = _StoppedError(number, text)
        if not passes:
            raise stopped
        self.failures[number] = stopped.failure

    def _assign(
        self, number: int, variables: Sequence[int], weights: SavedLayer, title: str
    ) -> None:
        for variable, (key, stored) in zip(variables, weights, strict=True):
            live = self.live.variables[variable]
            if live.shape != stored.shape:
                self._stay([variable], Stays.SHAPE)
                stopped = _StoppedError(
                    number,
                    f"Shape mismatch in {title}for weight {live.path}. Weight expects shape "
                    f"{live.shape}. Received saved weight with shape {stored.shape}",
                )
                if not self.skip_mismatch:
                    raise stopped
                self.failures.setdefault(number, stopped.failure)
                continue
            self.values[variable] = key
            if stored.dtype != live.dtype:
                self.casts[variable] = (str(stored.dtype), str(live.dtype))

    def _stay(self, variables: Sequence[int], why: Stays) -> None:
        self.stays.update(dict.fromkeys(variables, why))

    def loaded(self, number: int) -> Loaded:
        if number in self.values:
            return Loaded(self.values[number], cast=self.casts.get(number))
        return Loaded(stays=self.stays.get(number, Stays.NOT_LOADED))

    # --- where Keras looks, whether or not it can load

    def offers(self) -> Offers:
        of_variables: dict[int, str] = {}
        own, weights = self.live.top_level, self.saved.top_level or ()
        layers = [(self.live.layers[m.number].weights, m.weights) for m in self.matches]
        for variables, saved in (*layers, (own, weights)):
            if len(variables) == len(saved):
                of_variables |= dict(zip(variables, (key for key, _ in saved), strict=True))
        doubtful = (match.number for match in self._with_other_names())
        keys = {m.number: tuple(key for key, _ in m.weights) for m in self.matches}
        return Offers(of_variables, keys, frozenset(doubtful))

    def exchanged(self) -> Iterator[ExchangedName]:
        numbers = {layer.name: number for number, layer in enumerate(self.live.layers)}
        for number, _, name, _ in self._with_other_names():
            if any(variable in self.values for variable in self.live.layers[number].weights):
                yield ExchangedName(name, name, number, numbers.get(name))

    def _with_other_names(self) -> Iterator[_Match]:
        every = {name for name, _ in self.saved.layers}, {y.name for y in self.live.layers}
        for match in self.matches:
            layer = self.live.layers[match.number]
            if are_of_others((match.name, layer.name), layer.class_name, every):
                yield match


def _counts(variables: Sequence[int], weights: SavedLayer) -> str:
    return f"Layer expects {len(variables)} weight(s). Received {len(weights)} saved weight(s)"
