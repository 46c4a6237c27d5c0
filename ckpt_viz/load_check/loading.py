"""What `load_model` does with each kind of file, up to the weights: the faults in its order."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ckpt_viz.live.keras_private import KERAS_2, KERAS_3, private
from ckpt_viz.load_check.abstract import Failed, LoadFault, TooLong
from ckpt_viz.load_check.binding import Arguments
from ckpt_viz.load_check.places import places_of
from ckpt_viz.load_check.statements import CodeReader, nowhere
from ckpt_viz.load_check.stored_model import StoredModel

COMPILATION = "compile_config"  # begins the places of what only the compilation of a model needs


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The arguments of `load_model` beside the path."""

    custom_objects: Mapping[str, Any]
    compile: bool = True
    safe_mode: bool = True


@dataclass(frozen=True, slots=True)
class ReadFaults:
    """What a reading has found: all faults in their order, and whether it has read everything.

    `modules` are those that a run would import, which the program has not.
    """

    faults: tuple[LoadFault, ...]
    is_whole: bool
    modules: tuple[str, ...]


def faults_of(stored: StoredModel, library: str, options: LoadOptions) -> ReadFaults:
    """Return what of a model's configuration the installed library cannot build."""
    custom = {**options.custom_objects, **_registered(library)}
    safe_mode = _safe_mode(library, stored, options)
    places = places_of({"": stored.model, COMPILATION: stored.training})
    is_legacy = stored.is_legacy and library == KERAS_2
    reader = CodeReader(library, places.names, custom, safe_mode, is_legacy=is_legacy)
    for container in places.containers:
        reader.own(container)
    for local, objects in _tables(library):
        reader.shadows[id(local), "ALL_OBJECTS"] = reader.own(objects)
    if library == KERAS_2:
        local = private(library, "saving.object_registration", "_THREAD_LOCAL_CUSTOM_OBJECTS")
        reader.shadows[id(local), "__dict__"] = custom  # as a scope of these would
    try:
        _read(reader, stored, library, options)
    except TooLong:
        reader.unread = True
    faults = sorted(reader.faults, key=lambda fault: fault.order)
    return ReadFaults(tuple(faults), not reader.unread, tuple(dict.fromkeys(reader.modules)))


def _read(reader: CodeReader, stored: StoredModel, library: str, options: LoadOptions) -> None:
    custom = dict(options.custom_objects) if not stored.is_legacy else dict(reader.custom_objects)
    reader.own(custom)
    reader.place = "the model"
    if not stored.is_legacy:
        function = private(library, "saving.serialization_lib", "deserialize_keras_object")
        model = stored.model if options.compile else {**stored.model, "compile_config": None}
        given = Arguments([reader.own(model), custom], {"safe_mode": options.safe_mode})
        _call(reader, function, given)
        return
    module = "legacy.saving.saving_utils" if library == KERAS_3 else "saving.legacy.model_config"
    function = private(library, module, "model_from_config")
    _call(reader, function, Arguments([stored.model], {"custom_objects": custom}))
    if options.compile and stored.training is not None:
        module = "legacy.saving" if library == KERAS_3 else "saving.legacy"
        function = private(library, f"{module}.saving_utils", "compile_args_from_training_config")
        reader.next_part(COMPILATION)
        _call(reader, function, Arguments([stored.training, custom], {}))


def _call(reader: CodeReader, function: Any, given: Arguments) -> None:
    with suppress(Failed):
        reader.call(function, given, nowhere())
    reader.read_all()


def _registered(library: str) -> Mapping[str, Any]:
    """Return the custom objects that the program has registered, and those of its scopes."""
    if library == KERAS_3:
        get = private(library, "backend.common.global_state", "get_global_attribute")
        scope = get("custom_objects_scope_dict", {})
        every = private(library, "saving.object_registration", "GLOBAL_CUSTOM_OBJECTS")
    else:
        local = private(library, "saving.object_registration", "_THREAD_LOCAL_CUSTOM_OBJECTS")
        scope = vars(local)
        every = private(library, "saving.object_registration", "_GLOBAL_CUSTOM_OBJECTS")
    return {**scope, **every}


def _safe_mode(library: str, stored: StoredModel, options: LoadOptions) -> bool | None:
    chosen: bool | None = private(library, "saving.serialization_lib", "in_safe_mode")()
    if chosen is not None or (stored.is_legacy and not _is_safe_with_hdf5(library)):
        return chosen
    return options.safe_mode


def _is_safe_with_hdf5(library: str) -> bool:
    """Return whether the safe mode of a load counts for `.h5`, as it does in newer Keras 3."""
    if library == KERAS_2:
        return False
    load = private(library, "legacy.saving.legacy_h5_format", "load_model_from_hdf5")
    return "safe_mode" in inspect.signature(load).parameters


def _tables(library: str) -> list[tuple[Any, dict[str, Any]]]:
    """Return where Keras keeps the classes of its older files, and what it would keep there."""
    if library == KERAS_3:
        layers, models = (sys.modules[f"{library}.src.{name}"] for name in ("layers", "models"))
        more = ("Functional", "Model", "Sequential")
        objects = {**vars(layers), **{name: getattr(models, name) for name in more}}
        return [(private(library, "legacy.saving.saving_utils", "MODULE_OBJECTS"), objects)]
    serialization = "layers.serialization"
    private(library, serialization, "populate_deserializable_objects")()
    objects = dict(private(library, serialization, "LOCAL").ALL_OBJECTS)
    return [(private(library, "saving.legacy.model_config", "MODULE_OBJECTS"), objects)]
