"""Walks a journey to its end, as a person would, and keeps what happened on the way."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ckpt_viz as cv
from tests.journeys import files
from tests.journeys.files import ITERATIONS, LEARNING_RATE, SAVE_COUNTER
from tests.journeys.journeys import CHECKPOINTS, COUNTED_ON, IN_MODEL, Journey
from tests.journeys.truth import Truth, truth_of
from tests.programs.keras_making import Key, Made, make
from tests.programs.keras_programs import Program
from tests.programs.law import UnfitError
from tests.support.told import told

UNKNOWN: Key = ("?",)  # a value that is neither the variable's own nor a saved one
_SAVES = 3
_OWN = 500.0  # saved values count up from 1, those of a program that restores from here
_SAVED_STATE: Mapping[Key, float] = {ITERATIONS: 17, LEARNING_RATE: 0.0125}
_OWN_STATE: Mapping[Key, float] = {ITERATIONS: 5, LEARNING_RATE: 0.25}


@dataclass(frozen=True)
class Done:
    """What a call did to a program.

    Attributes:
        places: By live value, the saved value that it has now; None if it has its own.
        error: The class and the text of what the call raised; None if it returned.
    """

    places: Mapping[Key, Key | None]
    error: tuple[str, str] | None = None


@dataclass(frozen=True)
class Life:
    """How a program went on after a restore: it trained, and saved again.

    Attributes:
        counter: The `save_counter` before it saved; None for a program without one.
        overwritten: The names of the older files that have other bytes now, or are gone.
        error: The class and the text of what training or saving raised.
    """

    counter: int | None
    overwritten: tuple[str, ...] = ()
    error: tuple[str, str] | None = None


@dataclass(frozen=True)
class Walked:
    """What happened on a journey.

    Attributes:
        saved: The values of the program that was saved.
        content: By key in the file, the saved value that is there; None for any other value.
        plain: What the plain call did to a program of its own.
        check: The check, or what refused it.
        live_keys: By node of the check's live graph, the live value.
        live_names: By the names of its object in the check's graph and TensorFlow's, the same.
        fix: The fix; None if there is none for this kind of file.
        applied: What `fix.apply()` did.
        coded: What the fix's code did to another program.
        again: The check after `apply()`.
    """

    journey: Journey
    saved: Mapping[Key, Any]
    content: Mapping[str, Key | None]
    truth: Truth
    plain: Done
    check: Any
    live_keys: Mapping[int, Key] = field(default_factory=dict)
    live_names: Mapping[str, Key] = field(default_factory=dict)
    fix: Any = None
    applied: Done | None = None
    coded: Done | None = None
    applied_life: Life | None = None
    coded_life: Life | None = None
    again: Any = None

    @property
    def refused(self) -> str | None:
        """Why there is no check or no fix; None if there are both."""
        refusals = (one for one in (self.check, self.fix) if isinstance(one, Exception))
        return next((f"{type(error).__name__}: {error}" for error in refusals), None)

    @cached_property
    def findings(self) -> list[Any]:
        """All findings, also those that others explain."""
        return told(self.check)

    @cached_property
    def saved_graph(self) -> Any:
        """The graph of the saved nodes in findings: objects, or names; None if neither is read."""
        return self.check.table.saved if self.check.saved is None else self.check.saved

    @cached_property
    def saved_keys(self) -> Mapping[int, tuple[str, ...]]:
        """By saved node of the check's graph, the keys of its values."""
        if self.saved_graph is None:
            return {}
        nodes = enumerate(self.saved_graph.nodes)
        return {i: tuple(a.checkpoint_key for a in n.attributes) for i, n in nodes if n.attributes}


def walk(journey: Journey, directory: Path) -> Walked:
    """Walk a journey; its files go to the directory."""
    edited = journey.edited
    keras = import_module(journey.library)
    keras.utils.set_random_seed(1)
    with contextlib.redirect_stdout(io.StringIO()):
        path, saved = _program_saved(journey, directory / "run")
    by_sign = {_sign(value): key for key, value in saved.items()}
    content = files.content(path, journey.file)
    by_key = {key: by_sign.get(_sign(value)) for key, value in content.items()}

    def fresh() -> tuple[Made, Mapping[Key, Any]]:
        made = make(edited.now)
        _fill(made, _OWN, _OWN_STATE)
        return made, files.values(made)

    def done(made: Made, own: Mapping[Key, Any], call: Callable[[], Any]) -> Done:
        error = _raised(call)
        signs = {key: _sign(value) for key, value in files.values(made).items()}
        places = {
            key: None if key in own and sign == _sign(own[key]) else by_sign.get(sign, UNKNOWN)
            for key, sign in signs.items()
        }
        if SAVE_COUNTER in saved:
            places.setdefault(SAVE_COUNTER, None)
        return Done(places, error)

    def life(made: Made, name: str) -> Life:
        copy = directory / name
        shutil.copytree(directory / "run", copy)
        return _life(made, journey, copy)

    made, own = fresh()
    live = {SAVE_COUNTER: np.array(0), **own} if SAVE_COUNTER in saved else own
    in_file = {key: saved[key] for key in by_key.values() if key is not None}
    stored = {key: name for name, key in by_key.items() if key is not None}
    truth = truth_of(edited.was, edited.now, journey.file, stored, in_file, live)
    plain = done(made, own, lambda: files.load(made, edited.now, journey.file, path))

    made, own = fresh()
    program = made
    subject = files.subject(program, edited.now, journey.file)
    try:
        check = cv.check(subject, path)
    except cv.CkptVizError as error:
        return Walked(journey, saved, by_key, truth, plain, error)
    live_keys = _live_keys(check.live, program)
    live_names: dict[str, Key] = {}
    for graph in (check.live, *([cv.graph(program.model)] if journey.file in IN_MODEL else [])):
        keys = _live_keys(graph, program)
        live_names |= {graph.name(node): key for node, key in keys.items()}
    str(check)
    try:
        fix = check.fix()
    except cv.SourceError as error:
        return Walked(journey, saved, by_key, truth, plain, check, live_keys, live_names, error)
    str(fix)
    applied = done(program, own, fix.apply)
    again = cv.check(files.subject(program, edited.now, journey.file), path)
    applied_life = life(program, "applied")

    other, own = fresh()
    names = {"path": path, "session": None}
    found = files.subject(other, edited.now, journey.file)
    coded = done(
        other,
        own,
        lambda: exec(
            compile(fix.code, "fix.code", "exec"), {"ckpt": found, "saver": found, **names}
        ),
    )
    coded_life = life(other, "coded")
    return Walked(
        journey,
        saved,
        by_key,
        truth,
        plain,
        check,
        live_keys,
        live_names,
        fix,
        applied,
        coded,
        applied_life,
        coded_life,
        again,
    )


def _program_saved(journey: Journey, directory: Path) -> tuple[str, Mapping[Key, Any]]:
    """Train and save the journey's program; return the last path, and the values there."""
    was, file = journey.edited.was, journey.file
    if journey.edit == COUNTED_ON:  # from the names of the program that was just made
        return _written(was, file, directory)
    kept, path, saved = _written_once(was, file)
    shutil.copytree(kept.name, directory)
    return str(directory / Path(path).name), saved


@cache
def _written_once(
    was: Program, file: str
) -> tuple[TemporaryDirectory[str], str, Mapping[Key, Any]]:
    """Do so once for all edits of a program."""
    kept = TemporaryDirectory()
    return kept, *_written(was, file, Path(kept.name))


def _written(was: Program, file: str, directory: Path) -> tuple[str, Mapping[Key, Any]]:
    directory.mkdir(parents=True, exist_ok=True)
    made, path = make(was), ""
    try:
        for number in range(1, _SAVES + 1):
            _train(made)
            if number == _SAVES:
                _fill(made, 1.0, _SAVED_STATE)
            path = files.save(made, was, file, directory, number)
    except NotImplementedError as error:
        raise UnfitError(f"{was.library} saves no such model: {error}") from error
    return path, files.values(made)


def _train(made: Made) -> None:
    """Train a step: each variable of the model, without a pass through the model."""
    import tensorflow as tf

    trained = getattr(made.model, "trainable_variables", ())
    if made.optimizer is not None:
        steps = [(tf.fill(variable.shape, 0.1), variable) for variable in trained]
        made.optimizer.apply_gradients(steps)
    else:
        for variable in trained:
            variable.assign(variable + 0.1)


def _fill(made: Made, start: float, state: Mapping[Key, float]) -> None:
    """Give each variable a value of its own."""
    found = files.variables(made)
    numbers = {key: number for number, key in enumerate(sorted(made.variables))}
    for key, variable in found.items():
        if key in state:
            variable.assign(np.asarray(state[key], _dtype(variable)))
        elif key in numbers:
            size = int(np.prod(variable.shape, dtype=int))
            value = start + numbers[key] + np.arange(size).reshape(variable.shape) / (2 * size + 1)
            variable.assign(value.astype(_dtype(variable)))


def _dtype(variable: Any) -> Any:
    return np.asarray(variable.numpy()).dtype


def _raised(call: Callable[[], Any]) -> tuple[str, str] | None:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def _sign(value: Any) -> object:
    """Return what equal values have in common, whatever their dtypes."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return array.shape, str(array)
    return array.shape, array.astype(np.float64).tobytes()


def _live_keys(live: Any, made: Made) -> Mapping[int, Key]:
    """Return what each node of a live graph is."""
    by_id: dict[int, Key] = {}
    for key, variable in files.variables(made).items():
        by_id |= {id(one): key for one in (variable, getattr(variable, "_value", variable))}
    found: dict[int, Key] = {}
    for node in range(len(live.nodes)):
        with contextlib.suppress(cv.CkptVizError):  # a node without an object
            found[node] = by_id.get(id(live.object(node)), UNKNOWN)
    return {node: key for node, key in found.items() if key != UNKNOWN}


def _life(made: Made, journey: Journey, directory: Path) -> Life:
    """Train on, save, and see what became of the older files."""
    before = {path.name: digest for path, digest in _digests(directory)}
    counter = made.checkpoint._save_counter
    count = None
    if journey.file in CHECKPOINTS:
        count = 0 if counter is None else int(counter.numpy())

    def go_on() -> None:
        _train(made)
        files.save(made, journey.edited.now, journey.file, directory, _SAVES + 1)

    error = _raised(go_on)
    after = {path.name: digest for path, digest in _digests(directory)}
    changed = (name for name, digest in before.items() if after.get(name) != digest)
    return Life(count, tuple(sorted(changed)), error)


def _digests(directory: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(directory.iterdir()):
        if path.name != "checkpoint":  # which names the newest one
            yield path, sha256(path.read_bytes()).hexdigest()
