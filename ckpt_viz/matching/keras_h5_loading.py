"""A dry run of Keras 3's `load_weights` for `.h5`: by the order of the layers, or by their names.

This goes the way of `load_weights_from_hdf5_group` and `load_weights_from_hdf5_group_by_name`
(keras/src/legacy/saving/legacy_h5_format.py), and changes nothing. The first error ends the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ckpt_viz.matching.keras_loading import Loaded, LoadFailure, Stays, WeightsLoading
from ckpt_viz.matching.keras_sides import LiveVariable
from ckpt_viz.object_graph.nodes import Stored

_TOP = -1  # in place of the number of a layer: the model itself


@dataclass(frozen=True, slots=True)
class LiveLayer:
    """A layer of a model, with its variables in the order in which Keras writes them to `.h5`."""

    name: str
    weights: tuple[int, ...]


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
    failure = None
    try:
        run.by_name() if by_name else run.by_order()
        run.top_level(tolerates_count=by_name and skip_mismatch)
    except _StoppedError as stopped:
        failure = stopped.failure
        number = stopped.number
    used = set(run.values.values())
    return WeightsLoading(
        failure.raises if failure else "",
        failure.text if failure else "",
        {number: failure} if failure and number is not None else {},
        tuple(run.loaded(number) for number in range(len(live.variables))),
        tuple(key for key in saved.all_keys() if key not in used),
        overwritten=tuple(sorted(run.values)) if failure else (),
    )


class _StoppedError(Exception):
    """Keras' call ends here, at a layer or before any."""

    def __init__(self, number: int | None, text: str) -> None:
        super().__init__(text)
        self.number, self.failure = number, LoadFailure("ValueError", text)


@dataclass
class _H5Run:
    live: LiveLayers
    saved: SavedLayers
    skip_mismatch: bool
    values: dict[int, str] = field(default_factory=dict)
    casts: dict[int, tuple[str, str]] = field(default_factory=dict)
    stays: dict[int, Stays] = field(default_factory=dict)

    def by_order(self) -> None:
        with_weights = [i for i, layer in enumerate(self.live.layers) if layer.weights]
        saved = [(name, weights) for name, weights in self.saved.layers if weights]
        if len(saved) != len(with_weights):
            raise _StoppedError(
                None,
                "Layer count mismatch when loading weights from file. Model expected "
                f"{len(with_weights)} layers, found {len(saved)} saved layers.",
            )
        for place, (number, (name, weights)) in enumerate(zip(with_weights, saved, strict=True)):
            layer = self.live.layers[number]
            if len(weights) != len(layer.weights):
                self._stay(layer.weights, Stays.COUNT)
                raise _StoppedError(
                    number,
                    f"Weight count mismatch for layer #{place} (named {layer.name} in the current "
                    f"model, {name} in the save file). {_counts(layer.weights, weights)}",
                )
            self._assign(number, layer.weights, weights, f"layer #{place} (named {layer.name})")

    def by_name(self) -> None:
        saved_names = {name for name, _ in self.saved.layers}
        for layer in self.live.layers:
            if layer.name not in saved_names:
                self._stay(layer.weights, Stays.NO_GROUP)
        for place, (name, weights) in enumerate(self.saved.layers):
            for number, layer in enumerate(self.live.layers):
                if layer.name == name:
                    self._by_name(place, number, layer, weights)

    def _by_name(self, place: int, number: int, layer: LiveLayer, weights: SavedLayer) -> None:
        title = f"layer #{place} (named {layer.name})"
        if len(weights) == len(layer.weights):
            self._assign(number, layer.weights, weights, title)
            return
        self._stay(layer.weights, Stays.COUNT)
        if not self.skip_mismatch:
            text = f"Weight count mismatch for {title}. {_counts(layer.weights, weights)}"
            raise _StoppedError(number, text)

    def top_level(self, *, tolerates_count: bool) -> None:
        """Load the variables of the model itself."""
        own, weights = self.live.top_level, self.saved.top_level
        if weights is None:
            return
        if len(weights) == len(own):
            self._assign(_TOP, own, weights, "top-level model")
            return
        self._stay(own, Stays.COUNT)
        if not tolerates_count:
            raise _StoppedError(_TOP, "Weight count mismatch for top-level weights ")

    def _assign(
        self, number: int, variables: Sequence[int], weights: SavedLayer, title: str
    ) -> None:
        for variable, (key, stored) in zip(variables, weights, strict=True):
            live = self.live.variables[variable]
            if live.shape != stored.shape:
                self._stay([variable], Stays.SHAPE)
                if not self.skip_mismatch:
                    raise _StoppedError(
                        number,
                        f"Shape mismatch in {title}for weight {live.path}. Weight expects shape "
                        f"{live.shape}. Received saved weight with shape {stored.shape}",
                    )
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


def _counts(variables: Sequence[int], weights: SavedLayer) -> str:
    return f"Layer expects {len(variables)} weight(s). Received {len(weights)} saved weight(s)"
