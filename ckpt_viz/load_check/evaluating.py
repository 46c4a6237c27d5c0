"""The values of expressions in code that is only read."""

from __future__ import annotations

import ast
import builtins
import operator
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ckpt_viz.live.packages import TENSORFLOW_AND_KERAS
from ckpt_viz.load_check.abstract import (
    UNKNOWN,
    BoundFunction,
    Closure,
    CodeFrame,
    FaultSubject,
    Instance,
    Super,
)
from ckpt_viz.load_check.binding import Arguments
from ckpt_viz.load_check.reading import CodeReading, cut
from ckpt_viz.load_check.sources import attribute_after, attribute_of, unwrapped

_PLAIN = (str, int, float, bool, type(None), bytes, type(Ellipsis))
_CONTAINERS = (dict, list, tuple, set, frozenset)
_MOST_TEXT = 100_000
_MOST_ITEMS = 100_000
_COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Evaluator(CodeReading):
    """Reads expressions; a call is up to the class that knows statements."""

    shadows: dict[tuple[int, str], Any]  # attributes in place of those of real objects

    @abstractmethod
    def call(self, function: Any, given: Arguments, frame: CodeFrame) -> Any:
        """Return what a call returns."""

    def value(self, node: ast.expr, frame: CodeFrame) -> Any:
        """Return the value of an expression."""
        self.step()
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            return UNKNOWN
        value = method(node, frame)
        return UNKNOWN if id(value) in self.tainted else value

    def _constant(self, node: ast.Constant, frame: CodeFrame) -> Any:
        return node.value

    def _name(self, node: ast.Name, frame: CodeFrame) -> Any:
        scope: CodeFrame | None = frame
        while scope is not None:
            if node.id in scope.names:
                return scope.names[node.id]
            scope = scope.outer
        if node.id in frame.function.__globals__:
            return frame.function.__globals__[node.id]
        if node.id == "__class__" and frame.owner is not None:
            return frame.owner
        return getattr(builtins, node.id, UNKNOWN)

    # --- attributes

    def _attribute(self, node: ast.Attribute, frame: CodeFrame) -> Any:
        return self.attribute(self.value(node.value, frame), node.attr)

    def attribute(self, obj: Any, name: str) -> Any:
        """Return an attribute, without a run of any property."""
        if obj is UNKNOWN:
            return UNKNOWN
        if (id(obj), name) in self.shadows:
            return self.shadows[id(obj), name]
        if isinstance(obj, Instance):
            return self._of_instance(obj, name)
        if isinstance(obj, Super):
            cls = obj.receiver.cls if isinstance(obj.receiver, Instance) else obj.receiver
            owner, attribute = attribute_after(cls, obj.owner, name)
            return self._bound(obj.receiver, owner, attribute)
        if isinstance(obj, ModuleType):
            return _of_module(obj, name)
        if isinstance(obj, type):
            return self._of_class(obj, name)
        if type(obj) in (*_PLAIN, *_CONTAINERS):
            return self._of_plain(obj, name)
        return _of_object(obj, name)

    def _of_plain(self, obj: Any, name: str) -> Any:
        if hasattr(obj, name):
            return BoundFunction(obj, name)
        text = f"{type(obj).__name__!r} object has no attribute {name!r}"
        self.report(AttributeError, text)
        return UNKNOWN

    def _of_instance(self, obj: Instance, name: str) -> Any:
        if name in obj.fields:
            return obj.fields[name]
        if name == "__class__":
            return obj.cls
        owner, attribute = attribute_of(obj.cls, name)
        return self._bound(obj, owner, attribute)

    def _of_class(self, cls: type, name: str) -> Any:
        if name in ("__name__", "__qualname__", "__module__"):
            return type.__getattribute__(cls, name)
        owner, attribute = attribute_of(cls, name)
        if isinstance(attribute, (classmethod, staticmethod)):
            return self._bound(cls, owner, attribute)
        return (
            attribute
            if isinstance(unwrapped(attribute), (FunctionType, *_PLAIN, type))
            else UNKNOWN
        )

    def _bound(self, receiver: Any, owner: type | None, attribute: Any) -> Any:
        function = unwrapped(attribute)
        if isinstance(attribute, staticmethod):
            return function
        if isinstance(attribute, classmethod) and isinstance(receiver, Instance):
            receiver = receiver.cls
        if isinstance(function, FunctionType):
            return BoundFunction(receiver, function, owner)
        if attribute is object.__init__:
            return BoundFunction(receiver, attribute, owner)
        return (
            attribute if isinstance(attribute, (*_PLAIN, type)) and owner is not None else UNKNOWN
        )

    # --- items

    def _subscript(self, node: ast.Subscript, frame: CodeFrame) -> Any:
        container, key = self.value(node.value, frame), self.value(node.slice, frame)
        if container is UNKNOWN or key is UNKNOWN or id(container) in self.tainted:
            return UNKNOWN
        if isinstance(container, dict) and isinstance(key, _PLAIN):
            if key in container:
                return container[key]
            if id(container) in self.owned:
                self.report(KeyError, repr(key))
            return UNKNOWN
        if isinstance(container, str) and isinstance(key, str):
            self.report(TypeError, "string indices must be integers")
            return UNKNOWN
        if isinstance(container, (list, tuple, str)) and type(key) in (int, slice):
            try:
                return container[key]
            except IndexError:
                return UNKNOWN
        return UNKNOWN

    def _slice(self, node: ast.Slice, frame: CodeFrame) -> Any:
        parts = [
            None if part is None else self.value(part, frame)
            for part in (node.lower, node.upper, node.step)
        ]
        is_known = all(part is None or type(part) is int for part in parts)
        return slice(*parts) if is_known else UNKNOWN

    # --- containers

    def _list(self, node: ast.List, frame: CodeFrame) -> Any:
        items = self._items(node, frame)
        return UNKNOWN if items is None else self.own(items)

    def _tuple(self, node: ast.Tuple, frame: CodeFrame) -> Any:
        items = self._items(node, frame)
        return UNKNOWN if items is None else self.own(tuple(items))

    def _set(self, node: ast.Set, frame: CodeFrame) -> Any:
        items = self._items(node, frame)
        if items is None or not all(isinstance(item, (*_PLAIN, type)) for item in items):
            return UNKNOWN
        return self.own(set(items))

    def _items(self, node: ast.List | ast.Tuple | ast.Set, frame: CodeFrame) -> list[Any] | None:
        items: list[Any] = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                more = self.value(part.value, frame)
                if not isinstance(more, (list, tuple)):
                    return None
                items += more
            else:
                items.append(self.value(part, frame))
        return items

    def _dict(self, node: ast.Dict, frame: CodeFrame) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            of_value = self.value(value, frame)
            if key is None:
                if not isinstance(of_value, Mapping):
                    return UNKNOWN
                made |= of_value
                continue
            of_key = self.value(key, frame)
            if not isinstance(of_key, _PLAIN):
                return UNKNOWN
            made[of_key] = of_value
        return self.own(made)

    def _comprehended(self, node: Any, results: list[ast.expr], frame: CodeFrame) -> Any:
        """Return a list of the values of some expressions in every turn of a comprehension."""
        inner = CodeFrame(frame.function, {}, frame.owner, frame.receiver, frame)
        turns: list[tuple[Any, ...]] = []
        if not self._turn(node.generators, 0, results, inner, turns):
            return UNKNOWN
        return turns

    def _turn(
        self,
        generators: list[ast.comprehension],
        level: int,
        results: list[ast.expr],
        frame: CodeFrame,
        turns: list[tuple[Any, ...]],
    ) -> bool:
        if level == len(generators):
            turns.append(tuple(self.value(result, frame) for result in results))
            return True
        items = iterated(self.value(generators[level].iter, frame))
        if items is None:
            return False
        for item in items:
            self.step()
            self.assign(generators[level].target, item, frame)
            passed = [self.truth(self.value(test, frame)) for test in generators[level].ifs]
            if None in passed:
                return False
            if all(passed) and not self._turn(generators, level + 1, results, frame, turns):
                return False
        return True

    @abstractmethod
    def assign(self, target: ast.expr, value: Any, frame: CodeFrame) -> None:
        """Give a name, an attribute or an item its value."""

    def _listcomp(self, node: ast.ListComp, frame: CodeFrame) -> Any:
        turns = self._comprehended(node, [node.elt], frame)
        return UNKNOWN if turns is UNKNOWN else self.own([turn[0] for turn in turns])

    def _generatorexp(self, node: ast.GeneratorExp, frame: CodeFrame) -> Any:
        turns = self._comprehended(node, [node.elt], frame)
        return UNKNOWN if turns is UNKNOWN else self.own([turn[0] for turn in turns])

    def _dictcomp(self, node: ast.DictComp, frame: CodeFrame) -> Any:
        turns = self._comprehended(node, [node.key, node.value], frame)
        if turns is UNKNOWN or not all(isinstance(key, _PLAIN) for key, _ in turns):
            return UNKNOWN
        return self.own(dict(turns))

    # --- operators

    def _boolop(self, node: ast.BoolOp, frame: CodeFrame) -> Any:
        is_and = isinstance(node.op, ast.And)
        value: Any = is_and
        is_doubtful = False
        for part in node.values:
            value = self.value(part, frame)
            truth = self.truth(value)
            if truth is not None and truth is not is_and:
                self.doubtful -= is_doubtful
                return (False if is_and else UNKNOWN) if is_doubtful else value
            if truth is None and not is_doubtful:
                is_doubtful = True
                self.doubtful += 1
        self.doubtful -= is_doubtful
        return UNKNOWN if is_doubtful else value

    def _unaryop(self, node: ast.UnaryOp, frame: CodeFrame) -> Any:
        value = self.value(node.operand, frame)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value)
            return UNKNOWN if truth is None else not truth
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return UNKNOWN

    def _binop(self, node: ast.BinOp, frame: CodeFrame) -> Any:
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        kinds = [kind for kind in (str, list, tuple) if type(left) is type(right) is kind]
        if not isinstance(node.op, ast.Add) or not kinds:
            self._refuse_sum(node.op, left, right)
            return UNKNOWN
        return self.own(left + right) if len(left) + len(right) < _MOST_TEXT else UNKNOWN

    def _refuse_sum(self, operation: ast.operator, left: Any, right: Any) -> None:
        if isinstance(operation, ast.Add) and isinstance(left, str) and type(right) in _PLAIN:
            name = type(right).__name__
            self.report(TypeError, f'can only concatenate str (not "{name}") to str')

    def _compare(self, node: ast.Compare, frame: CodeFrame) -> Any:
        left, result = self.value(node.left, frame), True
        for operation, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, frame)
            answer = self._compared(operation, left, right)
            if answer is UNKNOWN:
                return UNKNOWN
            result, left = result and bool(answer), right
        return result

    def _compared(self, operation: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(operation, (ast.Is, ast.IsNot)):
            if _is_unknown(left, right):
                return UNKNOWN
            return (left is right) is isinstance(operation, ast.Is)
        if isinstance(operation, (ast.In, ast.NotIn)):
            inside = self._is_in(left, right)
            return inside if inside is UNKNOWN else inside is isinstance(operation, ast.In)
        if not (_is_plain(left) and _is_plain(right)):
            return self._same(operation, left, right)
        try:
            return _COMPARE[type(operation)](left, right)
        except TypeError:
            return UNKNOWN

    def _same(self, operation: ast.cmpop, left: Any, right: Any) -> Any:
        """Return whether two classes or functions are the same, or one of them and plain data."""
        if _is_unknown(left, right) or not isinstance(operation, (ast.Eq, ast.NotEq)):
            return UNKNOWN
        if any(isinstance(side, Instance) for side in (left, right)):
            return UNKNOWN
        if all(isinstance(side, str) or _is_dtype(side) for side in (left, right)):
            return bool(left == right) is isinstance(operation, ast.Eq)
        if all(isinstance(side, (type, FunctionType, *_PLAIN)) for side in (left, right)):
            return (left is right) is isinstance(operation, ast.Eq)
        return UNKNOWN

    def _is_in(self, item: Any, container: Any) -> Any:
        if _is_unknown(item, container) or isinstance(item, Instance):
            return UNKNOWN
        if isinstance(container, str):
            return item in container if isinstance(item, str) else UNKNOWN
        if isinstance(container, (dict, set, frozenset)):
            return item in container if isinstance(item, (*_PLAIN, type, FunctionType)) else UNKNOWN
        if isinstance(container, (list, tuple)):
            if any(item is other for other in container):
                return True
            if _is_plain(item) and all(_is_plain(other) for other in container):
                return item in container
        return UNKNOWN

    def _ifexp(self, node: ast.IfExp, frame: CodeFrame) -> Any:
        truth = self.truth(self.value(node.test, frame))
        if truth is None:
            self.doubtful += 1
            values = self.value(node.body, frame), self.value(node.orelse, frame)
            self.doubtful -= 1
            return values[0] if values[0] is values[1] else UNKNOWN
        return self.value(node.body if truth else node.orelse, frame)

    def _lambda(self, node: ast.Lambda, frame: CodeFrame) -> Any:
        return Closure(node, frame)

    # --- texts

    def _joinedstr(self, node: ast.JoinedStr, frame: CodeFrame) -> str:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                value = self.value(part.value, frame)
                is_repr = part.conversion == ord("r")
                parts.append(cut() if part.format_spec else self.words(value, is_repr=is_repr))
        return "".join(parts)[:_MOST_TEXT]

    def words(self, value: Any, *, is_repr: bool = True) -> str:
        """Return a value as an f-string has it; unknown parts as a mark."""
        if isinstance(value, str) and not is_repr:
            return value
        if _is_plain(value):
            shown = _shown(value)
            self.charge(len(shown))
            return shown
        if isinstance(value, type):
            module = _text_of(value, "__module__")
            prefix = "" if module == "builtins" else f"{module}."
            return f"<class '{prefix}{_text_of(value, '__qualname__')}'>"
        return cut()

    # --- truth

    def truth(self, value: Any) -> bool | None:
        """Return whether a value counts as true; None if only a run tells."""
        if id(value) in self.tainted:
            return None
        if isinstance(value, (*_PLAIN, *_CONTAINERS, Mapping)):
            return bool(value)
        if isinstance(value, (type, FunctionType, BoundFunction, Closure, ModuleType)):
            return True
        if isinstance(value, Instance):
            has_own = any(attribute_of(value.cls, name)[0] for name in ("__bool__", "__len__"))
            return None if has_own else True
        return None

    def _call(self, node: ast.Call, frame: CodeFrame) -> Any:
        function = self.value(node.func, frame)
        if function is super:
            return self._super(node, frame)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        is_open = False
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                more = self.value(argument.value, frame)
                is_open |= not isinstance(more, (list, tuple))
                positional += more if isinstance(more, (list, tuple)) else ()
            else:
                positional.append(self.value(argument, frame))
        for keyword in node.keywords:
            value = self.value(keyword.value, frame)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif not isinstance(value, dict) or id(value) in self.tainted:
                is_open = True
                self._refuse_as_keywords(value, function)
            else:
                self._add_named(named, value, function)
        return self.call(function, Arguments(positional, named, is_open), frame)

    def _add_named(self, named: dict[str, Any], more: Mapping[Any, Any], function: Any) -> None:
        for name, value in more.items():
            if name in named:
                name_of = _full_name(function)
                text = f"{name_of} got multiple values for keyword argument {name!r}"
                self.report(
                    TypeError, text, FaultSubject(cls=_class_of(function), arguments=(str(name),))
                )
            elif isinstance(name, str):
                named[name] = value

    def _refuse_as_keywords(self, value: Any, function: Any) -> None:
        if isinstance(value, (list, tuple, *_PLAIN)):
            what = f"must be a mapping, not {type(value).__name__}"
            self.report(TypeError, f"{_full_name(function)} argument after ** {what}")

    def _super(self, node: ast.Call, frame: CodeFrame) -> Any:
        if node.args:
            owner, receiver = (self.value(argument, frame) for argument in node.args)
            return Super(receiver, owner) if isinstance(owner, type) else UNKNOWN
        scope: CodeFrame | None = frame
        while scope is not None and scope.owner is None:
            scope = scope.outer
        if scope is None or scope.owner is None or scope.receiver is None:
            return UNKNOWN
        return Super(scope.receiver, scope.owner)


def _is_dtype(value: Any) -> bool:
    """Return whether a value is a dtype of TensorFlow, which is plain data, too."""
    cls = type(value)
    return cls.__name__ == "DType" and cls.__module__.partition(".")[0] == "tensorflow"


def _is_unknown(*values: Any) -> bool:
    return any(value is UNKNOWN for value in values)


def iterated(value: Any) -> list[Any] | None:
    """Return the items of plain data; None if they are unknown or too many."""
    if not isinstance(value, (list, tuple, dict, set, frozenset)) or len(value) > _MOST_ITEMS:
        return None
    return list(value)


def _is_plain(value: Any) -> bool:
    """Return whether a value is plain data as a whole; the depth is that of JSON."""
    stack = [value]
    for _ in range(_MOST_ITEMS):
        if not stack:
            return True
        item = stack.pop()
        if isinstance(item, dict):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, _CONTAINERS):
            stack += item
        elif not isinstance(item, _PLAIN):
            return False
    return False


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except (RecursionError, ValueError):
        return cut()


def _of_module(module: ModuleType, name: str) -> Any:
    known = vars(module)
    if name in known:
        return known[name]
    package = module.__name__.partition(".")[0]
    if package in TENSORFLOW_AND_KERAS:
        try:
            return getattr(module, name)
        except Exception:
            return UNKNOWN
    return sys.modules.get(f"{module.__name__}.{name}", UNKNOWN)


def _of_object(obj: Any, name: str) -> Any:
    """Return an attribute of a thread's own object, or of a signature: they are plain records."""
    if isinstance(obj, threading.local):
        if name == "__dict__":
            return vars(obj)
        return vars(obj).get(name, UNKNOWN)
    if type(obj).__name__ == "FullArgSpec":
        return getattr(obj, name, UNKNOWN)
    return UNKNOWN


def _text_of(cls: type, name: str) -> str:
    return str(type.__getattribute__(cls, name))


def _class_of(function: Any) -> type | None:
    """Return the class that a call makes, as far as the call tells it."""
    receiver = function.receiver if isinstance(function, BoundFunction) else function
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    return cls if isinstance(cls, type) else None


def _full_name(function: Any) -> str:
    """Return what Python calls a function in the error about a keyword that comes twice."""
    if isinstance(function, BoundFunction) and isinstance(function.function, FunctionType):
        return f"{function.function.__module__}.{function.function.__qualname__}()"
    if isinstance(function, type):
        return f"{_text_of(function, '__module__')}.{_text_of(function, '__qualname__')}()"
    return cut()
