"""Which variables of live Keras optimizers are the slots of which variables of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ckpt_viz.graphs.slots.optimizer_table import SLOT_NAMES, Generation, row_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_TRAINED = "_trainable_variables"  # the list of Keras 3
_PLACES = "_index_dict"  # of Keras 2: the place of each variable by its unique id


def slots_of(optimizer: Any, variables: Iterable[Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield slot variable, slot name and variable, as the lists of an optimizer show them.

    `variables` are those of the model. The lists run parallel to that of the trained variables.
    """
    own = instance_dict(optimizer)
    trained = _trained(own, variables)
    for list_name, slot_name in _lists_of(optimizer).items():
        slots = own.get(list_name)
        if isinstance(slots, (list, tuple)):
            for place, slot in enumerate(slots):
                if place in trained and hasattr(slot, "shape"):
                    yield slot, slot_name, trained[place]


def _lists_of(optimizer: Any) -> Mapping[str, str]:
    """Return the lists that may hold slots, with the names of their slots."""
    for base in type(optimizer).__mro__:
        row = row_of(Generation.KERAS_2, base.__name__)
        if row is not None and str(base.__module__).startswith("tf_keras."):
            return SLOT_NAMES | {slot.kept_in: slot.name for slot in row.slots if slot.kept_in}
    return SLOT_NAMES


def _trained(own: Mapping[str, Any], variables: Iterable[Any]) -> dict[int, Any]:
    """Return the variables that an optimizer trains, by their places in its lists."""
    listed, places = own.get(_TRAINED), own.get(_PLACES)
    if isinstance(listed, (list, tuple)):
        return dict(enumerate(listed))
    if not isinstance(places, dict):
        return {}
    pairs = ((places.get(getattr(v, "_unique_id", None)), v) for v in variables)
    return {place: variable for place, variable in pairs if place is not None}
