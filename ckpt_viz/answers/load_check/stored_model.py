"""The configuration of a model in a file: `config.json` of `.keras`, or the attributes of `.h5`."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.formats.hdf5_files.hdf5 import open_hdf5
from ckpt_viz.formats.storage.files import is_file, open_file
from ckpt_viz.formats.storage.zip_archive import error_of_zipfile, member, member_names, read_member

CONFIG = "config.json"
_WEIGHTS = ("model.weights.h5", "model.weights.npz")
_MOST_JSON = 64 << 20
_LEAST_MEMBERS = 3  # of an archive without assets
_MODEL, _TRAINING = "model_config", "training_config"


class RefusedFileError(Exception):
    """What `load_model` raises for a file as a whole: the class of the error, and its text.

    `damage` is a sentence without a full stop, "" if the file is whole.
    """

    def __init__(self, cls: str, text: str, damage: str = "") -> None:
        super().__init__(text)
        self.cls, self.text, self.damage = cls, text, damage


_NO_WEIGHTS = (
    RefusedFileError("ValueError", "Expected a model.weights.h5 or model.weights.npz file."),
)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a file says of its model; `training` is what it was compiled with, in an `.h5` file.

    `refusals` are what `load_model` raises after it has built the model. `unnoticed` are sentences
    on damage that it does not notice. `keras_version` is "" if the file has none.
    """

    model: dict[str, Any]
    training: dict[str, Any] | None = None
    is_legacy: bool = False
    refusals: tuple[RefusedFileError, ...] = ()
    unnoticed: tuple[str, ...] = ()
    keras_version: str = ""


def in_archive(path: str) -> StoredModel:
    """Return the configuration in a `.keras` archive."""
    refusals, unnoticed = _damages_in(path)
    encoded = read_member(path, CONFIG, _MOST_JSON)
    if encoded is None:
        raise RefusedFileError("KeyError", f"There is no item named {CONFIG!r} in the archive")
    model = dict(mapping_in(f"{path}: {CONFIG}", encoded))
    version: object = ""
    with suppress(FormatError):  # of damage: Keras does not read this member
        metadata = read_member(path, "metadata.json", _MOST_JSON) or b"{}"
        version = mapping_in(f"{path}: metadata.json", metadata).get("keras_version")
    lacking = _NO_WEIGHTS if set(_WEIGHTS).isdisjoint(member_names(path)) else ()
    return StoredModel(
        model,
        refusals=(*lacking, *refusals),
        unnoticed=tuple(unnoticed),
        keras_version=str(version or ""),
    )


def _damages_in(path: str) -> tuple[list[RefusedFileError], list[str]]:
    """Return what `load_model` raises for damaged members of an archive, and what it overlooks.

    Reads and tests all bytes of the members that it reads. Keras unpacks all members if there are
    more than three, as there are with the vocabulary of a layer.
    """
    names = member_names(path)
    wanted = [name for name in (CONFIG, *_WEIGHTS[:1]) if name in names]
    refusals: list[RefusedFileError] = []
    unnoticed: list[str] = []
    for name in dict.fromkeys([*wanted, *(names if len(names) > _LEAST_MEMBERS else [])]):
        try:
            member(path, name).test()
        except FormatError as error:
            raises = error_of_zipfile(path, name, seeks=name in _WEIGHTS)
            if raises is None:
                unnoticed.append(str(error))
                continue
            refusals.append(RefusedFileError(*raises, damage=str(error)))
            if name == CONFIG:
                raise refusals[0] from error
    return refusals, unnoticed


def in_directory(path: str) -> StoredModel:
    """Return the configuration in the directory of an unpacked archive."""
    place = os.path.join(path, CONFIG)
    with open_file(place) as file:
        if file.size > _MOST_JSON:
            raise UnsupportedError(f"{place} has {file.size} bytes, expected at most {_MOST_JSON}")
        model = dict(mapping_in(place, file.read(0, file.size)))
    has_weights = any(is_file(os.path.join(path, name)) for name in _WEIGHTS)
    return StoredModel(model, refusals=() if has_weights else _NO_WEIGHTS)


def in_hdf5(path: str) -> StoredModel | None:
    """Return the configuration in a whole-model `.h5` file; None if it has none."""
    stored = open_hdf5(path, lambda: open_file(path))
    with stored.kept_open():
        texts = {name: stored.text("", name) for name in (_MODEL, _TRAINING, "keras_version")}
    model = texts[_MODEL]
    if model is None:
        return None
    training = texts[_TRAINING]
    return StoredModel(
        _decoded(f"{path}: {_MODEL}", model),
        None if training is None else _decoded(f"{path}: {_TRAINING}", training),
        is_legacy=True,
        keras_version=texts["keras_version"] or "",
    )


def _decoded(place: str, text: str) -> dict[str, Any]:
    if len(text) > _MOST_JSON:
        raise UnsupportedError(f"{place} has {len(text)} letters, expected at most {_MOST_JSON}")
    return dict(mapping_in(place, text.encode("utf-8", "surrogatepass")))
