"""The check of `load_model` as users hold it."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.formats.files import is_file
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.live.keras_private import KERAS_2, KERAS_3
from ckpt_viz.load_check.abstract import LoadFault
from ckpt_viz.load_check.kinds_of_file import FileContent, OpenedModel, content_of, fault, opened
from ckpt_viz.load_check.load_code import code_of, names_of, options_of, to_leave_out, without
from ckpt_viz.load_check.load_findings import (
    Library,
    LoadFinding,
    findings_of,
    generation,
    is_unknown_name,
    places_in_words,
)
from ckpt_viz.load_check.loading import LoadOptions, ReadFaults, faults_of
from ckpt_viz.load_check.stored_model import (
    CONFIG,
    DamagedMember,
    StoredModel,
    damaged_members,
)
from ckpt_viz.render.encodings import shown_on_stdout
from ckpt_viz.restore_check.exceptions import exception_of
from ckpt_viz.restore_check.verdicts import Raised
from ckpt_viz.text import count, first_clause, listed, printable, readable, sendable

_MOST_SHOWN = 20
_SCOPE = (
    "The check follows classes, functions and arguments. It tests neither values nor weights, and "
    "does not call the layers."
)
_UNREAD = "The configuration is too large or too deep: the check has not read all of it."


@dataclass(frozen=True, repr=False)
class LoadCheck:
    """What `load_model(path)` would do, up to the weights: nothing of the file is built or run.

    `raises` is what the call would raise: the class of Keras' error, and the text of the innermost
    error, to which Keras adds configurations. It is None if no class, function or argument stops
    the call. `findings` has every cause, Keras names the first alone. `code` loads the model in
    spite of them, if a program can; "" if none is known. `notes` tells what the check leaves open.
    """

    path: str
    library: Library
    findings: tuple[LoadFinding, ...]
    notes: tuple[str, ...] = ()
    code: str = field(default="", repr=False)
    names: tuple[str, ...] = ()

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
        text = printable(_before_config(self.raises.message.strip()).partition("\n")[0])
        return f"{self.library}: load_model({path!r}) would raise {self.raises.type}: {text[:300]}"

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data."""
        result: dict[str, Any] = sendable(
            {
                "path": self.path,
                "keras": str(self.library),
                "raises": None if self.raises is None else _raised(self.raises),
                "findings": [
                    {
                        "places": list(finding.places),
                        "raises": _raised(finding.raises),
                        "why": finding.why,
                        "remedy": finding.remedy,
                    }
                    for finding in self.findings
                ],
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
        if not self.names:
            return "This loads the model:"
        names = listed([f"`{name}`" for name in self.names])
        return f"This loads the model ({names} {'are' if self.names[1:] else 'is'} yours):"

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


def _before_config(text: str) -> str:
    """Return an error of Keras without the configuration that it repeats."""
    return text.partition(" Full object config:")[0]


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _raised(raised: Raised) -> dict[str, str]:
    return {"type": raised.type, "message": raised.message}


def load_check(path: object, options: LoadOptions, keras: object = None) -> LoadCheck:
    """Return the check of `load_model` for a path, with the Keras that is meant."""
    if not isinstance(path, (str, os.PathLike)):
        raise SourceError(f"found {type(path).__name__} as the path, expected the path of a file")
    library = library_of(keras)
    return gc_paused(lambda: _checked(os.fspath(path), options, library))


def library_of(keras: object) -> Library:
    """Return the Keras that is meant: a module of it, or the one that the program has imported."""
    name = str(getattr(keras, "__name__", "")).partition(".")[0]
    if keras is None:
        imported = [name for name in (KERAS_3, KERAS_2) if name in sys.modules]
        name = imported[0] if imported else KERAS_3
    if name not in (KERAS_3, KERAS_2):
        raise SourceError(f"found keras={keras!r}, expected the module keras or tf_keras")
    try:
        module = import_module(name)
        import_module(f"{name}.src.saving.saving_api")
    except ImportError as error:
        raise SourceError(f"cannot import {name}: {error}; install it first") from error
    return Library(name, str(getattr(module, "__version__", "")))


def _checked(path: str, options: LoadOptions, library: Library) -> LoadCheck:
    way = opened(path, library.name)
    if way.refusal is not None:
        return LoadCheck(path, library, (_of_file(path, way.refusal),))
    assert way.read is not None
    damaged = damaged_members(path) if way.is_archive and is_file(path) else []
    if damaged and damaged[0].name == CONFIG:
        return LoadCheck(path, library, tuple(map(_of_damage, damaged[:1])))
    stored = way.read()
    if stored is None:
        assert way.if_empty is not None
        return LoadCheck(path, library, (_of_file(path, way.if_empty),))
    read = faults_of(stored, library.name, options)
    faults = [*read.faults, *_of_weights(stored)]
    findings = findings_of(faults, library, stored.keras_version)
    notes = [*_generations(library, stored, faults), _SCOPE]
    notes += [] if read.is_whole else [_UNREAD]
    notes += _to_import(library, read.modules)
    notes += [f"{part.why}: load_model sets damaged values." for part in damaged if not part.raises]
    findings += tuple(_of_damage(part) for part in damaged if part.raises)
    check = LoadCheck(path, library, findings, tuple(notes))
    if damaged or not read.is_whole:
        return check
    is_newer = generation(stored.keras_version) > generation(library.version)
    return _with_code(check, way, options, faults, is_newer=is_newer)


def _of_damage(part: DamagedMember) -> LoadFinding:
    assert part.raises is not None
    why = f"The archive is damaged: {first_clause(part.why)}."
    remedy = "Copy the file again from where it came."
    return LoadFinding(("the file",), Raised(*part.raises), why, remedy)


def _to_import(library: Library, modules: Sequence[str]) -> list[str]:
    if not modules:
        return []
    names = listed([f"`{readable(printable(name))}`" for name in modules])
    return [f"{library.name} would import {names}, which the file names. The check does not."]


def _of_weights(stored: StoredModel) -> list[LoadFault]:
    if stored.has_weights:
        return []
    return [fault("ValueError", "Expected a model.weights.h5 or model.weights.npz file.")]


def _generations(library: Library, stored: StoredModel, faults: list[LoadFault]) -> list[str]:
    version = readable(printable(stored.keras_version))
    if not faults or not version or generation(version) == generation(library.version):
        return []
    other = KERAS_2 if library.name == KERAS_3 else KERAS_3
    return [
        f"Keras {version} saved this file, and this is {library}. {other}.models.load_model(path) "
        f"may load it: pip install {other}."
    ]


_OF_CONTENT = {
    FileContent.NOTHING: ("There is no such file.", "Check the path."),
    FileContent.CHECKPOINT: (
        "This is a checkpoint or SavedModel of TensorFlow, not a model of Keras.",
        "Build the model by code, then run ckpt_viz.check(model, path).fix().apply(): it restores "
        "the values.",
    ),
    FileContent.WEIGHTS: (
        "This file has weights, but no model.",
        "Build the model by code, then call model.load_weights(path).",
    ),
    FileContent.OTHER: (
        "This is not a file with a model that Keras has saved, or it is damaged.",
        "Check the path, or copy the file again.",
    ),
}


def _of_file(path: str, refusal: LoadFault) -> LoadFinding:
    """Return what is wrong with a file as a whole, and the way that works."""
    content = content_of(path)
    if content in (FileContent.ARCHIVE, FileContent.HDF5):
        why = f"This is a model in the format `{content.value}`, and its name has another suffix."
        remedy = f"Copy the file to a path that ends in {content.value}, then load that."
    else:
        why, remedy = _OF_CONTENT[content]
    return LoadFinding(("the file",), Raised(refusal.type, refusal.text), why, remedy, (refusal,))


def _with_code(
    check: LoadCheck,
    way: OpenedModel,
    options: LoadOptions,
    faults: list[LoadFault],
    *,
    is_newer: bool,
) -> LoadCheck:
    """Return the check with a program that loads the model, if a second reading finds no fault."""
    names = names_of(faults)
    if not faults or names is None:
        return check
    changed, arguments = options_of(faults), to_leave_out(faults)
    if arguments and is_newer:  # it means more than what this Keras can leave out
        return check
    again = _again(way, check.library.name, replace(options, **changed), arguments)
    if again is None or not all(is_unknown_name(fault) for fault in again.faults):
        return check
    if options.custom_objects:  # the program has more names, which the code cannot tell
        names = {**{key: _name_in_code(key) for key in options.custom_objects}, **names}
    given = {
        **({} if options.compile else {"compile": False}),
        **({} if options.safe_mode else {"safe_mode": False}),
    }
    code = code_of(check.library.name, check.path, names, {**given, **changed}, arguments)
    return replace(check, code=code, names=tuple(dict.fromkeys(names.values())))


def _name_in_code(key: str) -> str:
    return key.rpartition(">")[2]


def _again(
    way: OpenedModel, library: str, options: LoadOptions, arguments: Mapping[str, Any]
) -> ReadFaults | None:
    """Return the faults of the file as the program would load it."""
    stored = None if way.read is None else way.read()
    if stored is None or not stored.has_weights:
        return None
    try:
        model = without(stored.model, arguments)
        training = None if stored.training is None else without(stored.training, arguments)
    except RecursionError:
        return None
    return faults_of(replace(stored, model=model, training=training), library, options)
