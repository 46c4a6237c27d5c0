"""Statements of code that is only read, and the objects that are read one after the other."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from types import FunctionType
from typing import Any, NoReturn

from ckpt_viz.live.keras_private import KERAS_2, private
from ckpt_viz.load_check.abstract import (
    UNKNOWN,
    Closure,
    CodeFrame,
    Failed,
    FaultSubject,
    Guard,
    Instance,
)
from ckpt_viz.load_check.binding import Arguments
from ckpt_viz.load_check.calling import Caller
from ckpt_viz.load_check.evaluating import iterated
from ckpt_viz.load_check.sources import attribute_of, tree_of


class _Next(Enum):
    """What follows a statement that does not simply end."""

    BREAK = "break"
    CONTINUE = "continue"
    RAISED = "raised"


@dataclass(frozen=True, slots=True)
class _Return:
    value: Any


_Flow = _Next | _Return | None


@dataclass(frozen=True, slots=True)
class _Object:
    """An object to read: its `from_config`, and where it is in the configuration and the run."""

    cls: type
    function: FunctionType
    owner: type
    given: Arguments
    place: str
    order: tuple[int, ...]
    guards: tuple[Guard, ...]


_DEEPEST_REPEATED = 10
_FUNCTIONAL = ("name", "layers", "input_layers", "output_layers")
_OF_MODELS = (
    "keras.src.models.model.Model.from_config",
    "tf_keras.src.engine.training.Model.from_config",
)


def _nowhere() -> None:
    """Be the function whose names a call has that no code makes."""


assert isinstance(_nowhere, FunctionType)
_NOWHERE = CodeFrame(_nowhere, {})


def nowhere() -> CodeFrame:
    """Return the frame of calls that no code makes."""
    return _NOWHERE


class CodeReader(Caller):
    """Reads what Keras would do with a configuration."""

    def __init__(
        self,
        library: str,
        places: Mapping[int, str],
        custom_objects: Mapping[str, Any],
        safe_mode: bool | None,
        *,
        is_legacy: bool = False,
    ) -> None:
        super().__init__(places)
        self.is_legacy, self.modules = is_legacy, []
        self.library, self.custom_objects, self.safe_mode = library, custom_objects, safe_mode
        self.shadows = {}
        self.depth, self.making = 0, None
        self._outer_guards = 0  # those of the objects around the one that is read
        self._parts = 1
        self.order = (self._parts,)
        self._waiting: deque[_Object] = deque()
        self._alike: dict[object, _Object] = {}  # the first of those that are alike
        self._repeated: list[tuple[_Object, _Object]] = []

    def read_all(self) -> None:
        """Read the objects that wait, and those that these lead to."""
        while self._waiting:
            waiting = self._waiting.popleft()
            self.place, self.order, self.guards = waiting.place, waiting.order, waiting.guards
            self._events = self.depth = self.doubtful = 0
            self.making = None
            self._outer_guards = len(waiting.guards)
            try:
                with suppress(Failed):
                    self._read_object(waiting)
            except RecursionError:
                self.unread = True
        for _ in range(_DEEPEST_REPEATED):
            before = len(self.faults)
            self._repeat()
            if len(self.faults) == before:
                break

    def _read_object(self, waiting: _Object) -> None:
        name = f"{waiting.function.__module__}.{waiting.function.__qualname__}"
        config = next((v for v in waiting.given.positional[1:] if isinstance(v, dict)), None)
        if name in _OF_MODELS and config is not None:
            self._read_model(waiting, config)
        else:
            self.read(waiting.function, waiting.given, waiting.owner, waiting.cls)

    def _read_model(self, waiting: _Object, config: Mapping[str, Any]) -> None:
        """Read the layers of a functional model; other models get all as arguments."""
        is_own = waiting.cls.__module__.partition(".")[0] == self.library
        if not (is_own and all(key in config for key in _FUNCTIONAL)):
            self.call(waiting.cls, Arguments([], config), _NOWHERE)
            return
        layers = config["layers"]
        made = [self._read_layer(layer) for layer in layers if isinstance(layer, dict)]
        name = next((value for value in made if isinstance(value, str)), None)
        if self.library == KERAS_2 and name is not None:  # what Keras 2 makes of an unknown class
            subject = FaultSubject(name=name, key=name)
            self.report(TypeError, "'str' object is not callable", subject)

    def _read_layer(self, layer: dict[str, Any]) -> Any:
        """Return what Keras makes of the words about a layer."""
        if "name" not in layer:
            self.report(KeyError, "'name'")
            return UNKNOWN
        if self.library == KERAS_2:
            module, name = "layers.serialization", "deserialize"
        elif "module" in layer:
            module, name = "saving.serialization_lib", "deserialize_keras_object"
        else:
            module, name = "legacy.saving.saving_utils", "model_from_config"
        given = Arguments([layer], {"custom_objects": dict(self.custom_objects)})
        made: Any = UNKNOWN
        with suppress(Failed):
            made = self.call(private(self.library, module, name), given, _NOWHERE)
        is_known = made is not UNKNOWN and not isinstance(made, Instance)
        if is_known and self.library != KERAS_2:
            text = "Unexpected object from deserialization, expected a layer or operation, got a "
            self.report(ValueError, text)
        if "inbound_nodes" not in layer:
            self.report(KeyError, "'inbound_nodes'")
        return made

    def next_part(self, place: str) -> None:
        """Begin a part of the run that comes after all before."""
        self._parts += 1
        self.place, self.order, self.guards = place, (self._parts,), ()
        self._events = self.depth = self.doubtful = self._outer_guards = 0

    def later(self, cls: type, function: FunctionType, owner: type, given: Arguments) -> Instance:
        """Note that `from_config` makes an object, to read it afterwards."""
        if not self.doubtful:
            config = next((value for value in given.positional[1:] if type(value) is dict), None)
            place = self.places.get(id(config), self.place)
            waiting = _Object(cls, function, owner, given, place, self.next_order(), self.guards)
            first = self._alike.setdefault(self._key(waiting, config), waiting)
            if first is waiting:
                self._waiting.append(waiting)
            else:
                self._repeated.append((first, waiting))
        return Instance(cls)

    def _key(self, waiting: _Object, config: Mapping[str, Any] | None) -> object:
        """Return what alike objects share: they differ in their name alone."""
        if config is None:
            return waiting.order
        plain = {name: value for name, value in config.items() if name != "name"}
        try:
            words = json.dumps(plain, default=lambda obj: f"{type(obj).__name__} {id(obj)}")
        except (TypeError, ValueError, RecursionError):
            return waiting.order
        self.charge(len(words))
        guards = tuple(id(guard.node) for guard in waiting.guards)
        return waiting.cls, waiting.function, "name" in config, words, guards

    def _repeat(self) -> None:
        """Note the faults of objects also for those that are alike, and for objects in these."""
        known = {fault.order for fault in self.faults}
        for first, again in self._repeated if self.faults else ():
            self.charge(len(self.faults))
            begin, place = len(first.order), len(first.place)
            for fault in [f for f in self.faults if f.order[:begin] == first.order]:
                order = again.order + fault.order[begin:]
                if order not in known:
                    known.add(order)
                    where = again.place + fault.place[place:]
                    self.faults.append(replace(fault, order=order, place=where))

    def fail(self, cls: type) -> NoReturn:
        """End the reading of the function that has raised."""
        raise Failed(cls)

    # --- functions

    def run(self, frame: CodeFrame) -> Any:
        """Read the body of a function, and return what it returns."""
        tree = tree_of(frame.function)
        return UNKNOWN if tree is None else self._body_of(tree.body, frame)

    def run_closure(self, closure: Closure, given: Arguments) -> Any:
        """Read a function that is defined inside another one."""
        names = [argument.arg for argument in closure.node.args.args]
        values: dict[str, Any] = dict.fromkeys(names, UNKNOWN)
        values.update(zip(names, given.positional, strict=False))
        values.update({name: value for name, value in given.named.items() if name in names})
        outer = closure.frame
        frame = CodeFrame(outer.function, values, None, None, outer)
        if self.depth > 20:
            self.unread = True
            return UNKNOWN
        self.depth += 1
        try:
            if isinstance(closure.node, ast.Lambda):
                return self.value(closure.node.body, frame)
            return self._body_of(closure.node.body, frame)
        finally:
            self.depth -= 1

    def _body_of(self, body: Sequence[ast.stmt], frame: CodeFrame) -> Any:
        doubtful, guards = self.doubtful, self.guards
        try:
            flow = self._block(body, frame)
        except Failed as failed:
            if self._is_guarded(failed.cls, guards):
                raise
            return UNKNOWN
        finally:
            is_doubtful, self.doubtful, self.guards = self.doubtful > doubtful, doubtful, guards
        if is_doubtful or flow is _Next.RAISED:
            return UNKNOWN
        return flow.value if isinstance(flow, _Return) else None

    def _is_guarded(self, cls: type, guards: Sequence[Guard]) -> bool:
        """Return whether a `try` around the call in this object may go on after an error."""
        inner = guards[self._outer_guards :]
        return any(self.handler_of(guard, cls) is not None for guard in inner)

    def _block(self, body: Sequence[ast.stmt], frame: CodeFrame) -> _Flow:
        for statement in body:
            self.step()
            flow = self._statement(statement, frame)
            if flow is not None:
                return flow
        return None

    def _statement(self, node: ast.stmt, frame: CodeFrame) -> _Flow:
        method = getattr(self, f"_{type(node).__name__.lower()}_statement", None)
        flow: _Flow = None if method is None else method(node, frame)
        return flow

    # --- simple statements

    def _expr_statement(self, node: ast.Expr, frame: CodeFrame) -> None:
        self.value(node.value, frame)

    def _assign_statement(self, node: ast.Assign, frame: CodeFrame) -> None:
        value = self.value(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)

    def _annassign_statement(self, node: ast.AnnAssign, frame: CodeFrame) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, frame), frame)

    def _augassign_statement(self, node: ast.AugAssign, frame: CodeFrame) -> None:
        self.value(node.value, frame)
        self.assign(node.target, UNKNOWN, frame)

    def assign(self, target: ast.expr, value: Any, frame: CodeFrame) -> None:
        """Give a name, an attribute or an item its value."""
        if self.doubtful:
            value = UNKNOWN
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            known = isinstance(value, (list, tuple)) and len(value) == len(target.elts)
            values = value if known else [UNKNOWN] * len(target.elts)
            for part, of_part in zip(target.elts, values, strict=True):
                self.assign(part, of_part, frame)
        elif isinstance(target, ast.Attribute):
            obj = self.value(target.value, frame)
            if isinstance(obj, Instance):
                obj.fields[target.attr] = value if self._is_simple(obj, target.attr) else UNKNOWN
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value, frame)

    def _is_simple(self, obj: Instance, name: str) -> bool:
        """Return whether an attribute keeps what is set: no property of the class."""
        return not hasattr(type(attribute_of(obj.cls, name)[1]), "__set__")

    def _assign_item(self, target: ast.Subscript, value: Any, frame: CodeFrame) -> None:
        container, key = self.value(target.value, frame), self.value(target.slice, frame)
        is_key = isinstance(key, (str, int, float, bool, type(None)))
        is_owned = isinstance(container, dict) and id(container) in self.owned
        if is_owned and is_key and (not self.doubtful or key in container):
            container[key] = value  # unknown if this is in doubt
            return
        if isinstance(container, (dict, list)):
            self.tainted.add(id(container))
            self.owned.setdefault(id(container), container)

    def _delete_statement(self, node: ast.Delete, frame: CodeFrame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                container = self.value(target.value, frame)
                key = self.value(target.slice, frame)
                if isinstance(container, dict) and id(container) in self.owned:
                    if self.doubtful or not isinstance(key, (str, int)):
                        self.tainted.add(id(container))
                    else:
                        container.pop(key, None)

    def _return_statement(self, node: ast.Return, frame: CodeFrame) -> _Return:
        return _Return(None if node.value is None else self.value(node.value, frame))

    def _break_statement(self, node: ast.Break, frame: CodeFrame) -> _Next:
        return _Next.BREAK

    def _continue_statement(self, node: ast.Continue, frame: CodeFrame) -> _Next:
        return _Next.CONTINUE

    def _functiondef_statement(self, node: ast.FunctionDef, frame: CodeFrame) -> None:
        frame.names[node.name] = Closure(node, frame)

    def _importfrom_statement(self, node: ast.ImportFrom, frame: CodeFrame) -> None:
        module = sys.modules.get(node.module or "")
        for alias in node.names:
            value = self.attribute(module, alias.name) if module is not None else UNKNOWN
            if value is UNKNOWN:
                value = sys.modules.get(f"{node.module}.{alias.name}", UNKNOWN)
            frame.names[alias.asname or alias.name] = value

    def _import_statement(self, node: ast.Import, frame: CodeFrame) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            frame.names[alias.asname or name] = sys.modules.get(name, UNKNOWN)

    # --- statements with blocks

    def _if_statement(self, node: ast.If, frame: CodeFrame) -> _Flow:
        truth = self.truth(self.value(node.test, frame))
        if truth is not None:
            return self._block(node.body if truth else node.orelse, frame)
        flows = self._in_doubt([node.body, node.orelse], frame)
        if any(isinstance(flow, _Return) or flow in _LOOPING for flow in flows):
            self.doubtful += 1  # until the function ends
        return None

    def _in_doubt(self, blocks: Sequence[Sequence[ast.stmt]], frame: CodeFrame) -> list[_Flow]:
        """Read blocks that may run or not."""
        flows: list[_Flow] = []
        for block in blocks:
            before = self.doubtful
            self.doubtful += 1
            try:
                flows.append(self._block(block, frame))
            except Failed:
                flows.append(_Next.RAISED)
            finally:
                self.doubtful = before
        return flows

    def _for_statement(self, node: ast.For, frame: CodeFrame) -> _Flow:
        items = iterated(self.value(node.iter, frame))
        if items is None:
            self.doubtful += 1
            self.assign(node.target, UNKNOWN, frame)
            self.doubtful -= 1
            flows = self._in_doubt([node.body], frame)
            self.doubtful += any(isinstance(flow, _Return) for flow in flows)
            return None
        for item in items:
            self.step()
            self.assign(node.target, item, frame)
            flow = self._block(node.body, frame)
            if flow is _Next.BREAK:
                return None
            if flow is not None and flow is not _Next.CONTINUE:
                return flow
        return self._block(node.orelse, frame)

    def _while_statement(self, node: ast.While, frame: CodeFrame) -> None:
        flows = self._in_doubt([node.body], frame)
        self.doubtful += any(isinstance(flow, _Return) for flow in flows)

    def _with_statement(self, node: ast.With, frame: CodeFrame) -> _Flow:
        for item in node.items:
            self.value(item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, UNKNOWN, frame)
        return self._block(node.body, frame)

    def _try_statement(self, node: ast.Try, frame: CodeFrame) -> _Flow:
        guard, before = Guard(node, frame), self.guards
        self.guards = (*before, guard)
        try:
            flow = self._block([*node.body], frame)
        except Failed as failed:
            self.guards = before
            handler = self.handler_of(guard, failed.cls)
            if handler is None or isinstance(handler.body[-1], ast.Raise):
                raise
            flow = self._block(handler.body, frame)
        else:
            self.guards = before
            flow = self._block(node.orelse, frame) if flow is None else flow
        finally:
            self.guards = before
        last = self._block(node.finalbody, frame)
        return flow if last is None else last

    def _raise_statement(self, node: ast.Raise, frame: CodeFrame) -> _Flow:
        if self.doubtful or node.exc is None:
            return _Next.RAISED
        cls, text = self.error_in(node.exc, frame)
        if cls is None:
            return _Next.RAISED
        self.report(cls, text, self.subject_in(frame, text))
        if frame.goes_on:
            return None
        raise Failed(cls)

    def subject_in(self, frame: CodeFrame, text: str) -> FaultSubject:
        """Return what a raise in a function is about, as far as its names tell."""
        names, function = frame.names, frame.function.__name__
        if function == "_retrieve_class_or_fn":
            name, module = _text(names.get("name")), _text(names.get("module"))
            is_function = names.get("obj_type") == "function"
            key = name if is_function else _text(names.get("registered_name"))
            return FaultSubject(name=name, key=key, module=module)
        if function == "class_and_config_for_serialized_keras_object":
            name = _text(names.get("class_name"))
            return FaultSubject(name=name, key=name)
        said = text.partition("llowed kwargs")[0]
        rest = names.get("kwargs")
        arguments = [*rest] if isinstance(rest, dict) else []
        named = [a for a in map(str, arguments) if re.search(rf"\b{re.escape(a)}\b", said)]
        if function == "add" and isinstance(names.get("layer"), str):
            return FaultSubject(name=names["layer"], key=names["layer"])
        return FaultSubject(cls=self.making, arguments=tuple(named))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_LOOPING = (_Next.BREAK, _Next.CONTINUE)
