"""What calls return in code that is only read, and which functions are read further.

Functions of Keras that make objects of a configuration are read. A few that only look something up
are called. All others return what is unknown.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from ckpt_viz.live.packages import KERAS, TENSORFLOW_AND_KERAS
from ckpt_viz.load_check.abstract import (
    UNKNOWN,
    BoundFunction,
    Closure,
    CodeFrame,
    FaultSubject,
    Instance,
)
from ckpt_viz.load_check.binding import Arguments, bound
from ckpt_viz.load_check.evaluating import Evaluator, _is_plain, _text_of, iterated
from ckpt_viz.load_check.sources import attribute_of, unwrapped

_DEEPEST = 24  # calls within calls; a nested object begins at 0 again

# The functions of Keras that are read.
_READ = frozenset(
    {
        *("get", "deserialize", "deserialize_keras_object", "_retrieve_class_or_fn"),
        *("get_registered_object", "class_and_config_for_serialized_keras_object"),
        *("model_from_config", "compile_args_from_training_config", "_deserialize_metric"),
        *("_deserialize_nested_config", "_resolve_compile_arguments_compat", "validate_kwargs"),
        *("serialize_with_public_class", "serialize_with_public_fn"),
        *("_assert_no_registered_name_for_builtin", "functional_init_arguments"),
        *("_raise_for_lambda_deserialization", "_get_quantized_dtype_policy_by_str"),
        *(
            "__init__",
            "from_config",
            "compile_from_config",
            "_parse_function_from_config",
            "_process_kwargs",
            "_set_dtype_policy",
            "get_policy",
            "add",
        ),
    }
)
# The functions that look something up, by module and name; TensorFlow's modules have long names.
_CALLED = frozenset(
    {
        *(
            "get_symbol_from_name",
            "get_name_from_symbol",
            "get_canonical_name_for_symbol",
            "populate_deserializable_objects",
        ),
        *("populate_dict_with_module_objects", "enabled", "executing_eagerly", "is_arm_mac"),
        *(
            "executing_eagerly_outside_functions",
            "isclass",
            "isfunction",
            "getfullargspec",
            "floatx",
        ),
    }
)
_STANDARD = ("inspect", *TENSORFLOW_AND_KERAS)


class Caller(Evaluator):
    """Answers calls."""

    depth: int
    making: type | None  # the class of the innermost object that a constructor makes
    library: str
    custom_objects: Mapping[str, Any]
    safe_mode: bool | None
    modules: list[str]  # what only a run would import
    is_legacy: bool  # whether the file has tf_keras' older form

    @abstractmethod
    def run(self, frame: CodeFrame) -> Any:
        """Read the body of a function, and return what it returns."""

    @abstractmethod
    def run_closure(self, closure: Closure, given: Arguments) -> Any:
        """Read a function that is defined inside another one."""

    @abstractmethod
    def fail(self, cls: type) -> NoReturn:
        """End the reading of the function that has raised."""

    @abstractmethod
    def later(self, cls: type, function: FunctionType, owner: type, given: Arguments) -> Instance:
        """Note that `from_config` makes an object, to read it afterwards."""

    def call(self, function: Any, given: Arguments, frame: CodeFrame) -> Any:
        """Return what a call returns."""
        if function is UNKNOWN:
            return UNKNOWN
        if isinstance(function, Closure):
            return UNKNOWN if self.doubtful else self.run_closure(function, given)
        if isinstance(function, BoundFunction):
            return self._call_method(function, given)
        if isinstance(function, type):
            return self._make(function, given, frame)
        plain = unwrapped(function)
        name = getattr(plain, "__name__", "") if callable(plain) else ""
        if not isinstance(name, str):
            return UNKNOWN
        native = _OF_PYTHON.get(name) if getattr(builtins, name, None) is function else None
        if native is not None:
            return native(self, given, frame)
        if not isinstance(plain, FunctionType):
            return UNKNOWN
        return self._call_function(function, plain, given)

    def _call_function(self, function: Any, plain: FunctionType, given: Arguments) -> Any:
        name, module = plain.__name__, str(plain.__module__)
        package = module.partition(".")[0]
        own = _OF_KERAS.get(name)
        if own is not None and package in (*_STANDARD, "importlib", "copy"):
            return own(self, given)
        if name in _CALLED and package in _STANDARD:
            return self._really(function, given)
        if package in KERAS and name in _READ:
            return self.read(plain, given)
        return UNKNOWN

    def _really(self, function: Any, given: Arguments) -> Any:
        """Call a function that only looks something up."""
        arguments = [*given.positional, *given.named.values()]
        if given.is_open or any(
            value is UNKNOWN or isinstance(value, (Instance, Closure)) for value in arguments
        ):
            return UNKNOWN
        try:
            return function(*given.positional, **given.named)
        except Exception:
            return UNKNOWN

    # --- functions that are read

    def read(
        self,
        function: FunctionType,
        given: Arguments,
        owner: type | None = None,
        receiver: Any = None,
    ) -> Any:
        """Return what a function returns, by its source; report how the arguments do not fit."""
        if self.doubtful:  # whatever it does is unknown
            return UNKNOWN
        values, misfits = bound(function, given)
        made = receiver.cls if isinstance(receiver, Instance) else receiver
        cls = made if isinstance(made, type) else None
        for misfit in misfits:
            subject = FaultSubject(cls=cls, arguments=tuple(misfit.names))
            self.report(TypeError, misfit.text, subject)
        if self.depth >= _DEEPEST:
            self.unread = True
            return UNKNOWN
        for name, parameter in values.items():
            if type(parameter) in (dict, tuple) and name not in given.named:
                self.own(parameter)  # `**kwargs` and `*args` are new
        frame = CodeFrame(function, values, owner, receiver, goes_on=function.__name__ in _GOING_ON)
        place = self.place
        configs = [value for value in given.positional if type(value) is dict]
        self.place = next((self.places[id(c)] for c in configs if id(c) in self.places), place)
        making = self.making
        if isinstance(receiver, Instance):
            self.making = receiver.cls
        self.depth += 1
        try:
            return self.run(frame)
        finally:
            self.depth, self.place, self.making = self.depth - 1, place, making

    def _call_method(self, method: BoundFunction, given: Arguments) -> Any:
        receiver, function = method.receiver, method.function
        if isinstance(function, str):
            return _method_of_data(self, receiver, function, given)
        if function is object.__init__:
            self._check_object(receiver, given)
            return None
        if not isinstance(function, FunctionType):
            return UNKNOWN
        name = function.__name__
        given = Arguments([receiver, *given.positional], given.named, given.is_open)
        if name == "from_config" and isinstance(receiver, type) and method.owner is not None:
            return self.later(receiver, function, method.owner, given)
        own = self._is_of_program(method.owner) and name in ("__init__", "from_config")
        if name not in _READ and not own:
            return UNKNOWN
        return self.read(function, given, method.owner, receiver)

    def _is_of_program(self, owner: type | None) -> bool:
        return owner is not None and str(_text_of(owner, "__module__")).partition(".")[0] not in (
            *TENSORFLOW_AND_KERAS,
            "builtins",
        )

    def _check_object(self, receiver: Any, given: Arguments) -> None:
        if (given.named or given.positional) and not given.is_open:
            name = _text_of(receiver.cls, "__name__") if isinstance(receiver, Instance) else ""
            has_own = isinstance(receiver, Instance) and _has_own_init(receiver.cls)
            text = (
                "object.__init__() takes exactly one argument (the instance to initialize)"
                if has_own
                else f"{name}() takes no arguments"
            )
            cls = receiver.cls if isinstance(receiver, Instance) else None
            self.report(TypeError, text, FaultSubject(cls=cls, arguments=tuple(given.named)))

    def _make(self, cls: type, given: Arguments, frame: CodeFrame) -> Any:
        """Return an object of a class, after a look at its constructor."""
        if _text_of(cls, "__module__") == "builtins":
            native = _OF_PYTHON.get(_text_of(cls, "__name__"))
            return UNKNOWN if native is None else native(self, given, frame)
        made = Instance(cls)
        owner, attribute = attribute_of(cls, "__init__")
        function = unwrapped(attribute)
        if isinstance(function, FunctionType):
            with_self = Arguments([made, *given.positional], given.named, given.is_open)
            self.read(function, with_self, owner, made)
        elif attribute is object.__init__ and attribute_of(cls, "__new__")[1] is object.__new__:
            self._check_object(made, given)
        return made


_GOING_ON = frozenset({"__init__", "validate_kwargs", "_process_kwargs"})


def _has_own_init(cls: type) -> bool:
    return attribute_of(cls, "__init__")[1] is not object.__init__


# --- functions of Python


def _isinstance(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    if len(given.positional) != 2:
        return UNKNOWN
    value, classes = given.positional
    if value is UNKNOWN or not _are_classes(classes):
        return UNKNOWN
    try:
        if isinstance(value, Instance):
            return issubclass(value.cls, classes)
        return isinstance(value, classes)
    except Exception:
        return UNKNOWN


def _are_classes(classes: Any) -> bool:
    several = classes if isinstance(classes, tuple) else (classes,)
    return all(isinstance(cls, type) for cls in several)


def _issubclass(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    if len(given.positional) != 2:
        return UNKNOWN
    cls, classes = given.positional
    if not isinstance(cls, type) or not _are_classes(classes):
        return UNKNOWN
    return issubclass(cls, classes)


def _callable(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    value = given.positional[0] if given.positional else UNKNOWN
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, Instance):
        return attribute_of(value.cls, "__call__")[0] is not None
    return isinstance(value, (BoundFunction, Closure)) or callable(value)


def _hasattr(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    if len(given.positional) != 2 or not isinstance(given.positional[1], str):
        return UNKNOWN
    obj, name = given.positional
    if isinstance(obj, type):
        return attribute_of(obj, name)[0] is not None
    if (id(obj), name) in caller.shadows:
        return True
    if isinstance(obj, (dict, list, tuple, str, int, float, type(None), FunctionType)):
        return hasattr(obj, name)
    return UNKNOWN


def _getattr(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    if len(given.positional) < 2 or not isinstance(given.positional[1], str):
        return UNKNOWN
    return caller.attribute(given.positional[0], given.positional[1])


def _len(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    value = given.positional[0] if given.positional else UNKNOWN
    return len(value) if isinstance(value, (str, list, tuple, dict, set)) else UNKNOWN


def _type(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    if len(given.positional) != 1 or given.positional[0] is UNKNOWN:
        return UNKNOWN
    value = given.positional[0]
    return value.cls if isinstance(value, Instance) else type(value)


def _vars(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    value = given.positional[0] if given.positional else UNKNOWN
    return vars(value) if isinstance(value, ModuleType) else UNKNOWN


def _globals(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    return frame.function.__globals__


def _any(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    return _quantified(caller, given, decides=True)


def _all(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
    return _quantified(caller, given, decides=False)


def _quantified(caller: Caller, given: Arguments, *, decides: bool) -> Any:
    items = iterated(given.positional[0]) if given.positional else None
    if items is None:
        return UNKNOWN
    truths = [caller.truth(item) for item in items]
    if decides in truths:
        return decides
    return UNKNOWN if None in truths else not decides


def _converted(kind: type) -> Callable[[Caller, Arguments, CodeFrame], Any]:
    """Return what makes plain data of plain data, as `int` or `tuple` does."""

    def convert(caller: Caller, given: Arguments, frame: CodeFrame) -> Any:
        if given.is_open:
            return UNKNOWN
        if kind is dict and not given.positional:
            return caller.own(dict(given.named))
        if not given.positional:
            return caller.own(kind())
        (value, *more) = given.positional
        if kind in (list, tuple):
            items = iterated(value)
            return UNKNOWN if items is None else caller.own(kind(items))
        if kind is dict and isinstance(value, dict):
            return caller.own({**value, **given.named})
        if more or not _is_plain(value):
            return UNKNOWN
        try:
            return kind(value)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return UNKNOWN

    return convert


_OF_PYTHON: Mapping[str, Callable[[Caller, Arguments, CodeFrame], Any]] = {
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "callable": _callable,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "len": _len,
    "type": _type,
    "vars": _vars,
    "globals": _globals,
    "any": _any,
    "all": _all,
    **{kind.__name__: _converted(kind) for kind in (dict, list, tuple, str, int, float, bool, set)},
}


# --- methods of plain data


def _method_of_data(caller: Caller, value: Any, name: str, given: Arguments) -> Any:
    """Return what a method of plain data returns; only owned containers change."""
    if given.is_open or id(value) in caller.tainted:
        return UNKNOWN
    changes = name in ("pop", "update", "setdefault", "append", "extend", "insert", "clear")
    if changes and (caller.doubtful or id(value) not in caller.owned):
        caller.tainted.add(id(value))
        caller.owned.setdefault(id(value), value)
        return UNKNOWN
    if isinstance(value, dict):
        return _method_of_dict(caller, value, name, given)
    if name == "copy" and isinstance(value, (list, set)):
        return caller.own(value.copy())
    if name in ("append", "extend") and isinstance(value, list) and len(given.positional) == 1:
        items = [given.positional[0]] if name == "append" else iterated(given.positional[0])
        value.extend(items or [])
        if items is None:
            caller.tainted.add(id(value))
        return None
    if name == "pop" and isinstance(value, list) and len(given.positional) > 1:
        count = len(given.positional)
        caller.report(TypeError, f"pop expected at most 1 argument, got {count}")
        return UNKNOWN
    are_plain = all(_is_plain(argument) for argument in given.positional)
    if isinstance(value, str) and name in _TEXTS and are_plain:
        try:
            return getattr(value, name)(*given.positional)
        except (TypeError, ValueError):
            return UNKNOWN
    return UNKNOWN


_TEXTS = frozenset(
    {"lower", "upper", "startswith", "endswith", "split", "rsplit", "partition", "count", "strip"}
    | {"rpartition", "replace", "join"}
)


def _method_of_dict(caller: Caller, value: dict[Any, Any], name: str, given: Arguments) -> Any:
    if name == "copy":
        return caller.own(dict(value))
    if name in ("keys", "values", "items"):
        listed: list[Any] = list(getattr(value, name)())
        return caller.own(listed)
    if name == "update":
        more = given.positional[0] if given.positional else {}
        if not isinstance(more, dict):
            caller.tainted.add(id(value))
            return None
        value.update(more)
        value.update(given.named)
        return None
    if name not in ("get", "pop", "setdefault") or not given.positional:
        return UNKNOWN
    key, *default = given.positional
    default += given.named.values()
    if not isinstance(key, (str, int, float, bool, type(None), type)):
        return UNKNOWN
    if key in value:
        return value.pop(key) if name == "pop" else value[key]
    if name == "pop" and not default:
        caller.report(KeyError, repr(key))
        return UNKNOWN
    fallback = default[0] if default else None
    if name == "setdefault":
        value[key] = fallback
    return fallback


# --- functions of Keras and of the standard library, in our words


def _global_attribute(caller: Caller, given: Arguments) -> Any:
    """Keras' record of scopes: of custom objects all that this load would have."""
    if given.positional and given.positional[0] == "custom_objects_scope_dict":
        return dict(caller.custom_objects)
    return None if len(given.positional) < 2 else given.positional[1]


def _in_safe_mode(caller: Caller, given: Arguments) -> Any:
    return caller.safe_mode


def _none(caller: Caller, given: Arguments) -> Any:
    return None


def _copied(caller: Caller, given: Arguments) -> Any:
    """Copies are not deep here: the parts keep their place in the configuration."""
    value = given.positional[0] if given.positional else UNKNOWN
    if isinstance(value, dict):
        return caller.own(dict(value))
    return caller.own(list(value)) if isinstance(value, list) else value


def _replaced(caller: Caller, given: Arguments) -> Any:
    """Keras before 3.10 replaces a text in a configuration by itself."""
    if len(given.positional) == 3 and given.positional[1] == given.positional[2]:
        return given.positional[0]
    return UNKNOWN


def _import_module(caller: Caller, given: Arguments) -> Any:
    """Find a module that a file names: one that is imported, or one of Keras' public names."""
    name = given.positional[0] if given.positional else None
    if not isinstance(name, str):
        return UNKNOWN
    if name in sys.modules:
        return sys.modules[name]
    if not _exists(name):
        caller.report(
            ModuleNotFoundError, f"No module named {name!r}", FaultSubject(name=name, module=name)
        )
        caller.fail(ModuleNotFoundError)
    package, *parts = name.split(".")
    if package == caller.library and "src" not in parts:  # public names of what is imported
        with suppress(Exception):
            return import_module(name)
    caller.modules.append(name)
    return UNKNOWN


def _exists(name: str) -> bool:
    """Return whether there is a module, without an import of any."""
    path, parts = None, name.split(".")
    if len(parts) > 20 or not all(part.isidentifier() for part in parts):
        return False
    for number in range(len(parts)):
        prefix = ".".join(parts[: number + 1])
        module = sys.modules.get(prefix)
        if module is not None:
            path = getattr(module, "__path__", None)
        else:
            spec = PathFinder.find_spec(prefix, None if path is None else list(path))
            if spec is None:
                return False
            path = spec.submodule_search_locations
        if path is None and number + 1 < len(parts):
            return False
    return True


def _fullargspec(caller: Caller, given: Arguments) -> Any:
    function = given.positional[0] if given.positional else UNKNOWN
    plain = unwrapped(function.function if isinstance(function, BoundFunction) else function)
    return inspect.getfullargspec(plain) if isinstance(plain, FunctionType) else UNKNOWN


_NO_SHARED_OBJECTS = Instance(object, {"get": BoundFunction({}, "get"), "set": UNKNOWN})
_OF_KERAS: Mapping[str, Callable[[Caller, Arguments], Any]] = {
    "get_global_attribute": _global_attribute,
    "in_safe_mode": _in_safe_mode,
    "get_shared_object": _none,
    "record_object_after_deserialization": _none,
    "in_tf_saved_model_scope": lambda caller, given: caller.is_legacy,
    "saving_v3_enabled": lambda caller, given: not caller.is_legacy,
    "_shared_object_loading_scope": lambda caller, given: _NO_SHARED_OBJECTS,
    "import_module": _import_module,
    "deepcopy": _copied,
    "_find_replace_nested_dict": _replaced,
    "getfullargspec": _fullargspec,
}
