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
WEIGHTS = ("model.weights.h5", "model.weights.npz")
_MOST_JSON = 64 << 20
_LEAST_MEMBERS = 3  # of an archive without assets
_MODEL, _TRAINING = "model_config", "training_config"


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a file says of its model; `training` is what it was compiled with, in an `.h5` file.

    `has_weights` says whether an archive has the member with weights. `keras_version` is "" if the
    file has none.
    """

    model: dict[str, Any]
    training: dict[str, Any] | None = None
    is_legacy: bool = False
    has_weights: bool = True
    keras_version: str = ""


def in_archive(path: str) -> StoredModel | None:
    """Return the configuration in a `.keras` archive; None if it has none."""
    encoded = read_member(path, CONFIG, _MOST_JSON)
    if encoded is None:
        return None
    model = dict(mapping_in(f"{path}: {CONFIG}", encoded))
    version: object = ""
    with suppress(FormatError):  # of damage: Keras does not read this member
        metadata = read_member(path, "metadata.json", _MOST_JSON) or b"{}"
        version = mapping_in(f"{path}: metadata.json", metadata).get("keras_version")
    has_weights = not set(WEIGHTS).isdisjoint(member_names(path))
    return StoredModel(model, has_weights=has_weights, keras_version=str(version or ""))


@dataclass(frozen=True, slots=True)
class DamagedMember:
    """A damaged member of an archive; `raises` is class and text of Keras' error, None for none.

    `why` is a sentence without a full stop.
    """

    name: str
    why: str
    raises: tuple[str, str] | None


def damaged_members(path: str) -> list[DamagedMember]:
    """Return which members `load_model` reads from an archive and are damaged, in its order.

    Reads and tests all bytes of these members. Keras unpacks all members if there are more than
    three, as there are with the vocabulary of a layer.
    """
    names = member_names(path)
    wanted = [name for name in (CONFIG, *WEIGHTS[:1]) if name in names]
    damaged: list[DamagedMember] = []
    for name in dict.fromkeys([*wanted, *(names if len(names) > _LEAST_MEMBERS else [])]):
        try:
            member(path, name).test()
        except FormatError as error:
            raises = error_of_zipfile(path, name, seeks=name in WEIGHTS)
            damaged.append(DamagedMember(name, str(error), raises))
    return damaged


def in_directory(path: str) -> StoredModel | None:
    """Return the configuration in the directory of an unpacked archive; None if it has none."""
    place = os.path.join(path, CONFIG)
    with open_file(place) as file:
        if file.size > _MOST_JSON:
            raise UnsupportedError(f"{place} has {file.size} bytes, expected at most {_MOST_JSON}")
        model = dict(mapping_in(place, file.read(0, file.size)))
    has_weights = any(is_file(os.path.join(path, name)) for name in WEIGHTS)
    return StoredModel(model, has_weights=has_weights)


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
