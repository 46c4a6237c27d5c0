"""What `load_model` does with a path before it reads a configuration, in Keras' order."""

from __future__ import annotations

import os
import zipfile
from contextlib import suppress

from ckpt_viz.answers.load_check.load_findings import BUILD_BY_CODE
from ckpt_viz.answers.load_check.stored_model import (
    CONFIG,
    RefusedFileError,
    StoredModel,
    in_archive,
    in_directory,
    in_hdf5,
)
from ckpt_viz.errors import CkptVizError, UnsupportedError
from ckpt_viz.files.saved.keras_reader import KERAS
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.writers import OF_SAVED_KERAS_MODEL
from ckpt_viz.formats.hdf5_files.hdf5 import begins_as_hdf5
from ckpt_viz.formats.kinds.file_kinds import kind_of
from ckpt_viz.formats.storage.files import File, is_directory, is_file, open_file
from ckpt_viz.formats.storage.zip_archive import member_names
from ckpt_viz.live.keras.keras_private import KERAS_2, KERAS_3, private

_HDF5 = (".h5", ".hdf5")
_RESTORE = (
    "Build the model by code, then run ckpt_viz.check(model, path).fix().apply(): it restores the "
    "values."
)
_PB = ("saved_model.pb", "saved_model.pbtxt")


def stored_model(path: str, library: str) -> StoredModel:
    """Return what the installed library reads of a path; raises RefusedFileError if it raises."""
    if path.endswith(".keras") and is_file(path) and _is_zip(path):
        return in_archive(path)
    return _by_keras_2(path) if library == KERAS_2 else _by_keras_3(path)


def _by_keras_3(path: str) -> StoredModel:
    is_there = is_directory(path)
    if is_there and is_file(os.path.join(path, CONFIG)):
        return in_directory(path)
    if path.endswith(_HDF5):
        if is_there:
            raise RefusedFileError("IsADirectoryError", "[Errno 21] Unable to")
        if not is_file(path):
            text = "[Errno 2] Unable to synchronously open file (unable to open file"
            raise RefusedFileError("FileNotFoundError", text)
        return _hdf5(path, path)
    if is_there and _is_of_orbax(path):
        raise UnsupportedError(
            f"{path}: a directory of Orbax; this check reads `.keras` and `.h5`, so try load_model"
        )
    if path.endswith(".keras"):
        raise RefusedFileError("ValueError", f"File not found: filepath={path}.")
    raise RefusedFileError("ValueError", f"File format not supported: filepath={path}.")


def _is_of_orbax(path: str) -> bool:
    with suppress(UnsupportedError):  # of a Keras that does not know Orbax
        return bool(private(KERAS_3, "saving.saving_api", "is_orbax_checkpoint")(path))
    return False


def _by_keras_2(path: str) -> StoredModel:
    if not is_directory(path):
        if not is_file(path):
            raise RefusedFileError("OSError", f"No file or directory found at {path}")
        return _hdf5(path, "")
    if not any(is_file(os.path.join(path, name)) for name in _PB):
        raise RefusedFileError("OSError", f"SavedModel file does not exist at: {path}")
    raise UnsupportedError(
        f"{path}: a SavedModel, which {KERAS_2} builds by its functions; this check reads "
        "`.keras` and `.h5`, so try load_model"
    )


def _hdf5(path: str, named: str) -> StoredModel:
    with open_file(path) as file:
        if not begins_as_hdf5(file):
            text = "Unable to synchronously open file (file signature not found)"
            raise RefusedFileError("OSError", text)
    stored = in_hdf5(path)
    if stored is None:
        raise RefusedFileError("ValueError", f"No model config found in the file at {named}")
    return stored


def _is_zip(path: str) -> bool:
    try:
        return zipfile.is_zipfile(path)
    except OSError:
        return False


def about_file(path: str) -> tuple[str, str]:
    """Return what a path that `load_model` refuses leads to, and the way that works: sentences."""
    if is_file(path):
        with suppress(CkptVizError), open_file(path) as file:
            suffix = _suffix_of_model(path, file)
            if suffix:
                return (
                    f"This is a model in the format `{suffix}`, and its name has another suffix.",
                    f"Copy the file to a path that ends in {suffix}, then load that.",
                )
            if begins_as_hdf5(file):
                return "This file has weights, but no model.", BUILD_BY_CODE
            kind = kind_of(file)
            if kind is not None and not kind.is_part:
                return f"This is {kind.what}.", f"{kind.advice[0].upper()}{kind.advice[1:]}."
    if is_directory(path) and any(is_file(os.path.join(path, name)) for name in _PB):
        return (
            "This is a SavedModel of TensorFlow.",
            f"{_RESTORE} Or open it with {OF_SAVED_KERAS_MODEL}.",
        )
    if _is_checkpoint(path):
        return "This is a checkpoint of TensorFlow, not a model of Keras.", _RESTORE
    if not is_file(path) and not is_directory(path):
        return "There is no such file.", "Check the path."
    return (
        "This is not a file with a model that Keras has saved, or it is damaged.",
        "Check the path, or copy the file again.",
    )


def _suffix_of_model(path: str, file: File) -> str:
    """Return the suffix that a whole model needs and does not have; "" for other files."""
    if _is_zip(path) and not path.endswith(".keras") and CONFIG in member_names(path):
        return ".keras"
    is_hdf5 = begins_as_hdf5(file) and not path.endswith(_HDF5)
    return ".h5" if is_hdf5 and in_hdf5(path) is not None else ""


def _is_checkpoint(path: str) -> bool:
    with suppress(CkptVizError):
        return locate(path).reader is not KERAS
    return False
