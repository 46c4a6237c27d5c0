"""Classes and functions of the program: their signatures are sent to the child, no code is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ckpt_viz.live.keras.keras_private import KERAS_3, private
from ckpt_viz.live.tensorflow_names.packages import KERAS, package_of

Json = dict[str, Any]


def registered(library: str) -> Mapping[str, Any]:
    """Return what the program has registered with a library, and what its scopes have."""
    if library == KERAS_3:
        get = private(library, "backend.common.global_state", "get_global_attribute")
        scope = get("custom_objects_scope_dict", {})
        every = private(library, "saving.object_registration", "GLOBAL_CUSTOM_OBJECTS")
    else:
        local = private(library, "saving.object_registration", "_THREAD_LOCAL_CUSTOM_OBJECTS")
        scope = vars(local)
        every = private(library, "saving.object_registration", "_GLOBAL_CUSTOM_OBJECTS")
    return {**every, **scope}


def described(custom: Any) -> Json:
    """Return what the child needs for a placeholder of a class or function; nothing of it runs.

    A class is its bases, the own ones first: each with the signature of its constructor. The last
    one is a class of Keras, by its name alone.
    """
    if not isinstance(custom, type):
        is_of_keras = isinstance(custom, FunctionType) and package_of(custom) in KERAS
        return _by_name(custom) if is_of_keras else {"function": True}
    bases: list[Json] = []
    for base in type.__dict__["__mro__"].__get__(custom):
        if package_of(base) in KERAS:
            return {"bases": bases, **_by_name(base)}
        if base is not object:
            bases.append(_base(base))
    return {"bases": bases}


def _by_name(custom: Any) -> Json:
    return {"module": custom.__module__, "name": custom.__qualname__}


def _base(cls: type) -> Json:
    own = type.__dict__["__dict__"].__get__(cls)
    init = own.get("__init__")
    parameters = inspect.signature(init).parameters if isinstance(init, FunctionType) else {}
    return {
        "name": type.__dict__["__qualname__"].__get__(cls),
        "parameters": [
            [parameter.name, parameter.kind.name, parameter.default is not parameter.empty]
            for parameter in [*parameters.values()][1:]
        ],
        "has_init": "__init__" in own,
        "has_from_config": "from_config" in own,
    }
