"""Keras' own `load_weights` with tagged values: which variable gets which saved value.

Each saved variable has a value of its own, and each live one another. Afterwards the values tell
where they come from.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.keras_outcome import KerasOutcome as KerasWeights
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.live.keras.keras_walk import walk_of
from ckpt_viz.matching.engines.keras_loading import weights_loading
from ckpt_viz.matching.engines.load_outcome import Stays, WeightsLoading
from ckpt_viz.matching.restore_table.rows import Destination
from tests.support.keras_files import read_file, saved_weights

_OWN = -1  # tags of live variables count down from here


@dataclass(frozen=True)
class KerasOutcome:
    """What Keras did: class and text of the error, and the saved key of each live variable.

    A variable that kept its own value has None, one that is zero now "0", and one with a value that
    no tag explains "?". `unused` are the saved keys whose values no variable has.
    """

    raises: str
    text: str
    keys: tuple[str | None, ...]
    unused: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def tag_file(path: Path) -> dict[float, str]:
    """Give each saved number a value of its own; return the keys by these values."""
    import h5py

    tags: dict[float, str] = {}
    with h5py.File(path, "r+") as file:
        for number, key in enumerate(sorted(read_file(path)[0])):
            dataset = file[key]
            if dataset.dtype.kind in "OSV" and "dtype" not in dataset.attrs:
                continue
            tag = float(number + 1)
            tags[tag] = key
            dataset[...] = _filled(dataset, tag)
    return tags


def _filled(dataset: Any, tag: float) -> Any:
    if dataset.attrs.get("dtype") == "bfloat16":
        import ml_dtypes

        return np.full(dataset.shape, tag, ml_dtypes.bfloat16).view(dataset.dtype)
    return np.full(dataset.shape, tag, dataset.dtype)


def keras_loading(
    model: Any, variables: list[Any], path: Path, tags: dict[float, str], **options: Any
) -> KerasOutcome:
    """Run `model.load_weights` and return what it did to the variables."""
    for place, variable in enumerate(variables):
        if _can_be_tagged(variable):
            variable.assign(np.full(variable.numpy().shape, _OWN - place % 100))
    raises, text = "", ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.load_weights(path, **options)
        except Exception as error:
            raises, text = type(error).__name__, str(error)
    keys = tuple(_key(variable, tags) for variable in variables)
    unused = tuple(key for key in read_file(path)[0] if key not in keys and key in tags.values())
    return KerasOutcome(raises, text, keys, unused, tuple(str(w.message) for w in caught))


def _can_be_tagged(variable: Any) -> bool:
    return str(getattr(variable.dtype, "name", variable.dtype)) != "string"


def _key(variable: Any, tags: dict[float, str]) -> str | None:
    value = np.asarray(variable.numpy())
    if not _can_be_tagged(variable) or value.size == 0:
        return "?"
    first = value.reshape(-1)[0]
    if not (value == first).all():
        return "?"
    if first < 0:
        return None
    return "0" if first == 0 else tags.get(float(first), "?")


def assert_as_keras(
    saved: Any, live: Any, directory: Path, **options: Any
) -> tuple[WeightsLoading, KerasOutcome]:
    """Save one model, load it into another, and compare the dry run with what Keras does."""
    path = directory / "x.weights.h5"
    saved.save_weights(path)
    tags = tag_file(path)
    walk, side = walk_of(live)
    before = [np.array(variable.numpy()) for variable in walk.variables]
    dry = weights_loading(side, saved_weights(path), **options)
    after = [variable.numpy() for variable in walk.variables]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert_checked(live, path, dry, options)
    outcome = keras_loading(live, walk.variables, path, tags, **options)
    compare(dry, outcome, warns=side.rules.collects_errors)
    assert_as_the_call_that_skips(live, walk.variables, path, tags, dry, options)
    return dry, outcome


def assert_as_the_call_that_skips(
    live: Any,
    variables: list[Any],
    path: Path,
    tags: dict[float, str],
    dry: WeightsLoading,
    options: dict[str, Any],
) -> None:
    """Assert that a call which raises would do to the end what `skip_mismatch` does.

    This asks Keras, and the column of the table. Where this call raises, too, nothing tells it.
    """
    if not dry.raises or options.get("skip_mismatch"):
        return
    table = cv.check(live, path, options=options or None).table
    numbers = {id(variable): number for number, variable in enumerate(variables)}
    outcome = keras_loading(live, variables, path, tags, **{**options, "skip_mismatch": True})
    if outcome.raises:
        return
    for number, (loaded, key) in enumerate(zip(dry.to_the_end, outcome.keys, strict=True)):
        if loaded.stays is not Stays.UNKNOWN and key != "?":
            expected = "0" if loaded.stays is Stays.ZEROED else loaded.key
            assert expected == key, (number, loaded, key)
    for row in table.rows:
        saved = None if table.saved is None or row.saved is None else table.saved.nodes[row.saved]
        obj = None if row.live is None else table.live.object(row.live)
        if saved is None or obj is None or id(obj) not in numbers:
            continue
        key, place = outcome.keys[numbers[id(obj)]], row.plain.meant.place
        if key not in ("?", "0") and place is not Destination.UNKNOWN:
            is_here = key == saved.attributes[0].checkpoint_key
            assert (place is Destination.HERE) == is_here, (row, key)


def _with_sorted_keys(loading: WeightsLoading) -> WeightsLoading:
    """h5py lists the groups by name, and the file has them in the order of their making."""
    return replace(loading, unused=tuple(sorted(loading.unused)))


def assert_checked(live: Any, path: Path, dry: WeightsLoading, options: dict[str, Any]) -> None:
    """Assert that the check of this file says the same, and that its findings explain errors."""
    check = cv.check(live, path, options=options or None)
    outcome = check._run.outcome
    assert isinstance(outcome, KerasWeights)
    assert _with_sorted_keys(outcome.loading) == _with_sorted_keys(dry)
    assert (check.raises and check.raises.type) == (dry.raises or None)
    assert check.consumed == (not dry.raises and not dry.unused)
    errors = [finding for finding in check.findings if finding.severity is Severity.ERROR]
    assert bool(errors) == bool(dry.raises)
    assert str(check)


def compare(dry: WeightsLoading, outcome: KerasOutcome, *, warns: bool = True) -> None:
    """Assert that a dry run says what Keras did, wherever it claims to know."""
    if dry.raises is not None:
        assert dry.raises == outcome.raises, outcome.text
        said = outcome.text or next((w for w in outcome.warnings if w.startswith("A total")), "")
        assert said.startswith(dry.text), (dry.text, said)
    has_unknown = False
    for number, (loaded, key) in enumerate(zip(dry.loaded, outcome.keys, strict=True)):
        if loaded.stays is Stays.UNKNOWN or key == "?":
            has_unknown = True
            continue
        expected = "0" if loaded.stays is Stays.ZEROED else loaded.key
        assert expected == key, (number, loaded, key)
    if not has_unknown:
        assert {*dry.unused, *dry.twice} == {*outcome.unused}
    if warns:  # Keras 2 only logs it
        _compare_warnings(dry, outcome.warnings)
    if dry.raises:
        changed = {number for number, key in enumerate(outcome.keys) if key is not None}
        every = enumerate(dry.loaded)
        set_before = {v for v, of in every if of.key is not None or of.stays is Stays.ZEROED}
        assert changed >= set_before
        assert has_unknown or changed == set_before


def _compare_warnings(dry: WeightsLoading, warned: tuple[str, ...]) -> None:
    optimizers = [text for text in warned if text.startswith("Skipping variable")]
    if dry.unknown:
        assert len(dry.skipped) <= len(optimizers)
    else:
        assert len(dry.skipped) == len(optimizers)
