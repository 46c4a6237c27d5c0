"""The private names of Keras that ckpt_viz needs to save and load weights as Keras does.

A model belongs to the Keras that its classes come from, so this module imports no Keras that the
program has not imported. If a name is gone, it raises UnsupportedError with the version.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.live.tensorflow_names.packages import package_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict
from ckpt_viz.matching.engines.h5_sides import H5Rules
from ckpt_viz.matching.engines.keras_sides import SavingRules

KERAS_3, KERAS_2 = "keras", "tf_keras"
_LAYERS_OWN = {KERAS_3: "layers.layer", KERAS_2: "engine.base_layer"}
_OPTIMIZERS_OWN = {KERAS_3: "optimizers.base_optimizer", KERAS_2: "optimizers.optimizer"}
_H5 = {KERAS_3: "legacy.saving.legacy_h5_format", KERAS_2: "saving.legacy.hdf5_format"}
# Before Keras 3.12, no class lists what it saves for a mode of quantization.
_OF_EMBEDDING: Mapping[str | None, tuple[str, ...]] = {None: (), "int8": ("_scale",)}
_OF_KERNEL: Mapping[str | None, tuple[str, ...]] = {
    None: (),
    "int8": ("kernel_scale",),
    "float8": (
        *("inputs_scale", "inputs_amax_history", "kernel_scale", "kernel_amax_history"),
        *("outputs_grad_scale", "outputs_grad_amax_history"),
    ),
}
# What the attribute of a class may be without being an object that Keras saves.
_FUNCTIONS = (FunctionType, BuiltinFunctionType, staticmethod, classmethod, type)


def library_of(obj: object) -> str | None:
    """Return the package of Keras that an object's class comes from, None for other objects."""
    for base in type(obj).__mro__:
        package = package_of(base)
        if package in (KERAS_3, KERAS_2) and package in sys.modules:
            return package
    return None


def is_model(obj: object) -> bool:
    """Return whether an object has Keras' `save_weights`."""
    library = library_of(obj)
    return library is not None and isinstance(obj, sys.modules[library].Model)


@cache
def private(library: str, module: str, name: str) -> Any:
    """Return `<library>.src.<module>.<name>`."""
    path = f"{library}.src.{module}"
    try:
        return getattr(import_module(path), name)
    except (ImportError, AttributeError) as error:
        version = getattr(sys.modules.get(library), "__version__", "of an unknown version")
        raise UnsupportedError(
            f"{library} {version}: no {path}.{name}; ckpt_viz looks for it where Keras 2.15 and "
            "3.3 to 3.15 have it"
        ) from error


@cache
def rules_of(library: str) -> SavingRules:
    """Return how the installed version of a library saves and loads weights."""
    is_keras_3 = library == KERAS_3
    saving = import_module(f"{library}.src.saving.saving_lib")
    return SavingRules(
        checks_built=is_keras_3 and "built" in saving.load_weights_only.__code__.co_names,
        collects_errors=is_keras_3,
        marks_late=is_keras_3,
        enters_nested_lists=hasattr(saving, "_container_path_present"),
        passes_over_done=not is_keras_3,
        writes_names="metadata" in saving.H5IOStore.make.__code__.co_varnames,
        names_unbuilt=is_keras_3,
    )


def h5_rules_of(library: str) -> H5Rules:
    """Return how a library loads the weights of `.h5`."""
    is_keras_2 = library == KERAS_2
    legacy = "saving.legacy.hdf5_format" if is_keras_2 else "legacy.saving.legacy_h5_format"
    return H5Rules(
        skips_by_name_alone=is_keras_2,
        assigns_at_end=is_keras_2,
        names_absent=hasattr(import_module(f"{library}.src.{legacy}"), "safe_get_h5_group"),
    )


def is_saveable(library: str) -> Callable[[object], bool]:
    """Return what tells whether Keras saves an object by itself."""
    if library == KERAS_2:
        test: Callable[[object], bool] = private(
            library, "saving.saving_lib", "_is_keras_trackable"
        )
        return test
    saveable = private(library, "saving.keras_saveable", "KerasSaveable")
    return lambda obj: isinstance(obj, saveable)


def list_types(library: str) -> tuple[type, ...]:
    """Return the types of the lists that Keras looks into."""
    names = private(library, "saving.saving_lib", "_load_state").__code__.co_names
    return tuple(kind for kind in (list, dict, tuple, set) if kind.__name__ in names)


def component_of(library: str, cls: type) -> str:
    """Return the path component of an object of a class."""
    module = "utils.naming" if library == KERAS_3 else "utils.generic_utils"
    return str(private(library, module, "to_snake_case")(cls.__name__))


def attributes_of(library: str, obj: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that Keras looks at when it saves an object, in its order.

    This is `_walk_saveable`, without the attributes that classes define as functions. Properties
    run, as they do when Keras saves.
    """
    kind = obj._obj_type() if library == KERAS_3 else ""
    if kind in ("Sequential", "Functional"):
        yield "layers", obj.layers
    cls: Any = type(obj)
    if _defined(cls, "__dir__") is vars(object)["__dir__"]:
        names = {*_names_of_class(library, kind, cls), *_own_names(library, kind, obj)}
    else:
        names = {name for name in dir(obj) if _is_looked_at(library, kind, name)}
    for name in _in_order(library, names):
        try:
            child = getattr(obj, name)
        except Exception:  # as Keras does
            continue
        yield name, child


def _in_order(library: str, names: set[str]) -> list[str]:
    if library == KERAS_2:
        return sorted(names, reverse=True)
    return sorted(names, key=private(library, "saving.saving_lib", "_name_key"))


@cache
def _names_of_class(library: str, kind: str, cls: type) -> frozenset[str]:
    return frozenset(
        name
        for name in dir(cls)
        if _is_looked_at(library, kind, name) and not isinstance(_defined(cls, name), _FUNCTIONS)
    )


def _defined(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _own_names(library: str, kind: str, obj: object) -> Iterator[str]:
    return (name for name in tuple(instance_dict(obj)) if _is_looked_at(library, kind, name))


def _is_looked_at(library: str, kind: str, name: str) -> bool:
    return not name.startswith("__") and name not in _skipped(library, kind)


@cache
def _skipped(library: str, kind: str) -> frozenset[str]:
    """Return the attributes that Keras passes over; it makes objects to know them."""
    if library == KERAS_2:
        names: frozenset[str] = private(library, "saving.saving_lib", "ATTR_SKIPLIST")
        return names
    module = import_module(f"{library}.src.saving.saving_lib")
    name = "get_attr_skipset" if hasattr(module, "get_attr_skipset") else "get_attr_skiplist"
    with _names_uncounted():
        return frozenset(private(library, "saving.saving_lib", name)(kind))


@contextmanager
def _names_uncounted() -> Iterator[None]:
    """Restore afterwards the numbers by which Keras 3 makes names of objects unique."""
    get = private(KERAS_3, "backend.common.global_state", "get_global_attribute")
    counts = get("object_name_uids")
    before = dict(counts) if counts is not None else {}
    try:
        yield
    finally:
        counts = get("object_name_uids")
        if counts is not None:
            counts.clear()
            counts.update(before)


def definer(obj: object, method: str) -> tuple[str, str]:
    """Return module and class that define a method of an object; "" for an object's own."""
    if method in instance_dict(obj):
        return "", ""
    for base in type(obj).__mro__:
        if method in vars(base):
            return str(base.__module__), base.__name__
    return "", ""


def is_own_layers(library: str, module: str) -> bool:
    """Return whether a module is the one of Keras' base class of layers."""
    return module == f"{library}.src.{_LAYERS_OWN[library]}"


def is_optimizers(library: str, module: str) -> bool:
    """Return whether a module is the one of Keras' base class of optimizers."""
    return module == f"{library}.src.{_OPTIMIZERS_OWN[library]}"


def own_variables(library: str, layer: Any) -> list[Any]:
    """Return a layer's own variables, in the order in which Keras saves them."""
    if library == KERAS_2:
        return list(layer._trainable_weights + layer._non_trainable_weights)
    return list(layer._trainable_variables + layer._non_trainable_variables)


def variables_in_h5(library: str, layer: Any) -> list[Any]:
    """Return the variables of a layer and its parts, in the order in which `.h5` has them.

    Raises what Keras raises for a layer whose variables `.h5` cannot hold.
    """
    return list(private(library, _H5[library], "_legacy_weights")(layer))


def quantized_variables(layer: Any) -> list[str]:
    """Return the attributes that hold what Keras saves of a layer that can be quantized."""
    # Before Keras 3.4, only the policy has the mode.
    holder = layer if hasattr(layer, "quantization_mode") else layer.dtype_policy
    mode = getattr(holder, "quantization_mode", None)
    spec: Mapping[Any, list[str]] | None = getattr(layer, "variable_serialization_spec", None)
    if spec is not None:
        return spec[mode]
    if hasattr(layer, "embeddings"):
        return [
            "embeddings",
            *(f"embeddings{end}" for end in _OF_EMBEDDING[mode]),
        ]
    return ["kernel", "bias", *_OF_KERNEL[mode]]
