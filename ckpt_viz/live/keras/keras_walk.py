"""A live Keras model as Keras walks through it to save or load weights; this changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.live.keras import keras_private
from ckpt_viz.live.keras.keras_2_layers import layer_to_load, refusal_of_model
from ckpt_viz.live.keras.keras_loaders import loading_of
from ckpt_viz.live.keras.keras_stores import is_variable
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.shadows import steadily
from ckpt_viz.matching.engines.h5_sides import LiveLayer, LiveLayers
from ckpt_viz.matching.engines.keras_sides import (
    Item,
    LiveSaveable,
    LiveVariable,
    LiveWeights,
    Loading,
    SaveableList,
)
from ckpt_viz.matching.engines.load_outcome import LoadFailure


@dataclass
class KerasWalk:
    """The saveables below a model, and their variables, each with a number.

    `objects` and `variables` are alive as long as the walk is, as are the `lists`.
    """

    library: str
    objects: list[Any] = field(default_factory=list)
    variables: list[Any] = field(default_factory=list)
    saveables: list[LiveSaveable] = field(default_factory=list)
    lists: list[Any] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _variables: dict[int, int] = field(default_factory=dict)
    _lists: dict[int, SaveableList] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._is_saveable = keras_private.is_saveable(self.library)
        self._list_types = keras_private.list_types(self.library)

    def run(self, model: object) -> LiveWeights:
        """Return the live side of `model.load_weights`."""
        self._number_of(model)
        for obj in self.objects:  # grows during the loop
            self.saveables.append(self._described(obj))
        return LiveWeights(
            tuple(self.saveables),
            tuple(map(self.described_variable, self.variables)),
            keras_private.rules_of(self.library),
        )

    def number_of_variable(self, variable: Any) -> int:
        """Return the number of a variable, which is new if the walk does not know the variable."""
        number = self._variables.setdefault(id(variable), len(self.variables))
        if number == len(self.variables):
            self.variables.append(variable)
        return number

    def _number_of(self, obj: object) -> int:
        number = self._numbers.setdefault(id(obj), len(self.objects))
        if number == len(self.objects):
            self.objects.append(obj)
        return number

    def _described(self, obj: Any) -> LiveSaveable:
        name = getattr(obj, "name", None)
        loading = loading_of(self.library, obj, self.number_of_variable)
        return LiveSaveable(
            component=keras_private.component_of(self.library, type(obj)),
            class_name=type(obj).__name__,
            name=name if isinstance(name, str) else None,
            is_built=bool(getattr(obj, "built", True)),
            text=_text_of(self.library, obj),
            loading=loading,
            own=self._own(obj, loading),
            children=tuple(self._children(obj)),
        )

    def _own(self, obj: Any, loading: Loading | None) -> tuple[int, ...]:
        """Return the variables of an object itself, also those that Keras does not load."""
        try:
            variables = keras_private.own_variables(self.library, obj)
        except AttributeError:  # no layer
            return tuple(number for _, number in loading.targets) if loading is not None else ()
        return tuple(map(self.number_of_variable, filter(is_variable, variables)))

    def _children(self, obj: Any) -> Iterable[tuple[str, Item]]:
        for attribute, child in keras_private.attributes_of(self.library, obj):
            if self._is_saveable(child):
                yield attribute, self._number_of(child)
            elif isinstance(child, self._list_types):
                items = self._list(child)
                if _holds_saveables(items, set()):
                    yield attribute, items

    def _list(self, held: Any) -> SaveableList:
        known = self._lists.get(id(held))
        if known is not None:
            return known
        number = len(self.lists)
        self.lists.append(held)
        self._lists[id(held)] = SaveableList(number)  # for a list in itself
        contents = tuple(held.values()) if isinstance(held, dict) else tuple(held)
        items = self._lists[id(held)] = SaveableList(number, tuple(self._items(contents)))
        return items

    def _items(self, contents: Iterable[Any]) -> Iterable[Item]:
        for item in contents:
            if self._is_saveable(item):
                yield self._number_of(item)
            elif isinstance(item, (list, dict, tuple)):
                yield self._list(item)

    def described_variable(self, variable: Any) -> LiveVariable:
        """Return what the dry run of a load knows of a variable."""
        dtype = tf_private.base_dtype_name(variable.dtype)
        shape = tf_private.full_shape(variable.shape)
        name, path = str(variable.name), str(getattr(variable, "path", ""))
        text = f"<Variable path={path}, shape={shape}, dtype={dtype}"
        if any(base.__name__ == "KerasVariable" for base in type(variable).__mro__):
            # The class of Keras before 3.6 prints no value.
            text = f"<KerasVariable shape={shape}, dtype={dtype}, path={path}>"
        return LiveVariable(name, dtype, shape, path, text, is_keras_3=self.library == "keras")


def walk_of(model: object) -> tuple[KerasWalk, LiveWeights]:
    """Return a finished walk through a model; raises SourceError for what is no Keras model."""
    library = keras_private.library_of(model)
    if library is None or not keras_private.is_model(model):
        raise SourceError(
            f"found a {type(model).__name__}, expected a Keras model: only models have "
            "save_weights and load_weights"
        )

    def walk() -> tuple[KerasWalk, LiveWeights]:
        walk = KerasWalk(library)
        return walk, walk.run(model)

    return steadily(walk)


def layers_of(model: Any) -> tuple[KerasWalk, LiveLayers]:
    """Return the live side of `load_weights` for `.h5`."""
    library = keras_private.library_of(model)
    assert library is not None
    walk = KerasWalk(library)
    layers = tuple(_layer_in_h5(walk, layer) for layer in model.layers)
    own = tuple(map(walk.number_of_variable, keras_private.own_variables(library, model)))
    return walk, LiveLayers(
        layers,
        own,
        tuple(map(walk.described_variable, walk.variables)),
        keras_private.h5_rules_of(library),
        refusal_of_model(model) if library == keras_private.KERAS_2 else None,
    )


def _layer_in_h5(walk: KerasWalk, layer: Any) -> LiveLayer:
    try:
        weights = keras_private.variables_in_h5(walk.library, layer)
        to_load = layer_to_load(layer) if walk.library == keras_private.KERAS_2 else None
    except Exception as error:  # load_weights asks for the same, and raises the same
        failure = LoadFailure(type(error).__name__, str(error), refuses=True)
        return LiveLayer(layer.name, (), failure, class_name=type(layer).__name__)
    numbers = tuple(map(walk.number_of_variable, weights))
    return LiveLayer(layer.name, numbers, to_load=to_load, class_name=type(layer).__name__)


def _holds_saveables(items: SaveableList, seen: set[int]) -> bool:
    if items.number in seen:
        return False
    seen.add(items.number)
    return any(isinstance(item, int) or _holds_saveables(item, seen) for item in items.items)


def _text_of(library: str, obj: Any) -> str | None:
    """Return how an error prints an object, None if code of the program's own prints it."""
    for method in ("__repr__", "__str__"):
        module, _ = keras_private.definer(obj, method)
        if module != "builtins" and not module.startswith(f"{library}."):
            return None
    return repr(obj)
