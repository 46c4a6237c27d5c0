"""Where each object of a configuration is, by the names that people give to layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckpt_viz.text import readable

_LISTS = ("layers", "config")  # their names add nothing to a place


@dataclass(frozen=True, slots=True)
class Places:
    """The place of each mapping by its id, and all containers, which keep their ids."""

    names: Mapping[int, str]
    containers: tuple[Any, ...]


def places_of(configurations: Mapping[str, Mapping[str, Any] | None]) -> Places:
    """Return the places of all mappings in some configurations, each with what its places begin."""
    names: dict[int, str] = {}
    containers: list[Any] = []
    stack: list[tuple[Any, str, str]] = [
        (config, "", name) for name, config in configurations.items() if config is not None
    ]
    for item, place, key in stack:  # grows during the loop
        containers.append(item)
        if isinstance(item, dict):
            place = _place_of(item, place, key)
            names[id(item)] = place or "the model"
            parts = list(item.items())
        else:
            parts = [(key, part) for part in item]
        stack += [
            (part, place, "" if name in _LISTS else str(name))
            for name, part in parts
            if isinstance(part, (dict, list, tuple))
        ]
    return Places(names, tuple(containers))


def _place_of(item: Mapping[str, Any], place: str, key: str) -> str:
    if "class_name" not in item or "config" not in item:
        return f"{place}.{_short(key)}".lstrip(".") if key else place
    config = item["config"]
    name = item.get("name", config.get("name") if isinstance(config, Mapping) else None)
    if key or not isinstance(name, str):
        name = key or name or item["class_name"]
    return f"{place}.{_short(str(name))}".lstrip(".")


def _short(name: str) -> str:
    return readable(name)[:80]
