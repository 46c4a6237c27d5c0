"""The lists of layers that the Keras models of a program have, and how code reaches each layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from inspect import getattr_static
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.objects.accessors import layers_of, way_to_layer
from ckpt_viz.live.tensorflow_names.packages import KERAS, package_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict


@dataclass(frozen=True)
class LayerList:
    """The layers of a Keras model; `model` is the expression for the model."""

    model: str
    layers: Sequence[Any]

    @property
    def code(self) -> str:
        """The expression for the list."""
        return f"{self.model}.layers"

    @cached_property
    def names(self) -> Sequence[str | None]:
        """The name of each layer."""
        names = (getattr(layer, "name", None) for layer in self.layers)
        return [name if isinstance(name, str) else None for name in names]

    @cached_property
    def classes(self) -> Sequence[str]:
        """The name of the class of each layer."""
        return [type(layer).__name__ for layer in self.layers]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each layer in the list, by its own expression."""
        every = range(len(self.layers))
        return {f"{self.model}{way_to_layer(self.layers, place)}": place for place in every}

    def may_have(self, place: int, attribute: str) -> bool:
        """Return whether an attribute of a layer is not None, or only code of the program tells."""
        layer = self.layers[place]
        on_class = getattr_static(type(layer), attribute, None)
        if on_class is None:
            has_own_code = getattr_static(type(layer), "__getattr__", None) is not None
            return has_own_code or instance_dict(layer).get(attribute) is not None
        is_of_keras = package_of(getattr(on_class, "fget", None)) in KERAS
        return not is_of_keras or getattr(layer, attribute, None) is not None


def layer_lists(live: Graph, source: str) -> Iterator[LayerList]:
    """Yield the list of each model that code reaches; `source` is the expression for the root."""
    for node in range(len(live.nodes)):
        obj = live.object(node)
        layers = () if obj is None else layers_of(obj)
        if layers:
            with suppress(SourceError):  # the program has dropped it since
                yield LayerList(live.accessor(node, source), layers)
