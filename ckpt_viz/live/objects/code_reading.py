"""Which attributes the methods of a class set, read from their bytecode; nothing runs.

A module may make its variables at the first call. Its code then names them before they exist.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ckpt_viz.live.tensorflow_names.packages import is_of_library
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

_ONCE = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})
_FILLING = frozenset({"add", "append", "extend", "insert", "setdefault", "update", "__setitem__"})
# What keeps the function that it wraps: TensorFlow's functions, decorators, methods, properties.
_WRAPPED = ("__wrapped__", "_python_function", "python_function")
_MAX_FUNCTIONS = 200  # that one method leads to


class Method(NamedTuple):
    """What a method's code mentions: the attributes that it `sets`, and all its `names`.

    `fills` says that it adds items to a container.
    """

    name: str
    sets: frozenset[str]
    names: frozenset[str]
    fills: bool

    def may_set(self, attribute: str, *, is_container: bool) -> bool:
        """Return whether the code may set an attribute, or fill the container in it."""
        if attribute in self.sets:
            return True
        if is_container and self.fills and attribute in self.names:
            return True
        return "setattr" in self.names and any(
            attribute.startswith(name) for name in self.names if name and name != "setattr"
        )


def setter_of(obj: object, attribute: str, *, is_container: bool = False) -> str | None:
    """Return the method, such as `Linear.build`, that may set an attribute later; None if none.

    Only the program's own classes count. The constructor has run, and so have the methods that it
    alone calls.
    """
    cls: Any = type(obj)
    later = _run_later(cls)
    setters = (method for method in later if method.may_set(attribute, is_container=is_container))
    return next((method.name for method in setters), None)


def is_set_by_libraries(obj: object, attribute: str) -> bool:
    """Return whether classes of TensorFlow or Keras alone set this attribute of an object."""
    setting = [
        is_of_library(base)
        for base in type(obj).__mro__
        if any(attribute in method.sets for method in _methods(base))
    ]
    return bool(setting) and all(setting)


@lru_cache(maxsize=256)
def _run_later(cls: type) -> tuple[Method, ...]:
    """Return the methods of the program's own classes that may run after the constructor."""
    methods = [m for base in cls.__mro__ if not is_of_library(base) for m in _methods(base)]
    once = set(_ONCE)
    while True:
        later = [m for m in methods if _short(m) not in once]
        of_once = {name for m in methods if _short(m) in once for name in m.names}
        called_later = {name for m in later for name in m.names}
        more = {_short(m) for m in later} & of_once - called_later
        if not more:
            return tuple(later)
        once |= more


def _short(method: Method) -> str:
    return method.name.rpartition(".")[2]


@lru_cache(maxsize=1024)
def _methods(cls: type) -> tuple[Method, ...]:
    """Return what the code of a class, without its bases, mentions."""
    return tuple(
        _method(f"{cls.__name__}.{name}", codes)
        for name, member in vars(cls).items()
        if (codes := tuple(_codes(member, str(cls.__module__))))
    )


def _method(name: str, codes: Collection[types.CodeType]) -> Method:
    sets: set[str] = set()
    names: set[str] = set()
    fills = False
    for code in codes:
        names.update(code.co_names)
        names.update(const for const in code.co_consts if isinstance(const, str))
        steps = list(dis.get_instructions(code))
        sets.update(_attributes_set(steps))
        fills = fills or any(step.opname == "STORE_SUBSCR" for step in steps)
    return Method(name, frozenset(sets), frozenset(names), fills or not names.isdisjoint(_FILLING))


def _attributes_set(steps: Sequence[dis.Instruction]) -> Iterator[str]:
    """Yield the attributes that code sets, but for constants such as None: no object is one.

    The owner, a name or an attribute of a name, is loaded between the value and the store. If code
    jumps there, the value before is only one of several.
    """
    for place, step in enumerate(steps):
        if step.opname != "STORE_ATTR":
            continue
        owner = place - 1
        while steps[owner].opname == "LOAD_ATTR":
            owner -= 1
        is_constant = steps[owner - 1].opname in ("LOAD_CONST", "LOAD_SMALL_INT")
        if not is_constant or steps[owner].is_jump_target:
            yield str(step.argval)


def _codes(member: object, module: str) -> Iterator[types.CodeType]:
    """Yield the code that a member of a class runs: its own, and that of functions around it.

    Follow functions of its own module that it calls by name.
    """
    seen: set[int] = set()
    stack: list[object] = [member]
    while stack and len(seen) < _MAX_FUNCTIONS:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, types.CodeType):
            yield part
            stack += [const for const in part.co_consts if isinstance(const, types.CodeType)]
        elif isinstance(part, types.FunctionType):
            stack += [part.__code__, instance_dict(part).get("__wrapped__")]
            stack += [cell.cell_contents for cell in part.__closure__ or () if _is_filled(cell)]
            called = (part.__globals__.get(name) for name in part.__code__.co_names)
            stack += [function for function in called if _is_function_of(function, module)]
        elif isinstance(part, (classmethod, staticmethod, types.MethodType)):
            stack.append(part.__func__)
        elif isinstance(part, property):
            stack += [part.fget, part.fset]
        elif not isinstance(part, type):
            own = instance_dict(part)
            stack += [own[name] for name in _WRAPPED if name in own]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:  # nothing is in it yet
        return False


def _is_function_of(obj: object, module: str) -> bool:
    # A global may be any object, whose `__class__` would run its own code.
    return type(obj) is types.FunctionType and obj.__module__ == module
