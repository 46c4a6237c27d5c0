"""Values that a SavedModel or Keras keeps beside the variables, which no restore needs."""

from __future__ import annotations

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.live.objects import facts

_OF_KERAS = ("_compiled_trainable_state",)
OF_SAVED_MODELS = ("keras_api", "signatures", "_all_variables")


def is_harmless(case: Case, top: int) -> bool:
    """Return whether no program needs the value of a saved node."""
    label, parent = case.saved.tree.labels[top], case.trace.bound.get(case.saved.tree.parents[top])
    return (
        label in _OF_KERAS
        or (is_saved_model(case) and label in OF_SAVED_MODELS)
        or (parent is not None and facts.is_count(case.live_side.object(parent), label))
    )


def is_count_of_keras(case: Case, obj: int) -> bool:
    """Return whether a live object is a counter of a layer during its adaptation."""
    parent = case.live.tree.parents[obj]
    return parent >= 0 and facts.is_count(case.live_side.object(parent), case.live.tree.labels[obj])


def is_saved_model(case: Case) -> bool:
    """Return whether the checkpoint belongs to a SavedModel."""
    provenance = case.saved.provenance
    return provenance is not None and provenance.format is Format.SAVED_MODEL
