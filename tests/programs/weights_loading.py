"""Models that load the weights of a model before edits: the dry run says what Keras does."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from tests.programs.keras_making import make
from tests.programs.keras_programs import LOADED, OLD_POLICIES, Edited, becomes, draw_edited
from tests.programs.law import Law, UnfitError
from tests.support.keras_loading import assert_as_keras

RANGES = {"keras": LOADED, "tf_keras": replace(LOADED, policies=OLD_POLICIES)}
_OPTIONS: tuple[dict[str, bool], ...] = ({}, {}, {}, {"skip_mismatch": True})


def _judge(example: Edited, directory: Path) -> None:
    import_module(example.was.library).backend.clear_session()  # a model that fails leaves scopes
    try:
        saved, live = make(example.was).model, make(example.now).model
        saved.save_weights(directory / "trial.weights.h5")
    except Exception as error:  # shapes that do not fit, dtypes that a layer lacks
        raise UnfitError("Keras makes no such models") from error
    assert_as_keras(saved, live, directory, **example.options)


def law_of(library: str) -> Law[Edited]:
    """Return the law that a dry run of `load_weights` says what Keras does."""
    return Law(
        f"The check of load_weights does as {library}",
        lambda rng: draw_edited(rng, RANGES[library], library, **rng.choice(_OPTIONS)),
        _judge,
        becomes,
    )
