"""What `load_model` of a library does, without weights, for the child alone: it imports Keras."""

from __future__ import annotations

import copy
import inspect
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

Json = dict[str, Any]
_SPACES = (
    *("layers", "models", "optimizers", "losses", "metrics", "initializers", "regularizers"),
    *("constraints", "activations", "optimizers.schedules", "dtype_policies", "mixed_precision"),
)
_NOT_NEEDED = re.compile(r"_test$|\.tests?\b|torch|jax|openvino|mlx|testing|benchmark|estimator")


class KerasBuilder:
    """The functions below `load_model` of one library, without weights.

    Imports every module of the library, since the guard refuses later imports.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = import_module(name)
        self._is_3 = name == "keras"
        self._saving = self._part("saving.serialization_lib")
        legacy = "legacy.saving.legacy_h5_format" if self._is_3 else "saving.legacy.hdf5_format"
        self._hdf5: Any = self._part(legacy)
        self._hdf5.load_weights_from_hdf5_group = lambda *_args, **_kwargs: None
        # Code in the file never runs, whatever safe_mode is.
        utils: Any = self._part("utils.python_utils" if self._is_3 else "utils.generic_utils")
        utils.func_load = lambda *_args, **_kwargs: lambda value, *_args, **_kwargs: value
        for module in walk_packages(self.module.__path__, f"{name}.", onerror=lambda _name: None):
            if not _NOT_NEEDED.search(module.name):
                with suppress(Exception):  # one that needs what is not installed
                    import_module(module.name)
        if self._is_3:
            self._make_hollow()

    def _part(self, path: str) -> Any:
        return import_module(f"{self.name}.src.{path}")

    def _make_hollow(self) -> None:
        """Let variables have shapes, but take no memory, unless their values are given."""
        variables = self._part("backend.common.variables")
        variables.register_uninitialized_variable = lambda _variable: None
        made, scope = variables.Variable.__init__, self.module.StatelessScope

        def init(self: Any, initializer: Any, *args: Any, **kwargs: Any) -> None:
            with scope(initialize_variables=False) if callable(initializer) else nullcontext():
                made(self, initializer, *args, **kwargs)

        variables.Variable.__init__ = init
        with suppress(ImportError, AttributeError):  # these two need a variable of TensorFlow
            optimizer = self._part("backend.tensorflow.optimizer").TFOptimizer
            del optimizer.add_variable_from_reference, optimizer._var_key

    def warm(self) -> None:
        """Let the library open what it opens once, such as the source of random numbers."""
        k = self.module
        layers = [k.layers.GRU(2), k.layers.Dropout(0.5), k.layers.Dense(2)]
        model = k.Sequential([k.Input((4, 4)), *layers])
        model.compile("adam", "mse", metrics=["mae"])

    def register(self, custom: Json) -> None:
        """Let the library know what the program has registered."""
        registration = self._part("saving.object_registration")
        name = "GLOBAL_CUSTOM_OBJECTS" if self._is_3 else "_GLOBAL_CUSTOM_OBJECTS"
        getattr(registration, name).update(custom)

    def load(self, request: Json, custom: Json) -> Any:
        """Do what `load_model` does, but for the weights."""
        if request["is_archive"]:
            given = {} if request["compile"] else {"compile_config": None}
            return self.part({**request["model"], **given}, request, custom)
        content = io.BytesIO()
        import h5py

        with h5py.File(content, "w") as file:
            file.create_group("model_weights")
            for name in ("model", "training"):
                if request[name] is not None:
                    text = json.dumps(request[name])
                    file.attrs.create(f"{name}_config", text, dtype=h5py.string_dtype())
        takes = inspect.signature(self._hdf5.load_model_from_hdf5).parameters
        given = {name: request[name] for name in ("compile", "safe_mode") if name in takes}
        with h5py.File(content, "r") as file, self._scope_of_hdf5(custom):
            return self._hdf5.load_model_from_hdf5(file, custom, **given)

    @contextmanager
    def _scope_of_hdf5(self, custom: Json) -> Iterator[None]:
        """Set what tf_keras sets around the load of an `.h5` file."""
        if self._is_3:
            yield
            return
        legacy = self._part("saving.legacy.serialization")
        utils = self._part("saving.legacy.saved_model.utils")
        with (
            legacy.SharedObjectLoadingScope(),
            self.module.saving.custom_object_scope(custom),
            utils.keras_option_scope(save_traces=False, in_tf_saved_model_scope=True),
        ):
            yield

    def part(self, item: Any, request: Json, custom: Json) -> Any:
        """Build an object of a configuration by itself."""
        item, safe_mode = copy.deepcopy(item), request["safe_mode"]
        if request["is_archive"] or (self._is_3 and "module" in item):
            with self._saving.ObjectSharingScope():
                return self._saving.deserialize_keras_object(item, custom, safe_mode=safe_mode)
        with self._saving.SafeModeScope(safe_mode):
            if self._is_3:
                utils = self._part("legacy.saving.saving_utils")
                return utils.model_from_config(item, custom_objects=custom)
            with self._scope_of_hdf5(custom):
                return self.module.layers.deserialize(item, custom_objects=custom)

    def public(self, name: str) -> tuple[str, Any] | None:
        """Return the public path of a class or function, and itself."""
        for space in _SPACES:
            known: Any = self.module
            for part in (*space.split("."), name):
                known = getattr(known, part, None)
            if callable(known):
                return f"{self.name}.{space}.{name}", known
        return None

    def is_known(self, name: str) -> bool:
        """Return whether a name is one of the library's own, or another word for one."""
        if name in ("Functional", "Model") or self.public(name) is not None:
            return True
        for space in (self.module.losses, self.module.metrics):
            with suppress(ValueError, TypeError):
                if callable(space.get(name)):
                    return True
        return False

    def lacks(self, item: Json) -> tuple[str, str] | None:
        """Return module and name of a class that a file says to be Keras', and that is not."""
        module, name = item.get("module"), item.get("class_name")
        if isinstance(module, str) and module.split(".")[0] == "keras" and isinstance(name, str):
            known = sys.modules.get(module if self._is_3 else f"tf_{module}")
            if not hasattr(known, name) and self.public(name) is None:
                return module, name
        return None

    def constructors(self, cls: type) -> Iterator[list[inspect.Parameter]]:
        """Yield the parameters of a constructor, then of those to which it passes the rest."""
        for base in inspect.getmro(cls)[:-1]:
            if isinstance(own := vars(base).get("__init__"), FunctionType):
                parameters = [*inspect.signature(own).parameters.values()][1:]
                yield parameters
                if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                    return


def raised_by(build: Callable[[], Any]) -> tuple[str, str] | None:
    """Return the class of what a call raises, and the text of the innermost error.

    Keras puts configurations around that text.
    """
    try:
        build()
    except MemoryError:
        raise
    except Exception as error:  # whatever Keras raises is the answer
        outer, inner = str(error), error
        while isinstance(cause := inner.__context__, Exception) and str(cause) in outer:
            inner = cause
        return type(error).__name__, str(inner) or outer
    return None
