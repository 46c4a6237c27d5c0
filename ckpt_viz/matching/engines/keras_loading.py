"""A dry run of Keras' `load_weights` for `.weights.h5`: which variable gets which saved value.

This goes the way of `_load_state` and `_load_container_state` (keras/src/saving/saving_lib.py) and
changes nothing. Keras visits an object again if a part of it failed, under each path that leads to
it. An object of the program with its own `load_own_variables` may load or fail: what depends on
that is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os.path import commonprefix

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.matching.engines.doubtful_places import Doubts, ObjectPath
from ckpt_viz.matching.engines.keras_sides import (
    NESTED,
    LiveVariable,
    LiveWeights,
    SaveableList,
    SavedWeights,
    SiblingNames,
    joined,
    key_of,
)
from ckpt_viz.matching.engines.load_errors import (
    count_failure,
    misshapen,
    no_file,
    raised_by_cast,
    text_of_all,
)
from ckpt_viz.matching.engines.load_outcome import (
    Loaded,
    LoadFailure,
    Offers,
    Stays,
    WeightsLoading,
)

_ZERO = ""  # in place of a key: the variable was set to zero


def weights_loading(
    live: LiveWeights, saved: SavedWeights, *, skip_mismatch: bool = False
) -> WeightsLoading:
    """Return what `model.load_weights(path, skip_mismatch=skip_mismatch)` would do."""
    if live.rules.checks_built and not live.saveables[0].is_built:
        return _refused(live, saved)
    result = _result(live, saved, skip_mismatch)
    if not result.unknown:
        return result
    return _what_both_say(result, _result(live, saved, skip_mismatch, own_code_fails=True))


def _result(
    live: LiveWeights, saved: SavedWeights, skip_mismatch: bool, *, own_code_fails: bool = False
) -> WeightsLoading:
    run = _LoadRun(live, saved, skip_mismatch, own_code_fails)
    result = run.result()
    if not result.raises:
        return result
    if live.rules.collects_errors:
        return replace(result, to_the_end=run.to_the_end())
    # The first error hides what follows: Keras goes on after it with `skip_mismatch` alone.
    run = _LoadRun(live, saved, skip_mismatch=True, own_code_fails=own_code_fails)
    return replace(result, offers=run.result().offers, to_the_end=run.to_the_end())


def _refused(live: LiveWeights, saved: SavedWeights) -> WeightsLoading:
    text = (
        "You are loading weights into a model that has not yet been built. Try building the model "
        "first by calling it on some data or by using `build()`."
    )
    stays = Loaded(stays=Stays.ERROR_BEFORE)
    loaded = (stays,) * len(live.variables)
    return WeightsLoading("ValueError", text, {}, loaded, tuple(saved.all_keys()))


def _what_both_say(loads: WeightsLoading, fails: WeightsLoading) -> WeightsLoading:
    """Return what is certain: what holds whether the program's own code loads or fails."""
    unknown = Loaded(stays=Stays.UNKNOWN)
    both = zip(loads.loaded, fails.loaded, strict=True)
    late = zip(loads.to_the_end, fails.to_the_end, strict=False)  # only one of them may raise
    return replace(
        loads,
        raises=loads.raises if loads.raises == fails.raises else None,
        text=commonprefix([loads.text, fails.text]),  # noqa: RUF071 (these are no paths)
        failures={i: why for i, why in loads.failures.items() if i in fails.failures},
        loaded=tuple(a if a == b else unknown for a, b in both),
        to_the_end=tuple(a if a == b else unknown for a, b in late),
        unused=tuple(key for key in loads.unused if key in set(fails.unused)),
        skipped=tuple(skipped for skipped in loads.skipped if skipped in fails.skipped),
    )


class _EndedError(Exception):
    """Keras' call ends here with an error."""

    def __init__(self, failure: LoadFailure) -> None:
        super().__init__(failure.text)
        self.failure = failure


@dataclass
class _LoadRun:
    """One dry run.

    `values` has the key of the value of each variable, and `stays` the first reason why it keeps
    its own. `ways` has the path at which Keras finds each object, the object that leads there, and
    what the path calls the object if it is an item of a list. `has_ended` says that an error has
    ended the walk before the last object.
    """

    live: LiveWeights
    saved: SavedWeights
    skip_mismatch: bool
    own_code_fails: bool = False
    values: dict[int, str] = field(default_factory=dict)
    stays: dict[int, Stays] = field(default_factory=dict)
    ways: dict[int, ObjectPath] = field(default_factory=dict)
    offered: dict[int, str] = field(default_factory=dict)
    keys: dict[int, tuple[str, ...]] = field(default_factory=dict)
    visited: set[int] = field(default_factory=set)
    under_way: set[int] = field(default_factory=set)
    skipped: list[int] = field(default_factory=list)
    unknown: dict[int, None] = field(default_factory=dict)
    unknown_keys: set[str] = field(default_factory=set)
    twice: dict[str, int] = field(default_factory=dict)
    has_ended: bool = False

    def result(self) -> WeightsLoading:
        failures: dict[int, LoadFailure] = {}
        raises, text = "", ""
        try:
            self.load(0, ObjectPath(""), failures)
        except _EndedError as ended:
            raises, text = ended.failure.raises, ended.failure.text
            self.has_ended = True
        else:
            if failures and self.live.rules.collects_errors:
                raises = "" if self.skip_mismatch else "ValueError"
                text = text_of_all(self.live, failures)
        doubts = Doubts(self.live, self.saved, self.ways)
        doubtful = doubts.below({n for n in self.ways if doubts.has_another_name(n)})
        return WeightsLoading(
            raises,
            text,
            failures,
            tuple(map(self._loaded, range(len(self.live.variables)))),
            tuple(self._unused()),
            tuple(self.skipped),
            tuple(self.unknown),
            Offers(self.offered, self.keys, frozenset(doubtful), tuple(doubts.by_order())),
            self.twice,
        )

    def to_the_end(self) -> tuple[Loaded, ...]:
        """Return what the walk has done, but only until an error that nothing passes over."""
        before = Loaded(stays=Stays.ERROR_BEFORE)
        return tuple(
            before if self.has_ended and each.stays is Stays.NOT_LOADED else each
            for each in map(self._loaded, range(len(self.live.variables)))
        )

    # --- the walk

    def load(self, number: int, way: ObjectPath, failures: dict[int, LoadFailure]) -> None:
        """Load an object and its parts; `failures` has those that failed until now."""
        if number in self.visited:
            return
        if number in self.under_way:
            raise _EndedError(LoadFailure("RecursionError", "maximum recursion depth exceeded"))
        saveable, rules = self.live.saveables[number], self.live.rules
        self.ways.setdefault(number, way)
        file, is_first = self.saved.lost.get(way.path, ("", False))
        if is_first:  # Keras opens it before it catches any error
            failures[number] = no_file(file)
            raise _EndedError(failures[number])
        failure = None if saveable.loading is None else self._load_own(number, way)
        if failure is not None:
            failures[number] = failure
            if not (rules.collects_errors or self.skip_mismatch):
                raise _EndedError(failure)
        before = len(failures)
        if not rules.marks_late:
            self.visited.add(number)
        self.under_way.add(number)
        for attribute, item in saveable.children:
            below = ObjectPath(joined(way.path, attribute), number)
            if isinstance(item, int):
                self.load(item, below, failures)
            else:
                self._load_list(item, below, failures, set())
        self.under_way.discard(number)
        if rules.marks_late and failure is None:
            if len(failures) <= before:
                self.visited.add(number)
            failures.pop(number, None)

    def _load_list(
        self, items: SaveableList, way: ObjectPath, failures: dict[int, LoadFailure], seen: set[int]
    ) -> None:
        if items.number in seen:
            return
        seen.add(items.number)
        names = SiblingNames()
        for item in items.items:
            if isinstance(item, SaveableList):
                if self.live.rules.enters_nested_lists:
                    below = way.to(names.next(NESTED))
                    # If the file has no group for the list, failures in it are only a warning.
                    failing = failures if below.path in self.saved.groups else {}
                    self._load_list(item, below, failing, seen)
            elif not (self.live.rules.passes_over_done and item in self.visited):
                component = self.live.saveables[item].component
                self.load(item, way.to(names.next(component), component), failures)

    # --- one object

    def _load_own(self, number: int, way: ObjectPath) -> LoadFailure | None:
        """Assign the variables of one object; return the error that Keras would catch."""
        saveable = self.live.saveables[number]
        assert saveable.loading is not None
        path, entries = self.saved.at(way.path)
        keys = tuple(sorted(key_of(path, name) for name, stored in entries.items() if stored))
        if keys and number not in self.keys:
            self.ways[number], self.keys[number] = way._replace(path=path), keys
        if path in self.saved.lost:
            self._stay(saveable.own, Stays.REFUSED)
            return no_file(self.saved.lost[path][0])
        if not saveable.loading.is_known:
            return self._own_code(number, path, entries)
        failure = self._miscounted(number, entries)
        if failure is not None:
            return failure
        if saveable.loading.counted not in (None, len(entries)):  # an optimizer's state is skipped
            return None
        for name, variable in saveable.loading.targets:
            if entries.get(name) is not None:
                self.offered.setdefault(variable, key_of(path, name))
        return self._assign_all(number, path, entries)

    def _own_code(
        self, number: int, path: str, entries: Mapping[str, Stored | None]
    ) -> LoadFailure | None:
        self.unknown[number] = None
        self.unknown_keys |= {key_of(path, name) for name in entries}
        self._stay(self.live.saveables[number].own, Stays.UNKNOWN)
        return LoadFailure("Exception", "", is_whole=False) if self.own_code_fails else None

    def _miscounted(self, number: int, entries: Mapping[str, object]) -> LoadFailure | None:
        saveable = self.live.saveables[number]
        loading = saveable.loading
        assert loading is not None
        if loading.counted in (None, len(entries)):
            return None
        if loading.skips:
            self._stay(saveable.own, Stays.OPTIMIZER_SKIPPED)
            self.skipped.append(number)
            return None
        self._stay(saveable.own, Stays.COUNT if entries else Stays.NO_GROUP)
        explains = self.live.rules.names_unbuilt and not saveable.is_built
        return count_failure(saveable, loading, len(entries), explains_unbuilt=explains)

    def _assign_all(
        self, number: int, path: str, entries: Mapping[str, Stored | None]
    ) -> LoadFailure | None:
        loading = self.live.saveables[number].loading
        assert loading is not None
        for place, (name, variable) in enumerate(loading.targets):
            refusal = _refusal(self.live.variables[variable], name, entries)
            if refusal is not None:
                self._stay([variable], refusal[0])
                self._stay([v for _, v in loading.targets[place + 1 :]], Stays.AFTER_FAILURE)
                return refusal[1]
            if loading.skips and variable in self.values:
                self.twice[self.values[variable]] = variable
            self.values[variable] = self.offered[variable] = key_of(path, name)
        self.values.update(dict.fromkeys(loading.zeroed, _ZERO))
        return None

    def _stay(self, variables: tuple[int, ...] | list[int], why: Stays) -> None:
        """Note why variables stay: at first, but for a path that the file lacks.

        Keras visits an object again under other paths. One with variables tells more.
        """
        for variable in variables:
            if self.stays.get(variable, Stays.NO_GROUP) is Stays.NO_GROUP:
                self.stays[variable] = why
            if why is Stays.UNKNOWN:
                self.values.pop(variable, None)

    # --- what has happened

    def _loaded(self, number: int) -> Loaded:
        key = self.values.get(number)
        if key is None:
            return Loaded(stays=self.stays.get(number, Stays.NOT_LOADED))
        if key == _ZERO:
            return Loaded(stays=Stays.ZEROED)
        saved, live = self._stored(key).dtype, self.live.variables[number].dtype
        differs = saved is not None and live is not None and saved != live
        return Loaded(key, cast=(str(saved), str(live)) if differs else None)

    def _stored(self, key: str) -> Stored:
        path, _, name = f"/{key}".rpartition("/vars/")
        stored = self.saved.variables[path.removeprefix("/")][name]
        assert stored is not None
        return stored

    def _unused(self) -> Iterator[str]:
        used = {*self.values.values(), *self.twice, *self.unknown_keys}
        yield from (key for key in self.saved.all_keys() if key not in used)


# --- the errors


def _refusal(
    variable: LiveVariable, name: str, entries: Mapping[str, Stored | None]
) -> tuple[Stays, LoadFailure] | None:
    """Return why a variable does not take a saved value, None if it does."""
    if name not in entries:
        text = repr(name) if variable.is_keras_3 else ""  # of h5py
        return Stays.MISSING, LoadFailure("KeyError", text, is_whole=bool(text))
    stored = entries[name]
    if stored is None:
        text = "Invalid H5 file, expected Dataset, received "
        return Stays.UNREADABLE, LoadFailure("ValueError", text, is_whole=False)
    if stored.error is not None:
        return Stays.UNREADABLE, LoadFailure("OSError", "", is_whole=False)
    if (stored.dtype == "string") != (variable.dtype == "string"):
        return Stays.DTYPE, LoadFailure(raised_by_cast(variable), "", is_whole=False)
    if stored.shape is not None and variable.shape not in (None, stored.shape):
        return Stays.SHAPE, misshapen(variable, stored.shape)
    return None
