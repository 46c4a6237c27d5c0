"""All faults of a configuration: it is built object by object, and what fails is repaired."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from inspect import Parameter
from typing import Any

from ckpt_viz.answers.load_check.faults import COMPILATION, LoadFault, UnknownName
from ckpt_viz.answers.load_check.keras_builder import KerasBuilder, raised_by
from ckpt_viz.answers.load_check.placeholders import LAYER_KEYS, Placeholders

Json = dict[str, Any]
_COMPILE = "Model.compile"
_SECONDS = 10  # of processor time, after which no further part is built
_COMPARED = 120  # letters of two errors; what follows may be the configuration
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_MOST_TRIED = 30  # arguments that are tried one by one
_NO_OBJECTS = ("inbound_nodes", "build_config", "compile_config")
_NO_NAMES = (
    *("class_name", "registered_name", "name", "module", "inbound_nodes", "build_config", "layers"),
)


class FaultSearch:
    """The search for all faults of a configuration, which it repairs on its way.

    It takes parts before wholes. A placeholder takes the place of a class or function that Keras
    does not know. Arguments that stop a constructor are left out. A layer that still fails is
    replaced.
    """

    def __init__(self, keras: KerasBuilder, request: Json, custom: Json) -> None:
        self.faults: list[LoadFault] = []
        self.is_whole = True
        self._ends = time.process_time() + _SECONDS
        self.unknown: Json = {}
        self._keras, self._request, self._custom = keras, copy.deepcopy(request), custom
        self._is_archive: bool = request["is_archive"]
        self._placeholders = Placeholders(keras.module, request["model"])
        self._left_out: dict[tuple[str, str], LoadFault] = {}
        self._is_replaced = False  # whether a layer is a placeholder of the search

    def run(self) -> None:
        """Find the faults of the parts, then of the whole, then of what it was compiled with."""
        model = self._request["model"]
        for item, key, place in self._objects(model, "root", ""):
            if time.process_time() > self._ends:
                self.is_whole = False
                return
            bare = {**item, "compile_config": None} if key == "root" else item
            self._mend(bare, key, place, partial(self._built, bare))
        compiled = model.get("compile_config") if self._is_archive else self._request["training"]
        if not self._request["compile"] or not isinstance(compiled, dict):
            return
        if raised_by(lambda: self._built({**model, "compile_config": None})) is not None:
            return
        for item, key, place in self._objects(compiled, COMPILATION, COMPILATION):
            self._mend(item, key, place, partial(self._built, item))
        self._mend(compiled, COMPILATION, COMPILATION, self._whole)

    def _built(self, item: Any) -> Any:
        return self._keras.part(item, self._request, {**self._custom, **self.unknown})

    def _whole(self) -> Any:
        return self._keras.load(self._request, {**self._custom, **self.unknown})

    def _objects(self, item: Any, key: str, place: str) -> Iterator[tuple[Json, str, str]]:
        """Yield the objects of a configuration, with their key and place: parts before wholes."""
        if isinstance(item, list):
            for part in item:
                yield from self._objects(part, key, place)
        if not isinstance(item, dict):
            return
        config = item.get("config")
        is_object = isinstance(item.get("class_name"), str) and "config" in item
        if is_object and key not in ("root", COMPILATION):
            own = key
            if key == "layers":
                name = config.get("name") if isinstance(config, dict) else None
                own = name if isinstance(name, str) else item["class_name"]
            place = f"{place}.{own}".lstrip(".")
        for name, part in (config if is_object and isinstance(config, dict) else item).items():
            if isinstance(part, (dict, list)) and name not in _NO_OBJECTS:
                yield from self._objects(part, name, place)
        is_built = key in LAYER_KEYS or (self._is_archive and "module" in item)
        if is_object and is_built and not item["class_name"].startswith("__"):
            yield item, key, place

    def _mend(self, item: Json, key: str, place: str, build: Callable[[], Any]) -> None:
        """Note the errors of an object, one after the other, and repair what each is about."""
        config = item.get("config") if key != COMPILATION else item
        self._note_known_faults(item, config, key, place)
        while (error := raised_by(build)) is not None:
            follows = self._is_replaced and "layers" in (config or ())
            cls = _COMPILE if key == COMPILATION else _text(item.get("class_name"))
            fault = LoadFault([place], *error, cls=cls)
            fault.follows, fault.is_own = follows, self._is_own(fault.cls)
            self.faults.append(fault)
            if self._name_unknown(item, key, place, fault, build):
                continue
            if (lacking := self._keras.lacks(item)) is not None:
                fault.unknown = UnknownName(lacking[1], lacking[1], lacking[0])
                break
            fault.missing = self._missing_in(fault.cls, config)
            if not self._leave_out(config, fault, build) or fault.refused:
                break
        else:
            return
        if key in LAYER_KEYS and key != "root" and raised_by(build) is not None:
            self._replace(item, config)

    def _class(self, name: str) -> type | None:
        known = self._custom.get(name)
        if known is None and (public := self._keras.public(name.rpartition(">")[2])) is not None:
            known = public[1]
        return known if isinstance(known, type) else None

    def _is_own(self, name: str) -> bool:
        """Return whether a class is one of the program."""
        cls = self._class(name)
        return cls is not None and cls.__module__.partition(".")[0] != self._keras.name

    def _replace(self, item: Json, config: Any) -> None:
        """Put a placeholder for a layer that fails, with its name."""
        name = config.get("name") if isinstance(config, dict) else None
        item["class_name"], item["config"] = "Placeholder", {"name": name}
        item.update({part: None for part in ("module", "build_config") if part in item})
        if not self._is_archive:
            item.pop("module", None)
        if "registered_name" in item:
            item["registered_name"] = "Placeholder"
        self.unknown["Placeholder"] = self._placeholders.unknown("Placeholder", "layer", None)
        self._is_replaced = True

    def _note_known_faults(self, item: Json, config: Any, key: str, place: str) -> None:
        """Note and repair what earlier objects had, too."""
        for fault in self.faults:
            if fault.unknown is not None and place not in fault.places:
                own = (item.get("registered_name"), item.get("class_name"))
                inner = config.values() if isinstance(config, dict) and key != "root" else ()
                if fault.unknown.key in own or fault.unknown.key in map(_text, inner):
                    fault.places.append(place)
        if isinstance(config, dict) and isinstance(item.get("class_name"), str):
            for name in [*config]:
                known = self._left_out.get((item["class_name"], name))
                if known is not None:
                    del config[name]
                    if place not in known.places:
                        known.places.append(place)

    def _name_unknown(
        self, item: Json, key: str, place: str, fault: LoadFault, build: Callable[[], Any]
    ) -> bool:
        """Put a placeholder for a name in an error's text; return whether that error is gone."""
        for unknown, where, config in _names_in(item, key):
            name = unknown.name
            if unknown.key in self._custom or unknown.key in self.unknown:
                continue
            if self._keras.is_known(name):
                continue
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", fault.text[:400]):
                continue
            self.unknown[unknown.key] = self._placeholders.unknown(unknown.key, where, config)
            error = raised_by(build)
            if error is None or error[1][:_COMPARED] != fault.text[:_COMPARED]:
                fault.unknown = unknown
                if where != key:
                    fault.places = [f"{place}.{where}".lstrip(".")]
                self._is_replaced |= where in LAYER_KEYS
                return True
            del self.unknown[unknown.key]
        return False

    def _missing_in(self, cls: str, config: Any) -> list[str]:
        """Return the arguments that the constructor of a class needs, and a configuration lacks."""
        known = self._class(cls)
        if known is None or not isinstance(config, dict):
            return []
        return [
            parameter.name
            for parameter in next(self._keras.constructors(known), [])
            if parameter.default is parameter.empty
            and parameter.kind in _NAMED
            and parameter.name not in config
        ]

    def _leave_out(self, config: Any, fault: LoadFault, build: Callable[[], Any]) -> bool:
        """Leave out arguments for which the object is not built; return whether that helped."""
        if fault.missing:
            return False
        configs = [*_configs(config, fault.cls)]
        for cls, part in configs:
            known = self._class(cls)
            if known is None:
                continue
            named = {each.name for taken in self._keras.constructors(known) for each in taken}
            not_named = [name for name in part if name not in named]
            if self._without(part, not_named, fault, build):
                fault.cls, fault.is_own = cls, self._is_own(cls)
                fault.not_taken = not_named
                self._left_out.update({(cls, name): fault for name in not_named})
                return True
        for cls, part in configs:
            if self._class(cls) is None and cls != _COMPILE:
                continue
            quoted = [name for name in part if re.search(rf"\b{re.escape(name)}\b", fault.text)]
            for name in dict.fromkeys([*quoted, *part][:_MOST_TRIED]):
                if self._without(part, [name], fault, build):
                    fault.cls, fault.refused = cls, [name]
                    return True
        return False

    def _without(
        self, part: Json, names: list[str], fault: LoadFault, build: Callable[[], Any]
    ) -> bool:
        """Leave out arguments; keep those that make no difference, all if the error remains."""
        if not names:
            return False
        taken_out = {name: part.pop(name) for name in names}

        def is_gone() -> bool:
            error = raised_by(build)
            return error is None or (
                error[1][:_COMPARED] != fault.text[:_COMPARED] and not _lacks(error[1], taken_out)
            )

        if not is_gone():
            part.update(taken_out)
            return False
        for name in names[:_MOST_TRIED] if names[1:] else []:
            part[name] = taken_out[name]
            if is_gone():
                names.remove(name)
            else:
                del part[name]
        return True


def _lacks(text: str, names: Iterable[str]) -> bool:
    """Return whether an error is about an argument that was left out."""
    return any(re.search(rf"\b{re.escape(name)}\b", text[:400]) for name in [*names][:_MOST_TRIED])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _names_in(item: Any, key: str) -> Iterator[tuple[UnknownName, str, Any]]:
    """Yield the names in a configuration that may be those of classes or functions."""
    if isinstance(item, str):
        yield UnknownName(item, item), key, None
    elif isinstance(item, dict):
        config = item.get("config")
        if isinstance(item.get("class_name"), str) and "config" in item:
            module = _text(item.get("module"))
            for name in (item.get("registered_name"), item["class_name"]):
                if isinstance(name, str) and name != "function":
                    own = name.rpartition(">")[2] or name
                    yield UnknownName(name, own, module), key, config
            if isinstance(config, str):
                yield UnknownName(config, config, module), key, config
        for name, part in item.items():
            if name not in _NO_NAMES:
                yield from _names_in(part, key if name == "config" else name)
    elif isinstance(item, list):
        for part in item[:100]:
            yield from _names_in(part, key)


def _configs(config: Any, cls: str) -> Iterator[tuple[str, Json]]:
    """Yield the arguments of an object and of its parts, with their classes."""
    if isinstance(config, dict) and "layers" not in config:
        yield cls, config
        for part in [*config.values()]:
            if isinstance(part, dict) and isinstance(part.get("class_name"), str):
                yield from _configs(part.get("config"), part["class_name"])
