"""The check of `load_model` as users hold it."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from ckpt_viz.answers.dry_runs.exceptions import exception_of
from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.answers.load_check.builder import built
from ckpt_viz.answers.load_check.faults import BuildAnswer, LoadFault
from ckpt_viz.answers.load_check.kinds_of_file import about_file, stored_model
from ckpt_viz.answers.load_check.load_findings import (
    Library,
    LoadFinding,
    findings_of,
    generation,
    places_in_words,
)
from ckpt_viz.answers.load_check.program_classes import described, registered
from ckpt_viz.answers.load_check.stored_model import RefusedFileError, StoredModel
from ckpt_viz.errors import SourceError, UnsupportedError
from ckpt_viz.graphs.render.encodings import shown_on_stdout
from ckpt_viz.ground.text import count, first_clause, listed, printable, readable, sendable
from ckpt_viz.live.keras.keras_private import KERAS_2, KERAS_3

_MOST_SHOWN = 20
_COMPARED = 80  # letters of two errors that are the same
_SCOPE = (
    "The check built the model in a process of its own. It read no weights, and ran no code of "
    "your program or of the file."
)


@dataclass(frozen=True, repr=False)
class LoadCheck:
    """What `load_model(path)` would do, up to the weights.

    >>> tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]).save("model.keras")
    >>> cv.check_load_model("model.keras").assert_loads()  # raises what load_model would raise
    <LoadCheck of keras 3.15.1: nothing stops load_model('model.keras')>

    `raises` is what the call would raise: the class of Keras' error, and the text of the innermost
    error, to which Keras adds configurations. It is None if the model was built. `findings` has
    every cause, Keras names the first alone. `code` loads the model in spite of them; the check has
    executed it, without weights. It is "" if none is known. `notes` tells what is left open.
    """

    path: str
    library: Library
    findings: tuple[LoadFinding, ...]
    notes: tuple[str, ...] = ()
    code: str = field(default="", repr=False)

    @property
    def raises(self) -> Raised | None:
        """What `load_model` would raise; None if it returns."""
        return self.findings[0].raises if self.findings else None

    def assert_loads(self) -> LoadCheck:
        """Return the check, or raise what `load_model` would raise."""
        if self.raises is not None:
            raise exception_of(self.raises)
        return self

    @cached_property
    def headline(self) -> str:
        """The result in one line."""
        path = readable(printable(self.path))
        if self.raises is None:
            return f"{self.library}: nothing stops load_model({path!r})"
        # Keras repeats a configuration behind its text.
        first = self.raises.message.strip().partition(" Full object config:")[0]
        text = printable(first.partition("\n")[0])
        return f"{self.library}: load_model({path!r}) would raise {self.raises.type}: {text[:300]}"

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data."""
        result: dict[str, Any] = sendable(
            {
                "path": self.path,
                "keras": str(self.library),
                "raises": self.raises and asdict(self.raises),
                "findings": [asdict(finding) for finding in self.findings],
                "notes": list(self.notes),
                "code": self.code,
            }
        )
        return result

    def __str__(self) -> str:
        lines = [self.headline]
        for number, finding in enumerate(self.findings[:_MOST_SHOWN], 1):
            lines += ["", f"{number}. {places_in_words(finding.places)}: {finding.why}"]
            lines += [f"   {finding.remedy}"]
        if len(self.findings) > _MOST_SHOWN:
            lines += ["", f"and {count(len(self.findings) - _MOST_SHOWN, 'more cause')}"]
        if self.code:
            lines += ["", self._before_code, "", *self.code.rstrip().split("\n")]
        lines += ["", *self.notes]
        return shown_on_stdout("\n".join(lines))

    @property
    def _before_code(self) -> str:
        if "custom_objects" in self.code:
            return "With your code in place of `...`, this builds the model:"
        return "This builds the model:"

    def __repr__(self) -> str:
        return shown_on_stdout(f"<LoadCheck of {self.headline}>")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li><b>{_escaped(places_in_words(finding.places))}</b>: {_escaped(finding.why)}"
            f"<br>{_escaped(finding.remedy)}</li>"
            for finding in self.findings[:_MOST_SHOWN]
        )
        code = f"<p>{_escaped(self._before_code)}</p><pre>{_escaped(self.code)}</pre>"
        return (
            f"<div><p>{_escaped(self.headline)}</p>{f'<ol>{rows}</ol>' if rows else ''}"
            f"{code if self.code else ''}<p>{_escaped(' '.join(self.notes))}</p></div>"
        )


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The arguments of `load_model` beside the path."""

    custom_objects: Mapping[str, Any]
    compile: bool = True
    safe_mode: bool = True


def load_check(path: object, options: LoadOptions, keras: object = None) -> LoadCheck:
    """Return the check of `load_model` for a path, with the Keras that is meant."""
    if not isinstance(path, (str, os.PathLike)):
        raise SourceError(f"found {type(path).__name__} as the path, expected the path of a file")
    path, library = os.fspath(path), library_of(keras)
    try:
        stored = stored_model(path, library.name)
    except RefusedFileError as refusal:
        return LoadCheck(path, library, (_of_file(path, refusal),))
    answer = built(library.name, _request(path, stored, options, library.name))
    if answer.stopped and answer.raises is None:
        raise UnsupportedError(
            f"{path}: the check cannot tell what load_model does; it stopped {answer.stopped}. If "
            "you trust the file, call load_model"
        )
    findings = _in_order(answer, library, stored)
    findings += tuple(_of_file(path, refusal) for refusal in stored.refusals)
    code, loads_by = "", library.name
    if answer.faults and not stored.refusals and not stored.unnoticed:
        code, loads_by = _program_that_ran(path, stored, options, library, answer)
    notes = [_SCOPE]
    if findings and loads_by == library.name and library.is_other_than(stored.keras_version):
        saved_by, other = readable(printable(stored.keras_version)), library.other
        notes = [f"Keras {saved_by} saved this file. Try {other}: pip install {other}.", _SCOPE]
    if answer.modules:
        names = listed([f"`{readable(printable(name))}`" for name in answer.modules])
        notes += [f"{library.name} would import {names}, which the file names. The check did not."]
    if answer.not_run:
        calls = listed([f"`{readable(printable(name))}.from_config`" for name in answer.not_run])
        notes += [f"The check did not run {calls}, your code. It took each configuration as right."]
    if answer.stopped:
        notes += [f"The check stopped {answer.stopped}: there may be more causes."]
    notes += [f"{damage}: load_model sets damaged values." for damage in stored.unnoticed]
    return LoadCheck(path, library, findings, tuple(notes), code)


def library_of(keras: object) -> Library:
    """Return the Keras that is meant: a module or its name, or the one that is imported."""
    name = keras if isinstance(keras, str) else str(getattr(keras, "__name__", "")).split(".")[0]
    if keras is None:
        imported = [name for name in (KERAS_3, KERAS_2) if name in sys.modules]
        name = imported[0] if imported else KERAS_3
    if name not in (KERAS_3, KERAS_2):
        raise SourceError(f"found keras={keras!r}, expected the module keras or tf_keras")
    try:
        module = sys.modules.get(name)
        library = Library(name, str(getattr(module, "__version__", "") or version(name)))
    except PackageNotFoundError as error:
        raise SourceError(f"{name} is not installed; install it first") from error
    if (name, generation(library.version)) == (KERAS_3, "2"):
        raise UnsupportedError(f"{library}: expected Keras 3, or tf_keras: pip install tf_keras")
    return library


def _request(path: str, stored: StoredModel, options: LoadOptions, library: str) -> dict[str, Any]:
    known = registered(library) if library in sys.modules else {}
    return {
        "path": path,
        "model": stored.model,
        "training": stored.training,
        "is_archive": not stored.is_legacy,
        "compile": options.compile,
        "safe_mode": options.safe_mode,
        "custom": {name: described(made) for name, made in options.custom_objects.items()},
        "registered": {name: described(made) for name, made in known.items()},
    }


def _in_order(
    answer: BuildAnswer, library: Library, stored: StoredModel
) -> tuple[LoadFinding, ...]:
    """Return the findings; the first is that of the error which `load_model` raises."""
    if answer.raises is None:
        return ()
    faults = [fault for fault in answer.faults if not fault.follows] or answer.faults
    faults = faults or [LoadFault(["the model"], *answer.raises)]
    findings = [*findings_of(faults, library, stored.keras_version)]
    raises = Raised(*answer.raises)
    begins = raises.message[:_COMPARED]
    firsts = [f for f in findings if f.raises.message[:_COMPARED] == begins] or findings
    others = [finding for finding in findings if finding is not firsts[0]]
    return replace(firsts[0], raises=raises), *others


def _program_that_ran(
    path: str, stored: StoredModel, options: LoadOptions, library: Library, answer: BuildAnswer
) -> tuple[str, str]:
    """Return a program that was executed without an error, "" for none, and the Keras in it."""
    # What a newer Keras says by its arguments is more than what this one can leave out.
    is_newer = generation(stored.keras_version) > generation(library.version)
    is_lossy = is_newer and any(fault.not_taken for fault in answer.faults)
    if answer.program and answer.program_raises is None and not is_lossy:
        return answer.program, library.name
    other = library.other
    is_other = not options.custom_objects and library.is_other_than(stored.keras_version)
    if is_other and find_spec(other):
        by_other = built(other, _request(path, stored, options, other))
        if by_other.raises is None and not by_other.stopped:
            return f"import {other}\n\nmodel = {other}.models.load_model({path!a})\n", other
    return "", library.name


def _of_file(path: str, refusal: RefusedFileError) -> LoadFinding:
    """Return what is wrong with a file as a whole, and the way that works."""
    if refusal.damage:
        why = f"The archive is damaged: {first_clause(refusal.damage)}."
        said = why, "Copy the file again from where it came."
    else:
        said = about_file(path)
    return LoadFinding(("the file",), Raised(refusal.cls, refusal.text), *said)
