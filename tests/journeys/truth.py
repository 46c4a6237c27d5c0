"""Where each saved value belongs after an edit, and which places must be certain.

The edit tells it: a layer keeps its role when its name or place changes. A place is certain if the
file and the program have one name or path for it. It is open if layers that look alike have only
their order, and the edit has changed that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.programs.keras_making import Key
from tests.programs.keras_programs import Layer, Program

_SAVE_COUNTER = ("save_counter",)
_OF_OPTIMIZER = ("optimizer", "iterations"), ("optimizer", "learning_rate")


@dataclass(frozen=True)
class Address:
    """How a file and a program name a layer: by its own name, by attributes, by its position."""

    name: str | None
    path: tuple[str, ...]
    before: tuple[str, ...]  # the roles of the layers in front of it, in the same holder


def addresses(program: Program) -> dict[str, Address]:
    """Return the address of each layer by its role."""
    found: dict[str, Address] = {}

    def visit(layers: tuple[Layer, ...], path: tuple[str, ...], by_index: bool) -> None:
        for index, layer in enumerate(layers):
            own = str(index) if by_index else layer.attribute or layer.role
            if layer.inner:
                is_row = layer.kind == "list" or program.form != "module"
                visit(layer.inner, (*path, own), is_row)
            else:
                before = tuple(role for role, one in found.items() if one.path[:-1] == path)
                found[layer.role] = Address(layer.name, (*path, own), before)

    visit(program.layers, (), False)
    return found


@dataclass(frozen=True)
class Truth:
    """What belongs where.

    Attributes:
        sources: By live value, the saved value that belongs to it; None if it keeps its own.
        certain: The live values whose source is certain.
        open: The live values of which nothing tells it: a fix leaves them out, or has to be right.
    """

    sources: Mapping[Key, Key | None]
    certain: frozenset[Key]
    open: frozenset[Key]


def truth_of(
    was: Program,
    now: Program,
    file: str,
    stored: Mapping[Key, str],
    saved: Mapping[Key, Any],
    live: Mapping[Key, Any],
) -> Truth:
    """Return where the values of a file belong in a program that was edited.

    `stored` has the key in the file of each saved value.
    """
    before, after = addresses(was), addresses(now)
    looks = {role: _look(role, saved) for role in before}, {r: _look(r, live) for r in after}
    alike = Counter(looks[0].values()) | Counter(looks[1].values())
    is_same_row = [*looks[0].items()] == [*looks[1].items()]
    is_same_optimizer = (was.optimizer, was.scaled) == (now.optimizer, now.scaled)
    # Keras' own files have the state of an optimizer by order alone, and not what was frozen.
    has_order = is_same_row and (was.layers == now.layers or all(_all_train(was.layers)))
    has_owners = file in ("checkpoint", "manager") or has_order
    has_names = (was.library, file) != ("tf_keras", ".weights.h5")
    sources: dict[Key, Key | None] = {}
    certain, unclear = set[Key](), set[Key]()
    for key, value in live.items():
        is_there = key in saved and saved[key].shape == value.shape
        is_state = len(key) > len(("role", "name"))
        if is_state and was.optimizer != now.optimizer:  # the state of another class
            is_there = False
            unclear.add(key)
        sources[key] = key if is_there else None
        role = key[0]
        if role == "optimizer":
            # Another class may count and learn in another way, and one around it has its own.
            is_known = is_there and is_same_optimizer and key in _OF_OPTIMIZER
            (certain if is_known else unclear).add(key)
        elif not is_there:
            continue
        elif key == _SAVE_COUNTER or _is_certain(
            before.get(role), after.get(role), stored.get(key[:2], ""), has_names=has_names
        ):
            if not is_state or (is_same_optimizer and has_owners):
                certain.add(key)
        elif alike[looks[0][role]] > 1:
            unclear.add(key)
    return Truth(sources, frozenset(certain), frozenset(unclear))


def _all_train(layers: Iterable[Layer]) -> Iterator[bool]:
    """Yield whether each layer is trained."""
    for layer in layers:
        yield layer.trainable
        yield from _all_train(layer.inner)


def _look(role: str, values: Mapping[Key, Any]) -> tuple[object, ...]:
    return tuple(
        (key[1], value.shape) for key, value in values.items() if key[0] == role and len(key) == 2
    )


def _is_certain(was: Address | None, now: Address | None, key: str, *, has_names: bool) -> bool:
    """Return whether one name or path leads to a layer in the file and in the program."""
    if was is None or now is None:  # in a network whose layers have names
        return was is now
    if was.name is not None and now.name is not None and has_names:
        return was.name == now.name
    if f"/{'/'.join(was.path)}/" in f"/{key}":
        return was.path == now.path
    is_in_place = was.before == now.before and was.path[:-1] == now.path[:-1]
    return is_in_place and was.name == now.name
