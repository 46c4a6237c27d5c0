"""The layers of a program and of an .h5 file, as Keras' loader compares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.matching.engines.keras_2_conversion import (
    LayerToLoad,
)
from ckpt_viz.matching.engines.keras_sides import LiveVariable
from ckpt_viz.matching.engines.load_outcome import (
    LoadFailure,
)


@dataclass(frozen=True, slots=True)
class LiveLayer:
    """A layer of a model, with its variables in the order in which Keras writes them to `.h5`.

    `refusal` is the error when Keras asks for these variables. `to_load` is what Keras 2 asks of
    the layer to convert saved values; other versions convert none.
    """

    name: str
    weights: tuple[int, ...]
    refusal: LoadFailure | None = None
    to_load: LayerToLoad | None = None
    class_name: str = ""


@dataclass(frozen=True, slots=True)
class H5Rules:
    """What differs between the versions of Keras.

    `skips_by_name_alone`: `skip_mismatch` without `by_name` is an error. `assigns_at_end`: no
    variable changes before all values are read, and by order, shapes are compared only then.
    `names_absent`: the error for what the file lists and lacks is of Keras; else it is of h5py.
    """

    skips_by_name_alone: bool = False
    assigns_at_end: bool = False
    names_absent: bool = False


@dataclass(frozen=True, slots=True)
class LiveLayers:
    """The live side: the layers of a model, and the variables of the model itself.

    `refusal` is the error of a model that is not built.
    """

    layers: tuple[LiveLayer, ...]
    top_level: tuple[int, ...]
    variables: tuple[LiveVariable, ...]
    rules: H5Rules
    refusal: LoadFailure | None = None


# The variables of a layer in a file, in the order of its `weight_names`, by key.
SavedLayer = Sequence[tuple[str, Stored]]


@dataclass(frozen=True, slots=True)
class SavedLayers:
    """The saved side: the layers in the order of `layer_names`.

    `top_level` is None if the file has no group for the variables of the model itself.
    `is_of_keras_1` tells that the file is of Keras 1, or names no version. `absent` has the
    layers of which a damaged file lacks what it lists, with the path from the layer to that.
    """

    layers: Sequence[tuple[str, SavedLayer]]
    top_level: SavedLayer | None = None
    is_of_keras_1: bool = False
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def all_keys(self) -> Iterator[str]:
        """Yield the keys of all variables."""
        for _, weights in self.layers:
            yield from (key for key, _ in weights)
        yield from (key for key, _ in self.top_level or ())
