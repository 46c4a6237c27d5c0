"""Who wrote a file, and what opens it, as far as the file tells: facts for `Provenance`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL, SavedObject
from ckpt_viz.formats.storage.files import is_file, join, open_file

if TYPE_CHECKING:  # each format imports what reads it
    from ckpt_viz.files.keras_files.tfjs_model import TfjsModel
    from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5

_VERSION = re.compile(r"[0-9][\w.+-]{0,30}")
_WORDS = re.compile(r"[\w.+ -]{1,60}")
_LOAD_WEIGHTS = "load_weights of a model with the same layers"
OF_SAVED_MODEL = "tf.saved_model.load, or keras.layers.TFSMLayer for inference in Keras 3"
OF_SAVED_KERAS_MODEL = (
    "tf_keras.models.load_model, or keras.layers.TFSMLayer for inference in Keras 3"
)


class Writer(NamedTuple):
    """The program that wrote a file, with its version, and the functions that open such files."""

    written_by: str
    opened_by: str


OF_ORBAX = Writer("Orbax", "orbax.checkpoint")
OF_ORBAX_IN_KERAS = Writer(
    "Orbax in Keras 3", f"keras.models.load_model, or {_LOAD_WEIGHTS} if it has no configuration"
)


def of_archive(metadata: Mapping[str, Any]) -> Writer:
    """Return the writer of a `.keras` archive from its `metadata.json`."""
    version, saved = _version(metadata.get("keras_version")), metadata.get("date_saved")
    date = saved[:10] if isinstance(saved, str) else ""
    on = f" on {date}" if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date) else ""
    return Writer(f"{_keras(version)}{on}", f"{library(version)}.models.load_model")


def of_hdf5(stored: Hdf5) -> Writer:
    """Return the writer of an `.h5` file of Keras, by its attributes."""
    from ckpt_viz.files.keras_files.legacy_layout import version_in

    version = _version(version_in(stored) or stored.text("", "keras_version"))
    is_whole = stored.text("", "model_config") is not None
    load = f"{library(version)}.models.load_model" if is_whole else _LOAD_WEIGHTS
    return Writer(_keras(version), load)


def of_tfjs(model: TfjsModel) -> Writer:
    """Return the writer of a TensorFlow.js model: what made it, and what converted it."""
    by = [text for text in (model.converted_by, model.generated_by) if _WORDS.fullmatch(text)]
    version = f"Keras {model.keras_version}" if _version(model.keras_version) else ""
    writer = f"{by[0]} from {version or by[-1]}" if len(by) > 1 else (*by, "TensorFlow.js")[0]
    return Writer(writer, "tf.loadLayersModel in JavaScript")


def of_weights() -> Writer:
    """Return the writer of weights alone, which tell no version."""
    return Writer(_keras(""), _LOAD_WEIGHTS)


def of_saved_model(directory: str, objects: Iterable[SavedObject]) -> Writer:
    """Return the writer of a SavedModel, by its program and by what Keras wrote of its objects."""
    versions = (_version(saved.described.get("keras_version")) for saved in objects)
    keras = next(filter(None, versions), "")
    is_of_keras = any(saved.identifier.startswith("_tf_keras_") for saved in objects)
    writer = _tensorflow(join(directory, SAVED_MODEL))
    if keras:
        writer += f" and Keras {keras}"
    return Writer(writer, OF_SAVED_KERAS_MODEL if is_of_keras else OF_SAVED_MODEL)


def of_checkpoint(meta: str | None, *, is_by_names: bool) -> Writer:
    """Return the writer of a checkpoint, by its `.meta` file if there is one."""
    load = "tf.compat.v1.train.Saver.restore" if is_by_names else "tf.train.Checkpoint.restore"
    return Writer("TensorFlow" if meta is None else _tensorflow(meta), load)


def _tensorflow(path: str) -> str:
    """Return TensorFlow with the version in a MetaGraph or SavedModel."""
    version = ""
    if is_file(path):
        from ckpt_viz.formats.bundles.meta_graph import tensorflow_version

        with open_file(path) as file:
            version = _version(tensorflow_version(file))
    return f"TensorFlow {version}".rstrip()


def library(version: str) -> str:
    """Return the package whose `load_model` reads what a version of Keras saved.

    >>> library("3.14.0"), library("2.15.0"), library("")
    ('keras', 'tf_keras', 'keras')
    """
    return "tf_keras" if version[:2] in ("1.", "2.") else "keras"


def _keras(version: str) -> str:
    return f"Keras {version}" if version else "Keras (version unknown)"


def _version(text: object) -> str:
    """Return a version, "" for other texts of a file."""
    return text if isinstance(text, str) and _VERSION.fullmatch(text) else ""
